//! Generated functions: seed 004 "Generated functions".

use super::term::{Block, Expr, Form, Stmt};
use super::{Cx, Done};
use crate::rule::Rule;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::memory::{Address, Words};
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion};
use std::rc::Rc;

impl Cx<'_, '_> {
    pub(super) fn call_generated(&mut self, generated: Generated, e: &mut Expr) -> Done {
        use Generated as G;
        match generated {
            G::FieldAddress(..) => self.apply(Rule::WslEFieldAddress, e_field_address, e),
            G::ElementAddress(..) => self.apply(Rule::WslEElementAddress, e_element_address, e),
            G::FieldGetter(..) | G::ElementGetter(_) | G::Getter(_) => self.apply(Rule::WslEGeneratedGetter, e_generated_getter, e),
            G::FieldSetter(..) | G::ElementSetter(_) | G::Setter(_) => self.apply(Rule::WslEGeneratedSetter, e_generated_setter, e),
        }
    }

    /// The address-taker that a generated getter or setter uses on its parameter in thread, the
    /// type of the whole and of the part.
    fn taker(&self, generated: Generated) -> Option<(Callee, TypeId, TypeId)> {
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

    /// The parameters of a generated function, stored from left to right; and `b.f` or `b[i]` of
    /// the first by the address-taker.
    fn generated_parameters(&mut self, e: &mut Expr) -> Result<(Expr, Expr, Option<Expr>), super::Stop> {
        let Form::Call(Callee::Generated(generated), arguments) = &mut e.form else { return self.stuck("no generated function") };
        let (generated, arguments) = (*generated, std::mem::take(arguments));
        let Some((taker, whole, part)) = self.taker(generated) else { return self.stuck("no address-taker is generated") };
        let sizes: Vec<u32> = arguments.iter().map(|a| a.words().map_or(0, |w| w.len() as u32)).collect();
        let object = self.generated(generated, sizes.iter().sum());
        let mut stored = Vec::new();
        let mut offset = 0;
        for (argument, size) in arguments.iter().zip(sizes) {
            let Some(words) = argument.words() else { return self.stuck("an argument is no value") };
            let address = Address::of(object, offset * 4);
            self.store(address, words)?;
            stored.push(Expr { at: e.at, ty: argument.ty, form: Form::Left(address) });
            offset += size;
        }
        let mut stored = stored.into_iter();
        let Some(mut base) = stored.next() else { return self.stuck("a generated function without parameters") };
        base.ty = whole;
        let indexed = match generated {
            Generated::ElementGetter(_) | Generated::ElementSetter(_) => true,
            Generated::Getter(f) | Generated::Setter(f) => self.program().env.indexers.address_takers.contains(&f),
            _ => false,
        };
        let form = match indexed {
            true => {
                let Some(index) = stored.next() else { return self.stuck("an indexed accessor without index") };
                let load = Expr { at: e.at, ty: TypeId::UINT, form: Form::Coerce(Coercion::LeftToRight, Box::new(index)) };
                Form::Index(Box::new([base.clone(), load]), Access::AddressTaker(taker))
            }
            false => Form::Dot(Box::new(base.clone()), Access::AddressTaker(taker)),
        };
        Ok((base, Expr { at: e.at, ty: part, form }, stored.next()))
    }

    fn load_expr(&self, e: Expr) -> Expr {
        Expr { at: e.at, ty: e.ty, form: Form::Coerce(Coercion::LeftToRight, Box::new(e)) }
    }

    /// `Call({s…})` in the empty environment: every name is an address already.
    fn body(&self, e: &mut Expr, mut statements: Vec<Stmt>) {
        statements.reverse();
        let block = Block { env: Some(Rc::default()), made: statements, ..Block::default() };
        e.form = Form::Construct(Box::new(Stmt::Block(Box::new(block))));
    }
}

/// operator&.f(Ptr(a)) → Ptr(a + offset of f) [wsl/e-field-address, 004 Generated functions]
pub fn e_field_address(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Call(Callee::Generated(Generated::FieldAddress(s, f, _)), arguments) = &e.form else { return cx.stuck("no address-taker") };
    let Some(Word::Address(address)) = arguments.first().and_then(|a| a.words()).and_then(|w| w.first()).copied() else {
        return cx.stuck("an address-taker of no pointer");
    };
    let address = address.plus(cx.shared.field(*s, *f));
    e.form = Form::Value(Words::from_slice(&[Word::Address(address), Word::Bits(0)]));
    Ok(())
}

/// operator&\[\](Ptr(a), i) → &((@*Ptr(a))\[i\]) [wsl/e-element-address, 004 Generated functions;
/// WSL-D18]
pub fn e_element_address(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Call(Callee::Generated(Generated::ElementAddress(array, space)), arguments) = &mut e.form else {
        return cx.stuck("no address-taker");
    };
    let (array, space, mut arguments) = (*array, *space, std::mem::take(arguments).into_iter());
    let Type::Array(of, n) = cx.program().env.types.get(array) else { return cx.stuck("an element of no array") };
    let (Some(pointer), Some(index)) = (arguments.next(), arguments.next()) else { return cx.stuck("an address-taker without arguments") };
    let at = e.at;
    let whole = Expr { at, ty: array, form: Form::Dereference(Box::new(pointer)) };
    let reference = cx.program().env.types.find(Type::ArrayReference(space, of)).unwrap_or(of);
    let reference = Expr { at, ty: reference, form: Form::MakeReference(Box::new(whole), n) };
    let element = Expr { at, ty: of, form: Form::Element(Box::new([reference, index])) };
    e.form = Form::AddressOf(Box::new(element));
    Ok(())
}

/// operator.f(v) → Call({ return b.f; }), storing v to b [wsl/e-generated-getter, 004 Generated
/// functions; WSL-C13]
pub fn e_generated_getter(cx: &mut Cx, e: &mut Expr) -> Done {
    let (_, part, _) = cx.generated_parameters(e)?;
    let part = cx.load_expr(part);
    cx.body(e, vec![Stmt::Return(Some(part))]);
    Ok(())
}

/// operator.f=(v, v') → Call({ b.f = x; return b; }), storing v to b and v' to x
/// [wsl/e-generated-setter, 004 Generated functions; WSL-C13]
pub fn e_generated_setter(cx: &mut Cx, e: &mut Expr) -> Done {
    let (whole, part, value) = cx.generated_parameters(e)?;
    let Some(value) = value else { return cx.stuck("a setter without a value") };
    let value = cx.load_expr(value);
    let assign = Expr { at: e.at, ty: part.ty, form: Form::Assign(Box::new([part, value])) };
    let whole = cx.load_expr(whole);
    cx.body(e, vec![Stmt::Effect(assign), Stmt::Return(Some(whole))]);
    Ok(())
}
