//! The flow of undefined values through computing instructions, the operations that absorb them,
//! and what is known about results.

use super::random::Random;
use super::vectors::{named, vectors};
use smallstep_semantics::number::{Arithmetic, Expected, Lane, Op, Profile, Trust, Tuple, Why};
use smallstep_semantics::spirv::operation::{Bits, Calculator, Occurrence, Operand, Scalar as Type, Shape, pure};
use smallstep_semantics::spirv::value::{Origin, Scalar, Scalars};
use smallstep_semantics::undefined::{Ub, Unspecified};

const FIRST: Origin = Origin { kind: Unspecified::Undef, instruction: 7, invocation: 3 };
const SECOND: Origin = Origin { kind: Unspecified::Uninitialised, instruction: 9, invocation: 3 };
const SITE: Occurrence = Occurrence { instruction: 40, invocation: 3, no_signed_wrap: false, no_unsigned_wrap: false };

/// A component: bits, or an undefined value.
#[derive(Clone, Copy)]
enum C {
    V(u64),
    U(Origin),
}
use C::{U, V};

fn scalars(of: Type, components: &[C]) -> Scalars {
    components
        .iter()
        .map(|c| match c {
            V(bits) => Scalar::exact(of, *bits),
            U(origin) => Scalar::undefined(*origin),
        })
        .collect()
}

fn compute(name: &str, args: &[(Shape, &[C])], results: &[Shape], site: Occurrence) -> Result<Scalars, Ub> {
    let values: Vec<Scalars> = args.iter().map(|(shape, components)| scalars(shape.scalar, components)).collect();
    let operands: Vec<Operand<'_>> = args.iter().zip(&values).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
    Calculator::default().compute(named(name), &operands, results, site)
}

/// Each component: its bits, or the origin of its undefined value.
fn show(made: Result<Scalars, Ub>) -> Result<Vec<Result<u64, Origin>>, Ub> {
    made.map(|scalars| scalars.iter().map(|s| s.undefined.map_or(Ok(s.bits), Err)).collect())
}

const INT: Shape = Shape::vector(Type::I32, 1);
const INT2: Shape = Shape::vector(Type::I32, 2);
const UINT: Shape = Shape::vector(Type::U32, 1);
const BOOL: Shape = Shape::vector(Type::Bool, 1);
const BOOL2: Shape = Shape::vector(Type::Bool, 2);
const VEC2: Shape = Shape::vector(Type::F32, 2);
const VEC3: Shape = Shape::vector(Type::F32, 3);
const FLOAT: Shape = Shape::vector(Type::F32, 1);
const ALL: u64 = 0xffff_ffff;
const ONE: u64 = 0x3f80_0000;

#[test]
fn components_depend_on_their_operands_alone() {
    let add = compute("IAdd", &[(INT2, &[V(1), U(FIRST)]), (INT2, &[V(2), V(2)])], &[INT2], SITE);
    assert_eq!(show(add), Ok(vec![Ok(3), Err(FIRST)]));
    let both = compute("IAdd", &[(INT, &[U(SECOND)]), (INT, &[U(FIRST)])], &[INT], SITE);
    assert_eq!(show(both), Ok(vec![Err(SECOND)]), "the first operand's origin");
    let float = compute("FMul", &[(VEC2, &[V(ONE), V(0)]), (VEC2, &[V(ONE), U(FIRST)])], &[VEC2], SITE);
    assert_eq!(show(float), Ok(vec![Ok(ONE), Err(FIRST)]), "0·x of floats depends on x");
    let scaled = compute("VectorTimesScalar", &[(VEC2, &[V(ONE), U(FIRST)]), (FLOAT, &[V(ONE)])], &[VEC2], SITE);
    assert_eq!(show(scaled), Ok(vec![Ok(ONE), Err(FIRST)]));
    let dot = compute("Dot", &[(VEC2, &[V(ONE), U(FIRST)]), (VEC2, &[V(ONE), V(ONE)])], &[FLOAT], SITE);
    assert_eq!(show(dot), Ok(vec![Err(FIRST)]));
    let cross = compute("Cross", &[(VEC3, &[U(FIRST), V(0), V(0)]), (VEC3, &[V(ONE); 3])], &[VEC3], SITE);
    assert_eq!(show(cross), Ok(vec![Ok(0), Err(FIRST), Err(FIRST)]));
    let normalize = compute("Normalize", &[(VEC2, &[V(ONE), U(FIRST)])], &[VEC2], SITE);
    assert_eq!(show(normalize), Ok(vec![Err(FIRST), Err(FIRST)]));
    let pair = compute(
        "IAddCarry",
        &[(Shape::vector(Type::U32, 2), &[V(1), U(FIRST)]), (Shape::vector(Type::U32, 2), &[V(2), V(2)])],
        &[Shape::vector(Type::U32, 2); 2],
        SITE,
    );
    assert_eq!(show(pair), Ok(vec![Ok(3), Err(FIRST), Ok(0), Err(FIRST)]));
}

