//! The type table: every type by its result id, its flat scalars, and their places in an explicit
//! layout (SPIR-V §2.8, §2.16.2).
//!
//! A value of type T is [`Types::scalars`] scalars in declaration order: components of a vector,
//! columns of a matrix, members of a structure, elements of an array. [`Types::part`] is a
//! sub-range of them. Memory with an explicit layout is bytes instead. An [`Address`] there is a
//! type, a byte offset, and the strides from decorations of enclosing types. [`Types::address`] is
//! the address of a part.
//!
//! Types nest at most [`MAX_NESTING`] deep, so walks may recurse. Counts saturate. A type with too
//! many scalars or bytes is refused where a value or a variable of it is made.

use rspirv::spirv::{Dim, ImageFormat, StorageClass};
use rustc_hash::FxHashSet;

use crate::image;
use crate::spirv::operation::{Scalar, Shape};

/// The greatest depth of nested types.
pub const MAX_NESTING: u8 = 255;
/// The greatest number of scalars of one value, and of all variables without explicit
/// layout together.
pub const MAX_SCALARS: u64 = 1 << 24;
/// The greatest number of bytes that the explicit layout of one object may span.
pub const MAX_BYTES: u64 = 1 << 30;

/// A type. It names its parts by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// OpTypeVoid.
    Void,
    /// OpTypeBool.
    Bool,
    /// OpTypeInt.
    Int {
        /// 8, 16, 32 or 64 bits.
        width: u8,
        /// The signedness of the declaration.
        signed: bool,
    },
    /// OpTypeFloat.
    Float {
        /// 16, 32 or 64 bits.
        width: u8,
    },
    /// OpTypeVector.
    Vector {
        /// The type of a component.
        component: u32,
        /// The number of components, 2 to 4.
        count: u8,
    },
    /// OpTypeMatrix.
    Matrix {
        /// The type of a column.
        column: u32,
        /// The number of columns, 2 to 4.
        count: u8,
    },
    /// OpTypeArray.
    Array {
        /// The type of an element.
        element: u32,
        /// The number of elements.
        length: u64,
        /// ArrayStride in bytes, or 0.
        stride: u32,
    },
    /// OpTypeRuntimeArray.
    RuntimeArray {
        /// The type of an element.
        element: u32,
        /// ArrayStride in bytes, or 0.
        stride: u32,
    },
    /// OpTypeStruct: see [`Types::members`].
    Struct {
        /// The index of its first member in the table.
        first: u32,
        /// The number of members.
        count: u32,
    },
    /// OpTypePointer.
    Pointer {
        /// The storage class that it points into.
        class: StorageClass,
        /// The type that it points to.
        pointee: u32,
    },
    /// OpTypeFunction: see [`Types::parameters`].
    Function {
        /// The type of its result.
        result: u32,
        /// The index of its first parameter's type in the table.
        first: u32,
        /// The number of parameters.
        count: u32,
    },
    /// OpTypeImage.
    Image(Image),
    /// OpTypeSampler.
    Sampler,
    /// OpTypeSampledImage.
    SampledImage {
        /// The type of its image.
        image: u32,
    },
}

impl Type {
    /// Whether it is a Boolean, integer or float.
    #[inline]
    pub fn is_scalar(self) -> bool {
        matches!(self, Type::Bool | Type::Int { .. } | Type::Float { .. })
    }

    /// The width in bits of an integer or float.
    #[inline]
    pub fn width(self) -> Option<u8> {
        match self {
            Type::Int { width, .. } | Type::Float { width } => Some(width),
            _ => None,
        }
    }

    /// Whether it is an image, a sampler or a sampled image.
    pub fn is_opaque(self) -> bool {
        matches!(self, Type::Image(_) | Type::Sampler | Type::SampledImage { .. })
    }

    /// The instruction that declares it, such as `OpTypeStruct`.
    pub fn name(self) -> &'static str {
        match self {
            Type::Void => "OpTypeVoid",
            Type::Bool => "OpTypeBool",
            Type::Int { .. } => "OpTypeInt",
            Type::Float { .. } => "OpTypeFloat",
            Type::Vector { .. } => "OpTypeVector",
            Type::Matrix { .. } => "OpTypeMatrix",
            Type::Array { .. } => "OpTypeArray",
            Type::RuntimeArray { .. } => "OpTypeRuntimeArray",
            Type::Struct { .. } => "OpTypeStruct",
            Type::Pointer { .. } => "OpTypePointer",
            Type::Function { .. } => "OpTypeFunction",
            Type::Image(_) => "OpTypeImage",
            Type::Sampler => "OpTypeSampler",
            Type::SampledImage { .. } => "OpTypeSampledImage",
        }
    }
}

