//! Refinement of SPIR-V modules: AFTER may stand for BEFORE if, whatever it is given, it shows only
//! what BEFORE allows.
//!
//! What is observed are the bytes of the storage buffers and the texels of the storage images, and
//! of a draw ([`draws`]) its attachments. For one input, and for each observation of AFTER:
//!
//! | BEFORE | allows |
//! |---|---|
//! | is undefined under some schedule, or has no observation | everything: the input is *vacuous* |
//! | a byte that is any value | any byte, defined or not: undefined values may shrink |
//! | a byte that is one value | this value |
//! | a byte that conforming devices may differ in | this value; another is *undecided* |
//! | a float that conforming devices may differ in | the same; one outside of its set is wrong |
//! | a NaN that is certain | any NaN |
//! | a zero whose sign is not kept | a zero |
//! | a subnormal number that may be flushed | it, or a zero |
//! | a float without NoContraction | what the same sums and products give in another order |
//!
//! What devices may differ in is known by the [`Trust`](smallstep_semantics::number::Trust) of a
//! value, under the float controls that BEFORE declares.
//!
//! Undefined behaviour of AFTER, or another ending without an observation, is allowed for vacuous
//! inputs only; if it depends on a value that devices may differ in, it is undecided. What BEFORE
//! shows is a set where atomics make it depend on the schedule: AFTER must stay in it, and a
//! disagreement needs that all of BEFORE's schedules were tried; what is outside of some of them
//! only is undecided. The schedules interleave, and the memory model allows more where relaxed
//! atomics at different locations may be reordered: there all executions of the model are tried
//! ([`weakly`](smallstep_semantics::spirv::grid::weakly)), of BEFORE and of AFTER, and what is too
//! large for that is undecided.
//!
//! The set of values that the semantics keeps for an undefined byte is every value. So `x - x` of
//! an undefined `x` is any value here: of BEFORE that allows too much, and of AFTER it would ask
//! too much: where an operand has undefined behaviour for some values only, as a divisor, and is
//! computed from what is undefined, the input is undecided.
//!
//! `coverage` says which blocks inputs come to.
//!
//! [`interface`] holds what must be alike before anything runs, [`input`] makes inputs, [`observe`]
//! is the relation of one input, [`draws`] that of one draw, [`shrink`] makes an input that shows a
//! disagreement small, [`blame`] says who wrote a byte. [`stages`] are modules whose stages are
//! drawn, [`pictures`] what images their inputs have.

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

use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::outcome::Outcome;
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

/// What runs the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// The lockstep machine where it compiles a module and the order of invocations does not
    /// matter, otherwise the relation.
    #[default]
    Any,
    /// The lockstep machine only: of several orders of invocations, one.
    Machine,
    /// The relation only.
    Reference,
}

/// How modules are compared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many inputs.
    pub inputs: u64,
    /// Which; input i is a function of the seed, i, the interface of BEFORE, the numbers that both
    /// modules name, and of which inputs before it were vacuous.
    pub seed: u64,
    /// What runs them.
    pub engine: Engine,
    /// The most instructions of one run of BEFORE. AFTER has [`SLOWER`] times what BEFORE took, and
    /// [`ALLOWANCE`] more; with atomics, more still.
    pub fuel: u64,
    /// What buffer accesses out of bounds do, in both.
    pub robustness: Robustness,
    /// How many invocations a subgroup has, in both. Modules that depend on it are unsupported
    /// without.
    pub subgroup_size: Option<u32>,
    /// Which invocations are a subgroup.
    pub subgroup_mapping: SubgroupMapping,
    /// How many more inputs are looked at where BEFORE has blocks that none of the others came to.
    /// Those that come to one are compared. If looking takes long, no more are after a quarter as
    /// many in a row that come to none.
    pub guided: u64,
    /// How many random schedules are tried where atomics make the schedule matter.
    pub schedules: u64,
    /// How far all schedules are tried.
    pub budget: Budget,
    /// How far executions that are no interleavings are tried, where relaxed atomics have some.
    pub executions: Budget,
    /// The number of workgroups, if it does not vary.
    pub groups: Option<[u32; 3]>,
    /// Buffers that do not vary.
    pub pinned: Vec<(Place, Vec<u8>)>,
    /// The push constants, if they do not vary.
    pub push: Option<Vec<u8>>,
    /// A device that AFTER runs on too, where the interpreters agree.
    pub device: Option<OnDevice>,
    /// What the comparison does wrong, to see that it is caught.
    pub planted: Option<Planted>,
}

impl Settings {
    /// Whether that mistake is planted.
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
            planted: None,
        }
    }
}

