//! Fragments on the way to the attachments, by brute force: each device that a sequence of
//! fragments allows is run by itself. The primitives of a draw, and the order of its quads.

use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::number::{Inexact, Interval};
use smallstep_semantics::raster::{
    DepthBuffer, DepthStencil, Lane, Next, Presence, Primitives, RasterOrder, Rules, StencilBuffer, StencilFace, StencilOp, TestedFragment,
    Topology,
};

use crate::random::Random;

/// The presence of a fragment whose coverage depends on an undefined value. The origin does not
/// matter here.
type AnyPresence = Presence<()>;

const DEPTHS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const COMPARES: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessOrEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterOrEqual,
    Compare::Always,
];

/// A fragment at the one pixel of a draw.
#[derive(Clone, Copy, Debug)]
struct Case {
    presence: AnyPresence,
    /// The definite depth, the least and the greatest, as indices of [`DEPTHS`].
    depth: [usize; 3],
    plane: Option<u32>,
    front: (bool, bool),
}

/// A draw of one pixel.
#[derive(Clone, Debug)]
struct Draw {
    fragments: Vec<Case>,
    compare: Compare,
    writes: bool,
    bounds: Option<[f32; 2]>,
    stencil: Option<(u8, [StencilFace; 2])>,
}

/// What is left of a draw by one device, or by the definite run.
#[derive(Clone, Debug, PartialEq)]
struct Device {
    depth: f64,
    stencil: u8,
    /// By fragment: whether it reaches the colour attachments.
    written: Vec<bool>,
}

/// The choices of a device, or of the definite run, for one fragment: whether it has it, its depth,
/// and whether its primitive is front-facing.
type Choice = (bool, f64, bool);

fn face(random: &mut Random) -> StencilFace {
    let op = |random: &mut Random| StencilOp::ALL[random.below(8)];
    let (fail, pass, depth_fail) = (op(random), op(random), op(random));
    let compare = COMPARES[random.below(8)];
    StencilFace { fail, pass, depth_fail, compare, compare_mask: 3, write_mask: 3, reference: random.below(4) as u8 }
}

fn random_draw(random: &mut Random) -> Draw {
    // Triangles of one plane have the same depths, whatever these are.
    let planes = [0; 2].map(|_| depths(random));
    let fragment = |random: &mut Random| {
        let presence = [Presence::Sure, Presence::Sure, Presence::Here, Presence::Elsewhere, Presence::Open(())][random.below(5)];
        let plane = [None, Some(0), Some(1)][random.below(3)];
        let depth = plane.map_or_else(|| depths(random), |plane| planes[plane as usize]);
        Case { presence, depth, plane, front: (random.below(2) == 0, random.below(3) != 0) }
    };
    Draw {
        fragments: (0..1 + random.below(3)).map(|_| fragment(random)).collect(),
        compare: COMPARES[random.below(8)],
        writes: random.below(4) != 0,
        bounds: (random.below(4) == 0).then_some([0.25, 0.75]),
        stencil: (random.below(2) == 0).then(|| (random.below(4) as u8, [face(random), face(random)])),
    }
}

fn depths(random: &mut Random) -> [usize; 3] {
    let [low, high] = [random.below(5), random.below(5)];
    let (low, high) = if random.below(2) == 0 { (low, low) } else { (low.min(high), low.max(high)) };
    [low + random.below(high - low + 1), low, high]
}

