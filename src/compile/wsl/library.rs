//! The functions of WSL's library: seed 003 "Intrinsic functions", which only has `dot`.

use super::emit::{Id, Operands};
use super::place::{Place, Value, VariableMeaning};
use super::types::Shape;
use super::{Compiler, Done};
use rspirv::spirv::{GlslStd450Op as Glsl, MemorySemantics, Op, Scope, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::environment::access::Callee;
use smallstep_semantics::wsl::library::{LibraryFunction, Meaning, Name};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::{ExprId, Form, Program, StoreId};

/// Whether a function is an `Interlocked…`. Its last argument is the place of its result.
fn is_atomic(meaning: Meaning) -> bool {
    use Meaning::*;
    matches!(
        meaning,
        InterlockedAdd
            | InterlockedAnd
            | InterlockedOr
            | InterlockedXor
            | InterlockedMin
            | InterlockedMax
            | InterlockedExchange
            | InterlockedCompareExchange
    )
}

/// The variables that a program only mentions as the place of an atomic function's result.
pub(super) fn unread_results(program: &Program) -> FxHashSet<StoreId> {
    let variable = |mut id: ExprId| loop {
        match program.expr(id).form {
            Form::Parens(e) => id = e,
            Form::Variable(store) => return Some(store),
            _ => return None,
        }
    };
    let place = |mut id: ExprId| loop {
        match program.expr(id).form {
            Form::Parens(e) => id = e,
            Form::AddressOf(e) => return variable(e),
            _ => return None,
        }
    };
    let (mut mentions, mut results) = (FxHashMap::<StoreId, usize>::default(), FxHashMap::<StoreId, usize>::default());
    for expr in &program.exprs {
        match &expr.form {
            Form::Variable(store) => *mentions.entry(*store).or_default() += 1,
            Form::Call(Callee::Library(f), range) if is_atomic(f.meaning()) => {
                if let Some(store) = program.arguments(range).last().and_then(|e| place(*e)) {
                    *results.entry(store).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    results.into_iter().filter(|(store, n)| mentions.get(store) == Some(n)).map(|(store, _)| store).collect()
}

impl Compiler<'_> {
    /// Calls a library function with arguments of these types.
    pub(super) fn call_of_library(&mut self, f: LibraryFunction, values: &[Value], types: &[TypeId], ty: TypeId) -> Done<Value> {
        let meaning = f.meaning();
        if Self::is_barrier(meaning) {
            self.barrier(meaning);
            return Ok(Value::Void);
        }
        if smallstep_semantics::wsl::texture::is_function(meaning) {
            return self.call_of_texture(f, values, types, ty);
        }
        if let Some(Value::Pointer(place)) = values.first() {
            return self.atomic(f, place, &values[1..], types);
        }
        if matches!(meaning, Meaning::Modf | Meaning::Sincos) {
            return self.stored_result(f, values, types, ty);
        }
        let mut ids = Vec::with_capacity(values.len());
        for value in values {
            match value {
                Value::Id(id) => ids.push(*id),
                _ => return self.unsupported(f),
            }
        }
        self.of_values(f, &ids, types, ty).map(Value::Id)
    }

    fn unsupported<T>(&self, f: LibraryFunction) -> Done<T> {
        let name = match f.row().name {
            Name::Function(name) => name.to_string(),
            Name::Cast => "a cast".into(),
            Name::Getter | Name::Setter => "an accessor".into(),
        };
        self.unforeseen(format!("the function {name} ({:?})", f.meaning()))
    }

    /// A function whose arguments are all SPIR-V values.
    fn of_values(&mut self, f: LibraryFunction, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Id> {
        use Meaning as M;
        let meaning = f.meaning();
        let of = types.first().and_then(|t| self.shape(*t));
        match (meaning, ids) {
            (M::Default, []) => self.default_value(ty),
            (M::Plus, &[a]) => {
                self.e.uses(Rule::CodegenPlus);
                Ok(a)
            }
            (M::Identity | M::EnumValue, &[a]) => {
                self.e.uses(Rule::CodegenCastNone);
                Ok(a)
            }
            (M::EnumFrom, &[a]) => self.valid(a, ty),
            (M::Vector | M::MatrixColumns, _) => {
                let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenConstruct));
                let id = self.e.op(Op::CompositeConstruct, of, ids);
                self.e.rule = saved;
                Ok(id)
            }
            (M::MatrixElements, _) => {
                let Some(shape) = self.shape(ty) else { return self.unsupported(f) };
                self.built_of(shape, ids, ty)
            }
            (M::Swizzle, &[a]) => self.swizzle(f.word(), a, types[0]),
            (M::SetSwizzle, &[whole, value]) => self.set_swizzle(f.word(), whole, value, types[0]),
            (M::Index, &[a, index]) => self.index(a, types[0], index, ty),
            (M::SetIndex, &[a, index, value]) => self.set_index(a, types[0], index, value),
            (M::ElementCount, &[_]) => match of {
                Some(shape) if shape.columns == 1 => Ok(self.uint_constant(shape.rows.into())),
                _ => self.unsupported(f),
            },
            (M::All | M::Any, &[a]) => {
                let Some(shape) = of else { return self.unsupported(f) };
                self.all_any(meaning == M::All, shape, a)
            }
            _ => {
                if let Some(id) = self.algebra(meaning, ids, types, ty)? {
                    return Ok(id);
                }
                match self.element_by_element(meaning, ids, types, ty)? {
                    Some(id) => Ok(id),
                    None => self.unsupported(f),
                }
            }
        }
    }

    /// Applies an operation to the arguments element by element. A scalar argument is used for
    /// every element. `None` if there is no such operation.
    fn element_by_element(&mut self, meaning: Meaning, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Option<Id>> {
        let Some(result) = self.shape(ty) else { return Ok(None) };
        let shapes: Option<Vec<Shape>> = types.iter().map(|t| self.shape(*t)).collect();
        let Some(shapes) = shapes.filter(|s| !s.is_empty()) else { return Ok(None) };
        let of = shapes[0].scalar;
        let mut columns = Vec::with_capacity(result.columns.into());
        for column in 0..result.columns {
            let mut args = Vec::with_capacity(ids.len());
            for (&id, shape) in ids.iter().zip(&shapes) {
                args.push(match (shape.columns, shape.rows) {
                    (1, 1) => self.splat(shape.scalar, result.rows, id),
                    (1, _) => id,
                    _ => self.column(*shape, id, column),
                });
            }
            match self.operation(meaning, of, result.scalar, result.rows, &args)? {
                Some(id) => columns.push(id),
                None => return Ok(None),
            }
        }
        match columns[..] {
            [only] => Ok(Some(only)),
            _ => {
                let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenConstruct));
                let id = self.e.op(Op::CompositeConstruct, of, &columns);
                self.e.rule = saved;
                Ok(Some(id))
            }
        }
    }

    /// The vector of `n` elements that all are the scalar.
    pub(super) fn splat(&mut self, scalar: Scalar, n: u8, id: Id) -> Id {
        if n == 1 {
            return id;
        }
        let (ty, saved) = (self.vector(scalar, n), self.e.enter(Rule::CodegenBroadcast));
        let id = self.e.op(Op::CompositeConstruct, ty, &vec![id; n.into()]);
        self.e.rule = saved;
        id
    }

    /// A column of a matrix.
    pub(super) fn column(&mut self, shape: Shape, id: Id, column: u8) -> Id {
        let ty = self.vector(shape.scalar, shape.rows);
        self.e.op(Op::CompositeExtract, ty, &[id, column.into()])
    }

    /// Builds a value from its elements, which are in column order.
    pub(super) fn built_of(&mut self, shape: Shape, elements: &[Id], ty: TypeId) -> Done<Id> {
        let saved = self.e.enter(Rule::CodegenConstruct);
        let mut columns = Vec::new();
        for column in elements.chunks(shape.rows.into()) {
            let of = self.vector(shape.scalar, shape.rows);
            columns.push(if let &[only] = column { only } else { self.e.op(Op::CompositeConstruct, of, column) });
        }
        let id = match columns[..] {
            [only] => only,
            _ => {
                let of = self.ty(ty)?;
                self.e.op(Op::CompositeConstruct, of, &columns)
            }
        };
        self.e.rule = saved;
        Ok(id)
    }

    fn swizzle(&mut self, letters: &[u8], a: Id, of: TypeId) -> Done<Id> {
        let Some(shape) = self.shape(of) else { return self.unforeseen("letters of this type") };
        let (ty, saved) = (self.vector(shape.scalar, letters.len() as u8), self.e.enter(Rule::CodegenSwizzle));
        let id = match letters {
            &[letter] => self.e.op(Op::CompositeExtract, ty, &[a, letter.into()]),
            _ => {
                let mut operands = Operands::from_slice(&[a, a]);
                operands.extend(letters.iter().map(|l| u32::from(*l)));
                self.e.op(Op::VectorShuffle, ty, &operands)
            }
        };
        self.e.rule = saved;
        Ok(id)
    }

    fn set_swizzle(&mut self, letters: &[u8], whole: Id, value: Id, of: TypeId) -> Done<Id> {
        let Some(shape) = self.shape(of) else { return self.unforeseen("letters of this type") };
        let (ty, saved) = (self.vector(shape.scalar, shape.rows), self.e.enter(Rule::CodegenSwizzleSet));
        let id = match letters {
            &[letter] => self.e.op(Op::CompositeInsert, ty, &[value, whole, letter.into()]),
            _ => {
                let mut operands = Operands::from_slice(&[whole, value]);
                for row in 0..shape.rows {
                    let set = letters.iter().position(|l| *l == row);
                    operands.push(set.map_or(row.into(), |k| u32::from(shape.rows) + k as u32));
                }
                self.e.op(Op::VectorShuffle, ty, &operands)
            }
        };
        self.e.rule = saved;
        Ok(id)
    }

    /// An element of a vector or a column of a matrix. Out of bounds it is the last element or the
    /// first column.
    fn index(&mut self, a: Id, of: TypeId, index: Id, ty: TypeId) -> Done<Id> {
        let Some(shape) = self.shape(of) else { return self.unforeseen("an index into this type") };
        let to = self.ty(ty)?;
        if shape.columns == 1 {
            let last = self.uint_constant(u32::from(shape.rows) - 1);
            let index = self.clamped(Rule::CodegenVectorIndex, index, last);
            let saved = self.e.enter(Rule::CodegenVectorIndex);
            let id = self.e.op(Op::VectorExtractDynamic, to, &[a, index]);
            self.e.rule = saved;
            return Ok(id);
        }
        let saved = self.e.enter(Rule::CodegenMatrixIndex);
        let mut chosen = self.column(shape, a, 0);
        for column in 1..shape.columns {
            let other = self.column(shape, a, column);
            let is = self.is_index(index, column, shape.rows);
            chosen = self.e.op(Op::Select, to, &[is, other, chosen]);
        }
        self.e.rule = saved;
        Ok(chosen)
    }

    /// Whether an index equals the number, as a bool vector of `n` equal elements.
    fn is_index(&mut self, index: Id, number: u8, n: u8) -> Id {
        let (truth, number) = (self.scalar(Scalar::Bool), self.uint_constant(number.into()));
        let is = self.e.op(Op::IEqual, truth, &[index, number]);
        let saved = self.e.rule;
        let all = self.splat(Scalar::Bool, n, is);
        self.e.rule = saved;
        all
    }

    /// The vector or matrix with one element or column replaced. Out of bounds it is the last
    /// element, or no column.
    fn set_index(&mut self, a: Id, of: TypeId, index: Id, value: Id) -> Done<Id> {
        let Some(shape) = self.shape(of) else { return self.unforeseen("an index into this type") };
        let to = self.ty(of)?;
        if shape.columns == 1 {
            let last = self.uint_constant(u32::from(shape.rows) - 1);
            let index = self.clamped(Rule::CodegenVectorIndex, index, last);
            let saved = self.e.enter(Rule::CodegenVectorIndex);
            let id = self.e.op(Op::VectorInsertDynamic, to, &[a, value, index]);
            self.e.rule = saved;
            return Ok(id);
        }
        let saved = self.e.enter(Rule::CodegenMatrixIndex);
        let column_ty = self.vector(shape.scalar, shape.rows);
        let mut columns = Vec::new();
        for column in 0..shape.columns {
            let old = self.column(shape, a, column);
            let is = self.is_index(index, column, shape.rows);
            columns.push(self.e.op(Op::Select, column_ty, &[is, value, old]));
        }
        let id = self.e.op(Op::CompositeConstruct, to, &columns);
        self.e.rule = saved;
        Ok(id)
    }

    fn all_any(&mut self, all: bool, shape: Shape, a: Id) -> Done<Id> {
        let truth = self.scalar(Scalar::Bool);
        let mut joined = None;
        for column in 0..shape.columns {
            let part = if shape.columns == 1 { a } else { self.column(shape, a, column) };
            let truths = match shape.scalar {
                Scalar::Bool => part,
                of => match self.operation(Meaning::Convert, of, Scalar::Bool, shape.rows, &[part])? {
                    Some(id) => id,
                    None => return self.unforeseen("all or any of this"),
                },
            };
            let saved = self.e.enter(Rule::CodegenAllAny);
            let one = match shape.rows {
                1 => truths,
                _ => self.e.op(if all { Op::All } else { Op::Any }, truth, &[truths]),
            };
            joined = Some(match joined {
                None => one,
                Some(before) => self.e.op(if all { Op::LogicalAnd } else { Op::LogicalOr }, truth, &[before, one]),
            });
            self.e.rule = saved;
        }
        match joined {
            Some(id) => Ok(id),
            None => self.unforeseen("all or any of nothing"),
        }
    }

    fn barrier(&mut self, meaning: Meaning) {
        let memory = match meaning {
            Meaning::DeviceMemoryBarrierWithGroupSync => MemorySemantics::UNIFORM_MEMORY,
            Meaning::GroupMemoryBarrierWithGroupSync => MemorySemantics::WORKGROUP_MEMORY,
            _ => MemorySemantics::UNIFORM_MEMORY | MemorySemantics::WORKGROUP_MEMORY,
        };
        let saved = self.e.enter(Rule::CodegenBarrier);
        self.control_barrier(memory);
        self.e.rule = saved;
    }

    /// An atomic operation, then a store of the original value.
    fn atomic(&mut self, f: LibraryFunction, place: &Place, values: &[Value], types: &[TypeId]) -> Done<Value> {
        let Type::Atomic(scalar) = self.program.env.types.get(place.ty) else { return self.unsupported(f) };
        let is_int = scalar == Scalar::Int;
        let (op, operands): (Op, Vec<Id>) = match (f.meaning(), values) {
            (Meaning::InterlockedCompareExchange, [Value::Id(compare), Value::Id(new), _]) => {
                (Op::AtomicCompareExchange, vec![*new, *compare])
            }
            (meaning, [Value::Id(value), _]) => {
                let op = match meaning {
                    Meaning::InterlockedAdd => Op::AtomicIAdd,
                    Meaning::InterlockedAnd => Op::AtomicAnd,
                    Meaning::InterlockedOr => Op::AtomicOr,
                    Meaning::InterlockedXor => Op::AtomicXor,
                    Meaning::InterlockedMin if is_int => Op::AtomicSMin,
                    Meaning::InterlockedMin => Op::AtomicUMin,
                    Meaning::InterlockedMax if is_int => Op::AtomicSMax,
                    Meaning::InterlockedMax => Op::AtomicUMax,
                    Meaning::InterlockedExchange => Op::AtomicExchange,
                    _ => return self.unsupported(f),
                };
                (op, vec![*value])
            }
            _ => return self.unsupported(f),
        };
        let Some(Value::Pointer(previous)) = values.last() else { return self.unsupported(f) };
        let scope = if place.root.class == StorageClass::Workgroup { Scope::Workgroup } else { Scope::Device };
        let (at, ty) = (self.address(place)?, self.scalar(scalar));
        self.stored.insert(place.root.id);
        let (scope, relaxed) = (self.uint_constant(scope as u32), self.uint_constant(0));
        let mut all = Operands::from_slice(&[at, scope, relaxed]);
        if op == Op::AtomicCompareExchange {
            all.push(relaxed);
        }
        all.extend(operands);
        let saved = self.e.enter(Rule::CodegenAtomic);
        let seen_by_helpers = self.stage.is_fragment && place.root.class == StorageClass::StorageBuffer && !self.is_unread(previous);
        let old = if seen_by_helpers && !self.e.is_letter(Rule::CodegenAtomic) {
            self.atomic_unless_helper(op, ty, &all)
        } else {
            self.e.op(op, ty, &all)
        };
        self.e.rule = saved;
        let _ = types;
        self.store(Rule::CodegenAtomic, previous, old)?;
        Ok(Value::Void)
    }

    /// Whether the place is a variable that nothing reads.
    fn is_unread(&self, place: &Place) -> bool {
        let is_here = |meaning: &VariableMeaning| matches!(meaning, VariableMeaning::Variable(root) if root.id == place.root.id);
        self.stores.iter().any(|(store, meaning)| is_here(meaning) && self.unread.contains(store))
    }

    /// An atomic operation of a fragment stage on a buffer. Its result in a helper invocation is
    /// undefined, and WSL's is a number (ERRATA WSL-D29). So a helper skips it and has 0. OpKill
    /// ends an invocation, so no invocation becomes a helper later.
    fn atomic_unless_helper(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let helper = self.is_helper(Rule::CodegenAtomic);
        let none = self.e.constant(ty, 0);
        let (active, merge, from) = (self.e.fresh(), self.e.fresh(), self.e.body.block);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[helper, merge, active]);
        self.e.begin(active);
        let old = self.e.op(op, ty, operands);
        self.e.branch(merge);
        self.e.begin(merge);
        self.e.op(Op::Phi, ty, &[none, from, old, active])
    }

    /// `modf` and `sincos`, which store their results.
    fn stored_result(&mut self, f: LibraryFunction, values: &[Value], types: &[TypeId], ty: TypeId) -> Done<Value> {
        let (x, of) = match (values, types) {
            ([Value::Id(x), ..], [of, ..]) => (*x, *of),
            _ => return self.unsupported(f),
        };
        let Some(shape) = self.shape(of) else { return self.unsupported(f) };
        let mut results: [Vec<Id>; 2] = [Vec::new(), Vec::new()];
        let functions = if f.meaning() == Meaning::Modf { [None, None] } else { [Some(Glsl::Sin), Some(Glsl::Cos)] };
        let column_ty = self.vector(shape.scalar, shape.rows);
        let saved = self.e.enter(Rule::CodegenStoredResult);
        for column in 0..shape.columns {
            let part = if shape.columns == 1 { x } else { self.column(shape, x, column) };
            if functions[0].is_none() {
                let pair = self.e.declare(Op::TypeStruct, None, &[column_ty, column_ty]);
                let both = self.e.glsl(Glsl::ModfStruct, pair, &[part]);
                for (k, list) in (0..).zip(&mut results) {
                    list.push(self.e.op(Op::CompositeExtract, column_ty, &[both, k]));
                }
            } else {
                for (function, list) in functions.iter().flatten().zip(&mut results) {
                    list.push(self.e.glsl(*function, column_ty, &[part]));
                }
            }
        }
        let of = self.ty(of)?;
        let mut whole = Vec::new();
        for list in results {
            whole.push(if let [only] = list[..] { only } else { self.e.op(Op::CompositeConstruct, of, &list) });
        }
        self.e.rule = saved;
        let stored = if functions[0].is_none() { &whole[1..] } else { &whole[..] };
        for (value, pointer) in stored.iter().zip(&values[1..]) {
            let Value::Pointer(place) = pointer else { return self.unsupported(f) };
            self.store(Rule::CodegenStoredResult, place, *value)?;
        }
        Ok(if ty == TypeId::VOID { Value::Void } else { Value::Id(whole[0]) })
    }
}
