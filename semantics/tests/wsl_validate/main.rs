//! WSL's validation accepts valid programs, and rejects other programs by the rule that they
//! break. The programs follow seed 004 and the decisions of the errata. Each is as small as the
//! rule allows.

mod declarations;
mod entry_points;
mod expressions;
mod functions;
mod layouts;
mod statements;

use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::validate::validate;

fn report(text: &str) -> String {
    let found = validate(text);
    let lines = found.errors.iter().map(|e| {
        let (line, column) = line_column(text, e.span.start);
        format!("{line}:{column} [{}] {}", e.rule, e.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks that the program is valid.
#[track_caller]
fn accepts(text: &str) {
    let found = validate(text);
    assert!(found.errors.is_empty() && found.program.is_some(), "refused:\n{text}\n{}", report(text));
    if let Err(refuted) = recheck(found.program.as_ref().expect("it is valid")) {
        panic!("refuted: {refuted}\n{text}");
    }
}

/// Checks that the program breaks the rule, and no other.
#[track_caller]
fn rejects(rule: &str, text: &str) {
    let rule = Rule::from_name(rule).unwrap_or_else(|| panic!("there is no rule {rule}"));
    let found = validate(text);
    assert!(!found.errors.is_empty() && found.errors.iter().all(|e| e.rule == rule), "{rule} was to refuse:\n{text}\n{}", report(text));
    assert!(found.program.is_none());
}

/// A program with the statements in a function, after variables of several types.
fn body(statements: &str) -> String {
    format!(
        "struct S {{ int a; float3 b; }}\nenum E {{ A, B = 5 }}\nvoid f(int i, uint u, float x, bool b, S s, E e, float4 v) {{ int[4] a; thread int* p = &i; thread int[] r = @a; {statements} }}"
    )
}

/// Checks that the statements are valid in a function with a variable of each kind.
#[track_caller]
fn accepts_in(statements: &str) {
    accepts(&body(statements));
}

/// Checks that the statements break the rule, and no other.
#[track_caller]
fn rejects_in(rule: &str, statements: &str) {
    rejects(rule, &body(statements));
}
