//! GLSL.std.450, expressed by functions of WGSL.

use rspirv::spirv::GlslStd450Op as Glsl;
use smallstep_semantics::spirv::Instruction;
use smallstep_semantics::spirv::operation::{Scalar, Shape};

use super::function::Body;
use super::text::Expr;
use super::{Refused, Why};

/// The WGSL function with the same operands and the same meaning.
fn same(function: Glsl) -> Option<&'static str> {
    Some(match function {
        Glsl::Round | Glsl::RoundEven => "round",
        Glsl::Trunc => "trunc",
        Glsl::FAbs => "abs",
        Glsl::FSign => "sign",
        Glsl::Floor => "floor",
        Glsl::Ceil => "ceil",
        Glsl::Fract => "fract",
        Glsl::Radians => "radians",
        Glsl::Degrees => "degrees",
        Glsl::Sin => "sin",
        Glsl::Cos => "cos",
        Glsl::Tan => "tan",
        Glsl::Asin => "asin",
        Glsl::Acos => "acos",
        Glsl::Atan => "atan",
        Glsl::Sinh => "sinh",
        Glsl::Cosh => "cosh",
        Glsl::Tanh => "tanh",
        Glsl::Asinh => "asinh",
        Glsl::Acosh => "acosh",
        Glsl::Atanh => "atanh",
        Glsl::Atan2 => "atan2",
        Glsl::Pow => "pow",
        Glsl::Exp => "exp",
        Glsl::Log => "log",
        Glsl::Exp2 => "exp2",
        Glsl::Log2 => "log2",
        Glsl::Sqrt => "sqrt",
        Glsl::InverseSqrt => "inverseSqrt",
        Glsl::Determinant => "determinant",
        Glsl::FMin => "min",
        Glsl::FMax => "max",
        Glsl::FClamp => "clamp",
        Glsl::FMix => "mix",
        Glsl::Step => "step",
        Glsl::SmoothStep => "smoothstep",
        Glsl::Fma => "fma",
        Glsl::PackSnorm4x8 => "pack4x8snorm",
        Glsl::PackUnorm4x8 => "pack4x8unorm",
        Glsl::PackSnorm2x16 => "pack2x16snorm",
        Glsl::PackUnorm2x16 => "pack2x16unorm",
        Glsl::PackHalf2x16 => "pack2x16float",
        Glsl::UnpackSnorm4x8 => "unpack4x8snorm",
        Glsl::UnpackUnorm4x8 => "unpack4x8unorm",
        Glsl::UnpackSnorm2x16 => "unpack2x16snorm",
        Glsl::UnpackUnorm2x16 => "unpack2x16unorm",
        Glsl::UnpackHalf2x16 => "unpack2x16float",
        Glsl::Length => "length",
        Glsl::Distance => "distance",
        Glsl::Cross => "cross",
        _ => return None,
    })
}

/// The WGSL function for integers, and whether the instruction is signed.
fn of_integers(function: Glsl) -> Option<(&'static str, bool)> {
    Some(match function {
        Glsl::SAbs => ("abs", true),
        Glsl::SSign => ("sign", true),
        Glsl::UMin => ("min", false),
        Glsl::SMin => ("min", true),
        Glsl::UMax => ("max", false),
        Glsl::SMax => ("max", true),
        Glsl::UClamp => ("clamp", false),
        Glsl::SClamp => ("clamp", true),
        Glsl::FindSMsb => ("firstLeadingBit", true),
        Glsl::FindUMsb => ("firstLeadingBit", false),
        _ => return None,
    })
}

