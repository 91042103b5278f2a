//! What a dispatch or a draw is given, and what is observed of a dispatch: the same for every
//! engine, the relation and the machines.

use crate::image;
use crate::number::Profile;
use crate::number::sets::Set;
use crate::outcome::{Limit, TimeLimit};
use crate::raster;

use crate::spirv::module::Module;
use crate::spirv::value::Buffer;

/// A place among the invocations of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InvocationId {
    /// The workgroup, in the order of WorkgroupId: x fastest.
    pub workgroup: u32,
    /// The invocation in its workgroup: LocalInvocationIndex.
    pub local: u32,
}

/// What buffer accesses out of bounds do. Function, Private and Workgroup memory are never robust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Robustness {
    /// They are undefined behaviour.
    #[default]
    None,
    /// robustBufferAccess: loads give zero or what is somewhere in the buffer, stores may change
    /// any byte of it or none.
    Access1,
    /// robustBufferAccess2: loads give zero, stores change nothing.
    Access2,
}

/// Bounds on a run, so that any module ends in bounded time and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions executed by all invocations together; past it the run is out of fuel.
    pub instructions: u64,
    /// Of these, instructions executed by the relation: its time is in proportion to them.
    pub by_relation: u64,
    /// Turns of the lockstep machine, each one instruction for up to 64 invocations at once: its
    /// time is in proportion to them.
    pub turns: u64,
    /// Invocations of the dispatch.
    pub invocations: u64,
    /// Bytes of all memory that the module's variables take at once.
    pub memory: u64,
    /// When the run ends at the latest, if at all. Where it ends by that is not the same each time.
    pub time: Option<TimeLimit>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: 1 << 36, by_relation: 1 << 25, turns: 1 << 28, invocations: 1 << 24, memory: 1 << 31, time: None }
    }
}

/// So many instructions, as [`Limits::of_fuel`] has it, for callers that bound nothing else.
impl From<u64> for Limits {
    fn from(fuel: u64) -> Limits {
        Limits::of_fuel(fuel)
    }
}

impl Limits {
    /// So many instructions, whatever time either engine takes for them.
    pub fn of_fuel(instructions: u64) -> Limits {
        Limits { instructions, by_relation: instructions, turns: instructions, ..Limits::default() }
    }

    /// The most instructions that the relation executes.
    pub fn of_relation(&self) -> u64 {
        self.instructions.min(self.by_relation)
    }

    /// What is said of a run that is out of fuel.
    pub fn out_of_fuel(&self) -> String {
        let Limits { instructions, by_relation, turns, .. } = self;
        if by_relation.min(turns) >= instructions {
            return format!("out of fuel after {instructions} instructions");
        }
        format!(
            "out of fuel after {by_relation} instructions of the relation, {turns} of the machine for up to 64 invocations at once, or {instructions} in all; --fuel gives another number"
        )
    }
}

/// A 32-bit float of a buffer that may be any of a set, of which the buffer holds the definite one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedFloat {
    /// The descriptor set of the buffer.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// The first byte, a multiple of 4.
    pub offset: u64,
    /// What a device may hold there.
    pub allowed: Set,
}

/// An image behind a descriptor: sampled, storage, or with the sampler at the same place a combined
/// one, as the module declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundImage {
    /// The descriptor set.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// The image.
    pub image: image::Image,
}

/// A sampler behind a descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSampler {
    /// The descriptor set.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// The sampler.
    pub sampler: image::Sampler,
}

/// What is bound while a dispatch or a draw runs, and what the environment says of accesses to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources<'d> {
    /// The bytes behind the descriptors, uniform and storage.
    pub buffers: &'d [Buffer],
    /// The images behind the descriptors.
    pub images: &'d [BoundImage],
    /// The samplers behind the descriptors.
    pub samplers: &'d [BoundSampler],
    /// The push constants.
    pub push_constants: &'d [u8],
    /// What buffer accesses out of bounds do.
    pub robustness: Robustness,
    /// What image accesses out of bounds do.
    pub image_robustness: image::Robustness,
    /// Floats in the buffers of which a device may hold another; of a place that is no buffer's
    /// nothing is said.
    pub bounded: &'d [BoundedFloat],
    /// Under which profile floats are judged; by default that which the
    /// module asks for ([`crate::spirv::module::Module::profile`]).
    pub profile: Option<Profile>,
    /// How precise a device samples; by default as little as
    /// each format allows ([`image::Precision::least`]).
    pub precision: Option<image::Precision>,
    /// How many invocations a subgroup has, where anything depends on it: a power of two up to 128.
    /// Without a size, what is run for its values is run with several sizes.
    pub subgroup_size: Option<u32>,
    /// Which invocations of a workgroup are a subgroup.
    pub subgroup_mapping: SubgroupMapping,
}

