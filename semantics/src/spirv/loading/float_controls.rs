//! The declarations of a module for 32-bit floats: execution modes (SPIR-V §3.2.6,
//! SPV_KHR_float_controls) and the decoration NoContraction (§3.2.20).

use crate::number::{Controls, Denormals, Profile, Rounding};
use crate::spirv::grammar::Op;
use crate::spirv::module::{EntryPoint, Module, WHOLE};
use crate::spirv::operation::Scalar;
use crate::spirv::words::{self, Instruction};
use rspirv::spirv::{Capability, Decoration, ExecutionMode};

/// An execution mode of float controls, with the capability that declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatControl {
    /// The name of the mode, which is also the capability's name.
    pub name: &'static str,
    /// The execution mode. Its operand is the width.
    pub mode: ExecutionMode,
    /// The capability that it needs.
    pub capability: Capability,
}

/// The extension of these modes. From SPIR-V 1.4 on, they need no extension.
pub const EXTENSION: &str = "SPV_KHR_float_controls";

const RTE: FloatControl =
    FloatControl { name: "RoundingModeRTE", mode: ExecutionMode::RoundingModeRTE, capability: Capability::RoundingModeRTE };
const RTZ: FloatControl =
    FloatControl { name: "RoundingModeRTZ", mode: ExecutionMode::RoundingModeRTZ, capability: Capability::RoundingModeRTZ };
const FLUSH: FloatControl =
    FloatControl { name: "DenormFlushToZero", mode: ExecutionMode::DenormFlushToZero, capability: Capability::DenormFlushToZero };
const PRESERVE: FloatControl =
    FloatControl { name: "DenormPreserve", mode: ExecutionMode::DenormPreserve, capability: Capability::DenormPreserve };
const SPECIAL: FloatControl = FloatControl {
    name: "SignedZeroInfNanPreserve",
    mode: ExecutionMode::SignedZeroInfNanPreserve,
    capability: Capability::SignedZeroInfNanPreserve,
};

impl Controls {
    /// The execution modes that declare these controls for 32 bits: rounding, subnormals,
    /// signed zeros.
    pub fn modes(&self) -> impl DoubleEndedIterator<Item = FloatControl> {
        let rounding = match self.rounding {
            Rounding::Either => None,
            Rounding::NearestEven => Some(RTE),
            Rounding::TowardZero => Some(RTZ),
        };
        let denormals = match self.denormals {
            Denormals::MayFlush => None,
            Denormals::Flush => Some(FLUSH),
            Denormals::Preserve => Some(PRESERVE),
        };
        [rounding, denormals, self.keeps_special.then_some(SPECIAL)].into_iter().flatten()
    }
}

impl Module {
    /// The profile that the module requests from its environment, by its execution modes and
    /// decorations ([`Module::controls`]). [`Profile::VulkanDefault`] if it has no execution mode
    /// of float controls, and no instruction that a device could contract.
    pub fn profile(&self, entry: &EntryPoint) -> Profile {
        let controls = self.controls(entry);
        match controls.modes().next().is_none() && self.contractible().next().is_none() {
            true => Profile::VulkanDefault,
            false => Profile::of(controls),
        }
    }

    /// The module's declarations for 32-bit floats in an entry point.
    ///
    /// A mode needs its capability and, before SPIR-V 1.4, the extension. Two modes that contradict
    /// each other have no effect. `no_contraction` is true if every instruction that could be
    /// contracted is decorated NoContraction. These include functions of extended instruction sets.
    /// It is also true if there are no such instructions.
    pub fn controls(&self, entry: &EntryPoint) -> Controls {
        let has = |op: Op, wanted: &[u32]| self.instructions.iter().any(|i| i.is(op) && i.operands(&self.words) == wanted);
        // From SPIR-V 1.4 on, float controls need no extension.
        let extended = self.header.minor >= 4 || {
            let mut extensions = self.instructions.iter().filter(|i| i.is(Op::Extension)).map(|i| i.operands(&self.words));
            extensions.any(|name| words::string_at(name).is_ok_and(|(name, _)| name == EXTENSION))
        };
        let declares = |control: FloatControl| {
            extended
                && has(Op::ExecutionMode, &[entry.function, control.mode as u32, 32])
                && has(Op::Capability, &[control.capability as u32])
        };
        Controls {
            rounding: match (declares(RTE), declares(RTZ)) {
                (true, false) => Rounding::NearestEven,
                (false, true) => Rounding::TowardZero,
                _ => Rounding::Either,
            },
            denormals: match (declares(FLUSH), declares(PRESERVE)) {
                (true, false) => Denormals::Flush,
                (false, true) => Denormals::Preserve,
                _ => Denormals::MayFlush,
            },
            keeps_special: declares(SPECIAL),
            no_contraction: self.contractible().all(|i| self.decoration(i.result, WHOLE, Decoration::NoContraction).is_some()),
            wgsl: false,
        }
    }

    /// Whether the module declares exactly what a profile requires. WGSL's bounds cannot be
    /// declared. Nor can NoContraction, if there is nothing to contract.
    pub fn declares(&self, entry: &EntryPoint, profile: Profile) -> bool {
        let (declared, asked) = (self.controls(entry), profile.controls());
        let no_contraction = if self.contractible().next().is_none() { declared.no_contraction } else { asked.no_contraction };
        declared == Controls { no_contraction, wgsl: false, ..asked }
    }

    /// The instructions that a device could fuse with others, or expand and fuse in parts.
    fn contractible(&self) -> impl Iterator<Item = &Instruction> {
        let function = |i: &Instruction| i.is(Op::ExtInst) && matches!(self.shape(i.result).scalar, Scalar::Float { .. });
        self.blocks.iter().flat_map(|b| self.code(b)).filter(move |i| is_contractible(i.op) || function(i))
    }
}

/// Whether the instruction multiplies or adds, so that a device could fuse it with another.
fn is_contractible(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::OuterProduct
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::Dot
    )
}
