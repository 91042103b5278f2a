//! The registry names the function of each rule of WSL's text, and the comment of the function has
//! the rule.

use smallstep_generate::wsl as generate;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::parse::parse_with_rules;
use smallstep_semantics::wsl::print::print;
use std::collections::BTreeSet;

use crate::random::Random;

/// The file that has the module of a Rust item.
fn source(item: &str) -> String {
    let (module, _) = item.rsplit_once("::").expect("an item is in a module");
    let path = format!("{}/src/{}", env!("CARGO_MANIFEST_DIR"), module.replace("::", "/"));
    std::fs::read_to_string(format!("{path}.rs"))
        .or_else(|_| std::fs::read_to_string(format!("{path}/mod.rs")))
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn every_rule_of_text_is_the_function_that_the_registry_names() {
    let text = |r: &Rule| matches!(r.judgement(), Judgement::Lexing | Judgement::Grammar | Judgement::Desugaring);
    for rule in Rule::ALL.iter().copied().filter(text) {
        let source = source(rule.item());
        let name = rule.item().rsplit("::").next().expect("an item has a name");
        let function = source.find(&format!("fn {name}(")).unwrap_or_else(|| panic!("{rule}: no function {name}"));
        // The comment of the function states the rule and has its name.
        let comment = &source[source[..function].rfind("\n\n").unwrap_or(0)..function];
        assert!(comment.contains(&format!("[{rule}")), "{rule}: the comment of {name} is {comment}");
    }
}

#[test]
fn generated_trees_take_every_production() {
    let mut taken = BTreeSet::new();
    for seed in 0..300 {
        let mut random = Random(seed);
        taken.extend(parse_with_rules(&print(&generate::tree(&mut || random.next(), 100))).2);
    }
    for &rule in Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Grammar && **r != Rule::WslGNesting) {
        assert!(taken.contains(&rule), "{rule} is in no generated tree");
    }
}
