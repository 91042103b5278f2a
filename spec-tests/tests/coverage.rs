//! Tests that the registry, the cases and the code agree about every rule, and that every
//! expectation of a case can fail.

use smallstep::compile::wsl::planted::BUGS;
use smallstep::theorem::case::Planted;
use smallstep_semantics::number::Instruction;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::opcodes::{self, Treatment};
use smallstep_semantics::spirv::step::{Config, Env, Next, Rules};
use smallstep_semantics::wsl::environment::Planted as Bug;
use smallstep_spec_tests::file::{CaseFile, Command, Language, Test};
use smallstep_spec_tests::literal::LITERALS;
use smallstep_spec_tests::pages::cases_of;
use smallstep_spec_tests::root;
use smallstep_spec_tests::run::{self, Engines, FileReport};
use smallstep_spec_tests::wsl;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::Path;

fn files() -> Vec<CaseFile> {
    let paths = run::collect(&root(), "").expect("the folders can be read");
    paths.iter().map(|path| CaseFile::read(&root(), path).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn report(file: &CaseFile) -> FileReport {
    run::run(file, &mut Engines::default())
}

/// The rules without a premise of their own that could fail, each with the reason.
const WITHOUT_NEAR_MISS: [(Rule, &str); 30] = [
    (Rule::CodegenHeader, "every module has a header"),
    (Rule::CodegenFunction, "every module has a function"),
    (Rule::UniformityFlowEntry, "every invocation comes to the first block"),
    (Rule::LvMcEntry, "every module has an entry point"),
    (Rule::LvMcHeader, "every module has a header"),
    (Rule::LvMcDecorations, "every module has a location to decorate"),
    (Rule::LvMcTypes, "every module has types"),
    (Rule::LvMcConstants, "the section is made, if only to be empty"),
    (Rule::LvMcVariables, "every module has an output"),
    (Rule::LvMcBody, "every module has a body"),
    (Rule::WslLexPunctuation, "what is none of the table begins no token, by lex-token"),
    (Rule::WslLexWhitespace, "what is none of the four begins no token, by lex-token"),
    (Rule::WslLexLineComment, "it ends with its line, whatever stands in it"),
    (Rule::WslGFuncDecl, "a choice of three productions, whose errors are theirs"),
    (Rule::WslGCompoundStmt, "a choice of six productions by their keywords, whose errors are theirs"),
    (Rule::WslGTerminatorStmt, "its keyword says which it is; what follows is an expression's or a statement's"),
    (Rule::WslTBreak, "it is always well-typed"),
    (Rule::WslTContinue, "it is always well-typed"),
    (Rule::WslTFallthrough, "it is always well-typed"),
    (Rule::WslTDiscard, "it is always well-typed"),
    (Rule::WslTReturnVoid, "it is always well-typed; whether void is returned is v-function-return's"),
    (Rule::WslTReturn, "its premise is its expression's rule; whether the type is returned is v-function-return's"),
    (Rule::WslTEmptyBlock, "it is always well-typed"),
    (Rule::WslTExpr, "its premise is its expression's rule"),
    (Rule::WslTLiteralTrue, "it is always well-typed"),
    (Rule::WslTLiteralFalse, "it is always well-typed"),
    (Rule::WslTLiteralFloat, "it is always well-typed"),
    (Rule::WslTLiteralInt, "it can always be a float; what needs another type refuses it"),
    (Rule::WslTParens, "its premise is its expression's rule"),
    (Rule::WslTComma, "its premises are its operands' rules"),
];

/// The judgements of the validation of WSL.
const OF_VALIDATION: [Judgement; 5] =
    [Judgement::Environment, Judgement::StatementTyping, Judgement::ExpressionTyping, Judgement::EntryPoint, Judgement::Library];

/// The rules whose function has another name than the rule, with the name of the function.
const OTHERWISE_CALLED: [(Rule, &str); 7] = [
    (Rule::WslLexToken, "lex"),
    (Rule::WslGQualifier, "qualifiers"),
    // `type` is a keyword of Rust.
    (Rule::WslGType, "ty"),
    // The name keeps the prefix `g_`, which is the prefix of the grammar's rules. These rules are
    // not of the grammar.
    (Rule::WslGThread, "g_thread"),
    (Rule::WslGBarrier, "g_barrier"),
    (Rule::WslGQuad, "g_quad"),
    (Rule::WslGQuadApart, "g_quad_apart"),
];

/// The rules of fragment stages. No case can run a fragment module beyond those of λV yet.
/// `semantics/tests/spirv_grid.rs` and `spirv_draw.rs` have tests that fire these rules,
/// and near-misses.
const OTHER_STAGES: [Rule; 9] = [
    Rule::SpirvKill,
    Rule::SpirvTerminateInvocation,
    Rule::SpirvDemote,
    Rule::SpirvIsHelper,
    Rule::SpirvDerivative,
    Rule::SpirvImageSampleImplicitLod,
    Rule::SpirvImageSampleDrefImplicitLod,
    Rule::SpirvQuadDerivatives,
    Rule::SpirvDivergentDerivatives,
];

#[test]
fn every_rule_fires_in_a_case_that_names_it() {
    let files = files();
    let fired: Vec<BTreeSet<Rule>> = files.iter().map(|f| report(f).fired).collect();
    for &rule in Rule::ALL.iter().filter(|rule| !OTHER_STAGES.contains(rule)) {
        let firing = files.iter().zip(&fired).filter(|(f, fired)| f.rules.iter().any(|(_, r)| *r == rule) && fired.contains(&rule));
        assert!(firing.count() > 0, "{rule}: no case fires it and says so");
    }
}

/// The instructions of fragment stages. No case can run a fragment module beyond those of λV yet.
/// `semantics/tests/spirv_draw` executes these instructions.
const OF_FRAGMENTS: [Op; 15] = [
    Op::DPdx,
    Op::DPdy,
    Op::Fwidth,
    Op::DPdxFine,
    Op::DPdyFine,
    Op::FwidthFine,
    Op::DPdxCoarse,
    Op::DPdyCoarse,
    Op::FwidthCoarse,
    Op::Kill,
    Op::TerminateInvocation,
    Op::DemoteToHelperInvocation,
    Op::IsHelperInvocationEXT,
    Op::ImageSampleImplicitLod,
    Op::ImageSampleDrefImplicitLod,
];

#[test]
fn every_instruction_with_a_rule_is_executed_by_a_case() {
    let reports: Vec<FileReport> = files().iter().map(report).collect();
    let executed: BTreeSet<Instruction> = reports.iter().flat_map(|r| r.executed.iter().copied()).collect();
    let in_lockstep: BTreeSet<Instruction> = reports.iter().flat_map(|r| r.in_lockstep.iter().copied()).collect();
    let excused = OF_FRAGMENTS.map(|op| Instruction::Core(op as u16));
    let (mut wrong, mut section) = (Vec::new(), 0);
    for opcode in opcodes::all() {
        section += usize::from(opcode.section.is_none() && opcode.standing != Treatment::Refused);
        let ruled = matches!(opcode.standing, Treatment::Executed(_));
        if executed.contains(&opcode.instruction) != (ruled && !excused.contains(&opcode.instruction)) {
            wrong.push(format!("{}: has a rule: {ruled}, and a case: {}", opcode.name, !ruled));
        }
        // The lockstep machine runs exactly the instructions that it claims to compile, and ends as
        // the relation does.
        let steps = opcode.lockstep && ruled && !excused.contains(&opcode.instruction);
        if in_lockstep.contains(&opcode.instruction) != steps {
            wrong.push(format!("{}: the lockstep machine compiles it: {steps}, and runs it in a case: {}", opcode.name, !steps));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(section, 0, "instructions that are not refused without a section");
}

/// For each rule of SPIR-V beyond λV's, the test replaces it with a rule that never applies. Some
/// case must fail then.
#[test]
fn every_rule_of_an_invocation_is_missed() {
    fn never<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
        None
    }
    let files: Vec<CaseFile> = files().into_iter().filter(|f| f.language == Language::Assembly && f.name.starts_with("spirv/")).collect();
    let planted = Rule::ALL.iter().copied().filter(|r| r.judgement() == Judgement::Invocation && !OTHER_STAGES.contains(r));
    for rule in planted {
        let relation = Some(Rules::standard().replace(rule, never));
        let mut engines = Engines { planted: Planted { relation, ..Planted::default() }, ..Engines::default() };
        let missed = files.iter().any(|file| !run::run(file, &mut engines).failures.is_empty());
        assert!(missed, "{rule}: no case fails without it");
    }
}

/// For each rule of WSL's validation, the test plants two bugs: violations of the rule are not
/// reported, and the rule never holds. Cases of the rule must fail with each.
#[test]
fn every_rule_of_validation_is_missed() {
    let files: Vec<CaseFile> = files().into_iter().filter(|f| f.language == Language::Wsl).collect();
    let fails = |file: &CaseFile, planted: Bug| {
        let mut engines = Engines { wsl: wsl::Rules { planted, ..wsl::Rules::default() }, ..Engines::default() };
        // A function that should have been refused may break what later steps rely on.
        std::panic::catch_unwind(AssertUnwindSafe(|| !run::run(file, &mut engines).failures.is_empty())).unwrap_or(true)
    };
    let (mut unchecked, mut refused) = (0, 0);
    for &rule in Rule::ALL.iter().filter(|r| OF_VALIDATION.contains(&r.judgement())) {
        let mut rejected = files.iter().filter(|f| f.errors.iter().any(|e| e.code == rule.name())).peekable();
        // Some rules have no errors of their own. Other rules reject what violates them.
        if rejected.peek().is_some() {
            assert!(rejected.any(|f| fails(f, Bug::Unchecked(rule))), "{rule}: no case fails if it is not checked");
            unchecked += 1;
        }
        let mut firing = files.iter().filter(|f| f.rules.iter().any(|(_, r)| *r == rule));
        assert!(firing.any(|f| fails(f, Bug::Refused(rule))), "{rule}: no case fails if it never holds");
        refused += 1;
    }
    assert!(unchecked >= 80 && refused >= 180, "{unchecked} unchecked, {refused} refused");
}

/// Each planted mistake in the translation of WSL must make a case of the same rule fail.
#[test]
fn every_mistake_in_the_translation_is_seen_by_a_case_of_its_rule() {
    let files: Vec<CaseFile> = files().into_iter().filter(|f| f.name.starts_with("codegen/")).collect();
    let unseen = BUGS.iter().filter(|bug| {
        let mut engines = Engines { codegen: Some(**bug), ..Engines::default() };
        let mut of_rule = files.iter().filter(|file| file.rules.iter().any(|(_, rule)| *rule == bug.rule));
        !of_rule.any(|file| !run::run(file, &mut engines).failures.is_empty())
    });
    let unseen: Vec<String> = unseen.map(|bug| format!("{}: {}", bug.rule, bug.name)).collect();
    assert!(unseen.is_empty(), "{} of {} mistakes:\n{}", unseen.len(), BUGS.len(), unseen.join("\n"));
}

#[test]
fn every_rule_that_can_fail_has_a_near_miss() {
    let files = files();
    for &rule in Rule::ALL.iter().filter(|rule| !OTHER_STAGES.contains(rule)) {
        let (_, near) = cases_of(rule, &files);
        let excused = WITHOUT_NEAR_MISS.iter().any(|(r, _)| *r == rule);
        assert_eq!(near.is_empty(), excused, "{rule}: near-misses {near:?}, excused: {excused}");
    }
}

#[test]
fn every_literal_variant_is_exhibited_where_it_differs() {
    let files = files();
    for literal in LITERALS {
        let uses = |f: &&CaseFile| f.tests.iter().any(|t| t.option("literal") == Some(literal.name));
        assert!(files.iter().any(|f| uses(&f)), "{}: no case runs it", literal.name);
        // The same test without the variant must fail, so the variant makes the difference.
        for file in files.iter().filter(uses) {
            let mut plain = CaseFile::parse(file.path.clone(), file.name.clone(), file.text.clone()).expect("it was read before");
            for test in &mut plain.tests {
                test.options.retain(|(key, value)| key != "literal" || value != literal.name);
            }
            assert!(!report(&plain).failures.is_empty(), "{}: {} is the same by the corrected rules", file.name, literal.name);
        }
    }
}

#[test]
fn names_are_unique_and_items_are_functions_in_the_source() {
    let mut names = BTreeSet::new();
    for &rule in Rule::ALL {
        assert!(names.insert(rule.name()), "{rule} stands twice");
        assert_eq!(Rule::from_name(rule.name()), Some(rule));
        let (text, function) = source_of(rule);
        if rule.judgement() == Judgement::Codegen {
            // The item emits the rule's instructions and has a name of its own.
            let emits = text.contains(&format!("Rule::{rule:?}"));
            let defines = ["fn ", "const "].iter().any(|keyword| text.contains(&format!("{keyword}{function}")));
            assert!(emits && defines, "{rule}: {} does not emit it", rule.item());
            continue;
        }
        let defines = text.match_indices(&format!("fn {function}")).any(|(at, found)| text[at + found.len()..].starts_with(['(', '<']));
        assert!(defines, "{rule}: {} is no function", rule.item());
        // The function has the name of the rule, without the family. It also lacks the prefix of
        // the judgement if its module stands for that.
        let stem = rule.name().split_once('/').expect("a name has a family").1.replace('-', "_");
        let said = ["rec_match_", "lex_", "g_", "lib_"];
        let stem = said.iter().find_map(|prefix| stem.strip_prefix(prefix)).unwrap_or(&stem);
        let otherwise = OTHERWISE_CALLED.iter().find(|(r, _)| *r == rule).map(|(_, called)| *called);
        assert_eq!(function.trim_end_matches('_'), otherwise.unwrap_or(stem), "{rule}");
    }
}

/// The fast engine runs every call, except calls by the letter.
#[test]
fn calls_are_run_by_the_fast_engine_too() {
    let files: Vec<CaseFile> = files().into_iter().filter(|f| f.language == Language::Wsl).collect();
    let mut calls = 0;
    for file in &files {
        let called = file.tests.iter().filter(|t| t.command == Command::Call && t.option("literal").is_none()).count();
        assert_eq!(report(file).by_fast_engine, called, "{}: calls by the fast engine, of all", file.name);
        calls += called;
    }
    assert!(calls > 300, "{calls} calls");
}

/// The fast engine runs every dispatch and every draw that ends and does not race.
#[test]
fn dispatches_and_draws_are_run_by_the_fast_engine_too() {
    let (mut dispatches, mut draws) = (0, 0);
    for file in files().iter().filter(|f| f.language == Language::Wsl) {
        let ends = |t: &&Test| !t.expects.iter().any(|(_, text)| ["races", "out of fuel", "unsupported"].contains(&text.as_str()));
        let runs = |t: &&Test| t.command == Command::Run && t.option("literal").is_none() && ends(t);
        let (drawn, dispatched): (Vec<&Test>, Vec<&Test>) = file.tests.iter().filter(runs).partition(|t| t.option("size").is_some());
        let report = report(file);
        assert_eq!(report.dispatched_by_fast_engine, dispatched.len(), "{}: dispatches by the fast engine, of all", file.name);
        assert_eq!(report.drawn_by_fast_engine, drawn.len(), "{}: draws by the fast engine, of all", file.name);
        dispatches += dispatched.len();
        draws += drawn.len();
    }
    println!("{dispatches} dispatches, {draws} draws");
    assert!(dispatches >= 25 && draws >= 90, "{dispatches} dispatches, {draws} draws");
}

/// The text of the source file with a rule's function, and the name of the function.
fn source_of(rule: Rule) -> (String, &'static str) {
    let (module, function) = rule.item().rsplit_once("::").expect("a path has a last part");
    let source = if module.starts_with("compile") { "../src" } else { "../semantics/src" };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(source).join(module.replace("::", "/"));
    let candidates = [file.with_extension("rs"), file.join("mod.rs")];
    let text = candidates.iter().find_map(|f| std::fs::read_to_string(f).ok());
    (text.unwrap_or_else(|| panic!("{rule}: no file for the module of {}", rule.item())), function)
}

/// The statement of a rule in the comment above a function. Also the text after the rule's name in
/// the brackets that follow the statement. In a drawn rule, the premises and the conclusion are
/// read as a sentence.
fn stated(text: &str, function: &str, rule: Rule) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let defines = |line: &str| {
        let behind = line.split_once(&format!("fn {function}")).map(|(_, behind)| behind);
        !line.starts_with("//") && behind.is_some_and(|behind| behind.starts_with(['(', '<']))
    };
    let at = lines.iter().position(|line| defines(line))?;
    let comment = lines[..at].iter().rev().skip_while(|line| line.starts_with("#[")).map_while(|line| line.strip_prefix("///"));
    // A backslash keeps rustdoc from taking a bracket for markup.
    let plain = |line: &str| ["[", "]", "<", ">"].iter().fold(line.trim().to_string(), |line, of| line.replace(&format!("\\{of}"), of));
    let mut comment: Vec<String> = comment.map(plain).collect();
    comment.reverse();
    let name = format!("[{}", rule.name());
    let tagged = comment.iter().position(|line| line.split_once(&name).is_some_and(|(_, behind)| behind.starts_with([',', ';', ']'])))?;
    let (last, _) = comment[tagged].split_once(&name)?;
    // The text in the brackets may continue on the next lines.
    let of_paragraph = comment[tagged..].iter().take_while(|line| !line.is_empty() && !line.starts_with("```"));
    let ends = of_paragraph.clone().position(|line| line.ends_with(']'))?;
    let tag: Vec<&str> = of_paragraph.take(ends + 1).map(String::as_str).collect();
    let tag = tag.join(" ");
    let (_, tag) = tag.split_once(&name)?;
    let begins = comment[..tagged].iter().rposition(|line| line.is_empty() || line.starts_with("```")).map_or(0, |line| line + 1);
    let paragraph: Vec<&str> = comment[begins..tagged].iter().map(String::as_str).chain([last]).collect();
    let joined = |lines: &[&str]| lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let statement = match paragraph.iter().position(|line| line.chars().count() > 2 && line.chars().all(|c| c == '─')) {
        None => joined(&paragraph),
        Some(bar) => {
            let premises: Vec<&str> =
                paragraph[..bar].iter().flat_map(|line| line.split("    ")).map(str::trim).filter(|p| !p.is_empty()).collect();
            let gives = if premises.len() > 1 { "give" } else { "gives" };
            format!("{} {gives} {}", premises.join(" and "), joined(&paragraph[bar + 1..]))
        }
    };
    Some((statement, tag.trim_end().strip_suffix(']')?.to_string()))
}

/// Each rule is stated in the registry and above its function. The two must have the same statement
/// and name. They must also have the same source, or at least the same errata.
#[test]
fn each_rule_is_stated_above_its_function_as_in_the_registry() {
    let mut wrong = Vec::new();
    // An item of the translation names the rules of the instructions that it emits, and does not
    // state them.
    for &rule in Rule::ALL.iter().filter(|rule| rule.judgement() != Judgement::Codegen) {
        let (text, function) = source_of(rule);
        let Some((statement, behind)) = stated(&text, function, rule) else {
            wrong.push(format!("{rule}: the comment of {function} does not state it"));
            continue;
        };
        if statement != rule.statement() {
            wrong.push(format!("{rule}: the registry has\n  {}\nand the comment of {function}\n  {statement}", rule.statement()));
        }
        let errata = rule.source().split_once("; ").map(|(_, errata)| errata);
        let source = match behind.strip_prefix(", ") {
            Some(behind) => behind.strip_prefix(rule.source()),
            None => errata.map_or(Some(behind.as_str()), |errata| behind.strip_prefix("; ")?.strip_prefix(errata)),
        };
        // A note may follow the source.
        if source.is_none_or(|note| !note.is_empty() && !note.starts_with(": ")) {
            wrong.push(format!("{rule}: the registry has the source {}, and the comment of {function} has {behind}", rule.source()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rules:\n{}", wrong.len(), Rule::ALL.len(), wrong.join("\n"));
}

#[test]
fn a_rule_that_is_stated_otherwise_is_seen() {
    let drawn = "/// R, A ⊢ e[ei/idi] : τ    n > 0\n/// ────\n/// R ⊢ f : τ   [lv/t-func, 000 §5: a note]\n#[inline]\nfn t_func(x: u8) {}";
    let expected = ("R, A ⊢ e[ei/idi] : τ and n > 0 give R ⊢ f : τ".to_string(), ", 000 §5: a note".to_string());
    assert_eq!(stated(drawn, "t_func", Rule::LvTFunc), Some(expected.clone()));
    let broken = "/// R, A ⊢ e[ei/idi] : τ and n > 0 give\n/// R ⊢ f : τ [lv/t-func, 000\n/// §5: a\n/// note]\nfn t_func(x: u8) {}";
    assert_eq!(stated(broken, "t_func", Rule::LvTFunc), Some(expected));
    let later = "/// What it is for.\n///\n/// ```text\n/// a ::= \\[b\\]\n///     c  [lv/t-func]\n/// ```\nfn t_func<T>() {}";
    assert_eq!(stated(later, "t_func", Rule::LvTFunc), Some(("a ::= [b] c".into(), String::new())));
    // Three near-misses: a rule whose name begins with this rule's, a function whose name begins
    // with this function's, and a comment of another item.
    for text in
        ["/// x [lv/t-func-two]\nfn t_func() {}", "/// x [lv/t-func]\nfn t_func_two() {}", "/// x [lv/t-func]\nstruct S;\nfn t_func() {}"]
    {
        assert_eq!(stated(text, "t_func", Rule::LvTFunc), None, "{text}");
    }
}

/// Changes the expectations of each file one at a time. The file must fail with each change.
#[test]
fn no_expectation_passes_whatever_it_says() {
    for file in files() {
        let again = || CaseFile::parse(file.path.clone(), file.name.clone(), file.text.clone()).expect("it was read before");
        let mut changed: Vec<(String, CaseFile)> = Vec::new();
        let mut change = |what: String, with: &dyn Fn(&mut CaseFile)| {
            let mut file = again();
            with(&mut file);
            changed.push((what, file));
        };
        for (t, test) in file.tests.iter().enumerate() {
            for (e, (line, expect)) in test.expects.iter().enumerate() {
                change(format!("line {line}: another expectation"), &|f| f.tests[t].expects[e].1 = "never".into());
                // Changes the last character of a number or word.
                let mut other: String = expect.clone();
                let last = other.pop();
                other.push(if last == Some('1') { '2' } else { '1' });
                if !expect.contains(": ") || expect.starts_with("output ") {
                    change(format!("line {line}: {other}"), &|f| f.tests[t].expects[e].1 = other.clone());
                }
            }
            for b in 0..test.blocks.len() {
                change(format!("line {}: a blessed line more", test.blocks[b].line), &|f| f.tests[t].blocks[b].lines.push("more".into()));
                change(format!("line {}: a blessed line less", test.blocks[b].line), &|f| {
                    f.tests[t].blocks[b].lines.pop();
                });
            }
        }
        for (e, error) in file.errors.iter().enumerate() {
            change(format!("line {}: another code", error.line), &|f| f.errors[e].code = "lv/none".into());
            change(format!("line {}: another message", error.line), &|f| f.errors[e].text = "something else".into());
            if error.on_line {
                change(format!("line {}: another line", error.line), &|f| f.errors[e].line += 1);
            }
            if error.column.is_some() {
                change(format!("line {}: another column", error.line), &|f| f.errors[e].column = f.errors[e].column.map(|c| c + 1));
            }
        }
        for &(line, rule) in &file.rules {
            change(format!("{rule} must not fire"), &|f| f.not_rules.push((line, rule)));
        }
        for &(line, rule) in &file.not_rules {
            change(format!("{rule} must fire"), &|f| f.rules.push((line, rule)));
        }
        for (what, changed) in &changed {
            assert!(!report(changed).failures.is_empty(), "{}: nobody notices: {what}", file.name);
        }
        assert!(!changed.is_empty(), "{}: nothing to change", file.name);
    }
}
