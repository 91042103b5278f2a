//! `smallstep fuzz-wsl`: generated WSL programs against their validation.

use super::exit;
use super::exit::Ended;
use clap::Args;
use serde_json::json;
use smallstep::theorem::uniformity::{WSL_ANALYSES, Executions, Named, Plan, Wsl};
use smallstep::theorem::validation;
use smallstep_semantics::wsl::typing::program::Program;

fn analysis(name: &str) -> Result<Named<Program>, String> {
    super::uniformity::named(&WSL_ANALYSES, name)
}

/// Generate well-typed WSL programs, each of which must be accepted, re-checked and read back as it
/// is printed, and near-misses, each of which must be rejected by the rule that it breaks.
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
        super::uniformity::judge::<Wsl>(&Plan { seed, count, threads, executions, references, examples }, analysis, self.json)
    }
}
