//! The effect of CLEAR on an attachment: Vulkan, Clear Values. It is the same on every engine,
//! except for codes that a device may round either way.

use std::ops::Range;

use smallstep_semantics::image::Codes;

use crate::amber::format::{Channel, Numeric};
use crate::amber::{Certainty, Contents, Format};

/// The clear values of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClearValues {
    /// Red, green, blue and alpha.
    pub colour: [f32; 4],
    /// Depth.
    pub depth: f32,
    /// Stencil.
    pub stencil: u8,
}

impl Default for ClearValues {
    fn default() -> ClearValues {
        ClearValues { colour: [0.0; 4], depth: 1.0, stencil: 0 }
    }
}

impl ClearValues {
    /// Fills an attachment, whose bytes these are. A component may have one of two codes. In sRGB,
    /// whose rounding has loose bounds, such a component is doubtful.
    ///
    /// The error is a format of integers, whose clear value is no float.
    pub(super) fn fill(&self, format: Format, contents: &mut Contents, whole: Range<usize>) -> Result<(), String> {
        let mut texel = vec![0; format.texel_size() as usize];
        let mut open = Vec::new();
        // All combinations of roundings of the components of a packed texel.
        let mut ways = vec![0u64];
        for field in format.fields() {
            let channel = field.channel;
            let value = match channel {
                Channel::Depth => self.depth,
                Channel::Stencil => f32::from(self.stencil),
                colour => self.colour[colour.colour().unwrap_or(0)],
            };
            if channel != Channel::Stencil && matches!(format.numeric(), Numeric::Uint | Numeric::Sint) && value != 0.0 {
                return Err(format!("CLEAR of the format {}, whose texels are integers, to other values than 0", format.name()));
            }
            let written = format.written(channel, value.into());
            if format.is_packed() {
                ways = ways
                    .iter()
                    .flat_map(|way| [written.nearest, written.low, written.high].map(|code| way | code << field.offset))
                    .collect();
                ways.dedup();
                continue;
            }
            let (start, end) = (field.offset as usize / 8, (field.offset + field.bits) as usize / 8);
            format.scalar().store(written.nearest, &mut texel[start..end]);
            if written.low != written.high {
                // The codes are neighbours, except where the bounds are loose.
                let known = format.numeric() != Numeric::Srgb && !value.is_nan();
                let others = [written.low, written.high].into_iter().filter(|code| *code != written.nearest).collect();
                open.push((start, end - start, known.then_some(Codes { best: written.nearest, others, nan: 0, any: None })));
            }
        }
        let size = texel.len();
        if format.is_packed() {
            let best = ways[0];
            texel.copy_from_slice(&best.to_le_bytes()[..size]);
            ways.sort_unstable();
            ways.dedup();
            let others = ways.into_iter().filter(|code| *code != best).collect();
            open.push((0, size, Some(Codes { best, others, nan: 0, any: None })));
        }
        for texel_bytes in contents.bytes.get_mut(whole.clone()).unwrap_or_default().chunks_exact_mut(size) {
            texel_bytes.copy_from_slice(&texel);
        }
        contents.mark(whole.clone(), Certainty::Decided);
        for start in whole.step_by(size).filter(|_| !open.is_empty()) {
            for (at, size, codes) in &open {
                match codes {
                    Some(codes) => contents.choose(start + at, *size, codes.clone()),
                    None => contents.mark(start + at..start + at + size, Certainty::Doubtful),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_stored_in_the_order_of_the_format() {
        let values = ClearValues { colour: [1.0, 0.0, 0.5, 2.0], depth: 0.25, stencil: 7 };
        let mut contents = Contents::of(vec![9; 8]);
        assert_eq!(values.fill(Format::B8G8R8A8_UNORM, &mut contents, 0..8), Ok(()));
        // 0.5 · 255 is 127.5: a device stores 127 or 128.
        assert_eq!(contents.bytes, [128, 0, 255, 255, 128, 0, 255, 255]);
        let open: Vec<usize> = (0..8).filter(|&i| contents.known_at(i) == Certainty::OneOf).collect();
        assert_eq!(open, [0, 4]);
        assert!(
            contents.choice(4).is_some_and(|(_, choice)| choice.codes.admits(127) && choice.codes.admits(128) && !choice.codes.admits(126))
        );
        let depth = Format::named("D32_SFLOAT").expect("a format");
        let mut contents = Contents::of(vec![9; 4]);
        assert_eq!(values.fill(depth, &mut contents, 0..4), Ok(()));
        assert_eq!((contents.open(0, 4), contents.bytes), (None, 0.25f32.to_le_bytes().to_vec()));
        let mut contents = Contents::of(vec![9; 2]);
        assert_eq!(values.fill(Format::named("S8_UINT").expect("a format"), &mut contents, 0..2), Ok(()));
        assert_eq!(contents.bytes, [7, 7]);
        assert!(values.fill(Format::named("R8_UINT").expect("a format"), &mut contents, 0..2).is_err());
        let mut contents = Contents::of(vec![9; 4]);
        assert_eq!(values.fill(Format::named("D24_UNORM_S8_UINT").expect("a format"), &mut contents, 0..4), Ok(()));
        // A quarter of 2^24 - 1 is 4194303.75, which no device rounds down.
        assert_eq!((contents.open(0, 4), contents.bytes), (None, vec![0, 0, 0x40, 7]));
        // Half of 31 is 15.5.
        let mut contents = Contents::of(vec![9; 2]);
        assert_eq!(values.fill(Format::named("R5G6B5_UNORM_PACK16").expect("a format"), &mut contents, 0..2), Ok(()));
        let codes = contents.choice(0).map(|(_, choice)| choice.codes.clone()).expect("several texels");
        assert!([31 << 11 | 15, 31 << 11 | 16].iter().all(|&code| codes.admits(code)) && !codes.admits(0));
    }
}
