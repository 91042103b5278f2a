//! Refinement of SPIR-V modules: AFTER may replace BEFORE if, for every input, it shows only what
//! BEFORE allows.
//!
//! The observation consists of the bytes of the storage buffers and the texels of the storage
//! images. For a draw ([`draws`]) it also has the attachments. For one input, and for each
//! observation of AFTER:
//!
//! | BEFORE | allows |
//! |---|---|
//! | is undefined under some schedule, or has no observation | everything: the input is *vacuous* |
//! | an undefined byte | any byte, defined or not: undefined values may shrink |
//! | a byte with one value | this value |
//! | a byte that conforming devices may differ in | this value; another is *undecided* |
//! | a float that conforming devices may differ in | this value; one outside of its set is wrong |
//! | a NaN that is certain | any NaN |
//! | a zero whose sign is not kept | a zero |
//! | a subnormal number that may be flushed | this number, or a zero |
//! | a float without NoContraction | the value of the same sums and products in another order |
//!
//! The [`Trust`](smallstep_semantics::number::Trust) of a value says whether devices may differ in
//! it, under the float controls that BEFORE declares.
//!
//! AFTER may have undefined behaviour, or another ending without an observation, for vacuous inputs
//! only. If that depends on a value that devices may differ in, the input is undecided. With
//! atomics, BEFORE may show different observations under different schedules. AFTER must show one
//! of them. A disagreement requires that all schedules of BEFORE were tried. If only some were
//! tried, an observation outside of them is undecided. Schedules interleave invocations. If relaxed
//! atomics at different locations may be reordered, the memory model allows more. Then all
//! executions of the model are tried ([`weakly`](smallstep_semantics::spirv::grid::weakly)), of
//! BEFORE and of AFTER. An input whose executions exceed the budget is undecided.
//!
//! The semantics keeps the set of all values for an undefined byte. So `x - x` of an undefined `x`
//! has any value here. For BEFORE that allows too much. For AFTER it would demand too much: an
//! operand such as a divisor has undefined behaviour for some values only. If such an operand is
//! computed from an undefined value, the input is undecided.
//!
//! `coverage` records which blocks the inputs reach.
//!
//! [`interface`] checks what must be equal before anything runs. [`input`] makes inputs.
//! [`observe`] is the relation for one input, [`draws`] for one draw. [`shrink`] makes an input
//! that shows a disagreement small. [`blame`] finds the instruction that wrote a byte. [`stages`]
//! are modules whose stages are drawn, and [`pictures`] defines the images of their inputs.

pub mod blame;
mod coverage;
mod doubts;
pub mod draws;
mod floats;
mod formulas;
pub mod input;
pub mod interface;
mod numbers;
pub mod observe;
mod on_device;
pub mod pictures;
mod planted;
pub mod runnable;
pub mod shrink;
mod side;
pub mod stages;
mod texels;
mod weak;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::outcome::{Outcome, TimeLimit};
use smallstep_semantics::spirv::environment::{Observation, Robustness, SubgroupMapping};

use crate::compute::given::Place;
pub use blame::Disagreement;
pub use coverage::Coverage;
use draws::Stages;
use input::{DRAFTS, Drafts};
pub use input::{Input, Shape};
pub use interface::Mismatch;
pub use numbers::Numbers;
use observe::Difference;
pub use observe::Judged;
pub use on_device::OnDevice;
pub use planted::Planted;
pub use runnable::{Runnable, entries};
pub use side::Side;
pub use stages::StageModule;

