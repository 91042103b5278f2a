//! Entry points and their resources.

use crate::{accepts, rejects};

#[test]
fn stages() {
    accepts("vertex float4 f(float4 p : attribute(0), uint i : SV_VertexID, uint j : SV_InstanceID) : SV_Position { return p; }");
    accepts(
        "fragment float4 f(float4 p : attribute(0), bool b : SV_IsFrontFace, uint i : SV_SampleIndex, uint c : SV_InnerCoverage) : SV_Target 0 { return p; }",
    );
    accepts(
        "[numthreads(8, 4, 1)] compute void f(uint3 a : SV_DispatchThreadID, uint3 b : SV_GroupID, uint c : SV_GroupIndex, uint3 d : SV_GroupThreadID) { }",
    );
    accepts(
        "struct O { float4 p : SV_Position; float s : PSIZE; float3 c : attribute(0); nointerpolation int i : attribute(1); } vertex O f() { O o; return o; }",
    );
    accepts(
        "struct O { float4 a : SV_Target 0; float4 b : SV_Target 1; float d : SV_Depth; uint c : SV_Coverage; } fragment O f() { O o; return o; }",
    );
    accepts(
        "struct I { float4 p : attribute(0); J j; } struct J { float2 t : attribute(1); } vertex float4 f(I i) : SV_Position { return i.p; }",
    );
    accepts("vertex void f() { } fragment void g() { }");
    rejects("wsl/ep-bucket", "vertex float4 f(float4 p) : SV_Position { return p; }");
    rejects("wsl/ep-bucket", "vertex float4 f(float4 p : attribute(0)) { return p; }");
    rejects("wsl/ep-bucket", "struct I { float4 p; } vertex float4 f(I i) : SV_Position { return i.p; }");
    rejects("wsl/ep-builtin", "vertex float4 f(int i : SV_VertexID) : SV_Position { return float4(); }");
    rejects("wsl/ep-builtin", "vertex void f() : SV_Position { }");
    rejects("wsl/ep-builtin", "struct O { float a : SV_Depth; } fragment O f() : SV_Depth { return O(); }");
    rejects("wsl/ep-builtin", "struct O { float4 p : SV_Position; } struct P { O o : PSIZE; } vertex P f() { return P(); }");
    rejects("wsl/ep-builtin", "struct E { } fragment void f(E e : SV_IsFrontFace) { }");
    rejects("wsl/ep-stage-variable", "struct O { float4 p : SV_Position; } vertex O f() : attribute(0) { return O(); }");
    rejects("wsl/ep-stage-variable", "vertex void f() : attribute(0) { }");
    rejects("wsl/ep-stage-buckets", "[numthreads(1, 1, 1)] compute void f() : SV_Position { }");
    rejects("wsl/ep-stage-buckets", "vertex void f() : register(u0) { }");
    rejects("wsl/ep-bucket", "fragment void f() : SV_Target 4294967296 { }");
    rejects("wsl/ep-resource-type", "struct R { sampler s : register(s0); } vertex void f(R r : register(s0)) { }");
    rejects("wsl/ep-specialized", "struct R { int a : specialized; } vertex void f(R r : specialized) { }");
    accepts("struct O { float a : SV_Depth; } O f(O o : SV_VertexID) : SV_Depth { return o; } void g() : SV_Position { }");
    rejects("wsl/ep-builtin", "vertex float3 f() : SV_Position { return float3(); }");
    rejects("wsl/ep-builtin", "fragment float3 f() : SV_Target 0 { return float3(); }");
    rejects("wsl/ep-builtin", "fragment float4 f() : SV_Position { return float4(); }");
    rejects("wsl/ep-builtin", "fragment float4 f(float4 p : SV_Position) : SV_Target 0 { return p; }");
    rejects("wsl/ep-builtin", "vertex void f(float4 p : SV_Position) { }");
    rejects("wsl/ep-builtin", "[numthreads(1, 1, 1)] compute void f(uint a : SV_DispatchThreadID) { }");
    rejects("wsl/ep-builtin", "[numthreads(1, 1, 1)] compute void f(uint i : SV_VertexID) { }");
    rejects("wsl/ep-stage-buckets", "[numthreads(1, 1, 1)] compute float f() : SV_Depth { return 1; }");
    rejects("wsl/ep-stage-buckets", "[numthreads(1, 1, 1)] compute void f(float x : attribute(0)) { }");
    rejects("wsl/ep-stage-buckets", "[numthreads(1, 1, 1)] compute void f(float x : specialized) { }");
    rejects("wsl/ep-stage-buckets", "fragment float4 f() : attribute(0) { return float4(); }");
    rejects("wsl/ep-stage-buckets", "vertex float f() : specialized { return 1; }");
    rejects("wsl/ep-bucket", "vertex void f(float4 p : attribute(4294967296)) { }");
    rejects("wsl/ep-bucket", "fragment float4 f() : SV_Target 4294967296 { return float4(); }");
    accepts("struct S { float4 p : attribute(4294967296); } void f(S s, float4 p : SV_Target 4294967296) { }");
    rejects("wsl/ep-numthreads", "[numthreads(0, 1, 1)] compute void f() { }");
    rejects("wsl/ep-numthreads", "[numthreads(1, 4294967296, 1)] compute void f() { }");
}

