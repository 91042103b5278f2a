//! Storage images: what is written, what is observed, and which invocation may see a texel when.

use std::ops::ControlFlow;

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{BoundImage, InvocationId, ObservedImage, UndefinedTexels};
use smallstep_semantics::spirv::grid::{self, DoubtfulTexels, Report};
use smallstep_semantics::spirv::step::Relation;

use super::module::{Bound, load, report, shown, text};

fn image(report: &Report) -> &ObservedImage {
    match &report.outcome {
        Outcome::Observed(observation) => &observation.images[0],
        other => panic!("{other:?}"),
    }
}

/// Runs a body that writes to `%any`, an image of that format with 2 by 1 texels. All texels are
/// zeros at first.
fn written(format: Format, body: &str) -> Report {
    let mut bound = Bound::new();
    bound.images.retain(|image| image.binding != 16);
    let mut fresh = Image::new(format, 2, 1, 1).expect("two texels");
    fresh.fill(0, &vec![0; 2 * format.bytes()]).expect("two texels");
    bound.images.push(BoundImage { set: 0, binding: 16, image: fresh });
    let mut text = text("", body, 1, "");
    if !format.numeric().is_integer() {
        text = text.replace("%anyimg = OpTypeImage %uint 2D", "%anyimg = OpTypeImage %float 2D");
    }
    report(&load(&text), &bound, &Relation::default())
}

#[test]
fn texels_are_written_in_their_format() {
    let certain = |format, body: &str, expected: &[u8]| {
        let report = written(format, &format!("%i = OpLoad %anyimg %any OpImageWrite %i i(1,0) {body}"));
        let observed = image(&report);
        assert_eq!(&observed.bytes[format.bytes()..], expected, "{} {body}", format.name());
        assert_eq!((observed.format, observed.size, observed.set, observed.binding), (format, [2, 1, 1], 0, 16));
        assert!(observed.bytes[..format.bytes()].iter().all(|&byte| byte == 0));
        assert!(observed.undefined.is_empty() && report.doubtful_texels.is_empty(), "{} {body}: {report:?}", format.name());
    };
    certain(Format::Rgba8Unorm, "f(0,1,2,-1)", &[0, 255, 255, 0]);
    certain(Format::Bgra8Unorm, "f(1,0,0,1)", &[0, 0, 255, 255]);
    certain(Format::Rgba8Snorm, "f(-1,1,0,-7)", &[0x81, 0x7f, 0, 0x81]);
    certain(Format::R8Uint, "u(255,9,9,9)", &[255]);
    certain(Format::Rg16Uint, "u(1,65535,9,9)", &[1, 0, 255, 255]);
    certain(Format::R16Sfloat, "f(1,9,9,9)", &[0, 0x3c]);
    certain(Format::R32Sfloat, "f(-0.75,9,9,9)", &(-0.75f32).to_le_bytes());
    // Red 1 of 1023, green 1023, blue 0, alpha 3 of 3.
    certain(Format::Rgb10A2Unorm, "f(0,1,0,1)", &((0x3ff_u32 << 10) | (3 << 30)).to_le_bytes());
}

/// The device rounds, so a value is stored as the nearest code or its neighbour. A NaN may be
/// any NaN.
#[test]
fn what_is_rounded_is_doubtful() {
    let doubts = |format, body: &str| {
        let report = written(format, &format!("%i = OpLoad %anyimg %any OpImageWrite %i i(1,0) {body}"));
        (image(&report).bytes[format.bytes()..].to_vec(), report.doubtful_texels)
    };
    let doubt = |component, why| DoubtfulTexels { image: 0, component, start: 1, end: 2, why };
    // 127.5 is rounded to even.
    assert_eq!(doubts(Format::R8Unorm, "f(0.5,0,0,0)"), (vec![128], vec![doubt(0, Why::Texel)]));
    assert_eq!(doubts(Format::Rgba8Unorm, "f(1,0.5,0,0)"), (vec![255, 128, 0, 0], vec![doubt(1, Why::Texel)]));
    assert_eq!(doubts(Format::R32Sfloat, "f(0x1.8p+128,0,0,0)").1, [doubt(0, Why::NaN)]);
    // A value that is in doubt itself keeps its own reason.
    let report = written(
        Format::R32Sfloat,
        "%x = OpExtInst %float %glsl Sin f(0) %v = OpCompositeConstruct %v2 %x %x %i = OpLoad %anyimg %any OpImageWrite %i i(1,0) %v",
    );
    assert_eq!(report.doubtful_texels, [doubt(0, Why::Approximate)]);
    // When it is read again, it is still in doubt.
    let report = super::outcome(
        "v4",
        "%x = OpExtInst %float %glsl Cos f(0) %v = OpCompositeConstruct %v4 %x f(0) f(0) f(0) %i = OpLoad %stimg %st
        OpImageWrite %i i(1,0) %v %r = OpImageRead %v4 %i i(1,0)",
        &Bound::new(),
        &Relation::default(),
    );
    assert_eq!(shown("v4", &report), "1~ 0 0 0");
    // Once it is overwritten, it is certain.
    let report = written(Format::R8Unorm, "%i = OpLoad %anyimg %any OpImageWrite %i i(1,0) f(0.5,0,0,0) OpImageWrite %i i(1,0) f(1,0,0,0)");
    assert_eq!((image(&report).bytes.as_slice(), report.doubtful_texels.as_slice()), (&[0, 255][..], &[][..]));
}

