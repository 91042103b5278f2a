//! Modules with images and samplers, stages and draws, which generated compute modules do not have.
//! They are translated from generated WSL programs, made of generated compute modules as fragment
//! stages, generated as draws ([`crate::generate::spirv::quads`]), or compiled from generated GLSL.
//! They go through a compiler or through WGSL, or the engines are compared on them ([`engines`]).
//! Each dispatch and each draw has the one input of its program. GLSL has several inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::disassemble;

use super::engines::{self, Compared};
use super::fragments::{self, quads};
use super::in_order::in_order;
use super::optimised::{Ends, Wrong, optimised_any};
use super::shaders;
use super::uses::{self, Uses};
use crate::compile::wsl::Options;
use crate::compute::MachineBug;
use crate::dispatch::{Dispatch, DrawDispatch};
use crate::generate::glsl;
use crate::generate::spirv::beside::Components;
use crate::generate::spirv::quads::{LISTS, drawn};
use crate::generate::spirv::{self, ComputeCase, Limits, case};
use crate::generate::wsl::shrink;
use crate::theorem::compilers::Compiler;
use crate::theorem::refine::OnDevice;
use crate::theorem::wsl::{Programs, translated};
use crate::theorem::{cause, reducer, same_message};
use crate::verdict::Verdict;

/// The most programs that are tried while a finding is made smaller.
const MAX_TRIES: u32 = 1_000;
/// The time limit for making a stage of quads minimal.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// The source of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// WSL programs, translated.
    Wsl(Programs),
    /// Generated compute modules as fragment stages ([`fragments`]).
    Fragments,
    /// The stages of generated draws ([`crate::generate::spirv::quads`]).
    Quads,
    /// Generated GLSL, compiled by glslang ([`shaders`]).
    Glsl,
}

impl Source {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Source::Wsl(programs) => programs.name(),
            Source::Fragments => "fragments",
            Source::Quads => "quads",
            Source::Glsl => "glsl",
        }
    }
}

/// The requirement on the modules.
#[derive(Clone)]
pub enum By {
    /// The output of a compiler must refine them.
    Compiler(Compiler),
    /// The engines must show the same, and a device must show what the engines allow. GLSL has no
    /// input of its own, so it does not run.
    Engines {
        /// The device, if there is one.
        device: Option<OnDevice>,
        /// A mistake planted in the machine.
        planted: Option<MachineBug>,
    },
}

impl By {
    /// The engines without a device.
    pub const ENGINES: By = By::Engines { device: None, planted: None };

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            By::Compiler(compiler) => compiler.name().into(),
            By::Engines { device: None, .. } => "relation and machine".into(),
            By::Engines { device: Some(device), .. } => format!("relation, machine and {}", device.name()),
        }
    }
}

/// The settings of a campaign.
#[derive(Clone)]
pub struct Plan {
    /// The sources of modules. They take turns: program i has source i modulo the number
    /// of sources.
    pub sources: Vec<Source>,
    /// The seed of the first program of each source. The next programs have the next seeds.
    pub seed: u64,
    /// The number of programs.
    pub count: u64,
    /// The number of threads.
    pub threads: usize,
    /// The median of the instructions that an invocation of a generated fragment stage executes.
    pub executed: u32,
    /// The float controls that translated programs declare.
    pub profile: Profile,
    /// The requirement on the modules.
    pub by: By,
}

/// The results for dispatches or draws of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many show what their modules allow.
    pub agree: u64,
    /// How many have undefined modules, which allow everything.
    pub vacuous: u64,
    /// How many are not completely compared, by reason.
    pub undecided: BTreeMap<String, u64>,
    /// How many the compiler refuses, by reason.
    pub refused: BTreeMap<String, u64>,
    /// How many are wrong.
    pub wrong: u64,
    /// The number of draws that are not counted. WGSL's rules refuse their vertex stages, which use
    /// memory that is written, and the conversion follows these rules.
    pub left_out: u64,
    /// The features that the agreeing and the wrong ones use.
    pub uses: Uses,
    /// The number of draws whose fragments ran over sets on both the relation and the machine.
    pub over_sets: u64,
    /// What was compared for these draws.
    pub components: Components,
}

impl Counts {
    /// The number of all, without `left_out`.
    pub fn all(&self) -> u64 {
        self.agree + self.vacuous + self.wrong + self.undecided.values().chain(self.refused.values()).sum::<u64>()
    }
}

/// A wrong program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The source of its module.
    pub source: Source,
    /// The seed from which it was generated.
    pub seed: u64,
    /// The difference, as one sentence.
    pub what: String,
    /// The kind of difference.
    pub ends: Ends,
}

