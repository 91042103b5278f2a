//! The inputs of fragments against exact fractions, and the depth test.

use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::number::{Inexact, Interval};
use smallstep_semantics::raster::{DepthBuffer, Interpolation, Rules, State, TestResult, Viewport};

use crate::random::Random;
use crate::{flat, set_up, vertex};

/// Compares barycentric coordinates, attributes, depth and 1/w with exact fractions. The triangles
/// are random, on the grid, with small integers as w.
pub fn interpolated(rules: &Rules, cases: u64) -> Result<(), String> {
    let mut random = Random(9);
    let mut fragments = 0;
    for _ in 0..cases {
        let viewport = Viewport { min_depth: 0.25, max_depth: 0.75, ..Viewport::of_size(16, 16) };
        let state = State { viewport, ..State::of_size(16, 16) };
        // In sixteenths of a pixel.
        let at = [0; 3].map(|_| [0; 2].map(|_| random.between(0, 256)));
        let w = [0; 3].map(|_| random.between(1, 4));
        let z = [0; 3].map(|_| random.between(0, 8));
        let f = [0; 3].map(|_| random.between(-50, 50));
        let positions = [0, 1, 2].map(|i| vertex(at[i][0] as f32 / 16.0, at[i][1] as f32 / 16.0, z[i] as f32 / 8.0, w[i] as f32));
        let Some(triangle) = set_up(rules, &state, positions) else { continue };
        let cross = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let area = cross(at[0], at[1], at[2]);
        for _ in 0..10 {
            let (x, y) = (random.between(0, 15), random.between(0, 15));
            let p = [16 * x + 8, 16 * y + 8];
            let lambda = [cross(p, at[1], at[2]), cross(p, at[2], at[0]), cross(p, at[0], at[1])];
            let fail = |what: &str, found: f64, n: f64, d: f64| {
                Err(format!("{what} of {at:?} w {w:?} z {z:?} f {f:?} at {x}, {y}: found {found}, in fractions {}", n / d))
            };
            // λ over w, times the product of all w.
            let over_w = [lambda[0] * w[1] * w[2], lambda[1] * w[2] * w[0], lambda[2] * w[0] * w[1]];
            let dot = |a: [i64; 3], b: [i64; 3]| (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) as f64;
            let all = (w[0] * w[1] * w[2]) as f64;
            let sum = dot(over_w, [1; 3]);
            if sum * (area as f64) <= 0.0 {
                // Extrapolated past the horizon.
                continue;
            }
            let exact = triangle.barycentric(x, y);
            if exact.is_none_or(|(n, d)| (0..3).any(|i| n[i] * i128::from(area) != i128::from(lambda[i]) * d)) {
                return Err(format!("barycentric coordinates of {at:?} at {x}, {y}: {exact:?}, by hand {lambda:?} over {area}"));
            }
            let fragment = triangle.fragment(x, y);
            let values = f.map(|f| f as f32);
            // An extrapolated value may be large. The error of 32 bits is relative to the terms of
            // the sum.
            let terms = (0..3).map(|i| (over_w[i] * f[i]).abs() as f64).sum::<f64>() / sum.abs();
            let linear_terms = (0..3).map(|i| (lambda[i] * f[i]).abs() as f64).sum::<f64>() / (area as f64).abs();
            for how in [Interpolation::Perspective, Interpolation::Linear, Interpolation::Flat] {
                for values in [values, [values[0], f32::INFINITY, values[2]], [f32::NAN; 3]] {
                    let [alone, with_doubt] = [fragment.definite(values, how), fragment.interpolate(values, how).value as f32];
                    if alone.to_bits() != with_doubt.to_bits() && !(alone.is_nan() && with_doubt.is_nan()) {
                        return Err(format!("{how:?} of {values:?}: {alone} alone, and {with_doubt}"));
                    }
                }
            }
            let depths = z.map(|z| z + 4 * 2 - 8);
            for (what, found, n, d, terms) in [
                ("perspective", fragment.interpolate(values, Interpolation::Perspective), dot(over_w, f), sum, terms),
                ("linear", fragment.interpolate(values, Interpolation::Linear), dot(lambda, f), area as f64, linear_terms),
                ("flat", fragment.interpolate(values, Interpolation::Flat), f[0] as f64, 1.0, 1.0),
                ("1/w", fragment.coordinate[3], sum, area as f64 * all, 1.0),
                // A quarter and half of z.
                ("depth", fragment.coordinate[2], dot(lambda, depths) + 4.0 * area as f64, 16.0 * area as f64, 1.0),
            ] {
                let expected = n / d;
                // FragCoord's depth is limited to the range where the pixel is covered.
                let bound = 1e-6 * terms.max(1.0) + 1e-7 * expected.abs();
                if (found.value - expected).abs() > bound || !found.allowed.contains(found.value as f32 as f64) {
                    return fail(what, found.value, n, d);
                }
            }
            fragments += 1;
            let by_centre = [fragment.coordinate[0].value, fragment.coordinate[1].value];
            if by_centre != [x as f64 + 0.5, y as f64 + 0.5] || fragment.front != (area < 0) {
                return Err(format!("FragCoord {by_centre:?} or FrontFacing {} of {at:?} at {x}, {y}", fragment.front));
            }
        }
    }
    if fragments > cases { Ok(()) } else { Err(format!("only {fragments} fragments")) }
}

#[test]
fn attributes_are_what_fractions_say() {
    assert_eq!(interpolated(&Rules::default(), 2_000), Ok(()));
}

