//! Sampler and texture operations: seed 004 "Sampler and texture operations".

use super::meaning::Meaning;
use super::pattern::Pattern::{Coordinates as At, Fixed, Pointer, T, Texel, Texels};
use super::pattern::{Family, Pattern, Range, Spaces};
use super::table::{Row, Signature, Stages, over, row};
use crate::wsl::types::{Scalar, TextureKind, TypeId};

/// The number of coordinates of a place in a texture, without the layer. A cube has the 3
/// coordinates of a direction.
pub(crate) fn dimensions_of(kind: TextureKind) -> u8 {
    match kind {
        TextureKind::Texture1D | TextureKind::RWTexture1D | TextureKind::Texture1DArray | TextureKind::RWTexture1DArray => 1,
        TextureKind::Texture2D
        | TextureKind::RWTexture2D
        | TextureKind::Texture2DArray
        | TextureKind::RWTexture2DArray
        | TextureKind::TextureDepth2D
        | TextureKind::RWTextureDepth2D
        | TextureKind::TextureDepth2DArray
        | TextureKind::RWTextureDepth2DArray => 2,
        TextureKind::Texture3D | TextureKind::RWTexture3D | TextureKind::TextureCube | TextureKind::TextureDepthCube => 3,
    }
}

/// Whether the texture has layers.
pub(crate) fn layered(kind: TextureKind) -> bool {
    match kind {
        TextureKind::Texture1DArray
        | TextureKind::RWTexture1DArray
        | TextureKind::Texture2DArray
        | TextureKind::RWTexture2DArray
        | TextureKind::TextureDepth2DArray
        | TextureKind::RWTextureDepth2DArray => true,
        TextureKind::Texture1D
        | TextureKind::RWTexture1D
        | TextureKind::Texture2D
        | TextureKind::RWTexture2D
        | TextureKind::Texture3D
        | TextureKind::RWTexture3D
        | TextureKind::TextureCube
        | TextureKind::TextureDepth2D
        | TextureKind::RWTextureDepth2D
        | TextureKind::TextureDepthCube => false,
    }
}

/// The type of coordinates: a scalar, or a vector if there are several. Their order is dimensions,
/// layer, level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// The scalar type of each coordinate.
    pub scalar: Scalar,
    /// Whether there is a coordinate for the layer, if the texture has layers.
    pub layer: bool,
    /// Whether the last coordinate is the level.
    pub level: bool,
}

impl Coordinates {
    /// The number of coordinates for that kind of texture. `None` if a vector has fewer elements.
    pub fn count(self, kind: TextureKind) -> Option<u8> {
        let count = dimensions_of(kind) + u8::from(self.layer && layered(kind)) + u8::from(self.level);
        (count <= 4).then_some(count)
    }
}

const fn set(kinds: &[TextureKind]) -> u16 {
    let (mut set, mut i) = (0, 0);
    while i < kinds.len() {
        set |= 1 << kinds[i] as u16;
        i += 1;
    }
    set
}

const fn textures(set: u16) -> Range {
    Range::family(Family::Textures(set))
}

/// Sampled textures with one size.
const ONE: u16 = set(&[TextureKind::Texture1D]);
/// Sampled textures with two sizes, without cubes.
const TWO: u16 = set(&[TextureKind::Texture1DArray, TextureKind::Texture2D, TextureKind::TextureDepth2D]);
const CUBES: u16 = set(&[TextureKind::TextureCube, TextureKind::TextureDepthCube]);
/// Sampled textures with three sizes.
const THREE: u16 = set(&[TextureKind::Texture2DArray, TextureKind::Texture3D, TextureKind::TextureDepth2DArray]);
/// Sampled textures that take an offset in texels: all but cubes.
const FLAT: u16 = ONE | TWO | THREE;
const SAMPLED: u16 = FLAT | CUBES;
/// Depth textures that are sampled.
const DEPTH: u16 = set(&[TextureKind::TextureDepth2D, TextureKind::TextureDepth2DArray, TextureKind::TextureDepthCube]);
/// Sampled textures in which four texels surround a place.
const SQUARE: u16 = set(&[TextureKind::Texture2D, TextureKind::Texture2DArray, TextureKind::TextureCube]) | DEPTH;
const WRITABLE_ONE: u16 = set(&[TextureKind::RWTexture1D]);
const WRITABLE_TWO: u16 = set(&[TextureKind::RWTexture1DArray, TextureKind::RWTexture2D, TextureKind::RWTextureDepth2D]);
const WRITABLE_THREE: u16 = set(&[TextureKind::RWTexture2DArray, TextureKind::RWTexture3D, TextureKind::RWTextureDepth2DArray]);
const WRITABLE: u16 = WRITABLE_ONE | WRITABLE_TWO | WRITABLE_THREE;

