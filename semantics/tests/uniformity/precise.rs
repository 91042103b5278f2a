//! Verdicts of the precise analysis on programs written by hand.

use smallstep_semantics::uniformity::flow::Planted;
use smallstep_semantics::uniformity::wsl;
use smallstep_semantics::wsl as language;

/// The bodies of compute shaders with eight threads in a row, and whether each is accepted. `t` is
/// the thread's number, `u` a uniform number, `d` device memory and `c` constant memory.
const BODIES: &[(&str, bool, &str)] = &[
    ("nothing", true, "barrier();"),
    ("branch on the thread", false, "if (t < 3u) { barrier(); }"),
    ("branch on a uniform", true, "if (u < 3u) { barrier(); }"),
    ("after a branch", true, "if (t < 3u) { u = 1u; } barrier();"),
    ("assigned in a branch", false, "if (t < 3u) { u = 1u; } if (u == 1u) { barrier(); }"),
    ("the same on both ways", true, "uint x; if (t < 3u) { x = u + 1u; } else { x = u + 1u; } if (x == 1u) { barrier(); }"),
    ("uniform again", true, "uint x = t; x = 3u; if (x == u) { barrier(); }"),
    ("not uniform any more", false, "uint x = u; x = t; if (x == u) { barrier(); }"),
    ("U-1", false, "uint a = 0u; if (t < 3u) { a = 1u; } else { return; } if (u < 3u) { barrier(); }"),
    ("early return", false, "if (t == 1u) { return; } barrier();"),
    ("uniform return", true, "if (u == 1u) { return; } barrier();"),
    ("loop", true, "for (uint i = 0u; i < u; i++) { barrier(); }"),
    ("loop by thread", false, "for (uint i = 0u; i < t; i++) { barrier(); }"),
    ("after a loop by thread", true, "for (uint i = 0u; i < t; i++) { u = u + 0u; } barrier();"),
    ("counter after a loop by thread", false, "uint i; for (; i < t; i++) { } if (i == 2u) { barrier(); }"),
    ("counter after a uniform loop", true, "uint i; for (; i < u; i++) { } if (i == 2u) { barrier(); }"),
    ("break", false, "for (uint i = 0u; i < u; i++) { if (i == t) { break; } barrier(); }"),
    ("break after", false, "for (uint i = 0u; i < u; i++) { barrier(); if (i == t) { break; } }"),
    ("after a loop with break", true, "for (uint i = 0u; i < u; i++) { if (i == t) { break; } } barrier();"),
    (
        "value after a loop with break",
        false,
        "uint x; for (uint i = 0u; i < u; i++) { x = i; if (i == t) { break; } } if (x == 1u) { barrier(); }",
    ),
    ("continue", true, "for (uint i = 0u; i < u; i++) { barrier(); if (i == t) { continue; } u = u + 0u; }"),
    ("continue before", false, "for (uint i = 0u; i < u; i++) { if (i == t) { continue; } barrier(); }"),
    (
        "continue and uniform break",
        true,
        "for (uint i = 0u; i < 4u; i++) { if (i == u) { break; } if (i == t) { continue; } d[t] = i; }  barrier();",
    ),
    (
        "continue and uniform break, inside",
        true,
        "for (uint i = 0u; i < 4u; i++) { barrier(); if (i == u) { break; } if (i == t) { continue; } d[t] = i; }",
    ),
    ("on the only way out of a loop", false, "uint i = 0u; while (true) { if (i == t) { barrier(); break; } i++; }"),
    ("after the only way out of a loop", true, "uint i = 0u; while (true) { if (i == t) { break; } i++; } barrier();"),
    (
        "behind a continue, before the only way out",
        false,
        "uint i = 0u; while (true) { i++; if (i == t) { continue; } barrier(); if (i > u) { break; } }",
    ),
    (
        "before a continue, and the only way out",
        true,
        "uint i = 0u; while (true) { i++; barrier(); if (i > u) { break; } if (i == t) { continue; } }",
    ),
    ("return in a loop", false, "for (uint i = 0u; i < u; i++) { if (i == t) { return; } } barrier();"),
    ("do while", true, "uint i = 0u; do { i++; barrier(); } while (i < u);"),
    ("do while by thread", false, "uint i = 0u; do { i++; barrier(); } while (i < t);"),
    ("carried", false, "uint x = 0u; for (uint i = 0u; i < u; i++) { if (x == 1u) { barrier(); } x = t; }"),
    ("overwritten in a loop", true, "uint x = 0u; for (uint i = 0u; i < u; i++) { x = u; if (x == 1u) { barrier(); } x = t; }"),
    ("or", false, "bool b = t == 1u || (barrier(), true);"),
    ("or, first", true, "bool b = (barrier(), true) || t == 1u;"),
    ("and", false, "bool b = t == 1u && (barrier(), true);"),
    ("ternary", false, "uint x = t == 1u ? 1u : (barrier(), 2u);"),
    ("value of a ternary", false, "uint x = t == 1u ? 1u : 2u; if (x == 1u) { barrier(); }"),
    ("switch", false, "switch (t) { case 0u: barrier(); break; default: break; }"),
    ("switch on a uniform", true, "switch (u) { case 0u: barrier(); break; default: break; }"),
    ("fallthrough", false, "switch (t) { case 0u: fallthrough; default: barrier(); break; case 2u: break; }"),
    ("both cases", true, "switch (t) { case 0u: d[t] = 1u; break; default: d[t] = 2u; break; } barrier();"),
    (
        "break in a case in a loop",
        true,
        "for (uint i = 0u; i < u; i++) { switch (t) { case 0u: break; default: d[t] = 1u; break; } barrier(); }",
    ),
    ("constant memory", true, "if (c[u] == 1u) { barrier(); }"),
    ("constant memory by thread", false, "if (c[t] == 1u) { barrier(); }"),
    ("device memory", false, "if (d[u] == 1u) { barrier(); }"),
    ("threadgroup memory", false, "threadgroup uint s; if (s == 1u) { barrier(); }"),
    ("group", true, "if (g.x == 1u) { barrier(); }"),
    ("one row", true, "if (l.y == 0u && l.z == 0u) { barrier(); }"),
    ("bound of the group", true, "if (l.x < 8u) { barrier(); }"),
    ("bound of the group, too small", false, "if (l.x < 7u) { barrier(); }"),
    ("remainder", true, "if (t % 4u < 4u) { barrier(); }"),
    ("difference", true, "if (t - t == u) { barrier(); }"),
    ("dead", true, "if (false) { if (t == 1u) { barrier(); } }"),
    ("dead by a variable", true, "uint x = 3u; if (x == 4u) { if (t == 1u) { barrier(); } }"),
    ("vector", true, "uint2 v = uint2(t, u); if (v.y == 1u) { barrier(); }"),
    ("other component", false, "uint2 v = uint2(t, u); if (v.x == 1u) { barrier(); }"),
    ("component assigned", true, "uint2 v = uint2(t, t); v.y = u; if (v.y == 1u) { barrier(); }"),
    ("structure", true, "S s; s.a = t; s.b = u; if (s.b == 1u) { barrier(); }"),
    ("other field", false, "S s; s.a = t; s.b = u; if (s.a == 1u) { barrier(); }"),
    ("array", true, "uint[3] a; a[0u] = t; a[1u] = u; if (a[1u] == 1u) { barrier(); }"),
    ("array by index", false, "uint[3] a; a[0u] = t; a[1u] = u; if (a[u] == 1u) { barrier(); }"),
    ("array stored by thread", false, "uint[3] a; a[t] = 1u; if (a[1u] == 1u) { barrier(); }"),
    ("large array", false, "uint[300] a; a[0u] = t; if (a[1u] == 1u) { barrier(); }"),
    ("large array, uniform", true, "uint[300] a; a[0u] = u; if (a[1u] == 1u) { barrier(); }"),
    ("pointer", false, "uint x = u; thread uint* p = &x; *p = t; if (x == 1u) { barrier(); }"),
    ("pointer to another", true, "uint x = u; uint y = 0u; thread uint* p = &y; *p = t; if (x == 1u) { barrier(); }"),
    ("reference", false, "uint[3] a; thread uint[] r = @a; r[1u] = t; if (a[1u] == 1u) { barrier(); }"),
    ("reference to another element", true, "uint[3] a; thread uint[] r = @a; r[1u] = t; if (a[2u] == 1u) { barrier(); }"),
    ("call", true, "if (twice(u) == 1u) { barrier(); }"),
    ("call by thread", false, "if (twice(t) == 1u) { barrier(); }"),
    ("call that stores", false, "uint x = u; put(&x, t); if (x == 1u) { barrier(); }"),
    ("call that stores a uniform", true, "uint x = t; put(&x, u); if (x == 1u) { barrier(); }"),
    ("call that waits", true, "waits(u);"),
    ("call that waits by thread", false, "waits(t);"),
    ("call that waits in a branch", false, "if (t == 1u) { waits(u); }"),
    ("call that returns early", true, "early(t); barrier();"),
    ("value of a call that returns early", false, "if (early(t) == 1u) { barrier(); }"),
    ("atomic", false, "uint x; InterlockedAdd(&n[0u], 1u, &x); if (x == 1u) { barrier(); }"),
    ("compound assignment", false, "uint x = u; x += t; if (x == 1u) { barrier(); }"),
    ("increment", true, "uint x = u; x++; if (x == 1u) { barrier(); }"),
    ("comma", true, "uint x = (t, u); if (x == 1u) { barrier(); }"),
    ("shadowed", true, "uint x = t; { uint x = u; if (x == 1u) { barrier(); } }"),
    ("nested loops", true, "for (uint i = 0u; i < u; i++) { for (uint j = 0u; j < t; j++) { d[t] = j; } barrier(); }"),
    (
        "inner counter after an inner loop",
        false,
        "for (uint i = 0u; i < u; i++) { uint j = 0u; for (; j < t; j++) { } if (j == 2u) { barrier(); } }",
    ),
    ("endless by thread", true, "while (t == 9u) { } barrier();"),
    ("on the only way out of a loop", false, "for (uint i = 0u; true; i++) { if (i == t) { barrier(); break; } }"),
    ("on the only way out of a uniform loop", true, "for (uint i = 0u; true; i++) { if (i == u) { barrier(); break; } }"),
    ("returning is the only way out", false, "for (uint i = 0u; true; i++) { if (i == t) { barrier(); return; } }"),
    ("in an endless loop", false, "for (;;) { for (uint i = 0u; i < t; i++) { barrier(); } }"),
    ("in a loop that does not end", false, "for (uint k = 0u; k < 1u;) { for (uint i = 0u; i < t; i++) { barrier(); } }"),
    ("in an endless loop of all", true, "for (;;) { for (uint i = 0u; i < t; i++) { d[t] = i; } barrier(); }"),
    ("a uniform array by the thread's index", false, "uint[3] a; a[0u] = u; a[1u] = c[1u]; if (a[t % 3u] == 1u) { barrier(); }"),
    ("what a store to another element leaves", false, "uint[300] a; a[0u] = t; a[u] = 1u; if (a[0u] == 1u) { barrier(); }"),
    ("chosen by a uniform", false, "uint x = u; if (u < 3u) { x = t; } if (x == 1u) { barrier(); }"),
    ("two divisions", false, "uint x = t / c[1u]; uint y = t / c[1u]; if (x == y) { barrier(); }"),
    ("two divisions by two", true, "uint x = t / 2u; uint y = t / 2u; if (x == y) { barrier(); }"),
    ("a part of a part", true, "S[2] s; s[1u].a = t; s[1u].b = u; s[0u].a = t; if (s[1u].b == 1u) { barrier(); }"),
    ("another part of a part", false, "S[2] s; s[1u].a = t; if (s[1u].a == 1u) { barrier(); }"),
    ("a part of a part by index", false, "S[2] s; s[1u].a = t; if (s[u & 1u].a == 1u) { barrier(); }"),
    ("a pointer to a part", true, "S s; s.b = u; put(&s.a, t); if (s.b == 1u) { barrier(); }"),
    ("two pointers to one variable", false, "uint x = u; both(&x, &x, t); if (x == 1u) { barrier(); }"),
    ("a pointer to an element by index", false, "uint[3] a; put(&a[t % 3u], 1u); if (a[0u] == 1u) { barrier(); }"),
    ("barrier in both branches", false, "if (t == 1u) { barrier(); } else { barrier(); }"),
];

