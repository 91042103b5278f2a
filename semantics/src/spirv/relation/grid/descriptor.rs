//! Choices among an array of descriptors (SPIR-V §3.2.20, Decoration NonUniform; Vulkan,
//! Validation Rules within a Module).
//!
//! An operand through which an instruction accesses a buffer or an image must be decorated
//! NonUniform if its descriptor is not dynamically uniform: if invocations of one invocation group
//! execute one dynamic instance of the instruction with different descriptors.

use std::hash::{DefaultHasher, Hash, Hasher};

use rspirv::spirv::Decoration;
use rustc_hash::FxHashMap;

use super::Grid;
use super::work::Work;
use crate::rule::Rule;
use crate::spirv::memory::Value;
use crate::spirv::module::{Module, WHOLE};
use crate::spirv::report;
use crate::spirv::step::{Config, Sink, accessed};
use crate::undefined::{Ub, Undefined};

/// The descriptor behind an operand: of a buffer, its variable and its index; of an image, the
/// indices of the image and the sampler.
type Chosen = (u32, u32);

/// The first access of each dynamic instance in an invocation group: its descriptor and its
/// invocation. The key is a digest of the instance and the operand.
type First = FxHashMap<u64, (Chosen, u32)>;

/// The first accesses by invocation group. `None` if the module has no array of descriptors, and
/// as a group the invocations of a whole stage.
#[derive(Clone, Debug)]
pub(super) struct Choices(Option<FxHashMap<Option<u32>, First>>);

impl Choices {
    /// The state before the first access.
    pub(super) fn of(module: &Module) -> Choices {
        let is_chosen = module.globals().iter().any(|variable| module.is_descriptor_array(variable.type_));
        Choices(is_chosen.then(FxHashMap::default))
    }

    /// Whether the module has an array of descriptors.
    pub(super) fn has_arrays(&self) -> bool {
        self.0.is_some()
    }

    /// Forgets the choices of an invocation group that has ended. A whole stage ends with the run.
    pub(super) fn end(&mut self, group: Option<u32>) {
        if let (Some(groups), Some(_)) = (&mut self.0, group) {
            groups.remove(&group);
        }
    }
}

/// The descriptor that an operand of the next instruction accesses, if it comes from an array of
/// descriptors or is an image.
fn chosen(config: &Config<'_>, id: u32) -> Option<Chosen> {
    match config.memory.value(config.module, id)?.as_ref() {
        Value::Pointer(pointer) => {
            let variable = config.module.variable(pointer.variable)?;
            config.module.is_descriptor_array(variable.type_).then_some((pointer.variable, pointer.descriptor))
        }
        Value::Descriptor(descriptor) => Some((descriptor.image.unwrap_or(u32::MAX), descriptor.sampler.unwrap_or(u32::MAX))),
        _ => None,
    }
}

/// two invocations of an invocation group execute a dynamic instance of an access with different
/// descriptors, and its operand is not decorated NonUniform: undefined behaviour
///    [spirv/descriptor-not-uniform, SPIR-V §3.2.20; Vulkan, Validation Rules within a Module]
pub(super) fn descriptor_not_uniform<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, number: u32, sink: &mut dyn Sink) {
    let Some(invocation) = grid.invocations.get(&number) else { return };
    let (module, config) = (grid.module, &invocation.config);
    let group = grid.work.invocation_group(grid.topology.agent(number).workgroup);
    for &id in accessed(config).unwrap_or_default() {
        let decorated = |decoration| module.decoration(id, WHOLE, decoration).is_some();
        let Some(chosen) = chosen(config, id).filter(|_| !decorated(Decoration::NonUniform)) else { continue };
        let mut hasher = DefaultHasher::new();
        let here = config.here();
        config.instance().iter().chain([&here]).for_each(|part| (part.block, part.instruction, part.count).hash(&mut hasher));
        id.hash(&mut hasher);
        let Some(groups) = &mut grid.choices.0 else { return };
        let &mut (first, other) = groups.entry(group).or_default().entry(hasher.finish()).or_insert((chosen, number));
        if first == chosen {
            continue;
        }
        let site = grid.site(number);
        let others = grid.work.global(grid.topology.agent(other));
        let what = report::descriptor_not_uniform(module, site.instruction, id, others);
        grid.emit_collective(Rule::SpirvDescriptorNotUniform, site.instruction, number, site.step.unwrap_or(0), sink);
        grid.record_undefined(Undefined { ub: Ub::DescriptorNotUniform, what, at: grid.work.at(&site), site: Some(Box::new(site)) });
        return;
    }
}
