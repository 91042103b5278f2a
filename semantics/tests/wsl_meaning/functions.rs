//! Functions on vectors and matrices, with results by hand.

use crate::common::{Checks, boolean, call, float, int, matrix, of, pointer, truths, uint};
use smallstep_semantics::wsl::meaning::Planted;

pub fn by_hand(checks: &mut Checks) {
    elementwise(checks);
    constructors(checks);
    products(checks);
    geometry(checks);
    accessors(checks);
}

fn elementwise(checks: &mut Checks) {
    let m = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    checks.gives("operator+", &[int(&[1, -2, 3]), int(&[10, 20, 30])], int(&[11, 18, 33]));
    checks.gives("operator-", &[uint(&[1, 2]), uint(&[2, 1])], uint(&[u32::MAX, 1]));
    // A scalar stands for each element, on either side.
    checks.gives("operator-", &[int(&[1, 2, 3, 4]), int(&[10])], int(&[-9, -8, -7, -6]));
    checks.gives("operator-", &[int(&[10]), int(&[1, 2, 3, 4])], int(&[9, 8, 7, 6]));
    checks.gives("operator/", &[float(&[6.0]), float(&[1.0, 2.0, 4.0])], float(&[6.0, 3.0, 1.5]));
    checks.gives("operator*", &[int(&[1, 2, 3]), int(&[4, -5, 6])], int(&[4, -10, 18]));
    checks.gives("operator*", &[m(), m()], matrix(&[&[1.0, 4.0, 9.0], &[16.0, 25.0, 36.0]]));
    checks.gives("operator/", &[m(), float(&[2.0])], matrix(&[&[0.5, 1.0, 1.5], &[2.0, 2.5, 3.0]]));
    checks.gives("mul", &[float(&[2.0]), m()], matrix(&[&[2.0, 4.0, 6.0], &[8.0, 10.0, 12.0]]));
    checks.gives("mul", &[m(), float(&[-1.0])], matrix(&[&[-1.0, -2.0, -3.0], &[-4.0, -5.0, -6.0]]));
    checks.gives("operator-", &[m()], matrix(&[&[-1.0, -2.0, -3.0], &[-4.0, -5.0, -6.0]]));
    checks.gives("operator+", &[m()], m());
    checks.gives("operator+", &[uint(&[7, 8, 9])], uint(&[7, 8, 9]));
    // The order of arguments.
    checks.gives("clamp", &[int(&[-5, 5, 50]), int(&[0, 0, 0]), int(&[9, 9, 9])], int(&[0, 5, 9]));
    checks.gives("smoothstep", &[float(&[0.0, 1.0]), float(&[2.0, 3.0]), float(&[1.0, 1.0])], float(&[0.5, 0.0]));
    checks.gives("lerp", &[float(&[1.0, 2.0]), float(&[3.0, 4.0]), float(&[0.5, 0.25])], float(&[2.0, 2.5]));
    checks.gives("mad", &[float(&[1.0, 2.0]), float(&[3.0, 4.0]), float(&[10.0, 20.0])], float(&[13.0, 28.0]));
    checks.gives("step", &[float(&[1.0, 2.0]), float(&[2.0, 1.0])], float(&[0.0, 1.0]));
    checks.gives("atan2", &[float(&[0.0, 1.0]), float(&[1.0, 1.0])], float(&[0.0, f32::from_bits(0x3f49_0fdb)]));
    checks.gives("pow", &[float(&[2.0, 3.0]), float(&[3.0, 2.0])], float(&[8.0, 9.0]));
    checks.gives("fmod", &[float(&[7.0, -7.0]), float(&[4.0, 4.0])], float(&[3.0, -3.0]));
    checks.gives("operator>>", &[int(&[-8]), uint(&[33])], int(&[-4]));
    checks.gives("operator%", &[uint(&[7]), uint(&[4])], uint(&[3]));
    checks.gives("operator++", &[int(&[i32::MAX])], int(&[i32::MIN]));
    checks.gives("countbits", &[uint(&[7, 8, u32::MAX])], uint(&[3, 1, 32]));
    checks.gives("sign", &[int(&[-3, 0])], int(&[-1, 0]));
    checks.gives("sign", &[uint(&[3, 0])], int(&[1, 0]));
    checks.gives("operator~", &[boolean(&[1])], boolean(&[0]));
    // A comparison returns Booleans in the shape of its operands.
    checks.gives("operator<", &[int(&[-1, 2, 0]), int(&[0])], boolean(&[1, 0, 0]));
    checks.gives("operator<", &[int(&[0]), int(&[-1, 2, 0])], boolean(&[0, 1, 0]));
    checks.gives("operator==", &[boolean(&[1, 0, 2]), boolean(&[3, 0, 0])], boolean(&[1, 1, 0]));
    checks.gives("operator!=", &[m(), float(&[4.0])], truths(&[&[1, 1, 1], &[0, 1, 1]]));
    checks.gives("operator>=", &[m(), m()], truths(&[&[1, 1, 1], &[1, 1, 1]]));
    checks.gives("operator==", &[of("E", &[3]), of("E", &[3])], boolean(&[1]));
    checks.gives("operator!=", &[of("F", &[3]), of("F", &[4])], boolean(&[1]));
    checks.gives("isnan", &[float(&[f32::NAN, 1.0, f32::INFINITY])], boolean(&[1, 0, 0]));
    checks.gives("isinf", &[matrix(&[&[f32::NAN, 1.0], &[f32::INFINITY, 0.0]])], truths(&[&[0, 0], &[1, 0]]));
    checks.gives("isfinite", &[float(&[f32::NAN, 1.0, f32::INFINITY])], boolean(&[0, 1, 0]));
    // Every element, and some element.
    checks.gives("all", &[float(&[1.0, f32::NAN, -2.0])], boolean(&[1]));
    checks.gives("all", &[float(&[1.0, 1.0, -0.0])], boolean(&[0]));
    checks.gives("all", &[truths(&[&[1, 1, 1], &[1, 1, 0]])], boolean(&[0]));
    checks.gives("any", &[int(&[0, 0, 0, -1])], boolean(&[1]));
    checks.gives("any", &[float(&[0.0, -0.0, 0.0])], boolean(&[0]));
    checks.gives("any", &[boolean(&[4])], boolean(&[1]));
    // modf returns the fraction and stores the rest. sincos stores the sine first.
    let m = matrix(&[&[1.5, -1.5, 2.0], &[-0.0, 3.25, 0.0]]);
    let (fraction, rest) = (matrix(&[&[0.5, -0.5, 0.0], &[-0.0, 0.25, 0.0]]), matrix(&[&[1.0, -1.0, 2.0], &[-0.0, 3.0, 0.0]]));
    checks.stores("modf", &[m, pointer("float2x3* thread")], &[rest], Some(fraction));
    let places = [pointer("float3* device"), pointer("float3* thread")];
    let of = [&[float(&[0.0, -0.0, 0.5])], &places[..]].concat();
    checks.stores("sincos", &of, &[float(&[0.0, -0.0, 0.47942555]), float(&[1.0, 1.0, 0.87758255])], None);
}

