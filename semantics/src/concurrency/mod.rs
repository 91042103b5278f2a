//! Threads that run beside each other, of any language: who steps next, when they meet, what orders
//! their memory accesses, and when two of these race.
//!
//! The memory model is Vulkan's (Vulkan specification, appendix "Memory Model"), as it applies to
//! modules whose OpMemoryModel is not `Vulkan`: every shared access counts as non-private, and
//! every release and acquire makes available and visible, so that *location-ordered* is
//! *happens-before*. Per-access availability, visibility and privacy are absent on purpose: they
//! need the capability VulkanMemoryModel, which is refused at load. Nothing in here knows of
//! modules or values: agents, byte ranges, instruction numbers. WSL's model is a part of it
//! ([`crate::wsl::race`]).
//!
//! - [`scope`]: agents, scopes and memory semantics;
//! - [`clock`]: maps from agents to epochs, small where neighbours agree;
//! - [`rules`]: the choices of the model, one function each;
//! - [`order`]: happens-before, kept as the run goes on;
//! - [`race`]: the accesses that it leaves unordered;
//! - [`turns`]: threads that take turns and meet: the one driver;
//! - [`schedule`]: who steps next, and what it means that nobody can;
//! - [`axioms`]: executions that are no schedule, and whether the model allows them;
//! - [`weak`]: all of them, of a small program.
//!
//! All schedules of a small program: [`crate::interleavings`].

pub mod axioms;
pub mod clock;
pub mod order;
pub mod race;
pub mod rules;
pub mod schedule;
pub mod scope;
pub mod turns;
pub mod weak;

pub use axioms::{Deed, Event, Execution};
pub use order::Order;
pub use race::{Access, AtomicOp, Detector, Kind, Race, Site};
pub use rules::{Ends, Rules};
pub use schedule::{Arrival, Picker, Schedule, Wait, arrival};
pub use scope::{Agent, Class, Classes, Ordering, Scope, Semantics, Topology};
pub use turns::{Begin, Threads, Turns};
