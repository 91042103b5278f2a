//! Computations (seed 002, Integer signedness).
//!
//! In SPIR-V, the instruction says whether an integer is signed. In WGSL, its type does. So
//! operands are cast to the sign of the instruction, and the result is cast to the sign of its
//! type. Comparisons of floats use the operators of WGSL, for all of which NaN is unordered. `!=`
//! is avoided, because front ends differ in it.

use rspirv::spirv::Op;
use smallstep_semantics::spirv;
use smallstep_semantics::spirv::Instruction;
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::text::deep;

use super::function::Body;
use super::place::{Kind, Place};
use super::text::{COMPONENTS, Expr, Text};
use super::{Refused, Why};

/// Computes the high half of the product of two 32-bit integers from their 16-bit halves.
pub(super) const HIGH_PRODUCT: &str = "fn high_product(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}
";

/// The reason why subgroup instructions are refused.
pub(super) const NO_SUBGROUPS: &str = "WGSL's subgroups ask for `enable subgroups`, which naga does not read";

/// The reason why an instruction has no form in WGSL.
fn why_not(op: Op, name: &str) -> (Why, &'static str) {
    match op {
        Op::ImageTexelPointer => (Why::Atomics, "WGSL has no atomics on texels: those that naga reads are its own"),
        Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => (Why::Pointer, "WGSL compares no pointers"),
        _ if name.starts_with("OpGroup") || name.starts_with("OpSubgroup") => (Why::Subgroups, NO_SUBGROUPS),
        _ => (Why::Instruction, "WGSL has no such instruction"),
    }
}

/// The most parts that a value is rebuilt from.
const MAX_PARTS: u64 = 1024;

impl Body<'_, '_> {
    /// An integer operand, cast to that sign.
    pub(super) fn integer(&mut self, id: u32, signed: bool) -> Result<Expr, Refused> {
        let shape = self.convert.module.shape(id);
        let Scalar::Int { signed: is, .. } = shape.scalar else { return self.value(id) };
        if is == signed || self.convert.plan.keeps_signs() {
            return self.value(id);
        }
        if self.convert.module.is_constant(id) {
            return self.constant(id, Some(signed));
        }
        let name = self.convert.shape_type(self.convert.signed_shape(shape, signed))?;
        let value = self.value(id)?;
        Ok(Expr::call(&Text::of(&["bitcast<", &name, ">"]), &[value]))
    }

    /// An integer of that sign, cast to the sign of the result of an instruction.
    pub(super) fn as_result(&mut self, value: Expr, signed: bool, i: &Instruction) -> Result<Expr, Refused> {
        let shape = self.convert.module.shape(i.result);
        match shape.scalar {
            Scalar::Int { signed: is, .. } if is != signed && !self.convert.plan.keeps_signs() => {
                let name = self.convert.shape_type(shape)?;
                Ok(Expr::call(&Text::of(&["bitcast<", &name, ">"]), &[value]))
            }
            _ => Ok(value),
        }
    }

    /// Makes sure that not all operands are const-expressions.
    pub(super) fn operating(&mut self, operands: &mut [Expr]) -> Result<(), Refused> {
        if !operands.is_empty() && operands.iter().all(|o| o.constant) {
            operands[0] = self.bind(&operands[0].clone())?;
        }
        Ok(())
    }

    /// Whether a component of a constant has a property. If a vector is made of parts, also whether
    /// a component of a constant part has it.
    fn constant_has(&self, id: u32, is: impl Fn(u64) -> bool) -> bool {
        let module = self.convert.module;
        let mut scalars = Vec::new();
        module.constant_scalars(id, &mut scalars);
        let definition = module.definition(id).map(|at| &module.instructions()[at]);
        if let Some(definition) = definition.filter(|definition| matches!(definition.op, Op::CompositeConstruct | Op::CompositeInsert)) {
            let parts = if definition.is(Op::CompositeInsert) { 2 } else { usize::MAX };
            definition.operands(module.words()).iter().take(parts).for_each(|&part| module.constant_scalars(part, &mut scalars));
        }
        scalars.iter().any(|s| is(s.bits))
    }

