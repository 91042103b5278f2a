//! Small texts that each rule accepts or rejects, in `cases/`. The README there describes
//! their form.

use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::parse::{parse, parse_with_rules};
use smallstep_semantics::wsl::print::print;
use std::collections::{BTreeMap, BTreeSet};

const FILES: [&str; 5] = [
    include_str!("cases/lexical.txt"),
    include_str!("cases/declarations.txt"),
    include_str!("cases/statements.txt"),
    include_str!("cases/types.txt"),
    include_str!("cases/expressions.txt"),
];

/// Rules whose productions have no errors of their own. An error there is an error of another rule,
/// or makes another production apply.
const WITHOUT_ERRORS: [Rule; 32] = [
    Rule::WslLexSignedDecimal,
    Rule::WslLexUnsignedDecimal,
    Rule::WslLexSignedHexadecimal,
    Rule::WslLexUnsignedHexadecimal,
    Rule::WslLexFloat,
    Rule::WslLexKeyword,
    Rule::WslLexPunctuation,
    Rule::WslLexWhitespace,
    Rule::WslLexLineComment,
    Rule::WslGQualifier,
    Rule::WslGFuncDecl,
    Rule::WslGCastOperatorDecl,
    Rule::WslGSpecializationConstantSemantic,
    Rule::WslGCompoundStmt,
    Rule::WslGTerminatorStmt,
    Rule::WslGIfElseStmt,
    Rule::WslGVariableDecls,
    Rule::WslGExpr,
    Rule::WslGAssignOperator,
    Rule::WslGExprLogicalOr,
    Rule::WslGExprLogicalAnd,
    Rule::WslGExprBitwiseOr,
    Rule::WslGExprBitwiseXor,
    Rule::WslGExprBitwiseAnd,
    Rule::WslGRelationalBinop,
    Rule::WslGExprShift,
    Rule::WslGExprAdd,
    Rule::WslGExprMult,
    Rule::WslGExprPrefix,
    Rule::WslGPrefixOp,
    Rule::WslGExprSuffix,
    Rule::WslGMaybeEffectfulExpr,
];

struct Case {
    rule: Rule,
    /// The place of the error, if the text is rejected.
    error: Option<u32>,
    text: String,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut rule = None;
    for line in FILES.iter().flat_map(|f| f.split('\n')).filter(|l| !l.is_empty()) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            rule = Some(Rule::from_name(name).unwrap_or_else(|| panic!("{name} is no rule")));
            continue;
        }
        let rule = rule.expect("a rule heads its cases");
        let text = line.get(3..).unwrap_or("");
        let text = text.strip_prefix(' ').unwrap_or(text).replace('⏎', "\n").replace('⇥', "\t");
        let text = match &line[..3] {
            "+ d" | "- d" => text,
            "+ s" | "- s" => format!("void f() {{ {text} }}"),
            "+ e" | "- e" => format!("void f() {{ x = {text}; }}"),
            _ => panic!("{line} is no case"),
        };
        let error = if line.starts_with('-') { Some(text.find('¦').unwrap_or_else(|| panic!("{line}: no place")) as u32) } else { None };
        cases.push(Case { rule, error, text: text.replacen('¦', "", 1) });
    }
    cases
}

#[test]
fn texts_are_taken_and_refused_by_the_rule_that_says_so() {
    let mut wrong = Vec::new();
    for Case { rule, error, text } in cases() {
        let (tree, errors, rules) = parse_with_rules(&text);
        let places: Vec<_> = errors.iter().map(|e| (e.rule, e.span.start)).collect();
        match error {
            None if !errors.is_empty() => wrong.push(format!("{rule} refuses {text:?}: {errors:?}")),
            None if !rules.contains(&rule) => wrong.push(format!("{rule} does not take {text:?}")),
            None => {
                let printed = print(&tree);
                let (again, errors) = parse(&printed);
                if !errors.is_empty() || !tree.same(&again) {
                    wrong.push(format!("{text:?} prints as {printed:?}, which reads back to another tree"));
                }
            }
            // White space before the place of an error does not count.
            Some(place) => {
                let place = place + text[place as usize..].bytes().take_while(|&b| b == b' ').count() as u32;
                if places != [(rule, place)] {
                    let messages: Vec<_> = errors.iter().map(|e| format!("{} at {}: {}", e.rule, e.span.start, e.message)).collect();
                    wrong.push(format!("{rule} should refuse {text:?} at {place}: {messages:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_of_text_takes_a_case_and_refuses_one() {
    let mut counts: BTreeMap<Rule, (usize, usize)> = BTreeMap::new();
    for case in cases() {
        let count = counts.entry(case.rule).or_default();
        *(if case.error.is_none() { &mut count.0 } else { &mut count.1 }) += 1;
    }
    let rules = Rule::ALL.iter().copied().filter(|r| matches!(r.judgement(), Judgement::Lexing | Judgement::Grammar));
    let excused: BTreeSet<Rule> = WITHOUT_ERRORS.into_iter().chain([Rule::WslGEffAssignment, Rule::WslGEffPrefix]).collect();
    for rule in rules.filter(|&r| r != Rule::WslGNesting) {
        let (taken, refused) = counts.get(&rule).copied().unwrap_or_default();
        assert!(taken > 0, "{rule} takes no case");
        assert_eq!(refused > 0, !excused.contains(&rule), "{rule} refuses {refused} cases, excused: {}", excused.contains(&rule));
    }
}
