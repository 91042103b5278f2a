//! A second implementation of integer operations, on digits and on 128-bit numbers, after the
//! wording of the specification.

use super::random::Random;
use super::vectors::named;
use smallstep_semantics::number::{Computed, Environment};
use smallstep_semantics::spirv::operation::{Bits, Scalar as Type, Shape, pure};
use smallstep_semantics::undefined::{Ub, Unspecified};

type Wanted = Result<Vec<i128>, Computed>;

fn undefined(kind: Unspecified) -> Wanted {
    Err(Computed::Undefined(kind))
}

/// The binary digits, least significant first.
fn digits(width: u8, bits: u64) -> Vec<bool> {
    (0..width).map(|i| bits / (1u64 << i) % 2 == 1).collect()
}

fn number(digits: &[bool]) -> i128 {
    digits.iter().rev().fold(0, |sum, &digit| 2 * sum + i128::from(digit))
}

fn shift(width: u8, a: u64, by: u64, to: impl Fn(&[bool], i128) -> bool) -> Wanted {
    if by >= width.into() {
        return undefined(Unspecified::ShiftWidth);
    }
    let from = digits(width, a);
    Ok(vec![number(&(0..i128::from(width)).map(|i| to(&from, i)).collect::<Vec<_>>())])
}

fn field(width: u8, offset: u64, count: u64) -> Option<(usize, usize)> {
    let (offset, count) = (u128::from(offset), u128::from(count));
    (offset + count <= width.into()).then_some((offset as usize, count as usize))
}

/// The quotient rounded toward zero, from magnitudes.
fn quotient(x: i128, y: i128) -> i128 {
    let magnitude = (x.unsigned_abs() / y.unsigned_abs()) as i128;
    if (x < 0) == (y < 0) { magnitude } else { -magnitude }
}

