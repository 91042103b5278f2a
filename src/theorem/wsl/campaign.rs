//! Campaigns of WSL: the programs, and how each is judged.

use super::blame;
use super::case::{Case, Ran};
use super::compare::Compared;
use super::programs::{Each, Generated, Programs, draws, entry_points, functions, generated, subjects, subjects_of};
use super::source::RelationUse;
use super::tally::{ProgramResult, Tally};
use crate::compile::wsl::planted::Planted;
use crate::compile::wsl::{Options, VERSION as SPIRV};
use crate::dispatch::Dispatch;
use crate::generate::wsl::dispatch::{Dispatch as GeneratedDispatch, VERSION as DISPATCHES};
use crate::generate::wsl::draws::VERSION as DRAWS;
use crate::generate::wsl::typed::{Restriction, VERSION as TYPED};
use crate::gpu::{Device, DeviceOutcome, Route};
use crate::theorem::blame::Blame;
use crate::theorem::campaign::{CHUNK, Extent, Returned, SourceLanguage};
use crate::theorem::compilers::{Compiler, shown};
use crate::theorem::probe::Unblamed;
use crate::theorem::{Difference, Engine, Verdict};
use serde_json::{Value, json};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::sync::LazyLock;

/// The kinds of a campaign's programs, in shares. The seed of a program draws one. One in 48 has a
/// planted race: a program that races by the relation must never agree.
pub const MIX: &[Programs] = &{
    let shares = [
        (Programs::Dispatches, 12),
        (Programs::Functions, 12),
        (Programs::EntryPoints, 12),
        (Programs::Draws, 7),
        (Programs::Stages, 4),
        (Programs::Racy, 1),
    ];
    let mut mix = [Programs::Racy; 48];
    let (mut kind, mut next) = (0, 0);
    while kind < shares.len() {
        let mut count = 0;
        while count < shares[kind].1 {
            mix[next] = shares[kind].0;
            (count, next) = (count + 1, next + 1);
        }
        kind += 1;
    }
    mix
};
/// The same shares, for programs of about 30 statements.
pub static SHORT_MIX: LazyLock<Vec<Programs>> = LazyLock::new(|| MIX.iter().map(|kind| kind.short()).collect());
/// The most seeds that are tried for a program with something to run.
const TRIES: u64 = 64;

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// The programs.
    pub extent: Extent,
    /// The kinds of programs, in shares.
    pub mix: &'p [Programs],
    /// One program in so many also runs on WSL's relation if the machine shows definite values. 0:
    /// none. A program with unspecified values or a race always does.
    pub references: u64,
    /// The float controls that modules declare, which also judge a device.
    pub profile: Profile,
    /// A mistake planted in the compiler.
    pub planted: Option<&'p Planted>,
    /// A compiler of modules. What its output shows is compared like a device.
    pub via: Option<&'p Compiler>,
}

/// A function over the subjects of a program.
type Subjects<'s> = &'s mut dyn FnMut(Each);

/// The generated program of an index.
struct GeneratedProgram {
    programs: Programs,
    seed: u64,
    /// Why earlier seeds were skipped.
    skipped: Vec<&'static str>,
    /// The restrictions of the generator.
    restricted: Vec<Restriction>,
}

/// What is kept of a dispatch while a device runs it.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// The index of the subject in its program.
    number: u32,
    verdict: Verdict,
    compared: Compared,
    words_hash: u64,
    /// The interpreter's observation.
    shown: Vec<Buffer>,
}

impl Awaited {
    /// Whether the device shows the interpreter's bits.
    fn shows_the_same(&self, outcome: &DeviceOutcome) -> bool {
        let DeviceOutcome::Computed(result) = outcome else { return false };
        let same = |b: &Buffer| result.shown(b.set, b.binding).is_none_or(|bytes| bytes == b.bytes);
        let shows_something = !(result.buffers.is_empty() && result.images.is_empty());
        result.words_hash == self.words_hash && shows_something && self.shown.iter().all(same)
    }
}

