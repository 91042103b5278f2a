//! The judgement of a script's expectations against the contents of buffers.
//!
//! The documentation of AmberScript names the comparisons, but leaves some points open. They are
//! decided as in Amber, except where stated:
//! - EQ and NE compare by value. Zeros of either sign are equal. 64-bit floats within one part in
//!   10^8 are equal. Here a NaN equals nothing, while in Amber it equals everything. If the script
//!   itself expects `nan`, EQ holds for every NaN and for nothing else, whatever the tolerance.
//! - LT, LE, GT and GE do not hold for a NaN. In Amber they do.
//! - A tolerance in per cent is relative to the expected value. For EQ_RGB and EQ_RGBA it is
//!   relative to the found value.
//! - EQ_RGB and EQ_RGBA compare a component c of the script as c / 255 with the texel's value
//!   (normalized, linear for sRGB, or float). They compare only components that the format has.
//!   The default tolerance is 0.002. The reader refuses integer formats, because Amber's
//!   documentation and Amber differ in the meaning of 255 for them.
//! - EQ_BUFFER compares bytes, including padding.
//! - RMSE_BUFFER compares all scalars, normalized scalars by their integers. Differences of
//!   integers are exact here, while Amber's may wrap.
//! - EQ_HISTOGRAM_EMD_BUFFER computes a histogram for each of four 8-bit channels. It has 256 bins,
//!   divided by the number of texels. The distance is the sum of the absolute values of the
//!   cumulated differences, divided by 256. The greatest of the four distances counts.
//!
//! If a scalar has a few possible values, an expectation holds or fails if it does so for all of
//! them. It is open if it holds only for some. The same is true if a 32-bit float may have any
//! value of a bounded set. EQ, NE and the orders are decided by the ends of the set and its member
//! nearest to the expected value. Other undecided bytes decide nothing. An expectation that
//! depends on such a byte is open, unless it fails on decided bytes alone. An undefined byte may
//! have any value. A doubtful byte has one of several values that are not all known, so a
//! tolerance does not help.

use super::contents::{Buffers, Certainty, Choice, Contents};
use super::format::{Field, Format};
use super::limits::MAX_FAILURES;
use super::scalar::{Scalar, Value};
use super::script::{Buffer, BufferId, Check, Comparator, Expect, Lane, Line, Script, Tolerance};
use smallstep_semantics::number::sets::Set;
use std::fmt;

/// The tolerance of EQ_RGB and EQ_RGBA if the script gives none.
pub const TEXEL_TOLERANCE: f64 = 0.002;
/// The relative tolerance of EQ for 64-bit floats.
pub const DOUBLE_TOLERANCE: f64 = 1e-8;

/// A place where an expectation fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the EXPECT.
    pub line: Line,
    /// The buffer's name.
    pub buffer: String,
    /// The place in the buffer, as `IDX 12` or `texel (3, 4)`. Empty for the whole buffer.
    pub place: String,
    /// The value that was found.
    pub found: String,
    /// The value that was expected.
    pub expected: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = if self.place.is_empty() { "" } else { ", " };
        write!(f, "line {}: buffer {}{comma}{}: found {}, expected {}", self.line, self.buffer, self.place, self.found, self.expected)
    }
}

/// The result of one expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The first failures, at most [`MAX_FAILURES`].
    pub failures: Vec<Failure>,
    /// The number of places that fail.
    pub failed: u64,
    /// The byte that leaves it open: the first undefined byte that it depends on, or else the first
    /// doubtful byte.
    pub open: Option<Open>,
}

/// A byte that leaves an expectation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The buffer of the byte.
    pub buffer: BufferId,
    /// The offset of the byte.
    pub byte: usize,
    /// The knowledge of the byte.
    pub known: Certainty,
    /// The place that is checked, as `line 3: buffer b, IDX 4`.
    pub place: String,
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.known == Certainty::Undefined { "the value is undefined" } else { "devices may hold other values" };
        write!(f, "{}: {reason}", self.place)
    }
}

/// The decision about an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It holds.
    Holds,
    /// It fails, whatever the values of open bytes are.
    Fails,
    /// It depends on doubtful bytes.
    Undecided,
    /// It depends on undefined bytes.
    Undefined,
}

impl Decision {
    /// The word for it in reports.
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
    /// The decision that follows from the failures and the open byte.
    pub fn decision(&self) -> Decision {
        match (self.failed, &self.open) {
            (0, None) => Decision::Holds,
            (0, Some(Open { known: Certainty::Undefined, .. })) => Decision::Undefined,
            (0, Some(_)) => Decision::Undecided,
            _ => Decision::Fails,
        }
    }
}

