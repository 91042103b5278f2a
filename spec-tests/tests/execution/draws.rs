//! Wrong rules of WSL's draws. Each replaces a rule in the table of rules for draws, and some case
//! must fail with it.

use crate::calls;
use smallstep_semantics::number::{Inexact, Interval};
use smallstep_semantics::raster::{Interpolation, Presence};
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::draw::Rules as Draws;
use smallstep_semantics::wsl::draw::target::{d_depth, d_target};
use smallstep_semantics::wsl::draw::threads::State;
use smallstep_semantics::wsl::draw::{fragment, interface, quad};
use smallstep_semantics::wsl::execution::assign::e_assign_execute;
use smallstep_semantics::wsl::execution::expression::e_load;
use smallstep_semantics::wsl::execution::{Effect, Exchange, Planted, Replacement};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::syntax::{BuiltinSemantic, Qualifier};
use smallstep_spec_tests::file::{CaseFile, Command, Test};
use smallstep_spec_tests::run::{self, Engines};
use smallstep_spec_tests::wsl::Rules;
use std::collections::BTreeSet;

/// Whether a test runs a draw.
pub fn is_draw(test: &Test) -> bool {
    test.command == Command::Run && test.option("size").is_some()
}

/// The rule, a description of the mistake, and the function that plants it.
type Bug = (Rule, &'static str, fn(&mut Draws));

const BUGS: [Bug; 37] = [
    (Rule::WslDMatch, "types need not match", |r| r.matches = |a, b| a.qualifiers == b.qualifiers),
    (Rule::WslDMatch, "qualifiers need not match", |r| r.matches = |a, b| a.ty == b.ty),
    (Rule::WslDLeftOver, "what is left over is ones", |r| r.left_over = |n| Words::from_elem(Word::Bits(1f32.to_bits()), n)),
    (Rule::WslDAttribute, "the data's type is not looked at", |r| {
        r.attribute = |data, _, each, vertices, vertex| interface::d_attribute(data, data.scalar, each, vertices, vertex);
    }),
    (Rule::WslDAttribute, "the data may be too long", |r| {
        r.attribute = |data, scalar, each, _, vertex| {
            let first = vertex as usize * each;
            if data.scalar == scalar { data.words.get(first..first + each) } else { None }
        };
    }),
    (Rule::WslDAttribute, "all vertices have the first one's", |r| {
        r.attribute = |data, scalar, each, vertices, _| interface::d_attribute(data, scalar, each, vertices, 0);
    }),
    (Rule::WslDInteger, "integers are interpolated", |r| r.integer = |_, _| true),
    (Rule::WslDPosition, "any result is the position", |r| r.position = |results| results.first()),
    (Rule::WslDVertex, "all instances are the first", |r| {
        r.vertex = |vertex, _, built_in| (built_in == BuiltinSemantic::VertexId).then_some(vertex).or(Some(0));
    }),
    (Rule::WslDVertex, "vertices are counted from 1", |r| {
        r.vertex = |vertex, instance, built_in| Some(if built_in == BuiltinSemantic::VertexId { vertex + 1 } else { instance });
    }),
    (Rule::WslDClip, "y points down", |r| r.clip = |[x, y, z, w]| fragment::d_clip([x, -y, z, w])),
    (Rule::WslDClip, "z is from 0 to w", |r| r.clip = |[x, y, z, w]| [x, -y, z, w]),
    (Rule::WslDInterpolate, "nointerpolation is ignored", |r| {
        r.interpolate = |q| fragment::d_interpolate(&q.iter().copied().filter(|q| *q != Qualifier::Nointerpolation).collect::<Vec<_>>());
    }),
    (Rule::WslDInterpolate, "noperspective is ignored", |r| {
        r.interpolate = |q| fragment::d_interpolate(&q.iter().copied().filter(|q| *q != Qualifier::Noperspective).collect::<Vec<_>>());
    }),
    (Rule::WslDInterpolate, "centroid is linear on the screen", |r| {
        r.interpolate = |q| if q.contains(&Qualifier::Centroid) { Interpolation::Linear } else { fragment::d_interpolate(q) };
    }),
    (Rule::WslDInterpolate, "the last vertex is the provoking one", |r| {
        r.raster.assemble = |topology, i| {
            let [a, b, c] = topology.triangle(i);
            [c, a, b]
        };
    }),
    (Rule::WslDInterpolate, "perspective is forgotten", |r| r.raster.perspective = r.raster.linear),
    (Rule::WslDHelper, "helpers leave fragments", |r| r.helper = |lane| fragment::d_helper(lane).or(Some(Presence::Sure))),
    (Rule::WslDHelper, "an edge is never in doubt", |r| r.helper = |lane| lane.covered.then_some(Presence::Sure)),
    (Rule::WslDFragment, "front is back", |r| r.fragment = |opens, b, front, certain| fragment::d_fragment(opens, b, !front, certain)),
    (Rule::WslDFragment, "samples are counted from 1", |r| {
        r.fragment = |opens, b, front, certain| match b {
            BuiltinSemantic::SampleIndex => Some(Word::Bits(1)),
            _ => fragment::d_fragment(opens, b, front, certain),
        };
    }),
    (Rule::WslDFragment, "every pixel is covered whole", |r| {
        r.fragment = |opens, b, front, certain| match b {
            BuiltinSemantic::InnerCoverage => Some(Word::Bits(1)),
            _ => fragment::d_fragment(opens, b, front, certain),
        };
    }),
    (Rule::WslDDiscarded, "what is discarded is drawn", |r| r.discarded = |_| true),
    (Rule::WslDDiscarded, "nothing is drawn where discard is not met", |r| r.discarded = |discarded| discarded),
    (Rule::WslDCoverage, "the mask is not looked at", |r| r.coverage = |_| true),
    (Rule::WslDCoverage, "any bit will do", |r| r.coverage = |mask| mask != 0),
    (Rule::WslDCoverage, "other bits leave the fragment out", |r| r.coverage = |mask| mask == 1),
    (Rule::WslDDepth, "SV_Depth is not looked at", |r| r.depth = |_, interpolated| interpolated),
    (Rule::WslDDepth, "any depth is as it is written", |r| {
        r.depth = |written, interpolated| match written {
            Some(written) => Inexact { value: written.value.clamp(0.0, 1.0), allowed: Interval::point(written.value.clamp(0.0, 1.0)) },
            None => d_depth(None, interpolated),
        };
    }),
    (Rule::WslDTarget, "the first fragment stays", |r| {
        r.target = |target, pixel, value, presence| {
            if target.texel(pixel) == [Word::Bits(0); 4] {
                d_target(target, pixel, value, presence);
            }
        };
    }),
    (Rule::WslDTarget, "doubt is forgotten", |r| {
        r.target = |target, pixel, value, presence| {
            if presence != Presence::Elsewhere {
                d_target(target, pixel, value, Presence::Sure);
            }
        };
    }),
    (Rule::WslGQuad, "columns are rows", |r| {
        r.quad = |world, program, group| {
            quad::g_quad(world, program, group);
            for (thread, _) in &mut group.threads {
                if let Some(Exchange { operands, .. }) = thread.stage.as_mut().and_then(|stage| stage.exchange.as_mut()) {
                    operands.swap(1, 2);
                }
            }
        };
    }),
    (Rule::WslGQuad, "each lane chooses for itself", |r| {
        r.quad = |world, program, group| {
            let Some((meaning, operands)) = quad::together(program, group) else { return };
            for (thread, state) in &mut group.threads {
                let chosen = quad::chosen(&mut world.common.opens, meaning, &operands);
                if let Some(stage) = &mut thread.stage {
                    stage.exchange = Some(Exchange { operands: operands.clone(), chosen });
                }
                *state = State::Running;
            }
        };
    }),
    (Rule::WslGQuad, "nobody waits", |r| r.quad = lonely),
    (Rule::WslGQuadApart, "who does not come has the same", |r| r.quad_apart = lonely),
    (Rule::WslGQuadApart, "all go on, wherever they stand", |r| {
        r.quad_apart = |world, program, group| {
            while group.threads.iter().any(|t| matches!(t.1, State::AtQuad(..))) {
                quad::g_quad_apart(world, program, group);
            }
        };
    }),
    (Rule::WslGQuadApart, "who does not come has zeros", |r| {
        r.quad_apart = |world, program, group| {
            quad::g_quad_apart(world, program, group);
            for (thread, _) in &mut group.threads {
                let Some(stage) = &mut thread.stage else { continue };
                let Some(Exchange { operands, .. }) = &mut stage.exchange else { continue };
                operands.iter_mut().flatten().filter(|w| w.definite().is_none()).for_each(|w| *w = Word::Bits(0));
            }
        };
    }),
];

/// Every thread that waits at a quad operation continues, as if all threads of its quad had its
/// own operand.
fn lonely(
    world: &mut smallstep_semantics::wsl::draw::threads::World,
    program: &smallstep_semantics::wsl::typing::program::Program,
    group: &mut smallstep_semantics::wsl::draw::threads::Group,
) {
    let meaning = quad::together(program, group).and_then(|(meaning, _)| meaning);
    for (thread, state) in &mut group.threads {
        let State::AtQuad(_, operand) = &*state else { continue };
        let operands = [0; 4].map(|_| operand.clone());
        let chosen = match meaning {
            Some(_) => quad::chosen(&mut world.common.opens, meaning, &operands),
            None => [Word::Bits(2); 2].into_iter().collect(),
        };
        if let Some(stage) = &mut thread.stage {
            stage.exchange = Some(Exchange { operands, chosen });
        }
        *state = State::Running;
    }
}

fn drawing() -> Vec<CaseFile> {
    let mut files = calls();
    files.iter_mut().for_each(|file| file.tests.retain(is_draw));
    files.retain(|file| !file.tests.is_empty());
    files
}

fn caught(files: &[CaseFile], rules: Rules) -> Option<&str> {
    let mut engines = Engines { wsl: rules, ..Engines::default() };
    files.iter().find(|file| !run::run(file, &mut engines).failures.is_empty()).map(|file| file.name.as_str())
}

#[test]
fn every_wrong_rule_of_draws_is_caught() {
    let files = drawing();
    assert!(files.len() > 30, "{} files draw", files.len());
    assert_eq!(caught(&files, Rules::default()), None, "nothing is planted");
    let mut survived = Vec::new();
    for (rule, what, plant) in BUGS {
        let mut rules = Rules::default();
        rules.execution.draw = Some(plant);
        match caught(&files, rules) {
            Some(by) => println!("{rule}: {what}: caught by {by}"),
            None => survived.push(format!("{rule}: {what}")),
        }
    }
    assert!(survived.is_empty(), "no case sees {} of {}:\n{}", survived.len(), BUGS.len(), survived.join("\n"));
}

#[test]
fn every_rule_of_draws_has_a_planted_bug() {
    let planted: BTreeSet<Rule> = BUGS.iter().map(|bug| bug.0).collect();
    let of_draws = |r: &&Rule| r.judgement() == Judgement::Draw || matches!(r, Rule::WslGQuad | Rule::WslGQuadApart);
    let without: Vec<&Rule> = Rule::ALL.iter().filter(of_draws).filter(|r| !planted.contains(r)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn stores_of_helpers_are_caught() {
    // The wrong rule makes the value reach memory, even if a helper stores it.
    let rule = Some((
        Rule::WslEAssignExecute,
        Replacement::Expr(|cx, e| {
            let mut next = e_assign_execute(cx, e)?;
            for change in next.changes() {
                for effect in &mut change.effects {
                    // Only a plain store checks whether the thread is a helper.
                    if let Effect::Store(at, words) = effect
                        && words.len() == 1
                    {
                        *effect = Effect::ReadModifyWrite(*at, words[0], words[0]);
                    }
                }
            }
            Some(next)
        }),
    ));
    let files = drawing();
    let by = caught(&files, Rules { execution: Planted { rule, ..Planted::default() }, ..Rules::default() });
    assert!(by.is_some_and(|by| by.contains("helper")), "{by:?}");
    // The unchanged rule for loads passes all cases, so a replaced rule alone does not make a
    // case fail.
    let same = Some((Rule::WslELoad, Replacement::Expr(e_load)));
    assert_eq!(caught(&files, Rules { execution: Planted { rule: same, ..Planted::default() }, ..Rules::default() }), None);
}
