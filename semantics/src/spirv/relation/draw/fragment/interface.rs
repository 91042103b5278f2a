//! The interface of the fragment stage: the sources of its inputs and the destinations of its
//! outputs (Vulkan, Shader Interfaces; Fragment Output Interface).

use rspirv::spirv::{BuiltIn, StorageClass};

use super::super::interface::{self, Effects, Place};
use super::super::{targets, vertex};
use crate::number::Profile;
use crate::raster::Interpolation;
use crate::spirv::declare::is_in_every_stage;
use crate::spirv::environment::Draw;
use crate::spirv::grid::prepare::{Refused, unsupported};
use crate::spirv::module::{EntryPoint, Modes, Module, Variable};
use crate::spirv::operation::Scalar as ComponentType;
use crate::spirv::types::Type;

/// The source of one scalar of an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A component of FragCoord.
    Coordinate(usize),
    Front,
    Helper,
    /// SampleId, of that type.
    Sample(Type),
    /// A component of SamplePosition.
    SamplePosition(usize),
    /// The first word of SampleMask, of that type.
    Mask(Type),
    /// A component of PointCoord.
    PointCoordinate(usize),
    /// A component of a built-in of subgroups.
    Subgroup(BuiltIn, u32),
    /// An output of the vertices, by its place among their scalars, and whether it has the
    /// decoration Sample.
    Vertices(usize, Interpolation, bool),
}

