//! The comparison of the observations of BEFORE and AFTER for one input.

use std::fmt;
use std::ops::ControlFlow;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::Relation;
use smallstep_semantics::spirv::environment::{Observation, ObservedBuffer};
use smallstep_semantics::spirv::grid;
use smallstep_semantics::spirv::lockstep::Watch;
use smallstep_semantics::undefined::Undefined;

use super::blame::{Traced, traced};
use super::on_device::{NotShown, OnDevice};
use super::weak::{self, MOST_ORDERS, MOST_TOO_LARGE, Orders, Tried};
use super::{ALLOWANCE, Earlier, Engine, Input, Planted, SLOWER, Settings, Side, Unchecked, floats, texels};
use crate::compute::BoundInputs;
use crate::compute::given::Place;

/// About how many instructions the search through all schedules of AFTER may execute for one input.
const AFTER_INSTRUCTIONS: u64 = 1 << 18;
/// About how many instructions the search through all schedules of BEFORE may execute. It runs only
/// if AFTER shows something that no known schedule of BEFORE shows.
const BEFORE_INSTRUCTIONS: u64 = 1 << 23;

/// A search through all schedules begins only if its budget, or that of the settings, allows at
/// least so many executions.
const MIN_EXECUTIONS: u64 = 16;

/// The most instructions that AFTER may execute in addition to repeat atomics.
const RETRIES: u64 = 1 << 22;

/// The most bytes that a difference lists.
pub const PLACES: usize = 256;

/// The reason for an undecided verdict if only values that devices may compute differently remain.
const DEVICES: &str = "a byte depends on a value that devices may differ in";

/// The verdict for one input.
#[derive(Clone, Debug)]
pub enum Judged {
    /// BEFORE allows everything that AFTER shows.
    Agree {
        /// Whether all orders of the invocations that can matter were tried.
        all: bool,
    },
    /// BEFORE allows everything. The text gives the reason.
    Vacuous(String),
    /// Devices may differ, or some orders of invocations were not tried. The text gives the reason.
    Undecided(String),
    /// One of the modules has no observation to compare.
    Unchecked(Unchecked),
    /// AFTER shows something that BEFORE does not allow.
    Disagree(Box<Difference>),
}

/// A difference between BEFORE and AFTER, with the orders of invocations in which it was seen.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The kind of difference and its place.
    pub kind: DifferenceKind,
    /// The schedule of BEFORE. If AFTER has an observation, BEFORE's is nearest to it.
    pub before: Schedule,
    /// The schedule of AFTER that shows the difference.
    pub after: Schedule,
    /// The most instructions that AFTER may execute.
    pub fuel: u64,
    /// The bytes that differ, up to [`PLACES`].
    pub places: Vec<(Place, u64)>,
    /// The execution that shows the difference, if no schedule of the relation does.
    pub elsewhere: Option<Box<OtherExecution>>,
}

/// An execution of AFTER on a device, or one that is no interleaving of its invocations.
#[derive(Clone, Debug)]
pub struct OtherExecution {
    /// The observation of AFTER.
    pub shown: Outcome<Observation>,
    /// The execution, described in words: the device, or what each atomic reads.
    pub description: String,
    /// Whether AFTER ran on a device.
    pub on_device: bool,
}

/// The difference between AFTER and what BEFORE allows.
#[derive(Clone, Debug, PartialEq)]
pub enum DifferenceKind {
    /// AFTER has undefined behaviour that BEFORE does not have.
    Undefined(Box<Undefined>),
    /// AFTER ends without an observation. The text says how.
    Ends(String),
    /// A byte of a buffer has another value, or an undefined value.
    Byte {
        /// The place of the buffer.
        place: Place,
        /// The index of the first differing byte in the buffer.
        byte: u64,
        /// The number of bytes that differ.
        bytes: u64,
        /// Whether the byte is undefined in AFTER.
        undefined: bool,
        /// For a float that devices may compute differently: the values that BEFORE allows,
        /// in words.
        allowed: Option<String>,
    },
    /// A component of a texel, or a depth, has another value or an undefined value.
    Texel {
        /// The image or attachment.
        of: Texels,
        /// Column, row, and slice or layer.
        at: [u32; 3],
        /// The index of the component.
        component: u8,
        /// The number of components that differ.
        components: u64,
        /// The value in BEFORE, in words.
        before: String,
        /// The value in AFTER, in words.
        after: String,
        /// Whether the component is undefined in AFTER.
        undefined: bool,
    },
}

