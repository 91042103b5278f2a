//! Fragment programs and the exact bits that they draw.

use pretty_assertions::assert_eq;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, ExecutionMode};
use smallstep::dispatch::{CLEARED, FragmentDispatch, Target, words_hash};
use smallstep::gpu::{DeviceOutcome, Route};

use super::modules::{Fragment, colour, dispatch, frag_coord, half_discarded};
use super::{both_routes, drawn, on_routes, open, options};

#[test]
fn the_report_s_example_is_yellow_everywhere() {
    both_routes(|device| {
        let words = colour([1.0, 1.0, 0.0, 1.0]);
        let finished = device.run(dispatch(words.clone(), 4, 4));
        assert_eq!(finished.route, device.route());
        let frame = drawn(finished.outcome);
        assert_eq!(frame.words_hash, words_hash(&words));
        assert_eq!(frame.images, vec![vec![[0x3f80_0000, 0x3f80_0000, 0, 0x3f80_0000]; 16]]);
    });
}

#[test]
fn frag_coord_is_exactly_the_middle_of_the_pixel() {
    both_routes(|device| {
        for (width, height) in [(1, 1), (4, 4), (7, 3), (512, 512), (1023, 2)] {
            let frame = drawn(device.run(dispatch(frag_coord(), width, height)).outcome);
            let expected: Vec<[u32; 4]> =
                (0..height).flat_map(|y| (0..width).map(move |x| [x as f32 + 0.5, y as f32 + 0.5, 0.0, 1.0].map(f32::to_bits))).collect();
            assert!(frame.images == vec![expected.clone()], "{width} by {height} on {}: {:?}", device.route(), {
                let at = (0..expected.len()).find(|i| frame.images[0][*i] != expected[*i]);
                at.map(|at| (at, frame.images[0][at].map(f32::from_bits), expected[at].map(f32::from_bits)))
            });
        }
    });
}

#[test]
fn outputs_come_in_the_order_of_the_dispatch_and_may_leave_gaps() {
    both_routes(|device| {
        let mut module = Fragment::new(0, &[]);
        let first = module.vec4([1.0, 2.0, 3.0, 4.0]);
        let second = module.vec4([5.0, -0.0, f32::MAX, f32::MIN_POSITIVE]);
        module.output(0, first);
        module.output(3, second);
        let outputs = vec![Target { location: 3, components: 4 }, Target { location: 0, components: 2 }];
        let frame = drawn(device.run(FragmentDispatch { outputs, ..dispatch(module.finish(), 2, 3) }).outcome);
        let bits = |lanes: [f32; 4]| vec![lanes.map(f32::to_bits); 6];
        assert_eq!(frame.images, vec![bits([5.0, -0.0, f32::MAX, f32::MIN_POSITIVE]), bits([1.0, 2.0, 3.0, 4.0])]);
    });
}

#[test]
fn eight_outputs_are_drawn_and_a_ninth_is_unchecked_by_name() {
    let Some(device) = open(None, options()) else {
        return;
    };
    let most = device.adapter().max_color_attachments;
    for count in [most, most + 1] {
        let mut module = Fragment::new(0, &[]);
        for location in 0..count {
            let value = module.vec4([location as f32; 4]);
            module.output(location, value);
        }
        let outputs = (0..count).map(|location| Target { location, components: 4 }).collect();
        let outcome = device.run(FragmentDispatch { outputs, ..dispatch(module.finish(), 3, 3) }).outcome;
        if count == most {
            let expected: Vec<_> = (0..count).map(|location| vec![[(location as f32).to_bits(); 4]; 9]).collect();
            assert_eq!(drawn(outcome).images, expected);
        } else {
            assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains("maxColorAttachments")), "{outcome}");
        }
    }
}

#[test]
fn a_discarded_pixel_stays_cleared_whatever_was_drawn_there_before() {
    both_routes(|device| {
        let programs = [colour([7.0; 4]), half_discarded(2.0), half_discarded(0.0)].map(|words| dispatch(words, 4, 1));
        let mut images = vec![vec![]; 3];
        for finished in device.run_all(programs) {
            images[finished.id as usize] = drawn(finished.outcome).images.remove(0);
        }
        let (seven, one) = ([7.0f32.to_bits(); 4], [1.0f32.to_bits(); 4]);
        assert_eq!(images, [vec![seven; 4], vec![CLEARED, CLEARED, one, one], vec![one; 4]]);
    });
}

#[test]
fn constants_are_read_bit_for_bit() {
    both_routes(|device| {
        let mut module = Fragment::new(3, &[]);
        let lanes = module.constants(&[0, 1, 2, 4]);
        let vec4 = module.vec4;
        let value = module.b.composite_construct(vec4, None, lanes).expect("a block is open");
        module.output(0, value);
        // A negative zero, an infinity, and the least and the greatest normal number. Arithmetic on
        // the way would change these bits.
        let constants = vec![0x8000_0000, 0x7f80_0000, 0x0080_0000, 77, 0x7f7f_ffff];
        let frame = drawn(device.run(FragmentDispatch { constants, ..dispatch(module.finish(), 2, 2) }).outcome);
        assert_eq!(frame.images, vec![vec![[0x8000_0000, 0x7f80_0000, 0x0080_0000, 0x7f7f_ffff]; 4]]);
    });
}

