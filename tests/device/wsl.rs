//! Translated WSL programs on a device.

#[path = "../wsl_spirv/texture_cases.rs"]
mod texture_cases;

use super::on_routes;
use smallstep::compile::wsl::{Options, Witness, translate_draw};
use smallstep::dispatch::{Dispatch, DrawDispatch, DrawResult};
use smallstep::gpu::{Device, DeviceOutcome, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{Extent, run};
use smallstep::theorem::device::profile_of;
use smallstep::theorem::journal::Journal;
use smallstep::theorem::probe::Unblamed;
use smallstep::theorem::wsl::{Known, Minimal, Plan, Programs, Quirk, blame_draw, check_on};
use smallstep_semantics::spirv;
use smallstep_semantics::wsl::draw::{Attribute, Draw, Vertices};
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::validate::validate;
use std::path::Path;

#[test]
fn a_device_shows_what_programs_allow() {
    on_routes(&Route::ALL, |device| {
        let kinds = [(Programs::Dispatches, 12), (Programs::Functions, 12), (Programs::Draws, 12)];
        // naga does not read a sample mask with an initial value, which half of the draws have.
        let naga = device.route() == Route::Naga;
        for (programs, count) in kinds.into_iter().filter(|(programs, _)| !(naga && *programs == Programs::Draws)) {
            let extent = Extent { seed: 1, count: Some(count), time: None, shard: (0, 1), threads: 1 };
            let plan = Plan { extent, mix: &[programs], references: 10, profile: profile_of(device.route()), planted: None, via: None };
            let tally = run(&plan, Some(&*device), Journal::none(), &()).expect("no journal is written").tally;
            assert_eq!(tally.findings, [], "{} on {}", device.adapter().name, device.route());
            let (agree, asked) = (tally.all_device().of("agree"), tally.all_device().all());
            // Some draws have points with a size, which WGSL does not have.
            let (least, quarters) = if programs == Programs::Draws { (count / 3, 1) } else { (count / 2, 3) };
            assert!(asked >= least && agree * 4 >= asked * quarters, "{:?}, {:?}", tally.device, tally.unchecked);
        }
    });
}

/// Every case of textures and samplers. A case that the device cannot run is unchecked.
#[test]
fn a_device_shows_what_textures_allow() {
    on_routes(&Route::ALL, |device| {
        let options = Options { profile: profile_of(device.route()), ..Options::default() };
        let naga = device.route() == Route::Naga;
        let (mut wrong, mut refused, mut unchecked, mut agree) = (Vec::new(), 0, Vec::new(), 0);
        for case in texture_cases::CASES {
            assert!(!case.expected.is_empty(), "{}", case.text());
            match case.with(|_, dispatch| check_on(dispatch, device, &options)) {
                Verdict::Agree | Verdict::Undecided(_) => agree += 1,
                Verdict::Unchecked(why) | Verdict::Limit(why) => unchecked.push(format!("{why}: {}", case.text())),
                // naga's reader of SPIR-V panics on some of these modules, and refuses others.
                Verdict::Failed(why) if naga && why.starts_with("crashed") => refused += 1,
                Verdict::Disagree(difference) if naga && difference.what.contains("refuses a module") => refused += 1,
                other => wrong.push(format!("{other:?}: {}", case.text())),
            }
        }
        println!("{} on {}: {agree} agree; unchecked: {unchecked:#?}", device.adapter().name, device.route());
        assert!(wrong.is_empty(), "{} on {}: {wrong:#?}", device.adapter().name, device.route());
        let least = texture_cases::CASES.len() * if naga { 6 } else { 8 } / 10;
        assert!(agree >= least && refused <= 8, "{agree} agree, {refused} are refused: {unchecked:#?}");
    });
}

/// Runs a draw as if the device exchanged the operands of the instruction with result `id`, in
/// one stage.
fn exchanging(device: &mut Device, id: u32, of_vertex: bool, dispatch: Dispatch) -> DeviceOutcome {
    let Dispatch::Draw(draw) = dispatch else { panic!("a draw is asked for") };
    let mut draw = DrawDispatch::clone(&draw);
    let given = draw.words_hash();
    let stage = if of_vertex { &mut draw.vertex } else { &mut draw.fragment };
    let module = spirv::Module::load(&stage.words).unwrap_or_else(|e| panic!("{e}"));
    let at = module.instruction(id).expect("probing keeps ids").offset as usize;
    let mut words = stage.words.to_vec();
    words.swap(at + 3, at + 4);
    stage.words = words.into();
    match device.run(draw).outcome {
        DeviceOutcome::Rendered(result) => DeviceOutcome::Rendered(DrawResult { words_hash: given, ..result }),
        other => other,
    }
}

/// A bug in one subtraction of a draw is blamed on that subtraction, in a vertex or a fragment
/// stage, of integers or floats. Without the bug, nothing is blamed.
#[test]
fn a_bug_in_a_draw_is_blamed_on_the_expression_that_it_is_in() {
    let text = "struct V { float4 p : SV_Position; nointerpolation int k : attribute(1); }
        vertex V v(float2 at : attribute(0), uint n : SV_VertexID) {
            V o;
            o.k = 7 - int(n);
            float2 p = at - float2(0.25, 0.125);
            o.p = float4(p * 2., 0., 1.);
            return o;
        }
        float fall(float x) { return x - 0.25; }
        fragment float4 f(nointerpolation int k : attribute(1)) : SV_Target 0 {
            float sum = 4.;
            for (int i = 0; i < 3; i++) { sum = fall(sum); }
            int left = k - 2;
            return float4(sum, sum > 3. ? 1. : 0., float(left), 1.);
        }";
    let program = validate(text).program.expect("valid");
    let stage = |stage| program.entry_points.iter().find(|e| e.stage == stage).expect("an entry point");
    let words = [-4f32, 4., -4., -12., 12., 4.].map(f32::to_bits).to_vec();
    let draw = Draw {
        program: &program,
        text,
        vertices: Vertices::Shaded {
            entry: stage(Stage::Vertex),
            count: 3,
            instances: 1,
            attributes: vec![Attribute { number: 0, scalar: Scalar::Float, words }],
        },
        fragment: stage(Stage::Fragment),
        size: [6, 5],
        depth: None,
        resources: Vec::new(),
        specialization: Specialization::default(),
    };
    on_routes(&[Route::Passthrough, Route::Naga], |device| {
        let route = device.route();
        let options = Options { profile: profile_of(route), ..Options::default() };
        let modules = translate_draw(&program, draw.vertex(), draw.fragment, &Options { witness: true, ..options }).expect("translates");
        let expressions = [(true, "7 - int(n)"), (true, "at - float2(0.25, 0.125)"), (false, "x - 0.25"), (false, "k - 2")];
        for (of_vertex, expression) in expressions {
            let module = if of_vertex { &modules.vertex } else { &modules.fragment };
            let is_it = |w: &&Witness| w.ty.is_some() && &text[w.span.start as usize..w.span.end as usize] == expression;
            let id = module.witness.iter().find(is_it).expect("the expression has an id").id;
            let blame = blame_draw(&draw, &options, route, &mut |dispatch| exchanging(device, id, of_vertex, dispatch));
            let blame = blame.unwrap_or_else(|unblamed| panic!("{expression} by {route}: {unblamed}"));
            assert_eq!((blame.id, blame.expression.as_str()), (id, expression), "{route}: {blame}");
        }
        match blame_draw(&draw, &options, route, &mut |dispatch| device.run(dispatch).outcome) {
            Err(Unblamed::Vanishes { dispatches }) => assert!(dispatches > 10, "{dispatches}"),
            other => panic!("{route}: {other:?}"),
        }
    });
}

/// Both interpreters agree on each quirk's program. The device with the quirk shows exactly what
/// was recorded. Every other device agrees.
#[test]
fn every_quirk_of_a_wsl_program_is_there_as_recorded_and_nowhere_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec-tests/quirks-wsl");
    let quirks = Quirk::read_folder(&folder).unwrap_or_else(|e| panic!("{e}"));
    for quirk in &quirks {
        assert_eq!(quirk.judged(None), Verdict::Agree, "{}", quirk.name);
    }
    on_routes(&Route::ALL, |device| {
        let route = device.route();
        for quirk in quirks.iter().filter(|quirk| quirk.seen.route == route) {
            let (name, verdict) = (&quirk.name, quirk.judged(Some(&mut *device)));
            match quirk.is_of(device) {
                true => quirk.is_recorded(&verdict).unwrap_or_else(|why| panic!("{name}: {why}")),
                false => assert!(!matches!(verdict, Verdict::Disagree(_)), "{name}: seen elsewhere, and on this device too"),
            }
        }
        for quirk in quirks.iter().filter(|quirk| quirk.seen.route == route && quirk.without.is_some()) {
            assert_eq!(quirk.judged_without(Some(&mut *device)), Some(Verdict::Agree), "{}", quirk.name);
        }
        let known = Known::on(device, &quirks);
        assert!(known.gone.is_empty(), "{:?}", known.gone);
        for quirk in &quirks {
            if !quirk.is_of(device) {
                continue;
            }
            let minimal = Minimal { text: quirk.text.clone(), verdict: quirk.judged(Some(&mut *device)) };
            assert_eq!(known.name_of(&minimal), Some(quirk.name.as_str()));
            let other = Minimal { text: quirk.text.replace("float", "uint"), ..minimal.clone() };
            assert_eq!(known.name_of(&other), None, "another program that is wrong in the same way");
            assert_eq!(known.name_of(&Minimal { verdict: Verdict::Agree, ..minimal }), None);
        }
    });
}

