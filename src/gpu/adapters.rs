//! Which devices there are, what each of them offers, and how one is chosen.

use std::fmt;
use std::str::FromStr;

use super::Options;
use super::child::{self, Launch};
use super::float_controls::FloatControlsByWidth;

/// One adapter, as results and listings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterRecord {
    /// The place in the list of this machine's Vulkan adapters, from 0.
    pub index: u32,
    /// The device's name, as "NVIDIA H200". Several adapters may have the same.
    pub name: String,
    /// The driver and its version, as "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)".
    pub driver: String,
    /// "discrete", "integrated", "virtual", "software" or "other".
    pub kind: String,
    /// The programming interface, as "vulkan".
    pub backend: String,
    /// The PCI address that tells devices of one name apart, or "".
    pub pci: String,
    /// The Vulkan version that the device and the loader share, as (major, minor); (0, 0) where it
    /// is not known.
    pub vulkan: (u32, u32),
    /// Whether SPIR-V can be handed to the driver as it is.
    pub passthrough: bool,
    /// Whether Rgba32Float can be drawn to and copied from.
    pub float_targets: bool,
    /// What the device promises about float arithmetic, for the widths 16, 32 and 64; None where it
    /// cannot be asked (Vulkan below 1.2).
    pub float_controls: Option<FloatControlsByWidth>,
    /// `maxColorAttachments`, as far as wgpu uses it.
    pub max_color_attachments: u32,
    /// Bytes of all colour attachments together for one pixel; an output takes 16.
    pub max_color_attachment_bytes_per_sample: u32,
    /// The widest and highest grid.
    pub max_texture_dimension_2d: u32,
    /// The largest constants or storage buffer, in bytes.
    pub max_storage_buffer_binding_size: u64,
    /// Whether the capability Int8 is enabled.
    pub int8: bool,
    /// Whether fragments can be shaded once for each sample.
    pub sample_shading: bool,
    /// Whether there are cubes with layers.
    pub cube_arrays: bool,
    /// Whether the extension SPV_KHR_terminate_invocation is enabled, where SPIR-V passes through.
    pub terminate_invocation: bool,
    /// Whether the capabilities VariablePointersStorageBuffer and VariablePointers are enabled,
    /// where SPIR-V passes through.
    pub variable_pointers: [bool; 2],
    /// What is known of its subgroups.
    pub subgroups: Subgroups,
    /// The limits of compute programs.
    pub compute: ComputeLimits,
}

/// The subgroups of a device; all 0 where it cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subgroups {
    /// The fewest invocations of one.
    pub min_size: u32,
    /// The most invocations of one.
    pub max_size: u32,
    /// `VkSubgroupFeatureFlags`: which group instructions it has.
    pub operations: u32,
    /// `VkShaderStageFlags`: the stages that may have them.
    pub stages: u32,
}

impl Subgroups {
    /// The one size that all have, if there is one.
    pub fn size(self) -> Option<u32> {
        Some(self.max_size).filter(|&size| size == self.min_size && size > 0)
    }

    /// Whether it has the group instructions of a capability of SPIR-V, from GroupNonUniform (61)
    /// on: they are numbered as the flags are.
    pub fn has(self, capability: u32) -> bool {
        capability.checked_sub(61).is_some_and(|bit| bit < 8 && self.operations & 1 << bit != 0)
    }
}

/// What bounds a compute program on a device, beside the size of its storage buffers: the adapter's
/// own limits, as far as wgpu uses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComputeLimits {
    /// Workgroups in x, in y and in z.
    pub max_workgroups_per_dimension: u32,
    /// Invocations of one workgroup.
    pub max_invocations_per_workgroup: u32,
    /// Invocations of one workgroup in x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// Bytes of workgroup memory.
    pub max_workgroup_storage_size: u32,
    /// Descriptor sets.
    pub max_descriptor_sets: u32,
    /// Storage buffers of one program.
    pub max_storage_buffers: u32,
    /// Uniform buffers of one program.
    pub max_uniform_buffers: u32,
    /// Bytes of one uniform buffer.
    pub max_uniform_buffer_binding_size: u64,
    /// Bytes of push constants.
    pub max_push_constants_size: u32,
    /// Bytes of all buffers together, which go to the device, and come back, in one.
    pub max_buffer_size: u64,
}

impl fmt::Display for AdapterRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.driver)
    }
}

/// Which adapter: the first, one by its index, or one by its name.
///
/// As text: a number is an index; `NAME` is any part of the name, in any case; `NAME#2` is the
/// third (from 0) of those that match; `auto` and the empty text are the first adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The first adapter.
    #[default]
    First,
    /// The adapter at this place of the list.
    Index(u32),
    /// The adapter with this in its name, upper and lower case being the same. Where several match,
    /// `nth` says which; without `nth` the matches must be the same device model under the same
    /// driver, and the first is taken.
    Name {
        /// Part of the name.
        part: String,
        /// Which of the matches, from 0.
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

/// Why no device could be had: one or two sentences for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoDevice(pub String);

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDevice {}

/// What is said where there is no Vulkan adapter, or no Vulkan loader: both look the
/// same to a program.
pub const NO_ADAPTER: &str = "no Vulkan adapter was found (or no Vulkan loader). A software one will do: on Debian and its kin, \
`apt-get install mesa-vulkan-drivers`";

/// What is said where this program holds no devices.
pub const WITHOUT_DEVICES: &str = "this smallstep was built without devices; `cargo build` with the feature `device` gives it some";

impl Selection {
    /// The index, in `records`, of the adapter that this selects.
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

/// Every Vulkan adapter of this machine, in the loader's order. Empty where there is no loader.
///
/// Listing initializes every installed driver, and a driver may print, crash or hang: so a worker
/// process does it, started as `options` say, and given as long as a worker has to open its device.
/// The error says what became of it.
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
            let said = choose(text, &records).expect_err(text).0;
            assert!(said.contains(expected), "{said:?} lacks {expected:?}");
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
