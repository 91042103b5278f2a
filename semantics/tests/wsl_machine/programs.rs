//! Statements and expressions.

use crate::{int, words};

const LOOP_ARRAY: &str = include_str!("../../benches/wsl_programs/loop_array.wsl");
const MANDEL: &str = include_str!("../../benches/wsl_programs/mandel.wsl");

#[test]
fn the_two_workloads_give_what_other_engines_gave() {
    assert_eq!(words(LOOP_ARRAY, "loopArray", &[100_000]), [-417_036_176i32 as u32]);
    assert_eq!(words(MANDEL, "mandel", &[64, 64, 100]), [125_474]);
}

#[test]
fn integers_wrap_and_truncate() {
    let binary = |e: &str, a: i32, b: i32| int(&format!("int f(int a, int b) {{ return {e}; }}"), &[a as u32, b as u32]);
    assert_eq!(binary("a + b", i32::MAX, 1), i32::MIN);
    assert_eq!(binary("a - b", 3, 5), -2);
    assert_eq!(binary("a * b", 65536, 65536), 0);
    assert_eq!(binary("a / b", -7, 2), -3);
    assert_eq!(binary("a / b", i32::MIN, -1), i32::MIN);
    assert_eq!(binary("a % b", -7, 2), -1);
    assert_eq!(binary("a % b", i32::MIN, -1), 0);
    assert_eq!(binary("a & ~b", 7, 2), 5);
    assert_eq!(binary("a ^ b | 8", 7, 2), 13);
    assert_eq!(binary("a >> uint(b)", -8, 33), -4);
    assert_eq!(binary("int(uint(a) >> uint(b))", -8, 33), 0x7fff_fffc);
    assert_eq!(binary("a << uint(b)", 3, 34), 12);
    assert_eq!(binary("-a", i32::MIN, 0), i32::MIN);
    assert_eq!(binary("abs(a)", i32::MIN, 0), i32::MIN);
    assert_eq!(binary("sign(a) + sign(b)", -5, 0), -1);
    assert_eq!(binary("min(a, b)", -5, 3), -5);
    assert_eq!(binary("max(a, b)", -5, 3), 3);
}

#[test]
fn comparisons_and_conversions() {
    let truth = |e: &str, a: u32, b: u32| words(&format!("bool f(float a, float b, int i) {{ return {e}; }}"), "f", &[a, b, 0])[0];
    let (one, two, nan, minus) = (1f32.to_bits(), 2f32.to_bits(), f32::NAN.to_bits(), (-0f32).to_bits());
    for (e, a, b, expected) in [
        ("a < b", one, two, 1),
        ("a < b", one, nan, 0),
        ("!(a < b)", one, nan, 1),
        ("a >= b", two, two, 1),
        ("a >= b", nan, two, 0),
        ("a == b", 0, minus, 1),
        ("a == b", nan, nan, 0),
        ("a != b", nan, nan, 1),
        ("bool(a)", nan, 0, 1),
        ("bool(a)", minus, 0, 0),
        ("bool(a)", one, 0, 1),
        ("a > b || a <= b", nan, nan, 0),
    ] {
        assert_eq!(truth(e, a, b), expected, "{e} of {a:#x} and {b:#x}");
        let branched = format!("bool f(float a, float b, int i) {{ if ({e}) {{ return true; }} return false; }}");
        assert_eq!(words(&branched, "f", &[a, b, 0])[0], expected, "if ({e}) of {a:#x} and {b:#x}");
    }
    assert_eq!(words("int f(float a) { return int(a); }", "f", &[(-2.75f32).to_bits()]), [-2i32 as u32]);
    assert_eq!(words("int f(float a) { return int(a); }", "f", &[(-2_147_483_648f32).to_bits()]), [0x8000_0000]);
    assert_eq!(words("uint f(float a) { return uint(a); }", "f", &[(-0.75f32).to_bits()]), [0]);
    assert_eq!(words("float f(int a) { return float(a); }", "f", &[16_777_217]), [16_777_216f32.to_bits()]);
    assert_eq!(words("float f(uint a) { return float(a); }", "f", &[u32::MAX]), [4_294_967_296f32.to_bits()]);
    // Any bits except zeros are true.
    assert_eq!(words("bool f(bool a, bool b) { return a == b; }", "f", &[2, 1]), [1]);
    assert_eq!(words("int f(bool a) { return int(a); }", "f", &[2]), [1]);
    assert_eq!(words("bool f(bool a, bool b) { return a ^ b; }", "f", &[2, 1]), [0]);
}

