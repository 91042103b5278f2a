//! Checking an engine or a device against a vectors file.

use super::format::{Case, Header, LineError};
use super::reader::Reader;
use crate::gpu::{Device, DeviceOutcome, Route};
use crate::run::{self, Ending, Grid, Interpreter};
use crate::source::{Loaded, Source};
use crate::theorem::{Difference, Engine, Lack, Lanes, Place, Verdict, expected_bits, expected_text, float_text, why_text};
use smallstep_semantics::number::{Arithmetic, Expected, Why};
use smallstep_semantics::outcome::Outcome;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::BufRead;

/// An engine of ours, and what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// The λV machine, on the source.
    Machine,
    /// The λV relation, on the source.
    Reference,
    /// The SPIR-V machine, on the words.
    Spirv,
    /// The SPIR-V relation, on the words.
    SpirvReference,
}

impl Ours {
    /// Every one.
    pub const ALL: [Ours; 4] = [Ours::Machine, Ours::Reference, Ours::Spirv, Ours::SpirvReference];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Ours::Machine => "machine",
            Ours::Reference => "reference",
            Ours::Spirv => "spirv",
            Ours::SpirvReference => "spirv-reference",
        }
    }

    fn engine(self) -> Engine {
        match self {
            Ours::Machine => Engine::Machine,
            Ours::Reference => Engine::Reduction,
            Ours::Spirv => Engine::SpirvMachine,
            Ours::SpirvReference => Engine::SpirvRelation,
        }
    }

    fn interpreter(self) -> Interpreter {
        match self {
            Ours::Machine | Ours::Spirv => Interpreter::Machine,
            Ours::Reference | Ours::SpirvReference => Interpreter::Reference,
        }
    }
}

/// What is checked.
pub enum Subject<'d> {
    /// An engine of ours.
    Ours {
        /// Which.
        engine: Ours,
        /// The most steps on one pixel.
        fuel: u64,
        /// The arithmetic, in which tests plant bugs.
        arithmetic: Arithmetic,
    },
    /// A device.
    Device(&'d mut Device),
}

/// One case, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Its line in the file.
    pub line: u64,
    /// Its index.
    pub index: u64,
    /// The verdict of the vectors on the engine.
    pub verdict: Verdict,
    /// Its lanes: compared, and left alone.
    pub lanes: Lanes,
}

/// Checks every case of a file. `each` gets the cases as they are done, and the lines that are no cases; on a device they come in any order.
///
/// Memory is bounded: a line at a time, and on a device as many cases as its window holds.
pub fn replay<R: BufRead>(reader: &mut Reader<R>, subject: Subject<'_>, each: &mut dyn FnMut(Result<Replayed, LineError>)) {
    match subject {
        Subject::Ours { engine, fuel, arithmetic } => {
            while let Some(next) = reader.next_case() {
                each(next.and_then(|(line, case)| {
                    let (verdict, lanes) = on_ours(&case, engine, fuel, arithmetic).map_err(|what| LineError { line, what })?;
                    Ok(Replayed { line, index: case.index, verdict, lanes })
                }));
            }
        }
        Subject::Device(device) => on_device(reader, device, each),
    }
}

