//! The results of a campaign's WSL programs.

use super::case::Case;
use super::compare::Compared;
use super::programs::Programs;
use super::subject::Subject;
use crate::compile::wsl::Module;
use crate::theorem::Verdict;
use crate::theorem::campaign::{Counts, Finding, Totals};
use serde_json::{Map, Value, json};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::group::ResourceContents;
use std::collections::{BTreeMap, BTreeSet};

/// The largest fraction of programs that may be vacuous, undecided, unchecked, refused or
/// undefined. Undefined programs with a planted race do not count.
pub const CEILING_EXCLUDED: f64 = 0.05;
/// The most programs that are named by their index for each reason: the first ones.
pub const MAX_NAMED: usize = 8;
/// The most letters of a reason by which programs are counted.
const MAX_REASON: usize = 80;

/// The results of some programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The comparison between the interpreters, by kind of program.
    pub semantics: BTreeMap<Programs, Counts>,
    /// The comparison with the device, by kind of program.
    pub device: BTreeMap<Programs, Counts>,
    /// The number of lanes that the interpreters compared and for which the source allows
    /// several values.
    pub sets: u64,
    /// The number of programs that reached an unspecified value.
    pub open: u64,
    /// The number of programs that WSL's relation ran.
    pub referenced: u64,
    /// The number of subjects: dispatches, calls and draws.
    pub subjects: u64,
    /// The number of vacuous subjects, by reason. A program is vacuous if all of its subjects are.
    pub vacuous: BTreeMap<String, u64>,
    /// The number of seeds that were skipped, by reason: their programs have nothing to run.
    pub passed: BTreeMap<String, u64>,
    /// The number of programs for which the generator was restricted, by restriction.
    pub restricted: BTreeMap<String, u64>,
    /// The number of statements of the programs.
    pub statements: u64,
    /// The number of programs that the compiler refuses, by construct.
    pub refused: BTreeMap<String, u64>,
    /// The number of programs that were not compared, by reason.
    pub unchecked: BTreeMap<String, u64>,
    /// The indices of the first programs that were refused or not compared, at most [`MAX_NAMED`]
    /// for each reason.
    pub named: BTreeMap<String, BTreeSet<u64>>,
    /// How many programs used each rule of the mapping.
    pub rows: BTreeMap<Rule, u64>,
    /// How many programs had a texture of each type.
    pub textures: BTreeMap<String, u64>,
    /// How many programs ran as each stage.
    pub stages: BTreeMap<String, u64>,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// The result of one program while its subjects are judged.
#[derive(Default)]
pub(super) struct ProgramResult {
    pub(super) verdict: Option<Verdict>,
    pub(super) compared: Compared,
    pub(super) subjects: u64,
    vacuous: BTreeMap<String, u64>,
    rows: BTreeMap<Rule, u64>,
    textures: BTreeMap<String, u64>,
    stages: BTreeMap<String, u64>,
}

impl ProgramResult {
    /// Adds a verdict on one of its subjects.
    pub(super) fn add(&mut self, verdict: Verdict, compared: Compared) {
        self.subjects += 1;
        self.compared += compared;
        if let Verdict::Vacuous(why) = verdict {
            *self.vacuous.entry(why).or_default() += 1;
            return;
        }
        self.verdict = Some(match self.verdict.take() {
            None => verdict,
            Some(before) => before.worse(verdict),
        });
    }

    /// Records the features of a subject that ran.
    pub(super) fn covers(&mut self, case: &Case, modules: &[Module]) {
        self.rows.extend(modules.iter().flat_map(|module| &module.rules).map(|(row, _)| (*row, 1)));
        let (stages, resources) = match case {
            Case::Computed(Subject::Dispatch(dispatch)) => (&["compute"][..], &dispatch.resources[..]),
            Case::Computed(Subject::Call { .. }) => (&["function"][..], &[][..]),
            Case::Drawn(draw) if draw.vertex().is_none() => (&["fragment"][..], &draw.resources[..]),
            Case::Drawn(draw) => (&["vertex", "fragment"][..], &draw.resources[..]),
        };
        self.stages.extend(stages.iter().map(|stage| (stage.to_string(), 1)));
        for resource in resources {
            if let ResourceContents::Texture(textured) = &resource.contents {
                self.textures.insert(textured.kind.name().into(), 1);
            }
        }
    }

    /// The verdict on the program: the worst verdict that is not vacuous.
    pub(super) fn verdict(&self) -> Verdict {
        match &self.verdict {
            None => Verdict::Vacuous(self.vacuous.keys().next().cloned().unwrap_or_else(|| "it has nothing that is run".into())),
            Some(verdict) => verdict.clone(),
        }
    }
}

