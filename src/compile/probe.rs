//! The pass `probe`: SPIR-V → SPIR-V that shows one intermediate value beside what
//! the module shows anyway.
//!
//! A device shows no intermediates. The adapted module computes everything that the original
//! computes, in the same blocks; where the probed id has just been computed for the k-th time, its
//! value goes into a private variable, and from there, at the end, to an output. No block, branch
//! or OpPhi is added, no id changes, and new ids are above the old bound.
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
//! The counter is a float: it is exact up to 2^24, and no integer type is needed. Booleans show as
//! 1 and 0, a matrix one column at a time.
//!
//! Invariant: run by the interpreter, original and adapted module show the same on their common
//! outputs, and the adapted one shows the probed value; whoever uses the pass checks it.

use rspirv::spirv::{Decoration, ExecutionMode, StorageClass};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::module::{EntryPoint, Interface};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::{Instruction, Module};

/// The most executions of one instruction that a float can count.
pub const MAX_OCCURRENCE: u32 = 1 << 24;

/// What to show, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The result id of an instruction in the entry point's function, of floats or Booleans.
    pub id: u32,
    /// Which of its executions in one invocation, from 0; `None` if no engine can execute it more
    /// than once.
    pub occurrence: Option<u32>,
    /// Which column of a matrix; 0 for everything else.
    pub column: u32,
    /// The location of the output that shows the value as a vec4, padded with zeros. If the module
    /// has such an output, that one shows the value in place of its own; else one is added.
    pub location: u32,
    /// The bits that all four lanes show if the value is never computed.
    pub marker: u32,
}

/// Why a module cannot be probed: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotProbe(pub String);

impl std::fmt::Display for CannotProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotProbe {}

/// The words of the module that shows the probed value.
///
/// Errors: the id is not computed in the entry point's function, is neither float nor Boolean, or
/// ids or executions are more than can be counted.
pub fn adapt(module: &Module, entry: &str, probe: &Probe) -> Result<Vec<u32>, CannotProbe> {
    let refuse = |why: String| Err(CannotProbe(why));
    let entry = module.entry_point(entry).map_err(|e| CannotProbe(e.to_string()))?;
    let shape = module.shape(probe.id);
    let Some(defined) = module.definition(probe.id).filter(|&i| in_function(module, entry, i)) else {
        return refuse(format!("%{} is not computed in the entry point's function", probe.id));
    };
    if !shape.is_lanes() || probe.column >= u32::from(shape.columns) {
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

/// The index of the instruction before which code stands that comes right after instruction
/// `index`: of an OpPhi, after the last one of its block.
fn after(module: &Module, index: usize) -> usize {
    let code = &module.instructions()[index..];
    if !code[0].is(Op::Phi) {
        return index + 1;
    }
    let group = code.iter().take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine));
    let last = group.enumerate().filter(|(_, i)| i.is(Op::Phi)).map(|(n, _)| n).last();
    index + last.unwrap_or(0) + 1
}

/// A module being adapted: what is declared anew, by section.
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
    float: u32,
    vec4: u32,
}

