//! `smallstep run`: one program on one engine, as values or as a picture.

use super::amber::{self, ScriptArgs};
use super::budget::{Budget, TimeArgs};
use super::compute::{ComputeArgs, Failure, Running, invalid, no_meaning, report_on_device_result, undefined_json, unknown_meaning};
use super::draw::{self, DrawArgs};
use super::exit::Ended;
use super::grid::{self, GridArgs};
use super::memory::Memory;
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::compute::given::Assignment;
use smallstep::compute::report::Invocations;
use smallstep::gpu::{self, Device, DeviceOutcome, Route, Selection};
use smallstep::program::Language;
use smallstep::run::grid::compute_entry;
use smallstep::run::picture::{self, LaneSummary};
use smallstep::run::screen::{Input, Screen, Shown};
use smallstep::run::{self, Ending, Grid, Interpreter, NotRun, Picture};
use smallstep::source::{Loaded, ReadError, Source, Wrong};
use smallstep::theorem::float_text;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::specialization::Specialization;
use std::path::{Path, PathBuf};

/// The most values, pixels times outputs, that are printed one by one without `--values`.
pub(super) const FEW: usize = 16;

/// Run a program on an interpreter or a device: a λV program or a fragment module over all pixels
/// (prints the values, draws a picture; of a fragment module prints the storage buffers and images
/// too), a compute module over its workgroups (prints the buffers), or the commands of an Amber
/// script (prints its expectations and buffers).
#[derive(Args)]
pub(crate) struct Run {
    /// A λV program, a SPIR-V module as words, assembly or WGSL (.spv, .spvasm, .wgsl), a WSL
    /// program with a compute or a fragment entry point (.wsl), an Amber script (.amber), or - for
    /// standard input.
    file: PathBuf,
    /// Pixels: width x height. 4x4 if not given, or 256x256 for a picture or a single pixel.
    #[arg(long, value_parser = input::size)]
    size: Option<(u32, u32)>,
    /// Write a PNG, of an Amber script the colour attachment of the last graphics pipeline that
    /// runs: 0 is black, 1 full intensity; a number is grey, two components are red and green; NaN
    /// is magenta, a pixel without a value cyan.
    #[arg(long, value_name = "FILE.png", value_parser = png)]
    image: Option<PathBuf>,
    /// Let the fourth component be the picture's alpha; else it is opaque.
    #[arg(long, requires = "image")]
    alpha: bool,
    /// The engine: machine or reference (of the program's language), spirv (the SPIR-V machine, on
    /// the translation), auto (the first device), or an adapter's name or index. The machine if not
    /// given; for a compute module that it does not compile, and for WSL programs, the reference.
    #[arg(long, visible_alias = "device")]
    engine: Option<String>,
    /// How words reach a device: passthrough or naga.
    #[arg(long, value_parser = super::route)]
    route: Option<Route>,
    /// Only the output, or with an Amber script the colour attachment, at this location.
    #[arg(long)]
    output: Option<u32>,
    /// Only this pixel.
    #[arg(long, value_parser = input::pixel)]
    pixel: Option<(u32, u32)>,
    /// The most steps on one pixel (1000000 if not given); of a compute module, the most
    /// instructions of all invocations together (if not given, 2^25 of the relation, and of the
    /// machine 2^28, each for up to 64 invocations at once: less than a minute); of a WSL program,
    /// the most steps of all threads on one way (50000000), or on the machine the most iterations
    /// and calls (2000000000).
    #[arg(long)]
    fuel: Option<u64>,
    #[command(flatten)]
    time: TimeArgs,
    /// The entry point of a module or WSL program that has several.
    #[arg(long)]
    entry: Option<String>,
    /// A file of little-endian 32-bit words: the buffer that a SPIR-V module reads at set 0,
    /// binding 0.
    #[arg(long)]
    buffer: Option<PathBuf>,
    /// Print every pixel, or every element of a buffer, however many there are.
    #[arg(long)]
    values: bool,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    compute: ComputeArgs,
    /// What an input of a fragment module holds, drawn over the whole screen: LOC=type:v,…, or
    /// LOC=screen for the place on it, 0 to 1 from the top left.
    #[arg(long, value_name = "LOC=…", help_heading = "Compute and fragment modules")]
    input: Vec<Input>,
    /// Where a storage buffer's bytes go when the dispatch or the draw has ended; - is standard
    /// output.
    #[arg(long, value_name = "S.B=FILE", help_heading = "Compute and fragment modules")]
    out: Vec<Assignment<PathBuf>>,
    /// On the reference: collect several undefined behaviours; an invocation that meets one ends,
    /// the others go on.
    #[arg(long, help_heading = "Compute modules")]
    keep_going: bool,
    #[command(flatten)]
    reading: input::Reading,
    #[command(flatten)]
    uniformity: super::uniformity::Strictness,
    #[command(flatten)]
    script: ScriptArgs,
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    draw: DrawArgs,
    /// The names of the options on the command line.
    #[arg(skip)]
    pub(super) given_options: Vec<String>,
}

