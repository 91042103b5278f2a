//! WSL, the former WebGPU Shading Language: seed 004.
//!
//! Text → tokens (`lex`) → [`syntax::Tree`] (`parse`) → [`core::Program`] (`desugar`) → the global
//! environment and every function's derivation (`environment`, `typing`) → a typed program that
//! execution needs nothing but.

mod arena;
pub mod beside;
pub mod call;
pub mod choice;
pub mod core;
pub mod desugar;
pub mod draw;
pub mod entry;
pub mod environment;
pub mod error;
pub mod execution;
pub mod generate;
pub mod group;
pub mod layout;
pub mod lex;
pub mod library;
pub mod machine;
pub mod meaning;
pub mod memory;
pub mod open;
pub mod parse;
pub mod print;
pub mod race;
pub mod recheck;
mod same;
pub mod specialization;
pub mod syntax;
pub mod texture;
pub mod token;
pub mod types;
pub mod typing;
pub mod validate;
pub mod value;
