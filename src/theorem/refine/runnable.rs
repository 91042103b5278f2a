//! What is compared of a module: its compute entry point, or its stages, which are drawn.

use rspirv::spirv::ExecutionModel;
use smallstep_semantics::outcome::InvalidInput;
use smallstep_semantics::spirv::module::Module;

use super::{Mismatch, Settings, Shape, Side, StageModule, Summary, interface, refines, refines_draws};
use crate::compute::told::AssemblyLines;
use crate::compute::{ComputeModule, is_compute};

/// BEFORE or AFTER, of either kind.
pub enum Runnable {
    /// A compute entry point.
    Dispatch(Box<Side>),
    /// Stages, and where the module's instructions stand in its text, if it has one.
    Stages(Box<StageModule>, Option<AssemblyLines>),
}

impl Runnable {
    /// The compute entry point or the stages of a module; with a name, the entry point of that name
    /// alone. `name` stands in messages.
    ///
    /// # Errors
    /// There is no such entry point, or several to choose from: a sentence.
    pub fn new(name: &str, module: Module, assembly: Option<AssemblyLines>, entry: Option<&str>) -> Result<Runnable, InvalidInput> {
        if is_compute(&module, entry) {
            let module = ComputeModule::new(module, entry)?;
            return Ok(Runnable::Dispatch(Box::new(Side::new(name, module, assembly))));
        }
        Ok(Runnable::Stages(Box::new(StageModule::new(name, module, entry)?), assembly))
    }

    /// What AFTER has in the place of this one: the entry points of these stages and names, among
    /// whatever others there are.
    ///
    /// # Errors
    /// One is not there: a sentence.
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

    /// How messages name its module.
    pub fn name(&self) -> &str {
        match self {
            Runnable::Dispatch(side) => &side.name,
            Runnable::Stages(stages, _) => &stages.name,
        }
    }

    /// Its entry points, the vertex stage first.
    pub fn entry(&self) -> String {
        match self {
            Runnable::Dispatch(side) => side.module.entry.clone(),
            Runnable::Stages(stages, _) => stages.entries().into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }

    /// Where its instructions stand in its text, if it has one.
    pub fn assembly(&self) -> Option<&AssemblyLines> {
        match self {
            Runnable::Dispatch(side) => side.assembly.as_ref(),
            Runnable::Stages(_, assembly) => assembly.as_ref(),
        }
    }

    /// What the inputs of BEFORE have.
    ///
    /// # Errors
    /// As of [`Shape::of`] and [`Shape::of_stages`].
    pub fn shape(&self, settings: &Settings) -> Result<Shape<'_>, Mismatch> {
        match self {
            Runnable::Dispatch(side) => Shape::of(side, settings),
            Runnable::Stages(stages, _) => Shape::of_stages(stages, settings),
        }
    }

    /// Checks that AFTER has the interface of this one, and asks for no more.
    ///
    /// # Errors
    /// It has another: a sentence.
    pub fn admits(&self, after: &Runnable) -> Result<(), Mismatch> {
        match (self, after) {
            (Runnable::Dispatch(b), Runnable::Dispatch(a)) => interface::check(b, a),
            (Runnable::Stages(b, _), Runnable::Stages(a, _)) => interface::check_stages(b, a),
            _ => Err(Mismatch("one of them has a compute entry point, and the other has stages of a draw".into())),
        }
    }

    /// Compares AFTER with this one over generated inputs, as [`refines`] and [`refines_draws`] do.
    ///
    /// # Errors
    /// As theirs; the kinds differ.
    pub fn refined_by(&self, after: &Runnable, settings: &Settings, progress: impl FnMut(&Summary)) -> Result<Summary, Mismatch> {
        match (self, after) {
            (Runnable::Dispatch(b), Runnable::Dispatch(a)) => refines(b, a, settings, progress),
            (Runnable::Stages(b, _), Runnable::Stages(a, _)) => refines_draws(b, a, settings, progress),
            _ => self.admits(after).map(|()| Summary::default()),
        }
    }
}

/// What is compared of a module, one after the other: each compute entry point, a vertex and a
/// fragment entry point together where there is one of each and nothing else, and otherwise each
/// alone. None stands for what [`Runnable::new`] takes without a name.
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
