//! `smallstep fuzz-spirv`: generated compute modules on every engine, and their twins with one
//! defect each.

use super::exit::Ended;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use smallstep::compile::wgsl;
use smallstep::generate::spirv::beside::Components;
use smallstep::generate::spirv::feature::Feature;
use smallstep::generate::spirv::{ComputeCase, Defect, Limits, Modeled};
use smallstep::gpu::Device;
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::campaign::{self, Finding, Of, Plan, Tally};
use smallstep::theorem::dispatches::learn::{self, Learnt};
use smallstep::theorem::dispatches::optimised::{Ends, optimised};
use smallstep::theorem::dispatches::quirk::{DispatchQuirk, Known, carried};
use smallstep::theorem::dispatches::translated::{self, By};
use smallstep::theorem::dispatches::{Engines, Judged, Runner};
use smallstep::theorem::known::Explained;
use smallstep::theorem::refine::OnDevice;
use smallstep::theorem::uniformity::{self, Executions, Named, SPIRV_ANALYSES, Spirv};
use smallstep::verdict::Verdict;
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv::{Module, disassemble};

use super::bar::Bar;
use super::device::{DeviceArgs, say_unrepeated};
use super::{exit, input};

/// Check generated SPIR-V: relation against machine against device, and planted undefined behaviour
/// against its report
#[derive(Args)]
pub(crate) struct FuzzSpirv {
    /// How many modules
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The seed of the first; the others follow it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Twins of each module, with one defect each
    #[arg(long, default_value_t = 2)]
    twins: u32,
    /// One module in so many runs on the relation too; 0: none. Without this option 1, or 100 with
    /// --uniformity
    #[arg(long)]
    references: Option<u64>,
    /// Instructions that an invocation executes at the median
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    executed: u32,
    /// 8-, 16- and 64-bit integers too
    #[arg(long)]
    widths: bool,
    #[command(flatten)]
    device: DeviceArgs,
    /// An optimiser whose modules must refine the generated ones: a command that takes a file and
    /// -o with another, as "spirv-opt -O". "spirv-opt {random}" draws passes for each module
    #[arg(long, value_name = "COMMAND")]
    optimiser: Option<String>,
    /// Convert each module, or what the optimiser makes of it, to WGSL and have naga read that: it
    /// must refine what was converted
    #[arg(long)]
    through_wgsl: bool,
    /// Compile each module by this compiler, as compare --via does: what it writes must refine the
    /// generated module
    #[arg(long, value_name = "COMPILER", conflicts_with_all = ["optimiser", "through_wgsl"])]
    via: Option<String>,
    /// With --via, without --of and --only: modules that are tried first, to learn what the
    /// compiler refuses and leave it out; 0: none
    #[arg(long, default_value_t = learn::MODULES, requires = "via", value_parser = clap::value_parser!(u64).range(..=100_000))]
    learn: u64,
    /// A feature that modules do not use, as "SNegate of unsigned": what reports name as left out.
    /// May be given several times
    #[arg(long, value_name = "FEATURE", conflicts_with = "of")]
    leave_out: Vec<Feature>,
    /// With --through-wgsl: a command that must accept the WGSL too; it is given a file, and ends
    /// with 0 if it does. Draws whose vertex stage writes, which WGSL's rules refuse, are left out
    #[arg(long, value_name = "COMMAND", requires = "through_wgsl")]
    validator: Option<String>,
    /// Other modules. pointers are compute modules with pointers that are chosen at run time, and
    /// subgroups such whose invocations work together in subgroups. The others have images, stages
    /// and draws; relation and machine are compared on them, and a device, or what --via,
    /// --optimiser or --through-wgsl makes of them. quads are draws whose fragments do what quads
    /// are for; fragments are generated compute modules as fragment stages; glsl are generated
    /// shaders, which glslang compiles, and need a compiler; the rest is what WSL programs of that
    /// kind are translated to: draws, stages, textured-stages, entry-points, textured-entry-points,
    /// dispatches, functions, racing. Several take turns
    #[arg(long, value_name = "KIND", value_parser = kind_of, conflicts_with_all = ["twins", "known", "references", "widths"])]
    of: Vec<OtherModules>,
    /// With --of: the float controls that translated programs declare, strict, vulkan-default
    /// (none) or wgsl; some compilers refuse all modules that declare some
    #[arg(long, default_value = "strict", value_parser = super::translate::profile)]
    profile: Profile,
    /// Seconds that the optimiser has for one module
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    optimiser_limit: u64,
    /// Threads of the interpreters; 0: as many as the machine has cores, and where a thread waits
    /// for a device one more for each of the device's workers
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// Print the module of the seed as text, and what is said of it
    #[arg(long)]
    only: bool,
    /// With --only: the twin with this defect, by its name
    #[arg(long, requires = "only", value_parser = defect)]
    twin: Option<Defect>,
    /// Judge this analysis of uniformity by executions of other modules, with barriers anywhere,
    /// instead: none that it accepts may have invocations that are apart
    #[arg(long, value_name = "ANALYSIS", value_parser = analysis, conflicts_with_all = ["only", "device", "optimiser", "through_wgsl", "known", "save"])]
    uniformity: Option<Named<Module>>,
    /// With --uniformity: how often each module runs, each time with another input
    #[arg(long, default_value_t = 4, requires = "uniformity", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// At most so many findings are made minimal
    #[arg(long, default_value_t = 5)]
    shrink: usize,
    /// A folder of quirks: what is such a module when it is made minimal, or is gone with what a
    /// quirk needs, is known, and counted apart
    #[arg(long)]
    known: Option<PathBuf>,
    /// A folder for the minimal modules
    #[arg(long)]
    save: Option<PathBuf>,
    /// One JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

fn analysis(name: &str) -> Result<Named<Module>, String> {
    super::analyses::analysis_named(&SPIRV_ANALYSES, name)
}

/// A kind of modules that --of names.
#[derive(Clone, Copy, PartialEq)]
enum OtherModules {
    Modeled(Modeled),
    Compiled(translated::Source),
}

fn kind_of(name: &str) -> Result<OtherModules, String> {
    let source = match name {
        "pointers" => return Ok(OtherModules::Modeled(Modeled::Pointers)),
        "subgroups" => return Ok(OtherModules::Modeled(Modeled::Subgroups)),
        "fragments" => translated::Source::Fragments,
        "quads" => translated::Source::Quads,
        "glsl" => translated::Source::Glsl,
        other => super::fuzz_wsl::kind(other)
            .map(translated::Source::Wsl)
            .map_err(|e| format!("{e}; fragments; quads; glsl; pointers; and subgroups"))?,
    };
    Ok(OtherModules::Compiled(source))
}

fn defect(name: &str) -> Result<Defect, String> {
    let has_name = |defect: &&Defect| format!("{defect:?}").eq_ignore_ascii_case(name);
    let names = || Defect::ALL.iter().map(|defect| format!("{defect:?}")).collect::<Vec<_>>().join(", ");
    Defect::ALL.iter().find(has_name).copied().ok_or_else(|| format!("no defect is named {name:?}; there are: {}", names()))
}

impl FuzzSpirv {
    pub(crate) fn run(self) -> Ended {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores } else { self.threads };
        if let Some(analysis) = self.uniformity {
            let executions = Executions { runs: self.runs, ..Executions::default() };
            let (references, examples) = (self.references.unwrap_or(100), self.shrink);
            let plan = uniformity::Plan { seed: self.seed, count: self.count, threads, executions, references, examples };
            return Ok(super::analyses::judge::<Spirv>(&plan, analysis, self.json));
        }
        let quirks = match self.known.as_deref().map(DispatchQuirk::read_folder).transpose() {
            Ok(quirks) => quirks.unwrap_or_default(),
            Err(e) => return input::fail(exit::INVALID, &e.what),
        };
        let mut device = match self.device.open() {
            Ok(device) => device,
            Err(e) => return input::fail(exit::UNCHECKED, &e),
        };
        let limit = Duration::from_secs(self.optimiser_limit);
        let optimiser = match self.optimiser.as_deref().map(|command| Compiler::new(command, limit)).transpose() {
            Ok(optimiser) => optimiser,
            Err(e) => return input::fail(exit::UNCHECKED, &e.what),
        };
        // The draws consist of triangles. naga accepts vertex stages that write. Another validator
        // follows the rules of WGSL.
        let vertex_writes = self.validator.is_none();
        let options = wgsl::Options { point_size: wgsl::PointSize::Ignore, vertex_writes, ..wgsl::Options::default() };
        let optimiser = match (optimiser, self.through_wgsl) {
            (None, true) => Some(Compiler::wgsl(options, limit)),
            (optimiser, true) => optimiser.map(|o| o.through_wgsl(options)),
            (optimiser, false) => optimiser,
        };
        let optimiser = match &self.via {
            // A compiler that is not ours may lack features that generated modules need.
            Some(name) => super::compilers::compilers_named(std::slice::from_ref(name), limit)?.pop().map(Compiler::that_may_refuse),
            None => optimiser,
        };
        let optimiser = match &self.validator {
            Some(command) => optimiser.map(|optimiser| optimiser.validated_by(command)),
            None => optimiser,
        };
        let compiled = |of: &OtherModules| if let OtherModules::Compiled(source) = *of { Some(source) } else { None };
        let sources: Vec<translated::Source> = self.of.iter().filter_map(compiled).collect();
        let modeled = |of: &OtherModules| if let OtherModules::Modeled(of) = *of { Some(of) } else { None };
        let of = self.of.iter().find_map(modeled).map_or(Of::Limits, Of::Modeled);
        if of != Of::Limits && self.of.len() > 1 {
            return input::fail(exit::INVALID, "error: --of pointers and --of subgroups take no turns with other kinds");
        }
        if !sources.is_empty() {
            let waiting = device.as_ref().filter(|_| self.threads == 0).map_or(0, |device| device.workers());
            let by = match (optimiser, device) {
                (Some(optimiser), None) => By::Compiler(optimiser),
                (Some(_), Some(_)) => {
                    return input::fail(exit::INVALID, "error: --of takes a device or a compiler, not both");
                }
                (None, _) if sources.contains(&translated::Source::Glsl) => {
                    let why = "error: --of glsl needs --via, --optimiser or --through-wgsl: its shaders have no input of their own";
                    return input::fail(exit::INVALID, why);
                }
                (None, device) => match device.map(OnDevice::new).transpose() {
                    Ok(device) => By::Engines { device, planted: None },
                    Err(e) => return input::fail(exit::UNCHECKED, &e.what),
                },
            };
            return self.translated(sources, by, threads + waiting);
        }
        let widths = self.widths;
        let mut plan = Plan {
            of,
            seed: self.seed,
            count: if self.only { 1 } else { self.count },
            twins: if self.only || of != Of::Limits { 0 } else { self.twins },
            references: self.references.unwrap_or(1),
            threads,
            limits: Limits {
                executed: self.executed,
                int8: widths,
                int16: widths,
                int64: widths,
                left_out: self.leave_out.iter().cloned().collect(),
                ..Limits::default()
            },
            engines: Engines::default(),
            optimiser,
        };
        let learnt = match &plan.optimiser {
            Some(compiler) if self.via.is_some() && !self.only && of == Of::Limits => {
                learn::learn(compiler, self.seed, self.learn, &plan.limits)
            }
            _ => Learnt::default(),
        };
        plan.limits.left_out.extend(learnt.left_out.keys().cloned());
        if self.only {
            return self.show_one(&plan, device.as_mut());
        }
        let bar = Bar::new(Some(plan.count));
        let begun = std::time::Instant::now();
        let tally = campaign::run(&plan, device.as_mut(), |modules, findings| {
            bar.0.set_position(modules);
            bar.0.set_message(format!("{findings} findings"));
        });
        let seconds = begun.elapsed().as_secs_f64();
        bar.0.finish_and_clear();
        self.report(&plan, &learnt, &tally, &quirks, device.as_mut(), seconds)
    }