/// Which invocations of a workgroup are a subgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubgroupMapping {
    /// Subgroup k has the local invocation indices from k times its size on.
    #[default]
    ByIndex,
    /// Any: what depends on it is in doubt. The definite answer is that by indices.
    Any,
}

impl<'d> Resources<'d> {
    /// Buffers, and nothing else.
    pub fn of_buffers(buffers: &'d [Buffer]) -> Resources<'d> {
        Resources { buffers, ..Resources::default() }
    }

    /// Under which profile an entry point of a module is judged.
    pub fn profile(&self, module: &Module, entry: &str) -> Profile {
        let declared = || module.entry_point(entry).map_or(Profile::VulkanDefault, |entry| module.profile(entry));
        self.profile.unwrap_or_else(declared)
    }
}

/// A compute dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch<'d> {
    /// The entry point.
    pub entry: &'d str,
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// What is bound.
    pub resources: Resources<'d>,
    /// The bounds of the run.
    pub limits: Limits,
}

/// When the next item of a vertex attribute is taken: VkVertexInputRate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rate {
    /// For each vertex.
    #[default]
    Vertex,
    /// For each instance.
    Instance,
}

/// The data of one vertex attribute: Vulkan, Vertex Input Description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The location of the input variable.
    pub location: u32,
    /// The format of an item.
    pub format: image::Format,
    /// When the next item is taken.
    pub rate: Rate,
    /// The first item's first byte.
    pub offset: u64,
    /// Bytes from one item to the next.
    pub stride: u64,
    /// The vertex buffer.
    pub bytes: Vec<u8>,
}

/// What is assembled into triangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertices<'d> {
    /// How vertices make triangles.
    pub topology: raster::Topology,
    /// The indices; without them, vertices are numbered from `first`.
    pub indices: Option<&'d [u32]>,
    /// The first vertex, or the place of the first index.
    pub first: u32,
    /// How many vertices or indices.
    pub count: u32,
    /// What is added to each index.
    pub vertex_offset: i32,
    /// The first instance.
    pub first_instance: u32,
    /// How many instances.
    pub instances: u32,
    /// The attributes, each location once.
    pub attributes: &'d [Attribute],
}

/// A colour attachment; of several samples, one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColourTarget {
    /// The location of the output variable.
    pub location: u32,
    /// Format and size, and what it holds before the draw.
    pub image: image::Image,
}

/// The stencil attachment and its test, beside a depth attachment.
#[derive(Clone, Debug)]
pub struct StencilTarget {
    /// What it holds before the draw; of the depth attachment's size.
    pub buffer: raster::StencilBuffer,
    /// The test of front-facing triangles.
    pub front: raster::StencilFace,
    /// That of the others.
    pub back: raster::StencilFace,
}

/// The depth attachment and its test.
#[derive(Clone, Debug)]
pub struct DepthTarget {
    /// Format and size, and what it holds before the draw.
    pub buffer: raster::DepthBuffer,
    /// How a fragment's depth is compared with what is stored.
    pub compare: image::Compare,
    /// Whether depths that pass are stored.
    pub writes: bool,
    /// The stencil attachment, if it is tested.
    pub stencil: Option<StencilTarget>,
}

