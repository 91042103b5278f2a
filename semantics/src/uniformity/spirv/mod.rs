//! A loaded SPIR-V module as a [`Flow`]: result ids become values, variables become cells, and
//! calls are inlined.
//!
//! The analysis judges the OpControlBarrier of workgroups, the derivatives and the samples of
//! implicit level of detail that an entry point reaches. A subgroup's barrier needs no uniform
//! control flow. Loading refuses what the lowering could not follow: pointers that are chosen,
//! joined or returned, recursion, and barriers whose execution scope is neither the workgroup nor
//! the subgroup. So every pointer is a known place, and every call can be inlined, up to
//! [`MAX_INLINED`] and [`MAX_VALUES`].
//!
//! Decisions:
//!
//! - Dynamic instances are those of `spirv::step`: the call path, the block, and the number of the
//!   iteration of each loop from its header to its merge block.
//! - OpUndef, uninitialised variables and components that a shuffle leaves undefined differ between
//!   invocations. An operation whose result is undefined for some operands gives the same result
//!   for uniform operands. But it is never folded, and two such operations are never merged.
//! - OpUnreachable is undefined behaviour: no branch leads to a block that does nothing else. Nor
//!   is a divisor zero.
//! - Memory that is declared NonWritable does not change, unless it is declared Aliased. Nor do
//!   uniform buffers, push constants and sampled images ([`table`]).
//! - A specialization constant has the value that loading gave it, unless [`Options::unknown`]
//!   names it: then it is uniform, and otherwise unknown.

mod body;
mod compute;
mod explain;
mod input;
mod instruction;
mod place;
pub mod table;
mod values;

pub use explain::{NoVerdict, Place, Why};

use super::flow::{self, Block, Cell, Def, Flow, Scalars, Value};
use crate::rule::Rule;
use crate::spirv;
use crate::spirv::module::{EntryPoint, Function, Module};
use crate::spirv::words::Instruction;
use crate::text::Span;
use place::Pointer;
use rspirv::spirv::{ExecutionModel, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The greatest number of scalars of an array or structure whose scalars have cells of their own.
const MAX_CELLS: u32 = 64;
/// The greatest number of instructions of an entry point with all calls inlined, beyond those of
/// the module.
pub const MAX_INLINED: u64 = 400_000;
/// The greatest number of values and reads of an entry point, beyond 16 for each instruction of
/// the module.
pub const MAX_VALUES: usize = 8_000_000;

/// The result of the analysis of a module. Functions are entry points, by name.
pub type Analysis = super::report::Analysis<String, Place>;
/// Why an entry point is rejected.
pub type Rejection = super::report::Rejection<String, Place>;
/// A step of an explanation.
pub type Step = super::report::Step<Place>;

/// A planted fault: a weakened analysis, to test the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each says what is done wrong")]
pub enum Planted {
    Flow(flow::Planted),
    LocalIdIsUniform,
    GlobalIdOfOtherAxis,
    BoundTooSmall,
    StorageIsUniform,
    WorkgroupIsUniform,
    StorageImagesAreUniform,
    AtomicsAreUniform,
    UndefinedIsUniform,
    FragmentInputsAreUniform,
    PhisAreWrittenInOrder,
    PhiOfOnePredecessor,
    SwitchesHaveNoDefault,
    KillGoesOn,
    VariablesKeepTheirValue,
    PrivateIsUniform,
    ShiftsWrap,
    ImplicitLevelsNeedNothing,
    NonWritableOfAnyMember,
    AliasedIsLikeAnyOther,
    InsertIsIgnored,
    NarrowIntegersFold,
    WrapsAreDefined,
}

/// The options of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The result ids of constants with unknown values: see [`unknown_constants`].
    pub unknown: Vec<u32>,
    /// The planted fault, in tests.
    pub planted: Option<Planted>,
}

/// The result ids of all specialization constants in words that are not frozen yet. They include
/// composites and results of operations. Loading keeps the ids.
///
/// # Errors
/// The words are malformed.
pub fn unknown_constants(words: &[u32]) -> Result<Vec<u32>, crate::spirv::WordsError> {
    let is_spec =
        |op| matches!(op, Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant | Op::SpecConstantComposite | Op::SpecConstantOp);
    Ok(crate::spirv::decode(words)?.instructions.iter().filter(|i| is_spec(i.op)).map(|i| i.result).collect())
}

