//! Programs for one row of the mapping each, with chosen arguments.

use smallstep::compile::wsl::{Options, translate, translate_function};
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::{call_both, check};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::{self, Buffer};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{Dispatch, Resource};
use smallstep_semantics::wsl::validate::validate;

const MIN: u32 = 0x8000_0000;
const NAN: u32 = 0x7fc0_0000;

const fn f(value: f32) -> u32 {
    value.to_bits()
}

/// A program, its last function, and the words of that function's arguments.
pub struct Case {
    pub text: &'static str,
    pub arguments: &'static [&'static [u32]],
}

const fn case(text: &'static str, arguments: &'static [&'static [u32]]) -> Case {
    Case { text, arguments }
}

/// The cases of functions; each argument is one word.
pub const CALLS: &[Case] = &[
    // Arithmetic.
    case("int f(int a, int b) { return a + b * a - b; }", &[&[3, 5], &[MIN, 1], &[u32::MAX, 7]]),
    case("int f(int a, int b) { return a / b; }", &[&[7, 2], &[-7i32 as u32, 2], &[7, -2i32 as u32], &[5, 0], &[MIN, u32::MAX]]),
    case("int f(int a, int b) { return a % b; }", &[&[7, 2], &[-7i32 as u32, 2], &[7, -2i32 as u32], &[5, 0], &[MIN, u32::MAX]]),
    case("uint f(uint a, uint b) { return a / b + a % b; }", &[&[7, 2], &[u32::MAX, 10], &[5, 0]]),
    case("uint f(uint a, uint b) { return a / b; }", &[&[0xffff_fff0, 3], &[MIN, 2]]),
    case("uint f(uint a, uint b) { return a % b; }", &[&[0xffff_fff0, 7], &[MIN, 3], &[9, 4]]),
    case("int f(int a, int b) { int x = a / b; return x - x; }", &[&[5, 0]]),
    case("float f(float a, float b) { return (a + b) * a / (a - b); }", &[&[f(1.5), f(2.0)], &[f(1.0), f(1.0)], &[NAN, f(2.0)]]),
    case("float f(float a, float b) { return a - b; }", &[&[f(1.5), f(2.0)]]),
    case("float f(float a, float b) { return a / b; }", &[&[f(1.0), f(3.0)], &[f(1.0), f(0.0)]]),
    case("float f(float a) { return -a; }", &[&[f(0.0)], &[f(2.5)]]),
    case("int f(int a) { return -a; }", &[&[5], &[MIN]]),
    case("int f(int a) { a++; ++a; int b = a--; return a * 100 + b; }", &[&[5], &[0x7fff_ffff]]),
    case("int f(int a, int b) { a += b; a *= 3; a -= b; a ^= 5; a |= 2; a &= 0xff; return a; }", &[&[5, 9]]),
    // Bitwise.
    case("uint f(uint a, uint b) { return (a & b) ^ (a | ~b); }", &[&[12, 10], &[0xf0f0_1234, 0x0ff0_4321]]),
    case("uint f(uint a, uint b) { return a | b; }", &[&[12, 10]]),
    case("uint f(uint a, uint b) { return a ^ b; }", &[&[12, 10]]),
    case("int f(int a, uint b) { return a << b; }", &[&[3, 4], &[3, 33], &[1, 31]]),
    case("int f(int a, uint b) { return a >> b; }", &[&[-64i32 as u32, 3], &[-64i32 as u32, 35], &[64, 3]]),
    case("uint f(uint a, uint b) { return a >> b; }", &[&[0xf000_0000, 3], &[0xf000_0000, 35]]),
    case("uint f(uint a) { return ~a; }", &[&[0x0f0f]]),
    case("bool f(bool a, bool b) { return (a & b) ^ (a | b); }", &[&[0, 1], &[1, 1], &[0, 0]]),
    // Comparison.
    case("bool f(int a, int b) { return a < b; }", &[&[1, 2], &[2, 2], &[u32::MAX, 2]]),
    case("bool f(int a, int b) { return a >= b; }", &[&[1, 2], &[2, 2], &[u32::MAX, 2]]),
    case("bool f(uint a, uint b) { return a < b; }", &[&[1, 2], &[2, 2], &[u32::MAX, 2], &[2, u32::MAX]]),
    case("bool f(uint a, uint b) { return a <= b; }", &[&[1, 2], &[2, 2]]),
    case("bool f(uint a, uint b) { return a > b; }", &[&[1, 2], &[2, 2]]),
    case("bool f(int a, int b) { return a == b; }", &[&[1, 2], &[2, 2]]),
    case("bool f(int a, int b) { return a != b; }", &[&[1, 2], &[2, 2]]),
    case("bool f(float a, float b) { return a < b; }", &[&[f(1.0), f(2.0)], &[f(2.0), f(2.0)], &[NAN, NAN]]),
    case("bool f(float a, float b) { return a > b; }", &[&[f(1.0), f(2.0)], &[NAN, NAN]]),
    case("bool f(float a, float b) { return a == b; }", &[&[NAN, NAN], &[f(0.0), f(-0.0)]]),
    case("bool f(float a, float b) { return a != b; }", &[&[NAN, NAN], &[f(0.0), f(-0.0)]]),
    case("bool f(bool a, bool b) { return (a == b) != (!a); }", &[&[0, 1], &[1, 1], &[0, 0]]),
    case("bool3 f(float3 a, float b) { return a < b; }", &[]),
    // Boolean operators evaluate no more than they need.
    case(
        "bool t(int* thread n, bool b) { *n += 1; return b; }
         int f(bool a, bool b) { int n; bool c = t(&n, a) && t(&n, b); bool d = t(&n, a) || t(&n, b);
             return n * 4 + int(c) * 2 + int(d); }",
        &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]],
    ),
    case("int g(int* thread n) { *n += 1; return *n; } int f(bool a) { int n; int x = a ? g(&n) : 7; return n * 10 + x; }", &[&[0], &[1]]),
    case("bool f(bool a) { return !a; }", &[&[0], &[1]]),
    // Casts.
    case("float f(int a) { return float(a); }", &[&[5], &[-5i32 as u32], &[MIN]]),
    case("float f(uint a) { return float(a); }", &[&[5], &[0xffff_ffff], &[MIN]]),
    case("float f(bool a) { return float(a); }", &[&[0], &[1]]),
    case("int f(bool a) { return int(a); }", &[&[0], &[1]]),
    case("int f(float a) { return int(a); }", &[&[f(2.9)], &[f(-2.9)], &[f(3e9)], &[NAN], &[f(-2147483648.0)]]),
    case("uint f(float a) { return uint(a); }", &[&[f(2.9)], &[f(-0.9)], &[f(-1.5)], &[f(4e9)], &[f(5e9)], &[NAN]]),
    case("bool f(int a) { return bool(a); }", &[&[0], &[4]]),
    case("bool f(float a) { return bool(a); }", &[&[f(0.0)], &[f(-0.0)], &[NAN], &[f(0.5)]]),
    case("uint f(int a) { return uint(a); }", &[&[u32::MAX]]),
    case("float f(uint a) { return asfloat(a); }", &[&[f(2.5)], &[NAN]]),
    case("uint f(float a) { return asuint(a) + uint(asint(a)); }", &[&[f(2.5)]]),
    // Indices.
    case("int f(uint i) { int[3] a; a[0] = 10; a[1] = 20; a[2] = 30; return a[i]; }", &[&[0], &[2], &[3], &[u32::MAX]]),
    case("int f(uint i) { int[3] a; a[i] = 7; return a[0] * 100 + a[1] * 10 + a[2]; }", &[&[0], &[2], &[3], &[u32::MAX]]),
    case("float f(uint i) { float3 v = float3(1.0, 2.0, 3.0); return v[i]; }", &[&[0], &[2], &[3], &[u32::MAX]]),
    case("float f(uint i) { float3 v; v[i] = 4.0; return v.x * 100.0 + v.y * 10.0 + v.z; }", &[&[0], &[2], &[3]]),
    case(
        "float f(uint i, uint j) { float2x3 m = float2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0); return m[i][j]; }",
        &[&[0, 2], &[1, 0], &[2, 0], &[1, 3]],
    ),
    case(
        "float f(uint i) { float2x3 m; m[i] = float3(1.0, 2.0, 3.0); m[i][1] = 9.0; return m[0][1] * 10.0 + m[1][1] + m[1][2]; }",
        &[&[0], &[1], &[2]],
    ),
    case("bool f(uint i) { bool2x2 m; m[1] = bool2(true, false); m[0][1] = true; return m[i][i]; }", &[&[0], &[1], &[7]]),
    case("int g(int[3] a, uint i) { return a[i]; } int f(uint i) { int[3] a; a[1] = 5; return g(a, i) + a.length.xxx.x; }", &[]),
    // Letters.
    case("float f(float a) { float4 v; v.x = a; v.wy = v.xx + float2(1.0, 2.0); return v.w * 10.0 + v.y + v.zyx.z; }", &[&[f(3.0)]]),
    case("int f(int a) { int3 v = int3(a, a + 1, a + 2); v.zx = v.xy; return v.x * 100 + v.y * 10 + v.z; }", &[&[1]]),
    // Structures, enums, defaults.
    case("struct S { int a; float3 b; bool c; } int f(int x) { S s; s.a = x; S t = s; t.b.y = 2.0; t.c = true; return t.a + int(t.b.y) + int(t.c) + int(s.c); }", &[&[5]]),
    case("int f(int x) { for (uint i = 0u; i < 2u; i++) { int y; y += x; x = y; } return x; }", &[&[5]]),
    case("enum E : int { A = 3, B = 0, C = 8 } int f(int x) { E e = E(x); return int(e); }", &[&[3], &[0], &[8], &[4]]),
    case("enum E { A, B, C } int f(int x) { switch (E(x)) { case E.A: return 1; case E.B: return 2; case E.C: return 3; } return 4; }", &[]),
    case("struct P { int a; int b; int c; } P g(int x) { P p; p.a = x; p.b = x + 1; return p; } int f(int x) { return g(x).a * 10 + g(x).b; }", &[&[5]]),
    // An element of the result of a getter: the whole value is read and assigned.
    case(
        "struct S { int e; } int[2] operator.pair(S s) { int[2] r; r[0] = s.e; r[1] = s.e + 1; return r; }
         S operator.pair=(S s, int[2] v) { s.e = v[0] * 10 + v[1]; return s; }
         int f(int v, uint i) { S s; s.e = v; s.pair[i] = 7; return s.e * 10 + s.pair[i]; }",
        &[&[1, 0], &[1, 1], &[1, 2]],
    ),
    // Control flow.
    case("int f(int x) { int n; while (n < x) { n += 2; if (n == 4) continue; if (n > 7) break; x++; } return n * 100 + x; }", &[&[0], &[3], &[20]]),
    case("int f(int x) { int n; do { n++; if (n == x) { return n; } } while (n < 5); return -n; }", &[&[0], &[3], &[20]]),
    case(
        "int f(int x) { int n; switch (x) { case 1: n += 1; fallthrough; case 2: { n += 10; if (n > 10) { fallthrough; } else { break; } }
             case 3: n += 100; break; default: n = 7; break; } return n; }",
        &[&[0], &[1], &[2], &[3]],
    ),
    case(
        "int f(int x) { int n; for (int i = 0; i < 6; i++) { switch (i % 3) { case 0: continue; case 1: if (i > x) { break; } n += i; fallthrough;
             default: n += 100; break; } n += 1000; } return n; }",
        &[&[0], &[2], &[9]],
    ),
    // Functions and addresses.
    case(
        "int both(int* thread p, int* thread q) { *p = 1; *q = 2; return *p; }
         int f(uint i, uint j) { int[3] a; int r = both(&a[i], &a[j]); return r * 1000 + a[0] * 100 + a[1] * 10 + a[2]; }",
        &[&[1, 1], &[1, 2], &[2, 0]],
    ),
    case(
        "struct S { int[2] a; int b; }
         void g(S* thread s, int* thread p) { s->a[1] = 5; *p += 1; s->b += *p; }
         int f(uint i) { S s; g(&s, &s.a[i]); g(&s, &s.b); return s.a[0] * 100 + s.a[1] * 10 + s.b; }",
        &[&[0], &[1]],
    ),
    case("int* thread pick(int* thread p, int* thread q) { *p = 4; return q; } int f(int x) { int y = 3; *pick(&x, &y) += 5; return x * 10 + y; }", &[&[1]]),
    case("int* thread own(int v) { int x = v; return &x; } int f(int v) { int* thread p = own(v); *p += 1; int* thread q = own(v + 5); return *p * 100 + *q; }", &[&[1]]),
    case(
        "int sum(thread int[] r) { int s; for (uint i = 0u; i < r.length; i++) s += r[i]; return s; }
         int f(uint i, int v) { int[4] a; int x = v; thread int[] r = @a; r[i] = v; return sum(r) * 100 + sum(@a) * 10 + sum(@x) + int(r.length); }",
        &[&[1, 3], &[9, 3]],
    ),
    case(
        "struct S { int[3] e; } thread int* operator&[](thread S* s, uint i) { return &s->e[i + 1u]; }
         int f(uint i) { S s; s[i] = 6; s[0u] += 1; return s.e[0] * 100 + s.e[1] * 10 + s.e[2] + s[i]; }",
        &[&[0], &[1], &[4]],
    ),
    case(
        "struct S { int e; } int operator.x(S s) { return s.e * 2; } S operator.x=(S s, int v) { s.e = v + 1; return s; }
         int f(int v) { S s; s.x = v; s.x += 3; s.x++; return s.x; }",
        &[&[0], &[5]],
    ),
    case("int f(int x) { int y = x; int* thread p = &y; int* thread* thread q = &p; **q += 2; int* thread r = *q; *r *= 3; return y; }", &[&[1]]),
    case("int g(int a) { a += 1; return a; } int f(int a) { return g(a) * 10 + g(g(a)) + a; }", &[&[1]]),
    // The library.
    case("int f(int a, int b) { return min(a, b) * 100 + max(a, b) * 10 + clamp(a, b, 4); }", &[&[1, 2], &[-3i32 as u32, 2], &[9, 7]]),
    case("uint f(uint a, uint b) { return max(a, b) - min(a, b); }", &[&[1, 2], &[u32::MAX, 2]]),
    case("uint f(uint a) { return firstbithigh(a) * 1000000u + firstbitlow(a) * 1000u + countbits(a); }", &[&[0], &[40], &[MIN]]),
    case("uint f(uint a) { return reversebits(a) + countbits(a); }", &[&[40]]),
    case("float f(float a) { return floor(a) * 100.0 + trunc(a) * 10.0 + frac(a) + ceil(a); }", &[&[f(2.5)], &[f(-2.5)]]),
    case("float f(float a) { return sqrt(a) + rsqrt(a); }", &[&[f(4.0)], &[f(-4.0)], &[f(0.0)]]),
    case("int f(int a) { return abs(a) * 10 + sign(a); }", &[&[5], &[-5i32 as u32], &[MIN]]),
    case("bool f(bool a, bool b) { return all(bool2(a, b)) == any(bool2(a, b)); }", &[&[0, 1], &[1, 1], &[0, 0]]),
    case("float f(float a, float b) { return step(a, b); }", &[&[f(1.0), f(2.0)], &[f(2.0), f(2.0)], &[f(3.0), f(2.0)]]),
    case("bool f(float a) { return isnan(a) || isinf(a) && !isfinite(a); }", &[&[NAN], &[f(f32::INFINITY)], &[f(1.0)]]),
    case("float f(float a) { float s; float c; sincos(a, &s, &c); return s * 10.0 + c; }", &[&[f(1.25)]]),
    case("float f(float a) { return log10(a) + lerp(1.0, 3.0, a) + smoothstep(1.0, 4.0, a) + mad(a, a, a); }", &[&[f(2.5)], &[f(100.0)]]),
    case("float f(float a) { float i; float b = modf(a, &i); return i * 10.0 + b; }", &[&[f(2.75)], &[f(-2.75)]]),
    case("float f(float a) { return transpose(float2x2(1.0, 2.0, a, 4.0))[0].y; }", &[&[f(1.5)]]),
    case("float f(float a) { return mul(float2x2(1.0, 2.0, 3.0, a), float2(a, 2.0)).y; }", &[&[f(1.5)]]),
    case("float f(float a) { return faceforward(float2(1.0, 2.0), float2(a, 1.0), float2(1.0, 1.0)).y + lit(a, 2.0, 3.0).z; }", &[&[f(1.5)], &[f(-1.5)]]),
    case("float f(float a) { return log10(a); }", &[&[f(100.0)], &[f(3.0)]]),
    case("float f(float a) { return dot(float3(a, 2.0, 3.0), float3(4.0, 5.0, a)) + mul(float2x2(1.0, 2.0, 3.0, a), float2(a, 2.0)).y; }", &[&[f(1.5)]]),
    case("float f(float a) { return determinant(float3x3(a, 1.0, 2.0, 3.0, a, 1.0, 2.0, 3.0, a)) + transpose(float2x3(1.0, 2.0, 3.0, a, 5.0, 6.0))[0].y; }", &[&[f(1.5)]]),
];

