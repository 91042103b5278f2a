//! The arguments of a compute entry point: built-in variables and resources (seed 004 "Built-in
//! Variables", "Arguments and Return Types").

use super::Dispatch;
use crate::image::Sampler;
use crate::outcome::{InputFault, InvalidInput};
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::Semantic;
use crate::wsl::execution::Shared;
use crate::wsl::execution::term::Value;
use crate::wsl::layout::Layouts;
use crate::wsl::memory::{Address, Memory, Object, ObjectId, Words};
use crate::wsl::open::{OpenTerms, Word};
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic};
use crate::wsl::texture::{Opaque, Texture, is_writable};
use crate::wsl::types::{StructId, TextureKind, Type, TypeId};
use crate::wsl::typing::program::Program;
use rustc_hash::FxHashMap;

/// The buffer that an array reference among the resources refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its address space.
    pub space: AddressSpace,
    /// The type of its elements.
    pub element: TypeId,
    /// The size of an element in words.
    pub stride: u32,
    /// Its contents.
    pub words: Vec<u32>,
    /// The element types of other array references with the same register, and the size of each
    /// in words.
    pub others: Vec<(TypeId, u32)>,
}

/// A texture among the resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Textured {
    /// Its kind.
    pub kind: TextureKind,
    /// The type of its texels.
    pub texel: TypeId,
    /// Its texels, if they are bound.
    pub texture: Option<Texture>,
}

/// The contents of a resource, or their type if nothing is bound yet.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceContents {
    /// The elements of an array reference.
    Buffer(Buffer),
    /// A texture.
    Texture(Textured),
    /// A sampler.
    Sampler(Option<Sampler>),
}

/// An array reference, a texture or a sampler that an entry point takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name in the program.
    pub name: String,
    /// Its register, as `u0` or `u0, space1`.
    pub register: String,
    /// Its contents.
    pub contents: ResourceContents,
    /// The names of other arguments with the same register.
    pub others: Vec<String>,
}

impl ResourceContents {
    /// Its type in messages: `device of float4`, `Texture2D of float`, `a sampler`.
    pub fn type_text(&self, program: &Program) -> String {
        match self {
            ResourceContents::Buffer(buffer) => format!("{} of {}", buffer.space.keyword(), program.env.type_name(buffer.element)),
            ResourceContents::Texture(texture) => format!("{} of {}", texture.kind.name(), program.env.type_name(texture.texel)),
            ResourceContents::Sampler(_) => "a sampler".into(),
        }
    }
}

impl Resource {
    /// The resources of an entry point, empty, in the order of its arguments. A register that
    /// several arguments name is one resource, with the elements of the first of them.
    ///
    /// # Errors
    /// If elements have no size, or a register names resources that cannot be one.
    pub fn of(program: &Program, entry: &EntryPoint) -> Result<Vec<Resource>, InvalidInput> {
        let mut layouts = Layouts::default();
        let mut resources: Vec<Resource> = Vec::new();
        for item in &entry.inputs {
            let Some((Semantic::Register(register, space), _)) = item.semantic else { continue };
            let name = item.name.map_or("", |n| program.env.names.name(n)).to_string();
            let contents = match program.env.types.get(item.ty) {
                Type::ArrayReference(space, element) => {
                    let words = layouts.of(&program.env, element).and_then(|l| u32::try_from(l.size / 4).ok()).filter(|&n| n > 0);
                    let Some(stride) = words else {
                        return Err(InvalidInput::new(
                            InputFault::Type,
                            format!("the elements of `{name}` have the type {}, which takes no memory", program.env.type_name(element)),
                        ));
                    };
                    ResourceContents::Buffer(Buffer { space, element, stride, words: Vec::new(), others: Vec::new() })
                }
                Type::Texture(kind, texel) => ResourceContents::Texture(Textured { kind, texel, texture: None }),
                Type::Sampler => ResourceContents::Sampler(None),
                _ => {
                    return Err(InvalidInput::new(
                        InputFault::Unsupported,
                        format!("`{name}` is a {}, which dispatches do not bind", program.env.type_name(item.ty)),
                    ));
                }
            };
            let register = register_text(program, register, space);
            let next = Resource { name, register, contents, others: Vec::new() };
            match resources.iter_mut().find(|r| r.register == next.register) {
                None => resources.push(next),
                Some(first) => first.join(&next, program)?,
            }
        }
        Ok(resources)
    }

