//! Compiles an entry point: registers, resolved pointers, blocks, and the copies on each edge.

use rspirv::spirv::Decoration as Decorate;

use super::{Action, Bounds, Code, CompiledBlock, Edge, End, Fault, Program, Slot, Variable};
use crate::number::{Lane, Lanes};
use crate::outcome::Limit;
use crate::spirv::error::{LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::module::{Block, Interface, Module, WHOLE};
use crate::spirv::operation;
use crate::spirv::subset;
use crate::spirv::words::Instruction;

/// The most lanes of a program's registers.
const MAX_LANES: usize = 1 << 22;

/// A resolved pointer.
#[derive(Clone, Copy, Debug)]
struct Address {
    /// The index of the variable among the program's variables.
    variable: u32,
    /// The id of the type that it points to.
    pointee: u32,
    /// The offset from the start of the variable, in bytes.
    offset: u64,
    /// The distance between columns of a matrix, in bytes.
    matrix_stride: u32,
}

/// What the result of an instruction became.
#[derive(Clone, Copy, Debug, Default)]
enum ResultPlace {
    #[default]
    Nowhere,
    Register(Slot),
    Address(u32),
}

struct Compiler<'m> {
    module: &'m Module,
    first_block: u32,
    program: Program,
    /// By instruction.
    result_places: Vec<ResultPlace>,
    addresses: Vec<Address>,
}

/// Compiles an entry point of a loaded module.
pub(super) fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
    subset::lambda_v(module)?;
    let function = module.blocks
        [module.block_of[module.definition(module.entry_block(module.entry_point(entry)?).label).unwrap_or(0)] as usize]
        .function;
    let function = module.functions[function as usize];
    let blocks = &module.blocks[function.first_block as usize..function.end_block as usize];
    let count = blocks.last().map_or(0, |b| b.end) as usize;
    let mut compiler = Compiler {
        module,
        first_block: function.first_block,
        program: Program {
            blocks: Vec::with_capacity(blocks.len()),
            code: Vec::with_capacity(count - blocks.first().map_or(0, |b| b.start) as usize),
            results: Vec::with_capacity(count - blocks.first().map_or(0, |b| b.start) as usize),
            edges: vec![Edge::default(); 2 * blocks.len()],
            moves: Vec::new(),
            parts: Vec::new(),
            faults: Vec::new(),
            variables: Vec::new(),
            initial: Vec::with_capacity(2 * count),
        },
        result_places: vec![ResultPlace::Nowhere; module.instructions.len()],
        addresses: Vec::new(),
    };
    compiler.globals(blocks[0].start as usize)?;
    for block in blocks {
        compiler.results(block)?;
    }
    for (node, block) in blocks.iter().enumerate() {
        compiler.block(node as u32, block);
    }
    compiler.phis(blocks);
    Ok(compiler.program)
}

