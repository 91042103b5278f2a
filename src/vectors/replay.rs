//! Checks an engine or a device against a vectors file.

use super::format::{Case, Header, LineError};
use super::reader::Reader;
use crate::gpu::{Device, DeviceOutcome, Route};
use crate::run::{self, Ending, Grid, Interpreter};
use crate::source::{Loaded, Source};
use crate::theorem::device::without_frame;
use crate::theorem::{Difference, Engine, Lanes, Place, Verdict, expected_bits, expected_text, float_text, why_text};
use smallstep_semantics::number::{Arithmetic, Expected, Why};
use smallstep_semantics::outcome::Outcome;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::BufRead;

/// An engine of ours, on the source or on the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnEngine {
    /// The λV machine on the source.
    Machine,
    /// The λV relation on the source.
    Reference,
    /// The SPIR-V machine on the words.
    Spirv,
    /// The SPIR-V relation on the words.
    SpirvReference,
}

impl OwnEngine {
    /// Every engine.
    pub const ALL: [OwnEngine; 4] = [OwnEngine::Machine, OwnEngine::Reference, OwnEngine::Spirv, OwnEngine::SpirvReference];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            OwnEngine::Machine => "machine",
            OwnEngine::Reference => "reference",
            OwnEngine::Spirv => "spirv",
            OwnEngine::SpirvReference => "spirv-reference",
        }
    }

    fn engine(self) -> Engine {
        match self {
            OwnEngine::Machine => Engine::Machine,
            OwnEngine::Reference => Engine::Reduction,
            OwnEngine::Spirv => Engine::SpirvMachine,
            OwnEngine::SpirvReference => Engine::SpirvRelation,
        }
    }

    fn interpreter(self) -> Interpreter {
        match self {
            OwnEngine::Machine | OwnEngine::Spirv => Interpreter::Machine,
            OwnEngine::Reference | OwnEngine::SpirvReference => Interpreter::Reference,
        }
    }
}

/// The engine or device that is checked.
pub enum Subject<'d> {
    /// An engine of ours.
    Ours {
        /// The engine.
        engine: OwnEngine,
        /// The most steps for one pixel.
        fuel: u64,
        /// The arithmetic, in which tests plant bugs.
        arithmetic: Arithmetic,
    },
    /// A device.
    Device(&'d mut Device),
}

/// The result of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The line number of the case in the file.
    pub line: u64,
    /// The index of the case.
    pub index: u64,
    /// The verdict of the vectors on the engine.
    pub verdict: Verdict,
    /// The number of its lanes that were compared, and that were skipped.
    pub lanes: Lanes,
}

/// Checks every case of a file. `each` gets the finished cases, and the errors of lines that are no
/// cases. On a device the order is arbitrary.
///
/// Memory is bounded: one line at a time, and on a device the cases in its window.
pub fn replay<R: BufRead>(reader: &mut Reader<R>, subject: Subject<'_>, each: &mut dyn FnMut(Result<Replayed, LineError>)) {
    match subject {
        Subject::Ours { engine, fuel, arithmetic } => {
            while let Some(next) = reader.next_case() {
                each(next.and_then(|(line, case)| {
                    let (verdict, lanes) = run_on_engine(&case, engine, fuel, arithmetic).map_err(|what| LineError { line, what })?;
                    Ok(Replayed { line, index: case.index, verdict, lanes })
                }));
            }
        }
        Subject::Device(device) => on_device(reader, device, each),
    }
}

