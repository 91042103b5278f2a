//! Statements and their behaviours.

use crate::{accepts, accepts_in, rejects, rejects_in};

#[test]
fn blocks() {
    accepts_in("{ } { ; } ; { int y; }");
    accepts_in("{ int y; { int y; y = 3; } y = 4; }");
    accepts_in("int y = 3, z = y, w; w = z;");
    accepts_in("int i = i;");
    accepts_in("float i = x; i = 2.5;");
    rejects_in("wsl/t-variable-name", "int y = y;");
    rejects_in("wsl/t-variable-name", "thread int* q = q;");
    rejects_in("wsl/t-variable-decl", "int y; float y;");
    rejects_in("wsl/t-variable-decl-init", "int y; float y = 2.5;");
    rejects_in("wsl/t-variable-decl-init", "int y, y = 2;");
    rejects_in("wsl/t-variable-decl", "thread int* q;");
    rejects_in("wsl/t-variable-decl", "device int[] q;");
    rejects_in("wsl/t-variable-decl-init", "int y = 1.5;");
    rejects_in("wsl/t-variable-decl-init", "uint y = -1;");
    rejects_in("wsl/t-variable-decl-init", "uint y = 1 + 2;");
    rejects_in("wsl/t-variable-decl-init", "float y = 1 / 2;");
    rejects_in("wsl/t-variable-decl-init", "uint y = b ? 1 : 2;");
    rejects_in("wsl/t-variable-decl-init", "int y = 2147483648;");
    accepts_in("uint y = 4294967295; int z = -2147483648; float w = 5000000000000000000000000000000000000; float q = -3;");
    accepts_in("threadgroup int y; threadgroup float[4] z; thread int w; z[3] = 1;");
    rejects_in("wsl/t-variable-decl", "device int y;");
    rejects_in("wsl/t-variable-decl", "constant int[3] y;");
    rejects_in("wsl/t-block", "return; i = 3;");
    rejects_in("wsl/t-block", "{ return; } i = 3;");
    rejects_in("wsl/t-block", "if (b) return; else return; i = 3;");
    rejects_in("wsl/t-block", "return; ;");
    rejects_in("wsl/t-block", "return; int y;");
    accepts_in("if (b) return; i = 3;");
    accepts_in("if (b) { int y = 8; } else { float y = 2.5; }");
    for body in
        ["if (b) int y = 8;", "if (b) { } else float y;", "while (b) int y, z;", "do int y; while (b);", "for (; b;) int* thread y = &i;"]
    {
        rejects_in("wsl/g-stmt", body);
    }
    rejects_in("wsl/t-variable-name", "{ int y; } y = 3;");
    rejects_in("wsl/ep-opaque", "sampler t;");
    rejects("wsl/ep-opaque", "void f(Texture2D<float4> t) { Texture2D<float4> u = t; }");
    rejects("wsl/ep-opaque", "struct S { sampler s; } void f() { S s; }");
}

#[test]
fn conditions() {
    accepts_in("if (b) { } if (b && i == 3 || x < 2.5) i = 4; else i = 5;");
    rejects_in("wsl/t-if", "if (i) { }");
    rejects_in("wsl/t-if", "if (1) { }");
    rejects_in("wsl/t-if", "if (bool2(b, b)) { }");
    accepts_in("while (b) { } do { } while (b); for (;;) { } for (int j = 0; j < 4; j++) { } for (i = 0; ; ) { }");
    rejects_in("wsl/t-if", "while (i) { }");
    rejects_in("wsl/t-do-while-no-break", "do { } while (i);");
    rejects_in("wsl/t-for-no-break", "for (; i; ) { }");
    rejects_in("wsl/t-for-break", "for (; x; ) { break; }");
    rejects_in("wsl/t-variable-name", "for (; b; y++) { }");
    accepts_in("while (b) { if (i == 3) break; if (i == 4) continue; i++; }");
    accepts_in("for (;;) { break; } i = 3;");
    accepts_in("do { continue; } while (b); i = 3;");
    accepts_in("while (true) { return; } i = 3;");
    rejects_in("wsl/t-block", "while (b) { break; i = 3; }");
    rejects_in("wsl/t-block", "while (b) { continue; i = 3; }");
    rejects_in("wsl/t-variable-name", "for (int j = 0; j < 4; j++) { } j = 3;");
    accepts_in("if (b) if (b) i = 3; else i = 4;");
}

