//! The lines of a file with WSL cases: FORMAT.md, "WSL".

use super::bound::{Image, Sampler};
use super::compiled::Compiled;
use crate::vectors::Lines;
use crate::vectors::format::{
    FORMAT, Provenance, bits_from_text, from_hex, from_json, hex, json_line, lane_from_text, lane_text, profile_from_name, profile_name,
    short,
};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use smallstep_semantics::number::sets::Set;
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::types::Scalar;

/// The format version of files with WSL cases.
pub const SCHEMA: u32 = 3;
/// The format version if a dispatch has images or samplers.
pub const SCHEMA_OF_IMAGES: u32 = 4;
/// The most scalars of a result, and of all buffers of a dispatch.
pub const MAX_SCALARS: usize = 1 << 16;
/// The most values that a lane lists.
pub const MAX_LISTED: usize = 4096;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format version. No case has a higher one.
    pub schema: u32,
    /// The version of smallstep that wrote the file.
    pub version: String,
    /// The version of the generator of dispatches.
    pub generator: u32,
    /// The seed of the first program.
    pub seed: u64,
    /// The precision profile for floats.
    pub profile: Profile,
    /// The number of cases that follow.
    pub cases: u64,
    /// The command that writes the same file again.
    pub command: String,
}

/// The allowed values of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum Lane {
    /// Exactly these bits.
    Exactly(u32),
    /// A zero of either sign.
    Zero,
    /// A NaN.
    Nan,
    /// One of these bits, in ascending order. If the flag is set, a NaN too.
    OneOf(Vec<u32>, bool),
    /// A float in this set.
    Within(Set),
    /// Any value, because the specification leaves it open or its set cannot be expressed. With
    /// the reason.
    Any(Reason),
}

/// The reason why a scalar may have any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is unspecified, or it has no known bound.
    Unspecified,
    /// It may be an infinity, among other floats.
    Infinite,
    /// It may be a NaN, among other floats.
    Nan,
}

impl Reason {
    const ALL: [(Reason, &str); 3] = [(Reason::Unspecified, "unspecified"), (Reason::Infinite, "infinite"), (Reason::Nan, "nan")];
}

fn is_nan(of: Scalar, bits: u32) -> bool {
    of == Scalar::Float && f32::from_bits(bits).is_nan()
}

impl Lane {
    /// The lane for the possible values of a word of that type.
    pub fn of(possible: &Possible, of: Scalar) -> Lane {
        match possible {
            Possible::Values(values) => {
                let mut bits: Vec<u32> = values.iter().copied().filter(|&v| !is_nan(of, v)).collect();
                let nan = bits.len() < values.len();
                if of == Scalar::Bool {
                    bits.iter_mut().for_each(|b| *b = u32::from(*b != 0));
                }
                bits.sort_unstable();
                bits.dedup();
                match (&bits[..], nan) {
                    ([], true) => Lane::Nan,
                    ([only], false) => Lane::Exactly(*only),
                    ([0, 0x8000_0000], false) if of == Scalar::Float => Lane::Zero,
                    (all, _) if all.is_empty() || all.len() > MAX_LISTED => Lane::Any(Reason::Unspecified),
                    _ => Lane::OneOf(bits, nan),
                }
            }
            Possible::Floats(set) if set.is_any() || set.is_none() => Lane::Any(Reason::Unspecified),
            Possible::Floats(set) if set.has_nan() => match set.spans() {
                [] => Lane::Nan,
                _ => Lane::Any(Reason::Nan),
            },
            Possible::Floats(set) if !set.is_bounded() => Lane::Any(Reason::Infinite),
            Possible::Floats(set) if *set == Set::ZERO => Lane::Zero,
            Possible::Floats(set) => set.only().map_or(Lane::Within(*set), |x| Lane::Exactly((x as f32).to_bits())),
            Possible::Any => Lane::Any(Reason::Unspecified),
        }
    }

    /// Whether a conforming engine may show these bits. `None` if that is not decided.
    pub fn admits(&self, bits: u32, of: Scalar) -> Option<bool> {
        let bits = if of == Scalar::Bool { u32::from(bits != 0) } else { bits };
        Some(match self {
            Lane::Exactly(expected) => bits == *expected,
            Lane::Zero => bits & 0x7fff_ffff == 0,
            Lane::Nan => is_nan(of, bits),
            Lane::OneOf(all, nan) => all.contains(&bits) || *nan && is_nan(of, bits),
            Lane::Within(set) => !is_nan(of, bits) && set.contains(f32::from_bits(bits).into()),
            Lane::Any(_) => return None,
        })
    }

    /// The text of the lane.
    pub fn text(&self) -> String {
        match self {
            Lane::Exactly(bits) => lane_text(Expected::Bits(*bits)),
            Lane::Zero => lane_text(Expected::Zero),
            Lane::Within(set) => lane_text(Expected::Within(*set)),
            Lane::Nan => "nan".into(),
            Lane::OneOf(bits, nan) => {
                let nan = nan.then(|| "nan".to_string());
                format!("one:{}", bits.iter().map(|b| format!("{b:08x}")).chain(nan).collect::<Vec<_>>().join("|"))
            }
            Lane::Any(reason) => {
                let name = Reason::ALL.iter().find(|(r, _)| r == reason).map_or("unspecified", |(_, name)| name);
                format!("any:{name}")
            }
        }
    }

