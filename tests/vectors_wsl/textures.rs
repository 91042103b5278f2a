//! Dispatches with textures and samplers: every type of texture, undefined texels, every setting of
//! a sampler, files that were tampered with, hostile files.

use super::*;
use pretty_assertions::assert_eq;
use smallstep::vectors::wsl::SCHEMA_OF_IMAGES;
use smallstep::vectors::wsl::bound::MAX_COMPONENTS;
use smallstep::vectors::wsl::format::Dispatch;
use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Image, Sampler, Shape};

const BLUR: &str = include_str!("../../examples/wsl/blur.wsl");

fn with(program: &str, given: Vec<(&str, grid::ResourceInput)>) -> Result<String, String> {
    let bound = given.into_iter().map(|(name, given)| (ResourceRef::Name(name.into()), given)).collect();
    given_as(program, &ProgramChecks::Dispatch { entry: None, groups: [1; 3], bound })
}

fn bound(program: &str, given: &[(&str, &str)]) -> Result<String, String> {
    with(program, given.iter().map(|(name, text)| (*name, grid::ResourceInput::Text(text.to_string()))).collect())
}

/// A picture of four texels, filtered into a second picture that is written.
pub(super) fn blurred() -> String {
    let picture = ("picture", "R32_SFLOAT 2x2 0 0x3f800000 0x3f800000 0x40000000");
    bound(BLUR, &[picture, ("filters", "linear edge"), ("out", "R8_UNORM 2x2")]).expect("it is recorded")
}

fn dispatch(file: &str) -> Dispatch {
    match cases(file).remove(0).checks {
        Checks::Dispatch(dispatch) => dispatch,
        Checks::Calls(_) => panic!("it is a dispatch"),
    }
}

fn texts(lanes: &[Lane]) -> String {
    lanes.iter().map(Lane::text).collect::<Vec<_>>().join(" ")
}

/// Requires that the file has version 4, reads back to the same bytes, and that both engines agree
/// with it. If it has lanes of any value, the verdict is undecided.
#[track_caller]
fn conforms(file: &str) {
    let header = Case::header(file.lines().next().expect("a header")).expect("it was written so");
    assert_eq!(header.schema, SCHEMA_OF_IMAGES);
    assert_eq!(header.to_line() + &cases(file).iter().map(Case::to_line).collect::<String>(), file);
    for engine in OwnEngine::ALL {
        let verdict = verdict(file, engine);
        match file.contains("\"any:") {
            true => assert!(matches!(verdict, Verdict::Undecided(_)), "{engine:?}: {verdict:?}"),
            false => assert_eq!(verdict, Verdict::Agree, "{engine:?}"),
        }
    }
}

#[test]
fn a_filtered_picture_goes_out_and_in() {
    let file = blurred();
    conforms(&file);
    let dispatch = dispatch(&file);
    assert_eq!((dispatch.buffers.len(), dispatch.images.len(), dispatch.samplers.len()), (0, 2, 1));
    let (picture, out) = (&dispatch.images[0], &dispatch.images[1]);
    assert_eq!((picture.ty.as_str(), picture.expected.len()), ("Texture2D<float>", 0));
    assert_eq!((out.ty.as_str(), out.register.as_str()), ("RWTexture2D<float>", "u0"));
    let says = [
        "\"format\":\"R32_SFLOAT\",\"shape\":\"2d\",\"sides\":[2,2,1],\"levels\":1,\"given\":[\"00000000\",\"3f800000\",\"3f800000\",\"40000000\"],\"expected\":[]",
        "\"given\":[\"undefined\",\"undefined\",\"undefined\",\"undefined\"],\"expected\":[\"",
        "\"mag\":\"linear\",\"min\":\"linear\",\"mip\":\"linear\",\"address\":[\"clamp-to-edge\",\"clamp-to-edge\",\"clamp-to-edge\"],\
         \"border\":\"transparent-black\",\"unnormalized\":false,\"lod_bias\":\"00000000\",\"lod_min\":\"00000000\",\"lod_max\":\"447a0000\",\"compare\":\"none\"}",
    ];
    for says in says {
        assert!(file.contains(says), "{file} lacks {says}");
    }
    // The last three averages are at least 1, the greatest code.
    assert_eq!(out.expected[0].admits(0x3f00_8081, Scalar::Float), Some(true), "128/255");
    assert_eq!(out.expected[0].admits(0x3f40_c0c1, Scalar::Float), Some(false), "192/255");
    assert_eq!(out.expected[3], Lane::Exactly(0x3f80_0000));
}

