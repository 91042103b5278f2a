//! Draws: a vertex and a fragment stage, their inputs, and their attachments. Vulkan's conventions
//! hold throughout: rows go downwards.

use std::iter;
use std::sync::Arc;

use smallstep_semantics::image::{Compare, Image};
use smallstep_semantics::raster::{self, DepthBuffer, Topology};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{Attribute, BoundImage, ColourTarget, DepthTarget, Draw, Limits, Rate, Resources, Vertices};

use super::bound::{self, Bound, BufferBinding, ImageBinding, MAX_BUFFER_BYTES, SamplerBinding};
use super::{DifferentWords, Malformed, check_module, compute, hash_of, same_words};

/// The most vertices or indices of a draw, and the most instances: 2^24.
pub const MAX_VERTICES: u32 = 1 << 24;

/// A module and the name of an entry point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The SPIR-V module, in host order, with frozen specialization constants. Both stages may have
    /// the same words.
    pub words: Arc<[u32]>,
    /// The name of the entry point.
    pub entry: String,
}

/// The vertices of a draw, with the fields of [`Vertices`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The way that vertices form primitives.
    pub topology: Topology,
    /// The indices. Without them, vertices are numbered from `first`.
    pub indices: Option<Vec<u32>>,
    /// The number of the first vertex, or the position of the first index.
    pub first: u32,
    /// The number of vertices or indices.
    pub count: u32,
    /// The offset that is added to each index. 0 without indices.
    pub vertex_offset: i32,
    /// The number of the first instance.
    pub first_instance: u32,
    /// The number of instances.
    pub instances: u32,
    /// The attributes, at most one for each location.
    pub attributes: Vec<Attribute>,
}

impl Geometry {
    /// `count` vertices from number 0, in one instance, without indices and attributes.
    pub fn of_count(topology: Topology, count: u32) -> Geometry {
        Geometry { topology, indices: None, first: 0, count, vertex_offset: 0, first_instance: 0, instances: 1, attributes: Vec::new() }
    }

    /// The vertex numbers that the vertex stage sees, in order: the indices plus the offset, or
    /// consecutive numbers without indices.
    ///
    /// Errors: a number does not fit into 32 bits.
    pub fn vertex_numbers(&self) -> Result<Vec<u32>, Malformed> {
        let (first, count) = (self.first as usize, self.count as usize);
        let number = |number: i64| u32::try_from(number).map_err(|_| Malformed(format!("the draw has a vertex of number {number}")));
        match &self.indices {
            None => (0..i64::from(self.count)).map(|i| number(i64::from(self.first) + i)).collect(),
            Some(indices) => {
                let drawn = indices.iter().skip(first).take(count);
                drawn.map(|index| number(i64::from(*index) + i64::from(self.vertex_offset))).collect()
            }
        }
    }

    /// The number of items that an attribute of that rate must have: the greatest number that is
    /// drawn, plus 1.
    pub fn items(&self, rate: Rate) -> Result<u64, Malformed> {
        match rate {
            Rate::Vertex => Ok(self.vertex_numbers()?.into_iter().max().map_or(0, |last| u64::from(last) + 1)),
            Rate::Instance if self.instances == 0 => Ok(0),
            Rate::Instance => Ok(u64::from(self.first_instance) + u64::from(self.instances)),
        }
    }

    fn bytes(&self) -> u64 {
        let attributes: u64 = self.attributes.iter().map(|a| a.bytes.len() as u64).sum();
        attributes + 4 * self.indices.as_ref().map_or(0, |indices| indices.len() as u64)
    }

    fn check(&self) -> Result<(), Malformed> {
        let malformed = |text: String| Err(Malformed(text));
        for (what, count) in [("vertices", self.count), ("instances", self.instances)] {
            if count > MAX_VERTICES {
                return malformed(format!("the draw has {count} {what}; at most {MAX_VERTICES} are taken"));
            }
        }
        for (what, first, count) in [("vertices", self.first, self.count), ("instances", self.first_instance, self.instances)] {
            if first.checked_add(count).is_none() {
                return malformed(format!("the draw has {count} {what} from number {first}; numbers have 32 bits"));
            }
        }
        match &self.indices {
            Some(indices) if u64::from(self.first) + u64::from(self.count) > indices.len() as u64 => {
                let (first, count, length) = (self.first, self.count, indices.len());
                return malformed(format!("the draw takes {count} indices from place {first}; it has {length}"));
            }
            None if self.vertex_offset != 0 => return malformed("the draw has a vertex offset and no indices".into()),
            _ => {}
        }
        for (i, attribute) in self.attributes.iter().enumerate() {
            if self.attributes[..i].iter().any(|a| a.location == attribute.location) {
                return malformed(format!("two attributes have location {}", attribute.location));
            }
        }
        Ok(())
    }
}

