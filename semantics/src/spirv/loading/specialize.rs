//! Specialization: rewrites words to words without specialization constants (SPIR-V §2.12).
//!
//! Each OpSpecConstant becomes an OpConstant with the value for its SpecId, or with its default.
//! Each OpSpecConstantOp becomes the constant that it computes, with the operations of
//! [`crate::spirv::operation`]. SpecId decorations are removed. An undefined result becomes
//! OpUndef. An operation whose behaviour is undefined is refused. Engines and devices run only
//! frozen words, so that both run the same.

use rspirv::spirv::Decoration as Decorate;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::number::{Computed, Environment};
use crate::outcome::Limit;
use crate::spirv::error::{Check, LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::operation::{self, Bits, Shape};
use crate::spirv::types::{self, MatrixLayout, Type, Types};
use crate::spirv::words::{self, Decoded, Instruction, MAX_ID_BOUND, MAX_WORDS};

/// The greatest number of scalars in the operands of all OpSpecConstantOp together.
const MAX_OPERAND_SCALARS: usize = 1 << 20;
/// The greatest number of pairs of types that one CopyLogical compares.
const MAX_PAIRS: usize = 1 << 12;
/// The greatest number of constituents that fit into one OpConstantComposite.
const MAX_CONSTITUENTS: u64 = 65_532;

/// A value for a specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// The SpecId.
    pub id: u32,
    /// The bits, from the lowest on, as many as the constant's type has. For a Boolean, 0 is false.
    pub bits: u64,
}

/// A specialization constant of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// The SpecId.
    pub id: u32,
    /// The result id.
    pub result: u32,
    /// The id of its type.
    pub type_: u32,
    /// The bits of its default value.
    pub default: u64,
}

/// The words with every specialization constant frozen, at its value in `values` or at its default.
///
/// A value for a SpecId without a constant is an error.
pub fn specialize(words: &[u32], values: &[Specialization]) -> Result<Vec<u32>, LoadError> {
    let decoded = words::decode(words)?;
    if !values.is_empty() || needed(&decoded) { freeze(&decoded, values) } else { Ok(words.to_vec()) }
}

/// The scalar specialization constants that have a SpecId, in order.
pub fn spec_constants(words: &[u32]) -> Result<Vec<SpecConstant>, LoadError> {
    let decoded = words::decode(words)?;
    let ids = spec_ids(&decoded)?;
    let constants = decoded.instructions.iter().filter_map(|i| {
        let default = match i.op {
            Op::SpecConstantTrue => 1,
            Op::SpecConstantFalse => 0,
            Op::SpecConstant => literal(i.operands(words)),
            _ => return None,
        };
        Some(SpecConstant { id: *ids.get(&i.result)?, result: i.result, type_: i.result_type, default })
    });
    Ok(constants.collect())
}

/// Whether there is anything to freeze.
pub(in crate::spirv) fn needed(decoded: &Decoded<'_>) -> bool {
    decoded.instructions.iter().any(|i| is_spec_constant(i.op))
}

/// Whether specialization freezes this instruction.
pub(in crate::spirv) fn is_spec_constant(op: Op) -> bool {
    matches!(op, Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant | Op::SpecConstantComposite | Op::SpecConstantOp)
}

fn literal(words: &[u32]) -> u64 {
    u64::from(words[0]) | words.get(1).map_or(0, |&high| u64::from(high) << 32)
}

/// The SpecId of each result id that has one.
fn spec_ids(decoded: &Decoded<'_>) -> Result<FxHashMap<u32, u32>, LoadError> {
    let mut ids = FxHashMap::default();
    for i in decoded.instructions.iter().filter(|i| i.is(Op::Decorate)) {
        let &[target, decoration, id] = i.operands(decoded.words) else { continue };
        if decoration == Decorate::SpecId as u32 && ids.insert(target, id).is_some_and(|other| other != id) {
            return Err(error(i, Check::Specialization, format!("%{target} has two SpecId")));
        }
    }
    Ok(ids)
}

