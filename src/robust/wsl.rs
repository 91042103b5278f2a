//! WSL text: whatever it is, tokens and a tree, or errors in it; and programs that both engines
//! execute alike.

use crate::generate::wsl::beside::{self, Bounds, Fuel};
use smallstep_semantics::uniformity;
use smallstep_semantics::wsl::desugar::desugar;
use smallstep_semantics::wsl::error::{Error, MAX_ERRORS};
use smallstep_semantics::wsl::lex::lex;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::{print, print_core};
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::token::TokenKind;
use smallstep_semantics::wsl::typing::show::Show;
use smallstep_semantics::wsl::validate::validate;

fn in_text(errors: &[Error], text: &str) {
    assert!(errors.len() <= MAX_ERRORS, "{} errors", errors.len());
    for e in errors {
        let inside = text.get(e.span.start as usize..e.span.end as usize).is_some();
        assert!(inside, "{e:?} lies outside the text or splits a character");
    }
}

/// WSL text: tokens one behind the other up to the end, between them white space and comments only,
/// each the same token alone; and errors with places.
pub fn wsl_lex(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (tokens, errors) = lex(text);
    in_text(&errors, text);
    let mut end = 0;
    for token in &tokens {
        let (start, next) = (token.span.start as usize, token.span.end as usize);
        let between = &text[end..start];
        let blank = between.trim_matches([' ', '\t', '\r', '\n']);
        assert!(blank.is_empty() || blank.starts_with("//") || blank.starts_with("/*"), "{between:?} lies between tokens");
        if token.kind != TokenKind::End {
            let word = &text[start..next];
            let alone = lex(word).0;
            assert!(alone.len() == 2 && alone[0].kind == token.kind, "{word:?} is {:?} in the text and {alone:?} alone", token.kind);
        }
        end = next;
    }
    assert_eq!((tokens.last().map(|t| t.kind), end), (Some(TokenKind::End), text.len()), "the tokens end before the text");
}

/// WSL text: errors with places, or a tree that prints and reads back to the same tree, and that
/// can be desugared.
pub fn wsl_parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (tree, errors) = parse(text);
    in_text(&errors, text);
    if errors.is_empty() {
        let printed = print(&tree);
        let (reparsed, errors) = parse(&printed);
        assert!(errors.is_empty(), "{printed} does not read back: {errors:?}");
        assert!(tree.same(&reparsed), "{printed} reads back to another tree");
        print_core(&desugar(tree).0);
    }
}

/// WSL text: errors with places, or a typed program whose derivations check, and can be shown.
pub fn wsl_validate(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let found = validate(text);
    in_text(&found.errors, text);
    assert_eq!(found.program.is_some(), found.errors.is_empty(), "neither valid nor refused, or both");
    if let Some(program) = &found.program {
        if let Err(refutation) = recheck(program) {
            panic!("the derivations of {text} do not check: {refutation}");
        }
        // Both modes of the uniformity analysis end, and explain themselves within the text.
        let seed = uniformity::seed::analyse(program);
        in_text(&seed.errors(), text);
        if let Ok(precise) = uniformity::wsl::analyse(program) {
            in_text(&precise.errors(), text);
            let metadata = uniformity::wsl::metadata(program);
            assert!(metadata.is_err() || metadata.is_ok_and(|all| all.len() == program.bodies.len()));
        }
        let show = Show::new(program, text);
        for i in 0..program.bodies.len() {
            let root = show.root(smallstep_semantics::wsl::environment::FunctionId(i as u32));
            let mut todo = vec![root];
            while let Some(node) = todo.pop() {
                let _ = (show.conclusion(node), show.annotation(node));
                todo.extend(show.premises(node));
            }
        }
    }
}

/// How much of a program is executed.
const BOUNDS: Bounds = Bounds { functions: 8, words: 2048, threads: 64, fuel: Fuel { machine: 200, relation: 5_000, time: None } };

/// WSL text: if it is a program, its functions with drawn arguments and its compute entry points
/// end on both engines as on each other, within little fuel, and nothing is stuck. How many runs
/// ended alike.
pub fn wsl_execute(bytes: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let Some(program) = validate(text).program else { return 0 };
    match beside::everything(&program, text, bytes.len() as u64, &BOUNDS) {
        Ok(ran) => ran.same,
        Err(differ) => panic!("{text}\n{differ}"),
    }
}
