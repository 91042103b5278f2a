//! The inputs of a run, with its words, entry point, resources and grid, and the result.
//!
//! There are three pairs: a [`FragmentDispatch`] and its [`Frame`], a [`ComputeDispatch`] and its
//! [`ComputeResult`], a [`DrawDispatch`] and its [`DrawResult`]. The interpreters and the devices
//! use the same records, so nothing about a run is decided twice. A draw has its own vertex and
//! fragment stages, and follows Vulkan throughout. Fragment dispatches follow the convention of
//! λV's translation (report 000, §5). They have one invocation for each pixel, outputs written as
//! vec4 to 32-bit float targets, and inputs in one read-only array.
//!
//! A dispatch has no specialization constants: its words have frozen values.
//!
//! Invariant: a result carries the hash of its words, and results of different words are never
//! compared ([`Frame::same_words`], [`ComputeResult::same_words`], [`DrawResult::same_words`]).

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::fmt;
use std::sync::Arc;

mod bound;
mod compute;
mod draw;
pub mod resources;

pub use bound::{Bound, BufferBinding, BufferKind, ImageBinding, ImageKind, SamplerBinding};
pub use bound::{MAX_BUFFER_BYTES, MAX_BUFFERS, MAX_PUSH_CONSTANTS};
pub use compute::{ComputeDispatch, ComputeResult};
pub use draw::{DepthAttachment, DrawContents, DrawDispatch, DrawResult, Geometry, MAX_VERTICES, Stage};

/// The most pixels of a dispatch, multiplied by its targets: 2^24. A frame takes 16 bytes for each
/// (256 MiB).
pub const MAX_FRAME_PIXELS: u64 = 1 << 24;
/// The most words of a module: 2^24 (64 MiB).
pub const MAX_WORDS: usize = 1 << 24;
/// The most words of a constants buffer: 2^24 (64 MiB).
pub const MAX_CONSTANTS: usize = 1 << 24;
/// The longest name of an entry point, in bytes.
pub const MAX_ENTRY: usize = 4096;

/// The value of a pixel before the draw, and of a pixel whose invocation is discarded: four
/// times +0.0.
pub const CLEARED: [u32; 4] = [0; 4];

/// An output of a fragment program: a colour attachment of format Rgba32Float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The `Location` that the module decorates its output variable with.
    pub location: u32,
    /// The number of lanes that are used, 1 to 4, from the first. The module writes all four,
    /// because Vulkan leaves lanes undefined that a shader does not write. So a translator
    /// pads them.
    pub components: u32,
}

/// A fragment program with all inputs of its run.
///
/// The grid is `width` by `height` pixels, with one invocation each. `FragCoord` is
/// (x + 0.5, y + 0.5, 0, 1), with y downwards from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentDispatch {
    /// The SPIR-V module, in host order.
    pub words: Arc<[u32]>,
    /// The name of the fragment entry point.
    pub entry: String,
    /// The number of pixels in a row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The outputs, in the order of the images in a [`Frame`]. Locations may be in any order and
    /// leave gaps, but may not repeat.
    pub outputs: Vec<Target>,
    /// The contents of a read-only storage buffer at set 0, binding 0: a runtime array of
    /// 32-bit words, with array stride 4. If it is empty, no buffer is bound. The module
    /// decorates the variable `NonWritable`, not only the member of the structure, because naga
    /// looks at the variable.
    pub constants: Vec<u32>,
}

/// The reason why a [`Dispatch`] is malformed. It is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

impl From<Malformed> for InvalidInput {
    fn from(malformed: Malformed) -> InvalidInput {
        InvalidInput::new(InputFault::Type, malformed.0)
    }
}

impl FragmentDispatch {
    /// The hash of the words. See [`words_hash`].
    pub fn words_hash(&self) -> u64 {
        words_hash(&self.words)
    }

