//! The arrows of ARCHITECTURE.md: no room of the library names one that they do not lead to. Every
//! invariant of that page names tests, and these and the ones that CONTRIBUTING.md names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each room, those that arrows lead to from it, in any number of steps.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The sentence of the page: chains `a → {b, c} → d`, with `;` between them.
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

/// Every room that a file names after this prefix.
fn named(text: &str, prefix: &str) -> BTreeSet<String> {
    let room = |after: &str| after.split(|c: char| c != '_' && !c.is_ascii_lowercase()).next().unwrap_or_default().to_string();
    text.match_indices(prefix).map(|(at, _)| room(&text[at + prefix.len()..])).collect()
}

/// Which room names which, with a file that does so; of the command line, what it
/// names of the library.
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

/// What no arrow allows: `from → to (file)`.
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

/// The rows of the tables of invariants whose second column names no test, nor
/// what else holds them.
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
