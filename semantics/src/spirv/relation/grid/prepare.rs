//! Preparation of a dispatch: the variables that the entry point uses, whether all of its
//! instructions have rules, and the resources that it needs.

use std::rc::Rc;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::quad::Order;
use super::subgroup::{self, uses_subgroups};
use super::work::Work;
use crate::concurrency::{Agent, Begin, Scope, Semantics, Topology};
use crate::number::{Trust, Why};
use crate::outcome::{Limit, Outcome};
use crate::spirv::environment::{Dispatch, Observation, SubgroupMapping};
use crate::spirv::grammar::{self, Op};
use crate::spirv::memory::{Pointer, is_own};
use crate::spirv::module::{EntryPoint, Function, Module, Variable, WHOLE};
use crate::spirv::operation;
use crate::spirv::shared::{NoMemory, Shared};
use crate::spirv::step::{Config, Mapping, Rules};
use crate::spirv::types::Type;
use crate::spirv::value::{Scalar, Scalars};
use crate::spirv::words::Instruction;

/// The greatest depth of nested calls.
const MAX_CALLS: u64 = 1 << 12;

/// Why a dispatch does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::spirv) enum Refused {
    /// A feature is not modeled, or a resource is missing.
    Unsupported(String),
    /// A limit is exceeded.
    Limit(Limit),
}

impl<O> From<Refused> for Outcome<O> {
    fn from(refused: Refused) -> Outcome<O> {
        match refused {
            Refused::Unsupported(what) => Outcome::Unsupported(what),
            Refused::Limit(limit) => Outcome::Limit(limit),
        }
    }
}

impl From<NoMemory> for Refused {
    fn from(missing: NoMemory) -> Refused {
        match missing {
            NoMemory::Resource(what) => Refused::Unsupported(what),
            NoMemory::Limit(limit) => Refused::Limit(limit),
        }
    }
}

impl From<Limit> for Refused {
    fn from(limit: Limit) -> Refused {
        Refused::Limit(limit)
    }
}

pub(in crate::spirv) fn unsupported<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Unsupported(what.into()))
}

/// The constant data of a running dispatch, or of a running stage of a draw.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Prepared {
    /// The label of the entry point's first block.
    pub(super) label: u32,
    /// The observed buffers: the index in the dispatch, the set and the binding.
    pub(in crate::spirv) storage: Vec<(usize, u32, u32)>,
    /// Whether a constant is undefined, or a part of one.
    pub(super) undefined_constants: bool,
    /// Whether the module depends on subgroups.
    pub(super) subgroups: bool,
    /// How much is known of which invocations form a subgroup.
    pub(super) mapping: Mapping,
    /// The order of dynamic instances, if anything waits for a quad or a subgroup.
    pub(super) order: Option<Rc<Order>>,
}

/// The invocations of a dispatch.
#[derive(Clone, Debug)]
pub(super) struct DispatchInvocations<'m> {
    /// The number of workgroups.
    workgroups: u32,
    /// The number of invocations of a workgroup in x, y and z.
    size: [u32; 3],
    /// The number of workgroups in x, y and z.
    groups: [u32; 3],
    /// The number of invocations of a subgroup, followed by which invocations they are.
    subgroup: u32,
    mapping: SubgroupMapping,
    /// The inputs that the entry point uses.
    inputs: Vec<(&'m Variable, BuiltIn)>,
}

fn coordinates(number: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (x.max(1), y.max(1));
    [number % x, number / x % y, number / x / y]
}

impl<'m> Work<'m> for DispatchInvocations<'m> {
    fn begin(&mut self, workgroup: u32, _: &mut Shared, _: &mut u64) -> Result<Begin, Outcome<Observation>> {
        Ok(if workgroup < self.workgroups { Begin::Begins } else { Begin::NoMore })
    }

    fn invocation_group(&self, workgroup: u32) -> Option<u32> {
        Some(workgroup)
    }

    fn start(&self, agent: Agent, _: u32, config: &mut Config<'m>) {
        for &(variable, built_in) in &self.inputs {
            let words = self.built_in(built_in, agent.workgroup, agent.local);
            let trust = match self.mapping {
                SubgroupMapping::Any if subgroup::depends_on_mapping(built_in) => Trust::CERTAIN.in_doubt(Why::SubgroupMapping),
                _ => Trust::CERTAIN,
            };
            let scalars: Scalars = words.iter().map(|&word| Scalar { bits: word.into(), trust, undefined: None }).collect();
            config.memory.store_own(&Pointer::to(config.module, variable), &scalars);
        }
    }

    fn global(&self, agent: Agent) -> [u32; 3] {
        let (group, local) = (coordinates(agent.workgroup, self.groups), coordinates(agent.local, self.size));
        [0, 1, 2].map(|i| group[i].wrapping_mul(self.size[i]).wrapping_add(local[i]))
    }
}

