//! Concurrent threads of any language: which thread steps next, when threads meet, how their memory
//! accesses are ordered, and which accesses race.
//!
//! The memory model is Vulkan's (Vulkan specification, appendix "Memory Model"), as it applies to
//! modules whose OpMemoryModel is not `Vulkan`. In these, every shared access counts as
//! non-private. Every release makes available and every acquire makes visible, so that
//! *location-ordered* is *happens-before*. Per-access availability, visibility and privacy are
//! absent on purpose. They need the capability VulkanMemoryModel, which is refused at load. Nothing
//! here knows modules or values: only agents, byte ranges and instruction numbers. WSL's model is a
//! part of this one ([`crate::wsl::race`]).
//!
//! - [`scope`]: agents, scopes and memory semantics;
//! - [`clock`]: maps from agents to epochs, which are small if neighbours agree;
//! - [`rules`]: the choices of the model, one function each;
//! - [`order`]: happens-before, updated while a run goes on;
//! - [`race`]: the detector of unordered accesses;
//! - [`turns`]: the driver of threads that take turns and meet;
//! - [`schedule`]: which thread steps next, and what it means if none can;
//! - [`axioms`]: executions that no schedule produces, and whether the model allows them;
//! - [`weak`]: all allowed executions of a small program.
//!
//! [`crate::interleavings`] enumerates all schedules of a small program.

pub mod axioms;
pub mod clock;
pub mod order;
pub mod race;
pub mod rules;
pub mod schedule;
pub mod scope;
pub mod turns;
pub mod weak;

pub use axioms::{Event, EventKind, Execution};
pub use order::Order;
pub use race::{Access, AtomicOp, Detector, Kind, Race, RaceSide};
pub use rules::{Ends, Rules};
pub use schedule::{Arrival, Picker, Schedule, Wait, arrival};
pub use scope::{Agent, Class, Classes, Ordering, Scope, Semantics, Topology};
pub use turns::{Begin, Threads, Turns};
