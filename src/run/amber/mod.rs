//! Amber scripts on engines: commands in order, every expectation judged, and one engine beside
//! another, buffer by buffer.
//!
//! [`Modules`] are a script's shaders with their specialization constants frozen; a [`Player`] does
//! the script's commands on one engine and holds what that engine has made of the buffers;
//! [`check()`] plays a script on an interpreter and on devices at once, and compares them after
//! each RUN. [`draw`] says what a RUN of a graphics pipeline draws.
//!
//! An interpreter also knows which bytes are undefined, with who made them, and which are doubtful:
//! a conforming device may hold other ones there. A RUN that reads open bytes says nothing of what
//! it writes, since no engine takes a set for an input: all bytes that it may
//! write are doubtful then.

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
