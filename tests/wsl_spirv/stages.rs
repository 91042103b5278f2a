//! Vertex and fragment entry points: what draws show, computed by hand, and how stages that do not
//! fit are refused.

use rspirv::spirv::{BuiltIn, Decoration};
use smallstep::compile::wsl::{Options, translate, translate_draw};
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::check_draw;
use smallstep_semantics::image::Compare;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Attribute, Draw, Ending, Shown, Vertices, resources};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage, entry_of};
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// A program, drawn on 4 by 4 pixels. It has one fragment entry point, and one vertex entry point
/// or none.
pub struct Case {
    pub text: &'static str,
    /// Attributes of floats: number and values.
    pub floats: &'static [(u32, &'static [f32])],
    /// Other attributes: number, scalar type and bits.
    pub others: &'static [(u32, Scalar, &'static [u32])],
    pub depth: Option<Compare>,
    /// Buffers: register and initial words.
    pub buffers: &'static [(&'static str, &'static [u32])],
    /// Expected texels: target, pixel (x, y) and the four components.
    pub shows: &'static [(u32, (usize, usize), [f32; 4])],
    /// Expected final words of buffers: register and words.
    pub leaves: &'static [(&'static str, &'static [u32])],
    /// Expected depths: pixel (x, y) and depth.
    pub depths: &'static [((usize, usize), f32)],
}

const CASE: Case = Case { text: "", floats: &[], others: &[], depth: None, buffers: &[], shows: &[], leaves: &[], depths: &[] };

/// A triangle that covers the whole screen.
const SCREEN: &[f32] = &[-1.0, 1.0, -1.0, -3.0, 3.0, 1.0];

