//! The generated program of a seed, and the subjects that are run from it.

use super::case::Case;
use super::subject::Subject;
use super::{disagree, unchecked};
use crate::generate::wsl::typed::{Executed, Purpose, Restriction, executed, short, textured};
use crate::generate::wsl::{arguments, bound, dispatch, draws as pipelines};
use crate::theorem::{Engine, Verdict};
use smallstep_semantics::image::Compare;
use smallstep_semantics::wsl::entry::{EntryPoint, Stage};
use smallstep_semantics::wsl::environment::{Function, FunctionId, Semantic};
use smallstep_semantics::wsl::group::{Dispatch, Resource};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::types::TypeId;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;

/// The most threads of a group for which a typed program's entry point runs.
const MAX_THREADS: u32 = 512;
/// The most threads of a group for which two groups run.
const MAX_OF_TWO: u32 = 32;
/// The most words in an element of a buffer.
const MAX_WORDS: u32 = 2048;
/// The width and height of draws, in pixels.
const SIDES: [u32; 2] = [6, 5];
/// The most draws from one program.
const MAX_DRAWS: usize = 64;

/// The kind of generated programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Programs {
    /// Dispatches with barriers, threadgroup memory and atomics ([`dispatch::dispatch`]).
    Dispatches,
    /// The compute entry points of typed programs ([`executed`]).
    EntryPoints,
    /// The functions of typed programs, with random arguments.
    Functions,
    /// Dispatches in which a race is planted ([`dispatch::racy`]).
    Racy,
    /// Draws of a vertex and a fragment stage that use many features ([`pipelines::program`]).
    Draws,
    /// The fragment entry points of typed programs. Each runs over the screen, and after each
    /// vertex entry point with a matching interface.
    Stages,
    /// [`Programs::Dispatches`] of about 30 statements.
    ShortDispatches,
    /// [`Programs::EntryPoints`] of about 30 statements.
    ShortEntryPoints,
    /// [`Programs::Functions`] of about 30 statements.
    ShortFunctions,
    /// [`Programs::Racy`] of about 30 statements.
    ShortRacy,
    /// [`Programs::Stages`] of about 30 statements.
    ShortStages,
    /// [`Programs::EntryPoints`] with one or two textures each.
    TexturedEntryPoints,
    /// [`Programs::Stages`] with one or two textures each.
    TexturedStages,
}

impl Programs {
    /// Every kind.
    pub const ALL: &[Programs] = &[
        Programs::Dispatches,
        Programs::EntryPoints,
        Programs::Functions,
        Programs::Racy,
        Programs::Draws,
        Programs::Stages,
        Programs::ShortDispatches,
        Programs::ShortEntryPoints,
        Programs::ShortFunctions,
        Programs::ShortRacy,
        Programs::ShortStages,
        Programs::TexturedEntryPoints,
        Programs::TexturedStages,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Programs::Dispatches => "dispatches",
            Programs::EntryPoints => "entry-points",
            Programs::Functions => "functions",
            Programs::Racy => "racing",
            Programs::Draws => "draws",
            Programs::Stages => "stages",
            Programs::ShortDispatches => "short-dispatches",
            Programs::ShortEntryPoints => "short-entry-points",
            Programs::ShortFunctions => "short-functions",
            Programs::ShortRacy => "short-racing",
            Programs::ShortStages => "short-stages",
            Programs::TexturedEntryPoints => "textured-entry-points",
            Programs::TexturedStages => "textured-stages",
        }
    }

    /// Whether each program has a planted race.
    pub fn race(self) -> bool {
        self.run_as() == Programs::Racy
    }

    /// The kind with about 30 statements that runs in the same way.
    pub(super) fn short(self) -> Programs {
        match self.run_as() {
            Programs::Dispatches => Programs::ShortDispatches,
            Programs::EntryPoints => Programs::ShortEntryPoints,
            Programs::Functions => Programs::ShortFunctions,
            Programs::Racy => Programs::ShortRacy,
            Programs::Stages => Programs::ShortStages,
            // Draws have about 30 statements anyway.
            other => other,
        }
    }

    /// The kind without "short" or "textured", which runs in the same way.
    pub(super) fn run_as(self) -> Programs {
        match self {
            Programs::ShortDispatches => Programs::Dispatches,
            Programs::ShortEntryPoints | Programs::TexturedEntryPoints => Programs::EntryPoints,
            Programs::ShortFunctions => Programs::Functions,
            Programs::ShortRacy => Programs::Racy,
            Programs::ShortStages | Programs::TexturedStages => Programs::Stages,
            other => other,
        }
    }
}

