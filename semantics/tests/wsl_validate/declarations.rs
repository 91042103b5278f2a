//! The global environment.

use crate::{accepts, rejects};

#[test]
fn typedefs() {
    accepts("typedef Foo = int; typedef Bar = Foo[3]; Bar g(Bar b) { return b; }");
    accepts("typedef Later = Earlier; struct Earlier { int x; } int f(Later l) { return l.x; }");
    accepts("typedef V = vector<float, 4>; float4 f(V v) { return v; } V g() { return float4(1, 2, 3, 4); }");
    accepts("typedef V = float4; V f() { return V(1., 2., 3., 4.); }");
    accepts("typedef P = int* thread; int f(P p) { return *p; }");
    accepts("typedef P = thread int*; int f(P p) { return *p; }");
    rejects("wsl/env-typedef-duplicate", "typedef Foo = int; typedef Foo = float;");
    rejects("wsl/env-typedef-duplicate", "struct Foo { int x; } typedef Foo = float;");
    rejects("wsl/env-typedef-duplicate", "typedef int = float;");
    rejects("wsl/env-typedef-duplicate", "typedef Texture2D = float;");
    rejects("wsl/v-type-defined", "typedef Foo = Bar;");
    rejects("wsl/v-depends-cycle", "typedef A = B; typedef B = A;");
    rejects("wsl/v-depends-cycle", "typedef A = A;");
    rejects("wsl/v-depends-cycle", "typedef A = A[5];");
    rejects("wsl/v-depends-cycle", "typedef A = thread A*;");
    rejects("wsl/v-depends-cycle", "struct A { B x; } typedef B = A;");
    rejects("wsl/v-depends-cycle", "struct A { A x; }");
    rejects("wsl/v-depends-cycle", "struct A { A[2] x; }");
    rejects("wsl/v-depends-cycle", "struct A { B x; } struct B { A y; }");
    rejects("wsl/v-void", "typedef A = void;");
    accepts(
        "typedef A = int; int operator A(float x) { return 1; } int f() { return 0; }"
            .replace("int operator A(float x)", "int g(float x)")
            .as_str(),
    );
}

#[test]
fn structures() {
    accepts("struct Foo { } ");
    accepts("struct Foo { int x; float y; } struct Bar { Foo f; Foo[3] g; }");
    accepts("struct Foo { float4 p : SV_Position; nointerpolation float2 t : attribute(1); }");
    rejects("wsl/env-struct-duplicate", "struct Foo { int x; } struct Foo { int y; }");
    rejects("wsl/env-struct-duplicate", "struct float2 { int x; }");
    rejects("wsl/env-struct-fields", "struct Foo { int x; float x; }");
    rejects("wsl/v-type-defined", "struct Foo { Bar x; }");
    rejects("wsl/v-void", "struct Foo { void x; }");
    rejects("wsl/v-field-reference", "struct Foo { int* thread x; }");
    rejects("wsl/v-field-reference", "struct Foo { device int[] x; }");
    rejects("wsl/v-field-reference", "typedef P = device int*; struct Foo { P x; }");
    rejects("wsl/v-element-reference", "struct Foo { int* thread[4] x; }");
    rejects("wsl/v-element-reference", "void f(int[] device[4] x) { }");
    rejects("wsl/v-element-reference", "typedef P = device int*; void f(P[2] x) { }");
}

