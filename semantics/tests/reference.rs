//! The mathematical reference of the float functions: the fast enclosures against the tight ones,
//! those against a second library and against values worked out by hand, and
//! the roundings against both.
//!
//! Each function gets all the corner inputs and 10,000 random ones, or as many as the environment
//! variable `SMALLSTEP_REFERENCE_INPUTS` says.

#[path = "reference/hand.rs"]
mod hand;
#[path = "reference/inputs.rs"]
mod inputs;
#[path = "reference/oracle.rs"]
mod oracle;
#[path = "reference/soundness.rs"]
mod soundness;
#[path = "reference/vectors.rs"]
mod vectors;
