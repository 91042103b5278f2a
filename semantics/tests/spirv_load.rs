//! Near-misses: a module that loads, and for every named error a change of it that is refused by
//! that name.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::{Controls, Denormals, Profile, Rounding};
use smallstep_semantics::spirv::{
    Check, Config, Inputs, LoadError, Malformed, Module, Options, Program, WordsError, assemble, decode, words_of_bytes,
};

const BASE: &str = r#"
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out %coord
OpExecutionMode %main OriginUpperLeft
%file = OpString "base.lv"
OpName %main "main"
OpDecorate %out Location 0
OpDecorate %coord BuiltIn FragCoord
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpDecorate %arr ArrayStride 4
OpMemberDecorate %S 1 Offset 16
OpMemberDecorate %S 1 MatrixStride 8
OpDecorate %u DescriptorSet 0
OpDecorate %u Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%m2 = OpTypeMatrix %v2 2
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%i3 = OpConstant %int 3
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%pair = OpConstantComposite %v2 %f0 %f1
%true = OpConstantTrue %bool
%arr = OpTypeArray %float %i3
%S = OpTypeStruct %arr %m2
%p_s = OpTypePointer Uniform %S
%p_f = OpTypePointer Uniform %float
%p_m = OpTypePointer Uniform %m2
%u = OpVariable %p_s Uniform
%p_in = OpTypePointer Input %v4
%coord = OpVariable %p_in Input
%p_out = OpTypePointer Output %v4
%out = OpVariable %p_out Output
%main = OpFunction %void None %fn
%entry = OpLabel
%q = OpAccessChain %p_f %u %i0 %i1
%x = OpLoad %float %q
%qm = OpAccessChain %p_m %u %i1
%m = OpLoad %m2 %qm
%y = OpFAdd %float %x %f1
%mv = OpMatrixTimesVector %v2 %m %pair
%s = OpExtInst %float %glsl Sin %y
%z = OpCompositeExtract %float %mv 1
%less = OpFOrdLessThan %bool %y %f1
OpBranch %head
%head = OpLabel
%i = OpPhi %float %f0 %entry %j %continue
OpLoopMerge %done %continue None
OpBranch %test
%test = OpLabel
%more = OpFOrdLessThan %bool %i %f1
OpBranchConditional %more %body %done
%body = OpLabel
OpSelectionMerge %join None
OpBranchConditional %less %yes %join
%yes = OpLabel
%k = OpFMul %float %i %i
OpBranch %join
%join = OpLabel
OpBranch %continue
%continue = OpLabel
%j = OpFAdd %float %i %f1
OpBranch %head
%done = OpLabel
%r = OpCompositeConstruct %v4 %x %y %mv
OpStore %out %r
OpReturn
OpFunctionEnd
"#;

