//! The mathematical reference of the float functions. The fast enclosures are compared with the
//! tight ones. The tight ones are compared with a second library and with values worked out by
//! hand. The roundings are compared with both.
//!
//! Each function has all the corner inputs and 10,000 random ones. The environment variable
//! `SMALLSTEP_REFERENCE_INPUTS` sets another number.

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
