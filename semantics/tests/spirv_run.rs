//! The results of each instruction, against values worked out by hand or by the standard library's
//! f64. Both engines run every sample.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::{Arithmetic, Op, Why};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::step::{self, Config, Env, Event, Next, Relation, Rules};
use smallstep_semantics::spirv::{Buffer, Inputs, Module, Options, Outputs, Program, assemble};
use smallstep_semantics::undefined::Ub;

/// Constants for the bodies below: a = 2, b = 3, c = 0.5, n = -1.75, vectors, square matrices
/// (columns first) and Booleans.
const PRELUDE: &str = "
    OpCapability Shader %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
    OpEntryPoint Fragment %main \"main\" %o0 %o1 %coord OpExecutionMode %main OriginUpperLeft
    OpDecorate %o0 Location 0 OpDecorate %o1 Location 1 OpDecorate %coord BuiltIn FragCoord
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32
    %v2 = OpTypeVector %float 2 %v3 = OpTypeVector %float 3 %v4 = OpTypeVector %float 4 %b2 = OpTypeVector %bool 2
    %m2 = OpTypeMatrix %v2 2
    %a = OpConstant %float 2 %b = OpConstant %float 3 %c = OpConstant %float 0.5 %n = OpConstant %float -1.75 %five = OpConstant %float 5
    %zero = OpConstant %float 0 %one = OpConstant %float 1 %four = OpConstant %float 4 %seven = OpConstant %float 7
    %tiny = OpConstant %float 1e-10
    %va = OpConstantComposite %v2 %a %b %vb = OpConstantComposite %v2 %five %seven %vc = OpConstantComposite %v2 %one %four
    %zeros = OpConstantNull %v2 %ones = OpConstantComposite %v2 %one %one
    %wa = OpConstantComposite %v3 %one %a %b %wb = OpConstantComposite %v3 %four %five %seven
    %ma = OpConstantComposite %m2 %va %vb %mb = OpConstantComposite %m2 %vc %va
    %t = OpConstantTrue %bool %f = OpConstantFalse %bool
    %tf = OpConstantComposite %b2 %t %f %tt = OpConstantComposite %b2 %t %t %ff = OpConstantNull %b2
    %p_in = OpTypePointer Input %v4 %coord = OpVariable %p_in Input
";

