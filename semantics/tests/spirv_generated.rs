//! The machine against the reference interpreter on generated modules, and both on mutated and
//! hostile ones.

#[path = "../../spec-tests/src/tools.rs"]
mod tools;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use smallstep_semantics::number::sets::Exploration;
use smallstep_semantics::number::{Arithmetic, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::{
    Event, Inputs, LoadError, Module, Options, Outputs, Program, Registers, Relation, assemble, bytes_of_words, decode, disassemble, step,
};
use smallstep_semantics::undefined::Ub;

/// Types of generated values, with the number of components.
const TYPES: [&str; 10] = ["float", "v2", "v3", "v4", "m2", "m3", "m4", "bool", "b2", "b3"];

/// Writes a structured function body from a list of choices. Once all choices are used, the body
/// ends as fast as possible.
struct Writer<'c> {
    choices: std::slice::Iter<'c, u8>,
    text: String,
    next: u32,
    /// The values in scope: the index of the type in [`TYPES`], and the id.
    scope: Vec<(usize, String)>,
    block: String,
    budget: u32,
}

impl Writer<'_> {
    fn choose(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |&c| c as usize) % n
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("%{prefix}{}", self.next)
    }

    fn value(&mut self, type_: usize) -> String {
        let those: Vec<String> = self.scope.iter().filter(|(t, _)| *t == type_).map(|(_, v)| v.clone()).collect();
        let n = those.len();
        those[n - 1 - self.choose(n)].clone()
    }

    fn define(&mut self, type_: usize, instruction: &str) -> String {
        let result = self.fresh("x");
        let (op, operands) = instruction.split_once(' ').expect("an opcode and operands");
        let _ = writeln!(self.text, "{result} = {op} %{} {operands}", TYPES[type_]);
        self.scope.push((type_, result.clone()));
        result
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label} = OpLabel");
        self.block = label.to_string();
    }

    fn computation(&mut self) {
        const UNARY: [&str; 8] = ["Floor", "Fract", "FAbs", "Sin", "Sqrt", "Exp2", "Round", "Normalize"];
        const BINARY: [&str; 7] = ["OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFMod", "Max", "Pow"];
        const COMPARE: [&str; 4] = ["OpFOrdLessThan", "OpFOrdGreaterThanEqual", "OpFOrdEqual", "OpFUnordNotEqual"];
        match self.choose(14) {
            0..=2 => {
                let t = self.choose(4);
                let (a, b) = (self.value(t), self.value(t));
                match BINARY[self.choose(7)] {
                    "Max" => self.define(t, &format!("OpExtInst %glsl FMax {a} {b}")),
                    "Pow" => self.define(t, &format!("OpExtInst %glsl Pow {a} {b}")),
                    op => self.define(t, &format!("{op} {a} {b}")),
                };
            }
            3 => {
                let t = self.choose(4);
                let (op, a) = (UNARY[self.choose(8)], self.value(t));
                self.define(t, &format!("OpExtInst %glsl {op} {a}"));
            }
            4 => {
                let n = self.choose(3);
                let (op, a, b) = (COMPARE[self.choose(4)], self.value(n), self.value(n));
                self.define(7 + n, &format!("{op} {a} {b}"));
            }
            5 => {
                let n = self.choose(3);
                let (c, a, b) = (self.value(7 + n), self.value(n), self.value(n));
                self.define(n, &format!("OpSelect {c} {a} {b}"));
            }
            6 => {
                let (t, c) = (self.choose(10), self.value(7));
                let (a, b) = (self.value(t), self.value(t));
                self.define(t, &format!("OpSelect {c} {a} {b}"));
            }
            7 => {
                let n = self.choose(3);
                let (v, m, s) = (self.value(1 + n), self.value(4 + n), self.value(0));
                match self.choose(6) {
                    0 => self.define(1 + n, &format!("OpVectorTimesMatrix {v} {m}")),
                    1 => self.define(1 + n, &format!("OpMatrixTimesVector {m} {v}")),
                    2 => self.define(4 + n, &format!("OpMatrixTimesScalar {m} {s}")),
                    3 => self.define(4 + n, &format!("OpMatrixTimesMatrix {m} {m}")),
                    4 => self.define(4 + n, &format!("OpTranspose {m}")),
                    _ => self.define(0, &format!("OpExtInst %glsl Determinant {m}")),
                };
            }
            8 => {
                let n = 1 + self.choose(3);
                let (v, i) = (self.value(n), self.choose(n + 1));
                self.define(0, &format!("OpCompositeExtract {v} {i}"));
            }
            9 => {
                let n = self.choose(3);
                let (m, i, j) = (self.value(4 + n), self.choose(n + 2), self.choose(n + 2));
                match self.choose(2) {
                    0 => self.define(1 + n, &format!("OpCompositeExtract {m} {i}")),
                    _ => self.define(0, &format!("OpCompositeExtract {m} {i} {j}")),
                };
            }
            10 => {
                let (a, b, c) = (self.value(0), self.value(0), self.value(1));
                self.define(3, &format!("OpCompositeConstruct {a} {c} {b}"));
            }
            11 => {
                let n = self.choose(3);
                let parts: Vec<String> = (0..n + 2).map(|_| self.value(1 + n)).collect();
                self.define(4 + n, &format!("OpCompositeConstruct {}", parts.join(" ")));
            }
            12 => {
                let t = 7 + self.choose(3);
                let (a, b) = (self.value(t), self.value(t));
                match self.choose(4) {
                    0 => self.define(t, &format!("OpLogicalAnd {a} {b}")),
                    1 => self.define(t, &format!("OpLogicalNotEqual {a} {b}")),
                    2 => self.define(t, &format!("OpLogicalNot {a}")),
                    _ if t > 7 => self.define(7, &format!("OpAny {a}")),
                    _ => self.define(t, &format!("OpLogicalOr {a} {b}")),
                };
            }
            _ => {
                let pointer = ["%c0", "%c1", "%c5"][self.choose(3)];
                let chain = self.fresh("chain");
                let _ = writeln!(self.text, "{chain} = OpAccessChain %p_float %buffer %c0 {pointer}");
                self.define(0, &format!("OpLoad {chain}"));
            }
        }
    }

    /// Writes statements. The last block stays open.
    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.choose(5) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.choose(12) {
                8 | 9 if depth < 4 => self.selection(depth),
                10 if depth < 3 => self.repetition(depth),
                11 => {
                    let (location, t) = [("%o0", 3), ("%o1", 0)][self.choose(2)];
                    let v = self.value(t);
                    let _ = writeln!(self.text, "OpStore {location} {v}");
                }
                _ => self.computation(),
            }
        }
    }

    /// Writes an if-then-else with phis of a few types. One arm may be empty.
    fn selection(&mut self, depth: u32) {
        let (yes, no, merge) = (self.fresh("yes"), self.fresh("no"), self.fresh("merge"));
        let condition = self.value(7);
        let empty = self.choose(3) == 0;
        let to = if empty { &merge } else { &no };
        let _ = writeln!(self.text, "OpSelectionMerge {merge} None\nOpBranchConditional {condition} {yes} {to}");
        let (outside, scope) = (self.block.clone(), self.scope.len());
        let types: Vec<usize> = (0..1 + self.choose(3)).map(|_| self.choose(10)).collect();
        let mut arms = Vec::new();
        for label in if empty { vec![yes] } else { vec![yes, no] } {
            self.label(&label);
            self.statements(depth + 1);
            let values: Vec<String> = types.iter().map(|&t| self.value(t)).collect();
            arms.push((self.block.clone(), values));
            let _ = writeln!(self.text, "OpBranch {merge}");
            self.scope.truncate(scope);
        }
        if empty {
            let values = types.iter().map(|&t| self.value(t)).collect();
            arms.push((outside, values));
        }
        self.label(&merge);
        for (i, &t) in types.iter().enumerate() {
            let pairs: Vec<String> = arms.iter().map(|(block, values)| format!("{} {block}", values[i])).collect();
            self.define(t, &format!("OpPhi {}", pairs.join(" ")));
        }
    }

    /// Writes a counted loop whose header phis may exchange values.
    fn repetition(&mut self, depth: u32) {
        let names = ["head", "test", "body", "continue", "done"];
        let [head, test, body, next, done] = names.map(|n| self.fresh(n));
        let (count, stepped, more) = (self.fresh("count"), self.fresh("stepped"), self.fresh("more"));
        let limit = ["%two", "%half", "%five"][self.choose(3)];
        let types: Vec<usize> = (0..1 + self.choose(3)).map(|_| [0, 0, 3, 7, 5][self.choose(5)]).collect();
        let starts: Vec<String> = types.iter().map(|&t| self.value(t)).collect();
        let _ = writeln!(self.text, "OpBranch {head}");
        let before = self.block.clone();
        let phis: Vec<String> = types.iter().map(|_| self.fresh("phi")).collect();
        let after: Vec<String> = types.iter().map(|_| self.fresh("after")).collect();
        self.label(&head);
        let _ = writeln!(self.text, "{count} = OpPhi %float %zero {before} {stepped} {next}");
        for (i, &t) in types.iter().enumerate() {
            // The next iteration takes another header phi of the same type (a swap), or a value
            // that the body made.
            let swap = self.choose(2) == 1;
            let other = types.iter().enumerate().rposition(|(j, &u)| u == t && j != i).filter(|_| swap);
            let back = other.map_or(after[i].clone(), |j| phis[j].clone());
            let _ = writeln!(self.text, "{} = OpPhi %{} {} {before} {back} {next}", phis[i], TYPES[t], starts[i]);
        }
        let _ = writeln!(self.text, "OpLoopMerge {done} {next} None\nOpBranch {test}");
        self.scope.push((0, count.clone()));
        self.scope.extend(types.iter().copied().zip(phis.iter().cloned()));
        let inside = self.scope.len();
        self.label(&test);
        let _ = writeln!(self.text, "{more} = OpFOrdLessThan %bool {count} {limit}\nOpBranchConditional {more} {body} {done}");
        self.label(&body);
        self.statements(depth + 1);
        let values: Vec<String> = types.iter().map(|&t| self.value(t)).collect();
        let _ = writeln!(self.text, "OpBranch {next}");
        let last = self.block.clone();
        self.label(&next);
        for (i, &t) in types.iter().enumerate() {
            let _ = writeln!(self.text, "{} = OpPhi %{} {} {last}", after[i], TYPES[t], values[i]);
        }
        let _ = writeln!(self.text, "{stepped} = OpFAdd %float {count} %one\nOpBranch {head}");
        self.scope.truncate(inside);
        self.label(&done);
    }
}

