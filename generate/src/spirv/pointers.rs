//! Dispatches whose pointers are chosen at run time: by OpSelect, OpPhi, calls, and variables that
//! hold pointers. Pointers are also moved by OpPtrAccessChain and compared. A model, which treats
//! memory as cells and a pointer as an array and an element, computes the words that the dispatch
//! must show.
//!
//! There are four invocations. They point into two arrays of each of two storage buffers, and
//! into Workgroup memory. Workgroup memory is either two separate arrays, or one Block with two
//! arrays that aliases another Block with one array. No choice at run time yields a pointer into
//! such a Block. Pointers go at most one past the end of their array, and no access uses a
//! pointer that is past the end. Between barriers, invocations store to cells of their own. So
//! nothing is undefined.

use super::{BufferContents, ComputeCase, Drawn, ENTRY_POINT, OUTPUT_BEFORE};
use crate::random::Random;

/// The usual number of steps of a dispatch. Small dispatches have fewer.
pub const STEPS: u32 = 14;

/// The number of invocations. They form one workgroup.
const INVOCATIONS: usize = 4;

/// An array that pointers point into.
struct Array {
    /// The variable and the member, as operands of an access chain.
    base: &'static str,
    in_buffer: bool,
    /// The index of the cell that holds its first element.
    cell: i64,
    length: i64,
    /// Whether the array has an explicit layout, so that the adjacent memory is known.
    has_layout: bool,
}

const fn array(base: &'static str, in_buffer: bool, cell: i64, length: i64, has_layout: bool) -> Array {
    Array { base, in_buffer, cell, length, has_layout }
}

const SEPARATE: &[Array] = &[
    array("%input %u0", true, 0, 4, true),
    array("%input %u1", true, 4, 4, true),
    array("%near", false, 8, 4, false),
    array("%far", false, 12, 4, false),
    array("%more %u0", true, 16, 4, true),
    array("%more %u1", true, 20, 4, true),
];

const EXPLICIT_LAYOUT: &[Array] = &[
    array("%input %u0", true, 0, 4, true),
    array("%input %u1", true, 4, 4, true),
    array("%near %u0", false, 8, 4, true),
    array("%near %u1", false, 12, 4, true),
    array("%far %u0", false, 8, 8, true),
    array("%more %u0", true, 16, 4, true),
    array("%more %u1", true, 20, 4, true),
];

/// A pointer: its id, and its array and element in each invocation.
#[derive(Clone)]
struct Pointer {
    name: String,
    at: [(usize, i64); INVOCATIONS],
}

struct Program {
    random: Random,
    arrays: &'static [Array],
    body: Vec<String>,
    pointers: Vec<Pointer>,
    cells: [u32; 24],
    /// The id of the sum so far, and its value in each invocation.
    sum: (String, [u32; INVOCATIONS]),
}

/// The dispatch of a seed. A dispatch with fewer steps has the same beginning.
pub fn drawn(seed: u64, steps: u32) -> Drawn {
    let mut random = Random::new(seed ^ 0x0070_6f69_6e74_6572);
    let has_layout = random.percent(50);
    let arrays = if has_layout { EXPLICIT_LAYOUT } else { SEPARATE };
    let cells = std::array::from_fn(|cell| cell as u32 + if cell < 8 { 1 } else { 12 });
    let mut program = Program { random, arrays, body: Vec::new(), pointers: Vec::new(), cells, sum: ("%u0".into(), [0; INVOCATIONS]) };
    program.begin();
    for step in 0..steps {
        program.step(&format!("%n{step}"));
    }
    let text = program.text(has_layout);
    let buffer = |binding, words, written| BufferContents { set: 0, binding, words, written };
    let case = ComputeCase {
        words: Drawn::words(&text),
        entry: ENTRY_POINT.into(),
        local_size: [INVOCATIONS as u32, 1, 1],
        groups: [1; 3],
        buffers: vec![
            buffer(0, (1..=8).collect(), true),
            buffer(1, vec![OUTPUT_BEFORE; INVOCATIONS], true),
            buffer(2, (28..36).collect(), true),
        ],
        words_each: 1,
        executed: program.body.len() as f64,
        twin: None,
        shown: Some(program.sum.1.to_vec()),
        subgroup_size: None,
    };
    Drawn { case, text }
}

