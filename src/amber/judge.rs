//! Judging what a script expects against what buffers hold.
//!
//! The documents of AmberScript name the comparisons and leave these points open; they are decided as Amber does them, with the exceptions
//! that are named:
//! - EQ and NE compare by value. Zeros of either sign are equal; 64-bit floats within one part in 10^8 are equal. A NaN equals nothing here;
//!   Amber takes it for equal to everything.
//! - LT, LE, GT and GE do not hold for a NaN. In Amber they do.
//! - A tolerance in per cent is of the expected value; in EQ_RGB and EQ_RGBA of the value found.
//! - EQ_RGB and EQ_RGBA compare a component c of the script as c / 255 with the texel's value (normalized, linear for sRGB, or float), and
//!   only the components that the format has; without a tolerance 0.002 is allowed. Integer formats are refused by the reader: what 255 means
//!   for them differs between Amber's documents and Amber.
//! - EQ_BUFFER compares bytes, padding too.
//! - RMSE_BUFFER takes all scalars, normalized ones as their integers; differences of integers are exact here, where Amber's may wrap.
//! - EQ_HISTOGRAM_EMD_BUFFER makes for each of four 8-bit channels a histogram of 256 bins divided by the number of texels; the distance is
//!   the sum of the absolute values of the cumulated differences, divided by 256; the greatest of the four counts.
//!
//! A byte that is not decided decides nothing: an expectation that depends on one is open, unless it fails on decided bytes alone. What it depends
//! on says how: on an undefined byte anything may be found; on a doubtful one, one of several values that are not all known, so that a tolerance
//! decides nothing either.

use super::contents::{Buffers, Contents, Known};
use super::format::{Channel, Format};
use super::limits::MAX_FAILURES;
use super::scalar::{Scalar, Value};
use super::script::{Buffer, BufferId, Check, Comparator, Expect, Lane, Line, Script, Tolerance};
use std::fmt;

/// What a texel may be off by where EQ_RGB and EQ_RGBA say nothing.
pub const TEXEL_TOLERANCE: f64 = 0.002;
/// What part of a 64-bit float EQ lets it be off by.
pub const DOUBLE_TOLERANCE: f64 = 1e-8;

/// Where an expectation does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the EXPECT.
    pub line: Line,
    /// The buffer's name.
    pub buffer: String,
    /// Where in it, as `IDX 12` or `texel (3, 4)`; empty for the buffer as a whole.
    pub place: String,
    /// What it holds there.
    pub found: String,
    /// What it should.
    pub expected: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = if self.place.is_empty() { "" } else { ", " };
        write!(f, "line {}: buffer {}{comma}{}: found {}, expected {}", self.line, self.buffer, self.place, self.found, self.expected)
    }
}

/// What is to be said about one expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Where it fails: the first [`MAX_FAILURES`].
    pub failures: Vec<Failure>,
    /// At how many places it fails.
    pub failed: u64,
    /// What leaves it open: the first undefined byte that it depends on, or if there is none the first doubtful one.
    pub open: Option<Open>,
}

/// A byte that leaves an expectation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Whose byte.
    pub buffer: BufferId,
    /// Which.
    pub byte: usize,
    /// What is known of it.
    pub known: Known,
    /// Where it is looked at, as `line 3: buffer b, IDX 4`.
    pub place: String,
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = if self.known == Known::Undefined { "the value is undefined" } else { "devices may hold other values" };
        write!(f, "{}: {known}", self.place)
    }
}

/// A judgement in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It holds.
    Holds,
    /// It fails, whatever open bytes hold.
    Fails,
    /// It depends on doubtful bytes.
    Undecided,
    /// It depends on undefined bytes.
    Undefined,
}

impl Decision {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Holds => "holds",
            Decision::Fails => "fails",
            Decision::Undecided => "undecided",
            Decision::Undefined => "undefined",
        }
    }
}

impl Judgement {
    /// In one word.
    pub fn decision(&self) -> Decision {
        match (self.failed, &self.open) {
            (0, None) => Decision::Holds,
            (0, Some(Open { known: Known::Undefined, .. })) => Decision::Undefined,
            (0, Some(_)) => Decision::Undecided,
            _ => Decision::Fails,
        }
    }
}

