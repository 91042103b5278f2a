//! The uniformity analysis.

mod executed;
mod generated;
mod programs;
mod seed;
mod table;
