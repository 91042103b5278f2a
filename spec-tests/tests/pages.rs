//! `RULES.md` and `OPCODES.md` agree with the registry and the cases. `SPEC_BLESS=1` writes them.
//! `ERRATA.md` names only exhibits that exist.

use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::opcodes;
use smallstep_spec_tests::file::{CaseFile, Language};
use smallstep_spec_tests::literal::LITERALS;
use smallstep_spec_tests::pages::Counts;
use smallstep_spec_tests::run::{Engines, FileReport};
use smallstep_spec_tests::{pages, root, run};
use std::path::Path;

fn files() -> Vec<CaseFile> {
    let paths = run::collect(&root(), "").expect("the folders can be read");
    paths.iter().map(|path| CaseFile::read(&root(), path).unwrap_or_else(|e| panic!("{e}"))).collect()
}

/// Compares a page with its file, or writes the file. `name` is its path, for the message.
fn is_up_to_date(path: &Path, name: &str, page: &str) {
    if std::env::var_os("SPEC_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, page).expect("the page can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(found.as_str(), page).unified_diff().header(name, "registry and cases").to_string();
    assert!(diff.is_empty(), "\n{diff}\n  to bless: SPEC_BLESS=1 cargo test -p smallstep-spec-tests --test pages");
}

#[test]
fn the_page_of_rules_is_up_to_date() {
    is_up_to_date(&pages::rules_path(), "semantics/RULES.md", &pages::rules_page(&files()));
}

#[test]
fn the_page_of_opcodes_is_up_to_date() {
    let reports: Vec<FileReport> = files().iter().map(|file| run::run(file, &mut Engines::default())).collect();
    is_up_to_date(&pages::opcodes_path(), "semantics/OPCODES.md", &pages::opcodes_page(&reports));
}

#[test]
fn the_page_of_spirv_counts_the_opcodes() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spirv.md")).expect("the page can be read");
    let sentence = Counts::of(&opcodes::all()).sentence();
    assert!(page.replace('\n', " ").contains(&sentence), "docs/spirv.md does not say: {sentence}");
}

#[test]
fn the_errata_name_exhibits_that_exist() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(repository.join("semantics/ERRATA.md")).expect("the page can be read");
    let ids: Vec<u32> = text.lines().filter_map(|l| l.strip_prefix("## LV-")?.split_whitespace().next()?.parse().ok()).collect();
    let expected: Vec<u32> = (1..=ids.len() as u32).collect();
    assert_eq!(ids, expected, "the entries are numbered from 1 without gaps");
    let mut of_wsl: Vec<(char, u32)> = Vec::new();
    for entry in text.split("\n## ").skip(1) {
        let title = entry.lines().next().unwrap_or_default();
        if title.starts_with("LV-")
            || title.starts_with("WSL-")
            || title.starts_with("U-")
            || title.starts_with("C-")
            || title.starts_with("W-")
        {
            assert!(entry.contains("Exhibit"), "{title}: no exhibit");
        }
        if let Some(id) = title.strip_prefix("WSL-").and_then(|rest| rest.split_whitespace().next()) {
            let number = id[1..].parse().unwrap_or_else(|_| panic!("{title}: no letter and number"));
            of_wsl.push((id.chars().next().unwrap_or_default(), number));
        }
    }
    assert!(of_wsl.is_sorted_by(|a, b| a < b), "the entries of WSL are not in order: {of_wsl:?}");
    let of_uniformity: Vec<u32> = text.lines().filter_map(|l| l.strip_prefix("## U-")?.split_whitespace().next()?.parse().ok()).collect();
    let expected: Vec<u32> = (1..=of_uniformity.len() as u32).collect();
    assert_eq!(of_uniformity, expected, "the entries of the uniformity analysis are numbered from 1 without gaps");
    for &rule in Rule::ALL {
        for id in rule.source().split([';', ',', ' ']).filter_map(|word| word.strip_prefix("U-")) {
            let known = id.parse().is_ok_and(|id| of_uniformity.contains(&id));
            assert!(known, "{rule} names U-{id}, which is no entry");
        }
        for id in rule.source().split([';', ',', ' ']).filter_map(|word| word.strip_prefix("WSL-")) {
            let known = of_wsl.iter().any(|(letter, number)| format!("{letter}{number}") == id);
            assert!(known, "{rule} names WSL-{id}, which is no entry");
        }
    }
    let of_codegen: Vec<u32> = text.lines().filter_map(|l| l.strip_prefix("## C-")?.split_whitespace().next()?.parse().ok()).collect();
    let expected: Vec<u32> = (1..=of_codegen.len() as u32).collect();
    assert_eq!(of_codegen, expected, "the entries of the translation of WSL are numbered from 1 without gaps");
    for &rule in Rule::ALL.iter().filter(|rule| rule.judgement() == Judgement::Codegen) {
        for id in rule.source().split([';', ',', ' ']).filter_map(|word| word.strip_prefix("C-")) {
            let known = id.parse().is_ok_and(|id| of_codegen.contains(&id));
            assert!(known, "{rule} names C-{id}, which is no entry");
        }
    }
    let quoted: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let mut exhibits = 0;
    for name in quoted {
        if Language::of(name).is_some() {
            assert!(root().join(name).is_file(), "{name} is no case");
            exhibits += 1;
        }
        if let Some(variant) = name.strip_prefix("literal=") {
            assert!(LITERALS.iter().any(|l| l.name == variant), "{variant} is no literal variant");
        }
        if let Some((file, test)) = name.split_once("::").filter(|(file, _)| file.ends_with(".rs")) {
            let source = std::fs::read_to_string(repository.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(source.contains(&format!("fn {test}(")), "{file} has no test {test}");
        }
    }
    let entries = ids.len() + of_wsl.len() + of_uniformity.len() + of_codegen.len();
    assert!(exhibits >= entries, "{exhibits} exhibits for {entries} entries");
    for literal in LITERALS {
        assert!(text.contains(&format!("`literal={}`", literal.name)), "{} has no entry", literal.name);
    }
    for file in files().iter().filter(|f| {
        f.name.starts_with("theorem/lv-")
            || f.name.starts_with("wsl/wsl-")
            || f.name.starts_with("uniformity/u-")
            || f.name.starts_with("codegen/c-")
    }) {
        assert!(text.contains(&format!("`{}`", file.name)), "{} stands in no entry", file.name);
    }
}
