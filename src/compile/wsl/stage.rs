//! Entry points of all stages with their inputs and outputs: seed 003 "Interface
//! variables", "Structs" (todos there), seed 004 "Entry Points", "Built-in Variables"
//! (ERRATA WSL-D25 to WSL-D29).
//!
//! An entry point becomes two functions. The first builds the arguments from the input variables
//! and returns the result. The second is the entry point of the module: it calls the first and
//! stores the result in the output variables. An attribute(n) becomes a variable for each column:
//! no device accepts more than four components at a location, and naga accepts no matrix there.
//!
//! In Vulkan's clip space, y points down and z goes from 0 to w. So the y of SV_Position is
//! negated, and its z becomes z * 0.5 + w * 0.5. VertexIndex and InstanceIndex start at 0 in every
//! draw here, as SV_VertexID and SV_InstanceID do.

use super::emit::{Id, Operands};
use super::library::unread_results;
use super::place::{Place, VariableMeaning};
use super::types::Shape;
use super::{Binding, Compiler, Construct, Done, Module, Options, Refusal};
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, GlslStd450Op as Glsl, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::entry::{EntryPoint, Item, Stage};
use smallstep_semantics::wsl::environment::Semantic;
use smallstep_semantics::wsl::syntax::{AddressSpace, BuiltinSemantic, Qualifier};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallvec::SmallVec;

/// The least number of locations that a Vulkan device has (maxVertexInputAttributes, and
/// maxFragmentInputComponents over four).
const LOCATIONS: u32 = 16;

/// An input or output of a stage with the semantic attribute(n).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageVariable {
    /// The n of attribute(n).
    pub number: u32,
    /// The type: a scalar, vector or matrix.
    pub ty: TypeId,
    /// The number of columns. Each takes a location.
    pub columns: u32,
    /// The location of the first column.
    pub location: u32,
    /// The interpolation qualifiers.
    pub qualifiers: SmallVec<[Qualifier; 2]>,
}

/// The modules of a draw.
#[derive(Clone, Debug)]
pub struct DrawModules {
    /// The vertex stage. If the program has none, this stage passes the inputs of the fragment
    /// stage through. Its first input is then the position, at the last location.
    pub vertex: Module,
    /// The fragment stage.
    pub fragment: Module,
    /// The resources of both stages, without duplicates.
    pub bindings: Vec<Binding>,
}

/// The entry point of a module with its execution modes.
pub(super) struct Shell {
    pub model: ExecutionModel,
    pub main: Id,
    pub name: String,
    /// Execution modes with their operands.
    pub modes: Vec<Operands>,
}

impl Shell {
    /// The shell of a compute stage with workgroups of that size.
    pub(super) fn compute(main: Id, name: &str, size: [u32; 3]) -> Shell {
        let mut mode = Operands::from_slice(&[ExecutionMode::LocalSize as u32]);
        mode.extend(size);
        Shell { model: ExecutionModel::GLCompute, main, name: name.into(), modes: vec![mode] }
    }
}

/// The variables of storage classes Input and Output, and facts about the other stage of a draw.
#[derive(Debug, Default)]
pub(super) struct Interface {
    /// The ids of all these variables, for OpEntryPoint.
    pub variables: Vec<Id>,
    built_ins: FxHashMap<(StorageClass, u32), Id>,
    columns: FxHashMap<(StorageClass, u32), Id>,
    pub inputs: Vec<StageVariable>,
    pub outputs: Vec<StageVariable>,
    /// The bindings of the other stage.
    pub bindings: Vec<Binding>,
    /// The registers that an argument of some stage can store through.
    pub writable: FxHashSet<String>,
    /// Whether this is a fragment stage.
    pub is_fragment: bool,
    /// Whether the fragment stage writes its depth.
    replaces_depth: bool,
}

fn number_of(item: &Item) -> Option<u32> {
    match item.semantic {
        Some((Semantic::Attribute(n), _)) => Some(n),
        _ => None,
    }
}

