//! Reads and runs the vectors that were computed by hand.

use std::collections::HashMap;
use std::sync::LazyLock;

use smallstep_semantics::number::Environment;
use smallstep_semantics::spirv::operation::{self, Calculator, Occurrence, Operand, Operation, Scalar as Type, Shape, Signature};
use smallstep_semantics::spirv::value::Scalar;

pub const TEXT: &str = include_str!("vectors.txt");

/// The expected component: its bits, or the kind of its undefined value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    Bits(u64),
    Undefined(String),
}

/// A line of the text, for one choice of widths.
#[derive(Clone, Debug)]
pub struct Vector {
    pub line: usize,
    pub operation: Operation,
    pub environment: Environment,
    pub args: Vec<(Shape, Vec<u64>)>,
    pub results: Vec<Shape>,
    pub expected: Result<Vec<Expected>, String>,
}

/// The operation of that name, with or without `Op`.
pub fn named(name: &str) -> Operation {
    static BY_NAME: LazyLock<HashMap<String, Operation>> =
        LazyLock::new(|| operation::all().map(|o| (o.name().trim_start_matches("Op").to_string(), o)).collect());
    *BY_NAME.get(name).unwrap_or_else(|| panic!("no operation {name}"))
}

/// The component type for a letter or name. `round` selects the width.
fn type_of(name: &str, round: usize) -> Type {
    let width = [8, 16, 32, 64][round % 4];
    match name {
        "b" => Type::Bool,
        "h" => Type::F16,
        "f" => Type::F32,
        "d" => Type::F64,
        "I" => Type::int(width, true),
        "U" => Type::int(width, false),
        "F" => [Type::F16, Type::F32, Type::F64][round % 3],
        "G" => [Type::F16, Type::F32][round % 2],
        _ => {
            let width = name[1..].parse().unwrap_or_else(|_| panic!("no type {name}"));
            Type::int(width, name.starts_with('i'))
        }
    }
}

fn shape_of(text: &str, round: usize) -> Shape {
    let name = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == 'x');
    let count = &text[..text.len() - name.len()];
    let (rows, columns) = count.split_once('x').unwrap_or((count, "1"));
    let number = |text: &str| if text.is_empty() { 1 } else { text.parse().expect("a count") };
    Shape::matrix(type_of(name, round), number(rows), number(columns))
}

/// The bits of a 16-bit float by an independent method: the magnitude that has this value.
pub fn half_bits(x: f64) -> u64 {
    let sign = u64::from(x.is_sign_negative()) << 15;
    let value = |bits: u64| match bits >> 10 {
        0 => bits as f64 * 2f64.powi(-24),
        exponent => (1024 + (bits & 1023)) as f64 * 2f64.powi(exponent as i32 - 25),
    };
    if x.is_nan() {
        return 0x7e00;
    }
    if x.is_infinite() {
        return sign | 0x7c00;
    }
    sign | (0..0x7c00).find(|&bits| value(bits) == x.abs()).unwrap_or_else(|| panic!("{x} is no 16-bit float"))
}

fn component(text: &str, of: Type) -> u64 {
    let width = of.width();
    let mask = u64::MAX >> (64 - width);
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).expect("hexadecimal digits");
    }
    match of {
        Type::Float { width } => {
            let x: f64 = text.parse().unwrap_or_else(|_| panic!("no float {text}"));
            match width {
                16 => half_bits(x),
                32 if x.is_nan() => 0x7fc0_0000,
                32 => u64::from((x as f32).to_bits()),
                _ if x.is_nan() => 0x7ff8_0000_0000_0000,
                _ => x.to_bits(),
            }
        }
        _ => {
            let quarter = 1u64 << width.saturating_sub(2);
            let bits = match text {
                "MIN" => 1 << (width - 1),
                "MAX" => mask >> 1,
                "W" | "W-1" => panic!("{text} is a width"),
                "Q" => quarter,
                "-Q" => quarter.wrapping_neg(),
                _ => text.parse::<i128>().unwrap_or_else(|_| panic!("no integer {text}")) as u64,
            };
            bits & mask
        }
    }
}