#[cold]
fn error(i: &Instruction, check: Check, what: impl Into<String>) -> LoadError {
    LoadError::Invalid { check, what: what.into(), at: Place { word: i.offset, ..Place::default() } }
}

#[cold]
fn unsupported(i: &Instruction, what: impl Into<String>) -> LoadError {
    LoadError::Unsupported { what: what.into(), at: Place { word: i.offset, ..Place::default() } }
}

/// A frozen constant.
#[derive(Clone, Copy, Debug)]
enum Frozen {
    Scalar(u64),
    Null,
    Undefined,
    /// Its constituents: the first index and the number in `Freezer::constituents`.
    Composite {
        first: u32,
        count: u32,
    },
}

struct Freezer<'w> {
    decoded: &'w Decoded<'w>,
    out: Vec<u32>,
    bound: u32,
    types: Types,
    /// By result id: the type and the value.
    constants: FxHashMap<u32, (u32, Frozen)>,
    constituents: Vec<u32>,
    read: usize,
}

/// Freezes the constants of a decoded module.
pub(in crate::spirv) fn freeze(decoded: &Decoded<'_>, values: &[Specialization]) -> Result<Vec<u32>, LoadError> {
    let ids = spec_ids(decoded)?;
    for value in values {
        if !ids.values().any(|&id| id == value.id) {
            let what = format!("no specialization constant has SpecId {}", value.id);
            return Err(LoadError::Invalid { check: Check::Specialization, what, at: Place::default() });
        }
    }
    let mut freezer = Freezer {
        decoded,
        out: decoded.words[..words::HEADER_WORDS].to_vec(),
        bound: decoded.header.bound,
        types: Types::new(decoded.header.bound),
        constants: FxHashMap::default(),
        constituents: Vec::new(),
        read: 0,
    };
    for i in &decoded.instructions {
        let given = ids.get(&i.result).and_then(|id| values.iter().rev().find(|v| v.id == *id)).map(|v| v.bits);
        freezer.instruction(i, given)?;
        if freezer.out.len() > MAX_WORDS {
            return Err(LoadError::Limit(Limit { what: "words in a module", bound: MAX_WORDS as u64 }));
        }
    }
    freezer.out[3] = freezer.bound;
    Ok(freezer.out)
}

