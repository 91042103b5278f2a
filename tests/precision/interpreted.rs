//! The modules for devices, run by the interpreter: they compute their functions.

use std::process::Command;

use super::{Batch, Computer, Function, Judge, Modules, NotComputed, definite, plan};
use smallstep::compute::{BoundInputs, ComputeModule, Interpreter, Prepared};
use smallstep::precision::{Source, measure, text};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, bytes_of_words};
use smallstep_spec_tests::tools;

/// The interpreter, in the role of the device.
struct Interpreted;

impl Computer for Interpreted {
    fn compute(
        &mut self,
        modules: &Modules,
        batches: &mut dyn Iterator<Item = Batch>,
        take: &mut dyn FnMut(&Batch, &[u32]),
    ) -> Result<(), NotComputed> {
        for batch in batches {
            let dispatch = modules.dispatch(&batch);
            dispatch.check().unwrap_or_else(|e| panic!("{e}"));
            let module = Module::load(&dispatch.words).unwrap_or_else(|e| panic!("{}: {e}", modules.function().label()));
            let module = ComputeModule::new(module, None).expect("there is one entry point");
            let buffers = dispatch.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect();
            let prepared = Prepared::new(module, dispatch.groups, BoundInputs { buffers, ..BoundInputs::default() }).expect("all is given");
            let ran = prepared.run(&Interpreter::Any).expect("some engine runs it");
            let observation = match ran.report.outcome {
                Outcome::Observed(observation) => observation,
                Outcome::Unsupported(why) => return Err(NotComputed { failed: false, why }),
                other => panic!("{}: {}", modules.function().label(), other.name()),
            };
            let out = observation.buffers.iter().find(|b| b.binding == 1).expect("the results are shown");
            let words: Vec<u32> = out.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            take(&batch, &words);
        }
        Ok(())
    }
}

#[test]
fn modules_compute_their_functions() {
    let mut supported = 0;
    for function in Function::all() {
        for profile in [Profile::Strict, Profile::VulkanDefault] {
            let measured = measure(&mut Interpreted, &function, profile, plan(300), &mut |_| {});
            if let Some(not) = measured.not_computed {
                assert!(!not.failed, "{}: {}", function.label(), not.why);
                continue;
            }
            supported += 1;
            assert_eq!((measured.tally.outside, measured.tally.inputs), (0, 300), "{}: {:?}", function.label(), measured.tally.reproducer);
        }
    }
    assert!(supported > 100, "{supported}");
}

#[test]
fn results_of_every_shape_are_where_they_belong() {
    // More inputs than a row of workgroups, and no multiple of a workgroup's size.
    let count = 65_536 + 70;
    for label in ["FNegate", "FSub"] {
        let function = super::function(label);
        let modules = Modules::new(&function, Profile::Strict);
        let words: Vec<u32> = (0..count * function.words()).map(|i| (i as f32).to_bits()).collect();
        let expected: Vec<u32> = words.chunks_exact(function.words()).flat_map(|w| definite(&function, Profile::Strict, w)).collect();
        let batch = Batch::Given(words.into());
        let mut same = false;
        let taken = &mut |_: &Batch, results: &[u32]| same = results[..count] == expected;
        Interpreted.compute(&modules, &mut std::iter::once(batch), taken).expect("the machine has them");
        assert!(same, "{label}");
    }
}

#[test]
fn a_range_is_the_consecutive_inputs() {
    let function = super::function("FNegate");
    let modules = Modules::new(&function, Profile::Strict);
    let first = 0x3f7f_fff0;
    let mut shown = Vec::new();
    let taken = &mut |_: &Batch, results: &[u32]| shown = results.to_vec();
    Interpreted.compute(&modules, &mut std::iter::once(Batch::Range { first, count: 4096 }), taken).expect("the machine has it");
    let expected: Vec<u32> = (0..4096).map(|i| (first + i) ^ 0x8000_0000).collect();
    assert_eq!(shown[..4096], expected);
    let tally = Judge::new(&function, Profile::Strict).judge_batch(&Batch::Range { first, count: 4096 }, &shown);
    assert_eq!((tally.inputs, tally.outside), (4096, 0));
}

#[test]
fn modules_declare_what_the_profile_says_and_nothing_else() {
    for function in &Function::all() {
        let strict = text(function, Profile::Strict, Source::Given);
        for needed in [
            "OpExecutionMode %main RoundingModeRTE 32",
            "OpExecutionMode %main SignedZeroInfNanPreserve 32",
            "OpDecorate %result NoContraction",
        ] {
            assert!(strict.contains(needed), "{}: {needed}", function.label());
        }
        let plain = text(function, Profile::VulkanDefault, Source::Given);
        for absent in ["RoundingMode", "Preserve", "NoContraction", "SPV_KHR_float_controls"] {
            assert!(!plain.contains(absent), "{}: {absent}", function.label());
        }
    }
}

#[test]
fn spirv_val_accepts_the_modules() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("function.spv");
    for function in Function::all() {
        for profile in [Profile::Strict, Profile::VulkanDefault] {
            for source in [Source::Given, Source::Range] {
                if source == Source::Range && !function.is_unary() {
                    continue;
                }
                let text = text(&function, profile, source);
                let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
                std::fs::write(&file, bytes_of_words(&words)).expect("written");
                let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().expect("it is there");
                assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}
