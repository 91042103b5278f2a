//! Every way a run can end.
//!
//! A run ends in an observation, or in one of the reasons why it has none. Nothing else: a step
//! function never panics on a program that its loader accepted.

use crate::undefined::Undefined;
use std::time::{Duration, Instant};

/// How a run ended; `O` is what was observed.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<O> {
    /// The run ended with an observation.
    Observed(O),
    /// The run met undefined behaviour.
    Undefined(Undefined),
    /// No rule applies and the term is no value: progress fails here.
    Stuck(Stuck),
    /// The program needs something that the semantics does not model.
    Unsupported(String),
    /// The run provably never ends; the text says why.
    Diverges(String),
    /// The fuel was used up.
    OutOfFuel,
    /// A limit of the engine was passed.
    Limit(Limit),
    /// Every invocation waits for another.
    Deadlock,
}

/// Where no rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The innermost culprit and what the nearest rule needed, one sentence.
    pub why: String,
    /// Where, in the program's own terms (line:column, or block and instruction).
    pub at: String,
}

/// A limit of an engine, with the bound that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is limited, as "terms" or "call depth".
    pub what: &'static str,
    /// The bound.
    pub bound: u64,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "limit exceeded: more than {} {}", self.bound, self.what)
    }
}

/// A point in time at which runs end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    until: Instant,
    milliseconds: u64,
}

impl TimeLimit {
    /// Steps between two looks at the clock.
    pub(crate) const EVERY: u64 = 1 << 12;

    /// So long from now on; none if that is never.
    pub fn from_now(time: Duration) -> Option<TimeLimit> {
        let milliseconds = u64::try_from(time.as_millis()).ok()?;
        Some(TimeLimit { until: Instant::now().checked_add(time)?, milliseconds })
    }

    /// The limit that is passed, if there is one and it is.
    pub fn passed(this: Option<TimeLimit>) -> Option<Limit> {
        let limit = this.filter(|limit| Instant::now() >= limit.until)?;
        Some(Limit { what: "milliseconds", bound: limit.milliseconds })
    }

    /// The same, where the clock is looked at only now and then: when the count of steps goes
    /// from one to another, up or down.
    pub(crate) fn passed_between(this: Option<TimeLimit>, from: u64, to: u64) -> Option<Limit> {
        TimeLimit::passed(this.filter(|_| from / TimeLimit::EVERY != to / TimeLimit::EVERY))
    }
}

/// Why a run does not begin, or a value is not made: what is given cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidInput {
    /// In what way.
    pub fault: InputFault,
    /// One sentence, which names the place: what is found against what is needed.
    pub what: String,
}

/// In what way something that is given cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputFault {
    /// A text is not written as what it stands for.
    Text,
    /// The program is not valid.
    Program,
    /// A file cannot be read.
    File,
    /// There is no such entry point, or there are several to choose from.
    EntryPoint,
    /// The program needs something that is not given.
    Missing,
    /// The program has no use for something that is given, or it is given twice.
    Unused,
    /// Something is of another type, shape or size than is needed.
    Type,
    /// A schedule names a thread that cannot step, or ends while one can.
    Schedule,
    /// A limit is passed.
    Limit,
    /// It is not modeled.
    Unsupported,
    /// A command cannot be run.
    Command,
    /// It does not show what is to be kept while it is made smaller.
    Uninteresting,
}

impl InvalidInput {
    /// What is wrong, in a sentence.
    pub fn new(fault: InputFault, what: impl Into<String>) -> InvalidInput {
        InvalidInput { fault, what: what.into() }
    }

    /// The same, with something before its sentence: what it is about.
    pub fn about(self, what: impl std::fmt::Display) -> InvalidInput {
        InvalidInput { what: format!("{what}: {}", self.what), ..self }
    }
}

impl std::fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for InvalidInput {}

impl From<InvalidInput> for String {
    fn from(invalid: InvalidInput) -> String {
        invalid.what
    }
}

impl From<Limit> for InvalidInput {
    fn from(limit: Limit) -> InvalidInput {
        InvalidInput::new(InputFault::Limit, limit.to_string())
    }
}

impl<O> Outcome<O> {
    /// The observation, where there is one.
    pub fn observed(&self) -> Option<&O> {
        match self {
            Outcome::Observed(o) => Some(o),
            _ => None,
        }
    }

    /// The same ending with the observation mapped.
    pub fn map<P>(self, f: impl FnOnce(O) -> P) -> Outcome<P> {
        match self {
            Outcome::Observed(o) => Outcome::Observed(f(o)),
            Outcome::Undefined(u) => Outcome::Undefined(u),
            Outcome::Stuck(s) => Outcome::Stuck(s),
            Outcome::Unsupported(w) => Outcome::Unsupported(w),
            Outcome::Diverges(w) => Outcome::Diverges(w),
            Outcome::OutOfFuel => Outcome::OutOfFuel,
            Outcome::Limit(l) => Outcome::Limit(l),
            Outcome::Deadlock => Outcome::Deadlock,
        }
    }

    /// The ending's name, without its observation.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Observed(_) => "observed",
            Outcome::Undefined(_) => "undefined",
            Outcome::Stuck(_) => "stuck",
            Outcome::Unsupported(_) => "unsupported",
            Outcome::Diverges(_) => "diverges",
            Outcome::OutOfFuel => "out of fuel",
            Outcome::Limit(_) => "limit",
            Outcome::Deadlock => "deadlock",
        }
    }
}
