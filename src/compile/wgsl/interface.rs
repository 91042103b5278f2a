//! What an entry point is given and gives (seed 002, Remapping builtin inputs and outputs; We only
//! care about gl_Position from gl_PerVertex; gl_PointSize must be 1.0; Remapping sample mask inputs
//! and outputs).
//!
//! Inputs and outputs are variables in SPIR-V, parameters and results in WGSL. An input is the
//! parameter itself where only the entry point reads it; otherwise it is a private variable that
//! the entry point sets first. An output is a private variable that the entry point returns. What
//! spans several locations is a parameter or a part of the result for each.

use rspirv::spirv::{BuiltIn, Decoration as Decorate, ExecutionModel, Op, StorageClass};
use smallstep_semantics::spirv::module::{EntryPoint, Function, Variable, WHOLE};
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::text::deep;

use super::convert::Convert;
use super::function::Body;
use super::{Refused, Why};

/// The most parts that the variables of an interface have together.
const MAX_SLOTS: usize = 256;

/// One parameter, or one part of the result.
#[derive(Clone, Debug)]
struct Slot {
    /// As `@builtin(position)`.
    attributes: String,
    /// The type in WGSL's interface.
    text: String,
    /// Where in the variable it is: nothing, or as `.x` and `[0]`.
    path: String,
    /// The type of that part, where the interface has integers of the other sign.
    cast: Option<String>,
    /// The name that a parameter is to have.
    wanted: String,
}

/// A variable of the interface of the entry point.
#[derive(Clone, Debug)]
pub(super) struct Port {
    id: u32,
    slots: Vec<Slot>,
    /// The names of its parameters.
    names: Vec<String>,
    /// Whether it is a private variable.
    kept: bool,
}

/// The interface of the entry point that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// A result that the module does not have: a vertex has a position.
    position: bool,
    /// The structure of the result, where it has several parts.
    result: Option<String>,
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
        (BuiltIn::SampleId, Fragment, true) => ("sample_index", "u32"),
        (BuiltIn::SampleMask, Fragment, _) => ("sample_mask", "u32"),
        (BuiltIn::FragDepth, Fragment, false) => ("frag_depth", "f32"),
        _ => return None,
    })
}

/// A built-in output that WGSL has not, and whose value nothing needs if it is never set, or set to
/// 1.0.
fn is_ignored(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::PointSize | BuiltIn::ClipDistance | BuiltIn::CullDistance)
}