/// A draw: two stages, and what is between them. Modules are given beside it, for they may be one
/// or two.
#[derive(Clone, Debug)]
pub struct Draw<'d> {
    /// The entry point of the vertex stage.
    pub vertex: &'d str,
    /// The entry point of the fragment stage.
    pub fragment: &'d str,
    /// What is drawn.
    pub vertices: Vertices<'d>,
    /// What is bound, for both stages.
    pub resources: Resources<'d>,
    /// Viewport, scissor, culling, and how precise a device rasterises.
    pub state: raster::State,
    /// The colour attachments, each location once. All components are written.
    pub targets: &'d [ColourTarget],
    /// The depth attachment, if there is one.
    pub depth: Option<&'d DepthTarget>,
    /// The bounds of the run.
    pub limits: Limits,
}

impl Dispatch<'_> {
    /// The workgroup of that number as coordinates.
    pub fn workgroup_id(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.groups;
        [number % x.max(1), number / x.max(1) % y.max(1), number / x.max(1) / y.max(1)]
    }

    /// How many workgroups there are, or the limit that they pass with so many invocations each.
    pub fn workgroups(&self, invocations_each: u64) -> Result<u32, Limit> {
        let groups = self.groups.iter().map(|&g| u64::from(g)).try_fold(1u64, u64::checked_mul);
        let within = |&groups: &u64| groups.checked_mul(invocations_each).is_some_and(|n| n <= self.limits.invocations);
        let limit = Limit { what: "invocations", bound: self.limits.invocations };
        groups.filter(within).and_then(|groups| u32::try_from(groups).ok()).ok_or(limit)
    }
}

/// Bytes of a buffer that hold an undefined value when the dispatch ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedBytes {
    /// The first byte.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// The index of the instruction that made the value.
    pub made_at: u32,
    /// The invocation that made it.
    pub made_by: InvocationId,
    /// The stable id of its kind, as `spirv/op-undef`.
    pub kind: &'static str,
}

/// A storage buffer after the dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ObservedBuffer {
    /// The descriptor set.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// The bytes; those that are undefined mean nothing and are 0.
    pub bytes: Vec<u8>,
    /// Which bytes are undefined, ascending, apart from each other.
    pub undefined: Vec<UndefinedBytes>,
}

/// A component of neighbouring texels, row after row, that holds an undefined value when the
/// dispatch ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedTexels {
    /// The component, from 0.
    pub component: u8,
    /// The first texel: y times the width, plus x.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// The index of the instruction that made the value and the invocation that executed it; `None`
    /// where the image held it before.
    pub made: Option<(u32, InvocationId)>,
    /// The stable id of its kind, as `spirv/undef`.
    pub kind: &'static str,
}

/// A storage image after the dispatch: level 0, the only one that instructions write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedImage {
    /// The descriptor set.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// The format.
    pub format: image::Format,
    /// Width, height, and depth or number of layers in texels.
    pub size: [u32; 3],
    /// The texels, row after row, slice after slice; the bits of undefined components mean nothing
    /// and are 0.
    pub bytes: Vec<u8>,
    /// Which components are undefined: by component, ascending, apart from each other.
    pub undefined: Vec<UndefinedTexels>,
}

/// What is observed of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Observation {
    /// The storage buffers that the entry point names, in the order of the dispatch.
    pub buffers: Vec<ObservedBuffer>,
    /// The storage images that the entry point names, in the order of the dispatch.
    pub images: Vec<ObservedImage>,
    /// Instructions executed by all invocations: OpLabel, OpFunctionParameter, OpFunction and
    /// OpFunctionEnd not counted, merges and OpVariable counted.
    pub instructions: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_are_numbered_x_first_and_bounded() {
        let limits = Limits { invocations: 1 << 10, ..Limits::default() };
        let dispatch = |groups| Dispatch { entry: "main", groups, resources: Resources::default(), limits };
        assert_eq!(dispatch([2, 3, 4]).workgroups(32), Ok(24));
        assert_eq!(dispatch([2, 3, 4]).workgroup_id(0), [0, 0, 0]);
        assert_eq!(dispatch([2, 3, 4]).workgroup_id(11), [1, 2, 1]);
        assert_eq!(dispatch([2, 3, 4]).workgroup_id(23), [1, 2, 3]);
        assert!(dispatch([2, 3, 6]).workgroups(32).is_err());
        assert!(dispatch([u32::MAX; 3]).workgroups(1).is_err());
    }
}
