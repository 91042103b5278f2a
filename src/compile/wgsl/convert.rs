//! The declarations of a module. Types and variables are declared on use, and functions if entry
//! points reach them (seed 002, Overall flow; Mapping types; Mapping buffer types).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rspirv::spirv::{Decoration as Decorate, ExecutionModel, Op, StorageClass};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallstep_semantics::spirv::module::{EntryPoint, Function, Variable, WHOLE};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::{MatrixLayout, Type};
use smallstep_semantics::spirv::words::with_string_at;
use smallstep_semantics::spirv::{Instruction, Module};

use super::function::Body;
use super::image::Handle;
use super::interface::Ports;
use super::layout::{Atomics, Key, PLAIN, Rep, Stored};
use super::names::{Names, of_module};
use super::planted::Plan;
use super::pointer::Target;
use super::scan::Scan;
use super::specialization::Specialized;
use super::text::{Expr, Text};
use super::words::Words;
use super::{Access, Converted, Options, Refused, Why};
use crate::compile::bindings::Place;

/// The most bytes of a converted module.
pub(super) const MAX_TEXT: usize = 64 << 20;

/// The most functions that are written. A function is written once for each choice of variables as
/// its arguments.
const MAX_FUNCTIONS: usize = 4096;

/// The most descriptors in an array of descriptors.
pub(super) const MAX_DESCRIPTORS: u64 = 256;

/// The beginnings of the vector types, by the number of components modulo 4.
const VECTORS: [&str; 4] = ["vec4<", "", "vec2<", "vec3<"];

/// A variable at module scope.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub(super) name: Text,
    pub(super) stored: Rc<Stored>,
}

/// The meaning of a parameter: a variable at module scope, or an element of an array
/// of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bound {
    pub(super) variable: u32,
    pub(super) element: Element,
}

/// The descriptors of an array that a parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Element {
    /// All descriptors, or the only one.
    All,
    /// The descriptor with this number.
    Only(u64),
    /// One descriptor, whose number is a parameter in WGSL.
    Argument,
}

/// The meaning of a parameter that WGSL has no parameter for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum StaticArgument {
    /// A variable, an image or a sampler.
    Variable(Bound),
    /// A pointer to one of these targets. The number of the target and the indices are parameters
    /// in WGSL.
    Pointer(Rc<[Target]>),
}

/// A function with the meaning of its pointer parameters.
type Instance = (u32, Vec<Option<StaticArgument>>);

/// The state of the conversion of a module.
pub(super) struct Convert<'m> {
    pub(super) module: &'m Module,
    pub(super) options: &'m Options,
    pub(super) plan: Plan,
    pub(super) names: Names,
    pub(super) specialized: Specialized,
    pub(super) structs: String,
    pub(super) globals: String,
    pub(super) functions: String,
    pub(super) stored_types: FxHashMap<Key, Rc<Stored>>,
    pub(super) wrappers: FxHashMap<String, Text>,
    value_types: FxHashMap<u32, Text>,
    value_structs: FxHashMap<u32, Text>,
    members: FxHashMap<u32, Rc<[Text]>>,
    pub(super) atomics: Atomics,
    pub(super) constants: FxHashMap<u32, Text>,
    /// The spelling of scalar constants, by id and by the sign that is wanted.
    pub(super) scalars: FxHashMap<(u32, Option<bool>), Expr>,
    /// By variable and element of an array of descriptors: the declared variable.
    variables: FxHashMap<(u32, u64), Global>,
    /// By descriptor set and binding: the buffer that is declared there.
    buffers_at: FxHashMap<(u32, u32), Global>,
    /// By descriptor set and binding: the variable and element of the image or sampler that is
    /// declared there.
    handles_at: FxHashMap<(u32, u32), (u32, u64)>,
    pub(super) op_names: FxHashMap<u32, Text>,
    op_member_names: FxHashMap<(u32, u32), Text>,
    instances: FxHashMap<Instance, Text>,
    queue: Vec<(Instance, Text)>,
    pub(super) helpers: BTreeSet<&'static str>,
    pub(super) half: bool,
    pub(super) notes: Vec<String>,
    /// The entry point that is being written.
    pub(super) entry: Option<EntryPoint>,
    /// The interface of that entry point.
    pub(super) ports: Ports,
    /// The uses of textures and samplers, by variable.
    pub(super) textures: FxHashMap<u32, Handle>,
    pub(super) samplers: FxHashMap<u32, Handle>,
    /// The names of samplers, by variable, element, and whether the sampler compares.
    pub(super) sampler_names: FxHashMap<(u32, u64, bool), Text>,
    /// The names of textures that are declared beside a depth texture of the same variable, by
    /// variable and element.
    pub(super) color_names: FxHashMap<(u32, u64), Text>,
    /// By descriptor set: the binding at which the search for a free one begins.
    pub(super) next_binding: FxHashMap<u32, u32>,
    /// The places of the samplers of combined image samplers.
    pub(super) split: BTreeMap<Place, Place>,
    /// Whether an instruction samples with implicit derivatives.
    pub(super) derivatives: bool,
    /// The WGSL extensions that the text needs.
    pub(super) enabled: BTreeSet<&'static str>,
    /// The descriptor sets and bindings of the module.
    module_bindings: FxHashSet<(u32, u32)>,
    /// Facts about the functions.
    pub(super) scan: Scan,
    /// The variables that reached functions write.
    written: FxHashSet<u32>,
    /// The groups and bindings of the storage buffers that are declared `read`.
    read_only_buffers: Vec<(u32, u32)>,
    /// Whether each workgroup has one invocation.
    pub(super) has_single_invocations: bool,
    /// The memory that an OpMemoryBarrier orders where only some invocations reach it: bits
    /// of MemorySemantics.
    pub(super) fenced_memory: u32,
    /// The functions that OpKill may end, in themselves or in a callee.
    pub(super) kills: FxHashSet<u32>,
    /// The inputs that are parameters of each function, by id of the function.
    pub(super) input_parameters: FxHashMap<u32, Vec<u32>>,
    /// The variable that records that OpKill has ended the invocation.
    pub(super) killed: Option<Text>,
    /// The bytes of all references so far. Each access chain spells its own reference.
    pub(super) reference_bytes: usize,
}

