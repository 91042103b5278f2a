//! The contents of a resolve attachment after a draw: Vulkan, Multisample Resolve (Render Pass).
//!
//! For fractions and floats, each component is the average of the samples. For integers, it is one
//! sample's. No clause specifies the rounding of an average, so it may be either neighbour of the
//! exact value. 32-bit floats are within a few units of the last place.

use smallstep_semantics::image::Codes;
use smallstep_semantics::number::Interval;
use smallstep_semantics::number::integer::signed;
use smallstep_semantics::number::sets::Set;

use super::keep::MAX_ORIGINS;
use super::play::Player;
use crate::amber::format::{Field, Numeric};
use crate::amber::{BufferId, Certainty, Contents, Line};

/// The most codes of an average that are listed.
const MAX_CODES: i64 = 16;

/// The result for one component of a texel.
enum Resolved {
    Codes(Codes),
    /// The average of floats, and the greatest magnitude of the samples.
    Float(f64, f64),
    Open(Certainty),
}

/// The codes that a component of a sample may have. The error is how much is known of it otherwise.
fn codes_of(contents: &Contents, start: usize, size: usize) -> Result<Vec<u64>, Certainty> {
    match contents.values(start, size) {
        Ok(Some(choice)) => Ok(choice.all().collect()),
        Ok(None) => {
            let bytes = contents.bytes.get(start..start + size).ok_or(Certainty::Doubtful)?;
            Ok(vec![bytes.iter().rev().fold(0, |code, byte| code << 8 | u64::from(*byte))])
        }
        Err((_, known)) => Err(known.max(Certainty::Doubtful)),
    }
}

/// The average of samples. Each item has the possible codes of one sample.
fn average(numeric: Numeric, bits: u32, samples: &[Vec<u64>]) -> Resolved {
    let exactly = |best: u64| Codes { best, others: Default::default(), nan: 0, any: None };
    let first = samples[0][0];
    if samples.iter().all(|codes| codes[..] == [first]) {
        return Resolved::Codes(exactly(first));
    }
    match numeric {
        Numeric::Unorm | Numeric::Snorm => {
            let number = |code: &u64| match numeric {
                // The least code also stands for -1.
                Numeric::Snorm => signed(bits as u8, *code).max(1 - (1i64 << (bits - 1))),
                _ => *code as i64,
            };
            let total =
                |choose: fn(i64, i64) -> i64| samples.iter().filter_map(|codes| codes.iter().map(number).reduce(choose)).sum::<i64>();
            let (low, high, count) = (total(i64::min), total(i64::max), samples.len() as i64);
            let (low, high) = (low.div_euclid(count), -(-high).div_euclid(count));
            if high - low > MAX_CODES {
                return Resolved::Open(Certainty::Doubtful);
            }
            let best = samples.iter().map(|codes| number(&codes[0])).sum::<i64>();
            let best = ((2 * best + count).div_euclid(2 * count)).clamp(low, high);
            let code = |number: i64| number as u64 & (u64::MAX >> (64 - bits));
            let others = (low..=high).filter(|number| *number != best).map(code).collect();
            Resolved::Codes(Codes { others, ..exactly(code(best)) })
        }
        Numeric::Uint | Numeric::Sint => {
            let mut others: Vec<u64> = samples.iter().flatten().copied().filter(|code| *code != first).collect();
            others.sort_unstable();
            others.dedup();
            if others.len() as i64 > MAX_CODES {
                return Resolved::Open(Certainty::Doubtful);
            }
            Resolved::Codes(Codes { others: others.into_iter().collect(), ..exactly(first) })
        }
        Numeric::Sfloat if bits == 32 && samples.iter().all(|codes| codes.len() == 1) => {
            let values = || samples.iter().map(|codes| f64::from(f32::from_bits(codes[0] as u32)));
            Resolved::Float(values().sum::<f64>() / samples.len() as f64, values().map(f64::abs).fold(0.0, f64::max))
        }
        _ => Resolved::Open(Certainty::Doubtful),
    }
}

