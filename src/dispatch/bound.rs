//! The bindings of a compute dispatch or of a draw: buffers, images, samplers and push constants.

use smallstep_semantics::image::Image;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::BoundImage;

use super::Malformed;

pub use smallstep_semantics::spirv::environment::BoundSampler as SamplerBinding;

/// The most buffers of a program. Also the most images, and the most samplers.
pub const MAX_BUFFERS: usize = 1 << 10;
/// The most bytes of all buffers, images and attachments of a program together: 2^28 (256 MiB).
pub const MAX_BUFFER_BYTES: u64 = 1 << 28;
/// The most bytes of push constants: 2^16. A device with a lower limit reports that.
pub const MAX_PUSH_CONSTANTS: usize = 1 << 16;

/// The kind of a buffer binding, which decides how the module may access it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferKind {
    /// A uniform buffer: a variable of storage class Uniform whose structure is decorated Block.
    Uniform,
    /// A storage buffer that is only read. The module decorates the variable `NonWritable`, which
    /// naga's route requires.
    ReadOnly,
    /// A storage buffer: a variable of storage class StorageBuffer, or of class Uniform with a
    /// structure that is decorated BufferBlock. Its contents at the end of the program are part of
    /// the result.
    ReadWrite,
}

impl BufferKind {
    /// All kinds. The worker of a device is sent their positions in this list.
    pub const ALL: [BufferKind; 3] = [BufferKind::Uniform, BufferKind::ReadOnly, BufferKind::ReadWrite];

    /// "uniform", "read-only storage" or "storage".
    pub fn name(self) -> &'static str {
        match self {
            BufferKind::Uniform => "uniform",
            BufferKind::ReadOnly => "read-only storage",
            BufferKind::ReadWrite => "storage",
        }
    }
}

/// A buffer at a descriptor, with its contents before the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferBinding {
    /// The `DescriptorSet` that the module decorates its variable with.
    pub set: u32,
    /// The `Binding` that the module decorates its variable with.
    pub binding: u32,
    /// The kind of binding.
    pub kind: BufferKind,
    /// The contents, little-endian. Their length is the size of the buffer, and so determines the
    /// length of a runtime array in it.
    pub bytes: Vec<u8>,
}

/// The kind of an image binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageKind {
    /// For sampling and fetches: OpTypeImage with Sampled 1. With a sampler at the same place, it
    /// is a combined image sampler.
    Sampled,
    /// For reads and writes: OpTypeImage with Sampled 2. It has one level. Its contents at the end
    /// of the program are part of the result.
    Storage,
}

impl ImageKind {
    /// All kinds. The worker of a device is sent their positions in this list.
    pub const ALL: [ImageKind; 2] = [ImageKind::Sampled, ImageKind::Storage];

    /// "sampled" or "storage".
    pub fn name(self) -> &'static str {
        match self {
            ImageKind::Sampled => "sampled",
            ImageKind::Storage => "storage",
        }
    }
}

/// An image at a descriptor, with its contents before the program runs. A device gets zeros for
/// undefined texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageBinding {
    /// The `DescriptorSet` that the module decorates its variable with.
    pub set: u32,
    /// The `Binding` that the module decorates its variable with.
    pub binding: u32,
    /// The kind of binding.
    pub kind: ImageKind,
    /// The format, the size and the texels.
    pub image: Image,
}

/// All bindings of a program. Several buffers, images or samplers at one place are the elements of
/// an array of descriptors, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'d> {
    /// The buffers.
    pub buffers: &'d [BufferBinding],
    /// The images.
    pub images: &'d [ImageBinding],
    /// The samplers.
    pub samplers: &'d [SamplerBinding],
    /// The push constants, from offset 0.
    pub push_constants: &'d [u8],
}

