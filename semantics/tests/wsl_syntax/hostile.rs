//! Any input ends in a tree or in errors, in time linear in its length.

use crate::random::Random;
use smallstep_generate::wsl as generate;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::desugar::desugar;
use smallstep_semantics::wsl::error::{Error, MAX_ERRORS};
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::{print, print_core};

/// Reads the text. A text without errors goes through all stages.
fn read(text: &str) -> Vec<Error> {
    let (tree, errors) = parse(text);
    assert!(errors.len() <= MAX_ERRORS);
    for error in &errors {
        assert!(error.span.start <= error.span.end && error.span.end as usize <= text.len(), "{error:?} lies outside the text");
        assert!(
            text.is_char_boundary(error.span.start as usize) && text.is_char_boundary(error.span.end as usize),
            "{error:?} splits a character"
        );
        assert!(error.message.len() < 1000, "{error:?} is long");
    }
    if errors.is_empty() {
        let printed = print(&tree);
        let (again, errors) = parse(&printed);
        assert!(errors.is_empty() && tree.same(&again), "{text:?} prints as {printed:?}, which reads back otherwise: {errors:?}");
        print_core(&desugar(tree).0);
    }
    errors
}

/// A flat chain is not nesting. A chain of 200,000 operators is read. The error for a chain that is
/// too long says that it is a chain.
#[test]
fn a_chain_of_operators_is_one_level() {
    let chain = |operator: &str, n: usize| format!("int f(int a) {{ return a{}; }}", format!(" {operator} a").repeat(n));
    for operator in ["+", "*", "&&", "||", "<<", "|", ","] {
        assert!(read(&chain(operator, 200_000).replace(" , ", ", ")).is_empty(), "{operator}");
        let errors = read(&chain(operator, 300_000));
        let [error] = &errors[..] else { panic!("{operator}: {errors:?}") };
        assert_eq!(error.rule, Rule::WslGNesting);
        assert!(error.message.starts_with("more than 262144 operators stand in one another before this"), "{}", error.message);
    }
    // Chains within chains have as many levels as there are parentheses around them.
    let parts = |n: usize| format!("int f(int a) {{ return {}a{}; }}", "(a + a + ".repeat(n), ")".repeat(n));
    assert!(read(&parts(4_000)).is_empty());
    let nested = read(&parts(10_001));
    assert!(nested[0].message.starts_with("the program is nested more than 10000 deep here"), "{nested:?}");
    let nested = read(&format!("int f(int a) {{ return {}a; }}", "~".repeat(20_001)));
    assert!(nested[0].message.starts_with("the program is nested more than 10000 deep here"), "{nested:?}");
}

/// Everything that nests, which chains of operators do not. For each: the text before, the start of
/// a level, the text in the middle, the end of a level, and the text after.
const NESTED: [(&str, &str, &str, &str, &str); 21] = [
    ("void f() { x = ", "(", "1", ")", "; }"),
    ("void f() { x = ", "a[", "1", "]", "; }"),
    ("void f() { x = ", "f(", "1", ")", "; }"),
    ("void f() { x = ", "- ", "a", "", "; }"),
    ("void f() { x = ", "++", "a", "", "; }"),
    ("void f() { x = ", "", "a", "++", "; }"),
    ("void f() { x = ", "", "a", ".b", "; }"),
    ("void f() { x = ", "", "a", "->b", "; }"),
    ("void f() { x = ", "", "a", "[0]", "; }"),
    ("void f() { x = ", "a = ", "a", "", "; }"),
    ("void f() { x = ", "a ? b : ", "a", "", "; }"),
    ("void f() { x = ", "a ? ", "a", " : b", "; }"),
    ("void f() { ", "{", "", "}", " }"),
    ("void f() { ", "if (a) ", ";", "", " }"),
    ("void f() { ", "if (a) ; else ", ";", "", " }"),
    ("void f() { ", "while (a) ", ";", "", " }"),
    ("void f() { ", "do ", ";", " while (a);", " }"),
    ("void f() { ", "for (;;) ", ";", "", " }"),
    ("void f() { ", "switch (a) { default: ", ";", "}", " }"),
    ("typedef T = ", "A<", "int", ">", ";"),
    ("typedef T = ", "A<int, ", "int", ">", ";"),
];

