//! What one component of a result comes out as.

use super::Instruction;
use crate::undefined::{Ub, Unspecified};

/// A component, by its bits from the lowest on; or that it is undefined; or that behaviour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// The bits, zero above the component's width; a Boolean is 0 or 1.
    Value(u64),
    /// An undefined value.
    Undefined(Unspecified),
    /// Undefined behaviour.
    Behaviour(Ub),
}

impl From<bool> for Computed {
    fn from(value: bool) -> Computed {
        Computed::Value(value.into())
    }
}

/// What the environment says about values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Environment {
    /// Whether the remainders of negative integers are defined: VK_KHR_maintenance8 is enabled, or
    /// the environment is not Vulkan.
    pub maintenance8: bool,
}

/// What a test puts in the place of one component of an instruction's result: the instruction, the
/// bits of all operands, the number of the component, and what it was computed as.
pub type PlantedComponent = fn(Instruction, &[&[u64]], usize, Computed) -> Computed;