/// `smallstep check` runs WSL files on devices, with inputs that it draws. It finds some recorded
/// bugs of this driver: exit code 1, with the device's name. All other quirks' programs agree, and
/// so do the examples. With the quirks as `--known`, some disagreements are known, but never by
/// quirks of other shapes.
#[test]
fn check_runs_wsl_programs_on_devices() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(device) = super::open(Some(Route::Passthrough), super::options()) else { return };
    let (index, name) = (device.adapter().index.to_string(), device.adapter().name.clone());
    let check_with = |path: &Path, known: &[&Path]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_smallstep"));
        command.args(["check", "--device", &index]).arg(path);
        for folder in known {
            command.arg("--known").arg(folder);
        }
        let output = command.output().expect("starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let check = |path: &Path| check_with(path, &[]);
    let (code, said) = check(&root.join("examples/wsl/particles.wsl"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("\n  {name} (passthrough): 5 agree\n")), "{said}");
    let quirks = Quirk::read_folder(&root.join("spec-tests/quirks-wsl")).expect("quirks");
    let (mut own, mut wrong, mut known) = (0, 0, 0);
    let others = tempfile::tempdir().expect("a folder");
    for quirk in &quirks {
        // A quirk of the same bug by another route has a longer name with the same start.
        let is_own = quirks.iter().any(|own| own.is_of(&device) && quirk.name.starts_with(&own.name));
        let (code, said) = check(&root.join("spec-tests/quirks-wsl").join(format!("{}.wsl", quirk.name)));
        let disagrees = code == Some(1);
        assert_eq!(disagrees, said.starts_with("disagree"), "{}: {said}", quirk.name);
        assert!(is_own || !disagrees, "{}: {said}", quirk.name);
        own += u32::from(is_own);
        wrong += u32::from(disagrees);
        if disagrees {
            let folder = root.join("spec-tests/quirks-wsl");
            let (code, said) = check_with(&quirk.path, &[&folder]);
            let is_known = said.starts_with("disagree (known: ");
            assert_eq!(code, Some(if is_known { 0 } else { 1 }), "{}: {said}", quirk.name);
            known += u32::from(is_known);
            // Quirks with unrelated names have other shapes.
            for other in quirks.iter().filter(|other| !other.name.starts_with(&quirk.name) && !quirk.name.starts_with(&other.name)) {
                std::fs::copy(&other.path, others.path().join(format!("{}.wsl", other.name))).expect("copied");
            }
            let (code, said) = check_with(&quirk.path, &[others.path()]);
            assert_eq!(code, Some(1), "{}: {said}", quirk.name);
            std::fs::remove_dir_all(others.path()).expect("removed");
            std::fs::create_dir(others.path()).expect("made");
        }
    }
    assert!(own < 3 || wrong > 0, "none of {own} known bugs of the device is found");
    assert!(wrong == 0 || known > 0, "none of {wrong} disagreements is known");
}
