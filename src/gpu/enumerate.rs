//! Lists the adapters through wgpu, in a worker process.

use super::adapters::{AdapterRecord, ComputeLimits};
use super::physical;

/// The format of a colour attachment: four 32-bit floats.
pub(crate) const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

impl ComputeLimits {
    fn of(limits: &wgpu::Limits) -> ComputeLimits {
        ComputeLimits {
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_invocations_per_workgroup: limits.max_compute_invocations_per_workgroup,
            max_workgroup_size: [
                limits.max_compute_workgroup_size_x,
                limits.max_compute_workgroup_size_y,
                limits.max_compute_workgroup_size_z,
            ],
            max_workgroup_storage_size: limits.max_compute_workgroup_storage_size,
            max_descriptor_sets: limits.max_bind_groups,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            max_uniform_buffers: limits.max_uniform_buffers_per_shader_stage,
            max_uniform_buffer_binding_size: limits.max_uniform_buffer_binding_size,
            max_push_constants_size: limits.max_immediate_size,
            max_buffer_size: limits.max_buffer_size,
        }
    }
}

/// The adapters with their records. The instance is kept alive by the adapters.
pub(crate) fn enumerate() -> Vec<(AdapterRecord, wgpu::Adapter)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        // There is no validation layer, for any build and environment, because results must not
        // depend on either.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    adapters.into_iter().enumerate().map(|(index, adapter)| (record(index as u32, &adapter), adapter)).collect()
}

fn record(index: u32, adapter: &wgpu::Adapter) -> AdapterRecord {
    let info = adapter.get_info();
    let limits = adapter.limits();
    let physical = physical::query(adapter);
    let usages = adapter.get_texture_format_features(TARGET_FORMAT).allowed_usages;
    AdapterRecord {
        index,
        name: info.name,
        driver: [info.driver.as_str(), info.driver_info.as_str()].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" "),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        }
        .into(),
        backend: info.backend.to_string(),
        pci: info.device_pci_bus_id,
        vulkan: physical.vulkan.unwrap_or((0, 0)),
        passthrough: adapter.features().contains(wgpu::Features::PASSTHROUGH_SHADERS),
        float_targets: usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC),
        float_controls: physical.float_controls,
        max_color_attachments: limits.max_color_attachments,
        max_color_attachment_bytes_per_sample: limits.max_color_attachment_bytes_per_sample,
        max_texture_dimension_2d: limits.max_texture_dimension_2d,
        max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
        int8: physical.int8,
        cube_arrays: adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::CUBE_ARRAY_TEXTURES),
        sample_shading: adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::MULTISAMPLED_SHADING),
        terminate_invocation: physical.terminate_invocation,
        variable_pointers: physical.variable_pointers.map(|has| has && physical.terminate_invocation),
        subgroups: physical.subgroups,
        compute: ComputeLimits::of(&limits),
    }
}
