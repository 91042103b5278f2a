//! The builtins. Reading, typing, reduction, translation, generation and the reference table of
//! docs/lambda-v.md all use one table.
//!
//! A builtin has one or more overloads. An overload's shapes share the report's metavariables: `I`
//! in 1..=4 (or from 2, where the SPIR-V instruction has no one-component form: LV-26), `T` in f
//! and b. Report §5 (types), §4 (meaning), §6.7 (instruction).

use super::types::{Elem, Ground, Value};
use crate::number::sets::{Sets, Unsettled};
use crate::number::{Arithmetic, Instruction, Lane, Lanes, Op, Tuple};
use smallvec::SmallVec;
use std::convert::Infallible;

/// The shape of a parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Vec(I, f).
    F,
    /// Vec(I, b).
    B,
    /// Vec(I, T).
    T,
    /// Vec(1, T).
    T1,
    /// Mat(I, f).
    Mat,
    /// Exactly this type.
    Is(Ground),
    /// A number written as a literal, an index below I.
    Index,
}

/// The translation of an overload (report §6.7), which also defines its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// One instruction on the operands in order.
    Compute(Op),
    /// One instruction on the two operands in reverse order.
    Swapped(Op),
    /// OpCompositeConstruct.
    Construct,
    /// OpCompositeExtract of this component.
    Extract(u8),
    /// OpCompositeExtract of the column that the first operand, a literal, names.
    Column,
    /// No instruction: the operand itself.
    Identity,
    /// OpLoad of the fragment coordinate.
    FragCoord,
}

/// One typing of a builtin.
#[derive(Clone, Copy, Debug)]
pub struct Overload {
    /// The parameters' shapes.
    pub params: &'static [Shape],
    /// The result's shape.
    pub result: Shape,
    /// The least I.
    pub least: u8,
    /// The greatest I.
    pub greatest: u8,
    /// The translation.
    pub emit: Emit,
}

/// A builtin of the table, by its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Builtin(pub u8);

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The predefined identifier.
    pub name: &'static str,
    /// Its overloads; at most one fits given operand types.
    pub overloads: &'static [Overload],
    /// The meaning, in a few words.
    pub doc: &'static str,
}

const fn for_all_sizes(params: &'static [Shape], result: Shape, emit: Emit) -> Overload {
    Overload { params, result, least: 1, greatest: 4, emit }
}

const fn for_sizes_from_2(params: &'static [Shape], result: Shape, emit: Emit) -> Overload {
    Overload { params, result, least: 2, greatest: 4, emit }
}

const fn exactly(n: u8, params: &'static [Shape], result: Shape, emit: Emit) -> Overload {
    Overload { params, result, least: n, greatest: n, emit }
}

const NUM: Shape = Shape::Is(Ground::NUM);
const BOOL: Shape = Shape::Is(Ground::BOOL);
const F: Shape = Shape::F;
const B: Shape = Shape::B;
const T: Shape = Shape::T;
const MAT: Shape = Shape::Mat;

macro_rules! table {
    ($($name:literal $doc:literal [$($overload:expr),* $(,)?];)*) => {
        /// Every builtin.
        pub static TABLE: &[Row] = &[$(Row { name: $name, overloads: &[$($overload),*], doc: $doc },)*];
    };
}

macro_rules! unary {
    ($op:ident) => {
        for_all_sizes(&[F], F, Emit::Compute(Op::$op))
    };
}

macro_rules! binary {
    ($op:ident) => {
        for_all_sizes(&[F, F], F, Emit::Compute(Op::$op))
    };
}

macro_rules! ternary {
    ($op:ident) => {
        for_all_sizes(&[F, F, F], F, Emit::Compute(Op::$op))
    };
}

macro_rules! compare {
    ($op:ident) => {
        for_all_sizes(&[F, F], B, Emit::Compute(Op::$op))
    };
}

macro_rules! component {
    ($n:literal) => {
        Overload { params: &[T], result: Shape::T1, least: if $n == 0 { 2 } else { $n + 1 }, greatest: 4, emit: Emit::Extract($n) }
    };
}