/// A module that draws c0 + c1, c0 * c1, c0 * c1 + c2 uncontracted, and c3 * c2, under the float
/// controls of the λV translation.
fn float_controls() -> Fragment {
    let mut module = Fragment::new(3, &[Capability::RoundingModeRTE, Capability::SignedZeroInfNanPreserve]);
    module.execution_mode(ExecutionMode::RoundingModeRTE, 32);
    module.execution_mode(ExecutionMode::SignedZeroInfNanPreserve, 32);
    let c = module.constants(&[0, 1, 2, 3]);
    let (float, vec4) = (module.float, module.vec4);
    let b = &mut module.b;
    let sum = b.f_add(float, None, c[0], c[1]).expect("a block is open");
    let product = b.f_mul(float, None, c[0], c[1]).expect("a block is open");
    let uncontracted = b.f_add(float, None, product, c[2]).expect("a block is open");
    let signed = b.f_mul(float, None, c[3], c[2]).expect("a block is open");
    for value in [sum, product, uncontracted, signed] {
        b.decorate(value, Decoration::NoContraction, Vec::<Operand>::new());
    }
    let value = b.composite_construct(vec4, None, [sum, product, uncontracted, signed]).expect("a block is open");
    module.output(0, value);
    module
}

#[test]
fn float_controls_are_accepted_through_passthrough_and_kept() {
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    // c0 * c1 needs more than 24 bits, and c2 cancels its leading bits. A fused multiply-add would
    // give another value in the third lane.
    let (c0, c1) = (1.0f32 + f32::EPSILON, 1.0f32 + 3.0 * f32::EPSILON);
    let c2 = -(c0 * c1);
    assert_ne!(c0.mul_add(c1, c2).to_bits(), (c0 * c1 + c2).to_bits(), "the constants must tell the two apart");
    let constants = [c0, c1, c2, 0.0].map(f32::to_bits).to_vec();
    let frame = drawn(device.run(FragmentDispatch { constants, ..dispatch(float_controls().finish(), 2, 2) }).outcome);
    let expected = [c0 + c1, c0 * c1, c0 * c1 + c2, -0.0].map(f32::to_bits);
    assert_eq!(frame.images, vec![vec![expected; 4]]);
}

#[test]
fn a_capability_that_the_device_does_not_enable_is_unchecked_by_name() {
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    // No Vulkan device supports kernels.
    let mut module = Fragment::new(3, &[Capability::Kernel]);
    let value = module.vec4([0.0; 4]);
    module.output(0, value);
    let outcome = device.run(dispatch(module.finish(), 2, 2)).outcome;
    assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains("Kernel")), "{outcome}");

    // Float controls that the adapter does not list are not tried.
    let [_, single, _] = device.adapter().float_controls.expect("the tested devices have Vulkan 1.2");
    let mut module = Fragment::new(3, &[Capability::DenormFlushToZero]);
    module.execution_mode(ExecutionMode::DenormFlushToZero, 32);
    let value = module.vec4([1.0; 4]);
    module.output(0, value);
    let outcome = device.run(dispatch(module.finish(), 2, 2)).outcome;
    if single.denorm_flush_to_zero {
        drawn(outcome);
    } else {
        assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains("DenormFlushToZero")), "{outcome}");
    }
}

#[test]
fn naga_refuses_what_it_cannot_read() {
    let Some(device) = open(Some(Route::Naga), options()) else {
        return;
    };
    // Well-framed words without a meaning: a store to an id that nothing defines, outside of
    // any function.
    let garbage = [0x0723_0203, 0x0001_0000, 0, 9, 0, 3 << 16 | 62, 7, 8];
    // Float controls, which naga's reader refuses.
    for words in [garbage.as_slice().into(), float_controls().finish()] {
        let outcome = device.run(dispatch(words, 2, 2)).outcome;
        assert!(matches!(&outcome, DeviceOutcome::Refused(why) if !why.is_empty()), "{outcome}");
    }
    // An entry point that does not exist.
    let missing = FragmentDispatch { entry: "absent".into(), ..dispatch(colour([0.0; 4]), 2, 2) };
    let outcome = device.run(missing).outcome;
    assert!(matches!(&outcome, DeviceOutcome::Refused(why) if why.contains("absent")), "{outcome}");
    assert_eq!(device.restarts(), 0, "a refusal costs no worker");
    drawn(device.run(dispatch(colour([0.0; 4]), 2, 2)).outcome);
}

#[test]
fn words_that_are_no_module_never_reach_the_driver() {
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    for (words, expected) in
        [(vec![], "header"), (vec![1, 2, 3, 4, 5], "magic"), (vec![0x0723_0203, 0x0001_0000, 0, 9, 0, 0xffff_0000], "word 5")]
    {
        let outcome = device.run(dispatch(words.into(), 2, 2)).outcome;
        assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains(expected)), "{expected}: {outcome}");
    }
    let outcome = device.run(dispatch(colour([0.0; 4]), 0, 2)).outcome;
    assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains("0 by 2")), "{outcome}");
    assert_eq!(device.restarts(), 0);
}

#[test]
fn programs_of_many_sizes_in_one_batch_do_not_mix() {
    on_routes(&Route::ALL, |device| {
        let programs: Vec<FragmentDispatch> =
            (0..200u32).map(|i| dispatch(colour([i as f32, -(i as f32), 0.5, 1.0]), 1 + i % 7, 1 + i % 5)).collect();
        let mut back = vec![None; programs.len()];
        for finished in device.run_all(programs.clone()) {
            let slot = &mut back[finished.id as usize];
            assert!(slot.is_none(), "program {} came back twice", finished.id);
            *slot = Some(drawn(finished.outcome));
        }
        for (i, (program, frame)) in programs.iter().zip(back).enumerate() {
            let frame = frame.unwrap_or_else(|| panic!("program {i} never came back"));
            assert_eq!(frame.words_hash, program.words_hash());
            let pixel = [i as f32, -(i as f32), 0.5, 1.0].map(f32::to_bits);
            assert_eq!(frame.images, vec![vec![pixel; (program.width * program.height) as usize]]);
        }
    });
}