/// An image or an attachment, which consists of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Texels {
    /// The storage image at a place.
    Image(Place),
    /// The colour attachment at a location.
    Target(u32),
    /// The depth attachment.
    Depth,
}

impl fmt::Display for Texels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Texels::Image(place) => write!(f, "the image at {place}"),
            Texels::Target(location) => write!(f, "the colour attachment at location {location}"),
            Texels::Depth => f.write_str("the depth attachment"),
        }
    }
}

impl DifferenceKind {
    /// The kind of difference, which stays the same while an input is made smaller.
    pub fn category(&self) -> &'static str {
        match self {
            DifferenceKind::Undefined(undefined) => undefined.ub.id(),
            DifferenceKind::Ends(_) => "no observation",
            DifferenceKind::Byte { undefined: true, .. } | DifferenceKind::Texel { undefined: true, .. } => "any value",
            DifferenceKind::Byte { .. } | DifferenceKind::Texel { .. } => "another value",
        }
    }
}

/// A byte after the dispatch. `None` if its value is undefined.
pub(super) type Byte = Option<u8>;

/// The bytes of the buffer at a place after a dispatch. If the entry point does not use the buffer,
/// these are the bytes of the input.
pub(super) fn bytes_at(observation: &Observation, input: &Input, place: Place) -> Vec<Byte> {
    match place.find(&observation.buffers, |b| (b.set, b.binding)) {
        Some(buffer) => bytes_of(buffer),
        None => input.at(place).iter().map(|&byte| Some(byte)).collect(),
    }
}

fn bytes_of(buffer: &ObservedBuffer) -> Vec<Byte> {
    let mut bytes: Vec<Byte> = buffer.bytes.iter().map(|&byte| Some(byte)).collect();
    for u in &buffer.undefined {
        bytes[u.start as usize..u.end as usize].fill(None);
    }
    bytes
}

/// The bytes that differ: place, index, and the byte in BEFORE and in AFTER.
pub(super) fn differing(before: &Observation, after: &Observation, input: &Input, settings: &Settings) -> Vec<(Place, u64, Byte, Byte)> {
    let mut found = Vec::new();
    let buffers = if settings.does(Planted::FirstBuffer) { before.buffers.get(..1).unwrap_or_default() } else { &before.buffers };
    for (index, buffer) in buffers.iter().enumerate() {
        let place = Place::of(&before.buffers, index, |b| (b.set, b.binding));
        let mut shown = bytes_at(after, input, place);
        if place.find(&after.buffers, |b| (b.set, b.binding)) == Some(buffer) {
            continue;
        }
        if settings.does(Planted::Untouched) && place.find(&after.buffers, |b| (b.set, b.binding)).is_none() {
            continue;
        }
        if settings.does(Planted::LastByte) {
            shown.pop();
        }
        for (at, (b, a)) in bytes_of(buffer).into_iter().zip(shown).enumerate() {
            if differs(b, a, settings) {
                found.push((place, at as u64, b, a));
            }
        }
    }
    found
}

/// Whether BEFORE's byte does not allow AFTER's. An undefined byte of BEFORE allows every byte.
fn differs(before: Byte, after: Byte, settings: &Settings) -> bool {
    match (before, after) {
        (None, after) => after.is_some() && settings.does(Planted::AnyOfBefore),
        (Some(_), None) => !settings.does(Planted::AnyOfAfter),
        (Some(before), Some(after)) => before != after,
    }
}

/// Why a run has no observation to compare. `None` if the run has one, or if the module itself is
/// the reason that it has none, as with undefined behaviour.
pub(super) fn unchecked<O>(outcome: &Outcome<O>) -> Option<Unchecked> {
    match outcome {
        Outcome::Unsupported(what) => Some(Unchecked::Unsupported(what.clone())),
        Outcome::Limit(limit) => Some(Unchecked::Limit(limit.to_string())),
        _ => None,
    }
}

