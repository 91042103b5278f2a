//! Shapes of types, and the shapes that SPIR-V requires of an operation's operands and result.

/// The component type of a type or of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Booleans.
    Bool,
    /// Integers.
    Int {
        /// The width in bits: 8, 16, 32 or 64.
        width: u8,
        /// The Signedness operand of OpTypeInt.
        signed: bool,
    },
    /// IEEE 754 binary floats.
    Float {
        /// The width in bits: 16, 32 or 64.
        width: u8,
    },
    /// A pointer.
    Pointer,
    /// Anything but a number, a Boolean or a pointer.
    Other,
}

impl Scalar {
    /// 16-bit floats.
    pub const F16: Scalar = Scalar::Float { width: 16 };
    /// 32-bit floats.
    pub const F32: Scalar = Scalar::Float { width: 32 };
    /// 64-bit floats.
    pub const F64: Scalar = Scalar::Float { width: 64 };
    /// 32-bit integers with Signedness 1.
    pub const I32: Scalar = Scalar::Int { width: 32, signed: true };
    /// 32-bit integers with Signedness 0.
    pub const U32: Scalar = Scalar::Int { width: 32, signed: false };

    /// Integers of that width.
    pub const fn int(width: u8, signed: bool) -> Scalar {
        Scalar::Int { width, signed }
    }

    /// The width of a component in bits: 1 for Booleans, 0 for pointers and other types.
    pub fn width(self) -> u8 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { width, .. } | Scalar::Float { width } => width,
            Scalar::Pointer | Scalar::Other => 0,
        }
    }

    /// Whether this is a float type of any width.
    #[inline]
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float { .. })
    }

    /// Whether this is an integer type of any width and signedness.
    #[inline]
    pub fn is_int(self) -> bool {
        matches!(self, Scalar::Int { .. })
    }

    /// Whether two component types are equal, except for the signedness of integers.
    #[inline]
    pub fn same_bits(self, other: Scalar) -> bool {
        self == other || self.is_int() && other.is_int() && self.width() == other.width()
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Scalar::Bool => f.write_str("bool"),
            Scalar::Int { width: 32, signed: true } => f.write_str("int"),
            Scalar::Int { width: 32, signed: false } => f.write_str("uint"),
            Scalar::Int { width, signed: true } => write!(f, "int{width}"),
            Scalar::Int { width, signed: false } => write!(f, "uint{width}"),
            Scalar::Float { width: 32 } => f.write_str("float"),
            Scalar::Float { width } => write!(f, "float{width}"),
            Scalar::Pointer => f.write_str("pointer"),
            Scalar::Other => f.write_str("no number or Boolean"),
        }
    }
}

/// The shape of a type or of a value. A scalar is 1×1, a vector n×1, a matrix rows×columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The component type.
    pub scalar: Scalar,
    /// The number of components of a column.
    pub rows: u8,
    /// The number of columns.
    pub columns: u8,
}

impl Shape {
    /// The shape of types without components of their own: structures, arrays, opaque types.
    pub const OTHER: Shape = Shape { scalar: Scalar::Other, rows: 0, columns: 0 };

    /// A vector shape. With one row it is a scalar.
    pub const fn vector(scalar: Scalar, rows: u8) -> Shape {
        Shape { scalar, rows, columns: 1 }
    }

    /// A matrix shape.
    pub const fn matrix(scalar: Scalar, rows: u8, columns: u8) -> Shape {
        Shape { scalar, rows, columns }
    }

    /// The number of components.
    #[inline]
    pub fn lanes(self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// Whether values of this shape are lanes of 32-bit floats or Booleans.
    #[inline]
    pub fn is_lanes(self) -> bool {
        matches!(self.scalar, Scalar::Float { width: 32 } | Scalar::Bool)
    }

    /// Whether values of this shape are numbers or Booleans: scalars, vectors or matrices.
    #[inline]
    pub fn is_data(self) -> bool {
        !matches!(self.scalar, Scalar::Pointer | Scalar::Other)
    }

    /// The shape with the same rows and columns, and another component type.
    #[inline]
    pub fn of(self, scalar: Scalar) -> Shape {
        Shape { scalar, ..self }
    }

    /// Whether two shapes are equal, except for the signedness of integers.
    #[inline]
    pub fn same_bits(self, other: Shape) -> bool {
        self.scalar.same_bits(other.scalar) && self.rows == other.rows && self.columns == other.columns
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scalar = self.scalar;
        match (self.rows, self.columns) {
            _ if !self.is_data() => write!(f, "{scalar}"),
            (1, 1) => write!(f, "{scalar}"),
            (rows, 1) => write!(f, "vec{rows} of {scalar}"),
            (rows, columns) => write!(f, "matrix of {columns} columns of {rows} {scalar}"),
        }
    }
}

/// A set of component types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Booleans.
    Bool,
    /// Integers of any width and signedness.
    Int,
    /// Integers of any width with Signedness 0.
    Unsigned,
    /// Integers of 32 bits: "currently limited to 32-bit width components".
    Int32,
    /// Floats of any width.
    Float,
    /// Floats of 16 or 32 bits.
    Float16Or32,
    /// Floats of 32 bits.
    Float32,
}