#[test]
fn matrices_depend_on_rows_and_columns() {
    let m = Shape::matrix(Type::F32, 2, 3);
    let v = |n: usize, undefined: usize| -> Vec<C> { (0..n).map(|i| if i == undefined { U(FIRST) } else { V(ONE) }).collect() };
    let undefined =
        |made: Result<Scalars, Ub>| -> Vec<bool> { made.expect("no undefined behaviour").iter().map(|s| s.undefined.is_some()).collect() };
    // Component 3 is column 1, row 1.
    let by_vector = compute("MatrixTimesVector", &[(m, &v(6, 3)), (VEC3, &v(3, 9))], &[VEC2], SITE);
    assert_eq!(undefined(by_vector), [false, true]);
    let of_vector = compute("VectorTimesMatrix", &[(VEC2, &v(2, 9)), (m, &v(6, 3))], &[VEC3], SITE);
    assert_eq!(undefined(of_vector), [false, true, false]);
    let square = Shape::matrix(Type::F32, 2, 2);
    let product = compute("MatrixTimesMatrix", &[(m, &v(6, 3)), (Shape::matrix(Type::F32, 3, 2), &v(6, 9))], &[square], SITE);
    assert_eq!(undefined(product), [false, true, false, true], "row 1");
    let product = compute("MatrixTimesMatrix", &[(m, &v(6, 9)), (Shape::matrix(Type::F32, 3, 2), &v(6, 3))], &[square], SITE);
    assert_eq!(undefined(product), [false, false, true, true], "column 1");
    let outer = compute("OuterProduct", &[(VEC2, &v(2, 1)), (VEC3, &v(3, 9))], &[m], SITE);
    assert_eq!(undefined(outer), [false, true, false, true, false, true]);
    let transposed = compute("Transpose", &[(m, &v(6, 3))], &[Shape::matrix(Type::F32, 3, 2)], SITE);
    // Column 1, row 1, in columns of three rows.
    assert_eq!(undefined(transposed), [false, false, false, false, true, false]);
    assert_eq!(undefined(compute("Determinant", &[(square, &v(4, 0))], &[FLOAT], SITE)), [true]);
}

#[test]
fn bits_of_an_undefined_component_are_undefined() {
    let bytes = Shape::vector(Type::int(8, false), 4);
    let shorts = Shape::vector(Type::int(16, false), 2);
    let cast = compute("Bitcast", &[(bytes, &[V(1), V(2), U(FIRST), V(4)])], &[shorts], SITE);
    assert_eq!(show(cast), Ok(vec![Ok(0x0201), Err(FIRST)]));
    let cast = compute("Bitcast", &[(shorts, &[U(FIRST), V(0x0403)])], &[bytes], SITE);
    assert_eq!(show(cast), Ok(vec![Err(FIRST), Err(FIRST), Ok(3), Ok(4)]));
    let packed = compute("PackHalf2x16", &[(VEC2, &[V(ONE), U(FIRST)])], &[UINT], SITE);
    assert_eq!(show(packed), Ok(vec![Err(FIRST)]));
}

