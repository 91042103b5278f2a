//! The run of one program on one engine, over the pixels of a grid. `smallstep run` shows it, and
//! vectors are replayed with it.
//!
//! `interpret` runs a program of either language on an interpreter. `picture` makes an image of the
//! result. This module judges nothing.

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

/// The pixels to run, and the settings.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The width and height of the grid in pixels.
    pub size: (u32, u32),
    /// The only pixel to run, if one is given.
    pub pixel: Option<(u32, u32)>,
    /// The most steps for one pixel. For λV these are steps of the source program, on any engine.
    /// For SPIR-V they are steps of the module.
    pub fuel: u64,
    /// The time limit of the interpreters, if there is one.
    pub time: Option<TimeLimit>,
    /// The number of threads of an interpreter. 0 stands for the number of cores.
    pub threads: usize,
    /// The arithmetic of the interpreters.
    pub arithmetic: Arithmetic,
}

impl Grid {
    /// A grid of this size, with a million steps for each pixel, on all cores.
    pub fn new(size: (u32, u32)) -> Grid {
        Grid { size, pixel: None, fuel: 1_000_000, time: None, threads: 0, arithmetic: Arithmetic::default() }
    }

    /// The top left pixel of the run, and its width and height.
    fn extent(&self) -> ((u32, u32), (u32, u32)) {
        match self.pixel {
            None => ((0, 0), self.size),
            Some(pixel) => (pixel, (1, 1)),
        }
    }
}

/// The ending of runs without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The first pixel with this ending, row by row.
    pub pixel: (u32, u32),
    /// The ending of that pixel.
    pub outcome: Outcome<()>,
    /// The number of pixels with this kind of ending, for whatever reason.
    pub pixels: u64,
}

impl Ending {
    /// The ending as a sentence.
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

/// The result of a run: the bits of each pixel of each output.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The top left pixel.
    pub origin: (u32, u32),
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The outputs. Lanes beyond the components of an output have no meaning.
    pub outputs: Vec<Target>,
    /// One image for each output, row by row from the top left. `None` for a pixel without a value.
    pub images: Vec<Vec<Option<[u32; 4]>>>,
    /// The endings of pixels without a value, one of each kind.
    pub endings: Vec<Ending>,
    /// The steps of all pixels together. 0 on a device.
    pub steps: u64,
}

impl Picture {
    /// The coordinates of the pixels, in the order of the images.
    pub fn pixels(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| (self.origin.0 + x, self.origin.1 + y)))
    }
}

/// The reason why a program did not run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRun {
    /// The engine needs a translation, and the λV program has none.
    Untranslatable(Untranslatable),
    /// The loader rejects the translation: a bug of ours.
    Refused(String),
    /// The dispatch does not describe a run.
    Malformed(String),
    /// The outcome of a device that did not draw the program.
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

/// Draws a program on a device. A λV program is translated under the profile of the device's
/// route, with its constants in the module.
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

/// The loaded translation of a λV program, and its number of instructions.
fn translate(program: &smallstep_semantics::lambda_v::resolve::Program, profile: Profile) -> Result<(Loaded, usize), NotRun> {
    let options = translation::Options { profile, constants: Constants::InModule, ..translation::Options::default() };
    let module = translation::translate(program, &options).map_err(NotRun::Untranslatable)?;
    let loaded = Loaded::new(&module.words, Some(module.entry), module.constants).map_err(|e| NotRun::Refused(e.to_string()))?;
    // All outputs have four components in the interface. The program tells how many have a meaning.
    Ok((Loaded { outputs: module.outputs, ..loaded }, module.instructions))
}
