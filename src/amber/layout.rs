//! Data types of buffers, and the offsets of their scalars (GLSL 4.60 §7.6.2.2, Standard Uniform
//! Block Layout, with its changes for std430).
//!
//! A layout is a tree of scalars, arrays and structures. A vector is an array of scalars, a matrix
//! an array of columns. *Flat order* is the order of values: components of a vector, columns of a
//! matrix, elements of an array, members of a structure. Padding has no value. Trees are shared.
//! Finding one scalar takes time in proportion to the depth of the type, not to its size.

use super::format::Format;
use super::limits::{MAX_BUFFER_BYTES, MAX_SCALARS, MAX_TYPE_DEPTH};
use super::scalar::Scalar;
use std::sync::Arc;

/// A set of layout rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Standard {
    /// Arrays and structures are aligned to multiples of 16 bytes.
    Std140,
    /// Arrays and structures have the alignment of their contents. The default.
    #[default]
    Std430,
}

impl Standard {
    /// Its name in AmberScript.
    pub fn name(self) -> &'static str {
        match self {
            Standard::Std140 => "STD140",
            Standard::Std430 => "STD430",
        }
    }
}

/// A data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// A scalar, as `float`.
    Scalar(Scalar),
    /// A vector, as `vec3<float>`.
    Vector(Scalar, u32),
    /// A matrix, as `mat2x3<float>`: two columns of three rows.
    Matrix {
        /// The type of its elements.
        scalar: Scalar,
        /// The number of columns.
        columns: u32,
        /// The number of rows.
        rows: u32,
    },
    /// An array, as `float[4]`.
    Array(Arc<DataType>, u32),
    /// A STRUCT, by its name.
    Struct(Arc<StructType>),
    /// An image format. Its components are adjacent, and it has the alignment of a component.
    Texel(Format),
}

/// A structure type that STRUCT declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructType {
    /// Its name.
    pub name: String,
    /// The declared distance in bytes from one structure to the next, if any.
    pub stride: Option<u32>,
    /// The members in the order of their offsets.
    pub members: Vec<Member>,
    /// The layouts by std140 and by std430.
    layouts: [Arc<Layout>; 2],
}

/// A member of a STRUCT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// The declared offset in bytes from the start of the structure, if any.
    pub offset: Option<u32>,
    /// The declared distance in bytes from one array element to the next, if any.
    pub array_stride: Option<u32>,
    /// The declared distance in bytes from one matrix column to the next, if any.
    pub matrix_stride: Option<u32>,
}

/// The layout of a type: the offsets of its scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its structure.
    pub shape: Shape,
    /// The size in bytes. It includes padding at the end if the rules require it.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// The number of scalars.
    pub scalars: u64,
    /// The size in bytes of the widest scalar in it. Explicit offsets and strides are multiples
    /// of it.
    widest: u64,
    /// The types of its scalars. Bit n stands for the n-th of [`Scalar::ALL`].
    kinds: u16,
    depth: u32,
}

/// The structure of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One scalar.
    Scalar(Scalar),
    /// Elements of one layout.
    Array {
        /// The layout of an element.
        element: Arc<Layout>,
        /// The number of elements.
        count: u64,
        /// The distance in bytes from one element to the next.
        stride: u64,
    },
    /// Members with different layouts.
    Struct(Vec<Field>),
}

/// The layout of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The offset in bytes from the start of the structure.
    pub offset: u64,
    /// The number of scalars before it in flat order.
    pub first: u64,
    /// The layout of the member.
    pub layout: Arc<Layout>,
}

/// A scalar in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The offset in bytes from the start.
    pub offset: u64,
    /// Its type.
    pub scalar: Scalar,
    /// The index in the vector or column that it is a component of, or 0.
    pub component: u32,
}

fn round_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align) * align
}

impl Layout {
    fn scalar(scalar: Scalar) -> Layout {
        let size = u64::from(scalar.size());
        Layout { shape: Shape::Scalar(scalar), size, align: size, scalars: 1, widest: size, kinds: 1 << scalar as u16, depth: 0 }
    }

