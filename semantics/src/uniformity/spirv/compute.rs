//! Instructions that compute: SPIR-V §3.3.11 to §3.3.15, and GLSL.std.450.

use super::{Lower, Planted, Scalars};
use crate::spirv::module::WHOLE;
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;
use crate::uniformity::flow::{Def, Pure, Value};
use rspirv::spirv::{Decoration, GlslStd450Op, Op};
use smallvec::smallvec;

/// The integer or Boolean function of an instruction, and whether its operands are swapped.
fn integer(op: Op) -> Option<(Pure, bool)> {
    Some(match op {
        Op::IAdd => (Pure::Add, false),
        Op::ISub => (Pure::Sub, false),
        Op::IMul => (Pure::Mul, false),
        Op::SNegate => (Pure::Neg, false),
        Op::UDiv => (Pure::DivU, false),
        Op::UMod => (Pure::RemU, false),
        Op::SDiv => (Pure::DivS, false),
        Op::SRem => (Pure::RemS, false),
        Op::BitwiseAnd | Op::LogicalAnd => (Pure::And, false),
        Op::BitwiseOr | Op::LogicalOr => (Pure::Or, false),
        Op::BitwiseXor => (Pure::Xor, false),
        Op::Not => (Pure::Complement, false),
        Op::LogicalNot => (Pure::Not, false),
        Op::ShiftLeftLogical => (Pure::Shl, false),
        Op::ShiftRightLogical => (Pure::ShrU, false),
        Op::ShiftRightArithmetic => (Pure::ShrS, false),
        Op::IEqual | Op::LogicalEqual => (Pure::Eq, false),
        Op::INotEqual | Op::LogicalNotEqual => (Pure::Ne, false),
        Op::ULessThan => (Pure::LtU, false),
        Op::ULessThanEqual => (Pure::LeU, false),
        Op::SLessThan => (Pure::LtS, false),
        Op::SLessThanEqual => (Pure::LeS, false),
        Op::UGreaterThan => (Pure::LtU, true),
        Op::UGreaterThanEqual => (Pure::LeU, true),
        Op::SGreaterThan => (Pure::LtS, true),
        Op::SGreaterThanEqual => (Pure::LeS, true),
        _ => return None,
    })
}

/// Whether component k of the result depends only on component k of the operands, or on
/// scalar operands.
fn by_component(op: Op) -> bool {
    let op = op as u32;
    // OpBitcast, OpAny and OpAll are not such instructions, nor are matrix products and
    // instructions with two results.
    (109..=123).contains(&op) || (126..=143).contains(&op) || (194..=205).contains(&op) || (156..=191).contains(&op)
}

/// The same as `by_component`, for GLSL.std.450.
fn glsl_by_component(op: GlslStd450Op) -> bool {
    use GlslStd450Op::*;
    !matches!(
        op,
        Determinant
            | MatrixInverse
            | ModfStruct
            | FrexpStruct
            | PackSnorm4x8
            | PackUnorm4x8
            | PackSnorm2x16
            | PackUnorm2x16
            | PackHalf2x16
            | PackDouble2x32
            | UnpackSnorm2x16
            | UnpackUnorm2x16
            | UnpackHalf2x16
            | UnpackSnorm4x8
            | UnpackUnorm4x8
            | UnpackDouble2x32
            | Length
            | Distance
            | Cross
            | Normalize
            | FaceForward
            | Reflect
            | Refract
    )
}

impl Lower<'_, '_> {
    /// Whether the result may differ from that of the operation.
    fn is_inexact(&self, id: u32) -> bool {
        use Decoration::{NoSignedWrap, NoUnsignedWrap, RelaxedPrecision};
        self.shared.inexact
            && !self.is(Planted::WrapsAreDefined)
            && [NoSignedWrap, NoUnsignedWrap, RelaxedPrecision].iter().any(|d| self.module.decoration(id, WHOLE, *d).is_some())
    }

    fn types_are_integers(&self, ids: &[u32]) -> bool {
        ids.iter().all(|id| self.module.type_of(*id).is_some_and(|type_| self.is_integer(type_)))
    }

    /// A core instruction that computes its result from its operands.
    pub(super) fn compute(&mut self, i: &Instruction, operands: &[u32]) -> Scalars {
        let n = self.size_of(i.result_type);
        let values: smallvec::SmallVec<[Scalars; 3]> = operands.iter().map(|id| self.value(*id)).collect();
        let fits = values.iter().all(|cells| cells.len() == n as usize || cells.len() == 1);
        if i.op == Op::Select && fits {
            return self.by_component(&values, n, |lower, operands| lower.flow.pure(Pure::Select, operands));
        }
        if i.op == Op::Bitcast
            && fits
            && self.is_of_words(i.result_type)
            && self.module.type_of(operands[0]).is_some_and(|t| self.is_of_words(t))
        {
            return values[0].clone();
        }
        if let (Some((pure, swapped)), true) = (integer(i.op), fits && self.types_are_integers(operands))
            && !self.is_inexact(i.result)
        {
            return self.by_component(&values, n, |lower, operands| lower.integer(pure, swapped, operands));
        }
        if by_component(i.op) && fits {
            return self.by_component(&values, n, |lower, operands| lower.flow.pure(Pure::Other(0), operands));
        }
        let all: Scalars = values.iter().flatten().copied().collect();
        self.flow.values_from_all(&all, n)
    }

