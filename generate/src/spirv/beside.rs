//! The lockstep machine beside the relation on one draw: in what they differ. For tests and
//! campaigns; neither engine knows of it.

use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{Component, DrawObservation, ObservedTarget, Picture};
use smallstep_semantics::undefined::Ub;

/// What was compared of draws over sets: components, by what the relation knows of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// One code.
    pub exactly: u64,
    /// Several codes, or a set of floats.
    pub sets: u64,
    /// Nothing is decided.
    pub open: u64,
    /// The machine decides what the relation leaves open.
    pub more: u64,
    /// Any value.
    pub undefined: u64,
}

impl Components {
    /// Adds those of another draw.
    pub fn add(&mut self, other: Components) {
        self.exactly += other.exactly;
        self.sets += other.sets;
        self.open += other.open;
        self.more += other.more;
        self.undefined += other.undefined;
    }
}

fn pixels(target: &ObservedTarget) -> impl Iterator<Item = (u32, u32)> + use<> {
    let [width, height] = target.image.size(0).unwrap_or_default();
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

/// Whether a device may have a triangle anywhere, so that nothing is known of the pixel.
fn is_anywhere(target: &ObservedTarget, x: u32, y: u32) -> bool {
    (0..target.image.format().channels().len()).all(|c| matches!(target.component(x, y, c), Some(Component::Undecided(Why::Coverage))))
}

/// In what definite values differ, or how both end, if in anything. A triangle that a device may
/// have anywhere is drawn by the machine at its definite place: such pixels are not compared.
pub fn definite(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) -> Option<String> {
    let (one, other) = match (relation, machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => (one, other),
        (Outcome::Undefined(one), Outcome::Undefined(other)) => {
            // Of two accesses that race, the order of turns says which is found by the other.
            let same = one == other || one.ub == Ub::DataRace && other.ub == Ub::DataRace;
            return (!same).then(|| format!("{other:?}, not {one:?}"));
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => return None,
        (one, other) => return (one.name() != other.name()).then(|| format!("{}, not {}: {other:?}", other.name(), one.name())),
    };
    let mut some_anywhere = false;
    for (target, found) in one.targets.iter().zip(&other.targets) {
        let compared = || pixels(target).filter(|&(x, y)| !is_anywhere(target, x, y));
        some_anywhere |= pixels(target).any(|(x, y)| is_anywhere(target, x, y));
        let raw = |(x, y): &(u32, u32)| target.image.raw(0, (*x).into(), (*y).into()) != found.image.raw(0, (*x).into(), (*y).into());
        if target.location != found.location || compared().any(|pixel| raw(&pixel)) {
            return Some(format!("texels {:?}, not {:?}", found.image.bytes(0), target.image.bytes(0)));
        }
        for (x, y, c) in compared().flat_map(|(x, y)| (0..4).map(move |c| (x, y, c))) {
            let (made, shown) = (target.undefined(x, y, c), found.undefined(x, y, c));
            if made != shown {
                return Some(format!("({x}, {y}), {c}: {shown:?}, not {made:?}"));
            }
        }
    }
    let depths = one.depth.as_ref().map(|depth| {
        let [width, height] = depth.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.filter_map(|(x, y)| depth.depth(x, y)).map(|depth| depth.0.value).collect::<Vec<_>>()
    });
    if some_anywhere {
        return None;
    }
    if depths != other.depth {
        return Some(format!("depths {:?}, not {depths:?}", other.depth));
    }
    if one.images != other.images {
        return Some(format!("images {:?}, not {:?}", other.images, one.images));
    }
    if one.buffers != other.buffers {
        return Some(format!("buffers {:?}, not {:?}", other.buffers, one.buffers));
    }
    (one.instructions != other.instructions).then(|| format!("{} instructions, not {}", other.instructions, one.instructions))
}

/// Where the draw over sets with its fragments on the machine shows something else than the
/// relation alone, if that is not only more precise. Counts what is compared.
pub fn over_sets(relation: &DrawObservation, machine: &DrawObservation, counts: &mut Components) -> Option<String> {
    for (target, found) in relation.targets.iter().zip(&machine.targets) {
        if target.image != found.image {
            return Some("other definite texels".into());
        }
        for (x, y, c) in pixels(target).flat_map(|(x, y)| (0..target.image.format().channels().len()).map(move |c| (x, y, c))) {
            let (Some(one), Some(other)) = (target.component(x, y, c), found.component(x, y, c)) else { continue };
            let count = match (&one, &other) {
                (Component::Undecided(_), Component::Undecided(_)) => &mut counts.open,
                (Component::Undecided(_), _) => &mut counts.more,
                (Component::Within(one), Component::Within(other)) if one.is_alike(other) => &mut counts.sets,
                (one, other) if one != other => return Some(format!("({x}, {y}), {c}: {other:?}, not {one:?}")),
                (Component::Exactly(_), _) => &mut counts.exactly,
                (Component::Undefined(_), _) => &mut counts.undefined,
                _ => &mut counts.sets,
            };
            *count += 1;
        }
    }
    None
}
