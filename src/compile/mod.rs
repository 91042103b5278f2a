//! The compilers between the languages, and the passes over words.

use std::fmt;

use crate::dispatch::{ComputeDispatch, DrawDispatch};

pub mod bindings;
pub mod lambda_v;
pub mod naga;
pub mod probe;
pub mod split_samplers;
pub mod viewport;
pub mod wgsl;
pub mod wsl;

/// Why a pass cannot adapt a module: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotAdapt(pub String);

impl fmt::Display for CannotAdapt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotAdapt {}

/// The dispatch as a device of wgpu's takes it: no combined image samplers, and no gaps among
/// bindings. The places are those of what is shown.
///
/// Errors: those of the passes.
pub fn for_wgpu(dispatch: &ComputeDispatch) -> Result<(ComputeDispatch, bindings::Places), CannotAdapt> {
    bindings::adapt(&split_samplers::adapt(dispatch)?).map_err(|error| CannotAdapt(error.0))
}

/// The draw as a device of wgpu's takes it: as [`for_wgpu`] has it, and with a
/// viewport of negative height.
///
/// Errors: those of the passes.
pub fn draw_for_wgpu(dispatch: &DrawDispatch) -> Result<(DrawDispatch, bindings::Places), CannotAdapt> {
    let turned = viewport::adapt(&split_samplers::adapt_draw(dispatch)?)?;
    bindings::adapt_draw(&turned).map_err(|error| CannotAdapt(error.0))
}
