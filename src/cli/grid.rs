//! `smallstep run` for a WSL program with a compute entry point, over a grid.

use super::budget::Budget;
use super::call::{Evaluation, print_step};
use super::compute::{self, ComputeArgs, Failure};
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::compute::bound;
use smallstep::compute::given::{Assignment, Texels};
use smallstep::diagnostic::Diagnostic;
use smallstep::run::grid::{Bound, ResourceInput, ResourceRef, bind, compute_entry, texels};
use smallstep_semantics::concurrency::{Kind, race::RaceSide};
use smallstep_semantics::image::Shape;
use smallstep_semantics::outcome::{Outcome, Stuck};
use smallstep_semantics::text::{Span, line_column};
use smallstep_semantics::wsl::group::{Dispatch, Ending, Resource, Schedule, Shown};
use smallstep_semantics::wsl::machine::{self, Compiled, GridEnding};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::race::Race;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::texture::{Texture, is_writable};
use smallstep_semantics::wsl::types::TypeId;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;
use smallstep_semantics::wsl::{self, Settings};
use std::path::Path;

/// What only WSL programs are given.
#[derive(Args)]
pub(crate) struct GridArgs {
    /// What a resource holds, by its name or register: of an array reference NAME=FILE or
    /// NAME=type:v,v,… as --set has it; of a texture NAME=FILE.png or 'NAME=FORMAT WxH TEXEL…' as
    /// --texture has it; of a sampler 'NAME=linear edge' as --sampler has it.
    #[arg(long, value_name = "NAME=…", help_heading = "WSL")]
    pub(super) bind: Vec<Bound>,
    /// In which order threads take their steps: in-order, round-robin, random:SEED, replay with
    /// threads, or all of them.
    #[arg(long, default_value = "in-order", value_parser = order, value_name = "in-order|round-robin|random:SEED|all", help_heading = "WSL")]
    order: Order,
    /// Do not look for races: every load sees the last store.
    #[arg(long, help_heading = "WSL")]
    no_races: bool,
    #[command(flatten)]
    pub(super) evaluation: Evaluation,
}

/// An order of the threads. `None` for all orders.
type Order = Option<Schedule>;

fn order(text: &str) -> Result<Order, String> {
    if text == "all" { Ok(None) } else { Ok(Some(compute::schedule(text)?)) }
}

/// The most elements of a buffer that are printed without `--values`.
const PRINTED: usize = 64;

/// A run of a program.
pub(super) struct Running<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub program: &'a Program,
    pub entry: Option<&'a str>,
    pub groups: [u32; 3],
    pub resource_inputs: Vec<(ResourceRef, ResourceInput)>,
    /// Whether the machine runs it.
    pub fast: bool,
    pub budget: Budget,
    pub values: bool,
    pub json: bool,
}

impl GridArgs {
    /// The names of all these options.
    pub(super) const OPTIONS: &[&str] = &["bind", "order", "no-races", "unspecified", "precision", "ways"];

    pub(super) fn run(&self, running: Running) -> Result<u8, Failure> {
        let dispatch = running.dispatch()?;
        let place = |span: Span| running.place(span);
        if running.fast {
            return self.run_fast(&running, &dispatch, &place);
        }
        let settings = self.settings(running.budget, FUEL);
        self.finish(&running, &dispatch, &settings, dispatch.run(&settings), &place)
    }

    /// The result of a run, or the reason why there is none.
    fn finish(
        &self,
        running: &Running,
        dispatch: &Dispatch,
        settings: &Settings,
        ending: Ending,
        place: &impl Fn(Span) -> String,
    ) -> Result<u8, Failure> {
        let shown = shown(ending, (running.name, running.text), settings.fuel, false)?;
        for race in &shown.races {
            tell!("{}", race_text(&dispatch.resources, race, dispatch.group_size(), place));
        }
        if !shown.complete {
            let ways = shown.ways;
            tell!("note: {ways} ways were followed, and there are more: see --ways");
        }
        Ok(running.show(dispatch, &shown))
    }

    /// How a dispatch or a draw is run within a budget; with `fuel` if none is given.
    pub(super) fn settings(&self, budget: Budget, fuel: u64) -> Settings {
        let evaluation = self.evaluation.settings(budget, fuel);
        Settings { schedule: self.order.clone(), races: !self.no_races, ..evaluation }
    }

