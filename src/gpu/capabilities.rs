//! The device features that a module needs, found in its words before a driver sees them.
//!
//! It is undefined behaviour to give a driver a module that needs a capability which the device did
//! not enable. The module may work, crash, or compute something else. Such a module is unchecked,
//! with the reason. This code reads only the framing and the first sections of the module. Errors
//! further on are left to the driver, whose crash only costs a worker process.

use super::adapters::AdapterRecord;
use super::float_controls::FloatControls;

const MAGIC: u32 = 0x0723_0203;
const OP_EXTENSION: u32 = 10;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;

/// The features behind SPIR-V capabilities. A device enables them if the adapter has them.
pub(crate) const OPTIONAL_FEATURES: wgpu::Features = wgpu::Features::SHADER_F64
    .union(wgpu::Features::SHADER_INT64)
    .union(wgpu::Features::SHADER_I16)
    .union(wgpu::Features::SHADER_F16)
    .union(INT64_ATOMICS)
    .union(wgpu::Features::CLIP_DISTANCES)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::SUBGROUP_BARRIER)
    .union(DESCRIPTOR_ARRAYS);

/// The features behind arrays of descriptors and their indices.
const DESCRIPTOR_ARRAYS: wgpu::Features = TEXTURE_ARRAYS
    .union(STORAGE_BUFFER_ARRAYS)
    .union(wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING)
    .union(wgpu::Features::STORAGE_TEXTURE_ARRAY_NON_UNIFORM_INDEXING);
/// The feature behind arrays of sampled images, and of samplers.
pub(super) const TEXTURE_ARRAYS: wgpu::Features = wgpu::Features::TEXTURE_BINDING_ARRAY;
/// The features behind arrays of storage buffers.
pub(super) const STORAGE_BUFFER_ARRAYS: wgpu::Features =
    wgpu::Features::BUFFER_BINDING_ARRAY.union(wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY);
/// The features behind arrays of storage images.
pub(super) const STORAGE_IMAGE_ARRAYS: wgpu::Features = TEXTURE_ARRAYS.union(wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY);

/// The features that images and draws need. A device enables them if the adapter has them.
pub(crate) const DRAWING_FEATURES: wgpu::Features = wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES
    .union(wgpu::Features::TEXTURE_FORMAT_16BIT_NORM)
    .union(wgpu::Features::FLOAT32_FILTERABLE)
    .union(wgpu::Features::ADDRESS_MODE_CLAMP_TO_BORDER)
    .union(wgpu::Features::DEPTH_CLIP_CONTROL)
    .union(wgpu::Features::VERTEX_WRITABLE_STORAGE);

const INT64_ATOMICS: wgpu::Features = wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS.union(wgpu::Features::SHADER_INT64_ATOMIC_MIN_MAX);

/// Features behind SPIR-V capabilities that wgpu calls experimental and offers only beside
/// passthrough. The Vulkan memory model comes with the cooperative matrices.
pub(crate) const EXPERIMENTAL_FEATURES: wgpu::Features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;

