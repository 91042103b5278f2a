//! The bytes of buffers: what a script says they hold at first, and what an engine
//! has left in them.

use std::collections::BTreeMap;
use std::ops::Range;

use smallstep_semantics::image::Codes;
use smallstep_semantics::number::sets::Set;

use super::scalar::{Class, Number, Scalar, Value, f16_bits};
use super::script::{Buffer, BufferId, Initial, Lane, Script};

/// What is known of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// It holds this and nothing else.
    #[default]
    Decided,
    /// It is of a scalar that holds one of a few values, all of which are known:
    /// [`Contents::choice`].
    OneOf,
    /// A conforming device may hold something else: the value is one of several that
    /// are not all known.
    Doubtful,
    /// It is undefined: any value.
    Undefined,
}

impl Known {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Known::Decided => "decided",
            Known::OneOf => "one-of",
            Known::Doubtful => "doubtful",
            Known::Undefined => "undefined",
        }
    }
}

/// The values of which a scalar holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Bytes of the scalar, 8 at most.
    pub size: usize,
    /// The values as bits.
    pub codes: Codes,
}

impl Choice {
    /// Every value, all NaNs as one.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        let nan = match self.codes.nan {
            16 => Some(0x7e00),
            32 => Some(0x7fc0_0000),
            _ => None,
        };
        std::iter::once(self.codes.best).chain(self.codes.others.iter().copied()).chain(nan)
    }
}

/// A buffer's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What is known of each byte. Empty where all are decided, and always in what
    /// a device gives back.
    pub known: Vec<Known>,
    /// By first byte, of which values a scalar holds one; its bytes are [`Known::OneOf`], and no
    /// others are.
    choices: BTreeMap<usize, Choice>,
    /// By first byte, of which bounded set a 32-bit float is one; its bytes are
    /// [`Known::Doubtful`].
    sets: BTreeMap<usize, Set>,
}

impl Contents {
    /// Decided bytes.
    pub fn of(bytes: Vec<u8>) -> Contents {
        Contents { bytes, ..Contents::default() }
    }

    /// The scalar that a byte belongs to, by its first byte, if it holds one of a few values.
    pub fn choice(&self, byte: usize) -> Option<(usize, &Choice)> {
        let (&start, choice) = self.choices.range(..=byte).next_back()?;
        (byte < start + choice.size).then_some((start, choice))
    }

    /// The values that a scalar may have; none if it has one. An error for a byte that says
    /// nothing, and what is known of it.
    pub fn values(&self, offset: usize, size: usize) -> Result<Option<&Choice>, (usize, Known)> {
        match (self.open(offset, size), self.choices.get(&offset)) {
            (None, _) => Ok(None),
            (Some((_, Known::OneOf)), Some(choice)) if choice.size == size => Ok(Some(choice)),
            (Some(open), _) => Err(open),
        }
    }

    /// Puts in place what is one of these values, the best one as bytes. A scalar past the end is
    /// left out.
    pub fn choose(&mut self, offset: usize, size: usize, codes: Codes) {
        let Some(bytes) = offset.checked_add(size).and_then(|end| self.bytes.get_mut(offset..end)).filter(|bytes| bytes.len() <= 8) else {
            return;
        };
        bytes.copy_from_slice(&codes.best.to_le_bytes()[..size]);
        if codes.any.is_some() {
            return self.mark(offset..offset + size, Known::Undefined);
        }
        if codes.is_exact() {
            return self.mark(offset..offset + size, Known::Decided);
        }
        self.mark(offset..offset + size, Known::OneOf);
        self.choices.insert(offset, Choice { size, codes });
    }

    /// The 32-bit float that a byte belongs to, by its first byte, if it may be any
    /// of a bounded set.
    pub fn set(&self, byte: usize) -> Option<(usize, Set)> {
        let (&start, &set) = self.sets.range(..=byte).next_back()?;
        (byte < start + 4).then_some((start, set))
    }

