//! `smallstep run` for a WSL program with a fragment entry point. It covers the whole screen, or
//! follows a vertex entry point.

use super::budget::Budget;
use super::compute::Failure;
use super::grid::GridArgs;
use super::run::{print_summary, write_image};
use super::{exit, grid, input};
use clap::Args;
use serde_json::json;
use smallstep::run::grid::{ResourceInput, ResourceRef};
use smallstep::run::picture;
use smallstep::run::screen::Input;
use smallstep::run::stages::{self, DrawRequest, comparison};
use smallstep_semantics::image::Compare;
use smallstep_semantics::number::Inexact;
use smallstep_semantics::text::{Span, line_column};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::draw::{Draw, Ending, Shown};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage};
use smallstep_semantics::wsl::group::Schedule;
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::types::{Scalar, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;
use std::path::Path;

/// What only draws of WSL programs are given.
#[derive(Args)]
pub(crate) struct DrawArgs {
    /// The vertex entry point before the fragment entry point that --entry names; without it the
    /// fragments are those of the whole screen.
    #[arg(long, value_name = "NAME", help_heading = "WSL")]
    vertex: Option<String>,
    /// How many vertices the vertex entry point is run for; 3 if not given.
    #[arg(long, value_name = "N", help_heading = "WSL")]
    vertices: Option<u32>,
    /// How many instances are drawn; 1 if not given.
    #[arg(long, value_name = "N", help_heading = "WSL")]
    instances: Option<u32>,
    /// What the vertices hold in attribute(N), vertex after vertex: N=f32:v,v,… or u32 or i32.
    #[arg(long, value_name = "N=type:v,…", help_heading = "WSL")]
    attribute: Vec<Input>,
    /// What vertices form; WSL has triangle-list.
    #[arg(long, default_value = "triangle-list", value_name = "triangle-list", help_heading = "WSL")]
    topology: String,
    /// Test depths against a depth attachment that is cleared to 1, by this comparison (less if
    /// none is named), and show it.
    #[arg(long, num_args = 0..=1, default_missing_value = "less", value_parser = comparison, value_name = "COMPARISON", help_heading = "WSL")]
    depth: Option<Compare>,
}

/// Checks that the topology is a list of triangles.
fn topology(text: &str) -> Result<(), String> {
    match text {
        "triangle-list" => Ok(()),
        "triangle-strip" | "triangle-fan" | "line-strip" | "strip" | "fan" => {
            Err("strips and fans are not supported by WSL (004 Arguments and Return Types); triangle-list is".into())
        }
        "point-list" | "line-list" => Err(format!("a {text} is not drawn yet; triangle-list is")),
        _ => Err(format!("\"{text}\" is no topology; triangle-list is")),
    }
}

/// A draw of a program.
pub(super) struct Running<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub program: &'a Program,
    pub entry: Option<&'a str>,
    pub resource_inputs: Vec<(ResourceRef, ResourceInput)>,
    pub specialized: Vec<(String, String)>,
    pub inputs: &'a [Input],
    pub size: (u32, u32),
    pub pixel: Option<(u32, u32)>,
    pub output: Option<u32>,
    pub image: Option<&'a Path>,
    pub alpha: bool,
    /// Whether the machine draws it.
    pub fast: bool,
    pub budget: Budget,
    pub values: bool,
    pub json: bool,
}

/// Whether a program is drawn, by the options or because its entry points are fragment stages.
///
/// # Errors
/// If no entry point has this name, or if it is a vertex entry point, which does not run alone.
pub(super) fn is_draw(program: &Program, entry: Option<&str>, args: &DrawArgs) -> Result<bool, String> {
    let is_named = |e: &&smallstep_semantics::wsl::entry::EntryPoint| {
        entry.is_none_or(|name| program.env.names.name(program.env.function(e.function).name.name) == name)
    };
    let stages: Vec<Stage> = program.entry_points.iter().filter(is_named).map(|e| e.stage).collect();
    if let (Some(name), []) = (entry, &stages[..]) {
        let descriptions = program.entry_points.iter().map(|e| {
            let called = program.env.names.name(program.env.function(e.function).name.name);
            format!("{called} ({})", e.stage.keyword())
        });
        let all: Vec<String> = descriptions.collect();
        return Err(match &all[..] {
            [] => "the program has no entry point".into(),
            _ => format!("no entry point is called {name}; there are: {}", all.join(", ")),
        });
    }
    if let (Some(name), [Stage::Vertex]) = (entry, &stages[..]) {
        return Err(format!("{name} is a vertex entry point; it is drawn by --entry FRAGMENT --vertex {name}"));
    }
    let compute = stages.iter().any(|s| matches!(s, Stage::Compute(_)));
    Ok(args.vertex.is_some() || !compute && stages.contains(&Stage::Fragment))
}