/// A function for the inverse of a matrix, which WGSL lacks. It uses determinants of parts.
fn inverse(size: u8) -> Option<&'static str> {
    Some(match size {
        2 => {
            "fn inverse_2(m: mat2x2<f32>) -> mat2x2<f32> {
    return mat2x2<f32>(m[1][1], -m[0][1], -m[1][0], m[0][0]) * (1.0f / determinant(m));
}
"
        }
        3 => {
            "fn inverse_3(m: mat3x3<f32>) -> mat3x3<f32> {
    let rows = mat3x3<f32>(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
    return transpose(rows) * (1.0f / determinant(m));
}
"
        }
        4 => {
            "fn inverse_4(m: mat4x4<f32>) -> mat4x4<f32> {
    let s0 = m[0][0] * m[1][1] - m[1][0] * m[0][1];
    let s1 = m[0][0] * m[1][2] - m[1][0] * m[0][2];
    let s2 = m[0][0] * m[1][3] - m[1][0] * m[0][3];
    let s3 = m[0][1] * m[1][2] - m[1][1] * m[0][2];
    let s4 = m[0][1] * m[1][3] - m[1][1] * m[0][3];
    let s5 = m[0][2] * m[1][3] - m[1][2] * m[0][3];
    let c5 = m[2][2] * m[3][3] - m[3][2] * m[2][3];
    let c4 = m[2][1] * m[3][3] - m[3][1] * m[2][3];
    let c3 = m[2][1] * m[3][2] - m[3][1] * m[2][2];
    let c2 = m[2][0] * m[3][3] - m[3][0] * m[2][3];
    let c1 = m[2][0] * m[3][2] - m[3][0] * m[2][2];
    let c0 = m[2][0] * m[3][1] - m[3][0] * m[2][1];
    let scale = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
    return mat4x4<f32>(
        m[1][1] * c5 - m[1][2] * c4 + m[1][3] * c3,
        -m[0][1] * c5 + m[0][2] * c4 - m[0][3] * c3,
        m[3][1] * s5 - m[3][2] * s4 + m[3][3] * s3,
        -m[2][1] * s5 + m[2][2] * s4 - m[2][3] * s3,
        -m[1][0] * c5 + m[1][2] * c2 - m[1][3] * c1,
        m[0][0] * c5 - m[0][2] * c2 + m[0][3] * c1,
        -m[3][0] * s5 + m[3][2] * s2 - m[3][3] * s1,
        m[2][0] * s5 - m[2][2] * s2 + m[2][3] * s1,
        m[1][0] * c4 - m[1][1] * c2 + m[1][3] * c0,
        -m[0][0] * c4 + m[0][1] * c2 - m[0][3] * c0,
        m[3][0] * s4 - m[3][1] * s2 + m[3][3] * s0,
        -m[2][0] * s4 + m[2][1] * s2 - m[2][3] * s0,
        -m[1][0] * c3 + m[1][1] * c1 - m[1][2] * c0,
        m[0][0] * c3 - m[0][1] * c1 + m[0][2] * c0,
        -m[3][0] * s3 + m[3][1] * s1 - m[3][2] * s0,
        m[2][0] * s3 - m[2][1] * s1 + m[2][2] * s0,
    ) * scale;
}
"
        }
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// OpExtInst.
    pub(super) fn extended(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let number = self.convert.plan.glsl(operands[1]);
        let Some(function) = Glsl::from_u32(number) else { return Ok(()) };
        let arguments = &operands[2..];
        let refuse = |this: &Self| Err(this.convert.refused_at(i, Why::Instruction, format!("WGSL has no function like {function:?}")));
        let shape = self.convert.module.shape(i.result);
        if let Some((name, signed)) = of_integers(function) {
            let mut parts = Vec::new();
            for &id in arguments {
                parts.push(self.integer(id, signed)?);
            }
            self.operating(&mut parts)?;
            // Constant bounds in the wrong order would be a shader-creation error.
            if name == "clamp" && parts[1].constant && parts[2].constant {
                parts[1] = self.bind(&parts[1].clone())?;
            }
            let value = self.as_result(Expr::call(name, &parts), signed, i)?;
            return self.define(index, i, value);
        }
        if function == Glsl::FindILsb {
            let signed = matches!(shape.scalar, Scalar::Int { signed: true, .. });
            let mut part = [self.integer(arguments[0], signed)?];
            self.operating(&mut part)?;
            return self.define(index, i, Expr::call("firstTrailingBit", &part));
        }
        if matches!(function, Glsl::Modf | Glsl::ModfStruct | Glsl::Frexp | Glsl::FrexpStruct) {
            return self.split_float(index, i, function, arguments);
        }
        if matches!(function, Glsl::InterpolateAtCentroid | Glsl::InterpolateAtSample | Glsl::InterpolateAtOffset) {
            return refuse(self);
        }
        let mut parts = Vec::new();
        for &id in arguments {
            let part = match function {
                Glsl::Ldexp if parts.len() == 1 => self.integer(id, true)?,
                Glsl::UnpackSnorm4x8 | Glsl::UnpackUnorm4x8 | Glsl::UnpackSnorm2x16 | Glsl::UnpackUnorm2x16 | Glsl::UnpackHalf2x16 => {
                    self.integer(id, false)?
                }
                _ => self.value(id)?,
            };
            parts.push(part);
        }
        self.operating(&mut parts)?;
        if matches!(function, Glsl::FClamp | Glsl::SmoothStep | Glsl::Ldexp) {
            for part in parts.iter_mut().filter(|p| p.constant) {
                let name = self.bind(&part.clone())?;
                *part = name;
            }
        }
        let scalar = self.convert.module.shape(arguments[0]).rows == 1;
        let value = match function {
            Glsl::MatrixInverse => {
                let Some(helper) = inverse(shape.rows).filter(|_| shape.scalar == Scalar::F32) else { return refuse(self) };
                self.convert.helpers.insert(helper);
                Expr::call(&format!("inverse_{}", shape.rows), &parts)
            }
            Glsl::Ldexp => Expr::call("ldexp", &parts),
            Glsl::NMin | Glsl::NMax => self.numbers_first(if function == Glsl::NMin { "min" } else { "max" }, &parts, shape)?,
            Glsl::NClamp => {
                let lower = self.numbers_first("max", &parts[..2], shape)?;
                self.numbers_first("min", &[lower, parts[2].clone()], shape)?
            }
            Glsl::Normalize if scalar => Expr::call("sign", &parts),
            Glsl::Normalize => Expr::call("normalize", &parts),
            Glsl::FaceForward if scalar => {
                let n = self.repeatable(&parts[0])?;
                let test = Expr::binary("<", &Expr::binary("*", &parts[1], &parts[2]), &Expr::literal("0.0f"));
                Expr::call("select", &[Expr::unary("-", &n), n, test])
            }
            Glsl::FaceForward => Expr::call("faceForward", &parts),
            Glsl::Reflect if scalar => {
                let (v, n) = (self.repeatable(&parts[0])?, self.repeatable(&parts[1])?);
                let twice = Expr::binary("*", &Expr::literal("2.0f"), &Expr::binary("*", &n, &v));
                Expr::binary("-", &v, &Expr::binary("*", &twice, &n))
            }
            Glsl::Reflect => Expr::call("reflect", &parts),
            Glsl::Refract if scalar => {
                let (v, n, eta) = (self.repeatable(&parts[0])?, self.repeatable(&parts[1])?, self.repeatable(&parts[2])?);
                let one = Expr::literal("1.0f");
                let cosine = self.bind(&Expr::binary("*", &n, &v))?;
                let square = |x: &Expr| Expr::binary("*", x, x);
                let sine = Expr::binary("*", &square(&eta), &Expr::binary("-", &one, &square(&cosine)));
                let k = self.bind(&Expr::binary("-", &one, &sine))?;
                let along = Expr::binary("+", &Expr::binary("*", &eta, &cosine), &Expr::call("sqrt", std::slice::from_ref(&k)));
                let bent = Expr::binary("-", &Expr::binary("*", &eta, &v), &Expr::binary("*", &along, &n));
                Expr::call("select", &[bent, Expr::literal("0.0f"), Expr::binary("<", &k, &Expr::literal("0.0f"))])
            }
            Glsl::Refract => Expr::call("refract", &parts),
            function => match same(function) {
                Some(name) => {
                    let value = Expr::call(name, &parts);
                    match function {
                        Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8 | Glsl::PackSnorm2x16 | Glsl::PackUnorm2x16 | Glsl::PackHalf2x16 => {
                            self.as_result(value, false, i)?
                        }
                        _ => value,
                    }
                }
                None => return refuse(self),
            },
        };
        self.define(index, i, value)
    }

    /// The least or greatest operand that is no NaN. With a NaN, WGSL's functions may return
    /// either operand.
    fn numbers_first(&mut self, function: &str, parts: &[Expr], shape: Shape) -> Result<Expr, Refused> {
        let (a, b) = (self.repeatable(&parts[0])?, self.repeatable(&parts[1])?);
        let bits = self.convert.shape_type(shape.of(Scalar::U32))?;
        let splat = |text: &str| if shape.rows == 1 { text.to_string() } else { format!("{bits}({text})") };
        let nan = |x: &Expr| Expr::name(format!("((bitcast<{bits}>({}) & {}) > {})", x.text, splat("0x7fffffffu"), splat("0x7f800000u")));
        let both = Expr::call(function, &[a.clone(), b.clone()]);
        let one = Expr::call("select", &[both, a.clone(), nan(&b)]);
        Ok(Expr::call("select", &[one, b, nan(&a)]))
    }

    /// Modf and Frexp. WGSL returns a structure, which is taken apart.
    fn split_float(&mut self, index: usize, i: &Instruction, function: Glsl, arguments: &[u32]) -> Result<(), Refused> {
        let mut value = [self.value(arguments[0])?];
        self.operating(&mut value)?;
        let is_modf = matches!(function, Glsl::Modf | Glsl::ModfStruct);
        let parts = self.bind(&Expr::call(if is_modf { "modf" } else { "frexp" }, &value))?;
        let (first, second) = (parts.member("fract"), parts.member(if is_modf { "whole" } else { "exp" }));
        let module = self.convert.module;
        // The exponent may have an unsigned type.
        let exponent = |this: &mut Self, type_: u32, value: Expr| -> Result<Expr, Refused> {
            let shape = this.convert.module.shape(type_);
            if is_modf || matches!(shape.scalar, Scalar::Int { signed: true, .. }) {
                return Ok(value);
            }
            let name = this.convert.shape_type(shape)?;
            Ok(Expr::call(&format!("bitcast<{name}>"), &[value]))
        };
        if matches!(function, Glsl::ModfStruct | Glsl::FrexpStruct) {
            let name = self.convert.value_type(i.result_type)?;
            let second_type = module.types().part(i.result_type, 1).map_or(0, |(t, _)| t);
            let second = exponent(self, second_type, second)?;
            return self.define(index, i, Expr::call(&name, &[first, second]));
        }
        let place = self.place(arguments[1])?;
        let pointee = module.type_of(arguments[1]).and_then(|t| module.pointer_type(t)).map_or(0, |(_, t)| t);
        let second = exponent(self, pointee, second)?;
        self.store(&place, &second, i)?;
        self.define(index, i, first)
    }
}
