//! Computers of functions: a device, or anything else that returns results for operands.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::{Batch, Modules};
use crate::gpu::{Device, DeviceOutcome};

/// Computes functions.
pub trait Computer {
    /// Computes all batches with the function's modules. `take` gets each batch with its results,
    /// in any order: [`Function::results`](super::Function::results) words for each input, and
    /// perhaps more after them. Batches are taken as there is room for them. Batches that have been
    /// taken may be computed while `take` runs.
    ///
    /// The error is the reason why a batch was not computed. Other batches may be missing then too.
    fn compute(
        &mut self,
        modules: &Modules,
        batches: &mut dyn Iterator<Item = Batch>,
        take: &mut dyn FnMut(&Batch, &[u32]),
    ) -> Result<(), NotComputed>;
}

/// The reason why there are no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotComputed {
    /// Whether the device crashed, hung or was lost. If not, it refused, or does not support
    /// the module.
    pub failed: bool,
    /// The reason in words.
    pub why: String,
}

impl NotComputed {
    fn of(outcome: &DeviceOutcome) -> NotComputed {
        let failed = matches!(
            outcome,
            DeviceOutcome::Crashed { .. } | DeviceOutcome::TimedOut(_) | DeviceOutcome::Lost(_) | DeviceOutcome::Outage(_)
        );
        NotComputed { failed, why: outcome.to_string() }
    }

    fn failed(why: String) -> NotComputed {
        NotComputed { failed: true, why }
    }
}

impl Computer for Device {
    fn compute(
        &mut self,
        modules: &Modules,
        batches: &mut dyn Iterator<Item = Batch>,
        take: &mut dyn FnMut(&Batch, &[u32]),
    ) -> Result<(), NotComputed> {
        let (submitted, stopped) = (RefCell::new(HashMap::new()), Cell::new(false));
        let mut number = 0;
        let dispatches = std::iter::from_fn(|| {
            let batch = if stopped.get() { None } else { batches.next() }?;
            let dispatch = modules.dispatch(&batch);
            submitted.borrow_mut().insert(number, (batch, dispatch.words_hash()));
            number += 1;
            Some(dispatch)
        });
        let mut first_error = Ok(());
        // All submitted batches are received, even after an error, so that none is left for the
        // next function.
        for finished in self.run_all(dispatches) {
            let (batch, words_hash) = submitted.borrow_mut().remove(&finished.id).expect("what comes back was submitted, and once");
            let taken = match &finished.outcome {
                DeviceOutcome::Computed(result) if result.words_hash != words_hash => {
                    Err(NotComputed::failed("the device ran other words than it was given".into()))
                }
                DeviceOutcome::Computed(result) => {
                    let bytes = result.buffer(0, 1).unwrap_or_default();
                    let needed = batch.len(modules.function().words()) * modules.function().results;
                    match bytemuck::try_cast_slice::<u8, u32>(bytes) {
                        _ if bytes.len() / 4 < needed => {
                            Err(NotComputed::failed(format!("the device showed {} bytes of {}", bytes.len(), needed * 4)))
                        }
                        Ok(words) => {
                            take(&batch, words);
                            Ok(())
                        }
                        Err(_) => {
                            take(&batch, &bytemuck::pod_collect_to_vec::<u8, u32>(bytes));
                            Ok(())
                        }
                    }
                }
                other => Err(NotComputed::of(other)),
            };
            if taken.is_err() {
                stopped.set(true);
                first_error = first_error.and(taken);
            }
        }
        first_error
    }
}
