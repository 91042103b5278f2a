//! Built-in functions: seed 004 "Built-in Functions".
//!
//! Moves of words have instructions, and so have arithmetic and comparisons element by element.
//! Every other call is one [`Instruction::Library`], which
//! [`lanes`](crate::wsl::machine::lanes) evaluates.

use super::{Compiler, Done};
use crate::wsl::library::{LibraryFunction, Meaning, Name};
use crate::wsl::machine::code::{Binary, Instruction, LibraryCall, Slot, Test, Unary, Words};
use crate::wsl::machine::lanes;
use crate::wsl::types::{Scalar, Type, TypeId};
use smallvec::SmallVec;

/// The offsets of a value's scalars.
type Offsets = SmallVec<[u32; 16]>;

/// The test of a comparison operator on scalars of that type. The flag is true if the operands
/// are swapped.
pub(super) fn test_of(meaning: Meaning, of: Option<Scalar>) -> Option<(Test, bool)> {
    use Scalar::{Bool, Float, Int, Uint};
    let of = of?;
    Some(match (meaning, of) {
        (Meaning::Equal, Bool) => (Test::EqualBool, false),
        (Meaning::Equal, Float) => (Test::EqualFloat, false),
        (Meaning::Equal, _) => (Test::Equal, false),
        (Meaning::NotEqual, Bool) => (Test::NotEqualBool, false),
        (Meaning::NotEqual, Float) => (Test::NotEqualFloat, false),
        (Meaning::NotEqual, _) => (Test::NotEqual, false),
        (Meaning::Less | Meaning::Greater, Int) => (Test::LessInt, meaning == Meaning::Greater),
        (Meaning::Less | Meaning::Greater, Uint) => (Test::LessUint, meaning == Meaning::Greater),
        (Meaning::Less | Meaning::Greater, Float) => (Test::LessFloat, meaning == Meaning::Greater),
        (Meaning::LessEqual | Meaning::GreaterEqual, Int) => (Test::LessEqualInt, meaning == Meaning::GreaterEqual),
        (Meaning::LessEqual | Meaning::GreaterEqual, Uint) => (Test::LessEqualUint, meaning == Meaning::GreaterEqual),
        (Meaning::LessEqual | Meaning::GreaterEqual, Float) => (Test::LessEqualFloat, meaning == Meaning::GreaterEqual),
        _ => return None,
    })
}

fn binary_of(meaning: Meaning, of: Scalar) -> Option<Binary> {
    use Scalar::{Bool, Float, Int, Uint};
    Some(match (meaning, of) {
        (Meaning::Add, Int | Uint) => Binary::Add,
        (Meaning::Subtract, Int | Uint) => Binary::Sub,
        (Meaning::Multiply, Int | Uint) => Binary::Mul,
        (Meaning::Divide, Int) => Binary::DivInt,
        (Meaning::Divide, Uint) => Binary::DivUint,
        (Meaning::Remainder, Int) => Binary::RemInt,
        (Meaning::Remainder, Uint) => Binary::RemUint,
        (Meaning::Min, Int) => Binary::MinInt,
        (Meaning::Min, Uint) => Binary::MinUint,
        (Meaning::Max, Int) => Binary::MaxInt,
        (Meaning::Max, Uint) => Binary::MaxUint,
        (Meaning::And, Bool) => Binary::AndBool,
        (Meaning::And, Int | Uint) => Binary::And,
        (Meaning::Or, Bool) => Binary::OrBool,
        (Meaning::Or, Int | Uint) => Binary::Or,
        (Meaning::Xor, Bool) => Binary::XorBool,
        (Meaning::Xor, Int | Uint) => Binary::Xor,
        (Meaning::ShiftLeft, _) => Binary::ShiftLeft,
        (Meaning::ShiftRight, Int) => Binary::ShiftRightInt,
        (Meaning::ShiftRight, _) => Binary::ShiftRightUint,
        (Meaning::Add, Float) => Binary::AddFloat,
        (Meaning::Subtract, Float) => Binary::SubFloat,
        (Meaning::Multiply, Float) => Binary::MulFloat,
        (Meaning::Divide, Float) => Binary::DivFloat,
        (Meaning::Step, Float) => Binary::StepFloat,
        (Meaning::Min, Float) => Binary::MinFloat,
        (Meaning::Max, Float) => Binary::MaxFloat,
        _ => return None,
    })
}