impl Program {
    /// Fills Workgroup memory, and adds a pointer into each array.
    fn begin(&mut self) {
        self.body.push("OpSelectionMerge %ready None OpBranchConditional %first %fill %ready %fill = OpLabel".into());
        for cell in 8..16i64 {
            let array =
                self.arrays.iter().find(|a| !a.in_buffer && (a.cell..a.cell + a.length).contains(&cell)).expect("an array holds it");
            let (base, element, value) = (array.base, cell - array.cell, self.cells[cell as usize]);
            self.body.push(format!("%fill{cell} = OpAccessChain %wstep {base} %u{element} OpStore %fill{cell} %v{value}"));
        }
        self.body.push("OpBranch %ready %ready = OpLabel".into());
        self.barrier();
        for (number, array) in self.arrays.iter().enumerate() {
            let (name, step) = (format!("%a{number}"), step_of(array.in_buffer));
            self.body.push(format!("{name} = OpAccessChain {step} {} %i", array.base));
            self.pointers.push(Pointer { name, at: std::array::from_fn(|i| (number, i as i64)) });
        }
    }

    fn barrier(&mut self) {
        self.body.push("OpControlBarrier %u2 %u2 %order".into());
    }

    fn step(&mut self, name: &str) {
        let source = self.pointer(None);
        let chosen = self.random.below(9);
        let [array, ..] = source.at.map(|(array, _)| &self.arrays[array]);
        if !array.in_buffer && array.has_layout && chosen < 7 {
            return self.address_block(name);
        }
        match chosen {
            0..=2 => self.advance(name, &source),
            3 | 4 => self.choose(name, &source),
            5 => self.difference(name, &source),
            6 => self.compare(name, &source),
            7 => self.load(name, &source),
            _ => self.store(name, &source),
        }
    }

    /// A random pointer. If `like` is given, it has the same storage class.
    fn pointer(&mut self, like: Option<&Pointer>) -> Pointer {
        let candidates: Vec<&Pointer> =
            self.pointers.iter().filter(|one| like.is_none_or(|like| self.in_buffer(one) == self.in_buffer(like))).collect();
        candidates[self.random.below(candidates.len() as u32) as usize].clone()
    }

    fn in_buffer(&self, pointer: &Pointer) -> bool {
        self.arrays[pointer.at[0].0].in_buffer
    }

    /// Whether it points to an element in each invocation, never one past the end.
    fn is_inside(&self, pointer: &Pointer) -> bool {
        pointer.at.iter().all(|&(array, element)| element < self.arrays[array].length)
    }

    fn cell(&self, (array, element): (usize, i64)) -> i64 {
        self.arrays[array].cell + element
    }

    /// A pointer into a Block in Workgroup memory. Such pointers are not chosen at run time, moved
    /// or compared, since the model has no variable pointers into them.
    fn address_block(&mut self, name: &str) {
        let blocks: Vec<usize> = (0..self.arrays.len()).filter(|&array| !self.arrays[array].in_buffer).collect();
        let array = self.random.pick(&blocks);
        let Array { base, length, .. } = self.arrays[array];
        let (is_backward, offset) = (self.random.percent(50), i64::from(self.random.below(length as u32 - 3)));
        let (op, start) = if is_backward { ("OpISub", offset + 3) } else { ("OpIAdd", offset) };
        self.body.push(format!("{name}k = {op} %uint %u{start} %i {name} = OpAccessChain %wstep {base} {name}k"));
        let element = |i: i64| if is_backward { start - i } else { start + i };
        self.pointers.push(Pointer { name: name.into(), at: std::array::from_fn(|i| (array, element(i as i64))) });
    }

    /// Moves a pointer by some elements, perhaps to one past the end. The distance is the same in
    /// all invocations, or it is the number of the invocation.
    fn advance(&mut self, name: &str, source: &Pointer) {
        let lengths = source.at.map(|(array, _)| self.arrays[array].length);
        let by_number = self.random.percent(25);
        let (least, most) = source
            .at
            .iter()
            .zip(lengths)
            .fold((i64::MIN, i64::MAX), |(least, most), (&(_, element), length)| (least.max(-element), most.min(length - element)));
        let (steps, index) = if by_number && (0..INVOCATIONS).all(|i| source.at[i].1 + i as i64 <= lengths[i]) {
            ([0, 1, 2, 3], "%i".to_string())
        } else {
            let steps = least + i64::from(self.random.below((most - least + 1) as u32));
            ([steps; INVOCATIONS], format!("%s{}", steps.to_string().replace('-', "m")))
        };
        self.body.push(format!("{name} = OpPtrAccessChain {} {} {index}", step_of(self.in_buffer(source)), source.name));
        self.pointers.push(Pointer { name: name.into(), at: std::array::from_fn(|i| (source.at[i].0, source.at[i].1 + steps[i])) });
    }

