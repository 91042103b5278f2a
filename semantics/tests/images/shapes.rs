//! One and three dimensions, layers and cubes, compared with a second implementation. Texels are
//! computed in exact fractions. Faces and edges follow the specification's table. Simulated devices
//! stay within the precision, and planted bugs are caught.

use smallstep_semantics::image::{
    AddressMode, Filter, Format, Image, ImageError, Location, Lod, Precision, Rules, Sampler, Sampling, Shape,
};
use smallstep_semantics::number::{Inexact, Interval};

use crate::random::Random;
use crate::second::{PARTS, walk};

const PRECISION: Precision = Precision { sub_texel_bits: 8, mipmap_bits: 8, filter_bits: 12 };
const FILTERS: [Filter; 2] = [Filter::Nearest, Filter::Linear];

/// A sample of an image with one level of bytes.
struct Case {
    image: Image,
    texels: Vec<u8>,
    sampler: Sampler,
    /// s, t and r in parts. For a cube, the direction in parts.
    at: [i128; 3],
    /// The layer, in halves.
    layer: i64,
    offset: [i32; 3],
}

impl Case {
    fn random(random: &mut Random, shape: Shape) -> Case {
        let [width, height, depth] = [0; 3].map(|_| random.between(1, 5) as u32);
        let sides = match shape {
            Shape::D1 => [width, 1, 1],
            Shape::D1Array => [width, 1, depth],
            Shape::D2 => [width, height, 1],
            Shape::D2Array | Shape::D3 => [width, height, depth],
            Shape::Cube => [width, width, 6],
            Shape::CubeArray => [width, width, 6 * depth],
        };
        let mut image = Image::of_shape(Format::R8Unorm, shape, sides, 1).expect("a small image");
        let texels: Vec<u8> = (0..sides.iter().product::<u32>()).map(|_| random.next() as u8).collect();
        image.fill(0, &texels).expect("its bytes");
        let filter = random.one_of(&FILTERS);
        let sampler = Sampler { mag: filter, min: filter, address: [0; 3].map(|_| random.one_of(&AddressMode::ALL)), ..Sampler::default() };
        let at = match shape {
            Shape::Cube | Shape::CubeArray => {
                // The greatest component is 1 or -1, and others may be too. So quotients are exact.
                let major = random.below(3);
                let mut at = [0; 3].map(|_| i128::from(random.between(-64, 64)) * (PARTS / 64));
                at[major] = random.one_of(&[PARTS, -PARTS]);
                at
            }
            _ => [0, 1, 2].map(|axis: usize| match random.below(4) {
                0 => i128::from(random.between(-4, 8)) * PARTS / i128::from((sides[axis] as u64).next_power_of_two()),
                _ => i128::from(random.between(-(3 << 19), 4 << 19)) * 32,
            }),
        };
        let offset = if random.below(3) == 0 { [0; 3].map(|_| random.between(-8, 7) as i32) } else { [0; 3] };
        Case { image, texels, sampler, at, layer: random.between(-3, 2 * i64::from(depth) + 3), offset }
    }

    fn location(&self) -> Location {
        let at = self.at.map(|x| Inexact::exact(x as f64 / PARTS as f64));
        Location { at, layer: Inexact::exact(self.layer as f64 / 2.0) }
    }

    fn sampling<'a>(&'a self, rules: &'a Rules) -> Sampling<'a> {
        Sampling { image: &self.image, sampler: &self.sampler, precision: PRECISION, rules, offset: self.offset }
    }

    fn text(&self) -> String {
        format!("{:?} {:?} {:?} at {:?} offset {:?}", self.image.shape(), self.image.sides(0), self.sampler, self.location(), self.offset)
    }

    fn size(&self) -> [i128; 3] {
        self.image.sides(0).expect("level 0").map(i128::from)
    }

