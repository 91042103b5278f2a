//! Attributes, built-ins, and values that pass from the vertex stage to the fragment stage.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::Format;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::Cull;
use smallstep_semantics::spirv::draw::Component;
use smallstep_semantics::spirv::environment::{Attribute, Rate, Robustness};
use smallstep_semantics::undefined::{Ub, Unspecified};

use crate::*;

fn flat() -> Module {
    fragment("", "OpDecorate %in Flat", "", "%x = OpLoad %v4 %in OpStore %out %x")
}

#[test]
fn instances_have_attributes_of_their_own() {
    // The second instance overwrites the first, unless only one is drawn.
    let mut scene = Scene::new(passing(), flat(), &ALL);
    scene.attributes.push(floats(1, Rate::Instance, &[[9.0; 4], [1.0; 4], [2.0; 4]]));
    (scene.instances, scene.first_instance) = (2, 1);
    assert_eq!(exactly(&scene.observed(), 4, 4, 0), 2.0);
    scene.instances = 1;
    assert_eq!(exactly(&scene.observed(), 4, 4, 0), 1.0);
    // There are vertices but no instances, so nothing runs.
    scene.instances = 0;
    assert_eq!((picture(&scene.observed().targets[0]), scene.observed().instructions), (vec!["........".to_string(); 8], 0));
}

#[test]
fn indices_and_instances_are_numbered() {
    let body = "%i = OpLoad %uint %vi %j = OpLoad %uint %ii %fi = OpConvertUToF %float %i %fj = OpConvertUToF %float %j
        %x = OpCompositeConstruct %v4 %fi %fj %fi %fj OpStore %v %x";
    let mut positions = vec![[9.0; 4]; 5];
    positions.extend(ALL);
    let mut scene = Scene::new(vertex("", "", "", body), flat(), &positions);
    (scene.first, scene.count, scene.first_instance, scene.instances) = (5, 3, 7, 1);
    let observation = scene.observed();
    assert_eq!([0, 1].map(|c| exactly(&observation, 0, 0, c)), [5.0, 7.0], "the first vertex provokes");
    scene.indices = Some(vec![0, 3, 1, 2]);
    (scene.first, scene.count, scene.vertex_offset) = (1, 3, 4);
    scene.state.cull = Cull::None;
    let observation = scene.observed();
    assert_eq!(exactly(&observation, 0, 0, 0), 7.0);
    // A vertex that is used twice is shaded once.
    scene.indices = Some(vec![1, 2, 3, 3, 2, 1]);
    (scene.first, scene.count) = (0, 6);
    assert_eq!(scene.observed().instructions - (64 * 3 * 2), 3 * 9);
}

#[test]
fn a_block_of_built_ins_and_a_block_of_locations() {
    // Blocks as compilers write them. ClipDistance is declared and not used. The members of the
    // second block have location 0 (a matrix, which takes 0 and 1) and location 2.
    let text = vertex_text(
        "%blk %user",
        "OpMemberDecorate %per 0 BuiltIn Position OpMemberDecorate %per 1 BuiltIn PointSize OpMemberDecorate %per 2 BuiltIn ClipDistance
        OpDecorate %per Block OpDecorate %usr Block OpMemberDecorate %usr 0 Location 0 OpMemberDecorate %usr 1 Location 2",
        "%floats = OpTypeArray %float %c1 %per = OpTypeStruct %v4 %float %floats %pout_per = OpTypePointer Output %per
        %blk = OpVariable %pout_per Output %m2 = OpTypeMatrix %v4 2 %usr = OpTypeStruct %m2 %v2 %pout_usr = OpTypePointer Output %usr
        %user = OpVariable %pout_usr Output",
        "%b = OpAccessChain %pout_v4 %blk %i0 OpStore %b %p %column = OpAccessChain %pout_v4 %user %i0 %i1 %two = OpVectorTimesScalar %v4 %red %f2
        OpStore %column %two %second = OpAccessChain %pout_v2 %user %i1 %pair = OpCompositeConstruct %v2 %half %quarter OpStore %second %pair",
    );
    let text = text.replace("%position %v ", "").replace("OpStore %position %p", "").replace("OpDecorate %position BuiltIn Position", "");
    let text =
        text.replace("OpDecorate %v Location 0", "").replace("%position = OpVariable %pout_v4 Output %v = OpVariable %pout_v4 Output", "");
    let inputs = "OpDecorate %one Location 1 OpDecorate %two Location 2 OpDecorate %one Flat OpDecorate %two Flat";
    let variables = "%one = OpVariable %pin_v4 Input %two = OpVariable %pin_v2 Input";
    let body = "%x = OpLoad %v4 %one %y = OpLoad %v2 %two %o = OpVectorShuffle %v4 %x %y 0 1 4 5 OpStore %out %o";
    let scene = Scene::new(load(&text), fragment("%one %two", inputs, variables, body), &ALL);
    let observation = scene.observed();
    assert_eq!([0, 1, 2, 3].map(|c| exactly(&observation, 0, 0, c)), [2.0, 0.0, 0.5, 0.25]);
}

