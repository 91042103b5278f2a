//! Functions of values: constant folding, and results that do not depend on the values of operands.

/// A function whose result depends only on its operands. Integers have 32 bits. A Boolean is 0 or
/// 1. Shift amounts are below 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its name; U is unsigned, S signed")]
pub enum Pure {
    Add,
    Sub,
    Mul,
    Neg,
    DivU,
    RemU,
    DivS,
    RemS,
    And,
    Or,
    Xor,
    /// Every bit inverted.
    Complement,
    /// 1 if the operand is zero, otherwise 0.
    Not,
    Shl,
    ShrU,
    ShrS,
    Eq,
    Ne,
    LtU,
    LeU,
    LtS,
    LeS,
    MinU,
    MaxU,
    MinS,
    MaxS,
    /// The second operand if the first is not zero, otherwise the third.
    Select,
    /// Any other function. The front end assigns the number.
    Other(u32),
}

/// An operand: its number, its bits if it is a constant, and the largest unsigned number that it
/// may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Operand {
    pub value: u32,
    pub bits: Option<u32>,
    pub bound: u32,
}

/// The result of a function, if it needs no computation at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Simple {
    /// These bits.
    Bits(u32),
    /// The operand with this number.
    Same(u32),
}

impl Pure {
    /// Whether its two operands may be swapped.
    pub(super) fn commutes(self) -> bool {
        use Pure::*;
        matches!(self, Add | Mul | And | Or | Xor | Eq | Ne | MinU | MaxU | MinS | MaxS)
    }

    /// Whether two computations with equal operands have equal results. A result that may be
    /// unspecified is chosen anew at each computation.
    pub(super) fn repeatable(self, operands: &[Operand]) -> bool {
        match self {
            Pure::DivU | Pure::RemU | Pure::DivS | Pure::RemS => operands.get(1).is_some_and(|o| o.bits.is_some_and(|bits| bits != 0)),
            Pure::Other(_) => false,
            _ => true,
        }
    }

    /// The result, if it follows from the constants and bounds of the operands.
    pub(super) fn simplify(self, operands: &[Operand]) -> Option<Simple> {
        use Pure::*;
        use Simple::{Bits, Same};
        match *operands {
            [a] => {
                let bits = a.bits?;
                match self {
                    Neg => Some(Bits(bits.wrapping_neg())),
                    Complement => Some(Bits(!bits)),
                    Not => Some(Bits(u32::from(bits == 0))),
                    _ => None,
                }
            }
            [a, b] => {
                if let (Some(x), Some(y)) = (a.bits, b.bits) {
                    return self.fold(x, y).map(Bits);
                }
                if a.value == b.value {
                    match self {
                        Sub | Xor | Ne | LtU | LtS => return Some(Bits(0)),
                        Eq | LeU | LeS => return Some(Bits(1)),
                        And | Or | MinU | MaxU | MinS | MaxS => return Some(Same(a.value)),
                        _ => {}
                    }
                }
                match (self, a.bits, b.bits) {
                    (And | Mul | MinU, Some(0), _) | (And | Mul | MinU, _, Some(0)) | (Shl | ShrU | ShrS, Some(0), _) => Some(Bits(0)),
                    (Add | Or | Xor | MaxU, Some(0), _) | (Mul, Some(1), _) | (And, Some(u32::MAX), _) => Some(Same(b.value)),
                    (Add | Sub | Or | Xor | MaxU | Shl | ShrU | ShrS, _, Some(0))
                    | (Mul | DivU | DivS, _, Some(1))
                    | (And, _, Some(u32::MAX)) => Some(Same(a.value)),
                    (Or, Some(u32::MAX), _) | (Or, _, Some(u32::MAX)) => Some(Bits(u32::MAX)),
                    (RemU | RemS, _, Some(1)) => Some(Bits(0)),
                    (LeU, Some(0), _) => Some(Bits(1)),
                    (LtU, _, Some(y)) if a.bound < y => Some(Bits(1)),
                    (LeU, _, Some(y)) if a.bound <= y => Some(Bits(1)),
                    (LtU, Some(x), _) if x >= b.bound => Some(Bits(0)),
                    (LeU, Some(x), _) if x > b.bound => Some(Bits(0)),
                    (LtU, _, Some(0)) => Some(Bits(0)),
                    (Eq, _, Some(y)) if a.bound < y => Some(Bits(0)),
                    (Ne, _, Some(y)) if a.bound < y => Some(Bits(1)),
                    (Eq, Some(x), _) if b.bound < x => Some(Bits(0)),
                    (Ne, Some(x), _) if b.bound < x => Some(Bits(1)),
                    (RemU, _, Some(y)) if a.bound < y => Some(Same(a.value)),
                    _ => None,
                }
            }
            [c, a, b] if self == Select => match c.bits {
                Some(0) => Some(Same(b.value)),
                Some(_) => Some(Same(a.value)),
                None if a.value == b.value => Some(Same(a.value)),
                None => None,
            },
            _ => None,
        }
    }

    fn fold(self, x: u32, y: u32) -> Option<u32> {
        use Pure::*;
        let (i, j) = (x as i32, y as i32);
        Some(match self {
            Add => x.wrapping_add(y),
            Sub => x.wrapping_sub(y),
            Mul => x.wrapping_mul(y),
            DivU => x.checked_div(y)?,
            RemU => x.checked_rem(y)?,
            DivS => i.checked_div(j)? as u32,
            RemS => i.checked_rem(j)? as u32,
            And => x & y,
            Or => x | y,
            Xor => x ^ y,
            Shl => x.checked_shl(y)?,
            ShrU => x.checked_shr(y)?,
            ShrS => i.checked_shr(y)? as u32,
            Eq => u32::from(x == y),
            Ne => u32::from(x != y),
            LtU => u32::from(x < y),
            LeU => u32::from(x <= y),
            LtS => u32::from(i < j),
            LeS => u32::from(i <= j),
            MinU => x.min(y),
            MaxU => x.max(y),
            MinS => i.min(j) as u32,
            MaxS => i.max(j) as u32,
            _ => return None,
        })
    }

    /// The largest unsigned number that the result may be.
    pub(super) fn bound(self, operands: &[Operand]) -> u32 {
        use Pure::*;
        let bound = |i: usize| operands.get(i).map_or(u32::MAX, |o| o.bound);
        match self {
            Not | Eq | Ne | LtU | LeU | LtS | LeS => 1,
            And => bound(0).min(bound(1)),
            MinU => bound(0).min(bound(1)),
            MaxU => bound(0).max(bound(1)),
            // The result of a division by zero is unspecified.
            DivU => match operands.get(1).and_then(|o| o.bits) {
                Some(y) if y > 0 => bound(0) / y,
                _ => u32::MAX,
            },
            RemU => match operands.get(1).and_then(|o| o.bits) {
                Some(y) if y > 0 => bound(0).min(y - 1),
                _ => u32::MAX,
            },
            ShrU => match operands.get(1).and_then(|o| o.bits) {
                Some(y) => bound(0).checked_shr(y).unwrap_or(0),
                None => bound(0),
            },
            Or | Xor => {
                let combined = bound(0) | bound(1);
                u32::MAX.checked_shr(combined.leading_zeros()).unwrap_or(0)
            }
            Add => bound(0).saturating_add(bound(1)),
            Mul => bound(0).saturating_mul(bound(1)),
            Select => bound(1).max(bound(2)),
            _ => u32::MAX,
        }
    }
}
