//! Modules with images and samplers, stages and draws, which generated compute modules have not:
//! what generated WSL programs are translated to, generated compute modules as fragment stages,
//! generated draws ([`crate::generate::spirv::quads`]), and generated GLSL. They go through a
//! compiler or through WGSL, or the engines are compared on them ([`engines`]). Each dispatch and
//! each draw has the one input that its program has; GLSL has several.

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
use crate::theorem::{cause, reducer, tell_the_same};
use crate::verdict::Verdict;

/// The most programs that are tried to make one finding smaller.
const QUESTIONS: u32 = 1_000;
/// How long making a stage of quads minimal may take.
const LONGEST: Duration = Duration::from_secs(300);

/// Where modules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// They are what WSL programs are translated to.
    Wsl(Programs),
    /// They are generated compute modules as fragment stages ([`fragments`]).
    Fragments,
    /// They are the stages of generated draws ([`crate::generate::spirv::quads`]).
    Quads,
    /// They are what glslang makes of generated GLSL ([`shaders`]).
    Glsl,
}

impl Source {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Source::Wsl(programs) => programs.name(),
            Source::Fragments => "fragments",
            Source::Quads => "quads",
            Source::Glsl => "glsl",
        }
    }
}

/// What modules are held to.
#[derive(Clone)]
pub enum By {
    /// What a compiler makes of them must refine them.
    Compiler(Compiler),
    /// The engines must show the same, and a device what they allow. GLSL has no input of its own,
    /// and is not run.
    Engines {
        /// The device, if there is one.
        device: Option<OnDevice>,
        /// What is wrong with the machine.
        planted: Option<MachineBug>,
    },
}

impl By {
    /// The engines without a device.
    pub const ENGINES: By = By::Engines { device: None, planted: None };

    /// How reports name it.
    pub fn name(&self) -> String {
        match self {
            By::Compiler(compiler) => compiler.name().into(),
            By::Engines { device: None, .. } => "relation and machine".into(),
            By::Engines { device: Some(device), .. } => format!("relation, machine and {}", device.name()),
        }
    }
}

/// What is run.
#[derive(Clone)]
pub struct Plan {
    /// Where modules come from; the sources take turns: program i is of source i modulo their
    /// number.
    pub sources: Vec<Source>,
    /// The seed of the first; the others follow it.
    pub seed: u64,
    /// How many programs.
    pub count: u64,
    /// Threads.
    pub threads: usize,
    /// Instructions that an invocation of a generated fragment stage executes at the median.
    pub executed: u32,
    /// The float controls that translated programs declare.
    pub profile: Profile,
    /// What the modules are held to.
    pub by: By,
}

/// What has been compared, of one kind of dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What shows what the modules allow.
    pub agree: u64,
    /// What is of modules that are undefined, and allow everything.
    pub vacuous: u64,
    /// What is not wholly compared, by why.
    pub undecided: BTreeMap<String, u64>,
    /// What the compiler refuses, by why.
    pub refused: BTreeMap<String, u64>,
    /// What is wrong.
    pub wrong: u64,
    /// Draws that are not counted: WGSL's rules refuse their vertex stages, which use memory that
    /// is written, and the conversion goes by those rules.
    pub left_out: u64,
    /// What those use that agree or are wrong.
    pub uses: Uses,
    /// Draws whose fragments relation and machine have both run over sets.
    pub over_sets: u64,
    /// What was compared of these.
    pub components: Components,
}

impl Counts {
    /// How many there are, without those left out.
    pub fn all(&self) -> u64 {
        self.agree + self.vacuous + self.wrong + self.undecided.values().chain(self.refused.values()).sum::<u64>()
    }
}

/// What is wrong with one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where its module comes from.
    pub source: Source,
    /// The seed from which it is generated.
    pub seed: u64,
    /// What it is, one sentence.
    pub what: String,
    /// How it is wrong.
    pub ends: Ends,
}