    /// The lane with this text.
    pub fn from_text(text: &str) -> Option<Lane> {
        if let Some(reason) = text.strip_prefix("any:") {
            return Reason::ALL.iter().find(|(_, name)| *name == reason).map(|&(reason, _)| Lane::Any(reason));
        }
        if text == "nan" {
            return Some(Lane::Nan);
        }
        if let Some(list) = text.strip_prefix("one:") {
            let (list, nan) = list.strip_suffix("|nan").map_or((list, false), |list| (list, true));
            if list.len() > MAX_LISTED * 9 {
                return None;
            }
            let bits: Vec<u32> = list.split('|').map(bits_from_text).collect::<Option<_>>()?;
            let several = bits.len() + usize::from(nan) > 1 && bits.is_sorted_by(|a, b| a < b);
            return several.then_some(Lane::OneOf(bits, nan));
        }
        Some(match lane_from_text(text)? {
            Expected::Bits(bits) => Lane::Exactly(bits),
            Expected::Zero => Lane::Zero,
            Expected::Within(set) => Lane::Within(set),
            Expected::Undecided(_) => return None,
        })
    }
}

impl Serialize for Lane {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Lane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lane, D::Error> {
        struct LaneVisitor;
        impl Visitor<'_> for LaneVisitor {
            type Value = Lane;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "eight lower-case hexadecimal digits, \"zero\", \"nan\", \"one:\" or \"in:\" and values, or \"any:\" and a reason",
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Lane, E> {
                Lane::from_text(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(short(text)), &self))
            }
        }
        deserializer.deserialize_str(LaneVisitor)
    }
}

/// The ending of a call's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// It returns.
    Returns,
    /// It is discarded.
    Discards,
    /// Either of them, since the ending is unspecified.
    Either,
}

/// The evaluation of an expression with a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The expression as WSL text.
    pub expression: String,
    /// The type of its value.
    #[serde(rename = "type")]
    pub ty: String,
    /// The ending of the thread.
    pub ends: Ends,
    /// The allowed values of each scalar of the result. Empty if the thread only discards.
    pub expected: Vec<Lane>,
    /// The result as text, for human readers.
    #[serde(default)]
    pub value: String,
    /// The compiled SPIR-V, if the compiler accepts the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv: Option<Compiled>,
}

/// A buffer of a dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    /// The parameter's name.
    pub name: String,
    /// Its register.
    pub register: String,
    /// `device` or `constant`.
    pub space: String,
    /// The type of an element.
    #[serde(rename = "type")]
    pub ty: String,
    /// The number of elements.
    pub elements: u32,
    /// The scalars before the dispatch.
    pub given: Vec<Bits>,
    /// The allowed values of each scalar after the dispatch. Empty for a constant buffer.
    #[serde(default)]
    pub expected: Vec<Lane>,
}

/// Eight hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(pub u32);

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:08x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bits, D::Error> {
        let text = String::deserialize(deserializer)?;
        let invalid = || de::Error::invalid_value(de::Unexpected::Str(short(&text)), &"eight lower-case hexadecimal digits");
        bits_from_text(&text).map(Bits).ok_or_else(invalid)
    }
}

/// A dispatch of a compute entry point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The entry point's name.
    pub entry: String,
    /// The number of threadgroups in each direction.
    pub groups: [u32; 3],
    /// Its buffers, in the order of its arguments.
    pub buffers: Vec<Buffer>,
    /// The images for its textures, in the order of its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Its samplers, in the order of its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samplers: Vec<Sampler>,
    /// The compiled SPIR-V, if the compiler accepts the program and there are only buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv: Option<Compiled>,
}

/// The checks of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Checks {
    /// The separate evaluation of expressions.
    Calls(Vec<Call>),
    /// The dispatch of a compute entry point.
    Dispatch(Dispatch),
}

impl Checks {
    /// The expected lanes of all results.
    pub fn lanes(&self) -> Box<dyn Iterator<Item = &Lane> + '_> {
        match self {
            Checks::Calls(calls) => Box::new(calls.iter().flat_map(|c| &c.expected)),
            Checks::Dispatch(dispatch) => {
                let buffers = dispatch.buffers.iter().flat_map(|b| &b.expected);
                Box::new(buffers.chain(dispatch.images.iter().flat_map(|i| &i.expected)))
            }
        }
    }

    /// Whether some check has SPIR-V.
    pub fn has_spirv(&self) -> bool {
        match self {
            Checks::Calls(calls) => calls.iter().any(|call| call.spirv.is_some()),
            Checks::Dispatch(dispatch) => dispatch.spirv.is_some(),
        }
    }

    /// The format version that the checks need.
    pub fn schema(&self) -> u32 {
        match self {
            Checks::Dispatch(dispatch) if !dispatch.images.is_empty() || !dispatch.samplers.is_empty() => SCHEMA_OF_IMAGES,
            Checks::Calls(_) | Checks::Dispatch(_) => SCHEMA,
        }
    }
}

