//! What a device promises about 32-bit (and 16, 64-bit) float arithmetic: `VkPhysicalDeviceFloatControlsProperties`.
//!
//! The only unsafe code of the crate is here and in the passthrough call of `draw.rs`: wgpu has no safe way to ask for these.

/// The float controls of one width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// `SignedZeroInfNanPreserve` may be declared.
    pub signed_zero_inf_nan_preserve: bool,
    /// `DenormPreserve` may be declared.
    pub denorm_preserve: bool,
    /// `DenormFlushToZero` may be declared.
    pub denorm_flush_to_zero: bool,
    /// `RoundingModeRTE` (to nearest, ties to even) may be declared.
    pub rounding_mode_rte: bool,
    /// `RoundingModeRTZ` (towards zero) may be declared.
    pub rounding_mode_rtz: bool,
}

impl FloatControls {
    pub(crate) fn bits(self) -> u32 {
        u32::from(self.signed_zero_inf_nan_preserve)
            | u32::from(self.denorm_preserve) << 1
            | u32::from(self.denorm_flush_to_zero) << 2
            | u32::from(self.rounding_mode_rte) << 3
            | u32::from(self.rounding_mode_rtz) << 4
    }

    pub(crate) fn from_bits(bits: u32) -> FloatControls {
        FloatControls {
            signed_zero_inf_nan_preserve: bits & 1 != 0,
            denorm_preserve: bits & 2 != 0,
            denorm_flush_to_zero: bits & 4 != 0,
            rounding_mode_rte: bits & 8 != 0,
            rounding_mode_rtz: bits & 16 != 0,
        }
    }
}

/// The float controls of the widths 16, 32 and 64, in this order.
pub type FloatControlsByWidth = [FloatControls; 3];

/// Asks a Vulkan adapter. None where its version is below 1.2, in which the query and the execution modes became part of Vulkan itself: wgpu does not
/// enable the extension that older devices would need.
///
/// The second part of the answer is the Vulkan version of the device as (major, minor), for which SPIR-V versions it takes; None for other backends.
#[allow(unsafe_code)]
pub(crate) fn query(adapter: &wgpu::Adapter) -> (Option<FloatControlsByWidth>, Option<(u32, u32)>) {
    // SAFETY: nothing is destroyed or kept; the guard outlives every use of what it gives.
    let Some(vulkan) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else {
        return (None, None);
    };
    let shared = vulkan.shared_instance();
    let physical = vulkan.raw_physical_device();
    let version = vulkan.physical_device_capabilities().properties().api_version.min(shared.instance_api_version());
    let pair = Some((ash::vk::api_version_major(version), ash::vk::api_version_minor(version)));
    if version < ash::vk::API_VERSION_1_2 {
        return (None, pair);
    }
    let mut controls = ash::vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = ash::vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
    // SAFETY: instance and device are both of version 1.2 or later, so the command exists (1.1) and the structure may be chained (1.2); both
    // structures live until the call returns.
    unsafe { shared.raw_instance().get_physical_device_properties2(physical, &mut properties) };
    let on = |b: ash::vk::Bool32| b != 0;
    let widths = [
        FloatControls {
            signed_zero_inf_nan_preserve: on(controls.shader_signed_zero_inf_nan_preserve_float16),
            denorm_preserve: on(controls.shader_denorm_preserve_float16),
            denorm_flush_to_zero: on(controls.shader_denorm_flush_to_zero_float16),
            rounding_mode_rte: on(controls.shader_rounding_mode_rte_float16),
            rounding_mode_rtz: on(controls.shader_rounding_mode_rtz_float16),
        },
        FloatControls {
            signed_zero_inf_nan_preserve: on(controls.shader_signed_zero_inf_nan_preserve_float32),
            denorm_preserve: on(controls.shader_denorm_preserve_float32),
            denorm_flush_to_zero: on(controls.shader_denorm_flush_to_zero_float32),
            rounding_mode_rte: on(controls.shader_rounding_mode_rte_float32),
            rounding_mode_rtz: on(controls.shader_rounding_mode_rtz_float32),
        },
        FloatControls {
            signed_zero_inf_nan_preserve: on(controls.shader_signed_zero_inf_nan_preserve_float64),
            denorm_preserve: on(controls.shader_denorm_preserve_float64),
            denorm_flush_to_zero: on(controls.shader_denorm_flush_to_zero_float64),
            rounding_mode_rte: on(controls.shader_rounding_mode_rte_float64),
            rounding_mode_rtz: on(controls.shader_rounding_mode_rtz_float64),
        },
    ];
    (Some(widths), pair)
}
