//! The reducer: makes a SPIR-V module, or a program in λV or WSL, smaller while it stays valid
//! and interesting.
//!
//! A pass derives smaller candidates from the smallest module so far. A candidate that the loader
//! accepts and the caller finds interesting replaces it. Passes take turns until none of them finds
//! a smaller module:
//!
//! | pass | candidates |
//! |---|---|
//! | bodies, globals | without a stretch of instructions: half of them, a quarter, and so on |
//! | functions | without a function |
//! | branches | one way of a branch, its merge block, or a return, without the unreachable blocks |
//! | straight | a block joined with its only predecessor |
//! | values | an operand or a constant in place of a result |
//! | capabilities | without a capability that the module does not need; extensions stay |
//! | constants | a smaller constant; one invocation in a workgroup |
//!
//! A module is smaller if its bodies have fewer instructions, or as many and the module has fewer
//! words. The sizes of constants do not count.

mod source;

pub use source::{judged_text, reduced_text};

use smallstep_semantics::outcome::{InputFault, InvalidInput, TimeLimit};
use std::collections::BTreeSet;
use std::ops::Range;

use rspirv::binary::Assemble;
use rspirv::dr::{self, Block, Instruction, Operand};
use rspirv::spirv::{Capability, ExecutionMode, Op, Word};
use smallstep_semantics::spirv::Module;

/// The most constants that are tried in the place of one result.
const CONSTANTS: usize = 3;

/// A reduced program: a module or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced<P> {
    /// The words of the module, or the text.
    pub program: P,
    /// How many valid candidates the caller was asked about.
    pub questions: u64,
    /// Whether the time ended before the passes did.
    pub cut_short: bool,
}

/// Makes a module smaller while `interesting` holds for its words, until a time limit.
/// `interesting` is called only with modules that load.
///
/// # Errors
/// The words cannot be parsed, the module is not valid, or it is not interesting itself.
pub fn reduced(
    words: &[u32],
    until: Option<TimeLimit>,
    interesting: &mut dyn FnMut(&[u32]) -> bool,
) -> Result<Reduced<Vec<u32>>, InvalidInput> {
    let best =
        dr::load_words(words).map_err(|e| InvalidInput::new(InputFault::Program, format!("the module cannot be taken apart: {e}")))?;
    let again = best.assemble();
    Module::load(&again).map_err(|e| InvalidInput::new(InputFault::Program, format!("the module is not valid: {e}")))?;
    if !interesting(&again) {
        return Err(InvalidInput::new(InputFault::Uninteresting, "the module is not interesting itself"));
    }
    let mut reducer = Reducer { size: size(&best), best, until, interesting, questions: 1 };
    loop {
        let before = reducer.size;
        reducer.functions();
        reducer.bodies();
        reducer.branches();
        reducer.straight();
        reducer.values();
        reducer.globals();
        reducer.capabilities();
        if reducer.size == before || reducer.is_over() {
            break;
        }
    }
    reducer.constants();
    let cut_short = reducer.is_over();
    Ok(Reduced { program: reducer.best.assemble(), questions: reducer.questions, cut_short })
}

/// The number of instructions in bodies, and the number of words.
type Size = (usize, usize);

fn size(module: &dr::Module) -> Size {
    let bodies = module.functions.iter().flat_map(|f| &f.blocks).map(|b| b.instructions.len() + 1).sum();
    (bodies, module.assemble().len())
}

struct Reducer<'i> {
    best: dr::Module,
    size: Size,
    until: Option<TimeLimit>,
    interesting: &'i mut dyn FnMut(&[u32]) -> bool,
    questions: u64,
}

/// The lists of instructions outside of functions.
const LISTS: [fn(&mut dr::Module) -> &mut Vec<Instruction>; 8] = [
    |m| &mut m.debug_module_processed,
    |m| &mut m.debug_names,
    |m| &mut m.debug_string_source,
    |m| &mut m.entry_points,
    |m| &mut m.execution_modes,
    |m| &mut m.annotations,
    |m| &mut m.types_global_values,
    |m| &mut m.ext_inst_imports,
];

fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::Unreachable
            | Op::TerminateInvocation
    )
}

fn is_merge(op: Op) -> bool {
    matches!(op, Op::SelectionMerge | Op::LoopMerge)
}

impl Reducer<'_> {
    fn is_over(&self) -> bool {
        TimeLimit::passed(self.until).is_some()
    }

    /// Accepts a candidate if it is smaller, valid and interesting.
    fn accept(&mut self, candidate: dr::Module) -> bool {
        let size = size(&candidate);
        if size >= self.size || !self.is_interesting(&candidate) {
            return false;
        }
        (self.best, self.size) = (candidate, size);
        true
    }

    fn is_interesting(&mut self, candidate: &dr::Module) -> bool {
        if self.is_over() {
            return false;
        }
        let words = candidate.assemble();
        if Module::load(&words).is_err() {
            return false;
        }
        self.questions += 1;
        (self.interesting)(&words)
    }

    /// Removes stretches, of ever shorter length, from the end to the start. A definition precedes
    /// its uses, so uses are removed first.
    fn stretches(&mut self, count: &dyn Fn(&dr::Module) -> usize, without: &dyn Fn(&dr::Module, Range<usize>) -> dr::Module) {
        let mut stretch = count(&self.best);
        while stretch > 0 && !self.is_over() {
            let mut end = count(&self.best);
            while end > 0 {
                let start = end.saturating_sub(stretch);
                self.accept(without(&self.best, start..end));
                end = start;
            }
            stretch /= 2;
        }
    }

    fn globals(&mut self) {
        for list in LISTS {
            let count = |module: &dr::Module| list(&mut module.clone()).len();
            let without = |module: &dr::Module, range: Range<usize>| {
                let mut module = module.clone();
                let removed = list(&mut module).drain(range).filter_map(|i| i.result_id).collect();
                forget(&mut module, &removed);
                module
            };
            self.stretches(&count, &without);
        }
    }

    /// Removes capabilities that the module does not need.
    fn capabilities(&mut self) {
        let needed = needed_capabilities(&self.best);
        let declared = |i: &Instruction| match i.operands.first() {
            Some(Operand::Capability(capability)) => Some(*capability),
            _ => None,
        };
        let unneeded: Vec<Capability> = self.best.capabilities.iter().filter_map(declared).filter(|c| !needed.contains(c)).collect();
        for capability in unneeded {
            let mut candidate = self.best.clone();
            candidate.capabilities.retain(|i| declared(i) != Some(capability));
            self.accept(candidate);
        }
    }

    fn functions(&mut self) {
        for at in (0..self.best.functions.len()).rev() {
            let mut candidate = self.best.clone();
            let id = candidate.functions[at].def_id();
            candidate.functions.remove(at);
            forget(&mut candidate, &id.into_iter().collect());
            self.accept(candidate);
        }
    }

    /// Removes instructions of bodies, with the names and decorations of their results. Merge
    /// instructions and terminators stay.
    fn bodies(&mut self) {
        let plain = |i: &Instruction| !is_terminator(i.class.opcode) && !is_merge(i.class.opcode);
        let count = |module: &dr::Module| {
            module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions).filter(|i| plain(i)).count()
        };
        let without = |module: &dr::Module, range: Range<usize>| {
            let mut module = module.clone();
            let (mut at, mut removed) = (0, BTreeSet::new());
            for block in module.functions.iter_mut().flat_map(|f| &mut f.blocks) {
                block.instructions.retain(|i| {
                    if !plain(i) {
                        return true;
                    }
                    at += 1;
                    let is_removed = range.contains(&(at - 1));
                    if is_removed {
                        removed.extend(i.result_id);
                    }
                    !is_removed
                });
            }
            forget(&mut module, &removed);
            module
        };
        self.stretches(&count, &without);
    }

    fn branches(&mut self) {
        let mut function = 0;
        while function < self.best.functions.len() {
            let mut block = 0;
            while self.best.functions[function].blocks.get(block).is_some() && !self.is_over() {
                let found = &self.best.functions[function].blocks[block];
                let end = found.instructions.last();
                let merge = found.instructions.iter().find(|i| is_merge(i.class.opcode)).and_then(|i| i.operands.first()?.id_ref_any());
                let mut ways: Vec<Option<Word>> = merge.into_iter().chain(end.map(targets).unwrap_or_default()).map(Some).collect();
                ways.dedup();
                if end.is_some_and(|end| !matches!(end.class.opcode, Op::Return | Op::Unreachable)) {
                    ways.push(None);
                }
                for way in ways {
                    if self.accept(one_way(&self.best, function, block, way)) {
                        break;
                    }
                }
                block += 1;
            }
            function += 1;
        }
    }

    fn straight(&mut self) {
        for function in 0..self.best.functions.len() {
            let mut block = 0;
            while block < self.best.functions[function].blocks.len() {
                let accepted = joined(&self.best, function, block).is_some_and(|candidate| self.accept(candidate));
                block += usize::from(!accepted);
            }
        }
    }

    /// Replaces a result by an operand of the same type, or by a constant.
    fn values(&mut self) {
        let results = |module: &dr::Module| -> Vec<(Word, Word)> {
            let bodies = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions);
            bodies.filter_map(|i| Some((i.result_id?, i.result_type?))).collect()
        };
        for (result, type_) in results(&self.best).into_iter().rev() {
            if self.is_over() {
                return;
            }
            let Some(instruction) = body_of(&self.best).find(|i| i.result_id == Some(result)) else { continue };
            let typed = |id: Word| self.best.all_inst_iter().any(|i| i.result_id == Some(id) && i.result_type == Some(type_));
            let operands = instruction.operands.iter().filter_map(Operand::id_ref_any).filter(|&id| id != result && typed(id));
            let globals = self.best.types_global_values.iter().filter(|i| i.result_type == Some(type_) && i.class.opcode != Op::Variable);
            let constants: Vec<Word> = globals.filter_map(|i| i.result_id).collect();
            let mut others: Vec<Option<Word>> = operands.chain(constants.iter().copied().take(CONSTANTS)).map(Some).collect();
            if constants.is_empty() {
                others.push(None);
            }
            for other in others {
                let mut candidate = self.best.clone();
                let other = other.unwrap_or_else(|| null(&mut candidate, type_));
                for block in candidate.functions.iter_mut().flat_map(|f| &mut f.blocks) {
                    block.instructions.retain(|i| i.result_id != Some(result));
                }
                candidate.functions.iter_mut().flat_map(|f| f.all_inst_iter_mut()).for_each(|i| replace(i, result, other));
                forget(&mut candidate, &BTreeSet::from([result]));
                if self.accept(candidate) {
                    break;
                }
            }
        }
    }

    /// Tries smaller constants, each once. They do not reduce the size of the module.
    fn constants(&mut self) {
        for at in 0..self.best.types_global_values.len() {
            let constant = &self.best.types_global_values[at];
            let value = match (constant.class.opcode, constant.operands.first()) {
                (Op::Constant, Some(&Operand::LiteralBit32(bits))) => bits,
                _ => continue,
            };
            for smaller in [0, 1, value / 2].into_iter().filter(|&smaller| smaller < value) {
                let mut candidate = self.best.clone();
                candidate.types_global_values[at].operands[0] = Operand::LiteralBit32(smaller);
                if self.is_interesting(&candidate) {
                    self.best = candidate;
                    break;
                }
            }
        }
        for at in 0..self.best.execution_modes.len() {
            let mut candidate = self.best.clone();
            let operands = &mut candidate.execution_modes[at].operands;
            if operands.get(1) != Some(&Operand::ExecutionMode(ExecutionMode::LocalSize)) {
                continue;
            }
            operands[2..].fill(Operand::LiteralBit32(1));
            if self.is_interesting(&candidate) {
                self.best = candidate;
            }
        }
    }
}