    /// The options that name the compiler, in command line syntax.
    fn compiler_options(&self) -> String {
        let mut options = String::new();
        for (option, value) in [("--via", &self.via), ("--optimiser", &self.optimiser)] {
            if let Some(value) = value {
                options += &format!(" {option} '{}'", value.replace('\'', r"'\''"));
            }
        }
        if self.through_wgsl {
            options += " --through-wgsl";
        }
        if !self.of.is_empty() && self.device.device != "none" {
            options += &format!(" --device '{}'", self.device.device);
        }
        if self.profile != Profile::Strict {
            options += &format!(" --profile {}", self.profile);
        }
        options
    }

    /// Judges modules with images, stages and draws, with the optimiser or on all engines.
    fn translated(&self, sources: Vec<translated::Source>, by: By, threads: usize) -> Ended {
        let count = if self.only { 1 } else { self.count };
        let (seed, executed) = (self.seed, self.executed);
        let plan = translated::Plan { sources, seed, count, threads, executed, profile: self.profile, by };
        let command = plan.by.name();
        let bar = Bar::new(Some(plan.count));
        let begun = std::time::Instant::now();
        let tally = translated::run(&plan, |programs, findings| {
            bar.0.set_position(programs);
            bar.0.set_message(format!("{findings} findings"));
        });
        let seconds = begun.elapsed().as_secs_f64();
        bar.0.finish_and_clear();
        for (number, finding) in tally.findings.iter().enumerate() {
            let options = self.compiler_options();
            match plan.by {
                By::Compiler(_) => tell!("{}: {}", Runner::Optimiser, finding.what),
                By::Engines { .. } => tell!("{}", finding.what),
            }
            tell!(
                "replay: smallstep fuzz-spirv --of {} --seed {} --executed {} --only{options}",
                finding.source.name(),
                finding.seed,
                self.executed
            );
            if number < self.shrink {
                match translated::minimal(&plan, finding) {
                    Some(text) => tell!("minimal:\n{text}"),
                    None => tell!("it does not come back when the program is judged again"),
                }
            }
        }
        let failed = tally.findings.iter().any(|f| f.ends == Ends::Failed);
        let disagree = tally.findings.iter().any(|f| f.ends != Ends::Failed);
        let code = match (disagree, failed) {
            (true, _) => exit::DISAGREE,
            (_, true) => exit::FAILED,
            _ if tally.counts.values().any(|counts| !counts.undecided.is_empty() || !counts.refused.is_empty()) => exit::UNCHECKED,
            _ => exit::DONE,
        };
        if self.json {
            let mut object = tally.to_json();
            (object["schema"], object["kind"], object["exit"]) = (json!(1), json!("summary"), json!(code));
            (object["seconds"], object["optimiser"]) = (json!(seconds), json!(command));
            say!("{object}");
            return Ok(code);
        }
        say!("{} programs in {seconds:.1} s; {command}:", tally.programs);
        for (kind, counts) in &tally.counts {
            let undecided: u64 = counts.undecided.values().sum();
            let refused: u64 = counts.refused.values().sum();
            say!(
                "{} {kind}: {} agree, {} disagree or failed, {} vacuous (undefined before), {undecided} undecided, {refused} refused",
                counts.all(),
                counts.agree,
                counts.wrong,
                counts.vacuous
            );
            if let Some(rarest) = counts.uses.rarest() {
                say!("  judged: {rarest}");
            }
            if counts.over_sets > 0 {
                let Components { exactly, sets, open, more, unfollowed, undefined } = counts.components;
                say!(
                    "  over sets: {} by both, components: {exactly} exact, {sets} sets, {open} open, {more} decided by the machine alone, {unfollowed} left open by it alone, {undefined} undefined",
                    counts.over_sets
                );
            }
            if counts.left_out > 0 {
                say!("  left out: {} whose vertex stage uses memory that is written, which WGSL's rules refuse", counts.left_out);
            }
            for (list, word) in [(&counts.undecided, "undecided"), (&counts.refused, "refused")] {
                for (why, count) in list {
                    say!("  {word}: {count}: {why}");
                }
            }
        }
        say!("findings: {}", tally.findings.len());
        Ok(code)
    }

