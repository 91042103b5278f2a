//! Declarations of constants.

use super::{Checked, Declare};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::types::{MAX_SCALARS, Type};
use crate::spirv::words::Instruction;

impl Declare<'_> {
    pub(super) fn constant(&mut self, i: &Instruction) -> Checked {
        let type_index = self.earlier_type(i.result_type)?;
        let type_ = self.module.types.get(i.result_type);
        let fits = match (i.op, type_) {
            (Op::ConstantTrue | Op::ConstantFalse, Some(Type::Bool)) => true,
            (Op::Constant, Some(Type::Int { .. } | Type::Float { .. })) => true,
            (Op::ConstantNull, Some(Type::Void | Type::Function { .. } | Type::RuntimeArray { .. })) => false,
            (Op::ConstantNull, Some(_)) => {
                let contents = self.module.types.contents(i.result_type);
                let may_be_null = self.module.has_variable_pointers() && !self.module.unmodeled;
                let null_pointer = may_be_null && self.module.pointer_type(i.result_type).is_some();
                if contents.opaque || contents.pointer && !null_pointer {
                    return self.unsupported(format!("OpConstantNull of {}", self.module.types.text(i.result_type)));
                }
                !contents.runtime_array
            }
            (Op::ConstantComposite, Some(Type::Vector { .. } | Type::Matrix { .. } | Type::Array { .. } | Type::Struct { .. })) => {
                self.constituents(i)?;
                true
            }
            _ => false,
        };
        if !fits {
            let what = format!("{} has result type %{}, which is {}", i.name(), i.result_type, self.module.types.text(i.result_type));
            return self.fail(Check::Constant, what);
        }
        self.module.shapes[self.index] = self.module.shapes[type_index];
        self.counted(i)
    }

    pub(super) fn undefined(&mut self, i: &Instruction) -> Checked {
        let type_index = self.earlier_type(i.result_type)?;
        let contents = self.module.types.contents(i.result_type);
        if !self.module.types.has_size(i.result_type) || contents.opaque || contents.pointer {
            return self.unsupported(format!("OpUndef of {}", self.module.types.text(i.result_type)));
        }
        self.module.shapes[self.index] = self.module.shapes[type_index];
        self.counted(i)
    }

    /// Counts the scalars of all constants, and checks the limit.
    fn counted(&mut self, i: &Instruction) -> Checked {
        self.constant_scalars = self.constant_scalars.saturating_add(self.module.types.scalars(i.result_type));
        if self.constant_scalars > MAX_SCALARS {
            return self.limit("scalars in constants", MAX_SCALARS);
        }
        Ok(())
    }

    fn constituents(&self, i: &Instruction) -> Checked {
        let operands = i.operands(&self.module.words);
        let types = &self.module.types;
        let parts = types.parts(i.result_type).unwrap_or(0);
        if operands.len() as u64 != parts {
            let what = format!(
                "OpConstantComposite has result type %{}, which is {}, but {} constituents; it needs {parts}",
                i.result_type,
                types.text(i.result_type),
                operands.len()
            );
            return self.fail(Check::Constant, what);
        }
        for (number, &id) in operands.iter().enumerate() {
            let index = self.earlier_definition(id)?;
            let (part, _) = types.part(i.result_type, number as u64).expect("the constituents are as many as the parts");
            if !self.module.is_constant(id) || self.module.instructions[index].result_type != part {
                return self.fail(Check::Constant, format!("constituent %{id} of %{} is no constant {}", i.result, types.text(part)));
            }
        }
        Ok(())
    }
}