    /// Adds another argument with the same register to the resource. Array references may have
    /// elements of different types. Each then has as many elements as there is room for.
    ///
    /// # Errors
    /// If the two cannot be one resource.
    pub(in crate::wsl) fn join(&mut self, next: &Resource, program: &Program) -> Result<(), InvalidInput> {
        let compatible = match (&mut self.contents, &next.contents) {
            (ResourceContents::Buffer(a), ResourceContents::Buffer(b)) if a.space == b.space => {
                for other in [(b.element, b.stride)].iter().chain(&b.others) {
                    if other.0 != a.element && !a.others.contains(other) {
                        a.others.push(*other);
                    }
                }
                true
            }
            (ResourceContents::Texture(a), ResourceContents::Texture(b)) => (a.kind, a.texel) == (b.kind, b.texel),
            (ResourceContents::Sampler(_), ResourceContents::Sampler(_)) => true,
            _ => false,
        };
        if !compatible {
            let (first, before, after) = (&self.name, self.contents.type_text(program), next.contents.type_text(program));
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("`{first}` is {before} and `{}` is {after}, and both are in {}", next.name, next.register),
            ));
        }
        for name in [&next.name].into_iter().chain(&next.others) {
            if !self.is_called(name) {
                self.others.push(name.clone());
            }
        }
        Ok(())
    }

    /// The buffer of an array reference. `None` for other resources.
    pub fn buffer(&self) -> Option<&Buffer> {
        match &self.contents {
            ResourceContents::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Whether threads can store to it.
    pub fn is_writable(&self) -> bool {
        match &self.contents {
            ResourceContents::Buffer(buffer) => buffer.space == AddressSpace::Device,
            ResourceContents::Texture(texture) => is_writable(texture.kind),
            ResourceContents::Sampler(_) => false,
        }
    }

    /// The texture and the type of its texels, if one is bound.
    pub fn texture(&self) -> Option<(&Texture, TypeId)> {
        match &self.contents {
            ResourceContents::Texture(Textured { texture: Some(texture), texel, .. }) => Some((texture, *texel)),
            _ => None,
        }
    }

    /// Whether a program uses this name for it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.others.iter().any(|other| other == name)
    }

    /// Sets the words of an array reference.
    pub fn fill(&mut self, words: &[u32]) {
        if let ResourceContents::Buffer(buffer) = &mut self.contents {
            buffer.words = words.to_vec();
        }
    }

    /// The object that stands for the resource.
    fn object(&self, opens: &mut OpenTerms) -> Object {
        let (space, words) = match &self.contents {
            ResourceContents::Buffer(buffer) => (buffer.space, buffer.words.iter().map(|&w| Word::Bits(w)).collect()),
            ResourceContents::Texture(Textured { texture: Some(texture), kind, .. }) if is_writable(*kind) => {
                (AddressSpace::Device, texture.words(opens))
            }
            ResourceContents::Texture(_) | ResourceContents::Sampler(_) => (AddressSpace::Constant, Vec::new()),
        };
        Object { space, name: self.name.clone(), words }
    }

    /// The texture or sampler that its object stands for. `None` for buffers.
    pub(super) fn opaque(&self) -> Option<Opaque> {
        match &self.contents {
            ResourceContents::Buffer(_) => None,
            ResourceContents::Texture(textured) => textured.texture.clone().map(Opaque::Texture),
            ResourceContents::Sampler(sampler) => sampler.map(Opaque::Sampler),
        }
    }
}

/// Adds an object for each resource, in order. They are the first objects of memory.
pub(in crate::wsl) fn push(resources: &[Resource], memory: &mut Memory, opens: &mut OpenTerms) {
    // Choices for undefined contents before the first step belong to no thread.
    opens.thread = u32::MAX;
    let mut opaques = FxHashMap::default();
    for resource in resources {
        let object = memory.push(resource.object(opens));
        opaques.extend(resource.opaque().map(|opaque| (object, opaque)));
    }
    memory.opaques.by_object = opaques.into();
}

