//! Types in memory, with the offsets and strides of SPIR-V (seed 002, Mapping types; Mapping
//! buffer types).
//!
//! A *value* has the type that its SPIR-V type maps to. A *stored* type in a buffer is the same
//! type if WGSL's layout rules give it the same bytes, with `@size` for gaps. Otherwise it is
//! declared in another form, and a load or store goes part by part:
//!
//! | in memory | stored as |
//! |---|---|
//! | an array whose stride is not its element's size | an array of structures of that size |
//! | a matrix with another stride or by rows | an array of vectors, or the transposed matrix |
//! | a vector at an offset that is not aligned for it | an array of its components |
//! | a structure with such members, or with members out of order | a structure of its own |
//! | the target of an atomic | `atomic` |
//! | a structure without members, or an array of them, in a buffer | nothing |

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::types::{MatrixLayout, Type};

use super::convert::Convert;
use super::text::Text;
use super::words::Words;
use super::{Refused, Why};

/// The node of a part of a variable that contains no atomic.
pub(super) const PLAIN: u32 = u32::MAX;

/// The parts of variables that atomics access, as a trie. No step leads to node 0.
#[derive(Debug, Default)]
pub(super) struct Atomics {
    /// By node and step: the next node. A step is the number of a member, or 0 for any element.
    steps: FxHashMap<(u32, u32), u32>,
    nodes: u32,
    /// By variable: its node.
    pub(super) roots: FxHashMap<u32, u32>,
}

impl Atomics {
    /// Adds the part of a variable at the end of a path.
    pub(super) fn add(&mut self, variable: u32, path: &[u32]) {
        let mut at = *self.roots.entry(variable).or_insert_with(|| {
            self.nodes += 1;
            self.nodes
        });
        for &step in path {
            at = *self.steps.entry((at, step)).or_insert_with(|| {
                self.nodes += 1;
                self.nodes
            });
        }
    }

    /// The node of a part. [`PLAIN`] if the part contains no atomic.
    pub(super) fn part(&self, node: u32, step: u32) -> u32 {
        self.steps.get(&(node, step)).copied().unwrap_or(PLAIN)
    }
}

/// The form in which a type is stored.
#[derive(Clone, Debug)]
pub(super) enum Rep {
    /// As a value of the type.
    Value(u32),
    /// As an atomic of the type.
    Atomic(u32),
    /// A vector as an array of its components.
    Scalars(u32),
    /// A matrix as an array of columns or rows, or as a native matrix.
    Matrix { type_: u32, row_major: bool, native: bool, vector: Rc<Stored>, wrapped: bool },
    /// An array. `wrapped` is whether each element is in a structure of the size of the stride.
    Array { type_: u32, element: Rc<Stored>, wrapped: bool },
    /// A structure: names and members in the order of its type.
    Struct { type_: u32, members: Vec<(Text, Rc<Stored>)> },
    /// A buffer of the type, as words.
    Words(u32, Words),
    /// Not stored: values of the type have no scalars, and WGSL has no type of size 0.
    Nothing(u32),
}

/// A stored type: its form, its spelling in WGSL, and its alignment and size in bytes.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) rep: Rep,
    pub(super) text: Text,
    pub(super) align: u64,
    pub(super) size: u64,
    /// Whether it is allowed in the uniform address space.
    pub(super) uniform: bool,
}

impl Stored {
    /// A type without scalars. It is no member of a WGSL structure.
    pub(super) fn nothing(type_: u32) -> Stored {
        Stored { rep: Rep::Nothing(type_), text: Text::default(), align: 1, size: 0, uniform: true }
    }
}

/// The key of a stored type: the type, the layout of its matrices, the node in [`Atomics`], and the
/// alignment of its place.
pub(super) type Key = (u32, MatrixLayout, u32, u64);

fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to.max(1)).saturating_mul(to.max(1))
}

/// The greatest power of two that divides an offset, at most 16.
fn alignment(offset: u64) -> u64 {
    if offset == 0 { 16 } else { (1 << offset.trailing_zeros().min(4)) as u64 }
}

