//! Amber scripts on engines. Commands run in order, and every expectation is judged. One engine is
//! compared with another, buffer by buffer.
//!
//! [`Modules`] are a script's shaders with frozen specialization constants. A [`Player`] executes
//! the script's commands on one engine, and has the resulting buffers. [`check()`] plays a script
//! on an interpreter and on devices together, and compares them after each RUN. [`draw`] defines
//! the draw of a RUN of a graphics pipeline.
//!
//! An interpreter also knows which bytes are undefined, with their origin, and which are doubtful:
//! a conforming device may have other bytes there. If a RUN reads open bytes, all bytes that it may
//! write are doubtful, since no engine takes sets as inputs.

mod adapted;
mod bind;
mod check;
mod clear;
pub mod compiler;
pub mod draw;
mod keep;
mod modules;
mod play;
mod render;
pub mod requirement;
mod resolve;
pub mod show;
mod watch;

pub use check::{Compared, Difference, Leg, Place, Side, Verdict, check, open_text};
pub use keep::MAX_ORIGINS;
pub use modules::{Loaded, Modules, Options, Stage};
pub use play::{End, Engine, Interpreter, Player, Step, commands};
