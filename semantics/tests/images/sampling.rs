//! Sampling against exact fractions. Results of simulated devices within the precision are in the
//! sets. Results under planted bugs are not.

use smallstep_semantics::image::{
    AddressMode, Allowed, Border, Compare, Filter, Format, Image, Lod, Numeric, Precision, Rules, Sampler, SamplerError, Sampling, lambda,
};
use smallstep_semantics::number::{Inexact, Interval};
use smallstep_semantics::undefined::Unspecified;

use crate::random::Random;
use crate::second::{Levels, PARTS};

const FILTERS: [Filter; 2] = [Filter::Nearest, Filter::Linear];

struct Case {
    image: Image,
    second: Levels,
    sampler: Sampler,
    /// s and t in parts.
    at: [i128; 2],
    /// The level of detail in parts.
    lod: i128,
    offset: [i32; 2],
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let [width, height] = [0; 2].map(|_| random.between(1, 9) as u32);
        let levels = random.between(1, i64::from(width.max(height).ilog2()) + 1) as u32;
        let mut image = Image::new(Format::R8Unorm, width, height, levels).expect("a small image");
        let mut second = Levels { sizes: Vec::new(), texels: Vec::new() };
        for level in 0..levels {
            let [width, height] = image.size(level).expect("a level");
            let texels: Vec<u8> = (0..width * height).map(|_| random.next() as u8).collect();
            image.fill(level, &texels).expect("its bytes");
            second.sizes.push([width.into(), height.into()]);
            second.texels.push(texels);
        }
        let sampler = Sampler {
            mag: random.one_of(&FILTERS),
            min: random.one_of(&FILTERS),
            mip: random.one_of(&FILTERS),
            address: [0; 3].map(|_| random.one_of(&AddressMode::ALL)),
            border: random.one_of(&[Border::TransparentBlack, Border::OpaqueBlack, Border::OpaqueWhite]),
            lod_min: random.one_of(&[0.0, 0.0, -2.0, 0.75]),
            lod_max: random.one_of(&[1000.0, 1000.0, 1.25]),
            ..Sampler::default()
        };
        // Coordinates are floats of at most 24 bits, here with up to 20 bits after the point. Some
        // lie on the boundaries of texels.
        let mut at = [0; 2];
        for (axis, coordinate) in at.iter_mut().enumerate() {
            let size = i64::from([width, height][axis]);
            *coordinate = match random.below(4) {
                0 => i128::from(random.between(-3 * size, 4 * size)) * PARTS / i128::from((size as u64).next_power_of_two()),
                _ => i128::from(random.between(-(3 << 19), 4 << 19)) * 32,
            };
        }
        let lod = match random.below(3) {
            0 => i128::from(random.between(-2, 5)) * PARTS / 2,
            _ => i128::from(random.between(-1 << 16, 4 << 16)) * (PARTS >> 16),
        };
        let offset = if random.below(3) == 0 { [random.between(-8, 7) as i32, random.between(-8, 7) as i32] } else { [0; 2] };
        Case { image, second, sampler, at, lod, offset }
    }

    fn sampling<'a>(&'a self, rules: &'a Rules) -> Sampling<'a> {
        Sampling { image: &self.image, sampler: &self.sampler, precision: PRECISION, rules, offset: [self.offset[0], self.offset[1], 0] }
    }

    fn coordinates(&self) -> [Inexact; 2] {
        self.at.map(|x| Inexact::exact(x as f64 / PARTS as f64))
    }

    fn lod(&self) -> Lod {
        Lod::Explicit(Inexact::exact(self.lod as f64 / PARTS as f64))
    }

    fn text(&self) -> String {
        format!("{:?} {:?} at {:?} lod {:?} offset {:?}", self.sampler, self.image.size(0), self.coordinates(), self.lod(), self.offset)
    }
}

const PRECISION: Precision = Precision { sub_texel_bits: 8, mipmap_bits: 8, filter_bits: 12 };

