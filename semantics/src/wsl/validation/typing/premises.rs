//! The judgements on which rules rest where the seed was corrected or where a detail decides, each
//! replaceable: by the seed's letter, to show what it would do (ERRATA.md), and by bugs, to see
//! them caught. No rule function knows of the replacements.

use super::behaviour::{Behaviour, Behaviours};
use super::literal;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::syntax::{AddressSpace, IntLiteral};
use crate::wsl::types::{Type, TypeId, Types, ValueType};

/// The replaceable judgements.
#[derive(Clone, Copy, Debug)]
pub struct Premises {
    /// The behaviours of a loop from those of its body.
    pub loop_behaviours: fn(Behaviours) -> Behaviours,
    /// The behaviours of a switch from those of its cases.
    pub switch_behaviours: fn(Behaviours) -> Behaviours,
    /// The behaviours of a block from those of its first statement and of its rest.
    pub block_behaviours: fn(Behaviours, Behaviours) -> Behaviours,
    /// What a variable or parameter of a type in an address space is.
    pub variable: fn(TypeId, AddressSpace) -> ValueType,
    /// The elements' type of the array reference that `@` gives, and its number of elements if it
    /// is known.
    pub reference: fn(&Types, TypeId) -> (TypeId, Option<u32>),
    /// Whether an integer literal can be given a type.
    pub representable: fn(&IntLiteral, TypeId) -> bool,
    /// Whether the second round of overload resolution leaves an argument to a parameter, for
    /// integer literals and for others.
    pub second_round: fn(bool, TypeId) -> bool,
    /// The declared function that a callee calls, for recursion and discard; the last says whether
    /// it is called by `f(…)`.
    pub called: fn(Callee, bool) -> Option<FunctionId>,
    /// Whether an initialising expression sees the variable that it initialises.
    pub initializer_sees_itself: bool,
    /// The type of what is assigned to a value of a type, if it can be.
    pub assignable: fn(ValueType) -> Option<TypeId>,
}

impl Default for Premises {
    fn default() -> Premises {
        Premises {
            loop_behaviours,
            switch_behaviours,
            block_behaviours,
            variable: ValueType::Left,
            reference,
            representable: literal::representable,
            second_round: |literal, ty| !literal || ty == TypeId::INT,
            called: |callee, _| declared(callee),
            initializer_sees_itself: false,
            assignable: ValueType::assignable,
        }
    }
}

/// Whatever the body does, the end of a loop may be reached (WSL-C1).
fn loop_behaviours(b: Behaviours) -> Behaviours {
    b.without(Behaviour::Continue).without(Behaviour::Break).without(Behaviour::Fallthrough).with(Behaviour::Nothing)
}

fn switch_behaviours(b: Behaviours) -> Behaviours {
    b.without(Behaviour::Break).without(Behaviour::Fallthrough).with_if(Behaviour::Nothing, b.has(Behaviour::Break))
}

fn block_behaviours(first: Behaviours, rest: Behaviours) -> Behaviours {
    first.without(Behaviour::Nothing).without(Behaviour::Fallthrough).union(rest)
}

/// Of an array, a reference to its elements (WSL-C3).
fn reference(types: &Types, ty: TypeId) -> (TypeId, Option<u32>) {
    match types.get(ty) {
        Type::Array(of, n) => (of, Some(n)),
        _ => (ty, None),
    }
}

/// The declared function that a callee calls: itself, or the address-taker that
/// it is generated from.
pub fn declared(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Declared(id) | Callee::Generated(Generated::Getter(id) | Generated::Setter(id)) => Some(id),
        Callee::Generated(_) | Callee::Library(_) => None,
    }
}
