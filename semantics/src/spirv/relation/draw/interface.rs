//! The interfaces of stages: the location and component of each scalar of each variable (Vulkan,
//! Shader Interfaces: Location and Component Assignment, Interface Matching). And the effects of a
//! stage beside its outputs.

use rspirv::spirv::{BuiltIn, Decoration, GlslStd450Op as Glsl, StorageClass};

use crate::concurrency::{Agent, Scope};
use crate::number::Why;
use crate::outcome::Limit;
use crate::raster::Interpolation;
use crate::spirv::environment::Draw;
use crate::spirv::grammar::Op;
use crate::spirv::grid;
use crate::spirv::grid::prepare::{Refused, unsupported};
use crate::spirv::memory::exact;
use crate::spirv::module::{EntryPoint, Module, Variable, WHOLE};
use crate::spirv::order;
use crate::spirv::types::Type;
use crate::spirv::value::Scalar;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most scalars of an interface variable.
const MAX_SCALARS: u64 = 1 << 12;

/// Where one scalar of an interface variable stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A component of a location.
    At(Slot),
    /// A component of a built-in.
    BuiltIn(BuiltIn, u32),
}

/// A component of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) location: u32,
    pub(super) component: u32,
}

/// A scalar of an interface variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) place: Place,
    /// A scalar type.
    pub(super) type_: Type,
    /// Its interpolation as an input of a fragment stage.
    pub(super) how: Interpolation,
    /// Whether it has the decoration Sample.
    pub(super) at_sample: bool,
}

/// The scalars of an interface variable, in memory order.
pub(super) fn parts(module: &Module, variable: &Variable) -> Result<Vec<Part>, Refused> {
    let types = module.types();
    if types.scalars(variable.type_) > MAX_SCALARS {
        return Err(Limit { what: "scalars of an interface variable", bound: MAX_SCALARS }.into());
    }
    let mut walk = Walk {
        module,
        variable: variable.id,
        parts: Vec::new(),
        slot: Slot { location: 0, component: 0 },
        how: Interpolation::Perspective,
        at_sample: false,
    };
    if let Some(built_in) = module.built_in(variable.id, WHOLE) {
        walk.built_in(built_in, variable.type_);
        return Ok(walk.parts);
    }
    let decorated = |decoration| module.decoration(variable.id, WHOLE, decoration);
    let location = decorated(Decoration::Location);
    walk.slot.location = location.unwrap_or(0);
    walk.slot.component = decorated(Decoration::Component).unwrap_or(0);
    walk.how = interpolation(module, variable.id, WHOLE, Interpolation::Perspective);
    walk.at_sample = decorated(Decoration::Sample).is_some();
    if decorated(Decoration::Index).is_some_and(|index| index != 0) {
        return unsupported(format!("OpDecorate Index (%{})", variable.id));
    }
    walk.type_(variable.type_)?;
    Ok(walk.parts)
}

fn interpolation(module: &Module, target: u32, member: u32, outer: Interpolation) -> Interpolation {
    if module.decoration(target, member, Decoration::Flat).is_some() {
        Interpolation::Flat
    } else if module.decoration(target, member, Decoration::NoPerspective).is_some() {
        Interpolation::Linear
    } else {
        outer
    }
}

struct Walk<'m> {
    module: &'m Module,
    variable: u32,
    parts: Vec<Part>,
    /// The next component of the location.
    slot: Slot,
    how: Interpolation,
    at_sample: bool,
}

