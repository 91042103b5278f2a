//! `smallstep compare`: whether one module may stand for another.

use super::exit::Ended;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use smallstep::compile::split_samplers;
use smallstep::compute::ComputeModule;
use smallstep::compute::given::SpecValue;
use smallstep::compute::told::{self, AssemblyLines};
use smallstep::dispatch::ComputeDispatch;
use smallstep::program::{Language, Program};
use smallstep::theorem::refine::blame::{Disagreement, Writer};
use smallstep::theorem::refine::observe::How;
use smallstep::theorem::refine::{self, Engine, Input, Mismatch, Settings, Shape, Side, StageModule, Summary, Unchecked, Verdict};

use super::bar::Bar;
use super::compute::{ComputeArgs, Failure, invalid, spec_ids, undefined_json};
use super::{exit, input};

/// Check that one module shows only what another allows, over generated inputs: its compute entry
/// point, or its vertex and fragment entry points, drawn
#[derive(Args)]
pub(crate) struct Compare {
    /// The module that is believed: words, assembly or WGSL.
    before: PathBuf,
    /// The module that may stand for it.
    after: PathBuf,
    /// How many inputs.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    inputs: u64,
    /// Which inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The entry point, where there are several. Without it, a vertex and a fragment entry point
    /// are drawn together.
    #[arg(long)]
    entry: Option<String>,
    /// What runs the modules: machine or reference; the machine where it can, if not given.
    #[arg(long, value_parser = engine)]
    engine: Option<Engine>,
    /// The most instructions of BEFORE for one input; 4194304 if not given.
    #[arg(long)]
    fuel: Option<u64>,
    /// One JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    reading: input::Reading,
    #[command(flatten)]
    compute: ComputeArgs,
}

fn engine(text: &str) -> Result<Engine, String> {
    match text {
        "machine" => Ok(Engine::Machine),
        "reference" => Ok(Engine::Reference),
        _ => Err(format!("no engine to compare with is called \"{text}\"; there are machine and reference")),
    }
}

impl Compare {
    pub(crate) fn run(self) -> Ended {
        self.compare()
    }

    fn side(&self, program: &Program, values: &[SpecValue]) -> Result<Compared, Failure> {
        let name = program.name.clone();
        let source = self.compute.module_with(program, values)?;
        let wrong = |what: String| invalid(format!("{name}: {what}"));
        if source.is_compute(self.entry.as_deref()) {
            let module = ComputeModule::new(source.module, self.entry.as_deref()).map_err(wrong)?;
            return Ok(Compared::Dispatch(Box::new(Side::new(name, module, source.assembly))));
        }
        let stages = StageModule::new(name.clone(), source.module, self.entry.as_deref()).map_err(wrong)?;
        Ok(Compared::Stages(Box::new(stages), source.assembly))
    }

    /// A program whose words are compared: WGSL is what was made of a module, and of BEFORE the
    /// combined image samplers are apart where AFTER is WGSL, which has none.
    fn comparable(program: Program, split: bool) -> Result<Program, Failure> {
        let unread = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
        let program = program.made_of_module().map_err(unread)?;
        if !split {
            return Ok(program);
        }
        let words = program.words().map_err(unread)?;
        let wrong = |what: String| invalid(format!("{}: {what}", program.name));
        match split_samplers::places([&words[..]], std::iter::empty()) {
            Ok(places) if places.is_empty() => Ok(program),
            _ => {
                let apart = ComputeDispatch { words: words.into(), ..ComputeDispatch::default() };
                let apart = split_samplers::adapt(&apart).map_err(|e| wrong(e.0))?;
                Ok(Program::of_words(&program.name, apart.words.to_vec()))
            }
        }
    }

