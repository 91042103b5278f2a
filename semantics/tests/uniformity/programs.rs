//! Programs written by hand, with every form. In some, control flow is uniform. In the others, some
//! invocations reach a barrier or derivative without the others.

use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate;

/// A compute or fragment program.
pub struct Case {
    /// What the program shows. Names the program in messages.
    pub what: &'static str,
    /// The functions and structures before the entry point.
    functions: &'static str,
    /// The body of the entry point, in which `BAR` is a barrier.
    body: &'static str,
    fragment: bool,
}

const fn compute(what: &'static str, functions: &'static str, body: &'static str) -> Case {
    Case { what, functions, body, fragment: false }
}

const fn fragment(what: &'static str, functions: &'static str, body: &'static str) -> Case {
    Case { what, functions, body, fragment: true }
}

impl Case {
    /// Whether [`crate::executed`] can run it.
    pub fn is_dispatch(&self) -> bool {
        !self.fragment && !self.body.contains("rw")
    }
}

/// The text and the typed program of a case.
pub fn program(case: &Case) -> (String, Program) {
    const COMPUTE: &str = "[numthreads(8, 1, 1)] compute void main(uint tid : SV_GroupIndex, uint3 gid : SV_GroupID, \
        constant uint[] c : register(b0), device uint[] d : register(u0), \
        device atomic_uint[] at : register(u2), constant S[] cs : register(b1)";
    const FRAGMENT: &str = "fragment void main(float x : attribute(0), constant float[] k : register(b0), device float[] d : register(u0), \
        Texture2D<float4> t : register(t0), sampler s : register(s0)";
    let head = if case.fragment { FRAGMENT } else { COMPUTE };
    // The texture is a parameter only where the body uses it, since the other programs are run.
    let more = if case.body.contains("rw") { ", RWTexture1D<uint> rw : register(u1)" } else { "" };
    let text = format!("struct S {{ uint a; uint b; }}\n{}\n{head}{more}) {{ {} }}\n", case.functions, case.body);
    let text = text.replace("BAR", "GroupMemoryBarrierWithGroupSync();");
    let validated = validate::validate(&text);
    let program = validated.program.unwrap_or_else(|| panic!("{}: {:?}\n{text}", case.what, validated.errors));
    (text, program)
}