fn generated(choices: &[u8]) -> String {
    let mut text = String::from(
        "; Version: 1.4
        OpCapability Shader %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\" %o0 %o1 %coord %buffer OpExecutionMode %main OriginUpperLeft
        OpDecorate %o0 Location 0 OpDecorate %o1 Location 1 OpDecorate %coord BuiltIn FragCoord
        OpDecorate %S Block OpMemberDecorate %S 0 Offset 0 OpDecorate %array ArrayStride 4
        OpDecorate %buffer DescriptorSet 0 OpDecorate %buffer Binding 0
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %uint = OpTypeInt 32 0
        %v2 = OpTypeVector %float 2 %v3 = OpTypeVector %float 3 %v4 = OpTypeVector %float 4
        %m2 = OpTypeMatrix %v2 2 %m3 = OpTypeMatrix %v3 3 %m4 = OpTypeMatrix %v4 4
        %b2 = OpTypeVector %bool 2 %b3 = OpTypeVector %bool 3
        %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c5 = OpConstant %uint 5
        %zero = OpConstant %float 0 %one = OpConstant %float 1 %two = OpConstant %float 2 %half = OpConstant %float 0.5
        %five = OpConstant %float 5 %tiny = OpConstant %float 1e-30
        %k_v2 = OpConstantComposite %v2 %one %half %k_v3 = OpConstantComposite %v3 %two %half %one
        %k_v4 = OpConstantComposite %v4 %two %half %one %five
        %k_m2 = OpConstantComposite %m2 %k_v2 %k_v2 %k_m3 = OpConstantComposite %m3 %k_v3 %k_v3 %k_v3
        %k_m4 = OpConstantComposite %m4 %k_v4 %k_v4 %k_v4 %k_v4
        %true = OpConstantTrue %bool %false = OpConstantFalse %bool
        %k_b2 = OpConstantComposite %b2 %true %false %k_b3 = OpConstantNull %b3
        %array = OpTypeRuntimeArray %float %S = OpTypeStruct %array
        %p_s = OpTypePointer StorageBuffer %S %p_float = OpTypePointer StorageBuffer %float %buffer = OpVariable %p_s StorageBuffer
        %p_in = OpTypePointer Input %v4 %coord = OpVariable %p_in Input
        %p_o0 = OpTypePointer Output %v4 %o0 = OpVariable %p_o0 Output
        %p_o1 = OpTypePointer Output %float %o1 = OpVariable %p_o1 Output
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %xy = OpLoad %v4 %coord
        %x = OpCompositeExtract %float %xy 0
        %right = OpFOrdGreaterThan %bool %x %two\n",
    );
    let scope = [
        (0, "%one"),
        (0, "%half"),
        (0, "%tiny"),
        (1, "%k_v2"),
        (2, "%k_v3"),
        (3, "%k_v4"),
        (4, "%k_m2"),
        (5, "%k_m3"),
        (6, "%k_m4"),
        (7, "%true"),
        (7, "%false"),
        (8, "%k_b2"),
        (9, "%k_b3"),
        (0, "%x"),
        (3, "%xy"),
        (7, "%right"),
    ];
    let mut writer = Writer {
        choices: choices.iter(),
        text: String::new(),
        next: 0,
        scope: scope.iter().map(|&(t, v)| (t, v.to_string())).collect(),
        block: "%entry".to_string(),
        budget: 60,
    };
    let end = if writer.choose(16) == 15 { "OpUnreachable" } else { "OpReturn" };
    for _ in 0..4 {
        writer.statements(0);
    }
    let (v, s) = (writer.value(3), writer.value(0));
    let _ = writeln!(writer.text, "OpStore %o0 {v}\nOpStore %o1 {s}\n{end}\nOpFunctionEnd");
    text.push_str(&writer.text);
    text
}