/// The results as numbers. Only their low bits count.
fn wanted(name: &str, width: u8, args: &[u64]) -> Wanted {
    let half = 1i128 << (width - 1);
    let unsigned: Vec<i128> = args.iter().map(|&a| a.into()).collect();
    let signed: Vec<i128> = unsigned.iter().map(|&a| if a >= half { a - 2 * half } else { a }).collect();
    let (u, s) = (|i: usize| unsigned[i], |i: usize| signed[i]);
    let zero_divisor = Err(Computed::Behaviour(Ub::DivisionByZero));
    let one = |x: i128| Ok(vec![x]);
    let truth = |x: bool| Ok(vec![i128::from(x)]);
    let sign = |d: &[bool]| d[d.len() - 1];
    match name {
        "SNegate" => one(-s(0)),
        "IAdd" => one(u(0) + u(1)),
        "ISub" => one(u(0) - u(1)),
        "IMul" => one(s(0) * s(1)),
        "UDiv" | "UMod" | "SDiv" | "SRem" | "SMod" if u(1) == 0 => zero_divisor,
        "SDiv" | "SRem" | "SMod" if s(0) == -half && s(1) == -1 => Err(Computed::Behaviour(Ub::DivisionOverflow)),
        "UDiv" => one(quotient(u(0), u(1))),
        "SDiv" => one(quotient(s(0), s(1))),
        "UMod" => one(u(0) - u(1) * quotient(u(0), u(1))),
        "SRem" => one(s(0) - s(1) * quotient(s(0), s(1))),
        "SMod" => {
            let mut r = s(0) - s(1) * quotient(s(0), s(1));
            if r * s(1) < 0 {
                r += s(1);
            }
            one(r)
        }
        "IAddCarry" => Ok(vec![u(0) + u(1), i128::from(u(0) + u(1) >= 2 * half)]),
        "ISubBorrow" => Ok(vec![u(0) - u(1), i128::from(u(0) < u(1))]),
        // By halves, so that no product exceeds 2^127.
        "UMulExtended" => {
            let (low, high) = (u(1) % (1 << (width / 2)), u(1) >> (width / 2));
            let (below, above) = (u(0) * low, u(0) * high);
            let carried = (below >> (width / 2)) + above;
            let low = ((carried % (1 << (width / 2))) << (width / 2)) + below % (1 << (width / 2));
            Ok(vec![low, carried >> (width / 2)])
        }
        "SMulExtended" => Ok(vec![s(0) * s(1), (s(0) * s(1)).div_euclid(2 * half)]),
        "ShiftLeftLogical" => shift(width, args[0], args[1], |d, i| i >= u(1) && d[(i - u(1)) as usize]),
        "ShiftRightLogical" => shift(width, args[0], args[1], |d, i| d.get((i + u(1)) as usize).copied().unwrap_or(false)),
        "ShiftRightArithmetic" => shift(width, args[0], args[1], |d, i| d.get((i + u(1)) as usize).copied().unwrap_or(sign(d))),
        "BitwiseOr" | "BitwiseXor" | "BitwiseAnd" => {
            let pairs = digits(width, args[0]).into_iter().zip(digits(width, args[1]));
            let digit = |(a, b): (bool, bool)| match name {
                "BitwiseOr" => a || b,
                "BitwiseXor" => a != b,
                _ => a && b,
            };
            one(number(&pairs.map(digit).collect::<Vec<_>>()))
        }
        "Not" => one(-1 - s(0)),
        "BitReverse" => one(number(&digits(width, args[0]).into_iter().rev().collect::<Vec<_>>())),
        "BitCount" => one(digits(width, args[0]).iter().filter(|&&d| d).count() as i128),
        "BitFieldInsert" => match field(width, args[2], args[3]) {
            None => undefined(Unspecified::BitFieldRange),
            Some((offset, count)) => {
                let (mut base, insert) = (digits(width, args[0]), digits(width, args[1]));
                base[offset..offset + count].copy_from_slice(&insert[..count]);
                one(number(&base))
            }
        },
        "BitFieldSExtract" | "BitFieldUExtract" => match field(width, args[1], args[2]) {
            None => undefined(Unspecified::BitFieldRange),
            Some((offset, count)) => {
                let found = digits(width, args[0])[offset..offset + count].to_vec();
                let negative = name == "BitFieldSExtract" && found.last() == Some(&true);
                one(number(&found) - if negative { 1 << count } else { 0 })
            }
        },
        "IEqual" => truth(u(0) == u(1)),
        "INotEqual" => truth(u(0) != u(1)),
        "UGreaterThan" => truth(u(0) > u(1)),
        "SGreaterThan" => truth(s(0) > s(1)),
        "UGreaterThanEqual" => truth(u(0) >= u(1)),
        "SGreaterThanEqual" => truth(s(0) >= s(1)),
        "ULessThan" => truth(u(0) < u(1)),
        "SLessThan" => truth(s(0) < s(1)),
        "ULessThanEqual" => truth(u(0) <= u(1)),
        "SLessThanEqual" => truth(s(0) <= s(1)),
        "SAbs" => one(if s(0) < 0 { -s(0) } else { s(0) }),
        "SSign" => one(i128::from(s(0) > 0) - i128::from(s(0) < 0)),
        "UMin" => one(if u(1) < u(0) { u(1) } else { u(0) }),
        "SMin" => one(if s(1) < s(0) { s(1) } else { s(0) }),
        "UMax" => one(if u(0) < u(1) { u(1) } else { u(0) }),
        "SMax" => one(if s(0) < s(1) { s(1) } else { s(0) }),
        "UClamp" if u(1) > u(2) => undefined(Unspecified::ClampBounds),
        "SClamp" if s(1) > s(2) => undefined(Unspecified::ClampBounds),
        "UClamp" => one(if u(0) < u(1) {
            u(1)
        } else if u(0) > u(2) {
            u(2)
        } else {
            u(0)
        }),
        "SClamp" => one(if s(0) < s(1) {
            s(1)
        } else if s(0) > s(2) {
            s(2)
        } else {
            s(0)
        }),
        "FindILsb" => one(digits(width, args[0]).iter().position(|&d| d).map_or(-1, |i| i as i128)),
        "FindUMsb" => one(digits(width, args[0]).iter().rposition(|&d| d).map_or(-1, |i| i as i128)),
        "FindSMsb" => {
            let d = digits(width, args[0]);
            one(d.iter().rposition(|&digit| digit != sign(&d)).map_or(-1, |i| i as i128))
        }
        _ => panic!("no second way for {name}"),
    }
}

