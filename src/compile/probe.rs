//! The pass `probe`: SPIR-V → SPIR-V that shows one intermediate value beside the outputs of
//! the module.
//!
//! A device shows no intermediate values. The adapted module computes everything that the original
//! computes, in the same blocks. When the probed id is computed for the k-th time, its value goes
//! into a private variable. At the end, the value goes from there to an output. No block, branch or
//! OpPhi is added, no id changes, and new ids are above the old bound.
//!
//! ```text
//! %seen  = OpVariable Private, at first the marker in every lane
//! %count = OpVariable Private, at first 0           [only if the id may be computed several times]
//!   …
//! r      = …                   [the probed instruction; of OpPhi, what follows is after the group]
//! n      = OpLoad %count
//! here   = OpFOrdEqual n k
//! value  = r as four floats
//!          OpStore %seen (OpSelect (here here here here) value (OpLoad %seen))
//!          OpStore %count (OpFAdd n 1)
//!   …
//!          OpStore %output (OpLoad %seen)                                  [before OpReturn]
//! ```
//!
//! The counter is a float, exact up to 2^24, if the interpreter has no integers. Otherwise it is a
//! uint, which is independent of a device's float additions. Booleans show as 1 and 0, and a matrix
//! shows one column at a time.
//!
//! A value can also be shown by its bits, in an output of uints or in a buffer. Each invocation of
//! a compute or vertex module stores its own four words in the buffer before the entry point
//! returns. The counter and the lanes are uints then, and a float shows its bits.
//!
//! Invariant: in the interpreter, the original and the adapted module show the same values in their
//! common outputs, and the adapted module shows the probed value. The users of the pass check this.

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::module::{EntryPoint, Interface, Variable, WHOLE};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::write::{push, push_with};
use smallstep_semantics::spirv::{Instruction, Module};

/// The most executions of one instruction that a float can count.
pub const MAX_OCCURRENCE: u32 = 1 << 24;

/// The value to show, and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The result id of an instruction in a function. It has floats or Booleans. If it is shown by
    /// its bits, it may have any 32-bit scalars or Booleans.
    pub id: u32,
    /// The number of the execution in one invocation, from 0. `None` if no engine can execute the
    /// instruction more than once.
    pub occurrence: Option<u32>,
    /// The column of a matrix. 0 for other values.
    pub column: u32,
    /// The output that shows the value.
    pub shown: Shown,
    /// Whether the counter is a float, if an output of floats shows the value.
    pub counts_in_floats: bool,
    /// The bits of all four lanes if the value is never computed.
    pub marker: u32,
}

/// The place that shows a probed value, as four lanes, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The output at this location, as a vec4 of floats. If the module has such an output, that
    /// output shows the value instead of its own. Otherwise one is added.
    Output(u32),
    /// A new output at this location, as a uvec4 of bits. The module must have no output there.
    Bits(u32),
    /// A new storage buffer, with four words for each invocation.
    Buffer {
        /// The descriptor set of the buffer.
        set: u32,
        /// The binding of the buffer.
        binding: u32,
        /// The invocations.
        of: Invocations,
    },
}

/// The invocations of a module, in their order in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocations {
    /// Invocations of this number of workgroups: by workgroup, x fastest, then
    /// by LocalInvocationIndex.
    Workgroups([u32; 3]),
    /// This number of vertices for each instance: by InstanceIndex, then by VertexIndex.
    Vertices(u32),
}

/// The reason why a module cannot be probed. It is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotProbe(pub String);

impl std::fmt::Display for CannotProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotProbe {}

/// The words of the module that shows the probed value.
///
/// Errors: the id is not computed where it can be shown, its type cannot be shown, or there are
/// more ids or executions than can be counted.
pub fn adapt(module: &Module, entry: &str, probe: &Probe) -> Result<Vec<u32>, CannotProbe> {
    let refuse = |why: String| Err(CannotProbe(why));
    let entry = module.entry_point(entry).map_err(|e| CannotProbe(e.to_string()))?;
    let shape = module.shape(probe.id);
    let by_bits = !matches!(probe.shown, Shown::Output(_));
    let Some(defined) = module.definition(probe.id).filter(|&i| module.place(i).block != 0) else {
        return refuse(format!("%{} is not computed in a function", probe.id));
    };
    let is_integer = matches!(shape.scalar, Scalar::Int { width: 32, .. });
    if !(shape.is_lanes() || by_bits && is_integer) || probe.column >= u32::from(shape.columns) {
        return refuse(format!("%{} is {shape}; what can be shown are floats, Booleans and the columns of a matrix", probe.id));
    }
    if probe.occurrence.is_some_and(|k| k >= MAX_OCCURRENCE) {
        return refuse(format!("execution {} of %{} is past what a float can count", probe.occurrence.unwrap_or(0), probe.id));
    }
    Adapter::new(module, entry, *probe, shape).module(after(module, defined))
}