impl DrawArgs {
    /// The names of all these options.
    pub(super) const OPTIONS: &[&str] = &["vertex", "vertices", "instances", "attribute", "topology", "depth"];

    /// The first option given that only draws have.
    pub(super) fn first_option(&self) -> Option<&'static str> {
        let options = [
            (self.vertices.is_some(), "--vertices"),
            (self.instances.is_some(), "--instances"),
            (!self.attribute.is_empty(), "--attribute"),
            (self.depth.is_some(), "--depth"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    pub(super) fn run(&self, grid: &GridArgs, running: Running) -> Result<u8, Failure> {
        let invalid = |what: String| (exit::INVALID, format!("error: {}: {what}", running.name));
        topology(&self.topology).map_err(invalid)?;
        let request = DrawRequest {
            fragment: running.entry,
            vertex: self.vertex.as_deref(),
            vertices: self.vertices,
            instances: self.instances,
            attributes: &self.attribute,
            inputs: running.inputs,
            size: running.size,
            depth: self.depth,
            specialized: &running.specialized,
        };
        let draw =
            stages::draw(running.program, running.text, &request, &running.resource_inputs, &input::bytes).map_err(|e| invalid(e.what))?;
        let fuel = if running.fast { grid::FAST_FUEL } else { grid::FUEL };
        let settings = grid.settings(running.budget, fuel);
        if settings.schedule.is_none() {
            return Err((exit::UNSUPPORTED, "unsupported: every order of the threads of a draw".into()));
        }
        let ending = if running.fast { fast(&draw, &settings)? } else { draw.run(&settings) };
        let shown = grid::shown(ending, (running.name, running.text), settings.fuel, running.fast)?;
        let code = running.finish(&draw, &shown, settings.precision.is_some())?;
        if running.fast {
            tell!("note: no races were looked for; the reference does that");
        }
        Ok(code)
    }
}

/// Draws with the machine. Values are definite, and races are not detected.
fn fast(draw: &Draw, settings: &Settings) -> Result<Ending, Failure> {
    if settings.schedule != Some(Schedule::InOrder) {
        return Err(grid::on_reference("the machine runs threads in order"));
    }
    if settings.precision.is_some() {
        return Err(grid::on_reference("the machine has no sets"));
    }
    let compile = |entry: &EntryPoint| Compiled::new(draw.program, entry.function).map_err(|e| grid::on_reference(&e.to_string()));
    let (vertex, fragment) = (draw.vertex().map(compile).transpose()?, compile(draw.fragment)?);
    Ok(draw.run_fast((vertex.as_ref(), &fragment), settings))
}

impl Running<'_> {
    fn place(&self, span: Span) -> String {
        let (line, column) = line_column(self.text, span.start);
        format!("{}:{line}:{column}", self.name)
    }

    /// Prints the result of a draw, and writes its picture.
    fn finish(&self, draw: &Draw, shown: &Shown, precise: bool) -> Result<u8, Failure> {
        let invalid = |what: String| (exit::INVALID, format!("error: {}: {what}", self.name));
        let picture = stages::picture(shown, self.size);
        let chosen: Vec<usize> = match self.output {
            None => (0..shown.targets.len()).collect(),
            Some(n) => match shown.targets.iter().position(|t| t.number == n) {
                Some(i) => vec![i],
                None => return Err(invalid(format!("the fragment entry point has no result SV_Target {n}"))),
            },
        };
        let pixels: Vec<usize> = match self.pixel {
            Some((x, y)) => vec![y as usize * self.size.0 as usize + x as usize],
            None => (0..self.size.0 as usize * self.size.1 as usize).collect(),
        };
        let lists_pixels = self.values || pixels.len() * chosen.len().max(1) <= super::run::FEW;
        let pixel_at = |i: usize| (i as u32 % self.size.0, i as u32 / self.size.0);
        for &i in &chosen {
            let target = &shown.targets[i];
            for &k in pixels.iter().filter(|_| lists_pixels) {
                let (x, y) = pixel_at(k);
                let text = value::show(self.program, TypeId::vector(Scalar::Float, 4), &target.texels[k]);
                if self.json {
                    let object = json!({"schema": 1, "kind": "pixel", "target": target.number, "pixel": [x, y], "value": text, "in_doubt": target.in_doubt[k]});
                    say!("{object}");
                    continue;
                }
                let number = if chosen.len() > 1 { format!("target {} ", target.number) } else { String::new() };
                let doubt = if target.in_doubt[k] { ", in doubt" } else { "" };
                say!("{number}({x},{y})  {text}{doubt}");
            }
            if !lists_pixels || self.json {
                print_summary(&picture::summary(&picture, i), self.json);
            }
        }
        if let Some(depths) = &shown.depth {
            self.depths(depths, &pixels, lists_pixels, precise);
        }
        grid::show_resources(self.program, (&draw.resources, &shown.buffers), self.values, self.json);
        if let Some(path) = self.image {
            let [first, rest @ ..] = chosen.as_slice() else {
                return Err(invalid("the fragment entry point has no target to draw".into()));
            };
            if !rest.is_empty() {
                tell!("the picture shows target {}; --output chooses another", shown.targets[*first].number);
            }
            write_image(&picture, *first, self.alpha, path).map_err(|e| (exit::INVALID, format!("error: {}: {e}", path.display())))?;
        }
        self.notes(draw, shown, &chosen);
        let code = if shown.complete { exit::DONE } else { exit::UNCHECKED };
        if self.json {
            grid::show_races(&draw.resources, &shown.races, 1, self.text);
            let (ways, steps, unspecified) = (shown.ways, shown.steps, shown.unspecified);
            let object = json!({"schema": 1, "kind": "summary", "outcome": "observed", "size": [self.size.0, self.size.1], "ways": ways,
                "steps": steps, "unspecified": unspecified, "races": shown.races.len(), "complete": shown.complete, "exit": code});
            say!("{object}");
        }
        Ok(code)
    }

    fn depths(&self, depths: &[Inexact], pixels: &[usize], lists_pixels: bool, precise: bool) {
        let float = |x: f64| value::float((x as f32).to_bits());
        for &k in pixels.iter().filter(|_| lists_pixels) {
            let (x, y) = (k as u32 % self.size.0, k as u32 / self.size.0);
            let Inexact { value, allowed } = depths[k];
            if self.json {
                say!(
                    "{}",
                    json!({"schema": 1, "kind": "depth", "pixel": [x, y], "value": float(value), "least": float(allowed.low), "greatest": float(allowed.high)})
                );
            } else if precise && allowed.low != allowed.high {
                say!("depth ({x},{y})  within [{}, {}]", float(allowed.low), float(allowed.high));
            } else {
                say!("depth ({x},{y})  {}", float(value));
            }
        }
        if !lists_pixels && !self.json {
            let (least, greatest) = depths.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), d| (a.min(d.value), b.max(d.value)));
            say!("depth: {} to {}", float(least), float(greatest));
        }
    }

    /// Prints notes about the values.
    fn notes(&self, draw: &Draw, shown: &Shown, chosen: &[usize]) {
        for &i in chosen {
            let doubted = shown.targets[i].in_doubt.iter().filter(|d| **d).count();
            if doubted > 0 {
                let number = shown.targets[i].number;
                tell!(
                    "note: {doubted} pixels of target {number} are in doubt: an edge passes their centre, or a depth, a mask or a position decides on devices"
                );
            }
        }
        for divergence in &shown.apart {
            let (place, thread, other) = (self.place(divergence.place), divergence.thread, divergence.other);
            tell!(
                "note: at {place} thread {thread} stands and thread {other} of its quad does not come there: what it computes there is unspecified"
            );
        }
        if shown.in_doubt {
            tell!("note: the buffers are in doubt: a fragment that a device may or may not have stores in them");
        }
        for race in &shown.races {
            tell!("{}", grid::race_text(&draw.resources, race, 1, &|span| self.place(span)));
        }
        if !shown.complete {
            tell!("note: {} ways were followed, and there are more: see --ways", shown.ways);
        }
    }
}
