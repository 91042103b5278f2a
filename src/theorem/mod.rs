//! The correctness theorem, checked: *if e is well typed and eval_λ(e) = o, then the translated
//! program shows o* (report §7).
//!
//! `case` types and translates a program and runs both semantics on it. `device` compares what a
//! device drew. `blame` finds the first subexpression that differs. `check` does all of this for
//! files, `campaign` for generated programs. `planted` tests the comparisons: it plants mistakes
//! that they must catch. [`Verdict`] defines what each result counts as.

pub mod acceptance;
pub mod blame;
pub mod campaign;
pub mod case;
pub mod check;
pub mod compilers;
pub mod device;
pub mod dispatches;
pub mod journal;
pub mod known;
pub mod planted;
pub mod probe;
pub mod quirk;
pub mod reduce;
pub mod reducer;
pub mod refine;
pub mod second;
mod shape;
pub mod uniformity;
pub mod validation;
pub mod wsl;

use smallstep_semantics::lambda_v::step::Theorem;
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::number::{Expected, Why, sets};
use std::fmt;

use crate::gpu::LAST_SAID;

/// The verdict of a comparison between a program and its translation.
pub type Verdict = crate::verdict::Verdict<Box<Difference>>;

/// An engine that gives a program a meaning, or a stage between two of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// The generator, whose programs are well typed by construction.
    Generator,
    /// Typing.
    Typing,
    /// The independent check of derivations.
    DerivationCheck,
    /// The λV relation.
    Reduction,
    /// The λV machine.
    Machine,
    /// The translation.
    Translation,
    /// The loader's checks of a SPIR-V module.
    Module,
    /// The SPIR-V relation.
    SpirvRelation,
    /// The SPIR-V machine.
    SpirvMachine,
    /// The relation of WSL.
    WslRelation,
    /// The machine of WSL.
    WslMachine,
    /// A device, with its route.
    Device(String),
    /// A vectors file.
    Vectors,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Generator => "the generator",
            Engine::Typing => "typing",
            Engine::DerivationCheck => "the derivation check",
            Engine::Reduction => "the λV relation",
            Engine::Machine => "the λV machine",
            Engine::Translation => "the translation",
            Engine::Module => "the module checks",
            Engine::SpirvRelation => "the SPIR-V relation",
            Engine::SpirvMachine => "the SPIR-V machine",
            Engine::WslRelation => "the WSL relation",
            Engine::WslMachine => "the WSL machine",
            Engine::Device(name) => name,
            Engine::Vectors => "the vectors",
        })
    }
}

/// The place of an observed lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pixel: column and row.
    pub pixel: (u32, u32),
    /// The location of the output.
    pub location: u32,
    /// The index of the component.
    pub component: u32,
}

