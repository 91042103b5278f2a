//! A device with a known bug: the real device behind a compiler that translates one
//! instruction wrongly.

use smallstep::compile::lambda_v::Constants;
use smallstep::dispatch::FragmentDispatch;
use smallstep::gpu::{Device, DeviceOutcome, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::{Case, Settings};
use smallstep::theorem::device::{Awaited, profile_of};
use smallstep::theorem::probe::Drawer;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::spirv;

use super::{open, options};

/// The device, as if it exchanged the operands of the OpFSub with this result id, in any words that
/// it gets, the adapted ones included.
struct Swapping<'d> {
    device: &'d mut Device,
    id: u32,
    draws: u32,
}

impl Drawer for Swapping<'_> {
    fn draw(&mut self, mut dispatch: FragmentDispatch) -> DeviceOutcome {
        self.draws += 1;
        let given = dispatch.words_hash();
        let module = spirv::Module::load(&dispatch.words).unwrap_or_else(|e| panic!("{e}"));
        let at = module.instruction(self.id).expect("probing keeps ids").offset as usize;
        let mut words = dispatch.words.to_vec();
        words.swap(at + 3, at + 4);
        dispatch.words = words.into();
        match self.device.run(dispatch).outcome {
            // The change of the words is hidden, as in a device's own compiler.
            DeviceOutcome::Drawn(frame) => DeviceOutcome::Drawn(smallstep::dispatch::Frame { words_hash: given, ..frame }),
            other => other,
        }
    }

    fn max_outputs(&self) -> u32 {
        Drawer::max_outputs(&*self.device)
    }
}

#[test]
fn exchanged_operands_are_blamed_where_they_are() {
    // One subtraction for `c`, by name, and one that uses it. Both are in a loop.
    let text = "(let ((c (- (x (frag-coord)) 4)))
        ((rec-func (i sum) (if (less-than i 4) (rec (+ i 1) (+ sum (max (- i c) 0.25))) (vec2 sum (y (frag-coord))))) 0 8))";
    for route in [Route::Passthrough, Route::Naga] {
        for constants in [Constants::InModule, Constants::Opaque] {
            let Some(mut device) = open(Some(route), options()) else { return };
            let profile = profile_of(route);
            let settings = Settings { profile, constants, references: false, ..Settings::default() };
            let Ok(case) = Case::new(Program::read(text).expect("reads"), &settings) else { panic!("it is well typed") };
            let ran = case.run(&settings);
            let awaited = Awaited::new(&case, &ran, settings.size.0).expect("every pixel has a value");
            let subtractions = case.module().instructions().iter().filter(|i| i.name() == "OpFSub").map(|i| i.result);
            for id in subtractions.collect::<Vec<_>>() {
                let mut device = Swapping { device: &mut device, id, draws: 0 };
                let outcome = Drawer::draw(&mut device, case.dispatch(settings.size));
                let (verdict, _) = awaited.compare(&outcome, "the device", route);
                let Verdict::Disagree(mut difference) = verdict else { panic!("%{id}, {route}: {verdict:?}") };
                device.draws = 0;
                difference.search(&case, &settings, &mut device);
                let blame = difference.blame.unwrap_or_else(|| panic!("%{id}, {route}: {:?}", difference.unblamed));
                assert_eq!((blame.id, blame.instruction.as_str()), (id, "OpFSub"), "{route}, {constants:?}: {blame}");
                assert_eq!(blame.dispatches, device.draws);
            }
        }
    }
}
