//! A second implementation of the builtins. Their types and values are written by hand from the
//! report and the SPIR-V specification, in 64 bits.
//!
//! Both interpreters share the table of builtins and the number library. A wrong row is wrong in
//! both, and no comparison between them can show it. The code here calls neither. [`rows`] tests
//! every type of a builtin. Its operands reveal the order of operands and components, and include
//! equal operands, zeros of both signs, and rounding.

use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::syntax::print_number;
use smallstep_semantics::lambda_v::types::{Elem, Ground, Value};
use smallstep_semantics::number::{Arithmetic, Lane};
use std::sync::OnceLock;

use Elem::{B, F};
use Ground::{Mat, Vec as V};

const NUM: Ground = Ground::NUM;
const BOOL: Ground = Ground::BOOL;

/// The type of a builtin applied to operands of these types. `None` if it has none. It does not
/// check that a column's index is a literal in range.
pub fn typing(name: &str, operands: &[Ground]) -> Option<Ground> {
    Some(match (name, operands) {
        ("frag-coord", []) => V(4, F),
        ("-" | "floor" | "ceil" | "fract" | "trunc" | "round" | "round-even" | "abs" | "sign" | "radians" | "degrees", &[V(n, F)]) => {
            V(n, F)
        }
        ("sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "asinh" | "acosh" | "atanh", &[V(n, F)]) => V(n, F),
        ("exp" | "exp2" | "log" | "log2" | "sqrt" | "inverse-sqrt" | "normalize", &[V(n, F)]) => V(n, F),
        ("+" | "-" | "*" | "/" | "mod" | "min" | "max" | "step" | "atan2" | "pow" | "reflect", &[V(n, F), V(m, F)]) if n == m => V(n, F),
        ("*", &[V(n, F), NUM] | &[NUM, V(n, F)]) => V(n, F),
        ("*", &[Mat(n), NUM] | &[NUM, Mat(n)]) => Mat(n),
        ("*", &[Mat(n), V(m, F)] | &[V(m, F), Mat(n)]) if n == m => V(n, F),
        ("*", &[Mat(n), Mat(m)]) if n == m => Mat(n),
        ("clamp" | "mix" | "smoothstep", &[V(n, F), V(m, F), V(k, F)]) if n == m && m == k => V(n, F),
        ("dot" | "distance", &[V(n, F), V(m, F)]) if n == m => NUM,
        ("length", [V(_, F)]) | ("determinant", [Mat(_)]) => NUM,
        ("cross", [V(3, F), V(3, F)]) => V(3, F),
        ("transpose" | "inverse", &[Mat(n)]) => Mat(n),
        ("less-than" | "less-equal" | "greater-than" | "greater-equal", &[V(n, F), V(m, F)]) if n == m => V(n, B),
        ("eq" | "neq", &[V(n, e), V(m, d)]) if n == m && e == d => V(n, B),
        ("and" | "or", &[V(n, B), V(m, B)]) if n == m => V(n, B),
        ("not", &[V(n, B)]) => V(n, B),
        ("any-of" | "all-of", [V(_, B)]) => BOOL,
        ("select", &[V(n, B), V(m, e), V(k, d)]) if n == m && m == k && e == d => V(m, e),
        ("vec2", [NUM, NUM]) => V(2, F),
        ("vec3", [NUM, NUM, NUM]) => V(3, F),
        ("vec4", [NUM, NUM, NUM, NUM]) => V(4, F),
        ("bvec2", [BOOL, BOOL]) => V(2, B),
        ("bvec3", [BOOL, BOOL, BOOL]) => V(3, B),
        ("bvec4", [BOOL, BOOL, BOOL, BOOL]) => V(4, B),
        ("mat2", [V(2, F), V(2, F)]) => Mat(2),
        ("mat3", [V(3, F), V(3, F), V(3, F)]) => Mat(3),
        ("mat4", [V(4, F), V(4, F), V(4, F), V(4, F)]) => Mat(4),
        ("x", &[V(2.., e)]) | ("y", &[V(2.., e)]) | ("z", &[V(3.., e)]) | ("w", &[V(4, e)]) => V(1, e),
        ("column", &[NUM, Mat(n)]) => V(n, F),
        _ => return None,
    })
}

/// The required value of a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequiredValue {
    /// Exactly these bits: a float, or a Boolean as 0 or 1.
    Bits(u32),
    /// Within so many units in the last place of this float. Zeros of both signs are equal.
    Within(f32, u32),
}