/// The vectors of the text. There is one for each width of each letter type.
pub fn vectors() -> Vec<Vector> {
    let mut all = Vec::new();
    for (number, line) in TEXT.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, args, result] = parts[..] else { panic!("line {}: three parts", number + 1) };
        let (types, values) = result.split_once('=').expect("a result");
        let (name, maintenance8) = name.strip_suffix("@8").map_or((name, false), |name| (name, true));
        let has = |letters: &[char]| [args, types].iter().any(|text| text.contains(letters));
        let rounds = if has(&['I', 'U']) {
            4
        } else if has(&['F']) {
            3
        } else if has(&['G']) {
            2
        } else {
            1
        };
        for round in 0..rounds {
            let width = [8, 16, 32, 64][round];
            let read = |text: &str, of: Type| match text {
                "W" => width,
                "W-1" => width - 1,
                _ => component(text, of),
            };
            let args = args.split(';').map(|arg| {
                let (shape, components) = arg.trim().split_once(':').expect("a type and components");
                let shape = shape_of(shape, round);
                let bits: Vec<u64> = components.split(',').map(|c| read(c, shape.scalar)).collect();
                assert_eq!(bits.len(), shape.lanes(), "line {}: {arg}", number + 1);
                (shape, bits)
            });
            let results: Vec<Shape> = types.split(';').map(|t| shape_of(t.trim(), round)).collect();
            let expected = match values.trim().strip_prefix('!') {
                Some(id) => Err(format!("spirv/{id}")),
                None => {
                    let groups = values.split(';').map(str::trim).zip(&results);
                    let each = groups.flat_map(|(group, shape)| group.split(',').map(move |text| (text, shape.scalar)));
                    Ok(each
                        .map(|(text, of)| match text.strip_prefix('?') {
                            Some(id) => Expected::Undefined(format!("spirv/{id}")),
                            None => Expected::Bits(read(text, of)),
                        })
                        .collect())
                }
            };
            let environment = Environment { maintenance8 };
            all.push(Vector { line: number + 1, operation: named(name), environment, args: args.collect(), results, expected });
        }
    }
    all
}

impl Vector {
    /// The calculator's result.
    pub fn run(&self, calculator: Calculator) -> Result<Vec<Expected>, String> {
        let scalars: Vec<Vec<Scalar>> =
            self.args.iter().map(|(shape, bits)| bits.iter().map(|&bits| Scalar::exact(shape.scalar, bits)).collect()).collect();
        let operands: Vec<Operand<'_>> =
            self.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
        let calculator = Calculator { environment: self.environment, ..calculator };
        let made = calculator.compute(self.operation, &operands, &self.results, Occurrence::default());
        made.map_err(|ub| ub.id().to_string()).map(|scalars| {
            let expected = |s: &Scalar| match s.undefined {
                Some(origin) => Expected::Undefined(origin.kind.id().to_string()),
                None => Expected::Bits(s.bits),
            };
            scalars.iter().map(expected).collect()
        })
    }

    /// Whether the signature takes these shapes.
    pub fn fits(&self) -> bool {
        let mut args: Vec<Shape> = self.args.iter().map(|(shape, _)| *shape).collect();
        let signature = self.operation.signature;
        if signature.written_through().is_some() {
            args.push(self.results[1]);
            return signature.fits(&args, self.results[0], true);
        }
        match signature.members() {
            0 => self.results.len() == 1 && signature.fits(&args, self.results[0], true),
            _ => signature.fits_members(&args, &self.results),
        }
    }
}

/// The widths of the first operand for which an operation must have vectors.
pub fn widths(operation: Operation) -> Vec<u8> {
    use operation::Class;
    let (ints, floats): (&[u8], &[u8]) = (&[8, 16, 32, 64], &[16, 32, 64]);
    let class = |class: Class| match class {
        Class::Bool => &[1],
        Class::Int | Class::Unsigned => ints,
        Class::Int32 | Class::Float32 => &[32],
        Class::Float => floats,
        Class::Float16Or32 => &floats[..2],
    };
    let widths = match operation.signature {
        Signature::Componentwise(_, c)
        | Signature::SameWidth(_, c)
        | Signature::Comparison(c)
        | Signature::Convert(c, _)
        | Signature::ConvertWidth(c, _)
        | Signature::Pair(_, c) => class(c),
        Signature::Shift | Signature::BitFieldInsert | Signature::BitFieldExtract | Signature::BitCount | Signature::IntegerDot(..) => ints,
        Signature::Reduction | Signature::Select => &[1],
        Signature::Bitcast => &[8, 16, 32, 64],
        Signature::Reshape(from, _) => match from.scalar.width() {
            64 => &[64],
            _ => &[32],
        },
        _ => floats,
    };
    widths.to_vec()
}