/// The outcome by both engines, which must be equal for any fuel.
fn run_both(module: &Module, inputs: &Inputs<'_>, fuel: u64) -> Outcome<Outputs> {
    let arithmetic = Arithmetic::default();
    let program = Program::compile(module, "main").expect("main compiles");
    let machine = program.run(inputs, fuel, &arithmetic);
    let reference = step::run(module, "main", inputs, fuel, &Relation::default(), &mut ()).expect("main is there");
    assert_eq!(machine, reference);
    assert!(!matches!(machine, Outcome::Stuck(_)), "a module that loads gets stuck: {machine:?}");
    if let Outcome::Observed(shown) = &machine {
        for profile in [Profile::Strict, Profile::Wgsl] {
            over_sets(module, &program, shown, inputs, fuel, profile);
        }
    }
    machine
}

/// Over sets, both engines show the same, and the definite values are members.
fn over_sets(module: &Module, program: &Program, shown: &Outputs, inputs: &Inputs<'_>, fuel: u64, profile: Profile) {
    let mut exploration = Exploration::under(profile);
    exploration.budget.paths = 16;
    let machine = program.explore(shown, inputs, fuel, &Arithmetic::default(), exploration);
    let reference = step::explore(module, "main", shown, inputs, fuel, &Relation::default(), exploration).expect("main is there");
    assert_eq!(machine, reference);
    for (expected, lane) in machine.expected.iter().zip(shown.lanes()) {
        assert_ne!(expected.admits(lane.bits), Some(false), "{expected:?}, {lane:?}");
    }
}

