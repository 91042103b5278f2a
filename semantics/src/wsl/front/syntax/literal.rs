//! Literals: numbers as written, of any size.

/// The absolute value of an integer literal.
#[derive(Clone, Copy, Debug)]
pub enum Magnitude {
    /// The value.
    Exact(u64),
    /// 2^64 or more, so the literal can only be a float. Holds the nearest float, which may
    /// be infinite.
    Large(f32),
}

impl PartialEq for Magnitude {
    fn eq(&self, other: &Magnitude) -> bool {
        match (self, other) {
            (Magnitude::Exact(a), Magnitude::Exact(b)) => a == b,
            (Magnitude::Large(a), Magnitude::Large(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

/// An integer literal, with the sign that the parser folds into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntLiteral {
    /// Whether a `-` stands before it. Never with `unsigned`.
    pub negative: bool,
    /// Whether it ends in `u`.
    pub unsigned: bool,
    /// Whether it is written in hexadecimal digits.
    pub hexadecimal: bool,
    /// Its absolute value.
    pub magnitude: Magnitude,
}

impl IntLiteral {
    /// A decimal literal without sign or suffix.
    pub fn of(value: u64) -> IntLiteral {
        IntLiteral { negative: false, unsigned: false, hexadecimal: false, magnitude: Magnitude::Exact(value) }
    }

    /// The value, unless it is too large for 64 bits.
    pub fn value(&self) -> Option<i128> {
        match self.magnitude {
            Magnitude::Exact(m) => Some(if self.negative { -(m as i128) } else { m as i128 }),
            Magnitude::Large(_) => None,
        }
    }

    /// The value as an `int`, if that type can represent it. The literal's own suffix does
    /// not matter.
    pub fn as_int(&self) -> Option<i32> {
        self.value().and_then(|v| i32::try_from(v).ok())
    }

    /// The value as a `uint`, if that type can represent it.
    pub fn as_uint(&self) -> Option<u32> {
        self.value().and_then(|v| u32::try_from(v).ok())
    }

    /// The nearest float. It is never -0, since an integer has no negative zero.
    pub fn as_float(&self) -> f32 {
        let magnitude = match self.magnitude {
            Magnitude::Exact(0) => return 0.0,
            Magnitude::Exact(m) => m as f32,
            Magnitude::Large(x) => x,
        };
        if self.negative { -magnitude } else { magnitude }
    }
}

/// A literal.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(IntLiteral),
    /// A float: the nearest to the number as written, with its sign.
    Float(f32),
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Bool(a), Literal::Bool(b)) => a == b,
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}
