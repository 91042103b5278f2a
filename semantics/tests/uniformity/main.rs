//! The uniformity analysis.

mod precise;
mod programs;
mod seed;
mod table;
