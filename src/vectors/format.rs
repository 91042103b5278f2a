//! The lines of a vectors file.
//!
//! FORMAT.md describes each field. A line has at most [`MAX_LINE`] bytes. Its parts are checked
//! against each other before memory is allocated for them, whatever the file says.

use super::reader::Lines;
use super::wsl;
use crate::compile::lambda_v::Constants;
use crate::dispatch::{FragmentDispatch, Target, words_hash};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use smallstep_semantics::number::sets::{Set, Span};
use smallstep_semantics::number::{Expected, Profile, Why};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::bytes_of_words;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The value of `format` in the first line.
pub const FORMAT: &str = "smallstep-vectors";
/// The format version of files with λV programs. FORMAT.md describes when it changes.
pub const SCHEMA: u32 = 2;
/// The longest line in bytes.
pub const MAX_LINE: usize = 32 << 20;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of smallstep that wrote the file.
    pub version: String,
    /// The version of the generator.
    pub generator: u32,
    /// The seed of the campaign with all programs.
    pub seed: u64,
    /// The float controls that the modules declare. The results are judged under them.
    pub profile: Profile,
    /// The placement of constants.
    pub constants: Constants,
    /// The number of cases that follow.
    pub cases: u64,
    /// The command that writes the same file again.
    pub command: String,
}

/// A program with its expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The index of the case, from 0.
    pub index: u64,
    /// The λV program.
    pub source: String,
    /// The translation of the program, and the grid.
    pub dispatch: FragmentDispatch,
    /// The result that every conforming engine must show: for each output of the dispatch, each
    /// pixel row by row. Lanes beyond the output's components are undecided.
    pub expected: Vec<Vec<[Expected; 4]>>,
    /// The rules that the program uses.
    pub rules: Vec<Rule>,
    /// The origin of the case.
    pub provenance: Provenance,
}

/// The origin of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program's index in the campaign with the header's seed.
    pub program: u64,
    /// The seed of the program, in hexadecimal.
    pub seed: String,
    /// The engines that agree on every pixel, with their versions.
    pub engines: BTreeMap<String, String>,
}

/// An error in a line, or the reason why a file cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineError {
    /// The line number, from 1.
    pub line: u64,
    /// The error, as one sentence.
    pub what: String,
}

impl std::fmt::Display for LineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for LineError {}

/// The name of a profile.
pub fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Strict => "strict",
        Profile::Declared(_) => "declared",
        Profile::VulkanDefault => "vulkan-default",
        Profile::Wgsl => "wgsl",
    }
}

/// The profile with this name.
pub(super) fn profile_from_name(name: &str) -> Result<Profile, InvalidInput> {
    let all = [Profile::Strict, Profile::VulkanDefault, Profile::Wgsl];
    let found = all.into_iter().find(|p| profile_name(*p) == name);
    found.ok_or_else(|| {
        InvalidInput::new(InputFault::Text, format!("no profile is called \"{}\"; there are strict, vulkan-default and wgsl", short(name)))
    })
}

/// The name of a placement of constants: "module" or "opaque".
pub fn constants_name(constants: Constants) -> &'static str {
    match constants {
        Constants::InModule => "module",
        Constants::Opaque => "opaque",
    }
}

/// The names of the reasons why a lane may have any value.
const REASONS: [(Why, &str); 14] = [
    (Why::Approximate, "approximate"),
    (Why::Subnormal, "subnormal"),
    (Why::Infinite, "infinite"),
    (Why::NaN, "nan"),
    (Why::Tie, "tie"),
    (Why::Domain, "domain"),
    (Why::Control, "control"),
    (Why::Interpolated, "interpolated"),
    (Why::Derivative, "derivative"),
    (Why::Coverage, "coverage"),
    (Why::Reconvergence, "reconvergence"),
    (Why::SubgroupSize, "subgroup-size"),
    (Why::SubgroupMapping, "subgroup-mapping"),
    (Why::Unfollowed, "unfollowed"),
];

fn reason_name(why: Why) -> &'static str {
    REASONS.iter().find(|(w, _)| *w == why).map_or("approximate", |(_, name)| name)
}