    /// Whether a type consists of 32-bit numbers.
    fn is_of_words(&self, type_: u32) -> bool {
        let scalar = match self.type_(type_) {
            Type::Vector { component, .. } => self.type_(component),
            other => other,
        };
        scalar.width() == Some(32)
    }

    /// Computes each component from the operands' components. A scalar operand applies to
    /// every component.
    fn by_component(&mut self, values: &[Scalars], n: u32, compute: impl Fn(&mut Self, &[Value]) -> Value) -> Scalars {
        (0..n as usize)
            .map(|k| {
                let operands: Scalars =
                    values.iter().filter_map(|cells| cells.get(if cells.len() == 1 { 0 } else { k }).copied()).collect();
                compute(self, &operands)
            })
            .collect()
    }

    fn integer(&mut self, pure: Pure, swapped: bool, operands: &[Value]) -> Value {
        let operands: Scalars = if swapped { operands.iter().rev().copied().collect() } else { operands.iter().copied().collect() };
        match pure {
            Pure::Shl | Pure::ShrU | Pure::ShrS
                if !self.is(Planted::ShiftsWrap) && !operands.get(1).is_some_and(|o| self.is_below_32(*o)) =>
            {
                self.flow.pure(Pure::Other(0), &operands)
            }
            _ => self.flow.pure(pure, &operands),
        }
    }

    /// Whether a shift amount is visibly less than 32: a constant, or masked by one.
    fn is_below_32(&self, amount: Value) -> bool {
        let known = |value: Value| self.flow.known(value).is_some_and(|bits| bits < 32);
        match &self.flow.value(amount).def {
            Def::Pure(Pure::And, operands) => self.flow.operands(operands).iter().any(|v| known(*v)),
            Def::Pure(Pure::RemU, operands) => {
                self.flow.operands(operands).get(1).is_some_and(|v| self.flow.known(*v).is_some_and(|bits| (1..=32).contains(&bits)))
            }
            _ => known(amount),
        }
    }

    /// An instruction of GLSL.std.450 that does not store.
    pub(super) fn extended(&mut self, i: &Instruction, number: u32, operands: &[u32]) -> Scalars {
        let n = self.size_of(i.result_type);
        let values: smallvec::SmallVec<[Scalars; 3]> = operands.iter().map(|id| self.value(*id)).collect();
        let fits = values.iter().all(|cells| cells.len() == n as usize || cells.len() == 1);
        let op = GlslStd450Op::from_u32(number);
        let integers = fits && self.types_are_integers(operands) && !self.is_inexact(i.result);
        let pair = match op {
            Some(GlslStd450Op::UMin) => Some(Pure::MinU),
            Some(GlslStd450Op::SMin) => Some(Pure::MinS),
            Some(GlslStd450Op::UMax) => Some(Pure::MaxU),
            Some(GlslStd450Op::SMax) => Some(Pure::MaxS),
            _ => None,
        };
        match (pair, op) {
            (Some(pure), _) if integers => self.by_component(&values, n, |lower, operands| lower.flow.pure(pure, operands)),
            (_, Some(GlslStd450Op::UClamp)) if integers => self.by_component(&values, n, |lower, operands| {
                // The result is undefined if the bounds are swapped.
                match *operands {
                    [x, low, high] => match (lower.flow.known(low), lower.flow.known(high)) {
                        (Some(a), Some(b)) if a <= b => {
                            let least = lower.flow.pure(Pure::MaxU, &[x, low]);
                            lower.flow.pure(Pure::MinU, &[least, high])
                        }
                        _ => lower.flow.pure(Pure::Other(0), operands),
                    },
                    _ => lower.flow.pure(Pure::Other(0), operands),
                }
            }),
            (_, Some(op)) if fits && glsl_by_component(op) => {
                self.by_component(&values, n, |lower, operands| lower.flow.pure(Pure::Other(0), operands))
            }
            _ => {
                let all: Scalars = values.iter().flatten().copied().collect();
                self.flow.values_from_all(&all, n)
            }
        }
    }

    /// OpVectorExtractDynamic.
    pub(super) fn extract_dynamic(&mut self, vector: u32, index: u32) -> Scalars {
        let (cells, index) = (self.value(vector), self.scalar(index));
        match self.flow.known(index).and_then(|k| cells.get(k as usize).copied()) {
            Some(value) => smallvec![value],
            None => {
                let operands: Scalars = [index].into_iter().chain(cells).collect();
                self.flow.values_from_all(&operands, 1)
            }
        }
    }

    /// OpVectorInsertDynamic.
    pub(super) fn insert_dynamic(&mut self, vector: u32, value: u32, index: u32) -> Scalars {
        let (mut cells, value, index) = (self.value(vector), self.scalar(value), self.scalar(index));
        match self.flow.known(index).map(|k| k as usize).filter(|k| *k < cells.len()) {
            Some(k) => cells[k] = value,
            None => {
                for cell in &mut cells {
                    *cell = self.flow.pure(Pure::Other(0), &[index, *cell, value]);
                }
            }
        }
        cells
    }
}
