//! Features that WGSL has only in another form. Each is tested by execution and by
//! its declarations.

use std::time::Duration;

use smallstep::compile::naga;
use smallstep::compile::wgsl::planted::Change;
use smallstep::compile::wgsl::{Access, Options, convert};
use smallstep::compute::BoundInputs;
use smallstep::run::screen::{Input, Screen};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Limits, Robustness};
use smallstep_semantics::spirv::{LoadOptions, Module};

use super::{assembled, compared, there_and_back};

/// The outputs of a fragment module at its single pixel. `input` has the floats of its input at
/// location 0. The error is the name of the outcome.
fn pixel(words: &[u32], input: &str) -> Result<Vec<Option<[u32; 4]>>, String> {
    let module = Module::load_with(words, &LoadOptions { lenient: true, ..LoadOptions::default() }).map_err(|e| e.to_string())?;
    let inputs: Vec<Input> = vec![format!("0=f32:{input}").parse()?];
    let screen = Screen::new(module, None, (1, 1), &inputs, BoundInputs::default(), Robustness::None)?;
    let (_, _, outcome) = screen.interpret(true, Limits::of_fuel(20_000)).map_err(|e| e.to_string())?;
    match outcome {
        Outcome::Observed(shown) => Ok(shown.picture.images.concat()),
        other => Err(other.name().into()),
    }
}

/// The outputs of the WGSL of a module, with a planted bug or without.
fn converted(words: &[u32], planted: Option<Change>, input: &str) -> Result<Vec<Option<[u32; 4]>>, String> {
    let (_, back) = there_and_back(words, &Options { planted, ..Options::default() });
    pixel(&back, input)
}

#[test]
fn an_invocation_that_a_called_function_kills_does_nothing_more() {
    for text in [include_str!("modules/kills.spvasm"), include_str!("modules/kills_continuing.spvasm")] {
        let words = assembled(text);
        let mut drawn = 0;
        for input in ["0,0,0,0", "2,0,0,0", "5,0,0,0", "7,0,0,0", "-4,0,0,0"] {
            let before = pixel(&words, input);
            assert_eq!(converted(&words, None, input), before, "{input}");
            drawn += u32::from(before.is_ok_and(|lanes| lanes[0].is_some_and(|lanes| lanes[0] != 0)));
        }
        assert!(drawn > 0, "something is drawn");
        // After `discard`, WGSL lets the invocation go on as a helper invocation. With the
        // `discard` removed, the caller must still end.
        let goes_on = |planted: Option<Change>| {
            let text = convert(&words, &Options { planted, ..Options::default() }).expect("it is converted").text;
            assert!(text.contains("discard;"), "{text}");
            let back =
                naga::words("helper.wgsl", &text.replace("discard;", ""), naga::Space::Kept, Duration::from_secs(60)).expect("valid");
            pixel(&back, "0,0,0,0")
        };
        let ended = pixel(&words, "0,0,0,0");
        assert_eq!(goes_on(None), ended);
        assert_ne!(goes_on(Some(Change::Killed)), ended);
    }
}

#[test]
fn variables_that_share_a_location_are_one() {
    let words = assembled(include_str!("modules/components.spvasm"));
    let bits = |floats: [f32; 4]| Ok(vec![Some(floats.map(f32::to_bits))]);
    let shown = converted(&words, None, "1,2,3,4");
    assert_eq!(shown, bits([1.0, 2.0, 3.0, 4.0]));
    assert_ne!(converted(&words, Some(Change::Components), "1,2,3,4"), shown);
    let (wgsl, _) = there_and_back(&words, &Options::default());
    assert!(wgsl.contains("@location(0) location_0: vec4<f32>"), "{wgsl}");
}

/// Equivalent to `modules/descriptors.spvasm`, with a binding for each descriptor.
const DESCRIPTORS: &str = "
    struct B { n: u32, d: array<atomic<u32>> }
    struct U { v: vec4<f32> }
    @group(0) @binding(0) var<storage, read_write> b0: B;
    @group(0) @binding(1) var<storage, read_write> b1: B;
    @group(0) @binding(3) var<storage, read_write> b2: B;
    @group(0) @binding(4) var<uniform> u0: U;
    @group(0) @binding(2) var<uniform> u1: U;
    @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {
        atomicStore(&b0.d[id.x], b1.n + u32(u1.v.x));
        b2.n = 7u;
        let value = u32(select(u1.v.y, u0.v.y, id.x % 2u == 0u));
        if (id.x + 1u) % 3u == 0u { atomicStore(&b0.d[0], value); }
        if (id.x + 1u) % 3u == 1u { atomicStore(&b1.d[0], value); }
        if (id.x + 1u) % 3u == 2u { atomicStore(&b2.d[0], value); }
        atomicAdd(&b1.d[1], 2u);
        b0.n = arrayLength(&b2.d);
    }";

