//! The compilers between the languages, and passes over SPIR-V words.

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

/// The reason why a pass cannot adapt a module. It is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotAdapt(pub String);

impl fmt::Display for CannotAdapt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotAdapt {}

/// The dispatch in the form that a wgpu device accepts: without combined image samplers, and
/// without gaps between bindings. Also the map from original to adapted places.
///
/// Errors: those of the passes.
pub fn for_wgpu(dispatch: &ComputeDispatch) -> Result<(ComputeDispatch, bindings::Places), CannotAdapt> {
    bindings::adapt(&split_samplers::adapt(dispatch)?).map_err(|error| CannotAdapt(error.0))
}

/// The draw in the form that a wgpu device accepts: as [`for_wgpu`], and with a viewport of
/// negative height.
///
/// Errors: those of the passes.
pub fn draw_for_wgpu(dispatch: &DrawDispatch) -> Result<(DrawDispatch, bindings::Places), CannotAdapt> {
    let turned = viewport::adapt(&split_samplers::adapt_draw(dispatch)?)?;
    bindings::adapt_draw(&turned).map_err(|error| CannotAdapt(error.0))
}
