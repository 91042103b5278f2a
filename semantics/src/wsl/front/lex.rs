//! WSL lexical analysis: seed 004 "Lexical analysis".
//!
//! One pass over the text, in linear time for every text. Each token is as long as possible. `-` is
//! no part of a literal token: the parser folds it into the literal that follows (ERRATA WSL-A2).

use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::error::{Error, MAX_ERRORS, limited};
use crate::wsl::syntax::MAX_TEXT;
use crate::wsl::token::{KEYWORDS, Keywords, Token, TokenKind};

/// The tokens of `text`, the last of which is [`TokenKind::End`], and the lexical errors.
///
/// ```text
/// token ::= IntLiteral | FloatLiteral | punctuation | keyword | Identifier | OperatorName
///                                                                                  [wsl/lex-token]
/// ```
pub fn lex(text: &str) -> (Vec<Token>, Vec<Error>) {
    let mut lexer = Lexer::new(text);
    lexer.tokens();
    (lexer.tokens, limited(lexer.errors))
}

/// Reads tokens from left to right.
pub(in crate::wsl) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The place of the next byte.
    at: usize,
    pub(in crate::wsl) tokens: Vec<Token>,
    pub(in crate::wsl) errors: Vec<Error>,
    keywords: &'static Keywords,
}

impl<'a> Lexer<'a> {
    pub(in crate::wsl) fn new(text: &'a str) -> Lexer<'a> {
        Lexer {
            text,
            bytes: text.as_bytes(),
            at: 0,
            tokens: Vec::with_capacity(text.len().min(MAX_TEXT) / 4 + 1),
            errors: Vec::new(),
            keywords: &KEYWORDS,
        }
    }

    /// Reads the whole text.
    pub(in crate::wsl) fn tokens(&mut self) {
        if self.text.len() > MAX_TEXT {
            let message = format!("the text has {} bytes; at most {MAX_TEXT} are read", self.text.len());
            self.error(Rule::WslLexToken, Span { start: 0, end: 0 }, message);
            self.tokens.push(Token { kind: TokenKind::End, span: Span { start: 0, end: 0 } });
            return;
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at = whitespace(self.bytes, self.at),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => self.at = line_comment(self.bytes, self.at),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => self.comment(),
                b'0'..=b'9' => self.number(),
                b'.' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) => self.number(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(),
                _ => match punctuation(&self.bytes[self.at..]) {
                    Some((kind, length)) => self.push(kind, self.at + length),
                    None => self.unknown(),
                },
            }
        }
        self.push(TokenKind::End, self.at);
    }

    fn error(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        // Keeps one error more than is reported, so that `limited` notices that there are more.
        if self.errors.len() <= MAX_ERRORS {
            self.errors.push(Error::new(rule, span, message));
        }
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token { kind, span: Span { start: self.at as u32, end: end as u32 } });
        self.at = end;
    }

    /// Skips a `/* … */`. If nothing closes it, reports an error and goes to the end of the text.
    fn comment(&mut self) {
        match block_comment(self.bytes, self.at) {
            Some(end) => self.at = end,
            None => {
                let span = Span { start: self.at as u32, end: self.at as u32 + 2 };
                self.error(Rule::WslLexBlockComment, span, "this comment is never closed; it needs `*/`");
                self.at = self.bytes.len();
            }
        }
    }

    /// Reads the longest literal that the text begins with. A digit sequence that begins with 0 and
    /// is no float becomes several literals.
    fn number(&mut self) {
        let digits = digits_end(self.bytes, self.at);
        if let Some(end) = float(self.bytes, self.at, digits) {
            return self.push(TokenKind::FloatLiteral, end);
        }
        while self.at + 1 < digits && self.bytes[self.at] == b'0' {
            self.push(TokenKind::IntLiteral, self.at + 1);
        }
        let (bytes, at) = (self.bytes, self.at);
        let unsigned = unsigned_hexadecimal(bytes, at).or_else(|| unsigned_decimal(bytes, at, digits));
        match unsigned {
            Some(end) => self.push(TokenKind::UintLiteral, end),
            None => self.push(TokenKind::IntLiteral, signed_hexadecimal(bytes, at).unwrap_or_else(|| signed_decimal(at, digits))),
        }
    }

    /// Reads a word that begins with a letter or `_`: an operator name, a keyword or an identifier.
    fn word(&mut self) {
        let end = identifier(self.text, self.at);
        if end == self.at {
            return self.unknown();
        }
        let word = &self.text[self.at..end];
        match keyword(self.keywords, word) {
            Some(TokenKind::Operator) => self.operator(end),
            Some(kind) => self.push(kind, end),
            None => {
                if word == "_" {
                    let span = Span { start: self.at as u32, end: end as u32 };
                    self.error(Rule::WslLexIdentifier, span, "`_` alone is reserved; an identifier needs another character");
                }
                self.push(TokenKind::Identifier, end);
            }
        }
    }

    /// Reads the keyword `operator`, or an operator name that begins with it.
    fn operator(&mut self, after: usize) {
        let Some((field, end)) = operator_name(self.text, after) else { return self.push(TokenKind::Operator, after) };
        if let Some(field) = field {
            let name = &self.text[field.start as usize..field.end as usize];
            if name == "_" || keyword(self.keywords, name).is_some() {
                let message = format!(
                    "`{name}` is {}; an operator name needs an identifier after `.`",
                    if name == "_" { "reserved" } else { "a keyword" }
                );
                self.error(Rule::WslLexOperatorName, field, message);
            }
        }
        self.push(TokenKind::OperatorName, end);
    }

    /// Reports characters that begin no token. Adjacent ones have one error together.
    fn unknown(&mut self) {
        let mut rest = self.text[self.at..].chars();
        let first = rest.next().unwrap_or_default();
        let length = first.len_utf8() + rest.take_while(|&c| !begins_token(c)).map(char::len_utf8).sum::<usize>();
        let span = Span { start: self.at as u32, end: (self.at + first.len_utf8()) as u32 };
        self.error(Rule::WslLexToken, span, format!("found `{}`; no token begins with this character", first.escape_debug()));
        self.push(TokenKind::Unknown, self.at + length);
    }
}