#[test]
fn types() {
    accepts("void f(vector<int, 2> a, vector<bool, 3> b, vector<uint, 4> c, matrix<float, 2, 3> d, matrix<bool, 4, 4> e) { }");
    accepts("void f(vector<float, 4> a, float4 b) { a = b; }");
    accepts("void f(matrix<float, 4, 3> a, float4x3 b) { a = b; }");
    accepts(
        "void f(Texture2D<float4> a, Texture2D b, Texture1D<int> c, TextureDepth2D<float> d, TextureDepthCube e, RWTexture3D<uint2> g, sampler s) { }",
    );
    accepts("void f(device atomic_int* a, threadgroup atomic_uint* b) { }");
    rejects("wsl/v-type-defined", "void f(Foo x) { }");
    rejects("wsl/v-type-defined", "Foo f() { return 1; }");
    rejects("wsl/v-type-defined", "void f() { Foo x; }");
    rejects("wsl/v-type-defined", "void f(vector<float, 5> x) { }");
    rejects("wsl/v-type-defined", "void f(vector<float, 1> x) { }");
    rejects("wsl/v-type-defined", "void f(vector<float> x) { }");
    rejects("wsl/v-type-defined", "void f(vector x) { }");
    rejects("wsl/v-type-defined", "void f(vector<float4, 2> x) { }");
    rejects("wsl/v-type-defined", "void f(matrix<int, 2, 2> x) { }");
    rejects("wsl/v-type-defined", "void f(Texture2D<bool> x) { }");
    rejects("wsl/v-type-defined", "void f(Texture2D<float2x2> x) { }");
    rejects("wsl/v-type-defined", "void f(TextureDepth2D<float4> x) { }");
    rejects("wsl/v-type-defined", "void f(int<4> x) { }");
    rejects("wsl/v-type-defined", "struct S { int x; } void f(S<int> x) { }");
    rejects("wsl/v-type-defined", "void f(double x) { }");
    rejects("wsl/v-type-defined", "void f(Texture2DMS<float4> x) { }");
    rejects("wsl/v-void", "void f(void x) { }");
    rejects("wsl/v-void", "void f() { void x; }");
    rejects("wsl/v-void-composite", "void f(void* thread x) { }");
    rejects("wsl/v-void-composite", "void[] device f() { }");
    rejects("wsl/v-void-composite", "void f() { void[4] x; }");
    rejects("wsl/v-array-size", "void f(int[0] x) { }");
    rejects("wsl/v-array-size", "void f(int[4294967296] x) { }");
    accepts("void f(int[4294967295] x) { }");
    accepts("void f(int[0x10] x, int[3u] y) { }");
    accepts("uint f() { float[10][5] a; return a.length + a[0].length; }");
    accepts("float[10] g(float[10][5] a) { return a[4]; }");
    rejects("wsl/v-element-opaque", "void f(sampler[2] s) { }");
    rejects("wsl/v-element-opaque", "void f(Texture2D<float4>[2] s) { }");
    rejects("wsl/v-element-opaque", "struct S { sampler s; } void f(S[2] s) { }");
    rejects("wsl/v-element-opaque", "struct T { S[2] x; } struct S { sampler s; }");
}

#[test]
fn enums() {
    accepts("enum E { A }");
    accepts("enum E : int { A, B, C } enum F : uint { X = 0u, Y = 4294967295 }");
    accepts("typedef I = uint; enum E : I { A, B }");
    accepts("enum E { A = -5, B, C = 0, D = 0x7fffffff }");
    accepts("enum E { B = 5, A = 0 } E f() { return E.B; }");
    rejects("wsl/env-enum-duplicate", "enum E { A } enum E { B }");
    rejects("wsl/env-enum-duplicate", "struct E { int x; } enum E { B }");
    rejects("wsl/env-enum-base", "enum E : float { A }");
    rejects("wsl/env-enum-base", "enum E : bool { A }");
    rejects("wsl/env-enum-base", "struct S { int x; } enum E : S { A }");
    rejects("wsl/env-enum-zero", "enum E { A = 1 }");
    rejects("wsl/env-enum-zero", "enum E { A = 1, B, C }");
    rejects("wsl/env-enum-distinct", "enum E { A, B = 0 }");
    rejects("wsl/env-enum-distinct", "enum E { A, B = -1, C }");
    rejects("wsl/env-enum-range", "enum E { A, B = 2147483648 }");
    rejects("wsl/env-enum-range", "enum E { A, B = 2147483647, C }");
    rejects("wsl/env-enum-range", "enum E : uint { A, B = -1 }");
    rejects("wsl/env-enum-range", "enum E : uint { A, B = 4294967295, C }");
    rejects("wsl/env-enum-value-explicit", "enum E { A, B = 1.5 }");
    rejects("wsl/env-enum-value-explicit", "enum E { A, B = true }");
    rejects("wsl/env-enum-elements", "enum E { A, A }");
}

