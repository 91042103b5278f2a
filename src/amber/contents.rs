//! The bytes of buffers: the initial contents that a script declares, and the contents that an
//! engine has left.

use std::collections::BTreeMap;
use std::ops::Range;

use smallstep_semantics::image::Codes;
use smallstep_semantics::number::sets::Set;

use super::scalar::{Class, Number, Scalar, Value, f16_bits};
use super::script::{Buffer, BufferId, Initial, Lane, Script};

/// How much is known of a byte. A greater variant means less knowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// All conforming devices have this byte.
    #[default]
    Decided,
    /// The byte belongs to a scalar with a few possible values, all of which are
    /// known: [`Contents::choice`].
    OneOf,
    /// A conforming device may have another byte. The possible values are not all known.
    Doubtful,
    /// The byte is undefined: it may have any value.
    Undefined,
}

impl Certainty {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Decided => "decided",
            Certainty::OneOf => "one-of",
            Certainty::Doubtful => "doubtful",
            Certainty::Undefined => "undefined",
        }
    }
}

/// The possible values of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The size of the scalar in bytes, at most 8.
    pub size: usize,
    /// The values as bits.
    pub codes: Codes,
}

impl Choice {
    /// All possible values. The NaNs count as one value.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        let nan = match self.codes.nan {
            16 => Some(0x7e00),
            32 => Some(0x7fc0_0000),
            _ => None,
        };
        std::iter::once(self.codes.best).chain(self.codes.others.iter().copied()).chain(nan)
    }
}

/// The bytes of a buffer, and how much is known of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The knowledge of each byte. Empty if all bytes are decided, and always for contents from
    /// a device.
    pub known: Vec<Certainty>,
    /// The scalars with a few possible values, by the offset of their first byte. Exactly their
    /// bytes are [`Certainty::OneOf`].
    choices: BTreeMap<usize, Choice>,
    /// The 32-bit floats with a bounded set of possible values, by the offset of their first byte.
    /// Their bytes are [`Certainty::Doubtful`].
    sets: BTreeMap<usize, Set>,
}

impl Contents {
    /// Contents whose bytes are all decided.
    pub fn of(bytes: Vec<u8>) -> Contents {
        Contents { bytes, ..Contents::default() }
    }

    /// The scalar with a few possible values that contains a byte, with the offset of its
    /// first byte.
    pub fn choice(&self, byte: usize) -> Option<(usize, &Choice)> {
        let (&start, choice) = self.choices.range(..=byte).next_back()?;
        (byte < start + choice.size).then_some((start, choice))
    }

    /// The possible values of a scalar. `None` if it has only one. An error if some byte of it is
    /// open for another reason: the byte, and how much is known of it.
    pub fn values(&self, offset: usize, size: usize) -> Result<Option<&Choice>, (usize, Certainty)> {
        match (self.open(offset, size), self.choices.get(&offset)) {
            (None, _) => Ok(None),
            (Some((_, Certainty::OneOf)), Some(choice)) if choice.size == size => Ok(Some(choice)),
            (Some(open), _) => Err(open),
        }
    }

    /// Writes the best of these values, and records all of them as possible. A scalar that exceeds
    /// the end is ignored.
    pub fn choose(&mut self, offset: usize, size: usize, codes: Codes) {
        let Some(bytes) = offset.checked_add(size).and_then(|end| self.bytes.get_mut(offset..end)).filter(|bytes| bytes.len() <= 8) else {
            return;
        };
        bytes.copy_from_slice(&codes.best.to_le_bytes()[..size]);
        if codes.any.is_some() {
            return self.mark(offset..offset + size, Certainty::Undefined);
        }
        if codes.is_exact() {
            return self.mark(offset..offset + size, Certainty::Decided);
        }
        self.mark(offset..offset + size, Certainty::OneOf);
        self.choices.insert(offset, Choice { size, codes });
    }

    /// The 32-bit float with a bounded set that contains a byte, with the offset of its first byte.
    pub fn set(&self, byte: usize) -> Option<(usize, Set)> {
        let (&start, &set) = self.sets.range(..=byte).next_back()?;
        (byte < start + 4).then_some((start, set))
    }

