//! Generators and shrinkers. A generated program is a function of its seed alone, on
//! every platform.
//!
//! | module | what it holds |
//! |---|---|
//! | the functions here, `shrink` | λV programs, well typed by construction, and near-misses |
//! | `spirv` | SPIR-V compute modules, their twins with one defect, and their shrinking |
//! | `wsl` | WSL trees, typed programs, near-misses, dispatches, draws |
//! | `wsl::beside` | both engines of WSL beside each other on a program |
//! | `glsl` | GLSL shaders, of which a compiler makes modules |
//! | `uniformity` | WSL programs full of barriers and derivatives in control flow |
//! | `descent` | the search for smaller programs, of any language |
//! | `random` | what is drawn from random numbers |
#![forbid(unsafe_code)]

mod descent;
pub mod glsl;
mod lambda_v;
mod random;
pub mod spirv;
pub mod uniformity;
pub mod wsl;

pub use lambda_v::{Expectation, Limits, Mix, Mode, Numbers, VERSION, near_miss, program, shrink, well_typed};
pub use random::Random;
