//! Finishes a program: numbers for labels, copies for OpPhi, and the registers that must keep the
//! values of inactive lanes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::program::{Block, Cell, Code, Edge, End, Move, NONE, Op, Program, Slot};
use super::{Compiled, Compiler, IdMeaning, PartEnd};
use crate::spirv::grammar::Op as Core;
use crate::spirv::order;

/// The most copies on all edges.
const MAX_MOVES: usize = 1 << 22;

/// A register: whether it is a set, and its number.
type Register = (bool, u32);

fn registers(slot: Slot) -> impl Iterator<Item = Register> {
    let (first, second) = match slot {
        Slot::Word(column) => ((false, column), None),
        Slot::Wide(low, high) => ((false, low), Some((false, high))),
        Slot::Truth(set) => ((true, set), None),
    };
    std::iter::once(first).chain(second)
}

/// Replaces the contents of both lists: the registers that a code writes, and those that it reads.
pub(in crate::spirv::machines::lockstep) fn registers_of(
    program: &Program,
    code: &Code,
    defines: &mut Vec<Register>,
    uses: &mut Vec<Register>,
) {
    defines.clear();
    uses.clear();
    let column = |r: u32| (r != NONE).then_some((false, r));
    let set = |r: u32| (r != NONE).then_some((true, r));
    match code.op {
        Op::Compute => {
            let site = &program.sites[code.at as usize];
            defines.extend(site.to.iter().flat_map(|&slot| registers(slot)));
            uses.extend(site.args.iter().flat_map(|(_, slots)| slots.iter()).flat_map(|&slot| registers(slot)));
        }
        op if op.compares() => {
            defines.extend(set(code.d));
            uses.extend(column(code.a).into_iter().chain(column(code.b)));
        }
        Op::AndSet | Op::OrSet | Op::EqualSet | Op::NotEqualSet | Op::NotSet | Op::CopySet | Op::UndefineSet => {
            defines.extend(set(code.d));
            uses.extend(set(code.a).into_iter().chain(set(code.b).filter(|_| code.op != Op::UndefineSet)));
        }
        Op::SelectSet => {
            defines.extend(set(code.d));
            uses.extend([set(code.a), set(code.b), set(code.c)].into_iter().flatten());
        }
        Op::Select => {
            defines.extend(column(code.d));
            uses.extend([column(code.a), column(code.b), set(code.c)].into_iter().flatten());
        }
        Op::Bound | Op::BoundRuntime => uses.extend(column(code.a)),
        Op::BoundWide => {
            defines.extend(column(code.d));
            uses.extend(column(code.a).into_iter().chain(column(code.c)));
        }
        Op::Reach => {
            defines.extend(set(code.d));
            uses.extend(column(code.a));
        }
        Op::Follow => uses.extend(program.follows[code.c as usize].pointer.map(|r| (false, r))),
        Op::Advance => {
            defines.extend(column(code.d));
            let count = program.advances[code.c as usize].count;
            uses.extend([column(code.a), column(code.b), column(count)].into_iter().flatten());
        }
        Op::PtrSame | Op::PtrApart => {
            defines.extend(if code.op == Op::PtrSame { set(code.d) } else { column(code.d) });
            uses.extend(program.pairs[code.c as usize].pointers.as_flattened().iter().map(|&r| (false, r)));
        }
        Op::Align | Op::Narrow => uses.extend(column(code.a)),
        Op::Overlap => uses.extend(program.copies[code.c as usize].ends.iter().filter_map(|place| column(place.address))),
        Op::LoadBuffer | Op::LoadBuffer16 | Op::LoadBuffer8 => {
            defines.extend(column(code.d));
            uses.extend(column(code.a).into_iter().chain(set(code.b)));
        }
        Op::LoadLocalSet | Op::LoadSharedSet => {
            defines.extend(set(code.d));
            uses.extend(column(code.a));
        }
        Op::StoreLocalSet | Op::StoreSharedSet => uses.extend(set(code.d).into_iter().chain(column(code.a))),
        Op::StoreLocal | Op::StoreShared => uses.extend(column(code.d).into_iter().chain(column(code.a))),
        Op::StoreBuffer | Op::StoreBuffer16 | Op::StoreBuffer8 => {
            uses.extend(column(code.d).into_iter().chain(column(code.a)).chain(set(code.b)));
        }
        Op::Atomic => {
            let atomic = &program.atomics[code.c as usize];
            defines.extend(column(code.d).into_iter().chain(column(atomic.high)));
            uses.extend(column(atomic.address));
            uses.extend(atomic.value.into_iter().chain(atomic.comparator).filter_map(column));
        }
        Op::Image => {
            let access = &program.images[code.c as usize];
            defines.extend(access.results.iter().flat_map(|&slot| registers(slot)));
            let choosing = access.choosing.iter().flat_map(|(_, slots)| slots);
            uses.extend(choosing.chain(&access.value).flat_map(|&slot| registers(slot)));
        }
        Op::Group => {
            let group = &program.groups[code.c as usize];
            defines.extend(group.to.iter().flat_map(|&slot| registers(slot)));
            uses.extend(group.value.iter().chain(&group.selector).flat_map(|&slot| registers(slot)));
        }
        Op::ForgetLocal | Op::ForgetSets | Op::Fence | Op::Demote | Op::Widen => {}
        Op::IsHelper => defines.extend(set(code.d)),
        Op::Undefine => {
            defines.extend(column(code.d));
            uses.extend(set(code.a));
        }
        Op::Forget | Op::Length | Op::Elements => defines.extend(column(code.d)),
        _ => {
            defines.extend(column(code.d));
            uses.extend(column(code.a).into_iter().chain(column(code.b)));
        }
    }
}