#[test]
fn operands_are_evaluated_from_left_to_right() {
    assert_eq!(int("int f(int x) { return x + (x = 3) * x; }", &[2]), 11);
    assert_eq!(int("int f(int x) { return (x = 5) - (x = 6); }", &[2]), -1);
    assert_eq!(int("int f(int x) { int[2] a; a[0] = x; return a[0] * 10 + (a[0] = 4); }", &[2]), 24);
    // The left side of a compound assignment is read first.
    assert_eq!(int("int f(int x) { x += (x = 10); return x; }", &[1]), 11);
    assert_eq!(int("int g(thread int* p) { *p = *p + 1; return *p; } int f(int x) { return x * 100 + g(&x) * 10 + g(&x); }", &[1]), 123);
    assert_eq!(int("int g(thread int* p) { *p = 7; return 1; } int f(int x) { x -= g(&x); return x; }", &[5]), 4);
    assert_eq!(int("int g(int a, int b) { return a * 10 + b; } int f(int x) { return g(g(1, 2), g(x++, x)); }", &[3]), 154);
    assert_eq!(int("int f(int x) { return (x = 2, x * x), x + 1; }", &[9]), 3);
    // The index of the left side is evaluated before the right side.
    assert_eq!(int("int f(uint i) { int[4] a; a[i] = int(i = 3u); return a[1] * 10 + a[3]; }", &[1]), 30);
    assert_eq!(int("int f(int x) { int y = x; x = y = 4; return x * 10 + y; }", &[1]), 44);
}

#[test]
fn short_circuits_and_ternaries_evaluate_what_they_need() {
    let text = "bool t(thread int* p) { *p = *p * 10 + 1; return true; } bool n(thread int* p) { *p = *p * 10 + 2; return false; }
        int f(int x) { bool b = t(&x) && n(&x) && t(&x) || n(&x) || t(&x); return b ? x : -x; }";
    assert_eq!(int(text, &[0]), 1221);
    assert_eq!(int("int f(int x) { bool b = x > 1 && !(x > 5 || x == 3); return b ? 1 : 0; }", &[4]), 1);
    assert_eq!(int("int f(int x) { bool b = x > 1 && !(x > 5 || x == 3); return b ? 1 : 0; }", &[3]), 0);
    assert_eq!(int("int f(int x) { return x > 0 ? (x = 7) : (x = 8), x; }", &[1]), 7);
    assert_eq!(int("int f(int x) { x = x > 0 ? x + 1 : x - 1; return x; }", &[0]), -1);
}

#[test]
fn loops() {
    assert_eq!(
        int(
            "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { if (i == 2) { continue; } if (i == 5) { break; } s += i; } return s; }",
            &[9]
        ),
        8
    );
    assert_eq!(int("int f(int n) { int s = 0; do { s += n; n--; } while (n > 0); return s; }", &[0]), 0);
    assert_eq!(
        int("int f(int n) { int s = 0; do { s += n; n--; if (n == 3) { continue; } s += 100; } while (n > 0); return s; }", &[5]),
        415
    );
    assert_eq!(int("int f(int n) { int s = 0; while (n > 0) { n -= 1; if (n == 1) { continue; } s += n; } return s; }", &[4]), 5);
    assert_eq!(int("int f(int n) { int s = 0; for (;;) { s += 1; if (s == n) { return s; } } return 0; }", &[7]), 7);
    // A declaration stores the default value every time.
    assert_eq!(int("int f(int n) { int s = 0; for (int i = 0; i < n; i++) { int x; x += 3; s += x; } return s; }", &[4]), 12);
    assert_eq!(int("int f(int n) { int s = 0; for (int i = 0; i < n; i++) { int[3] x; x[1] += 3; s += x[1]; } return s; }", &[4]), 12);
    // `break` leaves the inner one of two loops.
    let text = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { for (int j = 0; ; j++) { if (j == i) { break; } s += 10; } s++; } return s; }";
    assert_eq!(int(text, &[4]), 64);
}

