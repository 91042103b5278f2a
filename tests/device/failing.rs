//! Workers that crash, hang, lose their device or send nonsense, and how many programs
//! that affects.

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use smallstep::dispatch::{ComputeDispatch, Dispatch, FragmentDispatch};
use smallstep::gpu::{Device, DeviceOutcome, Exit, Options, Route, Selection, worker};
use smallstep_spec_tests::tools;

use super::computing::{self, multiples, one_buffer};
use super::modules::{colour, dispatch, endless};
use super::{drawn, open, options};

fn program(i: u64) -> FragmentDispatch {
    dispatch(colour([i as f32, 0.25, 0.0, 1.0]), 4, 4)
}

/// Options whose workers have the fault that the text describes.
fn with_fault(fault: String) -> Options {
    let environment = vec![(worker::TEST_FAULT.into(), fault.into())];
    Options { program_limit: Duration::from_secs(3), environment, ..options() }
}

fn open_with_fault(fault: &str, culprit: &Dispatch) -> Option<Device> {
    open(None, with_fault(format!("{fault}:{:x}", culprit.words_hash())))
}

/// A compute program whose result identifies it.
fn computation(i: u64) -> ComputeDispatch {
    one_buffer(multiples(100 + i as u32), [1, 1, 1], 4)
}

/// Submits 20 programs: all draws, all dispatches, or both in turn. The thirteenth has the fault.
/// Requires that the others run. Returns the outcome of the thirteenth.
fn one_of_twenty(fault: &str, of: fn(u64) -> Dispatch) -> Option<DeviceOutcome> {
    let device = open_with_fault(fault, &of(12))?;
    for i in 0..20 {
        device.submit(i, of(i));
    }
    let mut culprit = None;
    let mut others = 0;
    while let Some(finished) = device.receive() {
        if finished.id == 12 {
            assert_eq!(culprit, None, "it came back twice");
            culprit = Some(finished.outcome);
        } else {
            is_of(finished.id, finished.outcome);
            others += 1;
        }
    }
    assert_eq!(others, 19);
    // The device works again.
    device.submit(99, of(99));
    is_of(99, device.receive().expect("it comes back").outcome);
    assert!((1..=3).contains(&device.restarts()), "{} restarts", device.restarts());
    culprit
}

/// Requires that this is the result of program `i`, drawn or computed.
#[track_caller]
fn is_of(i: u64, outcome: DeviceOutcome) {
    match outcome {
        DeviceOutcome::Computed(result) => {
            let expected: Vec<u8> = (0..4).flat_map(|x| (x * (100 + i as u32) + 7).to_le_bytes()).collect();
            assert_eq!(result.buffer(0, 0), Some(expected.as_slice()));
        }
        outcome => {
            let expected = vec![vec![[(i as f32).to_bits(), 0.25f32.to_bits(), 0, 1.0f32.to_bits()]; 16]];
            assert_eq!(drawn(outcome).images, expected);
        }
    }
}

fn drawings(i: u64) -> Dispatch {
    program(i).into()
}

fn computations(i: u64) -> Dispatch {
    computation(i).into()
}

fn by_turns(i: u64) -> Dispatch {
    if i.is_multiple_of(2) { computations(i) } else { drawings(i) }
}

#[test]
fn a_crash_while_compiling_costs_one_program() {
    let Some(outcome) = one_of_twenty("crash-compile", drawings) else {
        return;
    };
    let DeviceOutcome::Crashed { exit, stderr } = &outcome else { panic!("{outcome}") };
    if cfg!(unix) {
        assert_eq!(*exit, Exit::Signal(6));
    }
    assert!(stderr.contains("a crash that the test asked for"), "{stderr}");
}

#[test]
fn a_crash_while_drawing_costs_one_program() {
    let Some(outcome) = one_of_twenty("crash-run", drawings) else {
        return;
    };
    assert!(matches!(outcome, DeviceOutcome::Crashed { .. }), "{outcome}");
}

#[test]
fn a_crash_while_computing_costs_one_program() {
    for of in [computations, by_turns] {
        for fault in ["crash-run", "crash-compile"] {
            let Some(outcome) = one_of_twenty(fault, of) else {
                return;
            };
            assert!(matches!(outcome, DeviceOutcome::Crashed { .. }), "{outcome}");
        }
    }
}

