//! Mistakes in the lockstep machine: codes, the ends of blocks, copies on edges, atomics, and lane
//! by lane computations.

use rspirv::spirv::Op as Core;
use smallstep_semantics::number::{Computed, Instruction, PlantedComponent};
use smallstep_semantics::spirv::lockstep::{Code, Edge, End, Op, Parts};
use smallstep_semantics::undefined::{Ub, Unspecified};

use super::{Bug, Check, Plant};
use crate::generate::spirv::Defect;

fn bug(name: &'static str, check: Check, planted: fn(Parts<'_>)) -> Bug {
    Bug { name, check, plant: Plant::Machine(planted) }
}

/// Changes every code of one kind.
fn each(parts: Parts<'_>, op: Op, change: impl FnMut(&mut Code)) {
    parts.codes.iter_mut().filter(|code| code.op == op).for_each(change);
}

/// Replaces one kind of code by another with the same operands.
fn other(parts: Parts<'_>, from: Op, to: Op) {
    each(parts, from, |code| code.op = to);
}

/// Swaps the operands of every code of one kind.
fn swapped(parts: Parts<'_>, op: Op) {
    each(parts, op, |code| (code.a, code.b) = (code.b, code.a));
}

fn dropped(parts: Parts<'_>, op: Op) {
    each(parts, op, Code::drop_it);
}

/// Changes the ends of blocks.
fn ends(parts: Parts<'_>, change: impl FnMut(&mut End)) {
    parts.blocks.iter_mut().map(|block| &mut block.ends).for_each(change);
}

/// Changes the edges of branches.
fn edges(parts: Parts<'_>, mut change: impl FnMut(&mut Edge)) {
    ends(parts, |end| match end {
        End::Branch(edge) => change(edge),
        End::Conditional { taken, otherwise, .. } => {
            change(taken);
            change(otherwise);
        }
        End::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, edge)| change(edge));
            change(default);
        }
        _ => {}
    });
}

/// Replaces one kind of atomic by another.
fn atomics(parts: Parts<'_>, from: Core, to: Core) {
    parts.atomics.iter_mut().filter(|atomic| atomic.op == from).for_each(|atomic| atomic.op = to);
}

fn computing(parts: Parts<'_>, planted: PlantedComponent) {
    parts.calculator.planted = Some(planted);
}

/// Gives an instruction a value in place of `undefined`, an undefined value or undefined behaviour.
fn defined(instruction: Instruction, opcode: Core, computed: Computed, undefined: Computed, value: impl FnOnce() -> u64) -> Computed {
    if instruction == Instruction::Core(opcode as u16) && computed == undefined { Computed::Value(value()) } else { computed }
}