impl<'d> Bound<'d> {
    /// The buffers whose final contents are part of the result.
    pub fn shown_buffers(self) -> impl Iterator<Item = &'d BufferBinding> {
        self.buffers.iter().filter(|buffer| buffer.kind == BufferKind::ReadWrite)
    }

    /// The images whose final contents are part of the result.
    pub fn shown_images(self) -> impl Iterator<Item = &'d ImageBinding> {
        self.images.iter().filter(|image| image.kind == ImageKind::Storage)
    }

    /// The set and binding of every binding. A place is repeated if it has an image and a sampler.
    pub fn places(self) -> impl Iterator<Item = (u32, u32)> {
        let buffers = self.buffers.iter().map(|b| (b.set, b.binding));
        let images = self.images.iter().map(|i| (i.set, i.binding));
        buffers.chain(images).chain(self.samplers.iter().map(|s| (s.set, s.binding)))
    }

    /// The bytes of all buffers and images before the program.
    pub fn given_bytes(self) -> u64 {
        let buffers: u64 = self.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        buffers.saturating_add(self.images.iter().map(|i| image_bytes(&i.image)).sum())
    }

    /// The bytes of the buffers and images in the result.
    pub fn shown_bytes(self) -> u64 {
        let buffers: u64 = self.shown_buffers().map(|buffer| buffer.bytes.len() as u64).sum();
        buffers.saturating_add(self.shown_images().map(|i| image_bytes(&i.image)).sum())
    }

    /// The buffers in the form of the interpreters.
    pub fn buffer_contents(self) -> Vec<Buffer> {
        self.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect()
    }

    /// The images in the form of the interpreters.
    pub fn image_contents(self) -> Vec<BoundImage> {
        self.images.iter().map(|i| BoundImage { set: i.set, binding: i.binding, image: i.image.clone() }).collect()
    }

    /// Checks everything that does not depend on a device's limits: that no two bindings clash, and
    /// the bounds of this module.
    pub fn check(self) -> Result<(), Malformed> {
        let malformed = |text: String| Err(Malformed(text));
        let counts = [("buffers", self.buffers.len()), ("images", self.images.len()), ("samplers", self.samplers.len())];
        for (what, count) in counts {
            if count > MAX_BUFFERS {
                return malformed(format!("the dispatch has {count} {what}; at most {MAX_BUFFERS} are taken"));
            }
        }
        if self.given_bytes() > MAX_BUFFER_BYTES {
            return malformed(format!("the buffers and images have {} bytes; at most {MAX_BUFFER_BYTES} are taken", self.given_bytes()));
        }
        for (i, buffer) in self.buffers.iter().enumerate() {
            let (set, binding) = (buffer.set, buffer.binding);
            if buffer.bytes.is_empty() {
                return malformed(format!("the buffer at set {set}, binding {binding} has no bytes; Vulkan has no empty buffers"));
            }
            if let Some(other) = self.buffers[..i].iter().find(|b| (b.set, b.binding) == (set, binding) && b.kind != buffer.kind) {
                let [one, two] = [other, buffer].map(|buffer| buffer.kind.name());
                return malformed(format!("the buffers at set {set}, binding {binding} are a {one} and a {two} buffer"));
            }
        }
        let is_buffer = |place: (u32, u32)| self.buffers.iter().any(|b| (b.set, b.binding) == place);
        for (i, image) in self.images.iter().enumerate() {
            let (set, binding) = (image.set, image.binding);
            let differs = |other: &ImageBinding| other.kind != image.kind || other.image.shape() != image.image.shape();
            if is_buffer((set, binding)) || self.images[..i].iter().any(|b| (b.set, b.binding) == (set, binding) && differs(b)) {
                return malformed(format!("an image at set {set}, binding {binding} is at the place of another kind of image or a buffer"));
            }
            if image.kind == ImageKind::Storage && image.image.levels() != 1 {
                let levels = image.image.levels();
                return malformed(format!("the storage image at set {set}, binding {binding} has {levels} levels; it is given with 1"));
            }
        }
        let is_storage = |place: (u32, u32)| self.images.iter().any(|i| (i.set, i.binding) == place && i.kind == ImageKind::Storage);
        for sampler in self.samplers {
            let (set, binding) = (sampler.set, sampler.binding);
            let is_taken = is_buffer((set, binding)) || is_storage((set, binding));
            if is_taken {
                return malformed(format!(
                    "a sampler at set {set}, binding {binding} is at the place of something that it cannot be combined with"
                ));
            }
        }
        let pushed = self.push_constants.len();
        if pushed > MAX_PUSH_CONSTANTS {
            return malformed(format!("there are {pushed} bytes of push constants; at most {MAX_PUSH_CONSTANTS} are taken"));
        }
        if !pushed.is_multiple_of(4) {
            return malformed(format!("there are {pushed} bytes of push constants, which are no whole number of words"));
        }
        Ok(())
    }
}

/// The bytes of all levels.
pub(super) fn image_bytes(image: &Image) -> u64 {
    (0..image.levels()).filter_map(|level| image.bytes(level)).map(|bytes| bytes.len() as u64).sum()
}