    /// All that may be any of a bounded set, by first byte.
    pub fn sets(&self) -> impl Iterator<Item = (usize, Set)> + '_ {
        self.sets.iter().map(|(&start, &set)| (start, set))
    }

    /// Says that the 32-bit float whose first byte this is, and whose bytes are in place, may be
    /// any of a set; if it has one member, the float is decided. One past the end is left out.
    pub fn bound(&mut self, offset: usize, set: Set) {
        let Some(bytes) = self.bytes.get_mut(offset..).and_then(|rest| rest.get_mut(..4)) else { return };
        if let Some(only) = set.only() {
            bytes.copy_from_slice(&(only as f32).to_le_bytes());
            return self.mark(offset..offset + 4, Known::Decided);
        }
        self.mark(offset..offset + 4, Known::Doubtful);
        self.sets.insert(offset, set);
    }

    /// Takes over what is known of the bytes of another, not the bytes.
    pub fn know_as(&mut self, other: &Contents) {
        self.known = other.known.clone();
        self.choices = other.choices.clone();
        self.sets = other.sets.clone();
    }

    /// Takes over some bytes of another, and what is known of them.
    pub fn take(&mut self, range: Range<usize>, other: &Contents) {
        let Some(from) = other.bytes.get(range.clone()) else { return };
        let Some(to) = self.bytes.get_mut(range.clone()) else { return };
        to.copy_from_slice(from);
        let mut at = range.start;
        while at < range.end {
            match other.choice(at) {
                Some((start, choice)) if start == at && at + choice.size <= range.end => {
                    self.mark(at..at + choice.size, Known::OneOf);
                    self.choices.insert(at, choice.clone());
                    at += choice.size;
                }
                Some(_) => {
                    self.mark(at..at + 1, Known::Doubtful);
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

    /// What is known of one byte.
    pub fn known_at(&self, offset: usize) -> Known {
        self.known.get(offset).copied().unwrap_or_default()
    }

    /// The first of these bytes of which least is known, if any is not decided, and what is known
    /// of it.
    pub fn open(&self, offset: usize, size: usize) -> Option<(usize, Known)> {
        let mut found = None;
        for (at, &known) in self.known.iter().enumerate().skip(offset).take(size) {
            if known > found.map_or(Known::Decided, |(_, known)| known) {
                found = Some((at, known));
            }
        }
        found
    }

    /// Says what is known of these bytes; those past the end are left out. Of a scalar of several
    /// values that loses some bytes the others are doubtful.
    pub fn mark(&mut self, range: Range<usize>, known: Known) {
        let first = self.choice(range.start).map_or(range.start, |(start, _)| start);
        let lost: Vec<usize> =
            if range.is_empty() { Vec::new() } else { self.choices.range(first..range.end).map(|(&at, _)| at).collect() };
        for at in lost {
            let Some(choice) = self.choices.remove(&at) else { continue };
            for one in self.known.iter_mut().take(at + choice.size).skip(at) {
                *one = Known::Doubtful;
            }
        }
        let reached = range.start.saturating_sub(3)..if range.is_empty() { 0 } else { range.end };
        if !self.sets.is_empty() && reached.start < reached.end {
            let lost: Vec<usize> = self.sets.range(reached).map(|(&at, _)| at).collect();
            for at in lost {
                self.sets.remove(&at);
            }
        }
        if self.known.is_empty() {
            if known == Known::Decided {
                return;
            }
            self.known = vec![Known::Decided; self.bytes.len()];
        }
        for one in self.known.iter_mut().take(range.end).skip(range.start) {
            *one = known;
        }
    }

    /// Puts a value in place. Fails if it does not lie inside.
    pub fn write(&mut self, lane: &Lane) -> Result<(), OutOfBounds> {
        let (start, size) = (lane.offset as usize, lane.scalar.size() as usize);
        let whole = self.bytes.len() as u64;
        let out = OutOfBounds { offset: lane.offset, size: size as u64, whole };
        let bytes = self.bytes.get_mut(start..).filter(|b| b.len() >= size).ok_or(out)?;
        lane.scalar.store(lane.bits, bytes);
        self.mark(start..start + size, Known::Decided);
        Ok(())
    }
}

/// Bytes that lie outside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfBounds {
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub size: u64,
    /// How many the buffer has.
    pub whole: u64,
}

impl std::fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} bytes at {} lie outside the buffer's {} bytes", self.size, self.offset, self.whole)
    }
}

impl std::error::Error for OutOfBounds {}

/// The bytes of all buffers of a script, in its order.
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
    /// What all buffers hold at first: at most [`super::limits::MAX_TOTAL_BYTES`] bytes together.
    pub fn contents(&self) -> Buffers {
        let of = |b: &Buffer| {
            let mut contents = Contents::of(b.bytes());
            // Levels that DATA does not give hold anything.
            if let (Initial::Data(values), true) = (&b.initial, b.levels > 1) {
                let given = values.len() as u64 / b.layout.scalars.max(1) * b.stride;
                contents.mark(given as usize..contents.bytes.len(), Known::Undefined);
            }
            contents
        };
        Buffers(self.buffers.iter().map(of).collect())
    }
}