/// A difference between two engines that should agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The engine that is trusted, and the engine that is judged.
    pub between: (Engine, Engine),
    /// The pixel, output and component, for a difference of observed lanes.
    pub place: Option<Place>,
    /// The expected and the found bits, for a difference of observed lanes. If a zero of either
    /// sign is expected, the bits are those of +0.
    pub bits: Option<(u32, u32)>,
    /// What was expected and what was found, as one sentence.
    pub what: String,
    /// The first subexpression whose value differs, if it was found.
    pub blame: Option<blame::Blame>,
    /// Why the search on a device found no such subexpression, if it was made.
    pub unblamed: Option<probe::Unblamed>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} vs {}: ", self.between.0, self.between.1)?;
        if let Some(Place { pixel: (x, y), location, component }) = self.place {
            write!(f, "pixel ({x},{y}), output {location}, component {component}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl Difference {
    /// A difference that is not between observed lanes.
    pub fn of(trusted: Engine, judged: Engine, what: impl Into<String>) -> Verdict {
        Verdict::Disagree(Box::new(Difference {
            between: (trusted, judged),
            place: None,
            bits: None,
            what: what.into(),
            blame: None,
            unblamed: None,
        }))
    }

    /// Searches the device for the first subexpression that it gets wrong. Only a difference of
    /// observed lanes can be searched.
    pub fn search(&mut self, case: &case::Case, settings: &case::Settings, device: &mut dyn probe::Drawer) {
        if let Some(place) = self.place {
            match probe::on_device(case, place, settings, device) {
                Ok(blame) => self.blame = Some(blame),
                Err(unblamed) => self.unblamed = Some(unblamed),
            }
        }
    }

    /// The difference with its blame, or with the reason why there is none.
    pub fn explained(&self) -> String {
        match (&self.blame, &self.unblamed) {
            (Some(blame), _) => format!("{self}; first differing subexpression: {blame}"),
            (None, Some(unblamed)) => format!("{self}; {unblamed}"),
            (None, None) => self.to_string(),
        }
    }

    /// The group of the difference in a campaign: the engines, with the rule and instruction to
    /// blame. Without a blame, it is the way in which they differ.
    pub fn group(&self) -> String {
        let cause = match &self.blame {
            Some(blame) => format!("{}, {}", blame.rule, blame.instruction),
            None => self.way(),
        };
        format!("{} vs {}: {cause}", self.between.0, self.between.1)
    }

    /// The way in which the engines differ, without place and values: how the lane differs, or the
    /// sentence without its numbers.
    pub fn way(&self) -> String {
        match self.bits {
            Some((expected, found)) => how_lanes_differ(expected, found).into(),
            None => without_numbers(&self.what),
        }
    }
}

/// A message with every number replaced by `#`. Messages of one cause differ in places and values.
fn without_numbers(text: &str) -> String {
    let mut text: String = text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    while text.contains("##") {
        text = text.replace("##", "#");
    }
    text
}

/// Whether two messages are equal, except for numbers and for the last output of a driver.
fn same_message(one: &str, other: &str) -> bool {
    let normalized = |text: &str| without_numbers(text.split_once(LAST_SAID).map_or(text, |(message, _)| message));
    normalized(one) == normalized(other)
}

/// The cause of a message, for counts: without numbers, and without the instructions that it names,
/// such as `%7 = OpIAdd`.
fn cause(text: &str) -> String {
    let text = without_numbers(text);
    let mut words: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let is_opcode = word.strip_prefix("Op").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        if !is_opcode {
            words.push(word);
            continue;
        }
        if let [.., "%#", "="] = words[..] {
            words.truncate(words.len() - 2);
        }
        words.push("an instruction");
    }
    words.join(" ")
}

fn how_lanes_differ(expected: u32, found: u32) -> &'static str {
    let (e, f) = (f32::from_bits(expected), f32::from_bits(found));
    if f.is_nan() {
        "a NaN for a number"
    } else if f.is_infinite() {
        "an infinity for a number"
    } else if e == 0.0 && f == 0.0 {
        if f.is_sign_negative() { "-0 for +0" } else { "+0 for -0" }
    } else if e == 0.0 {
        "a number for a zero"
    } else if f == 0.0 {
        "a zero for a number"
    } else if e == -f {
        "the other sign"
    } else if e.is_sign_negative() == f.is_sign_negative() && expected.abs_diff(found) == 1 {
        // For two numbers of the same sign, the greater magnitude has the greater bits.
        if found < expected { "one unit in the last place toward zero" } else { "one unit in the last place away from zero" }
    } else {
        "another number"
    }
}

/// The numbers of observed lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Lanes that were compared, bit for bit or as zeros of either sign.
    pub checked: u64,
    /// Lanes that were skipped, since a conforming device may show several values.
    pub undecided: u64,
}

impl Lanes {
    /// The number of all observed lanes.
    pub fn all(self) -> u64 {
        self.checked.saturating_add(self.undecided)
    }
}

impl std::ops::AddAssign for Lanes {
    fn add_assign(&mut self, other: Lanes) {
        self.checked = self.checked.saturating_add(other.checked);
        self.undecided = self.undecided.saturating_add(other.undecided);
    }
}

/// The text of a 32-bit float for messages: its value and bits.
pub fn float_text(bits: u32) -> String {
    let x = f32::from_bits(bits);
    if x.is_nan() { format!("NaN ({bits:#010x})") } else { format!("{x} ({bits:#010x})") }
}

