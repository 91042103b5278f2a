//! The sections of a module and its declarations: types, constants and variables. Each is declared
//! once, and only if it is used.

use super::layout::{align, offsets, size, stride};
use super::tree::{Builtin, Module, Scalar, Type};
use rspirv::spirv::{self, Capability, Decoration, ExecutionMode, ExecutionModel, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::write::{Code, Id, string};
use std::collections::BTreeSet;

/// The number of words in a module's header, SPIR-V §2.3.
pub(super) const HEADER: usize = 5;

/// The buffers. Their order gives their bindings in set 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Buffer {
    /// Words that the module reads.
    Input,
    /// Words that the module writes.
    Output,
    /// A structure that the module reads.
    Table,
    /// Words that the counters use.
    Counters,
}

/// The key of a declared type: a type of the tree, or one that only lowering uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Void,
    Float,
    /// A type of values. True if it has explicit layout.
    Value(Type, bool),
    /// A structure with two members of one type: the result of OpIAddCarry and
    /// similar instructions.
    Pair(Type),
    /// The Block structure around a runtime array of words.
    Words,
    Pointer(u32, Id),
    Function(Vec<Id>),
    /// An array of this element type and length, without layout.
    Array(Id, u32),
}

/// A module under construction.
pub(super) struct Emit {
    next: Id,
    capabilities: BTreeSet<u32>,
    glsl: Option<Id>,
    decorations: Code,
    globals: Code,
    /// The functions written so far.
    pub code: Code,
    types: FxHashMap<Key, Id>,
    constants: FxHashMap<(Id, Vec<u32>), Id>,
    builtins: FxHashMap<spirv::BuiltIn, Id>,
    buffers: FxHashMap<Buffer, Id>,
    interface: Vec<(Id, StorageClass)>,
    minor: u8,
    table: Type,
    /// How often an invocation is expected to run the current code.
    pub weight: f64,
    /// The number of instructions of the current function that an invocation is expected to run.
    pub executed: f64,
}

impl Emit {
    pub fn new(module: &Module) -> Emit {
        Emit {
            next: 1,
            capabilities: BTreeSet::from([Capability::Shader as u32]),
            glsl: None,
            decorations: Code::default(),
            globals: Code::default(),
            code: Code::default(),
            types: FxHashMap::default(),
            constants: FxHashMap::default(),
            builtins: FxHashMap::default(),
            buffers: FxHashMap::default(),
            interface: Vec::new(),
            minor: module.minor,
            table: module.table.clone(),
            weight: 1.0,
            executed: 0.0,
        }
    }

    /// A new id.
    pub fn id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// Emits an instruction with a result.
    pub fn op(&mut self, op: spirv::Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        self.executed += self.weight;
        self.code.push_with(op, &[ty, id], operands);
        id
    }

    /// Emits an instruction without a result.
    pub fn act(&mut self, op: spirv::Op, operands: &[u32]) {
        self.executed += self.weight;
        self.code.push(op, operands);
    }

    /// Emits an instruction of GLSL.std.450.
    pub fn ext(&mut self, ty: Id, instruction: spirv::GlslStd450Op, operands: &[Id]) -> Id {
        let set = self.glsl();
        let words: Vec<u32> = [set, instruction as u32].into_iter().chain(operands.iter().copied()).collect();
        self.op(spirv::Op::ExtInst, ty, &words)
    }

    fn glsl(&mut self) -> Id {
        if self.glsl.is_none() {
            self.glsl = Some(self.id());
        }
        self.glsl.unwrap_or_default()
    }

    fn declare(&mut self, key: Key, op: spirv::Op, operands: &[u32]) -> Id {
        let id = self.id();
        self.globals.push_with(op, &[id], operands);
        self.types.insert(key, id);
        id
    }

    /// OpTypeVoid.
    pub fn void(&mut self) -> Id {
        let known = self.types.get(&Key::Void).copied();
        known.unwrap_or_else(|| self.declare(Key::Void, spirv::Op::TypeVoid, &[]))
    }

    /// OpTypeFloat 32.
    pub fn float(&mut self) -> Id {
        let known = self.types.get(&Key::Float).copied();
        known.unwrap_or_else(|| self.declare(Key::Float, spirv::Op::TypeFloat, &[32]))
    }

    /// The id of a type of values, without explicit layout.
    pub fn ty(&mut self, ty: &Type) -> Id {
        self.type_with_layout(ty, false)
    }

