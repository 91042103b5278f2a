//! `smallstep bench`: the cost of the harness.

use super::exit::{self, Ended};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use smallstep::dispatch::Dispatch;
use smallstep::gpu::rate::{self, RateError, RateOptions, Rates, Round};
use smallstep::gpu::{Options, Route, Selection, ShaderCache};
use smallstep::theorem::campaign;
use smallstep::theorem::device::profile_of;

/// The default length of the chains of compute programs. A generated λV program executes about as
/// many operations.
const OPERATIONS: u32 = 64;

/// An environment variable that is set for the measuring process. See [`Bench::run`].
const COLD: &str = "SMALLSTEP_BENCH_COLD";

/// Measure how many programs a second a device runs, bare and through the harness
#[derive(Args)]
pub(crate) struct Bench {
    /// The adapter: an index, part of the name, NAME#N for one of several, or nothing for the first
    #[arg(long, default_value = "")]
    adapter: Selection,
    /// passthrough or naga; passthrough where it is offered, if not given
    #[arg(long, value_parser = super::route)]
    route: Option<Route>,
    /// Programs that each half runs, in all rounds together
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    count: u32,
    /// Rounds to spread them over; the medians over the rounds are told
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Width and height of the grid, in pixels
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    size: u32,
    /// Chains of so many operations in the place of generated λV programs; of compute programs 64,
    /// if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    operations: Option<u32>,
    /// Compute programs of 64 invocations in the place of fragment programs
    #[arg(long)]
    compute: bool,
    /// Where the programs begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin again after so many distinct programs: a driver that caches then shows what is left
    /// beside its compiler
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    distinct: Option<u32>,
    /// Threads of the bare half; 0 for one for each core
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// Worker processes of the harness; 0 for as many as suit it: 2 for a software adapter or from
    /// 16 cores on, else 1
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    workers: usize,
    /// Programs that one worker holds at once
    #[arg(long, default_value_t = 256, value_parser = super::input::threads())]
    window: usize,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

impl Bench {
    pub(crate) fn run(self) -> Ended {
        // The half that runs in this process needs an empty shader cache. A driver looks for the
        // cache when it is loaded, so this program starts itself once more.
        if std::env::var_os(COLD).is_none() {
            return cold();
        }
        let rounds = self.rounds.min(self.count);
        let options = RateOptions {
            rounds: rounds as usize,
            programs: (self.count / rounds) as usize,
            threads: self.threads,
            device: Options { workers: self.workers, window: self.window, program_limit: Duration::from_secs(60), ..Options::default() },
        };
        let programs = |route| -> Box<dyn Iterator<Item = Dispatch>> {
            let programs: Box<dyn Iterator<Item = _>> = match self.operations() {
                None => Box::new(campaign::dispatches(self.seed, profile_of(route), (self.size, self.size)).map(Dispatch::from)),
                Some(operations) if self.compute => Box::new(rate::computations(self.seed, operations as usize).map(Dispatch::from)),
                Some(operations) => Box::new(rate::programs(self.seed, operations as usize, self.size).map(Dispatch::from)),
            };
            match self.distinct {
                None => programs,
                Some(distinct) => Box::new(programs.take(distinct as usize).collect::<Vec<_>>().into_iter().cycle()),
            }
        };
        let mut number = 0;
        let measured = rate::measure(&self.adapter, self.route, &options, programs, |round| {
            number += 1;
            self.print_round(number, round);
        });
        match measured {
            Ok(rates) => {
                self.print(&rates);
                Ok(exit::DONE)
            }
            Err(error @ RateError::NoDevice(_)) => Err((exit::UNCHECKED, error.to_string())),
            Err(error) => Err((exit::FAILED, error.to_string())),
        }
    }

    /// The length of the chains. `None` for generated λV programs.
    fn operations(&self) -> Option<u32> {
        self.operations.or(self.compute.then_some(OPERATIONS))
    }

    fn programs_are(&self) -> String {
        match self.operations() {
            None => format!("generated programs of seed {}", self.seed),
            Some(operations) if self.compute => format!("chains of {operations} operations by 64 invocations each"),
            Some(operations) => format!("chains of {operations} operations"),
        }
    }

    fn print_round(&self, number: usize, round: &Round) {
        let (bare, harness, ratio) = (round.bare_rate(), round.harness_rate(), round.ratio());
        if self.json {
            say!(
                "{}",
                json!({ "schema": 1, "kind": "round", "round": number, "programs": round.programs, "bare": bare, "harness": harness, "ratio": ratio })
            );
        } else {
            tell!("round {number}: {bare:.0}/s bare, {harness:.0}/s through the harness, ratio {ratio:.2}");
        }
    }

    fn print(&self, rates: &Rates) {
        let (bare, harness, ratio) = (rates.median(Round::bare_rate), rates.median(Round::harness_rate), rates.median(Round::ratio));
        let programs: usize = rates.rounds.iter().map(|round| round.programs).sum();
        if self.json {
            say!(
                "{}",
                json!({
                    "schema": 1, "kind": "summary", "summary": "bench", "adapter": rates.adapter.name, "driver": rates.adapter.driver, "route": rates.route.name(),
                    "programs": programs, "rounds": rates.rounds.len(), "size": self.size, "programs_are": self.programs_are(), "workers": rates.workers,
                    "bare": bare, "harness": harness, "ratio": ratio, "exit": exit::DONE,
                })
            );
        } else {
            say!("{}, {}", rates.adapter, rates.route);
            let at = if self.compute { String::new() } else { format!(" at {0}x{0}", self.size) };
            say!("{programs} {}{at}, medians of {} rounds", self.programs_are(), rates.rounds.len());
            say!("bare     {bare:10.1} programs/s");
            say!("harness  {harness:10.1} programs/s, {}", super::device::workers(rates.workers));
            say!("ratio    {ratio:10.2}");
        }
    }
}

fn cold() -> Ended {
    let started = ShaderCache::new().and_then(|cache| {
        Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).env(COLD, "1").envs(cache.environment()).status()
    });
    match started {
        Ok(status) => Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::FAILED)),
        Err(error) => Err((exit::FAILED, format!("the measuring process could not be started: {error}"))),
    }
}