fn constructors(checks: &mut Checks) {
    checks.gives("cast float3", &[float(&[1.0]), float(&[2.0, 3.0])], float(&[1.0, 2.0, 3.0]));
    checks.gives("cast int4", &[int(&[1]), int(&[2, 3]), int(&[4])], int(&[1, 2, 3, 4]));
    // The padding of a part is not copied.
    checks.gives("cast uint4", &[uint(&[1, 2, 3]), uint(&[4])], uint(&[1, 2, 3, 4]));
    checks.gives("cast bool4", &[boolean(&[1, 0]), boolean(&[0, 1])], boolean(&[1, 0, 0, 1]));
    let m = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    checks.gives("cast float2x3", &[float(&[1.0, 2.0, 3.0]), float(&[4.0, 5.0, 6.0])], m());
    checks.gives("cast float2x3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| float(&[x])), m());
    checks.gives("cast float3x2", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| float(&[x])), matrix(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]));
    checks.gives("cast bool2x2", &[1, 1, 0, 1].map(|x| boolean(&[x])), truths(&[&[1, 1], &[0, 1]]));
    checks.gives("cast float3", &[], float(&[0.0, 0.0, 0.0]));
    checks.gives("cast float2x3", &[], matrix(&[&[0.0; 3], &[0.0; 3]]));
    checks.gives("cast E", &[], of("E", &[0]));
    checks.gives("cast atomic_int", &[], of("atomic_int", &[0]));
    checks.gives("cast uint", &[], uint(&[0]));
    checks.gives("cast int", &[int(&[-4])], int(&[-4]));
    checks.gives("cast S", &[of("S", &[1, 2, 3, 4, 5])], of("S", &[1, 2, 3, 4, 5]));
    checks.gives("cast F", &[of("F", &[9])], of("F", &[9]));
    checks.gives("cast int", &[of("E", &[u32::MAX])], int(&[-1]));
    checks.gives("operator.value", &[of("F", &[9])], uint(&[9]));
    checks.gives("cast int", &[float(&[-2.5])], int(&[-2]));
    checks.gives("cast uint", &[int(&[-1])], uint(&[u32::MAX]));
    checks.gives("cast float", &[boolean(&[1])], float(&[1.0]));
    checks.gives("cast bool", &[float(&[f32::NAN])], boolean(&[1]));
    checks.gives("asint", &[float(&[1.0, -0.0, 2.0])], int(&[0x3f80_0000, i32::MIN, 0x4000_0000]));
    checks.gives("asfloat", &[uint(&[0x3f80_0000, 0x8000_0000])], float(&[1.0, -0.0]));
    checks.gives("asuint", &[int(&[-1])], uint(&[u32::MAX]));
}

