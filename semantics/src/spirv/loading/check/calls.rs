//! Checks of what entry points reach: no recursion, complete interfaces, and instructions that fit
//! the execution model.

use rspirv::spirv::{BuiltIn, Decoration as Decorate, ExecutionModel, Scope, StorageClass};
use smallvec::SmallVec;

use super::Checked;
use crate::outcome::Limit;
use crate::spirv::declare;
use crate::spirv::error::{Check, LoadError};
use crate::spirv::grammar::Op;
use crate::spirv::module::{EntryPoint, Module, NO_BLOCK, Variable, WHOLE};
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

/// The greatest number of locations of an entry point's inputs or outputs.
const MAX_LOCATIONS: u64 = 1 << 12;

/// Checks recursion and entry points.
pub(super) fn check(module: &Module) -> Checked {
    let calls = Calls::new(module)?;
    calls.acyclic()?;
    for d in &module.decorations {
        let workgroup_size = d.decoration == Decorate::BuiltIn as u32 && d.value == BuiltIn::WorkgroupSize as u32;
        if workgroup_size && (d.member != WHOLE || !module.is_constant(d.target) || !module.is_size(d.target)) {
            let at = module.definition(d.target).unwrap_or(0) as u32;
            return fail(
                module,
                at,
                Check::BuiltIn,
                format!("WorkgroupSize is a constant of three 32-bit integers, but %{} is not", d.target),
            );
        }
    }
    let mut stamps = vec![u32::MAX; module.functions.len()];
    let mut listed = vec![u32::MAX; module.variables.len()];
    for (number, entry) in module.entry_points.iter().enumerate() {
        calls.entry_point(entry, number as u32, &mut stamps, &mut listed)?;
    }
    Ok(())
}

#[cold]
fn fail<T>(module: &Module, index: u32, check: Check, what: impl Into<String>) -> Checked<T> {
    Err(LoadError::Invalid { check, what: what.into(), at: module.place(index as usize) })
}

/// The calls and the uses of module-scope variables of every function.
struct Calls<'m> {
    module: &'m Module,
    /// By function: (callee, the index of the call).
    callees: Vec<SmallVec<[(u32, u32); 4]>>,
    /// By function: (index of the variable at module scope, the index of its use).
    uses: Vec<SmallVec<[(u32, u32); 4]>>,
    /// By function: an instruction that only a fragment invocation can execute, and one that only a
    /// compute invocation can.
    fragment_only: Vec<Option<u32>>,
    compute_only: Vec<Option<u32>>,
}