fn run_on_engine(case: &Case, engine: OwnEngine, fuel: u64, arithmetic: Arithmetic) -> Result<(Verdict, Lanes), String> {
    let source = match engine {
        OwnEngine::Machine | OwnEngine::Reference => Source::read_lambda_v("source", &case.source).map_err(|e| e.text)?,
        OwnEngine::Spirv | OwnEngine::SpirvReference => Source::Spirv(Box::new(loaded(case)?)),
    };
    let grid = Grid { fuel, threads: 1, arithmetic, ..Grid::new((case.dispatch.width, case.dispatch.height)) };
    let picture = run::interpret(&source, engine.interpreter(), &grid, &|_| {}).map_err(|e| e.to_string())?;
    // An exceeded limit is not wrong. Any other ending is wrong, and is reported first.
    let exceeds_limit = |e: &&Ending| matches!(e.outcome, Outcome::OutOfFuel | Outcome::Limit(_));
    let ending = picture.endings.iter().find(|e| !exceeds_limit(e)).or(picture.endings.first());
    if let Some(ending) = ending {
        let what = format!("the vectors have a value at pixel {:?}, and this engine has none: {}", ending.pixel, ending.text());
        let verdict = match exceeds_limit(&ending) {
            true => Verdict::Limit(what),
            false => Difference::of(Engine::Vectors, engine.engine(), what),
        };
        return Ok((verdict, Lanes::default()));
    }
    let mut images = Vec::with_capacity(case.dispatch.outputs.len());
    for target in &case.dispatch.outputs {
        let found = picture.outputs.iter().position(|t| t.location == target.location && t.components >= target.components);
        let i = found
            .ok_or_else(|| format!("the program has no output of {} components at location {}", target.components, target.location))?;
        images.push(picture.images[i].iter().map(|pixel| pixel.unwrap_or_default()).collect());
    }
    Ok(compare(case, &images, engine.engine()))
}

/// The words as a module. It must have the outputs that the case expects.
fn loaded(case: &Case) -> Result<Loaded, String> {
    let dispatch = &case.dispatch;
    let loaded = Loaded::new(&dispatch.words, Some(&dispatch.entry), dispatch.constants.clone()).map_err(|e| format!("the words: {e}"))?;
    let missing =
        dispatch.outputs.iter().find(|t| !loaded.outputs.iter().any(|o| o.location == t.location && o.components >= t.components));
    match missing {
        None => Ok(loaded),
        Some(t) => Err(format!("the words have no output of {} components at location {}", t.components, t.location)),
    }
}

/// Compares the shown with the expected values, lane by lane.
fn compare(case: &Case, images: &[Vec<[u32; 4]>], engine: Engine) -> (Verdict, Lanes) {
    let mut lanes = Lanes::default();
    let mut first_doubt: Option<Why> = None;
    let mut first_difference: Option<Difference> = None;
    let mut wrong_lanes = 0u64;
    for ((target, expected), image) in case.dispatch.outputs.iter().zip(&case.expected).zip(images) {
        for (i, (expected, shown)) in expected.iter().zip(image).enumerate() {
            for component in 0..target.components as usize {
                let (expected, shown) = (expected[component], shown[component]);
                if let Expected::Undecided(why) = expected {
                    lanes.undecided += 1;
                    first_doubt.get_or_insert(why);
                    continue;
                }
                lanes.checked += 1;
                if expected.admits(shown) == Some(true) {
                    continue;
                }
                wrong_lanes += 1;
                first_difference.get_or_insert_with(|| {
                    let pixel = (i as u32 % case.dispatch.width, i as u32 / case.dispatch.width);
                    let place = Some(Place { pixel, location: target.location, component: component as u32 });
                    let what = format!("expected {}, saw {}", expected_text(expected), float_text(shown));
                    Difference {
                        between: (Engine::Vectors, engine.clone()),
                        place,
                        bits: Some((expected_bits(expected, shown), shown)),
                        what,
                        blame: None,
                        unblamed: None,
                    }
                });
            }
        }
    }
    let verdict = match (first_difference, first_doubt) {
        (Some(mut difference), _) => {
            if wrong_lanes > 1 {
                difference.what += &format!(" (and {} more lanes differ)", wrong_lanes - 1);
            }
            Verdict::Disagree(Box::new(difference))
        }
        (None, None) => Verdict::Agree,
        (None, Some(why)) => {
            let all = lanes.all();
            Verdict::Undecided(format!("{} of {all} lanes were left alone: {}", lanes.undecided, why_text(why)))
        }
    };
    (verdict, lanes)
}