fn register_text(program: &Program, register: crate::text::Symbol, space: Option<crate::text::Symbol>) -> String {
    let register = program.env.names.name(register);
    match space {
        None => register.to_string(),
        Some(space) => format!("{register}, {}", program.env.names.name(space)),
    }
}

/// Whether a text is that of [`register_text`]. This is asked for each thread, so it
/// allocates nothing.
fn is_register_text(program: &Program, text: &str, register: crate::text::Symbol, space: Option<crate::text::Symbol>) -> bool {
    let Some(rest) = text.strip_prefix(program.env.names.name(register)) else { return false };
    match space {
        None => rest.is_empty(),
        Some(space) => rest.strip_prefix(", ") == Some(program.env.names.name(space)),
    }
}

impl Dispatch<'_> {
    /// The arguments of one thread, from its group, its place in the group, and its index there.
    pub(in crate::wsl) fn arguments(&self, shared: &Shared, group: [u32; 3], position: [u32; 3], index: u32) -> Vec<Value> {
        let size = self.size();
        let builtin = |semantic| -> Vec<u32> {
            let global = |k: usize| group[k].wrapping_mul(size[k]).wrapping_add(position[k]);
            match semantic {
                BuiltinSemantic::DispatchThreadId => vec![global(0), global(1), global(2), 0],
                BuiltinSemantic::GroupId => vec![group[0], group[1], group[2], 0],
                BuiltinSemantic::GroupThreadId => vec![position[0], position[1], position[2], 0],
                BuiltinSemantic::GroupIndex => vec![index],
                _ => vec![0],
            }
        };
        let function = self.program.env.function(self.entry.function);
        let mut values: Vec<Value> = function
            .parameters
            .iter()
            .map(|p| Value { ty: p.ty, words: Words::from_elem(Word::Bits(0), shared.words(p.ty).unwrap_or(0) as usize) })
            .collect();
        for item in &self.entry.inputs {
            let words: Words = match item.semantic {
                Some((Semantic::Builtin(semantic), _)) => builtin(semantic).into_iter().map(Word::Bits).collect(),
                _ => match bound(self.program, &self.resources, item) {
                    Some(words) => words,
                    None => continue,
                },
            };
            let Some(parameter) = item.parameter else { continue };
            let value = &mut values[parameter as usize];
            let at = offset(self.program, shared, item, value.ty) as usize / 4;
            if let Some(place) = value.words.get_mut(at..at + words.len()) {
                place.copy_from_slice(&words);
            }
        }
        values
    }
}

/// The words of the resource of an item, where resource k is object k. `None` if the item is no
/// resource, or is not among these.
pub(in crate::wsl) fn bound(program: &Program, resources: &[Resource], item: &Item) -> Option<Words> {
    let Some((Semantic::Register(register, space), _)) = item.semantic else { return None };
    let k = resources.iter().position(|r| is_register_text(program, &r.register, register, space))?;
    let address = Word::Address(Address::of(ObjectId(k as u32), 0));
    Some(match resources[k].buffer() {
        Some(buffer) => {
            let other =
                |&&(element, _): &&(TypeId, u32)| matches!(program.env.types.get(item.ty), Type::ArrayReference(_, of) if of == element);
            let stride = buffer.others.iter().find(other).map_or(buffer.stride, |(_, stride)| *stride);
            let elements = buffer.words.len() as u32 / stride.max(1);
            Words::from_slice(&[address, Word::Bits(elements), Word::Bits(0), Word::Bits(0)])
        }
        None => Words::from_slice(&[address, Word::Bits(0)]),
    })
}

/// The offset of an item in its parameter or in the result of its entry point, in bytes.
pub(in crate::wsl) fn offset(program: &Program, shared: &Shared, item: &Item, mut ty: TypeId) -> u32 {
    let mut at = 0;
    for &field in &item.path {
        let Type::Struct(StructId(s)) = program.env.types.get(ty) else { break };
        at += shared.field(StructId(s), field);
        ty = program.env.structure(StructId(s)).fields[field as usize].ty;
    }
    at
}