pub(super) fn ending<O>(outcome: &Outcome<O>) -> String {
    match outcome {
        Outcome::Undefined(undefined) => undefined.ub.id().into(),
        Outcome::Stuck(stuck) => format!("stuck, at {}: {}", stuck.at, stuck.why),
        other => other.name().into(),
    }
}

/// The outcomes of one module in some orders of its invocations.
struct KnownOutcomes {
    outcomes: Vec<(Outcome<Observation>, Schedule)>,
    /// All orders that were tried, also those without a new outcome.
    tried: Vec<Tried>,
    /// Whether the outcomes are complete: no other order shows another one.
    complete: bool,
}

/// The most instructions that AFTER may execute if BEFORE executes `instructions`.
fn fuel_of(after: &Side, input: &Input, instructions: u64, settings: &Settings) -> u64 {
    // AFTER may implement an atomic of BEFORE by a loop of compare-exchanges. An invocation repeats
    // that loop each time that another invocation is faster.
    let retries = match after.depends_on_schedule() {
        true => instructions.saturating_mul(after.module.invocations(input.groups)).min(RETRIES),
        false => 0,
    };
    match settings.does(Planted::Fuel) {
        true => instructions,
        false => instructions.saturating_mul(SLOWER).saturating_add(ALLOWANCE + retries),
    }
}

/// Judges an input on the lockstep machine, if the modules have instructions whose results may
/// depend on the order of invocations. If the order has no effect for this input, AFTER shows the
/// same under every order as in the machine's own. Once [`MOST_ORDERS`] inputs had too many orders
/// to try, a few orders of the machine stand for all of them. `None` if the machine does not decide
/// the input.
fn on_the_machine(before: &Side, after: &Side, input: &Input, settings: &Settings, earlier: &Earlier) -> Option<Judged> {
    if settings.device.is_some() || !before.depends_on_schedule() && !after.depends_on_schedule() {
        return None;
    }
    let unwatched = Watch::default();
    let (first, watched) = before.on_machine(input, settings, settings.fuel, unwatched)?;
    let observation = match &first {
        Outcome::Observed(observation) => observation,
        Outcome::Undefined(_) => return Some(Judged::Vacuous(ending(&first))),
        _ => return None,
    };
    earlier.record_blocks(watched.blocks);
    let fuel = fuel_of(after, input, observation.instructions.max(1), settings);
    let watch = Watch { atomics: true, ..unwatched };
    let (shown, watched) = after.on_machine(input, settings, fuel, watch)?;
    let mut reordered = match weak::orders(after, &watched) {
        Orders::Same => return allows(&first, &shown, input, settings).then_some(Judged::Agree { all: true }),
        Orders::MayDiffer(why) if earlier.too_many_orders.get() >= MOST_ORDERS => why,
        _ => return None,
    };
    let (mut of_before, mut of_after) = (vec![first], vec![shown]);
    for order in 1..=settings.schedules {
        let (shown, watched) = after.on_machine(input, settings, fuel, Watch { order, ..watch })?;
        of_after.push(shown);
        // Another order may lead to other atomics.
        match weak::orders(after, &watched) {
            Orders::MayDiffer(why) => reordered = reordered.or(why),
            Orders::Same => {}
            Orders::Unknown => return None,
        }
        of_before.push(before.on_machine(input, settings, settings.fuel, Watch { order, ..unwatched })?.0);
    }
    if reordered.is_some() && earlier.too_large.get() < MOST_TOO_LARGE {
        return None;
    }
    if let Some(ended) = of_before.iter().find(|outcome| matches!(outcome, Outcome::Undefined(_))) {
        return Some(Judged::Vacuous(ending(ended)));
    }
    let allowed = |outcome| of_before.iter().any(|allowed| allows(allowed, outcome, input, settings));
    of_after.iter().all(allowed).then(|| match reordered {
        Some(why) => Judged::Undecided(weak::too_large(&why, settings)),
        None => Judged::Agree { all: false },
    })
}

