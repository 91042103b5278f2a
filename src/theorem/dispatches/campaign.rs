//! Campaigns of generated dispatches and their twins. The interpreters run them on several threads.
//! A device runs the clean ones at the same time.

use crate::theorem::Unexpected;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use smallstep_semantics::spirv::environment::Observation;

use super::in_order::in_order;
use super::optimised::{Ends, Wrong, optimised};
use super::quirk::{self, Known};
use super::uses::{self, Uses};
use super::{DeviceCheck, Engines, Judged, Runner, asked, judge};
use crate::generate::Random;
use crate::generate::spirv::{self, ComputeCase, Defect, Limits, Modeled, shrink, tree};
use crate::gpu::{Device, DeviceOutcome};
use crate::theorem::compilers::Compiler;
use crate::theorem::{cause, same_message};
use crate::verdict::Verdict;

/// The number of modules that are judged before they go to the device.
const CHUNK: usize = 256;
/// The most modules that are tried while a finding is made smaller.
const MAX_TRIES: u32 = 3_000;

/// The kind of generated modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Modules of the limits' size and features ([`spirv::module`]).
    #[default]
    Limits,
    /// Modules of a model. They have no twins.
    Modeled(Modeled),
}

/// The settings of a campaign.
#[derive(Clone)]
pub struct Plan {
    /// The kind of modules.
    pub of: Of,
    /// The seed of the first module. The next modules have the next seeds.
    pub seed: u64,
    /// The number of clean modules.
    pub count: u64,
    /// The number of twins of each module.
    pub twins: u32,
    /// One module in so many also runs on the relation, with its twins. 0: none.
    pub references: u64,
    /// The number of threads of the interpreters.
    pub threads: usize,
    /// The size and features of the modules.
    pub limits: Limits,
    /// The interpreters.
    pub engines: Engines,
    /// An optimiser, whose output must refine the generated modules.
    pub optimiser: Option<Compiler>,
}

impl Plan {
    /// The dispatch of a seed, or its twin with a defect. `None` if the module has no place for
    /// the defect.
    pub fn case(&self, seed: u64, defect: Option<Defect>) -> Option<ComputeCase> {
        match self.of {
            Of::Limits => module_of(seed, defect, &self.limits).map(|module| module.case()),
            Of::Modeled(of) => defect.is_none().then(|| of.drawn(seed, of.steps()).case),
        }
    }

    /// Whether the relation also runs module `index`, with its twins.
    fn references(&self, index: u64) -> bool {
        self.references != 0 && index.is_multiple_of(self.references)
    }
}

/// A wrong result for one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The module's seed.
    pub seed: u64,
    /// The defect, if it is a twin.
    pub defect: Option<Defect>,
    /// The engine that seems to be at fault.
    pub runner: Runner,
    /// The difference, as one sentence.
    pub what: String,
    /// Whether the device crashed, hung or was lost, or the optimiser failed. Otherwise a wrong
    /// value was shown.
    pub failed: bool,
}

/// The results of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of clean modules.
    pub modules: u64,
    /// The number of clean modules that the relation ran too.
    pub referenced: u64,
    /// The number of clean modules on which the interpreters agree.
    pub agree: u64,
    /// The number of twins.
    pub twins: u64,
    /// The number of twins that were reported with their defect at its place.
    pub reported: u64,
    /// The number of modules that the lockstep machine does not compile, by the missing feature.
    pub uncompiled: BTreeMap<String, u64>,
    /// The number of instructions that all invocations of the clean modules executed.
    pub instructions: u64,
    /// The number of invocations of the clean modules.
    pub invocations: u64,
    /// The number of dispatches with the required result on the device.
    pub device_agrees: u64,
    /// The number of dispatches that did not go to the device or that it refused, by reason.
    pub device_unchecked: BTreeMap<String, u64>,
    /// The number of optimised modules, twins included, that show what the modules allow.
    pub optimised: u64,
    /// The number of optimised modules whose originals are undefined, and allow everything.
    pub optimised_vacuous: u64,
    /// The number of optimised modules that are not completely compared, by reason.
    pub optimised_undecided: BTreeMap<String, u64>,
    /// The number of modules that the optimiser refuses, by reason.
    pub optimised_refused: BTreeMap<String, u64>,
    /// The features of clean modules whose optimised modules agree or are wrong.
    pub optimised_uses: Uses,
    /// The findings, by seed.
    pub findings: Vec<Finding>,
    /// Why the device was given up, if it was. Then some dispatches have no answer, and later seeds
    /// did not run.
    pub outage: Option<String>,
}

