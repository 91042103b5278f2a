//! WSL execution of one thread: seed 004 "Dynamic rules", one function for each rule.
//!
//! A [`Thread`] holds the program being executed ([`term`]). Execution is a relation. A rule is a
//! function from a term to what the term becomes ([`Next`]), or to `None` if the rule does not
//! apply. The function checks the whole premise. For a rule about a context, the premise is that
//! the part steps. Rules change nothing, except that they may add terms over unspecified values to
//! [`OpenTerms`](crate::wsl::open::OpenTerms). A rule returns its effects on memory as data
//! ([`Effect`]), and also that the thread waits or ends.
//!
//! All rules are in one table (`table`), which is looked up by the form of the term. [`step`]
//! asks for a reduct and carries it out. An unspecified condition has one reduct for each
//! outcome, and [`step`] has one of them decided. In a valid program, exactly one rule applies
//! until the thread ends or waits. Tests check that with [`ask`]. A rule's file is the section
//! that it is printed in.
//!
//! | module | section |
//! |---|---|
//! | `statement`, `switch`, `iteration` | "Execution of statements" |
//! | `expression` | "Operations affecting control-flow" to "Other" |
//! | `left` | "Reduction to an abstract left-value" |
//! | `assign` | "Assignment", "Read-modify-write expressions" |
//! | `call` | "Calls" |
//! | `generated` | "Generated functions" |
//! | `builtin`, `texture` | "Standard library": calls of its functions |
//! | `derivative` | "Floating point arithmetic": operations of the threads of a quad together |
//! | `context`, `next` | the arguments of rules, and their results |
//! | `table`, `drive` | the table of rules, and the driver |
//!
//! `check` checks that a term is well typed. Every step preserves that.
//!
//! The typed program says of every expression as what kind of value it is used. So a load is a rule
//! of its own. "Can be reduced to an abstract left-value" is a function that may fail (ERRATA
//! WSL-D3, WSL-D4).

pub mod assign;
pub mod builtin;
pub mod call;
pub mod check;
mod context;
pub mod derivative;
mod drive;
pub mod expression;
pub mod generated;
pub mod iteration;
pub mod left;
pub mod next;
pub mod statement;
pub mod switch;
mod table;
pub mod term;
pub mod texture;

pub use builtin::fence;
pub use context::{AppliedRules, Cx};
pub use drive::{ask, step};
pub use next::Next;
pub use table::{ExprRule, Rules, StmtRule};

use crate::interleavings::Footprint;
use crate::outcome::Limit;
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::layout::Layouts;
use crate::wsl::library::LibraryFunction;
use crate::wsl::meaning::Derivative;
use crate::wsl::memory::{Address, Memory, Object, ObjectId, Words};
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::texture::sampling::needs_quad;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Constant, ExprId, Program, StmtId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use term::{Expr, Form, Value};

/// The most bytes that the stores of a thread or a group take.
pub const MAX_STORES: u64 = 64 << 20;
/// The greatest nesting of expressions that the relation executes, since each of its steps begins
/// at the top. The machine executes every program that can be read.
pub const MAX_DEPTH: u32 = 1 << 14;

/// A memory event: seed 004 "Memory events and program order".
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A load of these words.
    Load(Address, Words),
    /// A store of these words.
    Store(Address, Words),
    /// An atomic load.
    AtomicLoad(Address, Word),
    /// A read-modify-write: the word that was read, and the word that was written.
    ReadModifyWrite(Address, Word, Word),
    /// The fence of a barrier: of threadgroup memory, of device memory.
    Fence {
        /// Whether it orders threadgroup memory.
        threadgroup: bool,
        /// Whether it orders device memory.
        device: bool,
    },
}

/// Why a thread makes no step.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// It stands at a barrier, and its group does not go on yet.
    Barrier,
    /// It stands before an access, and waits for its turn in the order of all threads' accesses.
    /// The footprint is what the access touches.
    Turn(Footprint),
    /// It stands at an operation over its quad with this operand, and its quad does not go on yet.
    Quad(Words),
    /// It was discarded, by this step.
    Discarded(Box<Step>),
    /// No rule applies: why, and where.
    Stuck(String, Span),
    /// A limit was exceeded.
    Limit(Limit),
    /// The program uses something that is not modeled: what, and where.
    Unsupported(String, Span),
}

