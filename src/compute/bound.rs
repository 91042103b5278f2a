//! Images and samplers as text, and images from PNG files. They are the descriptors
//! besides buffers.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::io::BufReader;
use std::path::Path;

use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Image, Sampler, Shape};

use crate::source;

/// The greatest width, height or depth of an image.
const MAX_SIDE: u32 = 1 << 14;

/// Reads an image from `FORMAT WxH TEXEL…`. Each texel is one number, level after level, layer
/// after layer, row after row. Without texels, all are undefined. `levels=N` and `layers=N` may
/// follow the size, and `FORMAT WxHxL` also has L levels. `1d`, `2d`, `3d` or `cube` may precede
/// the size: `1d W`, `3d WxHxD`, and `cube NxN`. The faces of a cube are +X, -X, +Y, -Y, +Z and -Z,
/// and each layer of cubes has six.
///
/// # Errors
/// The text is a sentence.
pub fn image(text: &str) -> Result<Image, InvalidInput> {
    let mut words = text.split_whitespace().peekable();
    let name = words.next().unwrap_or_default();
    let format = Format::of_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
        InvalidInput::new(InputFault::Text, format!("no format is called `{name}`; there are {}", known.join(", ")))
    })?;
    let shapes = [("1d", Shape::D1), ("2d", Shape::D2), ("3d", Shape::D3), ("cube", Shape::Cube)];
    let named = words.peek().and_then(|word| shapes.iter().find(|(name, _)| name == word)).map(|named| named.1);
    if named.is_some() {
        words.next();
    }
    let shape = named.unwrap_or(Shape::D2);
    let size = words.next().unwrap_or_default();
    let (mut levels, mut layers) = (None, None);
    while let Some((key, count)) = words.peek().and_then(|word| word.split_once('=')) {
        let slot = match key {
            "levels" => &mut levels,
            "layers" => &mut layers,
            _ => {
                return Err(InvalidInput::new(
                    InputFault::Text,
                    format!("`{key}={count}` says nothing of an image; `levels=N` and `layers=N` do"),
                ));
            }
        };
        let number = count.parse().ok().filter(|n| *n <= MAX_SIDE);
        let number = number
            .ok_or_else(|| InvalidInput::new(InputFault::Text, format!("`{key}={count}` is no number of {key} of at most {MAX_SIDE}")))?;
        if slot.replace(number).is_some() {
            return Err(InvalidInput::new(InputFault::Text, format!("an image has its number of {key} twice")));
        }
        words.next();
    }
    let numbers: Option<Vec<u32>> = size.split('x').map(|side| side.parse().ok().filter(|side| *side <= MAX_SIDE)).collect();
    let sides = match (shape, numbers.as_deref()) {
        (Shape::D1, Some(&[width])) => [width, 1, layers.unwrap_or(1)],
        (Shape::D2, Some(&[width, height])) => [width, height, layers.unwrap_or(1)],
        (Shape::D2, Some(&[width, height, count])) if named.is_none() && levels.is_none() => {
            levels = Some(count);
            [width, height, layers.unwrap_or(1)]
        }
        (Shape::D3, Some(&[width, height, depth])) => [width, height, depth],
        (Shape::Cube, Some(&[width, height])) => [width, height, layers.unwrap_or(1) * 6],
        _ => {
            let example = match shape {
                Shape::D1 | Shape::D1Array => "`4`",
                Shape::D3 => "`4x2x3`",
                Shape::Cube | Shape::CubeArray => "`4x4`",
                Shape::D2 | Shape::D2Array if named.is_some() || levels.is_some() => "`4x2`",
                Shape::D2 | Shape::D2Array => "`4x2` or, with levels, `4x2x3`",
            };
            return Err(InvalidInput::new(InputFault::Text, format!("`{size}` is no size, as {example}, of at most {MAX_SIDE} each")));
        }
    };
    let shape = match (shape, layers) {
        (Shape::D1, Some(_)) => Shape::D1Array,
        (Shape::D2, Some(_)) => Shape::D2Array,
        (Shape::D3, Some(_)) => return Err(InvalidInput::new(InputFault::Text, "an image of three dimensions has no layers")),
        (Shape::Cube, Some(_)) => Shape::CubeArray,
        (shape, _) => shape,
    };
    let mut image =
        Image::of_shape(format, shape, sides, levels.unwrap_or(1)).map_err(|e| InvalidInput::new(InputFault::Text, e.to_string()))?;
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let texels: Vec<u128> = words
        .map(|word| number(word).ok_or_else(|| InvalidInput::new(InputFault::Text, format!("`{word}` is no texel, as `255` or `0xff`"))))
        .collect::<Result<_, _>>()?;
    let mut rest = texels.as_slice();
    for level in (0..image.levels()).filter(|_| !texels.is_empty()) {
        let count = image.sides(level).unwrap_or_default().into_iter().map(|side| side as usize).product();
        let (level_texels, after) = rest
            .split_at_checked(count)
            .ok_or_else(|| InvalidInput::new(InputFault::Text, format!("level {level} has {count} texels, and {} are left", rest.len())))?;
        let bytes: Vec<u8> = level_texels.iter().flat_map(|texel| texel.to_le_bytes().into_iter().take(format.bytes())).collect();
        image.fill(level, &bytes).map_err(|e| InvalidInput::new(InputFault::Text, e.to_string()))?;
        rest = after;
    }
    if !rest.is_empty() {
        return Err(InvalidInput::new(InputFault::Text, format!("{} texels are too many", rest.len())));
    }
    Ok(image)
}

