//! WGSL → SPIR-V by naga: its front end, its validator, and its SPIR-V back end. Also the kinds
//! that naga infers for the textures and samplers of a program ([`handles`]).
//!
//! The semantics of WGSL itself is kept: guarded division and conversion, and Workgroup memory that
//! is zero at the start. Further checks that naga can add are off, so that undefined behaviour of
//! the program stays visible: indices are not checked, and loops are not bounded. Overrides are
//! frozen at the given values, or at their defaults. OpLine keeps the source lines.

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::back::spv::{self, DebugInfo, SourceLanguage, WriterFlags};
use naga::front::{self, wgsl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{ImageClass, StorageAccess, TypeInner};
use rspirv::spirv::{BuiltIn, Decoration};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::HEADER_WORDS;
use smallstep_semantics::spirv::{Instruction, decode};
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use crate::diagnostic::bounded;

/// The naga that this program is built with, as quirks name it.
pub const VERSION: &str = "naga 30.0";

/// The time that naga has for a program. naga cannot be interrupted: if it takes longer, its thread
/// goes on until it is done or this process ends.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The message if naga panics.
pub const PANICS: &str = "naga panics on this program";

/// The stack size for naga, which recurses over expressions and types.
const STACK: usize = 256 << 20;

/// The reason why a program has no words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotTranslated {
    /// The text is not valid WGSL. This is the whole message, with its place.
    Invalid(String),
    /// naga cannot write it as SPIR-V. This is its message.
    Unsupported(String),
    /// naga did not finish in time.
    Limit(String),
}

impl std::fmt::Display for NotTranslated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotTranslated::Invalid(what) | NotTranslated::Unsupported(what) | NotTranslated::Limit(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for NotTranslated {}

/// The direction of y in a position, in WGSL and in the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Up in WGSL, as in WebGPU, and down in the words, as in Vulkan. Vertex stages negate y.
    OfEach,
    /// The same direction in both. For WGSL that was made from SPIR-V, the words behave as
    /// the original.
    Kept,
}

/// The SPIR-V 1.3 words of a WGSL text, with all its entry points. `name` is the file for OpLine.
/// `limit` is the time for naga ([`LIMIT`]).
pub fn words(name: &str, text: &str, space: Space, limit: Duration) -> Result<Vec<u32>, NotTranslated> {
    words_with(name, text, space, limit, &[])
}

/// As [`words`], with values for overrides. Each override has a name or an id, and a value that is
/// a number, true or false.
///
/// # Errors
/// Those of [`words`]. Also: there is no such override, or its value has another form.
pub fn words_with(
    name: &str,
    text: &str,
    space: Space,
    limit: Duration,
    overrides: &[(String, String)],
) -> Result<Vec<u32>, NotTranslated> {
    let (done, words) = mpsc::channel();
    let (name, text, overrides) = (name.to_string(), text.to_string(), overrides.to_vec());
    let naga = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        // If the result comes too late, nothing receives it.
        let _ = done.send(translated(&name, &text, space, &overrides));
    });
    if let Err(e) = naga {
        return Err(NotTranslated::Unsupported(format!("no thread for naga: {e}")));
    }
    match words.recv_timeout(limit) {
        Ok(words) => words,
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(NotTranslated::Unsupported(PANICS.into())),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(NotTranslated::Limit(format!("naga has not read the program within {} s", limit.as_secs_f64())))
        }
    }
}

/// The output of naga for a module: words from its SPIR-V front end and back end, or WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// The words of a SPIR-V 1.3 module.
    Words(Vec<u32>),
    /// A WGSL text with all entry points.
    Text(String),
}

