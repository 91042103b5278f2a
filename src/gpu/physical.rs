//! Properties of a physical device that wgpu does not report: its Vulkan version, its float
//! controls, and features that wgpu has no name for.
//!
//! The only unsafe code of the crate is here and in the passthrough of modules (`open.rs`), because
//! wgpu has no safe interface for them.

use super::adapters::Subgroups;
use super::float_controls::{FloatControls, FloatControlsByWidth};

/// Vulkan's properties of a physical device.
#[derive(Default)]
pub(crate) struct Physical {
    /// The version that device and loader share, as (major, minor). None for other backends.
    pub(crate) vulkan: Option<(u32, u32)>,
    /// None if the version is below 1.2. From 1.2 on, the query and the execution modes are part of
    /// Vulkan. Older devices would need an extension, which wgpu does not enable.
    pub(crate) float_controls: Option<FloatControlsByWidth>,
    /// `shaderInt8`, which wgpu enables if it is supported. False if the version is below 1.2.
    pub(crate) int8: bool,
    /// `shaderTerminateInvocation`, which wgpu never enables and [`open`] does. False if the
    /// version is below 1.3.
    pub(crate) terminate_invocation: bool,
    /// Whether pointers into storage buffers, and also into Workgroup, may be selected at run time.
    /// wgpu never enables these features, and [`open`] does.
    pub(crate) variable_pointers: [bool; 2],
    /// The subgroups. All 0 if the version is below 1.2. Below 1.3, both sizes are that of
    /// pipelines that request no size.
    pub(crate) subgroups: Subgroups,
}

/// Queries a Vulkan adapter.
#[allow(unsafe_code)]
pub(crate) fn query(adapter: &wgpu::Adapter) -> Physical {
    // SAFETY: nothing is destroyed or kept; the guard outlives every use of what it gives.
    let Some(vulkan) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else {
        return Physical::default();
    };
    let shared = vulkan.shared_instance();
    let device = vulkan.raw_physical_device();
    let version = vulkan.physical_device_capabilities().properties().api_version.min(shared.instance_api_version());
    let pair = Some((ash::vk::api_version_major(version), ash::vk::api_version_minor(version)));
    if version < ash::vk::API_VERSION_1_2 {
        return Physical { vulkan: pair, ..Physical::default() };
    }
    let mut floats = ash::vk::PhysicalDeviceFloatControlsProperties::default();
    let mut subgroup = ash::vk::PhysicalDeviceSubgroupProperties::default();
    let mut sizes = ash::vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let has_1_3 = version >= ash::vk::API_VERSION_1_3;
    let mut properties = ash::vk::PhysicalDeviceProperties2::default().push_next(&mut floats).push_next(&mut subgroup);
    if has_1_3 {
        properties = properties.push_next(&mut sizes);
    }
    // SAFETY: instance and device are both of version 1.2 or later, so the command exists (1.1) and
    // the structures may be chained (1.1, 1.2, and the last from 1.3 on only); all of them live
    // until the call returns.
    unsafe { shared.raw_instance().get_physical_device_properties2(device, &mut properties) };
    let mut small = ash::vk::PhysicalDeviceShaderFloat16Int8Features::default();
    let mut terminate = ash::vk::PhysicalDeviceShaderTerminateInvocationFeatures::default();
    let mut pointers = ash::vk::PhysicalDeviceVariablePointersFeatures::default();
    let mut features = ash::vk::PhysicalDeviceFeatures2::default().push_next(&mut small).push_next(&mut pointers);
    if has_1_3 {
        features = features.push_next(&mut terminate);
    }
    // SAFETY: as above, with the features of the same versions; the last is chained
    // from 1.3 on only.
    unsafe { shared.raw_instance().get_physical_device_features2(device, &mut features) };
    let half = [
        floats.shader_signed_zero_inf_nan_preserve_float16,
        floats.shader_denorm_preserve_float16,
        floats.shader_denorm_flush_to_zero_float16,
        floats.shader_rounding_mode_rte_float16,
        floats.shader_rounding_mode_rtz_float16,
    ];
    let single = [
        floats.shader_signed_zero_inf_nan_preserve_float32,
        floats.shader_denorm_preserve_float32,
        floats.shader_denorm_flush_to_zero_float32,
        floats.shader_rounding_mode_rte_float32,
        floats.shader_rounding_mode_rtz_float32,
    ];
    let double = [
        floats.shader_signed_zero_inf_nan_preserve_float64,
        floats.shader_denorm_preserve_float64,
        floats.shader_denorm_flush_to_zero_float64,
        floats.shader_rounding_mode_rte_float64,
        floats.shader_rounding_mode_rtz_float64,
    ];
    let (min_size, max_size) = match has_1_3 {
        true => (sizes.min_subgroup_size, sizes.max_subgroup_size),
        false => (subgroup.subgroup_size, subgroup.subgroup_size),
    };
    let (operations, stages) = (subgroup.supported_operations.as_raw(), subgroup.supported_stages.as_raw());
    Physical {
        subgroups: Subgroups { min_size, max_size, operations, stages },
        vulkan: pair,
        float_controls: Some([half, single, double].map(FloatControls::new)),
        int8: small.shader_int8 != 0,
        terminate_invocation: has_1_3 && terminate.shader_terminate_invocation != 0,
        variable_pointers: [pointers.variable_pointers_storage_buffer, pointers.variable_pointers].map(|has| has_1_3 && has != 0),
    }
}

/// Opens a device as wgpu does, with `shaderTerminateInvocation` and the features of variable
/// pointers in addition to `descriptor`. The adapter supports them.
#[allow(unsafe_code)]
pub(crate) fn open(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    [storage_buffer, all]: [bool; 2],
) -> Result<(wgpu::Device, wgpu::Queue), Box<dyn std::error::Error>> {
    let mut terminate = ash::vk::PhysicalDeviceShaderTerminateInvocationFeatures::default().shader_terminate_invocation(true);
    let mut pointers = ash::vk::PhysicalDeviceVariablePointersFeatures::default();
    pointers = pointers.variable_pointers_storage_buffer(storage_buffer).variable_pointers(all);
    let opened = {
        // SAFETY: nothing is destroyed or kept; the guard outlives every use of what it gives.
        let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }.ok_or("the adapter is not of Vulkan")?;
        let (terminate, pointers) = (&mut terminate, &mut pointers);
        // SAFETY: features and limits are those that wgpu offers for this adapter. The callback
        // turns features on that the adapter was seen to have, which are part of Vulkan 1.3, by
        // structures that wgpu does not chain itself and that live until the call returns.
        unsafe {
            vulkan.open_with_callback(
                descriptor.required_features,
                &descriptor.required_limits,
                &descriptor.memory_hints,
                Some(Box::new(move |args| *args.create_info = std::mem::take(args.create_info).push_next(terminate).push_next(pointers))),
            )
        }?
    };
    // SAFETY: the device was just made of this adapter, with the features and
    // limits of the descriptor.
    Ok(unsafe { adapter.create_device_from_hal(opened, descriptor) }?)
}