impl Plan<'_> {
    /// The kind of program `index`, and its seed: the first from the drawn one on that gives
    /// something to run.
    pub fn program(&self, index: u64) -> (Programs, u64) {
        let GeneratedProgram { programs, seed, .. } = self.subjects(index, &mut |_, _, _| {});
        (programs, seed)
    }

    /// All subjects of program `index`.
    fn subjects(&self, index: u64, each: Each) -> GeneratedProgram {
        let (programs, first) = self.kind_and_seed(index);
        let mut skipped = Vec::new();
        for seed in (0..TRIES).map(|k| first.wrapping_add(k)) {
            match subjects(programs, seed, each) {
                Ok(restricted) => return GeneratedProgram { programs, seed, skipped, restricted },
                Err(why) => skipped.push(why),
            }
        }
        GeneratedProgram { programs, seed: first, skipped, restricted: Vec::new() }
    }

    /// The text of program `index`.
    pub fn text(&self, index: u64) -> String {
        let (programs, seed) = self.program(index);
        generated(programs, seed).text
    }

    /// The options of the compiler.
    pub fn options(&self) -> Options<'_> {
        Options { profile: self.profile, planted: self.planted, ..Options::default() }
    }

    /// The kind of program `index`.
    fn kind(&self, index: u64) -> Programs {
        self.kind_and_seed(index).0
    }

    /// The kind of program `index`, and the first seed to try.
    fn kind_and_seed(&self, index: u64) -> (Programs, u64) {
        let number = self.extent.program_seed(index);
        match self.mix.len() as u64 {
            0 => (Programs::Dispatches, number),
            all => (self.mix[(number % all) as usize], number / all),
        }
    }

    /// When the relation runs program `index`.
    fn samples(&self, index: u64) -> RelationUse {
        match self.kind(index) {
            programs if programs.race() => RelationUse::EveryWay,
            _ if self.references > 0 && index.is_multiple_of(self.references) => RelationUse::Always,
            _ => RelationUse::Open,
        }
    }

    /// Judges a text instead of the program of a seed, with the relation: between the interpreters,
    /// or on the device if given.
    pub(super) fn verdict(
        &self,
        programs: Programs,
        seed: u64,
        text: &str,
        generated_dispatch: Option<&GeneratedDispatch>,
        device: Option<&mut Device>,
    ) -> Verdict {
        let Some(program) = validate(text).program else { return Difference::of(Engine::Generator, Engine::Typing, "it is not valid") };
        let (mut result, mut by_compiler) = (ProgramResult::default(), OnTarget::default());
        let mut dispatches = Vec::new();
        subjects_of(programs, (&program, text), seed, generated_dispatch, &mut |number, _, subject| {
            let agreed = judge_one(&subject, &self.options(), RelationUse::EveryWay, &mut result);
            by_compiler.judge(self.via.map(Target::Compiler).as_mut(), &subject, agreed.as_ref(), &self.options());
            dispatches.extend(agreed.map(|agreed| agreed.submitted(number)));
        });
        let verdict = if by_compiler.0.subjects > 0 { result.verdict().worse(by_compiler.0.verdict()) } else { result.verdict() };
        let Some(device) = device else { return verdict };
        let name = format!("{} ({})", device.adapter().name, device.route());
        let returned: Vec<_> = dispatches.into_iter().map(|(awaited, dispatch)| (awaited, device.run(dispatch).outcome)).collect();
        if returned.is_empty() {
            return verdict;
        }
        let again: Subjects = &mut |each| subjects_of(programs, (&program, text), seed, generated_dispatch, each);
        verdict.worse(self.of_device(&returned, &name, device.route(), again).verdict())
    }

    /// What a device shows wrongly for a text. It runs like programs of a kind and seed, with any
    /// contents of buffers.
    pub(super) fn wrong(&self, programs: Programs, seed: u64, text: &str, device: &mut Device) -> Vec<Verdict> {
        let Some(program) = validate(text).program else { return Vec::new() };
        let route = device.route();
        let name = format!("{} ({route})", device.adapter().name);
        let (mut wrong, options) = (Vec::new(), self.options());
        subjects_of(programs, (&program, text), seed, None, &mut |_, _, case| {
            let Ok(case) = case else { return };
            let (Verdict::Agree | Verdict::Undecided(_), _, Some(ran)) = case.judged(&options, RelationUse::EveryWay) else { return };
            let outcome = device.run(ran.dispatch()).outcome;
            let verdict = case.on_device(&outcome, &options, &name, route).0;
            wrong.extend(Some(verdict).filter(|verdict| matches!(verdict, Verdict::Disagree(_) | Verdict::Failed(_))));
        });
        wrong
    }

    /// Judges the program of a seed alone, with the relation: between the interpreters, and on the
    /// device if given. Returns its text too.
    pub fn verdict_on(&self, programs: Programs, seed: u64, device: Option<&mut Device>) -> (String, Verdict) {
        let Generated { text, generated_dispatch, .. } = generated(programs, seed);
        let verdict = self.verdict(programs, seed, &text, generated_dispatch.as_ref(), device);
        (text, verdict)
    }

    /// The first expression that a device computes differently in a text instead of the program of
    /// a seed. It is of the first dispatch or call on which the device disagrees.
    pub(super) fn search(
        &self,
        programs: Programs,
        seed: u64,
        text: &str,
        generated_dispatch: Option<&GeneratedDispatch>,
        device: &mut Device,
    ) -> Result<Blame, Unblamed> {
        let unknown = |why: &str| Err(Unblamed::Unknown { why: why.into(), dispatches: 0 });
        let Some(program) = validate(text).program else { return unknown("it is not valid") };
        let (mut found, options) = (unknown("it does not disagree again"), self.options());
        let (name, route) = (device.adapter().name.clone(), device.route());
        let mut searched = false;
        subjects_of(programs, (&program, text), seed, generated_dispatch, &mut |_, _, case| {
            let (Ok(case), false) = (case, searched) else { return };
            let (Verdict::Agree | Verdict::Undecided(_), _, Some(ran)) = case.judged(&options, RelationUse::Open) else { return };
            let outcome = device.run(ran.dispatch()).outcome;
            if !matches!(case.on_device(&outcome, &options, &name, route).0, Verdict::Disagree(_)) {
                return;
            }
            searched = true;
            found = blame::on_device(&case, &options, route, &mut |dispatch| device.run(dispatch).outcome);
        });
        found
    }

    /// What a device shows of a program.
    fn of_device(&self, returned: &[Returned<Awaited>], device: &str, route: Route, again: Subjects) -> ProgramResult {
        let mut result = ProgramResult::default();
        let mut others: Vec<&Returned<Awaited>> = Vec::new();
        for pair in returned {
            match pair {
                (awaited, outcome) if awaited.shows_the_same(outcome) => result.add(awaited.verdict.clone(), awaited.compared),
                other => others.push(other),
            }
        }
        if !others.is_empty() {
            again(&mut |number, _, subject| {
                let pair = others.iter().find(|(awaited, _)| awaited.number == number);
                if let (Some((_, outcome)), Ok(subject)) = (pair, subject) {
                    let (verdict, compared) = subject.on_device(outcome, &self.options(), device, route);
                    result.add(verdict, compared);
                }
            });
        }
        result
    }
}

