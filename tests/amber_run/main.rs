//! Amber scripts: played on the interpreter, on a device, on both, from the command line, and
//! written as vectors.
//!
//! Without a device, its tests say that they did not run. With `SMALLSTEP_REQUIRE_DEVICE=1` they
//! fail instead.

mod command;
#[path = "../common/mod.rs"]
mod common;
mod comparing;
mod descriptor_arrays;
mod drawing;
mod files;
mod fragment_operations;
mod graphics;
mod images;
mod levels;
mod modules;
mod playing;
mod pointers;
mod primitives;
mod samples;
mod shaders;
mod subgroups;
mod texel_buffers;
mod undefined;
mod vectors;
mod versions;
mod workgroup_layout;

use std::sync::Arc;

use smallstep::amber::{Decision, Script, read};
use smallstep::compute;
use smallstep::gpu::{Device, Route};
use smallstep::run::amber::{End, Engine, Interpreter, Leg, Modules, Options, Player, Step, check, commands, open_text};
use smallstep_semantics::spirv::lockstep::Parts;
use smallstep_semantics::spirv::operation::Calculator;

/// A compute shader with one invocation and a buffer of 32-bit words at set 0, binding 0. `types`
/// declares the type of a word, `%item`. `%k0` to `%k3` are constants, and `%p0` to `%p3` are
/// pointers to the first words. `body` computes, and stores through these pointers.
fn shader(types: &str, body: &str) -> String {
    format!(
        "SHADER compute shader SPIRV-ASM TARGET_ENV spv1.3
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpName %main \"main\"
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
{types}
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%k2 = OpConstant %uint 2
%k3 = OpConstant %uint 3
%array = OpTypeRuntimeArray %item
%block = OpTypeStruct %array
%p_block = OpTypePointer StorageBuffer %block
%p_item = OpTypePointer StorageBuffer %item
%data = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %function
%start = OpLabel
%p0 = OpAccessChain %p_item %data %k0 %k0
%p1 = OpAccessChain %p_item %data %k0 %k1
%p2 = OpAccessChain %p_item %data %k0 %k2
%p3 = OpAccessChain %p_item %data %k0 %k3
{body}
OpReturn
OpFunctionEnd
END
"
    )
}

/// The item type of integer buffers.
const WORDS: &str = "%item = OpTypeInt 32 1";
/// The item type of float buffers.
const FLOATS: &str = "%item = OpTypeFloat 32\n%three = OpConstant %item 3";

/// A script with such a shader and a buffer `data`.
fn script_of(types: &str, body: &str, data: &str, commands: &str) -> String {
    format!(
        "#!amber\n{}BUFFER data {data}\nPIPELINE compute p\n  ATTACH shader\n  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\n{commands}\n",
        shader(types, body)
    )
}

#[track_caller]
fn script(text: &str) -> Script {
    read(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

#[track_caller]
fn loaded(script: &Script) -> Modules {
    Modules::load("test.amber", script, &Options::default()).unwrap_or_else(|e| panic!("{}", e.text))
}

/// Plays a script on an interpreter. Returns the decision of each expectation with its reason, and
/// the early end if there is one.
#[track_caller]
fn played_on(text: &str, interpreter: &Interpreter) -> (Vec<(Decision, String)>, Option<End>) {
    played_script(&script(text), interpreter)
}

#[track_caller]
fn played_script(script: &Script, interpreter: &Interpreter) -> (Vec<(Decision, String)>, Option<End>) {
    let modules = loaded(script);
    let mut player = Player::new(script, &modules);
    let mut engine = Engine::Interpreter(Box::new(interpreter.clone()));
    let mut expected = Vec::new();
    for command in commands(script) {
        match player.step(command, &mut engine) {
            Step::Done | Step::Ran(_) => {}
            Step::Judged(judgement) => {
                let open = judgement.open.as_ref().map(|open| open_text(&player, open));
                let why = open.or_else(|| judgement.failures.first().map(ToString::to_string)).unwrap_or_default();
                expected.push((judgement.decision(), why));
            }
            Step::Ended(_, end) => return (expected, Some(end)),
        }
    }
    (expected, None)
}

#[track_caller]
fn played(text: &str) -> (Vec<(Decision, String)>, Option<End>) {
    played_on(text, &Interpreter::default())
}

#[track_caller]
fn decisions(text: &str) -> Vec<Decision> {
    let (expected, end) = played(text);
    assert_eq!(end, None, "{text}");
    expected.into_iter().map(|(decision, _)| decision).collect()
}

/// Whether every expectation of a script holds on an interpreter.
#[track_caller]
fn holds(script: &Script, interpreter: &Interpreter) -> bool {
    let (expected, end) = played_script(script, interpreter);
    assert!(end.is_some() || !expected.is_empty(), "a script that expects nothing");
    end.is_none() && expected.iter().all(|(decision, _)| *decision == Decision::Holds)
}

/// The relation, or with `machine` the lockstep machine where it can play. The rules of images and
/// the planted components are those of this calculator.
fn computing(calculator: Calculator, machine: bool) -> Interpreter {
    let mut interpreter = Interpreter::default();
    let engines = &mut interpreter.engines;
    let plant = move |there: &mut Calculator| (there.images, there.planted) = (calculator.images, calculator.planted);
    plant(&mut engines.relation.calculator);
    engines.planted = Some(Arc::new(move |parts: Parts<'_>| plant(parts.calculator)));
    if !machine {
        interpreter.by = compute::Interpreter::Reference { schedule: engines.schedule.clone(), keep_going: false };
    }
    interpreter
}

/// Requires that a script holds on relation and machine, and on neither with that calculator.
#[track_caller]
fn fails_with(text: &str, calculator: Calculator) {
    for machine in [false, true] {
        let holds_by = |calculator| holds(&script(text), &computing(calculator, machine));
        assert!(holds_by(Calculator::default()), "machine: {machine}\n{text}");
        assert!(!holds_by(calculator), "planted, machine: {machine}\n{text}");
    }
}

/// The legs of a script: the interpreter's, and the device's if there is one.
#[track_caller]
fn legs(text: &str, interpreter: &Interpreter, device: Option<&mut Device>) -> Vec<Leg> {
    let script = script(text);
    let modules = loaded(&script);
    check(&script, &modules, interpreter, device.into_iter().collect())
}

/// The device. `None` if there is no device and none is required.
fn device() -> Option<Device> {
    device_by(None)
}

/// The device, by this route.
fn device_by(route: Option<Route>) -> Option<Device> {
    common::device::open(route, common::device::options())
}

const SUM: &str = include_str!("../../examples/amber/sum.amber");
const REPEAT: &str = include_str!("../../examples/amber/repeat.amber");
const RACE: &str = include_str!("scripts/race.amber");
