//! `smallstep replay`: an engine or a device, checked against a vectors file.

use super::device::say_unrepeated;
use super::exit::Ended;
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::gpu::{self, Device, Route, Selection};
use smallstep::source;
use smallstep::theorem::{Lanes, Verdict};
use smallstep::vectors::replay::{OwnEngine, Replayed, Subject, replay};
use smallstep::vectors::wsl::replay as wsl;
use smallstep::vectors::{LineError, Opened};
use smallstep_semantics::number::Arithmetic;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Check a device, or an engine of smallstep, against a vectors file. WSL is checked on
/// both of its engines, and on the SPIR-V that its cases carry.
#[derive(Args)]
pub(crate) struct Replay {
    /// A vectors file, or - for standard input.
    file: PathBuf,
    /// The device: an adapter's index, part of its name, NAME#N for one of several, or nothing for
    /// the first.
    #[arg(long, conflicts_with = "engine")]
    adapter: Option<Selection>,
    /// An engine of smallstep instead: machine or reference (on the source), spirv or
    /// spirv-reference (on the words). Of WSL machine, reference or spirv alone.
    #[arg(long, value_parser = engine)]
    engine: Option<OwnEngine>,
    /// How words reach the device: passthrough or naga.
    #[arg(long, value_parser = super::route, conflicts_with = "engine")]
    route: Option<Route>,
    /// The most steps of an engine on one pixel, call or dispatch: 1000000, and of WSL 10000000, if
    /// not given.
    #[arg(long)]
    fuel: Option<u64>,
    /// One JSON object a line on standard output: each case, then a summary.
    #[arg(long)]
    pub(crate) json: bool,
}

fn engine(text: &str) -> Result<OwnEngine, String> {
    let names = || OwnEngine::ALL.map(OwnEngine::name).join(", ");
    OwnEngine::ALL.into_iter().find(|o| o.name() == text).ok_or_else(|| format!("no engine is called \"{text}\"; there are {}", names()))
}

/// The verdicts of a replay in the order of the counts, and "invalid" for lines that are no cases.
const NAMES: [&str; 6] = ["agree", "disagree", "undecided", "unchecked", "failed", "invalid"];

#[derive(Default)]
struct Counts {
    cases: [u64; 6],
    lanes: Lanes,
    code: u8,
}

