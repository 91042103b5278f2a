//! What a device drew, against what the SPIR-V semantics allows: lane by lane, by the same words.

use super::case::{Case, Ran};
use super::probe::Drawer;
use super::{Difference, Engine, Lack, Lanes, Place, Verdict, expected_bits, expected_text, float_text, why_text};
use crate::dispatch::Frame;
use crate::gpu::{Device, DeviceOutcome, Route};
use smallstep_semantics::number::{Expected, Profile, Why};

/// The profile that a route's modules are translated and judged under: naga takes no float controls and may rewrite.
pub fn profile_of(route: Route) -> Profile {
    match route {
        Route::Passthrough => Profile::Strict,
        Route::Naga => Profile::Wgsl,
    }
}

/// A device under test: what draws, and what it is.
pub struct UnderTest<'d> {
    /// What draws.
    pub drawer: &'d mut dyn Drawer,
    /// The adapter's name.
    pub adapter: String,
    /// The driver and its version.
    pub driver: String,
    /// How words reach it.
    pub route: Route,
}

impl UnderTest<'_> {
    /// The device and its route, as reports have it.
    pub fn name(&self) -> String {
        format!("{} ({})", self.adapter, self.route)
    }

    /// The same for a shorter time.
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

/// What a comparison needs to know of a case, so that the case itself can go while the device works.
pub struct Awaited {
    /// The hash of the words handed over.
    pub words_hash: u64,
    /// For each output: its location, how many lanes mean something, and what every pixel must show.
    pub outputs: Vec<(u32, Vec<[Expected; 4]>, u32)>,
    /// Why a run over sets left lanes undecided, if one did: a sentence with the place.
    pub undecided: Option<String>,
    /// Pixels in a row.
    pub width: u32,
}

impl Awaited {
    /// What a device must show for a case that ran with values on all pixels; `None` if it did not.
    pub fn new(case: &Case, ran: &Ran, width: u32) -> Option<Awaited> {
        if ran.expected.is_empty() {
            return None;
        }
        let outputs = case.translated.outputs.iter().zip(&ran.expected);
        let outputs = outputs.map(|(target, pixels)| (target.location, pixels.clone(), target.components)).collect();
        Some(Awaited { words_hash: case.words_hash, outputs, undecided: ran.undecided.clone(), width })
    }

    /// Compares an outcome. `device` names the device and its route.
    pub fn compare(&self, outcome: &DeviceOutcome, device: &str, route: Route) -> (Verdict, Lanes) {
        let verdict = match outcome {
            DeviceOutcome::Drawn(frame) => return self.compare_frame(frame, device),
            DeviceOutcome::Refused(why) => {
                let blamed = match route {
                    Route::Passthrough => "the driver",
                    Route::Naga => "naga or the driver",
                };
                let what = format!("{blamed} refuses a module that the semantics runs: {why}");
                Difference::of(Engine::SpirvMachine, Engine::Device(device.into()), what)
            }
            DeviceOutcome::Unchecked(why) => Verdict::Unchecked(Lack::Device, why.clone()),
            other => Verdict::Failed(other.to_string()),
        };
        (verdict, Lanes::default())
    }

    fn compare_frame(&self, frame: &Frame, device: &str) -> (Verdict, Lanes) {
        let mut lanes = Lanes::default();
        if let Some(why) = self.other_words(frame) {
            return (Verdict::Unchecked(Lack::Device, why), lanes);
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
                let left = format!("{} of {} lanes were left alone: {why}", lanes.undecided, lanes.undecided + lanes.checked);
                (Verdict::Undecided(left), lanes)
            }
        }
    }

    /// How an outcome disagrees, every way of it: of the lanes of one output's component that differ in one way, the first.
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

    /// Why a frame says nothing about this case, if it is of other words.
    fn other_words(&self, frame: &Frame) -> Option<String> {
        (frame.words_hash != self.words_hash)
            .then(|| format!("the device ran the words {:#018x}, the semantics {:#018x}", frame.words_hash, self.words_hash))
    }

    /// Every lane that means something: where it is, what it must show, and the bits that it shows.
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

/// A decided lane that is not as it must be.
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
