//! The pages show what the program prints. Every fenced block that shows a command is
//!
//! - `console`: each `$ ` line is run, and the lines below it are what it prints, standard output
//!   before standard error;
//! - `console slow`, `console device` or `console network`: the command takes more than a few
//!   seconds, needs a device, or needs the network. It is counted, its options are looked up, and
//!   it is not run, unless `SMALLSTEP_PAGES=device,slow` asks for its mark.
//!
//! A line `…` stands for any number of lines, and `…` in a line for any text. Commands are
//! `smallstep …`, `echo 'TEXT' | smallstep …`, `cat FILE` and `echo $?`, the last exit code. A
//! command that ends in `\` continues on the next line. Each page has its own empty folder with the
//! repository's `examples` and `spec-tests`, where its commands run. They see no device.
//!
//! A command in code outside of blocks must name an existing subcommand and existing options. A
//! `cargo test` or `cargo bench` there must exist too, and links must lead somewhere.
//!
//! `SPEC_BLESS=1 cargo test --test readme` writes the reference of builtins, and replaces each
//! wrong output by the right one as a whole.

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::command::smallstep;
use pretty_assertions::assert_eq;
use smallstep_semantics::lambda_v::builtin::reference_table;

/// The number of commands that the pages show: `run` is the commands that the test runs, the others
/// are counted by mark.
const COMMANDS: [(&str, usize); 3] = [("run", 88), ("device", 11), ("slow", 21)];

/// The maximum size of the README, in bytes.
const README: usize = 10_000;

/// The maximum length of a line outside of tables and blocks, in columns.
const COLUMNS: usize = 100;

/// The time limit of a command without a mark. It is long, since machines are busy.
const LIMIT: Duration = Duration::from_secs(120);

/// The marks of blocks that are not run.
const MARKS: [&str; 3] = ["slow", "device", "network"];

/// The folder of the pictures that the pages show.
const PICTURES: &str = "docs/pictures";

/// The folder of the pages about one finding each. The page of findings links to them.
const FINDINGS: &str = "docs/findings";

/// The languages of blocks that show no command.
const LANGUAGES: [&str; 4] = ["text", "lisp", "wsl", "json"];

/// Options of other programs, which the pages name without a command.
const OF_OTHERS: [&str; 5] =
    ["--vector-dce", "--loop-invariant-code-motion", "--simplify-instructions", "--ccp", "--eliminate-dead-inserts"];

const BEGIN: &str = "<!-- builtins: printed from the table by the test that checks it -->\n";
const END: &str = "<!-- /builtins -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A page: its path from the root of the repository, and its text.
struct Page {
    path: String,
    text: String,
}

impl Page {
    fn read(path: &str) -> Page {
        let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        Page { path: path.into(), text }
    }
}

fn pages() -> Vec<Page> {
    let mut paths: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(String::from).into();
    let docs = std::fs::read_dir(root().join("docs")).expect("there are docs");
    let mut of_docs: Vec<String> = docs.map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy())).collect();
    of_docs.retain(|path| path != PICTURES && path != FINDINGS);
    let findings = std::fs::read_dir(root().join(FINDINGS)).expect("there are findings");
    of_docs.extend(findings.map(|entry| format!("{FINDINGS}/{}", entry.expect("an entry").file_name().to_string_lossy())));
    of_docs.sort();
    assert!(of_docs.iter().all(|path| path.ends_with(".md")), "{of_docs:?}");
    paths.extend(of_docs);
    paths.iter().map(|path| Page::read(path)).collect()
}

/// A command on a page, with the output that the page shows.
#[derive(Debug)]
struct Sample {
    /// `PAGE:LINE`.
    place: String,
    /// The mark of its block, such as `slow`. `None` if the test runs the command.
    mark: Option<String>,
    command: String,
    expected: Vec<String>,
    /// The lines of the page that show the output, counted from 0.
    lines: std::ops::Range<usize>,
}

/// The commands in the blocks of a page, its text outside of blocks, and errors of the blocks.
#[derive(Debug, Default)]
struct Parts {
    samples: Vec<Sample>,
    outside: String,
    wrong: Vec<String>,
}

