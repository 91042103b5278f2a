//! Pointers as references: their spelling, and the loads and stores through them (seed 002,
//! References and pointers; Mapping OpArrayLength).
//!
//! SPIR-V has pointers, and WGSL has references and pointers. The pointer of an access chain has no
//! value in WGSL: each use spells the reference. A pointer parameter into the Function class is a
//! pointer in WGSL. A parameter that points to a variable at module scope stands for that variable,
//! and the function is written for it. Pointers that are values are in [`super::pointer`].

use std::rc::Rc;

use rspirv::spirv::{Op, StorageClass};
use smallstep_semantics::spirv::Instruction;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::text::deep;

use super::convert::{Bound, Element, MAX_TEXT, StaticArgument};
use super::function::Body;
use super::layout::{Rep, Stored};
use super::pointer::number;
use super::text::{COMPONENTS, Expr, Text};
use super::words::Spot;
use super::{Refused, Why};

/// The most parts of one load or store.
pub(super) const MAX_PARTS: u64 = 1024;

/// The storage of the memory that a reference refers to.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A value of the type.
    Value(u32),
    /// Storage in another form.
    Stored(Rc<Stored>),
    /// A place in a buffer of words.
    Words(Spot),
    /// A column, of that type, of a matrix that is stored by rows.
    Column { type_: u32, column: Expr, matrix: Rc<Stored> },
}

/// A reference.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The spelling. Empty if there is a choice.
    pub(super) text: Text,
    pub(super) kind: Kind,
    /// Whether it is all of a variable, or all of the memory that a parameter points to.
    pub(super) is_whole: bool,
    /// The choice between several references, if it is known only at run time.
    pub(super) choice: Option<Rc<Choice>>,
}

/// Several references with an index: elements of an array of descriptors, or targets of a pointer.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The index in `places`, as an expression.
    pub(super) index: Expr,
    pub(super) places: Vec<Place>,
}

impl Default for Place {
    fn default() -> Place {
        Place { text: Text::default(), kind: Kind::Value(0), is_whole: true, choice: None }
    }
}

impl Place {
    /// A choice between references of one type.
    pub(super) fn chosen(index: Expr, places: Vec<Place>) -> Place {
        let kind = places.first().map_or(Kind::Value(0), |place| place.kind.clone());
        Place { text: Text::default(), kind, is_whole: false, choice: Some(Rc::new(Choice { index, places })) }
    }

    /// The number of bytes of its spelling, over all choices.
    fn bytes(&self) -> usize {
        self.text.len() + self.choice.as_ref().map_or(0, |choice| choice.places.iter().map(Place::bytes).sum())
    }
}

/// A descriptor of an array.
#[derive(Clone, Debug)]
pub(super) enum DescriptorIndex {
    /// The descriptor with this number.
    Only(u64),
    /// The descriptor whose number is this expression, which is not constant.
    Any(Expr),
}

impl Stored {
    /// The type that is stored.
    fn type_(&self) -> u32 {
        match self.rep {
            Rep::Value(t) | Rep::Atomic(t) | Rep::Scalars(t) | Rep::Words(t, _) | Rep::Nothing(t) => t,
            Rep::Matrix { type_, .. } | Rep::Array { type_, .. } | Rep::Struct { type_, .. } => type_,
        }
    }
}

impl Kind {
    fn of(stored: &Rc<Stored>) -> Kind {
        match stored.rep {
            Rep::Value(type_) => Kind::Value(type_),
            Rep::Words(type_, words) => Kind::Words(Spot::whole(type_, words)),
            _ => Kind::Stored(stored.clone()),
        }
    }
}

impl Body<'_, '_> {
    /// The reference of a pointer operand.
    pub(super) fn place(&mut self, id: u32) -> Result<Place, Refused> {
        if let Some(place) = self.places.get(id) {
            return Ok(place.clone());
        }
        let id = self.bindings.get(&id).map_or(id, |bound| bound.variable);
        if self.convert.module.variable(id).is_none_or(|v| v.function.is_some()) {
            return Err(self.convert.refused(Why::Pointer, format!("the pointer %{id} has no form in WGSL")));
        }
        let global = self.convert.global(id)?;
        let kind = Kind::of(&global.stored);
        Ok(Place { text: global.name, kind, ..Place::default() })
    }

