//! Specialization constants of entry points, and the values that are given for them by name (seed
//! 004 "Arguments and Return Types", bucket 4).
//!
//! A constant is a scalar argument whose value "must be specified … before the shader is allowed to
//! execute". Each constant must be given, once. A draw gives the constants of both of its stages
//! together. If both stages have a constant of one name, it has one value, which each stage reads
//! by its own type.

use crate::outcome::{InputFault, InvalidInput};
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::{FunctionId, Semantic};
use crate::wsl::types::{Scalar, Type};
use crate::wsl::typing::program::Program;
use rustc_hash::FxHashMap;

/// The values of the specialization constants of some entry points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specialization {
    /// The word of each constant, by entry point and index of the flattened argument.
    words: FxHashMap<(FunctionId, u32), u32>,
}

/// The name and the type of a specialization constant. `None` for any other item.
fn constant<'p>(program: &'p Program, item: &Item) -> Option<(&'p str, Scalar)> {
    match (item.semantic, program.env.types.get(item.ty)) {
        (Some((Semantic::Specialized, _)), Type::Scalar(of)) => Some((program.env.names.name(item.name?), of)),
        _ => None,
    }
}

/// The specialization constants of an entry point, by name and type, in the order of its arguments.
pub fn constants<'p>(program: &'p Program, entry: &EntryPoint) -> Vec<(&'p str, Scalar)> {
    let mut all: Vec<(&str, Scalar)> = entry.inputs.iter().filter_map(|item| constant(program, item)).collect();
    // If a structure occurs twice, so do its constants.
    let mut seen = Vec::new();
    all.retain(|&(name, _)| {
        !seen.contains(&name) && {
            seen.push(name);
            true
        }
    });
    all
}

impl Specialization {
    /// Reads `(name, value)` pairs, for the constants of the entry points that run together.
    ///
    /// # Errors
    /// If a constant is not given or given twice, if a value is none of its constant's type, or if
    /// a name is no constant of these entry points.
    pub fn new(program: &Program, entries: &[&EntryPoint], pairs: &[(String, String)]) -> Result<Specialization, InvalidInput> {
        for (i, (name, _)) in pairs.iter().enumerate() {
            if pairs[..i].iter().any(|(other, _)| other == name) {
                return Err(InvalidInput::new(InputFault::Unused, format!("the specialization constant {name} is given twice")));
            }
            if !entries.iter().any(|e| constants(program, e).iter().any(|(other, _)| other == name)) {
                let mut all: Vec<String> = Vec::new();
                for (name, scalar) in entries.iter().flat_map(|e| constants(program, e)) {
                    let text = format!("{name} ({})", scalar.name());
                    if !all.contains(&text) {
                        all.push(text);
                    }
                }
                let all = if all.is_empty() { "there is none".to_string() } else { format!("there are: {}", all.join(", ")) };
                let entry_names =
                    entries.iter().map(|e| program.env.names.name(program.env.function(e.function).name.name)).collect::<Vec<_>>();
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("no specialization constant of {} is called {name}; {all}", entry_names.join(" and ")),
                ));
            }
        }
        let mut words = FxHashMap::default();
        for entry in entries {
            for (k, item) in entry.inputs.iter().enumerate() {
                let Some((name, scalar)) = constant(program, item) else { continue };
                let Some((_, value)) = pairs.iter().find(|(other, _)| other == name) else {
                    let function = program.env.names.name(program.env.function(entry.function).name.name);
                    return Err(InvalidInput::new(
                        InputFault::Missing,
                        format!(
                            "nothing is given for the specialization constant {name} ({}) of {function}: write --spec {name}=…",
                            scalar.name()
                        ),
                    ));
                };
                let word = word(value, scalar).ok_or_else(|| {
                    InvalidInput::new(
                        InputFault::Text,
                        format!("\"{value}\" for the specialization constant {name} is no {}", scalar.name()),
                    )
                })?;
                words.insert((entry.function, k as u32), word);
            }
        }
        Ok(Specialization { words })
    }

    /// The word of the `k`th flattened argument of an entry point (from 0). `None` if that is no
    /// specialization constant.
    pub fn word(&self, entry: &EntryPoint, k: usize) -> Option<u32> {
        self.words.get(&(entry.function, k as u32)).copied()
    }
}