#[test]
fn switches() {
    let text = "int f(int x) { int s = 0; switch (x) { case 1: s += 1; fallthrough; case -2: s += 10; break; default: s += 100; fallthrough; case 7: s += 1000; break; }
        return s; }";
    for (x, expected) in [(1, 11), (-2, 10), (7, 1000), (5, 1100)] {
        assert_eq!(int(text, &[x as u32]), expected);
    }
    let text = "enum E { A, B = 5, C } int f(int x) { E e = x > 0 ? E.B : E.A; if (x > 1) { e = E.C; } switch (e) { case E.A: return 1; case E.C: return 3; case E.B: return 2; } }";
    for (x, expected) in [(0, 1), (1, 2), (2, 3)] {
        assert_eq!(int(text, &[x]), expected);
    }
    // `continue` in a switch belongs to the loop, and `break` to the switch.
    let text = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { switch (i) { case 1: continue; case 2: break; default: s += 1; break; } s += 10; } return s; }";
    assert_eq!(int(text, &[4]), 32);
    // A switch in a case.
    let text = "int f(int a, int b) { switch (a) { case 0: switch (b) { case 0: fallthrough; default: break; } fallthrough; default: return b; } }";
    assert_eq!(int(text, &[0, 9]), 9);
}

#[test]
fn names_are_found_in_the_innermost_block() {
    assert_eq!(int("int f(int x) { int y = x; { int x = 5; y += x; { int y = 100; x = y; } y += x; } return y + x; }", &[1]), 107);
    // An initialiser does not see its own variable.
    assert_eq!(int("int f(int x) { { int x = x + 1; return x; } }", &[1]), 2);
    assert_eq!(int("int f(int x) { int x = x * 2; return x; }", &[4]), 8);
}

