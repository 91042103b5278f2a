//! Generated modules through a [`Compiler`]. The output must refine the input
//! ([`crate::theorem::refine`]), on the one input that a generated dispatch or draw has.

use std::fmt;

use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::spirv::{LoadError, Module};

use crate::compile::split_samplers;
use crate::compute::{ComputeModule, Prepared};
use crate::dispatch::{ComputeDispatch, Dispatch, DrawDispatch, Stage};
use crate::generate::spirv::{ComputeCase, Kind, Twin};
use crate::theorem::compilers::{Compiler, NotCompiled};
use crate::theorem::refine::draws::{self, Stages};
use crate::theorem::refine::observe::{DifferenceKind, judge};
use crate::theorem::refine::{Earlier, Input, Judged, OnDevice, Settings, Side, Unchecked};
use crate::theorem::without_numbers;
use crate::verdict::Verdict;

/// The name of a compiler's output in sentences.
const COMPILED: &str = "the compiled module";
/// The most instructions of a generated module. All of these modules end.
const FUEL: u64 = 1 << 30;
/// The most instructions of a module that may have endless loops.
pub(super) const FUEL_OF_PROGRAMS: u64 = 1 << 21;

/// A mistake in a compiler's output, or the reason why there is no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The mistake, as one sentence.
    pub what: String,
    /// The kind of mistake.
    pub ends: Ends,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The kind of a compiler's mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// The compiler refuses a valid module, or its output is no valid module, has another
    /// interface, or shows something wrong.
    Shown,
    /// The output has undefined behaviour and the input does not.
    Undefined,
    /// The compiler crashes, hangs, or writes no words.
    Failed,
}

/// Optimises a generated module and compares the output with it. A module that a loader may reject
/// is not compared.
pub fn optimised(case: &ComputeCase, compiler: &Compiler) -> Verdict<Wrong> {
    if matches!(case.twin, Some(Twin { kind: Kind::Refused, .. }) | Some(Twin { valid: false, .. })) {
        return Verdict::Vacuous("no loader has to accept the module".into());
    }
    let input = Input { groups: case.groups, buffers: super::contents(case), ..Input::default() };
    let settings = Settings { subgroup_size: case.subgroup_size, ..settings(FUEL) };
    compile_and_judge(compiler, &case.words, |before, after| refined(before, after, &case.entry, &input, &settings))
}

/// Compiles a module and judges the result. `judged` gets the words that the result must refine,
/// and the result.
fn compile_and_judge(compiler: &Compiler, words: &[u32], judged: impl FnOnce(&[u32], &[u32]) -> Verdict<Wrong>) -> Verdict<Wrong> {
    match compiler.run(words) {
        Ok(compiled) => judged(&compiled.before, &compiled.named),
        Err(NotCompiled::Refused(what)) if compiler.may_refuse() => {
            Verdict::Refused(without_numbers(what.lines().next().unwrap_or_default()))
        }
        Err(NotCompiled::Refused(what)) => Verdict::Disagree(Wrong { what, ends: Ends::Shown }),
        Err(NotCompiled::Invalid(what) | NotCompiled::Crashed(what) | NotCompiled::TimedOut(what)) => {
            Verdict::Disagree(Wrong { what, ends: Ends::Failed })
        }
        Err(NotCompiled::NotRun(what)) => Verdict::Unchecked(what),
    }
}

/// Optimises the module of a dispatch and compares the output with it.
pub fn optimised_dispatch(prepared: &Prepared, compiler: &Compiler) -> Verdict<Wrong> {
    let (words, entry) = (prepared.module.module.words(), prepared.module.entry.as_str());
    let resources = prepared.resources().clone();
    let input = Input {
        groups: prepared.groups,
        buffers: resources.buffers,
        images: resources.images,
        samplers: resources.samplers,
        push_constants: resources.push_constants,
        ..Input::default()
    };
    let settings = Settings { subgroup_size: prepared.subgroup_size, ..settings(FUEL) };
    compile_and_judge(compiler, words, |before, after| refined(before, after, entry, &input, &settings))
}

/// Optimises the modules of a dispatch or of a draw, and compares the output with them. WGSL has no
/// combined image samplers, so their images and samplers are bound separately first.
pub fn optimised_any(dispatch: &Dispatch, compiler: &Compiler) -> Verdict<Wrong> {
    match dispatch {
        Dispatch::Compute(dispatch) => {
            let split = match split_samplers::adapt(dispatch) {
                Ok(split) => split,
                Err(why) => return Verdict::Unchecked(why.0),
            };
            let input = Input::from(&split);
            compile_and_judge(compiler, &split.words, |before, after| {
                refined(before, after, &split.entry, &input, &settings(FUEL_OF_PROGRAMS))
            })
        }
        Dispatch::Draw(dispatch) => match split_samplers::adapt_draw(dispatch) {
            Ok(split) => optimised_draw(&split, compiler),
            Err(why) => Verdict::Unchecked(why.0),
        },
        Dispatch::Fragment(_) => Verdict::Unchecked("a fragment stage without a vertex stage".into()),
    }
}

/// The verdict on a dispatch on a device, by runs over sets.
pub(super) fn on_device(dispatch: &ComputeDispatch, device: &OnDevice) -> Verdict<Wrong> {
    let module = match Module::load(&dispatch.words) {
        Ok(module) => module,
        Err(error) => return not_loaded("the module", error),
    };
    let module = match ComputeModule::new(module, Some(&dispatch.entry)) {
        Ok(module) => module,
        Err(what) => return Verdict::Disagree(Wrong { what: what.to_string(), ends: Ends::Shown }),
    };
    let side = Side::new("the module", module, None);
    let settings = Settings { device: Some(device.clone()), ..settings(FUEL_OF_PROGRAMS) };
    judged(judge(&side, &side, &Input::from(dispatch), &settings, &Earlier::default()), "the device")
}

