//! Generated dispatches of floats: the device and the lockstep machine show what the relation's
//! runs over sets allow.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use smallstep::dispatch::{BufferKind, ComputeDispatch, ComputeResult};
use smallstep::generate::Random;
use smallstep::gpu::Route;
use smallstep::theorem::dispatches::required::{Admitted, RequiredResult};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::sets::{Rules, Set};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::{Buffer, Module, Relation, grid, lockstep};

use super::modules::{buffer, words};
use super::{computed, open, options};

/// The number of words that each of the eight invocations owns.
const EACH: usize = 4;

/// Writes a random module. Each invocation computes with its own four floats and stores some. All
/// float controls are declared.
struct Writer {
    random: Random,
    body: String,
    decorations: String,
    next: u32,
    floats: VecDeque<String>,
}

impl Writer {
    fn float(&mut self) -> String {
        let at = self.random.below(self.floats.len().min(9) as u32) as usize;
        self.floats[at].clone()
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%q{}", self.next)
    }

    fn define(&mut self, instruction: &str) {
        let name = self.name();
        let _ = writeln!(self.body, "{name} = {instruction}");
        let _ = writeln!(self.decorations, "OpDecorate {name} NoContraction");
        self.floats.push_front(name);
    }

    fn statement(&mut self, depth: u32) {
        const CORE: [&str; 4] = ["OpFAdd", "OpFSub", "OpFMul", "OpFDiv"];
        const ONE: [&str; 9] = ["Sin", "Cos", "Exp2", "Sqrt", "InverseSqrt", "FAbs", "Floor", "Fract", "Atan"];
        const TWO: [&str; 4] = ["FMin", "FMax", "Step", "Atan2"];
        let [a, b, c] = [0; 3].map(|_| self.float());
        match self.random.below(12) {
            0..=3 => {
                let op = CORE[self.random.below(4) as usize];
                self.define(&format!("{op} %float {a} {b}"));
            }
            4 | 5 => {
                let op = ONE[self.random.below(9) as usize];
                self.define(&format!("OpExtInst %float %glsl {op} {a}"));
            }
            6 => {
                let op = TWO[self.random.below(4) as usize];
                self.define(&format!("OpExtInst %float %glsl {op} {a} {b}"));
            }
            7 => self.define(&format!("OpExtInst %float %glsl Fma {a} {b} {c}")),
            8 => {
                let condition = self.name();
                let _ = writeln!(self.body, "{condition} = OpFOrdLessThan %bool {a} {b}");
                let chosen = self.name();
                let _ = writeln!(self.body, "{chosen} = OpSelect %float {condition} {b} {c}");
                self.floats.push_front(chosen);
            }
            9 => {
                // The value goes through memory.
                let (at, loaded) = (self.random.below(EACH as u32), self.name());
                let _ = writeln!(self.body, "OpStore %p{at} {a}\n{loaded} = OpLoad %float %p{at}");
                self.floats.push_front(loaded);
            }
            _ if depth < 2 => {
                let [condition, yes, merge] = [0; 3].map(|_| self.name());
                let _ = writeln!(self.body, "{condition} = OpFOrdLessThan %bool {a} {b}\nOpSelectionMerge {merge} None");
                let _ = writeln!(self.body, "OpBranchConditional {condition} {yes} {merge}\n{yes} = OpLabel");
                let outside = self.floats.clone();
                self.statement(depth + 1);
                let (at, stored) = (self.random.below(EACH as u32), self.float());
                let _ = writeln!(self.body, "OpStore %p{at} {stored}\nOpBranch {merge}\n{merge} = OpLabel");
                self.floats = outside;
            }
            _ => {}
        }
    }
}

fn generated(seed: u64) -> String {
    let floats = ["%a", "%b", "%one", "%half", "%three"].map(String::from).into();
    let mut writer = Writer { random: Random::new(seed), body: String::new(), decorations: String::new(), next: 0, floats };
    for _ in 0..4 + writer.random.below(10) {
        writer.statement(0);
    }
    let last = writer.float();
    let Writer { body, decorations, .. } = writer;
    format!(
        "; Version: 1.4
        OpCapability Shader OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve
        %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %lix %out OpExecutionMode %main LocalSize 8 1 1
        OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32 {decorations}
        OpDecorate %lix BuiltIn LocalInvocationIndex OpDecorate %array ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %out DescriptorSet 0 OpDecorate %out Binding 0
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %uint = OpTypeInt 32 0
        %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3 %c4 = OpConstant %uint 4
        %one = OpConstant %float 1 %half = OpConstant %float 0.5 %three = OpConstant %float 3
        %array = OpTypeRuntimeArray %float %block = OpTypeStruct %array %p_block = OpTypePointer StorageBuffer %block
        %p_float = OpTypePointer StorageBuffer %float %out = OpVariable %p_block StorageBuffer
        %p_in = OpTypePointer Input %uint %lix = OpVariable %p_in Input
        %main = OpFunction %void None %fn %entry = OpLabel
        %i = OpLoad %uint %lix %i0 = OpIMul %uint %i %c4 %i1 = OpIAdd %uint %i0 %c1 %i2 = OpIAdd %uint %i0 %c2 %i3 = OpIAdd %uint %i0 %c3
        %p0 = OpAccessChain %p_float %out %c0 %i0 %p1 = OpAccessChain %p_float %out %c0 %i1
        %p2 = OpAccessChain %p_float %out %c0 %i2 %p3 = OpAccessChain %p_float %out %c0 %i3
        %a = OpLoad %float %p0 %b = OpLoad %float %p1
        {body} OpStore %p3 {last} OpReturn OpFunctionEnd"
    )
}