/// The depth attachment and its test.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthAttachment {
    /// The format, the size, and the contents before the draw.
    pub image: Image,
    /// The comparison of a fragment's depth with the stored depth.
    pub compare: Compare,
    /// Whether the depths of fragments that pass are stored.
    pub writes: bool,
}

/// A draw with all inputs of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawDispatch {
    /// The vertex stage.
    pub vertex: Stage,
    /// The fragment stage.
    pub fragment: Stage,
    /// The vertices and their attributes.
    pub geometry: Geometry,
    /// The buffers. A [`DrawResult`] has those of kind
    /// [`BufferKind::ReadWrite`](super::BufferKind::ReadWrite), in the same order.
    pub buffers: Vec<BufferBinding>,
    /// The images. A [`DrawResult`] has those of kind
    /// [`ImageKind::Storage`](super::ImageKind::Storage), in the same order.
    pub images: Vec<ImageBinding>,
    /// The samplers.
    pub samplers: Vec<SamplerBinding>,
    /// The push constants of both stages from offset 0, a whole number of 32-bit words.
    pub push_constants: Vec<u8>,
    /// The viewport, the scissor and culling. The precision in it is for the interpreter. A device
    /// has its own.
    pub state: raster::State,
    /// The colour attachments, at most one for each location, of one size and one level. All
    /// components are written.
    pub targets: Vec<ColourTarget>,
    /// The depth attachment, if there is one. It has the same size.
    pub depth: Option<DepthAttachment>,
}

impl DrawDispatch {
    /// The hash of the words of both stages: FNV-1a as in [`words_hash`](super::words_hash). Its
    /// input is the number of words of the vertex stage's module, then these words, then the words
    /// of the fragment stage's module.
    pub fn words_hash(&self) -> u64 {
        let (vertex, fragment) = (&self.vertex.words, &self.fragment.words);
        hash_of(iter::once(vertex.len() as u32).chain(vertex.iter().copied()).chain(fragment.iter().copied()))
    }

    /// The bindings.
    pub fn bound(&self) -> Bound<'_> {
        Bound { buffers: &self.buffers, images: &self.images, samplers: &self.samplers, push_constants: &self.push_constants }
    }

    /// The width and height of the attachments. None if there are no attachments.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.attachments().next().and_then(|image| image.size(0))
    }

    /// The colour attachments and the depth attachment.
    pub fn attachments(&self) -> impl Iterator<Item = &Image> {
        self.targets.iter().map(|target| &target.image).chain(self.depth.as_ref().map(|depth| &depth.image))
    }

    fn attached_bytes(&self) -> u64 {
        self.attachments().map(bound::image_bytes).sum()
    }

    fn given_bytes(&self) -> u64 {
        self.bound().given_bytes().saturating_add(self.geometry.bytes()).saturating_add(self.attached_bytes())
    }

    /// The bytes of all inputs before the draw, plus those of the result.
    pub fn bytes(&self) -> u64 {
        self.given_bytes().saturating_add(self.bound().shown_bytes()).saturating_add(self.attached_bytes())
    }

    /// Checks everything that does not depend on a device's limits: that the attachments fit each
    /// other, that all vertices exist, and the bounds of this module.
    pub fn check(&self) -> Result<(), Malformed> {
        let malformed = |text: String| Err(Malformed(text));
        if self.state.samples != 1 {
            return malformed(format!("the draw has {} samples a pixel; devices draw one", self.state.samples));
        }
        let Some(size) = self.size() else {
            return malformed("the draw has neither a colour nor a depth attachment; it needs one".into());
        };
        for image in self.attachments() {
            if image.size(0) != Some(size) || image.levels() != 1 {
                return malformed("the attachments differ in size, or have several levels".into());
            }
        }
        for (i, target) in self.targets.iter().enumerate() {
            let (location, format) = (target.location, target.image.format());
            if self.targets[..i].iter().any(|t| t.location == location) {
                return malformed(format!("two colour attachments have location {location}"));
            }
            if format.is_depth() {
                return malformed(format!("the colour attachment at location {location} has the depth format {}", format.name()));
            }
        }
        if let Some(depth) = self.depth.as_ref().filter(|depth| !depth.image.format().is_depth()) {
            return malformed(format!("the depth attachment has the format {}, which has no depth", depth.image.format().name()));
        }
        self.state.check().map_err(|error| Malformed(error.to_string()))?;
        let area = &self.state.area;
        if area.end_x > size[0] || area.end_y > size[1] {
            let ([width, height], x, y) = (size, area.end_x, area.end_y);
            return malformed(format!("the area ends at ({x}, {y}); the attachments have {width} by {height} pixels"));
        }
        self.geometry.check()?;
        self.bound().check()?;
        if self.given_bytes() > MAX_BUFFER_BYTES {
            return malformed(format!("the draw is given {} bytes; at most {MAX_BUFFER_BYTES} are taken", self.given_bytes()));
        }
        check_module(&self.vertex.words, &self.vertex.entry)?;
        check_module(&self.fragment.words, &self.fragment.entry)
    }

    /// The contents that the interpreters borrow.
    pub fn contents(&self) -> DrawContents {
        let depth = self.depth.as_ref().and_then(|depth| {
            let buffer = DepthBuffer::holding(&depth.image)?;
            Some(DepthTarget { buffer, compare: depth.compare, writes: depth.writes, stencil: None })
        });
        DrawContents { buffers: self.bound().buffer_contents(), images: self.bound().image_contents(), depth }
    }
}

