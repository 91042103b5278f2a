//! The result of each desugaring, compared with core that is written by hand.

use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::desugar::desugar;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print_core;
use std::collections::BTreeSet;

/// The program without sugar on one line, and the rules that desugared it.
fn core(text: &str) -> (String, Vec<Rule>) {
    let (tree, errors) = parse(text);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let (program, done) = desugar(tree);
    (print_core(&program).split_whitespace().collect::<Vec<_>>().join(" "), done.iter().map(|d| d.0).collect())
}

use Rule::{
    WslDAddressSpace as AddressSpace, WslDDeclarations as Declarations, WslDEmpty as Empty, WslDForCondition as Condition,
    WslDForInit as Init, WslDForIteration as Iteration, WslDIf as If, WslDOperator as Operator, WslDWhile as While,
};

/// Statements, their desugared forms, and the desugarings in order.
const STATEMENTS: &[(&str, &str, &[Rule])] = &[
    ("if (a) b = c;", "if (a) b = c; else {}", &[If]),
    ("if (a) { } else { }", "if (a) {} else {}", &[]),
    ("if (a) if (b) c(); else d();", "if (a) if (b) c(); else d(); else {}", &[If]),
    ("if (a) { if (b) c(); } else d();", "if (a) { if (b) c(); else {} } else d();", &[If]),
    ("while (a) b();", "if (a) do b(); while (a); else {}", &[While, If]),
    ("while (a) { }", "if (a) do {} while (a); else {}", &[While, If]),
    ("while (a) while (b) c();", "if (a) do if (b) do c(); while (b); else {} while (a); else {}", &[While, If, While, If]),
    ("do a(); while (b);", "do a(); while (b);", &[]),
    ("for (; a; b) c();", "for (; a; b) c();", &[]),
    ("for (; ; b) c();", "for (; true; b) c();", &[Condition]),
    ("for (; a; ) c();", "for (; a; true) c();", &[Iteration]),
    ("for (;;) c();", "for (; true; true) c();", &[Condition, Iteration]),
    ("for (a = 1; b; c) d();", "{ a = 1; for (; b; c) d(); }", &[Init]),
    ("for (int a = 1; b; c) d();", "{ int a = 1; for (; b; c) d(); }", &[Init]),
    ("for (int a = 1, b; c; d) e();", "{ int a = 1; int b; for (; c; d) e(); }", &[Init, Declarations]),
    ("for (f(), g(); b; c) d();", "{ f(), g(); for (; b; c) d(); }", &[Init]),
    ("int a;", "int a;", &[]),
    ("int a, b = 1, c;", "int a; int b = 1; int c;", &[Declarations]),
    ("threadgroup int a, b;", "threadgroup int a; threadgroup int b;", &[Declarations]),
    ("threadgroup int[4] a;", "threadgroup int[4] a;", &[]),
    ("if (a) { int b; } else { int c, d; }", "if (a) { int b; } else { int c; int d; }", &[Declarations]),
    (";", "true;", &[Empty]),
    ("if (a) ;", "if (a) true; else {}", &[Empty, If]),
    ("{ }", "{}", &[]),
    ("{ int a, b; }", "{ int a; int b; }", &[Declarations]),
    (
        "switch (a) { case 0: int b, c; break; default: ; }",
        "switch (a) { case 0: int b; int c; break; default: true; }",
        &[Declarations, Empty],
    ),
    ("return;", "return;", &[]),
    ("return a + b;", "return operator+(a, b);", &[Operator]),
    ("discard;", "discard;", &[]),
    ("a += b;", "a += b;", &[]),
    ("a >>= b;", "a >>= b;", &[]),
    ("a++;", "a++;", &[]),
    ("--a;", "--a;", &[]),
    ("thread int* p;", "int* thread p;", &[AddressSpace]),
    ("thread int*[]*[42] p;", "int* thread[] thread* thread[42] p;", &[AddressSpace]),
    ("device A<thread int*>[] p;", "A<int* thread>[] device p;", &[AddressSpace, AddressSpace]),
    ("int* thread[] device p;", "int* thread[] device p;", &[]),
];