#[test]
fn a_hang_or_a_loss_while_computing_costs_one_program() {
    let Some(outcome) = one_of_twenty("hang-run", computations) else {
        return;
    };
    assert_eq!(outcome, DeviceOutcome::TimedOut(Duration::from_secs(3)));
    let Some(outcome) = one_of_twenty("lost", by_turns) else {
        return;
    };
    assert_eq!(outcome, DeviceOutcome::Lost("a loss that the test asked for".into()));
}

/// Runs twenty programs, of which number 7 does not end. `judge` gets the outcomes of the others.
/// There is no injected fault: the device itself does not end. Hardware is left out, since others
/// may share it.
#[track_caller]
fn number_seven_never_ends(program: impl Fn(u64) -> Dispatch, judge: impl Fn(u64, DeviceOutcome)) {
    let Some(device) = open(None, Options { program_limit: Duration::from_secs(3), ..options() }) else {
        return;
    };
    if device.adapter().kind != "software" {
        tools::not_run("endless programs are tried on software adapters only");
        return;
    }
    for i in 0..20 {
        device.submit(i, program(i));
    }
    let mut back = 0;
    while let Some(finished) = device.receive() {
        back += 1;
        match finished.id {
            7 => assert_eq!(finished.outcome, DeviceOutcome::TimedOut(Duration::from_secs(3))),
            id => judge(id, finished.outcome),
        }
    }
    assert_eq!(back, 20);
}

#[test]
fn a_computation_that_never_ends_costs_one_program() {
    let never = || one_buffer(computing::endless(), [1 << 15, 1, 1], 4 << 15);
    number_seven_never_ends(|i| if i == 7 { never().into() } else { by_turns(i) }, is_of);
}

#[test]
fn a_hang_while_drawing_costs_one_program() {
    let Some(outcome) = one_of_twenty("hang-run", drawings) else {
        return;
    };
    assert_eq!(outcome, DeviceOutcome::TimedOut(Duration::from_secs(3)));
}

#[test]
fn a_hang_while_compiling_costs_one_program() {
    let Some(outcome) = one_of_twenty("hang-compile", drawings) else {
        return;
    };
    assert_eq!(outcome, DeviceOutcome::TimedOut(Duration::from_secs(3)));
}

#[test]
fn a_lost_device_costs_one_program() {
    let Some(outcome) = one_of_twenty("lost", drawings) else {
        return;
    };
    assert_eq!(outcome, DeviceOutcome::Lost("a loss that the test asked for".into()));
}

#[test]
fn nonsense_on_the_worker_s_output_costs_one_program() {
    let Some(outcome) = one_of_twenty("garbage", drawings) else {
        return;
    };
    let DeviceOutcome::Crashed { exit: Exit::Garbled(what), .. } = &outcome else { panic!("{outcome}") };
    assert!(what.contains("what a drive"), "{what}");
}

#[test]
fn a_shader_that_never_ends_costs_one_program() {
    let program = |i| {
        let (first, size) = if i == 7 { (0.0f32, 1024) } else { (1.0, 4) };
        let constants = vec![first.to_bits()];
        FragmentDispatch { constants, ..dispatch(endless(), size, size) }.into()
    };
    number_seven_never_ends(program, |_, outcome| drop(drawn(outcome)));
}

/// Well-framed words without a meaning reach the driver unchanged. Whatever it does with them, the
/// other programs are drawn.
#[test]
fn an_invalid_module_costs_no_more_than_itself() {
    let Some(device) = open(Some(Route::Passthrough), Options { program_limit: Duration::from_secs(5), ..options() }) else {
        return;
    };
    // The colour is stored to an id that nothing defines.
    let mut words = colour([1.0; 4]).to_vec();
    let store = (5..words.len()).find(|at| words[*at] == 3 << 16 | 62).expect("the module stores its colour");
    words[store + 1] = words[3] - 1;
    words[store + 2] = 0x00ff_fff0;
    for i in 0..20 {
        device.submit(i, if i == 3 { dispatch(words.clone().into(), 4, 4) } else { program(i) });
    }
    let mut back = 0;
    while let Some(finished) = device.receive() {
        back += 1;
        if finished.id == 3 {
            assert!(!matches!(finished.outcome, DeviceOutcome::Unchecked(_)), "it is for the driver to say: {}", finished.outcome);
            eprintln!("the driver's answer to an invalid module: {}", finished.outcome);
        } else {
            drawn(finished.outcome);
        }
    }
    assert_eq!(back, 20);
}