/// Analyses every entry point of a module.
///
/// # Errors
/// An entry point is too large with its calls inlined.
pub fn analyse(module: &Module) -> Result<Analysis, NoVerdict> {
    analyse_with(module, &Options::default())
}

/// Analyses every entry point of a module with options.
///
/// # Errors
/// An entry point is too large with its calls inlined, or its loops are too deep.
pub fn analyse_with(module: &Module, options: &Options) -> Result<Analysis, NoVerdict> {
    let shared = Shared::new(module, options);
    let weights = shared.weights();
    let mut analysis = Analysis::default();
    let mut fired: FxHashSet<Rule> = FxHashSet::default();
    let mut names = None;
    for entry in module.entry_points() {
        // Other stages have no operations that need uniform control flow.
        let size = match entry.model {
            ExecutionModel::GLCompute => match shared.size(entry) {
                Some([1, 1, 1]) => continue,
                size => size,
            },
            ExecutionModel::Fragment => None,
            _ => continue,
        };
        let function = module.function(entry.function).expect("load has checked that the function is there");
        let weight = weights[shared.number(function)];
        if weight > module.instructions().len() as u64 + MAX_INLINED {
            return Err(NoVerdict { entry: entry.name.clone(), why: Why::Instructions(weight) });
        }
        let flow = Lower::new(&shared, entry, size).entry(function)?;
        let solution = flow::analyse(&flow).map_err(|_| NoVerdict { entry: entry.name.clone(), why: Why::Merges })?;
        analysis.nodes += solution.graph.nodes();
        analysis.edges += solution.graph.edges();
        fired.extend(&solution.fired);
        for finding in &solution.findings {
            let names = names.get_or_insert_with(|| explain::Names::new(module));
            analysis.rejections.push(explain::rejection(&shared, names, entry, finding));
        }
    }
    analysis.fired = Rule::ALL.iter().copied().filter(|r| fired.contains(r)).collect();
    Ok(analysis)
}

/// Lowers an entry point to a flow, for inspection and measurement.
///
/// # Errors
/// An entry point is too large with its calls inlined, or its loops are too deep.
pub fn lower(module: &Module, entry: &EntryPoint) -> Result<Flow, NoVerdict> {
    let options = Options::default();
    let shared = Shared::new(module, &options);
    let function = module.function(entry.function).expect("load has checked that the function is there");
    let size = if entry.model == ExecutionModel::GLCompute { shared.size(entry) } else { None };
    Lower::new(&shared, entry, size).entry(function)
}

/// The data that all entry points share.
struct Shared<'m> {
    module: &'m Module,
    options: &'m Options,
    unknown: FxHashSet<u32>,
    /// By block: whether its function can reach it.
    reachable: Vec<bool>,
    /// By block: the values that the block passes to phis of its successors, as the index of the
    /// phi and the id of the value.
    moves: Vec<Vec<(u32, u32)>>,
    /// By label: the index of the block.
    blocks: FxHashMap<u32, u32>,
    /// By block: whether it does nothing before OpUnreachable.
    only_unreachable: Vec<bool>,
    /// Whether any instruction is decorated such that an integer operation may not wrap, or
    /// is exact.
    inexact: bool,
}