impl Tally {
    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "modules": self.modules, "referenced": self.referenced, "agree": self.agree, "twins": self.twins, "reported": self.reported,
            "uncompiled": self.uncompiled, "instructions": self.instructions, "invocations": self.invocations,
            "device_agrees": self.device_agrees, "device_unchecked": self.device_unchecked,
            "outage": self.outage,
            "optimised": self.optimised, "optimised_vacuous": self.optimised_vacuous, "optimised_undecided": self.optimised_undecided,
            "optimised_refused": self.optimised_refused, "optimised_uses": self.optimised_uses.to_json(),
            "findings": self.findings.iter().map(|f| json!({
                "seed": f.seed, "defect": f.defect.map(|d| format!("{d:?}")), "runner": f.runner.to_string(), "what": f.what, "failed": f.failed,
            })).collect::<Vec<_>>(),
        })
    }
}

/// The judged module and twins of one seed.
struct JudgedSeed {
    seed: u64,
    case: ComputeCase,
    judged: Judged,
    twins: Vec<(Defect, Judged)>,
    optimised: Vec<(Option<Defect>, Verdict<Wrong>)>,
}

/// The module of a seed, or its twin with a defect. `None` if the module has no place for
/// the defect.
pub fn module_of(seed: u64, defect: Option<Defect>, limits: &Limits) -> Option<tree::Module> {
    let clean = spirv::module(seed, limits);
    match defect {
        None => Some(clean),
        Some(defect) => spirv::twin(&clean, defect, &mut twin_random(seed, defect)),
    }
}

fn twin_random(seed: u64, defect: Defect) -> Random {
    Random::new(seed ^ 0x7477_696e ^ (defect as u64) << 32)
}

/// The twins of a seed, at most `count`. Their defects are drawn from those for which the module
/// has a place.
fn twins(seed: u64, clean: &tree::Module, count: u32) -> Vec<(Defect, ComputeCase)> {
    let mut random = Random::new(seed ^ 0x6465_6665_6374);
    let mut defects = Defect::ALL.to_vec();
    let mut found = Vec::new();
    while found.len() < count as usize && !defects.is_empty() {
        let defect = defects.swap_remove(random.below(defects.len() as u32) as usize);
        found.extend(spirv::twin(clean, defect, &mut twin_random(seed, defect)).map(|twin| (defect, twin.case())));
    }
    found
}

fn judge_seed(plan: &Plan, index: u64) -> JudgedSeed {
    let seed = plan.seed.wrapping_add(index);
    let engines = Engines { without_relation: !plan.references(index), ..plan.engines.clone() };
    let (case, twins) = match plan.of {
        Of::Limits => {
            let clean = spirv::module(seed, &plan.limits);
            (clean.case(), twins(seed, &clean, plan.twins))
        }
        Of::Modeled(of) => (of.drawn(seed, of.steps()).case, Vec::new()),
    };
    let judged = judge(&case, &engines);
    let mut optimised_modules = Vec::new();
    if let (Some(optimiser), false) = (&plan.optimiser, matches!(judged, Judged::Wrong(..))) {
        optimised_modules.push((None, optimised(&case, optimiser)));
        optimised_modules.extend(twins.iter().map(|(defect, twin)| (Some(*defect), optimised(twin, optimiser))));
    }
    let twins = twins.into_iter().map(|(defect, twin)| (defect, judge(&twin, &engines))).collect();
    JudgedSeed { seed, case, judged, twins, optimised: optimised_modules }
}

