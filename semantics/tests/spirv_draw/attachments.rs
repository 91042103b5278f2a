//! Coverage, interpolation, depth and formats.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::number::Why;
use smallstep_semantics::raster::{self, DepthBuffer};
use smallstep_semantics::spirv::draw::Component;
use smallstep_semantics::spirv::environment::{DepthTarget, Rate};

use crate::*;

#[test]
fn a_triangle_covers_what_it_covers() {
    let mut scene = Scene::new(passing(), constant("red"), &HALF);
    scene.vertex = vertex("", "", "", "");
    let observation = scene.observed();
    let expected = ["#######?", "######?.", "#####?..", "####?...", "###?....", "##?.....", "#?......", "?......."];
    assert_eq!(picture(&observation.targets[0]), expected);
    // Old and new are the same there: every device shows it.
    scene.targets = vec![target(0, Format::Rgba32Sfloat, [1f32, 0.0, 0.0, 1.0].map(f32::to_bits))];
    assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8]);
    assert_eq!(scene.observed().targets[0].inexact(), []);
}