fn buffer() -> smallstep_semantics::spirv::Buffer {
    let bytes = [0.25f32, 3.0, 0.0, 0.0, 0.0, -7.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    smallstep_semantics::spirv::Buffer { set: 0, binding: 0, bytes }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn machine_and_reference_agree_on_generated_modules(
        choices in prop::collection::vec(any::<u8>(), 0..400), x in 0u8..6, short: bool, fuel in 0u64..200,
    ) {
        let text = generated(&choices);
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut buffers = [buffer()];
        if short {
            buffers[0].bytes.truncate(4);
        }
        let inputs = Inputs { frag_coord: [f32::from(x) + 0.5, 0.5, 0.25, 1.0], buffers: &buffers };
        let whole = run_both(&module, &inputs, 1_000_000);
        prop_assert!(matches!(whole, Outcome::Observed(_) | Outcome::Undefined(_)), "{}", whole.name());
        run_both(&module, &inputs, fuel);
        // Registers that another program or another run has left behind change nothing.
        let program = Program::compile(&module, "main").expect("main compiles");
        let mut registers = Registers::default();
        for _ in 0..2 {
            prop_assert_eq!(&program.run_in(&mut registers, &inputs, &1_000_000.into(), &Arithmetic::default()), &whole);
        }
        // The module's text reads back to the same words.
        let printed = disassemble(&words).expect("it decodes");
        prop_assert_eq!(assemble(&printed, Options::default()), Ok(words));
    }

    /// A few words of a good module are changed. The module is refused, or both engines run
    /// it alike.
    #[test]
    fn mutated_modules_are_refused_or_run_alike(
        choices in prop::collection::vec(any::<u8>(), 0..120),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<u32>()), 1..4),
    ) {
        let mut words = assemble(&generated(&choices), Options::default()).expect("it assembles");
        for (index, how, value) in changes {
            let at = index.index(words.len());
            match how {
                0 => words[at] ^= 1 << (value % 32),
                1 => words[at] = value,
                2 => words[at] = words[at].wrapping_add(value % 5).wrapping_sub(2),
                3 => words[at] = words[value as usize % words.len()],
                _ => words.truncate(at),
            }
            if words.is_empty() {
                break;
            }
        }
        survives(&words);
    }
}

