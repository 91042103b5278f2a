//! The inputs and outputs of an entry point (seed 002, Remapping builtin inputs and outputs; We
//! only care about gl_Position from gl_PerVertex; gl_PointSize must be 1.0; Remapping sample mask
//! inputs and outputs).
//!
//! Inputs and outputs are variables in SPIR-V, and parameters and results in WGSL. An input is the
//! parameter itself, and other functions that read it get a parameter for it too. A private
//! variable would not do: WGSL assumes that it differs between invocations, but the number of a
//! workgroup does not. An input becomes a private variable, which the entry point sets first, if a
//! pointer to it is passed or if it has several parts. An output is a private variable that the
//! entry point returns. An input or output that spans several locations has a parameter or a part
//! of the result for each.

use rspirv::spirv::{BuiltIn, Decoration as Decorate, ExecutionModel, Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::module::{EntryPoint, Function, Variable, WHOLE};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::text::deep;

use super::convert::Convert;
use super::function::Body;
use super::text::{COMPONENTS, Text};
use super::{PointSize, Refused, Why};

/// The most parts of all variables of an interface together.
const MAX_SLOTS: usize = 256;

/// The most slots whose locations are compared in pairs.
const MAX_LOCATED: usize = 32;

/// The most clip distances of a vertex.
const MAX_CLIP_DISTANCES: u64 = 8;

/// The WGSL attributes of a location.
fn attributes_of(located: &Located) -> String {
    let location = Text::numbered("@location(", located.location.into(), ")");
    let index = located.index.map(|index| Text::numbered(" @blend_src(", index.into(), ")"));
    [&*location, index.as_deref().unwrap_or_default(), &*located.interpolation].concat()
}

/// A parameter, or a part of the result.
#[derive(Clone, Debug)]
struct Slot {
    /// The WGSL attributes, such as `@builtin(position)`.
    attributes: String,
    /// The type in WGSL's interface.
    text: Text,
    /// The path to the part of the variable: empty, or accesses such as `.x` and `[0]`.
    path: String,
    /// The type of that part, if its integers have another sign than in the interface.
    cast: Option<Text>,
    /// The preferred name of a parameter.
    wanted_name: String,
    /// The location and components. `None` for a built-in.
    located: Option<Located>,
}

/// A location, and the components there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Located {
    location: u32,
    /// The index of the colour for dual-source blending.
    index: Option<u32>,
    /// The first component, and the number of components.
    components: (u32, u32),
    scalar: Scalar,
    /// The interpolation attribute, such as ` @interpolate(flat)`.
    interpolation: String,
}

/// Several variables at one location, which share a parameter or a part of the result.
#[derive(Clone, Debug)]
struct Shared {
    attributes: String,
    name: Text,
    text: Text,
    /// The number of components. `scalar` is their type.
    components: u32,
    scalar: Scalar,
    location: (u32, Option<u32>),
}

/// A variable in the interface of the entry point.
#[derive(Clone, Debug)]
pub(super) struct Port {
    id: u32,
    slots: Vec<Slot>,
    /// The names of its parameters.
    names: Vec<Text>,
    /// Whether it is a private variable.
    is_private: bool,
}

impl Port {
    /// Whether several slots share the location of a slot.
    fn is_shared(slot: &Slot, shared: &[Shared]) -> bool {
        slot.located.as_ref().is_some_and(|l| shared.iter().any(|s| s.location == (l.location, l.index)))
    }
}

/// The interface of the entry point that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// The locations that several inputs, or several outputs, share.
    shared_inputs: Vec<Shared>,
    shared_outputs: Vec<Shared>,
    /// Whether a position is added to the result. WGSL requires one of a vertex stage.
    position: bool,
    /// The structure of the result, if it has several parts.
    result: Option<Text>,
}