impl Walk<'_> {
    fn built_in(&mut self, built_in: BuiltIn, type_: u32) {
        let how = Interpolation::Flat;
        let mut index = 0;
        self.module.types().visit_scalars(type_, &mut |type_| {
            self.parts.push(Part { place: Place::BuiltIn(built_in, index), type_, how, at_sample: false });
            index += 1;
        });
    }

    fn type_(&mut self, id: u32) -> Result<(), Refused> {
        let types = self.module.types();
        match types.get(id) {
            _ if types.is_nothing(id) => Ok(()),
            Some(Type::Matrix { column: element, count }) => (0..count).try_for_each(|_| self.type_(element)),
            Some(Type::Array { element, .. }) => (0..types.parts(id).unwrap_or(0)).try_for_each(|_| self.type_(element)),
            Some(Type::Struct { .. }) => self.structure(id),
            Some(Type::Vector { component, count }) => self.row(types.get(component), count.into()),
            scalar => self.row(scalar, 1),
        }
    }

    fn structure(&mut self, id: u32) -> Result<(), Refused> {
        let (outer, outer_sample) = (self.how, self.at_sample);
        for (number, member) in self.module.types().members(id).iter().enumerate() {
            let number = number as u32;
            if let Some(built_in) = self.module.built_in(id, number) {
                self.built_in(built_in, member.type_);
                continue;
            }
            let decorated = |decoration| self.module.decoration(id, number, decoration);
            let (location, component) = (decorated(Decoration::Location), decorated(Decoration::Component));
            self.slot.location = location.unwrap_or(self.slot.location);
            self.slot.component = component.unwrap_or(self.slot.component);
            self.how = interpolation(self.module, id, number, outer);
            self.at_sample = outer_sample || decorated(Decoration::Sample).is_some();
            self.type_(member.type_)?;
            if component.is_some() {
                self.slot.component = 0;
            }
        }
        (self.how, self.at_sample) = (outer, outer_sample);
        Ok(())
    }

    /// Whatever has a location of its own.
    fn row(&mut self, scalar: Option<Type>, count: u32) -> Result<(), Refused> {
        let Some(type_ @ (Type::Int { width: 32, .. } | Type::Float { width: 32 })) = scalar else {
            return unsupported(format!("an interface variable of other than 32-bit numbers (%{})", self.variable));
        };
        let Slot { location, component } = self.slot;
        if component + count > 4 {
            return unsupported(format!("%{} has a component beyond the four of location {location}", self.variable));
        }
        for component in component..component + count {
            let place = Place::At(Slot { location, component });
            self.parts.push(Part { place, type_, how: self.how, at_sample: self.at_sample });
        }
        self.slot.location = location.saturating_add(1);
        Ok(())
    }
}

/// A component of a built-in of subgroups, in a lane of a quad or in a vertex. It is in doubt,
/// since a device may form subgroups otherwise. `None` for other built-ins.
pub(super) fn of_subgroups(draw: &Draw<'_>, built_in: BuiltIn, component: u32, lane: u32) -> Option<Scalar> {
    let given = draw.resources.subgroup_size;
    let words = grid::subgroup_built_in(built_in, Agent { workgroup: 0, local: lane }, given.unwrap_or(grid::MAX_SIZE))?;
    let scalar = exact(Type::Int { width: 32, signed: false }, words.get(component as usize).copied()?.into());
    let doubt = match (built_in, given) {
        (BuiltIn::SubgroupSize, Some(_)) => return Some(scalar),
        (BuiltIn::SubgroupSize, None) => Why::SubgroupSize,
        _ => Why::SubgroupMapping,
    };
    Some(Scalar { trust: scalar.trust.in_doubt(doubt), ..scalar })
}

/// Whether the stage uses this built-in of a variable. A block of built-ins is often declared
/// whole.
pub(super) fn is_touched(module: &Module, variable: &Variable, built_in: BuiltIn) -> bool {
    let member = (0..module.types().members(variable.type_).len() as u32).find(|&m| module.built_in(variable.type_, m) == Some(built_in));
    let Some(member) = member else { return true };
    module.instructions().iter().any(|i| {
        let operands = i.operands(module.words());
        match i.op {
            Op::AccessChain | Op::InBoundsAccessChain if operands[0] == variable.id => {
                operands.get(1).and_then(|&id| module.constant_value(id)).is_none_or(|index| index == u64::from(member))
            }
            Op::Load | Op::Store | Op::CopyObject => operands[0] == variable.id,
            Op::CopyMemory | Op::FunctionCall => operands.contains(&variable.id),
            _ => false,
        }
    })
}

