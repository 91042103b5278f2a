//! Generated GLSL ([`crate::generate::glsl`]), compiled by glslang, through a compiler. The output
//! is compared over generated inputs.

use std::io::Write;
use std::process::{Command, Stdio};

use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::spirv::words_of_bytes;

use super::optimised::{Ends, Wrong};
use super::translated::RunResult;
use crate::generate::glsl::{Stage, shader};
use crate::theorem::compilers::{self, Compiler, Judgement, judge};
use crate::theorem::refine::Settings;
use crate::verdict::Verdict;

/// The number of inputs of each shader.
const INPUTS: u64 = 4;
/// The most instructions of one run.
const FUEL: u64 = 1 << 20;
/// The program that compiles GLSL.
const GLSLANG: &str = "glslangValidator";

/// The verdict on the shader of a seed through a compiler.
pub fn shown(seed: u64, compiler: &Compiler) -> RunResult {
    let (stage, text) = shader(seed);
    let kind = match stage {
        Stage::Compute => "compute shaders",
        Stage::Vertex => "vertex shaders",
        Stage::Fragment => "fragment shaders",
    };
    // The older environment has BufferBlock, the newer one StorageBuffer.
    let environment = if seed.is_multiple_of(3) { "vulkan1.1" } else { "vulkan1.0" };
    let words = match compiled(stage, environment, &text) {
        Ok(words) => words,
        Err(why) => return RunResult::judged(kind, &[], Verdict::Unchecked(why)),
    };
    let settings = Settings {
        inputs: INPUTS,
        seed,
        fuel: FUEL,
        groups: Some([2, 1, 1]),
        schedules: 1,
        budget: Budget { executions: 2, steps: 1 << 12 },
        ..Settings::default()
    };
    let Judgement { status, cause, .. } = judge("the shader", &words, None, compiler, &settings);
    let verdict = match status {
        compilers::Status::Agrees => Verdict::Agree,
        compilers::Status::Vacuous => Verdict::Vacuous(cause),
        compilers::Status::Undecided => Verdict::Undecided(cause),
        compilers::Status::Unchecked => Verdict::Unchecked(cause),
        compilers::Status::Refuses if compiler.may_refuse() => Verdict::Refused(cause),
        compilers::Status::Refuses | compilers::Status::Miscompiles => Verdict::Disagree(Wrong { what: cause, ends: Ends::Shown }),
        compilers::Status::Invalid | compilers::Status::Crashes | compilers::Status::TimesOut => {
            Verdict::Disagree(Wrong { what: cause, ends: Ends::Failed })
        }
    };
    RunResult::judged(kind, &[&words], verdict)
}

/// Compiles a shader to words.
///
/// Errors: glslang is not installed, or refuses the shader. The message is a sentence.
fn compiled(stage: Stage, environment: &str, text: &str) -> Result<Vec<u32>, String> {
    let not_run = |e: std::io::Error| format!("{GLSLANG}: {e}");
    let folder = tempfile::tempdir().map_err(not_run)?;
    let file = folder.path().join("shader.spv");
    let mut command = Command::new(GLSLANG);
    command.args(["-V", "--stdin", "-S", stage.name(), "--target-env", environment, "-o"]).arg(&file);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(not_run)?;
    // glslang reads its whole input before it writes, so this cannot block.
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(not_run)?;
    if !output.status.success() {
        let output_text = String::from_utf8_lossy(&output.stdout);
        let line = output_text.lines().find(|line| line.starts_with("ERROR")).unwrap_or("it fails");
        return Err(format!("{GLSLANG} refuses a generated shader: {line}"));
    }
    written.map_err(not_run)?;
    words_of_bytes(&std::fs::read(&file).map_err(not_run)?).map_err(|e| format!("{GLSLANG} writes no words: {e}"))
}