/// The operands of OpTypeImage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// The id of the type of a texel's components.
    pub sampled: u32,
    /// The dimensionality.
    pub dim: Dim,
    /// Depth: 0 no, 1 yes, 2 not indicated.
    pub depth: u8,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether a texel has several samples.
    pub multisampled: bool,
    /// 1 for sampled images, 2 for storage images.
    pub usage: u8,
    /// The format of storage images.
    pub format: ImageFormat,
}

impl Image {
    /// Whether it is the type of texel buffers. These are rows of texels, without levels
    /// and samplers.
    pub fn is_texel_buffer(&self) -> bool {
        self.dim == Dim::DimBuffer
    }

    /// The shape of its images.
    pub fn shape(&self) -> image::Shape {
        use image::Shape;
        match (self.dim, self.arrayed) {
            (Dim::Dim1D, false) | (Dim::DimBuffer, _) => Shape::D1,
            (Dim::Dim1D, true) => Shape::D1Array,
            (Dim::Dim3D, _) => Shape::D3,
            (Dim::DimCube, false) => Shape::Cube,
            (Dim::DimCube, true) => Shape::CubeArray,
            (_, true) => Shape::D2Array,
            (_, false) => Shape::D2,
        }
    }
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id of its type.
    pub type_: u32,
    /// The index of its first scalar among the structure's scalars.
    pub scalar: u64,
    /// Its Offset in bytes, if it has one.
    pub offset: Option<u32>,
    /// MatrixStride and RowMajor, for matrices and arrays of them.
    pub matrix: MatrixLayout,
}

/// The places of a matrix's columns in an explicit layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct MatrixLayout {
    /// Bytes from one column to the next, or from one row to the next if `row_major`. 0 if
    /// not declared.
    pub stride: u32,
    /// Whether rows, not columns, are contiguous.
    pub row_major: bool,
}

/// An address in memory with an explicit layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The type of the object at this address.
    pub type_: u32,
    /// Bytes from the start of the outermost object.
    pub offset: u64,
    /// The layout of matrices inside.
    pub matrix: MatrixLayout,
    /// Bytes from one component of a vector to the next, if the vector is a column of a row-major
    /// matrix. 0 if components are contiguous.
    pub component_stride: u32,
}

impl Address {
    /// The address of a whole object of this type.
    pub fn whole(type_: u32) -> Address {
        Address { type_, offset: 0, matrix: MatrixLayout::default(), component_stride: 0 }
    }
}

/// The kinds of types that a type contains, including itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Contents {
    /// A Boolean.
    pub boolean: bool,
    /// An image, sampler or sampled image.
    pub opaque: bool,
    /// A pointer.
    pub pointer: bool,
    /// A runtime array.
    pub runtime_array: bool,
    /// A structure decorated Block or BufferBlock.
    pub block: bool,
    /// A matrix.
    pub matrix: bool,
    /// An 8-bit integer.
    pub bits8: bool,
    /// A 16-bit integer or float.
    pub bits16: bool,
}

impl Contents {
    fn join(&mut self, other: Contents) {
        self.boolean |= other.boolean;
        self.opaque |= other.opaque;
        self.pointer |= other.pointer;
        self.runtime_array |= other.runtime_array;
        self.block |= other.block;
        self.matrix |= other.matrix;
        self.bits8 |= other.bits8;
        self.bits16 |= other.bits16;
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u32,
    type_: Type,
    scalars: u64,
    nesting: u8,
    contents: Contents,
    /// The type of the innermost elements of an array of arrays, otherwise the type itself.
    leaf: u32,
    /// Bytes from the start to the last leaf.
    span: u64,
    /// For a structure, the number of bytes that its layout spans without a trailing runtime array.
    extent: u64,
    /// The same as `extent`, including the padding after the last element of arrays.
    size: u64,
}

/// The types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// By id: the index of its entry plus 1, or 0.
    by_id: Vec<u32>,
    entries: Vec<Entry>,
    members: Vec<Member>,
    parameters: Vec<u32>,
}