fn products(checks: &mut Checks) {
    let m = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    checks.gives("dot", &[int(&[1, 2, 3]), int(&[4, -5, 6])], int(&[12]));
    checks.gives("dot", &[uint(&[3]), uint(&[5])], uint(&[15]));
    checks.gives("mul", &[float(&[1.0, 2.0]), float(&[3.0, 4.0])], float(&[11.0]));
    checks.gives("mul", &[float(&[3.0]), float(&[4.0])], float(&[12.0]));
    // Added from the left, 1e8 absorbs the first 1.
    checks.gives("dot", &[float(&[1e8, 1.0, -1e8, 1.0]), float(&[1.0; 4])], float(&[1.0]));
    checks.gives("dot", &[float(&[1e8, -1e8, 1.0, 1.0]), float(&[1.0; 4])], float(&[2.0]));
    // The product is rounded before it is added: (1 + 2^-12)² - 1.
    checks.gives("dot", &[float(&[1.0002441, -1.0]), float(&[1.0002441, 1.0])], float(&[4.8828125e-4]));
    // A vector on the left is a row.
    checks.gives("mul", &[float(&[1.0, 10.0, 100.0]), m()], float(&[321.0, 654.0]));
    checks.gives("mul", &[m(), float(&[1.0, 10.0])], float(&[41.0, 52.0, 63.0]));
    let right = matrix(&[&[1.0, 0.0], &[0.0, 1.0], &[1.0, 10.0]]);
    checks.gives("mul", &[m(), right], matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[41.0, 52.0, 63.0]]));
    // The order also matters for square matrices.
    let (a, b) = (matrix(&[&[1.0, 2.0], &[3.0, 4.0]]), matrix(&[&[0.0, 1.0], &[10.0, 0.0]]));
    checks.gives("mul", &[a.clone(), b.clone()], matrix(&[&[3.0, 4.0], &[10.0, 20.0]]));
    checks.gives("mul", &[b, a.clone()], matrix(&[&[20.0, 1.0], &[40.0, 3.0]]));
    checks.gives("mul", &[a.clone(), float(&[1.0, 10.0])], float(&[31.0, 42.0]));
    checks.gives("mul", &[float(&[1.0, 10.0]), a.clone()], float(&[21.0, 43.0]));
    checks.gives("transpose", &[m()], matrix(&[&[1.0, 4.0], &[2.0, 5.0], &[3.0, 6.0]]));
    checks.gives("transpose", &[truths(&[&[1, 0, 0, 1], &[0, 1, 0, 0]])], truths(&[&[1, 0], &[0, 1], &[0, 0], &[1, 0]]));
    checks.gives("determinant", &[a], float(&[-2.0]));
    checks.gives("determinant", &[matrix(&[&[2.0, 0.0, 1.0], &[1.0, 3.0, 0.0], &[0.0, 1.0, 4.0]])], float(&[25.0]));
    let four = |order: [usize; 4]| {
        let columns = [0, 1, 2, 3].map(|c| [0, 1, 2, 3].map(|r| if order[c] == r { (c + 2) as f32 } else { 0.0 }));
        matrix(&[&columns[0], &columns[1], &columns[2], &columns[3]])
    };
    checks.gives("determinant", &[four([1, 0, 3, 2])], float(&[120.0]));
    checks.gives("determinant", &[four([1, 0, 2, 3])], float(&[-120.0]));
    checks.gives("determinant", &[four([3, 0, 1, 2])], float(&[-120.0]));
}

