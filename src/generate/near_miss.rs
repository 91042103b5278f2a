//! Ill-typed near-misses.

use super::expr::{Generator, Made};
use smallstep_semantics::lambda_v::types::Ground;

#[derive(Clone, Copy, Debug)]
pub(super) enum Breach {}

impl Generator {
    pub(super) fn breached(&mut self, _: Ground, _: u32) -> Option<Made> {
        None
    }
}
