//! `smallstep fuzz-wsl`: generated WSL programs against their validation, or through their
//! translation.

use super::device::DeviceArgs;
use super::exit;
use super::exit::Ended;
use clap::Args;
use serde_json::json;
use smallstep::compile::wsl::Options;
use smallstep::gpu::Route;
use smallstep::theorem::uniformity::{Executions, Named, Plan, WSL_ANALYSES, Wsl};
use smallstep::theorem::validation;
use smallstep::theorem::wsl::{self, Programs};
use smallstep_semantics::number::Profile;
use smallstep_semantics::wsl::typing::program::Program;

fn analysis(name: &str) -> Result<Named<Program>, String> {
    super::analyses::named(&WSL_ANALYSES, name)
}

/// Generate well-typed WSL programs, each of which must be accepted, re-checked and read back as it
/// is printed, and near-misses, each of which must be rejected by the rule that it breaks. With
/// --through spirv: translate them, and compare what both sides show.
#[derive(Args)]
pub(crate) struct FuzzWsl {
    /// How many programs.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The seed of the first; program i has the seed SEED + i.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; one for each core if 0.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// Translate the programs to SPIR-V, and compare what the modules show with what the programs
    /// allow. Four kinds of programs have each seed: a dispatch with barriers and atomics, the
    /// compute entry points of a typed program, its functions, called with drawn arguments, and a
    /// dispatch with a race, which both sides must report. With a device, what it shows is compared
    /// too.
    #[arg(long, value_name = "LANGUAGE", value_parser = ["spirv"])]
    through: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print the programs instead, and their near-misses not at all.
    #[arg(long)]
    show: bool,
    /// Judge this analysis of uniformity by executions of other programs, full of barriers and
    /// derivatives, instead: none that it accepts may have threads that are apart.
    #[arg(long, value_name = "ANALYSIS", value_parser = analysis)]
    uniformity: Option<Named<Program>>,
    /// With --uniformity: how often each program runs, each time with other contents of buffers.
    #[arg(long, default_value_t = 8, requires = "uniformity", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// With --uniformity: one program in so many runs on the reference interpreter too; 0: none.
    #[arg(long, default_value_t = 200, requires = "uniformity")]
    references: u64,
    /// With --uniformity: of so many causes of needless rejections an example is shrunk.
    #[arg(long, default_value_t = 5, requires = "uniformity")]
    examples: usize,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl FuzzWsl {
    pub(crate) fn run(self) -> Ended {
        if self.show {
            for seed in (0..self.count).map(|i| self.seed.wrapping_add(i)) {
                let text = match self.uniformity {
                    None => smallstep_semantics::wsl::generate::typed::program(seed),
                    Some(_) => smallstep::generate::uniformity::program(seed).tree.text(),
                };
                match self.json {
                    true => say!("{}", json!({"schema": 1, "kind": "program", "seed": seed, "text": text})),
                    false => say!("{text}\n"),
                }
            }
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "summary", "programs": self.count, "exit": exit::DONE}));
            }
            return Ok(exit::DONE);
        }
        if self.through.is_some() {
            return self.translated();
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores } else { self.threads };
        if let Some(analysis) = self.uniformity {
            return Ok(self.uniformity(analysis, threads));
        }
        let start = std::time::Instant::now();
        let found = validation::run(self.seed, self.count, threads);
        let seconds = start.elapsed().as_secs_f64();
        let code = if found.failures == 0 { exit::DONE } else { exit::DISAGREE };
        for wrong in &found.wrong {
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "finding", "seed": wrong.seed, "what": wrong.what, "text": wrong.text}));
            } else {
                say!("seed {}: {}\n{}\n", wrong.seed, wrong.what, wrong.text);
            }
        }
        if self.json {
            let summary = json!({"schema": 1, "kind": "summary", "programs": self.count, "accepted": found.accepted, "rejected": found.rejected,
                "rules_fired": found.fired.len(), "rules_broken": found.broken.len(), "failures": found.failures, "exit": code});
            say!("{summary}");
        } else {
            say!("{} programs in {seconds:.1} s: {} accepted, re-checked and read back", self.count, found.accepted);
            say!("near-misses: {} rejected by the rule that they break, {} rules", found.rejected, found.broken.len());
            say!("rules seen: {}; findings: {}", found.fired.len(), found.failures);
        }
        Ok(code)
    }

    /// Judges an analysis of uniformity.
    fn uniformity(&self, analysis: Named<Program>, threads: usize) -> u8 {
        let executions = Executions { runs: self.runs, ..Executions::default() };
        let Self { seed, count, references, examples, .. } = *self;
        super::analyses::judge::<Wsl>(&Plan { seed, count, threads, executions, references, examples }, analysis, self.json)
    }

    /// The theorem on generated programs.
    fn translated(&self) -> Ended {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores } else { self.threads };
        let mut code = exit::DONE;
        let device = match self.device.open() {
            Ok(device) => device,
            Err(why) => return Err((exit::UNCHECKED, format!("unchecked: {why}"))),
        };
        for (programs, what) in [
            (Programs::Dispatches, "dispatches"),
            (Programs::EntryPoints, "entry points of typed programs"),
            (Programs::Functions, "functions of typed programs"),
            (Programs::Racy, "racing dispatches"),
        ] {
            let start = std::time::Instant::now();
            // naga takes no float controls.
            let is_naga = device.as_ref().is_some_and(|d| d.route() == Route::Naga);
            let options = Options { profile: if is_naga { Profile::Wgsl } else { Profile::Strict }, ..Options::default() };
            let found = match &device {
                Some(device) => wsl::device_campaign(programs, self.seed, self.count, device, &options),
                None => wsl::campaign(programs, self.seed, self.count, threads, &options),
            };
            let seconds = start.elapsed().as_secs_f64();
            if found.count("disagree") > 0 {
                code = exit::DISAGREE;
            }
            if self.json {
                for (seed, text, why) in &found.wrong {
                    say!("{}", json!({"schema": 1, "kind": "finding", "of": what, "seed": seed, "what": why, "text": text}));
                }
                say!(
                    "{}",
                    json!({"schema": 1, "kind": "campaign", "of": what, "verdicts": found.verdicts, "open": found.open,
                        "refused": found.refused, "unchecked": found.unchecked})
                );
                continue;
            }
            for (seed, text, why) in &found.wrong {
                say!("seed {seed}: {why}\n{text}\n");
            }
            let counts: Vec<String> = found.verdicts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
            say!("{what}, in {seconds:.1} s: {}; {} of those that agree met something unspecified", counts.join(", "), found.open);
            for (list, word) in [(&found.refused, "refused"), (&found.unchecked, "unchecked")] {
                for (why, n) in list {
                    say!("  {word}: {n} {why}");
                }
            }
        }
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "summary", "programs": 4 * self.count, "exit": code}));
        }
        Ok(code)
    }
}
