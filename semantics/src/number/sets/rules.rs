//! What each instruction may give for operands that are sets: Vulkan's "Precision and Operation of SPIR-V Instructions", and WGSL's "Floating
//! Point Evaluation".

use super::{CellId, Set};
use crate::number::{Instruction, Profile};
use smallvec::SmallVec;

/// A component of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// What it may be.
    pub set: Set,
    /// Its dynamic result id, if it is not decided: equal ids, equal values.
    pub id: Option<CellId>,
}

/// What a comparison may come out as; not neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Whether it may be true.
    pub may_hold: bool,
    /// Whether it may be false.
    pub may_fail: bool,
}

impl Truth {
    /// It may come out either way.
    pub const BOTH: Truth = Truth { may_hold: true, may_fail: true };
}

/// What a conforming device may have in each component of a 32-bit result. Operands are their components, column after column, with how many columns they
/// form; shapes are the caller's care. `None`: no rule, so anything.
pub fn allowed(profile: Profile, instruction: Instruction, args: &[(&[Operand], usize)]) -> Option<SmallVec<[Set; 4]>> {
    let _ = (profile, instruction, args);
    None
}

/// What a comparison of two floats may come out as.
pub fn compared(profile: Profile, instruction: Instruction, x: &Operand, y: &Operand) -> Truth {
    let _ = (profile, instruction, x, y);
    Truth::BOTH
}

/// What is left of two operands once a comparison of them is known to hold or to fail; no value if it cannot.
pub fn narrowed(profile: Profile, instruction: Instruction, x: &Operand, y: &Operand, holds: bool) -> [Set; 2] {
    let _ = (profile, instruction, holds);
    [x.set, y.set]
}