/// Lets naga read the words of a module and write them again, as WGSL if `wgsl`. The output of naga
/// is not corrected, and y of positions is unchanged. naga recurses and has no time limit here, so
/// call this only where it may end the process.
///
/// # Errors
/// naga does not read the words, does not validate them, or does not write them.
pub fn rewritten(words: &[u32], wgsl: bool) -> Result<Made, NotTranslated> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let options = front::spv::Options { adjust_coordinate_space: false, ..front::spv::Options::default() };
    let module = front::spv::parse_u8_slice(&bytes, &options).map_err(|e| NotTranslated::Invalid(format!("naga does not read it: {e}")))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|e| {
        let mut text = format!("naga does not validate it: {}", e.as_inner());
        let mut source = std::error::Error::source(e.as_inner());
        while let Some(cause) = source {
            text += &format!(": {cause}");
            source = cause.source();
        }
        NotTranslated::Invalid(text)
    })?;
    let not_written = |what: String| NotTranslated::Unsupported(format!("naga does not write it: {what}"));
    if wgsl {
        let text = naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty());
        return text.map(Made::Text).map_err(|e| not_written(e.to_string()));
    }
    let frozen = process_overrides(&module, &info, None, &PipelineConstants::default());
    let (module, info) = frozen.map_err(|e| not_written(format!("an override has no value: {e}")))?;
    let options = spirv_options(WriterFlags::empty(), None);
    spv::write_vec(&module, &info, &options, None).map(Made::Words).map_err(|e| not_written(e.to_string()))
}

/// naga's options to write SPIR-V 1.3, without bounds checks and without loop bounding.
fn spirv_options<'o>(flags: WriterFlags, debug_info: Option<DebugInfo<'o>>) -> spv::Options<'o> {
    let unchecked = BoundsCheckPolicy::Unchecked;
    spv::Options {
        lang_version: (1, 3),
        flags,
        // Group and binding become descriptor set and binding. naga calls these fake bindings.
        fake_missing_bindings: true,
        bounds_check_policies: BoundsCheckPolicies { index: unchecked, buffer: unchecked, image_load: unchecked, binding_array: unchecked },
        force_loop_bounding: false,
        debug_info,
        ..spv::Options::default()
    }
}

/// Values for overrides in the form of naga: by id if the override has one, otherwise by name.
fn pipeline_constants(module: &naga::Module, overrides: &[(String, String)]) -> Result<PipelineConstants, String> {
    let mut constants = PipelineConstants::default();
    for (constant, value) in overrides {
        let is_named = |o: &naga::Override| o.name.as_ref() == Some(constant) || o.id.is_some_and(|id| id.to_string() == *constant);
        let Some((_, found)) = module.overrides.iter().find(|(_, o)| is_named(o)) else {
            let names: Vec<&str> = module.overrides.iter().filter_map(|(_, o)| o.name.as_deref()).collect();
            let available = if names.is_empty() { "it has none".to_string() } else { format!("there are {}", names.join(", ")) };
            return Err(format!("no override is called \"{constant}\"; {available}"));
        };
        let hexadecimal = value.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok()).map(f64::from);
        let number = match value.as_str() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            other => hexadecimal.or_else(|| other.parse().ok()),
        };
        let number = number.ok_or_else(|| format!("\"{value}\" is no value of the override {constant}; write a number, true or false"))?;
        let key = found.id.map(|id| id.to_string()).or_else(|| found.name.clone()).unwrap_or_else(|| constant.clone());
        constants.insert(key, number);
    }
    Ok(constants)
}

fn translated(name: &str, text: &str, space: Space, overrides: &[(String, String)]) -> Result<Vec<u32>, NotTranslated> {
    let invalid = |what: String| NotTranslated::Invalid(bounded(what.trim_end()));
    let module = wgsl::parse_str(text).map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|e| invalid(e.emit_to_string_with_path(text, name)))?;
    let constants = pipeline_constants(&module, overrides).map_err(|what| invalid(format!("error: {name}: {what}")))?;
    let frozen = process_overrides(&module, &info, None, &constants);
    let (module, info) = frozen.map_err(|e| invalid(format!("an override has no value: {e}")))?;
    let mut flags = WriterFlags::LABEL_VARYINGS | WriterFlags::CLAMP_FRAG_DEPTH | WriterFlags::DEBUG;
    flags.set(WriterFlags::ADJUST_COORDINATE_SPACE, space == Space::OfEach);
    let options = spirv_options(flags, Some(DebugInfo { source_code: text, file_name: name, language: SourceLanguage::WGSL }));
    let words = spv::write_vec(&module, &info, &options, None);
    let words = words.map_err(|e| NotTranslated::Unsupported(format!("naga does not write it as SPIR-V: {e}")))?;
    Ok(shifts_modulo_width(masks_as_arrays(sizes_without_level(words))))
}

