//! What a compute entry point takes: built-in variables and resources (seed 004 "Built-in Variables", "Arguments and Return Types").

use super::Dispatch;
use crate::image::Sampler;
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::Semantic;
use crate::wsl::execution::Shared;
use crate::wsl::execution::term::Value;
use crate::wsl::layout::Layouts;
use crate::wsl::memory::{Address, Object, ObjectId, Words};
use crate::wsl::open::{Opens, Word};
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic};
use crate::wsl::texture::{Opaque, Texture, is_writable};
use crate::wsl::types::{StructId, TextureKind, Type, TypeId};
use crate::wsl::typing::program::Program;

/// What an array reference among the resources refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name in the program.
    pub name: String,
    /// Its register, as `u0` or `u0, space1`.
    pub register: String,
    /// Its address space.
    pub space: AddressSpace,
    /// The type of its elements.
    pub element: TypeId,
    /// How many words an element takes.
    pub stride: u32,
    /// What it holds.
    pub words: Vec<u32>,
}

/// A texture among the resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Textured {
    /// Its name in the program.
    pub name: String,
    /// Its register, as `t0` or `t0, space1`.
    pub register: String,
    /// Its kind.
    pub kind: TextureKind,
    /// The type of its texels.
    pub texel: TypeId,
    /// What is bound.
    pub texture: Option<Texture>,
}

/// A sampler among the resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Its name in the program.
    pub name: String,
    /// Its register, as `s0` or `s0, space1`.
    pub register: String,
    /// What is bound.
    pub sampler: Option<Sampler>,
}

/// What an entry point takes by a register.
#[derive(Clone, Debug, PartialEq)]
pub enum Resource {
    /// An array reference.
    Buffer(Buffer),
    /// A texture.
    Texture(Textured),
    /// A sampler.
    Sampler(Sampled),
}

/// Why resources cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl Buffer {
    /// [`Resource::of`] of an entry point that takes array references only.
    ///
    /// # Errors
    /// Those, and if it takes textures or samplers.
    pub fn of(program: &Program, entry: &EntryPoint) -> Result<Vec<Buffer>, Wrong> {
        let buffer = |resource| match resource {
            Resource::Buffer(buffer) => Ok(buffer),
            other => Err(Wrong(format!("`{}` ({}) is no array reference", other.name(), other.register()))),
        };
        Resource::of(program, entry)?.into_iter().map(buffer).collect()
    }
}

impl Resource {
    /// The resources that an entry point takes, empty, in the order of its arguments; a register that several arguments name is one resource.
    ///
    /// # Errors
    /// If it takes elements without a size, or by one register resources of different kinds.
    pub fn of(program: &Program, entry: &EntryPoint) -> Result<Vec<Resource>, Wrong> {
        let mut layouts = Layouts::default();
        let mut resources: Vec<Resource> = Vec::new();
        for item in &entry.inputs {
            let Some((Semantic::Register(register, space), _)) = item.semantic else { continue };
            let name = item.name.map_or("", |n| program.env.names.name(n)).to_string();
            let register = register_text(program, register, space);
            let resource = match program.env.types.get(item.ty) {
                Type::ArrayReference(space, element) => {
                    let words = layouts.of(&program.env, element).and_then(|l| u32::try_from(l.size / 4).ok()).filter(|&n| n > 0);
                    let Some(stride) = words else {
                        return Err(Wrong(format!(
                            "the elements of `{name}` have the type {}, which takes no memory",
                            program.env.type_name(element)
                        )));
                    };
                    Resource::Buffer(Buffer { name, register, space, element, stride, words: Vec::new() })
                }
                Type::Texture(kind, texel) => Resource::Texture(Textured { name, register, kind, texel, texture: None }),
                Type::Sampler => Resource::Sampler(Sampled { name, register, sampler: None }),
                _ => return Err(Wrong(format!("`{name}` is a {}, which dispatches do not bind", program.env.type_name(item.ty)))),
            };
            match resources.iter().find(|r| r.register() == resource.register()) {
                None => resources.push(resource),
                Some(other) if std::mem::discriminant(other) == std::mem::discriminant(&resource) => {}
                Some(other) => {
                    let (first, second) = (other.name(), resource.name());
                    return Err(Wrong(format!("`{first}` and `{second}` are of different types, and both in {}", resource.register())));
                }
            }
        }
        Ok(resources)
    }