fn optimised_draw(dispatch: &DrawDispatch, compiler: &Compiler) -> Verdict<Wrong> {
    let stage = |stage: &Stage, words: &[u32]| Stage { words: words.into(), entry: stage.entry.clone() };
    let draw = |vertex: &[u32], fragment: &[u32]| DrawDispatch {
        vertex: stage(&dispatch.vertex, vertex),
        fragment: stage(&dispatch.fragment, fragment),
        ..dispatch.clone()
    };
    compile_and_judge(compiler, &dispatch.vertex.words, |vertex, compiled_vertex| {
        compile_and_judge(compiler, &dispatch.fragment.words, |fragment, compiled_fragment| {
            refined_draw(&draw(vertex, fragment), &draw(compiled_vertex, compiled_fragment))
        })
    })
}

/// Compares a draw with the same draw with other stages.
fn refined_draw(before: &DrawDispatch, after: &DrawDispatch) -> Verdict<Wrong> {
    let stages = |name: &str, dispatch| Stages::new(dispatch).map_err(|e| not_loaded(name, e));
    match (stages("a module", before), stages("a compiled module", after)) {
        (Ok(stages), Ok(optimised)) => {
            let settings = Settings { fuel: FUEL_OF_PROGRAMS, ..Settings::default() };
            judged(draws::judge((&stages, before), (&optimised, after), &settings), COMPILED)
        }
        (Err(error), _) | (_, Err(error)) => error,
    }
}

/// The verdict on a module that does not load.
pub(super) fn not_loaded(name: &str, error: LoadError) -> Verdict<Wrong> {
    match error {
        LoadError::Unsupported { what, .. } => Verdict::Unchecked(format!("unsupported: {what}")),
        other => Verdict::Disagree(Wrong { what: format!("{name} is refused: {other}"), ends: Ends::Shown }),
    }
}

/// Compares other words with a generated module, on the module's own input.
pub fn compared(case: &ComputeCase, words: &[u32]) -> Verdict<Wrong> {
    let input = Input { groups: case.groups, buffers: super::contents(case), ..Input::default() };
    let settings = Settings { subgroup_size: case.subgroup_size, ..settings(FUEL) };
    refined(&case.words, words, &case.entry, &input, &settings)
}

/// The budget of a campaign for executions that are no interleavings: enough for small modules.
const FEW_EXECUTIONS: Budget = Budget { executions: 64, steps: 256 };

/// Settings for many modules with one input each. Most modules show the same under every schedule.
fn settings(fuel: u64) -> Settings {
    Settings { fuel, schedules: 1, budget: Budget { executions: 4, steps: 1 << 14 }, executions: FEW_EXECUTIONS, ..Settings::default() }
}

fn refined(before: &[u32], after: &[u32], entry: &str, input: &Input, settings: &Settings) -> Verdict<Wrong> {
    let wrong = |what: String| Verdict::Disagree(Wrong { what, ends: Ends::Shown });
    let side = |name: &str, words: &[u32]| {
        let module = Module::load(words).map_err(|e| not_loaded(name, e))?;
        let module = ComputeModule::new(module, Some(entry)).map_err(|what| wrong(format!("{name} has another entry point: {what}")))?;
        Ok::<Side, Verdict<Wrong>>(Side::new(name, module, None))
    };
    let (before, after) = match (side("the module", before), side("the compiled module", after)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(error), _) | (_, Err(error)) => return error,
    };
    if let Err(mismatch) = crate::theorem::refine::interface::check(&before, &after) {
        return wrong(format!("the compiled module has another interface: {mismatch}"));
    }
    let result = judge(&before, &after, input, settings, &Earlier::default());
    if let Judged::Vacuous(_) = result {
        // A vacuous input allows everything. AFTER still runs, to see that the engines can run it.
        after.run(input, settings, 1 << 24, None);
    }
    judged(result, COMPILED)
}

/// The verdict of a comparison. `shown_by` names the compared module or device in sentences.
pub(super) fn judged(result: Judged, shown_by: &str) -> Verdict<Wrong> {
    match result {
        Judged::Agree { .. } => Verdict::Agree,
        Judged::Vacuous(why) => Verdict::Vacuous(why),
        Judged::Undecided(why) => Verdict::Undecided(why),
        Judged::Unchecked(Unchecked::Unsupported(what)) => Verdict::Unchecked(format!("unsupported: {what}")),
        Judged::Unchecked(Unchecked::Limit(what)) => Verdict::Unchecked(what),
        Judged::Disagree(difference) => {
            let (what, ends) = match difference.kind {
                DifferenceKind::Undefined(undefined) => {
                    let what = format!("{shown_by} has undefined behaviour that the module has not: {}", undefined.ub.id());
                    (what, Ends::Undefined)
                }
                DifferenceKind::Ends(ending) => (format!("{shown_by} ends without an observation: {ending}"), Ends::Shown),
                DifferenceKind::Byte { place, byte, undefined: true, .. } => {
                    let what = format!("{shown_by} shows any value in byte {byte} of the buffer at {place}, the module one value");
                    (what, Ends::Shown)
                }
                DifferenceKind::Byte { place, byte, .. } => {
                    (format!("{shown_by} shows another value in byte {byte} of the buffer at {place}"), Ends::Shown)
                }
                DifferenceKind::Texel { of, at: [x, y, z], component, before, after, .. } => {
                    let what = format!(
                        "{shown_by} shows {after} in component {component} of the texel at ({x},{y},{z}) of {of}, the module {before}"
                    );
                    (what, Ends::Shown)
                }
            };
            Verdict::Disagree(Wrong { what, ends })
        }
    }
}
