//! The interpreters. They run pixel by pixel, on several threads.

use super::{Ending, Grid, NotRun, Picture, translate};
use crate::dispatch::Target;
use crate::source::{Loaded, Source};
use crate::theorem::case::target_fuel;
use smallstep_semantics::lambda_v::machine::{Bounds, Pixels};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{Reduction, Setting, Strategy};
use smallstep_semantics::lambda_v::terms::TermId;
use smallstep_semantics::number::{Lane, Profile};
use smallstep_semantics::outcome::{Outcome, Stuck, TimeLimit};
use smallstep_semantics::spirv;
use smallstep_semantics::spirv::environment::Limits;
use smallvec::SmallVec;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// An interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// The machine of the program's own language.
    Machine,
    /// The relation of the program's own language, rule by rule. It is slow.
    Reference,
    /// The SPIR-V machine. A λV program is translated for it.
    Spirv,
}

impl Interpreter {
    /// Every interpreter.
    pub const ALL: [Interpreter; 3] = [Interpreter::Machine, Interpreter::Reference, Interpreter::Spirv];

    /// The name: "machine", "reference" or "spirv".
    pub fn name(self) -> &'static str {
        match self {
            Interpreter::Machine => "machine",
            Interpreter::Reference => "reference",
            Interpreter::Spirv => "spirv",
        }
    }

    /// The interpreter with that name.
    pub fn from_name(name: &str) -> Option<Interpreter> {
        Interpreter::ALL.into_iter().find(|i| i.name() == name)
    }
}

/// The bits of each output at a pixel.
type Shown = SmallVec<[[u32; 4]; 1]>;