#[test]
fn a_worker_that_does_not_come_back_loses_the_rest_by_name() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let executable = folder.path().join("smallstep");
    std::fs::copy(env!("CARGO_BIN_EXE_smallstep"), &executable).expect("a copy");
    let fault = with_fault(format!("crash-compile:{:x}", program(0).words_hash()));
    let Some(device) = open(None, Options { executable: Some(executable.clone()), start_attempts: 3, ..fault }) else {
        return;
    };
    std::fs::remove_file(executable).expect("it is there");
    for i in 0..10 {
        device.submit(i, program(i));
    }
    let mut lost = 0;
    for _ in 0..10 {
        match device.receive().expect("every program comes back").outcome {
            DeviceOutcome::Outage(why) => {
                assert!(why.contains("could not be started") && why.contains("(3 attempts)"), "{why}");
                lost += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(lost, 10);
    // Later programs are lost too, without a delay.
    device.submit(10, program(10));
    let outcome = device.receive().expect("it comes back").outcome;
    assert!(matches!(outcome, DeviceOutcome::Outage(_)), "{outcome}");
}

/// No worker can be started for a second. Then the device is available again.
#[test]
fn an_outage_of_a_second_costs_nothing_but_time() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (executable, away) = (folder.path().join("smallstep"), folder.path().join("away"));
    std::fs::copy(env!("CARGO_BIN_EXE_smallstep"), &executable).expect("a copy");
    let fault = with_fault(format!("crash-compile:{:x}", program(3).words_hash()));
    let Some(device) = open(None, Options { executable: Some(executable.clone()), ..fault }) else {
        return;
    };
    std::fs::rename(&executable, &away).expect("it is there");
    for i in 0..10 {
        device.submit(i, program(i));
    }
    std::thread::sleep(Duration::from_secs(1));
    std::fs::rename(&away, &executable).expect("it is there");
    for _ in 0..10 {
        let finished = device.receive().expect("every program comes back");
        match finished.id {
            3 => assert!(matches!(finished.outcome, DeviceOutcome::Crashed { .. }), "{}", finished.outcome),
            id => is_of(id, finished.outcome),
        }
    }
    assert_eq!(device.unrepeated(), 0, "the crash was program 3's");
}

/// A worker is killed from outside while it has several programs. Each program passes when it runs
/// alone, and the failure is counted.
#[cfg(unix)]
#[test]
fn a_failure_that_no_program_repeats_is_counted() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let [script, once, go] = ["worker", "once", "go"].map(|name| folder.path().join(name));
    // The first worker dies once the file `go` exists, while it has programs.
    let text = format!(
        "#!/bin/sh\nif mkdir '{0}' 2>/dev/null; then\n(while [ -d '{0}' ] && [ ! -e '{2}' ]; do sleep 0.1; done; kill -9 $$) & exec '{1}' \"$@\"; fi\n\
         SMALLSTEP_TEST_FAULT= exec '{1}' \"$@\"\n",
        once.display(),
        env!("CARGO_BIN_EXE_smallstep"),
        go.display()
    );
    std::fs::write(&script, text).expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("it is ours");
    // Program 3 hangs in the first worker only.
    let fault = with_fault(format!("hang-compile:{:x}", program(3).words_hash()));
    let Some(device) =
        open(None, Options { executable: Some(script), program_limit: Duration::from_secs(60), compile_threads: 1, ..fault })
    else {
        return;
    };
    for i in 0..10 {
        device.submit(i, program(i));
    }
    for received in 0..10 {
        let finished = device.receive().expect("every program comes back");
        is_of(finished.id, finished.outcome);
        if received == 0 {
            std::fs::write(&go, "").expect("written");
        }
    }
    assert_eq!((device.restarts(), device.unrepeated()), (1, 1));
}

