//! The README's reference of builtins is the table's. `SPEC_BLESS=1 cargo test --test readme`
//! writes it. Its samples show what the program shows, and the commands of its tour are such that
//! the program takes.

mod common;

use common::command::smallstep;
use smallstep_semantics::lambda_v::builtin::reference_table;

const BEGIN: &str = "<!-- builtins: printed from the table by the test that checks it -->\n";
const END: &str = "<!-- /builtins -->";

fn readme() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("the README is there")
}

/// The words of a command line as a shell reads them, where no word holds a quote.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (i, part) in line.trim().split(['\'', '"']).enumerate() {
        let last = words.last_mut().expect("there is one");
        if i % 2 == 1 {
            last.push_str(part);
            continue;
        }
        let mut pieces = part.split(' ');
        last.push_str(pieces.next().unwrap_or_default());
        words.extend(pieces.map(String::from));
    }
    words.retain(|word| !word.is_empty());
    words
}

fn run(command: &str) -> common::command::Shown {
    let words = words(command);
    assert_eq!(words[0], "smallstep", "{command}");
    smallstep(&words[1..].iter().map(String::as_str).collect::<Vec<_>>(), "")
}

/// Below `$ smallstep …` stand the first lines of what it shows; `…` stands for the rest of a line.
#[test]
fn samples_show_what_the_program_shows() {
    let readme = readme();
    let mut samples = 0;
    for block in readme.split("```").skip(1).step_by(2) {
        let mut lines = block.lines().skip(1).peekable();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ").filter(|command| command.starts_with("smallstep ")) else { continue };
            samples += 1;
            let shown = run(command);
            let mut found = shown.out.lines();
            while let Some(expected) = lines.next_if(|line| !line.starts_with("$ ")) {
                let found = found.next().unwrap_or_default();
                let is_shown = match expected.split_once('…') {
                    Some((before, _)) => found.starts_with(before),
                    None => found == expected,
                };
                assert!(is_shown, "{command}\nREADME: {expected}\nshown:  {found}\n{}", shown.err);
            }
        }
    }
    assert!(samples >= 4, "{samples} samples");
}

/// What README says in a line, in code. A command with an example for its file does what it says,
/// and every option that a command is given is one of its.
#[test]
fn commands_in_the_text_are_such_that_the_program_takes() {
    let readme = readme();
    let (mut ran, mut asked) = (0, 0);
    let mut outside = String::new();
    for (i, part) in readme.split("```").enumerate() {
        if i % 2 == 0 {
            outside.push_str(part);
        }
    }
    for code in outside.split('`').skip(1).step_by(2).filter(|code| code.starts_with("smallstep ")) {
        let command = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words(&command);
        let help = smallstep(&[&words[1], "--help"], "");
        assert_eq!(help.code, 0, "{command}: {}", help.err);
        for option in words.iter().filter(|word| word.starts_with("--")) {
            let option = option.split('=').next().unwrap_or(option).trim_end_matches(']');
            let is_there = help.out.split_whitespace().any(|word| word.trim_end_matches([',', ']']).trim_start_matches('[') == option);
            assert!(is_there, "{command}: {} has no {option}", words[1]);
            asked += 1;
        }
        if words[2..].iter().any(|word| word.starts_with("examples/wsl/")) {
            let shown = run(&command);
            assert_eq!(shown.code, 0, "{command}: {}{}", shown.out, shown.err);
            ran += 1;
        }
    }
    assert!(ran >= 2 && asked >= 20, "{ran} commands, {asked} options");
}

#[test]
fn the_reference_of_builtins_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("the README is there");
    let (before, rest) = readme.split_once(BEGIN).expect("the README marks where the builtins begin");
    let (found, after) = rest.split_once(END).expect("and where they end");
    let expected = reference_table();
    if std::env::var_os("SPEC_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("the README is written");
        return;
    }
    pretty_assertions::assert_str_eq!(found, expected, "bless it: SPEC_BLESS=1 cargo test --test readme");
}
