//! Blending on simulated devices with the precision of a format, and the stencil test by hand.

use smallstep_semantics::image::{Compare, Numeric};
use smallstep_semantics::number::Interval;
use smallstep_semantics::raster::{Blend, Equation, Factor, Operation, Rules, StencilBuffer, StencilFace, StencilOp, TestResult};

use crate::random::Random;

/// Rounds the result of an operation. The second number is the number of steps from 0 to 1 in
/// the format.
type Rounding = fn(f64, f64) -> f64;

const ROUNDINGS: [Rounding; 4] = [
    // No rounding.
    |x, _| x,
    |x, _| f64::from(x as f32),
    |x, steps| (x * steps).round() / steps,
    // Rounds down, except that a number less than 2^-22 below a number of the format becomes
    // that number.
    |x, steps| (x * steps + steps / f64::from(1 << 22)).floor() / steps,
];

/// Component c of the result on a device that rounds with `round`.
fn on_device(blend: &Blend, round: Rounding, steps: f64, [source, destination]: [[f64; 4]; 2], c: usize) -> f64 {
    let Equation { source: of_source, destination: of_destination, operation } = blend.equation(c);
    let round = |x: f64| round(x, steps);
    let [source, destination] = [source, destination].map(|colour| colour.map(|x| round(x.clamp(0.0, 1.0))));
    let factor = |factor: Factor| match factor {
        Factor::Zero => 0.0,
        Factor::One => 1.0,
        Factor::Source => source[c],
        Factor::OneMinusSource => round(1.0 - source[c]),
        Factor::Destination => destination[c],
        Factor::OneMinusDestination => round(1.0 - destination[c]),
        Factor::SourceAlpha => source[3],
        Factor::OneMinusSourceAlpha => round(1.0 - source[3]),
        Factor::DestinationAlpha => destination[3],
        Factor::OneMinusDestinationAlpha => round(1.0 - destination[3]),
        Factor::SourceAlphaSaturate if c == 3 => 1.0,
        Factor::SourceAlphaSaturate => source[3].min(round(1.0 - destination[3])),
    };
    let [x, y] = [source[c] * factor(of_source), destination[c] * factor(of_destination)].map(round);
    round(match operation {
        Operation::Add => x + y,
        Operation::Subtract => x - y,
        Operation::ReverseSubtract => y - x,
        Operation::Min => return source[c].min(destination[c]),
        Operation::Max => return source[c].max(destination[c]),
    })
}

#[test]
fn what_devices_blend_is_within_the_bounds_and_so_is_the_definite_value() {
    let mut random = Random(7);
    let mut exact = 0;
    for _ in 0..20_000 {
        let equation = |random: &mut Random| Equation {
            source: Factor::ALL[random.below(11)],
            destination: Factor::ALL[random.below(11)],
            operation: Operation::ALL[random.below(5)],
        };
        let blend = Blend { colour: equation(&mut random), alpha: equation(&mut random) };
        let width = [5, 8, 10][random.below(3)];
        let steps = ((1u64 << width) - 1) as f64;
        // A source is any float. An attachment holds codes of the format.
        let source = [0; 4].map(|_| f64::from(f32::from_bits(random.below(0x3f90_0000) as u32)));
        let source = source.map(|x| if random.below(2) == 0 { random.below(5) as f64 / 4.0 } else { x });
        let destination = [0; 4].map(|_| random.below(1 << width) as f64 / steps);
        let colours = [source, destination];
        for c in 0..4 {
            let format = (Numeric::Unorm, width as u8);
            let allowed = blend.allowed(format, colours.map(|colour| colour.map(Interval::point)), c);
            let definite = blend.definite(&Rules::default(), format, colours, c);
            // The error of 32-bit floats is too small to matter in a conversion to the format.
            let near = |x: f64| allowed.low - 1e-6 <= x && x <= allowed.high + 1e-6;
            assert!(near(definite), "{blend:?} of {colours:?}, {c}: {definite} is not in {allowed:?}");
            for round in ROUNDINGS {
                let shown = on_device(&blend, round, steps, colours, c);
                assert!(near(shown), "{blend:?} of {colours:?}, {c}: {shown} is not in {allowed:?}");
            }
            // Each operation adds at most one unit of the format.
            assert!(allowed.high - allowed.low <= 8.0 / steps, "{blend:?} of {colours:?}, {c}: {allowed:?}");
            exact += u32::from(allowed.low == allowed.high);
        }
    }
    assert!(exact > 5_000, "{exact}");
}

