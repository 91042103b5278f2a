//! Compares SPIR-V's relation with its lockstep machine on modules with images. The comparison
//! covers what the machine samples, reads and writes. It runs for programs on which WSL's relation
//! also runs.

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{self, Component, DefiniteTarget, DrawObservation, Picture};
use smallstep_semantics::spirv::environment::{Dispatch, Draw, Observation};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{LoadError, Module, Relation, grid};

/// Whether the results of a module may depend on the order of its invocations.
fn depends_on_order(module: &Module) -> bool {
    let is_atomic = |op: Op| Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32;
    module.instructions().iter().any(|i| is_atomic(i.op))
}

/// The difference between the relation and the machine on a dispatch, if any. `None` also if the
/// relation does not end within its fuel, or if there are atomics.
pub(super) fn dispatch_differs(module: &Module, dispatch: &Dispatch, shown: &Observation) -> Result<Option<String>, LoadError> {
    if dispatch.resources.images.is_empty() || depends_on_order(module) {
        return Ok(None);
    }
    Ok(differs(grid::run(module, dispatch, &Schedule::default(), &Relation::default(), &mut ())?, shown))
}

fn differs(by_relation: Outcome<Observation>, shown: &Observation) -> Option<String> {
    match by_relation {
        Outcome::Observed(relation) if relation.buffers != shown.buffers => Some("a buffer".into()),
        Outcome::Observed(relation) if relation.images != shown.images => Some("a texture".into()),
        Outcome::Undefined(undefined) => Some(format!("undefined behaviour: {}: {}", undefined.ub.id(), undefined.what)),
        _ => None,
    }
}

/// The difference between the relation and the machine on a draw, if any. The relation does not
/// draw a triangle that a device may place anywhere.
pub(super) fn draw_differs(vertex: &Module, fragment: &Module, draw: &Draw, shown: &Picture) -> Result<Option<String>, LoadError> {
    if draw.resources.images.is_empty() || depends_on_order(vertex) || depends_on_order(fragment) {
        return Ok(None);
    }
    Ok(match draw::run(vertex, fragment, draw, &Relation::default(), &mut ())? {
        Outcome::Observed(relation) => picture_differs(relation, shown),
        Outcome::Undefined(undefined) => Some(format!("undefined behaviour: {}: {}", undefined.ub.id(), undefined.what)),
        _ => None,
    })
}

fn picture_differs(relation: DrawObservation, shown: &Picture) -> Option<String> {
    if relation.buffers != shown.buffers {
        return Some("a buffer".into());
    }
    if relation.images != shown.images {
        return Some("a texture".into());
    }
    for (target, found) in relation.targets.into_iter().zip(&shown.targets) {
        let [width, height] = target.image.size(0).unwrap_or_default();
        let mut places = (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..4).map(move |c| (x, y, c))));
        if places.any(|(x, y, c)| target.component(x, y, c) == Some(Component::Undecided(Why::Coverage))) {
            return None;
        }
        let target = DefiniteTarget::from(target);
        if target.image.bytes(0) != found.image.bytes(0) || target.undefined_count() != found.undefined_count() {
            return Some(format!("the target at location {}", target.location));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::image::Format;
    use smallstep_semantics::spirv::environment::{ObservedBuffer, ObservedImage};

    #[test]
    fn another_byte_of_a_buffer_or_texture_is_seen() {
        let buffers = vec![ObservedBuffer { bytes: vec![1; 4], ..ObservedBuffer::default() }];
        let texture = ObservedImage { set: 0, binding: 1, format: Format::R8Uint, size: [1; 3], bytes: vec![7], undefined: Vec::new() };
        let shown = Observation { buffers, images: vec![texture], instructions: 3 };
        assert_eq!(differs(Outcome::Observed(shown.clone()), &shown), None);
        let mut other = shown.clone();
        other.buffers[0].bytes[2] = 0;
        assert_eq!(differs(Outcome::Observed(other), &shown), Some("a buffer".into()));
        let mut other = shown.clone();
        other.images[0].bytes[0] = 8;
        assert_eq!(differs(Outcome::Observed(other), &shown), Some("a texture".into()));
    }
}
