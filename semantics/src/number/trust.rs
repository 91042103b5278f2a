//! What is known about a lane: whether every conforming device must show the same bits.
//!
//! `rules` has the rule of each operation. A trust speaks of two devices, one for `Profile::Strict`
//! and one for `Profile::Wgsl`. A lane that is decided under `Wgsl` is decided under `Strict` too:
//! a lane with a `doubt` has no `grid`.

use super::sets::{CellId, Set};
use super::{Grid, Lane, Profile};

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
    /// Control has depended on a value that may differ between devices.
    Control,
    /// It depends on how a device filters texels, or rounds them to their format.
    Texel,
    /// It was interpolated, and devices may differ.
    Interpolated,
    /// It depends on a derivative that may be fine or coarse.
    Derivative,
    /// Whether a fragment is there depends on the device.
    Coverage,
    /// It depends on which invocations of a subgroup go on together after they took several paths.
    Reconvergence,
    /// It depends on the size of the subgroups.
    SubgroupSize,
    /// It depends on which invocations of a workgroup, or which vertices or quads of a draw, are a
    /// subgroup.
    SubgroupMapping,
    /// It has more ways than were followed.
    Unfollowed,
}

/// What is known about a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// Why the lane is not decided under `Profile::Strict`. `None` if it is decided.
    pub doubt: Option<Why>,
    /// Whether the sign of a zero is required (under `Profile::Strict`); true where the value is
    /// not zero.
    pub zero_sign: bool,
    /// The certificate by which `Profile::Wgsl` decides the lane too. `None` if there is none.
    pub grid: Option<Grid>,
    /// The cell with the possible values of a lane that is not decided, in a run over
    /// [`sets`](super::sets). `None`: any value.
    pub cell: Option<CellId>,
}

/// What a device must show in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// These bits.
    Bits(u32),
    /// A zero of either sign.
    Zero,
    /// One of several floats.
    Within(Set),
    /// Not decided, and why.
    Undecided(Why),
}

impl Trust {
    /// A Boolean, or anything else that is certain and has no magnitude.
    pub const CERTAIN: Trust = Trust { doubt: None, zero_sign: true, grid: Some(Grid::BOOLEAN), cell: None };

    /// The trust of a constant or input that reaches the program bit for bit. A subnormal, infinity
    /// or NaN is itself exact; only arithmetic on it is in doubt. (Under `Wgsl` nothing preserves
    /// such values.)
    pub fn of_exact(value: f32) -> Trust {
        Trust { doubt: None, zero_sign: true, grid: Grid::of(value), cell: None }
    }

    /// Doubtful under both profiles, for this reason unless there was one before.
    pub fn in_doubt(self, why: Why) -> Trust {
        Trust { doubt: self.doubt.or(Some(why)), grid: None, cell: None, ..self }
    }

    /// The trust of a value that depends on the result of a condition: doubtful if the condition
    /// is. If every profile decides the condition, the value keeps its trust and its cell.
    pub fn controlled_by(self, condition: Trust) -> Trust {
        let doubt = self.doubt.or(condition.doubt.and(Some(Why::Control)));
        let grid = if doubt.is_none() && condition.grid.is_some() { self.grid } else { None };
        let is_decided = condition.doubt.is_none() && condition.grid.is_some();
        Trust { doubt, grid, cell: self.cell.filter(|_| is_decided), ..self }
    }

    /// The trust of a value that a condition chooses. It is the trust of the chosen value if the
    /// condition is certain or both values are the same.
    #[inline]
    pub fn selected(condition: Trust, is_true: bool, on_true: Trust, on_false: Trust, same: bool) -> Trust {
        let chosen = if is_true { on_true } else { on_false };
        let grid = if condition.grid.is_some() {
            chosen.grid
        } else if same {
            on_true.grid.zip(on_false.grid).and_then(|(a, b)| a.either(b))
        } else {
            None
        };
        let (doubt, zero_sign) = if condition.doubt.is_none() {
            (chosen.doubt, chosen.zero_sign)
        } else if same && on_true.doubt.is_none() && on_false.doubt.is_none() {
            (None, on_true.zero_sign && on_false.zero_sign)
        } else {
            (Some(Why::Control), chosen.zero_sign)
        };
        let cell = if condition.doubt.is_none() { chosen.cell } else { None };
        Trust { doubt, zero_sign, grid: if doubt.is_none() { grid } else { None }, cell }
    }

    /// Whether every device of the profile agrees on the value, except perhaps on the sign of a
    /// zero and on which NaN it is.
    pub fn is_decided(self, profile: Profile) -> bool {
        if profile.is_strict() { self.doubt.is_none() } else { self.grid.is_some() }
    }
}

impl Lane {
    /// What a device of the profile must show in this lane, which holds a float.
    ///
    /// A NaN is never decided: no profile says which NaN it is.
    pub fn judge(self, profile: Profile) -> Expected {
        if let Some(why) = self.trust.doubt {
            return Expected::Undecided(why);
        }
        let value = self.float();
        if value.is_nan() {
            return Expected::Undecided(Why::NaN);
        }
        if !profile.is_strict() && self.trust.grid.is_none() {
            return Expected::Undecided(special(value).unwrap_or(Why::Approximate));
        }
        let any_zero = value == 0.0 && !(profile.is_strict() && self.trust.zero_sign);
        if any_zero { Expected::Zero } else { Expected::Bits(self.bits) }
    }
}

impl Expected {
    /// Whether a device may show these bits. `None` if that is not decided.
    #[must_use = "an undecided lane is neither agreement nor disagreement"]
    pub fn admits(self, bits: u32) -> Option<bool> {
        match self {
            Expected::Bits(expected) => Some(bits == expected),
            Expected::Zero => Some(bits << 1 == 0),
            Expected::Within(set) => Some(set.contains(f32::from_bits(bits).into())),
            Expected::Undecided(_) => None,
        }
    }
}

/// Why arithmetic on the value is in doubt, as far as the value alone tells.
#[inline]
pub(super) fn special(value: f32) -> Option<Why> {
    let bits = value.to_bits() << 1;
    match bits >> 24 {
        0 if bits == 0 => None,
        0 => Some(Why::Subnormal),
        255 if bits == 0xff00_0000 => Some(Why::Infinite),
        255 => Some(Why::NaN),
        _ => None,
    }
}
