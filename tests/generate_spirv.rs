//! Guarantees of generated SPIR-V modules, over hundreds of seeds.
//!
//! The tests that need spirv-tools say so where these are missing, and fail if
//! SMALLSTEP_REQUIRE_SPIRV_TOOLS is set.

use smallstep::generate::Random;
use smallstep::generate::spirv::feature::Features;
use smallstep::generate::spirv::shrink::{Shrinking, minimal, size};
use smallstep::generate::spirv::tree::{Binary, Expr, Module, Op, Stmt};
use smallstep::generate::spirv::{ComputeCase, Defect, Kind, Limits, Reach, Twin, VERSION, case, module, twin, twins};
use smallstep_semantics::spirv;
use smallstep_spec_tests::tools;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const ALL_WIDTHS: Limits =
    Limits { executed: 200, shared_percent: 30, int8: true, int16: true, int64: true, newest: 6, left_out: Features::new() };

/// The error of `spirv-val` for a module. `None` if the module is valid.
fn refusal(words: &[u32], file: &Path) -> Option<String> {
    std::fs::write(file, spirv::bytes_of_words(words)).expect("written");
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(file).output().expect("spirv-val runs");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn decoded(words: &[u32]) -> spirv::words::Decoded<'_> {
    spirv::words::decode(words).unwrap_or_else(|e| panic!("{e:?}"))
}

fn count_ops(words: &[u32]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for instruction in &decoded(words).instructions {
        *counts.entry(instruction.name()).or_default() += 1;
    }
    counts
}

#[test]
fn spirv_val_accepts_every_clean_module() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("module.spv");
    for seed in 0..400 {
        let limits = if seed % 4 == 3 { ALL_WIDTHS } else { Limits::default() };
        let case = case(seed, &limits);
        assert_eq!(case.twin, None);
        if let Some(why) = refusal(&case.words, &file) {
            panic!("seed {seed}: {why}\n{}", spirv::disassemble(&case.words).unwrap_or_default());
        }
    }
}

#[test]
fn spirv_val_accepts_every_twin_that_is_said_to_be_valid_and_no_other() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("twin.spv");
    for seed in 0..150 {
        for planted in twins(seed, &Limits::default(), 2) {
            let case = planted.case();
            let twin = case.twin.expect("a twin");
            let why = refusal(&case.words, &file);
            assert_eq!(why.is_none(), twin.valid, "seed {seed}, {:?}: {why:?}", twin.defect);
        }
    }
}

/// spirv-val refuses an invalid module.
#[test]
fn spirv_val_refuses_a_spoilt_module() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut words = case(1, &Limits::default()).words;
    words.truncate(words.len() - 1);
    assert!(refusal(&words, &folder.path().join("spoilt.spv")).is_some(), "a module without OpFunctionEnd must be refused");
}

#[test]
fn modules_have_the_size_and_the_grid_that_was_asked_for() {
    let (mut executed, mut invocations, mut shared) = (Vec::new(), Vec::new(), 0);
    const COUNT: u64 = 1_000;
    for seed in 0..COUNT {
        let module = module(seed, &Limits::default());
        let case = module.case();
        executed.push(case.executed as u32);
        invocations.push(case.invocations());
        shared += u64::from(module.shares());
        let output = case.buffers.iter().find(|buffer| buffer.binding == 1).expect("an output");
        assert_eq!(output.words.len() as u32, case.invocations() * case.words_each, "seed {seed}");
    }
    executed.sort_unstable();
    invocations.sort_unstable();
    let at = |sorted: &[u32], percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    println!(
        "executed: {} at 5 %, {} median, {} at 95 %, {} most; invocations: {} median, {} most; {} % share",
        at(&executed, 5),
        at(&executed, 50),
        at(&executed, 95),
        at(&executed, 100),
        at(&invocations, 50),
        at(&invocations, 100),
        shared * 100 / COUNT
    );
    assert!((150..270).contains(&at(&executed, 50)), "{}", at(&executed, 50));
    assert!(at(&executed, 100) < 20_000, "{}", at(&executed, 100));
    assert_eq!(at(&invocations, 50), 64);
    assert!((250..350).contains(&shared), "{shared}");
}