    /// All floats with a bounded set, by the offset of their first byte.
    pub fn sets(&self) -> impl Iterator<Item = (usize, Set)> + '_ {
        self.sets.iter().map(|(&start, &set)| (start, set))
    }

    /// Records that the 32-bit float at this offset may have any value of a set. Its bytes must
    /// be written already. A set of one member decides the float. A float that exceeds the end
    /// is ignored.
    pub fn bound(&mut self, offset: usize, set: Set) {
        let Some(bytes) = self.bytes.get_mut(offset..).and_then(|rest| rest.get_mut(..4)) else { return };
        if let Some(only) = set.only() {
            bytes.copy_from_slice(&(only as f32).to_le_bytes());
            return self.mark(offset..offset + 4, Certainty::Decided);
        }
        self.mark(offset..offset + 4, Certainty::Doubtful);
        self.sets.insert(offset, set);
    }

    /// Copies the knowledge of other contents, but not the bytes.
    pub fn know_as(&mut self, other: &Contents) {
        self.known = other.known.clone();
        self.choices = other.choices.clone();
        self.sets = other.sets.clone();
    }

    /// Copies a range of bytes from other contents, with the knowledge of them.
    pub fn take(&mut self, range: Range<usize>, other: &Contents) {
        let Some(from) = other.bytes.get(range.clone()) else { return };
        let Some(to) = self.bytes.get_mut(range.clone()) else { return };
        to.copy_from_slice(from);
        let mut at = range.start;
        while at < range.end {
            match other.choice(at) {
                Some((start, choice)) if start == at && at + choice.size <= range.end => {
                    self.mark(at..at + choice.size, Certainty::OneOf);
                    self.choices.insert(at, choice.clone());
                    at += choice.size;
                }
                Some(_) => {
                    self.mark(at..at + 1, Certainty::Doubtful);
                    at += 1;
                }
                None => {
                    self.mark(at..at + 1, other.known_at(at));
                    at += 1;
                }
            }
        }
        for (&at, &set) in other.sets.range(range.start..range.end) {
            if at + 4 <= range.end {
                self.sets.insert(at, set);
            }
        }
    }

    /// The knowledge of one byte.
    pub fn known_at(&self, offset: usize) -> Certainty {
        self.known.get(offset).copied().unwrap_or_default()
    }

    /// The byte in this range of which the least is known, with that knowledge. `None` if all are
    /// decided. The first of equal bytes counts.
    pub fn open(&self, offset: usize, size: usize) -> Option<(usize, Certainty)> {
        let mut found = None;
        for (at, &known) in self.known.iter().enumerate().skip(offset).take(size) {
            if known > found.map_or(Certainty::Decided, |(_, known)| known) {
                found = Some((at, known));
            }
        }
        found
    }

    /// Sets the knowledge of these bytes. Bytes past the end are ignored. If a scalar with several
    /// values loses some bytes, its other bytes become doubtful.
    pub fn mark(&mut self, range: Range<usize>, known: Certainty) {
        let first = self.choice(range.start).map_or(range.start, |(start, _)| start);
        let overlapping: Vec<usize> =
            if range.is_empty() { Vec::new() } else { self.choices.range(first..range.end).map(|(&at, _)| at).collect() };
        for at in overlapping {
            let Some(choice) = self.choices.remove(&at) else { continue };
            for certainty in self.known.iter_mut().take(at + choice.size).skip(at) {
                *certainty = Certainty::Doubtful;
            }
        }
        let reached = range.start.saturating_sub(3)..if range.is_empty() { 0 } else { range.end };
        if !self.sets.is_empty() && reached.start < reached.end {
            let overlapping: Vec<usize> = self.sets.range(reached).map(|(&at, _)| at).collect();
            for at in overlapping {
                self.sets.remove(&at);
            }
        }
        if self.known.is_empty() {
            if known == Certainty::Decided {
                return;
            }
            self.known = vec![Certainty::Decided; self.bytes.len()];
        }
        for certainty in self.known.iter_mut().take(range.end).skip(range.start) {
            *certainty = known;
        }
    }

    /// Writes a value. Fails if it exceeds the buffer.
    pub fn write(&mut self, lane: &Lane) -> Result<(), OutOfBounds> {
        let (start, size) = (lane.offset as usize, lane.scalar.size() as usize);
        let whole = self.bytes.len() as u64;
        let error = OutOfBounds { offset: lane.offset, size: size as u64, whole };
        let bytes = self.bytes.get_mut(start..).filter(|b| b.len() >= size).ok_or(error)?;
        lane.scalar.store(lane.bits, bytes);
        self.mark(start..start + size, Certainty::Decided);
        Ok(())
    }
}