/// The results of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of programs.
    pub programs: u64,
    /// The counts by kind: "dispatches", "draws", both "with images", "fragment stages", "quads",
    /// and the stages of GLSL. Results of a device have their own kinds.
    pub counts: BTreeMap<&'static str, Counts>,
    /// The first finding of each wrong program, in the order of programs.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        let counts = self.counts.iter().map(|(kind, c)| {
            (
                kind.to_string(),
                json!({"agree": c.agree, "vacuous": c.vacuous, "undecided": c.undecided, "refused": c.refused, "wrong": c.wrong, "left_out": c.left_out, "uses": c.uses.to_json(), "over_sets": c.over_sets, "components": components(&c.components)}),
            )
        });
        json!({
            "programs": self.programs, "counts": counts.collect::<serde_json::Map<_, _>>(),
            "findings": self.findings.iter().map(|f| json!({"of": f.source.name(), "seed": f.seed, "what": f.what})).collect::<Vec<_>>(),
        })
    }

    fn count(&mut self, done: JudgedProgram) {
        self.programs += 1;
        let mut first = None;
        for RunResult { kind, became, uses, over_sets } in done.results {
            let counts = self.counts.entry(kind).or_default();
            counts.over_sets += u64::from(over_sets.is_some());
            counts.components.add(over_sets.unwrap_or_default());
            let Some(verdict) = became else {
                counts.left_out += 1;
                continue;
            };
            counts.uses.count(&uses);
            match verdict {
                Verdict::Agree => counts.agree += 1,
                Verdict::Vacuous(_) => counts.vacuous += 1,
                Verdict::Refused(why) => *counts.refused.entry(why).or_default() += 1,
                Verdict::Disagree(Wrong { what, ends }) => {
                    counts.wrong += 1;
                    first.get_or_insert((what, ends));
                }
                other => *counts.undecided.entry(cause(&other.why())).or_default() += 1,
            }
        }
        let finding = first.map(|(what, ends)| Finding { source: done.source, seed: done.seed, what, ends });
        self.findings.extend(finding);
    }
}

/// The results of one program.
struct JudgedProgram {
    source: Source,
    seed: u64,
    results: Vec<RunResult>,
}

/// The result for one dispatch or draw of a program.
pub struct RunResult {
    /// The kind by which it is counted, as in [`Tally::counts`].
    pub kind: &'static str,
    /// The verdict. `None` if it is left out.
    pub became: Option<Verdict<Wrong>>,
    /// The features that it uses, if it agrees or is wrong. Otherwise empty.
    uses: BTreeSet<String>,
    /// The comparison of two engines over sets, if there was one.
    over_sets: Option<Components>,
}

impl RunResult {
    /// A judged piece. If it agrees or is wrong, its features are read from the words of
    /// its modules.
    pub(super) fn judged(kind: &'static str, modules: &[&[u32]], verdict: Verdict<Wrong>) -> RunResult {
        let uses = match verdict {
            Verdict::Agree | Verdict::Disagree(_) => modules.iter().flat_map(|words| uses::of(words)).collect(),
            _ => BTreeSet::new(),
        };
        RunResult { kind, became: Some(verdict), uses, over_sets: None }
    }
}

fn components(counts: &Components) -> Value {
    let Components { exactly, sets, open, more, unfollowed, undefined } = counts;
    json!({"exactly": exactly, "sets": sets, "open": open, "more": more, "unfollowed": unfollowed, "undefined": undefined})
}

/// The kind of the same dispatch on a device.
fn on_device(kind: &'static str) -> &'static str {
    match kind {
        "draws" => "draws on the device",
        "draws with images" => "draws with images on the device",
        "dispatches" => "dispatches on the device",
        "dispatches with images" => "dispatches with images on the device",
        "fragment stages" => "fragment stages on the device",
        _ => "quads on the device",
    }
}

fn kind(dispatch: &Dispatch) -> &'static str {
    match dispatch {
        Dispatch::Draw(draw) if draw.images.is_empty() => "draws",
        Dispatch::Draw(_) => "draws with images",
        Dispatch::Compute(dispatch) if !dispatch.images.is_empty() => "dispatches with images",
        _ => "dispatches",
    }
}

fn modules(dispatch: &Dispatch) -> Vec<&[u32]> {
    match dispatch {
        Dispatch::Draw(draw) => vec![&draw.vertex.words, &draw.fragment.words],
        Dispatch::Compute(dispatch) => vec![&dispatch.words],
        Dispatch::Fragment(fragment) => vec![&fragment.words],
    }
}

impl Plan {
    /// The source of program `index`, and its seed.
    fn program(&self, index: u64) -> (Source, u64) {
        let kinds = self.sources.len().max(1) as u64;
        let source = self.sources.get((index % kinds) as usize).copied().unwrap_or(Source::Fragments);
        (source, self.seed.wrapping_add(index / kinds))
    }

    fn limits(&self) -> Limits {
        Limits { executed: self.executed, shared_percent: 0, ..Limits::default() }
    }

    fn judge_program(&self, source: Source, seed: u64) -> JudgedProgram {
        match source {
            Source::Wsl(programs) => self.wsl(programs, seed, None),
            Source::Fragments => JudgedProgram { source, seed, results: self.fragments(&case(seed, &self.limits())) },
            Source::Quads => JudgedProgram { source, seed, results: self.judge_dispatch("quads", &quads(&drawn(seed, LISTS)).into()) },
            Source::Glsl => JudgedProgram {
                source,
                seed,
                results: vec![match &self.by {
                    By::Compiler(compiler) => shaders::shown(seed, compiler),
                    By::Engines { .. } => RunResult::judged("shaders", &[], Verdict::Unchecked("GLSL has no input of its own".into())),
                }],
            },
        }
    }

