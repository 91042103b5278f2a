//! The contents of scripts, and that the printed text reads back as the same script.

use crate::samples::{COMPUTE, GRAPHICS, VKSCRIPT};
use crate::{round_trip, script};
use pretty_assertions::assert_eq;
use smallstep::amber::*;

#[test]
fn samples_read_and_print_back() {
    for text in [COMPUTE, GRAPHICS, VKSCRIPT] {
        round_trip(&script(text));
    }
    // Line ends of either kind.
    round_trip(&script(&COMPUTE.replace('\n', "\r\n")));
}

#[test]
fn a_compute_script_in_detail() {
    let script = script(COMPUTE);
    assert_eq!(script.requirements.len(), 5);
    assert_eq!((script.requirements[3].kind, script.requirements[3].line.0), (RequirementKind::DeviceExtension, 6));
    assert_eq!(script.fence_timeout_ms, Some(3000));
    assert_eq!(
        (script.shaders[0].version(), script.shaders[1].version(), script.shaders[2].version()),
        (Some((1, 3)), Some((1, 0)), Some((1, 3)))
    );
    assert_eq!(script.shaders[1].source, Source::Words([0x0723_0203, 0x1_0000, 0, 5, 0].as_slice().into()));
    let Source::Foreign { language: Language::Glsl, text } = &script.shaders[2].source else { panic!("GLSL") };
    assert_eq!(&**text, "#version 450\nvoid main() { } // END of it\n");
    let names: Vec<_> = script.buffers.iter().map(|b| (b.name.as_str(), b.items, b.stride)).collect();
    assert_eq!(
        names,
        [
            ("plain", 3, 4),
            ("line", 4, 8),
            ("series", 5, 4),
            ("block", 2, 96),
            ("rounded", 2, 16),
            ("joined", 2, 8),
            ("consts", 16, 1),
            ("plain2", 3, 4)
        ]
    );
    let [first, second] = &script.pipelines[..] else { panic!("two pipelines") };
    assert_eq!(first.shaders[0].specializations[1], Specialization { id: 7, scalar: Scalar::Float32, bits: (-0.1f32).to_bits() });
    assert_eq!(first.push_constants, Some(BufferId(6)));
    assert_eq!(first.bindings[0].resource, Resource::Storage(BufferRange { buffer: BufferId(1), offset: 8, range: Some(16) }));
    assert_eq!((&*second.shaders[0].entry, second.shaders[0].shader), ("other", ShaderId(1)));
    // Two bindings at one place are the elements of an array of descriptors.
    let range = |offset, range| Resource::Storage(BufferRange { buffer: BufferId(7), offset, range: Some(range) });
    assert_eq!(
        second.bindings[3..].iter().map(|b| (b.set, b.binding, b.resource)).collect::<Vec<_>>(),
        [(1, 1, range(0, 8)), (1, 1, range(4, 4))]
    );
    assert_eq!(second.bindings.len(), 5);
    assert_eq!(second.bindings[1].resource, Resource::Storage(BufferRange { buffer: BufferId(2), offset: 0, range: None }));
    assert_eq!(script.commands[0].action, Action::Run(Run { pipeline: PipelineId(0), what: RunKind::Compute([2, 3, 4]) }));
    let Action::Repeat { count: 3, body } = &script.commands[2].action else { panic!("a repetition") };
    assert_eq!(body.len(), 2);
    assert_eq!(COMPUTE.lines().nth(body[1].line.0 as usize - 1), Some("  EXPECT plain IDX 0 EQ 1 2 4294967295"));
}

#[test]
fn a_graphics_script_in_detail() {
    let script = script(GRAPHICS);
    let draw = &script.pipelines[0];
    assert_eq!((draw.framebuffer, draw.cull_mode, draw.front_face), ((64, 32), CullMode::Back, FrontFace::Clockwise));
    assert_eq!(draw.colours, [(0, View { buffer: BufferId(0), level: 0 }), (2, View { buffer: BufferId(1), level: 0 })]);
    assert_eq!(script.buffers[0].extent, Extent::Framebuffer { width: 64, height: 32 });
    assert_eq!((script.buffers[2].items, script.buffers[3].size()), (64 * 32, 64 * 32 * 4));
    assert_eq!(script.buffers[6].format(), Some(Format::R32G32B32A32_SFLOAT));
    assert_eq!(script.samplers[1].address, [AddressMode::ClampToEdge, AddressMode::MirroredRepeat, AddressMode::ClampToBorder]);
    assert_eq!((script.samplers[2].normalized, script.samplers[2].lod), (false, [0, 0]));
    assert_eq!(draw.vertex_data[1].format, Format::named("R8G8_UNORM").ok());
    assert_eq!(script.pipelines[1].vertex_data[1].format, None);
    assert_eq!(&*script.pipelines[1].shaders[0].entry, "there");
    let defaults = crate::script(
        "#!amber\nSHADER vertex v PASSTHROUGH\nSHADER fragment f SPIRV-ASM\nEND\nPIPELINE graphics p\nATTACH v\nATTACH f\nEND",
    );
    assert_eq!((defaults.pipelines[0].framebuffer, &*defaults.pipelines[0].shaders[1].entry), ((250, 250), "main"));
}

