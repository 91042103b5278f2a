//! Expressions.

use crate::{accepts, accepts_in, rejects, rejects_in};

#[test]
fn literals() {
    accepts_in(
        "i = 1; u = 1; x = 1; u = 1u; i = -1; x = -1; i = 0x7fffffff; u = 0xffffffff; x = .5; x = 5.; x = -.5f; b = true; b = false; i = - 3; i = (3); u = ((3)); i = -0x80000000;",
    );
    rejects_in("wsl/t-assignment", "i = 2147483648;");
    rejects_in("wsl/t-assignment", "i = 0x80000000;");
    rejects_in("wsl/t-assignment", "u = 4294967296;");
    rejects_in("wsl/t-literal-uint", "u = 4294967296u;");
    rejects_in("wsl/t-assignment", "i = 1u;");
    rejects_in("wsl/t-assignment", "i = 1.0;");
    rejects_in("wsl/t-assignment", "x = 1u;");
    rejects_in("wsl/t-assignment", "b = 1;");
    rejects_in("wsl/t-assignment", "u = (-1);");
    rejects_in("wsl/t-call", "u = -1u;");
}

#[test]
fn operators_of_control() {
    accepts_in(
        "b = b && b || i < 3; i = (b, 3); u = (i, 3); x = (b, 3); i = b ? 1 : 2; x = b ? x : 1; x = b ? 1 : 2.0; u = b ? 1 : u; s = b ? s : s; i = b ? i : (2);",
    );
    rejects_in("wsl/t-or", "b = b || i;");
    rejects_in("wsl/t-or", "b = 1 || b;");
    rejects_in("wsl/t-and", "b = b && x;");
    rejects_in("wsl/t-ternary-no-int-literals", "i = b ? i : u;");
    rejects_in("wsl/t-ternary-no-int-literals", "i = i ? i : i;");
    rejects_in("wsl/t-ternary-int-literals", "i = i ? 1 : 2;");
    rejects_in("wsl/t-assignment", "x = b ? 1 : 2;");
    rejects_in("wsl/t-ternary-no-int-literals", "*(b ? p : p) = 3;");
    rejects_in("wsl/t-ternary-no-int-literals", "(b ? r : r)[0] = 3;");
    rejects_in("wsl/t-assignment", "(b ? i : i) = 3;");
    rejects_in("wsl/t-assignment", "(b, i) = 3;");
    accepts_in("(i) = 3; ((s)).a = 4;");
}

#[test]
fn assignments() {
    accepts_in(
        "i = 3; s.a = 4; s.b.x = 1; v.xy = float2(1, 2); v[3] = 2; a[2] = 3; r[1] = 4; *p = 5; s.b[0] = 3; i = u == 3 ? 1 : 2; i = i = 4; s = s; a = a;",
    );
    rejects_in("wsl/t-assignment", "3 = i;");
    rejects_in("wsl/t-assignment", "i + 1 = 3;".replace("i + 1", "(i + 1)").as_str());
    rejects_in("wsl/t-assignment", "i = x;");
    rejects_in("wsl/t-assignment", "p = p;");
    rejects_in("wsl/t-assignment", "r = r;");
    rejects_in("wsl/t-assignment", "v.xx = float2(1, 2);");
    rejects_in("wsl/t-assignment", "E.A = e;");
    rejects_in("wsl/t-assignment", "a.length = 3;");
    rejects("wsl/t-assignment", "void f(constant int* p) { *p = 3; }");
    rejects("wsl/t-assignment", "void f(constant float4* p) { p->x = 3; }");
    rejects("wsl/t-assignment", "struct S { int a; } void f(constant S[] p) { p[0].a = 3; }");
    accepts("struct S { int a; } int f(constant S[] p) { return p[0].a; }");
    rejects("wsl/t-assignment", "void f(sampler s, sampler t) { s = t; }");
    rejects("wsl/t-assignment", "int g() { return 1; } void f() { g() = 3; }".replace("g() = 3", "(g()) = 3").as_str());
    accepts("struct S { int a; } S g() { S s; return s; } int f() { return g().a; }");
    rejects("wsl/t-assignment", "struct S { int a; } S g() { S s; return s; } void f() { g().a = 3; }");
}