#[test]
fn what_settles_a_result_absorbs_undefined_operands() {
    for (name, shape, settles, result) in [
        ("BitwiseAnd", INT, 0, 0),
        ("BitwiseOr", INT, ALL, ALL),
        ("IMul", INT, 0, 0),
        ("LogicalAnd", BOOL, 0, 0),
        ("LogicalOr", BOOL, 1, 1),
    ] {
        for args in [[V(settles), U(FIRST)], [U(FIRST), V(settles)]] {
            let made = compute(name, &[(shape, &args[..1]), (shape, &args[1..])], &[shape], SITE);
            assert_eq!(show(made), Ok(vec![Ok(result)]), "{name}");
        }
        for other in [V(if settles == 1 { 0 } else { 1 }), U(SECOND)] {
            let made = compute(name, &[(shape, &[U(FIRST)]), (shape, &[other])], &[shape], SITE);
            assert_eq!(show(made), Ok(vec![Err(FIRST)]), "{name} near miss");
        }
    }
    for (name, settles) in [("Any", 1), ("All", 0)] {
        assert_eq!(show(compute(name, &[(BOOL2, &[U(FIRST), V(settles)])], &[BOOL], SITE)), Ok(vec![Ok(settles)]));
        assert_eq!(show(compute(name, &[(BOOL2, &[U(FIRST), V(1 - settles)])], &[BOOL], SITE)), Ok(vec![Err(FIRST)]));
    }
    // x - x and x ⊕ x are no constants: each use of an undefined value may differ.
    assert_eq!(show(compute("BitwiseXor", &[(INT, &[U(FIRST)]), (INT, &[U(FIRST)])], &[INT], SITE)), Ok(vec![Err(FIRST)]));
    assert_eq!(show(compute("ShiftLeftLogical", &[(INT, &[V(0)]), (INT, &[U(FIRST)])], &[INT], SITE)), Ok(vec![Err(FIRST)]));
}

#[test]
fn select_takes_what_it_chooses() {
    let select = |condition: C, a: C, b: C| show(compute("Select", &[(BOOL, &[condition]), (INT, &[a]), (INT, &[b])], &[INT], SITE));
    assert_eq!(select(V(1), V(5), U(FIRST)), Ok(vec![Ok(5)]));
    assert_eq!(select(V(0), V(5), U(FIRST)), Ok(vec![Err(FIRST)]));
    assert_eq!(select(U(SECOND), V(5), U(FIRST)), Ok(vec![Err(SECOND)]));
    assert_eq!(select(U(SECOND), V(5), V(5)), Ok(vec![Err(SECOND)]));
    // Composites have no shape. The result has as many components as the objects.
    let whole = compute(
        "Select",
        &[(BOOL, &[V(0)]), (Shape::OTHER, &[V(1), V(2), V(3)]), (Shape::OTHER, &[V(4), U(FIRST), V(6)])],
        &[Shape::OTHER],
        SITE,
    );
    assert_eq!(show(whole), Ok(vec![Ok(4), Err(FIRST), Ok(6)]));
}

#[test]
fn an_undefined_operand_where_some_value_is_undefined_behaviour_is_that() {
    for name in ["UDiv", "UMod"] {
        let run = |a: C, b: C| show(compute(name, &[(UINT, &[a]), (UINT, &[b])], &[UINT], SITE));
        assert_eq!(run(V(1), U(FIRST)), Err(Ub::UndefinedOperand), "{name}");
        assert_eq!(run(U(FIRST), V(0)), Err(Ub::DivisionByZero), "{name}");
        assert_eq!(run(U(FIRST), V(ALL)), Ok(vec![Err(FIRST)]), "{name}");
    }
    for name in ["SDiv", "SRem", "SMod"] {
        let run = |a: C, b: C| show(compute(name, &[(INT, &[a]), (INT, &[b])], &[INT], SITE));
        assert_eq!(run(V(1), U(FIRST)), Err(Ub::UndefinedOperand), "{name}");
        assert_eq!(run(U(FIRST), V(0)), Err(Ub::DivisionByZero), "{name}");
        assert_eq!(run(U(FIRST), V(ALL)), Err(Ub::UndefinedOperand), "{name}");
        assert_eq!(run(U(FIRST), V(2)), Ok(vec![Err(FIRST)]), "{name}");
    }
    for name in ["ConvertFToS", "ConvertFToU"] {
        assert_eq!(show(compute(name, &[(FLOAT, &[U(FIRST)])], &[UINT], SITE)), Err(Ub::UndefinedOperand));
    }
    assert_eq!(show(compute("ConvertSToF", &[(INT, &[U(FIRST)])], &[FLOAT], SITE)), Ok(vec![Err(FIRST)]));
}

