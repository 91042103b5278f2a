//! What the invocations of a grid come from and go to: a dispatch, or a stage of a draw.

use crate::concurrency::{Agent, Begin};
use crate::outcome::Outcome;
use crate::spirv::environment::Observation;
use crate::spirv::shared::Shared;
use crate::spirv::step::Config;
use crate::undefined::Site;

/// An invocation that has ended.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Finished<'m> {
    /// The configuration that it ended in.
    pub(in crate::spirv) config: Config<'m>,
    /// Whether it was discarded.
    pub(in crate::spirv) discarded: bool,
}

/// Where workgroups come from, one after the other, and what is done with
/// what their invocations leave.
pub(in crate::spirv) trait Work<'m> {
    /// Whether the workgroup of that number, the next, begins; what this costs beside instructions
    /// is taken from the fuel.
    ///
    /// # Errors
    /// How the run ends here.
    fn begin(&mut self, workgroup: u32, shared: &mut Shared, fuel: &mut u64) -> Result<Begin, Outcome<Observation>>;

    /// Puts the inputs of an invocation, which has that number in the grid, into its configuration.
    fn start(&self, agent: Agent, number: u32, config: &mut Config<'m>);

    /// An invocation in the terms of its environment: GlobalInvocationId, or what
    /// stands in its place.
    fn global(&self, agent: Agent) -> [u32; 3];

    /// A place in words.
    fn at(&self, site: &Site) -> String {
        site.to_string()
    }

    /// For the first time a device's control may be elsewhere than an invocation's.
    fn wanders(&self, _shared: &mut Shared) {}

    /// All invocations of a workgroup have ended.
    fn end(&mut self, _workgroup: u32, _members: Vec<Finished<'m>>) {}
}
