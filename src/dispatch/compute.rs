//! Compute programs: buffers in, workgroups run, buffers out.

use std::sync::Arc;

use smallstep_semantics::spirv::Buffer;

use super::{DifferentWords, Malformed, check_module, same_words, words_hash};

/// The most buffers of one dispatch.
pub const MAX_BUFFERS: usize = 1 << 10;
/// The most bytes of all buffers of one dispatch together: 2^28 (256 MiB).
pub const MAX_BUFFER_BYTES: u64 = 1 << 28;
/// The most bytes of push constants: 2^16. Devices have fewer, and say so.
pub const MAX_PUSH_CONSTANTS: usize = 1 << 16;

/// How a buffer is bound, and so what the module may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferKind {
    /// A uniform buffer: a variable of storage class Uniform whose structure is decorated Block.
    Uniform,
    /// A storage buffer that is only read. The module decorates the variable `NonWritable`, which naga's route insists on.
    ReadOnly,
    /// A storage buffer: a variable of storage class StorageBuffer, or of class Uniform with a structure that is decorated BufferBlock. What it holds
    /// when the dispatch has ended is what the dispatch shows.
    ReadWrite,
}

impl BufferKind {
    /// "uniform", "read-only storage" or "storage".
    pub fn name(self) -> &'static str {
        match self {
            BufferKind::Uniform => "uniform",
            BufferKind::ReadOnly => "read-only storage",
            BufferKind::ReadWrite => "storage",
        }
    }
}

/// A buffer behind a descriptor, and what it holds before the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferBinding {
    /// The `DescriptorSet` that the module decorates its variable with.
    pub set: u32,
    /// The `Binding` that the module decorates its variable with.
    pub binding: u32,
    /// How it is bound.
    pub kind: BufferKind,
    /// The contents, little-endian. Their number is the size of the buffer, so the length of a runtime array in it.
    pub bytes: Vec<u8>,
}

/// A compute program and everything that its run depends on.
///
/// Room is left for images and samplers beside the buffers, each at a set and binding of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeDispatch {
    /// The SPIR-V module, in host order; specialization constants frozen.
    pub words: Arc<[u32]>,
    /// The name of the GLCompute entry point.
    pub entry: String,
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The buffers, in the order in which a [`ComputeResult`] holds those of kind [`BufferKind::ReadWrite`]. No two have the same set and binding.
    pub buffers: Vec<BufferBinding>,
    /// The push constants from offset 0, a whole number of 32-bit words.
    pub push_constants: Vec<u8>,
}

impl ComputeDispatch {
    /// The hash of the words: see [`words_hash`].
    pub fn words_hash(&self) -> u64 {
        words_hash(&self.words)
    }

    /// Bytes of all buffers before the dispatch, and of those that it shows after it.
    pub fn buffer_bytes(&self) -> u64 {
        self.given_bytes().saturating_add(self.shown().map(|buffer| buffer.bytes.len() as u64).sum())
    }

    fn given_bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum()
    }

    /// The buffers whose contents after the dispatch are its result.
    pub fn shown(&self) -> impl Iterator<Item = &BufferBinding> {
        self.buffers.iter().filter(|buffer| buffer.kind == BufferKind::ReadWrite)
    }

    /// The buffers as the interpreters take them.
    pub fn contents(&self) -> Vec<Buffer> {
        self.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect()
    }

    /// Checks what no device's limits are needed for: a grid that exists, buffers that can be told apart, and the bounds of this module.
    pub fn check(&self) -> Result<(), Malformed> {
        let malformed = |text: String| Err(Malformed(text));
        if self.groups.contains(&0) {
            let [x, y, z] = self.groups;
            return malformed(format!("the grid is {x} by {y} by {z} workgroups; a run needs at least one"));
        }
        if self.buffers.len() > MAX_BUFFERS {
            return malformed(format!("the dispatch has {} buffers; at most {MAX_BUFFERS} are taken", self.buffers.len()));
        }
        if self.given_bytes() > MAX_BUFFER_BYTES {
            return malformed(format!("the buffers have {} bytes; at most {MAX_BUFFER_BYTES} are taken", self.given_bytes()));
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
        if self.push_constants.len() > MAX_PUSH_CONSTANTS {
            return malformed(format!(
                "there are {} bytes of push constants; at most {MAX_PUSH_CONSTANTS} are taken",
                self.push_constants.len()
            ));
        }
        if !self.push_constants.len().is_multiple_of(4) {
            return malformed(format!(
                "there are {} bytes of push constants, which are no whole number of words",
                self.push_constants.len()
            ));
        }
        check_module(&self.words, &self.entry)
    }
}

/// What a compute program left in its buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeResult {
    /// The [`words_hash`] of the words that were run.
    pub words_hash: u64,
    /// The buffers of kind [`BufferKind::ReadWrite`], in the order of [`ComputeDispatch::buffers`], each with as many bytes as it was given.
    pub buffers: Vec<Buffer>,
}

impl ComputeResult {
    /// Refuses a comparison of runs of different words. Every verdict over two results asks this first.
    pub fn same_words(&self, other: &ComputeResult) -> Result<(), DifferentWords> {
        same_words(self.words_hash, other.words_hash)
    }

    /// What the buffer at that set and binding holds, if it is one that the dispatch shows.
    pub fn buffer(&self, set: u32, binding: u32) -> Option<&[u8]> {
        self.buffers.iter().find(|b| b.set == set && b.binding == binding).map(|b| b.bytes.as_slice())
    }
}

#[cfg(test)]
mod tests {
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
            push_constants: vec![0; 8],
        }
    }

    #[test]
    fn only_written_buffers_are_shown_and_counted_twice() {
        assert_eq!(dispatch().shown().map(|b| (b.set, b.binding)).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(dispatch().buffer_bytes(), 16 + 8 + 4 + 16);
    }

    #[test]
    fn results_of_different_words_are_not_compared() {
        let a = ComputeResult { words_hash: 1, buffers: vec![] };
        let b = ComputeResult { words_hash: 2, buffers: vec![] };
        assert_eq!(a.same_words(&a), Ok(()));
        assert_eq!(a.same_words(&b), Err(DifferentWords(1, 2)));
    }

    #[test]
    fn what_describes_no_run_is_named() {
        assert_eq!(dispatch().check(), Ok(()));
        type Alteration = fn(&mut ComputeDispatch);
        let broken: [(&str, Alteration); 8] = [
            ("1 by 0 by 3", |d| d.groups[1] = 0),
            ("no bytes", |d| d.buffers[1].bytes.clear()),
            ("two buffers have set 0, binding 0", |d| d.buffers.push(buffer(0, 0, BufferKind::Uniform, 4))),
            ("1025 buffers", |d| d.buffers.resize(MAX_BUFFERS + 1, buffer(9, 9, BufferKind::Uniform, 4))),
            ("268435460 bytes", |d| d.buffers = vec![buffer(0, 0, BufferKind::ReadOnly, MAX_BUFFER_BYTES as usize + 4)]),
            ("65540 bytes of push constants", |d| d.push_constants.resize(MAX_PUSH_CONSTANTS + 4, 0)),
            ("6 bytes of push constants", |d| d.push_constants.truncate(6)),
            ("zero byte", |d| d.entry = "ma\0in".into()),
        ];
        for (expected, alter) in broken {
            let mut d = dispatch();
            alter(&mut d);
            let said = d.check().expect_err(expected).to_string();
            assert!(said.contains(expected), "{said:?} lacks {expected:?}");
        }
    }
}
