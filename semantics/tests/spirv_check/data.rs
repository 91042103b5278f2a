//! The data of a loaded module against values worked out by hand.

use pretty_assertions::assert_eq;
use smallstep_semantics::spirv::module::{ConstantScalar, Variable};
use smallstep_semantics::spirv::types::{Address, MatrixLayout, Type};
use smallstep_semantics::spirv::{LoadOptions, Module, Options, assemble};

/// A compute module. Its ids are numbers, so that the tests can name them.
const TEXT: &str = r#"
OpCapability Shader
OpCapability Int64
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %1 "main" %60
OpExecutionMode %1 LocalSize 2 3 4
OpExecutionMode %1 SignedZeroInfNanPreserve 32
%90 = OpString "a.comp"
OpDecorate %60 BuiltIn LocalInvocationIndex
OpMemberDecorate %30 0 Offset 0
OpMemberDecorate %30 0 MatrixStride 16
OpMemberDecorate %30 0 RowMajor
OpMemberDecorate %30 1 Offset 48
OpMemberDecorate %30 1 MatrixStride 16
OpMemberDecorate %30 2 Offset 112
OpMemberDecorate %30 3 Offset 120
OpDecorate %31 ArrayStride 32
OpDecorate %32 ArrayStride 8
OpDecorate %30 Block
OpDecorate %40 DescriptorSet 1
OpDecorate %40 Binding 2
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%4 = OpTypeBool
%5 = OpTypeInt 32 1
%6 = OpTypeInt 32 0
%7 = OpTypeInt 64 1
%8 = OpTypeFloat 32
%9 = OpTypeVector %8 2
%10 = OpTypeVector %8 3
%11 = OpTypeMatrix %10 2
%12 = OpConstant %6 2
%13 = OpConstant %7 -5
%14 = OpConstant %5 -1
%15 = OpConstant %8 1.5
%16 = OpUndef %8
%17 = OpConstantComposite %9 %15 %16
%18 = OpConstantNull %10
%19 = OpConstantTrue %4
%31 = OpTypeArray %11 %12
%32 = OpTypeRuntimeArray %9
%30 = OpTypeStruct %11 %31 %9 %32
%33 = OpTypeStruct %4 %11 %7
%34 = OpConstantNull %33
%41 = OpTypePointer StorageBuffer %30
%40 = OpVariable %41 StorageBuffer
%42 = OpTypePointer Private %33
%43 = OpVariable %42 Private %34
%44 = OpTypePointer Function %6
%61 = OpTypePointer Input %6
%60 = OpVariable %61 Input
%50 = OpTypeFunction %6 %6 %44
%1 = OpFunction %2 None %3
%70 = OpLabel
%71 = OpVariable %44 Function %12
OpLine %90 7 3
%72 = OpFunctionCall %6 %51 %12 %71
OpNoLine
%73 = OpIAdd %6 %72 %12
OpSelectionMerge %74 None
OpSwitch %13 %74 -5 %75 0x7000000000000001 %74
%75 = OpLabel
OpBranch %74
%74 = OpLabel
OpReturn
OpFunctionEnd
%51 = OpFunction %6 None %50
%52 = OpFunctionParameter %6
%53 = OpFunctionParameter %44
%54 = OpLabel
%55 = OpLoad %6 %53
%56 = OpIAdd %6 %55 %52
OpReturnValue %56
OpFunctionEnd
"#;