/// Judges one expectation of a script against the contents of its buffers.
pub fn judge(script: &Script, expect: &Expect, buffers: &Buffers) -> Judgement {
    let subject = &script[expect.buffer];
    let held = &buffers[expect.buffer];
    let judge = Judge { script, id: expect.buffer, buffer: subject, held, buffers, line: expect.line, result: Judgement::default() };
    match &expect.check {
        Check::Values { comparator, tolerance, lanes } => judge.values(*comparator, tolerance, lanes),
        Check::Colour { rect, colour, alpha, tolerance } => judge.colour(*rect, *colour, *alpha, tolerance),
        Check::EqBuffer(other) => judge.equal(*other),
        Check::RmseBuffer(other, most) => judge.rmse(*other, most.value()),
        Check::HistogramEmdBuffer(other, most) => judge.emd(*other, most.value()),
    }
}

struct Judge<'s> {
    script: &'s Script,
    id: BufferId,
    buffer: &'s Buffer,
    held: &'s Contents,
    buffers: &'s Buffers,
    line: Line,
    result: Judgement,
}

impl Judge<'_> {
    fn fail(&mut self, place: impl FnOnce() -> String, found: impl fmt::Display, expected: impl fmt::Display) {
        self.result.failed += 1;
        if self.result.failures.len() < MAX_FAILURES {
            self.result.failures.push(Failure {
                line: self.line,
                buffer: self.buffer.name.clone(),
                place: place(),
                found: found.to_string(),
                expected: expected.to_string(),
            });
        }
    }

    fn open(&mut self, buffer: BufferId, (byte, known): (usize, Known), place: impl FnOnce() -> String) {
        if self.result.open.as_ref().is_none_or(|open| open.known < known) {
            let place = format!("line {}: buffer {}, {}", self.line, self.buffer.name, place());
            self.result.open = Some(Open { buffer, byte, known, place });
        }
    }

    fn values(mut self, comparator: Comparator, tolerance: &[Tolerance], lanes: &[Lane]) -> Judgement {
        for lane in lanes {
            let place = || format!("IDX {}", lane.offset);
            let size = lane.scalar.size() as usize;
            let start = usize::try_from(lane.offset).unwrap_or(usize::MAX);
            let expected = lane.scalar.value(lane.bits);
            let Some(bytes) = self.held.bytes.get(start..).filter(|b| b.len() >= size) else {
                self.fail(place, format!("the end of the buffer's {} bytes", self.held.bytes.len()), expected);
                continue;
            };
            if let Some(open) = self.held.open(start, size) {
                self.open(self.id, open, place);
                continue;
            }
            let found = lane.scalar.value(lane.scalar.load(bytes));
            let allowed = match tolerance {
                [] => None,
                [one] => Some(*one),
                several => Some(several.get(lane.component as usize).copied().unwrap_or(EXACT)),
            };
            if !holds(lane.scalar, comparator, allowed, found, expected) {
                self.fail(place, found, Wanted { comparator, allowed, expected });
            }
        }
        self.result
    }

    fn colour(mut self, rect: [u32; 4], colour: [u8; 4], alpha: bool, tolerance: &[Tolerance]) -> Judgement {
        let [left, top, width, height] = rect.map(u64::from);
        let (Some(format), Some((columns, rows))) = (self.buffer.format(), self.buffer.extent.image()) else {
            self.fail(String::new, "no image", "an image");
            return self.result;
        };
        if left + width > u64::from(columns) || top + height > u64::from(rows) {
            let whole = format!("an image of {columns} by {rows}");
            self.fail(String::new, whole, format!("one that reaches ({}, {})", left + width, top + height));
            return self.result;
        }
        for y in top..top + height {
            for x in left..left + width {
                let start = ((y * u64::from(columns) + x) * self.buffer.stride) as usize;
                let place = || format!("texel ({x}, {y})");
                let size = format.texel_size() as usize;
                let held = self.held;
                let Some(texel) = held.bytes.get(start..).filter(|b| b.len() >= size) else {
                    self.fail(place, format!("the end of the buffer's {} bytes", held.bytes.len()), "a texel");
                    return self.result;
                };
                let texel = Texel { format, bytes: &texel[..size], known: held.known.get(start..start + size).unwrap_or(&[]) };
                let (mut wrong, mut open) = (false, None);
                for (c, found, unknown) in texel.components() {
                    if c == 3 && !alpha {
                        continue;
                    }
                    let allowed = match tolerance {
                        [] => Tolerance { amount: TEXEL_TOLERANCE.into(), percent: false },
                        [one] => *one,
                        several => several.get(c).copied().unwrap_or(EXACT),
                    };
                    let amount = allowed.amount.value() * if allowed.percent { found.abs() / 100.0 } else { 1.0 };
                    let near = (found - f64::from(colour[c]) / 255.0).abs() <= amount;
                    wrong |= unknown.is_none() && !near;
                    if let Some((at, known)) = unknown
                        && open.is_none_or(|(_, before)| before < known)
                    {
                        open = Some((start + at, known));
                    }
                }
                if wrong {
                    let count = if alpha { 4 } else { 3 };
                    self.fail(place, &texel, format!("{:?} of 255", &colour[..count]));
                } else if let Some(open) = open {
                    self.open(self.id, open, place);
                }
            }
        }
        self.result
    }

    fn equal(mut self, other: BufferId) -> Judgement {
        let (a, b) = (self.held, &self.buffers[other]);
        let name = &self.script[other].name;
        if a.bytes.len() != b.bytes.len() {
            self.fail(String::new, format!("{} bytes", a.bytes.len()), format!("the {} bytes of {name}", b.bytes.len()));
            return self.result;
        }
        for (i, (x, y)) in a.bytes.iter().zip(&b.bytes).enumerate() {
            let (known, other_known) = (a.known_at(i), b.known_at(i));
            if known.max(other_known) > Known::Decided {
                let whose = if known >= other_known { self.id } else { other };
                self.open(whose, (i, known.max(other_known)), || format!("byte {i}"));
            } else if x != y {
                self.fail(|| format!("byte {i}"), format!("{x:#04x}"), format!("{y:#04x} as in {name}"));
            }
        }
        self.result
    }

    /// Whether both buffers are whole and defined; if not the judgement says so.
    fn comparable(&mut self, other: BufferId) -> bool {
        let (a, b) = (self.held, &self.buffers[other]);
        let (need, name) = (self.buffer.size(), &self.script[other].name);
        for (held, id, whose) in [(a, self.id, &self.buffer.name), (b, other, name)] {
            if (held.bytes.len() as u64) < need {
                self.fail(String::new, format!("{} bytes in {whose}", held.bytes.len()), format!("{need} bytes"));
                return false;
            }
            if let Some((at, known)) = held.open(0, held.bytes.len()) {
                self.open(id, (at, known), || format!("byte {at} of {whose}"));
                return false;
            }
        }
        true
    }

    fn rmse(mut self, other: BufferId, most: f64) -> Judgement {
        let buffers = self.buffers;
        if !self.comparable(other) {
            return self.result;
        }
        let (a, b) = (self.held, &buffers[other]);
        let (mut sum, count) = (0.0, self.buffer.scalars());
        for i in 0..count {
            let Some(slot) = self.buffer.slot(i) else { break };
            let at = slot.offset as usize;
            let difference =
                difference(slot.scalar.value(slot.scalar.load(&a.bytes[at..])), slot.scalar.value(slot.scalar.load(&b.bytes[at..])));
            sum += difference * difference;
        }
        let error = (sum / count as f64).sqrt();
        self.at_most("a root mean square error", error, most, other);
        self.result
    }

    fn emd(mut self, other: BufferId, most: f64) -> Judgement {
        let buffers = self.buffers;
        if !self.comparable(other) {
            return self.result;
        }
        let texels = self.buffer.items;
        let histograms = [self.held, &buffers[other]].map(|held| {
            let mut bins = [[0u64; 256]; 4];
            for texel in held.bytes[..self.buffer.size() as usize].chunks_exact(self.buffer.stride as usize) {
                for (channel, &value) in bins.iter_mut().zip(texel) {
                    channel[value as usize] += 1;
                }
            }
            bins
        });
        let mut greatest = 0.0f64;
        let [ours, theirs] = &histograms;
        for (ours, theirs) in ours.iter().zip(theirs) {
            let (mut carried, mut work) = (0i128, 0u128);
            for (&ours, &theirs) in ours.iter().zip(theirs) {
                carried += i128::from(ours) - i128::from(theirs);
                work += carried.unsigned_abs();
            }
            greatest = greatest.max(work as f64 / texels as f64 / 256.0);
        }
        self.at_most("an earth mover's distance", greatest, most, other);
        self.result
    }

    fn at_most(&mut self, what: &str, found: f64, most: f64, other: BufferId) {
        // A NaN is not at most anything.
        let within = found <= most;
        if !within {
            let name = &self.script[other].name;
            self.fail(String::new, format!("{what} of {found} to {name}"), format!("at most {most}"));
        }
    }
}