/// Programs of a compute entry point, with the words of their buffers; two groups run.
pub const DISPATCHES: &[(&str, &[&[u32]])] = &[
    // Threads of a group meet in its memory, which starts with zeros.
    (
        "[numthreads(4, 1, 1)] compute void main(uint i : SV_GroupIndex, uint3 g : SV_GroupID, device uint[] out : register(u0)) {
             threadgroup uint[4] a; threadgroup atomic_uint n; uint old;
             uint before = a[i]; GroupMemoryBarrierWithGroupSync();
             a[i] = i * i + before; InterlockedAdd(&n, i, &old); GroupMemoryBarrierWithGroupSync();
             InterlockedAdd(&n, 0u, &old);
             out[g.x * 4u + i] = a[3u - i] * 100u + old; }",
        &[&[0, 0, 0, 0, 0, 0, 0, 0]],
    ),
    // A structure that takes no memory does not race. Atomics inside structures start with zeros.
    (
        "struct N { } struct A { N n; atomic_int[2] a; float b; }
         [numthreads(4, 1, 1)] compute void main(uint i : SV_GroupIndex, uint3 g : SV_GroupID, device int[] out : register(u0)) {
             threadgroup N n; N m = n; n = m; threadgroup A[2] a; int old; InterlockedAdd(&a[i / 2u].a[1], 5, &old);
             GroupMemoryBarrierWithGroupSync(); if (i == 0u) { InterlockedAdd(&a[1].a[1], 0, &old); out[g.x] = old + int(a[0].b); } }",
        &[&[0, 0]],
    ),
    // Atomics.
    (
        "[numthreads(1, 1, 1)] compute void main(uint3 g : SV_GroupID, constant uint[] given : register(b0), device atomic_uint[] u : register(u0),
                device atomic_int[] s : register(u1), device uint[] out : register(u2)) {
             if (g.x > 0u) return;
             uint x; int y; uint k = given[0];
             InterlockedAdd(&u[0], 3u, &x); out[0] = x; InterlockedAnd(&u[1], k, &x); out[1] = x; InterlockedOr(&u[2], k, &x); out[2] = x;
             InterlockedXor(&u[3], k, &x); out[3] = x; InterlockedMin(&u[4], k, &x); InterlockedMax(&u[5], k, &x); InterlockedExchange(&u[6], k, &x);
             out[4] = x; InterlockedCompareExchange(&u[7], 8u, k, &x); out[5] = x; InterlockedCompareExchange(&u[8], 8u, k, &x); out[6] = x;
             InterlockedMin(&s[0], -3, &y); InterlockedMax(&s[1], -3, &y); InterlockedMin(&s[2], 3, &y); out[7] = uint(y);
             InterlockedXor(&u[9], 6u, &x); InterlockedAnd(&u[9], 12u, &x); InterlockedMax(&u[10], 0xfffffff0u, &x); InterlockedMax(&u[11], 1u, &x); }",
        &[&[10, 1], &[1, 7, 5, 6, 20, 3, 4, 8, 9, 3, 5, 0xfffffff1], &[5, -9i32 as u32, -5i32 as u32], &[0, 0, 0, 0, 0, 0, 0, 0]],
    ),
    // A structure copied from buffer to buffer.
    (
        "struct P { uint a; uint b; } [numthreads(1, 1, 1)] compute void main(uint3 g : SV_GroupID, constant P[] from : register(b0), device P[] to : register(u0)) {
             P p = from[g.x]; to[g.x].a = p.a; to[g.x].b = p.b; P q; q.a = 7u; q.b = 8u; to[g.x + 2u] = q; }",
        &[&[1, 2, 3, 4], &[0, 0, 0, 0, 0, 0, 0, 0]],
    ),
    // Layouts of structures in buffers, bools included.
    (
        "struct I { float2 v; bool b; } struct S { float a; float3 b; I i; float2x3 m; bool2x2 t; bool3 u; uint c; }
         [numthreads(1, 1, 1)] compute void main(uint3 g : SV_GroupID, constant S[] from : register(b0), device S[] to : register(u0), device bool[] truth : register(u1)) {
             to[g.x] = from[1u - g.x]; to[g.x].c += 1u; to[g.x].i.b = !to[g.x].i.b; to[g.x].m[1] = from[g.x].b; to[g.x].t[1][0] = from[g.x].u.y;
             truth[g.x] = from[g.x].t[g.x].x; }",
        &[
            &[
                1, 0, 0, 0, 5, 6, 7, 0, 9, 10, 1, 0, 13, 14, 15, 0, 17, 18, 19, 0, 1, 0, 0, 1, 1, 0, 1, 0, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
                40, 41, 42, 0, 44, 45, 46, 47, 48, 49, 50, 51, 52, 0, 1, 1, 0, 0, 1, 0, 60, 61, 62, 63, 64,
            ],
            &[0; 64],
            &[0, 1],
        ],
    ),
    // Indices beyond the buffer.
    (
        "[numthreads(1, 1, 1)] compute void main(uint3 g : SV_GroupID, constant uint[] given : register(b0), device uint[] out : register(u0)) {
             if (g.x == 1u) { out[given[7]] = given[given[0]] + out.length + given.length; } }",
        &[&[9, 3, 4], &[0, 0]],
    ),
    // Thread numbers in all dimensions, through a structure.
    (
        "struct In { uint3 id : SV_DispatchThreadID; uint3 in : SV_GroupThreadID; }
         [numthreads(2, 2, 1)] compute void main(In a, uint i : SV_GroupIndex, uint3 g : SV_GroupID, device uint4[] out : register(u0, space1)) {
             out[a.id.x + a.id.y * 4u] = uint4(a.id.x * 10u + a.id.y, a.in.x * 10u + a.in.y, i, g.x); }",
        &[&[0; 32]],
    ),
    // Array references and pointers into buffers, passed on with their indices.
    (
        "struct C { uint n; float2 at; }
         void grow(device C* c, device uint[] all, uint i) { c->n += all[i]; all[i] = c->n; c->at.y += float(all.length); }
         [numthreads(1, 1, 1)] compute void main(uint3 g : SV_GroupID, device C[] cs : register(u0), device uint[] all : register(u1)) { grow(&cs[g.x], all, g.x); }",
        &[&[1, 0, 0, 0, 5, 0, 0, 0], &[7, 8, 9]],
    ),
    // Source and module both report a race, and a barrier that some threads miss.
    ("[numthreads(2, 1, 1)] compute void main(uint i : SV_GroupIndex, device uint[] out : register(u0)) { out[0] = i; }", &[&[0]]),
    (
        "[numthreads(2, 1, 1)] compute void main(uint i : SV_GroupIndex, device uint[] out : register(u0)) { if (i == 0u) DeviceMemoryBarrierWithGroupSync(); }",
        &[&[0]],
    ),
];

