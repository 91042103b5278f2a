//! Values as images with eight bits for each channel. The scale is linear: 0 is black, 1 is
//! full intensity.

use super::Picture;
use crate::dispatch::{Target, words_hash};
use std::io::{self, Write};

/// The colour of a pixel with a NaN in a shown component: magenta.
pub const NAN: [u8; 4] = [255, 0, 255, 255];
/// The colour of a pixel without a value: cyan.
pub const NO_VALUE: [u8; 4] = [0, 255, 255, 255];

/// The colour of a pixel: red, green, blue and alpha. One component is shown as grey, two as red
/// and green, three and four as themselves. Values are clamped to 0..1 and rounded. The pixel is
/// opaque, unless `alpha` asks for the fourth component.
pub fn colour(bits: Option<[u32; 4]>, components: u32, alpha: bool) -> [u8; 4] {
    let Some(bits) = bits else { return NO_VALUE };
    let shown = if components == 4 && !alpha { 3 } else { components as usize };
    let x = bits.map(f32::from_bits);
    if x[..shown].iter().any(|x| x.is_nan()) {
        return NAN;
    }
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    match components {
        1 => [byte(x[0]), byte(x[0]), byte(x[0]), 255],
        2 => [byte(x[0]), byte(x[1]), 0, 255],
        4 if alpha => x.map(byte),
        _ => [byte(x[0]), byte(x[1]), byte(x[2]), 255],
    }
}

/// Writes one output of a picture as a PNG.
pub fn write_png(picture: &Picture, output: usize, alpha: bool, to: impl Write) -> io::Result<()> {
    let components = picture.outputs[output].components;
    let mut encoder = png::Encoder::new(to, picture.width, picture.height);
    encoder.set_color(if alpha { png::ColorType::Rgba } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    let channels = if alpha { 4 } else { 3 };
    let pixels = picture.images[output].iter().flat_map(|&bits| colour(bits, components, alpha).into_iter().take(channels));
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(&pixels.collect::<Vec<u8>>()).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

/// A summary of an image that is too large to print.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The output.
    pub target: Target,
    /// The number of pixels with a value.
    pub pixels: u64,
    /// The hash of the bits of all meaningful lanes, pixel by pixel (see [`words_hash`]). It is
    /// equal for two engines with equal results.
    pub hash: u64,
    /// The summary of each component.
    pub lanes: Vec<LaneSummary>,
}

/// A summary of one component over all pixels with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSummary {
    /// The least value. `None` if all are NaN.
    pub least: Option<f32>,
    /// The greatest value. `None` if all are NaN.
    pub greatest: Option<f32>,
    /// The mean of the finite values. `None` if there are none.
    pub mean: Option<f64>,
    /// The number of NaNs.
    pub nan: u64,
    /// The number of infinities.
    pub infinite: u64,
}

/// The summary of one output.
pub fn summary(picture: &Picture, output: usize) -> Summary {
    let target = picture.outputs[output];
    let n = target.components as usize;
    let pixels: Vec<&[u32; 4]> = picture.images[output].iter().flatten().collect();
    let bits: Vec<u32> = pixels.iter().flat_map(|p| p[..n].iter().copied()).collect();
    let lane = |i: usize| {
        let values = || pixels.iter().map(|p| f32::from_bits(p[i]));
        let finite: Vec<f64> = values().filter(|x| x.is_finite()).map(f64::from).collect();
        LaneSummary {
            least: values().filter(|x| !x.is_nan()).reduce(f32::min),
            greatest: values().filter(|x| !x.is_nan()).reduce(f32::max),
            mean: (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64),
            nan: values().filter(|x| x.is_nan()).count() as u64,
            infinite: values().filter(|x| x.is_infinite()).count() as u64,
        }
    };
    Summary { target, pixels: pixels.len() as u64, hash: words_hash(&bits), lanes: (0..n).map(lane).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(x: [f32; 4]) -> Option<[u32; 4]> {
        Some(x.map(f32::to_bits))
    }

    #[test]
    fn colours_are_clamped_and_rounded_by_component_count() {
        let x = [0.5, 2.0, -1.0, 0.25];
        assert_eq!(colour(bits(x), 1, false), [128, 128, 128, 255]);
        assert_eq!(colour(bits(x), 2, false), [128, 255, 0, 255]);
        assert_eq!(colour(bits(x), 3, false), [128, 255, 0, 255]);
        assert_eq!(colour(bits(x), 4, false), [128, 255, 0, 255]);
        assert_eq!(colour(bits(x), 4, true), [128, 255, 0, 64]);
        assert_eq!(colour(bits([f32::INFINITY, f32::NEG_INFINITY, 0.0, 0.0]), 3, false), [255, 0, 0, 255]);
    }

    #[test]
    fn nan_and_no_value_are_marked() {
        assert_eq!(colour(bits([0.0, f32::NAN, 0.0, 0.0]), 2, false), NAN);
        // A NaN in a component that is not shown has no effect.
        assert_eq!(colour(bits([0.0, f32::NAN, 0.0, 0.0]), 1, false), [0, 0, 0, 255]);
        assert_eq!(colour(bits([0.0, 0.0, 0.0, f32::NAN]), 4, false), [0, 0, 0, 255]);
        assert_eq!(colour(bits([0.0, 0.0, 0.0, f32::NAN]), 4, true), NAN);
        assert_eq!(colour(None, 4, true), NO_VALUE);
    }

    #[test]
    fn a_png_reads_back() {
        let picture = Picture {
            origin: (0, 0),
            width: 2,
            height: 1,
            outputs: vec![Target { location: 0, components: 4 }],
            images: vec![vec![bits([1.0, 0.0, 0.0, 0.5]), None]],
            endings: Vec::new(),
            steps: 0,
        };
        for (alpha, expected) in [(false, vec![255, 0, 0, 0, 255, 255]), (true, vec![255, 0, 0, 128, 0, 255, 255, 255])] {
            let mut file = Vec::new();
            write_png(&picture, 0, alpha, &mut file).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels, expected);
        }
    }
}
