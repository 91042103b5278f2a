//! Compute programs: buffers and images go in, workgroups run, and buffers and images come out.

use std::sync::Arc;

use smallstep_semantics::spirv::Buffer;

use super::bound::{Bound, BufferBinding, ImageBinding, SamplerBinding};
use super::{DifferentWords, Malformed, check_module, same_words, words_hash};

/// A compute program with all inputs of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComputeDispatch {
    /// The SPIR-V module, in host order, with frozen specialization constants.
    pub words: Arc<[u32]>,
    /// The name of the GLCompute entry point.
    pub entry: String,
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The buffers. A [`ComputeResult`] has those of kind
    /// [`BufferKind::ReadWrite`](super::BufferKind::ReadWrite), in the same order. No two have the
    /// same set and binding.
    pub buffers: Vec<BufferBinding>,
    /// The images. A [`ComputeResult`] has those of kind
    /// [`ImageKind::Storage`](super::ImageKind::Storage), in the same order.
    pub images: Vec<ImageBinding>,
    /// The samplers.
    pub samplers: Vec<SamplerBinding>,
    /// The push constants from offset 0, a whole number of 32-bit words.
    pub push_constants: Vec<u8>,
}

impl ComputeDispatch {
    /// The hash of the words. See [`words_hash`].
    pub fn words_hash(&self) -> u64 {
        words_hash(&self.words)
    }

    /// The bindings.
    pub fn bound(&self) -> Bound<'_> {
        Bound { buffers: &self.buffers, images: &self.images, samplers: &self.samplers, push_constants: &self.push_constants }
    }

    /// The bytes of all buffers and images before the dispatch, plus those of the result.
    pub fn bytes(&self) -> u64 {
        self.bound().given_bytes().saturating_add(self.bound().shown_bytes())
    }

    /// The buffers in the form of the interpreters.
    pub fn contents(&self) -> Vec<Buffer> {
        self.bound().buffer_contents()
    }

    /// Checks everything that does not depend on a device's limits: that the grid is not empty, the
    /// bindings, and the bounds of this module.
    pub fn check(&self) -> Result<(), Malformed> {
        if self.groups.contains(&0) {
            let [x, y, z] = self.groups;
            return Err(Malformed(format!("the grid is {x} by {y} by {z} workgroups; a run needs at least one")));
        }
        self.bound().check()?;
        check_module(&self.words, &self.entry)
    }
}

/// The final contents of a compute program's buffers and images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeResult {
    /// The [`words_hash`] of the words that were run.
    pub words_hash: u64,
    /// The buffers of kind [`BufferKind::ReadWrite`](super::BufferKind::ReadWrite), in the order of
    /// [`ComputeDispatch::buffers`]. Each has its original size.
    pub buffers: Vec<Buffer>,
    /// The texels of the storage images, row after row, in the order
    /// of [`ComputeDispatch::images`].
    pub images: Vec<Buffer>,
}

impl ComputeResult {
    /// Refuses a comparison of runs of different words. Every verdict over two results calls
    /// this first.
    pub fn same_words(&self, other: &ComputeResult) -> Result<(), DifferentWords> {
        same_words(self.words_hash, other.words_hash)
    }

    /// The contents of the buffer at that set and binding. None if it is not part of the result.
    pub fn buffer(&self, set: u32, binding: u32) -> Option<&[u8]> {
        at(&self.buffers, set, binding)
    }

    /// The result at a place: the bytes of a buffer, or the texels of a storage image.
    pub fn shown(&self, set: u32, binding: u32) -> Option<&[u8]> {
        self.buffer(set, binding).or_else(|| self.image(set, binding))
    }

    /// The texels of the image at that set and binding. None if it is not part of the result.
    pub fn image(&self, set: u32, binding: u32) -> Option<&[u8]> {
        at(&self.images, set, binding)
    }
}