/// Programs that the seed's analysis accepts.
pub const ACCEPTED: &[Case] = &[
    compute("a barrier", "", "BAR"),
    compute("a branch on the group", "", "if (gid.x == 0) { BAR } else { BAR }"),
    compute("a branch on constant memory", "", "if (c[gid.x] == 0) { BAR }"),
    compute("branches meet again", "", "if (tid == 0) { d[0] = 1; } else { d[1] = 2; } BAR"),
    compute("a loop of the same length", "", "for (uint i = 0; i < 4; i = i + 1) { BAR }"),
    compute("a uniform break", "", "for (uint i = 0; i < 4; i++) { if (c[0] == i) { break; } BAR }"),
    compute("a uniform continue", "", "for (uint i = 0; i < 4; i++) { if (c[0] == i) { continue; } BAR }"),
    compute(
        "every invocation continues",
        "",
        "for (uint i = 0; i < 4; i++) { BAR if (tid == i) { d[0] = 1; continue; } else { continue; } }",
    ),
    compute("a uniform while", "", "uint i = 0; while (i < c[0]) { i += 1; BAR }"),
    compute("a uniform do", "", "uint i = 0; do { BAR ++i; } while (i < c[0]);"),
    compute("a uniform switch", "", "switch (gid.x) { case 0: BAR fallthrough; case 1: BAR break; default: break; }"),
    compute("cases meet again", "", "switch (tid) { case 0: d[0] = 1; fallthrough; case 1: d[1] = 2; break; default: break; } BAR"),
    compute("a uniform return", "", "if (gid.x == 0) { return; } BAR"),
    compute("all return one way or another", "uint f(uint x) { if (x == 0) { return 1; } else { return 2; } }", "d[0] = f(tid); BAR"),
    compute("a function meets again", "void f(uint x, device uint[] d) { if (x == 0) { return; } d[0] = 1; }", "f(tid, d); BAR"),
    compute(
        "returns in a loop",
        "void f(uint x) { for (uint i = 0; i < 2; i++) { BAR if (x == i) { return; } else { return; } } }",
        "f(tid);",
    ),
    compute("a barrier on the left", "bool bar() { BAR return true; }", "if (bar() || tid == 2) { d[0] = 1; }"),
    compute("a barrier on the right of what is uniform", "bool bar() { BAR return true; }", "if (gid.x == 0 && bar()) { d[0] = 1; }"),
    compute("a uniform choice", "bool bar() { BAR return true; }", "bool b = c[0] == 1 ? bar() : true;"),
    compute("a uniform argument", "void f(uint x) { if (x == 0) { BAR } }", "f(gid.x); f(c[0]);"),
    compute("a result of uniform arguments", "uint f(uint x, uint y) { return x; }", "if (f(gid.x, tid) == 0) { BAR }"),
    compute("a field of a uniform structure", "", "S s; s.a = gid.x; s.b = 1; if (s.a == 0) { BAR }"),
    compute("an element of a uniform array", "", "uint[4] a; a[gid.x] = 1; if (a[0] == 0) { BAR }"),
    compute("an element of a resource of structures", "", "if (cs[0].a == 0) { BAR }"),
    compute("a reference into constant memory", "", "if ((@c[gid.x])[0] == 0) { BAR }"),
    compute("a comma", "", "uint x = (d[0] = tid, 3); if (x == 3) { BAR }"),
    compute("what does not decide", "", "uint x = tid; x += 1; x++; d[x] = x; BAR"),
    compute("a length", "", "uint[4] a; if (a.length == 4 && c.length == 2) { BAR }"),
    fragment("a derivative", "", "ddx(x);"),
    fragment("a derivative in a uniform branch", "", "if (k[0] > 1.0) { ddx(x); }"),
    fragment("a sample", "", "Sample(t, s, float2(x, x));"),
    fragment("a sample decides at a uniform place", "", "if (SampleLevel(t, s, float2(k[0], 0), 0).x > 0.5) { ddx(x); }"),
    fragment("a derivative of a uniform value decides", "", "if (ddx(k[0]) == 0.0) { ddx(x); }"),
    fragment("a uniform discard", "", "if (k[0] > 1.0) { discard; } ddx(x);"),
    fragment("a uniform discard in a function", "void f(float y) { if (y > 0.0) { discard; } }", "f(k[0]); ddx(x);"),
    fragment("a discard behind the derivative", "", "float y = ddx(x); if (x > 0.0) { discard; }"),
];

