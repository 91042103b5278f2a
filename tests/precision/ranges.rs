//! Most of many consecutive inputs are judged without their sets. The result is the same as by the
//! set of each input.

use std::sync::Arc;

use super::{Function, Judge, declared, definite, function};
use smallstep::precision::{Batch, Random};
use smallstep_semantics::number::{Denormals, Profile, Rounding};

const SIZE: usize = 1 << 13;

/// Results for consecutive inputs: definite values, ends of the sets, and floats next to these.
fn results(function: &Function, profile: Profile, judge: &Judge, first: u32, random: &mut Random) -> Vec<u32> {
    let one = |i: u32| {
        let words = [first.wrapping_add(i)];
        let right = definite(function, profile, &words)[0];
        let set = judge.allowed(&words)[0];
        let Some(hull) = set.hull() else { return right };
        let (low, high) = (hull.low as f32, hull.high as f32);
        match random.below(8) {
            0 => low.to_bits(),
            1 => high.to_bits(),
            2 => low.next_down().to_bits(),
            3 => high.next_up().to_bits(),
            4 => f32::NAN.to_bits(),
            5 => right.wrapping_add(random.below(9) as u32).wrapping_sub(4),
            _ => right,
        }
    };
    (0..SIZE as u32).map(one).collect()
}

fn compare(function: &Function, profile: Profile, first: u32, random: &mut Random) -> u64 {
    let judge = Judge::new(function, profile);
    let results = results(function, profile, &judge, first, random);
    let together = judge.judge_batch(&Batch::Range { first, count: SIZE }, &results);
    let words: Arc<[u32]> = (0..SIZE as u32).map(|i| first.wrapping_add(i)).collect();
    let singly = judge.judge_batch(&Batch::Given(words), &results);
    let sum = together.sum;
    let mut expected = singly;
    // The order of additions may differ.
    assert!(
        (sum - expected.sum).abs() <= 1e-9 * sum.abs(),
        "{} from {first:#010x} under {profile}: {sum} and {}",
        function.label(),
        expected.sum
    );
    expected.sum = sum;
    let mut binades = together.clone();
    for (own, other) in expected.binades.iter_mut().zip(&together.binades) {
        assert!((own.sum - other.sum).abs() <= 1e-9 * own.sum.abs());
        own.sum = other.sum;
    }
    binades.sum = sum;
    assert_eq!(binades, expected, "{} from {first:#010x} under {profile}", function.label());
    expected.outside
}

#[test]
fn ranges_say_what_each_input_says() {
    let mut random = Random::new(23, 1);
    let mut outside = 0;
    for function in Function::all().iter().filter(|f| f.is_unary()) {
        for profile in [Profile::Strict, Profile::Wgsl] {
            let anywhere: Vec<u32> = (0..3).map(|_| (random.word() as u32) & !(SIZE as u32 - 1)).collect();
            // Also usual magnitudes of operands.
            let usual: Vec<u32> = (0..3).map(|_| (0x3880_0000 + random.below(0x0b00_0000) as u32) & !(SIZE as u32 - 1)).collect();
            for first in anywhere.into_iter().chain(usual) {
                outside += compare(function, profile, first, &mut random);
            }
        }
    }
    assert!(outside > 10_000, "{outside}");
}

#[test]
fn ranges_at_ends_of_domains_say_what_each_input_says() {
    let mut random = Random::new(29, 1);
    let places = [
        ("Sin", std::f32::consts::PI),
        ("Cos", -std::f32::consts::PI),
        ("Cos", std::f32::consts::FRAC_PI_2),
        ("Tan", std::f32::consts::FRAC_PI_2),
        ("Log", 1.0),
        ("Log2", 0.5),
        ("Log", 2.0),
        ("Asin", 1.0),
        ("Acos", 1.0f32.next_down()),
        ("Atanh", 1.0f32.next_down()),
        ("Acosh", 1.0),
        ("Exp", 88.7),
        ("Exp", -87.3),
        ("Exp2", -126.0),
        ("Sqrt", 4.0),
        ("InverseSqrt", f32::MIN_POSITIVE),
        ("Fract", -1.0),
        ("Floor", 8_388_000.0),
        ("Degrees", 5.94e36),
        ("Radians", 6.7e-37),
    ];
    let preserve = declared(Rounding::NearestEven, Denormals::Preserve);
    for (label, x) in places {
        for profile in [Profile::Strict, preserve, Profile::VulkanDefault] {
            compare(&function(label), profile, x.to_bits() & !(SIZE as u32 - 1), &mut random);
        }
    }
}

#[test]
fn ranges_of_subnormal_numbers_infinities_and_nans_say_so_too() {
    let mut random = Random::new(31, 1);
    for first in [0, 0x007f_f000, 0x7f80_0000, 0xffff_f000, 0x8000_0000] {
        for label in ["Exp", "Floor", "FNegate"] {
            compare(&function(label), Profile::Strict, first, &mut random);
        }
    }
}
