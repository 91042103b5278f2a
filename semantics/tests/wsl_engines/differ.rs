//! The comparison of the engines reports a difference if they run different code.

use smallstep_generate::wsl::beside::{self, Bounds, Compared, Fuel, NotCompared};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Attribute, Draw, StageInSource, Vertices};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{Dispatch, Resource};
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

const FUEL: Fuel = Fuel { machine: 1000, relation: 10_000, time: None };

fn function(program: &Program, name: &str) -> FunctionId {
    let found = program.env.functions.iter().position(|f| program.env.names.name(f.name.name) == name);
    FunctionId(found.expect("it is there") as u32)
}

#[test]
fn another_function_or_entry_point_is_a_difference() {
    let text = "
        int up(int x) { return x + 1; }
        int down(int x) { return x - 1; }
        int gone(int x) { discard; }
        void nothing(int x) { }
        void leaves(int x) { discard; }
        [numthreads(2, 1, 1)] compute void one(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[lane] = 1; }
        [numthreads(2, 1, 1)] compute void two(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[lane] = 2; }
        [numthreads(2, 1, 1)] compute void apart(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
            if (lane == 0) AllMemoryBarrierWithGroupSync();
            out[lane] = 1;
        }
        [numthreads(2, 1, 1)] compute void racy(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane; }";
    let program = validate(text).program.expect("it is valid");
    let compiled = |name: &str| Compiled::new(&program, function(&program, name)).expect("it compiles");
    let call = |compiled_as: &str, name: &str| {
        let (compiled, f) = (compiled(compiled_as), function(&program, name));
        beside::call((&program, text), (&compiled, f), &[vec![4]], Strategy::First, FUEL).expect("the argument fits")
    };
    assert_eq!(call("up", "up"), Compared::Same("5".into()));
    assert_eq!(call("down", "up"), Compared::Differ { machine: "3".into(), relation: "5".into() });
    assert_eq!(call("gone", "gone"), Compared::Same("discarded".into()));
    assert!(matches!(call("gone", "up"), Compared::Differ { .. }) && matches!(call("up", "gone"), Compared::Differ { .. }));
    // Functions without a result.
    assert_eq!(call("leaves", "leaves"), Compared::Same("discarded".into()));
    assert!(matches!(call("leaves", "nothing"), Compared::Differ { .. }) && matches!(call("nothing", "leaves"), Compared::Differ { .. }));
    let dispatch = |compiled_as: &str, name: &str| {
        let entry = program.entry_points.iter().find(|e| e.function == function(&program, name)).expect("it is there");
        let mut buffers = Resource::of(&program, entry).expect("it is a buffer");
        buffers[0].fill(&[0; 2]);
        let dispatch = Dispatch { program: &program, text, entry, groups: [1; 3], resources: buffers };
        beside::dispatch(&dispatch, &compiled(compiled_as), Strategy::First, FUEL).expect("what is bound fits")
    };
    assert_eq!(dispatch("one", "one"), Compared::Same("[[Values([1]), Values([1])]]".into()));
    assert_eq!(dispatch("apart", "apart"), Compared::Same("diverged".into()));
    for (machine, relation) in [("two", "one"), ("apart", "one"), ("one", "apart")] {
        assert!(matches!(dispatch(machine, relation), Compared::Differ { .. }), "{machine} beside {relation}");
    }
    // The result of a race depends on the schedule.
    assert_eq!(dispatch("racy", "racy"), Compared::Not(NotCompared::Race));
}

#[test]
fn another_stage_or_another_derivative_is_a_difference() {
    let text = "
        vertex float4 near(float2 at : attribute(0)) : SV_Position { return float4(at, 0.0, 1.0); }
        vertex float4 far(float2 at : attribute(0)) : SV_Position { return float4(at * 0.5, 0.0, 1.0); }
        fragment float4 fine(float2 x : attribute(0)) : SV_Target 0 { return float4(ddx_fine(x.x * x.y), 0.0, 0.0, 1.0); }
        fragment float4 coarse(float2 x : attribute(0)) : SV_Target 0 { return float4(ddx_coarse(x.x * x.y), 0.0, 0.0, 1.0); }
        fragment float4 gone(float2 x : attribute(0)) : SV_Target 0 { if (x.x > 0.4) discard; return float4(1.0, 0.0, 0.0, 1.0); }
        fragment float4 stays(float2 x : attribute(0)) : SV_Target 0 { return float4(1.0, 0.0, 0.0, 1.0); }";
    let program = validate(text).program.expect("it is valid");
    let compiled = |name: &str| Compiled::new(&program, function(&program, name)).expect("it compiles");
    let entry = |name: &str| program.entry_points.iter().find(|e| e.function == function(&program, name)).expect("it is there");
    let draw = |fragment: &str, vertex: Option<&str>| {
        let vertices = match vertex {
            None => Vertices::Screen(vec![(0, StageInSource::Place)]),
            Some(vertex) => {
                let words = [-1f32, -1.0, 1.0, -1.0, -1.0, 1.0].map(f32::to_bits).to_vec();
                let attributes = vec![Attribute { number: 0, scalar: Scalar::Float, words }];
                Vertices::Shaded { entry: entry(vertex), count: 3, instances: 1, attributes }
            }
        };
        let (resources, specialization) = (Vec::new(), Specialization::default());
        Draw { program: &program, text, vertices, fragment: entry(fragment), size: [4, 4], depth: None, resources, specialization }
    };
    let over_screen =
        |machine: &str, relation: &str| beside::draw(&draw(relation, None), (None, &compiled(machine)), Strategy::First, FUEL);
    for same in ["fine", "coarse", "gone", "stays"] {
        assert!(matches!(over_screen(same, same), Compared::Same(_)), "{same}");
    }
    for (machine, relation) in [("fine", "coarse"), ("gone", "stays"), ("stays", "gone")] {
        assert!(matches!(over_screen(machine, relation), Compared::Differ { .. }), "{machine} beside {relation}");
    }
    // The vertex stages have no output for the fragments, whose variable is zeros.
    let shaded = |machine: &str, relation: &str| {
        beside::draw(&draw("stays", Some(relation)), (Some(&compiled(machine)), &compiled("stays")), Strategy::First, FUEL)
    };
    assert!(matches!(shaded("near", "near"), Compared::Same(_)));
    assert!(matches!(shaded("far", "near"), Compared::Differ { .. }));
}

