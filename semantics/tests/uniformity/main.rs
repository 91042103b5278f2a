//! The uniformity analysis.

mod precise;
mod table;
