//! What the version of a module decides about single instructions (SPIR-V, Changes, and the
//! "Missing before" and "Missing after" of each table).
//!
//! The version also decides what interfaces list (`check::calls`), what OpSelect and OpCopyLogical
//! take (`check::composite`), where branches go (`check::flow`), and what may be NonWritable
//! (`declare::variables`).

use rspirv::spirv::{Capability, Decoration as Decorate};

use super::{Checked, Declare};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::words::Instruction;

/// The minor version that introduced an instruction, if it is later than 1.0, with the extensions
/// that provide it before. Instructions of a capability are checked by the capability.
fn since(op: Op) -> Option<(u8, &'static [&'static str])> {
    Some(match op {
        Op::ModuleProcessed => (1, &[]),
        Op::DecorateId | Op::ExecutionModeId => (2, &[]),
        Op::CopyLogical | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => (4, &[]),
        Op::DecorateString | Op::MemberDecorateString => (4, &["SPV_GOOGLE_decorate_string", "SPV_GOOGLE_hlsl_functionality1"]),
        Op::TerminateInvocation => (6, &["SPV_KHR_terminate_invocation"]),
        Op::DemoteToHelperInvocation => (6, &["SPV_EXT_demote_to_helper_invocation"]),
        Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => (6, &["SPV_KHR_integer_dot_product"]),
        _ => return None,
    })
}

/// Whether a version after 1.0 introduced an instruction.
pub(super) fn is_later(op: Op) -> bool {
    since(op).is_some()
}

impl Declare<'_> {
    /// Checks that the module's version, or an extension that it declares, has the instruction.
    pub(super) fn version_of(&self, i: &Instruction) -> Checked {
        let minor = self.module.header.minor;
        let Some((version, extensions)) = since(i.op) else { return Ok(()) };
        if self.module.unmodeled || minor >= version || self.names_one_of(extensions) {
            return Ok(());
        }
        let others: String = extensions.iter().map(|extension| format!(" or the extension {extension}")).collect();
        self.fail(Check::Version, format!("{} needs SPIR-V 1.{version}{others}, and this is SPIR-V 1.{minor}", i.name()))
    }

    /// Whether one of these extensions is declared. Extensions stand before their uses.
    fn names_one_of(&self, wanted: &[&str]) -> bool {
        let declared = self.module.instructions[..self.index].iter().take_while(|i| matches!(i.op, Op::Capability | Op::Extension));
        declared.filter(|i| i.is(Op::Extension)).any(|i| wanted.contains(&self.string(i.operands(&self.module.words)).as_str()))
    }

    /// Whether an extension is declared. Extensions stand after the capabilities.
    fn will_name(&self, wanted: &str) -> bool {
        let declared = self.module.instructions.iter().take_while(|i| matches!(i.op, Op::Capability | Op::Extension));
        declared.filter(|i| i.is(Op::Extension)).any(|i| self.string(i.operands(&self.module.words)) == wanted)
    }

    /// Checks that the module's version has a capability. Capabilities of subgroups and of variable
    /// pointers need SPIR-V 1.3, those of descriptor indexing need 1.5.
    pub(super) fn check_capability_version(&self, capability: Capability) -> Checked {
        let minor = self.module.header.minor;
        if self.module.unmodeled {
            return Ok(());
        }
        use Capability::{
            WorkgroupMemoryExplicitLayout8BitAccessKHR, WorkgroupMemoryExplicitLayout16BitAccessKHR, WorkgroupMemoryExplicitLayoutKHR,
        };
        if [WorkgroupMemoryExplicitLayoutKHR, WorkgroupMemoryExplicitLayout8BitAccessKHR, WorkgroupMemoryExplicitLayout16BitAccessKHR]
            .contains(&capability)
        {
            let extension = "SPV_KHR_workgroup_memory_explicit_layout";
            if minor >= 4 && self.will_name(extension) {
                return Ok(());
            }
            return self.fail(Check::Version, format!("OpCapability {capability:?} needs SPIR-V 1.4 and the extension {extension}"));
        }
        if matches!(capability, Capability::VariablePointers | Capability::VariablePointersStorageBuffer) {
            return self.needs_version(capability, 3, "SPV_KHR_variable_pointers");
        }
        let of_descriptors = Capability::ShaderNonUniform as u32..=Capability::StorageTexelBufferArrayNonUniformIndexing as u32;
        if of_descriptors.contains(&(capability as u32)) {
            return self.needs_version(capability, 5, "SPV_EXT_descriptor_indexing");
        }
        let of_subgroups = Capability::GroupNonUniform as u32..=Capability::GroupNonUniformQuad as u32;
        if minor >= 3 || !of_subgroups.contains(&(capability as u32)) {
            return Ok(());
        }
        self.fail(Check::Version, format!("OpCapability {capability:?} needs SPIR-V 1.3, and this is SPIR-V 1.{minor}"))
    }

    /// Checks that the module's version has a capability, or that it declares the extension that
    /// provided it before.
    fn needs_version(&self, capability: Capability, version: u8, extension: &str) -> Checked {
        let minor = self.module.header.minor;
        if minor >= version || self.will_name(extension) {
            return Ok(());
        }
        let what =
            format!("OpCapability {capability:?} needs SPIR-V 1.{version} or the extension {extension}, and this is SPIR-V 1.{minor}");
        self.fail(Check::Version, what)
    }

    /// Checks that the module's version still has a decoration.
    pub(super) fn check_decoration_version(&self, i: &Instruction, decoration: Decorate) -> Checked {
        let minor = self.module.header.minor;
        if decoration == Decorate::BufferBlock && minor > 3 && !self.module.unmodeled {
            let what = format!("{} BufferBlock is not in SPIR-V after 1.3, and this is 1.{minor}; StorageBuffer takes its place", i.name());
            return self.fail(Check::Version, what);
        }
        if decoration == Decorate::UniformId && minor < 4 {
            return self.fail(Check::Version, format!("{} UniformId needs SPIR-V 1.4, and this is SPIR-V 1.{minor}", i.name()));
        }
        Ok(())
    }
}
