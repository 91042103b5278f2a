//! Blending: Vulkan, Blending (Blend Factors, Blend Operations).
//!
//! A device blends "with a precision and dynamic range no lower than that used to represent
//! destination components". So the result of each operation may be any number between the two
//! neighbours of the exact result in the attachment's format. The interval of results is widened
//! to these neighbours. It is not widened if a result is a number of the format itself. In a
//! fixed-point format, a number within 2^-22 of one of the format's numbers counts as that
//! number: for example, the float 0.6 counts as 153/255. That no device truncates such a number
//! is an assumption.
//!
//! Absent on purpose: constant factors, second sources, and the operations of extensions.

use super::Rules;
use crate::image::{Numeric, stored};
use crate::number::Interval;
use crate::number::integer::mask;

/// The factor of a component: VkBlendFactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// The factor 0.
    Zero,
    /// The factor 1.
    One,
    /// The same component of the source.
    Source,
    /// 1 minus the same component of the source.
    OneMinusSource,
    /// The same component of the attachment.
    Destination,
    /// 1 minus the same component of the attachment.
    OneMinusDestination,
    /// The source's alpha.
    SourceAlpha,
    /// 1 minus the source's alpha.
    OneMinusSourceAlpha,
    /// The attachment's alpha.
    DestinationAlpha,
    /// 1 minus the attachment's alpha.
    OneMinusDestinationAlpha,
    /// The lesser of the source's alpha and 1 minus the attachment's. For the alpha component: 1.
    SourceAlphaSaturate,
}

/// How the two products are combined: VkBlendOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The sum of the products.
    Add,
    /// The source's product minus the attachment's.
    Subtract,
    /// The attachment's product minus the source's.
    ReverseSubtract,
    /// The lesser component. Factors have no effect.
    Min,
    /// The greater component. Factors have no effect.
    Max,
}

/// How a component is blended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Equation {
    /// The factor of the source.
    pub source: Factor,
    /// The factor of the attachment.
    pub destination: Factor,
    /// How the two products are combined.
    pub operation: Operation,
}

/// How fragments are blended with the contents of attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blend {
    /// How red, green and blue are blended.
    pub colour: Equation,
    /// How the alpha component is blended.
    pub alpha: Equation,
}

impl Factor {
    /// Every factor.
    pub const ALL: [Factor; 11] = [
        Factor::Zero,
        Factor::One,
        Factor::Source,
        Factor::OneMinusSource,
        Factor::Destination,
        Factor::OneMinusDestination,
        Factor::SourceAlpha,
        Factor::OneMinusSourceAlpha,
        Factor::DestinationAlpha,
        Factor::OneMinusDestinationAlpha,
        Factor::SourceAlphaSaturate,
    ];

    /// The factor of component c.
    pub(super) fn of(self, source: [f64; 4], destination: [f64; 4], c: usize) -> f64 {
        match self {
            Factor::Zero => 0.0,
            Factor::One => 1.0,
            Factor::Source => source[c],
            Factor::OneMinusSource => 1.0 - source[c],
            Factor::Destination => destination[c],
            Factor::OneMinusDestination => 1.0 - destination[c],
            Factor::SourceAlpha => source[3],
            Factor::OneMinusSourceAlpha => 1.0 - source[3],
            Factor::DestinationAlpha => destination[3],
            Factor::OneMinusDestinationAlpha => 1.0 - destination[3],
            Factor::SourceAlphaSaturate if c == 3 => 1.0,
            Factor::SourceAlphaSaturate => source[3].min(1.0 - destination[3]),
        }
    }