impl Op {
    /// Whether it compares columns and writes a set.
    pub(in super::super) fn compares(self) -> bool {
        use Op::*;
        matches!(
            self,
            Equal
                | NotEqual
                | LessUnsigned
                | LessEqualUnsigned
                | LessSigned
                | LessEqualSigned
                | EqualFloat
                | NotEqualFloat
                | LessFloat
                | LessEqualFloat
                | UnorderedEqualFloat
                | UnorderedNotEqualFloat
                | UnorderedLessFloat
                | UnorderedLessEqualFloat
        )
    }
}

impl Compiler<'_> {
    pub(super) fn finish(mut self, functions: &[u32]) -> Compiled<Program> {
        let module = self.module;
        // The final order of parts: functions with callees first, labels in structural order, and
        // the parts of a label in their order.
        let mut parts_of: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (number, part) in self.parts.iter().enumerate() {
            parts_of.entry(part.label).or_default().push(number);
        }
        let mut sorted = Vec::new();
        let mut number_of: FxHashMap<u32, u32> = FxHashMap::default();
        for function in functions.iter().filter_map(|&id| module.function(id)) {
            for &label in self.loops.labels(function.id).iter() {
                number_of.insert(label, sorted.len() as u32);
                sorted.extend(parts_of.get(&label).into_iter().flatten().copied());
            }
        }
        let first_block = |id: u32| module.function(id).and_then(|f| module.function_blocks(f).first()).map_or(0, |b| b.label);
        let entry = *functions.last().expect("the entry point is reached");
        self.program.entry = number_of[&first_block(entry)];
        let mut blocks = Vec::with_capacity(sorted.len());
        for (number, &at) in sorted.iter().enumerate() {
            let part = self.parts[at].clone();
            let then = number as u32 + 1;
            self.at = part.at as usize;
            let ends = match part.ends.clone() {
                PartEnd::Terminator => self.terminator(part.label, part.function, entry, &number_of)?,
                PartEnd::Barrier { orders_shared, orders_buffers, orders_images, scope, semantics } => {
                    End::Barrier { then, orders_shared, orders_buffers, orders_images, scope, semantics }
                }
                PartEnd::SubgroupBarrier { scope, semantics } => End::SubgroupBarrier { then, scope, semantics },
                PartEnd::Call { function, args } => {
                    let edge = self.edge(number_of[&first_block(function)], args.iter().map(|&(to, from)| Move { to, from }))?;
                    End::Call { edge, link: self.frames[&function].link, then }
                }
            };
            blocks.push(Block { first: part.first as u32, end: part.end as u32, count: part.count, rules: part.rules, at: part.at, ends });
            self.instance(number as u32, &part, entry)?;
        }
        self.mask();
        self.program.blocks = blocks;
        self.find_read();
        Ok(self.program)
    }

    /// Finds the scalars of the interface that are read. A copy reads its source only if its target
    /// is read. A copy without a target only checks whether there is a value.
    fn find_read(&mut self) {
        let program = &self.program;
        let register = |cell: &Cell| match *cell {
            Cell::Word(column) => Some((false, column)),
            Cell::Truth(set) => Some((true, set)),
            Cell::Local(_) => None,
        };
        // The draw reads outputs after the stage has ended.
        let outputs = program.interface.iter().flat_map(|variable| variable.cells.iter().zip(&variable.read)).filter(|(_, read)| **read);
        let mut to_visit: Vec<Register> = outputs.filter_map(|(cell, _)| register(cell)).collect();
        let mut copied: FxHashMap<Register, Vec<Register>> = FxHashMap::default();
        for step in &program.moves {
            registers(step.to).zip(registers(step.from)).for_each(|(to, from)| copied.entry(to).or_default().push(from));
        }
        let (mut defines, mut uses) = (Vec::new(), Vec::new());
        for code in &program.codes {
            registers_of(program, code, &mut defines, &mut uses);
            match (code.op, defines.first()) {
                (Op::Copy | Op::CopySet, Some(&to)) => copied.entry(to).or_default().append(&mut uses),
                (Op::Copy | Op::CopySet, None) => {}
                _ => to_visit.append(&mut uses),
            }
        }
        for block in &program.blocks {
            match &block.ends {
                End::Conditional { condition, .. } => to_visit.push((true, *condition)),
                End::Switch { selector, .. } => to_visit.extend(registers(*selector)),
                End::Call { link, .. } | End::Return { link, .. } if *link != NONE => to_visit.push((false, *link)),
                _ => {}
            }
        }
        let mut read: FxHashSet<Register> = FxHashSet::default();
        while let Some(register) = to_visit.pop() {
            if read.insert(register) {
                to_visit.extend(copied.get(&register).into_iter().flatten());
            }
        }
        let is_read = |cell: &Cell| register(cell).is_none_or(|register| read.contains(&register));
        let read_by_variable: Vec<Vec<bool>> =
            program.interface.iter().map(|variable| variable.cells.iter().map(is_read).collect()).collect();
        self.program.interface.iter_mut().zip(read_by_variable).for_each(|(variable, read)| variable.read = read);
    }

    fn terminator(&mut self, label: u32, function: u32, entry: u32, number_of: &FxHashMap<u32, u32>) -> Compiled<End> {
        let module = self.module;
        let i = module.instructions()[self.at];
        let operands = self.operands(&i);
        Ok(match i.op {
            Core::Branch => End::Branch(self.phis(label, operands[0], number_of)?),
            Core::BranchConditional => {
                let Some(&Slot::Truth(condition)) = self.value(operands[0])?.first() else { return self.unsupported("a condition") };
                let (taken, otherwise) = (self.phis(label, operands[1], number_of)?, self.phis(label, operands[2], number_of)?);
                End::Conditional { condition, taken, otherwise }
            }
            Core::Switch => {
                let selector = self.value(operands[0])?[0];
                let default = self.phis(label, operands[1], number_of)?;
                let mut cases = Vec::new();
                for (literal, target) in module.switch_cases(&i).collect::<Vec<_>>() {
                    cases.push((literal, self.phis(label, target, number_of)?));
                }
                cases.sort_by_key(|&(literal, _)| literal);
                End::Switch { selector, cases, default }
            }
            Core::Return | Core::ReturnValue => {
                let frame = self.frames[&function].clone();
                let from = match operands.first() {
                    Some(&id) => match self.passed_columns(id)? {
                        Some(slots) => slots,
                        None => self.value(id)?,
                    },
                    None => super::super::program::Slots::new(),
                };
                let edge = self.edge(0, frame.result.iter().zip(&from).map(|(&to, &from)| Move { to, from }))?;
                End::Return { link: if function == entry { NONE } else { frame.link }, edge }
            }
            Core::Kill | Core::TerminateInvocation => End::Discard,
            _ => End::Unreachable,
        })
    }

    /// The edge from one label to another, with the copies of its OpPhi.
    fn phis(&mut self, from: u32, to: u32, number_of: &FxHashMap<u32, u32>) -> Compiled<Edge> {
        let module = self.module;
        let mut moves = Vec::new();
        moves.extend(self.begin_loop(from, to)?);
        for i in module.block(to).map_or(&[][..], |b| module.code(b)) {
            if matches!(i.op, Core::Line | Core::NoLine) {
                continue;
            }
            if !i.is(Core::Phi) {
                break;
            }
            let pair = i.operands(module.words()).chunks_exact(2).find(|pair| pair[1] == from);
            let Some(pair) = pair else { return self.unsupported("an OpPhi without this parent") };
            // An unreachable definition has no registers. Its use is unreachable too.
            let values = match (self.passed_columns(pair[0])?, self.meanings.get(&pair[0]).cloned()) {
                (Some(values), _) | (None, Some(IdMeaning::Slots(values))) => values,
                _ => continue,
            };
            let to = self.value(i.result)?;
            moves.extend(to.iter().zip(&values).map(|(&to, &from)| Move { to, from }));
        }
        self.edge(number_of[&to], moves.into_iter())
    }

    fn edge(&mut self, target: u32, moves: impl Iterator<Item = Move>) -> Compiled<Edge> {
        let first = self.program.moves.len();
        self.program.moves.extend(moves.filter(|m| m.to != m.from));
        if self.program.moves.len() > MAX_MOVES {
            return self.too_many("copies on edges", MAX_MOVES as u64);
        }
        let moves = &self.program.moves[first..];
        let mut written = FxHashSet::default();
        let mut overlaps = false;
        for step in moves {
            overlaps |= registers(step.from).any(|r| written.contains(&r));
            written.extend(registers(step.to));
        }
        Ok(Edge { target, first: first as u32, end: self.program.moves.len() as u32, overlaps })
    }

    /// Marks the codes whose results are used outside of the innermost loop that computes them.
    fn mask(&mut self) {
        let loops = &self.loops;
        if loops.by_label.is_empty() {
            return;
        }
        let innermost = |label: u32| loops.by_label.get(&label).and_then(|l| l.last()).copied();
        // Columns first, then sets.
        let columns = self.program.columns as usize;
        let count = columns + self.program.sets as usize;
        let index_of = |(is_set, register): Register| if is_set { columns + register as usize } else { register as usize };
        let mut defined_in: Vec<Option<u32>> = vec![None; count];
        let (mut defines, mut uses) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let Some(header) = innermost(part.label) else { continue };
            for code in &self.program.codes[part.first..part.end] {
                registers_of(&self.program, code, &mut defines, &mut uses);
                defines.iter().for_each(|&r| defined_in[index_of(r)] = Some(header));
            }
        }
        let mut must_keep = vec![false; count];
        let mark_use = |register: Register, label: u32, must_keep: &mut Vec<bool>| {
            let at = index_of(register);
            if !must_keep[at] && defined_in[at].is_some_and(|header| !loops.contains(header, label)) {
                must_keep[at] = true;
            }
        };
        for part in &self.parts {
            for code in &self.program.codes[part.first..part.end] {
                registers_of(&self.program, code, &mut defines, &mut uses);
                uses.iter().for_each(|&r| mark_use(r, part.label, &mut must_keep));
            }
            if let PartEnd::Call { args, .. } = &part.ends {
                args.iter().flat_map(|&(_, from)| registers(from)).for_each(|r| mark_use(r, part.label, &mut must_keep));
            }
            // The terminator and the OpPhi of the next blocks read these.
            let i = &self.module.instructions()[part.at as usize];
            let operand_meanings = i.operands(self.module.words()).iter().filter_map(|id| self.meanings.get(id));
            let phi_operands: Vec<u32> = order::next(self.module, part.label, false)
                .into_iter()
                .flat_map(|to| {
                    let code = self.module.block(to).map_or(&[][..], |b| self.module.code(b));
                    let phis =
                        code.iter().take_while(|i| matches!(i.op, Core::Phi | Core::Line | Core::NoLine)).filter(|i| i.is(Core::Phi));
                    let pairs = phis.flat_map(|i| i.operands(self.module.words()).chunks_exact(2));
                    pairs.filter(|pair| pair[1] == part.label).map(|pair| pair[0]).collect::<Vec<_>>()
                })
                .collect();
            let phi_meanings = phi_operands.iter().filter_map(|id| self.meanings.get(id));
            let pointer_slots =
                i.operands(self.module.words()).iter().chain(phi_operands.iter()).filter_map(|id| self.pointer_columns.get(id));
            pointer_slots.flatten().flat_map(|&slot| registers(slot)).for_each(|r| mark_use(r, part.label, &mut must_keep));
            for meaning in operand_meanings.chain(phi_meanings) {
                if let IdMeaning::Slots(slots) = meaning {
                    slots.iter().flat_map(|&slot| registers(slot)).for_each(|r| mark_use(r, part.label, &mut must_keep));
                }
            }
        }
        let mut masked = Vec::new();
        for (number, code) in self.program.codes.iter().enumerate() {
            registers_of(&self.program, code, &mut defines, &mut uses);
            if defines.iter().any(|&r| must_keep[index_of(r)]) {
                masked.push(number);
            }
        }
        masked.into_iter().for_each(|number| self.program.codes[number].masked = true);
    }
}
