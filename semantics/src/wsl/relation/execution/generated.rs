//! Generated functions: seed 004 "Generated functions".

use super::expression::pointer;
use super::table::{Class, Function::Expr as E, Row, Shape};
use super::term::{Expr, Form, Stmt};
use super::{Cx, Effect, Effects, Next, pointee};
use crate::rule::Rule;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::memory::{Address, ObjectId, Words};
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion};
use std::rc::Rc;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEFieldAddress, E(&[Shape::CallAddress], e_field_address)),
    (Rule::WslEElementAddress, E(&[Shape::CallAddress], e_element_address)),
    (Rule::WslEGeneratedGetter, E(&[Shape::CallAccessor], e_generated_getter)),
    (Rule::WslEGeneratedSetter, E(&[Shape::CallAccessor], e_generated_setter)),
];

/// The parameters of a generated getter or setter, whose first parameter is `b`. `whole` is `b`.
/// `part` is `b.f` or `b[i]`, by the address-taker. `last` is the last parameter. `effects` store
/// the arguments to the parameters, from left to right.
struct Parameters {
    whole: Expr,
    part: Expr,
    last: Option<Expr>,
    effects: Effects,
}

impl Cx<'_, '_> {
    /// The address-taker that a generated getter or setter calls on its parameter in thread memory,
    /// with the types of the whole and of the part.
    fn address_taker(&self, generated: Generated) -> Option<(Callee, TypeId, TypeId)> {
        let env = &self.program().env;
        let thread = AddressSpace::Thread;
        match generated {
            Generated::FieldGetter(s, f) | Generated::FieldSetter(s, f) => {
                let whole = env.types.find(Type::Struct(s))?;
                Some((Callee::Generated(Generated::FieldAddress(s, f, thread)), whole, env.structure(s).fields[f as usize].ty))
            }
            Generated::ElementGetter(array) | Generated::ElementSetter(array) => match env.types.get(array) {
                Type::Array(of, _) => Some((Callee::Generated(Generated::ElementAddress(array, thread)), array, of)),
                _ => None,
            },
            Generated::Getter(f) | Generated::Setter(f) => {
                let function = env.function(f);
                match (env.types.get(function.parameters.first()?.ty), env.types.get(function.result)) {
                    (Type::Pointer(_, whole), Type::Pointer(_, part)) => Some((Callee::Declared(f), whole, part)),
                    _ => None,
                }
            }
            Generated::FieldAddress(..) | Generated::ElementAddress(..) => None,
        }
    }

    fn parameters(&self, e: &Expr, generated: Generated, arguments: &[Expr]) -> Option<Parameters> {
        let (taker, whole, part) = self.address_taker(generated)?;
        let values: Vec<(&Words, TypeId)> = arguments.iter().map(|a| Some((a.words()?, a.ty))).collect::<Option<_>>()?;
        let mut effects = Effects::new();
        let object = match self.generated.get(&generated) {
            Some(&object) => object,
            None => {
                effects.push(Effect::Allocate(generated, values.iter().map(|v| v.0.len() as u32).sum()));
                ObjectId(self.memory.objects.len() as u32)
            }
        };
        let (mut parameter_values, mut offset) = (Vec::with_capacity(values.len()), 0);
        for (words, ty) in values {
            let address = Address::of(object, offset * 4);
            effects.push(Effect::Store(address, Words::from_slice(words)));
            parameter_values.push(Expr { at: e.at, ty, form: Form::Left(address) });
            offset += words.len() as u32;
        }
        let mut parameter_values = parameter_values.into_iter();
        let whole = Expr { ty: whole, ..parameter_values.next()? };
        let indexed = match generated {
            Generated::ElementGetter(_) | Generated::ElementSetter(_) => true,
            Generated::Getter(f) | Generated::Setter(f) => self.program().env.indexers.address_takers.contains(&f),
            _ => false,
        };
        let form = match indexed {
            true => {
                let load = Expr { ty: TypeId::UINT, ..load_of(parameter_values.next()?) };
                Form::Index(Box::new([whole.clone(), load]), Access::AddressTaker(taker))
            }
            false => Form::Dot(Box::new(whole.clone()), Access::AddressTaker(taker)),
        };
        Some(Parameters { whole, part: Expr { at: e.at, ty: part, form }, last: parameter_values.next(), effects })
    }