/// The options that every program accepts.
const ALWAYS: &[&str] = &["file", "language", "target-env", "json", "engine", "fuel", "time-limit", "values"];
/// The options that draws accept.
const PICTURE: &[&str] = &["size", "image", "alpha", "output", "pixel"];

/// Reads `--image`.
fn png(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        true => Ok(path),
        false => Err(format!("\"{text}\" is no name of a PNG, which is what is written; write it as picture.png")),
    }
}

/// The most steps on one pixel without `--fuel`.
const FUEL: u64 = 1_000_000;

impl Run {
    pub(crate) fn run(self) -> Ended {
        self.try_run()
    }

    fn try_run(&self) -> Result<u8, (u8, String)> {
        let name = self.file.display().to_string();
        let size = self.size.unwrap_or(if self.image.is_some() || self.pixel.is_some() { (256, 256) } else { (4, 4) });
        if let Some((x, y)) = self.pixel
            && (x >= size.0 || y >= size.1)
        {
            return Err((exit::INVALID, format!("error: pixel ({x},{y}) is outside the grid of {}x{}", size.0, size.1)));
        }
        let invalid = |e: String| (exit::INVALID, format!("error: {e}"));
        let program = self.reading.program(&self.file)?;
        match program.language {
            Language::Amber => return self.run_script(&name, program.text()),
            Language::Wsl => return self.run_wsl(&name, program.text(), size),
            Language::LambdaV | Language::Words | Language::Assembly | Language::Wgsl => {}
        }
        if let Some(option) = self.script.first_option() {
            return Err(invalid(format!("{name}: {option} is for Amber scripts, and this is none")));
        }
        let entry = self.entry.as_deref();
        let mut module = None;
        if program.is_module() {
            let source = self.compute.module(&program)?;
            if source.is_compute(entry) {
                return self.run_compute(source);
            }
            if self.buffer.is_some() {
                module = Some(source.module);
            } else {
                match self.compute.screen(source, entry, size, &self.input, !self.out.is_empty())? {
                    Ok(screen) => return self.run_screen(&name, &screen, size),
                    Err(source) => module = Some(source.module),
                }
            }
        }
        if let Some(option) = self.compute_option() {
            return Err(invalid(format!("{name}: {option} is for SPIR-V modules, and this is none")));
        }
        self.check_options("a program that runs for pixels alone", &[PICTURE, &["route", "entry", "buffer"]])?;
        let constants = self.buffer.as_deref().map_or(Ok(Vec::new()), input::words).map_err(invalid)?;
        let source = match module {
            None => Source::read_lambda_v(&name, program.text()),
            Some(module) => match Loaded::of(module, entry, constants) {
                Ok(loaded) => Ok(Source::Spirv(Box::new(loaded))),
                Err(e) => Err(ReadError::of_module(&name, &e)),
            },
        };
        let source = source.map_err(|e| (read_code(&e), e.text))?;
        let Budget { fuel, time } = self.time.budget(self.fuel);
        let grid = Grid { pixel: self.pixel, fuel: fuel.unwrap_or(FUEL), time, ..Grid::new(size) };
        let (engine, picture) = self.picture(&source, &grid)?;
        self.finish(&name, &engine, &picture, size, || match &source {
            Source::Spirv(_) if Interpreter::from_name(self.engine.as_deref().unwrap_or("machine")).is_none() => {
                let interpreted = run::interpret(&source, Interpreter::Spirv, &grid, &|_| {});
                let endings = interpreted.map_err(|e| (not_run_code(&e), format!("error: {name}: {e}")))?.endings;
                Ok(meaning_of_pixels(&name, &engine, &endings))
            }
            _ => Ok(Meaning::default()),
        })
    }