#[test]
fn each_descriptor_of_an_array_is_a_variable() {
    let words = assembled(include_str!("modules/descriptors.spvasm"));
    let reference = naga::words("reference.wgsl", DESCRIPTORS, naga::Space::Kept, Duration::from_secs(60)).expect("valid");
    let (wgsl, back) = there_and_back(&words, &Options::default());
    let summary = compared(&reference, &back, 12);
    assert_eq!(summary.verdict().name(), "agree", "{summary:?}\n{wgsl}");
    assert!(summary.agree >= 6, "{summary:?}");
    let planted = there_and_back(&words, &Options { planted: Some(Change::Descriptors), ..Options::default() }).1;
    assert_eq!(compared(&reference, &planted, 12).verdict().name(), "disagree");
    let notes = convert(&words, &Options::default()).expect("it is converted").notes;
    assert!(notes.contains(&"element 1 of the array of descriptors at set 0, binding 0, is at binding 1".into()), "{notes:?}");
}

#[test]
fn push_constants_are_a_uniform_buffer() {
    let words = assembled(include_str!("modules/push.spvasm"));
    let (wgsl, _) = there_and_back(&words, &Options::default());
    assert!(wgsl.contains("@group(0) @binding(1) var<uniform> "), "{wgsl}");
    let notes = convert(&words, &Options::default()).expect("it is converted").notes;
    assert_eq!(notes, ["the push constants are a uniform buffer at set 0, binding 1"]);
}

#[test]
fn the_length_of_a_workgroup_variable_may_be_an_override() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/lengths.spvasm")), &Options::default());
    for line in [
        "@id(1) override N: u32 = 4u;",
        "override length_1: u32 = N * 2u;",
        "var<workgroup> sh: array<u32, length_1>;",
        "var<workgroup> t2: array<array<u32, 3>, N>;",
    ] {
        assert!(wgsl.contains(line), "{line} is not in\n{wgsl}");
    }
}

#[test]
fn a_layout_that_uniform_buffers_lack_is_words() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/words.spvasm")), &Options::default());
    assert!(wgsl.contains("var<uniform> u: array<vec4<u32>, "), "{wgsl}");
}

/// WGSL has no structure without members. The conversion leaves it out of buffers, and drops a
/// buffer that holds nothing else. A runtime array of such structures becomes words, which keep
/// its length.
#[test]
fn structures_without_members_take_no_bytes() {
    let words = assembled(include_str!("modules/nothing.spvasm"));
    let (wgsl, back) = there_and_back(&words, &Options::default());
    let summary = compared(&words, &back, 24);
    assert!(summary.verdict().name() == "agree" && summary.agree == 24, "{summary:?}\n{wgsl}");
    assert!(wgsl.contains("@size(16) field2: S") && wgsl.contains("array<u32>;") && !wgsl.contains("@binding(3)"), "{wgsl}");
    let planted = there_and_back(&words, &Options { planted: Some(Change::Nothing), ..Options::default() }).1;
    assert_ne!(planted, back);
    let refused = std::panic::catch_unwind(|| compared(&words, &planted, 24).verdict().name());
    assert!(!matches!(refused, Ok("agree")), "{refused:?}");
}

/// Equivalent to `modules/variable_pointers.spvasm`, without pointers.
const VARIABLE_POINTERS: &str = "
    struct A { words: array<u32, 16> }
    struct Pair { x: u32, y: u32 }
    struct B { first: Pair, pairs: array<Pair, 16> }
    @group(0) @binding(0) var<storage, read_write> a: A;
    @group(0) @binding(1) var<storage, read_write> b: B;
    @group(0) @binding(2) var<storage, read_write> c: A;
    var<workgroup> cells: array<u32, 4>;
    fn read(which: u32, i: u32) -> u32 {
        if which == 0u { return a.words[i + 4u]; }
        if which == 1u { return b.pairs[i].y; }
        return b.pairs[i + 4u].x;
    }
    fn write(which: u32, i: u32, value: u32) {
        if which == 0u { a.words[i + 4u] = value; }
        else if which == 1u { b.pairs[i].y = value; }
        else { b.pairs[i + 4u].x = value; }
    }
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
        let av = a.words[i];
        let is_odd = (av & 1u) != 0u;
        let p = select(1u, 0u, is_odd);
        let old = read(p, i);
        write(p, i, old + 5u);
        let q = select(2u, p, i < 2u);
        let r1 = read(q, i);
        write(q, i, r1 + i);
        var r2 = read(q, i);
        if is_odd { r2 = b.first.x; }
        var at = i;
        var x = q;
        var y = 2u;
        var sum = 0u;
        for (var k = 0u; k < av % 4u; k++) {
            let seen = a.words[at];
            let other = read(x, i);
            write(x, i, other + 1u);
            sum = sum * 3u + seen + other;
            let swapped = x;
            x = y;
            y = swapped;
            at += 4u;
        }
        let t = sum + a.words[at] * 3u + read(x, i) * 7u;
        cells[i] = av;
        workgroupBarrier();
        c.words[i] = old;
        c.words[i + 4u] = r1 + r2 * 3u;
        c.words[i + 8u] = t;
        c.words[i + 12u] = cells[select(i, i ^ 1u, i < 2u)];
    }";

