//! Calls, with results by hand.

use crate::call;
use pretty_assertions::assert_eq;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::value;

#[test]
fn loops_and_branches() {
    let text = "
        int fact(int n) { int r = 1; for (int i = 2; i <= n; ++i) r *= i; return r; }
        int nested(int n) {
            int s = 0;
            int i = 0;
            while (i < n) {
                int j = 0;
                do { j++; if (j == 2) continue; s += j; } while (j < 3);
                i++;
            }
            return s;
        }
        int first(int n) { for (int i = 0; ; i++) { if (i * i > n) break; else continue; } for (;;) { return n; } return 0; }
        int sw(int k) {
            int r = 0;
            switch (k) { case 1: r = r + 1; fallthrough; case 2: r = r + 10; break; default: return 100; }
            return r;
        }
        int early(int n) { while (true) { if (n > 3) { return n; } n++; } return -1; }";
    for (expression, expected) in [
        ("fact(10)", "3628800"),
        ("fact(13)", "1932053504"),
        ("nested(2)", "8"),
        ("first(7)", "7"),
        ("sw(1)", "11"),
        ("sw(2)", "10"),
        ("sw(-1)", "100"),
        ("early(1)", "4"),
    ] {
        assert_eq!(call(text, expression), expected, "{expression}");
    }
}

#[test]
fn targets_are_reduced_once_and_operands_from_left_to_right() {
    let text = "
        int tick(thread int* c) { *c = *c + 1; return *c; }
        int order() { int c = 0; return tick(&c) * 100 + tick(&c) * 10 + tick(&c); }
        int once() { int c = 0; int[4] a; a[uint(tick(&c))] += 5; return c * 100 + a[1]; }
        int loaded() { int x = 1; x += (x = 10); return x; }
        int post() { int[3] a; uint i = 0; a[i++] = int(i); return a[0] * 10 + int(i); }
        int sides() { int c = 0; int[3] a; a[uint(tick(&c)) - 1] = tick(&c); return a[0] * 10 + c; }
        int static() { return plus(bar(5), bar(7)); }
        thread int* bar(int x) { return &x; }
        int plus(thread int* a, thread int* b) { return *a + *b; }";
    for (expression, expected) in [
        ("order()", "123"),
        ("once()", "105"),
        ("loaded()", "11"),
        ("post()", "11"),
        ("sides()", "22"),
        // Both pointers point to the only place of the parameter.
        ("static()", "14"),
    ] {
        let text = text.replace("static", "dangling");
        assert_eq!(call(&text, &expression.replace("static", "dangling")), expected, "{expression}");
    }
}

#[test]
fn accessors() {
    let text = "
        struct Q { int v; }
        int operator.w(Q q) { return q.v; }
        Q operator.w=(Q q, int x) { q.v = x * 2; return q; }
        int set() { Q q; q.w = 4; q.w += 3; int r = (q.w = 1); return q.v * 10 + r; }
        struct P { Q q; float4[2] m; }
        float deep(float x) { P p; p.m[1].zw = float2(x, x + 1.0); p.m[1].w += 1.0; return p.m[1].w * 10.0 + p.m[1].z; }
        P made(int v) { P p; p.q.v = v; return p; }
        int part(int v) { return made(v).q.v + made(v).q.w; }
        int nested() { P p; p.q.w = 3; return p.q.v; }
        float4x4 matrix() { float4x4 m; m[1][2] = 3.0; m[1].x = 1.0; return m; }
        thread int* operator&.alias(thread Q* q) { return &(q->v); }
        int aliased() { Q q; q.alias = 9; q.alias++; return q.v; }";
    for (expression, expected) in [
        ("set()", "21"),
        ("deep(2.0)", "42.0"),
        ("part(7)", "14"),
        ("nested()", "6"),
        ("aliased()", "10"),
        ("made(3).q.alias", "3"),
        (
            "matrix()",
            "float4x4(float4(0.0, 0.0, 0.0, 0.0), float4(1.0, 0.0, 3.0, 0.0), float4(0.0, 0.0, 0.0, 0.0), float4(0.0, 0.0, 0.0, 0.0))",
        ),
    ] {
        assert_eq!(call(text, expression), expected, "{expression}");
    }
}

#[test]
fn references() {
    let text = "
        int sum(thread int[] r) { int s = 0; for (uint i = 0; i < r.length; i++) s += r[i]; return s; }
        int array() { int[4] a; a[0] = 1; a[3] = 5; return sum(@a); }
        int single() { int x = 7; return sum(@x); }
        void set(thread int[] r, uint i, int v) { r[i] = v; }
        int through() { int[2] a; set(@a, 1, 8); thread int* p = &a[1]; *p += 1; return a[1] * 10 + int(a.length); }
        struct S { int[3] a; float b; }
        int inside() { S s; s.b = 2.0; thread int[] r = @s.a; r[2] = 6; return s.a[2] + int(s.b) + int(r.length); }";
    for (expression, expected) in [("array()", "6"), ("single()", "7"), ("through()", "92"), ("inside()", "11")] {
        assert_eq!(call(text, expression), expected, "{expression}");
    }
}

