//! Numbers, bit-exact, and what is known about how a conforming device may differ from them.
//!
//! Both λV and the SPIR-V interpreter compute on 32-bit floats and Booleans with [`apply`]. A
//! [`Lane`] is one component with its bits and its [`Trust`]. A [`Tuple`] is a scalar, vector or
//! matrix of lanes. A result is the correctly rounded one (ties to even) wherever IEEE 754 defines
//! it. `scalar` and `composite` define the functions of GLSL.std.450. A NaN result is always the
//! quiet NaN 0x7fc00000.
//!
//! | module | contents |
//! |---|---|
//! | `op` | the operations and their instructions |
//! | `apply` | operands and shapes: which function makes which lane |
//! | `bits` | the same operations by bits alone |
//! | `scalar` | functions of one, two or three floats |
//! | `composite` | vectors and matrices |
//! | `trust`, `rules` | what is known about a lane, and each operation's rule for it |
//! | [`sets`] | the values that a conforming device may show, and programs evaluated over them |
//! | `profile` | the environments |
//! | `grid` | why a polynomial is exact under every rewriting |
//! | `interval` | numbers that a specification bounds but does not fix |
//! | `real` | the formats of 16, 32 and 64 bits |
//! | [`reference`](mod@reference) | the exact result, and its rounding in any direction |
//! | [`integer`], [`float`], [`pack`] | components of any type, by their bits, without trust |

mod apply;
mod bits;
mod composite;
mod computed;
pub mod float;
mod grid;
pub mod integer;
mod interval;
mod op;
pub mod pack;
mod profile;
mod real;
pub mod reference;
mod rules;
mod scalar;
pub mod sets;
mod trust;

pub use apply::{Arithmetic, Planted, apply};
pub use bits::{Four, bits_of_any, bits_of_vectors};
pub(crate) use composite::Wide;
pub use computed::{Computed, Environment, PlantedComponent};
pub use grid::Grid;
pub use interval::{Inexact, Interval};
pub use op::{Instruction, Op};
pub use profile::{Controls, Denormals, Profile, Rounding};
pub use real::{Half, Real};
pub use trust::{Expected, Trust, Why};

use smallvec::SmallVec;

/// One component: a 32-bit float by its bits, or a Boolean as 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    /// The bits of the float, or 0 and 1 for false and true.
    pub bits: u32,
    /// What is known of the bits that a conforming device may show instead.
    pub trust: Trust,
}

/// The components of a value: 1 for a scalar, I for a vector, column after column for a matrix.
pub type Lanes = SmallVec<[Lane; 4]>;

/// An operand: its components, and the number of columns that they form.
#[derive(Clone, Copy, Debug)]
pub struct Tuple<'a> {
    /// The components, column after column.
    pub lanes: &'a [Lane],
    /// The number of columns; 1 for scalars and vectors.
    pub columns: usize,
}

impl Lane {
    /// A float that every conforming device holds exactly as it is: a constant, or an input read
    /// from a buffer.
    pub fn exact(value: f32) -> Lane {
        Lane { bits: value.to_bits(), trust: Trust::of_exact(value) }
    }

    /// A float of a fragment's input interface. Loads from the Input storage class there do not
    /// keep signs of zeros.
    pub fn fragment_input(value: f32) -> Lane {
        let trust = Trust { zero_sign: value != 0.0, ..Trust::of_exact(value) };
        Lane { bits: value.to_bits(), trust }
    }

    /// A Boolean that every conforming device agrees on.
    pub fn truth(value: bool) -> Lane {
        Lane { bits: value as u32, trust: Trust::CERTAIN }
    }

    /// The float that the bits encode.
    #[inline]
    pub fn float(self) -> f32 {
        f32::from_bits(self.bits)
    }

    /// The Boolean.
    #[inline]
    pub fn is_true(self) -> bool {
        self.bits != 0
    }
}

impl<'a> Tuple<'a> {
    /// A scalar or vector.
    pub fn vector(lanes: &'a [Lane]) -> Tuple<'a> {
        Tuple { lanes, columns: 1 }
    }

    /// A square matrix of this number of columns.
    pub fn matrix(lanes: &'a [Lane], columns: usize) -> Tuple<'a> {
        Tuple { lanes, columns }
    }
}
