//! The inputs of a dispatch or draw, and the observation of a dispatch. All engines use the same
//! types.

use crate::image;
use crate::number::Profile;
use crate::number::sets::Set;
use crate::outcome::{Limit, TimeLimit};
use crate::raster;

use crate::spirv::module::Module;
use crate::spirv::value::Buffer;

/// An invocation of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InvocationId {
    /// The index of the workgroup, in the order of WorkgroupId: x varies fastest.
    pub workgroup: u32,
    /// The index of the invocation in its workgroup: LocalInvocationIndex.
    pub local: u32,
}

/// What a buffer access out of bounds does. Function, Private and Workgroup memory are never
/// robust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Robustness {
    /// It is undefined behaviour.
    #[default]
    None,
    /// robustBufferAccess: a load gives zero or some value of the buffer. A store changes any bytes
    /// of the buffer, or none.
    Access1,
    /// robustBufferAccess2: a load gives zero, and a store changes nothing.
    Access2,
}

/// The bounds of a run. With them every module ends in bounded time and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most instructions that all invocations execute. After these the run is out of fuel.
    pub instructions: u64,
    /// The most of these that the relation executes. Its time is proportional to them.
    pub by_relation: u64,
    /// The most turns of the lockstep machine. A turn is one instruction for up to 64 invocations,
    /// and the machine's time is proportional to them.
    pub turns: u64,
    /// The most invocations of the dispatch.
    pub invocations: u64,
    /// The most bytes that the module's variables take at once.
    pub memory: u64,
    /// The latest end of the run. A run that ends by it is not reproducible.
    pub time: Option<TimeLimit>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: 1 << 36, by_relation: 1 << 25, turns: 1 << 28, invocations: 1 << 24, memory: 1 << 31, time: None }
    }
}

/// The limits with so many instructions, as [`Limits::of_fuel`] sets them.
impl From<u64> for Limits {
    fn from(fuel: u64) -> Limits {
        Limits::of_fuel(fuel)
    }
}

impl Limits {
    /// The default limits, except that each engine may execute so many instructions.
    pub fn of_fuel(instructions: u64) -> Limits {
        Limits { instructions, by_relation: instructions, turns: instructions, ..Limits::default() }
    }

    /// The most instructions that the relation executes.
    pub fn of_relation(&self) -> u64 {
        self.instructions.min(self.by_relation)
    }

    /// The message for a run that is out of fuel.
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

/// A 32-bit float of a buffer that may be any of a set. The buffer holds the definite one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedFloat {
    /// The index of the buffer in [`Resources::buffers`].
    pub buffer: usize,
    /// The offset in bytes, a multiple of 4.
    pub offset: u64,
    /// The floats that a device may hold there.
    pub allowed: Set,
}

/// An image at a descriptor. The module declares whether it is a sampled image, a storage image or,
/// with the sampler at the same descriptor, a combined image sampler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundImage {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in that set.
    pub binding: u32,
    /// The image.
    pub image: image::Image,
}

/// A sampler at a descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSampler {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in that set.
    pub binding: u32,
    /// The sampler.
    pub sampler: image::Sampler,
}

/// The resources of a dispatch or draw, and how accesses to them behave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources<'d> {
    /// The uniform and storage buffers.
    pub buffers: &'d [Buffer],
    /// The images.
    pub images: &'d [BoundImage],
    /// The samplers.
    pub samplers: &'d [BoundSampler],
    /// The bytes of the push constants.
    pub push_constants: &'d [u8],
    /// What buffer accesses out of bounds do.
    pub robustness: Robustness,
    /// What image accesses out of bounds do.
    pub image_robustness: image::Robustness,
    /// The floats in buffers that may differ between devices. Entries outside of the buffers have
    /// no effect.
    pub bounded: &'d [BoundedFloat],
    /// The profile that judges floats. Without one, the module's own
    /// ([`crate::spirv::module::Module::profile`]).
    pub profile: Option<Profile>,
    /// The precision of a device's samples. Without one, the least that each format allows
    /// ([`image::Precision::least`]).
    pub precision: Option<image::Precision>,
    /// The number of invocations of a subgroup, a power of two up to 128. Without one, a run that
    /// depends on it is repeated with several sizes.
    pub subgroup_size: Option<u32>,
    /// How the invocations of a workgroup form subgroups.
    pub subgroup_mapping: SubgroupMapping,
}