/// The reason why the modules of a file have no meaning on a route, if there is one.
fn unfit(header: &Header, route: Route) -> Option<String> {
    let controls = header.profile.controls();
    (route.re_emits() && (controls.no_contraction || controls.modes().next().is_some())).then(|| {
        format!(
            "the modules declare float controls (profile strict), which the route {route} does not take; vectors of the profile wgsl can be replayed on it"
        )
    })
}

fn on_device<R: BufRead>(reader: &mut Reader<R>, device: &mut Device, each: &mut dyn FnMut(Result<Replayed, LineError>)) {
    let engine = Engine::Device(format!("{} ({})", device.adapter().name, device.route()));
    let (route, unfit) = (device.route(), unfit(reader.header(), device.route()));
    let submitted_cases: RefCell<HashMap<u64, (u64, Case)>> = RefCell::default();
    // Two places report results, never at the same time: the iterator over programs, for results
    // that need no device, and the loop over the device's results.
    let each = RefCell::new(each);
    let report = |result| each.borrow_mut()(result);
    let mut submitted = 0;
    let programs = std::iter::from_fn(|| {
        loop {
            let (line, case) = match reader.next_case()? {
                Ok(next) => next,
                Err(e) => {
                    report(Err(e));
                    continue;
                }
            };
            // A driver gets no module that the loader rejects, since a driver may crash on it.
            if let Err(what) = loaded(&case) {
                report(Err(LineError { line, what }));
                continue;
            }
            if let Some(why) = &unfit {
                let verdict = Verdict::Unchecked(why.clone());
                report(Ok(Replayed { line, index: case.index, verdict, lanes: Lanes::default() }));
                continue;
            }
            let dispatch = case.dispatch.clone();
            submitted_cases.borrow_mut().insert(submitted, (line, case));
            submitted += 1;
            return Some(dispatch);
        }
    });
    for finished in device.run_all(programs) {
        let Some((line, case)) = submitted_cases.borrow_mut().remove(&finished.id) else { continue };
        let (verdict, lanes) = judge_outcome(&case, finished.outcome, &engine, route);
        report(Ok(Replayed { line, index: case.index, verdict, lanes }));
    }
}

/// The verdict on a case from the outcome of a device, and the number of compared lanes.
fn judge_outcome(case: &Case, outcome: DeviceOutcome, engine: &Engine, route: Route) -> (Verdict, Lanes) {
    let verdict = match outcome {
        DeviceOutcome::Drawn(frame) if frame.words_hash == case.dispatch.words_hash() => {
            return compare(case, &frame.images, engine.clone());
        }
        DeviceOutcome::Drawn(frame) => {
            Verdict::Unchecked(format!("the device ran the words {:#018x}, not those of the case", frame.words_hash))
        }
        other => without_frame(&other, Engine::Vectors, engine.clone(), route),
    };
    (verdict, Lanes::default())
}

#[cfg(test)]
mod tests {
    use super::super::format::Provenance;
    use super::*;
    use crate::dispatch::{FragmentDispatch, Frame, Target};
    use smallstep_semantics::number::{Controls, Profile};

    /// A case with three by two pixels and one output of two components. The first component is 1.0
    /// everywhere. The second is open.
    fn case() -> Case {
        let words = vec![1, 2, 3].into();
        let outputs = vec![Target { location: 4, components: 2 }];
        let one = Expected::Bits(1f32.to_bits());
        let open = Expected::Undecided(Why::Approximate);
        Case {
            index: 7,
            source: "(vec2 1 (sin 4))".into(),
            dispatch: FragmentDispatch { words, entry: "main".into(), width: 3, height: 2, outputs, constants: Vec::new() },
            expected: vec![vec![[one, open, open, open]; 6]],
            rules: Vec::new(),
            provenance: Provenance { program: 0, seed: "0".into(), engines: Default::default() },
        }
    }