const SAMPLER: Pattern = Fixed(TypeId::SAMPLER);
const FLOAT: Pattern = Fixed(TypeId::FLOAT);
const UINT: Pattern = Fixed(TypeId::UINT);
const VOID: Pattern = Fixed(TypeId::VOID);
/// The location of a sample.
const LOCATION: Pattern = At(Coordinates { scalar: Scalar::Float, layer: true, level: false });
/// A derivative of the location.
const GRADIENT: Pattern = At(Coordinates { scalar: Scalar::Float, layer: false, level: false });
/// An offset in texels.
const OFFSET: Pattern = At(Coordinates { scalar: Scalar::Int, layer: false, level: false });
/// The coordinates of a texel in a texture with levels.
const TEXEL: Pattern = At(Coordinates { scalar: Scalar::Int, layer: true, level: true });
/// The coordinates of a texel in a texture without levels.
const PLACE_INT: Pattern = At(Coordinates { scalar: Scalar::Int, layer: true, level: false });
const PLACE_UINT: Pattern = At(Coordinates { scalar: Scalar::Uint, layer: true, level: false });

/// Sample : (texture, sampler, location) and SampleBias : (texture, sampler, location, float), with
/// an offset last unless it is a cube, → the texture's element, in fragment shaders
///                                             [wsl/lib-sample, 004 Sampler and texture operations]
///
/// Samples at the level that the location's derivatives give.
pub(super) const fn sample() -> &'static [Row] {
    const SAMPLE: &[Signature] =
        &[over(textures(SAMPLED), &[T, SAMPLER, LOCATION], Texel), over(textures(FLAT), &[T, SAMPLER, LOCATION, OFFSET], Texel)];
    const BIAS: &[Signature] = &[
        over(textures(SAMPLED), &[T, SAMPLER, LOCATION, FLOAT], Texel),
        over(textures(FLAT), &[T, SAMPLER, LOCATION, FLOAT, OFFSET], Texel),
    ];
    const ROWS: &[Row] = &[
        row(
            "Sample",
            SAMPLE,
            Meaning::Sample,
            "The texture filtered at the location, at the level that the location's derivatives give; the location moved by the offset, in texels.",
        )
        .stages(Stages::FRAGMENT),
        row("SampleBias", BIAS, Meaning::SampleBias, "As `Sample`, with the bias added to the level.").stages(Stages::FRAGMENT),
    ];
    ROWS
}

/// SampleGrad : (texture, sampler, location, gradient, gradient) and SampleLevel : (texture,
/// sampler, location, float), with an offset last unless it is a cube, → the texture's element
///                                    [wsl/lib-sample-explicit, 004 Sampler and texture operations]
///
/// Samples at a level that the arguments give.
pub(super) const fn sample_explicit() -> &'static [Row] {
    const GRAD: &[Signature] = &[
        over(textures(SAMPLED), &[T, SAMPLER, LOCATION, GRADIENT, GRADIENT], Texel),
        over(textures(FLAT), &[T, SAMPLER, LOCATION, GRADIENT, GRADIENT, OFFSET], Texel),
    ];
    const LEVEL: &[Signature] = &[
        over(textures(SAMPLED), &[T, SAMPLER, LOCATION, FLOAT], Texel),
        over(textures(FLAT), &[T, SAMPLER, LOCATION, FLOAT, OFFSET], Texel),
    ];
    const ROWS: &[Row] = &[
        row("SampleGrad", GRAD, Meaning::SampleGrad, "As `Sample`, with these derivatives of the location, to the right and downwards."),
        row("SampleLevel", LEVEL, Meaning::SampleLevel, "As `Sample`, at this level."),
    ];
    ROWS
}

/// SampleCmp, in fragment shaders, and SampleCmpLevelZero : (depth texture, sampler, location,
/// float), with an offset last unless it is a cube, → float
///                                     [wsl/lib-sample-compare, 004 Sampler and texture operations]
///
/// Samples that compare each texel with a depth and filter the results.
pub(super) const fn sample_compare() -> &'static [Row] {
    const COMPARE: &[Signature] = &[
        over(textures(DEPTH), &[T, SAMPLER, LOCATION, FLOAT], Texel),
        over(textures(DEPTH & FLAT), &[T, SAMPLER, LOCATION, FLOAT, OFFSET], Texel),
    ];
    const ROWS: &[Row] = &[
        row(
            "SampleCmp",
            COMPARE,
            Meaning::SampleCmp,
            "As `Sample`, filtering 1 or 0 of each texel as the sampler's comparison of the value with it holds or not.",
        )
        .stages(Stages::FRAGMENT),
        row("SampleCmpLevelZero", COMPARE, Meaning::SampleCmpLevelZero, "As `SampleCmp`, at level 0."),
    ];
    ROWS
}