    /// A vector, whose components are adjacent. A vector of three has the alignment of a vector
    /// of four.
    fn vector(scalar: Scalar, count: u32, align: u64) -> Layout {
        let stride = u64::from(scalar.size());
        let element = Arc::new(Layout::scalar(scalar));
        let shape = Shape::Array { element, count: count.into(), stride };
        Layout {
            shape,
            size: stride * u64::from(count),
            align: stride * align,
            scalars: count.into(),
            widest: stride,
            kinds: 1 << scalar as u16,
            depth: 0,
        }
    }

    /// An array with a stride. The stride must be at least the size of an element.
    fn array(element: Arc<Layout>, count: u64, stride: u64, align: u64) -> Result<Layout, String> {
        if stride < element.size {
            return Err(format!("a stride of {stride} is less than the {} bytes of what it separates", element.size));
        }
        if !stride.is_multiple_of(element.widest) {
            return Err(format!("a stride of {stride} is no multiple of the {} bytes of a scalar", element.widest));
        }
        let size = stride.checked_mul(count).filter(|&s| s <= MAX_BUFFER_BYTES).ok_or_else(|| too_large("bytes", MAX_BUFFER_BYTES))?;
        let scalars = element.scalars.checked_mul(count).filter(|&s| s <= MAX_SCALARS).ok_or_else(|| too_large("scalars", MAX_SCALARS))?;
        let depth = element.depth + 1;
        if depth > MAX_TYPE_DEPTH {
            return Err(too_large("levels of nesting", MAX_TYPE_DEPTH.into()));
        }
        let (widest, kinds) = (element.widest, element.kinds);
        Ok(Layout { shape: Shape::Array { element, count, stride }, size, align, scalars, widest, kinds, depth })
    }

    /// The stride in bytes of values that follow each other like members of a block, not like
    /// elements of an array.
    pub fn item_stride(&self) -> u64 {
        round_up(self.size, self.align)
    }

    /// The types of its scalars, each once.
    pub fn kinds(&self) -> impl Iterator<Item = Scalar> {
        Scalar::ALL.into_iter().filter(|&s| self.kinds & (1 << s as u16) != 0)
    }

    /// The scalar at an index in flat order. `None` from [`Layout::scalars`] on.
    pub fn slot(&self, index: u64) -> Option<Slot> {
        if index >= self.scalars {
            return None;
        }
        let (mut layout, mut index, mut offset, mut component) = (self, index, 0, 0);
        loop {
            match &layout.shape {
                Shape::Scalar(scalar) => return Some(Slot { offset, scalar: *scalar, component }),
                Shape::Array { element, stride, .. } => {
                    let at = index / element.scalars;
                    index %= element.scalars;
                    offset += at * stride;
                    component = at as u32;
                    layout = element;
                }
                Shape::Struct(fields) => {
                    let at = fields.partition_point(|f| f.first <= index) - 1;
                    index -= fields[at].first;
                    offset += fields[at].offset;
                    component = 0;
                    layout = &fields[at].layout;
                }
            }
        }
    }

    /// The index in flat order of the scalar that starts at this byte. `None` for padding and for
    /// the middle of a scalar.
    pub fn index_at(&self, offset: u64) -> Option<u64> {
        let (mut layout, mut offset, mut index) = (self, offset, 0);
        loop {
            match &layout.shape {
                Shape::Scalar(_) => return (offset == 0).then_some(index),
                Shape::Array { element, count, stride } => {
                    let at = offset / stride;
                    if at >= *count {
                        return None;
                    }
                    index += at * element.scalars;
                    offset %= stride;
                    layout = element;
                }
                Shape::Struct(fields) => {
                    let at = fields.partition_point(|f| f.offset <= offset).checked_sub(1)?;
                    index += fields[at].first;
                    offset -= fields[at].offset;
                    layout = &fields[at].layout;
                }
            }
        }
    }
}

