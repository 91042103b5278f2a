//! Compares what a device drew with what the SPIR-V semantics allows for the same words, lane
//! by lane.

use super::case::{Case, Ran};
use super::probe::Drawer;
use super::{Difference, Engine, Lanes, Place, Verdict, expected_bits, expected_text, float_text, why_text};
use crate::dispatch::Frame;
use crate::gpu::{Device, DeviceOutcome, FloatControls, FloatControlsByWidth, Route};
use smallstep_semantics::number::{Controls, Denormals, Expected, Profile, Rounding, Why};
use smallstep_semantics::outcome::{InputFault, InvalidInput};

/// The default profile of a route, by which its modules are translated and judged. Naga accepts no
/// float controls and may rewrite expressions.
pub fn profile_of(route: Route) -> Profile {
    if route.re_emits() { Profile::Wgsl } else { Profile::Strict }
}

/// The requested profile, before the device is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Choice {
    /// The route's own ([`profile_of`]).
    #[default]
    OfRoute,
    /// [`Profile::Strict`].
    Strict,
    /// Everything that the adapter's float controls let a module declare ([`declared`]).
    Declared,
    /// [`Profile::VulkanDefault`].
    VulkanDefault,
    /// [`Profile::Wgsl`].
    Wgsl,
}

/// Why a device does not have the requested profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoProfile {
    /// The route drops all float controls that a module declares.
    Route(String),
    /// The adapter's float controls are not known.
    NotQueried(String),
}

impl std::error::Error for NoProfile {}

/// The reason, as a sentence.
impl std::fmt::Display for NoProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (NoProfile::Route(why) | NoProfile::NotQueried(why)) = self;
        f.write_str(why)
    }
}

impl Choice {
    /// The choices with their names.
    pub const NAMED: [(&str, Choice); 4] =
        [("strict", Choice::Strict), ("declared", Choice::Declared), ("vulkan-default", Choice::VulkanDefault), ("wgsl", Choice::Wgsl)];

    /// The name of the choice. `None` for [`Choice::OfRoute`].
    pub fn name(self) -> Option<&'static str> {
        Choice::NAMED.iter().find(|(_, choice)| *choice == self).map(|(name, _)| *name)
    }

    /// The profile on a route to an adapter with these float controls. `None` means that they were
    /// not queried.
    ///
    /// # Errors
    /// The choice needs float controls and the route drops them, or the adapter's were not queried.
    pub fn on(self, controls: Option<FloatControlsByWidth>, route: Route) -> Result<Profile, NoProfile> {
        match (self, controls) {
            (Choice::OfRoute, _) => Ok(profile_of(route)),
            (Choice::VulkanDefault, _) => Ok(Profile::VulkanDefault),
            (Choice::Wgsl, _) => Ok(Profile::Wgsl),
            (Choice::Strict | Choice::Declared, _) if route.re_emits() => {
                let name = self.name().unwrap_or_default();
                let why = format!("naga takes no float controls, so its route has no profile {name}; there are wgsl and vulkan-default");
                Err(NoProfile::Route(why))
            }
            (Choice::Strict, _) => Ok(Profile::Strict),
            (Choice::Declared, Some([_, single, _])) => Ok(declared(&single)),
            (Choice::Declared, None) => {
                Err(NoProfile::NotQueried("what the adapter lets a module declare is not known: Vulkan is below 1.2".into()))
            }
        }
    }

    /// The profile for programs that interpreters run beside the device. Interpreters do not round
    /// toward zero, so that mode is not declared.
    ///
    /// # Errors
    /// As for [`Choice::on`].
    pub fn of_programs(self, controls: Option<FloatControlsByWidth>, route: Route) -> Result<Profile, NoProfile> {
        Ok(match self.on(controls, route)? {
            Profile::Declared(controls) if controls.rounding == Rounding::TowardZero => {
                Profile::Declared(Controls { rounding: Rounding::Either, ..controls })
            }
            profile => profile,
        })
    }

    /// The profile without a device. `None` for [`Choice::Declared`], which depends on the adapter.
    pub fn alone(self) -> Option<Profile> {
        match self {
            Choice::OfRoute | Choice::Strict => Some(Profile::Strict),
            Choice::Declared => None,
            Choice::VulkanDefault => Some(Profile::VulkanDefault),
            Choice::Wgsl => Some(Profile::Wgsl),
        }
    }
}