/// An error: bytes that lie outside of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfBounds {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// The size of the buffer in bytes.
    pub whole: u64,
}

impl std::fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} bytes at {} lie outside the buffer's {} bytes", self.size, self.offset, self.whole)
    }
}

impl std::error::Error for OutOfBounds {}

/// The contents of all buffers of a script, in the order of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffers(pub Vec<Contents>);

impl std::ops::Index<BufferId> for Buffers {
    type Output = Contents;

    fn index(&self, place: BufferId) -> &Contents {
        &self.0[place.0]
    }
}

impl std::ops::IndexMut<BufferId> for Buffers {
    fn index_mut(&mut self, place: BufferId) -> &mut Contents {
        &mut self.0[place.0]
    }
}

impl Script {
    /// The initial contents of all buffers: at most [`super::limits::MAX_TOTAL_BYTES`]
    /// bytes together.
    pub fn contents(&self) -> Buffers {
        let of = |b: &Buffer| {
            let mut contents = Contents::of(b.bytes());
            // Levels that DATA does not cover are undefined.
            if let (Initial::Data(values), true) = (&b.initial, b.levels > 1) {
                let data_bytes = values.len() as u64 / b.layout.scalars.max(1) * b.stride;
                contents.mark(data_bytes as usize..contents.bytes.len(), Certainty::Undefined);
            }
            contents
        };
        Buffers(self.buffers.iter().map(of).collect())
    }
}

impl Buffer {
    /// The initial bytes. Padding is zero.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size() as usize];
        match &self.initial {
            Initial::Zero => {}
            Initial::Data(values) => {
                for (i, &bits) in values.iter().enumerate() {
                    let Some(slot) = self.slot(i as u64) else { break };
                    slot.scalar.store(bits, &mut bytes[slot.offset as usize..]);
                }
            }
            Initial::Fill(number) => {
                let Some((first, rest)) = bytes.split_at_mut_checked(self.stride as usize) else { return bytes };
                for i in 0..self.layout.scalars {
                    let Some(slot) = self.layout.slot(i) else { break };
                    // The reader has checked that every number has a value in its scalar type.
                    slot.scalar.store(slot.scalar.bits(number).unwrap_or(0), &mut first[slot.offset as usize..]);
                }
                for item in rest.chunks_exact_mut(first.len()) {
                    item.copy_from_slice(first);
                }
            }
            Initial::Series { from, by } => {
                let Some(slot) = self.layout.slot(0) else { return bytes };
                let mut sum = Sum::new(slot.scalar, from, by);
                for item in bytes.chunks_exact_mut(self.stride as usize) {
                    slot.scalar.store(sum.next(), item);
                }
            }
        }
        bytes
    }
}

/// The partial sums of a series. They are exact for integers. For floating-point types they are
/// added as doubles and then rounded.
struct Sum {
    scalar: Scalar,
    current: Value,
    step: Value,
}

impl Sum {
    fn new(scalar: Scalar, from: &Number, step: &Number) -> Sum {
        let value = |n: &Number| match scalar.class() {
            Class::Float => Value::Float(n.as_f64()),
            _ => Value::Integer(n.integer().unwrap_or(0)),
        };
        Sum { scalar, current: value(from), step: value(step) }
    }

    fn next(&mut self) -> u64 {
        match (&mut self.current, self.step) {
            (Value::Integer(at), Value::Integer(step)) => {
                let bits = self.scalar.bits_of_integer(*at).unwrap_or(0);
                *at += step;
                bits
            }
            (Value::Float(at), step) => {
                let value = *at;
                *at += step.as_f64();
                match self.scalar.size() {
                    2 => f16_bits(value).into(),
                    4 => (value as f32).to_bits().into(),
                    _ => value.to_bits(),
                }
            }
            _ => 0,
        }
    }
}

