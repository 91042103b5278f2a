//! WGSL → SPIR-V, by naga: its front end, its validator, and its SPIR-V back end.
//!
//! What WGSL itself defines is kept (guarded division and conversion, Workgroup memory that begins
//! as zeros); what naga may add beyond that is left out, so that undefined behaviour of the program
//! stays visible: indices are not checked, and loops are not bounded. Overrides are frozen at their
//! defaults. Source lines come along as OpLine.

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::back::spv::{self, DebugInfo, SourceLanguage, WriterFlags};
use naga::front::wgsl;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::sync::mpsc;
use std::time::Duration;

use crate::diagnostic::bounded;

/// How long naga has for a program. It cannot be interrupted: where it takes longer, its thread
/// goes on until it is done or this process ends.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The stack that naga gets, which recurses over expressions and types.
const STACK: usize = 256 << 20;

/// Why there are no words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTranslated {
    /// The text is no valid WGSL: the whole message, with its place.
    Invalid(String),
    /// naga does not write it as SPIR-V: what.
    Unsupported(String),
    /// naga was not done in its time.
    Limit(String),
}

/// The SPIR-V 1.3 words of a WGSL text in the file of that name, with all its entry points. naga
/// has so long for it ([`LIMIT`]).
pub fn words(name: &str, text: &str, limit: Duration) -> Result<Vec<u32>, NotTranslated> {
    let (done, words) = mpsc::channel();
    let (name, text) = (name.to_string(), text.to_string());
    let naga = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody takes it where it comes too late.
        let _ = done.send(translated(&name, &text));
    });
    if let Err(e) = naga {
        return Err(NotTranslated::Unsupported(format!("no thread for naga: {e}")));
    }
    match words.recv_timeout(limit) {
        Ok(words) => words,
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(NotTranslated::Unsupported("naga panics on this program".into())),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(NotTranslated::Limit(format!("naga has not read the program within {} s", limit.as_secs_f64())))
        }
    }
}

fn translated(name: &str, text: &str) -> Result<Vec<u32>, NotTranslated> {
    let invalid = |what: String| NotTranslated::Invalid(bounded(what.trim_end()));
    let module = wgsl::parse_str(text).map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
    // Overrides have their defaults.
    let frozen = process_overrides(&module, &info, None, &PipelineConstants::default());
    let (module, info) = frozen.map_err(|e| invalid(format!("an override has no value: {e}")))?;
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: WriterFlags::ADJUST_COORDINATE_SPACE | WriterFlags::LABEL_VARYINGS | WriterFlags::CLAMP_FRAG_DEPTH | WriterFlags::DEBUG,
        // Group and binding are taken as descriptor set and binding; naga calls that fake.
        fake_missing_bindings: true,
        bounds_check_policies: BoundsCheckPolicies { index: unchecked, buffer: unchecked, image_load: unchecked, binding_array: unchecked },
        force_loop_bounding: false,
        debug_info: Some(DebugInfo { source_code: text, file_name: name, language: SourceLanguage::WGSL }),
        ..spv::Options::default()
    };
    spv::write_vec(&module, &info, &options, None).map_err(|e| NotTranslated::Unsupported(format!("naga does not write it as SPIR-V: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::Module;

    #[test]
    fn a_shader_becomes_a_module_that_loads() {
        let text = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
                    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { a[id.x] = a[id.x] / id.y; }";
        let module = Module::load(&words("a.wgsl", text, LIMIT).expect("valid")).expect("loads");
        assert_eq!(module.entry_points()[0].name, "main");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let Err(NotTranslated::Invalid(text)) = words("a.wgsl", "fn f() -> u32 {\n  return x;\n}", LIMIT) else { panic!("accepted") };
        assert!(text.contains("a.wgsl:2:"), "{text}");
        let deep = format!("const a = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(words("a.wgsl", &deep, LIMIT), Err(NotTranslated::Invalid(_))));
    }

    #[test]
    fn a_program_that_takes_naga_long_is_given_up() {
        let chain = "else if (x == 1u) { x = 2u; } ".repeat(2_000);
        let text = format!("@compute @workgroup_size(1) fn main() {{ var x = 0u; if (x == 0u) {{ x = 1u; }} {chain} }}");
        let given_up = words("a.wgsl", &text, Duration::from_millis(1));
        assert!(matches!(&given_up, Err(NotTranslated::Limit(what)) if what.contains("within 0.001 s")), "{given_up:?}");
    }

    #[test]
    fn what_naga_says_of_a_long_line_is_not_as_long() {
        let text = format!("fn f() {{ {} }}", "let a = x; ".repeat(100_000));
        let Err(NotTranslated::Invalid(said)) = words("a.wgsl", &text, LIMIT) else { panic!("accepted") };
        assert!(said.len() < 4_000 && said.contains('…'), "{} bytes: {said:.300}", said.len());
    }
}