    fn texel(&self, [i, j, k]: [i128; 3]) -> i128 {
        let [width, height, _] = self.size();
        i128::from(self.texels[((k * height + j) * width + i) as usize])
    }

    /// The layer. `up` says how a device rounds halves: up or to even.
    fn layer(&self, up: bool) -> i128 {
        let layers = if self.image.shape() == Shape::CubeArray { self.size()[2] / 6 } else { self.size()[2] };
        let last = layers - 1;
        let half = i128::from(self.layer);
        let (floor, is_half) = (half.div_euclid(2), half.rem_euclid(2) == 1);
        let to_even = floor + i128::from(is_half && floor.rem_euclid(2) == 1);
        (if up { floor + i128::from(is_half) } else { to_even }).clamp(0, last)
    }

    /// The sample in exact fractions, on a device with three choices: how it snaps unnormalized
    /// coordinates, how it rounds halves of layers, and what it makes of the three texels at a
    /// cube's corner.
    fn second(&self, snap: impl Fn(i128) -> i128, up: bool, corner: fn([i128; 3]) -> i128) -> f64 {
        let size = self.size();
        let shape = self.image.shape();
        match shape {
            Shape::Cube => return self.on_cube(snap, 0, corner),
            Shape::CubeArray => return self.on_cube(snap, self.layer(up), corner),
            _ => {}
        }
        let axes = shape.axes();
        let layer = if shape.is_layered() { self.layer(up) } else { 0 };
        let texel = |at: [i128; 3]| {
            let mut place = [0, 0, layer];
            for axis in 0..axes {
                match walk(self.sampler.address[axis], at[axis] + i128::from(self.offset[axis]), size[axis]) {
                    Some(i) => place[axis] = i,
                    None => return 0,
                }
            }
            self.texel(place)
        };
        let u = [0, 1, 2].map(|axis: usize| if axis < axes { snap(self.at[axis] * size[axis]) } else { 0 });
        if self.sampler.mag == Filter::Nearest {
            return texel(u.map(|u| u.div_euclid(PARTS))) as f64 / 255.0;
        }
        let mut sum = 0.0;
        for corner in 0..1 << axes {
            let (mut at, mut weight) = ([0; 3], 1.0);
            for axis in 0..axes {
                let moved = u[axis] - PARTS / 2;
                let part = moved.rem_euclid(PARTS);
                let second = corner >> axis & 1 == 1;
                at[axis] = moved.div_euclid(PARTS) + i128::from(second);
                weight *= (if second { part } else { PARTS - part }) as f64 / PARTS as f64;
            }
            sum += weight * texel(at) as f64;
        }
        sum / 255.0
    }

