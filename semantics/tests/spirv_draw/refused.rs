//! Draws that are refused by name before anything runs, and limits.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::Format;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{Area, Setup};
use smallstep_semantics::spirv::environment::{Attribute, Rate};
use smallstep_semantics::undefined::Ub;

use crate::*;

#[track_caller]
fn refuses(scene: &Scene, what: &str) {
    match scene.run() {
        Outcome::Unsupported(found) => assert!(found.starts_with(what), "{found}, not {what}"),
        other => panic!("{other:?}, not {what}"),
    }
}

fn plain() -> Scene {
    Scene::new(vertex("", "", "", ""), constant("red"), &ALL)
}

#[test]
fn what_does_not_fit_together_is_refused_by_location() {
    refuses(&Scene::new(passing(), constant("red"), &ALL), "no vertex attribute at location 1 for %");
    let reading = fragment("", "", "", "%x = OpLoad %v4 %in OpStore %out %x");
    refuses(&Scene::new(vertex("", "", "", ""), reading, &ALL), "no output of the vertex stage at location 0, component 0 for the input %");
    let mut scene = plain();
    scene.attributes[0] = Attribute { format: Format::Rgba32Uint, ..floats(0, Rate::Vertex, &ALL) };
    refuses(&scene, "the vertex attribute at location 0 of format R32G32B32A32_UINT");
    let mut scene = plain();
    scene.attributes.push(floats(0, Rate::Vertex, &ALL));
    refuses(&scene, "two vertex attributes at location 0");
    let mut scene = plain();
    scene.targets = vec![target(0, Format::Rgba8Uint, [0; 4])];
    refuses(&scene, "an output of float at location 0 for an attachment of format R8G8B8A8_UINT");
    scene.targets = vec![target(0, Format::Rgba8Unorm, [0; 4]), target(0, Format::Rgba8Unorm, [0; 4])];
    refuses(&scene, "two attachments at location 0");
    let mut scene = plain();
    scene.state.area = Area { end_x: 9, ..scene.state.area };
    refuses(&scene, "an area beyond the attachment at location 0");
    let mut scene = plain();
    scene.indices = Some(vec![0, 1]);
    refuses(&scene, "indices 0 to 3 of 2");
    let mut scene = plain();
    scene.buffers.clear();
    scene.fragment = fragment("", "", "", "%n = OpArrayLength %uint %buf 0 OpStore %out %red");
    refuses(&scene, "no buffer at set 0, binding 0");
}

#[test]
fn what_is_not_modeled_is_refused_by_name() {
    let clip = ("%clip", "OpDecorate %clip BuiltIn ClipDistance");
    let declarations =
        "%floats = OpTypeArray %float %c1 %pout_floats = OpTypePointer Output %floats %clip = OpVariable %pout_floats Output";
    let body = "%q = OpAccessChain %pout_float %clip %c0 OpStore %q %f1";
    refuses(&Scene::new(vertex(clip.0, clip.1, declarations, body), constant("red"), &ALL), "BuiltIn ClipDistance as an output");
    let storing = vertex(
        "",
        "OpDecorate %block Block OpMemberDecorate %block 0 Offset 0 OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0",
        "%block = OpTypeStruct %uint %pblock = OpTypePointer Uniform %block %buf = OpVariable %pblock Uniform %pword = OpTypePointer Uniform %uint",
        "%q = OpAccessChain %pword %buf %c0 %n = OpLoad %uint %q",
    );
    let mut scene = Scene::new(storing, constant("red"), &ALL);
    assert_eq!(scene.run().name(), "observed", "uniform buffers are read");
    scene.vertex = vertex(
        "",
        "OpDecorate %block BufferBlock OpMemberDecorate %block 0 Offset 0 OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0",
        "%block = OpTypeStruct %uint %pblock = OpTypePointer Uniform %block %buf = OpVariable %pblock Uniform %pword = OpTypePointer Uniform %uint",
        "%q = OpAccessChain %pword %buf %c0 OpStore %q %c1",
    );
    match scene.run() {
        Outcome::Undefined(undefined) => assert_eq!(undefined.ub, Ub::DataRace, "three vertices store in one word"),
        other => panic!("{}", other.name()),
    }
    let mut scene = plain();
    scene.fragment =
        fragment("", "", "", "%q = OpAccessChain %pword %buf %c0 %c0 %n = OpAtomicIAdd %uint %q %c2 %c0 %c1 OpStore %out %red");
    refuses(&scene, "OpAtomicIAdd with the scope Workgroup in a draw");
    let mut scene = plain();
    let other = fragment_text(
        "%n",
        "OpDecorate %n Location 0 OpDecorate %n Component 3 OpDecorate %n Flat",
        "%n = OpVariable %pin_uint Input",
        "%x = OpLoad %uint %n",
    );
    (scene.vertex, scene.fragment) = (passing(), load(&other.replace("%coord %in %out", "%coord %out")));
    scene.attributes.push(floats(1, Rate::Vertex, &ALL));
    refuses(&scene, "an output of another type at location 0 than the input %");
    let mut scene = plain();
    scene.vertex = load(&fragment_text("", "", "", "").replace("\"fs\"", "\"vs\""));
    refuses(&scene, "OpEntryPoint Fragment as the Vertex stage of a draw");
}

#[test]
fn hostile_draws_end() {
    let mut scene = plain();
    (scene.count, scene.instances) = (u32::MAX, u32::MAX);
    assert_eq!(scene.run().name(), "limit");
    let mut scene = plain();
    scene.limits.invocations = 3 + 63;
    assert_eq!(scene.run().name(), "limit", "64 fragments and 3 vertices");
    scene.limits.invocations = 3 + 64;
    assert_eq!(scene.run().name(), "observed");
    scene.limits.instructions = 50;
    assert_eq!(scene.run().name(), "out of fuel");
    let mut scene = plain();
    scene.limits.memory = 100;
    assert_eq!(scene.run().name(), "limit");
    let mut scene = plain();
    scene.state.viewport.width = f32::NAN;
    refuses(&scene, "the viewport is empty");
    // The draw has no triangle.
    let mut scene = plain();
    scene.count = 2;
    assert_eq!(picture(&scene.observed().targets[0]), ["........"; 8]);
    assert!(matches!(Setup::new(&scene.rules, &scene.state, [[f32::NAN; 4]; 3]), Ok(Setup::Unknown)));
    // A triangle of which nothing is known costs as much as all pixels that it may touch.
    let mut scene = Scene::new(vertex("", "", "", ""), constant("red"), &[[f32::NAN; 4]; 3]);
    scene.instances = 10_000;
    scene.limits.instructions = 200_000;
    assert_eq!(scene.run().name(), "out of fuel");
}
