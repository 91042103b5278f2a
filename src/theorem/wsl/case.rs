//! A case of the theorem: a computation or a draw.

use super::compare::Compared;
use super::draw;
use super::source::RelationUse;
use super::subject::{Subject, TargetInputs};
use crate::compile::wsl::{Module, Options};
use crate::dispatch::Dispatch;
use crate::gpu::{DeviceOutcome, Route};
use crate::theorem::Verdict;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::wsl::draw::Draw;
use smallstep_semantics::wsl::group::Resource;
use smallstep_semantics::wsl::typing::program::Program;

/// A computation or a draw that runs on both sides.
pub(super) enum Case<'s, 'p> {
    /// A dispatch or a function.
    Computed(Subject<'s, 'p>),
    /// A draw.
    Drawn(&'s Draw<'p>),
}

impl<'s, 'p> From<Subject<'s, 'p>> for Case<'s, 'p> {
    fn from(subject: Subject<'s, 'p>) -> Self {
        Case::Computed(subject)
    }
}

/// The translation with its inputs, after it ran. A computation also has its results.
pub(super) enum Ran {
    Computed(Box<TargetInputs>),
    Drawn(Box<draw::TranslatedDraw>),
}

impl Ran {
    /// The compiled modules.
    pub(super) fn modules(&self) -> &[Module] {
        match self {
            Ran::Computed(inputs) => std::slice::from_ref(inputs.module()),
            Ran::Drawn(translated) => &translated.modules,
        }
    }

    /// The dispatch for a device.
    pub(super) fn dispatch(&self) -> Dispatch {
        match self {
            Ran::Computed(inputs) => inputs.dispatch().into(),
            Ran::Drawn(translated) => translated.for_device().into(),
        }
    }

    /// The shown buffers and images of a computation. A device that shows the same bits needs no
    /// other judgement. For draws nothing is kept, since devices interpolate differently.
    pub(super) fn into_shown(self) -> Vec<Buffer> {
        match self {
            Ran::Computed(inputs) => inputs.shown,
            Ran::Drawn(_) => Vec::new(),
        }
    }
}

impl Case<'_, '_> {
    /// The program of the case.
    pub(super) fn program(&self) -> &Program {
        match self {
            Case::Computed(subject) => subject.program(),
            Case::Drawn(draw) => draw.program,
        }
    }

    /// The resources that are bound to its entry points.
    pub(super) fn resources(&self) -> &[Resource] {
        match self {
            Case::Computed(Subject::Dispatch(dispatch)) => &dispatch.resources,
            Case::Computed(Subject::Call { .. }) => &[],
            Case::Drawn(draw) => &draw.resources,
        }
    }

    /// The translated dispatch with its inputs. The error is the verdict if the translation refuses
    /// the program or cannot be made.
    pub(super) fn translated(&self, options: &Options) -> Result<Dispatch, Verdict> {
        match self {
            Case::Computed(subject) => Ok(subject.target_inputs(options)?.dispatch().into()),
            Case::Drawn(draw) => Ok(draw::translated(draw, options)?.into()),
        }
    }

    /// The verdict on both interpreters, the counts of what was compared, and the translation if it
    /// ran. `relation` says when WSL's relation runs.
    pub(super) fn judged(&self, options: &Options, relation: RelationUse) -> (Verdict, Compared, Option<Ran>) {
        match self {
            Case::Computed(subject) => {
                let (verdict, compared, inputs) = subject.judged(options, relation);
                (verdict, compared, inputs.map(|inputs| Ran::Computed(Box::new(inputs))))
            }
            Case::Drawn(draw) => {
                let (verdict, compared, translated) = draw::judged(draw, options, relation);
                (verdict, compared, translated.map(|translated| Ran::Drawn(Box::new(translated))))
            }
        }
    }

    /// The verdict on a device's result. Floats are judged by the profile. `device` names
    /// the device.
    pub(super) fn on_device(&self, outcome: &DeviceOutcome, options: &Options, device: &str, route: Route) -> (Verdict, Compared) {
        match self {
            Case::Computed(subject) => subject.on_device(outcome, options, device, route),
            Case::Drawn(draw) => draw::on_device(draw, outcome, options, device, route),
        }
    }
}
