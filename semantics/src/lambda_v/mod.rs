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