/// The capabilities that a module may need: Shader, the capabilities that the grammar lists for an
/// instruction or an operand, of integer and float widths, and of accesses to small types.
fn needed_capabilities(module: &dr::Module) -> BTreeSet<Capability> {
    let mut needed = BTreeSet::from([
        Capability::Shader,
        Capability::StorageBuffer8BitAccess,
        Capability::StorageBuffer16BitAccess,
        Capability::UniformAndStorageBuffer8BitAccess,
        Capability::UniformAndStorageBuffer16BitAccess,
        Capability::StoragePushConstant8,
        Capability::StoragePushConstant16,
        Capability::StorageInputOutput16,
        Capability::VulkanMemoryModel,
    ]);
    for i in module.all_inst_iter().filter(|i| i.class.opcode != Op::Capability) {
        needed.extend(i.class.capabilities.iter().copied());
        needed.extend(i.operands.iter().flat_map(Operand::required_capabilities));
        let of_width = match (i.class.opcode, i.operands.first()) {
            (Op::TypeInt, Some(Operand::LiteralBit32(8))) => Some(Capability::Int8),
            (Op::TypeInt, Some(Operand::LiteralBit32(16))) => Some(Capability::Int16),
            (Op::TypeInt, Some(Operand::LiteralBit32(64))) => Some(Capability::Int64),
            (Op::TypeFloat, Some(Operand::LiteralBit32(16))) => Some(Capability::Float16),
            (Op::TypeFloat, Some(Operand::LiteralBit32(64))) => Some(Capability::Float64),
            _ => None,
        };
        needed.extend(of_width);
    }
    needed
}

