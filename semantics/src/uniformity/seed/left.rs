//! Left-values: seed 001 "Expressions", `validateExprLVal`.
//!
//! For a left-value, the seed returns the variable that owns the storage. This module also
//! returns the node that the address depends on, since `@e` makes an address a value that loads
//! go through (U-10).

use super::{Cx, Differs, NodeMeaning};
use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::uniformity::graph::Node;
use crate::uniformity::table::{self, Load};
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::ValueType;
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form, StoreId};

/// The owner of a left-value's storage.
#[derive(Clone, Copy, Debug)]
pub(super) enum Storage {
    /// A variable of the invocation.
    Variable(Node),
    /// Memory that is never written.
    Constant,
    /// Memory whose contents may differ, whatever the address.
    Differs(Differs),
}

/// The target of an assignment.
pub(super) enum Place {
    /// A left-value with an address: a variable, or memory.
    Left {
        storage: Storage,
        /// The node that the address depends on. `None` for a whole variable.
        address: Option<Node>,
    },
    /// A part of a place, which a setter changes and a getter reads.
    Part { whole: Box<Place>, index: Option<Node>, setter: Callee, getter: Callee },
    /// A value, which cannot be assigned to.
    Value(Node),
}

impl Cx<'_> {
    /// G, CF ⊢ e : LVal(τ), C
    pub(super) fn place(&mut self, e: ExprId, cf: &mut Node) -> Place {
        deep(|| self.place_of(e, cf))
    }

    fn place_of(&mut self, id: ExprId, cf: &mut Node) -> Place {
        let program = self.program;
        let expr = program.expr(id);
        let span = expr.span;
        match &expr.form {
            Form::Variable(store) => match program.store(*store).space {
                AddressSpace::Threadgroup => left_threadgroup(self, *store, span),
                _ => left_variable(self, *store, span),
            },
            Form::Parens(e) => {
                self.fire(Rule::UniformityParens);
                self.place(*e, cf)
            }
            Form::Coerce(Coercion::LeftToAbstract, e) => self.place(*e, cf),
            Form::Dereference(e) => dereference(self, *e, cf),
            Form::Dot(e, _, Access::AddressTaker(c)) => self.part(*e, None, *c, cf, span),
            Form::Index(e, i, Access::AddressTaker(c)) => self.part(*e, Some(*i), *c, cf, span),
            Form::Element(r, i) => left_element(self, [*r, *i], expr.ty, cf, span),
            Form::Dot(e, _, Access::Setter(setter, getter)) => left_setter(self, *e, None, [*setter, *getter], cf),
            Form::Index(e, i, Access::Setter(setter, getter)) => left_setter(self, *e, Some(*i), [*setter, *getter], cf),
            _ => Place::Value(self.rvalue(id, cf)),
        }
    }

    fn part(&mut self, e: ExprId, index: Option<ExprId>, taker: Callee, cf: &mut Node, span: Span) -> Place {
        match taker {
            Callee::Declared(_) | Callee::Generated(Generated::Getter(_) | Generated::Setter(_)) => {
                left_address_taker(self, e, index, taker, cf, span)
            }
            Callee::Library(_) | Callee::Generated(_) => left_part(self, e, index, cf, span),
        }
    }

    /// Reads a place.
    pub(super) fn read(&mut self, place: &Place, cf: &mut Node, span: Span) -> Node {
        match place {
            Place::Left { storage: Storage::Variable(x), address } => variable(self, *x, *address, *cf, span),
            Place::Left { storage, address } => load(self, *storage, *address, *cf, span),
            Place::Part { whole, index, getter, .. } => {
                let whole = self.read(whole, cf, span);
                let arguments: Vec<Node> = std::iter::once(whole).chain(*index).collect();
                self.apply(*getter, &arguments, cf, span)
            }
            Place::Value(node) => *node,
        }
    }

    /// Assigns a value to a place.
    pub(super) fn write(&mut self, rule: Rule, place: &Place, value: Node, cf: &mut Node, span: Span) {
        match place {
            Place::Left { storage: Storage::Variable(x), address } => {
                self.imply(rule, 0, *x, value);
                if let Some(address) = address {
                    self.imply(rule, 1, *x, *address);
                }
            }
            Place::Left { .. } | Place::Value(_) => {}
            Place::Part { whole, index, setter, .. } => {
                let old_value = self.read(whole, cf, span);
                let arguments: Vec<Node> = std::iter::once(old_value).chain(*index).chain([value]).collect();
                let changed = self.apply(*setter, &arguments, cf, span);
                self.write(rule, whole, changed, cf, span);
            }
        }
    }

    /// Takes the address of a place. Its variable cannot be uniform from then on. Returns the value
    /// of the address.
    pub(super) fn address(&mut self, rule: Rule, place: &Place, cf: Node, span: Span) -> Node {
        let Place::Left { storage, address } = place else { return cf };
        // By the letter of U-9 there is no rule for @.
        let escapes = !(self.letter().u9 && rule == Rule::UniformityMakeReference);
        if let (Storage::Variable(x), true) = (storage, escapes) {
            let differs = self.differs(rule, 0, Differs::AddressTaken, span);
            self.graph.imply(*x, differs, rule);
        }
        match address {
            Some(address) if !self.letter().u10 => {
                let value = self.node(NodeMeaning::Value, span);
                self.imply(rule, 1, value, *address);
                self.imply(rule, 2, value, cf);
                value
            }
            _ => cf,
        }
    }
}

