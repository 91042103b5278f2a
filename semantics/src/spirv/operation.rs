//! Which instruction is which operation on numbers, and what its operands must be.
//!
//! One table for the checks at load, the reference and the machine; each row is tested against values computed by hand.

use std::sync::LazyLock;

use rspirv::spirv::Op as Core;

use crate::number::{self, Op};

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32-bit floats.
    Float,
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// A pointer.
    Pointer,
    /// No value of the modeled subset.
    Other,
}

/// The shape of a type or of a value: a scalar is 1×1, a vector n×1, a matrix rows×columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The component type.
    pub scalar: Scalar,
    /// Components of a column.
    pub rows: u8,
    /// Columns.
    pub columns: u8,
}

impl Shape {
    /// The shape of what has no components that the subset models.
    pub const OTHER: Shape = Shape { scalar: Scalar::Other, rows: 0, columns: 0 };

    /// A vector, or with one row a scalar.
    pub const fn vector(scalar: Scalar, rows: u8) -> Shape {
        Shape { scalar, rows, columns: 1 }
    }

    /// The number of components.
    #[inline]
    pub fn lanes(self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// Whether values of this shape are lanes of floats or Booleans.
    #[inline]
    pub fn is_lanes(self) -> bool {
        matches!(self.scalar, Scalar::Float | Scalar::Bool)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scalar = match self.scalar {
            Scalar::Float => "float",
            Scalar::Bool => "bool",
            Scalar::Int => "int",
            Scalar::Pointer => return f.write_str("pointer"),
            Scalar::Other => return f.write_str("no number or Boolean"),
        };
        match (self.rows, self.columns) {
            (1, 1) => f.write_str(scalar),
            (rows, 1) => write!(f, "vec{rows} of {scalar}"),
            (rows, columns) => write!(f, "matrix of {columns} columns of {rows} {scalar}"),
        }
    }
}

/// What the operands and the result of an operation must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// n operands and the result: one scalar or vector shape of that component type.
    Componentwise(u8, Scalar),
    /// Two operands of one scalar or vector shape of the component type, the result Booleans as many.
    Comparison(Scalar),
    /// A vector of Booleans to a Boolean.
    Reduction,
    /// Condition, object, object: see [`Signature::fits`].
    Select,
    /// vector, scalar → vector.
    VectorTimesScalar,
    /// matrix, scalar → matrix.
    MatrixTimesScalar,
    /// vector, matrix → vector.
    VectorTimesMatrix,
    /// matrix, vector → vector.
    MatrixTimesVector,
    /// matrix, matrix → matrix.
    MatrixTimesMatrix,
    /// matrix → matrix.
    Transpose,
    /// Two vectors (or scalars too, as the flag says) → scalar.
    Scalar2(bool),
    /// A vector or scalar → scalar.
    Scalar1,
    /// Two vec3 → vec3.
    Cross,
    /// A square matrix → scalar.
    Determinant,
    /// A square matrix → the same.
    Inverse,
}

/// An operation and its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is computed.
    pub op: Op,
    /// Of what.
    pub signature: Signature,
}

impl Signature {
    /// How many operands there are.
    pub fn arity(self) -> usize {
        match self {
            Signature::Componentwise(n, _) => n as usize,
            Signature::Select => 3,
            Signature::Reduction | Signature::Transpose | Signature::Scalar1 | Signature::Determinant | Signature::Inverse => 1,
            _ => 2,
        }
    }

    /// Whether operands and result have the shapes that SPIR-V requires; `selects_composites` is whether the version lets a scalar
    /// condition select composites (1.4).
    pub fn fits(self, args: &[Shape], result: Shape, selects_composites: bool) -> bool {
        use Scalar::{Bool, Float};
        if args.len() != self.arity() {
            return false;
        }
        let vector = |s: Shape| s.scalar == Float && s.columns == 1 && s.rows > 1;
        let scalar = |s: Shape| s == Shape::vector(Float, 1);
        let matrix = |s: Shape| s.scalar == Float && s.columns > 1;
        match self {
            Signature::Componentwise(_, s) => result.scalar == s && result.columns == 1 && args.iter().all(|&a| a == result),
            Signature::Comparison(s) => {
                let [a, b] = [args[0], args[1]];
                a.scalar == s && a.columns == 1 && a == b && result == Shape { scalar: Bool, ..a }
            }
            Signature::Reduction => {
                let a = args[0];
                a.scalar == Bool && a.rows > 1 && a.columns == 1 && result == Shape::vector(Bool, 1)
            }
            Signature::Select => {
                let [condition, a, b] = [args[0], args[1], args[2]];
                let componentwise = result.columns == 1 && condition == Shape { scalar: Bool, ..result };
                let whole = selects_composites && condition == Shape::vector(Bool, 1);
                result.is_lanes() && a == result && b == result && (componentwise || whole)
            }
            Signature::VectorTimesScalar => vector(args[0]) && scalar(args[1]) && result == args[0],
            Signature::MatrixTimesScalar => matrix(args[0]) && scalar(args[1]) && result == args[0],
            Signature::VectorTimesMatrix => {
                let [v, m] = [args[0], args[1]];
                vector(v) && matrix(m) && v.rows == m.rows && result == Shape::vector(Float, m.columns)
            }
            Signature::MatrixTimesVector => {
                let [m, v] = [args[0], args[1]];
                vector(v) && matrix(m) && v.rows == m.columns && result == Shape::vector(Float, m.rows)
            }
            Signature::MatrixTimesMatrix => {
                let [a, b] = [args[0], args[1]];
                matrix(a) && matrix(b) && a.columns == b.rows && result == Shape { scalar: Float, rows: a.rows, columns: b.columns }
            }
            Signature::Transpose => {
                let m = args[0];
                matrix(m) && result == Shape { scalar: Float, rows: m.columns, columns: m.rows }
            }
            Signature::Scalar2(scalars) => {
                let [a, b] = [args[0], args[1]];
                a == b && (vector(a) || scalars && scalar(a)) && scalar(result)
            }
            Signature::Scalar1 => (vector(args[0]) || scalar(args[0])) && scalar(result),
            Signature::Cross => args.iter().chain([&result]).all(|&s| s == Shape::vector(Float, 3)),
            Signature::Determinant => matrix(args[0]) && args[0].rows == args[0].columns && scalar(result),
            Signature::Inverse => matrix(args[0]) && args[0].rows == args[0].columns && result == args[0],
        }
    }