fn parts(page: &Page) -> Parts {
    let mut parts = Parts::default();
    let lines: Vec<&str> = page.text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let Some(info) = lines[at].strip_prefix("```") else {
            parts.outside.push_str(lines[at]);
            parts.outside.push('\n');
            at += 1;
            continue;
        };
        let place = format!("{}:{}", page.path, at + 1);
        let from = at + 1;
        let Some(length) = lines[from..].iter().position(|line| line.starts_with("```")) else {
            parts.wrong.push(format!("{place}: the block has no end"));
            break;
        };
        let to = from + length;
        at = to + 1;
        let mut words = info.split_whitespace();
        let (language, mark) = (words.next().unwrap_or_default(), words.next());
        let first = lines[from..to].iter().position(|line| line.starts_with("$ "));
        match (language, mark) {
            ("console", None) => {}
            ("console", Some(mark)) if MARKS.contains(&mark) => {}
            ("console", Some(mark)) => parts.wrong.push(format!("{place}: {mark} is no mark")),
            _ if !LANGUAGES.contains(&language) => parts.wrong.push(format!("{place}: {language:?} is no language of a block")),
            _ if first.is_some() => parts.wrong.push(format!("{place}: commands stand in blocks of the language console")),
            _ => continue,
        }
        if first != Some(0) {
            parts.wrong.push(format!("{place}: the block does not begin with a command"));
            continue;
        }
        let mut line = from;
        while line < to {
            let place = format!("{}:{}", page.path, line + 1);
            let mut command = lines[line].trim_start_matches("$ ").to_string();
            line += 1;
            while line < to && command.ends_with('\\') {
                command.pop();
                command.push_str(lines[line].trim_start());
                line += 1;
            }
            let below = line;
            line += lines[line..to].iter().position(|line| line.starts_with("$ ")).unwrap_or(to - line);
            let expected = lines[below..line].iter().map(|line| line.to_string()).collect();
            parts.samples.push(Sample { place, mark: mark.map(String::from), command, expected, lines: below..line });
        }
    }
    parts
}

