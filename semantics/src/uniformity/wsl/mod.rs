//! Typed WSL as a [`Flow`]: expressions become values, variables become cells, and calls are
//! inlined.
//!
//! Variables are statically allocated (seed 004 "Annotations for execution"). So a function that is
//! called twice has only one set of cells. Only one statement of a function returns a pointer, so
//! most pointers are known places. The target is unknown if the pointer was loaded from memory, or
//! if the program assigns pointers of its type (`pointer`). A structure, a vector or a small
//! array has a cell for each scalar. A large array has one cell.
//!
//! A callee that is too large to inline is replaced by the result of its own
//! analysis ([`Summary`]).

mod access;
mod call;
mod entry;
mod explain;
mod expression;
mod library;
mod place;
mod pointer;
mod statement;
mod summary;

pub use explain::TooLarge;
pub use summary::Summary;

use super::flow::{Block, Cell, Finding, Flow, Planted, Scalars, Value};
use super::picture::Picture;
use super::report::{Analysis, Metadata};
use super::table::{self, Need};
use crate::rule::Rule;
use crate::wsl::entry::EntryPoint;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::Callee;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{ExprId, Program, StoreId};
use place::Place;
use pointer::{Pointers, UnknownStores};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// The greatest number of scalars of an array or structure whose scalars have cells of their own.
const MAX_CELLS: u32 = 64;
/// A function is inlined if it has at most this many expressions and statements, with those of its
/// callees counted at each call.
pub const INLINED: u64 = 2_000;
/// The greatest number of expressions and statements that inlining may add to a function.
pub const MAX_INLINED: u64 = 200_000;
/// The greatest number of values that the stores through pointers of unknown target change in a
/// function, with the values that each of them depends on.
pub const MAX_UNKNOWN_STORES: usize = 1 << 22;

/// The lowered form of an expression.
#[derive(Clone, Debug)]
enum Val {
    /// The scalars of a value.
    Cells(Scalars),
    /// A pointer to a place.
    Pointer(Place),
    /// An array reference: a place, and the number of elements.
    Reference(Place, Value),
}

/// The targets of `break`, `continue` and `fallthrough`.
#[derive(Clone, Copy, Debug, Default)]
struct JumpTargets {
    breaks: Option<Block>,
    continues: Option<Block>,
    fallthrough: Option<Block>,
}

/// The function that is currently lowered.
#[derive(Clone, Debug)]
struct Frame {
    function: FunctionId,
    returns: Block,
    result: Cell,
    /// The returned pointer or array reference.
    reference: Option<Val>,
}

/// The kinds of varying values. Each has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum VaryingSource {
    Device,
    Threadgroup,
    Pointer,
    Texture,
    Atomic,
    Result,
}

struct Lower<'a> {
    program: &'a Program,
    flow: Flow,
    /// By store: the first cell.
    cells: FxHashMap<StoreId, Cell>,
    /// By store of a pointer or array reference: its lowered form.
    references: FxHashMap<StoreId, Val>,
    results: FxHashMap<FunctionId, Cell>,
    varying_texts: FxHashMap<VaryingSource, u32>,
    /// By type: the number of its cells.
    sizes: FxHashMap<TypeId, u32>,
    jump_targets: JumpTargets,
    frame: Frame,
    /// The number of expressions and statements that may still be inlined.
    budget: u64,
    facts: &'a Facts,
    unknown_stores: UnknownStores,
    summaries: &'a mut Summaries,
    planted: Option<Planted>,
    /// Findings in callees that were not inlined.
    findings: Vec<Finding>,
}

/// The summaries of functions that are not inlined.
pub(super) type Summaries = FxHashMap<FunctionId, Rc<Summary>>;

type Done<T = ()> = Result<T, TooLarge>;

/// What is known of all functions of a program before one is lowered.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// By function: the number of expressions and statements, with all of its callees inlined.
    weights: Vec<u64>,
    /// By function: why it or a callee may need uniform control flow.
    needs: Vec<SmallVec<[Need; 2]>>,
    pointers: Pointers,
}

impl Facts {
    fn of(program: &Program) -> Facts {
        Facts { weights: weights(program), needs: needs(program), pointers: Pointers::of(program) }
    }
}

/// The number of expressions and statements of each function, with all of its callees inlined.
fn weights(program: &Program) -> Vec<u64> {
    let mut weights = vec![0u64; program.bodies.len()];
    for &id in &program.order {
        let body = program.body(id);
        let mut weight = u64::from(body.exprs.end - body.exprs.start) + u64::from(body.stmts.end - body.stmts.start);
        for e in body.exprs.clone() {
            for callee in program.callees(ExprId(e)) {
                if let Some(f) = super::report::declared(callee) {
                    weight = weight.saturating_add(weights[f.0 as usize]);
                }
            }
        }
        weights[id.0 as usize] = weight;
    }
    weights
}

