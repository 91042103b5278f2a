//! A module's declarations: types on use, variables on use, functions that entry points reach
//! (seed 002, Overall flow; Mapping types; Mapping buffer types).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rspirv::spirv::{Decoration as Decorate, Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::module::{EntryPoint, Function, WHOLE};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::{MatrixLayout, Type};
use smallstep_semantics::spirv::words::string_at;
use smallstep_semantics::spirv::{Instruction, Module};

use super::function::Body;
use super::image::Handle;
use super::interface::Ports;
use super::layout::{Atomics, Key, PLAIN, Rep, Stored};
use super::names::Names;
use super::planted::Plan;
use super::specialization::Specialized;
use super::{Converted, Refused, Why};
use crate::compile::bindings::Place;

/// The most bytes of a converted module.
pub(super) const MAX_TEXT: usize = 64 << 20;

/// The most functions that are written: one that is called with different variables is written for
/// each.
const MAX_FUNCTIONS: usize = 4096;

/// A variable at module scope.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub(super) name: String,
    pub(super) stored: Rc<Stored>,
}

/// A function, and the variables that its pointer parameters are.
type Instance = (u32, Vec<Option<u32>>);

/// The conversion of a module.
pub(super) struct Convert<'m> {
    pub(super) module: &'m Module,
    pub(super) plan: Plan,
    pub(super) names: Names,
    pub(super) specialized: Specialized,
    pub(super) structs: String,
    pub(super) globals: String,
    functions: String,
    pub(super) stored_types: FxHashMap<Key, Rc<Stored>>,
    pub(super) wrappers: FxHashMap<String, String>,
    value_types: FxHashMap<u32, String>,
    value_structs: FxHashMap<u32, String>,
    members: FxHashMap<u32, Vec<String>>,
    pub(super) atomics: Atomics,
    pub(super) constants: FxHashMap<u32, String>,
    variables: FxHashMap<u32, Global>,
    /// By descriptor set and binding: the variable that is declared there.
    bound: FxHashMap<(u32, u32), Global>,
    op_names: FxHashMap<u32, String>,
    op_member_names: FxHashMap<(u32, u32), String>,
    instances: FxHashMap<Instance, String>,
    queue: Vec<(Instance, String)>,
    pub(super) helpers: BTreeSet<&'static str>,
    pub(super) half: bool,
    pub(super) notes: Vec<String>,
    /// The entry point that is being written.
    pub(super) entry: Option<EntryPoint>,
    /// Its interface.
    pub(super) ports: Ports,
    /// How textures and samplers are used, by variable.
    pub(super) textures: FxHashMap<u32, Handle>,
    pub(super) samplers: FxHashMap<u32, Handle>,
    /// The names of samplers, by variable.
    pub(super) sampler_names: FxHashMap<u32, String>,
    /// Where the samplers of combined image samplers go, once one is met.
    pub(super) split: Option<BTreeMap<Place, Place>>,
    /// Whether anything samples by derivatives.
    pub(super) derivatives: bool,
    /// The bytes of all references so far: each access chain spells its own.
    pub(super) spelled: usize,
}

