//! λV, the report's source language: syntax (§2), types (§5) and reduction (§4).
//!
//! Text → [`syntax::Tree`] (`parse`) → [`resolve::Program`] (names resolved, terms shared) →
//! [`typing`] → [`step`] (the relation) and [`machine`] (the same meaning, fast).

pub mod builtin;
pub mod machine;
pub mod parse;
pub mod print;
pub mod resolve;
pub mod step;
pub mod syntax;
pub mod terms;
pub mod types;
pub mod typing;

use crate::outcome::Outcome;

/// Why a text has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invalid {
    /// It is no λV program.
    Syntax(parse::SyntaxError),
    /// It has no type.
    Type(typing::TypeError),
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Invalid::Syntax(e) => write!(f, "{}: {}", e.code, e.message),
            Invalid::Type(e) => write!(f, "{}: {}", e.code(), e.message()),
        }
    }
}

impl std::error::Error for Invalid {}

/// The result of each output of a program at a pixel, by location, ascending. The text is read,
/// typed, and evaluated by the machine with its default bounds.
///
/// ```
/// use smallstep_semantics::lambda_v;
///
/// let shown = lambda_v::eval("(let ((a 2)) (vec2 a (* a a)))", (0, 0))?;
/// let value = shown[0].observed().expect("it ends");
/// assert_eq!(value.to_string(), "<2 4>");
///
/// let error = lambda_v::eval("(+ 1 true)", (0, 0)).unwrap_err();
/// assert!(error.to_string().starts_with("lv/t-builtin"));
/// # Ok::<(), lambda_v::Invalid>(())
/// ```
///
/// # Errors
/// The text is no λV program, or it has no type.
pub fn eval(text: &str, (x, y): (u32, u32)) -> Result<Vec<Outcome<types::Value>>, Invalid> {
    let program = resolve::Program::read(text).map_err(Invalid::Syntax)?;
    typing::infer(&program, typing::Limits::default()).map_err(Invalid::Type)?;
    let setting = step::Setting::at_pixel(x, y);
    let value = |e| machine::run(&program, e, &setting, machine::Bounds::default()).0;
    Ok(program.outputs.iter().map(|output| value(output.term)).collect())
}