#[test]
fn resources() {
    accepts(
        "fragment float4 f(Texture2D<float4> t : register(t0), sampler s : register(s0), float2 c : attribute(0)) : SV_Target 0 { return Sample(t, s, c); }",
    );
    accepts(
        "[numthreads(1, 1, 1)] compute void f(device float[] b : register(u0), constant int4[] c : register(b0, space1)) { b[0] = 1; }",
    );
    accepts(
        "struct P { float4 a; Q q; } struct Q { int2 b; float3x3 m; } [numthreads(1, 1, 1)] compute void f(device P[] b : register(u0)) { b[3].q.b.x = 2; }",
    );
    accepts("[numthreads(1, 1, 1)] compute void f(device atomic_uint[] b : register(u0)) { }");
    accepts("[numthreads(1, 1, 1)] compute void f(RWTexture2D<float> t : register(u0)) { }");
    rejects("wsl/ep-resource-type", "[numthreads(1, 1, 1)] compute void f(float x : register(b0)) { }");
    rejects("wsl/ep-resource-type", "[numthreads(1, 1, 1)] compute void f(device float* x : register(b0)) { }");
    rejects("wsl/ep-resource-space", "[numthreads(1, 1, 1)] compute void f(thread float[] x : register(b0)) { }");
    rejects("wsl/ep-resource-space", "[numthreads(1, 1, 1)] compute void f(threadgroup float[] x : register(b0)) { }");
    rejects("wsl/ep-slice-element", "[numthreads(1, 1, 1)] compute void f(device float[3][] x : register(b0)) { }");
    rejects("wsl/ep-slice-element", "enum E { A } [numthreads(1, 1, 1)] compute void f(device E[] x : register(b0)) { }");
    rejects("wsl/ep-slice-element", "struct S { int[3] a; } [numthreads(1, 1, 1)] compute void f(device S[] x : register(b0)) { }");
    rejects("wsl/ep-stage-variable", "vertex void f(int[3] a : attribute(0)) { }");
    rejects("wsl/ep-stage-variable", "enum E { A } vertex void f(E a : attribute(0)) { }");
    rejects("wsl/ep-stage-variable", "vertex void f(sampler a : attribute(0)) { }");
    accepts("vertex void f(float4x4 a : attribute(0), bool b : attribute(1), int2 c : attribute(2)) { }");
    accepts("vertex void f(float x : specialized, int y : specialized, bool z : specialized) { }");
    rejects("wsl/ep-specialized", "vertex void f(float2 x : specialized) { }");
}

