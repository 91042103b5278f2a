//! `smallstep compare`: whether one module may replace another.

use super::exit::Ended;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use smallstep::compute::given::SpecValue;
use smallstep::compute::report;
use smallstep::program::{Language, Program};
use smallstep::theorem::compilers::{comparable, restored};
use smallstep::theorem::refine::blame::{Disagreement, Writer};
use smallstep::theorem::refine::observe::DifferenceKind;
use smallstep::theorem::refine::{Engine, Input, OnDevice, Runnable, Settings, Shape, Summary, Unchecked, Verdict};

use super::bar::Bar;
use super::compute::{ComputeArgs, Failure, invalid, spec_ids, undefined_json};
use super::device::DeviceArgs;
use super::{exit, input, output};

/// Check that one module shows only what another allows, over generated inputs: its compute entry
/// point, or its vertex and fragment entry points, drawn. With a device, it must show that there
/// too
#[derive(Args)]
pub(crate) struct Compare {
    /// BEFORE and AFTER: the module that is believed, and the one that may stand for it, as words,
    /// assembly or WGSL. With --via: any number of modules, and folders of them.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Compile each module by this compiler, and compare what it writes: naga, naga-wgsl (by its
    /// WGSL), wgsl (ours, read by naga), tint, spirv-opt:PASSES, or cmd:'COMMAND {in} -o {out}'.
    /// "A then B" is one compiler behind another. May be given several times.
    #[arg(long, value_name = "COMPILER")]
    pub(super) via: Vec<String>,
    /// With --via: how long a compiler may take for one module.
    #[arg(long, default_value = "60s", value_name = "TIME", requires = "via", value_parser = super::budget::time)]
    pub(super) compiler_limit: Duration,
    /// With --via: threads; 0 for as many as the machine has cores.
    #[arg(long, default_value_t = 0, requires = "via", value_parser = input::threads())]
    pub(super) threads: usize,
    /// With --via: a folder for what compilers write that is wrong.
    #[arg(long, value_name = "DIR", requires = "via")]
    pub(super) save: Option<PathBuf>,
    /// How many inputs.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    inputs: u64,
    /// Which inputs.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// The entry point, where there are several. Without it, a vertex and a fragment entry point
    /// are drawn together.
    #[arg(long)]
    pub(super) entry: Option<String>,
    /// What runs the modules: machine or reference; the machine where it can, if not given.
    #[arg(long, value_parser = engine)]
    engine: Option<Engine>,
    /// The most instructions of BEFORE for one input; 4194304 if not given.
    #[arg(long)]
    fuel: Option<u64>,
    /// How long the comparison of two modules may take, as 90s, 10m or 2h; 60s for each 100 inputs,
    /// if not given. Then it ends with a limit, or with a disagreement that could be smaller.
    #[arg(long, value_name = "TIME", value_parser = super::budget::time)]
    time_limit: Option<Duration>,
    /// One JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(super) reading: input::Reading,
    #[command(flatten)]
    compute: ComputeArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

/// The most bytes of a command that runs an undecided input.
const MAX_COMMAND: usize = 2_000;

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

    fn load_before(&self, program: &Program) -> Result<Runnable, Failure> {
        let name = program.name.clone();
        let source = self.compute.module_with(program, &self.spec_values(program)?)?;
        let failure = |what: String| invalid(format!("{name}: {what}"));
        Runnable::new(&name, source.module, source.assembly, self.entry.as_deref()).map_err(|e| failure(e.what))
    }

    /// The module AFTER, or the difference of its interface.
    fn load_after(&self, before: &Program, runnable: &Runnable, after: &Program) -> Result<Result<Runnable, String>, Failure> {
        let values = match self.values_after(before, after)? {
            Ok(values) => values,
            Err(what) => return Ok(Err(what)),
        };
        let source = self.compute.module_with(after, &values)?;
        let found = runnable.in_place(&after.name, source.module, source.assembly);
        Ok(found.map_err(|e| e.what).and_then(|after| runnable.admits(&after).map(|()| after).map_err(|e| e.0)))
    }