    /// The element of an array of buffers that an access chain selects first, and the number of
    /// indices that select it. `None` if the pointer is to no such array.
    fn buffer_of_array(&mut self, id: u32, indices: &[u32]) -> Result<Option<(Place, usize)>, Refused> {
        let id = self.bindings.get(&id).map_or(id, |bound| bound.variable);
        let module = self.convert.module;
        let Some(variable) = module.variable(id).filter(|v| matches!(v.class, StorageClass::Uniform | StorageClass::StorageBuffer)) else {
            return Ok(None);
        };
        if !matches!(module.types().get(variable.type_), Some(Type::Array { .. })) {
            return Ok(None);
        }
        let (descriptor_index, used_indices) = self.descriptor_index(variable.type_, indices)?;
        Ok(Some((self.descriptor(id, descriptor_index)?, used_indices)))
    }

    /// A descriptor of an array of buffers.
    pub(super) fn descriptor(&mut self, id: u32, descriptor_index: DescriptorIndex) -> Result<Place, Refused> {
        let mut place = |at: u64| {
            let global = self.convert.element(id, at)?;
            Ok(Place { kind: Kind::of(&global.stored), text: global.name, ..Place::default() })
        };
        match descriptor_index {
            DescriptorIndex::Only(at) => place(at),
            DescriptorIndex::Any(index) => {
                let first = place(0)?;
                let count = self.convert.descriptors(id).map_or(1, |(count, _)| count);
                let mut places = vec![first];
                for at in 1..count {
                    let global = self.convert.element(id, at)?;
                    places.push(Place { kind: Kind::of(&global.stored), text: global.name, ..Place::default() });
                }
                Ok(Place::chosen(index, places))
            }
        }
    }

    /// The element of an array of descriptors that indices select, and the number of indices that
    /// select it.
    pub(super) fn descriptor_index(&mut self, type_: u32, indices: &[u32]) -> Result<(DescriptorIndex, usize), Refused> {
        let (mut indices_text, mut level) = (Vec::new(), type_);
        for &index in indices {
            let Some(Type::Array { element, .. }) = self.convert.module.types().get(level) else { break };
            level = element;
            indices_text.push(match self.convert.module.integer(index).filter(|_| !self.convert.specialized.has(index)) {
                Some(at) => Expr::literal(format!("{}u", at.max(0))),
                None => self.integer(index, false)?,
            });
        }
        Ok(self.descriptor_index_of(type_, &indices_text))
    }

    /// As [`Body::which`], for indices that are spelled.
    pub(super) fn descriptor_index_of(&self, mut type_: u32, indices: &[Expr]) -> (DescriptorIndex, usize) {
        let (mut constant, mut sum, mut used_indices) = (0u64, None::<Expr>, 0);
        while let Some(Type::Array { element, length, .. }) = self.convert.module.types().get(type_) {
            let Some(index) = indices.get(used_indices) else { break };
            constant = constant.saturating_mul(length);
            sum = sum.map(|sum| Expr::binary("*", &sum, &Expr::literal(format!("{length}u"))));
            match number(index) {
                Some(at) => constant = constant.saturating_add((at.max(0) as u64).min(length.saturating_sub(1))),
                None => {
                    sum = Some(match sum {
                        Some(sum) => Expr::binary("+", &sum, index),
                        None => index.clone(),
                    });
                }
            }
            (type_, used_indices) = (element, used_indices + 1);
        }
        let descriptor_index = match sum {
            None => DescriptorIndex::Only(constant),
            Some(sum) if constant == 0 => DescriptorIndex::Any(sum),
            Some(sum) => DescriptorIndex::Any(Expr::binary("+", &sum, &Expr::literal(format!("{constant}u")))),
        };
        (descriptor_index, used_indices)
    }

    /// Calls `each` for every reference of a choice, in the clauses of a switch.
    pub(super) fn for_each_choice(
        &mut self,
        choice: &Choice,
        each: &mut dyn FnMut(&mut Self, &Place) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        self.clauses(&choice.index, choice.places.len(), &mut |this, at| each(this, &choice.places[at]))
    }

