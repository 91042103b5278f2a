//! `smallstep fuzz-wsl`: generated WSL programs, compared with their validation or with
//! their translation.

use super::campaign::CampaignArgs;
use super::device::DeviceArgs;
use super::exit::{self, Ended};
use super::fuzz_through::Through;
use clap::Args;
use serde_json::json;
use smallstep::theorem::campaign::Extent;
use smallstep::theorem::uniformity::{Executions, Named, Plan, WSL_ANALYSES, Wsl};
use smallstep::theorem::validation;
use smallstep::theorem::wsl::{MIX, Programs, SHORT_MIX};
use smallstep_semantics::wsl::typing::program::Program;

fn analysis(name: &str) -> Result<Named<Program>, String> {
    super::analyses::analysis_named(&WSL_ANALYSES, name)
}

/// Reads a kind of programs.
pub(super) fn kind(name: &str) -> Result<Programs, String> {
    let names = || Programs::ALL.iter().map(|programs| programs.name()).collect::<Vec<_>>().join(", ");
    let found = Programs::ALL.iter().find(|programs| programs.name() == name);
    found.copied().ok_or_else(|| format!("no kind of programs is called \"{name}\"; there are {}", names()))
}

/// Generate well-typed WSL programs, each of which must be accepted, re-checked and read back as it
/// is printed, and near-misses, each of which must be rejected by the rule that it breaks. With
/// --through spirv: translate them, and compare what both sides show.
#[derive(Args)]
pub(crate) struct FuzzWsl {
    /// How many programs; 10,000 if not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// The seed of the first; program i has the seed SEED + i. With --through: the seed of all.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; one for each core if 0.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// Translate the programs to SPIR-V, and compare what the modules show with what the programs
    /// allow: a campaign. Each program is a dispatch with barriers and atomics, all compute entry
    /// points of a typed program, its functions, called with drawn arguments, a dispatch with a
    /// race, which must be reported, a draw of two stages, or the draws of a typed program. With a
    /// device, what it shows is compared too.
    #[arg(long, value_name = "LANGUAGE", value_parser = ["spirv"])]
    through: Option<String>,
    /// With --through: only programs of this kind, which may be given several times: dispatches,
    /// entry-points, functions, racing, draws, stages; all but draws also with short- in front, as
    /// short-functions, for programs of about 30 statements; entry-points and stages also with
    /// textured- in front, for programs with textures in each entry point.
    #[arg(long, value_name = "KIND", value_parser = kind, requires = "through")]
    of: Vec<Programs>,
    /// With --through: programs of about 30 statements each, in the shares of the other ones.
    #[arg(long, requires = "through", conflicts_with = "of")]
    short: bool,
    /// With --of: judge only the program that the generator of this kind makes from this seed, and
    /// print it.
    #[arg(long, value_name = "SEED", requires = "of", conflicts_with = "only")]
    from: Option<u64>,
    /// A folder of known disagreements of devices (spec-tests/quirks-wsl). A disagreement is known
    /// if, made minimal, it is one of those of this adapter, driver and route that the device still
    /// shows, or if the device agrees on the program without the word that one of them needs. Only
    /// unknown ones make the exit code 1.
    #[arg(long, value_name = "DIR", requires = "through")]
    known: Option<std::path::PathBuf>,
    /// With --through: have this compiler, as compare --via names it, rewrite each module, and
    /// compare what it shows then, too.
    #[arg(long, value_name = "COMPILER", requires = "through", conflicts_with = "device")]
    via: Option<String>,
    #[command(flatten)]
    campaign: CampaignArgs,
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
    /// With --uniformity or --through: one program in so many runs on the reference interpreter
    /// too; 0: none. 200, or 10 with --through, if not given.
    #[arg(long)]
    references: Option<u64>,
    /// With --uniformity: of so many causes of needless rejections an example is shrunk.
    #[arg(long, default_value_t = 5, requires = "uniformity")]
    examples: usize,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl FuzzWsl {
    fn count(&self) -> u64 {
        self.count.unwrap_or(10_000)
    }

    pub(crate) fn run(self) -> Ended {
        if self.show {
            for seed in (0..self.count()).map(|i| self.seed.wrapping_add(i)) {
                let text = match self.uniformity {
                    None => smallstep::generate::wsl::typed::program(seed),
                    Some(_) => smallstep::generate::uniformity::program(seed).tree.text(),
                };
                match self.json {
                    true => say!("{}", json!({"schema": 1, "kind": "program", "seed": seed, "text": text})),
                    false => say!("{text}\n"),
                }
            }
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "summary", "programs": self.count(), "exit": exit::DONE}));
            }
            return Ok(exit::DONE);
        }
        let (seed, count, threads) = (self.seed, self.count, self.threads);
        if self.through.is_some() {
            let extent = self.campaign.extent(seed, count, threads);
            let limit = std::time::Duration::from_secs(60);
            let via = match &self.via {
                Some(name) => super::compilers::compilers_named(std::slice::from_ref(name), limit)?.pop(),
                None => None,
            };
            let mix = match (self.of.is_empty(), self.short) {
                (false, _) => self.of,
                (true, false) => MIX.to_vec(),
                (true, true) => SHORT_MIX.clone(),
            };
            let through = Through {
                extent,
                from: self.from,
                known: self.known,
                mix,
                references: self.references.unwrap_or(10),
                via,
                json: self.json,
            };
            return through.run(&self.campaign, &self.device);
        }
        let needless = self.campaign.first_option().or(self.references.is_some().then_some("--references"));
        if let (Some(option), true) = (needless, self.uniformity.is_none() || self.campaign.first_option().is_some()) {
            return super::input::fail(exit::INVALID, &format!("{option} is for campaigns, with --through"));
        }
        let Extent { threads, .. } = self.campaign.extent(seed, count, threads);
        if let Some(analysis) = self.uniformity {
            return Ok(self.uniformity(analysis, threads));
        }
        let start = std::time::Instant::now();
        let found = validation::run(self.seed, self.count(), threads);
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
            let summary = json!({"schema": 1, "kind": "summary", "programs": self.count(), "accepted": found.accepted, "rejected": found.rejected,
                "rules_fired": found.fired.len(), "rules_broken": found.broken.len(), "failures": found.failures, "exit": code});
            say!("{summary}");
        } else {
            say!("{} programs in {seconds:.1} s: {} accepted, re-checked and read back", self.count(), found.accepted);
            say!("near-misses: {} rejected by the rule that they break, {} rules", found.rejected, found.broken.len());
            say!("rules seen: {}; findings: {}", found.fired.len(), found.failures);
        }
        Ok(code)
    }

    /// Judges an analysis of uniformity.
    fn uniformity(&self, analysis: Named<Program>, threads: usize) -> u8 {
        let executions = Executions { runs: self.runs, ..Executions::default() };
        let Self { seed, examples, .. } = *self;
        let (count, references) = (self.count(), self.references.unwrap_or(200));
        super::analyses::judge::<Wsl>(&Plan { seed, count, threads, executions, references, examples }, analysis, self.json)
    }
}
