//! Operators that are sugar for calls, and the steps `++` and `--`.

/// A binary operator that is sugar for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its sign")]
pub enum BinaryOp {
    Or,
    Xor,
    And,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOp {
    /// Every operator.
    pub const ALL: [BinaryOp; 16] = [
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::And,
        BinaryOp::Less,
        BinaryOp::Greater,
        BinaryOp::LessEqual,
        BinaryOp::GreaterEqual,
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight,
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Remainder,
    ];

    /// The function that the operator calls, such as `operator+`. The sign is the part
    /// after `operator`.
    pub fn function(self) -> &'static str {
        match self {
            BinaryOp::Or => "operator|",
            BinaryOp::Xor => "operator^",
            BinaryOp::And => "operator&",
            BinaryOp::Less => "operator<",
            BinaryOp::Greater => "operator>",
            BinaryOp::LessEqual => "operator<=",
            BinaryOp::GreaterEqual => "operator>=",
            BinaryOp::Equal => "operator==",
            BinaryOp::NotEqual => "operator!=",
            BinaryOp::ShiftLeft => "operator<<",
            BinaryOp::ShiftRight => "operator>>",
            BinaryOp::Add => "operator+",
            BinaryOp::Subtract => "operator-",
            BinaryOp::Multiply => "operator*",
            BinaryOp::Divide => "operator/",
            BinaryOp::Remainder => "operator%",
        }
    }

    /// The sign.
    pub fn sign(self) -> &'static str {
        &self.function()["operator".len()..]
    }
}

/// A prefix operator that is sugar for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its sign")]
pub enum UnaryOp {
    Plus,
    Minus,
    Complement,
    Not,
}

impl UnaryOp {
    /// The function that it calls.
    pub fn function(self) -> &'static str {
        match self {
            UnaryOp::Plus => "operator+",
            UnaryOp::Minus => "operator-",
            UnaryOp::Complement => "operator~",
            UnaryOp::Not => "operator!",
        }
    }

    /// The sign.
    pub fn sign(self) -> &'static str {
        &self.function()["operator".len()..]
    }
}

/// Whether one is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `++`
    Increment,
    /// `--`
    Decrement,
}

impl Step {
    /// The function that it calls.
    pub fn function(self) -> &'static str {
        match self {
            Step::Increment => "operator++",
            Step::Decrement => "operator--",
        }
    }
}

/// Whether an expression with `++` or `--` gives the value after the step or before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fix {
    /// `++e`: the value after.
    Prefix,
    /// `e++`: the value before.
    Postfix,
}