impl Convert<'_> {
    /// The inputs and outputs of an entry point that anything uses.
    pub(super) fn find_ports(&mut self, entry: &EntryPoint, function: &Function) -> Result<(), Refused> {
        self.ports = Ports::default();
        let module = self.module;
        let modes = module.modes(entry);
        if modes.early_fragment_tests {
            return Err(self.refused(Why::EntryPoint, format!("entry point {:?} has EarlyFragmentTests, which WGSL has not", entry.name)));
        }
        if modes.depth.is_some() {
            self.notes.push("what is said of how FragDepth compares is left out".into());
        }
        let blocks = module.function_blocks(function);
        let range = blocks.first().map_or(0, |b| b.start as usize)..blocks.last().map_or(0, |b| b.end as usize);
        let first = module.functions().first().and_then(|f| module.definition(f.id)).unwrap_or(0);
        let mut named: rustc_hash::FxHashMap<u32, (bool, bool)> = rustc_hash::FxHashMap::default();
        for &id in module.interface_of(entry) {
            named.insert(id, (false, false));
        }
        for (at, i) in module.instructions().iter().enumerate().skip(first) {
            for id in super::usage::value_operands(module, i) {
                if let Some((used, elsewhere)) = named.get_mut(&id) {
                    *used = true;
                    *elsewhere |= !range.contains(&at) || i.is(Op::FunctionCall);
                }
            }
        }
        for &id in module.interface_of(entry) {
            let Some(variable) = module.variable(id).copied() else { continue };
            let (used, elsewhere) = named.get(&id).copied().unwrap_or_default();
            let input = match variable.class {
                StorageClass::Input => true,
                StorageClass::Output => false,
                _ => continue,
            };
            if !used && variable.initializer.is_none() {
                continue;
            }
            if !input {
                self.ignored_outputs(&variable)?;
            }
            let mut slots = Vec::new();
            self.slots(entry.model, &variable, input, &mut slots)?;
            if slots.len() > MAX_SLOTS {
                return Err(self.refused(Why::Limit, format!("%{id} has more than {MAX_SLOTS} locations")));
            }
            let plain = matches!(&slots[..], [slot] if slot.path.is_empty() && slot.cast.is_none());
            let kept = !input || elsewhere || !plain;
            let names = match input {
                true => slots.iter().map(|slot| self.names.fresh(&slot.wanted)).collect(),
                false => Vec::new(),
            };
            let port = Port { id, slots, names, kept };
            if input { self.ports.inputs.push(port) } else { self.ports.outputs.push(port) }
        }
        let has_position = self.ports.outputs.iter().flat_map(|p| &p.slots).any(|s| s.attributes.contains("position"));
        self.ports.position = entry.model == ExecutionModel::Vertex && !has_position;
        Ok(())
    }

    /// Checks what is stored to outputs that WGSL has not.
    fn ignored_outputs(&self, variable: &Variable) -> Result<(), Refused> {
        let module = self.module;
        let whole = module.built_in(variable.id, WHOLE).filter(|b| is_ignored(*b));
        let member = |index: u32| {
            let at = module.integer(index)?;
            module.built_in(variable.type_, u32::try_from(at).ok()?).filter(|b| is_ignored(*b))
        };
        let mut pointers: rustc_hash::FxHashMap<u32, BuiltIn> = rustc_hash::FxHashMap::default();
        pointers.extend(whole.map(|b| (variable.id, b)));
        for i in module.instructions() {
            let operands = i.operands(module.words());
            match i.op {
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let found = match pointers.get(&operands[0]) {
                        Some(&built_in) => Some(built_in),
                        None if operands[0] == variable.id => operands.get(1).and_then(|&index| member(index)),
                        None => None,
                    };
                    pointers.extend(found.map(|b| (i.result, b)));
                }
                Op::Store if pointers.contains_key(&operands[0]) => {
                    let one = module.constant_value(operands[1]) == Some(u64::from(1.0f32.to_bits()));
                    if pointers.get(&operands[0]) != Some(&BuiltIn::PointSize) {
                        return Err(self.refused_at(i, Why::BuiltIn, "WGSL has no clip or cull distances"));
                    }
                    if !one {
                        return Err(self.refused_at(i, Why::BuiltIn, "the size of points is always 1.0 in WGSL"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn slots(&mut self, model: ExecutionModel, variable: &Variable, input: bool, slots: &mut Vec<Slot>) -> Result<(), Refused> {
        let module = self.module;
        let id = variable.id;
        let wanted = self.op_name(id).map_or_else(String::new, str::to_string);
        if let Some(is) = module.built_in(id, WHOLE) {
            return self.built_in_slot(model, is, variable.type_, id, input, String::new(), &wanted, slots);
        }
        let members = module.types().members(variable.type_).to_vec();
        let names = self.member_names(variable.type_);
        let is_block = module.decoration(variable.type_, WHOLE, Decorate::Block).is_some();
        let mut location = module.decoration(id, WHOLE, Decorate::Location);
        if !is_block && !matches!(module.types().get(variable.type_), Some(Type::Struct { .. })) {
            let Some(location) = &mut location else {
                return Err(self.refused(Why::BuiltIn, format!("%{id} has neither a BuiltIn nor a Location")));
            };
            if module.decoration(id, WHOLE, Decorate::Component).is_some_and(|c| c != 0) {
                return Err(self.refused(Why::BuiltIn, format!("%{id} begins at a Component other than 0, which WGSL has not")));
            }
            let how = self.interpolation(model, input, id, WHOLE);
            return self.located(variable.type_, location, String::new(), &how, &wanted, slots);
        }
        for (at, member) in members.iter().enumerate() {
            let at = at as u32;
            let path = format!(".{}", names[at as usize]);
            if let Some(is) = module.built_in(variable.type_, at) {
                self.built_in_slot(model, is, member.type_, id, input, path, &names[at as usize], slots)?;
                continue;
            }
            if let Some(own) = module.decoration(variable.type_, at, Decorate::Location) {
                location = Some(own);
            }
            let Some(location) = &mut location else {
                return Err(self.refused(Why::BuiltIn, format!("member {at} of %{id} has neither a BuiltIn nor a Location")));
            };
            let how = match self.interpolation(model, input, variable.type_, at) {
                how if how.is_empty() => self.interpolation(model, input, id, WHOLE),
                how => how,
            };
            self.located(member.type_, location, path, &how, &names[at as usize], slots)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn built_in_slot(
        &mut self,
        model: ExecutionModel,
        is: BuiltIn,
        type_: u32,
        id: u32,
        input: bool,
        path: String,
        wanted: &str,
        slots: &mut Vec<Slot>,
    ) -> Result<(), Refused> {
        if !input && is_ignored(is) {
            return Ok(());
        }
        let Some((name, text)) = built_in(is, model, input) else {
            let what = format!(
                "%{id} is the built-in {is:?}, which WGSL has not as an {} of a {model:?} stage",
                if input { "input" } else { "output" }
            );
            return Err(self.refused(Why::BuiltIn, what));
        };
        let (mut path, mut type_) = (path, type_);
        if let Some(Type::Array { element, .. }) = self.module.types().get(type_) {
            (path, type_) = (format!("{path}[0]"), element);
        }
        let own = self.value_type(type_)?;
        let wanted = if wanted.is_empty() { name } else { wanted };
        let invariant = self.module.decoration(id, WHOLE, Decorate::Invariant).is_some() && is == BuiltIn::Position;
        let attributes = format!("@builtin({name}){}", if invariant { " @invariant" } else { "" });
        let cast = (own != text).then_some(own);
        slots.push(Slot { attributes, text: text.into(), path, cast, wanted: wanted.into() });
        Ok(())
    }

    /// How a location is interpolated between a vertex and a fragment shader.
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

    /// The slots of a type from a location on.
    fn located(
        &mut self,
        type_: u32,
        location: &mut u32,
        path: String,
        how: &str,
        wanted: &str,
        slots: &mut Vec<Slot>,
    ) -> Result<(), Refused> {
        if slots.len() > MAX_SLOTS {
            return Ok(());
        }
        let types = self.module.types();
        match types.get(type_) {
            Some(Type::Matrix { column: part, .. } | Type::Array { element: part, .. }) => {
                for at in 0..types.parts(type_).unwrap_or(0).min(MAX_SLOTS as u64 + 1) {
                    deep(|| self.located(part, location, format!("{path}[{at}]"), how, wanted, slots))?;
                }
            }
            Some(Type::Struct { .. }) => {
                let parts: Vec<u32> = types.members(type_).iter().map(|m| m.type_).collect();
                let names = self.member_names(type_);
                for (part, name) in parts.into_iter().zip(names) {
                    deep(|| self.located(part, location, format!("{path}.{name}"), how, &name, slots))?;
                }
            }
            _ => {
                let shape: Shape = self.module.shape(type_);
                if !shape.scalar.is_float() && !shape.scalar.is_int() {
                    return Err(self.refused(Why::Type, format!("WGSL has no {} at a location", shape.scalar)));
                }
                // Integers are never interpolated.
                let how = match shape.scalar {
                    Scalar::Int { .. } if !how.is_empty() => " @interpolate(flat)",
                    _ => how.trim_end(),
                };
                let wanted = if wanted.is_empty() { "value" } else { wanted };
                let text = self.value_type(type_)?;
                slots.push(Slot { attributes: format!("@location({location}){how}"), text, path, cast: None, wanted: wanted.into() });
                *location += 1;
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
                format!("@compute @workgroup_size({x}, {y}, {z})")
            }
            ExecutionModel::Vertex => "@vertex".into(),
            ExecutionModel::Fragment => "@fragment".into(),
            other => {
                return Err(self.refused(Why::EntryPoint, format!("entry point {name:?} is of the stage {other:?}, which WGSL has not")));
            }
        };
        let ports = self.ports.clone();
        let mut parameters = Vec::new();
        for port in &ports.inputs {
            for (slot, name) in port.slots.iter().zip(&port.names) {
                parameters.push(format!("{} {name}: {}", slot.attributes, slot.text));
            }
        }
        let mut parts: Vec<(String, String)> = Vec::new();
        let mut members = super::names::Names::new();
        for slot in ports.outputs.iter().flat_map(|p| &p.slots) {
            parts.push((slot.attributes.clone(), format!("{}: {}", members.fresh(&slot.wanted), slot.text)));
        }
        if ports.position {
            parts.push(("@builtin(position)".into(), format!("{}: vec4<f32>", members.fresh("position"))));
        }
        let result = match &parts[..] {
            [] => String::new(),
            [(attributes, member)] => format!(" -> {attributes} {}", member.split_once(": ").map_or("", |(_, text)| text)),
            _ => {
                let name = self.names.fresh(&format!("{name}_output"));
                let lines: Vec<String> = parts.iter().map(|(attributes, member)| format!("    {attributes} {member},")).collect();
                self.structs.push_str(&format!("struct {name} {{\n{}\n}}\n\n", lines.join("\n")));
                self.ports.result = Some(name.clone());
                format!(" -> {name}")
            }
        };
        Ok(format!("{attributes}\nfn {name}({}){result}", parameters.join(", ")))
    }
}

impl Body<'_, '_> {
    /// Sets the variables that stand for inputs, and the outputs that begin with a value.
    pub(super) fn begin_entry(&mut self) -> Result<(), Refused> {
        for port in self.convert.ports.inputs.clone() {
            if !port.kept {
                let type_ = self.convert.module.variable(port.id).map_or(0, |v| v.type_);
                self.remember(port.id, port.names[0].clone(), type_);
                continue;
            }
            let global = self.convert.global(port.id)?;
            for (slot, name) in port.slots.iter().zip(&port.names) {
                let value = match &slot.cast {
                    Some(own) => format!("bitcast<{own}>({name})"),
                    None => name.clone(),
                };
                self.line(format!("{}{} = {value};", global.name, slot.path));
            }
        }
        Ok(())
    }

    /// OpReturn of the entry point.
    pub(super) fn return_from_entry(&mut self, last: bool) -> Result<(), Refused> {
        let ports = self.convert.ports.clone();
        let mut parts = Vec::new();
        for port in &ports.outputs {
            let global = self.convert.global(port.id)?;
            for slot in &port.slots {
                let value = format!("{}{}", global.name, slot.path);
                parts.push(match slot.cast {
                    Some(_) => format!("bitcast<{}>({value})", slot.text),
                    None => value,
                });
            }
        }
        if ports.position {
            parts.push("vec4<f32>()".into());
        }
        match (&parts[..], &ports.result) {
            ([], _) if last => {}
            ([], _) => self.line("return;".into()),
            (_, Some(result)) => self.line(format!("return {result}({});", parts.join(", "))),
            ([only, ..], None) => self.line(format!("return {only};")),
        }
        Ok(())
    }
}