fn too_large(what: &str, bound: u64) -> String {
    format!("the type has more than {bound} {what}")
}

/// The strides that a member declares.
#[derive(Clone, Copy, Default)]
struct Strides {
    array: Option<u64>,
    matrix: Option<u64>,
}

impl DataType {
    /// The layout by a standard. The error is a sentence about a limit that is exceeded.
    pub(super) fn layout(&self, standard: Standard) -> Result<Arc<Layout>, String> {
        self.laid_out(standard, Strides::default())
    }

    fn laid_out(&self, standard: Standard, strides: Strides) -> Result<Arc<Layout>, String> {
        Ok(match self {
            DataType::Scalar(scalar) => Arc::new(Layout::scalar(*scalar)),
            DataType::Vector(scalar, count) => Arc::new(Layout::vector(*scalar, *count, u64::from(*count).next_power_of_two())),
            DataType::Texel(format) => Arc::new(Layout::vector(format.scalar(), format.scalars(), 1)),
            &DataType::Matrix { scalar, columns, rows } => {
                let column = Layout::vector(scalar, rows, u64::from(rows).next_power_of_two());
                let align = if standard == Standard::Std140 { round_up(column.align, 16) } else { column.align };
                let stride = strides.matrix.unwrap_or_else(|| round_up(column.size, align));
                Arc::new(Layout::array(Arc::new(column), columns.into(), stride, align)?)
            }
            DataType::Array(_, 0) => return Err("an array of no elements has no layout".into()),
            DataType::Array(element, count) => {
                let element = element.laid_out(standard, Strides { array: None, ..strides })?;
                let align = if standard == Standard::Std140 { round_up(element.align, 16) } else { element.align };
                let stride = strides.array.unwrap_or_else(|| round_up(element.size, align));
                Arc::new(Layout::array(element, (*count).into(), stride, align)?)
            }
            DataType::Struct(declared) => declared.layout(standard),
        })
    }

    /// Its name in a script.
    pub fn name(&self) -> String {
        match self {
            DataType::Scalar(s) => s.name().into(),
            DataType::Vector(s, n) => format!("vec{n}<{}>", s.name()),
            DataType::Matrix { scalar, columns, rows } => format!("mat{columns}x{rows}<{}>", scalar.name()),
            DataType::Array(element, count) => format!("{}[{count}]", element.name()),
            DataType::Struct(declared) => declared.name.clone(),
            DataType::Texel(format) => format.name(),
        }
    }
}

impl StructType {
    /// Lays out a structure. The error is a sentence about overlapping offsets or a limit that
    /// is exceeded.
    pub(super) fn new(name: String, stride: Option<u32>, members: Vec<Member>) -> Result<StructType, String> {
        if members.is_empty() {
            return Err("a structure of no members has no layout".into());
        }
        let layouts = [StructType::lay_out(Standard::Std140, stride, &members)?, StructType::lay_out(Standard::Std430, stride, &members)?];
        Ok(StructType { name, stride, members, layouts: layouts.map(Arc::new) })
    }

    /// The layout by a standard.
    pub fn layout(&self, standard: Standard) -> Arc<Layout> {
        match standard {
            Standard::Std140 => self.layouts[0].clone(),
            Standard::Std430 => self.layouts[1].clone(),
        }
    }

