//! Unspecified values are sets. They are frozen, and execution forks only where they decide.

use crate::{call, call_with};
use pretty_assertions::assert_eq;
use smallstep_semantics::number::Profile;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;

const TEXT: &str = "
    int div(int a, int b) { return a / b; }
    bool same(int a) { int y = a / 0; return y == y; }
    int nothing(int a) { int y = a % 0; return y - y; }
    bool twice(int a) { return a / 0 == a / 0; }
    bool number(float a) { float y = a / 0.0; return y == y; }
    int oob(uint i) { int[3] a; a[0] = 10; a[1] = 20; a[2] = 30; return a[i]; }
    int weak(uint i) { int[3] a; a[i] = 7; return a[0] + a[1] + a[2]; }
    int again(uint i) { int[3] a; uint j = i / 0; a[j % 3] = 7; return a[j % 3]; }
    int other(uint i) { int[2] a; a[i] = 7; return a[0]; }
    int branch(int x) { int y = x / 0; if (y > 3) return 1; else return 2; }
    int frozen(int x) { int y = x / 0; if (y > 3) { if (y > 3) return 1; return 3; } return 2; }
    int equal(int x) { int y = x / 0; if (y == 5) return y; return 5; }
    int cases(int x) { int y = x / 0; switch (y) { case 1: return 1; case 2: return y * 10; default: return -1; } }
    int excluded(int x) { int y = x / 0; switch (y) { case 1: return 1; default: break; } if (y == 1) return 2; return 3; }
    int unequal(int x) { int y = x / 0; if (y != 4) { if (y == 4) return 1; return 2; } return y; }
    int masked(int x) { int y = x / 0; return (y & 1) * 10 + (y & 1); }
    int loops(uint i) { int[3] a; a[1] = 1; a[2] = 2; int n = a[i]; int s = 0; for (int k = 0; k < n; k++) s += 10; return s; }
    float vector(uint i) { float2 v = float2(1.0, 2.0); return v[i]; }
    float2 written(uint i) { float2 v = float2(1.0, 2.0); v[i] = 5.0; return v; }
    enum E { A, B = 5, C = 9 }
    E element(int n) { return E(n); }";

#[test]
fn values_are_sets() {
    for (expression, expected) in [
        ("div(7, -2)", "-3"),
        ("div(-2147483648, -1)", "-2147483648"),
        ("div(1, 0)", "unspecified"),
        ("min(0.0, -0.0)", "one of -0.0, 0.0"),
        ("round(2.5)", "one of 2.0, 3.0"),
        ("clamp(1, 3, 2)", "unspecified"),
        ("oob(1)", "20"),
        ("oob(7)", "one of 10, 20, 30"),
        ("element(7)", "one of E.A, E.B, E.C"),
        ("element(9)", "E.C"),
        // In bounds, or the default value.
        ("vector(2)", "one of 0.0, 1.0, 2.0"),
        ("written(2)", "float2(one of 1.0, 5.0, one of 2.0, 5.0)"),
    ] {
        assert_eq!(call(TEXT, expression), expected, "{expression}");
    }
}

#[test]
fn values_are_frozen() {
    for (expression, expected) in [
        ("same(1)", "true"),
        ("nothing(1)", "0"),
        // Each division gives a new unspecified value.
        ("twice(1)", "one of false, true"),
        ("number(1.0)", "one of false, true"),
        // The store changes a single element, whichever it is.
        ("weak(9)", "7"),
        ("again(9)", "7"),
        ("other(9)", "one of 0, 7"),
        ("masked(1)", "one of 0, 11"),
    ] {
        assert_eq!(call(TEXT, expression), expected, "{expression}");
    }
}

