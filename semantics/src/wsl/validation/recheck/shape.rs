//! Whether the numbers in a typed program are valid. Children stand before their parents and in the
//! same body, and types and callees exist.

use super::{Check, NOWHERE, refuse};
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::types::{StructId, Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, Constant, ExprId, Form, Program, StmtForm, StmtId, StoreId};
use std::ops::Range;

pub(super) fn shape(program: &Program) -> Check {
    if program.bodies.len() != program.env.functions.len() {
        return refuse(None, NOWHERE, format!("there are {} bodies of {} functions", program.bodies.len(), program.env.functions.len()));
    }
    types(program)?;
    let (mut exprs, mut stmts, mut stores) = (0, 0, 0);
    for (i, body) in program.bodies.iter().enumerate() {
        let span = program.env.functions[i].span;
        let follows = |range: &Range<u32>, at: u32| range.start == at && range.end >= at;
        if !(follows(&body.exprs, exprs) && follows(&body.stmts, stmts) && follows(&body.stores, stores)) {
            return refuse(None, span, "the nodes of a body do not follow those of the body before it");
        }
        (exprs, stmts, stores) = (body.exprs.end, body.stmts.end, body.stores.end);
        if exprs as usize > program.exprs.len() || stmts as usize > program.stmts.len() || stores as usize > program.stores.len() {
            return refuse(None, span, "the nodes of a body are not in the program");
        }
        let ranges = BodyRanges { program, exprs: body.exprs.clone(), stmts: body.stmts.clone(), stores: body.stores.clone() };
        ranges.stmt(body.block, body.stmts.end, span)?;
        body.parameters.iter().try_for_each(|s| ranges.store(*s, span))?;
        for e in body.exprs.clone() {
            ranges.expr_node(e)?;
        }
        for s in body.stmts.clone() {
            ranges.stmt_node(s)?;
        }
        for s in body.stores.clone() {
            let store = program.stores[s as usize];
            ranges.ty(store.ty, store.span)?;
        }
    }
    if (exprs as usize, stmts as usize, stores as usize) != (program.exprs.len(), program.stmts.len(), program.stores.len()) {
        return refuse(None, NOWHERE, "some nodes are in no body");
    }
    let function = |id: &FunctionId| (id.0 as usize) < program.env.functions.len();
    if !program.order.iter().all(function) || !program.entry_points.iter().all(|e| function(&e.function)) {
        return refuse(None, NOWHERE, "a function of the order or of an entry point is not in the program");
    }
    if program.barriers.iter().any(|b| b.0 as usize >= program.exprs.len()) {
        return refuse(None, NOWHERE, "a barrier is not in the program");
    }
    Ok(())
}

fn type_exists(program: &Program, ty: TypeId) -> bool {
    (ty.0 as usize) < program.env.types.len()
}

/// Checks that types are made of those before them, and that the types of fields and
/// functions exist.
fn types(program: &Program) -> Check {
    for i in 0..program.env.types.len() as u32 {
        let before = |of: TypeId| of.0 < i;
        let right = match program.env.types.get(TypeId(i)) {
            Type::Texture(_, of) | Type::Array(of, _) | Type::Pointer(_, of) | Type::ArrayReference(_, of) => before(of),
            Type::Struct(s) => (s.0 as usize) < program.env.structs.len(),
            Type::Enum(e) => (e.0 as usize) < program.env.enums.len() && (e.0 as usize) < program.env.types.enum_bases.len(),
            _ => true,
        };
        if !right {
            return refuse(None, NOWHERE, format!("the type of number {i} is made of none that stands before it"));
        }
    }
    for s in &program.env.structs {
        for f in &s.fields {
            if !type_exists(program, f.ty) {
                return refuse(None, f.span, "the type of this field is not in the program");
            }
        }
    }
    for f in &program.env.functions {
        if !type_exists(program, f.result) || f.parameters.iter().any(|f| !type_exists(program, f.ty)) {
            return refuse(None, f.span, "a type of this function is not in the program");
        }
    }
    Ok(())
}

/// The ranges of numbers that belong to one body.
struct BodyRanges<'a> {
    program: &'a Program,
    exprs: Range<u32>,
    stmts: Range<u32>,
    stores: Range<u32>,
}