/// A list of choices from a seed.
fn choices(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// The generated modules must apply every rule and run loops, and spirv-val must accept them.
#[test]
fn generated_modules_use_every_rule_and_are_valid() {
    let buffers = [buffer()];
    let mut short = [buffer()];
    short[0].bytes.truncate(4);
    let mut rules = BTreeSet::new();
    let mut steps = Vec::new();
    let validated = tools::is_there("spirv-val");
    for seed in 0..60 {
        let text = generated(&choices(seed, 300));
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        if validated {
            validate(&words, &text);
        }
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for buffers in [&buffers, &short] {
            let inputs = Inputs { frag_coord: [2.5, 0.5, 0.25, 1.0], buffers };
            let mut count = 0u64;
            let mut sink = |event: &Event<'_, '_>| {
                rules.insert(event.rule);
                count = event.step + 1;
            };
            let outcome = step::run(&module, "main", &inputs, 1_000_000, &Relation::default(), &mut sink).expect("main is there");
            if let Outcome::Undefined(undefined) = outcome {
                rules.insert(match undefined.ub {
                    Ub::Unreachable => Rule::SpirvUnreachable,
                    _ => Rule::SpirvAccessChainOutOfBounds,
                });
            }
            if buffers[0].bytes.len() > 4 {
                steps.push(count);
            }
        }
    }
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Spirv && !rules.contains(r)).collect();
    assert!(missing.is_empty(), "never applied: {missing:?}");
    steps.sort_unstable();
    assert!(steps[steps.len() / 2] > 40, "half of the runs take at most {} steps", steps[steps.len() / 2]);
}

fn validate(words: &[u32], text: &str) {
    let file = std::env::temp_dir().join(format!("smallstep-val-{}.spv", std::process::id()));
    std::fs::write(&file, bytes_of_words(words)).expect("writing the module");
    let run = Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(&file).output();
    let _ = std::fs::remove_file(&file);
    let run = run.expect("spirv-val runs");
    assert!(run.status.success(), "{}\n{text}", String::from_utf8_lossy(&run.stderr));
}

/// The words are refused, or both engines run them alike. If they decode, their text reads back to
/// the same words. Nothing panics.
fn survives(words: &[u32]) {
    if let Ok(decoded) = decode(words) {
        let text = disassemble(words).expect("it decodes");
        let version = Some((decoded.header.major, decoded.header.minor));
        let again = assemble(&text, Options { version }).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again[5..], words[5..], "{text}");
    }
    let Ok(module) = Module::load(words) else { return };
    for entry in module.entry_points() {
        let Ok(program) = Program::compile(&module, &entry.name) else { continue };
        let buffers = [buffer()];
        let inputs = Inputs { frag_coord: [2.5, 0.5, 0.25, 1.0], buffers: &buffers };
        let machine = program.run(&inputs, 2000, &Arithmetic::default());
        let reference = step::run(&module, &entry.name, &inputs, 2000, &Relation::default(), &mut ()).expect("the entry is there");
        assert_eq!(machine, reference);
        assert!(!matches!(machine, Outcome::Stuck(_)), "a module that loads gets stuck: {machine:?}");
    }
}

fn samples() -> Vec<Vec<u32>> {
    ["yellow", "swap", "buffers", "control", "unreachable"]
        .iter()
        .map(|name| {
            let text = std::fs::read_to_string(format!("{}/tests/modules/{name}.spvasm", env!("CARGO_MANIFEST_DIR"))).expect("the sample");
            assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
        })
        .collect()
}

#[test]
fn every_bit_flip_and_truncation_of_the_samples_is_survived() {
    for words in samples() {
        for length in 0..words.len() {
            survives(&words[..length]);
        }
        for at in 0..words.len() {
            for bit in 0..32 {
                let mut flipped = words.clone();
                flipped[at] ^= 1 << bit;
                survives(&flipped);
            }
        }
        let bytes = bytes_of_words(&words);
        for length in 0..bytes.len() {
            let read = smallstep_semantics::spirv::words_of_bytes(&bytes[..length]);
            assert_eq!(read.is_ok(), length % 4 == 0);
        }
    }
}

