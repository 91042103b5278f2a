//! The tokens of texts, and the values of literals.

use smallstep_semantics::wsl::lex::lex;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::syntax::{Expr, IntLiteral, Literal, Magnitude};
use smallstep_semantics::wsl::token::TokenKind;

/// The tokens' texts, separated by blanks.
fn tokens(text: &str) -> String {
    let (tokens, errors) = lex(text);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    assert_eq!(tokens.last().map(|t| t.kind), Some(TokenKind::End));
    let each = tokens[..tokens.len() - 1].iter().map(|t| &text[t.span.start as usize..t.span.end as usize]);
    each.collect::<Vec<_>>().join(" ")
}

#[test]
fn tokens_are_as_long_as_possible() {
    let cases = [
        ("a+++++b", "a ++ ++ + b"),
        ("a---b", "a -- - b"),
        ("a-1", "a - 1"),
        ("a->b", "a -> b"),
        ("a-->b", "a -- > b"),
        ("a>>=b>>c>=d>e", "a >>= b >> c >= d > e"),
        ("a<<=b<<c<=d<e", "a <<= b << c <= d < e"),
        ("a>>>b", "a >> > b"),
        ("a>>>=b", "a >> >= b"),
        ("a===b!==c", "a == = b != = c"),
        ("a=>b", "a = > b"),
        ("a&&&b|||c", "a && & b || | c"),
        ("a&=b&&=c", "a &= b && = c"),
        ("1a3", "1 a3"),
        ("1f", "1 f"),
        ("1.0f", "1.0f"),
        ("1.0F", "1.0 F"),
        ("1.f", "1.f"),
        ("1.foo", "1.f oo"),
        ("1.x", "1. x"),
        ("1..x", "1. . x"),
        ("1...", "1. . ."),
        ("1.5.5", "1.5 .5"),
        ("a.5", "a .5"),
        ("a.b.5f", "a . b .5f"),
        ("1e5", "1 e5"),
        ("1.0e5", "1.0 e5"),
        ("1.5u", "1.5 u"),
        ("007", "0 0 7"),
        ("007u", "0 0 7u"),
        ("00", "0 0"),
        ("0u0", "0u 0"),
        ("007.5", "007.5"),
        ("00x1F", "0 0x1F"),
        ("0x", "0 x"),
        ("0xg", "0 xg"),
        ("0X1", "0 X1"),
        ("0x1Fu", "0x1Fu"),
        ("0x1FU", "0x1F U"),
        ("0x1.5", "0x1 .5"),
        ("0xffuu", "0xffu u"),
        ("1u2", "1u 2"),
        ("10u", "10u"),
        ("-1", "- 1"),
        ("-0x1", "- 0x1"),
        ("-1.0", "- 1.0"),
        ("SV_Target0", "SV_Target0"),
        ("SV_Target 0", "SV_Target 0"),
        ("operator+", "operator+"),
        ("operator++", "operator++"),
        ("operator+++", "operator++ +"),
        ("operator<<=", "operator<< ="),
        ("operator<=", "operator<="),
        ("operator->", "operator- >"),
        ("operator--", "operator--"),
        ("operator&&", "operator& &"),
        ("operator&[]", "operator&[]"),
        ("operator&[]=", "operator&[] ="),
        ("operator[]", "operator[]"),
        ("operator[]=", "operator[]="),
        ("operator[ ]", "operator [ ]"),
        ("operator[]==", "operator[]= ="),
        ("operator.x", "operator.x"),
        ("operator.x=", "operator.x="),
        ("operator.x==", "operator.x= ="),
        ("operator.x =", "operator.x ="),
        ("operator. x", "operator . x"),
        ("operator.1", "operator .1"),
        ("operator&.x", "operator&.x"),
        ("operator&.x=", "operator&.x ="),
        ("operator& .x", "operator& . x"),
        ("operator&.", "operator& ."),
        ("operator&&.x", "operator& & . x"),
        ("operator.", "operator ."),
        ("operator.x.y", "operator.x . y"),
        ("operator.größe=", "operator.größe="),
        ("operator +", "operator +"),
        ("operator/**/+", "operator/ * * / +"),
        ("operatora+", "operatora +"),
        ("operator/*a*/", "operator/ * a * /"),
        ("operator//a", "operator/ / a"),
        ("operator/ /a", "operator/ / a"),
        ("operator=", "operator ="),
        ("operator!=", "operator!="),
        ("operator!", "operator!"),
        ("operator~=", "operator~ ="),
        ("a/b//c\nd/*e*/f", "a / b d f"),
        ("a\t\r\n b", "a b"),
        ("//\r a", ""),
        ("/**/a/***/b/*/*/c", "a b c"),
        ("变量+größe", "变量 + größe"),
    ];
    for (text, expected) in cases {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn every_keyword_is_one_and_no_part_of_another_word() {
    let words = TokenKind::KEYWORDS.iter().map(|&(kind, word)| (kind, word));
    for (kind, word) in words {
        let kinds = |text: &str| lex(text).0.iter().map(|t| t.kind).collect::<Vec<_>>();
        assert_eq!(kinds(word), [kind, TokenKind::End], "{word}");
        assert!(kind.is_keyword(), "{word}");
        assert_eq!(kinds(&format!("{word}x")), [TokenKind::Identifier, TokenKind::End], "{word}x");
        assert_eq!(kinds(&format!("_{word}")), [TokenKind::Identifier, TokenKind::End], "_{word}");
        let other = if word == word.to_uppercase() { word.to_lowercase() } else { word.to_uppercase() };
        assert_eq!(kinds(&other), [TokenKind::Identifier, TokenKind::End], "{other}");
    }
    for &(kind, sign) in TokenKind::PUNCTUATION {
        assert_eq!(lex(sign).0.iter().map(|t| t.kind).collect::<Vec<_>>(), [kind, TokenKind::End], "{sign}");
        assert!(!kind.is_keyword(), "{sign}");
    }
    // The seed's table: 8 of the top level, 13 of control flow, 2 literals, SV_Target and 3 other
    // semantics, 8 reserved ones, and the second spelling of SV_DispatchThreadID. Then the keywords
    // that have token kinds of their own.
    assert_eq!(TokenKind::KEYWORDS.len(), 8 + 13 + 2 + 4 + 9);
    let spaces = ["constant", "device", "threadgroup", "thread", "nointerpolation", "noperspective", "centroid", "sample"];
    let builtins = "SV_InstanceID SV_VertexID PSIZE SV_Position SV_IsFrontFace SV_SampleIndex SV_InnerCoverage SV_Depth SV_Coverage SV_DispatchThreadID \
                    SV_GroupID SV_GroupIndex SV_GroupThreadID";
    for word in spaces.into_iter().chain(builtins.split_whitespace()) {
        let kind = lex(word).0[0].kind;
        assert!(kind.is_keyword() && kind.text() == Some(word), "{word} is {kind:?}");
    }
}

fn literal(text: &str) -> Literal {
    let (tree, errors) = parse(&format!("void f() {{ x = {text}; }}"));
    assert!(errors.is_empty(), "{text}: {errors:?}");
    match tree.exprs.iter().find_map(|(e, _)| if let Expr::Literal(l) = e { Some(*l) } else { None }) {
        Some(literal) => literal,
        None => panic!("{text} has no literal"),
    }
}

#[test]
fn integer_literals_have_their_values() {
    let int = |negative, unsigned, hexadecimal, magnitude| Literal::Int(IntLiteral { negative, unsigned, hexadecimal, magnitude });
    let exact = Magnitude::Exact;
    let cases = [
        ("0", int(false, false, false, exact(0))),
        ("-0", int(true, false, false, exact(0))),
        ("42", int(false, false, false, exact(42))),
        ("- 42", int(true, false, false, exact(42))),
        ("42u", int(false, true, false, exact(42))),
        ("0xfF", int(false, false, true, exact(255))),
        ("-0x80000000", int(true, false, true, exact(1 << 31))),
        ("0x000000000000000000000001u", int(false, true, true, exact(1))),
        ("18446744073709551615", int(false, false, false, exact(u64::MAX))),
        ("18446744073709551616", int(false, false, false, Magnitude::Large(1.844_674_4e19))),
        ("0xffffffffffffffff", int(false, false, true, exact(u64::MAX))),
        ("0x10000000000000000", int(false, false, true, Magnitude::Large(1.844_674_4e19))),
        // Halfway between two floats, and the same with a bit far behind.
        ("0x100000100000000000", int(false, false, true, Magnitude::Large(0x10_0000 as f32 * 2f32.powi(48)))),
        ("0x1000001000000000000001", int(false, false, true, Magnitude::Large(8_388_609.0 * 2f32.powi(61)))),
        ("0x1000001000000000000000", int(false, false, true, Magnitude::Large(8_388_608.0 * 2f32.powi(61)))),
        // The greatest float, and the least integer that rounds to infinity.
        ("0xffffff00000000000000000000000000", int(false, false, true, Magnitude::Large(f32::MAX))),
        ("0xffffff7fffffffffffffffffffffffff", int(false, false, true, Magnitude::Large(f32::MAX))),
        ("0xffffff80000000000000000000000000", int(false, false, true, Magnitude::Large(f32::INFINITY))),
        ("340282356779733661637539395458142568447", int(false, false, false, Magnitude::Large(f32::MAX))),
        ("340282356779733661637539395458142568448", int(false, false, false, Magnitude::Large(f32::INFINITY))),
    ];
    for (text, expected) in cases {
        assert_eq!(literal(text), expected, "{text}");
    }
}

#[test]
fn float_literals_are_the_nearest_floats() {
    let cases = [
        ("0.0", 0.0),
        ("-0.0", -0.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5f", -0.5),
        ("0.1", f32::from_bits(0x3dcc_cccd)),
        ("16777217.0", 16_777_216.0),
        ("16777219.0", 16_777_220.0),
        ("0.00000000000000000000000000000000000000000000140129846432481707", f32::from_bits(1)),
        ("0.0000000000000000000000000000000000000000000007006", 0.0),
        ("340282346638528859811704183484516925440.0", f32::MAX),
        ("340282356779733661637539395458142568448.0", f32::INFINITY),
    ];
    for (text, expected) in cases {
        assert_eq!(literal(text), Literal::Float(expected), "{text}");
    }
}
