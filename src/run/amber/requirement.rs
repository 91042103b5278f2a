//! A script's requirements (DEVICE_FEATURE and similar), compared with the known properties of
//! a device.
//!
//! Some features correspond to a SPIR-V capability or extension, or to a state of a draw. They need
//! no answer here. A module that uses them declares the capability, and a device that has not
//! enabled it rejects the module, or the draw, by that name. Features that became part of a Vulkan
//! version need that version. Nothing is known of other features, so a script that requires one is
//! unchecked, with the name of the feature. An interpreter has the features that it models, and
//! reports the others when it loads a module.

use crate::amber::{Requirement, RequirementKind, Script};
use crate::gpu::{AdapterRecord, FloatControls};

/// How to find out whether a device has a feature.
#[derive(Clone, Copy)]
enum Answer {
    /// A device without it rejects the module or draw that uses it, by name.
    Capability,
    /// Every device has it.
    Always,
    /// Every device with this version of Vulkan has it.
    Since(u32, u32),
    /// A float control, for one width (0: 16, 1: 32, 2: 64 bits).
    Control(fn(&FloatControls) -> bool, usize),
}

use Answer::{Always, Capability, Control, Since};

const FEATURES: &[(&str, Answer)] = &[
    ("shaderFloat64", Capability),
    ("shaderInt64", Capability),
    ("shaderInt16", Capability),
    ("shaderFloat16", Capability),
    ("shaderInt8", Capability),
    ("storageBuffer16BitAccess", Capability),
    ("uniformAndStorageBuffer16BitAccess", Capability),
    ("storagePushConstant16", Capability),
    ("storageInputOutput16", Capability),
    ("storageBuffer8BitAccess", Capability),
    ("uniformAndStorageBuffer8BitAccess", Capability),
    ("storagePushConstant8", Capability),
    ("shaderBufferInt64Atomics", Capability),
    ("shaderSharedInt64Atomics", Capability),
    ("variablePointers", Capability),
    ("variablePointersStorageBuffer", Capability),
    ("vulkanMemoryModel", Capability),
    ("vulkanMemoryModelDeviceScope", Capability),
    ("shaderDemoteToHelperInvocation", Capability),
    ("shaderTerminateInvocation", Capability),
    ("depthBiasClamp", Capability),
    ("depthBounds", Capability),
    ("robustBufferAccess", Always),
];

const EXTENSIONS: &[(&str, Answer)] = &[
    ("VK_KHR_storage_buffer_storage_class", Since(1, 1)),
    ("VK_KHR_16bit_storage", Since(1, 1)),
    ("VK_KHR_variable_pointers", Since(1, 1)),
    ("VK_KHR_maintenance1", Since(1, 1)),
    ("VK_KHR_relaxed_block_layout", Since(1, 1)),
    ("VK_KHR_8bit_storage", Since(1, 2)),
    ("VK_KHR_shader_float16_int8", Since(1, 2)),
    ("VK_KHR_shader_float_controls", Since(1, 2)),
    ("VK_KHR_shader_atomic_int64", Since(1, 2)),
    ("VK_KHR_vulkan_memory_model", Since(1, 2)),
    ("VK_KHR_spirv_1_4", Since(1, 2)),
    ("VK_KHR_uniform_buffer_standard_layout", Since(1, 2)),
    ("VK_KHR_shader_terminate_invocation", Since(1, 3)),
    ("VK_EXT_shader_demote_to_helper_invocation", Since(1, 3)),
    ("VK_KHR_shader_non_semantic_info", Since(1, 3)),
    ("VK_KHR_get_physical_device_properties2", Since(1, 1)),
];

const PROPERTIES: &[(&str, Answer)] = &[
    ("shaderDenormPreserveFloat16", Control(|c| c.denorm_preserve, 0)),
    ("shaderDenormPreserveFloat32", Control(|c| c.denorm_preserve, 1)),
    ("shaderDenormPreserveFloat64", Control(|c| c.denorm_preserve, 2)),
    ("shaderDenormFlushToZeroFloat16", Control(|c| c.denorm_flush_to_zero, 0)),
    ("shaderDenormFlushToZeroFloat32", Control(|c| c.denorm_flush_to_zero, 1)),
    ("shaderDenormFlushToZeroFloat64", Control(|c| c.denorm_flush_to_zero, 2)),
    ("shaderSignedZeroInfNanPreserveFloat16", Control(|c| c.signed_zero_inf_nan_preserve, 0)),
    ("shaderSignedZeroInfNanPreserveFloat32", Control(|c| c.signed_zero_inf_nan_preserve, 1)),
    ("shaderSignedZeroInfNanPreserveFloat64", Control(|c| c.signed_zero_inf_nan_preserve, 2)),
    ("shaderRoundingModeRTEFloat16", Control(|c| c.rounding_mode_rte, 0)),
    ("shaderRoundingModeRTEFloat32", Control(|c| c.rounding_mode_rte, 1)),
    ("shaderRoundingModeRTEFloat64", Control(|c| c.rounding_mode_rte, 2)),
    ("shaderRoundingModeRTZFloat16", Control(|c| c.rounding_mode_rtz, 0)),
    ("shaderRoundingModeRTZFloat32", Control(|c| c.rounding_mode_rtz, 1)),
    ("shaderRoundingModeRTZFloat64", Control(|c| c.rounding_mode_rtz, 2)),
];

/// The first requirement that a device does not meet, or may not meet, as a sentence. `None` if it
/// meets all.
pub fn lacking(script: &Script, device: &AdapterRecord) -> Option<String> {
    script.requirements.iter().find_map(|requirement| lacks(requirement, device))
}

fn lacks(requirement: &Requirement, device: &AdapterRecord) -> Option<String> {
    let (table, what) = match requirement.kind {
        RequirementKind::Feature => (FEATURES, "feature"),
        RequirementKind::Property => (PROPERTIES, "property"),
        RequirementKind::DeviceExtension => (EXTENSIONS, "extension"),
        RequirementKind::InstanceExtension => (EXTENSIONS, "instance extension"),
    };
    let (line, name) = (requirement.line, &requirement.name);
    // For `Float16Int8Features.shaderFloat16`, the structure of the member does not matter.
    let member = name.rsplit_once('.').map_or(name.as_str(), |(_, member)| member);
    let lacks = |why: String| Some(format!("line {line}: the {what} {name}: {why}"));
    match table.iter().find(|(known, _)| *known == member).map(|(_, answer)| *answer) {
        None => lacks("whether the device has it is not known here".into()),
        Some(Capability | Always) => None,
        Some(Since(major, minor)) if device.vulkan >= (major, minor) => None,
        Some(Since(major, minor)) => {
            let (has_major, has_minor) = device.vulkan;
            lacks(format!("it came with Vulkan {major}.{minor}; the device has {has_major}.{has_minor}"))
        }
        Some(Control(has, width)) => match &device.float_controls {
            Some(controls) if has(&controls[width]) => None,
            Some(_) => lacks("the device does not have it".into()),
            None => lacks("the device's Vulkan version is below 1.2".into()),
        },
    }
}
