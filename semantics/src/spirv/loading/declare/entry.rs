//! Entry points and execution modes.

use rspirv::spirv::{ExecutionMode, ExecutionModel};

use super::{Checked, Declare};
use crate::spirv::error::Check;
use crate::spirv::grammar::{Op, OperandKind};
use crate::spirv::module::EntryPoint;
use crate::spirv::words::{self, Instruction};

/// The greatest number of entry points of a module.
const MAX_ENTRY_POINTS: usize = 256;
/// The greatest number of execution modes of a module.
const MAX_MODES: usize = 4096;

impl Declare<'_> {
    pub(super) fn entry_point(&mut self, i: &Instruction) -> Checked {
        let operands = i.operands(&self.module.words);
        let (model, function) = (operands[0], operands[1]);
        let model = match ExecutionModel::from_u32(model) {
            Some(model @ (ExecutionModel::Vertex | ExecutionModel::Fragment | ExecutionModel::GLCompute)) => model,
            _ => return self.unsupported(format!("OpEntryPoint {}", self.text(OperandKind::ExecutionModel, model))),
        };
        let (name, length) = words::string_at(&operands[2..]).expect("decoding has checked the string");
        let interface = i.offset + 3 + length as u32;
        for &id in &operands[2 + length..] {
            self.check_defined(id)?;
            if !self.module.instruction(id).is_some_and(|v| v.is(Op::Variable)) {
                return self.fail(Check::EntryPoint, format!("the interface of {name:?} names %{id}, which is no OpVariable"));
            }
        }
        self.check_defined(function)?;
        if !self.module.instruction(function).is_some_and(|f| f.is(Op::Function)) {
            return self.fail(Check::EntryPoint, format!("entry point {name:?} names %{function}, which is no OpFunction"));
        }
        if self.module.entry_points.len() >= MAX_ENTRY_POINTS {
            return self.limit("entry points", MAX_ENTRY_POINTS as u64);
        }
        if self.module.entry_points.iter().any(|e| e.name == name && e.model == model) {
            return self.fail(Check::EntryPoint, format!("two entry points are named {name:?}"));
        }
        self.module.entry_points.push(EntryPoint { name, model, function, instruction: self.index as u32, interface });
        Ok(())
    }

    pub(super) fn execution_mode(&mut self, i: &Instruction) -> Checked {
        use ExecutionMode::*;
        let operands = i.operands(&self.module.words);
        let (function, mode) = (operands[0], operands[1]);
        let Some(entry) = self.module.entry_points.iter().find(|e| e.function == function) else {
            return self.fail(Check::EntryPoint, format!("OpExecutionMode is for %{function}, which is no entry point's function"));
        };
        let text = self.text(OperandKind::ExecutionMode, mode);
        let model = entry.model;
        let by_id = i.is(Op::ExecutionModeId);
        let fits = match ExecutionMode::from_u32(mode) {
            Some(OriginUpperLeft | EarlyFragmentTests | DepthReplacing | DepthGreater | DepthLess | DepthUnchanged) => {
                model == ExecutionModel::Fragment && !by_id
            }
            Some(LocalSize) => model == ExecutionModel::GLCompute && !by_id,
            Some(LocalSizeId) => model == ExecutionModel::GLCompute && by_id,
            Some(DenormPreserve | DenormFlushToZero | SignedZeroInfNanPreserve | RoundingModeRTE | RoundingModeRTZ) => {
                let width = operands[2];
                if ![16, 32, 64].contains(&width) {
                    return self.fail(Check::ExecutionMode, format!("OpExecutionMode {text} is for {width} bits; it is for 16, 32 or 64"));
                }
                !by_id
            }
            _ => return self.unsupported(format!("{} {text}", i.name())),
        };
        if !fits {
            return self
                .fail(Check::ExecutionMode, format!("{} {text} is for {:?}, which is a {model:?} entry point", i.name(), entry.name));
        }
        if by_id {
            for &id in &operands[2..] {
                self.check_defined(id)?;
            }
        }
        if mode == LocalSize as u32 && operands[2..].contains(&0) {
            return self.fail(Check::ExecutionMode, "LocalSize has a size of 0; it must be positive");
        }
        if self.module.modes.len() >= MAX_MODES {
            return self.limit("execution modes", MAX_MODES as u64);
        }
        self.module.modes.push(self.index as u32);
        Ok(())
    }
}