    /// The id of a type of values, with explicit layout or without.
    fn type_with_layout(&mut self, ty: &Type, explicit: bool) -> Id {
        // Scalars and vectors have no layout of their own.
        let explicit = explicit && ty.scalar().is_none();
        let key = Key::Value(ty.clone(), explicit);
        if let Some(&id) = self.types.get(&key) {
            return id;
        }
        match ty {
            Type::Scalar(Scalar::Bool) => self.declare(key, spirv::Op::TypeBool, &[]),
            Type::Scalar(Scalar::Int { width, signed }) => {
                match width {
                    8 => drop(self.capabilities.insert(Capability::Int8 as u32)),
                    16 => drop(self.capabilities.insert(Capability::Int16 as u32)),
                    64 => drop(self.capabilities.insert(Capability::Int64 as u32)),
                    _ => {}
                }
                self.declare(key, spirv::Op::TypeInt, &[u32::from(*width), u32::from(*signed)])
            }
            Type::Vector(scalar, n) => {
                let component_type = self.ty(&Type::Scalar(*scalar));
                self.declare(key, spirv::Op::TypeVector, &[component_type, u32::from(*n)])
            }
            Type::Array(element, n) => {
                let element_type = self.type_with_layout(element, explicit);
                let length = self.uint(*n);
                let id = self.declare(key, spirv::Op::TypeArray, &[element_type, length]);
                if explicit {
                    self.decorate(id, Decoration::ArrayStride, &[stride(element)]);
                }
                id
            }
            Type::Struct(members) => {
                let member_types: Vec<Id> = members.iter().map(|member| self.type_with_layout(member, explicit)).collect();
                let id = self.declare(key, spirv::Op::TypeStruct, &member_types);
                if explicit {
                    self.offsets(id, members);
                }
                id
            }
        }
    }

    fn offsets(&mut self, id: Id, members: &[Type]) {
        for (i, offset) in offsets(members).into_iter().enumerate() {
            self.decorations.push(spirv::Op::MemberDecorate, &[id, i as u32, Decoration::Offset as u32, offset]);
        }
    }

