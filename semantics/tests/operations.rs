//! The table of operations: signatures, values, undefined values and undefined behaviour, compared
//! with vectors computed by hand.

#[path = "operations/flow.rs"]
mod flow;
#[path = "operations/functions.rs"]
mod functions;
#[path = "operations/halves.rs"]
mod halves;
#[path = "operations/integers.rs"]
mod integers;
#[path = "common/nearest.rs"]
mod nearest;
#[path = "operations/random.rs"]
mod random;
#[path = "operations/signatures.rs"]
mod signatures;
#[path = "operations/vectors.rs"]
mod vectors;

use smallstep_semantics::number::{Computed, Instruction, PlantedComponent};
use smallstep_semantics::spirv::operation::{self, Bits, Calculator, pure};
use smallstep_semantics::undefined::{Ub, Unspecified};
use vectors::{Expected, vectors, widths};

use rspirv::spirv::{Capability, GlslStd450Op as Glsl, Op as Core};

#[test]
fn every_vector_comes_out_as_computed_by_hand() {
    let mut wrong = Vec::new();
    for vector in vectors() {
        assert!(vector.fits(), "line {}: {:?} does not fit {:?}", vector.line, vector.args, vector.operation.signature);
        let found = vector.run(Calculator::default());
        if found != vector.expected {
            let show = |outcome: &Result<Vec<Expected>, String>| match outcome {
                Err(id) => format!("!{id}"),
                Ok(components) => components
                    .iter()
                    .map(|c| match c {
                        Expected::Bits(bits) => format!("{bits:#x} "),
                        Expected::Undefined(id) => format!("?{id} "),
                    })
                    .collect(),
            };
            let args: Vec<String> = vector.args.iter().map(|(shape, bits)| format!("{shape}: {bits:x?}")).collect();
            let name = vector.operation.name();
            wrong.push(format!(
                "line {}: {name} of {}: found {}, by hand {}",
                vector.line,
                args.join("; "),
                show(&found),
                show(&vector.expected)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_without_trust_are_the_same() {
    for vector in vectors() {
        let args: Vec<Bits<'_>> = vector.args.iter().map(|(shape, bits)| Bits { shape: *shape, bits }).collect();
        let components = pure(vector.operation, &args, &vector.results, vector.environment).expect("every operation computes");
        let first_behaviour = components.iter().find_map(|c| match c {
            Computed::Behaviour(ub) => Some(ub.id().to_string()),
            _ => None,
        });
        let found = match first_behaviour {
            Some(id) => Err(id),
            None => Ok(components
                .iter()
                .map(|c| match c {
                    Computed::Value(bits) => Expected::Bits(*bits),
                    Computed::Undefined(kind) => Expected::Undefined(kind.id().to_string()),
                    Computed::Behaviour(_) => unreachable!("looked for above"),
                })
                .collect()),
        };
        assert_eq!(found, vector.expected, "line {}: {}", vector.line, vector.operation.name());
    }
}

#[test]
fn every_operation_has_vectors_in_every_width() {
    let vectors = vectors();
    for operation in operation::all() {
        let of: Vec<_> = vectors.iter().filter(|v| v.operation == operation).collect();
        for width in widths(operation) {
            let has = of.iter().any(|v| v.args[0].0.scalar.width() == width);
            assert!(has, "{} has no vector with an operand of {width} bits", operation.name());
        }
    }
}

#[test]
fn every_instruction_of_the_scope_is_in_the_table() {
    // The range is from conversions to bit instructions, by opcode. Instructions that need a
    // capability other than Matrix and Shader are out of scope.
    let range = Core::ConvertFToU as u32..=Core::BitCount as u32;
    let mut known = 0;
    for instruction in rspirv::grammar::INSTRUCTION_TABLE.iter().filter(|i| range.contains(&(i.opcode as u32))) {
        let within = |c: &Capability| matches!(c, Capability::Matrix | Capability::Shader);
        let in_scope = instruction.capabilities.is_empty() || instruction.capabilities.iter().any(within);
        // Bit instructions need Shader or BitInstructions. VK_KHR_maintenance9 and DotProduct
        // widened them later.
        assert_eq!(operation::core(instruction.opcode).is_some(), in_scope, "Op{:?}", instruction.opcode);
        known += usize::from(in_scope);
    }
    assert!(known > 75, "{known}");
    for number in 1..=81 {
        // Three read the environment, and IMix was withdrawn.
        let left_out = [Glsl::InterpolateAtCentroid, Glsl::InterpolateAtSample, Glsl::InterpolateAtOffset, Glsl::IMix];
        let named = left_out.iter().any(|&op| op as u32 == number);
        assert_eq!(operation::glsl(number).is_none(), named, "GLSL.std.450 {number}");
    }
    for (number, none) in [(0, true), (82, true), (u32::MAX, true)] {
        assert_eq!(operation::glsl(number).is_none(), none);
    }
}

/// Whether the instruction has that name.
fn is(instruction: Instruction, name: &str) -> bool {
    vectors::named(name).instruction == instruction
}

/// Applies `f` to the bits, if the result is a value.
fn changed(computed: Computed, f: impl Fn(u64) -> u64) -> Computed {
    match computed {
        Computed::Value(bits) => Computed::Value(f(bits)),
        other => other,
    }
}

/// Typical bugs: a description, and the replacement that plants the bug.
const BUGS: &[(&str, PlantedComponent)] =
    &[
        ("addition saturates", |i, a, c, x| if is(i, "IAdd") && a[0][c] == 0x7fff_ffff { Computed::Value(0x7fff_ffff) } else { x }),
        (
            "division by zero gives zero",
            |i, _, _, x| {
                if is(i, "UDiv") && x == Computed::Behaviour(Ub::DivisionByZero) { Computed::Value(0) } else { x }
            },
        ),
        ("the least integer by -1 wraps", |i, a, c, x| {
            if is(i, "SDiv") && x == Computed::Behaviour(Ub::DivisionOverflow) { Computed::Value(a[0][c]) } else { x }
        }),
        (
            "a modulo takes the dividend's sign",
            |i, _, _, x| if is(i, "SMod") { changed(x, |bits| if bits == 2 { u64::MAX } else { bits }) } else { x },
        ),
        ("shifts are masked", |i, a, c, x| {
            if is(i, "ShiftLeftLogical") && x == Computed::Undefined(Unspecified::ShiftWidth) { Computed::Value(a[0][c]) } else { x }
        }),
        ("an arithmetic shift fills with zeros", |i, a, c, x| {
            if is(i, "ShiftRightArithmetic") { changed(x, |bits| if bits == 0xff { a[0][c] >> a[1][c] } else { bits }) } else { x }
        }),
        ("the signed field is not extended", |i, _, _, x| if is(i, "BitFieldSExtract") { changed(x, |bits| bits & 7) } else { x }),
        ("the field's sum is truncated", |i, _, _, x| {
            if is(i, "BitFieldUExtract") && x == Computed::Undefined(Unspecified::BitFieldRange) { Computed::Value(0) } else { x }
        }),
        ("the high word of a signed product is unsigned", |i, a, c, x| {
            if is(i, "SMulExtended") && c == 1 && a[0][0] == 0xff { Computed::Value(0xfe) } else { x }
        }),
        ("a conversion clamps", |i, _, _, x| {
            if is(i, "ConvertFToS") && x == Computed::Behaviour(Ub::ConversionRange) { Computed::Value(0x7f) } else { x }
        }),
        (
            "a conversion rounds to nearest",
            |i, _, _, x| if is(i, "ConvertFToU") { changed(x, |bits| if bits == 3 { 4 } else { bits }) } else { x },
        ),
        ("a wide integer is rounded twice", |i, a, _, x| {
            if is(i, "ConvertUToF") && a[0][0] == 0x8000_0080_0000_0001 { Computed::Value(0x5f00_0000) } else { x }
        }),
        ("a double becomes a half by way of a float", |i, a, _, x| {
            if is(i, "FConvert") && a[0][0] == 0x3ff0_0200_0000_0001 { Computed::Value(0x3c00) } else { x }
        }),
        ("unordered comparison is ordered", |i, a, c, x| if is(i, "FUnordLessThan") && a[0][c] == 0x7e00 { Computed::Value(0) } else { x }),
        ("the logarithm of -1 is NaN", |i, _, _, x| {
            if is(i, "Log") && x == Computed::Undefined(Unspecified::Domain) { Computed::Value(0x7fc0_0000) } else { x }
        }),
        ("Fma is not fused", |i, a, _, x| if is(i, "Fma") && a[0][0] == 0x3c03 { Computed::Value(0x1e00) } else { x }),
        (
            "the magnitude of the least integer saturates",
            |i, a, _, x| if is(i, "SAbs") && a[0][0] == 0x80 { Computed::Value(0x7f) } else { x },
        ),
        (
            "FindSMsb takes a negative number as unsigned",
            |i, a, _, x| {
                if is(i, "FindSMsb") && a[0][0] >> 31 == 1 { Computed::Value(31) } else { x }
            },
        ),
        ("-128 unpacks below -1", |i, a, c, x| {
            if is(i, "UnpackSnorm4x8") && a[0][0] >> (8 * c) & 0xff == 0x80 { Computed::Value(0xbf81_0204) } else { x }
        }),
        ("a matrix times a vector is the other way round", |i, _, c, x| {
            if is(i, "MatrixTimesVector") && c == 1 { changed(x, |bits| bits ^ 1) } else { x }
        }),
        (
            "a packed component is not extended by its sign",
            |i, a, _, x| {
                if is(i, "SDot") && a[0] == [0x04fd_02ff] { Computed::Value(1276) } else { x }
            },
        ),
        ("the second vector counts as signed", |i, a, _, x| if is(i, "SUDot") && a[1] == [0xff] { Computed::Value(1) } else { x }),
        (
            "the accumulation wraps",
            |i, a, _, x| if is(i, "SDotAccSat") && a[2] == [0x7fff_ffff] { Computed::Value(0x8000_fc03) } else { x },
        ),
        ("the products saturate too", |i, _, _, x| {
            if is(i, "SUDotAccSat") && x == Computed::Undefined(Unspecified::DotOverflow) { Computed::Value(0x7f) } else { x }
        }),
        (
            "sums are made from the left alone",
            |i, a, _, x| {
                if is(i, "SDotAccSat") && a[0] == [100, 100, 0x9c, 0] { Computed::Value(100) } else { x }
            },
        ),
        ("NMin keeps a NaN", |i, a, c, x| if is(i, "NMin") && a[0][c] == 0x7e00 { Computed::Value(0x7e00) } else { x }),
    ];

#[test]
fn every_planted_bug_is_caught() {
    let vectors = vectors();
    let caught = |planted: Option<PlantedComponent>| {
        let calculator = Calculator { planted, ..Calculator::default() };
        vectors.iter().filter(|v| v.run(calculator) != v.expected).count()
    };
    assert_eq!(caught(None), 0);
    for (what, planted) in BUGS {
        assert!(caught(Some(*planted)) > 0, "{what}");
    }
}
