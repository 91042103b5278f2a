//! The values of WSL literals: seed 004 "Literals". Every literal has a value. Typing decides
//! whether a type can represent it.

use crate::wsl::syntax::{IntLiteral, Magnitude};

/// The value of the integer literal `text`, which has no sign.
pub(super) fn integer(text: &str, negative: bool) -> IntLiteral {
    let digits = text.strip_suffix('u').unwrap_or(text);
    let (hexadecimal, magnitude) = match digits.strip_prefix("0x") {
        Some(digits) => (true, hexadecimal(digits)),
        None => (false, decimal(digits)),
    };
    IntLiteral { negative, unsigned: digits.len() < text.len(), hexadecimal, magnitude }
}

fn decimal(digits: &str) -> Magnitude {
    match digits.parse() {
        Ok(value) => Magnitude::Exact(value),
        Err(_) => Magnitude::Large(nearest(digits)),
    }
}

fn hexadecimal(digits: &str) -> Magnitude {
    let digits = digits.trim_start_matches('0');
    if digits.len() <= 16 {
        return Magnitude::Exact(digits.bytes().fold(0, |value, digit| value << 4 | nibble(digit)));
    }
    // The first 64 bits round as the whole number does, if the last of them is also set when any
    // bit after them is.
    let (first, rest) = digits.as_bytes().split_at(16);
    let first = first.iter().fold(0, |value, &digit| value << 4 | nibble(digit));
    let sticky = u64::from(rest.iter().any(|&digit| digit != b'0'));
    let scale = if rest.len() < 32 { 2f64.powi(4 * rest.len() as i32) } else { f64::INFINITY };
    Magnitude::Large((f64::from((first | sticky) as f32) * scale) as f32)
}

fn nibble(digit: u8) -> u64 {
    u64::from((digit as char).to_digit(16).unwrap_or_default())
}

/// The value of the float literal `text`, which has no sign: the nearest float.
pub(super) fn float(text: &str, negative: bool) -> f32 {
    let magnitude = nearest(text.strip_suffix('f').unwrap_or(text));
    if negative { -magnitude } else { magnitude }
}

/// The nearest float. Rust's parser of floats rounds correctly and takes every form of
/// the language.
fn nearest(text: &str) -> f32 {
    text.parse().unwrap_or(f32::INFINITY)
}