#[test]
fn pointers() {
    accepts_in("thread int* q = &i; thread int[] t = @i; thread int[] w = @a; thread float3* n = &s.b; thread int* k = &a[2]; thread int* l = &r[0]; i = *q; *q = *k; i = p == 3 ? 1 : 2;".replace("i = p == 3 ? 1 : 2;", "").as_str());
    accepts_in("thread S* q = &s; q->a = 3; i = q->a; (*q).b = float3(1, 2, 3); thread S* z = &*q; i = (*&s).a;");
    accepts_in("thread int[4]* q = &a; (*q)[1] = 3; i = (*q)[0]; thread int[] t = @*q;");
    accepts_in("u = a.length; u = r.length; u = (@i).length; u = v.length;");
    rejects_in("wsl/t-address-taking", "thread float* q = &v.x;");
    rejects_in("wsl/t-address-taking", "thread float* q = &v[0];");
    rejects_in("wsl/t-address-taking", "thread int* q = &3;");
    rejects_in("wsl/t-address-taking", "thread int* q = &(i + 1);");
    rejects_in("wsl/t-address-taking", "thread int* q = &E.A;");
    rejects_in("wsl/t-take-ref-lval", "thread int[] q = @(i + 1);");
    rejects_in("wsl/t-ptr-deref", "i = *i;");
    rejects_in("wsl/t-ptr-deref", "i = *r;");
    rejects_in("wsl/t-dot-getter", "i = p.a;");
    rejects_in("wsl/t-ptr-deref", "i = s->a;");
    rejects_in("wsl/t-variable-decl-init", "device int* q = p;");
    rejects_in("wsl/t-variable-decl-init", "thread float* q = p;");
    rejects_in("wsl/t-variable-decl-init", "thread int* q = r;");
    rejects_in("wsl/t-variable-decl-init", "thread int[] q = a;");
    rejects_in("wsl/t-variable-decl-init", "thread int[4][] q = @a;");
    accepts_in("int[2][3] m; thread int[2][] q = @m; q[1][0] = 3; m[2][1] = 4;");
}

#[test]
fn dots() {
    accepts_in(
        "i = s.a; x = s.b.z; e = E.B; v.x = v.y; float2 w = v.xx; float3 t = v.wzy; x = v.xyz.yx.x; v.xyz.x = 1; i = int(E.A); i = e.value;",
    );
    rejects_in("wsl/t-dot-getter", "i = s.c;");
    rejects_in("wsl/t-dot-getter", "i = i.a;");
    rejects_in("wsl/t-dot-getter", "x = v.r;");
    rejects_in("wsl/t-dot-getter", "x = v.xyzwx;");
    rejects_in("wsl/t-dot-getter", "x = s.b.w;");
    rejects_in("wsl/t-dot-enum", "e = E.C;");
    rejects_in("wsl/t-variable-name", "e = F.A;");
    rejects_in("wsl/t-variable-name", "s = S.a;".replace("s = S.a", "i = S.a").as_str());
    rejects_in("wsl/t-dot-getter", "int E = 3; e = E.A;");
    accepts_in("S E = s; i = E.a;");
    accepts("typedef F = E; enum E { A } E f() { return F.A; }");
    rejects("wsl/t-dot-getter", "void f(int[3] a) { a.size = 3; }");
}

#[test]
fn indices() {
    accepts_in(
        "i = a[0]; i = a[u]; i = r[3]; x = v[u]; i = a[(2)]; float3x2 m; m[2][1] = 3; x = m[0].y; m[1] = float2(1, 2); i = a[u + 1]; i = a[1u];",
    );
    rejects_in("wsl/t-array-ref-index", "i = a[i];");
    rejects_in("wsl/t-array-ref-index", "i = a[-1];");
    rejects_in("wsl/t-array-ref-index", "i = a[1.0];");
    rejects_in("wsl/t-array-ref-index", "i = r[1 + 2];");
    rejects_in("wsl/t-index-getter", "i = i[0];");
    rejects_in("wsl/t-index-getter", "i = p[0];");
    rejects_in("wsl/t-index-getter", "i = s[0];");
}

#[test]
fn read_modify_write() {
    accepts_in(
        "i++; ++i; u--; --u; a[1]++; ++s.a; (*p)--; r[2]++; i += 3; u += 3; x += 1; x *= 2.5; v *= 2; v += v; v.x += 1; v[1] -= 2; i <<= 1; u >>= u; i %= 3; i ^= i; i |= 2; i &= 3; b &= b; b |= true; x /= 3; i -= 1; a[0] += 2; i = i++ + ++i;",
    );
    rejects_in("wsl/t-postfix-incr", "x++;");
    rejects_in("wsl/t-prefix-incr", "++x;");
    rejects_in("wsl/t-postfix-incr", "b++;");
    rejects_in("wsl/t-postfix-incr", "v++;");
    rejects_in("wsl/t-postfix-incr", "3++;".replace("3++", "(3)++").as_str());
    rejects_in("wsl/t-postfix-incr", "p++;");
    rejects_in("wsl/t-prefix-incr", "++(i + 1);");
    rejects_in("wsl/t-operator-plus-equal", "i += x;");
    rejects_in("wsl/t-operator-plus-equal", "i += 1.5;");
    rejects_in("wsl/t-operator-plus-equal", "x += v;");
    rejects_in("wsl/t-operator-plus-equal", "3 += i;".replace("3 +=", "(3) +=").as_str());
    rejects_in("wsl/t-operator-plus-equal", "b += b;");
    rejects_in("wsl/t-operator-plus-equal", "i <<= i;");
    rejects_in("wsl/t-operator-plus-equal", "x %= 2.0;");
    rejects("wsl/t-postfix-incr", "void f(constant int* p) { (*p)++; }");
}