impl Types {
    /// A table without types. Every id is below `bound`.
    pub(in crate::spirv) fn new(bound: u32) -> Types {
        let entries = Vec::with_capacity((bound as usize / 8).clamp(16, 1024));
        Types { by_id: vec![0; bound as usize], entries, ..Types::default() }
    }

    /// Adds a member of the structure that is declared next. Its first scalar is filled in then.
    pub(in crate::spirv) fn push_member(&mut self, type_: u32, offset: Option<u32>, matrix: MatrixLayout) {
        self.members.push(Member { type_, scalar: 0, offset, matrix });
    }

    /// The structure of the last `count` members pushed.
    pub(in crate::spirv) fn last_members(&self, count: usize) -> Type {
        Type::Struct { first: (self.members.len() - count) as u32, count: count as u32 }
    }

    /// The function type with these parameters.
    pub(in crate::spirv) fn function(&mut self, result: u32, parameters: &[u32]) -> Type {
        let first = self.parameters.len() as u32;
        self.parameters.extend_from_slice(parameters);
        Type::Function { result, first, count: parameters.len() as u32 }
    }

    /// Adds a type whose parts have been added. `None` if it would nest too deep.
    pub(in crate::spirv) fn declare(&mut self, id: u32, type_: Type, is_block: bool) -> Option<()> {
        let mut entry = Entry {
            id,
            type_,
            scalars: 0,
            nesting: 0,
            contents: Contents { block: is_block, ..Contents::default() },
            leaf: id,
            span: 0,
            extent: 0,
            size: 0,
        };
        match type_ {
            Type::Void => {}
            Type::Function { result, first, count } => {
                entry.nesting = self.nesting(result);
                for at in first..first + count {
                    entry.nesting = entry.nesting.max(self.nesting(self.parameters[at as usize]));
                }
            }
            Type::Bool => (entry.scalars, entry.contents.boolean) = (1, true),
            Type::Int { width, .. } | Type::Float { width } => {
                (entry.scalars, entry.contents.bits8, entry.contents.bits16) = (1, width == 8, width == 16);
            }
            Type::Sampler => (entry.scalars, entry.contents.opaque) = (1, true),
            Type::Image(image) => (entry.scalars, entry.contents.opaque, entry.nesting) = (1, true, self.nesting(image.sampled)),
            Type::SampledImage { image } => (entry.scalars, entry.contents.opaque, entry.nesting) = (1, true, self.nesting(image)),
            Type::Pointer { pointee, .. } => (entry.scalars, entry.contents.pointer, entry.nesting) = (1, true, self.nesting(pointee)),
            Type::Vector { component: part, count } | Type::Matrix { column: part, count } => {
                let part = self.entry(part)?;
                entry.scalars = part.scalars * u64::from(count);
                entry.nesting = part.nesting;
                entry.contents.join(part.contents);
                entry.contents.matrix = matches!(type_, Type::Matrix { .. });
            }
            Type::Array { element, length, stride } => {
                let part = *self.entry(element)?;
                entry.scalars = part.scalars.saturating_mul(length);
                entry.nesting = part.nesting;
                entry.contents.join(part.contents);
                entry.leaf = part.leaf;
                entry.span = u64::from(stride).saturating_mul(length.saturating_sub(1)).saturating_add(part.span);
            }
            Type::RuntimeArray { element, .. } => {
                let part = self.entry(element)?;
                entry.nesting = part.nesting;
                entry.contents.join(part.contents);
                entry.contents.runtime_array = true;
            }
            Type::Struct { first, count } => {
                for at in first as usize..(first + count) as usize {
                    let member = self.members[at];
                    let part = *self.entry(member.type_)?;
                    self.members[at].scalar = entry.scalars;
                    entry.scalars = entry.scalars.saturating_add(part.scalars);
                    entry.nesting = entry.nesting.max(part.nesting);
                    entry.contents.join(part.contents);
                    let end = |bytes: u64| u64::from(member.offset.unwrap_or(0)).saturating_add(bytes);
                    entry.extent = entry.extent.max(end(self.extent(member.type_, member.matrix)));
                    entry.size = entry.size.max(end(self.size(member.type_, member.matrix)));
                }
            }
        }
        let leaf = matches!(type_, Type::Void | Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Sampler);
        if !leaf {
            entry.nesting = entry.nesting.checked_add(1)?;
        }
        self.entries.push(entry);
        *self.by_id.get_mut(id as usize)? = self.entries.len() as u32;
        Some(())
    }