impl DispatchInvocations<'_> {
    /// The words of a built-in. The function [`built_in`] has accepted it.
    fn built_in(&self, built_in: BuiltIn, workgroup: u32, local: u32) -> Vec<u32> {
        match built_in {
            BuiltIn::NumWorkgroups => self.groups.to_vec(),
            BuiltIn::WorkgroupSize => self.size.to_vec(),
            BuiltIn::WorkgroupId => coordinates(workgroup, self.groups).to_vec(),
            BuiltIn::LocalInvocationId => coordinates(local, self.size).to_vec(),
            BuiltIn::GlobalInvocationId => self.global(Agent { workgroup, local }).to_vec(),
            BuiltIn::LocalInvocationIndex => vec![local],
            other => subgroup::built_in(other, Agent { workgroup, local }, self.subgroup, self.size.iter().product()).unwrap_or_default(),
        }
    }
}

/// Whether a built-in of compute is modeled (Vulkan, "Built-In Variables").
fn built_in(built_in: BuiltIn) -> bool {
    use BuiltIn::{GlobalInvocationId, LocalInvocationId, LocalInvocationIndex, NumWorkgroups, WorkgroupId, WorkgroupSize};
    let of_groups = [NumWorkgroups, WorkgroupSize, WorkgroupId, LocalInvocationId, GlobalInvocationId, LocalInvocationIndex];
    of_groups.contains(&built_in) || subgroup::built_in(built_in, Agent { workgroup: 0, local: 0 }, 1, 1).is_some()
}

/// Checks that the entry point can run. Returns its constant data, invocations and shared memory.
pub(super) fn prepare<'m>(
    module: &'m Module,
    entry: &EntryPoint,
    dispatch: &Dispatch<'_>,
    rules: &Rules,
) -> Result<(Prepared, DispatchInvocations<'m>, Topology, Shared), Refused> {
    if entry.model != ExecutionModel::GLCompute {
        return unsupported(format!("OpEntryPoint {:?} in a dispatch", entry.model));
    }
    let Some(size) = module.modes(entry).workgroup_size else { return unsupported("a compute entry point without a workgroup size") };
    let invocations = size.iter().try_fold(1u64, |n, &s| n.checked_mul(s.into())).filter(|&n| n > 0);
    let invocations = invocations.ok_or(Limit { what: "invocations", bound: dispatch.limits.invocations })?;
    let workgroups = dispatch.workgroups(invocations)?;
    let subgroup = if uses_subgroups(module) { subgroup_size(dispatch)? } else { 1 };
    let topology = Topology::new(workgroups, invocations as u32, subgroup)?;
    let variables = used(module, entry, rules)?;
    let mut inputs = Vec::new();
    for &variable in &variables {
        inputs.extend(input(module, variable)?.map(|built_in| (variable, built_in)));
    }
    let groups = dispatch.groups;
    let (prepared, shared) = stage(module, entry, &variables, dispatch, topology)?;
    let mapping = dispatch.resources.subgroup_mapping;
    Ok((prepared, DispatchInvocations { workgroups, size, groups, subgroup, mapping, inputs }, topology, shared))
}

/// The size of subgroups that the dispatch sets.
fn subgroup_size(dispatch: &Dispatch<'_>) -> Result<u32, Refused> {
    let Some(size) = dispatch.resources.subgroup_size else {
        return unsupported("subgroups without their size; --subgroup-size N gives it");
    };
    if size.is_power_of_two() && size <= subgroup::MAX_SIZE {
        return Ok(size);
    }
    unsupported(format!("subgroups of {size} invocations; sizes are powers of two up to {}", subgroup::MAX_SIZE))
}

/// The size of subgroups of a stage of a draw. If the draw sets none, it is the greatest possible
/// size. Then no cluster is too large, and all that depends on the size is in doubt.
pub(in crate::spirv) fn subgroup_size_of_stage(module: &Module, dispatch: &Dispatch<'_>) -> Result<u32, Refused> {
    match dispatch.resources.subgroup_size {
        _ if !uses_subgroups(module) => Ok(1),
        None => Ok(subgroup::MAX_SIZE),
        Some(size @ 1..4) => unsupported(format!("subgroups of {size} invocations in a draw; a quad has four")),
        Some(_) => subgroup_size(dispatch),
    }
}