    /// Runs an entry point of a WSL program, as a grid or as a draw.
    fn run_wsl(&self, name: &str, text: &str, size: (u32, u32)) -> Result<u8, (u8, String)> {
        let program = &super::wsl::program(name, text, Some(&self.uniformity))?;
        if let Some(option) = self.option_unfit_for_wsl() {
            return Err((exit::INVALID, format!("error: {name}: {option} is for SPIR-V modules, and this is a WSL program")));
        }
        let fast = match self.engine.as_deref() {
            None | Some("reference") => false,
            Some("machine") => true,
            Some(engine) => {
                return Err((exit::UNSUPPORTED, format!("unsupported: WSL runs on the reference and on the machine, not on {engine}")));
            }
        };
        let resource_inputs = self.grid.resource_inputs(&self.compute)?;
        let entry = self.entry.as_deref();
        let invalid = |what: String| (exit::INVALID, format!("error: {name}: {what}"));
        if draw::is_draw(program, entry, &self.draw).map_err(invalid)? {
            if self.compute.groups.is_some() {
                return Err(invalid("--groups is for compute entry points, and this draws".into()));
            }
            let running = draw::Running {
                fast,
                name,
                text,
                program,
                entry,
                resource_inputs,
                specialized: self.compute.specialized(),
                inputs: &self.input,
                size,
                pixel: self.pixel,
                output: self.output,
                image: self.image.as_deref(),
                alpha: self.alpha,
                budget: self.time.budget(self.fuel),
                values: self.values,
                json: self.json,
            };
            self.check_options(
                "a draw of a WSL program",
                &[PICTURE, &["uniformity", "entry", "input", "set", "texture", "sampler", "spec"], GridArgs::OPTIONS, DrawArgs::OPTIONS],
            )?;
            return self.draw.run(&self.grid, running);
        }
        if let Some(option) = self.draw.first_option().or_else(|| self.pixel_option()) {
            return Err(invalid(format!("{option} is for draws, and this is a compute entry point")));
        }
        self.check_options(
            "a compute entry point of a WSL program",
            &[&["uniformity", "entry", "groups", "set", "texture", "sampler", "spec"], GridArgs::OPTIONS],
        )?;
        if !self.compute.spec.is_empty() {
            let specialized = compute_entry(program, self.entry.as_deref())
                .and_then(|entry| Specialization::new(program, &[entry], &self.compute.specialized()));
            specialized.map_err(|what| (exit::INVALID, format!("error: {name}: {what}")))?;
        }
        self.grid.run(grid::Running {
            name,
            text,
            program,
            entry,
            groups: self.compute.groups.unwrap_or([1; 3]),
            resource_inputs,
            fast,
            budget: self.time.budget(self.fuel),
            values: self.values,
            json: self.json,
        })
    }

    /// The first option given that a WSL program does not accept.
    fn option_unfit_for_wsl(&self) -> Option<&'static str> {
        let options = [
            (self.buffer.is_some(), "--buffer"),
            (!self.out.is_empty(), "--out"),
            (self.keep_going, "--keep-going"),
            (self.route.is_some(), "--route"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option).or(self.compute.option_unfit_for_wsl())
    }

