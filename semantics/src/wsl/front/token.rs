//! WSL tokens: seed 004 "Lexical analysis". A token is a kind and a place. Names and values are
//! read from the text when they are needed.

use crate::text::Span;
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic, Qualifier};
use std::sync::LazyLock;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The class of the token, and which keyword or operator it is.
    pub kind: TokenKind,
    /// The bytes of the text that spell it.
    pub span: Span,
}

macro_rules! tokens {
    (keywords { $($keyword:ident $word:literal)* } reserved { $($reserved:literal)* } punctuation { $($mark:ident $sign:literal)* }) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            /// A name.
            Identifier,
            /// `operator` and the rest of an operator name, such as `operator+` or `operator&.x`.
            OperatorName,
            /// An integer without sign and without `u`.
            IntLiteral,
            /// An integer that ends in `u`.
            UintLiteral,
            /// A float without sign.
            FloatLiteral,
            /// The keyword of an address space.
            AddressSpace(AddressSpace),
            /// The keyword of an interpolation qualifier.
            Qualifier(Qualifier),
            /// The keyword of a built-in variable. `SV_Target` has its own kind.
            Builtin(BuiltinSemantic),
            /// A keyword that no production uses.
            Reserved,
            $(#[doc = concat!("`", $word, "`")] $keyword,)*
            $(#[doc = concat!("`", $sign, "`")] $mark,)*
            /// Characters that begin no token. The lexer has reported them.
            Unknown,
            /// The end of the text.
            End,
        }

        impl TokenKind {
            /// The punctuation: kinds and their signs.
            pub const PUNCTUATION: &'static [(TokenKind, &'static str)] = &[$((TokenKind::$mark, $sign),)*];
            /// The keywords that are neither address spaces, qualifiers nor built-in variables.
            pub const KEYWORDS: &'static [(TokenKind, &'static str)] =
                &[$((TokenKind::$keyword, $word),)* $((TokenKind::Reserved, $reserved),)*];

            /// The text of the token, if it is always the same.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    TokenKind::AddressSpace(space) => Some(space.keyword()),
                    TokenKind::Qualifier(qualifier) => Some(qualifier.keyword()),
                    TokenKind::Builtin(builtin) => Some(builtin.keyword()),
                    $(TokenKind::$keyword => Some($word),)*
                    $(TokenKind::$mark => Some($sign),)*
                    _ => None,
                }
            }
        }
    };
}

tokens! {
    keywords {
        Struct "struct" Typedef "typedef" Enum "enum" Operator "operator" Vertex "vertex" Fragment "fragment" Compute "compute" Numthreads "numthreads"
        If "if" Else "else" Switch "switch" Case "case" Default "default" While "while" Do "do" For "for" Break "break" Continue "continue"
        Discard "discard" Fallthrough "fallthrough" Return "return"
        True "true" False "false"
        SvTarget "SV_Target" Attribute "attribute" Register "register" Specialized "specialized"
    }
    // The seed's table of keywords spells SV_DispatchThreadID as SV_DispatchThreadId
    // (ERRATA WSL-A3).
    reserved { "protocol" "auto" "const" "static" "restricted" "native" "space" "uniform" "SV_DispatchThreadId" }
    punctuation {
        EqualEqual "==" NotEqual "!=" LessEqual "<=" GreaterEqual ">=" Less "<" Greater ">"
        Equal "=" PlusPlus "++" MinusMinus "--" PlusEqual "+=" MinusEqual "-=" StarEqual "*=" SlashEqual "/=" PercentEqual "%="
        CaretEqual "^=" AmpersandEqual "&=" PipeEqual "|=" ShiftRightEqual ">>=" ShiftLeftEqual "<<="
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%"
        AmpersandAmpersand "&&" PipePipe "||" Ampersand "&" Pipe "|" Caret "^" ShiftRight ">>" ShiftLeft "<<" Bang "!" Tilde "~"
        Arrow "->" Dot "." At "@"
        Question "?" Colon ":" Semicolon ";" Comma "," LeftBracket "[" RightBracket "]" LeftBrace "{" RightBrace "}" LeftParen "(" RightParen ")"
    }
}

impl TokenKind {
    /// Whether it is a keyword. Reserved keywords count.
    pub fn is_keyword(self) -> bool {
        matches!(self, TokenKind::AddressSpace(_) | TokenKind::Qualifier(_) | TokenKind::Builtin(_) | TokenKind::Reserved)
            || self.text().is_some_and(|word| word.as_bytes()[0].is_ascii_alphabetic())
    }
}

/// The longest keyword, in bytes.
const LONGEST: usize = 19;

/// All keywords, by length.
pub(in crate::wsl) struct Keywords([Vec<(&'static str, TokenKind)>; LONGEST + 1]);

/// The keywords of the language.
pub(in crate::wsl) static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let mut table = Keywords(Default::default());
    let plain = TokenKind::KEYWORDS.iter().map(|&(kind, word)| (word, kind));
    let spaces = AddressSpace::ALL.iter().map(|&s| (s.keyword(), TokenKind::AddressSpace(s)));
    let qualifiers = Qualifier::ALL.iter().map(|&q| (q.keyword(), TokenKind::Qualifier(q)));
    let builtins = BuiltinSemantic::ALL.iter().map(|&b| (b.keyword(), TokenKind::Builtin(b)));
    for (word, kind) in plain.chain(spaces).chain(qualifiers).chain(builtins) {
        table.0[word.len()].push((word, kind));
    }
    table
});

impl Keywords {
    /// The keyword that `word` is, if it is one.
    pub(in crate::wsl) fn of(&self, word: &str) -> Option<TokenKind> {
        self.0.get(word.len())?.iter().find(|(keyword, _)| *keyword == word).map(|&(_, kind)| kind)
    }
}