/// A built-in in WGSL: its name, and its type.
fn built_in(built_in: BuiltIn, model: ExecutionModel, input: bool) -> Option<(&'static str, &'static str)> {
    use ExecutionModel::{Fragment, GLCompute, Vertex};
    Some(match (built_in, model, input) {
        (BuiltIn::GlobalInvocationId, GLCompute, true) => ("global_invocation_id", "vec3<u32>"),
        (BuiltIn::LocalInvocationId, GLCompute, true) => ("local_invocation_id", "vec3<u32>"),
        (BuiltIn::WorkgroupId, GLCompute, true) => ("workgroup_id", "vec3<u32>"),
        (BuiltIn::NumWorkgroups, GLCompute, true) => ("num_workgroups", "vec3<u32>"),
        (BuiltIn::LocalInvocationIndex, GLCompute, true) => ("local_invocation_index", "u32"),
        (BuiltIn::VertexIndex, Vertex, true) => ("vertex_index", "u32"),
        (BuiltIn::InstanceIndex, Vertex, true) => ("instance_index", "u32"),
        (BuiltIn::Position, Vertex, false) => ("position", "vec4<f32>"),
        (BuiltIn::FragCoord, Fragment, true) => ("position", "vec4<f32>"),
        (BuiltIn::FrontFacing, Fragment, true) => ("front_facing", "bool"),
        (BuiltIn::PrimitiveId, Fragment, true) => ("primitive_index", "u32"),
        (BuiltIn::ClipDistance, Vertex, false) => ("clip_distances", "array<f32>"),
        (BuiltIn::SampleId, Fragment, true) => ("sample_index", "u32"),
        (BuiltIn::SampleMask, Fragment, _) => ("sample_mask", "u32"),
        (BuiltIn::FragDepth, Fragment, false) => ("frag_depth", "f32"),
        _ => return None,
    })
}

/// Whether WGSL lacks a built-in output, or has it only by an extension. The output can be dropped
/// if it is never set, or if it is set to 1.0.
fn is_ignored(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::PointSize | BuiltIn::ClipDistance | BuiltIn::CullDistance)
}