/// The stage variables among items, without duplicates, with their locations. The locations are the
/// numbers if these are small and no columns collide. Otherwise the variables follow each other.
fn located<'i>(program: &Program, items: impl Iterator<Item = &'i Item>) -> Vec<StageVariable> {
    let mut all: Vec<StageVariable> = Vec::new();
    for item in items {
        let Some(number) = number_of(item) else { continue };
        if all.iter().any(|v| v.number == number) {
            continue;
        }
        let columns = match program.env.types.get(item.ty) {
            Type::Matrix(_, columns, _) => columns.into(),
            _ => 1,
        };
        all.push(StageVariable { number, ty: item.ty, columns, location: 0, qualifiers: item.qualifiers.clone() });
    }
    all.sort_by_key(|v| v.number);
    for keep_numbers in [true, false] {
        let mut next = 0u32;
        for variable in &mut all {
            variable.location = if keep_numbers { next.max(variable.number) } else { next };
            next = variable.location.saturating_add(variable.columns);
        }
        if next <= LOCATIONS {
            break;
        }
    }
    all
}

/// The registers that the entry points can store through.
fn writable(program: &Program, entries: &[&EntryPoint]) -> FxHashSet<String> {
    let items = entries.iter().flat_map(|e| &e.inputs);
    let written = items.filter_map(|item| match (item.semantic, program.env.types.get(item.ty)) {
        (Some((Semantic::Register(register, space), _)), Type::ArrayReference(AddressSpace::Device, _)) => {
            Some(register_text(program.env.names.name(register), space.map(|s| program.env.names.name(s))))
        }
        _ => None,
    });
    written.collect()
}

/// The text of a register, as bindings name it.
pub(super) fn register_text(register: &str, space: Option<&str>) -> String {
    space.map_or_else(|| register.to_string(), |space| format!("{register}, {space}"))
}

/// Translates an entry point without its other stage.
pub(super) fn translate_alone(program: &Program, entry: &EntryPoint, options: &Options) -> Result<Module, Refusal> {
    let mut c = Compiler::new(program, program.env.function(entry.function).span, options);
    c.stage.inputs = located(program, entry.inputs.iter());
    c.stage.outputs = located(program, entry.outputs.iter());
    c.stage.writable = writable(program, &[entry]);
    c.entry_point(entry, options)
}

/// Translates the stages of a draw together. An input of the fragment stage has the location of the
/// vertex stage's output, or is zero if there is no such output. A register that both stages use is
/// one binding. Without a vertex entry point, the vertex stage passes its attributes through.
///
/// # Errors
/// A construct is not translated, an entry point belongs to another stage, or the stage variables
/// do not fit.
pub fn translate_draw(
    program: &Program,
    vertex: Option<&EntryPoint>,
    fragment: &EntryPoint,
    options: &Options,
) -> Result<DrawModules, Refusal> {
    let span_of = |entry: &EntryPoint| program.env.function(entry.function).span;
    let wrong_stage = |entry: &EntryPoint, wanted: &str| {
        let what = format!("a {} entry point as the {wanted} stage of a draw", entry.stage.keyword());
        Refusal { what, span: span_of(entry), construct: Some(Construct::Stages) }
    };
    if fragment.stage != Stage::Fragment {
        return Err(wrong_stage(fragment, "fragment"));
    }
    let entries: Vec<&EntryPoint> = vertex.into_iter().chain([fragment]).collect();
    let writable = writable(program, &entries);
    let Some(vertex) = vertex else {
        let module = translate_alone(program, fragment, options)?;
        let vertex = passthrough_vertex_stage(program, fragment, &module.taken, options)?;
        return Ok(DrawModules { vertex, bindings: module.bindings.clone(), fragment: module });
    };
    if vertex.stage != Stage::Vertex {
        return Err(wrong_stage(vertex, "vertex"));
    }
    let has_output = |item: &&Item| number_of(item).is_some_and(|n| vertex.outputs.iter().any(|out| number_of(out) == Some(n)));
    let shared_variables = located(program, fragment.inputs.iter().filter(has_output));
    for item in vertex.outputs.iter() {
        let input = shared_variables.iter().find(|v| number_of(item) == Some(v.number));
        if let Some(input) = input.filter(|v| v.ty != item.ty) {
            let [out, into] = [item.ty, input.ty].map(|ty| program.env.type_name(ty));
            let what = format!("attribute({}) that the vertex stage gives as {out} and the fragment stage takes as {into}", input.number);
            return Err(Refusal { what, span: item.span, construct: Some(Construct::Stages) });
        }
    }
    let mut first = Compiler::new(program, span_of(vertex), options);
    first.stage.inputs = located(program, vertex.inputs.iter());
    first.stage.outputs.clone_from(&shared_variables);
    first.stage.writable.clone_from(&writable);
    let first = first.entry_point(vertex, options)?;
    let mut second = Compiler::new(program, span_of(fragment), options);
    second.stage.inputs = shared_variables;
    second.stage.writable = writable;
    second.stage.bindings.clone_from(&first.bindings);
    let second = second.entry_point(fragment, options)?;
    let mut bindings = first.bindings.clone();
    for binding in &second.bindings {
        match bindings.iter_mut().find(|b| (b.set, b.binding) == (binding.set, binding.binding)) {
            Some(merged) => merged.names.extend(binding.names.iter().filter(|n| !merged.names.contains(n)).cloned().collect::<Vec<_>>()),
            None => bindings.push(binding.clone()),
        }
    }
    // WSL shades every vertex before the first fragment. Vulkan does not order the stages of
    // a draw.
    let has_binding = |module: &Module, at: (u32, u32)| module.bindings.iter().any(|b| (b.set, b.binding) == at);
    let shared =
        first.stores.iter().find(|at| has_binding(&second, **at)).or_else(|| second.stores.iter().find(|at| has_binding(&first, **at)));
    if let Some(binding) = shared.and_then(|at| bindings.iter().find(|b| (b.set, b.binding) == *at)) {
        let what =
            format!("a draw of which one stage stores in {} and the other one uses it, which Vulkan does not order,", binding.register);
        return Err(Refusal { what, span: span_of(vertex), construct: Some(Construct::Unordered) });
    }
    Ok(DrawModules { vertex: first, fragment: second, bindings })
}

