//! Amber scripts: read, printed, laid out, judged, refused, and hostile.

mod errors;
mod judging;
mod reading;
mod samples;
mod vkscript;

use smallstep::amber::{Script, ScriptError, read};

#[track_caller]
fn script(text: &str) -> Script {
    read(text).unwrap_or_else(|errors| panic!("{text}\n{}", lines(&errors)))
}

fn lines(errors: &[ScriptError]) -> String {
    errors.iter().map(|e| e.to_string() + "\n").collect()
}

/// Requires that the printed text reads back as the same script.
#[track_caller]
fn round_trip(script: &Script) {
    let text = script.print().unwrap_or_else(|e| panic!("{e}"));
    let again = read(&text).unwrap_or_else(|errors| panic!("{text}\n{}", lines(&errors)));
    assert_eq!(Script { dialect: script.dialect, ..again.clone() }, *script, "{text}");
    assert_eq!(again.print().as_ref(), Ok(&text));
}

/// The property of the fuzz target, over mutated samples.
#[test]
fn any_bytes_are_a_script_or_refused() {
    use smallstep::generate::Random;
    let samples = [samples::COMPUTE, samples::GRAPHICS, samples::VKSCRIPT];
    let words: Vec<Vec<&[u8]>> = samples.iter().map(|s| s.as_bytes().split_inclusive(|b| b.is_ascii_whitespace()).collect()).collect();
    let mut random = Random::new(22);
    let (mut read_on, mut refused) = (0, 0);
    for round in 0..12_000 {
        let sample = round % samples.len();
        let mut bytes = samples[sample].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u32) as usize;
            match random.below(6) {
                0 => bytes[at] = b"0123456789-.%#\\\n []xE"[random.below(21) as usize],
                1 => bytes.truncate(at.max(9)),
                // A line is lost or doubled.
                2 | 3 => {
                    let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
                    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n + 1);
                    let line = bytes[start..end].to_vec();
                    if random.below(2) == 0 {
                        bytes.drain(start..end);
                    } else {
                        bytes.splice(start..start, line);
                    }
                }
                // A word is replaced by a word of any sample.
                _ => {
                    let from = &words[random.below(3) as usize];
                    let word = from[random.below(from.len() as u32) as usize];
                    let start = bytes[..at].iter().rposition(u8::is_ascii_whitespace).map_or(0, |n| n + 1);
                    let end = bytes[at..].iter().position(u8::is_ascii_whitespace).map_or(bytes.len(), |n| at + n + 1).max(start);
                    bytes.splice(start..end, word.iter().copied());
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        smallstep::robust::amber(&bytes);
        match std::str::from_utf8(&bytes).map(read) {
            Ok(Ok(_)) => read_on += 1,
            _ => refused += 1,
        }
    }
    // The mutations give enough scripts and enough refusals.
    assert!(read_on > 500 && refused > 3_000, "{read_on} read, {refused} refused");
}
