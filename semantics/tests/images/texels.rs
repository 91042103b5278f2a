//! Every code of 8 and 16 bits as a number and back, compared with integers.

use smallstep_semantics::image::{Codes, Format, Numeric, only_code, only_codes, pack, pack_within, stored, unpack, unpack_allowed};
use smallstep_semantics::number::Interval;
use smallstep_semantics::number::sets::{Set, Span};
use smallstep_semantics::random::Random;
use smallstep_semantics::undefined::Unspecified;

/// The number of a code as numerator and denominator, by the specification's formulas.
fn fraction(numeric: Numeric, width: u8, code: u64) -> (i64, i64) {
    let top = 1i64 << width;
    let integer = if matches!(numeric, Numeric::Snorm | Numeric::Sint) && code as i64 >= top / 2 { code as i64 - top } else { code as i64 };
    match numeric {
        Numeric::Unorm => (integer, top - 1),
        Numeric::Snorm => (integer.max(1 - top / 2), top / 2 - 1),
        _ => (integer, 1),
    }
}

/// Whether a float is nearest to a fraction, that is, neither of its neighbours is nearer. Computed
/// in integers, as multiples of 2^-60.
fn is_nearest(x: f32, (n, d): (i64, i64)) -> bool {
    let scaled = |x: f32| (f64::from(x) * 2f64.powi(60)) as i128;
    let distance = |x: f32| (scaled(x) * i128::from(d) - (i128::from(n) << 60)).abs();
    distance(x) <= distance(x.next_up()) && distance(x) <= distance(x.next_down())
}

#[test]
fn every_code_is_the_number_of_the_formula() {
    for width in [2, 8, 10, 16] {
        for code in 0..1u64 << width {
            for numeric in [Numeric::Unorm, Numeric::Snorm, Numeric::Uint, Numeric::Sint] {
                let (n, d) = fraction(numeric, width, code);
                let found = unpack(numeric, width, code) as f32;
                assert!(is_nearest(found, (n, d)), "{numeric:?} {width} {code:#x}: {found} for {n}/{d}");
                let allowed = unpack_allowed(numeric, width, code);
                assert!(allowed.contains(found.into()) && allowed.high - allowed.low < 5e-7, "{numeric:?} {width} {code:#x}: {allowed:?}");
            }
        }
    }
}

#[test]
fn ends_and_zero_are_exact() {
    for (numeric, width, code, expected) in [
        (Numeric::Unorm, 8, 0, 0.0),
        (Numeric::Unorm, 8, 255, 1.0),
        (Numeric::Unorm, 2, 3, 1.0),
        (Numeric::Unorm, 16, 65535, 1.0),
        (Numeric::Snorm, 8, 127, 1.0),
        (Numeric::Snorm, 8, 129, -1.0),
        (Numeric::Snorm, 8, 128, -1.0),
        (Numeric::Snorm, 16, 0x8000, -1.0),
        (Numeric::Snorm, 16, 0x8001, -1.0),
    ] {
        let allowed = unpack_allowed(numeric, width, code);
        assert_eq!((allowed.low, allowed.high), (expected, expected), "{numeric:?} {width} {code:#x}");
    }
}

#[test]
fn what_is_unpacked_packs_to_the_same_code() {
    for width in [2, 8, 10, 16] {
        for code in 0..1u64 << width {
            for numeric in [Numeric::Unorm, Numeric::Snorm] {
                let lowest = numeric == Numeric::Snorm && code == 1 << (width - 1);
                let x = unpack(numeric, width, code) as f32;
                let codes = pack(numeric, width, x.to_bits());
                assert_eq!(codes.best, if lowest { code + 1 } else { code }, "{numeric:?} {width} {code:#x}");
            }
            for numeric in [Numeric::Uint, Numeric::Sint] {
                let (n, _) = fraction(numeric, width, code);
                let codes = pack(numeric, width, n as i32 as u32);
                assert!(codes.is_exact() && codes.best == code, "{numeric:?} {width} {code:#x}: {codes:?}");
            }
        }
    }
}