/// Describes the first case whose value differs from the second implementation's or is not in its
/// own set. `rules` may have a planted bug.
fn disagreement(rules: &Rules, cases: u64, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    (0..cases).find_map(|_| {
        let case = Case::random(&mut random);
        let sampled = case.sampling(rules).sample(case.coordinates(), case.lod(), None).expect("a valid sampler");
        let expected = case.second.sample(&case.sampler, case.at, case.lod, case.offset, |u| u);
        let found = sampled.bits.map(f32::from_bits);
        if (f64::from(found[0]) - expected).abs() > 1e-7 || found[1..] != [0.0, 0.0, 1.0] {
            return Some(format!("{}: found {found:?}, in fractions {expected}", case.text()));
        }
        let gathered = case.sampling(rules).gather(case.coordinates(), 0, None).expect("a valid sampler");
        if case.offset == [0; 2] {
            let expected = case.second.gather(&case.sampler, case.at);
            let found = gathered.bits.map(f32::from_bits);
            if found.iter().zip(expected).any(|(found, expected)| (f64::from(*found) - expected).abs() > 1e-7) {
                return Some(format!("{}: gathered {found:?}, in fractions {expected:?}", case.text()));
            }
        }
        for sampled in [sampled, gathered] {
            if !sampled.allowed.admits(sampled.bits.map(|bits| f32::from_bits(bits).into())) {
                return Some(format!("{}: {sampled:?} is not in its own set", case.text()));
            }
        }
        None
    })
}

#[test]
fn samples_are_what_fractions_say() {
    assert_eq!(disagreement(&Rules::default(), 20_000, 1), None);
}

#[test]
fn devices_within_the_precision_stay_within_the_sets() {
    let mut random = Random(2);
    let (mut narrow, mut alternatives) = (0, 0);
    for _ in 0..10_000 {
        let case = Case::random(&mut random);
        let rules = Rules::default();
        let sampled = case.sampling(&rules).sample(case.coordinates(), case.lod(), None).expect("a valid sampler");
        // Coordinates and levels rounded down, to nearest and up to 8 bits.
        let step = PARTS >> 8;
        for (snap, level) in [(0, 0), (step / 2, step / 2), (step - 1, step - 1), (0, step - 1), (step - 1, 0)] {
            let snapped = |x: i128, add: i128| (x + add).div_euclid(step) * step;
            let lod = snapped(case.lod, level);
            let shown = case.second.sample(&case.sampler, case.at, lod, case.offset, |u| snapped(u, snap)) as f32;
            let admitted = sampled.allowed.admits([shown.into(), 0.0, 0.0, 1.0]);
            assert!(admitted, "{}: a device shows {shown}, allowed {:?}", case.text(), sampled.allowed);
        }
        let hull = sampled.allowed.hull(0);
        narrow += u32::from(hull.high - hull.low < 0.05);
        alternatives += u32::from(sampled.allowed.0.len() > 1);
        assert!(!sampled.allowed.admits([-0.01, 0.0, 0.0, 1.0]) && !sampled.allowed.admits([1.01, 0.0, 0.0, 1.0]), "{}", case.text());
    }
    // The sets are not trivial: most are narrow, and some have alternatives.
    assert!(narrow > 6_000 && alternatives > 500, "{narrow} narrow, {alternatives} with alternatives");
}

#[test]
fn devices_may_measure_derivatives_in_any_permitted_way() {
    let mut random = Random(11);
    for _ in 0..5_000 {
        let case = Case::random(&mut random);
        let rules = Rules::default();
        let d = [0; 4].map(|_| random.between(-64, 64) as f32 / 128.0);
        let bias = random.between(-8, 8) as f32 / 4.0;
        let lod = Lod::flat([d[0].into(), d[1].into()], [d[2].into(), d[3].into()], bias);
        let sampled = case.sampling(&rules).sample(case.coordinates(), lod, None).expect("a valid sampler");
        let size = case.image.size(0).expect("level 0").map(f64::from);
        let m = [[d[0], d[1]], [d[2], d[3]]].map(|[s, t]| [f64::from(s.abs()) * size[0], f64::from(t.abs()) * size[1]]);
        let measures: [fn([f64; 2]) -> f64; 4] =
            [|[u, v]| u.max(v), |[u, v]| u + v, |[u, v]| u.hypot(v), |[u, v]| std::f64::consts::SQRT_2 * (u + v)];
        for measure in measures {
            let lambda = measure(m[0]).max(measure(m[1])).log2().max(-1000.0) + f64::from(bias);
            // Rounded down to 8 bits.
            let parts = ((lambda * 256.0).floor() as i128) * (PARTS >> 8);
            let shown = case.second.sample(&case.sampler, case.at, parts, case.offset, |u| u) as f32;
            let admitted = sampled.allowed.admits([shown.into(), 0.0, 0.0, 1.0]);
            assert!(admitted, "{}: {lod:?}: a device shows {shown}, allowed {:?}", case.text(), sampled.allowed);
        }
        let value = sampled.bits.map(|bits| f64::from(f32::from_bits(bits)));
        assert!(sampled.allowed.admits(value), "{}: {lod:?}: {sampled:?}", case.text());
    }
}