/// The words with each size query of a storage image changed to one without a level of detail. naga
/// queries the number of its layers with a level, which SPIR-V allows for sampled images only.
fn sizes_without_level(words: Vec<u32>) -> Vec<u32> {
    let Ok(decoded) = decode(&words) else { return words };
    let defined = |id: u32| decoded.instructions.iter().find(|i| i.result == id);
    let is_storage = |image: u32| {
        let type_ = defined(image).and_then(|i| defined(i.result_type)).filter(|i| i.is(Op::TypeImage));
        type_.is_some_and(|type_| type_.operands(&words).get(5) == Some(&2))
    };
    let mut out = words[..HEADER_WORDS].to_vec();
    for i in &decoded.instructions {
        match (i.op, i.operands(&words)) {
            (Op::ImageQuerySizeLod, &[image, _]) if is_storage(image) => {
                out.extend([4 << 16 | Op::ImageQuerySize as u32, i.result_type, i.result, image]);
            }
            _ => out.extend(i.words(&words)),
        }
    }
    out
}

/// The words with each SampleMask as an array of one integer. naga declares an integer, and Vulkan
/// requires an array (VUID-SampleMask-SampleMask-04359).
fn masks_as_arrays(words: Vec<u32>) -> Vec<u32> {
    let Ok(decoded) = decode(&words) else { return words };
    let mask = BuiltIn::SampleMask as u32;
    let mask_variable = |i: &&Instruction| match i.operands(&words) {
        &[variable, decoration, built_in] if i.is(Op::Decorate) && (decoration, built_in) == (Decoration::BuiltIn as u32, mask) => {
            Some(variable)
        }
        _ => None,
    };
    let variables: Vec<u32> = decoded.instructions.iter().filter_map(|i| mask_variable(&i)).collect();
    let defined = |id: u32| decoded.instructions.iter().find(|i| i.result == id);
    let is_int = |pointer: u32| {
        let pointee = defined(pointer).and_then(|p| p.operands(&words).get(1).copied());
        pointee.and_then(defined).filter(|t| t.is(Op::TypeInt)).map(|t| t.result)
    };
    if variables.is_empty() {
        return words;
    }
    let mut out = words[..HEADER_WORDS].to_vec();
    let mut next = out[3];
    let mut fresh = || {
        next += 1;
        next - 1
    };
    // By variable: the type of a pointer to the integer, and the id of a constant 0.
    let mut arrays: Vec<(u32, u32, u32)> = Vec::new();
    for i in &decoded.instructions {
        let (instruction_words, operands) = (i.words(&words), i.operands(&words));
        let array_of = |variable: u32| arrays.iter().find(|(id, ..)| *id == variable).copied();
        if i.is(Op::Variable)
            && variables.contains(&i.result)
            && let Some(int) = is_int(i.result_type)
        {
            let [zero, one, array, pointer] = [fresh(), fresh(), fresh(), fresh()];
            out.extend([4 << 16 | Op::Constant as u32, int, zero, 0]);
            out.extend([4 << 16 | Op::Constant as u32, int, one, 1]);
            out.extend([4 << 16 | Op::TypeArray as u32, array, int, one]);
            out.extend([4 << 16 | Op::TypePointer as u32, pointer, operands[0], array]);
            // The initializer is an integer and is dropped: the stage stores its output before
            // it ends.
            out.extend([4 << 16 | Op::Variable as u32, pointer, i.result, operands[0]]);
            arrays.push((i.result, i.result_type, zero));
            continue;
        }
        match (i.op, operands.first().and_then(|&id| array_of(id))) {
            (Op::Load | Op::Store, Some((variable, type_, zero))) => {
                let element = fresh();
                out.extend([5 << 16 | Op::AccessChain as u32, type_, element, variable, zero]);
                let at = out.len() + usize::from(i.is(Op::Load)) * 2 + 1;
                out.extend(instruction_words);
                out[at] = element;
            }
            _ => out.extend(instruction_words),
        }
    }
    out[3] = next;
    out
}