    /// The bytes of the frame: 16 for each pixel of each output.
    pub fn frame_bytes(&self) -> u64 {
        u64::from(self.width).saturating_mul(u64::from(self.height)).saturating_mul(self.outputs.len() as u64).saturating_mul(16)
    }

    /// Checks everything that does not depend on a device's limits: that the grid and the outputs
    /// are not empty, and the bounds of this module.
    pub fn check(&self) -> Result<(), Malformed> {
        let malformed = |text: String| Err(Malformed(text));
        if self.width == 0 || self.height == 0 {
            return malformed(format!("the grid is {} by {} pixels; a run needs at least one", self.width, self.height));
        }
        if self.outputs.is_empty() {
            return malformed("the dispatch has no output; a run needs at least one to be seen".into());
        }
        for (i, target) in self.outputs.iter().enumerate() {
            if !(1..=4).contains(&target.components) {
                return malformed(format!("the output at location {} has {} components; 1 to 4 exist", target.location, target.components));
            }
            if self.outputs[..i].iter().any(|t| t.location == target.location) {
                return malformed(format!("two outputs have location {}", target.location));
            }
        }
        if self.frame_bytes() > MAX_FRAME_PIXELS * 16 {
            return malformed(format!("the frame would have {} bytes; at most {} are drawn", self.frame_bytes(), MAX_FRAME_PIXELS * 16));
        }
        if self.constants.len() > MAX_CONSTANTS {
            return malformed(format!("the constants buffer has {} words; at most {MAX_CONSTANTS} are taken", self.constants.len()));
        }
        check_module(&self.words, &self.entry)
    }
}

/// Checks the bounds of a module and of its entry point's name.
fn check_module(words: &[u32], entry: &str) -> Result<(), Malformed> {
    let malformed = |text: String| Err(Malformed(text));
    if words.len() > MAX_WORDS {
        return malformed(format!("the module has {} words; at most {MAX_WORDS} are taken", words.len()));
    }
    if entry.len() > MAX_ENTRY {
        return malformed(format!("the entry point's name has {} bytes; at most {MAX_ENTRY} are taken", entry.len()));
    }
    if entry.contains('\0') {
        return malformed("the entry point's name contains a zero byte, which ends a SPIR-V string".into());
    }
    Ok(())
}

/// The hash of some words: 64-bit FNV-1a over their bytes, with the least significant byte of each
/// word first.
///
/// The offset basis is 0xcbf29ce484222325, and the prime is 0x100000001b3 (Fowler, Noll and Vo).
/// The value is the same on every machine and in every version, because results on disk are keyed
/// by it.
pub fn words_hash(words: &[u32]) -> u64 {
    hash_of(words.iter().copied())
}

fn hash_of(words: impl Iterator<Item = u32>) -> u64 {
    words
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The result of a fragment program: the raw bits of every pixel of every output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The [`words_hash`] of the words that were run.
    pub words_hash: u64,
    /// An image for each output, in the order of [`FragmentDispatch::outputs`]. Its pixels, which
    /// are `width * height`, are row by row from the top left. Lanes after the target's
    /// `components` are meaningless. A discarded pixel is [`CLEARED`].
    pub images: Vec<Vec<[u32; 4]>>,
}

/// A program of any kind for an engine. A clone copies no words and no bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Dispatch {
    /// A single fragment stage.
    Fragment(Arc<FragmentDispatch>),
    /// A compute program.
    Compute(Arc<ComputeDispatch>),
    /// A vertex and a fragment stage.
    Draw(Arc<DrawDispatch>),
}

impl From<FragmentDispatch> for Dispatch {
    fn from(dispatch: FragmentDispatch) -> Dispatch {
        Dispatch::Fragment(Arc::new(dispatch))
    }
}

impl From<ComputeDispatch> for Dispatch {
    fn from(dispatch: ComputeDispatch) -> Dispatch {
        Dispatch::Compute(Arc::new(dispatch))
    }
}

