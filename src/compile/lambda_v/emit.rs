//! The static ids of the module's header (report §6.1: typeid).

use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallstep_semantics::spirv::write::Id;

/// Ids that every module has at the same place, whether it declares them or not.
pub mod fixed {
    use super::Id;
    /// The entry point, as in the report's example.
    pub const MAIN: Id = 1;
    /// The entry point's type.
    pub const FUNCTION_TYPE: Id = 2;
    /// The extended instruction set.
    pub const GLSL: Id = 3;
    /// OpTypeVoid.
    pub const VOID: Id = 4;
    /// OpTypeBool. The next ids are Vec(2..4, b).
    pub const BOOL: Id = 5;
    /// OpTypeFloat 32. The next ids are Vec(2..4, f).
    pub const FLOAT: Id = 9;
    /// Mat(2..4, f).
    pub const MAT2: Id = 13;
    /// The constant true.
    pub const TRUE: Id = 16;
    /// The constant false.
    pub const FALSE: Id = 17;
    /// The constant 0.0, which pads outputs to four components.
    pub const ZERO: Id = 18;
    /// Pointer to an output.
    pub const OUTPUT_POINTER: Id = 19;
    /// Pointer to an input.
    pub const INPUT_POINTER: Id = 20;
    /// The fragment coordinate.
    pub const FRAG_COORD: Id = 21;
    /// OpTypeInt 32 0.
    pub const UINT: Id = 22;
    /// The array of opaque constants.
    pub const ARRAY: Id = 23;
    /// The block that contains the array.
    pub const BLOCK: Id = 24;
    /// Pointer to the block.
    pub const BLOCK_POINTER: Id = 25;
    /// Pointer to one constant.
    pub const FLOAT_POINTER: Id = 26;
    /// The buffer of opaque constants.
    pub const BUFFER: Id = 27;
    /// The index 0 of the block's only member.
    pub const MEMBER: Id = 28;
    /// The output at location 0. The outputs at locations 1, 2, … have the next ids.
    pub const OUTPUT: Id = 29;
    /// startblock of report §6.11.
    pub const START_BLOCK: Id = OUTPUT + smallstep_semantics::lambda_v::resolve::MAX_LOCATION;
    /// startid of report §6.11.
    pub const START_ID: Id = START_BLOCK + 1;
}

/// typeid: τ → ID of report §6.1. The caller handles typeid(Rec τ) = typeid(τ).
pub fn typeid(ty: Ground) -> Id {
    match ty {
        Ground::Vec(n, Elem::B) => fixed::BOOL + n as Id - 1,
        Ground::Vec(n, Elem::F) => fixed::FLOAT + n as Id - 1,
        Ground::Mat(n) => fixed::MAT2 + n as Id - 2,
    }
}
