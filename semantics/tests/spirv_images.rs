//! Image instructions by the relation and by the lockstep machine, which must show the same: texels
//! worked out by hand, storage images as shared memory, undefined behaviour and undefined values,
//! and refused dispatches.

#[path = "spirv_images/cases.rs"]
mod cases;
#[path = "spirv_images/module.rs"]
mod module;
#[path = "spirv_images/planted.rs"]
mod planted;
#[path = "spirv_images/storage.rs"]
mod storage;

use std::fmt::Write;

use cases::CASES;
use module::{Bound, load, outcome, report, shown, text};
use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Format, Image, Precision, Robustness, Sampler};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler};
use smallstep_semantics::spirv::step::{Event, Relation};
use smallstep_semantics::spirv::{LoadError, Module, Options, assemble, grid, lockstep};

#[test]
fn every_case_is_as_computed_by_hand() {
    let mut wrong = String::new();
    for &(type_, body, expected) in CASES {
        let found = shown(type_, &outcome(type_, body, &Bound::new(), &Relation::default()));
        if found != expected {
            let _ = writeln!(wrong, "{body}\n  expected {expected}\n  found    {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Fetches of a texel and of a level that do not exist. The robustness of the environment decides
/// the result.
#[test]
fn fetches_out_of_bounds_are_robust_as_the_environment_says() {
    let fetch = |robustness, operands: &str| {
        let bound = Bound { robustness, ..Bound::new() };
        let body = format!("%i = OpLoad %img %tex %r = OpImageFetch %v4 %i {operands}");
        shown("v4", &outcome("v4", &body, &bound, &Relation::default()))
    };
    let (outside, negative, level) = ("i(4,0) Lod i(0)", "i(0,-1)", "i(0,0) Lod i(3)");
    let any = |kind: &str| vec![format!("any({kind})"); 4].join(" ");
    assert_eq!(fetch(Robustness::None, outside), any("spirv/image-coordinate"));
    assert_eq!(fetch(Robustness::None, negative), any("spirv/image-coordinate"));
    assert_eq!(fetch(Robustness::None, level), any("spirv/image-level"));
    // The alpha may be 0 or 1, whatever the format.
    assert_eq!(fetch(Robustness::Access, outside), "0 0 0 1~");
    assert_eq!(fetch(Robustness::Access, level), any("spirv/image-level"));
    assert_eq!(fetch(Robustness::Access2, outside), "0 0 0 1");
    assert_eq!(fetch(Robustness::Access2, level), "0 0 0 1");
}

/// A device that states a higher precision decides results that the least precise device
/// leaves open.
#[test]
fn the_precision_of_the_environment_counts() {
    // u = 1.03125 is less than 1/16 away from texel 0.
    let body = "%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s
        %r = OpImageSampleExplicitLod %v4 %si f(0.2578125,0.25) Lod f(0)";
    let with = |precision| shown("v4", &outcome("v4", body, &Bound { precision, ..Bound::new() }, &Relation::default()));
    assert_eq!(with(None), "2~ 0 0 1");
    assert_eq!(with(Some(Precision { sub_texel_bits: 8, mipmap_bits: 8, filter_bits: 18 })), "2 0 0 1");
}

#[test]
fn undefined_values_have_their_origin() {
    let body = "%i = OpLoad %img %blank %r = OpImageFetch %v4 %i i(0,0)";
    let module = load(&text("v4", body, 1, ""));
    let report = report(&module, &Bound::new(), &Relation::default());
    let Outcome::Observed(observation) = report.outcome else { panic!("{:?}", report.outcome) };
    let undefined = &observation.buffers[0].undefined;
    // The format has one component; the others are 0, 0 and 1.
    assert_eq!(undefined.len(), 1);
    assert_eq!((undefined[0].start, undefined[0].end, undefined[0].kind), (0, 4, "spirv/uninitialised"));
    assert_eq!(module.instructions()[undefined[0].made_at as usize].name(), "OpImageFetch");
}

/// Operands that choose texels must not be undefined. Operands that are compared or written may be.
#[test]
fn undefined_addresses_are_undefined_behaviour() {
    let image = "%u = OpUndef %v2 %uf = OpUndef %float %iu = OpUndef %i2 %id = OpUndef %int %i = OpLoad %img %tex %s = OpLoad %smp %near
        %si = OpSampledImage %simg %i %s %w = OpLoad %stimg %st";
    let ill = [
        (
            "%u",
            "%r = OpImageSampleExplicitLod %v4 %si %u Lod f(0)",
            "%r = OpImageSampleExplicitLod has a coordinate, %u, that is undefined",
        ),
        ("%uf", "%r = OpImageSampleExplicitLod %v4 %si f(0,0) Lod %uf", "has an image operand, %uf, that is undefined"),
        ("%u", "%r = OpImageSampleExplicitLod %v4 %si f(0,0) Grad f(0,0) %u", "has an image operand, %u, that is undefined"),
        ("%iu", "%r = OpImageGather %v4 %si f(0,0) u(0) Offset %iu", "has an image operand, %iu, that is undefined"),
        ("%iu", "%r = OpImageFetch %v4 %i %iu", "has a coordinate, %iu, that is undefined"),
        ("%id", "%r = OpImageFetch %v4 %i i(0,0) Lod %id", "has an image operand, %id, that is undefined"),
        ("%iu", "%r = OpImageRead %v4 %w %iu", "has a coordinate, %iu, that is undefined"),
        ("%iu", "OpImageWrite %w %iu f(0,0,0,0) %r = OpCopyObject %v4 f(0,0,0,0)", "has a coordinate, %iu, that is undefined"),
    ];
    for (id, body, expected) in ill {
        let module = load(&text("v4", &format!("{image} {body}"), 1, ""));
        let outcome = report(&module, &Bound::new(), &Relation::default()).outcome;
        let Outcome::Undefined(undefined) = outcome else { panic!("{body}: {outcome:?}") };
        assert_eq!(undefined.ub.id(), "spirv/address-on-undefined");
        // Ids have become numbers, so the texts are compared without digits.
        let without = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let part = expected.replace("%r = ", "").replace(id, "%");
        let found = without(&undefined.what);
        assert!(found.contains(&part) && found.contains("spirv/undef made by"), "{body}: {}", undefined.what);
    }
    // A component of the coordinate that does not count may be undefined.
    let body = "%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s %uf = OpUndef %float
        %c = OpCompositeConstruct %v3 f(0.375) f(0.25) %uf %r = OpImageSampleExplicitLod %v4 %si %c Lod f(0)";
    assert_eq!(shown("v4", &outcome("v4", body, &Bound::new(), &Relation::default())), "2 0 0 1");
}

/// Samplers that do not fit the image or the instruction give undefined values (Vulkan, Texel
/// Input Validation).
#[test]
fn samplers_that_do_not_fit_give_undefined_values() {
    let any = |n: usize| vec!["any(spirv/image-sampler)"; n].join(" ");
    let sample = |type_: &str, image: &str, of: &str, sampler: &str, instruction: &str| {
        let body = format!("%i = OpLoad %{of} %{image} %s = OpLoad %smp %{sampler} %si = OpSampledImage %s{of} %i %s %r = {instruction}");
        shown(type_, &outcome(type_, &body, &Bound::new(), &Relation::default()))
    };
    let dref = "OpImageSampleDrefExplicitLod %float %si f(0.25,0.25) f(0.5) Lod f(0)";
    assert_eq!(sample("float", "depth", "img", "cmp", dref), "0");
    assert_eq!(sample("float", "depth", "img", "near", dref), any(1));
    assert_eq!(sample("float", "tex", "img", "cmp", dref), any(1));
    let plain = "OpImageSampleExplicitLod %v4 %si f(0.25,0.25) Lod f(0)";
    assert_eq!(sample("v4", "depth", "img", "near", plain), "0.25 0 0 1");
    assert_eq!(sample("v4", "depth", "img", "cmp", plain), any(4));
    assert_eq!(sample("u4", "utex", "uimg", "lin", "OpImageSampleExplicitLod %u4 %si f(0.25,0.25) Lod f(0)"), any(4));
    assert_eq!(sample("v4", "depth", "img", "unnormal", "OpImageSampleExplicitLod %v4 %si f(0.5,1.5) Lod f(0)"), "0.5 0 0 1");
    // Unnormalized coordinates need an image of one level, no offset and no gather.
    assert_eq!(sample("v4", "tex", "img", "unnormal", "OpImageSampleExplicitLod %v4 %si f(0.5,1.5) Lod f(0)"), any(4));
    assert_eq!(sample("v4", "depth", "img", "unnormal", "OpImageSampleExplicitLod %v4 %si f(0.5,1.5) Lod|ConstOffset f(0) i(1,0)"), any(4));
    assert_eq!(sample("v4", "depth", "img", "unnormal", "OpImageGather %v4 %si f(1,1) u(0)"), any(4));
    // An undefined reference is compared. It chooses no texel.
    let undefined = "OpImageSampleDrefExplicitLod %float %si f(0.25,0.25) %uf Lod f(0)";
    let body =
        format!("%uf = OpUndef %float %i = OpLoad %img %depth %s = OpLoad %smp %cmp %si = OpSampledImage %simg %i %s %r = {undefined}");
    assert_eq!(shown("float", &outcome("float", &body, &Bound::new(), &Relation::default())), "any(spirv/undef)");
}

/// If a coordinate, a level or a reference is in doubt, so is the sampled texel.
#[test]
fn doubt_goes_from_coordinates_to_texels() {
    let cases = [
        (
            "v4",
            "%x = OpExtInst %float %glsl Sin f(0) %c = OpCompositeConstruct %v2 %x f(0.25) %r = OpImageSampleExplicitLod %v4 %si %c Lod f(0)",
            "1~ 0~ 0~ 1~",
        ),
        ("v4", "%x = OpExtInst %float %glsl Sin f(0) %r = OpImageSampleExplicitLod %v4 %si f(0.375,0.25) Lod %x", "2~ 0 0 1"),
        (
            "v4",
            "%x = OpExtInst %float %glsl Sin f(0) %n = OpConvertFToS %int %x %c = OpCompositeConstruct %i2 %n %n %r = OpImageFetch %v4 %i %c",
            "1~ 0~ 0~ 1~",
        ),
        ("v4", "%x = OpExtInst %float %glsl Sin f(0) %n = OpConvertFToS %int %x %r = OpImageFetch %v4 %i i(1,0) Lod %n", "2~ 0~ 0~ 1~"),
        (
            "v4",
            "%x = OpExtInst %float %glsl Sin f(0) %n = OpConvertFToS %int %x %o = OpCompositeConstruct %i2 %n %n %r = OpImageGather %v4 %si f(0.5,0.5) u(0) Offset %o",
            "6~ 7~ 3~ 2~",
        ),
        ("i2", "%x = OpExtInst %float %glsl Sin f(0) %n = OpConvertFToS %int %x %r = OpImageQuerySizeLod %i2 %i %n", "4~ 2~"),
    ];
    for (type_, body, expected) in cases {
        let body = format!("%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s {body}");
        assert_eq!(shown(type_, &outcome(type_, &body, &Bound::new(), &Relation::default())), expected, "{body}");
    }
}

#[test]
fn images_and_samplers_are_passed_to_functions() {
    let functions = "%byp = OpTypeFunction %v4 %p_tex %p_near %v2 %byv = OpTypeFunction %v4 %img %i2
        %f1 = OpFunction %v4 None %byp %a = OpFunctionParameter %p_tex %b = OpFunctionParameter %p_near %c = OpFunctionParameter %v2 %l1 = OpLabel
        %x = OpLoad %img %a %y = OpLoad %smp %b %z = OpSampledImage %simg %x %y %v = OpImageSampleExplicitLod %v4 %z %c Lod f(0)
        OpReturnValue %v OpFunctionEnd
        %f2 = OpFunction %v4 None %byv %d = OpFunctionParameter %img %e = OpFunctionParameter %i2 %l2 = OpLabel
        %g = OpImageFetch %v4 %d %e Lod i(0) OpReturnValue %g OpFunctionEnd";
    let body = "%i = OpLoad %img %tex %p = OpFunctionCall %v4 %f1 %tex %near f(0.375,0.25) %q = OpFunctionCall %v4 %f2 %i i(2,1)
        %r = OpVectorShuffle %v4 %p %q 0 3 4 7";
    let module = load(&text("v4", body, 1, functions));
    assert_eq!(shown("v4", &report(&module, &Bound::new(), &Relation::default())), "2 1 7 1");
}

/// The message with which a dispatch is refused, without `%`.
fn refused(type_: &str, body: &str, bound: &Bound) -> String {
    match outcome(type_, body, bound, &Relation::default()).outcome {
        Outcome::Unsupported(what) => what.chars().filter(|c| *c != '%').collect(),
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn wrong_bindings_are_refused_by_set_and_binding() {
    let fetch = "%i = OpLoad %img %tex %r = OpImageFetch %v4 %i i(0,0)";
    let sample = "%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s
        %r = OpImageSampleExplicitLod %v4 %si f(0,0) Lod f(0)";
    let combined = "%si = OpLoad %simg %both %r = OpImageSampleExplicitLod %v4 %si f(0,0) Lod f(0)";
    let write = "%w = OpLoad %stimg %st OpImageWrite %w i(0,0) f(0,0,0,0) %r = OpCopyObject %v4 f(0,0,0,0)";
    let without_image = |binding: u32| {
        let mut bound = Bound::new();
        bound.images.retain(|image| image.binding != binding);
        bound
    };
    let without_sampler = |binding: u32| {
        let mut bound = Bound::new();
        bound.samplers.retain(|sampler| sampler.binding != binding);
        bound
    };
    let with = |binding: u32, format: Format| {
        let mut bound = without_image(binding);
        let image = Image::new(format, 1, 1, 1).expect("one texel");
        bound.images.push(BoundImage { set: 0, binding, image });
        bound
    };
    let nan = {
        let mut bound = without_sampler(2);
        bound.samplers.push(BoundSampler { set: 0, binding: 2, sampler: Sampler { lod_bias: f32::NAN, ..Sampler::default() } });
        bound
    };
    for (body, bound, expected) in [
        (fetch, without_image(1), "no image at set 0, binding 1 for "),
        (sample, without_sampler(2), "no sampler at set 0, binding 2 for "),
        (combined, without_image(10), "no image at set 0, binding 10 for "),
        (combined, without_sampler(10), "no sampler at set 0, binding 10 for "),
        (fetch, with(1, Format::R32Uint), "the image at set 0, binding 1 is of R32_UINT, which has unsigned integers; "),
        (fetch, with(1, Format::R8Sint), "the image at set 0, binding 1 is of R8_SINT, which has signed integers; "),
        (write, with(8, Format::R32Sfloat), "the image at set 0, binding 8 is of R32_SFLOAT; "),
        (write, with(8, Format::D16Unorm), "the image at set 0, binding 8 is of D16_UNORM, a format of depths; "),
        (sample, nan, "the sampler at set 0, binding 2 has a level of detail that is no number"),
    ] {
        let found = refused("v4", body, &bound);
        assert!(found.starts_with(expected), "{body}: {found}");
    }
    let unsigned = "%i = OpLoad %uimg %utex %x = OpImageFetch %u4 %i i(0,0) %r = OpBitcast %v4 %x";
    let found = refused("v4", unsigned, &with(6, Format::R32Sint));
    assert!(found.starts_with("the image at set 0, binding 6 is of R32_SINT, which has signed integers; "), "{found}");
    assert!(found.contains("declares texels of "), "{found}");
    // One place is declared as a sampled image and as a storage image.
    let both = text("v4", &format!("{fetch} %w = OpLoad %stimg %st OpImageWrite %w i(0,0) %r"), 1, "");
    let both = both.replace("OpDecorate %st Binding 8", "OpDecorate %st Binding 1").replace("2D 0 0 0 2 Rgba8", "2D 0 0 0 2 R32f");
    let outcome = report(&load(&both), &Bound::new(), &Relation::default()).outcome;
    let expected = "the image at set 0, binding 1 is declared sampled and storage; it is one of the two";
    assert_eq!(outcome, Outcome::Unsupported(expected.into()));
    // A resource that is bound but not named does not matter.
    assert_eq!(shown("v4", &outcome_of(fetch, &with(8, Format::D16Unorm))), "1 0 0 1");
}

fn outcome_of(body: &str, bound: &Bound) -> grid::Report {
    outcome("v4", body, bound, &Relation::default())
}

/// Instructions that are not for a compute dispatch, or are not modeled, are refused by name before
/// anything runs.
#[test]
fn what_is_not_modeled_is_refused_by_name() {
    let refusal = |declarations: &str, body: &str| {
        let text = text("v4", body, 1, "").replace("OpMemoryModel", &format!("{declarations} OpMemoryModel"));
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        match Module::load(&words) {
            Err(LoadError::Unsupported { what, .. } | LoadError::Invalid { what, .. }) => what,
            other => panic!("{body}: {:?}", other.map(|_| ())),
        }
    };
    let of = "%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s";
    let found = refusal("", &format!("{of} %r = OpImageSampleImplicitLod %v4 %si f(0,0)"));
    assert!(found.contains("OpImageSampleImplicitLod"), "{found}");
    let found = refusal("", &format!("{of} %q = OpImageQueryLod %v2 %si f(0,0) %r = OpCopyObject %v4 f(0,0,0,0)"));
    assert!(found.contains("OpImageQueryLod"), "{found}");
    let texel = "%pt = OpImageTexelPointer %ptexel %st i(0,0) u(0) %r = OpCopyObject %v4 f(0,0,0,0)";
    let found = refusal("", texel);
    assert!(found.contains("OpTypePointer Image") || found.contains("OpImageTexelPointer"), "{found}");
}

/// Functions with image and sampler parameters, by value and by pointer. Some of them pass these on
/// to another function.
const PASSED: &str = "%byv = OpTypeFunction %v4 %img %byp = OpTypeFunction %v4 %p_tex %bys = OpTypeFunction %v4 %img %smp
    %byc = OpTypeFunction %v4 %simg %byw = OpTypeFunction %void %stimg
    %f = OpFunction %v4 None %byv %f_d = OpFunctionParameter %img %f_l = OpLabel %f_g = OpImageFetch %v4 %f_d i(0,0)
    OpReturnValue %f_g OpFunctionEnd
    %g = OpFunction %v4 None %byp %g_d = OpFunctionParameter %p_tex %g_l = OpLabel %g_i = OpLoad %img %g_d
    %g_r = OpFunctionCall %v4 %f %g_i OpReturnValue %g_r OpFunctionEnd
    %c = OpFunction %v4 None %byc %c_d = OpFunctionParameter %simg %c_l = OpLabel
    %c_r = OpImageSampleExplicitLod %v4 %c_d f(-0.125,0.25) Lod f(0) OpReturnValue %c_r OpFunctionEnd
    %s = OpFunction %v4 None %bys %s_d = OpFunctionParameter %img %s_s = OpFunctionParameter %smp %s_l = OpLabel
    %s_c = OpSampledImage %simg %s_d %s_s %s_r = OpImageSampleExplicitLod %v4 %s_c f(-0.125,0.25) Lod f(0)
    OpReturnValue %s_r OpFunctionEnd
    %t = OpFunction %v4 None %bys %t_d = OpFunctionParameter %img %t_s = OpFunctionParameter %smp %t_l = OpLabel
    %t_a = OpFunctionCall %v4 %s %t_d %t_s %t_b = OpFunctionCall %v4 %f %t_d %t_r = OpVectorShuffle %v4 %t_a %t_b 0 4 3 7 OpReturnValue %t_r OpFunctionEnd
    %w = OpFunction %void None %byw %w_d = OpFunctionParameter %stimg %w_l = OpLabel OpImageWrite %w_d i(1,1) f(1,0,0,1) OpReturn
    OpFunctionEnd";

/// Bodies that call these functions, and the components of %r worked out by hand.
const CALLS: &[(&str, &str)] = &[
    ("%r = OpFunctionCall %v4 %g %tex", "1 0 0 1"),
    (
        "%i = OpLoad %img %tex %j = OpLoad %img %wide %a = OpFunctionCall %v4 %f %i %b = OpFunctionCall %v4 %f %j %r = OpVectorShuffle %v4 %a %b 0 4 5 7",
        "1 0.5 -2 8",
    ),
    // Outside of the image of four texels: the last texel, the first one, or the border.
    ("%i = OpLoad %img %tex %k = OpLoad %smp %near %r = OpFunctionCall %v4 %s %i %k", "4 0 0 1"),
    ("%i = OpLoad %img %tex %k = OpLoad %smp %mirror %r = OpFunctionCall %v4 %s %i %k", "1 0 0 1"),
    (
        "%i = OpLoad %img %tex %k = OpLoad %smp %border %h = OpLoad %smp %near %a = OpFunctionCall %v4 %s %i %k
        %b = OpFunctionCall %v4 %t %i %h %r = OpVectorShuffle %v4 %a %b 0 1 4 5",
        "1 0 4 1",
    ),
    ("%i = OpLoad %img %tex %k = OpLoad %smp %border %x = OpSampledImage %simg %i %k %r = OpFunctionCall %v4 %c %x", "1 0 0 1"),
    // The sample is filtered, so a device may show a number near this one.
    ("%x = OpLoad %simg %both %r = OpFunctionCall %v4 %c %x", "0~ 0 0 1"),
    ("%o = OpLoad %stimg %st %v = OpFunctionCall %void %w %o %r = OpImageRead %v4 %o i(1,1)", "1 0 0 1"),
];

/// The components that such a body shows, and how the machine with this bug differs from
/// the relation.
fn called(body: &str, bug: impl FnOnce(lockstep::Parts<'_>)) -> (String, Option<String>) {
    let (module, bound, buffers) = (load(&text("v4", body, 1, PASSED)), Bound::new(), module::fresh());
    let outcome = report(&module, &bound, &Relation::default());
    let differs = module::difference(&module, &bound.dispatch(1, &buffers), &outcome.outcome, bug);
    (shown("v4", &outcome), differs)
}

#[test]
fn images_that_are_passed_are_those_of_the_caller() {
    for (body, expected) in CALLS {
        assert_eq!(called(body, |_| ()), (expected.to_string(), None), "{body}");
    }
    // The machine must choose the right one of several images.
    let seen = |op: lockstep::Op, change: fn(&mut lockstep::Code)| {
        CALLS.iter().any(|(body, _)| called(body, |parts| parts.codes.iter_mut().filter(|c| c.op == op).for_each(change)).1.is_some())
    };
    assert!(seen(lockstep::Op::Narrow, |code| code.c = 0), "always the first");
    assert!(seen(lockstep::Op::Narrow, lockstep::Code::drop_it), "all, one after the other");
}

#[test]
fn a_trace_shows_images() {
    let body = "%i = OpLoad %img %tex %s = OpLoad %smp %near %si = OpSampledImage %simg %i %s %w = OpLoad %stimg %st
        %r = OpImageSampleExplicitLod %v4 %si f(0.375,0.25) Lod f(0) OpImageWrite %w i(1,0) f(1,0,0,1)";
    let module = load(&text("v4", body, 1, ""));
    let mut lines = Vec::new();
    let mut sink = |event: &Event<'_, '_>| lines.push(event.line(&module));
    let bound = Bound::new();
    bound.run(&module, 1, &mut sink);
    let line = |part: &str| lines.iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {lines:#?}")).clone();
    assert!(line("[spirv/sampled-image]").ends_with(": image 0 with sampler 0"), "{lines:#?}");
    assert!(line("[spirv/image-sample-explicit-lod]").ends_with(": (2.0, 0.0, 0.0, 1.0)"), "{lines:#?}");
    assert!(line("[spirv/image-write]").contains("store of (0x3f800000, 0x0, 0x0, 0x3f800000) to image 1 bytes 4+4"), "{lines:#?}");
}