/// How far executions of one input are tried: ends, and choices of what an atomic reads or where it
/// writes.
pub const EXECUTIONS: Budget = Budget { executions: 4_000, steps: 10_000 };
/// Of the inputs that may be looked at, this part in a row may come to no new block.
const BARREN: u64 = 4;
/// Looking at inputs takes long if it executes more instructions than this.
const LOOKED_AT: u64 = 1 << 22;
/// How many instructions AFTER may take for one of BEFORE.
pub const SLOWER: u64 = 16;
/// How many instructions AFTER may take beyond that.
pub const ALLOWANCE: u64 = 1 << 16;

/// What a comparison came to; a disagreement says what differs, in one sentence.
pub type Verdict = crate::verdict::Verdict<String>;

/// Why there is nothing to compare for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// An engine does not model something.
    Unsupported(String),
    /// A limit of an engine was passed.
    Limit(String),
}

/// What became of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Inputs that were tried; a disagreement ends the comparison.
    pub inputs: u64,
    /// Those on which AFTER shows what BEFORE allows.
    pub agree: u64,
    /// Those of them for which BEFORE's schedule matters and was not tried in every
    /// way, in either module.
    pub sampled: u64,
    /// Those on which BEFORE allows everything, by why.
    pub vacuous: BTreeMap<String, u64>,
    /// Drafts of inputs that were vacuous and gave way to a tamer draft.
    pub redrawn: u64,
    /// Those that stay undecided, by why.
    pub undecided: BTreeMap<String, u64>,
    /// Which blocks of BEFORE ran, if inputs were to be guided by them.
    pub coverage: Option<Coverage>,
    /// What could not be checked, with the input's number.
    pub unchecked: Option<(u64, Unchecked)>,
    /// The number of the input on which AFTER shows something else, the minimal input, and what is
    /// to blame.
    pub disagreement: Option<Box<(u64, Input, Disagreement)>>,
}

impl Summary {
    /// The verdict. Of several reasons it names the one of the most inputs.
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

/// Compares AFTER with BEFORE over generated inputs, up to the first disagreement, whose input is
/// then made small. `progress` hears of each input.
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
/// Errors: the interfaces do not match, or what is pinned does not fit: a sentence.
pub fn refines(before: &Side, after: &Side, settings: &Settings, progress: impl FnMut(&Summary)) -> Result<Summary, Mismatch> {
    let (before, after) = if settings.does(Planted::Swapped) { (after, before) } else { (before, after) };
    if !settings.does(Planted::Interface) {
        interface::check(before, after)?;
    }
    let moved = interface::moved_push_constants(&[before.module.uses()], &after.module.uses());
    let mut shape = Shape::of(before, settings)?;
    (shape.moved, shape.numbers) = (moved, Numbers::of(&[&before.module.module, &after.module.module]));
    if settings.does(Planted::Unnamed) {
        shape.numbers = Numbers::default();
    }
    let judge = |input: &Input, earlier: &Earlier| observe::judge(before, after, input, settings, earlier);
    let blame = |input: &Input, difference| blame::blame(before, after, input, settings, difference);
    let mut progress = progress;
    let mut summary = Summary::default();
    let earlier = Earlier { coverage: RefCell::new((settings.guided > 0).then(|| Coverage::new(before))), ..Earlier::default() };
    over_inputs(&mut summary, (0..settings.inputs, None), &shape, settings, (&judge, &earlier), &blame, &mut progress);
    let (mut barren, mut executed) = (0, 0);
    for index in settings.inputs..settings.inputs.saturating_add(settings.guided) {
        let is_enough = barren > settings.guided / BARREN && executed > LOOKED_AT;
        if summary.disagreement.is_some() || summary.unchecked.is_some() || is_enough {
            break;
        }
        let draft = earlier.drafts.borrow_mut().next(index, input::first_to_look_at(index));
        let (is_new, instructions) = match &*earlier.coverage.borrow() {
            Some(coverage) if !coverage.is_full() => coverage.misses(before, &shape.draw(settings, index, draft), settings),
            _ => break,
        };
        executed += instructions;
        barren = if is_new { 0 } else { barren + 1 };
        if is_new {
            over_inputs(&mut summary, (index..index + 1, Some(draft)), &shape, settings, (&judge, &earlier), &blame, &mut progress);
        }
    }
    summary.coverage = earlier.coverage.into_inner();
    Ok(summary)
}

/// What a comparison knows from the inputs that it tried before.
#[derive(Debug, Default)]
pub struct Earlier {
    /// How many inputs have more executions than were tried.
    too_large: Cell<u32>,
    /// Of how many AFTER has more orders of its invocations than were tried.
    too_many_orders: Cell<u32>,
    /// Which blocks of BEFORE ran, if that is wanted.
    coverage: RefCell<Option<Coverage>>,
    /// What became of the drafts of inputs.
    drafts: RefCell<Drafts>,
}

impl Earlier {
    /// Runs BEFORE in the order of its engine, and learns which blocks an input with an observation
    /// comes to.
    fn run(&self, before: &Side, input: &Input, settings: &Settings) -> Outcome<Observation> {
        let mut blocks = BTreeSet::new();
        let wanted = self.coverage.borrow().is_some().then_some(&mut blocks);
        let outcome = before.run(input, settings, settings.fuel, wanted);
        if let Outcome::Observed(_) = &outcome {
            self.came_to(blocks);
        }
        outcome
    }

