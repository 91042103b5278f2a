//! The contents of files outside of a script that fill its buffers: numbers as text, bytes, or the
//! texels of a PNG.

use std::io::Cursor;
use std::sync::Arc;

use super::error::quoted;
use super::format::Format;
use super::layout::{Layout, Slot};
use super::lex::Lexer;
use super::limits::{MAX_EXTENT, MAX_FILE_BYTES};
use super::scalar::{Number, Scalar};

/// Reads a file that a script names. The arguments are the path in the script and the greatest
/// number of bytes. The error does not name the path.
pub type Files<'f> = &'f dyn Fn(&str, u64) -> std::io::Result<Vec<u8>>;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Numbers, as in DATA.
    Text,
    /// The bytes of the buffer.
    Binary,
    /// A picture.
    Png,
}

impl FileKind {
    /// Every kind with its word.
    pub const ALL: [(FileKind, &'static str); 3] = [(FileKind::Text, "TEXT"), (FileKind::Binary, "BINARY"), (FileKind::Png, "PNG")];
}

/// The contents of a file.
pub(super) struct FileContents {
    /// The bits of each scalar, item by item.
    pub values: Arc<[u64]>,
    /// The width and height of a picture in pixels.
    pub size: Option<(u32, u32)>,
}

/// Decodes a file for a buffer whose items have this layout and are `stride` bytes apart. `texel`
/// is the format of an item, if it has one.
///
/// The error is a sentence.
pub(super) fn file_contents(
    kind: FileKind,
    bytes: &[u8],
    layout: &Layout,
    stride: u64,
    texel: Option<Format>,
) -> Result<FileContents, String> {
    match kind {
        FileKind::Text => {
            let text = std::str::from_utf8(bytes).map_err(|e| format!("it is no UTF-8 text (at byte {})", e.valid_up_to()))?;
            Ok(FileContents { values: numbers(text, layout)?.into(), size: None })
        }
        FileKind::Binary => Ok(FileContents { values: scalars(bytes, layout, stride)?.into(), size: None }),
        FileKind::Png => {
            // The picture has one byte each for red, green, blue and alpha, in this order.
            let fits = texel.is_some_and(|format| format.name().starts_with("R8G8B8A8_"));
            if !fits {
                return Err("a PNG is for a buffer of R8G8B8A8 texels".into());
            }
            let (pixels, size) = picture(bytes)?;
            Ok(FileContents { values: scalars(&pixels, layout, stride)?.into(), size: Some(size) })
        }
    }
}

/// Numbers up to the end of the text. Comments are as in a script.
fn numbers(text: &str, layout: &Layout) -> Result<Vec<u64>, String> {
    let kinds: Vec<Scalar> = layout.kinds().collect();
    let (mut lexer, mut values) = (Lexer::new(text), Vec::new());
    while let Some(word) = lexer.word_over_lines() {
        let scalar = match kinds[..] {
            [one] => one,
            _ => layout.slot(values.len() as u64 % layout.scalars).map_or(kinds[0], |slot| slot.scalar),
        };
        let bits = Number::read(word.text)
            .ok_or_else(|| format!("found {}, where a number should stand", quoted(word.text)))
            .and_then(|number| scalar.bits(&number));
        values.push(bits.map_err(|what| format!("in its line {}: {what}", word.line))?);
    }
    if !(values.len() as u64).is_multiple_of(layout.scalars) {
        return Err(format!("it has {} values, which are no whole number of items of {}", values.len(), layout.scalars));
    }
    Ok(values)
}

/// The scalars of whole items. Bytes between scalars must be 0, as in a buffer.
fn scalars(bytes: &[u8], layout: &Layout, stride: u64) -> Result<Vec<u64>, String> {
    if stride == 0 || !(bytes.len() as u64).is_multiple_of(stride) {
        return Err(format!("it has {} bytes, which are no whole number of items of {stride}", bytes.len()));
    }
    let slots: Vec<Slot> = (0..layout.scalars).map_while(|index| layout.slot(index)).collect();
    // The members of a structure may have any order.
    let mut occupied: Vec<[usize; 2]> =
        slots.iter().map(|slot| [slot.offset, slot.offset + slot.scalar.size() as u64].map(|at| at as usize)).collect();
    occupied.sort_unstable();
    occupied.push([stride as usize; 2]);
    let (mut end, mut gaps) = (0, Vec::new());
    for [start, after] in occupied {
        if start > end {
            gaps.push(end..start);
        }
        end = end.max(after);
    }
    let mut values = Vec::with_capacity(slots.len() * (bytes.len() / stride as usize));
    for (number, item) in bytes.chunks_exact(stride as usize).enumerate() {
        if let Some(at) = gaps.iter().flat_map(|gap| gap.clone()).find(|at| item[*at] != 0) {
            return Err(format!("its byte {} is not 0, and lies between the scalars of an item", number * stride as usize + at));
        }
        values.extend(slots.iter().map(|slot| slot.scalar.load(&item[slot.offset as usize..])));
    }
    Ok(values)
}

/// The pixels of a PNG, row by row, with one byte each for red, green, blue and alpha. Also the
/// width and height.
fn picture(bytes: &[u8]) -> Result<(Vec<u8>, (u32, u32)), String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (width, height) = reader.info().size();
    if width > MAX_EXTENT || height > MAX_EXTENT || u64::from(width) * u64::from(height) * 4 > MAX_FILE_BYTES {
        return Err(format!("the picture has {width} by {height} pixels: at most {MAX_EXTENT} each, and {} in all", MAX_FILE_BYTES / 4));
    }
    let size = reader.output_buffer_size().ok_or("the picture is too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    pixels.truncate(info.buffer_size());
    let pixels = match info.color_type {
        png::ColorType::GrayscaleAlpha => pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect(),
        png::ColorType::Rgba => pixels,
        other => return Err(format!("its colours are {other:?}, which are not made red, green, blue and alpha")),
    };
    Ok((pixels, (width, height)))
}
