//! The number library never claims more than devices must do. Simulated devices use every liberty
//! of the precision rules. Each lane that the library calls decided is compared with theirs, bit
//! for bit. Planted rules that claim too much are caught by this comparison.

#[path = "number_devices/device.rs"]
mod device;
#[path = "number_devices/program.rs"]
mod program;
#[path = "number_devices/sets.rs"]
mod sets;

use device::Device;
use program::{Kind, Program, Random, Shape};
use smallstep_semantics::number::{Arithmetic, Expected, Grid, Lane, Lanes, Op, Planted, Profile, Tuple};

/// The number of lanes of operations, and the number of decided lanes under each profile.
#[derive(Default, Debug)]
struct Count {
    lanes: u64,
    strict: u64,
    wgsl: u64,
}

/// Describes the first lane that is decided under a profile and that a device contradicts.
fn contradiction(program: &Program, devices: u64, seed: u64, count: &mut Count) -> Option<String> {
    let operations = || program.nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, Kind::Apply(_)));
    for (_, node) in operations() {
        count.lanes += node.lanes.len() as u64;
        for lane in &node.lanes {
            count.strict += lane.trust.is_decided(Profile::Strict) as u64;
            count.wgsl += lane.trust.is_decided(Profile::Wgsl) as u64;
        }
    }
    for profile in [Profile::Strict, Profile::Wgsl] {
        for device in 0..devices {
            let run = Device::run(program, profile, seed ^ device << 48);
            for (index, node) in operations() {
                for (lane, &bits) in node.lanes.iter().zip(&run.values[index]) {
                    let admitted = match node.shape {
                        Shape::Bool(_) if lane.trust.is_decided(profile) => Some(lane.bits == bits),
                        Shape::Bool(_) => None,
                        _ => lane.judge(profile).admits(bits),
                    };
                    if admitted == Some(false) {
                        return Some(format!("{profile:?}: node {index} is {bits:#010x} on a device, {lane:?}\n{}", text(program, index)));
                    }
                }
            }
        }
    }
    None
}

fn text(program: &Program, end: usize) -> String {
    let line = |(i, node): (usize, &program::Node)| {
        let values: Vec<String> = node.lanes.iter().map(|lane| format!("{:?}", lane.float())).collect();
        format!("{i}: {:?} {:?} = {}\n", node.kind, node.args, values.join(" "))
    };
    program.nodes[..=end].iter().enumerate().map(line).collect()
}

/// Draws programs until a device contradicts one. Returns its number and the contradiction.
fn search(arithmetic: Arithmetic, programs: u64, devices: u64, seed: u64) -> (Option<(u64, String)>, Count) {
    let mut random = Random(seed);
    let mut count = Count::default();
    for i in 0..programs {
        let length = 1 + random.below(9);
        let program = Program::generate(&mut random, length, &arithmetic);
        let device_seed = random.next();
        if let Some(found) = contradiction(&program, devices, device_seed, &mut count) {
            return (Some((i, found)), count);
        }
    }
    (None, count)
}

#[test]
fn no_legal_device_contradicts_a_decided_lane() {
    let (found, count) = search(Arithmetic::default(), 100_000, 3, 1);
    if let Some((i, found)) = found {
        panic!("program {i}: {found}");
    }
    println!("{count:?}");
    assert!(count.strict * 100 > count.lanes * 40, "too little was decided to mean much: {count:?}");
    assert!(count.wgsl * 100 > count.lanes * 25, "too little was decided to mean much: {count:?}");
}

#[test]
fn where_there_is_doubt_there_is_no_certificate() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let program = Program::generate(&mut random, 8, &Arithmetic::default());
        for lane in program.nodes.iter().flat_map(|node| &node.lanes) {
            assert!(lane.trust.doubt.is_none() || lane.trust.grid.is_none(), "{lane:?}");
        }
    }
}