impl<'m> Adapter<'m> {
    fn new(module: &'m Module, entry: &'m EntryPoint, probe: Probe, shape: Shape) -> Adapter<'m> {
        let next = module.header().bound;
        let (declarations, decorations, interface) = (Vec::new(), Vec::new(), Vec::new());
        let mut adapter = Adapter { module, entry, probe, shape, next, declarations, decorations, interface, float: 0, vec4: 0 };
        adapter.float = adapter.ty(Op::TypeFloat, &[32]);
        adapter.vec4 = adapter.ty(Op::TypeVector, &[adapter.float, 4]);
        adapter
    }

    /// The adapted words; the value is caught before instruction `catch`.
    fn module(mut self, catch: usize) -> Result<Vec<u32>, CannotProbe> {
        let seen_type = self.ty(Op::TypePointer, &[StorageClass::Private as u32, self.vec4]);
        let marker = self.constant(self.probe.marker);
        let markers = self.declare_typed(Op::ConstantComposite, self.vec4, &[marker; 4]);
        let seen = self.declare_typed(Op::Variable, seen_type, &[StorageClass::Private as u32, markers]);
        let output = self.output()?;
        let mut caught = Vec::new();
        self.catch(seen, &mut caught);
        if self.module.header().minor >= 4 {
            self.interface.push(seen);
        }

        let words = self.module.words();
        let instructions = self.module.instructions();
        let is_declaration = |i: &Instruction| {
            let name = i.name();
            name.starts_with("OpType") || name.starts_with("OpConstant") || i.is(Op::Variable) || i.is(Op::Function)
        };
        let annotations_end = instructions.iter().position(is_declaration).unwrap_or(instructions.len());
        let declarations_end = instructions.iter().position(|i| i.is(Op::Function)).unwrap_or(instructions.len());
        let mut out = Vec::with_capacity(words.len() + self.declarations.len() + caught.len() + 64);
        out.extend_from_slice(&words[..5]);
        for (index, i) in instructions.iter().enumerate() {
            if index == annotations_end {
                out.extend_from_slice(&self.decorations);
            }
            if index == declarations_end {
                out.extend_from_slice(&self.declarations);
            }
            if index == catch {
                out.extend_from_slice(&caught);
            }
            if i.is(Op::Return) && in_function(self.module, self.entry, index) {
                let value = self.result(&mut out, Op::Load, self.vec4, &[seen]);
                push(&mut out, Op::Store, &[output, value]);
            }
            let from = out.len();
            out.extend_from_slice(i.words(words));
            if index == self.entry.instruction as usize {
                let grown = u32::from(i.word_count) + self.interface.len() as u32;
                if grown > u32::from(u16::MAX) {
                    return Err(CannotProbe("the entry point's interface is as long as an instruction can be".into()));
                }
                out[from] = grown << 16 | Op::EntryPoint as u32;
                out.extend_from_slice(&self.interface);
            }
        }
        if self.next > smallstep_semantics::spirv::words::MAX_ID_BOUND {
            return Err(CannotProbe("the module has as many ids as a module may have".into()));
        }
        out[3] = self.next;
        Ok(out)
    }

    /// The code that keeps the value, if this is the execution that is asked for.
    fn catch(&mut self, seen: u32, code: &mut Vec<u32>) {
        let value = self.as_vec4(code);
        let Some(occurrence) = self.probe.occurrence else {
            return push(code, Op::Store, &[seen, value]);
        };
        let count_type = self.ty(Op::TypePointer, &[StorageClass::Private as u32, self.float]);
        let zero = self.constant(0);
        let one = self.constant(1.0f32.to_bits());
        let wanted = self.constant((occurrence as f32).to_bits());
        let count = self.declare_typed(Op::Variable, count_type, &[StorageClass::Private as u32, zero]);
        if self.module.header().minor >= 4 {
            self.interface.push(count);
        }
        let boolean = self.ty(Op::TypeBool, &[]);
        let booleans = self.ty(Op::TypeVector, &[boolean, 4]);
        let n = self.result(code, Op::Load, self.float, &[count]);
        let here = self.result(code, Op::FOrdEqual, boolean, &[n, wanted]);
        let four = self.result(code, Op::CompositeConstruct, booleans, &[here; 4]);
        let old = self.result(code, Op::Load, self.vec4, &[seen]);
        let new = self.result(code, Op::Select, self.vec4, &[four, value, old]);
        push(code, Op::Store, &[seen, new]);
        let more = self.result(code, Op::FAdd, self.float, &[n, one]);
        if self.declares_controls() {
            push(&mut self.decorations, Op::Decorate, &[more, Decoration::NoContraction as u32]);
        }
        push(code, Op::Store, &[count, more]);
    }

    /// The probed value, or its column, as four floats.
    fn as_vec4(&mut self, code: &mut Vec<u32>) -> u32 {
        let Probe { id, column, .. } = self.probe;
        let Shape { scalar, rows, columns } = self.shape;
        if scalar == Scalar::Bool {
            let boolean = self.ty(Op::TypeBool, &[]);
            let (zero, one) = (self.constant(0), self.constant(1.0f32.to_bits()));
            let mut lanes = [zero; 4];
            for (n, lane) in lanes.iter_mut().take(rows.into()).enumerate() {
                let truth = if rows == 1 { id } else { self.result(code, Op::CompositeExtract, boolean, &[id, n as u32]) };
                *lane = self.result(code, Op::Select, self.float, &[truth, one, zero]);
            }
            return self.result(code, Op::CompositeConstruct, self.vec4, &lanes);
        }
        let vector = match columns {
            1 => id,
            _ => {
                let column_type = self.ty(Op::TypeVector, &[self.float, rows.into()]);
                self.result(code, Op::CompositeExtract, column_type, &[id, column])
            }
        };
        if rows == 4 {
            return vector;
        }
        let zero = self.constant(0);
        let mut parts = vec![vector];
        parts.resize(1 + 4 - usize::from(rows), zero);
        self.result(code, Op::CompositeConstruct, self.vec4, &parts)
    }

    /// The output variable that shows the value.
    fn output(&mut self) -> Result<u32, CannotProbe> {
        let location = self.probe.location;
        let pointer = self.ty(Op::TypePointer, &[StorageClass::Output as u32, self.vec4]);
        let is_output = |i: &&Instruction| i.is(Op::Variable) && self.module.interface(i.result) == Some(Interface::Output(location));
        if let Some(variable) = self.module.instructions().iter().find(is_output) {
            return match variable.result_type == pointer {
                true => Ok(variable.result),
                false => Err(CannotProbe(format!("the output at location {location} is no vec4 of floats"))),
            };
        }
        let output = self.declare_typed(Op::Variable, pointer, &[StorageClass::Output as u32]);
        push(&mut self.decorations, Op::Decorate, &[output, Decoration::Location as u32, location]);
        self.interface.push(output);
        Ok(output)
    }

    /// Whether the module declares how floats round: its arithmetic
    /// is then decorated NoContraction.
    fn declares_controls(&self) -> bool {
        let mut modes = self.module.instructions().iter().filter(|i| i.is(Op::ExecutionMode));
        modes.any(|i| i.operands(self.module.words())[1] == ExecutionMode::RoundingModeRTE as u32)
    }

    /// The type, declared if the module does not have it.
    fn ty(&mut self, op: Op, operands: &[u32]) -> u32 {
        let found = self.module.instructions().iter().find(|i| i.is(op) && i.operands(self.module.words()) == operands);
        if let Some(found) = found {
            return found.result;
        }
        // Of the types declared here there are few, and each instruction is as long as the other of
        // its kind.
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

    fn constant(&mut self, bits: u32) -> u32 {
        self.declare_typed(Op::Constant, self.float, &[bits])
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

fn push(code: &mut Vec<u32>, op: Op, operands: &[u32]) {
    push_with(code, op, operands, &[]);
}

fn push_with(code: &mut Vec<u32>, op: Op, first: &[u32], rest: &[u32]) {
    code.push((first.len() as u32 + rest.len() as u32 + 1) << 16 | op as u32);
    code.extend_from_slice(first);
    code.extend_from_slice(rest);
}