    /// Draws a fragment module over the whole screen, if it needs more than the pixel's coordinate.
    fn run_screen(&self, name: &str, screen: &Screen, size: (u32, u32)) -> Result<u8, (u8, String)> {
        let memory = Memory { out: &self.out, values: self.values, json: self.json };
        memory.check_out_places(name, screen.uses(), screen.entry())?;
        if self.keep_going {
            return Err((exit::INVALID, format!("error: {name}: --keep-going is for compute modules, and this draws")));
        }
        self.check_options("a draw of a module", &[PICTURE, &["route", "entry", "input", "out"], ComputeArgs::OPTIONS])?;
        let (wanted, budget) = (self.engine.as_deref().unwrap_or("machine"), self.time.budget(self.fuel));
        if matches!(wanted, "machine" | "spirv" | "reference") {
            let (engine, note, outcome) =
                screen.interpret(wanted == "reference", budget.limits()).map_err(|e| (exit::INVALID, format!("error: {name}: {e}")))?;
            if let Some(what) = note {
                tell!("note: the machine does not draw this ({what}); the reference does");
            }
            let Outcome::Observed(shown) = outcome else {
                let code = super::compute::ending_of(screen.module(), &outcome, name);
                if self.json {
                    say!("{}", super::compute::summary_of(name, engine, &outcome, code));
                }
                return Ok(code);
            };
            return self.finish_screen(name, engine, screen, shown, size, || Ok(Meaning::default()));
        }
        let limits = budget.beside_device()?.limits();
        let selection: Selection = wanted.parse().unwrap_or_default();
        let mut device = Device::open(&selection, self.route, gpu::Options::default())
            .map_err(|e| (exit::UNCHECKED, format!("error: no engine is called \"{wanted}\", and as a device: {e}")))?;
        let engine = format!("{} ({})", device.adapter().name, device.route());
        let shown = screen.draw(&mut device).map_err(|outcome| {
            let code = if matches!(outcome, DeviceOutcome::Unchecked(_)) { exit::UNCHECKED } else { exit::FAILED };
            (code, format!("error: {name}: {engine}: {outcome}"))
        })?;
        self.finish_screen(name, &engine, screen, shown, size, || {
            let interpreted = screen.interpret(false, limits).map_err(|e| (exit::INVALID, format!("error: {name}: {e}")))?.2;
            let undefined = if let Outcome::Undefined(undefined) = &interpreted { std::slice::from_ref(undefined) } else { &[] };
            let code = report_on_device_result(&engine, screen.module(), &interpreted, undefined, None, name);
            Ok(Meaning { code, undefined: undefined.iter().map(|u| undefined_json(u, None)).collect() })
        })
    }

    /// Prints the picture, and the buffers and images of the fragments.
    fn finish_screen(
        &self,
        name: &str,
        engine: &str,
        screen: &Screen,
        shown: Shown,
        size: (u32, u32),
        find_meaning: impl FnOnce() -> Result<Meaning, Failure>,
    ) -> Result<u8, Failure> {
        let Shown { mut picture, buffers, images } = shown;
        self.keep_requested_pixel(&mut picture);
        let memory = Memory { out: &self.out, values: self.values, json: self.json };
        let invocations = Invocations::OfFragments(screen.module());
        self.finish(name, engine, &picture, size, || {
            memory.show(screen.uses(), invocations, (&buffers, &images), |place| screen.given(place))?;
            find_meaning()
        })
    }

    /// Reduces the picture to the requested pixel, if there is one.
    fn keep_requested_pixel(&self, picture: &mut Picture) {
        let Some((x, y)) = self.pixel else { return };
        let at = y as usize * picture.width as usize + x as usize;
        for image in &mut picture.images {
            *image = vec![image.get(at).copied().flatten()];
        }
        picture.endings.retain(|ending| ending.pixel == (x, y));
        (picture.origin, picture.width, picture.height) = ((x, y), 1, 1);
    }