/// Checks that every item of a series has a value in the scalar type. The error is a sentence that
/// gives the reason.
pub(super) fn check_series(scalar: Scalar, from: &Number, by: &Number, items: u64) -> Result<(), String> {
    scalar.bits(from)?;
    if scalar.class() == Class::Float {
        let last = by.as_f64().mul_add(items as f64, from.as_f64());
        let greatest = match scalar {
            Scalar::Float16 => 65504.0,
            Scalar::Float32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        // The last value is inexact by rounding. That does not matter so far inside of the range.
        return if last.abs() <= greatest * 0.99 { Ok(()) } else { Err(format!("the series leaves the range of {}", scalar.name())) };
    }
    let integer = |n: &Number| n.integer().ok_or_else(|| format!("{n} is no value of the integer type {}", scalar.name()));
    let last = integer(from)? + integer(by)? * i128::from(items.saturating_sub(1));
    match scalar.bits_of_integer(last) {
        Some(_) => Ok(()),
        None => Err(format!("the series reaches {last}, outside the range of {}", scalar.name())),
    }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::{Numeric, pack};

    use super::*;

    fn half() -> Codes {
        pack(Numeric::Unorm, 8, 0.5f32.to_bits())
    }

    #[test]
    fn a_scalar_of_two_values_is_kept_until_it_is_written_over() {
        let mut contents = Contents::of(vec![0; 4]);
        contents.choose(1, 1, half());
        assert_eq!(
            (&contents.bytes[..], contents.known_at(1), contents.known_at(2)),
            (&[0, 128, 0, 0][..], Certainty::OneOf, Certainty::Decided)
        );
        let values = |contents: &Contents| contents.values(1, 1).map(|choice| choice.map(|c| c.all().collect::<Vec<_>>()));
        assert_eq!(values(&contents), Ok(Some(vec![128, 127])));
        assert_eq!(contents.values(0, 1), Ok(None));
        // As a part of a larger scalar, its values are unknown.
        assert_eq!(contents.values(0, 4), Err((1, Certainty::OneOf)));
        let mut copy = Contents::of(vec![9; 4]);
        copy.take(1..3, &contents);
        assert_eq!((copy.bytes.as_slice(), values(&copy)), (&[9, 128, 0, 9][..], values(&contents)));
        contents.mark(0..4, Certainty::Decided);
        assert_eq!((contents.choice(1), contents.open(0, 4)), (None, None));
    }

    #[test]
    fn a_float_of_a_set_is_doubtful_and_loses_it_by_a_byte() {
        let set = Set::point(1.0).union(Set::point(2.0));
        let mut contents = Contents::of(vec![0; 12]);
        contents.bound(4, set);
        contents.bound(10, set);
        assert_eq!([3, 4, 7, 8, 10].map(|at| contents.set(at)), [None, Some((4, set)), Some((4, set)), None, None]);
        assert_eq!((contents.known_at(4), contents.known_at(3)), (Certainty::Doubtful, Certainty::Decided));
        let mut copy = Contents::of(vec![0; 12]);
        copy.take(4..8, &contents);
        assert_eq!(copy.set(5), Some((4, set)));
        copy.take(5..12, &contents);
        assert_eq!((copy.set(5), copy.known_at(5)), (None, Certainty::Doubtful));
        contents.mark(7..8, Certainty::Decided);
        assert_eq!((contents.set(4), contents.known_at(4), contents.known_at(7)), (None, Certainty::Doubtful, Certainty::Decided));
        // A set of one member decides the float. The zeros of both signs are two members.
        contents.bound(4, Set::point(1.5));
        assert_eq!((contents.set(4), contents.open(4, 4), &contents.bytes[4..8]), (None, None, &1.5f32.to_le_bytes()[..]));
        contents.bound(4, Set::ZERO);
        assert_eq!((contents.set(4), contents.known_at(4)), (Some((4, Set::ZERO)), Certainty::Doubtful));
    }

    #[test]
    fn half_a_scalar_is_doubtful() {
        let mut contents = Contents::of(vec![0; 4]);
        contents.choose(0, 2, pack(Numeric::Unorm, 16, 0.3f32.to_bits()));
        contents.mark(1..2, Certainty::Decided);
        assert_eq!((contents.known_at(0), contents.known_at(1), contents.choice(0)), (Certainty::Doubtful, Certainty::Decided, None));
        contents.choose(3, 2, half());
        assert_eq!(contents.choice(3), None, "it does not lie inside");
    }
}