/// Called for each subject with its number, the text, and the case or the verdict that replaces it.
pub(super) type Each<'e> = &'e mut dyn FnMut(u32, &str, Result<Case<'_, '_>, Verdict>);

/// The verdict on a generated program that the validation refuses.
fn invalid() -> Verdict {
    disagree(Engine::Generator, Engine::Typing, "a program that is valid by construction is refused".into())
}

/// The program of a seed.
pub(super) struct Generated {
    /// Its text.
    pub(super) text: String,
    /// The generated dispatch, which has the buffers. `None` for other kinds.
    pub(super) generated_dispatch: Option<dispatch::Dispatch>,
    /// The restrictions of the generator that had an effect.
    pub(super) restricted: Vec<Restriction>,
}

/// Generates the program of a seed.
pub(super) fn generated(programs: Programs, seed: u64) -> Generated {
    let of_dispatch = |dispatch: dispatch::Dispatch| Generated {
        text: dispatch.text.clone(),
        generated_dispatch: Some(dispatch),
        restricted: Vec::new(),
    };
    let typed = |program: Executed| Generated { text: program.text, generated_dispatch: None, restricted: program.restricted };
    match programs {
        Programs::Dispatches => of_dispatch(dispatch::dispatch(seed)),
        Programs::Racy => of_dispatch(dispatch::racy(seed)),
        Programs::Draws => Generated { text: pipelines::program(seed), generated_dispatch: None, restricted: Vec::new() },
        Programs::EntryPoints => typed(executed(seed, Purpose::Compute)),
        Programs::Functions => typed(executed(seed, Purpose::Functions)),
        Programs::Stages => typed(executed(seed, Purpose::Draws)),
        Programs::ShortDispatches => of_dispatch(dispatch::short(seed)),
        Programs::ShortRacy => of_dispatch(dispatch::short_racy(seed)),
        Programs::ShortEntryPoints => typed(short(seed, Purpose::Compute)),
        Programs::ShortFunctions => typed(short(seed, Purpose::Functions)),
        Programs::ShortStages => typed(short(seed, Purpose::Draws)),
        Programs::TexturedEntryPoints => typed(textured(seed, Purpose::Compute)),
        Programs::TexturedStages => typed(textured(seed, Purpose::Draws)),
    }
}

/// Calls `each` for the subjects of a seed's program, and returns the restrictions of the
/// generator. If no subject can show anything, the error says why, and `each` is not called.
pub(super) fn subjects(programs: Programs, seed: u64, each: Each) -> Result<Vec<Restriction>, &'static str> {
    let Generated { text, generated_dispatch, mut restricted } = generated(programs, seed);
    let Some(program) = validate(&text).program else {
        each(0, &text, Err(invalid()));
        return Ok(restricted);
    };
    shows(programs, &program)?;
    let mut of_bound = BTreeSet::new();
    subjects_of(programs, (&program, &text), seed, generated_dispatch.as_ref(), &mut |number, text, case| {
        let resources = case.as_ref().map_or(&[][..], Case::resources);
        of_bound.extend(bound::restrictions(&program, resources, seed));
        each(number, text, case);
    });
    restricted.extend(of_bound);
    Ok(restricted)
}

/// Checks that a typed program has something to run whose result shows.
///
/// # Errors
/// Why nothing shows.
fn shows(programs: Programs, program: &Program) -> Result<(), &'static str> {
    match programs.run_as() {
        Programs::Stages => match program.entry_points.iter().any(|e| e.stage == Stage::Fragment) {
            true => Ok(()),
            false => Err("no fragment entry point"),
        },
        Programs::EntryPoints => {
            let is_compute = |e: &&EntryPoint| matches!(e.stage, Stage::Compute(_));
            let all: Vec<&EntryPoint> = program.entry_points.iter().filter(is_compute).collect();
            let fits = |e: &&&EntryPoint| threads(e).is_some();
            let writes = |e: &&EntryPoint| Resource::of(program, e).is_ok_and(|resources| resources.iter().any(Resource::is_writable));
            match (all.is_empty(), all.iter().any(|e| fits(&e)), all.iter().filter(fits).any(writes)) {
                (true, ..) => Err("no compute entry point"),
                (_, false, _) => Err("a compute entry point of more than 512 threads"),
                (.., false) => Err("nothing that can be written"),
                _ => Ok(()),
            }
        }
        Programs::Functions => {
            let mut layouts = Layouts::default();
            let mut shows = |f: &Function| {
                !f.kind.is_entry_point()
                    && f.result != TypeId::VOID
                    && f.parameters.iter().all(|p| arguments::words(program, &mut layouts, p.ty, 0, 0).is_some())
            };
            if program.env.functions.iter().any(&mut shows) { Ok(()) } else { Err("no function of values that returns one") }
        }
        _ => Ok(()),
    }
}