/// The cases. Each tests some rows of the mapping.
pub const CASES: &[Case] = &[
    // y = 1 is the upper edge. A triangle in the upper left quarter covers pixels there.
    Case {
        text: "vertex float4 v(float2 p : attribute(0)) : SV_Position { return float4(p, 0.0, 1.0); }
               fragment float4 f() : SV_Target 0 { return float4(1.0, 2.0, 3.0, 4.0); }",
        floats: &[(0, &[-1.0, 1.0, -1.0, -0.9, 0.9, 1.0])],
        shows: &[(0, (0, 0), [1.0, 2.0, 3.0, 4.0]), (0, (3, 3), [0.0; 4]), (0, (0, 3), [0.0; 4])],
        ..CASE
    },
    // Depth is (z / w + 1) / 2: z = 0 is 0.5, and anything behind it fails the test.
    Case {
        text: "struct B { float4 p : SV_Position; float c : attribute(0); }
               vertex B v(float3 p : attribute(0), uint i : SV_VertexID) { B b; b.p = float4(p.xy, p.z, 1.0); b.c = float(i / 3u + 1u); return b; }
               fragment float4 f(float c : attribute(0)) : SV_Target 0 { return float4(c, c, c, c); }",
        floats: &[(0, &[
            -1.0, 1.0, 0.0, -1.0, -3.0, 0.0, 3.0, 1.0, 0.0, //
            -1.0, 1.0, 0.5, -1.0, -3.0, 0.5, 3.0, 1.0, 0.5,
        ])],
        depth: Some(Compare::Less),
        shows: &[(0, (1, 1), [1.0; 4]), (0, (3, 3), [1.0; 4])],
        depths: &[((0, 0), 0.5), ((3, 3), 0.5)],
        ..CASE
    },
    // SV_Depth replaces the depth, clamped to 0 and 1.
    Case {
        text: "struct B { float4 p : SV_Position; float at : attribute(0); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.at = p.x; return b; }
               struct O { float4 c : SV_Target 0; float d : SV_Depth; }
               fragment O f(float at : attribute(0)) { O o; o.c = float4(1.0, 1.0, 1.0, 1.0); o.d = at * 0.5; return o; }",
        floats: &[(0, SCREEN)],
        depth: Some(Compare::Always),
        shows: &[(0, (1, 1), [1.0; 4])],
        depths: &[((2, 1), 0.125), ((3, 3), 0.375)],
        ..CASE
    },
    // Numbers of vertices and instances. A flat variable has the value of the first vertex.
    Case {
        text: "struct B { float4 p : SV_Position; nointerpolation uint3 n : attribute(5); }
               vertex B v(float2 p : attribute(0), uint i : SV_VertexID, uint k : SV_InstanceID) {
                   B b; b.p = float4(p, 0.0, 1.0); b.n = uint3(i + 7u, k, 40u); return b; }
               fragment float4 f(nointerpolation uint3 n : attribute(5)) : SV_Target 0 { return float4(float(n.x), float(n.y), float(n.z), 1.0); }",
        floats: &[(0, SCREEN)],
        shows: &[(0, (2, 2), [7.0, 0.0, 40.0, 1.0])],
        ..CASE
    },
    // A matrix takes one location per column, and the next variable comes behind it. Bools are 0
    // or 1.
    Case {
        text: "struct B { float4 p : SV_Position; float2x3 m : attribute(0); nointerpolation bool2x2 b : attribute(1); noperspective float z : attribute(2); }
               vertex B v(float2 p : attribute(2), float3x2 m : attribute(0), bool2 q : attribute(1)) {
                   B b; b.p = float4(p, 0.0, 2.0); b.p.xy *= 2.0; b.m = float2x3(m[0].x, m[0].y, m[1].x, m[1].y, m[2].x, m[2].y);
                   b.b[0] = q; b.b[1] = q.yx; b.z = 5.0; return b; }
               fragment float4 f(float2x3 m : attribute(0), nointerpolation bool2x2 b : attribute(1), noperspective float z : attribute(2)) : SV_Target 0 {
                   return float4(m[0].z, m[1].z, float(b[0].x) + 2.0 * float(b[0].y) + 4.0 * float(b[1].x) + 8.0 * float(b[1].y), z); }",
        floats: &[(2, SCREEN), (0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        others: &[(1, Scalar::Bool, &[1, 0, 1, 0, 1, 0])],
        shows: &[(0, (1, 2), [3.0, 6.0, 9.0, 5.0])],
        ..CASE
    },
    // An input that no vertex stage writes is zero.
    Case {
        text: "vertex float4 v(float2 p : attribute(0)) : SV_Position { return float4(p, 0.0, 1.0); }
               fragment float4 f(float3 none : attribute(0), nointerpolation int2 zero : attribute(40)) : SV_Target 1 {
                   return float4(none.x + 1.0, none.z + 2.0, float(zero.y) + 3.0, 4.0); }",
        floats: &[(0, SCREEN)],
        shows: &[(1, (3, 0), [1.0, 2.0, 3.0, 4.0])],
        ..CASE
    },
    // One triangle turns counter-clockwise on the screen, the other clockwise.
    Case {
        text: "vertex float4 v(float2 p : attribute(0)) : SV_Position { return float4(p * 1.01, 0.0, 1.0); }
               fragment float4 f(bool front : SV_IsFrontFace) : SV_Target 0 { return front ? float4(1.0, 0.0, 0.0, 1.0) : float4(0.0, 1.0, 0.0, 1.0); }",
        floats: &[(0, &[-1.0, 1.0, -1.0, -0.9, 0.9, 1.0, 1.0, -1.0, -0.9, -1.0, 1.0, 0.9])],
        shows: &[(0, (0, 0), [1.0, 0.0, 0.0, 1.0]), (0, (3, 3), [0.0, 1.0, 0.0, 1.0])],
        ..CASE
    },
    // A flat variable of floats has the value of the first vertex. It is not interpolated.
    Case {
        text: "struct B { float4 p : SV_Position; nointerpolation float n : attribute(0); noperspective float2 m : attribute(1); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.n = p.x; b.m = p; return b; }
               fragment float4 f(nointerpolation float n : attribute(0), noperspective float2 m : attribute(1)) : SV_Target 0 { return float4(n, m, 0.0); }",
        floats: &[(0, SCREEN)],
        shows: &[(0, (0, 0), [-1.0, -0.75, 0.75, 0.0]), (0, (3, 2), [-1.0, 0.75, -0.25, 0.0])],
        ..CASE
    },
    // Functions that return a pointer or an array reference, but only discard.
    Case {
        text: "struct B { float4 p : SV_Position; float2 at : attribute(0); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.at = p; return b; }
               thread float[] none() { discard; }
               thread float* nothing() { discard; }
               thread int** far() { discard; }
               fragment float4 f(float2 at : attribute(0)) : SV_Target 0 {
                   if (at.x < 0.0) { thread float[] r = none(); r[1] = 2.0; return float4(r[0], 0.0, 0.0, 0.0); }
                   if (at.y > 0.5) { *nothing() = 3.0; }
                   if (at.y > 0.0) { **far() = 3; }
                   return float4(1.0, 2.0, 3.0, 4.0);
               }",
        floats: &[(0, SCREEN)],
        shows: &[(0, (0, 3), [0.0; 4]), (0, (3, 0), [0.0; 4]), (0, (3, 3), [1.0, 2.0, 3.0, 4.0])],
        ..CASE
    },
    // A discarded fragment has no effect: on no target, on no depth, and no store after
    // the discard.
    Case {
        text: "struct B { float4 p : SV_Position; float2 at : attribute(0); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.at = p; return b; }
               void drop(float x) { if (x > 0.0) { discard; } }
               fragment float4 f(float2 at : attribute(0), device atomic_uint[] n : register(u0)) : SV_Target 0 {
                   drop(at.x); uint old; InterlockedAdd(&n[0], 1u, &old); return float4(9.0, 9.0, 9.0, 9.0); }",
        floats: &[(0, SCREEN)],
        depth: Some(Compare::LessOrEqual),
        buffers: &[("u0", &[100])],
        shows: &[(0, (1, 1), [9.0; 4]), (0, (2, 1), [0.0; 4])],
        leaves: &[("u0", &[108])],
        depths: &[((0, 0), 0.5), ((3, 0), 1.0)],
        ..CASE
    },
    // Two of the quads have three helpers each. A helper's atomic reads a number, on which it may
    // branch.
    Case {
        text: "vertex float4 v(float2 p : attribute(0)) : SV_Position { return float4(p, 0.0, 1.0); }
               fragment float4 f(device atomic_uint[] n : register(u0), device uint[] nodes : register(u1)) : SV_Target 0 {
                   uint slot; InterlockedAdd(&n[0], 1u, &slot); if (slot >= 3u) discard; nodes[slot] = 7u; return float4(9.0, 9.0, 9.0, 9.0); }",
        floats: &[(0, &[-1.0, 1.0, -1.0, -0.9, 0.9, 1.0])],
        buffers: &[("u0", &[0]), ("u1", &[0, 0, 0, 0, 0])],
        shows: &[(0, (3, 3), [0.0; 4])],
        leaves: &[("u0", &[6]), ("u1", &[7, 7, 7, 0, 0])],
        ..CASE
    },
    // The same of ints, in functions, conditions, both parts of a loop, after a discard and beside
    // an SV_Coverage.
    Case {
        text: "vertex float4 v(float2 p : attribute(0)) : SV_Position { return float4(p, 0.0, 1.0); }
               int take(device atomic_int* n, int by) { int old; InterlockedAdd(n, by, &old); return old; }
               struct O { float4 c : SV_Target 0; uint m : SV_Coverage; }
               fragment O f(device atomic_int[] n : register(u0), device atomic_uint[] k : register(u1)) {
                   O o; o.m = 1u; uint first; InterlockedCompareExchange(&k[0], 0u, 1u, &first);
                   if (first == 1u && take(&n[1], 1) < -100) discard;
                   for (int i = take(&n[0], 1) < -100 ? 2 : 0; i < 2 && take(&n[0], 1) >= 0; i += take(&n[2], 2) < -100 ? 2 : 1) { o.c.x += 1.0; }
                   if (first == 5u) { discard; }
                   InterlockedMax(&k[1], 8u, &first); o.c.y = float(first | 8u); return o; }",
        floats: &[(0, &[-1.0, 1.0, -1.0, -0.9, 0.9, 1.0])],
        buffers: &[("u0", &[0, 0, 0]), ("u1", &[0, 0])],
        shows: &[(0, (0, 0), [2.0, 8.0, 0.0, 0.0]), (0, (0, 2), [2.0, 8.0, 0.0, 0.0]), (0, (3, 3), [0.0; 4])],
        leaves: &[("u0", &[18, 5, 24]), ("u1", &[1, 8])],
        ..CASE
    },
    // A coverage without bit 0 leaves the pixel unchanged.
    Case {
        text: "struct B { float4 p : SV_Position; float2 at : attribute(0); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.at = p; return b; }
               struct O { float4 c : SV_Target 0; uint m : SV_Coverage; }
               fragment O f(float2 at : attribute(0), uint s : SV_SampleIndex, uint i : SV_InnerCoverage) {
                   O o; o.c = float4(1.0, float(s), 1.0, float(i & 0u)); o.m = at.y > 0.0 ? 0xfffffffeu : 3u; return o; }",
        floats: &[(0, SCREEN)],
        shows: &[(0, (1, 1), [0.0; 4]), (0, (1, 2), [1.0, 0.0, 1.0, 0.0])],
        ..CASE
    },
    // Derivatives: x grows by a half per pixel, and y decreases by one per pixel downwards.
    Case {
        text: "struct B { float4 p : SV_Position; float2 at : attribute(0); }
               vertex B v(float2 p : attribute(0)) { B b; b.p = float4(p, 0.0, 1.0); b.at = float2(p.x, p.y * 2.0); return b; }
               fragment float4 f(float2 at : attribute(0)) : SV_Target 0 {
                   return float4(ddx(at.x), ddy_fine(at).y, fwidth_coarse(at.x + at.y), ddx_fine(at.x * 4.0) + ddy_coarse(at.x) + ddy(at.x) + ddx_coarse(at.y) + fwidth(0.0) + fwidth_fine(2.0)); }",
        floats: &[(0, SCREEN)],
        shows: &[(0, (0, 0), [0.5, -1.0, 1.5, 2.0]), (0, (3, 2), [0.5, -1.0, 1.5, 2.0])],
        ..CASE
    },
    // The vertex stage stores to one buffer. Both stages read another buffer.
    Case {
        text: "struct B { float4 p : SV_Position; float size : PSIZE; }
               vertex B v(float2 p : attribute(0), uint i : SV_VertexID, device uint[] out : register(u3), constant float4[] tint : register(t0)) {
                   out[i] = i * 10u + uint(tint[1].w); B b; b.p = float4(p, 0.0, 1.0); b.size = 2.0; return b; }
               fragment float4 f(constant float4[] colour : register(t0)) : SV_Target 0 { return colour[1]; }",
        floats: &[(0, SCREEN)],
        buffers: &[("u3", &[7, 7, 7, 7]), ("t0", &[0, 0, 0, 0, 0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4080_0000])],
        shows: &[(0, (2, 1), [1.0, 2.0, 3.0, 4.0])],
        leaves: &[("u3", &[4, 14, 24, 7])],
        ..CASE
    },
    // Attributes and results of structures are flattened in order. Both stages have an
    // early return.
    Case {
        text: "struct I { float2 a : attribute(1); float2 b : attribute(0); } struct J { I i; float c : attribute(2); }
               struct B { float4 p : SV_Position; float v : attribute(0); } struct C { float4 c : SV_Target 1; float4 d : SV_Target 0; }
               vertex B v(J j) { B b; b.p = float4(j.i.b, 0.0, 1.0); b.v = j.i.a.y + j.c; if (j.c > 0.0) { return b; } b.v = 100.0; return b; }
               fragment C f(float v : attribute(0)) { C c; c.c = float4(v, v, v, v); if (v > 1.0) { return c; } c.d = c.c; return c; }",
        floats: &[(0, SCREEN), (1, &[0.0, 2.0, 0.0, 2.0, 0.0, 2.0]), (2, &[0.5, 0.5, 0.5])],
        shows: &[(1, (1, 1), [2.5; 4]), (0, (1, 1), [0.0; 4])],
        ..CASE
    },
];

fn entries(program: &Program) -> (Option<&EntryPoint>, &EntryPoint) {
    let vertex = entry_of(program, Stage::Vertex, None).ok();
    (vertex, entry_of(program, Stage::Fragment, None).expect("a fragment entry point"))
}

/// The draw of a case.
fn draw<'p>(program: &'p Program, case: &'p Case) -> Draw<'p> {
    let (vertex, fragment) = entries(program);
    let mut attributes: Vec<Attribute> = Vec::new();
    for (number, floats) in case.floats {
        attributes.push(Attribute { number: *number, scalar: Scalar::Float, words: floats.iter().map(|x| x.to_bits()).collect() });
    }
    for (number, scalar, words) in case.others {
        attributes.push(Attribute { number: *number, scalar: *scalar, words: words.to_vec() });
    }
    let each = |number: u32| {
        let item =
            vertex.expect("a vertex entry point").inputs.iter().find(
                |item| matches!(item.semantic, Some((smallstep_semantics::wsl::environment::Semantic::Attribute(n), _)) if n == number),
            );
        use smallstep_semantics::wsl::types::Type;
        match program.env.types.get(item.expect("the vertex entry point takes it").ty) {
            Type::Vector(_, n) => usize::from(n),
            Type::Matrix(_, n, m) => usize::from(n) * usize::from(m),
            _ => 1,
        }
    };
    let count = attributes.first().map_or(3, |a| a.words.len() / each(a.number));
    let entry = vertex.expect("a vertex entry point");
    let mut bound = resources(program, vertex, fragment).expect("resources");
    for resource in &mut bound {
        let (_, words) = case.buffers.iter().find(|(register, _)| *register == resource.register).expect("it is given");
        resource.fill(words);
    }
    Draw {
        program,
        text: case.text,
        vertices: Vertices::Shaded { entry, count: count as u32, instances: 1, attributes },
        fragment,
        size: [4, 4],
        depth: case.depth,
        resources: bound,
        specialization: Specialization::default(),
    }
}

/// The verdict of a case.
pub fn drawn(case: &Case, options: &Options) -> Verdict {
    let program = validate(case.text).program.unwrap_or_else(|| panic!("{}", case.text));
    check_draw(&draw(&program, case), options)
}

fn shown(draw: &Draw) -> Box<Shown> {
    match draw.run(&Settings { strategy: Strategy::First, ..Settings::default() }) {
        Ending::Shown(shown) => shown,
        other => panic!("{other:?}"),
    }
}

/// WSL's relation shows the values computed by hand, and the modules show the same.
#[test]
fn every_case_shows_what_was_worked_out() {
    for case in CASES {
        let program = validate(case.text).program.unwrap_or_else(|| panic!("{}", case.text));
        let draw = draw(&program, case);
        if case.shows.is_empty() {
            continue;
        }
        let shown = shown(&draw);
        for &(number, (x, y), texel) in case.shows {
            let target = shown.targets.iter().find(|t| t.number == number).unwrap_or_else(|| panic!("no target {number}: {}", case.text));
            let found = target.texels[y * 4 + x].each_ref().map(|c| c.only().map(f32::from_bits));
            assert_eq!(found, texel.map(Some), "target {number} at ({x}, {y}): {}", case.text);
        }
        for &((x, y), depth) in case.depths {
            let found = shown.depth.as_ref().expect("a depth attachment")[y * 4 + x].value;
            assert_eq!(found, f64::from(depth), "the depth at ({x}, {y}): {}", case.text);
        }
        for (register, words) in case.leaves {
            let at = draw.resources.iter().position(|r| r.register == *register).expect("it is bound");
            let found: Vec<Option<u32>> = shown.buffers[at].iter().map(|word| word.only()).collect();
            assert_eq!(found, words.iter().map(|&w| Some(w)).collect::<Vec<_>>(), "{register}: {}", case.text);
        }
        let judged = drawn(case, &Options::default());
        assert!(matches!(judged, Verdict::Agree), "{judged:?}: {}", case.text);
    }
}

/// The modules of a program, for spirv-val and coverage.
pub fn modules(text: &str, options: &Options) -> Vec<smallstep::compile::wsl::Module> {
    let Some(program) = validate(text).program else { return Vec::new() };
    let mut all = Vec::new();
    for entry in program.entry_points.iter().filter(|e| !matches!(e.stage, Stage::Compute(_))) {
        all.extend(translate(&program, entry, options).ok());
    }
    for fragment in program.entry_points.iter().filter(|e| e.stage == Stage::Fragment) {
        let vertices = program.entry_points.iter().filter(|e| e.stage == Stage::Vertex).map(Some);
        for vertex in std::iter::once(None).chain(vertices) {
            if let Ok(modules) = translate_draw(&program, vertex, fragment, options) {
                all.extend([modules.vertex, modules.fragment]);
            }
        }
    }
    all
}

/// Stages that do not fit are refused by a sentence that says where.
#[test]
fn stages_that_do_not_fit_are_named() {
    for (text, said) in [
        (
            "struct B { float4 p : SV_Position; float2 a : attribute(0); } vertex B v() { B b; return b; }
             fragment float4 f(float3 a : attribute(0)) : SV_Target 0 { return float4(a, 1.0); }",
            "attribute(0) that the vertex stage gives as float2 and the fragment stage takes as float3",
        ),
        (
            "vertex float4 v(device uint[] a : register(u0)) : SV_Position { a[0] = 1u; return float4(); }
             fragment float4 f(constant uint[] a : register(u0)) : SV_Target 0 { return float4(); }",
            "one stage stores in u0 and the other one uses it",
        ),
    ] {
        let program = validate(text).program.unwrap_or_else(|| panic!("{text}"));
        let (vertex, fragment) = entries(&program);
        let refusal = translate_draw(&program, vertex, fragment, &Options::default()).expect_err(text);
        assert!(refusal.what.contains(said), "{refusal}");
    }
    let text = "vertex float4 v() : SV_Position { return float4(); } fragment float4 f() : SV_Target 0 { return float4(); }";
    let program = validate(text).program.expect("valid");
    let (vertex, fragment) = entries(&program);
    let vertex = vertex.expect("it is there");
    let said = |vertex: &EntryPoint, fragment: &EntryPoint| {
        translate_draw(&program, Some(vertex), fragment, &Options::default()).expect_err(text).what
    };
    assert_eq!(said(vertex, vertex), "a vertex entry point as the fragment stage of a draw");
    assert_eq!(said(fragment, fragment), "a fragment entry point as the vertex stage of a draw");
}

/// A register that both stages use is one binding, and bindings have no gaps.
#[test]
fn both_stages_share_bindings() {
    let text = "vertex float4 v(constant uint[] a : register(t0), constant uint[] b : register(t1)) : SV_Position { return float4(float(a[0] + b[0])); }
        fragment float4 f(constant uint[] c : register(t2), constant uint[] b : register(t1), constant uint[] d : register(t1, space1)) : SV_Target 0 {
            return float4(float(b[0] + c[0] + d[0])); }";
    let text = text.replace("float4(float(", "float4(0.0, 0.0, 0.0, float(");
    let program = validate(&text).program.expect("valid");
    let (vertex, fragment) = entries(&program);
    let modules = translate_draw(&program, vertex, fragment, &Options::default()).expect("translated");
    let places: Vec<(&str, u32, u32)> = modules.bindings.iter().map(|b| (b.register.as_str(), b.set, b.binding)).collect();
    assert_eq!(places, [("t0", 0, 0), ("t1", 0, 1), ("t2", 0, 2), ("t1, space1", 1, 0)]);
    let of_fragment: Vec<(u32, u32)> = modules.fragment.bindings.iter().map(|b| (b.set, b.binding)).collect();
    assert_eq!(of_fragment, [(0, 2), (0, 1), (1, 0)]);
}

/// The location of a variable is its number if all numbers are small and do not overlap. Otherwise
/// locations are consecutive. Both stages have the same locations.
#[test]
fn locations_are_numbers_where_they_can_be() {
    let locations = |numbers: [u32; 3]| {
        let [a, b, c] = numbers;
        let text = format!(
            "struct B {{ float4 p : SV_Position; float x : attribute({a}); float2x3 y : attribute({b}); float3 z : attribute({c}); float w : attribute(1000); }}
             vertex B v() {{ B b; return b; }}
             fragment float4 f(float x : attribute({a}), float2x3 y : attribute({b}), float3 z : attribute({c})) : SV_Target 0 {{ return float4(z + y[0] + y[1], x); }}"
        );
        let program = validate(&text).program.expect("valid");
        let (vertex, fragment) = entries(&program);
        let modules = translate_draw(&program, vertex, fragment, &Options::default()).expect("translated");
        assert_eq!(modules.vertex.given, modules.fragment.taken);
        modules.fragment.taken.iter().map(|v| v.location).collect::<Vec<_>>()
    };
    assert_eq!(locations([0, 1, 2]), [0, 1, 3]);
    assert_eq!(locations([2, 5, 9]), [2, 5, 9]);
    assert_eq!(locations([3, 14, 15]), [0, 1, 3]);
    assert_eq!(locations([7, 4_000_000_000, u32::MAX]), [0, 1, 3]);
}

/// Helpers skip an atomic function only if its result is read: SampleMask says who is a helper.
#[test]
fn helpers_are_told_apart_where_a_result_is_read() {
    for (after, guarded) in
        [("", false), ("if (old > 2u) discard;", true), ("(old) = 1u;", true), ("InterlockedMax(&n[0], 1u, &(old));", false)]
    {
        let text =
            format!("fragment void f(device atomic_uint[] n : register(u0)) {{ uint old; InterlockedAdd(&n[0], 1u, (&old)); {after} }}");
        let program = validate(&text).program.unwrap_or_else(|| panic!("{text}"));
        let module = translate(&program, &program.entry_points[0], &Options::default()).expect("translated");
        let mask = [Decoration::BuiltIn as u32, BuiltIn::SampleMask as u32];
        assert_eq!(module.words.windows(2).any(|words| words == mask), guarded, "{text}");
    }
}