/// A float between two codes is stored as the nearer one, or as either one near the middle. A more
/// distant code is not allowed.
#[test]
fn what_is_between_two_codes_is_stored_as_either() {
    for width in [8, 16] {
        for numeric in [Numeric::Unorm, Numeric::Snorm] {
            let greatest = if numeric == Numeric::Snorm { (1i64 << (width - 1)) - 1 } else { (1 << width) - 1 };
            let least = if numeric == Numeric::Snorm { -greatest } else { 0 };
            let code = |k: i64| k as u64 & ((1 << width) - 1);
            for k in least..greatest {
                for (sixteenths, nearer) in [(2, k), (7, k), (9, k + 1), (14, k + 1)] {
                    let x = ((16 * k + sixteenths) as f64 / (16 * greatest) as f64) as f32;
                    let farther = 2 * k + 1 - nearer;
                    let codes = pack(numeric, width, x.to_bits());
                    assert_eq!(codes.best, code(nearer), "{numeric:?} {width}: {x}");
                    assert_eq!(codes.admits(code(farther)), [7, 9].contains(&sixteenths), "{numeric:?} {width}: {x}: {codes:?}");
                    assert!(k - 1 < least || !codes.admits(code(k - 1)), "{numeric:?} {width}: {x}: {codes:?}");
                    assert!(k + 2 > greatest || !codes.admits(code(k + 2)), "{numeric:?} {width}: {x}: {codes:?}");
                }
            }
            for (x, expected) in
                [(2.0f32, greatest), (1.0, greatest), (f32::INFINITY, greatest), (-7.0, least), (f32::NEG_INFINITY, least), (-0.0, 0)]
            {
                let codes = pack(numeric, width, x.to_bits());
                assert!(codes.is_exact() && codes.best == code(expected), "{numeric:?} {width}: {x}: {codes:?}");
            }
            assert_eq!(pack(numeric, width, f32::NAN.to_bits()).any, Some(Unspecified::ImageConversion));
        }
    }
}

#[test]
fn integers_that_do_not_fit_are_undefined() {
    for (numeric, width, bits, fits) in [
        (Numeric::Uint, 8, 255u32, true),
        (Numeric::Uint, 8, 256, false),
        (Numeric::Sint, 8, 127, true),
        (Numeric::Sint, 8, 128, false),
        (Numeric::Sint, 8, -128i32 as u32, true),
        (Numeric::Sint, 8, -129i32 as u32, false),
        (Numeric::Sint, 16, 0x8000, false),
        (Numeric::Uint, 32, u32::MAX, true),
        (Numeric::Sint, 32, 1 << 31, true),
    ] {
        let codes = pack(numeric, width, bits);
        assert_eq!(codes.any.is_none(), fits, "{numeric:?} {width} {bits:#x}");
    }
}

/// A 16-bit float by its definition, times 2^24. An infinity counts as the next power of two.
fn half(code: u64) -> i64 {
    let (sign, exponent, fraction) = (code >> 15, code >> 10 & 31, (code & 0x3ff) as i64);
    let magnitude = if exponent == 0 { fraction } else { (fraction + 1024) << (exponent - 1) };
    if sign == 1 { -magnitude } else { magnitude }
}

#[test]
fn every_half_is_its_number_and_between_two_halves_either_is_stored() {
    for code in 0..=0xffffu64 {
        let (is_special, is_nan) = (code & 0x7c00 == 0x7c00, code & 0x7fff > 0x7c00);
        let x = unpack(Numeric::Float, 16, code);
        if is_special {
            assert_eq!((x.is_nan(), x.is_infinite()), (is_nan, !is_nan), "{code:#x}");
            let back = pack(Numeric::Float, 16, (x as f32).to_bits());
            assert!(back.admits(code), "{code:#x}");
            continue;
        }
        assert_eq!(x * 16_777_216.0, half(code) as f64, "{code:#x}");
        assert_eq!(pack(Numeric::Float, 16, (x as f32).to_bits()).best, code, "{code:#x}");
        // Three eighths of the way to the next float away from zero.
        let next = half(code + 1);
        let between = ((half(code) * 5 + next * 3) as f64 / 8.0 / 16_777_216.0) as f32;
        let codes = pack(Numeric::Float, 16, between.to_bits());
        assert_eq!(codes.best, code, "{code:#x}");
        assert!(codes.admits(code + 1) && !codes.admits(code + 2), "{code:#x}: {codes:?}");
        let flushed = code & 0x7fff < 0x400;
        assert_eq!(codes.admits(0) && codes.admits(0x8000), flushed, "{code:#x}: {codes:?}");
    }
}