    /// The contents of resources, by name and by place.
    pub(super) fn resource_inputs(&self, compute: &ComputeArgs) -> Result<Vec<(ResourceRef, ResourceInput)>, Failure> {
        let mut inputs: Vec<(ResourceRef, ResourceInput)> = self.bind.iter().cloned().map(Into::into).collect();
        for Assignment { place, given: contents } in &compute.set {
            inputs.push((ResourceRef::Place(*place), ResourceInput::Bytes(compute::contents(contents)?)));
        }
        for Assignment { place, given: texels } in &compute.texture {
            let image = match texels {
                Texels::Image(image) => image.clone(),
                Texels::File(path) => bound::png(Path::new(path)).map_err(compute::invalid)?,
            };
            inputs.push((ResourceRef::Place(*place), ResourceInput::Image(image)));
        }
        inputs.extend(compute.sampler.iter().map(|a| (ResourceRef::Place(a.place), ResourceInput::Sampler(a.given.0))));
        Ok(inputs)
    }

    /// Prints the steps of all threads, or of the thread with this number, along the first way.
    /// Then prints the result of the run.
    pub(super) fn trace(&self, running: &Running, only_thread: Option<u32>) -> Result<u8, Failure> {
        let dispatch = running.dispatch()?;
        let place = |span: Span| running.place(span);
        let settings = self.settings(running.budget, 10_000);
        let mut count = 0;
        let ending = dispatch.trace(&settings, &mut |thread, step| {
            count += 1;
            if only_thread.is_none_or(|only_thread| only_thread == thread.number) {
                print_step(running.text, None, Some(thread.number), count, step, running.json);
            }
        });
        self.finish(running, &dispatch, &settings, ending, &place)
    }

    /// Runs on the machine. Values are definite, and races are not detected.
    fn run_fast(&self, running: &Running, dispatch: &Dispatch, place: &impl Fn(Span) -> String) -> Result<u8, Failure> {
        if self.order != Some(Schedule::InOrder) {
            return Err(on_reference("the machine runs threads in order"));
        }
        let compiled = Compiled::new(running.program, dispatch.entry.function).map_err(|e| on_reference(&e.to_string()))?;
        let evaluation = self.evaluation.settings(running.budget, FAST_FUEL);
        if evaluation.precision.is_some() {
            return Err(on_reference("the machine has no sets"));
        }
        let Settings { strategy, fuel, time, .. } = evaluation;
        let settings = machine::Settings { strategy, fuel, time, ..machine::Settings::default() };
        let fast = dispatch.run_fast(&compiled, &settings).map_err(|what| (exit::LIMIT, format!("{}: {what}", running.name)))?;
        match fast.ended {
            GridEnding::Done => {
                let buffers = fast.possible();
                let unspecified = fast.stats.choices > 0;
                let shown = Shown { buffers, ways: 1, complete: true, unspecified, steps: fast.stats.fuel, ..Shown::default() };
                tell!("note: no races were looked for; the reference does that");
                Ok(running.show(dispatch, &shown))
            }
            GridEnding::Diverged(waiting, other) => {
                Err(diverged((waiting.thread, waiting.place.unwrap_or_default()), (other.thread, other.place), place))
            }
            GridEnding::Stopped { thread, ending } => Err(match ending {
                machine::Ending::OutOfFuel { place: at } => out_of_fuel(settings.fuel, thread, at, place),
                machine::Ending::Limit { limit, place: at } => {
                    (exit::LIMIT, format!("{}: {limit}; thread {thread} stands at {}", running.name, place(at)))
                }
                machine::Ending::Open { place: at } => on_reference(&unspecified_value_text(thread, at, place)),
                machine::Ending::NoGroup { place: at } => {
                    (exit::UNSUPPORTED, format!("unsupported: a barrier of a thread that is in no group (at {})", place(at)))
                }
                machine::Ending::NoQuad { place: at } => (exit::UNSUPPORTED, format!("unsupported: {} (at {})", NO_QUAD, place(at))),
                machine::Ending::Stuck { why, place: at } => (exit::DISAGREE, stuck(&Stuck { why: why.into(), at: place(at) })),
                machine::Ending::Discarded | machine::Ending::Returned(_) => (exit::FAILED, format!("thread {thread} ended")),
            }),
        }
    }
}