    /// What the operands must be, in words.
    pub fn requirement(self) -> &'static str {
        match self {
            Signature::Componentwise(_, Scalar::Bool) => "operands and result of one Boolean scalar or vector type",
            Signature::Componentwise(..) => "operands and result of one 32-bit float scalar or vector type",
            Signature::Comparison(Scalar::Bool) => "two operands of one Boolean type and a result of as many Booleans",
            Signature::Comparison(_) => "two operands of one 32-bit float type and a result of as many Booleans",
            Signature::Reduction => "a vector of Booleans and a Boolean result",
            Signature::Select => "a condition of as many Booleans as the result has components, and two objects of the result's type",
            Signature::VectorTimesScalar => "a vector, a scalar and a result of the vector's type",
            Signature::MatrixTimesScalar => "a matrix, a scalar and a result of the matrix's type",
            Signature::VectorTimesMatrix => "a vector with a component per row, a matrix and a vector with a component per column",
            Signature::MatrixTimesVector => "a matrix, a vector with a component per column and a vector with a component per row",
            Signature::MatrixTimesMatrix => "matrices that can be multiplied and the product's type",
            Signature::Transpose => "a matrix and the type with rows and columns exchanged",
            Signature::Scalar2(false) => "two vectors of one float type and a float result",
            Signature::Scalar2(true) => "two operands of one float scalar or vector type and a float result",
            Signature::Scalar1 => "a float scalar or vector and a float result",
            Signature::Cross => "operands and result of three floats",
            Signature::Determinant => "a square matrix and a float result",
            Signature::Inverse => "a square matrix and a result of its type",
        }
    }
}

/// The operations by opcode, and by number within GLSL.std.450.
struct Operations {
    core: Vec<Option<Operation>>,
    glsl: Vec<Option<Operation>>,
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| {
    let mut tables = Operations { core: Vec::new(), glsl: Vec::new() };
    for &op in Op::ALL {
        let (table, number) = match op.instruction() {
            number::Instruction::Core(opcode) => (&mut tables.core, opcode as usize),
            number::Instruction::Glsl(number) => (&mut tables.glsl, number as usize),
        };
        if table.len() <= number {
            table.resize(number + 1, None);
        }
        table[number] = Some(Operation { op, signature: signature(op) });
    }
    tables
});

/// The operation that a core instruction computes on its operands.
#[inline]
pub fn core(op: Core) -> Option<Operation> {
    OPERATIONS.core.get(op as usize).copied().flatten()
}

/// The operation that an instruction of GLSL.std.450 computes.
#[inline]
pub fn glsl(number: u32) -> Option<Operation> {
    OPERATIONS.glsl.get(number as usize).copied().flatten()
}

fn signature(op: Op) -> Signature {
    use Scalar::{Bool, Float};
    match op {
        Op::VectorTimesScalar => Signature::VectorTimesScalar,
        Op::MatrixTimesScalar => Signature::MatrixTimesScalar,
        Op::VectorTimesMatrix => Signature::VectorTimesMatrix,
        Op::MatrixTimesVector => Signature::MatrixTimesVector,
        Op::MatrixTimesMatrix => Signature::MatrixTimesMatrix,
        Op::Transpose => Signature::Transpose,
        Op::Dot => Signature::Scalar2(false),
        Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual => {
            Signature::Comparison(Float)
        }
        Op::LogicalEqual | Op::LogicalNotEqual => Signature::Comparison(Bool),
        Op::And | Op::Or => Signature::Componentwise(2, Bool),
        Op::Not => Signature::Componentwise(1, Bool),
        Op::Any | Op::All => Signature::Reduction,
        Op::Select => Signature::Select,
        Op::Determinant => Signature::Determinant,
        Op::MatrixInverse => Signature::Inverse,
        Op::Length => Signature::Scalar1,
        Op::Distance => Signature::Scalar2(true),
        Op::Cross => Signature::Cross,
        // Everything else works on each component by itself, but for Normalize and Reflect, whose operands and result are alike too.
        _ => Signature::Componentwise(op.arity() as u8, Float),
    }
}