/// How the invocations of a workgroup form subgroups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubgroupMapping {
    /// Subgroup k has the local invocation indices from k times its size on.
    #[default]
    ByIndex,
    /// In any way. Results that depend on it are in doubt, and the definite ones are those of
    /// `ByIndex`.
    Any,
}

impl<'d> Resources<'d> {
    /// Resources with these buffers and nothing else.
    pub fn of_buffers(buffers: &'d [Buffer]) -> Resources<'d> {
        Resources { buffers, ..Resources::default() }
    }

    /// The profile that judges floats of an entry point.
    pub fn profile(&self, module: &Module, entry: &str) -> Profile {
        let declared = || module.entry_point(entry).map_or(Profile::VulkanDefault, |entry| module.profile(entry));
        self.profile.unwrap_or_else(declared)
    }
}

/// A compute dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch<'d> {
    /// The name of the entry point.
    pub entry: &'d str,
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The resources.
    pub resources: Resources<'d>,
    /// The bounds of the run.
    pub limits: Limits,
}

/// When a vertex attribute advances: VkVertexInputRate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rate {
    /// With each vertex.
    #[default]
    Vertex,
    /// With each instance.
    Instance,
}

/// A vertex attribute with its data: Vulkan, Vertex Input Description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The location of the input variable.
    pub location: u32,
    /// The format of an item.
    pub format: image::Format,
    /// When it advances to the next item.
    pub rate: Rate,
    /// The offset in bytes of the first item.
    pub offset: u64,
    /// The bytes from one item to the next.
    pub stride: u64,
    /// The bytes of the vertex buffer.
    pub bytes: Vec<u8>,
}

/// The vertices of a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertices<'d> {
    /// The primitives that the vertices form.
    pub topology: raster::Topology,
    /// The indices of an indexed draw. Without them, vertices are numbered from `first`.
    pub indices: Option<&'d [u32]>,
    /// The first vertex, or the first element of `indices`.
    pub first: u32,
    /// The number of vertices or indices.
    pub count: u32,
    /// A number that is added to each index.
    pub vertex_offset: i32,
    /// The first instance.
    pub first_instance: u32,
    /// The number of instances.
    pub instances: u32,
    /// The attributes. No two have the same location.
    pub attributes: &'d [Attribute],
}

/// A colour attachment, or one sample of a multisampled one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColourTarget {
    /// The location of the output variable.
    pub location: u32,
    /// Its format, its size, and its contents before the draw.
    pub image: image::Image,
}

/// A stencil attachment and its tests. It accompanies a depth attachment.
#[derive(Clone, Debug)]
pub struct StencilTarget {
    /// Its contents before the draw. It has the size of the depth attachment.
    pub buffer: raster::StencilBuffer,
    /// The test of front-facing triangles.
    pub front: raster::StencilFace,
    /// The test of back-facing triangles.
    pub back: raster::StencilFace,
}

/// A depth attachment and its test.
#[derive(Clone, Debug)]
pub struct DepthTarget {
    /// Its format, its size, and its contents before the draw.
    pub buffer: raster::DepthBuffer,
    /// The comparison of a fragment's depth with the stored one.
    pub compare: image::Compare,
    /// Whether a depth that passes is stored.
    pub writes: bool,
    /// The stencil attachment, if it is tested.
    pub stencil: Option<StencilTarget>,
}