fn in_function(module: &Module, entry: &EntryPoint, index: usize) -> bool {
    let place = module.place(index);
    place.function == entry.function && place.block != 0
}

/// The index of the instruction before which code must be inserted to follow instruction `index`
/// directly. For an OpPhi, that is after the last OpPhi of its block.
fn after(module: &Module, index: usize) -> usize {
    let code = &module.instructions()[index..];
    if !code[0].is(Op::Phi) {
        return index + 1;
    }
    let group = code.iter().take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine));
    let last = group.enumerate().filter(|(_, i)| i.is(Op::Phi)).map(|(n, _)| n).last();
    index + last.unwrap_or(0) + 1
}

/// The ids of the declarations that show the value.
enum Sink {
    Output(u32),
    /// The buffer, the type of pointers into it, and the constant 0. The number of an invocation is
    /// the part `first`. For each entry of `later_parts`, the number so far is multiplied by the
    /// constant and the part is added.
    Buffer {
        buffer: u32,
        pointer: u32,
        zero: u32,
        first: Part,
        later_parts: Vec<(u32, Part)>,
    },
}

/// A part of an invocation's number: a variable, or an element of one.
#[derive(Clone, Copy)]
struct Part {
    variable: u32,
    /// The type of the variable's value, and the index of the element in it.
    element: Option<(u32, u32)>,
}

impl Part {
    fn whole(variable: u32) -> Part {
        Part { variable, element: None }
    }
}

/// The state of the adaptation: the new declarations, by section.
struct Adapter<'m> {
    module: &'m Module,
    entry: &'m EntryPoint,
    probe: Probe,
    shape: Shape,
    next: u32,
    /// Types, constants and variables.
    declarations: Vec<u32>,
    decorations: Vec<u32>,
    /// New variables of the entry point's interface.
    interface: Vec<u32>,
    /// The type of a shown lane. `vec4` is the type of four lanes.
    lane: u32,
    vec4: u32,
}