/// Whether the words can be given to a device with these features. The error names the capability,
/// extension, version or execution mode that is missing.
pub(crate) fn missing(words: &[u32], device: &AdapterRecord, features: wgpu::Features) -> Result<(), String> {
    let Some(&[magic, version, ..]) = words.first_chunk::<5>() else {
        return Err(format!("the module has {} words; a SPIR-V header alone has 5", words.len()));
    };
    if magic != MAGIC {
        return Err(format!("word 0 is {magic:#010x}, not the SPIR-V magic number {MAGIC:#010x}"));
    }
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    let newest = match device.vulkan {
        (1, 0) => 0,
        (1, 1) => 3,
        (1, 2) => 5,
        _ => 6,
    };
    if major != 1 || minor > newest {
        let (vk_major, vk_minor) = device.vulkan;
        return Err(format!("the module is SPIR-V {major}.{minor}; Vulkan {vk_major}.{vk_minor} takes up to 1.{newest}"));
    }
    let (mut at, mut subgroups) = (5, None);
    while at < words.len() {
        let (count, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        if count == 0 || count > words.len() - at {
            return Err(format!("word {at}: the instruction's length {count} is not within the module's {} words", words.len()));
        }
        let operands = &words[at + 1..at + count];
        match opcode {
            OP_CAPABILITY => {
                let Some(&capability) = operands.first() else {
                    return Err(format!("word {at}: OpCapability without an operand"));
                };
                capability_enabled(capability, device, features)?;
                subgroups = subgroups.or((61..=68).contains(&capability).then_some(capability));
            }
            OP_ENTRY_POINT => {
                if let (Some(capability), Some(&model)) = (subgroups, operands.first()) {
                    subgroups_in(model, capability, device)?;
                }
            }
            OP_EXTENSION => extension_enabled(&string(operands), device)?,
            OP_EXECUTION_MODE => execution_mode_enabled(operands, device)?,
            _ => {}
        }
        at += count;
    }
    Ok(())
}

/// Checks that a stage with this execution model supports subgroups.
fn subgroups_in(model: u32, capability: u32, device: &AdapterRecord) -> Result<(), String> {
    // VkShaderStageFlagBits of the stages in Vulkan 1.0.
    let stages = [(0, "vertex", 0x1), (4, "fragment", 0x10), (5, "compute", 0x20)];
    match stages.iter().find(|(of, ..)| *of == model) {
        Some((_, name, flag)) if device.subgroups.stages & flag == 0 => {
            Err(format!("the device has no subgroups in {name} stages, which {} asks for", capability_name(capability)))
        }
        _ => Ok(()),
    }
}

fn capability_enabled(capability: u32, device: &AdapterRecord, features: wgpu::Features) -> Result<(), String> {
    let feature = |name: &str, bit: wgpu::Features| {
        if features.contains(bit) { Ok(()) } else { Err(format!("the device does not enable the capability {name}")) }
    };
    match capability {
        // Every Vulkan device supports these: Matrix, Shader, Sampled1D, Image1D, SampledBuffer,
        // ImageBuffer, StorageImageExtendedFormats, ImageQuery, DerivativeControl.
        0 | 1 | 43 | 44 | 46 | 47 | 49 | 50 | 51 => Ok(()),
        9 => feature("Float16", wgpu::Features::SHADER_F16),
        10 => feature("Float64", wgpu::Features::SHADER_F64),
        11 => feature("Int64", wgpu::Features::SHADER_INT64),
        12 => feature("Int64Atomics", INT64_ATOMICS),
        22 => feature("Int16", wgpu::Features::SHADER_I16),
        32 => feature("ClipDistance", wgpu::Features::CLIP_DISTANCES),
        // wgpu enables this wherever the adapter has it, and attachments with several samples
        // need it.
        35 if device.sample_shading => Ok(()),
        34 | 45 if device.cube_arrays => Ok(()),
        29 => feature("SampledImageArrayDynamicIndexing", TEXTURE_ARRAYS),
        30 => feature("StorageBufferArrayDynamicIndexing", STORAGE_BUFFER_ARRAYS),
        31 => feature("StorageImageArrayDynamicIndexing", STORAGE_IMAGE_ARRAYS),
        // The capability alone has no effect, and those below imply it.
        5301 => Ok(()),
        5307 => {
            feature("SampledImageArrayNonUniformIndexing", wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING)
        }
        5308 => {
            feature("StorageBufferArrayNonUniformIndexing", wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING)
        }
        5309 => feature("StorageImageArrayNonUniformIndexing", wgpu::Features::STORAGE_TEXTURE_ARRAY_NON_UNIFORM_INDEXING),
        39 if device.int8 => Ok(()),
        // wgpu enables 16-bit storage with either 16-bit type.
        4433 | 4434 if features.intersects(wgpu::Features::SHADER_F16 | wgpu::Features::SHADER_I16) => Ok(()),
        5345 | 5346 if features.contains(EXPERIMENTAL_FEATURES) => Ok(()),
        61..=68 if device.subgroups.has(capability) => Ok(()),
        4441 if device.variable_pointers[0] => Ok(()),
        4442 if device.variable_pointers[1] => Ok(()),
        4464..=4468 => {
            let (name, has) = float_control(capability);
            match device.float_controls {
                None => Err(format!("the device's Vulkan version is below 1.2, and the capability {name} needs that")),
                Some(widths) if widths.iter().any(|w| has(*w)) => Ok(()),
                Some(_) => Err(format!("the device does not offer the capability {name} for any width")),
            }
        }
        other => Err(format!("the device does not enable the capability {}", capability_name(other))),
    }
}

/// The name of a capability that modules of this project and its neighbours use. Other capabilities
/// are named by their number.
fn capability_name(capability: u32) -> String {
    let name = match capability {
        2 => "Geometry",
        3 => "Tessellation",
        4 => "Addresses",
        5 => "Linkage",
        6 => "Kernel",
        25 => "ImageGatherExtended",
        27 => "StorageImageMultisample",
        33 => "CullDistance",
        28 => "UniformBufferArrayDynamicIndexing",
        34 => "ImageCubeArray",
        35 => "SampleRateShading",
        40 => "InputAttachment",
        42 => "MinLod",
        45 => "SampledCubeArray",
        55 => "StorageImageReadWithoutFormat",
        56 => "StorageImageWriteWithoutFormat",
        39 => "Int8",
        61 => "GroupNonUniform",
        62 => "GroupNonUniformVote",
        63 => "GroupNonUniformArithmetic",
        64 => "GroupNonUniformBallot",
        65 => "GroupNonUniformShuffle",
        66 => "GroupNonUniformShuffleRelative",
        67 => "GroupNonUniformClustered",
        68 => "GroupNonUniformQuad",
        4427 => "DrawParameters",
        4433 => "StorageBuffer16BitAccess",
        4434 => "UniformAndStorageBuffer16BitAccess",
        4435 => "StoragePushConstant16",
        4436 => "StorageInputOutput16",
        4441 => "VariablePointersStorageBuffer",
        4442 => "VariablePointers",
        4448 => "StorageBuffer8BitAccess",
        4449 => "UniformAndStorageBuffer8BitAccess",
        4450 => "StoragePushConstant8",
        5302 => "RuntimeDescriptorArray",
        5306 => "UniformBufferArrayNonUniformIndexing",
        5345 => "VulkanMemoryModel",
        5346 => "VulkanMemoryModelDeviceScope",
        5379 => "DemoteToHelperInvocation",
        6016 => "DotProductInputAll",
        6017 => "DotProductInput4x8Bit",
        6018 => "DotProductInput4x8BitPacked",
        6019 => "DotProduct",
        6029 => "FloatControls2",
        other => return format!("number {other}"),
    };
    format!("{name} ({capability})")
}

type HasControl = fn(FloatControls) -> bool;

/// The float control of a capability, whose number is that of its execution mode plus five.
fn float_control(capability: u32) -> (&'static str, HasControl) {
    match capability {
        4464 => ("DenormPreserve", |w| w.denorm_preserve),
        4465 => ("DenormFlushToZero", |w| w.denorm_flush_to_zero),
        4466 => ("SignedZeroInfNanPreserve", |w| w.signed_zero_inf_nan_preserve),
        4467 => ("RoundingModeRTE", |w| w.rounding_mode_rte),
        _ => ("RoundingModeRTZ", |w| w.rounding_mode_rtz),
    }
}

fn extension_enabled(name: &str, device: &AdapterRecord) -> Result<(), String> {
    // Extensions that became part of Vulkan need no device extension. 1.1 includes the storage
    // buffer class and 16-bit storage, 1.2 the float controls and the memory model, and 1.3
    // non-semantic instructions. Their other requirements are capabilities.
    let minimum = match name {
        // Part of Vulkan 1.3, with a feature that this project enables itself.
        "SPV_KHR_terminate_invocation" if device.terminate_invocation => return Ok(()),
        "SPV_KHR_storage_buffer_storage_class" | "SPV_KHR_16bit_storage" | "SPV_KHR_variable_pointers" => (1, 1),
        "SPV_KHR_float_controls" | "SPV_KHR_vulkan_memory_model" | "SPV_EXT_descriptor_indexing" => (1, 2),
        "SPV_KHR_non_semantic_info" => (1, 3),
        _ => return Err(format!("the device does not enable the extension {name}")),
    };
    if device.vulkan >= minimum {
        Ok(())
    } else {
        Err(format!(
            "the extension {name} needs Vulkan {}.{}; the device has {}.{}",
            minimum.0, minimum.1, device.vulkan.0, device.vulkan.1
        ))
    }
}

fn execution_mode_enabled(operands: &[u32], device: &AdapterRecord) -> Result<(), String> {
    let &[_, mode @ 4459..=4463, width] = operands else {
        return Ok(());
    };
    let (name, has) = float_control(mode + 5);
    let by_width = match width {
        16 => 0,
        32 => 1,
        64 => 2,
        _ => {
            return Err(format!("the execution mode {name} has the width {width}; 16, 32 and 64 exist"));
        }
    };
    match device.float_controls {
        Some(widths) if has(widths[by_width]) => Ok(()),
        _ => Err(format!("the device does not offer {name} for {width}-bit floats")),
    }
}

/// A SPIR-V string: bytes up to a zero, with the lowest byte of each word first.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::adapters::ComputeLimits;
    use super::*;

    fn device() -> AdapterRecord {
        let offered = FloatControls { rounding_mode_rte: true, signed_zero_inf_nan_preserve: true, ..FloatControls::default() };
        AdapterRecord {
            index: 0,
            name: "a".into(),
            driver: "b".into(),
            kind: "software".into(),
            backend: "vulkan".into(),
            pci: String::new(),
            vulkan: (1, 2),
            passthrough: true,
            float_targets: true,
            float_controls: Some([FloatControls::default(), offered, FloatControls::default()]),
            max_color_attachments: 8,
            max_color_attachment_bytes_per_sample: 128,
            max_texture_dimension_2d: 4096,
            max_storage_buffer_binding_size: 1 << 20,
            int8: false,
            sample_shading: false,
            cube_arrays: false,
            terminate_invocation: false,
            variable_pointers: [false; 2],
            subgroups: crate::gpu::Subgroups::default(),
            compute: ComputeLimits::default(),
        }
    }

    fn module(version: u32, instructions: &[&[u32]]) -> Vec<u32> {
        let mut words = vec![MAGIC, version, 0, 1, 0];
        for operands in instructions {
            words.push((operands.len() as u32) << 16 | operands[0]);
            words.extend(&operands[1..]);
        }
        words
    }

    fn extension(name: &[u8]) -> Vec<u32> {
        let mut bytes = name.to_vec();
        bytes.resize(name.len() / 4 * 4 + 4, 0);
        let chunks = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        std::iter::once(OP_EXTENSION).chain(chunks).collect()
    }

    #[test]
    fn what_is_offered_passes() {
        let controls = extension(b"SPV_KHR_float_controls");
        let words =
            module(0x0001_0300, &[&[17, 1], &[17, 4466], &[17, 4467], &controls, &[16, 1, 4461, 32], &[16, 1, 4462, 32], &[16, 1, 7]]);
        assert_eq!(missing(&words, &device(), wgpu::Features::empty()), Ok(()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let unknown = extension(b"SPV_AMD_gcn_shader");
        let cases: [(&str, Vec<u32>); 13] = [
            ("magic", vec![0; 5]),
            ("5", vec![MAGIC]),
            ("SPIR-V 1.6", module(0x0001_0600, &[])),
            ("DenormPreserve", module(0x0001_0300, &[&[17, 4464]])),
            ("RoundingModeRTE for 16-bit", module(0x0001_0300, &[&[16, 1, 4462, 16]])),
            ("width 8", module(0x0001_0300, &[&[16, 1, 4462, 8]])),
            ("Float64", module(0x0001_0300, &[&[17, 10]])),
            ("FloatControls2", module(0x0001_0300, &[&[17, 6029]])),
            ("SPV_AMD_gcn_shader", module(0x0001_0300, &[&unknown])),
            ("Int8", module(0x0001_0300, &[&[17, 39]])),
            ("StorageBuffer16BitAccess", module(0x0001_0300, &[&[17, 4433]])),
            ("Int64Atomics", module(0x0001_0300, &[&[17, 12]])),
            ("word 5", vec![MAGIC, 0x0001_0000, 0, 1, 0, 0x0009_0011]),
        ];
        for (expected, words) in cases {
            let error = missing(&words, &device(), wgpu::Features::empty()).expect_err(expected);
            assert!(error.contains(expected), "{error:?} lacks {expected:?}");
        }
        let f64 = module(0x0001_0300, &[&[17, 10]]);
        assert_eq!(missing(&f64, &device(), wgpu::Features::SHADER_F64), Ok(()));
        let halves = module(0x0001_0300, &[&[17, 9], &[17, 4433]]);
        assert_eq!(missing(&halves, &device(), wgpu::Features::SHADER_F16), Ok(()));
        let ends = module(0x0001_0300, &[&extension(b"SPV_KHR_terminate_invocation")]);
        let error = missing(&ends, &device(), wgpu::Features::empty()).expect_err("it is not enabled");
        assert!(error.contains("does not enable the extension SPV_KHR_terminate_invocation"), "{error}");
        assert_eq!(missing(&ends, &AdapterRecord { terminate_invocation: true, ..device() }, wgpu::Features::empty()), Ok(()));
        let bytes = module(0x0001_0300, &[&[17, 39]]);
        assert_eq!(missing(&bytes, &AdapterRecord { int8: true, ..device() }, wgpu::Features::empty()), Ok(()));
        let votes = module(0x0001_0300, &[&[17, 62]]);
        let error = missing(&votes, &device(), wgpu::Features::empty()).expect_err("it has none");
        assert_eq!(error, "the device does not enable the capability GroupNonUniformVote (62)");
        let has = |operations| AdapterRecord {
            subgroups: crate::gpu::Subgroups { min_size: 8, max_size: 8, operations, stages: 0x20 },
            ..device()
        };
        assert_eq!(missing(&votes, &has(3), wgpu::Features::empty()), Ok(()));
        assert!(missing(&votes, &has(1), wgpu::Features::empty()).is_err());
    }
}