/// One device, as the specification orders the tests.
fn on_device(draw: &Draw, choices: &[Choice]) -> Device {
    let mut device = Device { depth: 0.5, stencil: draw.stencil.map_or(0, |(value, _)| value), written: Vec::new() };
    for &(is_there, depth, front) in choices {
        let in_bounds = draw.bounds.is_none_or(|[low, high]| (low.into()..=high.into()).contains(&device.depth));
        if !is_there || !in_bounds {
            device.written.push(false);
            continue;
        }
        let face = draw.stencil.map(|(_, [of_front, of_back])| if front { of_front } else { of_back });
        let passes = face.is_none_or(|face| face.compare.holds((face.reference & 3).into(), (device.stencil & 3).into()));
        let depth_passes = draw.compare.holds(depth, device.depth);
        if passes && depth_passes && draw.writes {
            device.depth = depth;
        }
        if let Some(face) = face {
            let op = if !passes {
                face.fail
            } else if depth_passes {
                face.pass
            } else {
                face.depth_fail
            };
            let new = match op {
                StencilOp::Keep => device.stencil,
                StencilOp::Zero => 0,
                StencilOp::Replace => face.reference,
                StencilOp::IncrementAndClamp => device.stencil.saturating_add(1),
                StencilOp::DecrementAndClamp => device.stencil.saturating_sub(1),
                StencilOp::Invert => !device.stencil,
                StencilOp::IncrementAndWrap => device.stencil.wrapping_add(1),
                StencilOp::DecrementAndWrap => device.stencil.wrapping_sub(1),
            };
            device.stencil = device.stencil & !3 | new & 3;
        }
        device.written.push(passes && depth_passes);
    }
    device
}

/// All choices of devices, fragment by fragment.
fn choices(draw: &Draw) -> Vec<Vec<Choice>> {
    let mut all: Vec<Vec<Choice>> = vec![Vec::new()];
    for (at, fragment) in draw.fragments.iter().enumerate() {
        let there: &[bool] = if fragment.presence == Presence::Sure { &[true] } else { &[true, false] };
        let fronts: &[bool] = if fragment.front.1 { &[fragment.front.0] } else { &[true, false] };
        let earlier = fragment.plane.and_then(|plane| draw.fragments[..at].iter().position(|other| other.plane == Some(plane)));
        let mut more = Vec::new();
        for device in &all {
            let depths = match earlier {
                Some(earlier) => vec![device[earlier].1],
                None => DEPTHS[fragment.depth[1]..=fragment.depth[2]].to_vec(),
            };
            for (&is_there, &front) in there.iter().flat_map(|there| fronts.iter().map(move |front| (there, front))) {
                more.extend(depths.iter().map(|&depth| [&device[..], &[(is_there, depth, front)]].concat()));
            }
        }
        all = more;
    }
    all
}

/// How the tests of the library are applied. Bugs are planted here.
type Apply = fn(&Draw, &mut DepthStencil, &Case) -> Option<AnyPresence>;

fn tested(fragment: &Case) -> TestedFragment {
    let [value, low, high] = fragment.depth.map(|at| DEPTHS[at]);
    let depth = Inexact { value, allowed: Interval::between(low, high) };
    TestedFragment { depth, plane: fragment.plane, front: fragment.front.0, front_certain: fragment.front.1 }
}

fn apply(_: &Draw, depth_stencil: &mut DepthStencil, fragment: &Case) -> Option<AnyPresence> {
    depth_stencil.test(&Rules::default(), [0, 0], fragment.presence, &tested(fragment))
}

