//! Calls of the standard library: seed 004 "Built-in Functions".

use super::term::{Expr, Form};
use super::{Cx, Done, Event, Stop, derivative};
use crate::rule::Rule;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::meaning::{self, Lanes, Op};
use crate::wsl::memory::{Address, Words};
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::{self, ExprId, Program};

impl Cx<'_, '_> {
    pub(super) fn call_library(&mut self, function: LibraryFunction, e: &mut Expr) -> Done {
        use Meaning as M;
        match function.meaning() {
            M::ElementPointer => {
                let Form::Call(callee, arguments) = &mut e.form else { return self.stuck("no call") };
                let pointee = arguments.first().and_then(|p| super::pointee(self.program(), p.ty));
                let Some(array) = pointee else { return self.stuck("an element of no array") };
                *callee = Callee::Generated(Generated::ElementAddress(array, function.space(0).unwrap_or(AddressSpace::Thread)));
                self.apply(Rule::WslEElementAddress, super::generated::e_element_address, e)
            }
            M::DeviceMemoryBarrierWithGroupSync | M::GroupMemoryBarrierWithGroupSync | M::AllMemoryBarrierWithGroupSync => {
                self.instance.barrier = Some(e.at);
                if !std::mem::take(self.released) {
                    return Err(Stop::Barrier);
                }
                self.apply(Rule::WslEBarrier, e_barrier, e)
            }
            M::InterlockedAdd
            | M::InterlockedAnd
            | M::InterlockedOr
            | M::InterlockedXor
            | M::InterlockedMin
            | M::InterlockedMax
            | M::InterlockedExchange => self.apply(Rule::WslEInterlocked, e_interlocked, e),
            M::InterlockedCompareExchange => self.apply(Rule::WslECompareExchange, e_compare_exchange, e),
            meaning if meaning::Derivative::of(meaning).is_some() => self.apply(Rule::WslEDerivative, derivative::e_derivative, e),
            _ => match self.call_texture(function, e) {
                Some(done) => done,
                None => self.apply(Rule::WslECallLibrary, e_call_library, e),
            },
        }
    }

    /// The default value of a type, whatever it is.
    pub(super) fn default_value(&mut self, ty: TypeId) -> Result<Words, Stop> {
        // Zero is the default of every scalar, and an element of every enum has the value 0.
        let words = self.shared.words(ty)?;
        Ok(Words::from_elem(Word::Bits(0), words as usize))
    }
}

pub(super) fn called(cx: &Cx, e: &Expr) -> Result<(LibraryFunction, Vec<(TypeId, Words)>), Stop> {
    let Form::Call(Callee::Library(function), arguments) = &e.form else { return cx.stuck("no call of the library") };
    let arguments: Option<Vec<(TypeId, Words)>> = arguments.iter().map(|a| Some((a.ty, a.words()?.clone()))).collect();
    match arguments {
        Some(arguments) => Ok((*function, arguments)),
        None => cx.stuck("an argument is no value"),
    }
}

/// f(v1, …) → v, f a function of the library that gives v [wsl/e-call-library, 004 Built-in
/// Functions]
pub fn e_call_library(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, arguments) = called(cx, e)?;
    let types: Vec<TypeId> = arguments.iter().map(|a| a.0).collect();
    let words: Vec<&[Word]> = arguments.iter().map(|a| &a.1[..]).collect();
    let result = match function.meaning() {
        // Of every type, those that the program declares too.
        Meaning::Default => cx.default_value(e.ty)?,
        Meaning::Identity => arguments[0].1.clone(),
        Meaning::EnumFrom => cx.valid(e.ty, arguments[0].1.clone()),
        _ => {
            let program = cx.shared.program;
            let Some(results) = meaning::apply(cx.opens, &program.env.types, function, &types, e.ty, &words) else {
                return Err(Stop::Unsupported(format!("the library's {:?} is not executed here", function.meaning()), cx.span()));
            };
            // Pointers come last, in the order in which they are stored through.
            let pointers = arguments.iter().filter_map(|a| match (program.env.types.get(a.0), a.1.first()) {
                (Type::Pointer(..), Some(Word::Address(address))) => Some(*address),
                _ => None,
            });
            for (address, words) in pointers.zip(&results.stored) {
                cx.store(address, words)?;
            }
            results.result
        }
    };
    e.form = Form::Value(result);
    Ok(())
}

fn address(cx: &Cx, words: &Words) -> Result<Address, Stop> {
    match words.first() {
        Some(Word::Address(address)) => Ok(*address),
        _ => cx.stuck("an atomic operation through no pointer"),
    }
}