    /// A program in the form that is compared. WGSL becomes the words that naga makes of it. If
    /// AFTER is WGSL, which has no combined image samplers, those of BEFORE are split.
    fn comparable(program: Program, split: bool) -> Result<Program, Failure> {
        let unread = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
        let program = program.made_of_module().map_err(unread)?;
        if !split {
            return Ok(program);
        }
        let words = program.words().map_err(unread)?;
        let failure = |what: String| invalid(format!("{}: {what}", program.name));
        match comparable(words).map_err(|e| failure(e.0))? {
            None => Ok(program),
            Some(words) => Ok(Program::of_words(&program.name, words)),
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
        if let Some(option) = self.compute.image_option() {
            return Err(invalid(format!(
                "{option} is of no use for a comparison: it pins buffers and push constants only, and makes images itself"
            )));
        }
        if !self.via.is_empty() {
            if let Some(option) = self.compute.loading_option() {
                return Err(invalid(format!("{option} is of no use with --via: modules are compiled as they are")));
            }
            return super::compilers::compare(self, &self.settings()?);
        }
        let [before, after] = self.files.as_slice() else {
            let count = self.files.len();
            return Err(invalid(format!("{count} files are given; name BEFORE and AFTER, or compilers by --via")));
        };
        let (before, after) = (self.reading.program(before)?, self.reading.program(after)?);
        let after_is_wgsl = after.language == Language::Wgsl;
        let before_is_wgsl = before.language == Language::Wgsl;
        let (before, after) = match before_is_wgsl {
            true => (self.compute.overriding(before), self.compute.overriding(after)),
            false => (before, after),
        };
        let (before, mut after) = (Compare::comparable(before, after_is_wgsl)?, Compare::comparable(after, false)?);
        let mut notes = Vec::new();
        if after_is_wgsl && !before_is_wgsl {
            let words = |program: &Program| program.words().map_err(|e| (super::run::read_code(&e), e.text));
            let (named_words, renamed) = restored(&words(&before)?, words(&after)?);
            notes.extend(renamed.iter().map(ToString::to_string));
            after = Program::of_words(&after.name, named_words);
        }
        let runnable = self.load_before(&before)?;
        let after = match self.load_after(&before, &runnable, &after)? {
            Ok(after) => after,
            Err(what) => return Ok(self.another_interface(&runnable, &after.name, &what)),
        };
        let before = runnable;
        let settings = self.settings()?;
        let bar = Bar::new(Some(settings.inputs));
        let title = format!("{} against {}", before.name(), after.name());
        let progress = |summary: &Summary| bar.0.set_position(summary.inputs);
        let summary = before.refined_by(&after, &settings, progress);
        bar.0.finish_and_clear();
        let summary = summary.map_err(|e| invalid(format!("{title}: {e}")))?;
        let code = summary.verdict().code();
        let shape = before.shape(&settings).map_err(invalid)?;
        if self.json {
            let mut object = self.to_json(&before, &after, &shape, &summary, code);
            object["notes"] = json!(notes);
            say!("{object}");
        } else {
            notes.iter().for_each(|note| say!("note: {note}"));
            self.report(&before, &after, &shape, &summary);
        }
        Ok(code)
    }

    /// Reports that AFTER has another interface. That is a disagreement for any inputs.
    fn another_interface(&self, before: &Runnable, after: &str, what: &str) -> u8 {
        let verdict = Verdict::Disagree(what.into());
        let code = verdict.code();
        if self.json {
            let disagreement = json!({"kind": "another interface", "what": what});
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "before": before.name(), "after": after, "entry": before.entry(), "seed": self.seed,
                    "verdict": verdict.name(), "inputs": 0, "agree": 0, "disagreement": disagreement, "exit": code})
            );
        } else {
            say!("{}: AFTER has another interface: {what}", verdict.name());
            say!("BEFORE is {}, with the entry point {}; AFTER is {after}", before.name(), before.entry());
        }
        code
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let device = self.device.open().map_err(|why| (exit::UNCHECKED, format!("unchecked: {why}")))?;
        let device = device.map(OnDevice::new).transpose().map_err(invalid)?;
        let hundreds = u32::try_from(self.inputs.div_ceil(100)).unwrap_or(u32::MAX);
        Ok(Settings {
            inputs: self.inputs,
            seed: self.seed,
            engine: self.engine.unwrap_or_default(),
            fuel: self.fuel.unwrap_or(Settings::default().fuel),
            robustness: self.compute.robustness.unwrap_or_default(),
            subgroup_size: self.compute.subgroup_size,
            subgroup_mapping: self.compute.subgroup_mapping.unwrap_or_default(),
            groups: self.compute.groups,
            pinned: self.compute.buffers()?,
            guided: 4 * self.inputs,
            device,
            time: Some(self.time_limit.unwrap_or_else(|| Duration::from_secs(60).saturating_mul(hundreds))),
            push: (!self.compute.push.is_empty()).then(|| self.compute.push_constants()).transpose()?,
            ..Settings::default()
        })
    }

    /// The values of specialization constants for AFTER, which may have lost some of them. Or the
    /// constant that only AFTER has.
    fn values_after(&self, before: &Program, after: &Program) -> Result<Result<Vec<SpecValue>, String>, Failure> {
        let (before_ids, after_ids) = (spec_ids(before)?, spec_ids(after)?);
        if let Some(new) = after_ids.iter().find(|id| !before_ids.contains(id)) {
            return Ok(Err(format!("a specialization constant has the SpecId {new}, which no constant of BEFORE has")));
        }
        Ok(Ok(self.spec_values(after)?.into_iter().filter(|value| after_ids.contains(&value.id)).collect()))
    }

    /// The values of a module's specialization constants. Overrides of WGSL are set already.
    fn spec_values(&self, program: &Program) -> Result<Vec<SpecValue>, Failure> {
        let is_wgsl = Language::of_name(&program.name) == Some(Language::Wgsl);
        if is_wgsl { Ok(Vec::new()) } else { self.compute.spec_values() }
    }

    fn replay(&self, file: &str, shape: &Shape<'_>, minimal: &Input) -> String {
        let mut words = vec!["smallstep".into(), "run".into(), quoted(file)];
        words.extend(self.entry.iter().flat_map(|entry| ["--entry".into(), quoted(entry)]));
        words.extend(shape.arguments(minimal).iter().map(|word| quoted(word)));
        words.extend(self.compute.spec.iter().flat_map(|s| ["--spec".into(), quoted(&format!("{}={}", s.constant, s.value))]));
        words.extend(self.compute.robustness_name().into_iter().flat_map(|name| ["--robustness".into(), name.into()]));
        words.extend(self.compute.subgroup_size.into_iter().flat_map(|size| ["--subgroup-size".into(), size.to_string()]));
        words.extend(self.compute.subgroup_mapping_name().into_iter().flat_map(|name| ["--subgroup-mapping".into(), name.into()]));
        words.extend(self.compute.lenient.then(|| "--lenient".into()));
        words.join(" ")
    }

    fn report(&self, before: &Runnable, after: &Runnable, shape: &Shape<'_>, summary: &Summary) {
        if let Some(disagreement) = &summary.disagreement {
            let (index, minimal, disagreement) = disagreement.as_ref();
            say!("disagree on input {index} of seed {}: {}", self.seed, disagreement.what);
            say!("BEFORE, {}: {}", before.name(), disagreement.before);
            say!("AFTER, {}: {}", after.name(), output::painted(&disagreement.after, std::io::stdout().is_terminal()));
            if !disagreement.others.is_empty() {
                say!("also different:");
                disagreement.others.iter().for_each(|other| say!("  {other}"));
            }
            say!("minimal input:");
            if shape.scene.is_some() {
                shape.vertices(minimal).iter().for_each(|line| say!("  {line}"));
                shape.arguments(minimal).chunks(2).for_each(|pair| say!("  {}", pair.join(" ")));
            } else {
                let on_device = disagreement.difference.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.on_device);
                let device = if on_device { format!(" --device {}", quoted(&self.device.device)) } else { String::new() };
                say!("  {}", self.replay(before.name(), shape, minimal));
                say!("  {}{device}", self.replay(after.name(), shape, minimal));
            }
            if let Some(elsewhere) = &disagreement.difference.elsewhere {
                let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
                let what = match elsewhere.on_device {
                    true => "on the interpreters AFTER shows what BEFORE allows; this asks the device again",
                    false => "no schedule of run shows the execution of AFTER; this does",
                };
                say!("{what}: smallstep {}", words.join(" "));
            }
            let default = smallstep_semantics::concurrency::Schedule::default();
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
        if let (Some(coverage), Runnable::Dispatch(side)) = (&summary.coverage, before) {
            let never_run: Vec<String> = coverage.never().map(|label| report::id(&side.module.module, label)).collect();
            if !never_run.is_empty() && summary.disagreement.is_none() {
                let shown = never_run[..never_run.len().min(8)].join(" ");
                say!(
                    "{} of {} blocks of BEFORE never ran: {shown}{}",
                    never_run.len(),
                    coverage.all.len(),
                    if never_run.len() > 8 { " …" } else { "" }
                );
            }
        }
        for (why, count) in &summary.vacuous {
            say!("vacuous: {count}: BEFORE ends with {why}");
        }
        for (why, count) in &summary.undecided {
            say!("undecided: {count}: {why}");
            if let Some((index, input)) = summary.first_undecided.get(why).filter(|_| shape.scene.is_none()) {
                let command = self.replay(before.name(), shape, input);
                // No undecided input is made smaller.
                let command = if command.len() <= MAX_COMMAND { format!(":\n  {command}") } else { String::new() };
                say!("  input {index} of seed {} is the first{command}", self.seed);
            }
        }
        if matches!(verdict, Verdict::Vacuous(_)) {
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

    fn to_json(&self, before: &Runnable, after: &Runnable, shape: &Shape<'_>, summary: &Summary, code: u8) -> Value {
        let disagreement = summary.disagreement.as_ref().map(|found| {
            let (index, minimal, disagreement) = found.as_ref();
            let Disagreement { difference, what, before: b, after: a, others, before_writer, after_writer } = disagreement;
            let (undefined, place) = match &difference.kind {
                DifferenceKind::Undefined(undefined) => (Some(undefined_json(undefined, after.assembly())), None),
                DifferenceKind::Byte { place, byte, bytes, undefined, allowed } => {
                    let place =
                        json!({"set": place.set, "binding": place.binding, "byte": byte, "bytes": bytes, "any": undefined, "allowed": allowed});
                    (None, Some(place))
                }
                DifferenceKind::Texel { of, at, component, components, .. } => {
                    (None, Some(json!({"of": of.to_string(), "texel": at, "component": component, "components": components})))
                }
                DifferenceKind::Ends(_) => (None, None),
            };
            let writer = |side: &Runnable, writer: &Option<Writer>| {
                let Runnable::Dispatch(side) = side else { return None };
                writer.map(|w| {
                    let global = side.module.global(minimal.groups, w.invocation.workgroup, w.invocation.local);
                    json!({"instruction": w.instruction, "opcode": report::instruction(&side.module.module, w.instruction), "function": w.at.function,
                        "block": w.at.block, "invocation": global, "step": w.step, "bits": format!("{:#x}", w.bits), "undefined": w.undefined.is_some(),
                        "assembly_line": side.assembly.as_ref().and_then(|lines| lines.of(w.instruction))})
                })
            };
            json!({"input": index, "kind": difference.kind.category(), "what": what, "before": b, "after": a, "others": others, "place": place, "undefined": undefined,
                "before_writer": writer(before, before_writer), "after_writer": writer(after, after_writer), "groups": minimal.groups,
                "arguments": shape.arguments(minimal), "vertices": shape.vertices(minimal), "schedules": [difference.before.to_string(), difference.after.to_string()]})
        });
        let unchecked = summary.unchecked.as_ref().map(|(index, what)| match what {
            Unchecked::Unsupported(what) => json!({"input": index, "unsupported": what}),
            Unchecked::Limit(what) => json!({"input": index, "limit": what}),
        });
        json!({"schema": 1, "kind": "summary", "before": before.name(), "after": after.name(), "entry": before.entry(), "seed": self.seed,
            "verdict": summary.verdict().name(), "inputs": summary.inputs, "agree": summary.agree, "sampled": summary.sampled,
            "blocks": summary.coverage.as_ref().map(|coverage| json!({"all": coverage.all.len(), "never": coverage.never().collect::<Vec<_>>()})),
            "vacuous": summary.vacuous, "redrawn": summary.redrawn, "undecided": summary.undecided, "unchecked": unchecked,
            "disagreement": disagreement, "exit": code})
    }
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