/// A program that exceeds a bound is left out and counted. At the bound it is not. The bounds are
/// for functions, words of variables, and threads.
#[test]
fn what_the_bounds_leave_out_is_counted() {
    let text = "
        int up(int x) { return x + 1; }
        int down(int x) { return x - 1; }
        [numthreads(4, 1, 1)] compute void one(uint lane : SV_GroupIndex) { uint twice = lane + lane; }";
    let program = validate(text).program.expect("it is valid");
    let words = ["up", "down", "one"].map(|name| Compiled::new(&program, function(&program, name)).expect("it compiles").words());
    let words = words.into_iter().max().expect("three");
    let bounds = Bounds { functions: 3, words: words.max(64), threads: 8, fuel: FUEL };
    let ran = |bounds: Bounds| {
        let ran = beside::everything(&program, text, 7, &bounds).expect("the engines agree");
        (ran.same, ran.left().collect::<Vec<_>>())
    };
    // Two calls by three strategies, and two groups of four threads by two strategies.
    assert_eq!(ran(bounds), (8, vec![]));
    assert_eq!(ran(Bounds { functions: 2, ..bounds }), (6, vec![(NotCompared::Bounds, 1)]));
    assert_eq!(ran(Bounds { functions: 0, ..bounds }), (0, vec![(NotCompared::Bounds, 3)]));
    assert_eq!(ran(Bounds { threads: 7, ..bounds }), (6, vec![(NotCompared::Bounds, 1)]));
    // Without fuel for the relation, none is compared.
    let (same, left) = ran(Bounds { fuel: Fuel { relation: 0, ..FUEL }, ..bounds });
    assert_eq!((same, left), (0, vec![(NotCompared::Fuel, 8)]));
}

/// A thread's variables are counted in words. A bound of that number of words admits the function,
/// and a bound of one word less does not.
#[test]
fn words_of_variables_are_bounded() {
    let text = "int sum(int x) { int[20] all; all[3] = x; return all[3] + all[4]; }";
    let program = validate(text).program.expect("it is valid");
    let words = Compiled::new(&program, function(&program, "sum")).expect("it compiles").words();
    let left = |words: u32| {
        let ran =
            beside::everything(&program, text, 7, &Bounds { functions: 1, words, threads: 1, fuel: FUEL }).expect("the engines agree");
        ran.left().collect::<Vec<_>>()
    };
    assert!(words >= 20 && left(words).is_empty());
    assert_eq!(left(words - 1), [(NotCompared::Bounds, 1)]);
}

/// The bound on words applies to draws too. A draw that only the machine executes, since it is too
/// deep for the relation, is not compared.
#[test]
fn a_draw_is_left_out_where_it_is_too_large() {
    let text = |sum: &str| {
        format!("fragment float4 shade(float2 x : attribute(0)) : SV_Target 0 {{ float r = {sum}; return float4(r, r, r, 1.0); }}")
    };
    let drawn = |text: &str, words: Option<u32>| {
        let program = validate(text).program.expect("it is valid");
        let needs = Compiled::new(&program, function(&program, "shade")).expect("it compiles").words();
        let bounds = Bounds { functions: 1, words: words.map_or(needs, |less| needs - less), threads: 1, fuel: FUEL };
        let ran = beside::everything(&program, text, 7, &bounds).expect("the engines agree");
        (ran.same, ran.left().collect::<Vec<_>>())
    };
    let small = text("x.x + 1.0");
    assert_eq!(drawn(&small, None), (2, vec![]));
    assert_eq!(drawn(&small, Some(1)), (0, vec![(NotCompared::Bounds, 1)]));
    let deep = text(&format!("x.x{}", " + 1.0".repeat(20_000)));
    assert_eq!(drawn(&deep, None), (0, vec![(NotCompared::Unsupported, 2)]));
}
