//! `compare` with a device: BEFORE must allow what AFTER shows there.

use std::process::Command;

use smallstep::compute::ComputeModule;
use smallstep::dispatch::words_hash;
use smallstep::gpu::{Device, Options, Route, worker};
use smallstep::theorem::refine::{OnDevice, Settings, Side, StageModule, Summary, refines, refines_draws};
use smallstep_semantics::spirv::{Module, Options as Assembly, assemble};

use super::common::frame::{flat_fragment, storage};
use super::{open, options};

fn module(text: &str) -> Module {
    let words = assemble(text, Assembly::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}"))
}

fn settings(device: Device) -> Settings {
    Settings { inputs: 6, device: Some(OnDevice::new(device).expect("passthrough")), ..Settings::default() }
}

fn dispatched(before: &str, after: &str, settings: &Settings) -> Summary {
    let side = |name: &str, text: &str| Side::new(name, ComputeModule::new(module(text), None).expect("one entry point"), None);
    refines(&side("BEFORE", before), &side("AFTER", after), settings, |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

fn drawn(before: &str, after: &str, settings: &Settings) -> Summary {
    let stages = |name: &str, text: &str| StageModule::new(name, module(text), None).unwrap_or_else(|e| panic!("{e}"));
    refines_draws(&stages("BEFORE", before), &stages("AFTER", after), settings, |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

const CUBES: &str = include_str!("../common/modules/cubes.spvasm");

/// Modules of integers, with images and cubes, and draws agree on a device.
#[test]
fn a_device_shows_what_before_allows() {
    let Some(device) = open(Some(Route::Passthrough), options()) else { return };
    let settings = settings(device);
    let average = std::fs::read_to_string("examples/spirv/average.spvasm").expect("an example");
    for summary in [
        dispatched(&average, &average, &settings),
        dispatched(&storage("OpImageWrite %o %at %r"), &storage("OpImageWrite %o %at %r"), &settings),
        dispatched(CUBES, CUBES, &settings),
    ] {
        assert_eq!((summary.verdict().name(), summary.agree), ("agree", 6), "{summary:?}");
    }
    // A pixel near an edge of a triangle may be covered or not.
    let summary = drawn(&flat_fragment("OpStore %out %c"), &flat_fragment("OpStore %out %c"), &settings);
    assert!(summary.disagreement.is_none() && summary.agree >= 4, "{summary:?}");
}

/// The worker crashes on the words of AFTER only.
#[test]
fn a_device_that_fails_on_after_disagrees() {
    let text = std::fs::read_to_string("examples/spirv/average.spvasm").expect("an example");
    let hash = words_hash(module(&text).words());
    let environment = vec![(worker::TEST_FAULT.into(), format!("crash-run:{hash:x}").into())];
    let Some(device) = open(Some(Route::Passthrough), Options { environment, ..options() }) else { return };
    let summary = dispatched(&text, &text, &settings(device));
    let verdict = summary.verdict();
    assert_eq!(verdict.name(), "disagree", "{summary:?}");
    assert!(verdict.why().contains("crashed"), "{verdict:?}");
}

/// The module of `spec-tests/quirks/llvmpipe-choice-of-zero.lv`: a choice of 0 over -1.
const CHOICE_OF_ZERO: &str = "OpCapability Shader\nOpCapability RoundingModeRTE\nOpCapability SignedZeroInfNanPreserve\n\
    OpExtension \"SPV_KHR_float_controls\"\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %out\n\
    OpExecutionMode %main OriginUpperLeft\nOpExecutionMode %main SignedZeroInfNanPreserve 32\n\
    OpExecutionMode %main RoundingModeRTE 32\nOpDecorate %out Location 0\n%void = OpTypeVoid\n%float = OpTypeFloat 32\n\
    %v4 = OpTypeVector %float 4\n%bool = OpTypeBool\n%fn = OpTypeFunction %void\n%to = OpTypePointer Output %v4\n\
    %zero = OpConstant %float 0\n%one = OpConstant %float 1\n%minus = OpConstant %float -1\n%out = OpVariable %to Output\n\
    %main = OpFunction %void None %fn\n%l = OpLabel\n%k = OpFOrdLessThan %bool %zero %one\nOpSelectionMerge %m None\n\
    OpBranchConditional %k %a %b\n%a = OpLabel\nOpBranch %m\n%b = OpLabel\nOpBranch %m\n%m = OpLabel\n\
    %r = OpPhi %float %zero %a %minus %b\n%o = OpCompositeConstruct %v4 %r %zero %zero %zero\nOpStore %out %o\n\
    OpReturn\nOpFunctionEnd\n";

/// llvmpipe of this version loses code behind some loops, and makes -0 of a 0 that is chosen over
/// -1. The interpreters agree, and llvmpipe disagrees.
#[test]
fn a_device_that_is_wrong_disagrees() {
    let Some(device) = open(Some(Route::Passthrough), options()) else { return };
    if !(device.adapter().name.contains("llvmpipe") && device.adapter().driver.contains("Mesa 22.3.6")) {
        return;
    }
    let text = std::fs::read_to_string("spec-tests/quirks-spirv/llvmpipe-atomic-in-loop.spvasm").expect("a quirk");
    let carried = smallstep::compute::carried::DispatchInputs::read(&text).expect("its dispatch");
    let given = carried.given(|file| panic!("{file}")).expect("values");
    let pinned = given.buffers.into_iter().map(|b| (smallstep::compute::given::Place::new(b.set, b.binding), b.bytes)).collect();
    let settings = Settings { pinned, groups: carried.groups, ..settings(device) };
    let summary = dispatched(&text, &text, &settings);
    assert_eq!(summary.verdict().name(), "disagree", "{summary:?}");
    let found = summary.disagreement.expect("it disagrees");
    assert!(found.2.after.contains("llvmpipe"), "{}", found.2.after);
    // The report's commands for another run name the device.
    let quirk = "spec-tests/quirks-spirv/llvmpipe-atomic-in-loop.spvasm";
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallstep"));
    let output = command.args(["compare", quirk, quirk, "--device", "llvmpipe", "--inputs", "4"]).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let names_it = |line: &str| line.trim_start().starts_with("smallstep run") && line.ends_with("--device llvmpipe");
    assert!(said.lines().any(names_it) && said.contains("this asks the device again: smallstep compare"), "{said}");
    let settings = Settings { inputs: 1, pinned: Vec::new(), groups: None, ..settings };
    let summary = drawn(CHOICE_OF_ZERO, CHOICE_OF_ZERO, &settings);
    assert_eq!(summary.verdict().name(), "disagree", "{summary:?}");
}

#[test]
fn a_route_by_which_other_words_run_is_refused() {
    let Some(device) = open(Some(Route::Naga), options()) else { return };
    let refused = OnDevice::new(device).expect_err("naga makes other words");
    assert!(refused.what.contains("--route passthrough"), "{}", refused.what);
}