/// Runs the campaign. `progress` gets the numbers of finished modules and of findings, from time to
/// time. The tally does not depend on the number of threads. The campaign ends early if the device
/// is gone for good.
pub fn run(plan: &Plan, mut device: Option<&mut Device>, mut progress: impl FnMut(u64, usize)) -> Tally {
    let mut tally = Tally::default();
    let mut ready = Vec::with_capacity(CHUNK);
    let judged = |index| judge_seed(plan, index);
    in_order(plan.threads, plan.count, judged, |done| {
        ready.push(done);
        if ready.len() < CHUNK && tally.modules + (ready.len() as u64) < plan.count {
            return true;
        }
        let observed = count(&mut tally, plan, &ready);
        if let Some(device) = device.as_deref_mut() {
            on_device(&mut tally, device, &observed);
        }
        ready.clear();
        progress(tally.modules, tally.findings.len());
        tally.outage.is_none()
    });
    tally.findings.sort_by_key(|finding| (finding.seed.wrapping_sub(plan.seed), finding.defect));
    tally
}

/// Counts a chunk. Returns the clean dispatches with an observation, for the device.
fn count<'d>(tally: &mut Tally, plan: &Plan, done: &'d [JudgedSeed]) -> Vec<(u64, &'d ComputeCase, &'d Observation)> {
    let mut observed = Vec::new();
    for JudgedSeed { seed, case, judged, twins, optimised } in done {
        count_optimised(tally, *seed, optimised);
        if let Some((None, Verdict::Agree | Verdict::Disagree(_))) = optimised.first() {
            tally.optimised_uses.count(&uses::of(&case.words));
        }
        tally.modules += 1;
        tally.referenced += u64::from(plan.references(seed.wrapping_sub(plan.seed)));
        tally.invocations += u64::from(case.invocations());
        match judged {
            Judged::Observed(observation) => {
                tally.agree += 1;
                tally.instructions += observation.instructions;
                observed.push((*seed, case, observation));
            }
            Judged::Uncompiled(why, observation) => {
                *tally.uncompiled.entry(why.clone()).or_default() += 1;
                observed.extend(observation.as_ref().map(|observation| (*seed, case, observation)));
            }
            Judged::Reported => {}
            Judged::Wrong(runner, what) => {
                tally.findings.push(Finding { seed: *seed, defect: None, runner: *runner, what: what.clone(), failed: false });
            }
        }
        for (defect, judged) in twins {
            tally.twins += 1;
            match judged {
                Judged::Reported => tally.reported += 1,
                Judged::Uncompiled(why, _) => *tally.uncompiled.entry(why.clone()).or_default() += 1,
                Judged::Observed(_) => {}
                Judged::Wrong(runner, what) => {
                    tally.findings.push(Finding { seed: *seed, defect: Some(*defect), runner: *runner, what: what.clone(), failed: false });
                }
            }
        }
    }
    observed
}

fn count_optimised(tally: &mut Tally, seed: u64, optimised: &[(Option<Defect>, Verdict<Wrong>)]) {
    for (defect, verdict) in optimised {
        match verdict {
            Verdict::Agree => tally.optimised += 1,
            Verdict::Vacuous(_) => tally.optimised_vacuous += 1,
            Verdict::Refused(why) => *tally.optimised_refused.entry(why.clone()).or_default() += 1,
            Verdict::Disagree(Wrong { what, ends }) => {
                let (what, failed) = (what.clone(), *ends == Ends::Failed);
                tally.findings.push(Finding { seed, defect: *defect, runner: Runner::Optimiser, what, failed });
            }
            other => *tally.optimised_undecided.entry(cause(&other.why())).or_default() += 1,
        }
    }
}