/// What is wrong with the results of the tests, if anything is. Also counts the fragments of which
/// all devices agree although some could have differed.
fn wrong(draw: &Draw, apply: Apply, decided: &mut u32) -> Option<String> {
    let buffer = DepthBuffer::new(Format::D32Sfloat, 1, 1, 0.5).expect("a depth format");
    let mut depth_stencil = DepthStencil::new(buffer, draw.compare, draw.writes);
    if let Some((value, faces)) = draw.stencil {
        depth_stencil = depth_stencil.with_stencil(StencilBuffer::holding(1, vec![value]).expect("a row"), faces);
    }
    if let Some(bounds) = draw.bounds {
        depth_stencil = depth_stencil.with_bounds(bounds);
    }
    let after: Vec<_> = draw.fragments.iter().map(|fragment| apply(draw, &mut depth_stencil, fragment)).collect();
    let (depths, stencils) = depth_stencil.attachments();
    let depth = depths.depth(0, 0).expect("a pixel").0;
    let devices: Vec<Device> = choices(draw).iter().map(|choices| on_device(draw, choices)).collect();
    for device in &devices {
        if !depth.allowed.contains(device.depth) {
            return Some(format!("a device has depth {}, not in {:?}", device.depth, depth.allowed));
        }
        let value = device.stencil;
        if stencils.as_ref().is_some_and(|s| s.values()[0] != value && !s.possible(0).any(|possible| possible == value)) {
            return Some(format!("a device has the stencil value {value}"));
        }
        for (after, &written) in after.iter().zip(&device.written) {
            match after {
                None if written => return Some("a device writes what no device has".into()),
                Some(Presence::Sure) if !written => return Some("a device lacks what every device has".into()),
                _ => {}
            }
        }
    }
    let written_by_all = |at: usize| devices.iter().all(|device| device.written[at] == devices[0].written[at]);
    *decided += (0..after.len()).filter(|&at| matches!(after[at], None | Some(Presence::Sure)) && written_by_all(at)).count() as u32;
    // The definite run is a device. A fragment that depends on an undefined value has none.
    if draw.fragments.iter().any(|fragment| matches!(fragment.presence, Presence::Open(()))) {
        return None;
    }
    let choice = |fragment: &Case| (fragment.presence.is_definite(), DEPTHS[fragment.depth[0]], fragment.front.0);
    let definite = on_device(draw, &draw.fragments.iter().map(choice).collect::<Vec<_>>());
    let shown = Device {
        depth: depth.value,
        stencil: stencils.as_ref().map_or(0, |stencils| stencils.values()[0]),
        written: after.iter().map(|after| after.is_some_and(Presence::is_definite)).collect(),
    };
    (shown != definite).then(|| format!("{shown:?}, but the definite run has {definite:?}"))
}

#[test]
fn every_device_stays_within_the_results_of_the_tests() {
    let (mut random, mut decided) = (Random(0x5eed), 0);
    for _ in 0..20_000 {
        let draw = random_draw(&mut random);
        if let Some(wrong) = wrong(&draw, apply, &mut decided) {
            panic!("{wrong}: {draw:?}");
        }
    }
    assert!(decided > 15_000, "{decided}");
}

/// Bugs in what the tests are told, or in what is made of their results.
const PLANTED: [(&str, Apply); 7] = [
    ("every fragment is there for sure", |_, depth_stencil, fragment| {
        depth_stencil.test(&Rules::default(), [0, 0], AnyPresence::Sure, &tested(fragment))
    }),
    ("what another device has is there", |draw, depth_stencil, fragment| {
        let presence = if fragment.presence == Presence::Elsewhere { Presence::Here } else { fragment.presence };
        apply(draw, depth_stencil, &Case { presence, ..*fragment })
    }),
    ("all triangles are of one plane", |draw, depth_stencil, fragment| apply(draw, depth_stencil, &Case { plane: Some(0), ..*fragment })),
    ("depths are known", |draw, depth_stencil, fragment| {
        let [value, ..] = fragment.depth;
        apply(draw, depth_stencil, &Case { depth: [value; 3], ..*fragment })
    }),
    ("facing is known", |draw, depth_stencil, fragment| apply(draw, depth_stencil, &Case { front: (fragment.front.0, true), ..*fragment })),
    ("the stencil test is not applied", |_, depth_stencil, fragment| {
        let rules = Rules { stencil_compare: |_, _, _| true, ..Rules::default() };
        depth_stencil.test(&rules, [0, 0], fragment.presence, &tested(fragment))
    }),
    ("a result that may differ is certain", |draw, depth_stencil, fragment| match apply(draw, depth_stencil, fragment) {
        Some(Presence::Here) => Some(Presence::Sure),
        after => after,
    }),
];

#[test]
fn planted_bugs_in_the_tests_are_caught() {
    for (name, planted) in PLANTED {
        let mut random = Random(7);
        let caught = (0..2_000).any(|_| wrong(&random_draw(&mut random), planted, &mut 0).is_some());
        assert!(caught, "{name}");
    }
}

