//! `smallstep vectors`: programs with what every conforming engine must show, for other machines.

use super::check::constants;
use super::exit::Ended;
use super::output::Making;
use super::translate::profile;
use super::{exit, input};
use clap::{Args, ValueEnum};
use serde_json::json;
use smallstep::compile::lambda_v::Constants;
use smallstep::compute::carried::groups;
use smallstep::generate::spirv::Limits;
use smallstep::program::Language;
use smallstep::run::grid::Bound;
use smallstep::vectors::amber;
use smallstep::vectors::format::profile_name;
use smallstep::vectors::record::{Plan, RecordError, left_out_text, record};
use smallstep::vectors::wsl::record as wsl;
use smallstep_semantics::number::Profile;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Lines,
    Amber,
    Wsl,
}

/// Write conformance vectors: generated programs, their SPIR-V, and what every conforming engine
/// shows; or WSL programs, calls and dispatches.
#[derive(Args)]
pub(crate) struct Vectors {
    /// A WSL program of which expressions or a dispatch are recorded, with --format wsl.
    #[arg(conflicts_with_all = ["count", "seed"])]
    program: Option<PathBuf>,
    /// The expressions beside it, as `foo(42, float2(1.0, 2.0))`; without one, its compute entry
    /// point is dispatched.
    #[arg(value_name = "EXPRESSION")]
    expressions: Vec<String>,
    /// The compute entry point, where there are several.
    #[arg(long, requires = "program", conflicts_with = "expressions", help_heading = "WSL")]
    entry: Option<String>,
    /// Workgroups, as 4 or 4,2,1. 1,1,1 if not given.
    #[arg(long, value_name = "X,Y,Z", value_parser = groups, requires = "program", conflicts_with = "expressions", help_heading = "WSL")]
    groups: Option<[u32; 3]>,
    /// What a resource holds, by its name or register: of an array reference NAME=FILE or
    /// NAME=type:v,v,…, of a texture NAME=FILE.png or 'NAME=FORMAT WxH TEXEL…', of a sampler
    /// 'NAME=linear edge'.
    #[arg(long, value_name = "NAME=…", requires = "program", conflicts_with = "expressions", help_heading = "WSL")]
    bind: Vec<Bound>,
    /// What is written: lines (λV programs, one JSON line each, in one file), amber (compute
    /// modules, a script each, in a folder) or wsl (WSL programs with calls and dispatches, one
    /// JSON line each, in one file).
    #[arg(long, value_enum, default_value_t = Format::Lines)]
    format: Format,
    /// How many cases.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), required_unless_present = "program")]
    count: Option<u64>,
    /// The seed of all programs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pixels: width x height.
    #[arg(long, value_parser = input::size, default_value = "4x4")]
    size: (u32, u32),
    /// The float controls that the modules declare: strict, or wgsl (none, for the route through
    /// naga); of WSL the precision that floats have.
    #[arg(long, value_parser = profile, default_value = "strict")]
    profile: Profile,
    /// Constants: module, or opaque (read from a buffer at set 0, binding 0).
    #[arg(long, value_parser = constants, default_value = "module")]
    constants: Constants,
    /// Only programs of which every lane is decided; else one decided lane is enough.
    #[arg(long)]
    decided: bool,
    /// The file, as described in src/vectors/FORMAT.md, or - for standard output;
    /// of scripts, the folder.
    #[arg(short)]
    out: PathBuf,
    /// Threads; 0: as many as the machine has cores. The file does not depend on them.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// One JSON object on standard output (standard error, if the file goes there).
    #[arg(long)]
    pub(crate) json: bool,
}

impl Vectors {
    /// The stream for JSON. It is not the stream of the cases.
    pub(crate) fn lines(&self) -> super::Lines {
        super::lines_for_file(self.json, &self.out)
    }