/// Programs in which some invocations may reach a barrier or derivative without the others.
pub const REJECTED: &[Case] = &[
    // Branches.
    compute("a branch on the invocation", "", "if (tid == 0) { BAR }"),
    compute("the other branch", "", "if (tid == 0) { d[0] = 1; } else { BAR }"),
    compute("U-1: one branch returns", "", "uint a = 0; if (tid == 0) { a = 1; } else { return; } if (gid.x == 0) { BAR }"),
    compute("a return before", "", "if (tid == 0) { return; } BAR"),
    compute("a return in the first inner branch", "", "if (gid.x == 0) { if (tid == 0) { return; } } else { d[0] = 1; } BAR"),
    compute("a return in the second inner branch", "", "if (gid.x == 0) { d[0] = 1; } else { if (tid == 0) { return; } } BAR"),
    compute("a value by the branch", "", "uint x = 0; if (tid == 0) { x = 1; } if (x == 1) { BAR }"),
    compute("a value that is copied in a branch", "", "uint x = c[0]; uint y = 0; if (tid == 0) { y = x; } if (y == 1) { BAR }"),
    compute("a constant that is loaded in a branch", "", "uint y = 0; if (tid == 0) { y = c[0]; } if (y == 1) { BAR }"),
    // Loops.
    compute("a loop as long as the invocation says", "", "for (uint i = 0; i < tid; i = i + 1) { BAR }"),
    compute("behind such a loop that a return leaves", "", "for (uint i = 0; i < 4; i++) { if (tid == i) { return; } } BAR"),
    compute("a break before the barrier", "", "for (uint i = 0; i < 4; i++) { if (tid == i) { break; } BAR }"),
    compute("a break behind the barrier", "", "for (uint i = 0; i < 4; i++) { BAR if (tid == i) { break; } }"),
    compute("a continue before the barrier", "", "for (uint i = 0; i < 4; i++) { if (tid == i) { continue; } BAR }"),
    compute("a return behind the barrier", "", "for (uint i = 0; i < 4; i++) { BAR if (tid == i) { return; } }"),
    compute("a break of one branch", "", "for (uint i = 0; i < 4; i++) { if (tid == i) { d[0] = 1; } else { break; } BAR }"),
    compute("a barrier in the condition", "bool bar() { BAR return true; }", "for (uint i = 0; bar() && i < tid; i++) { }"),
    compute("a barrier in the step", "uint bar(uint i) { BAR return i + 1; }", "for (uint i = 0; i < tid; i = bar(i)) { }"),
    compute("a loop in a branch", "", "if (tid == 0) { for (; true; ) { BAR break; } }"),
    compute("an outer loop", "", "for (uint i = 0; i < tid; i++) { for (uint j = 0; j < 2; j++) { BAR } }"),
    compute("an inner loop returns", "", "for (uint i = 0; i < 2; i++) { BAR for (uint j = 0; j < 2; j++) { if (tid == j) { return; } } }"),
    compute("a while", "", "uint i = 0; while (i < tid) { i++; BAR }"),
    compute("a do", "", "uint i = 0; do { BAR i++; } while (i < tid);"),
    compute("a do that a break leaves", "", "do { BAR if (tid == 0) { break; } } while (true);"),
    compute(
        "a do that a continue goes on with",
        "bool bar() { BAR return true; }",
        "do { if (tid == 0) { continue; } BAR } while (false);",
    ),
    compute("a do in a branch", "", "if (tid == 0) { do { BAR } while (false); }"),
    compute("a barrier in the condition of a do", "bool bar() { BAR return false; }", "do { if (tid == 0) { break; } } while (bar());"),
    compute("a value of the last iteration", "", "uint x = 0; for (uint i = 0; i < 4; i++) { if (x == 1) { BAR } x = tid; }"),
    compute("how far it came", "", "uint i = 0; for (; i < 9; i++) { if (tid == i) { break; } } if (i == 3) { BAR }"),
    // Switches.
    compute("a case", "", "switch (tid) { case 0: BAR break; default: break; }"),
    compute("a default", "", "switch (tid) { case 0: break; default: BAR break; }"),
    compute("a case that is fallen into", "", "switch (tid) { case 0: d[0] = 1; fallthrough; case 1: BAR break; default: break; }"),
    compute(
        "a case that some break before",
        "",
        "switch (gid.x) { case 0: if (tid == 0) { break; } fallthrough; case 1: BAR break; default: break; }",
    ),
    compute(
        "a case in which some fall through",
        "",
        "switch (gid.x) { case 0: if (tid == 0) { fallthrough; } else { break; } case 1: BAR break; default: break; }",
    ),
    compute("behind a case that some return from", "", "switch (gid.x) { case 0: if (tid == 0) { return; } break; default: break; } BAR"),
    compute(
        "a switch that some continue from",
        "",
        "for (uint i = 0; i < 3; i++) { switch (tid) { case 0: continue; default: break; } BAR }",
    ),
    compute("a break of the switch, not of the loop", "", "for (uint i = 0; i < tid; i++) { switch (gid.x) { default: break; } BAR }"),
    compute("a break before the barrier of a case", "", "switch (gid.x) { default: if (tid == 0) { break; } BAR break; }"),
    // Operators that do not always evaluate all operands.
    compute("the right operand of ||", "bool bar() { BAR return true; }", "if (tid == 2 || bar()) { d[0] = 1; }"),
    compute("the right operand of &&", "bool bar() { BAR return true; }", "if (tid == 2 && bar()) { d[0] = 1; }"),
    compute("the second operand of ?:", "bool bar() { BAR return true; }", "bool b = tid == 2 ? bar() : true;"),
    compute("the third operand of ?:", "bool bar() { BAR return true; }", "bool b = tid == 2 ? true : bar();"),
    compute("the value of ||", "", "if (gid.x == 0 || tid == 0) { BAR }"),
    compute("the value of &&", "", "if (gid.x == 0 && tid == 0) { BAR }"),
    compute("the value of || by its left operand", "", "if (tid == 0 || gid.x == 0) { BAR }"),
    compute("the value of ?:", "", "if ((gid.x == 0 ? tid : 0) == 0) { BAR }"),
    compute("the other value of ?:", "", "if ((gid.x == 0 ? 0 : tid) == 0) { BAR }"),
    compute("the choice of ?:", "", "if ((tid == 0 ? 0u : 1u) == 0) { BAR }"),
    compute("the value of a comma", "", "if ((d[0] = 1, tid) == 0) { BAR }"),
    // Variables.
    compute("an initialising expression", "", "uint x = tid; if (x == 0) { BAR }"),
    compute("an assignment", "", "uint x = 0; x = tid; if (x == 0) { BAR }"),
    compute("the value of an assignment", "", "uint x = 0; if ((x = tid) == 0) { BAR }"),
    compute("a compound assignment", "", "uint x = 0; x += tid; if (x == 0) { BAR }"),
    compute("an increment in a branch", "", "uint x = 0; if (tid == 0) { x++; } if (x == 0) { BAR }"),
    compute("a prefix decrement in a branch", "", "uint x = 9; if (tid == 0) { --x; } if (x == 9) { BAR }"),
    compute("the value of an increment", "", "uint x = tid; if (x++ == 0) { BAR }"),
    compute("a component of a vector", "", "uint3 v; v.x = tid; if (v.x == 0) { BAR }"),
    compute("a field", "", "S s; s.a = tid; if (s.a == 0) { BAR }"),
    compute("the place of an element that is read", "", "uint[4] a; a[1] = 1; if (a[tid] == 0) { BAR }"),
    compute(
        "the place of an inner element that is read",
        "",
        "uint[4][4] a; a[1][0] = 1; a[0][1] = 1; if (a[tid][0] == 0 || a[0][tid] == 0) { BAR }",
    ),
    compute("the first place of two", "", "uint[4][4] a; a[1][0] = 1; a[0][1] = 1; if (a[tid][0] == 0) { BAR }"),
    compute("the second place of two", "", "uint[4][4] a; a[0][1] = 1; if (a[0][tid] == 0) { BAR }"),
    compute("the place of an element that is assigned to", "", "uint[4] a; a[tid] = 1; if (a[0] == 0) { BAR }"),
    compute("the place of a compound assignment", "", "uint[4] a; a[tid] += 1; if (a[0] == 0) { BAR }"),
    compute("the place of an increment", "", "uint[4] a; a[tid]++; if (a[0] == 0) { BAR }"),
    compute("a parameter that is assigned to", "uint f(uint x, uint y) { x = y; return x; }", "if (f(0, tid) == 0) { BAR }"),
    // Pointers and references.
    compute("a store through a pointer", "void f(thread uint* p, uint v) { *p = v; }", "uint x = 0; f(&x, tid); if (x == 0) { BAR }"),
    compute("a load through a pointer", "uint f(thread uint* p) { return *p; }", "uint x = tid; if (f(&x) == 0) { BAR }"),
    compute("a pointer in a variable", "", "uint x = 0; thread uint* p = &x; *p = tid; if (x == 0) { BAR }"),
    compute("a pointer to a field", "", "S s; thread uint* p = &s.a; *p = tid; if (s.a == 0) { BAR }"),
    compute("a store through a reference", "", "uint[4] a; thread uint[] r = @a; r[0] = tid; if (a[0] == 0) { BAR }"),
    compute("a load through a reference", "", "uint[4] a; a[0] = tid; thread uint[] r = @a; if (r[0] == 0) { BAR }"),
    compute(
        "a reference given to a function",
        "void f(thread uint[] r, uint v) { r[0] = v; }",
        "uint x = 0; f(@x, tid); if (x == 0) { BAR }",
    ),
    compute("a load from device memory", "", "if (d[0] == 0) { BAR }"),
    compute("a pointer to device memory", "uint f(device uint* p) { return *p; }", "if (f(&d[0]) == 0) { BAR }"),
    compute("a place in constant memory", "", "if (c[tid] == 0) { BAR }"),
    compute("a reference to a place in constant memory", "", "if ((@c[tid])[0] == 0) { BAR }"),
    compute("a reference to what a pointer to constant memory points to", "", "if ((@*(&c[tid]))[0] == 0) { BAR }"),
    compute("a threadgroup variable", "", "threadgroup uint x; x = tid; if (x == 0) { BAR }"),
    compute("a threadgroup array", "", "threadgroup uint[4] x; x[0] = tid; if (x[0] == 0) { BAR }"),
    compute("a reference to a threadgroup array", "", "threadgroup uint[4] x; threadgroup uint[] r = @x; if (r[0] == 0) { BAR }"),
    // Accessors.
    compute(
        "an address-taker of the program",
        "thread uint* operator&.c(thread S* s) { return &(*s).a; }",
        "S s; s.c = tid; if (s.a == 0) { BAR }",
    ),
    compute(
        "an address-taker of the program is read through",
        "thread uint* operator&.c(thread S* s) { return &(*s).a; }",
        "S s; s.a = tid; if (s.c == 0) { BAR }",
    ),
    compute(
        "the getter of an address-taker",
        "thread uint* operator&.c(thread S* s) { return &(*s).a; } S g(uint x) { S s; s.a = x; return s; }",
        "if (g(tid).c == 0) { BAR }",
    ),
    compute(
        "an address-taker that needs its pointer to be uniform",
        "constant uint* operator&.c(constant S* s) { if ((@*s)[0].a == 0) { BAR } return &(*s).a; }",
        "uint x = cs[tid].c;",
    ),
    compute(
        "a setter",
        "uint operator.c(S s) { return s.a; } S operator.c=(S s, uint v) { s.a = v; return s; }",
        "S s; s.c = tid; if (s.a == 0) { BAR }",
    ),
    compute("a getter", "uint operator.c(S s) { return s.a; }", "S s; s.a = tid; if (s.c == 0) { BAR }"),
    compute(
        "a barrier in a setter",
        "uint operator.c(S s) { return s.a; } S operator.c=(S s, uint v) { BAR s.a = v; return s; }",
        "S s; if (tid == 0) { s.c = 1; }",
    ),
    compute(
        "a barrier in a getter that assignment calls",
        "uint operator.c(S s) { BAR return s.a; } S operator.c=(S s, uint v) { s.a = v; return s; }",
        "S s; if (tid == 0) { s.c += 1; }",
    ),
    compute(
        "an indexed setter",
        "uint operator[](S s, uint i) { return s.a; } S operator[]=(S s, uint i, uint v) { s.a = i; return s; }",
        "S s; s[tid] = 1; if (s.a == 0) { BAR }",
    ),
    compute("a user operator", "S operator+(S s, S r) { BAR return s; }", "S s; if (tid == 0) { s = s + s; }"),
    compute("a user operator in a compound assignment", "S operator+(S s, S r) { BAR return s; }", "S s; if (tid == 0) { s += s; }"),
    compute("a user cast", "operator S(uint x) { BAR S s; return s; }", "if (tid == 0) { S s = S(1u); }"),
    compute("a field of what a function returns", "S g(uint x) { S s; s.a = x; return s; }", "if (g(tid).a == 0) { BAR }"),
    compute(
        "the place of a compound assignment whose operator ignores its operands",
        "S operator+(S s, S r) { S n; n.a = 1; return n; }",
        "S[4] a; S n; a[tid] += n; if (a[0].a == 0) { BAR }",
    ),
    compute(
        "the place of an increment whose operator ignores its operand",
        "S operator++(S s) { S n; n.a = 1; return n; }",
        "S[4] a; a[tid]++; if (a[0].a == 0) { BAR }",
    ),
    // Calls.
    compute("a function with a barrier", "void f() { BAR }", "if (tid == 0) { f(); }"),
    compute("a function that calls one", "void f() { BAR } void g() { f(); }", "if (tid == 0) { g(); }"),
    compute("an argument that decides", "void f(uint x) { if (x == 0) { BAR } }", "f(tid);"),
    compute("an argument that decides two calls down", "void f(uint x) { if (x == 0) { BAR } } void g(uint y) { f(y); }", "g(tid);"),
    compute("a result of the argument", "uint f(uint x) { return x; }", "if (f(tid) == 0) { BAR }"),
    compute("a result by the branch", "uint f(uint x) { if (x == 0) { return 1; } return 2; }", "if (f(tid) == 1) { BAR }"),
    compute("a result of a call in a branch", "uint f() { return 1; }", "uint y = 0; if (tid == 0) { y = f(); } if (y == 1) { BAR }"),
    compute("a result that is never uniform", "uint f(device uint* p) { return *p; }", "if (f(&d[0]) == 1) { BAR }"),
    compute("a function that is never valid", "void f(device uint* p) { if (*p == 0) { BAR } }", "f(&d[0]);"),
    compute("an early return in the function", "void f(uint x) { if (x == 0) { return; } BAR }", "f(tid);"),
    compute("a value without arguments in a branch", "", "uint y = 1; if (tid == 0) { y = uint(); } if (y == 1) { BAR }"),
    // The library.
    compute("a pure function", "", "if (min(tid, 3u) == 0) { BAR }"),
    compute("what an atomic operation stores", "", "uint o = 0; InterlockedAdd(&at[0], 1, &o); if (o == 0) { BAR }"),
    compute("a texture that can be written", "", "if (Load(rw, 0) == 0) { BAR }"),
    compute("what is stored through a pointer", "", "float f = 0; modf(float(tid), &f); if (f == 0.0) { BAR }"),
    // Derivatives and discard.
    fragment("a derivative in a branch", "", "if (x > 0.0) { ddx(x); }"),
    fragment("a sample in a branch", "", "if (x > 0.0) { Sample(t, s, float2(x, x)); }"),
    fragment("what a derivative gives", "", "if (ddx(x) > 0.0) { ddx(x); }"),
    fragment("what a sample gives", "", "if (SampleLevel(t, s, float2(x, 0), 0).x > 0.5) { ddx(x); }"),
    fragment("a discard before", "", "if (x > 0.0) { discard; } ddx(x);"),
    fragment("a discard of one branch", "", "if (x > 0.0) { discard; } else { d[0] = 1; } ddx(x);"),
    fragment("a discard in a loop", "", "for (int i = 0; i < 2; i++) { ddx(x); if (x > 0.0) { discard; } }"),
    fragment("a discard in a function", "bool h(float y) { if (y > 0.0) { discard; } return true; }", "h(x); ddx(x);"),
    fragment("a discard two calls down", "void h(float y) { if (y > 0.0) { discard; } } void g(float z) { h(z); }", "g(x); ddx(x);"),
    fragment("a discard by device memory", "void h(device float[] q) { if (q[0] > 0.0) { discard; } }", "h(d); ddx(x);"),
    fragment("a discard of all in a branch", "void kill() { discard; }", "if (x > 0.0) { kill(); } ddx(x);"),
    fragment(
        "a discard in a function of a branch in a function",
        "void kill() { discard; } void g(float z) { if (z > 0.0) { kill(); } }",
        "g(x); ddx(x);",
    ),
    fragment("a discard in the condition", "bool h(float y) { if (y > 0.0) { discard; } return true; }", "if (h(x)) { ddx(x); }"),
    fragment(
        "a discard in the left operand of ||",
        "bool h(float y) { if (y > 0.0) { discard; } return false; } bool e(float y) { return ddx(y) == 0.0; }",
        "bool b = h(x) || e(x);",
    ),
    fragment(
        "a discard in the left operand of &&",
        "bool h(float y) { if (y > 0.0) { discard; } return true; } bool e(float y) { return ddx(y) == 0.0; }",
        "bool b = h(x) && e(x);",
    ),
    fragment("a discard in the choice", "bool h(float y) { if (y > 0.0) { discard; } return true; }", "float b = h(x) ? ddx(x) : 0.0;"),
    fragment(
        "a discard in the right operand of ||",
        "bool h(float y) { if (y > 0.0) { discard; } return true; }",
        "bool b = k[0] > 0.0 || h(x); ddx(x);",
    ),
    fragment(
        "a discard in the right operand of &&",
        "bool h(float y) { if (y > 0.0) { discard; } return true; }",
        "bool b = k[0] > 0.0 && h(x); ddx(x);",
    ),
    fragment(
        "a discard in an operand of ?:",
        "bool h(float y) { if (y > 0.0) { discard; } return true; }",
        "bool b = k[0] > 0.0 ? h(x) : true; ddx(x);",
    ),
    fragment(
        "a discard in the argument before",
        "bool h(float y) { if (y > 0.0) { discard; } return true; } void e(bool b, float y) { }",
        "e(h(x), ddx(x));",
    ),
    fragment(
        "a discard in an initialising expression",
        "float h(float y) { if (y > 0.0) { discard; } return 1; }",
        "float y = h(x); ddx(x);",
    ),
    fragment(
        "a discard in the condition of a for",
        "bool h(float y) { if (y > 0.0) { discard; } return true; }",
        "for (; h(x); ) { ddx(x); break; }",
    ),
    fragment(
        "a discard in the step of a for",
        "int h(int i, float y) { if (y > 0.0) { discard; } return i + 1; }",
        "for (int i = 0; i < 3; i = h(i, x)) { ddx(x); }",
    ),
    fragment(
        "a discard in the condition of a do",
        "bool h(float y) { if (y > 0.0) { discard; } return true; }",
        "do { ddx(x); } while (h(x));",
    ),
    fragment(
        "a discard in what is switched on",
        "int h(float y) { if (y > 0.0) { discard; } return 1; }",
        "switch (h(x)) { default: ddx(x); break; }",
    ),
    fragment("a discard in an index", "uint h(float y) { if (y > 0.0) { discard; } return 1; }", "float y = k[h(x)]; ddx(x);"),
    fragment(
        "a discard in what is returned",
        "bool h(float y) { if (y > 0.0) { discard; } return true; } bool g(float y) { return h(y); }",
        "g(x); ddx(x);",
    ),
    fragment("a derivative in a switch in a branch", "", "if (x > 0.0) { switch (1) { default: ddx(x); break; } }"),
    fragment(
        "a setter that discards, in the condition of an if",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); if ((s.c = true)) { ddx(x); }",
    ),
    fragment(
        "a setter that discards, in what is switched on",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); switch (((s.c = true), 1)) { default: ddx(x); break; }",
    ),
    fragment(
        "a setter that discards, in the left operand of ||",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); bool b = (s.c = true) || e(x);",
    ),
    fragment(
        "a setter that discards, in the left operand of &&",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); bool b = (s.c = true) && e(x);",
    ),
    fragment(
        "a setter that discards, in the choice",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); float b = (s.c = true) ? ddx(x) : 0.0;",
    ),
    fragment(
        "a setter that discards, in the step of a for",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); for (; true; s.c = true) { ddx(x); }",
    ),
    fragment(
        "a setter that discards, in the condition of a do",
        "bool operator.c(S s) { return true; } S operator.c=(S s, bool v) { if (s.a == 0) { discard; } return s; } bool e(float y) { return ddx(y) == 0.0; }",
        "S s; s.a = uint(x); do { ddx(x); } while ((s.c = true));",
    ),
    fragment(
        "a setter that discards, of the value of a switch",
        "int operator.c(S s) { return 1; } S operator.c=(S s, int v) { if (s.a == 0) { discard; } return s; }",
        "S s; s.a = uint(x); switch ((s.c = 1)) { default: ddx(x); break; }",
    ),
];
