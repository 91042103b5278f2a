//! Invocations that run beside each other: what orders their memory accesses, when two of them
//! race, and who steps next.
//!
//! The memory model is Vulkan's (Vulkan specification, appendix "Memory Model"), as it applies to
//! modules whose OpMemoryModel is not `Vulkan`: every shared access counts as non-private, and
//! every release and acquire makes available and visible, so that *location-ordered* is
//! *happens-before*. Per-access availability, visibility and privacy are absent on purpose: they
//! need the capability VulkanMemoryModel, which is refused at load. Nothing in here knows of
//! modules or values: agents, byte ranges, instruction numbers.
//!
//! - [`scope`]: agents, scopes and memory semantics, from their words;
//! - [`clock`]: maps from agents to epochs, small where neighbours agree;
//! - [`rules`]: the choices of the model, one function each;
//! - [`order`]: happens-before, kept as the run goes on;
//! - [`race`]: the accesses that it leaves unordered;
//! - [`schedule`]: who steps next, and when nobody can.
//!
//! All schedules of a small program: [`crate::interleavings`].

pub mod clock;
pub mod order;
pub mod race;
pub mod rules;
pub mod schedule;
pub mod scope;

pub use order::Order;
pub use race::{Access, AtomicOp, Detector, Kind, Race, Site};
pub use rules::Rules;
pub use schedule::{Arrival, Divergence, Picker, Schedule, Wait, arrival};
pub use scope::{Agent, Class, Classes, Ordering, Scope, Semantics, SemanticsError, Topology, Use};