/// Judges one expectation of a script against the contents of its buffers.
pub fn judge(script: &Script, expect: &Expect, buffers: &Buffers) -> Judgement {
    let subject = &script[expect.buffer];
    let contents = &buffers[expect.buffer];
    let judge = Judge { script, id: expect.buffer, buffer: subject, contents, buffers, line: expect.line, result: Judgement::default() };
    match &expect.check {
        Check::Values { comparator, tolerance, lanes } => judge.values(*comparator, tolerance, lanes),
        Check::Colour { rect, colour, alpha, tolerance } => judge.colour(*rect, *colour, *alpha, tolerance),
        Check::EqBuffer(other) => judge.equal(*other),
        Check::RmseBuffer(other, limit) => judge.rmse(*other, limit.value()),
        Check::HistogramEmdBuffer(other, limit) => judge.emd(*other, limit.value()),
    }
}

struct Judge<'s> {
    script: &'s Script,
    id: BufferId,
    buffer: &'s Buffer,
    contents: &'s Contents,
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

    fn open(&mut self, buffer: BufferId, (byte, known): (usize, Certainty), place: impl FnOnce() -> String) {
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
            let Some(bytes) = self.contents.bytes.get(start..).filter(|b| b.len() >= size) else {
                self.fail(place, format!("the end of the buffer's {} bytes", self.contents.bytes.len()), expected);
                continue;
            };
            let set = self.contents.set(start).filter(|(at, _)| *at == start && lane.scalar == Scalar::Float32);
            let choice = match self.contents.values(start, size) {
                Ok(choice) => choice,
                Err(_) if set.is_some() => None,
                Err(open) => {
                    self.open(self.id, open, place);
                    continue;
                }
            };
            let found = lane.scalar.value(lane.scalar.load(bytes));
            let allowed = match tolerance {
                [] => None,
                [one] => Some(*one),
                several => Some(several.get(lane.component as usize).copied().unwrap_or(EXACT)),
            };
            let fits = |found: Value| holds(lane.scalar, comparator, allowed, found, expected);
            let agreed = match set {
                Some((_, set)) => agreed_within(&set, expected, fits(found), fits),
                None => agreed(choice, fits(found), |bits| fits(lane.scalar.value(bits))),
            };
            match agreed {
                Some(true) => {}
                Some(false) => self.fail(place, found, Wanted { comparator, allowed, expected }),
                None => self.open(self.id, (start, if set.is_some() { Certainty::Doubtful } else { Certainty::OneOf }), place),
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
            let actual = format!("an image of {columns} by {rows}");
            self.fail(String::new, actual, format!("one that reaches ({}, {})", left + width, top + height));
            return self.result;
        }
        for y in top..top + height {
            for x in left..left + width {
                let start = ((y * u64::from(columns) + x) * self.buffer.stride) as usize;
                let place = || format!("texel ({x}, {y})");
                let size = format.texel_size() as usize;
                let contents = self.contents;
                let Some(texel) = contents.bytes.get(start..).filter(|b| b.len() >= size) else {
                    self.fail(place, format!("the end of the buffer's {} bytes", contents.bytes.len()), "a texel");
                    return self.result;
                };
                let texel = Texel { format, bytes: &texel[..size], contents, start };
                let (mut wrong, mut open) = (false, None);
                for Component { place: c, field, value: found, values } in texel.components() {
                    if c == 3 && !alpha {
                        continue;
                    }
                    let allowed = match tolerance {
                        [] => Tolerance { amount: TEXEL_TOLERANCE.into(), percent: false },
                        [one] => *one,
                        several => several.get(c).copied().unwrap_or(EXACT),
                    };
                    let near = |found: f64| {
                        let amount = allowed.amount.value() * if allowed.percent { found.abs() / 100.0 } else { 1.0 };
                        (found - f64::from(colour[c]) / 255.0).abs() <= amount
                    };
                    let unknown = match values {
                        Err(unknown) => unknown,
                        Ok((at, choice)) => match agreed(choice, near(found), |bits| near(texel.value_in(field, bits))) {
                            Some(is_near) => {
                                wrong |= !is_near;
                                continue;
                            }
                            None => (at, Certainty::OneOf),
                        },
                    };
                    if open.is_none_or(|(_, previous)| previous < unknown.1) {
                        open = Some(unknown);
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
        let (a, b) = (self.contents, &self.buffers[other]);
        let name = &self.script[other].name;
        if a.bytes.len() != b.bytes.len() {
            self.fail(String::new, format!("{} bytes", a.bytes.len()), format!("the {} bytes of {name}", b.bytes.len()));
            return self.result;
        }
        for (i, (x, y)) in a.bytes.iter().zip(&b.bytes).enumerate() {
            let (known, other_known) = (a.known_at(i), b.known_at(i));
            let disjoint = || matches!((byte_values(a, i), byte_values(b, i)), (Some(a), Some(b)) if a.iter().all(|x| !b.contains(x)));
            if known.max(other_known) > Certainty::Decided && !(known.max(other_known) == Certainty::OneOf && disjoint()) {
                let open_buffer = if known >= other_known { self.id } else { other };
                self.open(open_buffer, (i, known.max(other_known)), || format!("byte {i}"));
            } else if x != y {
                self.fail(|| format!("byte {i}"), format!("{x:#04x}"), format!("{y:#04x} as in {name}"));
            }
        }
        self.result
    }

    /// Whether both buffers have their full size, and no byte is less known than `least`. If not,
    /// records that in the judgement.
    fn comparable(&mut self, other: BufferId, least: Certainty) -> bool {
        let (a, b) = (self.contents, &self.buffers[other]);
        let (need, name) = (self.buffer.size(), &self.script[other].name);
        for (contents, id, name_of_buffer) in [(a, self.id, &self.buffer.name), (b, other, name)] {
            if (contents.bytes.len() as u64) < need {
                self.fail(String::new, format!("{} bytes in {name_of_buffer}", contents.bytes.len()), format!("{need} bytes"));
                return false;
            }
            if let Some((at, known)) = contents.open(0, contents.bytes.len()).filter(|(_, known)| *known > least) {
                self.open(id, (at, known), || format!("byte {at} of {name_of_buffer}"));
                return false;
            }
        }
        true
    }

    fn rmse(mut self, other: BufferId, limit: f64) -> Judgement {
        let buffers = self.buffers;
        if !self.comparable(other, Certainty::OneOf) {
            return self.result;
        }
        let (a, b) = (self.contents, &buffers[other]);
        let (mut sum, mut least, mut greatest, count) = (0.0, 0.0, 0.0, self.buffer.scalars());
        let mut first_choice = None;
        for i in 0..count {
            let Some(slot) = self.buffer.slot(i) else { break };
            let (at, size) = (slot.offset as usize, slot.scalar.size() as usize);
            let value = |bits: u64| slot.scalar.value(bits);
            let [ours, theirs] = [a, b].map(|contents| value(slot.scalar.load(&contents.bytes[at..])));
            let square = difference(ours, theirs).powi(2);
            sum += square;
            match (a.values(at, size), b.values(at, size)) {
                (Ok(None), Ok(None)) => {
                    least += square;
                    greatest += square;
                }
                (Ok(our_choice), Ok(their_choice)) => {
                    first_choice = first_choice.or(Some((if our_choice.is_some() { self.id } else { other }, at)));
                    let all = |choice: Option<&Choice>, found: Value| match choice {
                        Some(choice) => choice.all().map(value).collect(),
                        None => vec![found],
                    };
                    let theirs = all(their_choice, theirs);
                    let squares = all(our_choice, ours).into_iter().flat_map(|x| theirs.iter().map(move |y| difference(x, *y).powi(2)));
                    let squares: Vec<f64> = squares.collect();
                    least += squares.iter().copied().fold(f64::INFINITY, f64::min);
                    greatest += if squares.iter().any(|s| s.is_nan()) { f64::NAN } else { squares.iter().copied().fold(0.0, f64::max) };
                }
                (Err(open), _) => self.open(self.id, open, || format!("byte {at}")),
                (_, Err(open)) => self.open(other, open, || format!("byte {at}")),
            }
        }
        let error = |sum: f64| (sum / count as f64).sqrt();
        match first_choice {
            // The result is open if the bound lies between the least and the greatest
            // possible error.
            Some((open_buffer, at)) if (error(least) <= limit) != (error(greatest) <= limit) => {
                self.open(open_buffer, (at, Certainty::OneOf), || format!("byte {at}"));
            }
            _ => self.at_most("a root mean square error", error(sum), limit, other),
        }
        self.result
    }

    fn emd(mut self, other: BufferId, limit: f64) -> Judgement {
        let buffers = self.buffers;
        if !self.comparable(other, Certainty::Decided) {
            return self.result;
        }
        let texels = self.buffer.items;
        let histograms = [self.contents, &buffers[other]].map(|contents| {
            let mut bins = [[0u64; 256]; 4];
            for texel in contents.bytes[..self.buffer.size() as usize].chunks_exact(self.buffer.stride as usize) {
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
        self.at_most("an earth mover's distance", greatest, limit, other);
        self.result
    }

    fn at_most(&mut self, what: &str, found: f64, limit: f64, other: BufferId) {
        // The comparison with a NaN is false, so it fails.
        let within = found <= limit;
        if !within {
            let name = &self.script[other].name;
            self.fail(String::new, format!("{what} of {found} to {name}"), format!("at most {limit}"));
        }
    }
}

const EXACT: Tolerance = Tolerance { amount: super::script::Bits64(0), percent: false };

/// The difference of two values. 0 for two infinities of the same sign.
fn difference(found: Value, expected: Value) -> f64 {
    match (found, expected) {
        (Value::Integer(a), Value::Integer(b)) => (a - b) as f64,
        (a, b) if a == b => 0.0,
        (a, b) => a.as_f64() - b.as_f64(),
    }
}

fn holds(scalar: Scalar, comparator: Comparator, allowed: Option<Tolerance>, found: Value, expected: Value) -> bool {
    let distance = difference(found, expected).abs();
    let within = |t: Tolerance| distance <= t.amount.value() * if t.percent { expected.as_f64().abs() / 100.0 } else { 1.0 };
    let equal = match allowed {
        _ if expected.as_f64().is_nan() => found.as_f64().is_nan(),
        Some(tolerance) => within(tolerance),
        None if scalar == Scalar::Float64 => distance <= DOUBLE_TOLERANCE * expected.as_f64().abs(),
        None => distance == 0.0,
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
    contents: &'b Contents,
    /// The offset of its first byte.
    start: usize,
}

/// A colour component that a format has.
struct Component<'b> {
    /// Its index among red, green, blue and alpha.
    place: usize,
    field: Field,
    value: f64,
    /// The offset of its first byte with its possible values (for a packed format, those of the
    /// texel). Or an open byte, which decides nothing.
    values: Result<(usize, Option<&'b Choice>), (usize, Certainty)>,
}

impl<'b> Texel<'b> {
    /// The value of a component for one of the possible bits.
    fn value_in(&self, field: Field, bits: u64) -> f64 {
        let bits = if self.format.is_packed() { self.format.bits_of(field, &bits.to_le_bytes()) } else { bits };
        self.format.component(field.channel, bits).as_f64()
    }

    fn components(&self) -> impl Iterator<Item = Component<'b>> {
        let (format, contents, bytes, start) = (self.format, self.contents, self.bytes, self.start);
        let size = format.scalar().size() as usize;
        format.fields().into_iter().enumerate().filter_map(move |(i, field): (usize, Field)| {
            let value = format.component(field.channel, format.bits_of(field, bytes)).as_f64();
            let at = if format.is_packed() { start } else { start + i * size };
            let values = contents.values(at, size).map(|choice| (at, choice));
            Some(Component { place: field.channel.colour()?, field, value, values })
        })
    }
}

impl fmt::Display for &Texel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rgba = [const { None }; 4];
        for component in self.components() {
            rgba[component.place] = Some(component.values.map_err(|(_, known)| known).map(|_| component.value));
        }
        let shown: Vec<String> = rgba
            .into_iter()
            .flatten()
            .map(|found| match (found, self.format.is_normalized()) {
                (Err(Certainty::Undefined), _) => "undefined".into(),
                (Err(_), _) => "undecided".into(),
                // In the unit of the script. Three decimal digits distinguish neighbours.
                (Ok(value), true) => format!("{}", (value * 255.0 * 1000.0).round() / 1000.0),
                (Ok(value), false) => format!("{value:?} × 255"),
            })
            .collect();
        write!(f, "[{}]", shown.join(", "))
    }
}

/// Whether the found value fits. `None` if that depends on which of the possible values the
/// device has.
fn agreed(choice: Option<&Choice>, found_fits: bool, fits: impl Fn(u64) -> bool) -> Option<bool> {
    let Some(choice) = choice else { return Some(found_fits) };
    let best = fits(choice.codes.best);
    choice.all().all(|bits| fits(bits) == best).then_some(found_fits)
}

/// Whether a float fits, for every value of a set. The values that fit an order lie on one side of
/// a bound. The values that fit EQ are an interval around the expected value. So it is enough to
/// check the ends of the set's spans, and the member nearest to the expected value.
fn agreed_within(set: &Set, expected: Value, found_fits: bool, fits: impl Fn(Value) -> bool) -> Option<bool> {
    let ends = set.spans().iter().flat_map(|span| [span.low, span.high]);
    let mut members = ends.chain(set.nearest(expected.as_f64()));
    (!set.has_nan() && members.all(|x| fits(Value::Float(x)) == found_fits)).then_some(found_fits)
}

/// The possible values of a byte. `None` if they are not known.
fn byte_values(contents: &Contents, at: usize) -> Option<Vec<u8>> {
    match (contents.known_at(at), contents.choice(at)) {
        (Certainty::Decided, _) => Some(vec![*contents.bytes.get(at)?]),
        (Certainty::OneOf, Some((start, choice))) if choice.codes.nan == 0 => {
            Some(choice.all().map(|bits| bits.to_le_bytes()[at - start]).collect())
        }
        _ => None,
    }
}