/// Splits a command line into words as a shell does. No word may contain a quote.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (i, part) in line.trim().split(['\'', '"']).enumerate() {
        let last = words.last_mut().expect("there is one");
        if i % 2 == 1 {
            last.push_str(part);
            continue;
        }
        let mut pieces = part.split_whitespace();
        if part.starts_with(char::is_whitespace) {
            words.push(String::new());
        }
        if let Some(piece) = pieces.next() {
            words.last_mut().expect("there is one").push_str(piece);
        }
        words.extend(pieces.map(String::from));
        if part.ends_with(char::is_whitespace) {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A line that a page shows after a prompt.
#[derive(Debug, PartialEq)]
enum Typed {
    /// The program, with its arguments and its standard input.
    Program(Vec<String>, String),
    /// `cat FILE`.
    Cat(String),
    /// `echo $?`.
    Code,
}

/// Parses a command. `None` if this test cannot run it.
fn typed(command: &str) -> Option<Typed> {
    if command == "echo $?" {
        return Some(Typed::Code);
    }
    if let Some(file) = command.strip_prefix("cat ") {
        return Some(Typed::Cat(file.into()));
    }
    if let Some((text, command)) = command.strip_prefix("echo '").and_then(|rest| rest.split_once("' | smallstep ")) {
        return Some(Typed::Program(words(command), format!("{text}\n")));
    }
    command.strip_prefix("smallstep ").map(|rest| Typed::Program(words(rest), String::new()))
}

/// The folder in which the commands of a page run, and the last exit code.
struct Folder {
    folder: tempfile::TempDir,
    code: i32,
}

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("there is room");
        for name in ["examples", "spec-tests"] {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
        }
        Folder { folder, code: 0 }
    }

    /// Runs a command, with or without devices. Returns its output. The error says why it cannot
    /// run or does not end.
    fn run(&mut self, command: &str, devices: bool) -> Result<String, String> {
        let cannot = "it cannot be run here: mark its block slow, device or network";
        match typed(command).ok_or(cannot)? {
            Typed::Code => Ok(format!("{}\n", self.code)),
            Typed::Cat(file) => std::fs::read_to_string(self.folder.path().join(file)).map_err(|e| e.to_string()),
            Typed::Program(arguments, input) => self.program(&arguments, &input, devices),
        }
    }

    /// Runs the program. Without devices it prints the same on every machine.
    fn program(&mut self, arguments: &[String], input: &str, devices: bool) -> Result<String, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallstep"));
        if !devices {
            command.env("VK_DRIVER_FILES", "/dev/null").env("VK_ICD_FILENAMES", "/dev/null");
        }
        let mut child = command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        fn all(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                from.read_to_end(&mut bytes).expect("it is read");
                bytes
            })
        }
        let (out, err) = (all(child.stdout.take().expect("piped")), all(child.stderr.take().expect("piped")));
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                return Err(format!("it takes more than {} seconds: mark its block slow", LIMIT.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        self.code = status.code().ok_or("a signal ended it")?;
        let bytes = [out.join().expect("read"), err.join().expect("read")].concat();
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

/// Whether a line matches the expected line. `…` stands for any text.
fn is_line(expected: &str, found: &str) -> bool {
    let mut pieces = expected.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Whether the lines match the expected lines. A line `…` stands for any number of lines.
fn are_lines(expected: &[String], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((any, after)) if any == "…" => (0..=found.len()).any(|skipped| are_lines(after, &found[skipped..])),
        Some((line, after)) => found.split_first().is_some_and(|(first, rest)| is_line(line, first) && are_lines(after, rest)),
    }
}

/// Runs a sample and compares its output. The error says what is wrong, with the output if
/// it differs.
fn judged(sample: &Sample, folder: &mut Folder) -> Result<(), (String, Option<String>)> {
    let Sample { place, command, expected, .. } = sample;
    let printed = folder.run(command, sample.mark.is_some()).map_err(|why| (format!("{place}: {command}\n{why}"), None))?;
    if !expected.is_empty() && expected.iter().all(|line| line.chars().all(|c| c == '…')) {
        return Err((format!("{place}: {command}\nnothing of what it prints is shown"), None));
    }
    if are_lines(expected, &printed.lines().collect::<Vec<_>>()) {
        return Ok(());
    }
    let shown = expected.iter().map(|line| format!("  {line}\n")).collect::<String>();
    let found = printed.lines().map(|line| format!("  {line}\n")).collect::<String>();
    Err((format!("{place}: {command}\nthe page shows\n{shown}it prints\n{found}"), Some(printed)))
}

/// Whether the test runs a sample: it has no mark, or its mark is in `asked` and it shows output.
fn is_run(sample: &Sample, asked: &str) -> bool {
    let shows = sample.expected.iter().any(|line| line != "…") && typed(&sample.command).is_some();
    sample.mark.as_ref().is_none_or(|mark| asked.split(',').any(|word| word == mark) && shows)
}

/// The number of samples by mark.
fn counts(samples: &[Sample]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for sample in samples {
        *counts.entry(sample.mark.as_deref().unwrap_or("run")).or_default() += 1;
    }
    counts
}

/// The help of a subcommand. `None` if there is no such subcommand.
fn help(subcommand: &str) -> Option<String> {
    thread_local!(static KNOWN: RefCell<BTreeMap<String, Option<String>>> = RefCell::default());
    let ask = || {
        let shown = smallstep(&[subcommand, "--help"], "");
        (shown.code == 0).then_some(shown.out)
    };
    KNOWN.with_borrow_mut(|known| known.entry(subcommand.into()).or_insert_with(ask).clone())
}

/// The subcommands of the program.
fn subcommands() -> Vec<String> {
    let shown = smallstep(&["help"], "").out;
    let (_, rest) = shown.split_once("Commands:\n").expect("it has commands");
    let (list, _) = rest.split_once("\n\n").expect("they end");
    list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(String::from).collect()
}

fn has_option(help: &str, option: &str) -> bool {
    help.split_whitespace().any(|word| word.trim_matches(['[', ']', ',']) == option)
}

/// What is wrong with the names in a command: the subcommand or an option does not exist.
fn misnamed(command: &str) -> Option<String> {
    let words = words(command);
    let rest = &words[words.iter().position(|word| word == "smallstep")? + 1..];
    let subcommand = rest.first().filter(|subcommand| *subcommand != "help")?;
    let Some(help) = help(subcommand) else { return Some(format!("{command}: there is no {subcommand}")) };
    for option in rest.iter().filter(|word| word.starts_with("--") && word.len() > 2 || *word == "-o") {
        let option = option.split('=').next().unwrap_or(option).trim_end_matches(']');
        if !has_option(&help, option) {
            return Some(format!("{command}: {subcommand} has no {option}"));
        }
    }
    None
}

/// What is wrong with a command of cargo: its test, benchmark or package does not exist.
fn misbuilt(command: &str) -> Option<String> {
    let words = words(command);
    let cargo = words.iter().position(|word| word == "cargo")?;
    let after = |option: &str| words[cargo..].iter().skip_while(|word| *word != option).nth(1);
    let package = match after("-p").map(String::as_str) {
        None => "",
        Some("smallstep-semantics") => "semantics",
        Some("smallstep-spec-tests") => "spec-tests",
        Some(other) => return Some(format!("{command}: there is no package {other}")),
    };
    for (option, folder) in [("--test", "tests"), ("--bench", "benches")] {
        let Some(name) = after(option).filter(|name| *name != "NAME") else { continue };
        let folder = root().join(package).join(folder);
        if ![format!("{name}.rs"), format!("{name}/main.rs")].iter().any(|file| folder.join(file).is_file()) {
            return Some(format!("{command}: there is no {name} in {}", folder.display()));
        }
    }
    None
}

/// The code in a text, between single backticks.
fn code(outside: &str) -> Vec<String> {
    outside.split('`').skip(1).step_by(2).map(|code| code.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The number of commands and options that a page names outside of blocks, and a line for each
/// mistake in them.
fn named(page: &Page, outside: &str) -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    if outside.matches('`').count() % 2 == 1 {
        wrong.push("a backtick has no other".to_string());
    }
    for code in code(outside) {
        if code.split(' ').any(|word| word == "smallstep") && code.contains(' ') {
            count += 1;
            wrong.extend(misnamed(&code));
        } else if let Some(option) = code.split([' ', '=']).next().filter(|word| word.starts_with("--")) {
            count += 1;
            let is_there =
                OF_OTHERS.contains(&option) || subcommands().iter().filter_map(|name| help(name)).any(|help| has_option(&help, option));
            wrong.extend((!is_there).then(|| format!("no subcommand has {option}")));
        }
        wrong.extend(misbuilt(&code));
    }
    (count, wrong.into_iter().map(|what| format!("{}: {what}", page.path)).collect())
}

/// The anchors of a page's headings, made from their titles.
fn anchors(text: &str) -> Vec<String> {
    let is_kept = |c: &char| c.is_alphanumeric() || *c == '-' || *c == ' ' || *c == '_';
    let titles = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles.map(|title| title.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-")).collect()
}

/// The links of a page that lead nowhere.
fn broken(page: &Page, outside: &str) -> Vec<String> {
    let prose: String = outside.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let folder = Path::new(&page.path).parent().expect("a page is a file");
    let mut wrong = Vec::new();
    for (at, _) in prose.match_indices("](") {
        let target = prose[at + 2..].split(')').next().unwrap_or_default();
        if target.starts_with("http") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path: PathBuf = if file.is_empty() { root().join(&page.path) } else { root().join(folder).join(file) };
        let is_there = match anchor {
            "" => path.exists(),
            _ if file.is_empty() => anchors(&page.text).iter().any(|there| there == anchor),
            _ => std::fs::read_to_string(&path).is_ok_and(|text| anchors(&text).iter().any(|there| there == anchor)),
        };
        wrong.extend((!is_there).then(|| format!("{}: {target} leads nowhere", page.path)));
    }
    wrong
}

/// The lines outside of tables and blocks that are too long.
fn long(page: &Page, outside: &str) -> Vec<String> {
    let is_long = |line: &&str| !line.starts_with('|') && line.chars().count() > COLUMNS;
    outside.lines().filter(is_long).map(|line| format!("{}: over {COLUMNS} columns: {line}", page.path)).collect()
}

/// Checks a page without running its commands. Returns its parts, the number of commands named
/// outside of blocks, and what is wrong.
fn unrun(page: &Page) -> (Parts, usize, Vec<String>) {
    let parts = parts(page);
    let (named, mut wrong) = named(page, &parts.outside);
    wrong.extend(parts.wrong.iter().cloned());
    wrong.extend(broken(page, &parts.outside));
    wrong.extend(long(page, &parts.outside));
    for sample in &parts.samples {
        let what = misnamed(&sample.command).or_else(|| misbuilt(&sample.command));
        wrong.extend(what.map(|what| format!("{}: {what}", sample.place)));
        let could = typed(&sample.command).is_none_or(|typed| matches!(typed, Typed::Program(..)));
        if sample.mark.is_some() && !could {
            wrong.push(format!("{}: {} is marked and could be run", sample.place, sample.command));
        }
    }
    (parts, named, wrong)
}

/// Everything that is wrong with a page.
fn complaints(page: &Page) -> Vec<String> {
    let (parts, _, mut wrong) = unrun(page);
    let mut folder = Folder::new();
    for sample in parts.samples.iter().filter(|sample| sample.mark.is_none()) {
        wrong.extend(judged(sample, &mut folder).err().map(|(why, _)| why));
    }
    wrong
}

/// The page with the right output in place of each wrong one. `printed` has the output by the index
/// of the sample.
fn blessed(page: &Page, samples: &[Sample], printed: &BTreeMap<usize, String>) -> String {
    let mut lines: Vec<String> = page.text.lines().map(String::from).collect();
    for (i, sample) in samples.iter().enumerate().rev() {
        if let Some(printed) = printed.get(&i) {
            lines.splice(sample.lines.clone(), printed.lines().map(String::from));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn commands_print_what_the_pages_show() {
    let bless = std::env::var_os("SPEC_BLESS").is_some();
    let asked = std::env::var("SMALLSTEP_PAGES").unwrap_or_default();
    let (mut samples, mut wrong) = (Vec::new(), Vec::new());
    for page in pages() {
        let parts = parts(&page);
        let (mut folder, mut right) = (Folder::new(), BTreeMap::new());
        for (i, sample) in parts.samples.iter().enumerate().filter(|(_, sample)| is_run(sample, &asked)) {
            if let Err((why, printed)) = judged(sample, &mut folder) {
                if !bless || printed.is_none() {
                    wrong.push(why);
                }
                right.extend(printed.map(|printed| (i, printed)));
            }
        }
        if bless && !right.is_empty() {
            std::fs::write(root().join(&page.path), blessed(&page, &parts.samples, &right)).expect("the page is written");
        }
        samples.extend(parts.samples);
    }
    assert!(wrong.is_empty(), "{}\nbless it: SPEC_BLESS=1 cargo test --test readme", wrong.join("\n"));
    let expected: BTreeMap<&str, usize> = COMMANDS.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counts(&samples), expected, "a command was added, removed or marked: say so in COMMANDS");
}

#[test]
fn what_the_pages_name_is_there() {
    let (mut all, mut wrong) = (0, Vec::new());
    for page in pages() {
        let (_, named, what) = unrun(&page);
        all += named;
        wrong.extend(what);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all >= 60, "the pages name only {all} commands and options");
}

#[test]
fn the_readme_is_short_and_leads_to_every_page() {
    let readme = Page::read("README.md");
    assert!(readme.text.len() <= README, "README.md has {} bytes", readme.text.len());
    let (index, findings) = (Page::read("docs/README.md"), Page::read("docs/findings.md"));
    for page in pages().iter().filter(|page| page.path.starts_with("docs/") && page.path != index.path) {
        let name = page.path.trim_start_matches("docs/");
        let from = if page.path.starts_with(&format!("{FINDINGS}/")) { &findings } else { &index };
        assert!(from.text.contains(&format!("]({name})")), "{} does not lead to {name}", from.path);
    }
    assert!(readme.text.contains("](docs/README.md)") && readme.text.contains("](docs/glossary.md)"));
}

/// A page `README.md` with this text.
fn page(text: &str) -> Page {
    Page { path: "README.md".into(), text: text.into() }
}

#[test]
fn right_pages_are_right() {
    let right = [
        "```console\n$ smallstep call examples/wsl/values.wsl '1 / 0' 'at(7)'\nint unspecified\n…\n```\n",
        "```console\n$ smallstep call examples/wsl/values.wsl 'at(7)' \\\n    'median(3, 1, 2)'\nint …, 20, …\nint 2\n```\n",
        "```console\n$ echo '(+ 1 2)' | smallstep type -\nNum\n$ echo '(if 1 2 3)' | smallstep type -\nerror[lv/t-if]: …\n…\n$ echo $?\n2\n```\n",
        "```console\n$ cat examples/yellow.lv\n…\n(vec4 1.0 1.0 0.0 1.0)\n```\n",
        "```console slow\n$ cargo test --test readme\n…\n$ smallstep fuzz --count 1000000\n```\n",
        "```console device\n$ smallstep adapters\n0  some device\n```\n",
        "[a page](ARCHITECTURE.md), [itself](#a-title), `smallstep run FILE --values`,\n`cargo bench --bench theorem`, `--json`\n\n# A title\n",
        "```lisp\n(+ 1 2)\n```\n",
    ];
    for text in right {
        assert_eq!(complaints(&page(text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn wrong_pages_are_refused() {
    let call = "$ smallstep call examples/wsl/values.wsl 'at(7)' '1 / 0'";
    let wrong = [
        // The output of commands.
        (format!("```console\n{call}\nint one of 10, 20, 31\nint unspecified\n```\n"), "one of 10, 20, 3"),
        (format!("```console\n{call}\nint one of 10, 20, 30\n```\n"), "int unspecified"),
        (format!("```console\n{call}\nint one of 10, 20, 30\nint unspecified\nint 3\n```\n"), "int 3"),
        (format!("```console\n{call}\n```\n"), "int unspecified"),
        (format!("```console\n{call}\n…\n```\n"), "nothing of what it prints is shown"),
        (format!("```console\n{call}\n…\nint one of …\n```\n"), "int unspecified"),
        (format!("```console\n{call}\nint one of …, 40\n…\n```\n"), "int one of"),
        (format!("```console\n{call}\n…\nint unspecified\n$ echo $?\n1\n```\n"), "echo $?"),
        ("```console\n$ cat examples/yellow.lv\n(vec4 1.0 1.0 0.0 1.0)\n```\n".into(), "yellow"),
        ("```console\n$ cat examples/red.lv\n```\n".into(), "No such file"),
        // Marks.
        ("```console\n$ cargo test --workspace\n```\n".into(), "it cannot be run here: mark its block"),
        ("```console\n$ smallstep adapters\n0  some device\n```\n".into(), "no Vulkan adapter was found"),
        ("```console later\n$ smallstep adapters\n```\n".into(), "later is no mark"),
        ("```console slow\n$ echo $?\n0\n```\n".into(), "is marked and could be run"),
        // Blocks.
        ("```\n$ smallstep adapters\n```\n".into(), "is no language of a block"),
        ("```text\n$ smallstep adapters\n```\n".into(), "commands stand in blocks of the language console"),
        ("```console\nint 3\n```\n".into(), "does not begin with a command"),
        ("```console\n$ smallstep adapters\n".into(), "the block has no end"),
        // Names of subcommands, options and packages.
        ("`smallstep walk FILE`\n".into(), "there is no walk"),
        ("`smallstep run FILE --fast`\n".into(), "run has no --fast"),
        ("`--fast`\n".into(), "no subcommand has --fast"),
        ("```console slow\n$ smallstep run examples/yellow.lv --fast\n```\n".into(), "run has no --fast"),
        ("`cargo bench --bench nothing`\n".into(), "there is no nothing"),
        ("`cargo test -p other`\n".into(), "there is no package other"),
        ("a `backtick\n".into(), "a backtick has no other"),
        // Links and lines.
        ("[a page](docs/nothing.md)\n".into(), "docs/nothing.md leads nowhere"),
        ("[a page](ARCHITECTURE.md#nothing)\n".into(), "ARCHITECTURE.md#nothing leads nowhere"),
        ("[a title](#nothing)\n".into(), "#nothing leads nowhere"),
        ("word ".repeat(21), "over 100 columns"),
    ];
    for (text, part) in wrong {
        let found = complaints(&page(&text));
        assert!(found.iter().any(|what| what.contains(part)), "{text}\n{found:?} does not say {part:?}");
    }
}

#[test]
fn every_command_is_counted_by_its_mark() {
    let text = "```console\n$ smallstep adapters\n$ smallstep help\n```\n```console slow\n$ cargo test\n```\n```console device\n$ smallstep bench\n```\n";
    let counted = parts(&page(text));
    assert_eq!(counts(&counted.samples), BTreeMap::from([("run", 2), ("slow", 1), ("device", 1)]));
    assert_eq!(counts(&parts(&page(&text.replace("console slow", "console"))).samples), BTreeMap::from([("run", 3), ("device", 1)]));
}

#[test]
fn wrong_outputs_are_replaced_and_nothing_else() {
    let text = "a\n```console\n$ smallstep one\nold\nold\n$ smallstep two\n…\n```\nb\n";
    let samples = parts(&page(text)).samples;
    let right = BTreeMap::from([(0, "new\n".to_string())]);
    assert_eq!(blessed(&page(text), &samples, &right), text.replace("old\nold", "new"));
}

#[test]
fn the_reference_of_builtins_is_the_table() {
    let path = root().join("docs/lambda-v.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page marks where the builtins begin");
    let (found, after) = rest.split_once(END).expect("and where they end");
    let expected = reference_table();
    if std::env::var_os("SPEC_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("the page is written");
        return;
    }
    pretty_assertions::assert_str_eq!(found, expected, "bless it: SPEC_BLESS=1 cargo test --test readme");
}