impl Player<'_> {
    /// Resolves the colour attachments of a pipeline. Returns the resolve attachments.
    pub(super) fn resolve(&mut self, pairs: &[(BufferId, BufferId)], line: Line) -> Vec<BufferId> {
        for &(from, to) in pairs {
            let (Some(format), samples) = (self.script[to].format(), self.script[from].samples) else { continue };
            let contents = self.buffers[from].clone();
            let mut resolved = self.buffers[to].clone();
            let (size, whole) = (format.texel_size() as usize, resolved.bytes.len());
            resolved.mark(0..whole, Certainty::Decided);
            let mut open = Vec::new();
            for texel in (0..whole).step_by(size) {
                // If components are no whole bytes, the texel is treated as one component.
                let parts: Vec<(usize, u32, Numeric)> = match format.is_packed() {
                    true => vec![(0, 8 * size as u32, Numeric::Srgb)],
                    false => format
                        .fields()
                        .into_iter()
                        .map(|Field { offset, bits, .. }| (offset as usize / 8, bits, format.numeric()))
                        .collect(),
                };
                for (offset, bits, numeric) in parts {
                    let (start, bytes) = (texel + offset, bits as usize / 8);
                    let sample_codes = |sample: u32| codes_of(&contents, sample as usize * whole + start, bytes);
                    let found = match (0..samples).map(sample_codes).collect::<Result<Vec<_>, Certainty>>() {
                        Ok(codes) => average(numeric, bits, &codes),
                        Err(known) => Resolved::Open(known),
                    };
                    match found {
                        Resolved::Codes(codes) => resolved.choose(start, bytes, codes),
                        Resolved::Float(value, greatest) if value.is_finite() => {
                            resolved.bytes[start..start + 4].copy_from_slice(&(value as f32).to_le_bytes());
                            let error_bound = greatest / f64::from(1 << 20) + f64::from(f32::MIN_POSITIVE);
                            resolved.bound(start, Set::of_f32(Interval::point(value).widened(error_bound)));
                        }
                        Resolved::Float(..) => resolved.mark(start..start + bytes, Certainty::Doubtful),
                        Resolved::Open(known) => resolved.mark(start..start + bytes, known),
                    }
                    if resolved.known_at(start) > Certainty::Decided && open.len() < MAX_ORIGINS {
                        open.push(start..start + bytes);
                    }
                }
            }
            self.buffers[to] = resolved;
            self.origins[to.0] = Vec::new();
            for range in open {
                self.note(to, range, format!("resolved of samples that differ, in line {line}"));
            }
        }
        pairs.iter().map(|(_, to)| *to).collect()
    }
}

/// The resolved colour attachments of a pipeline, each with its resolve attachment.
pub(super) fn pairs(pipeline: &crate::amber::Pipeline) -> Vec<(BufferId, BufferId)> {
    pipeline.colours.iter().map(|(_, view)| view.buffer).zip(pipeline.resolves.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_either_neighbour_of_the_exact_one() {
        let average_of = |numeric, bits, codes: &[u64]| average(numeric, bits, &codes.iter().map(|code| vec![*code]).collect::<Vec<_>>());
        let codes = |resolved| match resolved {
            Resolved::Codes(codes) => (codes.best, codes.others.into_iter().collect::<Vec<_>>()),
            _ => panic!("no codes"),
        };
        assert_eq!(codes(average_of(Numeric::Unorm, 8, &[255, 255, 255, 255])), (255, vec![]));
        assert_eq!(codes(average_of(Numeric::Unorm, 8, &[255, 0, 0, 0])), (64, vec![63]));
        assert_eq!(codes(average_of(Numeric::Unorm, 8, &[100, 0, 0, 0])), (25, vec![]));
        assert_eq!(codes(average_of(Numeric::Snorm, 8, &[0x81, 0])), (0xc1, vec![0xc0]));
        assert_eq!(codes(average_of(Numeric::Uint, 32, &[7, 9, 7, 7])), (7, vec![9]));
        assert!(
            matches!(average_of(Numeric::Sfloat, 32, &[1f32.to_bits().into(), 0]), Resolved::Float(value, greatest) if (value, greatest) == (0.5, 1.0))
        );
        assert!(matches!(average_of(Numeric::Srgb, 8, &[1, 2]), Resolved::Open(Certainty::Doubtful)));
        let either = [vec![0, 4], vec![1]];
        assert_eq!(codes(average(Numeric::Unorm, 8, &either)), (1, vec![0, 2, 3]));
    }
}