/// The text of a lane: eight hexadecimal digits, `zero`, `in:` with the spans of a set, or `any:`
/// with a reason.
pub fn lane_text(expected: Expected) -> String {
    match expected {
        Expected::Bits(bits) => format!("{bits:08x}"),
        Expected::Zero => "zero".into(),
        Expected::Within(set) => {
            let bits = |x: f64| (x as f32).to_bits();
            let span = |span: &Span| match (bits(span.low), bits(span.high)) {
                (low, high) if low == high => format!("{low:08x}"),
                (low, high) => format!("{low:08x}..{high:08x}"),
            };
            format!("in:{}", set.spans().iter().map(span).collect::<Vec<_>>().join("|"))
        }
        Expected::Undecided(why) => format!("any:{}", reason_name(why)),
    }
}

/// The lane with this text.
pub fn lane_from_text(text: &str) -> Option<Expected> {
    if text == "zero" {
        return Some(Expected::Zero);
    }
    if let Some(reason) = text.strip_prefix("any:") {
        return REASONS.iter().find(|(_, name)| *name == reason).map(|&(why, _)| Expected::Undecided(why));
    }
    if let Some(spans) = text.strip_prefix("in:") {
        let mut set = Set::NONE;
        for span in spans.split('|').take(Set::SPANS + 1) {
            let (low, high) = span.split_once("..").unwrap_or((span, span));
            let [low, high] = [low, high].map(|end| bits_from_text(end).map(f32::from_bits).filter(|x| x.is_finite()).map(f64::from));
            set = set.with(Span::between(low?, high?));
        }
        // A set has exactly one text: ends and spans ascend, and no two spans share a float.
        return Some(Expected::Within(set)).filter(|&lane| lane_text(lane) == text);
    }
    bits_from_text(text).map(Expected::Bits)
}

/// The bits from eight hexadecimal digits.
pub(super) fn bits_from_text(text: &str) -> Option<u32> {
    let digits = text.len() == 8 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

struct Lane(Expected);

impl Serialize for Lane {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&lane_text(self.0))
    }
}

impl<'de> Deserialize<'de> for Lane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lane, D::Error> {
        struct LaneVisitor;
        impl Visitor<'_> for LaneVisitor {
            type Value = Lane;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("eight lower-case hexadecimal digits, \"zero\", or \"any:\" and a reason")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Lane, E> {
                lane_from_text(text).map(Lane).ok_or_else(|| E::invalid_value(de::Unexpected::Str(short(text)), &self))
            }
        }
        deserializer.deserialize_str(LaneVisitor)
    }
}

/// The first 40 characters of a text, for messages.
pub(super) fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    schema: u32,
    kind: String,
    format: String,
    version: String,
    generator: u32,
    seed: String,
    profile: String,
    constants: String,
    cases: u64,
    command: String,
}

/// The fields that distinguish the kinds of lines, the versions of files, and the languages.
#[derive(Deserialize)]
struct Kind {
    schema: u32,
    kind: String,
    #[serde(default)]
    format: String,
    #[serde(default)]
    language: String,
}

/// The language of the cases after a header. The version must be supported.
pub(super) fn language(text: &str) -> Result<Language, InvalidInput> {
    let kind: Kind =
        from_json(text).map_err(|e| InvalidInput::new(InputFault::Text, format!("this is no header of a vectors file: {e}")))?;
    if kind.kind != "header" || kind.format != FORMAT {
        return Err(InvalidInput::new(
            InputFault::Text,
            format!("this is no header of a vectors file: its format is \"{}\", not \"{FORMAT}\"", short(&kind.format)),
        ));
    }
    match (kind.language.as_str(), kind.schema) {
        ("", SCHEMA) => Ok(Language::LambdaV),
        ("wsl", wsl::SCHEMA | wsl::SCHEMA_OF_IMAGES) => Ok(Language::Wsl),
        ("" | "wsl", found) => {
            let (first, last) = (wsl::SCHEMA, wsl::SCHEMA_OF_IMAGES);
            Err(InvalidInput::new(
                InputFault::Text,
                format!("the file has version {found} of the format; this program reads version {SCHEMA}, and {first} and {last} for WSL"),
            ))
        }
        (other, _) => Err(InvalidInput::new(
            InputFault::Text,
            format!("no vectors are of the language \"{}\"; there is wsl, and without one λV", short(other)),
        )),
    }
}

/// The language of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    LambdaV,
    Wsl,
}

