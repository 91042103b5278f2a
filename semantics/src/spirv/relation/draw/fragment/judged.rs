//! The fragment stage over sets on the lockstep machine. It runs 16 quads side by side, then the
//! other ways of lanes that met open conditions, 64 lanes side by side.
//!
//! Lanes do not communicate here, so each lane of a quad takes its ways by itself. The relation
//! runs the quads that the machine cannot judge, and a sample of the others. On a sample both must
//! show the same, or the relation must leave it open.

use rustc_hash::FxHashMap;

use super::super::targets::{Presence, Written};
use super::explore::{Explorer, Quad, Seen};
use super::operations::FragmentOutputs;
use super::{Ended, Fragments, Related, Running};
use crate::concurrency::{Begin, Schedule};
use crate::number::{Expected, Profile, Why};
use crate::outcome::{Outcome, Stuck};
use crate::spirv::environment::Observation;
use crate::spirv::grid::Grid;
use crate::spirv::grid::work::Finished;
use crate::spirv::lockstep::{Failure, Quads, Tag, WAYS};
use crate::spirv::module::Variable;
use crate::spirv::step::Sink;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

/// The relation runs one quad in so many as a sample. All samples together may take so many
/// instructions, or one in so many of those that the machine executes.
const SAMPLES: u32 = 1024;
const SAMPLED: u64 = 1 << 20;
const SHARE: u64 = 1 << 11;
/// The relation also runs quads of which the machine cannot finish some way. Once it has executed
/// so many instructions, such quads stay open instead ([`Why::Unfollowed`]).
const LOST: u64 = 1 << 22;
/// The number of waiting ways at which they run.
const POOL: usize = 64;

/// Why the machine does not finish a draw.
pub(in crate::spirv::relation::draw) enum Stopped {
    /// The relation has to run the whole draw and report how it ends.
    Again,
    /// The engines differ on a sample.
    Differ(Stuck),
}

/// A quad with lanes that take several ways.
struct Parted {
    left: [FragmentOutputs; 4],
    seen: [Seen; 4],
    /// The number of ways of each lane.
    ways: [u32; 4],
    /// The lanes that have ways which do not run.
    unsettled: [bool; 4],
    /// The lanes that met open conditions at OpSelect alone. If they have too many ways, the
    /// relation runs the quad, since it decides what no OpSelect chooses.
    selects: [bool; 4],
    /// The number of ways that still have to run.
    waiting: usize,
    /// Whether the machine could not finish some way.
    lost: bool,
}

/// The state of a draw on the machine.
pub(in crate::spirv::relation::draw) struct Judged<'j, 'p, 'm> {
    pub(in crate::spirv::relation::draw) quads: Quads<'p>,
    pub(in crate::spirv::relation::draw) explorer: Explorer<'m>,
    pub(in crate::spirv::relation::draw) schedule: &'j Schedule,
    pub(in crate::spirv::relation::draw) sink: &'j mut dyn Sink,
    /// The most instructions of the whole draw.
    pub(in crate::spirv::relation::draw) fuel: u64,
    /// The instructions that the relation has executed, and those of them in samples.
    pub(in crate::spirv::relation::draw) by_relation: u64,
    pub(in crate::spirv::relation::draw) sampled: u64,
}

/// Whether the quad of that number is a sample.
pub(super) fn is_sample(number: u32) -> bool {
    number.is_multiple_of(SAMPLES)
}

/// The origin of an interface variable's value in an invocation that did not write to it.
pub(super) fn unwritten(variable: &Variable, invocation: u32) -> Origin {
    Origin { kind: Unspecified::UnwrittenOutput, instruction: variable.instruction, invocation }
}

/// A finished lane of the machine.
struct Lane<'q, 'p> {
    quads: &'q Quads<'p>,
    lane: usize,
    number: u32,
}

impl Ended for Lane<'_, '_> {
    fn is_discarded(&self) -> bool {
        self.quads.is_discarded(self.lane)
    }

    fn is_helper(&self) -> bool {
        self.quads.is_helper(self.lane)
    }

    fn control_in_doubt(&self, _: Profile) -> bool {
        self.quads.is_parted(self.lane)
    }

