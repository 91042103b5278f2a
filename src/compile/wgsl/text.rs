//! WGSL expressions as texts, with the parentheses that the grammar requires (WGSL §8.19).

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use arrayvec::ArrayString;

/// The components of a vector.
pub(super) const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The most bytes of a text that is stored inline.
const SHORT: usize = 24;

/// An immutable text that is cheap to copy. Most texts are names and literals.
#[derive(Clone)]
pub(super) enum Text {
    Short(ArrayString<SHORT>),
    Long(Rc<str>),
}

impl Text {
    /// The concatenation of several texts.
    pub(super) fn of(parts: &[&str]) -> Text {
        let mut text = ArrayString::new();
        if parts.iter().all(|part| part.is_empty() || text.try_push_str(part).is_ok()) {
            return Text::Short(text);
        }
        let mut draft = Draft::default();
        parts.iter().for_each(|part| draft.push(part));
        draft.text()
    }

    /// A number between two texts.
    pub(super) fn numbered(before: &str, number: u64, after: &str) -> Text {
        // 20 digits are enough for any `u64`. The last digit is computed first.
        let (mut digits, mut count, mut remaining) = ([0; 20], 0, number);
        loop {
            (digits[count], remaining) = ((remaining % 10) as u8, remaining / 10);
            count += 1;
            if remaining == 0 {
                break;
            }
        }
        let mut text = ArrayString::new();
        let mut fits = text.try_push_str(before).is_ok();
        digits[..count].iter().rev().for_each(|&digit| fits &= text.try_push(char::from(b'0' + digit)).is_ok());
        fits &= text.try_push_str(after).is_ok();
        if fits { Text::Short(text) } else { Text::of(&[before, &number.to_string(), after]) }
    }
}

/// The most bytes of a draft that is stored inline.
const DRAFT: usize = 256;

/// A text that is being written.
#[derive(Default)]
pub(super) struct Draft {
    short: ArrayString<DRAFT>,
    /// The whole text, once it is longer than [`DRAFT`].
    long: String,
}

