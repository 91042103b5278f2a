//! GLSL shaders as people write them, compiled by glslang and optimised by spirv-opt if these are
//! installed. naga and Tint accept the WGSL, and compute shaders execute the same.
//!
//! A first line `// refused: WORDS` means that a shader is refused, with a part of the reason. The
//! least number of inputs of each variant that must agree is 4, or N with `// shows: N`.

use std::path::{Path, PathBuf};
use std::process::Command;

use smallstep::compile::wgsl::{NotConverted, Options, convert};
use smallstep_semantics::spirv::words_of_bytes;

use super::{compared, there_and_back};

/// A way to compile and optimise a shader.
struct Variant {
    name: &'static str,
    /// The arguments of glslangValidator.
    compiled: &'static [&'static str],
    /// The passes of spirv-opt. If there are none, spirv-opt does not run.
    passes: &'static [&'static str],
}

const VARIANTS: &[Variant] = &[
    Variant { name: "plain", compiled: &["--target-env", "vulkan1.1"], passes: &[] },
    Variant { name: "old", compiled: &["--target-env", "vulkan1.0", "-g"], passes: &[] },
    Variant { name: "fast", compiled: &["--target-env", "vulkan1.1"], passes: &["-O"] },
    // Debug information by NonSemantic.Shader.DebugInfo, which optimisers leave in any place.
    Variant { name: "debugged", compiled: &["--target-env", "vulkan1.3", "-gVS"], passes: &["--target-env=vulkan1.3", "-O"] },
    Variant {
        name: "inlined",
        compiled: &["--target-env", "vulkan1.1"],
        passes: &[
            "--merge-return",
            "--inline-entry-points-exhaustive",
            "--scalar-replacement=0",
            "--ssa-rewrite",
            "--loop-unroll",
            "--if-conversion",
            "--eliminate-dead-branches",
            "--merge-blocks",
            "--simplify-instructions",
            "--vector-dce",
        ],
    },
];

/// The words of a shader, compiled and optimised. `None` if glslang or spirv-opt refuses it, or if
/// their output is not valid.
fn compiled(path: &Path, variant: &Variant, folder: &Path) -> Option<Vec<u32>> {
    let (first, second) = (folder.join("first.spv"), folder.join("second.spv"));
    let ran = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !ran(Command::new("glslangValidator").arg("-V").args(variant.compiled).arg("-o").arg(&first).arg(path)) {
        return None;
    }
    let mut out = first;
    if !variant.passes.is_empty() {
        if !ran(Command::new("spirv-opt").args(variant.passes).arg(&out).arg("-o").arg(&second)) {
            return None;
        }
        out = second;
    }
    // spirv-opt may put variables behind debug information, which is not valid.
    if !ran(Command::new("spirv-val").args(["--scalar-block-layout", "--target-env", "vulkan1.3"]).arg(&out)) {
        return None;
    }
    words_of_bytes(&std::fs::read(out).ok()?).ok()
}

fn first_line(text: &str, key: &str) -> Option<String> {
    text.lines().take(2).find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)).map(|rest| rest.trim().to_string())
}

/// Why Tint refuses a text. `None` if it accepts the text, or is not installed.
fn refused_by_tint(wgsl: &str, folder: &Path) -> Option<String> {
    let file = folder.join("converted.wgsl");
    std::fs::write(&file, wgsl).ok()?;
    let output = Command::new("tint").args(["-f", "wgsl", "-o"]).arg(folder.join("out.wgsl")).arg(&file).output().ok()?;
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn shaders_are_accepted_and_execute_the_same() {
    if !["glslangValidator", "spirv-opt", "spirv-val"].into_iter().all(smallstep_spec_tests::tools::is_there) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl_out/shaders");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root).expect("the folder is there").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let (mut wrong, mut accepted, mut agree) = (Vec::new(), 0, 0);
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("it is read");
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let refused = first_line(&text, "refused:");
        let shows: u64 = first_line(&text, "shows:").map_or(4, |count| count.parse().expect("a number"));
        let mut variants = 0;
        for variant in VARIANTS {
            let Some(words) = compiled(path, variant, folder.path()) else { continue };
            variants += 1;
            let at = format!("{name}, {}", variant.name);
            match (convert(&words, &Options::default()), &refused) {
                (Err(NotConverted::Refused(why)), Some(wanted)) if why.to_string().contains(wanted) => continue,
                (Err(other), _) => {
                    wrong.push(format!("{at}: {other}"));
                    continue;
                }
                (Ok(_), Some(wanted)) => {
                    wrong.push(format!("{at}: it is converted, and was to be refused: {wanted}"));
                    continue;
                }
                (Ok(_), None) => {}
            }
            let (wgsl, back) = there_and_back(&words, &Options::default());
            accepted += 1;
            if let Some(said) = refused_by_tint(&wgsl, folder.path()) {
                wrong.push(format!("{at}: Tint refuses it: {said}\n{wgsl}"));
            }
            // The interpreters refuse debug information that an optimiser has misplaced.
            let executes = path.extension().is_some_and(|extension| extension == "comp") && variant.name != "debugged";
            if executes && shows > 0 {
                // Few inputs of some shaders are decided.
                let summary = compared(&words, &back, if shows < 4 { 40 } else { 8 });
                if summary.verdict().name() == "disagree" || summary.agree < shows {
                    wrong.push(format!("{at}: {:?}, {summary:?}\n{wgsl}", summary.verdict()));
                }
                agree += summary.agree;
            }
        }
        if variants == 0 {
            wrong.push(format!("{name}: glslang does not compile it"));
        }
    }
    assert!(wrong.is_empty(), "{} of {accepted}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(accepted > 300 && agree > 1000, "{accepted} accepted, {agree} inputs agree");
}
