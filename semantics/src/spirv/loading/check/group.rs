//! Group instructions (SPIR-V §3.3.24): types, scopes, and operands that must be constants.

use rspirv::spirv::{Capability, GroupOperation, Scope};

use super::{Checked, Pass};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::words::Instruction;

const BOOL: Shape = Shape::vector(Scalar::Bool, 1);
const WORD: Shape = Shape::vector(Scalar::U32, 1);
const BALLOT: Shape = Shape::vector(Scalar::U32, 4);

impl Pass<'_> {
    pub(super) fn group(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let scope = self.scope(i, operands[0])?;
        if scope != Scope::Subgroup {
            return self.fail(Check::Scope, format!("{} has the execution scope {scope:?}; it must be Subgroup", i.name()));
        }
        let result = self.module.shapes[self.index];
        match i.op {
            Op::GroupNonUniformElect => self.group_result(i, result, BOOL, "a Boolean"),
            Op::GroupNonUniformAll | Op::GroupNonUniformAny => {
                self.group_result(i, result, BOOL, "a Boolean")?;
                self.group_operand(i, operands[1], BOOL, "a Boolean")
            }
            Op::GroupNonUniformAllEqual => {
                self.group_result(i, result, BOOL, "a Boolean")?;
                let shape = self.value(operands[1])?;
                self.group_value(i, shape, Any)
            }
            Op::GroupNonUniformBallot => {
                self.group_result(i, result, BALLOT, "four 32-bit integers without sign")?;
                self.group_operand(i, operands[1], BOOL, "a Boolean")
            }
            Op::GroupNonUniformInverseBallot => {
                self.group_result(i, result, BOOL, "a Boolean")?;
                self.group_operand(i, operands[1], BALLOT, "four 32-bit integers without sign")
            }
            Op::GroupNonUniformBallotBitExtract => {
                self.group_result(i, result, BOOL, "a Boolean")?;
                self.group_operand(i, operands[1], BALLOT, "four 32-bit integers without sign")?;
                self.index_operand(i, operands[2], "the index")
            }
            Op::GroupNonUniformBallotBitCount => {
                self.group_result(i, result, WORD, "a 32-bit integer without sign")?;
                self.group_operation(i, operands[1], false)?;
                self.group_operand(i, operands[2], BALLOT, "four 32-bit integers without sign")
            }
            Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB => {
                self.group_result(i, result, WORD, "a 32-bit integer without sign")?;
                self.group_operand(i, operands[1], BALLOT, "four 32-bit integers without sign")
            }
            Op::GroupNonUniformBroadcast | Op::GroupNonUniformQuadBroadcast => {
                self.same(i, operands[1])?;
                self.index_operand(i, operands[2], "the number of the invocation")?;
                if self.module.header.minor < 5 && self.module.constant_value(operands[2]).is_none() {
                    let what =
                        format!("%{}, the number of the invocation of {}, must be a constant before SPIR-V 1.5", operands[2], i.name());
                    return self.fail(Check::Group, what);
                }
                Ok(())
            }
            Op::GroupNonUniformBroadcastFirst => self.same(i, operands[1]),
            Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor | Op::GroupNonUniformShuffleUp | Op::GroupNonUniformShuffleDown => {
                self.same(i, operands[1])?;
                self.index_operand(i, operands[2], "the number of the invocation, the mask or the delta")
            }
            Op::GroupNonUniformQuadSwap => {
                self.same(i, operands[1])?;
                self.index_operand(i, operands[2], "the direction")?;
                match self.word(i, operands[2], "the direction", Check::Group)? {
                    0..=2 => Ok(()),
                    other => self.fail(Check::Group, format!("the direction of {} is {other}; it is 0, 1 or 2", i.name())),
                }
            }
            _ => self.group_arithmetic(i, operands),
        }
    }

    fn group_result(&self, i: &Instruction, found: Shape, needed: Shape, text: &str) -> Checked {
        if found == needed {
            return Ok(());
        }
        self.fail(Check::Type, format!("%{} = {} has result {found}; it must be {text}", i.result, i.name()))
    }

    fn group_operand(&self, i: &Instruction, id: u32, needed: Shape, text: &str) -> Checked {
        let found = self.value(id)?;
        if found == needed {
            return Ok(());
        }
        self.fail(Check::Type, format!("operand %{id} of %{} = {} is {found}; it must be {text}", i.result, i.name()))
    }

    /// Checks that an operand is an unsigned integer.
    fn index_operand(&self, i: &Instruction, id: u32, what: &str) -> Checked {
        let shape = self.value(id)?;
        if shape.lanes() == 1 && matches!(shape.scalar, Scalar::Int { signed: false, .. }) {
            return Ok(());
        }
        self.fail(Check::Type, format!("{what} of {}, %{id}, is {shape}; it must be an integer without sign", i.name()))
    }

    /// Checks that an operand is a scalar or vector of numbers or Booleans, and has the type of
    /// the result.
    fn same(&self, i: &Instruction, id: u32) -> Checked {
        self.value_of(i, id, i.result_type, "the value")?;
        self.group_value(i, self.module.shapes[self.index], Any)
    }

    fn group_value(&self, i: &Instruction, shape: Shape, of: Of) -> Checked {
        let fits = shape.columns == 1
            && shape.lanes() > 0
            && match of {
                Any => matches!(shape.scalar, Scalar::Bool | Scalar::Int { .. } | Scalar::Float { .. }),
                Ints => shape.scalar.is_int(),
                Unsigned => matches!(shape.scalar, Scalar::Int { signed: false, .. }),
                Floats => shape.scalar.is_float(),
                Bools => shape.scalar == Scalar::Bool,
            };
        if fits {
            return Ok(());
        }
        let text = match of {
            Any => "numbers or Booleans",
            Ints => "integers",
            Unsigned => "integers without sign",
            Floats => "floats",
            Bools => "Booleans",
        };
        self.fail(Check::Type, format!("%{} = {} is of {shape}; it is for scalars and vectors of {text}", i.result, i.name()))
    }

    /// The group operation of an instruction (SPIR-V §3.28).
    fn group_operation(&self, i: &Instruction, number: u32, clusters: bool) -> Checked<GroupOperation> {
        let operation = GroupOperation::from_u32(number);
        let needed = match operation {
            Some(GroupOperation::Reduce | GroupOperation::InclusiveScan | GroupOperation::ExclusiveScan) => match clusters {
                true => Capability::GroupNonUniformArithmetic,
                false => Capability::GroupNonUniformBallot,
            },
            Some(GroupOperation::ClusteredReduce) if clusters => Capability::GroupNonUniformClustered,
            _ => {
                let text = operation.map_or_else(|| number.to_string(), |operation| format!("{operation:?}"));
                let others = if clusters { ", ExclusiveScan or ClusteredReduce" } else { " or ExclusiveScan" };
                let what = format!("{} has the group operation {text}; it is Reduce, InclusiveScan{others}", i.name());
                return self.fail(Check::Group, what);
            }
        };
        if !self.module.unmodeled && !self.module.has_capability(needed) {
            let what = format!("{} {} needs a capability that is not declared: {needed:?}", i.name(), text_of(operation));
            return self.fail(Check::Capability, what);
        }
        operation.map_or_else(|| self.fail(Check::Group, format!("{} has no group operation", i.name())), Ok)
    }

    fn group_arithmetic(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let operation = self.group_operation(i, operands[1], true)?;
        self.value_of(i, operands[2], i.result_type, "the value")?;
        let of = match i.op {
            Op::GroupNonUniformFAdd | Op::GroupNonUniformFMul | Op::GroupNonUniformFMin | Op::GroupNonUniformFMax => Floats,
            Op::GroupNonUniformLogicalAnd | Op::GroupNonUniformLogicalOr | Op::GroupNonUniformLogicalXor => Bools,
            Op::GroupNonUniformUMin | Op::GroupNonUniformUMax => Unsigned,
            _ => Ints,
        };
        self.group_value(i, self.module.shapes[self.index], of)?;
        match (operation, operands.get(3)) {
            (GroupOperation::ClusteredReduce, Some(&id)) => {
                let size = self.word(i, id, "the size of the clusters", Check::Group)?;
                if size.is_power_of_two() {
                    return Ok(());
                }
                self.fail(Check::Group, format!("the clusters of {} have {size} invocations; it must be a power of two", i.name()))
            }
            (GroupOperation::ClusteredReduce, None) => {
                self.fail(Check::Group, format!("{} ClusteredReduce does not say how large the clusters are", i.name()))
            }
            (_, Some(id)) => {
                let what = format!("{} {operation:?} names a size of clusters, %{id}; only ClusteredReduce has one", i.name());
                self.fail(Check::Group, what)
            }
            (_, None) => Ok(()),
        }
    }
}

fn text_of(operation: Option<GroupOperation>) -> String {
    operation.map_or_else(String::new, |operation| format!("{operation:?}"))
}

/// The scalar types that an instruction computes on.
#[derive(Clone, Copy)]
enum Of {
    Any,
    Ints,
    Unsigned,
    Floats,
    Bools,
}

use Of::{Any, Bools, Floats, Ints, Unsigned};