impl Freezer<'_> {
    fn instruction(&mut self, i: &Instruction, given: Option<u64>) -> Result<(), LoadError> {
        let operands = i.operands(self.decoded.words);
        match i.op {
            Op::Decorate if operands[1] == Decorate::SpecId as u32 => return Ok(()),
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let value = given.map_or(i.is(Op::SpecConstantTrue), |bits| bits != 0);
                self.scalar(i.result_type, i.result, value.into());
                return Ok(());
            }
            Op::SpecConstant => {
                self.declared(i, i.result_type)?;
                self.scalar(i.result_type, i.result, given.unwrap_or(literal(operands)));
                return Ok(());
            }
            Op::SpecConstantComposite => {
                self.composite(i.result_type, i.result, operands);
                return Ok(());
            }
            Op::SpecConstantOp => {
                let value = self.operation(i, operands)?;
                let mut value = value.as_slice();
                self.emit(i, i.result_type, Some(i.result), &mut value)?;
                return Ok(());
            }
            Op::ConstantTrue | Op::ConstantFalse => {
                self.constants.insert(i.result, (i.result_type, Frozen::Scalar(i.is(Op::ConstantTrue).into())));
            }
            Op::Constant => {
                let mask = self.types.get(i.result_type).and_then(Type::width).map_or(u64::MAX, |w| u64::MAX >> (64 - u32::from(w)));
                self.constants.insert(i.result, (i.result_type, Frozen::Scalar(literal(operands) & mask)));
            }
            Op::ConstantNull => {
                self.constants.insert(i.result, (i.result_type, Frozen::Null));
            }
            Op::Undef => {
                self.constants.insert(i.result, (i.result_type, Frozen::Undefined));
            }
            Op::ConstantComposite => self.remember(i.result_type, i.result, operands),
            _ => self.type_(i, operands),
        }
        self.out.extend_from_slice(i.words(self.decoded.words));
        Ok(())
    }

    /// Adds a type that constants may have. Loading refuses a wrong declaration later.
    fn type_(&mut self, i: &Instruction, operands: &[u32]) {
        let known = |t: &Types, id: u32| t.get(id).is_some();
        let type_ = match (i.op, operands) {
            (Op::TypeBool, _) => Type::Bool,
            (Op::TypeInt, &[width @ (8 | 16 | 32 | 64), signed]) => Type::Int { width: width as u8, signed: signed == 1 },
            (Op::TypeFloat, &[width @ (16 | 32 | 64)]) => Type::Float { width: width as u8 },
            (Op::TypeVector, &[component, count @ 2..=4]) if self.types.get(component).is_some_and(Type::is_scalar) => {
                Type::Vector { component, count: count as u8 }
            }
            (Op::TypeMatrix, &[column, count @ 2..=4]) if known(&self.types, column) => Type::Matrix { column, count: count as u8 },
            (Op::TypeArray, &[element, length]) if known(&self.types, element) => match self.constants.get(&length) {
                Some(&(_, Frozen::Scalar(length))) => Type::Array { element, length, stride: 0 },
                _ => return,
            },
            (Op::TypeStruct, members) if members.iter().all(|&m| known(&self.types, m)) => {
                members.iter().for_each(|&m| self.types.push_member(m, None, MatrixLayout::default()));
                self.types.last_members(members.len())
            }
            _ => return,
        };
        // A type beyond the limit on nesting stays unknown here, and loading refuses it.
        let _ = self.types.declare(i.result, type_, false);
    }

    fn declared(&self, i: &Instruction, type_: u32) -> Result<Type, LoadError> {
        self.types.get(type_).ok_or_else(|| {
            error(i, Check::Specialization, format!("%{} = {} has type %{type_}, which is no type that a constant has", i.result, i.name()))
        })
    }

    fn push(&mut self, op: Op, operands: impl ExactSizeIterator<Item = u32>) {
        self.out.push(((operands.len() as u32 + 1) << 16) | op as u32);
        self.out.extend(operands);
    }

    fn fresh(&mut self) -> Result<u32, LoadError> {
        if self.bound >= MAX_ID_BOUND {
            return Err(LoadError::Limit(Limit { what: "ids (the bound in the header)", bound: MAX_ID_BOUND.into() }));
        }
        self.bound += 1;
        Ok(self.bound - 1)
    }

    fn scalar(&mut self, type_: u32, id: u32, bits: u64) {
        let (found, op) = (self.types.get(type_), if bits != 0 { Op::ConstantTrue } else { Op::ConstantFalse });
        let bits = match found {
            Some(Type::Int { width, signed }) => {
                let mask = u64::MAX >> (64 - u32::from(width));
                // Narrow literals are sign-extended to a word (SPIR-V §2.2.1).
                let negative = signed && width < 32 && bits >> (width - 1) & 1 == 1;
                let literal = if negative { (bits & mask) as u32 | !(mask as u32) } else { (bits & mask) as u32 };
                let high = ((bits & mask) >> 32) as u32;
                self.number(type_, id, literal, (width == 64).then_some(high));
                bits & mask
            }
            Some(Type::Float { width }) => {
                let bits = bits & (u64::MAX >> (64 - u32::from(width)));
                self.number(type_, id, bits as u32, (width == 64).then_some((bits >> 32) as u32));
                bits
            }
            _ => {
                self.push(op, [type_, id].into_iter());
                (bits != 0).into()
            }
        };
        self.constants.insert(id, (type_, Frozen::Scalar(bits)));
    }

    fn number(&mut self, type_: u32, id: u32, low: u32, high: Option<u32>) {
        match high {
            Some(high) => self.push(Op::Constant, [type_, id, low, high].into_iter()),
            None => self.push(Op::Constant, [type_, id, low].into_iter()),
        }
    }

    fn composite(&mut self, type_: u32, id: u32, constituents: &[u32]) {
        let operands: Vec<u32> = [type_, id].into_iter().chain(constituents.iter().copied()).collect();
        self.push(Op::ConstantComposite, operands.into_iter());
        self.remember(type_, id, constituents);
    }

    fn remember(&mut self, type_: u32, id: u32, constituents: &[u32]) {
        let first = self.constituents.len() as u32;
        self.constituents.extend_from_slice(constituents);
        self.constants.insert(id, (type_, Frozen::Composite { first, count: constituents.len() as u32 }));
    }

    /// The type of a constant, and its flat scalars. An undefined scalar is `None`.
    fn value(&mut self, i: &Instruction, id: u32) -> Result<(u32, Vec<Option<u64>>), LoadError> {
        let unknown =
            |id: u32| error(i, Check::Specialization, format!("operand %{id} of %{} = OpSpecConstantOp is no earlier constant", i.result));
        let mut scalars = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let &(type_, value) = self.constants.get(&id).ok_or_else(|| unknown(id))?;
            self.declared(i, type_)?;
            let count = self.types.scalars(type_).max(1) as usize;
            self.read = self.read.saturating_add(count);
            if self.read > MAX_OPERAND_SCALARS {
                return Err(LoadError::Limit(Limit { what: "scalars in operands of OpSpecConstantOp", bound: MAX_OPERAND_SCALARS as u64 }));
            }
            match value {
                Frozen::Scalar(bits) => scalars.push(Some(bits)),
                Frozen::Null => scalars.resize(scalars.len() + self.types.scalars(type_) as usize, Some(0)),
                Frozen::Undefined => scalars.resize(scalars.len() + self.types.scalars(type_) as usize, None),
                Frozen::Composite { first, count } => {
                    pending.extend(self.constituents[first as usize..(first + count) as usize].iter().rev());
                }
            }
        }
        let (type_, _) = self.constants[&id];
        if scalars.len() as u64 != self.types.scalars(type_) {
            return Err(error(
                i,
                Check::Constant,
                format!("%{id} has {} scalars; its type has {}", scalars.len(), self.types.scalars(type_)),
            ));
        }
        Ok((type_, scalars))
    }

    /// Computes the scalars of an OpSpecConstantOp.
    fn operation(&mut self, i: &Instruction, operands: &[u32]) -> Result<Vec<Option<u64>>, LoadError> {
        let op = Op::from_u32(operands[0]).filter(|&op| is_allowed(op));
        let Some(op) = op else {
            return Err(unsupported(i, format!("OpSpecConstantOp {}", crate::spirv::grammar::op_name(operands[0] as u16))));
        };
        self.declared(i, i.result_type)?;
        let misfit = |f: &Self, what: &str| {
            let what = format!("%{} = OpSpecConstantOp {op:?} has result {} {what}", i.result, f.types.text(i.result_type));
            error(i, Check::Specialization, what)
        };
        match op {
            Op::CompositeExtract => {
                let (type_, scalars) = self.value(i, operands[1])?;
                let (part, first) = self.part_at(i, type_, &operands[2..])?;
                if part != i.result_type {
                    return Err(misfit(self, &format!("but it extracts {}", self.types.text(part))));
                }
                Ok(scalars[first as usize..(first + self.types.scalars(part)) as usize].to_vec())
            }
            Op::CompositeInsert => {
                let (object_type, object) = self.value(i, operands[1])?;
                let (type_, mut scalars) = self.value(i, operands[2])?;
                let (part, first) = self.part_at(i, type_, &operands[3..])?;
                if part != object_type || type_ != i.result_type {
                    return Err(misfit(
                        self,
                        &format!("but it inserts {} in the place of {}", self.types.text(object_type), self.types.text(part)),
                    ));
                }
                scalars[first as usize..first as usize + object.len()].copy_from_slice(&object);
                Ok(scalars)
            }
            Op::VectorShuffle => {
                let ((a_type, mut scalars), (b_type, more)) = (self.value(i, operands[1])?, self.value(i, operands[2])?);
                scalars.extend(more);
                let component = |t: u32| match self.types.get(t) {
                    Some(Type::Vector { component, .. }) => Some(component),
                    _ => None,
                };
                let of_one =
                    component(i.result_type).is_some() && [a_type, b_type].iter().all(|&t| component(t) == component(i.result_type));
                if !of_one || self.types.scalars(i.result_type) != operands[3..].len() as u64 {
                    return Err(misfit(self, "but its operands do not make it"));
                }
                let chosen = operands[3..].iter().map(|&at| match at {
                    u32::MAX => Some(None),
                    at => scalars.get(at as usize).copied(),
                });
                chosen.collect::<Option<Vec<_>>>().ok_or_else(|| misfit(self, "and names a component beyond its operands"))
            }
            Op::CopyLogical => {
                let (type_, scalars) = self.value(i, operands[1])?;
                match self.types.match_logically(type_, i.result_type, MAX_PAIRS) {
                    Some(true) => Ok(scalars),
                    _ => Err(misfit(self, &format!("but it copies {}", self.types.text(type_)))),
                }
            }
            Op::Select => {
                let (condition_type, condition) = self.value(i, operands[1])?;
                let ((a_type, a), (b_type, b)) = (self.value(i, operands[2])?, self.value(i, operands[3])?);
                let boolean = self.types.component(condition_type) == Some(Type::Bool);
                if !boolean || a_type != i.result_type || b_type != i.result_type || condition.len() != 1 && condition.len() != a.len() {
                    return Err(misfit(self, "but its operands do not make it"));
                }
                let vector = matches!(self.types.get(condition_type), Some(Type::Vector { .. }));
                let scalar = self.types.get(i.result_type).is_some_and(Type::is_scalar);
                if !vector && !scalar && self.decoded.header.minor < 4 {
                    let what =
                        format!("%{} = OpSpecConstantOp Select chooses a composite by one Boolean, which needs SPIR-V 1.4", i.result);
                    return Err(error(i, Check::Version, what));
                }
                let at = |n: usize| condition[if condition.len() == 1 { 0 } else { n }];
                let choose = |(n, (a, b)): (usize, (&Option<u64>, &Option<u64>))| at(n).and_then(|c| if c != 0 { *a } else { *b });
                Ok(a.iter().zip(&b).enumerate().map(choose).collect())
            }
            _ => self.compute(i, op, &operands[1..]),
        }
    }

    fn compute(&mut self, i: &Instruction, op: Op, operands: &[u32]) -> Result<Vec<Option<u64>>, LoadError> {
        let Some(operation) = operation::core(op) else { return Err(unsupported(i, format!("OpSpecConstantOp {op:?}"))) };
        let mut values: SmallVec<[(Shape, Vec<u64>); 3]> = SmallVec::new();
        for &id in operands.iter().take(4) {
            let (type_, scalars) = self.value(i, id)?;
            let Some(bits) = scalars.into_iter().collect::<Option<Vec<u64>>>() else {
                return Err(unsupported(i, format!("OpSpecConstantOp {op:?} of an undefined constant (%{id})")));
            };
            values.push((types::shape(&self.types, type_), bits));
        }
        let result = types::shape(&self.types, i.result_type);
        let shapes: SmallVec<[Shape; 3]> = values.iter().map(|v| v.0).collect();
        if !operation.signature.fits(&shapes, result, false) {
            let found: Vec<String> = shapes.iter().map(|s| s.to_string()).collect();
            let what = format!("%{} = OpSpecConstantOp {op:?} has operands {} and result {result}", i.result, found.join(", "));
            return Err(error(i, Check::Specialization, format!("{what}; it takes {}", operation.signature.requirement())));
        }
        let bits: SmallVec<[Bits<'_>; 3]> = values.iter().map(|(shape, bits)| Bits { shape: *shape, bits }).collect();
        let Some(computed) = operation::pure(operation, &bits, &[result], Environment::default()) else {
            return Err(unsupported(i, format!("OpSpecConstantOp {op:?}")));
        };
        let scalars = computed.into_iter().map(|component| match component {
            Computed::Value(bits) => Ok(Some(bits)),
            Computed::Undefined(_) => Ok(None),
            Computed::Behaviour(ub) => {
                let what = format!("the behaviour of %{} = OpSpecConstantOp {op:?} is undefined: {}", i.result, ub.id());
                Err(error(i, Check::Specialization, what))
            }
        });
        scalars.collect()
    }

    /// The type of the part that literal indices choose, and the index of its first scalar.
    fn part_at(&self, i: &Instruction, mut type_: u32, indices: &[u32]) -> Result<(u32, u64), LoadError> {
        let mut first = 0;
        for &index in indices {
            let Some((part, scalar)) = self.types.part(type_, index.into()) else {
                let what = format!("%{} = OpSpecConstantOp has index {index} into {}", i.result, self.types.text(type_));
                return Err(error(i, Check::CompositeIndex, what));
            };
            (type_, first) = (part, first + scalar);
        }
        Ok((type_, first))
    }

    /// Writes the constant of this type from the next scalars. Returns its id, which is fresh if
    /// `id` is `None`.
    fn emit(&mut self, i: &Instruction, type_: u32, id: Option<u32>, scalars: &mut &[Option<u64>]) -> Result<u32, LoadError> {
        let count = self.types.scalars(type_) as usize;
        let (own, rest) = scalars.split_at(count.min(scalars.len()));
        if self.types.is_nothing(type_) {
            let id = id.map_or_else(|| self.fresh(), Ok)?;
            self.push(Op::ConstantNull, [type_, id].into_iter());
            self.constants.insert(id, (type_, Frozen::Null));
            return Ok(id);
        }
        if own.iter().all(Option::is_none) {
            let id = id.map_or_else(|| self.fresh(), Ok)?;
            self.push(Op::Undef, [type_, id].into_iter());
            self.constants.insert(id, (type_, Frozen::Undefined));
            *scalars = rest;
            return Ok(id);
        }
        if let (true, &[Some(bits)]) = (self.declared(i, type_)?.is_scalar(), own) {
            let id = id.map_or_else(|| self.fresh(), Ok)?;
            self.scalar(type_, id, bits);
            *scalars = rest;
            return Ok(id);
        }
        let parts = self.types.parts(type_).unwrap_or(0);
        if parts > MAX_CONSTITUENTS {
            return Err(LoadError::Limit(Limit { what: "constituents of a constant", bound: MAX_CONSTITUENTS }));
        }
        let mut constituents = Vec::new();
        for index in 0..parts {
            let Some((part, _)) = self.types.part(type_, index) else { break };
            constituents.push(self.emit(i, part, None, scalars)?);
        }
        let id = id.map_or_else(|| self.fresh(), Ok)?;
        self.composite(type_, id, &constituents);
        Ok(id)
    }
}

/// Whether OpSpecConstantOp may have this opcode in a shader (SPIR-V §3.3.7).
fn is_allowed(op: Op) -> bool {
    matches!(
        op,
        Op::SConvert
            | Op::UConvert
            | Op::FConvert
            | Op::SNegate
            | Op::Not
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftLeftLogical
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd
            | Op::VectorShuffle
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select
            | Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::QuantizeToF16
            | Op::CopyLogical
    )
}