#[test]
fn a_value_that_is_made_undefined_here_says_so() {
    let here = |kind| Origin { kind, instruction: 40, invocation: 3 };
    let shifted = compute("ShiftLeftLogical", &[(INT2, &[V(1), V(1)]), (INT2, &[V(3), V(32)])], &[INT2], SITE);
    assert_eq!(show(shifted), Ok(vec![Ok(8), Err(here(Unspecified::ShiftWidth))]));
    let root = compute("Sqrt", &[(VEC2, &[V(ONE), V(0xbf80_0000)])], &[VEC2], SITE);
    assert_eq!(show(root), Ok(vec![Ok(ONE), Err(here(Unspecified::Domain))]));
    // An undefined operand takes precedence over the domain.
    let root = compute("Sqrt", &[(FLOAT, &[U(FIRST)])], &[FLOAT], SITE);
    assert_eq!(show(root), Ok(vec![Err(FIRST)]));
}

#[test]
fn decorated_instructions_must_not_wrap() {
    let signed = Occurrence { no_signed_wrap: true, ..SITE };
    let unsigned = Occurrence { no_unsigned_wrap: true, ..SITE };
    let run = |name: &str, a: u64, b: u64, site: Occurrence| show(compute(name, &[(INT, &[V(a)]), (INT, &[V(b)])], &[INT], site)).is_err();
    for (name, a, b, wraps_signed, wraps_unsigned) in [
        ("IAdd", 0x7fff_ffff, 1, true, false),
        ("IAdd", ALL, 1, false, true),
        ("IAdd", ALL, ALL, false, true),
        ("ISub", 0, 1, false, true),
        ("ISub", 0x8000_0000, 1, true, false),
        ("IMul", 0x1_0000, 0x8000, true, false),
        ("IMul", 0x1_0000, 0x1_0000, true, true),
        ("IMul", ALL, ALL, false, true),
        ("ShiftLeftLogical", 0x4000_0000, 1, true, false),
        ("ShiftLeftLogical", 0x8000_0000, 1, true, true),
        ("ShiftLeftLogical", ALL, 4, false, true),
    ] {
        assert!(!run(name, a, b, SITE), "{name} {a:#x} {b:#x} undecorated");
        assert_eq!(run(name, a, b, signed), wraps_signed, "{name} {a:#x} {b:#x} NoSignedWrap");
        assert_eq!(run(name, a, b, unsigned), wraps_unsigned, "{name} {a:#x} {b:#x} NoUnsignedWrap");
    }
    // Some value of an undefined operand may overflow.
    let with_undefined = |b: u64, site: Occurrence| show(compute("IAdd", &[(INT, &[U(FIRST)]), (INT, &[V(b)])], &[INT], site));
    assert_eq!(with_undefined(1, signed), Err(Ub::UndefinedOperand));
    assert_eq!(with_undefined(0, signed), Ok(vec![Err(FIRST)]));
    assert_eq!(with_undefined(1, SITE), Ok(vec![Err(FIRST)]));
    let negate = |a: u64| show(compute("SNegate", &[(INT, &[V(a)])], &[INT], signed));
    assert_eq!(negate(0x8000_0000), Err(Ub::Wrap));
    assert_eq!(negate(5), Ok(vec![Ok(0xffff_fffb)]));
    assert_eq!(show(compute("SAbs", &[(INT, &[V(0x8000_0000)])], &[INT], signed)), Err(Ub::Wrap));
}