fn add_all<K: Ord>(to: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, n) in from {
        let total = to.entry(key).or_default();
        *total = total.saturating_add(n);
    }
}

impl Tally {
    /// Adds the result of a program between the interpreters.
    pub(super) fn count(&mut self, programs: Programs, index: u64, result: ProgramResult) -> Verdict {
        let verdict = result.verdict();
        self.semantics.entry(programs).or_default().count(&verdict, result.compared.lanes);
        self.sets += result.compared.sets;
        self.open += u64::from(result.compared.open);
        self.referenced += u64::from(result.compared.by_relation);
        self.subjects += result.subjects;
        add_all(&mut self.vacuous, result.vacuous);
        add_all(&mut self.rows, result.rows);
        add_all(&mut self.textures, result.textures);
        add_all(&mut self.stages, result.stages);
        self.record(index, &verdict, false);
        verdict
    }

    /// Adds the result of a program on a device.
    pub(super) fn count_device(&mut self, programs: Programs, index: u64, result: ProgramResult) {
        let verdict = result.verdict();
        self.device.entry(programs).or_default().count(&verdict, result.compared.lanes);
        self.record(index, &verdict, true);
    }

    fn record(&mut self, index: u64, verdict: &Verdict, device: bool) {
        let reason = |why: &str| why.split(", and ").next().unwrap_or_default().chars().take(MAX_REASON).collect();
        let (reasons, why) = match verdict {
            Verdict::Refused(what) => (&mut self.refused, what.clone()),
            Verdict::Unchecked(why) | Verdict::Limit(why) => (&mut self.unchecked, reason(why)),
            _ => return self.findings.extend(Finding::of(index, verdict, device)),
        };
        *reasons.entry(why.clone()).or_default() += 1;
        self.name_programs(why, [index]);
    }

    /// Adds programs to the named ones of a reason. Only the first ones stay.
    fn name_programs(&mut self, reason: String, programs: impl IntoIterator<Item = u64>) {
        let named = self.named.entry(reason).or_default();
        named.extend(programs);
        while named.len() > MAX_NAMED {
            named.pop_last();
        }
    }

    /// The counts between the interpreters, for all kinds together.
    pub fn all(&self) -> Counts {
        sum(&self.semantics)
    }

    /// The counts on the device, for all kinds together.
    pub fn all_device(&self) -> Counts {
        sum(&self.device)
    }

    /// The ceilings that the campaign exceeds, each as a sentence.
    pub fn missed_floors(&self, with_device: bool) -> Vec<String> {
        let of_device = self.device.iter().map(|(programs, counts)| (programs, counts, "on the device, "));
        let of_interpreters = self.semantics.iter().map(|(programs, counts)| (programs, counts, ""));
        let judged: Vec<(&Programs, &Counts, &str)> =
            if with_device { of_interpreters.chain(of_device).collect() } else { of_interpreters.collect() };
        let mut missed = Vec::new();
        for place in ["", "on the device, "] {
            let (mut excluded, mut all) = (0, 0);
            for (programs, counts, _) in judged.iter().filter(|(.., of)| *of == place) {
                let planted = if programs.race() { counts.of("undefined") } else { 0 };
                let excluded_counts = ["vacuous", "undecided", "unchecked", "refused", "undefined"].map(|verdict| counts.of(verdict));
                excluded += excluded_counts.iter().sum::<u64>() - planted;
                all += counts.all();
            }
            if excluded as f64 > CEILING_EXCLUDED * all as f64 {
                let percent = CEILING_EXCLUDED * 100.0;
                missed.push(format!("{place}{excluded} of {all} programs are not compared with every lane; the ceiling is {percent:.0} %"));
            }
        }
        missed
    }
}

fn sum(counts: &BTreeMap<Programs, Counts>) -> Counts {
    let mut all = Counts::default();
    counts.values().for_each(|counts| all.add(counts));
    all
}

fn kinds_json(counts: &BTreeMap<Programs, Counts>) -> Value {
    counts.iter().map(|(programs, counts)| (programs.name().to_string(), counts.to_json())).collect::<Map<_, _>>().into()
}

fn kinds(value: &Value) -> Option<BTreeMap<Programs, Counts>> {
    let one = |(name, counts): (&String, &Value)| {
        let programs = Programs::ALL.iter().find(|programs| programs.name() == name)?;
        Some((*programs, Counts::from_json(counts)?))
    };
    value.as_object()?.iter().map(one).collect()
}

