//! Loading: from words to a [`module::Module`], with its declarations, checks, and what
//! engines refuse.

pub(in crate::spirv) mod alias;
pub mod cfg;
pub(in crate::spirv) mod check;
pub(in crate::spirv) mod declare;
pub(in crate::spirv) mod descriptors;
pub mod error;
pub mod float_controls;
pub(in crate::spirv) mod image_operands;
pub(in crate::spirv) mod lenient;
pub mod module;
pub mod opcodes;
pub(in crate::spirv) mod order;
pub(in crate::spirv) mod pointers;
pub mod specialize;
pub mod subset;
pub mod types;
