//! GLSL.std.450's packing: conversions between vectors of floats and words.

use rspirv::spirv::GlslStd450Op as Glsl;
use smallvec::SmallVec;

use super::integer::{mask, signed};
use super::{Half, Real};

/// The encoding of a normalized number in a word: the bits of a component, and whether it
/// is signed.
fn layout(op: Glsl) -> Option<(u8, bool)> {
    match op {
        Glsl::PackSnorm4x8 | Glsl::UnpackSnorm4x8 => Some((8, true)),
        Glsl::PackUnorm4x8 | Glsl::UnpackUnorm4x8 => Some((8, false)),
        Glsl::PackSnorm2x16 | Glsl::UnpackSnorm2x16 => Some((16, true)),
        Glsl::PackUnorm2x16 | Glsl::UnpackUnorm2x16 => Some((16, false)),
        _ => None,
    }
}

/// The factor of the components: 127, 255, 32767 or 65535.
fn scale((width, is_signed): (u8, bool)) -> f64 {
    mask(if is_signed { width - 1 } else { width }) as f64
}

/// The least and the greatest number to which a component is clamped, and its factor after that.
pub fn factors(op: Glsl) -> Option<[f32; 3]> {
    let layout = layout(op)?;
    Some([if layout.1 { -1.0 } else { 0.0 }, 1.0, scale(layout) as f32])
}

/// round(clamp(c, -1 or 0, 1)·scale), a half to the even integer, in the low bits; 0 for a NaN.
/// Also whether the product needed no rounding.
pub fn normalized(op: Glsl, c: f32) -> Option<(u64, bool)> {
    let (width, _) = layout(op)?;
    let [low, high, scale] = factors(op)?.map(f64::from);
    // 24 bits times 16 are exact.
    let product = f64::from(c).clamp(low, high) * scale;
    let rounded = product.round_ties_even();
    Some((rounded as i64 as u64 & mask(width), rounded == product))
}

/// Packs or unpacks, from the bits of the operand's components. `None` for other functions.
pub fn packed(op: Glsl, args: &[u64]) -> Option<SmallVec<[u64; 4]>> {
    let joined = |width: u8, parts: &[u64]| parts.iter().rev().fold(0, |word, part| word << width | part);
    let split = |width: u8, count: u8| (0..count).map(move |i| args[0] >> (width * i) & mask(width));
    Some(match op {
        Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8 | Glsl::PackSnorm2x16 | Glsl::PackUnorm2x16 => {
            let (width, _) = layout(op)?;
            let parts: Option<SmallVec<[u64; 4]>> =
                args.iter().map(|&c| normalized(op, f32::from_bits(c as u32)).map(|(bits, _)| bits)).collect();
            SmallVec::from_slice(&[joined(width, &parts?)])
        }
        Glsl::PackHalf2x16 => {
            let parts: SmallVec<[u64; 4]> = args.iter().map(|&c| Half::of(f64::from(f32::from_bits(c as u32))).bits()).collect();
            SmallVec::from_slice(&[joined(16, &parts)])
        }
        Glsl::PackDouble2x32 => SmallVec::from_slice(&[joined(32, args)]),
        Glsl::UnpackSnorm4x8 | Glsl::UnpackUnorm4x8 | Glsl::UnpackSnorm2x16 | Glsl::UnpackUnorm2x16 => {
            let (width, is_signed) = layout(op)?;
            let float = |part: u64| {
                let number = if is_signed { signed(width, part) as f64 } else { part as f64 };
                f32::of((number / scale((width, is_signed))).clamp(-1.0, 1.0)).bits()
            };
            split(width, 32 / width).map(float).collect()
        }
        Glsl::UnpackHalf2x16 => split(16, 2).map(|part| f32::of(Half::of_bits(part).wide()).bits()).collect(),
        Glsl::UnpackDouble2x32 => split(32, 2).collect(),
        _ => return None,
    })
}

/// OpBitcast: the same bits in components of another width, lower bits first.
pub fn bitcast(from: u8, to: u8, args: &[u64]) -> SmallVec<[u64; 4]> {
    let mut bits = args.iter().flat_map(|&part| (0..from).map(move |i| part >> i & 1));
    let count = args.len() * usize::from(from) / usize::from(to.max(1));
    (0..count).map(|_| (0..to).fold(0, |part, i| part | bits.next().unwrap_or(0) << i)).collect()
}
