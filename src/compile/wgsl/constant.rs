//! Constants. WGSL evaluates const-expressions when it compiles a program. It refuses those that
//! divide by zero, overflow, or are not finite. SPIR-V's constants may have any value. So at least
//! one operand of an operation is not constant: the value of a constant goes into a `var`, which is
//! no const-expression. NaN and the infinities are built from their bits in the same way.

use rspirv::spirv::Op;
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::text::deep;

use super::convert::Convert;
use super::text::{Expr, Text, float};
use super::{Refused, Why};

/// The most components and elements in the spelling of a constant.
const MAX_PARTS: u64 = 1 << 16;

/// The value of a 16-bit float.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

impl Convert<'_> {
    /// The literal of a scalar constant. `None` if WGSL has no literal for it.
    pub(super) fn scalar_literal(&mut self, scalar: Scalar, bits: u64) -> Result<Option<Text>, Refused> {
        Ok(match scalar {
            Scalar::Bool => Some(if bits == 0 { "false" } else { "true" }.into()),
            Scalar::Int { width: 32, signed: true } => Some(match bits as u32 as i32 {
                i32::MIN => "i32(-2147483648)".into(),
                value => Text::numbered(if value < 0 { "-" } else { "" }, value.unsigned_abs().into(), "i"),
            }),
            Scalar::Int { width: 32, signed: false } => Some(Text::numbered("", u64::from(bits as u32), "u")),
            Scalar::Float { width: 32 } => float(bits as u32),
            Scalar::Float { width: 16 } => {
                self.half = true;
                let value = half(bits as u16);
                value.is_finite().then(|| format!("{value:?}h").into())
            }
            other => return Err(self.no_scalar(other)),
        })
    }

    /// A constant whose text can stand at module scope. `None` if it contains NaN or an infinity.
    pub(super) fn finite_constant(&mut self, id: u32, as_signed: Option<bool>) -> Result<Option<Expr>, Refused> {
        let module = self.module;
        let Some(constant) = module.instruction(id) else { return Err(self.refused(Why::Type, format!("%{id} is no constant"))) };
        let type_ = constant.result_type;
        if module.types().scalars(type_) > MAX_PARTS {
            return Err(self.refused(Why::Limit, format!("constant %{id} has more than {MAX_PARTS} parts")));
        }
        let mut shape = module.shape(id);
        if let (Some(signed), Scalar::Int { width, .. }) = (as_signed, shape.scalar) {
            shape = shape.of(Scalar::Int { width, signed });
        }
        match constant.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::Constant => {
                let bits = module.constant_value(id).unwrap_or(0);
                Ok(self.scalar_literal(shape.scalar, bits)?.map(Expr::literal))
            }
            Op::ConstantNull | Op::Undef => self.zero(type_, as_signed).map(Some),
            _ => {
                let mut parts = Vec::new();
                for &part in constant.operands(module.words()) {
                    match deep(|| self.finite_constant(part, as_signed))? {
                        Some(part) => parts.push(part),
                        None => return Ok(None),
                    }
                }
                let splat = matches!(module.types().get(type_), Some(Type::Vector { .. })) && parts.iter().all(|p| p == &parts[0]);
                if splat {
                    parts.truncate(1);
                }
                let name = if shape.is_data() { self.shape_type(shape)? } else { self.value_type(type_)? };
                Ok(Some(Expr::call(&name, &parts)))
            }
        }
    }

    /// The zero value of a type.
    pub(super) fn zero(&mut self, type_: u32, as_signed: Option<bool>) -> Result<Expr, Refused> {
        let mut shape = self.module.shape(type_);
        if let (Some(signed), Scalar::Int { width, .. }) = (as_signed, shape.scalar) {
            shape = shape.of(Scalar::Int { width, signed });
        }
        if shape.is_data() && (shape.rows, shape.columns) == (1, 1) {
            let literal = self.scalar_literal(shape.scalar, 0)?.unwrap_or_default();
            return Ok(Expr::literal(literal));
        }
        let name = if shape.is_data() { self.shape_type(shape)? } else { self.value_type(type_)? };
        if shape.is_data() && shape.columns == 1 {
            // naga makes a constant of two constituents from `vec3<f32>(vec2<f32>(), x)`.
            let literal = self.scalar_literal(shape.scalar, 0)?.unwrap_or_default();
            return Ok(Expr::call(&name, &[Expr::literal(literal)]));
        }
        Ok(Expr::literal(Text::of(&[&name, "()"])))
    }

    /// A constant as the initial value of a variable at module scope.
    pub(super) fn constant_at_module_scope(&mut self, id: u32) -> Result<Text, Refused> {
        if self.specialized.has(id) {
            self.notes.push(format!("the initial value %{id} of a variable is frozen"));
        }
        match self.finite_constant(id, None)? {
            Some(constant) => Ok(constant.text),
            None => Err(self.refused(Why::Type, format!("constant %{id} initialises a variable at module scope with NaN or an infinity"))),
        }
    }

    /// The name of a composite constant, which is declared at module scope on first use. `None` if
    /// it contains NaN or an infinity.
    pub(super) fn declared_constant(&mut self, id: u32) -> Result<Option<Text>, Refused> {
        if let Some(name) = self.constants.get(&id) {
            return Ok(Some(name.clone()));
        }
        let Some(constant) = self.finite_constant(id, None)? else { return Ok(None) };
        let wanted_name = self.op_name(id).map_or_else(|| format!("constant_{id}"), str::to_string);
        let name = self.names.fresh(&wanted_name);
        self.globals.push_str(&format!("const {name} = {};\n", constant.text));
        self.constants.insert(id, name.clone());
        Ok(Some(name))
    }

    /// The shape with integers of that sign. Other shapes are unchanged.
    pub(super) fn signed_shape(&self, shape: Shape, signed: bool) -> Shape {
        match shape.scalar {
            Scalar::Int { width, .. } => shape.of(Scalar::Int { width, signed }),
            _ => shape,
        }
    }
}