impl<'m> Shared<'m> {
    fn new(module: &'m Module, options: &'m Options) -> Shared<'m> {
        let blocks: FxHashMap<u32, u32> = (0..).zip(module.blocks()).map(|(at, b)| (b.label, at)).collect();
        let mut shared = Shared {
            module,
            options,
            unknown: options.unknown.iter().copied().collect(),
            reachable: vec![false; module.blocks().len()],
            moves: vec![Vec::new(); module.blocks().len()],
            only_unreachable: module.blocks().iter().map(|block| is_only_unreachable(module, block, options)).collect(),
            blocks,
            inexact: module.instructions().iter().any(|i| i.is(Op::Decorate) && table::inexact(i.operands(module.words())[1])),
        };
        let mut stack = Vec::new();
        for function in module.functions() {
            if function.first_block < function.end_block {
                stack.push(function.first_block);
            }
            while let Some(block) = stack.pop() {
                if !std::mem::replace(&mut shared.reachable[block as usize], true) {
                    stack.extend(shared.successors(block).filter(|b| !shared.reachable[*b as usize]));
                }
            }
        }
        for block in module.blocks() {
            for (at, i) in (block.start..).zip(module.code(block)).filter(|(_, i)| i.is(Op::Phi)) {
                let parents = if options.planted == Some(Planted::PhiOfOnePredecessor) { 1 } else { usize::MAX };
                for pair in i.operands(module.words()).chunks_exact(2).take(parents) {
                    if let Some(&parent) = shared.blocks.get(&pair[1]) {
                        shared.moves[parent as usize].push((at, pair[0]));
                    }
                }
            }
        }
        shared
    }

    fn is(&self, planted: Planted) -> bool {
        self.options.planted == Some(planted)
    }

    fn operands(&self, i: &Instruction) -> &'m [u32] {
        i.operands(self.module.words())
    }

    /// The successors of a block.
    fn successors(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        let code = self.module.code(&self.module.blocks()[block as usize]);
        let end = code.last();
        let labels: SmallVec<[u32; 4]> = match end {
            Some(i) if i.is(Op::Branch) => SmallVec::from_slice(&self.operands(i)[..1]),
            Some(i) if i.is(Op::BranchConditional) => SmallVec::from_slice(&self.operands(i)[1..3]),
            Some(i) if i.is(Op::Switch) => {
                self.module.switch_cases(i).map(|(_, label)| label).chain(self.operands(i).get(1).copied()).collect()
            }
            _ => SmallVec::new(),
        };
        labels.into_iter().filter_map(|label| self.blocks.get(&label).copied())
    }

    /// The index of a function in the module.
    fn number(&self, function: &Function) -> usize {
        self.module.functions().partition_point(|f| self.module.definition(f.id) < self.module.definition(function.id))
    }

    /// By function: the number of its instructions, with those of its callees counted at each call.
    fn weights(&self) -> Vec<u64> {
        let functions = self.module.functions();
        let mut weights: Vec<Option<u64>> = vec![None; functions.len()];
        let mut stack = Vec::new();
        let own = |at: usize| -> u64 { self.module.function_blocks(&functions[at]).iter().map(|b| u64::from(b.end - b.start)).sum() };
        // There is no recursion. A function stays on the stack until its callees are done.
        for start in 0..functions.len() {
            stack.push((start, false));
            while let Some((at, are_callees_done)) = stack.pop() {
                if weights[at].is_some() {
                    continue;
                }
                let callees = self.module.callees(&functions[at]).filter_map(|id| self.module.function(id)).map(|f| self.number(f));
                if are_callees_done {
                    let sum = callees.fold(own(at), |sum, callee| sum.saturating_add(weights[callee].unwrap_or(u64::MAX)));
                    weights[at] = Some(sum);
                } else {
                    stack.push((at, true));
                    let open: Vec<usize> = callees.filter(|callee| weights[*callee].is_none()).collect();
                    stack.extend(open.into_iter().map(|callee| (callee, false)));
                }
            }
        }
        weights.into_iter().map(|w| w.unwrap_or(u64::MAX)).collect()
    }

    /// The size of a compute entry point's workgroups, if it is known.
    fn size(&self, entry: &EntryPoint) -> Option<[u32; 3]> {
        let by_unknown = || {
            let module = self.module;
            module.instructions().iter().any(|i| {
                let operands = self.operands(i);
                match i.op {
                    Op::ExecutionModeId => operands[0] == entry.function && operands[2..].iter().any(|id| self.unknown.contains(id)),
                    Op::Decorate => {
                        operands[1] == rspirv::spirv::Decoration::BuiltIn as u32
                            && operands.get(2) == Some(&(rspirv::spirv::BuiltIn::WorkgroupSize as u32))
                            && self.unknown.contains(&operands[0])
                    }
                    _ => false,
                }
            })
        };
        if !self.unknown.is_empty() && by_unknown() {
            return None;
        }
        self.module.modes(entry).workgroup_size
    }
}

/// Whether a block does nothing before OpUnreachable. Reaching such a block is undefined behaviour,
/// so no branch leads to it.
fn is_only_unreachable(module: &Module, block: &spirv::module::Block, options: &Options) -> bool {
    let ends = |i: &Instruction| match i.op {
        Op::Unreachable => true,
        Op::Kill | Op::TerminateInvocation => options.planted == Some(Planted::KillGoesOn),
        _ => false,
    };
    module.code(block).iter().all(|i| ends(i) || matches!(i.op, Op::Nop | Op::Line | Op::NoLine | Op::Phi))
}

/// The lowered form of an id.
#[derive(Clone, Copy, Debug)]
enum Val {
    /// Not lowered yet.
    None,
    /// Values: the start and the length of a range in [`Lower::arena`].
    Cells(u32, u32),
    /// A pointer: an index in [`Lower::pointers`].
    Pointer(u32),
}