/// The words with each shift amount taken modulo the width of the shifted integer, as WGSL defines
/// it ("Bit Expressions"). naga does not, and SPIR-V leaves a shift by the width or more undefined.
/// WGSL refuses constants that are so great.
fn shifts_modulo_width(words: Vec<u32>) -> Vec<u32> {
    let Ok(decoded) = decode(&words) else { return words };
    let defined: FxHashMap<u32, &Instruction> = decoded.instructions.iter().filter(|i| i.result != 0).map(|i| (i.result, i)).collect();
    let component = |type_: u32| match defined.get(&type_).map(|i| (i.op, i.operands(&words))) {
        Some((Op::TypeVector, &[component, count])) => (component, count),
        _ => (type_, 1),
    };
    // The type of the amount and the mask for it, if the amount is computed.
    let masked_amount = |i: &Instruction| match (i.op, i.operands(&words)) {
        (Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic, &[_, amount]) => {
            let computed = |made: &&&Instruction| !matches!(made.op, Op::Constant | Op::ConstantComposite | Op::ConstantNull);
            let width = defined.get(&component(i.result_type).0)?.operands(&words).first()?;
            defined.get(&amount).filter(computed).map(|made| (made.result_type, width - 1))
        }
        _ => None,
    };
    let mut out = words[..HEADER_WORDS].to_vec();
    let mut next = out[3];
    let mut fresh = || {
        next += 1;
        next - 1
    };
    // By type of an amount and mask: the id of the mask.
    let mut masks: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut constants = Vec::new();
    for (type_, mask) in decoded.instructions.iter().filter_map(masked_amount).collect::<BTreeSet<_>>() {
        let ((scalar, count), id) = (component(type_), fresh());
        constants.extend([4 << 16 | Op::Constant as u32, scalar, id, mask]);
        masks.insert((type_, mask), id);
        if count > 1 {
            let vector = fresh();
            constants.extend([(3 + count) << 16 | Op::ConstantComposite as u32, type_, vector]);
            constants.extend(std::iter::repeat_n(id, count as usize));
            masks.insert((type_, mask), vector);
        }
    }
    let mut has_function = false;
    for i in &decoded.instructions {
        if i.is(Op::Function) && !std::mem::replace(&mut has_function, true) {
            out.append(&mut constants);
        }
        let at = out.len();
        match masked_amount(i) {
            Some((type_, mask)) => {
                let (amount, masked) = (i.operands(&words)[1], fresh());
                out.extend([5 << 16 | Op::BitwiseAnd as u32, type_, masked, amount, masks[&(type_, mask)]]);
                out.extend(i.words(&words));
                out[at + 9] = masked;
            }
            None => out.extend(i.words(&words)),
        }
    }
    out[3] = next;
    out
}

/// The kind that naga infers for a texture or a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// A texture that is sampled or fetched.
    Sampled,
    /// A depth texture.
    Depth,
    /// A storage texture, and its accesses.
    Storage {
        /// Texels are read.
        reads: bool,
        /// Texels are written.
        writes: bool,
    },
    /// A sampler.
    Sampler,
    /// A sampler that compares.
    Comparison,
}