/// A structure without members takes no location, alone or in an array. The locations of the other
/// members do not move.
#[test]
fn structures_without_members_pass_between_stages() {
    let block = "%none = OpTypeStruct %nones = OpTypeArray %none %c2 %usr = OpTypeStruct %nones %v2 %none %v2";
    let decorations = |user: &str| format!("OpDecorate %usr Block OpDecorate {user} Location 1");
    let made = "%pout_usr = OpTypePointer Output %usr %user = OpVariable %pout_usr Output";
    let body = "%fst = OpCompositeConstruct %v2 %half %quarter %snd = OpCompositeConstruct %v2 %quarter %f2 %e = OpCompositeConstruct %none
        %es = OpCompositeConstruct %nones %e %e %x = OpCompositeConstruct %usr %es %fst %e %snd OpStore %user %x";
    let read = "%pin_usr = OpTypePointer Input %usr %got = OpVariable %pin_usr Input";
    let reads = "%x = OpLoad %usr %got %a = OpCompositeExtract %v2 %x 1 %b = OpCompositeExtract %v2 %x 3
        %o = OpVectorShuffle %v4 %a %b 0 1 2 3 OpStore %out %o";
    let before = vertex("%user", &decorations("%user"), &format!("{block} {made}"), body);
    let inputs = format!("{} OpDecorate %got Flat", decorations("%got"));
    let scene = Scene::new(before, fragment("%got", &inputs, &format!("{block} {read}"), reads), &ALL);
    let observation = scene.observed();
    assert_eq!([0, 1, 2, 3].map(|c| exactly(&observation, 0, 0, c)), [0.5, 0.25, 0.25, 2.0]);
    // If the empty structures took locations, the next stage would not find its inputs at these.
    let apart = "OpDecorate %one Location 1 OpDecorate %two Location 2 OpDecorate %one Flat OpDecorate %two Flat";
    let variables = "%one = OpVariable %pin_v2 Input %two = OpVariable %pin_v2 Input";
    let reads = "%x = OpLoad %v2 %one %y = OpLoad %v2 %two %o = OpVectorShuffle %v4 %x %y 0 1 2 3 OpStore %out %o";
    let before = vertex("%user", &decorations("%user"), &format!("{block} {made}"), body);
    let scene = Scene::new(before, fragment("%one %two", apart, variables, reads), &ALL);
    let observation = scene.observed();
    assert_eq!([0, 1, 2, 3].map(|c| exactly(&observation, 0, 0, c)), [0.5, 0.25, 0.25, 2.0]);
}