/// The parts of a [`Draw`] that a [`DrawDispatch`] has in another form.
#[derive(Clone, Debug)]
pub struct DrawContents {
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The images.
    pub images: Vec<BoundImage>,
    /// The depth attachment.
    pub depth: Option<DepthTarget>,
}

impl DrawContents {
    /// The draw of that dispatch in the form of an interpreter, within these limits. It has no
    /// robustness and the least precision.
    pub fn lend<'d>(&'d self, dispatch: &'d DrawDispatch, limits: Limits) -> Draw<'d> {
        let geometry = &dispatch.geometry;
        Draw {
            vertex: &dispatch.vertex.entry,
            fragment: &dispatch.fragment.entry,
            vertices: Vertices {
                topology: geometry.topology,
                indices: geometry.indices.as_deref(),
                first: geometry.first,
                count: geometry.count,
                vertex_offset: geometry.vertex_offset,
                first_instance: geometry.first_instance,
                instances: geometry.instances,
                attributes: &geometry.attributes,
            },
            resources: Resources {
                buffers: &self.buffers,
                images: &self.images,
                samplers: &dispatch.samplers,
                push_constants: &dispatch.push_constants,
                ..Resources::default()
            },
            state: dispatch.state,
            targets: &dispatch.targets,
            depth: self.depth.as_ref(),
            limits,
        }
    }
}

/// The final contents of a draw's attachments, buffers and images. Texels are row after row from
/// the top, in the image's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawResult {
    /// The [`DrawDispatch::words_hash`] of the words that were run.
    pub words_hash: u64,
    /// The colour attachments, in the order of [`DrawDispatch::targets`].
    pub targets: Vec<Vec<u8>>,
    /// The depth attachment, if there is one.
    pub depth: Option<Vec<u8>>,
    /// The buffers of kind [`BufferKind::ReadWrite`](super::BufferKind::ReadWrite), in the order of
    /// [`DrawDispatch::buffers`].
    pub buffers: Vec<Buffer>,
    /// The storage images, in the order of [`DrawDispatch::images`].
    pub images: Vec<Buffer>,
}

impl DrawResult {
    /// Refuses a comparison of runs of different words. Every verdict over two results calls
    /// this first.
    pub fn same_words(&self, other: &DrawResult) -> Result<(), DifferentWords> {
        same_words(self.words_hash, other.words_hash)
    }

    /// The contents of the buffer at that set and binding. None if it is not part of the result.
    pub fn buffer(&self, set: u32, binding: u32) -> Option<&[u8]> {
        compute::at(&self.buffers, set, binding)
    }

    /// The texels of the image at that set and binding. None if it is not part of the result.
    pub fn image(&self, set: u32, binding: u32) -> Option<&[u8]> {
        compute::at(&self.images, set, binding)
    }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::Format;

    use super::*;

    fn image(format: Format, width: u32, height: u32) -> Image {
        let mut image = Image::new(format, width, height, 1).expect("it has texels");
        image.fill(0, &vec![0x40; (width * height) as usize * format.bytes()]).expect("the bytes of its level");
        image
    }

    fn attribute(location: u32) -> Attribute {
        Attribute { location, format: Format::R32Sfloat, rate: Rate::Vertex, offset: 0, stride: 4, bytes: vec![0; 12] }
    }

    fn draw() -> DrawDispatch {
        let stage = |words: &[u32]| Stage { words: Arc::from(words), entry: "main".into() };
        DrawDispatch {
            vertex: stage(&[1, 2]),
            fragment: stage(&[3]),
            geometry: Geometry { attributes: vec![attribute(0)], ..Geometry::of_count(Topology::List, 3) },
            buffers: vec![],
            images: vec![],
            samplers: vec![],
            push_constants: vec![],
            state: raster::State::of_size(4, 2),
            targets: vec![ColourTarget { location: 0, image: image(Format::Rgba8Unorm, 4, 2) }],
            depth: Some(DepthAttachment { image: image(Format::D16Unorm, 4, 2), compare: Compare::Less, writes: true }),
        }
    }