    #[inline]
    fn entry(&self, id: u32) -> Option<&Entry> {
        let index = *self.by_id.get(id as usize)? as usize;
        self.entries.get(index.wrapping_sub(1))
    }

    fn nesting(&self, id: u32) -> u8 {
        self.entry(id).map_or(0, |e| e.nesting)
    }

    /// The type with this result id.
    #[inline]
    pub fn get(&self, id: u32) -> Option<Type> {
        self.entry(id).map(|e| e.type_)
    }

    /// The types in the order of their declaration, with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Type)> + '_ {
        self.entries.iter().map(|e| (e.id, e.type_))
    }

    /// The members of a structure. Other types have none.
    #[inline]
    pub fn members(&self, id: u32) -> &[Member] {
        match self.get(id) {
            Some(Type::Struct { first, count }) => &self.members[first as usize..(first + count) as usize],
            _ => &[],
        }
    }

    /// The types of the parameters of a function type. Other types have none.
    pub fn parameters(&self, id: u32) -> &[u32] {
        match self.get(id) {
            Some(Type::Function { first, count, .. }) => &self.parameters[first as usize..(first + count) as usize],
            _ => &[],
        }
    }

    /// The number of flat scalars of a value. It is 1 for a pointer and a descriptor. It is 0 for
    /// void, functions, runtime arrays and structures without members. Saturates.
    #[inline]
    pub fn scalars(&self, id: u32) -> u64 {
        self.entry(id).map_or(0, |e| e.scalars)
    }

    /// Whether the type fixes the number of scalars of its values. This excludes void, functions
    /// and types that contain a runtime array. It includes a structure without members, whose
    /// values have no scalars.
    #[inline]
    pub fn has_size(&self, id: u32) -> bool {
        let sized = |e: &Entry| !matches!(e.type_, Type::Void | Type::Function { .. }) && !e.contents.runtime_array;
        self.entry(id).is_some_and(sized)
    }

    /// Whether values have a size but no scalars: structures without members, arrays of them, and
    /// structures of both. Such an array may have too many elements to visit.
    #[inline]
    pub fn is_nothing(&self, id: u32) -> bool {
        self.scalars(id) == 0 && self.has_size(id)
    }

    /// The type of the innermost elements of an array or runtime array of arrays. The type itself
    /// if it is not an array.
    pub(in crate::spirv) fn leaf(&self, id: u32) -> u32 {
        match self.get(id) {
            Some(Type::RuntimeArray { element, .. }) => self.leaf(element),
            _ => self.entry(id).map_or(id, |e| e.leaf),
        }
    }

    /// The kinds of types that the type contains.
    pub fn contents(&self, id: u32) -> Contents {
        self.entry(id).map_or(Contents::default(), |e| e.contents)
    }

    /// The type of the scalars of a scalar, vector or matrix.
    #[inline]
    pub fn component(&self, id: u32) -> Option<Type> {
        match self.get(id)? {
            Type::Vector { component, .. } => self.get(component),
            Type::Matrix { column, .. } => self.component(column),
            scalar if scalar.is_scalar() => Some(scalar),
            _ => None,
        }
    }

    /// The number of parts that an index chooses from. `None` for a runtime array, and for types
    /// without parts.
    #[inline]
    pub fn parts(&self, id: u32) -> Option<u64> {
        match self.get(id)? {
            Type::Vector { count, .. } | Type::Matrix { count, .. } => Some(u64::from(count)),
            Type::Array { length, .. } => Some(length),
            Type::Struct { count, .. } => Some(u64::from(count)),
            _ => None,
        }
    }

    /// The type of part `index` of a type, and the index of its first scalar among the type's
    /// scalars. `None` if there is no such part.
    #[inline]
    pub fn part(&self, id: u32, index: u64) -> Option<(u32, u64)> {
        let (part, length) = match self.get(id)? {
            Type::Vector { component, count } => (component, u64::from(count)),
            Type::Matrix { column, count } => (column, u64::from(count)),
            Type::Array { element, length, .. } => (element, length),
            Type::RuntimeArray { element, .. } => (element, u64::MAX),
            Type::Struct { .. } => {
                let member = self.members(id).get(usize::try_from(index).ok()?)?;
                return Some((member.type_, member.scalar));
            }
            _ => return None,
        };
        if index >= length { None } else { Some((part, self.scalars(part).saturating_mul(index))) }
    }

    /// The type of scalar `index` of a value.
    pub fn scalar_at(&self, id: u32, mut index: u64) -> Option<Type> {
        let mut id = id;
        loop {
            if index >= self.scalars(id) {
                return None;
            }
            let part = match self.get(id)? {
                Type::Vector { component: part, .. } | Type::Matrix { column: part, .. } | Type::Array { element: part, .. } => {
                    index %= self.scalars(part);
                    part
                }
                Type::Struct { .. } => {
                    let members = self.members(id);
                    let member = members[members.partition_point(|m| m.scalar <= index) - 1];
                    index -= member.scalar;
                    member.type_
                }
                scalar => return Some(scalar),
            };
            id = part;
        }
    }

    /// Visits every flat scalar of a value in order, with its type. A value has at most
    /// [`MAX_SCALARS`] scalars, as load checks.
    pub fn visit_scalars(&self, id: u32, visit: &mut dyn FnMut(Type)) {
        if self.scalars(id) == 0 {
            return;
        }
        match self.get(id) {
            None | Some(Type::Void | Type::Function { .. } | Type::RuntimeArray { .. }) => {}
            Some(Type::Vector { component: part, count }) | Some(Type::Matrix { column: part, count }) => {
                (0..count).for_each(|_| self.visit_scalars(part, visit));
            }
            Some(Type::Array { element, length, .. }) => {
                (0..length).for_each(|_| self.visit_scalars(element, visit));
            }
            Some(Type::Struct { .. }) => self.members(id).iter().for_each(|m| self.visit_scalars(m.type_, visit)),
            Some(scalar) => visit(scalar),
        }
    }

    /// The number of bytes that the explicit layout of a type spans. `matrix` is the layout of
    /// matrices inside. A runtime array counts 0. Saturates.
    pub fn extent(&self, id: u32, matrix: MatrixLayout) -> u64 {
        let Some(entry) = self.entry(id) else { return 0 };
        let leaf = match self.get(entry.leaf) {
            Some(Type::Int { width, .. } | Type::Float { width }) => u64::from(width / 8),
            Some(Type::Vector { component, count }) => self.extent(component, matrix) * u64::from(count),
            Some(Type::Matrix { column, count }) => {
                let (rows, columns) = (self.scalars(column), u64::from(count));
                let bytes = self.component(column).and_then(Type::width).map_or(0, |w| u64::from(w / 8));
                let (outer, inner) = if matrix.row_major { (rows, columns) } else { (columns, rows) };
                u64::from(matrix.stride) * (outer - 1) + bytes * inner
            }
            Some(Type::Struct { .. }) => self.entry(entry.leaf).map_or(0, |e| e.extent),
            _ => 0,
        };
        entry.span.saturating_add(leaf)
    }

    /// The least size in bytes of a buffer of the type: [`Types::extent`], where every array has
    /// its stride times its length.
    pub fn size(&self, id: u32, matrix: MatrixLayout) -> u64 {
        match self.get(id) {
            Some(Type::Array { length, stride, .. }) => u64::from(stride).saturating_mul(length),
            Some(Type::Struct { .. }) => self.entry(id).map_or(0, |e| e.size),
            _ => self.extent(id, matrix),
        }
    }

    /// The address of part `index` in memory with an explicit layout. `None` if there is no such
    /// part, it has no declared place, or its offset exceeds 64 bits.
    pub fn address(&self, base: Address, index: u64) -> Option<Address> {
        let offset_at = |stride: u32| u64::from(stride).checked_mul(index).and_then(|bytes| base.offset.checked_add(bytes));
        let next = |type_, offset| Some(Address { type_, offset, matrix: base.matrix, component_stride: 0 });
        match self.get(base.type_)? {
            Type::Struct { .. } => {
                let member = self.members(base.type_).get(usize::try_from(index).ok()?)?;
                let offset = base.offset.checked_add(u64::from(member.offset?))?;
                Some(Address { type_: member.type_, offset, matrix: member.matrix, component_stride: 0 })
            }
            Type::Array { element, length, stride } if index < length => next(element, offset_at(stride)?),
            Type::RuntimeArray { element, stride } => next(element, offset_at(stride)?),
            Type::Matrix { column, count } if index < u64::from(count) => match base.matrix.row_major {
                false => next(column, offset_at(base.matrix.stride)?),
                true => {
                    let bytes = self.component(column)?.width()? / 8;
                    next(column, offset_at(u32::from(bytes))?).map(|p| Address { component_stride: base.matrix.stride, ..p })
                }
            },
            Type::Vector { component, count } if index < u64::from(count) => {
                let stride = match base.component_stride {
                    0 => u32::from(self.get(component)?.width()? / 8),
                    stride => stride,
                };
                next(component, offset_at(stride)?)
            }
            _ => None,
        }
    }

    /// Visits every flat scalar of a value in memory with an explicit layout, in order. Passes its
    /// byte offset and its width in bits.
    ///
    /// `None` if some part has no declared place. A runtime array has no scalars.
    pub fn visit_addresses(&self, at: Address, visit: &mut dyn FnMut(u64, u8)) -> Option<()> {
        if let Type::Int { width, .. } | Type::Float { width } = self.get(at.type_)? {
            visit(at.offset, width);
            return Some(());
        }
        if self.scalars(at.type_) == 0 {
            return Some(());
        }
        for index in 0..self.parts(at.type_)? {
            self.visit_addresses(self.address(at, index)?, visit)?;
        }
        Some(())
    }

    /// Whether values of one type can be copied logically to the other (SPIR-V §3.3.12,
    /// OpCopyLogical). Arrays need equally many elements, structures equally many members, and
    /// these must match. Other types must be equal. `None` after `budget` pairs of types.
    pub fn match_logically(&self, a: u32, b: u32, budget: usize) -> Option<bool> {
        let mut seen = FxHashSet::default();
        let mut pairs = vec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            match (self.get(a), self.get(b)) {
                (Some(Type::Array { element: x, length: m, .. }), Some(Type::Array { element: y, length: n, .. })) if m == n => {
                    pairs.push((x, y));
                }
                (Some(Type::Struct { count: m, .. }), Some(Type::Struct { count: n, .. })) if m == n => {
                    pairs.extend(self.members(a).iter().zip(self.members(b)).map(|(x, y)| (x.type_, y.type_)));
                }
                _ => return Some(false),
            }
            if seen.len() + pairs.len() > budget {
                return None;
            }
        }
        Some(true)
    }

    /// The type in words, for messages: `int32`, `vec3 of float`, `struct %7`.
    pub fn text(&self, id: u32) -> String {
        match self.get(id) {
            None => format!("%{id}, which is no type"),
            Some(Type::Void) => "void".into(),
            Some(Type::Bool) => "bool".into(),
            Some(Type::Int { width: 32, signed: true }) => "int".into(),
            Some(Type::Int { width: 32, signed: false }) => "uint".into(),
            Some(Type::Int { width, signed }) => format!("{}int{width}", if signed { "" } else { "u" }),
            Some(Type::Float { width: 32 }) => "float".into(),
            Some(Type::Float { width }) => format!("float{width}"),
            Some(Type::Vector { component, count }) => format!("vec{count} of {}", self.text(component)),
            Some(Type::Matrix { column, count }) => format!("matrix of {count} columns of {}", self.text(column)),
            Some(Type::Array { length, .. }) => format!("array %{id} of {length} elements"),
            Some(Type::RuntimeArray { .. }) => format!("runtime array %{id}"),
            Some(Type::Struct { .. }) => format!("struct %{id}"),
            Some(Type::Pointer { class, pointee }) => format!("pointer into {class:?} to %{pointee}"),
            Some(Type::Function { .. }) => format!("function type %{id}"),
            Some(Type::Image(_)) => format!("image %{id}"),
            Some(Type::Sampler) => "sampler".into(),
            Some(Type::SampledImage { .. }) => format!("sampled image %{id}"),
        }
    }
}

/// The shape of the values of a type, for operations on numbers.
pub(in crate::spirv) fn shape(types: &Types, id: u32) -> Shape {
    match types.get(id) {
        Some(Type::Bool) => Shape::vector(Scalar::Bool, 1),
        Some(Type::Int { width, signed }) => Shape::vector(Scalar::Int { width, signed }, 1),
        Some(Type::Float { width }) => Shape::vector(Scalar::Float { width }, 1),
        Some(Type::Vector { component, count }) => Shape { rows: count, ..shape(types, component) },
        Some(Type::Matrix { column, count }) => Shape { columns: count, ..shape(types, column) },
        Some(Type::Pointer { .. }) => Shape::vector(Scalar::Pointer, 1),
        _ => Shape::OTHER,
    }
}
