//! Modules through a [`Compiler`]: whether its output may replace its input
//! ([`crate::theorem::refine`]), over generated inputs and for every entry point.

use std::collections::BTreeMap;

use smallstep_semantics::spirv::{LoadError, Module};

use super::compiler::{Compiled, Compiler};
use crate::compile::{CannotAdapt, split_samplers};
use crate::dispatch::ComputeDispatch;
use crate::theorem::campaign::Finding;
use crate::theorem::refine::{self, Disagreement, Input, Planted, Runnable, Settings, Summary, entries};
use crate::theorem::without_numbers;
use crate::theorem::wsl::Tally;
use crate::verdict::Verdict;

/// The verdict on a compiler for one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// At least one input was compared, and everything that was compared is allowed.
    Agrees,
    /// The output shows something that the module does not allow, or has another interface.
    Miscompiles,
    /// It refuses a valid module.
    Refuses,
    /// The output is no valid module.
    Invalid,
    /// It crashes.
    Crashes,
    /// It exceeds its time limit.
    TimesOut,
    /// Nothing wrong was found, but some inputs stay undecided.
    Undecided,
    /// The module is undefined for all inputs, so nothing was compared.
    Vacuous,
    /// It was not compared: an engine or the compiler could not run, or reached a limit.
    Unchecked,
}

impl Status {
    /// All statuses, in the order of reports.
    pub const ALL: [Status; 9] = [
        Status::Agrees,
        Status::Miscompiles,
        Status::Refuses,
        Status::Invalid,
        Status::Crashes,
        Status::TimesOut,
        Status::Undecided,
        Status::Vacuous,
        Status::Unchecked,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Agrees => "agrees",
            Status::Miscompiles => "miscompiles",
            Status::Refuses => "refuses",
            Status::Invalid => "invalid",
            Status::Crashes => "crashes",
            Status::TimesOut => "times out",
            Status::Undecided => "undecided",
            Status::Vacuous => "vacuous",
            Status::Unchecked => "unchecked",
        }
    }

    /// The status of a compiler by the verdict that compares its output with its input.
    pub fn of<D>(verdict: &Verdict<D>) -> Status {
        match verdict {
            Verdict::Agree => Status::Agrees,
            Verdict::Disagree(_) => Status::Miscompiles,
            Verdict::Refused(_) => Status::Refuses,
            Verdict::Failed(_) => Status::Crashes,
            Verdict::Undecided(_) => Status::Undecided,
            Verdict::Vacuous(_) | Verdict::Undefined(_) => Status::Vacuous,
            Verdict::Unchecked(_) | Verdict::Limit(_) | Verdict::Unsupported(_) | Verdict::Invalid(_) => Status::Unchecked,
        }
    }

    /// The status of a compiler by the verdict on a program that it compiled.
    pub fn of_program(verdict: &crate::theorem::Verdict) -> Status {
        match verdict {
            Verdict::Disagree(found) if found.what.starts_with(Status::Invalid.name()) => Status::Invalid,
            other => Status::of(other),
        }
    }

    /// Whether the compiler is wrong: its output is wrong, or it ends without an answer.
    pub fn is_wrong(self) -> bool {
        matches!(self, Status::Miscompiles | Status::Invalid | Status::Crashes | Status::TimesOut)
    }

    /// The status that counts more for a module with several entry points.
    pub(in crate::theorem) fn weightier(self, other: Status) -> Status {
        let order = [
            Status::Miscompiles,
            Status::Crashes,
            Status::TimesOut,
            Status::Invalid,
            Status::Refuses,
            Status::Unchecked,
            Status::Undecided,
            Status::Agrees,
            Status::Vacuous,
        ];
        let rank = |status: Status| order.iter().position(|v| *v == status);
        if rank(other) < rank(self) { other } else { self }
    }
}

