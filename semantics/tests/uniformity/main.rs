//! The uniformity analysis.

mod table;
