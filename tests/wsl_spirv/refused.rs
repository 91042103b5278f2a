//! Valid programs that the translation refuses. The list is also in docs/wsl.md. Each of its lines
//! has a program here.

use smallstep::compile::wsl::{Construct, Options, Refusal, translate, translate_draw, translate_function};
use smallstep_semantics::image::Format;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The way to translate a program.
#[derive(Clone, Copy)]
enum As {
    /// The last function, with its arguments in a table.
    Function,
    /// The first entry point, with images of this format.
    Entry(Format),
    /// A draw with the first and the second entry point.
    Draw,
}

const OVER_NOTHING: As = As::Entry(Format::R32Sfloat);

/// Programs that are refused: construct, way to translate, and text.
const PROGRAMS: &[(Construct, As, &str)] = &[
    (Construct::Discard, As::Function, "float f(float x) { if (x > 1.0) discard; return x; }"),
    (Construct::Derivative, As::Function, "float f(float x) { return ddx(x); }"),
    (Construct::Opaque, As::Function, "float f(Texture2D<float> t) { return Load(t, int3(0, 0, 0)); }"),
    (Construct::Opaque, As::Function, "int f(sampler s) { return 1; }"),
    (Construct::Opaque, As::Function, "struct S { Texture2D<float> t; int a; } int f(S s) { return s.a; }"),
    (
        Construct::Reference,
        As::Function,
        "int g(thread int*[] p) { return *p[0]; } int f() { int x = 2; thread int* p = &x; return g(@p); }",
    ),
    (
        Construct::Reference,
        OVER_NOTHING,
        "fragment float4 f(Texture2D<float4> a : register(t0)) : SV_Target 0 { return g(@a); }
         float4 g(thread Texture2D<float4>[] p) { return Load(p[0], int3(0, 0, 0)); }",
    ),
    (
        Construct::Reference,
        OVER_NOTHING,
        "struct S { Texture2D<float4> t : register(t0); float a : attribute(0); }
         fragment float4 f(S s) : SV_Target 0 { return float4(g(&s), 0.0, 0.0, 0.0); }
         float g(thread S* s) { return (*s).a; }",
    ),
    (Construct::Reference, As::Function, "int f() { int x = 3; thread int* p = &x; return *(@p)[0]; }"),
    (Construct::Reference, As::Function, "void f(thread int* p) { (*(@p)[0])++; }"),
    (Construct::Reference, As::Function, "int f(thread int[] r) { return (@r)[0][1]; }"),
    (Construct::Reference, As::Function, "thread int*[] g(thread int* p) { return @p; } int f() { int x; return *g(&x)[0]; }"),
    (
        Construct::Reference,
        OVER_NOTHING,
        "fragment float4 f(Texture2D<float4> t : register(t0), sampler s : register(s0)) : SV_Target 0 {
             return SampleLevel((@t)[0], (@s)[0], float2(0.0, 0.0), 0.0); }",
    ),
    (
        Construct::Reference,
        OVER_NOTHING,
        "thread int*[] g() { discard; } fragment float4 f() : SV_Target 0 { return float4(float(*g()[0]), 0.0, 0.0, 0.0); }",
    ),
    (
        Construct::Change,
        As::Function,
        "thread int* operator+(thread int* a, thread int* b) { return b; }
         int f() { int x = 1; int y = 2; thread int* p = &x; p += &y; return *p; }",
    ),
    (
        Construct::Change,
        As::Function,
        "thread int* operator++(thread int* a) { return a; } int f() { int x = 1; thread int* p = &x; p++; return *p; }",
    ),
    (
        Construct::Format,
        As::Entry(Format::Rgb32Sfloat),
        "[numthreads(1, 1, 1)] compute void f(RWTexture2D<float4> t : register(u0)) { Store(t, float4(1.0, 1.0, 1.0, 1.0), uint2(0u, 0u)); }",
    ),
    (
        Construct::Stages,
        As::Draw,
        "vertex float4 v() : SV_Position { return float4(0.0, 0.0, 0.0, 1.0); }
         [numthreads(1, 1, 1)] compute void f() { }",
    ),
    (
        Construct::Stages,
        As::Draw,
        "struct O { float4 p : SV_Position; float2 a : attribute(0); }
         vertex O v() { O o; return o; }
         fragment float4 f(float a : attribute(0)) : SV_Target 0 { return float4(a, a, a, a); }",
    ),
    (
        Construct::Unordered,
        As::Draw,
        "vertex float4 v(device float[] b : register(u0)) : SV_Position { b[0] = 1.0; return float4(0.0, 0.0, 0.0, 1.0); }
         fragment float4 f(device float[] b : register(u0)) : SV_Target 0 { return float4(b[0], 0.0, 0.0, 0.0); }",
    ),
    (Construct::Scalars, As::Function, "int f(int[4097] a) { return a[0]; }"),
    (Construct::Scalars, As::Function, "int[4097] f() { int[4097] a; return a; }"),
];