impl<'m> Convert<'m> {
    /// A new conversion.
    pub(super) fn new(module: &'m Module, words: &[u32], options: &'m Options) -> Convert<'m> {
        let (mut op_names, mut op_member_names) = (FxHashMap::default(), FxHashMap::default());
        for i in module.instructions() {
            let operands = i.operands(module.words());
            let text = |at: usize, make: fn(&str) -> Text| {
                let named = |text: &str| (!text.is_empty()).then(|| make(text));
                operands.get(at..).and_then(|words| with_string_at(words, named).ok()).and_then(|(text, _)| text)
            };
            match i.op {
                Op::Name => {
                    if let Some(text) = text(1, of_module) {
                        op_names.entry(operands[0]).or_insert(text);
                    }
                }
                Op::MemberName => {
                    if let Some(text) = text(2, |text| text.into()) {
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
            options,
            plan: Plan(options.planted),
            names: Names::with_capacity(module.instructions().len() / 4),
            structs: String::new(),
            globals: String::new(),
            functions: String::with_capacity(super::function::BYTES_OF_INSTRUCTION * module.instructions().len()),
            stored_types: FxHashMap::default(),
            wrappers: FxHashMap::default(),
            value_types: FxHashMap::with_capacity_and_hasher(32, FxBuildHasher),
            value_structs: FxHashMap::default(),
            members: FxHashMap::default(),
            atomics: Atomics::default(),
            constants: FxHashMap::default(),
            scalars: FxHashMap::with_capacity_and_hasher(32, FxBuildHasher),
            variables: FxHashMap::default(),
            buffers_at: FxHashMap::default(),
            handles_at: FxHashMap::default(),
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
            split: BTreeMap::new(),
            color_names: FxHashMap::default(),
            next_binding: FxHashMap::default(),
            derivatives: false,
            enabled: BTreeSet::new(),
            module_bindings: FxHashSet::default(),
            scan: Scan::of(module),
            written: FxHashSet::default(),
            read_only_buffers: Vec::new(),
            fenced_memory: 0,
            has_single_invocations: false,
            kills: FxHashSet::default(),
            input_parameters: FxHashMap::default(),
            killed: None,
            reference_bytes: 0,
        }
    }

    /// Converts the entry points, or the one that the options name.
    pub(super) fn all(mut self) -> Result<Converted, Refused> {
        let entry = self.options.entry.as_deref();
        let entries: Vec<EntryPoint> =
            self.module.entry_points().iter().filter(|e| entry.is_none_or(|name| e.name == name)).cloned().collect();
        if entries.is_empty() {
            let what = match entry {
                Some(name) => format!("the module has no entry point called {name:?}"),
                None => "the module has no entry point".into(),
            };
            return Err(self.refused(Why::EntryPoint, what));
        }
        let names = self.entry_names(&entries);
        self.find_notes();
        self.find_written(&entries);
        self.find_kills();
        self.find_atomics()?;
        self.find_barriers(&entries)?;
        self.find_handles();
        for (entry, name) in entries.into_iter().zip(names) {
            let module = self.module;
            let Some(function) = module.function(entry.function) else {
                return Err(self.refused(Why::EntryPoint, format!("%{} is no function", entry.function)));
            };
            if entry.model == ExecutionModel::Vertex && !self.options.vertex_writes {
                self.refuse_vertex_writes(&entry)?;
            }
            self.entry = Some(entry.clone());
            self.find_ports(&entry, function)?;
            Body::write(&mut self, function, &name, &[], Some(&entry))?;
            while let Some((instance, name)) = self.queue.pop() {
                let Some(function) = module.function(instance.0) else {
                    return Err(self.refused(Why::Instruction, format!("%{} is no function", instance.0)));
                };
                self.functions.push('\n');
                Body::write(&mut self, function, &name, &instance.1, None)?;
                if self.functions.len() > MAX_TEXT {
                    return Err(self.refused(Why::Limit, format!("the text would have more than {MAX_TEXT} bytes")));
                }
            }
            self.functions.push('\n');
        }
        let mut text = String::with_capacity(self.structs.len() + self.globals.len() + self.functions.len() + 256);
        if self.half {
            self.enabled.insert("f16");
        }
        if !self.enabled.is_empty() {
            let names: Vec<&str> = self.enabled.iter().copied().collect();
            text.push_str(&format!("enable {};\n\n", names.join(", ")));
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
        Ok(Converted { text, notes: self.notes, read: self.read_only_buffers })
    }

    /// The names of the functions that entry points become. An entry point keeps its own name if
    /// WGSL allows it and no earlier one has it.
    fn entry_names(&mut self, entries: &[EntryPoint]) -> Vec<Text> {
        let keeps_name: Vec<bool> = entries.iter().map(|entry| self.names.take(&entry.name)).collect();
        let mut names = Vec::new();
        for (entry, keeps_name) in entries.iter().zip(keeps_name) {
            names.push(if keeps_name { Text::from(&*entry.name) } else { self.names.fresh(&entry.name) });
            if let Some(name) = names.last().filter(|_| !keeps_name) {
                self.notes.push(format!("the entry point {:?} is called {name}", entry.name));
            }
        }
        names
    }

    /// By index of the function: whether these entry points reach it.
    fn reached_functions(&self, entries: &[EntryPoint]) -> Vec<bool> {
        let functions = self.module.functions();
        let mut is_reached = vec![false; functions.len()];
        let mut work: Vec<u32> = entries.iter().map(|entry| entry.function).collect();
        while let Some(function) = work.pop() {
            let Some(function) = self.module.function(function) else { continue };
            let at = functions.partition_point(|f| f.first_block < function.first_block);
            if std::mem::replace(&mut is_reached[at], true) {
                continue;
            }
            work.extend(&self.scan.functions[at].callees);
        }
        is_reached
    }

    /// Finds the variables that are written by functions which these entry points reach.
    fn find_written(&mut self, entries: &[EntryPoint]) {
        if self.plan.takes_all_as_read() {
            return;
        }
        let facts = self.reached_functions(entries).into_iter().zip(&self.scan.functions).filter(|(is_reached, _)| *is_reached);
        self.written = self.pointed_variables(facts.flat_map(|(_, facts)| facts.writes.iter().copied()).collect());
    }

    /// Refuses a vertex stage that uses a variable which is declared writable.
    fn refuse_vertex_writes(&self, entry: &EntryPoint) -> Result<(), Refused> {
        let module = self.module;
        let is_reached = self.reached_functions(std::slice::from_ref(entry));
        for variable in module.globals() {
            let type_ = self.descriptors(variable.id).map_or(variable.type_, |(_, type_)| type_);
            let is_written = match variable.class {
                StorageClass::StorageBuffer => !self.is_read_only(variable.id, type_),
                StorageClass::Uniform => {
                    module.decoration(type_, WHOLE, Decorate::BufferBlock).is_some() && !self.is_read_only(variable.id, type_)
                }
                StorageClass::UniformConstant => self.is_written_image(variable.id),
                _ => false,
            };
            if is_written && self.is_named_by(variable.id, &is_reached) {
                let declaration = &module.instructions()[variable.instruction as usize];
                let what = format!("the vertex stage {:?} uses %{}, which is written; WGSL's rules refuse that", entry.name, variable.id);
                return Err(self.refused_at(declaration, Why::VertexWrites, what));
            }
        }
        Ok(())
    }

    /// Whether a reached function names a variable.
    fn is_named_by(&self, variable: u32, is_reached: &[bool]) -> bool {
        let reaches =
            |id: &u32| self.module.functions().iter().zip(is_reached).any(|(function, is_reached)| *is_reached && function.id == *id);
        self.scan.uses_of(variable).is_some_and(|uses| uses.functions.iter().any(reaches))
    }

    /// Whether a converted vertex stage uses a variable.
    pub(super) fn is_in_vertex_stage(&self, variable: u32) -> bool {
        let entry = self.options.entry.as_deref();
        let is_converted = |e: &&EntryPoint| e.model == ExecutionModel::Vertex && entry.is_none_or(|name| e.name == name);
        self.module
            .entry_points()
            .iter()
            .filter(is_converted)
            .any(|e| self.is_named_by(variable, &self.reached_functions(std::slice::from_ref(e))))
    }

    /// Finds the functions that OpKill may end.
    fn find_kills(&mut self) {
        let module = self.module;
        let functions = module.functions().iter().zip(&self.scan.functions);
        let mut work: Vec<u32> = functions.filter(|(_, facts)| facts.kills).map(|(function, _)| function.id).collect();
        if work.is_empty() {
            return;
        }
        let callers = self.scan.callers(module);
        while let Some(id) = work.pop() {
            if self.kills.insert(id) {
                work.extend(callers.get(&id).into_iter().flatten());
            }
        }
    }

    /// The variable that records that OpKill has ended the invocation. It is declared on first use.
    pub(super) fn killed(&mut self) -> Text {
        if let Some(name) = &self.killed {
            return name.clone();
        }
        let name = self.names.fresh("killed");
        self.globals.push_str(&format!("var<private> {name}: bool;\n"));
        self.killed = Some(name.clone());
        name
    }

    /// A refusal without an instruction.
    #[cold]
    pub(super) fn refused(&self, why: Why, what: String) -> Refused {
        Refused { why, what, instruction: None }
    }

    /// A refusal of an instruction.
    #[cold]
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
            self.module.instructions().iter().take_while(|i| !i.is(Op::Function)).any(|i| is(&i))
        };
        if decorated(Decorate::NoContraction) {
            self.notes.push("NoContraction is left out: WGSL lets a multiplication and an addition become one operation".into());
        }
        let controls = self.module.entry_points().iter().any(|e| !self.module.modes(e).float_controls.is_empty());
        if controls {
            self.notes.push("the float controls are left out: WGSL has none".into());
        }
    }

    /// The name that the module gives a value or type. `None` if it gives none.
    pub(super) fn op_name(&self, id: u32) -> Option<&str> {
        self.op_names.get(&id).map(|name| &**name)
    }

    // Types.

    /// The WGSL type of values of a type.
    pub(super) fn value_type(&mut self, type_: u32) -> Result<Text, Refused> {
        if let Some(text) = self.value_types.get(&type_) {
            return Ok(text.clone());
        }
        let types = self.module.types();
        let text = match types.get(type_) {
            Some(Type::Bool) => "bool".into(),
            Some(Type::Int { width: 32, signed }) => if signed { "i32" } else { "u32" }.into(),
            Some(Type::Float { width: 32 }) => "f32".into(),
            Some(Type::Float { width: 16 }) => {
                self.half = true;
                "f16".into()
            }
            Some(Type::Int { .. } | Type::Float { .. }) => return Err(self.no_scalar(self.module.shape(type_).scalar)),
            Some(Type::Vector { component, count }) => Text::of(&[VECTORS[count as usize & 3], &self.value_type(component)?, ">"]),
            Some(Type::Matrix { column, count }) => {
                let Some(Type::Vector { component, count: rows }) = types.get(column) else {
                    return Err(self.refused(Why::Type, format!("%{column} is no vector")));
                };
                let (columns, rows) = (Text::numbered("mat", count.into(), "x"), Text::numbered("", rows.into(), "<"));
                Text::of(&[&columns, &rows, &self.value_type(component)?, ">"])
            }
            Some(Type::Array { element, length, .. }) => {
                let element = smallstep_semantics::text::deep(|| self.value_type(element))?;
                Text::of(&["array<", &element, &Text::numbered(", ", length, ">")])
            }
            Some(Type::Struct { .. }) => {
                let laid = types.members(type_).iter().all(|m| m.offset.is_some()) && !types.contents(type_).runtime_array;
                if laid && !types.members(type_).is_empty() {
                    // The structure of values may have this layout itself. Otherwise the layout
                    // gets a structure of its own.
                    let _ = self.stored((type_, MatrixLayout::default(), PLAIN, 16));
                }
                if let Some(name) = self.value_structs.get(&type_) {
                    name.clone()
                } else {
                    let parts: Vec<u32> = types.members(type_).iter().map(|m| m.type_).collect();
                    let names = self.member_names(type_);
                    let mut lines = Vec::new();
                    for (part, name) in parts.into_iter().zip(&*names) {
                        let text = smallstep_semantics::text::deep(|| self.value_type(part))?;
                        lines.push(["    ", name, ": ", &*text, ","].concat());
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

    /// The refusal of a number type that WGSL does not have, because of its width.
    #[cold]
    pub(super) fn no_scalar(&self, scalar: Scalar) -> Refused {
        let what = match scalar {
            Scalar::Int { width, .. } => format!("WGSL has no integers of {width} bits"),
            Scalar::Float { width } => format!("WGSL has no floats of {width} bits"),
            _ => format!("WGSL has no values of type {scalar}"),
        };
        self.refused(Why::Width, what)
    }

    /// The WGSL type of values of a shape.
    pub(super) fn shape_type(&mut self, shape: Shape) -> Result<Text, Refused> {
        let scalar = match shape.scalar {
            Scalar::Bool => "bool",
            Scalar::Int { width: 32, signed: true } => "i32",
            Scalar::Int { width: 32, signed: false } => "u32",
            Scalar::Float { width: 32 } => "f32",
            Scalar::Float { width: 16 } => {
                self.half = true;
                "f16"
            }
            other => return Err(self.no_scalar(other)),
        };
        Ok(match (shape.rows, shape.columns) {
            (1, 1) => scalar.into(),
            (rows, 1) => Text::of(&[VECTORS[rows as usize & 3], scalar, ">"]),
            (rows, columns) => format!("mat{columns}x{rows}<{scalar}>").into(),
        })
    }

    /// The names of the members of a structure.
    pub(super) fn member_names(&mut self, type_: u32) -> Rc<[Text]> {
        if let Some(names) = self.members.get(&type_) {
            return names.clone();
        }
        let mut scope = Names::default();
        let count = self.module.types().members(type_).len() as u32;
        let names: Rc<[Text]> = (0..count)
            .map(|at| match self.op_member_names.get(&(type_, at)) {
                Some(name) => scope.fresh(name),
                None => scope.fresh(&Text::numbered("field", at.into(), "")),
            })
            .collect();
        self.members.insert(type_, names.clone());
        names
    }

    /// Declares the structure of values of a type. Returns its name.
    pub(super) fn declare_value_struct(&mut self, type_: u32, lines: &[String]) -> Text {
        if let Some(name) = self.value_structs.get(&type_) {
            return name.clone();
        }
        let name = self.declare_struct(type_, "", lines);
        self.value_structs.insert(type_, name.clone());
        name
    }

    /// Declares a structure that corresponds to a type. Returns its name.
    pub(super) fn declare_struct(&mut self, type_: u32, suffix: &str, lines: &[String]) -> Text {
        let wanted_name = match self.op_name(type_) {
            Some(name) => Text::of(&[name, suffix]),
            None => Text::numbered("S", type_.into(), suffix),
        };
        let name = self.names.fresh(&wanted_name);
        // WGSL has no structure without members.
        let lines = if lines.is_empty() { "    empty: u32,".to_string() } else { lines.join("\n") };
        ["struct ", &*name, " {\n", &*lines, "\n}\n\n"].into_iter().for_each(|text| self.structs.push_str(text));
        name
    }

    // Variables.

    /// A variable at module scope. It is declared on first use.
    pub(super) fn global(&mut self, id: u32) -> Result<Global, Refused> {
        self.element(id, 0)
    }

    /// The number of descriptors of a variable, and the type of each. The number is 1 except for an
    /// array of descriptors.
    pub(super) fn descriptors(&self, id: u32) -> Option<(u64, u32)> {
        let types = self.module.types();
        let mut type_ = self.module.variable(id)?.type_;
        let mut count = 1u64;
        while let Some(Type::Array { element, length, .. }) = types.get(type_) {
            (count, type_) = (count.saturating_mul(length), element);
        }
        Some((count, type_))
    }

    /// The number of array levels of a variable that is an array of buffers.
    pub(super) fn descriptor_levels(&self, id: u32) -> usize {
        let buffers = |v: &&Variable| matches!(v.class, StorageClass::Uniform | StorageClass::StorageBuffer);
        let Some(mut type_) = self.module.variable(id).filter(buffers).map(|v| v.type_) else { return 0 };
        let mut levels = 0;
        while let Some(Type::Array { element, .. }) = self.module.types().get(type_) {
            (levels, type_) = (levels + 1, element);
        }
        levels
    }

    /// A variable at module scope, or an element of an array of descriptors. Each element is a
    /// variable in WGSL: the first at the binding of the array, the others at free bindings.
    pub(super) fn element(&mut self, id: u32, element: u64) -> Result<Global, Refused> {
        if let Some(known) = self.variables.get(&(id, element)) {
            return Ok(known.clone());
        }
        let module = self.module;
        let Some(variable) = module.variable(id).copied() else { return Err(self.refused(Why::Pointer, format!("%{id} is no variable"))) };
        let declaration = module.instructions()[variable.instruction as usize];
        let mut wanted_name = self.op_name(id).map_or_else(|| Text::numbered("x_", id.into(), ""), Text::from);
        let mut node = self.atomics.roots.get(&id).copied().unwrap_or(PLAIN);
        let has_descriptor = matches!(variable.class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant);
        let (mut type_, mut place) = (variable.type_, None);
        if has_descriptor {
            let Some((set, binding)) = module.descriptor(id) else {
                return Err(self.refused_at(&declaration, Why::Pointer, format!("%{id} has no DescriptorSet and Binding")));
            };
            let (count, descriptor_type) = self.descriptors(id).unwrap_or((1, type_));
            while type_ != descriptor_type {
                node = self.atomics.part(node, 0);
                type_ = module.types().part(type_, 0).map_or(descriptor_type, |(part, _)| part);
            }
            if matches!(module.types().get(descriptor_type), Some(Type::RuntimeArray { .. })) || count > MAX_DESCRIPTORS {
                let what = format!(
                    "%{id} is an array of more than {MAX_DESCRIPTORS} descriptors, or of no fixed number; WGSL has no arrays of them"
                );
                return Err(self.refused_at(&declaration, Why::Pointer, what));
            }
            if count > 1 {
                wanted_name = Text::of(&[&wanted_name, &Text::numbered("_", element, "")]);
            }
            place = Some(match element {
                0 => (set, binding),
                _ => {
                    let free = self.free_binding(set);
                    self.notes.push(format!(
                        "element {element} of the array of descriptors at set {set}, binding {binding}, is at binding {free}"
                    ));
                    (set, free)
                }
            });
        }
        let place_of = |this: &mut Self| match place {
            Some(place) => place,
            None => {
                let set = module.globals().iter().filter_map(|v| module.descriptor(v.id)).map(|(set, _)| set).min().unwrap_or(0);
                (set, this.free_binding(set))
            }
        };
        let (stored, line) = match variable.class {
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::PushConstant => {
                let is_block = module.decoration(type_, WHOLE, Decorate::Block).is_some();
                let is_buffer_block = module.decoration(type_, WHOLE, Decorate::BufferBlock).is_some();
                if !is_block && !is_buffer_block {
                    return Err(self.refused_at(&declaration, Why::Pointer, format!("%{id} is no structure that is a buffer")));
                }
                let (set, binding) = place_of(self);
                if variable.class == StorageClass::PushConstant {
                    self.notes.push(format!("the push constants are a uniform buffer at set {set}, binding {binding}"));
                }
                let storage = is_buffer_block || variable.class == StorageClass::StorageBuffer;
                let at_binding = self.others_at(id, place);
                let read_only = std::iter::once(&(id, type_))
                    .chain(&at_binding)
                    .all(|&(id, type_)| self.is_read_only(id, type_) && !self.atomics.roots.contains_key(&id));
                let stored = self.buffer(type_, node, storage, &at_binding, read_only, &declaration)?;
                if let Some(other) = self.buffers_at.get(&(set, binding)).cloned() {
                    let other = Global { name: other.name, stored };
                    self.variables.insert((id, element), other.clone());
                    return Ok(other);
                }
                if matches!(stored.rep, Rep::Nothing(_)) {
                    let empty = Global { name: Text::default(), stored };
                    self.variables.insert((id, element), empty.clone());
                    return Ok(empty);
                }
                let name = self.names.fresh(&wanted_name);
                let space = match (storage, read_only) {
                    (false, _) => "uniform",
                    (true, true) => "storage, read",
                    (true, false) => "storage, read_write",
                };
                let (group, at) = (Text::numbered("@group(", set.into(), ") @binding("), Text::numbered("", binding.into(), ") var<"));
                let line = [&*group, &*at, space, "> ", &*name, ": ", &*stored.text, ";\n"].concat();
                if storage && read_only {
                    self.read_only_buffers.push((set, binding));
                }
                place = Some((set, binding));
                (Global { name, stored }, line)
            }
            StorageClass::Private | StorageClass::Workgroup => {
                let mut stored = self.without_layout(type_, node)?;
                if let Some(text) = self.length_by_override(id, &stored)? {
                    stored = Rc::new(Stored { text: text.into(), ..(*stored).clone() });
                }
                let name = self.names.fresh(&wanted_name);
                let space = if variable.class == StorageClass::Private { "private" } else { "workgroup" };
                let initial = match variable.initializer {
                    Some(constant) if variable.class == StorageClass::Private => format!(" = {}", self.constant_at_module_scope(constant)?),
                    _ => String::new(),
                };
                let line = ["var<", space, "> ", &*name, ": ", &*stored.text, &*initial, ";\n"].concat();
                (Global { name, stored }, line)
            }
            StorageClass::Input | StorageClass::Output => {
                let stored = self.without_layout(type_, PLAIN)?;
                let name = self.names.fresh(&wanted_name);
                let initial = match variable.initializer {
                    Some(constant) => format!(" = {}", self.constant_at_module_scope(constant)?),
                    None => String::new(),
                };
                let line = ["var<private> ", &*name, ": ", &*stored.text, &*initial, ";\n"].concat();
                (Global { name, stored }, line)
            }
            StorageClass::UniformConstant => {
                let at = place.unwrap_or_default();
                if let Some(&other) = self.handles_at.get(&at) {
                    return self.same_handle((id, element), other, &declaration);
                }
                let (name, line) = self.declare_handle(id, element, type_, &wanted_name, at, &declaration)?;
                self.handles_at.insert(at, (id, element));
                let stored = Stored { rep: Rep::Value(type_), text: name.clone(), align: 0, size: 0, uniform: true };
                (Global { name, stored: Rc::new(stored) }, line)
            }
            class => return Err(self.refused_at(&declaration, Why::Pointer, format!("the storage class {class:?} is not converted"))),
        };
        self.globals.push_str(&self.plan.line(line));
        if let Some(place) = place.filter(|_| variable.class != StorageClass::UniformConstant) {
            self.buffers_at.insert(place, stored.clone());
        }
        self.variables.insert((id, element), stored.clone());
        Ok(stored)
    }

    /// An image or sampler at the binding of another one, which must be of the same type and use.
    fn same_handle(&mut self, handle: (u32, u64), other: (u32, u64), declaration: &Instruction) -> Result<Global, Refused> {
        let type_of = |id: u32| self.module.variable(id).map(|v| v.type_);
        if type_of(handle.0) != type_of(other.0) || !self.is_used_alike(handle.0, other.0) {
            let what =
                format!("%{} and %{} are at one binding, of different types or uses; WGSL has one variable there", handle.0, other.0);
            return Err(self.refused_at(declaration, Why::Layout, what));
        }
        let global = self.element(other.0, other.1)?;
        for compares in [false, true] {
            if let Some(name) = self.sampler_names.get(&(other.0, other.1, compares)).cloned() {
                self.sampler_names.insert((handle.0, handle.1, compares), name);
            }
        }
        self.variables.insert(handle, global.clone());
        Ok(global)
    }

    /// The other used buffers at the binding of a variable, with their types.
    fn others_at(&self, id: u32, place: Option<(u32, u32)>) -> Vec<(u32, u32)> {
        let module = self.module;
        let Some(place) = place else { return Vec::new() };
        let at_same_place = module.globals().iter().filter(|v| v.id != id && module.descriptor(v.id) == Some(place));
        at_same_place.filter(|v| self.scan.uses(v.id)).map(|v| (v.id, self.descriptors(v.id).map_or(v.type_, |(_, type_)| type_))).collect()
    }

    /// The storage of a buffer. It has its own layout, or is an array of words if WGSL cannot
    /// express the layout or other types share the buffer.
    fn buffer(
        &mut self,
        type_: u32,
        node: u32,
        storage: bool,
        others: &[(u32, u32)],
        read_only: bool,
        declaration: &Instruction,
    ) -> Result<Rc<Stored>, Refused> {
        let module = self.module;
        let own_layout = self.stored((type_, MatrixLayout::default(), node, 16));
        let same_layout = others.iter().all(|&(id, other)| {
            let node = self.atomics.roots.get(&id).copied().unwrap_or(PLAIN);
            let stored = self.stored((other, MatrixLayout::default(), node, 16));
            matches!((&own_layout, stored), (Ok(own_layout), Ok(other)) if own_layout.text == other.text)
        });
        let is_usable = |stored: &Rc<Stored>| same_layout && (storage || stored.uniform);
        match own_layout {
            Ok(own_layout) if is_usable(&own_layout) => return Ok(own_layout),
            Err(refused) if refused.why != Why::Layout => return Err(refused),
            _ => {}
        }
        let is_storage = |&(id, type_): &(u32, u32)| {
            let class = module.variable(id).map(|v| v.class);
            class == Some(StorageClass::StorageBuffer) || module.decoration(type_, WHOLE, Decorate::BufferBlock).is_some()
        };
        if others.iter().any(|other| is_storage(other) != storage) {
            let what = "a uniform and a storage buffer are at one binding; WGSL has one variable there";
            return Err(self.refused_at(declaration, Why::Layout, what));
        }
        let atomic = !read_only && (node != PLAIN || others.iter().any(|(id, _)| self.atomics.roots.contains_key(id)));
        let words = match (storage, atomic) {
            (false, _) => Words::Quads,
            (true, false) => Words::Plain,
            (true, true) => Words::Atomic,
        };
        let sizes = others.iter().map(|&(_, type_)| type_).chain([type_]).map(|t| module.types().size(t, MatrixLayout::default()));
        Ok(Rc::new(Stored::words(type_, words, sizes.max().unwrap_or(0))))
    }

    /// Takes a binding of a set that is still free.
    pub(super) fn free_binding(&mut self, set: u32) -> u32 {
        if self.module_bindings.is_empty() {
            self.module_bindings.extend(self.module.globals().iter().filter_map(|v| self.module.descriptor(v.id)));
        }
        let mut free = self.next_binding.get(&set).copied().unwrap_or(0);
        let is_split_sampler = |binding| self.split.values().any(|&to| to == (set, binding));
        while self.module_bindings.contains(&(set, free)) || is_split_sampler(free) {
            free += 1;
        }
        self.next_binding.insert(set, free + 1);
        free
    }

    /// Whether a buffer is declared `read`. No function may write it, and with
    /// [`Access::Declared`] it or all of its members must be NonWritable. A selected pointer may
    /// point to a NonWritable buffer. A store through that pointer needs a writable buffer, even
    /// if the store must not be reached.
    fn is_read_only(&self, id: u32, type_: u32) -> bool {
        if self.written.contains(&id) {
            return false;
        }
        if self.options.access == Access::Used {
            return true;
        }
        let is = |target, member| self.module.decoration(target, member, Decorate::NonWritable).is_some();
        let members = self.module.types().members(type_).len() as u32;
        is(id, WHOLE) || members > 0 && (0..members).all(|m| is(type_, m))
    }

    // Functions.

    /// The name of a function whose pointer parameters are these variables. The function is
    /// written later.
    pub(super) fn instance(&mut self, function: &Function, bindings: Vec<Option<StaticArgument>>) -> Result<Text, Refused> {
        let instance = (function.id, bindings);
        if let Some(name) = self.instances.get(&instance) {
            return Ok(name.clone());
        }
        if self.instances.len() >= MAX_FUNCTIONS {
            return Err(self.refused(Why::Limit, format!("more than {MAX_FUNCTIONS} functions would be written")));
        }
        let wanted_name = self.op_name(function.id).map_or_else(|| format!("function_{}", function.id), str::to_string);
        let name = self.names.fresh(&wanted_name);
        self.instances.insert(instance.clone(), name.clone());
        self.queue.push((instance, name.clone()));
        Ok(name)
    }
}
