//! What a device drew, against what the SPIR-V semantics allows: lane by lane, by the same words.

use super::case::{Case, Ran};
use super::{Difference, Engine, Lack, Lanes, Place, Verdict, float_text, why_text};
use crate::dispatch::Frame;
use crate::gpu::{DeviceOutcome, Route};
use smallstep_semantics::number::{Expected, Profile, Why};

/// The profile that a route's modules are translated and judged under: naga takes no float controls and may rewrite.
pub fn profile_of(route: Route) -> Profile {
    match route {
        Route::Passthrough => Profile::Strict,
        Route::Naga => Profile::Wgsl,
    }
}

/// What a comparison needs to know of a case, so that the case itself can go while the device works.
pub struct Awaited {
    /// The hash of the words handed over.
    pub words_hash: u64,
    /// For each output: its location, how many lanes mean something, and what every pixel must show.
    pub outputs: Vec<(u32, Vec<[Expected; 4]>, u32)>,
    /// Pixels in a row.
    pub width: u32,
}

impl Awaited {
    /// What a device must show for a case that ran with values on all pixels; `None` if it did not.
    pub fn new(case: &Case, ran: &Ran, profile: Profile, width: u32) -> Option<Awaited> {
        if ran.expected.is_empty() {
            return None;
        }
        let outputs = case.translated.outputs.iter().zip(&ran.expected).map(|(target, pixels)| {
            let judge = |lanes: &smallstep_semantics::number::Lanes| std::array::from_fn(|i| lanes[i].judge(profile));
            (target.location, pixels.iter().map(judge).collect(), target.components)
        });
        Some(Awaited { words_hash: case.words_hash, outputs: outputs.collect(), width })
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
        if frame.words_hash != self.words_hash {
            let why = format!("the device ran the words {:#018x}, the semantics {:#018x}", frame.words_hash, self.words_hash);
            return (Verdict::Unchecked(Lack::Device, why), lanes);
        }
        let mut doubt: Option<Why> = None;
        for ((location, pixels, components), image) in self.outputs.iter().zip(&frame.images) {
            for (i, (expected, shown)) in pixels.iter().zip(image).enumerate() {
                for component in 0..*components as usize {
                    match expected[component].admits(shown[component]) {
                        None => {
                            lanes.undecided += 1;
                            if let Expected::Undecided(why) = expected[component] {
                                doubt.get_or_insert(why);
                            }
                        }
                        Some(true) => lanes.checked += 1,
                        Some(false) => {
                            let (bits, expected) = match expected[component] {
                                Expected::Bits(bits) => (bits, float_text(bits)),
                                _ => (0, "a zero of either sign".into()),
                            };
                            let pixel = (i as u32 % self.width, i as u32 / self.width);
                            let difference = Difference {
                                between: (Engine::SpirvMachine, Engine::Device(device.into())),
                                place: Some(Place { pixel, location: *location, component: component as u32 }),
                                bits: Some((bits, shown[component])),
                                what: format!("expected {expected}, saw {}", float_text(shown[component])),
                                blame: None,
                                unblamed: None,
                            };
                            return (Verdict::Disagree(Box::new(difference)), lanes);
                        }
                    }
                }
            }
        }
        match doubt {
            None => (Verdict::Agree, lanes),
            Some(why) => {
                let why = format!("{} of {} lanes were left alone: {}", lanes.undecided, lanes.undecided + lanes.checked, why_text(why));
                (Verdict::Undecided(why), lanes)
            }
        }
    }
}