/// The interface of the fragment stage.
#[derive(Clone, Debug)]
pub(in crate::spirv::relation::draw) struct Interface<'m> {
    pub(super) inputs: Vec<(&'m Variable, Vec<Source>)>,
    /// By target and component: a variable and the index of a scalar in it.
    pub(super) outputs: Vec<[Option<(&'m Variable, usize)>; 4]>,
    pub(super) depth: Option<&'m Variable>,
    /// SampleMask: a variable and the index of the first word in it.
    pub(super) mask: Option<(&'m Variable, usize)>,
    /// Whether sample shading applies: several samples, and one invocation for each.
    pub(super) each_sample: bool,
    pub(super) modes: Modes,
    pub(super) effects: Effects,
    pub(super) profile: Profile,
}

impl<'m> Interface<'m> {
    /// The interface of the variables that the stage uses, for a draw's targets and a vertex stage.
    pub(in crate::spirv::relation::draw) fn new(
        module: &'m Module,
        entry: &EntryPoint,
        variables: &[&'m Variable],
        draw: &Draw<'_>,
        before: &vertex::Interface<'_>,
    ) -> Result<Interface<'m>, Refused> {
        let modes = module.modes(entry);
        let mut interface = Interface {
            inputs: Vec::new(),
            outputs: vec![[None; 4]; draw.targets.len()],
            depth: None,
            mask: None,
            each_sample: false,
            effects: interface::effects(module, entry)?,
            profile: draw.resources.profile(module, draw.fragment),
            modes,
        };
        if !interface.modes.origin_upper_left {
            return unsupported("a fragment stage without OriginUpperLeft");
        }
        for &variable in variables {
            match variable.class {
                StorageClass::Input => {
                    let sources = interface::parts(module, variable)?.into_iter().map(|part| source(part, variable, before));
                    interface.inputs.push((variable, sources.collect::<Result<_, _>>()?));
                }
                StorageClass::Output => interface.output(module, variable, draw)?,
                StorageClass::Workgroup => return unsupported(format!("OpVariable Workgroup in a draw (%{})", variable.id)),
                _ => {}
            }
        }
        // Vulkan, Sample Shading: SampleId and SamplePosition enable it for all samples. Inputs
        // with the decoration Sample may enable it.
        let has = |of: fn(&Source) -> bool| interface.inputs.iter().flat_map(|input| &input.1).any(of);
        let surely = has(|source| matches!(source, Source::Sample(_) | Source::SamplePosition(_)));
        let maybe = has(|source| matches!(source, Source::Vertices(.., true)));
        if draw.state.samples > 1 && maybe && !surely && interface.effects.writes {
            return unsupported("a fragment stage that writes, and is shaded for each sample or not: it has Sample and no SampleId");
        }
        interface.each_sample = draw.state.samples > 1 && (surely || maybe);
        // A sample outside of the mask counts as discarded.
        interface.effects.discards |= interface.mask.is_some();
        if interface.depth.is_some() && !interface.modes.depth_replacing {
            return unsupported("a fragment stage with FragDepth and without DepthReplacing");
        }
        Ok(interface)
    }

    fn output(&mut self, module: &Module, variable: &'m Variable, draw: &Draw<'_>) -> Result<(), Refused> {
        for (index, part) in interface::parts(module, variable)?.into_iter().enumerate() {
            match part.place {
                Place::BuiltIn(BuiltIn::FragDepth, _) => self.depth = Some(variable),
                Place::BuiltIn(BuiltIn::SampleMask, 0) => self.mask = Some((variable, index)),
                Place::BuiltIn(BuiltIn::SampleMask, _) => return masks(variable),
                Place::BuiltIn(built_in, _) => return unsupported(format!("BuiltIn {built_in:?} as an output (%{})", variable.id)),
                Place::At(slot) => {
                    // With several samples, each has a target.
                    let targets: Vec<usize> = (0..draw.targets.len()).filter(|&t| draw.targets[t].location == slot.location).collect();
                    let Some(&first) = targets.first() else { continue };
                    let format = draw.targets[first].image.format();
                    let component = match part.type_ {
                        Type::Int { width, signed } => ComponentType::Int { width, signed },
                        Type::Float { width } => ComponentType::Float { width },
                        _ => ComponentType::Other,
                    };
                    if !targets::fits(format, component) {
                        return unsupported(format!(
                            "an output of {component} at location {} for an attachment of format {} (%{})",
                            slot.location,
                            format.name(),
                            variable.id
                        ));
                    }
                    for target in targets {
                        self.outputs[target][slot.component as usize] = Some((variable, index));
                    }
                }
            }
        }
        Ok(())
    }
}

/// For up to 16 samples a mask is one word. maxSampleMaskWords need not be greater.
fn masks<T>(variable: &Variable) -> Result<T, Refused> {
    unsupported(format!("SampleMask of more than one word (%{})", variable.id))
}

fn source(part: interface::Part, variable: &Variable, before: &vertex::Interface<'_>) -> Result<Source, Refused> {
    let slot = match part.place {
        Place::BuiltIn(BuiltIn::FragCoord, index) => return Ok(Source::Coordinate(index as usize)),
        Place::BuiltIn(BuiltIn::FrontFacing, _) => return Ok(Source::Front),
        Place::BuiltIn(BuiltIn::HelperInvocation, _) => return Ok(Source::Helper),
        Place::BuiltIn(BuiltIn::SampleId, _) => return Ok(Source::Sample(part.type_)),
        Place::BuiltIn(BuiltIn::SamplePosition, index) => return Ok(Source::SamplePosition(index as usize)),
        Place::BuiltIn(BuiltIn::SampleMask, 0) => return Ok(Source::Mask(part.type_)),
        Place::BuiltIn(BuiltIn::SampleMask, _) => return masks(variable),
        Place::BuiltIn(BuiltIn::PointCoord, index) => return Ok(Source::PointCoordinate(index as usize)),
        Place::BuiltIn(built_in, index) if is_in_every_stage(built_in) => return Ok(Source::Subgroup(built_in, index)),
        Place::BuiltIn(built_in, _) => return unsupported(format!("BuiltIn {built_in:?} (%{})", variable.id)),
        Place::At(slot) => slot,
    };
    let Some(place) = before.outputs.iter().position(|output| output.slot == slot) else {
        return unsupported(format!(
            "no output of the vertex stage at location {}, component {} for the input %{}",
            slot.location, slot.component, variable.id
        ));
    };
    if before.outputs[place].type_ != part.type_ {
        return unsupported(format!("an output of another type at location {} than the input %{}", slot.location, variable.id));
    }
    if part.how != Interpolation::Flat && !matches!(part.type_, Type::Float { .. }) {
        return unsupported(format!("an input of integers without Flat at location {} (%{})", slot.location, variable.id));
    }
    Ok(Source::Vertices(place, part.how, part.at_sample))
}