    /// The components that the factor of component c depends on: one of the source and one of the
    /// attachment, if any.
    fn reads(self, c: usize) -> [Option<usize>; 2] {
        match self {
            Factor::Zero | Factor::One => [None, None],
            Factor::Source | Factor::OneMinusSource => [Some(c), None],
            Factor::Destination | Factor::OneMinusDestination => [None, Some(c)],
            Factor::SourceAlpha | Factor::OneMinusSourceAlpha => [Some(3), None],
            Factor::DestinationAlpha | Factor::OneMinusDestinationAlpha => [None, Some(3)],
            Factor::SourceAlphaSaturate if c == 3 => [None, None],
            Factor::SourceAlphaSaturate => [Some(3), Some(3)],
        }
    }
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 5] = [Operation::Add, Operation::Subtract, Operation::ReverseSubtract, Operation::Min, Operation::Max];

    /// Whether the operation uses the factors.
    fn multiplies(self) -> bool {
        !matches!(self, Operation::Min | Operation::Max)
    }

    /// The result, from the source's and the attachment's product, or component.
    pub(super) fn of(self, source: f64, destination: f64) -> f64 {
        match self {
            Operation::Add => source + destination,
            Operation::Subtract => source - destination,
            Operation::ReverseSubtract => destination - source,
            Operation::Min => source.min(destination),
            Operation::Max => source.max(destination),
        }
    }
}

/// The distance within which a number counts as a number of a fixed-point format: four units in the
/// last place of 1 in 32 bits.
const NEAR: f64 = 1.0 / (1 << 22) as f64;

/// The numeric format of an attachment's components.
#[derive(Clone, Copy, Debug)]
struct Format {
    numeric: Numeric,
    width: u8,
}

impl Format {
    /// The least and the greatest number of a fixed-point format. `None` for other formats.
    fn ends(self) -> Option<[f64; 2]> {
        match self.numeric {
            Numeric::Unorm => Some([0.0, 1.0]),
            Numeric::Snorm => Some([-1.0, 1.0]),
            _ => None,
        }
    }

    /// Clamps a number to the format's range, as the first step of blending.
    fn clamped(self, x: f64) -> f64 {
        self.ends().map_or(x, |[low, high]| if x.is_nan() { low } else { x.clamp(low, high) })
    }

    /// The possible results of an operation whose exact result lies within these bounds.
    fn rounded(self, exact: Interval) -> Interval {
        let Interval { low, high, nan } = exact;
        match self.numeric {
            _ if exact.is_any() || nan => Interval::ANY,
            Numeric::Unorm | Numeric::Snorm => {
                let greatest = mask(self.width - u8::from(self.numeric == Numeric::Snorm)) as f64;
                let near = |scaled: f64| (scaled - scaled.round()).abs() < NEAR * greatest;
                let (low, high) = (low * greatest, high * greatest);
                let low = if near(low) { low.min(low.round()) } else { low.floor() };
                let high = if near(high) { high.max(high.round()) } else { high.ceil() };
                Interval::between(low / greatest, high / greatest)
            }
            _ if self.width == 16 => stored(self.numeric, self.width, exact.of_f32()),
            _ => {
                // A device may flush a subnormal result.
                let least = f64::from(f32::MIN_POSITIVE);
                let floats = exact.of_f32();
                if floats.low < least && floats.high > -least { floats.hull(Interval::point(0.0)) } else { floats }
            }
        }
    }

    /// The possible values of a component before blending.
    fn given(self, x: Interval) -> Interval {
        match self.ends() {
            Some([low, high]) if x.is_any() || x.nan => Interval::between(low, high),
            Some([low, high]) => self.rounded(Interval::between(x.low.clamp(low, high), x.high.clamp(low, high))),
            None => self.rounded(x),
        }
    }
}

