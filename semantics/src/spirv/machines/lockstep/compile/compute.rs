//! Computing instructions: one code for each component if there is a code for columns. Otherwise
//! the instruction runs lane by lane.

use rspirv::spirv::{Decoration, GlslStd450Op as Glsl};
use smallvec::SmallVec;

use super::super::program::{ComputeSite, NONE, Op, Slot, Slots};
use super::{Compiled, Compiler};
use crate::number;
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::WHOLE;
use crate::spirv::operation::{self, Operation, Scalar, Shape, Signature};
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

/// The code of an instruction on components of this type, and whether its operands are swapped.
fn code(instruction: number::Instruction, component: Scalar) -> Option<(Op, bool)> {
    let (float, word) = (component == Scalar::F32, matches!(component, Scalar::Int { width: 32, .. }));
    let op = match instruction {
        number::Instruction::Core(opcode) => Core::from_u32(opcode.into())?,
        number::Instruction::Glsl(number) => {
            return match (Glsl::from_u32(number)?, component) {
                (Glsl::UMin, _) if word => Some((Op::MinUnsigned, false)),
                (Glsl::UMax, _) if word => Some((Op::MaxUnsigned, false)),
                (Glsl::SMin, _) if word => Some((Op::MinSigned, false)),
                (Glsl::SMax, _) if word => Some((Op::MaxSigned, false)),
                (Glsl::FAbs, _) if float => Some((Op::AbsFloat, false)),
                (Glsl::FMin, _) if float => Some((Op::MinFloat, false)),
                (Glsl::FMax, _) if float => Some((Op::MaxFloat, false)),
                _ => None,
            };
        }
    };
    let found = match (op, component) {
        (Core::IAdd, _) if word => (Op::Add, false),
        (Core::ISub, _) if word => (Op::Sub, false),
        (Core::IMul, _) if word => (Op::Mul, false),
        (Core::BitwiseAnd, _) if word => (Op::And, false),
        (Core::BitwiseOr, _) if word => (Op::Or, false),
        (Core::BitwiseXor, _) if word => (Op::Xor, false),
        (Core::Not, _) if word => (Op::Not, false),
        (Core::SNegate, _) if word => (Op::Negate, false),
        (Core::ShiftLeftLogical, _) if word => (Op::ShiftLeft, false),
        (Core::ShiftRightLogical, _) if word => (Op::ShiftRight, false),
        (Core::ShiftRightArithmetic, _) if word => (Op::ShiftRightSigned, false),
        (Core::UDiv, _) if word => (Op::DivideUnsigned, false),
        (Core::UMod, _) if word => (Op::ModUnsigned, false),
        (Core::SDiv, _) if word => (Op::DivideSigned, false),
        (Core::SMod, _) if word => (Op::ModSigned, false),
        (Core::IEqual, _) if word => (Op::Equal, false),
        (Core::INotEqual, _) if word => (Op::NotEqual, false),
        (Core::ULessThan, _) if word => (Op::LessUnsigned, false),
        (Core::UGreaterThan, _) if word => (Op::LessUnsigned, true),
        (Core::ULessThanEqual, _) if word => (Op::LessEqualUnsigned, false),
        (Core::UGreaterThanEqual, _) if word => (Op::LessEqualUnsigned, true),
        (Core::SLessThan, _) if word => (Op::LessSigned, false),
        (Core::SGreaterThan, _) if word => (Op::LessSigned, true),
        (Core::SLessThanEqual, _) if word => (Op::LessEqualSigned, false),
        (Core::SGreaterThanEqual, _) if word => (Op::LessEqualSigned, true),
        (Core::FAdd, _) if float => (Op::AddFloat, false),
        (Core::FSub, _) if float => (Op::SubFloat, false),
        (Core::FMul, _) if float => (Op::MulFloat, false),
        (Core::FDiv, _) if float => (Op::DivideFloat, false),
        (Core::FNegate, _) if float => (Op::NegateFloat, false),
        (Core::FOrdEqual, _) if float => (Op::EqualFloat, false),
        (Core::FOrdNotEqual, _) if float => (Op::NotEqualFloat, false),
        (Core::FOrdLessThan, _) if float => (Op::LessFloat, false),
        (Core::FOrdGreaterThan, _) if float => (Op::LessFloat, true),
        (Core::FOrdLessThanEqual, _) if float => (Op::LessEqualFloat, false),
        (Core::FOrdGreaterThanEqual, _) if float => (Op::LessEqualFloat, true),
        (Core::FUnordEqual, _) if float => (Op::UnorderedEqualFloat, false),
        (Core::FUnordNotEqual, _) if float => (Op::UnorderedNotEqualFloat, false),
        (Core::FUnordLessThan, _) if float => (Op::UnorderedLessFloat, false),
        (Core::FUnordGreaterThan, _) if float => (Op::UnorderedLessFloat, true),
        (Core::FUnordLessThanEqual, _) if float => (Op::UnorderedLessEqualFloat, false),
        (Core::FUnordGreaterThanEqual, _) if float => (Op::UnorderedLessEqualFloat, true),
        (Core::LogicalAnd, Scalar::Bool) => (Op::AndSet, false),
        (Core::LogicalOr, Scalar::Bool) => (Op::OrSet, false),
        (Core::LogicalEqual, Scalar::Bool) => (Op::EqualSet, false),
        (Core::LogicalNotEqual, Scalar::Bool) => (Op::NotEqualSet, false),
        (Core::LogicalNot, Scalar::Bool) => (Op::NotSet, false),
        _ => return None,
    };
    Some(found)
}