    /// A sample of the cube with number `cubes`, by the specification's table of faces, row by row.
    fn on_cube(&self, snap: impl Fn(i128) -> i128, cubes: i128, corner: fn([i128; 3]) -> i128) -> f64 {
        let [x, y, z] = self.at;
        let (face, sc, tc, rc) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
            if z > 0 { (4, x, -y, z) } else { (5, -x, -y, -z) }
        } else if y.abs() >= x.abs() {
            if y > 0 { (2, x, z, y) } else { (3, x, -z, -y) }
        } else if x > 0 {
            (0, -z, -y, x)
        } else {
            (1, z, -y, -x)
        };
        assert_eq!(rc, PARTS);
        let n = self.size()[0];
        let [u, v] = [sc, tc].map(|c| snap((c + PARTS) * n / 2));
        let stored = |i: i128, j: i128, face: i128| self.texel([i, j, 6 * cubes + face]);
        let texel = |i: i128, j: i128| match (i < 0, i >= n, j < 0, j >= n) {
            (false, false, false, false) => stored(i, j, face),
            _ => {
                let (within_i, within_j) = (i.clamp(0, n - 1), j.clamp(0, n - 1));
                let beside = |i: i128, j: i128| {
                    let (face, i, j) = beside(face, i, j, n);
                    stored(i, j, face)
                };
                match (i != within_i, j != within_j) {
                    (true, true) => corner([stored(within_i, within_j, face), beside(i, within_j), beside(within_i, j)]) / 3,
                    _ => beside(i, j),
                }
            }
        };
        if self.sampler.mag == Filter::Nearest {
            let [i, j] = [u, v].map(|u| u.div_euclid(PARTS).clamp(0, n - 1));
            return texel(i, j) as f64 / 255.0;
        }
        let [u, v] = [u, v].map(|u| u - PARTS / 2);
        let ([i, j], [a, b]) = ([u, v].map(|u| u.div_euclid(PARTS)), [u, v].map(|u| u.rem_euclid(PARTS)));
        // Texels at corners are counted in thirds.
        let three = |i: i128, j: i128| {
            let out = |i: i128| i < 0 || i >= n;
            if out(i) && out(j) {
                let (within_i, within_j) = (i.clamp(0, n - 1), j.clamp(0, n - 1));
                let [p, q] = [beside(face, i, within_j, n), beside(face, within_i, j, n)];
                corner([stored(within_i, within_j, face), stored(p.1, p.2, p.0), stored(q.1, q.2, q.0)])
            } else {
                3 * texel(i, j)
            }
        };
        let sum = (PARTS - a) * (PARTS - b) * three(i, j)
            + a * (PARTS - b) * three(i + 1, j)
            + (PARTS - a) * b * three(i, j + 1)
            + a * b * three(i + 1, j + 1);
        sum as f64 / (PARTS * PARTS) as f64 / 765.0
    }
}

/// The neighbour across each edge of each face, by hand. The edges are left, right, top and bottom.
fn beside(face: i128, i: i128, j: i128, n: i128) -> (i128, i128, i128) {
    let (l, ri, rj) = (n - 1, n - 1 - i, n - 1 - j);
    match (face, i < 0, i >= n, j < 0) {
        (0, true, ..) => (4, l, j),
        (0, _, true, _) => (5, 0, j),
        (0, _, _, true) => (2, l, ri),
        (0, ..) => (3, l, i),
        (1, true, ..) => (5, l, j),
        (1, _, true, _) => (4, 0, j),
        (1, _, _, true) => (2, 0, i),
        (1, ..) => (3, 0, ri),
        (2, true, ..) => (1, j, 0),
        (2, _, true, _) => (0, rj, 0),
        (2, _, _, true) => (5, ri, 0),
        (2, ..) => (4, i, 0),
        (3, true, ..) => (1, rj, l),
        (3, _, true, _) => (0, j, l),
        (3, _, _, true) => (4, i, l),
        (3, ..) => (5, ri, l),
        (4, true, ..) => (1, l, j),
        (4, _, true, _) => (0, 0, j),
        (4, _, _, true) => (2, i, l),
        (4, ..) => (3, i, 0),
        (_, true, ..) => (0, l, j),
        (_, _, true, _) => (1, 0, j),
        (_, _, _, true) => (2, ri, 0),
        (..) => (3, ri, l),
    }
}

/// The sum of three texels, which is three times the average.
fn average(of: [i128; 3]) -> i128 {
    of.iter().sum()
}

/// Describes the first case whose value differs from the second implementation's or is not in its
/// own set.
fn disagreement(rules: &Rules, cases: u64, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    (0..cases).find_map(|n| {
        let case = Case::random(&mut random, Shape::ALL[n as usize % Shape::ALL.len()]);
        let lod = Lod::Explicit(Inexact::exact(0.0));
        let sampled = case.sampling(rules).sample(case.location(), lod, None).expect("a valid sampler");
        let expected = case.second(|u| u, false, average);
        let found = f64::from(f32::from_bits(sampled.bits[0]));
        if (found - expected).abs() > 1e-6 {
            return Some(format!("{}: found {found}, in fractions {expected}", case.text()));
        }
        let inside = sampled.allowed.admits(sampled.bits.map(|bits| f32::from_bits(bits).into()));
        (!inside).then(|| format!("{}: {sampled:?} is not in its own set", case.text()))
    })
}