    fn output(&self, variable: &Variable) -> Scalars {
        let mut scalars: Scalars = self.quads.output(self.lane, variable.id, unwritten(variable, self.number)).collect();
        if self.quads.is_parted(self.lane) {
            for scalar in &mut scalars {
                (scalar.trust.doubt, scalar.trust.grid) = (scalar.trust.doubt.or(Some(Why::Control)), None);
            }
        }
        scalars
    }
}

/// An invocation of a quad that the relation has run alone. Its invocation numbers count from the
/// quad's first.
struct Alone<'f, 'm>(&'f Finished<'m>, u32, u32);

impl Ended for Alone<'_, '_> {
    fn is_discarded(&self) -> bool {
        Related(self.0, self.1).is_discarded()
    }

    fn is_helper(&self) -> bool {
        Related(self.0, self.1).is_helper()
    }

    fn control_in_doubt(&self, profile: Profile) -> bool {
        Related(self.0, self.1).control_in_doubt(profile)
    }

    fn output(&self, variable: &Variable) -> Scalars {
        let mut scalars = Related(self.0, self.1).output(variable);
        scalars.iter_mut().filter_map(|scalar| scalar.undefined.as_mut()).for_each(|origin| origin.invocation += 4 * self.2);
        scalars
    }
}

impl<'m> Fragments<'m, '_> {
    /// Runs all quads.
    ///
    /// # Errors
    /// The machine cannot finish the draw.
    pub(in crate::spirv::relation::draw) fn judge(&mut self, by: &mut Judged<'_, '_, 'm>) -> Result<(), Stopped> {
        self.run_inside(|variable, index| by.quads.reads(variable.id, index));
        let (mut first, mut more) = (0, true);
        let mut parted: FxHashMap<u32, Parted> = FxHashMap::default();
        while more || by.quads.pending() > 0 {
            let count = if more && by.quads.pending() < POOL { self.judge_quads(by, first, &mut more, &mut parted)? } else { 0 };
            first += count;
            match by.quads.pending() {
                0 if count == 0 && more => return Err(Stopped::Again),
                0 => {}
                waiting if waiting < POOL && more && count > 0 => {}
                _ => self.judge_ways(by, &mut parted)?,
            }
        }
        self.commit();
        Ok(())
    }

    /// Runs the next quads, side by side. Returns their number.
    fn judge_quads(
        &mut self,
        by: &mut Judged<'_, '_, 'm>,
        first: u32,
        more: &mut bool,
        parted: &mut FxHashMap<u32, Parted>,
    ) -> Result<u32, Stopped> {
        by.quads.begin(first);
        self.give_unread(&mut by.quads);
        self.forget_inner();
        let mut count = 0;
        while count < Quads::SIDE_BY_SIDE {
            let mut left = by.fuel.checked_sub(by.quads.executed() + by.by_relation).ok_or(Stopped::Again)?;
            let before = left;
            let begins = self.advance(first + count, &mut left);
            by.fuel -= before - left;
            match begins {
                Ok(Begin::Begins) => {}
                Ok(Begin::NotYet) => break,
                Ok(Begin::NoMore) => {
                    *more = false;
                    break;
                }
                Err(_) => return Err(Stopped::Again),
            }
            let number = first + count;
            match self.inner_quad(number).copied() {
                Some(inner) => {
                    (0..4).for_each(|lane| by.quads.tag(4 * count as usize + usize::from(lane), (number, lane)));
                    self.give_inside(inner, count, &mut by.quads).ok_or(Stopped::Again)?;
                }
                None => {
                    for lane in 0..4u8 {
                        self.give(by, (number, lane), 4 * count as usize + usize::from(lane))?;
                    }
                }
            }
            count += 1;
        }
        if count == 0 {
            return Ok(0);
        }
        by.quads.run(count, by.fuel).map_err(|_: Failure| Stopped::Again)?;
        self.write_all_inside(first, &by.quads);
        let (now, plain) = (by.quads.newly_parted(), by.quads.ended_plainly());
        for number in first..first + count {
            let at = 4 * (number - first) as usize;
            if let Some(inner) = self.inner_quad(number).copied() {
                if plain >> at & 1 == 1 {
                    continue;
                }
                if !self.begins_again(number, inner.at) {
                    return Err(Stopped::Again);
                }
            }
            let Some(running) = self.order.quad(number) else { return Err(Stopped::Again) };
            if (at..at + 4).any(|lane| by.quads.is_left_to_relation(lane)) {
                by.quads.drop_ways(|(quad, _)| quad == number);
                let left = self.quad_by_relation(by, number)?;
                self.order.end(number, left);
                continue;
            }
            let helps = running.presences.map(|presence| presence.is_none());
            by.quads.drop_ways(|(quad, lane)| quad == number && helps[usize::from(lane)]);
            let left = [0, 1, 2, 3].map(|lane: usize| {
                let ended = Lane { quads: &by.quads, lane: at + lane, number: 4 * number + lane as u32 };
                self.leaves(running, lane, &ended)
            });
            let presences = running.presences;
            let seen = [0, 1, 2, 3].map(|lane| self.seen(&by.quads, at + lane, Presence::is_helper(presences[lane])));
            let unsettled = [0, 1, 2, 3].map(|lane| by.quads.is_unsettled(at + lane));
            let selects = [0, 1, 2, 3].map(|lane| by.quads.is_parted(at + lane) && !by.quads.is_branched(at + lane));
            let mut quad = Parted { left, seen, ways: [1; 4], unsettled, selects, waiting: 0, lost: false };
            for &(_, lane) in now.iter().filter(|(of, lane)| *of == number && !helps[usize::from(*lane)]) {
                quad.ways[usize::from(lane)] += 1;
                quad.waiting += 1;
            }
            match quad.waiting {
                0 => self.settle(by, number, quad)?,
                _ => drop(parted.insert(number, quad)),
            }
        }
        Ok(count)
    }

    /// Runs up to 64 waiting ways, side by side.
    fn judge_ways(&mut self, by: &mut Judged<'_, '_, 'm>, parted: &mut FxHashMap<u32, Parted>) -> Result<(), Stopped> {
        let some = by.quads.take_ways();
        by.quads.run_ways(by.fuel).map_err(|_: Failure| Stopped::Again)?;
        for (number, lane) in by.quads.newly_parted() {
            let Some(quad) = parted.get_mut(&number) else { continue };
            quad.ways[usize::from(lane)] += 1;
            quad.waiting += 1;
        }
        for (lane, &(number, of_quad)) in some.iter().enumerate() {
            let of_quad = usize::from(of_quad);
            let Some(helper) = self.order.quad(number).map(|running| Presence::is_helper(running.presences[of_quad])) else { continue };
            let seen = self.seen(&by.quads, lane, helper);
            let Some(quad) = parted.get_mut(&number) else { continue };
            quad.seen[of_quad].also(seen);
            quad.lost |= by.quads.is_left_to_relation(lane);
            quad.unsettled[of_quad] |= by.quads.is_unsettled(lane) || quad.ways[of_quad] > WAYS;
            quad.waiting -= 1;
        }
        // A lane with too many ways is open in any case, so its other ways need not run.
        let is_dropped = |(number, lane): Tag| parted.get(&number).is_some_and(|quad| quad.unsettled[usize::from(lane)]);
        let dropped = by.quads.drop_ways(is_dropped);
        for number in dropped {
            if let Some(quad) = parted.get_mut(&number) {
                quad.waiting -= 1;
            }
        }
        let done: Vec<u32> = parted.iter().filter(|(_, quad)| quad.waiting == 0).map(|(&number, _)| number).collect();
        for number in done {
            if let Some(quad) = parted.remove(&number) {
                self.settle(by, number, quad)?;
            }
        }
        Ok(())
    }

    /// Gives the inputs of a quad's lane to a lane of the machine.
    fn give(&self, by: &mut Judged<'_, '_, 'm>, (number, of_quad): Tag, lane: usize) -> Result<(), Stopped> {
        by.quads.tag(lane, (number, of_quad));
        let of_quad = usize::from(of_quad);
        let begun = self.order.quad(number).and_then(|running| running.begun.as_ref()).ok_or(Stopped::Again)?;
        for (variable, sources) in &self.interface.inputs {
            let origin = unwritten(variable, 4 * number + of_quad as u32);
            for (index, &source) in sources.iter().enumerate() {
                let sets = by.quads.sets().ok_or(Stopped::Again)?;
                let scalar = self.given(begun, of_quad, source, origin, sets).map_err(|_| Stopped::Again)?;
                by.quads.set_input_scalar(lane, variable.id, index, &scalar);
            }
        }
        Ok(())
    }

    /// What a lane of the machine shows at the end of its way.
    fn seen(&self, quads: &Quads<'_>, lane: usize, began_as_helper: bool) -> Seen {
        let component = |place: &Option<(&Variable, usize)>| {
            let (variable, index) = (*place)?;
            let scalar = quads.output(lane, variable.id, unwritten(variable, lane as u32)).nth(index)?;
            scalar.undefined.is_none().then(|| quads.set_of(&scalar))
        };
        let written = self.interface.outputs.iter().map(|places| [0, 1, 2, 3].map(|c: usize| component(&places[c])));
        let gone = quads.is_discarded(lane) || quads.is_helper(lane) && !began_as_helper;
        Seen { gone, stays: !gone, written: written.collect() }
    }

    /// Finishes a quad whose ways have all run: joins what they show, and compares a sample.
    fn settle(&mut self, by: &mut Judged<'_, '_, 'm>, number: u32, quad: Parted) -> Result<(), Stopped> {
        let Parted { mut left, seen, unsettled, selects, lost, .. } = quad;
        let lost = lost || unsettled.iter().zip(selects).any(|(&unsettled, selects)| unsettled && selects);
        if lost && by.by_relation + by.explorer.spent() <= LOST {
            let left = self.quad_by_relation(by, number)?;
            self.order.end(number, left);
            return Ok(());
        }
        if lost {
            let profile = self.interface.profile;
            left.iter_mut().for_each(|left| left.stays_unfollowed(profile));
        }
        let Some(running) = self.order.quad(number) else { return Err(Stopped::Again) };
        let samples = running.samples.clone();
        self.order.end(number, left);
        self.put_seen(number, seen, |lane| !unsettled[lane], &samples);
        if is_sample(number) && by.sampled <= SAMPLED.max(by.quads.executed() / SHARE) {
            let before = by.by_relation;
            let related = self.quad_by_relation(by, number)?;
            by.sampled += by.by_relation - before;
            let Some(running) = self.order.quad(number) else { return Err(Stopped::Again) };
            let machine = self.order.outputs(number).map_or(&[][..], |left| left);
            for (lane, (machine, relation)) in machine.iter().zip(&related).enumerate() {
                if let Some(what) = differs(machine, relation, self.interface.profile, lost) {
                    return Err(Stopped::Differ(disagreement(running, lane, &what)));
                }
            }
        }
        Ok(())
    }

    /// Runs a quad by the relation: with definite values, and over sets where these are open.
    fn quad_by_relation(&mut self, by: &mut Judged<'_, '_, 'm>, number: u32) -> Result<[FragmentOutputs; 4], Stopped> {
        let Judged { explorer, schedule, sink, .. } = by;
        let Ok(topology) = explorer.topology() else { return Err(Stopped::Again) };
        let begun = self.order.quad(number).and_then(|running| running.begun.as_ref()).ok_or(Stopped::Again)?;
        let fuel = by.fuel.saturating_sub(by.quads.executed() + by.by_relation);
        let work = self.quad_of(begun);
        let grid = Grid::of(self.module, explorer.relation, explorer.stage.clone(), work, topology, fuel);
        let mut grid = grid.until(self.draw.limits.time);
        grid.go(schedule, *sink);
        let (quad, report): (Quad<'m>, _) = grid.end();
        let observed: Observation = match report.outcome {
            Outcome::Observed(observed) => observed,
            _ => return Err(Stopped::Again),
        };
        by.by_relation += observed.instructions;
        let members = <[Finished<'m>; 4]>::try_from(quad.finished).map_err(|_| Stopped::Again)?;
        let Some(running) = self.order.quad(number) else { return Err(Stopped::Again) };
        let left = [0, 1, 2, 3].map(|lane: usize| self.leaves(running, lane, &Alone(&members[lane], lane as u32, number)));
        let kept = self.order.end(number, left);
        self.explore(&mut by.explorer, number);
        let left = self.order.take_outputs(number).ok_or(Stopped::Again)?;
        kept.map(|kept| self.order.end(number, kept));
        Ok(left)
    }
}

/// What a device may show of an output component.
fn expected(written: &Written, profile: Profile) -> Result<Expected, Option<Unspecified>> {
    match written {
        Written::Scalar(Scalar { undefined: Some(origin), .. }) => Err(Some(origin.kind)),
        Written::Scalar(scalar) => Ok(scalar.lane().judge(profile)),
        Written::Within(_, set) => Ok(Expected::of(*set, Why::Approximate)),
        Written::Nothing => Err(None),
        Written::Unknown(why) => Ok(Expected::Undecided(*why)),
    }
}

/// The difference between a lane on the machine and by the relation, if the machine is not only
/// more precise. If the machine lost a way, it may leave open what the relation decides, and
/// whether there is a fragment.
fn differs(machine: &FragmentOutputs, relation: &FragmentOutputs, profile: Profile, lost: bool) -> Option<String> {
    let told = relation.stays && !lost;
    if machine.presence != relation.presence && told {
        return Some(format!("the machine has {:?}, the relation {:?}", machine.presence, relation.presence));
    }
    if machine.samples != relation.samples && told {
        return Some(format!("the machine has the samples {:?}, the relation {:?}", machine.samples, relation.samples));
    }
    let pairs = machine.written.iter().flatten().zip(relation.written.iter().flatten());
    pairs.enumerate().find_map(|(at, (machine, relation))| {
        let [machine, relation] = [machine, relation].map(|written| expected(written, profile));
        let same = match (&machine, &relation) {
            (_, Ok(Expected::Undecided(_))) => true,
            (Ok(Expected::Undecided(Why::Unfollowed)), _) => lost,
            (Ok(Expected::Within(machine)), Ok(Expected::Within(relation))) => machine.is_alike(relation),
            (machine, relation) => machine == relation,
        };
        (!same).then(|| format!("component {at} is {machine:?} by the machine, {relation:?} by the relation"))
    })
}

fn disagreement(running: &Running, lane: usize, what: &str) -> Stuck {
    let [x, y] = running.pixel(lane);
    Stuck { why: format!("the engines differ: {what}"), at: format!("fragment stage, pixel ({x}, {y}) of triangle {}", running.triangle) }
}

impl Stopped {
    /// The outcome of the draw, unless the relation has to find it.
    pub(in crate::spirv::relation::draw) fn outcome<T>(self) -> Option<Outcome<T>> {
        match self {
            Stopped::Again => None,
            Stopped::Differ(stuck) => Some(Outcome::Stuck(stuck)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::operation::Scalar as Component;

    fn left(value: f32, doubt: Option<Why>) -> FragmentOutputs {
        let exact = Scalar::exact(Component::F32, value.to_bits().into());
        let scalar = Scalar { trust: doubt.map_or(exact.trust, |why| exact.trust.in_doubt(why)), ..exact };
        let mut left = FragmentOutputs::nothing();
        left.written = vec![[Written::Scalar(scalar); 4]];
        left
    }

    /// Where a way was lost, an open component is no difference. Anything else is one as before.
    #[test]
    fn only_what_is_not_followed_may_be_open_by_the_machine_alone() {
        let says = |machine: &FragmentOutputs, lost| differs(machine, &left(1.0, None), Profile::Strict, lost).is_some();
        let not_followed = left(1.0, Some(Why::Unfollowed));
        assert!(!says(&not_followed, true));
        assert!(says(&not_followed, false), "no way was lost");
        for lost in [false, true] {
            assert!(!says(&left(1.0, None), lost));
            assert!(says(&left(2.0, None), lost), "another decided value");
            assert!(says(&left(1.0, Some(Why::Control)), lost), "open for another reason");
        }
    }
}