/// The engine that runs the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// The lockstep machine if it compiles the module and the order of invocations does not matter,
    /// otherwise the relation.
    #[default]
    Any,
    /// The lockstep machine only. It runs one of several orders of invocations.
    Machine,
    /// The relation only.
    Reference,
}

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of inputs.
    pub inputs: u64,
    /// The seed of the inputs. Input i is a function of the seed, i, the interface of BEFORE, the
    /// numbers that both modules contain, and which earlier inputs were vacuous.
    pub seed: u64,
    /// The engine that runs the modules.
    pub engine: Engine,
    /// The most instructions of one run of BEFORE. AFTER may execute [`SLOWER`] times the
    /// instructions of BEFORE and [`ALLOWANCE`] more. With atomics it may execute still more.
    pub fuel: u64,
    /// The behaviour of buffer accesses out of bounds, in both modules.
    pub robustness: Robustness,
    /// The number of invocations in a subgroup, in both modules. Without it, modules that depend on
    /// subgroups are unsupported.
    pub subgroup_size: Option<u32>,
    /// The assignment of invocations to subgroups.
    pub subgroup_mapping: SubgroupMapping,
    /// The most additional inputs that are looked at if no input reached some blocks of BEFORE. An
    /// additional input is compared only if it reaches such a block. If the search has executed
    /// many instructions, it ends once a quarter of this number in a row reach none.
    pub guided: u64,
    /// The number of random schedules that are tried if atomics make the schedule matter.
    pub schedules: u64,
    /// The budget of the search through all schedules.
    pub budget: Budget,
    /// The budget of the search through executions that are no interleavings.
    pub executions: Budget,
    /// The number of workgroups, if it is fixed.
    pub groups: Option<[u32; 3]>,
    /// Buffers with fixed contents.
    pub pinned: Vec<(Place, Vec<u8>)>,
    /// The push constants, if they are fixed.
    pub push: Option<Vec<u8>>,
    /// A device on which AFTER also runs, if the interpreters agree.
    pub device: Option<OnDevice>,
    /// The time after which no further input is tried, neither to find a disagreement nor to make
    /// one smaller. The input that runs at that moment is judged to its end.
    pub time: Option<Duration>,
    /// A mistake planted in the comparison, for tests of what catches it.
    pub planted: Option<Planted>,
}

impl Settings {
    /// Whether this mistake is planted.
    pub(in crate::theorem) fn does(&self, mistake: Planted) -> bool {
        self.planted == Some(mistake)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            inputs: 100,
            seed: 1,
            engine: Engine::Any,
            fuel: 1 << 22,
            robustness: Robustness::None,
            subgroup_size: None,
            subgroup_mapping: SubgroupMapping::default(),
            guided: 0,
            schedules: 4,
            budget: Budget { executions: 2_000, steps: 400_000 },
            executions: EXECUTIONS,
            groups: None,
            pinned: Vec::new(),
            push: None,
            device: None,
            time: None,
            planted: None,
        }
    }
}

/// The budget for the executions of one input: the number of executions, and of choices of what an
/// atomic reads or where it writes.
pub const EXECUTIONS: Budget = Budget { executions: 4_000, steps: 10_000 };
/// The additional inputs in a row that may reach no new block are this fraction of all
/// additional inputs.
const FRUITLESS_FRACTION: u64 = 4;
/// The number of instructions beyond which the search for new blocks counts as long.
const LONG_SEARCH: u64 = 1 << 22;
/// How many instructions AFTER may execute for each instruction of BEFORE.
pub const SLOWER: u64 = 16;
/// How many instructions AFTER may execute in addition.
pub const ALLOWANCE: u64 = 1 << 16;

/// The verdict of a comparison. A disagreement has the difference as one sentence.
pub type Verdict = crate::verdict::Verdict<String>;

/// Why an input has nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// An engine does not model a construct, which is named.
    Unsupported(String),
    /// A limit of an engine was exceeded.
    Limit(String),
}

/// The results of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The number of inputs that were tried. A disagreement ends the comparison.
    pub inputs: u64,
    /// The number of inputs on which AFTER shows what BEFORE allows.
    pub agree: u64,
    /// The number of agreeing inputs for which the schedule matters and not all schedules
    /// were tried.
    pub sampled: u64,
    /// The number of inputs on which BEFORE allows everything, by reason.
    pub vacuous: BTreeMap<String, u64>,
    /// The number of vacuous drafts of inputs that were replaced by a tamer draft.
    pub redrawn: u64,
    /// The number of undecided inputs, by reason.
    pub undecided: BTreeMap<String, u64>,
    /// The first undecided input for each reason, with its number.
    pub first_undecided: BTreeMap<String, (u64, Input)>,
    /// The blocks of BEFORE that ran, if additional inputs are guided by them.
    pub coverage: Option<Coverage>,
    /// The first input that could not be checked: its number and the reason.
    pub unchecked: Option<(u64, Unchecked)>,
    /// The disagreement: the number of the input, the minimal input, and the blame.
    pub disagreement: Option<Box<(u64, Input, Disagreement)>>,
}

