//! Freezing specialization constants: values worked out by hand.

use pretty_assertions::assert_eq;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{Check, LoadOptions, Module, Options, Specialization, assemble, spec_constants, specialize};

use super::tools;

const TEXT: &str = r#"
OpCapability Shader
OpCapability Int64
OpCapability Int8
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %1 "main"
OpExecutionMode %1 LocalSize 1 1 1
OpDecorate %20 SpecId 3
OpDecorate %21 SpecId 7
OpDecorate %22 SpecId 8
OpDecorate %23 SpecId 9
OpDecorate %40 BuiltIn WorkgroupSize
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%4 = OpTypeBool
%5 = OpTypeInt 32 1
%6 = OpTypeInt 32 0
%7 = OpTypeInt 64 0
%8 = OpTypeInt 8 1
%9 = OpTypeVector %6 3
%10 = OpTypeVector %6 2
%11 = OpTypeFloat 32
%16 = OpConstant %6 1
%17 = OpConstant %6 40
%18 = OpConstant %5 -7
%19 = OpConstant %5 2
%20 = OpSpecConstant %6 5
%21 = OpSpecConstantTrue %4
%22 = OpSpecConstant %7 0x100000002
%23 = OpSpecConstant %8 -3
%30 = OpSpecConstantOp %6 IAdd %20 %16
%31 = OpSpecConstantOp %6 Select %21 %30 %16
%32 = OpSpecConstantOp %5 SDiv %18 %19
%33 = OpSpecConstantOp %5 SMod %18 %19
%34 = OpSpecConstantOp %6 ShiftLeftLogical %16 %17
%35 = OpSpecConstantOp %4 ULessThan %30 %17
%36 = OpSpecConstantOp %5 SConvert %23
%40 = OpSpecConstantComposite %9 %31 %16 %16
%41 = OpSpecConstantOp %6 CompositeExtract %40 0
%42 = OpSpecConstantOp %10 VectorShuffle %40 %40 5 0
%43 = OpSpecConstantOp %9 CompositeInsert %17 %40 1
%44 = OpSpecConstantOp %9 IMul %43 %40
%50 = OpTypeArray %6 %31
%1 = OpFunction %2 None %3
%60 = OpLabel
OpReturn
OpFunctionEnd
"#;

fn words() -> Vec<u32> {
    assemble(TEXT, Options { version: Some((1, 3)) }).unwrap_or_else(|e| panic!("{e}"))
}

fn load(values: &[(u32, u64)]) -> Module {
    let specialization = values.iter().map(|&(id, bits)| Specialization { id, bits }).collect();
    Module::load_with(&words(), &LoadOptions { specialization, ..LoadOptions::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn flat(module: &Module, id: u32) -> Vec<Option<u64>> {
    let mut scalars = Vec::new();
    module.constant_scalars(id, &mut scalars);
    scalars.iter().map(|s| s.undefined.is_none().then_some(s.bits)).collect()
}

#[test]
fn defaults_and_given_values_are_computed_with() {
    let module = load(&[]);
    assert_eq!([20, 21, 22, 23, 30, 31].map(|id| module.constant_value(id)), [5, 1, 0x1_0000_0002, 0xfd, 6, 6].map(Some));
    // -7 / 2 rounds toward zero.
    assert_eq!((module.integer(32), module.integer(36), module.integer(23)), (Some(-3), Some(-3), Some(-3)));
    assert_eq!(module.constant_value(35), Some(1));
    assert_eq!(flat(&module, 42), [Some(1), Some(6)]);
    assert_eq!(flat(&module, 43), [Some(6), Some(40), Some(1)]);
    assert_eq!(flat(&module, 44), [Some(36), Some(40), Some(1)]);
    assert_eq!(module.modes(&module.entry_points()[0]).workgroup_size, Some([6, 1, 1]));
    assert_eq!(module.types().parts(50), Some(6));

    let module = load(&[(3, 100), (7, 1), (8, u64::MAX), (9, 0x7f)]);
    assert_eq!([20, 22, 30, 31, 35].map(|id| module.constant_value(id)), [100, u64::MAX, 101, 101, 0].map(Some));
    assert_eq!(module.integer(36), Some(127));
    let module = load(&[(7, 0)]);
    assert_eq!(module.constant_value(31), Some(1), "the selection goes the other way");
}

#[test]
fn what_an_operation_leaves_undefined_becomes_undefined() {
    let module = load(&[]);
    // 1 << 40 in 32 bits.
    assert_eq!(flat(&module, 34), [None]);
    // The remainder of a negative operand, where the environment does not say.
    assert_eq!(flat(&module, 33), [None]);
    assert!(module.instruction(34).is_some_and(|i| i.is(Op::Undef)));
}

/// Structures without members are frozen too. The scalars beside them keep their places.
#[test]
fn structures_without_members_are_frozen() {
    let text = TEXT.replacen(
        "%1 = OpFunction",
        "%70 = OpTypeStruct\n%71 = OpTypeStruct %70 %6 %70 %6\n%72 = OpConstantNull %70\n%73 = OpConstantComposite %71 %72 %16 %72 %17
%74 = OpSpecConstantOp %71 CompositeInsert %30 %73 3\n%75 = OpSpecConstantOp %70 CompositeExtract %74 2
%76 = OpSpecConstantOp %71 CompositeInsert %75 %74 0\n%1 = OpFunction",
        1,
    );
    let words = assemble(&text, Options { version: Some((1, 3)) }).expect("it assembles");
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!([74, 75, 76].map(|id| flat(&module, id)), [vec![Some(1), Some(6)], vec![], vec![Some(1), Some(6)]]);
    assert!(module.instruction(75).is_some_and(|i| i.is(Op::ConstantNull)), "nothing of it is undefined");
    if tools::is_there("spirv-val") {
        assert_eq!(super::validates(module.words()), Ok(()));
    }
}

#[test]
fn frozen_words_hold_no_specialization_and_are_valid() {
    let frozen = specialize(&words(), &[Specialization { id: 3, bits: 9 }]).expect("they freeze");
    let module = Module::load(&frozen).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(module.words(), frozen, "frozen words are what runs");
    assert!(module.instructions().iter().all(|i| !i.name().starts_with("OpSpec")));
    assert_eq!(specialize(&frozen, &[]), Ok(frozen.clone()), "freezing again changes nothing");
    if tools::is_there("spirv-val") {
        assert_eq!(super::validates(&frozen), Ok(()));
    }
}

#[test]
fn specialization_constants_are_listed() {
    let listed = spec_constants(&words()).expect("the words decode");
    let rows: Vec<(u32, u32, u32, u64)> = listed.iter().map(|c| (c.id, c.result, c.type_, c.default)).collect();
    assert_eq!(rows, [(3, 20, 6, 5), (7, 21, 4, 1), (8, 22, 7, 0x1_0000_0002), (9, 23, 8, 0xffff_fffd)]);
}

#[test]
fn a_value_for_no_constant_and_undefined_behaviour_are_refused() {
    let error = specialize(&words(), &[Specialization { id: 4, bits: 1 }]).expect_err("no such SpecId");
    assert_eq!(error.to_string(), "error[module/specialization]: no specialization constant has SpecId 4 (word 0)");
    let zero = TEXT.replacen("%19 = OpConstant %5 2", "%19 = OpConstant %5 0", 1);
    let words = assemble(&zero, Options { version: Some((1, 3)) }).expect("it assembles");
    let error = Module::load(&words).expect_err("division by zero");
    assert_eq!(error.check(), Some(Check::Specialization));
    assert!(error.to_string().contains("%32 = OpSpecConstantOp SDiv"), "{error}");
}