fn on_ours(case: &Case, engine: Ours, fuel: u64, arithmetic: Arithmetic) -> Result<(Verdict, Lanes), String> {
    let source = match engine {
        Ours::Machine | Ours::Reference => Source::read_lambda_v("source", &case.source).map_err(|e| e.text)?,
        Ours::Spirv | Ours::SpirvReference => Source::Spirv(Box::new(loaded(case)?)),
    };
    let grid = Grid { fuel, threads: 1, arithmetic, ..Grid::new((case.dispatch.width, case.dispatch.height)) };
    let picture = run::interpret(&source, engine.interpreter(), &grid, &|_| {}).map_err(|e| e.to_string())?;
    // Being out of room says nothing; any other ending is wrong, and says more.
    let of_room = |e: &&Ending| matches!(e.outcome, Outcome::OutOfFuel | Outcome::Limit(_));
    let ending = picture.endings.iter().find(|e| !of_room(e)).or(picture.endings.first());
    if let Some(ending) = ending {
        let what = format!("the vectors have a value at pixel {:?}, and this engine has none: {}", ending.pixel, ending.text());
        let verdict = match of_room(&ending) {
            true => Verdict::Unchecked(Lack::Room, what),
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

/// The words as a module that has the outputs that the case expects.
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

/// Compares what was shown with what is expected, lane by lane.
fn compare(case: &Case, images: &[Vec<[u32; 4]>], engine: Engine) -> (Verdict, Lanes) {
    let mut lanes = Lanes::default();
    let mut doubt: Option<Why> = None;
    let mut first: Option<Difference> = None;
    let mut wrong = 0u64;
    for ((target, expected), image) in case.dispatch.outputs.iter().zip(&case.expected).zip(images) {
        for (i, (expected, shown)) in expected.iter().zip(image).enumerate() {
            for component in 0..target.components as usize {
                let (expected, shown) = (expected[component], shown[component]);
                if let Expected::Undecided(why) = expected {
                    lanes.undecided += 1;
                    doubt.get_or_insert(why);
                    continue;
                }
                lanes.checked += 1;
                if expected.admits(shown) == Some(true) {
                    continue;
                }
                wrong += 1;
                first.get_or_insert_with(|| {
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
    let verdict = match (first, doubt) {
        (Some(mut difference), _) => {
            if wrong > 1 {
                difference.what += &format!(" (and {} more lanes differ)", wrong - 1);
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

/// Why a file's modules mean nothing on a route, if so.
fn unfit(header: &Header, route: Route) -> Option<String> {
    let controls = header.profile.controls();
    (route == Route::Naga && (controls.no_contraction || controls.modes().next().is_some())).then(|| {
        "the modules declare float controls (profile strict), which the route naga does not take; vectors of the profile wgsl can be replayed on it".into()
    })
}

fn on_device<R: BufRead>(reader: &mut Reader<R>, device: &mut Device, each: &mut dyn FnMut(Result<Replayed, LineError>)) {
    let engine = Engine::Device(format!("{} ({})", device.adapter().name, device.route()));
    let (route, unfit) = (device.route(), unfit(reader.header(), device.route()));
    let waiting: RefCell<HashMap<u64, (u64, Case)>> = RefCell::default();
    // Told from two places, never at once: from within the programs what is known without the device, and what comes back from it.
    let each = RefCell::new(each);
    let tell = |result| each.borrow_mut()(result);
    let mut submitted = 0;
    let programs = std::iter::from_fn(|| {
        loop {
            let (line, case) = match reader.next_case()? {
                Ok(next) => next,
                Err(e) => {
                    tell(Err(e));
                    continue;
                }
            };
            // A driver gets nothing that the loader refuses: it need not survive that.
            if let Err(what) = loaded(&case) {
                tell(Err(LineError { line, what }));
                continue;
            }
            if let Some(why) = &unfit {
                let verdict = Verdict::Unchecked(Lack::Device, why.clone());
                tell(Ok(Replayed { line, index: case.index, verdict, lanes: Lanes::default() }));
                continue;
            }
            let dispatch = case.dispatch.clone();
            waiting.borrow_mut().insert(submitted, (line, case));
            submitted += 1;
            return Some(dispatch);
        }
    });
    for finished in device.run_all(programs) {
        let Some((line, case)) = waiting.borrow_mut().remove(&finished.id) else { continue };
        let (verdict, lanes) = match finished.outcome {
            DeviceOutcome::Drawn(frame) if frame.words_hash != case.dispatch.words_hash() => {
                let why = format!("the device ran the words {:#018x}, not those of the case", frame.words_hash);
                (Verdict::Unchecked(Lack::Device, why), Lanes::default())
            }
            DeviceOutcome::Drawn(frame) => compare(&case, &frame.images, engine.clone()),
            DeviceOutcome::Refused(why) => {
                let blamed = if route == Route::Naga { "naga or the driver" } else { "the driver" };
                let what = format!("{blamed} refuses a module that the semantics runs: {why}");
                (Difference::of(Engine::Vectors, engine.clone(), what), Lanes::default())
            }
            DeviceOutcome::Unchecked(why) => (Verdict::Unchecked(Lack::Device, why), Lanes::default()),
            other => (Verdict::Failed(other.to_string()), Lanes::default()),
        };
        tell(Ok(Replayed { line, index: case.index, verdict, lanes }));
    }
}