impl Summary {
    /// The verdict. If it has several reasons, it names the reason of the most inputs.
    pub fn verdict(&self) -> Verdict {
        let most = |reasons: &BTreeMap<String, u64>| {
            let most = reasons.iter().max_by_key(|(_, count)| **count);
            most.map(|(why, _)| why.clone()).unwrap_or_default()
        };
        match self {
            Summary { disagreement: Some(found), .. } => Verdict::Disagree(found.2.what.clone()),
            Summary { unchecked: Some((_, Unchecked::Unsupported(what))), .. } => Verdict::Unsupported(what.clone()),
            Summary { unchecked: Some((_, Unchecked::Limit(what))), .. } => Verdict::Limit(what.clone()),
            Summary { undecided, .. } if !undecided.is_empty() => Verdict::Undecided(most(undecided)),
            Summary { agree: 0, vacuous, .. } => Verdict::Vacuous(most(vacuous)),
            _ => Verdict::Agree,
        }
    }
}

/// Compares AFTER with BEFORE over generated inputs, up to the first disagreement. The input of the
/// disagreement is then made small. `progress` is called after each input.
///
/// ```
/// use smallstep::compute::ComputeModule;
/// use smallstep::theorem::refine::{Settings, Side, Verdict, refines};
/// use smallstep_semantics::spirv::{Module, Options, assemble};
///
/// let side = |name: &str| -> Result<Side, Box<dyn std::error::Error>> {
///     let text = std::fs::read_to_string(format!("examples/spirv/{name}.spvasm"))?;
///     let module = Module::load(&assemble(&text, Options::default())?)?;
///     Ok(Side::new(name, ComputeModule::new(module, None)?, None))
/// };
/// // A division is moved out of the branch that guards it.
/// let (before, after) = (side("average")?, side("average-hoisted")?);
/// let summary = refines(&before, &after, &Settings::default(), |_| {})?;
/// assert!(matches!(summary.verdict(), Verdict::Disagree(_)));
/// let summary = refines(&before, &before, &Settings::default(), |_| {})?;
/// assert_eq!(summary.verdict(), Verdict::Agree);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Errors: the interfaces do not match, or fixed contents do not fit. The message is a sentence.
pub fn refines(before: &Side, after: &Side, settings: &Settings, progress: impl FnMut(&Summary)) -> Result<Summary, Mismatch> {
    let (before, after) = if settings.does(Planted::Swapped) { (after, before) } else { (before, after) };
    if !settings.does(Planted::Interface) {
        interface::check(before, after)?;
    }
    let push_constant_place = interface::moved_push_constants(&[before.module.uses()], &after.module.uses());
    let mut shape = Shape::of(before, settings)?;
    (shape.push_constant_place, shape.numbers) = (push_constant_place, Numbers::of(&[&before.module.module, &after.module.module]));
    if settings.does(Planted::Unnamed) {
        shape.numbers = Numbers::default();
    }
    let judge = |input: &Input, earlier: &Earlier| observe::judge(before, after, input, settings, earlier);
    let blame = |input: &Input, difference| blame::blame(before, after, input, settings, difference);
    let mut progress = progress;
    let mut summary = Summary::default();
    let coverage = RefCell::new((settings.guided > 0).then(|| Coverage::new(before)));
    let earlier = Earlier { coverage, ..Earlier::new(settings) };
    over_inputs(&mut summary, (0..settings.inputs, None), &shape, settings, (&judge, &earlier), &blame, &mut progress);
    let (mut fruitless, mut executed) = (0, 0);
    for index in settings.inputs..settings.inputs.saturating_add(settings.guided) {
        let is_enough = fruitless > settings.guided / FRUITLESS_FRACTION && executed > LONG_SEARCH;
        let is_enough = is_enough || TimeLimit::passed(earlier.time).is_some();
        if summary.disagreement.is_some() || summary.unchecked.is_some() || is_enough {
            break;
        }
        let draft = earlier.drafts.borrow_mut().next(index, input::first_to_look_at(index));
        let (is_new, instructions) = match &*earlier.coverage.borrow() {
            Some(coverage) if !coverage.is_full() => coverage.reaches_new_block(before, &shape.draw(settings, index, draft), settings),
            _ => break,
        };
        executed += instructions;
        fruitless = if is_new { 0 } else { fruitless + 1 };
        if is_new {
            over_inputs(&mut summary, (index..index + 1, Some(draft)), &shape, settings, (&judge, &earlier), &blame, &mut progress);
        }
    }
    summary.coverage = earlier.coverage.into_inner();
    Ok(summary)
}