#[test]
fn attributes_are_converted() {
    let with = |format: Format, bytes: Vec<u8>| {
        let mut scene = Scene::new(passing(), flat(), &ALL);
        scene.attributes.push(Attribute { location: 1, format, rate: Rate::Instance, offset: 1, stride: 0, bytes });
        scene.observed()
    };
    // The bytes 255 and 51 are 1 and 0.2, of which the second is not exact. The missing components
    // are 0 and 1.
    let observation = with(Format::Rg8Unorm, vec![7, 255, 51]);
    assert_eq!([0, 3].map(|c| exactly(&observation, 0, 0, c)), [1.0, 1.0]);
    assert_eq!(observation.targets[0].component(0, 0, 1), Some(Component::Undecided(Why::Approximate)));
    assert_eq!(definite(&observation.targets[0], 0, 0, 1), 0.2);
    assert_eq!(definite(&observation.targets[0], 0, 0, 2), 0.0);
    let observation = with(Format::Rg16Sfloat, vec![7, 0x00, 0x3c, 0x00, 0xc1]);
    assert_eq!([0, 1, 3].map(|c| exactly(&observation, 0, 0, c)), [1.0, -2.5, 1.0]);
}

#[test]
fn integers_pass_flat_at_their_components() {
    // Two scalars share location 1: an unsigned one at component 1 and a signed one at component 2,
    // from an attribute of four integers.
    let interface = "%ua %su %si";
    let decorations = "OpDecorate %ua Location 2 OpDecorate %su Location 1 OpDecorate %su Component 1 OpDecorate %si Location 1 OpDecorate %si Component 2";
    let declarations = "%pin_u4 = OpTypePointer Input %u4 %pout_int = OpTypePointer Output %int %ua = OpVariable %pin_u4 Input
        %su = OpVariable %pout_uint Output %si = OpVariable %pout_int Output";
    let body = "%x = OpLoad %u4 %ua %x3 = OpCompositeExtract %uint %x 3 OpStore %su %x3 OpStore %si %i1";
    let reading = "%l = OpLoad %uint %fu %m = OpLoad %int %fi %lf = OpConvertUToF %float %l %mf = OpConvertSToF %float %m
        %o = OpCompositeConstruct %v4 %lf %mf %lf %mf OpStore %out %o";
    let inputs = "OpDecorate %fu Location 1 OpDecorate %fu Component 1 OpDecorate %fi Location 1 OpDecorate %fi Component 2
        OpDecorate %fu Flat OpDecorate %fi Flat";
    let variables = "%fu = OpVariable %pin_uint Input %fi = OpVariable %pin_int Input";
    let mut scene = Scene::new(vertex(interface, decorations, declarations, body), fragment("%fu %fi", inputs, variables, reading), &ALL);
    let bytes = vec![1, 0, 2, 0, 3, 0, 0x39, 0x05];
    scene.attributes.push(Attribute { location: 2, format: Format::Rgba16Uint, rate: Rate::Vertex, offset: 0, stride: 0, bytes });
    let observation = scene.observed();
    assert_eq!([0, 1].map(|c| exactly(&observation, 3, 3, c)), [1337.0, 1.0]);
}

#[test]
fn what_the_vertex_stage_leaves_undefined_is_undefined() {
    let vs = vertex("", "", "", "%u = OpUndef %float %x = OpCompositeConstruct %v4 %f1 %u %f1 %f1 OpStore %v %x");
    let target = &Scene::new(vs, flat(), &ALL).observed().targets[0];
    assert_eq!(target.component(0, 0, 0), Some(Component::Exactly(0x3f80_0000)));
    match target.component(0, 0, 1) {
        Some(Component::Undefined(made)) => assert_eq!(made.kind, Unspecified::Undef),
        other => panic!("{other:?}"),
    }
    // A position that is undefined, not a number or in doubt may be anywhere.
    for body in [
        "%u = OpUndef %v4 OpStore %position %u",
        "%n = OpFDiv %float %f0 %f0 %u = OpCompositeConstruct %v4 %n %n %n %n OpStore %position %u",
        "%n = OpFDiv %float %f1 %third %u = OpVectorTimesScalar %v4 %p %n OpStore %position %u",
    ] {
        let scene = Scene::new(vertex("", "", "", body), constant("red"), &ALL);
        assert_eq!(picture(&scene.observed().targets[0]), ["????????"; 8], "{body}");
    }
}