    /// Puts an operand into a variable, so that no front end takes it or a part of it for
    /// a constant.
    fn no_constant(&mut self, operand: &Expr) -> Result<Expr, Refused> {
        self.bind(&Expr { constant: true, ..operand.clone() })
    }

    fn shape_of(&self, id: u32) -> Shape {
        self.convert.module.shape(id)
    }

    fn binary(&mut self, operator: &str, mut operands: [Expr; 2]) -> Result<Expr, Refused> {
        self.operating(&mut operands)?;
        Ok(Expr::binary(operator, &operands[0], &operands[1]))
    }

    fn call_of(&mut self, function: &str, mut operands: Vec<Expr>) -> Result<Expr, Refused> {
        self.operating(&mut operands)?;
        Ok(Expr::call(function, &operands))
    }

    /// An instruction that only computes.
    pub(super) fn compute(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        if self.convert.module.types().get(i.result_type).is_some_and(Type::is_opaque) {
            return Err(self.convert.refused_at(i, Why::Type, "images and samplers are not converted"));
        }
        if i.is(Op::ExtInst) {
            return self.extended(index, i, operands);
        }
        let shape = self.shape_of(i.result);
        let signed = matches!(shape.scalar, Scalar::Int { signed: true, .. });
        let value = match i.op {
            // Conversions.
            Op::ConvertFToU | Op::ConvertFToS => {
                let to_signed = i.is(Op::ConvertFToS);
                let name = self.convert.shape_type(self.convert.signed_shape(shape, to_signed))?;
                let value = self.value(operands[0])?;
                let value = self.call_of(&name, vec![value])?;
                self.as_result(value, to_signed, i)?
            }
            Op::ConvertSToF | Op::ConvertUToF => {
                let value = self.integer(operands[0], i.is(Op::ConvertSToF))?;
                let name = self.convert.shape_type(shape)?;
                self.call_of(&name, vec![value])?
            }
            Op::UConvert | Op::SConvert => self.integer(operands[0], signed)?,
            Op::FConvert => {
                let value = self.value(operands[0])?;
                let name = self.convert.shape_type(shape)?;
                self.call_of(&name, vec![value])?
            }
            Op::QuantizeToF16 => {
                let value = self.value(operands[0])?;
                self.call_of("quantizeToF16", vec![value])?
            }
            Op::Bitcast => {
                let value = self.value(operands[0])?;
                if self.shape_of(operands[0]) == shape {
                    value
                } else {
                    let name = self.convert.shape_type(shape)?;
                    self.call_of(&Text::of(&["bitcast<", &name, ">"]), vec![value])?
                }
            }
            // Arithmetic.
            Op::SNegate => {
                let mut value = [self.integer(operands[0], true)?];
                self.operating(&mut value)?;
                let value = Expr::unary("-", &value[0]);
                self.as_result(value, true, i)?
            }
            Op::FNegate => {
                let value = self.value(operands[0])?;
                Expr::unary("-", &value)
            }
            Op::Not => {
                let value = self.integer(operands[0], signed)?;
                Expr::unary("~", &value)
            }
            Op::LogicalNot => {
                let value = self.value(operands[0])?;
                Expr::unary("!", &value)
            }
            Op::IAdd | Op::ISub | Op::IMul | Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => {
                let operator = match i.op {
                    Op::IAdd => "+",
                    Op::ISub => "-",
                    Op::IMul => "*",
                    Op::BitwiseAnd => "&",
                    Op::BitwiseOr => "|",
                    _ => "^",
                };
                let pair = [self.integer(operands[0], signed)?, self.integer(operands[1], signed)?];
                self.binary(operator, pair)?
            }
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
                let by_sign = !matches!(i.op, Op::UDiv | Op::UMod);
                let mut pair = [self.integer(operands[0], by_sign)?, self.integer(operands[1], by_sign)?];
                if self.constant_has(operands[1], |bits| bits as u32 == 0) {
                    pair[1] = self.no_constant(&pair[1].clone())?;
                }
                let value = match i.op {
                    Op::UDiv | Op::SDiv => self.binary("/", pair)?,
                    Op::UMod | Op::SRem => self.binary("%", pair)?,
                    _ => {
                        self.operating(&mut pair)?;
                        let [a, b] = [self.repeatable(&pair[0])?, self.repeatable(&pair[1])?];
                        let remainder = self.bind(&Expr::binary("%", &a, &b))?;
                        let zero = match shape.rows {
                            1 => Expr::literal("0i"),
                            rows => Expr::literal(format!("vec{rows}<i32>(0i)")),
                        };
                        let differs = Expr::unary("!", &Expr::binary("==", &remainder, &zero));
                        let signs = Expr::binary("<", &Expr::binary("^", &remainder, &b), &zero);
                        let test = Expr::binary("&", &differs, &signs);
                        Expr::call("select", &[remainder.clone(), Expr::binary("+", &remainder, &b), test])
                    }
                };
                self.as_result(value, by_sign, i)?
            }
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => {
                let operator = match i.op {
                    Op::FAdd => "+",
                    Op::FSub => "-",
                    Op::FMul => "*",
                    Op::FDiv => "/",
                    _ => "%",
                };
                let mut pair = [self.value(operands[0])?, self.value(operands[1])?];
                let by_zero = self.constant_has(operands[1], |bits| bits as u32 & 0x7fff_ffff == 0);
                if matches!(i.op, Op::FDiv | Op::FRem) && by_zero {
                    pair[1] = self.no_constant(&pair[1].clone())?;
                }
                self.binary(operator, pair)?
            }
            Op::FMod => {
                let mut pair = [self.value(operands[0])?, self.value(operands[1])?];
                self.operating(&mut pair)?;
                let [a, b] = [self.repeatable(&pair[0])?, self.repeatable(&pair[1])?];
                let floor = Expr::call("floor", &[Expr::binary("/", &a, &b)]);
                Expr::binary("-", &a, &Expr::binary("*", &b, &floor))
            }
            Op::VectorTimesScalar | Op::MatrixTimesScalar | Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix => {
                let pair = [self.value(operands[0])?, self.value(operands[1])?];
                self.binary("*", pair)?
            }
            Op::OuterProduct => {
                let (a, b) = (self.value(operands[0])?, self.value(operands[1])?);
                let (a, b) = (self.bind(&a)?, self.bind(&b)?);
                let columns: Vec<Expr> =
                    (0..shape.columns).map(|c| Expr::binary("*", &a, &b.index(&Expr::literal(c.to_string())))).collect();
                let name = self.convert.shape_type(shape)?;
                Expr::call(&name, &columns)
            }
            Op::Transpose => {
                let value = self.value(operands[0])?;
                self.call_of("transpose", vec![value])?
            }
            Op::Dot => {
                let pair = vec![self.value(operands[0])?, self.value(operands[1])?];
                self.call_of("dot", pair)?
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.extended_arithmetic(i, operands)?,
            // Bits.
            Op::ShiftRightLogical | Op::ShiftRightArithmetic | Op::ShiftLeftLogical => {
                let base_signed = match i.op {
                    Op::ShiftRightLogical => false,
                    Op::ShiftRightArithmetic => true,
                    _ => signed,
                };
                let mut pair = [self.integer(operands[0], base_signed)?, self.integer(operands[1], false)?];
                if self.constant_has(operands[1], |bits| bits as u32 >= 32) {
                    pair[1] = self.no_constant(&pair[1].clone())?;
                }
                let value = self.binary(if i.is(Op::ShiftLeftLogical) { "<<" } else { ">>" }, pair)?;
                self.as_result(value, base_signed, i)?
            }
            Op::BitFieldInsert => {
                let mut parts = vec![self.integer(operands[0], signed)?, self.integer(operands[1], signed)?];
                parts.extend(self.field(&operands[2..])?);
                self.call_of("insertBits", parts)?
            }
            Op::BitFieldSExtract | Op::BitFieldUExtract => {
                let by_sign = i.is(Op::BitFieldSExtract);
                let mut parts = vec![self.integer(operands[0], by_sign)?];
                parts.extend(self.field(&operands[1..])?);
                let value = self.call_of("extractBits", parts)?;
                self.as_result(value, by_sign, i)?
            }
            Op::BitReverse | Op::BitCount => {
                let value = self.integer(operands[0], signed)?;
                self.call_of(if i.is(Op::BitCount) { "countOneBits" } else { "reverseBits" }, vec![value])?
            }
            // Relations.
            Op::Any | Op::All => {
                let value = self.value(operands[0])?;
                Expr::call(if i.is(Op::Any) { "any" } else { "all" }, &[value])
            }
            Op::IsNan | Op::IsInf => {
                let value = self.value(operands[0])?;
                let of = self.shape_of(operands[0]);
                let bits = self.convert.shape_type(of.of(Scalar::U32))?;
                let value = self.call_of(&format!("bitcast<{bits}>"), vec![value])?;
                let splat = |text: &str| if of.rows == 1 { Expr::literal(text) } else { Expr::literal(format!("{bits}({text})")) };
                let magnitude = Expr::binary("&", &value, &splat("0x7fffffffu"));
                Expr::binary(if i.is(Op::IsNan) { ">" } else { "==" }, &magnitude_in_parentheses(magnitude), &splat("0x7f800000u"))
            }
            Op::LogicalEqual | Op::LogicalNotEqual => {
                let pair = [self.value(operands[0])?, self.value(operands[1])?];
                Expr::binary(if i.is(Op::LogicalEqual) { "==" } else { "!=" }, &pair[0], &pair[1])
            }
            Op::LogicalAnd | Op::LogicalOr => {
                let pair = [self.value(operands[0])?, self.value(operands[1])?];
                Expr::binary(if i.is(Op::LogicalAnd) { "&" } else { "|" }, &pair[0], &pair[1])
            }
            Op::IEqual | Op::INotEqual => {
                let sign = matches!(self.shape_of(operands[0]).scalar, Scalar::Int { signed: true, .. });
                let pair = [self.integer(operands[0], sign)?, self.integer(operands[1], sign)?];
                self.binary(if i.is(Op::IEqual) { "==" } else { "!=" }, pair)?
            }
            Op::UGreaterThan | Op::UGreaterThanEqual | Op::ULessThan | Op::ULessThanEqual => {
                let pair = [self.integer(operands[0], false)?, self.integer(operands[1], false)?];
                let operator = match i.op {
                    Op::UGreaterThan => ">",
                    Op::UGreaterThanEqual => ">=",
                    Op::ULessThan => "<",
                    _ => "<=",
                };
                self.binary(operator, pair)?
            }
            Op::SGreaterThan | Op::SGreaterThanEqual | Op::SLessThan | Op::SLessThanEqual => {
                let pair = [self.integer(operands[0], true)?, self.integer(operands[1], true)?];
                let operator = match i.op {
                    Op::SGreaterThan => ">",
                    Op::SGreaterThanEqual => ">=",
                    Op::SLessThan => "<",
                    _ => "<=",
                };
                self.binary(operator, pair)?
            }
            op if Op::FOrdEqual as u32 <= op as u32 && op as u32 <= Op::FUnordGreaterThanEqual as u32 => {
                self.compare_floats(i, operands)?
            }
            Op::Select => return self.select(index, i, operands),
            // Composites.
            Op::CopyObject => self.value(operands[0])?,
            Op::CopyLogical => {
                let value = self.value(operands[0])?;
                let from = self.convert.module.type_of(operands[0]).unwrap_or(0);
                let value = self.repeatable(&value)?;
                self.rebuilt(&value.primary(), from, i.result_type, i)?
            }
            Op::CompositeConstruct => self.construct(i, operands)?,
            Op::CompositeExtract => {
                let value = self.value(operands[0])?;
                let type_ = self.convert.module.type_of(operands[0]).unwrap_or(0);
                let mut place = Place { text: value.primary(), kind: Kind::Value(type_), ..Place::default() };
                for &at in &operands[1..] {
                    place = self.part(place, i64::from(at), None, i)?;
                }
                Expr { text: place.text, constant: value.constant, depth: value.depth.saturating_add(1), ..Expr::name("") }
            }
            Op::CompositeInsert => {
                let base = self.value(operands[1])?;
                let object = self.value(operands[0])?;
                let name = self.variable_from(index, i, &base)?;
                let mut place = Place { text: name, kind: Kind::Value(i.result_type), ..Place::default() };
                for &at in &operands[2..] {
                    place = self.part(place, i64::from(at), None, i)?;
                }
                self.line(format!("{} = {};", place.text, object.text));
                return Ok(());
            }
            Op::VectorExtractDynamic => {
                let vector = self.value(operands[0])?;
                let vector = if vector.constant { self.bind(&vector)? } else { vector };
                let at = self.dynamic_index(operands[0], operands[1])?;
                vector.index(&at)
            }
            Op::VectorInsertDynamic => {
                let base = self.value(operands[0])?;
                let object = self.value(operands[1])?;
                let at = self.dynamic_index(operands[0], operands[2])?;
                let name = self.variable_from(index, i, &base)?;
                self.line(format!("{name}[{}] = {};", at.text, object.text));
                return Ok(());
            }
            Op::VectorShuffle => self.shuffle(i, operands)?,
            op if spirv::is_derivative(op) => {
                let function = match i.op {
                    Op::DPdx => "dpdx",
                    Op::DPdy => "dpdy",
                    Op::Fwidth => "fwidth",
                    Op::DPdxCoarse => "dpdxCoarse",
                    Op::DPdyCoarse => "dpdyCoarse",
                    Op::FwidthCoarse => "fwidthCoarse",
                    Op::DPdxFine => "dpdxFine",
                    Op::DPdyFine => "dpdyFine",
                    _ => "fwidthFine",
                };
                self.convert.derivatives = true;
                let value = self.value(operands[0])?;
                self.call_of(function, vec![value])?
            }
            op => {
                let (why, what) = why_not(op, &i.name());
                return Err(self.convert.refused_at(i, why, what));
            }
        };
        self.define(index, i, value)
    }

