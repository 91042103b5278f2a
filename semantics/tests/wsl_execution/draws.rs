//! Draws of generated entry points end as they must, and each of their steps is well typed. Other
//! draws have results that are known by other means, or must be refused.

use smallstep_generate::wsl::bound::draws;
use smallstep_generate::wsl::{draws as pipelines, typed};
use smallstep_semantics::image::Compare;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Attribute, Draw, Ending, Shown, StageInSource, Vertices, resources};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::execution::check::well_typed;
use smallstep_semantics::wsl::execution::{Shared, Thread};
use smallstep_semantics::wsl::group::{ResourceContents, Schedule};
use smallstep_semantics::wsl::memory::Memory;
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

fn program(text: &str) -> Program {
    let found = validate(text);
    found.program.unwrap_or_else(|| panic!("{:?}\n{text}", found.errors))
}

fn check(shared: &Shared, memory: &Memory, thread: &Thread) {
    if let Err(why) = well_typed(shared, memory, thread) {
        panic!("a step of a draw leaves {why}");
    }
}

#[test]
fn draws_of_generated_programs_are_never_stuck_and_stay_well_typed() {
    let programs: u64 = std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(0).max(1000);
    let (mut shown, mut refused, mut others) = (0, 0, 0);
    for seed in 0..programs {
        let text = typed::program(seed);
        let program = program(&text);
        for draw in draws(&program, &text, 1 << 12, seed) {
            for (strategy, schedule) in [(Strategy::Carry, Schedule::InOrder), (Strategy::Random(seed), Schedule::Random { seed })] {
                let settings =
                    Settings { strategy, schedule: Some(schedule), fuel: 20_000, ways: 2, watch: Some(check), ..Settings::default() };
                match draw.run(&settings) {
                    Ending::Shown(_) => shown += 1,
                    Ending::Refused(_) => refused += 1,
                    Ending::OutOfFuel(_) | Ending::Other(Outcome::Unsupported(_) | Outcome::Limit(_)) => others += 1,
                    other => panic!("program {seed}: {other:?}\n{text}"),
                }
            }
        }
    }
    println!("{shown} draws, {refused} refused, {others} ended otherwise");
    assert!(shown > 50 && refused > 50, "{shown} draws, {refused} refused, {others} ended otherwise");
}

/// Helpers run only if something can observe them. In a watched run every thread runs, and the
/// results are the same. Programs without operations over quads take fewer steps without helpers.
#[test]
fn helpers_that_nothing_can_tell_of_do_not_run() {
    let (mut fewer, mut meeting, mut storing) = (0, 0, 0);
    for seed in 0..150 {
        for text in [pipelines::program(seed), typed::executed(seed, typed::Purpose::Draws).text] {
            let program = program(&text);
            for mut draw in draws(&program, &text, 1 << 12, seed).take(4) {
                draw.size = [5, 3];
                let settings = Settings { fuel: 50_000, ways: 4, ..Settings::default() };
                let watched = Settings { watch: Some(|_, _, _| {}), ..settings.clone() };
                let (Ending::Shown(all), Ending::Shown(few)) = (draw.run(&watched), draw.run(&settings)) else { continue };
                assert_eq!((&few.targets, &few.depth, &few.buffers), (&all.targets, &all.depth, &all.buffers), "seed {seed}:\n{text}");
                assert_eq!((&few.races, &few.apart, few.in_doubt), (&all.races, &all.apart, all.in_doubt), "seed {seed}:\n{text}");
                let meets = ["ddx", "ddy", "fwidth", "Sample"].iter().any(|name| text.contains(name));
                let stores = draw.resources.iter().any(|resource| resource.is_writable());
                fewer += u32::from(few.steps < all.steps);
                meeting += u32::from(meets && few.steps == all.steps);
                storing += u32::from(stores && few.steps == all.steps);
            }
        }
    }
    println!("{fewer} draws take fewer steps, {meeting} with operations over quads and {storing} that store take as many");
    assert!(fewer >= 20 && meeting >= 10 && storing >= 5, "{fewer}, {meeting}, {storing}");
}

