//! The compared part of a module: its compute entry point, or its stages in a draw.

use rspirv::spirv::ExecutionModel;
use smallstep_semantics::outcome::InvalidInput;
use smallstep_semantics::spirv::module::Module;

use super::{Mismatch, Settings, Shape, Side, StageModule, Summary, interface, refines, refines_draws};
use crate::compute::report::AssemblyLines;
use crate::compute::{ComputeModule, is_compute};

/// BEFORE or AFTER: a compute entry point or stages.
pub enum Runnable {
    /// A compute entry point.
    Dispatch(Box<Side>),
    /// Stages, and the places of the module's instructions in its text, if it has one.
    Stages(Box<StageModule>, Option<AssemblyLines>),
}

impl Runnable {
    /// The compute entry point or the stages of a module. If `entry` is given, only the entry point
    /// with that name is taken. `name` is used in messages.
    ///
    /// # Errors
    /// There is no such entry point, or there are several to choose from. The message is
    /// a sentence.
    pub fn new(name: &str, module: Module, assembly: Option<AssemblyLines>, entry: Option<&str>) -> Result<Runnable, InvalidInput> {
        if is_compute(&module, entry) {
            let module = ComputeModule::new(module, entry)?;
            return Ok(Runnable::Dispatch(Box::new(Side::new(name, module, assembly))));
        }
        Ok(Runnable::Stages(Box::new(StageModule::new(name, module, entry)?), assembly))
    }

    /// The part of another module that is compared with this one: the entry points with the same
    /// stages and names.
    ///
    /// # Errors
    /// An entry point is missing. The message is a sentence.
    pub fn in_place(&self, name: &str, module: Module, assembly: Option<AssemblyLines>) -> Result<Runnable, InvalidInput> {
        match self {
            Runnable::Dispatch(side) => {
                let module = ComputeModule::new(module, Some(&side.module.entry))?;
                Ok(Runnable::Dispatch(Box::new(Side::new(name, module, assembly))))
            }
            Runnable::Stages(stages, _) => {
                Ok(Runnable::Stages(Box::new(StageModule::with_entries(name, module, stages.entries())?), assembly))
            }
        }
    }

    /// The name of the module in messages.
    pub fn name(&self) -> &str {
        match self {
            Runnable::Dispatch(side) => &side.name,
            Runnable::Stages(stages, _) => &stages.name,
        }
    }

    /// The names of its entry points, the vertex stage first.
    pub fn entry(&self) -> String {
        match self {
            Runnable::Dispatch(side) => side.module.entry.clone(),
            Runnable::Stages(stages, _) => stages.entries().into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }

    /// The places of its instructions in its text, if it has one.
    pub fn assembly(&self) -> Option<&AssemblyLines> {
        match self {
            Runnable::Dispatch(side) => side.assembly.as_ref(),
            Runnable::Stages(_, assembly) => assembly.as_ref(),
        }
    }

    /// The shape of BEFORE's inputs.
    ///
    /// # Errors
    /// As for [`Shape::of`] and [`Shape::of_stages`].
    pub fn shape(&self, settings: &Settings) -> Result<Shape<'_>, Mismatch> {
        match self {
            Runnable::Dispatch(side) => Shape::of(side, settings),
            Runnable::Stages(stages, _) => Shape::of_stages(stages, settings),
        }
    }

    /// Checks that AFTER has the interface of this one, and needs no more.
    ///
    /// # Errors
    /// AFTER has another interface. The message is a sentence.
    pub fn admits(&self, after: &Runnable) -> Result<(), Mismatch> {
        match (self, after) {
            (Runnable::Dispatch(b), Runnable::Dispatch(a)) => interface::check(b, a),
            (Runnable::Stages(b, _), Runnable::Stages(a, _)) => interface::check_stages(b, a),
            _ => Err(Mismatch("one of them has a compute entry point, and the other has stages of a draw".into())),
        }
    }

    /// Compares AFTER with this one over generated inputs, by [`refines`] or [`refines_draws`].
    ///
    /// # Errors
    /// As for these functions, and if the kinds differ.
    pub fn refined_by(&self, after: &Runnable, settings: &Settings, progress: impl FnMut(&Summary)) -> Result<Summary, Mismatch> {
        match (self, after) {
            (Runnable::Dispatch(b), Runnable::Dispatch(a)) => refines(b, a, settings, progress),
            (Runnable::Stages(b, _), Runnable::Stages(a, _)) => refines_draws(b, a, settings, progress),
            _ => self.admits(after).map(|()| Summary::default()),
        }
    }
}

/// The names for [`Runnable::new`] by which all of a module is compared. If a module has one entry
/// point, or one vertex and one fragment entry point and nothing else, the only name is `None`.
/// Otherwise each entry point is compared alone.
pub fn entries(module: &Module) -> Vec<Option<String>> {
    let points = module.entry_points();
    let count = |model: ExecutionModel| points.iter().filter(|point| point.model == model).count();
    let (vertex, fragment) = (count(ExecutionModel::Vertex), count(ExecutionModel::Fragment));
    if points.len() == 1 || (points.len() == 2 && vertex == 1 && fragment == 1) {
        return vec![None];
    }
    let mut names: Vec<Option<String>> = Vec::new();
    for point in points {
        let name = Some(point.name.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