#[test]
fn items_beyond_an_attribute_are_as_robustness_has_them() {
    let mut scene = Scene::new(passing(), flat(), &ALL);
    scene.attributes.push(floats(1, Rate::Vertex, &[[1.0; 4], [1.0; 4]]));
    match scene.run() {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::VertexOutOfBounds);
            assert!(undefined.what.starts_with("item 2 of the vertex attribute at location 1"), "{}", undefined.what);
            assert!(undefined.at.starts_with("vertex stage, vertex 2 of instance 0"), "{}", undefined.at);
        }
        other => panic!("{other:?}"),
    }
    for robustness in [Robustness::Access1, Robustness::Access2] {
        scene.robustness = robustness;
        assert_eq!(exactly(&scene.observed(), 0, 0, 0), 1.0);
    }
    // Hostile strides and offsets are out of bounds too.
    scene.robustness = Robustness::None;
    (scene.attributes[1].stride, scene.attributes[1].offset) = (u64::MAX, u64::MAX);
    assert_eq!(scene.run().name(), "undefined");
}

/// Even without float controls a position is decided if no rewriting can change it. Sums and
/// products of few bits are such values.
#[test]
fn a_position_of_few_bits_is_decided_without_float_controls() {
    let body = |factor: &str| {
        format!(
            "%in2 = OpVectorShuffle %v2 %p %p 0 1 %two = OpVectorTimesScalar %v2 %in2 %{factor} %one = OpCompositeConstruct %v2 %f1 %f1
            %xy = OpFSub %v2 %two %one %px = OpCompositeExtract %float %xy 0 %py = OpCompositeExtract %float %xy 1
            %q = OpCompositeConstruct %v4 %px %py %f0 %f1 OpStore %position %q"
        )
    };
    // The input goes from 0 to 1 over the framebuffer, as is usual in shaders.
    let corners = [[0.0, 0.0, 0.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, 0.0, 0.0]];
    let mut scene = Scene::new(vertex("", "", "", &body("f2")), constant("red"), &corners);
    assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8]);
    scene.attributes = vec![floats(0, Rate::Vertex, &corners.map(|corner| corner.map(|x| x * 0.375)))];
    let observation = scene.observed();
    assert_eq!(picture(&observation.targets[0])[0], "#######.");
    assert_eq!(picture(&observation.targets[0])[6..], ["#.......", "........"]);
    // If a product is rounded, nothing is known of the position.
    scene.vertex = vertex("", "", "", &body("third"));
    assert_eq!(picture(&scene.observed().targets[0]), ["????????"; 8]);
}

/// By definite values the vertex stage does not write. If a device may take the way that writes, it
/// may have written.
#[test]
fn what_a_vertex_writes_on_another_way_is_in_doubt() {
    let decorations = "OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0";
    let declarations = "%words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
        %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint %one = OpConstant %float 1
        %three = OpConstant %float 3 %near = OpConstant %float 0.33333334";
    let on_way = |condition: &str| {
        let body = format!(
            "%d = OpFDiv %float %one %three %way = {condition} OpSelectionMerge %m None OpBranchConditional %way %y %m
            %y = OpLabel %n = OpLoad %uint %vi %q = OpAccessChain %pword %buf %c0 %n OpStore %q %c3 OpBranch %m %m = OpLabel OpStore %v %red"
        );
        let text = vertex_text("", decorations, declarations, &body);
        let text = text.replacen("OpMemoryModel", "OpExtension \"SPV_KHR_storage_buffer_storage_class\" OpMemoryModel", 1);
        let scene = Scene::new(load(&text), fragment("", "", "", "%x = OpLoad %v4 %in OpStore %out %x"), &ALL);
        let observation = scene.observed();
        assert_eq!(observation.buffers[0].bytes, [0; 16]);
        observation.doubtful.iter().map(|d| (d.start, d.end, d.why)).collect::<Vec<_>>()
    };
    // A device may have another quotient.
    assert_eq!(on_way("OpFOrdNotEqual %bool %d %near"), [(0, 16, Why::Control)]);
    assert_eq!(on_way("OpFOrdLessThan %bool %one %third"), []);
}