fn product(x: Interval, y: Interval) -> Interval {
    let ends = [x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high];
    if x.is_any() || y.is_any() || ends.iter().any(|end| end.is_nan()) {
        return Interval::ANY;
    }
    let (low, high) = (ends.iter().copied().fold(f64::INFINITY, f64::min), ends.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    Interval { low, high, nan: x.nan || y.nan }
}

/// x + y, widened if the sum is not exact in 64 bits.
fn sum(x: Interval, y: Interval) -> Interval {
    if x.is_any() || y.is_any() {
        return Interval::ANY;
    }
    let lost = |a: f64, b: f64| {
        let s = a + b;
        let part = s - a;
        (a - (s - part)) + (b - part) != 0.0
    };
    let (low, high) = (x.low + y.low, x.high + y.high);
    let low = if lost(x.low, y.low) { low.next_down() } else { low };
    let high = if lost(x.high, y.high) { high.next_up() } else { high };
    Interval { low, high, nan: x.nan || y.nan }
}

fn negated(x: Interval) -> Interval {
    Interval { low: -x.high, high: -x.low, nan: x.nan }
}

impl Blend {
    /// How component c is blended.
    pub fn equation(&self, c: usize) -> Equation {
        if c == 3 { self.alpha } else { self.colour }
    }

    /// The components of source and attachment that component c of the result depends on.
    pub fn reads(&self, c: usize) -> [[bool; 4]; 2] {
        let Equation { source, destination, operation } = self.equation(c);
        let mut reads = [[false; 4]; 2];
        for (side, factor) in [source, destination].into_iter().enumerate() {
            reads[side][c] |= factor != Factor::Zero || !operation.multiplies();
            if operation.multiplies() {
                for (reads, read) in reads.iter_mut().zip(factor.reads(c)) {
                    read.into_iter().for_each(|read| reads[read] = true);
                }
            }
        }
        reads
    }

    /// The definite value of component c of the result. The attachment has that numeric
    /// format and width.
    pub fn definite(&self, rules: &Rules, (numeric, width): (Numeric, u8), [source, destination]: [[f64; 4]; 2], c: usize) -> f64 {
        let format = Format { numeric, width };
        let Equation { source: of_source, destination: of_destination, operation } = self.equation(c);
        let [source, destination] = [source, destination].map(|colour| colour.map(|x| format.clamped(x)));
        let factors = [of_source, of_destination].map(|factor| match operation.multiplies() {
            true => (rules.blend_factor)(factor, source, destination, c),
            false => 1.0,
        });
        let product = |x: f64, factor: f64| if factor == 0.0 && format.ends().is_some() { 0.0 } else { x * factor };
        (rules.blend)(operation, product(source[c], factors[0]), product(destination[c], factors[1]))
    }

    /// The possible values of component c of the result, from the intervals of the operands.
    pub fn allowed(&self, (numeric, width): (Numeric, u8), [source, destination]: [[Interval; 4]; 2], c: usize) -> Interval {
        let format = Format { numeric, width };
        let Equation { source: of_source, destination: of_destination, operation } = self.equation(c);
        let [source, destination] = [source, destination].map(|colour| colour.map(|x| format.given(x)));
        let one_minus = |x: Interval| format.rounded(sum(Interval::point(1.0), negated(x)));
        let factor = |factor: Factor| match factor {
            Factor::Zero => Interval::point(0.0),
            Factor::One => Interval::point(1.0),
            Factor::Source => source[c],
            Factor::OneMinusSource => one_minus(source[c]),
            Factor::Destination => destination[c],
            Factor::OneMinusDestination => one_minus(destination[c]),
            Factor::SourceAlpha => source[3],
            Factor::OneMinusSourceAlpha => one_minus(source[3]),
            Factor::DestinationAlpha => destination[3],
            Factor::OneMinusDestinationAlpha => one_minus(destination[3]),
            Factor::SourceAlphaSaturate if c == 3 => Interval::point(1.0),
            Factor::SourceAlphaSaturate => least(source[3], one_minus(destination[3])),
        };
        // In a fixed-point format, the product with `Zero` is always 0.
        let multiplied = |x: Interval, by: Factor| match format.ends() {
            Some(_) if by == Factor::Zero => Interval::point(0.0),
            _ => format.rounded(product(x, factor(by))),
        };
        let (x, y) = (source[c], destination[c]);
        match operation {
            Operation::Min => least(x, y),
            Operation::Max => negated(least(negated(x), negated(y))),
            Operation::Add => format.rounded(sum(multiplied(x, of_source), multiplied(y, of_destination))),
            Operation::Subtract => format.rounded(sum(multiplied(x, of_source), negated(multiplied(y, of_destination)))),
            Operation::ReverseSubtract => format.rounded(sum(multiplied(y, of_destination), negated(multiplied(x, of_source)))),
        }
    }
}

/// The lesser of two numbers. It may be any number if one may be a NaN.
fn least(x: Interval, y: Interval) -> Interval {
    if x.is_any() || y.is_any() || x.nan || y.nan {
        return Interval::ANY;
    }
    Interval::between(x.low.min(y.low), x.high.min(y.high))
}