    /// An input with an observation came to these blocks of BEFORE.
    fn came_to(&self, blocks: impl IntoIterator<Item = u32>) {
        if let Some(coverage) = &mut *self.coverage.borrow_mut() {
            coverage.ran.extend(blocks);
        }
    }
}

/// The same of modules whose stages are drawn.
///
/// Errors: as of [`refines`]; the stages have an interface that no draw has, or a module is
/// refused.
pub fn refines_draws(
    before: &StageModule,
    after: &StageModule,
    settings: &Settings,
    progress: impl FnMut(&Summary),
) -> Result<Summary, Mismatch> {
    interface::check_stages(before, after)?;
    let moved = after.uses().iter().find_map(|after| interface::moved_push_constants(&before.uses(), after));
    let mut shape = Shape::of_stages(before, settings)?;
    (shape.moved, shape.numbers) = (moved, Numbers::of(&[&before.module, &after.module]));
    let scene = shape.scene.clone().ok_or_else(|| Mismatch(format!("{} has no stages", before.name)))?;
    let stages = |side: &StageModule| {
        let dispatch = scene.dispatch(side, &shape.draw(settings, 0, 0)).map_err(|e| Mismatch(e.0))?;
        let mut stages = Stages::new(&dispatch).map_err(|e| Mismatch(format!("{}: {e}", side.name)))?;
        stages.robustness = settings.robustness;
        Ok::<Stages, Mismatch>(stages)
    };
    let (of_before, of_after) = (stages(before)?, stages(after)?);
    let judge = |input: &Input, _: &Earlier| match (scene.dispatch(before, input), scene.dispatch(after, input)) {
        (Ok(draw), Ok(same)) => draws::judge((&of_before, &draw), (&of_after, &same), settings),
        (Err(malformed), _) | (_, Err(malformed)) => Judged::Unchecked(Unchecked::Unsupported(malformed.0)),
    };
    let blame = |_: &Input, difference| blame::of_draw(after, difference);
    let (mut summary, mut progress) = (Summary::default(), progress);
    let earlier = Earlier::default();
    over_inputs(&mut summary, (0..settings.inputs, None), &shape, settings, (&judge, &earlier), &blame, &mut progress);
    Ok(summary)
}

/// What one input shows, given what is known from those before.
type JudgeOne<'j> = &'j dyn Fn(&Input, &Earlier) -> Judged;

/// Inputs of these numbers, from this draft on if one is given, up to the first disagreement, whose
/// input is then made small.
fn over_inputs(
    summary: &mut Summary,
    (indexes, from): (std::ops::Range<u64>, Option<u32>),
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
        let gives_way = !settings.does(Planted::OneDraft);
        let mut draft = if gives_way { from.unwrap_or_else(|| earlier.drafts.borrow_mut().next(index, 0)) } else { 0 };
        let mut first = None;
        let (input, judged) = loop {
            let drawn = shape.draw(settings, index, draft);
            let judged = judge(&drawn, earlier);
            let is_vacuous = matches!(judged, Judged::Vacuous(_));
            earlier.drafts.borrow_mut().note(index, draft, is_vacuous);
            if let Judged::Vacuous(why) = &judged {
                first.get_or_insert_with(|| why.clone());
            }
            if !is_vacuous || draft + 1 == DRAFTS || !gives_way {
                break (drawn, judged);
            }
            summary.redrawn += 1;
            draft = earlier.drafts.borrow_mut().next(index, draft + 1);
        };
        summary.inputs += 1;
        let forgiven = match &judged {
            Judged::Vacuous(_) => settings.does(Planted::VacuousAgrees),
            Judged::Undecided(_) => settings.does(Planted::UndecidedAgrees),
            Judged::Unchecked(_) => settings.does(Planted::UncheckedAgrees),
            _ => false,
        };
        match if forgiven { Judged::Agree { all: true } } else { judged } {
            Judged::Agree { all } => {
                summary.agree += 1;
                summary.sampled += u64::from(!all);
            }
            Judged::Vacuous(why) => *summary.vacuous.entry(first.unwrap_or(why)).or_default() += 1,
            Judged::Undecided(why) => *summary.undecided.entry(why).or_default() += 1,
            Judged::Unchecked(what) => {
                summary.unchecked = Some((index, what));
                return;
            }
            Judged::Disagree(_) => {
                let judge = |input: &Input| judge(input, &Earlier::default());
                let minimal = shrink::minimal_by(&judge, shape, input, settings);
                // The minimal input was seen to disagree.
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
