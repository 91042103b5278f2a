//! Reading λV text: report §2. Numbers (sign, decimals, exponent), `true`, `false`, identifiers,
//! lists, and `;` comments to the line's end.
//!
//! The reader is a loop over the text with a stack of open lists, so nesting costs memory, never
//! stack; time is linear.

use super::syntax::{Expr, ExprId, Lines, Span, Tree};

/// The deepest nesting of lists that is read.
pub const MAX_NESTING: usize = 10_000;
/// The longest program text, in bytes.
pub const MAX_TEXT: usize = 64 << 20;

/// Why a text is no λV program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// The rule of the syntax that is broken, as `lv/syntax-unclosed`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The place in the text.
    pub span: Span,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// The codes of errors that are no rules' names: of the text, of names and of
/// what a derivation takes.
pub const CODES: [&str; 26] = [
    "lv/binder",
    "lv/binder-duplicate",
    "lv/define",
    "lv/form-place",
    "lv/func",
    "lv/let",
    "lv/limit",
    "lv/no-finite-derivation",
    "lv/output",
    "lv/output-duplicate",
    "lv/output-location",
    "lv/program-empty",
    "lv/program-form",
    "lv/program-output",
    "lv/rec-func",
    "lv/rec-outside",
    "lv/syntax-character",
    "lv/syntax-identifier-length",
    "lv/syntax-nesting",
    "lv/syntax-number",
    "lv/syntax-number-range",
    "lv/syntax-size",
    "lv/syntax-too-long",
    "lv/syntax-unclosed",
    "lv/syntax-unopened",
    "lv/unknown-identifier",
];

impl SyntaxError {
    pub(super) fn new(code: &'static str, span: Span, message: impl Into<String>) -> SyntaxError {
        SyntaxError { code, message: message.into(), span }
    }
}

/// Reads the top-level expressions of `text`.
///
/// Errors: an unclosed or unopened parenthesis, a malformed or too large number, a character
/// outside the syntax, more than [`MAX_NESTING`] open lists, a text longer than [`MAX_TEXT`]. An
/// empty text is a tree without roots.
pub fn parse(text: &str) -> Result<Tree, SyntaxError> {
    let mut tree = Tree::default();
    if text.len() > MAX_TEXT {
        let span = Span { start: 0, end: 0 };
        return Err(SyntaxError::new(
            "lv/syntax-too-long",
            span,
            format!("the text has {} bytes; at most {MAX_TEXT} are read", text.len()),
        ));
    }
    tree.lines = Lines::of(text);
    let bytes = text.as_bytes();
    let mut open: Vec<(u32, Vec<ExprId>)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at as u32;
        let node = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b';' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            b'(' => {
                at += 1;
                if open.len() == MAX_NESTING {
                    let span = Span { start, end: start + 1 };
                    let message = format!("lists are nested more than {MAX_NESTING} deep here; split the expression with define");
                    return Err(SyntaxError::new("lv/syntax-nesting", span, message));
                }
                open.push((start, Vec::new()));
                continue;
            }
            b')' => {
                at += 1;
                let span = Span { start, end: at as u32 };
                let Some((opened, items)) = open.pop() else {
                    return Err(SyntaxError::new("lv/syntax-unopened", span, "this `)` closes no list"));
                };
                tree.push(Expr::List(items), Span { start: opened, end: at as u32 })
            }
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b';') {
                    at += 1;
                }
                let span = Span { start, end: at as u32 };
                let expr = atom(&text[start as usize..at], span, &mut tree)?;
                tree.push(expr, span)
            }
        };
        match open.last_mut() {
            Some((_, items)) => items.push(node),
            None => tree.roots.push(node),
        }
    }
    if let Some((start, _)) = open.last() {
        let span = Span { start: *start, end: *start + 1 };
        let message = match open.len() {
            1 => "this `(` is never closed".to_string(),
            n => format!("this `(` is never closed ({n} lists are open at the end of the text)"),
        };
        return Err(SyntaxError::new("lv/syntax-unclosed", span, message));
    }
    Ok(tree)
}

