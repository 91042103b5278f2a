//! The result of an instruction for one component.

use super::Instruction;
use crate::undefined::{Ub, Unspecified};

/// A component by its bits, lowest first, or a statement that it or the behaviour is undefined.
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

/// A test's replacement for one component of an instruction's result. Its arguments are the
/// instruction, the bits of all operands, the number of the component, and the computed component.
pub type PlantedComponent = fn(Instruction, &[&[u64]], usize, Computed) -> Computed;