impl RequiredValue {
    /// Whether the bits satisfy the requirement.
    pub fn admits(self, bits: u32) -> bool {
        match self {
            RequiredValue::Bits(expected) => bits == expected,
            RequiredValue::Within(value, _) if value.is_nan() => f32::from_bits(bits).is_nan(),
            RequiredValue::Within(value, ulps) => {
                // The key orders floats as integers. Both zeros are 0.
                let key = |x: f32| if x.is_sign_negative() { -i64::from(x.to_bits() & 0x7fff_ffff) } else { i64::from(x.to_bits()) };
                let found = f32::from_bits(bits);
                !found.is_nan() && (key(found) - key(value)).unsigned_abs() <= u64::from(ulps)
            }
        }
    }
}

/// A 64-bit result, rounded once.
fn exactly(x: f64) -> RequiredValue {
    let x = x as f32;
    RequiredValue::Bits(if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() })
}

fn near(ulps: u32) -> impl Fn(f64) -> RequiredValue {
    move |x| RequiredValue::Within(x as f32, ulps)
}

fn truth(b: bool) -> RequiredValue {
    RequiredValue::Bits(u32::from(b))
}

/// The lesser, as GLSL defines it: y if y < x, otherwise x.
fn least(x: f64, y: f64) -> f64 {
    if y < x { y } else { x }
}

/// The greater, as GLSL defines it: y if x < y, otherwise x.
fn greatest(x: f64, y: f64) -> f64 {
    if x < y { y } else { x }
}

fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.reduce(|a, b| a + b).unwrap_or(0.0)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum(x.iter().zip(y).map(|(a, b)| a * b))
}

/// A determinant by Laplace expansion along the first row.
fn determinant(m: &[Vec<f64>]) -> f64 {
    let n = m.len();
    if n == 1 {
        return m[0][0];
    }
    let without = |c: usize| -> Vec<Vec<f64>> { (0..n).filter(|&k| k != c).map(|k| m[k][1..].to_vec()).collect() };
    (0..n).map(|c| m[c][0] * determinant(&without(c)) * if c % 2 == 0 { 1.0 } else { -1.0 }).sum()
}

/// The inverse by Gauss-Jordan elimination. Matrices are lists of columns. `None` if the matrix
/// is singular.
fn inverse(m: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = m.len();
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|r| (0..n).map(|c| m[c][r]).chain((0..n).map(|c| if c == r { 1.0 } else { 0.0 })).collect()).collect();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()))?;
        rows.swap(i, pivot);
        let pivot_value = rows[i][i];
        if pivot_value == 0.0 {
            return None;
        }
        rows[i].iter_mut().for_each(|x| *x /= pivot_value);
        let pivot_row = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != i) {
            let factor = row[i];
            row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
        }
    }
    Some((0..n).map(|c| (0..n).map(|r| rows[r][n + c]).collect()).collect())
}