    /// The offset and count of a bit field. Constants whose sum exceeds 32 are put into variables.
    fn field(&mut self, operands: &[u32]) -> Result<Vec<Expr>, Refused> {
        let mut parts = Vec::new();
        let mut sum = 0u64;
        for &id in operands {
            let part = self.integer(id, false)?;
            sum += self.convert.module.constant_value(id).unwrap_or(0);
            parts.push(part);
        }
        if sum > 32 {
            for part in &mut parts {
                if part.constant {
                    *part = self.bind(&part.clone())?;
                }
            }
        }
        Ok(parts)
    }

    /// An index into a vector. Out of range, SPIR-V's result is any value, but WGSL's effect on
    /// memory is less certain. So the index is kept in range.
    fn dynamic_index(&mut self, vector: u32, id: u32) -> Result<Expr, Refused> {
        let count = u64::from(self.shape_of(vector).rows);
        match self.convert.module.constant_value(id) {
            Some(value) if value >= count => Ok(Expr::literal("0u")),
            Some(_) => self.value(id),
            None => {
                let index = self.integer(id, false)?;
                Ok(Expr::call("min", &[index, Expr::literal(format!("{}u", count - 1))]))
            }
        }
    }

    /// Compares floats. With NaN, an ordered comparison is false and an unordered comparison
    /// is true.
    fn compare_floats(&mut self, i: &Instruction, operands: &[u32]) -> Result<Expr, Refused> {
        let mut pair = [self.value(operands[0])?, self.value(operands[1])?];
        self.operating(&mut pair)?;
        let negated = |operator: &str, pair: &[Expr; 2]| Expr::unary("!", &Expr::binary(operator, &pair[0], &pair[1]));
        Ok(match i.op {
            Op::FOrdEqual => Expr::binary("==", &pair[0], &pair[1]),
            Op::FUnordNotEqual => negated("==", &pair),
            Op::FOrdLessThan => Expr::binary("<", &pair[0], &pair[1]),
            Op::FOrdGreaterThan => Expr::binary(">", &pair[0], &pair[1]),
            Op::FOrdLessThanEqual => Expr::binary("<=", &pair[0], &pair[1]),
            Op::FOrdGreaterThanEqual => Expr::binary(">=", &pair[0], &pair[1]),
            Op::FUnordLessThan => negated(">=", &pair),
            Op::FUnordGreaterThan => negated("<=", &pair),
            Op::FUnordLessThanEqual => negated(">", &pair),
            Op::FUnordGreaterThanEqual => negated("<", &pair),
            _ => {
                let pair = [self.repeatable(&pair[0])?, self.repeatable(&pair[1])?];
                let differs = Expr::binary("|", &Expr::binary("<", &pair[0], &pair[1]), &Expr::binary(">", &pair[0], &pair[1]));
                if i.is(Op::FOrdNotEqual) { differs } else { Expr::unary("!", &differs) }
            }
        })
    }