/// A program with a function of that many statements, called for that many fields of a structure.
/// Each field is another object, for which the function is emitted again.
fn called(statements: usize, objects: usize) -> String {
    let fields = |of: &str, n: usize| (0..n).map(|k| format!("{of} m{k}; ")).collect::<String>();
    let mut text = format!("int g(thread int* p) {{ {} return *p; }}\n", "*p = *p * 3 + 1; ".repeat(statements));
    let _ = writeln!(text, "struct A {{ {}}} struct B {{ {}}} struct C {{ {}}}", fields("int", 16), fields("A", 16), fields("B", 17));
    text += "int f() { C c; int s;\n";
    for k in 0..objects {
        let _ = writeln!(text, "s += g(&c.m{}.m{}.m{});", k / 256, k / 16 % 16, k % 16);
    }
    text + "return s; }"
}

fn translated(program: &Program, how: As) -> Result<(), Refusal> {
    let options = Options::default();
    match how {
        As::Function => translate_function(program, FunctionId(program.env.functions.len() as u32 - 1), &options).map(|_| ()),
        As::Entry(format) => {
            let formats = [("u0".to_string(), format)];
            translate(program, &program.entry_points[0], &Options { formats: &formats, ..options }).map(|_| ())
        }
        As::Draw => {
            let [first, second] = &program.entry_points[..] else { panic!("two entry points") };
            assert_eq!(first.stage, Stage::Vertex);
            translate_draw(program, Some(first), second, &options).map(|_| ())
        }
    }
}

fn refused(text: &str, how: As) -> Refusal {
    let validated = validate(text);
    let program = validated.program.unwrap_or_else(|| panic!("{text}\n{:?}", validated.errors));
    translated(&program, how).expect_err(text)
}

/// For each line of the list, a valid program is refused, and the error names the construct.
#[test]
fn every_construct_of_the_list_is_refused() {
    let mut seen = BTreeSet::new();
    for &(construct, how, text) in PROGRAMS {
        let refusal = refused(text, how);
        assert_eq!(refusal.construct, Some(construct), "{refusal}: {text}");
        assert!(refusal.to_string().ends_with(" is not translated to SPIR-V yet") && !refusal.what.is_empty());
        seen.insert(construct);
    }
    for (construct, text) in [(Construct::Functions, called(1, 4097)), (Construct::Words, called(100, 4000))] {
        let refusal = refused(&text, As::Function);
        assert_eq!(refusal.construct, Some(construct), "{refusal}");
        seen.insert(construct);
    }
    assert_eq!(seen, Construct::ALL.iter().copied().collect(), "a construct has no program");
}

/// The page has exactly the list of the code.
#[test]
fn the_page_has_the_list() {
    let page = include_str!("../../docs/wsl.md");
    let begin = page.find("| refused | why |").expect("the page has the list");
    let lines: Vec<&str> = page[begin..].lines().take_while(|line| line.starts_with('|')).skip(2).collect();
    let row = |construct: &Construct| {
        let (what, why) = construct.listed();
        format!("| {what} | {why} |")
    };
    assert_eq!(lines, Construct::ALL.iter().map(row).collect::<Vec<_>>());
}