    fn compare(&self) -> Result<u8, Failure> {
        if self.compute.schedule.is_some() {
            return Err(invalid("--schedule is for one run; a comparison tries several"));
        }
        if self.compute.groups.is_some_and(|groups| groups.contains(&0)) {
            return Err(invalid(
                "--groups says that there is no workgroup, so that there is nothing to compare; give 1 or more on each axis",
            ));
        }
        if let Some(option) = self.compute.given_for_images() {
            return Err(invalid(format!(
                "{option} is of no use for a comparison: it pins buffers and push constants only, and makes images itself"
            )));
        }
        let (before, after) = (self.reading.program(&self.before)?, self.reading.program(&self.after)?);
        let split = after.language == Language::Wgsl;
        let (before, after) = (Compare::comparable(before, split)?, Compare::comparable(after, false)?);
        let values_after = self.values_after(&before, &after)?;
        let before = self.side(&before, &self.compute.spec_values()?)?;
        let after = self.side(&after, &values_after)?;
        let settings = Settings {
            inputs: self.inputs,
            seed: self.seed,
            engine: self.engine.unwrap_or_default(),
            fuel: self.fuel.unwrap_or(Settings::default().fuel),
            robustness: self.compute.robustness.unwrap_or_default(),
            groups: self.compute.groups,
            pinned: self.compute.buffers()?,
            push: (!self.compute.push.is_empty()).then(|| self.compute.push_constants()).transpose()?,
            ..Settings::default()
        };
        let bar = Bar::new(Some(settings.inputs));
        let between = format!("{} against {}", before.name(), after.name());
        let progress = |summary: &Summary| bar.0.set_position(summary.inputs);
        let summary = match (&before, &after) {
            (Compared::Dispatch(b), Compared::Dispatch(a)) => refine::refines(b, a, &settings, progress),
            (Compared::Stages(b, _), Compared::Stages(a, _)) => refine::refines_draws(b, a, &settings, progress),
            _ => Err(Mismatch("one of them has a compute entry point, and the other has stages of a draw".into())),
        };
        bar.0.finish_and_clear();
        let summary = summary.map_err(|e| invalid(format!("{between}: {e}")))?;
        let code = code(&summary);
        let shape = match &before {
            Compared::Dispatch(before) => Shape::of(before, &settings),
            Compared::Stages(before, _) => Shape::of_stages(before, &settings),
        };
        let shape = shape.map_err(invalid)?;
        if self.json {
            say!("{}", self.to_json(&before, &after, &shape, &summary, code));
        } else {
            self.report(&before, &after, &shape, &summary);
        }
        Ok(code)
    }

    /// The values of specialization constants that AFTER has: it may have lost some.
    fn values_after(&self, before: &Program, after: &Program) -> Result<Vec<SpecValue>, Failure> {
        let (before, after) = (spec_ids(before)?, spec_ids(after)?);
        if let Some(new) = after.iter().find(|id| !before.contains(id)) {
            let name = self.after.display();
            return Err(invalid(format!("{name}: a specialization constant has the SpecId {new}, which no constant of BEFORE has")));
        }
        Ok(self.compute.spec_values()?.into_iter().filter(|value| after.contains(&value.id)).collect())
    }

    fn replay(&self, file: &str, shape: &Shape<'_>, minimal: &Input) -> String {
        let mut words = vec!["smallstep".into(), "run".into(), quoted(file)];
        words.extend(self.entry.iter().flat_map(|entry| ["--entry".into(), quoted(entry)]));
        words.extend(shape.arguments(minimal).iter().map(|word| quoted(word)));
        words.extend(self.compute.spec.iter().flat_map(|s| ["--spec".into(), quoted(&format!("{}={}", s.constant, s.value))]));
        words.extend(self.compute.robustness_name().into_iter().flat_map(|name| ["--robustness".into(), name.into()]));
        words.extend(self.compute.lenient.then(|| "--lenient".into()));
        words.join(" ")
    }

    fn report(&self, before: &Compared, after: &Compared, shape: &Shape<'_>, summary: &Summary) {
        if let Some(disagreement) = &summary.disagreement {
            let (index, minimal, disagreement) = disagreement.as_ref();
            say!("disagree on input {index} of seed {}: {}", self.seed, disagreement.what);
            say!("BEFORE, {}: {}", before.name(), disagreement.before);
            say!("AFTER, {}: {}", after.name(), disagreement.after);
            say!("minimal input:");
            if shape.scene.is_some() {
                shape.vertices(minimal).iter().for_each(|line| say!("  {line}"));
                shape.arguments(minimal).chunks(2).for_each(|pair| say!("  {}", pair.join(" ")));
            } else {
                for side in [before, after] {
                    say!("  {}", self.replay(side.name(), shape, minimal));
                }
            }
            let default = smallstep_semantics::spirv::concurrency::Schedule::default();
            let schedules = [("BEFORE", &disagreement.difference.before), ("AFTER", &disagreement.difference.after)];
            for (name, schedule) in schedules.into_iter().filter(|(_, schedule)| **schedule != default) {
                say!("{name} under --schedule '{}'", schedule.to_string().replacen(' ', ":", 1));
            }
        }
        let verdict = summary.verdict();
        let vacuous: u64 = summary.vacuous.values().sum();
        let undecided: u64 = summary.undecided.values().sum();
        say!(
            "{}: {} inputs, {} agree, {vacuous} vacuous, {undecided} undecided; {} drafts were vacuous and drawn again",
            verdict.name(),
            summary.inputs,
            summary.agree,
            summary.redrawn
        );
        if summary.sampled > 0 {
            say!("of {} inputs some orders of the invocations only", summary.sampled);
        }
        for (why, count) in &summary.vacuous {
            say!("vacuous: {count}: BEFORE ends with {why}");
        }
        for (why, count) in &summary.undecided {
            say!("undecided: {count}: {why}");
        }
        if verdict == Verdict::Vacuous {
            say!("nothing was shown: BEFORE allows everything on all of these inputs; pin buffers by --set, or workgroups by --groups");
        }
        if let Some((index, what)) = &summary.unchecked {
            let text = match what {
                Unchecked::Unsupported(what) => format!("unsupported: {what}"),
                Unchecked::Limit(what) => what.clone(),
            };
            say!("unchecked: input {index}: {text}");
        }
    }