    fn select(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let (condition, yes, no) = (self.value(operands[0])?, self.value(operands[1])?, self.value(operands[2])?);
        let shape = self.shape_of(i.result);
        if shape.is_data() && shape.columns == 1 {
            return self.define(index, i, Expr::call("select", &[no, yes, condition]));
        }
        let name = self.variable_from(index, i, &no)?;
        self.line(format!("if {} {{", condition.text));
        self.line(format!("    {name} = {};", yes.text));
        self.line_of(&["}"]);
        Ok(())
    }

    fn construct(&mut self, i: &Instruction, operands: &[u32]) -> Result<Expr, Refused> {
        let shape = self.shape_of(i.result);
        let mut parts = Vec::new();
        for &id in operands {
            // The parts of a vector may have another sign.
            let signed = matches!(shape.scalar, Scalar::Int { signed: true, .. });
            let part = if shape.is_data() { self.integer(id, signed)? } else { self.value(id)? };
            let of = self.shape_of(id);
            // naga 30 panics if it selects by a constant vector that has a vector as a part.
            match part.constant && of.scalar == Scalar::Bool && of.rows > 1 && shape.columns == 1 {
                true => parts.extend(COMPONENTS[..usize::from(of.rows)].iter().map(|letter| part.member(letter))),
                false => parts.push(part),
            }
        }
        let name = self.convert.value_type(i.result_type)?;
        if parts.is_empty() {
            return Ok(Expr::literal(Text::of(&[&name, "()"])));
        }
        let splat = shape.is_data() && shape.columns == 1 && parts.len() == shape.rows as usize && parts.iter().all(|p| *p == parts[0]);
        if splat {
            parts.truncate(1);
        }
        Ok(Expr::call(&name, &parts))
    }

