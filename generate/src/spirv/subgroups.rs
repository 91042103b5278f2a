//! Dispatches whose invocations work together in subgroups. They have votes, ballots, reductions,
//! scans, broadcasts, shuffles and quads. These stand where the whole subgroup is, in either
//! branch of a selection, in loops that invocations leave at different iterations, and in a
//! function. There is also an exchange through Workgroup memory with a barrier of the subgroup. A
//! model, which treats a subgroup as a list of invocations, computes the words that the dispatch
//! must show.
//!
//! It is certain which invocations execute an instruction together. They all came there by one path
//! since the subgroup was last together ([`ComputeCase::subgroup_size`] is its size). No
//! instruction names a lane that is not active. So nothing is undefined, and every device with
//! subgroups of that size shows the same words.

use super::{BufferContents, ComputeCase, Drawn, ENTRY_POINT, OUTPUT_BEFORE};
use crate::random::Random;

/// The usual number of steps of a dispatch. Small dispatches have fewer.
pub const STEPS: u32 = 10;

/// The possible subgroup sizes, and the least number of invocations.
const SIZES: [u32; 4] = [4, 8, 16, 32];
const LEAST: u32 = 8;

/// A word of each invocation, and its id in the module.
#[derive(Clone)]
struct Value {
    name: String,
    words: Vec<u32>,
}

