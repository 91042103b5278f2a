//! What a WSL program allows: by its machine if all values are definite, otherwise by its relation.

use super::compare::{Compared, Wrong};
use super::{disagree, unchecked};
use crate::theorem::{Difference, Engine, Verdict};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::{Outcome, Stuck};
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::machine::{self, Compiled, Ending, GridEnding};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::{self, Settings};

/// The fuel of WSL's machine, of the relations, and of SPIR-V's machine.
pub(super) const FUEL: (u64, u64, u64) = (1 << 16, 1 << 18, 1 << 20);
/// The fuel of WSL's relation on all ways of a dispatch or call.
pub(super) const ALL_WAYS: u64 = 1 << 21;
/// The fuel of SPIR-V's machine if the source ends.
pub(super) const LARGE_FUEL: u64 = 1 << 28;
/// The most ways that the relation follows.
pub(super) const WAYS: usize = 64;
/// The number of ways that are tried first. The target's result is nearly always among the results
/// of these ways.
const FEW_WAYS: usize = 2;

/// When WSL's relation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelationUse {
    /// If the machine shows unspecified values, or differs from the target.
    Open,
    /// Always, so that races of programs with definite values are found too.
    Always,
    /// Always, along all ways at once, so that a race on any way is found.
    EveryWay,
}

/// The precisions and numbers of ways for which the relation runs, in turn. Whatever some ways
/// allow is allowed, so all ways are followed only if necessary.
pub(super) fn relation_runs(precision: Option<Profile>, relation_use: RelationUse) -> impl Iterator<Item = (Option<Profile>, usize)> {
    let few = if relation_use == RelationUse::EveryWay { None } else { Some((None, FEW_WAYS)) };
    few.into_iter().chain([(None, WAYS)]).chain(precision.map(|precision| (Some(precision), WAYS)))
}

/// What the source allows.
pub(super) enum Source<S> {
    /// What it shows, by `shown`.
    Shown {
        shown: S,
        /// Whether it met an unspecified value.
        open: bool,
        /// Whether every way was followed.
        complete: bool,
        /// Whether it races.
        races: bool,
    },
    /// Threads of a group wait at different barriers.
    Diverged,
    /// It does not end within its fuel.
    Endless,
    /// It shows nothing. The verdict counts unless another engine decides.
    Unknown(Verdict),
}

/// What each word of each resource may hold, or of the result of a call.
pub(super) type Words = Vec<Vec<Possible>>;

/// The verdict on an engine of WSL that shows nothing. A valid program is never stuck, so that is a
/// disagreement: progress fails.
pub(super) fn shows_nothing<O>(ended: Outcome<O>, engine: Engine) -> Verdict {
    match ended {
        Outcome::Stuck(Stuck { why, at }) => disagree(Engine::Typing, engine, format!("the program is stuck at {at}: {why}")),
        // The place is removed, so that a campaign counts one reason.
        Outcome::Unsupported(what) => {
            let what = what.split_once(" (at ").map_or(what.as_str(), |(what, _)| what);
            unchecked(format!("{engine}: unsupported: {what}"))
        }
        other => unchecked(format!("{engine}: {}", other.name())),
    }
}

/// The verdict if the machine stopped. The place of `ending` is in `text`.
pub(super) fn stopped(ending: &Ending, text: &str) -> Verdict {
    match ending {
        Ending::Stuck { why, place } => {
            let at = line_column(text, place.start);
            let stuck = Stuck { why: (*why).into(), at: format!("{}:{}", at.0, at.1) };
            shows_nothing(Outcome::<()>::Stuck(stuck), Engine::WslMachine)
        }
        _ => unchecked("the machine stopped".into()),
    }
}

impl<S> Source<S> {
    /// The verdict where nothing is shown.
    pub(super) fn unknown(self) -> Verdict {
        match self {
            Source::Unknown(verdict) => verdict,
            _ => unchecked("the relation is out of fuel".into()),
        }
    }

    /// What a run by an engine allows; `shown` takes what it shows apart.
    pub(super) fn of<T>(ending: wsl::Ending<T>, engine: Engine, shown: impl FnOnce(T) -> Source<S>) -> Source<S> {
        match ending {
            wsl::Ending::Shown(found) => shown(*found),
            wsl::Ending::Diverged(_) => Source::Diverged,
            wsl::Ending::OutOfFuel(_) => Source::Endless,
            wsl::Ending::Refused(error) => Source::Unknown(unchecked(error.message.clone())),
            wsl::Ending::Open(_) => Source::Unknown(unchecked(format!("{engine}: an unspecified value was met"))),
            wsl::Ending::Other(other) => Source::Unknown(shows_nothing(other, engine)),
        }
    }
}