/// A program with its expected results.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The index of the case, from 0.
    pub index: u64,
    /// The program's text.
    pub program: String,
    /// The checks of the program.
    pub checks: Checks,
    /// The rules that the program uses.
    pub rules: Vec<Rule>,
    /// The origin of the case.
    pub provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    schema: u32,
    kind: String,
    format: String,
    language: String,
    version: String,
    generator: u32,
    seed: String,
    profile: String,
    cases: u64,
    command: String,
}

#[derive(Default, Serialize, Deserialize)]
struct RulesLine {
    #[serde(default)]
    validation: Vec<String>,
    #[serde(default)]
    execution: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct CaseLine {
    schema: u32,
    kind: String,
    index: u64,
    program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<Call>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dispatch: Option<Dispatch>,
    #[serde(default)]
    rules: RulesLine,
    provenance: Provenance,
}

impl Header {
    /// The text of the line, with the line end.
    pub fn to_line(&self) -> String {
        json_line(&HeaderLine {
            schema: self.schema,
            kind: "header".into(),
            format: FORMAT.into(),
            language: "wsl".into(),
            version: self.version.clone(),
            generator: self.generator,
            seed: hex(self.seed),
            profile: profile_name(self.profile).into(),
            cases: self.cases,
            command: self.command.clone(),
        })
    }
}

impl Case {
    /// The text of the line, with the line end.
    pub fn to_line(&self) -> String {
        let names = |execution: bool| -> Vec<String> {
            self.rules.iter().filter(|r| is_execution(**r) == execution).map(|r| r.name().into()).collect()
        };
        let (calls, dispatch) = match self.checks.clone() {
            Checks::Calls(calls) => (Some(calls), None),
            Checks::Dispatch(dispatch) => (None, Some(dispatch)),
        };
        json_line(&CaseLine {
            schema: self.checks.schema(),
            kind: "case".into(),
            index: self.index,
            program: self.program.clone(),
            calls,
            dispatch,
            rules: RulesLine { validation: names(false), execution: names(true) },
            provenance: self.provenance.clone(),
        })
    }
}

fn is_execution(rule: Rule) -> bool {
    matches!(rule.judgement(), Judgement::StatementExecution | Judgement::ExpressionExecution | Judgement::GroupExecution | Judgement::Draw)
}

impl Lines for Case {
    type Header = Header;

    fn header(text: &str) -> Result<Header, InvalidInput> {
        let line: HeaderLine = from_json(text).map_err(|e| InvalidInput::new(InputFault::Text, format!("the header: {e}")))?;
        Ok(Header {
            schema: line.schema,
            version: line.version,
            generator: line.generator,
            seed: from_hex(&line.seed).ok_or_else(|| InvalidInput::new(InputFault::Text, "`seed` is not 0x and 16 hexadecimal digits"))?,
            profile: profile_from_name(&line.profile)?,
            cases: line.cases,
            command: line.command,
        })
    }

    fn cases(header: &Header) -> u64 {
        header.cases
    }

    /// Reads a case. The engines find out whether the program is valid and fits the case.
    fn case(text: &str) -> Result<Case, InvalidInput> {
        let line: CaseLine = from_json(text)?;
        if line.kind != "case" || !matches!(line.schema, SCHEMA | SCHEMA_OF_IMAGES) {
            let (kind, schema) = (short(&line.kind), line.schema);
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("a case of version {SCHEMA} or {SCHEMA_OF_IMAGES} is needed here, not \"{kind}\" of version {schema}"),
            ));
        }
        let checks = match (line.calls, line.dispatch) {
            (Some(calls), None) if calls.is_empty() => return Err(InvalidInput::new(InputFault::Text, "`calls` is empty")),
            (Some(calls), None) => Checks::Calls(calls),
            (None, Some(dispatch)) => Checks::Dispatch(dispatch),
            (None, None) => return Err(InvalidInput::new(InputFault::Text, "there is neither `calls` nor `dispatch`")),
            (Some(_), Some(_)) => {
                return Err(InvalidInput::new(InputFault::Text, "there are both `calls` and `dispatch`; a case has one of them"));
            }
        };
        if checks.schema() > line.schema {
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("a case with images or samplers has version {SCHEMA_OF_IMAGES}, not {}", line.schema),
            ));
        }
        let names = line.rules.validation.iter().chain(&line.rules.execution);
        // Unknown names are ignored, since other versions may have added or renamed rules.
        let rules = names.filter_map(|name| Rule::from_name(name)).collect();
        Ok(Case { index: line.index, program: line.program, checks, rules, provenance: line.provenance })
    }

    fn index(&self) -> u64 {
        self.index
    }

    fn stands_below(&self, header: &Header) -> Result<(), InvalidInput> {
        match self.checks.schema() {
            schema if schema <= header.schema => Ok(()),
            schema => Err(InvalidInput::new(
                InputFault::Text,
                format!("a case that needs version {schema} stands in a file of version {}", header.schema),
            )),
        }
    }
}
