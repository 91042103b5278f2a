//! `smallstep adapters`: the devices of this machine and their properties.

use super::exit::{self, Ended};
use clap::Args;
use serde_json::{Value, json};
use smallstep::gpu::{self, AdapterRecord, FloatControls};

/// List the Vulkan adapters of this machine
#[derive(Args)]
pub(crate) struct Adapters {
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

impl Adapters {
    pub(crate) fn run(self) -> Ended {
        let records = match gpu::list(&gpu::Options::default()) {
            Ok(records) => records,
            // In a build without devices, nothing has failed.
            Err(e) if cfg!(not(feature = "device")) => return super::input::fail(exit::UNCHECKED, &e.to_string()),
            Err(e) => return super::input::fail(exit::FAILED, &e.to_string()),
        };
        for record in &records {
            if self.json {
                say!("{}", as_json(record));
            } else {
                print(record);
            }
        }
        let code = if records.is_empty() { exit::UNCHECKED } else { exit::DONE };
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "summary", "summary": "adapters", "count": records.len(), "exit": code}));
        }
        if records.is_empty() {
            tell!("{}", gpu::NO_ADAPTER);
        }
        Ok(code)
    }
}

fn print(record: &AdapterRecord) {
    let (major, minor) = record.vulkan;
    say!("{}  {}", record.index, record.name);
    say!("   driver       {}", record.driver);
    say!(
        "   type         {}, {} {major}.{minor}{}",
        record.kind,
        record.backend,
        if record.pci.is_empty() { String::new() } else { format!(", PCI {}", record.pci) }
    );
    say!("   passthrough  {}", if record.passthrough { "offered" } else { "not offered" });
    say!(
        "   targets      {}, {} bytes per sample, up to {} pixels square",
        record.max_color_attachments,
        record.max_color_attachment_bytes_per_sample,
        record.max_texture_dimension_2d
    );
    let compute = &record.compute;
    let [x, y, z] = compute.max_workgroup_size;
    say!(
        "   compute      {} invocations in a workgroup, {x} by {y} by {z}; {} bytes of workgroup memory; {} workgroups in a dimension",
        compute.max_invocations_per_workgroup,
        compute.max_workgroup_storage_size,
        compute.max_workgroups_per_dimension
    );
    say!(
        "   buffers      {} descriptor sets, {} storage buffers of {} bytes, {} uniform buffers of {} bytes, {} bytes of push constants",
        compute.max_descriptor_sets,
        compute.max_storage_buffers,
        record.max_storage_buffer_binding_size,
        compute.max_uniform_buffers,
        compute.max_uniform_buffer_binding_size,
        compute.max_push_constants_size
    );
    match &record.float_controls {
        None => say!("   floats       not known: Vulkan is below 1.2"),
        Some([_, single, _]) => say!("   floats       32 bit: {}", controls(single)),
    }
    if !record.float_targets {
        say!("   unusable     it cannot draw to 32-bit float targets");
    }
}

fn flags(controls: &FloatControls) -> [(&'static str, bool); 5] {
    [
        ("RoundingModeRTE", controls.rounding_mode_rte),
        ("RoundingModeRTZ", controls.rounding_mode_rtz),
        ("SignedZeroInfNanPreserve", controls.signed_zero_inf_nan_preserve),
        ("DenormPreserve", controls.denorm_preserve),
        ("DenormFlushToZero", controls.denorm_flush_to_zero),
    ]
}

fn controls(controls: &FloatControls) -> String {
    let offered: Vec<&str> = flags(controls).into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    if offered.is_empty() { "none offered".into() } else { offered.join(", ") }
}

pub(crate) fn as_json(record: &AdapterRecord) -> Value {
    let width =
        |controls: &FloatControls| Value::Object(flags(controls).into_iter().map(|(name, on)| (name.to_owned(), on.into())).collect());
    json!({
        "schema": 1,
        "kind": "adapter",
        "index": record.index,
        "name": record.name,
        "driver": record.driver,
        "type": record.kind,
        "backend": record.backend,
        "pci": record.pci,
        "vulkan": format!("{}.{}", record.vulkan.0, record.vulkan.1),
        "passthrough": record.passthrough,
        "float_targets": record.float_targets,
        "float_controls": record.float_controls.as_ref().map(|[half, single, double]| {
            json!({ "16": width(half), "32": width(single), "64": width(double) })
        }),
        "max_color_attachments": record.max_color_attachments,
        "max_color_attachment_bytes_per_sample": record.max_color_attachment_bytes_per_sample,
        "max_texture_dimension_2d": record.max_texture_dimension_2d,
        "max_storage_buffer_binding_size": record.max_storage_buffer_binding_size,
        "int8": record.int8,
        "sample_shading": record.sample_shading,
        "cube_arrays": record.cube_arrays,
        "terminate_invocation": record.terminate_invocation,
        "variable_pointers": record.variable_pointers,
        "subgroups": {
            "min_size": record.subgroups.min_size,
            "max_size": record.subgroups.max_size,
            "operations": record.subgroups.operations,
            "stages": record.subgroups.stages,
        },
        "compute": {
            "max_workgroups_per_dimension": record.compute.max_workgroups_per_dimension,
            "max_invocations_per_workgroup": record.compute.max_invocations_per_workgroup,
            "max_workgroup_size": record.compute.max_workgroup_size,
            "max_workgroup_storage_size": record.compute.max_workgroup_storage_size,
            "max_descriptor_sets": record.compute.max_descriptor_sets,
            "max_storage_buffers": record.compute.max_storage_buffers,
            "max_uniform_buffers": record.compute.max_uniform_buffers,
            "max_uniform_buffer_binding_size": record.compute.max_uniform_buffer_binding_size,
            "max_push_constants_size": record.compute.max_push_constants_size,
            "max_buffer_size": record.compute.max_buffer_size,
        },
    })
}
