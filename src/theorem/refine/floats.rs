//! Differing floats for which devices may differ. A run over sets ([`grid::explore`]) gives what
//! BEFORE allows, under the float controls that it declares.
//!
//! | BEFORE's word | AFTER's word |
//! |---|---|
//! | has a bounded set | is wrong outside of the set, and if it is undefined |
//! | is a float with a set of a subnormal number and zero | is right inside of the set |
//! | has another bounded set | is undecided inside of the set |
//! | has no known set | is undecided |
//!
//! Inside of a set, and if nothing is known, AFTER's word is right if AFTER computes the same in
//! another order ([`super::formulas`]).
//!
//! A set may be wider than the specification allows, so a value inside of it is undecided. The
//! exception is a subnormal number, which a device may keep or flush.
//!
//! AFTER's float is correctly rounded in each operation, so a conforming device may show it for
//! AFTER. If it is outside of BEFORE's set, AFTER is no refinement, whatever else AFTER may show.

use std::cell::OnceCell;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::{Exploration, Set};
use smallstep_semantics::spirv::Relation;
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::grid::{self, Acceptance};

use super::formulas::{Atoms, Formulas};
use super::observe::{Byte, bytes_at};
use super::{Input, Planted, Settings, Side};
use crate::compute::given::Place;

/// A word that is wrong on every device.
pub(super) struct WrongWord {
    pub(super) place: Place,
    /// The index of the first differing byte of the word.
    pub(super) byte: u64,
    /// Whether AFTER's word is undefined.
    pub(super) undefined: bool,
    /// The set of values that BEFORE allows.
    pub(super) allowed: Set,
}

/// The verdict of sets on differing words.
pub(super) struct SetVerdict {
    /// The words for which AFTER shows a value that no device may show for BEFORE.
    pub(super) wrong_words: Vec<WrongWord>,
    /// Whether BEFORE allows all of the words.
    pub(super) all_allowed: bool,
}

/// The observation of BEFORE, and the sets of its floats.
struct Allowed {
    observation: Observation,
    acceptance: Acceptance,
}

impl Allowed {
    fn of(side: &Side, input: &Input, settings: &Settings) -> Option<Allowed> {
        let report = side.report(input, settings, settings.fuel, &Schedule::default(), &mut ());
        let dispatch = side.dispatch(input, settings, settings.fuel);
        let exploration = Exploration::under(Profile::Strict);
        let acceptance = grid::explore(&side.module.module, &dispatch, &report, &Relation::default(), exploration).ok()?;
        let observation = report.outcome.observed()?.clone();
        Some(Allowed { observation, acceptance })
    }

    /// The set of allowed floats for a word. `None` if the run over sets says no more than the
    /// definite run.
    fn word(&self, place: Place, offset: u64) -> Option<Set> {
        let buffer = place.position(&self.observation.buffers, |b| (b.set, b.binding))?;
        self.acceptance.words.iter().find(|word| (word.buffer, word.offset) == (buffer, offset))?.expected.set()
    }
}

/// The verdict of sets on the words with differing bytes. The bytes are sorted by place and offset.
/// `is_float` says whether BEFORE stores a float at a place and byte.
pub(super) fn judge_words(
    (before, side): (&Side, &Side),
    after: &Observation,
    input: &Input,
    settings: &Settings,
    fuel: u64,
    differing: &[(Place, u64, Byte, Byte)],
    is_float: impl Fn(Place, u64) -> bool,
) -> SetVerdict {
    let mut found = SetVerdict { wrong_words: Vec::new(), all_allowed: false };
    let Some(allowed) = Allowed::of(before, input, settings) else { return found };
    found.all_allowed = true;
    let formulas = OnceCell::new();
    let allowed_by_formulas = |word: (Place, u64)| {
        let both = formulas.get_or_init(|| {
            let mut atoms = Atoms::default();
            let of_before = Formulas::of(before, input, settings, settings.fuel, &mut atoms)?;
            Some((of_before, Formulas::of(side, input, settings, fuel, &mut atoms)?))
        });
        both.as_ref().is_some_and(|(before, after)| before.allow(after, input, word, settings))
    };
    let mut last = None;
    for &(place, byte, ..) in differing {
        let offset = byte & !3;
        if last == Some((place, offset)) {
            continue;
        }
        last = Some((place, offset));
        let set = allowed.word(place, offset).filter(Set::is_bounded);
        let known = set.filter(|_| !settings.does(Planted::Sets) && !settings.does(Planted::Floats));
        let bytes = bytes_at(after, input, place);
        let (Some(set), Some(word)) = (known, bytes.get(offset as usize..offset as usize + 4)) else {
            found.all_allowed &= allowed_by_formulas((place, offset));
            continue;
        };
        let known: Option<Vec<u8>> = word.iter().copied().collect();
        let admitted = known.as_deref().and_then(|word| word.try_into().ok()).is_some_and(|word| {
            let float = f32::from_bits(u32::from_le_bytes(word));
            if float.is_nan() { set.has_nan() } else { set.contains(float.into()) }
        });
        // The set of an integer has its bits as those of a float. A small one looks subnormal.
        let is_exact = is_float(place, offset) && is_exact(&set);
        found.all_allowed &= admitted && (is_exact || settings.does(Planted::Inside) || allowed_by_formulas((place, offset)));
        if !admitted || settings.does(Planted::Points) {
            found.wrong_words.push(WrongWord { place, byte, undefined: known.is_none(), allowed: set });
        }
    }
    found
}

/// Whether a set is exactly what devices may show: a subnormal number, or zero in its place.
fn is_exact(set: &Set) -> bool {
    let is_zero_or_subnormal = |x: f64| x == 0.0 || x.abs() < f64::from(f32::MIN_POSITIVE);
    let numbers = set.spans().iter().filter(|span| span.low != 0.0).count();
    numbers <= 1 && set.spans().iter().all(|span| span.low == span.high && is_zero_or_subnormal(span.low))
}
