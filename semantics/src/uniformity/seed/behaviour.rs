//! The behaviours of seed 001: the ways in which control flow leaves a statement.
//!
//! They differ from the behaviours of typing. A loop adds `InfiniteLoop` here (U-3), and `Return`
//! has the node of the returned value.

use crate::uniformity::graph::Node;

/// A behaviour, except for returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Behaviour {
    /// Control flow reaches the end.
    Nothing,
    /// Control flow leaves the innermost loop or switch.
    Break,
    /// The innermost loop starts its next iteration.
    Continue,
    /// Control flow enters the next case.
    Fallthrough,
    /// The invocation ends.
    Discard,
    /// A loop may not end.
    InfiniteLoop,
}

/// The returns in a set of behaviours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    None,
    /// `Return(C)`. A return without value has no node.
    One(Option<Node>),
    Several,
}

/// A set of behaviours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviours {
    set: u8,
    returns: Returns,
}

impl Behaviours {
    /// The empty set.
    pub const NONE: Behaviours = Behaviours { set: 0, returns: Returns::None };

    /// The set with this one behaviour.
    pub fn of(b: Behaviour) -> Behaviours {
        Behaviours::NONE.with(b)
    }

    /// `{Return(result)}`
    pub fn returning(result: Option<Node>) -> Behaviours {
        Behaviours { set: 0, returns: Returns::One(result) }
    }

    /// Whether it has the behaviour.
    pub fn has(self, b: Behaviour) -> bool {
        self.set & 1 << b as u8 != 0
    }

    /// Whether it has a `Return`.
    pub fn returns(self) -> bool {
        self.returns != Returns::None
    }

    /// The set with another behaviour.
    pub fn with(self, b: Behaviour) -> Behaviours {
        Behaviours { set: self.set | 1 << b as u8, ..self }
    }

    /// The set without a behaviour.
    pub fn without(self, b: Behaviour) -> Behaviours {
        Behaviours { set: self.set & !(1 << b as u8), ..self }
    }

    /// The union of both sets.
    pub fn union(self, other: Behaviours) -> Behaviours {
        let returns = match (self.returns, other.returns) {
            (Returns::None, r) | (r, Returns::None) => r,
            (a, b) if a == b => a,
            _ => Returns::Several,
        };
        Behaviours { set: self.set | other.set, returns }
    }

    /// Whether it has exactly one behaviour. `Return(C1)` and `Return(C2)` count as one, or as two
    /// by the letter of U-5.
    pub fn is_one(self, returns_apart: bool) -> bool {
        let returns = match self.returns {
            Returns::None => 0,
            Returns::One(_) => 1,
            Returns::Several if returns_apart => 2,
            Returns::Several => 1,
        };
        self.set.count_ones() + returns == 1
    }
}