    #[test]
    fn the_hash_is_of_both_modules_and_of_which_is_which() {
        let of = |vertex: &[u32], fragment: &[u32]| {
            let mut draw = draw();
            (draw.vertex.words, draw.fragment.words) = (Arc::from(vertex), Arc::from(fragment));
            draw.words_hash()
        };
        assert_eq!(of(&[1, 2], &[3]), of(&[1, 2], &[3]));
        assert_ne!(of(&[1, 2], &[3]), of(&[1], &[2, 3]));
        assert_ne!(of(&[1, 2], &[3]), of(&[3], &[1, 2]));
        // FNV-1a of the words 2, 1, 2, 3.
        assert_eq!(of(&[1, 2], &[3]), crate::dispatch::words_hash(&[2, 1, 2, 3]));
    }

    #[test]
    fn bytes_are_those_that_go_there_and_those_that_come_back() {
        // 12 bytes of the attribute. Twice 4 by 2 pixels, of 4 bytes and of 2.
        assert_eq!(draw().bytes(), 12 + 2 * (32 + 16));
    }

    #[test]
    fn numbers_of_vertices_have_the_offset() {
        let indexed = Geometry {
            indices: Some(vec![9, 5, 3, 4]),
            first: 1,
            vertex_offset: -3,
            first_instance: 2,
            instances: 4,
            ..Geometry::of_count(Topology::List, 3)
        };
        assert_eq!(indexed.vertex_numbers().expect("they are within 32 bits"), [2, 0, 1]);
        assert_eq!(indexed.items(Rate::Vertex), Ok(3));
        assert_eq!(indexed.items(Rate::Instance), Ok(6));
        assert!(Geometry { vertex_offset: -4, ..indexed }.vertex_numbers().is_err());
        let plain = Geometry { first: 7, ..Geometry::of_count(Topology::Fan, 2) };
        assert_eq!(plain.vertex_numbers().expect("they are within 32 bits"), [7, 8]);
    }

    #[test]
    fn what_an_interpreter_borrows_is_what_the_dispatch_holds() {
        let draw = draw();
        let contents = draw.contents();
        let borrowed = contents.lend(&draw, Limits::default());
        assert_eq!((borrowed.vertex, borrowed.fragment, borrowed.vertices.count), ("main", "main", 3));
        assert_eq!(borrowed.vertices.attributes, draw.geometry.attributes);
        // 0x4040 out of 0xffff.
        let depth = borrowed.depth.and_then(|depth| depth.buffer.depth(3, 1)).expect("it has that pixel");
        assert_eq!(depth.0.value, f64::from(0x4040) / 65535.0);
    }

    #[test]
    fn what_describes_no_run_is_named() {
        assert_eq!(draw().check(), Ok(()));
        type Alteration = fn(&mut DrawDispatch);
        let broken: [(&str, Alteration); 14] = [
            ("neither a colour nor a depth", |d| (d.targets, d.depth) = (vec![], None)),
            ("differ in size", |d| d.targets[0].image = image(Format::Rgba8Unorm, 4, 3)),
            ("two colour attachments have location 0", |d| d.targets.push(d.targets[0].clone())),
            ("has the depth format D16_UNORM", |d| d.targets[0].image = image(Format::D16Unorm, 4, 2)),
            ("which has no depth", |d| d.depth.as_mut().expect("it has one").image = image(Format::R8Unorm, 4, 2)),
            ("the viewport is empty", |d| d.state.viewport.width = 0.0),
            ("the area ends at (5, 2)", |d| d.state.area.end_x = 5),
            ("two attributes have location 0", |d| d.geometry.attributes.push(attribute(0))),
            ("3 indices from place 0; it has 2", |d| d.geometry.indices = Some(vec![0, 1])),
            ("a vertex offset and no indices", |d| d.geometry.vertex_offset = 1),
            ("instances", |d| d.geometry.instances = MAX_VERTICES + 1),
            ("is given 268435472 bytes", |d| d.geometry.attributes[0].bytes = vec![0; MAX_BUFFER_BYTES as usize - 32]),
            ("3 vertices from number 4294967293", |d| d.geometry.first = u32::MAX - 2),
            ("zero byte", |d| d.fragment.entry = "ma\0in".into()),
        ];
        for (expected, alter) in broken {
            let mut d = draw();
            alter(&mut d);
            let error = d.check().expect_err(expected).to_string();
            assert!(error.contains(expected), "{error:?} lacks {expected:?}");
        }
    }
}
