//! The adapters of a machine, their properties, and the selection of one.

use std::fmt;
use std::str::FromStr;

use super::Options;
use super::child::{self, Launch};
use super::float_controls::FloatControlsByWidth;

/// An adapter, as results and listings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterRecord {
    /// The index in the list of this machine's Vulkan adapters, from 0.
    pub index: u32,
    /// The device's name, such as "NVIDIA H200". Several adapters may have the same name.
    pub name: String,
    /// The driver and its version, such as "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)".
    pub driver: String,
    /// "discrete", "integrated", "virtual", "software" or "other".
    pub kind: String,
    /// The programming interface, such as "vulkan".
    pub backend: String,
    /// The PCI address, which distinguishes devices of one name, or "".
    pub pci: String,
    /// The Vulkan version that the device and the loader share, as (major, minor). (0, 0) if it is
    /// not known.
    pub vulkan: (u32, u32),
    /// Whether wgpu can pass SPIR-V to the driver unchanged.
    pub passthrough: bool,
    /// Whether Rgba32Float can be a colour attachment and be copied from.
    pub float_targets: bool,
    /// The float controls that the device supports, for the widths 16, 32 and 64. None if they
    /// cannot be queried (Vulkan below 1.2).
    pub float_controls: Option<FloatControlsByWidth>,
    /// `maxColorAttachments`, up to the number that wgpu uses.
    pub max_color_attachments: u32,
    /// The most bytes of all colour attachments together for one pixel. An output takes 16.
    pub max_color_attachment_bytes_per_sample: u32,
    /// The greatest width and height of a grid.
    pub max_texture_dimension_2d: u32,
    /// The greatest size of the constants or of a storage buffer, in bytes.
    pub max_storage_buffer_binding_size: u64,
    /// Whether the capability Int8 is enabled.
    pub int8: bool,
    /// Whether fragments can be shaded once for each sample (sample shading).
    pub sample_shading: bool,
    /// Whether cube images can have layers.
    pub cube_arrays: bool,
    /// Whether the extension SPV_KHR_terminate_invocation is enabled for passthrough.
    pub terminate_invocation: bool,
    /// Whether the capabilities VariablePointersStorageBuffer and VariablePointers are enabled
    /// for passthrough.
    pub variable_pointers: [bool; 2],
    /// The properties of its subgroups.
    pub subgroups: Subgroups,
    /// The limits of compute programs.
    pub compute: ComputeLimits,
}

/// The subgroups of a device. All fields are 0 if they cannot be queried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subgroups {
    /// The least number of invocations in a subgroup.
    pub min_size: u32,
    /// The greatest number of invocations in a subgroup.
    pub max_size: u32,
    /// `VkSubgroupFeatureFlags`: the supported group operations.
    pub operations: u32,
    /// `VkShaderStageFlags`: the stages that support subgroups.
    pub stages: u32,
}

impl Subgroups {
    /// The size of all subgroups, if they have only one size.
    pub fn size(self) -> Option<u32> {
        Some(self.max_size).filter(|&size| size == self.min_size && size > 0)
    }

    /// Whether it supports the group instructions of a SPIR-V capability. The capabilities from
    /// GroupNonUniform (61) on are numbered as the bits of the flags.
    pub fn has(self, capability: u32) -> bool {
        capability.checked_sub(61).is_some_and(|bit| bit < 8 && self.operations & 1 << bit != 0)
    }
}

/// The limits of a compute program on a device, besides the size of its storage buffers. These are
/// the adapter's own limits, up to the values that wgpu uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComputeLimits {
    /// The most workgroups in each of x, y and z.
    pub max_workgroups_per_dimension: u32,
    /// The most invocations of a workgroup.
    pub max_invocations_per_workgroup: u32,
    /// The most invocations of a workgroup in x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// The most bytes of workgroup memory.
    pub max_workgroup_storage_size: u32,
    /// The most descriptor sets.
    pub max_descriptor_sets: u32,
    /// The most storage buffers of a program.
    pub max_storage_buffers: u32,
    /// The most uniform buffers of a program.
    pub max_uniform_buffers: u32,
    /// The most bytes of a uniform buffer.
    pub max_uniform_buffer_binding_size: u64,
    /// The most bytes of push constants.
    pub max_push_constants_size: u32,
    /// The most bytes of all buffers together. They are uploaded and read back as one buffer.
    pub max_buffer_size: u64,
}

impl fmt::Display for AdapterRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.driver)
    }
}

/// The selection of an adapter: the first, one by its index, or one by its name.
///
/// As text, a number is an index. `NAME` is any part of the name, in upper or lower case. `NAME#2`
/// is the third match, counted from 0. `auto` and the empty text select the first adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The first adapter.
    #[default]
    First,
    /// The adapter with this index in the list.
    Index(u32),
    /// An adapter with this part in its name, in upper or lower case. If several match, `nth`
    /// selects one. Without `nth`, the matches must be the same device model under the same driver,
    /// and the first is taken.
    Name {
        /// The part of the name.
        part: String,
        /// The index of the match, from 0.
        nth: Option<u32>,
    },
}

