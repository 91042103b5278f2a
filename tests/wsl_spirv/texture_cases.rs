//! Programs over textures and samplers, with expected results that are computed by hand.
//!
//! Texel t of an image has 4·t + c as its component c, the depth t/16, and in a format of 8 bits
//! the code 8·(4·t + c). Texels are numbered row by row, slice by slice, level by level.

use smallstep_semantics::image::{AddressMode, Compare, Filter, Format, Image, Numeric, Sampler, Shape};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::group::{Dispatch, Resource, ResourceContents};
use smallstep_semantics::wsl::texture::{Texture, shape};
use smallstep_semantics::wsl::types::Type;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// A program that writes floats to a buffer `o`.
pub struct Case {
    /// Declarations in front of the entry point.
    before: &'static str,
    /// The parameters of the entry point, without `o`.
    arguments: &'static str,
    /// The entry point's body.
    body: &'static str,
    /// The resource of each parameter, in order.
    given: &'static [Given],
    /// The floats in `o` at the end. `None` where any value is allowed.
    pub expected: &'static [Option<f32>],
}

/// A resource of a parameter.
enum Given {
    /// An image: format, sides and number of levels.
    Image(Format, [u32; 3], u32),
    /// A sampler with this filter within and between levels.
    Sampler(Filter),
    /// A sampler that compares: reference < texel.
    Less(Filter),
    /// A sampler with the nearest filter that shows the border outside.
    Border,
    /// A buffer of these words.
    Words(&'static [u32]),
}

use Filter::{Linear, Nearest};
use Format as F;
use Given::{Border, Image as I, Less, Sampler as S, Words};

const fn case(
    before: &'static str,
    arguments: &'static str,
    given: &'static [Given],
    body: &'static str,
    expected: &'static [Option<f32>],
) -> Case {
    Case { before, arguments, body, given, expected }
}

const fn is<const N: usize>(floats: [f32; N]) -> [Option<f32>; N] {
    let mut all = [None; N];
    let mut k = 0;
    while k < N {
        all[k] = Some(floats[k]);
        k += 1;
    }
    all
}

const ROW: Given = I(F::Rgba32Sfloat, [4, 1, 1], 3);
const ROWS: Given = I(F::Rgba32Sfloat, [4, 1, 3], 1);
const FLAT: Given = I(F::Rgba32Sfloat, [4, 2, 1], 3);
const LAYERS: Given = I(F::Rgba32Sfloat, [4, 2, 3], 1);
const BOX: Given = I(F::Rgba32Sfloat, [4, 2, 2], 1);
const CUBE: Given = I(F::Rgba32Sfloat, [4, 4, 6], 1);
const DEPTH: Given = I(F::D32Sfloat, [4, 2, 1], 1);
const DEPTHS: Given = I(F::D32Sfloat, [4, 2, 2], 1);

/// Every case.
pub const CASES: &[Case] = &[
    // One dimension: texels 0 to 3 of level 0, 4 and 5 of level 1, 6 of level 2.
    case(
        "",
        "Texture1D<float4> t : register(t0)",
        &[ROW],
        "o[0] = Load(t, int2(2, 0)).y; o[1] = Load(t, int2(1, 1)).x; o[2] = Load(t, int2(1, 0), 2).w; o[3] = Load(t, int2(3, 0), -2).z;",
        &is([9.0, 20.0, 15.0, 6.0]),
    ),
    case(
        "",
        "Texture1D<float4> t : register(t0), sampler s : register(s0)",
        &[ROW, S(Nearest)],
        "o[0] = SampleLevel(t, s, 0.625, 0.0).x; o[1] = SampleLevel(t, s, 0.625, 0.0, 1).x; o[2] = SampleLevel(t, s, 0.625, 0.0, 2).y;
         o[3] = SampleGrad(t, s, 0.625, 0.5, 0.0).x; o[4] = SampleGrad(t, s, 0.625, 0.0, 0.5, 1).x; o[5] = SampleLevel(t, s, 0.3, 2.0).w;",
        &is([8.0, 12.0, 1.0, 20.0, 16.0, 27.0]),
    ),
    case(
        "",
        "Texture1D<float> t : register(t0), sampler s : register(s0)",
        &[ROW, S(Linear)],
        "o[0] = SampleLevel(t, s, 0.5, 0.0); o[1] = SampleLevel(t, s, 0.5, 0.5); o[2] = SampleLevel(t, s, 0.5, 0.0, 1);",
        &is([6.0, 12.0, 10.0]),
    ),
    case(
        "",
        "Texture1D<float> t : register(t0)",
        &[ROW],
        "uint w; uint l; float f; float n; GetDimensions(t, &w); o[0] = float(w); GetDimensions(t, 1u, &w, &l);
         o[1] = float(w); o[2] = float(l); GetDimensions(t, &f); o[3] = f; GetDimensions(t, 3u, &f, &n); o[4] = f; o[5] = n;",
        &is([4.0, 2.0, 3.0, 4.0, 0.0, 3.0]),
    ),
    case(
        "",
        "Texture1DArray<float4> t : register(t0), sampler s : register(s0)",
        &[ROWS, S(Nearest)],
        "o[0] = Load(t, int3(2, 1, 0)).x; o[1] = SampleLevel(t, s, float2(0.625, 1.4), 0.0).x; o[2] = SampleLevel(t, s, float2(0.625, 7.0), 0.0).y;
         o[3] = SampleLevel(t, s, float2(0.625, 1.0), 0.0, 1).x; o[4] = SampleGrad(t, s, float2(0.125, 2.0), 0.0, 0.0).x;
         uint w; uint n; uint l; GetDimensions(t, &w, &n); o[5] = float(w); o[6] = float(n); GetDimensions(t, 0u, &w, &n, &l); o[7] = float(n * 10u + l);",
        &is([24.0, 24.0, 41.0, 28.0, 32.0, 4.0, 3.0, 31.0]),
    ),
    // Two dimensions: 0 to 7, then 8 and 9, then 10.
    case(
        "",
        "Texture2D<float4> t : register(t0)",
        &[FLAT],
        "o[0] = Load(t, int3(1, 1, 0)).x; o[1] = Load(t, int3(1, 0, 1)).x; o[2] = Load(t, int3(2, 0, 0), int2(-1, 1)).z; o[3] = Load(t, int3(0, 0, 2)).w;",
        &is([20.0, 36.0, 22.0, 43.0]),
    ),
    case(
        "",
        "Texture2D<float4> t : register(t0)",
        &[FLAT],
        "o[0] = Load(t, int3(4, 0, 0)).x; o[1] = Load(t, int3(-1, 0, 0)).x; o[2] = Load(t, int3(0, 0, 3)).x; o[3] = Load(t, int3(0, 0, -1)).x;
         o[4] = Load(t, int3(0, 2, 0)).x; o[5] = 1.0;",
        &[None, None, None, None, None, Some(1.0)],
    ),
    case(
        "",
        "Texture2D<float4> t : register(t0), sampler s : register(s0)",
        &[FLAT, S(Nearest)],
        "o[0] = SampleLevel(t, s, float2(0.375, 0.75), 0.0).x; o[1] = SampleLevel(t, s, float2(0.375, 0.75), 1.0).x;
         o[2] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, int2(1, 0)).x; o[3] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, int2(-1, 1)).y;
         o[4] = SampleGrad(t, s, float2(0.375, 0.25), float2(0.5, 0.0), float2(0.0, 0.0)).x; o[5] = SampleLevel(t, s, float2(1.375, -0.25), 0.0).x;",
        &is([20.0, 32.0, 8.0, 17.0, 32.0, 20.0]),
    ),
    case(
        "",
        "Texture2D<float4> t : register(t0), sampler s : register(s0)",
        &[FLAT, S(Nearest)],
        "int2 d; d.x = 1; o[0] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, d).x; d.x = -1; d.y = 1;
         o[1] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, d).y; o[2] = SampleGrad(t, s, float2(0.375, 0.25), float2(), float2(), d).z;
         d.x = 7; d.y = -8; o[3] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, d).x; d.x = 8; o[4] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, d).x;
         o[5] = SampleLevel(t, s, float2(0.375, 0.25), 0.0, int2(0, -9)).x;",
        &[Some(8.0), Some(17.0), Some(18.0), Some(0.0), None, None],
    ),
    case(
        "",
        "Texture2D<float2> t : register(t0), sampler s : register(s0)",
        &[FLAT, S(Linear)],
        "float2 v = SampleLevel(t, s, float2(0.5, 0.5), 0.0); o[0] = v.x; o[1] = v.y; o[2] = SampleLevel(t, s, float2(0.5, 0.5), 0.0, int2(1, 0)).x;
         o[3] = SampleLevel(t, s, float2(0.5, 0.5), 1.0).x;",
        &is([14.0, 15.0, 18.0, 34.0]),
    ),
    case(
        "",
        "Texture2D<float4> t : register(t0), sampler s : register(s0)",
        &[I(F::Rgba32Sfloat, [4, 2, 1], 1), Border],
        "o[0] = SampleLevel(t, s, float2(1.5, 0.25), 0.0).x; o[1] = SampleLevel(t, s, float2(0.625, 0.25), 0.0).x; o[2] = SampleLevel(t, s, float2(0.875, 0.25), 0.0, int2(1, 0)).y;",
        &is([0.0, 8.0, 0.0]),
    ),
    case(
        "",
        "Texture2D<float4> t : register(t0), sampler s : register(s0)",
        &[FLAT, S(Linear)],
        "float4 g = Gather(t, s, float2(0.5, 0.5)); o[0] = g.x; o[1] = g.y; o[2] = g.z; o[3] = g.w; g = GatherBlue(t, s, float2(0.5, 0.5));
         o[4] = g.x; o[5] = g.y; g = GatherGreen(t, s, float2(0.5, 0.5), int2(1, 0)); o[6] = g.x; o[7] = g.w; g = GatherAlpha(t, s, float2(0.5, 0.5)); o[8] = g.z;
         int2 d; d.x = 1; g = GatherRed(t, s, float2(0.5, 0.5), d); o[9] = g.x; o[10] = g.y;",
        &is([20.0, 24.0, 8.0, 4.0, 22.0, 26.0, 25.0, 9.0, 11.0, 24.0, 28.0]),
    ),
    case(
        "",
        "Texture2D<float2> t : register(t0), sampler s : register(s0)",
        &[FLAT, S(Nearest)],
        "o[0] = GatherBlue(t, s, float2(0.5, 0.5)).x; o[1] = GatherGreen(t, s, float2(0.5, 0.5)).x;",
        &[None, Some(21.0)],
    ),
    case(
        "",
        "Texture2D<float> t : register(t0)",
        &[FLAT],
        "uint w; uint h; uint l; GetDimensions(t, &w, &h); o[0] = float(w * 10u + h); GetDimensions(t, 1u, &w, &h, &l); o[1] = float(w * 100u + h * 10u + l);
         float a; float b; float c; GetDimensions(t, 9u, &a, &b, &c); o[2] = a; o[3] = b; o[4] = c;",
        &is([42.0, 213.0, 0.0, 0.0, 3.0]),
    ),
    case(
        "",
        "Texture2DArray<float4> t : register(t0), sampler s : register(s0)",
        &[LAYERS, S(Nearest)],
        "o[0] = Load(t, int4(1, 1, 2, 0)).x; o[1] = SampleLevel(t, s, float3(0.375, 0.75, 1.6), 0.0).x; float4 g = Gather(t, s, float3(0.5, 0.5, 1.0));
         o[2] = g.x; o[3] = g.y; o[4] = g.z; o[5] = g.w; o[6] = SampleLevel(t, s, float3(0.375, 0.25, 1.0), 0.0, int2(1, 1)).x;
         uint w; uint h; uint n; GetDimensions(t, &w, &h, &n); o[7] = float(w * 100u + h * 10u + n); o[8] = Load(t, int4(0, 0, 0, 0), int2(3, 1)).x;",
        &is([84.0, 84.0, 52.0, 56.0, 40.0, 36.0, 56.0, 423.0, 28.0]),
    ),
    // Three dimensions.
    case(
        "",
        "Texture3D<float4> t : register(t0), sampler s : register(s0), sampler l : register(s1)",
        &[BOX, S(Nearest), S(Linear)],
        "o[0] = Load(t, int4(1, 1, 1, 0)).x; o[1] = SampleLevel(t, s, float3(0.375, 0.75, 0.75), 0.0).x; o[2] = SampleLevel(t, l, float3(0.5, 0.5, 0.5), 0.0).x;
         o[3] = SampleLevel(t, s, float3(0.375, 0.75, 0.75), 0.0, int3(1, -1, -1)).x; o[4] = SampleGrad(t, s, float3(0.375, 0.75, 0.75), float3(), float3()).y;
         uint w; uint h; uint d; GetDimensions(t, &w, &h, &d); o[5] = float(w * 100u + h * 10u + d); o[6] = Load(t, int4(0, 0, 0, 0), int3(1, 0, 1)).x;",
        &is([52.0, 52.0, 30.0, 8.0, 53.0, 422.0, 36.0]),
    ),
    // A cube: (1, 1/4, -1/4) is at (5/8, 3/8) of +X, (1/4, -1, 1/4) at (5/8, 3/8) of -Y.
    case(
        "",
        "TextureCube<float4> t : register(t0), sampler s : register(s0)",
        &[CUBE, S(Nearest)],
        "o[0] = SampleLevel(t, s, float3(1.0, 0.25, -0.25), 0.0).x; o[1] = SampleLevel(t, s, float3(0.25, -1.0, 0.25), 0.0).x;
         float4 g = Gather(t, s, float3(1.0, 0.0, 0.0)); o[2] = g.x; o[3] = g.y; o[4] = g.z; o[5] = g.w;
         o[6] = SampleGrad(t, s, float3(1.0, 0.25, -0.25), float3(), float3()).w; uint w; uint h; GetDimensions(t, &w, &h); o[7] = float(w * 10u + h);",
        &is([24.0, 216.0, 36.0, 40.0, 24.0, 20.0, 27.0, 44.0]),
    ),
    // Depths.
    case(
        "",
        "TextureDepth2D<float> t : register(t0), sampler s : register(s0)",
        &[DEPTH, Less(Nearest)],
        "o[0] = Load(t, int3(1, 1, 0)); o[1] = SampleCmpLevelZero(t, s, float2(0.375, 0.75), 0.25); o[2] = SampleCmpLevelZero(t, s, float2(0.375, 0.75), 0.5);
         o[3] = SampleCmpLevelZero(t, s, float2(0.375, 0.25), 0.1, int2(1, 0)); float4 g = GatherCmp(t, s, float2(0.5, 0.5), 0.1875);
         o[4] = g.x; o[5] = g.y; o[6] = g.z; o[7] = g.w; g = GatherCmp(t, s, float2(0.5, 0.5), 0.1, int2(-1, 0)); o[8] = g.x; o[9] = g.z;
         uint w; uint h; GetDimensions(t, &w, &h); o[10] = float(w * 10u + h);",
        &is([0.3125, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 42.0]),
    ),
    case(
        "",
        "TextureDepth2D<float> t : register(t0), sampler s : register(s0), sampler c : register(s1)",
        &[DEPTH, S(Nearest), Less(Linear)],
        "o[0] = SampleLevel(t, s, float2(0.375, 0.75), 0.0); o[1] = SampleCmpLevelZero(t, c, float2(0.5, 0.5), 0.1875); o[2] = Gather(t, s, float2(0.5, 0.5)).x;
         o[3] = GatherGreen(t, s, float2(0.5, 0.5)).x; o[4] = SampleLevel(t, c, float2(0.375, 0.75), 0.0);",
        &[Some(0.3125), Some(0.5), Some(0.3125), None, None],
    ),
    case(
        "",
        "TextureDepth2DArray<float> t : register(t0), sampler s : register(s0)",
        &[DEPTHS, Less(Nearest)],
        "o[0] = Load(t, int4(1, 1, 1, 0)); o[1] = SampleCmpLevelZero(t, s, float3(0.375, 0.75, 1.0), 0.8); o[2] = SampleCmpLevelZero(t, s, float3(0.375, 0.75, 0.0), 0.8);
         o[3] = GatherCmp(t, s, float3(0.5, 0.5, 1.0), 0.7).z;",
        &is([0.8125, 1.0, 0.0, 0.0]),
    ),
    case(
        "",
        "TextureDepthCube<float> t : register(t0), sampler s : register(s0)",
        &[I(F::D32Sfloat, [1, 1, 6], 1), Less(Nearest)],
        "o[0] = SampleCmpLevelZero(t, s, float3(0.0, 0.0, 1.0), 0.2); o[1] = SampleCmpLevelZero(t, s, float3(0.0, 0.0, 1.0), 0.3);
         o[2] = SampleCmpLevelZero(t, s, float3(0.0, 0.0, -1.0), 0.3);",
        &is([1.0, 0.0, 1.0]),
    ),
    // Integers: a linear filter gives an unknown value, a nearest filter the texel.
    case(
        "",
        "Texture2D<int4> t : register(t0), sampler s : register(s0), sampler l : register(s1)",
        &[I(F::Rgba32Sint, [4, 2, 1], 1), S(Nearest), S(Linear)],
        "o[0] = float(SampleLevel(t, s, float2(0.375, 0.75), 0.0).y); o[1] = float(Gather(t, s, float2(0.5, 0.5)).x); o[2] = float(Load(t, int3(3, 1, 0)).w);
         o[3] = float(SampleLevel(t, l, float2(0.375, 0.75), 0.0).y);",
        &[Some(21.0), Some(20.0), Some(31.0), None],
    ),
    case(
        "",
        "Texture3D<uint2> t : register(t0), sampler s : register(s0)",
        &[I(F::Rgba32Uint, [4, 2, 2], 1), S(Nearest)],
        "o[0] = float(SampleLevel(t, s, float3(0.375, 0.75, 0.75), 0.0).y); o[1] = float(Load(t, int4(0, 0, 1, 0)).x);",
        &is([53.0, 32.0]),
    ),
    // Writable textures.
    case(
        "",
        "RWTexture2D<float4> t : register(u1)",
        &[I(F::Rgba32Sfloat, [4, 2, 1], 1)],
        "o[0] = Load(t, int2(1, 1)).x; Store(t, float4(0.5, 1.5, 2.5, 3.5), int2(1, 1)); o[1] = Load(t, uint2(1u, 1u)).z; Store(t, float4(9.0, 9.0, 9.0, 9.0), int2(-1, 0));
         Store(t, float4(9.0, 9.0, 9.0, 9.0), uint2(0u, 2u)); o[2] = Load(t, int2(0, 0)).x; o[3] = Load(t, int2(3, 1)).x; uint w; uint h; GetDimensions(t, &w, &h);
         o[4] = float(w * 10u + h);",
        &is([20.0, 2.5, 0.0, 28.0, 42.0]),
    ),
    case(
        "",
        "RWTexture2D<float4> t : register(u1)",
        &[I(F::Rgba8Unorm, [2, 1, 1], 1)],
        "Store(t, float4(1.0, 0.0, 2.0, -1.0), int2(0, 0)); float4 v = Load(t, int2(0, 0)); o[0] = v.x; o[1] = v.y; o[2] = v.z; o[3] = v.w;
         float n = o[5] - o[5]; Store(t, float4(n / n, 1.0, 1.0, 1.0), int2(1, 0)); v = Load(t, int2(1, 0)); o[4] = v.y; o[5] = v.x;",
        &[Some(1.0), Some(0.0), Some(1.0), Some(0.0), Some(1.0), None],
    ),
    case(
        "",
        "RWTexture2D<int4> t : register(u1), RWTexture2D<uint> r : register(u2)",
        &[I(F::Rgba8Sint, [1, 1, 1], 1), I(F::R32Uint, [2, 1, 1], 1)],
        "Store(t, int4(-128, 127, 5, 200), int2(0, 0)); int4 v = Load(t, int2(0, 0)); o[0] = float(v.x); o[1] = float(v.y); o[2] = float(v.z); o[3] = float(v.w);
         Store(r, 7u, int2(1, 0)); o[4] = float(Load(r, int2(1, 0)) + Load(r, int2(0, 0)));",
        &[Some(-128.0), Some(127.0), Some(5.0), None, Some(7.0)],
    ),
    case(
        "",
        "RWTexture1D<float2> a : register(u1), RWTexture1DArray<int> b : register(u2)",
        &[I(F::Rg32Sfloat, [4, 1, 1], 1), I(F::R32Sint, [4, 1, 2], 1)],
        "Store(a, float2(1.0, 2.0), 3); Store(a, float2(9.0, 9.0), 4); o[0] = Load(a, 3).y; o[1] = Load(a, 1u).x; Store(b, 8, int2(2, 1)); Store(b, 9, int2(2, 2));
         o[2] = float(Load(b, int2(2, 1))); o[3] = float(Load(b, uint2(2u, 0u))); uint w; uint n; GetDimensions(b, &w, &n); o[4] = float(w * 10u + n); float f; GetDimensions(a, &f);
         o[5] = f;",
        &is([2.0, 4.0, 8.0, 8.0, 42.0, 4.0]),
    ),
    case(
        "",
        "RWTexture2DArray<float> a : register(u1), RWTexture3D<uint4> b : register(u2)",
        &[I(F::R32Sfloat, [4, 2, 2], 1), I(F::Rgba32Uint, [2, 2, 2], 1)],
        "Store(a, 0.25, int3(1, 0, 1)); o[0] = Load(a, int3(1, 0, 1)); o[1] = Load(a, int3(1, 0, 0)); Store(b, uint4(1u, 2u, 3u, 4u), uint3(1u, 1u, 1u)); o[2] = float(Load(b, int3(1, 1, 1)).w);
         o[3] = float(Load(b, int3(0, 1, 1)).x); Store(b, uint4(9u, 9u, 9u, 9u), int3(0, 0, 2)); uint w; uint h; uint d; GetDimensions(b, &w, &h, &d); o[4] = float(w * 100u + h * 10u + d);
         GetDimensions(a, &w, &h, &d); o[5] = float(w * 100u + h * 10u + d);",
        &is([0.25, 4.0, 4.0, 24.0, 222.0, 422.0]),
    ),
    case(
        "",
        "RWTextureDepth2D<float> a : register(u1), RWTextureDepth2DArray<float> b : register(u2)",
        &[I(F::D32Sfloat, [4, 2, 1], 1), I(F::D32Sfloat, [2, 1, 2], 1)],
        "o[0] = Load(a, int2(2, 1)); Store(a, 0.75, int2(2, 1)); o[1] = Load(a, int2(2, 1)); Store(b, 0.5, int3(1, 0, 1)); o[2] = Load(b, int3(1, 0, 1)); o[3] = Load(b, int3(1, 0, 0));",
        &is([0.375, 0.75, 0.5, 0.0625]),
    ),
    // Textures as arguments, as results and in structures. Each texture gets its own callee.
    case(
        "float4 f(Texture2D<float4> t, sampler s, float2 at) { return SampleLevel(t, s, at, 0.0); }
         Texture2D<float4> same(Texture2D<float4> t) { return t; }",
        "Texture2D<float4> a : register(t0), Texture2D<float4> b : register(t1), sampler s : register(s0)",
        &[FLAT, I(F::Rgba32Sfloat, [1, 1, 1], 1), S(Nearest)],
        "o[0] = f(a, s, float2(0.375, 0.75)).x; o[1] = f(b, s, float2(0.375, 0.75)).y; o[2] = f(same(a), s, float2(0.9, 0.1)).x; o[3] = Load(same(b), int3(0, 0, 0)).z;",
        &is([20.0, 1.0, 12.0, 2.0]),
    ),
    case(
        "struct M { Texture2D<float4> t : register(t0); sampler s : register(s0); uint3 id : SV_DispatchThreadID; }
         struct N { M m; RWTexture1D<float> r : register(u1); }
         float g(M m, uint k) { m.id.y = k; return SampleLevel(m.t, m.s, float2(0.375, 0.75), 0.0).x + float(m.id.y); }
         float h(N n) { Store(n.r, g(n.m, 3u), 1); n.m.id.x = 5u; return Load(n.r, 1) + float(n.m.id.x); }",
        "N n",
        &[FLAT, S(Nearest), I(F::R32Sfloat, [2, 1, 1], 1)],
        "o[0] = g(n.m, 2u); o[1] = h(n); o[2] = Load(n.r, int(n.m.id.x) + 1); o[3] = g(n.m, 1u);",
        &is([22.0, 28.0, 23.0, 21.0]),
    ),
    // Registers of different kinds with one number, and a register space.
    case(
        "",
        "Texture2D<float> t : register(t0), sampler s : register(s0), constant uint[] b : register(b0), RWTexture2D<float> r : register(u0, space1), device uint[] u : register(u0, space2)",
        &[FLAT, S(Nearest), Words(&[7]), I(F::R32Sfloat, [1, 1, 1], 1), Words(&[5])],
        "Store(r, SampleLevel(t, s, float2(0.375, 0.75), 0.0), int2(0, 0)); o[0] = Load(r, int2(0, 0)) + float(b[0]); u[0] = u[0] + 1u; o[1] = float(u[0]);",
        &is([27.0, 6.0]),
    ),
];

