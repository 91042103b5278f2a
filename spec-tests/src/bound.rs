//! `;@ image …` and `;@ sampler …`: what is behind the descriptors of a dispatch beside its buffer.

use smallstep_semantics::image::{AddressMode, Compare, Filter, Format, Image, Sampler};
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler};

/// `S.B`: a descriptor set and a binding.
fn place(text: &str) -> Result<(u32, u32), String> {
    let place = text.split_once('.').and_then(|(set, binding)| Some((set.parse().ok()?, binding.parse().ok()?)));
    place.ok_or_else(|| format!("`{text}` is no descriptor set and binding, as `0.1`"))
}

/// `image S.B: FORMAT WxH TEXEL…` or, with levels, `FORMAT WxHxL TEXEL…`: each texel as one number, level after level, row after row; without
/// texels, all are undefined.
pub(crate) fn image(at: &str, text: &str) -> Result<BoundImage, String> {
    const MOST: u32 = 256;
    let (set, binding) = place(at)?;
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let format = Format::of_name(name).ok_or_else(|| format!("no format is called `{name}`"))?;
    let size = words.next().unwrap_or_default();
    let sides: Option<Vec<u32>> = size.split('x').map(|side| side.parse().ok().filter(|side| *side <= MOST)).collect();
    let (width, height, levels) = match sides.as_deref() {
        Some(&[width, height]) => (width, height, 1),
        Some(&[width, height, levels]) => (width, height, levels),
        _ => return Err(format!("`{size}` is no size, as `4x2` or, with levels, `4x2x3`, of at most {MOST} each")),
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
        let count = (width * height) as usize;
        let (these, after) =
            rest.split_at_checked(count).ok_or_else(|| format!("level {level} has {count} texels, and {} are left", rest.len()))?;
        let bytes: Vec<u8> = these.iter().flat_map(|texel| texel.to_le_bytes().into_iter().take(format.bytes())).collect();
        image.fill(level, &bytes).map_err(|e| e.to_string())?;
        rest = after;
    }
    if !rest.is_empty() {
        return Err(format!("{} texels are too many", rest.len()));
    }
    Ok(BoundImage { set, binding, image })
}

/// `sampler S.B:` and any of `linear`, `mirrored`, `edge`, `border`, `unnormalized` and `compare=Less`; without them nearest texels, repeated.
pub(crate) fn sampler(at: &str, text: &str) -> Result<BoundSampler, String> {
    let (set, binding) = place(at)?;
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
    Ok(BoundSampler { set, binding, sampler })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_as_many_texels_as_they_say() {
        let bound = image("1.2", "R8G8_UINT 2x1x2 0x0201 0x0403 7").expect("two levels");
        assert_eq!((bound.set, bound.binding), (1, 2));
        assert_eq!((bound.image.bytes(0), bound.image.bytes(1)), (Some(&[1, 2, 3, 4][..]), Some(&[7, 0][..])));
        assert_eq!(image("0.0", "R8_UNORM 1x1").expect("undefined").image.raw(0, 0, 0), Some((0, 1)));
        for (at, text, says) in [
            ("0", "R8_UNORM 1x1", "no descriptor set"),
            ("0.0", "R9_UNORM 1x1", "no format"),
            ("0.0", "R8_UNORM 1", "no size"),
            ("0.0", "R8_UNORM 1x999", "no size"),
            ("0.0", "R8_UNORM 1x0", "side of 0"),
            ("0.0", "R8_UNORM 1x1 red", "no texel"),
            ("0.0", "R8_UNORM 2x1 1", "2 texels, and 1 are left"),
            ("0.0", "R8_UNORM 1x1 1 2", "1 texels are too many"),
        ] {
            let found = image(at, text).expect_err(text);
            assert!(found.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn samplers_are_what_their_words_say() {
        let bound = sampler("0.3", "linear edge compare=LessOrEqual").expect("three words");
        let expected = Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::ClampToEdge; 2],
            compare: Some(Compare::LessOrEqual),
            ..Sampler::default()
        };
        assert_eq!(bound, BoundSampler { set: 0, binding: 3, sampler: expected });
        assert!(sampler("0.3", "bilinear").is_err() && sampler("0.3", "compare=less").is_err() && sampler("3", "").is_err());
    }
}