/// What a comparison has learnt from its earlier inputs.
#[derive(Debug, Default)]
pub struct Earlier {
    /// The number of inputs with more executions than were tried.
    too_large: Cell<u32>,
    /// The number of inputs for which AFTER has more orders of invocations than were tried.
    too_many_orders: Cell<u32>,
    /// The blocks of BEFORE that ran. `None` if inputs are not guided.
    coverage: RefCell<Option<Coverage>>,
    /// The results of the drafts of inputs.
    drafts: RefCell<Drafts>,
    /// When the comparison must end.
    time: Option<TimeLimit>,
}

impl Earlier {
    /// The state of a comparison that begins now.
    fn new(settings: &Settings) -> Earlier {
        Earlier { time: settings.time.and_then(TimeLimit::from_now), ..Earlier::default() }
    }

    /// Runs BEFORE in the order of its engine. If it has an observation, records the blocks that
    /// it reached.
    fn run(&self, before: &Side, input: &Input, settings: &Settings) -> Outcome<Observation> {
        let mut blocks = BTreeSet::new();
        let recorded_blocks = self.coverage.borrow().is_some().then_some(&mut blocks);
        let outcome = before.run(input, settings, settings.fuel, recorded_blocks);
        if let Outcome::Observed(_) = &outcome {
            self.record_blocks(blocks);
        }
        outcome
    }

    /// Records the blocks of BEFORE that an input with an observation reached.
    fn record_blocks(&self, blocks: impl IntoIterator<Item = u32>) {
        if let Some(coverage) = &mut *self.coverage.borrow_mut() {
            coverage.ran.extend(blocks);
        }
    }
}

/// Compares modules whose stages are drawn, as [`refines`] does.
///
/// Errors: as for [`refines`], and if no draw has the interface of the stages, or a module
/// is refused.
pub fn refines_draws(
    before: &StageModule,
    after: &StageModule,
    settings: &Settings,
    progress: impl FnMut(&Summary),
) -> Result<Summary, Mismatch> {
    interface::check_stages(before, after)?;
    let push_constant_place = after.uses().iter().find_map(|after| interface::moved_push_constants(&before.uses(), after));
    let mut shape = Shape::of_stages(before, settings)?;
    (shape.push_constant_place, shape.numbers) = (push_constant_place, Numbers::of(&[&before.module, &after.module]));
    let scene = shape.scene.clone().ok_or_else(|| Mismatch(format!("{} has no stages", before.name)))?;
    let stages = |side: &StageModule| {
        let dispatch = scene.dispatch(side, &shape.draw(settings, 0, 0)).map_err(|e| Mismatch(e.0))?;
        let mut stages = Stages::new(&dispatch).map_err(|e| Mismatch(format!("{}: {e}", side.name)))?;
        stages.robustness = settings.robustness;
        Ok::<Stages, Mismatch>(stages)
    };
    let (of_before, of_after) = (stages(before)?, stages(after)?);
    let judge = |input: &Input, _: &Earlier| match (scene.dispatch(before, input), scene.dispatch(after, input)) {
        (Ok(draw), Ok(draw_after)) => draws::judge((&of_before, &draw), (&of_after, &draw_after), settings),
        (Err(malformed), _) | (_, Err(malformed)) => Judged::Unchecked(Unchecked::Unsupported(malformed.0)),
    };
    let blame = |_: &Input, difference| blame::of_draw(after, difference);
    let (mut summary, mut progress) = (Summary::default(), progress);
    let earlier = Earlier::new(settings);
    over_inputs(&mut summary, (0..settings.inputs, None), &shape, settings, (&judge, &earlier), &blame, &mut progress);
    Ok(summary)
}