impl Convert<'_> {
    /// The stored form of a type with an explicit layout.
    pub(super) fn stored(&mut self, key: Key) -> Result<Rc<Stored>, Refused> {
        if let Some(known) = self.stored_types.get(&key) {
            return Ok(known.clone());
        }
        let stored = Rc::new(smallstep_semantics::text::deep(|| self.lay_out(key))?);
        self.stored_types.insert(key, stored.clone());
        Ok(stored)
    }

    /// The stored form of a type without layout in SPIR-V: the value type, except for atomics.
    pub(super) fn without_layout(&mut self, type_: u32, node: u32) -> Result<Rc<Stored>, Refused> {
        if node == PLAIN {
            let text = self.value_type(type_)?;
            return Ok(Rc::new(Stored { rep: Rep::Value(type_), text, align: 0, size: 0, uniform: true }));
        }
        let key = (type_, MatrixLayout::default(), node, 0);
        if let Some(known) = self.stored_types.get(&key) {
            return Ok(known.clone());
        }
        let stored = match self.module.types().get(type_) {
            Some(Type::Int { .. }) => {
                let text = format!("atomic<{}>", self.value_type(type_)?).into();
                Stored { rep: Rep::Atomic(type_), text, align: 0, size: 0, uniform: true }
            }
            Some(Type::Array { element, length, .. }) => {
                let element = self.without_layout(element, self.atomics.part(node, 0))?;
                let text = format!("array<{}, {length}>", element.text).into();
                Stored { rep: Rep::Array { type_, element, wrapped: false }, text, align: 0, size: 0, uniform: true }
            }
            Some(Type::Struct { .. }) => {
                let types: Vec<u32> = self.module.types().members(type_).iter().map(|m| m.type_).collect();
                let names = self.member_names(type_);
                let mut members = Vec::new();
                let mut lines = Vec::new();
                for (at, (&part, name)) in types.iter().zip(&*names).enumerate() {
                    let stored = self.without_layout(part, self.atomics.part(node, at as u32))?;
                    lines.push(["    ", name, ": ", &*stored.text, ","].concat());
                    members.push((name.clone(), stored));
                }
                let text = self.declare_struct(type_, "_atomic", &lines);
                Stored { rep: Rep::Struct { type_, members }, text, align: 0, size: 0, uniform: true }
            }
            _ => return Err(self.refused(Why::Atomics, format!("%{type_} is no type that atomics change"))),
        };
        let stored = Rc::new(stored);
        self.stored_types.insert(key, stored.clone());
        Ok(stored)
    }

    fn lay_out(&mut self, (type_, matrix, node, limit): Key) -> Result<Stored, Refused> {
        let types = self.module.types();
        let Some(ty) = types.get(type_) else { return Err(self.refused(Why::Type, format!("%{type_} is no type"))) };
        if types.is_nothing(type_) && !self.plan.keeps_nothing() {
            return Ok(Stored::nothing(type_));
        }
        match ty {
            Type::Int { .. } | Type::Float { .. } => {
                let text = self.value_type(type_)?;
                let size = u64::from(ty.width().unwrap_or(32) / 8);
                if size > limit {
                    return Err(
                        self.refused(Why::Layout, format!("a scalar of type %{type_} is at an offset that is no multiple of its size"))
                    );
                }
                let (rep, text) =
                    if node == PLAIN { (Rep::Value(type_), text) } else { (Rep::Atomic(type_), format!("atomic<{text}>").into()) };
                Ok(Stored { rep, text, align: size, size, uniform: node == PLAIN })
            }
            Type::Vector { component, count } => {
                let scalar = self.stored((component, matrix, PLAIN, 16))?;
                let (count, text) = (u64::from(count), self.value_type(type_)?);
                let align = scalar.size * if count == 2 { 2 } else { 4 };
                let size = scalar.size * count;
                if align <= limit {
                    return Ok(Stored { rep: Rep::Value(type_), text, align, size, uniform: true });
                }
                if scalar.size > limit {
                    return Err(self
                        .refused(Why::Layout, format!("a vector of type %{type_} is at an offset that is no multiple of its component")));
                }
                let text = format!("array<{}, {count}>", scalar.text).into();
                Ok(Stored { rep: Rep::Scalars(type_), text, align: scalar.size, size, uniform: false })
            }
            Type::Matrix { column, count } => self.lay_out_matrix(type_, column, u64::from(count), matrix, limit),
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                let length = types.parts(type_);
                let stride = u64::from(stride);
                if types.is_nothing(element) {
                    let what = format!("%{type_} is a runtime array of structures without members, which WGSL has not");
                    return Err(self.refused(Why::Layout, what));
                }
                let (element, wrapped) = self.spaced(element, matrix, self.atomics.part(node, 0), limit, stride)?;
                let inner = if wrapped { self.wrapper(&element, stride) } else { element.text.clone() };
                let uniform = element.uniform && stride % 16 == 0 && length.is_some();
                let rep = match (&element.rep, wrapped, length) {
                    (Rep::Value(_), false, Some(_)) => Rep::Value(type_),
                    _ => Rep::Array { type_, element: element.clone(), wrapped },
                };
                let text = match length {
                    Some(length) => format!("array<{inner}, {length}>").into(),
                    None => Text::of(&["array<", &inner, ">"]),
                };
                Ok(Stored { rep, text, align: element.align, size: stride.saturating_mul(length.unwrap_or(0)), uniform })
            }
            Type::Struct { .. } => self.lay_out_struct(type_, node, limit),
            _ => Err(self.refused(Why::Type, format!("WGSL's buffers cannot hold {}", ty.name()))),
        }
    }

    /// The stored form of an element at a stride, and whether it needs a structure of the size of
    /// the stride.
    fn spaced(&mut self, part: u32, matrix: MatrixLayout, node: u32, limit: u64, stride: u64) -> Result<(Rc<Stored>, bool), Refused> {
        let mut limit = limit.min(alignment(stride));
        loop {
            let stored = self.stored((part, matrix, node, limit))?;
            let natural = round_up(stored.size, stored.align);
            if natural == stride {
                return Ok((stored, false));
            }
            if natural < stride && stride.is_multiple_of(stored.align) {
                return Ok((stored, true));
            }
            if limit <= 1 {
                return Err(self.refused(Why::Layout, format!("elements of type %{part} overlap at a stride of {stride} bytes")));
            }
            limit /= 2;
        }
    }

    /// The structure that holds one element and has the size of the stride.
    fn wrapper(&mut self, element: &Stored, stride: u64) -> Text {
        let line = format!("    @size({stride}) value: {},", element.text);
        if let Some(name) = self.wrappers.get(&line) {
            return name.clone();
        }
        let name = self.names.fresh("Padded");
        self.structs.push_str(&format!("struct {name} {{\n{line}\n}}\n\n"));
        self.wrappers.insert(line, name.clone());
        name
    }

    fn lay_out_matrix(&mut self, type_: u32, column: u32, columns: u64, matrix: MatrixLayout, limit: u64) -> Result<Stored, Refused> {
        let types = self.module.types();
        let rows = types.scalars(column);
        let Some(Type::Vector { component, .. }) = types.get(column) else {
            return Err(self.refused(Why::Type, format!("%{column} is no vector")));
        };
        let (count, each) = if matrix.row_major { (rows, columns) } else { (columns, rows) };
        let stride = u64::from(matrix.stride);
        let scalar = self.stored((component, matrix, PLAIN, 16))?;
        let natural = scalar.size * if each == 2 { 2 } else { 4 };
        if stride == natural && natural <= limit {
            let text = format!("mat{count}x{each}<{}>", scalar.text).into();
            let vector = Rc::new(Stored { rep: Rep::Value(column), text: Text::default(), align: natural, size: natural, uniform: true });
            let rep = match matrix.row_major {
                false => Rep::Value(type_),
                true => Rep::Matrix { type_, row_major: true, native: true, vector, wrapped: false },
            };
            return Ok(Stored { rep, text, align: natural, size: natural * count, uniform: true });
        }
        // The module may have no vector type with as many components as a row, so the type
        // is spelled.
        let limit = limit.min(alignment(stride));
        let vector = match natural <= limit && scalar.size * each <= stride {
            true => Stored {
                rep: Rep::Value(column),
                text: format!("vec{each}<{}>", scalar.text).into(),
                align: natural,
                size: scalar.size * each,
                uniform: true,
            },
            false if scalar.size <= limit && scalar.size * each <= stride => {
                let text = format!("array<{}, {each}>", scalar.text).into();
                Stored { rep: Rep::Scalars(column), text, align: scalar.size, size: scalar.size * each, uniform: false }
            }
            false => {
                return Err(self.refused(Why::Layout, format!("columns or rows of matrix %{type_} overlap at a stride of {stride} bytes")));
            }
        };
        let wrapped = round_up(vector.size, vector.align) != stride;
        let inner = if wrapped { self.wrapper(&vector, stride) } else { vector.text.clone() };
        let text = format!("array<{inner}, {count}>").into();
        let (align, uniform) = (vector.align, vector.uniform && stride % 16 == 0);
        let rep = Rep::Matrix { type_, row_major: matrix.row_major, native: false, vector: Rc::new(vector), wrapped };
        Ok(Stored { rep, text, align, size: stride * count, uniform })
    }

    fn lay_out_struct(&mut self, type_: u32, node: u32, limit: u64) -> Result<Stored, Refused> {
        let members = self.module.types().members(type_).to_vec();
        let names = self.member_names(type_);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&at| members[at].offset);
        let (mut end, mut align, mut previous) = (0u64, 1u64, None::<(usize, u64)>);
        let mut plain = order.iter().enumerate().all(|(a, &b)| a == b);
        let mut uniform = true;
        let mut lines: Vec<(Option<u64>, String)> = Vec::new();
        let mut stored_members: Vec<Option<(Text, Rc<Stored>)>> = vec![None; members.len()];
        let is_nothing = |type_: u32| self.module.types().is_nothing(type_) && !self.plan.keeps_nothing();
        for (at, member) in members.iter().enumerate().filter(|(_, member)| is_nothing(member.type_)) {
            stored_members[at] = Some((names[at].clone(), Rc::new(Stored::nothing(member.type_))));
            plain = false;
        }
        order.retain(|&at| stored_members[at].is_none());
        for (place, &at) in order.iter().enumerate() {
            let member = &members[at];
            let Some(offset) = member.offset.map(u64::from) else {
                return Err(self.refused(Why::Layout, format!("member {at} of structure %{type_} has no Offset")));
            };
            let room = order.get(place + 1).and_then(|&next| members[next].offset).map(|next| u64::from(next).saturating_sub(offset));
            let mut bound = limit.min(alignment(offset));
            let stored = loop {
                let stored = self.stored((member.type_, member.matrix, self.atomics.part(node, at as u32), bound))?;
                if room.is_none_or(|room| stored.size <= room) {
                    break stored;
                }
                if bound <= 1 {
                    return Err(self.refused(Why::Layout, format!("members of structure %{type_} overlap at offset {offset}")));
                }
                bound /= 2;
            };
            let natural = round_up(end, stored.align);
            if offset != natural {
                match previous {
                    Some((line, begins)) => lines[line].0 = Some(offset - begins),
                    None => {
                        lines.push((Some(offset), format!("{}: u32,", self.pad_name(&names))));
                        plain = false;
                    }
                }
            }
            previous = Some((lines.len(), offset));
            lines.push((None, [&*names[at], ": ", &*stored.text, ","].concat()));
            end = offset.saturating_add(stored.size);
            align = align.max(stored.align);
            plain &= matches!(stored.rep, Rep::Value(_));
            let nested = matches!(self.module.types().get(member.type_), Some(Type::Struct { .. }));
            let composite = nested || matches!(self.module.types().get(member.type_), Some(Type::Array { .. }));
            uniform &= stored.uniform && (!composite || offset % 16 == 0);
            if let (true, Some(room)) = (nested, room) {
                uniform &= room >= round_up(stored.size, 16);
            }
            stored_members[at] = Some((names[at].clone(), stored));
        }
        let lines: Vec<String> = lines
            .into_iter()
            .map(|(size, line)| match size {
                Some(size) => format!("    @size({size}) {line}"),
                None => ["    ", &*line].concat(),
            })
            .collect();
        let size = round_up(end, align);
        if plain {
            let text = self.declare_value_struct(type_, &lines);
            return Ok(Stored { rep: Rep::Value(type_), text, align, size, uniform });
        }
        let text = self.declare_struct(type_, "", &lines);
        let members = stored_members.into_iter().flatten().collect();
        Ok(Stored { rep: Rep::Struct { type_, members }, text, align, size, uniform })
    }

    fn pad_name(&self, names: &[Text]) -> String {
        let mut name = String::from("padding");
        while names.iter().any(|other| **other == name) {
            name.push('_');
            name.push('1');
        }
        name
    }
}