fn geometry(checks: &mut Checks) {
    checks.gives("length", &[float(&[3.0, 4.0])], float(&[5.0]));
    checks.gives("length", &[float(&[1.0, 2.0, 2.0])], float(&[3.0]));
    checks.gives("length", &[float(&[1e30, 0.0])], float(&[f32::INFINITY]));
    checks.gives("normalize", &[float(&[3.0, 0.0, -4.0])], float(&[0.6, 0.0, -0.8]));
    checks.gives("distance", &[float(&[1.0, 7.0]), float(&[4.0, 3.0])], float(&[5.0]));
    checks.gives("cross", &[float(&[1.0, 2.0, 3.0]), float(&[4.0, 5.0, 6.0])], float(&[-3.0, 6.0, -3.0]));
    checks.gives("cross", &[float(&[1.0, 0.0, 0.0]), float(&[0.0, 1.0, 0.0])], float(&[0.0, 0.0, 1.0]));
    checks.gives("reflect", &[float(&[1.0, -1.0]), float(&[0.0, 1.0])], float(&[1.0, 1.0]));
    checks.gives("reflect", &[float(&[1.0, 2.0, 3.0]), float(&[0.0, 0.0, 2.0])], float(&[1.0, 2.0, -21.0]));
    // d = -1 and k = 1: half of i minus half of n.
    checks.gives("refract", &[float(&[0.0, -1.0]), float(&[0.0, 1.0]), float(&[0.5])], float(&[0.0, -1.0]));
    // d = -0.5 and k = 1 - 0.25 · 0.75 = 0.8125. The results are no round numbers: -0.25 +
    // √0.8125 is 0.6513878.
    checks.gives("refract", &[float(&[1.0, -0.5]), float(&[0.0, 1.0]), float(&[0.5])], float(&[0.5, -0.9013878]));
    // k = 1 - 4 is negative. The result is zeros, and no root of k is taken.
    checks.gives("refract", &[float(&[1.0, 0.0]), float(&[0.0, 1.0]), float(&[2.0])], float(&[0.0, 0.0]));
    let n = || float(&[1.0, 2.0]);
    checks.gives("faceforward", &[n(), float(&[1.0, 0.0]), float(&[-1.0, 5.0])], n());
    checks.gives("faceforward", &[n(), float(&[1.0, 0.0]), float(&[1.0, 5.0])], float(&[-1.0, -2.0]));
    checks.gives("faceforward", &[n(), float(&[1.0, 0.0]), float(&[0.0, 5.0])], float(&[-1.0, -2.0]));
    // The first argument differs from the second and third.
    checks.gives("faceforward", &[float(&[-1.0, 0.0]), float(&[1.0, 0.0]), float(&[1.0, 0.0])], float(&[1.0, -0.0]));
    checks.gives("dst", &[float(&[9.0, 2.0, 3.0, 9.0]), float(&[9.0, 5.0, 9.0, 7.0])], float(&[1.0, 10.0, 3.0, 7.0]));
    checks.gives("lit", &[float(&[0.5]), float(&[0.25]), float(&[8.0])], float(&[1.0, 0.5, 2.0, 1.0]));
    checks.gives("lit", &[float(&[-0.5]), float(&[0.25]), float(&[8.0])], float(&[1.0, 0.0, 0.0, 1.0]));
    checks.gives("lit", &[float(&[0.5]), float(&[-0.25]), float(&[8.0])], float(&[1.0, 0.5, 0.0, 1.0]));
}