#[test]
fn doubt_is_carried_and_certainty_kept() {
    let trust = |name: &str, args: &[(Shape, Scalar)], result: Shape| {
        let operands: Vec<Operand<'_>> =
            args.iter().map(|(shape, scalar)| Operand { shape: *shape, scalars: std::slice::from_ref(scalar) }).collect();
        Calculator::default().compute(named(name), &operands, &[result], SITE).expect("no undefined behaviour")[0].trust
    };
    let int = |bits: u64| (INT, Scalar::exact(Type::I32, bits));
    let float = |x: f32| (FLOAT, Scalar::from(Lane::exact(x)));
    let doubtful = (INT, Scalar { trust: Trust::CERTAIN.in_doubt(Why::Approximate), ..Scalar::exact(Type::I32, 5) });
    for profile in [Profile::Strict, Profile::Wgsl] {
        assert!(trust("IAdd", &[int(1), int(2)], INT).is_decided(profile));
        assert!(!trust("IAdd", &[int(1), doubtful], INT).is_decided(profile));
        assert!(trust("ConvertSToF", &[int(3)], FLOAT).is_decided(profile));
        assert!(trust("ConvertFToS", &[float(3.5)], INT).is_decided(profile));
        assert!(trust("Bitcast", &[float(3.5)], INT).is_decided(profile));
        assert!(trust("SLessThan", &[int(1), int(2)], BOOL).is_decided(profile));
        assert!(trust("FUnordLessThan", &[float(1.0), float(2.0)], BOOL).is_decided(profile));
        assert!(!trust("FUnordLessThan", &[float(f32::NAN), float(2.0)], BOOL).is_decided(profile));
    }
    let select = |condition: Trust, b: Scalar| {
        let condition = (BOOL, Scalar { trust: condition, ..Scalar::exact(Type::Bool, 1) });
        trust("Select", &[condition, int(5), (INT, b)], INT)
    };
    let other = Scalar::exact(Type::I32, 6);
    let unsure = Trust::CERTAIN.in_doubt(Why::Approximate);
    assert!(select(Trust::CERTAIN, Scalar { trust: unsure, ..other }).is_decided(Profile::Wgsl), "only the chosen one matters");
    assert_eq!(select(unsure, other).doubt, Some(Why::Control));
    assert_eq!(select(unsure, Scalar::exact(Type::I32, 5)).doubt, None, "either is the same");
    // A rounded result: the other neighbour is allowed if no rounding mode is declared.
    let rounded = trust("ConvertSToF", &[int(16_777_217)], FLOAT);
    assert!(rounded.is_decided(Profile::Strict) && !rounded.is_decided(Profile::Wgsl));
    assert_eq!(trust("QuantizeToF16", &[float(0.1)], FLOAT).doubt, Some(Why::Approximate));
    assert_eq!(trust("QuantizeToF16", &[float(0.5)], FLOAT).doubt, None);
    assert_eq!(trust("Fma", &[float(2.0), float(3.0), float(4.0)], FLOAT).doubt, None);
    let x = f32::from_bits(0x3f80_0003);
    assert_eq!(trust("Fma", &[float(x), float(x), float(-1.0)], FLOAT).doubt, Some(Why::Approximate));
    let half = |bits: u64| (Shape::vector(Type::F16, 1), Scalar::exact(Type::F16, bits));
    let one = Shape::vector(Type::F16, 1);
    assert_eq!(trust("FAdd", &[half(0x3c00), half(0x3c00)], one).doubt, None);
    assert_eq!(trust("FAdd", &[half(0x7bff), half(0x7bff)], one).doubt, Some(Why::Infinite));
    assert_eq!(trust("FAdd", &[half(0x0001), half(0x3c00)], one).doubt, Some(Why::Subnormal));
    assert_eq!(trust("FDiv", &[half(0x3c00), half(0x4200)], one).doubt, Some(Why::Approximate));
    assert_eq!(trust("Sqrt", &[half(0x4400)], one).doubt, Some(Why::Approximate));
    // A zero whose sign is not required has no definite bits.
    let zero = (FLOAT, Scalar::from(Lane::fragment_input(0.0)));
    assert!(trust("Bitcast", &[zero], INT).doubt.is_some());
}

/// The components of a result, from scalars that are used as given.
fn computed(name: &str, args: &[(Shape, &[Scalar])], results: &[Shape]) -> Scalars {
    let operands: Vec<Operand<'_>> = args.iter().map(|&(shape, scalars)| Operand { shape, scalars }).collect();
    Calculator::default().compute(named(name), &operands, results, SITE).expect("no undefined behaviour")
}

/// Whether all devices have the same component, under a strict profile and under the
/// Vulkan default.
fn decided(scalars: &Scalars) -> Vec<[bool; 2]> {
    scalars.iter().map(|s| [Profile::Strict, Profile::VulkanDefault].map(|profile| s.trust.is_decided(profile))).collect()
}

