//! A command that compiles GLSL: `COMMAND FILE -o OUT`. It reads the text from FILE and writes the
//! words to OUT, little-endian.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use smallstep_semantics::spirv;

use crate::amber::{Shader, ShaderError, Source, Stage};
use crate::dispatch::MAX_WORDS;
use crate::source;

/// The time limit for one shader.
pub const LIMIT: Duration = Duration::from_secs(60);
/// The most bytes of the command's output that a message repeats.
const MAX_OUTPUT: u64 = 2_000;

/// A compiler of GLSL as a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerCommand {
    /// The program, and its arguments before the file.
    words: Vec<String>,
    /// The time limit for one shader.
    pub limit: Duration,
}

impl std::str::FromStr for CompilerCommand {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<CompilerCommand, InvalidInput> {
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        if words.is_empty() {
            return Err(InvalidInput::new(InputFault::Text, "there is no command; write it as \"glslc\" or \"glslangValidator -V\""));
        }
        Ok(CompilerCommand { words, limit: LIMIT })
    }
}

impl CompilerCommand {
    /// The arguments for the target environment of a shader, if the shader has one and the command
    /// has none. The program's name selects the syntax of glslc or of glslang. Other programs get
    /// no arguments.
    fn target(&self, shader: &Shader) -> Vec<String> {
        let Some(environment) = shader.target_env.as_deref() else { return Vec::new() };
        let program = Path::new(&self.words[0]).file_stem().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if self.words.iter().any(|word| word.starts_with("--target-")) {
            return Vec::new();
        }
        // `vulkan1.1spv1.4` names both.
        let (api, language) = match environment.find("spv") {
            Some(at) => environment.split_at(at),
            None => (environment, ""),
        };
        if program.starts_with("glslc") {
            let options = [("--target-env=", api), ("--target-spv=", language)];
            options.into_iter().filter(|(_, value)| !value.is_empty()).map(|(option, value)| format!("{option}{value}")).collect()
        } else if program.starts_with("glslang") {
            let name = if language.is_empty() { api.to_string() } else { language.replace("spv", "spirv") };
            vec!["--target-env".into(), name]
        } else {
            Vec::new()
        }
    }

    /// Compiles a shader. The file extension gives the stage: `.vert`, `.frag` or `.comp`.
    ///
    /// # Errors
    /// If the command does not start, fails, exceeds the time limit, or writes no module.
    pub fn compile(&self, shader: &Shader) -> Result<Vec<u32>, ShaderError> {
        let failed = |what: String| ShaderError::Invalid(what);
        let Source::Foreign { text, .. } = &shader.source else { return Err(failed("the shader is not in another language".into())) };
        let program = &self.words[0];
        let io = |e: std::io::Error| failed(format!("{program}: {e}"));
        let folder = tempfile::tempdir().map_err(io)?;
        let ending = match shader.stage {
            Some(Stage::Vertex) => "vert",
            Some(Stage::Fragment) => "frag",
            _ => "comp",
        };
        let (source, out, log_path) =
            (folder.path().join(format!("shader.{ending}")), folder.path().join("out.spv"), folder.path().join("said"));
        fs::write(&source, text.as_bytes()).map_err(io)?;
        let log = File::create(&log_path).map_err(io)?;
        let mut command = Command::new(program);
        command.args(&self.words[1..]).args(self.target(shader)).arg(&source).arg("-o").arg(&out).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(io)?).stderr(log);
        let mut child = command.spawn().map_err(io)?;
        let status = wait(&mut child, self.limit).map_err(io)?;
        let repeated = || {
            let mut bytes = Vec::new();
            let _ = File::open(&log_path).and_then(|file| file.take(MAX_OUTPUT).read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).trim().to_string()
        };
        match status {
            None => return Err(failed(format!("{program} was not done in {} s", self.limit.as_secs_f64()))),
            Some(status) if !status.success() => return Err(failed(format!("{program} ended with {status}: {}", repeated()))),
            Some(_) => {}
        }
        let bytes = source::contents(&out, 4 * MAX_WORDS as u64).map_err(|e| failed(format!("{program} wrote no module: {e}")))?;
        spirv::words_of_bytes(&bytes).map_err(|e| failed(format!("{program} wrote no module: {e}")))
    }
}

/// Waits for a child process up to the limit, and kills it after that.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