    /// A choice between two pointers, by a property of the invocation. Or a pointer that is stored
    /// in a variable and loaded again.
    fn choose(&mut self, name: &str, source: &Pointer) {
        let other = self.pointer(Some(source));
        let in_buffer = self.in_buffer(source);
        let (step, letter) = (step_of(in_buffer), if in_buffer { "b" } else { "w" });
        let (a, b) = (&source.name, &other.name);
        let chosen_at = |i: usize| if i % 2 == 1 { source.at[i] } else { other.at[i] };
        let (line, at): (String, [_; INVOCATIONS]) = match self.random.below(6) {
            0 => (format!("{name} = OpSelect {step} %odd {a} {b}"), std::array::from_fn(chosen_at)),
            1 => (format!("{name} = OpFunctionCall {step} %pick{letter} %odd {a} {b}"), std::array::from_fn(chosen_at)),
            2 => {
                let [yes, no, merge] = ["y", "n", "m"].map(|block| format!("{name}{block}"));
                let line = format!(
                    "OpSelectionMerge {merge} None OpBranchConditional %odd {yes} {no} {yes} = OpLabel OpBranch {merge}
                    {no} = OpLabel OpBranch {merge} {merge} = OpLabel {name} = OpPhi {step} {a} {yes} {b} {no}"
                );
                (line, std::array::from_fn(chosen_at))
            }
            3 => (format!("{name} = OpSelect {step} %small {a} %null{letter}"), source.at),
            4 if in_buffer => (format!("OpStore %held {a} {name} = OpLoad {step} %held"), source.at),
            _ => (format!("OpStore %hold{letter} {a} {name} = OpLoad {step} %hold{letter}"), source.at),
        };
        self.body.push(line);
        self.pointers.push(Pointer { name: name.into(), at });
    }

    /// Adds the value of each invocation to its sum.
    fn add(&mut self, name: &str, value: &str, of_each: [u32; INVOCATIONS]) {
        let (sum, sums) = &mut self.sum;
        self.body.push(format!("{name} = OpIAdd %uint {sum} {value}"));
        *sum = name.into();
        sums.iter_mut().zip(of_each).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }

    fn difference(&mut self, name: &str, source: &Pointer) {
        let other = self.pointer(Some(source));
        if (0..INVOCATIONS).all(|i| source.at[i].0 == other.at[i].0) {
            self.body.push(format!("{name}d = OpPtrDiff %uint {} {}", source.name, other.name));
            self.add(name, &format!("{name}d"), std::array::from_fn(|i| (source.at[i].1 - other.at[i].1) as u32));
        }
    }

    fn compare(&mut self, name: &str, source: &Pointer) {
        let in_buffer = self.in_buffer(source);
        let other = self.random.percent(75).then(|| self.pointer(Some(source)));
        let mut equal = [false; INVOCATIONS];
        if let Some(other) = &other {
            // Without a layout, or with other memory behind the array, the device decides whether a
            // pointer one past the end equals another.
            let object = |at: (usize, i64)| self.arrays[at.0].base.split(' ').next();
            let has_layout = |i: usize| self.arrays[source.at[i].0].has_layout && object(source.at[i]) == object(other.at[i]);
            let is_known = |i: usize| source.at[i].0 == other.at[i].0 || has_layout(i);
            let is_decided = (0..INVOCATIONS).all(is_known) || self.is_inside(source) && self.is_inside(other);
            if !is_decided {
                return;
            }
            equal = std::array::from_fn(|i| self.cell(source.at[i]) == self.cell(other.at[i]));
        }
        let second = other.map_or_else(|| format!("%null{}", if in_buffer { "b" } else { "w" }), |other| other.name);
        let negates = self.random.percent(50);
        let op = if negates { "OpPtrNotEqual" } else { "OpPtrEqual" };
        self.body.push(format!("{name}e = {op} %bool {} {second} {name}c = OpSelect %uint {name}e %u1 %u0", source.name));
        self.add(name, &format!("{name}c"), equal.map(|equal| u32::from(equal != negates)));
    }

    fn load(&mut self, name: &str, source: &Pointer) {
        if self.is_inside(source) {
            self.body.push(format!("{name}l = OpLoad %uint {}", source.name));
            self.add(name, &format!("{name}l"), source.at.map(|at| self.cells[self.cell(at) as usize]));
        }
    }

    /// Stores the sum, if each invocation has another cell.
    fn store(&mut self, name: &str, to: &Pointer) {
        let cells = to.at.map(|at| self.cell(at));
        let are_distinct = (1..INVOCATIONS).all(|i| !cells[..i].contains(&cells[i]));
        if !self.is_inside(to) || !are_distinct {
            return self.load(name, to);
        }
        self.barrier();
        self.body.push(format!("OpStore {} {}", to.name, self.sum.0));
        self.barrier();
        for (cell, value) in cells.into_iter().zip(self.sum.1) {
            self.cells[cell as usize] = value;
        }
    }