fn run(text: &str, vertex: bool, size: [u32; 2], given: Vec<Attribute>, settings: &Settings) -> Ending {
    let program = program(text);
    let fragment = entry_of(&program, Stage::Fragment, None).expect("there is one");
    let vertices = match vertex {
        true => Vertices::Shaded {
            entry: entry_of(&program, Stage::Vertex, None).expect("there is one"),
            count: 3,
            instances: 1,
            attributes: given,
        },
        false => Vertices::Screen(vec![(0, StageInSource::Place)]),
    };
    let resources = Vec::new();
    let specialization = Specialization::default();
    Draw { program: &program, text, vertices, fragment, size, depth: None, resources, specialization }.run(settings)
}

fn of(ending: Ending) -> Shown {
    match ending {
        Ending::Shown(shown) => *shown,
        other => panic!("{other:?}"),
    }
}

const PLACE: &str = "fragment float4 f(float2 p : attribute(0)) : SV_Target 0 { return float4(p, ddx_fine(p.x), ddy(p.y)); }";

#[test]
fn the_place_on_the_screen_is_the_pixels_centre() {
    for size in [[1, 1], [5, 3], [8, 4], [2, 7]] {
        let shown = of(run(PLACE, false, size, Vec::new(), &Settings::default()));
        for (i, texel) in shown.targets[0].texels.iter().enumerate() {
            let (x, y) = (i as u32 % size[0], i as u32 / size[0]);
            let of = |c: u32, n: u32| (f64::from(c) + 0.5) / f64::from(n);
            let near = |k: usize, expected: f64| {
                let value = texel[k].only().map(f32::from_bits).unwrap_or_else(|| panic!("{:?} at ({x}, {y}) of {size:?}", texel[k]));
                assert!((f64::from(value) - expected).abs() < 1e-6, "{value} for {expected} at ({x}, {y}) of {size:?}");
            };
            near(0, of(x, size[0]));
            near(1, of(y, size[1]));
            // Rows and columns of a quad differ only by rounding, so either difference is allowed.
            let derivative = texel[2].floats().hull().expect("a float");
            assert!((derivative.low - 1.0 / f64::from(size[0])).abs() < 1e-6 && (derivative.high - 1.0 / f64::from(size[0])).abs() < 1e-6);
        }
        assert!(shown.targets[0].in_doubt.iter().all(|d| !d) && shown.apart.is_empty());
    }
}

#[test]
fn a_profile_of_precision_bounds_the_definite_values() {
    let definite = of(run(PLACE, false, [3, 3], Vec::new(), &Settings::default()));
    let sets = of(run(PLACE, false, [3, 3], Vec::new(), &Settings { precision: Some(Profile::Strict), ..Settings::default() }));
    let mut wider = 0;
    for (texel, set) in definite.targets[0].texels.iter().zip(&sets.targets[0].texels) {
        for (one, all) in texel.iter().zip(set) {
            let (Some(bits), Possible::Floats(all)) = (one.only(), all) else { continue };
            assert!(all.contains(f64::from(f32::from_bits(bits))), "{} is not in {all}", f32::from_bits(bits));
            wider += usize::from(all.only().is_none());
        }
    }
    assert!(wider > 20, "{wider} sets of several values");
}

#[test]
fn every_order_shows_the_same() {
    let text = "
        float twice(float x) { float y = ddx_coarse(x); for (int i = 0; i < 3; i++) { y += ddy_fine(y * x); } return y; }
        fragment float4 f(float2 p : attribute(0)) : SV_Target 0 {
            float a = twice(p.x * p.y);
            if (p.x > 0.2) { a += fwidth(a); }
            if (p.y > 0.7) { discard; }
            return float4(a, ddx(a), p);
        }";
    let with = |strategy, schedule: &Schedule| {
        let settings = Settings { strategy, schedule: Some(schedule.clone()), ..Settings::default() };
        of(run(text, false, [4, 4], Vec::new(), &settings))
    };
    for strategy in [Strategy::Carry, Strategy::First, Strategy::Random(3)] {
        let first = with(strategy, &Schedule::InOrder);
        for schedule in [Schedule::RoundRobin { quantum: 1 }, Schedule::Random { seed: 1 }, Schedule::Random { seed: 2 }] {
            assert_eq!(with(strategy, &schedule).targets, first.targets, "{strategy:?}, {schedule:?}");
        }
        assert_eq!(first.apart.len(), 2, "{:?}", first.apart);
    }
}