    /// The verdicts on a dispatch or draw of a kind.
    fn judge_dispatch(&self, kind: &'static str, dispatch: &Dispatch) -> Vec<RunResult> {
        match &self.by {
            By::Compiler(compiler) => vec![RunResult::judged(kind, &modules(dispatch), optimised_any(dispatch, compiler))],
            By::Engines { device, planted } => {
                let Compared { interpreters, over_sets, device } = engines::compared(dispatch, device.as_ref(), planted.as_ref());
                let of_device = device.map(|verdict| RunResult::judged(on_device(kind), &modules(dispatch), verdict));
                let of_interpreters = RunResult { over_sets, ..RunResult::judged(kind, &modules(dispatch), interpreters) };
                std::iter::once(of_interpreters).chain(of_device).collect()
            }
        }
    }

    fn wsl(&self, programs: Programs, seed: u64, text: Option<&str>) -> JudgedProgram {
        let mut results = Vec::new();
        let options = Options { profile: self.profile, ..Options::default() };
        translated(programs, seed, text, &options, &mut |_, dispatch| {
            let is_left_out = match (&dispatch, &self.by) {
                (Dispatch::Draw(draw), By::Compiler(compiler)) => compiler.refuses_vertex_stage(&draw.vertex.words),
                _ => false,
            };
            match is_left_out {
                true => results.push(RunResult { kind: kind(&dispatch), became: None, uses: BTreeSet::new(), over_sets: None }),
                false => results.extend(self.judge_dispatch(kind(&dispatch), &dispatch)),
            }
        });
        JudgedProgram { source: Source::Wsl(programs), seed, results }
    }

    fn fragments(&self, case: &ComputeCase) -> Vec<RunResult> {
        let draw = fragments::drawn(case).map(Dispatch::from);
        draw.iter().flat_map(|draw| self.judge_dispatch("fragment stages", draw)).collect()
    }
}

/// Runs the campaign. `progress` gets the numbers of finished programs and of findings, after each
/// program. The tally does not depend on the number of threads.
pub fn run(plan: &Plan, mut progress: impl FnMut(u64, usize)) -> Tally {
    let mut tally = Tally::default();
    let judged = |index| {
        let (source, seed) = plan.program(index);
        plan.judge_program(source, seed)
    };
    in_order(plan.threads, plan.count, judged, |done| {
        tally.count(done);
        progress(tally.programs, tally.findings.len());
        true
    });
    tally
}

/// The differences in these dispatches and draws, each as one sentence.
fn wrong(results: Vec<RunResult>) -> Vec<(String, Ends)> {
    let wrong = |piece: RunResult| if let Some(Verdict::Disagree(Wrong { what, ends })) = piece.became { Some((what, ends)) } else { None };
    results.into_iter().filter_map(wrong).collect()
}

/// The smallest program that still shows the finding, in the same words except for numbers. It is
/// WSL text, or the assembly of a compute module or a fragment stage. Quads keep their triangles.
/// GLSL stays as it is. `None` if the program does not show the finding any more.
pub fn minimal(plan: &Plan, finding: &Finding) -> Option<String> {
    let same = |results| {
        let is_same = |(what, ends): &(String, Ends)| *ends == finding.ends && same_message(what, &finding.what);
        wrong(results).iter().any(is_same)
    };
    match finding.source {
        Source::Wsl(programs) => {
            let mut fails = |text: &str| same(plan.wsl(programs, finding.seed, Some(text)).results);
            let mut whole = None;
            translated(programs, finding.seed, None, &Options::default(), &mut |text, _| whole = Some(text.to_string()));
            let whole = whole?;
            fails(&whole).then(|| shrink::minimal(&whole, &mut fails, MAX_TRIES))
        }
        Source::Fragments => {
            let module = spirv::module(finding.seed, &plan.limits());
            let mut fails = |module: &spirv::tree::Module| same(plan.fragments(&module.case()));
            let small = fails(&module).then(|| spirv::shrink::minimal(&module, &mut fails, MAX_TRIES))?;
            disassemble(&small.case().words).ok()
        }
        Source::Quads => {
            let fails = |draw: &DrawDispatch| same(plan.judge_dispatch("quads", &draw.clone().into()));
            let lists = (0..=LISTS).find(|lists| fails(&quads(&drawn(finding.seed, *lists))))?;
            let (drawn, mut tries) = (drawn(finding.seed, lists), 0);
            let mut draw = quads(&drawn);
            let mut interesting = |words: &[u32]| {
                draw.fragment.words = Arc::from(words);
                tries += 1;
                tries <= MAX_TRIES && fails(&draw)
            };
            let small = reducer::reduced(&drawn.fragment, TimeLimit::from_now(TIME_LIMIT), &mut interesting).ok();
            small.and_then(|small| disassemble(&small.program).ok()).or(Some(drawn.text))
        }
        Source::Glsl => Some(glsl::shader(finding.seed).1),
    }
}
