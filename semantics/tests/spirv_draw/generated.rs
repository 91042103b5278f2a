//! Generated draws by both engines: branches, loops, calls, discards, derivatives, textures, helper
//! invocations, masks, atomics, samples and depths that depend on the pixel's coordinates.

use smallstep_generate::spirv::quads::{LISTS, drawn};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::undefined::Undefined;

use crate::*;

/// Both engines end in the same way. If several invocations meet undefined behaviour, the engines
/// may report different invocations. Only the relation decides whether an operand must be the same
/// in all lanes of a quad.
#[test]
fn generated_stages_show_the_same() {
    let (mut ends, mut samples, mut groups, mut left) = ([0; 3], 0, 0, 0);
    for seed in 0..600 {
        let drawn = drawn(seed, LISTS);
        let scene = Scene::drawn(&drawn);
        let kind = |outcome: &Outcome<_>| match outcome {
            Outcome::Observed(_) => 0,
            Outcome::Undefined(_) => 1,
            _ => 2,
        };
        let outcome = scene.relation_alone();
        ends[kind(&outcome)] += 1;
        samples += u32::from(drawn.mix.samples > 1);
        groups += u32::from(drawn.mix.groups);
        let picture = scene.with(|draw| machine::run(&scene, draw));
        match (&outcome, &picture) {
            (Outcome::Undefined(one), Outcome::Undefined(other)) => {
                let by = |of: &Undefined| of.site.as_ref().map(|site| site.invocation);
                assert!(one.ub == other.ub || by(one) != by(other), "seed {seed}: {other:?}, not {one:?}");
            }
            (_, Outcome::Unsupported(what)) => {
                assert!(drawn.mix.groups && what.starts_with("an operand that is not the same in all of a quad"), "seed {seed}: {what}");
                left += 1;
            }
            _ => {
                let difference = beside::definite(&outcome, &picture);
                assert_eq!(difference, None, "seed {seed}\n{}", drawn.text);
            }
        }
    }
    assert!(ends[0] > 400 && ends[1] > 10 && ends[2] == 0, "{ends:?}");
    assert!(samples > 100 && groups > 50 && left < 10, "{samples} of several samples, {groups} with group instructions, {left} left");
}
