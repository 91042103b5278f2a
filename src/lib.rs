//! smallstep: the semantics of shader languages, compared with their compilers and with
//! real devices.
//!
//! | to | use |
//! |---|---|
//! | evaluate a λV program | [`smallstep_semantics::lambda_v::eval`] |
//! | run a SPIR-V compute module | [`smallstep_semantics::spirv::run`] |
//! | validate a WSL program | [`smallstep_semantics::wsl::check`] |
//! | call its functions | [`call`](fn@smallstep_semantics::wsl::call) |
//! | check the theorem for a program | [`theorem::check`](fn@theorem::check) |
//! | check that one module refines another | [`theorem::refine::refines`] |
//! | read a file of any language | [`program::Program::read`] |
//!
//! Each has an example. ARCHITECTURE.md describes the rest.

pub mod amber;
pub mod compile;
pub mod compute;
pub mod diagnostic;
pub mod dispatch;
pub mod gpu;
pub mod precision;
pub mod program;
pub mod robust;
pub mod run;
pub mod source;
pub mod theorem;
pub mod vectors;
pub mod verdict;

pub use smallstep_generate as generate;