impl<'m> Calls<'m> {
    fn new(module: &'m Module) -> Checked<Calls<'m>> {
        let n = module.functions.len();
        let mut calls = Calls {
            module,
            callees: vec![SmallVec::new(); n],
            uses: vec![SmallVec::new(); n],
            fragment_only: vec![None; n],
            compute_only: vec![None; n],
        };
        // By variable: the last function that used it, so that each use is listed once.
        let mut used = vec![u32::MAX; module.globals];
        for (number, function) in module.functions.iter().enumerate() {
            for block in module.function_blocks(function) {
                for index in block.start..block.end {
                    let i = &module.instructions[index as usize];
                    let operands = i.operands(&module.words);
                    match i.op {
                        Op::FunctionCall => {
                            let callee = module.definition(operands[0]).unwrap_or(0);
                            let at = module.functions.partition_point(|f| module.definition(f.id).is_some_and(|d| d < callee));
                            calls.callees[number].push((at as u32, index));
                        }
                        Op::Kill | Op::TerminateInvocation | Op::DemoteToHelperInvocation | Op::IsHelperInvocationEXT => {
                            calls.fragment_only[number].get_or_insert(index);
                        }
                        Op::ControlBarrier if !is_of_subgroup(module, operands) => {
                            calls.compute_only[number].get_or_insert(index);
                        }
                        op if declare::waits_for_quad(op) => {
                            calls.fragment_only[number].get_or_insert(index);
                        }
                        _ => {}
                    }
                    for &id in pointers(module, i, operands) {
                        let Some(definition) = module.definition(id).filter(|&d| module.instructions[d].is(Op::Variable)) else { continue };
                        if module.block_of[definition] != NO_BLOCK {
                            continue;
                        }
                        let at = module.globals().partition_point(|v| (v.instruction as usize) < definition);
                        if std::mem::replace(&mut used[at], number as u32) != number as u32 {
                            calls.uses[number].push((at as u32, index));
                        }
                    }
                }
            }
        }
        Ok(calls)
    }

    /// Checks that either all of an entry point's variables in Workgroup are Blocks, or none is.
    /// Several Blocks share their memory, so they must be Aliased
    /// (SPV_KHR_workgroup_memory_explicit_layout).
    fn workgroup_blocks(&self, entry: &EntryPoint, variables: &[&Variable]) -> Checked {
        let module = self.module;
        let workgroup: Vec<&&Variable> = variables.iter().filter(|v| v.class == StorageClass::Workgroup).collect();
        let blocks = workgroup.iter().filter(|v| module.has_layout(v)).count();
        if blocks == 0 || module.unmodeled {
            return Ok(());
        }
        if blocks < workgroup.len() {
            let what = format!("of the Workgroup variables of {:?} some are Blocks, and some are not", entry.name);
            return fail(module, entry.instruction, Check::Variable, what);
        }
        let apart = workgroup.iter().find(|v| module.decoration(v.id, WHOLE, Decorate::Aliased).is_none());
        match apart.filter(|_| blocks > 1) {
            Some(v) => {
                let what = format!("%{} is one of several Blocks in Workgroup of {:?}, and not Aliased", v.id, entry.name);
                fail(module, entry.instruction, Check::Variable, what)
            }
            None => Ok(()),
        }
    }

    /// Checks that no function calls itself, directly or indirectly (SPIR-V §2.16.1).
    fn acyclic(&self) -> Checked {
        #[derive(Clone, Copy, PartialEq)]
        enum Colour {
            New,
            Open,
            Done,
        }
        let mut colours = vec![Colour::New; self.callees.len()];
        let mut path: Vec<(u32, usize)> = Vec::new();
        for start in 0..self.callees.len() as u32 {
            if colours[start as usize] != Colour::New {
                continue;
            }
            colours[start as usize] = Colour::Open;
            path.push((start, 0));
            while let Some((function, next)) = path.last_mut() {
                let Some(&(callee, call)) = self.callees[*function as usize].get(*next) else {
                    colours[*function as usize] = Colour::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match colours[callee as usize] {
                    Colour::New => {
                        colours[callee as usize] = Colour::Open;
                        path.push((callee, 0));
                    }
                    Colour::Open => {
                        let id = self.module.functions[callee as usize].id;
                        return fail(self.module, call, Check::Recursion, format!("the call of %{id} makes it call itself"));
                    }
                    Colour::Done => {}
                }
            }
        }
        Ok(())
    }

    fn entry_point(&self, entry: &EntryPoint, number: u32, stamps: &mut [u32], listed: &mut [u32]) -> Checked {
        let module = self.module;
        let interface = module.interface_of(entry);
        let mut variables: Vec<&Variable> = Vec::with_capacity(interface.len());
        for &id in interface {
            let index = module.definition(id).unwrap_or(0) as u32;
            let at = module.globals().partition_point(|v| v.instruction < index);
            let Some(variable) = module.globals().get(at).filter(|v| v.id == id) else {
                return fail(
                    module,
                    entry.instruction,
                    Check::EntryPoint,
                    format!("the interface of {:?} names %{id}, which is no variable of the module", entry.name),
                );
            };
            if !matches!(variable.class, StorageClass::Input | StorageClass::Output) && module.header.minor < 4 {
                let what = format!("the interface of {:?} names %{id}, which is neither input nor output, before SPIR-V 1.4", entry.name);
                return fail(module, entry.instruction, Check::EntryPoint, what);
            }
            if std::mem::replace(&mut listed[at], number) != number {
                variables.push(variable);
            } else if module.header.minor >= 4 && !module.unmodeled {
                let what = format!("the interface of {:?} names %{id} twice; from SPIR-V 1.4 on it names each variable once", entry.name);
                return fail(module, entry.instruction, Check::Version, what);
            }
        }
        self.workgroup_blocks(entry, &variables)?;
        let Some(root) = module.definition(entry.function) else { return Ok(()) };
        let root = module.functions.partition_point(|f| module.definition(f.id).is_some_and(|d| d < root));
        let function = &module.functions[root];
        if !module.parameters(function).is_empty() || module.types.get(function.result_type) != Some(Type::Void) {
            let what = format!("the function of entry point {:?} has parameters or a result", entry.name);
            return fail(module, entry.instruction, Check::EntryPoint, what);
        }
        let mut push_constant = None;
        let mut pending = vec![root as u32];
        stamps[root] = number;
        while let Some(function) = pending.pop() {
            let function = function as usize;
            let wrong = match entry.model {
                ExecutionModel::Fragment => self.compute_only[function],
                ExecutionModel::GLCompute => self.fragment_only[function],
                _ => self.compute_only[function].or(self.fragment_only[function]),
            };
            if let Some(index) = wrong {
                let name = module.instructions[index as usize].name();
                let what = format!("{name} is reached from {:?}, whose execution model is {:?}", entry.name, entry.model);
                return fail(module, index, Check::ExecutionModel, what);
            }
            for &(at, index) in &self.uses[function] {
                let variable = &module.variables[at as usize];
                let inside = matches!(variable.class, StorageClass::Input | StorageClass::Output) || module.header.minor >= 4;
                if inside && listed[at as usize] != number {
                    let (name, id) = (module.instructions[index as usize].name(), variable.id);
                    let what = format!("{name} uses %{id}, which the interface of {:?} does not list", entry.name);
                    return fail(module, index, Check::EntryPoint, what);
                }
                if variable.class == StorageClass::Workgroup && entry.model != ExecutionModel::GLCompute {
                    let what = format!(
                        "%{} is in Workgroup and used from {:?}, whose execution model is {:?}",
                        variable.id, entry.name, entry.model
                    );
                    return fail(module, index, Check::ExecutionModel, what);
                }
                if variable.class == StorageClass::PushConstant && push_constant.replace(variable.id).is_some_and(|id| id != variable.id) {
                    return fail(
                        module,
                        index,
                        Check::EntryPoint,
                        format!("{:?} uses two push constant blocks; it may use one", entry.name),
                    );
                }
            }
            for &(callee, _) in &self.callees[function] {
                if std::mem::replace(&mut stamps[callee as usize], number) != number {
                    pending.push(callee);
                }
            }
        }
        for variable in &variables {
            self.interface_variable(entry, variable)?;
        }
        self.locations(entry, &variables, StorageClass::Input)?;
        self.locations(entry, &variables, StorageClass::Output)?;
        self.modes(entry, &variables)
    }

    fn interface_variable(&self, entry: &EntryPoint, variable: &Variable) -> Checked {
        if !matches!(variable.class, StorageClass::Input | StorageClass::Output) {
            return Ok(());
        }
        for built_in in self.module.built_ins(variable) {
            let model = declare::model_of(built_in, variable.class);
            if model.is_none() && self.module.unmodeled {
                continue;
            }
            if model != Some(entry.model) && !declare::is_in_every_stage(built_in) {
                let (name, found) = (&entry.name, entry.model);
                let what =
                    format!("BuiltIn {built_in:?} (%{}) is in the interface of {name:?}, whose execution model is {found:?}", variable.id);
                return fail(self.module, variable.instruction, Check::BuiltIn, what);
            }
        }
        if entry.model == ExecutionModel::GLCompute && self.module.built_ins(variable).next().is_none() {
            let what = format!("%{} is in the interface of {:?}, but a compute shader has built-in inputs only", variable.id, entry.name);
            return fail(self.module, variable.instruction, Check::EntryPoint, what);
        }
        let flat = self.module.decoration(variable.id, WHOLE, Decorate::Flat).is_some();
        let fragment_input = entry.model == ExecutionModel::Fragment && variable.class == StorageClass::Input;
        let shape = self.module.shape(variable.type_).scalar;
        if fragment_input
            && !flat
            && self.module.built_ins(variable).next().is_none()
            && (shape.is_int() || shape.is_float() && shape.width() == 64)
        {
            let what = format!(
                "fragment input %{} holds {}, which is not interpolated, and is not Flat",
                variable.id,
                self.module.types.text(variable.type_)
            );
            return fail(self.module, variable.instruction, Check::Decoration, what);
        }
        Ok(())
    }

    /// The number of locations that a value of a type takes (Vulkan, location assignment).
    fn location_count(&self, type_: u32) -> u64 {
        let types = &self.module.types;
        match types.get(type_) {
            _ if types.is_nothing(type_) => 0,
            Some(Type::Matrix { column, count }) => self.location_count(column) * u64::from(count),
            Some(Type::Array { element, length, .. }) => self.location_count(element).saturating_mul(length),
            Some(Type::Struct { .. }) => {
                types.members(type_).iter().fold(0, |sum, m| sum.saturating_add(self.location_count(m.type_)).min(1 << 32))
            }
            Some(Type::Vector { component, count }) if count > 2 && types.get(component).and_then(Type::width) == Some(64) => 2,
            _ => 1,
        }
    }

    /// Checks that no two variables of an entry point share a component of a location.
    fn locations(&self, entry: &EntryPoint, variables: &[&Variable], class: StorageClass) -> Checked {
        // (component, index, first location, one past the last location, variable)
        let mut taken: Vec<(u32, u32, u64, u64, u32)> = Vec::new();
        for variable in variables.iter().filter(|v| v.class == class) {
            let number = |target, member, d| self.module.decoration(target, member, d);
            let mut take = |type_: u32, location: u32, component: u32, index: u32| {
                let count = self.location_count(type_);
                let scalar = self.module.types.component(type_).and_then(Type::width).map_or(1, |w| u32::from(w).div_ceil(32));
                let components = match self.module.types.get(type_) {
                    Some(Type::Vector { count, .. }) => (u32::from(count) * scalar).min(4),
                    Some(t) if t.is_scalar() => scalar,
                    _ => 4,
                };
                for c in (component..(component.saturating_add(components)).min(4)).filter(|_| count > 0) {
                    taken.push((c, index, u64::from(location), u64::from(location) + count, variable.id));
                }
                u64::from(location) + count
            };
            let index = number(variable.id, WHOLE, Decorate::Index).unwrap_or(0);
            let end = match number(variable.id, WHOLE, Decorate::Location) {
                Some(location) => take(variable.type_, location, number(variable.id, WHOLE, Decorate::Component).unwrap_or(0), index),
                None => {
                    let members = self.module.types.members(variable.type_);
                    let mut end = 0;
                    for (at, member) in members.iter().enumerate() {
                        let Some(location) = number(variable.type_, at as u32, Decorate::Location) else { continue };
                        end = end.max(take(
                            member.type_,
                            location,
                            number(variable.type_, at as u32, Decorate::Component).unwrap_or(0),
                            index,
                        ));
                    }
                    end
                }
            };
            if end > MAX_LOCATIONS {
                return Err(LoadError::Limit(Limit { what: "locations", bound: MAX_LOCATIONS }));
            }
        }
        taken.sort_unstable();
        let clash = taken.windows(2).find(|p| (p[0].0, p[0].1) == (p[1].0, p[1].1) && p[1].2 < p[0].3);
        if let Some(pair) = clash {
            let what = format!(
                "%{} and %{} of {:?} both take component {} of location {}",
                pair[0].4, pair[1].4, entry.name, pair[1].0, pair[1].2
            );
            let at = self.module.variable(pair[1].4).map_or(entry.instruction, |v| v.instruction);
            return fail(self.module, at, Check::Location, what);
        }
        Ok(())
    }

    /// Checks that an entry point has the required execution modes.
    fn modes(&self, entry: &EntryPoint, variables: &[&Variable]) -> Checked {
        let modes = self.module.modes(entry);
        let wrong = match entry.model {
            ExecutionModel::GLCompute => match modes.workgroup_size {
                None => "has no LocalSize, LocalSizeId or WorkgroupSize",
                Some(size) if size.contains(&0) => "has a workgroup size of 0",
                Some(_) => return Ok(()),
            },
            ExecutionModel::Fragment => {
                let depth = variables.iter().any(|v| self.module.built_ins(v).any(|b| b == BuiltIn::FragDepth));
                if !modes.origin_upper_left {
                    "has no OriginUpperLeft"
                } else if depth && !modes.depth_replacing {
                    "has FragDepth in its interface but no DepthReplacing"
                } else {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        };
        fail(self.module, entry.instruction, Check::ExecutionMode, format!("{:?}, {:?}, {wrong}", entry.name, entry.model))
    }
}

/// The operands of an instruction that may be pointers.
fn pointers<'m>(module: &Module, i: &Instruction, operands: &'m [u32]) -> &'m [u32] {
    match i.op {
        Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::ArrayLength | Op::CopyObject | Op::ReturnValue => {
            &operands[..1]
        }
        Op::CopyMemory | Op::Store | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => &operands[..2],
        Op::Select => &operands[1..],
        Op::FunctionCall => &operands[1..],
        Op::ExtInst if !module.is_non_semantic(i) => &operands[2..],
        Op::Phi => operands,
        op if super::shared::is_atomic(op) => &operands[..1],
        _ => &[],
    }
}

/// Whether an OpControlBarrier with these operands has the execution scope Subgroup, which every
/// stage supports.
fn is_of_subgroup(module: &Module, operands: &[u32]) -> bool {
    module.constant_value(operands[0]) == Some(Scope::Subgroup as u64)
}