    fn to_json(&self, before: &Compared, after: &Compared, shape: &Shape<'_>, summary: &Summary, code: u8) -> Value {
        let disagreement = summary.disagreement.as_ref().map(|found| {
            let (index, minimal, disagreement) = found.as_ref();
            let Disagreement { difference, what, before: b, after: a, before_writer, after_writer } = disagreement;
            let (undefined, place) = match &difference.how {
                How::Undefined(undefined) => (Some(undefined_json(undefined, after.assembly())), None),
                How::Byte { place, byte, bytes, undefined } => {
                    (None, Some(json!({"set": place.set, "binding": place.binding, "byte": byte, "bytes": bytes, "any": undefined})))
                }
                How::Texel { of, at, component, components, .. } => {
                    (None, Some(json!({"of": of.to_string(), "texel": at, "component": component, "components": components})))
                }
                How::Ends(_) => (None, None),
            };
            let writer = |side: &Compared, writer: &Option<Writer>| {
                let Compared::Dispatch(side) = side else { return None };
                writer.map(|w| {
                    let global = side.module.global(minimal.groups, w.invocation.workgroup, w.invocation.local);
                    json!({"instruction": w.instruction, "opcode": told::instruction(&side.module.module, w.instruction), "function": w.at.function,
                        "block": w.at.block, "invocation": global, "step": w.step, "bits": format!("{:#x}", w.bits), "undefined": w.undefined.is_some(),
                        "assembly_line": side.assembly.as_ref().and_then(|lines| lines.of(w.instruction))})
                })
            };
            json!({"input": index, "kind": difference.how.kind(), "what": what, "before": b, "after": a, "place": place, "undefined": undefined,
                "before_writer": writer(before, before_writer), "after_writer": writer(after, after_writer), "groups": minimal.groups,
                "arguments": shape.arguments(minimal), "vertices": shape.vertices(minimal), "schedules": [difference.before.to_string(), difference.after.to_string()]})
        });
        let unchecked = summary.unchecked.as_ref().map(|(index, what)| match what {
            Unchecked::Unsupported(what) => json!({"input": index, "unsupported": what}),
            Unchecked::Limit(what) => json!({"input": index, "limit": what}),
        });
        json!({"schema": 1, "kind": "summary", "before": before.name(), "after": after.name(), "entry": before.entry(), "seed": self.seed,
            "verdict": summary.verdict().name(), "inputs": summary.inputs, "agree": summary.agree, "sampled": summary.sampled,
            "vacuous": summary.vacuous, "redrawn": summary.redrawn, "undecided": summary.undecided, "unchecked": unchecked,
            "disagreement": disagreement, "exit": code})
    }
}

/// What is compared of a module.
enum Compared {
    /// Its compute entry point.
    Dispatch(Box<Side>),
    /// Its stages, and where its instructions stand in its text, if it has one.
    Stages(Box<StageModule>, Option<AssemblyLines>),
}

impl Compared {
    fn name(&self) -> &str {
        match self {
            Compared::Dispatch(side) => &side.name,
            Compared::Stages(stages, _) => &stages.name,
        }
    }

    /// The entry points, the vertex stage first.
    fn entry(&self) -> String {
        match self {
            Compared::Dispatch(side) => side.module.entry.clone(),
            Compared::Stages(stages, _) => stages.entries().into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }

    fn assembly(&self) -> Option<&AssemblyLines> {
        match self {
            Compared::Dispatch(side) => side.assembly.as_ref(),
            Compared::Stages(_, assembly) => assembly.as_ref(),
        }
    }
}

fn code(summary: &Summary) -> u8 {
    match (summary.verdict(), &summary.unchecked) {
        (Verdict::Agree, _) => exit::DONE,
        (Verdict::Disagree, _) => exit::DISAGREE,
        (_, Some((_, Unchecked::Unsupported(_)))) => exit::UNSUPPORTED,
        (_, Some((_, Unchecked::Limit(_)))) => exit::LIMIT,
        (Verdict::Undecided | Verdict::Vacuous | Verdict::Unchecked, _) => exit::UNCHECKED,
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