#[test]
fn components_stand_where_the_format_says() {
    assert_eq!(Format::of_name("VK_FORMAT_B8G8R8A8_UNORM"), Some(Format::Bgra8Unorm));
    for &format in Format::ALL {
        assert_eq!(Format::of_name(format.name()), Some(format));
        assert!([1, 2, 4, 8, 12, 16].contains(&format.bytes()), "{}", format.name());
        let mut bits = 0u128;
        for channel in format.channels() {
            let here = (u128::MAX >> (128 - u32::from(channel.width))) << channel.offset;
            assert_eq!(bits & here, 0, "{}: components overlap", format.name());
            bits |= here;
        }
        let unused = if format == Format::X8D24Unorm { 8 } else { 0 };
        assert_eq!(bits.count_ones() as usize, 8 * format.bytes() - unused, "{}: bits of no component", format.name());
    }
}

#[test]
fn every_format_but_these_has_a_name_in_spirv() {
    use rspirv::spirv::ImageFormat;
    let named: Vec<Format> = (0..64).filter_map(ImageFormat::from_u32).filter_map(Format::of_spirv).collect();
    let unnamed: Vec<&str> = Format::ALL.iter().filter(|format| !named.contains(format)).map(|format| format.name()).collect();
    let (packed, plain): (Vec<&str>, Vec<&str>) = unnamed.iter().partition(|name| name.contains("_PACK"));
    assert_eq!(plain, ["B8G8R8A8_UNORM", "R32G32B32_UINT", "R32G32B32_SINT", "R32G32B32_SFLOAT", "D16_UNORM", "D32_SFLOAT"]);
    assert_eq!((packed.len(), named.len() + unnamed.len()), (14, Format::ALL.len()));
    assert_eq!((Format::of_spirv(ImageFormat::Rg16Snorm), Format::of_spirv(ImageFormat::Unknown)), (Some(Format::Rg16Snorm), None));
}

#[test]
fn a_range_of_numbers_is_stored_as_a_range_of_codes() {
    let unorm = |low: f64, high: f64| {
        let range = stored(Numeric::Unorm, 8, Interval::between(low, high));
        [range.low * 255.0, range.high * 255.0].map(|x| (x * 1e6).round() / 1e6)
    };
    // 63.75 to 127.5 of 255.
    assert_eq!(unorm(0.25, 0.5), [64.0, 128.0]);
    assert_eq!(unorm(1.0, 1.0), [255.0, 255.0]);
    // The nearest float to 1/5 is above 1/5, but no device stores the next code for it.
    assert_eq!(unorm(0.2, 0.2), [51.0, 51.0]);
    assert_eq!(unorm(-3.0, 7.0), [0.0, 255.0]);
    assert_eq!(stored(Numeric::Unorm, 8, Interval::ANY), Interval::between(0.0, 1.0));
    assert_eq!(stored(Numeric::Snorm, 8, Interval::point(f64::NAN)), Interval::between(-1.0, 1.0));
    assert_eq!(stored(Numeric::Uint, 8, Interval::between(3.0, 9.0)), Interval::between(3.0, 9.0));
    assert!(stored(Numeric::Uint, 8, Interval::between(3.0, 300.0)).is_any());
    assert!(stored(Numeric::Sint, 32, Interval::between(-3.0, 3e9)).is_any());
    let half = stored(Numeric::Float, 16, Interval::between(1.0 / 3.0, 1.0 / 3.0));
    assert_eq!([half.low, half.high].map(|x| x * 4096.0), [1365.0, 1366.0]);
    assert_eq!(stored(Numeric::Float, 32, Interval::between(0.1f32.into(), 2.0)), Interval::between(0.1f32.into(), 2.0));
}

