//! Reports of measurements, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::reference::Exact;

use super::{Answer, Function, Measured, Outside, Verdict};
use crate::gpu::{AdapterRecord, Route};

/// The subject of a measurement, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The adapter's name.
    pub adapter: String,
    /// The driver and its version.
    pub driver: String,
    /// The route of the words to the driver.
    pub route: String,
    /// The profile.
    pub profile: Profile,
}

impl Subject {
    /// An adapter on a route.
    pub fn new(adapter: &AdapterRecord, route: Route, profile: Profile) -> Subject {
        Subject { adapter: adapter.name.clone(), driver: adapter.driver.clone(), route: route.name().into(), profile }
    }

    /// The execution modes and decorations that the modules declare.
    pub fn declares(&self) -> Vec<&'static str> {
        let controls = self.profile.controls();
        controls.modes().map(|control| control.name).chain(controls.no_contraction.then_some("NoContraction")).collect()
    }

    /// The profile and the declarations of its modules.
    pub fn profile_text(&self) -> String {
        let declares = self.declares();
        let declares = if declares.is_empty() { "nothing declared".to_owned() } else { declares.join(", ") };
        format!("profile {}: {declares}", self.profile)
    }
}

/// The adapter, driver, route and profile on one line.
impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}), {}, {}", self.adapter, self.driver, self.route, self.profile_text())
    }
}

/// A float by its bits: `0x3f800000 = 1`, with the signs of zeros and NaNs.
pub fn float_text(bits: u32) -> String {
    let x = f32::from_bits(bits);
    match x {
        x if x.is_nan() => format!("{bits:#010x} = NaN"),
        x if x.is_infinite() => format!("{bits:#010x} = {}∞", if x > 0.0 { "+" } else { "-" }),
        x if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) => format!("{bits:#010x} = {x:e}"),
        x => format!("{bits:#010x} = {x}"),
    }
}

fn call(function: &Function, words: &[u32]) -> String {
    let mut text = format!("{}(", function.label());
    for (at, &bits) in words.iter().enumerate() {
        let operand = function.operand_of(at);
        let _ = match function.is_integer(operand) {
            true => write!(text, "{}{}", if at == 0 { "" } else { ", " }, bits as i32),
            false => write!(text, "{}{}", if at == 0 { "" } else { ", " }, float_text(bits)),
        };
    }
    text.push(')');
    text
}

/// A number of units in the last place, in a few characters.
fn ulps(x: f64) -> String {
    match x {
        x if x.is_infinite() => "∞".into(),
        0.0 => "0".into(),
        x if x >= 1e6 => format!("{x:.1e}"),
        x if x >= 1000.0 => format!("{x:.0}"),
        x => format!("{x:.2}"),
    }
}

fn exact_text(exact: Exact) -> String {
    match exact {
        Exact::Undefined => "undefined".into(),
        Exact::Within(enclosure) if enclosure.is_point() => format!("{:?}", enclosure.low),
        Exact::Within(enclosure) => format!("about {:?}", super::judge::middle(enclosure)),
    }
}

fn outside_text(function: &Function, outside: &Outside) -> String {
    let component = if function.results == 1 { String::new() } else { format!(", component {}", outside.component) };
    format!(
        "{}{component} showed {}; allowed is {}; the precise result is {}",
        call(function, &outside.operands),
        float_text(outside.result),
        outside.allowed,
        exact_text(outside.exact)
    )
}

