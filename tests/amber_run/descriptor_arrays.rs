//! Scripts whose values depend on the elements of BUFFER_ARRAY and SAMPLER_ARRAY, and planted bugs.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, Resource, read};
use smallstep::run::amber::{End, Interpreter, Side, Verdict};

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, Stage, script_of};
use crate::{decisions, device, holds, legs, played, script};

const BUFFERS: &str = include_str!("scripts/descriptor_arrays.amber");

/// Two images of two texels, and two samplers. The coordinate 1.25 is texel 0 of the first, which
/// repeats, and texel 1 of the second, which clamps. The result has red and green of the first, and
/// blue and alpha of the second.
fn textures() -> String {
    let decorations = "OpDecorate %textures DescriptorSet 0\nOpDecorate %textures Binding 0";
    let variables = "%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%combined = OpTypeSampledImage %image\n%two = OpConstant %uint 2
%both = OpTypeArray %combined %two\n%p_both = OpTypePointer UniformConstant %both\n%p_one = OpTypePointer UniformConstant %combined
%textures = OpVariable %p_both UniformConstant\n%x = OpConstant %float 1.25\n%y = OpConstant %float 0.5\n%xy = OpConstantComposite %vec2 %x %y";
    let body = "%p_first = OpAccessChain %p_one %textures %u0\n%first = OpLoad %combined %p_first
%a = OpImageSampleExplicitLod %vec4 %first %xy Lod %f0\n%p_second = OpAccessChain %p_one %textures %u1\n%second = OpLoad %combined %p_second
%b = OpImageSampleExplicitLod %vec4 %second %xy Lod %f0\n%c = OpVectorShuffle %vec4 %a %b 0 1 6 7\nOpStore %colour %c";
    let fragment = Stage { decorations, variables, body, ..PLAIN };
    let buffers = "IMAGE green FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 1 DATA 0 255 0 0 255 0 0 0 END\n\
                   IMAGE blue FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 1 DATA 255 255 255 255 0 0 255 0 END\n\
                   SAMPLER repeats ADDRESS_MODE_U repeat\nSAMPLER clamps ADDRESS_MODE_U clamp_to_edge\n";
    let pipeline = format!(
        "{OF_ALL}  BIND BUFFER_ARRAY green blue AS combined_image_sampler SAMPLER_ARRAY repeats clamps DESCRIPTOR_SET 0 BINDING 0\n"
    );
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 255 255 0");
    script_of([PLAIN, fragment], "R8G8B8A8_UNORM", buffers, &pipeline, &commands)
}

#[test]
fn the_elements_of_an_array_are_bound_in_order() {
    let mut device = device();
    // Uniform word 64 is 650, and the word of the other buffer 100. The lengths are 2, 6 and 4.
    for (text, right, wrong) in [(BUFFERS, "IDX 256 EQ 656", "IDX 256 EQ 657"), (&textures(), "EQ_RGBA 0 255", "EQ_RGBA 255 255")] {
        let other = text.replace(right, wrong);
        assert_ne!(other, text);
        for (text, agrees) in [(text, true), (&other, false)] {
            for (number, leg) in legs(text, &Interpreter::default(), device.as_mut()).iter().enumerate() {
                match &leg.verdict {
                    Verdict::Agree => assert!(agrees, "{}: {text}", leg.name),
                    Verdict::Disagree(d) => assert!(!agrees && d.between.0 == Side::Script, "{}: {text}", leg.name),
                    // A device need not have arrays of descriptors.
                    Verdict::Unchecked(why) if number > 0 => assert!(why.contains("rray"), "{why}"),
                    other => panic!("{}: {other:?}\n{text}", leg.name),
                }
            }
        }
    }
    for text in [BUFFERS, &textures()] {
        let original = script(text);
        let printed = read(&original.print().expect("printable")).expect("a script");
        let resources = |script: &smallstep::amber::Script| script.pipelines[0].bindings.iter().map(|b| b.resource).collect::<Vec<_>>();
        assert_eq!(resources(&printed), resources(&original));
        assert!(holds(&original, &Interpreter::default()));
        // A planted bug: the first and the last element are swapped.
        let mut swapped = original.clone();
        let bindings = &mut swapped.pipelines[0].bindings;
        let last = bindings.iter().rposition(|b| (b.set, b.binding) == (0, 0)).expect("an array");
        bindings.swap(0, last);
        assert!(!holds(&swapped, &Interpreter::default()));
    }
    // Planted bugs: all samplers are the first; an offset is that of the first element.
    let mut samplers = script(&textures());
    let bindings = &mut samplers.pipelines[0].bindings;
    let Resource::CombinedImageSampler(_, first) = bindings[0].resource else { panic!("{bindings:?}") };
    let Resource::CombinedImageSampler(_, second) = &mut bindings[1].resource else { panic!("{bindings:?}") };
    *second = first;
    assert!(!holds(&samplers, &Interpreter::default()));
    let mut offsets = script(BUFFERS);
    let Resource::Storage(range) = &mut offsets.pipelines[0].bindings[1].resource else { panic!("the second buffer") };
    range.offset = 0;
    assert!(!holds(&offsets, &Interpreter::default()));
}

#[test]
fn arrays_that_are_too_short_or_bound_wrongly_are_refused() {
    // More descriptors than the shader declares are fine.
    let more = BUFFERS
        .replace("tens hundreds AS uniform_dynamic", "tens hundreds tens AS uniform_dynamic")
        .replace("OFFSET 256 0", "OFFSET 256 0 0");
    assert_eq!(decisions(&more), [Decision::Holds; 3]);
    let few = BUFFERS.replace("first second third", "first second").replace("DESCRIPTOR_OFFSET 0 256 0", "DESCRIPTOR_OFFSET 0 256");
    let Some(End::Invalid(what)) = played(&few).1 else { panic!("{:?}", played(&few)) };
    assert_eq!(what, "line 74: pipeline p: %4 is an array of 3 descriptors, and descriptor set 0, binding 0 has 2");
    let twice = BUFFERS.replace("first second third", "first second first");
    let Some(End::Unsupported(what)) = played(&twice).1 else { panic!("{:?}", played(&twice)) };
    assert_eq!(what, "line 74: the buffer first, bound at 0.0[0] and at 0.0[2] and written");
    for (text, what) in [
        (BUFFERS.replace("OFFSET 256 0\n", "OFFSET 256\n"), "where an offset should stand"),
        (BUFFERS.replace("AS storage ", "AS color LOCATION 0 "), "found `color`, which is no kind of descriptor"),
        (
            textures().replace("SAMPLER_ARRAY repeats clamps", "SAMPLER_ARRAY repeats"),
            "1 samplers are bound with 2 buffers; give one for each",
        ),
        (textures().replace("SAMPLER_ARRAY repeats clamps", "SAMPLER repeats"), "found `SAMPLER`, where SAMPLER_ARRAY should stand"),
        (BUFFERS.replace("first second third", &"first ".repeat(257)), "the bindings of a pipeline"),
    ] {
        let errors = read(&text).expect_err(what);
        assert!(errors[0].to_string().contains(what), "{what}: {errors:?}");
    }
}