/// Parses a name of [`Choice::NAMED`].
impl std::str::FromStr for Choice {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Choice, InvalidInput> {
        let found = Choice::NAMED.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            InvalidInput::new(
                InputFault::Text,
                format!("no profile is called \"{text}\"; there are strict, declared, vulkan-default and wgsl"),
            )
        })
    }
}

/// The profile that an adapter's properties let a module declare for 32-bit floats, with
/// NoContraction. If both are supported, rounding to nearest even is preferred to rounding toward
/// zero, and keeping subnormal numbers to flushing them.
pub fn declared(controls: &FloatControls) -> Profile {
    let rounding = match controls {
        FloatControls { rounding_mode_rte: true, .. } => Rounding::NearestEven,
        FloatControls { rounding_mode_rtz: true, .. } => Rounding::TowardZero,
        _ => Rounding::Either,
    };
    let denormals = match controls {
        FloatControls { denorm_preserve: true, .. } => Denormals::Preserve,
        FloatControls { denorm_flush_to_zero: true, .. } => Denormals::Flush,
        _ => Denormals::MayFlush,
    };
    let keeps_special = controls.signed_zero_inf_nan_preserve;
    Profile::Declared(Controls { rounding, denormals, keeps_special, no_contraction: true, wgsl: false })
}

/// A device under test, with its description.
pub struct UnderTest<'d> {
    /// The device, or its replacement in a test.
    pub drawer: &'d mut dyn Drawer,
    /// The adapter's name.
    pub adapter: String,
    /// The driver and its version.
    pub driver: String,
    /// The route by which words reach it.
    pub route: Route,
}

impl UnderTest<'_> {
    /// The name of the device with its route, for reports.
    pub fn name(&self) -> String {
        format!("{} ({})", self.adapter, self.route)
    }

    /// A copy that borrows the drawer for a shorter time.
    pub fn again(&mut self) -> UnderTest<'_> {
        UnderTest { drawer: &mut *self.drawer, adapter: self.adapter.clone(), driver: self.driver.clone(), route: self.route }
    }
}

impl<'d> From<&'d mut Device> for UnderTest<'d> {
    fn from(device: &'d mut Device) -> UnderTest<'d> {
        let (record, route) = (device.adapter().clone(), device.route());
        UnderTest { drawer: device, adapter: record.name, driver: record.driver, route }
    }
}

/// The part of a case that the comparison needs. The case itself can be dropped while the
/// device works.
pub struct Awaited {
    /// The hash of the words that the device runs.
    pub words_hash: u64,
    /// For each output: its location, what every pixel must show, and the number of lanes that the
    /// program defines.
    pub outputs: Vec<(u32, Vec<[Expected; 4]>, u32)>,
    /// Why a run over sets left lanes undecided, if it did: a sentence with the place.
    pub undecided: Option<String>,
    /// The width of the image in pixels.
    pub width: u32,
}

impl Awaited {
    /// What a device must show for a case. `None` if the case did not run with values on
    /// all pixels.
    pub fn new(case: &Case, ran: &Ran, width: u32) -> Option<Awaited> {
        if ran.expected.is_empty() {
            return None;
        }
        let outputs = case.translated.outputs.iter().zip(&ran.expected);
        let outputs = outputs.map(|(target, pixels)| (target.location, pixels.clone(), target.components)).collect();
        Some(Awaited { words_hash: case.words_hash, outputs, undecided: ran.undecided.clone(), width })
    }

    /// Compares an outcome of a device. `device` names the device and its route.
    pub fn compare(&self, outcome: &DeviceOutcome, device: &str, route: Route) -> (Verdict, Lanes) {
        let verdict = match outcome {
            DeviceOutcome::Drawn(frame) => return self.compare_frame(frame, device),
            other => without_frame(other, Engine::SpirvMachine, Engine::Device(device.into()), route),
        };
        (verdict, Lanes::default())
    }