table! {
    "+" "sum" [binary!(Add)];
    "-" "difference; with one operand, negation" [unary!(Negate), binary!(Sub)];
    "*" "product: componentwise, vector and matrix by scalar, matrix by vector, vector by matrix, matrix by matrix" [
        binary!(Mul),
        for_sizes_from_2(&[F, NUM], F, Emit::Compute(Op::VectorTimesScalar)),
        for_sizes_from_2(&[NUM, F], F, Emit::Swapped(Op::VectorTimesScalar)),
        for_all_sizes(&[MAT, NUM], MAT, Emit::Compute(Op::MatrixTimesScalar)),
        for_all_sizes(&[NUM, MAT], MAT, Emit::Swapped(Op::MatrixTimesScalar)),
        for_sizes_from_2(&[MAT, F], F, Emit::Compute(Op::MatrixTimesVector)),
        for_sizes_from_2(&[F, MAT], F, Emit::Compute(Op::VectorTimesMatrix)),
        for_all_sizes(&[MAT, MAT], MAT, Emit::Compute(Op::MatrixTimesMatrix)),
    ];
    "/" "quotient" [binary!(Div)];
    "mod" "x - y·floor(x/y)" [binary!(Mod)];
    "min" "the lesser" [binary!(Min)];
    "max" "the greater" [binary!(Max)];
    "clamp" "min(max(x, low), high)" [ternary!(Clamp)];
    "mix" "x·(1 - a) + y·a" [ternary!(Mix)];
    "step" "(step edge x): 0 if x < edge, else 1" [binary!(Step)];
    "smoothstep" "(smoothstep edge0 edge1 x): Hermite interpolation" [ternary!(SmoothStep)];
    "floor" "the greatest integer not above" [unary!(Floor)];
    "ceil" "the least integer not below" [unary!(Ceil)];
    "fract" "x - floor(x)" [unary!(Fract)];
    "trunc" "the integer part" [unary!(Trunc)];
    "round" "the nearest integer, a half either way" [unary!(Round)];
    "round-even" "the nearest integer, a half to the even one" [unary!(RoundEven)];
    "abs" "magnitude" [unary!(Abs)];
    "sign" "-1, 0 or 1" [unary!(Sign)];
    "sin" "sine of radians" [unary!(Sin)];
    "cos" "cosine of radians" [unary!(Cos)];
    "tan" "tangent of radians" [unary!(Tan)];
    "asin" "arc sine" [unary!(Asin)];
    "acos" "arc cosine" [unary!(Acos)];
    "atan" "arc tangent" [unary!(Atan)];
    "atan2" "(atan2 y x): the angle of (x, y)" [binary!(Atan2)];
    "sinh" "hyperbolic sine" [unary!(Sinh)];
    "cosh" "hyperbolic cosine" [unary!(Cosh)];
    "tanh" "hyperbolic tangent" [unary!(Tanh)];
    "asinh" "inverse hyperbolic sine" [unary!(Asinh)];
    "acosh" "inverse hyperbolic cosine" [unary!(Acosh)];
    "atanh" "inverse hyperbolic tangent" [unary!(Atanh)];
    "exp" "e to the power" [unary!(Exp)];
    "exp2" "2 to the power" [unary!(Exp2)];
    "log" "natural logarithm" [unary!(Log)];
    "log2" "binary logarithm" [unary!(Log2)];
    "pow" "x to the power y" [binary!(Pow)];
    "sqrt" "square root" [unary!(Sqrt)];
    "inverse-sqrt" "1 / square root" [unary!(InverseSqrt)];
    "radians" "degrees to radians" [unary!(Radians)];
    "degrees" "radians to degrees" [unary!(Degrees)];
    "dot" "scalar product" [
        exactly(1, &[F, F], NUM, Emit::Compute(Op::Mul)),
        for_sizes_from_2(&[F, F], NUM, Emit::Compute(Op::Dot)),
    ];
    "cross" "vector product" [exactly(3, &[F, F], F, Emit::Compute(Op::Cross))];
    "length" "Euclidean length" [for_all_sizes(&[F], NUM, Emit::Compute(Op::Length))];
    "distance" "length of the difference" [for_all_sizes(&[F, F], NUM, Emit::Compute(Op::Distance))];
    "normalize" "the vector of length 1 in the same direction" [unary!(Normalize)];
    "reflect" "(reflect i n): i - 2·dot(n, i)·n" [binary!(Reflect)];
    "transpose" "rows for columns" [for_all_sizes(&[MAT], MAT, Emit::Compute(Op::Transpose))];
    "determinant" "determinant" [for_all_sizes(&[MAT], NUM, Emit::Compute(Op::Determinant))];
    "inverse" "inverse matrix" [for_all_sizes(&[MAT], MAT, Emit::Compute(Op::MatrixInverse))];
    "less-than" "x < y" [compare!(LessThan)];
    "less-equal" "x ≤ y" [compare!(LessThanEqual)];
    "greater-than" "x > y" [compare!(GreaterThan)];
    "greater-equal" "x ≥ y" [compare!(GreaterThanEqual)];
    "eq" "equality by component" [compare!(Equal), for_all_sizes(&[B, B], B, Emit::Compute(Op::LogicalEqual))];
    "neq" "inequality by component" [compare!(NotEqual), for_all_sizes(&[B, B], B, Emit::Compute(Op::LogicalNotEqual))];
    "and" "conjunction" [for_all_sizes(&[B, B], B, Emit::Compute(Op::And))];
    "or" "disjunction" [for_all_sizes(&[B, B], B, Emit::Compute(Op::Or))];
    "not" "negation" [for_all_sizes(&[B], B, Emit::Compute(Op::Not))];
    "any-of" "whether a component is true" [
        exactly(1, &[B], BOOL, Emit::Identity),
        for_sizes_from_2(&[B], BOOL, Emit::Compute(Op::Any)),
    ];
    "all-of" "whether all components are true" [
        exactly(1, &[B], BOOL, Emit::Identity),
        for_sizes_from_2(&[B], BOOL, Emit::Compute(Op::All)),
    ];
    "select" "(select c x y): x where c, else y, by component" [for_all_sizes(&[B, T, T], T, Emit::Compute(Op::Select))];
    "vec2" "vector of two numbers" [exactly(2, &[NUM, NUM], F, Emit::Construct)];
    "vec3" "vector of three numbers" [exactly(3, &[NUM, NUM, NUM], F, Emit::Construct)];
    "vec4" "vector of four numbers" [exactly(4, &[NUM, NUM, NUM, NUM], F, Emit::Construct)];
    "bvec2" "vector of two Booleans" [exactly(2, &[BOOL, BOOL], B, Emit::Construct)];
    "bvec3" "vector of three Booleans" [exactly(3, &[BOOL, BOOL, BOOL], B, Emit::Construct)];
    "bvec4" "vector of four Booleans" [exactly(4, &[BOOL, BOOL, BOOL, BOOL], B, Emit::Construct)];
    "mat2" "matrix of two columns" [exactly(2, &[F, F], MAT, Emit::Construct)];
    "mat3" "matrix of three columns" [exactly(3, &[F, F, F], MAT, Emit::Construct)];
    "mat4" "matrix of four columns" [exactly(4, &[F, F, F, F], MAT, Emit::Construct)];
    "x" "first component" [component!(0)];
    "y" "second component" [component!(1)];
    "z" "third component" [component!(2)];
    "w" "fourth component" [component!(3)];
    "column" "(column i m): the column that the literal i names, from 0" [for_all_sizes(&[Shape::Index, MAT], F, Emit::Column)];
    "frag-coord" "the fragment's coordinate: x + 0.5, y + 0.5, 0, 1" [for_all_sizes(&[], Shape::Is(Ground::Vec(4, Elem::F)), Emit::FragCoord)];
}

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An overload that fits given operand types, with its result type.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// The instruction.
    pub emit: Emit,
    /// The result's type.
    pub result: Ground,
}