impl BodyRanges<'_> {
    fn expr(&self, id: ExprId, before: u32, span: Span) -> Check {
        if self.exprs.contains(&id.0) && id.0 < before {
            Ok(())
        } else {
            refuse(None, span, "a premise does not stand before its conclusion")
        }
    }

    fn stmt(&self, id: StmtId, before: u32, span: Span) -> Check {
        if self.stmts.contains(&id.0) && id.0 < before {
            Ok(())
        } else {
            refuse(None, span, "a premise does not stand before its conclusion")
        }
    }

    fn store(&self, id: StoreId, span: Span) -> Check {
        if self.stores.contains(&id.0) { Ok(()) } else { refuse(None, span, "a store identifier belongs to another body") }
    }

    fn ty(&self, id: TypeId, span: Span) -> Check {
        if type_exists(self.program, id) { Ok(()) } else { refuse(None, span, "a type is not in the program") }
    }

    fn callee(&self, callee: Callee, span: Span) -> Check {
        let env = &self.program.env;
        let function = |id: FunctionId| (id.0 as usize) < env.functions.len();
        let field = |s: StructId, i: u32| env.structs.get(s.0 as usize).is_some_and(|s| (i as usize) < s.fields.len());
        let right = match callee {
            Callee::Declared(id) => function(id),
            Callee::Library(f) => f.variable().is_none_or(|t| type_exists(self.program, t)),
            Callee::Generated(g) => match g {
                Generated::FieldAddress(s, i, _) | Generated::FieldGetter(s, i) | Generated::FieldSetter(s, i) => field(s, i),
                Generated::ElementAddress(ty, _) | Generated::ElementGetter(ty) | Generated::ElementSetter(ty) => {
                    type_exists(self.program, ty)
                }
                Generated::Getter(id) | Generated::Setter(id) => function(id) && !env.function(id).parameters.is_empty(),
            },
        };
        if right { Ok(()) } else { refuse(None, span, "what is called is not in the program") }
    }

    fn expr_node(&self, i: u32) -> Check {
        let node = &self.program.exprs[i as usize];
        let span = node.span;
        let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = node.ty;
        self.ty(ty, span)?;
        if let Form::Call(_, range) = &node.form
            && (range.start > range.end || range.end as usize > self.program.arguments.len())
        {
            return refuse(Some(node.rule), span, "the arguments are not in the program");
        }
        self.program.children(ExprId(i)).iter().try_for_each(|e| self.expr(*e, i, span))?;
        for callee in callees(&node.form).into_iter().flatten() {
            self.callee(callee, span)?;
        }
        match &node.form {
            Form::Variable(store) | Form::Step(_, _, _, _, Some(store)) => self.store(*store, span),
            Form::Constant(Constant::Element(e)) => match self.program.env.types.get(ty) {
                Type::Enum(id) if (*e as usize) < self.program.env.enumeration(id).elements.len() => Ok(()),
                _ => refuse(Some(node.rule), span, "this is no element of its enum"),
            },
            _ => Ok(()),
        }
    }

    fn stmt_node(&self, i: u32) -> Check {
        let node = &self.program.stmts[i as usize];
        let span = node.span;
        let end = self.exprs.end;
        let (expr, stmt) = (|e: ExprId| self.expr(e, end, span), |s: StmtId| self.stmt(s, i, span));
        match &node.form {
            StmtForm::Block(range) => {
                if range.start > range.end || range.end as usize > self.program.blocks.len() {
                    return refuse(Some(node.rule), span, "the statements are not in the program");
                }
                self.program.block(range).iter().try_for_each(|s| stmt(*s))
            }
            StmtForm::Declaration(_, store, e) => {
                self.store(*store, span)?;
                e.map_or(Ok(()), expr)
            }
            StmtForm::If(e, a, b) => expr(*e).and(stmt(*a)).and(stmt(*b)),
            StmtForm::DoWhile(s, e) => expr(*e).and(stmt(*s)),
            StmtForm::For(e, e2, s) => expr(*e).and(expr(*e2)).and(stmt(*s)),
            StmtForm::Switch(e, cases) => expr(*e).and(cases.iter().try_for_each(|c| stmt(c.body))),
            StmtForm::Return(e) => e.map_or(Ok(()), expr),
            StmtForm::Expr(e) => expr(*e),
            StmtForm::Break | StmtForm::Continue | StmtForm::Discard | StmtForm::Fallthrough => Ok(()),
        }
    }
}

/// The functions that a node names.
fn callees(form: &Form) -> [Option<Callee>; 2] {
    match form {
        Form::Dot(_, _, access) | Form::Index(_, _, access) => match access {
            Access::AddressTaker(c) | Access::Getter(c) => [Some(*c), None],
            Access::Setter(s, g) => [Some(*s), Some(*g)],
        },
        Form::Step(_, _, _, c, _) | Form::CompoundAssign(c, ..) | Form::Call(c, _) => [Some(*c), None],
        _ => [None, None],
    }
}