/// A way to combine words: the suffix of the instruction, the neutral element, and the function.
type Combine = (&'static str, u32, fn(u32, u32) -> u32);

const COMBINED: &[Combine] = &[
    ("IAdd", 0, u32::wrapping_add),
    ("IMul", 1, u32::wrapping_mul),
    ("UMin", u32::MAX, u32::min),
    ("UMax", 0, u32::max),
    ("SMin", i32::MAX as u32, |x, y| (x as i32).min(y as i32) as u32),
    ("SMax", i32::MIN as u32, |x, y| (x as i32).max(y as i32) as u32),
    ("BitwiseAnd", u32::MAX, |x, y| x & y),
    ("BitwiseOr", 0, |x, y| x | y),
    ("BitwiseXor", 0, |x, y| x ^ y),
];

struct Program {
    random: Random,
    /// The number of invocations of a subgroup, and of the workgroup.
    size: usize,
    count: usize,
    body: Vec<String>,
    values: Vec<Value>,
    /// The digest of all values so far. The module shows it at the end.
    sum: Value,
    /// Whether invocations of a subgroup have diverged before.
    has_diverged: bool,
    names: u32,
}

/// The dispatch of a seed. A dispatch with fewer steps has the same beginning.
pub fn drawn(seed: u64, steps: u32) -> Drawn {
    let mut random = Random::new(seed ^ 0x7375_6267_726f_7570);
    let size = random.pick(&SIZES);
    // Half of the workgroups consist of whole subgroups.
    let count = if random.percent(50) { size.max(LEAST) * random.between(1, 2) } else { random.between(LEAST, 40) };
    let input: Vec<u32> = (0..count).map(|_| if random.percent(50) { random.below(8) } else { random.bits() as u32 }).collect();
    let (size, count) = (size as usize, count as usize);
    let values = vec![
        Value { name: "%i".into(), words: (0..count as u32).collect() },
        Value { name: "%given".into(), words: input.clone() },
        Value { name: "%lane".into(), words: (0..count as u32).map(|i| i % size as u32).collect() },
    ];
    let sum = Value { name: "%u0".into(), words: vec![0; count] };
    let mut program = Program { random, size, count, body: Vec::new(), values, sum, has_diverged: false, names: 0 };
    (0..steps).for_each(|_| program.step());
    let text = program.text();
    let buffer = |binding, words, written| BufferContents { set: 0, binding, words, written };
    let case = ComputeCase {
        words: Drawn::words(&text),
        entry: ENTRY_POINT.into(),
        local_size: [count as u32, 1, 1],
        groups: [1; 3],
        buffers: vec![buffer(0, input, false), buffer(1, vec![OUTPUT_BEFORE; count], true)],
        words_each: 1,
        executed: program.body.len() as f64,
        twin: None,
        shown: Some(program.sum.words.clone()),
        subgroup_size: Some(size as u32),
    };
    Drawn { case, text }
}

impl Program {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    fn value(&mut self) -> Value {
        let at = self.random.below(self.values.len() as u32) as usize;
        self.values[at].clone()
    }

    fn emit(&mut self, line: String) {
        self.body.push(line);
    }

    fn step(&mut self) {
        let value = match self.random.below(8) {
            0 => self.arithmetic(),
            1 | 2 => self.selection(),
            3 => self.each_iteration(),
            4 if !self.has_diverged => self.exchange(),
            _ => {
                let all = vec![true; self.count];
                self.group_instruction(&all, true)
            }
        };
        // The digest depends on the order of the steps.
        let [tripled, sum] = [self.name(), self.name()];
        self.emit(format!("{tripled} = OpIMul %uint {} %u3 {sum} = OpIAdd %uint {tripled} {}", self.sum.name, value.name));
        let words = self.sum.words.iter().zip(&value.words).map(|(sum, value)| sum.wrapping_mul(3).wrapping_add(*value)).collect();
        self.sum = Value { name: sum, words };
        self.values.push(value);
    }

    fn arithmetic(&mut self) -> Value {
        let (a, b, name) = (self.value(), self.value(), self.name());
        let rows: [Combine; 3] = [("IAdd", 0, u32::wrapping_add), ("ISub", 0, u32::wrapping_sub), ("BitwiseXor", 0, |x, y| x ^ y)];
        let (op, _, function) = self.random.pick(&rows);
        self.emit(format!("{name} = Op{op} %uint {} {}", a.name, b.name));
        Value { name, words: a.words.iter().zip(&b.words).map(|(&a, &b)| function(a, b)).collect() }
    }

    /// A Boolean of each invocation, computed from a value.
    fn truth(&mut self, operand: &Value) -> (String, Vec<bool>) {
        let (bits, name) = (self.random.between(1, 7), self.name());
        self.emit(format!("{name}a = OpBitwiseAnd %uint {} %u{bits} {name} = OpINotEqual %bool {name}a %u0", operand.name));
        (name, operand.words.iter().map(|word| word & bits != 0).collect())
    }

    /// A selection with group instructions in its branches.
    fn selection(&mut self) -> Value {
        let operand = self.value();
        let (condition, truths) = self.truth(&operand);
        let name = self.name();
        self.has_diverged = true;
        self.emit(format!("OpSelectionMerge {name}m None OpBranchConditional {condition} {name}y {name}n"));
        let [then_value, else_value] = ["y", "n"].map(|branch| {
            self.emit(format!("{name}{branch} = OpLabel"));
            let active: Vec<bool> = truths.iter().map(|&truth| truth == (branch == "y")).collect();
            let value = match self.random.below(4) {
                0 => Value { name: "%u7".into(), words: vec![7; self.count] },
                1 => {
                    let (first, length) = (self.group_instruction(&active, true), self.values.len());
                    self.values.push(first);
                    let second = self.group_instruction(&active, true);
                    self.values.truncate(length);
                    second
                }
                _ => self.group_instruction(&active, true),
            };
            self.emit(format!("OpBranch {name}m"));
            value
        });
        self.emit(format!("{name}m = OpLabel {name} = OpPhi %uint {} {name}y {} {name}n", then_value.name, else_value.name));
        Value { name, words: (0..self.count).map(|i| if truths[i] { then_value.words[i] } else { else_value.words[i] }).collect() }
    }

    /// A loop of up to three iterations. Each iteration has the invocations that have not left
    /// the loop.
    fn each_iteration(&mut self) -> Value {
        let (operand, name) = (self.value(), self.name());
        let trips: Vec<u32> = operand.words.iter().map(|word| word & 3).collect();
        self.has_diverged = true;
        self.emit(format!(
            "{name}t = OpBitwiseAnd %uint {} %u3 OpBranch {name}p {name}p = OpLabel OpBranch {name}h
            {name}h = OpLabel {name}k = OpPhi %uint %u0 {name}p {name}k1 {name}c {name} = OpPhi %uint %u0 {name}p {name}s {name}c
            OpLoopMerge {name}o {name}c None OpBranch {name}b
            {name}b = OpLabel {name}w = OpULessThan %bool {name}k {name}t OpBranchConditional {name}w {name}c {name}o
            {name}c = OpLabel",
            operand.name
        ));
        // Every iteration has the same instruction, on a value that no iteration changes.
        let random = self.random.clone();
        let (start, names) = (self.body.len(), self.names);
        let mut sums = vec![0u32; self.count];
        let mut result = String::new();
        for k in 0..3 {
            self.body.truncate(start);
            (self.random, self.names) = (random.clone(), names);
            let active: Vec<bool> = trips.iter().map(|&trip| k < trip).collect();
            let value = self.group_instruction(&active, false);
            (0..self.count).filter(|&i| active[i]).for_each(|i| sums[i] = sums[i].wrapping_add(value.words[i]));
            result = value.name;
        }
        self.emit(format!("{name}s = OpIAdd %uint {name} {result} {name}k1 = OpIAdd %uint {name}k %u1 OpBranch {name}h {name}o = OpLabel"));
        Value { name, words: sums }
    }

    /// The value that another invocation of the subgroup stored in Workgroup memory.
    fn exchange(&mut self) -> Value {
        let (operand, name, other) = (self.value(), self.name(), self.random.between(1, self.size as u32 - 1));
        let count = self.count;
        self.emit(format!(
            "{name}a = OpAccessChain %pshared %shared %i OpStore {name}a {} OpControlBarrier %u3 %u3 %order
            {name}x = OpBitwiseXor %uint %i %u{other} {name}is = OpULessThan %bool {name}x %u{count}
            {name}j = OpSelect %uint {name}is {name}x %i {name}b = OpAccessChain %pshared %shared {name}j
            {name} = OpLoad %uint {name}b OpControlBarrier %u3 %u3 %order",
            operand.name
        ));
        let partner = |i: usize| Some(i ^ other as usize).filter(|&j| j < count).unwrap_or(i);
        Value { name, words: (0..count).map(|i| operand.words[partner(i)]).collect() }
    }

    /// The active invocations of the subgroup of this invocation.
    fn members(&self, active: &[bool], invocation: usize) -> Vec<usize> {
        let first = invocation / self.size * self.size;
        (first..(first + self.size).min(self.count)).filter(|&i| active[i]).collect()
    }

    /// The result of each active invocation, computed from the active members of its subgroup. 0
    /// for the others.
    fn for_active(&self, active: &[bool], make: impl Fn(usize, &[usize]) -> u32) -> Vec<u32> {
        (0..self.count).map(|i| if active[i] { make(i, &self.members(active, i)) } else { 0 }).collect()
    }

    /// A group instruction of the active invocations. It may name lanes only if all are active.
    fn group_instruction(&mut self, active: &[bool], may_name: bool) -> Value {
        let all_active = may_name && active.iter().all(|&active| active) && self.count.is_multiple_of(self.size);
        match self.random.below(if all_active { 10 } else { 6 }) {
            0 | 1 => self.combined(active),
            2 => self.logical(active),
            3 => self.vote(active),
            4 => self.ballot(active),
            5 => self.first(active),
            _ => self.value_of_named_lane(),
        }
    }

    fn combined(&mut self, active: &[bool]) -> Value {
        let (operand, name) = (self.value(), self.name());
        let (op, identity, function) = self.random.pick(COMBINED);
        let cluster = self.random.pick(&[2, 4]) as usize;
        let (scan, clusters) =
            self.random.pick(&[("Reduce", false), ("InclusiveScan", false), ("ExclusiveScan", false), ("ClusteredReduce", true)]);
        let last = if clusters { format!("%u{cluster}") } else { String::new() };
        match self.random.below(4) {
            0 if !op.starts_with('S') => self.emit(format!(
                "{name}v = OpCompositeConstruct %pair {operand} %i {name}w = OpGroupNonUniform{op} %pair %u3 {scan} {name}v {last}
                {name} = OpCompositeExtract %uint {name}w 0",
                operand = operand.name
            )),
            1 if scan == "Reduce" && op == "IAdd" => self.emit(format!("{name} = OpFunctionCall %uint %total {}", operand.name)),
            _ if op.starts_with('S') => self.emit(format!(
                "{name}v = OpBitcast %int {} {name}w = OpGroupNonUniform{op} %int %u3 {scan} {name}v {last} {name} = OpBitcast %uint {name}w",
                operand.name
            )),
            _ => self.emit(format!("{name} = OpGroupNonUniform{op} %uint %u3 {scan} {} {last}", operand.name)),
        }
        let includes = |own: usize, other: usize| match scan {
            "InclusiveScan" => other <= own,
            "ExclusiveScan" => other < own,
            "ClusteredReduce" => other / cluster == own / cluster,
            _ => true,
        };
        let sum = |own, members: &[usize]| {
            members.iter().filter(|&&other| includes(own, other)).fold(identity, |sum, &i| function(sum, operand.words[i]))
        };
        Value { name, words: self.for_active(active, sum) }
    }

    /// Emits the conversion of a Boolean to 0 or 1.
    fn word(&mut self, name: &str, truth: &str) {
        self.emit(format!("{name} = OpSelect %uint {truth} %u1 %u0"));
    }

    fn logical(&mut self, active: &[bool]) -> Value {
        let operand = self.value();
        let ((truth, truths), name) = (self.truth(&operand), self.name());
        let (op, identity, function) = self.random.pick::<(_, _, fn(bool, bool) -> bool)>(&[
            ("And", true, |x, y| x && y),
            ("Or", false, |x, y| x || y),
            ("Xor", false, |x, y| x != y),
        ]);
        let inclusive = self.random.percent(50);
        let scan = if inclusive { "InclusiveScan" } else { "ExclusiveScan" };
        self.emit(format!("{name}b = OpGroupNonUniformLogical{op} %bool %u3 {scan} {truth}"));
        self.word(&name, &format!("{name}b"));
        let sum = |own: usize, members: &[usize]| {
            let before = members.iter().filter(|&&other| other < own || inclusive && other == own);
            u32::from(before.fold(identity, |sum, &i| function(sum, truths[i])))
        };
        Value { name, words: self.for_active(active, sum) }
    }

    fn vote(&mut self, active: &[bool]) -> Value {
        let operand = self.value();
        let ((truth, truths), name) = (self.truth(&operand), self.name());
        let choice = self.random.below(4);
        let line = match choice {
            0 => format!("OpGroupNonUniformAll %bool %u3 {truth}"),
            1 => format!("OpGroupNonUniformAny %bool %u3 {truth}"),
            2 => format!("OpGroupNonUniformAllEqual %bool %u3 {}", if self.random.percent(50) { &truth } else { &operand.name }),
            _ => "OpGroupNonUniformElect %bool %u3".to_string(),
        };
        let of_truths = line.ends_with(&truth);
        self.emit(format!("{name}b = {line}"));
        self.word(&name, &format!("{name}b"));
        let vote = |own: usize, members: &[usize]| {
            u32::from(match choice {
                0 => members.iter().all(|&i| truths[i]),
                1 => members.iter().any(|&i| truths[i]),
                2 if of_truths => members.iter().all(|&i| truths[i] == truths[members[0]]),
                2 => members.iter().all(|&i| operand.words[i] == operand.words[members[0]]),
                _ => members[0] == own,
            })
        };
        Value { name, words: self.for_active(active, vote) }
    }

    /// A ballot, and a value that is computed from it.
    fn ballot(&mut self, active: &[bool]) -> Value {
        let (operand, index_operand) = (self.value(), self.value());
        let ((truth, truths), name) = (self.truth(&operand), self.name());
        let size = self.size as u32;
        let choice = self.random.below(7);
        // If possibly nobody votes yes, the module lets everybody vote yes.
        let (vote, everybody) = if matches!(choice, 4 | 5) { ("%yes".to_string(), true) } else { (truth, false) };
        self.emit(format!("{name}w = OpGroupNonUniformBallot %four %u3 {vote}"));
        match choice {
            0 => self.emit(format!("{name} = OpCompositeExtract %uint {name}w 0")),
            1..=3 => {
                let scan = ["Reduce", "InclusiveScan", "ExclusiveScan"][choice as usize - 1];
                self.emit(format!("{name} = OpGroupNonUniformBallotBitCount %uint %u3 {scan} {name}w"));
            }
            4 => self.emit(format!("{name} = OpGroupNonUniformBallotFindLSB %uint %u3 {name}w")),
            5 => self.emit(format!("{name} = OpGroupNonUniformBallotFindMSB %uint %u3 {name}w")),
            _ => {
                let inverse = self.random.percent(50);
                let index = format!("{name}x = OpBitwiseAnd %uint {} %u{}", index_operand.name, size - 1);
                let line = match inverse {
                    true => format!("OpGroupNonUniformInverseBallot %bool %u3 {name}w"),
                    false => format!("OpGroupNonUniformBallotBitExtract %bool %u3 {name}w {name}x"),
                };
                self.emit(format!("{index} {name}b = {line}"));
                self.word(&name, &format!("{name}b"));
                let bit = |own: usize, members: &[usize]| {
                    let lane = if inverse { own % self.size } else { (index_operand.words[own] & (size - 1)) as usize };
                    u32::from(members.iter().any(|&i| i % self.size == lane && truths[i]))
                };
                return Value { words: self.for_active(active, bit), name };
            }
        }
        let result_of = |own: usize, members: &[usize]| {
            let yes: Vec<usize> = members.iter().copied().filter(|&i| everybody || truths[i]).collect();
            match choice {
                0 => yes.iter().fold(0, |bits, &i| bits | 1 << (i % self.size)),
                1 => yes.len() as u32,
                2 => yes.iter().filter(|&&i| i <= own).count() as u32,
                3 => yes.iter().filter(|&&i| i < own).count() as u32,
                4 => (members[0] % self.size) as u32,
                _ => (members[members.len() - 1] % self.size) as u32,
            }
        };
        Value { words: self.for_active(active, result_of), name }
    }

    fn first(&mut self, active: &[bool]) -> Value {
        let (operand, name) = (self.value(), self.name());
        self.emit(format!("{name} = OpGroupNonUniformBroadcastFirst %uint %u3 {}", operand.name));
        Value { words: self.for_active(active, |_, members| operand.words[members[0]]), name }
    }

    /// The value of a named lane. All lanes must be active.
    fn value_of_named_lane(&mut self) -> Value {
        let (operand, index_operand, name) = (self.value(), self.value(), self.name());
        let (size, below) = (self.size, self.size as u32 - 1);
        let fixed = self.random.between(0, below);
        self.emit(format!("{name}x = OpBitwiseAnd %uint {} %u{below}", index_operand.name));
        let choice = self.random.below(7);
        let a = &operand.name;
        let line = match choice {
            0 => format!("Broadcast %uint %u3 {a} %u{fixed}"),
            1 => format!("Shuffle %uint %u3 {a} {name}x"),
            2 => format!("ShuffleXor %uint %u3 {a} {name}x"),
            3 => format!("ShuffleUp %uint %u3 {a} {name}x"),
            4 => format!("ShuffleDown %uint %u3 {a} {name}x"),
            5 => format!("QuadBroadcast %uint %u3 {a} %u{}", fixed % 4),
            _ => format!("QuadSwap %uint %u3 {a} %u{}", fixed % 3),
        };
        let fixed = fixed as usize;
        let source_lane = |i: usize| {
            let (own, index) = (i % size, (index_operand.words[i] & below) as usize);
            match choice {
                0 => fixed,
                1 => index,
                2 => own ^ index,
                3 => own.checked_sub(index).unwrap_or(own),
                4 if own + index < size => own + index,
                4 => own,
                5 => own / 4 * 4 + fixed % 4,
                _ => own ^ (fixed % 3 + 1),
            }
        };
        self.emit(format!("{name}r = OpGroupNonUniform{line}"));
        // If the index is no lane, the module does not use the result.
        match choice {
            3 => self.emit(format!("{name}g = OpUGreaterThanEqual %bool %lane {name}x {name} = OpSelect %uint {name}g {name}r {a}")),
            4 => self.emit(format!(
                "{name}d = OpIAdd %uint %lane {name}x {name}g = OpULessThan %bool {name}d %u{size} {name} = OpSelect %uint {name}g {name}r {a}"
            )),
            _ => self.emit(format!("{name} = OpCopyObject %uint {name}r")),
        }
        Value { words: (0..self.count).map(|i| operand.words[i / size * size + source_lane(i)]).collect(), name }
    }

    fn text(&self) -> String {
        let numbers: String = (0..=64).map(|n| format!("%u{n} = OpConstant %uint {n} ")).collect();
        let body = self.body.join("\n            ");
        let has = |names: &[&str]| names.iter().any(|name| body.contains(name));
        let total = if has(&["%total"]) {
            "%total = OpFunction %uint None %function %x = OpFunctionParameter %uint %within = OpLabel
            %y = OpGroupNonUniformIAdd %uint %u3 Reduce %x OpReturnValue %y OpFunctionEnd"
        } else {
            ""
        };
        let combines = |clusters: bool| {
            let is_combined =
                |line: &str| COMBINED.iter().any(|(op, ..)| line.contains(&format!("Uniform{op} "))) || line.contains("UniformLogical");
            body.split("= Op").any(|line| is_combined(line) && line.contains("Clustered") == clusters)
        };
        let capabilities: String = [
            ("", true),
            ("Vote", has(&["UniformAll", "UniformAny"])),
            ("Arithmetic", !total.is_empty() || combines(false)),
            ("Clustered", combines(true)),
            ("Ballot", has(&["Ballot", "UniformBroadcast"])),
            ("Shuffle", has(&["Shuffle %", "ShuffleXor"])),
            ("ShuffleRelative", has(&["ShuffleUp", "ShuffleDown"])),
            ("Quad", has(&["Quad"])),
        ]
        .into_iter()
        .filter(|(_, needed)| *needed)
        .map(|(suffix, _)| format!("OpCapability GroupNonUniform{suffix} "))
        .collect();
        format!(
            "; Version: 1.3
            OpCapability Shader {capabilities} OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main \"{ENTRY_POINT}\" %index %lanes OpExecutionMode %main LocalSize {count} 1 1
            OpDecorate %index BuiltIn LocalInvocationIndex OpDecorate %lanes BuiltIn SubgroupLocalInvocationId
            OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
            OpDecorate %input DescriptorSet 0 OpDecorate %input Binding 0
            OpDecorate %output DescriptorSet 0 OpDecorate %output Binding 1
            %void = OpTypeVoid %bool = OpTypeBool %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 {numbers}
            %four = OpTypeVector %uint 4 %pair = OpTypeVector %uint 2 %yes = OpConstantTrue %bool
            %order = OpConstant %uint 264 %procedure = OpTypeFunction %void %function = OpTypeFunction %uint %uint
            %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pin = OpTypePointer Input %uint
            %pblock = OpTypePointer StorageBuffer %block %pword = OpTypePointer StorageBuffer %uint
            %index = OpVariable %pin Input %lanes = OpVariable %pin Input
            %input = OpVariable %pblock StorageBuffer %output = OpVariable %pblock StorageBuffer
            %all = OpTypeArray %uint %u{count} %pall = OpTypePointer Workgroup %all %pshared = OpTypePointer Workgroup %uint
            %shared = OpVariable %pall Workgroup
            {total}
            %main = OpFunction %void None %procedure %entry = OpLabel
            %i = OpLoad %uint %index %lane = OpLoad %uint %lanes
            %pgiven = OpAccessChain %pword %input %u0 %i %given = OpLoad %uint %pgiven
            {body}
            %to = OpAccessChain %pword %output %u0 %i OpStore %to {sum}
            OpReturn OpFunctionEnd",
            count = self.count,
            sum = self.sum.name,
        )
    }
}