/// x ↦ LVal(τ, x_id) in G gives G, CF ⊢ x : LVal(τ), x_id [uniformity/left-variable,
/// 001 Expressions]
fn left_variable(cx: &mut Cx, store: StoreId, span: Span) -> Place {
    cx.fire(Rule::UniformityLeftVariable);
    Place::Left { storage: Storage::Variable(cx.variable(store, None, span)), address: None }
}

/// x in threadgroup memory gives G, CF ⊢ x : LVal(τ), cannot [uniformity/left-threadgroup, 001
/// Expressions; U-9]
fn left_threadgroup(cx: &mut Cx, store: StoreId, span: Span) -> Place {
    cx.fire(Rule::UniformityLeftThreadgroup);
    let storage = match cx.letter().u9 {
        true => Storage::Variable(cx.variable(store, None, span)),
        false => Storage::Differs(Differs::Space(AddressSpace::Threadgroup)),
    };
    Place::Left { storage, address: None }
}

/// G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ e2 : C2 give G, CF ⊢ e1\[e2] : LVal(τ'), x_id at the
/// address C2, and e1.f likewise [uniformity/left-part, 001 Expressions]
fn left_part(cx: &mut Cx, e: ExprId, index: Option<ExprId>, cf: &mut Node, span: Span) -> Place {
    let rule = Rule::UniformityLeftPart;
    cx.fire(rule);
    let place = cx.place(e, cf);
    let Some(i) = index else { return place };
    let i = cx.rvalue(i, cf);
    let Place::Left { storage, address } = place else { return place };
    let at = cx.node(NodeMeaning::Value, span);
    cx.imply(rule, 0, at, i);
    if let Some(address) = address {
        cx.imply(rule, 1, at, address);
    }
    Place::Left { storage, address: Some(at) }
}

/// G, CF ⊢ operator&.f(&e) : C, declared, gives G, CF ⊢ e.f : LVal(τ), cannot at the address C, and
/// operator&\[\] likewise [uniformity/left-address-taker, 001 Expressions; U-6]
fn left_address_taker(cx: &mut Cx, e: ExprId, index: Option<ExprId>, taker: Callee, cf: &mut Node, span: Span) -> Place {
    let rule = Rule::UniformityLeftAddressTaker;
    cx.fire(rule);
    let place = cx.place(e, cf);
    let index = index.map(|i| cx.rvalue(i, cf));
    let pointer = cx.address(rule, &place, *cf, span);
    let arguments: Vec<Node> = std::iter::once(pointer).chain(index).collect();
    let to = cx.apply(taker, &arguments, cf, span);
    Place::Left { storage: Storage::Differs(Differs::Pointer), address: Some(to) }
}

