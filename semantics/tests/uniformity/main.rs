//! The uniformity analysis.

mod executed;
mod programs;
mod seed;
mod table;