/// A subject on which the interpreters agree, with the inputs of its module.
struct Agreed {
    verdict: Verdict,
    compared: Compared,
    ran: Ran,
}

impl Agreed {
    /// The dispatches for a device, and what is kept of them meanwhile.
    fn submitted(self, number: u32) -> (Awaited, Dispatch) {
        let Agreed { verdict, compared, ran } = self;
        let dispatch = ran.dispatch();
        let words_hash = dispatch.words_hash();
        (Awaited { number, verdict, compared, words_hash, shown: ran.into_shown() }, dispatch)
    }
}

/// What runs a program's modules beside the interpreters.
pub enum Target<'t> {
    /// The interpreter, after a compiler.
    Compiler(&'t Compiler),
    /// A device.
    Device(&'t mut Device),
}

/// The results of a program's subjects on a target.
#[derive(Default)]
struct OnTarget(ProgramResult);

impl OnTarget {
    /// Adds a subject on which the interpreters agree.
    fn judge(&mut self, target: Option<&mut Target<'_>>, case: &Result<Case, Verdict>, agreed: Option<&Agreed>, options: &Options) {
        let (Some(target), Ok(case), Some(agreed)) = (target, case, agreed) else { return };
        let (verdict, compared) = match target {
            Target::Compiler(compiler) => match shown(compiler, &agreed.ran.dispatch()) {
                Ok(outcome) => case.on_device(&outcome, options, compiler.name(), Route::Passthrough),
                Err(wrong) => (wrong.on_program(compiler), Compared::default()),
            },
            Target::Device(device) => {
                let outcome = device.run(agreed.ran.dispatch()).outcome;
                case.on_device(&outcome, options, &device.adapter().name, device.route())
            }
        };
        self.0.add(verdict, compared);
    }

    fn count(self, programs: Programs, index: u64, tally: &mut Tally) {
        if self.0.subjects > 0 {
            tally.count_device(programs, index, self.0);
        }
    }
}

/// Judges a subject between the interpreters.
fn judge_one(case: &Result<Case, Verdict>, options: &Options, relation: RelationUse, result: &mut ProgramResult) -> Option<Agreed> {
    let case = match case {
        Ok(case) => case,
        Err(verdict) => {
            result.add(verdict.clone(), Compared::default());
            return None;
        }
    };
    let (verdict, compared, ran) = case.judged(options, relation);
    if let Some(ran) = &ran {
        result.covers(case, ran.modules());
    }
    result.add(verdict.clone(), compared);
    let ran = ran.filter(|_| matches!(verdict, Verdict::Agree | Verdict::Undecided(_)));
    ran.map(|ran| Agreed { verdict, compared, ran })
}

impl SourceLanguage for Plan<'_> {
    type Tally = Tally;
    type Awaited = Awaited;

    fn extent(&self) -> Extent {
        self.extent
    }

    fn identity(&self, device: Option<&str>) -> Value {
        let Extent { seed, count, shard, .. } = self.extent;
        json!({
            "language": "wsl", "seed": seed, "count": count, "shard": [shard.0, shard.1], "references": self.references,
            "profile": format!("{:?}", self.profile), "device": device, "chunk": CHUNK, "spirv": SPIRV,
            "generator": [DISPATCHES, DRAWS, TYPED],
            "mix": self.mix.iter().map(|programs| programs.name()).collect::<Vec<_>>(),
            "planted": self.planted.map(|bug| bug.name), "via": self.via.map(Compiler::name),
        })
    }

    fn judge(&self, index: u64, with_device: bool, tally: &mut Tally) -> Vec<(Awaited, Dispatch)> {
        let (mut result, mut dispatches, mut statements) = (ProgramResult::default(), Vec::new(), 0);
        let (options, relation) = (self.options(), self.samples(index));
        let mut by_compiler = OnTarget::default();
        let GeneratedProgram { programs, skipped, restricted, .. } = self.subjects(index, &mut |number, _, subject| {
            if let Ok(subject) = &subject {
                statements = subject.program().stmts.len() as u64;
            }
            let agreed = judge_one(&subject, &options, relation, &mut result);
            by_compiler.judge(self.via.map(Target::Compiler).as_mut(), &subject, agreed.as_ref(), &options);
            dispatches.extend(agreed.filter(|_| with_device).map(|agreed| agreed.submitted(number)));
        });
        tally.statements += statements;
        for why in skipped {
            *tally.passed.entry(why.into()).or_default() += 1;
        }
        for restriction in restricted {
            *tally.restricted.entry(restriction.name().into()).or_default() += 1;
        }
        tally.count(programs, index, result);
        by_compiler.count(programs, index, tally);
        dispatches
    }

    fn compare(&self, index: u64, returned: Vec<Returned<Awaited>>, device: &str, route: Route, tally: &mut Tally) {
        let result = self.of_device(&returned, device, route, &mut |each| {
            self.subjects(index, each);
        });
        tally.count_device(self.kind(index), index, result);
    }
}