/// Whether a character begins a token or is white space.
fn begins_token(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => {
            matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'_') || byte.is_ascii_alphanumeric() || punctuation(&[byte]).is_some()
        }
        _ => c.is_alphabetic(),
    }
}

/// The end of the white space at `at`.
///
/// ```text
/// whitespace ::= " " | "\t" | "\r" | "\n"        [wsl/lex-whitespace]
/// ```
fn whitespace(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count()
}

/// The end of the line comment at `at`: the next `\n`, or the end of the text.
///
/// ```text
/// line-comment ::= "//" [^\n]*        [wsl/lex-line-comment]
/// ```
fn line_comment(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|&&b| b != b'\n').count()
}

/// The end of the multi-line comment at `at`, after the first `*/`. `None` if nothing closes it.
///
/// ```text
/// block-comment ::= "/*" (whatever has no "*/") "*/"        [wsl/lex-block-comment]
/// ```
fn block_comment(bytes: &[u8], at: usize) -> Option<usize> {
    bytes[at + 2..].windows(2).position(|w| w == b"*/").map(|p| at + 2 + p + 2)
}

/// The end of the digits at `at`.
fn digits_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The end of a decimal literal that needs no `u`. Its digits end at `digits`. If there are
/// several, the first is not 0. The parser reads the sign (ERRATA WSL-A2).
///
/// ```text
/// signed-decimal ::= "-"? ("0" | [1-9] [0-9]*)        [wsl/lex-signed-decimal; WSL-A2, WSL-A7]
/// ```
fn signed_decimal(at: usize, digits: usize) -> usize {
    debug_assert!(at < digits);
    digits
}

/// The end of an unsigned decimal literal, whose digits end at `digits`. `None` without `u`.
///
/// ```text
/// unsigned-decimal ::= ("0" | [1-9] [0-9]*) "u"        [wsl/lex-unsigned-decimal]
/// ```
fn unsigned_decimal(bytes: &[u8], at: usize, digits: usize) -> Option<usize> {
    let end = signed_decimal(at, digits);
    (bytes.get(end) == Some(&b'u')).then_some(end + 1)
}

/// The end of a hexadecimal literal that needs no `u`. The parser reads the sign (ERRATA WSL-A2).
///
/// ```text
/// signed-hexadecimal ::= "-"? "0x" [0-9a-fA-F]+        [wsl/lex-signed-hexadecimal; WSL-A2]
/// ```
fn signed_hexadecimal(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes[at..].strip_prefix(b"0x")?.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    (digits > 0).then_some(at + 2 + digits)
}