    /// The type of the memory at a place.
    pub(super) fn type_at(&self, place: &Place) -> u32 {
        match &place.kind {
            Kind::Value(type_) | Kind::Column { type_, .. } => *type_,
            Kind::Words(spot) => spot.type_(),
            Kind::Stored(stored) => stored.type_(),
        }
    }

    /// The reference of an access chain.
    pub(super) fn chain(&mut self, i: &Instruction) -> Result<Place, Refused> {
        let module = self.convert.module;
        let operands = i.operands(module.words());
        let (mut place, used_indices) = match self.buffer_of_array(operands[0], &operands[1..])? {
            Some(found) => found,
            None => (self.place(operands[0])?, 0),
        };
        for &index in &operands[1 + used_indices..] {
            let constant = self.convert.module.integer(index).filter(|_| !self.convert.specialized.has(index));
            place = match constant {
                Some(value) => self.part(place, value.max(-1), None, i)?,
                None => {
                    // The references of the choice may be stored in different ways.
                    let index = match place.kind {
                        Kind::Words(_) => self.integer(index, false)?,
                        _ if place.choice.is_some() => self.integer(index, false)?,
                        _ => self.value(index)?,
                    };
                    self.part(place, -1, Some(index), i)?
                }
            };
        }
        self.spell(&place)?;
        Ok(place)
    }

    /// Counts the bytes of a reference. Each access chain spells its own reference.
    pub(super) fn spell(&mut self, place: &Place) -> Result<(), Refused> {
        self.convert.reference_bytes += place.bytes();
        if self.convert.reference_bytes > MAX_TEXT {
            return Err(self.convert.refused(Why::Limit, format!("the references of the module have more than {MAX_TEXT} bytes")));
        }
        Ok(())
    }

    /// A part of a place. It is selected by `index`, or by `number` if there is no index.
    pub(super) fn part(&mut self, place: Place, number: i64, index: Option<Expr>, i: &Instruction) -> Result<Place, Refused> {
        if let Some(choice) = &place.choice {
            let part = |place: &Place| deep(|| self.part(place.clone(), number, index.clone(), i));
            let places = choice.places.iter().map(part).collect::<Result<Vec<Place>, Refused>>()?;
            return Ok(Place::chosen(choice.index.clone(), places));
        }
        if let Kind::Words(spot) = &place.kind {
            return self.part_of_words(&place, spot, number, index, i);
        }
        let types = self.convert.module.types();
        let type_ = self.type_at(&place);
        let stored = match &place.kind {
            Kind::Stored(stored) => Some(stored.clone()),
            _ => None,
        };
        // In WGSL, a constant index out of range is a shader-creation error.
        let out_of_range = index.is_none() && types.parts(type_).is_some_and(|parts| number < 0 || number as u64 >= parts);
        let out_of_range = out_of_range || index.is_none() && number < 0;
        let index = match index {
            Some(index) => index,
            None if out_of_range => self.bind(&Expr::literal(format!("{}u", number as u32)))?,
            None => Expr::literal(Text::numbered("", number as u64, "")),
        };
        let subscript = |text: &str, wrapped: bool| Text::of(&[text, "[", &index.text, if wrapped { "].value" } else { "]" }]);
        let element = types.part(type_, 0).map(|(part, _)| part);
        let no_part = |this: &Self| this.convert.refused_at(i, Why::Pointer, format!("%{type_} has no part {number}"));
        let (text, kind) = match (&place.kind, stored.as_deref().map(|s| &s.rep)) {
            (Kind::Column { column, matrix, .. }, _) => {
                let Rep::Matrix { wrapped, .. } = matrix.rep else { return Err(no_part(self)) };
                let row = subscript(&place.text, wrapped);
                (Text::of(&[&row, "[", &column.text, "]"]), Kind::Value(element.ok_or_else(|| no_part(self))?))
            }
            (_, Some(Rep::Struct { members, .. })) => {
                let (name, stored) = members.get(number as usize).ok_or_else(|| no_part(self))?;
                (Text::of(&[&place.text, ".", name]), Kind::of(stored))
            }
            (_, Some(Rep::Nothing(_))) => {
                let member = index.constant.then(|| types.part(type_, number.max(0) as u64)).flatten();
                let part = member.map(|(part, _)| part).or(element).ok_or_else(|| no_part(self))?;
                (place.text.clone(), Kind::Stored(Rc::new(Stored::nothing(part))))
            }
            (_, Some(Rep::Array { element, wrapped, .. })) => (subscript(&place.text, *wrapped), Kind::of(element)),
            (_, Some(Rep::Scalars(_))) => (subscript(&place.text, false), Kind::Value(element.ok_or_else(|| no_part(self))?)),
            (_, Some(Rep::Matrix { row_major: false, vector, wrapped, .. })) => (subscript(&place.text, *wrapped), Kind::of(vector)),
            (_, Some(Rep::Matrix { .. })) => {
                let matrix = stored.clone().ok_or_else(|| no_part(self))?;
                (place.text.clone(), Kind::Column { type_: element.ok_or_else(|| no_part(self))?, column: index, matrix })
            }
            _ => match types.get(type_) {
                Some(Type::Struct { .. }) => {
                    let member = types.members(type_).get(number as usize).ok_or_else(|| no_part(self))?.type_;
                    let names = self.convert.member_names(type_);
                    (Text::of(&[&place.text, ".", &names[number as usize]]), Kind::Value(member))
                }
                Some(Type::Vector { .. }) if !out_of_range && index.constant && number >= 0 => {
                    (Text::of(&[&place.text, ".", COMPONENTS[number as usize & 3]]), Kind::Value(element.ok_or_else(|| no_part(self))?))
                }
                _ => (subscript(&place.text, false), Kind::Value(element.ok_or_else(|| no_part(self))?)),
            },
        };
        Ok(Place { text, kind, is_whole: false, ..place })
    }

