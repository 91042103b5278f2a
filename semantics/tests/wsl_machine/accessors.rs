//! Getters, setters and address-takers: declared, generated, and within each other.

use crate::{int, run_with, words};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::machine::Settings;

/// A structure whose `x` is stored doubled in `raw`. `sets` counts the assignments to `x`.
const DOUBLED: &str = "struct S { int raw; int sets; }
    int operator.x(S s) { return s.raw / 2; }
    S operator.x=(S s, int v) { s.raw = v * 2; s.sets += 1; return s; }
    ";

#[test]
fn a_setter_changes_the_whole_and_the_value_stays_what_was_assigned() {
    assert_eq!(
        int(&format!("{DOUBLED} int f(int v) {{ S s; int y = s.x = v; return y * 10000 + s.raw * 100 + s.sets * 10 + s.x; }}"), &[3]),
        30613
    );
    assert_eq!(int(&format!("{DOUBLED} int f(int v) {{ S s; s.x = v; s.x += 4; s.x++; return s.x * 100 + s.sets; }}"), &[3]), 803);
    assert_eq!(
        int(&format!("{DOUBLED} int f(int v) {{ S s; s.x = v; int a = s.x++; int b = ++s.x; return a * 100 + b * 10 + s.sets; }}"), &[3]),
        353
    );
    // In an array, where the index is evaluated once.
    assert_eq!(int(&format!("{DOUBLED} int f(int v) {{ S[3] a; uint i = 0; a[i++].x += v; return a[0].x * 10 + int(i); }}"), &[3]), 31);
}

#[test]
fn setters_within_setters_read_and_assign_the_whole() {
    let text = format!(
        "{DOUBLED} struct T {{ S inner; int gets; int sets; }}
        S operator.s(T t) {{ return t.inner; }}
        T operator.s=(T t, S s) {{ t.inner = s; t.sets += 1; return t; }}
        struct U {{ T t0; T t1; }}
        T operator[](U u, uint i) {{ return i == 0u ? u.t0 : u.t1; }}
        U operator[]=(U u, uint i, T t) {{ if (i == 0u) {{ u.t0 = t; }} else {{ u.t1 = t; }} return u; }}
        "
    );
    let f = "int f(int v) { U u; u[1].s.x = v; u[0].s.x = v + 1; u[1].s.raw++; return u[1].s.raw * 1000 + u[0].s.x * 100 + u[1].sets * 10 + u.t1.inner.sets; }";
    // `raw` of the second is 2 · 3 + 1, and `x` of the first is 4. Then two assignments to the
    // second's `s`, and one to its `x`.
    assert_eq!(int(&format!("{text}{f}"), &[3]), 7421);
    // A vector in the structure.
    let text =
        "struct S { float4 kept; } float4 operator.v(S s) { return s.kept; } S operator.v=(S s, float4 v) { s.kept = v * 2.0; return s; }
        float4 f(float x) { S s; s.v = float4(1.0, 2.0, 3.0, 4.0); s.v.zx = float2(x, x + 1.0); return s.kept; }";
    let expected: Vec<u32> = [12.0f32, 8.0, 10.0, 16.0].iter().map(|x| x.to_bits()).collect();
    assert_eq!(words(text, "f", &[5f32.to_bits()]), expected);
    let text =
        "struct S { float2x2 kept; } float2x2 operator.m(S s) { return s.kept; } S operator.m=(S s, float2x2 m) { s.kept = m; return s; }
        float2x2 f(uint i) { S s; s.m[i][i] = 3.0; s.m[0][i].x; s.m[i].x += 1.0; return s.m; }";
    let text = text.replace("s.m[0][i].x; ", "");
    let expected: Vec<u32> = [0.0f32, 0.0, 1.0, 3.0].iter().map(|x| x.to_bits()).collect();
    assert_eq!(words(&text, "f", &[1]), expected);
}