    /// Its name in the program.
    pub fn name(&self) -> &str {
        match self {
            Resource::Buffer(Buffer { name, .. }) | Resource::Texture(Textured { name, .. }) | Resource::Sampler(Sampled { name, .. }) => {
                name
            }
        }
    }

    /// Its register, as `u0` or `u0, space1`.
    pub fn register(&self) -> &str {
        match self {
            Resource::Buffer(Buffer { register, .. })
            | Resource::Texture(Textured { register, .. })
            | Resource::Sampler(Sampled { register, .. }) => register,
        }
    }

    /// The array reference, if it is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Resource::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// The texture and the type of its texels, if it is one and something is bound.
    pub fn texture(&self) -> Option<(&Texture, TypeId)> {
        match self {
            Resource::Texture(Textured { texture: Some(texture), texel, .. }) => Some((texture, *texel)),
            _ => None,
        }
    }

    /// The object that stands for it.
    pub(super) fn object(&self, opens: &mut Opens) -> Object {
        let (space, words) = match self {
            Resource::Buffer(buffer) => (buffer.space, buffer.words.iter().map(|&w| Word::Bits(w)).collect()),
            Resource::Texture(Textured { texture: Some(texture), kind, .. }) if is_writable(*kind) => {
                (AddressSpace::Device, texture.words(opens))
            }
            Resource::Texture(_) | Resource::Sampler(_) => (AddressSpace::Constant, Vec::new()),
        };
        Object { space, name: self.name().into(), words }
    }

    /// What its object stands for, if that alone does not say.
    pub(super) fn opaque(&self) -> Option<Opaque> {
        match self {
            Resource::Buffer(_) => None,
            Resource::Texture(textured) => textured.texture.clone().map(Opaque::Texture),
            Resource::Sampler(sampled) => sampled.sampler.map(Opaque::Sampler),
        }
    }
}

fn register_text(program: &Program, register: crate::text::Symbol, space: Option<crate::text::Symbol>) -> String {
    let register = program.env.names.name(register);
    match space {
        None => register.to_string(),
        Some(space) => format!("{register}, {}", program.env.names.name(space)),
    }
}

impl Dispatch<'_> {
    /// The arguments of one thread: its group, its place in it, and its index there.
    pub(super) fn arguments(&self, shared: &Shared, group: [u32; 3], inside: [u32; 3], index: u32) -> Vec<Value> {
        let size = self.size();
        let builtin = |semantic| -> Vec<u32> {
            let global = |k: usize| group[k].wrapping_mul(size[k]).wrapping_add(inside[k]);
            match semantic {
                BuiltinSemantic::DispatchThreadId => vec![global(0), global(1), global(2), 0],
                BuiltinSemantic::GroupId => vec![group[0], group[1], group[2], 0],
                BuiltinSemantic::GroupThreadId => vec![inside[0], inside[1], inside[2], 0],
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
                Some((Semantic::Register(register, space), _)) => {
                    let register = register_text(self.program, register, space);
                    let Some(k) = self.resources.iter().position(|r| r.register() == register) else { continue };
                    let address = Word::Address(Address::of(ObjectId(k as u32), 0));
                    match self.resources[k].buffer() {
                        Some(buffer) => {
                            let elements = buffer.words.len() as u32 / buffer.stride.max(1);
                            Words::from_slice(&[address, Word::Bits(elements), Word::Bits(0), Word::Bits(0)])
                        }
                        None => Words::from_slice(&[address, Word::Bits(0)]),
                    }
                }
                _ => continue,
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

/// Where an item is in its parameter, in bytes.
fn offset(program: &Program, shared: &Shared, item: &Item, mut ty: TypeId) -> u32 {
    let mut at = 0;
    for &field in &item.path {
        let Type::Struct(StructId(s)) = program.env.types.get(ty) else { break };
        at += shared.field(StructId(s), field);
        ty = program.env.structure(StructId(s)).fields[field as usize].ty;
    }
    at
}