    fn shuffle(&mut self, i: &Instruction, operands: &[u32]) -> Result<Expr, Refused> {
        let first = u32::from(self.shape_of(operands[0]).rows);
        let picks = &operands[2..];
        let from_first = picks.iter().all(|&p| p < first || p == u32::MAX);
        let from_second = picks.iter().all(|&p| p >= first || p == u32::MAX);
        if from_first || from_second {
            let base = self.value(operands[usize::from(!from_first)])?;
            let offset = if from_first { 0 } else { first };
            let letters: String = picks.iter().map(|&p| COMPONENTS[if p == u32::MAX { 0 } else { (p - offset) as usize & 3 }]).collect();
            return Ok(base.member(&letters));
        }
        let (a, b) = (self.value(operands[0])?, self.value(operands[1])?);
        let (a, b) = (self.bound_name(&a)?, self.bound_name(&b)?);
        let pick = |p: u32| {
            let (vector, at) = if p == u32::MAX || p < first { (&a, if p == u32::MAX { 0 } else { p }) } else { (&b, p - first) };
            vector.member(COMPONENTS[at as usize & 3])
        };
        let parts: Vec<Expr> = picks.iter().map(|&p| pick(p)).collect();
        let name = self.convert.value_type(i.result_type)?;
        Ok(Expr::call(&name, &parts))
    }