/// The image of a PNG file: R8G8B8A8_UNORM of one level, for any colour type of the file.
///
/// # Errors
/// The text is a sentence that begins with the path.
pub fn png(path: &Path) -> Result<Image, InvalidInput> {
    let wrong = |what: String| InvalidInput::new(InputFault::File, format!("{}: {what}", path.display()));
    let file = source::open(path).map_err(|e| wrong(e.to_string()))?;
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

/// Reads a sampler from words. Without any word, it takes nearest texels and repeats. `nearest` or
/// `linear` sets every filter, and `mag=`, `min=` and `mip=` set one. `repeat`, `mirrored`, `edge`
/// or `border` sets every direction, and `x=`, `y=` and `z=` set one. `colour=` sets the border's
/// colour, such as `opaque-white`. The other words are `unnormalized`, `compare=Less` and so on,
/// `bias=`, and `lod=LEAST..GREATEST`. A later word overrides an earlier one.
///
/// # Errors
/// The text is a sentence that lists the known words.
pub fn sampler(text: &str) -> Result<Sampler, InvalidInput> {
    let mut sampler = Sampler::default();
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
        let filter = |value| one_of("filter", &FILTERS, value);
        let address = |value| one_of("address mode", &ADDRESS_MODES, value);
        let level = |value: &str| {
            let number = value.parse::<f32>().ok().filter(|n| n.is_finite());
            number.ok_or_else(|| InvalidInput::new(InputFault::Text, format!("`{value}` in `{word}` is no level of detail, as 0.5")))
        };
        match (key, value) {
            ("unnormalized", None) => (sampler.unnormalized, sampler.lod_max) = (true, 0.0),
            ("mag", Some(value)) => sampler.mag = filter(value)?,
            ("min", Some(value)) => sampler.min = filter(value)?,
            ("mip", Some(value)) => sampler.mip = filter(value)?,
            ("x", Some(value)) => sampler.address[0] = address(value)?,
            ("y", Some(value)) => sampler.address[1] = address(value)?,
            ("z", Some(value)) => sampler.address[2] = address(value)?,
            ("colour", Some(value)) => sampler.border = one_of("border colour", &BORDERS, value)?,
            ("compare", Some(value)) => sampler.compare = Some(one_of("comparison", &COMPARISONS, value)?),
            ("bias", Some(value)) => sampler.lod_bias = level(value)?,
            ("lod", Some(value)) => {
                let (least, greatest) = value
                    .split_once("..")
                    .ok_or_else(|| InvalidInput::new(InputFault::Text, format!("`{word}` is no range of levels, as lod=0.5..3")))?;
                (sampler.lod_min, sampler.lod_max) = (level(least)?, level(greatest)?);
                if sampler.lod_min > sampler.lod_max {
                    return Err(InvalidInput::new(InputFault::Text, format!("`{word}` has its greatest level before its least")));
                }
            }
            (_, None) if filter(word).is_ok() => {
                let all = filter(word)?;
                (sampler.mag, sampler.min, sampler.mip) = (all, all, all);
            }
            (_, None) if address(word).is_ok() => sampler.address = [address(word)?; 3],
            _ => {
                let names = |list: Vec<&str>| list.join(", ");
                let (filters, modes) = (FILTERS.map(|(name, _)| name), ADDRESS_MODES.map(|(name, _)| name));
                return Err(InvalidInput::new(
                    InputFault::Text,
                    format!(
                        "`{word}` says nothing of a sampler; {}, {}, unnormalized, mag=, min=, mip=, x=, y=, z=, colour=, compare=, bias= and lod= do",
                        names(filters.to_vec()),
                        names(modes.to_vec())
                    ),
                ));
            }
        }
    }
    Ok(sampler)
}