fn nest((before, open, middle, close, after): (&str, &str, &str, &str, &str), levels: usize) -> String {
    format!("{before}{}{middle}{}{after}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn nesting_is_read_up_to_the_limit() {
    for kind in NESTED {
        assert_eq!(read(&nest(kind, 1000)), [], "{kind:?}");
        // The block, the statement and the left side are levels too. A chain has one operand more
        // than it has operators.
        assert_eq!(read(&nest(kind, 9_990)), [], "{kind:?}");
        let errors = read(&nest(kind, 10_001));
        assert_eq!(errors.iter().map(|e| e.rule).collect::<Vec<_>>(), [Rule::WslGNesting], "{kind:?}: {errors:?}");
    }
}

#[test]
fn deep_nesting_of_every_kind_is_one_error() {
    for kind in NESTED {
        let errors = read(&nest(kind, 100_000));
        assert_eq!(errors.iter().map(|e| e.rule).collect::<Vec<_>>(), [Rule::WslGNesting], "{kind:?}: {errors:?}");
        // Never closed.
        let (before, open, ..) = kind;
        assert!(!read(&format!("{before}{}", open.repeat(100_000))).is_empty(), "{kind:?}");
    }
    // Depths of different kinds add up.
    let mixed = format!("void f() {{ {} x = {}1{}; {} }}", "{".repeat(5_000), "(".repeat(5_000), ")".repeat(5_000), "}".repeat(5_000));
    assert_eq!(read(&mixed).iter().map(|e| e.rule).collect::<Vec<_>>(), [Rule::WslGNesting]);
}

#[test]
fn what_does_not_nest_has_no_limit() {
    let long = 200_000;
    for text in [
        ";".repeat(long),
        format!("void f() {{ {} }}", ";".repeat(long)),
        format!("void f() {{ {} }}", "x = a + 1; ".repeat(long)),
        format!("void f() {{ g({} a); }}", "a, ".repeat(long)),
        format!("void f() {{ int {} a; }}", "a, ".repeat(long)),
        format!("void f({} int a) {{ }}", "int a, ".repeat(long)),
        format!("struct S {{ {} }}", "int a; ".repeat(long)),
        format!("enum E {{ {} a }}", "a, ".repeat(long)),
        format!("typedef T = thread int{};", "*".repeat(long)),
        format!("typedef T = int{};", "[4]".repeat(long)),
        format!("typedef T = A<{} int>;", "int, ".repeat(long)),
        format!("void f() {{ switch (a) {{ {} }} }}", "case 0: ".repeat(long)),
        format!("void f() {{ int{} x; }}", "[4]".repeat(long)),
        format!("struct S {{ {} int a; }}", "sample ".repeat(long)),
        "/* */ // \n".repeat(long),
        " ".repeat(long),
    ] {
        assert_eq!(read(&text), []);
    }
}

#[test]
fn megabytes_of_nonsense_end_in_errors() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ">>",
        ";",
        ",",
        "=",
        ".",
        "-",
        "#",
        "_",
        "0",
        "007 ",
        "0x",
        "a ",
        "a",
        "a[4]",
        "a[4] ",
        "1.",
        "é",
        "☃",
        "\0",
        "\"",
        "/",
        "/*",
        "*/",
        "//",
        "/*/",
        "operator",
        "operator.",
        "operator&",
        "operator[",
        "operator.if ",
        "if(",
        "else ",
        "for(;",
        "do ",
        "case 1:",
        "switch(a){",
        "struct S{",
        "struct ",
        "enum E{",
        "typedef ",
        "vertex ",
        "[numthreads(",
        "compute ",
        "return ",
        "int x ",
        "int ",
        "thread ",
        "A<",
        "f(",
        "x=",
        "?",
        "a?",
        ":",
        "a:",
        "void f(){",
        "void f(",
        "struct S{int ",
        "enum E{A=",
        "a-",
        "a-1",
        "-1",
        "- ",
        "++",
        "a++",
        "@",
    ];
    for piece in pieces {
        let errors = read(&piece.repeat((1 << 20) / piece.len()));
        // These are programs, or begin with a comment that hides the rest.
        assert_eq!(errors.is_empty(), [";", "//", "/"].contains(&piece), "{piece}: {errors:?}");
    }
    for start in ["void f() { x = ", "void f() { a[4]", "void f() { ", "typedef T = ", "struct S { ", "enum E { ", "void f("] {
        for piece in pieces {
            read(&format!("{start}{}", piece.repeat((1 << 15) / piece.len())));
        }
    }
}