const EXACT: Tolerance = Tolerance { amount: super::script::Bits64(0), percent: false };

/// The difference of two values; 0 for two infinities of one sign.
fn difference(found: Value, expected: Value) -> f64 {
    match (found, expected) {
        (Value::Integer(a), Value::Integer(b)) => (a - b) as f64,
        (a, b) if a == b => 0.0,
        (a, b) => a.as_f64() - b.as_f64(),
    }
}

fn holds(scalar: Scalar, comparator: Comparator, allowed: Option<Tolerance>, found: Value, expected: Value) -> bool {
    let off = difference(found, expected).abs();
    let within = |t: Tolerance| off <= t.amount.value() * if t.percent { expected.as_f64().abs() / 100.0 } else { 1.0 };
    let equal = match allowed {
        Some(tolerance) => within(tolerance),
        None if scalar == Scalar::Float64 => off <= DOUBLE_TOLERANCE * expected.as_f64().abs(),
        None => off == 0.0,
    };
    let order = match (found, expected) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(&b)),
        (a, b) => a.as_f64().partial_cmp(&b.as_f64()),
    };
    match comparator {
        Comparator::Eq => equal,
        Comparator::Ne => !equal,
        Comparator::Lt => order.is_some_and(|o| o.is_lt()),
        Comparator::Le => order.is_some_and(|o| o.is_le()),
        Comparator::Gt => order.is_some_and(|o| o.is_gt()),
        Comparator::Ge => order.is_some_and(|o| o.is_ge()),
    }
}

