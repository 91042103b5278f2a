//! Decorations, decoration groups, capabilities and extensions.

use rspirv::spirv::{Capability, Decoration as Decorate, FPRoundingMode};
use smallvec::SmallVec;

use super::{Checked, Declare};
use crate::spirv::error::Check;
use crate::spirv::grammar::{Op, OperandKind};
use crate::spirv::module::{Decoration, Module, WHOLE};
use crate::spirv::words::Instruction;

/// The greatest number of decorations of a module, including those that groups apply.
const MAX_DECORATIONS: usize = 1 << 20;

impl Module {
    /// Whether the instruction is an OpExtInst of a non-semantic set (SPV_KHR_non_semantic_info).
    pub fn is_non_semantic(&self, i: &Instruction) -> bool {
        if !i.is(Op::ExtInst) {
            return false;
        }
        let set = self.instruction(i.operands(&self.words)[0]).filter(|s| s.is(Op::ExtInstImport));
        // "NonS", "eman", "tic.": the names of other sets do not begin like this.
        set.is_some_and(|s| s.operands(&self.words).starts_with(&[0x536e_6f4e, 0x6e61_6d65, 0x2e63_6974]))
    }
}

impl Declare<'_> {
    pub(super) fn capability(&mut self, i: &Instruction) -> Checked {
        use Capability::*;
        let value = i.operands(&self.module.words)[0];
        let modeled = [
            Matrix,
            Shader,
            Float16,
            Float64,
            Int8,
            Int16,
            Int64,
            Int64Atomics,
            StorageBuffer16BitAccess,
            UniformAndStorageBuffer16BitAccess,
            StoragePushConstant16,
            StorageInputOutput16,
            StorageBuffer8BitAccess,
            UniformAndStorageBuffer8BitAccess,
            StoragePushConstant8,
            DenormPreserve,
            DenormFlushToZero,
            SignedZeroInfNanPreserve,
            RoundingModeRTE,
            RoundingModeRTZ,
            DemoteToHelperInvocation,
            ImageQuery,
            ImageGatherExtended,
            DerivativeControl,
            InterpolationFunction,
            SampleRateShading,
            Sampled1D,
            Image1D,
            SampledBuffer,
            ImageBuffer,
            SampledCubeArray,
            ImageCubeArray,
            StorageImageExtendedFormats,
            StorageImageReadWithoutFormat,
            StorageImageWriteWithoutFormat,
            VulkanMemoryModel,
            VulkanMemoryModelDeviceScope,
            VariablePointersStorageBuffer,
            VariablePointers,
            WorkgroupMemoryExplicitLayoutKHR,
            WorkgroupMemoryExplicitLayout8BitAccessKHR,
            WorkgroupMemoryExplicitLayout16BitAccessKHR,
            UniformBufferArrayDynamicIndexing,
            SampledImageArrayDynamicIndexing,
            StorageBufferArrayDynamicIndexing,
            StorageImageArrayDynamicIndexing,
            ShaderNonUniform,
            RuntimeDescriptorArray,
            UniformBufferArrayNonUniformIndexing,
            SampledImageArrayNonUniformIndexing,
            StorageBufferArrayNonUniformIndexing,
            StorageImageArrayNonUniformIndexing,
            UniformTexelBufferArrayDynamicIndexing,
            StorageTexelBufferArrayDynamicIndexing,
            UniformTexelBufferArrayNonUniformIndexing,
            StorageTexelBufferArrayNonUniformIndexing,
            DotProduct,
            DotProductInputAll,
            DotProductInput4x8Bit,
            DotProductInput4x8BitPacked,
            GroupNonUniform,
            GroupNonUniformVote,
            GroupNonUniformArithmetic,
            GroupNonUniformBallot,
            GroupNonUniformShuffle,
            GroupNonUniformShuffleRelative,
            GroupNonUniformClustered,
            GroupNonUniformQuad,
        ];
        let known = modeled.iter().copied().find(|&c| c as u32 == value);
        let Some(capability) = known.or_else(|| Capability::from_u32(value).filter(|_| self.module.unmodeled)) else {
            return self.unsupported(format!("OpCapability {}", self.text(OperandKind::Capability, value)));
        };
        self.check_capability_version(capability)?;
        // SPIR-V §3.31, "implicitly declares".
        let implied: &[Capability] = match capability {
            Matrix | Float16 | Float64 | Int8 | Int16 | Int64 | VulkanMemoryModel | VulkanMemoryModelDeviceScope => &[],
            UniformAndStorageBuffer16BitAccess => &[StorageBuffer16BitAccess, Matrix, Shader],
            UniformAndStorageBuffer8BitAccess => &[StorageBuffer8BitAccess, Matrix, Shader],
            DenormPreserve | DenormFlushToZero | SignedZeroInfNanPreserve | RoundingModeRTE | RoundingModeRTZ => &[],
            Int64Atomics => &[Int64],
            Shader => &[Matrix],
            WorkgroupMemoryExplicitLayout8BitAccessKHR | WorkgroupMemoryExplicitLayout16BitAccessKHR => {
                &[WorkgroupMemoryExplicitLayoutKHR, Matrix, Shader]
            }
            VariablePointers => &[VariablePointersStorageBuffer, Matrix, Shader],
            DotProductInput4x8Bit => &[Int8],
            DotProduct | DotProductInputAll | DotProductInput4x8BitPacked => &[],
            Image1D => &[Sampled1D],
            GroupNonUniform => &[],
            GroupNonUniformVote
            | GroupNonUniformArithmetic
            | GroupNonUniformBallot
            | GroupNonUniformShuffle
            | GroupNonUniformShuffleRelative
            | GroupNonUniformClustered
            | GroupNonUniformQuad => &[GroupNonUniform],
            ImageBuffer => &[SampledBuffer],
            UniformTexelBufferArrayDynamicIndexing => &[SampledBuffer, Matrix, Shader],
            StorageTexelBufferArrayDynamicIndexing => &[ImageBuffer, SampledBuffer, Matrix, Shader],
            UniformTexelBufferArrayNonUniformIndexing => &[SampledBuffer, ShaderNonUniform, Matrix, Shader],
            StorageTexelBufferArrayNonUniformIndexing => &[ImageBuffer, SampledBuffer, ShaderNonUniform, Matrix, Shader],
            UniformBufferArrayNonUniformIndexing
            | SampledImageArrayNonUniformIndexing
            | StorageBufferArrayNonUniformIndexing
            | StorageImageArrayNonUniformIndexing => &[ShaderNonUniform, Matrix, Shader],
            ImageCubeArray => &[SampledCubeArray, Matrix, Shader],
            StorageBuffer8BitAccess | StoragePushConstant8 | StorageBuffer16BitAccess | StoragePushConstant16 | StorageInputOutput16 => &[],
            _ => &[Matrix, Shader],
        };
        for &capability in implied.iter().chain([&capability]) {
            if let Err(at) = self.module.capabilities.binary_search(&capability) {
                self.module.capabilities.insert(at, capability);
            }
        }
        Ok(())
    }

    pub(super) fn extension(&self, i: &Instruction) -> Checked {
        let name = self.string(i.operands(&self.module.words));
        match name.as_str() {
            "SPV_KHR_storage_buffer_storage_class"
            | "SPV_KHR_float_controls"
            | "SPV_KHR_integer_dot_product"
            | "SPV_KHR_no_integer_wrap_decoration"
            | "SPV_KHR_terminate_invocation"
            | "SPV_EXT_demote_to_helper_invocation"
            | "SPV_EXT_descriptor_indexing"
            | "SPV_KHR_8bit_storage"
            | "SPV_KHR_16bit_storage"
            | "SPV_KHR_vulkan_memory_model"
            | "SPV_KHR_variable_pointers"
            | "SPV_KHR_workgroup_memory_explicit_layout"
            | "SPV_KHR_non_semantic_info"
            | "SPV_GOOGLE_decorate_string"
            | "SPV_GOOGLE_hlsl_functionality1"
            | "SPV_GOOGLE_user_type" => Ok(()),
            _ if self.module.unmodeled => Ok(()),
            _ => self.unsupported(format!("OpExtension {name:?}")),
        }
    }

    pub(super) fn annotation(&mut self, i: &Instruction) -> Checked {
        let operands: SmallVec<[u32; 8]> = SmallVec::from_slice(i.operands(&self.module.words));
        match i.op {
            Op::DecorationGroup => Ok(()),
            Op::GroupDecorate | Op::GroupMemberDecorate => self.group(i, &operands),
            Op::MemberDecorate | Op::MemberDecorateString => self.decorate(i, operands[0], operands[1], &operands[2..]),
            _ => self.decorate(i, operands[0], WHOLE, &operands[1..]),
        }
    }

    fn decorate(&mut self, i: &Instruction, target: u32, member: u32, rest: &[u32]) -> Checked {
        use Decorate::*;
        self.check_defined(target)?;
        let (decoration, value) = (rest[0], rest.get(1).copied().unwrap_or(0));
        if let Some(decoration) = Decorate::from_u32(decoration) {
            self.check_decoration_version(i, decoration)?;
        }
        let modeled = match Decorate::from_u32(decoration) {
            Some(
                RelaxedPrecision | SpecId | Block | BufferBlock | RowMajor | ColMajor | ArrayStride | MatrixStride | BuiltIn
                | NoPerspective | Flat | Centroid | Sample | Invariant | Restrict | Aliased | Volatile | Coherent | NonWritable
                | NonReadable | Uniform | UniformId | Location | Component | Index | Binding | DescriptorSet | Offset | NoContraction
                | NoSignedWrap | NoUnsignedWrap | NonUniform,
            ) => true,
            // Information of source languages for people and tools, without meaning here.
            Some(UserSemantic | UserTypeGOOGLE | CounterBuffer) => return Ok(()),
            Some(FPRoundingMode) => value == self::FPRoundingMode::RTE as u32,
            _ => false,
        };
        if !modeled && self.module.unmodeled {
            return Ok(());
        }
        if !modeled {
            let text = self.text(OperandKind::Decoration, decoration);
            let value = match Decorate::from_u32(decoration) {
                Some(FPRoundingMode) => format!(" {}", self.text(OperandKind::FPRoundingMode, value)),
                _ => String::new(),
            };
            return self.unsupported(format!("{} {text}{value}", i.name()));
        }
        self.push(Decoration { target, member, decoration, value })
    }

    fn push(&mut self, decoration: Decoration) -> Checked {
        if self.module.decorations.len() >= MAX_DECORATIONS {
            return self.limit("decorations", MAX_DECORATIONS as u64);
        }
        self.module.decorations.push(decoration);
        Ok(())
    }

    fn group(&mut self, i: &Instruction, operands: &[u32]) -> Checked {
        let group = operands[0];
        if !self.module.instruction(group).is_some_and(|g| g.is(Op::DecorationGroup)) {
            return self.fail(Check::KindOfId, format!("{} names %{group}, which is no OpDecorationGroup", i.name()));
        }
        let step = if i.is(Op::GroupMemberDecorate) { 2 } else { 1 };
        for &target in operands[1..].iter().step_by(step) {
            self.check_defined(target)?;
        }
        self.groups.push(self.index as u32);
        Ok(())
    }

    /// Applies the decorations of groups to their targets (SPIR-V §3.3.2).
    fn apply_groups(&mut self) -> Checked {
        for at in std::mem::take(&mut self.groups) {
            let i = self.module.instructions[at as usize];
            let operands: SmallVec<[u32; 8]> = SmallVec::from_slice(i.operands(&self.module.words));
            let own: SmallVec<[Decoration; 8]> = self.module.decorations_of(operands[0]).into();
            let members = i.is(Op::GroupMemberDecorate);
            for target in operands[1..].chunks_exact(if members { 2 } else { 1 }) {
                let member = if members { target[1] } else { WHOLE };
                for &decoration in &own {
                    self.from_groups.push(Decoration { target: target[0], member, ..decoration });
                    if self.module.decorations.len() + self.from_groups.len() > MAX_DECORATIONS {
                        return self.limit("decorations", MAX_DECORATIONS as u64);
                    }
                }
            }
        }
        self.module.decorations.append(&mut self.from_groups);
        self.module.decorations.sort_unstable();
        Ok(())
    }

    /// Ends the annotations: sorts the decorations, and checks that those with a value have
    /// one value.
    pub(super) fn finish_annotations(&mut self) -> Checked {
        self.module.decorations.sort_unstable();
        if !self.groups.is_empty() {
            self.apply_groups()?;
        }
        let key = |d: &Decoration| (d.target, d.member, d.decoration);
        let twice = self.module.decorations.windows(2).find(|pair| key(&pair[0]) == key(&pair[1]) && pair[0].value != pair[1].value);
        if let Some(pair) = twice {
            let text = self.text(OperandKind::Decoration, pair[0].decoration);
            let what = format!("%{} has {text} {} and {text} {}; it may have one", pair[0].target, pair[0].value, pair[1].value);
            return self.fail(Check::Decoration, what);
        }
        Ok(())
    }
}

impl Module {
    /// The decorations of an id and of its members.
    pub fn decorations_of(&self, target: u32) -> &[Decoration] {
        let start = self.decorations.partition_point(|d| d.target < target);
        let end = start + self.decorations[start..].partition_point(|d| d.target == target);
        &self.decorations[start..end]
    }
}
