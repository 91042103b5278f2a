//! One program on one engine, over the pixels of a grid: what `smallstep run` shows and what
//! vectors are replayed on.
//!
//! `interpret` runs a program of either language on an interpreter, `picture` makes an image of
//! what was seen. Nothing is judged here.

pub mod amber;
pub mod grid;
mod interpret;
pub mod picture;
pub mod screen;
pub mod stages;

use interpret::note;
pub use interpret::{Interpreter, interpret};

use crate::compile::lambda_v::{self as translation, Constants, Untranslatable};
use crate::dispatch::Target;
use crate::gpu::{Device, DeviceOutcome};
use crate::source::{Loaded, Source};
use crate::theorem::device::profile_of;
use smallstep_semantics::number::{Arithmetic, Profile};
use smallstep_semantics::outcome::{Outcome, TimeLimit};

/// The pixels that are run, and how.
#[derive(Clone, Copy)]
pub struct Grid {
    /// Pixels in a row, and rows.
    pub size: (u32, u32),
    /// Only this pixel of them, if one is named.
    pub pixel: Option<(u32, u32)>,
    /// The most steps on one pixel: of the source for λV, whichever engine runs it, of the target
    /// for SPIR-V.
    pub fuel: u64,
    /// When the interpreters end at the latest, if at all.
    pub time: Option<TimeLimit>,
    /// Threads of an interpreter; 0: as many as the machine has cores.
    pub threads: usize,
    /// The arithmetic of the interpreters.
    pub arithmetic: Arithmetic,
}

impl Grid {
    /// A grid of this size, with a million steps for each pixel, on all cores.
    pub fn new(size: (u32, u32)) -> Grid {
        Grid { size, pixel: None, fuel: 1_000_000, time: None, threads: 0, arithmetic: Arithmetic::default() }
    }

    /// The pixel at the top left of what is run, and the width and height of that.
    fn extent(&self) -> ((u32, u32), (u32, u32)) {
        match self.pixel {
            None => ((0, 0), self.size),
            Some(pixel) => (pixel, (1, 1)),
        }
    }
}

/// How runs ended that have no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The first pixel, row by row, that ended so.
    pub pixel: (u32, u32),
    /// Its ending.
    pub outcome: Outcome<()>,
    /// How many pixels ended so, for whatever reason.
    pub pixels: u64,
}

impl Ending {
    /// The ending in a sentence.
    pub fn text(&self) -> String {
        match &self.outcome {
            Outcome::Undefined(undefined) => undefined.to_string(),
            Outcome::Stuck(stuck) => format!("stuck, at {}: {}", stuck.at, stuck.why),
            Outcome::Unsupported(what) => format!("unsupported: {what}"),
            Outcome::Diverges(why) => format!("it never ends: {why}"),
            Outcome::Limit(limit) => limit.to_string(),
            other => other.name().into(),
        }
    }
}

/// What was seen: the bits of each pixel of each output.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The pixel at the top left.
    pub origin: (u32, u32),
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The outputs. Lanes beyond an output's components mean nothing.
    pub outputs: Vec<Target>,
    /// One image for each output, row by row from the top left; none where the pixel has no value.
    pub images: Vec<Vec<Option<[u32; 4]>>>,
    /// How pixels ended that have no value, one of each kind.
    pub endings: Vec<Ending>,
    /// Steps of all pixels together; 0 on a device.
    pub steps: u64,
}

impl Picture {
    /// The pixels' coordinates, in the order of the images.
    pub fn pixels(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| (self.origin.0 + x, self.origin.1 + y)))
    }
}

/// Why a program is not run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRun {
    /// The λV program has no translation, which the engine needs.
    Untranslatable(Untranslatable),
    /// Its translation is refused by the loader: a bug of ours.
    Refused(String),
    /// The dispatch describes no run.
    Malformed(String),
    /// The device has not drawn it.
    Device(DeviceOutcome),
}

impl std::fmt::Display for NotRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotRun::Untranslatable(e) => e.fmt(f),
            NotRun::Refused(what) => write!(f, "the translated module is refused, which is a bug of ours: {what}"),
            NotRun::Malformed(what) => f.write_str(what),
            NotRun::Device(outcome) => outcome.fmt(f),
        }
    }
}

impl std::error::Error for NotRun {}

/// Draws a program on a device: λV is translated under the profile of the device's route, with its
/// constants in the module.
pub fn draw(source: &Source, device: &mut Device, grid: &Grid) -> Result<Picture, NotRun> {
    let translated;
    let loaded = match source {
        Source::Spirv(loaded) => loaded,
        Source::LambdaV { program, .. } => {
            translated = translate(program, profile_of(device.route()))?.0;
            &translated
        }
    };
    let dispatch = loaded.dispatch(grid.size);
    dispatch.check().map_err(|e| NotRun::Malformed(e.to_string()))?;
    let frame = match device.run(dispatch).outcome {
        DeviceOutcome::Drawn(frame) => frame,
        other => return Err(NotRun::Device(other)),
    };
    let (origin, (width, height)) = grid.extent();
    let at = |x: u32, y: u32| y as usize * grid.size.0 as usize + x as usize;
    let cut = |image: Vec<[u32; 4]>| {
        let rows = (origin.1..origin.1 + height).flat_map(|y| (origin.0..origin.0 + width).map(move |x| (x, y)));
        rows.map(|(x, y)| Some(image[at(x, y)])).collect()
    };
    let images = frame.images.into_iter().map(cut).collect();
    Ok(Picture { origin, width, height, outputs: loaded.outputs.clone(), images, endings: Vec::new(), steps: 0 })
}

/// The translation of a λV program, loaded, and how many instructions it has.
fn translate(program: &smallstep_semantics::lambda_v::resolve::Program, profile: Profile) -> Result<(Loaded, usize), NotRun> {
    let options = translation::Options { profile, constants: Constants::InModule, ..translation::Options::default() };
    let module = translation::translate(program, &options).map_err(NotRun::Untranslatable)?;
    let loaded = Loaded::new(&module.words, Some(module.entry), module.constants).map_err(|e| NotRun::Refused(e.to_string()))?;
    // The interface has four components everywhere; the program says how many mean something.
    Ok((Loaded { outputs: module.outputs, ..loaded }, module.instructions))
}
