//! The vertex stage: one invocation for each vertex of an instance, its attributes (Vulkan,
//! Fixed-Function Vertex Processing), and its outputs.

use rspirv::spirv::{BuiltIn, StorageClass};
use rustc_hash::FxHashMap;

use super::interface::{self, Place, Slot};
use crate::concurrency::{Agent, Begin};
use crate::image::{Numeric, unpack, unpack_allowed};
use crate::number::integer::{mask, signed};
use crate::number::{Trust, Why};
use crate::outcome::{Limit, Outcome};
use crate::raster::Topology;
use crate::spirv::declare::is_in_every_stage;
use crate::spirv::environment::{Attribute, Draw, Observation, Rate, Robustness};
use crate::spirv::grid::prepare::{Refused, unsupported};
use crate::spirv::grid::work::{Finished, Work};
use crate::spirv::memory::{Pointer, exact};
use crate::spirv::module::{Module, Variable};
use crate::spirv::report;
use crate::spirv::shared::Shared;
use crate::spirv::step::Config;
use crate::spirv::types::Type;
use crate::spirv::value::{Scalar, Scalars};
use crate::undefined::{Site, Ub, Undefined};

/// The source of one scalar of an input.
#[derive(Clone, Copy, Debug)]
enum Source {
    VertexIndex,
    InstanceIndex,
    /// A component of a built-in of subgroups.
    Subgroup(BuiltIn, u32),
    /// A component of an attribute, by the attribute's index in the draw, as that type.
    Attribute(usize, u32, Type),
}

/// One scalar of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output<'m> {
    pub(super) slot: Slot,
    pub(super) type_: Type,
    variable: &'m Variable,
    index: usize,
}