const BOTH: [bool; 2] = [true, true];
const CONTROLLED: [bool; 2] = [true, false];
const NEITHER: [bool; 2] = [false, false];

fn floats(values: &[f32]) -> Vec<Scalar> {
    values.iter().map(|&x| Scalar::from(Lane::exact(x))).collect()
}

#[test]
fn bits_are_in_doubt_where_a_float_zero_may_lose_its_sign() {
    let short = |n: u8| Shape::vector(Type::int(16, false), n);
    let cast = |shape: Shape, scalars: &[Scalar], result: Shape| decided(&computed("Bitcast", &[(shape, scalars)], &[result]));
    let int = |bits: u64| [Scalar::exact(Type::I32, bits)];
    for bits in [0, 1, 0x8000_0000, ALL] {
        assert_eq!(cast(INT, &int(bits), UINT), [BOTH], "{bits:#x}");
        assert_eq!(cast(INT, &int(bits), short(2)), [BOTH; 2], "{bits:#x}");
    }
    assert_eq!(cast(short(2), &[Scalar::exact(Type::int(16, false), 0); 2], UINT), [BOTH]);
    assert_eq!(cast(INT, &int(0), FLOAT), [BOTH]);
    // The sign of a float zero may be lost, so its parts are not decided without float controls. A
    // half of 1.5 is 0 too, but it is no float zero.
    for zero in [0.0, -0.0] {
        assert_eq!(cast(FLOAT, &floats(&[zero]), UINT), [CONTROLLED], "{zero:?}");
        assert_eq!(cast(FLOAT, &floats(&[zero]), short(2)), [CONTROLLED; 2], "{zero:?}");
    }
    assert_eq!(cast(FLOAT, &floats(&[1.5]), short(2)), [BOTH; 2]);
    let unsigned = [Scalar::from(Lane::fragment_input(0.0))];
    assert_eq!(cast(FLOAT, &unsigned, UINT), [NEITHER]);
    assert_eq!(cast(FLOAT, &floats(&[f32::from_bits(1)]), UINT), [CONTROLLED], "a subnormal");
    let doubtful = [Scalar { trust: Trust::CERTAIN.in_doubt(Why::Approximate), ..Scalar::exact(Type::I32, 0) }];
    assert_eq!(cast(INT, &doubtful, UINT), [NEITHER]);
}