impl Replay {
    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let opened: std::io::Result<Box<dyn BufRead>> = match self.file.as_os_str() == "-" {
            true => Ok(Box::new(std::io::stdin().lock())),
            false => source::open(&self.file).map(|f| Box::new(BufReader::new(f)) as Box<dyn BufRead>),
        };
        let opened = match opened.map_err(|e| e.to_string()).and_then(|input| Opened::open(input).map_err(|e| e.to_string())) {
            Ok(opened) => opened,
            Err(e) => return input::fail(exit::INVALID, &format!("{name}: {e}")),
        };
        let bar = super::progress(Some(opened.cases()), "{bar:30} {human_pos} cases, {per_sec}, {eta} left");
        let mut counts = Counts::default();
        let mut count_result = |result: Result<Replayed, LineError>| {
            bar.inc(1);
            self.count(&name, &mut counts, result);
        };
        let mut unrepeated = None;
        let engine_name = match (opened, self.engine) {
            (Opened::Wsl(mut reader), engine) => {
                let (engines, engine_name) = match engine {
                    None => {
                        (&[wsl::OwnEngine::Reference, wsl::OwnEngine::Machine, wsl::OwnEngine::Spirv][..], "reference, machine and spirv")
                    }
                    Some(OwnEngine::Reference) => (&[wsl::OwnEngine::Reference][..], "reference"),
                    Some(OwnEngine::Machine) => (&[wsl::OwnEngine::Machine][..], "machine"),
                    Some(OwnEngine::Spirv) => (&[wsl::OwnEngine::Spirv][..], "spirv"),
                    Some(OwnEngine::SpirvReference) => {
                        let what = format!("{name}: the engines of WSL are machine, reference, and spirv on the words that cases carry");
                        return input::fail(exit::INVALID, &what);
                    }
                };
                if self.adapter.is_some() || self.route.is_some() {
                    return input::fail(
                        exit::INVALID,
                        &format!("{name}: no device runs WSL; without --adapter and --route its engines do"),
                    );
                }
                wsl::replay(&mut reader, engines, self.fuel.unwrap_or(10_000_000), &mut count_result);
                engine_name.to_string()
            }
            (Opened::LambdaV(mut reader), Some(engine)) => {
                let (fuel, arithmetic) = (self.fuel.unwrap_or(1_000_000), Arithmetic::default());
                replay(&mut reader, Subject::Ours { engine, fuel, arithmetic }, &mut count_result);
                engine.name().to_string()
            }
            (Opened::LambdaV(mut reader), None) => {
                let adapter = self.adapter.clone().unwrap_or_default();
                match Device::open(&adapter, self.route, gpu::Options::default()) {
                    Err(e) => return input::fail(exit::UNCHECKED, &format!("{e}; --engine checks an engine of smallstep instead")),
                    Ok(mut device) => {
                        replay(&mut reader, Subject::Device(&mut device), &mut count_result);
                        unrepeated = Some(device.unrepeated());
                        format!("{} ({})", device.adapter().name, device.route())
                    }
                }
            }
        };
        bar.finish_and_clear();
        if counts.cases == [0; 6] {
            tell!("{name}: there are no cases, so that nothing was checked");
            counts.code = exit::UNCHECKED;
        }
        self.summary(&name, &engine_name, &counts, unrepeated);
        Ok(counts.code)
    }

    fn count(&self, name: &str, counts: &mut Counts, result: Result<Replayed, LineError>) {
        let (word, code) = match &result {
            Ok(replayed) => (replayed.verdict.name(), replayed.verdict.code()),
            Err(_) => ("invalid", exit::INVALID),
        };
        counts.code = exit::worse(counts.code, code);
        if let Some(i) = NAMES.iter().position(|n| *n == word) {
            counts.cases[i] += 1;
        }
        match &result {
            Ok(r) => {
                counts.lanes += r.lanes;
                if self.json {
                    let lanes = json!({"checked": r.lanes.checked, "undecided": r.lanes.undecided});
                    let why = r.verdict.why();
                    say!(
                        "{}",
                        json!({"schema": 1, "kind": "case", "line": r.line, "index": r.index, "verdict": word, "why": why, "lanes": lanes})
                    );
                } else if !matches!(r.verdict, Verdict::Agree | Verdict::Undecided(_)) {
                    say!("{word:<10} {name}:{}: case {}: {}", r.line, r.index, r.verdict.why());
                }
            }
            Err(e) => {
                if self.json {
                    say!("{}", json!({"schema": 1, "kind": "case", "line": e.line, "verdict": word, "why": e.what}));
                } else {
                    say!("{word:<10} {name}:{}: {}", e.line, e.what);
                }
            }
        }
    }

    fn summary(&self, name: &str, engine_name: &str, counts: &Counts, unrepeated: Option<u64>) {
        let lanes = counts.lanes;
        if self.json {
            let verdicts: serde_json::Map<_, _> = NAMES.iter().zip(counts.cases).map(|(n, c)| (n.to_string(), json!(c))).collect();
            let lanes = json!({"checked": lanes.checked, "undecided": lanes.undecided});
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "engine": engine_name, "verdicts": verdicts, "lanes": lanes,
                    "unrepeated_worker_failures": unrepeated, "exit": counts.code})
            );
            return;
        }
        let shown = NAMES.iter().zip(counts.cases).filter(|(name, n)| **name != "invalid" || *n > 0);
        let text: Vec<String> = shown.map(|(name, n)| format!("{n} {name}")).collect();
        say!("{engine_name}: {}; {} lanes checked, {} undecided", text.join(", "), lanes.checked, lanes.undecided);
        say_unrepeated(unrepeated);
    }
}