/// The translations of the program of a kind and seed, or of another text: each dispatch and draw
/// that the compiler accepts, with its inputs.
pub fn translated(programs: Programs, seed: u64, text: Option<&str>, options: &Options, each: &mut dyn FnMut(&str, Dispatch)) {
    let Generated { text: whole, generated_dispatch, .. } = generated(programs, seed);
    let text = text.unwrap_or(&whole);
    let Some(program) = validate(text).program else { return };
    subjects_of(programs, (&program, text), seed, generated_dispatch.as_ref(), &mut |_, text, case| {
        if let Ok(dispatch) = case.and_then(|case| case.translated(options)) {
            each(text, dispatch);
        }
    });
}

/// Judges everything that can run of a program: its compute entry points, its fragment entry points
/// over the screen and behind each vertex entry point that fits, and its other functions. All have
/// the program's number. Stops when the time is over.
pub fn check_program(
    (program, text): (&Program, &str),
    seed: u64,
    options: &Options,
    time: Option<TimeLimit>,
    mut target: Option<Target<'_>>,
    tally: &mut Tally,
) {
    let mut judge = |programs: Programs, case: Result<Case, Verdict>| {
        let timed_out = TimeLimit::passed(time).map(|limit| Err(Verdict::Limit(limit.to_string())));
        let case = &timed_out.unwrap_or(case);
        let mut result = ProgramResult::default();
        let mut on_target = OnTarget::default();
        let agreed = judge_one(case, options, RelationUse::EveryWay, &mut result);
        on_target.judge(target.as_mut(), case, agreed.as_ref(), options);
        tally.count(programs, seed, result);
        on_target.count(programs, seed, tally);
    };
    entry_points(program, text, seed, &mut |_, _, case| judge(Programs::EntryPoints, case));
    draws(program, text, seed, &mut |_, _, case| judge(Programs::Stages, case));
    functions(program, text, seed, &mut |_, _, case| judge(Programs::Functions, case));
}

