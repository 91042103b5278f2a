//! The correctness theorem, checked: *if e is well typed and eval_λ(e) = o, then the translated
//! program shows o* (report §7).
//!
//! `case` types and translates a program and runs both semantics on it, `device` compares what a
//! device drew, `blame` finds the first subexpression that differs, `check` does all of it for
//! files, `campaign` for generated programs. `planted` turns on itself what the others turn on
//! compilers: bugs that they must catch. What counts as what stands in [`Verdict`].

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

/// What a comparison of a program with what becomes of it came to.
pub type Verdict = crate::verdict::Verdict<Box<Difference>>;

/// Something that gives a program a meaning, or stands between two that do.
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

/// Where a lane was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pixel.
    pub pixel: (u32, u32),
    /// The output's location.
    pub location: u32,
    /// The component.
    pub component: u32,
}

/// Two engines that should be the same, and are not.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The engine that is believed, and the one that is judged.
    pub between: (Engine, Engine),
    /// Which pixel, output and component, if it came to observations.
    pub place: Option<Place>,
    /// The bits expected (of a zero of either sign: those of +0) and found, if
    /// it came to observations.
    pub bits: Option<(u32, u32)>,
    /// What was expected and what was found, one sentence.
    pub what: String,
    /// The first subexpression whose value differs.
    pub blame: Option<blame::Blame>,
    /// Where a device was searched for that subexpression and none could be named: why.
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
    /// A difference that is no difference of observed lanes.
    pub fn of(believed: Engine, judged: Engine, what: impl Into<String>) -> Verdict {
        Verdict::Disagree(Box::new(Difference {
            between: (believed, judged),
            place: None,
            bits: None,
            what: what.into(),
            blame: None,
            unblamed: None,
        }))
    }

    /// Searches the device for the first subexpression that it gets wrong, if the difference is one
    /// of observed lanes.
    pub fn search(&mut self, case: &case::Case, settings: &case::Settings, device: &mut dyn probe::Drawer) {
        if let Some(place) = self.place {
            match probe::on_device(case, place, settings, device) {
                Ok(blame) => self.blame = Some(blame),
                Err(unblamed) => self.unblamed = Some(unblamed),
            }
        }
    }

    /// What differs, and the first subexpression whose value does, or why none is named.
    pub fn explained(&self) -> String {
        match (&self.blame, &self.unblamed) {
            (Some(blame), _) => format!("{self}; first differing subexpression: {blame}"),
            (None, Some(unblamed)) => format!("{self}; {unblamed}"),
            (None, None) => self.to_string(),
        }
    }

    /// The group that a campaign puts the difference in: the engines, and the rule and instruction
    /// to blame, or the way in which they differ.
    pub fn group(&self) -> String {
        let cause = match &self.blame {
            Some(blame) => format!("{}, {}", blame.rule, blame.instruction),
            None => self.way(),
        };
        format!("{} vs {}: {cause}", self.between.0, self.between.1)
    }

    /// The way in which the two differ, whatever the place and the values: how one lane does, or
    /// what is said, without its numbers.
    pub fn way(&self) -> String {
        match self.bits {
            Some((expected, found)) => how_lanes_differ(expected, found).into(),
            None => without_numbers(&self.what),
        }
    }
}

/// Messages of one cause differ in places and values: every number becomes `#`.
fn without_numbers(text: &str) -> String {
    let mut text: String = text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    while text.contains("##") {
        text = text.replace("##", "#");
    }
    text
}

/// Whether two messages tell the same, but for numbers and for what a driver said before it ended.
fn tell_the_same(one: &str, other: &str) -> bool {
    let told = |text: &str| without_numbers(text.split_once(LAST_SAID).map_or(text, |(told, _)| told));
    told(one) == told(other)
}

/// The cause that a message tells, for counts: without numbers, and without the instructions that
/// it names, as `%7 = OpIAdd`.
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
        // Of two numbers of one sign, the greater magnitude has the greater bits.
        if found < expected { "one unit in the last place toward zero" } else { "one unit in the last place away from zero" }
    } else {
        "another number"
    }
}

/// How many lanes were observed, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Compared bit for bit (or as zeros of either sign).
    pub checked: u64,
    /// Left alone, since a conforming device may show several values.
    pub undecided: u64,
}

impl Lanes {
    /// All that were observed.
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

/// A 32-bit float by value and bits, for messages.
pub fn float_text(bits: u32) -> String {
    let x = f32::from_bits(bits);
    if x.is_nan() { format!("NaN ({bits:#010x})") } else { format!("{x} ({bits:#010x})") }
}

/// What a device must show, for messages.
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

/// Bits that stand for what is expected beside those shown: of a set, its member that
/// is nearest to them.
pub(crate) fn expected_bits(expected: Expected, shown: u32) -> u32 {
    match expected {
        Expected::Bits(bits) => bits,
        Expected::Within(set) => set.nearest(f32::from_bits(shown).into()).map_or(0, |x| (x as f32).to_bits()),
        Expected::Zero | Expected::Undecided(_) => 0,
    }
}

/// A value with its bits, for messages.
pub fn value_text(value: &Value) -> String {
    let bits: Vec<String> = value.bits().map(|b| format!("{b:#010x}")).collect();
    format!("{value} [{}]", bits.join(" "))
}

/// Why a lane is undecided, in a sentence's second half.
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

/// The name of a theorem, as the command line has it.
pub fn theorem_name(theorem: Theorem) -> &'static str {
    match theorem {
        Theorem::Corrected => "corrected",
        Theorem::Printed => "printed",
    }
}

/// Checks the theorem for one λV program of that name, between the interpreters alone: its type,
/// its value, its translation, and what that shows. [`check::Checker`] asks devices too.
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

/// What is found is not what is due or recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unexpected {
    /// One sentence: what is found against what was expected.
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
        let told = "a device may let %70 = OpAtomicXor and OpAtomicStore take effect in another order; more than 256 are not tried";
        let cause = "a device may let an instruction and an instruction take effect in another order; more than # are not tried";
        assert_eq!(super::cause(told), cause);
        assert_eq!(
            super::cause("%104, of a combined sampler, is used by FunctionCall"),
            "%#, of a combined sampler, is used by FunctionCall"
        );
        assert_eq!(super::cause("unsupported: Open"), "unsupported: Open");
    }
}