#[test]
fn textures_of_every_type_are_given_and_shown() {
    let read = |ty: &str, at: &str| {
        format!(
            "[numthreads(1, 1, 1)] compute void main({ty} t : register(t0), device uint[] out : register(u0)) {{ out[0] = Load(t, {at}); }}"
        )
    };
    for (program, texels, expected) in [
        (read("Texture1D<uint>", "int2(1, 1)"), "R8_UINT 1d 4 levels=2 1 2 3 4 5 6", "00000006"),
        (read("Texture1DArray<uint>", "int3(1, 1, 0)"), "R8_UINT 1d 2 layers=2 1 2 3 4", "00000004"),
        (read("Texture2D<uint>", "int3(0, 1, 0)"), "R16_UINT 2x2 levels=2 1 2 3 4 5", "00000003"),
        (read("Texture2DArray<uint>", "int4(1, 0, 2, 0)"), "R32_UINT 2x1 layers=3 1 2 3 4 5 0xffffffff", "ffffffff"),
        (read("Texture3D<uint>", "int4(0, 0, 1, 0)"), "R8_UINT 3d 2x1x2 levels=2 1 2 3 4 5", "00000003"),
        (read("Texture2D<uint4>", "int3(0, 0, 0)).z"), "R16G16B16A16_UINT 1x1 0x4444333322221111", "00003333"),
        (read("TextureDepth2D", "int3(1, 0, 0)) > 0.25 ? 5u : (6u"), "D32_SFLOAT 2x1 0 0x3f000000", "00000005"),
        (read("TextureDepth2DArray", "int4(0, 0, 1, 0)) > 0.25 ? 5u : (6u"), "D16_UNORM 1x1 layers=2 0 0xffff", "00000005"),
    ] {
        let program = program.replace(").z)", ").z");
        let file = bound(&program, &[("t", texels), ("out", "u32:0")]).unwrap_or_else(|e| panic!("{program}: {e}"));
        conforms(&file);
        assert_eq!(texts(&dispatch(&file).buffers[0].expected), expected, "{program}");
    }
    for (ty, texels, stored, expected) in [
        ("RWTexture1D<uint>", "R8_UINT 1d 3 1 2 3", "9u, 1", "00000001 00000009 00000003"),
        ("RWTexture1DArray<uint>", "R8_UINT 1d 2 layers=2 1 2 3 4", "9u, int2(0, 1)", "00000001 00000002 00000009 00000004"),
        ("RWTexture2D<int2>", "R16G16_SINT 1x2 1 2", "int2(-1, -32768), int2(0, 1)", "00000001 00000000 ffffffff ffff8000"),
        (
            "RWTexture2DArray",
            "R8G8B8A8_UNORM 1x1 layers=2",
            "float4(0, 1, 1, 0), int3(0, 0, 1)",
            "any:unspecified any:unspecified any:unspecified any:unspecified 00000000 3f800000 3f800000 00000000",
        ),
        ("RWTexture2D", "A2B10G10R10_UNORM_PACK32 1x1 0", "float4(1, 0, 0, 1), int2(0, 0)", "3f800000 00000000 00000000 3f800000"),
        ("RWTexture3D<float>", "R32_SFLOAT 3d 1x1x2 1 2", "0.5, int3(0, 0, 1)", "00000001 3f000000"),
        ("RWTextureDepth2D", "D32_SFLOAT 2x1 0 0x3f800000", "0.5, int2(1, 0)", "00000000 3f000000"),
        ("RWTextureDepth2DArray", "D32_SFLOAT 1x1 layers=2 0 0", "0.5, int3(0, 0, 1)", "00000000 3f000000"),
    ] {
        let program = format!("[numthreads(1, 1, 1)] compute void main({ty} t : register(u0)) {{ Store(t, {stored}); }}");
        let file = bound(&program, &[("t", texels)]).unwrap_or_else(|e| panic!("{program}: {e}"));
        conforms(&file);
        assert_eq!(texts(&dispatch(&file).images[0].expected), expected, "{program}");
    }
    for (ty, texels) in
        [("TextureCube<uint>", "R8_UINT cube 1x1 1 2 3 4 5 6"), ("TextureDepthCube", "D32_SFLOAT cube 1x1 0 0 0 0x40800000 0 0")]
    {
        let program = format!(
            "[numthreads(1, 1, 1)] compute void main({ty} t : register(t0), sampler s : register(s0), device float[] out : register(u0)) {{
                out[0] = float(SampleLevel(t, s, float3(0, -1, 0), 0)); }}"
        );
        let file = bound(&program, &[("t", texels), ("s", "nearest edge"), ("out", "u32:0")]).unwrap_or_else(|e| panic!("{program}: {e}"));
        conforms(&file);
        assert_eq!(texts(&dispatch(&file).buffers[0].expected), "40800000", "the face -Y of {ty}");
    }
}