    pub fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        self.decorations.push_with(spirv::Op::Decorate, &[id, decoration as u32], operands);
    }

    /// A structure with two members of one type.
    pub fn pair(&mut self, ty: &Type) -> Id {
        let key = Key::Pair(ty.clone());
        if let Some(&id) = self.types.get(&key) {
            return id;
        }
        let member_type = self.ty(ty);
        self.declare(key, spirv::Op::TypeStruct, &[member_type, member_type])
    }

    /// An array of `n` values, without layout.
    pub fn array_type(&mut self, ty: &Type, n: u32) -> Id {
        let element_type = self.ty(ty);
        let key = Key::Array(element_type, n);
        if let Some(&id) = self.types.get(&key) {
            return id;
        }
        let length = self.uint(n);
        self.declare(key, spirv::Op::TypeArray, &[element_type, length])
    }

    /// The pointer type of a storage class and a pointee type.
    pub fn pointer(&mut self, class: StorageClass, to: Id) -> Id {
        let key = Key::Pointer(class as u32, to);
        let known = self.types.get(&key).copied();
        known.unwrap_or_else(|| self.declare(key, spirv::Op::TypePointer, &[class as u32, to]))
    }

    /// The function type with this result (first) and these parameters.
    pub fn function_type(&mut self, types: &[Id]) -> Id {
        let key = Key::Function(types.to_vec());
        let known = self.types.get(&key).copied();
        known.unwrap_or_else(|| self.declare(key, spirv::Op::TypeFunction, types))
    }

    /// A 32-bit unsigned constant.
    pub fn uint(&mut self, value: u32) -> Id {
        self.constant(&Type::UINT, &[u64::from(value)])
    }

    /// A 32-bit float constant, by its bits.
    pub fn float_constant(&mut self, bits: u32) -> Id {
        let ty = self.float();
        self.constant_words(spirv::Op::Constant, ty, &[bits])
    }

    /// A constant whose scalars all have these bits, truncated to their width.
    pub fn splat(&mut self, ty: &Type, bits: u64) -> Id {
        self.constant(ty, &vec![bits; ty.scalars()])
    }

    /// A constant, given by its scalars in order.
    pub fn constant(&mut self, ty: &Type, scalars: &[u64]) -> Id {
        let id = self.ty(ty);
        match ty {
            Type::Scalar(Scalar::Bool) => {
                let op = if scalars[0] & 1 == 1 { spirv::Op::ConstantTrue } else { spirv::Op::ConstantFalse };
                // This operand, which no other constant has, distinguishes the keys of true
                // and false.
                self.constant_as(op, id, &[], &[op as u32, u32::MAX])
            }
            Type::Scalar(scalar) => {
                let bits = scalars[0] & scalar.mask();
                let words = literal(*scalar, bits);
                self.constant_words(spirv::Op::Constant, id, &words)
            }
            _ if ty.scalar().is_none() && scalars.iter().all(|&s| s == 0) => {
                self.constant_as(spirv::Op::ConstantNull, id, &[], &[u32::MAX])
            }
            _ => {
                let mut at = 0;
                let mut parts = Vec::new();
                for i in 0..ty.parts() {
                    let part = ty.part(i).unwrap_or(Type::UINT);
                    let n = part.scalars();
                    parts.push(self.constant(&part, &scalars[at..at + n]));
                    at += n;
                }
                self.constant_words(spirv::Op::ConstantComposite, id, &parts)
            }
        }
    }

    fn constant_words(&mut self, op: spirv::Op, ty: Id, words: &[u32]) -> Id {
        self.constant_as(op, ty, words, words)
    }

    fn constant_as(&mut self, op: spirv::Op, ty: Id, words: &[u32], key: &[u32]) -> Id {
        let key = (ty, key.to_vec());
        if let Some(&id) = self.constants.get(&key) {
            return id;
        }
        let id = self.id();
        self.globals.push_with(op, &[ty, id], words);
        self.constants.insert(key, id);
        id
    }

    /// Declares a variable outside of functions.
    pub fn global(&mut self, class: StorageClass, ty: Id, first: Option<Id>) -> Id {
        let pointer = self.pointer(class, ty);
        let id = self.id();
        let first: Vec<u32> = first.into_iter().collect();
        self.globals.push_with(spirv::Op::Variable, &[pointer, id, class as u32], &first);
        self.interface.push((id, class));
        id
    }

    /// The value of a built-in input.
    pub fn builtin(&mut self, builtin: Builtin) -> Id {
        let (name, component) = match builtin {
            Builtin::LocalIndex => (spirv::BuiltIn::LocalInvocationIndex, None),
            Builtin::Global(i) => (spirv::BuiltIn::GlobalInvocationId, Some(i)),
            Builtin::Local(i) => (spirv::BuiltIn::LocalInvocationId, Some(i)),
            Builtin::Group(i) => (spirv::BuiltIn::WorkgroupId, Some(i)),
            Builtin::Groups(i) => (spirv::BuiltIn::NumWorkgroups, Some(i)),
        };
        let ty = self.ty(&Type::lanes(super::tree::UINT, if component.is_some() { 3 } else { 1 }));
        let variable = match self.builtins.get(&name) {
            Some(&variable) => variable,
            None => {
                let variable = self.global(StorageClass::Input, ty, None);
                self.decorate(variable, Decoration::BuiltIn, &[name as u32]);
                self.builtins.insert(name, variable);
                variable
            }
        };
        let value = self.op(spirv::Op::Load, ty, &[variable]);
        match component {
            None => value,
            Some(i) => {
                let uint = self.ty(&Type::UINT);
                self.op(spirv::Op::CompositeExtract, uint, &[value, u32::from(i)])
            }
        }
    }

    /// The variable of a buffer.
    pub fn buffer(&mut self, buffer: Buffer) -> Id {
        if let Some(&id) = self.buffers.get(&buffer) {
            return id;
        }
        let ty = if buffer == Buffer::Table { self.table_block() } else { self.words_block() };
        let id = self.global(StorageClass::StorageBuffer, ty, None);
        self.decorate(id, Decoration::DescriptorSet, &[0]);
        self.decorate(id, Decoration::Binding, &[buffer as u32]);
        if matches!(buffer, Buffer::Input | Buffer::Table) {
            self.decorate(id, Decoration::NonWritable, &[]);
        }
        self.buffers.insert(buffer, id);
        id
    }

    /// Whether the module uses a buffer.
    pub fn uses(&self, buffer: Buffer) -> bool {
        self.buffers.contains_key(&buffer)
    }

    fn words_block(&mut self) -> Id {
        if let Some(&id) = self.types.get(&Key::Words) {
            return id;
        }
        let uint = self.ty(&Type::UINT);
        let array = self.id();
        self.globals.push(spirv::Op::TypeRuntimeArray, &[array, uint]);
        self.decorate(array, Decoration::ArrayStride, &[4]);
        let block = self.declare(Key::Words, spirv::Op::TypeStruct, &[array]);
        self.offsets(block, &[Type::UINT]);
        self.decorate(block, Decoration::Block, &[]);
        block
    }

    fn table_block(&mut self) -> Id {
        let Type::Struct(members) = self.table.clone() else { unreachable!("the table is a structure") };
        let member_types: Vec<Id> = members.iter().map(|member| self.type_with_layout(member, true)).collect();
        let id = self.id();
        self.globals.push_with(spirv::Op::TypeStruct, &[id], &member_types);
        self.offsets(id, &members);
        self.decorate(id, Decoration::Block, &[]);
        id
    }

    /// A pointer to a word of a buffer, at this index.
    pub fn word(&mut self, buffer: Buffer, index: Id) -> Id {
        let variable = self.buffer(buffer);
        let uint = self.ty(&Type::UINT);
        let pointer = self.pointer(StorageClass::StorageBuffer, uint);
        let zero = self.uint(0);
        self.op(spirv::Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// Loads a value of type `ty` from the table, at the end of an access chain.
    pub fn table(&mut self, ty: &Type, indices: &[Id]) -> Id {
        let variable = self.buffer(Buffer::Table);
        let laid_out_type = self.type_with_layout(ty, true);
        let pointer = self.pointer(StorageClass::StorageBuffer, laid_out_type);
        let words: Vec<u32> = [variable].into_iter().chain(indices.iter().copied()).collect();
        let chain = self.op(spirv::Op::AccessChain, pointer, &words);
        let value = self.op(spirv::Op::Load, laid_out_type, &[chain]);
        if ty.scalar().is_some() {
            return value;
        }
        let type_without_layout = self.ty(ty);
        self.op(spirv::Op::CopyLogical, type_without_layout, &[value])
    }

    /// The words of the finished module, and the number of instructions before the functions.
    pub fn finish(mut self, entry: Id, name: &str, local_size: [u32; 3]) -> (Vec<u32>, usize) {
        let mut head = Code::default();
        for &capability in &self.capabilities {
            head.push(spirv::Op::Capability, &[capability]);
        }
        if let Some(set) = self.glsl {
            head.push_with(spirv::Op::ExtInstImport, &[set], &string("GLSL.std.450"));
        }
        head.push(spirv::Op::MemoryModel, &[spirv::AddressingModel::Logical as u32, spirv::MemoryModel::GLSL450 as u32]);
        let lists_every_variable = self.minor >= 4;
        let interface_ids =
            self.interface.iter().filter(|(_, class)| lists_every_variable || *class == StorageClass::Input).map(|(id, _)| *id);
        let name_and_interface: Vec<u32> = string(name).into_iter().chain(interface_ids).collect();
        head.push_with(spirv::Op::EntryPoint, &[ExecutionModel::GLCompute as u32, entry], &name_and_interface);
        let [x, y, z] = local_size;
        head.push(spirv::Op::ExecutionMode, &[entry, ExecutionMode::LocalSize as u32, x, y, z]);
        head.append(&self.decorations);
        head.append(&self.globals);
        let before = head.instructions;
        let mut words = Vec::with_capacity(HEADER + head.words.len() + self.code.words.len());
        words.extend([spirv::MAGIC_NUMBER, 0x1_0000 | u32::from(self.minor) << 8, 0, self.id(), 0]);
        words.extend(head.words);
        words.extend(self.code.words);
        (words, before)
    }
}

/// The words of an integer literal: SPIR-V §2.2.1. Narrower types are sign-extended to a word.
pub(super) fn literal(scalar: Scalar, bits: u64) -> Vec<u32> {
    let width = scalar.width();
    match width {
        64 => vec![bits as u32, (bits >> 32) as u32],
        32 => vec![bits as u32],
        _ if scalar.signed() => vec![((bits << (64 - width)) as i64 >> (64 - width)) as u32],
        _ => vec![bits as u32],
    }
}

/// The contents of the table's buffer. The scalars are at their offsets. The padding, which nothing
/// reads, has a fixed pattern.
pub(super) fn table_buffer(module: &Module) -> Vec<u32> {
    let bytes = size(&module.table).next_multiple_of(align(&module.table));
    let mut words = vec![0xA5A5_5A5A; bytes as usize / 4];
    let mut scalars = module.table_words.iter().copied();
    place(&module.table, 0, &mut words, &mut scalars);
    words
}

fn place(ty: &Type, at: u32, words: &mut [u32], scalars: &mut impl Iterator<Item = u32>) {
    match ty {
        Type::Scalar(_) => words[at as usize / 4] = scalars.next().unwrap_or(0),
        Type::Vector(_, n) => (0..u32::from(*n)).for_each(|i| words[(at / 4 + i) as usize] = scalars.next().unwrap_or(0)),
        Type::Array(element, n) => (0..*n).for_each(|i| place(element, at + i * stride(element), words, scalars)),
        Type::Struct(members) => {
            members.iter().zip(offsets(members)).for_each(|(member, offset)| place(member, at + offset, words, scalars))
        }
    }
}