/// The components of a builtin's value. Matrices are column after column. `None` if the types do
/// not fit or no value is defined.
pub fn value(name: &str, operands: &[Value], frag_coord: [f32; 4]) -> Option<Vec<RequiredValue>> {
    let types: Vec<Ground> = operands.iter().map(|o| o.ty).collect();
    typing(name, &types)?;
    let xs: Vec<Vec<f64>> = operands.iter().map(|o| o.lanes.iter().map(|l| f64::from(l.float())).collect()).collect();
    let bs: Vec<Vec<bool>> = operands.iter().map(|o| o.lanes.iter().map(|l| l.is_true()).collect()).collect();
    let columns = |i: usize| -> Vec<Vec<f64>> { xs[i].chunks(xs[i].len() / types[i].columns()).map(<[f64]>::to_vec).collect() };
    let one = |f: &dyn Fn(f64) -> RequiredValue| xs[0].iter().map(|&x| f(x)).collect::<Vec<_>>();
    let two = |f: &dyn Fn(f64, f64) -> RequiredValue| xs[0].iter().zip(&xs[1]).map(|(&x, &y)| f(x, y)).collect::<Vec<_>>();
    let three = |f: &dyn Fn(f64, f64, f64) -> RequiredValue| (0..xs[0].len()).map(|i| f(xs[0][i], xs[1][i], xs[2][i])).collect::<Vec<_>>();
    let logic = |f: &dyn Fn(bool, bool) -> bool| bs[0].iter().zip(&bs[1]).map(|(&x, &y)| truth(f(x, y))).collect::<Vec<_>>();
    let operand_bits = |i: usize| operands[i].lanes.iter().map(|l| RequiredValue::Bits(l.bits)).collect::<Vec<_>>();
    let booleans = matches!(types.first(), Some(V(_, B)));
    let libm = near(1);
    Some(match name {
        "frag-coord" => frag_coord.iter().map(|&x| exactly(f64::from(x))).collect(),
        "-" if operands.len() == 1 => operands[0].lanes.iter().map(|l| RequiredValue::Bits(l.bits ^ 0x8000_0000)).collect(),
        "+" => two(&|x, y| exactly(x + y)),
        "-" => two(&|x, y| exactly(x - y)),
        "*" => match (types[0], types[1]) {
            (_, V(1, _)) => xs[0].iter().map(|x| exactly(x * xs[1][0])).collect(),
            (V(1, _), _) => xs[1].iter().map(|y| exactly(xs[0][0] * y)).collect(),
            (V(..), V(..)) => two(&|x, y| exactly(x * y)),
            // Matrix times vector: row r by the vector. Vector times matrix: the vector by
            // column c.
            (Mat(n), V(..)) => {
                (0..n as usize).map(|r| exactly(dot(&columns(0).iter().map(|c| c[r]).collect::<Vec<_>>(), &xs[1]))).collect()
            }
            (V(..), Mat(_)) => columns(1).iter().map(|c| exactly(dot(&xs[0], c))).collect(),
            (Mat(n), Mat(_)) => {
                let (a, b) = (columns(0), columns(1));
                let component = |c: usize, r: usize| exactly(sum((0..n as usize).map(|k| a[k][r] * b[c][k])));
                (0..n as usize).flat_map(|c| (0..n as usize).map(move |r| (c, r))).map(|(c, r)| component(c, r)).collect()
            }
        },
        "/" => two(&|x, y| exactly(x / y)),
        "mod" => two(&|x, y| near(0)(x - y * (x / y).floor())),
        "min" => two(&|x, y| exactly(least(x, y))),
        "max" => two(&|x, y| exactly(greatest(x, y))),
        "clamp" => three(&|x, low, high| exactly(least(greatest(x, low), high))),
        "mix" => three(&|x, y, a| exactly(x * (1.0 - a) + y * a)),
        "step" => two(&|edge, x| exactly(if x < edge { 0.0 } else { 1.0 })),
        "smoothstep" => three(&|low, high, x| {
            let t = least(greatest((x - low) / (high - low), 0.0), 1.0);
            near(4)(t * t * (3.0 - 2.0 * t))
        }),
        "floor" => one(&|x| exactly(x.floor())),
        "ceil" => one(&|x| exactly(x.ceil())),
        "fract" => one(&|x| exactly(x - x.floor())),
        "trunc" => one(&|x| exactly(x.trunc())),
        "round" | "round-even" => one(&|x| exactly(x.round_ties_even())),
        "abs" => one(&|x| exactly(x.abs())),
        "sign" => one(&|x| exactly(f64::from(i8::from(x > 0.0)) - f64::from(i8::from(x < 0.0)))),
        "sin" => one(&|x| libm(x.sin())),
        "cos" => one(&|x| libm(x.cos())),
        "tan" => one(&|x| libm(x.tan())),
        "asin" => one(&|x| libm(x.asin())),
        "acos" => one(&|x| libm(x.acos())),
        "atan" => one(&|x| libm(x.atan())),
        "atan2" => two(&|y, x| libm(y.atan2(x))),
        "sinh" => one(&|x| libm(x.sinh())),
        "cosh" => one(&|x| libm(x.cosh())),
        "tanh" => one(&|x| libm(x.tanh())),
        "asinh" => one(&|x| libm(x.asinh())),
        "acosh" => one(&|x| libm(x.acosh())),
        "atanh" => one(&|x| libm(x.atanh())),
        "exp" => one(&|x| libm(x.exp())),
        "exp2" => one(&|x| libm(x.exp2())),
        "log" => one(&|x| libm(x.ln())),
        "log2" => one(&|x| libm(x.log2())),
        "pow" => two(&|x, y| libm(x.powf(y))),
        "sqrt" => one(&|x| exactly(x.sqrt())),
        "inverse-sqrt" => one(&|x| libm(1.0 / x.sqrt())),
        "radians" => one(&|x| libm(x * std::f64::consts::PI / 180.0)),
        "degrees" => one(&|x| libm(x / std::f64::consts::PI * 180.0)),
        "dot" => vec![exactly(dot(&xs[0], &xs[1]))],
        "length" => vec![exactly(dot(&xs[0], &xs[0]).sqrt())],
        "distance" => vec![exactly(sum(xs[0].iter().zip(&xs[1]).map(|(x, y)| (x - y) * (x - y))).sqrt())],
        "normalize" => {
            let length = dot(&xs[0], &xs[0]).sqrt();
            one(&|x| near(2)(x / length))
        }
        "cross" => [(1, 2), (2, 0), (0, 1)].map(|(i, j)| exactly(xs[0][i] * xs[1][j] - xs[1][i] * xs[0][j])).to_vec(),
        "reflect" => {
            let twice = 2.0 * dot(&xs[1], &xs[0]);
            two(&|i, n| exactly(i - twice * n))
        }
        "transpose" => {
            let m = columns(0);
            (0..m.len()).flat_map(|r| m.iter().map(move |c| exactly(c[r]))).collect()
        }
        "determinant" => vec![near(0)(determinant(&columns(0)))],
        // Elimination leaves about 1e-17 in the place of a zero.
        "inverse" => inverse(&columns(0))?.iter().flatten().map(|&x| near(2)(if x.abs() < 1e-9 { 0.0 } else { x })).collect(),
        "less-than" => two(&|x, y| truth(x < y)),
        "less-equal" => two(&|x, y| truth(x <= y)),
        "greater-than" => two(&|x, y| truth(x > y)),
        "greater-equal" => two(&|x, y| truth(x >= y)),
        "eq" if booleans => logic(&|x, y| x == y),
        "neq" if booleans => logic(&|x, y| x != y),
        "eq" => two(&|x, y| truth(x == y)),
        "neq" => two(&|x, y| truth(x != y)),
        "and" => logic(&|x, y| x && y),
        "or" => logic(&|x, y| x || y),
        "not" => bs[0].iter().map(|&x| truth(!x)).collect(),
        "any-of" => vec![truth(bs[0].contains(&true))],
        "all-of" => vec![truth(!bs[0].contains(&false))],
        "select" => (0..bs[0].len()).map(|i| operand_bits(if bs[0][i] { 1 } else { 2 })[i]).collect(),
        "vec2" | "vec3" | "vec4" | "bvec2" | "bvec3" | "bvec4" | "mat2" | "mat3" | "mat4" => {
            (0..operands.len()).flat_map(operand_bits).collect()
        }
        "x" => vec![operand_bits(0)[0]],
        "y" => vec![operand_bits(0)[1]],
        "z" => vec![operand_bits(0)[2]],
        "w" => vec![operand_bits(0)[3]],
        "column" => columns(1).get(xs[0][0] as usize)?.iter().map(|&x| exactly(x)).collect(),
        _ => return None,
    })
}

