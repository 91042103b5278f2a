//! Generated programs whose invocations work together in subgroups, by both engines against the
//! model of their generator.

use pretty_assertions::assert_eq;
use smallstep_generate::spirv::{ComputeCase, Drawn, subgroups};
use smallstep_semantics::random::Random;
use smallstep_semantics::spirv::lockstep::{End, Parts, Program};

use super::*;

fn given(case: &ComputeCase) -> Vec<Buffer> {
    let buffer = |b: &smallstep_generate::spirv::BufferContents| Buffer { binding: b.binding, ..buffer(&b.words) };
    case.buffers.iter().map(buffer).collect()
}

/// The words of the buffer that a generated dispatch writes. `None` if the run shows nothing.
fn written(outcome: &Outcome<Observation>) -> Option<Vec<u32>> {
    let output = outcome.observed()?.buffers.iter().find(|b| b.binding == 1)?;
    Some(output.bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect())
}

fn by_relation(module: &Module, dispatch: &Dispatch<'_>) -> Report {
    grid::report(module, dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there")
}

#[test]
fn generated_programs_give_what_a_model_gives() {
    let (mut certain, mut parted) = (0, 0);
    for seed in 0..1_000 {
        let Drawn { case, text } = subgroups::drawn(seed, subgroups::STEPS);
        let (module, buffers) = (Module::load(&case.words).expect("loads"), given(&case));
        let dispatch = dispatch(&buffers, case.subgroup_size);
        let report = by_relation(&module, &dispatch);
        assert_eq!(written(&report.outcome), case.shown, "seed {seed}: {:?}\n{text}", report.outcome);
        // The generator says that nothing is in doubt.
        assert_eq!(report.doubtful, [], "seed {seed}\n{text}");
        let program = Program::compile(&module, "main").unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(program.run(&dispatch, 1), report.outcome, "seed {seed}\n{text}");
        match program.run_certain(&dispatch, 1) {
            Outcome::Unsupported(_) => parted += 1,
            outcome => {
                assert_eq!(outcome, report.outcome, "seed {seed}\n{text}");
                certain += 1;
            }
        }
    }
    assert!(certain > 20 && parted > 20, "{certain} certain, {parted} after several paths");
}

#[test]
fn generated_programs_have_everything() {
    let texts: String = (0..200).map(|seed| subgroups::drawn(seed, subgroups::STEPS).text).collect();
    let names = super::values::cases().into_iter().map(|case| case.name).filter(|name| !name.starts_with("OpGroupNonUniformF"));
    for instruction in
        names.chain(["OpControlBarrier %u3", "OpFunctionCall %uint %total", "OpLoopMerge", "OpPhi", "OpGroupNonUniformIAdd %pair"])
    {
        assert!(texts.contains(instruction), "{instruction}");
    }
    let [small, all] = [3, subgroups::STEPS].map(|steps| subgroups::drawn(1, steps).text);
    let begin = |text: &str| {
        let (_, body) = text.split_once("%main = OpFunction").expect("main");
        body.split_once("%to = ").map(|(begin, _)| begin.trim().to_string()).expect("the end")
    };
    assert!(begin(&all).starts_with(&begin(&small)) && all.len() > small.len());
}

/// Changes the group instructions whose name ends in `name`.
fn of(parts: &mut Parts<'_>, name: &str, change: impl Fn(&mut lockstep::Group)) {
    parts.groups.iter_mut().filter(|group| format!("{:?}", group.op).ends_with(name)).for_each(change);
}

type Bug = fn(&mut Parts<'_>);

/// Bugs in the group instructions of the machine. One of the first generated programs finds each.
#[test]
fn planted_bugs_are_seen_by_generated_programs() {
    use rspirv::spirv::GroupOperation::{ExclusiveScan, InclusiveScan, Reduce};
    use smallstep_semantics::spirv::grammar::Op;
    let rows: [(&str, Bug); 12] = [
        ("exclusive scans are inclusive", |parts| {
            of(parts, "", |group| {
                if group.operation == Some(ExclusiveScan) {
                    group.operation = Some(InclusiveScan);
                }
            })
        }),
        ("scans are reductions", |parts| of(parts, "IAdd", |group| group.operation = Some(Reduce))),
        ("clusters are subgroups", |parts| of(parts, "", |group| group.cluster = None)),
        ("clusters are twice as large", |parts| of(parts, "", |group| group.cluster = group.cluster.map(|cluster| 2 * cluster))),
        ("products begin with 0", |parts| of(parts, "IMul", |group| group.identity = 0)),
        ("the least is the greatest", |parts| {
            of(parts, "UMin", |group| {
                (group.combine, group.identity) = smallstep_semantics::spirv::operation::combination(Op::GroupNonUniformUMax, 32)
                    .map_or((None, 0), |(operation, identity)| (Some(operation), identity));
            })
        }),
        ("all is any", |parts| {
            of(parts, "NonUniformAll", |group| {
                group.combine = smallstep_semantics::spirv::operation::core(Op::LogicalOr);
            })
        }),
        ("up is down", |parts| of(parts, "ShuffleUp", |group| group.op = Op::GroupNonUniformShuffleDown)),
        ("the first bit is the last", |parts| of(parts, "FindLSB", |group| group.op = Op::GroupNonUniformBallotFindMSB)),
        ("bits are counted in all of the ballot", |parts| of(parts, "BitCount", |group| group.operation = None)),
        ("quads swap nothing", |parts| of(parts, "QuadSwap", |group| group.op = Op::GroupNonUniformShuffle)),
        ("barriers of subgroups order nothing", |parts| {
            parts.blocks.iter_mut().for_each(|block| {
                if let End::SubgroupBarrier { semantics, .. } = &mut block.ends {
                    *semantics = smallstep_semantics::concurrency::Semantics::default();
                }
            });
        }),
    ];
    for (what, bug) in rows {
        let is_seen = |seed: u64| {
            let Drawn { case, .. } = subgroups::drawn(seed, subgroups::STEPS);
            let (module, buffers) = (Module::load(&case.words).expect("loads"), given(&case));
            let program = Program::compile(&module, "main").expect("it compiles").planted(|mut parts| bug(&mut parts));
            written(&program.run(&dispatch(&buffers, case.subgroup_size), 1)) != case.shown
        };
        assert!((0..200).any(is_seen), "{what}");
    }
}

/// Words of generated programs are changed at random. The module is refused, or both engines end
/// alike. Neither engine panics.
#[test]
fn changed_words_are_refused_or_run_alike() {
    let (mut loaded, mut compared) = (0, 0);
    for seed in 0..6000u64 {
        let mut random = Random::new(seed);
        let mut below = |count: u64| random.bits() % count;
        let case = subgroups::drawn(seed % 40, subgroups::STEPS).case;
        let mut words = case.words.clone();
        let first = words.len() / 3;
        for _ in 0..=below(2) {
            let at = first + below((words.len() - first) as u64) as usize;
            // Most often it becomes another word of the module, such as an id in place of an id.
            words[at] = match below(8) {
                0 => below(300) as u32,
                _ => words[first + below((words.len() - first) as u64) as usize],
            };
        }
        let Ok(module) = Module::load(&words) else { continue };
        loaded += 1;
        let buffers = given(&case);
        let dispatch = dispatch(&buffers, case.subgroup_size);
        let Ok(report) = grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()) else { continue };
        let Ok(program) = Program::compile(&module, "main") else { continue };
        let of_machine = program.run(&dispatch, 1);
        match (&report.outcome, &of_machine) {
            // The machine cannot pass some barriers of the scope Subgroup.
            (_, Outcome::Unsupported(_)) => continue,
            // The schedule decides which invocation meets it first.
            (Outcome::Undefined(a), Outcome::Undefined(b)) => assert_eq!(a.ub, b.ub, "seed {seed}"),
            (Outcome::Observed(_) | Outcome::Undefined(_), _) => assert_eq!(of_machine, report.outcome, "seed {seed}"),
            _ => continue,
        }
        let certain = program.run_certain(&dispatch, 1);
        assert!(!matches!(certain, Outcome::Observed(_)) || report.doubtful.is_empty(), "seed {seed}");
        compared += 1;
    }
    assert!(loaded > 100 && compared > 50, "{loaded} loaded, {compared} compared");
}
