//! Makes a vectors file from generated programs.

use super::format::{Case, Header, Provenance, constants_name, profile_name};
use crate::compile::lambda_v::Constants;
use crate::generate;
use crate::theorem::campaign;
use crate::theorem::case::{self, NoCase, Settings, decided};
use crate::theorem::{Lanes, Verdict};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::number::{Expected, Profile, Why};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of programs that are tried for each case before giving up. At least 1000 are tried.
pub(super) const TRIES: u64 = 100;

/// The settings of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of cases.
    pub count: u64,
    /// The seed of the campaign with all programs.
    pub seed: u64,
    /// The width and height of the grid in pixels.
    pub size: (u32, u32),
    /// The float controls that the modules declare. The results are judged under them.
    pub profile: Profile,
    /// The placement of constants.
    pub constants: Constants,
    /// Whether every lane must be decided. Otherwise one decided lane is enough.
    pub decided: bool,
    /// The number of threads. It has no effect on the recorded cases.
    pub threads: usize,
}

impl Plan {
    /// The command that records the same file.
    pub fn command(&self) -> String {
        let Plan { count, seed, size: (w, h), .. } = self;
        let (profile, constants) = (profile_name(self.profile), constants_name(self.constants));
        let decided = if self.decided { " --decided" } else { "" };
        format!("smallstep vectors --count {count} --seed {seed} --size {w}x{h} --profile {profile} --constants {constants}{decided}")
    }

    /// The campaign with the programs to try.
    fn campaign(&self) -> campaign::Plan {
        let settings = Settings { profile: self.profile, constants: self.constants, size: self.size, ..Settings::default() };
        campaign::Plan {
            seed: self.seed,
            count: None,
            time: None,
            shard: (0, 1),
            references: 1,
            near_misses: 0,
            settings,
            threads: self.threads,
            limits: generate::Limits::default(),
        }
    }
}

/// The result of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The number of cases that were written.
    pub cases: u64,
    /// The number of lanes in these cases.
    pub lanes: Lanes,
    /// The number of programs that were tried.
    pub tried: u64,
    /// The number of programs that were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// The reason why recording ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be written.
    Io(io::Error),
    /// The engines disagree, so there is no expected result.
    Disagree {
        /// The program's index in the campaign.
        program: u64,
        /// The difference.
        verdict: Box<Verdict>,
        /// The text of the program.
        source: String,
    },
    /// Too few programs are suitable.
    TooFew(Recorded),
    /// The given program cannot be recorded: a sentence.
    Unfit(String),
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> RecordError {
        RecordError::Io(error)
    }
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecordError::Io(e) => write!(f, "the file cannot be written: {e}"),
            RecordError::Disagree { program, verdict, source } => {
                write!(f, "nothing can be recorded: the semantics disagree on program {program}: {}\n{source}", verdict.why())
            }
            RecordError::Unfit(what) => f.write_str(what),
            RecordError::TooFew(so_far) => {
                write!(f, "only {} of {} programs are fit: {}", so_far.cases, so_far.tried, left_out_text(so_far))
            }
        }
    }
}

impl std::error::Error for RecordError {}

/// The number of programs that were left out, with the reasons.
pub fn left_out_text(recorded: &Recorded) -> String {
    let reasons: Vec<String> = recorded.left_out.iter().map(|(why, n)| format!("{n} {why}")).collect();
    if reasons.is_empty() { "none was left out".into() } else { format!("left out: {}", reasons.join(", ")) }
}

