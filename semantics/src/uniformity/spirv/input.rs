//! The inputs of an entry point: built-ins, and outputs of earlier stages.

use super::{Lower, Planted, Scalars};
use crate::spirv::module::{Variable, WHOLE};
use crate::spirv::types::Type;
use crate::uniformity::flow::{Def, Value};
use crate::uniformity::table::{Builtin, Component, component};
use rspirv::spirv::{BuiltIn, ExecutionModel};

impl Lower<'_, '_> {
    /// The value of an input variable.
    pub(super) fn input(&mut self, variable: &Variable) -> Scalars {
        let (type_, n) = (variable.type_, self.size_of(variable.type_));
        if let (Type::Struct { count, .. }, false) = (self.type_(type_), self.is_lumped(type_)) {
            let mut cells = Scalars::new();
            for member in 0..count {
                let Some((part, _)) = self.part(type_, member) else { break };
                let size = self.size_of(part);
                let built_in = self.module.built_in(type_, member);
                cells.extend(self.components(built_in, size));
            }
            return cells;
        }
        let built_in = self.module.built_in(variable.id, WHOLE);
        self.components(built_in, n)
    }

    fn components(&mut self, built_in: Option<BuiltIn>, n: u32) -> Scalars {
        let name = built_in.map_or("an input of the stage".to_owned(), |b| format!("`{b:?}`"));
        let scope = if self.model == ExecutionModel::GLCompute { "workgroup" } else { "draw" };
        let text = self.flow.texts.len() as u32;
        self.flow.texts.push(format!("{name}, which differs between the invocations of the {scope}"));
        (0..n).map(|k| self.component(built_in, k as usize, text)).collect()
    }

    fn component(&mut self, built_in: Option<BuiltIn>, k: usize, text: u32) -> Value {
        let of_dispatch = self.model == ExecutionModel::GLCompute;
        let builtin = match built_in {
            Some(BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups) if of_dispatch => Builtin::Group,
            Some(BuiltIn::LocalInvocationId) if of_dispatch => Builtin::Local,
            Some(BuiltIn::GlobalInvocationId) if of_dispatch => Builtin::Global,
            Some(BuiltIn::LocalInvocationIndex) if of_dispatch => Builtin::LocalIndex,
            Some(BuiltIn::FrontFacing | BuiltIn::HelperInvocation) => Builtin::Truth,
            _ => Builtin::Other,
        };
        let k = if builtin == Builtin::Global && self.is(Planted::GlobalIdOfOtherAxis) { 1 } else { k };
        let def = match component(builtin, self.size, k) {
            _ if builtin == Builtin::Local && self.is(Planted::LocalIdIsUniform) => Def::Uniform(u32::MAX),
            _ if !of_dispatch && self.is(Planted::FragmentInputsAreUniform) => Def::Uniform(u32::MAX),
            Component::Constant(bits) => Def::Constant(bits),
            Component::Uniform => Def::Uniform(u32::MAX),
            Component::Varying(most) if self.is(Planted::BoundTooSmall) => Def::Varying(text, most.saturating_sub(1)),
            Component::Varying(most) => Def::Varying(text, most),
        };
        self.hoist(def)
    }
}
