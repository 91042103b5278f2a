//! The front end: text to tokens, a tree, and a program without sugar; and how it is printed.

pub(in crate::wsl) mod arena;
pub mod core;
pub mod desugar;
pub mod error;
pub mod lex;
pub mod parse;
pub mod print;
pub(in crate::wsl) mod same;
pub mod syntax;
pub mod token;