#[test]
fn accessors() {
    let s = "struct S { int a; }";
    accepts(&format!("{s} int operator.b(S s) {{ return s.a; }}"));
    accepts(&format!(
        "{s} int operator.b(S s) {{ return s.a; }} S operator.b=(S s, int v) {{ s.a = v; return s; }} void f(S s) {{ s.b = 3; }}"
    ));
    accepts(&format!("{s} thread int* operator&.b(thread S* s) {{ return &s->a; }} int f(S s) {{ s.b = 4; return s.b + *&s.b; }}"));
    accepts(&format!("{s} device int* operator&.b(device S* s) {{ return &s->a; }} int f(device S* s) {{ s->b = 4; return s->b; }}"));
    accepts(&format!("{s} int operator[](S s, uint i) {{ return s.a; }} int f(S s) {{ return s[3]; }}"));
    accepts(&format!("{s} int operator[](S s, int i) {{ return s.a; }}"));
    accepts(&format!(
        "{s} int operator[](S s, uint i) {{ return 1; }} S operator[]=(S s, uint i, int v) {{ return s; }} void f(S s) {{ s[3] = 4; s[2] += 1; }}"
    ));
    accepts(&format!("{s} thread int* operator&[](thread S* s, uint i) {{ return &s->a; }} int f(S s) {{ s[1] = 4; return s[3]; }}"));
    rejects("wsl/env-getter", &format!("{s} int operator.b(S s, int i) {{ return 1; }}"));
    rejects("wsl/env-getter", &format!("{s} int operator.b() {{ return 1; }}"));
    rejects("wsl/env-getter", &format!("{s} int operator.b(thread S* s) {{ return 1; }}"));
    rejects("wsl/env-getter", &format!("{s} int operator.b(S[3] s) {{ return 1; }}"));
    rejects("wsl/env-getter", &format!("{s} int operator.b(device S[] s) {{ return 1; }}"));
    rejects("wsl/env-setter", &format!("{s} S operator.b=(S s) {{ return s; }}"));
    rejects("wsl/env-setter", &format!("{s} int operator.b(S s) {{ return 1; }} int operator.b=(S s, int v) {{ return v; }}"));
    rejects("wsl/env-address-taker", &format!("{s} int operator&.b(thread S* s) {{ return 1; }}"));
    rejects("wsl/env-address-taker", &format!("{s} thread int* operator&.b(S s) {{ return &s.a; }}"));
    rejects("wsl/env-address-taker", &format!("{s} thread int* operator&.b(thread S* s, int i) {{ return &s->a; }}"));
    rejects(
        "wsl/env-address-taker",
        &format!("{s} device int* operator&.b(thread S* s, device int* p) {{ return p; }}")
            .replace(", device int* p", "")
            .replace("return p;", "trap();")
            .replace("trap();", "for (;;) { } "),
    );
    rejects("wsl/env-index-getter", &format!("{s} int operator[](S s) {{ return 1; }}"));
    rejects("wsl/env-index-getter", &format!("{s} int operator[](S s, float i) {{ return 1; }}"));
    rejects("wsl/env-index-getter", &format!("{s} int operator[](int[3] s, uint i) {{ return 1; }}"));
    rejects("wsl/env-index-setter", &format!("{s} int operator[](S s, uint i) {{ return 1; }} S operator[]=(S s, uint i) {{ return s; }}"));
    rejects(
        "wsl/env-index-setter",
        &format!("{s} int operator[](S s, uint i) {{ return 1; }} S operator[]=(S s, bool i, int v) {{ return s; }}"),
    );
    rejects("wsl/env-index-address-taker", &format!("{s} int operator&[](thread S* s, uint i) {{ return 1; }}"));
    rejects("wsl/env-index-address-taker", &format!("{s} thread int* operator&[](thread int[4]* s, uint i) {{ return &(*s)[0]; }}"));
    rejects("wsl/env-index-address-taker", &format!("{s} thread int* operator&[](thread S* s, float i) {{ return &s->a; }}"));
    rejects("wsl/v-setter-getter", &format!("{s} S operator.b=(S s, int v) {{ return s; }}"));
    rejects("wsl/v-setter-getter", &format!("{s} float operator.b(S s) {{ return 1; }} S operator.b=(S s, int v) {{ return s; }}"));
    rejects("wsl/v-index-setter-getter", &format!("{s} S operator[]=(S s, uint i, int v) {{ return s; }}"));
    rejects(
        "wsl/v-index-setter-getter",
        &format!("{s} int operator[](S s, int i) {{ return 1; }} S operator[]=(S s, uint i, int v) {{ return s; }}"),
    );
    rejects(
        "wsl/v-index-setter-getter",
        &format!("{s} float operator[](S s, uint i) {{ return 1; }} S operator[]=(S s, uint i, int v) {{ return s; }}"),
    );
    accepts(&format!("{s} int operator[](S s, int i) {{ return 1; }} S operator[]=(S s, int i, int v) {{ return s; }}"));
}