/// An image in the form that [`image`] reads. Undefined texels are written as zeros.
pub fn image_text(image: &Image) -> String {
    let [width, height, depth] = image.sides(0).unwrap_or_default();
    let levels = if image.levels() > 1 { format!(" levels={}", image.levels()) } else { String::new() };
    let size = match image.shape() {
        Shape::D1 => format!("1d {width}{levels}"),
        Shape::D1Array => format!("1d {width} layers={depth}{levels}"),
        Shape::D2 => format!("2d {width}x{height}{levels}"),
        Shape::D2Array => format!("2d {width}x{height} layers={depth}{levels}"),
        Shape::D3 => format!("3d {width}x{height}x{depth}{levels}"),
        Shape::Cube => format!("cube {width}x{height}{levels}"),
        Shape::CubeArray => format!("cube {width}x{height} layers={}{levels}", depth / 6),
    };
    let mut text = format!("{} {size}", image.format().name());
    for level in 0..image.levels() {
        for texel in image.bytes(level).unwrap_or_default().chunks_exact(image.format().bytes()) {
            let number = texel.iter().rev().fold(0u128, |number, &byte| number << 8 | u128::from(byte));
            text.push_str(&if number < 10 { format!(" {number}") } else { format!(" {number:#x}") });
        }
    }
    text
}