/// A builtin applied to operands.
#[derive(Clone, Debug)]
pub struct Row {
    /// The builtin.
    pub builtin: Builtin,
    /// The operands.
    pub operands: Vec<Value>,
    /// The type of the value.
    pub ty: Ground,
    /// The required value.
    pub wanted: Vec<RequiredValue>,
}

/// The pixel at which the rows are evaluated.
pub const PIXEL: (u32, u32) = (2, 5);

/// Numbers with exact sums and products of a few of them.
const EXACT: [f32; 11] = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -1.5, 3.0, 0.25, -0.75, -2.0];
/// The exact numbers, and some whose sums and products are rounded.
const ANY: [f32; 23] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -1.5,
    3.0,
    0.25,
    -0.75,
    -2.0,
    0.1,
    -0.3,
    16_777_215.0,
    1e-3,
    7.7,
    -1e4,
    0.333_333_34,
    2.5,
    3.5,
    -2.5,
    1.000_000_1,
    1e-20,
];
/// Builtins with several roundings. The 64-bit result agrees only if nothing is rounded.
const SEVERAL: [&str; 9] = ["mix", "dot", "length", "distance", "normalize", "cross", "reflect", "smoothstep", "mod"];
/// The number of samples of operands for each type of a builtin.
const SAMPLES: usize = 92;

/// Every builtin at every type that it has, with several samples of operands.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows = Vec::new();
        for builtin in Builtin::all() {
            for arity in 0..=4 {
                all_types(arity, &mut |types| {
                    if let Some(ty) = typing(builtin.name(), types) {
                        rows.extend((0..SAMPLES).filter_map(|s| row(builtin, types, ty, s)));
                    }
                });
            }
        }
        rows
    })
}

