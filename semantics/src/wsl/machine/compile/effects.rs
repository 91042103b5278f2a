//! The effects of evaluating an expression on what was evaluated before.

use crate::wsl::environment::access::Callee;
use crate::wsl::library::Meaning;
use crate::wsl::texture::is_function;
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::{Coercion, ExprId, Form, Program};
use std::ops::BitOr;

/// Effects that may happen, for any values of the operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects(u8);

impl Effects {
    /// Something may be stored.
    const WRITES: Effects = Effects(1);
    /// Something may be loaded through a pointer or array reference.
    const FOLLOWS: Effects = Effects(2);
    /// An unspecified value may be chosen.
    const CHOOSES: Effects = Effects(4);

    /// Whether earlier values that are still in variables have to be copied first.
    pub(super) fn writes(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it may read or change the parameters of a function that is about to be called.
    pub(super) fn reads_or_writes(self) -> bool {
        self.0 & 3 != 0
    }

    /// Whether earlier choices and loads have to be made first.
    pub(super) fn writes_or_chooses(self) -> bool {
        self.0 & 5 != 0
    }
}

impl BitOr for Effects {
    type Output = Effects;

    fn bitor(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }
}

/// The effects of each expression. Children precede their parents.
pub(super) fn effects(program: &Program) -> Vec<Effects> {
    let mut out: Vec<Effects> = Vec::with_capacity(program.exprs.len());
    for i in 0..program.exprs.len() as u32 {
        let id = ExprId(i);
        let children = program.children(id).into_iter().fold(Effects::default(), |e, child| e | out[child.0 as usize]);
        let callees = program.callees(id).into_iter().fold(Effects::default(), |e, callee| e | effects_of_callee(program, callee));
        out.push(children | callees | effects_of_form(program, id));
    }
    out
}

fn effects_of_form(program: &Program, id: ExprId) -> Effects {
    let expr = program.expr(id);
    match &expr.form {
        Form::Assign(..) | Form::Step(..) | Form::CompoundAssign(..) => Effects::WRITES,
        Form::Dereference(_) => Effects::FOLLOWS,
        Form::Element(..) => Effects::FOLLOWS | Effects::CHOOSES,
        Form::Index(..) => Effects::CHOOSES,
        Form::Coerce(Coercion::LeftToRight, _) if matches!(program.env.types.get(expr.ty.right()), Type::Enum(_)) => Effects::CHOOSES,
        _ => Effects::default(),
    }
}

fn effects_of_callee(program: &Program, callee: Callee) -> Effects {
    use crate::wsl::environment::access::Generated as G;
    match callee {
        Callee::Declared(_) | Callee::Generated(G::Getter(_) | G::Setter(_)) => Effects::WRITES | Effects::FOLLOWS | Effects::CHOOSES,
        Callee::Generated(G::FieldGetter(s, field)) => match program.env.types.get(program.env.structure(s).fields[field as usize].ty) {
            Type::Enum(_) => Effects::CHOOSES,
            _ => Effects::default(),
        },
        Callee::Generated(G::FieldAddress(..) | G::FieldSetter(..)) => Effects::default(),
        Callee::Generated(G::ElementAddress(..) | G::ElementGetter(_) | G::ElementSetter(_)) => Effects::CHOOSES,
        Callee::Library(f) => match f.meaning() {
            Meaning::Add | Meaning::Subtract | Meaning::Multiply | Meaning::Negate | Meaning::Increment | Meaning::Decrement => {
                Effects::default()
            }
            Meaning::And | Meaning::Or | Meaning::Xor | Meaning::Complement | Meaning::Not => Effects::default(),
            Meaning::ShiftLeft | Meaning::ShiftRight | Meaning::Swizzle | Meaning::SetSwizzle | Meaning::Vector => Effects::default(),
            Meaning::Equal | Meaning::NotEqual | Meaning::Less | Meaning::LessEqual | Meaning::Greater | Meaning::GreaterEqual => {
                Effects::default()
            }
            Meaning::Convert if f.variable().is_none_or(|t| t != TypeId::scalar(Scalar::Float)) => Effects::default(),
            _ if f.signature().parameters.iter().enumerate().any(|(i, _)| f.space(i).is_some()) => {
                Effects::WRITES | Effects::FOLLOWS | Effects::CHOOSES
            }
            meaning if super::waits(meaning) || is_function(meaning) => Effects::WRITES | Effects::FOLLOWS | Effects::CHOOSES,
            _ => Effects::CHOOSES,
        },
    }
}
