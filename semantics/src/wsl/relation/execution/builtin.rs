//! Calls of the standard library: seed 004 "Built-in Functions".

use super::next::conclude;
use super::table::{Class, Function::Expr as E, Row, Shape};
use super::term::{Expr, Form};
use super::{Cx, Effect, Effects, Next, Stop};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::meaning::{self, Evaluator, Op};
use crate::wsl::memory::{Address, Words};
use crate::wsl::open::Word;
use crate::wsl::race::ATOMIC;
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::{self, ExprId, Program};
use smallvec::{SmallVec, smallvec};

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslECallLibrary, E(&[Shape::CallLibrary], e_call_library)),
    (Rule::WslEInterlocked, E(&[Shape::CallAtomic], e_interlocked)),
    (Rule::WslECompareExchange, E(&[Shape::CallAtomic], e_compare_exchange)),
    (Rule::WslEBarrier, E(&[Shape::CallBarrier], e_barrier)),
];

/// The types and words of a call's arguments, all of which are values.
pub(super) type Values<'e> = SmallVec<[(TypeId, &'e Words); 4]>;

/// The library function that is called and its arguments. `None` unless the class of the function
/// fits and all arguments are values.
pub(super) fn library_call(e: &Expr, accepts: impl FnOnce(Class) -> bool) -> Option<(LibraryFunction, Values<'_>)> {
    let Form::Call(Callee::Library(function), arguments) = &e.form else { return None };
    if !accepts(Class::of(function.meaning())) {
        return None;
    }
    let mut values = Values::new();
    for a in arguments {
        values.push((a.ty, a.words()?));
    }
    Some((*function, values))
}

/// f(v1, …) → v, f a function of the library that gives v
/// [wsl/e-call-library, 004 Built-in Functions]
pub fn e_call_library(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Call(Callee::Library(function), arguments) = &e.form else { return None };
    if Class::of(function.meaning()) != Class::Value {
        return None;
    }
    let (mut types, mut words): (SmallVec<[TypeId; 4]>, SmallVec<[&[Word]; 4]>) = (SmallVec::new(), SmallVec::new());
    for a in arguments {
        types.push(a.ty);
        words.push(a.words()?);
    }
    let first = words.first().copied();
    conclude(|| {
        let mut effects = Effects::new();
        let result = match (function.meaning(), first) {
            // The default exists for every type, also for types that the program declares.
            (Meaning::Default, _) => cx.default_value(e.ty)?,
            (Meaning::Identity, Some(first)) => Words::from_slice(first),
            (Meaning::EnumFrom, Some(first)) => cx.make_valid(e.ty, Words::from_slice(first)),
            _ => {
                let program = cx.program();
                let Some(results) = meaning::apply(cx.opens, &program.env.types, *function, &types, e.ty, &words) else {
                    return Err(Stop::Unsupported(format!("the library's {:?} is not executed here", function.meaning()), cx.span()));
                };
                // Pointers come last, in the order in which they are stored through.
                let pointers = types.iter().zip(&words).filter_map(|(&ty, words)| match (program.env.types.get(ty), words.first()) {
                    (Type::Pointer(..), Some(Word::Address(address))) => Some(*address),
                    _ => None,
                });
                effects.extend(pointers.zip(results.stored).map(|(address, words)| Effect::Store(address, words)));
                results.result
            }
        };
        Ok(Next::value(e, result).with(effects))
    })
}

fn address(words: &Words) -> Option<Address> {
    match words.first()? {
        Word::Address(address) => Some(*address),
        _ => None,
    }
}

/// The scalar type of the atomic that a pointer points to.
fn atomic(cx: &Cx, pointer: TypeId) -> Option<Scalar> {
    match cx.program().env.types.get(super::pointee(cx.program(), pointer)?) {
        Type::Atomic(scalar) => Some(scalar),
        _ => None,
    }
}

impl Cx<'_, '_> {
    /// The word that an atomic operation reads. It is unspecified if the read races with a store
    /// that is not atomic.
    fn atomic_read(&mut self, at: Address) -> Result<Word, Stop> {
        self.turn(at, 1, true)?;
        if self.memory.races_with(self.opens, at, 1, ATOMIC).contains(&0) {
            return Ok(self.opens.leaf(None, Scalar::Uint, 0));
        }
        match self.memory.read(self.opens, at, 1) {
            Some(words) => Ok(words[0]),
            None => self.stuck("an atomic operation goes out of its object"),
        }
    }

