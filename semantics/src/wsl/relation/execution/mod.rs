//! WSL execution of one thread: seed 004 "Dynamic rules", a function a rule.
//!
//! A [`Thread`] is a program being executed ([`term`]), and execution is a relation: a rule is a
//! function from a term to what the term becomes ([`Next`]), or to nothing where the rule does not
//! apply. It holds its whole premise; of a rule about a context that is that the part steps. Rules
//! change nothing: what memory sees of one is data ([`Effect`]), and so is that the thread waits or
//! ends; only terms over unspecified values may be added to [`Opens`](crate::wsl::open::Opens). The
//! rules stand in one table (`table`), looked up by the form of the term. [`step`] asks for a
//! reduct and does what it says; a condition that is unspecified has one for each outcome, and
//! [`step`] has one of them decided. Of a valid program exactly one rule applies until the thread
//! ends or waits, which is tested with [`ask`]. The file of a rule is the section that it is
//! printed in.
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
//! | `derivative` | "Floating point arithmetic": what the threads of a quad compute together |
//! | `context`, `next` | what rules are given, and what they give |
//! | `table`, `drive` | the table of rules, and the driver |
//!
//! `check` says whether a term is well typed, which every step preserves.
//!
//! The typed program says of every expression as what kind of value it is used, so a load is a rule
//! of its own, and "can be reduced to an abstract left-value" is a function that may fail (ERRATA
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
pub use context::{Asked, Cx};
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
/// The most expressions in one another that the relation executes: each step begins at the top. The
/// machine executes all that is read.
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
    /// A read-modify-write: what was read and what was written.
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
    /// It stands before an access whose place in the order of all threads' accesses is not its own
    /// to choose: what it touches.
    Turn(Footprint),
    /// It stands at an operation over its quad with this operand, and its quad does not go on yet.
    Quad(Words),
    /// It was discarded, by this step.
    Discarded(Box<Step>),
    /// No rule applies: why, and where.
    Stuck(String, Span),
    /// A limit was passed.
    Limit(Limit),
    /// What is not modeled.
    Unsupported(String, Span),
}

/// What memory sees of a rule: it is done in this order once the rule is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A load, which gave these words.
    Load(Address, Words),
    /// A load of what never changes.
    Read(Address, Words),
    /// A store. A helper thread's store in device memory is none.
    Store(Address, Words),
    /// An atomic load, which gave this word.
    AtomicLoad(Address, Word),
    /// A read-modify-write: what was read and what is written.
    ReadModifyWrite(Address, Word, Word),
    /// An access that a helper thread does not make.
    Helped(Address),
    /// The fence of a barrier, which the thread passes: of threadgroup memory, of device memory.
    Fence(bool, bool),
    /// Memory for a generated function's parameters, of so many words: the next object.
    Allocate(Generated, u32),
    /// What the quad gave is taken.
    Exchanged,
}

/// The effects of a rule, in order.
pub type Effects = SmallVec<[Effect; 1]>;

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The rules of the contexts that it is applied in, outermost first; without
    /// [`Shared::tells_all`], of those alone that the thread was not in before.
    pub within: SmallVec<[Rule; 8]>,
    /// What it was applied to.
    pub at: Span,
    /// What memory saw, in program order; nothing without [`Shared::tells_all`].
    pub events: Vec<Event>,
    /// The expression that became a value, and the value; none where the step made no value, and
    /// without [`Shared::tells_all`].
    pub value: Option<Box<(ExprId, Value)>>,
}

/// A rule's function that a planted bug replaces.
#[derive(Clone, Copy, Debug)]
pub enum Replacement {
    /// Of a rule for expressions.
    Expr(ExprRule),
    /// Of a rule for statements.
    Stmt(StmtRule),
}

/// Before which accesses a thread waits for its turn ([`Stop::Turn`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Gate {
    /// Before none.
    #[default]
    Open,
    /// Before atomic ones.
    Atomics,
    /// Before all of memory that threads share.
    Shared,
}

/// Bugs that stand beside the rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    /// The rule that does something else.
    pub rule: Option<(Rule, Replacement)>,
    /// The rule of groups that does something else.
    pub group: Option<crate::wsl::group::Replacement>,
    /// What the library gives instead.
    pub scalar: Option<crate::wsl::meaning::Replacement>,
    /// What gives the bounds of integers over unspecified values instead.
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

/// What all threads share that no step changes.
#[derive(Debug)]
pub struct Shared<'p> {
    /// The program.
    pub program: &'p Program,
    /// The offset of each store in its thread's or group's memory, in bytes.
    pub offsets: Vec<u32>,
    /// How many words a thread's stores take.
    pub thread_words: usize,
    /// How many words a group's stores take.
    pub group_words: usize,
    /// The size of each type in words, and the offsets of each structure's fields in bytes; by type
    /// and structure.
    sizes: Vec<Option<u32>>,
    fields: Vec<Vec<u32>>,
    /// Whether threads may come to an operation over their quad.
    pub meets_quads: bool,
    /// The rules.
    rules: Cow<'static, Rules>,
    /// Planted bugs.
    pub planted: Planted,
    /// Whether each step tells all contexts that it is made in, what memory saw, and what value it
    /// made.
    pub tells_all: bool,
}