#[test]
fn a_set_may_be_stored_as_the_codes_between_its_ends() {
    let within = |numeric, width, spans: &[(f32, f32)]| {
        let span = |&(low, high): &(f32, f32)| Span { low: low.into(), high: high.into() };
        pack_within(numeric, width, &spans.iter().map(span).fold(Set::NONE, Set::with)).map(|codes| codes.to_vec())
    };
    // 25.5 to 30.6 of 255.
    assert_eq!(within(Numeric::Unorm, 8, &[(0.1, 0.12)]), Some((25..=31).collect()));
    // -1.27 to 1.27 of 127.
    assert_eq!(within(Numeric::Snorm, 8, &[(-0.01, 0.01)]), Some(vec![0, 1, 0xff]));
    assert_eq!(within(Numeric::Unorm, 8, &[(-3.0, 0.0), (1.0, 7.0)]), Some(vec![0, 255]));
    assert_eq!(within(Numeric::Float, 16, &[(1.0, 1.0 + 1.0 / 1024.0)]), Some(vec![0x3c00, 0x3c01]));
    // A subnormal number of 16 bits may be stored as a zero of either sign.
    assert_eq!(within(Numeric::Float, 16, &[(-1e-8, 1e-8)]), Some(vec![0, 1, 0x8000, 0x8001]));
    assert_eq!(within(Numeric::Float, 16, &[(-1.0, 1.0)]), None, "too many to tell");
    assert_eq!(within(Numeric::Float, 32, &[(1.0, 1.0)]), None);
    assert_eq!(pack_within(Numeric::Unorm, 8, &Set::ANY), None);
    // Every float of the set is stored as one of these codes.
    let codes = within(Numeric::Unorm, 10, &[(0.3, 0.31)]).expect("they are few");
    for step in 0..=100u32 {
        let stored = pack(Numeric::Unorm, 10, (0.3 + 0.01 * step as f32 / 100.0).min(0.31).to_bits());
        assert!(codes.contains(&stored.best) && stored.others.iter().all(|code| codes.contains(code)), "{step}");
    }
}

/// Two full sets of the same floats, added in different orders, may have different spans.
#[test]
fn codes_of_sets_that_are_alike_are_alike() {
    let codes = |floats: &[f32]| {
        let set = floats.iter().fold(Set::NONE, |set, &x| set.union(Set::point(x.into())));
        let all = pack_within(Numeric::Unorm, 8, &set).expect("a bounded set");
        let best = pack(Numeric::Unorm, 8, (47.0f32 / 255.0).to_bits()).best;
        assert!(all.contains(&best));
        Codes { best, others: all.into_iter().filter(|&code| code != best).collect(), nan: 0, any: None }
    };
    let of = |codes: [f32; 5]| codes.map(|code| code / 255.0);
    let [one, other] = [codes(&of([16.0, 255.0, 47.0, 101.0, 180.0])), codes(&of([101.0, 16.0, 180.0, 255.0, 47.0]))];
    assert!(one != other && one.is_alike(&other) && other.is_alike(&one));
    assert!(!one.is_alike(&codes(&of([16.0, 254.0, 47.0, 101.0, 180.0]))), "another greatest code");
    assert!(!one.is_alike(&Codes { best: 16, ..one.clone() }), "another definite code");
    let [few, fewer] = [codes(&of([16.0, 47.0, 255.0, 16.0, 47.0])), codes(&of([47.0, 255.0, 47.0, 255.0, 47.0]))];
    assert!(few.is_alike(&few) && !few.is_alike(&fewer) && !fewer.is_alike(&few));
    assert!(!codes(&of([47.0, 101.0, 47.0, 47.0, 47.0])).is_alike(&codes(&of([47.0, 101.0, 47.0, 100.0, 47.0]))), "not full");
}