/// What a campaign came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// By kind: "dispatches", "draws", both "with images", "fragment stages", "quads", and the
    /// stages of GLSL; what a device comes to is apart.
    pub counts: BTreeMap<&'static str, Counts>,
    /// What is wrong, of each program the first, by their order.
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

    fn count(&mut self, done: Done) {
        self.programs += 1;
        let mut first = None;
        for Piece { kind, became, uses, over_sets } in done.became {
            let counts = self.counts.entry(kind).or_default();
            counts.over_sets += u64::from(over_sets.is_some());
            counts.components.add(over_sets.unwrap_or_default());
            let Some(became) = became else {
                counts.left_out += 1;
                continue;
            };
            counts.uses.count(&uses);
            match became {
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

/// What became of one program.
struct Done {
    source: Source,
    seed: u64,
    became: Vec<Piece>,
}

/// A dispatch or a draw of a program.
pub struct Piece {
    /// By which it is counted, as [`Tally::counts`].
    pub kind: &'static str,
    /// What it came to; nothing if it is left out.
    pub became: Option<Verdict<Wrong>>,
    /// What it uses, if it agrees or is wrong.
    uses: BTreeSet<String>,
    /// What two engines were compared on over sets, if they were.
    over_sets: Option<Components>,
}

impl Piece {
    /// Reads what is used from the words of its modules, if it agrees or is wrong.
    pub(super) fn judged(kind: &'static str, modules: &[&[u32]], became: Verdict<Wrong>) -> Piece {
        let uses = match became {
            Verdict::Agree | Verdict::Disagree(_) => modules.iter().flat_map(|words| uses::of(words)).collect(),
            _ => BTreeSet::new(),
        };
        Piece { kind, became: Some(became), uses, over_sets: None }
    }
}

fn components(of: &Components) -> Value {
    let Components { exactly, sets, open, more, unfollowed, undefined } = of;
    json!({"exactly": exactly, "sets": sets, "open": open, "more": more, "unfollowed": unfollowed, "undefined": undefined})
}

/// The same kind on a device.
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

    fn one(&self, source: Source, seed: u64) -> Done {
        match source {
            Source::Wsl(programs) => self.wsl(programs, seed, None),
            Source::Fragments => Done { source, seed, became: self.fragments(&case(seed, &self.limits())) },
            Source::Quads => Done { source, seed, became: self.held("quads", &quads(&drawn(seed, LISTS)).into()) },
            Source::Glsl => Done {
                source,
                seed,
                became: vec![match &self.by {
                    By::Compiler(compiler) => shaders::shown(seed, compiler),
                    By::Engines { .. } => Piece::judged("shaders", &[], Verdict::Unchecked("GLSL has no input of its own".into())),
                }],
            },
        }
    }

    /// What becomes of a dispatch or draw of a kind.
    fn held(&self, kind: &'static str, dispatch: &Dispatch) -> Vec<Piece> {
        match &self.by {
            By::Compiler(compiler) => vec![Piece::judged(kind, &modules(dispatch), optimised_any(dispatch, compiler))],
            By::Engines { device, planted } => {
                let Compared { interpreters, over_sets, device } = engines::compared(dispatch, device.as_ref(), planted.as_ref());
                let of_device = device.map(|became| Piece::judged(on_device(kind), &modules(dispatch), became));
                let of_interpreters = Piece { over_sets, ..Piece::judged(kind, &modules(dispatch), interpreters) };
                std::iter::once(of_interpreters).chain(of_device).collect()
            }
        }
    }

    fn wsl(&self, programs: Programs, seed: u64, text: Option<&str>) -> Done {
        let mut became = Vec::new();
        let options = Options { profile: self.profile, ..Options::default() };
        translated(programs, seed, text, &options, &mut |_, dispatch| {
            let is_left_out = match (&dispatch, &self.by) {
                (Dispatch::Draw(draw), By::Compiler(compiler)) => compiler.refuses_vertex_stage(&draw.vertex.words),
                _ => false,
            };
            match is_left_out {
                true => became.push(Piece { kind: kind(&dispatch), became: None, uses: BTreeSet::new(), over_sets: None }),
                false => became.extend(self.held(kind(&dispatch), &dispatch)),
            }
        });
        Done { source: Source::Wsl(programs), seed, became }
    }

    fn fragments(&self, case: &ComputeCase) -> Vec<Piece> {
        let draw = fragments::drawn(case).map(Dispatch::from);
        draw.iter().flat_map(|draw| self.held("fragment stages", draw)).collect()
    }
}

/// Runs the plan; `progress` hears of each program: programs done, findings so far. The tally does
/// not depend on the number of threads.
pub fn run(plan: &Plan, mut progress: impl FnMut(u64, usize)) -> Tally {
    let mut tally = Tally::default();
    let judged = |index| {
        let (source, seed) = plan.program(index);
        plan.one(source, seed)
    };
    in_order(plan.threads, plan.count, judged, |done| {
        tally.count(done);
        progress(tally.programs, tally.findings.len());
        true
    });
    tally
}

/// What is wrong, of each dispatch and draw one sentence.
fn wrong(became: Vec<Piece>) -> Vec<(String, Ends)> {
    let wrong = |piece: Piece| if let Some(Verdict::Disagree(Wrong { what, ends })) = piece.became { Some((what, ends)) } else { None };
    became.into_iter().filter_map(wrong).collect()
}

/// The smallest program found that shows a finding still, in the same words but for numbers, as a
/// text: WSL, or the assembly of a compute module or a fragment stage, of which quads keep their
/// triangles; none if its program does not show it any more. GLSL stays as it is.
pub fn minimal(plan: &Plan, finding: &Finding) -> Option<String> {
    let same = |became| {
        let is = |(what, ends): &(String, Ends)| *ends == finding.ends && tell_the_same(what, &finding.what);
        wrong(became).iter().any(is)
    };
    match finding.source {
        Source::Wsl(programs) => {
            let mut fails = |text: &str| same(plan.wsl(programs, finding.seed, Some(text)).became);
            let mut whole = None;
            translated(programs, finding.seed, None, &Options::default(), &mut |text, _| whole = Some(text.to_string()));
            let whole = whole?;
            fails(&whole).then(|| shrink::minimal(&whole, &mut fails, QUESTIONS))
        }
        Source::Fragments => {
            let module = spirv::module(finding.seed, &plan.limits());
            let mut fails = |module: &spirv::tree::Module| same(plan.fragments(&module.case()));
            let small = fails(&module).then(|| spirv::shrink::minimal(&module, &mut fails, QUESTIONS))?;
            disassemble(&small.case().words).ok()
        }
        Source::Quads => {
            let fails = |draw: &DrawDispatch| same(plan.held("quads", &draw.clone().into()));
            let lists = (0..=LISTS).find(|lists| fails(&quads(&drawn(finding.seed, *lists))))?;
            let (drawn, mut asked) = (drawn(finding.seed, lists), 0);
            let mut draw = quads(&drawn);
            let mut interesting = |words: &[u32]| {
                draw.fragment.words = Arc::from(words);
                asked += 1;
                asked <= QUESTIONS && fails(&draw)
            };
            let small = reducer::reduced(&drawn.fragment, TimeLimit::from_now(LONGEST), &mut interesting).ok();
            small.and_then(|small| disassemble(&small.program).ok()).or(Some(drawn.text))
        }
        Source::Glsl => Some(glsl::shader(finding.seed).1),
    }
}