/// The names of the operations, by the number of operands and the form of the result.
const UNARY: &[&str] = &["SNegate", "Not", "BitReverse", "BitCount", "SAbs", "SSign"];
const UNARY_32: &[&str] = &["FindILsb", "FindSMsb", "FindUMsb"];
const BINARY: &[&str] = &[
    "IAdd",
    "ISub",
    "IMul",
    "UDiv",
    "UMod",
    "SDiv",
    "SRem",
    "SMod",
    "ShiftLeftLogical",
    "ShiftRightLogical",
    "ShiftRightArithmetic",
    "BitwiseOr",
    "BitwiseXor",
    "BitwiseAnd",
    "UMin",
    "SMin",
    "UMax",
    "SMax",
];
const PAIRS: &[&str] = &["IAddCarry", "ISubBorrow", "UMulExtended", "SMulExtended"];
const COMPARISONS: &[&str] = &[
    "IEqual",
    "INotEqual",
    "UGreaterThan",
    "SGreaterThan",
    "UGreaterThanEqual",
    "SGreaterThanEqual",
    "ULessThan",
    "SLessThan",
    "ULessThanEqual",
    "SLessThanEqual",
];

fn check(name: &str, width: u8, args: &[u64], results: &[Type]) {
    let shape = |of: Type| Shape::vector(of, 1);
    let operands: Vec<Bits<'_>> = args.chunks(1).map(|bits| Bits { shape: shape(Type::int(width, false)), bits }).collect();
    let results: Vec<Shape> = results.iter().map(|&of| shape(of)).collect();
    let found = pure(named(name), &operands, &results, Environment { maintenance8: true }).expect("an integer operation");
    let expected: Vec<Computed> = match wanted(name, width, args) {
        Err(open) => vec![open],
        Ok(numbers) => {
            let low = |(x, of): (i128, &Shape)| Computed::Value(x.rem_euclid(1 << of.scalar.width()) as u64);
            numbers.into_iter().zip(&results).map(low).collect()
        }
    };
    assert_eq!(found.as_slice(), expected, "{name} of {width} bits on {args:x?}");
}

#[test]
fn integers_agree_with_wide_ones() {
    let mut random = Random(5);
    let rounds: Vec<(u8, Vec<(u64, u64)>)> = [8u8, 16, 32, 64]
        .into_iter()
        .map(|width| {
            let pairs = match width {
                8 => (0..256).flat_map(|a| (0..256).map(move |b| (a, b))).collect(),
                _ => (0..3000).map(|_| (random.integer(width), random.integer(width))).collect(),
            };
            (width, pairs)
        })
        .collect();
    for (width, pairs) in rounds {
        let (same, truth) = (Type::int(width, true), Type::Bool);
        for (n, &(a, b)) in pairs.iter().enumerate() {
            UNARY.iter().for_each(|name| check(name, width, &[a], &[same]));
            if width == 32 {
                UNARY_32.iter().for_each(|name| check(name, width, &[a], &[same]));
            }
            // For a pair of bytes, only a fourth of the operations. For a random pair, all of them.
            let turn = |i: usize| width != 8 || (n + i).is_multiple_of(4);
            BINARY.iter().enumerate().filter(|(i, _)| turn(*i)).for_each(|(_, name)| check(name, width, &[a, b], &[same]));
            PAIRS.iter().for_each(|name| check(name, width, &[a, b], &[same, same]));
            COMPARISONS.iter().enumerate().filter(|(i, _)| turn(*i)).for_each(|(_, name)| check(name, width, &[a, b], &[truth]));
            let c = pairs[(n * 7 + 3) % pairs.len()].0;
            let (offset, count) = (random.below(usize::from(width) + 2) as u64, random.below(usize::from(width) + 2) as u64);
            let count = if random.below(3) == 0 { count } else { count.min(u64::from(width).saturating_sub(offset)) };
            check("UClamp", width, &[a, b, c], &[same]);
            check("SClamp", width, &[a, b, c], &[same]);
            check("BitFieldInsert", width, &[a, b, offset, count], &[same]);
            check("BitFieldSExtract", width, &[a, offset, count], &[same]);
            check("BitFieldUExtract", width, &[a, offset, count], &[same]);
            let by = random.below(usize::from(width) + 2) as u64;
            BINARY[8..11].iter().for_each(|name| check(name, width, &[a, by], &[same]));
        }
    }
}
