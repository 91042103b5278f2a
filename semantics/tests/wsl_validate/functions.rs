//! Functions: parameters, returns, recursion, and functions that may discard.

use crate::{accepts, rejects};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::validate::validate;

#[test]
fn parameters() {
    accepts("int f(int x, float y) { x = 3; return x; }");
    accepts("void f(int x) { thread int* p = &x; *p = 4; x++; }");
    accepts("void f(int x) { float x; x = 1.5; }");
    rejects("wsl/v-function-parameters", "void f(int x, float x) { }");
}

#[test]
fn returns() {
    accepts("void f() { }");
    accepts("void f() { return; }");
    accepts("void g() { } void f() { return g(); }");
    accepts("int f() { return 1; } uint g() { return 1; } float h() { return 1; } float k() { return (2); }");
    accepts("int f(bool b) { if (b) return 1; else return 2; }");
    accepts("int f(bool b) { if (b) return 1; return 2; }");
    accepts("thread int* f(thread int* p) { return p; }");
    accepts("thread int* f(thread int* p, thread int* q) { *p = 1; return q; }");
    rejects("wsl/v-function-nothing", "int f() { }");
    rejects("wsl/v-function-nothing", "int f(bool b) { if (b) return 1; }");
    rejects("wsl/v-function-nothing", "int f() { for (;;) { return 1; } }");
    rejects("wsl/v-function-nothing", "int f() { while (true) { } }");
    rejects("wsl/v-function-nothing", "int f() { do { return 1; } while (true); }");
    rejects("wsl/v-function-return", "int f() { return 1.5; }");
    rejects("wsl/v-function-return", "int f() { return; }");
    rejects("wsl/v-function-return", "void f() { return 1; }");
    rejects("wsl/v-function-return", "int f(uint u) { return u; }");
    rejects("wsl/v-function-return", "uint f() { return 1 + 2; }");
    rejects("wsl/v-function-return", "uint f() { return -1; }");
    rejects("wsl/v-function-return", "uint f(bool b) { return b ? 1 : 2; }");
    rejects("wsl/v-function-return", "int f() { return true; }");
    rejects("wsl/v-function-body", "void f() { break; }");
    rejects("wsl/v-function-body", "void f() { continue; }");
    rejects("wsl/v-function-body", "void f() { fallthrough; }");
    rejects("wsl/v-function-body", "void f(bool b) { if (b) break; }");
    rejects("wsl/t-if", "thread int* f(thread int* p, bool b) { if (b) return p; else return p; }");
    rejects("wsl/t-do-while-no-break", "thread int* f(thread int* p) { while (true) return p; return p; }");
    rejects("wsl/t-do-while-no-break", "thread int* f(thread int* p) { do return p; while (true); return p; }");
    rejects("wsl/t-for-no-break", "device int[] f(device int[] p) { for (;;) return p; return p; }");
    accepts("sampler f(sampler s) { return s; }");
    rejects("wsl/v-return-opaque", "sampler f(sampler s, sampler t, bool b) { if (b) return s; return t; }");
    accepts("fragment float4 f() : SV_Target 0 { discard; }");
    accepts("float g() { discard; }");
}

#[test]
fn names_of_types() {
    // A function may have the name of a type; a call by that name is one of the type's casts too.
    accepts("int void(int x) { x++; return x; } int f() { return void(3); }");
    accepts("struct S { int a; } int S(int x) { return x; } int f() { return S(3) + S(S()).a; }");
}

#[test]
fn recursion() {
    accepts("int f(float x) { return 1; } int f(int x) { return f(1.5); }");
    rejects("wsl/v-recursion", "int f(int x) { return f(x); }");
    rejects("wsl/v-recursion", "int f(int x) { return g(x); } int g(int x) { return f(x); }");
    rejects("wsl/v-recursion", "struct S { int a; } int operator.b(S s) { return s.b; }");
    rejects("wsl/v-recursion", "struct S { int a; } S operator+(S s, S t) { return s + t; }");
    rejects("wsl/v-recursion", "struct S { int a; } S operator++(S s) { s++; return s; }");
    rejects("wsl/v-recursion", "struct S { int a; } int operator.b(S s) { return 1; } S operator.b=(S s, int v) { s.b = v; return s; }");
    rejects("wsl/v-recursion", "struct S { int a; } thread int* operator&.b(thread S* s) { int x = (*s).b; return &s->a; }");
    rejects("wsl/v-recursion", "struct S { int a; } thread int* operator&.b(thread S* s) { S t; int x = S(t).b; return &s->a; }");
    rejects("wsl/v-recursion", "struct S { int a; } operator S(int x) { return S(x); }");
    rejects(
        "wsl/v-recursion",
        "struct S { int a; } int[3] operator.b(S s) { int[3] a; a[s.b.length - 1] = 1; return a; } S operator.b=(S s, int[3] v) { return s; }",
    );
    // An assignment alone does not call the getter, and a read alone does not call the setter.
    accepts("struct S { int a; } int operator.b(S s) { S t; t.b = 1; return 1; } S operator.b=(S s, int v) { s.a = v; return s; }");
    accepts("struct S { int a; } int operator.b(S s) { return 1; } S operator.b=(S s, int v) { s.a = s.b; return s; }");
    rejects(
        "wsl/v-recursion",
        "struct S { int a; } int operator.b(S s) { S t; t.b += 1; return 1; } S operator.b=(S s, int v) { s.a = v; return s; }",
    );
    rejects(
        "wsl/v-recursion",
        "struct S { int2 a; } int2 operator.b(S s) { s.b.x = 1; return s.a; } S operator.b=(S s, int2 v) { s.a = v; return s; }",
    );
}