/// Without planes, a triangle that is drawn again may pass or fail where its depth is not known.
#[test]
fn a_triangle_that_is_drawn_again_has_the_same_depth() {
    let fragment = Case { presence: Presence::Sure, depth: [1, 0, 2], plane: Some(3), front: (true, true) };
    let both = |again: Case| {
        let buffer = DepthBuffer::new(Format::D32Sfloat, 1, 1, 1.0).expect("a depth format");
        let mut depth_stencil = DepthStencil::new(buffer, Compare::LessOrEqual, true);
        [fragment, again].map(|fragment| depth_stencil.test(&Rules::default(), [0, 0], fragment.presence, &tested(&fragment)))
    };
    assert_eq!(both(fragment), [Some(Presence::Sure); 2]);
    for plane in [None, Some(4)] {
        assert_eq!(both(Case { plane, ..fragment }), [Some(Presence::Sure), Some(Presence::Here)]);
    }
    // Where a device lacks the second one, its depth stays.
    assert_eq!(both(Case { presence: Presence::Here, ..fragment }), [Some(Presence::Sure), Some(Presence::Here)]);
}

#[test]
fn the_presence_of_lanes_and_samples() {
    assert_eq!(AnyPresence::of(Lane::SURE), Some(Presence::Sure));
    assert_eq!(AnyPresence::of(Lane::default()), None);
    let samples = [None, Some(Presence::Elsewhere), Some(Presence::Open(())), Some(Presence::Here), Some(Presence::Sure)];
    for count in 0..=samples.len() {
        let expected = if count == 0 { None } else { samples[count - 1] };
        assert_eq!(AnyPresence::of_samples(&samples[..count]), expected);
    }
}

/// Each instance has the same primitives, of its own vertices.
#[test]
fn primitives_come_instance_by_instance() {
    for topology in [Topology::List, Topology::Strip, Topology::Fan, Topology::Points, Topology::Lines, Topology::LineStrip] {
        for (vertices, instances) in [(0, 3), (1, 2), (2, 2), (3, 0), (5, 1), (7, 3)] {
            let mut primitives = Primitives::new(topology, vertices, instances);
            let mut expected = Vec::new();
            for instance in 0..instances as usize {
                let of_one = (0..topology.triangles(vertices as usize)).map(|i| topology.triangle(i));
                expected.extend(of_one.map(|corners| corners.map(|corner| instance * vertices as usize + corner)));
            }
            assert_eq!(primitives.count(), expected.len() as u64);
            let rules = Rules::default();
            let all: Vec<_> = std::iter::from_fn(|| primitives.next(&rules)).collect();
            assert_eq!(all, expected, "{topology:?}, {vertices}, {instances}");
            assert!(all.iter().flatten().all(|&vertex| vertex < (vertices * instances) as usize));
        }
    }
}

/// Quads end in any order, and reach the attachments in the order in which they started.
#[test]
fn quads_are_written_in_the_order_in_which_they_started() {
    let mut random = Random(11);
    for _ in 0..500 {
        let mut order: RasterOrder<u32, u32> = RasterOrder::default();
        // Every third entry is a primitive of unknown shape.
        let entries: Vec<Option<u32>> = (0..1 + random.below(12) as u32).map(|k| (random.below(3) != 0).then_some(k)).collect();
        let (mut started, mut running, mut written) = (0, Vec::new(), Vec::new());
        while written.len() < entries.len() {
            if started < entries.len() && random.below(2) == 0 {
                match entries[started] {
                    Some(number) => {
                        order.start(number, number + 100);
                        running.push(number);
                    }
                    None => order.unknown(),
                }
                started += 1;
            } else if !running.is_empty() {
                let number = running.swap_remove(random.below(running.len()));
                assert_eq!(order.end(number, number + 200), None);
            }
            let before = order.waiting();
            let mut left = 0;
            while let Some(next) = order.pop() {
                left += 1;
                written.push(match next {
                    Next::Quad(quad, outputs) => {
                        assert_eq!(quad + 100, outputs);
                        Some(quad - 100)
                    }
                    Next::Unknown => None,
                });
            }
            assert_eq!(order.waiting(), before - left);
            // What waits does so because the first entry runs.
            assert!(order.waiting() == 0 || order.first().flatten().is_some_and(|quad| running.contains(&(quad - 100))));
        }
        assert_eq!(written, entries);
    }
}
