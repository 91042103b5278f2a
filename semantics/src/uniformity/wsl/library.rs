//! Calls of the standard library. Some operations are folded, some are done scalar by scalar, and
//! others depend on all of their arguments.

use super::place::Place;
use super::{Done, Lower, Scalars, Val, VaryingSource};
use crate::uniformity::flow::{Pure, Value};
use crate::uniformity::table::{self, ResultUniformity};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{Scalar, Type, TypeId};

/// How an operation is done scalar by scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scalarwise {
    /// By this function.
    By(Pure),
    /// By this function, with its operands swapped.
    Swapped(Pure),
    /// The result is the operand.
    Same,
    /// The comparison of the operand with zero.
    NotZero,
    /// A shift by an amount modulo 32.
    Shift(Pure),
    /// A function that is not folded.
    Opaque,
}

/// How an operation is done on scalars of this kind. `None` if it is not done scalar by scalar.
fn scalarwise(meaning: Meaning, kind: Scalar, result: Scalar) -> Option<Scalarwise> {
    use Meaning as M;
    use Scalar::{Bool, Float, Int, Uint};
    use Scalarwise::{By, NotZero, Opaque, Same, Shift, Swapped};
    let integer = matches!(kind, Int | Uint);
    let exact = kind != Float;
    let signed = |s, u| if kind == Int { s } else { u };
    Some(match meaning {
        M::Add if integer => By(Pure::Add),
        M::Subtract if integer => By(Pure::Sub),
        M::Multiply if integer => By(Pure::Mul),
        M::Negate if integer => By(Pure::Neg),
        M::Plus => Same,
        M::Divide if integer => By(signed(Pure::DivS, Pure::DivU)),
        M::Remainder if integer => By(signed(Pure::RemS, Pure::RemU)),
        M::And if exact => By(Pure::And),
        M::Or if exact => By(Pure::Or),
        M::Xor if exact => By(Pure::Xor),
        M::Not => By(Pure::Not),
        M::Complement if kind == Bool => By(Pure::Not),
        M::Complement if integer => By(Pure::Complement),
        M::ShiftLeft if integer => Shift(Pure::Shl),
        M::ShiftRight if integer => Shift(signed(Pure::ShrS, Pure::ShrU)),
        M::Min if integer => By(signed(Pure::MinS, Pure::MinU)),
        M::Max if integer => By(signed(Pure::MaxS, Pure::MaxU)),
        M::Equal if exact => By(Pure::Eq),
        M::NotEqual if exact => By(Pure::Ne),
        M::Less if integer => By(signed(Pure::LtS, Pure::LtU)),
        M::LessEqual if integer => By(signed(Pure::LeS, Pure::LeU)),
        M::Greater if integer => Swapped(signed(Pure::LtS, Pure::LtU)),
        M::GreaterEqual if integer => Swapped(signed(Pure::LeS, Pure::LeU)),
        M::Identity | M::Reinterpret | M::EnumValue => Same,
        M::Convert if kind == result => Same,
        M::Convert if exact && result == Bool => NotZero,
        M::Convert if exact && result != Float => Same,
        _ if table::is_scalarwise(meaning) => Opaque,
        _ => return None,
    })
}