#[test]
fn huge_tokens_are_read() {
    let n = 2 << 20;
    for literal in [
        "9".repeat(n),
        "0".repeat(n) + ".0",
        format!("0x{}", "f".repeat(n)),
        format!("0x{}1u", "0".repeat(n)),
        format!(".{}", "9".repeat(n)),
    ] {
        assert_eq!(read(&format!("void f() {{ x = {literal}; }}")), []);
    }
    assert_eq!(read(&format!("struct {} {{ }}", "a".repeat(n))), []);
    assert_eq!(read(&format!("void operator.{}(int x) {{ }}", "a".repeat(n))), []);
    // Each 0 but the last is a token of its own.
    assert_eq!(read(&format!("void f() {{ x = {}7; }}", "0".repeat(n))).len(), 1);
}

#[test]
fn many_errors_are_cut_off() {
    let text = format!("void f() {{ {} }}", "x = ; ".repeat(1000));
    let errors = read(&text);
    assert_eq!(errors.len(), MAX_ERRORS);
    assert!(errors[MAX_ERRORS - 1].notes.iter().any(|(_, note)| note.contains("more errors")), "{:?}", errors[MAX_ERRORS - 1]);
    let exactly = read(&format!("void f() {{ {} }}", "x = ; ".repeat(MAX_ERRORS)));
    assert!(exactly.len() == MAX_ERRORS && exactly.iter().all(|e| e.notes.is_empty()));
    let unknown = read(&"$ ;".repeat(1000));
    assert!(unknown.len() == MAX_ERRORS && !unknown[MAX_ERRORS - 1].notes.is_empty());
}

/// Tokens, and characters that begin no token.
const PIECES: [&str; 64] = [
    "struct",
    "typedef",
    "enum",
    "operator",
    "operator+",
    "vertex",
    "compute",
    "numthreads",
    "if",
    "else",
    "switch",
    "case",
    "default",
    "while",
    "do",
    "for",
    "break",
    "return",
    "true",
    "thread",
    "device",
    "sample",
    "SV_Target",
    "attribute",
    "register",
    "const",
    "a",
    "int",
    "float4",
    "1",
    "2u",
    "0x3",
    "1.5",
    "==",
    "<",
    ">",
    ">>",
    "=",
    "+=",
    "++",
    "+",
    "-",
    "*",
    "&",
    "&&",
    "||",
    "!",
    "->",
    ".",
    "@",
    "?",
    ":",
    ";",
    ";",
    ",",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "#",
    "/*",
    "//",
];

#[test]
fn random_texts_are_read() {
    let rounds = if cfg!(debug_assertions) { 20_000 } else { 200_000 };
    let mut random = Random(7);
    for round in 0..rounds {
        let n = random.below(40);
        let text: String = match round % 3 {
            0 => {
                let bytes: Vec<u8> = (0..n).map(|_| random.next() as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            1 => (0..n).map(|_| char::from(b' ' + random.below(95) as u8)).collect(),
            _ => (0..n).map(|_| PIECES[random.below(PIECES.len())]).collect::<Vec<_>>().join(" "),
        };
        read(&text);
        read(&format!("void f() {{ {text} }}"));
    }
}

#[test]
fn edited_programs_are_read() {
    let rounds = if cfg!(debug_assertions) { 3_000 } else { 50_000 };
    let mut refused = 0;
    for seed in 0..rounds {
        let mut random = Random(seed);
        let tree = generate::tree(&mut || random.next(), 60);
        let mut text: Vec<char> = print(&tree).chars().collect();
        for _ in 0..random.below(3) + 1 {
            let at = random.below(text.len().max(1)).min(text.len());
            let end = (at + random.below(6)).min(text.len());
            match random.below(4) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
                2 => drop(text.splice(at..end, PIECES[random.below(PIECES.len())].chars())),
                _ => text.truncate(at),
            }
        }
        refused += usize::from(!read(&text.into_iter().collect::<String>()).is_empty());
    }
    // Most edits break a program, not all.
    assert!(refused > rounds as usize / 3 && refused < rounds as usize, "{refused} of {rounds}");
}