fn image(format: Format, of: Shape, sides: [u32; 3], levels: u32) -> Image {
    let mut image = Image::of_shape(format, of, sides, levels).expect("sides of the shape");
    let (channels, size) = (format.channels(), format.bytes());
    let mut number = 0u32;
    for level in 0..levels {
        let mut bytes = image.bytes(level).expect("a level").to_vec();
        for texel in bytes.chunks_mut(size) {
            let component = size / channels.len();
            for (c, to) in (0..).zip(texel.chunks_mut(component)) {
                let value = 4 * number + c;
                let bits = match (format.numeric(), component) {
                    (Numeric::Float, _) if format.is_depth() => (number as f32 / 16.0).to_bits(),
                    (Numeric::Float, _) => (value as f32).to_bits(),
                    (_, 1) => value * 8,
                    _ => value,
                };
                to.copy_from_slice(&bits.to_le_bytes()[..component]);
            }
            number += 1;
        }
        image.fill(level, &bytes).expect("a level's bytes");
    }
    image
}

fn sampler(filter: Filter, compare: Option<Compare>) -> Sampler {
    Sampler { mag: filter, min: filter, mip: filter, compare, ..Sampler::default() }
}

impl Case {
    /// The text of the program.
    pub fn text(&self) -> String {
        let Case { before, arguments, body, .. } = self;
        format!("{before} [numthreads(1, 1, 1)] compute void main({arguments}, device float[] o : register(u0)) {{ {body} }}")
    }