#[test]
fn pointers_that_are_values_are_made_again_from_what_is_saved() {
    let words = assembled(include_str!("modules/variable_pointers.spvasm"));
    let reference = naga::words("reference.wgsl", VARIABLE_POINTERS, naga::Space::Kept, Duration::from_secs(60)).expect("valid");
    let (wgsl, back) = there_and_back(&words, &Options::default());
    let summary = compared(&reference, &back, 40);
    assert!(summary.verdict().name() == "agree" && summary.agree >= 20, "{summary:?}\n{wgsl}");
    for planted in [Change::Targets, Change::Indices, Change::Elements, Change::Descriptors, Change::Sequential] {
        let planted_back = there_and_back(&words, &Options { planted: Some(planted), ..Options::default() }).1;
        assert_eq!(compared(&reference, &planted_back, 40).verdict().name(), "disagree", "{planted:?}");
    }
}

#[test]
fn buffers_that_nothing_writes_are_read() {
    let text = include_str!("modules/parts.spvasm").replace("OpDecorate %in NonWritable\n", "");
    let words = assembled(&text);
    let of = |access| convert(&words, &Options { access, ..Options::default() }).expect("it is converted");
    let used = of(Access::Used);
    assert_eq!(used.read, [(0, 0)]);
    assert!(used.text.contains("@binding(0) var<storage, read> ") && used.text.contains("@binding(1) var<storage, read_write> "));
    let declared = of(Access::Declared);
    assert_eq!(declared.read, []);
    assert!(!declared.text.contains("var<storage, read> "), "{}", declared.text);
    // A store through a parameter or a variable pointer counts as a write.
    let variable = assembled(include_str!("modules/variable_pointers.spvasm"));
    assert_eq!(convert(&variable, &Options::default()).expect("it is converted").read, []);
    // A store in a function that no entry point reaches does not count.
    let written = "OpStore %o0 %r1\n";
    let unreached = "%unreached = OpFunction %void None %fn\n%ue = OpLabel\n%up = OpAccessChain %pW %in %u0 %u0\nOpStore %up %u1\n\
                     OpReturn\nOpFunctionEnd\n";
    assert_eq!(convert(&assembled(&format!("{text}{unreached}")), &Options::default()).expect("it is converted").read, [(0, 0)]);
    let also = text.replace(written, &format!("{written}OpStore %a_p %r1\n"));
    assert_eq!(convert(&assembled(&also), &Options::default()).expect("it is converted").read, []);
}

/// A vector may have a variable part and a constant part that WGSL refuses there, such as a divisor
/// of 0 or a shift by 32 bits. The text does not make it a constant, so naga accepts it.
#[test]
fn vectors_with_a_part_that_wgsl_does_not_take_are_no_constants() {
    let text = include_str!("modules/traps.spvasm");
    let at = "%ext = OpVectorExtractDynamic";
    for (op, part) in [("OpUDiv", "%u0"), ("OpUMod", "%u0"), ("OpShiftLeftLogical", "%thirtytwo")] {
        let made = format!(
            "%made = OpCompositeConstruct %uint3 %a {part} %u1\n%lanes = OpCompositeConstruct %uint3 %a %a %a\n\
             %many = {op} %uint3 %lanes %made\n%lane = OpCompositeExtract %uint %many 0\n{at}"
        );
        let text = text.replace(at, &made).replace("OpStore %op13 %ext", "%last = OpIAdd %uint %ext %lane\nOpStore %op13 %last");
        let text = text.replace("%u0 = OpConstant %uint 0", "%u0 = OpConstant %uint 0\n%thirtytwo = OpConstant %uint 32");
        let (wgsl, _) = there_and_back(&assembled(&text), &Options::default());
        let held = |line: &str| line.trim_start().starts_with("var t") && line.contains(" = vec3<u32>(");
        assert!(wgsl.lines().any(held), "{op}:\n{wgsl}");
    }
}

/// A name that WGSL cannot declare, or that is taken, is replaced. A note says so.
#[test]
fn entry_points_may_lose_their_names() {
    let text = include_str!("modules/exits.spvasm").replace("\"main\"", "\"vs-main.0\"");
    let (wgsl, _) = there_and_back(&assembled(&text), &Options::default());
    assert!(wgsl.contains("fn vs_main_0("), "{wgsl}");
    let notes = convert(&assembled(&text), &Options::default()).expect("it is converted").notes;
    assert_eq!(notes, ["the entry point \"vs-main.0\" is called vs_main_0"]);
}
