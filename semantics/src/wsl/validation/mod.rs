//! From a program without sugar to a typed one: environments, typing, entry points, the library's
//! table, and the re-check.

pub mod entry;
pub mod environment;
pub mod library;
pub mod recheck;
pub mod specialization;
pub mod types;
pub mod typing;
pub mod validate;