impl Convert<'_> {
    /// Finds the inputs and outputs of an entry point that functions use.
    pub(super) fn find_ports(&mut self, entry: &EntryPoint, function: &Function) -> Result<(), Refused> {
        self.ports = Ports::default();
        let module = self.module;
        let modes = module.modes(entry);
        if modes.early_fragment_tests && !self.ignores_early_tests(entry) {
            return Err(self.refused(
                Why::EntryPoint,
                format!("entry point {:?} has EarlyFragmentTests, which WGSL has not, and does what shows them", entry.name),
            ));
        }
        if modes.depth.is_some() {
            self.notes.push("what is said of how FragDepth compares is left out".into());
        }
        for &id in module.interface_of(entry) {
            let Some(variable) = module.variable(id).copied() else { continue };
            let uses = self.scan.uses_of(id).cloned().unwrap_or_default();
            let (is_used, used_elsewhere) = (!uses.functions.is_empty(), uses.functions.iter().any(|by| *by != function.id));
            let input = match variable.class {
                StorageClass::Input => true,
                StorageClass::Output => false,
                _ => continue,
            };
            if !is_used && variable.initializer.is_none() {
                continue;
            }
            let has_clip_distances = !input && self.ignored_outputs(&variable)?;
            let mut slots = Vec::new();
            self.slots(entry.model, &variable, input, has_clip_distances, &mut slots)?;
            if slots.len() > MAX_SLOTS {
                return Err(self.refused(Why::Limit, format!("%{id} has more than {MAX_SLOTS} locations")));
            }
            let starts_at_first = |slot: &Slot| slot.located.as_ref().is_none_or(|l| l.components.0 == 0);
            let is_simple = matches!(&slots[..], [slot] if slot.path.is_empty() && slot.cast.is_none() && starts_at_first(slot));
            // A function that several entry points reach is written once.
            let is_of_one = module.entry_points().iter().filter(|e| module.interface_of(e).contains(&id)).count() == 1;
            let is_private = !input || !is_simple || uses.is_argument || used_elsewhere && !is_of_one;
            let names = match input {
                true => slots.iter().map(|slot| self.names.fresh(&slot.wanted_name)).collect(),
                false => Vec::new(),
            };
            let port = Port { id, slots, names, is_private };
            if input { self.ports.inputs.push(port) } else { self.ports.outputs.push(port) }
        }
        for input in [true, false] {
            self.share_locations(input)?;
        }
        self.find_input_parameters();
        let has_position = self.ports.outputs.iter().flat_map(|p| &p.slots).any(|s| s.attributes.contains("position"));
        self.ports.position = entry.model == ExecutionModel::Vertex && !has_position;
        Ok(())
    }

    /// Finds the inputs that each function or its callees read. They become parameters of
    /// the function.
    fn find_input_parameters(&mut self) {
        let module = self.module;
        let inputs: Vec<u32> = self.ports.inputs.iter().filter(|port| !port.is_private).map(|port| port.id).collect();
        let mut work = Vec::new();
        for &input in &inputs {
            work.extend(self.scan.uses_of(input).into_iter().flat_map(|uses| &uses.functions).map(|&function| (function, input)));
        }
        if work.is_empty() {
            return;
        }
        let callers = self.scan.callers(module);
        while let Some((function, input)) = work.pop() {
            let inputs = self.input_parameters.entry(function).or_default();
            if !inputs.contains(&input) {
                inputs.push(input);
                work.extend(callers.get(&function).into_iter().flatten().map(|&caller| (caller, input)));
            }
        }
        self.input_parameters.values_mut().for_each(|inputs| inputs.sort_unstable());
    }

    /// Whether early depth and stencil tests make no difference: the shader writes no memory and no
    /// depth, and does not end early.
    fn ignores_early_tests(&self, entry: &EntryPoint) -> bool {
        let module = self.module;
        let memory = |id: u32| {
            let class = module.type_of(id).and_then(|t| module.pointer_type(t)).map(|(class, _)| class);
            matches!(class, Some(StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::UniformConstant))
        };
        let shows = |i: &smallstep_semantics::spirv::Instruction| {
            let operands = i.operands(module.words());
            match i.op {
                Op::Kill | Op::TerminateInvocation | Op::DemoteToHelperInvocation | Op::ImageWrite => true,
                Op::Store | Op::CopyMemory => memory(operands[0]),
                op => Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32,
            }
        };
        let depth = module.modes(entry).depth_replacing;
        !depth && !module.blocks().iter().flat_map(|b| module.code(b)).any(shows)
    }

    /// Finds the locations that several variables share. In WGSL, a location has one variable,
    /// which begins at the first component.
    fn share_locations(&mut self, input: bool) -> Result<(), Refused> {
        let ports = if input { &self.ports.inputs } else { &self.ports.outputs };
        let located = || ports.iter().flat_map(|p| &p.slots).filter_map(|s| s.located.as_ref());
        let is_alone = |a: &Located| located().filter(|b| (a.location, a.index) == (b.location, b.index)).count() == 1;
        if located().count() <= MAX_LOCATED && located().all(|l| l.components.0 == 0 && is_alone(l)) {
            return Ok(());
        }
        let ports = ports.clone();
        let mut places: FxHashMap<(u32, Option<u32>), Vec<&Located>> = FxHashMap::default();
        let mut order = Vec::new();
        for located in ports.iter().flat_map(|p| &p.slots).filter_map(|s| s.located.as_ref()) {
            let located_there = places.entry((located.location, located.index)).or_default();
            if located_there.is_empty() {
                order.push((located.location, located.index));
            }
            located_there.push(located);
        }
        let mut shared: Vec<Shared> = Vec::new();
        for location in order {
            let located_there = &places[&location];
            let first = located_there[0];
            if located_there.len() == 1 && first.components.0 == 0 {
                continue;
            }
            if located_there.iter().any(|l| l.scalar != first.scalar || l.interpolation != first.interpolation) {
                let what = format!("location {} has variables of different types or interpolation, and WGSL has one there", location.0);
                return Err(self.refused(Why::BuiltIn, what));
            }
            let components = located_there.iter().map(|l| l.components.0 + l.components.1).max().unwrap_or(1);
            let text = self.shape_type(Shape::vector(first.scalar, components.min(4) as u8))?;
            let name = self.names.fresh(&format!("location_{}", location.0));
            let attributes = attributes_of(first);
            shared.push(Shared { attributes, name, text, components, scalar: first.scalar, location });
        }
        if shared.is_empty() {
            return Ok(());
        }
        let ports = if input { &mut self.ports.inputs } else { &mut self.ports.outputs };
        for port in ports {
            for (at, slot) in port.slots.iter().enumerate() {
                let Some(located) = slot.located.as_ref().filter(|_| Port::is_shared(slot, &shared)) else { continue };
                let shared_slot = shared.iter().find(|s| s.location == (located.location, located.index));
                let (first, count) = (located.components.0 as usize, located.components.1 as usize);
                port.is_private = true;
                if let (Some(shared_slot), Some(name)) = (shared_slot, port.names.get_mut(at)) {
                    let letters: String = COMPONENTS.iter().skip(first).take(count).copied().collect();
                    *name =
                        if shared_slot.components == 1 { shared_slot.name.clone() } else { Text::of(&[&shared_slot.name, ".", &letters]) };
                }
            }
        }
        if input {
            self.ports.shared_inputs = shared
        } else {
            self.ports.shared_outputs = shared
        }
        Ok(())
    }

    /// Checks the stores to outputs that WGSL lacks. Returns whether there are clip distances.
    fn ignored_outputs(&mut self, variable: &Variable) -> Result<bool, Refused> {
        let module = self.module;
        let members = module.types().members(variable.type_).len() as u32;
        let of_member = |member: u32| module.built_in(variable.type_, member).filter(|b| is_ignored(*b));
        let of_variable = module.built_in(variable.id, WHOLE).filter(|b| is_ignored(*b));
        if of_variable.is_none() && !(0..members).any(|member| of_member(member).is_some()) {
            return Ok(false);
        }
        let mut pointers: FxHashMap<u32, BuiltIn> = FxHashMap::default();
        pointers.extend(of_variable.map(|b| (variable.id, b)));
        let (mut has_clip_distances, mut sets_point_size) = (false, false);
        for i in module.instructions() {
            let operands = i.operands(module.words());
            match i.op {
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => {
                    let member = || operands.get(1).and_then(|&index| module.integer(index)).and_then(|at| u32::try_from(at).ok());
                    let found = match pointers.get(&operands[0]) {
                        Some(&built_in) => Some(built_in),
                        None if operands[0] == variable.id => member().and_then(of_member),
                        None => None,
                    };
                    pointers.extend(found.map(|b| (i.result, b)));
                }
                Op::Store | Op::CopyMemory | Op::FunctionCall => {
                    for (at, pointer) in operands.iter().enumerate().take(if i.is(Op::FunctionCall) { operands.len() } else { 1 }) {
                        let value = if i.is(Op::Store) { operands.get(1).copied() } else { None };
                        let of_pointer = pointers.get(pointer).map(|&built_in| (built_in, value));
                        // The pointer may refer to all of gl_PerVertex.
                        let all = (0..members).filter(|_| *pointer == variable.id && (at > 0 || !i.is(Op::FunctionCall)));
                        let part = |member: u32| {
                            let composite = module.instruction(value?).filter(|i| i.is(Op::ConstantComposite))?;
                            composite.operands(module.words()).get(member as usize).copied()
                        };
                        let members = all.filter_map(|member| of_member(member).map(|built_in| (built_in, part(member))));
                        for (built_in, value) in of_pointer.into_iter().chain(members) {
                            let is_one = value.and_then(|value| module.constant_value(value)) == Some(u64::from(1.0f32.to_bits()));
                            match built_in {
                                BuiltIn::ClipDistance => has_clip_distances = true,
                                BuiltIn::PointSize if is_one => {}
                                BuiltIn::PointSize if self.options.point_size == PointSize::Ignore => sets_point_size = true,
                                BuiltIn::PointSize => {
                                    return Err(self.refused_at(i, Why::BuiltIn, "the size of points is always 1.0 in WGSL"));
                                }
                                _ => return Err(self.refused_at(i, Why::BuiltIn, "WGSL has no cull distances")),
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        if sets_point_size {
            self.notes.push("the size of points is left out: in WGSL it is always 1.0".into());
        }
        Ok(has_clip_distances)
    }

    fn slots(
        &mut self,
        model: ExecutionModel,
        variable: &Variable,
        input: bool,
        has_clip_distances: bool,
        slots: &mut Vec<Slot>,
    ) -> Result<(), Refused> {
        let module = self.module;
        let id = variable.id;
        let wanted_name = self.op_name(id).map_or_else(String::new, str::to_string);
        let ignored = |builtin: BuiltIn| !input && is_ignored(builtin) && !(has_clip_distances && builtin == BuiltIn::ClipDistance);
        if let Some(builtin) = module.built_in(id, WHOLE) {
            if ignored(builtin) {
                return Ok(());
            }
            return self.built_in_slot(model, builtin, variable.type_, id, input, String::new(), &wanted_name, slots);
        }
        let members = module.types().members(variable.type_).to_vec();
        let names = self.member_names(variable.type_);
        let is_block = module.decoration(variable.type_, WHOLE, Decorate::Block).is_some();
        let mut location = module.decoration(id, WHOLE, Decorate::Location);
        if !is_block && !matches!(module.types().get(variable.type_), Some(Type::Struct { .. })) {
            let Some(location) = &mut location else {
                return Err(self.refused(Why::BuiltIn, format!("%{id} has neither a BuiltIn nor a Location")));
            };
            let interpolation = self.interpolation(model, input, id, WHOLE);
            let mut at = self.first_location(*location, id, WHOLE, interpolation);
            return self.add_located_slots(variable.type_, &mut at, String::new(), &wanted_name, slots);
        }
        for (at, member) in members.iter().enumerate() {
            let at = at as u32;
            let path = format!(".{}", names[at as usize]);
            if let Some(builtin) = module.built_in(variable.type_, at) {
                if ignored(builtin) {
                    continue;
                }
                self.built_in_slot(model, builtin, member.type_, id, input, path, &names[at as usize], slots)?;
                continue;
            }
            if let Some(own) = module.decoration(variable.type_, at, Decorate::Location) {
                location = Some(own);
            }
            let Some(location) = &mut location else {
                return Err(self.refused(Why::BuiltIn, format!("member {at} of %{id} has neither a BuiltIn nor a Location")));
            };
            let interpolation = match self.interpolation(model, input, variable.type_, at) {
                interpolation if interpolation.is_empty() => self.interpolation(model, input, id, WHOLE),
                interpolation => interpolation,
            };
            let mut from = self.first_location(*location, variable.type_, at, interpolation);
            self.add_located_slots(member.type_, &mut from, path, &names[at as usize], slots)?;
            *location = from.location;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn built_in_slot(
        &mut self,
        model: ExecutionModel,
        builtin: BuiltIn,
        type_: u32,
        id: u32,
        input: bool,
        path: String,
        wanted_name: &str,
        slots: &mut Vec<Slot>,
    ) -> Result<(), Refused> {
        let Some((name, text)) = built_in(builtin, model, input) else {
            if format!("{builtin:?}").contains("Subgroup") {
                return Err(self.refused(Why::Subgroups, format!("%{id} is the built-in {builtin:?}: {}", super::arithmetic::NO_SUBGROUPS)));
            }
            let what = format!(
                "%{id} is the built-in {builtin:?}, which WGSL has not as an {} of a {model:?} stage",
                if input { "input" } else { "output" }
            );
            return Err(self.refused(Why::BuiltIn, what));
        };
        let (mut path, mut type_, mut text) = (path, type_, Text::from(text));
        match self.module.types().get(type_) {
            Some(Type::Array { length, .. }) if builtin == BuiltIn::ClipDistance => {
                self.enabled.insert("clip_distances");
                if length > MAX_CLIP_DISTANCES {
                    return Err(self.refused(Why::BuiltIn, format!("WGSL has no more than {MAX_CLIP_DISTANCES} clip distances")));
                }
                text = self.value_type(type_)?;
            }
            Some(Type::Array { element, .. }) => (path, type_) = (format!("{path}[0]"), element),
            _ => {}
        }
        if builtin == BuiltIn::PrimitiveId {
            self.enabled.insert("primitive_index");
        }
        let own_type = self.value_type(type_)?;
        let wanted_name = if wanted_name.is_empty() { name } else { wanted_name };
        let invariant = self.module.decoration(id, WHOLE, Decorate::Invariant).is_some() && builtin == BuiltIn::Position;
        let attributes = ["@builtin(", name, if invariant { ") @invariant" } else { ")" }].concat();
        let cast = (own_type != text).then_some(own_type);
        slots.push(Slot { attributes, text, path, cast, wanted_name: wanted_name.into(), located: None });
        Ok(())
    }

    /// The interpolation attribute of a location between a vertex and a fragment shader.
    fn interpolation(&self, model: ExecutionModel, input: bool, target: u32, member: u32) -> String {
        let between = matches!((model, input), (ExecutionModel::Vertex, false) | (ExecutionModel::Fragment, true));
        let is = |decoration| self.module.decoration(target, member, decoration).is_some();
        if !between {
            return String::new();
        }
        let kind = if is(Decorate::NoPerspective) { "linear" } else { "perspective" };
        if is(Decorate::Flat) {
            " @interpolate(flat)".into()
        } else if is(Decorate::Centroid) {
            format!(" @interpolate({kind}, centroid)")
        } else if is(Decorate::Sample) {
            format!(" @interpolate({kind}, sample)")
        } else if kind == "linear" {
            " @interpolate(linear)".into()
        } else {
            " ".into()
        }
    }

    /// The location and first component of a variable or member.
    fn first_location(&self, location: u32, target: u32, member: u32, interpolation: String) -> Located {
        let component = self.module.decoration(target, member, Decorate::Component).unwrap_or(0).min(3);
        let component = if self.plan.forgets_components() { 0 } else { component };
        let index = self.module.decoration(target, member, Decorate::Index);
        Located { location, index, components: (component, 1), scalar: Scalar::F32, interpolation }
    }

    /// Adds the slots of a type, from a location on.
    fn add_located_slots(
        &mut self,
        type_: u32,
        at: &mut Located,
        path: String,
        wanted_name: &str,
        slots: &mut Vec<Slot>,
    ) -> Result<(), Refused> {
        if slots.len() > MAX_SLOTS {
            return Ok(());
        }
        let types = self.module.types();
        match types.get(type_) {
            _ if types.is_nothing(type_) => {}
            Some(Type::Matrix { column: part, .. } | Type::Array { element: part, .. }) => {
                for index in 0..types.parts(type_).unwrap_or(0).min(MAX_SLOTS as u64 + 1) {
                    deep(|| self.add_located_slots(part, at, format!("{path}[{index}]"), wanted_name, slots))?;
                }
            }
            Some(Type::Struct { .. }) => {
                let parts: Vec<u32> = types.members(type_).iter().map(|m| m.type_).collect();
                let names = self.member_names(type_);
                for (part, name) in parts.into_iter().zip(&*names) {
                    deep(|| self.add_located_slots(part, at, format!("{path}.{name}"), name, slots))?;
                }
            }
            _ => {
                let shape: Shape = self.module.shape(type_);
                if !shape.scalar.is_float() && !shape.scalar.is_int() {
                    return Err(self.refused(Why::Type, format!("WGSL has no {} at a location", shape.scalar)));
                }
                // Integers are never interpolated.
                let interpolation = match shape.scalar {
                    Scalar::Int { .. } if !at.interpolation.is_empty() => " @interpolate(flat)".to_string(),
                    _ => at.interpolation.trim_end().to_string(),
                };
                let wanted_name = if wanted_name.is_empty() { "value" } else { wanted_name };
                let text = self.value_type(type_)?;
                let components = (at.components.0, u32::from(shape.rows));
                let located = Located { components, scalar: shape.scalar, interpolation, ..at.clone() };
                let attributes = attributes_of(&located);
                if located.index.is_some() {
                    self.enabled.insert("dual_source_blending");
                }
                slots.push(Slot { attributes, text, path, cast: None, wanted_name: wanted_name.into(), located: Some(located) });
                at.location = at.location.saturating_add(1);
            }
        }
        Ok(())
    }

    /// The attributes, name, parameters and result of an entry point.
    pub(super) fn entry_head(&mut self, name: &str, entry: &EntryPoint) -> Result<String, Refused> {
        let attributes = match entry.model {
            ExecutionModel::GLCompute => {
                let Some([x, y, z]) = self.module.modes(entry).workgroup_size else {
                    return Err(self.refused(Why::EntryPoint, format!("entry point {name:?} has no workgroup size")));
                };
                let [x, y, z] = self.workgroup_size(entry, [x, y, z])?;
                ["@compute @workgroup_size(", &*x, ", ", &*y, ", ", &*z, ")"].concat()
            }
            ExecutionModel::Vertex => "@vertex".into(),
            ExecutionModel::Fragment => "@fragment".into(),
            other => {
                return Err(self.refused(Why::EntryPoint, format!("entry point {name:?} is of the stage {other:?}, which WGSL has not")));
            }
        };
        let ports = std::mem::take(&mut self.ports);
        let mut head = String::with_capacity(256);
        [&*attributes, "\nfn ", name, "("].iter().for_each(|part| head.push_str(part));
        let open = head.len();
        let mut add = |attributes: &str, name: &str, text: &str| {
            let comma = if head.len() == open { "" } else { ", " };
            [comma, attributes, " ", name, ": ", text].iter().for_each(|part| head.push_str(part));
        };
        for port in &ports.inputs {
            for (slot, name) in port.slots.iter().zip(&port.names).filter(|(slot, _)| !Port::is_shared(slot, &ports.shared_inputs)) {
                add(&slot.attributes, name, &slot.text);
            }
        }
        for shared in &ports.shared_inputs {
            add(&shared.attributes, &shared.name, &shared.text);
        }
        head.push(')');
        let mut parts: Vec<(&str, Text, &str)> = Vec::new();
        let mut members = super::names::Names::default();
        for slot in ports.outputs.iter().flat_map(|p| &p.slots).filter(|slot| !Port::is_shared(slot, &ports.shared_outputs)) {
            parts.push((&slot.attributes, members.fresh(&slot.wanted_name), &slot.text));
        }
        for shared in &ports.shared_outputs {
            parts.push((&shared.attributes, members.fresh(&shared.name), &shared.text));
        }
        if ports.position {
            parts.push(("@builtin(position)", members.fresh("position"), "vec4<f32>"));
        }
        let mut result = None;
        match &parts[..] {
            [] => {}
            [(attributes, _, text)] => [" -> ", attributes, " ", text].iter().for_each(|part| head.push_str(part)),
            _ => {
                let name = self.names.fresh(&[name, "_output"].concat());
                let mut write = |text: &str| self.structs.push_str(text);
                ["struct ", &name, " {\n"].into_iter().for_each(&mut write);
                for (attributes, name, text) in &parts {
                    ["    ", attributes, " ", name, ": ", text, ",\n"].into_iter().for_each(&mut write);
                }
                write("}\n\n");
                [" -> ", &name].into_iter().for_each(|part| head.push_str(part));
                result = Some(name);
            }
        }
        self.ports = Ports { result, ..ports };
        Ok(head)
    }
}

impl Body<'_, '_> {
    /// Sets the variables of inputs, and the outputs that have an initial value.
    pub(super) fn begin_entry(&mut self) -> Result<(), Refused> {
        let inputs = std::mem::take(&mut self.convert.ports.inputs);
        for port in &inputs {
            if !port.is_private {
                let type_ = self.convert.module.variable(port.id).map_or(0, |v| v.type_);
                self.remember(port.id, port.names[0].clone(), type_);
                continue;
            }
            let global = self.convert.global(port.id)?;
            for (slot, name) in port.slots.iter().zip(&port.names) {
                let value = match &slot.cast {
                    Some(own_type) => Text::of(&["bitcast<", own_type, ">(", name, ")"]),
                    None => name.clone(),
                };
                self.line_of(&[&global.name, &slot.path, " = ", &value, ";"]);
            }
        }
        self.convert.ports.inputs = inputs;
        Ok(())
    }

    /// The value of a location that several outputs share. A component that no output has is zero.
    fn shared_output(&mut self, shared: &Shared, ports: &Ports) -> Result<Text, Refused> {
        let zero = self.convert.scalar_literal(shared.scalar, 0)?.unwrap_or_default();
        let mut parts = vec![zero; shared.components.min(4) as usize];
        for port in &ports.outputs {
            let global = self.convert.global(port.id)?;
            for slot in &port.slots {
                let Some(located) = slot.located.as_ref().filter(|l| (l.location, l.index) == shared.location) else { continue };
                let (first, count) = located.components;
                for at in 0..count {
                    let component = if count == 1 { String::new() } else { format!(".{}", COMPONENTS[at as usize & 3]) };
                    if let Some(part) = parts.get_mut((first + at) as usize) {
                        *part = format!("{}{}{component}", global.name, slot.path).into();
                    }
                }
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { format!("{}({})", shared.text, parts.join(", ")).into() })
    }

    /// Writes OpReturn of the entry point.
    pub(super) fn return_from_entry(&mut self, last: bool) -> Result<(), Refused> {
        let ports = std::mem::take(&mut self.convert.ports);
        let mut parts = Vec::new();
        for port in &ports.outputs {
            let global = self.convert.global(port.id)?;
            for slot in port.slots.iter().filter(|slot| !Port::is_shared(slot, &ports.shared_outputs)) {
                parts.push(match slot.cast {
                    Some(_) => Text::of(&["bitcast<", &slot.text, ">(", &global.name, &slot.path, ")"]),
                    None => Text::of(&[&global.name, &slot.path]),
                });
            }
        }
        for shared in &ports.shared_outputs {
            parts.push(self.shared_output(shared, &ports)?);
        }
        if ports.position {
            parts.push("vec4<f32>()".into());
        }
        match (&parts[..], &ports.result) {
            ([], _) if last => {}
            ([], _) => self.line_of(&["return;"]),
            (_, Some(result)) => self.line_of(&["return ", result, "(", &parts.join(", "), ");"]),
            ([only, ..], None) => self.line_of(&["return ", only, ";"]),
        }
        self.convert.ports = ports;
        Ok(())
    }
}