    fn text(&self, has_layout: bool) -> String {
        let (capability, decorations, types) = if has_layout {
            (
                "OpCapability WorkgroupMemoryExplicitLayoutKHR OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"",
                "OpDecorate %wstep ArrayStride 4 OpDecorate %eights ArrayStride 4 OpDecorate %whole Block OpMemberDecorate %whole 0 Offset 0
                OpDecorate %near Aliased OpDecorate %far Aliased",
                "%eights = OpTypeArray %uint %u8 %whole = OpTypeStruct %eights %pnear = OpTypePointer Workgroup %pair
                %pfar = OpTypePointer Workgroup %whole %near = OpVariable %pnear Workgroup %far = OpVariable %pfar Workgroup",
            )
        } else {
            (
                "",
                "",
                "%wfours = OpTypeArray %uint %u4 %pnear = OpTypePointer Workgroup %wfours %near = OpVariable %pnear Workgroup
                %far = OpVariable %pnear Workgroup",
            )
        };
        let words: String = (0..9).map(|n| format!("%u{n} = OpConstant %uint {n} ")).collect();
        let signed: String = (-8..9).map(|n: i32| format!("%s{} = OpConstant %int {n} ", n.to_string().replace('-', "m"))).collect();
        let values: String = (20..28).map(|n| format!("%v{n} = OpConstant %uint {n} ")).collect();
        let pick = |letter: &str| {
            format!(
                "%pick{letter} = OpFunction {step} None %choose{letter} %x{letter} = OpFunctionParameter %bool
                %y{letter} = OpFunctionParameter {step} %z{letter} = OpFunctionParameter {step} %begin{letter} = OpLabel
                OpSelectionMerge %end{letter} None OpBranchConditional %x{letter} %end{letter} %else{letter}
                %else{letter} = OpLabel OpReturnValue %z{letter} %end{letter} = OpLabel OpReturnValue %y{letter} OpFunctionEnd",
                step = step_of(letter == "b")
            )
        };
        format!(
            "; Version: 1.4
            OpCapability Shader OpCapability VariablePointers {capability} OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main \"{ENTRY_POINT}\" %index %input %more %output %near %far %held
            OpExecutionMode %main LocalSize {INVOCATIONS} 1 1
            OpDecorate %index BuiltIn LocalInvocationIndex
            OpDecorate %bstep ArrayStride 4 OpDecorate %fours ArrayStride 4 OpDecorate %words ArrayStride 4 {decorations}
            OpDecorate %pair Block OpMemberDecorate %pair 0 Offset 0 OpMemberDecorate %pair 1 Offset 16
            OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
            OpDecorate %input DescriptorSet 0 OpDecorate %input Binding 0
            OpDecorate %more DescriptorSet 0 OpDecorate %more Binding 2
            OpDecorate %output DescriptorSet 0 OpDecorate %output Binding 1
            %void = OpTypeVoid %bool = OpTypeBool %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 {words} {signed} {values}
            %order = OpConstant %uint 328 %procedure = OpTypeFunction %void
            %fours = OpTypeArray %uint %u4 %pair = OpTypeStruct %fours %fours %words = OpTypeRuntimeArray %uint
            %block = OpTypeStruct %words %pin = OpTypePointer Input %uint %pinput = OpTypePointer StorageBuffer %pair
            %poutput = OpTypePointer StorageBuffer %block %pword = OpTypePointer StorageBuffer %uint
            %index = OpVariable %pin Input %input = OpVariable %pinput StorageBuffer %output = OpVariable %poutput StorageBuffer
            %more = OpVariable %pinput StorageBuffer
            %bstep = OpTypePointer StorageBuffer %uint %wstep = OpTypePointer Workgroup %uint {types}
            %nullb = OpConstantNull %bstep %nullw = OpConstantNull %wstep
            %pheld = OpTypePointer Private %bstep %held = OpVariable %pheld Private
            %phb = OpTypePointer Function %bstep %phw = OpTypePointer Function %wstep
            %chooseb = OpTypeFunction %bstep %bool %bstep %bstep %choosew = OpTypeFunction %wstep %bool %wstep %wstep
            %main = OpFunction %void None %procedure %entry = OpLabel
            %holdb = OpVariable %phb Function %holdw = OpVariable %phw Function
            %i = OpLoad %uint %index %bit = OpBitwiseAnd %uint %i %u1 %odd = OpIEqual %bool %bit %u1
            %first = OpIEqual %bool %i %u0 %small = OpULessThan %bool %i %u4
            {body}
            %to = OpAccessChain %pword %output %u0 %i OpStore %to {sum}
            OpReturn OpFunctionEnd {b} {w}",
            body = self.body.join("\n            "),
            sum = self.sum.0,
            b = pick("b"),
            w = pick("w"),
        )
    }
}

/// The id of the type of pointers to elements.
fn step_of(in_buffer: bool) -> &'static str {
    if in_buffer { "%bstep" } else { "%wstep" }
}