fn accessors(checks: &mut Checks) {
    let v = || float(&[1.0, 2.0, 3.0]);
    checks.gives("operator.y", &[v()], float(&[2.0]));
    checks.gives("operator.zx", &[v()], float(&[3.0, 1.0]));
    checks.gives("operator.xxyz", &[v()], float(&[1.0, 1.0, 2.0, 3.0]));
    checks.gives("operator.zyx", &[v()], float(&[3.0, 2.0, 1.0]));
    checks.gives("operator.w", &[int(&[1, 2, 3, 4])], int(&[4]));
    checks.gives("operator.y=", &[v(), float(&[9.0])], float(&[1.0, 9.0, 3.0]));
    checks.gives("operator.zx=", &[v(), float(&[8.0, 9.0])], float(&[9.0, 2.0, 8.0]));
    checks.gives("operator.zxy=", &[v(), float(&[7.0, 8.0, 9.0])], float(&[8.0, 9.0, 7.0]));
    checks.gives("operator.wzyx=", &[uint(&[0; 4]), uint(&[1, 2, 3, 4])], uint(&[4, 3, 2, 1]));
    checks.gives("operator.length", &[v()], uint(&[3]));
    checks.gives("operator.length", &[of("int[3]", &[5, 6, 7])], uint(&[3]));
    checks.gives("operator.length", &[of("float4[2][3]", &[0; 24])], uint(&[3]));
    checks.gives("operator.length", &[of("E[] device", &[64, 17, 0, 0])], uint(&[17]));
    checks.gives("operator[]", &[v(), uint(&[2])], float(&[3.0]));
    checks.gives("operator[]=", &[v(), uint(&[0]), float(&[9.0])], float(&[9.0, 2.0, 3.0]));
    let m = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    checks.gives("operator[]", &[m(), uint(&[1])], float(&[4.0, 5.0, 6.0]));
    checks.gives("operator[]=", &[m(), uint(&[0]), float(&[7.0, 8.0, 9.0])], matrix(&[&[7.0, 8.0, 9.0], &[4.0, 5.0, 6.0]]));
    checks.gives("operator[]", &[truths(&[&[1, 0], &[0, 1]]), uint(&[0])], boolean(&[1, 0]));
    // Arrays: the words of the element, unchanged. float4[2][3] is three arrays of two vectors.
    checks.gives("operator[]", &[of("int[3]", &[5, 6, 7]), uint(&[1])], int(&[6]));
    checks.gives("operator[]=", &[of("int[3]", &[5, 6, 7]), uint(&[2]), int(&[9])], of("int[3]", &[5, 6, 9]));
    let words: Vec<u32> = (0..24).collect();
    checks.gives("operator[]", &[of("float4[2][3]", &words), uint(&[1])], of("float4[2]", &words[8..16]));
    let changed = [&words[..16], &[99; 8]].concat();
    checks.gives("operator[]=", &[of("float4[2][3]", &words), uint(&[2]), of("float4[2]", &[99; 8])], of("float4[2][3]", &changed));
}

#[test]
fn functions_by_hand() {
    let mut checks = Checks::of(Planted::NONE);
    by_hand(&mut checks);
    checks.assert();
}

#[test]
fn what_has_length_0_is_normalized_to_any_value() {
    for x in [[0.0, -0.0], [1e-30, 1e-30]] {
        let answer = call(Planted::NONE, 0, "normalize", &[float(&x)]).expect("a function of values");
        assert!(answer.lanes.unspecified && answer.result == [0, 0]);
    }
    assert!(!call(Planted::NONE, 0, "normalize", &[float(&[1.0, 0.0])]).expect("a function of values").lanes.unspecified);
}