/// An effect of a rule. The effects are carried out in order once the rule is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A load, with the words that it returned.
    Load(Address, Words),
    /// A load of memory that never changes.
    Read(Address, Words),
    /// A store. It does nothing if a helper thread makes it to device memory.
    Store(Address, Words),
    /// An atomic load, with the word that it returned.
    AtomicLoad(Address, Word),
    /// A read-modify-write: the word that was read, and the word to be written.
    ReadModifyWrite(Address, Word, Word),
    /// An access to device memory that a thread skips because it is a helper.
    Helped(Address),
    /// The fence of a barrier that the thread passes: whether it orders threadgroup memory, and
    /// whether it orders device memory.
    Fence(bool, bool),
    /// The allocation of memory for the parameters of a generated function, with its size in words.
    /// The memory is the next object.
    Allocate(Generated, u32),
    /// The thread takes the [`Exchange`] of its quad.
    Exchanged,
}

/// The effects of a rule, in order.
pub type Effects = SmallVec<[Effect; 1]>;

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The rules of the contexts that it is applied in, outermost first. Without
    /// [`Shared::records_steps`], only the contexts that the thread was not in before.
    pub within: SmallVec<[Rule; 8]>,
    /// The place of the redex in the source.
    pub at: Span,
    /// The memory events, in program order. Empty without [`Shared::records_steps`].
    pub events: Vec<Event>,
    /// The expression that became a value, and the value. `None` if the step made no value, and
    /// without [`Shared::records_steps`].
    pub value: Option<Box<(ExprId, Value)>>,
}

/// A planted function that replaces that of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Replacement {
    /// For a rule for expressions.
    Expr(ExprRule),
    /// For a rule for statements.
    Stmt(StmtRule),
}

/// The accesses before which a thread waits for its turn ([`Stop::Turn`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Gate {
    /// None.
    #[default]
    Open,
    /// Atomic accesses.
    Atomics,
    /// All accesses to memory that threads share.
    Shared,
}

/// The planted bugs of a run: deliberate errors beside the rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    /// A rule, and the function that replaces it.
    pub rule: Option<(Rule, Replacement)>,
    /// What replaces a rule of groups.
    pub group: Option<crate::wsl::group::Replacement>,
    /// What replaces results of the library.
    pub scalar: Option<crate::wsl::meaning::Replacement>,
    /// What replaces the bounds of integers over unspecified values.
    pub bound: Option<crate::wsl::open::BoundReplacement>,
    /// What changes the table that draws go by.
    pub draw: Option<fn(&mut crate::wsl::draw::Rules)>,
}

impl Planted {
    /// Whether the rules of threads and groups are the right ones.
    pub fn is_none(&self) -> bool {
        self.rule.is_none() && self.group.is_none() && self.scalar.is_none() && self.bound.is_none() && self.draw.is_none()
    }
}

/// The data that all threads share and no step changes.
#[derive(Debug)]
pub struct Shared<'p> {
    /// The program.
    pub program: &'p Program,
    /// The offset of each store in its thread's or group's memory, in bytes.
    pub offsets: Vec<u32>,
    /// The size of a thread's stores in words.
    pub thread_words: usize,
    /// The size of a group's stores in words.
    pub group_words: usize,
    /// By type, its size in words. By structure, the offsets of its fields in bytes.
    sizes: Vec<Option<u32>>,
    fields: Vec<Vec<u32>>,
    /// Whether a thread can reach an operation over its quad.
    pub meets_quads: bool,
    /// The rules.
    rules: Cow<'static, Rules>,
    /// Planted bugs.
    pub planted: Planted,
    /// Whether each step lists all of its contexts, its memory events, and the value that it made.
    pub records_steps: bool,
}