/// The variables at module scope that the entry point uses, including outputs that matter without a
/// store. Refuses instructions without a rule.
pub(in crate::spirv) fn used<'m>(module: &'m Module, entry: &EntryPoint, rules: &Rules) -> Result<Vec<&'m Variable>, Refused> {
    if let Some((mode, width)) = module.modes(entry).float_controls.iter().find(|(mode, _)| *mode == ExecutionMode::RoundingModeRTZ) {
        return unsupported(format!("OpExecutionMode {mode:?} {width}"));
    }
    let mut used = Used::by(module, entry, rules)?;
    used.variables.extend(module.standing_outputs(entry).map(|v| v.id));
    Ok(module.globals().iter().filter(|v| used.variables.contains(&v.id)).collect())
}

/// The constant data and the shared memory of an entry point that uses these variables, with the
/// resources of the dispatch.
pub(in crate::spirv) fn stage(
    module: &Module,
    entry: &EntryPoint,
    variables: &[&Variable],
    dispatch: &Dispatch<'_>,
    topology: Topology,
) -> Result<(Prepared, Shared), Refused> {
    let shared = Shared::new(module, variables, dispatch)?;
    bound_memory(module, dispatch, &shared, topology)?;
    let mut storage = Vec::new();
    for (index, buffer) in dispatch.resources.buffers.iter().enumerate() {
        let binds = |v: &&&Variable| is_storage(module, v) && module.descriptor(v.id) == Some((buffer.set, buffer.binding));
        if variables.iter().any(|v| binds(&v)) {
            storage.push((index, buffer.set, buffer.binding));
        }
    }
    let undefined_constants = module.instructions().iter().any(|i| i.is(Op::Undef) && module.is_constant(i.result));
    let label = module.entry_block(entry).label;
    let (subgroups, order) = (uses_subgroups(module), Order::of(module).map(Rc::new));
    let mapping = match entry.model {
        ExecutionModel::GLCompute if dispatch.resources.subgroup_mapping == SubgroupMapping::Any => Mapping::Unknown,
        ExecutionModel::GLCompute => Mapping::Known,
        ExecutionModel::Fragment => Mapping::Quads,
        _ => Mapping::Unknown,
    };
    Ok((Prepared { label, storage, undefined_constants, subgroups, mapping, order }, shared))
}

/// Whether a variable is a storage buffer, in the class StorageBuffer or as a BufferBlock.
fn is_storage(module: &Module, variable: &Variable) -> bool {
    match variable.class {
        StorageClass::StorageBuffer => true,
        StorageClass::Uniform => module.decoration(module.resource_type(variable), WHOLE, Decoration::BufferBlock).is_some(),
        _ => false,
    }
}

/// The built-in of an input variable, or `None` for a variable of another class. Refuses a variable
/// that is not modeled.
fn input(module: &Module, variable: &Variable) -> Result<Option<BuiltIn>, Refused> {
    let id = variable.id;
    match variable.class {
        StorageClass::Input => match module.built_in(id, WHOLE) {
            Some(name) if built_in(name) => Ok(Some(name)),
            Some(name) => unsupported(format!("BuiltIn {name:?} (%{id})")),
            None => unsupported(format!("OpVariable Input without a BuiltIn (%{id})")),
        },
        _ => memory(variable).map(|()| None),
    }
}

/// Refuses a variable that is not modeled. It is neither an input nor an output.
pub(in crate::spirv) fn memory(variable: &Variable) -> Result<(), Refused> {
    let id = variable.id;
    match variable.class {
        StorageClass::Private
        | StorageClass::Workgroup
        | StorageClass::Uniform
        | StorageClass::StorageBuffer
        | StorageClass::UniformConstant
        | StorageClass::PushConstant => Ok(()),
        class => unsupported(format!("OpVariable {class:?} (%{id})")),
    }
}

/// Refuses a dispatch that would exceed the memory limit, by its values, its Workgroup memory, or
/// the variables of one invocation.
fn bound_memory(module: &Module, dispatch: &Dispatch<'_>, shared: &Shared, topology: Topology) -> Result<(), Refused> {
    let bound = dispatch.limits.memory;
    let size = 2 * size_of::<Scalar>() as u64;
    let resident = u64::from((super::RESIDENT / topology.workgroup_size()).max(1));
    let workgroups = shared.workgroup_scalars().saturating_mul(resident);
    let own_scalars = module.variables().iter().filter(|v| is_own(v.class)).map(|v| module.types().scalars(v.type_));
    let own_scalars = own_scalars.fold(0u64, u64::saturating_add);
    let value = module.instructions().iter().filter(|i| i.result != 0).map(|i| module.types().scalars(i.result_type)).max().unwrap_or(0);
    match workgroups.saturating_add(own_scalars).saturating_add(value.saturating_mul(2)).checked_mul(size) {
        Some(bytes) if bytes <= bound => Ok(()),
        _ => Err(Limit { what: "bytes of memory", bound }.into()),
    }
}