    /// `Call({s…})` in the empty environment. All names are replaced with addresses already.
    fn body(&self, e: &Expr, mut statements: Vec<Stmt>) -> Next {
        statements.reverse();
        let block = self.block(Rc::default(), statements, 0..0);
        Next::form(e, Form::Construct(Box::new(Stmt::Block(Box::new(block)))))
    }
}

fn load_of(e: Expr) -> Expr {
    Expr { at: e.at, ty: e.ty, form: Form::Coerce(Coercion::LeftToRight, Box::new(e)) }
}

/// The generated function that is called, and its arguments.
fn generated_call(e: &Expr) -> Option<(Generated, &[Expr])> {
    match &e.form {
        Form::Call(Callee::Generated(generated), arguments) => Some((*generated, arguments)),
        _ => None,
    }
}

/// operator&.f(Ptr(a)) → Ptr(a + offset of f) [wsl/e-field-address, 004 Generated functions]
pub fn e_field_address(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (Generated::FieldAddress(s, f, _), arguments) = generated_call(e)? else { return None };
    let Word::Address(address) = *arguments.first()?.words()?.first()? else { return None };
    Some(Next::value(e, pointer(address.plus(cx.shared.field(s, f)))))
}

/// operator&\[\](Ptr(a), i) → &((@*Ptr(a))\[i\]) [wsl/e-element-address, 004 Generated functions;
/// WSL-D18]
pub fn e_element_address(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Call(callee, arguments) = &e.form else { return None };
    let [pointer, index] = &arguments[..] else { return None };
    let (array, space) = match *callee {
        Callee::Generated(Generated::ElementAddress(array, space)) => (array, space),
        Callee::Library(function) if Class::of(function.meaning()) == Class::Element => {
            (pointee(cx.program(), pointer.ty)?, function.space(0).unwrap_or(AddressSpace::Thread))
        }
        _ => return None,
    };
    let Type::Array(of, n) = cx.program().env.types.get(array) else { return None };
    if pointer.words().is_none() || index.words().is_none() {
        return None;
    }
    let at = e.at;
    let whole = Expr { at, ty: array, form: Form::Dereference(Box::new(pointer.clone())) };
    let reference = cx.program().env.types.find(Type::ArrayReference(space, of)).unwrap_or(of);
    let reference = Expr { at, ty: reference, form: Form::MakeReference(Box::new(whole), n) };
    let element = Expr { at, ty: of, form: Form::Element(Box::new([reference, index.clone()])) };
    Some(Next::form(e, Form::AddressOf(Box::new(element))))
}

/// operator.f(v) → Call({ return b.f; }), storing v to b [wsl/e-generated-getter, 004 Generated
/// functions; WSL-C13]
pub fn e_generated_getter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (generated, arguments) = generated_call(e)?;
    let (Generated::FieldGetter(..) | Generated::ElementGetter(_) | Generated::Getter(_)) = generated else { return None };
    let Parameters { part, effects, .. } = cx.parameters(e, generated, arguments)?;
    Some(cx.body(e, vec![Stmt::Return(Some(load_of(part)))]).with(effects))
}

/// operator.f=(v, v') → Call({ b.f = x; return b; }), storing v to b and v' to x
/// [wsl/e-generated-setter, 004 Generated functions; WSL-C13]
pub fn e_generated_setter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (generated, arguments) = generated_call(e)?;
    let (Generated::FieldSetter(..) | Generated::ElementSetter(_) | Generated::Setter(_)) = generated else { return None };
    let Parameters { whole, part, last, effects } = cx.parameters(e, generated, arguments)?;
    let assign = Expr { at: e.at, ty: part.ty, form: Form::Assign(Box::new([part, load_of(last?)])) };
    Some(cx.body(e, vec![Stmt::Effect(assign), Stmt::Return(Some(load_of(whole)))]).with(effects))
}