/// By function: the needs of the library functions that it or a callee calls.
fn needs(program: &Program) -> Vec<SmallVec<[Need; 2]>> {
    let mut needs: Vec<SmallVec<[Need; 2]>> = vec![SmallVec::new(); program.bodies.len()];
    for &id in &program.order {
        let mut own: SmallVec<[Need; 2]> = SmallVec::new();
        for callee in program.body(id).exprs.clone().flat_map(|e| program.callees(ExprId(e))) {
            match (callee, super::report::declared(callee)) {
                (_, Some(f)) => own.extend_from_slice(&needs[f.0 as usize]),
                (Callee::Library(f), None) => own.extend(table::need(f.meaning())),
                _ => {}
            }
            own.sort_unstable();
            own.dedup();
        }
        needs[id.0 as usize] = own;
    }
    needs
}

/// Analyses a program.
///
/// # Errors
/// A function is too large to inline where it must be, or loops are too deep.
pub fn analyse(program: &Program) -> Result<Analysis, TooLarge> {
    analyse_with(program, None)
}

/// Analyses a program, with a planted fault or none.
///
/// # Errors
/// A function is too large to inline where it must be, or loops are too deep.
pub fn analyse_with(program: &Program, planted: Option<Planted>) -> Result<Analysis, TooLarge> {
    let facts = Facts::of(program);
    let mut summaries = Summaries::default();
    let mut called = vec![false; program.bodies.len()];
    for (f, body) in program.bodies.iter().enumerate() {
        for callee in body.exprs.clone().flat_map(|e| program.callees(ExprId(e))).filter_map(super::report::declared) {
            if callee.0 as usize != f {
                called[callee.0 as usize] = true;
            }
        }
    }
    let mut analysis = Analysis::default();
    let mut fired: FxHashSet<Rule> = FxHashSet::default();
    for f in (0..program.bodies.len() as u32).map(FunctionId) {
        let entry = program.entry_points.iter().find(|e| e.function == f);
        if entry.is_none() && called[f.0 as usize] || entry.is_some_and(|e| table::single(e.stage)) {
            continue;
        }
        let (flow, inner) = lower(program, f, entry, &facts, &mut summaries, planted)?;
        let solution = super::flow::analyse(&flow)?;
        analysis.nodes += solution.graph.nodes();
        analysis.edges += solution.graph.edges();
        fired.extend(&solution.fired);
        for finding in solution.findings.iter().chain(&inner) {
            if !analysis.rejections.iter().any(|r| r.span == finding.span) {
                analysis.rejections.push(explain::rejection(program, f, finding));
            }
        }
    }
    analysis.fired = Rule::ALL.iter().copied().filter(|r| fired.contains(r)).collect();
    Ok(analysis)
}

/// The metadata of each function, by an analysis of the function alone.
///
/// # Errors
/// A function is too large to inline where it must be, or loops are too deep.
pub fn metadata(program: &Program) -> Result<Vec<Metadata>, TooLarge> {
    let facts = Facts::of(program);
    let mut summaries = Summaries::default();
    (0..program.bodies.len() as u32)
        .map(|f| Ok(summary::summarize(program, FunctionId(f), &facts, &mut summaries, None)?.metadata()))
        .collect()
}

/// The graph of an entry point, or of a function alone: the nodes that must be uniform, and all
/// that they imply. `text` is the program's text.
///
/// # Errors
/// A function is too large to inline where it must be, or loops are too deep.
pub fn picture(program: &Program, text: &str, function: FunctionId) -> Result<Picture, TooLarge> {
    let facts = Facts::of(program);
    let entry = program.entry_points.iter().find(|e| e.function == function);
    let (flow, _) = lower(program, function, entry, &facts, &mut Summaries::default(), None)?;
    let solution = super::flow::analyse(&flow)?;
    Ok(Picture::of(&solution.graph, &[solution.must_be_uniform], |cause| explain::node(program, text, cause)))
}

/// Lowers an entry point, or a function that is not called. The arguments of the latter are the
/// same in every invocation.
pub(super) fn lower(
    program: &Program,
    function: FunctionId,
    entry: Option<&EntryPoint>,
    facts: &Facts,
    summaries: &mut Summaries,
    planted: Option<Planted>,
) -> Done<(Flow, Vec<Finding>)> {
    let mut lower = Lower::new(program, function, facts, summaries, planted);
    lower.bind_parameters(function, entry);
    lower.body(function)?;
    lower.flow.finish();
    if lower.unknown_stores.too_many() {
        return Err(TooLarge::Pointers);
    }
    Ok((lower.flow, lower.findings))
}

