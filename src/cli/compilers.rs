//! `smallstep compare --via`: modules and the compilers under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use smallstep::program::Language;
use smallstep::theorem::compilers::{Compiler, Judgement, Status, judge};
use smallstep::theorem::refine::Settings;

use super::compare::Compare;
use super::exit::{self, Ended};
use super::progress;

/// The compilers that `--via` names.
pub(super) fn compilers_named(names: &[String], limit: Duration) -> Result<Vec<Compiler>, exit::Failure> {
    let program = std::env::current_exe().map_err(|e| (exit::FAILED, format!("the path of this program is not known: {e}")))?;
    let find_compiler =
        |name: &String| Compiler::named(name, &program, limit).map_err(|e| (exit::UNCHECKED, format!("error: --via {name}: {e}")));
    names.iter().map(find_compiler).collect()
}

/// The results of a compiler as text: the number of programs by verdict.
pub(super) fn counts_text(counts: &BTreeMap<Status, u64>) -> String {
    let counts: Vec<String> = counts.iter().map(|(verdict, n)| format!("{} {n}", verdict.name())).collect();
    if counts.is_empty() { "nothing was judged".into() } else { counts.join(", ") }
}

/// The results of a compiler as JSON, with its name and version.
pub(super) fn counts_json(compiler: &Compiler, counts: &BTreeMap<Status, u64>) -> Value {
    let verdicts: serde_json::Map<_, _> = counts.iter().map(|(verdict, n)| (verdict.name().to_string(), json!(n))).collect();
    json!({"compiler": compiler.name(), "version": compiler.version(), "verdicts": verdicts})
}

/// The name of a module, with its words or the reason why there are none.
type Read = (String, Result<Vec<u32>, exit::Failure>);

/// Compares the output of the compilers with every given module.
pub(super) fn compare(args: &Compare, settings: &Settings) -> Ended {
    let compilers = compilers_named(&args.via, args.compiler_limit)?;
    let mut paths = Vec::new();
    for path in &args.files {
        collect(path, true, &mut paths).map_err(|e| (exit::INVALID, format!("error: {e}")))?;
    }
    if paths.is_empty() {
        return Err((exit::INVALID, "error: the folders hold no module (.spv, .spvasm or .wgsl)".into()));
    }
    let read: Vec<Read> = paths.iter().map(|path| (path.display().to_string(), words(args, path))).collect();
    let jobs: Vec<(usize, usize)> =
        (0..read.len()).flat_map(|file| (0..compilers.len()).map(move |compiler_index| (file, compiler_index))).collect();
    let bar = progress(Some(jobs.len() as u64), "{bar:30} {pos} of {len} modules, {eta} left, {msg}");
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Judgements::default()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if args.threads == 0 { cores } else { args.threads };
    let judge_job = |job: usize| {
        let (file, compiler_index) = jobs[job];
        let (name, words) = &read[file];
        words.as_ref().ok().map(|words| judge(name, words, args.entry.as_deref(), &compilers[compiler_index], settings))
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs.len() {
                        return;
                    }
                    let judgement = judge_job(job);
                    let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    done.waiting.insert(job, judgement);
                    // Reports are in the order of the files.
                    while let Some(judgement) = {
                        let at = done.printed;
                        done.waiting.remove(&at)
                    } {
                        let (file, compiler_index) = jobs[done.printed];
                        done.printed += 1;
                        bar.set_position(done.printed as u64);
                        let (name, words) = &read[file];
                        let report = Report { args, name, compiler: &compilers[compiler_index] };
                        match (judgement, words) {
                            (Some(judgement), _) => {
                                bar.suspend(|| report.print(&judgement, done.printed));
                                done.count(compiler_index, &judgement);
                            }
                            (None, Err((code, message))) if compiler_index == 0 => {
                                bar.suspend(|| report.print_unread(*code, message));
                                done.code = exit::worse(done.code, *code);
                            }
                            (None, _) => {}
                        }
                        bar.set_message(format!("{} wrong", done.wrong));
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    let done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.report(args, &compilers, read.len());
    Ok(done.code)
}

/// The modules at a path: a file that was named, or the modules in a folder and its subfolders, by
/// their names.
fn collect(path: &Path, is_named: bool, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        let language = path.to_str().and_then(Language::of_name);
        if is_named || matches!(language, Some(Language::Words | Language::Assembly | Language::Wgsl)) {
            paths.push(path.to_path_buf());
        }
        return Ok(());
    }
    let unread = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut entries = std::fs::read_dir(path).map_err(unread)?.collect::<Result<Vec<_>, _>>().map_err(unread)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    // A symbolic link to a folder may form a cycle.
    let is_no_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    entries.iter().filter(|entry| is_no_link(entry)).try_for_each(|entry| collect(&entry.path(), false, paths))
}

fn words(args: &Compare, path: &Path) -> Result<Vec<u32>, exit::Failure> {
    let unread = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
    args.reading.program(path)?.made_of_module().and_then(|program| program.words()).map_err(unread)
}

/// The judgements so far.
#[derive(Default)]
struct Judgements {
    /// Judgements that wait for earlier ones to be printed.
    waiting: BTreeMap<usize, Option<Judgement>>,
    printed: usize,
    wrong: u64,
    code: u8,
    /// The number of programs, by compiler and verdict.
    counts: BTreeMap<(usize, Status), u64>,
    /// The number of programs, by compiler, verdict and cause.
    causes: BTreeMap<(usize, Status, String), u64>,
    inputs: u64,
    /// The number of other messages, by compiler.
    notes: BTreeMap<(usize, String), u64>,
}

impl Judgements {
    fn count(&mut self, compiler_index: usize, judgement: &Judgement) {
        let status = judgement.status;
        *self.counts.entry((compiler_index, status)).or_default() += 1;
        if !judgement.cause.is_empty() {
            *self.causes.entry((compiler_index, status, judgement.group())).or_default() += 1;
        }
        for note in &judgement.notes {
            *self.notes.entry((compiler_index, note.clone())).or_default() += 1;
        }
        self.inputs += judgement.inputs;
        self.wrong += u64::from(status.is_wrong());
        self.code = exit::worse(self.code, code(status));
    }

    fn report(&self, args: &Compare, compilers: &[Compiler], files: usize) {
        let counts_of =
            |compiler_index: usize| Status::ALL.into_iter().filter_map(move |v| self.counts.get(&(compiler_index, v)).map(|n| (v, *n)));
        if args.json {
            let compilers: Vec<Value> = (compilers.iter().enumerate())
                .map(|(compiler_index, compiler)| {
                    let verdicts: serde_json::Map<_, _> =
                        counts_of(compiler_index).map(|(v, n)| (v.name().to_string(), json!(n))).collect();
                    let own_causes = self.causes.iter().filter(|((index, ..), _)| *index == compiler_index);
                    let causes: Vec<Value> =
                        own_causes.map(|((_, v, cause), n)| json!({"verdict": v.name(), "cause": cause, "modules": n})).collect();
                    json!({"compiler": compiler.name(), "version": compiler.version(), "verdicts": verdicts, "causes": causes})
                })
                .collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "modules": files, "inputs": self.inputs, "compilers": compilers, "exit": self.code})
            );
            return;
        }
        say!("{files} modules, {} inputs", self.inputs);
        for (compiler_index, compiler) in compilers.iter().enumerate() {
            let counts: Vec<String> = counts_of(compiler_index).map(|(verdict, n)| format!("{} {n}", verdict.name())).collect();
            say!("{}: {}", compiler.name(), if counts.is_empty() { "nothing was judged".into() } else { counts.join(", ") });
            let mut own_causes: Vec<_> = self.causes.iter().filter(|((index, ..), _)| *index == compiler_index).collect();
            own_causes.sort_by_key(|((_, verdict, _), n)| (*verdict, std::cmp::Reverse(**n)));
            for ((_, verdict, cause), n) in own_causes {
                say!("  {}: {n}: {cause}", verdict.name());
            }
            for ((_, note), n) in self.notes.iter().filter(|((index, _), _)| *index == compiler_index) {
                say!("  note: {n}: {note}");
            }
        }
    }
}