/// Judges one input.
pub fn judge(before: &Side, after: &Side, input: &Input, settings: &Settings, earlier: &Earlier) -> Judged {
    if let Some(judged) = on_the_machine(before, after, input, settings, earlier) {
        return judged;
    }
    let default = Schedule::default();
    let first = earlier.run(before, input, settings);
    if let Some(what) = unchecked(&first) {
        return Judged::Unchecked(what);
    }
    let Outcome::Observed(observation) = &first else { return Judged::Vacuous(ending(&first)) };
    let instructions = observation.instructions.max(1);
    let fuel = fuel_of(after, input, instructions, settings);
    let shown = |side: &Side, (outcome, tried)| KnownOutcomes {
        outcomes: vec![(outcome, default.clone())],
        tried: vec![tried],
        complete: !side.depends_on_schedule(),
    };
    let of_before = shown(before, (first, Tried::unwatched(default.clone())));
    let ran = match after.depends_on_schedule() && settings.engine != Engine::Machine {
        true => Tried::watched(after, input, settings, fuel, default.clone()),
        false => (after.run(input, settings, fuel, None), Tried::unwatched(default.clone())),
    };
    let mut of_after = shown(after, ran);
    let independent = of_after.complete || of_after.tried[0].is_independent(after, input, settings, fuel);
    of_after.complete |= independent;
    if !independent && !settings.does(Planted::OneOrder) {
        let may_search = earlier.too_many_orders.get() < MOST_ORDERS;
        let budget = if may_search { AFTER_INSTRUCTIONS / instructions } else { 0 };
        try_orders(after, input, settings, fuel, budget, &mut of_after);
        earlier.too_many_orders.update(|inputs| inputs + u32::from(may_search && !of_after.complete));
    }
    let weak = WeakExecutions { before, input, settings, earlier, found: None };
    let mut allowed = Allowed { sides: Sides { before, after, input, settings, fuel }, of_before, weak, instructions };
    let mut undecided = None;
    for (outcome, schedule) in &of_after.outcomes {
        match allowed.check(outcome, schedule) {
            Ok(()) => {}
            Err(NotAllowed::Judged(judged)) => return judged,
            Err(NotAllowed::Undecided(why)) => undecided = Some(why),
        }
    }
    // BEFORE allows what the interleavings of AFTER show. It must also allow what other
    // executions show.
    if undecided.is_none()
        && !independent
        && !settings.does(Planted::Executions)
        && let Some(why) = weak::reordered(after, input, settings, fuel, &of_after.tried)
    {
        allowed.search();
        let of_after = weak::executions(after, input, settings, fuel, earlier);
        for (outcome, reads) in &of_after.shown {
            match allowed.check_weak(outcome) {
                Ok(()) => {}
                Err(NotAllowed::Judged(Judged::Disagree(difference))) => {
                    let elsewhere = OtherExecution { shown: outcome.clone(), description: weak::describe(after, reads), on_device: false };
                    return Judged::Disagree(Box::new(Difference { elsewhere: Some(Box::new(elsewhere)), ..*difference }));
                }
                Err(NotAllowed::Judged(judged)) => return judged,
                Err(NotAllowed::Undecided(why)) => undecided = Some(why),
            }
        }
        // If BEFORE may be reordered as well and is not enumerated, `undecided` already says so.
        if !of_after.complete && undecided.is_none() {
            undecided = Some(weak::too_large(&why, settings));
        }
    }
    match (undecided, &settings.device) {
        (Some(why), _) => Judged::Undecided(why),
        (None, None) => Judged::Agree { all: of_after.complete },
        (None, Some(device)) => allowed.on_device(device),
    }
}

/// The outcomes that BEFORE allows for one input. Other orders are searched only on demand.
struct Allowed<'a> {
    sides: Sides<'a>,
    of_before: KnownOutcomes,
    weak: WeakExecutions<'a>,
    /// The number of instructions that BEFORE executes under the default schedule, at least 1.
    instructions: u64,
}

/// The reason why an outcome is not known to be allowed by BEFORE.
enum NotAllowed {
    /// BEFORE does not allow it, or the input cannot be compared.
    Judged(Judged),
    /// BEFORE may allow it. The text says what is unknown.
    Undecided(String),
}