impl<'p> Shared<'p> {
    /// The shared data for executing a function with the relation.
    ///
    /// # Errors
    /// The errors of [`Shared::laid_out`]. Or expressions nest deeper than [`MAX_DEPTH`].
    pub fn new(program: &'p Program, root: FunctionId, planted: Planted) -> Result<Shared<'p>, Limit> {
        let reachable = Reachable::from(program, root);
        if reachable.functions.iter().any(|&f| depth(program, f) > MAX_DEPTH) {
            return Err(Limit { what: "expressions in one another, which only the machine executes", bound: MAX_DEPTH.into() });
        }
        Shared::of(program, &reachable, planted)
    }

    /// The shared data, with an offset for each store of a function and of all functions that
    /// it calls.
    ///
    /// # Errors
    /// If a thread's or a group's stores take more than [`MAX_STORES`].
    pub fn laid_out(program: &'p Program, root: FunctionId, planted: Planted) -> Result<Shared<'p>, Limit> {
        Shared::of(program, &Reachable::from(program, root), planted)
    }

    fn of(program: &'p Program, reachable: &Reachable, planted: Planted) -> Result<Shared<'p>, Limit> {
        let mut layouts = Layouts::default();
        let (mut thread, mut group) = (0u64, 0u64);
        let limit = Limit { what: "bytes of variables", bound: MAX_STORES };
        let mut offsets = vec![u32::MAX; program.stores.len()];
        for k in reachable.functions.iter().flat_map(|&f| program.body(f).stores.clone()) {
            let store = &program.stores[k as usize];
            let layout = layouts.of(&program.env, store.ty).ok_or(limit)?;
            let at = if store.space == AddressSpace::Threadgroup { &mut group } else { &mut thread };
            *at = at.next_multiple_of(layout.align.max(4));
            offsets[k as usize] = *at as u32;
            *at = at.checked_add(layout.size).filter(|&n| n <= MAX_STORES).ok_or(limit)?;
        }
        let sizes = (0..program.env.types.len() as u32)
            .map(|id| layouts.of(&program.env, TypeId(id)).and_then(|l| u32::try_from(l.size / 4).ok()))
            .collect();
        let fields = (0..program.env.structs.len() as u32)
            .map(|id| {
                let offsets = layouts.offsets(&program.env, crate::wsl::types::StructId(id)).unwrap_or_default();
                offsets.iter().map(|&o| o as u32).collect()
            })
            .collect();
        let rules = match planted.rule {
            Some((rule, replacement)) => Cow::Owned(Rules::default().replace(rule, replacement)),
            None => Cow::Borrowed(&*table::STANDARD),
        };
        let (thread_words, group_words) = (thread as usize / 4, group as usize / 4);
        let meets_quads = reachable.meets_quads;
        Ok(Shared { program, offsets, thread_words, group_words, sizes, fields, meets_quads, rules, planted, records_steps: true })
    }

    /// The size of a type in words.
    ///
    /// # Errors
    /// If it is too large.
    pub fn words(&self, ty: TypeId) -> Result<u32, Stop> {
        self.sizes.get(ty.0 as usize).copied().flatten().ok_or(Stop::Limit(Limit { what: "bytes of a value", bound: u64::from(u32::MAX) }))
    }

    /// The offset of a structure's field, in bytes.
    pub fn field(&self, id: crate::wsl::types::StructId, field: u32) -> u32 {
        self.fields[id.0 as usize][field as usize]
    }
}

/// A thread being executed.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number in the dispatch.
    pub number: u32,
    /// The rest of its program. At first this is a call.
    pub program: Expr,
    /// The object of its own memory.
    pub own: ObjectId,
    /// The object of its group's memory.
    pub group: ObjectId,
    /// The objects that hold the parameters of generated functions.
    generated: FxHashMap<Generated, ObjectId>,
    /// Whether its group has released it from the barrier at which it stands.
    pub released: bool,
    /// The accesses before which it waits for its turn.
    pub gate: Gate,
    /// Whether it has its turn, so that its next step waits for nothing.
    pub has_turn: bool,
    /// Its part in a draw, if it belongs to one.
    pub stage: Option<InDraw>,
    /// The place of its last step.
    focus: next::Focus,
}

/// The part of a thread in a draw.
#[derive(Clone, Debug)]
pub struct InDraw {
    /// Its place in its quad, x + 2·y. `None` for a vertex.
    pub lane: Option<usize>,
    /// Whether it is a helper. A helper only computes derivatives for its quad, and its stores to
    /// device memory do nothing (ERRATA WSL-D29).
    pub helper: bool,
    /// Whether a device may disagree on `helper`: a helper may be a fragment there, or a fragment
    /// a helper.
    pub doubtful: bool,
    /// The exchange at the quad operation where it stands, once the quad goes on.
    pub exchange: Option<Exchange>,
}

/// What the threads of a quad exchange when they meet at an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The operand of each thread, in the order of lanes.
    pub operands: [Words; 4],
    /// The choices that the operation leaves open, one for each of its axes. All four threads have
    /// the same. A choice is an index into the possibilities that the operation lists.
    pub chosen: SmallVec<[Word; 2]>,
}

impl Thread {
    /// A thread that is to execute an expression.
    pub fn new(shared: &Shared, memory: &mut Memory, number: u32, group: ObjectId, program: Expr) -> Thread {
        let words = vec![Word::Bits(0); shared.thread_words];
        let own = memory.push(Object { space: AddressSpace::Thread, name: format!("variables of thread {number}"), words });
        let (released, gate, has_turn, stage) = (false, Gate::Open, false, None);
        Thread {
            number,
            program,
            own,
            group,
            generated: FxHashMap::default(),
            released,
            gate,
            has_turn,
            stage,
            focus: next::Focus::default(),
        }
    }

    /// Whether the thread has ended with a value.
    pub fn has_ended(&self) -> bool {
        self.program.words().is_some()
    }