/// The results of WSL programs through a compiler, as numbers by the status of the compiler.
pub fn of_tally(tally: &Tally) -> BTreeMap<Status, u64> {
    let named = |name: &str| match name {
        "agree" => Status::Agrees,
        "disagree" => Status::Miscompiles,
        "refused" => Status::Refuses,
        "failed" => Status::Crashes,
        "undecided" => Status::Undecided,
        "vacuous" | "undefined" => Status::Vacuous,
        _ => Status::Unchecked,
    };
    let mut all = BTreeMap::new();
    for (name, n) in tally.all_device().shown() {
        *all.entry(named(name)).or_default() += n;
    }
    // Tallies count invalid modules as disagreements. Only the findings tell them apart.
    let is_invalid = |finding: &&Finding| finding.device && finding.what.contains(&format!(": {}: ", Status::Invalid.name()));
    let invalid = tally.findings.iter().filter(is_invalid).count() as u64;
    let miscompiled: &mut u64 = all.entry(Status::Miscompiles).or_default();
    *miscompiled = miscompiled.saturating_sub(invalid);
    all.insert(Status::Invalid, invalid);
    all.retain(|_, n| *n > 0);
    all
}

/// The judgement on a compiler for one module.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The status.
    pub status: Status,
    /// The reason for the status, as a sentence. Empty if all inputs agree.
    pub cause: String,
    /// The output of the compiler, if it wrote words.
    pub words: Option<Vec<u32>>,
    /// The number of compared inputs, for all entry points together.
    pub inputs: u64,
    /// The number of inputs on which the output shows what the module allows.
    pub agree: u64,
    /// Remarks, as sentences: entry points that WGSL renamed.
    pub notes: Vec<String>,
    /// The first disagreement.
    pub disagreement: Option<Box<Found>>,
}

/// A disagreement of one entry point.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name of the entry point, if there are several.
    pub entry: Option<String>,
    /// The number of the input.
    pub index: u64,
    /// The minimal input.
    pub input: Input,
    /// The input as text: arguments of `smallstep run`, and lines with the vertices' data.
    pub arguments: Vec<String>,
    /// The difference.
    pub disagreement: Disagreement,
}

impl Judgement {
    fn of(status: Status, cause: impl Into<String>) -> Judgement {
        Judgement { status, cause: cause.into(), words: None, inputs: 0, agree: 0, notes: Vec::new(), disagreement: None }
    }

    /// Whether another judgement is alike: the same status, and the same kind of difference, or
    /// without a difference the same cause.
    pub fn is_like(&self, other: &Judgement) -> bool {
        let kind = |judgement: &Judgement| judgement.disagreement.as_ref().map(|found| found.disagreement.difference.kind.category());
        self.status == other.status
            && match (kind(self), kind(other)) {
                (None, None) => self.group() == other.group(),
                (own, others) => own == others,
            }
    }

    /// The first line of the cause without numbers. Reports count judgements by it.
    pub fn group(&self) -> String {
        without_numbers(self.cause.lines().next().unwrap_or_default())
    }
}

/// The words without combined image samplers, which WGSL does not have: their images and samplers
/// are bound separately. `None` if there are none. The output of a compiler through WGSL is
/// compared with these words.
///
/// # Errors
/// A combined image sampler cannot be split.
pub fn comparable(words: Vec<u32>) -> Result<Option<Vec<u32>>, CannotAdapt> {
    match split_samplers::places([&words[..]], std::iter::empty()) {
        Ok(places) if places.is_empty() => Ok(None),
        _ => {
            let split_words = ComputeDispatch { words: words.into(), ..ComputeDispatch::default() };
            split_samplers::adapt(&split_words).map(|split_words| Some(split_words.words.to_vec()))
        }
    }
}