#[test]
fn what_decides_is_followed_both_ways() {
    for (expression, expected) in [
        ("branch(1)", "one of 1, 2"),
        ("frozen(1)", "one of 1, 2"),
        ("equal(1)", "5"),
        ("cases(1)", "one of -1, 1, 20"),
        ("excluded(1)", "one of 1, 3"),
        ("unequal(1)", "one of 2, 4"),
        ("loops(5)", "one of 0, 10, 20"),
    ] {
        assert_eq!(call(TEXT, expression), expected, "{expression}");
    }
}

#[test]
fn definite_strategies_choose_one_of_the_set() {
    let with = |strategy, expression: &str| call_with(TEXT, expression, &Settings { strategy, ..Settings::default() });
    assert_eq!(with(Strategy::First, "div(1, 0)"), "0");
    assert_eq!(with(Strategy::First, "oob(7)"), "10");
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let once = with(Strategy::Random(seed), "oob(7)");
        assert_eq!(once, with(Strategy::Random(seed), "oob(7)"), "the same seed");
        assert_eq!(with(Strategy::Random(seed), "same(3)"), "true");
        seen.insert(once);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["10", "20", "30"]);
}

#[test]
fn floats_are_sets_under_a_profile() {
    let text = "
        float f(float x) { return sin(x) * 2.0; }
        int branch(float x) { float y = sin(x); if (y < 0.5) return 1; return 2; }
        int whole(float x) { return int(sqrt(x)); }
        float2 part(float x) { float2 v; v.y = exp(x); return v; }
        bool same(float x) { float y = x / 3.0; return (y < 0.1) == (y < 0.1); }";
    let strict = Settings { precision: Some(Profile::Strict), ..Settings::default() };
    for (expression, expected) in [
        // Sums and products are rounded correctly, so they have one result.
        ("1.0 + 2.0", "3.0"),
        ("0.1 * 0.3", "0.030000001"),
        // 2^-11 around the sine, times 2.
        ("f(1.0)", "within [1.6819655, 1.6839185]"),
        // 2.5 ULP, rounded inward to whole floats.
        ("1.0 / 3.0", "within [0.33333328, 0.3333334]"),
        ("branch(0.5235988)", "one of 1, 2"),
        ("branch(0.1)", "1"),
        ("whole(16.0)", "one of 3, 4"),
        ("part(1.0)", "float2(0.0, within [2.7182808, 2.718283])"),
        // A value that is compared with itself is decided once.
        ("same(0.3)", "true"),
    ] {
        assert_eq!(call_with(text, expression, &strict), expected, "{expression}");
    }
    // Without a profile the only result is the correctly rounded one, which is in the set.
    assert_eq!(call(text, "f(1.0)"), "1.6829419");
}

