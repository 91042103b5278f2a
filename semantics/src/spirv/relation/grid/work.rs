//! The source of a grid's invocations and the consumer of their results: a dispatch, or a stage of
//! a draw.

use crate::concurrency::{Agent, Begin};
use crate::outcome::Outcome;
use crate::spirv::environment::Observation;
use crate::spirv::shared::Shared;
use crate::spirv::step::Config;
use crate::undefined::Site;

/// An invocation that has ended.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Finished<'m> {
    /// Its last configuration.
    pub(in crate::spirv) config: Config<'m>,
    /// Whether it was discarded.
    pub(in crate::spirv) discarded: bool,
}

/// The source of workgroups, one after another, and the consumer of what their invocations leave.
pub(in crate::spirv) trait Work<'m> {
    /// Begins the workgroup of this number, which is the next, if it can begin. Subtracts the cost
    /// of this beside instructions from the fuel.
    ///
    /// # Errors
    /// The outcome, if the run ends here.
    fn begin(&mut self, workgroup: u32, shared: &mut Shared, fuel: &mut u64) -> Result<Begin, Outcome<Observation>>;

    /// Puts the inputs of an invocation into its configuration. `number` is its number in the grid.
    fn start(&self, agent: Agent, number: u32, config: &mut Config<'m>);

    /// The coordinates of an invocation: GlobalInvocationId, or the equivalent of a stage.
    fn global(&self, agent: Agent) -> [u32; 3];

    /// The invocation group of a workgroup's invocations (SPIR-V §2.2.5). `None` in a stage of a
    /// draw, since a device may take all its invocations for one group.
    fn invocation_group(&self, _workgroup: u32) -> Option<u32> {
        None
    }

    /// The description of a place.
    fn at(&self, site: &Site) -> String {
        site.to_string()
    }

    /// Called once, when control on a device may first differ from that of an invocation.
    fn control_in_doubt(&self, _shared: &mut Shared) {}

    /// Called when all invocations of a workgroup have ended.
    fn end(&mut self, _workgroup: u32, _members: Vec<Finished<'m>>) {}
}
