//! smallstep: the semantics of shader languages, run beside their compilers and real devices. See
//! ARCHITECTURE.md.

pub mod amber;
pub mod compile;
pub mod compute;
pub mod diagnostic;
pub mod dispatch;
pub mod generate;
pub mod gpu;
pub mod precision;
pub mod program;
pub mod robust;
pub mod run;
pub mod source;
pub mod theorem;
pub mod vectors;