/// A draw with a vertex and a fragment stage. The modules are passed beside it, since the stages
/// may be in one module or in two.
#[derive(Clone, Debug)]
pub struct Draw<'d> {
    /// The entry point of the vertex stage.
    pub vertex: &'d str,
    /// The entry point of the fragment stage.
    pub fragment: &'d str,
    /// The vertices.
    pub vertices: Vertices<'d>,
    /// The resources of both stages.
    pub resources: Resources<'d>,
    /// Viewport, scissor, culling and blending, and the precision of a device's rasteriser.
    pub state: raster::State,
    /// The colour attachments. All components are written. Several attachments of one location are
    /// its samples.
    pub targets: &'d [ColourTarget],
    /// The depth attachment, if there is one.
    pub depth: Option<&'d DepthTarget>,
    /// The bounds of the run.
    pub limits: Limits,
}

impl Dispatch<'_> {
    /// The WorkgroupId of the workgroup with that index.
    pub fn workgroup_id(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.groups;
        [number % x.max(1), number / x.max(1) % y.max(1), number / x.max(1) / y.max(1)]
    }

    /// The number of workgroups. An error if their invocations are more than the limit.
    pub fn workgroups(&self, invocations_each: u64) -> Result<u32, Limit> {
        let groups = self.groups.iter().map(|&g| u64::from(g)).try_fold(1u64, u64::checked_mul);
        let is_within_limit = |&groups: &u64| groups.checked_mul(invocations_each).is_some_and(|n| n <= self.limits.invocations);
        let limit = Limit { what: "invocations", bound: self.limits.invocations };
        groups.filter(is_within_limit).and_then(|groups| u32::try_from(groups).ok()).ok_or(limit)
    }
}

/// A range of bytes of a buffer with an undefined value at the end of the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedBytes {
    /// The first byte.
    pub start: u64,
    /// The end, which is not in the range.
    pub end: u64,
    /// The index of the instruction that made the value.
    pub made_at: u32,
    /// The invocation that made it.
    pub made_by: InvocationId,
    /// The stable id of the kind of undefined value, such as `spirv/op-undef`.
    pub kind: &'static str,
}

/// A storage buffer after the dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ObservedBuffer {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in that set.
    pub binding: u32,
    /// The bytes. Undefined ones are 0 and mean nothing.
    pub bytes: Vec<u8>,
    /// The undefined ranges, ascending and disjoint.
    pub undefined: Vec<UndefinedBytes>,
}

/// A component of successive texels with an undefined value at the end of the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedTexels {
    /// The component, from 0.
    pub component: u8,
    /// The first texel: y times the width, plus x.
    pub start: u64,
    /// The end, which is not in the range.
    pub end: u64,
    /// The index of the instruction that made the value, and its invocation. `None` if the image
    /// held it before.
    pub made: Option<(u32, InvocationId)>,
    /// The stable id of the kind of undefined value, such as `spirv/undef`.
    pub kind: &'static str,
}

/// Level 0 of a storage image after the dispatch. Instructions write to no other level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedImage {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in that set.
    pub binding: u32,
    /// The format.
    pub format: image::Format,
    /// Width, height, and depth or number of layers, in texels.
    pub size: [u32; 3],
    /// The texels by rows and slices. The bits of undefined components are 0 and mean nothing.
    pub bytes: Vec<u8>,
    /// The undefined components, in ascending and disjoint ranges for each component.
    pub undefined: Vec<UndefinedTexels>,
}

/// The observation of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Observation {
    /// The storage buffers that the entry point uses, in the order of the dispatch.
    pub buffers: Vec<ObservedBuffer>,
    /// The storage images that the entry point uses, in the order of the dispatch.
    pub images: Vec<ObservedImage>,
    /// The instructions that all invocations executed. Merges and OpVariable count. OpLabel,
    /// OpFunctionParameter, OpFunction and OpFunctionEnd do not.
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