#[test]
fn other_operators() {
    let s = "struct S { int a; }";
    accepts(&format!("{s} S operator++(S s) {{ s.a++; return s; }} S operator--(S s) {{ --s.a; return s; }} void f(S s) {{ s++; --s; }}"));
    accepts(&format!(
        "{s} S operator+(S s) {{ return s; }} S operator+(S s, S t) {{ return s; }} S operator-(S s, int t) {{ return s; }} S f(S s) {{ s += s; s -= 3; return +s + s - 4; }}"
    ));
    accepts(&format!("{s} int operator==(S s, S t) {{ return 1; }} int f(S s) {{ return s == s; }}"));
    accepts(&format!("{s} bool operator!=(S s, S t) {{ return true; }} bool f(S s) {{ return s != s; }}"));
    accepts(&format!(
        "{s} S operator~(S s) {{ return s; }} S f(S s) {{ return ~s; }} bool operator!(S s) {{ return true; }} bool g(S s) {{ return !s; }}"
    ));
    accepts(&format!(
        "{s} S operator%(S s, float x) {{ return s; }} S operator<<(S s, S t) {{ return s; }} S f(S s) {{ s <<= s; return s % 1.0 << s; }}"
    ));
    accepts(&format!("{s} operator int(S s) {{ return s.a; }} int f(S s) {{ return int(s); }}"));
    accepts(&format!(
        "{s} operator S(int a, int b) {{ S s; return s; }} S f() {{ return S(1, 2); }} S g() {{ return S(); }} S h(S s) {{ return S(s); }}"
    ));
    rejects("wsl/env-step", &format!("{s} int operator++(S s) {{ return 1; }}"));
    rejects("wsl/env-step", &format!("{s} S operator--(S s, S t) {{ return s; }}"));
    rejects("wsl/env-plus-minus", &format!("{s} S operator+() {{ S s; return s; }}"));
    rejects("wsl/env-plus-minus", &format!("{s} S operator-(S s, S t, S u) {{ return s; }}"));
    rejects("wsl/env-binary", &format!("{s} S operator*(S s) {{ return s; }}"));
    rejects("wsl/env-binary", &format!("{s} bool operator==(S s, S t, S u) {{ return true; }}"));
    rejects("wsl/env-binary", &format!("{s} S operator>>(S s) {{ return s; }}"));
    rejects("wsl/env-complement", &format!("{s} S operator~(S s, S t) {{ return s; }}"));
}

#[test]
fn duplicates() {
    accepts("void f(int x) { } void f(uint x) { } void f(int x, int y) { } int g(int x) { return x; }");
    rejects("wsl/v-function-duplicate", "void f(int x) { } int f(int y) { return y; }");
    rejects("wsl/v-function-duplicate", "typedef I = int; void f(int x) { } void f(I y) { }");
    rejects("wsl/v-function-duplicate", "void f(vector<float, 2> x) { } void f(float2 y) { }");
    rejects("wsl/v-function-duplicate", "int operator+(int a, int b) { return a; }");
    rejects("wsl/v-function-duplicate", "float sin(float x) { return x; }");
    rejects("wsl/v-function-duplicate", "float4 operator*(float4 a, float b) { return a; }");
    accepts("float sin(int x) { return 1; }");
    rejects("wsl/v-function-duplicate", "operator int(float x) { return 1; }");
    rejects("wsl/v-function-duplicate", "struct S { int a; } operator S() { S s; return s; }");
    rejects("wsl/v-function-duplicate", "struct S { int a; } operator int(S s) { return 1; } operator int(S s) { return 2; }");
    rejects("wsl/v-function-duplicate", "struct S { int a; } int operator.a(S s) { return 1; }");
    rejects("wsl/v-function-duplicate", "struct S { int a; } S operator.a=(S s, int v) { return s; }");
    rejects("wsl/v-function-duplicate", "struct S { int a; int c; } thread int* operator&.a(thread S* s) { return &s->c; }");
    rejects(
        "wsl/v-function-duplicate",
        "struct S { int a; } thread int* operator&.b(thread S* s) { return &s->a; } int operator.b(S s) { return 1; }",
    );
    rejects("wsl/v-function-duplicate", "float operator.x(float4 v) { return 1; }");
    rejects("wsl/v-function-duplicate", "float2 operator.yx(float2 v) { return v; }");
    rejects("wsl/v-function-duplicate", "float operator[](float2 v, uint i) { return 1; }");
    accepts("float operator.foo(float4 v) { return v.x; } float f(float4 v) { return v.foo; }");
    rejects(
        "wsl/v-function-duplicate",
        "vertex float4 f(float4 p : attribute(0)) : SV_Position { return p; } fragment float4 f(float4 p : attribute(0)) : SV_Target 0 { return p; }",
    );
    accepts("enum E { A } bool operator<(E a, E b) { return true; } bool f() { return E.A < E.A; }");
    rejects("wsl/v-function-duplicate", "enum E { A } bool operator==(E a, E b) { return true; }");
}