/// Instructions that must occur in some module.
const INSTRUCTIONS: &str = "OpPhi OpSwitch OpLoopMerge OpSelectionMerge OpFunctionCall OpReturnValue OpUnreachable OpSelect OpCompositeConstruct \
    OpCompositeExtract OpCompositeInsert OpVectorShuffle OpVectorExtractDynamic OpVectorInsertDynamic OpAccessChain OpInBoundsAccessChain \
    OpCopyMemory OpCopyObject OpCopyLogical OpUndef OpConstantNull OpConstantTrue OpConstantFalse OpConstantComposite OpBitcast OpSConvert \
    OpUConvert OpIAdd OpISub OpIMul OpUDiv OpSDiv OpUMod OpSRem OpSMod OpSNegate OpNot OpBitReverse OpBitCount OpBitFieldInsert \
    OpBitFieldSExtract OpBitFieldUExtract OpShiftLeftLogical OpShiftRightLogical OpShiftRightArithmetic OpBitwiseAnd OpBitwiseOr OpBitwiseXor \
    OpLogicalNot OpLogicalAnd OpLogicalOr OpLogicalEqual OpLogicalNotEqual OpAny OpAll OpIEqual OpINotEqual OpUGreaterThan OpSGreaterThan \
    OpUGreaterThanEqual OpSGreaterThanEqual OpULessThan OpSLessThan OpULessThanEqual OpSLessThanEqual OpIAddCarry OpISubBorrow \
    OpUMulExtended OpSMulExtended OpExtInst OpControlBarrier OpAtomicIAdd OpAtomicAnd OpAtomicOr OpAtomicXor OpAtomicSMin OpAtomicSMax \
    OpAtomicUMin OpAtomicUMax OpAtomicExchange OpAtomicCompareExchange OpAtomicIIncrement OpAtomicIDecrement OpAtomicISub OpAtomicLoad \
    OpAtomicStore";

#[test]
fn every_instruction_is_used() {
    let mut missing: BTreeSet<&str> = INSTRUCTIONS.split_whitespace().collect();
    for seed in 0..1_000 {
        for name in count_ops(&case(seed, &ALL_WIDTHS).words).keys() {
            missing.remove(name.as_str());
        }
    }
    assert!(missing.is_empty(), "in no module: {missing:?}");
}

#[test]
fn a_module_is_a_function_of_its_seed() {
    let words: Vec<Vec<u32>> = (0..100).map(|seed| case(seed, &Limits::default()).words).collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), 100);
    // FNV-1a, so that the hash is the same everywhere. If it changes, the seeds in journals and
    // reports mean other modules: raise VERSION.
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = words.iter().flatten().flat_map(|word| word.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, fold);
    assert_eq!((VERSION, hash), (1, 0xaa77_c6d8_4596_f11a), "{hash:#018x}");
}

/// The twin with this defect, of the first seed that has a place for it. A twin of an undefined
/// value also has this reach.
fn twin_with(defect: Defect, reach: Option<Reach>) -> (Module, ComputeCase) {
    (0..400)
        .filter_map(|seed| twin(&module(seed, &Limits::default()), defect, &mut Random::new(seed)))
        .map(|module| {
            let case = module.case();
            (module, case)
        })
        .find(|(module, _)| reach.is_none_or(|reach| module.plant().is_some_and(|plant| plant.reach == reach)))
        .expect("a twin")
}

#[test]
fn the_planted_instruction_is_where_the_twin_says() {
    for &defect in Defect::ALL {
        let (_, case) = twin_with(defect, None);
        let Twin { id, kind, instruction, result, also, reached, .. } = case.twin.expect("a twin");
        let decoded = decoded(&case.words);
        let culprit = &decoded.instructions[instruction];
        assert_eq!(culprit.result, result, "{defect:?}");
        assert!(
            defect.what().split(' ').any(|word| culprit.name() == word) || !defect.what().contains("Op"),
            "{defect:?}: {}",
            culprit.name()
        );
        assert!(id.starts_with("spirv/"));
        assert_eq!(reached.is_some(), kind == Kind::Value, "{defect:?}");
        for at in also {
            let name = decoded.instructions[at].name();
            assert!(["OpLoad", "OpStore", "OpAtomicIAdd", "OpControlBarrier"].contains(&name.as_str()), "{defect:?}: {name}");
        }
    }
    for &reach in Reach::ALL {
        let (_, case) = twin_with(Defect::ShiftLeft, Some(reach));
        let reached = case.twin.expect("a twin").reached.expect("it reaches something");
        let name = decoded(&case.words).instructions[reached.instruction].name();
        let expected = match reach {
            Reach::Output => "OpStore",
            Reach::Branch => "OpBranchConditional",
            Reach::Switch => "OpSwitch",
            Reach::Address => "OpAccessChain",
            Reach::Divisor => "OpUDiv",
        };
        assert_eq!(name, expected);
        assert_eq!((reached.reach, reached.id, reached.word.is_some()), (reach, reach.id(), reach == Reach::Output));
    }
}