#[test]
fn words_of_shaders() {
    let compute = script(COMPUTE);
    let words = compute.shaders[0].words(None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(words[1], 0x1_0300);
    assert_eq!(compute.shaders[1].words(None).map(|w| w.len()), Ok(5));
    let error = compute.shaders[2].words(None).expect_err("GLSL needs a compiler");
    let what = "unsupported: line 28: shader source is GLSL, and no compiler is given for that: --glsl-compiler CMD gives one";
    assert_eq!(error.to_string(), what);
    assert_eq!(compute.shaders[2].words(Some(&|_| Ok(vec![1, 2]))), Ok(vec![1, 2]));
    assert!(matches!(compute.shaders[2].words(Some(&|_| Err(ShaderError::Invalid("no".into())))), Err(ShaderError::Invalid(_))));
    // The passthrough shader is a module that loads.
    let graphics = script(GRAPHICS);
    let words = graphics.shaders[0].words(None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(smallstep_semantics::spirv::decode(&words).map(|_| ()), Ok(()));
    // The place of an error in assembly is its place in the script.
    let wrong = script("#!amber\n\nSHADER compute c SPIRV-ASM\nOpCapability Shader\n  OpNonsense\nEND");
    let error = wrong.shaders[0].words(None).expect_err("no such instruction").to_string();
    assert!(error.starts_with("error[amber]: 5:3: shader c: "), "{error}");
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

#[test]
fn first_contents() {
    let script = script(COMPUTE);
    let held = script.contents();
    assert_eq!(held.0[0].bytes, [1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(held.0[1].bytes, (-7i32).to_le_bytes().repeat(8));
    assert_eq!(floats(&held.0[2].bytes), [0.5, 0.75, 1.0, 1.25, 1.5]);
    assert_eq!(floats(&held.0[4].bytes), [1.5, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0]);
    assert_eq!(held.0[6].bytes, [0x7f; 16]);
    // By hand: `inner` has 8 bytes of p and 2 of q. The counts are at 16, 24 and 32, and the
    // columns of m at 48 and 64. The stride is 96.
    let mut block = vec![0u8; 192];
    for (item, sign) in [(0, 1.0f32), (96, -1.0)] {
        for (at, value) in [(0, 0.5), (4, 1.5), (48, 1.0), (52, 2.0), (64, 3.0), (68, 4.0)] {
            block[item + at..item + at + 4].copy_from_slice(&(sign * value).to_le_bytes());
        }
        block[item + 8..item + 10].copy_from_slice(&(0x4100u16 | if sign < 0.0 { 0x8000 } else { 0 }).to_le_bytes());
        for (at, value) in [(16, 1), (24, 2), (32, 3)] {
            block[item + at..item + at + 4].copy_from_slice(&(sign as i32 * value).to_le_bytes());
        }
    }
    assert_eq!(held.0[3].bytes, block);
    let graphics = crate::script(GRAPHICS);
    assert_eq!(graphics.buffers[7].bytes(), [0, 10, 20, 30, 40, 50]);
    assert_eq!(floats(&graphics.buffers[8].bytes()), [-1.0, -1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0]);
    assert_eq!(graphics.buffers[0].bytes(), [0; 64 * 32 * 4]);
}

#[test]
fn a_series_adds_up() {
    let bytes = |line: &str| script(&format!("#!amber\nBUFFER b DATA_TYPE {line}")).buffers[0].bytes();
    assert_eq!(bytes("uint8 SIZE 4 SERIES_FROM 250 INC_BY 1"), [250, 251, 252, 253]);
    assert_eq!(bytes("int8 SIZE 3 SERIES_FROM 1 INC_BY -2"), [1, 255, 253]);
    assert_eq!(bytes("int8 SIZE 3 SERIES_FROM 127.0 INC_BY 1.0"), [127, 128, 129]);
    // Each sum of doubles is rounded: 0.1 + 0.1 + 0.1 is the double after 0.3.
    let doubles = bytes("double SIZE 4 SERIES_FROM 0 INC_BY 0.1");
    assert_eq!(f64::from_le_bytes(doubles[24..].try_into().expect("eight bytes")), 0.1 + 0.1 + 0.1);
    assert_eq!(bytes("float16 SIZE 2 SERIES_FROM 1 INC_BY 0x1"), [0x00, 0x3c, 0x00, 0x40]);
}

#[test]
fn what_cannot_be_printed() {
    let good = script(COMPUTE);
    let refuses = |change: &dyn Fn(&mut Script), why: &str| {
        let mut script = good.clone();
        change(&mut script);
        let error = script.print().expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    refuses(&|s| s.buffers[0].name = "two words".into(), "is no name");
    refuses(&|s| s.buffers[0].name = String::new(), "is no name");
    refuses(&|s| s.shaders[2].source = Source::Assembly("a\n END # b\n".into()), "begins with END");
    refuses(&|s| s.shaders[2].source = Source::Assembly("a".into()), "does not end");
    refuses(&|s| s.buffers[2].initial = Initial::Data([0x7f80_0000].as_slice().into()), "not finite");
    refuses(&|s| s.commands.push(Command { action: Action::Write { buffer: BufferId(0), lanes: vec![] }, line: Line(0) }), "VkScript");
    let lane = Lane { offset: 2, scalar: Scalar::Uint32, component: 0, bits: 1 };
    let check = Check::Values { comparator: Comparator::Eq, tolerance: vec![], lanes: vec![lane] };
    let expect = Expect { buffer: BufferId(0), check, line: Line(0) };
    refuses(&|s| s.commands.push(Command { action: Action::Expect(expect.clone()), line: Line(0) }), "another type");
    // A NaN without a payload has a name.
    round_trip(&crate::script("#!amber\nBUFFER b DATA_TYPE vec2<float> DATA nan 1 END\nEXPECT b IDX 0 EQ nan 1"));
    // The bits of a NaN fit in a buffer of integers.
    let mut script = good.clone();
    script.buffers[0].initial = Initial::Data([0x7fc0_0000, 1, 2].as_slice().into());
    round_trip(&script);
}

#[test]
fn a_depth_block_reads_and_prints_back() {
    let with = |block: &str| GRAPHICS.replacen("  POLYGON_MODE fill\n", &format!("  POLYGON_MODE fill\n  DEPTH\n{block}  END\n"), 1);
    let read = script(&with("    TEST on\n    WRITE on\n    COMPARE_OP greater_or_equal\n    CLAMP on\n    BOUNDS off\n"));
    let expected = DepthState { test: true, write: true, compare: Compare::GreaterOrEqual, clamp: true, ..DepthState::default() };
    let depths =
        |script: &Script| script.pipelines.iter().filter(|p| p.name == "draw" || p.name == "again").map(|p| p.depth).collect::<Vec<_>>();
    assert_eq!(depths(&read), [expected, expected], "a derived pipeline has it too");
    round_trip(&read);
    assert_eq!(depths(&script(GRAPHICS)), [DepthState::default(); 2]);
    let moved = script(&with("    BOUNDS min 0.25 max 1\n    BIAS constant -3 clamp 0.5 slope 2.5\n"));
    let (bounds, bias) = (Some([0.25f32, 1.0].map(f32::to_bits)), Some([-3.0f32, 0.5, 2.5].map(f32::to_bits)));
    assert_eq!(depths(&moved), [DepthState { bounds, bias, ..DepthState::default() }; 2]);
    round_trip(&moved);
    for (line, said) in [
        ("BIAS on", "where constant should stand"),
        ("BIAS constant 1 clamp 2", "the line ends where slope should stand"),
        ("BOUNDS min 0 max nan", "found `nan`, where a number should stand"),
        ("BOUNDS max 1 min 0", "where min should stand"),
        ("TEST maybe", "on or off"),
        ("FAR 1", "a command of DEPTH or END"),
    ] {
        let errors = smallstep::amber::read(&with(&format!("    {line}\n"))).expect_err(line);
        assert!(errors.iter().any(|e| e.to_string().contains(said)), "{errors:?}");
    }
}