#[test]
fn positions_that_are_not_known_leave_all_in_doubt() {
    let text = "
        vertex float4 v(uint i : SV_VertexID) : SV_Position { float zero = 0; return float4(float(i) / zero, 0, 0, 1); }
        fragment float4 f() : SV_Target 0 { return float4(1, 1, 1, 1); }";
    let shown = of(run(text, true, [2, 2], Vec::new(), &Settings::default()));
    assert_eq!(shown.targets[0].in_doubt, [true; 4]);
    let stores = text.replace("f()", "f(device float[] a : register(u0))");
    let program = program(&stores);
    let (vertex, fragment) = (&program.entry_points[0], &program.entry_points[1]);
    let mut resources = resources(&program, Some(vertex), fragment).expect("they fit");
    resources[0].fill(&[0]);
    let vertices = Vertices::Shaded { entry: vertex, count: 3, instances: 1, attributes: Vec::new() };
    let draw = Draw {
        program: &program,
        text: &stores,
        vertices,
        fragment,
        size: [2, 2],
        depth: None,
        resources,
        specialization: Specialization::default(),
    };
    assert!(matches!(draw.run(&Settings::default()), Ending::Other(Outcome::Unsupported(_))));
}

/// Every fragment stores to the same word. A quotient by zero decides the way.
const RACY: &str = "fragment float4 f(float2 p : attribute(0), device uint[] b : register(u0)) : SV_Target 0 {
    uint zero = 0; if (1u / zero > 4u) { b[0] = 1; } else { b[0] = uint(p.x * 8); } return float4(); }";

#[test]
fn a_draw_may_end_once_it_races_and_needs_an_order() {
    let program = program(RACY);
    let fragment = entry_of(&program, Stage::Fragment, None).expect("there is one");
    let mut resources = resources(&program, None, fragment).expect("a buffer");
    for resource in &mut resources {
        if let ResourceContents::Buffer(buffer) = &mut resource.contents {
            buffer.words = vec![0];
        }
    }
    let vertices = Vertices::Screen(vec![(0, StageInSource::Place)]);
    let specialization = Specialization::default();
    let draw = Draw { program: &program, text: RACY, vertices, fragment, size: [2, 2], depth: None, resources, specialization };
    let ended = |until_race| of(draw.run(&Settings { until_race, ..Settings::default() }));
    let (all, first) = (ended(false), ended(true));
    assert!(all.ways > 1 && all.complete && !all.races.is_empty(), "{all:?}");
    assert_eq!((first.ways, first.races.first()), (1, all.races.first()));
    let every_order = draw.run(&Settings { schedule: None, ..Settings::default() });
    assert!(matches!(every_order, Ending::Other(Outcome::Unsupported(_))), "{every_order:?}");
}

#[test]
fn what_is_too_much_is_refused() {
    let endless = "fragment float4 f(float2 p : attribute(0)) : SV_Target 0 { for (; true; ) { p.x = ddx(p.x); } return float4(); }";
    assert!(matches!(run(endless, false, [2, 2], Vec::new(), &Settings { fuel: 10_000, ..Settings::default() }), Ending::OutOfFuel(_)));
    for (size, schedule) in [
        ([1 << 11, 1 << 10], Schedule::InOrder),
        ([u32::MAX, u32::MAX], Schedule::InOrder),
        ([512, 512], Schedule::RoundRobin { quantum: 1 }),
    ] {
        let settings = Settings { schedule: Some(schedule), ..Settings::default() };
        let ending = run(PLACE, false, size, Vec::new(), &settings);
        assert!(matches!(ending, Ending::Other(Outcome::Limit(_))), "{size:?}: {ending:?}");
    }
    assert!(matches!(run(PLACE, false, [20_000, 1], Vec::new(), &Settings::default()), Ending::Other(Outcome::Unsupported(_))));
    let shown = of(run(PLACE, false, [0, 5], Vec::new(), &Settings::default()));
    assert!(shown.targets[0].texels.is_empty());
}