fn unary_of(meaning: Meaning, of: Scalar, to: Scalar) -> Option<Unary> {
    use Scalar::{Bool, Float, Int, Uint};
    Some(match (meaning, of, to) {
        (Meaning::Negate, Int, _) => Unary::Negate,
        (Meaning::Negate, Float, _) => Unary::NegateFloat,
        (Meaning::Complement, Int | Uint, _) => Unary::Complement,
        (Meaning::Complement | Meaning::Not, Bool, _) => Unary::Not,
        (Meaning::Abs, Int, _) => Unary::AbsInt,
        (Meaning::Abs, Float, _) => Unary::AbsFloat,
        (Meaning::Sign, Int, _) => Unary::SignInt,
        (Meaning::Sign, Uint, _) => Unary::SignUint,
        (Meaning::Floor, Float, _) => Unary::Floor,
        (Meaning::Ceil, Float, _) => Unary::Ceil,
        (Meaning::Trunc, Float, _) => Unary::Trunc,
        (Meaning::Sqrt, Float, _) => Unary::Sqrt,
        (Meaning::CountBits, Uint, _) => Unary::CountBits,
        (Meaning::ReverseBits, Uint, _) => Unary::ReverseBits,
        (Meaning::IsNan, Float, _) => Unary::IsNan,
        (Meaning::IsInf, Float, _) => Unary::IsInf,
        (Meaning::IsFinite, Float, _) => Unary::IsFinite,
        (Meaning::Convert, Int | Uint, Bool) => Unary::Truth,
        (Meaning::Convert, Float, Bool) => Unary::TruthFloat,
        (Meaning::Convert, Bool, Int | Uint) => Unary::Truth,
        (Meaning::Convert, Int, Float) => Unary::IntToFloat,
        (Meaning::Convert, Uint, Float) => Unary::UintToFloat,
        (Meaning::Convert, Float, Int) => Unary::FloatToInt,
        (Meaning::Convert, Float, Uint) => Unary::FloatToUint,
        _ => return None,
    })
}