/// G, CF ⊢ e1 : Ref(τ, a), C1 and G, CF ⊢ e2 : C2 give G, CF ⊢ e1\[e2] : LVal(τ, a) at the address
/// {C1, C2}, and cannot unless a is constant [uniformity/left-element, 001 Expressions; U-9]
fn left_element(cx: &mut Cx, parts: [ExprId; 2], ty: ValueType, cf: &mut Node, span: Span) -> Place {
    let rule = Rule::UniformityLeftElement;
    cx.fire(rule);
    let [r, i] = parts.map(|e| cx.rvalue(e, cf));
    let space = match ty {
        ValueType::Left(_, space) => space,
        _ => AddressSpace::Thread,
    };
    let storage = match table::load(space) {
        Load::Uniform => Storage::Constant,
        _ if cx.letter().u9 => Storage::Constant,
        Load::Varies => Storage::Differs(Differs::Space(space)),
        Load::AsStored => Storage::Differs(Differs::Pointer),
    };
    let at = cx.node(NodeMeaning::Value, span);
    cx.imply(rule, 0, at, i);
    cx.imply(rule, 1, at, r);
    Place::Left { storage, address: Some(at) }
}

/// G, CF ⊢ e : Ptr(τ, a), C gives G, CF ⊢ *e : LVal(τ, a), cannot at the address C
/// [uniformity/dereference, 001 Expressions]
fn dereference(cx: &mut Cx, e: ExprId, cf: &mut Node) -> Place {
    cx.fire(Rule::UniformityDereference);
    let to = cx.rvalue(e, cf);
    Place::Left { storage: Storage::Differs(Differs::Pointer), address: Some(to) }
}

/// G, CF ⊢ e : ALVal(τ), x_id gives that assigning v to e.f assigns operator.f=(e, v) to x_id, and
/// operator\[\]= likewise [uniformity/left-setter, 001 Expressions; U-6]
fn left_setter(cx: &mut Cx, e: ExprId, index: Option<ExprId>, [setter, getter]: [Callee; 2], cf: &mut Node) -> Place {
    cx.fire(Rule::UniformityLeftSetter);
    let whole = Box::new(cx.place(e, cf));
    let index = index.map(|i| cx.rvalue(i, cf));
    Place::Part { whole, index, setter, getter }
}

/// G, CF ⊢ e : LVal(τ), x_id at the address C and result ⇒ {x_id, C, CF} give G, CF ⊢ e : result
/// [uniformity/variable, 001 Expressions]
fn variable(cx: &mut Cx, x: Node, address: Option<Node>, cf: Node, span: Span) -> Node {
    let rule = Rule::UniformityVariable;
    cx.fire(rule);
    let result = cx.node(NodeMeaning::Value, span);
    cx.imply(rule, 0, result, x);
    if let Some(address) = address {
        cx.imply(rule, 1, result, address);
    }
    cx.imply(rule, 2, result, cf);
    result
}

/// a left-value in no variable, at the address C, gives result ⇒ {C, CF} of one in constant memory,
/// and result ⇒ cannot of another one [uniformity/load, 001 Expressions; U-9]
fn load(cx: &mut Cx, storage: Storage, address: Option<Node>, cf: Node, span: Span) -> Node {
    let rule = Rule::UniformityLoad;
    cx.fire(rule);
    if let Storage::Differs(reason) = storage {
        return cx.differs(rule, 0, reason, span);
    }
    let result = cx.node(NodeMeaning::Value, span);
    if let Some(address) = address {
        cx.imply(rule, 1, result, address);
    }
    cx.imply(rule, 2, result, cf);
    result
}