/// Compiles the words of a valid module and compares the output, for every entry point or only for
/// `entry`. `name` is used in messages.
pub fn judge(name: &str, words: &[u32], entry: Option<&str>, compiler: &Compiler, settings: &Settings) -> Judgement {
    // Through WGSL, the output is compared with the words that the compiler read.
    let split_words = match compiler.is_by_wgsl().then(|| comparable(words.to_vec())).transpose() {
        Ok(split_words) => split_words.flatten(),
        Err(why) => return Judgement::of(Status::Unchecked, why.0),
    };
    let words = split_words.as_deref().unwrap_or(words);
    let before = match Module::load(words) {
        Ok(module) => module,
        Err(e) => return Judgement::of(Status::Unchecked, refused(&e)),
    };
    let has_arrays = before.globals().iter().any(|variable| before.is_descriptor_array(variable.type_));
    if has_arrays && compiler.is_by_converter() {
        let why = "the converter gives each element of an array of descriptors a binding of its own, where nothing is compared";
        return Judgement::of(Status::Unchecked, why);
    }
    let Compiled { before: words, words: written, named, renamed } = match compiler.run(words) {
        Ok(compiled) => compiled,
        Err(why) => {
            let (status, cause) = why.judged();
            return Judgement::of(status, cause);
        }
    };
    match Module::load(&written) {
        Ok(_) => {}
        Err(e @ (LoadError::Unsupported { .. } | LoadError::Limit(_))) => {
            return Judgement { words: Some(written), ..Judgement::of(Status::Unchecked, refused(&e)) };
        }
        Err(e) => return Judgement { words: Some(written), ..Judgement::of(Status::Invalid, refused(&e)) },
    }
    let all = match entry {
        Some(entry) => vec![Some(entry.to_string())],
        None if settings.does(Planted::FirstEntry) => entries(&before).into_iter().take(1).collect(),
        None => entries(&before),
    };
    let mut judgement = Judgement::of(Status::Vacuous, "the module has no entry point");
    for (at, entry) in all.into_iter().enumerate() {
        let one = one_entry(name, &words, &named, entry.as_deref(), settings);
        // Status and cause come from the same entry point.
        if at == 0 || judgement.status.weightier(one.status) != judgement.status || settings.does(Planted::LastEntry) {
            (judgement.status, judgement.cause) = (one.status, one.cause);
        }
        judgement.inputs += one.inputs;
        judgement.agree += one.agree;
        judgement.disagreement = judgement.disagreement.or(one.disagreement);
    }
    judgement.words = Some(written);
    judgement.notes = renamed.iter().map(ToString::to_string).collect();
    judgement
}

fn refused(error: &LoadError) -> String {
    match error {
        LoadError::Unsupported { what, .. } => format!("unsupported: {what}"),
        other => other.to_string(),
    }
}

fn one_entry(name: &str, words: &[u32], written: &[u32], entry: Option<&str>, settings: &Settings) -> Judgement {
    let load = |words: &[u32]| Module::load(words).map_err(|e| refused(&e));
    let before = match load(words).and_then(|module| Ok(Runnable::new(name, module, None, entry)?)) {
        Ok(before) => before,
        Err(why) => return Judgement::of(Status::Unchecked, why),
    };
    let after = load(written).and_then(|module| Ok(before.in_place("what the compiler writes", module, None)?));
    let after = after.and_then(|after| before.admits(&after).map(|()| after).map_err(|e| e.0));
    let after = match after {
        Ok(after) => after,
        Err(what) => return Judgement::of(Status::Miscompiles, format!("another interface: {what}")),
    };
    match before.refined_by(&after, settings, |_| {}) {
        Ok(summary) => of_summary(&before, entry, summary, settings),
        Err(what) => Judgement::of(Status::Unchecked, what.0),
    }
}

fn of_summary(before: &Runnable, entry: Option<&str>, summary: Summary, settings: &Settings) -> Judgement {
    let (inputs, agree) = (summary.inputs, summary.agree);
    let verdict = summary.verdict();
    let cause = match &verdict {
        refine::Verdict::Vacuous(why) => format!("the module ends with {why}"),
        other => other.why(),
    };
    let disagreement = summary.disagreement.map(|found| {
        let (index, input, disagreement) = *found;
        let arguments = before.shape(settings).map(|shape| {
            let pairs = shape.arguments(&input);
            shape.vertices(&input).into_iter().chain(pairs.chunks(2).map(|pair| pair.join(" "))).collect()
        });
        let (entry, arguments) = (entry.map(str::to_string), arguments.unwrap_or_default());
        Box::new(Found { entry, index, input, arguments, disagreement })
    });
    Judgement { inputs, agree, disagreement, ..Judgement::of(Status::of(&verdict), cause) }
}