/// Makes a vertex stage for a fragment stage that has none. Its attributes are the position, in
/// WSL's clip space, and the inputs of the fragment stage.
fn passthrough_vertex_stage(
    program: &Program,
    fragment: &EntryPoint,
    inputs: &[StageVariable],
    options: &Options,
) -> Result<Module, Refusal> {
    let mut c = Compiler::new(program, program.env.function(fragment.function).span, options);
    let location = inputs.iter().map(|v| v.location + v.columns).max().unwrap_or(0);
    let position =
        StageVariable { number: location, ty: TypeId::vector(Scalar::Float, 4), columns: 1, location, qualifiers: SmallVec::new() };
    c.stage.outputs = inputs.to_vec();
    let (main, void) = (c.e.fresh(), c.void());
    c.emitted(main, void, &[], "main", |c| {
        for variable in inputs {
            let Some(shape) = c.shape(variable.ty) else { return c.unforeseen("this stage variable") };
            let of = c.column_type(shape);
            for column in 0..variable.columns {
                let [from, to] = [(StorageClass::Input, false), (StorageClass::Output, true)]
                    .map(|(class, interpolated)| c.column_variable(class, variable, column, interpolated));
                let (from, to) = (from?, to?);
                c.e.enter(Rule::CodegenLocation);
                let value = c.e.op(Op::Load, of, &[from]);
                c.e.effect(Op::Store, &[to, value]);
            }
        }
        let (from, of) = (c.column_variable(StorageClass::Input, &position, 0, false)?, c.vector(Scalar::Float, 4));
        c.e.enter(Rule::CodegenLocation);
        let value = c.e.op(Op::Load, of, &[from]);
        c.give_position(value);
        Ok(())
    })?;
    c.stage.inputs = std::iter::once(position).chain(inputs.iter().cloned()).collect();
    let shell = Shell { model: ExecutionModel::Vertex, main, name: "main".into(), modes: Vec::new() };
    c.finish(&shell, options)
}