/// The word of a value as text. A `bool` is `true` or `false`. An integer is decimal or
/// hexadecimal, and a `uint` may end in `u`. A `float` may end in `f`, or is `inf`, `-inf`
/// or `nan`.
fn word(text: &str, scalar: Scalar) -> Option<u32> {
    let magnitude = |digits: &str| match digits.strip_prefix("0x") {
        Some(hexadecimal) if hexadecimal.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hexadecimal, 16).ok(),
        None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    };
    match scalar {
        Scalar::Bool => match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        },
        Scalar::Uint => magnitude(text.strip_suffix('u').unwrap_or(text)),
        Scalar::Int => match text.strip_prefix('-') {
            Some(digits) => magnitude(digits).filter(|&m| m <= 1 << 31).map(u32::wrapping_neg),
            None => magnitude(text).filter(|&m| m < 1 << 31),
        },
        Scalar::Float => match text {
            "nan" => Some(0x7fc0_0000),
            "inf" => Some(f32::INFINITY.to_bits()),
            "-inf" => Some(f32::NEG_INFINITY.to_bits()),
            _ => {
                let number = text.strip_suffix('f').unwrap_or(text);
                let digits = number.strip_prefix('-').unwrap_or(number);
                let written = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.bytes().any(|b| b.is_ascii_digit());
                // A number that is too large for a float is no float.
                number.parse::<f32>().ok().filter(|x| written && x.is_finite()).map(f32::to_bits)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wsl::validate::validate;

    const PROGRAM: &str = "
        struct More { bool flip : specialized; int low : specialized; }
        vertex float4 place(uint id : SV_VertexID, float scale : specialized, uint count : specialized) : SV_Position { return float4(scale, scale, scale, scale); }
        fragment float4 shade(float scale : specialized, More more, More again) : SV_Target 0 { return float4(scale, scale, scale, scale); }
        [numthreads(1, 1, 1)] compute void none() { }";

    fn of(names: &[&str], given: &[(&str, &str)]) -> Result<Vec<u32>, InvalidInput> {
        let program = validate(PROGRAM).program.expect("it is valid");
        let entries: Vec<&EntryPoint> = names
            .iter()
            .map(|name| {
                let named = |e: &&EntryPoint| program.env.names.name(program.env.function(e.function).name.name) == *name;
                program.entry_points.iter().find(named).expect("it is there")
            })
            .collect();
        let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let found = Specialization::new(&program, &entries, &given)?;
        Ok(entries.iter().flat_map(|e| (0..e.inputs.len()).filter_map(|k| found.word(e, k)).collect::<Vec<_>>()).collect())
    }

    #[test]
    fn constants_are_given_by_name_and_read_by_type() {
        assert_eq!(of(&["place"], &[("count", "0xffffffff"), ("scale", "0.5")]), Ok(vec![0x3f00_0000, 0xffff_ffff]));
        // The constants of both stages together. A structure that occurs twice gets the
        // same values.
        let all = [("scale", "-2"), ("count", "7u"), ("flip", "true"), ("low", "-2147483648")];
        let (scale, low) = ((-2f32).to_bits(), 1 << 31);
        assert_eq!(of(&["place", "shade"], &all), Ok(vec![scale, 7, scale, 1, low, 1, low]));
        assert_eq!(of(&["none"], &[]), Ok(vec![]));
    }

    #[test]
    fn what_is_missing_unknown_given_twice_or_of_another_type_is_told() {
        for (names, given, said) in [
            (&["place"][..], &[("scale", "1.0")][..], "nothing is given for the specialization constant count (uint) of place"),
            (
                &["place"],
                &[("scale", "1"), ("count", "1"), ("low", "1")],
                "no specialization constant of place is called low; there are: scale (float), count (uint)",
            ),
            (&["none"], &[("low", "1")], "no specialization constant of none is called low; there is none"),
            (&["place"], &[("scale", "1"), ("count", "1"), ("scale", "1")], "scale is given twice"),
            (&["place"], &[("scale", "1"), ("count", "-1")], "\"-1\" for the specialization constant count is no uint"),
            (&["place"], &[("scale", "true"), ("count", "1")], "is no float"),
            (&["shade"], &[("scale", "1"), ("flip", "1"), ("low", "1")], "is no bool"),
            (&["shade"], &[("scale", "1"), ("flip", "true"), ("low", "2147483648")], "is no int"),
            (&["shade"], &[("scale", "1"), ("flip", "true"), ("low", "1.0")], "is no int"),
        ] {
            let error = of(names, given).expect_err(said);
            assert!(error.what.contains(said), "{error:?} lacks {said:?}");
        }
    }

    #[test]
    fn values_are_what_their_types_can_hold() {
        for (text, of, expected) in [
            ("4294967295", Scalar::Uint, Some(u32::MAX)),
            ("4294967296", Scalar::Uint, None),
            ("", Scalar::Uint, None),
            ("+1", Scalar::Uint, None),
            ("0x", Scalar::Uint, None),
            ("0x+1", Scalar::Uint, None),
            ("-2147483649", Scalar::Int, None),
            ("0x80000000", Scalar::Int, None),
            ("--1", Scalar::Int, None),
            ("1.5f", Scalar::Float, Some(0x3fc0_0000)),
            ("-.5", Scalar::Float, Some(0xbf00_0000)),
            ("nan", Scalar::Float, Some(0x7fc0_0000)),
            ("-inf", Scalar::Float, Some(0xff80_0000)),
            ("infinity", Scalar::Float, None),
            (".", Scalar::Float, None),
            ("1e3", Scalar::Float, None),
            ("340282356779733661637539395458142568448", Scalar::Float, None),
            ("TRUE", Scalar::Bool, None),
        ] {
            assert_eq!(word(text, of), expected, "{text:?} as {}", of.name());
        }
    }
}