/// The effects of an entry point, with all functions that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// It may write memory that invocations share.
    pub(super) writes: bool,
    /// What it writes to shared memory may depend on its contents: by an atomic operation, or by a
    /// load and a store of one variable.
    pub(super) updates: bool,
    /// It may distinguish helper invocations.
    pub(super) sees_helpers: bool,
    /// It may discard the invocation.
    pub(super) discards: bool,
}

/// The effects of an entry point. Refuses scopes that no stage of a draw has.
pub(super) fn effects(module: &Module, entry: &EntryPoint) -> Result<Effects, Refused> {
    let mut effects = Effects::default();
    let shared = |id: u32| {
        let class = module.type_of(id).and_then(|type_| module.pointer_type(type_)).map(|(class, _)| class);
        matches!(class, Some(StorageClass::StorageBuffer | StorageClass::Uniform))
    };
    let functions = order::reached(module, entry.function);
    let code = functions.iter().filter_map(|&id| module.function(id)).flat_map(|f| module.function_blocks(f)).flat_map(|b| module.code(b));
    let mut roots: FxHashMap<u32, u32> = FxHashMap::default();
    let (mut loaded, mut stored): (FxHashSet<u32>, FxHashSet<u32>) = Default::default();
    for i in code {
        let operands = i.operands(module.words());
        let root = |id: u32| roots.get(&id).copied().unwrap_or(id);
        match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => _ = roots.insert(i.result, root(operands[0])),
            Op::Load => _ = loaded.insert(root(operands[0])),
            Op::Store => _ = stored.insert(root(operands[0])),
            Op::CopyMemory => {
                loaded.insert(root(operands[1]));
                stored.insert(root(operands[0]));
            }
            _ => {}
        }
        let scope = match i.op {
            Op::Store | Op::CopyMemory => {
                effects.writes |= shared(operands[0]);
                None
            }
            Op::ExtInst if [Glsl::Modf as u32, Glsl::Frexp as u32].contains(&operands[1]) => {
                effects.writes |= operands.get(3).is_some_and(|&id| shared(id));
                None
            }
            Op::ImageWrite => {
                effects.writes = true;
                None
            }
            Op::Kill | Op::TerminateInvocation => {
                effects.discards = true;
                None
            }
            Op::DemoteToHelperInvocation => {
                (effects.discards, effects.sees_helpers) = (true, true);
                None
            }
            Op::IsHelperInvocationEXT => {
                effects.sees_helpers = true;
                None
            }
            Op::MemoryBarrier => Some(operands[0]),
            op if Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32 => {
                effects.writes |= op != Op::AtomicLoad;
                effects.updates |= !matches!(op, Op::AtomicLoad | Op::AtomicStore);
                effects.sees_helpers = true;
                Some(operands[1])
            }
            _ => None,
        };
        let scope = scope.and_then(|id| module.constant_value(id)).and_then(|word| Scope::decode(word as u32).ok());
        if scope == Some(Scope::Workgroup) {
            return unsupported(format!("{} with the scope Workgroup in a draw", i.name()));
        }
    }
    // A pointer parameter may point anywhere.
    let anywhere = |id: &u32| shared(*id) && module.variable(*id).is_none();
    effects.updates |=
        stored.iter().any(|id| shared(*id) && loaded.contains(id)) || stored.iter().any(anywhere) || loaded.iter().any(anywhere);
    let tells = |b: BuiltIn| matches!(b, BuiltIn::HelperInvocation | BuiltIn::SampleMask);
    let inputs = module.globals().iter().filter(|v| v.class == StorageClass::Input);
    effects.sees_helpers |= effects.writes || inputs.flat_map(|v| module.built_ins(v)).any(tells);
    Ok(effects)
}