impl Class {
    /// Whether the set contains a component type.
    #[inline]
    pub fn has(self, scalar: Scalar) -> bool {
        match self {
            Class::Bool => scalar == Scalar::Bool,
            Class::Int => scalar.is_int(),
            Class::Unsigned => matches!(scalar, Scalar::Int { signed: false, .. }),
            Class::Int32 => matches!(scalar, Scalar::Int { width: 32, .. }),
            Class::Float => scalar.is_float(),
            Class::Float16Or32 => matches!(scalar, Scalar::Float { width: 16 | 32 }),
            Class::Float32 => scalar == Scalar::F32,
        }
    }

    /// Whether a shape is a scalar or vector with a component type of the set.
    #[inline]
    fn holds(self, shape: Shape) -> bool {
        shape.columns == 1 && shape.rows >= 1 && self.has(shape.scalar)
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Class::Bool => "Boolean",
            Class::Int => "integer",
            Class::Unsigned => "unsigned integer",
            Class::Int32 => "32-bit integer",
            Class::Float => "float",
            Class::Float16Or32 => "16-bit or 32-bit float",
            Class::Float32 => "32-bit float",
        })
    }
}

/// How an integer dot product reads the components of its two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// Both as signed.
    Signed,
    /// Both as unsigned.
    Unsigned,
    /// The first as signed, the second as unsigned.
    Mixed,
}

/// The shapes that an operation requires of its operands and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// n operands and the result have the same scalar or vector type, of that class.
    Componentwise(u8, Class),
    /// n operands and the result are scalars or vectors of the class, with the same number and
    /// width of components. Signedness may differ.
    SameWidth(u8, Class),
    /// Two operands have the same scalar or vector shape of the class, except for the signedness of
    /// integers. The result has as many Booleans.
    Comparison(Class),
    /// The operand is a float scalar or vector. The result has as many Booleans.
    FloatTest,
    /// A vector of Booleans to a Boolean.
    Reduction,
    /// Condition, object, object: see [`Signature::fits`].
    Select,
    /// A scalar or vector of the first class → as many components of the second class.
    Convert(Class, Class),
    /// A `Convert` between two different widths.
    ConvertWidth(Class, Class),
    /// Scalars or vectors of numbers with equal total numbers of bits. One number of components is
    /// a multiple of the other.
    Bitcast,
    /// Base, shift → an integer type with the base's number and width of components. The shift
    /// has as many integers of any width.
    Shift,
    /// Base and insert of the result's type, then offset and count, which are integer scalars.
    BitFieldInsert,
    /// Base of the result's type, then offset and count, which are integer scalars.
    BitFieldExtract,
    /// Integers → as many integers that can hold the number of bits.
    BitCount,
    /// n operands of the same type of the class → a structure of two members of that type.
    Pair(u8, Class),
    /// x, a pointer to x's type → x's type.
    Modf,
    /// x, a pointer to as many 32-bit integers → x's type.
    Frexp,
    /// x → a structure of x's type and as many 32-bit integers.
    FrexpStruct,
    /// x, as many integers → x's type.
    Ldexp,
    /// A value of the first shape → one of the second. The signedness of integers may differ.
    Reshape(Shape, Shape),
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
    /// Two vectors → the matrix with a column for each component of the second.
    OuterProduct,
    /// matrix → matrix.
    Transpose,
    /// Two vectors → scalar. The flag says whether the operands may also be scalars.
    Scalar2(bool),
    /// Two integer vectors, or two 32-bit integers of four packed components each → an integer at
    /// least as wide as a component. The flag says whether there is an accumulator of the
    /// result's type.
    IntegerDot(Signs, bool),
    /// A vector or scalar → scalar.
    Scalar1,
    /// Two vec3 → vec3.
    Cross,
    /// I and N of the result's type, and a scalar of its component type → that type.
    Refract,
    /// A square matrix → scalar.
    Determinant,
    /// A square matrix → a matrix of the same type.
    Inverse,
}