/// The dispatch of a generated module, and the required result under these rules of sets. `None` if
/// its behaviour or a value is undefined.
fn due(seed: u64, rules: Rules) -> Option<(ComputeDispatch, RequiredResult)> {
    let text = generated(seed);
    let words = words(&text);
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut random = Random::new(seed ^ 0x0066_6c6f_6174);
    let inputs = (0..8 * EACH).map(|_| ((random.below(4001) as f32 - 2000.0) / 500.0).to_bits());
    let buffers = vec![buffer(0, 0, BufferKind::ReadWrite, inputs)];
    let dispatch =
        ComputeDispatch { words: Arc::clone(&words), entry: "main".into(), groups: [1; 3], buffers, ..ComputeDispatch::default() };
    let contents = dispatch.contents();
    let run = Dispatch { entry: "main", groups: [1; 3], resources: Resources::of_buffers(&contents), limits: Limits::default() };
    let outcome = grid::run(&module, &run, &Schedule::default(), &Relation::default(), &mut ()).expect("main is there");
    let observation = match outcome {
        Outcome::Observed(observation) => observation,
        Outcome::Undefined(_) => return None,
        other => panic!("{other:?}\n{text}"),
    };
    if !observation.buffers[0].undefined.is_empty() {
        return None;
    }
    let due = RequiredResult::of(&module, &dispatch, observation, Route::Passthrough, rules).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // The machine shows the definite values, which are allowed.
    let machine = lockstep::Program::compile(&module, "main").expect("it compiles").run(&run, 1);
    let Outcome::Observed(shown) = machine else { panic!("{machine:?}\n{text}") };
    let result = |bytes: Vec<u8>| ComputeResult { words_hash: 0, buffers: vec![Buffer { set: 0, binding: 0, bytes }], images: Vec::new() };
    due.admits(&result(shown.buffers[0].bytes.clone())).unwrap_or_else(|what| panic!("seed {seed}: {what}\n{text}"));
    // A device with a value one float outside of a set is caught.
    for word in &due.acceptance.words {
        let Some(outside) = word.expected.set().and_then(|set| set.hull()).map(|hull| (hull.high as f32).next_up()) else { continue };
        let mut bytes = shown.buffers[0].bytes.clone();
        bytes[word.offset as usize..][..4].copy_from_slice(&outside.to_le_bytes());
        let what = due.admits(&result(bytes)).expect_err("it is outside");
        assert!(what.what.starts_with(&format!("byte {} of the buffer at set 0, binding 0: expected a float in ", word.offset)), "{what}");
    }
    Some((dispatch, due))
}

#[test]
fn a_device_shows_what_runs_over_sets_allow() {
    let Some(mut device) = open(Some(Route::Passthrough), options()) else { return };
    let (dispatches, dues): (Vec<_>, Vec<_>) = (0..200).filter_map(|seed| due(seed, Rules::default())).unzip();
    let (mut all, mut wrong) = (Admitted::default(), Vec::new());
    for finished in device.run_all(dispatches) {
        let due = &dues[finished.id as usize];
        match due.admits(&computed(finished.outcome)) {
            Ok(Admitted { by_sets, undecided }) => {
                all.by_sets += by_sets;
                all.undecided += undecided;
            }
            Err(what) => wrong.push(format!("module {}: {what}", finished.id)),
        }
    }
    println!("{} modules: {} floats judged by sets, {} bytes undecided", dues.len(), all.by_sets, all.undecided);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(dues.len() > 100 && all.by_sets > 500, "{} modules, {all:?}", dues.len());
}

#[test]
fn a_rule_that_is_too_narrow_is_seen() {
    let Some(device) = open(Some(Route::Passthrough), options()) else { return };
    // Every result that is no single value is a quarter.
    let rules = Rules { allowed: |_, _, _| Some(smallvec::smallvec![Set::point(0.25)]), ..Rules::default() };
    let seed = (0..200)
        .find(|&seed| generated(seed).contains("Sin %a") && due(seed, Rules::default()).is_some_and(|d| !d.1.acceptance.words.is_empty()));
    let text = seed.expect("a module with a sine");
    let module = Module::load(&words(&generated(text))).expect("it loads");
    let (dispatch, sound) = due(text, Rules::default()).expect("it is defined");
    let narrow = RequiredResult::of(&module, &dispatch, sound.observation.clone(), Route::Passthrough, rules).expect("it runs");
    let shown = computed(device.run(dispatch).outcome);
    assert!(sound.admits(&shown).is_ok());
    assert!(narrow.admits(&shown).is_err());
}