#[test]
fn structures_and_arrays() {
    let text = "struct P { float3 v; int i; } struct Q { int a; P[2] p; } 
        int f(int x) { Q q; q.p[1].i = x; Q r = q; q.p[1].i = 0; r.a = 2; P[2] copy = r.p; return copy[1].i * 100 + r.a * 10 + q.p[1].i; }";
    assert_eq!(int(text, &[3]), 320);
    // Words in the order of memory, padding included: an int and 3 of padding, then twice a float3
    // (4), an int and 3 of padding.
    let whole = "struct P { float3 v; int i; } struct Q { int a; P[2] p; } Q f() { Q q; q.a = 1; q.p[0].v = float3(1.0, 2.0, 3.0); q.p[1].i = 4; return q; }";
    let (one, two, three) = (1f32.to_bits(), 2f32.to_bits(), 3f32.to_bits());
    assert_eq!(words(whole, "f", &[]), [1, 0, 0, 0, one, two, three, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(
        int(
            "int f(uint i) { int[3][4] a; a[i][2] = 5; a[1][i - 1u] = 7; return a[3][2] * 10 + a[1][2] + int(a.length) + int(a[0].length); }",
            &[3]
        ),
        64
    );
    assert_eq!(int("int g(int[3] a) { a[0] = 9; return a[1]; } int f(int x) { int[3] a; a[1] = x; return g(a) * 10 + a[0]; }", &[4]), 40);
    assert_eq!(int("int[3] g(int x) { int[3] a; a[2] = x; return a; } int f(int x) { return g(x)[2] + g(x)[0]; }", &[4]), 4);
    assert_eq!(
        int("struct S { int a; int b; } S g(int x) { S s; s.b = x; return s; } int f(int x) { return g(x).b * 10 + g(x + 1).b; }", &[4]),
        45
    );
}

#[test]
fn pointers_and_array_references() {
    assert_eq!(int("void g(thread int* p, int v) { *p = v; } int f(int x) { int[3] a; g(&a[1], x); return a[1]; }", &[6]), 6);
    assert_eq!(
        int("struct S { int a; int b; } void g(thread S* p) { p->b = p->a + 1; } int f(int x) { S s; s.a = x; g(&s); return s.b; }", &[6]),
        7
    );
    let sum = "int g(thread int[] r) { int s = 0; for (uint i = 0; i < r.length; i++) { s += r[i]; r[i] = 1; } return s; }";
    assert_eq!(int(&format!("{sum} int f(int x) {{ int[3] a; a[0] = x; a[2] = 5; return g(@a) * 10 + g(@a); }}"), &[2]), 73);
    assert_eq!(int(&format!("{sum} int f(int x) {{ return g(@x) * 10 + x; }}"), &[4]), 41);
    assert_eq!(int("int f(int x) { int[4] a; thread int[] r = @a; r[2] = x; thread int* p = &r[2]; *p += 1; return a[2]; }", &[4]), 5);
    // A reference to an array of structures has the stride of the structure.
    let text = "struct S { int a; float2 b; } int f(uint i) { S[4] s; thread S[] r = @s; r[i].a = 7; return s[2].a * 10 + s[1].a; }";
    assert_eq!(int(text, &[2]), 70);
    // A pointer into a function that has ended points at its variable (ERRATA WSL-C18).
    let text =
        "thread int* g(int x) { int y = x; return &y; } int f(int a) { thread int* p = g(5); thread int* q = g(7); return *p + *q; }";
    assert_eq!(int(text, &[0]), 14);
    assert_eq!(int("int f(int x) { thread int* p = &x; thread int* q = &*p; *q = 3; return x + *(&(x)); }", &[1]), 6);
    assert_eq!(
        int(
            "int f(int x) { int[2][3] a; thread int[2][] r = @a; r[2][1] = x; return a[2][1] + int(r.length) + int((*(&a)).length); }",
            &[10]
        ),
        16
    );
}

#[test]
fn steps() {
    assert_eq!(int("int f(int x) { return x++ * 100 + x * 10 + ++x; }", &[1]), 123);
    assert_eq!(int("int f(int x) { return x-- - --x; }", &[5]), 2);
    assert_eq!(int("int f(int x) { int[2] a; uint i = 0; a[i++]++; a[i]--; return a[0] * 10 + a[1] + int(i); }", &[5]), 10);
    // An operator that the program declares.
    let text = "struct S { int a; int b; } S operator++(S s) { s.a += 1; s.b += 10; return s; } int f(int x) { S s; S old = s++; S new = ++s; return old.a * 1000 + new.a * 100 + s.b; }";
    assert_eq!(int(text, &[0]), 220);
}

#[test]
fn vectors_and_matrices() {
    let float = |text: &str, arguments: &[f32]| -> Vec<f32> {
        let arguments: Vec<u32> = arguments.iter().map(|x| x.to_bits()).collect();
        words(text, "f", &arguments).into_iter().map(f32::from_bits).collect()
    };
    assert_eq!(float("float3 f(float x) { float3 v = float3(x, 2.0, 3.0); return v * v.x + 1.0; }", &[4.0]), [17.0, 9.0, 13.0, 0.0]);
    // The vector changes in place, although the scalar is one of its elements.
    assert_eq!(float("float4 f(float4 v) { v = v * v.y; return v; }", &[1.0, 2.0, 3.0, 4.0]), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(float("float4 f(float4 v) { v = v.wzyx; return v; }", &[1.0, 2.0, 3.0, 4.0]), [4.0, 3.0, 2.0, 1.0]);
    assert_eq!(float("float4 f(float4 v) { v.xy = v.yx; v.w = v.z = 9.0; return v; }", &[1.0, 2.0, 3.0, 4.0]), [2.0, 1.0, 9.0, 9.0]);
    assert_eq!(float("float4 f(float4 v) { return float4(v.zw, v.xy); }", &[1.0, 2.0, 3.0, 4.0]), [3.0, 4.0, 1.0, 2.0]);
    assert_eq!(float("float4 f(float4 v) { v = float4(v.w, v.xyz); return v; }", &[1.0, 2.0, 3.0, 4.0]), [4.0, 1.0, 2.0, 3.0]);
    // Two columns of three elements, each padded to four.
    assert_eq!(
        float(
            "float2x3 f(float x) { float2x3 m = float2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0); m[1][2] = x; m[0] = m[1] * 2.0; return m; }",
            &[7.0]
        ),
        [8.0, 10.0, 14.0, 0.0, 4.0, 5.0, 7.0, 0.0]
    );
    assert_eq!(
        float("float f(float x) { float2x3 m; uint i = 1u; m[i][i + 1u] = x; m[i].x += x; return m[1].z * 10.0 + m[i][0]; }", &[7.0]),
        [77.0]
    );
    assert_eq!(
        float("float3 f(float x) { float3[2] a; a[1].yz = float2(x, 2.0); a[1][0] = 1.0; return a[1]; }", &[7.0]),
        [1.0, 7.0, 2.0, 0.0]
    );
    assert_eq!(words("bool4 f(int4 a) { return a < 3; }", "f", &[1, 2, 3, 4]), [1, 1, 0, 0]);
    assert_eq!(words("int2 f(int2 a) { return -a + int2(10, 20); }", "f", &[1, 2]), [9, 18]);
    assert_eq!(words("uint f(int4 a) { return a.length + uint(a[3]); }", "f", &[1, 2, 3, 4]), [8]);
}

#[test]
fn floats_are_rounded_once_and_have_one_nan() {
    let two = |e: &str, a: f32, b: f32| words(&format!("float f(float a, float b) {{ return {e}; }}"), "f", &[a.to_bits(), b.to_bits()])[0];
    assert_eq!(two("a / b", 1.0, 3.0), 0x3eaa_aaab);
    assert_eq!(two("a - b", f32::INFINITY, f32::INFINITY), 0x7fc0_0000);
    assert_eq!(two("-a", f32::from_bits(0x7f80_0001), 0.0), 0x7fc0_0000);
    assert_eq!(two("a * b", 1e-30, 1e-15), f32::from_bits(two("a * b", 1e-30, 1e-15)).to_bits());
    assert_eq!(two("a + b", 16_777_216.0, 1.0), 16_777_216f32.to_bits());
}

#[test]
fn functions_without_instructions_of_their_own() {
    let float = |text: &str, arguments: &[f32]| -> Vec<f32> {
        let arguments: Vec<u32> = arguments.iter().map(|x| x.to_bits()).collect();
        words(text, "f", &arguments).into_iter().map(f32::from_bits).collect()
    };
    assert_eq!(float("float f(float3 a) { return dot(a, a) + length(float2(3.0, 4.0)); }", &[1.0, 2.0, 3.0, 9.0]), [19.0]);
    assert_eq!(float("float3 f(float3 a) { return cross(a, a.yzx); }", &[1.0, 2.0, 3.0, 9.0]), [-7.0, 5.0, -1.0, 0.0]);
    assert_eq!(float("float2 f(float2 a, float2 b) { return min(a, b) + max(a, b) * 10.0; }", &[1.0, 5.0, 2.0, 3.0]), [21.0, 53.0]);
    assert_eq!(float("float f(float x) { float w; float p = modf(x, &w); return w * 10.0 + p; }", &[-2.25]), [-20.25]);
    assert_eq!(float("float f(float x) { float[2] a; sincos(x, &a[1], &a[0]); return a[0] * 10.0 + a[1]; }", &[0.0]), [10.0]);
    // A vector is multiplied by a matrix of two columns of three elements.
    assert_eq!(
        float("float3 f(float2x3 m, float2 v) { return mul(m, v); }", &[1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 10.0, 1.0]),
        [14.0, 25.0, 36.0, 0.0]
    );
    assert_eq!(words("bool f(int3 a) { return any(a) && !all(a); }", "f", &[1, 0, 1, 0]), [1]);
    assert_eq!(words("uint f(float x) { return asuint(x); }", "f", &[5]), [5]);
    assert_eq!(words("uint f(uint x) { return countbits(x) * 100u + firstbitlow(x); }", "f", &[12]), [202]);
}

#[test]
fn padding_is_copied_with_the_whole_and_zero_in_what_is_made() {
    let text = |body: &str| format!("float3 f(float3 v, float2x3 m, uint i) {{ {body} }}");
    let result = |body: &str| words(&text(body), "f", &[1, 2, 3, 77, 4, 5, 6, 88, 7, 8, 9, 99, 1]);
    assert_eq!(result("return v;"), [1, 2, 3, 77]);
    assert_eq!(result("float3[2] a; a[i] = v; return a[1];"), [1, 2, 3, 77]);
    assert_eq!(result("return v.xyz;"), [1, 2, 3, 0]);
    assert_eq!(result("return +v;"), [1, 2, 3, 0]);
    assert_eq!(result("return m[1];"), [7, 8, 9, 0]);
    assert_eq!(result("return m[i];"), [7, 8, 9, 0]);
    assert_eq!(result("v.x = v.y; return v;"), [2, 2, 3, 0]);
    assert_eq!(result("v[i] = v.z; return v;"), [1, 3, 3, 0]);
    assert_eq!(words("float2x3 f(float2x3 m) { m[0][1] = m[1].x; return m; }", "f", &[4, 5, 6, 88, 7, 8, 9, 99]), [4, 7, 6, 0, 7, 8, 9, 0]);
}

#[test]
fn enums() {
    let text = "enum E : uint { A, B = 7, C = 3 } uint f(uint x) { E e = E(x); return e.value * 10 + (e == E.B ? 1 : 0); }"
        .replace("? 1 : 0", "? 1u : 0u");
    assert_eq!(words(&text.replace("* 10", "* 10u"), "f", &[7]), [71]);
    assert_eq!(words("enum E { A, B } int f() { E e; E[2] a; a[1] = E.B; return int(e) * 10 + int(a[1]); }", "f", &[]), [1]);
}

#[test]
fn discard_ends_the_thread() {
    let text = "void g(thread int* p) { *p = 1; discard; } fragment float4 f() : SV_Target 0 { int x; g(&x); return float4(); }";
    let ending = crate::run_with(text, "f", &[], &Default::default()).0;
    assert_eq!(ending, smallstep_semantics::wsl::machine::Ending::Discarded);
}
