//! Comparison of the lockstep machine with the relation, on one draw or dispatch. For tests and
//! campaigns. Neither engine depends on it.

use std::collections::{BTreeMap, BTreeSet};

use smallstep_semantics::number::sets::Unsettled;
use smallstep_semantics::number::{Expected, Why};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{Component, DrawObservation, MadeBy, ObservedTarget, Picture};
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::grid::Acceptance;
use smallstep_semantics::undefined::Ub;

/// Counts of compared components over sets, by the relation's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The relation knows one code.
    pub exactly: u64,
    /// The relation knows several codes, or a set of floats.
    pub sets: u64,
    /// Both engines leave the component open.
    pub open: u64,
    /// The machine decides a component that the relation leaves open.
    pub more: u64,
    /// The machine leaves open a component that the relation decides, because it did not follow
    /// all ways.
    pub unfollowed: u64,
    /// The component is any value.
    pub undefined: u64,
}

impl Components {
    /// Adds the counts of another draw.
    pub fn add(&mut self, other: Components) {
        self.exactly += other.exactly;
        self.sets += other.sets;
        self.open += other.open;
        self.more += other.more;
        self.unfollowed += other.unfollowed;
        self.undefined += other.undefined;
    }
}

fn pixels(target: &ObservedTarget) -> impl Iterator<Item = (u32, u32)> + use<> {
    let [width, height] = target.image.size(0).unwrap_or_default();
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

/// Whether the device decides the coverage of this pixel, so that nothing is known of it.
fn coverage_is_undecided(target: &ObservedTarget, x: u32, y: u32) -> bool {
    (0..target.image.format().channels().len()).all(|c| matches!(target.component(x, y, c), Some(Component::Undecided(Why::Coverage))))
}

/// The first difference of definite values, or of the ways in which both end. `None` if they agree.
/// A device may place some triangles differently, while the machine draws them at their definite
/// place. Pixels of such triangles are not compared.
pub fn definite(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) -> Option<String> {
    let (expected, actual) = match (relation, machine) {
        (Outcome::Observed(expected), Outcome::Observed(actual)) => (expected, actual),
        (Outcome::Undefined(expected), Outcome::Undefined(actual)) => {
            // The order of turns decides which of two racing accesses is reported.
            let same = expected == actual || expected.ub == Ub::DataRace && actual.ub == Ub::DataRace;
            return (!same).then(|| format!("{actual:?}, not {expected:?}"));
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => return None,
        (expected, actual) => {
            return (expected.name() != actual.name()).then(|| format!("{}, not {}: {actual:?}", actual.name(), expected.name()));
        }
    };
    let mut some_undecided = false;
    for (target, actual_target) in expected.targets.iter().zip(&actual.targets) {
        let compared = || pixels(target).filter(|&(x, y)| !coverage_is_undecided(target, x, y));
        some_undecided |= pixels(target).any(|(x, y)| coverage_is_undecided(target, x, y));
        let raw =
            |(x, y): &(u32, u32)| target.image.raw(0, (*x).into(), (*y).into()) != actual_target.image.raw(0, (*x).into(), (*y).into());
        if target.location != actual_target.location || compared().any(|pixel| raw(&pixel)) {
            return Some(format!("texels {:?}, not {:?}", actual_target.image.bytes(0), target.image.bytes(0)));
        }
        for (x, y, c) in compared().flat_map(|(x, y)| (0..4).map(move |c| (x, y, c))) {
            let (expected_undefined, actual_undefined) = (target.undefined(x, y, c), actual_target.undefined(x, y, c));
            if expected_undefined != actual_undefined {
                return Some(format!("({x}, {y}), {c}: {actual_undefined:?}, not {expected_undefined:?}"));
            }
        }
    }
    let depths = expected.depth.as_ref().map(|depth| {
        let [width, height] = depth.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.filter_map(|(x, y)| depth.depth(x, y)).map(|depth| depth.0.value).collect::<Vec<_>>()
    });
    if some_undecided {
        return None;
    }
    if depths != actual.depth {
        return Some(format!("depths {:?}, not {depths:?}", actual.depth));
    }
    if expected.images != actual.images {
        return Some(format!("images {:?}, not {:?}", actual.images, expected.images));
    }
    if expected.buffers != actual.buffers {
        return Some(format!("buffers {:?}, not {:?}", actual.buffers, expected.buffers));
    }
    (expected.instructions != actual.instructions).then(|| format!("{} instructions, not {}", actual.instructions, expected.instructions))
}

/// Whether the undefined values come from two fragments of one pixel. One may lie over the other.
/// If only the machine knows that the later fragment is there, it names that fragment.
fn of_one_pixel(expected: MadeBy, actual: MadeBy) -> bool {
    let (Some((_, expected)), Some((_, actual))) = (expected.instruction, actual.instruction) else { return false };
    expected.workgroup != actual.workgroup && expected.local == actual.local
}

/// The first difference between the relation alone and a draw over sets whose fragments run on the
/// machine. A result of the machine that is only more precise is no difference. Counts the
/// compared components.
pub fn over_sets(relation: &DrawObservation, machine: &DrawObservation, counts: &mut Components) -> Option<String> {
    for (target, actual_target) in relation.targets.iter().zip(&machine.targets) {
        if target.image != actual_target.image {
            return Some("other definite texels".into());
        }
        for (x, y, c) in pixels(target).flat_map(|(x, y)| (0..target.image.format().channels().len()).map(move |c| (x, y, c))) {
            let (Some(expected), Some(actual)) = (target.component(x, y, c), actual_target.component(x, y, c)) else { continue };
            let count = match (&expected, &actual) {
                (Component::Undecided(_), Component::Undecided(_)) => &mut counts.open,
                (Component::Undecided(_), _) => &mut counts.more,
                // The relation has fewer instructions for sets when it runs together with
                // the machine.
                (_, Component::Undecided(Why::Unfollowed)) => &mut counts.unfollowed,
                (Component::Within(expected), Component::Within(actual)) if expected.is_alike(actual) => &mut counts.sets,
                (Component::OneOf(expected), Component::OneOf(actual)) if expected.is_alike(actual) => &mut counts.sets,
                (Component::Undefined(expected), Component::Undefined(actual)) if of_one_pixel(*expected, *actual) => &mut counts.undefined,
                (expected, actual) if expected != actual => return Some(format!("({x}, {y}), {c}: {actual:?}, not {expected:?}")),
                (Component::Exactly(_), _) => &mut counts.exactly,
                (Component::Undefined(_), _) => &mut counts.undefined,
                _ => &mut counts.sets,
            };
            *count += 1;
        }
    }
    None
}

/// The open parts of an observation: words with their allowed values, and bytes of which nothing
/// is known.
type Open = (BTreeMap<(usize, u64), Expected>, BTreeSet<(usize, u64)>);

fn undecided_words(observation: &Observation, acceptance: &Acceptance) -> Open {
    let definite = |buffer: usize, offset: u64| {
        let bytes = observation.buffers.get(buffer)?.bytes.get(offset as usize..offset as usize + 4)?;
        Some(Expected::Bits(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    let words = acceptance.words.iter().map(|word| ((word.buffer, word.offset), word.expected));
    let words = words.filter(|&((buffer, offset), expected)| definite(buffer, offset) != Some(expected));
    (words.collect(), acceptance.doubtful.iter().flat_map(|d| (d.start..d.end).map(|at| (d.buffer, at))).collect())
}

/// The first difference between the machine and the relation on a dispatch over sets. Each comes
/// with its observation. A result of the machine that is only more precise is no difference. Counts
/// open bytes and the other words as compared.
pub fn dispatched(relation: (&Observation, &Acceptance), machine: (&Observation, &Acceptance), counts: &mut Components) -> Option<String> {
    if relation.0.buffers != machine.0.buffers || relation.0.images != machine.0.images {
        return Some("other definite bytes".into());
    }
    // The machine may stay within a bound of ways or cells that the relation exceeds. Any other
    // obstacle of the relation is an obstacle for the machine too.
    if let (Some(Unsettled::Reached(why)), None) = (&relation.1.unsettled, &machine.1.unsettled) {
        return Some(format!("all, and the relation nothing: {why}"));
    }
    let (words, doubtful) = undecided_words(relation.0, relation.1);
    let (actual_words, actual_doubtful) = undecided_words(machine.0, machine.1);
    let is_open =
        |bytes: &BTreeSet<(usize, u64)>, (buffer, offset): (usize, u64)| (offset..offset + 4).any(|at| bytes.contains(&(buffer, at)));
    if let Some((buffer, byte)) = actual_doubtful.iter().find(|&&at| !doubtful.contains(&at)) {
        return Some(format!("byte {byte} of buffer {buffer} is open"));
    }
    counts.open += actual_doubtful.len() as u64;
    counts.more += doubtful.difference(&actual_doubtful).count() as u64;
    for (&(buffer, offset), expected) in &words {
        let same = match (expected, actual_words.get(&(buffer, offset))) {
            (Expected::Within(expected), Some(Expected::Within(actual))) => expected.is_alike(actual),
            (expected, actual) => Some(expected) == actual,
        };
        if !same {
            return Some(format!("byte {offset} of buffer {buffer}: {:?}, not {expected:?}", actual_words.get(&(buffer, offset))));
        }
        counts.sets += 1;
    }
    if let Some(((buffer, offset), actual)) = actual_words.iter().find(|(word, _)| !words.contains_key(word) && !is_open(&doubtful, **word))
    {
        return Some(format!("byte {offset} of buffer {buffer}: {actual:?}, and the relation leaves nothing open"));
    }
    let all: usize = relation.0.buffers.iter().map(|buffer| buffer.bytes.len() / 4).sum();
    counts.exactly += (all - words.len().min(all)) as u64;
    None
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::spirv::environment::InvocationId;
    use smallstep_semantics::undefined::Unspecified;

    use super::*;

    /// The relation settles nothing if a way ends as undefined. Then the machine must not settle
    /// anything. If the relation has too many ways, the machine may settle something.
    #[test]
    fn what_the_relation_does_not_settle_the_machine_does_not() {
        let observation = Observation { buffers: Vec::new(), images: Vec::new(), instructions: 1 };
        let settled = Acceptance::default();
        let differs = |why: Unsettled| {
            let relation = Acceptance { unsettled: Some(why), ..Acceptance::default() };
            dispatched((&observation, &relation), (&observation, &settled), &mut Components::default())
        };
        let why = Unsettled::ended(&Outcome::<()>::OutOfFuel);
        assert_eq!(differs(why).as_deref(), Some("all, and the relation nothing: a way through its branches ends as out of fuel"));
        assert_eq!(differs(Unsettled::Cells), None);
    }

    #[test]
    fn makers_are_alike_in_other_quads_at_the_same_place_only() {
        let made_by =
            |workgroup, local| MadeBy { kind: Unspecified::Uninitialised, instruction: Some((175, InvocationId { workgroup, local })) };
        assert!(of_one_pixel(made_by(1, 2), made_by(17, 2)));
        assert!(!of_one_pixel(made_by(1, 2), made_by(17, 3)));
        assert!(!of_one_pixel(made_by(1, 2), made_by(1, 3)));
        assert!(!of_one_pixel(made_by(1, 2), MadeBy { instruction: None, ..made_by(17, 2) }));
    }
}