    /// An atomic operation of a helper thread. It reads and writes nothing, and stores an
    /// unspecified value through its last argument.
    fn read_by_helper(&mut self, e: &Expr, x: Address, z: Address) -> Next {
        let read = self.opens.leaf(None, Scalar::Uint, 0);
        Next::value(e, Words::new()).with(smallvec![Effect::Helped(x), store_effect(z, read)])
    }
}

fn store_effect(at: Address, word: Word) -> Effect {
    Effect::Store(at, Words::from_slice(&[word]))
}

/// InterlockedOp(x, y, z) → Void: a read-modify-write of *x by y, then a store of what was read to
/// *z [wsl/e-interlocked, 004 Fences and atomic operations; WSL-D13]
pub fn e_interlocked(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (function, arguments) = library_call(e, |class| class == Class::Interlocked)?;
    let [(pointer, x), (_, y), (_, z)] = arguments[..] else { return None };
    let (x, y, z, of) = (address(x)?, *y.first()?, address(z)?, atomic(cx, pointer)?);
    if cx.has_no_effect(x) {
        return Some(cx.read_by_helper(e, x, z));
    }
    conclude(|| {
        let read = cx.atomic_read(x)?;
        let meaning = match function.meaning() {
            Meaning::InterlockedAdd => Some(Meaning::Add),
            Meaning::InterlockedAnd => Some(Meaning::And),
            Meaning::InterlockedOr => Some(Meaning::Or),
            Meaning::InterlockedXor => Some(Meaning::Xor),
            Meaning::InterlockedMin => Some(Meaning::Min),
            Meaning::InterlockedMax => Some(Meaning::Max),
            _ => None,
        };
        let written = match meaning {
            Some(meaning) => cx.opens.scalar(Op { meaning, of, to: of }, &[read, y]),
            None => y,
        };
        Ok(Next::value(e, Words::new()).with(smallvec![Effect::ReadModifyWrite(x, read, written), store_effect(z, read)]))
    })
}

/// InterlockedCompareExchange(x, old, new, z) → Void: a read-modify-write of *x to new if it holds
/// old, else a load; then a store of what was read to *z [wsl/e-compare-exchange, 004 Fences and
/// atomic operations]
pub fn e_compare_exchange(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (_, arguments) = library_call(e, |class| class == Class::CompareExchange)?;
    let [(pointer, x), (_, old), (_, new), (_, z)] = arguments[..] else { return None };
    let (x, old, new, z, of) = (address(x)?, *old.first()?, *new.first()?, address(z)?, atomic(cx, pointer)?);
    if cx.has_no_effect(x) {
        return Some(cx.read_by_helper(e, x, z));
    }
    conclude(|| {
        let read = cx.atomic_read(x)?;
        let same = cx.opens.scalar(Op { meaning: Meaning::Equal, of, to: Scalar::Bool }, &[read, old]);
        let exchanged = || Next::value(e, Words::new()).with(smallvec![Effect::ReadModifyWrite(x, read, new), store_effect(z, read)]);
        let loaded = || Next::value(e, Words::new()).with(smallvec![Effect::AtomicLoad(x, read), store_effect(z, read)]);
        Ok(match cx.opens.read(same) {
            Word::Bits(0) => loaded(),
            word @ Word::Open(_) => exchanged().under(word, &[Some(1)]).or(loaded().under(word, &[Some(0), None])),
            _ => exchanged(),
        })
    })
}

/// Whether a barrier's fence is of threadgroup memory, and of device memory.
fn fences(barrier: Meaning) -> (bool, bool) {
    match barrier {
        Meaning::DeviceMemoryBarrierWithGroupSync => (false, true),
        Meaning::GroupMemoryBarrierWithGroupSync => (true, false),
        _ => (true, true),
    }
}

/// Whether the fence of a called barrier is of threadgroup memory, and of device memory.
pub fn fence(program: &Program, barrier: ExprId) -> (bool, bool) {
    match &program.expr(barrier).form {
        program::Form::Call(Callee::Library(function), _) => fences(function.meaning()),
        _ => (true, true),
    }
}

/// barrier() → Void, once every thread of the group stands at it [wsl/e-barrier, 004 Fences and
/// atomic operations; WSL-D12]
pub fn e_barrier(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (function, _) = library_call(e, |class| class == Class::Barrier)?;
    if !cx.released {
        return Some(Next::from(Stop::Barrier));
    }
    let (threadgroup, device) = fences(function.meaning());
    Some(Next::value(e, Words::new()).with(smallvec![Effect::Fence(threadgroup, device)]))
}