/// Gather and Gather- Red, Green, Blue and Alpha : (texture of two dimensions or cube, sampler,
/// location), with an offset last unless it is a cube, → 4 scalars
///                                             [wsl/lib-gather, 004 Sampler and texture operations]
///
/// Reads one component of four texels.
pub(super) const fn gather() -> &'static [Row] {
    const GATHER: &[Signature] =
        &[over(textures(SQUARE), &[T, SAMPLER, LOCATION], Texels), over(textures(SQUARE & FLAT), &[T, SAMPLER, LOCATION, OFFSET], Texels)];
    const ROWS: &[Row] = &[
        row(
            "Gather",
            GATHER,
            Meaning::GatherRed,
            "The first components of the four texels of level 0 that filtering would mix, counterclockwise from the lower left.",
        ),
        row("GatherRed", GATHER, Meaning::GatherRed, "As `Gather`."),
        row("GatherGreen", GATHER, Meaning::GatherGreen, "As `Gather` of the second components; unspecified values if there are none."),
        row("GatherBlue", GATHER, Meaning::GatherBlue, "As `Gather` of the third components; unspecified values if there are none."),
        row("GatherAlpha", GATHER, Meaning::GatherAlpha, "As `Gather` of the fourth components; unspecified values if there are none."),
    ];
    ROWS
}

/// GatherCmp : (depth texture, sampler, location, float), with an offset last unless it is a cube,
/// → float4                            [wsl/lib-gather-compare, 004 Sampler and texture operations]
///
/// Compares four texels with a depth.
pub(super) const fn gather_compare() -> &'static [Row] {
    const COMPARE: &[Signature] = &[
        over(textures(DEPTH), &[T, SAMPLER, LOCATION, FLOAT], Texels),
        over(textures(DEPTH & FLAT), &[T, SAMPLER, LOCATION, FLOAT, OFFSET], Texels),
    ];
    const ROWS: &[Row] = &[row(
        "GatherCmp",
        COMPARE,
        Meaning::GatherCmp,
        "As `Gather`, 1 or 0 of each texel as the sampler's comparison of the value with it holds or not.",
    )];
    ROWS
}

/// Load : (texture, texel and level), with an offset last, and (RW texture, texel), not of cubes, →
/// the texture's element                         [wsl/lib-load, 004 Sampler and texture operations]
///
/// Reads one texel.
pub(super) const fn load() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "Load",
            &[over(textures(FLAT), &[T, TEXEL], Texel), over(textures(FLAT), &[T, TEXEL, OFFSET], Texel)],
            Meaning::Load,
            "The texel of these coordinates, the level last, moved by the offset; an unspecified value if there is none.",
        ),
        row(
            "Load",
            &[over(textures(WRITABLE), &[T, PLACE_INT], Texel), over(textures(WRITABLE), &[T, PLACE_UINT], Texel)],
            Meaning::Load,
            "The texel of these coordinates; an unspecified value if there is none.",
        ),
    ];
    ROWS
}

/// Store : (RW texture, element, texel) → void
///                                              [wsl/lib-store, 004 Sampler and texture operations]
///
/// Writes one texel.
pub(super) const fn store() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "Store",
        &[over(textures(WRITABLE), &[T, Texel, PLACE_INT], VOID), over(textures(WRITABLE), &[T, Texel, PLACE_UINT], VOID)],
        Meaning::Store,
        "Stores the value as the texel of these coordinates; nothing if there is none.",
    )];
    ROWS
}

/// GetDimensions : (texture, pointers for the sizes) and (sampled texture, level, pointers for the
/// sizes and the number of levels) → void, the pointers all to uint or all to float, not constant
///                                         [wsl/lib-dimensions, 004 Sampler and texture operations]
///
/// Gives the sizes of a texture, and the number of its levels.
pub(super) const fn dimensions() -> &'static [Row] {
    const U: Pattern = Pointer(Spaces::WRITABLE, &UINT);
    const F: Pattern = Pointer(Spaces::WRITABLE, &FLOAT);
    const fn one(kinds: u16) -> Range {
        textures(kinds & (ONE | WRITABLE_ONE))
    }
    const fn two(kinds: u16) -> Range {
        textures(kinds & (TWO | CUBES | WRITABLE_TWO))
    }
    const fn three(kinds: u16) -> Range {
        textures(kinds & (THREE | WRITABLE_THREE))
    }
    const ANY: u16 = SAMPLED | WRITABLE;
    const ROWS: &[Row] = &[
        row(
            "GetDimensions",
            &[
                over(one(ANY), &[T, U], VOID),
                over(one(ANY), &[T, F], VOID),
                over(two(ANY), &[T, U, U], VOID),
                over(two(ANY), &[T, F, F], VOID),
                over(three(ANY), &[T, U, U, U], VOID),
                over(three(ANY), &[T, F, F, F], VOID),
            ],
            Meaning::GetDimensions,
            "Stores through the pointers, in order: the width, the height unless it has one dimension, and the depth or the number of layers; of level 0.",
        ),
        row(
            "GetDimensions",
            &[
                over(one(SAMPLED), &[T, UINT, U, U], VOID),
                over(one(SAMPLED), &[T, UINT, F, F], VOID),
                over(two(SAMPLED), &[T, UINT, U, U, U], VOID),
                over(two(SAMPLED), &[T, UINT, F, F, F], VOID),
                over(three(SAMPLED), &[T, UINT, U, U, U, U], VOID),
                over(three(SAMPLED), &[T, UINT, F, F, F, F], VOID),
            ],
            Meaning::GetDimensions,
            "The same of that level, zeros if there is none, and through the last pointer the number of levels.",
        ),
    ];
    ROWS
}