fn module(declarations: &str, body: &str) -> Module {
    let text = format!("{PRELUDE}{declarations}\n%main = OpFunction %void None %fn %entry = OpLabel\n{body}\nOpFunctionEnd");
    let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{body}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

/// The outcome of `main`, which must be the same by both engines.
fn run(module: &Module, inputs: &Inputs<'_>, fuel: u64) -> Outcome<Outputs> {
    let arithmetic = Arithmetic::default();
    let machine = Program::compile(module, "main").expect("main compiles").run(inputs, fuel, &arithmetic);
    let reference = step::run(module, "main", inputs, fuel, &Relation::default(), &mut ()).expect("main is there");
    assert_eq!(machine, reference, "machine against reference");
    machine
}

/// The components of `%r = <instruction>`, whose result has that type.
fn value(type_: &str, instruction: &str) -> Vec<f32> {
    let (declared, stores) = match type_ {
        "bool" => ("float", "%s = OpSelect %float %r %one %zero OpStore %o0 %s"),
        "b2" => ("v2", "%s = OpSelect %v2 %r %ones %zeros OpStore %o0 %s"),
        "m2" => ("v2", "%s0 = OpCompositeExtract %v2 %r 0 %s1 = OpCompositeExtract %v2 %r 1 OpStore %o0 %s0 OpStore %o1 %s1"),
        other => (other, "OpStore %o0 %r"),
    };
    let outputs = format!("%po = OpTypePointer Output %{declared} %o0 = OpVariable %po Output %o1 = OpVariable %po Output");
    let module = module(&outputs, &format!("%r = {} {stores} OpReturn", instruction.replacen(' ', &format!(" %{type_} "), 1)));
    match run(&module, &Inputs { frag_coord: [1.5, 2.5, 0.25, 1.0], buffers: &[] }, 100) {
        Outcome::Observed(outputs) => outputs.written.iter().flat_map(|(_, lanes)| lanes.iter().map(|l| l.float())).collect(),
        other => panic!("{instruction}: {other:?}"),
    }
}

#[test]
fn every_operation_computes_its_own_value() {
    let f = |x: f64| x as f32;
    let glsl = |name: &str, operands: &str| format!("OpExtInst %glsl {name} {operands}");
    let core = |text: &str| text.to_string();
    #[rustfmt::skip]
    let rows: Vec<(Op, &str, String, Vec<f32>)> = vec![
        (Op::Negate, "v2", core("OpFNegate %va"), vec![-2.0, -3.0]),
        (Op::Add, "v2", core("OpFAdd %va %vb"), vec![7.0, 10.0]),
        (Op::Sub, "v2", core("OpFSub %va %vb"), vec![-3.0, -4.0]),
        (Op::Mul, "v2", core("OpFMul %va %vb"), vec![10.0, 21.0]),
        (Op::Div, "v2", core("OpFDiv %va %vc"), vec![2.0, 0.75]),
        (Op::Mod, "float", core("OpFMod %n %a"), vec![0.25]),
        (Op::VectorTimesScalar, "v2", core("OpVectorTimesScalar %va %b"), vec![6.0, 9.0]),
        (Op::MatrixTimesScalar, "m2", core("OpMatrixTimesScalar %ma %b"), vec![6.0, 9.0, 15.0, 21.0]),
        // (1 4) · (2 5 / 3 7) = (1·2+4·3, 1·5+4·7)
        (Op::VectorTimesMatrix, "v2", core("OpVectorTimesMatrix %vc %ma"), vec![14.0, 33.0]),
        // (2 5 / 3 7) · (1, 4) = (2+20, 3+28)
        (Op::MatrixTimesVector, "v2", core("OpMatrixTimesVector %ma %vc"), vec![22.0, 31.0]),
        // Columns ma·(1,4) and ma·(2,3)
        (Op::MatrixTimesMatrix, "m2", core("OpMatrixTimesMatrix %ma %mb"), vec![22.0, 31.0, 19.0, 27.0]),
        (Op::Transpose, "m2", core("OpTranspose %ma"), vec![2.0, 5.0, 3.0, 7.0]),
        (Op::Dot, "float", core("OpDot %va %vb"), vec![31.0]),
        (Op::LessThan, "b2", core("OpFOrdLessThan %va %vc"), vec![0.0, 1.0]),
        (Op::LessThanEqual, "bool", core("OpFOrdLessThanEqual %a %a"), vec![1.0]),
        (Op::GreaterThan, "b2", core("OpFOrdGreaterThan %va %vc"), vec![1.0, 0.0]),
        (Op::GreaterThanEqual, "b2", core("OpFOrdGreaterThanEqual %va %va"), vec![1.0, 1.0]),
        (Op::Equal, "b2", core("OpFOrdEqual %ones %vc"), vec![1.0, 0.0]),
        (Op::NotEqual, "b2", core("OpFUnordNotEqual %ones %vc"), vec![0.0, 1.0]),
        (Op::LogicalEqual, "b2", core("OpLogicalEqual %tf %ff"), vec![0.0, 1.0]),
        (Op::LogicalNotEqual, "b2", core("OpLogicalNotEqual %tf %ff"), vec![1.0, 0.0]),
        (Op::And, "b2", core("OpLogicalAnd %tf %tt"), vec![1.0, 0.0]),
        (Op::Or, "b2", core("OpLogicalOr %tf %ff"), vec![1.0, 0.0]),
        (Op::Not, "b2", core("OpLogicalNot %tf"), vec![0.0, 1.0]),
        (Op::Any, "bool", core("OpAny %tf"), vec![1.0]),
        (Op::All, "bool", core("OpAll %tf"), vec![0.0]),
        (Op::Select, "v2", core("OpSelect %tf %va %vb"), vec![2.0, 7.0]),
        (Op::Round, "float", glsl("Round", "%n"), vec![-2.0]),
        (Op::RoundEven, "float", glsl("RoundEven", "%c"), vec![0.0]),
        (Op::Trunc, "float", glsl("Trunc", "%n"), vec![-1.0]),
        (Op::Abs, "float", glsl("FAbs", "%n"), vec![1.75]),
        (Op::Sign, "float", glsl("FSign", "%n"), vec![-1.0]),
        (Op::Floor, "float", glsl("Floor", "%n"), vec![-2.0]),
        (Op::Ceil, "float", glsl("Ceil", "%c"), vec![1.0]),
        (Op::Fract, "float", glsl("Fract", "%n"), vec![0.25]),
        (Op::Radians, "float", glsl("Radians", "%a"), vec![f(2f64.to_radians())]),
        (Op::Degrees, "float", glsl("Degrees", "%a"), vec![f(2f64.to_degrees())]),
        (Op::Sin, "float", glsl("Sin", "%a"), vec![f(2f64.sin())]),
        (Op::Cos, "float", glsl("Cos", "%a"), vec![f(2f64.cos())]),
        (Op::Tan, "float", glsl("Tan", "%a"), vec![f(2f64.tan())]),
        (Op::Asin, "float", glsl("Asin", "%c"), vec![f(0.5f64.asin())]),
        (Op::Acos, "float", glsl("Acos", "%c"), vec![f(0.5f64.acos())]),
        (Op::Atan, "float", glsl("Atan", "%a"), vec![f(2f64.atan())]),
        (Op::Sinh, "float", glsl("Sinh", "%a"), vec![f(2f64.sinh())]),
        (Op::Cosh, "float", glsl("Cosh", "%a"), vec![f(2f64.cosh())]),
        (Op::Tanh, "float", glsl("Tanh", "%c"), vec![f(0.5f64.tanh())]),
        (Op::Asinh, "float", glsl("Asinh", "%a"), vec![f(2f64.asinh())]),
        (Op::Acosh, "float", glsl("Acosh", "%a"), vec![f(2f64.acosh())]),
        (Op::Atanh, "float", glsl("Atanh", "%c"), vec![f(0.5f64.atanh())]),
        (Op::Atan2, "float", glsl("Atan2", "%a %b"), vec![f(2f64.atan2(3.0))]),
        (Op::Pow, "float", glsl("Pow", "%a %b"), vec![8.0]),
        (Op::Exp, "float", glsl("Exp", "%a"), vec![f(2f64.exp())]),
        (Op::Log, "float", glsl("Log", "%b"), vec![f(3f64.ln())]),
        (Op::Exp2, "float", glsl("Exp2", "%b"), vec![8.0]),
        (Op::Log2, "float", glsl("Log2", "%b"), vec![f(3f64.log2())]),
        (Op::Sqrt, "float", glsl("Sqrt", "%b"), vec![f(3f64.sqrt())]),
        (Op::InverseSqrt, "float", glsl("InverseSqrt", "%four"), vec![0.5]),
        (Op::Determinant, "float", glsl("Determinant", "%ma"), vec![-1.0]),
        // (2 5 / 3 7)⁻¹ = -(7 -5 / -3 2), columns first
        (Op::MatrixInverse, "m2", glsl("MatrixInverse", "%ma"), vec![-7.0, 3.0, 5.0, -2.0]),
        (Op::Min, "float", glsl("FMin", "%a %n"), vec![-1.75]),
        (Op::Max, "float", glsl("FMax", "%a %n"), vec![2.0]),
        (Op::Clamp, "v2", glsl("FClamp", "%vb %zeros %vc"), vec![1.0, 4.0]),
        (Op::Mix, "float", glsl("FMix", "%a %b %c"), vec![2.5]),
        (Op::Step, "float", glsl("Step", "%b %a"), vec![0.0]),
        (Op::SmoothStep, "float", glsl("SmoothStep", "%zero %a %c"), vec![0.15625]),
        (Op::Length, "float", glsl("Length", "%n"), vec![1.75]),
        (Op::Distance, "float", glsl("Distance", "%vb %va"), vec![5.0]),
        // (1,2,3) × (4,5,7) = (14-15, 12-7, 5-8)
        (Op::Cross, "v3", glsl("Cross", "%wa %wb"), vec![-1.0, 5.0, -3.0]),
        (Op::Normalize, "float", glsl("Normalize", "%n"), vec![-1.0]),
        // I - 2·dot(N, I)·N, N = (1,4), I = (2,3): dot 14, (2-28, 3-112)
        (Op::Reflect, "v2", glsl("Reflect", "%va %vc"), vec![-26.0, -109.0]),
    ];
    for (op, type_, instruction, expected) in &rows {
        let found = value(type_, instruction);
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(expected), "{op:?}: {instruction} gives {found:?}, expected {expected:?}");
    }
    for op in Op::ALL {
        assert!(rows.iter().any(|(row, ..)| row == op), "{op:?} has no row");
    }
}