impl FromStr for Selection {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Selection, Self::Err> {
        let text = text.trim();
        if text.is_empty() || text == "auto" {
            return Ok(Selection::First);
        }
        if let Ok(index) = text.parse() {
            return Ok(Selection::Index(index));
        }
        if let Some((part, nth)) = text.rsplit_once('#')
            && let Ok(nth) = nth.parse()
        {
            return Ok(Selection::Name { part: part.into(), nth: Some(nth) });
        }
        Ok(Selection::Name { part: text.into(), nth: None })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::First => Ok(()),
            Selection::Index(index) => write!(f, "{index}"),
            Selection::Name { part, nth: None } => f.write_str(part),
            Selection::Name { part, nth: Some(nth) } => write!(f, "{part}#{nth}"),
        }
    }
}

/// The reason why no device is available, in one or two sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoDevice(pub String);

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDevice {}

/// The message if there is no Vulkan adapter or no Vulkan loader. A program cannot tell
/// these apart.
pub const NO_ADAPTER: &str = "no Vulkan adapter was found (or no Vulkan loader). A software one will do: on Debian and its kin, \
`apt-get install mesa-vulkan-drivers`";

/// The message if this program was built without devices.
pub const WITHOUT_DEVICES: &str = "this smallstep was built without devices; `cargo build` with the feature `device` gives it some";

impl Selection {
    /// The index in `records` of the selected adapter.
    pub fn choose(&self, records: &[AdapterRecord]) -> Result<usize, NoDevice> {
        if records.is_empty() {
            return Err(NoDevice(NO_ADAPTER.into()));
        }
        let names = |among: &[usize]| among.iter().map(|&i| format!("{} {}", records[i].index, records[i])).collect::<Vec<_>>().join(", ");
        let all: Vec<usize> = (0..records.len()).collect();
        match self {
            Selection::First => Ok(0),
            Selection::Index(index) => all
                .iter()
                .copied()
                .find(|&i| records[i].index == *index)
                .ok_or_else(|| NoDevice(format!("there is no adapter {index}; there is {}", names(&all)))),
            Selection::Name { part, nth } => {
                let part = part.to_lowercase();
                let matches: Vec<usize> = all.iter().copied().filter(|&i| records[i].name.to_lowercase().contains(&part)).collect();
                let Some(&first) = matches.first() else {
                    return Err(NoDevice(format!("no adapter's name contains \"{part}\"; there is {}", names(&all))));
                };
                if let Some(nth) = nth {
                    return matches.get(*nth as usize).copied().ok_or_else(|| {
                        NoDevice(format!("\"{self}\" asks for match {nth} counted from 0; the matches are {}", names(&matches)))
                    });
                }
                let same = |i: &usize| records[*i].name == records[first].name && records[*i].driver == records[first].driver;
                if matches.iter().all(same) {
                    return Ok(first);
                }
                Err(NoDevice(format!("\"{self}\" matches several adapters: {}; give an index, or more of the name", names(&matches))))
            }
        }
    }
}

/// Lists every Vulkan adapter of this machine, in the loader's order. The list is empty if there is
/// no loader.
///
/// Listing initializes every installed driver, and a driver may print, crash or hang. So a worker
/// process does it, started with `options`, within the time that a worker has to open its device.
/// The error says how the worker failed.
pub fn list(options: &Options) -> Result<Vec<AdapterRecord>, NoDevice> {
    let launch = Launch::new(&Selection::First, None, options)?;
    child::list(&launch, options.start_limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(index: u32, name: &str, driver: &str) -> AdapterRecord {
        AdapterRecord {
            index,
            name: name.into(),
            driver: driver.into(),
            kind: "software".into(),
            backend: "vulkan".into(),
            pci: String::new(),
            vulkan: (1, 3),
            passthrough: true,
            float_targets: true,
            float_controls: None,
            max_color_attachments: 8,
            max_color_attachment_bytes_per_sample: 128,
            max_texture_dimension_2d: 4096,
            max_storage_buffer_binding_size: 1 << 20,
            int8: false,
            sample_shading: false,
            cube_arrays: false,
            terminate_invocation: false,
            variable_pointers: [false; 2],
            subgroups: Subgroups::default(),
            compute: ComputeLimits::default(),
        }
    }

    fn choose(text: &str, records: &[AdapterRecord]) -> Result<usize, NoDevice> {
        text.parse::<Selection>().expect("every text is a selection").choose(records)
    }

    #[test]
    fn adapters_are_chosen_by_index_name_and_place_among_equals() {
        let records = [
            adapter(0, "llvmpipe", "mesa"),
            adapter(1, "NVIDIA H200", "nv"),
            adapter(2, "NVIDIA H200", "nv"),
            adapter(3, "NVIDIA T4", "nv"),
        ];
        assert_eq!((choose("", &records), choose("auto", &records)), (Ok(0), Ok(0)));
        assert_eq!(choose("2", &records), Ok(2));
        assert_eq!(choose("h200", &records), Ok(1), "the two are the same model and driver");
        assert_eq!(choose("h200#1", &records), Ok(2));
        for (text, expected) in [("nvidia", "several"), ("h200#2", "match 2"), ("7", "no adapter 7"), ("radeon", "contains \"radeon\"")] {
            let error = choose(text, &records).expect_err(text).0;
            assert!(error.contains(expected), "{error:?} lacks {expected:?}");
        }
        assert!(choose("", &[]).expect_err("none").0.contains("apt-get install mesa-vulkan-drivers"));
    }

    #[test]
    fn a_selection_is_read_as_it_is_written() {
        for text in ["", "3", "h200", "h200#1"] {
            assert_eq!(text.parse::<Selection>().expect("every text is a selection").to_string(), text);
        }
    }
}
