//! The bytes of buffers: what a script says they hold at first, and what an engine has left in them.

use super::scalar::{Class, Number, Scalar, Value, f16_bits};
use super::script::{Buffer, BufferId, Initial, Lane, Script};

/// What is known of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// It holds this and nothing else.
    #[default]
    Decided,
    /// A conforming device may hold something else: the value is one of several that are not all known.
    Doubtful,
    /// It is undefined: any value.
    Undefined,
}

/// A buffer's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What is known of each byte. Empty where all are decided, and always in what a device gives back.
    pub known: Vec<Known>,
}

impl Contents {
    /// Decided bytes.
    pub fn of(bytes: Vec<u8>) -> Contents {
        Contents { bytes, known: Vec::new() }
    }

    /// What is known of one byte.
    pub fn known_at(&self, offset: usize) -> Known {
        self.known.get(offset).copied().unwrap_or_default()
    }

    /// The first of these bytes that is not decided, and what is known of it; an undefined one before a doubtful one.
    pub fn open(&self, offset: usize, size: usize) -> Option<(usize, Known)> {
        let known = self.known.iter().enumerate().skip(offset).take(size);
        let mut found = None;
        for (at, &known) in known {
            match known {
                Known::Undefined => return Some((at, known)),
                Known::Doubtful => found = found.or(Some((at, known))),
                Known::Decided => {}
            }
        }
        found
    }

    /// Says what is known of these bytes; those past the end are left out.
    pub fn mark(&mut self, range: std::ops::Range<usize>, known: Known) {
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
        Buffers(self.buffers.iter().map(|b| Contents::of(b.bytes())).collect())
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

/// The partial sums of a series: exact for integers, added up as doubles and then rounded for floating-point types.
struct Sum {
    scalar: Scalar,
    at: Value,
    by: Value,
}

impl Sum {
    fn new(scalar: Scalar, from: &Number, by: &Number) -> Sum {
        let value = |n: &Number| match (scalar.class(), n) {
            (Class::Float, n) => Value::Float(n.as_f64()),
            (_, &Number::Integer { negative, magnitude }) => {
                Value::Integer(if negative { -i128::from(magnitude) } else { magnitude.into() })
            }
            (_, Number::Decimal(_)) => Value::Integer(0),
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
    let integer = |n: &Number| match n {
        &Number::Integer { negative, magnitude } => Ok(if negative { -i128::from(magnitude) } else { i128::from(magnitude) }),
        Number::Decimal(_) => Err(format!("{n} is no value of the integer type {}", scalar.name())),
    };
    let last = integer(from)? + integer(by)? * i128::from(items.saturating_sub(1));
    match scalar.bits_of_integer(last) {
        Some(_) => Ok(()),
        None => Err(format!("the series reaches {last}, outside the range of {}", scalar.name())),
    }
}