impl Signature {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            Signature::Componentwise(n, _) | Signature::SameWidth(n, _) | Signature::Pair(n, _) => n as usize,
            Signature::BitFieldInsert => 4,
            Signature::Select | Signature::BitFieldExtract | Signature::Refract | Signature::IntegerDot(_, true) => 3,
            Signature::Reduction
            | Signature::FloatTest
            | Signature::Convert(..)
            | Signature::ConvertWidth(..)
            | Signature::Bitcast
            | Signature::BitCount
            | Signature::FrexpStruct
            | Signature::Reshape(..)
            | Signature::Transpose
            | Signature::Scalar1
            | Signature::Determinant
            | Signature::Inverse => 1,
            _ => 2,
        }
    }

    /// The number of members of the result: 2 if it must be a structure, otherwise 0.
    pub fn members(self) -> usize {
        match self {
            Signature::Pair(..) | Signature::FrexpStruct => 2,
            _ => 0,
        }
    }

    /// The index of the operand that is a pointer to write through, if there is one. For
    /// [`Signature::fits`], its shape is that of the pointee.
    pub fn written_through(self) -> Option<usize> {
        matches!(self, Signature::Modf | Signature::Frexp).then_some(1)
    }

    /// Whether an operand of an integer dot product is a 32-bit integer of four packed components.
    pub fn is_packed(operand: Shape) -> bool {
        operand.lanes() == 1 && matches!(operand.scalar, Scalar::Int { width: 32, .. })
    }

    /// Whether operands and result have the shapes that SPIR-V requires. `selects_composites` says
    /// whether a scalar condition may select composites (from version 1.4 on). A result that is a
    /// structure never fits; see [`Signature::fits_members`].
    pub fn fits(self, args: &[Shape], result: Shape, selects_composites: bool) -> bool {
        self.members() == 0 && self.shapes_fit(args, result, Shape::OTHER, selects_composites)
    }

    /// Whether operands and the two members of a structure result have the shapes that
    /// SPIR-V requires.
    pub fn fits_members(self, args: &[Shape], members: &[Shape]) -> bool {
        match *members {
            [first, second] => self.members() == 2 && self.shapes_fit(args, first, second, false),
            _ => false,
        }
    }

    fn shapes_fit(self, args: &[Shape], result: Shape, second: Shape, selects_composites: bool) -> bool {
        use Scalar::Bool;
        if args.len() != self.arity() {
            return false;
        }
        let float = |s: Shape| s.scalar.is_float();
        let vector = |s: Shape| float(s) && s.columns == 1 && s.rows > 1;
        let matrix = |s: Shape| float(s) && s.columns > 1;
        let scalar_of = |s: Shape| Shape::vector(s.scalar, 1);
        let integer = |s: Shape| s.rows == 1 && s.columns == 1 && s.scalar.is_int();
        match self {
            Signature::Componentwise(_, class) => class.holds(result) && args.iter().all(|&a| a == result),
            Signature::SameWidth(_, class) => class.holds(result) && args.iter().all(|&a| a.same_bits(result)),
            Signature::Comparison(class) => {
                let [a, b] = [args[0], args[1]];
                class.holds(a) && if class == Class::Int { a.same_bits(b) } else { a == b } && result == a.of(Bool)
            }
            Signature::FloatTest => Class::Float.holds(args[0]) && result == args[0].of(Bool),
            Signature::Reduction => {
                let a = args[0];
                a.scalar == Bool && a.rows > 1 && a.columns == 1 && result == Shape::vector(Bool, 1)
            }
            Signature::Select => {
                let [condition, a, b] = [args[0], args[1], args[2]];
                let componentwise = result.columns == 1 && condition == result.of(Bool);
                let whole = selects_composites && condition == Shape::vector(Bool, 1);
                result.is_data() && a == result && b == result && (componentwise || whole)
            }
            Signature::Convert(from, to) => from.holds(args[0]) && to.holds(result) && result.of(args[0].scalar) == args[0],
            Signature::ConvertWidth(from, to) => {
                let a = args[0];
                from.holds(a) && to.holds(result) && result.of(a.scalar) == a && a.scalar.width() != result.scalar.width()
            }
            Signature::Bitcast => {
                let number = |s: Shape| s.columns == 1 && s.rows >= 1 && (s.scalar.is_int() || s.scalar.is_float());
                let bits = |s: Shape| u32::from(s.rows) * u32::from(s.scalar.width());
                let [more, fewer] = [args[0].rows.max(result.rows), args[0].rows.min(result.rows)];
                number(args[0]) && number(result) && bits(args[0]) == bits(result) && more % fewer == 0
            }
            Signature::Shift => {
                let [base, shift] = [args[0], args[1]];
                Class::Int.holds(result) && base.same_bits(result) && Class::Int.holds(shift) && shift.rows == result.rows
            }
            Signature::BitFieldInsert => {
                Class::Int.holds(result) && args[0] == result && args[1] == result && integer(args[2]) && integer(args[3])
            }
            Signature::BitFieldExtract => Class::Int.holds(result) && args[0] == result && integer(args[1]) && integer(args[2]),
            Signature::BitCount => {
                // The widest base has 64 bits, and every integer type can hold the number 64.
                Class::Int.holds(args[0]) && Class::Int.holds(result) && args[0].rows == result.rows
            }
            Signature::Pair(_, class) => class.holds(result) && second == result && args.iter().all(|&a| a == result),
            Signature::Modf => Class::Float.holds(result) && args[0] == result && args[1] == result,
            Signature::Frexp => {
                Class::Float.holds(result) && args[0] == result && Class::Int32.holds(args[1]) && args[1].rows == result.rows
            }
            Signature::FrexpStruct => {
                Class::Float.holds(result) && args[0] == result && Class::Int32.holds(second) && second.rows == result.rows
            }
            Signature::Ldexp => Class::Float.holds(result) && args[0] == result && Class::Int.holds(args[1]) && args[1].rows == result.rows,
            Signature::Reshape(from, to) => args[0].same_bits(from) && result.same_bits(to),
            Signature::VectorTimesScalar => vector(args[0]) && args[1] == scalar_of(args[0]) && result == args[0],
            Signature::MatrixTimesScalar => matrix(args[0]) && args[1] == scalar_of(args[0]) && result == args[0],
            Signature::VectorTimesMatrix => {
                let [v, m] = [args[0], args[1]];
                vector(v) && matrix(m) && v.scalar == m.scalar && v.rows == m.rows && result == Shape::vector(v.scalar, m.columns)
            }
            Signature::MatrixTimesVector => {
                let [m, v] = [args[0], args[1]];
                vector(v) && matrix(m) && v.scalar == m.scalar && v.rows == m.columns && result == Shape::vector(v.scalar, m.rows)
            }
            Signature::MatrixTimesMatrix => {
                let [a, b] = [args[0], args[1]];
                matrix(a)
                    && matrix(b)
                    && a.scalar == b.scalar
                    && a.columns == b.rows
                    && result == Shape::matrix(a.scalar, a.rows, b.columns)
            }
            Signature::OuterProduct => {
                let [a, b] = [args[0], args[1]];
                vector(a) && vector(b) && a.scalar == b.scalar && result == Shape::matrix(a.scalar, a.rows, b.rows)
            }
            Signature::Transpose => {
                let m = args[0];
                matrix(m) && result == Shape::matrix(m.scalar, m.columns, m.rows)
            }
            Signature::Scalar2(scalars) => {
                let [a, b] = [args[0], args[1]];
                a == b && (vector(a) || scalars && float(a) && a == scalar_of(a)) && result == scalar_of(a)
            }
            Signature::IntegerDot(signs, accumulates) => {
                let [a, b] = [args[0], args[1]];
                let packed = Signature::is_packed(a) && Signature::is_packed(b);
                let vectors = Class::Int.holds(a) && a.rows > 1 && a.same_bits(b);
                let alike = signs == Signs::Mixed || a == b;
                let unsigned = |s: Shape| packed || Class::Unsigned.has(s.scalar);
                let signs = match signs {
                    Signs::Signed => true,
                    Signs::Unsigned => unsigned(a) && unsigned(b) && Class::Unsigned.has(result.scalar),
                    Signs::Mixed => unsigned(b),
                };
                let wide = integer(result) && result.scalar.width() >= if packed { 8 } else { a.scalar.width() };
                (packed || vectors) && alike && signs && wide && (!accumulates || args[2] == result)
            }
            Signature::Scalar1 => Class::Float.holds(args[0]) && result == scalar_of(args[0]),
            Signature::Cross => float(result) && result == Shape::vector(result.scalar, 3) && args.iter().all(|&s| s == result),
            Signature::Refract => Class::Float.holds(result) && args[0] == result && args[1] == result && args[2] == scalar_of(result),
            Signature::Determinant => matrix(args[0]) && args[0].rows == args[0].columns && result == scalar_of(args[0]),
            Signature::Inverse => matrix(args[0]) && args[0].rows == args[0].columns && result == args[0],
        }
    }

    /// The requirement on operands and result, in words.
    pub fn requirement(self) -> String {
        let fixed = match self {
            Signature::Componentwise(_, class) => return format!("operands and result of one {class} scalar or vector type"),
            Signature::SameWidth(_, class) => {
                return format!("operands and result of {class} scalars or vectors of one width and number of components");
            }
            Signature::Comparison(Class::Int) => {
                "two integer operands of one width and number of components and a result of as many Booleans"
            }
            Signature::Comparison(class) => return format!("two operands of one {class} type and a result of as many Booleans"),
            Signature::Convert(from, to) => return format!("a {from} scalar or vector and a result of as many {to} components"),
            Signature::ConvertWidth(from, to) => {
                return format!("a {from} scalar or vector and a result of as many {to} components of another width");
            }
            Signature::Pair(_, class) => {
                return format!("operands of one {class} type and a result that is a structure of two members of that type");
            }
            Signature::Reshape(from, to) => return format!("{from} and a result of {to}"),
            Signature::FloatTest => "a float scalar or vector and a result of as many Booleans",
            Signature::Reduction => "a vector of Booleans and a Boolean result",
            Signature::Select => "a condition of as many Booleans as the result has components, and two objects of the result's type",
            Signature::Bitcast => "number scalars or vectors of equally many bits, the components of one a multiple of the other's",
            Signature::Shift => "a base of the result's width and number of components and as many integers",
            Signature::BitFieldInsert => "a base and an insert of the result's type and two integer scalars",
            Signature::BitFieldExtract => "a base of the result's type and two integer scalars",
            Signature::BitCount => "an integer scalar or vector and a result of as many integers",
            Signature::Modf => "a float scalar or vector, a pointer to its type and a result of its type",
            Signature::Frexp => "a float scalar or vector, a pointer to as many 32-bit integers and a result of the float type",
            Signature::FrexpStruct => "a float scalar or vector and a structure of its type and as many 32-bit integers",
            Signature::Ldexp => "a float scalar or vector, as many integers and a result of the float type",
            Signature::VectorTimesScalar => "a vector, a scalar and a result of the vector's type",
            Signature::MatrixTimesScalar => "a matrix, a scalar and a result of the matrix's type",
            Signature::VectorTimesMatrix => "a vector with a component per row, a matrix and a vector with a component per column",
            Signature::MatrixTimesVector => "a matrix, a vector with a component per column and a vector with a component per row",
            Signature::MatrixTimesMatrix => "matrices that can be multiplied and the product's type",
            Signature::OuterProduct => {
                "two vectors and a matrix with a row for each component of the first and a column for each of the second"
            }
            Signature::Transpose => "a matrix and the type with rows and columns exchanged",
            Signature::Scalar2(false) => "two vectors of one float type and a float result",
            Signature::Scalar2(true) => "two operands of one float scalar or vector type and a float result",
            Signature::IntegerDot(signs, accumulates) => {
                let vectors = match signs {
                    Signs::Signed => "two integer vectors of one type",
                    Signs::Unsigned => "two unsigned integer vectors of one type",
                    Signs::Mixed => "an integer vector and an unsigned one of as many components and the same width",
                };
                let result = if signs == Signs::Unsigned { "an unsigned integer result" } else { "an integer result" };
                let accumulator = if accumulates { ", an accumulator of the result's type" } else { "" };
                return format!("{vectors}, or two 32-bit integers with a packed vector format{accumulator}, and {result} that is as wide");
            }
            Signature::Scalar1 => "a float scalar or vector and a float result",
            Signature::Cross => "operands and result of three floats",
            Signature::Refract => "two operands of the result's float type and a scalar of its component type",
            Signature::Determinant => "a square matrix and a float result",
            Signature::Inverse => "a square matrix and a result of its type",
        };
        fixed.to_string()
    }
}
