//! What is bound while a program runs: buffers, images, samplers and push constants, of a compute
//! dispatch or of a draw.

use smallstep_semantics::image::Image;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::BoundImage;

use super::Malformed;

pub use smallstep_semantics::spirv::environment::BoundSampler as SamplerBinding;

/// The most buffers of one program; as many images, and as many samplers.
pub const MAX_BUFFERS: usize = 1 << 10;
/// The most bytes of all buffers, images and attachments of one program together: 2^28 (256 MiB).
pub const MAX_BUFFER_BYTES: u64 = 1 << 28;
/// The most bytes of push constants: 2^16. Devices have fewer, and say so.
pub const MAX_PUSH_CONSTANTS: usize = 1 << 16;

/// How a buffer is bound, and so what the module may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferKind {
    /// A uniform buffer: a variable of storage class Uniform whose structure is decorated Block.
    Uniform,
    /// A storage buffer that is only read. The module decorates the variable `NonWritable`, which
    /// naga's route insists on.
    ReadOnly,
    /// A storage buffer: a variable of storage class StorageBuffer, or of class Uniform with a
    /// structure that is decorated BufferBlock. What it holds when the program has ended is shown.
    ReadWrite,
}

impl BufferKind {
    /// Every kind.
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

/// A buffer behind a descriptor, and what it holds before the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferBinding {
    /// The `DescriptorSet` that the module decorates its variable with.
    pub set: u32,
    /// The `Binding` that the module decorates its variable with.
    pub binding: u32,
    /// How it is bound.
    pub kind: BufferKind,
    /// The contents, little-endian. Their number is the size of the buffer, so the length of a
    /// runtime array in it.
    pub bytes: Vec<u8>,
}

/// How an image is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageKind {
    /// To be sampled and fetched: OpTypeImage with Sampled 1. With a sampler at the same place it
    /// is a combined image sampler.
    Sampled,
    /// To be read and written: OpTypeImage with Sampled 2. It has one level, and what it holds when
    /// the program has ended is shown.
    Storage,
}

impl ImageKind {
    /// Every kind.
    pub const ALL: [ImageKind; 2] = [ImageKind::Sampled, ImageKind::Storage];

    /// "sampled" or "storage".
    pub fn name(self) -> &'static str {
        match self {
            ImageKind::Sampled => "sampled",
            ImageKind::Storage => "storage",
        }
    }
}

/// An image behind a descriptor, and what it holds before the program runs. Texels that are
/// undefined are given to a device as zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageBinding {
    /// The `DescriptorSet` that the module decorates its variable with.
    pub set: u32,
    /// The `Binding` that the module decorates its variable with.
    pub binding: u32,
    /// How it is bound.
    pub kind: ImageKind,
    /// Format, size and texels.
    pub image: Image,
}

/// Everything that is bound for one program.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'d> {
    /// The buffers.
    pub buffers: &'d [BufferBinding],
    /// The images.
    pub images: &'d [ImageBinding],
    /// The samplers.
    pub samplers: &'d [SamplerBinding],
    /// The push constants from offset 0.
    pub push_constants: &'d [u8],
}

impl<'d> Bound<'d> {
    /// The buffers whose contents afterwards are shown.
    pub fn shown_buffers(self) -> impl Iterator<Item = &'d BufferBinding> {
        self.buffers.iter().filter(|buffer| buffer.kind == BufferKind::ReadWrite)
    }

    /// The images whose contents afterwards are shown.
    pub fn shown_images(self) -> impl Iterator<Item = &'d ImageBinding> {
        self.images.iter().filter(|image| image.kind == ImageKind::Storage)
    }

    /// Set and binding of everything, repeated where an image and a sampler are at one place.
    pub fn places(self) -> impl Iterator<Item = (u32, u32)> {
        let buffers = self.buffers.iter().map(|b| (b.set, b.binding));
        let images = self.images.iter().map(|i| (i.set, i.binding));
        buffers.chain(images).chain(self.samplers.iter().map(|s| (s.set, s.binding)))
    }

    /// Bytes that are given.
    pub fn given_bytes(self) -> u64 {
        let buffers: u64 = self.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        buffers.saturating_add(self.images.iter().map(|i| image_bytes(&i.image)).sum())
    }

    /// Bytes that are shown.
    pub fn shown_bytes(self) -> u64 {
        let buffers: u64 = self.shown_buffers().map(|buffer| buffer.bytes.len() as u64).sum();
        buffers.saturating_add(self.shown_images().map(|i| image_bytes(&i.image)).sum())
    }

    /// The buffers as the interpreters take them.
    pub fn buffer_contents(self) -> Vec<Buffer> {
        self.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect()
    }

    /// The images as the interpreters take them.
    pub fn image_contents(self) -> Vec<BoundImage> {
        self.images.iter().map(|i| BoundImage { set: i.set, binding: i.binding, image: i.image.clone() }).collect()
    }

    /// Checks what no device's limits are needed for: things that can be told apart, and the bounds
    /// of this module.
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
            if self.buffers[..i].iter().any(|b| (b.set, b.binding) == (set, binding)) {
                return malformed(format!("two buffers have set {set}, binding {binding}"));
            }
        }
        let is_buffer = |place: (u32, u32)| self.buffers.iter().any(|b| (b.set, b.binding) == place);
        for (i, image) in self.images.iter().enumerate() {
            let (set, binding) = (image.set, image.binding);
            if is_buffer((set, binding)) || self.images[..i].iter().any(|b| (b.set, b.binding) == (set, binding)) {
                return malformed(format!("an image at set {set}, binding {binding} is at the place of another image or a buffer"));
            }
            if image.kind == ImageKind::Storage && image.image.levels() != 1 {
                let levels = image.image.levels();
                return malformed(format!("the storage image at set {set}, binding {binding} has {levels} levels; it is given with 1"));
            }
        }
        let is_storage = |place: (u32, u32)| self.images.iter().any(|i| (i.set, i.binding) == place && i.kind == ImageKind::Storage);
        for (i, sampler) in self.samplers.iter().enumerate() {
            let (set, binding) = (sampler.set, sampler.binding);
            let taken = is_buffer((set, binding)) || is_storage((set, binding));
            if taken || self.samplers[..i].iter().any(|s| (s.set, s.binding) == (set, binding)) {
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

/// Bytes of all levels.
pub(super) fn image_bytes(image: &Image) -> u64 {
    (0..image.levels()).filter_map(|level| image.bytes(level)).map(|bytes| bytes.len() as u64).sum()
}
