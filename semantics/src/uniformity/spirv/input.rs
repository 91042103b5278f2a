//! What an entry point's inputs hold: built-ins, and what earlier stages give.

use super::{Cells, Lower, Planted};
use crate::spirv::module::{Variable, WHOLE};
use crate::spirv::types::Type;
use crate::uniformity::flow::{Def, Value};
use rspirv::spirv::{BuiltIn, ExecutionModel};

impl Lower<'_, '_> {
    /// What an input variable holds.
    pub(super) fn input(&mut self, variable: &Variable) -> Cells {
        let (type_, n) = (variable.type_, self.size_of(variable.type_));
        if let (Type::Struct { count, .. }, false) = (self.type_(type_), self.is_lumped(type_)) {
            let mut cells = Cells::new();
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

    fn components(&mut self, built_in: Option<BuiltIn>, n: u32) -> Cells {
        let name = built_in.map_or("an input of the stage".to_owned(), |b| format!("`{b:?}`"));
        let scope = if self.model == ExecutionModel::GLCompute { "workgroup" } else { "draw" };
        let text = self.flow.texts.len() as u32;
        self.flow.texts.push(format!("{name}, which differs between the invocations of the {scope}"));
        (0..n).map(|k| self.component(built_in, k as usize, text)).collect()
    }

    fn component(&mut self, built_in: Option<BuiltIn>, k: usize, text: u32) -> Value {
        let less = if self.is(Planted::BoundTooSmall) { 2 } else { 1 };
        let def = match (self.model, built_in) {
            (ExecutionModel::GLCompute, Some(BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups)) => Def::Uniform(u32::MAX),
            (ExecutionModel::GLCompute, Some(BuiltIn::LocalInvocationId)) => match self.size.and_then(|size| size.get(k).copied()) {
                _ if self.is(Planted::LocalIdIsUniform) => Def::Uniform(u32::MAX),
                Some(1) => Def::Constant(0),
                Some(size) => Def::Varying(text, size.saturating_sub(less)),
                None => Def::Varying(text, u32::MAX),
            },
            (ExecutionModel::GLCompute, Some(BuiltIn::GlobalInvocationId)) => {
                let axis = if self.is(Planted::GlobalIdOfOtherAxis) { 1 } else { k };
                match self.size.and_then(|size| size.get(axis).copied()) {
                    Some(1) => Def::Uniform(u32::MAX),
                    _ => Def::Varying(text, u32::MAX),
                }
            }
            (ExecutionModel::GLCompute, Some(BuiltIn::LocalInvocationIndex)) => {
                let count = self.size.map_or(0, |size| size.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
                Def::Varying(text, count.wrapping_sub(less))
            }
            (ExecutionModel::Fragment, _) if self.is(Planted::FragmentInputsAreUniform) => Def::Uniform(u32::MAX),
            (ExecutionModel::Fragment, Some(BuiltIn::FrontFacing | BuiltIn::HelperInvocation)) => Def::Varying(text, 1),
            _ => Def::Varying(text, u32::MAX),
        };
        self.hoist(def)
    }
}
