//! The lowering of defects. Only these instructions of a generated module have no guards.

use super::emit::Buffer;
use super::lower::{DEVICE, Lower, WORKGROUP_ORDER};
use super::tree::*;
use super::twin::{Defect, Kind, Plant, Reach};
use rspirv::spirv::{self, Decoration, FunctionControl, GlslStd450Op as Glsl, SelectionControl, StorageClass};
use smallstep_semantics::spirv::write::Id;

/// A planted defect in the code. Instructions are counted from the first instruction of
/// the functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Planted {
    pub instruction: usize,
    pub result: Id,
    pub also: Vec<usize>,
    pub reached: Option<usize>,
}

/// The plant in these statements, if there is one.
fn find(block: &[Stmt]) -> Option<Plant> {
    let mut found = None;
    for stmt in block {
        if let Stmt::Plant(plant) = stmt {
            return Some((**plant).clone());
        }
        stmt.clone().each_block(&mut |inner| found = found.take().or_else(|| find(inner)));
        if found.is_some() {
            break;
        }
    }
    found
}

const UVEC2: Type = Type::Vector(UINT, 2);
const UVEC4: Type = Type::Vector(UINT, 4);
const SINT: Type = Type::Scalar(INT);

impl Lower<'_> {
    /// Declares the Function variable that a plant in these statements needs.
    pub fn declare_plant(&mut self, body: &[Stmt]) {
        let Some(plant) = find(body) else { return };
        let (ty, first) = match plant.defect {
            Defect::UninitialisedFunction => (self.emit.ty(&Type::UINT), None),
            Defect::ChainVector => {
                let ty = Type::Array(Box::new(UVEC2), 4);
                (self.emit.ty(&ty), Some(self.emit.constant(&ty, &[7; 8])))
            }
            Defect::ChainArray => {
                let ty = Type::Array(Box::new(Type::UINT), 4);
                (self.emit.ty(&ty), Some(self.emit.constant(&ty, &[7; 4])))
            }
            _ => return,
        };
        let pointer = self.emit.pointer(StorageClass::Function, ty);
        let operands: Vec<u32> = [StorageClass::Function as u32].into_iter().chain(first).collect();
        self.plant_variable = self.emit.op(spirv::Op::Variable, pointer, &operands);
    }

    /// Lowers a plant. Returns true, since control always goes on after it.
    pub fn plant(&mut self, plant: &Plant) -> bool {
        let count = self.module.local_count();
        let only = match plant.defect {
            Defect::DivergentBarrier => Some(plant.only.unwrap_or(0)),
            Defect::RaceWithoutBarrier | Defect::RaceWithoutSemantics | Defect::RaceOfStores | Defect::RaceWithAtomic => None,
            _ => plant.only,
        };
        match only {
            None => self.defect(plant),
            Some(k) => {
                let (boolean, k) = (self.emit.ty(&Type::BOOL), self.emit.uint(k % count));
                let local = self.emit.builtin(Builtin::LocalIndex);
                let is_chosen = self.emit.op(spirv::Op::IEqual, boolean, &[local, k]);
                self.if_true(is_chosen, |lower| lower.defect(plant));
            }
        }
        true
    }

    /// The index of the next instruction.
    fn next_instruction(&self) -> usize {
        self.emit.code.instructions
    }

    /// Emits the planted instruction, with a result of type `ty`.
    fn planted_op(&mut self, op: spirv::Op, ty: Id, operands: &[u32]) -> Id {
        let instruction = self.next_instruction();
        let result = self.emit.op(op, ty, operands);
        self.planted = Some(Planted { instruction, result, ..Planted::default() });
        result
    }

    /// Emits the planted instruction, without a result.
    fn planted_act(&mut self, op: spirv::Op, operands: &[u32]) {
        self.planted = Some(Planted { instruction: self.next_instruction(), ..Planted::default() });
        self.emit.act(op, operands);
    }

    fn add_other_culprit(&mut self, instruction: usize) {
        if let Some(planted) = &mut self.planted {
            planted.also.push(instruction);
        }
    }

    fn defect(&mut self, plant: &Plant) {
        let x = self.value(&plant.value);
        match plant.defect.kind() {
            Kind::Value => {
                let value = self.undefined_value(plant.defect, x);
                self.use_undefined(plant.reach, value);
            }
            Kind::Behaviour => self.undefined_behaviour(plant.defect, x),
            Kind::Refused => self.refused(plant.defect, x),
        }
    }

    fn use_undefined(&mut self, reach: Reach, value: Id) {
        let uint = self.emit.ty(&Type::UINT);
        let reached;
        match reach {
            Reach::Output => {
                let last = self.emit.uint(self.words_each - 1);
                let at = self.emit.op(spirv::Op::IAdd, uint, &[self.base, last]);
                let word = self.emit.word(Buffer::Output, at);
                reached = self.next_instruction();
                self.emit.act(spirv::Op::Store, &[word, value]);
            }
            Reach::Branch => {
                let (boolean, seven) = (self.emit.ty(&Type::BOOL), self.emit.uint(7));
                let condition = self.emit.op(spirv::Op::IEqual, boolean, &[value, seven]);
                reached = self.next_instruction() + 1;
                self.if_true(condition, |_| {});
            }
            Reach::Switch => {
                let (then, merge) = (self.emit.id(), self.emit.id());
                self.emit.act(spirv::Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
                reached = self.next_instruction();
                self.emit.act(spirv::Op::Switch, &[value, merge, 7, then]);
                self.begin(then);
                self.emit.act(spirv::Op::Branch, &[merge]);
                self.begin(merge);
            }
            Reach::Address => {
                reached = self.next_instruction();
                self.emit.word(Buffer::Output, value);
            }
            Reach::Divisor => {
                let one = self.emit.uint(1);
                reached = self.next_instruction();
                self.emit.op(spirv::Op::UDiv, uint, &[one, value]);
            }
        }
        if let Some(planted) = &mut self.planted {
            planted.reached = Some(reached);
        }
    }

    /// Makes an undefined 32-bit unsigned integer.
    fn undefined_value(&mut self, defect: Defect, x: Id) -> Id {
        let (uint, int, uvec4) = (self.emit.ty(&Type::UINT), self.emit.ty(&SINT), self.emit.ty(&UVEC4));
        let seven = self.emit.uint(7);
        match defect {
            Defect::Undef => self.planted_op(spirv::Op::Undef, uint, &[]),
            Defect::UndefComponent => {
                let whole = self.planted_op(spirv::Op::Undef, uvec4, &[]);
                let partly_set = self.emit.op(spirv::Op::CompositeInsert, uvec4, &[x, whole, 1]);
                self.emit.op(spirv::Op::CompositeExtract, uint, &[partly_set, 2])
            }
            Defect::UninitialisedFunction => {
                let variable = self.plant_variable;
                self.planted_op(spirv::Op::Load, uint, &[variable])
            }
            Defect::UninitialisedPrivate | Defect::UninitialisedWorkgroup => {
                let private = defect == Defect::UninitialisedPrivate;
                let variable = self.emit.global(if private { StorageClass::Private } else { StorageClass::Workgroup }, uint, None);
                self.planted_op(spirv::Op::Load, uint, &[variable])
            }
            Defect::ShiftLeft | Defect::ShiftRight | Defect::ShiftArithmetic => {
                let width = self.emit.uint(32);
                let more = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, seven]);
                let count = self.emit.op(spirv::Op::IAdd, uint, &[width, more]);
                let op = match defect {
                    Defect::ShiftLeft => spirv::Op::ShiftLeftLogical,
                    Defect::ShiftRight => spirv::Op::ShiftRightLogical,
                    _ => spirv::Op::ShiftRightArithmetic,
                };
                self.planted_op(op, uint, &[x, count])
            }
            Defect::FieldInsert | Defect::FieldUnsigned | Defect::FieldSigned => {
                let (offset, nine) = (self.emit.uint(24), self.emit.uint(9));
                let more = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, seven]);
                let count = self.emit.op(spirv::Op::IAdd, uint, &[more, nine]);
                match defect {
                    Defect::FieldInsert => self.planted_op(spirv::Op::BitFieldInsert, uint, &[x, seven, offset, count]),
                    Defect::FieldUnsigned => self.planted_op(spirv::Op::BitFieldUExtract, uint, &[x, offset, count]),
                    _ => {
                        let x = self.emit.op(spirv::Op::Bitcast, int, &[x]);
                        let value = self.planted_op(spirv::Op::BitFieldSExtract, int, &[x, offset, count]);
                        self.emit.op(spirv::Op::Bitcast, uint, &[value])
                    }
                }
            }
            Defect::RemainderNegative | Defect::ModuloNegative => {
                let small = self.emit.uint(255);
                let x = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, small]);
                let positive = self.emit.op(spirv::Op::Bitcast, int, &[x]);
                let negative = self.emit.op(spirv::Op::Not, int, &[positive]);
                let value = match defect {
                    Defect::RemainderNegative => {
                        let divisor = self.emit.constant(&SINT, &[7]);
                        self.planted_op(spirv::Op::SRem, int, &[negative, divisor])
                    }
                    // The dividend is not the least integer, so a divisor of -1 does not overflow.
                    _ => self.planted_op(spirv::Op::SMod, int, &[positive, negative]),
                };
                self.emit.op(spirv::Op::Bitcast, uint, &[value])
            }
            Defect::ExtractIndex | Defect::InsertIndex => {
                let (three, four) = (self.emit.uint(3), self.emit.uint(4));
                let vector = self.emit.op(spirv::Op::CompositeConstruct, uvec4, &[x, seven, x, three]);
                let more = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, three]);
                let index = self.emit.op(spirv::Op::IAdd, uint, &[more, four]);
                if defect == Defect::ExtractIndex {
                    return self.planted_op(spirv::Op::VectorExtractDynamic, uint, &[vector, index]);
                }
                let inserted = self.planted_op(spirv::Op::VectorInsertDynamic, uvec4, &[vector, x, index]);
                self.emit.op(spirv::Op::CompositeExtract, uint, &[inserted, 2])
            }
            Defect::Shuffle => {
                let uvec2 = self.emit.ty(&UVEC2);
                let vector = self.emit.op(spirv::Op::CompositeConstruct, uvec2, &[x, seven]);
                let shuffled = self.planted_op(spirv::Op::VectorShuffle, uvec2, &[vector, vector, 2, u32::MAX]);
                self.emit.op(spirv::Op::CompositeExtract, uint, &[shuffled, 1])
            }
            Defect::ClampBounds => {
                let three = self.emit.uint(3);
                let instruction = self.next_instruction();
                let result = self.emit.ext(uint, Glsl::UClamp, &[x, seven, three]);
                self.planted = Some(Planted { instruction, result, ..Planted::default() });
                result
            }
            _ => {
                let float = self.emit.float();
                let negative = self.emit.float_constant((-4.0f32).to_bits());
                let instruction = self.next_instruction();
                let result = self.emit.ext(float, Glsl::Sqrt, &[negative]);
                self.planted = Some(Planted { instruction, result, ..Planted::default() });
                self.emit.op(spirv::Op::Bitcast, uint, &[result])
            }
        }
    }

    fn undefined_behaviour(&mut self, defect: Defect, x: Id) {
        let (uint, int) = (self.emit.ty(&Type::UINT), self.emit.ty(&SINT));
        let three = self.emit.uint(3);
        match defect {
            Defect::UDivZero | Defect::UModZero => {
                let zero = self.emit.op(spirv::Op::ISub, uint, &[x, x]);
                self.planted_op(if defect == Defect::UDivZero { spirv::Op::UDiv } else { spirv::Op::UMod }, uint, &[x, zero]);
            }
            Defect::SDivZero | Defect::SRemZero | Defect::SModZero => {
                // The dividend is not negative, so division by zero is the only defect.
                let half = self.emit.uint(i32::MAX as u32);
                let x = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, half]);
                let x = self.emit.op(spirv::Op::Bitcast, int, &[x]);
                let zero = self.emit.op(spirv::Op::BitwiseXor, int, &[x, x]);
                let op = match defect {
                    Defect::SDivZero => spirv::Op::SDiv,
                    Defect::SRemZero => spirv::Op::SRem,
                    _ => spirv::Op::SMod,
                };
                self.planted_op(op, int, &[x, zero]);
            }
            Defect::VectorDivZero => {
                let uvec2 = self.emit.ty(&UVEC2);
                let zero = self.emit.op(spirv::Op::ISub, uint, &[x, x]);
                let dividend = self.emit.op(spirv::Op::CompositeConstruct, uvec2, &[x, x]);
                let divisor = self.emit.op(spirv::Op::CompositeConstruct, uvec2, &[three, zero]);
                self.planted_op(spirv::Op::UDiv, uvec2, &[dividend, divisor]);
            }
            Defect::SDivOverflow => {
                let zero = self.emit.op(spirv::Op::ISub, uint, &[x, x]);
                let zero = self.emit.op(spirv::Op::Bitcast, int, &[zero]);
                let minus_one = self.emit.op(spirv::Op::Not, int, &[zero]);
                let least = self.emit.constant(&SINT, &[1 << 31]);
                self.planted_op(spirv::Op::SDiv, int, &[least, minus_one]);
            }
            Defect::FloatToSigned => {
                let (float, high) = (self.emit.float(), self.emit.uint(1 << 31));
                let large = self.emit.op(spirv::Op::BitwiseOr, uint, &[x, high]);
                let large = self.emit.op(spirv::Op::ConvertUToF, float, &[large]);
                self.planted_op(spirv::Op::ConvertFToS, int, &[large]);
            }
            Defect::FloatToUnsigned => {
                let negative = self.emit.float_constant((-1.5f32).to_bits());
                self.planted_op(spirv::Op::ConvertFToU, uint, &[negative]);
            }
            Defect::Wrap => {
                let all = self.emit.uint(u32::MAX);
                let one = self.emit.uint(1);
                let positive = self.emit.op(spirv::Op::BitwiseOr, uint, &[x, one]);
                let sum = self.planted_op(spirv::Op::IAdd, uint, &[positive, all]);
                self.emit.decorate(sum, Decoration::NoUnsignedWrap, &[]);
            }
            Defect::ChainArray | Defect::ChainVector => {
                let pointer = self.emit.pointer(StorageClass::Function, uint);
                let inside = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, three]);
                let length_bound = self.emit.uint(if defect == Defect::ChainArray { 4 } else { 2 });
                let outside = self.emit.op(spirv::Op::IAdd, uint, &[inside, length_bound]);
                let variable = self.plant_variable;
                match defect {
                    Defect::ChainArray => self.planted_op(spirv::Op::AccessChain, pointer, &[variable, outside]),
                    _ => self.planted_op(spirv::Op::AccessChain, pointer, &[variable, inside, outside]),
                };
            }
            Defect::ChainBuffer => {
                let length = self.emit.uint(self.module.input.len().max(1) as u32);
                let inside = self.emit.op(spirv::Op::BitwiseAnd, uint, &[x, three]);
                let outside = self.emit.op(spirv::Op::IAdd, uint, &[inside, length]);
                // The operands of the chain are declarations, so the chain is the next instruction.
                let instruction = self.next_instruction();
                let result = self.emit.word(Buffer::Input, outside);
                self.planted = Some(Planted { instruction, result, also: vec![self.next_instruction()], reached: None });
                self.emit.op(spirv::Op::Load, uint, &[result]);
            }
            Defect::Unreachable => {
                let count = self.emit.uint(self.module.local_count());
                let boolean = self.emit.ty(&Type::BOOL);
                let local = self.emit.builtin(Builtin::LocalIndex);
                let always = self.emit.op(spirv::Op::ULessThan, boolean, &[local, count]);
                let (then, merge) = (self.emit.id(), self.emit.id());
                self.emit.act(spirv::Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
                self.emit.act(spirv::Op::BranchConditional, &[always, then, merge]);
                self.begin(then);
                self.planted_act(spirv::Op::Unreachable, &[]);
                self.begin(merge);
            }
            Defect::DivergentBarrier => {
                self.planted = Some(Planted { instruction: self.next_instruction(), ..Planted::default() });
                self.barrier(WORKGROUP_ORDER);
            }
            Defect::RaceWithoutBarrier | Defect::RaceWithoutSemantics => self.race_in_workgroup(defect, x),
            _ => self.race_in_buffer(defect, x),
        }
    }

    /// Each invocation writes its element and reads its neighbour's element. An earlier,
    /// synchronized store has initialized the elements.
    fn race_in_workgroup(&mut self, defect: Defect, x: Id) {
        let uint = self.emit.ty(&Type::UINT);
        let count = self.module.local_count();
        let array = self.emit.array_type(&Type::UINT, count);
        let variable = self.emit.global(StorageClass::Workgroup, array, None);
        let pointer = self.emit.pointer(StorageClass::Workgroup, uint);
        let local = self.emit.builtin(Builtin::LocalIndex);
        let (one, n) = (self.emit.uint(1), self.emit.uint(count));
        let next_index = self.emit.op(spirv::Op::IAdd, uint, &[local, one]);
        let neighbour = self.emit.op(spirv::Op::UMod, uint, &[next_index, n]);
        let own = self.emit.op(spirv::Op::AccessChain, pointer, &[variable, local]);
        let other = self.emit.op(spirv::Op::AccessChain, pointer, &[variable, neighbour]);
        self.emit.act(spirv::Op::Store, &[own, one]);
        self.barrier(WORKGROUP_ORDER);
        self.planted_act(spirv::Op::Store, &[own, x]);
        if defect == Defect::RaceWithoutSemantics {
            self.barrier(0);
        }
        let load = self.next_instruction();
        self.add_other_culprit(load);
        self.emit.op(spirv::Op::Load, uint, &[other]);
        self.barrier(WORKGROUP_ORDER);
    }

    /// Several invocations write the last word of the first invocation's part.
    fn race_in_buffer(&mut self, defect: Defect, x: Id) {
        let uint = self.emit.ty(&Type::UINT);
        let last = self.emit.uint(self.words_each - 1);
        let word = self.emit.word(Buffer::Output, last);
        if defect == Defect::RaceOfStores {
            return self.planted_act(spirv::Op::Store, &[word, x]);
        }
        let boolean = self.emit.ty(&Type::BOOL);
        let (zero, one, scope) = (self.emit.uint(0), self.emit.uint(1), self.emit.uint(DEVICE));
        let local = self.emit.builtin(Builtin::LocalIndex);
        let first = self.emit.op(spirv::Op::IEqual, boolean, &[local, zero]);
        let others = self.emit.op(spirv::Op::LogicalNot, boolean, &[first]);
        self.if_true(first, |lower| lower.planted_act(spirv::Op::Store, &[word, x]));
        self.if_true(others, |lower| {
            let at = lower.next_instruction();
            lower.add_other_culprit(at);
            lower.emit.op(spirv::Op::AtomicIAdd, uint, &[word, scope, zero, one]);
        });
    }

    fn refused(&mut self, defect: Defect, x: Id) {
        let zero = self.emit.uint(0);
        match defect {
            Defect::StoreReadOnly => {
                let word = self.emit.word(Buffer::Input, zero);
                self.planted_act(spirv::Op::Store, &[word, x]);
            }
            Defect::MemberIndex => {
                let uint = self.emit.ty(&Type::UINT);
                let pointer = self.emit.pointer(StorageClass::StorageBuffer, uint);
                let variable = self.emit.buffer(Buffer::Input);
                let nine = self.emit.uint(9);
                self.planted_op(spirv::Op::AccessChain, pointer, &[variable, nine, zero]);
            }
            _ => {
                let function = self.emit.id();
                self.recursive = Some(function);
                let void = self.emit.void();
                self.emit.op(spirv::Op::FunctionCall, void, &[function]);
            }
        }
    }

    /// Writes the function that calls itself.
    pub fn recursion(&mut self, id: Id) {
        let void = self.emit.void();
        let ty = self.emit.function_type(&[void]);
        self.emit.act(spirv::Op::Function, &[void, id, FunctionControl::NONE.bits(), ty]);
        let entry = self.emit.id();
        self.begin(entry);
        self.planted_op(spirv::Op::FunctionCall, void, &[id]);
        self.emit.act(spirv::Op::Return, &[]);
        self.emit.act(spirv::Op::FunctionEnd, &[]);
    }
}