impl Compiler<'_> {
    fn operands(&self, i: &Instruction) -> &[u32] {
        i.operands(&self.module.words)
    }

    fn index(&self, id: u32) -> usize {
        self.module.definition(id).expect("load has checked that every id is defined")
    }

    fn register(&self, id: u32) -> Slot {
        match self.result_places[self.index(id)] {
            ResultPlace::Register(slot) => slot,
            place => panic!("load has checked that %{id} is a number or Boolean, but it is {place:?}"),
        }
    }

    /// The address of a pointer. `None` if its access chain is always out of bounds.
    fn address(&self, id: u32) -> Option<Address> {
        match self.result_places[self.index(id)] {
            ResultPlace::Address(address) => Some(self.addresses[address as usize]),
            _ => None,
        }
    }

    fn allocate(&mut self, lanes: usize, columns: u8) -> Result<Slot, LoadError> {
        let start = self.program.initial.len();
        if start + lanes > MAX_LANES {
            return Err(LoadError::Limit(Limit { what: "register lanes", bound: MAX_LANES as u64 }));
        }
        self.program.initial.resize(start + lanes, Lane::truth(false));
        Ok(Slot { start: start as u32, lanes: lanes as u8, columns })
    }

    /// Allocates constants and variables, which precede the entry point's function.
    fn globals(&mut self, end: usize) -> Result<(), LoadError> {
        for index in 0..end {
            let i = self.module.instructions[index];
            if i.is(Op::Variable) {
                let Some(interface) = self.module.interface(i.result) else { continue };
                let pointee = self.module.pointer_type(i.result_type).map_or(0, |(_, pointee)| pointee);
                let slot = match interface {
                    Interface::Output(_) | Interface::Private => self.allocate(self.module.shape(pointee).lanes(), 1)?,
                    _ => Slot::default(),
                };
                if let Some(lanes) = self.module.initial_lanes(i.result) {
                    slot.of_mut(&mut self.program.initial).copy_from_slice(&lanes);
                }
                let needed = self.module.buffer_size(i.result);
                let variable = self.program.variables.len() as u32;
                self.program.variables.push(Variable { id: i.result, interface, needed, slot });
                self.result_places[index] = ResultPlace::Address(self.addresses.len() as u32);
                self.addresses.push(Address { variable, pointee, offset: 0, matrix_stride: 0 });
            } else if self.module.is_lane_constant(index) {
                let shape = self.module.shapes[index];
                let slot = self.allocate(shape.lanes(), shape.columns)?;
                let mut lanes = Lanes::new();
                self.module.constant_lanes(&i, &mut lanes);
                slot.of_mut(&mut self.program.initial).copy_from_slice(&lanes);
                self.result_places[index] = ResultPlace::Register(slot);
            }
        }
        Ok(())
    }

    /// Allocates a register for each result of the block.
    fn results(&mut self, block: &Block) -> Result<(), LoadError> {
        for index in block.start as usize..block.end as usize {
            let shape = self.module.shapes[index];
            if self.module.instructions[index].result != 0 && shape.is_lanes() {
                self.result_places[index] = ResultPlace::Register(self.allocate(shape.lanes(), shape.columns)?);
            }
        }
        Ok(())
    }

    fn block(&mut self, node: u32, block: &Block) {
        let first = self.program.code.len() as u32;
        let (mut step, mut index) = (0u32, block.start as usize);
        let mut ends = End::Return;
        while index < block.end as usize {
            let i = self.module.instructions[index];
            match i.op {
                Op::Phi => index += self.phi_group(index, block.end as usize) - 1,
                Op::Nop | Op::Line | Op::NoLine | Op::SelectionMerge | Op::LoopMerge => {}
                Op::Branch => {
                    let target = self.operands(&i)[0];
                    ends = End::Branch(self.edge(2 * node, target));
                }
                Op::BranchConditional => {
                    let &[condition, taken, otherwise, ..] = self.operands(&i) else { continue };
                    let (id, condition) = (condition, self.register(condition).start);
                    let first = self.edge(2 * node, taken);
                    let second = if taken == otherwise { first } else { self.edge(2 * node + 1, otherwise) };
                    ends = End::Conditional { id, condition, taken: first, otherwise: second };
                }
                Op::Return => ends = End::Return,
                Op::Unreachable => ends = End::Unreachable(self.module.place(index)),
                _ => self.instruction(index, &i, step),
            }
            step += 1;
            index += 1;
        }
        let end = self.program.code.len() as u32;
        self.program.blocks.push(CompiledBlock { first, end, steps: step, ends });
    }

    /// The number of instructions that the OpPhi from `start` on take, including OpLine
    /// between them.
    fn phi_group(&self, start: usize, end: usize) -> usize {
        let mut length = 1;
        for (n, i) in self.module.instructions[start..end].iter().enumerate() {
            match i.op {
                Op::Phi => length = n + 1,
                Op::Line | Op::NoLine => {}
                _ => break,
            }
        }
        length
    }

    fn edge(&mut self, edge: u32, label: u32) -> u32 {
        self.program.edges[edge as usize].target = self.node(label);
        edge
    }

    fn node(&self, label: u32) -> u32 {
        self.module.block_of[self.index(label)] - self.first_block
    }

    fn push(&mut self, result: u32, action: Action, step: u32) {
        self.program.code.push(Code { action, step });
        self.program.results.push(result);
    }

    fn instruction(&mut self, index: usize, i: &Instruction, step: u32) {
        let module = self.module;
        let operands = i.operands(&module.words);
        let to = match self.result_places[index] {
            ResultPlace::Register(slot) => slot,
            _ => Slot::default(),
        };
        let operation = match i.op {
            Op::ExtInst => operation::glsl(operands[1]).and_then(|o| Some((o.op?, &operands[2..]))),
            op => operation::core(op).and_then(|o| Some((o.op?, operands))),
        };
        if let Some((op, ids)) = operation {
            let mut args = [Slot::default(); 3];
            for (arg, &id) in args.iter_mut().zip(ids) {
                *arg = self.register(id);
            }
            self.push(i.result, Action::Apply { op, to, args, count: ids.len() as u8 }, step);
            return;
        }
        match i.op {
            Op::CompositeConstruct => {
                let first = self.program.parts.len() as u32;
                for &id in operands {
                    let part = self.register(id);
                    self.program.parts.push(part);
                }
                let end = self.program.parts.len() as u32;
                self.push(i.result, Action::Gather { to, first, end }, step);
            }
            Op::CompositeExtract => {
                let from = self.register(operands[0]);
                let rows = from.lanes / from.columns;
                let skip = match (&operands[1..], from.columns) {
                    (&[component], 1) => component,
                    (&[column], _) => column * u32::from(rows),
                    (indices, _) => indices[0] * u32::from(rows) + indices[1],
                };
                self.push(i.result, Action::Copy { to, from: Slot { start: from.start + skip, lanes: to.lanes, columns: 1 } }, step);
            }
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(index, i, step),
            Op::Load => {
                let Some(address) = self.address(operands[0]) else { return };
                let action = match self.program.variables[address.variable as usize].interface {
                    Interface::Private => Action::Copy { to, from: self.program.variables[address.variable as usize].slot },
                    Interface::FragCoord => Action::Coordinate { to, first: (address.offset / 4) as u32 },
                    _ => Action::Fetch { to, variable: address.variable, offset: address.offset, stride: address.matrix_stride },
                };
                self.push(i.result, action, step);
            }
            Op::Store => {
                let Some(address) = self.address(operands[0]) else { return };
                let from = self.register(operands[1]);
                self.push(i.result, Action::Store { variable: address.variable, from }, step);
            }
            op => panic!("load has checked that the machine knows Op{op:?}"),
        }
    }

    fn access_chain(&mut self, at: usize, i: &Instruction, step: u32) {
        let module = self.module;
        let operands = i.operands(&module.words);
        let Some(mut address) = self.address(operands[0]) else { return };
        for &id in &operands[1..] {
            // An index counts as signed, whatever its type.
            let unused = 64 - module.type_of(id).and_then(|ty| module.types().get(ty)?.width()).map_or(64, u32::from);
            let index = module.integer(id).map_or(-1, |n| (n << unused) >> unused);
            let type_ = &module.instructions[self.index(address.pointee)];
            let parts = type_.operands(&module.words);
            let place = module.place(at);
            let stride = match type_.op {
                Op::TypeArray | Op::TypeRuntimeArray => module.decoration(address.pointee, WHOLE, Decorate::ArrayStride).unwrap_or(0),
                Op::TypeMatrix => address.matrix_stride,
                _ => 4,
            };
            let count = match type_.op {
                Op::TypeStruct => parts.len() as u64,
                Op::TypeArray => module.integer(parts[1]).unwrap_or(0) as u64,
                Op::TypeRuntimeArray => {
                    let bounds = Bounds::Runtime { variable: address.variable, offset: address.offset, stride };
                    self.check(i, index, id, bounds, place, step);
                    u64::MAX
                }
                _ => u64::from(parts[1]),
            };
            if index < 0 || index as u64 >= count {
                self.check(i, index, id, Bounds::Count(count), place, step);
                return;
            }
            if type_.is(Op::TypeStruct) {
                let member = index as u32;
                address.offset += u64::from(module.decoration(address.pointee, member, Decorate::Offset).unwrap_or(0));
                address.matrix_stride = module.decoration(address.pointee, member, Decorate::MatrixStride).unwrap_or(0);
                address.pointee = parts[member as usize];
            } else {
                address.offset += u64::from(stride) * index as u64;
                address.pointee = parts[0];
            }
        }
        self.result_places[at] = ResultPlace::Address(self.addresses.len() as u32);
        self.addresses.push(address);
    }

    fn check(&mut self, i: &Instruction, index: i64, id: u32, bounds: Bounds, at: Place, step: u32) {
        let fault = self.program.faults.len() as u32;
        self.program.faults.push(Fault { at, result: i.result, op: i.op, index, id, bounds });
        self.push(i.result, Action::Check { fault }, step);
    }

    /// Turns OpPhi into copies on the edges to their blocks.
    fn phis(&mut self, blocks: &[Block]) {
        let module = self.module;
        // Copies with their edges, in the order of the OpPhi. They are then grouped by edge, in
        // the same order.
        let mut copies: Vec<(u32, Slot, Slot)> = Vec::new();
        for (node, block) in blocks.iter().enumerate() {
            for i in module.code(block).iter().take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine)) {
                if !i.is(Op::Phi) {
                    continue;
                }
                let to = self.register(i.result);
                for pair in i.operands(&module.words).chunks_exact(2) {
                    let first = 2 * self.node(pair[1]);
                    let edge = match self.program.edges[first as usize].target == node as u32 {
                        true => first,
                        false => first + 1,
                    };
                    copies.push((edge, to, self.register(pair[0])));
                }
            }
        }
        copies.sort_by_key(|&(edge, ..)| edge);
        let mut written: Vec<u32> = if copies.is_empty() { Vec::new() } else { vec![u32::MAX; self.program.initial.len()] };
        for group in copies.chunk_by(|a, b| a.0 == b.0) {
            let edge = &mut self.program.edges[group[0].0 as usize];
            edge.first_move = self.program.moves.len() as u32;
            for &(number, to, from) in group {
                edge.through_scratch |= written[from.start as usize] == number;
                written[to.start as usize] = number;
                self.program.moves.push((to, from));
            }
            edge.end_move = self.program.moves.len() as u32;
        }
    }
}