    /// Loads the value at a place.
    pub(super) fn load(&mut self, place: &Place, i: &Instruction) -> Result<Expr, Refused> {
        if let Some(choice) = place.choice.clone() {
            let text = self.convert.value_type(self.type_at(place))?;
            let name = self.convert.names.local("chosen");
            self.line(format!("var {name}: {text};"));
            self.for_each_choice(&choice, &mut |this, place| {
                let value = this.load(place, i)?;
                this.line(format!("{name} = {};", value.text));
                Ok(())
            })?;
            return Ok(Expr::name(name));
        }
        match &place.kind {
            Kind::Words(spot) => self.load_words(place, spot, i),
            Kind::Value(_) => Ok(Expr::name(place.text.clone())),
            Kind::Column { type_, .. } => {
                let rows = self.convert.module.types().parts(*type_).unwrap_or(0);
                let mut parts = Vec::new();
                for row in 0..rows {
                    let part = self.part(place.clone(), row as i64, None, i)?;
                    parts.push(Expr::name(part.text));
                }
                let name = self.convert.value_type(*type_)?;
                Ok(Expr::call(&name, &parts))
            }
            Kind::Stored(stored) => {
                let stored = stored.clone();
                match &stored.rep {
                    Rep::Value(_) | Rep::Words(..) => Ok(Expr::name(place.text.clone())),
                    Rep::Nothing(type_) => self.convert.zero(*type_, None),
                    Rep::Atomic(_) => Ok(Expr::call("atomicLoad", &[Expr::name(Text::of(&["&", &place.text]))])),
                    Rep::Matrix { row_major: true, native: true, .. } => Ok(Expr::call("transpose", &[Expr::name(place.text.clone())])),
                    Rep::Matrix { type_, row_major: true, wrapped, vector, .. } => {
                        let rows = self.rows(*type_);
                        let shape = self.convert.module.shape(*type_);
                        let row_shape = smallstep_semantics::spirv::operation::Shape { rows: shape.columns, columns: 1, ..shape };
                        let row_type = self.convert.shape_type(row_shape)?;
                        let mut parts = Vec::new();
                        for row in 0..rows {
                            let text = format!("{}[{row}]{}", place.text, if *wrapped { ".value" } else { "" });
                            parts.push(match vector.rep {
                                Rep::Scalars(_) => {
                                    let each: Vec<Expr> = (0..shape.columns).map(|c| Expr::name(format!("{text}[{c}]"))).collect();
                                    Expr::call(&row_type, &each)
                                }
                                _ => Expr::name(text),
                            });
                        }
                        let transposed = smallstep_semantics::spirv::operation::Shape { rows: shape.columns, columns: shape.rows, ..shape };
                        let name = self.convert.shape_type(transposed)?;
                        Ok(Expr::call("transpose", &[Expr::call(&name, &parts)]))
                    }
                    Rep::Scalars(type_) | Rep::Matrix { type_, .. } | Rep::Array { type_, .. } | Rep::Struct { type_, .. } => {
                        let type_ = *type_;
                        let count = self.countable(type_, i)?;
                        let mut parts = Vec::new();
                        for at in 0..count {
                            let part = self.part(place.clone(), at as i64, None, i)?;
                            parts.push(deep(|| self.load(&part, i))?);
                        }
                        let name = self.convert.value_type(type_)?;
                        Ok(Expr::call(&name, &parts))
                    }
                }
            }
        }
    }