#[test]
fn what_a_comparison_decides_holds_from_then_on() {
    let text = "
        int below(int z) { uint i = 1u / uint(z); if (i < 3u) return int(i); return 9; }
        int never(int z) { int y = 1 / z; if (y > 5) { if (y < 3) return 1; return 2; } return 3; }
        int between(int z) { int y = 1 / z; if (y > 5 && y <= 8) return y * 10; return 0; }
        int element(int z) { int[4] t; t[0] = 10; t[1] = 11; t[2] = 12; t[3] = 13; int y = 1 / z; if (0 <= y && y < 3) return t[uint(y)]; return 0; }
        int apart(int z) { int y = 1 / z; if (y != 4) { if (y >= 4 && y <= 5) return y; } return 0; }
        int least(int z) { int y = 1 / z; if (-2147483647 > y) return y; return 0; }
        int most(int z) { uint y = 1u / uint(z); if (y > 4294967293u) return int(y); return 0; }
        int signs(int z) { uint y = 1u / uint(z); if (int(y) < 0) { if (y < 9u) return 1; return 2; } return 3; }
        int loop(int z) { int y = 1 / z; int n = 0; while (n < y) { n++; if (n == 3) break; } return n; }
        float within(float z) { float x = 1.0 / z; if (x < 2.0 && x > 1.0) return x; return 7.0; }
        bool again(float z) { float x = 1.0 / z; if (x < 2.0 && x > 1.0) return x + 1.0 == x + 1.0 && x < 3.0; return true; }
        bool unordered(float z) { float x = 1.0 / z; if (x < 2.0) return true; return x >= 2.0; }
        uint bits(float z) { float x = 1.0 / z; if (x < 2.0) return asuint(x); return 7u; }
        enum E { A, B }
        int later(int z) {
            int[2] t;
            int y = 1 / z;
            int x = int(E(y));
            if (x + y == 5) { t[uint(x)] = 1; if (y == 4) return x; }
            return 9;
        }";
    for (expression, expected) in [
        ("below(0)", "one of 0, 1, 2, 9"),
        // What the comparison of the sum says about x is known only after y is.
        ("later(0)", "one of 1, 9"),
        ("never(0)", "one of 2, 3"),
        ("between(0)", "one of 0, 60, 70, 80"),
        ("element(0)", "one of 0, 10, 11, 12"),
        ("apart(0)", "one of 0, 5"),
        ("least(0)", "one of -2147483648, 0"),
        ("most(0)", "one of -2, -1, 0"),
        ("signs(0)", "one of 2, 3"),
        ("loop(0)", "one of 0, 1, 2, 3"),
        ("within(0.0)", "within [1.0000001, 1.9999999] or [7.0, 7.0]"),
        ("again(0.0)", "true"),
        // Neither comparison holds for NaN.
        ("unordered(0.0)", "one of false, true"),
        ("bits(0.0)", "unspecified"),
    ] {
        assert_eq!(call(text, expression), expected, "{expression}");
    }
    // Where a comparison with NaN may have either outcome, NaN remains a possible value of
    // the float.
    let settings = Settings { precision: Some(Profile::VulkanDefault), ..Settings::default() };
    assert_eq!(call_with(text, "within(0.0)", &settings), "unspecified");
}