fn body_of(module: &dr::Module) -> impl Iterator<Item = &Instruction> {
    module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions)
}

/// Adds a null constant of a type, and returns its id.
fn null(module: &mut dr::Module, type_: Word) -> Word {
    let header = module.header.get_or_insert_with(|| dr::ModuleHeader::new(1));
    let id = header.bound;
    header.bound += 1;
    module.types_global_values.push(Instruction::new(Op::ConstantNull, Some(type_), Some(id), Vec::new()));
    id
}

/// Removes the names, decorations and execution modes of removed ids, and these ids in interfaces.
fn forget(module: &mut dr::Module, removed: &BTreeSet<Word>) {
    let is_of_removed = |i: &Instruction| matches!(i.operands.first(), Some(Operand::IdRef(id)) if removed.contains(id));
    for list in [&mut module.debug_names, &mut module.annotations, &mut module.execution_modes] {
        list.retain(|i| !is_of_removed(i));
    }
    module.entry_points.retain(|i| !matches!(i.operands.get(1), Some(Operand::IdRef(id)) if removed.contains(id)));
    for entry in &mut module.entry_points {
        // The execution model, the function and the name come first.
        let interface = entry.operands.split_off(3.min(entry.operands.len()));
        entry.operands.extend(interface.into_iter().filter(|operand| !matches!(operand, Operand::IdRef(id) if removed.contains(id))));
    }
}

fn replace(instruction: &mut Instruction, from: Word, to: Word) {
    for operand in instruction.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
        if *operand == from {
            *operand = to;
        }
    }
}

/// The possible targets of a block's terminator.
fn targets(end: &Instruction) -> Vec<Word> {
    let ids = |operands: &[Operand]| operands.iter().filter_map(Operand::id_ref_any).collect();
    match end.class.opcode {
        Op::Branch => ids(&end.operands),
        Op::BranchConditional | Op::Switch => ids(&end.operands[1..]),
        _ => Vec::new(),
    }
}

/// The blocks that a block names: the targets of its terminator, and its merge and continue blocks.
fn named(block: &Block) -> impl Iterator<Item = Word> + '_ {
    let merges = block.instructions.iter().filter(|i| is_merge(i.class.opcode));
    let of_merges = merges.flat_map(|i| i.operands.iter().filter_map(Operand::id_ref_any).collect::<Vec<_>>());
    block.instructions.last().map(targets).unwrap_or_default().into_iter().chain(of_merges)
}