    fn rows(&self, matrix: u32) -> u64 {
        u64::from(self.convert.module.shape(matrix).rows)
    }

    /// The number of parts of a value that is loaded or stored part by part.
    fn countable(&self, type_: u32, i: &Instruction) -> Result<u64, Refused> {
        let types = self.convert.module.types();
        match types.parts(type_) {
            Some(count) if types.scalars(type_) <= MAX_PARTS => Ok(count),
            _ => Err(self.convert.refused_at(i, Why::Layout, "so large a value has another layout in WGSL's memory than as a value")),
        }
    }

    /// Stores a value. If it is spelled more than once, it first becomes a name or a literal.
    pub(super) fn store(&mut self, place: &Place, value: &Expr, i: &Instruction) -> Result<(), Refused> {
        if let Some(choice) = place.choice.clone() {
            let value = self.repeatable(value)?;
            return self.for_each_choice(&choice, &mut |this, place| this.store(place, &value, i));
        }
        match &place.kind {
            Kind::Words(spot) => return self.store_words(place, spot, value, i),
            Kind::Value(_) => self.line_of(&[&place.text, " = ", &value.text, ";"]),
            Kind::Column { type_, .. } => {
                let value = self.repeatable(value)?;
                for row in 0..self.convert.module.types().parts(*type_).unwrap_or(0) {
                    let part = self.part(place.clone(), row as i64, None, i)?;
                    self.line(format!("{} = {}[{row}];", part.text, value.primary()));
                }
            }
            Kind::Stored(stored) => {
                let stored = stored.clone();
                match &stored.rep {
                    Rep::Value(_) | Rep::Words(..) => self.line_of(&[&place.text, " = ", &value.text, ";"]),
                    // The expression of the value may have effects.
                    Rep::Nothing(_) => drop(self.repeatable(value)?),
                    Rep::Atomic(_) => self.line(format!("atomicStore(&{}, {});", place.text, value.argument())),
                    Rep::Matrix { row_major: true, native: true, .. } => {
                        self.line(format!("{} = transpose({});", place.text, value.argument()))
                    }
                    Rep::Matrix { type_, row_major: true, wrapped, vector, .. } => {
                        let shape = self.convert.module.shape(*type_);
                        let transposed = self.repeatable(&Expr::call("transpose", std::slice::from_ref(value)))?;
                        for row in 0..shape.rows {
                            let text = format!("{}[{row}]{}", place.text, if *wrapped { ".value" } else { "" });
                            match vector.rep {
                                Rep::Scalars(_) => {
                                    for c in 0..shape.columns {
                                        self.line(format!("{text}[{c}] = {}[{row}][{c}];", transposed.primary()));
                                    }
                                }
                                _ => self.line(format!("{text} = {}[{row}];", transposed.primary())),
                            }
                        }
                    }
                    Rep::Scalars(type_) | Rep::Matrix { type_, .. } | Rep::Array { type_, .. } | Rep::Struct { type_, .. } => {
                        let type_ = *type_;
                        let value = self.repeatable(value)?;
                        let value = Place { text: value.primary(), kind: Kind::Value(type_), ..Place::default() };
                        for at in 0..self.countable(type_, i)? {
                            let from = self.part(value.clone(), at as i64, None, i)?;
                            let to = self.part(place.clone(), at as i64, None, i)?;
                            deep(|| self.store(&to, &Expr::name(from.text), i))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// OpArrayLength, for the last member of the structure at a place.
    pub(super) fn array_length(&mut self, i: &Instruction) -> Result<Expr, Refused> {
        let module = self.convert.module;
        let operands = i.operands(module.words());
        let place = self.place(operands[0])?;
        let member = self.part(place, i64::from(operands[1]), None, i)?;
        if let Some(choice) = member.choice.clone() {
            let name = self.convert.names.local("chosen");
            self.line(format!("var {name}: u32;"));
            self.for_each_choice(&choice, &mut |this, member| {
                let value = this.length_at(member, i)?;
                this.line(format!("{name} = {};", value.text));
                Ok(())
            })?;
            return Ok(Expr::name(name));
        }
        self.length_at(&member, i)
    }

    fn length_at(&mut self, member: &Place, i: &Instruction) -> Result<Expr, Refused> {
        match &member.kind {
            Kind::Words(spot) => self.length_of_words(member, spot, i),
            _ => Ok(Expr::call("arrayLength", &[Expr::name(Text::of(&["&", &member.text]))])),
        }
    }

    /// The arguments of a call for a pointer, and the meaning of the parameter if it is no pointer
    /// in WGSL.
    pub(super) fn pointer_argument(&mut self, id: u32, i: &Instruction) -> Result<(Vec<Expr>, Option<StaticArgument>), Refused> {
        let id = self.bindings.get(&id).map_or(id, |bound| bound.variable);
        let module = self.convert.module;
        let class = module.type_of(id).and_then(|t| module.pointer_type(t)).map(|(class, _)| class);
        if class != Some(StorageClass::Function) {
            let pointer = self.pointer(id)?;
            return Ok(match pointer.variable() {
                Some(variable) => (Vec::new(), Some(StaticArgument::Variable(Bound { variable, element: Element::All }))),
                None => (pointer.saved().cloned().collect(), Some(StaticArgument::Pointer(pointer.targets.clone()))),
            });
        }
        let place = self.place(id)?;
        if !place.is_whole {
            return Err(self.convert.refused_at(i, Why::Pointer, "WGSL passes no pointer to a part of a variable"));
        }
        let text = match place.text.strip_prefix("(*").and_then(|rest| rest.strip_suffix(')')) {
            Some(parameter) => parameter.into(),
            None => Text::of(&["&", &place.text]),
        };
        Ok((vec![Expr::name(text)], None))
    }

    /// The part of a local variable or pointer parameter that an argument points to. `None` for
    /// other pointers.
    pub(super) fn part_of_local(&mut self, id: u32) -> Option<Place> {
        let place = self.places.get(id).filter(|place| !place.is_whole && matches!(place.kind, Kind::Value(_)))?;
        let class = self.convert.module.type_of(id).and_then(|t| self.convert.module.pointer_type(t)).map(|(class, _)| class);
        (class == Some(StorageClass::Function)).then(|| place.clone())
    }

    /// Records the reference of a local variable or a pointer parameter.
    pub(super) fn remember(&mut self, id: u32, text: Text, type_: u32) {
        self.places.insert(id, Place { text, kind: Kind::Value(type_), ..Place::default() });
    }

    /// OpCopyMemory, as a load and a store.
    pub(super) fn copy_memory(&mut self, i: &Instruction) -> Result<(), Refused> {
        let module = self.convert.module;
        let operands = i.operands(module.words());
        let (to, from) = (self.place(operands[0])?, self.place(operands[1])?);
        let value = self.load(&from, i)?;
        let value = self.repeatable(&value)?;
        self.store(&to, &value, i)
    }

    /// Whether an instruction makes a pointer.
    pub(super) fn makes_pointer(&self, i: &Instruction) -> bool {
        matches!(i.op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject)
            && self.convert.module.pointer_type(i.result_type).is_some()
    }
}