/// Whether the source allows what a target shows. The machine decides. The relation does if
/// `relation_use` says so, or if the machine stops or shows something else. It runs with every
/// precision in turn. Only the relation sees races.
pub(super) fn allows<S>(
    machine: Source<S>,
    relation: impl Fn(Option<Profile>, usize) -> Source<S>,
    (precision, relation_use): (Option<Profile>, RelationUse),
    target: &Engine,
    compare: impl Fn(&S) -> Result<Compared, Wrong>,
) -> (Verdict, Compared) {
    let none = Compared::default();
    let by_machine = match machine {
        Source::Shown { shown, open, .. } => compare(&shown).ok().map(|compared| Compared { open, ..compared }),
        Source::Diverged => return (Verdict::Undefined(DIVERGED.into()), none),
        Source::Unknown(stuck @ Verdict::Disagree(_)) => return (stuck, none),
        Source::Endless | Source::Unknown(_) => None,
    };
    if let (Some(compared), RelationUse::Open) = (by_machine, relation_use) {
        return agreed(compared);
    }
    let mut last = (Wrong::from(""), none);
    for (precision, ways) in relation_runs(precision, relation_use) {
        match relation(precision, ways) {
            Source::Shown { races: true, .. } => return (Verdict::Undefined(RACES.into()), Compared { by_relation: true, ..none }),
            Source::Shown { shown, open, complete, .. } => {
                let ran = Compared { open, by_relation: true, ..none };
                match compare(&shown) {
                    Ok(compared) => return agreed(Compared { open, by_relation: true, ..compared }),
                    Err(wrong) if complete => last = (wrong, ran),
                    Err(_) if ways < WAYS => {}
                    Err(wrong) => return (unchecked(format!("not every way was followed, and {}", wrong.what)), ran),
                }
            }
            Source::Diverged => return (Verdict::Undefined(DIVERGED.into()), none),
            other => match (other.unknown(), by_machine) {
                (Verdict::Unchecked(_) | Verdict::Limit(_), Some(compared)) => return agreed(compared),
                (verdict, _) => return (verdict, none),
            },
        }
    }
    let (Wrong { what, bits }, ran) = last;
    let between = (Engine::WslRelation, target.clone());
    (Verdict::Disagree(Box::new(Difference { between, place: None, bits, what, blame: None, unblamed: None })), ran)
}

/// The verdict where nothing wrong was found.
fn agreed(compared: Compared) -> (Verdict, Compared) {
    let any = compared.lanes.undecided;
    let verdict = match any {
        0 if compared.lanes.all() == 0 => Verdict::Vacuous("it shows nothing".into()),
        0 => Verdict::Agree,
        _ => Verdict::Undecided(format!("{any} of {} lanes may be anything", compared.lanes.all())),
    };
    (verdict, compared)
}

const RACES: &str = "the source has a race";
const DIVERGED: &str = "threads of a group wait at different barriers";

/// The source by its machine, up to the first unspecified value.
pub(super) fn machine(dispatch: &Dispatch) -> Source<Words> {
    let Ok(compiled) = Compiled::new(dispatch.program, dispatch.entry.function) else {
        return Source::Unknown(unchecked("the machine refuses".into()));
    };
    let settings = machine::Settings { strategy: Strategy::Carry, fuel: FUEL.0, ..machine::Settings::default() };
    match dispatch.run_fast(&compiled, &settings) {
        Ok(fast) => match fast.ended {
            GridEnding::Done => Source::Shown { shown: fast.possible(), open: false, complete: true, races: false },
            GridEnding::Diverged(..) => Source::Diverged,
            GridEnding::Stopped { ending: Ending::OutOfFuel { .. }, .. } => Source::Endless,
            GridEnding::Stopped { ending, .. } => Source::Unknown(stopped(&ending, dispatch.text)),
        },
        Err(why) => Source::Unknown(unchecked(why.what)),
    }
}

/// The source by its relation, along so many ways, or up to its first race.
pub(super) fn relation(dispatch: &Dispatch, precision: Option<Profile>, ways: usize) -> Source<Words> {
    let settings = Settings { strategy: Strategy::Carry, precision, fuel: ALL_WAYS, ways, until_race: true, ..Settings::default() };
    Source::of(dispatch.run(&settings), Engine::WslRelation, |shown| Source::Shown {
        open: shown.unspecified,
        complete: shown.complete,
        races: !shown.races.is_empty(),
        shown: shown.buffers,
    })
}
