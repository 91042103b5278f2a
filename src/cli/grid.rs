//! `smallstep run` of a WSL program: a compute entry point over a grid.

use super::call::Evaluation;
use super::compute::Failure;
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::run::grid::{Bound, Given, To, bind, compute_entry, texels};
use smallstep_semantics::image::Shape;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::text::{Span, line_column};
use smallstep_semantics::wsl::group::{Dispatch, Ending, OutOfFuel, Resource, Schedule, Settings, Shown};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::race::Race;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::texture::{Texture, is_writable};
use smallstep_semantics::wsl::types::TypeId;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;

/// What only WSL programs are given.
#[derive(Args)]
pub(crate) struct GridArgs {
    /// What a resource holds, by its name or register: of an array reference NAME=FILE or NAME=type:v,v,… as --set has it; of a texture NAME=FILE.png or
    /// 'NAME=FORMAT WxH TEXEL…' as --texture has it; of a sampler 'NAME=linear edge' as --sampler has it.
    #[arg(long, value_name = "NAME=…", help_heading = "WSL")]
    pub(super) bind: Vec<Bound>,
    /// In which order threads take their steps: in-order, round-robin, random:SEED, or all of them.
    #[arg(long, default_value = "in-order", value_parser = order, value_name = "in-order|round-robin|random:SEED|all", help_heading = "WSL")]
    order: Schedule,
    /// Do not look for races: every load sees the last store.
    #[arg(long, help_heading = "WSL")]
    no_races: bool,
    #[command(flatten)]
    evaluation: Evaluation,
}

fn order(text: &str) -> Result<Schedule, String> {
    match text.split_once(':') {
        None if text == "in-order" => Ok(Schedule::InOrder),
        None if text == "round-robin" => Ok(Schedule::RoundRobin),
        None if text == "all" => Ok(Schedule::All),
        Some(("random", seed)) => seed.parse().map(Schedule::Random).map_err(|_| format!("\"{seed}\" is no seed: a number below 2^64 is")),
        _ => Err(format!("\"{text}\" is none of in-order, round-robin, random:SEED and all")),
    }
}

/// The most elements of a buffer that are printed without `--values`.
const PRINTED: usize = 64;

/// A program that is run.
pub(super) struct Running<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub program: &'a Program,
    pub entry: Option<&'a str>,
    pub groups: [u32; 3],
    pub given: Vec<(To, Given)>,
    pub fuel: Option<u64>,
    pub values: bool,
    pub json: bool,
}

impl GridArgs {
    pub(super) fn run(&self, running: Running) -> Result<u8, Failure> {
        let invalid = |what: String| (exit::INVALID, format!("error: {}: {what}", running.name));
        let entry = compute_entry(running.program, running.entry).map_err(invalid)?;
        let resources = bind(running.program, entry, &running.given, &input::bytes).map_err(invalid)?;
        let evaluation = self.evaluation.settings(running.fuel.unwrap_or(100_000_000));
        let settings = Settings {
            strategy: evaluation.strategy,
            precision: evaluation.precision,
            schedule: self.order,
            fuel: evaluation.fuel,
            ways: evaluation.ways,
            races: !self.no_races,
            planted: evaluation.planted,
        };
        let dispatch = Dispatch { program: running.program, text: running.text, entry, groups: running.groups, resources };
        let place = |span: Span| {
            let (line, column) = line_column(running.text, span.start);
            format!("{}:{line}:{column}", running.name)
        };
        match dispatch.run(&settings) {
            Ending::Shown(shown) => {
                running.show(&dispatch.resources, &shown);
                for race in &shown.races {
                    running.race(&dispatch.resources, race, &place);
                }
                if !shown.complete {
                    let ways = shown.ways;
                    eprintln!("note: {ways} ways were followed, and there are more: see --ways");
                }
                Ok(if shown.complete { exit::DONE } else { exit::UNCHECKED })
            }
            Ending::Diverged(d) => {
                let other = match d.at {
                    Some(at) => format!("thread {} waits at {}, or at the same place by another call or iteration", d.other, place(at)),
                    None => format!("thread {} has ended", d.other),
                };
                let text = format!(
                    "diverged: thread {} waits at the barrier at {}, and {other}; the specification has no rule by which a group goes on then",
                    d.waiting,
                    place(d.barrier)
                );
                Err((exit::UNDEFINED, text))
            }
            Ending::OutOfFuel(OutOfFuel { thread, at }) => {
                let text =
                    format!("out of fuel: the threads took {} steps; thread {thread} stands at {}; see --fuel", settings.fuel, place(at));
                Err((exit::LIMIT, text))
            }
            Ending::Other(Outcome::Limit(limit)) => Err((exit::LIMIT, format!("{}: {limit}", running.name))),
            Ending::Other(Outcome::Unsupported(what)) => Err((exit::UNSUPPORTED, format!("unsupported: {what}"))),
            Ending::Other(Outcome::Stuck(stuck)) => Err((
                exit::DISAGREE,
                format!(
                    "stuck at {}: {}; a valid program is never stuck, so this is a bug of ours or of the specification",
                    stuck.at, stuck.why
                ),
            )),
            Ending::Other(other) => Err((exit::FAILED, other.name().into())),
        }
    }
}