impl<'a> Running<'a> {
    fn dispatch(&self) -> Result<Dispatch<'a>, Failure> {
        let invalid = |what: String| (exit::INVALID, format!("error: {}: {what}", self.name));
        let entry = compute_entry(self.program, self.entry).map_err(|e| invalid(e.what))?;
        let resources = bind(self.program, entry, &self.resource_inputs, &input::bytes).map_err(|e| invalid(e.what))?;
        Ok(Dispatch { program: self.program, text: self.text, entry, groups: self.groups, resources })
    }

    fn place(&self, span: Span) -> String {
        let (line, column) = line_column(self.text, span.start);
        format!("{}:{line}:{column}", self.name)
    }

    /// Prints the result of a run. Returns the exit code.
    fn show(&self, dispatch: &Dispatch, shown: &Shown) -> u8 {
        let resources = &dispatch.resources;
        show_resources(self.program, (resources, &shown.buffers), self.values, self.json);
        let code = if shown.complete { exit::DONE } else { exit::UNCHECKED };
        if self.json {
            show_races(resources, &shown.races, dispatch.group_size(), self.text);
            let (ways, steps, unspecified) = (shown.ways, shown.steps, shown.unspecified);
            let object = json!({"schema": 1, "kind": "summary", "outcome": "observed", "ways": ways, "steps": steps,
                "unspecified": unspecified, "races": shown.races.len(), "complete": shown.complete, "exit": code});
            say!("{object}");
        }
        code
    }
}

/// The failure for a thread that waits at a barrier while another thread of its group does not.
fn diverged((waiting, barrier): (u32, Span), (other, at): (u32, Option<Span>), place: &impl Fn(Span) -> String) -> Failure {
    let other = match at {
        Some(at) => format!("thread {other} waits at {}, or at the same place by another call or iteration", place(at)),
        None => format!("thread {other} has ended"),
    };
    let text = format!(
        "diverged: thread {waiting} waits at the barrier at {}, and {other}; the specification has no rule by which a group goes on then",
        place(barrier)
    );
    (exit::UNDEFINED, text)
}

fn out_of_fuel(fuel: u64, thread: u32, at: Span, place: &impl Fn(Span) -> String) -> Failure {
    (exit::LIMIT, format!("out of fuel: the threads took {fuel} steps; thread {thread} stands at {}; see --fuel", place(at)))
}

/// What a dispatch or a draw shows, or why it shows nothing. `fast`: it ran on the machine.
pub(super) fn shown<S>(ending: wsl::Ending<S>, (name, text): (&str, &str), fuel: u64, fast: bool) -> Result<Box<S>, Failure> {
    let place = |span: Span| {
        let (line, column) = line_column(text, span.start);
        format!("{name}:{line}:{column}")
    };
    let with_hint = |what: String, by: &str| if fast { what } else { format!("{what}{by}, and looks for no races") };
    Err(match ending {
        wsl::Ending::Shown(shown) => return Ok(shown),
        wsl::Ending::Refused(error) => (exit::INVALID, Diagnostic::from(*error).render(name, text).trim_end().to_string()),
        wsl::Ending::Diverged(d) => diverged((d.waiting, d.barrier), (d.other, d.at), &place),
        wsl::Ending::Open(at) => on_reference(&unspecified_value_text(at.thread, at.at, &place)),
        wsl::Ending::OutOfFuel(at) => {
            let (code, what) = out_of_fuel(fuel, at.thread, at.at, &place);
            (code, with_hint(what, ", and --engine machine, which is faster"))
        }
        wsl::Ending::Other(Outcome::Limit(limit)) => {
            (exit::LIMIT, with_hint(format!("{name}: {limit}"), "; --engine machine is faster and has higher limits"))
        }
        wsl::Ending::Other(Outcome::Unsupported(what)) => (exit::UNSUPPORTED, format!("unsupported: {what}")),
        wsl::Ending::Other(Outcome::Stuck(found)) => (exit::DISAGREE, stuck(&found)),
        wsl::Ending::Other(other) => (exit::FAILED, other.name().into()),
    })
}

/// What the machine does not do, and the reference does.
pub(super) fn on_reference(what: &str) -> Failure {
    (exit::UNSUPPORTED, format!("unsupported: {what}; the reference runs it"))
}

/// The default number of steps of all threads on one way.
pub(super) const FUEL: u64 = 50_000_000;
/// The default number of iterations and calls on the machine.
pub(super) const FAST_FUEL: u64 = 2_000_000_000;

/// The description of an operation that a dispatch cannot execute.
const NO_QUAD: &str = "an operation over a quad of threads, and no fragment is drawn here";

/// A sentence about a thread that finds an unspecified value on the machine.
pub(super) fn unspecified_value_text(thread: u32, at: Span, place: &impl Fn(Span) -> String) -> String {
    format!("thread {thread} meets an unspecified value at {}, which the machine does not carry: choose with --unspecified", place(at))
}

/// A sentence about a program that is stuck.
pub(super) fn stuck(found: &Stuck) -> String {
    format!("stuck at {}: {}; a valid program is never stuck, so this is a bug of ours or of the specification", found.at, found.why)
}

