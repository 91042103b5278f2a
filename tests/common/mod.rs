//! Code that several tests share: the program as a command, the device under test, and texts
//! of modules.

// Each test program uses only a part.
#![allow(dead_code)]

pub mod command;
pub mod device;
pub mod frame;

/// Types, pointers and constants for the stages of a draw, with the names that all tests use.
pub const STAGE_TYPES: &str = include_str!("modules/stage-types.spvasm");