impl Allowed<'_> {
    fn knows(&self, outcome: &Outcome<Observation>) -> bool {
        let Sides { input, settings, .. } = self.sides;
        self.of_before.outcomes.iter().any(|(allowed, _)| allows(allowed, outcome, input, settings))
    }

    /// Tries other orders of BEFORE.
    fn search(&mut self) {
        let Sides { before, input, settings, .. } = self.sides;
        if !self.of_before.complete && !settings.does(Planted::OneOrderBefore) {
            try_orders(before, input, settings, settings.fuel, BEFORE_INSTRUCTIONS / self.instructions, &mut self.of_before);
        }
    }

    /// Whether BEFORE shows this outcome under the same schedule. That costs one run; a search for
    /// the right order costs many.
    fn shows_under(&mut self, schedule: &Schedule, outcome: &Outcome<Observation>) -> bool {
        let Sides { before, input, settings, .. } = self.sides;
        if self.of_before.complete || *schedule == Schedule::default() || settings.does(Planted::OneOrderBefore) {
            return false;
        }
        let (shown, tried) = Tried::watched(before, input, settings, settings.fuel, schedule.clone());
        if !matches!(shown, Outcome::Observed(_)) {
            return false;
        }
        self.of_before.outcomes.push((shown, schedule.clone()));
        self.of_before.tried.push(tried);
        self.knows(outcome) || settings.does(Planted::SameOrder)
    }

    /// Checks that BEFORE allows an outcome that AFTER shows under this schedule.
    fn check(&mut self, outcome: &Outcome<Observation>, schedule: &Schedule) -> Result<(), NotAllowed> {
        if let Some(what) = unchecked(outcome) {
            return Err(NotAllowed::Judged(Judged::Unchecked(what)));
        }
        if self.knows(outcome) || self.shows_under(schedule, outcome) {
            return Ok(());
        }
        self.search();
        if let Some((ended, _)) = self.of_before.outcomes.iter().find(|(outcome, _)| outcome.observed().is_none()) {
            return Err(NotAllowed::Judged(match unchecked(ended) {
                Some(what) => Judged::Unchecked(what),
                None => Judged::Vacuous(ending(ended)),
            }));
        }
        if self.knows(outcome) {
            return Ok(());
        }
        let Sides { input, settings, .. } = self.sides;
        match self.sides.decide(&self.of_before, outcome, schedule) {
            Ok(None) => Ok(()),
            Ok(Some(difference)) => match self.weak.outcomes(&self.of_before) {
                None => Err(NotAllowed::Judged(Judged::Disagree(Box::new(difference)))),
                Some(Ok(shown)) => match weak::ended(shown) {
                    Some(why) => Err(NotAllowed::Judged(Judged::Vacuous(why))),
                    None if shown.iter().any(|(allowed, _)| allows(allowed, outcome, input, settings)) => Ok(()),
                    None => Err(NotAllowed::Judged(Judged::Disagree(Box::new(difference)))),
                },
                Some(Err(why)) => Err(NotAllowed::Undecided(why.to_string())),
            },
            Err(why) => Err(NotAllowed::Undecided(why)),
        }
    }

    /// Checks that BEFORE allows an outcome of an execution of AFTER that is no interleaving.
    fn check_weak(&mut self, outcome: &Outcome<Observation>) -> Result<(), NotAllowed> {
        if self.knows(outcome) {
            return Ok(());
        }
        let weak_outcomes = match self.weak.outcomes(&self.of_before) {
            None => &[],
            Some(Ok(shown)) => shown,
            Some(Err(why)) => return Err(NotAllowed::Undecided(why.to_string())),
        };
        if let Some(why) = weak::ended(weak_outcomes) {
            return Err(NotAllowed::Judged(Judged::Vacuous(why)));
        }
        let Sides { input, settings, .. } = self.sides;
        if weak_outcomes.iter().any(|(allowed, _)| allows(allowed, outcome, input, settings)) {
            return Ok(());
        }
        match self.sides.decide(&self.of_before, outcome, &Schedule::default()) {
            Ok(None) => Ok(()),
            Ok(Some(difference)) => Err(NotAllowed::Judged(Judged::Disagree(Box::new(difference)))),
            Err(why) => Err(NotAllowed::Undecided(why)),
        }
    }

    /// Judges the observation of AFTER on a device.
    fn on_device(&mut self, device: &OnDevice) -> Judged {
        let Sides { before, after, input, fuel, .. } = self.sides;
        if grid::uses_subgroups(&before.module.module) {
            return Judged::Undecided(format!("{}: its subgroups may have another size", device.name()));
        }
        let bound = BoundInputs {
            buffers: input.buffers.clone(),
            images: input.images.clone(),
            samplers: input.samplers.clone(),
            push_constants: input.push_constants.clone(),
        };
        let shown = match device.shown(|device| after.module.run_on(input.groups, &bound, device)) {
            Ok(observation) => Outcome::Observed(observation),
            Err(NotShown::Judged(judged)) => return judged,
            Err(NotShown::Fails(failure)) => {
                let schedule = Schedule::default();
                let (before, after) = (schedule.clone(), schedule);
                return Judged::Disagree(Box::new(Difference {
                    kind: DifferenceKind::Ends(failure),
                    before,
                    after,
                    fuel,
                    places: Vec::new(),
                    elsewhere: None,
                }));
            }
        };
        match self.check(&shown, &Schedule::default()) {
            Ok(()) => Judged::Agree { all: self.of_before.complete || !before.depends_on_schedule() },
            Err(NotAllowed::Judged(Judged::Disagree(difference))) => {
                let elsewhere = OtherExecution { shown, description: format!("{} shows it", device.name()), on_device: true };
                Judged::Disagree(Box::new(Difference { elsewhere: Some(Box::new(elsewhere)), ..*difference }))
            }
            Err(NotAllowed::Judged(judged)) => judged,
            Err(NotAllowed::Undecided(why)) => Judged::Undecided(format!("{}: {why}", device.name())),
        }
    }
}

