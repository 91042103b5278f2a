//! The types of λV (report §5) and its values.

use crate::number::{Lane, Lanes, Tuple};

/// The element of a vector: float or Boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// f: a 32-bit float.
    F,
    /// b: a Boolean.
    B,
}

/// A type of values. `Vec(1, f)` is Num, `Vec(1, b)` is Bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ground {
    /// Vec(I, f) or Vec(I, b), I in 1..=4.
    Vec(u8, Elem),
    /// Mat(I, f), I in 2..=4 columns of I floats. Mat(I, b) has no SPIR-V type and
    /// is left out (LV-26).
    Mat(u8),
}

/// τ of report §5: a type of values, or one of the two that only tail calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A type of values.
    Ground(Ground),
    /// Rec τ: a τ, or a tail call.
    Rec(Ground),
    /// PureRec: a tail call.
    PureRec,
}

impl Ground {
    /// Num = Vec(1, f).
    pub const NUM: Ground = Ground::Vec(1, Elem::F);
    /// Bool = Vec(1, b).
    pub const BOOL: Ground = Ground::Vec(1, Elem::B);

    /// Every type of values: 4 of floats, 4 of Booleans, 3 of matrices.
    pub const ALL: [Ground; 11] = [
        Ground::Vec(1, Elem::F),
        Ground::Vec(2, Elem::F),
        Ground::Vec(3, Elem::F),
        Ground::Vec(4, Elem::F),
        Ground::Vec(1, Elem::B),
        Ground::Vec(2, Elem::B),
        Ground::Vec(3, Elem::B),
        Ground::Vec(4, Elem::B),
        Ground::Mat(2),
        Ground::Mat(3),
        Ground::Mat(4),
    ];

    /// The number of components of a value.
    pub fn components(self) -> usize {
        match self {
            Ground::Vec(n, _) => n as usize,
            Ground::Mat(n) => n as usize * n as usize,
        }
    }

    /// The number of columns: 1 unless a matrix.
    pub fn columns(self) -> usize {
        match self {
            Ground::Vec(..) => 1,
            Ground::Mat(n) => n as usize,
        }
    }

    /// Whether a program may have this type: Vec(I, f), which a fragment shader can write.
    pub fn is_observation(self) -> bool {
        matches!(self, Ground::Vec(_, Elem::F))
    }
}

impl Type {
    /// The type of values. `None` for Rec τ and PureRec.
    pub fn ground(self) -> Option<Ground> {
        match self {
            Type::Ground(g) => Some(g),
            Type::Rec(_) | Type::PureRec => None,
        }
    }
}

impl std::fmt::Display for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ground::Vec(1, Elem::F) => f.write_str("Num"),
            Ground::Vec(1, Elem::B) => f.write_str("Bool"),
            Ground::Vec(n, Elem::F) => write!(f, "Vec({n},f)"),
            Ground::Vec(n, Elem::B) => write!(f, "Vec({n},b)"),
            Ground::Mat(n) => write!(f, "Mat({n},f)"),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Ground(g) => g.fmt(f),
            Type::Rec(g) => write!(f, "Rec {g}"),
            Type::PureRec => f.write_str("PureRec"),
        }
    }
}

/// A value: a number, Boolean, vector or matrix (column after column). Only runs make values of
/// more than one component.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Ground,
    /// Its components, as many as the type says.
    pub lanes: Lanes,
}

impl Value {
    /// A number that every device holds exactly.
    pub fn num(x: f32) -> Value {
        Value { ty: Ground::NUM, lanes: Lanes::from_slice(&[Lane::exact(x)]) }
    }

    /// A Boolean.
    pub fn bool(b: bool) -> Value {
        Value { ty: Ground::BOOL, lanes: Lanes::from_slice(&[Lane::truth(b)]) }
    }

    /// A vector of floats, one to four of them, that every device holds exactly.
    pub fn vec(xs: &[f32]) -> Value {
        Value { ty: Ground::Vec(xs.len() as u8, Elem::F), lanes: xs.iter().map(|&x| Lane::exact(x)).collect() }
    }

    /// The value as an operand.
    pub fn tuple(&self) -> Tuple<'_> {
        Tuple { lanes: &self.lanes, columns: self.ty.columns() }
    }

    /// Whether two values have the same type and bits; what is known about them may differ.
    pub fn same_bits(&self, other: &Value) -> bool {
        self.ty == other.ty && self.lanes.iter().zip(&other.lanes).all(|(a, b)| a.bits == b.bits)
    }

    /// The bits of the components.
    pub fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        self.lanes.iter().map(|l| l.bits)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let component = |lane: &Lane| match self.ty {
            Ground::Vec(_, Elem::B) => lane.is_true().to_string(),
            _ => {
                let mut text = String::new();
                super::syntax::print_number(lane.float(), &mut text);
                text
            }
        };
        match self.ty {
            Ground::Vec(1, _) => f.write_str(&component(&self.lanes[0])),
            _ => {
                let parts: Vec<String> = self.lanes.iter().map(component).collect();
                let columns: Vec<String> = parts.chunks(self.lanes.len() / self.ty.columns()).map(|c| c.join(" ")).collect();
                write!(f, "<{}>", columns.join(" | "))
            }
        }
    }
}
