//! The front end: from text to tokens, to a tree and to a program without sugar. Also the printing
//! of these.

pub(in crate::wsl) mod arena;
pub mod core;
pub mod desugar;
pub mod error;
pub mod lex;
pub mod parse;
pub mod print;
mod same;
pub mod syntax;
pub mod token;
