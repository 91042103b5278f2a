//! Images and samplers as text, and images from PNG files: what is behind descriptors beside buffers.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use smallstep_semantics::image::{AddressMode, Compare, Filter, Format, Image, Sampler};

/// The greatest side of an image.
const MAX_SIDE: u32 = 1 << 14;

/// `FORMAT WxH TEXEL…` or, with levels, `FORMAT WxHxL TEXEL…`: each texel as one number, level after level, row after row; without texels, all are
/// undefined.
///
/// # Errors
/// A sentence.
pub fn image(text: &str) -> Result<Image, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let format = Format::of_name(name).ok_or_else(|| format!("no format is called `{name}`"))?;
    let size = words.next().unwrap_or_default();
    let sides: Option<Vec<u32>> = size.split('x').map(|side| side.parse().ok().filter(|side| *side <= MAX_SIDE)).collect();
    let (width, height, levels) = match sides.as_deref() {
        Some(&[width, height]) => (width, height, 1),
        Some(&[width, height, levels]) => (width, height, levels),
        _ => return Err(format!("`{size}` is no size, as `4x2` or, with levels, `4x2x3`, of at most {MAX_SIDE} each")),
    };
    let mut image = Image::new(format, width, height, levels).map_err(|e| e.to_string())?;
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let texels: Vec<u128> =
        words.map(|word| number(word).ok_or_else(|| format!("`{word}` is no texel, as `255` or `0xff`"))).collect::<Result<_, _>>()?;
    let mut rest = texels.as_slice();
    for level in (0..levels).filter(|_| !texels.is_empty()) {
        let [width, height] = image.size(level).unwrap_or_default();
        let count = width as usize * height as usize;
        let (these, after) =
            rest.split_at_checked(count).ok_or_else(|| format!("level {level} has {count} texels, and {} are left", rest.len()))?;
        let bytes: Vec<u8> = these.iter().flat_map(|texel| texel.to_le_bytes().into_iter().take(format.bytes())).collect();
        image.fill(level, &bytes).map_err(|e| e.to_string())?;
        rest = after;
    }
    if !rest.is_empty() {
        return Err(format!("{} texels are too many", rest.len()));
    }
    Ok(image)
}

/// The image of a PNG file: R8G8B8A8_UNORM of one level, whatever the file's colours are.
///
/// # Errors
/// A sentence that begins with the path.
pub fn png(path: &Path) -> Result<Image, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|e| wrong(e.to_string()))?;
    let (width, height) = reader.info().size();
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(wrong(format!("the picture has {width} by {height} pixels; at most {MAX_SIDE} each are taken")));
    }
    let size = reader.output_buffer_size().ok_or_else(|| wrong("the picture is too large".into()))?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|e| wrong(e.to_string()))?;
    let pixels = &pixels[..info.buffer_size()];
    let bytes: Vec<u8> = match info.color_type {
        png::ColorType::GrayscaleAlpha => pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect(),
        _ => pixels.to_vec(),
    };
    let mut image = Image::new(Format::Rgba8Unorm, width, height, 1).map_err(|e| wrong(e.to_string()))?;
    image.fill(0, &bytes).map_err(|e| wrong(e.to_string()))?;
    Ok(image)
}

/// Any of `linear`, `mirrored`, `edge`, `border`, `unnormalized` and `compare=Less`; without them nearest texels, repeated.
///
/// # Errors
/// A sentence.
pub fn sampler(text: &str) -> Result<Sampler, String> {
    let mut sampler = Sampler::default();
    for word in text.split_whitespace() {
        match word {
            "linear" => (sampler.mag, sampler.min, sampler.mip) = (Filter::Linear, Filter::Linear, Filter::Linear),
            "mirrored" => sampler.address = [AddressMode::MirroredRepeat; 2],
            "edge" => sampler.address = [AddressMode::ClampToEdge; 2],
            "border" => sampler.address = [AddressMode::ClampToBorder; 2],
            "unnormalized" => (sampler.unnormalized, sampler.lod_max) = (true, 0.0),
            _ => {
                let name = word.strip_prefix("compare=").ok_or_else(|| format!("`{word}` says nothing of a sampler"))?;
                let compare = Compare::ALL.into_iter().find(|compare| format!("{compare:?}") == name);
                sampler.compare = Some(compare.ok_or_else(|| format!("no comparison is called `{name}`"))?);
            }
        }
    }
    Ok(sampler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_as_many_texels_as_they_say() {
        let two = image("R8G8_UINT 2x1x2 0x0201 0x0403 7").expect("two levels");
        assert_eq!((two.bytes(0), two.bytes(1)), (Some(&[1, 2, 3, 4][..]), Some(&[7, 0][..])));
        assert_eq!(image("R8_UNORM 1x1").expect("undefined").raw(0, 0, 0), Some((0, 1)));
        for (text, says) in [
            ("R9_UNORM 1x1", "no format"),
            ("R8_UNORM 1", "no size"),
            ("R8_UNORM 1x99999", "no size"),
            ("R8_UNORM 1x0", "side of 0"),
            ("R8_UNORM 1x1 red", "no texel"),
            ("R8_UNORM 2x1 1", "2 texels, and 1 are left"),
            ("R8_UNORM 1x1 1 2", "1 texels are too many"),
        ] {
            let found = image(text).expect_err(text);
            assert!(found.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn samplers_are_what_their_words_say() {
        let expected = Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::ClampToEdge; 2],
            compare: Some(Compare::LessOrEqual),
            ..Sampler::default()
        };
        assert_eq!(sampler("linear edge compare=LessOrEqual"), Ok(expected));
        assert!(sampler("bilinear").is_err() && sampler("compare=less").is_err());
    }

    #[test]
    fn a_picture_is_an_image_of_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        for (colour, bytes, expected) in [
            (png::ColorType::Rgb, vec![1, 2, 3, 4, 5, 6], [1, 2, 3, 255, 4, 5, 6, 255]),
            (png::ColorType::Grayscale, vec![7, 8], [7, 7, 7, 255, 8, 8, 8, 255]),
            (png::ColorType::Rgba, vec![1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        ] {
            let path = folder.path().join("a.png");
            let mut encoder = png::Encoder::new(File::create(&path).expect("made"), 2, 1);
            encoder.set_color(colour);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.write_header().expect("begun").write_image_data(&bytes).expect("written");
            let image = png(&path).expect("reads");
            assert_eq!((image.size(0), image.bytes(0)), (Some([2, 1]), Some(&expected[..])), "{colour:?}");
        }
        std::fs::write(folder.path().join("b.png"), b"no picture").expect("written");
        assert!(png(&folder.path().join("b.png")).is_err() && png(&folder.path().join("none.png")).is_err());
    }
}
