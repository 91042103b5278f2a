//! Entry points that WGSL renames. A name in WGSL does not end in a digit, is no keyword, and is
//! unique among all stages.
//!
//! An entry point that lost its name is matched with a new one of the same stage, by the first row
//! that holds:
//!
//! | among the entry points of its stage without a match | the match is |
//! |---|---|
//! | one new name alone fits its old name, and fits no other old name | this name |
//! | there is one old and one new entry point | the new one |
//! | otherwise | none |

use std::fmt;

use smallstep_semantics::spirv::decode;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::HEADER_WORDS;

/// A renamed entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The number of its execution model.
    model: u32,
    /// The name before.
    pub from: String,
    /// The name after.
    pub to: String,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WGSL renames the entry point \"{}\" to \"{}\"", self.from, self.to)
    }
}

/// The words with the original names of entry points, and the renamed entry points. `before` are
/// the words before WGSL, `after` those after it.
pub fn restored(before: &[u32], after: Vec<u32>) -> (Vec<u32>, Vec<Renamed>) {
    let renamed = renamed(&entry_points(before), &entry_points(&after));
    if renamed.is_empty() {
        return (after, renamed);
    }
    let Ok(decoded) = decode(&after) else { return (after, Vec::new()) };
    let mut words = after[..HEADER_WORDS].to_vec();
    for i in &decoded.instructions {
        let operands = i.operands(&after);
        let old = match (i.op, operands) {
            (Op::EntryPoint, &[model, _, ref rest @ ..]) => {
                let (name, length) = text(rest);
                renamed.iter().find(|r| r.model == model && r.to == name).map(|r| (r, length))
            }
            _ => None,
        };
        match old {
            Some((Renamed { from, .. }, length)) => {
                let name = text_words(from);
                let count = 3 + name.len() + operands.len() - 2 - length;
                words.extend([(count as u32) << 16 | Op::EntryPoint as u32, operands[0], operands[1]]);
                words.extend(name);
                words.extend(&operands[2 + length..]);
            }
            None => words.extend(i.words(&after)),
        }
    }
    (words, renamed)
}

/// The execution model and name of each entry point.
fn entry_points(words: &[u32]) -> Vec<(u32, String)> {
    let Ok(decoded) = decode(words) else { return Vec::new() };
    let points = decoded.instructions.iter().filter(|i| i.is(Op::EntryPoint));
    points.filter_map(|i| i.operands(words).split_at_checked(2).map(|(head, rest)| (head[0], text(rest).0))).collect()
}

/// A literal string, and its number of words.
fn text(words: &[u32]) -> (String, usize) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    let length = (bytes.len() / 4 + 1).min(words.len());
    (String::from_utf8_lossy(&bytes).into_owned(), length)
}

fn text_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn renamed(before: &[(u32, String)], after: &[(u32, String)]) -> Vec<Renamed> {
    let lost: Vec<&(u32, String)> = before.iter().filter(|point| !after.contains(point)).collect();
    let new: Vec<&(u32, String)> = after.iter().filter(|point| !before.contains(point)).collect();
    let alone = |points: &[&(u32, String)], model: u32| points.iter().filter(|point| point.0 == model).count() == 1;
    let found = lost.iter().filter_map(|&&(model, ref from)| {
        let same: Vec<&str> = new.iter().filter(|p| p.0 == model && is_name(from, &p.1)).map(|p| p.1.as_str()).collect();
        let to = match same.as_slice() {
            &[to] if lost.iter().filter(|p| p.0 == model && is_name(&p.1, to)).count() == 1 => to,
            _ if alone(&lost, model) && alone(&new, model) => new.iter().find(|p| p.0 == model).map(|p| p.1.as_str())?,
            _ => return None,
        };
        Some(Renamed { model, from: from.clone(), to: to.to_string() })
    });
    found.collect()
}

/// Whether WGSL may turn a name into another one. It replaces each character that is no letter or
/// digit by `_`. It may append underscores, and a number that makes the name unique.
fn is_name(from: &str, to: &str) -> bool {
    let letters: String = from.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let letters = letters.trim_end_matches('_');
    to.strip_prefix(letters).is_some_and(|rest| {
        let digits = rest.trim_start_matches('_');
        let is_number = !digits.is_empty() && digits.len() < rest.len() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.is_empty() || is_number
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::{Module, Options, assemble};

    const COMPUTE: u32 = 5;

    fn points(names: &[&str]) -> Vec<(u32, String)> {
        names.iter().map(|name| (COMPUTE, name.to_string())).collect()
    }

    fn pairs(before: &[&str], after: &[&str]) -> Vec<(String, String)> {
        renamed(&points(before), &points(after)).into_iter().map(|r| (r.from, r.to)).collect()
    }

    #[test]
    fn a_renamed_entry_point_is_found_where_it_is_the_only_one() {
        let one = |from: &str, to: &str| vec![(from.to_string(), to.to_string())];
        assert_eq!(pairs(&["step1"], &["step1_"]), one("step1", "step1_"));
        assert_eq!(pairs(&["a", "step1"], &["step1_", "a"]), one("step1", "step1_"));
        assert_eq!(pairs(&["one"], &["other"]), one("one", "other"), "the only one of its stage");
        let both = pairs(&["step1", "step2"], &["step2_", "step1_"]);
        assert_eq!(both, [("step1".into(), "step1_".into()), ("step2".into(), "step2_".into())]);
        assert_eq!(pairs(&["a-b", "c"], &["a_b_1", "c"]), one("a-b", "a_b_1"));
    }

    #[test]
    fn what_may_be_several_is_none() {
        assert_eq!(pairs(&["main"], &["main"]), []);
        assert_eq!(pairs(&["one", "two"], &["three", "four"]), []);
        assert_eq!(pairs(&["a-b", "a_b"], &["a_b_1", "a_b_2"]), [], "either may be either");
        assert_eq!(pairs(&["step"], &[]), []);
        assert_eq!(pairs(&["step1", "x"], &["step12", "y"]), [], "another number is another name");
        let other_stage = [(4, "step1_".to_string())];
        assert_eq!(renamed(&points(&["step1"]), &other_stage), []);
    }

    /// All words except the name are unchanged.
    #[test]
    fn names_are_restored() {
        let text = |name: &str| {
            format!(
                "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"{name}\" %id\n\
                 OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %id BuiltIn GlobalInvocationId\n%void = OpTypeVoid\n\
                 %f = OpTypeFunction %void\n%u = OpTypeInt 32 0\n%v = OpTypeVector %u 3\n%p = OpTypePointer Input %v\n\
                 %id = OpVariable %p Input\n%main = OpFunction %void None %f\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n"
            )
        };
        let words = |name: &str| assemble(&text(name), Options::default()).expect("assembles");
        for (from, to) in [("abc", "abc_"), ("ab1", "ab1_"), ("step12", "step12_"), ("a", "abcdefgh_")] {
            let (found, renamed) = restored(&words(from), words(to));
            assert_eq!(found, words(from), "{from}");
            assert_eq!(renamed[0].to_string(), format!("WGSL renames the entry point \"{from}\" to \"{to}\""));
            Module::load(&found).unwrap_or_else(|e| panic!("{e}"));
        }
        assert_eq!(restored(&words("main"), vec![1, 2, 3]), (vec![1, 2, 3], Vec::new()), "no module");
    }
}