#[derive(Serialize, Deserialize)]
struct CaseLine {
    schema: u32,
    kind: String,
    index: u64,
    source: String,
    words: String,
    words_hash: String,
    entry: String,
    size: (u32, u32),
    outputs: Vec<OutputLine>,
    constants: String,
    expected: Vec<Vec<Vec<Lane>>>,
    rules: RulesLine,
    provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct OutputLine {
    location: u32,
    components: u32,
}

#[derive(Default, Serialize, Deserialize)]
struct RulesLine {
    typing: Vec<String>,
    reduction: Vec<String>,
    spirv: Vec<String>,
    translation: Vec<String>,
}

impl RulesLine {
    fn of(rules: &[Rule]) -> RulesLine {
        let mut line = RulesLine::default();
        for rule in rules {
            let list = match rule.judgement() {
                Judgement::Typing | Judgement::RecMatch => &mut line.typing,
                Judgement::Reduction => &mut line.reduction,
                Judgement::Spirv | Judgement::Invocation | Judgement::Grid => &mut line.spirv,
                Judgement::Translation | Judgement::ModuleCreation => &mut line.translation,
                // λV programs use no rules of WSL.
                Judgement::Lexing
                | Judgement::Grammar
                | Judgement::Desugaring
                | Judgement::Environment
                | Judgement::StatementTyping
                | Judgement::ExpressionTyping
                | Judgement::EntryPoint
                | Judgement::Library
                | Judgement::StatementExecution
                | Judgement::ExpressionExecution
                | Judgement::GroupExecution
                | Judgement::Draw
                | Judgement::Uniformity
                | Judgement::Codegen => continue,
            };
            list.push(rule.name().into());
        }
        line
    }

    /// The rules. Unknown names are ignored, since other versions may have added or renamed rules.
    fn rules(&self) -> Vec<Rule> {
        let all = [&self.typing, &self.reduction, &self.spirv, &self.translation];
        all.into_iter().flatten().filter_map(|name| Rule::from_name(name)).collect()
    }
}

/// A 64-bit number as text, since JSON readers may lose bits of it.
pub(super) fn hex(number: u64) -> String {
    format!("{number:#018x}")
}

pub(super) fn from_hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").filter(|d| d.len() == 16 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

pub(super) fn words_text(words: &[u32]) -> String {
    STANDARD.encode(bytes_of_words(words))
}

pub(super) fn words_from_text(field: &str, text: &str) -> Result<Vec<u32>, InvalidInput> {
    let bytes = STANDARD.decode(text).map_err(|e| InvalidInput::new(InputFault::Text, format!("`{field}` is no base64: {e}")))?;
    if !bytes.len().is_multiple_of(4) {
        return Err(InvalidInput::new(
            InputFault::Text,
            format!("`{field}` has {} bytes, which is no whole number of 4-byte words", bytes.len()),
        ));
    }
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

pub(super) fn json_line<T: Serialize>(line: &T) -> String {
    // Strings, numbers and lists always serialize.
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads the JSON object of a line.
pub(super) fn from_json<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, InvalidInput> {
    // Serde would accept a list as an object without field names.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(InvalidInput::new(InputFault::Text, "the line is no JSON object"));
    }
    // A line contains one line of JSON, so messages need no line number.
    serde_json::from_str(text).map_err(|e| InvalidInput::new(InputFault::Text, e.to_string().replace(" at line 1 column ", " at column ")))
}

impl Header {
    /// The text of the line, with the line end.
    pub fn to_line(&self) -> String {
        json_line(&HeaderLine {
            schema: SCHEMA,
            kind: "header".into(),
            format: FORMAT.into(),
            version: self.version.clone(),
            generator: self.generator,
            seed: hex(self.seed),
            profile: profile_name(self.profile).into(),
            constants: constants_name(self.constants).into(),
            cases: self.cases,
            command: self.command.clone(),
        })
    }

    /// Reads the header from a line.
    pub fn from_line(text: &str) -> Result<Header, InvalidInput> {
        if language(text)? != Language::LambdaV {
            return Err(InvalidInput::new(InputFault::Text, "the cases of this file are WSL; λV is needed here"));
        }
        let line: HeaderLine = from_json(text).map_err(|e| InvalidInput::new(InputFault::Text, format!("the header: {e}")))?;
        let constants = [Constants::InModule, Constants::Opaque].into_iter().find(|c| constants_name(*c) == line.constants);
        Ok(Header {
            version: line.version,
            generator: line.generator,
            seed: from_hex(&line.seed).ok_or_else(|| InvalidInput::new(InputFault::Text, "`seed` is not 0x and 16 hexadecimal digits"))?,
            profile: profile_from_name(&line.profile)?,
            constants: constants.ok_or_else(|| {
                InvalidInput::new(
                    InputFault::Text,
                    format!("constants are not placed in \"{}\"; there are module and opaque", short(&line.constants)),
                )
            })?,
            cases: line.cases,
            command: line.command,
        })
    }
}

impl Case {
    /// The text of the line, with the line end.
    pub fn to_line(&self) -> String {
        let outputs = &self.dispatch.outputs;
        let pixel = |components: u32| move |lanes: &[Expected; 4]| lanes[..components as usize].iter().map(|&l| Lane(l)).collect();
        let expected = outputs.iter().zip(&self.expected).map(|(t, pixels)| pixels.iter().map(pixel(t.components)).collect()).collect();
        json_line(&CaseLine {
            schema: SCHEMA,
            kind: "case".into(),
            index: self.index,
            source: self.source.clone(),
            words: words_text(&self.dispatch.words),
            words_hash: hex(self.dispatch.words_hash()),
            entry: self.dispatch.entry.clone(),
            size: (self.dispatch.width, self.dispatch.height),
            outputs: outputs.iter().map(|t| OutputLine { location: t.location, components: t.components }).collect(),
            constants: words_text(&self.dispatch.constants),
            expected,
            rules: RulesLine::of(&self.rules),
            provenance: self.provenance.clone(),
        })
    }

    /// Reads the case from a line. Its parts fit each other, and its words have the given hash. The
    /// engines find out whether the words are a module.
    pub fn from_line(text: &str) -> Result<Case, InvalidInput> {
        let line: CaseLine = from_json(text)?;
        if line.kind != "case" || line.schema != SCHEMA {
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("a case of version {SCHEMA} is needed here, not \"{}\" of version {}", short(&line.kind), line.schema),
            ));
        }
        let words = words_from_text("words", &line.words)?;
        let (stated_hash, found) = (from_hex(&line.words_hash), words_hash(&words));
        if stated_hash != Some(found) {
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("the words have the hash {}; `words_hash` says \"{}\"", hex(found), short(&line.words_hash)),
            ));
        }
        let dispatch = FragmentDispatch {
            words: Arc::from(words),
            entry: line.entry,
            width: line.size.0,
            height: line.size.1,
            outputs: line.outputs.iter().map(|o| Target { location: o.location, components: o.components }).collect(),
            constants: words_from_text("constants", &line.constants)?,
        };
        dispatch.check().map_err(|e| InvalidInput::new(InputFault::Text, e.to_string()))?;
        let expected = expected(&dispatch, line.expected)?;
        Ok(Case { index: line.index, source: line.source, dispatch, expected, rules: line.rules.rules(), provenance: line.provenance })
    }
}