/// Calls `f` with every combination of `arity` operand types.
pub fn all_types(arity: usize, f: &mut dyn FnMut(&[Ground])) {
    let count = Ground::ALL.len();
    let mut types = vec![Ground::NUM; arity];
    for choice in 0..count.pow(arity as u32) {
        let mut rest = choice;
        for ty in &mut types {
            *ty = Ground::ALL[rest % count];
            rest /= count;
        }
        f(&types);
    }
}

fn row(builtin: Builtin, types: &[Ground], ty: Ground, sample: usize) -> Option<Row> {
    let name = builtin.name();
    let matrices = types.iter().any(|t| matches!(t, Mat(_)));
    let pool: &[f32] = if matrices || SEVERAL.contains(&name) { &EXACT } else { &ANY };
    // One sample in four has equal operands, and one in four has neighbouring ones.
    let spacing = [0, 1, 5, 7][sample % 4];
    let operand = |(k, &ty): (usize, &Ground)| {
        let lanes = (0..ty.components()).map(|j| {
            let at = sample / 4 + spacing * k + 3 * j + (j * j * sample) % 5;
            match ty {
                V(_, B) => Lane::truth((sample >> (k * 2 + j)) & 1 == 1),
                _ => Lane::exact(pool[at % pool.len()]),
            }
        });
        Value { ty, lanes: lanes.collect() }
    };
    let mut operands: Vec<Value> = types.iter().enumerate().map(operand).collect();
    if name == "column" {
        operands[0] = Value::num((sample % types[1].columns()) as f32);
    }
    let wanted = value(name, &operands, [PIXEL.0 as f32 + 0.5, PIXEL.1 as f32 + 0.5, 0.0, 1.0])?;
    Some(Row { builtin, operands, ty, wanted })
}

impl Row {
    /// The difference between the row and the value that the table gives with this arithmetic,
    /// if any.
    pub fn differs(&self, arithmetic: &Arithmetic) -> Option<String> {
        let operands: Vec<&Value> = self.operands.iter().collect();
        let frag_coord = smallstep_semantics::lambda_v::step::frag_coord(PIXEL.0, PIXEL.1);
        self.judge(self.builtin.apply(&operands, &frag_coord, arithmetic).as_ref())
    }

    /// The difference between the row and this value, if any.
    pub fn judge(&self, found: Option<&Value>) -> Option<String> {
        let expression = self.expression();
        let Some(found) = found else { return Some(format!("{expression} has no value")) };
        if found.ty != self.ty {
            return Some(format!("{expression} has type {}, not {}", found.ty, self.ty));
        }
        let same = found.lanes.len() == self.wanted.len() && found.bits().zip(&self.wanted).all(|(bits, wanted)| wanted.admits(bits));
        (!same).then(|| format!("{expression}: wanted {:?}, found {}", self.wanted, super::value_text(found)))
    }

    /// The application as text in λV.
    pub fn expression(&self) -> String {
        let mut text = format!("({}", self.builtin.name());
        for operand in &self.operands {
            text.push(' ');
            text += &literal(operand);
        }
        text + ")"
    }

    /// A program that shows the value. Booleans become 1 and 0. A matrix has one output for
    /// each column.
    pub fn program(&self) -> String {
        let e = self.expression();
        let all = |n: u8, x: &str| match n {
            1 => x.to_string(),
            n => format!("(vec{n}{})", format!(" {x}").repeat(n as usize)),
        };
        match self.ty {
            V(_, F) => e,
            V(n, B) => format!("(select {e} {} {})", all(n, "1"), all(n, "0")),
            Mat(n) => (0..n).map(|i| format!("(output {i} (column {i} {e}))\n")).collect(),
        }
    }
}

/// A value as text in λV.
fn literal(value: &Value) -> String {
    let part = |lane: &Lane| match value.ty {
        V(_, B) => lane.is_true().to_string(),
        _ => {
            let mut text = String::new();
            print_number(lane.float(), &mut text);
            text
        }
    };
    let parts: Vec<String> = value.lanes.iter().map(part).collect();
    match value.ty {
        V(1, _) => parts[0].clone(),
        V(n, F) => format!("(vec{n} {})", parts.join(" ")),
        V(n, B) => format!("(bvec{n} {})", parts.join(" ")),
        Mat(n) => {
            let columns: Vec<String> = parts.chunks(n as usize).map(|c| format!("(vec{n} {})", c.join(" "))).collect();
            format!("(mat{n} {})", columns.join(" "))
        }
    }
}