#[test]
fn a_thread_that_is_in_no_quad_has_no_derivatives() {
    let ending = crate::call_with("float f(float x) { return ddx(x); }", "f(1)", &smallstep_semantics::wsl::Settings::default());
    assert!(ending.contains("an operation over a quad of threads, and no fragment is drawn here"), "{ending}");
}

#[test]
fn specialization_constants_are_those_of_both_stages() {
    let text = "
        vertex float4 v(uint i : SV_VertexID, float scale : specialized) : SV_Position {
            return float4(i == 1 ? 3 * scale : -scale, i == 2 ? 3 * scale : -scale, 0, scale);
        }
        fragment float4 f(float scale : specialized, int n : specialized) : SV_Target 0 { return float4(scale, float(n), 0, 0); }";
    let program = program(text);
    let (vertex, fragment) = (&program.entry_points[0], &program.entry_points[1]);
    let of = |specialization| {
        let vertices = Vertices::Shaded { entry: vertex, count: 3, instances: 1, attributes: Vec::new() };
        let draw = Draw { program: &program, text, vertices, fragment, size: [1, 1], depth: None, resources: Vec::new(), specialization };
        draw.run(&Settings::default())
    };
    let given = [("scale".to_string(), "0.5".to_string()), ("n".to_string(), "-3".to_string())];
    let shown = match of(Specialization::new(&program, &[vertex, fragment], &given).expect("both are given")) {
        Ending::Shown(shown) => shown,
        other => panic!("{other:?}"),
    };
    let texel = [0.5f32, -3.0, 0.0, 0.0].map(|x| Possible::Values(vec![x.to_bits()]));
    assert_eq!(shown.targets[0].texels, [texel]);
    let bare = of(Specialization::default());
    assert!(
        matches!(&bare, Ending::Refused(error) if error.message.contains("`scale` is a specialization constant, and nothing is given")),
        "{bare:?}"
    );
}

