//! The errors of a script, with their places.

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The text is no script: a word, number or name is not valid in its place.
    Invalid,
    /// The format has this feature, but this reader does not support it.
    Unsupported,
    /// One of our limits is exceeded: see [`super::limits`].
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
    /// The kind of the error.
    pub kind: Kind,
    /// One sentence: what was found, against what is required.
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

/// A piece of the text for a message. It is quoted, and shortened if it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().nth(LONGEST).is_none() {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(LONGEST).collect::<String>())
}