/// The verdicts of the calls of a case.
pub fn calls<'c>(case: &'c Case, options: &'c Options<'c>) -> impl Iterator<Item = Verdict> + 'c {
    let found = validate(case.text);
    let program = found.program;
    case.arguments.iter().filter_map(move |words| {
        let program = program.as_ref()?;
        let f = FunctionId(program.env.functions.len() as u32 - 1);
        let arguments: Vec<Vec<u32>> = words.iter().map(|&word| vec![word]).collect();
        Some(call_both((program, case.text), f, &arguments, options))
    })
}

/// The verdict of a dispatch over two groups.
pub fn dispatched(text: &str, buffers: &[&[u32]], options: &Options) -> Verdict {
    let program = validate(text).program.expect("valid");
    let entry = entry_of(&program, Stage::Compute([1; 3]), None).expect("an entry point");
    let mut resources = Resource::of(&program, entry).expect("resources");
    for (resource, words) in resources.iter_mut().zip(buffers) {
        resource.fill(words);
    }
    check(&Dispatch { program: &program, text, entry, groups: [2, 1, 1], resources }, options)
}

/// Whether the verdict allows everything that was compared. Some values may be open, and a function
/// may return nothing.
pub fn fine(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Agree | Verdict::Undecided(_)) || matches!(verdict, Verdict::Vacuous(why) if why == "it shows nothing")
}