#[test]
fn what_is_exact_is_decided_without_controls() {
    let tiny = f32::MIN_POSITIVE;
    let of_floats = |name: &str, args: &[f32]| {
        let scalars = floats(args);
        let args: Vec<_> = scalars.chunks(1).map(|scalar| (FLOAT, scalar)).collect();
        computed(name, &args, &[if name.starts_with("Is") { BOOL } else { FLOAT }])[0]
    };
    let trust = |name: &str, args: &[f32]| decided(&Scalars::from_slice(&[of_floats(name, args)]))[0];
    for (name, args, expected) in [
        ("NMin", &[1.0, 2.0][..], BOTH),
        ("NMax", &[-1.0, 2.0], BOTH),
        ("NClamp", &[5.0, 1.0, 2.0], BOTH),
        ("NMin", &[f32::NAN, 2.0], NEITHER),
        ("NMax", &[2.0, f32::NAN], NEITHER),
        ("NMax", &[2.0, f32::INFINITY], NEITHER),
        ("NMin", &[2.0, tiny / 2.0], NEITHER),
        ("NClamp", &[1.0, f32::NAN, 2.0], NEITHER),
        ("Fma", &[2.0, 3.0, 4.0], BOTH),
        ("Fma", &[0.1, 3.0, 4.0], CONTROLLED),
        ("QuantizeToF16", &[0.5], BOTH),
        ("QuantizeToF16", &[0.1], NEITHER),
        ("QuantizeToF16", &[2f32.powi(-20)], NEITHER),
        ("IsNan", &[1.0], BOTH),
        ("IsInf", &[1.0], BOTH),
        ("IsNan", &[f32::NAN], NEITHER),
    ] {
        assert_eq!(trust(name, args), expected, "{name} {args:?}");
    }
    // The result for zeros of different signs may be either zero.
    for (name, args) in [("NMin", &[0.0, -0.0][..]), ("NMax", &[-0.0, 0.0]), ("NClamp", &[-0.0, 0.0, 1.0])] {
        for profile in [Profile::Strict, Profile::VulkanDefault] {
            assert_eq!(of_floats(name, args).lane().judge(profile), Expected::Zero, "{name} {args:?}");
        }
    }
    let ldexp = |x: f32, exponent: i32| {
        decided(&computed("Ldexp", &[(FLOAT, &floats(&[x])), (INT, &[Scalar::exact(Type::I32, u64::from(exponent as u32))])], &[FLOAT]))[0]
    };
    for (x, exponent, expected) in [
        (1.5, 3, BOTH),
        (1.0, -126, BOTH),
        // The last bit is worth less than any normal float.
        (-1.5, -126, CONTROLLED),
        (0.0, 5, BOTH),
        (2f32.powi(-60), 120, BOTH),
        (1.0, -127, NEITHER),
        (tiny, -1, NEITHER),
        (tiny / 2.0, 1, NEITHER),
        // The result is normal, but the power of two is one that may be flushed.
        (2f32.powi(100), -150, NEITHER),
        (0.25, 128, CONTROLLED),
        (f32::INFINITY, 1, NEITHER),
    ] {
        assert_eq!(ldexp(x, exponent), expected, "Ldexp {x:e} {exponent}");
    }
    let doubtful = Scalar { trust: Trust::CERTAIN.in_doubt(Why::Approximate), ..Scalar::exact(Type::I32, 3) };
    assert_eq!(decided(&computed("Ldexp", &[(FLOAT, &floats(&[1.5])), (INT, &[doubtful])], &[FLOAT])), [NEITHER]);
    let half = |x: u64, exponent: u64| {
        let one = Shape::vector(Type::F16, 1);
        computed("Ldexp", &[(one, &[Scalar::exact(Type::F16, x)]), (INT, &[Scalar::exact(Type::I32, exponent)])], &[one])[0].trust.doubt
    };
    assert_eq!([half(0x7800, ALL - 13), half(0x7800, ALL - 14)], [None, Some(Why::Approximate)], "from 2^-14 on");
    for (name, results) in [("ModfStruct", [FLOAT, FLOAT]), ("FrexpStruct", [FLOAT, INT])] {
        let parts = |x: f32| decided(&computed(name, &[(FLOAT, &floats(&[x]))], &results));
        for x in [12.0, 0.75, -2.75, 0.0, tiny, 1.0 - f32::EPSILON] {
            assert_eq!(parts(x), [BOTH; 2], "{name} {x:e}");
        }
        assert_eq!(parts(tiny / 2.0), [NEITHER; 2], "{name}");
    }
    assert_eq!(decided(&computed("ModfStruct", &[(FLOAT, &floats(&[f32::INFINITY]))], &[FLOAT; 2])), [NEITHER; 2]);
}