    pub(crate) fn run(self) -> Ended {
        if self.format == Format::Amber {
            return self.scripts();
        }
        if self.program.is_some() && self.format != Format::Wsl {
            return input::fail(exit::INVALID, "a program and expressions are recorded with --format wsl");
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let Vectors { seed, size, profile, constants, decided, .. } = self;
        let count = self.count.unwrap_or(1);
        let threads = if self.threads == 0 { cores } else { self.threads };
        let program = match self.given_program() {
            Ok(program) => program,
            Err(e) => return input::fail(exit::INVALID, &e),
        };
        if self.format == Format::Wsl
            && let Some((_, option)) = self.of_fragments().into_iter().find(|(is_given, _)| *is_given)
        {
            return input::fail(exit::INVALID, &format!("{option} is for λV programs; these are WSL"));
        }
        let to_stdout = self.out.as_os_str() == "-";
        let opened: std::io::Result<(Option<Making>, Box<dyn Write>)> = match to_stdout {
            true => Ok((None, Box::new(std::io::stdout().lock()))),
            false => Making::begin(&self.out).map(|(making, file)| (Some(making), Box::new(file) as Box<dyn Write>)),
        };
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", self.out.display());
        let (making, mut file) = match opened {
            Ok((making, file)) => (making, BufWriter::new(file)),
            Err(e) => return input::fail(exit::INVALID, &failed(&e)),
        };
        let bar = super::progress(Some(count), "{bar:30} {human_pos} cases, {per_sec}, {eta} left");
        let progress = |cases| bar.set_position(cases);
        let recorded = match (self.format, program) {
            (Format::Wsl, None) => wsl::record(&wsl::Plan { count, seed, profile, decided, threads }, &mut file, &progress),
            (Format::Wsl, Some((text, checks))) => wsl::record_given(&text, &checks, &input::bytes, profile, self.command(), &mut file),
            _ => record(&Plan { count, seed, size, profile, constants, decided, threads }, &mut file, &progress),
        };
        bar.finish_and_clear();
        let flushed = file.flush();
        drop(file);
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(e) => {
                let code = match e {
                    RecordError::Io(_) | RecordError::Unfit(_) => exit::INVALID,
                    RecordError::Disagree { .. } => exit::DISAGREE,
                    _ => exit::UNCHECKED,
                };
                // An error of the program is reported with its name, not with that of the
                // output file.
                return match (&e, &self.program) {
                    (RecordError::Unfit(_), Some(program)) => input::fail(code, &format!("{}: {e}", program.display())),
                    _ => input::fail(code, &failed(&e)),
                };
            }
        };
        if let Err(e) = flushed.and_then(|()| making.map_or(Ok(()), Making::keep)) {
            return input::fail(exit::INVALID, &failed(&e));
        }
        let summary = if self.json {
            json!({"schema": 1, "kind": "summary", "file": self.out.display().to_string(), "cases": recorded.cases, "tried": recorded.tried,
                "left_out": recorded.left_out, "lanes": {"checked": recorded.lanes.checked, "undecided": recorded.lanes.undecided}, "exit": exit::DONE})
            .to_string()
        } else {
            format!(
                "{} cases of {} programs ({}); {} lanes decided, {} of any value",
                recorded.cases,
                recorded.tried,
                left_out_text(&recorded),
                recorded.lanes.checked,
                recorded.lanes.undecided
            )
        };
        if to_stdout {
            tell!("{summary}");
        } else {
            say!("{summary}");
        }
        Ok(exit::DONE)
    }

    /// The options that only λV programs have, and whether they were given.
    fn of_fragments(&self) -> [(bool, &'static str); 2] {
        [(self.size != (4, 4), "--size"), (self.constants != Constants::InModule, "--constants")]
    }

    /// The given program and its checks.
    fn given_program(&self) -> Result<Option<(String, wsl::ProgramChecks)>, String> {
        let Some(path) = self.program.as_deref() else { return Ok(None) };
        let text =
            input::only(path, Language::Wsl).map_err(|(_, message)| message.trim_start_matches("error: ").to_string())?.text().to_string();
        if !self.expressions.is_empty() {
            return Ok(Some((text, wsl::ProgramChecks::Expressions(self.expressions.clone()))));
        }
        let bound = self.bind.iter().cloned().map(Into::into).collect();
        Ok(Some((text, wsl::ProgramChecks::Dispatch { entry: self.entry.clone(), groups: self.groups.unwrap_or([1; 3]), bound })))
    }

    /// The command that records the same file, without the bindings.
    fn command(&self) -> String {
        let program = self.program.as_deref().and_then(|p| p.file_name()).map_or("-".into(), |name| name.to_string_lossy().into_owned());
        let mut words: Vec<String> = self.expressions.iter().map(|e| format!("'{}'", e.replace('\'', "'\\''"))).collect();
        words.extend(self.entry.iter().map(|entry| format!("--entry {entry}")));
        words.extend(self.groups.iter().map(|[x, y, z]| format!("--groups {x},{y},{z}")));
        words.extend(self.bind.iter().map(|b| format!("--bind {}=…", b.name)));
        format!("smallstep vectors --format wsl --profile {} {program} {}", profile_name(self.profile), words.join(" "))
    }

    /// Writes Amber scripts.
    fn scripts(&self) -> Ended {
        if self.out.as_os_str() == "-" {
            return input::fail(exit::INVALID, "-o names the folder that the scripts are written to");
        }
        let more = [(self.profile != Profile::Strict, "--profile"), (self.decided, "--decided"), (self.program.is_some(), "a program")];
        if let Some((_, option)) = self.of_fragments().into_iter().chain(more).find(|(is_given, _)| *is_given) {
            return input::fail(exit::INVALID, &format!("{option} is for λV programs; scripts are of compute modules"));
        }
        let plan = amber::Plan { count: self.count.unwrap_or(1), seed: self.seed, limits: Limits::default() };
        let bar = super::progress(self.count, "{bar:30} {human_pos} scripts, {per_sec}, {eta} left");
        let recorded = amber::record(&plan, &self.out, &|scripts| bar.set_position(scripts));
        bar.finish_and_clear();
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(e) => {
                let code = match e {
                    amber::RecordError::Io(..) => exit::INVALID,
                    amber::RecordError::Wrong(..) => exit::DISAGREE,
                    _ => exit::UNCHECKED,
                };
                return input::fail(code, &e.to_string());
            }
        };
        let (scripts, folder) = (recorded.files.len(), self.out.display().to_string());
        if self.json {
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "folder": folder, "scripts": scripts, "tried": recorded.tried,
                    "left_out": recorded.left_out, "bytes": recorded.bytes, "exit": exit::DONE})
            );
        } else {
            say!("{scripts} scripts of {} modules in {folder}; {} bytes expected", recorded.tried, recorded.bytes);
        }
        Ok(exit::DONE)
    }
}
