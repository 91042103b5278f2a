//! Undefined behaviour, enumerated: a stable id and the clause for each.

/// A kind of undefined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ub {
    /// OpUnreachable was reached.
    Unreachable,
    /// An access chain left its object.
    AccessOutOfBounds,
}

impl Ub {
    /// Every kind.
    pub const ALL: &'static [Ub] = &[Ub::Unreachable, Ub::AccessOutOfBounds];

    /// The stable id, as `spirv/unreachable`.
    pub fn id(self) -> &'static str {
        match self {
            Ub::Unreachable => "spirv/unreachable",
            Ub::AccessOutOfBounds => "spirv/access-out-of-bounds",
        }
    }

    /// The clause that makes it undefined.
    pub fn clause(self) -> &'static str {
        match self {
            Ub::Unreachable => "SPIR-V §3.3.17, OpUnreachable: behavior is undefined if this instruction is executed",
            Ub::AccessOutOfBounds => "SPIR-V §3.3.8, OpAccessChain: each index must be in bounds",
        }
    }
}

/// One undefined behaviour that a run met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// Which.
    pub ub: Ub,
    /// What happened, one sentence that names the instruction.
    pub what: String,
    /// Where: function, block, step.
    pub at: String,
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "undefined[{}]: {} ({}); {}", self.ub.id(), self.what, self.at, self.ub.clause())
    }
}