    /// Calls `with` with the program as a dispatch of one thread, and all resources bound.
    pub fn with<T>(&self, with: impl FnOnce(&Program, &Dispatch) -> T) -> T {
        let text = self.text();
        let found = validate(&text);
        let program = found.program.unwrap_or_else(|| panic!("{text}: {:?}", found.errors));
        let entry = entry_of(&program, Stage::Compute([1; 3]), None).expect("an entry point");
        let mut resources = Resource::of(&program, entry).expect("resources");
        let out = Words(&[0; 12]);
        assert_eq!(resources.len(), self.given.len() + 1, "{text}");
        for (resource, given) in resources.iter_mut().zip(self.given.iter().chain([&out])) {
            match (&mut resource.contents, given) {
                (ResourceContents::Texture(textured), Given::Image(format, sides, levels)) => {
                    let (Type::Scalar(scalar) | Type::Vector(scalar, _)) = program.env.types.get(textured.texel) else { panic!("{text}") };
                    let image = image(*format, shape(textured.kind), *sides, *levels);
                    textured.texture = Some(Texture::new(textured.kind, scalar, image).unwrap_or_else(|e| panic!("{text}: {e}")));
                }
                (ResourceContents::Sampler(of), Given::Sampler(filter)) => *of = Some(sampler(*filter, None)),
                (ResourceContents::Sampler(of), Given::Less(filter)) => *of = Some(sampler(*filter, Some(Compare::Less))),
                (ResourceContents::Sampler(of), Given::Border) => {
                    *of = Some(Sampler { address: [AddressMode::ClampToBorder; 3], ..sampler(Filter::Nearest, None) });
                }
                (ResourceContents::Buffer(buffer), Given::Words(words)) => buffer.words = words.to_vec(),
                _ => panic!("{text}: {} is something else", resource.name),
            }
        }
        with(&program, &Dispatch { program: &program, text: &text, entry, groups: [1; 3], resources })
    }
}
