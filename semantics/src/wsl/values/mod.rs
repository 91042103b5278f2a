//! The data that runs compute with: values, layouts, memory, unspecified values, and the library
//! on values.

pub mod choice;
pub mod layout;
pub mod meaning;
pub mod memory;
pub mod open;
pub mod texture;
pub mod value;
