//! The generated programs of a seed, and how each is run.

use super::Judged;
use super::subject::Subject;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::generate::{arguments, bound, dispatch, typed};
use smallstep_semantics::wsl::group::{Dispatch, Resource};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// The most threads of a group of a typed program that are run.
const MAX_THREADS: u32 = 512;

/// Which programs are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Dispatches with barriers, threadgroup memory and atomics ([`dispatch::dispatch`]).
    Dispatches,
    /// The compute entry points of typed programs, with two groups ([`typed::program`]).
    EntryPoints,
    /// The functions of typed programs, with arguments drawn.
    Functions,
    /// Dispatches in which a race is planted ([`dispatch::racy`]).
    Racy,
}

/// What a program of a seed is run as: to each subject with its number, or to why there is none.
pub(super) type Each<'e> = &'e mut dyn FnMut(u32, &str, Result<Subject<'_, '_>, Judged>);

/// The subjects of the program of a seed.
pub(super) fn subjects(programs: Programs, seed: u64, each: Each) {
    match programs {
        Programs::Dispatches | Programs::Racy => {
            let made = if programs == Programs::Racy { dispatch::racy(seed) } else { dispatch::dispatch(seed) };
            let Some(program) = validate(&made.text).program else {
                return each(0, &made.text, Err(Judged::Disagree("the program is not valid".into())));
            };
            let Some(entry) = program.entry_points.first() else { return };
            match made.bind(&program, entry) {
                Ok(resources) => {
                    let dispatch = Dispatch { program: &program, text: &made.text, entry, groups: made.groups, resources };
                    each(0, &made.text, Ok(Subject::Dispatch(&dispatch)));
                }
                Err(wrong) => each(0, &made.text, Err(Judged::Unchecked(wrong.0))),
            }
        }
        Programs::EntryPoints | Programs::Functions => {
            let text = typed::program(seed);
            match validate(&text).program {
                Some(program) if programs == Programs::EntryPoints => entry_points(&program, &text, seed, each),
                Some(program) => functions(&program, &text, seed, each),
                None => each(0, &text, Err(Judged::Disagree("the program is not valid".into()))),
            }
        }
    }
}

/// The compute entry points of a program, each over one group or two with resources drawn by a
/// seed.
pub(super) fn entry_points(program: &Program, text: &str, seed: u64, each: Each) {
    for (number, entry) in (0..).zip(&program.entry_points) {
        let Stage::Compute(size) = entry.stage else { continue };
        let mut unchecked = |why: String| each(number, text, Err(Judged::Unchecked(why)));
        let threads = size.iter().try_fold(1u32, |all, &n| all.checked_mul(n)).filter(|&n| n <= MAX_THREADS);
        let Some(threads) = threads else {
            unchecked(format!("more than {MAX_THREADS} threads"));
            continue;
        };
        let groups = if threads <= 64 { 2 } else { 1 };
        let Ok(mut resources) = Resource::of(program, entry) else {
            unchecked("resources that are not bound".into());
            continue;
        };
        if !bound::bind(program, &mut resources, 2048, seed) {
            unchecked("an element of more than 2048 words".into());
            continue;
        }
        let dispatch = Dispatch { program, text, entry, groups: [groups, 1, 1], resources };
        each(number, text, Ok(Subject::Dispatch(&dispatch)));
    }
}

/// The functions of a program that are no entry points, each called with arguments drawn by a seed.
/// Those whose arguments are not drawn are left out.
pub(super) fn functions(program: &Program, text: &str, seed: u64, each: Each) {
    let mut layouts = Layouts::default();
    for (number, function) in (0..).zip(&program.env.functions) {
        let parameters = function.parameters.iter().zip(0..);
        let arguments = parameters.map(|(p, k)| arguments::words(program, &mut layouts, p.ty, seed, k)).collect::<Option<Vec<_>>>();
        if let (false, Some(arguments)) = (function.kind.is_entry_point(), arguments) {
            each(number, text, Ok(Subject::Call { program, text, f: FunctionId(number), arguments }));
        }
    }
}