    /// Prints a picture, its notes, and the endings of pixels without a value. Returns the
    /// exit code.
    fn finish(
        &self,
        name: &str,
        engine: &str,
        picture: &Picture,
        size: (u32, u32),
        find_meaning: impl FnOnce() -> Result<Meaning, Failure>,
    ) -> Result<u8, Failure> {
        let chosen: Vec<usize> = match self.output {
            None => (0..picture.outputs.len()).collect(),
            Some(n) => match picture.outputs.iter().position(|t| t.location == n) {
                Some(i) => vec![i],
                None => return Err((exit::INVALID, format!("error: {name}: the program has no output {n}"))),
            },
        };
        self.print(picture, &chosen);
        let meaning = find_meaning()?;
        if let Some(path) = &self.image {
            let [first, rest @ ..] = chosen.as_slice() else {
                return Err((exit::INVALID, format!("error: {name}: the program has no output to draw")));
            };
            if !rest.is_empty() {
                tell!("the picture shows output {}; --output chooses another", picture.outputs[*first].location);
            }
            write_image(picture, *first, self.alpha, path).map_err(|e| (exit::INVALID, format!("error: {}: {e}", path.display())))?;
        }
        for ending in &picture.endings {
            let (x, y) = ending.pixel;
            let others = if ending.pixels > 1 { format!(" ({} pixels ended so)", ending.pixels) } else { String::new() };
            tell!("no value at pixel ({x},{y}): {}{others}", ending.text());
        }
        let code = picture.endings.iter().map(ending_code).fold(meaning.code, exit::worse);
        if self.json {
            let endings: Vec<_> = picture.endings.iter().map(ending_json).collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "engine": engine, "size": [size.0, size.1],
                    "steps": picture.steps, "endings": endings, "undefined": meaning.undefined, "exit": code})
            );
        }
        Ok(code)
    }

    fn check_options(&self, what: &str, taken: &[&[&str]]) -> Result<(), Failure> {
        super::check_options(&self.given_options, what, &[taken, &[ALWAYS]].concat())
    }

    /// The first option given that only compute modules have.
    fn compute_option(&self) -> Option<&'static str> {
        let options = [(!self.out.is_empty(), "--out"), (self.keep_going, "--keep-going")];
        self.compute.first_option().or_else(|| options.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name))
    }

    /// The first option given that only programs for pixels have.
    fn pixel_option(&self) -> Option<&'static str> {
        let options = [
            (self.size.is_some(), "--size"),
            (self.image.is_some(), "--image"),
            (self.output.is_some(), "--output"),
            (self.pixel.is_some(), "--pixel"),
            (self.buffer.is_some(), "--buffer"),
            (!self.input.is_empty(), "--input"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    fn run_script(&self, name: &str, text: &str) -> Result<u8, (u8, String)> {
        let options = [
            (self.size.is_some(), "--size"),
            (self.pixel.is_some(), "--pixel"),
            (self.buffer.is_some(), "--buffer"),
            (self.entry.is_some(), "--entry"),
            (!self.out.is_empty(), "--out"),
            (self.keep_going, "--keep-going"),
        ];
        let options = options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
        if let Some(option) = options.or_else(|| self.compute.option_unfit_for_scripts()) {
            return Err((exit::INVALID, format!("error: {name}: {option} is for modules; this is an Amber script")));
        }
        self.check_options(
            "an Amber script",
            &[&["image", "alpha", "output", "route", "schedule", "subgroup-size", "lenient", "glsl-compiler"]],
        )?;
        let running = amber::Running {
            args: &self.script,
            engine: self.engine.as_deref(),
            route: self.route,
            schedule: self.compute.schedule(),
            lenient: self.compute.lenient(),
            subgroup_size: self.compute.subgroup_size(),
            target: self.reading.environment(),
            budget: self.time.budget(self.fuel),
            values: self.values,
            json: self.json,
            image: self.image.as_deref().map(|path| amber::Shown { path, output: self.output, alpha: self.alpha }),
        };
        if self.output.is_some() && self.image.is_none() {
            return Err((
                exit::INVALID,
                format!("error: {name}: --output says which attachment of an Amber script --image draws; give --image"),
            ));
        }
        running.run(name, text)
    }

    fn run_compute(&self, source: super::compute::Source) -> Result<u8, (u8, String)> {
        if let Some(option) = self.pixel_option() {
            return Err((exit::INVALID, format!("error: {option} is for programs that run for pixels; this is a compute module")));
        }
        self.check_options("a compute module", &[&["route", "entry", "out", "keep-going"], ComputeArgs::OPTIONS])?;
        let running = Running {
            args: &self.compute,
            entry: self.entry.as_deref(),
            engine: self.engine.as_deref(),
            route: self.route,
            out: &self.out,
            keep_going: self.keep_going,
            budget: self.time.budget(self.fuel),
            values: self.values,
            json: self.json,
        };
        running.run(source)
    }

    /// Runs the program. Returns the engine's name and the picture.
    fn picture(&self, source: &Source, grid: &Grid) -> Result<(String, Picture), (u8, String)> {
        let engine = self.engine.as_deref().unwrap_or("machine");
        if let Some(interpreter) = Interpreter::from_name(engine) {
            let (_, height) = if grid.pixel.is_some() { (1, 1) } else { grid.size };
            let bar = super::progress(Some(u64::from(height)), "{bar:30} {pos} of {len} rows, {eta} left");
            let progress = |rows: u32| bar.set_position(u64::from(rows));
            let picture = run::interpret(source, interpreter, grid, &progress);
            bar.finish_and_clear();
            return Ok((interpreter.name().into(), picture.map_err(|e| (not_run_code(&e), format!("error: {e}")))?));
        }
        let selection: Selection = engine.parse().unwrap_or_default();
        Budget::of_fuel(self.fuel).beside_device()?;
        if matches!(source, Source::LambdaV { .. }) && grid.time.is_some() {
            return Err(invalid("--time-limit is for the interpreters, and on a device none runs a λV program"));
        }
        let mut device = Device::open(&selection, self.route, gpu::Options::default())
            .map_err(|e| (exit::UNCHECKED, format!("error: no engine is called \"{}\", and as a device: {e}", engine)))?;
        let name = format!("{} ({})", device.adapter().name, device.route());
        let picture = run::draw(source, &mut device, grid).map_err(|e| (not_run_code(&e), format!("error: {name}: {e}")))?;
        Ok((name, picture))
    }

    fn print(&self, picture: &Picture, chosen: &[usize]) {
        let several = picture.outputs.len() > 1;
        let lists_pixels = self.values || picture.images.first().map_or(0, Vec::len) * chosen.len() <= FEW;
        for &i in chosen {
            let target = picture.outputs[i];
            let n = target.components as usize;
            if lists_pixels {
                for ((x, y), bits) in picture.pixels().zip(&picture.images[i]) {
                    if self.json {
                        say!("{}", pixel_json(target.location, (x, y), bits.as_ref().map(|b| &b[..n])));
                        continue;
                    }
                    let output = if several { format!("output {} ", target.location) } else { String::new() };
                    match bits {
                        Some(bits) => {
                            say!("{output}({x},{y})  {}", bits[..n].iter().map(|&b| float_text(b)).collect::<Vec<_>>().join("  "))
                        }
                        None => say!("{output}({x},{y})  no value"),
                    }
                }
            }
            if !lists_pixels || self.json {
                print_summary(&picture::summary(picture, i), self.json);
            }
        }
    }
}

/// Prints the summary of an output that is too large to print.
pub(super) fn print_summary(summary: &picture::Summary, json: bool) {
    if json {
        say!("{}", summary_json(summary));
        return;
    }
    let picture::Summary { target, pixels, hash, .. } = summary;
    say!("output {}: {pixels} pixels, {} components, bits {hash:#018x}", target.location, target.components);
    for (component, lane) in summary.lanes.iter().enumerate() {
        say!("  component {component}: {}", lane_text(lane));
    }
}

pub(super) fn write_image(picture: &Picture, output: usize, alpha: bool, path: &Path) -> std::io::Result<()> {
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    picture::write_png(picture, output, alpha, file)
}

fn lane_text(lane: &LaneSummary) -> String {
    let number = |x: Option<f32>| x.map_or("none".into(), |x| x.to_string());
    let mean = lane.mean.map_or("none".into(), |m| format!("{m:.6}"));
    let mut text = format!("{} to {}, mean {mean}", number(lane.least), number(lane.greatest));
    if lane.nan > 0 {
        text += &format!(", {} NaN", lane.nan);
    }
    if lane.infinite > 0 {
        text += &format!(", {} infinite", lane.infinite);
    }
    text
}

fn float_json(bits: u32) -> serde_json::Value {
    json!({"text": f32::from_bits(bits).to_string(), "bits": format!("{bits:#010x}")})
}

fn pixel_json(location: u32, (x, y): (u32, u32), bits: Option<&[u32]>) -> serde_json::Value {
    let value = bits.map(|bits| bits.iter().map(|&b| float_json(b)).collect::<Vec<_>>());
    json!({"schema": 1, "kind": "pixel", "output": location, "pixel": [x, y], "value": value})
}

fn summary_json(summary: &picture::Summary) -> serde_json::Value {
    let lanes: Vec<_> = summary
        .lanes
        .iter()
        .map(|l| {
            let float = |x: Option<f32>| x.map(|x| float_json(x.to_bits()));
            json!({"least": float(l.least), "greatest": float(l.greatest), "mean": l.mean, "nan": l.nan, "infinite": l.infinite})
        })
        .collect();
    json!({"schema": 1, "kind": "output", "location": summary.target.location, "components": summary.target.components,
        "pixels": summary.pixels, "bits_hash": format!("{:#018x}", summary.hash), "lanes": lanes})
}

fn ending_json(ending: &Ending) -> serde_json::Value {
    json!({"ending": ending.outcome.name(), "text": ending.text(), "pixel": [ending.pixel.0, ending.pixel.1], "pixels": ending.pixels})
}

/// The interpreters' findings about the result of a device: the exit code, and the reports of
/// undefined behaviour.
#[derive(Default)]
struct Meaning {
    code: u8,
    undefined: Vec<serde_json::Value>,
}

/// The findings about pixels that ran one by one, where an interpreter has no value for some.
fn meaning_of_pixels(name: &str, engine: &str, endings: &[Ending]) -> Meaning {
    let mut meaning = Meaning::default();
    for ending in endings {
        let (x, y) = ending.pixel;
        match &ending.outcome {
            Outcome::Undefined(undefined) => {
                tell!("{}\n  at pixel ({x},{y}): {undefined}", no_meaning(engine));
                meaning.code = exit::UNDEFINED;
                meaning.undefined.push(undefined_json(undefined, None));
            }
            _ => tell!("{}, at pixel ({x},{y})", unknown_meaning(name, &ending.text())),
        }
    }
    meaning
}

fn ending_code(ending: &Ending) -> u8 {
    match &ending.outcome {
        Outcome::Observed(()) => exit::DONE,
        Outcome::Undefined(_) => exit::UNDEFINED,
        Outcome::Unsupported(_) => exit::UNSUPPORTED,
        Outcome::OutOfFuel | Outcome::Limit(_) => exit::LIMIT,
        Outcome::Diverges(_) => exit::UNCHECKED,
        Outcome::Stuck(_) | Outcome::Deadlock => exit::INVALID,
    }
}

pub(super) fn read_code(error: &ReadError) -> u8 {
    match error.wrong {
        Wrong::Invalid => exit::INVALID,
        Wrong::Unsupported => exit::UNSUPPORTED,
        Wrong::Limit => exit::LIMIT,
    }
}

fn not_run_code(error: &NotRun) -> u8 {
    match error {
        NotRun::Untranslatable(e) => super::translate::untranslatable_code(e),
        NotRun::Refused(_) => exit::DISAGREE,
        NotRun::Malformed(_) => exit::INVALID,
        NotRun::Device(DeviceOutcome::Unchecked(_)) => exit::UNCHECKED,
        _ => exit::FAILED,
    }
}