#[test]
fn same_names() {
    accepts("struct A { float4 p : attribute(0); } struct B { float4 p : attribute(0); } vertex void f(A a, B b) { }");
    rejects("wsl/ep-same-name", "struct A { float4 p : attribute(0); } struct B { float3 p : attribute(0); } vertex void f(A a, B b) { }");
    rejects("wsl/ep-same-name", "struct A { float4 p : attribute(0); } struct B { float4 p : attribute(1); } vertex void f(A a, B b) { }");
    rejects(
        "wsl/ep-same-name",
        "struct A { centroid float4 p : attribute(0); } struct B { float4 p : attribute(0); } fragment void f(A a, B b) { }",
    );
    accepts("struct A { float4 p : attribute(0); } void f(A a, float4 p : attribute(3)) { }");
}

#[test]
fn one_result_of_each_semantic() {
    rejects("wsl/ep-single", "struct O { float4 a : SV_Position; float4 b : SV_Position; } vertex O f() { return O(); }");
    rejects("wsl/ep-single", "struct O { float4 a : SV_Target 1; float4 b : SV_Target 1; } fragment O f() { return O(); }");
    rejects("wsl/ep-single", "struct O { float4 p : SV_Position; } struct P { O a; O b; } vertex P f() { return P(); }");
    rejects(
        "wsl/ep-single",
        "struct O { float4 p : SV_Position; int a : attribute(3); float b : attribute(3); } vertex O f() { return O(); }",
    );
    accepts("struct O { float4 a : SV_Target 1; float4 b : SV_Target 2; } fragment O f() { return O(); }");
    accepts("fragment void f(float4 a : attribute(1), float4 b : attribute(1)) { }");
    rejects("wsl/ep-single", "vertex void f(float a : attribute(0), int b : attribute(0)) { }");
    rejects("wsl/ep-single", "struct I { float a : attribute(0); float2 b : attribute(0); } fragment void f(I i) { }");
    accepts("vertex void f(float a : attribute(0), float b : attribute(0), int c : attribute(1)) { }");
    accepts("void f(float a : attribute(0), int b : attribute(0)) { }");
    accepts("struct O { float4 a : SV_Position; float4 b : SV_Position; } O f() { return O(); }");
    // A structure that flattens to nothing is no output.
    accepts("struct E { } struct F { E e; E d; } [numthreads(1, 1, 1)] compute F f(E e) { return F(); } fragment E g() { return E(); }");
    rejects("wsl/ep-stage-buckets", "struct E { uint3 i : SV_GroupID; } [numthreads(1, 1, 1)] compute E f() { return E(); }");
}

#[test]
fn qualifiers() {
    accepts(
        "struct O { nointerpolation centroid float4 a : attribute(0); noperspective sample float4 b : attribute(1); } vertex O f() { O o; return o; }",
    );
    rejects("wsl/ep-interpolation", "struct O { nointerpolation noperspective float4 a : attribute(0); } vertex O f() { O o; return o; }");
    rejects("wsl/ep-sampling", "fragment void f(centroid sample float4 a : attribute(0)) { }");
    accepts("vertex void f(nointerpolation noperspective float4 a : attribute(0)) { }");
    accepts("struct O { nointerpolation noperspective float4 a; }");
}

#[test]
fn address_spaces_and_functions() {
    accepts("[numthreads(1, 1, 1)] compute void f() { threadgroup int x; GroupMemoryBarrierWithGroupSync(); }");
    rejects("wsl/ep-threadgroup", "vertex void f() { threadgroup int x; }");
    rejects("wsl/ep-threadgroup", "void g() { threadgroup int[3] x; } fragment void f() { g(); }");
    rejects("wsl/ep-threadgroup", "void h(threadgroup int* p) { } void g() { threadgroup int x; h(&x); } fragment void f() { g(); }");
    accepts("void g() { threadgroup int[3] x; } fragment void f() { }");
    rejects("wsl/ep-stage-functions", "vertex void f() { AllMemoryBarrierWithGroupSync(); }");
    rejects("wsl/ep-stage-functions", "void g() { DeviceMemoryBarrierWithGroupSync(); } fragment void f() { g(); }");
    rejects("wsl/ep-stage-functions", "[numthreads(1, 1, 1)] compute void f() { float x = ddx(1.0); }");
    accepts("fragment void f() { float x = ddx(1.0) + fwidth(2.0); }");
    accepts("float g() { return ddx(1.0); } vertex void f() { }");
}