impl<'m> Adapter<'m> {
    fn new(module: &'m Module, entry: &'m EntryPoint, probe: Probe, shape: Shape) -> Adapter<'m> {
        let next = module.header().bound;
        let (declarations, decorations, interface) = (Vec::new(), Vec::new(), Vec::new());
        let mut adapter = Adapter { module, entry, probe, shape, next, declarations, decorations, interface, lane: 0, vec4: 0 };
        adapter.lane = match probe.shown {
            Shown::Output(_) => adapter.ty(Op::TypeFloat, &[32]),
            Shown::Bits(_) | Shown::Buffer { .. } => adapter.ty(Op::TypeInt, &[32, 0]),
        };
        adapter.vec4 = adapter.ty(Op::TypeVector, &[adapter.lane, 4]);
        adapter
    }

    /// Whether the lanes are floats.
    fn has_float_lanes(&self) -> bool {
        matches!(self.probe.shown, Shown::Output(_))
    }

    /// The adapted words. The code that catches the value goes before instruction `catch`.
    fn module(mut self, catch: usize) -> Result<Vec<u32>, CannotProbe> {
        let seen_type = self.ty(Op::TypePointer, &[StorageClass::Private as u32, self.vec4]);
        let marker = self.constant(self.probe.marker);
        let markers = self.declare_typed(Op::ConstantComposite, self.vec4, &[marker; 4]);
        let kept = self.declare_typed(Op::Variable, seen_type, &[StorageClass::Private as u32, markers]);
        let sink = self.declare_sink()?;
        let mut catch_code = Vec::new();
        self.catch(kept, &mut catch_code);
        if self.module.header().minor >= 4 {
            self.interface.push(kept);
        }

        let words = self.module.words();
        let instructions = self.module.instructions();
        let is_declaration = |i: &Instruction| {
            let name = i.name();
            name.starts_with("OpType") || name.starts_with("OpConstant") || i.is(Op::Variable) || i.is(Op::Function)
        };
        let annotations_end = instructions.iter().position(is_declaration).unwrap_or(instructions.len());
        let declarations_end = instructions.iter().position(|i| i.is(Op::Function)).unwrap_or(instructions.len());
        let mut out = Vec::with_capacity(words.len() + self.declarations.len() + catch_code.len() + 64);
        out.extend_from_slice(&words[..5]);
        for (index, i) in instructions.iter().enumerate() {
            if index == annotations_end {
                out.extend_from_slice(&self.decorations);
            }
            if index == declarations_end {
                out.extend_from_slice(&self.declarations);
            }
            if index == catch {
                out.extend_from_slice(&catch_code);
            }
            if i.is(Op::Return) && in_function(self.module, self.entry, index) {
                let value = self.result(&mut out, Op::Load, self.vec4, &[kept]);
                let place = self.place(&sink, &mut out);
                push(&mut out, Op::Store, &[place, value]);
            }
            let from = out.len();
            out.extend_from_slice(i.words(words));
            if index == self.entry.instruction as usize {
                let word_count = u32::from(i.word_count) + self.interface.len() as u32;
                if word_count > u32::from(u16::MAX) {
                    return Err(CannotProbe("the entry point's interface is as long as an instruction can be".into()));
                }
                out[from] = word_count << 16 | Op::EntryPoint as u32;
                out.extend_from_slice(&self.interface);
            }
        }
        if self.next > smallstep_semantics::spirv::words::MAX_ID_BOUND {
            return Err(CannotProbe("the module has as many ids as a module may have".into()));
        }
        out[3] = self.next;
        Ok(out)
    }

    /// Writes the code that keeps the value if this is the wanted execution.
    fn catch(&mut self, kept: u32, code: &mut Vec<u32>) {
        let value = self.as_vec4(code);
        let Some(occurrence) = self.probe.occurrence else {
            return push(code, Op::Store, &[kept, value]);
        };
        let counts_in_floats = self.has_float_lanes() && self.probe.counts_in_floats;
        let (number, equal, add) = match counts_in_floats {
            true => (self.lane, Op::FOrdEqual, Op::FAdd),
            false => (self.ty(Op::TypeInt, &[32, 0]), Op::IEqual, Op::IAdd),
        };
        let count_type = self.ty(Op::TypePointer, &[StorageClass::Private as u32, number]);
        let bits = |n: u32| if counts_in_floats { (n as f32).to_bits() } else { n };
        let [zero, one, wanted] = [0, 1, occurrence].map(|n| self.declare_typed(Op::Constant, number, &[bits(n)]));
        let count = self.declare_typed(Op::Variable, count_type, &[StorageClass::Private as u32, zero]);
        if self.module.header().minor >= 4 {
            self.interface.push(count);
        }
        let boolean = self.ty(Op::TypeBool, &[]);
        let booleans = self.ty(Op::TypeVector, &[boolean, 4]);
        let n = self.result(code, Op::Load, number, &[count]);
        let is_wanted = self.result(code, equal, boolean, &[n, wanted]);
        let four = self.result(code, Op::CompositeConstruct, booleans, &[is_wanted; 4]);
        let old = self.result(code, Op::Load, self.vec4, &[kept]);
        let new = self.result(code, Op::Select, self.vec4, &[four, value, old]);
        push(code, Op::Store, &[kept, new]);
        let next_count = self.result(code, add, number, &[n, one]);
        if counts_in_floats && self.declares_controls() {
            push(&mut self.decorations, Op::Decorate, &[next_count, Decoration::NoContraction as u32]);
        }
        push(code, Op::Store, &[count, next_count]);
    }

    /// The probed value, or its column, as four lanes.
    fn as_vec4(&mut self, code: &mut Vec<u32>) -> u32 {
        let Probe { id, column, .. } = self.probe;
        let Shape { scalar, rows, columns } = self.shape;
        if scalar == Scalar::Bool {
            let boolean = self.ty(Op::TypeBool, &[]);
            let (zero, one) = (self.constant(0), self.number(1));
            let mut lanes = [zero; 4];
            for (n, lane) in lanes.iter_mut().take(rows.into()).enumerate() {
                let truth = if rows == 1 { id } else { self.result(code, Op::CompositeExtract, boolean, &[id, n as u32]) };
                *lane = self.result(code, Op::Select, self.lane, &[truth, one, zero]);
            }
            return self.result(code, Op::CompositeConstruct, self.vec4, &lanes);
        }
        let mut vector = id;
        if columns > 1 {
            let float = self.ty(Op::TypeFloat, &[32]);
            let column_type = self.ty(Op::TypeVector, &[float, rows.into()]);
            vector = self.result(code, Op::CompositeExtract, column_type, &[id, column]);
        }
        if !self.has_float_lanes() && scalar != (Scalar::Int { width: 32, signed: false }) {
            let ty = if rows == 1 { self.lane } else { self.ty(Op::TypeVector, &[self.lane, rows.into()]) };
            vector = self.result(code, Op::Bitcast, ty, &[vector]);
        }
        if rows == 4 {
            return vector;
        }
        let zero = self.constant(0);
        let mut parts = vec![vector];
        parts.resize(1 + 4 - usize::from(rows), zero);
        self.result(code, Op::CompositeConstruct, self.vec4, &parts)
    }

    /// Declares the output or the buffer that shows the value.
    fn declare_sink(&mut self) -> Result<Sink, CannotProbe> {
        match self.probe.shown {
            Shown::Output(location) | Shown::Bits(location) => Ok(Sink::Output(self.output(location)?)),
            Shown::Buffer { set, binding, of } => {
                if self.module.variables().iter().any(|v| {
                    let place = |decoration| self.module.decoration(v.id, WHOLE, decoration);
                    (place(Decoration::DescriptorSet), place(Decoration::Binding)) == (Some(set), Some(binding))
                }) {
                    return Err(CannotProbe(format!("the module has a variable at descriptor set {set}, binding {binding}")));
                }
                let values = self.id();
                push(&mut self.declarations, Op::TypeRuntimeArray, &[values, self.vec4]);
                let block = self.id();
                push(&mut self.declarations, Op::TypeStruct, &[block, values]);
                let pointer = self.ty(Op::TypePointer, &[StorageClass::StorageBuffer as u32, block]);
                let buffer = self.declare_typed(Op::Variable, pointer, &[StorageClass::StorageBuffer as u32]);
                push(&mut self.decorations, Op::Decorate, &[values, Decoration::ArrayStride as u32, 16]);
                push(&mut self.decorations, Op::Decorate, &[block, Decoration::Block as u32]);
                push(&mut self.decorations, Op::MemberDecorate, &[block, 0, Decoration::Offset as u32, 0]);
                push(&mut self.decorations, Op::Decorate, &[buffer, Decoration::DescriptorSet as u32, set]);
                push(&mut self.decorations, Op::Decorate, &[buffer, Decoration::Binding as u32, binding]);
                if self.module.header().minor >= 4 {
                    self.interface.push(buffer);
                }
                let (first, later_parts) = match of {
                    Invocations::Workgroups(groups) => {
                        let vec3 = self.ty(Op::TypeVector, &[self.lane, 3]);
                        let variable = self.built_in(BuiltIn::WorkgroupId, vec3)?;
                        let group = |k: u32| Part { variable, element: Some((vec3, k)) };
                        let local = Part::whole(self.built_in(BuiltIn::LocalInvocationIndex, self.lane)?);
                        let size = self.module.modes(self.entry).workgroup_size.unwrap_or([1; 3]);
                        (group(2), vec![(groups[1], group(1)), (groups[0], group(0)), (size.iter().product(), local)])
                    }
                    Invocations::Vertices(count) => {
                        let [instance, vertex] = [BuiltIn::InstanceIndex, BuiltIn::VertexIndex].map(|part| self.built_in(part, self.lane));
                        (Part::whole(instance?), vec![(count, Part::whole(vertex?))])
                    }
                };
                let later_parts = later_parts.into_iter().map(|(size, part)| (self.constant(size), part)).collect();
                let pointer = self.ty(Op::TypePointer, &[StorageClass::StorageBuffer as u32, self.vec4]);
                let zero = self.constant(0);
                Ok(Sink::Buffer { buffer, pointer, zero, first, later_parts })
            }
        }
    }

    /// The variable of a built-in input of the entry point. It is declared if the module has none.
    fn built_in(&mut self, built_in: BuiltIn, ty: u32) -> Result<u32, CannotProbe> {
        let is_built_in_input = |v: &&Variable| v.class == StorageClass::Input && self.module.built_in(v.id, WHOLE) == Some(built_in);
        let found = self.module.variables().iter().find(is_built_in_input).map(|v| v.id);
        let pointer = self.ty(Op::TypePointer, &[StorageClass::Input as u32, ty]);
        if found.and_then(|v| self.module.instruction(v)).is_some_and(|v| v.result_type != pointer) {
            return Err(CannotProbe(format!("the module has {built_in:?} as another type than unsigned integers")));
        }
        let variable = found.unwrap_or_else(|| {
            let variable = self.declare_typed(Op::Variable, pointer, &[StorageClass::Input as u32]);
            push(&mut self.decorations, Op::Decorate, &[variable, Decoration::BuiltIn as u32, built_in as u32]);
            variable
        });
        if !self.module.interface_of(self.entry).contains(&variable) {
            self.interface.push(variable);
        }
        Ok(variable)
    }

    /// A pointer to the place where the invocation shows its value.
    fn place(&mut self, sink: &Sink, code: &mut Vec<u32>) -> u32 {
        let (buffer, pointer, zero, first, later_parts) = match sink {
            Sink::Output(output) => return *output,
            Sink::Buffer { buffer, pointer, zero, first, later_parts } => (*buffer, *pointer, *zero, *first, later_parts),
        };
        let mut number = self.part(first, code);
        for &(size, part) in later_parts {
            number = self.result(code, Op::IMul, self.lane, &[number, size]);
            let addend = self.part(part, code);
            number = self.result(code, Op::IAdd, self.lane, &[number, addend]);
        }
        self.result(code, Op::AccessChain, pointer, &[buffer, zero, number])
    }

    fn part(&mut self, part: Part, code: &mut Vec<u32>) -> u32 {
        let Part { variable, element } = part;
        let Some((ty, element)) = element else { return self.result(code, Op::Load, self.lane, &[variable]) };
        let whole = self.result(code, Op::Load, ty, &[variable]);
        self.result(code, Op::CompositeExtract, self.lane, &[whole, element])
    }

    /// The output variable that shows the value.
    fn output(&mut self, location: u32) -> Result<u32, CannotProbe> {
        let pointer = self.ty(Op::TypePointer, &[StorageClass::Output as u32, self.vec4]);
        let is_output = |i: &&Instruction| i.is(Op::Variable) && self.module.interface(i.result) == Some(Interface::Output(location));
        if let Some(variable) = self.module.instructions().iter().find(is_output) {
            return match variable.result_type == pointer {
                true => Ok(variable.result),
                false => Err(CannotProbe(format!("the output at location {location} is no vec4 of what is shown"))),
            };
        }
        let output = self.declare_typed(Op::Variable, pointer, &[StorageClass::Output as u32]);
        push(&mut self.decorations, Op::Decorate, &[output, Decoration::Location as u32, location]);
        self.interface.push(output);
        Ok(output)
    }

    /// Whether the module declares how floats round. If so, its arithmetic is
    /// decorated NoContraction.
    fn declares_controls(&self) -> bool {
        let mut modes = self.module.instructions().iter().filter(|i| i.is(Op::ExecutionMode));
        modes.any(|i| i.operands(self.module.words())[1] == ExecutionMode::RoundingModeRTE as u32)
    }

    /// A type, which is declared if the module does not have it.
    fn ty(&mut self, op: Op, operands: &[u32]) -> u32 {
        let found = self.module.instructions().iter().find(|i| i.is(op) && i.operands(self.module.words()) == operands);
        if let Some(found) = found {
            return found.result;
        }
        // There are few new types, and all instructions of one opcode here have the same length.
        let wanted = [&[(operands.len() as u32 + 2) << 16 | op as u32][..], &[0], operands].concat();
        let mut at = 0;
        while at < self.declarations.len() {
            let length = (self.declarations[at] >> 16) as usize;
            let declared = &self.declarations[at..at + length];
            if declared[0] == wanted[0] && declared[2..] == wanted[2..] {
                return declared[1];
            }
            at += length;
        }
        let id = self.id();
        push_with(&mut self.declarations, op, &[id], operands);
        id
    }

    /// A constant lane of these bits.
    fn constant(&mut self, bits: u32) -> u32 {
        self.declare_typed(Op::Constant, self.lane, &[bits])
    }

    /// A constant lane with this number, as a float or as a uint.
    fn number(&mut self, n: u32) -> u32 {
        let bits = if self.has_float_lanes() { (n as f32).to_bits() } else { n };
        self.constant(bits)
    }

    fn declare_typed(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        push_with(&mut self.declarations, op, &[ty, id], operands);
        id
    }

    fn result(&mut self, code: &mut Vec<u32>, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        push_with(code, op, &[ty, id], operands);
        id
    }

    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }
}