    fn show_one(&self, plan: &Plan, device: Option<&mut Device>) -> Ended {
        let Some(case) = plan.case(self.seed, self.twin) else {
            return input::fail(exit::INVALID, "the module of this seed has no place for that defect");
        };
        let text = match disassemble(&case.words) {
            Ok(text) => text,
            Err(e) => return input::fail(exit::FAILED, &e.to_string()),
        };
        let mut remarks = Vec::new();
        if let Some(twin) = &case.twin {
            remarks.push(format!("{} at instruction {}: {}", twin.id, twin.instruction, twin.defect.what()));
        }
        let judged = smallstep::theorem::dispatches::judge(&case, &plan.engines);
        remarks.push(brief(&judged));
        let mut wrong = matches!(judged, Judged::Wrong(..));
        if let Some(optimiser) = &plan.optimiser {
            wrong |= show_optimised(&case, optimiser);
        }
        if self.twin.is_none() && device.is_some() {
            let tally = campaign::run(plan, device, |_, _| {});
            remarks.extend(tally.findings.iter().map(|finding| format!("{}: {}", finding.runner, finding.what)));
            wrong = !tally.findings.is_empty();
        }
        let code = if wrong { exit::DISAGREE } else { exit::DONE };
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "module", "seed": self.seed, "assembly": text}));
            say!("{}", json!({"schema": 1, "kind": "summary", "seed": self.seed, "said": remarks, "exit": code}));
        } else {
            say_part!("{text}");
            remarks.iter().for_each(|line| say!("; {line}"));
        }
        Ok(code)
    }

    fn report(
        &self,
        plan: &Plan,
        learnt: &Learnt,
        tally: &Tally,
        quirks: &[DispatchQuirk],
        mut device: Option<&mut Device>,
        seconds: f64,
    ) -> Ended {
        let name = device.as_ref().map(|d| format!("{} ({})", d.adapter().name, d.route()));
        let unrepeated = device.as_ref().map(|d| d.unrepeated());
        let workers = super::device::workers(device.as_ref().map_or(0, |d| d.workers()));
        if tally.outage.is_some() {
            // A device that is gone cannot judge again.
            device = None;
        }
        let known = device.as_deref_mut().map(|device| Known::on(device, quirks));
        for (quirk, why) in known.iter().flat_map(|known| &known.gone) {
            tell!("quirk {quirk}: {why}");
        }
        let mut explained = Explained::default();
        let mut unknown: Vec<&Finding> = Vec::new();
        let mut minimal = 0;
        for finding in &tally.findings {
            let remedied = match (&known, device.as_deref_mut()) {
                (Some(known), Some(device)) if finding.runner == Runner::Device => campaign::remedied(finding, plan, known, device),
                _ => None,
            };
            if let Some(quirk) = remedied {
                tell!("{}: {}\nreplay: {}\nknown: {quirk}", finding.runner, finding.what, self.replay(plan, finding));
                explained.count(Some(quirk));
                continue;
            }
            if minimal >= self.shrink {
                tell!("{}: {}", finding.runner, finding.what);
                tell!("replay: {}", self.replay(plan, finding));
                unknown.push(finding);
                continue;
            }
            minimal += 1;
            match self.show(plan, finding, known.as_ref(), device.as_deref_mut()) {
                None => unknown.push(finding),
                quirk => explained.count(quirk),
            }
        }
        let failed = tally.outage.is_some() || unknown.iter().any(|f| f.failed);
        let disagree = unknown.iter().any(|f| !f.failed);
        let code = match (disagree, failed) {
            (true, _) => exit::DISAGREE,
            (_, true) => exit::FAILED,
            _ if !tally.device_unchecked.is_empty() || !tally.optimised_undecided.is_empty() || !tally.optimised_refused.is_empty() => {
                exit::UNCHECKED
            }
            _ => exit::DONE,
        };
        if self.json {
            let mut object = tally.to_json();
            object["schema"] = json!(1);
            object["kind"] = json!("summary");
            object["seconds"] = json!(seconds);
            object["device"] = json!(name);
            object["unrepeated_worker_failures"] = json!(unrepeated);
            object["known"] = json!(explained.by_name);
            object["learnt"] = learnt.to_json();
            object["left_out"] = plan.limits.left_out.iter().map(ToString::to_string).collect();
            object["exit"] = json!(code);
            say!("{object}");
        } else {
            let rate = tally.modules as f64 / seconds;
            say!("{} modules in {seconds:.1} s ({rate:.0} a second), {} twins", tally.modules, tally.twins);
            say!(
                "interpreters: {} agree, {} on the relation too; {} instructions in {} invocations",
                tally.agree,
                tally.referenced,
                tally.instructions,
                tally.invocations
            );
            say!("twins: {} of {} reported where they were planted", tally.reported, tally.twins);
            for (why, count) in &tally.uncompiled {
                say!("not compiled by the lockstep machine: {count}: {why}");
            }
            if let Some(name) = name {
                let unchecked: u64 = tally.device_unchecked.values().sum();
                let wrong = unknown.iter().filter(|f| f.runner == Runner::Device).count();
                let known = if quirks.is_empty() { String::new() } else { format!(", {explained}") };
                say!("{name}, {workers}: {} agree, {wrong} disagree or failed{known}, {unchecked} unchecked", tally.device_agrees);
                for (why, count) in &tally.device_unchecked {
                    say!("unchecked on the device: {count}: {why}");
                }
                say_unrepeated(unrepeated);
            }
            if let Some(optimiser) = &plan.optimiser {
                let undecided: u64 = tally.optimised_undecided.values().sum();
                let wrong = unknown.iter().filter(|f| f.runner == Runner::Optimiser).count();
                let refused: u64 = tally.optimised_refused.values().sum();
                let (agree, vacuous) = (tally.optimised, tally.optimised_vacuous);
                let command = optimiser.name();
                for (feature, why) in &learnt.left_out {
                    say!("left out, learnt from {} other modules: {feature}: {why}", learnt.modules);
                }
                say!(
                    "{command}: {agree} agree, {wrong} disagree or failed, {vacuous} vacuous (undefined before), {undecided} undecided, {refused} refused"
                );
                if let Some(rarest) = tally.optimised_uses.rarest() {
                    say!("judged: {rarest}");
                }
                for (why, count) in &tally.optimised_refused {
                    say!("refused: {count}: {why}");
                }
                for (why, count) in &tally.optimised_undecided {
                    say!("undecided after the optimiser: {count}: {why}");
                }
            }
            say!("findings: {}", unknown.len());
        }
        if let Some(why) = &tally.outage {
            tell!("the device is gone, and what it has not answered is not compared: {why}");
        }
        Ok(code)
    }

    fn replay(&self, plan: &Plan, finding: &Finding) -> String {
        let twin = finding.defect.map_or_else(String::new, |defect| format!(" --twin {defect:?}"));
        let device = if finding.runner == Runner::Device { format!(" --device '{}'", self.device.device) } else { String::new() };
        let kind = match plan.of {
            Of::Limits => format!("--executed {}{}", self.executed, if self.widths { " --widths" } else { "" }),
            Of::Modeled(Modeled::Pointers) => "--of pointers".into(),
            Of::Modeled(Modeled::Subgroups) => "--of subgroups".into(),
        };
        let options = if finding.runner == Runner::Optimiser { self.compiler_options() } else { String::new() };
        let left_out: String = plan.limits.left_out.iter().map(|feature| format!(" --leave-out '{feature}'")).collect();
        format!("smallstep fuzz-spirv --seed {} {kind} --only{twin}{device}{options}{left_out}", finding.seed)
    }

    /// Shrinks a finding and prints it. Returns its quirk, if it is a known one.
    fn show(&self, plan: &Plan, finding: &Finding, known: Option<&Known<'_>>, mut device: Option<&mut Device>) -> Option<String> {
        let heading = format!("\n{}: {}\nreplay: {}", finding.runner, finding.what, self.replay(plan, finding));
        let Some(case) = campaign::minimal(finding, plan, device.as_deref_mut()) else {
            tell!("{heading}\nit does not come back when the module is judged again");
            return None;
        };
        let text = match disassemble(&case.words) {
            Ok(text) => text,
            Err(e) => {
                tell!("{heading}\nits minimal module has no text: {e}");
                return None;
            }
        };
        let judged = smallstep::theorem::dispatches::judge(&case, &plan.engines);
        let shown = match (&judged, device) {
            (Judged::Observed(observed), Some(device)) => Some(campaign::on_device_alone(&case, observed, device)),
            _ => None,
        };
        let shown = shown.filter(|shown| matches!(shown, Verdict::Disagree(_) | Verdict::Failed(_)));
        let quirk = known.zip(shown.as_ref()).and_then(|(known, found)| known.name_of(&case.words, found).map(String::from));
        if let Some(quirk) = quirk {
            tell!("{heading}\nknown: {quirk}");
            return Some(quirk);
        }
        let reason = shown.map_or_else(|| brief(&judged), |shown| shown.why());
        let text = format!("; Made minimal from the module of: {}\n; {reason}\n{}{text}", self.replay(plan, finding), carried(&case));
        tell!("{heading}\nminimal:\n{text}");
        if let (Runner::Optimiser, Some(optimiser)) = (finding.runner, &plan.optimiser) {
            show_optimised(&case, optimiser);
        }
        if let Some(folder) = &self.save {
            let file = folder.join(format!("spirv-{}.spvasm", finding.seed));
            match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text)) {
                Ok(()) => tell!("saved: {}", file.display()),
                Err(e) => tell!("{}: {e}", file.display()),
            }
        }
        None
    }
}