#[test]
fn composites_are_built_and_taken_apart() {
    assert_eq!(value("v4", "OpCompositeConstruct %a %wa"), [2.0, 1.0, 2.0, 3.0]);
    assert_eq!(value("m2", "OpCompositeConstruct %vb %va"), [5.0, 7.0, 2.0, 3.0]);
    assert_eq!(value("b2", "OpCompositeConstruct %f %t"), [0.0, 1.0]);
    assert_eq!(value("float", "OpCompositeExtract %wb 2"), [7.0]);
    assert_eq!(value("v2", "OpCompositeExtract %ma 1"), [5.0, 7.0]);
    assert_eq!(value("float", "OpCompositeExtract %ma 1 0"), [5.0]);
    assert_eq!(value("v4", "OpLoad %coord"), [1.5, 2.5, 0.25, 1.0]);
}

fn sample(name: &str) -> Module {
    let path = format!("{}/tests/modules/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the sample's text");
    let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn buffers() -> Vec<Buffer> {
    let uniform =
        [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 10.0, 20.0, 30.0, 40.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0];
    vec![Buffer { set: 0, binding: 1, bytes: floats(&[0.0, 0.0, 0.0, 100.0]) }, Buffer { set: 1, binding: 0, bytes: floats(&uniform) }]
}

fn observed(outcome: Outcome<Outputs>, location: u32) -> Vec<f32> {
    match outcome {
        Outcome::Observed(outputs) => outputs.at(location).expect("the location was written").iter().map(|l| l.float()).collect(),
        other => panic!("not observed: {other:?}"),
    }
}

#[test]
fn buffers_are_read_by_their_layout() {
    let module = sample("buffers");
    let buffers = buffers();
    let outcome = run(&module, &Inputs { frag_coord: [8.5, 9.5, 500.0, 1.0], buffers: &buffers }, 1000);
    // m = (1 3 / 2 4), c = (3,4): m·c = (15, 22); x + p = 100 + 7; y = 9.5; +
    // v; max with FragCoord.
    assert_eq!(observed(outcome.clone(), 0), [25.0, 42.0, 500.0, 49.5]);
    assert_eq!(observed(outcome, 3), [0.0]);
}

#[test]
fn buffers_that_are_missing_or_short_are_refused_before_anything_runs() {
    let module = sample("buffers");
    let all = buffers();
    let why = |buffers: &[Buffer]| match run(&module, &Inputs { frag_coord: [0.0; 4], buffers }, 1000) {
        Outcome::Unsupported(what) => what,
        other => panic!("{other:?}"),
    };
    assert!(why(&all[..1]).starts_with("no buffer at set 1, binding 0 for %"));
    let mut short = all.clone();
    short[1].bytes.truncate(92);
    assert!(why(&short).starts_with("the buffer at set 1, binding 0 has 92 bytes; %"), "{}", why(&short));
}

#[test]
fn an_access_chain_out_of_bounds_is_undefined_at_the_chain() {
    let module = sample("buffers");
    let mut short = buffers();
    short[0].bytes.truncate(15);
    match run(&module, &Inputs { frag_coord: [0.0; 4], buffers: &short }, 1000) {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::AccessOutOfBounds);
            assert!(undefined.what.contains("OpAccessChain has index 3 (%") && undefined.what.ends_with("of 3"), "{}", undefined.what);
            assert!(undefined.at.contains("block %") && undefined.at.ends_with("step 0"), "{}", undefined.at);
        }
        other => panic!("{other:?}"),
    }
}