    fn compare_frame(&self, frame: &Frame, device: &str) -> (Verdict, Lanes) {
        let mut lanes = Lanes::default();
        if let Some(why) = self.other_words(frame) {
            return (Verdict::Unchecked(why), lanes);
        }
        let mut doubt: Option<Why> = None;
        for (place, expected, shown) in self.lanes(frame) {
            match expected.admits(shown) {
                None => {
                    lanes.undecided += 1;
                    if let Expected::Undecided(why) = expected {
                        doubt.get_or_insert(why);
                    }
                }
                Some(true) => lanes.checked += 1,
                Some(false) => return (Verdict::Disagree(Box::new(difference(device, place, expected, shown))), lanes),
            }
        }
        match doubt {
            None => (Verdict::Agree, lanes),
            Some(why) => {
                let why = self.undecided.as_deref().unwrap_or_else(|| why_text(why));
                let summary = format!("{} of {} lanes were left alone: {why}", lanes.undecided, lanes.undecided + lanes.checked);
                (Verdict::Undecided(summary), lanes)
            }
        }
    }

    /// All ways in which an outcome disagrees. For each component of each output and each way of
    /// differing, only the first lane is listed.
    pub fn differences(&self, outcome: &DeviceOutcome, device: &str, route: Route) -> Vec<Difference> {
        let frame = match outcome {
            DeviceOutcome::Drawn(frame) if self.other_words(frame).is_none() => frame,
            other => {
                return match self.compare(other, device, route).0 {
                    Verdict::Disagree(difference) => vec![*difference],
                    _ => Vec::new(),
                };
            }
        };
        let mut seen = std::collections::HashSet::new();
        let differing = self.lanes(frame).filter(|(_, expected, shown)| expected.admits(*shown) == Some(false));
        let differing = differing.map(|(place, expected, shown)| difference(device, place, expected, shown));
        differing.filter(|d| seen.insert((d.place.map(|p| (p.location, p.component)), d.way()))).collect()
    }

    /// Why a frame cannot be compared with this case: it is of other words.
    fn other_words(&self, frame: &Frame) -> Option<String> {
        (frame.words_hash != self.words_hash)
            .then(|| format!("the device ran the words {:#018x}, the semantics {:#018x}", frame.words_hash, self.words_hash))
    }

    /// All defined lanes: the place, what it must show, and the bits that it shows.
    fn lanes<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (Place, Expected, u32)> + 'a {
        self.outputs.iter().zip(&frame.images).flat_map(move |((location, pixels, components), image)| {
            pixels.iter().zip(image).enumerate().flat_map(move |(i, (expected, shown))| {
                let pixel = (i as u32 % self.width, i as u32 / self.width);
                (0..*components).map(move |component| {
                    let lane = component as usize;
                    (Place { pixel, location: *location, component }, expected[lane], shown[lane])
                })
            })
        })
    }
}

/// The verdict on a device's run without an image, if the engine `reference` has a result.
pub fn without_frame(outcome: &DeviceOutcome, reference: Engine, device: Engine, route: Route) -> Verdict {
    match outcome {
        DeviceOutcome::Refused(why) => {
            let what = format!("{} refuses a module that the semantics runs: {why}", route.blamed());
            Difference::of(reference, device, what)
        }
        DeviceOutcome::Unchecked(why) => Verdict::Unchecked(why.clone()),
        other => Verdict::Failed(other.to_string()),
    }
}

fn difference(device: &str, place: Place, expected: Expected, shown: u32) -> Difference {
    Difference {
        between: (Engine::SpirvMachine, Engine::Device(device.into())),
        place: Some(place),
        bits: Some((expected_bits(expected, shown), shown)),
        what: format!("expected {}, saw {}", expected_text(expected), float_text(shown)),
        blame: None,
        unblamed: None,
    }
}