impl Running<'_> {
    fn show(&self, resources: &[Resource], shown: &Shown) {
        for (resource, words) in resources.iter().zip(&shown.buffers) {
            if let Some((texture, texel)) = resource.texture()
                && is_writable(texture.kind)
            {
                self.texture(resource, texture, texel, words);
            }
            let Some(buffer) = resource.buffer().filter(|buffer| buffer.space == AddressSpace::Device) else { continue };
            let elements: Vec<&[Possible]> = words.chunks(buffer.stride as usize).collect();
            let printed = if self.values { elements.len() } else { elements.len().min(PRINTED) };
            let texts: Vec<String> = elements[..printed].iter().map(|e| value::show(self.program, buffer.element, e)).collect();
            let (name, register, ty) = (resource.name(), resource.register(), self.program.env.type_name(buffer.element));
            if self.json {
                let object = json!({"schema": 1, "kind": "buffer", "name": name, "register": register, "type": ty,
                    "elements": elements.len(), "values": texts});
                say!("{object}");
            } else {
                let more = if printed < elements.len() {
                    format!(", … ({} elements; --values prints all)", elements.len())
                } else {
                    String::new()
                };
                say!("{name} ({register}): {ty}[{}] {{ {}{more} }}", elements.len(), texts.join(", "));
            }
        }
        if self.json {
            let (ways, steps, unspecified) = (shown.ways, shown.steps, shown.unspecified);
            let object = json!({"schema": 1, "kind": "summary", "outcome": "observed", "ways": ways, "steps": steps,
                "unspecified": unspecified, "races": shown.races.len(), "complete": shown.complete});
            say!("{object}");
        }
    }

    /// A texture that was written: row after row, slices apart.
    fn texture(&self, resource: &Resource, texture: &Texture, texel: TypeId, words: &[Possible]) {
        let texels = texels(self.program, texture, texel, words);
        let [width, height, slices] = texture.image.sides(0).unwrap_or([1; 3]);
        let (name, register, format) = (resource.name(), resource.register(), texture.image.format().name());
        let ty = format!("{}<{}>", texture.kind.name(), self.program.env.type_name(texel));
        if self.json {
            let object = json!({"schema": 1, "kind": "texture", "name": name, "register": register, "type": ty, "format": format,
                "size": [width, height, slices], "texels": texels});
            say!("{object}");
            return;
        }
        let size = match texture.image.shape() {
            Shape::D1 => format!("{width}"),
            Shape::D1Array => format!("{width}, {slices} layers"),
            Shape::D2Array => format!("{width}x{height}, {slices} layers"),
            Shape::D3 => format!("{width}x{height}x{slices}"),
            Shape::D2 | Shape::Cube => format!("{width}x{height}"),
        };
        say!("{name} ({register}): {ty}, {format}, {size}");
        let printed = if self.values { texels.len() } else { PRINTED.max(width as usize) };
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

    fn race(&self, resources: &[Resource], race: &Race, place: &impl Fn(Span) -> String) {
        let access = |a: &smallstep_semantics::wsl::race::Access| {
            let what = match (a.stores, a.atomic) {
                (true, false) => "store",
                (false, false) => "load",
                (_, true) => "atomic operation",
            };
            format!("the {what} of thread {} at {}", a.thread, place(a.place))
        };
        let object = resources.get(race.object.0 as usize).map_or("threadgroup memory".to_string(), |r| r.name().to_string());
        let text = format!("{} and {} are not ordered, both of word {} of {object}", access(&race.first), access(&race.second), race.word);
        eprintln!("race: {text}");
    }
}
