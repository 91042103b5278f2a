//! Environments: which rules bound what a conforming device may show.

use std::fmt;

/// The environment that a program is judged under; a part of every verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// RoundingModeRTE, SignedZeroInfNanPreserve and NoContraction are declared: each operation
    /// rounds to nearest even, by itself. Subnormals may be flushed, since neither device at hand
    /// lets a module forbid it.
    Strict,
    /// The declarations of a module, or those that an adapter's properties permit,
    /// with NoContraction.
    Declared(Controls),
    /// A Vulkan module without declarations: either rounding, any algebraic rewriting, and signs of
    /// zero, infinities and NaN are not kept.
    VulkanDefault,
    /// Nothing can be declared (the route through naga). WGSL's bounds hold where they differ
    /// from Vulkan's.
    Wgsl,
}

/// How a correctly rounded result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To either neighbour: nothing is declared.
    Either,
    /// To the nearest, ties to even: RoundingModeRTE.
    NearestEven,
    /// Toward zero: RoundingModeRTZ.
    TowardZero,
}

/// How subnormal operands and results are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denormals {
    /// They may be flushed to zero: nothing is declared.
    MayFlush,
    /// Results are flushed, operands may be: DenormFlushToZero.
    Flush,
    /// Subnormals of core arithmetic are kept: DenormPreserve.
    Preserve,
}

/// How 32-bit floats are computed, as far as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Controls {
    /// The rounding of correctly rounded results.
    pub rounding: Rounding,
    /// How subnormals are treated.
    pub denormals: Denormals,
    /// Whether signs of zeros, infinities and NaN are kept
    /// by core arithmetic: SignedZeroInfNanPreserve.
    pub keeps_special: bool,
    /// Whether no operation is combined with others: NoContraction.
    pub no_contraction: bool,
    /// Whether WGSL's bounds replace Vulkan's where they differ.
    pub wgsl: bool,
}

impl Controls {
    /// Nothing is declared.
    pub const NOTHING: Controls =
        Controls { rounding: Rounding::Either, denormals: Denormals::MayFlush, keeps_special: false, no_contraction: false, wgsl: false };
}

impl Profile {
    /// The profile for these declarations: the named profile that has exactly these, or
    /// else [`Profile::Declared`].
    pub fn of(controls: Controls) -> Profile {
        let named = [Profile::Strict, Profile::VulkanDefault, Profile::Wgsl];
        named.into_iter().find(|profile| profile.controls() == controls).unwrap_or(Profile::Declared(controls))
    }

    /// The profile's declarations, one by one.
    pub const fn controls(self) -> Controls {
        let nothing = Controls::NOTHING;
        match self {
            Profile::Strict => Controls { rounding: Rounding::NearestEven, keeps_special: true, no_contraction: true, ..nothing },
            Profile::Declared(controls) => controls,
            Profile::VulkanDefault => nothing,
            Profile::Wgsl => Controls { wgsl: true, ..nothing },
        }
    }

    /// Whether everything that [`Profile::Strict`] stands for is declared.
    pub const fn is_strict(self) -> bool {
        let controls = self.controls();
        matches!(controls.rounding, Rounding::NearestEven)
            && matches!(controls.denormals, Denormals::MayFlush | Denormals::Preserve)
            && controls.keeps_special
            && controls.no_contraction
    }
}

/// `strict`, `declared`, `vulkan-default`, `wgsl`.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Strict => "strict",
            Profile::Declared(_) => "declared",
            Profile::VulkanDefault => "vulkan-default",
            Profile::Wgsl => "wgsl",
        })
    }
}
