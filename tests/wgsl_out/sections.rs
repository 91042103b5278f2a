//! Modules written by hand, for the sections of seed 002 and for what generated modules have not.

use smallstep::compile::wgsl::planted::Change;
use smallstep::compile::wgsl::{Options, Why, convert};
use smallstep::theorem::refine::Verdict;

use super::{assembled, compared, refusal, there_and_back};

/// The modules: a name, and the text of the section that it is of.
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
    ("composites", include_str!("modules/composites.spvasm")),
];

/// Whether one of the modules shows a mistake.
pub fn catches(change: Change) -> bool {
    let options = Options { planted: Some(change), ..Options::default() };
    MODULES.iter().any(|(_, text)| {
        let words = assembled(text);
        let Ok(converted) = convert(&words, &options) else { return false };
        match smallstep::compile::naga::words("converted.wgsl", &converted.text, std::time::Duration::from_secs(60)) {
            Ok(back) => matches!(compared(&words, &back, 12).verdict(), Verdict::Disagree),
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
        if summary.verdict() != Verdict::Agree || summary.agree < 20 {
            wrong.push(format!("{name}: {:?}\n{summary:?}\n{wgsl}", summary.verdict()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_wgsl_cannot_express_is_refused_with_the_instruction_and_the_reason() {
    let text = include_str!("modules/traps.spvasm").replace("OpControlBarrier %w %w %sem", "OpMemoryBarrier %w %sem");
    let refused = refusal(&assembled(&text));
    assert_eq!(refused.why, Why::Instruction);
    let said = refused.to_string();
    assert!(said.starts_with("OpMemoryBarrier of function %"), "{said}");
    assert!(said.contains("WGSL has no such instruction"), "{said}");
}