#[test]
fn samples_of_every_shape_are_what_fractions_say() {
    assert_eq!(disagreement(&Rules::default(), 30_000, 5), None);
}

#[test]
fn devices_within_the_precision_stay_within_the_sets_of_every_shape() {
    let mut random = Random(6);
    let mut narrow = 0;
    for n in 0..12_000 {
        let case = Case::random(&mut random, Shape::ALL[n % Shape::ALL.len()]);
        let rules = Rules::default();
        let lod = Lod::Explicit(Inexact::exact(0.0));
        let sampled = case.sampling(&rules).sample(case.location(), lod, None).expect("a valid sampler");
        let step = PARTS >> 8;
        let corners: [fn([i128; 3]) -> i128; 3] = [average, |of| 3 * of[0], |of| 3 * of[1].max(of[2])];
        for (snap, up, corner) in [(0, false, corners[0]), (step / 2, true, corners[1]), (step - 1, true, corners[2])] {
            let shown = case.second(|u| (u + snap).div_euclid(step) * step, up, corner) as f32;
            let admitted = sampled.allowed.admits([shown.into(), 0.0, 0.0, 1.0]);
            assert!(admitted, "{}: a device shows {shown}, allowed {:?}", case.text(), sampled.allowed);
        }
        let hull = sampled.allowed.hull(0);
        narrow += u32::from(hull.high - hull.low < 0.05);
    }
    assert!(narrow > 8_000, "{narrow} narrow");
}

/// The level that the derivatives of a direction or of coordinates select. In the image, all texels
/// of level l are l.
fn level(rules: &Rules, shape: Shape, sides: [u32; 3], at: [f32; 3], dx: [f32; 3], dy: [f32; 3]) -> (u32, Interval) {
    let mut image = Image::of_shape(Format::R32Sfloat, shape, sides, 4).expect("an image");
    for l in 0..4 {
        image.clear(l, [(l as f32).to_bits(); 4]).expect("a level");
    }
    let sampler = Sampler::default();
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules, offset: [0; 3] };
    let lod = Lod::Derivatives { dx: dx.map(Inexact::from), dy: dy.map(Inexact::from), bias: 0.0 };
    let sampled = sampling.sample(at.map(Inexact::from), lod, None).expect("a valid sampler");
    (f32::from_bits(sampled.bits[0]) as u32, sampled.allowed.hull(0))
}

/// Compares selected levels with results by hand.
fn levels(rules: &Rules) -> Result<(), String> {
    for (shape, sides, at, dx, dy, expected) in [
        // ∂s = ½·∂sc/|rc|, in a face of 8 texels.
        (Shape::Cube, [8, 8, 6], [1.0, 0.0, 0.0], [0.0, 0.0, 0.25], [0.0; 3], 0),
        (Shape::Cube, [8, 8, 6], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3], 2),
        (Shape::Cube, [8, 8, 6], [0.0, -2.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0], 1),
        // On the major axis, movement along it changes nothing. Beside it, the change
        // is ½·tc·∂|rc|/rc².
        (Shape::Cube, [8, 8, 6], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0; 3], 0),
        (Shape::Cube, [8, 8, 6], [0.0, 0.5, -1.0], [0.0, 0.0, 2.0], [0.0; 3], 2),
        // In an image of three dimensions the third derivative counts. In a layered image it
        // does not.
        (Shape::D3, [8, 8, 8], [0.5; 3], [0.0, 0.0, 0.5], [0.0; 3], 2),
        (Shape::D3, [8, 4, 2], [0.5; 3], [0.0, 0.0, 1.0], [0.0; 3], 1),
        (Shape::D2Array, [8, 8, 8], [0.5; 3], [0.0, 0.0, 0.5], [0.0; 3], 0),
        (Shape::D1, [8, 1, 1], [0.5; 3], [0.25, 1.0, 1.0], [0.0; 3], 1),
    ] {
        let (found, allowed) = level(rules, shape, sides, at, dx, dy);
        if found != expected || !allowed.contains(f64::from(found)) {
            return Err(format!("{shape:?} of {sides:?} at {at:?}, {dx:?}, {dy:?}: level {found} of {allowed:?}, by hand {expected}"));
        }
    }
    Ok(())
}