#[test]
fn what_no_execution_shows_is_not_among_the_values() {
    // x and y are any ints, u is any uint, f and g are any floats.
    let text = "
        int some(int z) { return 1 / z; }
        uint someu(int z) { return 1u / uint(z); }
        float somef(int z) { return 1.0 / float(z); }";
    let arguments = "int x, int y, uint u, float f, float g";
    for (ty, body, expected) in [
        // Known bits.
        ("uint", "(u | 1u) & 1u", "1"),
        ("bool", "((u << 1u) & 1u) == 0u", "true"),
        ("bool", "x * 2 == 3", "false"),
        ("bool", "x * 4 + 1 == y * 2", "false"),
        ("uint", "(u << 30u) >> 29u", "one of 0, 2, 4, 6"),
        ("bool", "(u & 0xf0u) == 0x0fu", "false"),
        ("uint", "(u & 12u) | 3u", "one of 3, 7, 11, 15"),
        ("bool", "x * x == 3", "false"),
        ("bool", "(x ^ y) == (y ^ x)", "true"),
        ("int", "x & ~x", "0"),
        ("int", "x | ~x", "-1"),
        ("uint", "reversebits(u << 31u)", "one of 0, 1"),
        // Ends.
        ("bool", "clamp(x, 0, 3) > 3", "false"),
        ("int", "clamp(x, -1, 2)", "one of -1, 0, 1, 2"),
        ("bool", "min(x, 5) <= 5", "true"),
        ("bool", "max(x, y) < max(x, y)", "false"),
        ("bool", "countbits(u) <= 32u", "true"),
        ("bool", "firstbithigh(u | 4u) >= 2u", "true"),
        ("uint", "firstbitlow(u | 4u)", "one of 0, 1, 2"),
        ("int", "sign(x)", "one of -1, 0, 1"),
        ("int", "x % 3", "one of -2, -1, 0, 1, 2"),
        ("bool", "u % 100000u < 100000u", "true"),
        ("bool", "(u >> 8u) <= 16777215u", "true"),
        ("bool", "x / 65536 <= 32767", "true"),
        ("int", "x >> 30u", "one of -2, -1, 0, 1"),
        ("bool", "abs(x % 100000) >= 0", "true"),
        ("bool", "float(u) >= 0.0", "true"),
        ("bool", "int(float(u & 7u)) == int(u & 7u)", "true"),
        ("bool", "u / (u | 1u) <= 1u || true", "true"),
        // Sums.
        ("bool", "someu(0) - u == someu(0) - u || true", "true"),
        ("uint", "(u + 1u) - u", "1"),
        ("bool", "x + y - x == y", "true"),
        ("bool", "2 * (x + 1) == x + x + 2", "true"),
        ("bool", "x + 1 == x + 2", "false"),
        ("bool", "x * 3 == 6 && x != 2", "false"),
        ("bool", "x - y == 1 && x == y", "false"),
        ("bool", "~x == -x - 1", "true"),
        // Opposite comparisons.
        ("bool", "(x < 5) == !(x >= 5)", "true"),
        ("bool", "(x < y) == (y > x)", "true"),
        ("bool", "(x == y) != (x != y)", "true"),
        ("bool", "(x < 5) & (x > 6)", "false"),
        ("bool", "(x < 5) | (x >= 5)", "true"),
        ("bool", "((u & 3u) == 2u) & ((u & 1u) == 1u)", "false"),
        ("bool", "(u & 3u) == 2u && (u & 1u) == 1u", "false"),
        ("bool", "(x < y) & (y < x)", "one of false, true"),
        ("int", "x + 1 > 3 && x + 1 < 6 ? x : 2", "one of 2, 3, 4"),
        ("int", "x >= 0 && (x >> 4u) == 1 && (x & 12) == 8 ? x : 0", "one of 0, 24, 25, 26, 27"),
        ("bool", "x < y && y < x", "false"),
        ("bool", "x < y && x == y", "false"),
        ("bool", "x == y && x < y", "false"),
        ("bool", "!(x < y) && !(y < x) && x != y", "false"),
        ("bool", "max(x, y) >= x && min(x, y) <= y", "true"),
        ("bool", "clamp(x, -3, 3) <= max(y, 3)", "true"),
        ("bool", "(u & 9u) <= u && u / 3u <= u && u % 3u <= u && (u >> 2u) <= u && (u | 5u) >= u", "true"),
        // Quotients with remainders, and low with high bits.
        ("bool", "x / 7 * 7 + x % 7 == x", "true"),
        ("bool", "u / 8u * 8u + u % 8u == u", "true"),
        ("bool", "((u & 0xffu) | (u & 0xffffff00u)) == u", "true"),
        ("bool", "u - (u & 15u) == ((u >> 4u) << 4u)", "true"),
        ("bool", "(x & 3) == int(uint(x) % 4u)", "true"),
        // Floats.
        ("bool", "isfinite(f) && isinf(f)", "false"),
        ("bool", "f < g && g < f", "false"),
        ("bool", "f < g && f == g", "false"),
        ("bool", "!(f < g) && !(g < f) && f != g", "one of false, true"),
        ("bool", "f < 1.0 && f > 2.0", "false"),
        ("bool", "(f < 1.0) & (f > 2.0)", "false"),
        ("bool", "f == f || f != f", "true"),
        ("bool", "isnan(f) == (f != f)", "true"),
        ("bool", "f < 0.0 && f == 0.0", "false"),
        ("bool", "f <= 0.0 && f >= 0.0 && f != 0.0", "false"),
        // Neither comparison holds for NaN.
        ("bool", "f < 1.0 || f >= 1.0", "one of false, true"),
        ("bool", "(f < g) == (g > f)", "true"),
    ] {
        let text = format!("{text} {ty} test({arguments}) {{ return {body}; }}");
        let expression = "test(some(0), some(0), someu(0), somef(0), somef(0))";
        assert_eq!(call(&text, expression), expected, "{body}");
    }
}