#[test]
fn both_stages_see_a_register_by_their_own_types() {
    let text = "
        vertex float4 v(device uint[] a : register(u0), uint id : SV_VertexID) : SV_Position {
            return float4(id == 1 ? 3.0 : -1.0, id == 2 ? 3.0 : -1.0, 0.0, float(a.length) / 8.0);
        }
        fragment float4 f(device uint4[] b : register(u0), device uint[] c : register(u0)) : SV_Target 0 {
            return float4(float(b.length), float(c.length), float(b[1].x), 1.0);
        }
        fragment float4 g(constant uint[] b : register(u0)) : SV_Target 0 { return float4(1.0, 1.0, 1.0, 1.0); }";
    let program = program(text);
    let named = |stage, name| entry_of(&program, stage, Some(name)).expect("it is there");
    let (vertex, fragment) = (named(Stage::Vertex, "v"), named(Stage::Fragment, "f"));
    let mut resources = smallstep_semantics::wsl::draw::resources(&program, Some(vertex), fragment).expect("one resource");
    assert_eq!(resources.len(), 1);
    resources[0].fill(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let vertices = Vertices::Shaded { entry: vertex, count: 3, instances: 1, attributes: Vec::new() };
    let specialization = Specialization::default();
    let draw = Draw { program: &program, text, vertices, fragment, size: [1, 1], depth: None, resources, specialization };
    let shown = of(draw.run(&Settings::default()));
    let texel: Vec<Option<f32>> = shown.targets[0].texels[0].iter().map(|c| c.only().map(f32::from_bits)).collect();
    assert_eq!(texel, [Some(2.0), Some(8.0), Some(5.0), Some(1.0)]);
    let wrong = smallstep_semantics::wsl::draw::resources(&program, Some(vertex), named(Stage::Fragment, "g")).expect_err("another space");
    assert_eq!(wrong.what, "`a` is device of uint and `b` is constant of uint, and both are in u0");
}

/// A draw at positions that devices may compute in other ways. The fragments count themselves.
const NEAR: &str = "
    struct V { float4 at : SV_Position; float c : attribute(0); }
    vertex V v(float2 p : attribute(1), uint i : SV_VertexID) {
        V r;
        r.at = float4(p.x * 0.9 + 0.013, p.y * 0.9 - 0.017, 0.3 * 0.7, 1.0 + 0.1 * 0.3);
        r.c = p.x * 0.3;
        return r;
    }
    struct C { float4 colour : SV_Target 0; }
    fragment C f(float c : attribute(0), device atomic_uint[] count : register(u1)) {
        C r;
        uint old;
        InterlockedAdd(&count[0], 1u, &old);
        r.colour = float4(c, 1.0 - c, c * 0.5 + 0.25, 1.0);
        return r;
    }";

fn near(text: &str, places: [[f32; 2]; 3], size: [u32; 2], profile: Profile) -> Ending {
    let program = program(text);
    let [vertex, fragment] = [Stage::Vertex, Stage::Fragment].map(|stage| entry_of(&program, stage, None).expect("there is one"));
    let words = places.iter().flatten().map(|x| x.to_bits()).collect();
    let attributes = vec![Attribute { number: 1, scalar: smallstep_semantics::wsl::types::Scalar::Float, words }];
    let vertices = Vertices::Shaded { entry: vertex, count: 3, instances: 1, attributes };
    let mut resources = resources(&program, Some(vertex), fragment).expect("they fit");
    for resource in &mut resources {
        let ResourceContents::Buffer(buffer) = &mut resource.contents else { panic!("it is a buffer") };
        buffer.words = vec![7];
    }
    let draw =
        Draw { program: &program, text, vertices, fragment, size, depth: None, resources, specialization: Specialization::default() };
    draw.run(&Settings { precision: Some(profile), ..Settings::default() })
}

#[test]
fn a_draw_is_decided_where_positions_are_within_bounds() {
    // No pixel's centre is near an edge.
    for profile in [Profile::Wgsl, Profile::VulkanDefault] {
        let shown = of(near(NEAR, [[-1.2, -1.1], [1.1, -1.15], [-1.1, 0.93]], [4, 4], profile));
        let target = &shown.targets[0];
        assert!(shown.moved && !shown.in_doubt && target.in_doubt.iter().all(|d| !d), "{profile}: {:?}", target.in_doubt);
        let covered = target.texels.iter().filter(|texel| texel[3].only() == Some(1f32.to_bits())).count();
        assert!(covered > 4 && shown.buffers[0][0].only() == Some(7 + covered as u32), "{profile}: {covered}, {:?}", shown.buffers);
        for texel in target.texels.iter().filter(|texel| texel[3].only() == Some(1f32.to_bits())) {
            let hull = texel[0].floats().hull().expect("it has bounds");
            assert!(hull.low < hull.high && hull.high - hull.low < 1e-2, "{profile}: {hull:?}");
        }
    }
    // The right edge passes through a column of centres, where x is a quarter of w. Only the pixels
    // of this column and the buffer are in doubt.
    let column = (0.25 * 1.03 - 0.013) / 0.9;
    let shown = of(near(NEAR, [[-1.3, -1.3], [column, -1.3], [column, 1.3]], [4, 4], Profile::Wgsl));
    let doubted: Vec<bool> = (0..16).map(|pixel| shown.targets[0].in_doubt[pixel]).collect();
    assert!(shown.moved && shown.in_doubt && (0..16).all(|pixel| doubted[pixel] == (pixel % 4 == 2)), "{doubted:?}");
}

#[test]
fn a_draw_at_any_place_is_undecided_only_where_fragments_store() {
    let anywhere = |text: &str| text.replace("p.x * 0.9 + 0.013", "1.0 / (p.y - p.y)");
    let Ending::Other(Outcome::Unsupported(why)) = near(&anywhere(NEAR), [[0.0; 2]; 3], [4, 4], Profile::Wgsl) else {
        panic!("it is not known where the triangle is")
    };
    assert!(why.contains("where fragments may store"), "{why}");
    // If vertices store and fragments do not, all pixels are in doubt, but no buffer is.
    let by_vertex = anywhere(NEAR)
        .replace(", device atomic_uint[] count : register(u1)) {\n        C r;", ") {\n        C r;")
        .replace("        uint old;\n        InterlockedAdd(&count[0], 1u, &old);\n", "")
        .replace("uint i : SV_VertexID", "uint i : SV_VertexID, device uint[] seen : register(u1)")
        .replace("        V r;\n", "        V r;\n        if (i == 0u) { seen[0] = 9u; }\n");
    let shown = of(near(&by_vertex, [[0.0; 2]; 3], [4, 4], Profile::Wgsl));
    assert!(shown.moved && !shown.in_doubt && shown.targets[0].in_doubt.iter().all(|&d| d));
    assert_eq!(shown.buffers[0][0].only(), Some(9));
}

#[test]
fn a_triangle_that_is_drawn_again_has_its_depths_again() {
    let text = "
        struct V { float4 at : SV_Position; nointerpolation uint c : attribute(0); }
        vertex V v(float3 p : attribute(1), uint i : SV_InstanceID) {
            V r;
            r.at = float4(p, 1.0);
            if (i == 1u) { OTHER }
            r.c = i + 1u;
            return r;
        }
        fragment float4 f(nointerpolation uint c : attribute(0)) : SV_Target 0 { return float4(float(c), 0.0, 0.0, 0.0); }";
    let drawn = |other: &str, compare: Compare| {
        let text = text.replace("OTHER", other);
        let program = program(&text);
        let [vertex, fragment] = [Stage::Vertex, Stage::Fragment].map(|stage| entry_of(&program, stage, None).expect("there is one"));
        let words = [-1.1f32, -1.2, 0.1, 1.3, -1.1, 0.7, -1.15, 1.4, 0.3].map(f32::to_bits).to_vec();
        let attributes = vec![Attribute { number: 1, scalar: smallstep_semantics::wsl::types::Scalar::Float, words }];
        let vertices = Vertices::Shaded { entry: vertex, count: 3, instances: 2, attributes };
        let (resources, specialization) = (Vec::new(), Specialization::default());
        let draw =
            Draw { program: &program, text: &text, vertices, fragment, size: [4, 4], depth: Some(compare), resources, specialization };
        let shown = of(draw.run(&Settings::default()));
        let target = &shown.targets[0];
        let of = |value: f32| target.texels.iter().filter(|texel| texel[0].only() == Some(value.to_bits())).count();
        (of(1.0), of(2.0), target.in_doubt.iter().filter(|d| **d).count())
    };
    // The second instance passes where equal depths pass, and only there. No device is in doubt
    // of that.
    let (first, second, doubted) = drawn("", Compare::LessOrEqual);
    assert!(first == 0 && second > 5 && doubted == 0, "{first}, {second}, {doubted}");
    let (first, second, doubted) = drawn("", Compare::Less);
    assert!(first > 5 && second == 0 && doubted == 0, "{first}, {second}, {doubted}");
    // The depths of another triangle in the same plane may be rounded differently. A triangle in
    // front of the plane passes.
    let (.., doubted) = drawn("r.at = float4(r.at.x * 2.0, r.at.y * 2.0, r.at.z * 2.0, 2.0);", Compare::LessOrEqual);
    assert!(doubted > 5, "{doubted}");
    let (first, second, doubted) = drawn("r.at.z -= 0.5;", Compare::Less);
    assert!(first == 0 && second > 5 && doubted == 0, "{first}, {second}, {doubted}");
}