impl Draft {
    /// Appends a text.
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.long.is_empty() && self.short.try_push_str(text).is_ok() {
            return;
        }
        if self.long.is_empty() {
            self.long.push_str(&self.short);
        }
        self.long.push_str(text);
    }

    /// The finished text.
    pub(super) fn text(&self) -> Text {
        let text = if self.long.is_empty() { self.short.as_str() } else { self.long.as_str() };
        ArrayString::from(text).map_or_else(|_| Text::Long(text.into()), Text::Short)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Short(text) => text,
            Text::Long(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::of(&[text])
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::of(&[&text])
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Text {
        Text::of(&[&text])
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::Short(ArrayString::new())
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// The precedence of the outermost operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// A comparison. As an argument it gets parentheses, because `<` may begin a template list.
    Compare,
    /// `^`.
    Xor,
    /// `|`.
    Or,
    /// `&`.
    And,
    /// `<<` and `>>`.
    Shift,
    /// `+` and `-`.
    Add,
    /// `*`, `/` and `%`.
    Multiply,
    /// `-`, `!` and `~`, and negative literals.
    Unary,
    /// Names, literals, calls, and expressions with an index or member at the end.
    Primary,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expr {
    /// The spelling.
    pub(super) text: Text,
    /// The precedence of its outermost operator.
    pub(super) level: Level,
    /// Whether it is a const-expression. Its errors would be shader-creation errors.
    pub(super) constant: bool,
    /// The nesting depth.
    pub(super) depth: u8,
}

impl Expr {
    /// A name, or a text that behaves like one.
    pub(super) fn name(text: impl Into<Text>) -> Expr {
        Expr { text: text.into(), level: Level::Primary, constant: false, depth: 0 }
    }

    /// A literal.
    pub(super) fn literal(text: impl Into<Text>) -> Expr {
        let text = text.into();
        let level = if text.starts_with('-') { Level::Unary } else { Level::Primary };
        Expr { text, level, constant: true, depth: 0 }
    }

    /// The spelling before an index or a member.
    pub(super) fn primary(&self) -> Text {
        if self.level == Level::Primary { self.text.clone() } else { Text::of(&self.at_least(Level::Primary)) }
    }

    /// The spelling as an argument.
    pub(super) fn argument(&self) -> Text {
        if self.level >= Level::Xor { self.text.clone() } else { Text::of(&self.at_least(Level::Xor)) }
    }

    /// The text, in parentheses if its precedence is lower than the level.
    fn at_least(&self, level: Level) -> [&str; 3] {
        if self.level >= level { ["", &self.text, ""] } else { ["(", &self.text, ")"] }
    }

    /// A call of a function or constructor.
    pub(super) fn call(function: &str, arguments: &[Expr]) -> Expr {
        let mut draft = Draft::default();
        draft.push(function);
        draft.push("(");
        for (at, argument) in arguments.iter().enumerate() {
            draft.push(if at == 0 { "" } else { ", " });
            argument.at_least(Level::Xor).iter().for_each(|part| draft.push(part));
        }
        draft.push(")");
        Expr { text: draft.text(), level: Level::Primary, ..Expr::from_parts(arguments) }
    }

    /// A unary operator.
    pub(super) fn unary(operator: &str, operand: &Expr) -> Expr {
        Expr {
            text: {
                let [open, text, close] = operand.at_least(Level::Primary);
                Text::of(&[operator, open, text, close])
            },
            level: Level::Unary,
            ..Expr::from_parts([operand])
        }
    }

    /// A binary operator.
    pub(super) fn binary(operator: &str, left: &Expr, right: &Expr) -> Expr {
        let level = match operator {
            "+" | "-" => Level::Add,
            "*" | "/" | "%" => Level::Multiply,
            "<<" | ">>" => Level::Shift,
            "&" => Level::And,
            "|" => Level::Or,
            "^" => Level::Xor,
            _ => Level::Compare,
        };
        let ([a, b, c], [d, e, f]) = match level {
            Level::Add => (left.at_least(Level::Add), right.at_least(Level::Multiply)),
            Level::Multiply => (left.at_least(Level::Multiply), right.at_least(Level::Unary)),
            Level::Compare => (left.at_least(Level::Add), right.at_least(Level::Add)),
            // `a & b & c` groups from the left.
            Level::And | Level::Or | Level::Xor if left.level == level => (["", &*left.text, ""], right.at_least(Level::Unary)),
            _ => (left.at_least(Level::Unary), right.at_least(Level::Unary)),
        };
        let text = Text::of(&[a, b, c, " ", operator, " ", d, e, f]);
        Expr { text, level, ..Expr::from_parts([left, right]) }
    }

    /// A member of a structure, or components of a vector.
    pub(super) fn member(&self, name: &str) -> Expr {
        Expr {
            text: {
                let [open, text, close] = self.at_least(Level::Primary);
                Text::of(&[open, text, close, ".", name])
            },
            level: Level::Primary,
            constant: self.constant,
            depth: self.depth.saturating_add(1),
        }
    }

    /// An element by its index.
    pub(super) fn index(&self, index: &Expr) -> Expr {
        let [open, own, close] = self.at_least(Level::Primary);
        let text = Text::of(&[open, own, close, "[", &index.text, "]"]);
        Expr { text, level: Level::Primary, ..Expr::from_parts([self, index]) }
    }

    fn from_parts<'e>(parts: impl IntoIterator<Item = &'e Expr>) -> Expr {
        let (mut depth, mut constant) = (0, true);
        for part in parts {
            (depth, constant) = (part.depth.max(depth), constant && part.constant);
        }
        Expr { text: Text::default(), level: Level::Primary, constant, depth: depth.saturating_add(1) }
    }
}

/// A literal that reads back as the same bits of a 32-bit float. `None` for NaN and the infinities.
pub(super) fn float(bits: u32) -> Option<Text> {
    let value = f32::from_bits(bits);
    let whole = value.abs() as u32;
    if whole < 1 << 16 && value.abs() == whole as f32 {
        return Some(Text::numbered(if value.is_sign_negative() { "-" } else { "" }, whole.into(), ".0f"));
    }
    // The shortest decimal of the greatest float is greater than the float, and WGSL refuses it.
    let greatest = value.abs() == f32::MAX;
    value.is_finite().then(|| if greatest { format!("{:?}f", f64::from(value)) } else { format!("{value:?}f") }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_have_the_parentheses_that_they_need() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::name);
        let sum = Expr::binary("+", &a, &b);
        assert_eq!(&*Expr::binary("+", &sum, &c).text, "a + b + c");
        assert_eq!(&*Expr::binary("+", &c, &sum).text, "c + (a + b)");
        assert_eq!(&*Expr::binary("*", &sum, &c).text, "(a + b) * c");
        assert_eq!(&*Expr::binary("<<", &a, &sum).text, "a << (a + b)");
        assert_eq!(&*Expr::binary("&", &Expr::binary("|", &a, &b), &c).text, "(a | b) & c");
        assert_eq!(&*Expr::unary("-", &Expr::literal("-1i")).text, "-(-1i)");
        let less = Expr::binary("<", &a, &b);
        assert_eq!(&*Expr::call("f", &[less.clone(), c.clone()]).text, "f((a < b), c)");
        assert_eq!(&*sum.member("x").text, "(a + b).x");
    }

    #[test]
    fn floats_read_as_the_same_bits() {
        for bits in [0, 0x8000_0000, 1, 0x3f80_0000, 0x7f7f_ffff, 0xff7f_ffff, 0x7f7f_fffe, 0x3dcc_cccd, 0x0080_0000, 0x5015_02f9] {
            let text = float(bits).expect("finite");
            let text = text.trim_end_matches('f');
            assert_eq!(text.parse::<f32>().map(f32::to_bits), Ok(bits), "{text}");
            assert!(text.parse::<f64>().is_ok_and(|x| x.abs() <= f32::MAX.into()), "{text} is no float");
        }
        assert_eq!(float(0x7f80_0000), None);
        assert_eq!(float(0x7fc0_0000), None);
    }
}