/// Reports the output of an optimiser for a module. Returns whether it is wrong.
fn show_optimised(case: &ComputeCase, optimiser: &Compiler) -> bool {
    let verdict = optimised(case, optimiser);
    if let Some(passes) = optimiser.passes(&case.words) {
        tell!("; {{random}} is {}", passes.join(" "));
    }
    if let (Verdict::Disagree(_), Ok(text)) =
        (&verdict, optimiser.run(&case.words).map_or(Ok(String::new()), |compiled| disassemble(&compiled.words)))
    {
        tell!("optimised:\n{text}");
    }
    tell!(
        "; {}: {}",
        optimiser.name(),
        match &verdict {
            Verdict::Agree => "it shows what the module allows".to_string(),
            Verdict::Vacuous(_) => "the module is undefined, and allows everything".to_string(),
            other => other.why(),
        }
    );
    matches!(verdict, Verdict::Disagree(_))
}

fn brief(judged: &Judged) -> String {
    match judged {
        Judged::Observed(observation) => format!("the interpreters agree, {} instructions", observation.instructions),
        Judged::Reported => "the interpreters report what was planted".into(),
        Judged::Uncompiled(why, _) => format!("the lockstep machine does not compile it: {why}"),
        Judged::Wrong(runner, what) => format!("{runner}: {what}"),
    }
}