#[test]
fn switches() {
    accepts_in("switch (i) { case 0: break; case -5: i = 3; break; default: return; }");
    accepts_in("switch (u) { case 0: break; case 5u: fallthrough; default: break; }");
    accepts_in("switch (e) { case E.A: break; case E.B: break; }");
    accepts_in("switch (e) { case E.A: break; default: break; }");
    accepts_in("switch (i) { default: break; }");
    accepts_in("switch (i) { case 1: fallthrough; case 2: { int y; break; } default: discard; }");
    accepts_in("switch (i) { case 1: int y = 2; i = y; break; default: int y = 3; break; }");
    accepts_in("switch (i) { case 1: if (b) fallthrough; else break; default: break; }");
    accepts_in("while (b) { switch (i) { case 1: continue; default: break; } }");
    accepts_in("switch (i) { case 1: while (b) { break; } break; default: break; } i = 3;");
    accepts("int f(int i) { switch (i) { case 0: return 1; default: return 2; } }");
    accepts("enum E { A, B } int f(E e) { switch (e) { case E.A: return 1; case E.B: return 2; } }");
    rejects("wsl/v-function-nothing", "int f(int i) { switch (i) { case 0: return 1; default: break; } }");
    rejects_in("wsl/t-block", "switch (i) { case 0: return; default: return; } i = 3;");
    rejects_in("wsl/t-switch-block", "switch (x) { default: break; }");
    rejects_in("wsl/t-switch-block", "switch (b) { case true: break; case false: break; }");
    rejects_in("wsl/t-case", "switch (i) { case 1.5: break; default: break; }");
    rejects_in("wsl/t-case", "switch (i) { case 1u: break; default: break; }");
    rejects_in("wsl/t-case", "switch (u) { case -1: break; default: break; }");
    rejects_in("wsl/t-case", "switch (e) { case 0: break; default: break; }");
    rejects_in("wsl/t-case", "switch (i) { case E.A: break; default: break; }");
    rejects_in("wsl/t-case", "switch (e) { case E.A: break; case 5: break; }");
    rejects_in("wsl/t-case", "switch (e) { case E.A: break; case E.A: break; }");
    rejects_in("wsl/t-case", "switch (i) { case 1: break; case 1: break; default: break; }");
    rejects_in("wsl/t-case", "switch (i) { case 16: break; case 0x10: break; default: break; }");
    rejects_in("wsl/t-default", "switch (i) { default: break; default: break; }");
    rejects_in("wsl/t-default", "switch (i) { case 1: break; }");
    rejects_in("wsl/t-default", "switch (i) { }");
    rejects_in("wsl/t-default", "switch (e) { case E.A: break; }");
    rejects_in("wsl/t-default", "switch (e) { case E.A: break; case E.B: break; default: break; }");
    rejects_in("wsl/t-switch-block", "switch (i) { case 1: default: break; }");
    rejects_in("wsl/t-switch-block", "switch (i) { case 1: i = 3; default: break; }");
    rejects_in("wsl/t-switch-block", "switch (i) { default: i = 3; }");
    rejects_in("wsl/t-switch-block", "switch (i) { default: fallthrough; }");
    rejects_in("wsl/t-switch-block", "switch (i) { case 1: break; default: if (b) fallthrough; else break; }");
    rejects_in("wsl/t-do-while-no-break", "switch (i) { case 1: while (b) { fallthrough; } break; default: break; }");
    rejects_in("wsl/t-block", "switch (i) { case 1: fallthrough; i = 3; default: break; }");
    rejects_in("wsl/t-block", "switch (i) { case 1: if (b) fallthrough; i = 3; break; default: break; }");
    rejects("wsl/t-switch-block", "thread int* f(thread int* p, int i) { switch (i) { case 0: return p; default: return p; } }");
}