impl Compiler<'_> {
    /// The type of the scalars of a value of the type. For an enum, that of its base type.
    pub(super) fn scalar_of(&self, ty: TypeId) -> Option<Scalar> {
        match self.program.env.types.get(ty) {
            Type::Scalar(s) | Type::Vector(s, _) | Type::Matrix(s, ..) => Some(s),
            Type::Enum(id) => self.scalar_of(self.program.env.enumeration(id).base),
            _ => None,
        }
    }

    /// Whether a value of the type is one word.
    pub(super) fn is_scalar(&self, ty: TypeId) -> bool {
        matches!(self.program.env.types.get(ty), Type::Scalar(_) | Type::Enum(_))
    }

    /// The offsets of the scalars of a value of the type.
    fn offsets(&self, ty: TypeId) -> Offsets {
        match self.program.env.types.get(ty) {
            Type::Vector(_, n) => (0..u32::from(n)).collect(),
            Type::Matrix(_, columns, rows) => {
                let column = u32::from(rows.next_power_of_two());
                (0..u32::from(columns)).flat_map(|c| (0..u32::from(rows)).map(move |r| c * column + r)).collect()
            }
            _ => Offsets::from_slice(&[0]),
        }
    }

    /// Calls a built-in function that neither waits nor is atomic. Returns the slot of its result.
    pub(super) fn call_of_library(&mut self, f: LibraryFunction, operands: &[(Slot, TypeId)], ty: TypeId, to: Option<Slot>) -> Done<Slot> {
        let n = self.words(ty)?;
        match (f.meaning(), operands) {
            (Meaning::Default, []) => {
                let to = self.or_temporary(to, n)?;
                self.zero(to, n)?;
                return Ok(to);
            }
            (Meaning::Identity | Meaning::EnumValue, &[(a, _)]) => return Ok(a),
            // The result is not a copy of the whole, so its padding has to be zeros.
            (Meaning::Plus | Meaning::Reinterpret, &[(a, _)]) => {
                return if self.is_padded(ty) { self.gather(operands, ty, n, to) } else { Ok(a) };
            }
            (Meaning::EnumFrom, &[(a, _)]) => return self.sanitized(a, ty, to),
            (Meaning::Abs, &[(a, of)]) if self.scalar_of(of) == Some(Scalar::Uint) => return Ok(a),
            (Meaning::Convert, &[(a, of)]) if self.scalar_of(of).zip(self.scalar_of(ty)).is_some_and(same_bits) => return Ok(a),
            (Meaning::Swizzle, &[(a, _)]) => return self.swizzle(f, a, n, to),
            (Meaning::ElementCount, &[(_, of)]) => {
                let Some(shape) = self.shape_of_parts(of) else { return self.unsupported("the length of this") };
                return self.constant(u32::from(shape.count));
            }
            (Meaning::Index, &[(a, of), (index, _)]) => {
                if let Some(shape) = self.shape_of_parts(of) {
                    if let Some(bits) = self.known_bits(index).filter(|b| *b < u32::from(shape.count)) {
                        let at = a + bits * u32::from(shape.words);
                        return if self.is_padded(ty) { self.gather(&[(at, ty)], ty, n, to) } else { Ok(at) };
                    }
                    let to = self.or_temporary(to, n)?;
                    let lane = self.temporary(1)?;
                    self.emit(Instruction::Lane { to: lane, index, count: u32::from(shape.count) })?;
                    self.emit(Instruction::PickLane { to, from: a, lane, shape })?;
                    self.zero_padding(to, ty)?;
                    return Ok(to);
                }
            }
            (Meaning::Vector | Meaning::MatrixColumns | Meaning::MatrixElements, _) => return self.gather(operands, ty, n, to),
            (Meaning::Increment | Meaning::Decrement, &[(a, of)]) => {
                let (one, of) = (self.constant(1)?, self.scalar_of(of));
                if let Some(Scalar::Int | Scalar::Uint) = of {
                    let to = self.or_temporary(to, n)?;
                    self.binary(if f.meaning() == Meaning::Increment { Binary::Add } else { Binary::Sub }, to, a, one)?;
                    return Ok(to);
                }
            }
            _ => {}
        }
        if let Some(slot) = self.elementwise(f.meaning(), operands, ty, n, to)? {
            return Ok(slot);
        }
        self.general(f, operands, ty, n)
    }

    fn swizzle(&mut self, f: LibraryFunction, a: Slot, n: u32, to: Option<Slot>) -> Done<Slot> {
        let letters = f.word();
        // Adjacent elements stay where they are, unless padding has to follow.
        if letters.windows(2).all(|w| w[1] == w[0] + 1) && letters.len() as u32 == n {
            return Ok(a + u32::from(letters[0]));
        }
        let to = self.without_overlap(to, &[Words { at: a, n: 4 }], n)?;
        for (k, &letter) in letters.iter().enumerate() {
            self.copy(to + k as u32, a + u32::from(letter), 1)?;
        }
        self.pad(to, letters.len() as u32, n)?;
        Ok(to)
    }

    /// The slot `to` if no operand overlaps it, or else new words.
    fn without_overlap(&mut self, to: Option<Slot>, operands: &[Words], n: u32) -> Done<Slot> {
        let to = to.filter(|to| operands.iter().all(|o| o.at >= to + n || *to >= o.at + o.n));
        self.or_temporary(to, n)
    }

    /// Writes zeros after the used words.
    fn pad(&mut self, to: Slot, used: u32, n: u32) -> Done {
        self.zero(to + used, n.saturating_sub(used))
    }

    /// Whether a vector or matrix of the type has padding.
    pub(super) fn is_padded(&self, ty: TypeId) -> bool {
        matches!(self.program.env.types.get(ty), Type::Vector(_, 3) | Type::Matrix(_, _, 3))
    }

    /// Writes zeros to the padding of a vector or matrix of the type.
    pub(super) fn zero_padding(&mut self, to: Slot, ty: TypeId) -> Done {
        match self.program.env.types.get(ty) {
            Type::Vector(_, 3) => self.zero(to + 3, 1),
            Type::Matrix(_, columns, 3) => {
                for column in 0..u32::from(columns) {
                    self.zero(to + 4 * column + 3, 1)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Makes a vector or matrix of the operands' elements in order.
    pub(super) fn gather(&mut self, operands: &[(Slot, TypeId)], ty: TypeId, n: u32, to: Option<Slot>) -> Done<Slot> {
        let mut from: SmallVec<[Slot; 16]> = SmallVec::new();
        let mut used: SmallVec<[Words; 16]> = SmallVec::new();
        for &(at, of) in operands {
            used.push(Words { at, n: self.words(of)? });
            from.extend(self.offsets(of).iter().map(|o| at + o));
        }
        let to = self.without_overlap(to, &used, n)?;
        for (offset, from) in self.offsets(ty).into_iter().zip(from) {
            self.copy(to + offset, from, 1)?;
        }
        self.zero_padding(to, ty)?;
        Ok(to)
    }

    /// Performs an operation on each element. `None` if there is no instruction for it.
    fn elementwise(&mut self, meaning: Meaning, operands: &[(Slot, TypeId)], ty: TypeId, n: u32, to: Option<Slot>) -> Done<Option<Slot>> {
        let Some(of) = operands.first().and_then(|(_, ty)| self.scalar_of(*ty)) else { return Ok(None) };
        let Some(result) = self.scalar_of(ty) else { return Ok(None) };
        enum Op {
            One(Unary),
            Two(Binary, bool),
        }
        let op = match operands.len() {
            1 => unary_of(meaning, of, result).map(Op::One),
            2 => match test_of(meaning, Some(of)) {
                Some((test, swapped)) => Some(Op::Two(Binary::Test(test), swapped)),
                None => binary_of(meaning, of).map(|op| Op::Two(op, false)),
            },
            _ => None,
        };
        let Some(op) = op else { return Ok(None) };
        let offsets = self.offsets(ty);
        let operand = |c: &Self, i: usize| -> (Slot, Offsets) { (operands[i].0, c.offsets(operands[i].1)) };
        let at = |(at, offsets): &(Slot, Offsets), k: usize| at + if offsets.len() == 1 { offsets[0] } else { offsets[k] };
        let to = match offsets.len() {
            1 => self.or_temporary(to, n)?,
            _ => {
                let mut used: SmallVec<[Words; 2]> = SmallVec::new();
                for &(slot, of) in operands {
                    // An operation may replace an operand in place, element by element.
                    let words = self.words(of)?;
                    if Some(slot) != to || words != n {
                        used.push(Words { at: slot, n: words });
                    }
                }
                self.without_overlap(to, &used, n)?
            }
        };
        let first = operand(self, 0);
        let second = if operands.len() == 2 { Some(operand(self, 1)) } else { None };
        for (k, offset) in offsets.iter().enumerate() {
            match (&op, &second) {
                (Op::One(op), _) => self.unary(*op, to + offset, at(&first, k))?,
                (Op::Two(op, false), Some(second)) => self.binary(*op, to + offset, at(&first, k), at(second, k))?,
                (Op::Two(op, true), Some(second)) => self.binary(*op, to + offset, at(second, k), at(&first, k))?,
                _ => {}
            }
        }
        self.zero_padding(to, ty)?;
        Ok(Some(to))
    }

    /// Keeps the types, for calls that are evaluated by them.
    pub(super) fn keep_types(&mut self) {
        if self.code.calls.is_empty() && self.code.textures.is_empty() {
            self.code.types = self.program.env.types.clone();
        }
    }

    /// Calls a function without instructions of its own, and stores through its pointers.
    fn general(&mut self, f: LibraryFunction, operands: &[(Slot, TypeId)], ty: TypeId, n: u32) -> Done<Slot> {
        let to = self.temporary(n)?;
        let (mut arguments, mut stored, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
        for &(at, of) in operands {
            if let Type::Pointer(_, target) = self.program.env.types.get(of) {
                let n = self.words(target)?;
                stored.push(Words { at: self.temporary(n)?, n });
                pointers.push((at, of));
            }
            arguments.push(Words { at, n: self.words(of)? });
        }
        let parameters = operands.iter().map(|(_, ty)| *ty).collect();
        let call = LibraryCall { function: f, parameters, arguments, ty, result: Words { at: to, n }, stored: stored.clone() };
        if !lanes::supported(&self.program.env.types, &call) {
            let name = match f.row().name {
                Name::Function(name) => name.to_string(),
                _ => format!("{:?}", f.meaning()),
            };
            return self.unsupported(format!("the built-in function {name}"));
        }
        self.keep_types();
        self.code.calls.push(call);
        let call = self.code.calls.len() as u32 - 1;
        self.emit(Instruction::Library { call })?;
        for ((pointer, ty), from) in pointers.into_iter().zip(stored) {
            self.store_through(pointer, ty, from.at)?;
        }
        Ok(to)
    }
}

/// Whether a conversion keeps the bits: between `int` and `uint`, and from either to itself.
fn same_bits((of, to): (Scalar, Scalar)) -> bool {
    let integer = |s| matches!(s, Scalar::Int | Scalar::Uint);
    integer(of) && integer(to)
}
