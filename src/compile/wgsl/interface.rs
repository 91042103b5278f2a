//! What an entry point is given and gives (seed 002, Remapping builtin inputs and outputs).
//!
//! A built-in input is a variable in SPIR-V and a parameter of the entry point in WGSL. Where other
//! functions read it too, the entry point first keeps it in a private variable.

use rspirv::spirv::{BuiltIn, ExecutionModel};
use smallstep_semantics::spirv::module::{EntryPoint, Function, Variable, WHOLE};
use smallstep_semantics::spirv::operation::Scalar;

use super::convert::Convert;
use super::function::Body;
use super::{Refused, Why};

/// A built-in input of a compute shader: its name in WGSL and how many components it has.
fn compute_input(built_in: BuiltIn) -> Option<(&'static str, u8)> {
    Some(match built_in {
        BuiltIn::GlobalInvocationId => ("global_invocation_id", 3),
        BuiltIn::LocalInvocationId => ("local_invocation_id", 3),
        BuiltIn::WorkgroupId => ("workgroup_id", 3),
        BuiltIn::NumWorkgroups => ("num_workgroups", 3),
        BuiltIn::LocalInvocationIndex => ("local_invocation_index", 1),
        _ => return None,
    })
}

/// An input of the entry point: the variable, the parameter, and whether the variable is kept.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) kept: bool,
}

impl Convert<'_> {
    /// The built-in inputs that an entry point reads.
    pub(super) fn find_inputs(&mut self, entry: &EntryPoint, function: &Function) -> Result<(), Refused> {
        self.inputs.clear();
        if entry.model != ExecutionModel::GLCompute {
            return Err(self.refused(
                Why::EntryPoint,
                format!("entry point {:?} is of the stage {:?}; compute is converted", entry.name, entry.model),
            ));
        }
        let module = self.module;
        for &id in module.interface_of(entry) {
            let Some(built_in) = module.built_in(id, WHOLE) else { continue };
            let used = module.instructions().iter().any(|i| {
                matches!(
                    i.op,
                    rspirv::spirv::Op::Load
                        | rspirv::spirv::Op::AccessChain
                        | rspirv::spirv::Op::InBoundsAccessChain
                        | rspirv::spirv::Op::CopyObject
                        | rspirv::spirv::Op::FunctionCall
                        | rspirv::spirv::Op::CopyMemory
                ) && i.operands(module.words()).contains(&id)
            });
            if !used {
                continue;
            }
            if compute_input(built_in).is_none() {
                let what = format!("%{id} is the built-in {built_in:?}, which WGSL's compute stage has not");
                return Err(self.refused(Why::BuiltIn, what));
            }
            let wanted = self.op_name(id).map_or_else(|| compute_input(built_in).map_or("", |(name, _)| name).to_string(), str::to_string);
            let name = self.names.fresh(&wanted);
            let blocks = module.function_blocks(function);
            let range = blocks.first().map_or(0, |b| b.start as usize)..blocks.last().map_or(0, |b| b.end as usize);
            let elsewhere = module
                .instructions()
                .iter()
                .enumerate()
                .any(|(at, i)| !range.contains(&at) && module.place(at).function != 0 && i.operands(module.words()).contains(&id));
            let passed = module.instructions()[range]
                .iter()
                .any(|i| i.is(rspirv::spirv::Op::FunctionCall) && i.operands(module.words()).contains(&id));
            let signed = module.variable(id).is_some_and(|v| matches!(module.shape(v.type_).scalar, Scalar::Int { signed: true, .. }));
            self.inputs.push(Input { id, name, kept: elsewhere || passed || signed });
        }
        Ok(())
    }

    /// The declaration of the variable that stands for an input.
    pub(super) fn input(&mut self, id: u32, _variable: &Variable, wanted: &str, text: &str) -> Result<(String, String), Refused> {
        if self.module.built_in(id, WHOLE).and_then(compute_input).is_none() {
            return Err(self.refused(Why::BuiltIn, format!("the input %{id} is none that WGSL's compute stage has")));
        }
        let name = self.names.fresh(&format!("{wanted}_kept"));
        Ok((name.clone(), format!("var<private> {name}: {text};\n")))
    }

    /// The attributes, name and parameters of an entry point.
    pub(super) fn entry_head(&mut self, name: &str, entry: &EntryPoint) -> Result<String, Refused> {
        let Some([x, y, z]) = self.module.modes(entry).workgroup_size else {
            return Err(self.refused(Why::EntryPoint, format!("entry point {name:?} has no workgroup size")));
        };
        let mut parameters = Vec::new();
        for Input { id, name, .. } in self.inputs.clone() {
            let Some((built_in, count)) = self.module.built_in(id, WHOLE).and_then(compute_input) else { continue };
            let text = if count == 1 { "u32" } else { "vec3<u32>" };
            parameters.push(format!("@builtin({built_in}) {name}: {text}"));
        }
        Ok(format!("@compute @workgroup_size({x}, {y}, {z})\nfn {name}({})", parameters.join(", ")))
    }
}

impl Body<'_, '_> {
    /// Sets the variables that stand for inputs.
    pub(super) fn begin_entry(&mut self) -> Result<(), Refused> {
        for Input { id, name, kept } in self.convert.inputs.clone() {
            if !kept {
                let type_ = self.convert.module.variable(id).map_or(0, |v| v.type_);
                self.remember(id, name, type_);
                continue;
            }
            let global = self.convert.global(id)?;
            let signed = self
                .convert
                .module
                .variable(id)
                .is_some_and(|v| matches!(self.convert.module.shape(v.type_).scalar, Scalar::Int { signed: true, .. }));
            let value = if signed { format!("bitcast<{}>({name})", global.stored.text) } else { name };
            self.line(format!("{} = {value};", global.name));
        }
        Ok(())
    }

    /// OpReturn of the entry point.
    pub(super) fn return_from_entry(&mut self, last: bool) -> Result<(), Refused> {
        if !last {
            self.line("return;".into());
        }
        Ok(())
    }
}