#[test]
fn floats_are_blended_within_the_precision_of_their_format() {
    let equation = Equation { source: Factor::SourceAlpha, destination: Factor::OneMinusSourceAlpha, operation: Operation::Add };
    let blend = Blend { colour: equation, alpha: equation };
    let allowed = |width: u8, source: [f64; 4], destination: [f64; 4]| {
        blend.allowed((Numeric::Float, width), [source, destination].map(|colour| colour.map(Interval::point)), 0)
    };
    for width in [16, 32] {
        let half = allowed(width, [3.0, 0.0, 0.0, 0.5], [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!((half.low, half.high), (1.0, 1.0));
    }
    // A third is no float, and neither is the result.
    let third = f64::from(1.0f32 / 3.0);
    let [half, float] = [16, 32].map(|width| allowed(width, [third, 0.0, 0.0, third], [1.0, 0.0, 0.0, 1.0]));
    let exact = third * third + (1.0 - third);
    assert!(float.low < exact && exact < float.high && float.high - float.low < 1e-6, "{float:?}");
    assert!(half.low < float.low && float.high < half.high && half.high - half.low < 1e-2, "{half:?}");
    assert!(allowed(16, [60_000.0, 0.0, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0, 1.0]).is_any());
}

const FACE: StencilFace = StencilFace {
    fail: StencilOp::Zero,
    pass: StencilOp::Replace,
    depth_fail: StencilOp::Invert,
    compare: Compare::Less,
    compare_mask: 0x0f,
    write_mask: 0xf0,
    reference: 0x35,
};

#[test]
fn stencils_by_hand() {
    let rules = Rules::default();
    let sure = |passed: bool| TestResult { passed, certain: true };
    // 5 < 7 passes and 5 < 4 does not. Only the high bits are written.
    for (value, passes, depth, after) in
        [(0x17, true, true, 0x37), (0x17, true, false, 0xe7), (0x14, false, true, 0x04), (0x14, false, false, 0x04)]
    {
        let mut buffer = StencilBuffer::holding(2, vec![0, value]).expect("a row");
        assert_eq!(buffer.test(&rules, [1, 0], &[FACE]), sure(passes));
        buffer.update(&rules, [1, 0], &[FACE], sure(depth), (true, true));
        assert_eq!((buffer.values(), buffer.possible(1).count()), (&[0, after][..], 0), "{value:#x}");
    }
}

#[test]
fn what_a_device_may_hold_is_every_value_that_it_may_come_to() {
    let rules = Rules::default();
    let possible = |buffer: &StencilBuffer| buffer.possible(0).collect::<Vec<_>>();
    let mut buffer = StencilBuffer::holding(1, vec![0x17]).expect("a row");
    // A fragment that only some devices have, and whose depth test may pass or fail.
    buffer.update(&rules, [0, 0], &[FACE], TestResult { passed: false, certain: false }, (false, false));
    assert_eq!((buffer.values(), possible(&buffer)), (&[0x17][..], vec![0x17, 0x37, 0xe7]));
    // All possible values pass the test by their low bits. Then only one of the two faces lets
    // them pass.
    assert_eq!(buffer.test(&rules, [0, 0], &[FACE]), TestResult { passed: true, certain: true });
    let never = StencilFace { compare: Compare::Never, ..FACE };
    assert_eq!(buffer.test(&rules, [0, 0], &[FACE, never]), TestResult { passed: true, certain: false });
    let sure = TestResult { passed: true, certain: true };
    buffer.update(&rules, [0, 0], &[FACE, never], sure, (true, true));
    assert_eq!((buffer.values(), possible(&buffer)), (&[0x37][..], vec![0x07, 0x37]));
    // An operation that gives all possible values the same result leaves one value.
    buffer.update(&rules, [0, 0], &[StencilFace { write_mask: 0xff, ..never }], sure, (true, true));
    assert_eq!((buffer.values(), possible(&buffer)), (&[0][..], vec![]));
}