/// An atomic's scalar.
fn atomic(cx: &Cx, pointer: TypeId) -> Result<Scalar, Stop> {
    let of = super::pointee(cx.program(), pointer).map(|ty| cx.program().env.types.get(ty));
    match of {
        Some(Type::Atomic(scalar)) => Ok(scalar),
        _ => cx.stuck("an atomic operation on no atomic"),
    }
}

/// An atomic operation of a helper thread: nothing is read or written, and an unspecified value is
/// stored through its last argument.
fn read_by_helper(cx: &mut Cx, e: &mut Expr, z: Address) -> Done {
    let read = cx.opens.leaf(None, Scalar::Uint, 0);
    cx.store(z, &[read])?;
    e.form = Form::Value(Words::new());
    Ok(())
}

impl Cx<'_, '_> {
    /// What an atomic operation reads; unspecified if it races with a store that is not atomic.
    fn atomic_read(&mut self, at: Address, stores: bool) -> Result<Word, Stop> {
        self.gate(at, 1, true)?;
        self.note_place();
        if self.memory.atomic(self.opens, at, stores) {
            return Ok(self.opens.leaf(None, Scalar::Uint, 0));
        }
        match self.memory.read(self.opens, at, 1) {
            Some(words) => Ok(words[0]),
            None => self.stuck("an atomic operation goes out of its object"),
        }
    }

    fn write(&mut self, at: Address, word: Word) -> Done {
        match self.memory.write(self.opens, at, &[word]) {
            Some(()) => Ok(()),
            None => self.stuck("an atomic operation goes out of its object"),
        }
    }
}

/// InterlockedOp(x, y, z) → Void: a read-modify-write of *x by y, then a store of what was read to
/// *z [wsl/e-interlocked, 004 Fences and atomic operations; WSL-D13]
pub fn e_interlocked(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, arguments) = called(cx, e)?;
    let [(pointer, x), (_, y), (_, z)] = &arguments[..] else { return cx.stuck("an atomic operation has three arguments") };
    let (x, y, z, of) = (address(cx, x)?, y[0], address(cx, z)?, atomic(cx, *pointer)?);
    if cx.helps(x) {
        return read_by_helper(cx, e, z);
    }
    let read = cx.atomic_read(x, true)?;
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
    cx.write(x, written)?;
    cx.events.push(Event::ReadModifyWrite(x, read, written));
    cx.store(z, &[read])?;
    e.form = Form::Value(Words::new());
    Ok(())
}

/// InterlockedCompareExchange(x, old, new, z) → Void: a read-modify-write of *x to new if it holds
/// old, else a load; then a store of what was read to *z [wsl/e-compare-exchange, 004 Fences and
/// atomic operations]
pub fn e_compare_exchange(cx: &mut Cx, e: &mut Expr) -> Done {
    let (_, arguments) = called(cx, e)?;
    let [(pointer, x), (_, old), (_, new), (_, z)] = &arguments[..] else { return cx.stuck("a compare-exchange has four arguments") };
    let (x, old, new, z, of) = (address(cx, x)?, old[0], new[0], address(cx, z)?, atomic(cx, *pointer)?);
    if cx.helps(x) {
        return read_by_helper(cx, e, z);
    }
    let read = cx.atomic_read(x, true)?;
    let same = cx.opens.scalar(Op { meaning: Meaning::Equal, of, to: Scalar::Bool }, &[read, old]);
    if cx.truth(&Words::from_slice(&[same]))? {
        cx.write(x, new)?;
        cx.events.push(Event::ReadModifyWrite(x, read, new));
    } else {
        cx.events.push(Event::AtomicLoad(x, read));
    }
    cx.store(z, &[read])?;
    e.form = Form::Value(Words::new());
    Ok(())
}

/// Whether a barrier's fence is of threadgroup memory, and of device memory.
fn fences(barrier: Meaning) -> (bool, bool) {
    match barrier {
        Meaning::DeviceMemoryBarrierWithGroupSync => (false, true),
        Meaning::GroupMemoryBarrierWithGroupSync => (true, false),
        _ => (true, true),
    }
}

/// Likewise, of the barrier that an expression calls.
pub fn fence(program: &Program, barrier: ExprId) -> (bool, bool) {
    match &program.expr(barrier).form {
        program::Form::Call(Callee::Library(function), _) => fences(function.meaning()),
        _ => (true, true),
    }
}

/// barrier() → Void, once every thread of the group stands at it [wsl/e-barrier, 004 Fences and
/// atomic operations; WSL-D12]
pub fn e_barrier(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, _) = called(cx, e)?;
    let (threadgroup, device) = fences(function.meaning());
    cx.events.push(Event::Fence { threadgroup, device });
    e.form = Form::Value(Words::new());
    Ok(())
}