/// The end of an unsigned hexadecimal literal.
///
/// ```text
/// unsigned-hexadecimal ::= "0x" [0-9a-fA-F]+ "u"        [wsl/lex-unsigned-hexadecimal]
/// ```
fn unsigned_hexadecimal(bytes: &[u8], at: usize) -> Option<usize> {
    let end = signed_hexadecimal(bytes, at)?;
    (bytes.get(end) == Some(&b'u')).then_some(end + 1)
}

/// The end of a float literal, whose digits before the `.` end at `digits`. The parser reads the
/// sign (ERRATA WSL-A2).
///
/// ```text
/// float ::= "-"? ([0-9]+ "." [0-9]* | [0-9]* "." [0-9]+) "f"?      [wsl/lex-float; WSL-A2, WSL-A7]
/// ```
fn float(bytes: &[u8], at: usize, digits: usize) -> Option<usize> {
    if bytes.get(digits) != Some(&b'.') {
        return None;
    }
    let end = digits_end(bytes, digits + 1);
    let has_digits = digits > at || end > digits + 1;
    has_digits.then(|| end + usize::from(bytes.get(end) == Some(&b'f')))
}

/// The keyword that `word` is, if it is one.
///
/// ```text
/// keyword ::= "struct" | "typedef" | … | "uniform"        [wsl/lex-keyword; WSL-A3]
/// ```
fn keyword(keywords: &Keywords, word: &str) -> Option<TokenKind> {
    keywords.of(word)
}

/// The longest punctuation at the start of `bytes`, and its length.
///
/// ```text
/// punctuation ::= "==" | "!=" | "<=" | ">=" | … | ")"
///                                       [wsl/lex-punctuation; WSL-A1: the table has "=>" for ">="]
/// ```
fn punctuation(bytes: &[u8]) -> Option<(TokenKind, usize)> {
    use TokenKind as T;
    let next = |n: usize| bytes.get(n).copied().unwrap_or(0);
    Some(match (*bytes.first()?, next(1), next(2)) {
        (b'>', b'>', b'=') => (T::ShiftRightEqual, 3),
        (b'<', b'<', b'=') => (T::ShiftLeftEqual, 3),
        (b'>', b'>', _) => (T::ShiftRight, 2),
        (b'<', b'<', _) => (T::ShiftLeft, 2),
        (b'=', b'=', _) => (T::EqualEqual, 2),
        (b'!', b'=', _) => (T::NotEqual, 2),
        (b'<', b'=', _) => (T::LessEqual, 2),
        (b'>', b'=', _) => (T::GreaterEqual, 2),
        (b'+', b'+', _) => (T::PlusPlus, 2),
        (b'-', b'-', _) => (T::MinusMinus, 2),
        (b'+', b'=', _) => (T::PlusEqual, 2),
        (b'-', b'=', _) => (T::MinusEqual, 2),
        (b'*', b'=', _) => (T::StarEqual, 2),
        (b'/', b'=', _) => (T::SlashEqual, 2),
        (b'%', b'=', _) => (T::PercentEqual, 2),
        (b'^', b'=', _) => (T::CaretEqual, 2),
        (b'&', b'=', _) => (T::AmpersandEqual, 2),
        (b'|', b'=', _) => (T::PipeEqual, 2),
        (b'&', b'&', _) => (T::AmpersandAmpersand, 2),
        (b'|', b'|', _) => (T::PipePipe, 2),
        (b'-', b'>', _) => (T::Arrow, 2),
        (b'<', ..) => (T::Less, 1),
        (b'>', ..) => (T::Greater, 1),
        (b'=', ..) => (T::Equal, 1),
        (b'+', ..) => (T::Plus, 1),
        (b'-', ..) => (T::Minus, 1),
        (b'*', ..) => (T::Star, 1),
        (b'/', ..) => (T::Slash, 1),
        (b'%', ..) => (T::Percent, 1),
        (b'&', ..) => (T::Ampersand, 1),
        (b'|', ..) => (T::Pipe, 1),
        (b'^', ..) => (T::Caret, 1),
        (b'!', ..) => (T::Bang, 1),
        (b'~', ..) => (T::Tilde, 1),
        (b'.', ..) => (T::Dot, 1),
        (b'@', ..) => (T::At, 1),
        (b'?', ..) => (T::Question, 1),
        (b':', ..) => (T::Colon, 1),
        (b';', ..) => (T::Semicolon, 1),
        (b',', ..) => (T::Comma, 1),
        (b'[', ..) => (T::LeftBracket, 1),
        (b']', ..) => (T::RightBracket, 1),
        (b'{', ..) => (T::LeftBrace, 1),
        (b'}', ..) => (T::RightBrace, 1),
        (b'(', ..) => (T::LeftParen, 1),
        (b')', ..) => (T::RightParen, 1),
        _ => return None,
    })
}