/// Checks by hand what the random tests do not compare: derivatives, bias, comparison, and borders
/// of integer images.
fn derived(rules: &Rules) -> Result<(), String> {
    let size = [64, 16, 1];
    let of = |dx: [f32; 2], dy: [f32; 2], bias: f32, sampler: &Sampler| {
        let lod = Lod::flat(dx.map(Inexact::from), dy.map(Inexact::from), bias);
        lambda(rules, sampler, size, lod, PRECISION).expect("numbers").lambda
    };
    let sampler = Sampler { lod_min: -1000.0, ..Sampler::default() };
    for (dx, dy, bias, by_sampler, expected) in [
        ([1.0 / 64.0, 0.0], [0.0, 1.0 / 16.0], 0.0, 0.0, 0.0),
        ([4.0 / 64.0, 0.0], [0.0, 0.0], 0.0, 0.0, 2.0),
        ([0.0, 0.0], [0.0, 8.0 / 16.0], 0.0, 0.0, 3.0),
        ([3.0 / 64.0, 4.0 / 16.0], [0.0, 0.0], 0.0, 0.0, 5f64.log2()),
        ([-4.0 / 64.0, 0.0], [0.0, 0.0], 1.5, -0.25, 3.25),
        ([4.0 / 64.0, 0.0], [0.0, 0.0], 40.0, 40.0, 17.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0, 0.0, -1000.0),
    ] {
        let found = of(dx, dy, bias, &Sampler { lod_bias: by_sampler, ..sampler });
        let wide = found.allowed.high - found.allowed.low;
        if (found.value - expected).abs() > 1e-12 || !found.allowed.contains(found.value) || wide > 1.6 {
            return Err(format!("derivatives {dx:?} {dy:?}, bias {bias}: λ is {found:?}, by hand {expected}"));
        }
    }
    let mut depth = Image::new(Format::D16Unorm, 2, 1, 1).expect("an image");
    depth.fill(0, &[0, 0x40, 0, 0xc0]).expect("4 bytes");
    for (compare, expected) in [(Compare::Less, [0.0, 1.0]), (Compare::GreaterOrEqual, [1.0, 0.0]), (Compare::Equal, [0.0, 0.0])] {
        let sampler = Sampler { compare: Some(compare), mag: Filter::Linear, address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
        let sampling = Sampling { image: &depth, sampler: &sampler, precision: PRECISION, rules, offset: [0; 3] };
        for (s, expected) in [(0.25, expected[0]), (0.75, expected[1]), (0.5, (expected[0] + expected[1]) / 2.0)] {
            let at = [Inexact::from(s), Inexact::from(0.5)];
            let sampled = sampling.sample(at, Lod::Explicit(Inexact::exact(0.0)), Some(Inexact::exact(0.5))).expect("a valid sampler");
            let found = f32::from_bits(sampled.bits[0]);
            if found != expected || !sampled.allowed.hull(0).contains(found.into()) {
                return Err(format!("{compare:?} at {s}: {found}, by hand {expected}"));
            }
        }
    }
    let mut snorm = Image::new(Format::Rg8Snorm, 1, 1, 1).expect("an image");
    snorm.fill(0, &[0x80, 0x40]).expect("2 bytes");
    let sampler = Sampler::default();
    let sampling = Sampling { image: &snorm, sampler: &sampler, precision: PRECISION, rules, offset: [0; 3] };
    let sampled = sampling.sample([Inexact::from(0.5); 2], Lod::Explicit(Inexact::exact(0.0)), None).expect("a valid sampler");
    let expected = [-1.0, 64.0 / 127.0, 0.0, 1.0];
    match sampled.bits.map(f32::from_bits) == expected {
        true => Ok(()),
        false => Err(format!("{:?}, by hand {expected:?}", sampled.bits.map(f32::from_bits))),
    }
}

#[test]
fn derivatives_comparisons_and_signs_are_as_by_hand() {
    assert_eq!(derived(&Rules::default()), Ok(()));
}

#[test]
fn every_planted_bug_is_caught() {
    let right = Rules::default();
    let bugs: [(&str, Rules); 18] = [
        (
            "the last texel repeats twice",
            Rules { wrap: |m, i, n| if m == AddressMode::Repeat { i.rem_euclid(n.max(2) - 1) } else { m.wrap(i, n) }, ..right },
        ),
        (
            "mirrored at the texel's centre",
            Rules { wrap: |m, i, n| if m == AddressMode::MirroredRepeat && i < 0 { m.wrap(-i, n) } else { m.wrap(i, n) }, ..right },
        ),
        (
            "clamped one texel early",
            Rules { wrap: |m, i, n| if m == AddressMode::ClampToEdge { i.clamp(0, (n - 2).max(0)) } else { m.wrap(i, n) }, ..right },
        ),
        (
            "the border begins one texel late",
            Rules { wrap: |m, i, n| if m == AddressMode::ClampToBorder && i == n { n - 1 } else { m.wrap(i, n) }, ..right },
        ),
        ("remainder instead of modulo", Rules { wrap: |m, i, n| if m == AddressMode::Repeat { i % n } else { m.wrap(i, n) }, ..right }),
        ("nearest rounds", Rules { nearest: f64::round, ..right }),
        ("nearest truncates", Rules { nearest: f64::trunc, ..right }),
        ("linear without the half", Rules { linear: |u| (u.floor(), u - u.floor()), ..right }),
        ("swapped weights", Rules { weights: |a, b| [a * (1.0 - b), (1.0 - a) * (1.0 - b), (1.0 - a) * b, a * b], ..right }),
        ("swapped axes", Rules { weights: |a, b| (Rules::default().weights)(b, a), ..right }),
        ("coordinates of one texel less", Rules { unnormalize: |s, n| s * f64::from(n - 1), ..right }),
        ("the level below", Rules { nearest_level: f64::floor, ..right }),
        ("a half rounds up", Rules { nearest_level: |d| (d + 0.5).floor(), ..right }),
        ("always magnified", Rules { minified: |_| false, ..right }),
        ("gathered from the lower left in reading order", Rules { gather: [0, 1, 2, 3], ..right }),
        ("missing alpha is zero", Rules { missing: [0.0; 4], ..right }),
        ("divided by 2^b", Rules { unpack: |_, width, code| code as f64 / (1u64 << width) as f64, ..right }),
        ("sum of the derivatives", Rules { scale_factor: |[[a, b, _], [c, d, _]]| (a + b).max(c + d), ..right }),
    ];
    let more: [(&str, Rules); 4] = [
        ("bias added after clamping", Rules { bias: |a, b| a + b, ..right }),
        ("the lesser scale factor", Rules { scale_factor: |[[a, b, _], [c, d, _]]| a.hypot(b).min(c.hypot(d)), ..right }),
        ("compared the other way round", Rules { compare: |c, reference, stored| c.holds(stored, reference), ..right }),
        (
            "-128 is below -1",
            Rules {
                unpack: |n, w, c| if n == Numeric::Snorm { f64::from(c as u8 as i8) / 127.0 } else { (Rules::default().unpack)(n, w, c) },
                ..right
            },
        ),
    ];
    for (name, rules) in bugs.into_iter().chain(more) {
        let caught = disagreement(&rules, 5_000, 3).or_else(|| derived(&rules).err());
        assert!(caught.is_some(), "not caught: {name}");
    }
}

/// A texel far from the nearest one is not in the set. So a bug that is planted in the coordinates
/// of the set itself is caught too.
#[test]
fn sets_are_no_wider_than_the_precision() {
    let mut image = Image::new(Format::R8Unorm, 4, 1, 1).expect("an image");
    image.fill(0, &[0, 50, 150, 255]).expect("4 bytes");
    let rules = Rules::default();
    let at = |filter: Filter, s: f32| {
        let sampler = Sampler { mag: filter, address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
        let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
        sampling.sample([Inexact::from(s), Inexact::from(0.5)], Lod::Explicit(Inexact::exact(0.0)), None).expect("a valid sampler").allowed
    };
    let shows = |allowed: &Allowed, x: f64| allowed.admits([f64::from((x / 255.0) as f32), 0.0, 0.0, 1.0]);
    // In the middle of texel 1: this texel only.
    let middle = at(Filter::Nearest, 0.375);
    assert!(middle.0.len() == 1 && shows(&middle, 50.0) && !shows(&middle, 150.0) && !shows(&middle, 0.0));
    // On the boundary of texels 1 and 2: these two texels, and nothing between them.
    let boundary = at(Filter::Nearest, 0.5);
    assert_eq!(boundary.0.len(), 2);
    assert!(shows(&boundary, 50.0) && shows(&boundary, 150.0) && !shows(&boundary, 100.0) && !shows(&boundary, 0.0));
    // A quarter of the way from texel 1 to texel 2: 75, with an error of 100·2^-8 and the rounding
    // of sums.
    let between = at(Filter::Linear, 0.4375).hull(0);
    assert!(between.contains(75.0 / 255.0) && (between.high - between.low) * 255.0 < 2.0 * (100.0 / 256.0 + 0.2));
}

#[test]
fn undefined_texels_matter_where_they_have_weight() {
    let mut image = Image::new(Format::R8Unorm, 2, 1, 1).expect("an image");
    image.write(0, 0, [1.0f32.to_bits(), 0, 0, 0], 0);
    let rules = Rules::default();
    let sampler = Sampler { mag: Filter::Linear, address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
    let at = |s: f32| sampling.sample([Inexact::from(s), Inexact::from(0.5)], Lod::Explicit(Inexact::exact(0.0)), None).expect("valid");
    assert_eq!((at(0.1).undefined[0], at(0.1).bits[0]), (None, 1.0f32.to_bits()));
    assert!(at(0.1).allowed.hull(0).low > 0.999_999);
    assert_eq!(at(0.3).undefined, [Some(Unspecified::Uninitialised), None, None, None]);
    assert!(at(0.3).allowed.hull(0).is_any());
    // At the centre of a texel, a device may give weight to the other texel.
    assert!(at(0.25).undefined[0].is_none() && at(0.25).allowed.hull(0).is_any());
}

#[test]
fn infinite_texels_make_any_value_where_a_weight_may_be_zero() {
    let mut image = Image::new(Format::Rg32Sfloat, 2, 1, 1).expect("an image");
    image.fill(0, &[1.0, 2.0, f32::INFINITY, 4.0].iter().flat_map(|x: &f32| x.to_le_bytes()).collect::<Vec<u8>>()).expect("16 bytes");
    let rules = Rules::default();
    let sampler = Sampler { mag: Filter::Linear, address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
    let at = |s: f32| sampling.sample([Inexact::from(s), Inexact::from(0.5)], Lod::Explicit(Inexact::exact(0.0)), None).expect("valid");
    let between = at(0.5);
    assert_eq!(between.bits, [f32::INFINITY, 3.0, 0.0, 1.0].map(f32::to_bits));
    assert!(between.allowed.hull(0).is_any() && between.allowed.hull(1).high < 3.1);
    assert_eq!(at(0.1).allowed.hull(0), Interval::point(1.0));
}

#[test]
fn coordinates_that_are_sets_themselves_reach_what_they_may_reach() {
    let mut image = Image::new(Format::R8Unorm, 4, 1, 1).expect("an image");
    image.fill(0, &[0, 50, 150, 255]).expect("4 bytes");
    let (rules, sampler) = (Rules::default(), Sampler::default());
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
    let s = Inexact { value: 0.4, allowed: Interval::between(0.35, 0.6) };
    let allowed = sampling.sample([s, Inexact::from(0.5)], Lod::Explicit(Inexact::exact(0.0)), None).expect("valid").allowed;
    let admits = |x: f32| allowed.admits([f64::from(x / 255.0), 0.0, 0.0, 1.0]);
    assert!(admits(50.0) && admits(150.0) && !admits(0.0) && !admits(255.0));
}

#[test]
fn unnormalized_coordinates_count_texels() {
    let mut image = Image::new(Format::R32Uint, 4, 2, 1).expect("an image");
    image.fill(0, &(0..8u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).expect("32 bytes");
    let sampler = Sampler {
        unnormalized: true,
        lod_max: 0.0,
        address: [AddressMode::ClampToBorder; 3],
        border: Border::OpaqueWhite,
        ..Sampler::default()
    };
    let rules = Rules::default();
    let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [1, 0, 0] };
    let at = |u: f32, v: f32| sampling.sample([u.into(), v.into()], Lod::Explicit(Inexact::exact(0.0)), None).expect("valid").bits;
    assert_eq!(at(1.5, 1.5), [6, 0, 0, 1]);
    assert_eq!(at(3.5, 1.5), [1, 0, 0, 1]);
}

#[test]
fn samplers_that_do_not_fit_are_refused() {
    let image = Image::new(Format::R32Uint, 4, 2, 1).expect("an image");
    let rules = Rules::default();
    let sample = |sampler: Sampler, reference: Option<Inexact>| {
        let sampling = Sampling { image: &image, sampler: &sampler, precision: PRECISION, rules: &rules, offset: [0; 3] };
        sampling.sample([Inexact::from(0.5); 2], Lod::Explicit(Inexact::exact(0.0)), reference)
    };
    assert_eq!(sample(Sampler { mag: Filter::Linear, ..Sampler::default() }, None).err(), Some(SamplerError::IntegerLinear));
    assert_eq!(sample(Sampler { unnormalized: true, ..Sampler::default() }, None).err(), Some(SamplerError::Unnormalized));
    assert_eq!(sample(Sampler::default(), Some(Inexact::exact(0.5))).err(), Some(SamplerError::Comparison));
    assert_eq!(sample(Sampler { lod_bias: f32::NAN, ..Sampler::default() }, None).err(), Some(SamplerError::NaN));
    let reversed = sample(Sampler { lod_min: 2.0, lod_max: 1.0, ..Sampler::default() }, None).expect("a value");
    assert_eq!(reversed.undefined, [Some(Unspecified::LodBounds); 4]);
}

#[test]
fn no_coordinate_or_level_of_detail_is_too_strange() {
    let strange = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, 1e20, f32::MIN_POSITIVE, -1e-45, 8_388_609.5];
    let mut random = Random(4);
    for n in 0..2_000 {
        let mut case = Case::random(&mut random);
        case.offset = random.one_of(&[[0, 0], [i32::MAX, i32::MIN]]);
        let rules = Rules::default();
        let mut any = || random.one_of(&strange);
        let at = [any().into(), if n % 2 == 0 { 0.5f32.into() } else { any().into() }];
        let lod = match n % 3 {
            0 => Lod::Explicit(any().into()),
            1 => Lod::Explicit(Inexact { value: 0.0, allowed: Interval::ANY }),
            _ => Lod::flat([any().into(), any().into()], [any().into(), 0.0f32.into()], any()),
        };
        let sampled = case.sampling(&rules).sample(at, lod, None).expect("a valid sampler");
        assert!(!sampled.allowed.0.is_empty());
        let value = sampled.bits.map(|bits| f64::from(f32::from_bits(bits)));
        assert!(sampled.allowed.admits(value), "{} at {at:?} {lod:?}: {sampled:?}", case.text());
        case.sampling(&rules).gather(at, 7, None).expect("a valid sampler");
    }
}
