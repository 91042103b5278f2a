//! The cases of `spec-tests/spirv`: one instruction each.

use smallstep::compile::wgsl::{NotConverted, Options, convert};
use smallstep::theorem::refine::Verdict;
use smallstep_semantics::spirv::{self, Module};
use smallstep_spec_tests::file::CaseFile;

use super::{compared, there_and_back};

/// Cases that WGSL cannot express, each with a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("compute-conversion", "integers of 16"),
    ("compute-dot", "WGSL has no such instruction"),
    ("ext-inst-pack", "floats of 64"),
    ("/group-", "enable subgroups"),
    ("image-shapes", "textures of floats only"),
    ("/ptr-", "WGSL compares no pointers"),
];

#[test]
fn cases_of_one_instruction_agree_or_are_refused_for_a_reason() {
    let paths = smallstep_spec_tests::run::collect(&smallstep_spec_tests::root(), "spirv/").expect("the folder can be read");
    let (mut agree, mut with_images, mut drawn, mut wrong, mut refused) = (0, 0, 0, Vec::new(), Vec::new());
    let mut with_arrays = Vec::new();
    for path in &paths {
        let file = CaseFile::read(&smallstep_spec_tests::root(), path).unwrap_or_else(|e| panic!("{e}"));
        let Ok(words) = spirv::assemble(&file.text, spirv::Options::default()) else { continue };
        let Ok(module) = Module::load(&words) else { continue };
        match convert(&words, &Options::default()) {
            Err(NotConverted::Refused(why)) => refused.push((file.name.clone(), why.to_string())),
            Err(other) => wrong.push(format!("{}: {other}", file.name)),
            Ok(_) => {
                let (wgsl, back) = there_and_back(&words, &Options::default());
                if module.entry_points().len() > 1 {
                    continue;
                }
                if module.globals().iter().any(|variable| module.is_descriptor_array(variable.type_)) {
                    // Each element has a binding of its own now, which is another interface.
                    with_arrays.push(file.name.clone());
                    continue;
                }
                match compared(&words, &back, 4).verdict() {
                    Verdict::Disagree(_) => wrong.push(format!("{}:\n{wgsl}", file.name)),
                    Verdict::Agree => {
                        agree += 1;
                        with_images += u64::from(wgsl.contains("texture_"));
                        drawn += u64::from(!wgsl.contains("@compute"));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(with_arrays.iter().all(|name| name.contains("descriptor-not-uniform")) && with_arrays.len() == 2, "{with_arrays:?}");
    let unexpected: Vec<_> =
        refused.iter().filter(|(name, why)| !REFUSED.iter().any(|(case, word)| name.contains(case) && why.contains(word))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(agree > 40 && with_images > 8 && drawn > 8, "{agree} agree, {with_images} with images, {drawn} drawn");
}
