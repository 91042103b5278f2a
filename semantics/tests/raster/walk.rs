//! The quads of a triangle and the inputs of its inner quads, compared with each quad and
//! pixel alone.

use smallstep_semantics::raster::{Area, Interpolation, Quad, Rules, Setup, State, Triangle, Viewport};

use crate::random::Random;

/// Visible triangles, large and small, whole and cut, with several viewports, areas and rules.
fn triangles(count: usize) -> impl Iterator<Item = Triangle> {
    let mut random = Random(31);
    let rules = [
        Rules::default(),
        Rules { centre: |pixel, one| pixel * one, ..Rules::default() },
        // The centres are not in a line.
        Rules { centre: |pixel, one| pixel * one + if pixel == 5 { one - 1 } else { one / 2 }, ..Rules::default() },
    ];
    let one = move |n: usize| {
        let mut number = |low: i64, high: i64| random.between(low, high) as f32;
        let mut viewport = Viewport::of_size(24, 16);
        if n % 3 == 1 {
            viewport = Viewport { x: number(-8, 8) / 4.0, y: number(-8, 8) / 4.0, height: -16.0, ..viewport };
        }
        let area = if n % 4 == 1 { Area { x: 3, y: 1, end_x: 21, end_y: 15 } } else { Area::of_size(24, 16) };
        let state = State { viewport, area, ..State::of_size(24, 16) };
        let positions = [0; 3].map(|_| match n % 5 {
            0 => [number(-300, 300) / 100.0, number(-300, 300) / 100.0, number(0, 8) / 8.0, 1.0],
            1 => [number(-24, 24) / 8.0, number(-16, 16) / 8.0, number(0, 4) / 4.0, number(1, 3)],
            2 => [number(-9, 9), number(-9, 9), number(-2, 6) / 4.0, number(-1, 3)],
            3 => [number(-90, 90), number(-90, 90), 0.5, 1.0],
            _ => [number(-24, 24) / 12.0, number(-16, 16) / 8.0, 0.0, 1.0],
        });
        match Setup::new(&rules[n % 7 % 3], &state, positions).expect("a valid state") {
            Setup::Visible(triangle) => Some(*triangle),
            Setup::Nothing | Setup::Unknown => None,
        }
    };
    (0..count).filter_map(one)
}

#[test]
fn a_walk_comes_to_every_quad_and_tells_what_its_pixels_tell() {
    let (mut all, mut inner) = (0, 0);
    for triangle in triangles(6_000) {
        let walked: Vec<Quad> = triangle.quads().collect();
        let places = (0..16).step_by(2).flat_map(|y| (0..24).step_by(2).map(move |x| [x, y]));
        let one_by_one: Vec<Quad> = places.filter_map(|place| triangle.quad(place)).collect();
        let differs = walked.iter().zip(&one_by_one).find(|(walked, alone)| walked != alone);
        assert!(differs.is_none() && walked.len() == one_by_one.len(), "{differs:?} of {triangle:?}");
        all += walked.len();
        inner += walked.iter().filter(|quad| triangle.is_inner(quad)).count();
    }
    assert!(inner > all / 4 && inner < all, "{inner} of {all}");
}

#[test]
fn a_quad_inside_is_given_what_its_pixels_are() {
    let values = [1.5, -2.25, 1e-3];
    let mut compared = 0;
    for triangle in triangles(3_000) {
        for quad in triangle.quads().filter(|quad| triangle.is_inner(quad)) {
            let inner = triangle.inner([quad.x, quad.y]);
            for lane in 0..4 {
                let fragment = triangle.fragment(i64::from(quad.x) + lane as i64 % 2, i64::from(quad.y) + lane as i64 / 2);
                let coordinates = [0, 1, 2, 3].map(|c| (inner.coordinate(c)[lane], fragment.coordinate[c].value as f32));
                let how = [Interpolation::Perspective, Interpolation::Linear, Interpolation::Flat];
                let given = how.map(|how| (inner.interpolate(values, how)[lane], fragment.interpolate(values, how).value as f32));
                for (inner, alone) in coordinates.into_iter().chain(given) {
                    assert_eq!(inner.to_bits(), alone.to_bits(), "{coordinates:?} {given:?} of {triangle:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100_000, "{compared}");
}