/// The exit code of a status. A refusal leaves a module unchecked.
pub(super) fn code(status: Status) -> u8 {
    match status {
        Status::Agrees => exit::DONE,
        Status::Miscompiles | Status::Invalid => exit::DISAGREE,
        Status::Crashes | Status::TimesOut => exit::FAILED,
        Status::Refuses | Status::Undecided | Status::Vacuous | Status::Unchecked => exit::UNCHECKED,
    }
}

/// The report on one module and one compiler.
struct Report<'a> {
    args: &'a Compare,
    name: &'a str,
    compiler: &'a Compiler,
}

impl Report<'_> {
    fn print_unread(&self, code: u8, message: &str) {
        if self.args.json {
            say!("{}", json!({"schema": 1, "kind": "module", "file": self.name, "error": {"message": message}, "exit": code}));
        } else {
            tell!("{message}");
        }
    }

    fn print(&self, judgement: &Judgement, number: usize) {
        let saved = match (&self.args.save, judgement.status.is_wrong(), &judgement.words) {
            (Some(folder), true, Some(words)) => Some(self.save_words(folder, number, words)),
            _ => None,
        };
        if self.args.json {
            let found = judgement.disagreement.as_ref().map(|found| {
                json!({"entry": found.entry, "input": found.index, "what": found.disagreement.what, "before": found.disagreement.before,
                    "after": found.disagreement.after, "arguments": found.arguments})
            });
            let saved = saved.as_ref().and_then(|saved| saved.as_ref().ok());
            say!(
                "{}",
                json!({"schema": 1, "kind": "module", "file": self.name, "compiler": self.compiler.name(), "verdict": judgement.status.name(),
                    "cause": judgement.cause, "notes": judgement.notes, "inputs": judgement.inputs, "agree": judgement.agree, "disagreement": found, "saved": saved})
            );
            return;
        }
        if judgement.status == Status::Agrees {
            return;
        }
        say!("{} via {}: {}: {}", self.name, self.compiler.name(), judgement.status.name(), judgement.cause);
        if let Some(found) = &judgement.disagreement {
            let entry = found.entry.as_ref().map(|name| format!(", entry point {name}")).unwrap_or_default();
            say!("  input {} of seed {}{entry}", found.index, self.args.seed);
            for (side, text) in [("the module", &found.disagreement.before), ("what the compiler writes", &found.disagreement.after)] {
                say!("  {side}: {}", text.replace('\n', "\n  "));
            }
            say!("  minimal input: {}", found.arguments.join(" "));
        }
        match saved {
            Some(Ok(path)) => say!("  written to {path}"),
            Some(Err(e)) => tell!("  {e}"),
            None => {}
        }
    }

    /// Writes the words of a compiler to a file of their own. Returns its path.
    fn save_words(&self, folder: &Path, number: usize, words: &[u32]) -> Result<String, String> {
        let stem = Path::new(self.name).file_stem().map_or("module".into(), |stem| stem.to_string_lossy().into_owned());
        let path = folder.join(format!("{stem}-{number}.spv"));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
        written.map(|()| path.display().to_string()).map_err(|e| format!("{}: {e}", path.display()))
    }
}