#[test]
fn undefined_components_are_observed_with_their_origin() {
    let body = "%x = OpUndef %uint %v = OpCompositeConstruct %u4 u(9) %x u(9) u(9) %i = OpLoad %anyimg %any OpImageWrite %i i(1,0) %v";
    let report = written(Format::Rg16Uint, body);
    let undefined = &image(&report).undefined;
    let made_by = InvocationId { workgroup: 0, local: 0 };
    assert_eq!(undefined.len(), 1);
    let UndefinedTexels { component, start, end, made, kind } = undefined[0];
    assert_eq!((component, start, end, kind, made.map(|(_, by)| by)), (1, 1, 2, "spirv/undef", Some(made_by)));
    assert_eq!(image(&report).bytes, [0, 0, 0, 0, 9, 0, 0, 0]);
    let module = load(&text("", body, 1, ""));
    assert_eq!(made.map(|(at, _)| module.instructions()[at as usize].name()), Some("OpUndef".to_string()));
    // Integers that do not fit, and components that are missing.
    let kinds = |body: &str| {
        let report = written(Format::Rg16Uint, &format!("%i = OpLoad %anyimg %any OpImageWrite %i i(0,0) {body}"));
        image(&report).undefined.iter().map(|u| (u.component, u.start, u.kind)).collect::<Vec<_>>()
    };
    assert_eq!(kinds("u(65536,65535)"), [(0, 0, "spirv/image-conversion")]);
    assert_eq!(kinds("u(5)"), [(1, 0, "spirv/image-conversion")]);
    // No instruction made the undefined texels that the image held before.
    let mut bound = Bound::new();
    bound.images.retain(|image| image.binding != 9);
    bound.images.push(BoundImage { set: 0, binding: 9, image: Image::new(Format::R32Uint, 4, 1, 1).expect("four texels") });
    let module = load(&text("", "%i = OpLoad %suimg %su OpImageWrite %i i(1,0) u(5)", 1, ""));
    let report = report_of(&module, &bound);
    let before = |start, end| UndefinedTexels { component: 0, start, end, made: None, kind: "spirv/uninitialised" };
    assert_eq!(image(&report).undefined, [before(0, 1), before(2, 4)]);
}

fn report_of(module: &smallstep_semantics::spirv::Module, bound: &Bound) -> Report {
    report(module, bound, &Relation::default())
}

/// An undefined value keeps its origin through an image, to the buffer.
#[test]
fn origins_go_through_images() {
    let body = "%x = OpUndef %uint %i = OpLoad %suimg %su OpImageWrite %i i(1,0) %x %t = OpImageRead %u4 %i i(1,0)
        %r = OpCopyObject %u4 %t";
    let module = load(&text("u4", body, 1, ""));
    let report = report(&module, &Bound::new(), &Relation::default());
    assert_eq!(shown("u4", &report), "any(spirv/undef) 0 0 1");
    let Outcome::Observed(observation) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(module.instructions()[observation.buffers[0].undefined[0].made_at as usize].name(), "OpUndef");
}

#[test]
fn writes_out_of_bounds_change_nothing() {
    let body = "%i = OpLoad %suimg %su OpImageWrite %i i(4,0) u(5) OpImageWrite %i i(0,1) u(5) OpImageWrite %i i(-1,0) u(5)";
    let observed = report(&load(&text("", body, 1, "")), &Bound::new(), &Relation::default());
    let words: Vec<u32> = image(&observed).bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect();
    assert_eq!(words, [7, 8, 9, 10]);
}