/// The expectations, checked against the outputs and the grid.
fn expected(dispatch: &FragmentDispatch, lines: Vec<Vec<Vec<Lane>>>) -> Result<Vec<Vec<[Expected; 4]>>, InvalidInput> {
    if lines.len() != dispatch.outputs.len() {
        return Err(InvalidInput::new(
            InputFault::Text,
            format!("`expected` has {} outputs; `outputs` has {}", lines.len(), dispatch.outputs.len()),
        ));
    }
    let count = u64::from(dispatch.width) * u64::from(dispatch.height);
    let image = |(target, pixels): (&Target, Vec<Vec<Lane>>)| {
        let location = target.location;
        if pixels.len() as u64 != count {
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("`expected` has {} pixels for the output at location {location}; the size asks for {count}", pixels.len()),
            ));
        }
        let pixel = |lanes: Vec<Lane>| {
            if lanes.len() != target.components as usize {
                let components = target.components;
                return Err(InvalidInput::new(
                    InputFault::Text,
                    format!("`expected` has {} lanes in a pixel of location {location}; it has {components} components", lanes.len()),
                ));
            }
            let mut all = [Expected::Undecided(Why::Approximate); 4];
            all.iter_mut().zip(lanes).for_each(|(to, Lane(lane))| *to = lane);
            Ok(all)
        };
        pixels.into_iter().map(pixel).collect()
    };
    dispatch.outputs.iter().zip(lines).map(image).collect()
}

impl Lines for Case {
    type Header = Header;

    fn header(text: &str) -> Result<Header, InvalidInput> {
        Header::from_line(text)
    }

    fn cases(header: &Header) -> u64 {
        header.cases
    }

    fn case(text: &str) -> Result<Case, InvalidInput> {
        Case::from_line(text)
    }

    fn index(&self) -> u64 {
        self.index
    }
}