fn numbers(value: &Value) -> Option<BTreeMap<String, u64>> {
    value.as_object()?.iter().map(|(key, n)| Some((key.clone(), n.as_u64()?))).collect()
}

impl Totals for Tally {
    fn add(&mut self, other: Tally) {
        for (to, from) in [(&mut self.semantics, &other.semantics), (&mut self.device, &other.device)] {
            from.iter().for_each(|(programs, counts)| to.entry(*programs).or_default().add(counts));
        }
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n);
        add(&mut self.sets, other.sets);
        add(&mut self.open, other.open);
        add(&mut self.referenced, other.referenced);
        add(&mut self.subjects, other.subjects);
        add(&mut self.statements, other.statements);
        add_all(&mut self.vacuous, other.vacuous);
        add_all(&mut self.passed, other.passed);
        add_all(&mut self.restricted, other.restricted);
        add_all(&mut self.refused, other.refused);
        add_all(&mut self.unchecked, other.unchecked);
        other.named.into_iter().for_each(|(reason, programs)| self.name_programs(reason, programs));
        add_all(&mut self.rows, other.rows);
        add_all(&mut self.textures, other.textures);
        add_all(&mut self.stages, other.stages);
        self.findings.extend(other.findings);
    }

    fn programs(&self) -> u64 {
        self.all().all()
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut [Finding] {
        &mut self.findings
    }

    fn to_json(&self) -> Value {
        let rows: Map<_, _> = self.rows.iter().map(|(row, n)| (row.name().to_string(), json!(n))).collect();
        json!({
            "semantics": kinds_json(&self.semantics), "device": kinds_json(&self.device), "sets": self.sets, "open": self.open,
            "referenced": self.referenced, "subjects": self.subjects, "vacuous": self.vacuous, "passed": self.passed, "restricted": self.restricted,
            "statements": self.statements, "refused": self.refused,
            "unchecked": self.unchecked, "named": self.named, "rows": rows, "textures": self.textures, "stages": self.stages,
            "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }

    fn from_json(value: &Value) -> Option<Tally> {
        let number = |key: &str| value.get(key)?.as_u64();
        let named = |(reason, programs): (&String, &Value)| {
            let programs: Option<BTreeSet<u64>> = programs.as_array()?.iter().map(Value::as_u64).collect();
            Some((reason.clone(), programs?))
        };
        let row = |(name, n): (String, u64)| Some((Rule::from_name(&name)?, n));
        Some(Tally {
            semantics: kinds(value.get("semantics")?)?,
            device: kinds(value.get("device")?)?,
            sets: number("sets")?,
            open: number("open")?,
            referenced: number("referenced")?,
            subjects: number("subjects")?,
            vacuous: numbers(value.get("vacuous")?)?,
            passed: numbers(value.get("passed")?)?,
            restricted: numbers(value.get("restricted")?)?,
            statements: number("statements")?,
            refused: numbers(value.get("refused")?)?,
            unchecked: numbers(value.get("unchecked")?)?,
            named: value.get("named")?.as_object()?.iter().map(named).collect::<Option<_>>()?,
            rows: numbers(value.get("rows")?)?.into_iter().map(row).collect::<Option<_>>()?,
            textures: numbers(value.get("textures")?)?,
            stages: numbers(value.get("stages")?)?,
            findings: value.get("findings")?.as_array()?.iter().map(Finding::from_json).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each reason, the first programs that were not compared are named, whichever thread or
    /// shard judged them.
    #[test]
    fn the_first_programs_of_each_reason_are_named() {
        let tally = |programs: &mut dyn Iterator<Item = u64>| {
            let mut tally = Tally::default();
            for index in programs {
                let why = if index.is_multiple_of(2) { "no room, and more" } else { "another" };
                let verdict = Verdict::Limit(why.into());
                tally.count(Programs::Dispatches, index, ProgramResult { verdict: Some(verdict), ..ProgramResult::default() });
            }
            tally
        };
        let (mut low, high) = (tally(&mut (0..15)), tally(&mut (15..40).rev()));
        let mut both = high.clone();
        both.add(low.clone());
        low.add(high);
        assert_eq!(low, both);
        assert_eq!(low.unchecked, BTreeMap::from([("no room".into(), 20), ("another".into(), 20)]));
        assert_eq!(low.named["no room"], (0..MAX_NAMED as u64).map(|k| 2 * k).collect());
        assert_eq!(low.named["another"], (0..MAX_NAMED as u64).map(|k| 2 * k + 1).collect());
        assert_eq!(Tally::from_json(&low.to_json()), Some(low));
    }
}