fn program(body: &str) -> String {
    let body = body.replace("barrier()", "AllMemoryBarrierWithGroupSync()");
    format!(
        "struct S {{ uint a; uint b; }}
         uint twice(uint x) {{ return x + x; }}
         void put(thread uint* p, uint x) {{ *p = x; }}
         void both(thread uint* p, thread uint* q, uint x) {{ *p = 7u; *q = x; *p = *p + 1u; }}
         void waits(uint x) {{ if (x == 3u) {{ AllMemoryBarrierWithGroupSync(); }} }}
         uint early(uint x) {{ if (x == 3u) {{ return 1u; }} return 2u; }}
         [numthreads(8, 1, 1)] compute void main(uint3 id : SV_DispatchThreadID, uint3 l : SV_GroupThreadID, uint3 g : SV_GroupID,
             constant uint[] c : register(b0), device uint[] d : register(u1), device atomic_uint[] n : register(u2)) {{
             uint t = id.x; uint u = c[0u]; {body} }}"
    )
}

fn check(text: &str) -> language::typing::program::Program {
    language::check(text).unwrap_or_else(|e| panic!("{}\n{text}", e[0].message))
}

#[test]
fn bodies_are_judged_as_by_hand() {
    let mut wrong = Vec::new();
    for (name, accepted, body) in BODIES {
        if let Err(e) = language::check(&program(body)) {
            wrong.push(format!("{name}: {}", e[0].message));
            continue;
        }
        let program = check(&program(body));
        let analysis = wsl::analyse(&program).expect("small");
        if analysis.accepts() != *accepted {
            wrong.push(format!("{name}: {body}\n   {:?}", analysis.rejections));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs with pointers that are loaded from memory. For each: its functions, the body of the
/// entry point, and whether it is accepted.
const LOADED_POINTERS: &[(&str, &str, bool)] = &[
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; **q = t; if (x == 0u) { barrier(); }", false),
    ("", "uint x = t; thread uint* p = &x; thread uint** q = &p; **q = u; if (x == 0u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; **q = u; if (x == 0u) { barrier(); }", true),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; if (t == 1u) { **q = 5u; } if (x == 5u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; if (u == 1u) { **q = 5u; } if (x == 5u) { barrier(); }", true),
    ("", "uint x; uint y; thread uint* p = &x; thread uint** q = &p; **q = t; if (y == 0u) { barrier(); }", true),
    ("", "uint x; int y; thread int* r = &y; thread uint* p = &x; thread uint** q = &p; **q = t; if (y == 0) { barrier(); }", true),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; thread uint* r = *q; *r = t; if (x == 0u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; **q += t; if (x == 0u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; **q = t; x = u; if (x == 0u) { barrier(); }", true),
    (
        "",
        "uint x; thread uint* p = &x; thread uint** q = &p; for (uint i = 0u; i < u; i++) { if (x == 1u) { barrier(); } **q = t; }",
        false,
    ),
    // Elements, fields and components.
    ("", "uint[2] x; thread uint[] r = @x; thread uint[]* q = &r; (*q)[0u] = t; if (x[0u] == 0u) { barrier(); }", false),
    ("", "uint[2] x; thread uint[] r = @x; thread uint[]* q = &r; (*q)[0u] = u; if (x[0u] == 0u) { barrier(); }", true),
    ("", "uint[300] x; thread uint[] r = @x; thread uint[]* q = &r; (*q)[0u] = t; if (x[0u] == 0u) { barrier(); }", false),
    ("", "S s; thread S* p = &s; thread S** q = &p; (*q)->a = t; if (s.a == 0u) { barrier(); }", false),
    ("", "S s; thread S* p = &s; thread S** q = &p; (*q)->a = u; if (s.a == 0u) { barrier(); }", true),
    ("", "S[2] s; thread uint* p = &s[1u].b; thread uint** q = &p; **q = t; if (s[1u].b == 0u) { barrier(); }", false),
    ("", "uint2 v; thread uint2* p = &v; thread uint2** q = &p; (*q)->x = t; if (v.x == 0u) { barrier(); }", false),
    ("", "S s; S w; w.a = t; thread S* p = &s; thread S** q = &p; **q = w; if (s.a == 0u) { barrier(); }", false),
    ("", "S s; S w; w.a = t; thread S* p = &s; thread S** q = &p; **q = w; if (s.b == 0u) { barrier(); }", true),
    // Callees.
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; put(*q, t); if (x == 0u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; put(*q, u); if (x == 0u) { barrier(); }", true),
    ("", "uint x; uint y; thread uint* p = &x; thread uint** q = &p; put(&y, u); put(*q, t); if (x == 0u) { barrier(); }", false),
    ("", "uint x; thread uint* p = &x; thread uint** q = &p; InterlockedAdd(&n[0u], 1u, *q); if (x == 0u) { barrier(); }", false),
    ("void set(thread uint** q, uint v) { **q = v; }", "uint x; thread uint* p = &x; set(&p, t); if (x == 0u) { barrier(); }", false),
    ("void set(thread uint** q, uint v) { **q = v; }", "uint x; thread uint* p = &x; set(&p, u); if (x == 0u) { barrier(); }", true),
    ("thread uint* same(thread uint** q) { return *q; }", "uint x; thread uint* p = &x; *same(&p) = t; if (x == 0u) { barrier(); }", false),
    (
        "thread uint* operator&.target(thread uint** q) { return *q; }",
        "uint x; thread uint* p = &x; p.target = t; if (x == 0u) { barrier(); }",
        false,
    ),
    // The pointer itself differs.
    (
        "thread uint** hold(thread uint* p) { return &p; }",
        "uint x; uint y; thread uint** a = hold(&x); if (t == 1u) { hold(&y); } **a = 5u; if (x == 5u) { barrier(); }",
        false,
    ),
    (
        "thread uint** hold(thread uint* p) { return &p; }",
        "uint x; uint y; thread uint** a = hold(&x); if (u == 1u) { hold(&y); } **a = 5u; if (x == 5u) { barrier(); }",
        true,
    ),
    (
        "thread uint** hold(thread uint* p) { return &p; }",
        "uint x; uint y; thread uint** a = hold(&x); hold(&y); **a = t; if (y == 0u) { barrier(); }",
        false,
    ),
    ("", "uint[2] v; thread uint* p = &v[t % 2u]; thread uint** q = &p; **q = 5u; if (v[0u] == 5u) { barrier(); }", false),
    ("", "constant uint* p = &c[t]; thread P* q = &p; if (**q == 5u) { barrier(); }", false),
    ("", "constant uint* p = &c[u]; thread P* q = &p; if (**q == 5u) { barrier(); }", true),
];

/// Programs whose operators assign pointers, in the same form.
const ASSIGNED_POINTERS: &[(&str, &str, bool)] = &[
    (
        "thread uint* operator+(thread uint* a, thread uint* b) { return b; }",
        "uint x; uint y = t; thread uint* p = &x; p += &y; if (*p == 0u) { barrier(); }",
        false,
    ),
    (
        "thread uint* operator+(thread uint* a, thread uint* b) { return b; }",
        "uint x; uint y; thread uint* p = &x; if (t == 1u) { p += &y; } *p = 5u; if (x == 5u) { barrier(); }",
        false,
    ),
    (
        "thread uint* operator+(thread uint* a, thread uint* b) { return b; }",
        "uint x; uint y; thread uint* p = &x; if (u == 1u) { p += &y; } *p = 5u; if (x == 5u) { barrier(); }",
        true,
    ),
    (
        "thread uint* operator+(thread uint* a, thread uint* b) { return b; }",
        "uint x; uint y; thread uint* p = &x; *p = t; p += &y; if (y == 0u) { barrier(); }",
        false,
    ),
    (
        "thread uint* operator+(thread uint* a, thread uint[] b) { return &b[1u]; }",
        "uint[2] v; v[1u] = t; thread uint* p = &v[0u]; if (u == 1u) { p += @v; } if (*p == 0u) { barrier(); }",
        false,
    ),
    (
        "struct H { uint a; } thread uint* operator.at(H h) { uint x; return &x; }
         H operator.at=(H h, thread uint* p) { h.a = *p; return h; }
         thread uint* operator+(thread uint* a, thread uint* b) { return b; }",
        "H h; uint x = t; h.at += &x; if (h.a == 0u) { barrier(); }",
        false,
    ),
    (
        "thread uint[] operator+(thread uint[] a, thread uint[] b) { return b; }",
        "uint[1] x; uint[2] y; y[0u] = t; thread uint[] p = @x; p += @y; if (p[0u] == 0u) { barrier(); }",
        false,
    ),
    (
        "thread uint[] operator+(thread uint[] a, thread uint[] b) { return b; }",
        "uint[1] x; uint[2] y; thread uint[] p = @x; if (t == 1u) { p += @y; } if (p.length == 1u) { barrier(); }",
        false,
    ),
    (
        "thread uint[] operator+(thread uint[] a, thread uint[] b) { return b; }",
        "uint[1] x; uint[2] y; thread uint[] p = @x; if (u == 1u) { p += @y; } if (p.length == 1u) { barrier(); }",
        true,
    ),
    ("thread uint* operator++(thread uint* a) { return a; }", "uint x = t; thread uint* p = &x; p++; if (*p == 0u) { barrier(); }", false),
    (
        "thread uint[] operator+(thread uint[] a, thread uint[] b) { return b; }",
        "uint x; thread uint* p = &x; if (*p == 0u) { barrier(); }",
        true,
    ),
    (
        "thread uint* operator+(thread uint* a, thread uint* b) { return b; }
         void move(thread uint** q, thread uint* to) { *q += to; }",
        "uint x; uint y = t; thread uint* p = &x; move(&p, &y); if (*p == 0u) { barrier(); }",
        false,
    ),
    (
        "constant uint* operator+(constant uint* a, constant uint[] b) { return &b[1u]; }",
        "constant uint* p = &c[u]; if (t == 1u) { p += c; } if (*p == 0u) { barrier(); }",
        false,
    ),
    (
        "constant uint* operator+(constant uint* a, constant uint[] b) { return &b[1u]; }",
        "constant uint* p = &c[u]; p += c; if (*p == 0u) { barrier(); }",
        true,
    ),
];

/// The text of a program of [`LOADED_POINTERS`] or [`ASSIGNED_POINTERS`].
fn with_functions(functions: &str, body: &str) -> String {
    format!("typedef P = constant uint*;\n{functions}\n{}", program(body))
}

#[test]
fn pointers_of_unknown_target_may_lead_to_any_variable() {
    let mut wrong = Vec::new();
    for (functions, body, accepted) in LOADED_POINTERS.iter().chain(ASSIGNED_POINTERS) {
        let program = match language::check(&with_functions(functions, body)) {
            Ok(program) => program,
            Err(e) => {
                wrong.push(format!("{functions} {body}: {}", e[0].message));
                continue;
            }
        };
        let analysis = wsl::analyse(&program).expect("small");
        if analysis.accepts() != *accepted {
            wrong.push(format!("{functions} {body}: {:?}", analysis.rejections));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A function that is too large to be inlined, with `end` as its last statements.
fn large(head: &str, end: &str) -> String {
    let padding = "w = w * 3u + 1u; ".repeat(400);
    format!("{head} {{ uint w = 1u; {padding} {end} }}")
}

/// Programs with a callee that is too large to inline and is judged by its summary. For each: its
/// functions, the body of the entry point and the verdict.
fn summarized() -> Vec<(String, &'static str, bool)> {
    let barrier = "AllMemoryBarrierWithGroupSync();";
    let waits = || large("void big(uint x)", &format!("if (x == w) {{ {barrier} }}"));
    let puts = || large("void big(thread uint* p, uint x)", "*p = x + w;");
    let returns = || large("uint big(uint x)", "if (x == 3u) { return 1u; } return w;");
    let both = || large("void big(thread uint* p, thread uint* q, uint x)", "*p = x; *q = w;");
    let first = || large("void big(thread uint[] r, uint x)", "r[0u] = x;");
    let shared = || large("uint big(thread uint* p, thread uint* q, uint x)", "*p = x; return *q;");
    let waiting = || large("void big(thread uint* p, thread uint* q, uint x)", &format!("*p = x; if (*q == 1u) {{ {barrier} }}"));
    let loaded = || large("void big(thread uint** q, uint x)", "**q = x;");
    let branch = || large("void big(thread uint** q, uint x)", "if (x == 1u) { **q = 5u; }");
    let local = || large("void big(thread uint* p, uint x)", "thread uint** q = &p; **q = x;");
    let beside = || large("void big(thread uint** q, thread uint* p, uint x)", &format!("**q = x; if (*p == 5u) {{ {barrier} }}"));
    let moves = || {
        let operator = "thread uint* operator+(thread uint* a, thread uint* b) { return b; }\n";
        operator.to_owned() + &large("void big(thread uint** q, thread uint* to)", "*q += to;")
    };
    vec![
        (waits(), "big(u);", true),
        (waits(), "big(t);", false),
        (waits(), "if (t == 1u) { big(u); }", false),
        (waits(), "if (u == 1u) { big(u); }", true),
        (puts(), "uint x; big(&x, u); if (x == 1u) { barrier(); }", true),
        (puts(), "uint x; big(&x, t); if (x == 1u) { barrier(); }", false),
        (puts(), "uint x = u; uint y; big(&y, t); if (x == 1u) { barrier(); }", true),
        (returns(), "if (big(u) == 1u) { barrier(); }", true),
        (returns(), "if (big(t) == 1u) { barrier(); }", false),
        (returns(), "big(t); barrier();", true),
        (both(), "uint x; uint y; big(&x, &y, t); if (y == 1u) { barrier(); }", true),
        (both(), "uint x; uint y; big(&x, &y, t); if (x == 1u) { barrier(); }", false),
        (both(), "uint x; big(&x, &x, t); if (x == 1u) { barrier(); }", true),
        (shared(), "uint x; if (big(&x, &x, t) == 1u) { barrier(); }", false),
        (shared(), "uint x; if (big(&x, &x, u) == 1u) { barrier(); }", true),
        (shared(), "uint x; uint y; if (big(&x, &y, t) == 1u) { barrier(); }", true),
        (waiting(), "uint x; big(&x, &x, t);", false),
        (waiting(), "uint x; big(&x, &x, u);", true),
        (waiting(), "uint x; thread uint* p = &x; thread uint** q = &p; big(*q, &x, t);", false),
        (first(), "uint[3] a; big(@a, t); if (a[0u] == 1u) { barrier(); }", false),
        (first(), "uint[3] a; big(@a, u); if (a[0u] == 1u) { barrier(); }", true),
        (loaded(), "uint x; thread uint* p = &x; big(&p, t); if (x == 1u) { barrier(); }", false),
        (loaded(), "uint x; thread uint* p = &x; big(&p, u); if (x == 1u) { barrier(); }", true),
        (loaded(), "int x; thread int* r = &x; uint y; thread uint* p = &y; big(&p, t); if (x == 1) { barrier(); }", true),
        (branch(), "uint x; thread uint* p = &x; big(&p, t); if (x == 5u) { barrier(); }", false),
        (branch(), "uint x; thread uint* p = &x; big(&p, u); if (x == 5u) { barrier(); }", true),
        (local(), "uint x; big(&x, t); if (x == 1u) { barrier(); }", false),
        (local(), "uint x; big(&x, u); if (x == 1u) { barrier(); }", true),
        (beside(), "uint x; uint y; thread uint* p = &x; big(&p, &x, t);", false),
        (beside(), "uint x; uint y; thread uint* p = &x; big(&p, &x, u);", true),
        (puts(), "uint x; thread uint* p = &x; thread uint** q = &p; big(*q, t); if (x == 1u) { barrier(); }", false),
        (puts(), "uint x; thread uint* p = &x; thread uint** q = &p; big(*q, u); if (x == 1u) { barrier(); }", true),
        (both(), "uint x; thread uint* p = &x; thread uint** q = &p; big(*q, &x, t); if (x == 1u) { barrier(); }", true),
        (first(), "uint[3] a; thread uint[] r = @a; thread uint[]* q = &r; big(*q, t); if (a[0u] == 1u) { barrier(); }", false),
        (moves(), "uint x; uint y = t; thread uint* p = &x; big(&p, &y); if (*p == 0u) { barrier(); }", false),
    ]
}

#[test]
fn a_large_callee_is_judged_by_its_summary() {
    for (function, body, accepted) in summarized() {
        let text = format!("{function}\n{}", program(body));
        let analysis = wsl::analyse(&check(&text)).expect("no pointer is returned");
        assert_eq!(analysis.accepts(), accepted, "{body}");
    }
}

/// Calls whose pointers lead to one variable are inlined up to a limit. After it, their results
/// vary.
#[test]
fn calls_with_shared_pointees_are_judged() {
    for (end, after, accepted) in [
        ("*p = x; return *q;", "if (big(&x, &x, t) == 1u) { barrier(); }", false),
        ("*p = x; return *q;", "uint y; if (big(&x, &y, t) == 1u) { barrier(); }", true),
        ("*p = x; if (*q == 1u) { AllMemoryBarrierWithGroupSync(); } return 0u;", "big(&x, &x, t);", false),
    ] {
        let big = large("uint big(thread uint* p, thread uint* q, uint x)", end);
        let text = format!("{big}\n{}", program(&format!("uint x; {} {after}", "big(&x, &x, 3u); ".repeat(200))));
        let analysis = wsl::analyse(&check(&text)).expect("no pointer is returned");
        assert_eq!(analysis.accepts(), accepted, "{end} {after}");
    }
}

/// The number of merges of nested loops grows with the square of their depth. Programs with too
/// many merges are refused.
#[test]
fn loops_are_judged_up_to_a_depth() {
    let nested = |n: usize| {
        let (open, close) = ("for (uint i = 0u; i < u; i++) { ".repeat(n), " }".repeat(n));
        check(&program(&format!("{open} u = u + 1u; {close} barrier();")))
    };
    assert!(wsl::analyse(&nested(300)).expect("not too deep").accepts());
    assert_eq!(wsl::analyse(&nested(3000)).err(), Some(wsl::TooLarge::Merges));
}

#[test]
fn metadata_say_what_is_stored_through_pointers() {
    let text = "void f(thread uint* p, thread uint* q, thread uint* r, thread uint* s, uint x, device uint[] d) {
                    *p = x; *q = d[0u]; *r = 7u; if (*q == 1u) { *p = *p + 1u; } }
                void g(thread uint* p, uint x) { if (x == 1u) { *p = 2u; } }";
    let metadata = wsl::metadata(&check(text)).expect("small");
    assert_eq!(metadata[0].stores, [(0, None), (1, None), (2, Some(vec![]))]);
    assert_eq!(metadata[1].stores, [(0, Some(vec![0, 1]))]);
    let names = ["p", "x"];
    assert_eq!(metadata[1].text(&names, true), "what `p` points to needs `p` and `x`");
}

#[test]
fn what_is_in_a_draw_is_judged() {
    for (body, accepted) in [
        ("float d = ddx(at.x);", true),
        ("if (at.x > 1.0) { float d = ddx(at.y); }", false),
        ("if (c[0u] > 1u) { float d = ddx(at.y); }", true),
        ("if (at.x > 1.0) { discard; } float d = ddx(at.y);", false),
        ("if (c[0u] > 1u) { discard; } float d = ddx(at.y);", true),
        ("leaves(at.x); float d = ddx(at.y);", false),
        ("float x = at.x > 1.0 ? 1.0 : 2.0; float d = ddx(x);", true),
        (
            "float x; float y; thread float* p = &x; thread float** q = &p; sincos(at.x, *q, &y); if (x > 0.5) { float d = ddx(at.y); }",
            false,
        ),
        ("float x; float y; thread float* p = &x; thread float** q = &p; sincos(1.0, *q, &y); if (x > 0.5) { float d = ddx(at.y); }", true),
    ] {
        let text = format!(
            "void leaves(float x) {{ if (x > 1.0) {{ discard; }} }}
             fragment float4 main(float2 at : attribute(0), constant uint[] c : register(b0)) : SV_Target 0 {{
                 {body} return float4(0.0, 0.0, 0.0, 1.0); }}"
        );
        let analysis = wsl::analyse(&check(&text)).expect("small");
        assert_eq!(analysis.accepts(), accepted, "{body}");
    }
}

#[test]
fn the_precise_mode_accepts_what_the_seed_accepts() {
    for case in crate::programs::ACCEPTED {
        let (text, program) = crate::programs::program(case);
        let analysis = wsl::analyse(&program).expect("small");
        assert!(analysis.accepts(), "{}: {:?}\n{text}", case.what, analysis.rejections);
    }
}

/// Moving code into a function changes no verdict (U-14).
#[test]
fn outlining_changes_no_verdict() {
    for (name, accepted, body) in BODIES {
        // A return would only leave the new function.
        if body.contains("return") || body.contains("threadgroup") {
            continue;
        }
        let outlined = format!(
            "void outlined(uint t, thread uint* pu, uint3 g, uint3 l, constant uint[] c, device uint[] d, device atomic_uint[] n) {{
                 uint u = *pu; {} }}",
            body.replace("barrier()", "AllMemoryBarrierWithGroupSync()")
        );
        // The functions that bodies call must stand before it.
        let whole = program("outlined(t, &u, g, l, c, d, n);");
        let at = whole.find("[numthreads").expect("an entry point");
        let text = format!("{}{outlined}\n{}", &whole[..at], &whole[at..]);
        let analysis = wsl::analyse(&check(&text)).expect("small");
        assert_eq!(analysis.accepts(), *accepted, "{name}");
    }
}

#[test]
fn every_weakened_rule_is_caught() {
    let programs: Vec<_> = BODIES
        .iter()
        .filter(|(_, accepted, _)| !accepted)
        .map(|(.., body)| program(body))
        .chain(summarized().into_iter().filter(|(.., accepted)| !accepted).map(|(f, body, _)| format!("{f}\n{}", program(body))))
        .chain(
            LOADED_POINTERS.iter().chain(ASSIGNED_POINTERS).filter(|(.., accepted)| !accepted).map(|(f, body, _)| with_functions(f, body)),
        )
        .map(|text| check(&text))
        .collect();
    for planted in Planted::ALL {
        let caught = programs.iter().filter(|program| wsl::analyse_with(program, Some(planted)).expect("small").accepts());
        assert!(caught.count() > 0, "{planted:?} accepts nothing that diverges");
    }
}