fn words(text: &str) -> Vec<u32> {
    assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// [`BASE`] with a line, or a part of one, replaced. The part must be there exactly once.
fn changed(from: &str, to: &str) -> Vec<u32> {
    assert_eq!(BASE.matches(from).count(), 1, "{from:?} must stand once in BASE");
    words(&BASE.replacen(from, to, 1))
}

fn refused(words: &[u32]) -> LoadError {
    match Module::load(words) {
        Ok(_) => panic!("the module loads"),
        Err(error) => error,
    }
}

/// Why the module does not load, or why the engines for λV's translation refuse to run it. Both
/// must give the same reason.
fn refused_to_run(words: &[u32]) -> LoadError {
    let module = match Module::load(words) {
        Ok(module) => module,
        Err(error) => return error,
    };
    let machine = Program::compile(&module, "main").expect_err("the machine refuses it");
    let relation = Config::start(&module, "main", Inputs::default()).expect_err("the relation refuses it");
    assert_eq!(machine, relation);
    machine
}

#[test]
fn the_base_loads() {
    let module = Module::load(&words(BASE)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((module.blocks().len(), module.functions().len(), module.entry_points().len()), (8, 1, 1));
    let entry = &module.blocks()[0];
    assert_eq!(module.code(entry).len(), 10, "the OpLabel is no part of the instruction vector");
    assert_eq!(module.block(entry.label), Some(entry));
    assert_eq!(module.name(module.functions()[0].id).as_deref(), Some("main"));
}

#[test]
fn every_check_refuses_a_near_miss() {
    let cases: &[(Check, &str, &str, &str)] = &[
        (
            Check::SectionOrder,
            "OpMemoryModel Logical GLSL450",
            "OpMemoryModel Logical GLSL450 OpCapability Matrix",
            "OpCapability stands after",
        ),
        (Check::SectionOrder, "%void = OpTypeVoid", "%void = OpTypeVoid OpName %void \"void\"", "OpName stands after"),
        (
            Check::SectionOrder,
            "%p_s = OpTypePointer Uniform %S",
            "%p_s = OpTypePointer Uniform %S %w = OpFAdd %float %f0 %f0",
            "OpFAdd stands outside of a function",
        ),
        (Check::SectionOrder, "OpName %main \"main\"", "OpName %main \"main\" OpLine %file 1 1", "OpLine stands before"),
        (Check::MemoryModel, "OpMemoryModel Logical GLSL450", "", "0 OpMemoryModel"),
        (
            Check::MemoryModel,
            "OpMemoryModel Logical GLSL450",
            "OpMemoryModel Logical GLSL450 OpMemoryModel Logical GLSL450",
            "2 OpMemoryModel",
        ),
        (Check::UndefinedId, "OpStore %out %r", "OpStore %out %nothing", "is used but no instruction defines it"),
        (Check::UndefinedId, "OpName %main \"main\"", "OpName %nothing \"main\"", "is used but no instruction defines it"),
        (Check::UndefinedId, "%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %nothing 2", "is used but no instruction defines it"),
        (Check::UndefinedId, "OpBranch %test", "OpBranch %nothing", "is used but no instruction defines it"),
        (Check::DefinedBeforeUse, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %z %f1", "is used before"),
        (Check::DefinedBeforeUse, "%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %later 2 %later = OpTypeFloat 32", "is used before"),
        (Check::DefinedBeforeUse, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %y %f1", "is used before"),
        (Check::Dominance, "OpStore %out %r", "OpStore %out %r %dead = OpFAdd %float %k %k", "does not dominate its use"),
        (Check::Dominance, "%j %continue", "%k %continue", "does not dominate its use"),
        (
            Check::KindOfId,
            "%y = OpFAdd %float %x %f1",
            "%y = OpFAdd %float %x %float",
            "must be a value, but it is the result of OpTypeFloat",
        ),
        (Check::KindOfId, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %x %entry", "must be a value, but it is the result of OpLabel"),
        (
            Check::KindOfId,
            "%y = OpFAdd %float %x %f1",
            "%y = OpFAdd %float %x %main",
            "must be a value, but it is the result of OpFunction",
        ),
        (Check::KindOfId, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %f0 %x %f1", "must be a type, but it is the result of OpConstant"),
        (Check::KindOfId, "OpExtInst %float %glsl Sin %y", "OpExtInst %float %file 13 %y", "which is no OpExtInstImport"),
        (Check::KindOfId, "OpStore %out %r", "OpLine %float 1 1 OpStore %out %r", "which is no OpString"),
        (Check::Type, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %x %pair", "has operands float, vec2 of float"),
        (Check::Type, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %x %true", "has operands float, bool"),
        (Check::Type, "%y = OpFAdd %float %x %f1", "%y = OpFAdd %int %i1 %i1", "result int"),
        (Check::Type, "%mv = OpMatrixTimesVector %v2 %m %pair", "%mv = OpMatrixTimesVector %v2 %pair %m", "it takes a matrix"),
        (Check::Type, "OpExtInst %float %glsl Sin %y", "OpExtInst %v2 %glsl Sin %y", "result vec2 of float"),
        (Check::Type, "OpExtInst %float %glsl Sin %y", "OpExtInst %v2 %glsl Cross %pair %pair", "operands and result of three floats"),
        (Check::Type, "%less = OpFOrdLessThan %bool %y %f1", "%less = OpFOrdLessThan %float %y %f1", "a result of as many Booleans"),
        (
            Check::Type,
            "OpBranchConditional %more %body %done",
            "OpBranchConditional %i %body %done",
            "the condition of OpBranchConditional is float",
        ),
        (Check::Type, "OpBranchConditional %more %body %done", "OpBranchConditional %more %body %done 1", "one branch weight"),
        (
            Check::CompositeIndex,
            "%z = OpCompositeExtract %float %mv 1",
            "%z = OpCompositeExtract %float %mv 2",
            "index 2 into vec2 of float",
        ),
        (Check::Type, "%z = OpCompositeExtract %float %mv 1", "%z = OpCompositeExtract %float %m 1", "it extracts vec2 of float"),
        (Check::Type, "%z = OpCompositeExtract %float %mv 1", "%z = OpCompositeExtract %v2 %mv", "it extracts vec2 of float"),
        (Check::Type, "%r = OpCompositeConstruct %v4 %x %y %mv", "%r = OpCompositeConstruct %v4 %x %y", "has 2 components"),
        (Check::Type, "%r = OpCompositeConstruct %v4 %x %y %mv", "%r = OpCompositeConstruct %v4 %x %true %mv", "is bool"),
        (Check::Type, "%x = OpLoad %float %q", "%x = OpLoad %v2 %q", "OpLoad has result type"),
        (Check::Type, "%x = OpLoad %float %q", "%x = OpLoad %float %f1", "must be a pointer"),
        (Check::Type, "OpStore %out %r", "OpStore %out %x", "OpStore stores"),
        (Check::Type, "%q = OpAccessChain %p_f %u %i0 %i1", "%q = OpAccessChain %p_f %u %i0", "no pointer to"),
        (Check::Type, "%j %continue", "%more %continue", "its operand"),
        (Check::TypeDeclaration, "%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %float 5", "2 to 4"),
        (Check::TypeDeclaration, "%m2 = OpTypeMatrix %v2 2", "%m2 = OpTypeMatrix %v2 5", "2 to 4 vectors"),
        (Check::TypeDeclaration, "%int = OpTypeInt 32 1", "%int = OpTypeInt 32 2", "signedness"),
        (Check::TypeDeclaration, "%arr = OpTypeArray %float %i3", "%arr = OpTypeArray %float %i0", "no positive integer constant"),
        (Check::TypeDeclaration, "%arr = OpTypeArray %float %i3", "%arr = OpTypeArray %float %f1", "no positive integer constant"),
        (Check::TypeDeclaration, "%arr = OpTypeArray %float %i3", "%arr = OpTypeArray %void %i3", "must have a size"),
        (Check::Constant, "%true = OpConstantTrue %bool", "%true = OpConstantTrue %float", "has result type"),
        (Check::Constant, "%f1 = OpConstant %float 1", "%f1 = OpConstant %float 1 %f2 = OpConstantComposite %v2 %f1", "has result type"),
        (Check::Constant, "%pair = OpConstantComposite %v2 %f0 %f1", "%pair = OpConstantComposite %v2 %f0 %i1", "is no constant float"),
        (Check::Variable, "%out = OpVariable %p_out Output", "%out = OpVariable %p_out Input", "its type is no pointer into Input"),
        (
            Check::BuiltIn,
            "%coord = OpVariable %p_in Input",
            "%p_in2 = OpTypePointer Input %v2 %coord = OpVariable %p_in2 Input",
            "FragCoord is a vec4",
        ),
        (
            Check::Variable,
            "%out = OpVariable %p_out Output",
            "%out = OpVariable %p_out Output %pp = OpTypePointer Private %v4 %own = OpVariable %pp Private %pair",
            "is no constant of type",
        ),
        (Check::Function, "%main = OpFunction %void None %fn", "%main = OpFunction %void None %void", "is no OpTypeFunction"),
        (Check::Function, "OpReturn\nOpFunctionEnd", "OpReturn", "OpFunctionEnd is missing"),
        (Check::Function, "OpReturn\nOpFunctionEnd", "OpReturn %g = OpFunction %void None %fn", "OpFunction stands within a function"),
        (Check::Function, "OpReturn\nOpFunctionEnd", "OpReturn OpFunctionEnd OpFunctionEnd", "OpFunctionEnd stands outside"),
        (Check::Function, "OpReturn\nOpFunctionEnd", "OpReturn OpFunctionEnd %l = OpLabel", "stands outside of a function"),
        (Check::Function, "OpReturn\nOpFunctionEnd", "OpReturn OpFunctionEnd %g = OpFunction %void None %fn OpFunctionEnd", "has no block"),
        (Check::OutsideBlock, "OpReturn\nOpFunctionEnd", "OpReturn OpReturn OpFunctionEnd", "OpReturn stands outside of a block"),
        (Check::OutsideBlock, "%entry = OpLabel", "OpStore %out %f0 %entry = OpLabel", "OpStore stands outside of a block"),
        (Check::Unterminated, "OpBranch %test\n", "", "has no termination instruction before OpLabel"),
        (Check::Unterminated, "OpReturn\nOpFunctionEnd", "OpFunctionEnd", "has no termination instruction before OpFunctionEnd"),
        (Check::BranchTarget, "OpBranch %test", "OpBranch %f0", "which is no block of this function"),
        (
            Check::BranchTarget,
            "OpReturn\nOpFunctionEnd",
            "OpReturn OpFunctionEnd %g = OpFunction %void None %fn %ge = OpLabel OpBranch %done OpFunctionEnd",
            "which is no block of this function",
        ),
        (Check::EntryBlock, "OpStore %out %r\nOpReturn", "OpStore %out %r OpBranch %entry", "the function's first block"),
        (
            Check::BlockOrder,
            "%yes = OpLabel\n%k = OpFMul %float %i %i\nOpBranch %join\n",
            "%late = OpLabel OpBranch %join %yes = OpLabel OpBranch %late\n",
            "stands before block",
        ),
        (
            Check::PhiPlace,
            "OpLoopMerge %done %continue None",
            "OpNop %i2 = OpPhi %float %f0 %entry %j %continue OpLoopMerge %done %continue None",
            "stands after another instruction",
        ),
        (Check::PhiParents, "%i = OpPhi %float %f0 %entry %j %continue", "%i = OpPhi %float %f0 %entry", "has 1 parents; its block has 2"),
        (
            Check::PhiParents,
            "%i = OpPhi %float %f0 %entry %j %continue",
            "%i = OpPhi %float %f0 %entry %j %body",
            "does not branch to its block",
        ),
        (Check::PhiParents, "%i = OpPhi %float %f0 %entry %j %continue", "%i = OpPhi %float %f0 %entry %f0 %entry", "twice"),
        (Check::PhiParents, "%i = OpPhi %float %f0 %entry %j %continue", "%i = OpPhi %float %f0 %f0 %j %continue", "which is no block"),
        (Check::MergePlace, "OpSelectionMerge %join None", "OpSelectionMerge %join None OpNop", "right before the branch"),
        (Check::MergePlace, "OpLoopMerge %done %continue None", "OpSelectionMerge %done None", "right before the branch"),
        (Check::MergeTarget, "OpSelectionMerge %join None", "OpSelectionMerge %body None", "as its merge block"),
        (Check::MergeTarget, "OpSelectionMerge %join None", "OpSelectionMerge %f0 None", "which is no block"),
        (Check::MergeTarget, "OpSelectionMerge %join None", "OpSelectionMerge %done None", "is the merge block of"),
        (Check::MergeTarget, "OpLoopMerge %done %continue None", "OpLoopMerge %done %done None", "as its continue target"),
        (Check::BackEdge, "OpLoopMerge %done %continue None\n", "", "without an OpLoopMerge"),
        (Check::BackEdge, "OpLoopMerge %done %continue None", "OpLoopMerge %continue %done None", "does not come by way of"),
        (
            Check::EntryPoint,
            "OpEntryPoint Fragment %main \"main\" %out %coord",
            "OpEntryPoint Fragment %f0 \"main\" %out %coord",
            "which is no OpFunction",
        ),
        (Check::EntryPoint, "%out %coord", "%out %float", "which is no OpVariable"),
        (Check::EntryPoint, "%out %coord", "%coord", "does not list"),
        (
            Check::EntryPoint,
            "OpEntryPoint Fragment %main \"main\" %out %coord",
            "OpEntryPoint Fragment %main \"main\" %out %coord OpEntryPoint Fragment %main \"main\"",
            "two entry points",
        ),
        (Check::EntryPoint, "OpExecutionMode %main OriginUpperLeft", "OpExecutionMode %f0 OriginUpperLeft", "no entry point's function"),
        (Check::Decoration, "OpDecorate %out Location 0\n", "", "has no Location"),
        (Check::Decoration, "OpDecorate %S Block\n", "", "is no Block"),
        (Check::Decoration, "OpDecorate %u Binding 0\n", "", "has no Binding"),
        (Check::Decoration, "OpDecorate %u DescriptorSet 0\n", "", "has no DescriptorSet"),
        (Check::Layout, "OpMemberDecorate %S 0 Offset 0\n", "", "has no Offset"),
        (Check::Layout, "OpDecorate %arr ArrayStride 4\n", "", "has no ArrayStride"),
        (Check::Layout, "OpDecorate %arr ArrayStride 4", "OpDecorate %arr ArrayStride 6", "is no multiple of 4"),
        (Check::Layout, "OpDecorate %arr ArrayStride 4", "OpDecorate %arr ArrayStride 0", "is below the 4 bytes"),
        (Check::Layout, "OpMemberDecorate %S 1 MatrixStride 8", "OpMemberDecorate %S 1 MatrixStride 4", "is below the 8 bytes"),
        (Check::Layout, "OpMemberDecorate %S 1 MatrixStride 8\n", "", "has no MatrixStride"),
        (Check::AccessIndex, "%q = OpAccessChain %p_f %u %i0 %i1", "%q = OpAccessChain %p_f %u %i3 %i1", "member 3 of a structure with 2"),
        (Check::AccessIndex, "%q = OpAccessChain %p_f %u %i0 %i1", "%q = OpAccessChain %p_f %u %f0 %i1", "is no integer"),
        (Check::AccessIndex, "%q = OpAccessChain %p_f %u %i0 %i1", "%q = OpAccessChain %p_f %u %i0 %i1 %i1", "which has no parts"),
        (
            Check::ExecutionMode,
            "OpExecutionMode %main OriginUpperLeft",
            "OpExecutionMode %main LocalSize 1 1 1",
            "is for \"main\", which is a Fragment entry point",
        ),
        (Check::ExecutionMode, "OpExecutionMode %main OriginUpperLeft", "OpExecutionMode %main DenormPreserve 8", "16, 32 or 64"),
        (Check::Storage, "OpStore %out %r", "OpStore %coord %r", "read-only"),
    ];
    let mut wrong = Vec::new();
    for &(check, from, to, says) in cases {
        let error = refused(&changed(from, to));
        let message = error.to_string();
        let named = message.starts_with(&format!("error[{}]: ", check.id()));
        if error.check() != Some(check) || !message.contains(says) || !named {
            wrong.push(format!("{from:?} → {to:?}: expected {check:?} ({says}), found {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_names_function_block_and_word() {
    let words = changed("%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %x %pair");
    let offset = decode(&words).expect("it decodes").instructions.iter().find(|i| i.name() == "OpFAdd").expect("the addition").offset;
    match refused(&words) {
        LoadError::Invalid { at, .. } => {
            assert_eq!(at.word, offset);
            assert!(at.function != 0 && at.block != 0);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_not_modeled_is_refused_by_name() {
    let cases = [
        ("OpCapability Shader", "OpCapability Shader OpCapability Float64", "OpCapability Float64"),
        ("OpMemoryModel Logical GLSL450", "OpMemoryModel Physical64 OpenCL", "OpMemoryModel Physical64"),
        ("OpMemoryModel Logical GLSL450", "OpMemoryModel Logical OpenCL", "OpMemoryModel OpenCL"),
        ("OpCapability Shader", "OpCapability Shader OpExtension \"SPV_KHR_ray_query\"", "OpExtension \"SPV_KHR_ray_query\""),
        ("%glsl = OpExtInstImport", "%cl = OpExtInstImport \"OpenCL.std\" %glsl = OpExtInstImport", "OpExtInstImport \"OpenCL.std\""),
        ("OpEntryPoint Fragment", "OpEntryPoint Geometry", "OpEntryPoint Geometry"),
        (
            "OpExecutionMode %main OriginUpperLeft",
            "OpExecutionMode %main OriginUpperLeft OpExecutionMode %main RoundingModeRTE 64",
            "OpExecutionMode RoundingModeRTE 64",
        ),
        (
            "OpExecutionMode %main OriginUpperLeft",
            "OpExecutionMode %main OriginUpperLeft OpExecutionMode %main DepthReplacing",
            "OpExecutionMode DepthReplacing",
        ),
        ("OpDecorate %out Location 0", "OpDecorate %out Location 0 OpDecorate %out RelaxedPrecision", "OpDecorate RelaxedPrecision"),
        (
            "OpMemberDecorate %S 1 MatrixStride 8",
            "OpMemberDecorate %S 1 MatrixStride 8 OpMemberDecorate %S 1 RowMajor",
            "OpMemberDecorate RowMajor",
        ),
        ("OpDecorate %coord BuiltIn FragCoord", "OpDecorate %coord BuiltIn PrimitiveId", "BuiltIn PrimitiveId"),
        ("OpDecorate %coord BuiltIn FragCoord", "OpDecorate %coord Location 0", "OpVariable Input without a BuiltIn"),
        ("OpDecorate %out Location 0", "OpDecorate %out BuiltIn FragStencilRefEXT", "BuiltIn FragStencilRefEXT as an output"),
        ("OpCapability Shader", "OpCapability Shader OpCapability Int64", "OpCapability Int64"),
        ("%float = OpTypeFloat 32", "%float = OpTypeFloat 32 %mini = OpTypeFloat 8", "OpTypeFloat 8"),
        ("%m2 = OpTypeMatrix %v2 2", "%m2 = OpTypeMatrix %v2 2 %m23 = OpTypeMatrix %v2 3", "OpTypeMatrix of 3 columns of vec2"),
        (
            "%fn = OpTypeFunction %void",
            "%fn = OpTypeFunction %void %n = OpTypeInt 32 0 %g = OpTypeFunction %void %n",
            "OpTypeFunction with parameters",
        ),
        ("%true = OpConstantTrue %bool", "%true = OpConstantTrue %bool %un = OpUndef %bool", "OpUndef"),
        ("%arr = OpTypeArray %float %i3", "%arr = OpTypeArray %float %i3 %no = OpConstantNull %arr", "OpConstantNull of OpTypeArray"),
        (
            "%out = OpVariable %p_out Output",
            "%out = OpVariable %p_out Output %w = OpTypePointer Workgroup %v4 %wv = OpVariable %w Workgroup",
            "OpVariable Workgroup",
        ),
        ("%y = OpFAdd %float %x %f1", "%y = OpFRem %float %x %f1", "OpFRem"),
        ("%y = OpFAdd %float %x %f1", "%y = OpFAdd %float %x %f1 %iy = OpConvertFToS %int %y", "OpConvertFToS"),
        ("OpExtInst %float %glsl Sin %y", "OpExtInst %float %glsl Fma %y %y %y", "OpExtInst GLSL.std.450 Fma"),
        ("OpStore %out %r\nOpReturn", "OpStore %out %r OpKill", "OpKill"),
        ("OpStore %out %r\n", "OpStore %out %r %again = OpLoad %v4 %out\n", "OpLoad from Output"),
        (
            "%out = OpVariable %p_out Output\n%main = OpFunction %void None %fn\n%entry = OpLabel",
            "%out = OpVariable %p_out Output %p_of = OpTypePointer Output %float
             %main = OpFunction %void None %fn %entry = OpLabel %po = OpAccessChain %p_of %out %i1",
            "OpAccessChain into Output",
        ),
        (
            "%out = OpVariable %p_out Output",
            "%v4n = OpConstantNull %v4 %out = OpVariable %p_out Output %v4n",
            "OpVariable Output with an initializer",
        ),
        (
            "%out = OpVariable %p_out Output",
            "%out = OpVariable %p_out Output %pp = OpTypePointer Private %v4 %own = OpVariable %pp Private",
            "OpVariable Private without an initializer",
        ),
        (
            "%out = OpVariable %p_out Output",
            "%out = OpVariable %p_out Output %pp = OpTypePointer Private %bool %own = OpVariable %pp Private %true",
            "OpVariable Private that holds bool",
        ),
    ];
    let mut wrong = Vec::new();
    for (from, to, what) in cases {
        match refused_to_run(&changed(from, to)) {
            LoadError::Unsupported { what: found, at } => {
                if !found.starts_with(what) {
                    wrong.push(format!("{from:?} → {to:?}: unsupported: {found}"));
                }
                assert!(at.word >= 5, "{found} at {at}");
            }
            other => wrong.push(format!("{from:?} → {to:?} gives {other}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let error = refused_to_run(&changed("%y = OpFAdd %float %x %f1", "%y = OpFRem %float %x %f1")).to_string();
    assert!(error.starts_with("unsupported: OpFRem (in %") && error.contains("block %"), "{error}");
}

#[test]
fn every_malformed_word_is_refused_by_name() {
    let base = words(BASE);
    let decoded = decode(&base).expect("the base decodes");
    let find = |name: &str| {
        let instruction = decoded.instructions.iter().find(|i| i.name() == name);
        instruction.unwrap_or_else(|| panic!("no {name}")).offset as usize
    };
    let with = |index: usize, word: u32| {
        let mut words = base.clone();
        words[index] = word;
        words
    };
    let appended = |more: &[u32]| [&base[..], more].concat();
    let import = find("OpExtInstImport");
    let cases: Vec<(Malformed, Vec<u32>, usize)> = vec![
        (Malformed::Header, base[..4].to_vec(), 4),
        (Malformed::Header, vec![], 0),
        (Malformed::Magic, with(0, 0x0723_0204), 0),
        (Malformed::ByteSwapped, with(0, 0x0302_2307), 0),
        (Malformed::Version, with(1, 0x0001_0700), 1),
        (Malformed::Version, with(1, 0x0002_0000), 1),
        (Malformed::Version, with(1, 0x0001_0301), 1),
        (Malformed::Bound, with(3, 0), 3),
        (Malformed::Schema, with(4, 1), 4),
        (Malformed::ZeroWordCount, appended(&[0x0000_0000]), base.len()),
        (Malformed::Truncated, appended(&[0x0002_0000]), base.len()),
        (Malformed::Truncated, base[..base.len() - 3].to_vec(), find("OpStore")),
        (Malformed::UnknownOpcode, appended(&[0x0001_ffff]), base.len()),
        (Malformed::UnknownOpcode, appended(&[0x0004_0034, 1, 2, 52]), base.len() + 3),
        (Malformed::MissingOperand, appended(&[0x0001_0011]), base.len() + 1),
        (Malformed::MissingOperand, appended(&[0x0002_003e, 1]), base.len() + 2),
        (Malformed::ExtraOperands, appended(&[0x0002_00fd, 7]), base.len() + 1),
        (Malformed::UnterminatedString, with(import + 5, 0x2e2e_2e2e), import + 2),
        (Malformed::StringEncoding, with(import + 2, 0x2e2e_2eff), import + 2),
        (Malformed::StringPadding, with(import + 5, 0x2e00_2e2e), import + 2),
        (Malformed::ZeroId, with(find("OpStore") + 1, 0), find("OpStore") + 1),
        (Malformed::IdOutOfBound, with(find("OpStore") + 1, base[3]), find("OpStore") + 1),
        (Malformed::IdDefinedTwice, with(find("OpTypeFloat") + 1, base[find("OpTypeBool") + 1]), find("OpTypeFloat")),
        (Malformed::UnknownEnumerant, with(find("OpCapability") + 1, 8000), find("OpCapability") + 1),
        (Malformed::UnknownEnumerant, with(find("OpLoopMerge") + 3, 0x8000_0000), find("OpLoopMerge") + 3),
        (Malformed::UnknownSetInstruction, with(find("OpExtInst") + 4, 999), find("OpExtInst") + 4),
        (Malformed::LiteralType, with(find("OpConstant") + 1, base[find("OpTypeVoid") + 1]), find("OpConstant") + 3),
    ];
    for (kind, words, place) in &cases {
        match decode(words) {
            Err(WordsError::Malformed { kind: found, offset, what }) => {
                assert_eq!((found, offset), (*kind, *place), "{what}");
            }
            Err(other) => panic!("{kind:?}: {other}"),
            Ok(_) => panic!("{kind:?}: the words decode"),
        }
        let text = refused(words).to_string();
        assert!(text.starts_with(&format!("error[{}]: word {place}: ", kind.id())), "{text}");
    }
    let bytes = words_of_bytes(&[1, 2, 3, 4, 5]).expect_err("five bytes");
    assert_eq!(bytes.kind(), Some(Malformed::ByteLength));
    for kind in Malformed::ALL {
        assert!(*kind == Malformed::ByteLength || cases.iter().any(|(case, ..)| case == kind), "{kind:?} has no near-miss");
    }
}

#[test]
fn an_id_bound_beyond_the_limit_is_a_limit() {
    let mut base = words(BASE);
    base[3] = 4_194_303;
    assert!(Module::load(&base).is_ok());
    base[3] = 4_194_304;
    assert_eq!(refused(&base).to_string(), "limit exceeded: more than 4194303 ids (the bound in the header)");
    base[3] = u32::MAX;
    assert!(matches!(refused(&base), LoadError::Limit(_)));
}

#[test]
fn the_profile_is_what_is_declared() {
    let controls =
        "OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32 OpExecutionMode %main OriginUpperLeft";
    let exact = ["y", "mv", "k", "j", "s"].map(|id| format!("OpDecorate %{id} NoContraction")).join(" ");
    let strict = BASE.replacen("OpExecutionMode %main OriginUpperLeft", controls, 1).replacen(
        "OpDecorate %S Block",
        &format!("OpDecorate %S Block {exact}"),
        1,
    );
    let capabilities =
        "OpCapability Shader OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve OpExtension \"SPV_KHR_float_controls\"";
    let strict = strict.replacen("OpCapability Shader", capabilities, 1);
    let profile = |text: &str| {
        let module = Module::load(&words(text)).unwrap_or_else(|e| panic!("{e}"));
        module.profile(&module.entry_points()[0])
    };
    assert_eq!(profile(&strict), Profile::Strict);
    assert_eq!(profile(BASE), Profile::VulkanDefault);
    let all = Profile::Strict.controls();
    let without = |missing: &str| Controls {
        rounding: if missing.contains("Rounding") { Rounding::Either } else { all.rounding },
        keeps_special: !missing.contains("Special") && !missing.contains("SignedZero"),
        ..all
    };
    let modes = ["RoundingModeRTE 32", "SignedZeroInfNanPreserve 32"];
    let capabilities = ["OpCapability RoundingModeRTE", "OpCapability SignedZeroInfNanPreserve"];
    for missing in modes.iter().chain(&capabilities) {
        // A mode that has no capability counts for nothing.
        let by = if missing.ends_with("32") { "DenormPreserve 32" } else { "" };
        assert_eq!(profile(&strict.replacen(missing, by, 1)), Profile::Declared(without(missing)), "{missing}");
    }
    let no_extension = strict.replacen("OpExtension \"SPV_KHR_float_controls\"", "", 1);
    assert_eq!(profile(&no_extension), Profile::Declared(Controls { no_contraction: true, ..Controls::NOTHING }));
    for id in ["y", "mv", "k", "j", "s"] {
        let contracted = strict.replacen(&format!("OpDecorate %{id} NoContraction"), "", 1);
        assert_eq!(profile(&contracted), Profile::Declared(Controls { no_contraction: false, ..all }), "%{id}");
    }
}

#[test]
fn each_float_control_is_read() {
    let with = |modes: &[&str]| {
        let capabilities: String = modes.iter().map(|mode| format!("OpCapability {mode} ")).collect();
        let declared: String = modes.iter().map(|mode| format!("OpExecutionMode %main {mode} 32 ")).collect();
        let text = BASE
            .replacen("OpCapability Shader", &format!("OpCapability Shader {capabilities} OpExtension \"SPV_KHR_float_controls\""), 1)
            .replacen("OpExecutionMode %main OriginUpperLeft", &format!("OpExecutionMode %main OriginUpperLeft {declared}"), 1);
        let module = Module::load(&words(&text)).unwrap_or_else(|e| panic!("{e}"));
        let entry = &module.entry_points()[0];
        let (controls, profile) = (module.controls(entry), module.profile(entry));
        assert!(module.declares(entry, profile), "{modes:?}");
        assert!(!module.declares(entry, Profile::Strict), "{modes:?}: nothing is decorated NoContraction");
        assert_eq!(controls.modes().count(), controls.modes().filter(|mode| modes.contains(&mode.name)).count(), "{modes:?}");
        controls
    };
    let nothing = Controls::NOTHING;
    assert_eq!(with(&["RoundingModeRTZ"]), Controls { rounding: Rounding::TowardZero, ..nothing });
    assert_eq!(with(&["RoundingModeRTE"]), Controls { rounding: Rounding::NearestEven, ..nothing });
    assert_eq!(with(&["DenormPreserve"]), Controls { denormals: Denormals::Preserve, ..nothing });
    assert_eq!(with(&["DenormFlushToZero"]), Controls { denormals: Denormals::Flush, ..nothing });
    assert_eq!(with(&["SignedZeroInfNanPreserve"]), Controls { keeps_special: true, ..nothing });
    assert_eq!(with(&["RoundingModeRTE", "RoundingModeRTZ"]), nothing, "they contradict each other");
    assert_eq!(with(&[]), nothing);
}

#[test]
fn a_select_of_a_whole_vector_by_one_condition_needs_version_1_4() {
    let text = BASE.replacen("%r = OpComp", "%sel = OpSelect %v2 %less %pair %mv %r = OpComp", 1);
    // From 1.4 on the interface lists the buffer too.
    let text = text.replacen("%out %coord", "%out %coord %u", 1);
    let load = |minor| Module::load(&assemble(&text, Options { version: Some((1, minor)) }).expect("it assembles"));
    assert_eq!(load(3).expect_err("too early").check(), Some(Check::Type));
    assert!(load(4).is_ok());
}