/// Judges one input, with what is known from earlier ones.
type JudgeOne<'j> = &'j dyn Fn(&Input, &Earlier) -> Judged;

/// Judges the inputs with these numbers up to the first disagreement, whose input is then made
/// small. If a draft is given, each input starts with it.
fn over_inputs(
    summary: &mut Summary,
    (indexes, first_draft): (std::ops::Range<u64>, Option<u32>),
    shape: &Shape<'_>,
    settings: &Settings,
    (judge, earlier): (JudgeOne<'_>, &Earlier),
    blame: &dyn Fn(&Input, Difference) -> Disagreement,
    progress: &mut dyn FnMut(&Summary),
) {
    for index in indexes {
        if index % 2 == 1 && settings.does(Planted::OddInputs) {
            (summary.inputs, summary.agree) = (summary.inputs + 1, summary.agree + 1);
            continue;
        }
        if let Some(late) = TimeLimit::passed(earlier.time) {
            let what = format!("{late}, after {} of {} inputs", summary.inputs, settings.inputs);
            summary.unchecked = Some((index, Unchecked::Limit(what)));
            return;
        }
        let may_redraw = !settings.does(Planted::OneDraft);
        let mut draft = if may_redraw { first_draft.unwrap_or_else(|| earlier.drafts.borrow_mut().next(index, 0)) } else { 0 };
        let mut first_reason = None;
        let (input, judged) = loop {
            let drawn = shape.draw(settings, index, draft);
            let judged = judge(&drawn, earlier);
            let is_vacuous = matches!(judged, Judged::Vacuous(_));
            earlier.drafts.borrow_mut().note(index, draft, is_vacuous);
            if let Judged::Vacuous(why) = &judged {
                first_reason.get_or_insert_with(|| why.clone());
            }
            if !is_vacuous || draft + 1 == DRAFTS || !may_redraw {
                break (drawn, judged);
            }
            summary.redrawn += 1;
            draft = earlier.drafts.borrow_mut().next(index, draft + 1);
        };
        summary.inputs += 1;
        let counts_as_agreement = match &judged {
            Judged::Vacuous(_) => settings.does(Planted::VacuousAgrees),
            Judged::Undecided(_) => settings.does(Planted::UndecidedAgrees),
            Judged::Unchecked(_) => settings.does(Planted::UncheckedAgrees),
            _ => false,
        };
        match if counts_as_agreement { Judged::Agree { all: true } } else { judged } {
            Judged::Agree { all } => {
                summary.agree += 1;
                summary.sampled += u64::from(!all);
            }
            Judged::Vacuous(why) => *summary.vacuous.entry(first_reason.unwrap_or(why)).or_default() += 1,
            Judged::Undecided(why) => {
                summary.first_undecided.entry(why.clone()).or_insert((index, input));
                *summary.undecided.entry(why).or_default() += 1;
            }
            Judged::Unchecked(what) => {
                summary.unchecked = Some((index, what));
                return;
            }
            Judged::Disagree(_) => {
                let judge = |input: &Input| judge(input, &Earlier::default());
                let minimal = shrink::minimal_by(&judge, shape, input, settings, earlier.time);
                // The search for the minimal input has seen that it disagrees.
                if let Judged::Disagree(difference) = judge(&minimal) {
                    let disagreement = blame(&minimal, *difference);
                    summary.disagreement = Some(Box::new((index, minimal, disagreement)));
                }
                return;
            }
        }
        progress(summary);
    }
}
