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
fn is_anywhere(target: &ObservedTarget, x: u32, y: u32) -> bool {
    (0..target.image.format().channels().len()).all(|c| matches!(target.component(x, y, c), Some(Component::Undecided(Why::Coverage))))
}

/// The first difference of definite values, or of the ways in which both end. `None` if they agree.
/// A device may place some triangles differently, while the machine draws them at their definite
/// place. Pixels of such triangles are not compared.
pub fn definite(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) -> Option<String> {
    let (one, other) = match (relation, machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => (one, other),
        (Outcome::Undefined(one), Outcome::Undefined(other)) => {
            // The order of turns decides which of two racing accesses is reported.
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

/// Whether the undefined values come from two fragments of one pixel. One may lie over the other.
/// If only the machine knows that the later fragment is there, it names that fragment.
fn of_one_pixel(one: MadeBy, other: MadeBy) -> bool {
    let (Some((_, one)), Some((_, other))) = (one.instruction, other.instruction) else { return false };
    one.workgroup != other.workgroup && one.local == other.local
}

/// The first difference between the relation alone and a draw over sets whose fragments run on the
/// machine. A result of the machine that is only more precise is no difference. Counts the
/// compared components.
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
                // The relation has fewer instructions for sets when it runs together with
                // the machine.
                (_, Component::Undecided(Why::Unfollowed)) => &mut counts.unfollowed,
                (Component::Within(one), Component::Within(other)) if one.is_alike(other) => &mut counts.sets,
                (Component::OneOf(one), Component::OneOf(other)) if one.is_alike(other) => &mut counts.sets,
                (Component::Undefined(one), Component::Undefined(other)) if of_one_pixel(*one, *other) => &mut counts.undefined,
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

/// The open parts of an observation: words with their allowed values, and bytes of which nothing
/// is known.
type Open = (BTreeMap<(usize, u64), Expected>, BTreeSet<(usize, u64)>);

fn open(shown: &Observation, acceptance: &Acceptance) -> Open {
    let definite = |buffer: usize, offset: u64| {
        let bytes = shown.buffers.get(buffer)?.bytes.get(offset as usize..offset as usize + 4)?;
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
    let (words, doubtful) = open(relation.0, relation.1);
    let (found, left) = open(machine.0, machine.1);
    let is_open =
        |bytes: &BTreeSet<(usize, u64)>, (buffer, offset): (usize, u64)| (offset..offset + 4).any(|at| bytes.contains(&(buffer, at)));
    if let Some((buffer, byte)) = left.iter().find(|&&at| !doubtful.contains(&at)) {
        return Some(format!("byte {byte} of buffer {buffer} is open"));
    }
    counts.open += left.len() as u64;
    counts.more += doubtful.difference(&left).count() as u64;
    for (&(buffer, offset), one) in &words {
        let same = match (one, found.get(&(buffer, offset))) {
            (Expected::Within(one), Some(Expected::Within(other))) => one.is_alike(other),
            (one, other) => Some(one) == other,
        };
        if !same {
            return Some(format!("byte {offset} of buffer {buffer}: {:?}, not {one:?}", found.get(&(buffer, offset))));
        }
        counts.sets += 1;
    }
    if let Some(((buffer, offset), other)) = found.iter().find(|(word, _)| !words.contains_key(word) && !is_open(&doubtful, **word)) {
        return Some(format!("byte {offset} of buffer {buffer}: {other:?}, and the relation leaves nothing open"));
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
        let made =
            |workgroup, local| MadeBy { kind: Unspecified::Uninitialised, instruction: Some((175, InvocationId { workgroup, local })) };
        assert!(of_one_pixel(made(1, 2), made(17, 2)));
        assert!(!of_one_pixel(made(1, 2), made(17, 3)));
        assert!(!of_one_pixel(made(1, 2), made(1, 3)));
        assert!(!of_one_pixel(made(1, 2), MadeBy { instruction: None, ..made(17, 2) }));
    }
}