    fn device() -> Engine {
        Engine::Device("a device".into())
    }

    /// The verdict on a device that shows these values in the first component.
    fn shown(first: [f32; 6]) -> (Verdict, Lanes) {
        let case = case();
        let images = vec![first.iter().map(|x| [x.to_bits(), 5, 6, 7]).collect()];
        judge_outcome(&case, DeviceOutcome::Drawn(Frame { words_hash: case.dispatch.words_hash(), images }), &device(), Route::Passthrough)
    }

    #[test]
    fn each_lane_is_compared_at_its_pixel() {
        let (verdict, lanes) = shown([1.0; 6]);
        assert!(matches!(verdict, Verdict::Undecided(why) if why.starts_with("6 of 12 lanes were left alone")));
        assert_eq!((lanes.checked, lanes.undecided), (6, 6));
        let (Verdict::Disagree(one), _) = shown([1.0, 1.0, 1.0, 1.0, 1.0, 2.0]) else { panic!("2 is not 1") };
        let place = Place { pixel: (2, 1), location: 4, component: 0 };
        assert_eq!((one.place, one.bits), (Some(place), Some((1f32.to_bits(), 2f32.to_bits()))));
        assert!(one.what.starts_with("expected 1") && !one.what.contains("more lanes"), "{}", one.what);
        let (Verdict::Disagree(three), _) = shown([1.0, 1.0, 1.0, 0.0, 3.0, 2.0]) else { panic!("0 is not 1") };
        assert_eq!(three.place, Some(Place { pixel: (0, 1), ..place }));
        assert!(three.what.ends_with(" (and 2 more lanes differ)"), "{}", three.what);
    }

    #[test]
    fn an_outcome_that_shows_nothing_has_its_verdict() {
        let verdict_of = |outcome, route| judge_outcome(&case(), outcome, &device(), route).0;
        let other = Frame { words_hash: 0, images: Vec::new() };
        let verdict = verdict_of(DeviceOutcome::Drawn(other), Route::Passthrough);
        assert!(matches!(verdict, Verdict::Unchecked(why) if why.contains("not those of the case")));
        for (route, blamed) in [(Route::Naga, "naga or the driver refuses"), (Route::Passthrough, "the driver refuses")] {
            let Verdict::Disagree(difference) = verdict_of(DeviceOutcome::Refused("no".into()), route) else {
                panic!("a refusal is wrong")
            };
            assert!(difference.what.starts_with(blamed), "{}", difference.what);
        }
        assert_eq!(verdict_of(DeviceOutcome::Unchecked("no room".into()), Route::Naga), Verdict::Unchecked("no room".into()));
        assert!(matches!(verdict_of(DeviceOutcome::Lost("gone".into()), Route::Naga), Verdict::Failed(why) if why.contains("gone")));
    }

    #[test]
    fn modules_with_float_controls_are_not_for_naga() {
        let header = |profile| Header {
            version: String::new(),
            generator: 1,
            seed: 1,
            profile,
            constants: crate::compile::lambda_v::Constants::InModule,
            cases: 1,
            command: String::new(),
        };
        let no_controls = Profile::VulkanDefault.controls();
        let contraction = Profile::Declared(Controls { no_contraction: true, ..no_controls });
        let special = Profile::Declared(Controls { keeps_special: true, ..no_controls });
        for profile in [Profile::Strict, contraction, special] {
            assert!(unfit(&header(profile), Route::Naga).is_some(), "{profile}");
            assert_eq!(unfit(&header(profile), Route::Passthrough), None);
        }
        assert_eq!(unfit(&header(Profile::Wgsl), Route::Naga), None);
    }
}
