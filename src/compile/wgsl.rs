//! WGSL → SPIR-V, by naga: its front end, its validator, and its SPIR-V back end.
//!
//! What WGSL itself defines is kept (guarded division and conversion, Workgroup memory that begins as zeros); what naga may add beyond that is left
//! out, so that undefined behaviour of the program stays visible: indices are not checked, and loops are not bounded. Source lines come along as
//! OpLine.

use naga::back::spv::{self, DebugInfo, SourceLanguage, WriterFlags};
use naga::front::wgsl;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The stack that naga gets, which recurses over expressions and types.
const STACK: usize = 256 << 20;

/// Why there are no words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTranslated {
    /// The text is no valid WGSL: the whole message, with its place.
    Invalid(String),
    /// naga does not write it as SPIR-V: what.
    Unsupported(String),
}

/// The SPIR-V 1.3 words of a WGSL text in the file of that name, with all its entry points.
pub fn words(name: &str, text: &str) -> Result<Vec<u32>, NotTranslated> {
    let translated = std::thread::scope(|scope| {
        let naga = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || translated(name, text));
        naga.map(|naga| naga.join())
    });
    match translated {
        Ok(Ok(words)) => words,
        Ok(Err(_)) => Err(NotTranslated::Unsupported("naga panics on this program".into())),
        Err(e) => Err(NotTranslated::Unsupported(format!("no thread for naga: {e}"))),
    }
}

fn translated(name: &str, text: &str) -> Result<Vec<u32>, NotTranslated> {
    let invalid = |what: String| NotTranslated::Invalid(what.trim_end().into());
    let module = wgsl::parse_str(text).map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
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
        let module = Module::load(&words("a.wgsl", text).expect("valid")).expect("loads");
        assert_eq!(module.entry_points()[0].name, "main");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let Err(NotTranslated::Invalid(text)) = words("a.wgsl", "fn f() -> u32 {\n  return x;\n}") else { panic!("accepted") };
        assert!(text.contains("a.wgsl:2:"), "{text}");
        let deep = format!("const a = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(words("a.wgsl", &deep), Err(NotTranslated::Invalid(_))));
    }
}