/// The result of trying one program.
pub(super) enum Tried<C> {
    Fit(Box<(C, Lanes)>),
    LeftOut(&'static str),
    Disagree(Box<Verdict>, String),
}

/// A case that can be written.
pub(super) trait Recordable {
    /// The text of its line, for this index.
    fn at(self, index: u64) -> String;
}

impl Recordable for Case {
    fn at(mut self, index: u64) -> String {
        self.index = index;
        self.to_line()
    }
}

/// Writes the header and the cases. `progress` gets the number of cases so far.
pub fn record(plan: &Plan, to: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<Recorded, RecordError> {
    let header = Header {
        version: env!("CARGO_PKG_VERSION").into(),
        generator: generate::VERSION,
        seed: plan.seed,
        profile: plan.profile,
        constants: plan.constants,
        cases: plan.count,
        command: plan.command(),
    };
    to.write_all(header.to_line().as_bytes())?;
    let campaign = plan.campaign();
    fill(plan.count, 256, plan.threads, |number| try_one(plan, &campaign, number), to, progress)
}

/// Writes `count` cases. Batches are tried on all threads and used in order, so the file does not
/// depend on the threads.
pub(super) fn fill<C: Recordable + Send>(
    count: u64,
    batch_limit: u64,
    threads: usize,
    try_one: impl Fn(u64) -> Tried<C> + Sync,
    to: &mut dyn Write,
    progress: &dyn Fn(u64),
) -> Result<Recorded, RecordError> {
    let mut recorded = Recorded::default();
    while recorded.cases < count {
        if recorded.tried >= 1000 && recorded.tried / TRIES > recorded.cases {
            return Err(RecordError::TooFew(recorded));
        }
        let (first, batch) = (recorded.tried, (count - recorded.cases).clamp(1, batch_limit));
        for (program, tried) in (first..).zip(try_all(threads, first, batch, &try_one)) {
            if recorded.cases == count {
                break;
            }
            recorded.tried += 1;
            match tried {
                Tried::Fit(fit) => {
                    let (case, lanes) = *fit;
                    to.write_all(case.at(recorded.cases).as_bytes())?;
                    recorded.cases += 1;
                    recorded.lanes += lanes;
                    progress(recorded.cases);
                }
                Tried::LeftOut(why) => *recorded.left_out.entry(why).or_default() += 1,
                Tried::Disagree(verdict, source) => return Err(RecordError::Disagree { program, verdict, source }),
            }
        }
    }
    to.flush()?;
    Ok(recorded)
}

/// Tries `count` programs, starting with number `first`, on some threads. Returns the results
/// in order.
pub(super) fn try_all<T: Send>(threads: usize, first: u64, count: u64, try_one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let all: Mutex<Vec<(u64, T)>> = Mutex::new(Vec::new());
    let try_next = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return;
            }
            let tried = try_one(first + i);
            all.lock().unwrap_or_else(|e| e.into_inner()).push((i, tried));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(try_next);
        }
        try_next();
    });
    let mut all = all.into_inner().unwrap_or_else(|e| e.into_inner());
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, tried)| tried).collect()
}

fn try_one(plan: &Plan, campaign: &campaign::Plan, number: u64) -> Tried<Case> {
    let source = campaign.program(number).print();
    let failed = |what: String| Tried::Disagree(Box::new(Verdict::Failed(what)), source.clone());
    let program = match Program::read(&source) {
        Ok(program) => program,
        Err(e) => return failed(format!("a generated program does not read back: {}", e.message)),
    };
    let case = match case::Case::new(program, &campaign.settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => return failed(format!("a program that is well typed by construction is refused: {}", e.message())),
        Err(NoCase::Decided(verdict)) => return left_out(verdict, source),
    };
    let ran = case.run(&campaign.settings);
    if ran.verdict != Verdict::Agree {
        return left_out(ran.verdict, source);
    }
    if ran.referenced != u64::from(plan.size.0) * u64::from(plan.size.1) {
        return Tried::LeftOut("too long for the relations");
    }
    let components: Vec<u32> = case.translated.outputs.iter().map(|t| t.components).collect();
    let lanes = decided(&ran.expected, &components);
    if lanes.checked == 0 || plan.decided && lanes.undecided > 0 {
        return Tried::LeftOut(if plan.decided { "with an undecided lane" } else { "without a decided lane" });
    }
    let expected = ran.expected.iter().zip(&components).map(|(pixels, &n)| pixels.iter().map(|p| meaningful(*p, n)).collect());
    let mut rules = case.derivation.rules();
    rules.extend(&case.translated.rules);
    rules.extend(&ran.rules);
    rules.sort();
    rules.dedup();
    let version = env!("CARGO_PKG_VERSION");
    let engines = ["lambda_v/relation", "lambda_v/machine", "spirv/relation", "spirv/machine"];
    let recorded_case = Case {
        index: 0,
        dispatch: case.dispatch(plan.size),
        expected: expected.collect(),
        rules,
        provenance: Provenance {
            program: number,
            seed: format!("{:#018x}", campaign.program_seed(number)),
            engines: engines.into_iter().map(|name| (name.into(), version.into())).collect(),
        },
        source,
    };
    Tried::Fit(Box::new((recorded_case, lanes)))
}

fn left_out(verdict: Verdict, source: String) -> Tried<Case> {
    match verdict {
        Verdict::Vacuous(_) => Tried::LeftOut("vacuous"),
        Verdict::Unchecked(_) | Verdict::Limit(_) => Tried::LeftOut("over a limit"),
        verdict => Tried::Disagree(Box::new(verdict), source),
    }
}

/// The expected lanes of a pixel. Lanes without a meaning are undecided.
fn meaningful(lanes: [Expected; 4], components: u32) -> [Expected; 4] {
    std::array::from_fn(|i| if i < components as usize { lanes[i] } else { Expected::Undecided(Why::Approximate) })
}
