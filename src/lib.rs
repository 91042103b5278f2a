//! The library of smallstep.
