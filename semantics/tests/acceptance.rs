//! The acceptance sets of instructions hold all that conforming devices may show, and no more.
//! They are checked against the definite semantics, simulated devices that take every liberty,
//! bounds from a second library, and results for members of intervals. The checks catch planted
//! wrong rules.
//!
//! `SMALLSTEP_ACCEPTANCE_INPUTS` is the number of inputs for each function. The default is 10,000.

#[path = "acceptance/bounds.rs"]
mod bounds;
#[path = "acceptance/certain.rs"]
mod certain;
#[path = "acceptance/comparisons.rs"]
mod comparisons;
#[path = "acceptance/device.rs"]
mod device;
#[path = "acceptance/halves.rs"]
mod halves;
#[path = "reference/inputs.rs"]
#[allow(dead_code)]
mod inputs;
#[path = "acceptance/matrices.rs"]
mod matrices;
#[path = "acceptance/open.rs"]
mod open;
#[path = "acceptance/pairs.rs"]
mod pairs;
#[path = "acceptance/planted.rs"]
mod planted;
#[path = "acceptance/soundness.rs"]
mod soundness;
#[path = "acceptance/subjects.rs"]
mod subjects;

use smallstep_semantics::number::sets::{Operand, Set, allowed_alone};
use smallstep_semantics::number::{Controls, Denormals, Profile, Rounding};
use subjects::{Arg, Subject};

/// A rule, or a planted one: it gives the set of each component.
type Rule<'a> = &'a (dyn Fn(Profile, &Subject, &[(Vec<Operand>, usize)]) -> Vec<Set> + Sync);

/// The rules under test.
fn rules(profile: Profile, subject: &Subject, args: &[(Vec<Operand>, usize)]) -> Vec<Set> {
    let args: Vec<(&[Operand], usize)> = args.iter().map(|(operands, columns)| (operands.as_slice(), *columns)).collect();
    allowed_alone(profile, subject.instruction, &args).unwrap_or_else(|| panic!("{} has no rule", subject.name)).to_vec()
}

fn points(args: &[Arg]) -> Vec<(Vec<Operand>, usize)> {
    let operand = |&x: &f32| Operand { set: Set::point(x.into()), id: None };
    args.iter().map(|(x, columns)| (x.iter().map(operand).collect(), *columns)).collect()
}

/// All profiles that rules distinguish.
const PROFILES: [Profile; 6] = [
    Profile::Strict,
    Profile::VulkanDefault,
    Profile::Wgsl,
    Profile::Declared(Controls {
        rounding: Rounding::NearestEven,
        denormals: Denormals::Preserve,
        keeps_special: true,
        no_contraction: true,
        wgsl: false,
    }),
    Profile::Declared(Controls {
        rounding: Rounding::TowardZero,
        denormals: Denormals::MayFlush,
        keeps_special: true,
        no_contraction: true,
        wgsl: false,
    }),
    Profile::Declared(Controls {
        rounding: Rounding::Either,
        denormals: Denormals::Flush,
        keeps_special: false,
        no_contraction: true,
        wgsl: false,
    }),
];

/// The number of inputs for each function.
fn inputs() -> u64 {
    std::env::var("SMALLSTEP_ACCEPTANCE_INPUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// Runs a check on each subject, on as many threads as the machine has. Returns the faults.
fn over<T: Sync>(subjects: &[T], check: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(subject) = subjects.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    found.lock().expect("no panic").extend(check(subject));
                }
            });
        }
    });
    found.into_inner().expect("no panic")
}