/// The interface of the vertex stage.
#[derive(Clone, Debug)]
pub(super) struct Interface<'m> {
    inputs: Vec<(&'m Variable, Vec<Source>)>,
    position: Option<(&'m Variable, usize)>,
    /// PointSize, if points are drawn.
    size: Option<(&'m Variable, usize)>,
    /// The outputs with locations.
    pub(super) outputs: Vec<Output<'m>>,
}

impl<'m> Interface<'m> {
    /// The interface of the variables that the stage uses, with the attributes of a draw.
    pub(super) fn new(module: &'m Module, variables: &[&'m Variable], draw: &Draw<'_>) -> Result<Interface<'m>, Refused> {
        let mut interface = Interface { inputs: Vec::new(), position: None, size: None, outputs: Vec::new() };
        for &variable in variables {
            match variable.class {
                StorageClass::Input => {
                    let sources = interface::parts(module, variable)?.into_iter().map(|part| match part.place {
                        Place::BuiltIn(BuiltIn::VertexIndex, _) => Ok(Source::VertexIndex),
                        Place::BuiltIn(BuiltIn::InstanceIndex, _) => Ok(Source::InstanceIndex),
                        Place::BuiltIn(built_in, index) if is_in_every_stage(built_in) => Ok(Source::Subgroup(built_in, index)),
                        Place::BuiltIn(built_in, _) => unsupported(format!("BuiltIn {built_in:?} (%{})", variable.id)),
                        Place::At(slot) => attribute(draw.vertices.attributes, slot, part.type_, variable.id),
                    });
                    interface.inputs.push((variable, sources.collect::<Result<_, _>>()?));
                }
                StorageClass::Output => interface.output(module, variable)?,
                _ => {}
            }
        }
        if interface.position.is_none() {
            return unsupported("a vertex stage that writes no Position");
        }
        if interface.size.is_none() && draw.vertices.topology == Topology::Points {
            return unsupported("points by a vertex stage that writes no PointSize");
        }
        Ok(interface)
    }

    fn output(&mut self, module: &'m Module, variable: &'m Variable) -> Result<(), Refused> {
        for (index, part) in interface::parts(module, variable)?.into_iter().enumerate() {
            match part.place {
                Place::BuiltIn(BuiltIn::Position, 0) => self.position = Some((variable, index)),
                Place::BuiltIn(BuiltIn::PointSize, _) => self.size = Some((variable, index)),
                Place::BuiltIn(BuiltIn::Position, _) => {}
                Place::BuiltIn(built_in, _) if !interface::is_touched(module, variable, built_in) => {}
                Place::BuiltIn(built_in, _) => return unsupported(format!("BuiltIn {built_in:?} as an output (%{})", variable.id)),
                Place::At(slot) => self.outputs.push(Output { slot, type_: part.type_, variable, index }),
            }
        }
        Ok(())
    }
}

/// The attribute at a location. Its format must have numbers of the input's kind.
fn attribute(attributes: &[Attribute], slot: Slot, type_: Type, variable: u32) -> Result<Source, Refused> {
    let Some(at) = attributes.iter().position(|a| a.location == slot.location) else {
        return unsupported(format!("no vertex attribute at location {} for %{variable}", slot.location));
    };
    let format = attributes[at].format;
    let fits = match (format.numeric(), type_) {
        (Numeric::Uint, Type::Int { signed, .. }) => !signed,
        (Numeric::Sint, Type::Int { signed, .. }) => signed,
        (Numeric::Unorm | Numeric::Snorm | Numeric::Float, Type::Float { .. }) => !format.is_depth(),
        _ => false,
    };
    if !fits {
        return unsupported(format!("the vertex attribute at location {} of format {} for %{variable}", slot.location, format.name()));
    }
    Ok(Source::Attribute(at, slot.component, type_))
}

/// A component of one item of an attribute. `None` if the item is beyond the buffer's end.
fn fetch(attribute: &Attribute, item: u32, component: u32, type_: Type) -> Option<Scalar> {
    let format = attribute.format;
    let first = u64::from(item).checked_mul(attribute.stride)?.checked_add(attribute.offset)?;
    let end = first.checked_add(format.bytes() as u64)?;
    let bytes = attribute.bytes.get(usize::try_from(first).ok()?..usize::try_from(end).ok()?)?;
    let mut texel = [0; 16];
    texel[..bytes.len()].copy_from_slice(bytes);
    let numeric = format.numeric();
    let Some(channel) = format.channels().get(component as usize) else { return Some(missing(component, type_)) };
    let code = (u128::from_le_bytes(texel) >> channel.offset) as u64 & mask(channel.width);
    let allowed = unpack_allowed(numeric, channel.width, code);
    let bits = match numeric {
        Numeric::Uint => code,
        Numeric::Sint => u64::from(signed(channel.width, code) as u32),
        Numeric::Float if channel.width == 32 => code,
        _ => u64::from((unpack(numeric, channel.width, code) as f32).to_bits()),
    };
    let scalar = exact(type_, bits);
    let why = if numeric == Numeric::Float { Why::Subnormal } else { Why::Approximate };
    // A NaN may reach the program unchanged or not. Arithmetic on it is in doubt.
    let certain = allowed.low >= allowed.high;
    Some(if certain { scalar } else { Scalar { trust: scalar.trust.in_doubt(why), ..scalar } })
}

/// A component that the format lacks: (0, 0, 0, 1).
fn missing(component: u32, type_: Type) -> Scalar {
    let one = if matches!(type_, Type::Float { .. }) { u64::from(1f32.to_bits()) } else { 1 };
    exact(type_, if component == 3 { one } else { 0 })
}

/// The vertices of a draw, and the outputs of their invocations.
#[derive(Clone, Debug)]
pub(super) struct Vertices<'m, 'd> {
    module: &'m Module,
    draw: &'d Draw<'d>,
    interface: Interface<'m>,
    /// The shaded vertices, with their instances.
    shaded: Vec<[u32; 2]>,
    /// By instance and vertex of the draw: the index of the shaded vertex.
    pub(super) rows: Vec<u32>,
    /// The inputs of the starting invocation.
    begun: Vec<(&'m Variable, Scalars)>,
    /// By shaded vertex: the position, the outputs with locations, and the size of a point.
    left: Vec<Scalar>,
}

impl<'m, 'd> Vertices<'m, 'd> {
    /// The vertices of a draw. A vertex that occurs twice in an instance is shaded once. No clause
    /// says how often a device shades it.
    pub(super) fn new(module: &'m Module, draw: &'d Draw<'d>, interface: Interface<'m>) -> Result<Self, Refused> {
        let from = &draw.vertices;
        let all = u64::from(from.count).checked_mul(from.instances.into()).filter(|&all| all <= draw.limits.invocations);
        let all = all.ok_or(Limit { what: "invocations", bound: draw.limits.invocations })?;
        let width = 5 + interface.outputs.len();
        let bytes = (width * size_of::<Scalar>()) as u64 + 16;
        if all.checked_mul(bytes).is_none_or(|bytes| bytes > draw.limits.memory) {
            return Err(Limit { what: "bytes of memory", bound: draw.limits.memory }.into());
        }
        let numbers: Vec<u32> = match from.indices {
            None => (0..from.count).map(|i| from.first.wrapping_add(i)).collect(),
            Some(indices) => {
                let range = from.first as usize..from.first as usize + from.count as usize;
                let Some(indices) = indices.get(range.clone()) else {
                    return unsupported(format!("indices {} to {} of {}", range.start, range.end, indices.len()));
                };
                indices.iter().map(|index| index.wrapping_add_signed(from.vertex_offset)).collect()
            }
        };
        let (mut shaded, mut rows) = (Vec::new(), Vec::new());
        for instance in 0..from.instances {
            let mut known: FxHashMap<u32, u32> = FxHashMap::default();
            for &vertex in &numbers {
                rows.push(*known.entry(vertex).or_insert_with(|| {
                    shaded.push([vertex, from.first_instance.wrapping_add(instance)]);
                    shaded.len() as u32 - 1
                }));
            }
        }
        let left = vec![exact(Type::Bool, 0); width * shaded.len()];
        Ok(Vertices { module, draw, interface, shaded, rows, begun: Vec::new(), left })
    }

    /// The number of invocations.
    pub(super) fn invocations(&self) -> u32 {
        self.shaded.len() as u32
    }

    /// The outputs of a shaded vertex: its position, then the outputs with locations.
    pub(super) fn left(&self, row: u32) -> &[Scalar] {
        let width = 5 + self.interface.outputs.len();
        &self.left[row as usize * width..][..width - 1]
    }

    /// The size of the point at a shaded vertex.
    pub(super) fn size(&self, row: u32) -> Scalar {
        let width = 5 + self.interface.outputs.len();
        self.left[row as usize * width + width - 1]
    }

    fn input(&self, [vertex, instance]: [u32; 2], source: Source) -> Result<Scalar, (u32, u32)> {
        let unsigned = Type::Int { width: 32, signed: false };
        match source {
            Source::VertexIndex => Ok(exact(unsigned, vertex.into())),
            Source::InstanceIndex => Ok(exact(unsigned, instance.into())),
            Source::Subgroup(built_in, component) => {
                let nothing = exact(unsigned, 0);
                Ok(interface::of_subgroups(self.draw, built_in, component, 0).unwrap_or(nothing))
            }
            Source::Attribute(at, component, type_) => {
                let attribute = &self.draw.vertices.attributes[at];
                let item = if attribute.rate == Rate::Vertex { vertex } else { instance };
                match (fetch(attribute, item, component, type_), self.draw.resources.robustness) {
                    (Some(scalar), _) => Ok(scalar),
                    (None, Robustness::None) => Err((attribute.location, item)),
                    // The last component may be 0 or 1. Without robustBufferAccess2 each component
                    // may be anything in the buffer.
                    (None, _) => Ok(Scalar { trust: Trust::CERTAIN.in_doubt(Why::Domain), ..exact(type_, 0) }),
                }
            }
        }
    }
}

impl<'m> Vertices<'m, '_> {
    /// The scalars of an input, for a vertex.
    fn given(&self, at: [u32; 2], sources: &[Source]) -> Result<Scalars, (u32, u32)> {
        sources.iter().map(|&source| self.input(at, source)).collect()
    }

    /// The inputs of a shaded vertex. `None` if an attribute has too few items.
    pub(super) fn inputs(&self, vertex: u32) -> Option<Vec<(&'m Variable, Scalars)>> {
        let at = *self.shaded.get(vertex as usize)?;
        self.interface.inputs.iter().map(|(variable, sources)| Some((*variable, self.given(at, sources).ok()?))).collect()
    }

    /// Whether all outputs of all shaded vertices are defined.
    pub(super) fn is_defined(&self) -> bool {
        self.left.iter().all(|scalar| scalar.undefined.is_none())
    }

    /// Keeps the outputs of a shaded vertex.
    pub(super) fn leave(&mut self, vertex: u32, mut output: impl FnMut(&Variable) -> Scalars) {
        let mut held: Option<(u32, Scalars)> = None;
        let mut scalar = |variable: &Variable, index: usize| {
            if held.as_ref().is_none_or(|(id, _)| *id != variable.id) {
                held = Some((variable.id, output(variable)));
            }
            held.as_ref().and_then(|(_, scalars)| scalars.get(index).copied())
        };
        let width = 5 + self.interface.outputs.len();
        let row = &mut self.left[vertex as usize * width..][..width];
        let position = self.interface.position.into_iter().flat_map(|(variable, index)| (0..4).map(move |c| (variable, index + c)));
        let all = position.chain(self.interface.outputs.iter().map(|output| (output.variable, output.index))).chain(self.interface.size);
        for (to, (variable, index)) in row.iter_mut().zip(all) {
            if let Some(scalar) = scalar(variable, index) {
                *to = scalar;
            }
        }
    }
}

impl<'m> Work<'m> for Vertices<'m, '_> {
    fn begin(&mut self, workgroup: u32, _: &mut Shared, _: &mut u64) -> Result<Begin, Outcome<Observation>> {
        let Some(&at) = self.shaded.get(workgroup as usize) else { return Ok(Begin::NoMore) };
        let mut begun = Vec::with_capacity(self.interface.inputs.len());
        for (variable, sources) in &self.interface.inputs {
            match self.given(at, sources) {
                Ok(scalars) => begun.push((*variable, scalars)),
                Err((location, item)) => {
                    let what = format!("item {item} of the vertex attribute at location {location} is beyond the end of its buffer");
                    let instruction = variable.instruction;
                    let agent = Agent { workgroup, local: 0 };
                    let global = self.global(agent);
                    let site = Site { step: Some(0), ..report::site(self.module, instruction, workgroup, global) };
                    let at = self.at(&site);
                    return Err(Outcome::Undefined(Undefined { ub: Ub::VertexOutOfBounds, what, at, site: Some(Box::new(site)) }));
                }
            }
        }
        self.begun = begun;
        Ok(Begin::Begins)
    }

    fn start(&self, _: Agent, _: u32, config: &mut Config<'m>) {
        for (variable, scalars) in &self.begun {
            config.memory.store_own(&Pointer::to(self.module, variable), scalars);
        }
    }

    fn global(&self, agent: Agent) -> [u32; 3] {
        let [vertex, instance] = self.shaded.get(agent.workgroup as usize).copied().unwrap_or_default();
        [vertex, instance, 0]
    }

    fn at(&self, site: &Site) -> String {
        let [vertex, instance, _] = site.global;
        format!("vertex stage, vertex {vertex} of instance {instance}, {site}")
    }

    fn control_in_doubt(&self, shared: &mut Shared) {
        shared.doubt_written(Why::Control);
    }

    fn end(&mut self, workgroup: u32, members: Vec<Finished<'m>>) {
        if let Some(Finished { config, .. }) = members.first() {
            self.leave(workgroup, |variable| super::outputs(config, variable, workgroup));
        }
    }
}