fn on_device(tally: &mut Tally, device: &mut Device, observed: &[(u64, &ComputeCase, &Observation)]) {
    let mut dispatches = Vec::with_capacity(observed.len());
    let mut expectations = Vec::with_capacity(observed.len());
    for &(seed, case, observation) in observed {
        if let Err(why) = has_subgroups(case, device) {
            *tally.device_unchecked.entry(why).or_default() += 1;
            continue;
        }
        match asked(case, observation, device.route()) {
            Ok(DeviceCheck { dispatch, required }) => {
                dispatches.push(dispatch);
                expectations.push((seed, required));
            }
            Err(Unexpected { what }) => tally.findings.push(Finding { seed, defect: None, runner: Runner::Machine, what, failed: false }),
        }
    }
    for finished in device.run_all(dispatches) {
        let (seed, required) = &expectations[finished.id as usize];
        let seed = *seed;
        if let DeviceOutcome::Outage(why) = finished.outcome {
            tally.outage.get_or_insert(why);
            continue;
        }
        match quirk::on_device(required, &finished.outcome) {
            Verdict::Agree => tally.device_agrees += 1,
            Verdict::Disagree(what) => tally.findings.push(Finding { seed, defect: None, runner: Runner::Device, what, failed: false }),
            Verdict::Failed(what) => tally.findings.push(Finding { seed, defect: None, runner: Runner::Device, what, failed: true }),
            other => *tally.device_unchecked.entry(other.why()).or_default() += 1,
        }
    }
}

/// Checks that the device has the subgroup size that a case needs.
fn has_subgroups(case: &ComputeCase, device: &Device) -> Result<(), String> {
    let size = device.adapter().subgroups.size();
    match case.subgroup_size {
        Some(needed) if size != Some(needed) => Err("the subgroups of the device have another size".into()),
        _ => Ok(()),
    }
}

/// The verdict on one dispatch on a device.
pub fn on_device_alone(case: &ComputeCase, observed: &Observation, device: &mut Device) -> Verdict<String> {
    if let Err(why) = has_subgroups(case, device) {
        return Verdict::Unchecked(why);
    }
    match asked(case, observed, device.route()) {
        Ok(DeviceCheck { dispatch, required }) => quirk::on_device(&required, &device.run(dispatch).outcome),
        Err(unexpected) => Verdict::Unchecked(unexpected.what),
    }
}

/// The quirk that explains a device's finding by its remedy: without the construct, the module is
/// clean and the device agrees on it.
pub fn remedied(finding: &Finding, plan: &Plan, known: &Known<'_>, device: &mut Device) -> Option<String> {
    if plan.of != Of::Limits {
        return None;
    }
    let module = module_of(finding.seed, finding.defect, &plan.limits)?;
    known.remedies(finding.failed).into_iter().find_map(|(remedy, name)| {
        let case = remedy.applied(&module)?.case();
        let Judged::Observed(observed) = judge(&case, &plan.engines) else { return None };
        let DeviceCheck { dispatch, required } = asked(&case, &observed, device.route()).ok()?;
        (quirk::on_device(&required, &device.run(dispatch).outcome) == Verdict::Agree).then_some(name)
    })
}

/// The smallest dispatch found that still shows a finding: the same runner is at fault, in the same
/// words except for numbers.
pub fn minimal(finding: &Finding, plan: &Plan, mut device: Option<&mut Device>) -> Option<ComputeCase> {
    let mut fails = |case: &ComputeCase| {
        if finding.runner == Runner::Optimiser {
            let Some(optimiser) = &plan.optimiser else { return false };
            return matches!(optimised(case, optimiser), Verdict::Disagree(Wrong { what, ends })
                if (ends == Ends::Failed) == finding.failed && same_message(&what, &finding.what));
        }
        match (judge(case, &plan.engines), finding.runner) {
            (Judged::Wrong(runner, what), expected_runner) => runner == expected_runner && same_message(&what, &finding.what),
            (Judged::Observed(observed), Runner::Device) => device.as_deref_mut().is_some_and(|device| {
                let shown = on_device_alone(case, &observed, device);
                match &shown {
                    Verdict::Disagree(what) | Verdict::Failed(what) => {
                        matches!(shown, Verdict::Failed(_)) == finding.failed && same_message(what, &finding.what)
                    }
                    _ => false,
                }
            }),
            _ => false,
        }
    };
    match plan.of {
        Of::Limits => {
            let module = module_of(finding.seed, finding.defect, &plan.limits)?;
            let mut fails = |module: &tree::Module| fails(&module.case());
            fails(&module).then(|| shrink::minimal(&module, &mut fails, MAX_TRIES).case())
        }
        Of::Modeled(of) => (0..=of.steps()).map(|steps| of.drawn(finding.seed, steps).case).find(fails),
    }
}