#[test]
fn a_getter_is_called_as_often_as_the_rules_call_it() {
    // `e++` calls it twice: once for the old value, once for the operator's argument (ERRATA
    // WSL-D8). `++e` and `e += 1` call it once.
    let gets = |e: &str| {
        // Each call of the getter makes one choice of an unspecified value.
        let text = format!(
            "struct S {{ int n; }} int operator.x(S s) {{ return s.n / 0; }} S operator.x=(S s, int v) {{ s.n = v; return s; }} void f() {{ S s; {e}; }}"
        );
        let settings = Settings { strategy: Strategy::First, ..Settings::default() };
        run_with(&text, "f", &[], &settings).1.choices
    };
    for (e, expected) in
        [("s.x = 1", 0), ("s.x += 1", 1), ("++s.x", 1), ("s.x++", 2), ("int y = s.x++", 2), ("(s.x)", 1), ("int y = s.x + s.x", 2)]
    {
        assert_eq!(gets(e), expected, "{e}");
    }
    let text = "struct S { int n; } int operator.x(S s) { return s.n; } S operator.x=(S s, int v) { s.n = v; return s; }
        int f(int v) { S s; s.n = 5; int a = s.x++ * 10; return a + s.x; }";
    assert_eq!(int(text, &[0]), 56);
}

#[test]
fn declared_address_takers_point_where_they_say() {
    let text = "struct S { int a; int b; } thread int* operator&.c(thread S* s) { return &s->b; }
        int f(int v) { S s; s.c = v; s.c += 1; thread int* p = &s.c; *p *= 2; return s.b * 10 + s.c; }";
    assert_eq!(int(text, &[3]), 88);
    let text = "struct S { int[4] a; } thread int* operator&[](thread S* s, uint i) { return &s->a[3u - i]; }
        int f(uint i) { S s; s[i] = 7; s[i + 1u]++; return s.a[2] * 10 + s.a[1]; }";
    assert_eq!(int(text, &[1]), 71);
}

#[test]
fn accessors_are_generated_of_address_takers_for_what_has_no_address() {
    // `g().c` calls the generated getter. `t.s.c = v` calls the generated setter, since a setter
    // assigns to `t.s`.
    let text = "struct S { int a; int b; } thread int* operator&.c(thread S* s) { s->a += 1; return &s->b; }
        S g(int v) { S s; s.b = v; return s; }
        struct T { S kept; } S operator.s(T t) { return t.kept; } T operator.s=(T t, S s) { t.kept = s; return t; }
        int f(int v) { T t; t.s.c = v; t.s.c += 1; return g(v).c * 1000 + t.s.c * 100 + t.kept.a; }";
    // The address-taker is called on copies: once for the assignment, and once more by `+=` for the
    // setter. The getter's copy is lost.
    assert_eq!(int(text, &[3]), 3402);
    let text = "struct S { int[4] a; } thread int* operator&[](thread S* s, uint i) { return &s->a[3u - i]; }
        S g(int v) { S s; s.a[0] = v; return s; }
        struct T { S kept; } S operator.s(T t) { return t.kept; } T operator.s=(T t, S s) { t.kept = s; return t; }
        int f(int v) { T t; t.s[1] = v; t.s[1]++; return g(v)[3] * 100 + t.s[1] * 10 + t.kept.a[2]; }";
    assert_eq!(int(text, &[3]), 344);
}

#[test]
fn fields_and_elements_of_what_has_no_address() {
    let text = "struct P { int2 v; int[3] a; } struct T { P kept; } P operator.p(T t) { return t.kept; } T operator.p=(T t, P p) { t.kept = p; return t; }
        int f(uint i) { T t; t.p.a[i] = 5; t.p.v.y = 3; t.p.a[i] += 1; t.p.v[i] += 2; return t.p.a[i] * 100 + t.kept.v.y * 10 + t.p.v.x; }";
    assert_eq!(int(text, &[1]), 650);
    // The index is evaluated once, before the value.
    let text = "struct T { int[3] kept; } int[3] operator.a(T t) { return t.kept; } T operator.a=(T t, int[3] a) { t.kept = a; return t; }
        int f(uint i) { T t; t.a[i++] = int(i) * 10; t.a[i++] += int(i); return t.kept[0] + t.kept[1] * 100 + int(i) * 1000; }";
    assert_eq!(int(text, &[0]), 2210);
    assert_eq!(
        int(
            "struct S { int a; int[2] b; } S g(int x) { S s; s.b[1] = x; return s; } int f(int x) { return g(x).b[uint(x)] + int(g(x).b.length); }",
            &[1]
        ),
        3
    );
}

#[test]
fn what_a_getter_does_comes_before_what_is_evaluated_later() {
    let text = "struct S { int n; } int operator.x(S s) { return s.n; } S operator.x=(S s, int v) { s.n = v; return s; }
        int f(int v) { S s; s.x = 1; s.x += (s.x = 10); return s.x * 100 + (s.x + (s.x = 4) + s.x); }";
    // 1 + 10 = 11; then 11 + 4 + 4.
    assert_eq!(int(text, &[0]), 1119);
}