impl<'a> Lower<'a> {
    fn new(
        program: &'a Program,
        function: FunctionId,
        facts: &'a Facts,
        summaries: &'a mut Summaries,
        planted: Option<Planted>,
    ) -> Lower<'a> {
        Lower {
            program,
            flow: Flow::new(planted),
            cells: FxHashMap::default(),
            references: FxHashMap::default(),
            results: FxHashMap::default(),
            varying_texts: FxHashMap::default(),
            sizes: FxHashMap::default(),
            jump_targets: JumpTargets::default(),
            frame: Frame { function, returns: Block(0), result: Cell(0), reference: None },
            budget: MAX_INLINED,
            facts,
            unknown_stores: UnknownStores::default(),
            summaries,
            planted,
            findings: Vec::new(),
        }
    }

    fn ty(&self, id: TypeId) -> Type {
        self.program.env.types.get(id)
    }

    /// The number of cells of a value of a type. It is 1 for a lump.
    fn size(&mut self, id: TypeId) -> u32 {
        if let Some(&size) = self.sizes.get(&id) {
            return size;
        }
        let size = match self.ty(id) {
            Type::Void => 0,
            Type::Vector(_, n) => u32::from(n),
            Type::Matrix(_, columns, rows) => u32::from(columns) * u32::from(rows),
            Type::Array(of, n) => {
                let one = crate::text::deep(|| self.size(of));
                match one.checked_mul(n) {
                    Some(size) if size <= MAX_CELLS => size,
                    _ => 1,
                }
            }
            Type::Struct(id) => {
                let program = self.program;
                let mut size = 0u32;
                for field in &program.env.structure(id).fields {
                    size = size.saturating_add(crate::text::deep(|| self.size(field.ty)));
                }
                if size <= MAX_CELLS { size } else { 1 }
            }
            _ => 1,
        };
        self.sizes.insert(id, size);
        size
    }

    /// Whether a value of a type has one cell for all of its parts.
    fn lumped(&mut self, id: TypeId) -> bool {
        match self.ty(id) {
            Type::Array(of, n) => n > 0 && self.size(of).checked_mul(n).is_none_or(|size| size > MAX_CELLS),
            Type::Struct(s) => {
                let program = self.program;
                let sum = program.env.structure(s).fields.iter().fold(0u32, |sum, field| sum.saturating_add(self.size(field.ty)));
                sum > MAX_CELLS
            }
            _ => false,
        }
    }

    /// The position of a field among the cells of a structure that is not a lump.
    fn field_offset(&mut self, id: crate::wsl::types::StructId, field: u32) -> u32 {
        let program = self.program;
        program.env.structure(id).fields.iter().take(field as usize).map(|f| self.size(f.ty)).sum()
    }

    /// The first cell of a variable.
    fn store(&mut self, id: StoreId) -> Cell {
        if let Some(&cell) = self.cells.get(&id) {
            return cell;
        }
        let ty = self.program.store(id).ty;
        let n = self.size(ty);
        let cell = self.flow.new_cells(id.0, n);
        self.cells.insert(id, cell);
        if self.facts.pointers.address_taken.contains(&id) {
            self.unknown_stores.objects.push((cell, n, ty));
        }
        cell
    }

    fn zeros(&mut self, n: u32) -> Scalars {
        if n == 0 {
            return Scalars::new();
        }
        let zero = self.flow.constant(0);
        SmallVec::from_elem(zero, n as usize)
    }

    fn varying(&mut self, source: VaryingSource) -> Value {
        let text = match self.varying_texts.get(&source) {
            Some(&text) => text,
            None => {
                self.flow.texts.push(
                    match source {
                        VaryingSource::Device => "what is loaded from device memory, which other invocations may change",
                        VaryingSource::Threadgroup => "what is loaded from threadgroup memory, which other invocations may change",
                        VaryingSource::Pointer => "what is loaded through a pointer that may lead to one of many variables",
                        VaryingSource::Texture => "what is loaded from a texture that can be stored to",
                        VaryingSource::Atomic => "what an atomic operation gives, which depends on the order of the invocations",
                        VaryingSource::Result => "what a call gives, which varies",
                    }
                    .to_owned(),
                );
                let text = self.flow.texts.len() as u32 - 1;
                self.varying_texts.insert(source, text);
                text
            }
        };
        self.flow.varying(text, u32::MAX)
    }

    /// The scalars of a value. A pointer or array reference has one.
    fn cells_of(&mut self, val: &Val) -> Scalars {
        match val {
            Val::Cells(cells) => cells.clone(),
            Val::Pointer(place) => smallvec![self.scalar_of_pointer(place.depends())],
            Val::Reference(place, length) => {
                let mut depends = place.depends();
                depends.push(*length);
                smallvec![self.scalar_of_pointer(depends)]
            }
        }
    }

    fn load_memory(&mut self, space: AddressSpace, address: &[Value], n: u32) -> Scalars {
        match table::load(space) {
            table::Load::Uniform => self.flow.values_from_all(address, n),
            table::Load::Varies | table::Load::AsStored => {
                let source = match space {
                    AddressSpace::Thread => VaryingSource::Pointer,
                    AddressSpace::Threadgroup => VaryingSource::Threadgroup,
                    AddressSpace::Device | AddressSpace::Constant => VaryingSource::Device,
                };
                (0..n).map(|_| self.varying(source)).collect()
            }
        }
    }
}
