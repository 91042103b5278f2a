//! All outcomes of a run.
//!
//! A run ends in an observation, or in one of the reasons why it has none. There is no other
//! outcome: a step function never panics on a program that its loader accepted.

use crate::undefined::Undefined;
use std::time::{Duration, Instant};

/// The outcome of a run. `O` is the observation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<O> {
    /// The run ended with an observation.
    Observed(O),
    /// The run met undefined behaviour.
    Undefined(Undefined),
    /// No rule applies and the term is not a value: progress fails here.
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

/// A stuck run: no rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// One sentence: the innermost term or instruction to which no rule applies, and what the
    /// nearest rule needed.
    pub why: String,
    /// The place, in the program's own terms (line:column, or block and instruction).
    pub at: String,
}

/// A limit of an engine, with the bound that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The limited quantity, such as "terms" or "call depth".
    pub what: &'static str,
    /// The bound.
    pub bound: u64,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "limit exceeded: more than {} {}", self.bound, self.what)
    }
}

/// A point in time at which runs are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    until: Instant,
    milliseconds: u64,
}

impl TimeLimit {
    /// The number of steps between two checks of the clock.
    pub(crate) const EVERY: u64 = 1 << 12;

    /// A limit at this duration from now. `None` if it is too far in the future.
    pub fn from_now(time: Duration) -> Option<TimeLimit> {
        let milliseconds = u64::try_from(time.as_millis()).ok()?;
        Some(TimeLimit { until: Instant::now().checked_add(time)?, milliseconds })
    }

    /// The exceeded limit, if there is a limit and it has passed.
    pub fn passed(time_limit: Option<TimeLimit>) -> Option<Limit> {
        let limit = time_limit.filter(|limit| Instant::now() >= limit.until)?;
        Some(Limit { what: "milliseconds", bound: limit.milliseconds })
    }

    /// Like `passed`, but checks the clock only if the count of steps crosses a multiple of `EVERY`
    /// between `from` and `to`.
    pub(crate) fn passed_between(time_limit: Option<TimeLimit>, from: u64, to: u64) -> Option<Limit> {
        TimeLimit::passed(time_limit.filter(|_| from / TimeLimit::EVERY != to / TimeLimit::EVERY))
    }
}

/// The reason why a run does not begin, or a value is not made: the input cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidInput {
    /// The kind of fault.
    pub fault: InputFault,
    /// One sentence that names the place, and what was found against what is required.
    pub what: String,
}

/// The kinds of faults of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputFault {
    /// A text does not have the required syntax.
    Text,
    /// The program is not valid.
    Program,
    /// A file cannot be read.
    File,
    /// The entry point does not exist, or there are several to choose from.
    EntryPoint,
    /// An input that the program needs is missing.
    Missing,
    /// An input is not used by the program, or occurs twice.
    Unused,
    /// An input has the wrong type, shape or size.
    Type,
    /// A schedule names a thread that cannot step, or ends while one can.
    Schedule,
    /// A limit is exceeded.
    Limit,
    /// A feature is not modeled.
    Unsupported,
    /// A command cannot be run.
    Command,
    /// The input does not have the property that shrinking must keep.
    Uninteresting,
}

impl InvalidInput {
    /// An error with this sentence.
    pub fn new(fault: InputFault, what: impl Into<String>) -> InvalidInput {
        InvalidInput { fault, what: what.into() }
    }

    /// Prepends the subject to the sentence.
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
    /// The observation, if there is one.
    pub fn observed(&self) -> Option<&O> {
        match self {
            Outcome::Observed(o) => Some(o),
            _ => None,
        }
    }

    /// The outcome with its observation mapped.
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

    /// The name of the kind of outcome.
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
