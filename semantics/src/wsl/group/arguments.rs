//! What a compute entry point takes: built-in variables and resources (seed 004 "Built-in Variables", "Arguments and Return Types").

use super::Dispatch;
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::Semantic;
use crate::wsl::execution::Shared;
use crate::wsl::execution::term::Value;
use crate::wsl::layout::Layouts;
use crate::wsl::memory::{Address, ObjectId, Words};
use crate::wsl::open::Word;
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic};
use crate::wsl::types::{StructId, Type, TypeId};
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

/// Why resources cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl Buffer {
    /// The buffers that an entry point takes, empty, in the order of its arguments; a register that several arguments name is one buffer.
    ///
    /// # Errors
    /// If it takes a texture or a sampler, which dispatches do not have yet, or elements without a size.
    pub fn of(program: &Program, entry: &EntryPoint) -> Result<Vec<Buffer>, Wrong> {
        let mut layouts = Layouts::default();
        let mut buffers: Vec<Buffer> = Vec::new();
        for item in &entry.inputs {
            let Some((Semantic::Register(register, space), _)) = item.semantic else { continue };
            let name = item.name.map_or("", |n| program.env.names.name(n)).to_string();
            let (address, element) = match program.env.types.get(item.ty) {
                Type::ArrayReference(space, of) => (space, of),
                _ => return Err(Wrong(format!("`{name}` is a {}, which dispatches do not bind", program.env.type_name(item.ty)))),
            };
            let register = register_text(program, register, space);
            if buffers.iter().any(|b| b.register == register) {
                continue;
            }
            let words = layouts.of(&program.env, element).and_then(|l| u32::try_from(l.size / 4).ok()).filter(|&n| n > 0);
            let Some(stride) = words else {
                return Err(Wrong(format!(
                    "the elements of `{name}` have the type {}, which takes no memory",
                    program.env.type_name(element)
                )));
            };
            buffers.push(Buffer { name, register, space: address, element, stride, words: Vec::new() });
        }
        Ok(buffers)
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
                _ => match bound(self.program, &self.buffers, item) {
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

/// The resource that an item is, where buffer k is object k; none if it is none, or not among them.
pub(in crate::wsl) fn bound(program: &Program, buffers: &[Buffer], item: &Item) -> Option<Words> {
    let Some((Semantic::Register(register, space), _)) = item.semantic else { return None };
    let register = register_text(program, register, space);
    let k = buffers.iter().position(|b| b.register == register)?;
    let elements = buffers[k].words.len() as u32 / buffers[k].stride.max(1);
    let address = Address::of(ObjectId(k as u32), 0);
    Some(Words::from_slice(&[Word::Address(address), Word::Bits(elements), Word::Bits(0), Word::Bits(0)]))
}

/// Where an item is in its parameter or in what its entry point returns, in bytes.
pub(in crate::wsl) fn offset(program: &Program, shared: &Shared, item: &Item, mut ty: TypeId) -> u32 {
    let mut at = 0;
    for &field in &item.path {
        let Type::Struct(StructId(s)) = program.env.types.get(ty) else { break };
        at += shared.field(StructId(s), field);
        ty = program.env.structure(StructId(s)).fields[field as usize].ty;
    }
    at
}