/// A chain with that index into an array of three elements. Nothing is loaded through it.
fn array_chain(index: &str) -> Outcome<Outputs> {
    array_chain_of(1, index)
}

/// As [`array_chain`], with an index of a signed (1) or unsigned (0) type.
fn array_chain_of(signedness: u32, index: &str) -> Outcome<Outputs> {
    let declarations = format!(
        "%int = OpTypeInt 32 {signedness} %i0 = OpConstant %int 0 %i3 = OpConstant %int 3 %index = OpConstant %int {index}
         %arr = OpTypeArray %float %i3 %S = OpTypeStruct %arr %p = OpTypePointer Uniform %S %pf = OpTypePointer Uniform %float
         %u = OpVariable %p Uniform %po = OpTypePointer Output %float %o0 = OpVariable %po Output %o1 = OpVariable %po Output"
    );
    let text = format!("{PRELUDE}{declarations}").replace(
        "%void = OpTypeVoid",
        "OpDecorate %S Block OpMemberDecorate %S 0 Offset 0 OpDecorate %arr ArrayStride 4 OpDecorate %u DescriptorSet 0 OpDecorate %u Binding 0
         %void = OpTypeVoid",
    );
    let body = " %main = OpFunction %void None %fn %entry = OpLabel %q = OpAccessChain %pf %u %i0 %index OpReturn OpFunctionEnd";
    let words = assemble(&format!("{text}{body}"), Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    let buffer = Buffer { set: 0, binding: 0, bytes: vec![0; 12] };
    run(&module, &Inputs { frag_coord: [0.0; 4], buffers: &[buffer] }, 10)
}

#[test]
fn an_unsigned_index_counts_as_signed() {
    match array_chain_of(0, "3750123205") {
        Outcome::Undefined(undefined) => assert!(undefined.what.contains("has index -544844091 (%"), "{}", undefined.what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_chain_is_in_bounds_or_undefined_even_if_nothing_is_loaded() {
    assert_eq!(array_chain("2").name(), "observed");
    for index in ["3", "-1", "-2147483648", "2147483647"] {
        match array_chain(index) {
            Outcome::Undefined(undefined) => assert!(undefined.what.contains(&format!("index {index} ")), "{}", undefined.what),
            other => panic!("{index}: {other:?}"),
        }
    }
}

#[test]
fn unreachable_is_undefined_where_it_is_reached() {
    let module = sample("unreachable");
    let at = |x| run(&module, &Inputs { frag_coord: [x, 0.5, 0.0, 1.0], buffers: &[] }, 100);
    assert_eq!(observed(at(4.0), 0), [4.0, 0.5, 0.0, 1.0]);
    match at(3.5) {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::Unreachable);
            assert!(undefined.at.starts_with("in %") && undefined.at.ends_with("step 5"), "{}", undefined.at);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn phis_of_a_block_read_old_values_and_commit_together() {
    let outcome = run(&sample("swap"), &Inputs::default(), 1000);
    // Three iterations: (1, 2) is swapped three times.
    assert_eq!(observed(outcome, 0), [2.0, 1.0, 3.0, 0.0]);
}

#[test]
fn selections_loops_and_lines_run() {
    let module = sample("control");
    let at = |x| observed(run(&module, &Inputs { frag_coord: [x, 0.5, 0.0, 1.0], buffers: &[] }, 1000), 0);
    // Each odd i above 2 doubles s: 3, 5, 7, 9.
    assert_eq!(at(0.5), [16.0, 16.0, 10.0, 0.0]);
    assert_eq!(at(8.5), [2.0, 2.0, 10.0, 8.0]);
    assert_eq!(at(12.5), [1.0, 1.0, 12.0, 12.0]);
}

#[test]
fn both_engines_run_out_of_fuel_at_the_same_step() {
    let buffers = buffers();
    for name in ["yellow", "swap", "buffers", "control", "unreachable"] {
        let module = sample(name);
        for x in [0.5, 3.5, 9.5] {
            let inputs = Inputs { frag_coord: [x, 0.5, 0.0, 1.0], buffers: &buffers };
            let whole = run(&module, &inputs, 1_000_000);
            for fuel in 0..400 {
                let outcome = run(&module, &inputs, fuel);
                match (&whole, &outcome) {
                    (Outcome::Observed(o), Outcome::OutOfFuel) => assert!(fuel < o.steps, "{name} had enough fuel"),
                    (Outcome::Observed(o), Outcome::Observed(_)) => assert!(fuel >= o.steps, "{name} ran on no fuel"),
                    (Outcome::Undefined(_), Outcome::OutOfFuel) => {}
                    (a, b) => assert_eq!(a, b, "{name} with fuel {fuel}"),
                }
            }
        }
    }
}

#[test]
fn an_infinite_loop_runs_out_of_fuel() {
    let module = module(
        "%po = OpTypePointer Output %float %o0 = OpVariable %po Output %o1 = OpVariable %po Output",
        "OpBranch %h %h = OpLabel OpLoopMerge %m %k None OpBranch %k %k = OpLabel OpBranch %h %m = OpLabel OpReturn",
    );
    assert_eq!(run(&module, &Inputs::default(), 100_001), Outcome::OutOfFuel);
}

#[test]
fn outputs_that_are_not_stored_are_reported_apart() {
    let module = module(
        "%po = OpTypePointer Output %float %o0 = OpVariable %po Output %o1 = OpVariable %po Output",
        "OpStore %o1 %a OpStore %o1 %b OpReturn",
    );
    match run(&module, &Inputs::default(), 10) {
        Outcome::Observed(outputs) => {
            assert_eq!(outputs.unwritten.as_slice(), [0]);
            assert_eq!(outputs.at(0), None);
            assert_eq!(outputs.at(1).map(|l| l[0].float()), Some(3.0));
            assert_eq!(outputs.steps, 3);
        }
        other => panic!("{other:?}"),
    }
}

/// Branches on %x, which `condition` computes. %o0 is stored before the branch, and %o1 after it.
fn branching(condition: &str) -> Outputs {
    let module = module(
        "%po = OpTypePointer Output %float %o0 = OpVariable %po Output %o1 = OpVariable %po Output",
        &format!(
            "OpStore %o0 %a {condition} OpSelectionMerge %m None OpBranchConditional %x %y %m %y = OpLabel OpBranch %m
             %m = OpLabel %r = OpPhi %float %b %entry %c %y OpStore %o1 %r OpReturn"
        ),
    );
    match run(&module, &Inputs { frag_coord: [1.5, 0.5, 0.0, 1.0], buffers: &[] }, 100) {
        Outcome::Observed(outputs) => outputs,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_branch_on_what_is_in_doubt_puts_everything_after_it_in_doubt() {
    let certain = branching("%x = OpFOrdLessThan %bool %a %b");
    assert!(certain.written.iter().all(|(_, l)| l[0].trust.doubt.is_none() && l[0].trust.grid.is_some()), "{certain:?}");
    let doubtful = branching("%s = OpExtInst %float %glsl Sin %a %x = OpFOrdLessThan %bool %s %b");
    // The other path could have stored to o0 again.
    assert!(doubtful.written.iter().all(|(_, l)| l[0].trust.doubt == Some(Why::Control) && l[0].trust.grid.is_none()), "{doubtful:?}");
    assert_eq!(doubtful.written.len(), 2);
    // The sum is rounded correctly, but only if the rounding is declared. So it is in doubt only
    // under the other profile.
    let uncertified = branching("%s = OpFAdd %float %a %tiny %x = OpFOrdLessThan %bool %s %b");
    assert!(uncertified.written.iter().all(|(_, l)| l[0].trust.doubt.is_none() && l[0].trust.grid.is_none()), "{uncertified:?}");
}

#[test]
fn a_private_variable_begins_with_its_initializer_and_keeps_what_is_stored() {
    let declarations = "%po = OpTypePointer Output %v2 %o0 = OpVariable %po Output %o1 = OpVariable %po Output
        %pp = OpTypePointer Private %v2 %own = OpVariable %pp Private %va";
    let body = "%first = OpLoad %v2 %own OpStore %o0 %first %more = OpFAdd %v2 %first %vb OpStore %own %more
        %second = OpLoad %v2 %own OpStore %o1 %second OpReturn";
    let module = module(declarations, body);
    // The second run finds nothing of the first.
    for _ in 0..2 {
        let outcome = run(&module, &Inputs::default(), 100);
        assert_eq!(observed(outcome.clone(), 0), [2.0, 3.0]);
        assert_eq!(observed(outcome, 1), [7.0, 10.0]);
    }
}

/// The rule of the report, taken literally: each phi reads what the phi before it wrote.
fn sequential_phi<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let Next::Config(together) = step::phi(env, config)? else { return None };
    let module = config.module;
    let mut next = Config { code: together.code, ..config.clone() };
    for phi in &config.code[..config.code.len() - together.code.len()] {
        let pair = phi.operands(module.words()).chunks_exact(2).find(|pair| pair[1] == config.p)?;
        let value: Value = next.memory.value(module, pair[0])?.as_ref().clone();
        next.memory.define(module, phi.result, value);
    }
    Some(Next::Config(next))
}

#[test]
fn a_planted_rule_shows() {
    let module = sample("swap");
    let reference = |rules: Rules| {
        let relation = Relation { rules, ..Relation::default() };
        step::run(&module, "main", &Inputs::default(), 1000, &relation, &mut ()).expect("main is there")
    };
    assert_eq!(observed(reference(Rules::standard()), 0), [2.0, 1.0, 3.0, 0.0]);
    assert_eq!(observed(reference(Rules::standard().replace(Rule::SpirvPhi, sequential_phi)), 0), [2.0, 2.0, 3.0, 0.0]);
    match reference(Rules::standard().replace(Rule::SpirvCompute, |_, _| None)) {
        Outcome::Stuck(stuck) => assert!(stuck.why.contains("no rule applies to OpFOrdLessThan"), "{stuck:?}"),
        other => panic!("{other:?}"),
    }
    match reference(Rules::standard().replace(Rule::SpirvNop, step::branch)) {
        Outcome::Stuck(stuck) => assert!(stuck.why.contains("both apply"), "{stuck:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn planted_arithmetic_reaches_both_engines() {
    let arithmetic = Arithmetic {
        planted: Some(|op, _, mut lanes| {
            if op == Op::Add {
                lanes[0].bits ^= 1;
            }
            lanes
        }),
    };
    let module = sample("buffers");
    let buffers = buffers();
    let inputs = Inputs { frag_coord: [8.5, 9.5, 0.0, 1.0], buffers: &buffers };
    let machine = Program::compile(&module, "main").expect("main compiles").run(&inputs, 1000, &arithmetic);
    let relation = Relation::new(Rules::standard(), arithmetic);
    let reference = step::run(&module, "main", &inputs, 1000, &relation, &mut ()).expect("main is there");
    assert_eq!(machine, reference);
    assert_ne!(machine, run(&module, &inputs, 1000));
}

#[test]
fn a_sink_sees_every_rule_and_value() {
    let module = sample("swap");
    let mut seen: Vec<(u64, &str, u32, Option<f32>)> = Vec::new();
    let mut sink = |event: &Event<'_, '_>| {
        let value = event.value.and_then(|v| match v {
            Value::Scalars(scalars) => Some(scalars[0].lane().float()),
            _ => None,
        });
        seen.push((event.step, event.rule.name(), event.at.block, value));
    };
    let outcome = step::run(&module, "main", &Inputs::default(), 1000, &Relation::default(), &mut sink).expect("main is there");
    let steps = outcome.observed().expect("it ends").steps;
    assert_eq!(seen.last().map(|s| (s.0, s.1)), Some((steps - 1, "spirv/return")));
    let phis: Vec<Option<f32>> = seen.iter().filter(|s| s.0 == 9 && s.1 == "spirv/phi").map(|s| s.3).collect();
    assert_eq!(phis, [Some(1.0), Some(2.0), Some(1.0)]);
    assert_eq!(seen[0].1, "spirv/branch");
}

#[test]
fn an_entry_point_that_is_not_there_is_an_error() {
    let module = sample("swap");
    let error = Program::compile(&module, "other").expect_err("there is no such entry point");
    assert!(error.to_string().contains("no entry point is named \"other\"; there are: main"), "{error}");
    let error = step::run(&module, "", &Inputs::default(), 1, &Relation::default(), &mut ()).expect_err("nor this one");
    assert!(error.to_string().starts_with("error[module/entry-point]"), "{error}");
}

#[test]
fn the_rule_table_has_every_rule_of_the_judgement() {
    use smallstep_semantics::rule::Judgement;
    // If the table lacks a rule, a replacement of it changes nothing. So the table must have
    // each rule.
    let of_one_invocation = |r: &&Rule| matches!(r.judgement(), Judgement::Spirv | Judgement::Invocation);
    for &rule in Rule::ALL.iter().filter(of_one_invocation) {
        assert!(Rules::standard().rules().any(|r| r == rule), "{rule} is not in the table");
    }
    assert_eq!(Rules::standard().rules().count(), Rule::ALL.iter().filter(of_one_invocation).count());
}
