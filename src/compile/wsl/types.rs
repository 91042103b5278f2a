//! Types: seed 003 "Types". Each WSL type has two SPIR-V types: one without layout for values, and
//! one with the layout of WSL's memory for buffers.

use super::emit::Id;
use super::{Compiler, Done};
use rspirv::spirv::{Decoration, Op, StorageClass};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

/// The shape of a scalar, vector, matrix or enum. An enum has the shape of its base type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The type of each element.
    pub scalar: Scalar,
    /// The number of columns. 1 except for a matrix.
    pub columns: u8,
    /// The number of elements in a column.
    pub rows: u8,
}

impl Compiler<'_> {
    pub(super) fn void(&mut self) -> Id {
        self.e.declare(Op::TypeVoid, None, &[])
    }

    pub(super) fn uint(&mut self) -> Id {
        self.scalar(Scalar::Uint)
    }

    /// The SPIR-V type of a scalar.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> Id {
        let saved = self.e.enter(match scalar {
            Scalar::Bool => Rule::CodegenTypeBool,
            Scalar::Int => Rule::CodegenTypeInt,
            Scalar::Uint => Rule::CodegenTypeUint,
            Scalar::Float => Rule::CodegenTypeFloat,
        });
        let id = match scalar {
            Scalar::Bool => self.e.declare(Op::TypeBool, None, &[]),
            Scalar::Int => self.e.declare(Op::TypeInt, None, &[32, 1]),
            Scalar::Uint => self.e.declare(Op::TypeInt, None, &[32, 0]),
            Scalar::Float => self.e.declare(Op::TypeFloat, None, &[32]),
        };
        self.e.rule = saved;
        id
    }

    /// The type of vectors of `n` elements. For one element, it is the scalar type.
    pub(super) fn vector(&mut self, scalar: Scalar, n: u8) -> Id {
        let component = self.scalar(scalar);
        if n == 1 {
            return component;
        }
        let saved = self.e.enter(Rule::CodegenTypeVector);
        let id = self.e.declare(Op::TypeVector, None, &[component, n.into()]);
        self.e.rule = saved;
        id
    }

    pub(super) fn pointer(&mut self, class: StorageClass, to: Id) -> Id {
        self.e.declare(Op::TypePointer, None, &[class as u32, to])
    }

    /// The shape of a type. `None` for arrays, structures and other types.
    pub(super) fn shape(&self, ty: TypeId) -> Option<Shape> {
        let (scalar, columns, rows) = match self.program.env.types.get(ty) {
            Type::Scalar(s) | Type::Atomic(s) => (s, 1, 1),
            Type::Vector(s, n) => (s, 1, n),
            Type::Matrix(s, n, m) => (s, n, m),
            Type::Enum(id) => return self.shape(self.program.env.enumeration(id).base),
            _ => return None,
        };
        Some(Shape { scalar, columns, rows })
    }

    /// The SPIR-V type of values of a type.
    pub(super) fn ty(&mut self, ty: TypeId) -> Done<Id> {
        deep(|| self.type_of(ty, false))
    }

    /// The SPIR-V type of a type in buffers.
    pub(super) fn laid_out(&mut self, ty: TypeId) -> Done<Id> {
        deep(|| self.type_of(ty, true))
    }

    /// The SPIR-V type of a type in memory of that storage class.
    pub(super) fn type_in(&mut self, class: StorageClass, ty: TypeId) -> Done<Id> {
        if class == StorageClass::StorageBuffer { self.laid_out(ty) } else { self.ty(ty) }
    }

    fn type_of(&mut self, ty: TypeId, laid_out: bool) -> Done<Id> {
        if let Some(&id) = self.types.get(&(ty, laid_out)) {
            return Ok(id);
        }
        let stored = |scalar: Scalar| if laid_out && scalar == Scalar::Bool { Scalar::Uint } else { scalar };
        let id = match self.program.env.types.get(ty) {
            Type::Void => self.void(),
            Type::Scalar(s) | Type::Atomic(s) => self.scalar(stored(s)),
            Type::Vector(s, n) => self.vector(stored(s), n),
            Type::Matrix(Scalar::Float, columns, rows) => {
                let column = self.vector(Scalar::Float, rows);
                let saved = self.e.enter(Rule::CodegenTypeMatrix);
                let id = self.e.declare(Op::TypeMatrix, None, &[column, columns.into()]);
                self.e.rule = saved;
                id
            }
            Type::Matrix(s, columns, rows) => {
                let (column, count) = (self.vector(stored(s), rows), self.uint_constant(columns.into()));
                let saved = self.e.enter(Rule::CodegenTypeBoolMatrix);
                let id = if laid_out {
                    let id = self.e.declare_new(Op::TypeArray, None, &[column, count]);
                    self.e.decorate(id, Decoration::ArrayStride, &[4 * u32::from(rows).next_power_of_two()]);
                    id
                } else {
                    self.e.declare(Op::TypeArray, None, &[column, count])
                };
                self.e.rule = saved;
                id
            }
            Type::Enum(id) => {
                self.e.uses(Rule::CodegenTypeEnum);
                let base = self.program.env.enumeration(id).base;
                self.type_of(base, laid_out)?
            }
            Type::Array(of, n) => deep(|| self.array(of, n, laid_out))?,
            Type::Struct(_) => self.structure(ty, laid_out)?,
            Type::Sampler | Type::Texture(..) => {
                let name = self.program.env.type_name(ty);
                return self.unforeseen(format!("a {name}"));
            }
            Type::Pointer(..) | Type::ArrayReference(..) => return self.unforeseen("a pointer or array reference inside another value"),
        };
        self.types.insert((ty, laid_out), id);
        Ok(id)
    }

    /// An array. WSL's arrays have at least one element.
    fn array(&mut self, of: TypeId, n: u32, laid_out: bool) -> Done<Id> {
        let (element, count) = (self.type_of(of, laid_out)?, self.uint_constant(n));
        let stride = if laid_out { Some(self.stride(of)?) } else { None };
        let saved = self.e.enter(Rule::CodegenTypeArray);
        let id = match stride {
            None => self.e.declare(Op::TypeArray, None, &[element, count]),
            Some(stride) => {
                let id = self.e.declare_new(Op::TypeArray, None, &[element, count]);
                self.e.enter(Rule::CodegenBufferLayout);
                self.e.decorate(id, Decoration::ArrayStride, &[stride]);
                id
            }
        };
        self.e.rule = saved;
        Ok(id)
    }

    /// Whether a value of the type takes no memory. In a buffer, a structure has no member for it.
    /// In a variable it is a member that only the SPIR-V type has, so no access to it can race.
    pub(super) fn is_nothing(&mut self, ty: TypeId) -> bool {
        self.layouts.of(&self.program.env, ty).is_some_and(|layout| layout.size == 0)
    }

    /// The fields of a structure that are members of the SPIR-V type, each with its number
    /// and type.
    pub(super) fn members(&mut self, ty: TypeId, laid_out: bool) -> Vec<(u32, TypeId)> {
        let program = self.program;
        let Type::Struct(s) = program.env.types.get(ty) else { return Vec::new() };
        let fields = (0..).zip(&program.env.structure(s).fields).map(|(k, field)| (k, field.ty));
        fields.filter(|&(_, ty)| !laid_out || !self.is_nothing(ty)).collect()
    }

    fn structure(&mut self, ty: TypeId, laid_out: bool) -> Done<Id> {
        let Type::Struct(s) = self.program.env.types.get(ty) else { return self.unforeseen("this structure") };
        let program = self.program;
        let fields = self.members(ty, laid_out);
        let mut members = Vec::with_capacity(fields.len());
        for &(_, ty) in &fields {
            members.push(deep(|| self.type_of(ty, laid_out))?);
        }
        if members.is_empty() {
            // The structure gets one member that nothing reads.
            members.push(self.uint());
        }
        let saved = self.e.enter(Rule::CodegenTypeStruct);
        let id = self.e.declare_new(Op::TypeStruct, None, &members);
        self.e.name(id, program.env.names.name(program.env.structure(s).name));
        if laid_out {
            self.e.enter(Rule::CodegenBufferLayout);
            let offsets = self.layouts.offsets(&program.env, s).map(<[u64]>::to_vec).unwrap_or_default();
            for (member, &(field, ty)) in (0..).zip(&fields) {
                let offset = offsets.get(field as usize).copied().and_then(|offset| u32::try_from(offset).ok());
                let Some(offset) = offset else { return self.unforeseen("a structure of this size in a buffer") };
                self.e.decorate_member(id, member, Decoration::Offset, &[offset]);
                self.matrix_layout(id, member, ty);
            }
            if fields.is_empty() {
                self.e.decorate_member(id, 0, Decoration::Offset, &[0]);
            }
        }
        self.e.rule = saved;
        Ok(id)
    }

    /// Decorates a member that is a float matrix, or an array of float matrices, with its layout.
    pub(super) fn matrix_layout(&mut self, id: Id, member: u32, mut ty: TypeId) {
        while let Type::Array(of, _) = self.program.env.types.get(ty) {
            ty = of;
        }
        if let Type::Matrix(Scalar::Float, _, rows) = self.program.env.types.get(ty) {
            self.e.decorate_member(id, member, Decoration::ColMajor, &[]);
            self.e.decorate_member(id, member, Decoration::MatrixStride, &[4 * u32::from(rows).next_power_of_two()]);
        }
    }

    /// The stride in bytes of an array of such elements. If they take no memory, it is the size of
    /// the member that replaces them.
    pub(super) fn stride(&mut self, ty: TypeId) -> Done<u32> {
        if self.is_nothing(ty) {
            return Ok(4);
        }
        match self.layouts.stride(&self.program.env, ty).and_then(|s| u32::try_from(s).ok()).filter(|s| *s > 0) {
            Some(stride) => Ok(stride),
            None => self.unforeseen("an element of this size"),
        }
    }

    pub(super) fn uint_constant(&mut self, bits: u32) -> Id {
        let ty = self.uint();
        self.e.constant(ty, bits)
    }

    pub(super) fn truth_constant(&mut self, truth: bool) -> Id {
        let (ty, saved) = (self.scalar(Scalar::Bool), self.e.enter(Rule::CodegenConstant));
        let id = self.e.declare(if truth { Op::ConstantTrue } else { Op::ConstantFalse }, Some(ty), &[]);
        self.e.rule = saved;
        id
    }

    /// A 32-bit constant of a scalar type.
    pub(super) fn scalar_constant(&mut self, scalar: Scalar, bits: u32) -> Id {
        match scalar {
            Scalar::Bool => self.truth_constant(bits != 0),
            _ => {
                let ty = self.scalar(scalar);
                self.e.constant(ty, bits)
            }
        }
    }

    /// The constant vector of `n` elements that all are the scalar, or for one element the scalar.
    pub(super) fn splat_constant(&mut self, scalar: Scalar, n: u8, bits: u32) -> Id {
        let element = self.scalar_constant(scalar, bits);
        if n == 1 {
            return element;
        }
        let (ty, saved) = (self.vector(scalar, n), self.e.enter(Rule::CodegenConstant));
        let id = self.e.declare(Op::ConstantComposite, Some(ty), &vec![element; n.into()]);
        self.e.rule = saved;
        id
    }

    /// The default value of the type.
    pub(super) fn default_value(&mut self, ty: TypeId) -> Done<Id> {
        let (id, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenConstant));
        let id = self.e.declare(Op::ConstantNull, Some(id), &[]);
        self.e.rule = saved;
        Ok(id)
    }
}