#[test]
fn values_of_every_kind_are_shown() {
    let text = "
        enum E { A, B = 5 }
        struct S { int a; bool[2] b; E e; float3 v; }
        S s() { S s; s.b[1] = true; s.e = E.B; s.v.y = -0.5; return s; }
        void nothing() { }
        float inf() { return asfloat(0x7f800000u); }";
    for (expression, expected) in [
        ("s()", "S { a: 0, b: { false, true }, e: E.B, v: float3(0.0, -0.5, 0.0) }"),
        ("nothing()", "void"),
        ("inf()", "inf"),
        ("-inf()", "-inf"),
        ("42", "42"),
        ("E.A", "E.A"),
        ("1.0 / 3.0", "0.33333334"),
        ("bool2(true, false)", "bool2(true, false)"),
        ("asfloat(1u)", "0.000000000000000000000000000000000000000000001"),
    ] {
        assert_eq!(call(text, expression), expected, "{expression}");
    }
}

#[test]
fn functions_without_expressions_are_called() {
    assert_eq!(call("void f() { } void g() { f(); }", "g()"), "void");
    let program = smallstep_semantics::wsl::validate::validate("void f() { }").program.expect("it is valid");
    let root = smallstep_semantics::wsl::environment::FunctionId(0);
    let start = smallstep_semantics::wsl::execution::call_of(&program, root, Vec::new());
    let evaluation = smallstep_semantics::wsl::call::Evaluation { program: &program, text: "void f() { }", start, root };
    assert!(evaluation.run(&Default::default(), &mut |_, _| {}).observed().is_some());
}

#[test]
fn lengths_of_what_is_got_call_the_getter() {
    let text = "
        struct C { int n; }
        int[3] operator.all(C c) { int[3] a; return a; }
        C operator.all=(C c, int[3] a) { c.n = a[0]; return c; }
        int[2] once(thread int* n) { *n += 1; int[2] a; return a; }
        int lengths() { C c; int n = 0; uint l = c.all.length + once(&n).length; return int(l) * 10 + n; }";
    assert_eq!(call(text, "lengths()"), "51");
    // `length` of a left-value evaluates the expressions that lead to it.
    assert_eq!(call("int f() { int[2][3] a; uint i = 0; uint n = a[i++].length; return int(n * 10 + i); }", "f()"), "21");
}

const POINTED: &str = "
    struct P { int x; float y; }
    void grow(thread int* p) { *p += 1; }
    int twice(thread P* p) { return p->x * 2; }
    int sum(thread int[] a) { int s = 0; for (uint i = 0; i < a.length; i++) s += a[i]; return s; }
    float4 made(float x) { return float4(x, 0.0, 0.0, 1.0); }";

#[test]
fn statements_may_stand_before_an_expression() {
    for (expression, expected) in [
        ("int x = 4; grow(&x); x", "5"),
        ("P p; p.x = 21; twice(&p)", "42"),
        ("int[3] a; a[0] = 1; a[2] = 5; sum(@a);", "6"),
        ("int x; if (x == 0) { x = 7; } x", "7"),
        ("int x; for (int i; i < 3; i++) { grow(&x); } x /* ; */ // ; }", "3"),
        ("/* { ; */ 3;;", "3"),
        ("int x = 2; grow(&x)", "void"),
        ("float x = 0.5; made(x)", "float4(0.5, 0.0, 0.0, 1.0)"),
        ("int x = 1; x / (x - 1)", "unspecified"),
        ("bool b = 1 / 0 == 1; if (b) discard; b", "false"),
    ] {
        let prepared = prepare(POINTED, expression).unwrap_or_else(|wrong| panic!("{expression}: {:?}", wrong.errors));
        let Outcome::Observed(slow) = prepared.evaluate(&Settings::default(), &mut |_, _| {}) else { panic!("{expression}") };
        assert_eq!(value::show(&prepared.program, slow.ty, &slow.words), expected, "{expression}");
        let settings = Settings { strategy: Strategy::First, ..Settings::default() };
        let Outcome::Observed(slow) = prepared.evaluate(&settings, &mut |_, _| {}) else { panic!("{expression}") };
        let Some((Outcome::Observed(fast), _)) = prepared.evaluate_fast(&settings) else { panic!("{expression}: not by the fast engine") };
        assert_eq!((fast.words, fast.discarded), (slow.words, slow.discarded), "{expression}");
    }
}

#[test]
fn what_is_wrong_with_an_expression_is_told_by_its_place_in_it() {
    for (expression, place, part) in [
        ("int x = 4; y", 11, "no variable `y`"),
        ("int x = y; x", 8, "no variable `y`"),
        ("grow(", 5, "found the end of the expression"),
        ("int x = 4;", 4, "found `x`"),
        ("made(1e10)", 6, "a number has no exponent"),
        ("made(1.0F)", 8, "its only suffixes are u behind an integer and f"),
        ("007", 1, "does not begin with 0"),
        ("int x = 1; x }", 13, "found `}`"),
        ("", 0, "one expression is expected"),
        ("return 3; 4", 0, "return type is void"),
    ] {
        let wrong = prepare(POINTED, expression).expect_err("it is wrong");
        let told = wrong.errors.iter().any(|e| wrong.place.inside(e.span.start) == Some(place) && e.message.contains(part));
        let found: Vec<_> = wrong.errors.iter().map(|e| (wrong.place.inside(e.span.start), &e.message)).collect();
        assert!(told, "{expression}: {found:?}");
    }
    // An error of the program has no place in the expression.
    let wrong = prepare("int f() { return true; }", "f()").expect_err("it is wrong");
    assert_eq!(wrong.place.inside(wrong.errors[0].span.start), None);
}
