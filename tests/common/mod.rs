//! What several tests share: the program as a command, the device under test, and texts of modules.

// Each test program takes what it needs.
#![allow(dead_code)]

pub mod command;
pub mod device;
pub mod frame;

/// Types, pointers and constants of stages of a draw, by the names that all tests give them.
pub const STAGE_TYPES: &str = include_str!("modules/stage-types.spvasm");