/// Makes a block always branch to `way`, or return if there is none, and removes the blocks that
/// become unreachable.
fn one_way(module: &dr::Module, function: usize, block: usize, way: Option<Word>) -> dr::Module {
    let mut module = module.clone();
    let blocks = &mut module.functions[function].blocks;
    let instructions = &mut blocks[block].instructions;
    let leaves_loop = instructions
        .iter()
        .find(|i| i.class.opcode == Op::LoopMerge)
        .is_some_and(|merge| way.is_none() || matches!(merge.operands.first(), Some(Operand::IdRef(id)) if Some(*id) == way));
    instructions.retain(|i| i.class.opcode != Op::SelectionMerge && !(leaves_loop && i.class.opcode == Op::LoopMerge));
    if let Some(end) = instructions.last_mut() {
        *end = match way {
            Some(way) => Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(way)]),
            None => Instruction::new(Op::Return, None, None, Vec::new()),
        };
    }
    let mut reached: BTreeSet<Word> = BTreeSet::new();
    let mut next: Vec<Word> = blocks.first().and_then(Block::label_id).into_iter().collect();
    while let Some(label) = next.pop() {
        if reached.insert(label)
            && let Some(block) = blocks.iter().find(|b| b.label_id() == Some(label))
        {
            next.extend(named(block));
        }
    }
    let removed: BTreeSet<Word> = {
        let unreached = blocks.iter().filter(|b| b.label_id().is_none_or(|label| !reached.contains(&label)));
        unreached.flat_map(|b| b.instructions.iter().filter_map(|i| i.result_id).chain(b.label_id())).collect()
    };
    blocks.retain(|b| b.label_id().is_some_and(|label| reached.contains(&label)));
    let edges: BTreeSet<(Word, Word)> = blocks
        .iter()
        .flat_map(|b| {
            let from = b.label_id().unwrap_or(0);
            b.instructions.last().map(targets).unwrap_or_default().into_iter().map(move |to| (from, to))
        })
        .collect();
    for block in blocks.iter_mut() {
        let label = block.label_id().unwrap_or(0);
        for phi in block.instructions.iter_mut().filter(|i| i.class.opcode == Op::Phi) {
            let pairs = phi
                .operands
                .chunks(2)
                .filter(|pair| pair.get(1).and_then(Operand::id_ref_any).is_some_and(|parent| edges.contains(&(parent, label))));
            phi.operands = pairs.flatten().cloned().collect();
        }
    }
    forget(&mut module, &removed);
    module
}

/// Joins a block with the only block that it branches to. `None` if another block names that one,
/// or the block has a merge instruction.
fn joined(module: &dr::Module, function: usize, block: usize) -> Option<dr::Module> {
    let blocks = &module.functions[function].blocks;
    let (first, end) = (&blocks[block], blocks[block].instructions.last()?);
    if end.class.opcode != Op::Branch || first.instructions.iter().any(|i| is_merge(i.class.opcode)) {
        return None;
    }
    let (first_label, label) = (first.label_id()?, targets(end).first().copied()?);
    let second = blocks.iter().position(|b| b.label_id() == Some(label))?;
    if second == block || blocks.iter().flat_map(named).filter(|&id| id == label).count() != 1 {
        return None;
    }
    let mut module = module.clone();
    let blocks = &mut module.functions[function].blocks;
    let tail = blocks[second].instructions.clone();
    let mut replacements: Vec<(Word, Word)> = Vec::new();
    blocks[block].instructions.pop();
    for i in tail {
        match (i.class.opcode, i.result_id, i.operands.first().and_then(Operand::id_ref_any)) {
            (Op::Phi, Some(result), Some(value)) => replacements.push((result, value)),
            _ => blocks[block].instructions.push(i),
        }
    }
    blocks.remove(second);
    for (from, to) in replacements.into_iter().chain([(label, first_label)]) {
        module.functions[function].all_inst_iter_mut().for_each(|i| replace(i, from, to));
        forget(&mut module, &BTreeSet::from([from]));
    }
    Some(module)
}