/// The outcomes of all executions of a module, or why they are not known.
type WeakOutcomes = Result<Vec<grid::Shown>, String>;

/// The outcomes of BEFORE in executions that are no interleavings, computed on first use.
struct WeakExecutions<'a> {
    before: &'a Side,
    input: &'a Input,
    settings: &'a Settings,
    earlier: &'a Earlier,
    found: Option<Option<WeakOutcomes>>,
}

impl WeakExecutions<'_> {
    /// These outcomes, or why they are not known. `None` if no execution is beyond
    /// the interleavings.
    fn outcomes(&mut self, of_before: &KnownOutcomes) -> Option<Result<&[grid::Shown], &str>> {
        let WeakExecutions { before, input, settings, earlier, .. } = *self;
        if settings.does(Planted::ExecutionsBefore) {
            return None;
        }
        let found = self.found.get_or_insert_with(|| {
            let why = weak::reordered(before, input, settings, settings.fuel, &of_before.tried)?;
            let executions = weak::executions(before, input, settings, settings.fuel, earlier);
            Some(if executions.complete { Ok(executions.shown) } else { Err(weak::too_large(&why, settings)) })
        });
        found.as_ref().map(|found| found.as_deref().map_err(String::as_str))
    }
}

/// Tries other orders of the invocations: all of them if the budget suffices, otherwise some random
/// ones. If both `executions` and the budget of the settings are below [`MIN_EXECUTIONS`], the
/// search through all orders is skipped: so few executions would hardly differ. It is also skipped
/// if `executions` is 0.
fn try_orders(side: &Side, input: &Input, settings: &Settings, fuel: u64, executions: u64, shown: &mut KnownOutcomes) {
    let budget = Budget { executions: settings.budget.executions.min(executions), ..settings.budget };
    let dispatch = side.dispatch(input, settings, fuel);
    let module = &side.module.module;
    let mut found = Vec::new();
    let visit = |outcome: &Outcome<Observation>, schedule: &Schedule| {
        shown.tried.push(Tried::unwatched(schedule.clone()));
        if !found.iter().any(|(known, _)| known == outcome) {
            found.push((outcome.clone(), schedule.clone()));
        }
        ControlFlow::Continue(())
    };
    let is_worthwhile = executions >= MIN_EXECUTIONS || executions > 0 && settings.budget.executions >= MIN_EXECUTIONS;
    let explored = is_worthwhile.then(|| grid::exhaust(module, &dispatch, &Relation::default(), budget, visit));
    let is_new =
        |shown: &KnownOutcomes, outcome: &Outcome<Observation>| !shown.outcomes.iter().any(|(known, _)| show_the_same(known, outcome));
    for (outcome, schedule) in found {
        // A search that reaches a limit says nothing of the module.
        if !matches!(outcome, Outcome::Limit(_)) && is_new(shown, &outcome) {
            shown.outcomes.push((outcome, schedule));
        }
    }
    shown.complete = matches!(explored, Some(Ok(explored)) if explored.complete);
    for seed in (1..=settings.schedules).take_while(|_| !shown.complete) {
        let schedule = Schedule::Random { seed };
        let (outcome, tried) = Tried::watched(side, input, settings, fuel, schedule.clone());
        shown.tried.push(tried);
        if is_new(shown, &outcome) {
            shown.outcomes.push((outcome, schedule));
        }
    }
    shown.complete |= settings.does(Planted::SomeOrders);
}