    /// The value that the thread ended with, if it has.
    pub fn value(&self) -> Option<Value> {
        self.program.words().map(|words| Value { ty: self.program.ty, words: words.clone() })
    }
}

/// The place where a thread stopped: the barrier or quad operation at which it waits, and the calls
/// and iterations around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instance {
    /// The call of the barrier or of the operation. `None` if the thread does not wait there.
    pub barrier: Option<ExprId>,
    /// The calls and iterations around it, outermost first.
    pub around: Vec<Around>,
}

/// A call or an iteration around a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Around {
    /// The execution of a call.
    Call(ExprId),
    /// An iteration of a loop, counted from 0.
    Iteration(StmtId, u32),
}

/// A function and all functions that it calls, directly or indirectly.
struct Reachable {
    /// Their ids, in the order of the program.
    functions: Vec<FunctionId>,
    /// Whether one of them contains an operation over a quad.
    meets_quads: bool,
}

impl Reachable {
    fn from(program: &Program, root: FunctionId) -> Reachable {
        let mut reached = vec![false; program.bodies.len()];
        let mut meets_quads = false;
        let mut todo = vec![root];
        while let Some(f) = todo.pop() {
            if std::mem::replace(&mut reached[f.0 as usize], true) {
                continue;
            }
            for callee in program.body(f).exprs.clone().flat_map(|e| program.callees(ExprId(e))) {
                match callee {
                    Callee::Declared(f) | Callee::Generated(Generated::Getter(f) | Generated::Setter(f)) => todo.push(f),
                    Callee::Library(function) => {
                        meets_quads |= needs_quad(function.meaning()) || Derivative::of(function.meaning()).is_some();
                    }
                    Callee::Generated(_) => {}
                }
            }
        }
        let functions = (0..program.bodies.len() as u32).map(FunctionId).filter(|f| reached[f.0 as usize]).collect();
        Reachable { functions, meets_quads }
    }
}

/// The greatest nesting of expressions in a function.
fn depth(program: &Program, f: FunctionId) -> u32 {
    let exprs = program.body(f).exprs.clone();
    let mut depths: Vec<u32> = Vec::with_capacity(exprs.len());
    for e in exprs.clone() {
        // Children precede their parents.
        let below = program.children(ExprId(e)).into_iter().map(|child| depths[(child.0 - exprs.start) as usize]).max();
        depths.push(below.unwrap_or(0) + 1);
    }
    depths.into_iter().max().unwrap_or(0)
}

/// The bits of a constant of that type.
fn constant(program: &Program, constant: Constant, ty: TypeId) -> u32 {
    match constant {
        Constant::Bool(b) => u32::from(b),
        Constant::Int(i) => i as u32,
        Constant::Uint(u) | Constant::Float(u) => u,
        Constant::Element(at) => match program.env.types.get(ty) {
            Type::Enum(id) => program.env.enumeration(id).elements[at as usize].1,
            _ => at,
        },
    }
}

/// A source expression that is not reached yet. A literal is a value at once.
pub fn source(program: &Program, id: ExprId) -> Expr {
    let typed = program.expr(id);
    let ty = typed.ty.right();
    let form = match typed.form {
        crate::wsl::typing::program::Form::Constant(c) => Form::Value(Words::from_slice(&[Word::Bits(constant(program, c, ty))])),
        _ => Form::Source(id),
    };
    Expr { at: id, ty, form }
}

/// The pointee type of a pointer or an array reference. `None` for other types.
fn pointee(program: &Program, ty: TypeId) -> Option<TypeId> {
    match program.env.types.get(ty) {
        Type::Pointer(_, to) | Type::ArrayReference(_, to) => Some(to),
        _ => None,
    }
}

/// The expression that calls a function with these values.
pub fn call_of(program: &Program, function: FunctionId, arguments: Vec<Value>) -> Expr {
    // The call needs a source expression. A function without expressions has none.
    let exprs = &program.body(function).exprs;
    let at = ExprId(if exprs.is_empty() { u32::MAX } else { exprs.start });
    let arguments = arguments.into_iter().map(|v| Expr::value(at, v)).collect();
    Expr { at, ty: program.env.function(function).result, form: Form::Call(Callee::Declared(function), arguments) }
}

/// The expression that calls a library function with these values.
pub fn call_of_library(at: ExprId, function: LibraryFunction, result: TypeId, arguments: Vec<Value>) -> Expr {
    let arguments = arguments.into_iter().map(|v| Expr::value(at, v)).collect();
    Expr { at, ty: result, form: Form::Call(Callee::Library(function), arguments) }
}
