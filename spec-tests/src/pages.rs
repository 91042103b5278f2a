//! `RULES.md`: the registry as a page, with the cases of each rule.

use crate::file::CaseFile;
use smallstep_semantics::rule::{Judgement, Rule};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where the page is.
pub fn rules_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../semantics/RULES.md")
}

/// The cases that say that they fire a rule, and those that nearly do: by `rules`, and by `not-rules` or an error of that name.
pub fn cases_of(rule: Rule, files: &[CaseFile]) -> (Vec<&str>, Vec<&str>) {
    let names = |of: &dyn Fn(&CaseFile) -> bool| files.iter().filter(|f| of(f)).map(|f| f.name.as_str()).collect();
    let firing = names(&|f| f.rules.iter().any(|(_, r)| *r == rule));
    let near = names(&|f| f.not_rules.iter().any(|(_, r)| *r == rule) || f.errors.iter().any(|e| e.code == rule.name()));
    (firing, near)
}

/// The page.
pub fn rules_page(files: &[CaseFile]) -> String {
    let mut out = String::from(
        "# Rules\n\n\
         Printed from `semantics/src/rule.rs` and the cases of `spec-tests/`; `SPEC_BLESS=1 cargo test -p smallstep-spec-tests --test pages`\n\
         writes it again. Sources: 000 is the λV report, LV-n an entry of [ERRATA.md](ERRATA.md). A rule's Rust item is below\n\
         `semantics/src`, or, if it begins with `compile`, below `src`. Cases after a dash nearly fire the rule and do not.\n",
    );
    for judgement in Judgement::ALL {
        let _ = write!(out, "\n## {}\n\n| rule | statement | source | item | cases |\n|---|---|---|---|---|\n", judgement.form());
        for rule in Rule::ALL.iter().copied().filter(|r| r.judgement() == judgement) {
            let (firing, near) = cases_of(rule, files);
            let near = if near.is_empty() { String::new() } else { format!(" — {}", near.join(", ")) };
            let statement = rule.statement().replace('|', "\\|");
            let _ = writeln!(out, "| `{rule}` | {statement} | {} | `{}` | {}{near} |", rule.source(), rule.item(), firing.join(", "));
        }
    }
    out
}
