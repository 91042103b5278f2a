//! Several errors in one text, each reported once.

use smallstep_semantics::wsl::parse::parse;

/// Texts with `¦` before each place of an error. There are no other errors.
const TEXTS: &[&str] = &[
    "void f() { x = ¦; y = 1; z = ¦; }",
    "void f() { x = ¦; } void g() { y = ¦; }",
    "struct S { int ¦; float x; int ¦5; } void f() { x = ¦; }",
    "typedef T ¦int; typedef U = ¦; typedef V = int;",
    "void f(int¦) { x = ¦; } void g() { y = ¦; }",
    "void f() { if (a ¦b) { x = ¦; } else { y = ¦; } z = ¦; }",
    "void f() { while (¦) { x = ¦; } y = ¦; }",
    "void f() { for (a = ¦; b; c) { x = ¦; } y = ¦; }",
    "void f() { for (int i = 0; i < ¦; ++i) { x = ¦; } }",
    "void f() { switch (a) { case x ¦+ 1: y = ¦; case 1: z = ¦; } w = ¦; }",
    "void f() { do { x = ¦; } while (¦); y = ¦; }",
    "void f() { { { x = ¦; } y = ¦; } z = ¦; }",
    "void f() { if (a) x = ¦; else y = ¦; z = ¦; }",
    "void f() { x = f(a, (b ¦c), d); y = ¦; }",
    "void f() { int x = ¦; int y = 1, ¦; }",
    "void f() { a ¦+ b; a ¦== b; f().x¦(); }",
    "enum E { A = ¦, B } void f() { x = ¦; }",
    "enum E { A ¦B } enum F { ¦5 } enum G { A }",
    "void f() { x = 1; ¦struct S { int ¦; } void g() { y = ¦; }",
    "vertex float4 ¦5() { x = ¦; } [numthreads(1, 1¦)] compute void f() { y = ¦; }",
    "¦compute void f() { } ¦5; void g() { x = ¦; }",
    "void f() { x = a ¦$ b; y = ¦; } ¦# ; void g() { z = ¦; }",
    "void f() { ¦else x = 1; ¦case 1: y = 1; z = ¦; }",
    "void f() { return ¦return; break ¦5; continue¦, a; }",
    "int x¦; int y ¦= 3; void f() { z = ¦; }",
    "void f() { ¦const int x = 1; ¦auto y = 2; z = 1; }",
    "struct S { int x¦ } struct T { int ¦; }",
    "void f() { x = ¦; ¦/* never closed",
    "void f() { int ¦operator+; x = ¦; }",
    "void f() { a < ¦; x = ¦; }",
    "void f() ¦; void g() ¦; void h() { x = ¦; }",
];

#[test]
fn each_error_is_reported_once() {
    let mut wrong = Vec::new();
    for marked in TEXTS {
        let mut places = Vec::new();
        let mut text = String::new();
        for (i, part) in marked.split('¦').enumerate() {
            // White space before a place does not count.
            if i > 0 {
                places.push(text.len() + part.bytes().take_while(|&b| b == b' ').count());
            }
            text.push_str(part);
        }
        let errors = parse(&text).1;
        let found: Vec<usize> = errors.iter().map(|e| e.span.start as usize).collect();
        let messages: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
        if found != places {
            wrong.push(format!("{text}\nat {found:?}, not {places:?}: {messages:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_brace_says_which_was_opened() {
    let text = "void f() { x = 1; if (a) { y = 2; ";
    let errors = parse(text).1;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].span.start as usize, text.len());
    assert_eq!(errors[0].notes[0].0.map(|s| s.start as usize), text.rfind('{'));
}