/// A program in a language that naga reads.
#[derive(Clone, Copy, Debug)]
pub enum Program<'p> {
    /// WGSL.
    Wgsl(&'p str),
    /// SPIR-V.
    Words(&'p [u32]),
}

/// The textures and samplers that a program declares, by group and binding. `None` if naga cannot
/// read the program.
pub fn handles(program: Program<'_>) -> Option<Vec<((u32, u32), Handle)>> {
    let module = match program {
        Program::Wgsl(text) => wgsl::parse_str(text).ok()?,
        Program::Words(words) => {
            let options = front::spv::Options { adjust_coordinate_space: false, ..front::spv::Options::default() };
            front::spv::Frontend::new(words.iter().copied(), &options).parse().ok()?
        }
    };
    let handle = |(_, variable): (_, &naga::GlobalVariable)| {
        let at = variable.binding?;
        let handle = match module.types[variable.ty].inner {
            TypeInner::Sampler { comparison: false } => Handle::Sampler,
            TypeInner::Sampler { comparison: true } => Handle::Comparison,
            TypeInner::Image { class: ImageClass::Depth { .. }, .. } => Handle::Depth,
            TypeInner::Image { class: ImageClass::Storage { access, .. }, .. } => {
                Handle::Storage { reads: access.contains(StorageAccess::LOAD), writes: access.contains(StorageAccess::STORE) }
            }
            TypeInner::Image { .. } => Handle::Sampled,
            _ => return None,
        };
        Some(((at.group, at.binding), handle))
    };
    Some(module.global_variables.iter().filter_map(handle).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::Module;

    #[test]
    fn a_shader_becomes_a_module_that_loads() {
        let text = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
                    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { a[id.x] = a[id.x] / id.y; }";
        let module = Module::load(&words("a.wgsl", text, Space::OfEach, LIMIT).expect("valid")).expect("loads");
        assert_eq!(module.entry_points()[0].name, "main");
    }

    #[test]
    fn overrides_have_values_by_name_and_by_id() {
        let text = "override size: u32 = 2u; @id(7) override on: bool = false;\n\
                    @group(0) @binding(0) var<storage, read_write> a: u32;\n\
                    @compute @workgroup_size(size) fn main() { if on { a = size; } }";
        let size = |overrides: &[(&str, &str)]| {
            let overrides: Vec<(String, String)> = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            let words = words_with("a.wgsl", text, Space::OfEach, LIMIT, &overrides)?;
            let module = Module::load(&words).expect("loads");
            let mode = module.instructions().iter().find(|i| i.is(Op::ExecutionMode)).expect("one");
            Ok::<u32, NotTranslated>(mode.operands(module.words())[2])
        };
        assert_eq!(size(&[]), Ok(2));
        assert_eq!(size(&[("size", "0x10"), ("on", "true")]), Ok(16));
        assert_eq!(size(&[("7", "1"), ("size", "3")]), Ok(3));
        let refused =
            |overrides: &[(&str, &str)], what: &str| matches!(size(overrides), Err(NotTranslated::Invalid(text)) if text.contains(what));
        assert!(refused(&[("other", "1")], "no override is called \"other\"; there are size, on"));
        assert!(refused(&[("size", "many")], "\"many\" is no value of the override size"));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let Err(NotTranslated::Invalid(text)) = words("a.wgsl", "fn f() -> u32 {\n  return x;\n}", Space::OfEach, LIMIT) else {
            panic!("accepted")
        };
        assert!(text.contains("a.wgsl:2:"), "{text}");
        let deep = format!("const a = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(words("a.wgsl", &deep, Space::OfEach, LIMIT), Err(NotTranslated::Invalid(_))));
    }

    #[test]
    fn a_program_that_takes_naga_long_is_given_up() {
        let chain = "else if (x == 1u) { x = 2u; } ".repeat(2_000);
        let text = format!("@compute @workgroup_size(1) fn main() {{ var x = 0u; if (x == 0u) {{ x = 1u; }} {chain} }}");
        let given_up = words("a.wgsl", &text, Space::OfEach, Duration::from_millis(1));
        assert!(matches!(&given_up, Err(NotTranslated::Limit(what)) if what.contains("within 0.001 s")), "{given_up:?}");
    }

    #[test]
    fn what_naga_says_of_a_long_line_is_not_as_long() {
        let text = format!("fn f() {{ {} }}", "let a = x; ".repeat(100_000));
        let Err(NotTranslated::Invalid(message)) = words("a.wgsl", &text, Space::OfEach, LIMIT) else { panic!("accepted") };
        assert!(message.len() < 4_000 && message.contains('…'), "{} bytes: {message:.300}", message.len());
    }

    #[test]
    fn textures_are_what_naga_declares_them_as() {
        let text = "@group(0) @binding(0) var a: texture_2d<f32>;\n@group(0) @binding(3) var b: texture_depth_2d;\n\
                    @group(1) @binding(0) var c: texture_storage_2d<rgba8unorm, write>;\n@group(1) @binding(1) var d: sampler_comparison;\n\
                    @group(1) @binding(2) var<uniform> e: vec4<f32>;\n\
                    @compute @workgroup_size(1) fn main() { textureStore(c, vec2(0), textureLoad(a, vec2(0), 0) + e); }";
        let expected = [
            ((0, 0), Handle::Sampled),
            ((0, 3), Handle::Depth),
            ((1, 0), Handle::Storage { reads: false, writes: true }),
            ((1, 1), Handle::Comparison),
        ];
        assert_eq!(handles(Program::Wgsl(text)).as_deref(), Some(&expected[..]));
        assert_eq!(handles(Program::Wgsl("fn f(")), None);
        assert_eq!(handles(Program::Words(&[1, 2, 3])), None);
    }

    #[test]
    fn shift_amounts_are_taken_modulo_the_width() {
        use smallstep_semantics::spirv::{Buffer, run};
        let text = "@group(0) @binding(0) var<storage, read_write> a: array<u32, 5>;\n\
                    @compute @workgroup_size(1) fn main() { let n = a[0]; let v = vec2(a[1], 3u) << vec2(n, n);\n\
                    a[1] = a[1] << n; a[2] = u32(-8i >> n); a[3] = v.x; a[4] = v.y << 1u; }";
        let words = words("a.wgsl", text, Space::OfEach, LIMIT).expect("valid");
        let masks = decode(&words).expect("words").instructions.iter().filter(|i| i.is(Op::BitwiseAnd)).count();
        assert_eq!(masks, 3, "not of a constant");
        let bytes = [33u32, 5, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        let outcome = run(&words, "main", [1; 3], &[Buffer { set: 0, binding: 0, bytes }]).expect("runs");
        let shown = outcome.observed().expect("no undefined behaviour").buffers[0].bytes.clone();
        let shown: Vec<u32> = shown.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert_eq!(shown, [33, 10, -4i32 as u32, 10, 12]);
    }

    #[test]
    fn a_sample_mask_is_an_array() {
        let text = "@fragment fn main(@builtin(sample_mask) given: u32) -> @builtin(sample_mask) u32 { return given & 5u; }";
        let words = words("a.wgsl", text, Space::OfEach, LIMIT).expect("valid");
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
        let chains = module.instructions().iter().filter(|i| i.is(Op::AccessChain)).count();
        assert_eq!(chains, 2, "one of what is given, and one of what is left");
    }

    #[test]
    fn a_storage_image_has_no_levels() {
        let text = "@group(0) @binding(0) var a: texture_storage_2d_array<r32float, write>;\n\
                    @group(0) @binding(1) var<storage, read_write> b: u32;\n\
                    @compute @workgroup_size(1) fn main() { b = textureNumLayers(a); }";
        let words = words("a.wgsl", text, Space::OfEach, LIMIT).expect("valid");
        Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    }

    #[test]
    fn y_is_negated_where_each_language_has_its_own() {
        let text = "@vertex fn main() -> @builtin(position) vec4<f32> { return vec4(0.0, 0.5, 0.0, 1.0); }";
        let negates = |space: Space| {
            let words = words("a.wgsl", text, space, LIMIT).expect("valid");
            let module = Module::load(&words).expect("loads");
            module.instructions().iter().any(|i| i.is(Op::FNegate))
        };
        assert!(negates(Space::OfEach) && !negates(Space::Kept));
    }
}
