//! The arrows of ARCHITECTURE.md: no room of the library names a room that its arrows do not lead
//! to. Every invariant on that page names tests. These tests and the tests that CONTRIBUTING.md
//! names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each room, the rooms that arrows lead to in any number of steps.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Reads the sentence of the page: chains `a → {b, c} → d`, separated by `;`.
fn arrows(page: &str) -> Arrows {
    let (_, rest) = page.split_once("Arrows point one way:").expect("the page has the sentence");
    let (sentence, _) = rest.split_once('.').expect("it ends");
    let mut arrows = Arrows::new();
    for chain in sentence.split(';') {
        let rooms_of =
            |link: &str| -> Vec<String> { link.trim().trim_matches(['{', '}']).split(',').map(|room| room.trim().to_string()).collect() };
        let links: Vec<Vec<String>> = chain.split('→').map(rooms_of).collect();
        for (from, to) in links.windows(2).flat_map(|pair| pair[0].iter().map(|from| (from, &pair[1]))) {
            arrows.entry(from.clone()).or_default().extend(to.iter().cloned());
        }
    }
    loop {
        let before = arrows.clone();
        for led_to in arrows.values_mut() {
            let farther: Vec<String> = led_to.iter().filter_map(|room| before.get(room)).flatten().cloned().collect();
            led_to.extend(farther);
        }
        if arrows == before {
            return arrows;
        }
    }
}

/// The rooms that a text names after this prefix.
fn named(text: &str, prefix: &str) -> BTreeSet<String> {
    let room = |after: &str| after.split(|c: char| c != '_' && !c.is_ascii_lowercase()).next().unwrap_or_default().to_string();
    text.match_indices(prefix).map(|(at, _)| room(&text[at + prefix.len()..])).collect()
}

/// The pairs of a room and a room that it names, each with a file. For the command line, the rooms
/// of the library that it names.
fn uses() -> BTreeMap<(String, String), String> {
    fn visit(path: &Path, room: &str, uses: &mut BTreeMap<(String, String), String>) {
        if path.is_dir() {
            for entry in fs::read_dir(path).expect("it is read") {
                visit(&entry.expect("an entry").path(), room, uses);
            }
            return;
        }
        let prefix = if room == "cli" { "smallstep::" } else { "crate::" };
        for other in named(&fs::read_to_string(path).expect("it is text"), prefix).into_iter().filter(|other| other != room) {
            uses.insert((room.into(), other), path.display().to_string());
        }
    }
    let mut uses = BTreeMap::new();
    for entry in fs::read_dir("src").expect("it is read") {
        let path = entry.expect("an entry").path();
        let room = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if !["lib", "main"].contains(&room.as_str()) {
            visit(&path, &room, &mut uses);
        }
    }
    uses
}

/// The uses that no arrow allows, as `from → to (file)`.
fn against(arrows: &Arrows) -> Vec<String> {
    let allowed = |from: &String, to: &String| arrows.get(from).is_some_and(|led_to| led_to.contains(to));
    uses().iter().filter(|((from, to), _)| !allowed(from, to)).map(|((from, to), file)| format!("{from} → {to} ({file})")).collect()
}

#[test]
fn rooms_name_only_what_their_arrows_lead_to() {
    let page = include_str!("../ARCHITECTURE.md");
    let arrows = arrows(page);
    assert!(arrows.iter().all(|(from, led_to)| !led_to.contains(from)), "they point one way: {arrows:?}");
    assert_eq!(against(&arrows), Vec::<String>::new());
}

#[test]
fn a_use_against_the_arrows_is_seen() {
    let turned = arrows("Arrows point one way: cli → robust → vectors → theorem → run → {compute, generate} → gpu.");
    let seen = against(&turned);
    assert!(seen.iter().any(|line| line.starts_with("run → theorem (src/run/")), "{seen:?}");
    assert!(seen.iter().all(|line| !line.starts_with("theorem → compute ")), "{seen:?}");
}

/// The tests that a page names in code, as `tests/architecture.rs::a_test`.
fn named_tests(page: &str) -> Vec<(&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::").filter(|(file, _)| file.ends_with(".rs"))).collect()
}

/// Whether a file has a test of that name.
fn has_test(file: &str, name: &str) -> bool {
    let Ok(text) = fs::read_to_string(file) else { return false };
    let of_tests = text.split("#[test]").skip(1);
    of_tests.filter_map(|after| after.split_once("fn ")).any(|(_, rest)| rest.split('(').next() == Some(name))
}

/// The tests that a page names and that no file has.
fn missing_tests(page: &str) -> Vec<String> {
    named_tests(page).into_iter().filter(|(file, name)| !has_test(file, name)).map(|(file, name)| format!("{file}::{name}")).collect()
}

/// The rows of the tables of invariants whose second column names neither a test nor the
/// type checker.
fn unheld(page: &str) -> Vec<&str> {
    let (_, invariants) = page.split_once("## Invariants").expect("the page has invariants");
    let (invariants, _) = invariants.split_once("\n## ").expect("another section follows");
    let rows = invariants.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| invariant |"));
    let is_held = |by: &str| !named_tests(by).is_empty() || by.contains("type checker");
    rows.filter(|row| !row.trim_end_matches(" |").rsplit_once(" | ").is_some_and(|(_, by)| is_held(by))).collect()
}

#[test]
fn every_test_that_the_pages_name_exists() {
    let architecture = include_str!("../ARCHITECTURE.md");
    assert_eq!(missing_tests(architecture), Vec::<String>::new());
    assert_eq!(missing_tests(include_str!("../CONTRIBUTING.md")), Vec::<String>::new());
    assert!(named_tests(architecture).len() >= 60, "{} tests", named_tests(architecture).len());
    assert_eq!(unheld(architecture), Vec::<&str>::new());
}