#[test]
fn derivatives_of_every_shape_lead_to_the_levels_by_hand() {
    assert_eq!(levels(&Rules::default()), Ok(()));
}

/// Compares gathers over the edge of a face with results by hand. Each face of the cube is one
/// texel, its number.
fn gathers(rules: &Rules) -> Result<(), String> {
    let mut image = Image::of_shape(Format::R32Sfloat, Shape::Cube, [1, 1, 6], 1).expect("an image");
    let texels: Vec<u8> = (0..6).flat_map(|face| (face as f32).to_le_bytes()).collect();
    image.fill(0, &texels).expect("its bytes");
    let sampler = Sampler::default();
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules, offset: [0; 3] };
    // To the right of the middle of +X and below it. The texels i0j1, i1j1, i1j0 and i0j0 are -Y,
    // the corner of +X, -Y and -Z, then -Z, and +X.
    let at = [1.0, -0.25, -0.25].map(Inexact::from);
    let gathered = sampling.gather(at, 0, None).expect("a valid sampler").bits.map(f32::from_bits);
    let expected = [3.0, 8.0 / 3.0, 5.0, 0.0];
    if gathered != expected { Err(format!("gathered {gathered:?}, by hand {expected:?}")) } else { Ok(()) }
}

#[test]
fn gathers_go_over_edges() {
    assert_eq!(gathers(&Rules::default()), Ok(()));
}

#[test]
fn every_planted_bug_of_shapes_is_caught() {
    let right = Rules::default();
    let bugs: [(&str, Rules); 16] = [
        ("x wins over y", Rules { face: |[x, y, z]| (Rules::default().face)([x * 1.000_001, y, z]), ..right }),
        ("y wins over z", Rules { face: |[x, y, z]| (Rules::default().face)([x, y * 1.000_001, z]), ..right }),
        ("the faces change places", Rules { face: |r| (Rules::default().face)(r) ^ 1, ..right }),
        (
            "t is not turned on +Y",
            Rules {
                on_face: |face, r| {
                    let [s, t, m] = (Rules::default().on_face)(face, r);
                    if face == 2 { [s, -t, m] } else { [s, t, m] }
                },
                ..right
            },
        ),
        ("the magnitude keeps its sign", Rules { on_face: |face, r| (Rules::default().on_face)(face & !1, r), ..right }),
        ("faces end at their edges", Rules { beside: |face, [i, j], n| (face, [i.clamp(0, n - 1), j.clamp(0, n - 1)]), ..right }),
        (
            "what is beyond the edge is turned round",
            Rules {
                beside: |face, at, n| {
                    let (face, [i, j]) = (Rules::default().beside)(face, at, n);
                    (face, [j, i])
                },
                ..right
            },
        ),
        ("a corner is its own face's texel", Rules { corner: |[a, _, _]| a, ..right }),
        ("slices change places", Rules { depth: |c| [c, 1.0 - c], ..right }),
        ("the nearer slice alone", Rules { depth: |c| if c < 0.5 { [1.0, 0.0] } else { [0.0, 1.0] }, ..right }),
        ("layers are rounded down", Rules { layer: f64::floor, ..right }),
        ("faces come before layers", Rules { slice: |layer, face| layer + face, ..right }),
        ("every cube is the first", Rules { slice: |_, face| face, ..right }),
        ("halves of layers are rounded away from zero", Rules { layer: f64::round, ..right }),
        ("the third derivative does not count", Rules { scale_factor: |[[a, b, _], [c, d, _]]| a.hypot(b).max(c.hypot(d)), ..right }),
        (
            "derivatives are those of the direction",
            Rules {
                on_face: |face, r| {
                    let [s, t, m] = (Rules::default().on_face)(face, r);
                    [s, t, if m > 1.5 { 1.0 } else { m }]
                },
                ..right
            },
        ),
    ];
    for (name, rules) in bugs {
        let caught = disagreement(&rules, 6_000, 7).or_else(|| levels(&rules).err()).or_else(|| gathers(&rules).err());
        assert!(caught.is_some(), "not caught: {name}");
    }
}