#[test]
fn one_hanging_thread_is_noticed_behind_a_stream_of_programs() {
    let culprit = program(0);
    let options = Options { window: 8, compile_threads: 2, ..with_fault(format!("hang-compile:{:x}", culprit.words_hash())) };
    let options = Options { program_limit: Duration::from_millis(1500), ..options };
    let Some(device) = open(None, options) else {
        return;
    };
    let begun = Instant::now();
    device.submit(0, culprit);
    let mut submitted = 1;
    let mut timed_out = false;
    while !timed_out && begun.elapsed() < Duration::from_secs(60) {
        while device.try_submit(submitted, program(submitted)).is_ok() {
            submitted += 1;
        }
        let finished = device.receive().expect("programs are under way");
        timed_out = finished.id == 0;
        if timed_out {
            assert!(matches!(finished.outcome, DeviceOutcome::TimedOut(_)), "{}", finished.outcome);
        } else {
            drawn(finished.outcome);
        }
    }
    assert!(timed_out, "the program that hangs was not found within a minute, among {submitted}");
}

/// Interpreters on several threads share one device.
#[test]
fn a_device_is_shared_between_threads() {
    let Some(device) = open(None, options()) else {
        return;
    };
    let mut back = std::thread::scope(|scope| {
        let device = &device;
        for part in 0..3 {
            scope.spawn(move || (part * 100..part * 100 + 30).for_each(|i| device.submit(i, program(i))));
        }
        let mut back = Vec::new();
        while back.len() < 90 {
            match device.receive() {
                Some(finished) => {
                    drawn(finished.outcome);
                    back.push(finished.id);
                }
                // Nothing or not everything is submitted yet.
                None => std::thread::yield_now(),
            }
        }
        back
    });
    back.sort_unstable();
    let expected: Vec<u64> = (0..3).flat_map(|part| part * 100..part * 100 + 30).collect();
    assert_eq!(back, expected);
}

#[test]
fn several_culprits_and_several_workers_lose_nothing() {
    let culprits = [3u64, 50, 51, 119];
    let fault: Vec<String> = culprits.iter().map(|i| format!("crash-compile:{:x}", program(*i).words_hash())).collect();
    let Some(mut device) = open(None, Options { workers: 2, window: 32, ..with_fault(fault.join(",")) }) else {
        return;
    };
    let mut back = vec![0; 120];
    for finished in device.run_all((0..120).map(program)) {
        back[finished.id as usize] += 1;
        if culprits.contains(&finished.id) {
            assert!(matches!(finished.outcome, DeviceOutcome::Crashed { .. }), "{}: {}", finished.id, finished.outcome);
        } else {
            drawn(finished.outcome);
        }
    }
    assert_eq!(back, vec![1; 120]);
}

#[test]
fn a_worker_that_does_not_start_is_said_to() {
    let cases = [
        (with_fault("crash-start".into()), "before its device was open"),
        (Options { start_limit: Duration::from_millis(300), ..with_fault("hang-start".into()) }, "did not open its device within 0.3 s"),
        (Options { executable: Some("/no/such/program".into()), ..options() }, "could not be started"),
    ];
    for (options, expected) in cases {
        let said = Device::open(&Selection::First, None, options).err().expect(expected).0;
        assert!(said.contains(expected), "{said:?} lacks {expected:?}");
    }
}

#[test]
fn a_name_that_no_adapter_has_is_said_with_what_there_is() {
    let Some(device) = open(None, options()) else {
        return;
    };
    let selection: Selection = "no such adapter".parse().expect("every text is a selection");
    let said = Device::open(&selection, None, options()).err().expect("there is none").0;
    assert!(said.contains(&device.adapter().name), "{said}");
}

#[test]
fn without_a_driver_the_way_to_one_is_said() {
    let none = [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];
    let environment = none.map(|(name, value)| (name.into(), value.into())).to_vec();
    let said = Device::open(&Selection::First, None, Options { environment, ..options() }).err().expect("there is no driver").0;
    assert!(said.contains("apt-get install mesa-vulkan-drivers"), "{said}");
}

#[test]
fn dropping_a_device_in_the_middle_does_not_wait_for_it() {
    let Some(device) = open_with_fault("hang-run", &drawings(5)) else {
        return;
    };
    for i in 0..20 {
        device.submit(i, program(i));
    }
    let begun = Instant::now();
    drop(device);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
