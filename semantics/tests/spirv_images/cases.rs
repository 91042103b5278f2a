//! Every image instruction: the type of `%r`, the body, and the components of `%r`
//! worked out by hand.
//!
//! `%tex` is 4 by 2 texels, 1 2 3 4 over 5 6 7 8; its level 1 is 10 20, its level 2 is 30. `%depth`
//! is 0.25 0.75 over 0.5 1. `%cubes` has two cubes of one texel a face, 0 to 5 and 10 to 15.

macro_rules! sampled {
    ($image:literal $sampler:literal $instruction:literal) => {
        concat!("%i = OpLoad %img %", $image, " %s = OpLoad %smp %", $sampler, " %si = OpSampledImage %simg %i %s %r = ", $instruction)
    };
}

macro_rules! cubes {
    ($sampler:literal $instruction:literal) => {
        concat!("%i = OpLoad %cubimg %cubes %s = OpLoad %smp %", $sampler, " %si = OpSampledImage %scubimg %i %s %r = ", $instruction)
    };
}

pub const CASES: &[(&str, &str, &str)] = &[
    // Nearest texels: u = 1.5, v = 0.5.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.375,0.25) Lod f(0)"), "2 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.875,0.75) Lod f(0)"), "8 0 0 1"),
    // On the edge between two texels a device may take either.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.5,0.25) Lod f(0)"), "3~ 0 0 1"),
    // The average of four texels, with u - 1/2 = 1.5 and v - 1/2 = 0.5: (2 + 3 + 6 + 7) / 4. In the
    // middle of a texel only the device's rounding is open.
    ("v4", sampled!("tex" "lin" "OpImageSampleExplicitLod %v4 %si f(0.5,0.5) Lod f(0)"), "4.5~ 0 0 1"),
    ("v4", sampled!("tex" "lin" "OpImageSampleExplicitLod %v4 %si f(0.4375,0.25) Lod f(0)"), "2.25~ 0 0 1"),
    // Half of level 1 and half of level 2, at the first texel of each.
    ("v4", sampled!("tex" "lin" "OpImageSampleExplicitLod %v4 %si f(0.25,0.5) Lod f(1.5)"), "20~ 0 0 1"),
    // A magnified sample, and a minified one.
    ("v4", sampled!("tex" "split" "OpImageSampleExplicitLod %v4 %si f(0.4375,0.25) Lod f(0)"), "2 0 0 1"),
    ("v4", sampled!("tex" "split" "OpImageSampleExplicitLod %v4 %si f(0.4375,0.25) Lod f(0.25)"), "2.25~ 0 0 1"),
    // Address modes: i = -1, and i = 4.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(-0.125,0.25) Lod f(0)"), "4 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(1.125,0.25) Lod f(0)"), "1 0 0 1"),
    ("v4", sampled!("tex" "mirror" "OpImageSampleExplicitLod %v4 %si f(-0.125,0.25) Lod f(0)"), "1 0 0 1"),
    ("v4", sampled!("tex" "mirror" "OpImageSampleExplicitLod %v4 %si f(1.125,0.25) Lod f(0)"), "4 0 0 1"),
    // The weights of the rows are 1 and 0, or 15/16 and 1/16. Sums of equal texels are rounded too.
    ("v4", sampled!("tex" "lin" "OpImageSampleExplicitLod %v4 %si f(-0.125,0.25) Lod f(0)"), "1~ 0 0 1"),
    ("v4", sampled!("tex" "lin" "OpImageSampleExplicitLod %v4 %si f(1.125,1) Lod f(0)"), "8~ 0 0 1"),
    ("v4", sampled!("wide" "border" "OpImageSampleExplicitLod %v4 %si f(-0.5,0.5) Lod f(0)"), "1 1 1 1"),
    // Filters do not keep the sign of a zero.
    ("v4", sampled!("wide" "border" "OpImageSampleExplicitLod %v4 %si f(0.5,0.5) Lod f(0)"), "0.5 -2 0~ 8"),
    ("v4", sampled!("depth" "unnormal" "OpImageSampleExplicitLod %v4 %si f(1.5,0.5) Lod f(0)"), "0.75 0 0 1"),
    // Offsets are in texels, before wrapping.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.125,0.25) Lod|ConstOffset f(0) i(1,1)"), "6 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.125,0.25) Lod|ConstOffset f(0) i(-1,0)"), "4 0 0 1"),
    // The level is the nearest one, and at most the last one.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Lod f(1)"), "20 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Lod f(1.75)"), "30 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Lod f(7)"), "30 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.375,0.25) Lod f(-3)"), "2 0 0 1"),
    // Derivatives. 0.5 of 4 texels is 2 texels, so the level is 1, or up to half a level more. 8
    // and more texels give the last level.
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Grad f(0.5,0) f(0,0)"), "20~ 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Grad f(0,0) f(0,8)"), "30 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleExplicitLod %v4 %si f(0.375,0.25) Grad|ConstOffset f(0.125,0) f(0,0.25) i(1,0)"), "3 0 0 1"),
    // The combined image and sampler, at a quarter of the way from 0 to 1.
    ("v4", "%si = OpLoad %simg %both %r = OpImageSampleExplicitLod %v4 %si f(0.75,0.5) Lod f(0)", "1~ 0 0 1"),
    ("v4", "%si = OpLoad %simg %both %r = OpImageSampleExplicitLod %v4 %si f(0.375,0.5) Lod f(0)", "0.25~ 0 0 1"),
    // Projected: the coordinate is (0.75, 0.5) / 2.
    ("v4", sampled!("tex" "near" "OpImageSampleProjExplicitLod %v4 %si f(0.75,0.5,2) Lod f(0)"), "2 0 0 1"),
    ("v4", sampled!("tex" "near" "OpImageSampleProjExplicitLod %v4 %si f(1.125,0.75,3) Lod f(0)"), "2 0 0 1"),
    // Comparisons: 0.5 ≤ 0.25 fails, 0.5 ≤ 0.75 holds, and 0.5 < 0.5 fails.
    ("float", sampled!("depth" "cmp" "OpImageSampleDrefExplicitLod %float %si f(0.25,0.25) f(0.5) Lod f(0)"), "0"),
    ("float", sampled!("depth" "cmp" "OpImageSampleDrefExplicitLod %float %si f(0.75,0.25) f(0.5) Lod f(0)"), "1"),
    ("float", sampled!("depth" "cmp" "OpImageSampleDrefExplicitLod %float %si f(0.25,0.75) f(0.5) Lod f(0)"), "1"),
    ("float", sampled!("depth" "less" "OpImageSampleDrefExplicitLod %float %si f(0.25,0.75) f(0.5) Lod f(0)"), "0"),
    // The reference is projected too: 1 / 2.
    ("float", sampled!("depth" "cmp" "OpImageSampleProjDrefExplicitLod %float %si f(1.5,0.5,2) f(1) Lod f(0)"), "1"),
    ("float", sampled!("depth" "cmp" "OpImageSampleProjDrefExplicitLod %float %si f(0.5,0.5,2) f(1) Lod f(0)"), "0"),
    ("float", sampled!("depth" "cmp" "OpImageSampleProjDrefExplicitLod %float %si f(0.5,0.5,2) f(0.5) Lod f(0)"), "1"),
    // Fetches.
    ("v4", "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i i(2,1) Lod i(0)", "7 0 0 1"),
    ("v4", "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i u(2,1)", "7 0 0 1"),
    ("v4", "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i i(1,0) Lod i(1)", "20 0 0 1"),
    ("v4", "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i i(2,1) ConstOffset i(-1,-1)", "2 0 0 1"),
    ("v4", "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i i(-1,1) ConstOffset i(2,0)", "6 0 0 1"),
    ("v4", "%si = OpLoad %simg %both %i = OpImage %img %si %r = OpImageFetch %v4 %i i(1,0) Lod i(0)", "1 0 0 1"),
    ("v4", "%i = OpLoad %img %wide %r = OpImageFetch %v4 %i i(0,0) Lod i(0)", "0.5 -2 0 8"),
    ("u4", "%i = OpLoad %uimg %utex %r = OpImageFetch %u4 %i i(1,1) Lod i(0)", "4000000000 0 0 1"),
    ("i4", "%i = OpLoad %iimg %itex %r = OpImageFetch %i4 %i i(0,0) Lod i(0)", "-1 0 0 1"),
    ("i4", "%i = OpLoad %iimg %itex %r = OpImageFetch %i4 %i i(1,0) Lod i(0)", "100 0 0 1"),
    (
        "u4",
        "%i = OpLoad %uimg %utex %s = OpLoad %smp %near %si = OpSampledImage %suimg %i %s %r = OpImageSampleExplicitLod %u4 %si f(0.75,0.25) Lod f(0)",
        "20 0 0 1",
    ),
    // Gathers: the texels i0j1, i1j1, i1j0, i0j0 with i0 = 1 and j0 = 0.
    ("v4", sampled!("tex" "lin" "OpImageGather %v4 %si f(0.5,0.5) u(0)"), "6 7 3 2"),
    ("v4", sampled!("tex" "lin" "OpImageGather %v4 %si f(0.5,0.5) u(3)"), "1 1 1 1"),
    ("v4", sampled!("tex" "near" "OpImageGather %v4 %si f(0.5,0.5) i(0) ConstOffset i(1,0)"), "7 8 4 3"),
    (
        "v4",
        concat!(
            "%l = OpLoad %uint %lix %o = OpIAdd %int %l i(1) %c = OpCompositeConstruct %i2 %o i(0) ",
            sampled!("tex" "near" "OpImageGather %v4 %si f(0.5,0.5) i(0) Offset %c")
        ),
        "7 8 4 3",
    ),
    // With four offsets, each component is the first texel of its footprint.
    ("v4", sampled!("tex" "near" "OpImageGather %v4 %si f(0.5,0.5) i(0) ConstOffsets %four"), "2 3 6 7"),
    // 0.5 < 0.5 fails, 0.5 < 1 and 0.5 < 0.75 hold, and 0.5 < 0.25 fails.
    ("v4", sampled!("depth" "less" "OpImageDrefGather %v4 %si f(0.5,0.5) f(0.5)"), "0 1 1 0"),
    ("v4", sampled!("depth" "cmp" "OpImageDrefGather %v4 %si f(0.5,0.5) f(0.5)"), "1 1 1 0"),
    // Queries.
    ("i2", "%i = OpLoad %img %tex %r = OpImageQuerySizeLod %i2 %i i(0)", "4 2"),
    ("u2", "%i = OpLoad %img %tex %r = OpImageQuerySizeLod %u2 %i u(1)", "2 1"),
    ("i2", "%i = OpLoad %img %tex %r = OpImageQuerySizeLod %i2 %i i(3)", "any(spirv/image-level) any(spirv/image-level)"),
    ("i2", "%i = OpLoad %img %tex %u = OpUndef %int %r = OpImageQuerySizeLod %i2 %i %u", "any(spirv/undef) any(spirv/undef)"),
    ("i2", "%i = OpLoad %suimg %su %r = OpImageQuerySize %i2 %i", "4 1"),
    ("int", "%i = OpLoad %img %tex %r = OpImageQueryLevels %int %i", "3"),
    ("uint", "%i = OpLoad %img %depth %r = OpImageQueryLevels %uint %i", "1"),
    // Storage images.
    ("v4", "%i = OpLoad %stimg %st %r = OpImageRead %v4 %i i(0,0)", "1 0 0 1"),
    ("v4", "%i = OpLoad %stimg %st %r = OpImageRead %v4 %i u(1,0)", "0 1 0 0"),
    ("v4", "%i = OpLoad %stimg %st %r = OpImageRead %v4 %i i(0,1)", "0 0 0 0.5019608~"),
    ("u4", "%i = OpLoad %suimg %su %r = OpImageRead %u4 %i i(2,0)", "9 0 0 1"),
    ("u4", "%i = OpLoad %anyimg %any %r = OpImageRead %u4 %i i(1,0)", "3 4 0 1"),
    ("u4", "%i = OpLoad %suimg %su OpImageWrite %i i(2,0) u(5) %r = OpImageRead %u4 %i i(2,0)", "5 0 0 1"),
    ("v4", "%i = OpLoad %stimg %st OpImageWrite %i i(1,1) f(1,0,2,-1) %r = OpImageRead %v4 %i i(1,1)", "1 0 1 0"),
    // Cubes with layers: a direction and a layer, which is rounded and is at most the last one.
    ("v4", cubes!("near" "OpImageSampleExplicitLod %v4 %si f(1,0.5,-0.5,1) Lod f(0)"), "10 0 0 1"),
    ("v4", cubes!("near" "OpImageSampleExplicitLod %v4 %si f(0.5,0.25,-2,0.25) Lod f(0)"), "5 0 0 1"),
    ("v4", cubes!("near" "OpImageSampleExplicitLod %v4 %si f(0.5,-4,-2,7) Lod f(0)"), "13 0 0 1"),
    ("v4", cubes!("near" "OpImageSampleExplicitLod %v4 %si f(0,1,0,0.5) Lod f(0)"), "2~ 0 0 1"),
    // The gather is around the middle of the one texel of +Z of the second cube. Right of it lies
    // +X, and below it -Y. At the corner lies a third of the sum of 14, 10 and 13.
    ("v4", cubes!("lin" "OpImageGather %v4 %si f(0.25,-0.25,1,1) u(0)"), "13 12.333333~ 10 14"),
    ("i3", "%i = OpLoad %cubimg %cubes %r = OpImageQuerySizeLod %i3 %i i(0)", "1 1 2"),
    // The third coordinate is a slice: 6·1 + 3.
    ("u4", "%i = OpLoad %stcubimg %stcubes %r = OpImageRead %u4 %i i(0,0,9)", "13 0 0 1"),
    ("u4", "%i = OpLoad %stcubimg %stcubes OpImageWrite %i i(0,0,11) u(6) %r = OpImageRead %u4 %i i(0,0,11)", "6 0 0 1"),
    // Samples of an image that nothing has written.
    ("v4", sampled!("blank" "near" "OpImageSampleExplicitLod %v4 %si f(0.5,0.5) Lod f(0)"), "any(spirv/uninitialised) 0 0 1"),
    (
        "v4",
        sampled!("blank" "lin" "OpImageGather %v4 %si f(0.5,0.5) u(0)"),
        "any(spirv/uninitialised) any(spirv/uninitialised) any(spirv/uninitialised) any(spirv/uninitialised)",
    ),
];