impl Builtin {
    /// Every builtin.
    pub fn all() -> impl Iterator<Item = Builtin> {
        (0..TABLE.len() as u8).map(Builtin)
    }

    /// The builtin of that name.
    pub fn from_name(name: &str) -> Option<Builtin> {
        TABLE.iter().position(|row| row.name == name).map(|i| Builtin(i as u8))
    }

    /// The builtin's row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self.0 as usize]
    }

    /// The predefined identifier.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The overload for these operand types, if one fits. `Shape::Index` fits Num. The caller
    /// checks that the operand is a literal.
    pub fn resolve(self, operands: &[Ground]) -> Option<Resolved> {
        self.row().overloads.iter().find_map(|o| o.fits(operands).map(|result| Resolved { emit: o.emit, result }))
    }

    /// Whether some overload takes this many operands.
    pub fn takes(self, operands: usize) -> bool {
        self.row().overloads.iter().any(|o| o.params.len() == operands)
    }

    /// The typings as the report writes them, one per overload.
    pub fn signatures(self) -> Vec<String> {
        self.row().overloads.iter().map(Overload::signature).collect()
    }

    /// δ: the builtin's result on values; `None` if no overload fits their types or a column index
    /// is not in range. `frag_coord` is the pixel's coordinate.
    pub fn apply(self, operands: &[&Value], frag_coord: &[Lane; 4], arithmetic: &Arithmetic) -> Option<Value> {
        let Ok(value) = self.apply_by(operands, frag_coord, |op, args| Ok::<_, Infallible>(arithmetic.apply(op, args)));
        value
    }

    /// [`Builtin::apply`] in a run over sets.
    pub fn apply_over(
        self,
        sets: &mut Sets,
        operands: &[&Value],
        frag_coord: &[Lane; 4],
        arithmetic: &Arithmetic,
    ) -> Result<Option<Value>, Unsettled> {
        self.apply_by(operands, frag_coord, |op, args| sets.apply(arithmetic, op, args))
    }

    fn apply_by<E>(
        self,
        operands: &[&Value],
        frag_coord: &[Lane; 4],
        compute: impl FnOnce(Op, &[Tuple<'_>]) -> Result<Lanes, E>,
    ) -> Result<Option<Value>, E> {
        let types: SmallVec<[Ground; 4]> = operands.iter().map(|v| v.ty).collect();
        let Some(Resolved { emit, result }) = self.resolve(&types) else { return Ok(None) };
        let lanes = match emit {
            Emit::Compute(op) => {
                let tuples: SmallVec<[_; 4]> = operands.iter().map(|v| v.tuple()).collect();
                compute(op, &tuples)?
            }
            Emit::Swapped(op) => compute(op, &[operands[1].tuple(), operands[0].tuple()])?,
            Emit::Construct => operands.iter().flat_map(|v| v.lanes.iter().copied()).collect(),
            Emit::Extract(i) => [operands[0].lanes[i as usize]].into_iter().collect(),
            Emit::Column => {
                let n = operands[1].ty.columns();
                let Some(i) = index_below(operands[0].lanes[0].float(), n) else { return Ok(None) };
                operands[1].lanes[i * n..(i + 1) * n].iter().copied().collect()
            }
            Emit::Identity => operands[0].lanes.clone(),
            Emit::FragCoord => frag_coord.iter().copied().collect(),
        };
        Ok(Some(Value { ty: result, lanes }))
    }
}

/// The index that a number names, if it is an integer below `n`.
pub fn index_below(x: f32, n: usize) -> Option<usize> {
    (x >= 0.0 && x.fract() == 0.0 && x < n as f32).then_some(x as usize)
}

impl Overload {
    /// The result type on these operand types, if they fit.
    pub fn fits(&self, operands: &[Ground]) -> Option<Ground> {
        if operands.len() != self.params.len() {
            return None;
        }
        let (mut i, mut t): (Option<u8>, Option<Elem>) = (None, None);
        let mut same_i = |n: u8| *i.get_or_insert(n) == n;
        let mut same_t = |e: Elem| *t.get_or_insert(e) == e;
        for (param, operand) in self.params.iter().zip(operands) {
            let fits = match (param, operand) {
                (Shape::F, Ground::Vec(n, Elem::F)) | (Shape::B, Ground::Vec(n, Elem::B)) | (Shape::Mat, Ground::Mat(n)) => same_i(*n),
                (Shape::T, Ground::Vec(n, e)) => same_i(*n) && same_t(*e),
                (Shape::T1, Ground::Vec(1, e)) => same_t(*e),
                (Shape::Is(g), o) => g == o,
                (Shape::Index, o) => *o == Ground::NUM,
                _ => false,
            };
            if !fits {
                return None;
            }
        }
        let n = i.unwrap_or(self.least);
        if !(self.least..=self.greatest).contains(&n) {
            return None;
        }
        self.shape(self.result, n, t.unwrap_or(Elem::F))
    }

    /// The type of `shape` for these I and T. `None` for a matrix of one column.
    pub fn shape(&self, shape: Shape, i: u8, t: Elem) -> Option<Ground> {
        Some(match shape {
            Shape::F => Ground::Vec(i, Elem::F),
            Shape::B => Ground::Vec(i, Elem::B),
            Shape::T => Ground::Vec(i, t),
            Shape::T1 => Ground::Vec(1, t),
            Shape::Mat if i >= 2 => Ground::Mat(i),
            Shape::Mat => return None,
            Shape::Is(g) => g,
            Shape::Index => Ground::NUM,
        })
    }

    /// The typing as the report writes it, with the range of I where it is not 1..4.
    pub fn signature(&self) -> String {
        let i = if self.least == self.greatest { self.least.to_string() } else { "I".to_string() };
        let one = |shape: &Shape| match shape {
            Shape::F => format!("Vec({i},f)"),
            Shape::B => format!("Vec({i},b)"),
            Shape::T => format!("Vec({i},T)"),
            Shape::T1 => "Vec(1,T)".to_string(),
            Shape::Mat => format!("Mat({i},f)"),
            Shape::Is(g) => g.to_string(),
            Shape::Index => "literal".to_string(),
        };
        let params: Vec<String> = self.params.iter().map(one).collect();
        let params = if params.is_empty() { "()".to_string() } else { params.join(" × ") };
        let has_i = self.params.iter().any(|s| matches!(s, Shape::F | Shape::B | Shape::T));
        let range = if has_i && self.least != self.greatest && self.least > 1 { format!(" (I ≥ {})", self.least) } else { String::new() };
        format!("{params} → {}{range}", one(&self.result))
    }

    /// The SPIR-V instruction's name, as `OpFAdd` or `GLSL.std.450 Sin`.
    pub fn instruction(&self) -> String {
        match self.emit {
            Emit::Compute(op) | Emit::Swapped(op) => {
                let swapped = if matches!(self.emit, Emit::Swapped(_)) { ", operands swapped" } else { "" };
                match op.instruction() {
                    Instruction::Core(_) => format!("{}{swapped}", op.name()),
                    Instruction::Glsl(_) => format!("GLSL.std.450 {}{swapped}", op.name()),
                }
            }
            Emit::Construct => "OpCompositeConstruct".into(),
            Emit::Extract(_) | Emit::Column => "OpCompositeExtract".into(),
            Emit::Identity => "none: the operand itself".into(),
            Emit::FragCoord => "OpLoad of the BuiltIn FragCoord variable".into(),
        }
    }
}

/// The table as Markdown: name, typings, instructions, meaning. docs/lambda-v.md contains it.
pub fn reference_table() -> String {
    let mut text = String::from("| builtin | type | SPIR-V | |\n|---|---|---|---|\n");
    for row in TABLE {
        for (i, overload) in row.overloads.iter().enumerate() {
            let (name, doc) = if i == 0 { (format!("`{}`", row.name), row.doc) } else { (String::new(), "") };
            text += &format!("| {name} | {} | {} | {doc} |\n", overload.signature(), overload.instruction());
        }
    }
    text
}
