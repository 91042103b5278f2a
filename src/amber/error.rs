//! What is wrong with a script, and where.

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The text is no script: a word, a number or a name is not what stands there in the format.
    Invalid,
    /// The format has it; this reader leaves it out.
    Unsupported,
    /// A limit of ours is passed: see [`super::limits`].
    Limit,
}

/// One error of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What kind of error.
    pub kind: Kind,
    /// One sentence: what was found against what is required.
    pub what: String,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Invalid => "error[amber]",
            Kind::Unsupported => "unsupported",
            Kind::Limit => "limit",
        };
        write!(f, "{kind}: {}:{}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for ScriptError {}

/// A piece of the text as a message shows it: quoted, and cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().nth(LONGEST).is_none() {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(LONGEST).collect::<String>())
}
