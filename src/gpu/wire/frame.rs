//! Length-prefixed frames of 32-bit words in host order. Their bodies consist of words, numbers,
//! texts and data.
//!
//! A frame is `[MAGIC, kind, length]` and `length` words. Every length is checked against a bound
//! or against the remaining words before memory is allocated. So a faulty worker causes an error,
//! and does no harm to the parent.

use std::fmt;
use std::io::{self, Read, Write};

use crate::dispatch;

const MAGIC: u32 = 0x536d_5374;
/// The most words of a frame: the largest image, or the two largest modules and the largest
/// buffers, with some margin.
const MAX_BODY: usize = LARGEST_DATA + 2 * dispatch::MAX_WORDS + (1 << 20);
const LARGEST_DATA: usize = {
    let (frame, buffers) = (dispatch::MAX_FRAME_PIXELS as usize * 4, dispatch::MAX_BUFFER_BYTES as usize / 4);
    if frame > buffers { frame } else { buffers }
};
/// The number of items that are read before more memory is allocated.
const STRIDE: usize = 1 << 16;

/// The reason why a frame could not be read.
#[derive(Debug)]
pub(crate) enum WireError {
    /// Reading failed, or the stream ended within a frame.
    Io(io::Error),
    /// The bytes are not a frame.
    Malformed(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Io(error) => write!(f, "the stream broke: {error}"),
            WireError::Malformed(what) => write!(f, "the stream holds no frame: {what}"),
        }
    }
}

impl std::error::Error for WireError {}

pub(super) fn malformed<T>(what: impl Into<String>) -> Result<T, WireError> {
    Err(WireError::Malformed(what.into()))
}

/// Writes a frame of some words followed by some data. Each item of data has its length in bytes
/// before it, and is padded to whole words. Data are not copied.
pub(super) fn write_frame(out: &mut impl Write, kind: u32, body: &[u32], data: &[&[u8]]) -> io::Result<()> {
    let length = body.len() + data.iter().map(|bytes| 1 + bytes.len().div_ceil(4)).sum::<usize>();
    if length > MAX_BODY {
        return Err(io::Error::other(format!("a frame of {length} words is over the bound of {MAX_BODY}")));
    }
    out.write_all(bytemuck::cast_slice(&[MAGIC, kind, length as u32]))?;
    out.write_all(bytemuck::cast_slice(body))?;
    for bytes in data {
        out.write_all(bytemuck::bytes_of(&(bytes.len() as u32)))?;
        out.write_all(bytes)?;
        out.write_all(&[0; 4][..bytes.len().next_multiple_of(4) - bytes.len()])?;
    }
    Ok(())
}

/// Reads the kind and the body of the next frame. None at the end of the stream.
pub(super) fn read_frame<R: Read>(input: &mut R) -> Result<Option<(u32, Body<'_, R>)>, WireError> {
    let mut header = [0u32; 3];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut header);
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(WireError::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(WireError::Io(error)),
        }
    }
    let [magic, kind, length] = header;
    if magic != MAGIC {
        return malformed(format!("it begins with {:?}", String::from_utf8_lossy(bytemuck::bytes_of(&header))));
    }
    let remaining = length as usize;
    if remaining > MAX_BODY {
        return malformed(format!("a length of {remaining} words, over the bound of {MAX_BODY}"));
    }
    Ok(Some((kind, Body { input, remaining })))
}

pub(super) fn put_u64(body: &mut Vec<u32>, value: u64) {
    body.extend([value as u32, (value >> 32) as u32]);
}

pub(super) fn put_string(body: &mut Vec<u32>, text: &str) {
    body.push(text.len() as u32);
    body.extend(text.as_bytes().chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    }));
}

/// The rest of a frame's body, still in the stream.
pub(super) struct Body<'a, R> {
    input: &'a mut R,
    /// The number of remaining words.
    remaining: usize,
}

impl<R: Read> Body<'_, R> {
    /// Claims that number of words, which the caller then reads.
    fn claim(&mut self, count: usize) -> Result<(), WireError> {
        match self.remaining.checked_sub(count) {
            Some(remaining) => self.remaining = remaining,
            None => return malformed(format!("{count} words are due, {} are left", self.remaining)),
        }
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u32; N], WireError> {
        self.claim(N)?;
        let mut words = [0; N];
        self.input.read_exact(bytemuck::cast_slice_mut(&mut words)).map_err(WireError::Io)?;
        Ok(words)
    }

    /// Reads `count` items of `N` words. The memory grows with the data that has arrived.
    pub(super) fn items<const N: usize>(&mut self, count: usize) -> Result<Vec<[u32; N]>, WireError> {
        self.claim(count.saturating_mul(N))?;
        let mut items: Vec<[u32; N]> = Vec::new();
        while items.len() < count {
            let start = items.len();
            items.resize(count.min(start + STRIDE), [0; N]);
            self.input.read_exact(bytemuck::cast_slice_mut(items[start..].as_flattened_mut())).map_err(WireError::Io)?;
        }
        Ok(items)
    }

    /// Reads the number of items, then the items.
    pub(super) fn counted<const N: usize>(&mut self) -> Result<Vec<[u32; N]>, WireError> {
        let count = self.word()?;
        self.items(count as usize)
    }

    pub(super) fn word(&mut self) -> Result<u32, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u64(&mut self) -> Result<u64, WireError> {
        let [low, high] = self.array()?;
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    /// Reads data as items of `N` words. Its length says how many there are.
    pub(super) fn data<const N: usize>(&mut self) -> Result<Vec<[u32; N]>, WireError> {
        let bytes = self.word()? as usize;
        if !bytes.is_multiple_of(4 * N) {
            return malformed(format!("{bytes} bytes, which are no whole items of {}", 4 * N));
        }
        self.items(bytes / (4 * N))
    }

    pub(super) fn words(&mut self) -> Result<Vec<u32>, WireError> {
        Ok(self.data::<1>()?.into_flattened())
    }

    pub(super) fn image(&mut self) -> Result<Vec<[u32; 4]>, WireError> {
        self.data()
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, WireError> {
        let length = self.word()? as usize;
        let padded = length.div_ceil(4) * 4;
        self.claim(padded / 4)?;
        let mut bytes = Vec::new();
        while bytes.len() < padded {
            let start = bytes.len();
            bytes.resize(padded.min(start + 4 * STRIDE), 0);
            self.input.read_exact(&mut bytes[start..]).map_err(WireError::Io)?;
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    pub(super) fn string(&mut self) -> Result<String, WireError> {
        let length = self.word()? as usize;
        let words = self.items::<1>(length.div_ceil(4))?.into_flattened();
        let bytes = words.iter().flat_map(|w| w.to_le_bytes()).take(length).collect();
        String::from_utf8(bytes).or_else(|_| malformed("a text that is not UTF-8"))
    }

    pub(super) fn flag(&mut self) -> Result<bool, WireError> {
        Ok(self.word()? != 0)
    }

    pub(super) fn end(&self) -> Result<(), WireError> {
        if self.remaining == 0 { Ok(()) } else { malformed(format!("{} words more than the frame's kind has", self.remaining)) }
    }
}