fn atom(word: &str, span: Span, tree: &mut Tree) -> Result<Expr, SyntaxError> {
    match word {
        "true" => return Ok(Expr::Bool(true)),
        "false" => return Ok(Expr::Bool(false)),
        _ => {}
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let numeric = unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit());
    if numeric {
        if !is_number(unsigned) {
            let message = format!("`{}` is no number; numbers are written as 1, -0.5, .25 or 6.02e23", shorten(word));
            return Err(SyntaxError::new("lv/syntax-number", span, message));
        }
        // Rust's float parser is correctly rounded, so the text means the nearest 32-bit float.
        let x: f32 = word.parse().map_err(|_| SyntaxError::new("lv/syntax-number", span, format!("`{}` is no number", shorten(word))))?;
        if !x.is_finite() {
            let message = format!("{} is beyond the largest 32-bit float, {:e}", shorten(word), f32::MAX);
            return Err(SyntaxError::new("lv/syntax-number-range", span, message));
        }
        return Ok(Expr::Num(x));
    }
    if let Some(c) = word.chars().find(|c| !is_identifier_char(*c)) {
        let message = format!("the character `{}` cannot stand in an identifier", c.escape_default());
        return Err(SyntaxError::new("lv/syntax-character", span, message));
    }
    if word.len() > 255 {
        return Err(SyntaxError::new(
            "lv/syntax-identifier-length",
            span,
            format!("an identifier of {} bytes; at most 255 are allowed", word.len()),
        ));
    }
    Ok(Expr::Ident(tree.symbols.intern(word)))
}

fn is_identifier_char(c: char) -> bool {
    c.is_alphanumeric() || "_-+*/<>=!?.$%&:~^'@".contains(c)
}

/// digits [. digits] [e [sign] digits], or . digits …
fn is_number(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((m, e)) => (m, Some(e)),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_ok && exponent_ok
}

/// At most 40 characters of a word, for messages.
fn shorten(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (&'static str, u32) {
        let e = parse(text).unwrap_err();
        (e.code, e.span.start)
    }

    #[test]
    fn numbers_identifiers_and_lists_print_back() {
        let text = "(define k -1.5e-3) ; a comment\n(+ (x? a->b) .25 1e30 () true - -x 0.1)";
        let tree = parse(text).unwrap();
        assert_eq!(tree.print(), "(define k -0.0015)\n(+ (x? a->b) 0.25 1e30 () true - -x 0.1)\n");
        assert!(tree.same(&parse(&tree.print()).unwrap()));
        assert!(!tree.same(&parse("(define k 1)").unwrap()));
    }

    #[test]
    fn every_error_names_its_place() {
        assert_eq!(error("(+ 1 2"), ("lv/syntax-unclosed", 0));
        assert_eq!(error("1 )"), ("lv/syntax-unopened", 2));
        assert_eq!(error("(+ 1 2x)"), ("lv/syntax-number", 5));
        assert_eq!(error("1.e"), ("lv/syntax-number", 0));
        assert_eq!(error(" 1e39"), ("lv/syntax-number-range", 1));
        assert_eq!(error("a\"b"), ("lv/syntax-character", 0));
        assert_eq!(error(&"(".repeat(100_000)), ("lv/syntax-nesting", MAX_NESTING as u32));
        assert_eq!(error(&"z".repeat(1000)), ("lv/syntax-identifier-length", 0));
        assert_eq!(parse("1.").unwrap().nodes, [Expr::Num(1.0)]);
    }

    #[test]
    fn every_finite_float_prints_back() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let x = f32::from_bits(bits);
            if x.is_finite() {
                let mut text = String::new();
                print_number_into(x, &mut text);
                assert_eq!(parse(&text).unwrap().nodes, [Expr::Num(x)], "{text}");
            }
        }
    }

    fn print_number_into(x: f32, out: &mut String) {
        super::super::syntax::print_number(x, out);
    }
}