    /// The expression as a name, even if it is a constant.
    pub(super) fn bound_name(&mut self, value: &Expr) -> Result<Expr, Refused> {
        if value.constant { self.bind(value) } else { self.repeatable(value) }
    }

    /// Converts a value to another type that matches its own logically.
    fn rebuilt(&mut self, text: &str, from: u32, to: u32, i: &Instruction) -> Result<Expr, Refused> {
        if self.convert.value_type(from)? == self.convert.value_type(to)? {
            return Ok(Expr::name(text));
        }
        let types = self.convert.module.types();
        if types.is_nothing(to) {
            return self.convert.zero(to, None);
        }
        let Some(count) = types.parts(to).filter(|_| types.scalars(to) <= MAX_PARTS) else {
            return Err(self.convert.refused_at(i, Why::Limit, "the value has too many parts to be copied one by one"));
        };
        let mut parts = Vec::new();
        for at in 0..count {
            let place = Place { text: text.into(), kind: Kind::Value(from), ..Place::default() };
            let part = self.part(place, at as i64, None, i)?;
            let ends = types.part(from, at).map(|(t, _)| t).zip(types.part(to, at).map(|(t, _)| t));
            let Some((from, to)) = ends else {
                return Err(self.convert.refused_at(i, Why::Type, "the types do not match"));
            };
            parts.push(deep(|| self.rebuilt(&part.text, from, to, i))?);
        }
        let name = self.convert.value_type(to)?;
        Ok(Expr::call(&name, &parts))
    }