struct Wanted {
    comparator: Comparator,
    allowed: Option<Tolerance>,
    expected: Value,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.comparator.name(), self.expected)?;
        match self.allowed {
            None => Ok(()),
            Some(t) => write!(f, " within {}{}", t.amount.value(), if t.percent { "%" } else { "" }),
        }
    }
}

struct Texel<'b> {
    format: Format,
    bytes: &'b [u8],
    known: &'b [Known],
}

impl Texel<'_> {
    /// Each colour component that the format has: its place among red, green, blue and alpha, its value, and its first byte that is not decided.
    fn components(&self) -> impl Iterator<Item = (usize, f64, Option<(usize, Known)>)> {
        let scalar = self.format.scalar();
        let size = scalar.size() as usize;
        self.format.channels().iter().enumerate().filter_map(move |(i, &channel): (usize, &Channel)| {
            let value = self.format.component(channel, scalar.load(&self.bytes[i * size..])).as_f64();
            let known = self.known.iter().copied().enumerate().skip(i * size).take(size);
            let open = known.filter(|(_, known)| *known > Known::Decided).max_by_key(|(at, known)| (*known, std::cmp::Reverse(*at)));
            Some((channel.colour()?, value, open))
        })
    }
}

impl fmt::Display for &Texel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rgba = [None; 4];
        for (c, value, open) in self.components() {
            rgba[c] = Some((value, open));
        }
        let shown: Vec<String> = rgba
            .into_iter()
            .flatten()
            .map(|(value, open)| match (open, self.format.is_normalized()) {
                (Some((_, Known::Undefined)), _) => "undefined".into(),
                (Some(_), _) => "undecided".into(),
                // In the unit of the script; three digits tell neighbours apart.
                (None, true) => format!("{}", (value * 255.0 * 1000.0).round() / 1000.0),
                (None, false) => format!("{value:?} × 255"),
            })
            .collect();
        write!(f, "[{}]", shown.join(", "))
    }
}
