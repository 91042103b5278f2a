//! Replaceable judgements, on which rules rest. They are those that were corrected from the seed,
//! or in which a detail decides. Each can be replaced by the letter of the seed, to show what
//! that would do (ERRATA.md), or by a bug, to test that it is detected. No rule function knows of
//! the replacements.

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
    /// The kind of value of a variable or parameter, from its type and address space.
    pub variable: fn(TypeId, AddressSpace) -> ValueType,
    /// From the type of the operand of `@`: the element type of the resulting array reference, and
    /// the number of elements if it is known.
    pub reference: fn(&Types, TypeId) -> (TypeId, Option<u32>),
    /// Whether a type can represent an integer literal.
    pub representable: fn(&IntLiteral, TypeId) -> bool,
    /// Whether the second round of overload resolution allows an argument for a parameter of that
    /// type. The flag says whether the argument is an integer literal.
    pub second_round: fn(bool, TypeId) -> bool,
    /// The declared function that a callee calls, for recursion and discard. The flag says whether
    /// the call is written as `f(…)`.
    pub called: fn(Callee, bool) -> Option<FunctionId>,
    /// Whether an initialising expression sees the variable that it initialises.
    pub initializer_sees_itself: bool,
    /// The type that can be assigned to a value, or `None` if nothing can.
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

/// The end of a loop may be reached, whatever the body does (WSL-C1).
fn loop_behaviours(b: Behaviours) -> Behaviours {
    b.without(Behaviour::Continue).without(Behaviour::Break).without(Behaviour::Fallthrough).with(Behaviour::Nothing)
}

fn switch_behaviours(b: Behaviours) -> Behaviours {
    b.without(Behaviour::Break).without(Behaviour::Fallthrough).with_if(Behaviour::Nothing, b.has(Behaviour::Break))
}

fn block_behaviours(first: Behaviours, rest: Behaviours) -> Behaviours {
    first.without(Behaviour::Nothing).without(Behaviour::Fallthrough).union(rest)
}

/// `@` of an array gives a reference to its elements (WSL-C3).
fn reference(types: &Types, ty: TypeId) -> (TypeId, Option<u32>) {
    match types.get(ty) {
        Type::Array(of, n) => (of, Some(n)),
        _ => (ty, None),
    }
}

/// The declared function that a callee calls: the callee itself, or the address-taker that it is
/// generated from.
pub fn declared(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Declared(id) | Callee::Generated(Generated::Getter(id) | Generated::Setter(id)) => Some(id),
        Callee::Generated(_) | Callee::Library(_) => None,
    }
}