    fn lay_out(standard: Standard, stride: Option<u32>, members: &[Member]) -> Result<Layout, String> {
        let (mut fields, mut end, mut scalars) = (Vec::with_capacity(members.len()), 0u64, 0u64);
        let (mut widest, mut kinds, mut depth) = (1, 0, 0);
        let mut align = if standard == Standard::Std140 { 16 } else { 1 };
        for member in members {
            let strides = Strides { array: member.array_stride.map(u64::from), matrix: member.matrix_stride.map(u64::from) };
            let layout = member.data_type.laid_out(standard, strides).map_err(|e| format!("member {}: {e}", member.name))?;
            let offset = member.offset.map_or(round_up(end, layout.align), u64::from);
            if offset < end {
                return Err(format!("member {} at offset {offset} overlaps what ends at {end}", member.name));
            }
            if !offset.is_multiple_of(layout.widest) {
                return Err(format!("member {} at offset {offset} is not aligned to its {} bytes", member.name, layout.widest));
            }
            end = offset.saturating_add(layout.size);
            fields.push(Field { offset, first: scalars, layout: layout.clone() });
            scalars += layout.scalars;
            widest = widest.max(layout.widest);
            kinds |= layout.kinds;
            depth = depth.max(layout.depth + 1);
            align = align.max(layout.align);
            if end > MAX_BUFFER_BYTES {
                return Err(too_large("bytes", MAX_BUFFER_BYTES));
            }
            if scalars > MAX_SCALARS {
                return Err(too_large("scalars", MAX_SCALARS));
            }
        }
        if depth > MAX_TYPE_DEPTH {
            return Err(too_large("levels of nesting", MAX_TYPE_DEPTH.into()));
        }
        let mut size = round_up(end, align);
        if let Some(stride) = stride.map(u64::from) {
            if stride < end {
                return Err(format!("STRIDE {stride} is less than the {end} bytes of the members"));
            }
            if !stride.is_multiple_of(widest) {
                return Err(format!("STRIDE {stride} is no multiple of the {widest} bytes of a scalar"));
            }
            // An explicit stride determines the distance of elements completely.
            size = stride;
            align = if stride.is_multiple_of(align) { align } else { widest };
        }
        Ok(Layout { shape: Shape::Struct(fields), size, align, scalars, widest, kinds, depth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(s: Scalar) -> DataType {
        DataType::Scalar(s)
    }

    fn member(name: &str, data_type: DataType) -> Member {
        Member { name: name.into(), data_type, offset: None, array_stride: None, matrix_stride: None }
    }

    fn offsets(layout: &Layout) -> Vec<u64> {
        (0..layout.scalars).map(|i| layout.slot(i).expect("a scalar").offset).collect()
    }

    /// The expected offsets are computed by hand from the nine rules of GLSL §7.6.2.2.
    #[test]
    fn both_standards() {
        let inner = StructType::new(
            "inner".into(),
            None,
            vec![member("p", DataType::Vector(Scalar::Float32, 2)), member("q", scalar(Scalar::Float32))],
        )
        .unwrap();
        let members = vec![
            member("a", scalar(Scalar::Float32)),
            member("b", DataType::Vector(Scalar::Float32, 3)),
            member("c", scalar(Scalar::Float32)),
            member("d", DataType::Array(Arc::new(scalar(Scalar::Float32)), 2)),
            member("e", DataType::Matrix { scalar: Scalar::Float32, columns: 2, rows: 2 }),
            member("f", DataType::Struct(Arc::new(inner))),
            member("g", scalar(Scalar::Float64)),
            member("h", scalar(Scalar::Uint8)),
        ];
        let declared = StructType::new("s".into(), None, members).unwrap();
        let std430 = declared.layout(Standard::Std430);
        assert_eq!(offsets(&std430), [0, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80]);
        assert_eq!((std430.size, std430.align, std430.scalars), (96, 16, 16));
        let std140 = declared.layout(Standard::Std140);
        assert_eq!(offsets(&std140), [0, 16, 20, 24, 28, 32, 48, 64, 68, 80, 84, 96, 100, 104, 112, 120]);
        assert_eq!((std140.size, std140.align), (128, 16));
        for layout in [std140, std430] {
            for i in 0..layout.scalars {
                assert_eq!(layout.index_at(layout.slot(i).unwrap().offset), Some(i));
            }
            assert_eq!(
                (layout.slot(layout.scalars), layout.index_at(4), layout.index_at(17), layout.index_at(layout.size)),
                (None, None, None, None)
            );
        }
    }

    #[test]
    fn matrices_and_vectors() {
        let matrix = DataType::Matrix { scalar: Scalar::Float32, columns: 2, rows: 3 }.layout(Standard::Std430).unwrap();
        assert_eq!((offsets(&matrix), matrix.size, matrix.align), (vec![0, 4, 8, 16, 20, 24], 32, 16));
        assert_eq!(matrix.slot(5).map(|s| s.component), Some(2));
        let small = DataType::Matrix { scalar: Scalar::Float16, columns: 2, rows: 2 };
        assert_eq!(offsets(&small.layout(Standard::Std430).unwrap()), [0, 2, 4, 6]);
        assert_eq!(offsets(&small.layout(Standard::Std140).unwrap()), [0, 2, 16, 18]);
        let vec3 = DataType::Vector(Scalar::Float32, 3).layout(Standard::Std430).unwrap();
        assert_eq!((vec3.size, vec3.align, vec3.item_stride()), (12, 16, 16));
        let texel = DataType::Texel(Format::named("R8G8B8_UNORM").unwrap()).layout(Standard::Std140).unwrap();
        assert_eq!((texel.size, texel.align, texel.item_stride()), (3, 1, 3));
    }

    #[test]
    fn explicit_places() {
        let at = |offset, member: Member| Member { offset: Some(offset), ..member };
        let ok = StructType::new(
            "s".into(),
            Some(40),
            vec![at(8, member("a", scalar(Scalar::Float32))), at(16, member("b", scalar(Scalar::Int32)))],
        )
        .unwrap();
        let layout = ok.layout(Standard::Std430);
        assert_eq!((offsets(&layout), layout.item_stride()), (vec![8, 16], 40));
        let overlap = StructType::new(
            "s".into(),
            None,
            vec![member("a", DataType::Vector(Scalar::Float32, 2)), at(4, member("b", scalar(Scalar::Int32)))],
        );
        assert_eq!(overlap.unwrap_err(), "member b at offset 4 overlaps what ends at 8");
        assert!(StructType::new("s".into(), None, vec![at(2, member("a", scalar(Scalar::Int32)))]).is_err());
        assert!(StructType::new("s".into(), Some(3), vec![member("a", scalar(Scalar::Int32))]).is_err());
        let strided = |array, matrix, data_type| {
            StructType::new("s".into(), None, vec![Member { array_stride: array, matrix_stride: matrix, ..member("m", data_type) }])
        };
        let array = DataType::Array(Arc::new(scalar(Scalar::Int32)), 3);
        assert_eq!(offsets(&strided(Some(12), None, array.clone()).unwrap().layout(Standard::Std140)), [0, 12, 24]);
        assert!(strided(Some(2), None, array.clone()).is_err() && strided(Some(6), None, array).is_err());
        let matrix = DataType::Matrix { scalar: Scalar::Float32, columns: 2, rows: 2 };
        assert_eq!(offsets(&strided(None, Some(32), matrix).unwrap().layout(Standard::Std430)), [0, 4, 32, 36]);
    }

    #[test]
    fn sizes_and_depths_are_bounded() {
        let mut data_type = scalar(Scalar::Float32);
        for _ in 0..4 {
            data_type = DataType::Array(Arc::new(data_type), u32::MAX);
        }
        assert!(data_type.layout(Standard::Std140).unwrap_err().contains("bytes"));
        let mut data_type = scalar(Scalar::Float32);
        for _ in 0..=MAX_TYPE_DEPTH {
            data_type = DataType::Array(Arc::new(data_type), 1);
        }
        assert!(data_type.layout(Standard::Std430).unwrap_err().contains("nesting"));
        let mut inner = StructType::new("s0".into(), None, vec![member("x", scalar(Scalar::Int8))]).unwrap();
        let mut refused = None;
        for i in 1..60 {
            let twice = DataType::Struct(Arc::new(inner.clone()));
            match StructType::new(format!("s{i}"), None, vec![member("a", twice.clone()), member("b", twice)]) {
                Ok(next) => inner = next,
                Err(e) => {
                    refused = Some(e);
                    break;
                }
            }
        }
        assert!(refused.is_some_and(|e| e.contains("more than")));
    }
}
