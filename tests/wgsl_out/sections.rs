//! Handwritten modules, for the sections of seed 002 and for what generated modules lack.

use smallstep::compile::wgsl::planted::Change;
use smallstep::compile::wgsl::{Options, Why, convert};
use smallstep::theorem::refine::Verdict;

use super::{assembled, compared, refusal, there_and_back};

/// The modules: name and assembly.
pub const MODULES: &[(&str, &str)] = &[
    ("signedness", include_str!("modules/signedness.spvasm")),
    ("traps", include_str!("modules/traps.spvasm")),
    ("layouts", include_str!("modules/layouts.spvasm")),
    ("phis", include_str!("modules/phis.spvasm")),
    ("exits", include_str!("modules/exits.spvasm")),
    ("fallthrough", include_str!("modules/fallthrough.spvasm")),
    ("floats", include_str!("modules/floats.spvasm")),
    ("pointers", include_str!("modules/pointers.spvasm")),
    ("atomics", include_str!("modules/atomics.spvasm")),
    ("specialization", include_str!("modules/specialization.spvasm")),
    ("composites", include_str!("modules/composites.spvasm")),
    ("words", include_str!("modules/words.spvasm")),
    ("push", include_str!("modules/push.spvasm")),
    ("push words", include_str!("modules/push_words.spvasm")),
    ("aliases", include_str!("modules/aliases.spvasm")),
    ("barriers", include_str!("modules/barriers.spvasm")),
    ("selector", include_str!("modules/selector.spvasm")),
    ("lengths", include_str!("modules/lengths.spvasm")),
    ("inputs", include_str!("modules/inputs.spvasm")),
    ("parts", include_str!("modules/parts.spvasm")),
    ("halves", include_str!("modules/halves.spvasm")),
    ("bools", include_str!("modules/bools.spvasm")),
];

/// Whether one of the modules shows a planted bug.
pub fn catches(change: Change) -> bool {
    MODULES.iter().any(|(name, _)| catches_in(name, change))
}

/// Whether the module of that name shows a planted bug.
pub fn catches_in(wanted: &str, change: Change) -> bool {
    let options = Options { planted: Some(change), ..Options::default() };
    MODULES.iter().filter(|(name, _)| *name == wanted).any(|(_, text)| {
        let words = assembled(text);
        let Ok(converted) = convert(&words, &options) else { return false };
        match smallstep::compile::naga::words(
            "converted.wgsl",
            &converted.text,
            smallstep::compile::naga::Space::Kept,
            std::time::Duration::from_secs(60),
        ) {
            Ok(back) => matches!(compared(&words, &back, 12).verdict(), Verdict::Disagree(_)),
            Err(_) => true,
        }
    })
}

#[test]
fn every_module_agrees() {
    let mut wrong = Vec::new();
    for (name, text) in MODULES {
        let words = assembled(text);
        let (wgsl, back) = there_and_back(&words, &Options::default());
        let summary = compared(&words, &back, 40);
        // A module that shows nothing would agree with everything.
        if summary.verdict().name() != "agree" || summary.agree < 20 {
            wrong.push(format!("{name}: {:?}\n{summary:?}\n{wgsl}", summary.verdict()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_wgsl_cannot_express_is_refused_with_the_instruction_and_the_reason() {
    let text = include_str!("modules/atomics.spvasm").replace("OpStore %c2 %a\n", "OpMemoryBarrier %u1 %sem\nOpStore %c2 %a\n");
    let text = text.replace("%u1 = OpConstant %uint 1\n", "%u1 = OpConstant %uint 1\n%sem = OpConstant %uint 72\n");
    let refused = refusal(&assembled(&text));
    assert_eq!(refused.why, Why::Barrier);
    let said = refused.to_string();
    assert!(said.starts_with("OpMemoryBarrier of function %"), "{said}");
    assert!(said.contains("that only some invocations come to"), "{said}");
}

/// In WGSL a vertex stage cannot use a writable storage texture, not even for its size.
#[test]
fn a_texture_whose_size_a_vertex_stage_asks_for_is_read() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/vertex_size.spvasm")), &Options::default());
    assert!(wgsl.contains("texture_storage_2d<r32uint, read>"), "{wgsl}");
}

/// naga panics on a selection by a constant vector that has a vector as a part.
#[test]
fn a_constant_vector_of_bools_has_components_only() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/bools.spvasm")), &Options::default());
    assert!(wgsl.contains("vec3<bool>(vec2<bool>(true, false).x, vec2<bool>(true, false).y, true)"), "{wgsl}");
}

/// WGSL's uniformity analysis ignores the size of workgroups. It would refuse a barrier behind a
/// condition that is read from memory. A workgroup of one invocation needs no barrier.
#[test]
fn a_barrier_of_one_invocation_is_left_out() {
    let module = |size: &str, memory: &str| {
        let text = include_str!("modules/alone.spvasm").replace("LocalSize 1 1 1", size).replace("%workgroup %workgroup", memory);
        let words = assembled(&text);
        let (wgsl, back) = there_and_back(&words, &Options::default());
        let summary = compared(&words, &back, 20);
        (wgsl.contains("Barrier();"), summary.verdict().name())
    };
    assert_eq!(module("LocalSize 1 1 1", "%workgroup %workgroup"), (false, "agree"));
    // With device scope, the barrier orders the atomics of different workgroups.
    assert_eq!(module("LocalSize 1 1 1", "%workgroup %device"), (true, "agree"));
    assert!(module("LocalSize 1 2 1", "%workgroup %workgroup").0);
}

#[test]
fn specialization_constants_are_overrides() {
    let words = assembled(include_str!("modules/specialization.spvasm"));
    let (wgsl, _) = there_and_back(&words, &Options::default());
    for line in ["@id(7) override scale: u32 = 6u;", "@id(9) override on: bool = true;", "@id(8) override ", "scale * 2u"] {
        assert!(wgsl.contains(line), "{line} is not in\n{wgsl}");
    }
    // The length of an array becomes a constant.
    assert!(!wgsl.contains("@id(3)"), "{wgsl}");
    let notes = convert(&words, &Options::default()).expect("it is converted").notes;
    assert!(notes.iter().any(|note| note.starts_with("specialization constant 3 is frozen")), "{notes:?}");
}

/// A 16-bit infinity has no literal, so the text makes it from its bits. With other bits no input
/// agrees.
#[test]
fn halves_that_are_no_numbers_are_made_of_their_bits() {
    let words = assembled(include_str!("modules/halves.spvasm"));
    let (wgsl, _) = there_and_back(&words, &Options::default());
    assert!(wgsl.starts_with("enable f16;") && wgsl.contains("= 0x7c00u;"), "{wgsl}");
    let planted = Options { planted: Some(Change::Text("0x7c00u", "0xfc00u")), ..Options::default() };
    let summary = compared(&words, &there_and_back(&words, &planted).1, 12);
    // Devices may compare infinities differently, so a difference is undecided.
    assert_eq!(summary.agree, 0, "{summary:?}");
}

/// WGSL assumes that private variables differ between invocations, and refuses a barrier behind a
/// condition on one. A function gets the workgroup's number as a parameter if it reads it.
#[test]
fn functions_are_given_the_inputs_that_they_read() {
    let converted = convert(&assembled(include_str!("modules/inputs.spvasm")), &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(!converted.text.contains("var<private>"), "{}", converted.text);
    assert!(converted.text.contains("fn outer(local_1: u32, group_1: vec3<u32>)"), "{}", converted.text);
    assert!(converted.text.contains("fn inner(group_1: vec3<u32>)"), "{}", converted.text);
}