/// Samples at a place outside of the texture, at a level between two levels.
const SAMPLED: &str = "[numthreads(1, 1, 1)] compute void main(Texture2D<float> t : register(t0), sampler s : register(s0, space2), device float[] out : register(u0)) {
    out[0] = SampleLevel(t, s, float2(1.125, 0.5), 0.75);
}";

fn sampled(sampler: Sampler) -> Result<String, String> {
    let texels =
        grid::ResourceInput::Text("R32_SFLOAT 4x1 levels=2 0x3f800000 0x40000000 0x40800000 0x41000000 0x41800000 0x42000000".into());
    with(SAMPLED, vec![("t", texels), ("s", grid::ResourceInput::Sampler(sampler)), ("out", grid::ResourceInput::Text("u32:0".into()))])
}

#[test]
fn every_setting_of_a_sampler_is_kept() {
    let plain = Sampler::default();
    let compared = Compare::ALL.map(|compare| Sampler { compare: Some(compare), ..plain });
    let addressed = AddressMode::ALL.map(|mode| Sampler { address: [mode, AddressMode::ClampToEdge, AddressMode::Repeat], ..plain });
    let borders = [Border::OpaqueBlack, Border::OpaqueWhite].map(|border| Sampler { border, ..plain });
    let more = [
        Sampler { mag: Filter::Linear, ..plain },
        Sampler { min: Filter::Linear, ..plain },
        Sampler { mip: Filter::Linear, ..plain },
        Sampler { unnormalized: true, lod_max: 0.0, ..plain },
        Sampler { lod_bias: -0.5, ..plain },
        Sampler { lod_min: 1.0, ..plain },
        Sampler { lod_max: 0.25, ..plain },
        Sampler { lod_min: f32::NEG_INFINITY, lod_max: f32::INFINITY, lod_bias: f32::INFINITY, ..plain },
    ];
    for sampler in [plain].into_iter().chain(compared).chain(addressed).chain(borders).chain(more) {
        let file = sampled(sampler).unwrap_or_else(|e| panic!("{sampler:?}: {e}"));
        conforms(&file);
        let found = &dispatch(&file).samplers[0];
        assert_eq!((found.sampler, found.register.as_str()), (sampler, "s0, space2"));
    }
    for (sampler, says) in [
        (Sampler { lod_bias: f32::NAN, ..plain }, "`lod_bias` of `s` is no number"),
        (Sampler { lod_min: 2.0, lod_max: 1.0, ..plain }, "`lod_min` of `s` is 2, which is greater than its `lod_max`, 1"),
    ] {
        let error = sampled(sampler).expect_err(says);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn components_may_be_undefined_one_by_one() {
    let program = "[numthreads(1, 1, 1)] compute void main(Texture2D<uint2> t : register(t0), device uint2[] out : register(u0)) { out[0] = Load(t, int3(1, 0, 0)); }";
    let mut image = Image::of_shape(Format::Rg32Uint, Shape::D2, [2, 1, 1], 1).expect("it is made");
    image.set_raw(0, 1, 7 << 32, 0b01).expect("it is there");
    assert_eq!((image.set_raw(0, 2, 0, 0), image.set_raw(1, 0, 0, 0)), (None, None));
    let of =
        |image: Image| with(program, vec![("t", grid::ResourceInput::Image(image)), ("out", grid::ResourceInput::Text("u32:0,0".into()))]);
    let file = of(image.clone()).expect("it is recorded");
    conforms(&file);
    assert!(file.contains("\"given\":[\"undefined\",\"undefined\",\"undefined\",\"00000007\"]"), "{file}");
    let found = dispatch(&file);
    assert_eq!(found.images[0].image, image);
    assert_eq!(texts(&found.buffers[0].expected), "any:unspecified 00000007");
    // If a file defines an undefined texel, its expected set is too wide, and the relation sees it.
    // If a file makes a defined texel undefined, the machine sees it too.
    let defined = file.replace("\"undefined\",\"00000007\"", "\"00000001\",\"00000007\"");
    assert!(matches!(verdict(&defined, OwnEngine::Reference), Verdict::Disagree(_)));
    let undefined = file.replace("\"undefined\",\"00000007\"", "\"undefined\",\"undefined\"");
    for engine in OwnEngine::ALL {
        assert!(matches!(verdict(&undefined, engine), Verdict::Disagree(_)), "{engine:?}");
    }
    // A rounded code may be its neighbour, which a line cannot express.
    let mut rounded = Image::new(Format::R8Unorm, 1, 1, 1).expect("it is made");
    rounded.write(0, 0, [0.3f32.to_bits(), 0, 0, 0], 0).expect("it is there");
    let program = "[numthreads(1, 1, 1)] compute void main(RWTexture2D<float> t : register(u0)) { }";
    assert_eq!(with(program, vec![("t", grid::ResourceInput::Image(rounded))]), Err("the case holds what a line does not say".into()));
}

#[test]
fn a_wrong_texel_and_a_wrong_setting_are_disagreements() {
    let program = "[numthreads(2, 2, 1)] compute void main(uint3 id : SV_DispatchThreadID, Texture2D<uint> t : register(t0), sampler s : register(s0),
                                                             RWTexture2D<uint2> out : register(u0)) {
        uint across = SampleLevel(t, s, float2(float(id.x) * 2.0 + 0.25, 0.25), 0);
        Store(out, uint2(Load(t, int3(int(id.x), int(id.y), 0)), across), id.xy);
    }";
    let file = bound(program, &[("t", "R8_UINT 2x2 1 2 3 4"), ("s", "nearest edge"), ("out", "R32G32_UINT 2x2")]).expect("it is recorded");
    conforms(&file);
    let expected = "\"00000001\",\"00000001\",\"00000002\",\"00000002\",\"00000003\",\"00000001\",\"00000004\",\"00000002\"]";
    assert!(file.contains(expected), "{file}");
    for (from, to, says) in [
        (
            "\"00000004\",\"00000002\"]",
            "\"00000005\",\"00000002\"]",
            "`out`, texel (1, 1, 0), component 0: expected 00000005, saw 00000004",
        ),
        ("\"00000003\",\"00000001\"", "\"00000003\",\"00000002\"", "`out`, texel (0, 1, 0), component 1: expected 00000002, saw 00000001"),
        // Given values.
        (
            "\"given\":[\"00000001\",\"00000002\"",
            "\"given\":[\"00000001\",\"00000007\"",
            "`out`, texel (1, 0, 0), component 0: expected 00000002, saw 00000007 (and 2 more)",
        ),
        ("\"clamp-to-edge\"", "\"repeat\"", "`out`, texel (1, 0, 0), component 1: expected 00000002, saw 00000001 (and 1 more)"),
        // Another arrangement of the same texels.
        (
            "\"sides\":[2,2,1],\"levels\":1,\"given\":[\"00000001\",\"00000002\",\"00000003\",\"00000004\"]",
            "\"sides\":[2,2,1],\"levels\":1,\"given\":[\"00000001\",\"00000003\",\"00000002\",\"00000004\"]",
            "`out`, texel (1, 0, 0), component 0: expected 00000002, saw 00000003",
        ),
    ] {
        let changed = file.replacen(from, to, 1);
        assert_ne!(changed, file, "{from} is not in the file");
        for engine in OwnEngine::ALL {
            let why = verdict(&changed, engine).why();
            // The machine sees each difference three times, so it counts more.
            let says = if engine == OwnEngine::Machine { says.split(" (and").next().unwrap_or_default() } else { says };
            assert!(why.contains(says), "{engine:?}: {why:?} lacks {says:?}");
        }
    }
    // If the file expects any value where there is only one, the relation disagrees and the machine
    // does not.
    let file = file.replace(expected, &expected.replace("00000004", "any:unspecified"));
    assert!(matches!(verdict(&file, OwnEngine::Reference), Verdict::Disagree(_)));
    assert!(matches!(verdict(&file, OwnEngine::Machine), Verdict::Undecided(_)));
}

#[test]
fn hostile_images_and_samplers_are_named() {
    let file = blurred();
    let picture = "\"sides\":[2,2,1],\"levels\":1,\"given\":[\"00000000\"";
    let sides = |sides: &str| format!("\"sides\":{sides},\"levels\":1,\"given\":[\"00000000\"");
    let levels = |levels: &str| format!("\"sides\":[2,2,1],\"levels\":{levels},\"given\":[\"00000000\"");
    let many = "\"00000000\",".repeat(MAX_COMPONENTS as usize + 1);
    let large =
        format!("\"R32_SFLOAT\",\"shape\":\"2d\",\"sides\":[{},1,1],\"levels\":1,\"given\":[{many}\"00000000\"", MAX_COMPONENTS + 5);
    for (from, to, says) in [
        // Numbers that are implausible.
        (picture, sides("[4294967295,4294967295,4294967295]").as_str(), "level 0 alone has 79228162458924105385300197375"),
        (picture, &sides("[16384,16384,1]"), "`given` of `picture` has 4 components; level 0 alone has 268435456"),
        (picture, &sides("[4294967296,1,1]"), "invalid value"),
        (picture, &sides("[0,4294967295,1]"), "`picture`: an image has a side of 0 texels"),
        (picture, &sides("[2,1,1]"), "`given` of `picture` has 4 components; 2 are needed"),
        (picture, &sides("[1,1,4]"), "`picture`: an image of two dimensions has one layer"),
        (picture, &sides("[2,2]"), "invalid length 2"),
        (picture, &sides("[-2,2,1]"), "invalid value"),
        (picture, &levels("0"), "an image has 0 levels; of its size it has 1 to 2"),
        (picture, &levels("2"), "`given` of `picture` has 4 components; 5 are needed"),
        (picture, &levels("4294967295"), "an image has 4294967295 levels"),
        (&format!("\"R32_SFLOAT\",\"shape\":\"2d\",{picture}"), &large, "the images have 1048585 components together"),
        // Texels.
        ("\"3f800000\"", "\"3f80000\"", "eight lower-case hexadecimal digits, or \"undefined\""),
        ("\"3f800000\"", "\"3F800000\"", "hexadecimal digits"),
        ("\"3f800000\"", "null", "invalid type"),
        ("\"R32_SFLOAT\"", "\"R8_UNORM\"", "`given` of `picture` has the code 3f800000 where R8_UNORM has a component of 8 bits"),
        ("\"R32_SFLOAT\"", "\"R16G16_SFLOAT\"", "`given` of `picture` has 4 components; level 0 alone has 8"),
        ("\"expected\":[]", "\"expected\":[\"00000000\"]", "`expected` of `picture` has 1 lanes; 0 are needed"),
        ("\"expected\":[\"", "\"expected\":[\"00000000\",\"", "`expected` of `out` has 5 lanes; 4 are needed"),
        // Types.
        ("\"R32_SFLOAT\"", "\"R32_FLOAT\"", "no format is called \"R32_FLOAT\""),
        ("\"R32_SFLOAT\"", "\"VK_FORMAT_R32_SFLOAT\"", "no format is called \"VK_FORMAT_R32_SFLOAT\""),
        (
            "\"R32_SFLOAT\"",
            "\"R32_UINT\"",
            "for the texture picture: the image is of R32_UINT, which has other numbers than the type float",
        ),
        ("\"shape\":\"2d\"", "\"shape\":\"2d-array\"", "for the texture picture: the image is of two dimensions with layers"),
        ("\"shape\":\"2d\"", "\"shape\":\"cube\"", "a cube has six faces"),
        ("\"shape\":\"2d\"", "\"shape\":\"4d\"", "no shape of images is called \"4d\""),
        ("\"Texture2D<float>\"", "\"Texture2D<float4>\"", "the image `picture` (t0) of Texture2D<float4> stands where `picture` (t0) of"),
        ("\"name\":\"picture\"", "\"name\":\"out\"", "stands where `picture` (t0) of Texture2D<float> is needed"),
        ("\"register\":\"t0\"", "\"register\":\"t1\"", "the image `picture` (t1) of Texture2D<float> stands where `picture` (t0)"),
        ("\"register\":\"s0\"", "\"register\":\"s1\"", "the sampler `filters` (s1) stands where `filters` (s0) is needed"),
        ("\"images\":[", "\"others\":[", "`images` has 0; `blur` takes 2"),
        ("\"samplers\":[", "\"others\":[", "`samplers` has 0; `blur` takes 1"),
        ("\"buffers\":[]", "\"buffers\":null", "invalid type"),
        // Settings.
        ("\"mag\":\"linear\"", "\"mag\":\"cubic\"", "no filter is called \"cubic\""),
        ("\"mip\":\"linear\",", "", "missing field `mip`"),
        ("[\"clamp-to-edge\",", "[", "invalid length 2"),
        ("\"clamp-to-edge\"", "\"clamp\"", "no address mode is called \"clamp\""),
        ("\"transparent-black\"", "\"black\"", "no border colour is called \"black\""),
        ("\"unnormalized\":false", "\"unnormalized\":0", "invalid type"),
        ("\"lod_max\":\"447a0000\"", "\"lod_max\":\"7fc00000\"", "`lod_max` of `filters` is no number"),
        ("\"lod_max\":\"447a0000\"", "\"lod_max\":\"bf800000\"", "`lod_min` of `filters` is 0, which is greater than its `lod_max`, -1"),
        ("\"lod_max\":\"447a0000\"", "\"lod_max\":1000", "invalid type"),
        ("\"compare\":\"none\"", "\"compare\":\"sometimes\"", "no comparison is called \"sometimes\""),
        ("\"compare\":\"none\"", "\"compare\":null", "invalid type"),
        // Versions.
        ("{\"schema\":4,\"kind\":\"case\"", "{\"schema\":3,\"kind\":\"case\"", "a case with images or samplers has version 4, not 3"),
        (
            "{\"schema\":4,\"kind\":\"header\"",
            "{\"schema\":3,\"kind\":\"header\"",
            "a case that needs version 4 stands in a file of version 3",
        ),
    ] {
        let changed = file.replacen(from, to, 1);
        assert_ne!(changed, file, "{from} is not in the file");
        let mut all = replayed(&changed, OwnEngine::Machine);
        assert_eq!(all.len(), 1);
        let error = all.remove(0).expect_err(says);
        assert!(error.line == 2 && error.what.contains(says), "{error} lacks {says:?}");
    }
    // A line that is cut anywhere is an error, and the program goes on.
    let case = file.lines().nth(1).expect("a case");
    for end in (0..case.len()).step_by(7).filter(|end| case.is_char_boundary(*end)) {
        assert!(Case::case(&case[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn what_cannot_be_bound_is_told() {
    let (filters, out) = (("filters", "linear edge"), ("out", "R8_UNORM 2x2"));
    for (given, says) in [
        (&[filters, out][..], "nothing is given for picture (t0)"),
        (&[("picture", "R32_UINT 2x2"), filters, out], "has other numbers than the type float"),
        (&[("picture", "R32_SFLOAT 2x2"), ("filters", "sharp"), out], "for the sampler filters: `sharp` says nothing"),
        (
            &[("picture", "R32_SFLOAT 2048x1024"), filters, out],
            "the images have 2097156 components together; those of a case have at most 1048576",
        ),
    ] {
        let error = bound(BLUR, given).expect_err(says);
        assert!(error.contains(says), "{error} lacks {says:?}");
    }
}