fn module() -> Module {
    let words = assemble(TEXT, Options { version: Some((1, 3)) }).unwrap_or_else(|e| panic!("{e}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn flat_scalars_are_counted_and_found() {
    let module = module();
    let types = module.types();
    assert_eq!([4, 9, 11, 31, 30, 33, 2].map(|id| types.scalars(id)), [1, 2, 6, 12, 20, 8, 0]);
    // struct { bool; mat2x3; int64 }
    assert_eq!(types.part(33, 1), Some((11, 1)));
    assert_eq!(types.part(33, 2), Some((7, 7)));
    assert_eq!(types.part(33, 3), None);
    assert_eq!(types.part(11, 1), Some((10, 3)));
    assert_eq!(types.part(32, 5), Some((9, 10)));
    assert_eq!(types.scalar_at(33, 0), Some(Type::Bool));
    assert_eq!(types.scalar_at(33, 6), Some(Type::Float { width: 32 }));
    assert_eq!(types.scalar_at(33, 7), Some(Type::Int { width: 64, signed: true }));
    assert_eq!(types.scalar_at(33, 8), None);
    let mut seen = Vec::new();
    types.visit_scalars(33, &mut |t| seen.push(t));
    assert_eq!(seen, (0..8).map(|i| types.scalar_at(33, i).expect("there are 8")).collect::<Vec<_>>());
    assert_eq!(types.text(11), "matrix of 2 columns of vec3 of float");
    assert_eq!(types.parameters(50), [6, 44]);
}

#[test]
fn an_explicit_layout_puts_each_scalar_at_its_byte() {
    let module = module();
    let types = module.types();
    // Member 0, row-major with stride 16: column c, row r at 16·r + 4·c.
    let mut places = Vec::new();
    let first = types.address(Address::whole(30), 0).expect("member 0");
    types.visit_addresses(first, &mut |offset, width| places.push((offset, width))).expect("all have places");
    assert_eq!(places, [0, 16, 32, 4, 20, 36].map(|offset| (offset, 32)));
    // Member 1, an array of column-major matrices.
    let second = types.address(Address::whole(30), 1).expect("member 1");
    let column = types.address(types.address(second, 1).expect("element 1"), 1).expect("column 1");
    assert_eq!((column.type_, column.offset), (10, 48 + 32 + 16));
    // A column of a row-major matrix is strided.
    let column = types.address(first, 1).expect("column 1");
    assert_eq!((column.type_, column.offset, column.component_stride), (10, 4, 16));
    assert_eq!(types.address(column, 2).map(|a| (a.type_, a.offset)), Some((8, 36)));
    // The runtime array.
    let last = types.address(Address::whole(30), 3).expect("member 3");
    assert_eq!(types.address(last, 10).and_then(|a| types.address(a, 1)).map(|a| a.offset), Some(120 + 80 + 4));
    assert_eq!(types.address(last, u64::MAX / 8 + 1), None, "the offset would pass 64 bits");
    assert_eq!(types.extent(9, MatrixLayout::default()), 8);
    assert_eq!(types.extent(11, MatrixLayout { stride: 16, row_major: true }), 2 * 16 + 8);
    assert_eq!(types.extent(11, MatrixLayout { stride: 16, row_major: false }), 16 + 12);
}

#[test]
fn constants_are_flat_scalars() {
    let module = module();
    let scalars = |id| {
        let mut scalars = Vec::new();
        module.constant_scalars(id, &mut scalars);
        scalars
    };
    let defined = |bits| ConstantScalar { bits, undefined: None };
    assert_eq!(module.constant_value(13), Some(0xffff_ffff_ffff_fffb));
    assert_eq!((module.integer(13), module.integer(14), module.integer(12)), (Some(-5), Some(-1), Some(2)));
    assert_eq!(module.constant_value(14), Some(0xffff_ffff));
    let undefined = ConstantScalar { bits: 0, undefined: module.definition(16).map(|i| i as u32) };
    assert_eq!(scalars(17), [defined(0x3fc0_0000), undefined]);
    assert_eq!(scalars(18), [defined(0); 3]);
    assert_eq!(scalars(19), [defined(1)]);
    assert_eq!(scalars(34).len(), 8);
    assert_eq!(scalars(40), []);
    assert!(module.is_constant(16) && !module.is_constant(40));
}

#[test]
fn functions_variables_modes_and_lines_are_found() {
    let module = module();
    let entry = &module.entry_points()[0];
    let modes = module.modes(entry);
    assert_eq!(modes.workgroup_size, Some([2, 3, 4]));
    assert_eq!(modes.float_controls.len(), 1);
    assert_eq!(module.interface_of(entry), [60]);
    let [main, add] = module.functions() else { panic!("two functions") };
    assert_eq!(module.callees(main).collect::<Vec<_>>(), [51]);
    assert_eq!(module.function(51), Some(add));
    assert_eq!(module.parameters(add).iter().map(|p| (p.id, p.type_)).collect::<Vec<_>>(), [(52, 6), (53, 44)]);
    let ids = |variables: &[Variable]| variables.iter().map(|v| v.id).collect::<Vec<_>>();
    assert_eq!((ids(module.globals()), ids(module.locals(main)), ids(module.locals(add))), (vec![40, 43, 60], vec![71], vec![]));
    let local = module.variable(71).expect("the local");
    assert_eq!((local.type_, local.initializer, local.function), (6, Some(12), Some(0)));
    assert_eq!(module.descriptor(40), Some((1, 2)));
    // A runtime array counts no bytes.
    assert_eq!(module.buffer_size(40), 120);
    let line = |id: u32| module.source_line(module.definition(id).expect("it is defined"));
    assert_eq!(line(72), Some(("a.comp".to_string(), 7, 3)));
    assert_eq!((line(73), line(56)), (None, None));
    let switch = module.instructions().iter().find(|i| i.name() == "OpSwitch").expect("the switch");
    assert_eq!(module.switch_cases(switch).collect::<Vec<_>>(), [(0xffff_ffff_ffff_fffb, 75), (0x7000_0000_0000_0001, 74)]);
}

#[test]
fn a_lenient_load_puts_sections_in_order() {
    let odd = TEXT.replacen("OpDecorate %60 BuiltIn LocalInvocationIndex\n", "", 1);
    let odd = odd.replacen(
        "%1 = OpFunction %2 None %3",
        "OpDecorate %60 BuiltIn LocalInvocationIndex OpName %60 \"index\" %1 = OpFunction %2 None %3",
        1,
    );
    let mut words = assemble(&odd, Options { version: Some((1, 3)) }).expect("it assembles");
    assert!(Module::load(&words).is_err(), "out of order");
    words[4] = 7;
    assert!(Module::load(&words).expect_err("reserved").to_string().starts_with("error[words/schema]"));
    let lenient = LoadOptions { lenient: true, ..LoadOptions::default() };
    let module = Module::load_with(&words, &lenient).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(module.name(60).as_deref(), Some("index"));
    assert_eq!(module.words().len(), words.len());
    assert_eq!(Module::load(module.words()).map(|m| m.words().to_vec()), Ok(module.words().to_vec()), "what it made is strictly in order");
    let ordered = assemble(TEXT, Options { version: Some((1, 3)) }).expect("it assembles");
    assert_eq!(Module::load_with(&ordered, &lenient).map(|m| m.words().to_vec()), Ok(ordered), "what is in order stays");
}