/// For normalized formats, the codes of a set are not computed from the codes of its ends. Here
/// they must be all codes between these.
#[test]
fn codes_of_a_set_are_those_between_the_codes_of_its_ends() {
    let mut random = Random::new(3);
    for numeric in [Numeric::Unorm, Numeric::Snorm] {
        for width in [2, 5, 6, 8, 10, 16] {
            for _ in 0..2_000 {
                // The end of the range of a code, or any number.
                let scale = if numeric == Numeric::Unorm { (1u32 << width) - 1 } else { (1 << (width - 1)) - 1 };
                let mut end = || {
                    let word = random.bits();
                    let code = (word >> 40) % u64::from(scale + 2);
                    let edge = [0.0, 0.4, 0.5, 0.6, 0.39999, 0.60001, (word >> 8 & 0xff) as f64 / 256.0][word as usize % 7];
                    let x = ((code as f64 + edge) / f64::from(scale)) as f32;
                    if word >> 63 == 1 { -x } else { x }
                };
                let [a, b] = [end(), end()];
                // The ends are near each other, so that there are few codes.
                let b = if (a - b).abs() < 0.02 { b } else { a + (b - a) * 0.01 };
                let span = Span { low: a.min(b).into(), high: a.max(b).into() };
                let place = |code: u64| {
                    let sign = 1u64 << (width - 1);
                    if numeric == Numeric::Snorm && code & sign != 0 { code as i64 - (1 << width) } else { code as i64 }
                };
                let ends = [span.low, span.high].map(|x| pack(numeric, width, (x as f32).to_bits()));
                let places: Vec<i64> =
                    ends.iter().flat_map(|codes| codes.others.iter().chain([&codes.best])).map(|&code| place(code)).collect();
                let (least, greatest) = (places.iter().min().copied().expect("one"), places.iter().max().copied().expect("one"));
                let mut between: Vec<u64> = (least..=greatest).map(|place| place as u64 & ((1 << width) - 1)).collect();
                between.sort_unstable();
                let found = pack_within(numeric, width, &Set::of(span)).map(|codes| codes.to_vec());
                let only = |codes: &[u64]| if let [code] = codes { Some(*code) } else { None };
                let bits = (span.low as f32).to_bits();
                assert_eq!(only_code(numeric, width, bits, &span), only(&between), "{numeric:?} of {width} bits, {span:?}");
                // The definite float is outside the span.
                let outside = [if between.contains(&0) { 1.0 } else { 0.0 }, span.low as f32 + 0.5, span.low as f32 - 0.5];
                for float in outside.map(f32::to_bits) {
                    let is_other = !between.contains(&pack(numeric, width, float).best);
                    let code = only_code(numeric, width, float, &span);
                    assert!(!(is_other && code.is_some()), "{numeric:?} of {width} bits, {span:?}, {code:?}");
                }
                assert_eq!(found, Some(between), "{numeric:?} of {width} bits, {span:?}");
                let [point, _] = &ends;
                let exact = point.is_exact().then_some(point.best);
                assert_eq!(only_code(numeric, width, bits, &Span::point(span.low)), exact, "{numeric:?} of {width} bits, {}", span.low);
                // The same for several floats at once. Some have several codes or are no numbers.
                let lanes = [bits, f32::NAN.to_bits(), (span.high as f32).to_bits(), f32::INFINITY.to_bits()];
                let (codes, told) = only_codes(numeric, width, &lanes).expect("a normalized component");
                let expected = [exact, None, ends[1].is_exact().then_some(ends[1].best), None];
                let found: Vec<Option<u64>> = (0..4).map(|lane| (told >> lane & 1 == 1).then_some(codes[lane])).collect();
                assert_eq!(found, expected, "{numeric:?} of {width} bits, {span:?}");
                // The same for a constant.
                let (codes, told) = only_codes(numeric, width, &[bits; 3]).expect("a normalized component");
                let all = exact.map_or((0, codes), |code| (0b111, [code; 3]));
                assert_eq!((told & 0b111, codes), all, "{numeric:?} of {width} bits, {}", span.low);
            }
        }
    }
}
