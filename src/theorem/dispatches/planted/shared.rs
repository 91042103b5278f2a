//! Mistakes in the operations that the relation and the machine share. Both engines agree, and both
//! are wrong.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallstep_semantics::number::{Computed, Instruction, PlantedComponent};
use smallstep_semantics::undefined::{Ub, Unspecified};

use super::{Bug, Check, Plant};
use crate::generate::spirv::Defect;

fn bug(name: &'static str, check: Check, planted: PlantedComponent) -> Bug {
    Bug { name, check, plant: Plant::Shared(planted) }
}

fn core(instruction: Instruction, op: Core) -> bool {
    instruction == Instruction::Core(op as u16)
}

fn glsl(instruction: Instruction, op: Glsl) -> bool {
    instruction == Instruction::Glsl(op as u32)
}

/// Replaces a computed value, if `is_it`.
fn instead(is_it: bool, computed: Computed, value: impl FnOnce(u64) -> u64) -> Computed {
    match computed {
        Computed::Value(bits) if is_it => Computed::Value(value(bits)),
        other => other,
    }
}

#[rustfmt::skip]
pub(super) fn bugs() -> Vec<Bug> {
    use Check::{Twin, Vector};
    vec![
        bug("OpBitReverse reverses bytes", Vector("BitReverse"), |i, a, c, x| instead(core(i, Core::BitReverse), x, |_| u64::from((a[0][c] as u32).swap_bytes()))),
        bug("OpBitCount leaves out the sign", Vector("BitCount"), |i, a, c, x| instead(core(i, Core::BitCount), x, |_| u64::from((a[0][c] as u32 & 0x7fff_ffff).count_ones()))),
        bug("FindUMsb counts from above", Vector("FindUMsb"), |i, _, _, x| instead(glsl(i, Glsl::FindUMsb), x, |bits| 31u64.wrapping_sub(bits) & 0xffff_ffff)),
        bug("FindSMsb takes its operand as unsigned", Vector("FindSMsb of -2"), |i, a, c, x| {
            instead(glsl(i, Glsl::FindSMsb) && a[0][c] >> 31 & 1 == 1, x, |_| 31)
        }),
        bug("FindILsb of 0 is 0", Vector("FindILsb of 0"), |i, a, c, x| instead(glsl(i, Glsl::FindILsb) && a[0][c] == 0, x, |_| 0)),
        bug("OpBitFieldSExtract does not extend", Vector("BitFieldSExtract"), |i, a, _, x| {
            instead(core(i, Core::BitFieldSExtract) && a[2][0] < 32, x, |bits| bits & ((1 << a[2][0]) - 1))
        }),
        bug("OpBitFieldUExtract extends the sign", Vector("BitFieldUExtract"), |i, a, _, x| {
            instead(core(i, Core::BitFieldUExtract) && (1..32).contains(&a[2][0]), x, |bits| {
                let unused = 32 - a[2][0] as u32;
                u64::from((((bits as u32) << unused) as i32 >> unused) as u32)
            })
        }),
        bug("OpBitFieldInsert leaves the base", Vector("BitFieldInsert"), |i, a, c, x| instead(core(i, Core::BitFieldInsert), x, |_| a[0][c])),
        bug("OpUMulExtended's high word is signed", Vector("UMulExtended, high"), |i, a, c, x| {
            let high = |a: u64, b: u64| (i64::from(a as u32 as i32).wrapping_mul(i64::from(b as u32 as i32)) as u64) >> 32;
            instead(core(i, Core::UMulExtended) && c == 1, x, |_| high(a[0][0], a[1][0]))
        }),
        bug("OpSMulExtended's high word is unsigned", Vector("SMulExtended, high"), |i, a, c, x| {
            instead(core(i, Core::SMulExtended) && c == 1, x, |_| (a[0][0] & 0xffff_ffff).wrapping_mul(a[1][0] & 0xffff_ffff) >> 32)
        }),
        bug("OpIAddCarry's carry is never set", Vector("IAddCarry, carry"), |i, _, c, x| instead(core(i, Core::IAddCarry) && c == 1, x, |_| 0)),
        bug("OpISubBorrow's borrow is a carry", Vector("ISubBorrow, borrow"), |i, _, c, x| instead(core(i, Core::ISubBorrow) && c == 1, x, |bits| bits ^ 1)),
        bug("SClamp compares unsigned", Vector("SClamp of -5 to -3…3"), |i, a, c, x| {
            instead(glsl(i, Glsl::SClamp), x, |_| a[0][c].max(a[1][c]).min(a[2][c]))
        }),
        bug("SSign is only 0 or 1", Vector("SSign of -7"), |i, _, _, x| instead(glsl(i, Glsl::SSign), x, |bits| u64::from(bits != 0))),
        bug("SAbs saturates", Vector("SAbs of the least"), |i, _, _, x| instead(glsl(i, Glsl::SAbs), x, |bits| bits.min(0x7fff_ffff))),
        bug("OpSRem divides", Vector("SRem"), |i, a, c, x| instead(core(i, Core::SRem), x, |_| a[0][c] / a[1][c].max(1))),
        bug("OpSRem by zero is the dividend", Twin(Defect::SRemZero), |i, a, c, x| {
            if core(i, Core::SRem) && x == Computed::Behaviour(Ub::DivisionByZero) { Computed::Value(a[0][c]) } else { x }
        }),
        bug("a field beyond the last bit is cut off", Twin(Defect::FieldUnsigned), |i, _, _, x| {
            if core(i, Core::BitFieldUExtract) && x == Computed::Undefined(Unspecified::BitFieldRange) { Computed::Value(0) } else { x }
        }),
        bug("UClamp with its bounds exchanged is the lower", Twin(Defect::ClampBounds), |i, a, c, x| {
            if glsl(i, Glsl::UClamp) && x == Computed::Undefined(Unspecified::ClampBounds) { Computed::Value(a[1][c]) } else { x }
        }),
        bug("Sqrt of a negative number is NaN", Twin(Defect::SqrtNegative), |i, _, _, x| {
            if glsl(i, Glsl::Sqrt) && x == Computed::Undefined(Unspecified::Domain) { Computed::Value(0x7fc0_0000) } else { x }
        }),
    ]
}
