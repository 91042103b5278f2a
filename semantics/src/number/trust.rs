//! What is known about a lane: whether every conforming device must show the same bits.

/// The environment that a program is judged under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// RoundingModeRTE, SignedZeroInfNanPreserve and NoContraction are declared: each core operation rounds to nearest even, by itself.
    Strict,
    /// Nothing is declared (the route through naga): either rounding, any algebraic rewriting, signs of zero not kept.
    Wgsl,
}

/// Why a lane's bits are not the only ones that a conforming device may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Why {
    /// It depends on an operation whose result is not required to be correctly rounded.
    Approximate,
    /// It depends on a subnormal operand or result, which may be flushed.
    Subnormal,
    /// It depends on an infinite operand or result.
    Infinite,
    /// It depends on a NaN.
    NaN,
    /// It depends on a tie that Round may take either way.
    Tie,
    /// It depends on an operation outside its domain.
    Domain,
    /// Control has depended on a value that is not the only one.
    Control,
}

/// A bound on every sub-result of the polynomial that made a value: all its monomials are multiples of 2^`exponent` and their magnitudes
/// sum to at most `bound`. While `bound` ≤ 2^(24 + exponent), every reassociation, distribution and fusion computes it without rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// All monomials are multiples of 2^exponent.
    pub exponent: i16,
    /// The sum of the monomials' magnitudes, rounded up.
    pub bound: f32,
}

/// What is known about a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// Why the lane is not decided under `Profile::Strict`, if so.
    pub doubt: Option<Why>,
    /// Whether the sign of a zero is required (under `Profile::Strict`).
    pub zero_sign: bool,
    /// The certificate under which the lane is decided by `Profile::Wgsl` too; `None` where there is none.
    pub grid: Option<Grid>,
}

/// What a device must show in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// These bits.
    Bits(u32),
    /// A zero of either sign.
    Zero,
    /// Not decided, and why.
    Undecided(Why),
}

impl Trust {
    /// A Boolean, or anything else that is certain and has no magnitude.
    pub const CERTAIN: Trust = Trust { doubt: None, zero_sign: true, grid: Some(Grid { exponent: 0, bound: 1.0 }) };

    /// The trust of a constant or input.
    pub fn of_exact(_value: f32) -> Trust {
        Trust::CERTAIN
    }
}