#[test]
fn calls() {
    accepts("int f(int x) { return 1; } int f(float x) { return 2; } int g() { return f(1) + f(1.0); }");
    accepts("int f(float x) { return 2; } int g() { return f(1); }");
    accepts("int f(uint x) { return 2; } int g() { return f(1) + f((1)) + f(1u); }");
    rejects("wsl/t-call", "int f(uint x) { return 1; } int f(float x) { return 2; } int g() { return f(1); }");
    accepts("int f(uint x) { return 1; } int f(int x) { return 2; } int g() { return f((true, 1)) + -(1, 2); }");
    accepts("int f(uint x) { return 1; } int f(int x) { return 2; } int g() { return f(1); }");
    rejects("wsl/t-call", "int f(uint x) { return 1; } int g() { return f(-1); }");
    rejects("wsl/t-call", "int f(int x) { return 1; } int g() { return f(1.5); }");
    rejects("wsl/t-call", "int f(int x) { return 1; } int g() { return f(1, 2); }");
    rejects("wsl/t-call", "int g() { return h(); }");
    rejects("wsl/t-call", "int f(int a, uint b) { return 1; } int f(uint a, int b) { return 2; } int g() { return f(1, 2); }");
    accepts("int f(int a, uint b) { return 1; } int f(uint a, int b) { return 2; } int g(uint u) { return f(1, u) + f(u, 1); }");
    rejects("wsl/ep-not-called", "vertex float4 f() : SV_Position { return float4(0, 0, 0, 1); } float4 g() { return f(); }");
    rejects("wsl/t-call", "void g() { } void f() { int x = h(g()); } int h(int x) { return x; }");
    rejects("wsl/t-variable-decl-init", "void g() { } void f() { int x = g(); }");
    accepts("int f(thread int* p) { return *p; } int g() { int x; return f(&x); }");
    rejects("wsl/t-call", "int f(device int* p) { return *p; } int g() { int x; return f(&x); }");
    accepts("int f(thread int[] p) { return p[0]; } int g() { int[3] x; return f(@x); }");
    rejects("wsl/t-variable-name", "int f() { return 1; } int g() { return f; }");
}

#[test]
fn arithmetic() {
    accepts_in(
        "i = 1 + 2; i = i * i - i / i % i; u = u + 1; x = x + 1; x = 1 + x; x = 1.0 + 2; v = v * 2; v = 2 * v; v = v + v; v = -v; x = -x; i = -i; i = ~i; b = ~b; b = !b; i = i & 3 | 4 ^ i; b = b & b; i = i << 3; u = u >> 3u; i = i >> u; v = +v;",
    );
    rejects_in("wsl/t-call", "i = 1 << 2;");
    accepts_in("u = 1u << 2;");
    rejects_in("wsl/t-call", "i = i << i;");
    rejects_in("wsl/t-call", "i = i + u;");
    rejects_in("wsl/t-call", "x = x + i;");
    rejects_in("wsl/t-call", "x = x % x;");
    rejects_in("wsl/t-call", "b = b + b;");
    rejects_in("wsl/t-call", "b = !i;");
    rejects_in("wsl/t-call", "u = -u;");
    rejects_in("wsl/t-call", "i = +i;");
    rejects_in("wsl/t-call", "x = ~x;");
    rejects_in("wsl/t-call", "v = v + float3(1, 2, 3);");
    rejects_in("wsl/t-call", "s = s + s;");
    rejects_in("wsl/t-call", "b = s == s;");
    rejects_in("wsl/t-call", "b = p == p;");
    rejects_in("wsl/t-call", "b = e < e;");
    accepts_in("b = i == 3; b = u != 3; b = x < 3; b = 3 >= i; b = b == true; b = e == E.A; b = E.B != e; b = 1 < 2; b = x <= 2.5;");
    accepts_in("bool4 w = v == v; bool4 z = v < 2; b = all(w); b = any(z);");
    rejects_in("wsl/t-assignment", "b = v == v;");
    rejects_in("wsl/t-assignment", "x = 1 / 2;");
    rejects_in("wsl/t-assignment", "u = 1 + 2;");
    accepts_in(
        "x = sin(x) + sqrt(2) + pow(x, 2) + clamp(x, 0, 1) + min(1.0, x) + dot(v, v) + length(v); i = min(1, 2) + abs(-3) + clamp(i, 0, 1); v = normalize(v); u = countbits(5); x = float(i) + float(u) + float(b); i = int(x); u = uint(i); b = bool(i); x = asfloat(i);",
    );
    accepts_in("float4 w = float4(1, 2, 3, 4); w = float4(v.xy, v.zw); w = float4(v.xyz, 1); w = float4(1, v.xy, 1); w = float4(); w = float4(v); float3x2 m = float3x2(1, 2, 3, 4, 5, 6); float2 c = mul(v.xyz, m).xx;".replace(" float2 c = mul(v.xyz, m).xx;", "").as_str());
    rejects_in("wsl/t-call", "float4 w = float4(1);");
    rejects_in("wsl/t-call", "float4 w = float4(1, 2, 3);");
    rejects_in("wsl/t-call", "float4 w = float4(i, 2, 3, 4);");
    rejects_in("wsl/t-call", "float4 w = float4(v, 1);");
    rejects_in("wsl/t-call", "int4 w = int4(v);");
}
