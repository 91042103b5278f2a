//! Right-values: seed 004 "Execution of expressions".

use super::{Done, Lower, Scalars, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, End, Pure, Value};
use crate::wsl::environment::access::Callee;
use crate::wsl::syntax::Fix;
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, Coercion, Constant, ExprId, Form};
use smallvec::{SmallVec, smallvec};

impl Lower<'_> {
    /// The right-value of an expression.
    pub(super) fn value(&mut self, id: ExprId) -> Done<Val> {
        deep(|| {
            let outer = self.flow.span;
            self.flow.span = self.program.expr(id).span;
            let val = self.value_of(id);
            self.flow.span = outer;
            val
        })
    }

    /// The scalars of an expression's value.
    pub(super) fn cells(&mut self, id: ExprId) -> Done<Scalars> {
        let val = self.value(id)?;
        Ok(self.cells_of(&val))
    }

    /// The only scalar of an expression's value.
    pub(super) fn scalar(&mut self, id: ExprId) -> Done<Value> {
        let cells = self.cells(id)?;
        Ok(self.as_scalar(&cells))
    }

    fn as_scalar(&mut self, cells: &[Value]) -> Value {
        match *cells {
            [value] => value,
            _ => self.flow.pure(Pure::Other(0), cells),
        }
    }

    /// The bits of a constant of a type.
    pub(super) fn bits(&self, constant: Constant, ty: TypeId) -> u32 {
        match constant {
            Constant::Bool(b) => u32::from(b),
            Constant::Int(i) => i as u32,
            Constant::Uint(bits) | Constant::Float(bits) => bits,
            Constant::Element(index) => match self.ty(ty) {
                Type::Enum(id) => self.program.env.enumeration(id).elements.get(index as usize).map_or(0, |(_, bits)| *bits),
                _ => 0,
            },
        }
    }

    fn value_of(&mut self, id: ExprId) -> Done<Val> {
        let program = self.program;
        let expr = program.expr(id);
        let ty = expr.ty.right();
        Ok(match &expr.form {
            Form::Constant(constant) => {
                let bits = self.bits(*constant, ty);
                Val::Cells(smallvec![self.flow.constant(bits)])
            }
            Form::Coerce(Coercion::LeftToRight, e) => {
                if program.env.types.is_reference(ty)
                    && let Some(store) = self.variable(*e)
                    && let Some(val) = self.references.get(&store)
                {
                    return Ok(val.clone());
                }
                let place = self.place(*e)?;
                Val::Cells(self.load(&place, ty))
            }
            Form::Coerce(Coercion::AbstractToRight, e) => {
                let target = self.target(*e)?;
                Val::Cells(self.read_target(&target)?)
            }
            Form::Coerce(Coercion::LeftToAbstract, e) => {
                let place = self.place(*e)?;
                Val::Cells(self.load(&place, ty))
            }
            Form::Parens(e) => self.value(*e)?,
            Form::Comma(a, b) => {
                self.value(*a)?;
                self.value(*b)?
            }
            Form::Or(a, b) => self.short_circuit(*a, *b, 1)?,
            Form::And(a, b) => self.short_circuit(*a, *b, 0)?,
            Form::Ternary(e, then_value, else_value) => {
                let n = self.size(ty);
                let to = self.flow.new_cells(u32::MAX, n);
                let condition = self.scalar(*e)?;
                let (then_block, else_block, end) = (self.flow.block(), self.flow.block(), self.flow.block());
                self.flow.end(End::Branch(condition, then_block, else_block));
                for (block, e) in [(then_block, *then_value), (else_block, *else_value)] {
                    self.flow.begin(block);
                    let value = self.cells(e)?;
                    self.flow.write_all(to, &value);
                    self.flow.end(End::Jump(end));
                }
                self.flow.begin(end);
                Val::Cells(self.flow.read_all(to, n))
            }
            Form::Assign(e1, e2) => {
                let target = self.target(*e1)?;
                let value = self.cells(*e2)?;
                self.assign(&target, &value)?;
                Val::Cells(value)
            }
            Form::AddressOf(e) => Val::Pointer(self.place(*e)?),
            Form::MakeReference(e, size) => {
                let place = self.place(*e)?;
                let length = self.flow.constant(size.unwrap_or(1));
                Val::Reference(place, length)
            }
            Form::Dot(e, _, Access::Getter(getter)) => {
                let whole = self.cells(*e)?;
                Val::Cells(self.get(*getter, whole, program.expr(*e).ty.right(), None, ty)?)
            }
            Form::Index(e1, e2, Access::Getter(getter)) => {
                let whole = self.cells(*e1)?;
                let index = self.scalar(*e2)?;
                Val::Cells(self.get(*getter, whole, program.expr(*e1).ty.right(), Some(index), ty)?)
            }
            Form::ArrayLength(e, n) => {
                match program.expr(*e).ty {
                    // The length does not load the array, but its address is evaluated.
                    ValueType::Left(..) => _ = self.place(*e)?,
                    ValueType::Abstract(_) => {
                        let target = self.target(*e)?;
                        self.read_target(&target)?;
                    }
                    ValueType::Right(_) => _ = self.value(*e)?,
                }
                Val::Cells(smallvec![self.flow.constant(*n)])
            }
            Form::ReferenceLength(e) => {
                let value = match self.value(*e)? {
                    Val::Reference(_, length) => length,
                    val => {
                        let cells = self.cells_of(&val);
                        self.flow.pure(Pure::Other(0), &cells)
                    }
                };
                Val::Cells(smallvec![value])
            }
            Form::Step(_, fix, e, operator, store) => {
                let target = self.target(*e)?;
                let old = self.read_target(&target)?;
                if let Some(store) = store {
                    let cell = self.store(*store);
                    self.flow.write_all(cell, &old);
                }
                let before = match fix {
                    Fix::Postfix => self.read_target(&target)?,
                    Fix::Prefix => old.clone(),
                };
                let new = self.operate(*operator, &[(before, ty)], ty)?;
                self.assign(&target, &new)?;
                Val::Cells(if *fix == Fix::Postfix { old } else { new })
            }
            Form::CompoundAssign(operator, e1, e2) => {
                let target = self.target(*e1)?;
                let left = self.read_target(&target)?;
                let right = self.cells(*e2)?;
                let value = self.operate(*operator, &[(left, ty), (right, program.expr(*e2).ty.right())], ty)?;
                self.assign(&target, &value)?;
                Val::Cells(value)
            }
            Form::Call(callee, range) => {
                let mut arguments: SmallVec<[(Val, TypeId); 4]> = SmallVec::new();
                for &e in program.arguments(range) {
                    arguments.push((self.value(e)?, program.expr(e).ty.right()));
                }
                match callee {
                    Callee::Declared(f) => self.call(*f, arguments.into_iter().map(|(val, _)| val).collect())?,
                    Callee::Library(f) => self.call_of_library(*f, &arguments, ty)?,
                    Callee::Generated(_) => self.value_of_arguments(&arguments, ty),
                }
            }
            Form::Variable(_) | Form::Dereference(_) | Form::Element(..) => {
                let place = self.place(id)?;
                Val::Cells(self.load(&place, ty))
            }
            Form::Dot(..) | Form::Index(..) => {
                let target = self.target(id)?;
                Val::Cells(self.read_target(&target)?)
            }
        })
    }

    /// The variable of a left-value, which may be in parentheses.
    fn variable(&self, mut id: ExprId) -> Option<crate::wsl::typing::program::StoreId> {
        loop {
            match &self.program.expr(id).form {
                Form::Parens(e) => id = *e,
                Form::Variable(store) => return Some(*store),
                _ => return None,
            }
        }
    }

    /// A value of a type that depends on all arguments.
    pub(super) fn value_of_arguments(&mut self, arguments: &[(Val, TypeId)], ty: TypeId) -> Val {
        let mut operands = Scalars::new();
        for (val, _) in arguments {
            operands.extend(self.cells_of(val));
        }
        let n = self.size(ty);
        Val::Cells(self.flow.values_from_all(&operands, n))
    }

    /// `a || b`, where `a` decides if it is 1, or `a && b`, where it decides if it is 0.
    fn short_circuit(&mut self, a: ExprId, b: ExprId, decides: u32) -> Done<Val> {
        let to: Cell = self.flow.new_cells(u32::MAX, 1);
        let first = self.scalar(a)?;
        let (short, long, end) = (self.flow.block(), self.flow.block(), self.flow.block());
        self.flow.end(if decides == 1 { End::Branch(first, short, long) } else { End::Branch(first, long, short) });
        self.flow.begin(short);
        let decided = self.flow.constant(decides);
        self.flow.write(to, decided);
        self.flow.end(End::Jump(end));
        self.flow.begin(long);
        let second = self.scalar(b)?;
        self.flow.write(to, second);
        self.flow.end(End::Jump(end));
        self.flow.begin(end);
        Ok(Val::Cells(smallvec![self.flow.read(to)]))
    }

    /// The result of an operator.
    fn operate(&mut self, operator: Callee, operands: &[(Scalars, TypeId)], ty: TypeId) -> Done<Scalars> {
        let arguments: SmallVec<[(Val, TypeId); 4]> = operands.iter().map(|(cells, ty)| (Val::Cells(cells.clone()), *ty)).collect();
        let val = match operator {
            Callee::Declared(f) => self.call(f, arguments.into_iter().map(|(val, _)| val).collect())?,
            Callee::Library(f) => self.call_of_library(f, &arguments, ty)?,
            Callee::Generated(_) => self.value_of_arguments(&arguments, ty),
        };
        Ok(self.cells_of(&val))
    }
}
