//! Results that the specification leaves open may be anything under every profile. Their neighbours
//! may not.

use super::subjects::subject;
use super::{PROFILES, points, rules};
use smallstep_semantics::number::sets::Set;

fn sets(name: &str, x: &[f32]) -> Vec<Set> {
    let subject = subject(name);
    let args: Vec<(Vec<f32>, usize)> = match name {
        "Length" => vec![(x.to_vec(), 1)],
        _ => x.iter().map(|&x| (vec![x], 1)).collect(),
    };
    PROFILES.iter().map(|&profile| rules(profile, subject, &points(&args))[0]).collect()
}

#[test]
fn what_is_left_open_is_anything_and_what_is_beside_it_is_not() {
    let (nan, infinity, below_one) = (f32::NAN, f32::INFINITY, 1f32.next_down());
    let cases: &[(&str, &[f32], &[f32])] = &[
        ("FMin", &[nan, 1.0], &[2.0, 1.0]),
        ("FMax", &[1.0, nan], &[1.0, 2.0]),
        ("NMin", &[nan, 1.0], &[2.0, 1.0]),
        ("NMax", &[1.0, nan], &[f32::MAX, 1.0]),
        ("NMax", &[1.0, infinity], &[1.0, f32::MAX]),
        ("FClamp", &[nan, 0.0, 1.0], &[9.0, 0.0, 1.0]),
        ("NClamp", &[2.0, nan, 1.0], &[2.0, 0.0, 1.0]),
        ("FClamp", &[2.0, 1.0, 0.0], &[2.0, 1.0, 1.0]),
        ("FSign", &[nan], &[-0.0]),
        ("FDiv", &[1.0, 0.0], &[1.0, f32::MIN_POSITIVE]),
        ("FDiv", &[1.0, f32::MAX], &[1.0, 2f32.powi(126)]),
        ("Sqrt", &[0.0], &[f32::MIN_POSITIVE]),
        ("Sqrt", &[-0.0], &[4.0]),
        ("Length", &[0.0, 0.0], &[0.0, 1.0]),
        ("Asin", &[1.0], &[below_one]),
        ("Acos", &[-1.0], &[-below_one]),
        ("Acosh", &[1.0], &[1f32.next_up()]),
        ("Log", &[0.0], &[f32::MIN_POSITIVE]),
        ("InverseSqrt", &[0.0], &[f32::MIN_POSITIVE]),
        ("SmoothStep", &[1.0, 1.0, 0.5], &[0.0, 1.0, 0.5]),
        ("Sin", &[3.2], &[3.0]),
        ("Exp", &[89.0], &[88.0]),
    ];
    for (name, open, beside) in cases {
        assert!(sets(name, open).iter().all(Set::is_any), "{name} of {open:?}: {:?}", sets(name, open));
        assert!(sets(name, beside).iter().all(Set::is_bounded), "{name} of {beside:?}: {:?}", sets(name, beside));
    }
}