#[test]
fn directions_that_are_sets_reach_every_face_that_they_may() {
    let mut image = Image::of_shape(Format::R32Sfloat, Shape::Cube, [1, 1, 6], 1).expect("an image");
    let texels: Vec<u8> = (0..6).flat_map(|face| (face as f32).to_le_bytes()).collect();
    image.fill(0, &texels).expect("its bytes");
    let (rules, sampler) = (Rules::default(), Sampler::default());
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
    let shows = |at: [Interval; 3]| {
        let at = at.map(|allowed| Inexact { value: allowed.low, allowed });
        let allowed = sampling.sample(at, Lod::Explicit(Inexact::exact(0.0)), None).expect("valid").allowed;
        (0..6).filter(|&face| allowed.admits([f64::from(face), 0.0, 0.0, 1.0])).collect::<Vec<_>>()
    };
    let (p, i) = (Interval::point, Interval::between);
    assert_eq!(shows([p(1.0), p(0.5), p(-0.25)]), [0]);
    assert_eq!(shows([p(-1.0), i(0.5, 2.0), p(0.0)]), [1, 2]);
    assert_eq!(shows([p(1.0), p(1.0), p(-1.0)]), [0, 2, 5], "which of equals wins is a recommendation");
    assert_eq!(shows([i(-1.0, 1.0), p(0.25), p(0.0)]), [0, 1, 2]);
    assert_eq!(shows([i(-1.0, 1.0), p(0.0), p(0.0)]), [0, 1, 2, 3, 4, 5], "a direction without a length");
    assert_eq!(shows([p(f64::NAN), p(0.0), p(1.0)]), [0, 1, 2, 3, 4, 5]);
    let layer = |layer: Interval| {
        let mut image = Image::of_shape(Format::R32Sfloat, Shape::D1Array, [1, 1, 3], 1).expect("an image");
        image.fill(0, &[0f32, 1.0, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("12 bytes");
        let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
        let at = Location { layer: Inexact { value: layer.low, allowed: layer }, ..Location::from([Inexact::exact(0.5); 2]) };
        let allowed = sampling.sample(at, Lod::Explicit(Inexact::exact(0.0)), None).expect("valid").allowed;
        (0..3).filter(|&layer| allowed.admits([f64::from(layer), 0.0, 0.0, 1.0])).collect::<Vec<_>>()
    };
    assert_eq!((layer(p(0.5)), layer(p(1.5)), layer(p(1.25))), (vec![0, 1], vec![2], vec![1]));
    let cube = |layer: Interval| {
        let mut image = Image::of_shape(Format::R32Sfloat, Shape::CubeArray, [1, 1, 18], 1).expect("an image");
        let texels: Vec<u8> = (0..18).flat_map(|slice| (slice as f32).to_le_bytes()).collect();
        image.fill(0, &texels).expect("its bytes");
        let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
        let at = [1.0, 1.0, -0.5].map(Inexact::exact);
        let at = Location { at, layer: Inexact { value: layer.low, allowed: layer } };
        let allowed = sampling.sample(at, Lod::Explicit(Inexact::exact(0.0)), None).expect("valid").allowed;
        (0..18).filter(|&slice| allowed.admits([f64::from(slice), 0.0, 0.0, 1.0])).collect::<Vec<_>>()
    };
    assert_eq!((cube(p(1.0)), cube(p(0.5))), (vec![6, 8], vec![0, 2, 6, 8]), "faces of each layer");
    assert_eq!((cube(p(9.0)), cube(i(-1.0, 0.25))), (vec![12, 14], vec![0, 2]));
    assert_eq!((layer(p(-7.0)), layer(p(1e30)), layer(i(0.25, 0.75))), (vec![0], vec![2], vec![0, 1]));
}

#[test]
fn shapes_have_their_sides_and_levels() {
    let sides = |shape, sides, levels| Image::of_shape(Format::R8Unorm, shape, sides, levels).map(|image| image.sides(levels - 1));
    assert_eq!(sides(Shape::D3, [5, 3, 9], 4), Ok(Some([1, 1, 1])));
    assert_eq!(sides(Shape::D3, [5, 3, 9], 2), Ok(Some([2, 1, 4])));
    assert_eq!(sides(Shape::D2Array, [5, 3, 9], 3), Ok(Some([1, 1, 9])));
    assert_eq!(sides(Shape::D2Array, [5, 3, 9], 4), Err(ImageError::Levels(4, 3)));
    assert_eq!(sides(Shape::Cube, [4, 4, 6], 3), Ok(Some([1, 1, 6])));
    assert_eq!(sides(Shape::CubeArray, [4, 4, 12], 3), Ok(Some([1, 1, 12])));
    assert_eq!(sides(Shape::D1Array, [4, 1, 7], 3), Ok(Some([1, 1, 7])));
    for (shape, wrong) in [
        (Shape::D1, [4, 2, 1]),
        (Shape::D1, [4, 1, 2]),
        (Shape::D1Array, [4, 2, 2]),
        (Shape::D2, [4, 2, 2]),
        (Shape::Cube, [4, 2, 6]),
        (Shape::Cube, [4, 4, 5]),
        (Shape::CubeArray, [4, 4, 9]),
        (Shape::CubeArray, [4, 2, 12]),
    ] {
        assert_eq!(sides(shape, wrong, 1), Err(ImageError::Shape(shape)));
    }
    assert_eq!(sides(Shape::D3, [4, 4, 0], 1), Err(ImageError::Empty));
    assert_eq!(sides(Shape::D3, [u32::MAX; 3], 32), Err(ImageError::TooLarge));
}

#[test]
fn no_location_is_too_strange_for_any_shape() {
    let strange = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, 1e20, f32::MIN_POSITIVE, -1e-45, 0.0, -0.0, 0.5, 1.0];
    let mut random = Random(8);
    for n in 0..6_000 {
        let mut case = Case::random(&mut random, Shape::ALL[n % Shape::ALL.len()]);
        case.offset = random.one_of(&[[0; 3], [i32::MAX, i32::MIN, i32::MAX]]);
        let rules = Rules::default();
        let mut any = || Inexact::from(random.one_of(&strange));
        let at = Location { at: [any(), any(), any()], layer: any() };
        let lod = match n % 3 {
            0 => Lod::Explicit(any()),
            1 => Lod::Explicit(Inexact { value: 0.0, allowed: Interval::ANY }),
            _ => Lod::Derivatives { dx: [any(), any(), any()], dy: [any(), any(), any()], bias: 0.5 },
        };
        let sampled = case.sampling(&rules).sample(at, lod, None).expect("a valid sampler");
        let value = sampled.bits.map(|bits| f64::from(f32::from_bits(bits)));
        assert!(sampled.allowed.admits(value), "{} at {at:?} {lod:?}: {sampled:?}", case.text());
        case.sampling(&rules).gather(at, 7, None).expect("a valid sampler");
    }
}