/// The code of a conversion between these types.
fn conversion(instruction: number::Instruction, from: Scalar, to: Scalar) -> Option<Op> {
    let number::Instruction::Core(opcode) = instruction else { return None };
    let words = |a: Scalar, b: Scalar| matches!(a, Scalar::Int { width: 32, .. }) && b == Scalar::F32;
    match Core::from_u32(opcode.into())? {
        Core::ConvertSToF if words(from, to) => Some(Op::FloatOfSigned),
        Core::ConvertUToF if words(from, to) => Some(Op::FloatOfUnsigned),
        Core::ConvertFToS if words(to, from) => Some(Op::SignedOfFloat),
        Core::ConvertFToU if words(to, from) => Some(Op::UnsignedOfFloat),
        Core::Bitcast if words(from, to) || words(to, from) => Some(Op::Bitcast),
        Core::Bitcast if matches!((from, to), (Scalar::Int { width: 32, .. }, Scalar::Int { width: 32, .. })) => Some(Op::Bitcast),
        _ => None,
    }
}

impl Compiler<'_> {
    pub(super) fn compute(&mut self, i: &Instruction, operation: Operation, ids: &[u32]) -> Compiled {
        let module = self.module;
        let is_object = operation.signature == Signature::Select;
        if is_object {
            return self.select(i, operation, ids);
        }
        let writes_through = matches!(operation.signature, Signature::Modf | Signature::Frexp);
        let mut args: SmallVec<[(Shape, Slots); 3]> = SmallVec::new();
        for &id in &ids[..if writes_through { 1 } else { ids.len() }] {
            args.push((module.shape(id), self.value(id)?));
        }
        let (results, mut to) = (self.results(i, operation, ids), self.slots(i.result_type)?);
        let decorated = |decoration| module.decoration(i.result, WHOLE, decoration).is_some();
        let (no_signed_wrap, no_unsigned_wrap) = (decorated(Decoration::NoSignedWrap), decorated(Decoration::NoUnsignedWrap));
        let value = to.clone();
        if writes_through {
            let pointee = module.type_of(ids[1]).and_then(|t| module.pointer_type(t)).map_or(0, |(_, pointee)| pointee);
            to.extend(self.slots(pointee)?);
        }
        let count = to.len();
        let from = args.first().map_or(Scalar::Other, |a| a.0.scalar);
        let result = results.first().map_or(Scalar::Other, |r| r.scalar);
        let plain = !no_signed_wrap && !no_unsigned_wrap && args.iter().all(|(_, slots)| slots.len() == count || slots.len() == 1);
        let broadcasts = matches!(operation.signature, Signature::VectorTimesScalar | Signature::MatrixTimesScalar);
        let found = match plain && (broadcasts || args.iter().all(|(_, slots)| slots.len() == count)) {
            false => None,
            true if broadcasts && from == Scalar::F32 => Some((Op::MulFloat, false)),
            true => code(operation.instruction, from)
                .filter(|_| args.iter().all(|(shape, _)| shape.scalar.same_bits(from)))
                .or_else(|| conversion(operation.instruction, from, result).map(|op| (op, false))),
        };
        let is_componentwise = operation.is_componentwise() || broadcasts;
        if matches!(operation.signature, Signature::Pair(..)) {
            return self.pairs(i, operation, &args, &results, &to);
        }
        match found.map(Some).or_else(|| is_componentwise.then_some(None)) {
            Some(code) => {
                for component in 0..count {
                    let slot_of = |k: usize| args.get(k).map(|(_, slots)| slots[if slots.len() == 1 { 0 } else { component }]);
                    let site_args = (0..args.len()).map(|k| (Shape::vector(args[k].0.scalar, 1), Slots::from_iter(slot_of(k)))).collect();
                    let site = ComputeSite {
                        instruction: self.at as u32,
                        operation: component_operation(operation),
                        args: site_args,
                        results: SmallVec::from_slice(&[Shape::vector(result, 1)]),
                        to: Slots::from_slice(&[to[component]]),
                        no_signed_wrap,
                        no_unsigned_wrap,
                    };
                    let number = |slot: Option<Slot>| match slot {
                        Some(Slot::Word(column)) => column,
                        Some(Slot::Truth(set)) => set,
                        _ => NONE,
                    };
                    match code {
                        Some((op, true)) => self.emit(op, number(Some(to[component])), number(slot_of(1)), number(slot_of(0)), 0),
                        Some((op, false)) => self.emit(op, number(Some(to[component])), number(slot_of(0)), number(slot_of(1)), 0),
                        None => self.emit(Op::Compute, NONE, NONE, NONE, 0),
                    }
                    self.attach(site);
                }
            }
            None => {
                let site =
                    ComputeSite { instruction: self.at as u32, operation, args, results, to: to.clone(), no_signed_wrap, no_unsigned_wrap };
                self.emit(Op::Compute, NONE, NONE, NONE, 0);
                self.attach(site);
            }
        }
        if writes_through {
            let pointer = self.pointer(ids[1])?;
            self.store_slots(&pointer, &to[value.len()..])?;
        }
        self.bind(i.result, value)?;
        Ok(())
    }

    /// Compiles an instruction with two results, component by component. The members of the result
    /// are in sequence.
    fn pairs(&mut self, i: &Instruction, operation: Operation, args: &[(Shape, Slots)], results: &[Shape], to: &Slots) -> Compiled {
        let count = to.len() / 2;
        for component in 0..count {
            let site = ComputeSite {
                instruction: self.at as u32,
                operation,
                args: args.iter().map(|(shape, slots)| (Shape::vector(shape.scalar, 1), Slots::from_slice(&[slots[component]]))).collect(),
                results: results.iter().map(|shape| Shape::vector(shape.scalar, 1)).collect(),
                to: Slots::from_slice(&[to[component], to[count + component]]),
                no_signed_wrap: false,
                no_unsigned_wrap: false,
            };
            self.emit(Op::Compute, NONE, NONE, NONE, 0);
            self.attach(site);
        }
        self.bind(i.result, to.clone())
    }

    /// The shape of the result, or the shapes of its two members.
    fn results(&self, i: &Instruction, operation: Operation, ids: &[u32]) -> SmallVec<[Shape; 2]> {
        let module = self.module;
        let shape_of = |type_id: u32| crate::spirv::types::shape(module.types(), type_id);
        match self.type_(i.result_type) {
            Type::Struct { .. } => module.types().members(i.result_type).iter().map(|m| shape_of(m.type_)).collect(),
            _ if matches!(operation.signature, Signature::Modf | Signature::Frexp) => {
                let pointee = module.type_of(ids[1]).and_then(|t| module.pointer_type(t)).map_or(0, |(_, pointee)| pointee);
                SmallVec::from_slice(&[shape_of(i.result_type), shape_of(pointee)])
            }
            _ => SmallVec::from_slice(&[shape_of(i.result_type)]),
        }
    }

    /// Compiles a derivative instruction, component by component (SPIR-V §3.3.16). OpFwidth is the
    /// sum of two absolute values.
    pub(super) fn derivative(&mut self, i: &Instruction) -> Compiled {
        const FINE: u32 = 2;
        let from = self.value(self.operands(i)[0])?;
        let to = self.slots(i.result_type)?;
        let fine = match i.op {
            Core::DPdxFine | Core::DPdyFine | Core::FwidthFine => FINE,
            _ => 0,
        };
        if self.module.shape(i.result).scalar != Scalar::F32 {
            return self.unsupported(format!("{} of other than 32-bit floats in the lockstep machine", i.name()));
        }
        for (&to, &from) in to.iter().zip(&from) {
            let (Slot::Word(d), Slot::Word(a)) = (to, from) else { return self.unsupported(i.name()) };
            match i.op {
                Core::DPdx | Core::DPdxFine | Core::DPdxCoarse => self.emit(Op::Derivative, d, a, NONE, fine),
                Core::DPdy | Core::DPdyFine | Core::DPdyCoarse => self.emit(Op::Derivative, d, a, NONE, fine | 1),
                _ => {
                    let mut lengths = [NONE; 2];
                    for (axis, length) in lengths.iter_mut().enumerate() {
                        let difference = self.column()?;
                        self.emit(Op::Derivative, difference, a, NONE, fine | axis as u32);
                        *length = self.column()?;
                        let absolute = operation::glsl(Glsl::FAbs as u32).expect("the table has every function");
                        self.on_columns(Op::AbsFloat, absolute, Scalar::F32, Slot::Word(*length), &[difference]);
                    }
                    let sum = operation::core(Core::FAdd).expect("the table has every sum and product");
                    self.on_columns(Op::AddFloat, sum, Scalar::F32, Slot::Word(d), &lengths);
                }
            }
        }
        self.bind(i.result, to)
    }

    /// Emits a code on 32-bit columns, with its site.
    fn on_columns(&mut self, op: Op, operation: Operation, component: Scalar, to: Slot, args: &[u32]) {
        let (d, result) = match to {
            Slot::Truth(set) => (set, Scalar::Bool),
            Slot::Word(column) | Slot::Wide(column, _) => (column, component),
        };
        let site = ComputeSite {
            instruction: self.at as u32,
            operation,
            args: args.iter().map(|&column| (Shape::vector(component, 1), Slots::from_slice(&[Slot::Word(column)]))).collect(),
            results: SmallVec::from_slice(&[Shape::vector(result, 1)]),
            to: Slots::from_slice(&[to]),
            no_signed_wrap: false,
            no_unsigned_wrap: false,
        };
        self.emit(op, d, args[0], args.get(1).copied().unwrap_or(NONE), 0);
        self.attach(site);
    }

    /// Sets the site that the last code runs lane by lane if a column cannot.
    fn attach(&mut self, site: ComputeSite) {
        self.program.sites.push(site);
        let number = self.program.sites.len() as u32 - 1;
        self.program.codes.last_mut().expect("a code was just emitted").at = number;
    }

    /// OpSelect on objects of any type. There is one condition, or one for each component.
    fn select(&mut self, i: &Instruction, operation: Operation, ids: &[u32]) -> Compiled {
        let is_pointer = self.is_pointer(i.result);
        let condition = self.value(ids[0])?;
        let [x, y] = match is_pointer {
            true => [self.pointer_slots(ids[1])?, self.pointer_slots(ids[2])?],
            false => [self.value(ids[1])?, self.value(ids[2])?],
        };
        let to = self.slots(i.result_type)?;
        let mut scalars = Vec::with_capacity(to.len());
        self.module.types().visit_scalars(i.result_type, &mut |scalar| scalars.push(scalar));
        if is_pointer {
            scalars = vec![Type::Int { width: 32, signed: false }; to.len()];
        }
        for (k, &d) in to.iter().enumerate() {
            let &Slot::Truth(c) = &condition[if condition.len() == 1 { 0 } else { k }] else { continue };
            let scalar = match scalars[k] {
                Type::Bool => Scalar::Bool,
                Type::Int { width, signed } => Scalar::Int { width, signed },
                Type::Float { width } => Scalar::Float { width },
                _ => Scalar::Other,
            };
            let (truth, object) = (Shape::vector(Scalar::Bool, 1), Shape::vector(scalar, 1));
            let site = ComputeSite {
                instruction: self.at as u32,
                operation,
                args: SmallVec::from_iter([
                    (truth, Slots::from_slice(&[Slot::Truth(c)])),
                    (object, Slots::from_slice(&[x[k]])),
                    (object, Slots::from_slice(&[y[k]])),
                ]),
                results: SmallVec::from_slice(&[object]),
                to: Slots::from_slice(&[d]),
                no_signed_wrap: false,
                no_unsigned_wrap: false,
            };
            match (d, x[k], y[k]) {
                (Slot::Word(d), Slot::Word(a), Slot::Word(b)) => self.emit(Op::Select, d, a, b, c),
                (Slot::Truth(d), Slot::Truth(a), Slot::Truth(b)) => self.emit(Op::SelectSet, d, a, b, c),
                _ => {
                    self.emit(Op::Compute, NONE, NONE, NONE, 0);
                    self.attach(site);
                }
            }
        }
        self.bind(i.result, to)?;
        Ok(())
    }

    /// OpVectorExtractDynamic and OpVectorInsertDynamic. They compare the index with each
    /// possible number.
    pub(super) fn vector_dynamic(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let inserts = i.is(Core::VectorInsertDynamic);
        let vector = self.value(operands[0])?;
        let object = if inserts { Some(self.value(operands[1])?[0]) } else { None };
        let index = self.index(operands[if inserts { 2 } else { 1 }])?;
        let to = self.slots(i.result_type)?;
        for number in 0..vector.len() {
            // Component 0 is the default until another number matches.
            let number_column = self.number(number as u64)?;
            let is_equal = if number == 0 { None } else { Some(self.compared(Core::IEqual, Op::Equal, [index, number_column])?) };
            for (component, &to) in to.iter().enumerate() {
                let from = match object {
                    Some(object) if component == number => object,
                    Some(_) => vector[component],
                    None => vector[number],
                };
                match (to, from, is_equal) {
                    (Slot::Word(d), Slot::Word(a), None) => self.emit(Op::Copy, d, a, NONE, 0),
                    (Slot::Truth(d), Slot::Truth(a), None) => self.emit(Op::CopySet, d, a, NONE, 0),
                    (Slot::Word(d), Slot::Word(a), Some(is_equal)) => self.emit(Op::Select, d, a, d, is_equal),
                    (Slot::Truth(d), Slot::Truth(a), Some(is_equal)) => self.emit(Op::SelectSet, d, a, d, is_equal),
                    _ => return self.unsupported("a dynamic index into a vector of 64-bit numbers in the lockstep machine"),
                }
            }
        }
        let last = self.number(vector.len() as u64 - 1)?;
        let beyond = self.compared(Core::ULessThan, Op::LessUnsigned, [last, index])?;
        self.undefine(&to, beyond, crate::undefined::Unspecified::VectorIndex);
        self.bind(i.result, to)?;
        Ok(())
    }

    /// The set of lanes in which a comparison of two 32-bit integer columns holds.
    fn compared(&mut self, instruction: Core, op: Op, columns: [u32; 2]) -> Compiled<u32> {
        let set = self.set()?;
        let operation = operation::core(instruction).expect("the table has every comparison");
        self.on_columns(op, operation, Scalar::U32, Slot::Truth(set), &columns);
        Ok(set)
    }
}

/// The operation on one component. A vector times a scalar becomes a product.
fn component_operation(operation: Operation) -> Operation {
    match operation.signature {
        Signature::VectorTimesScalar | Signature::MatrixTimesScalar => {
            crate::spirv::operation::core(Core::FMul).expect("the table has every sum and product")
        }
        _ => operation,
    }
}