/// The function that is currently lowered.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The flow's block for its first block.
    first: u32,
    /// Its first block in the module.
    first_block: u32,
    returns: Block,
    result: Cell,
}

struct Lower<'a, 'm> {
    shared: &'a Shared<'m>,
    module: &'m Module,
    model: ExecutionModel,
    size: Option<[u32; 3]>,
    name: &'a str,
    flow: Flow,
    /// By instruction: the lowered form of its result.
    vals: Vec<Val>,
    arena: Vec<Value>,
    pointers: Vec<Pointer>,
    /// Values that belong to the first block of the flow, which is filled last.
    hoisted: Vec<Value>,
    /// The initial values of the cells of module-scope variables.
    initial: Vec<(Cell, Value)>,
    /// By instruction, for phis and variables of functions: the first cell.
    cells: FxHashMap<u32, Cell>,
    /// By function: the first cell of its result.
    results: FxHashMap<u32, Cell>,
    /// By type: the number of its scalars.
    sizes: FxHashMap<u32, u32>,
    lumped: FxHashMap<u32, bool>,
    /// By constant: whether a part of it is undefined.
    undefined: FxHashMap<u32, bool>,
    texts: FxHashMap<&'static str, u32>,
    /// Places in memory that does not change, by the enclosing place and the index in it.
    parts: FxHashMap<(u32, u32), u32>,
    /// By such a place: its value.
    constant_loads: FxHashMap<u32, Val>,
    frame: Frame,
    limit: usize,
}

type Done<T = ()> = Result<T, NoVerdict>;

impl<'a, 'm> Lower<'a, 'm> {
    fn new(shared: &'a Shared<'m>, entry: &'a EntryPoint, size: Option<[u32; 3]>) -> Lower<'a, 'm> {
        let module = shared.module;
        Lower {
            shared,
            module,
            model: entry.model,
            size,
            name: &entry.name,
            flow: Flow::new(match shared.options.planted {
                Some(Planted::Flow(planted)) => Some(planted),
                _ => None,
            }),
            vals: vec![Val::None; module.instructions().len()],
            arena: Vec::new(),
            pointers: Vec::new(),
            hoisted: Vec::new(),
            initial: Vec::new(),
            cells: FxHashMap::default(),
            results: FxHashMap::default(),
            sizes: FxHashMap::default(),
            lumped: FxHashMap::default(),
            undefined: FxHashMap::default(),
            texts: FxHashMap::default(),
            parts: FxHashMap::default(),
            constant_loads: FxHashMap::default(),
            frame: Frame { first: 0, first_block: 0, returns: Block(0), result: Cell(0) },
            limit: MAX_VALUES + 16 * module.instructions().len(),
        }
    }

    /// Lowers the entry point.
    fn entry(mut self, function: &Function) -> Done<Flow> {
        let start = self.flow.block();
        self.flow.begin(start);
        self.body(function)?;
        self.flow.finish();
        // The contents of the first block are known only now.
        self.flow.begin(Block(0));
        for value in std::mem::take(&mut self.hoisted) {
            self.flow.actions.push(flow::Action::Define(value));
        }
        for (cell, value) in std::mem::take(&mut self.initial) {
            self.flow.write(cell, value);
        }
        self.flow.end(flow::End::Jump(start));
        Ok(self.flow)
    }

    fn is(&self, planted: Planted) -> bool {
        self.shared.is(planted)
    }

    /// Adds a value to the first block.
    fn hoist(&mut self, def: Def) -> Value {
        let value = Value(self.flow.values.len() as u32);
        self.flow.values.push(flow::ValueData { def, span: self.flow.span });
        self.hoisted.push(value);
        value
    }

    /// The index of a text that explains a varying value.
    fn text(&mut self, text: &'static str) -> u32 {
        let flow = &mut self.flow;
        *self.texts.entry(text).or_insert_with(|| {
            flow.texts.push(text.to_owned());
            flow.texts.len() as u32 - 1
        })
    }

    /// `n` values that differ between invocations.
    fn varying(&mut self, text: &'static str, n: u32) -> Scalars {
        let text = self.text(text);
        (0..n).map(|_| self.flow.varying(text, u32::MAX)).collect()
    }

    fn at(&mut self, instruction: u32) {
        self.flow.span = Span { start: instruction, end: instruction + 1 };
    }
}