/// A twin differs from its clean module only by the planted defect.
#[test]
fn twins_have_one_plant_and_clean_modules_none() {
    let mut used = BTreeSet::new();
    for seed in 0..300 {
        let clean = module(seed, &Limits::default());
        assert_eq!(clean.plant(), None);
        for planted in twins(seed, &Limits::default(), 3) {
            let (mut plants, mut without) = (0, planted.clone());
            without.each_block(&mut |block| {
                let before = block.len();
                block.retain(|stmt| !matches!(stmt, Stmt::Plant(_)));
                plants += before - block.len();
            });
            assert_eq!((plants, &without), (1, &clean), "seed {seed}");
            used.insert(planted.plant().expect("a plant").defect);
        }
    }
    assert_eq!(used.len(), Defect::ALL.len(), "{used:?}");
}

fn any_expr(module: &Module, found: &dyn Fn(&Expr) -> bool) -> bool {
    let mut any = false;
    module.clone().each_expr(&mut |e| any |= found(e));
    any
}

fn any_stmt(module: &Module, found: &dyn Fn(&Stmt) -> bool) -> bool {
    let mut any = false;
    module.clone().each_block(&mut |block| any |= block.iter().any(found));
    any
}

type Shown = (&'static str, u32, fn(&Module) -> bool);

/// A property of a module, the greatest number of nodes after shrinking, and the predicate.
const SHOWN: &[Shown] = &[
    ("a division", 8, |m| any_expr(m, &|e| matches!(e.op, Op::Binary(Binary::SDiv)))),
    ("a call", 16, |m| any_expr(m, &|e| matches!(e.op, Op::Call(..)))),
    ("a switch with fall-through", 16, |m| any_stmt(m, &|s| matches!(s, Stmt::Switch(_, cases, ..) if cases.len() > 1 && cases[0].falls))),
    ("a loop in a loop", 20, |m| any_stmt(m, &|s| matches!(s, Stmt::Loop(l) if l.body.iter().any(|s| matches!(s, Stmt::Loop(_)))))),
    ("an exchange", 10, |m| any_stmt(m, &|s| matches!(s, Stmt::Exchange { .. }))),
];

#[test]
fn what_is_shown_shrinks_to_a_small_module() {
    for (what, most, shown) in SHOWN {
        let mut seeds = 0;
        for seed in 0..400 {
            let module = module(seed, &Limits::default());
            if !shown(&module) {
                continue;
            }
            let small = minimal(&module, &mut |m| shown(m), 5_000);
            assert!(shown(&small), "{what}");
            assert!(
                size(&small).nodes <= *most,
                "{what}, seed {seed}: {:?}\n{}",
                size(&small),
                spirv::disassemble(&small.case().words).unwrap_or_default()
            );
            assert!(small.invocations() <= 2, "{what}, seed {seed}: {} invocations", small.invocations());
            seeds += 1;
            if seeds == 3 {
                break;
            }
        }
        assert!(seeds > 0, "no module has {what}");
    }
}

/// A hash accepts or rejects each proposal, so that all kinds of changes combine. Every proposal
/// must be valid.
#[test]
fn every_proposal_is_valid() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("proposal.spv");
    for seed in 0..12 {
        let module = match seed % 3 {
            0 => twins(seed, &Limits::default(), 1).remove(0),
            _ => module(seed, &ALL_WIDTHS),
        };
        let valid = module.case().twin.is_none_or(|twin| twin.valid);
        let mut random = Random::new(seed);
        let mut shrinking = Shrinking::new(&module);
        let mut more = shrinking.simplify();
        let mut last = size(&module);
        for _ in 0..60 {
            if !more {
                break;
            }
            let proposed = shrinking.shown().clone();
            assert!(size(&proposed) < last, "seed {seed}: a proposal is smaller");
            if valid && let Some(why) = refusal(&proposed.case().words, &file) {
                panic!("seed {seed}: {why}\n{proposed:?}");
            }
            more = if random.percent(12) {
                last = size(&proposed);
                shrinking.simplify()
            } else {
                shrinking.complicate()
            };
        }
    }
}
