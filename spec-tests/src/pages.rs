//! The pages `RULES.md`, the registry of rules with the cases of each rule, and `OPCODES.md`, the
//! instructions with the cases that execute them.

use crate::file::CaseFile;
use crate::run::FileReport;
use smallstep_semantics::number::Instruction;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::opcodes::{self, Opcode, Treatment};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The path of the page of rules.
pub fn rules_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../semantics/RULES.md")
}

/// The path of the page of opcodes.
pub fn opcodes_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../semantics/OPCODES.md")
}

/// The names of the cases that fire a rule, and of its near-misses. The first name the rule in
/// `rules`. The second name it in `not-rules` or as the code of an error.
pub fn cases_of(rule: Rule, files: &[CaseFile]) -> (Vec<&str>, Vec<&str>) {
    let names = |of: &dyn Fn(&CaseFile) -> bool| files.iter().filter(|f| of(f)).map(|f| f.name.as_str()).collect();
    let firing = names(&|f| f.rules.iter().any(|(_, r)| *r == rule));
    let near = names(&|f| f.not_rules.iter().any(|(_, r)| *r == rule) || f.errors.iter().any(|e| e.code == rule.name()));
    (firing, near)
}

/// The text of the page of rules.
pub fn rules_page(files: &[CaseFile]) -> String {
    let mut out = String::from(
        "# Rules\n\n\
         Printed from `semantics/src/rule.rs` and the cases of `spec-tests/`; `SPEC_BLESS=1 cargo test -p smallstep-spec-tests --test pages`\n\
         writes it again. Sources: 000 is the λV report, 001 the uniformity analysis, 003 the mapping from HLSL to SPIR-V, 004 the WSL specification, LV-n, WSL-xn, U-n and C-n are entries of [ERRATA.md](ERRATA.md). A rule's Rust item is below\n\
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
    out += "\n## What seed 003 has and WSL has not\n\nEach cell without a counterpart, and the rule that rejects it.\n\n| | section | rejected by | case |\n|---|---|---|---|\n";
    for file in files.iter().filter(|file| file.name.starts_with("codegen/absent-")) {
        let what = file.text.lines().next().unwrap_or_default().trim_start_matches("// ").replace('|', "\\|");
        let mut rules: Vec<String> = file.errors.iter().map(|error| format!("`{}`", error.code)).collect();
        rules.dedup();
        let _ = writeln!(out, "| {what} | {} | {} | {} |", file.sources.join(", "), rules.join(", "), file.name);
    }
    out
}

/// The largest number of cases that the page names for an instruction.
const CASES: usize = 3;

/// The number of instructions of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Core instructions that have a rule.
    pub core: usize,
    /// Instructions of GLSL.std.450 that have a rule.
    pub extended: usize,
    /// Instructions of both sets that the lockstep machine compiles.
    pub lockstep: usize,
    /// Core instructions that are read when a module is loaded.
    pub declared: usize,
    /// Instructions of both sets that are refused.
    pub refused: usize,
}

impl Counts {
    /// Counts the instructions of the grammar.
    pub fn of(all: &[Opcode]) -> Counts {
        let mut counts = Counts::default();
        for opcode in all {
            match (&opcode.standing, opcode.instruction) {
                (Treatment::Executed(_), Instruction::Core(_)) => counts.core += 1,
                (Treatment::Executed(_), Instruction::Glsl(_)) => counts.extended += 1,
                (Treatment::Declared | Treatment::Specialized, _) => counts.declared += 1,
                (Treatment::Refused, _) => counts.refused += 1,
            }
            counts.lockstep += usize::from(opcode.lockstep);
        }
        counts
    }

    /// The sentence with these counts in OPCODES.md and docs/spirv.md.
    pub fn sentence(&self) -> String {
        let Counts { core, extended, lockstep, declared, refused } = self;
        format!(
            "{core} core instructions and {extended} of GLSL.std.450 have rules, {lockstep} of these {} are compiled by the lockstep machine, \
             {declared} are read at load, and {refused} are refused by name",
            core + extended
        )
    }
}

/// The cases that execute each instruction. Cases that execute fewer instructions come first.
pub fn executing(reports: &[FileReport]) -> BTreeMap<Instruction, Vec<&str>> {
    let mut ordered: Vec<&FileReport> = reports.iter().collect();
    ordered.sort_by_key(|r| (r.executed.len(), r.name.as_str()));
    let mut cases: BTreeMap<Instruction, Vec<&str>> = BTreeMap::new();
    for report in ordered {
        for &instruction in &report.executed {
            cases.entry(instruction).or_default().push(&report.name);
        }
    }
    cases
}

/// The text of the page of opcodes.
pub fn opcodes_page(reports: &[FileReport]) -> String {
    let (all, cases) = (opcodes::all(), executing(reports));
    let mut out = format!(
        "# Instructions\n\n\
         Printed from the grammar, the tables of the engines and the cases of `spec-tests/`;\n\
         `SPEC_BLESS=1 cargo test -p smallstep-spec-tests --test pages` writes it again. {}.\n\n\
         A rule's statement is in [RULES.md](RULES.md). Of the cases that execute an instruction by the relation, the {CASES} are named that execute the\n\
         fewest others. An instruction with a rule may still be refused for its types or operands, before anything runs.\n",
        Counts::of(&all).sentence()
    );
    let number = |opcode: &Opcode| match opcode.instruction {
        Instruction::Core(opcode) => u32::from(opcode),
        Instruction::Glsl(number) => number,
    };
    for (title, is_core) in [("Core instructions with rules", true), ("GLSL.std.450", false)] {
        let _ = write!(
            out,
            "\n## {title}\n\n| number | instruction | section | rules | lockstep machine | cases |\n|---|---|---|---|---|---|\n"
        );
        for opcode in all.iter().filter(|o| matches!(o.instruction, Instruction::Core(_)) == is_core) {
            let Treatment::Executed(rules) = &opcode.standing else { continue };
            let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            let of = cases.get(&opcode.instruction).map_or(&[][..], Vec::as_slice);
            let mut named = of[..of.len().min(CASES)].join(", ");
            if of.len() > CASES {
                let _ = write!(named, " and {} more", of.len() - CASES);
            }
            let (lockstep, section) = (if opcode.lockstep { "yes" } else { "no" }, opcode.section.unwrap_or("—"));
            let _ = writeln!(out, "| {} | {} | {section} | {} | {lockstep} | {named} |", number(opcode), opcode.name, rules.join(", "));
        }
    }
    out += "\n## Read at load\n\nDeclarations, annotations, functions and blocks are no steps. Specialization makes constants of the last column's.\n\n\
            | number | instruction | section | specialization |\n|---|---|---|---|\n";
    for opcode in &all {
        let specialized = match opcode.standing {
            Treatment::Declared => "",
            Treatment::Specialized => "yes",
            Treatment::Executed(_) | Treatment::Refused => continue,
        };
        let _ = writeln!(out, "| {} | {} | {} | {specialized} |", number(opcode), opcode.name, opcode.section.unwrap_or("—"));
    }
    out +=
        "\n## Refused\n\nThe grammar knows these, so that they assemble and disassemble. A module that has one is refused by its name.\n";
    for is_core in [true, false] {
        let refused = all.iter().filter(|o| o.standing == Treatment::Refused && matches!(o.instruction, Instruction::Core(_)) == is_core);
        let names: Vec<String> = refused.map(|opcode| format!("{} ({})", opcode.name, number(opcode))).collect();
        let _ = write!(out, "\n{}\n", names.join(", "));
    }
    out
}