/// Whether no operand is in doubt or special, so that a planted rule claims no more than it is
/// meant to.
fn sound(args: &[Tuple<'_>]) -> bool {
    args.iter().flat_map(|arg| arg.lanes).all(|lane| lane.trust.doubt.is_none() && (lane.float().is_normal() || lane.bits << 1 <= 2))
}

fn certified(args: &[Tuple<'_>]) -> bool {
    args.iter().flat_map(|arg| arg.lanes).all(|lane| lane.trust.grid.is_some())
}

fn claim(mut lanes: Lanes, of: impl Fn(&Lane) -> bool) -> Lanes {
    for lane in lanes.iter_mut().filter(|lane| of(lane)) {
        lane.trust.doubt = None;
    }
    lanes
}

fn restart(mut lanes: Lanes) -> Lanes {
    for lane in &mut lanes {
        if lane.trust.doubt.is_none() {
            lane.trust.grid = Grid::of(lane.float());
        }
    }
    lanes
}

fn normal(lane: &Lane) -> bool {
    lane.float().is_normal()
}

/// Rules that claim too much.
const PLANTED: &[(&str, Planted)] = &[
    ("division is decided", |op, args, lanes| if op == Op::Div && sound(args) { claim(lanes, normal) } else { lanes }),
    ("exact division is decided", |op, args, lanes| {
        let exact = |lane: &Lane| normal(lane) && lane.bits & 0xffff == 0;
        if op == Op::Div && sound(args) { claim(lanes, exact) } else { lanes }
    }),
    ("an integer square root is decided", |op, args, lanes| {
        if op == Op::Sqrt && sound(args) { claim(lanes, |lane| normal(lane) && lane.float().fract() == 0.0) } else { lanes }
    }),
    ("the logarithm of 1 is decided", |op, args, lanes| {
        if matches!(op, Op::Log | Op::Log2) && sound(args) { claim(lanes, |lane| lane.float() == 0.0) } else { lanes }
    }),
    ("a tie is decided", |op, args, lanes| if op == Op::Round && sound(args) { claim(lanes, |_| true) } else { lanes }),
    (
        "a tiny negative number's fraction is decided",
        |op, args, lanes| {
            if op == Op::Fract && sound(args) { claim(lanes, normal) } else { lanes }
        },
    ),
    ("dot is decided without a certificate", |op, args, lanes| if op == Op::Dot && sound(args) { claim(lanes, normal) } else { lanes }),
    ("cross is decided without a certificate", |op, args, lanes| if op == Op::Cross && sound(args) { claim(lanes, normal) } else { lanes }),
    ("mix is decided without a certificate", |op, args, lanes| if op == Op::Mix && sound(args) { claim(lanes, normal) } else { lanes }),
    ("a matrix product is decided without a certificate", |op, args, lanes| {
        if matches!(op, Op::MatrixTimesVector | Op::VectorTimesMatrix | Op::MatrixTimesMatrix) && sound(args) {
            claim(lanes, normal)
        } else {
            lanes
        }
    }),
    ("a subnormal operand of a core operation is kept", |op, args, lanes| {
        let kept = args.iter().flat_map(|arg| arg.lanes).all(|lane| lane.trust.doubt.is_none());
        if matches!(op, Op::Add | Op::Sub | Op::Negate) && kept { claim(lanes, |lane| lane.float().is_finite()) } else { lanes }
    }),
    (
        "a subnormal product is kept",
        |op, args, lanes| {
            if op == Op::Mul && sound(args) { claim(lanes, |lane| lane.float().is_subnormal()) } else { lanes }
        },
    ),
    ("a product that vanishes is a zero of its sign", |op, args, lanes| {
        if op == Op::Mul && sound(args) { claim(lanes, |lane| lane.float() == 0.0) } else { lanes }
    }),
    ("overflow is infinite", |op, args, lanes| {
        if matches!(op, Op::Add | Op::Sub | Op::Mul) && sound(args) { claim(lanes, |lane| lane.float().is_infinite()) } else { lanes }
    }),
    ("extended instructions keep the sign of zero", |op, _, mut lanes| {
        if matches!(op, Op::Min | Op::Max | Op::Floor | Op::Abs | Op::Fract) {
            lanes.iter_mut().for_each(|lane| lane.trust.zero_sign = true);
        }
        lanes
    }),
    ("a zero vector times a scalar keeps its sign", |op, _, mut lanes| {
        if op == Op::VectorTimesScalar {
            lanes.iter_mut().for_each(|lane| lane.trust.zero_sign = true);
        }
        lanes
    }),
    ("a product of a zero of unknown sign has a sign", |op, _, mut lanes| {
        if op == Op::Mul {
            lanes.iter_mut().for_each(|lane| lane.trust.zero_sign = true);
        }
        lanes
    }),
    ("a sum of zeros of unknown signs has a sign", |op, _, mut lanes| {
        if matches!(op, Op::Add | Op::Sub) {
            lanes.iter_mut().for_each(|lane| lane.trust.zero_sign = true);
        }
        lanes
    }),
    ("a select forgets its condition", |op, _, lanes| {
        if op == Op::Select { claim(lanes, |lane| lane.trust.doubt == Some(smallstep_semantics::number::Why::Control)) } else { lanes }
    }),
    ("a select keeps the certificate of an uncertified choice", |op, args, mut lanes| {
        if op == Op::Select && certified(&args[1..]) {
            lanes = restart(lanes);
        }
        lanes
    }),
    ("false and doubt, in doubt, is certain", |op, args, lanes| {
        let any_false = args.iter().all(|arg| arg.lanes.iter().any(|lane| !lane.is_true()));
        if matches!(op, Op::And | Op::All) && any_false { claim(lanes, |lane| !lane.is_true()) } else { lanes }
    }),
    ("a comparison of anything is certain", |op, args, lanes| {
        let finite = args.iter().flat_map(|arg| arg.lanes).all(|lane| lane.float().is_finite());
        if matches!(op, Op::LessThan | Op::Equal) && finite { claim(lanes, |_| true) } else { lanes }
    }),
    ("no term moves across a comparison", |op, args, mut lanes| {
        if matches!(op, Op::LessThan | Op::Equal | Op::GreaterThanEqual) && certified(args) {
            lanes.iter_mut().for_each(|lane| lane.trust.grid = Some(Grid::BOOLEAN));
        }
        lanes
    }),
    ("a rounded product is certified", |op, args, lanes| if op == Op::Mul && certified(args) { restart(lanes) } else { lanes }),
    ("a sum starts a new certificate", |op, args, lanes| {
        if matches!(op, Op::Add | Op::Sub) && certified(args) && lanes.iter().all(|lane| lane.trust.grid.is_some()) {
            restart(lanes)
        } else {
            lanes
        }
    }),
    ("a product starts a new certificate", |op, args, lanes| {
        if op == Op::Mul && certified(args) && lanes.iter().all(|lane| lane.trust.grid.is_some()) { restart(lanes) } else { lanes }
    }),
    ("a magnitude starts a new certificate", |op, _, mut lanes| {
        if matches!(op, Op::Abs | Op::Max | Op::Floor) && lanes.iter().all(|lane| lane.trust.grid.is_some()) {
            lanes = restart(lanes);
        }
        lanes
    }),
    ("the certificate forgets how small a part may become", |op, args, mut lanes| {
        if op == Op::Mul && certified(args) {
            for lane in &mut lanes {
                if let Some(grid) = &mut lane.trust.grid {
                    grid.low = grid.exponent.min(0);
                }
            }
        }
        lanes
    }),
];

#[test]
fn rules_that_claim_too_much_are_caught() {
    let mut survivors = Vec::new();
    for &(name, planted) in PLANTED {
        match search(Arithmetic { planted: Some(planted) }, 60_000, 3, 3) {
            (Some((i, _)), _) => println!("{name}: caught by program {i}"),
            (None, _) => survivors.push(name),
        }
    }
    assert!(survivors.is_empty(), "not caught: {survivors:#?}");
}

#[test]
fn undecided_is_neither_true_nor_false() {
    let third = smallstep_semantics::number::apply(Op::Div, &[Tuple::vector(&[Lane::exact(1.0)]), Tuple::vector(&[Lane::exact(3.0)])])[0];
    assert_eq!(third.judge(Profile::Strict).admits(third.bits), None);
    assert_eq!(Expected::Zero.admits(0x8000_0000), Some(true));
    assert_eq!(Expected::Zero.admits(1), Some(false));
    assert_eq!(Expected::Bits(1).admits(1), Some(true));
}