/// Two invocations. Each writes the texel of its index and reads the other's texel, with this
/// barrier in between.
fn exchange(barrier: &str) -> Report {
    let body = format!(
        "%l = OpLoad %uint %lix %o = OpISub %uint u(1) %l %i = OpLoad %suimg %su %mine = OpCompositeConstruct %u2 %l u(0)
        %other = OpCompositeConstruct %u2 %o u(0) %v = OpIAdd %uint %l u(50) OpImageWrite %i %mine %v {barrier}
        %t = OpImageRead %u4 %i %other %e = OpCompositeExtract %uint %t 0 %p = OpAccessChain %pword %buf u(0) %l OpStore %p %e"
    );
    report(&load(&text("", &body, 2, "")), &Bound::new(), &Relation::default())
}

#[test]
fn texels_are_shared_memory_in_the_class_of_images() {
    let barrier = |semantics: u32| exchange(&format!("OpControlBarrier u(2) u(2) u({semantics})"));
    // AcquireRelease of ImageMemory.
    let clean = barrier(0x808);
    let Outcome::Observed(observation) = &clean.outcome else { panic!("{:?}", clean.outcome) };
    assert_eq!(&observation.buffers[0].bytes[..8], [51, 0, 0, 0, 50, 0, 0, 0]);
    // UniformMemory or WorkgroupMemory, no memory at all, and no barrier.
    for report in [barrier(0x48), barrier(0x108), barrier(0), exchange("")] {
        let Outcome::Undefined(undefined) = &report.outcome else { panic!("{:?}", report.outcome) };
        assert_eq!(undefined.ub.id(), "spirv/data-race");
        assert!(undefined.what.contains("OpImageRead races with the earlier OpImageWrite"), "{}", undefined.what);
        assert!(undefined.what.contains("in texel (1, 0) of the image at set 0, binding 9"), "{}", undefined.what);
    }
}

/// Neighbouring texels are separate, even if they share a word. Two writes of one texel race.
#[test]
fn texels_race_one_by_one() {
    let write = |x: &str| {
        let body = format!(
            "%l = OpLoad %uint %lix %i = OpLoad %anyimg %any %c = OpCompositeConstruct %u2 {x} u(0) %v = OpCompositeConstruct %u2 %l %l
            OpImageWrite %i %c %v"
        );
        let mut bound = Bound::new();
        bound.images.retain(|image| image.binding != 16);
        bound.images.push(BoundImage { set: 0, binding: 16, image: Image::new(Format::R8Uint, 4, 1, 1).expect("four texels") });
        report(&load(&text("", &body, 4, "")), &bound, &Relation::default())
    };
    assert_eq!(image(&write("%l")).bytes, [0, 1, 2, 3]);
    let Outcome::Undefined(undefined) = write("u(2)").outcome else { panic!("a race is not seen") };
    assert!(undefined.what.contains("texel (2, 0)"), "{}", undefined.what);
    // One workgroup may write the texel. Two workgroups have no order, so they race.
    assert_eq!(
        image(&report(&load(&text("", "%i = OpLoad %suimg %su OpImageWrite %i i(3,0) u(1)", 1, "")), &Bound::new(), &Relation::default()))
            .bytes[12],
        1
    );
    let two = load(&text("", "%i = OpLoad %suimg %su OpImageWrite %i i(3,0) u(1)", 1, ""));
    assert!(matches!(Bound::new().run(&two, 2, &mut ()).outcome, Outcome::Undefined(_)));
}

/// All schedules. Readers of an image that nothing may write do not race, and have one schedule.
#[test]
fn every_schedule_of_a_reader_and_a_writer_is_a_race() {
    let explored = |decorate: &str, body: &str| {
        let text = text("", body, 2, "").replace("OpDecorate %su Binding 9", &format!("OpDecorate %su Binding 9 {decorate}"));
        let (module, bound) = (load(&text), Bound::new());
        let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 64] }];
        let dispatch = bound.dispatch(1, &buffers);
        let (mut races, mut ends) = (0, 0);
        let visit = |outcome: &Outcome<_>, _: &_| {
            match outcome {
                Outcome::Undefined(_) => races += 1,
                _ => ends += 1,
            }
            ControlFlow::Continue(())
        };
        grid::exhaust(&module, &dispatch, &Relation::default(), Budget::default(), visit).expect("main is there");
        (races, ends)
    };
    let read = "%i = OpLoad %suimg %su %t = OpImageRead %u4 %i i(1,0)";
    assert_eq!(explored("OpDecorate %su NonWritable", read), (0, 1));
    let both = "%l = OpLoad %uint %lix %first = OpIEqual %bool %l u(0) %i = OpLoad %suimg %su OpSelectionMerge %m None
        OpBranchConditional %first %a %b %a = OpLabel OpImageWrite %i i(1,0) u(5) OpBranch %m
        %b = OpLabel %t = OpImageRead %u4 %i i(1,0) OpBranch %m %m = OpLabel";
    let (races, ends) = explored("", both);
    assert_eq!((races, ends), (2, 0));
}