/// A sampler in the form that [`sampler`] reads.
pub fn sampler_text(sampler: &Sampler) -> String {
    fn name<T: Copy + PartialEq>(all: &[(&'static str, T)], searched: T) -> &'static str {
        all.iter().find(|(_, value)| *value == searched).map_or("", |(name, _)| name)
    }
    let filter = |filter| name(&FILTERS, filter);
    let mut words =
        vec![format!("mag={}", filter(sampler.mag)), format!("min={}", filter(sampler.min)), format!("mip={}", filter(sampler.mip))];
    for (axis, mode) in ["x", "y", "z"].into_iter().zip(sampler.address) {
        words.push(format!("{axis}={}", name(&ADDRESS_MODES, mode)));
    }
    words.push(format!("colour={}", name(&BORDERS, sampler.border)));
    words.extend(sampler.compare.map(|compare| format!("compare={}", name(&COMPARISONS, compare))));
    if sampler.lod_bias != 0.0 {
        words.push(format!("bias={}", sampler.lod_bias));
    }
    if (sampler.lod_min, sampler.lod_max) != (Sampler::default().lod_min, Sampler::default().lod_max) && !sampler.unnormalized {
        words.push(format!("lod={}..{}", sampler.lod_min, sampler.lod_max));
    }
    words.extend(sampler.unnormalized.then(|| "unnormalized".to_string()));
    words.join(" ")
}

const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];

const ADDRESS_MODES: [(&str, AddressMode); 4] = [
    ("repeat", AddressMode::Repeat),
    ("mirrored", AddressMode::MirroredRepeat),
    ("edge", AddressMode::ClampToEdge),
    ("border", AddressMode::ClampToBorder),
];

const BORDERS: [(&str, Border); 3] =
    [("transparent-black", Border::TransparentBlack), ("opaque-black", Border::OpaqueBlack), ("opaque-white", Border::OpaqueWhite)];

const COMPARISONS: [(&str, Compare); 8] = [
    ("Never", Compare::Never),
    ("Less", Compare::Less),
    ("Equal", Compare::Equal),
    ("LessOrEqual", Compare::LessOrEqual),
    ("Greater", Compare::Greater),
    ("NotEqual", Compare::NotEqual),
    ("GreaterOrEqual", Compare::GreaterOrEqual),
    ("Always", Compare::Always),
];

/// The value with that name.
fn one_of<T: Copy>(what: &str, all: &[(&str, T)], name: &str) -> Result<T, InvalidInput> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        InvalidInput::new(InputFault::Text, format!("no {what} is called `{name}`; there are {}", known.join(", ")))
    })
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
            ("R9_UNORM 1x1", "no format is called `R9_UNORM`; there are R8_UNORM"),
            ("R8_UNORM 1", "no size"),
            ("R8_UNORM 1x99999", "no size"),
            ("R8_UNORM 1x0", "side of 0"),
            ("R8_UNORM 1x1 red", "no texel"),
            ("R8_UNORM 2x1 1", "2 texels, and 1 are left"),
            ("R8_UNORM 1x1 1 2", "1 texels are too many"),
        ] {
            let found = image(text).expect_err(text);
            assert!(found.what.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn images_have_the_shape_that_they_say() {
        for (text, shape, sides, levels) in [
            ("R8_UINT 4x2", Shape::D2, [4, 2, 1], 1),
            ("R8_UINT 4x2x2", Shape::D2, [4, 2, 1], 2),
            ("R8_UINT 2d 4x2 levels=2", Shape::D2, [4, 2, 1], 2),
            ("R8_UINT 4x2 layers=3 levels=2", Shape::D2Array, [4, 2, 3], 2),
            ("R8_UINT 4x2x2 layers=1", Shape::D2Array, [4, 2, 1], 2),
            ("R8_UINT 1d 4", Shape::D1, [4, 1, 1], 1),
            ("R8_UINT 1d 4 layers=2", Shape::D1Array, [4, 1, 2], 1),
            ("R8_UINT 3d 4x2x8 levels=4", Shape::D3, [4, 2, 8], 4),
            ("R8_UINT cube 2x2 levels=2", Shape::Cube, [2, 2, 6], 2),
            ("R8_UINT cube 2x2 layers=3 levels=2", Shape::CubeArray, [2, 2, 18], 2),
        ] {
            let read = image(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((read.shape(), read.sides(0), read.levels()), (shape, Some(sides), levels), "{text}");
            // Undefined texels are written as zeros.
            let again = image(&image_text(&read)).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((again.shape(), again.sides(0), again.bytes(0)), (read.shape(), read.sides(0), read.bytes(0)), "{text}");
        }
        let texels = "R8G8_UINT 2d 2x1 levels=2 0x201 3 0xa09";
        assert_eq!(image(texels).map(|image| image_text(&image)).as_deref(), Ok(texels));
        let deep = image("R8_UINT 3d 1x2x2 levels=2 1 2 3 4 5").expect("two levels");
        assert_eq!((deep.bytes(0), deep.bytes(1)), (Some(&[1, 2, 3, 4][..]), Some(&[5][..])));
        for (text, says) in [
            ("R8_UINT 1d 4x2", "`4x2` is no size, as `4`,"),
            ("R8_UINT 2d 4x2x2", "no size, as `4x2`,"),
            ("R8_UINT 3d 4x2", "no size, as `4x2x3`"),
            ("R8_UINT cube 4", "no size, as `4x4`"),
            ("R8_UINT cube 4x2", "as high as wide"),
            ("R8_UINT 3d 2x2x2 layers=6", "no layers"),
            ("R8_UINT 4x2x2 levels=2", "no size"),
            ("R8_UINT 4x2 levels=2 levels=2", "twice"),
            ("R8_UINT 4x2 level=2", "says nothing of an image"),
            ("R8_UINT 4x2 layers=99999", "no number of layers"),
            ("R8_UINT 4x2 layers=0", "side of 0"),
            ("R8_UINT 1d 4 layers=2 1 2 3 4", "8 texels, and 4 are left"),
        ] {
            let found = image(text).expect_err(text);
            assert!(found.what.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn samplers_are_what_their_words_say() {
        let expected = Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::ClampToEdge; 3],
            compare: Some(Compare::LessOrEqual),
            ..Sampler::default()
        };
        assert_eq!(sampler("linear edge compare=LessOrEqual"), Ok(expected));
        assert_eq!(sampler(&sampler_text(&expected)), Ok(expected));
        let each = Sampler {
            mag: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::ClampToBorder, AddressMode::MirroredRepeat, AddressMode::ClampToBorder],
            border: Border::OpaqueWhite,
            lod_bias: -0.5,
            lod_min: 0.25,
            lod_max: 3.0,
            ..Sampler::default()
        };
        assert_eq!(sampler("linear min=nearest border y=mirrored colour=opaque-white bias=-0.5 lod=0.25..3"), Ok(each));
        assert_eq!(sampler(&sampler_text(&each)), Ok(each));
        assert_eq!(sampler(&sampler_text(&Sampler::default())), Ok(Sampler::default()));
        for (text, says) in [
            (
                "bilinear",
                "nearest, linear, repeat, mirrored, edge, border, unnormalized, mag=, min=, mip=, x=, y=, z=, colour=, compare=, bias= and lod= do",
            ),
            ("linear=mag", "`linear=mag` says nothing"),
            ("mag=edge", "no filter is called `edge`; there are nearest, linear"),
            ("x=clamp", "no address mode is called `clamp`; there are repeat, mirrored, edge, border"),
            ("colour=red", "no border colour is called `red`; there are transparent-black, opaque-black, opaque-white"),
            ("compare=less", "no comparison is called `less`; there are Never, Less, Equal"),
            ("lod=3", "no range of levels"),
            ("lod=3..1", "its greatest level before its least"),
            ("bias=nan", "no level of detail"),
        ] {
            let found = sampler(text).expect_err(text);
            assert!(found.what.contains(says), "{text}: {found}");
        }
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
            let mut encoder = png::Encoder::new(std::fs::File::create(&path).expect("made"), 2, 1);
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