#[test]
fn discards() {
    rejects("wsl/v-function-discard", "vertex float4 f() : SV_Position { discard; }");
    rejects("wsl/v-function-discard", "[numthreads(1, 1, 1)] compute void f() { discard; }");
    rejects("wsl/v-function-discard", "void g() { discard; } [numthreads(1, 1, 1)] compute void f() { g(); }");
    rejects("wsl/v-function-discard", "int g() { discard; } [numthreads(1, 1, 1)] compute void f() { int x = g() + 1; }");
    rejects(
        "wsl/v-function-discard",
        "struct S { int a; } int operator.b(S s) { discard; } [numthreads(1, 1, 1)] compute void f() { S s; s.b; }"
            .replace("s.b;", "int x = s.b;")
            .as_str(),
    );
    rejects(
        "wsl/v-function-discard",
        "int g() { discard; } int h() { return g(); } [numthreads(1, 1, 1)] compute void f() { while (h() == 1) { } }",
    );
    accepts("int g() { discard; } int h() { return g(); } fragment void f() { while (h() == 1) { } }");
    accepts("void g() { discard; } vertex void f() { }");
    let accessors = "struct S { int a; } int operator.b(S s) { discard; } S operator.b=(S s, int v) { return s; }";
    accepts(&format!("{accessors} vertex void f() {{ S s; s.b = 1; }}"));
    rejects("wsl/v-function-discard", &format!("{accessors} vertex void f() {{ S s; s.b++; }}"));
    rejects("wsl/v-function-discard", &format!("{accessors} vertex void f() {{ S s; (s.b); }}"));
    rejects("wsl/t-block", "void g() { discard; return; }");
    accepts("void d() { discard; } void g() { d(); return; }");
}

/// Names and lists of candidates may be of any length, but messages about them are short.
#[test]
fn messages_are_short_however_long_a_program_s_names_are() {
    let long = "n".repeat(50_000);
    let said = |text: &str| {
        let errors = validate(text).errors;
        assert!(!errors.is_empty());
        errors.iter().map(|e| e.message.len() + e.notes.iter().map(|n| n.1.len()).sum::<usize>()).sum::<usize>()
    };
    let structure = format!("struct {long} {{ int a; }} void f({long} s) {{ int x = s; g(s); s.{long} = 1; y{long} = 2; f(1); }}");
    assert!(said(&structure) < 10_000, "{}", said(&structure));
    // A hundred wrong calls of a function with a hundred declarations.
    let declared: String = (0..100).map(|n| format!("struct S{n} {{ int a; }} void h(S{n} s) {{ }} ")).collect();
    let calls = format!("{declared} void f() {{ {} }}", (0..100).map(|n| format!("h({n}.0);\n")).collect::<String>());
    assert!(said(&calls) < 30_000, "{}", said(&calls));
    let errors = validate(&calls).errors;
    assert_eq!(errors.len(), 100);
    assert!(errors[0].notes.len() == 9 && errors[0].notes[8].1 == "and 92 more", "{:?}", errors[0]);
    assert!(errors[99].notes[0].1 == "9 notes as those above are left out", "{:?}", errors[99]);
    // A call of very many arguments.
    let many = format!("void g() {{ }} void f(int a) {{ g(a{}); }}", ", a".repeat(20_000));
    assert!(said(&many) < 2_000, "{}", said(&many));
}

/// A function may have the name of a structure. Its signature is shown as declared.
#[test]
fn signatures_are_those_that_are_declared() {
    let text = "struct S { int a; } int S(int a) { return a; } operator S(float x) { return S(); } float4 operator+(S s, S t) { return float4(); }";
    let program = validate(text).program.expect("it is valid");
    let signatures: Vec<String> = (0..3).map(|i| program.env.signature(FunctionId(i))).collect();
    assert_eq!(signatures, ["int S(int)", "operator S(float)", "float4 operator+(S, S)"]);
}