impl Lower<'_> {
    /// The kind of the scalars of a type.
    fn kind(&self, ty: TypeId) -> Option<Scalar> {
        match self.ty(ty) {
            Type::Scalar(s) | Type::Vector(s, _) | Type::Matrix(s, ..) => Some(s),
            Type::Enum(id) => match self.program.env.types.enum_bases.get(id.0 as usize) {
                Some(&TypeId::UINT) => Some(Scalar::Uint),
                _ => Some(Scalar::Int),
            },
            _ => None,
        }
    }

    /// Calls a library function: its requirements, its stores, and its result.
    pub(super) fn call_of_library(&mut self, f: LibraryFunction, arguments: &[(Val, TypeId)], ty: TypeId) -> Done<Val> {
        let meaning = f.meaning();
        if let Some(need) = table::need(meaning) {
            self.flow.need(need, self.flow.span);
        }
        let n = self.size(ty);
        if let Some(stored_uniformity) = table::stored(meaning) {
            let arguments: smallvec::SmallVec<[(Val, TypeId); 4]> =
                arguments.iter().map(|(val, ty)| (self.with_place(val, *ty), *ty)).collect();
            let values: Scalars =
                arguments.iter().filter(|(val, _)| matches!(val, Val::Cells(_))).flat_map(|(val, _)| self.cells_of(val)).collect();
            let skip = usize::from(stored_uniformity == ResultUniformity::Varies);
            for (at, (val, argument_type)) in arguments.iter().enumerate() {
                let (Val::Pointer(place), Type::Pointer(_, to)) = (val, self.ty(*argument_type)) else { continue };
                if at < skip {
                    continue;
                }
                let place: Place = place.clone();
                let size = self.size(to);
                let stored: Scalars = match stored_uniformity {
                    ResultUniformity::AsArguments => self.flow.values_from_all(&values, size),
                    ResultUniformity::Varies => (0..size).map(|_| self.varying(VaryingSource::Atomic)).collect(),
                };
                self.store_to(&place, to, &stored);
            }
            return Ok(Val::Cells(self.flow.values_from_all(&values, n)));
        }
        if table::result(&self.program.env.types, f) == ResultUniformity::Varies {
            return Ok(Val::Cells((0..n).map(|_| self.varying(VaryingSource::Texture)).collect()));
        }
        if let (Meaning::ElementPointer, [(Val::Pointer(place), argument_type), (Val::Cells(index), _)]) = (meaning, arguments)
            && let (Type::Pointer(_, array), &[index]) = (self.ty(*argument_type), index.as_slice())
        {
            return Ok(Val::Pointer(self.element_of(place.clone(), array, index)));
        }
        let operands: smallvec::SmallVec<[Scalars; 4]> = arguments.iter().map(|(val, _)| self.cells_of(val)).collect();
        Ok(Val::Cells(match meaning {
            Meaning::Default => self.zeros(n),
            Meaning::Vector | Meaning::MatrixColumns | Meaning::MatrixElements => {
                let all: Scalars = operands.into_iter().flatten().collect();
                if all.len() as u32 == n { all } else { self.flow.values_from_all(&all, n) }
            }
            Meaning::Swizzle => {
                f.word().iter().map(|&letter| operands[0].get(letter as usize).copied().unwrap_or(operands[0][0])).collect()
            }
            Meaning::Index if operands.len() == 2 && operands[1].len() == 1 => {
                let index = operands[1][0];
                self.element_of_value(&operands[0], arguments[0].1, index, ty)
            }
            Meaning::Increment | Meaning::Decrement => {
                let one = self.flow.constant(1);
                let pure = if meaning == Meaning::Increment { Pure::Add } else { Pure::Sub };
                operands[0].iter().map(|&v| self.flow.pure(pure, &[v, one])).collect()
            }
            _ => {
                let kind = arguments.first().and_then(|(_, ty)| self.kind(*ty));
                let kinds = kind.zip(self.kind(ty));
                match kinds.and_then(|(kind, result)| scalarwise(meaning, kind, result)) {
                    Some(operation) if operands.iter().all(|o| o.len() == 1 || o.len() as u32 == n) => {
                        (0..n as usize).map(|k| self.by_scalar(operation, &operands, k)).collect()
                    }
                    _ => {
                        let all: Scalars = operands.into_iter().flatten().collect();
                        self.flow.values_from_all(&all, n)
                    }
                }
            }
        }))
    }

    fn by_scalar(&mut self, operation: Scalarwise, operands: &[Scalars], k: usize) -> Value {
        let part: Scalars = operands.iter().map(|o| if o.len() == 1 { o[0] } else { o[k] }).collect();
        match (operation, part.as_slice()) {
            (Scalarwise::Same, [a]) => *a,
            (Scalarwise::NotZero, [a]) => {
                let zero = self.flow.constant(0);
                self.flow.pure(Pure::Ne, &[*a, zero])
            }
            (Scalarwise::Shift(pure), [a, b]) => {
                let mask = self.flow.constant(31);
                let amount = self.flow.pure(Pure::And, &[*b, mask]);
                self.flow.pure(pure, &[*a, amount])
            }
            (Scalarwise::Swapped(pure), [a, b]) => self.flow.pure(pure, &[*b, *a]),
            (Scalarwise::By(pure), operands) => self.flow.pure(pure, operands),
            (_, operands) => self.flow.pure(Pure::Other(k as u32), operands),
        }
    }
}