impl Compiler<'_> {
    /// The module of an entry point and of everything that it reaches.
    fn entry_point(mut self, entry: &EntryPoint, options: &Options) -> Done<Module> {
        let program = self.program;
        let (function, body) = (program.env.function(entry.function), program.body(entry.function));
        self.stage.is_fragment = entry.stage == Stage::Fragment;
        if self.stage.is_fragment {
            self.unread = unread_results(program);
        }
        let (shader, result) = (self.e.fresh(), self.ty(function.result)?);
        let name = program.env.names.name(function.name.name);
        self.emitted(shader, result, &[], name, |c| {
            c.debug_function(shader, function, name)?;
            for (k, (parameter, &store)) in function.parameters.iter().zip(&body.parameters).enumerate() {
                c.span = parameter.span;
                let mut items = entry.inputs.iter().filter(|item| item.parameter == Some(k as u32));
                if c.is_known(parameter.ty) {
                    let meaning = c.resource(parameter.ty, &mut items)?;
                    c.stores.insert(store, meaning);
                    continue;
                }
                let value = c.built(parameter.ty, &mut items)?;
                let VariableMeaning::Variable(root) = c.bound(store)? else { return c.unforeseen("this parameter") };
                c.store(Rule::CodegenLocalInitial, &Place::whole(root), value)?;
            }
            c.statement(body.block)
        })?;
        let main = self.around_shader(shader, Some(entry))?;
        let name = name.to_string();
        let shell = match entry.stage {
            Stage::Compute(size) => Shell::compute(main, &name, size),
            Stage::Vertex => Shell { model: ExecutionModel::Vertex, main, name, modes: Vec::new() },
            Stage::Fragment => {
                let depth = self.stage.replaces_depth.then_some(ExecutionMode::DepthReplacing);
                let modes = std::iter::once(ExecutionMode::OriginUpperLeft).chain(depth);
                let modes = modes.map(|mode| Operands::from_slice(&[mode as u32])).collect();
                Shell { model: ExecutionModel::Fragment, main, name, modes }
            }
        };
        self.finish(&shell, options)
    }

    /// Emits the functions that the shader calls, then the entry point around the shader. Only then
    /// are the threadgroup variables known that it must initialise. The entry point stores the
    /// shader's result in the output variables.
    pub(super) fn around_shader(&mut self, shader: Id, entry: Option<&EntryPoint>) -> Done<Id> {
        self.emit_callees()?;
        self.stores.clear();
        let (main, void) = (self.e.fresh(), self.void());
        let result = match entry {
            Some(entry) => self.ty(self.program.env.function(entry.function).result)?,
            None => void,
        };
        self.emitted(main, void, &[], "main", |c| {
            c.zero_group()?;
            c.e.enter(Rule::CodegenFunction);
            let value = c.e.op(Op::FunctionCall, result, &[shader]);
            for item in entry.iter().flat_map(|e| &e.outputs) {
                c.span = item.span;
                let of = c.ty(item.ty)?;
                c.e.enter(Rule::CodegenField);
                let part = if item.path.is_empty() {
                    value
                } else {
                    let mut operands = Operands::from_slice(&[value]);
                    operands.extend(item.path.iter().copied());
                    c.e.op(Op::CompositeExtract, of, &operands)
                };
                c.give(item, part)?;
            }
            Ok(())
        })?;
        Ok(main)
    }

    /// Builds the value of a parameter from its items, which are in the order of its fields.
    pub(super) fn built<'i>(&mut self, ty: TypeId, items: &mut impl Iterator<Item = &'i Item>) -> Done<Id> {
        let program = self.program;
        if let Type::Struct(s) = program.env.types.get(ty) {
            if program.env.structure(s).fields.is_empty() {
                return self.default_value(ty);
            }
            let mut fields = Vec::new();
            for field in &program.env.structure(s).fields {
                fields.push(self.built(field.ty, items)?);
            }
            let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenBuiltIn));
            let value = self.e.op(Op::CompositeConstruct, of, &fields);
            self.e.rule = saved;
            return Ok(value);
        }
        match items.next().and_then(|item| Some((item, item.semantic?.0))) {
            // Whether it is 0 or 1 is unspecified (ERRATA WSL-D29).
            Some((_, Semantic::Builtin(BuiltinSemantic::InnerCoverage))) => {
                let saved = self.e.enter(Rule::CodegenCoverage);
                let zero = self.uint_constant(0);
                self.e.rule = saved;
                Ok(zero)
            }
            Some((_, Semantic::Builtin(semantic))) => {
                let id = self.input(semantic)?;
                let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenBuiltIn));
                let value = self.e.op(Op::Load, of, &[id]);
                self.e.rule = saved;
                Ok(value)
            }
            Some((_, Semantic::Attribute(number))) => match self.stage.inputs.iter().find(|v| v.number == number).cloned() {
                Some(variable) => self.attribute(&variable),
                None => {
                    let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenLeftOver));
                    let value = self.e.declare_new(Op::ConstantNull, Some(of), &[]);
                    self.e.rule = saved;
                    Ok(value)
                }
            },
            Some((item, Semantic::Specialized)) => {
                let value = self.specialized(item, ty)?;
                self.valid(value, ty)
            }
            _ => {
                let name = program.env.type_name(ty);
                self.unforeseen(format!("a {name} that the entry point is given"))
            }
        }
    }

    /// A specialization constant. Its SpecId is its index among the inputs of the entry point.
    fn specialized(&mut self, item: &Item, ty: TypeId) -> Done<Id> {
        let program = self.program;
        let place = program.entry_points.iter().find_map(|entry| entry.inputs.iter().position(|input| std::ptr::eq(input, item)));
        let (Some(number), Some(Shape { scalar, columns: 1, rows: 1 })) = (place, self.shape(ty)) else {
            return self.unforeseen("this specialization constant");
        };
        let (of, saved) = (self.scalar(scalar), self.e.enter(Rule::CodegenSpecialization));
        let id = match scalar {
            Scalar::Bool => self.e.declare_new(Op::SpecConstantFalse, Some(of), &[]),
            _ => self.e.declare_new(Op::SpecConstant, Some(of), &[0]),
        };
        self.e.decorate(id, Decoration::SpecId, &[number as u32]);
        if let Some(name) = item.name {
            self.e.name(id, program.env.names.name(name));
        }
        self.e.rule = saved;
        Ok(id)
    }

    /// The input variable of a built-in.
    pub(super) fn input(&mut self, semantic: BuiltinSemantic) -> Done<Id> {
        use BuiltinSemantic as S;
        let (built_in, scalar, n) = match semantic {
            S::DispatchThreadId => (BuiltIn::GlobalInvocationId, Scalar::Uint, 3),
            S::GroupId => (BuiltIn::WorkgroupId, Scalar::Uint, 3),
            S::GroupThreadId => (BuiltIn::LocalInvocationId, Scalar::Uint, 3),
            S::GroupIndex => (BuiltIn::LocalInvocationIndex, Scalar::Uint, 1),
            S::VertexId => (BuiltIn::VertexIndex, Scalar::Uint, 1),
            S::InstanceId => (BuiltIn::InstanceIndex, Scalar::Uint, 1),
            S::IsFrontFace => (BuiltIn::FrontFacing, Scalar::Bool, 1),
            S::SampleIndex => (BuiltIn::SampleId, Scalar::Uint, 1),
            other => return self.unforeseen(format!("the semantic {} as an argument", other.keyword())),
        };
        let of = self.vector(scalar, n);
        let id = self.built_in(Rule::CodegenBuiltIn, StorageClass::Input, built_in, of, semantic.keyword());
        Ok(id)
    }

    /// The variable of a built-in with that type. It is declared on first use.
    fn built_in(&mut self, rule: Rule, class: StorageClass, built_in: BuiltIn, of: Id, name: &str) -> Id {
        if let Some(&id) = self.stage.built_ins.get(&(class, built_in as u32)) {
            return id;
        }
        let (pointer, saved) = (self.pointer(class, of), self.e.enter(rule));
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[class as u32]);
        self.e.decorate(id, Decoration::BuiltIn, &[built_in as u32]);
        if built_in == BuiltIn::SampleId {
            self.e.capabilities.insert(Capability::SampleRateShading as u32);
            self.e.decorate(id, Decoration::Flat, &[]);
        }
        self.e.name(id, name);
        self.e.rule = saved;
        self.stage.built_ins.insert((class, built_in as u32), id);
        self.stage.variables.push(id);
        id
    }

    /// Whether the invocation of a fragment stage is a helper: its input SampleMask is 0, since it
    /// covers no sample. naga does not take HelperInvocation.
    pub(super) fn is_helper(&mut self, rule: Rule) -> Id {
        let (uint, one, zero, truth) = (self.uint(), self.uint_constant(1), self.uint_constant(0), self.scalar(Scalar::Bool));
        let masks = self.e.declare(Op::TypeArray, None, &[uint, one]);
        let covered = self.built_in(rule, StorageClass::Input, BuiltIn::SampleMask, masks, "covered");
        let pointer = self.pointer(StorageClass::Input, uint);
        let saved = self.e.enter(rule);
        let first = self.e.op(Op::AccessChain, pointer, &[covered, zero]);
        let mask = self.e.op(Op::Load, uint, &[first]);
        let helper = self.e.op(Op::IEqual, truth, &[mask, zero]);
        self.e.rule = saved;
        helper
    }

    /// The type of a column in the interface between stages. A bool is a uint there.
    fn column_type(&mut self, shape: Shape) -> Id {
        let scalar = if shape.scalar == Scalar::Bool { Scalar::Uint } else { shape.scalar };
        self.vector(scalar, shape.rows)
    }

    /// The variable of a column of a stage input or output. `interpolated` variables lie between
    /// the vertex stage and the fragment stage.
    fn column_variable(&mut self, class: StorageClass, variable: &StageVariable, column: u32, interpolated: bool) -> Done<Id> {
        let location = variable.location + column;
        if let Some(&id) = self.stage.columns.get(&(class, location)) {
            return Ok(id);
        }
        let Some(shape) = self.shape(variable.ty) else { return self.unforeseen("this stage variable") };
        let of = self.column_type(shape);
        let (pointer, saved) = (self.pointer(class, of), self.e.enter(Rule::CodegenLocation));
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[class as u32]);
        self.e.decorate(id, Decoration::Location, &[location]);
        self.e.name(id, &format!("attribute{}", variable.number));
        self.e.enter(Rule::CodegenInterpolation);
        let has = |qualifier| interpolated && variable.qualifiers.contains(&qualifier);
        if interpolated && (shape.scalar != Scalar::Float || has(Qualifier::Nointerpolation)) {
            self.e.decorate(id, Decoration::Flat, &[]);
        } else {
            if has(Qualifier::Noperspective) {
                self.e.decorate(id, Decoration::NoPerspective, &[]);
            }
            if has(Qualifier::Centroid) {
                self.e.decorate(id, Decoration::Centroid, &[]);
            } else if has(Qualifier::Sample) {
                self.e.capabilities.insert(Capability::SampleRateShading as u32);
                self.e.decorate(id, Decoration::Sample, &[]);
            }
        }
        self.e.rule = saved;
        self.stage.columns.insert((class, location), id);
        self.stage.variables.push(id);
        Ok(id)
    }

    /// Whether variables of that storage class lie between the vertex stage and the fragment stage.
    fn is_interpolated(&self, class: StorageClass) -> bool {
        (class == StorageClass::Input) == self.stage.is_fragment
    }

    /// Loads the input of a stage with the semantic attribute(n).
    fn attribute(&mut self, variable: &StageVariable) -> Done<Id> {
        let Some(shape) = self.shape(variable.ty) else { return self.unforeseen("this stage variable") };
        let (of, whole) = (self.column_type(shape), self.ty(variable.ty)?);
        let saved = self.e.rule;
        let mut columns = Operands::new();
        for column in 0..variable.columns {
            let interpolated = self.is_interpolated(StorageClass::Input);
            let id = self.column_variable(StorageClass::Input, variable, column, interpolated)?;
            self.e.enter(Rule::CodegenLocation);
            let mut value = self.e.op(Op::Load, of, &[id]);
            if shape.scalar == Scalar::Bool {
                let (truth, zero) = (self.vector(Scalar::Bool, shape.rows), self.splat_constant(Scalar::Uint, shape.rows, 0));
                self.e.enter(Rule::CodegenInterfaceBool);
                value = self.e.op(Op::INotEqual, truth, &[value, zero]);
            }
            columns.push(value);
        }
        self.e.enter(Rule::CodegenLocation);
        let value = if let [only] = columns[..] { only } else { self.e.op(Op::CompositeConstruct, whole, &columns) };
        self.e.rule = saved;
        Ok(value)
    }

    /// Stores a result in its output variable. An attribute that the fragment stage does not use
    /// is dropped.
    fn give(&mut self, item: &Item, value: Id) -> Done {
        use BuiltinSemantic as S;
        let float = self.scalar(Scalar::Float);
        match item.semantic.map(|(semantic, _)| semantic) {
            Some(Semantic::Attribute(number)) => {
                if let Some(variable) = self.stage.outputs.iter().find(|v| v.number == number).cloned() {
                    self.give_variable(&variable, value)?;
                }
            }
            Some(Semantic::Target(n)) => {
                let of = self.vector(Scalar::Float, 4);
                let (pointer, saved) = (self.pointer(StorageClass::Output, of), self.e.enter(Rule::CodegenTarget));
                let id = self.e.declare_new(Op::Variable, Some(pointer), &[StorageClass::Output as u32]);
                self.e.decorate(id, Decoration::Location, &[n]);
                self.e.name(id, &format!("target{n}"));
                self.e.effect(Op::Store, &[id, value]);
                self.e.rule = saved;
                self.stage.variables.push(id);
            }
            Some(Semantic::Builtin(S::Position)) => self.give_position(value),
            Some(Semantic::Builtin(S::PointSize)) => {
                let id = self.built_in(Rule::CodegenBuiltIn, StorageClass::Output, BuiltIn::PointSize, float, "PSIZE");
                self.e.enter(Rule::CodegenBuiltIn);
                self.e.effect(Op::Store, &[id, value]);
            }
            Some(Semantic::Builtin(S::Depth)) => {
                self.stage.replaces_depth = true;
                let id = self.built_in(Rule::CodegenDepth, StorageClass::Output, BuiltIn::FragDepth, float, S::Depth.keyword());
                let [least, most] = [0f32, 1.0].map(|x| self.scalar_constant(Scalar::Float, x.to_bits()));
                self.e.enter(Rule::CodegenDepth);
                let within = self.e.glsl(Glsl::NClamp, float, &[value, least, most]);
                self.e.effect(Op::Store, &[id, within]);
            }
            Some(Semantic::Builtin(S::Coverage)) => {
                let (uint, one, zero) = (self.uint(), self.uint_constant(1), self.uint_constant(0));
                let masks = self.e.declare(Op::TypeArray, None, &[uint, one]);
                let id = self.built_in(Rule::CodegenCoverage, StorageClass::Output, BuiltIn::SampleMask, masks, S::Coverage.keyword());
                let pointer = self.pointer(StorageClass::Output, uint);
                self.e.enter(Rule::CodegenCoverage);
                let first = self.e.op(Op::AccessChain, pointer, &[id, zero]);
                self.e.effect(Op::Store, &[first, value]);
            }
            _ => return self.unforeseen("this result of an entry point"),
        }
        Ok(())
    }

    fn give_variable(&mut self, variable: &StageVariable, value: Id) -> Done {
        let Some(shape) = self.shape(variable.ty) else { return self.unforeseen("this stage variable") };
        for column in 0..variable.columns {
            let interpolated = self.is_interpolated(StorageClass::Output);
            let id = self.column_variable(StorageClass::Output, variable, column, interpolated)?;
            self.e.enter(Rule::CodegenLocation);
            let mut part = if variable.columns == 1 { value } else { self.column(shape, value, column as u8) };
            if shape.scalar == Scalar::Bool {
                let [zero, one] = [0, 1].map(|bits| self.splat_constant(Scalar::Uint, shape.rows, bits));
                part = self.select(Rule::CodegenInterfaceBool, Scalar::Uint, shape.rows, [part, one, zero]);
            }
            self.e.enter(Rule::CodegenLocation);
            self.e.effect(Op::Store, &[id, part]);
        }
        Ok(())
    }

    /// Stores SV_Position, converted to Vulkan's clip space.
    fn give_position(&mut self, value: Id) {
        let (float, of) = (self.scalar(Scalar::Float), self.vector(Scalar::Float, 4));
        let id = self.built_in(Rule::CodegenPosition, StorageClass::Output, BuiltIn::Position, of, "SV_Position");
        let half = self.scalar_constant(Scalar::Float, 0.5f32.to_bits());
        self.e.enter(Rule::CodegenPosition);
        let [x, y, z, w] = [0, 1, 2, 3].map(|c| self.e.op(Op::CompositeExtract, float, &[value, c]));
        let y = self.e.op(Op::FNegate, float, &[y]);
        let (z, rest) = (self.e.op(Op::FMul, float, &[z, half]), self.e.op(Op::FMul, float, &[w, half]));
        let z = self.e.op(Op::FAdd, float, &[z, rest]);
        let value = self.e.op(Op::CompositeConstruct, of, &[x, y, z, w]);
        self.e.effect(Op::Store, &[id, value]);
    }
}