impl<'m> Convert<'m> {
    /// A conversion that has not begun.
    pub(super) fn new(module: &'m Module, words: &[u32], plan: Plan) -> Convert<'m> {
        let (mut op_names, mut op_member_names) = (FxHashMap::default(), FxHashMap::default());
        for i in module.instructions() {
            let operands = i.operands(module.words());
            let text = |at: usize| {
                operands.get(at..).and_then(|words| string_at(words).ok()).map(|(text, _)| text).filter(|text| !text.is_empty())
            };
            match i.op {
                Op::Name => {
                    if let Some(text) = text(1) {
                        op_names.entry(operands[0]).or_insert(text);
                    }
                }
                Op::MemberName => {
                    if let Some(text) = text(2) {
                        op_member_names.entry((operands[0], operands[1])).or_insert(text);
                    }
                }
                Op::Function => break,
                _ => {}
            }
        }
        let mut notes = Vec::new();
        Convert {
            module,
            specialized: Specialized::of(words, &mut notes),
            plan,
            names: Names::new(),
            structs: String::new(),
            globals: String::new(),
            functions: String::new(),
            stored_types: FxHashMap::default(),
            wrappers: FxHashMap::default(),
            value_types: FxHashMap::default(),
            value_structs: FxHashMap::default(),
            members: FxHashMap::default(),
            atomics: Atomics::default(),
            constants: FxHashMap::default(),
            variables: FxHashMap::default(),
            bound: FxHashMap::default(),
            op_names,
            op_member_names,
            instances: FxHashMap::default(),
            queue: Vec::new(),
            helpers: BTreeSet::new(),
            half: false,
            notes,
            entry: None,
            ports: Ports::default(),
            textures: FxHashMap::default(),
            samplers: FxHashMap::default(),
            sampler_names: FxHashMap::default(),
            split: None,
            derivatives: false,
            spelled: 0,
        }
    }

    /// Converts the entry points, or the one of that name.
    pub(super) fn all(mut self, entry: Option<&str>) -> Result<Converted, Refused> {
        let entries: Vec<EntryPoint> =
            self.module.entry_points().iter().filter(|e| entry.is_none_or(|name| e.name == name)).cloned().collect();
        if entries.is_empty() {
            let what = match entry {
                Some(name) => format!("the module has no entry point called {name:?}"),
                None => "the module has no entry point".into(),
            };
            return Err(self.refused(Why::EntryPoint, what));
        }
        for entry in &entries {
            if !self.names.take(&entry.name) {
                let what = format!("the entry point {:?} has a name that WGSL cannot declare, or shares it with another", entry.name);
                return Err(self.refused(Why::EntryPoint, what));
            }
        }
        self.find_notes();
        self.find_atomics()?;
        self.find_handles();
        for entry in entries {
            let module = self.module;
            let Some(function) = module.function(entry.function) else {
                return Err(self.refused(Why::EntryPoint, format!("%{} is no function", entry.function)));
            };
            self.entry = Some(entry.clone());
            self.find_ports(&entry, function)?;
            let text = Body::write(&mut self, function, &entry.name, &[], Some(&entry))?;
            self.functions.push_str(&text);
            while let Some((instance, name)) = self.queue.pop() {
                let Some(function) = module.function(instance.0) else {
                    return Err(self.refused(Why::Instruction, format!("%{} is no function", instance.0)));
                };
                let text = Body::write(&mut self, function, &name, &instance.1, None)?;
                self.functions.push('\n');
                self.functions.push_str(&text);
                if self.functions.len() > MAX_TEXT {
                    return Err(self.refused(Why::Limit, format!("the text would have more than {MAX_TEXT} bytes")));
                }
            }
            self.functions.push('\n');
        }
        let mut text = String::new();
        if self.half {
            text.push_str("enable f16;\n\n");
        }
        if self.derivatives {
            // SPIR-V leaves derivatives undefined where WGSL would refuse the program.
            text.push_str("diagnostic(off, derivative_uniformity);\n\n");
        }
        text.push_str(&self.structs);
        if !self.globals.is_empty() {
            text.push_str(&self.globals);
            text.push('\n');
        }
        for helper in &self.helpers {
            text.push_str(helper);
            text.push('\n');
        }
        text.push_str(self.functions.trim_end());
        text.push('\n');
        Ok(Converted { text, notes: self.notes })
    }

    /// A refusal that no instruction is to blame for.
    pub(super) fn refused(&self, why: Why, what: String) -> Refused {
        Refused { why, what, instruction: None }
    }

    /// A refusal of an instruction.
    pub(super) fn refused_at(&self, i: &Instruction, why: Why, what: impl Into<String>) -> Refused {
        let index = self.module.instructions().partition_point(|other| other.offset < i.offset);
        let place = self.module.place(index);
        let at = match place.function {
            0 => String::new(),
            function => format!(" of function %{function}, block %{}", place.block),
        };
        Refused { why, what: what.into(), instruction: Some(format!("{}{at}, at word {}", i.name(), i.offset)) }
    }

    fn find_notes(&mut self) {
        let decorated = |decoration: Decorate| {
            let is = |i: &&Instruction| i.is(Op::Decorate) && i.operands(self.module.words()).get(1) == Some(&(decoration as u32));
            self.module.instructions().iter().any(|i| is(&i))
        };
        if decorated(Decorate::NoContraction) {
            self.notes.push("NoContraction is left out: WGSL lets a multiplication and an addition become one operation".into());
        }
        let controls = self.module.entry_points().iter().any(|e| !self.module.modes(e).float_controls.is_empty());
        if controls {
            self.notes.push("the float controls are left out: WGSL has none".into());
        }
    }

    /// The name that a value or type is to have, if the module gives it one.
    pub(super) fn op_name(&self, id: u32) -> Option<&str> {
        self.op_names.get(&id).map(String::as_str)
    }

    // Types.

    /// The WGSL type of values of a type.
    pub(super) fn value_type(&mut self, type_: u32) -> Result<String, Refused> {
        if let Some(text) = self.value_types.get(&type_) {
            return Ok(text.clone());
        }
        let types = self.module.types();
        let text = match types.get(type_) {
            Some(Type::Bool) => "bool".into(),
            Some(Type::Int { width: 32, signed }) => if signed { "i32" } else { "u32" }.to_string(),
            Some(Type::Float { width: 32 }) => "f32".into(),
            Some(Type::Float { width: 16 }) => {
                self.half = true;
                "f16".into()
            }
            Some(Type::Int { width, .. }) => return Err(self.refused(Why::Width, format!("WGSL has no integers of {width} bits"))),
            Some(Type::Float { width }) => return Err(self.refused(Why::Width, format!("WGSL has no floats of {width} bits"))),
            Some(Type::Vector { component, count }) => format!("vec{count}<{}>", self.value_type(component)?),
            Some(Type::Matrix { column, count }) => {
                let Some(Type::Vector { component, count: rows }) = types.get(column) else {
                    return Err(self.refused(Why::Type, format!("%{column} is no vector")));
                };
                format!("mat{count}x{rows}<{}>", self.value_type(component)?)
            }
            Some(Type::Array { element, length, .. }) => {
                let element = smallstep_semantics::text::deep(|| self.value_type(element))?;
                format!("array<{element}, {length}>")
            }
            Some(Type::Struct { .. }) => {
                let laid = types.members(type_).iter().all(|m| m.offset.is_some()) && !types.contents(type_).runtime_array;
                if laid && !types.members(type_).is_empty() {
                    // It may have the layout itself; else the layout has a structure of its own.
                    let _ = self.stored((type_, MatrixLayout::default(), PLAIN, 16));
                }
                if let Some(name) = self.value_structs.get(&type_) {
                    name.clone()
                } else {
                    let parts: Vec<u32> = types.members(type_).iter().map(|m| m.type_).collect();
                    let names = self.member_names(type_);
                    let mut lines = Vec::new();
                    for (part, name) in parts.into_iter().zip(names) {
                        let text = smallstep_semantics::text::deep(|| self.value_type(part))?;
                        lines.push(format!("    {name}: {text},"));
                    }
                    self.declare_value_struct(type_, &lines)
                }
            }
            Some(other) => return Err(self.refused(Why::Type, format!("WGSL has no values of {}", other.name()))),
            None => return Err(self.refused(Why::Type, format!("%{type_} is no type"))),
        };
        self.value_types.insert(type_, text.clone());
        Ok(text)
    }

    /// The WGSL type of values of a shape.
    pub(super) fn shape_type(&mut self, shape: Shape) -> Result<String, Refused> {
        let scalar = match shape.scalar {
            Scalar::Bool => "bool",
            Scalar::Int { width: 32, signed: true } => "i32",
            Scalar::Int { width: 32, signed: false } => "u32",
            Scalar::Float { width: 32 } => "f32",
            Scalar::Float { width: 16 } => {
                self.half = true;
                "f16"
            }
            other => return Err(self.refused(Why::Width, format!("WGSL has no values of type {other}"))),
        };
        Ok(match (shape.rows, shape.columns) {
            (1, 1) => scalar.into(),
            (rows, 1) => format!("vec{rows}<{scalar}>"),
            (rows, columns) => format!("mat{columns}x{rows}<{scalar}>"),
        })
    }

    /// The names of the members of a structure.
    pub(super) fn member_names(&mut self, type_: u32) -> Vec<String> {
        if let Some(names) = self.members.get(&type_) {
            return names.clone();
        }
        let mut scope = Names::new();
        let count = self.module.types().members(type_).len() as u32;
        let names: Vec<String> = (0..count)
            .map(|at| match self.op_member_names.get(&(type_, at)) {
                Some(name) => scope.fresh(name),
                None => scope.fresh(&format!("field{at}")),
            })
            .collect();
        self.members.insert(type_, names.clone());
        names
    }

    /// Declares the structure of values of a type; its name.
    pub(super) fn declare_value_struct(&mut self, type_: u32, lines: &[String]) -> String {
        if let Some(name) = self.value_structs.get(&type_) {
            return name.clone();
        }
        let name = self.declare_struct(type_, "", lines);
        self.value_structs.insert(type_, name.clone());
        name
    }

    /// Declares a structure that is like a type; its name.
    pub(super) fn declare_struct(&mut self, type_: u32, suffix: &str, lines: &[String]) -> String {
        let wanted = match self.op_name(type_) {
            Some(name) => format!("{name}{suffix}"),
            None => format!("S{type_}{suffix}"),
        };
        let name = self.names.fresh(&wanted);
        // WGSL has no structure without members.
        let lines = if lines.is_empty() { "    empty: u32,".to_string() } else { lines.join("\n") };
        self.structs.push_str(&format!("struct {name} {{\n{lines}\n}}\n\n"));
        name
    }

    // Variables.

    /// A variable at module scope, which is declared where it has not been yet.
    pub(super) fn global(&mut self, id: u32) -> Result<Global, Refused> {
        if let Some(known) = self.variables.get(&id) {
            return Ok(known.clone());
        }
        let module = self.module;
        let Some(variable) = module.variable(id).copied() else { return Err(self.refused(Why::Pointer, format!("%{id} is no variable"))) };
        let declaration = module.instructions()[variable.instruction as usize];
        let wanted = self.op_name(id).map_or_else(|| format!("x_{id}"), str::to_string);
        let node = self.atomics.roots.get(&id).copied().unwrap_or(PLAIN);
        let (stored, line) = match variable.class {
            StorageClass::Uniform | StorageClass::StorageBuffer => {
                let block = module.decoration(variable.type_, WHOLE, Decorate::Block).is_some();
                let old = module.decoration(variable.type_, WHOLE, Decorate::BufferBlock).is_some();
                if !block && !old {
                    return Err(self.refused_at(
                        &declaration,
                        Why::Pointer,
                        format!("%{id} is no single buffer: WGSL has no arrays of them"),
                    ));
                }
                let Some((set, binding)) = module.descriptor(id) else {
                    return Err(self.refused_at(&declaration, Why::Pointer, format!("%{id} has no DescriptorSet and Binding")));
                };
                let stored = self.stored((variable.type_, MatrixLayout::default(), node, 16))?;
                let storage = old || variable.class == StorageClass::StorageBuffer;
                if !storage && !stored.uniform {
                    let what = format!("the layout of %{id} is none that WGSL's uniform address space has");
                    return Err(self.refused_at(&declaration, Why::Layout, what));
                }
                if let Some(other) = self.bound.get(&(set, binding)).cloned() {
                    if other.stored.text != stored.text {
                        let what = format!("%{id} and {} are at one binding; WGSL has one variable there", other.name);
                        return Err(self.refused_at(&declaration, Why::Layout, what));
                    }
                    self.variables.insert(id, other.clone());
                    return Ok(other);
                }
                let name = self.names.fresh(&wanted);
                let at_binding: Vec<(u32, u32)> =
                    module.globals().iter().filter(|v| module.descriptor(v.id) == Some((set, binding))).map(|v| (v.id, v.type_)).collect();
                let read_only = at_binding.iter().all(|&(id, type_)| self.is_read_only(id, type_) && !self.atomics.roots.contains_key(&id));
                let space = match (storage, read_only) {
                    (false, _) => "uniform",
                    (true, true) => "storage, read",
                    (true, false) => "storage, read_write",
                };
                let line = format!("@group({set}) @binding({binding}) var<{space}> {name}: {};\n", stored.text);
                (Global { name, stored }, line)
            }
            StorageClass::Private | StorageClass::Workgroup => {
                let stored = self.unlaid(variable.type_, node)?;
                let name = self.names.fresh(&wanted);
                let space = if variable.class == StorageClass::Private { "private" } else { "workgroup" };
                let initial = match variable.initializer {
                    Some(constant) if variable.class == StorageClass::Private => format!(" = {}", self.constant_at_module_scope(constant)?),
                    _ => String::new(),
                };
                let line = format!("var<{space}> {name}: {}{initial};\n", stored.text);
                (Global { name, stored }, line)
            }
            StorageClass::Input | StorageClass::Output => {
                let stored = self.unlaid(variable.type_, PLAIN)?;
                let name = self.names.fresh(&wanted);
                let initial = match variable.initializer {
                    Some(constant) => format!(" = {}", self.constant_at_module_scope(constant)?),
                    None => String::new(),
                };
                let line = format!("var<private> {name}: {}{initial};\n", stored.text);
                (Global { name, stored }, line)
            }
            StorageClass::UniformConstant => {
                let (name, line) = self.declare_handle(id, variable.type_, &wanted, &declaration)?;
                let stored = Stored { rep: Rep::Value(variable.type_), text: name.clone(), align: 0, size: 0, uniform: true };
                (Global { name, stored: Rc::new(stored) }, line)
            }
            StorageClass::PushConstant => return Err(self.refused_at(&declaration, Why::Pointer, "WGSL has no push constants")),
            class => return Err(self.refused_at(&declaration, Why::Pointer, format!("the storage class {class:?} is not converted"))),
        };
        self.globals.push_str(&self.plan.line(line));
        if let Some(place) = module.descriptor(id) {
            self.bound.insert(place, stored.clone());
        }
        self.variables.insert(id, stored.clone());
        Ok(stored)
    }

    /// Whether nothing may write a buffer: it or all of its members are NonWritable.
    fn is_read_only(&self, id: u32, type_: u32) -> bool {
        let is = |target, member| self.module.decoration(target, member, Decorate::NonWritable).is_some();
        let members = self.module.types().members(type_).len() as u32;
        is(id, WHOLE) || members > 0 && (0..members).all(|m| is(type_, m))
    }

    // Functions.

    /// The name of a function whose pointer parameters are these variables; it is written later.
    pub(super) fn instance(&mut self, function: &Function, bindings: Vec<Option<u32>>) -> Result<String, Refused> {
        let instance = (function.id, bindings);
        if let Some(name) = self.instances.get(&instance) {
            return Ok(name.clone());
        }
        if self.instances.len() >= MAX_FUNCTIONS {
            return Err(self.refused(Why::Limit, format!("more than {MAX_FUNCTIONS} functions would be written")));
        }
        let wanted = self.op_name(function.id).map_or_else(|| format!("function_{}", function.id), str::to_string);
        let name = self.names.fresh(&wanted);
        self.instances.insert(instance.clone(), name.clone());
        self.queue.push((instance, name.clone()));
        Ok(name)
    }
}