/// The number of threads in a group of a compute entry point. `None` if there are more
/// than [`MAX_THREADS`].
fn threads(entry: &EntryPoint) -> Option<u32> {
    let Stage::Compute(size) = entry.stage else { return None };
    size.iter().try_fold(1u32, |all, &n| all.checked_mul(n)).filter(|&n| n <= MAX_THREADS)
}

/// Calls `each` for the subjects of a valid program of this kind and seed. `generated_dispatch` is
/// the generated dispatch, which has the buffers.
pub(super) fn subjects_of(
    programs: Programs,
    (program, text): (&Program, &str),
    seed: u64,
    generated_dispatch: Option<&dispatch::Dispatch>,
    each: Each,
) {
    match (programs.run_as(), generated_dispatch) {
        (Programs::Dispatches | Programs::Racy, Some(generated_dispatch)) => {
            let Some(entry) = program.entry_points.first() else { return };
            match generated_dispatch.bind(program, entry) {
                Ok(resources) => {
                    let dispatch = Dispatch { program, text, entry, groups: generated_dispatch.groups, resources };
                    each(0, text, Ok(Subject::Dispatch(&dispatch).into()));
                }
                Err(wrong) => each(0, text, Err(unchecked(wrong.what))),
            }
        }
        (Programs::Functions, _) => functions(program, text, seed, each),
        (Programs::Draws | Programs::Stages, _) => draws(program, text, seed, each),
        _ => entry_points(program, text, seed, each),
    }
}

/// The compute entry points of a program. Each runs over one or two groups, with resources drawn by
/// a seed. A group of one thread runs alone. Buffers have at least one element for each thread.
pub(super) fn entry_points(program: &Program, text: &str, seed: u64, each: Each) {
    for (number, entry) in (0..).zip(&program.entry_points) {
        if !matches!(entry.stage, Stage::Compute(_)) {
            continue;
        }
        let mut unchecked = |why: String| each(number, text, Err(unchecked(why)));
        let Some(threads) = threads(entry) else {
            unchecked(format!("more than {MAX_THREADS} threads"));
            continue;
        };
        let groups = if (2..=MAX_OF_TWO).contains(&threads) { 2 } else { 1 };
        let Ok(mut resources) = Resource::of(program, entry) else {
            unchecked("resources that are not bound".into());
            continue;
        };
        let elements = u64::from(threads * groups).max(bound::ELEMENTS);
        if !bound::bind(program, &mut resources, elements, MAX_WORDS, seed) {
            unchecked(format!("an element of more than {MAX_WORDS} words"));
            continue;
        }
        let dispatch = Dispatch { program, text, entry, groups: [groups, 1, 1], resources };
        each(number, text, Ok(Subject::Dispatch(&dispatch).into()));
    }
}

/// The functions of a program that are no entry points, each called with arguments drawn by a seed.
/// Functions with parameters for which no argument can be drawn are skipped.
pub(super) fn functions(program: &Program, text: &str, seed: u64, each: Each) {
    let mut layouts = Layouts::default();
    for (number, function) in (0..).zip(&program.env.functions) {
        let parameters = function.parameters.iter().zip(0..);
        let arguments = parameters.map(|(p, k)| arguments::words(program, &mut layouts, p.ty, seed, k)).collect::<Option<Vec<_>>>();
        if let (false, Some(arguments)) = (function.kind.is_entry_point(), arguments) {
            each(number, text, Ok(Subject::Call { program, text, f: FunctionId(number), arguments }.into()));
        }
    }
}

/// The draws of a program, with resources and attributes drawn by a seed. Each fragment entry point
/// runs over the screen, and after each matching vertex entry point. A draw needs an attachment, so
/// a draw without targets gets a depth attachment.
pub(super) fn draws(program: &Program, text: &str, seed: u64, each: Each) {
    for (number, mut draw) in (0..).zip(bound::draws(program, text, MAX_WORDS, seed).take(MAX_DRAWS)) {
        if draw.fits().is_err() {
            continue;
        }
        draw.size = SIDES;
        let has_target = draw.fragment.outputs.iter().any(|item| matches!(item.semantic, Some((Semantic::Target(_), _))));
        if !has_target {
            draw.depth = draw.depth.or(Some(Compare::LessOrEqual));
        }
        each(number, text, Ok(Case::Drawn(&draw)));
    }
}