/// A program that is prepared for an interpreter.
enum Ready<'s> {
    LambdaV { program: &'s Program, relation: bool },
    Spirv { loaded: &'s Loaded, buffers: Vec<spirv::Buffer>, limits: Limits, relation: bool },
}

/// Runs a program on every pixel of the grid. `progress` gets the number of finished rows. Any
/// thread may call it.
///
/// Errors: a λV program that cannot be translated, on [`Interpreter::Spirv`]. If a pixel ends
/// without a value, the picture has its ending.
pub fn interpret(source: &Source, interpreter: Interpreter, grid: &Grid, progress: &(dyn Fn(u32) + Sync)) -> Result<Picture, NotRun> {
    let translated;
    let relation = interpreter == Interpreter::Reference;
    let ready = match (source, interpreter) {
        (Source::LambdaV { program, .. }, Interpreter::Spirv) => {
            let (loaded, instructions) = translate(program, Profile::Strict)?;
            translated = loaded;
            Ready::spirv(&translated, grid, target_fuel(grid.fuel, instructions), relation)
        }
        (Source::LambdaV { program, .. }, _) => Ready::LambdaV { program, relation },
        (Source::Spirv(loaded), _) => Ready::spirv(loaded, grid, grid.fuel, relation),
    };
    let outputs = match source {
        Source::LambdaV { outputs, .. } => outputs.clone(),
        Source::Spirv(loaded) => loaded.outputs.clone(),
    };
    let (origin, (width, height)) = grid.extent();
    let rows = run_rows(&ready, grid, progress);
    let mut picture = Picture { origin, width, height, outputs, images: Vec::new(), endings: Vec::new(), steps: 0 };
    picture.images = vec![Vec::with_capacity(width as usize * height as usize); picture.outputs.len()];
    for (pixel, (result, steps)) in picture.pixels().collect::<Vec<_>>().into_iter().zip(rows.into_iter().flatten()) {
        picture.steps = picture.steps.saturating_add(steps);
        let shown = result.map_err(|outcome| note(&mut picture.endings, pixel, outcome)).ok();
        for (i, image) in picture.images.iter_mut().enumerate() {
            image.push(shown.as_ref().map(|s| s[i]));
        }
    }
    Ok(picture)
}

pub(super) fn note(endings: &mut Vec<Ending>, pixel: (u32, u32), outcome: Outcome<()>) {
    match endings.iter_mut().find(|e| e.outcome.name() == outcome.name()) {
        Some(ending) => ending.pixels += 1,
        None => endings.push(Ending { pixel, outcome, pixels: 1 }),
    }
}

type Pixel = (Result<Shown, Outcome<()>>, u64);

fn run_rows(ready: &Ready<'_>, grid: &Grid, progress: &(dyn Fn(u32) + Sync)) -> Vec<Vec<Pixel>> {
    let (origin, (width, height)) = grid.extent();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if grid.threads == 0 { cores } else { grid.threads }.min(height as usize).max(1);
    let (next, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let rows: Mutex<Vec<Vec<Pixel>>> = Mutex::new(vec![Vec::new(); height as usize]);
    let work = || {
        let mut thread = ready.thread(grid);
        loop {
            let row = next.fetch_add(1, Ordering::Relaxed);
            if row >= height {
                return;
            }
            let pixels: Vec<Pixel> = (0..width).map(|x| thread.pixel((origin.0 + x, origin.1 + row), grid)).collect();
            rows.lock().unwrap_or_else(|e| e.into_inner())[row as usize] = pixels;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    rows.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// A prepared program on one thread, with the state that is reused from pixel to pixel.
enum Thread<'r> {
    Machine { program: &'r Program, pixels: Pixels<'r> },
    Relation { program: &'r Program },
    Spirv { loaded: &'r Loaded, buffers: &'r [spirv::Buffer], limits: Limits, relation: bool, registers: spirv::Registers },
}

impl<'s> Ready<'s> {
    fn spirv(loaded: &'s Loaded, grid: &Grid, fuel: u64, relation: bool) -> Ready<'s> {
        let limits = Limits { time: grid.time, ..Limits::of_fuel(fuel) };
        Ready::Spirv { loaded, buffers: loaded.buffers(), limits, relation }
    }

    fn thread(&self, grid: &Grid) -> Thread<'_> {
        match *self {
            Ready::LambdaV { program, relation: true } => Thread::Relation { program },
            Ready::LambdaV { program, relation: false } => {
                let bounds = Bounds { fuel: grid.fuel, time: grid.time, ..Bounds::default() };
                Thread::Machine { program, pixels: Pixels::new(program, bounds) }
            }
            Ready::Spirv { loaded, ref buffers, limits, relation } => {
                Thread::Spirv { loaded, buffers, limits, relation, registers: spirv::Registers::default() }
            }
        }
    }
}

impl Thread<'_> {
    /// The outputs at a pixel, or the ending of the run, with the number of steps.
    fn pixel(&mut self, pixel: (u32, u32), grid: &Grid) -> Pixel {
        if let Some(limit) = TimeLimit::passed(grid.time) {
            return (Err(Outcome::Limit(limit)), 0);
        }
        let setting = Setting { arithmetic: grid.arithmetic, ..Setting::at_pixel(pixel.0, pixel.1) };
        match self {
            Thread::Machine { program, pixels } => lambda_v(program, |e| pixels.run(e, &setting)),
            Thread::Relation { program } => lambda_v(program, |e| {
                let mut steps = 0;
                let mut reduction = Reduction::new(program, setting).until(grid.time);
                let outcome = reduction.run(e, Strategy::First, grid.fuel, &mut |_, _, _| steps += 1);
                (outcome.map(|value| value.bits().collect()), steps)
            }),
            Thread::Spirv { loaded, buffers, limits, relation, registers } => {
                let inputs = spirv::Inputs { frag_coord: setting.frag_coord.map(Lane::float), buffers };
                let outcome = match relation {
                    false => loaded.compiled.run_in(registers, &inputs, limits, &grid.arithmetic),
                    true => {
                        let relation = spirv::Relation::new(spirv::Rules::standard(), grid.arithmetic);
                        let sink = &mut |_: &spirv::Event<'_, '_>| {};
                        let ran = spirv::step::run(&loaded.module, &loaded.entry, &inputs, *limits, &relation, sink);
                        ran.unwrap_or_else(|e| Outcome::Unsupported(e.to_string()))
                    }
                };
                match outcome {
                    Outcome::Observed(shown) => (written(&loaded.outputs, &shown), shown.steps),
                    other => (Err(other.map(|_| ())), 0),
                }
            }
        }
    }
}

/// The outputs of a program. `run` evaluates an output to its components.
fn lambda_v(program: &Program, mut run: impl FnMut(TermId) -> (Outcome<SmallVec<[u32; 4]>>, u64)) -> Pixel {
    let mut shown = Shown::new();
    let mut steps = 0;
    for output in &program.outputs {
        let (outcome, took) = run(output.term);
        steps += took;
        match outcome {
            Outcome::Observed(components) => {
                let mut lanes = [0; 4];
                lanes.iter_mut().zip(components).for_each(|(lane, bits)| *lane = bits);
                shown.push(lanes);
            }
            other => return (Err(other.map(|_| ())), steps),
        }
    }
    (Ok(shown), steps)
}

/// The bits of each output. An output that was not written is an ending.
fn written(outputs: &[Target], shown: &spirv::Outputs) -> Result<Shown, Outcome<()>> {
    let lanes = |target: &Target| {
        let Some(lanes) = shown.at(target.location) else {
            let why = format!("the output at location {} was not written, so what a device shows there is undefined", target.location);
            return Err(Outcome::Stuck(Stuck { why, at: "the end of the entry point".into() }));
        };
        let mut bits = [0; 4];
        bits.iter_mut().zip(lanes).for_each(|(bits, lane)| *bits = lane.bits);
        Ok(bits)
    };
    outputs.iter().map(lanes).collect()
}