#[test]
fn a_test_that_is_not_there_is_seen() {
    let page = "`tests/architecture.rs::a_test_that_is_not_there_is_seen`, `tests/architecture.rs::has_test`, `tests/none.rs::some`";
    assert_eq!(missing_tests(page), ["tests/architecture.rs::has_test", "tests/none.rs::some"]);
    let table = "## Invariants\n| invariant | held by |\n|---|---|\n| one | `tests/a.rs::b` |\n| two | `tests/a.rs` |\n\n## Verdicts\n";
    assert_eq!(unheld(table), ["| two | `tests/a.rs` |"]);
}

/// Every Rust file below a folder, without the command line, which is no library.
fn sources(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("it is read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path != Path::new("src/cli") {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push((path.display().to_string(), fs::read_to_string(&path).expect("it is text")));
        }
    }
}

/// The sources of the library crates.
fn libraries() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["src", "semantics/src", "generate/src"] {
        sources(Path::new(folder), &mut files);
    }
    files
}

/// Whether a `Result` in a signature without whitespace has the error type `String`.
fn has_string_error(signature: &str) -> bool {
    signature.match_indices("Result<").any(|(at, found)| {
        // A comma may follow the last argument.
        let (mut depth, mut last, mut ended) = (1, String::new(), false);
        for (before, c) in signature[at + found.len() - 1..].chars().zip(signature[at + found.len()..].chars()) {
            depth += match c {
                '<' | '(' | '[' => 1,
                '>' if before == '-' => 0,
                '>' | ')' | ']' => -1,
                _ => 0,
            };
            match c {
                _ if depth == 0 => break,
                ',' if depth == 1 => ended = true,
                _ => {
                    if std::mem::take(&mut ended) {
                        last.clear();
                    }
                    last.push(c);
                }
            }
        }
        last == "String"
    })
}

/// The public functions and types of a text whose error is a `String`. Methods of public traits and
/// `FromStr` implementations count too.
fn string_errors(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    let mut read = |text: &str, start: &str| {
        for (at, _) in text.match_indices(start) {
            let signature: String = text[at..].chars().take_while(|&c| c != '{' && c != ';').collect();
            if has_string_error(&signature.split_whitespace().collect::<String>()) {
                found.push(signature.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    };
    for start in ["pub fn ", "pub const fn ", "pub async fn ", "pub type "] {
        read(&code, start);
    }
    for (at, _) in code.match_indices("\npub trait ") {
        read(code[at..].split("\n}").next().unwrap_or_default(), " fn ");
    }
    found.extend(code.lines().map(str::trim).filter(|line| *line == "type Err = String;").map(str::to_string));
    found
}

/// The error types of a text without `#[non_exhaustive]`, to which no variant or field can be
/// added later.
fn exhaustive_errors(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.split_once("Error for ").filter(|(before, _)| before.starts_with("impl")));
    let names = names.map(|(_, rest)| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
    let is_open = |name: &&str| {
        let declared = |line: &str| {
            let rest = ["pub struct ", "pub enum "].iter().find_map(|start| line.strip_prefix(start));
            rest.is_some_and(|rest| rest.split(|c: char| !c.is_alphanumeric()).next() == Some(name))
        };
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| declared(line));
        // A type that is declared in another way is not public.
        at.is_none_or(|at| lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| *line == "#[non_exhaustive]"))
    };
    names.filter(|name| !is_open(name)).map(str::to_string).collect()
}

/// The findings in all files of the libraries, each with its file.
fn in_libraries(found: fn(&str) -> Vec<String>) -> Vec<String> {
    let of_file = |(file, text): (String, String)| found(&text).into_iter().map(move |what| format!("{file}: {what}"));
    libraries().into_iter().flat_map(of_file).collect()
}

#[test]
fn no_public_function_has_a_sentence_for_an_error() {
    assert_eq!(in_libraries(string_errors), Vec::<String>::new());
}

#[test]
fn every_error_may_get_other_kinds() {
    assert_eq!(in_libraries(exhaustive_errors), Vec::<String>::new());
}

#[test]
fn errors_that_are_sentences_or_closed_are_seen() {
    let planted = "
        pub fn one(text: &str) -> Result<u32, String> {}
        // pub fn none(text: &str) -> Result<u32, String> {}
        fn own(text: &str) -> Result<u32, String> {}
        pub fn right(text: &str) -> Result<(u32, String), Unfit> {}
        pub fn list(text: &str) -> Result<Vec<String>, Unfit> {}
        pub fn several(
            text: &str,
        ) -> Result<
            (u32, Vec<u8>),
            String,
        > {}
        pub fn within(read: &dyn Fn(&str) -> Result<Box<dyn Fn() -> u32>, String>) {}
        pub type Answer = Result<(), String>;
            type Err = String;
\npub trait Shown {\n    fn shown(&self) -> Result<(), String>;\n}";
    let found = string_errors(planted);
    let named = |name: &&str| found.iter().any(|signature| signature.contains(name));
    assert!(["fn one", "fn several", "fn within", "type Answer", "type Err", "fn shown"].iter().all(named), "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");
    let closed = "#[derive(Debug)]\npub enum Closed {}\nimpl std::error::Error for Closed {}\n#[non_exhaustive]\npub struct Open(pub u32);\n\
        impl Error for Open {}\n";
    assert_eq!(exhaustive_errors(closed), ["Closed"]);
}
