//! Types of the tree's values, and the steps into them.

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// OpTypeBool.
    Bool,
    /// OpTypeInt.
    Int {
        /// The width in bits: 8, 16, 32 or 64.
        width: u8,
        /// Whether it is signed.
        signed: bool,
    },
}

/// The 32-bit unsigned integer.
pub const UINT: Scalar = Scalar::Int { width: 32, signed: false };
/// The 32-bit signed integer.
pub const INT: Scalar = Scalar::Int { width: 32, signed: true };

impl Scalar {
    /// The width of an integer in bits. 1 for a Boolean.
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

    /// The mask of all bits of the type.
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
    /// An array: element type and length.
    Array(Box<Type>, u32),
    /// A structure, by its members in order.
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

    /// The scalar type and the number of components of a scalar or vector.
    pub fn scalar(&self) -> Option<(Scalar, u8)> {
        match *self {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector(scalar, n) => Some((scalar, n)),
            _ => None,
        }
    }

    /// The number of scalars in a value.
    pub fn scalars(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(_, n) => usize::from(*n),
            Type::Array(element, n) => element.scalars() * *n as usize,
            Type::Struct(members) => members.iter().map(Type::scalars).sum(),
        }
    }

    /// The type of a direct part. `None` if a structure has no such member, or for a scalar. The
    /// index does not matter for arrays and vectors.
    pub fn part(&self, index: u32) -> Option<Type> {
        match self {
            Type::Scalar(_) => None,
            Type::Vector(scalar, _) => Some(Type::Scalar(*scalar)),
            Type::Array(element, _) => Some((**element).clone()),
            Type::Struct(members) => members.get(index as usize).cloned(),
        }
    }

    /// The number of direct parts of a composite. 0 for a scalar.
    pub fn parts(&self) -> u32 {
        match self {
            Type::Scalar(_) => 0,
            Type::Vector(_, n) => u32::from(*n),
            Type::Array(_, n) => *n,
            Type::Struct(members) => members.len() as u32,
        }
    }

    /// The type at the end of a path. `None` if the path does not fit the type.
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
    /// A constant index, which is in bounds.
    Member(u32),
    /// An index that is computed at run time. It is a 32-bit unsigned integer that lowering brings
    /// into bounds.
    Index,
}