#[test]
fn what_is_packed_without_rounding_is_decided_without_controls() {
    let pack = |name: &str, values: &[f32]| {
        let shape = Shape::vector(Type::F32, values.len() as u8);
        decided(&computed(name, &[(shape, &floats(values))], &[UINT]))[0]
    };
    for (name, values, expected) in [
        ("PackHalf2x16", &[1.5, 1.5][..], BOTH),
        ("PackHalf2x16", &[1.5, 0.1], NEITHER),
        ("PackHalf2x16", &[1.5, 0.0], NEITHER),
        ("PackHalf2x16", &[-0.0, 1.5], NEITHER),
        ("PackHalf2x16", &[1.5, 2f32.powi(-20)], NEITHER),
        ("PackUnorm4x8", &[1.0, 0.0, -3.0, 5.0], BOTH),
        ("PackUnorm4x8", &[1.0, 0.3, 0.0, 0.0], NEITHER),
        ("PackSnorm2x16", &[-1.0, 0.0], BOTH),
        ("PackSnorm2x16", &[-1.0, f32::NAN], NEITHER),
    ] {
        assert_eq!(pack(name, values), expected, "{name} {values:?}");
    }
    let unpack = |name: &str, lanes: u8, word: u64| {
        decided(&computed(name, &[(UINT, &[Scalar::exact(Type::U32, word)])], &[Shape::vector(Type::F32, lanes)]))
    };
    assert_eq!(unpack("UnpackHalf2x16", 2, 0x3e00_0000), [BOTH; 2]);
    assert_eq!(unpack("UnpackHalf2x16", 2, 0x7c00_0001), [NEITHER; 2], "a subnormal and an infinity");
    for name in ["UnpackSnorm4x8", "UnpackUnorm4x8"] {
        assert_eq!(unpack(name, 4, 0x1000), [BOTH, NEITHER, BOTH, BOTH], "{name}");
    }
    for name in ["UnpackSnorm2x16", "UnpackUnorm2x16"] {
        assert_eq!(unpack(name, 2, 0x1000_0000), [BOTH, NEITHER], "{name}");
    }
    // 1 as the sum of 1 - ε and ε. A device may multiply each part by 65535 and round
    // the product.
    let step = f32::EPSILON;
    let lanes = [Lane::exact(1.0 - step), Lane::exact(step)];
    let sum = Arithmetic::default().apply(Op::Add, &[Tuple::vector(&lanes[..1]), Tuple::vector(&lanes[1..])])[0];
    assert!(sum.float() == 1.0 && sum.trust.is_decided(Profile::VulkanDefault));
    let packed = |name: &str, x: Lane| {
        let all = [Scalar::from(x), Scalar::from(Lane::exact(0.0))];
        decided(&computed(name, &[(VEC2, &all)], &[UINT]))
    };
    assert_eq!([packed("PackUnorm2x16", sum), packed("PackUnorm2x16", Lane::exact(1.0))], [[NEITHER], [BOTH]]);
}

/// Any bits in any operand, for the shapes in the vectors. Nothing panics, results stay within
/// their width, and `pure` computes what `compute` does.
#[test]
fn no_bits_make_it_panic_and_both_ways_agree() {
    let mut random = Random(2025);
    for vector in vectors() {
        for _ in 0..60 {
            let bits: Vec<Vec<u64>> = vector
                .args
                .iter()
                .map(|(shape, bits)| {
                    let any = |_: &u64| match shape.scalar {
                        Type::Bool => random.next() & 1,
                        Type::Float { width } => random.float(width),
                        of => random.integer(of.width()),
                    };
                    bits.iter().map(any).collect()
                })
                .collect();
            let scalars: Vec<Scalars> =
                vector.args.iter().zip(&bits).map(|((s, _), bits)| bits.iter().map(|&b| Scalar::exact(s.scalar, b)).collect()).collect();
            let operands: Vec<Operand<'_>> =
                vector.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
            let raw: Vec<Bits<'_>> = vector.args.iter().zip(&bits).map(|((shape, _), bits)| Bits { shape: *shape, bits }).collect();
            let calculator = Calculator { environment: vector.environment, ..Calculator::default() };
            let found = calculator.compute(vector.operation, &operands, &vector.results, SITE);
            let components = pure(vector.operation, &raw, &vector.results, vector.environment).expect("every operation computes");
            let name = vector.operation.name();
            use smallstep_semantics::number::Computed;
            let behaviour = components.iter().find_map(|c| if let Computed::Behaviour(ub) = c { Some(*ub) } else { None });
            match found {
                Err(ub) => assert_eq!(Some(ub), behaviour, "{name} {bits:x?}"),
                Ok(scalars) => {
                    let kinds = vector.results.iter().flat_map(|r| std::iter::repeat_n(r.scalar, r.lanes()));
                    assert_eq!(scalars.len(), components.len(), "{name}");
                    for ((scalar, component), kind) in scalars.iter().zip(components).zip(kinds) {
                        let same = match component {
                            Computed::Value(bits) => scalar.undefined.is_none() && scalar.bits == bits,
                            Computed::Undefined(kind) => scalar.undefined.is_some_and(|origin| origin.kind == kind),
                            Computed::Behaviour(_) => false,
                        };
                        assert!(same, "{name} {bits:x?}: {scalar:?} against {component:?}");
                        assert!(kind.width() == 64 || scalar.bits >> kind.width() == 0, "{name} {bits:x?}: {:#x}", scalar.bits);
                    }
                }
            }
        }
    }
}