#[test]
fn every_case_agrees() {
    let options = Options::default();
    let mut wrong = Vec::new();
    for case in CALLS {
        let found = validate(case.text);
        if found.program.is_none() && !case.arguments.is_empty() {
            wrong.push(format!("{}: {:?}", case.text, found.errors));
        }
        for (judged, arguments) in calls(case, &options).zip(case.arguments) {
            if !fine(&judged) {
                wrong.push(format!("{} of {arguments:?}: {judged:?}", case.text));
            }
        }
    }
    for (text, buffers) in DISPATCHES {
        let judged = dispatched(text, buffers, &options);
        let undefined = text.contains("out[0] = i;") || text.contains("if (i == 0u) Device");
        if undefined != matches!(judged, Verdict::Undefined(_)) || !undefined && !fine(&judged) {
            wrong.push(format!("{text}: {judged:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A construct that is not translated is refused by a sentence that names it, with its place in
/// the text.
#[test]
fn what_is_not_translated_is_named() {
    let refused = [("int f(Texture2D<float> t) { return 1; }", "a Texture2D<float> as an argument of the program")];
    for (text, what) in refused {
        let found = validate(text);
        let program = found.program.unwrap_or_else(|| panic!("{text}: {:?}", found.errors));
        let refusal = translate_function(&program, FunctionId(0), &Options::default()).expect_err(text);
        assert!(refusal.to_string().contains(what), "{refusal}");
        assert!(text.get(refusal.span.start as usize..refusal.span.end as usize).is_some_and(|t| !t.is_empty()), "{refusal:?}");
    }
}

/// Functions that the entry point does not reach are not emitted, whatever they contain.
#[test]
fn only_what_is_reached_is_emitted() {
    let entry = "[numthreads(1, 1, 1)] compute void main(device int[] a : register(u0)) { a[0] = 1; }";
    let more = format!(
        "float4 unused(Texture2D<float4> t, sampler s) {{ return Sample(t, s, float2()); }} int other(int x) {{ return x; }} {entry}"
    );
    let words = |text: &str| {
        let program = validate(text).program.expect("valid");
        translate(&program, &program.entry_points[0], &Options::default()).expect("translated").words
    };
    assert_eq!(words(entry), words(&more));
}

/// The witness has each expression's place, its id and the row that made the id. OpLine has each
/// statement's line.
#[test]
fn expressions_have_witnesses_and_statements_have_lines() {
    let text = "int f(int a) {\n    int b = a * 3;\n    return b - 1;\n}";
    let program = validate(text).program.expect("valid");
    let options = Options { witness: true, source: Some(("f.wsl", text)), ..Options::default() };
    let module = translate_function(&program, FunctionId(0), &options).expect("translated");
    let of = |expression: &str| {
        let found = module.witness.iter().find(|w| &text[w.span.start as usize..w.span.end as usize] == expression);
        found.unwrap_or_else(|| panic!("{expression}: {:?}", module.witness)).rule
    };
    assert_eq!(
        [of("a * 3"), of("b - 1"), of("a"), of("3")],
        [Rule::CodegenMultiplyInteger, Rule::CodegenSubtractInteger, Rule::CodegenLoad, Rule::CodegenConstant]
    );
    let assembly = spirv::disassemble(&module.words).expect("words");
    for line in ["OpLine %2 2 5", "OpLine %2 3 5"] {
        assert!(assembly.contains(line), "{assembly}");
    }
    assert!(spirv::Module::load(&module.words).is_ok());
}

/// In a function without entry point, pointers and array references refer to objects: variables
/// whose initial values are scalars of the table, and buffers of their own.
#[test]
fn pointers_of_the_whole_program_have_objects() {
    let runs = |text: &str, buffers: &[&[u32]]| {
        let program = validate(text).program.unwrap_or_else(|| panic!("{text}"));
        let f = FunctionId(program.env.functions.len() as u32 - 1);
        let module = translate_function(&program, f, &Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let buffers: Vec<Buffer> = (0..).zip(buffers).map(|(binding, words)| Buffer { set: 0, binding, bytes: bytes(words) }).collect();
        let Ok(Outcome::Observed(shown)) = spirv::run(&module.words, &module.entry, [1; 3], &buffers) else { panic!("{text}") };
        let words = |bytes: &[u8]| bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        // A buffer that the module does not use is not shown.
        let after = |binding| shown.buffers.iter().find(|b| b.binding == binding).map(|b| &b.bytes);
        buffers.iter().map(|b| words(after(b.binding).unwrap_or(&b.bytes))).collect::<Vec<Vec<u32>>>()
    };
    assert_eq!(runs("int f(int* thread p) { *p += 2; return *p; }", &[&[4], &[0]])[1], [6]);
    assert_eq!(runs("int f(thread int[] p) { return p[9] + int(p.length); }", &[&[4], &[0]])[1], [5]);
    assert_eq!(runs("int* thread f(int a) { int x = a + 1; return &x; }", &[&[4], &[0]])[1], [5]);
    assert_eq!(runs("int f(threadgroup int* p, constant int[] c) { *p += c[1]; return *p; }", &[&[4], &[0], &[10, 20]])[1], [24]);
    // Arrays in a structure in a buffer. One of them changes its type in a loop.
    let text = "struct S { int[3] a; int[20] b; int c; }
        int f(device S* p, int x) { S s = *p; s.b[7] += s.a[1] + x; *p = s; return p->b[7] + p->c; }";
    let before: Vec<u32> = (0..24).collect();
    let shown = runs(text, &[&[5, 0], &[0], &before]);
    let mut after = before;
    after[10] = 16;
    assert_eq!(shown[1..], [vec![39], after]);
    let text = "bool f(device bool[20]* p) { bool[20] q = *p; q[3] = !q[3]; *p = q; return (*p)[3] && !(*p)[4]; }";
    let shown = runs(text, &[&[0], &[0], &[0; 20]]);
    assert_eq!((shown[1][0], shown[2][3], shown[2][4]), (1, 1, 0));
}

/// A specialization constant has its place among the inputs as its SpecId, and its value can
/// be replaced.
#[test]
fn specialization_constants_are_numbered_by_their_places() {
    let text = "fragment float4 f(float a : specialized, float x : attribute(0), bool b : specialized) : SV_Target 0 {
        return float4(a, x, b ? 1.0 : 0.5, 0); }";
    let program = validate(text).program.expect("valid");
    let module = translate(&program, &program.entry_points[0], &Options::default()).expect("translated");
    let ids: Vec<u32> = spirv::spec_constants(&module.words).expect("words").iter().map(|constant| constant.id).collect();
    assert_eq!(ids, [0, 2]);
    let values = [(0, 2.5f32.to_bits()), (2, 1)].map(|(id, bits)| spirv::Specialization { id, bits: bits.into() });
    let words = spirv::specialize(&module.words, &values).expect("they are there");
    let assembly = spirv::disassemble(&words).expect("words");
    assert!(assembly.contains(" 2.5") && !assembly.contains("OpSpecConstant"), "{assembly}");
}

/// Debug information names the source, functions and variables, on request.
#[test]
fn debug_information_names_functions_and_variables() {
    let text = "struct S { int a; float[2] b; }\nint g(int x) { return x; }\nint f(int first) {\n    S second;\n    second.a = first;\n    return g(second.a);\n}";
    let program = validate(text).program.expect("valid");
    let of = |debug| {
        let options = Options { source: Some(("f.wsl", text)), debug, ..Options::default() };
        let module = translate_function(&program, FunctionId(1), &options).expect("translated");
        assert!(spirv::Module::load(&module.words).is_ok());
        spirv::disassemble(&module.words).expect("words")
    };
    let (with, without) = (of(true), of(false));
    for part in ["SPV_KHR_non_semantic_info", "NonSemantic.Shader.DebugInfo.100", "\"second\"", "\"first\"", "\"g\"", "\"S\""] {
        assert!(with.contains(part), "{part} is not in\n{with}");
    }
    assert!(!without.contains("NonSemantic") && without.contains("OpLine"), "{without}");
}

/// Long and deep programs are translated or refused, whatever the size of the stack.
#[test]
fn deep_and_long_programs_end() {
    let texts = [
        format!("int f(int a) {{ return a{}; }}", " + a".repeat(20_000)),
        format!("bool f(bool a) {{ return a{}; }}", " && a".repeat(20_000)),
        format!("int f(int a) {{ return {}a{}; }}", "(".repeat(2_000), ")".repeat(2_000)),
        format!("int f(int a) {{ {} a++; {} return a; }}", "if (a > 1) {".repeat(2_000), "}".repeat(2_000)),
        format!("float f(float a) {{ float4 v; v{} = float4(a, a, a, a); return v.x; }}", ".xyzw".repeat(300)),
        format!("float f(float a) {{ float4 v; v{} = float4(a, a, a, a); return v.x; }}", ".xyzw".repeat(5_000)),
        format!("int f(int a) {{ int[2]{} x; return a; }}", "[2]".repeat(10)),
    ];
    for text in texts {
        let found = validate(&text);
        let start = text.get(..60).unwrap_or(&text);
        let Some(program) = found.program else { panic!("{start}: {:?}", found.errors) };
        match translate_function(&program, FunctionId(0), &Options::default()) {
            Ok(module) => assert!(spirv::Module::load(&module.words).is_ok(), "{start}"),
            Err(refusal) => assert!(refusal.what.contains("words of SPIR-V"), "{start}: {refusal}"),
        }
    }
}
