//! The events that a run shows while it runs.

use std::fmt::Write;

use super::Action;
use crate::rule::Rule;
use crate::spirv::environment::InvocationId;
use crate::spirv::error::Place;
use crate::spirv::memory::{Descriptor, Pointer, Value};
use crate::spirv::module::Module;
use crate::spirv::operation::Scalar as Component;
use crate::spirv::shared::{Extent, ObjectId};
use crate::spirv::value::Scalar;
use crate::spirv::words::Instruction;

/// One application of a rule, as a sink sees it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a, 'm> {
    /// The rule.
    pub rule: Rule,
    /// The invocation.
    pub invocation: InvocationId,
    /// The number of rules that the invocation had applied before.
    pub step: u64,
    /// The place of the instruction.
    pub at: Place,
    /// The instruction. A group of OpPhi has one event for each, all with the same step.
    pub instruction: &'m Instruction,
    /// The new value of the instruction's result. `None` if it has no result, or if the rule ends
    /// the run in undefined behaviour.
    pub value: Option<&'a Value>,
    /// The actions on the state that invocations share.
    pub actions: &'a [Action],
}

/// An observer of all applications of rules.
pub trait Sink {
    /// Receives one application of a rule.
    fn event(&mut self, event: &Event<'_, '_>);

    /// Whether the sink wants any events.
    fn wants_events(&self) -> bool {
        true
    }
}

/// The sink that ignores all events.
impl Sink for () {
    fn event(&mut self, _: &Event<'_, '_>) {}

    fn wants_events(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Event<'_, '_>)> Sink for F {
    fn event(&mut self, event: &Event<'_, '_>) {
        self(event);
    }
}

/// The greatest number of scalars of one value in a line.
const SHOWN: usize = 16;

impl Event<'_, '_> {
    /// The source line of the instruction: file, line and column.
    pub fn source_line(&self, module: &Module) -> Option<(String, u32, u32)> {
        module.source_line(module.instructions().partition_point(|i| i.offset < self.instruction.offset))
    }

    /// The event as one line, without a line break: invocation, step, rule, instruction, source
    /// line if known, and the changes.
    pub fn line(&self, module: &Module) -> String {
        let InvocationId { workgroup, local } = self.invocation;
        let mut line = format!("{workgroup}.{local} {} [{}] ", self.step, self.rule);
        if self.instruction.result != 0 {
            let _ = write!(line, "%{} = ", self.instruction.result);
        }
        let _ = write!(line, "{} in %{}, block %{}", self.instruction.name(), self.at.function, self.at.block);
        if let Some((file, number, column)) = self.source_line(module) {
            let _ = write!(line, ", {file}:{number}:{column}");
        }
        if let Some(value) = self.value {
            let _ = write!(line, ": {}", value_text(module, module.shape(self.instruction.result).scalar, value));
        }
        for action in self.actions {
            let _ = write!(line, "; {}", action_text(action));
        }
        line
    }
}

fn value_text(module: &Module, component: Component, value: &Value) -> String {
    match value {
        Value::Scalars(scalars) => scalars_text(component, scalars),
        Value::Pointer(Pointer { variable, address, explicit, .. }) => {
            let unit = if *explicit { "byte" } else { "scalar" };
            format!("pointer to {} at {unit} {} of %{variable}", module.types().text(address.type_), address.offset)
        }
        Value::Nowhere(None) => "the null pointer".to_string(),
        Value::Nowhere(Some(_)) => "an undefined pointer".to_string(),
        Value::Descriptor(Descriptor { image, sampler }) => {
            let image = image.map(|image| format!("image {image}"));
            let parts: Vec<String> = image.into_iter().chain(sampler.map(|sampler| format!("sampler {sampler}"))).collect();
            parts.join(" with ")
        }
    }
}

fn scalars_text(component: Component, scalars: &[Scalar]) -> String {
    let mut texts: Vec<String> = scalars.iter().take(SHOWN).map(|scalar| scalar_text(component, scalar)).collect();
    if scalars.len() > SHOWN {
        texts.push(format!("… ({} scalars)", scalars.len()));
    }
    match texts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", texts.join(", ")),
    }
}

fn scalar_text(component: Component, scalar: &Scalar) -> String {
    if let Some(origin) = scalar.undefined {
        return format!("any ({})", origin.kind.id());
    }
    let bits = scalar.bits;
    match component {
        Component::Bool => (bits != 0).to_string(),
        Component::Float { width: 32 } => format!("{:?}", f32::from_bits(bits as u32)),
        Component::Float { width: 64 } => format!("{:?}", f64::from_bits(bits)),
        Component::Int { width, signed: true } => crate::number::integer::signed(width, bits).to_string(),
        Component::Int { .. } => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

fn extent_text(extent: &Extent) -> String {
    let object = match extent.object {
        ObjectId::Buffer(index) => format!("buffer {index}"),
        ObjectId::Image(index) => format!("image {index}"),
        ObjectId::Workgroup { workgroup, index } => format!("Workgroup variable {index} of workgroup {workgroup}"),
    };
    let stretches: Vec<String> = extent.stretches().iter().map(|(first, bytes)| format!("{first}+{bytes}")).collect();
    format!("{object} bytes {}", stretches.join(" "))
}

fn action_text(action: &Action) -> String {
    match action {
        Action::Load(extent) => format!("load of {}", extent_text(extent)),
        Action::Store(extent, scalars) => format!("store of {} to {}", scalars_text(Component::Other, scalars), extent_text(extent)),
        Action::Atomic { extent, op, store, .. } => {
            let stored = store.map_or(String::new(), |s| format!(", {} written", scalar_text(Component::Other, &s)));
            format!("atomic {op:?} of {}{stored}", extent_text(extent))
        }
        Action::Fence { scope, .. } => format!("fence of {}", scope.name()),
    }
}