fn shell(declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Fragment %main \"main\" %o OpExecutionMode %main OriginUpperLeft
         OpDecorate %o Location 0 %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32
         %p = OpTypePointer Output %float %o = OpVariable %p Output %f0 = OpConstant %float 0 %f1 = OpConstant %float 1
         %true = OpConstantTrue %bool {declarations} %main = OpFunction %void None %fn %entry = OpLabel\n{body}\nOpFunctionEnd"
    )
}

fn load(text: &str) -> Result<Module, LoadError> {
    Module::load(&assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}")))
}

fn ends(module: &Module) {
    let outcome = run_both(module, &Inputs::default(), 2_000_000);
    assert_eq!(outcome.name(), "observed");
}

#[test]
fn a_hundred_thousand_instructions_in_one_block_run() {
    let mut body = String::from("%x0 = OpFAdd %float %f0 %f1\n");
    for i in 1..100_000 {
        let _ = writeln!(body, "%x{i} = OpFMul %float %x{} %f1", i - 1);
    }
    ends(&load(&shell("", &(body + "OpStore %o %x99999 OpReturn"))).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn selections_nested_ten_thousand_deep_load_and_run() {
    let depth = 10_000;
    let mut body = String::new();
    for i in 0..depth {
        let _ = writeln!(body, "OpSelectionMerge %m{i} None OpBranchConditional %true %t{i} %m{i} %t{i} = OpLabel");
    }
    for i in (0..depth).rev() {
        let _ = writeln!(body, "OpBranch %m{i} %m{i} = OpLabel");
    }
    ends(&load(&shell("", &(body + "OpReturn"))).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn a_hundred_thousand_blocks_in_a_chain_load_and_run() {
    let mut body = String::new();
    for i in 0..100_000 {
        let _ = writeln!(body, "OpBranch %b{i} %b{i} = OpLabel");
    }
    ends(&load(&shell("", &(body + "OpReturn"))).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn a_phi_with_thousands_of_parents_loads_and_runs() {
    let n = 20_000;
    let (mut body, mut pairs) = (String::new(), String::new());
    // Every block of a loop may leave it.
    body.push_str("OpBranch %head %head = OpLabel OpLoopMerge %end %continue None OpBranch %b0 %b0 = OpLabel\n");
    for i in 0..n {
        let here = format!("%b{i}");
        let _ = writeln!(body, "OpBranchConditional %true %b{} %end %b{} = OpLabel", i + 1, i + 1);
        let _ = write!(pairs, " %f0 {here}");
    }
    let _ = writeln!(
        body,
        "OpBranch %end %continue = OpLabel OpBranch %head %end = OpLabel %r = OpPhi %float{pairs} %f1 %b{n} OpStore %o %r OpReturn"
    );
    ends(&load(&shell("", &body)).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn types_nested_beyond_the_limit_are_a_limit() {
    let mut types = String::from("%s0 = OpTypeStruct %float\n");
    for i in 1..100_000 {
        let _ = writeln!(types, "%s{i} = OpTypeStruct %s{}", i - 1);
    }
    let error = load(&shell(&types, "OpReturn")).expect_err("too deep");
    assert_eq!(error.to_string(), "limit exceeded: more than 255 levels of nested types");
}

#[test]
fn a_hundred_thousand_decorations_names_and_functions_load() {
    let mut text = shell("", "OpReturn");
    let names = "OpName %main \"main\"\n".repeat(100_000);
    let decorations = "OpDecorate %o Location 0\n".repeat(100_000);
    text = text.replacen("OpDecorate %o", &format!("{names}{decorations}OpDecorate %o"), 1);
    for i in 0..50_000 {
        let _ = writeln!(text, "\n%g{i} = OpFunction %void None %fn %l{i} = OpLabel OpReturn OpFunctionEnd");
    }
    ends(&load(&text).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn opcodes_nested_in_opcodes_do_not_recurse() {
    // OpSpecConstantOp whose opcode is OpSpecConstantOp, 65,532 times.
    let mut words = assemble("%1 = OpTypeVoid", Options::default()).expect("it assembles");
    words[3] = 10;
    words.push(0xffff_0034);
    words.extend([1, 2]);
    words.extend(std::iter::repeat_n(52, 65_532));
    assert!(decode(&words).is_err());
}