impl From<DrawDispatch> for Dispatch {
    fn from(dispatch: DrawDispatch) -> Dispatch {
        Dispatch::Draw(Arc::new(dispatch))
    }
}

impl Dispatch {
    /// The hash of the words. See [`words_hash`], and [`DrawDispatch::words_hash`] for two modules.
    pub fn words_hash(&self) -> u64 {
        match self {
            Dispatch::Fragment(dispatch) => dispatch.words_hash(),
            Dispatch::Compute(dispatch) => dispatch.words_hash(),
            Dispatch::Draw(dispatch) => dispatch.words_hash(),
        }
    }

    /// The bytes of the run's inputs and results without its words, to bound the programs that run
    /// at once.
    pub fn bytes(&self) -> u64 {
        match self {
            Dispatch::Fragment(dispatch) => dispatch.frame_bytes(),
            Dispatch::Compute(dispatch) => dispatch.bytes(),
            Dispatch::Draw(dispatch) => dispatch.bytes(),
        }
    }

    /// Checks everything that does not depend on a device's limits.
    pub fn check(&self) -> Result<(), Malformed> {
        match self {
            Dispatch::Fragment(dispatch) => dispatch.check(),
            Dispatch::Compute(dispatch) => dispatch.check(),
            Dispatch::Draw(dispatch) => dispatch.check(),
        }
    }
}

/// The result of a [`Dispatch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The result of a fragment program.
    Frame(Frame),
    /// The result of a compute program.
    Buffers(ComputeResult),
    /// The result of a draw.
    Drawn(DrawResult),
}

/// An error: two runs have different words, so a comparison would be meaningless. The fields are
/// the hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DifferentWords(pub u64, pub u64);

impl fmt::Display for DifferentWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the runs are of different words, with the hashes {:#018x} and {:#018x}; they are not compared", self.0, self.1)
    }
}

impl std::error::Error for DifferentWords {}

impl Frame {
    /// Refuses a comparison of runs of different words. Every verdict over two frames calls
    /// this first.
    pub fn same_words(&self, other: &Frame) -> Result<(), DifferentWords> {
        same_words(self.words_hash, other.words_hash)
    }
}

fn same_words(a: u64, b: u64) -> Result<(), DifferentWords> {
    if a == b { Ok(()) } else { Err(DifferentWords(a, b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispatch() -> FragmentDispatch {
        FragmentDispatch {
            words: Arc::from([0x0723_0203, 0x0001_0300]),
            entry: "main".into(),
            width: 4,
            height: 4,
            outputs: vec![Target { location: 0, components: 4 }],
            constants: Vec::new(),
        }
    }

    #[test]
    fn the_hash_is_fnv_1a_of_the_bytes() {
        // Test vectors of the authors of FNV: the empty string, and four bytes in order.
        assert_eq!(words_hash(&[]), 0xcbf2_9ce4_8422_2325);
        let bytes = u32::from_le_bytes(*b"foob");
        assert_eq!(words_hash(&[bytes]), 0xdd12_0e79_0c25_12af);
    }

    #[test]
    fn frames_of_different_words_are_not_compared() {
        let a = Frame { words_hash: 1, images: vec![] };
        let b = Frame { words_hash: 2, images: vec![] };
        assert_eq!(a.same_words(&a), Ok(()));
        assert_eq!(a.same_words(&b), Err(DifferentWords(1, 2)));
    }

    #[test]
    fn what_describes_no_run_is_named() {
        assert_eq!(dispatch().check(), Ok(()));
        type Alteration = fn(&mut FragmentDispatch);
        let broken: [(&str, Alteration); 6] = [
            ("0 by 4", |d| d.width = 0),
            ("no output", |d| d.outputs.clear()),
            ("5 components", |d| d.outputs[0].components = 5),
            ("location 0", |d| d.outputs.push(Target { location: 0, components: 1 })),
            ("frame would have", |d| (d.width, d.height) = (u32::MAX, u32::MAX)),
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