/// Expressions and their desugared forms.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("a + b", "operator+(a, b)"),
    ("a - b", "operator-(a, b)"),
    ("a * b", "operator*(a, b)"),
    ("a / b", "operator/(a, b)"),
    ("a % b", "operator%(a, b)"),
    ("a | b", "operator|(a, b)"),
    ("a ^ b", "operator^(a, b)"),
    ("a & b", "operator&(a, b)"),
    ("a < b", "operator<(a, b)"),
    ("a > b", "operator>(a, b)"),
    ("a <= b", "operator<=(a, b)"),
    ("a >= b", "operator>=(a, b)"),
    ("a == b", "operator==(a, b)"),
    ("a != b", "operator!=(a, b)"),
    ("a << b", "operator<<(a, b)"),
    ("a >> b", "operator>>(a, b)"),
    ("-a", "operator-(a)"),
    ("+a", "operator+(a)"),
    ("~a", "operator~(a)"),
    ("!a", "operator!(a)"),
    ("-1", "-1"),
    ("- 1", "-1"),
    ("-1u", "operator-(1u)"),
    ("-(1)", "operator-((1))"),
    ("- -1", "operator-(-1)"),
    ("+1", "operator+(1)"),
    ("a-1", "operator-(a, 1)"),
    ("a - -1", "operator-(a, -1)"),
    ("-1.5 + -.5", "operator+(-1.5, -0.5)"),
    ("&a", "&a"),
    ("@a", "@a"),
    ("*a", "*a"),
    ("*a * *b", "operator*(*a, *b)"),
    ("a & &b", "operator&(a, &b)"),
    ("a && b || c", "a && b || c"),
    ("!a && !b", "operator!(a) && operator!(b)"),
    ("a->b", "(*a).b"),
    ("a->b->c", "(*(*a).b).c"),
    ("a.b->c[d]", "(*a.b).c[d]"),
    ("-a->b", "operator-((*a).b)"),
    ("f(a)->b", "(*f(a)).b"),
    // Precedence and associativity.
    ("a + b * c", "operator+(a, operator*(b, c))"),
    ("(a + b) * c", "operator*((operator+(a, b)), c)"),
    ("a - b - c", "operator-(operator-(a, b), c)"),
    ("a - b + c", "operator+(operator-(a, b), c)"),
    ("a / b * c % d", "operator%(operator*(operator/(a, b), c), d)"),
    ("a + b << c + d", "operator<<(operator+(a, b), operator+(c, d))"),
    ("a << b >> c", "operator>>(operator<<(a, b), c)"),
    ("a << b < c >> d", "operator<(operator<<(a, b), operator>>(c, d))"),
    ("a == b & c != d", "operator&(operator==(a, b), operator!=(c, d))"),
    ("a | b ^ c & d", "operator|(a, operator^(b, operator&(c, d)))"),
    ("a & b ^ c | d", "operator|(operator^(operator&(a, b), c), d)"),
    ("a & b & c", "operator&(operator&(a, b), c)"),
    ("a | b && c", "operator|(a, b) && c"),
    ("-a.b", "operator-(a.b)"),
    ("-a++", "operator-(a++)"),
    ("*a++", "*a++"),
    ("!a == b", "operator==(operator!(a), b)"),
    ("-a * -b", "operator*(operator-(a), operator-(b))"),
    ("a < b ? c + d : e", "operator<(a, b) ? operator+(c, d) : e"),
    ("a ? b : c ? d : e", "a ? b : c ? d : e"),
    ("b = c + d", "b = operator+(c, d)"),
    ("f(a + b, -c)", "f(operator+(a, b), operator-(c))"),
    ("a[b + c]", "a[operator+(b, c)]"),
    ("a = b ? c : d = e", "a = b ? c : d = e"),
];

/// Declarations of the top level and their desugared forms.
const DECLARATIONS: &[(&str, &str)] = &[
    (";", ""),
    ("; typedef T = thread int*; ;", "typedef T = int* thread;"),
    ("struct S { sample device float[] x : attribute(1); }", "struct S { sample float[] device x : attribute(1); }"),
    ("enum E : uint { A, B = 0x2u }", "enum E : uint { A, B = 0x2u }"),
    ("operator thread int*(S x) { }", "operator int* thread(S x) {}"),
    (
        "[numthreads(8, 8, 1)] compute void f(device float[] b : register(u0, space1)) { }",
        "[numthreads(8, 8, 1)] compute void f(float[] device b : register(u0, space1)) {}",
    ),
    ("fragment float4 f() : SV_Target 0 { }", "fragment float4 f() : SV_Target 0 {}"),
];

#[test]
fn statements_become_what_is_written() {
    for (text, expected, rules) in STATEMENTS {
        let (core, done) = core(&format!("void f() {{ {text} }}"));
        assert_eq!(core, format!("void f() {{ {expected} }}"), "{text}");
        assert_eq!(done, *rules, "{text}");
    }
}

#[test]
fn expressions_become_what_is_written() {
    for (text, expected) in EXPRESSIONS {
        assert_eq!(core(&format!("void f() {{ x = {text}; }}")).0, format!("void f() {{ x = {expected}; }}"), "{text}");
    }
}

#[test]
fn declarations_become_what_is_written() {
    for (text, expected) in DECLARATIONS {
        assert_eq!(core(text).0, *expected, "{text}");
    }
}

#[test]
fn every_desugaring_is_done_and_left_undone() {
    let texts = STATEMENTS
        .iter()
        .map(|s| format!("void f() {{ {} }}", s.0))
        .chain(EXPRESSIONS.iter().map(|e| format!("void f() {{ x = {}; }}", e.0)));
    let done: Vec<BTreeSet<Rule>> = texts.map(|text| core(&text).1.into_iter().collect()).collect();
    for &rule in Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Desugaring) {
        let times = done.iter().filter(|rules| rules.contains(&rule)).count();
        assert!(times > 0 && times < done.len(), "{rule} is done to {times} of {} texts", done.len());
    }
}

#[test]
fn places_are_those_of_the_text() {
    let text = "void f() { x = a  +  b; y = -c; if (z) ; }";
    let (tree, _) = parse(text);
    let (program, done) = desugar(tree);
    let calls = program.exprs.iter().filter_map(|(e, _)| match e {
        smallstep_semantics::wsl::core::Expr::Call(name, _) => Some(&text[name.span.start as usize..name.span.end as usize]),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), ["+", "-"]);
    let places: Vec<_> = done.iter().map(|(rule, span)| (*rule, &text[span.start as usize..span.end as usize])).collect();
    assert_eq!(places, [(Operator, "a  +  b"), (Operator, "-c"), (Empty, ";"), (If, "if (z) ;")]);
}
