//! Types of the tree's values, and the steps into them.

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// OpTypeBool.
    Bool,
    /// OpTypeInt.
    Int {
        /// Bits: 8, 16, 32 or 64.
        width: u8,
        /// Its signedness.
        signed: bool,
    },
}

/// The 32-bit unsigned integer.
pub const UINT: Scalar = Scalar::Int { width: 32, signed: false };
/// The 32-bit signed integer.
pub const INT: Scalar = Scalar::Int { width: 32, signed: true };

impl Scalar {
    /// Bits of an integer; 1 for a Boolean.
    pub fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { width, .. } => u32::from(width),
        }
    }

    /// Whether it is a signed integer.
    pub fn signed(self) -> bool {
        matches!(self, Scalar::Int { signed: true, .. })
    }

    /// All bits of the type set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }
}

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// 2 to 4 scalars.
    Vector(Scalar, u8),
    /// So many of one type.
    Array(Box<Type>, u32),
    /// Members in order.
    Struct(Vec<Type>),
}

impl Type {
    /// The 32-bit unsigned integer.
    pub const UINT: Type = Type::Scalar(UINT);
    /// The Boolean.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);

    /// A vector of `n` scalars, or the scalar itself if `n` is 1.
    pub fn lanes(scalar: Scalar, n: u8) -> Type {
        if n == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, n) }
    }

    /// The scalar that a scalar or vector is of, and how many.
    pub fn scalar(&self) -> Option<(Scalar, u8)> {
        match *self {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector(scalar, n) => Some((scalar, n)),
            _ => None,
        }
    }

    /// How many scalars a value holds.
    pub fn scalars(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(_, n) => usize::from(*n),
            Type::Array(element, n) => element.scalars() * *n as usize,
            Type::Struct(members) => members.iter().map(Type::scalars).sum(),
        }
    }

    /// The type of a part, if there is one. The index of an array's or vector's
    /// element does not matter.
    pub fn part(&self, index: u32) -> Option<Type> {
        match self {
            Type::Scalar(_) => None,
            Type::Vector(scalar, _) => Some(Type::Scalar(*scalar)),
            Type::Array(element, _) => Some((**element).clone()),
            Type::Struct(members) => members.get(index as usize).cloned(),
        }
    }

    /// How many parts a composite has; 0 for a scalar.
    pub fn parts(&self) -> u32 {
        match self {
            Type::Scalar(_) => 0,
            Type::Vector(_, n) => u32::from(*n),
            Type::Array(_, n) => *n,
            Type::Struct(members) => members.len() as u32,
        }
    }

    /// The type at the end of a path, if it leads somewhere.
    pub fn at(&self, path: &[Step]) -> Option<Type> {
        path.iter().try_fold(self.clone(), |ty, step| match step {
            Step::Member(i) => ty.part(*i),
            Step::Index => (!matches!(ty, Type::Struct(_))).then(|| ty.part(0)).flatten(),
        })
    }
}

/// One step of an access chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A constant index, in bounds.
    Member(u32),
    /// An index computed at run time, a 32-bit unsigned integer that lowering brings into bounds.
    Index,
}