/// Rows as aligned columns, with the heads in the first row. The columns in `right`
/// are right-aligned.
fn columns(rows: &[Vec<String>], right: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let _ = match right.contains(&column) {
                true => write!(line, "{cell:>0$}  ", widths[column]),
                false => write!(line, "{cell:<0$}  ", widths[column]),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The table of functions: inputs, decided inputs, errors in units in the last place, and verdicts.
/// Below it is the simplest input of each function that has a result outside.
pub fn table(all: &[Measured]) -> String {
    let heads = ["function", "inputs", "decided", "any", "mean", "worst", "allowed", "verdict", "at"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let mut below = String::new();
    for measured in all {
        let tally = &measured.tally;
        let verdict = match measured.verdict() {
            Verdict::Disagree(_) => format!("outside: {} of {}", tally.outside, tally.decided),
            _ => measured.word().to_owned(),
        };
        let worst = tally.worst.as_ref();
        let at = worst.filter(|worst| worst.ulp > 0.0).map_or(String::new(), |worst| {
            let words: Vec<String> = worst.operands.iter().map(|bits| format!("{bits:#010x}")).collect();
            words.join(" ")
        });
        rows.push(vec![
            measured.function.label(),
            if measured.exhaustive { "all".to_owned() } else { tally.inputs.to_string() },
            tally.decided.to_string(),
            tally.any.to_string(),
            tally.mean().map_or("-".into(), ulps),
            worst.map_or("-".into(), |worst| ulps(worst.ulp)),
            measured.allowed.map_or("-".into(), ulps),
            verdict,
            at,
        ]);
        if let Some(outside) = &tally.reproducer {
            let _ = writeln!(below, "outside: {}", outside_text(&measured.function, outside));
        }
        if let Some(not) = &measured.not_computed {
            let what = if not.failed { "failed" } else { "unchecked" };
            let _ = writeln!(below, "{what}: {}: {}", measured.function.label(), not.why);
        }
    }
    format!("{}{below}", columns(&rows, &[1, 2, 3, 4, 5, 6]))
}

fn answer_call(answer: &Answer) -> String {
    let words: Vec<u32> = answer.question.words().collect();
    let operands: Vec<String> = match Function::named(answer.question.function).into_iter().next() {
        Some(f) => words.iter().enumerate().map(|(i, &w)| if f.is_integer(i) { (w as i32).to_string() } else { short(w) }).collect(),
        None => words.iter().map(|&w| short(w)).collect(),
    };
    format!("{}({})", answer.question.function, operands.join(", "))
}

/// A float without its bits, in the form of `{:?}`, except for NaN and the greatest floats.
fn short(bits: u32) -> String {
    match f32::from_bits(bits) {
        x if x.is_nan() => "NaN".into(),
        x if x == f32::MAX => "max".into(),
        x if x == -f32::MAX => "-max".into(),
        x => format!("{x:?}"),
    }
}

/// The table of corner questions: the device's result, and whether it is allowed.
pub fn corner_table(all: &[Measured]) -> String {
    let mut rows = vec![["about", "question", "shows", "allowed", ""].map(str::to_owned).to_vec()];
    let mut answers: Vec<&Answer> = all.iter().flat_map(|measured| &measured.answers).collect();
    answers.sort_by_key(|answer| answer.place);
    let mut about = "";
    for answer in answers {
        let same = answer.question.about == about;
        about = answer.question.about;
        rows.push(vec![
            if same { String::new() } else { about.to_owned() },
            answer_call(answer),
            short(answer.shown),
            answer.allowed.to_string(),
            if answer.is_allowed() { String::new() } else { "outside".to_owned() },
        ]);
    }
    if rows.len() == 1 { String::new() } else { columns(&rows, &[]) }
}

fn bits(words: &[u32]) -> Vec<String> {
    words.iter().map(|bits| format!("{bits:#010x}")).collect()
}

/// A JSON object for each function and for each answer, and a summary.
pub fn json(subject: &Subject, all: &[Measured]) -> Vec<Value> {
    let mut values = Vec::new();
    for measured in all {
        let tally = &measured.tally;
        let binades: Vec<Value> = tally
            .binades
            .iter()
            .enumerate()
            .filter(|(_, binade)| binade.count > 0)
            .map(|(at, b)| {
                json!({
                    "negative": at >= 256, "exponent": (at % 256) as i64 - 127,
                    "count": b.count, "mean_ulp": b.sum / b.count as f64, "worst_ulp": b.worst,
                    "worst_at": format!("{:#010x}", b.worst_at),
                })
            })
            .collect();
        values.push(json!({
            "schema": 1,
            "kind": "function",
            "function": measured.function.label(),
            "inputs": tally.inputs,
            "exhaustive": measured.exhaustive,
            "decided": tally.decided,
            "any": tally.any,
            "outside": tally.outside,
            "measured": tally.measured,
            "mean_ulp": tally.mean(),
            "worst": tally.worst.as_ref().map(|worst| json!({
                "ulp": worst.ulp, "allowed_ulp": measured.allowed.filter(|x| x.is_finite()), "operands": bits(&worst.operands),
                "component": worst.component, "result": format!("{:#010x}", worst.result),
            })),
            "reproducer": tally.reproducer.as_ref().map(|outside| json!({
                "operands": bits(&outside.operands), "component": outside.component, "result": format!("{:#010x}", outside.result),
                "allowed": outside.allowed.to_string(), "precise": exact_text(outside.exact),
            })),
            "binades": binades,
            "verdict": measured.word(),
            "not_computed": measured.not_computed.as_ref().map(|not| &not.why),
            "seconds": measured.time.as_secs_f64(),
        }));
    }
    for answer in all.iter().flat_map(|measured| &measured.answers) {
        values.push(json!({
            "schema": 1,
            "kind": "corner",
            "corner": answer.question.about,
            "function": answer.question.function,
            "operands": bits(&answer.question.words().collect::<Vec<_>>()),
            "result": format!("{:#010x}", answer.shown),
            "allowed": answer.allowed.to_string(),
            "is_allowed": answer.is_allowed(),
        }));
    }
    let count = |word: &str| all.iter().filter(|measured| measured.word() == word).count();
    values.push(json!({
        "schema": 1,
        "kind": "summary",
        "summary": "precision",
        "adapter": subject.adapter,
        "driver": subject.driver,
        "route": subject.route,
        "profile": subject.profile.to_string(),
        "declares": subject.declares(),
        "functions": all.len(),
        "conforms": count("conforms"),
        "outside": count("outside"),
        "undecided": count("undecided"),
        "unchecked": count("unchecked"),
    }));
    values
}

#[cfg(test)]
mod tests {
    use super::{float_text, ulps};

    #[test]
    fn numbers_are_written_short_and_whole() {
        assert_eq!(float_text(0x3f80_0000), "0x3f800000 = 1");
        assert_eq!(float_text(0x8000_0000), "0x80000000 = -0");
        assert_eq!(float_text(0xff80_0000), "0xff800000 = -∞");
        assert_eq!(float_text(1), "0x00000001 = 1e-45");
        assert_eq!([0.0, 0.5, 4096.0, 1e9, f64::INFINITY].map(ulps), ["0", "0.50", "4096", "1.0e9", "∞"]);
    }
}