/// The static uses of an entry point.
struct Used {
    /// The ids of variables at module scope that its functions name.
    variables: FxHashSet<u32>,
}

impl Used {
    fn by(module: &Module, entry: &EntryPoint, rules: &Rules) -> Result<Used, Refused> {
        let mut used = Used { variables: FxHashSet::default() };
        // Visits callees before their callers. Load refuses recursion.
        let mut depths: FxHashMap<u32, u64> = FxHashMap::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut pending = vec![(entry.function, false)];
        while let Some((id, are_callees_done)) = pending.pop() {
            let Some(function) = module.function(id) else { continue };
            if are_callees_done {
                let depth = 1 + module.callees(function).filter_map(|callee| depths.get(&callee)).max().unwrap_or(&0);
                depths.insert(id, depth);
                continue;
            }
            if !seen.insert(id) {
                continue;
            }
            used.function(module, function, rules)?;
            pending.push((id, true));
            pending.extend(module.callees(function).filter(|callee| !seen.contains(callee)).map(|callee| (callee, false)));
        }
        match depths.get(&entry.function) {
            Some(&depth) if depth > MAX_CALLS => Err(Limit { what: "nested calls", bound: MAX_CALLS }.into()),
            _ => Ok(used),
        }
    }

    fn function(&mut self, module: &Module, function: &Function, rules: &Rules) -> Result<(), Refused> {
        for i in module.function_blocks(function).iter().flat_map(|block| module.code(block)) {
            let operands = i.operands(module.words());
            modeled(module, i, operands, rules)?;
            for &id in i.pointers(operands) {
                let global = |id: &u32| module.variable(*id).is_some_and(|v| v.function.is_none());
                self.variables.extend(Some(id).filter(global));
            }
        }
        Ok(())
    }
}

/// Refuses an instruction without a rule.
fn modeled(module: &Module, i: &Instruction, operands: &[u32], rules: &Rules) -> Result<(), Refused> {
    if !rules.has(i.op) {
        return unsupported(i.name());
    }
    if i.is(Op::ExtInst) && !module.is_non_semantic(i) && operation::glsl(operands[1]).is_none() {
        let name = grammar::set("GLSL.std.450").and_then(|s| s.by_number(operands[1])).map_or("?", |e| e.opname);
        return unsupported(format!("OpExtInst GLSL.std.450 {name}"));
    }
    let (scopes, semantics): (&[u32], &[u32]) = match i.op {
        Op::ControlBarrier => {
            let scope = module.constant_value(operands[0]).and_then(|word| Scope::decode(word as u32).ok());
            let modeled = matches!(scope, Some(Scope::Workgroup | Scope::Subgroup));
            if !modeled {
                let name = scope.map_or("not a constant scope", Scope::name);
                return unsupported(format!("OpControlBarrier with the execution scope {name} (%{})", operands[0]));
            }
            (&operands[1..2], &operands[2..3])
        }
        Op::MemoryBarrier => (&operands[..1], &operands[1..2]),
        Op::AtomicCompareExchange => (&operands[1..2], &operands[2..4]),
        op if Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32 => {
            let class = module.type_of(operands[0]).and_then(|t| module.pointer_type(t)).map(|(class, _)| class);
            if !matches!(class, Some(StorageClass::Workgroup | StorageClass::StorageBuffer | StorageClass::Uniform)) {
                return unsupported(format!("{} in {class:?}", i.name()));
            }
            if !matches!(module.types().get(i.result_type), None | Some(Type::Int { .. })) {
                return unsupported(format!("{} of {}", i.name(), module.types().text(i.result_type)));
            }
            (&operands[1..2], &operands[2..3])
        }
        _ => (&[], &[]),
    };
    let word = |id: &u32| module.constant_value(*id).map(|bits| bits as u32);
    for id in scopes {
        if word(id).is_none_or(|word| Scope::decode(word).is_err()) {
            return unsupported(format!("{} with the scope %{id}", i.name()));
        }
    }
    for id in semantics {
        if word(id).is_none_or(|word| Semantics::decode(word).is_err()) {
            return unsupported(format!("{} with the memory semantics %{id}", i.name()));
        }
    }
    Ok(())
}