/// The bytes at that set and binding.
pub(super) fn at(buffers: &[Buffer], set: u32, binding: u32) -> Option<&[u8]> {
    buffers.iter().find(|b| b.set == set && b.binding == binding).map(|b| b.bytes.as_slice())
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::{Format, Image, Sampler};

    use super::super::bound::{BufferKind, ImageKind, MAX_BUFFER_BYTES, MAX_BUFFERS, MAX_PUSH_CONSTANTS};
    use super::*;

    fn buffer(set: u32, binding: u32, kind: BufferKind, size: usize) -> BufferBinding {
        BufferBinding { set, binding, kind, bytes: vec![0; size] }
    }

    fn dispatch() -> ComputeDispatch {
        ComputeDispatch {
            words: Arc::from([0x0723_0203, 0x0001_0300]),
            entry: "main".into(),
            groups: [1, 2, 3],
            buffers: vec![
                buffer(0, 0, BufferKind::ReadWrite, 16),
                buffer(0, 1, BufferKind::ReadOnly, 8),
                buffer(1, 0, BufferKind::Uniform, 4),
            ],
            images: vec![image(2, 0, ImageKind::Storage), image(2, 1, ImageKind::Sampled)],
            samplers: vec![SamplerBinding { set: 2, binding: 1, sampler: Sampler::default() }],
            push_constants: vec![0; 8],
        }
    }

    /// An image of 24 bytes, plus a second level if it is sampled.
    fn image(set: u32, binding: u32, kind: ImageKind) -> ImageBinding {
        let levels = if kind == ImageKind::Sampled { 2 } else { 1 };
        let image = Image::new(Format::Rgba8Unorm, 3, 2, levels).expect("it has the size for them");
        ImageBinding { set, binding, kind, image }
    }

    #[test]
    fn only_what_is_written_is_shown_and_counted_twice() {
        let (d, places) = (dispatch(), |set, binding| vec![(set, binding)]);
        assert_eq!(d.bound().shown_buffers().map(|b| (b.set, b.binding)).collect::<Vec<_>>(), places(0, 0));
        assert_eq!(d.bound().shown_images().map(|i| (i.set, i.binding)).collect::<Vec<_>>(), places(2, 0));
        // The sampled image has a second level of one texel.
        assert_eq!(d.bytes(), 16 + 8 + 4 + 16 + 24 + 28 + 24);
    }

    #[test]
    fn results_of_different_words_are_not_compared() {
        let a = ComputeResult { words_hash: 1, buffers: vec![], images: vec![] };
        let b = ComputeResult { words_hash: 2, buffers: vec![], images: vec![] };
        assert_eq!(a.same_words(&a), Ok(()));
        assert_eq!(a.same_words(&b), Err(DifferentWords(1, 2)));
    }

    #[test]
    fn what_describes_no_run_is_named() {
        assert_eq!(dispatch().check(), Ok(()));
        type Alteration = fn(&mut ComputeDispatch);
        let broken: [(&str, Alteration); 12] = [
            ("1 by 0 by 3", |d| d.groups[1] = 0),
            ("no bytes", |d| d.buffers[1].bytes.clear()),
            ("set 0, binding 0 are a storage and a uniform buffer", |d| d.buffers.push(buffer(0, 0, BufferKind::Uniform, 4))),
            ("1025 buffers", |d| d.buffers.resize(MAX_BUFFERS + 1, buffer(9, 9, BufferKind::Uniform, 4))),
            ("268435512 bytes", |d| d.buffers = vec![buffer(0, 0, BufferKind::ReadOnly, MAX_BUFFER_BYTES as usize + 4)]),
            ("65540 bytes of push constants", |d| d.push_constants.resize(MAX_PUSH_CONSTANTS + 4, 0)),
            ("6 bytes of push constants", |d| d.push_constants.truncate(6)),
            ("place of another kind of image or a buffer", |d| d.images[0].binding = 1),
            ("storage image at set 2, binding 0 has 2 levels", |d| d.images[0].image = d.images[1].image.clone()),
            ("sampler at set 2, binding 0", |d| d.samplers[0].binding = 0),
            ("1026 samplers", |d| d.samplers.resize(MAX_BUFFERS + 2, d.samplers[0].clone())),
            ("zero byte", |d| d.entry = "ma\0in".into()),
        ];
        for (expected, alter) in broken {
            let mut d = dispatch();
            alter(&mut d);
            let error = d.check().expect_err(expected).to_string();
            assert!(error.contains(expected), "{error:?} lacks {expected:?}");
        }
    }
}