impl<'p> Shared<'p> {
    /// What the threads share that the relation executes from a function on.
    ///
    /// # Errors
    /// As [`Shared::laid_out`]; and if expressions stand more than [`MAX_DEPTH`]
    /// deep in one another.
    pub fn new(program: &'p Program, root: FunctionId, planted: Planted) -> Result<Shared<'p>, Limit> {
        let reachable = Reachable::from(program, root);
        if reachable.functions.iter().any(|&f| depth(program, f) > MAX_DEPTH) {
            return Err(Limit { what: "expressions in one another, which only the machine executes", bound: MAX_DEPTH.into() });
        }
        Shared::of(program, &reachable, planted)
    }

    /// Lays the stores of a function and of all that it calls out.
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
            Some((rule, by)) => Cow::Owned(Rules::default().replace(rule, by)),
            None => Cow::Borrowed(&*table::STANDARD),
        };
        let (thread_words, group_words) = (thread as usize / 4, group as usize / 4);
        let meets_quads = reachable.meets_quads;
        Ok(Shared { program, offsets, thread_words, group_words, sizes, fields, meets_quads, rules, planted, tells_all: true })
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

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number in the dispatch.
    pub number: u32,
    /// What is left to be executed: an expression, the call that it began with.
    pub program: Expr,
    /// Its own memory.
    pub own: ObjectId,
    /// Its group's memory.
    pub group: ObjectId,
    /// Where the parameters of generated functions are stored.
    generated: FxHashMap<Generated, ObjectId>,
    /// Whether the barrier that it stands at lets it go on.
    pub released: bool,
    /// Where it waits for its turn.
    pub gate: Gate,
    /// Whether it has its turn: the next step goes through the gate.
    pub passes: bool,
    /// What it is to a draw, if it is of one.
    pub stage: Option<InDraw>,
    /// Where it made its last step.
    focus: next::Focus,
}

/// A thread of a draw.
#[derive(Clone, Debug)]
pub struct InDraw {
    /// Its place in its quad, x + 2·y; a vertex has none.
    pub lane: Option<usize>,
    /// Whether it helps its quad to compute derivatives and nothing more: what it stores in device
    /// memory is not there (ERRATA WSL-D29).
    pub helper: bool,
    /// Whether a device may have it for a fragment where here it is a helper, or
    /// the other way round.
    pub doubtful: bool,
    /// What the operation over the quad that it stands at gives it, once the quad goes on.
    pub exchange: Option<Exchange>,
}

/// What the threads of a quad are given where they meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The operand of each thread, in the order of lanes.
    pub operands: [Words; 4],
    /// What the operation leaves open is chosen for all four alike: which of the possibilities that
    /// it lists.
    pub chosen: SmallVec<[Word; 2]>,
}

impl Thread {
    /// A thread that is to execute an expression.
    pub fn new(shared: &Shared, memory: &mut Memory, number: u32, group: ObjectId, program: Expr) -> Thread {
        let words = vec![Word::Bits(0); shared.thread_words];
        let own = memory.push(Object { space: AddressSpace::Thread, name: format!("variables of thread {number}"), words });
        let (released, gate, passes, stage) = (false, Gate::Open, false, None);
        Thread {
            number,
            program,
            own,
            group,
            generated: FxHashMap::default(),
            released,
            gate,
            passes,
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

/// Where a thread stands: the barrier, or the operation over its quad, that it waits at, by the
/// calls and iterations around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instance {
    /// The call of the barrier or of the operation.
    pub barrier: Option<ExprId>,
    /// What is around it, outermost first.
    pub around: Vec<Around>,
}

/// What a thread stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Around {
    /// The execution of a call.
    Call(ExprId),
    /// An iteration of a loop, counted from 0.
    Iteration(StmtId, u32),
}

/// A function and all that it calls, directly or not.
struct Reachable {
    /// In the order of the program.
    functions: Vec<FunctionId>,
    /// Whether one of them has an operation over a quad.
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

/// How many expressions of a function stand in one another at most.
fn depth(program: &Program, f: FunctionId) -> u32 {
    let exprs = program.body(f).exprs.clone();
    let mut depths: Vec<u32> = Vec::with_capacity(exprs.len());
    for e in exprs.clone() {
        // Children stand before their parents.
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

/// An expression of the source that is not reached yet; a literal is a value.
pub fn source(program: &Program, id: ExprId) -> Expr {
    let typed = program.expr(id);
    let ty = typed.ty.right();
    let form = match typed.form {
        crate::wsl::typing::program::Form::Constant(c) => Form::Value(Words::from_slice(&[Word::Bits(constant(program, c, ty))])),
        _ => Form::Source(id),
    };
    Expr { at: id, ty, form }
}

/// The type that a pointer or an array reference is to.
fn pointee(program: &Program, ty: TypeId) -> Option<TypeId> {
    match program.env.types.get(ty) {
        Type::Pointer(_, to) | Type::ArrayReference(_, to) => Some(to),
        _ => None,
    }
}

/// The call of a function with values, as an expression to be executed.
pub fn call_of(program: &Program, function: FunctionId, arguments: Vec<Value>) -> Expr {
    // A function without expressions is called from nowhere.
    let exprs = &program.body(function).exprs;
    let at = ExprId(if exprs.is_empty() { u32::MAX } else { exprs.start });
    let arguments = arguments.into_iter().map(|v| Expr::value(at, v)).collect();
    Expr { at, ty: program.env.function(function).result, form: Form::Call(Callee::Declared(function), arguments) }
}

/// The call of one of the library's functions with values.
pub fn call_of_library(at: ExprId, function: LibraryFunction, result: TypeId, arguments: Vec<Value>) -> Expr {
    let arguments = arguments.into_iter().map(|v| Expr::value(at, v)).collect();
    Expr { at, ty: result, form: Form::Call(Callee::Library(function), arguments) }
}