/// Prints the buffers and textures that threads may store in.
pub(super) fn show_resources(program: &Program, (resources, words): (&[Resource], &[Vec<Possible>]), values: bool, json: bool) {
    for (resource, words) in resources.iter().zip(words) {
        if let Some((texture, texel)) = resource.texture()
            && is_writable(texture.kind)
        {
            show_texture(program, (resource, texture, texel), words, values, json);
        }
        let Some(buffer) = resource.buffer().filter(|buffer| buffer.space == AddressSpace::Device) else { continue };
        let elements: Vec<&[Possible]> = words.chunks(buffer.stride as usize).collect();
        let printed = if values { elements.len() } else { elements.len().min(PRINTED) };
        let texts: Vec<String> = elements[..printed].iter().map(|e| value::show(program, buffer.element, e)).collect();
        let (name, register, ty) = (&resource.name, &resource.register, program.env.type_name(buffer.element));
        if json {
            let object = json!({"schema": 1, "kind": "buffer", "name": name, "register": register, "type": ty,
                "elements": elements.len(), "values": texts});
            say!("{object}");
        } else {
            let more =
                if printed < elements.len() { format!(", … ({} elements; --values prints all)", elements.len()) } else { String::new() };
            say!("{name} ({register}): {ty}[{}] {{ {}{more} }}", elements.len(), texts.join(", "));
        }
    }
}

/// Prints a texture row by row. Slices are separated.
fn show_texture(
    program: &Program,
    (resource, texture, texel): (&Resource, &Texture, TypeId),
    words: &[Possible],
    values: bool,
    json: bool,
) {
    let texels = texels(program, texture, texel, words);
    let [width, height, slices] = texture.image.sides(0).unwrap_or([1; 3]);
    let (name, register, format) = (&resource.name, &resource.register, texture.image.format().name());
    let ty = format!("{}<{}>", texture.kind.name(), program.env.type_name(texel));
    if json {
        let object = json!({"schema": 1, "kind": "texture", "name": name, "register": register, "type": ty, "format": format,
            "size": [width, height, slices], "texels": texels});
        say!("{object}");
        return;
    }
    let size = match texture.image.shape() {
        Shape::D1 => format!("{width}"),
        Shape::D1Array => format!("{width}, {slices} layers"),
        Shape::D2Array | Shape::CubeArray => format!("{width}x{height}, {slices} layers"),
        Shape::D3 => format!("{width}x{height}x{slices}"),
        Shape::D2 | Shape::Cube => format!("{width}x{height}"),
    };
    say!("{name} ({register}): {ty}, {format}, {size}");
    let printed = if values { texels.len() } else { PRINTED.max(width as usize) };
    for (row, texels) in texels[..printed.min(texels.len())].chunks(width as usize).enumerate() {
        let (y, z) = (row % height as usize, row / height as usize);
        if y == 0 && slices > 1 {
            say!("  {} {z}:", if texture.image.shape() == Shape::D3 { "slice" } else { "layer" });
        }
        say!("  {}", texels.join(" "));
    }
    if printed < texels.len() {
        say!("  … ({} texels; --values prints all)", texels.len());
    }
}

/// Prints races as JSON, with the places of both accesses. `size` is the number of threads in
/// a group.
pub(super) fn show_races(resources: &[Resource], races: &[Race], size: u32, text: &str) {
    for race in races {
        let access = |a: &RaceSide<Span>| {
            let (at, thread) = (a.instruction, thread(a, size));
            let (line, column) = line_column(text, at.start);
            json!({"thread": thread, "access": access_text(a), "line": line, "column": column, "span": [at.start, at.end]})
        };
        let object = json!({"schema": 1, "kind": "race", "object": object_text(resources, race), "word": race.offset / 4,
            "first": access(&race.first), "second": access(&race.second)});
        say!("{object}");
    }
}

fn thread(access: &RaceSide<Span>, size: u32) -> u32 {
    access.agent.workgroup * size + access.agent.local
}

fn access_text(access: &RaceSide<Span>) -> &'static str {
    match access.kind {
        Kind::Store => "store",
        Kind::Load => "load",
        Kind::Atomic { .. } => "atomic operation",
    }
}

fn object_text<'r>(resources: &'r [Resource], race: &Race) -> &'r str {
    resources.get(race.object as usize).map_or("threadgroup memory", |resource| resource.name.as_str())
}

/// Two racing accesses as a sentence. `size` is the number of threads in a group.
pub(super) fn race_text(resources: &[Resource], race: &Race, size: u32, place: &impl Fn(Span) -> String) -> String {
    let access = |a: &RaceSide<Span>| format!("the {} of thread {} at {}", access_text(a), thread(a, size), place(a.instruction));
    let object = object_text(resources, race);
    format!("race: {} and {} are not ordered, both of word {} of {object}", access(&race.first), access(&race.second), race.offset / 4)
}