/// Judges the program of a seed, unless it shows nothing.
pub fn judge(programs: Programs, seed: u64, options: &Options, tally: &mut Tally) {
    let mut result = ProgramResult::default();
    let judged = subjects(programs, seed, &mut |_, _, subject| {
        judge_one(&subject, options, if programs.race() { RelationUse::EveryWay } else { RelationUse::Open }, &mut result);
    });
    match judged {
        Ok(_) => {
            tally.count(programs, seed, result);
        }
        Err(why) => *tally.passed.entry(why.into()).or_default() += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::ComputeResult;

    /// Short programs have the same shares of kinds as others.
    #[test]
    fn short_programs_have_the_shares_of_the_others() {
        assert_eq!(SHORT_MIX.len(), MIX.len());
        for (short, kind) in SHORT_MIX.iter().zip(MIX) {
            assert_eq!((short.run_as(), short != kind), (kind.run_as(), *kind != Programs::Draws));
        }
    }

    /// A device agrees if it shows the interpreter's words, with the same lanes. It disagrees with
    /// another word, or without a result.
    #[test]
    fn a_device_that_lies_is_found() {
        let extent = Extent { seed: 3, count: Some(20), time: None, shard: (0, 1), threads: 1 };
        let plan = Plan {
            extent,
            mix: &[Programs::Functions, Programs::Dispatches],
            references: 0,
            profile: Profile::Strict,
            planted: None,
            via: None,
        };
        let (mut agreed, mut lied) = (0, 0);
        for index in 0..20 {
            let mut between = Tally::default();
            let submitted = plan.judge(index, true, &mut between);
            let outcomes = |shown: &dyn Fn(&Awaited) -> DeviceOutcome| -> Vec<Returned<Awaited>> {
                submitted.iter().map(|(awaited, _)| (awaited.clone(), shown(awaited))).collect()
            };
            let on_device = |shown: &dyn Fn(&Awaited) -> DeviceOutcome| {
                let mut tally = Tally::default();
                plan.compare(index, outcomes(shown), "a device", Route::Passthrough, &mut tally);
                (tally.all_device(), tally.findings)
            };
            let computed = |buffers: Vec<Buffer>, awaited: &Awaited| {
                DeviceOutcome::Computed(ComputeResult { words_hash: awaited.words_hash, buffers, images: Vec::new() })
            };
            if submitted.is_empty() {
                continue;
            }
            let (same, findings) = on_device(&|awaited| computed(awaited.shown.clone(), awaited));
            assert_eq!((same.lanes, findings), (between.all().lanes, Vec::new()), "program {index}");
            agreed += same.of("agree");
            let (other, findings) = on_device(&|awaited| {
                let mut buffers = awaited.shown.clone();
                buffers.iter_mut().for_each(|b| b.bytes.iter_mut().for_each(|byte| *byte ^= 0x41));
                computed(buffers, awaited)
            });
            lied += other.of("disagree");
            assert_eq!(other.of("disagree"), findings.len() as u64);
            assert!(findings.iter().all(|f| f.device && f.what.contains("a device")), "{findings:?}");
            let (lost, _) = on_device(&|_| DeviceOutcome::Lost("gone".into()));
            assert_eq!(lost.of("failed"), 1);
            let (unasked, _) = on_device(&|_| DeviceOutcome::Unchecked("no room".into()));
            assert_eq!(unasked.of("unchecked"), 1);
        }
        assert!(agreed >= 10 && lied >= 10, "{agreed} agree, and {lied} lies are found");
    }
}