/// The end of the identifier or keyword at `at`, or `at` itself if there is none. The seed leaves
/// open which characters it may have beyond `_`. Here these are letters and digits of any script
/// (ERRATA WSL-A6).
///
/// ```text
/// Identifier ::= (letter | "_") (letter | digit | "_")*, neither "_" nor a keyword
///                                                                     [wsl/lex-identifier; WSL-A6]
/// ```
fn identifier(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = at;
    loop {
        match bytes.get(end) {
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' || (b.is_ascii_digit() && end > at) => end += 1,
            Some(0x80..) => match text[end..].chars().next() {
                Some(c) if c.is_alphabetic() || (c.is_alphanumeric() && end > at) => end += c.len_utf8(),
                _ => return end,
            },
            _ => return end,
        }
    }
}

/// The rest of an operator name, after the keyword `operator`, which ends at `after`. Returns the
/// place of its field, if it has one, and the end of the name. White space is not allowed in it
/// (ERRATA WSL-A8).
///
/// ```text
/// OperatorName ::= "operator" ("<<" | ">>" | "+" | "-" | "*" | "/" | "%" | "&" | "^" | "|" | ">="
///     | "<=" | "==" | "!=" | "<" | ">" | "++" | "--" | "!"
///                | "~" | "[]" | "[]=" | "&[]" | "&." Identifier | "." Identifier | "." Identifier
///                    "=")
///                                                                  [wsl/lex-operator-name; WSL-A8]
/// ```
fn operator_name(text: &str, after: usize) -> Option<(Option<Span>, usize)> {
    const SIGNS: [&str; 23] =
        ["[]=", "&[]", "<<", ">>", ">=", "<=", "==", "!=", "++", "--", "[]", "+", "-", "*", "/", "%", "&", "^", "|", "<", ">", "!", "~"];
    let rest = &text.as_bytes()[after..];
    if !rest.first()?.is_ascii_punctuation() {
        return None;
    }
    let dot = usize::from(rest.first() == Some(&b'&'));
    if rest.get(dot) == Some(&b'.') {
        let start = after + dot + 1;
        let end = identifier(text, start);
        if end > start {
            let setter = dot == 0 && text.as_bytes().get(end) == Some(&b'=');
            return Some((Some(Span { start: start as u32, end: end as u32 }), end + usize::from(setter)));
        }
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
    Some((None, after + sign.len()))
}

/// The lexical rules that made `tokens` of `text`.
pub(in crate::wsl) fn rules(text: &str, tokens: &[Token]) -> Vec<Rule> {
    let mut rules = vec![Rule::WslLexToken];
    let mut end = 0;
    for token in tokens {
        let between = &text[end..token.span.start as usize];
        let word = &text[token.span.start as usize..token.span.end as usize];
        end = token.span.end as usize;
        if between.contains([' ', '\t', '\r', '\n']) {
            rules.push(Rule::WslLexWhitespace);
        }
        if between.contains("//") {
            rules.push(Rule::WslLexLineComment);
        }
        if between.contains("/*") {
            rules.push(Rule::WslLexBlockComment);
        }
        rules.push(match token.kind {
            TokenKind::Identifier => Rule::WslLexIdentifier,
            TokenKind::OperatorName => Rule::WslLexOperatorName,
            TokenKind::IntLiteral if word.starts_with("0x") => Rule::WslLexSignedHexadecimal,
            TokenKind::IntLiteral => Rule::WslLexSignedDecimal,
            TokenKind::UintLiteral if word.starts_with("0x") => Rule::WslLexUnsignedHexadecimal,
            TokenKind::UintLiteral => Rule::WslLexUnsignedDecimal,
            TokenKind::FloatLiteral => Rule::WslLexFloat,
            TokenKind::Unknown | TokenKind::End => continue,
            kind if kind.is_keyword() => Rule::WslLexKeyword,
            _ => Rule::WslLexPunctuation,
        });
    }
    rules.sort_unstable();
    rules.dedup();
    rules
}