/// The text for messages of what a device must show.
pub fn expected_text(expected: Expected) -> String {
    match expected {
        Expected::Bits(bits) => float_text(bits),
        Expected::Zero => "a zero of either sign".into(),
        Expected::Within(set) => {
            let span = |span: &sets::Span| {
                let (low, high) = (span.low as f32, span.high as f32);
                if low.to_bits() == high.to_bits() { format!("{low:?}") } else { format!("[{low:?}, {high:?}]") }
            };
            format!("one of {}", set.spans().iter().map(span).collect::<Vec<_>>().join(" or "))
        }
        Expected::Undecided(_) => "any value".into(),
    }
}

/// The expected bits that a report shows beside the found ones. For a set, the member nearest to
/// the found value. For a zero or an undecided value, 0.
pub(crate) fn expected_bits(expected: Expected, shown: u32) -> u32 {
    match expected {
        Expected::Bits(bits) => bits,
        Expected::Within(set) => set.nearest(f32::from_bits(shown).into()).map_or(0, |x| (x as f32).to_bits()),
        Expected::Zero | Expected::Undecided(_) => 0,
    }
}

/// The text of a value for messages, with its bits.
pub fn value_text(value: &Value) -> String {
    let bits: Vec<String> = value.bits().map(|b| format!("{b:#010x}")).collect();
    format!("{value} [{}]", bits.join(" "))
}

/// Why a lane is undecided, as the second half of a sentence.
pub fn why_text(why: Why) -> &'static str {
    match why {
        Why::Approximate => "it depends on an operation that need not be correctly rounded",
        Why::Subnormal => "it depends on a subnormal, which may be flushed to zero",
        Why::Infinite => "it depends on an infinity",
        Why::NaN => "it depends on a NaN",
        Why::Tie => "it depends on a tie that round may take either way",
        Why::Domain => "it depends on an operation outside its domain",
        Why::Control => "control depends on a value that is not the only one allowed",
        Why::Texel => "it depends on how texels are filtered, or rounded to their format",
        Why::Interpolated => "it was interpolated, for which no precision is stated",
        Why::Derivative => "it depends on a derivative that may be fine or coarse",
        Why::Coverage => "whether the fragment is there depends on the device",
        Why::Reconvergence => "it depends on which invocations of a subgroup go on together after they took several paths",
        Why::SubgroupSize => "it depends on the size of the subgroups",
        Why::SubgroupMapping => "it depends on which invocations, vertices or quads are a subgroup",
        Why::Unfollowed => "more ways lead to it than were followed",
    }
}

/// The name of a theorem on the command line.
pub fn theorem_name(theorem: Theorem) -> &'static str {
    match theorem {
        Theorem::Corrected => "corrected",
        Theorem::Printed => "printed",
    }
}

/// Checks the theorem for one λV program between the interpreters: its type, its value, its
/// translation, and what that shows. `name` is used in messages. [`check::Checker`] also
/// uses devices.
///
/// ```
/// use smallstep::theorem;
///
/// let checked = theorem::check("yellow.lv", "(vec4 1 1 0 1)");
/// assert_eq!(checked.verdict(), Some(theorem::Verdict::Agree));
///
/// let invalid = theorem::check("wrong.lv", "(+ 1 true)");
/// assert_eq!(invalid.code(), Some("lv/t-builtin"));
/// ```
pub fn check(name: &str, source: &str) -> check::Checked {
    check::Checker::of_interpreters().check(name, source)
}

/// A result that differs from the expected or the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unexpected {
    /// The found and the expected result, as one sentence.
    pub what: String,
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Unexpected {}

impl From<String> for Unexpected {
    fn from(what: String) -> Unexpected {
        Unexpected { what }
    }
}

impl From<&str> for Unexpected {
    fn from(what: &str) -> Unexpected {
        Unexpected { what: what.into() }
    }
}

impl From<Unexpected> for String {
    fn from(unexpected: Unexpected) -> String {
        unexpected.what
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn causes_name_neither_numbers_nor_instructions() {
        let text = "a device may let %70 = OpAtomicXor and OpAtomicStore take effect in another order; more than 256 are not tried";
        let cause = "a device may let an instruction and an instruction take effect in another order; more than # are not tried";
        assert_eq!(super::cause(text), cause);
        assert_eq!(
            super::cause("%104, of a combined sampler, is used by FunctionCall"),
            "%#, of a combined sampler, is used by FunctionCall"
        );
        assert_eq!(super::cause("unsupported: Open"), "unsupported: Open");
    }
}