#[test]
fn perspective_by_hand() {
    // Halfway between w = 1 and w = 3 on the screen, the nearer end counts three times.
    let positions = [vertex(0.0, 0.0, 0.0, 1.0), vertex(16.0, 0.0, 0.5, 3.0), vertex(0.0, 32.0, 0.0, 1.0)];
    let triangle = set_up(&Rules::default(), &State::of_size(16, 16), positions).expect("visible");
    let fragment = triangle.fragment(7, 0);
    // λ of the vertices at (7.5, 0.5): 1 - 15/32 - 1/64, 15/32, 1/64.
    let [a, b, c] = [33.0 / 64.0, 30.0 / 64.0, 1.0 / 64.0];
    let perspective = fragment.interpolate([0.0, 1.0, 0.0], Interpolation::Perspective);
    assert!((perspective.value - (b / 3.0) / (a + b / 3.0 + c)).abs() < 1e-7, "{perspective:?}");
    assert!((fragment.interpolate([0.0, 1.0, 0.0], Interpolation::Linear).value - b).abs() < 1e-7);
    assert!((fragment.coordinate[3].value - (a + b / 3.0 + c)).abs() < 1e-12);
    assert!((fragment.coordinate[2].value - b * 0.5).abs() < 1e-12);
    assert!(fragment.barycentric().iter().sum::<f64>() - 1.0 < 1e-12);
}

#[test]
fn a_constant_stays_one_and_sets_are_narrow() {
    let triangle = set_up(&Rules::default(), &State::of_size(16, 16), flat([[0.1, 0.2], [15.3, 1.7], [3.3, 14.9]])).expect("visible");
    let fragment = triangle.fragment(5, 5);
    let constant = fragment.interpolate([7.0; 3], Interpolation::Perspective);
    assert!(constant.allowed.contains(7.0) && constant.allowed.high - constant.allowed.low < 3e-5, "{constant:?}");
    // The slope is about 1/15 per pixel. Vertices may move by 1/256 of a pixel in either direction.
    let sloped = fragment.interpolate([0.0, 1.0, 0.0], Interpolation::Perspective);
    let width = sloped.allowed.high - sloped.allowed.low;
    assert!(sloped.allowed.contains(sloped.value) && width > 2.0 / 256.0 / 16.0 && width < 4.0 / 256.0 / 10.0, "{sloped:?}");
    // A helper invocation has the value extrapolated beyond the triangle.
    let helper = triangle.fragment(15, 15).interpolate([0.0, 1.0, 0.0], Interpolation::Linear);
    assert!(helper.allowed.contains(helper.value) && helper.value > 0.5);
}

/// llvmpipe shows 0.75000113 here. In a narrow triangle whose vertices have different w, the
/// quotient of two planes may leave the range of the vertices' values.
#[test]
fn a_constant_with_perspective_loses_what_two_planes_do() {
    let at = |x: f32, number: f32, y: f32, w: f32| [x * 0.59375 - number * 0.171875, -(y * 0.59375 + 0.0703125), 0.0, 0.5 + w];
    let positions = [at(0.0, 0.0, 1.5, 1.5), at(0.5, 1.0, 1.5, 2.0), at(-1.5, 2.0, -0.5, 0.5)];
    let triangle = set_up(&Rules::default(), &State::of_size(6, 5), positions).expect("visible");
    let fragment = triangle.fragment(0, 2);
    let [perspective, linear] = [Interpolation::Perspective, Interpolation::Linear].map(|how| fragment.interpolate([0.75; 3], how));
    assert!(perspective.allowed.contains(0.75000113f32.into()) && !perspective.allowed.contains(0.75001), "{perspective:?}");
    assert!(!linear.allowed.contains(0.75000113f32.into()), "{linear:?}");
}

#[test]
fn depths_are_tested_as_sets() {
    let mut buffer = DepthBuffer::new(Format::D32Sfloat, 2, 2, 1.0).expect("a buffer");
    let near = Inexact { value: 0.5, allowed: Interval::between(0.4375, 0.5625) };
    let sure = TestResult { passed: true, certain: true };
    assert_eq!(buffer.test([0, 0], near, Compare::Less, true, true), sure);
    assert_eq!(buffer.depth(0, 0).expect("a pixel").0, near);
    // 0.52 against 0.4375 to 0.5625.
    let between = Inexact::exact(0.52);
    assert_eq!(buffer.test([0, 0], between, Compare::Less, true, true), TestResult { passed: false, certain: false });
    assert_eq!(buffer.depth(0, 0).expect("a pixel").0.value, 0.5);
    assert_eq!(buffer.test([0, 0], Inexact::exact(0.6), Compare::Less, true, true), TestResult { passed: false, certain: true });
    // After a fragment that some devices may lack, the buffer may hold either depth.
    assert_eq!(buffer.test([1, 0], Inexact::exact(0.25), Compare::Less, true, false), sure);
    let after = buffer.depth(1, 0).expect("a pixel").0;
    assert!(after.value == 0.25 && after.allowed.contains(1.0) && after.allowed.contains(0.25));
    assert_eq!(buffer.test([5, 5], near, Compare::Always, true, true), TestResult { passed: false, certain: true });
    assert!(
        DepthBuffer::new(Format::R8Unorm, 1, 1, 0.0).is_none() && DepthBuffer::new(Format::D16Unorm, u32::MAX, u32::MAX, 0.0).is_none()
    );
    // 16 bits: 0.5 is between two codes.
    let mut buffer = DepthBuffer::new(Format::D16Unorm, 1, 1, 1.0).expect("a buffer");
    buffer.test([0, 0], Inexact::exact(0.5), Compare::LessOrEqual, true, true);
    let stored = buffer.depth(0, 0).expect("a pixel").0;
    assert!(stored.allowed.contains(32767.0 / 65535.0) && stored.allowed.contains(32768.0 / 65535.0) && stored.value * 65535.0 == 32768.0);
}
