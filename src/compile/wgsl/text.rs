//! Expressions of WGSL as texts, with the parentheses that its grammar asks for (WGSL §8.19).

use std::borrow::Cow;

/// How strongly the outermost operator of an expression binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// A comparison. As an argument it is put in parentheses, for `<` may begin a template.
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
    /// Names, literals, calls, and what has an index or member behind.
    Primary,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expr {
    /// The text.
    pub(super) text: String,
    /// Its outermost operator.
    pub(super) level: Level,
    /// Whether it is a const-expression: its errors would be errors of the program.
    pub(super) constant: bool,
    /// How deep it is nested.
    pub(super) depth: u8,
}

impl Expr {
    /// A name, or something like it.
    pub(super) fn name(text: impl Into<String>) -> Expr {
        Expr { text: text.into(), level: Level::Primary, constant: false, depth: 0 }
    }

    /// A literal.
    pub(super) fn literal(text: impl Into<String>) -> Expr {
        let text = text.into();
        let level = if text.starts_with('-') { Level::Unary } else { Level::Primary };
        Expr { text, level, constant: true, depth: 0 }
    }

    /// The expression as what an index or member follows.
    pub(super) fn primary(&self) -> Cow<'_, str> {
        self.at_least(Level::Primary)
    }

    /// The expression as an argument.
    pub(super) fn argument(&self) -> Cow<'_, str> {
        self.at_least(Level::Xor)
    }

    fn at_least(&self, level: Level) -> Cow<'_, str> {
        if self.level >= level { Cow::Borrowed(&self.text) } else { Cow::Owned(format!("({})", self.text)) }
    }

    /// A call of a function or constructor.
    pub(super) fn call(function: &str, arguments: &[Expr]) -> Expr {
        let bytes: usize = arguments.iter().map(|a| a.text.len() + 4).sum();
        let mut text = String::with_capacity(function.len() + 2 + bytes);
        text.push_str(function);
        text.push('(');
        for (at, argument) in arguments.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            text.push_str(&argument.argument());
        }
        text.push(')');
        Expr { text, level: Level::Primary, ..Expr::over(arguments) }
    }

    /// A unary operator.
    pub(super) fn unary(operator: &str, operand: &Expr) -> Expr {
        Expr { text: format!("{operator}{}", operand.primary()), level: Level::Unary, ..Expr::over([operand]) }
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
        let (left_text, right_text) = match level {
            Level::Add => (left.at_least(Level::Add), right.at_least(Level::Multiply)),
            Level::Multiply => (left.at_least(Level::Multiply), right.at_least(Level::Unary)),
            Level::Compare => (left.at_least(Level::Add), right.at_least(Level::Add)),
            // `a & b & c` groups from the left.
            Level::And | Level::Or | Level::Xor if left.level == level => (Cow::Borrowed(left.text.as_str()), right.at_least(Level::Unary)),
            _ => (left.at_least(Level::Unary), right.at_least(Level::Unary)),
        };
        let text = [&*left_text, " ", operator, " ", &*right_text].concat();
        Expr { text, level, ..Expr::over([left, right]) }
    }

    /// A member, or components of a vector.
    pub(super) fn member(&self, name: &str) -> Expr {
        Expr {
            text: format!("{}.{name}", self.primary()),
            level: Level::Primary,
            constant: self.constant,
            depth: self.depth.saturating_add(1),
        }
    }

    /// An element.
    pub(super) fn index(&self, index: &Expr) -> Expr {
        let text = [&*self.primary(), "[", &index.text, "]"].concat();
        Expr { text, level: Level::Primary, ..Expr::over([self, index]) }
    }

    fn over<'e>(parts: impl IntoIterator<Item = &'e Expr>) -> Expr {
        let (mut depth, mut constant) = (0, true);
        for part in parts {
            (depth, constant) = (part.depth.max(depth), constant && part.constant);
        }
        Expr { text: String::new(), level: Level::Primary, constant, depth: depth.saturating_add(1) }
    }
}

/// A 32-bit float as a literal that reads as the same bits; `None` for NaN and the infinities.
pub(super) fn float(bits: u32) -> Option<String> {
    let value = f32::from_bits(bits);
    // The shortest text that is read as the greatest float is greater than it, which WGSL refuses.
    let greatest = value.abs() == f32::MAX;
    value.is_finite().then(|| if greatest { format!("{:?}f", f64::from(value)) } else { format!("{value:?}f") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_have_the_parentheses_that_they_need() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::name);
        let sum = Expr::binary("+", &a, &b);
        assert_eq!(Expr::binary("+", &sum, &c).text, "a + b + c");
        assert_eq!(Expr::binary("+", &c, &sum).text, "c + (a + b)");
        assert_eq!(Expr::binary("*", &sum, &c).text, "(a + b) * c");
        assert_eq!(Expr::binary("<<", &a, &sum).text, "a << (a + b)");
        assert_eq!(Expr::binary("&", &Expr::binary("|", &a, &b), &c).text, "(a | b) & c");
        assert_eq!(Expr::unary("-", &Expr::literal("-1i")).text, "-(-1i)");
        let less = Expr::binary("<", &a, &b);
        assert_eq!(Expr::call("f", &[less.clone(), c.clone()]).text, "f((a < b), c)");
        assert_eq!(sum.member("x").text, "(a + b).x");
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
