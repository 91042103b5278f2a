//! The uniformity analysis.

mod programs;
mod seed;
mod table;