impl Buffer {
    /// What it holds at first, padding as zeros.
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
                    // A script holds only numbers that every scalar of the type has.
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

/// The partial sums of a series: exact for integers, added up as doubles and then rounded for
/// floating-point types.
struct Sum {
    scalar: Scalar,
    at: Value,
    by: Value,
}

impl Sum {
    fn new(scalar: Scalar, from: &Number, by: &Number) -> Sum {
        let value = |n: &Number| match scalar.class() {
            Class::Float => Value::Float(n.as_f64()),
            _ => Value::Integer(n.integer().unwrap_or(0)),
        };
        Sum { scalar, at: value(from), by: value(by) }
    }

    fn next(&mut self) -> u64 {
        match (&mut self.at, self.by) {
            (Value::Integer(at), Value::Integer(by)) => {
                let bits = self.scalar.bits_of_integer(*at).unwrap_or(0);
                *at += by;
                bits
            }
            (Value::Float(at), by) => {
                let value = *at;
                *at += by.as_f64();
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

/// Whether every item of a series has its scalar's type, or a sentence that says why not.
pub(super) fn check_series(scalar: Scalar, from: &Number, by: &Number, items: u64) -> Result<(), String> {
    scalar.bits(from)?;
    if scalar.class() == Class::Float {
        let last = by.as_f64().mul_add(items as f64, from.as_f64());
        let greatest = match scalar {
            Scalar::Float16 => 65504.0,
            Scalar::Float32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        // The last value is off by rounding; that does not matter so far inside.
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
        let mut held = Contents::of(vec![0; 4]);
        held.choose(1, 1, half());
        assert_eq!((&held.bytes[..], held.known_at(1), held.known_at(2)), (&[0, 128, 0, 0][..], Known::OneOf, Known::Decided));
        let values = |held: &Contents| held.values(1, 1).map(|choice| choice.map(|c| c.all().collect::<Vec<_>>()));
        assert_eq!(values(&held), Ok(Some(vec![128, 127])));
        assert_eq!(held.values(0, 1), Ok(None));
        // As a part of a greater scalar it says nothing.
        assert_eq!(held.values(0, 4), Err((1, Known::OneOf)));
        let mut copy = Contents::of(vec![9; 4]);
        copy.take(1..3, &held);
        assert_eq!((copy.bytes.as_slice(), values(&copy)), (&[9, 128, 0, 9][..], values(&held)));
        held.mark(0..4, Known::Decided);
        assert_eq!((held.choice(1), held.open(0, 4)), (None, None));
    }

    #[test]
    fn a_float_of_a_set_is_doubtful_and_loses_it_by_a_byte() {
        let set = Set::point(1.0).union(Set::point(2.0));
        let mut held = Contents::of(vec![0; 12]);
        held.bound(4, set);
        held.bound(10, set);
        assert_eq!([3, 4, 7, 8, 10].map(|at| held.set(at)), [None, Some((4, set)), Some((4, set)), None, None]);
        assert_eq!((held.known_at(4), held.known_at(3)), (Known::Doubtful, Known::Decided));
        let mut copy = Contents::of(vec![0; 12]);
        copy.take(4..8, &held);
        assert_eq!(copy.set(5), Some((4, set)));
        copy.take(5..12, &held);
        assert_eq!((copy.set(5), copy.known_at(5)), (None, Known::Doubtful));
        held.mark(7..8, Known::Decided);
        assert_eq!((held.set(4), held.known_at(4), held.known_at(7)), (None, Known::Doubtful, Known::Decided));
        // Of one member it is that float; either zero is two.
        held.bound(4, Set::point(1.5));
        assert_eq!((held.set(4), held.open(4, 4), &held.bytes[4..8]), (None, None, &1.5f32.to_le_bytes()[..]));
        held.bound(4, Set::ZERO);
        assert_eq!((held.set(4), held.known_at(4)), (Some((4, Set::ZERO)), Known::Doubtful));
    }

    #[test]
    fn half_a_scalar_is_doubtful() {
        let mut held = Contents::of(vec![0; 4]);
        held.choose(0, 2, pack(Numeric::Unorm, 16, 0.3f32.to_bits()));
        held.mark(1..2, Known::Decided);
        assert_eq!((held.known_at(0), held.known_at(1), held.choice(0)), (Known::Doubtful, Known::Decided, None));
        held.choose(3, 2, half());
        assert_eq!(held.choice(3), None, "it does not lie inside");
    }
}
