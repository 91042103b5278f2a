//! The lockstep machine beside the relation: the same definite texels and depths, the same undefined components and where they were made, the same
//! buffers, instructions and undefined behaviour. Planted bugs are caught by that comparison.

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{self, Component, DrawObservation, Picture};
use smallstep_semantics::spirv::environment::Draw;
use smallstep_semantics::spirv::lockstep::FragmentProgram;

use crate::*;

/// The draw with its fragment stage on the machine. What is not compiled is refused too.
pub fn run(scene: &Scene, draw: &Draw<'_>) -> Outcome<Picture> {
    match FragmentProgram::compile(&scene.fragment, "fs") {
        Ok(program) => draw::picture(&scene.vertex, &program, draw, &scene.rules).expect("the entry points are there"),
        Err(error) => Outcome::Unsupported(error.to_string()),
    }
}

/// In what the two differ, if in anything.
fn difference(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) -> Option<String> {
    let (one, other) = match (relation, machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => (one, other),
        (Outcome::Undefined(one), Outcome::Undefined(other)) => {
            return (one != other).then(|| format!("{one:?}\n{other:?}"));
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => return None,
        (one, other) => return (one.name() != other.name()).then(|| format!("{}, not {}: {other:?}", other.name(), one.name())),
    };
    for (target, found) in one.targets.iter().zip(&other.targets) {
        if target.image != found.image || target.location != found.location {
            return Some(format!("texels {:?}, not {:?}", found.image.bytes(0), target.image.bytes(0)));
        }
        let [width, height] = target.image.size(0).expect("a level");
        for (x, y, c) in (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..4).map(move |c| (x, y, c)))) {
            let made = match target.component(x, y, c) {
                Some(Component::Undefined(made)) => Some(made),
                _ => None,
            };
            if made != found.undefined(x, y, c) {
                return Some(format!("({x}, {y}), {c}: {:?}, not {:?}", found.undefined(x, y, c), target.component(x, y, c)));
            }
        }
    }
    let depths = one.depth.as_ref().map(|depth| {
        let [width, height] = depth.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| depth.depth(x, y).expect("a pixel").0.value).collect::<Vec<_>>()
    });
    if depths != other.depth {
        return Some(format!("depths {:?}, not {depths:?}", other.depth));
    }
    if one.buffers != other.buffers {
        return Some(format!("buffers {:?}, not {:?}", other.buffers, one.buffers));
    }
    (one.instructions != other.instructions).then(|| format!("{} instructions, not {}", other.instructions, one.instructions))
}

#[track_caller]
pub fn agrees(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) {
    if let Some(difference) = difference(relation, machine) {
        panic!("the machine shows {difference}");
    }
}
