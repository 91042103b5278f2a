//! Composite instructions (SPIR-V §3.3.12) and OpSelect.

use super::{Checked, Pass};
use crate::spirv::error::Check;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

/// The greatest number of pairs of types that one OpCopyLogical compares.
const MAX_PAIRS: usize = 1 << 16;

impl Pass<'_> {
    pub(super) fn construct(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let types = &self.module.types;
        let Some(result) = types.get(i.result_type) else { return Ok(()) };
        if let Type::Vector { component, count } = result {
            let mut components = 0;
            for &id in operands {
                let part = self.value_type(id)?;
                let fits = part == component || matches!(types.get(part), Some(Type::Vector { component: c, .. }) if c == component);
                if !fits {
                    return self.misfit(i, id, part);
                }
                components += types.scalars(part);
            }
            if components != u64::from(count) || operands.len() < 2 {
                let (count, text) = (operands.len(), self.text(i.result_type));
                let what = format!("%{} = OpCompositeConstruct has {components} components in {count} constituents for {text}", i.result);
                return self.fail(Check::Type, what);
            }
            return Ok(());
        }
        let Some(parts) = types.parts(i.result_type) else {
            return self
                .fail(Check::Type, format!("%{} = OpCompositeConstruct is {}, which has no parts", i.result, self.text(i.result_type)));
        };
        if operands.len() as u64 != parts {
            let (count, text) = (operands.len(), self.text(i.result_type));
            let what = format!("%{} = OpCompositeConstruct has {count} constituents for {text}, which has {parts} parts", i.result);
            return self.fail(Check::Type, what);
        }
        for (number, &id) in operands.iter().enumerate() {
            let part = self.value_type(id)?;
            if types.part(i.result_type, number as u64).map(|(needed, _)| needed) != Some(part) {
                return self.misfit(i, id, part);
            }
        }
        Ok(())
    }

    fn misfit(&self, i: &Instruction, id: u32, part: u32) -> Checked {
        let [result, part] = [i.result_type, part].map(|t| self.text(t));
        self.fail(Check::Type, format!("%{} = OpCompositeConstruct is {result}, but its constituent %{id} is {part}", i.result))
    }

    /// The type of the part that literal indices choose.
    fn part_by_literals(&self, i: &Instruction, mut type_: u32, indices: &[u32]) -> Checked<u32> {
        for &index in indices {
            type_ = match self.module.types.part(type_, u64::from(index)) {
                Some((part, _)) => part,
                None => {
                    let (name, text) = (i.name(), self.text(type_));
                    let count = self.module.types.parts(type_).unwrap_or(0);
                    let what = format!("%{} = {name} has index {index} into {text}, which has {count} parts", i.result);
                    return self.fail(Check::CompositeIndex, what);
                }
            };
        }
        Ok(type_)
    }

    pub(super) fn extract(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let composite = self.value_type(operands[0])?;
        let part = self.part_by_literals(i, composite, &operands[1..])?;
        if part != i.result_type || operands.len() < 2 {
            let [result, part] = [i.result_type, part].map(|t| self.text(t));
            return self.fail(Check::Type, format!("%{} = OpCompositeExtract has result {result}, but it extracts {part}", i.result));
        }
        Ok(())
    }

    pub(super) fn insert(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let object = self.value_type(operands[0])?;
        self.value_of(i, operands[1], i.result_type, "the composite")?;
        let part = self.part_by_literals(i, i.result_type, &operands[2..])?;
        if part != object || operands.len() < 3 {
            let [object, part] = [object, part].map(|t| self.text(t));
            return self.fail(Check::Type, format!("%{} = OpCompositeInsert inserts {object} in the place of {part}", i.result));
        }
        Ok(())
    }

    pub(super) fn shuffle(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (first, second) = (self.value(operands[0])?, self.value(operands[1])?);
        let result = self.module.shapes[self.index];
        let vector = |s: Shape| s.is_data() && s.columns == 1 && s.rows > 1;
        let count = operands.len() - 2;
        if ![first, second, result].into_iter().all(|s| vector(s) && s.scalar == result.scalar) || usize::from(result.rows) != count {
            let what = format!(
                "%{} = OpVectorShuffle takes {count} components of {first} and {second} for {result}; all are vectors of one component type",
                i.result
            );
            return self.fail(Check::Type, what);
        }
        let total = u32::from(first.rows) + u32::from(second.rows);
        match operands[2..].iter().find(|&&at| at >= total && at != u32::MAX) {
            Some(at) => {
                let what = format!("%{} = OpVectorShuffle names component {at} of {total}", i.result);
                self.fail(Check::CompositeIndex, what)
            }
            None => Ok(()),
        }
    }

    fn component_at(&self, i: &Instruction, vector: u32, index: u32) -> Checked<u32> {
        let vector = self.value_type(vector)?;
        self.integer_scalar(i, index, "the index")?;
        match self.module.types.get(vector) {
            Some(Type::Vector { component, .. }) => Ok(component),
            _ => self.fail(Check::Type, format!("%{} = {} is of {}; it is of a vector", i.result, i.name(), self.text(vector))),
        }
    }

    pub(super) fn extract_dynamic(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let component = self.component_at(i, operands[0], operands[1])?;
        if component != i.result_type {
            let [found, needed] = [i.result_type, component].map(|t| self.text(t));
            let what = format!("%{} = OpVectorExtractDynamic has result {found}, but it extracts {needed}", i.result);
            return self.fail(Check::Type, what);
        }
        Ok(())
    }

    pub(super) fn insert_dynamic(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let component = self.component_at(i, operands[0], operands[2])?;
        self.value_of(i, operands[0], i.result_type, "the vector")?;
        self.value_of(i, operands[1], component, "the component")
    }

    pub(super) fn copy_logical(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let from = self.value_type(operands[0])?;
        let matches = from != i.result_type && {
            match self.module.types.match_logically(from, i.result_type, MAX_PAIRS) {
                Some(matches) => matches,
                None => return self.limit("types that OpCopyLogical compares", MAX_PAIRS as u64),
            }
        };
        if matches && self.module.header.minor >= 4 {
            return Ok(());
        }
        let [from, to] = [from, i.result_type].map(|t| self.text(t));
        let what = format!("%{} = OpCopyLogical copies {from} to {to}; they must be different types that match (from 1.4 on)", i.result);
        self.fail(Check::Type, what)
    }

    pub(super) fn select(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let condition = self.value(operands[0])?;
        self.value_of(i, operands[1], i.result_type, "an object")?;
        self.value_of(i, operands[2], i.result_type, "an object")?;
        if self.module.unmodeled && self.module.pointer_type(i.result_type).is_some() {
            return Ok(());
        }
        if self.module.pointer_type(i.result_type).is_some() && self.module.has_variable_pointers() {
            self.variable_pointer(i, i.result_type)?;
            if condition != Shape::vector(Scalar::Bool, 1) {
                let what = format!("%{} = OpSelect of pointers has condition {condition}; it takes one Boolean", i.result);
                return self.fail(Check::Type, what);
            }
            return Ok(());
        }
        let contents = self.module.types.contents(i.result_type);
        if contents.pointer || contents.opaque || !self.module.types.has_size(i.result_type) {
            let what = format!("%{} = OpSelect is {}; it may not be a pointer, an image or void", i.result, self.text(i.result_type));
            return self.fail(Check::Pointer, what);
        }
        let result = self.module.shapes[self.index];
        let componentwise = result.is_data() && result.columns == 1 && condition == result.of(Scalar::Bool);
        let whole = self.module.header.minor >= 4 && condition == Shape::vector(Scalar::Bool, 1);
        if componentwise || whole {
            return Ok(());
        }
        let result = self.text(i.result_type);
        let what = format!(
            "%{} = OpSelect has condition {condition} for {result}; it takes as many Booleans as the result has components, or from 1.4 on one",
            i.result
        );
        self.fail(Check::Type, what)
    }
}