    /// Sums with carry, differences with borrow, and products of two words.
    fn extended_arithmetic(&mut self, i: &Instruction, operands: &[u32]) -> Result<Expr, Refused> {
        let module = self.convert.module;
        let by_sign = i.is(Op::SMulExtended);
        let (a, b) = (self.integer(operands[0], false)?, self.integer(operands[1], false)?);
        let (a, b) = (self.bind(&a)?, self.bind(&b)?);
        let rows = self.shape_of(operands[0]).rows;
        let each = |text: &str| if rows == 1 { Expr::literal(text) } else { Expr::literal(format!("vec{rows}<u32>({text})")) };
        let carry = |test: Expr| Expr::call("select", &[each("0u"), each("1u"), test]);
        let (low, high) = match i.op {
            Op::IAddCarry => {
                let sum = self.bind(&Expr::binary("+", &a, &b))?;
                let test = Expr::binary("<", &sum, &a);
                (sum, carry(test))
            }
            Op::ISubBorrow => (Expr::binary("-", &a, &b), carry(Expr::binary("<", &a, &b))),
            _ => {
                self.convert.helpers.insert(HIGH_PRODUCT);
                let mut parts: Vec<Expr> = match rows {
                    1 => vec![Expr::call("high_product", &[a.clone(), b.clone()])],
                    _ => (0..rows)
                        .map(|at| {
                            let at = Expr::literal(at.to_string());
                            Expr::call("high_product", &[a.index(&at), b.index(&at)])
                        })
                        .collect(),
                };
                let mut high = match rows {
                    1 => parts.remove(0),
                    _ => Expr::call(&format!("vec{rows}<u32>"), &parts),
                };
                if by_sign {
                    // As an unsigned number, a negative factor is greater by 2³².
                    let negative = |x: &Expr, other: &Expr| {
                        let sign = Expr::binary("==", &Expr::binary(">>", x, &each("31u")), &each("1u"));
                        Expr::call("select", &[each("0u"), other.clone(), sign])
                    };
                    high = Expr::binary("-", &Expr::binary("-", &high, &negative(&a, &b)), &negative(&b, &a));
                }
                (Expr::binary("*", &a, &b), high)
            }
        };
        let name = self.convert.value_type(i.result_type)?;
        let part_type = module.types().part(i.result_type, 0).map_or(0, |(t, _)| t);
        let part_shape = module.shape(part_type);
        let mut parts = Vec::new();
        for part in [low, high] {
            parts.push(match part_shape.scalar {
                Scalar::Int { signed: true, .. } => {
                    let name = self.convert.shape_type(part_shape)?;
                    Expr::call(&format!("bitcast<{name}>"), &[part])
                }
                _ => part,
            });
        }
        Ok(Expr::call(&name, &parts))
    }
}

/// `a & b` as an operand of a comparison, where WGSL requires parentheses.
fn magnitude_in_parentheses(value: Expr) -> Expr {
    Expr { text: Text::of(&["(", &value.text, ")"]), level: super::text::Level::Primary, ..value }
}