#[rustfmt::skip]
pub(super) fn bugs() -> Vec<Bug> {
    use Check::{Clean, Equivalent, Twin, Vector};
    vec![
        // Codes of integers.
        bug("OpIAdd subtracts", Clean, |p| other(p, Op::Add, Op::Sub)),
        bug("OpISub from the second operand", Clean, |p| swapped(p, Op::Sub)),
        bug("OpIMul adds", Clean, |p| other(p, Op::Mul, Op::Add)),
        bug("OpBitwiseAnd is or", Clean, |p| other(p, Op::And, Op::Or)),
        bug("OpBitwiseOr is exclusive", Clean, |p| other(p, Op::Or, Op::Xor)),
        bug("OpBitwiseXor is inclusive", Clean, |p| other(p, Op::Xor, Op::Or)),
        bug("OpNot negates", Clean, |p| other(p, Op::Not, Op::Negate)),
        bug("OpSNegate complements", Clean, |p| other(p, Op::Negate, Op::Not)),
        bug("OpShiftRightLogical is arithmetic", Clean, |p| other(p, Op::ShiftRight, Op::ShiftRightSigned)),
        bug("OpShiftRightArithmetic is logical", Clean, |p| other(p, Op::ShiftRightSigned, Op::ShiftRight)),
        bug("OpShiftLeftLogical shifts right", Clean, |p| other(p, Op::ShiftLeft, Op::ShiftRight)),
        bug("OpUDiv is signed", Clean, |p| other(p, Op::DivideUnsigned, Op::DivideSigned)),
        bug("OpSDiv is unsigned", Clean, |p| other(p, Op::DivideSigned, Op::DivideUnsigned)),
        bug("OpUMod divides", Clean, |p| other(p, Op::ModUnsigned, Op::DivideUnsigned)),
        bug("OpSMod divides", Clean, |p| other(p, Op::ModSigned, Op::DivideUnsigned)),
        bug("UMin is signed", Clean, |p| other(p, Op::MinUnsigned, Op::MinSigned)),
        bug("SMax is unsigned", Clean, |p| other(p, Op::MaxSigned, Op::MaxUnsigned)),
        bug("OpIEqual is not more", Clean, |p| other(p, Op::Equal, Op::LessEqualUnsigned)),
        bug("OpINotEqual is less", Clean, |p| other(p, Op::NotEqual, Op::LessUnsigned)),
        bug("OpULessThan holds of equals", Clean, |p| other(p, Op::LessUnsigned, Op::LessEqualUnsigned)),
        bug("OpULessThanEqual does not hold of equals", Clean, |p| other(p, Op::LessEqualUnsigned, Op::LessUnsigned)),
        bug("OpSLessThan is unsigned", Clean, |p| other(p, Op::LessSigned, Op::LessUnsigned)),
        bug("OpSLessThanEqual does not hold of equals", Clean, |p| other(p, Op::LessEqualSigned, Op::LessSigned)),
        // Codes of Booleans.
        bug("OpLogicalAnd is or", Clean, |p| other(p, Op::AndSet, Op::OrSet)),
        bug("OpLogicalOr is exclusive", Clean, |p| other(p, Op::OrSet, Op::NotEqualSet)),
        bug("OpLogicalEqual is its opposite", Clean, |p| other(p, Op::EqualSet, Op::NotEqualSet)),
        bug("OpSelect chooses the other", Clean, |p| swapped(p, Op::Select)),
        bug("OpSelect of Booleans chooses the other", Clean, |p| swapped(p, Op::SelectSet)),
        // Codes of floats, which no generated module has.
        bug("OpFAdd subtracts", Vector("FAdd"), |p| other(p, Op::AddFloat, Op::SubFloat)),
        bug("OpFMul adds", Vector("FMul"), |p| other(p, Op::MulFloat, Op::AddFloat)),
        bug("OpFNegate is the magnitude", Vector("FNegate"), |p| other(p, Op::NegateFloat, Op::AbsFloat)),
        bug("OpConvertUToF is signed", Vector("ConvertUToF"), |p| other(p, Op::FloatOfUnsigned, Op::FloatOfSigned)),
        bug("OpConvertFToS holds what is unsigned", Vector("ConvertFToS of 3e9"), |p| other(p, Op::SignedOfFloat, Op::UnsignedOfFloat)),
        bug("OpConvertFToU holds what is signed", Twin(Defect::FloatToUnsigned), |p| other(p, Op::UnsignedOfFloat, Op::SignedOfFloat)),
        bug("OpFUnordLessThan is ordered", Vector("FUnordLessThan of NaN"), |p| other(p, Op::UnorderedLessFloat, Op::LessFloat)),
        bug("OpFUnordLessThanEqual is ordered", Vector("FUnordLessThanEqual of NaN"), |p| other(p, Op::UnorderedLessEqualFloat, Op::LessEqualFloat)),
        bug("OpFUnordNotEqual is ordered", Vector("FUnordNotEqual of NaN"), |p| other(p, Op::UnorderedNotEqualFloat, Op::NotEqualFloat)),
        bug("OpFOrdEqual compares bits", Vector("FOrdEqual of zeros"), |p| other(p, Op::EqualFloat, Op::Equal)),
        bug("OpFOrdLessThanEqual does not hold of equals", Vector("FOrdLessThanEqual of equals"), |p| other(p, Op::LessEqualFloat, Op::LessFloat)),
        // Masks and memory.
        bug("lanes that are not active are written", Clean, |p| p.codes.iter_mut().for_each(|code| code.masked = false)),
        bug("an index is not added to its base", Clean, |p| each(p, Op::Index, |code| code.a = u32::MAX)),
        bug("bounds of arrays are not checked", Twin(Defect::ChainArray), |p| dropped(p, Op::Bound)),
        bug("an array has an element more", Twin(Defect::ChainArray), |p| each(p, Op::Bound, |code| code.c += 1)),
        bug("bounds of runtime arrays are not checked", Twin(Defect::ChainBuffer), |p| dropped(p, Op::BoundRuntime)),
        bug("stores to Workgroup memory are dropped", Clean, |p| dropped(p, Op::StoreShared)),
        bug("stores to indexed variables are dropped", Clean, |p| dropped(p, Op::StoreLocal)),
        bug("a variable keeps its value from call to call", Vector("a variable at its second call"), |p| dropped(p, Op::Forget)),
        bug("an array keeps its contents from call to call", Vector("an array at its second call"), |p| dropped(p, Op::ForgetLocal)),
        bug("a dynamic index beyond the vector is nothing", Twin(Defect::ExtractIndex), |p| dropped(p, Op::Undefine)),
        // Control flow.
        bug("a switch forgets its first case", Clean, |p| ends(p, |end| if let End::Switch { cases, .. } = end { cases.remove(0); })),
        bug("a switch goes to its first case by default", Clean, |p| ends(p, |end| if let End::Switch { cases, default, .. } = end { *default = cases[0].1; })),
        bug("the last OpPhi of an edge is not copied", Clean, |p| edges(p, |edge| edge.end -= u32::from(edge.end > edge.first))),
        bug("OpPhi copies one after the other", Clean, |p| edges(p, |edge| edge.overlaps = false)),
        bug("every edge copies by way of other registers", Equivalent("copies that do not overlap give the same in any order, by whatever way"), |p| edges(p, |edge| edge.overlaps = true)),
        bug("OpUnreachable returns", Twin(Defect::Unreachable), |p| ends(p, |end| if matches!(end, End::Unreachable) { *end = End::Return { link: u32::MAX, edge: Edge::default() } })),
        bug("a barrier without semantics orders", Twin(Defect::RaceWithoutSemantics), |p| ends(p, |end| if let End::Barrier { orders_shared, .. } = end { *orders_shared = true; })),
        bug("a barrier does not order Workgroup memory", Clean, |p| ends(p, |end| if let End::Barrier { orders_shared, .. } = end { *orders_shared = false; })),
        // Atomics.
        bug("OpAtomicIAdd subtracts", Clean, |p| atomics(p, Core::AtomicIAdd, Core::AtomicISub)),
        bug("OpAtomicUMax is signed", Clean, |p| atomics(p, Core::AtomicUMax, Core::AtomicSMax)),
        bug("OpAtomicUMin is signed", Clean, |p| atomics(p, Core::AtomicUMin, Core::AtomicSMin)),
        bug("OpAtomicOr is exclusive", Clean, |p| atomics(p, Core::AtomicOr, Core::AtomicXor)),
        bug("OpAtomicAnd is or", Clean, |p| atomics(p, Core::AtomicAnd, Core::AtomicOr)),
        bug("OpAtomicCompareExchange always exchanges", Clean, |p| atomics(p, Core::AtomicCompareExchange, Core::AtomicExchange)),
        // Lane by lane computations.
        bug("decorations against wrapping are not seen", Twin(Defect::Wrap), |p| p.sites.iter_mut().for_each(|site| site.no_unsigned_wrap = false)),
        bug("OpUDiv by zero is zero", Twin(Defect::UDivZero), |p| computing(p, |i, _, _, x| defined(i, Core::UDiv, x, Computed::Behaviour(Ub::DivisionByZero), || 0))),
        bug("OpSDiv of the least integer by -1 wraps", Twin(Defect::SDivOverflow), |p| computing(p, |i, a, c, x| defined(i, Core::SDiv, x, Computed::Behaviour(Ub::DivisionOverflow), || a[0][c]))),
        bug("shifts are masked", Twin(Defect::ShiftLeft), |p| computing(p, |i, a, c, x| {
            let shifted = || u64::from((a[0][c] as u32) << (a[1][c] & 31));
            defined(i, Core::ShiftLeftLogical, x, Computed::Undefined(Unspecified::ShiftWidth), shifted)
        })),
        bug("OpConvertFToU clamps", Twin(Defect::FloatToUnsigned), |p| computing(p, |i, _, _, x| defined(i, Core::ConvertFToU, x, Computed::Behaviour(Ub::ConversionRange), || 0))),
        bug("OpSRem of a negative number truncates", Twin(Defect::RemainderNegative), |p| computing(p, |i, a, c, x| {
            let remainder = || u64::from((a[0][c] as i32).checked_rem(a[1][c] as i32).unwrap_or(0) as u32);
            defined(i, Core::SRem, x, Computed::Undefined(Unspecified::NegativeRemainder), remainder)
        })),
    ]
}