/// Whether two outcomes show the same, whatever their numbers of instructions.
fn show_the_same(a: &Outcome<Observation>, b: &Outcome<Observation>) -> bool {
    match (a, b) {
        (Outcome::Observed(a), Outcome::Observed(b)) => a.buffers == b.buffers && a.images == b.images,
        _ => a == b,
    }
}

fn allows(before: &Outcome<Observation>, after: &Outcome<Observation>, input: &Input, settings: &Settings) -> bool {
    match (before, after) {
        (Outcome::Observed(before), Outcome::Observed(after)) => {
            differing(before, after, input, settings).is_empty() && texels::differing(before, after, &input.images, settings).is_empty()
        }
        (Outcome::Observed(_), Outcome::Undefined(_)) => settings.does(Planted::UndefinedAfter),
        (Outcome::Observed(_), Outcome::OutOfFuel | Outcome::Stuck(_)) => settings.does(Planted::EndsAfter),
        _ => false,
    }
}

/// Both modules with one input. It decides an observation of AFTER that no known observation of
/// BEFORE allows.
#[derive(Clone, Copy)]
struct Sides<'a> {
    before: &'a Side,
    after: &'a Side,
    input: &'a Input,
    settings: &'a Settings,
    fuel: u64,
}

impl Sides<'_> {
    /// The difference between AFTER and BEFORE. `None` if BEFORE allows all that differs. The error
    /// says why this is not known.
    fn decide(&self, of_before: &KnownOutcomes, outcome: &Outcome<Observation>, schedule: &Schedule) -> Result<Option<Difference>, String> {
        let difference = |kind, before: &Schedule| Difference {
            kind,
            before: before.clone(),
            after: schedule.clone(),
            fuel: self.fuel,
            places: Vec::new(),
            elsewhere: None,
        };
        let first_schedule = &of_before.outcomes[0].1;
        let after = match outcome {
            Outcome::Observed(after) => after,
            Outcome::Undefined(undefined) => {
                let trace = traced(self.after, self.input, self.settings, self.fuel, schedule);
                // The machine may report another invocation than the relation. The relation's first
                // one is preferred.
                let undefined = trace.undefined_behaviour.as_ref().filter(|first| first.ub == undefined.ub).unwrap_or(undefined);
                if let Some(why) = trace.doubt(undefined) {
                    return Err(why);
                }
                return Ok(Some(difference(DifferenceKind::Undefined(Box::new(undefined.clone())), first_schedule)));
            }
            other => return Ok(Some(difference(DifferenceKind::Ends(ending(other)), first_schedule))),
        };
        let mut nearest: Option<(usize, Difference)> = None;
        for (before, schedule) in &of_before.outcomes {
            let Outcome::Observed(before) = before else { continue };
            let trace = traced(self.before, self.input, self.settings, self.settings.fuel, schedule);
            let differing = differing(before, after, self.input, self.settings);
            let (mut wrong, mut undecided) = (Vec::new(), Vec::new());
            for byte in &differing {
                match self.is_wrong(&trace, byte.0, byte.1, byte.3, after) {
                    Some(true) => wrong.push(byte),
                    Some(false) => {}
                    None => undecided.push(*byte),
                }
            }
            let mut of_images = texels::differing(before, after, &self.input.images, self.settings);
            let texels = of_images.len();
            if !of_images.is_empty() {
                let report = self.before.report(self.input, self.settings, self.settings.fuel, schedule, &mut ());
                of_images.retain(|texel| texel.is_wrong(&report.doubtful_texels));
            }
            let kind = match (wrong.first(), of_images.first()) {
                (Some(&&(place, byte, _, shown)), _) => {
                    DifferenceKind::Byte { place, byte, bytes: wrong.len() as u64, undefined: shown.is_none(), allowed: None }
                }
                (None, Some(texel)) => texel.difference_kind(of_images.len() as u64),
                (None, None) => match self.by_sets(&trace, after, &undecided)? {
                    Some(kind) => kind,
                    None if texels == 0 => return Ok(None),
                    None => return Err(DEVICES.into()),
                },
            };
            let count = wrong.len() + of_images.len();
            if nearest.as_ref().is_none_or(|(least, _)| count < *least) {
                let places = wrong.iter().take(PLACES).map(|(place, byte, ..)| (*place, *byte)).collect();
                nearest = Some((count, Difference { places, ..difference(kind, schedule) }));
            }
        }
        match (nearest, of_before.complete) {
            (Some((_, difference)), true) => Ok(Some(difference)),
            _ => Err("not every order of the invocations was tried".into()),
        }
    }

    /// The difference in floats for which a device may show several values. `None` if BEFORE allows
    /// all of them. The error says why this is not known.
    fn by_sets(
        &self,
        trace: &Traced,
        after: &Observation,
        undecided: &[(Place, u64, Byte, Byte)],
    ) -> Result<Option<DifferenceKind>, String> {
        if undecided.is_empty() {
            return Ok(None);
        }
        let is_float = |place, byte| trace.writer(place, byte).is_some_and(|writer| writer.is_float);
        let found = floats::judge_words((self.before, self.after), after, self.input, self.settings, self.fuel, undecided, is_float);
        match found.wrong_words.first() {
            Some(&floats::WrongWord { place, byte, undefined, allowed }) => Ok(Some(DifferenceKind::Byte {
                place,
                byte,
                bytes: 4 * found.wrong_words.len() as u64,
                undefined,
                allowed: Some(allowed.to_string()),
            })),
            None if found.all_allowed => Ok(None),
            None => Err(DEVICES.into()),
        }
    }

    /// Whether a differing byte is wrong on every device. `None` if that depends on the device.
    fn is_wrong(&self, trace: &Traced, place: Place, at: u64, after: Byte, shown: &Observation) -> Option<bool> {
        // A byte that nothing wrote must have its initial value.
        let Some(writer) = trace.writer(place, at) else { return Some(true) };
        let profile = trace.profile;
        if !writer.trust.is_decided(profile) {
            return self.settings.does(Planted::Doubt).then_some(true);
        }
        if !writer.is_float {
            return Some(true);
        }
        if self.settings.does(Planted::Floats) {
            return None;
        }
        let (start, width) = (writer.start, writer.width);
        let bytes = bytes_at(shown, self.input, place);
        let of_after: Option<Vec<u8>> = bytes[start as usize..(start + u64::from(width)) as usize].iter().copied().collect();
        let Some(of_after) = of_after else { return after.is_none().then_some(true) };
        let bits = of_after.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        let all = if width == 8 { u64::MAX } else { (1 << (8 * width)) - 1 };
        let magnitude = |bits: u64| bits << 1 & all;
        let infinity: u64 = match width {
            2 => 0x7c00 << 1,
            4 => 0x7f80_0000 << 1,
            _ => 0x7ff0_0000_0000_0000 << 1,
        };
        // The bits of a NaN are not specified.
        let any_nan = magnitude(writer.bits) > infinity && magnitude(bits) > infinity;
        let zero_of_any_sign = !(profile.is_strict() && writer.trust.zero_sign) && magnitude(writer.bits) == 0 && magnitude(bits) == 0;
        Some((!any_nan || self.settings.does(Planted::Nans)) && (!zero_of_any_sign || self.settings.does(Planted::ZeroSigns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::outcome::Stuck;
    use smallstep_semantics::undefined::Ub;

    /// A run without an observation is described by its undefined behaviour, its place, or
    /// its ending.
    #[test]
    fn endings_are_told() {
        let undefined = Undefined { ub: Ub::DataRace, what: String::new(), at: String::new(), site: None };
        assert_eq!(ending::<()>(&Outcome::Undefined(undefined)), "spirv/data-race");
        let stuck = Stuck { why: "no rule".into(), at: "block 3".into() };
        assert_eq!(ending::<()>(&Outcome::Stuck(stuck)), "stuck, at block 3: no rule");
        assert_eq!(ending::<()>(&Outcome::OutOfFuel), "out of fuel");
    }
}
