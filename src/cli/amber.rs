//! Amber scripts in `smallstep run` and `smallstep check`.

use std::path::{Component, Path};

use clap::Args;
use serde_json::json;
use smallstep::amber::{self, Action, BufferId, Decision, Kind, PipelineKind, Script, ScriptError, Shader, ShaderError};
use smallstep::compute;
use smallstep::gpu::{self, Device, Route, Selection};
pub(crate) use smallstep::run::amber::Leg;
use smallstep::run::amber::compiler::CompilerCommand;
use smallstep::run::amber::{
    self as playing, Compared, End, Engine, Interpreter, Modules, Options, Player, Step, Verdict, requirement, show,
};
use smallstep::source::{self, ReadError};
use smallstep_semantics::concurrency::Schedule;

use super::budget::Budget;
use super::compute::{no_meaning, undefined_json, unknown_meaning};
use super::exit;
use super::input::Environment;
use super::run::write_image;

/// The number of scalars of one buffer that are printed without `--values`.
const FEW: u64 = 256;

/// The most scalars of a buffer in one line of JSON.
const IN_LINE: usize = 1 << 16;

/// How the shaders of Amber scripts become modules.
#[derive(Args)]
#[command(next_help_heading = "Amber scripts")]
pub(crate) struct ScriptArgs {
    /// A compiler of GLSL, run as CMD FILE -o OUT: glslc, or "glslangValidator -V". Without one,
    /// shaders in GLSL are unsupported.
    #[arg(long, value_name = "CMD")]
    glsl_compiler: Option<CompilerCommand>,
    /// What becomes of a RUN that branches on an undefined value: follow (it goes on, with a note,
    /// if all ways show the same), or stop (the script ends there).
    #[arg(long, value_name = "WHAT", value_parser = undefined, default_value = "follow")]
    undefined: OnUndefined,
}

/// The reaction to a branch on an undefined value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnUndefined {
    Follow,
    Stop,
}

/// Reads `follow` or `stop`. The error names both.
fn undefined(text: &str) -> Result<OnUndefined, String> {
    match text {
        "follow" => Ok(OnUndefined::Follow),
        "stop" => Ok(OnUndefined::Stop),
        _ => Err(format!("\"{text}\" is no way to treat undefined values; there are follow and stop")),
    }
}

/// A script with its modules, or the exit code with a message.
type Prepared = Result<(Script, Modules), (u8, String)>;

impl ScriptArgs {
    /// The first option given that only scripts have.
    pub(crate) fn first_option(&self) -> Option<&'static str> {
        let options = [(self.glsl_compiler.is_some(), "--glsl-compiler"), (self.undefined == OnUndefined::Stop, "--undefined")];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    fn follows_undefined(&self) -> bool {
        self.undefined == OnUndefined::Follow
    }

    /// Reads a script, and loads the modules that it runs.
    fn prepare(&self, name: &str, text: &str, lenient: bool, target: Option<&Environment>) -> Prepared {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let files = |path: &str, most: u64| read_file(folder, path, most);
        let mut script = amber::read_with(text, &files).map_err(|errors| {
            // If something is unsupported, nothing else is known to be invalid.
            let unsupported = errors.iter().any(|e| e.kind == Kind::Unsupported);
            let worst = errors.iter().map(error_code).fold(exit::DONE, exit::worse);
            let code = if unsupported { exit::UNSUPPORTED } else { worst };
            let lines: Vec<String> = errors.iter().map(|e| format!("{name}: {e}")).collect();
            (code, lines.join("\n"))
        })?;
        if let Some(target) = target {
            script.target(&target.name);
        }
        let compile = |shader: &Shader| match &self.glsl_compiler {
            Some(command) => command.compile(shader),
            None => Err(ShaderError::Unsupported("no compiler of GLSL is given".into())),
        };
        let glsl: Option<amber::Compiler<'_>> = if self.glsl_compiler.is_some() { Some(&compile) } else { None };
        let modules =
            Modules::load(name, &script, &Options { glsl, lenient }).map_err(|e: ReadError| (super::run::read_code(&e), e.text))?;
        Ok((script, modules))
    }
}

/// The bytes of a file that a script in this folder names. The path must stay within the folder or
/// be absolute.
fn read_file(folder: &Path, path: &str, most: u64) -> std::io::Result<Vec<u8>> {
    let path = Path::new(path);
    if !path.is_absolute() && path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(std::io::Error::other("it is outside of the script's folder; a file elsewhere is named by an absolute path"));
    }
    source::contents(&folder.join(path), most)
}

/// The early ending of a script on an interpreter. `None` if it runs to its end.
fn early_end(script: &Script, modules: &Modules, interpreter: Interpreter) -> Option<End> {
    let mut engine = Engine::Interpreter(Box::new(interpreter));
    let mut player = Player::new(script, modules);
    playing::commands(script).find_map(|command| match player.step(command, &mut engine) {
        Step::Done | Step::Ran(_) | Step::Judged(_) => None,
        Step::Ended(_, end) => Some(end),
    })
}

fn error_code(error: &ScriptError) -> u8 {
    match error.kind {
        Kind::Invalid => exit::INVALID,
        Kind::Unsupported => exit::UNSUPPORTED,
        Kind::Limit => exit::LIMIT,
    }
}

/// The picture that `run` writes.
pub(crate) struct Shown<'a> {
    pub(crate) path: &'a Path,
    /// The location of the attachment. The default is the first one.
    pub(crate) output: Option<u32>,
    pub(crate) alpha: bool,
}

/// The settings of `run`.
pub(crate) struct Running<'a> {
    pub(crate) args: &'a ScriptArgs,
    pub(crate) engine: Option<&'a str>,
    pub(crate) route: Option<Route>,
    pub(crate) schedule: Option<&'a Schedule>,
    pub(crate) lenient: bool,
    pub(crate) subgroup_size: Option<u32>,
    pub(crate) target: Option<&'a Environment>,
    /// The limits of the interpreter. Fuel counts the instructions of each RUN.
    pub(crate) budget: Budget,
    pub(crate) values: bool,
    pub(crate) json: bool,
    pub(crate) image: Option<Shown<'a>>,
}

/// The colour attachment with this location, or else the first one, of the last graphics pipeline
/// that a script runs.
fn attachment(script: &Script, output: Option<u32>) -> Result<BufferId, String> {
    let drawn_pipeline = |command: &amber::Command| match &command.action {
        Action::Run(run) => Some(&script[run.pipeline]).filter(|p| p.kind == PipelineKind::Graphics),
        _ => None,
    };
    let commands: Vec<_> = playing::commands(script).collect();
    let pipeline =
        commands.into_iter().rev().find_map(drawn_pipeline).ok_or("the script runs no graphics pipeline, so that there is no picture")?;
    let found = pipeline.colours.iter().find(|(location, _)| output.is_none_or(|output| output == *location));
    found.map(|(_, view)| view.buffer).ok_or_else(|| match output {
        Some(output) => format!("the pipeline {} has no colour attachment at location {output}", pipeline.name),
        None => format!("the pipeline {} has no colour attachment that a script sees", pipeline.name),
    })
}

impl Running<'_> {
    fn interpreter(&self) -> Result<Option<Interpreter>, (u8, String)> {
        let reference = || compute::Interpreter::Reference { schedule: self.schedule.cloned().unwrap_or_default(), keep_going: false };
        let by = match (self.engine, self.schedule) {
            (Some("reference"), _) | (None, Some(_)) => reference(),
            (Some(other), Some(_)) => {
                return Err((exit::INVALID, format!("error: --schedule is for the reference; the engine is \"{other}\"")));
            }
            (Some("machine" | "spirv"), None) => compute::Interpreter::Machine,
            (None, None) => compute::Interpreter::Any,
            (Some(_), None) => return Ok(None),
        };
        let (limits, follows) = (self.budget.limits(), self.args.follows_undefined());
        Ok(Some(Interpreter { by, limits, follows, subgroup_size: self.subgroup_size, ..Interpreter::default() }))
    }

    /// Plays the script, and prints expectations and buffers. Returns the exit code.
    pub(crate) fn run(&self, name: &str, text: &str) -> Result<u8, (u8, String)> {
        let interpreter = self.interpreter()?;
        let (script, modules) = self.args.prepare(name, text, self.lenient, self.target)?;
        let invalid = |what: String| (exit::INVALID, format!("error: {name}: {what}"));
        let image = self.image.as_ref().map(|image| Ok((image, attachment(&script, image.output)?))).transpose().map_err(invalid)?;
        let checker = match interpreter {
            Some(_) => None,
            None => {
                let limits = self.budget.beside_device()?.limits();
                Some(Interpreter { limits, subgroup_size: self.subgroup_size, ..Interpreter::default() })
            }
        };
        let mut device;
        let (mut engine, engine_name) = match interpreter {
            Some(interpreter) => (Engine::Interpreter(Box::new(interpreter)), "interpreter".to_string()),
            None => {
                let wanted = self.engine.unwrap_or_default();
                let selection: Selection = wanted.parse().unwrap_or_default();
                device = Device::open(&selection, self.route, gpu::Options::default())
                    .map_err(|e| (exit::UNCHECKED, format!("error: no engine is called \"{wanted}\", and as a device: {e}")))?;
                if let Some(lack) = requirement::lacking(&script, device.adapter()) {
                    return Err((exit::UNCHECKED, format!("unchecked: {name}: {lack}")));
                }
                let engine_name = format!("{} ({})", device.adapter().name, device.route());
                (Engine::Device(&mut device), engine_name)
            }
        };
        let mut player = Player::new(&script, &modules);
        let (mut code, mut counts) = (exit::DONE, [0u64; 4]);
        let (mut end, mut undefined_runs) = (None, Vec::new());
        for command in playing::commands(&script) {
            match player.step(command, &mut engine) {
                Step::Done | Step::Ran(_) => {}
                Step::Judged(judgement) => {
                    let decision = judgement.decision();
                    counts[decision as usize] += 1;
                    code = exit::worse(code, decision_code(decision));
                    self.print_judgement(&player, command.line, &judgement);
                }
                Step::Ended(line, ending) => {
                    end = Some((line, ending));
                    break;
                }
            }
        }
        for id in (0..script.buffers.len()).map(BufferId) {
            self.show(&player, id);
        }
        if let Some((Shown { path, alpha, .. }, id)) = image {
            let picture = show::picture(&player, id).ok_or_else(|| invalid(format!("{} is no image", script[id].name)))?;
            write_image(&picture, 0, *alpha, path).map_err(|e| (exit::INVALID, format!("error: {}: {e}", path.display())))?;
        }
        if let (Some(interpreter), None) = (checker, &end) {
            // The result of a device has a meaning only if no RUN has undefined behaviour.
            match early_end(&script, &modules, interpreter) {
                None => {}
                Some(End::Undefined { undefined, report, assembly }) => {
                    tell!("{}\n{report}", no_meaning(&engine_name));
                    code = exit::worse(code, exit::UNDEFINED);
                    undefined_runs.push(undefined_json(&undefined, assembly.as_ref()));
                }
                Some(other) => tell!("{}", unknown_meaning(name, &other.why())),
            }
        }
        if let Some((_, ending)) = &end {
            code = exit::worse(code, end_code(ending));
            match ending {
                End::Undefined { report, .. } => tell!("{report}"),
                other => tell!("{name}: {}", other.why()),
            }
        }
        let [holds, fails, undecided, undefined] = counts;
        let notes: Vec<String> = player.notes.iter().map(|(line, note)| format!("line {line}: {note}")).collect();
        if !self.json {
            notes.iter().for_each(|note| say!("note       {note}"));
        }
        if self.json {
            let end = end.as_ref().map(|(line, end)| {
                let undefined = match end {
                    End::Undefined { undefined, assembly, .. } => Some(undefined_json(undefined, assembly.as_ref())),
                    _ => None,
                };
                let id = undefined.as_ref().map(|undefined| undefined["id"].clone());
                json!({"line": line.0, "kind": end.name(), "id": id, "undefined": undefined, "why": end.why()})
            });
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "engine": engine_name, "end": end, "undefined": undefined_runs, "notes": notes, "exit": code,
                    "expectations": {"holds": holds, "fails": fails, "undecided": undecided, "undefined": undefined}})
            );
        } else {
            say!("{holds} expectations hold, {fails} fail, {undecided} undecided, {undefined} of undefined values");
        }
        Ok(code)
    }

    /// Prints a judgement. A judgement that holds is printed only if all are requested.
    fn print_judgement(&self, player: &Player<'_>, line: amber::Line, judgement: &amber::Judgement) {
        let decision = judgement.decision();
        let open = judgement.open.as_ref().map(|open| playing::open_text(player, open));
        if self.json {
            let failures: Vec<String> = judgement.failures.iter().map(ToString::to_string).collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "expect", "line": line.0, "decision": decision.name(), "failed": judgement.failed,
                    "failures": failures, "open": open})
            );
            return;
        }
        match decision {
            Decision::Holds if !self.values => {}
            Decision::Holds => say!("holds      line {line}"),
            Decision::Fails => {
                for failure in &judgement.failures {
                    say!("{:<10} {failure}", decision.name());
                }
                let listed = judgement.failures.len() as u64;
                if judgement.failed > listed {
                    say!("           {} more", judgement.failed - listed);
                }
            }
            Decision::Undecided | Decision::Undefined => say!("{:<10} {}", decision.name(), open.unwrap_or_default()),
        }
    }

    fn show(&self, player: &Player<'_>, id: BufferId) {
        let buffer = &player.script()[id];
        let most = if self.values { u64::MAX } else { FEW };
        if !self.json {
            say!("{} {}, {} bytes", buffer.name, buffer.data_type.name(), buffer.size());
            show::rows(player, id, most, &mut |row| say!("  {row}"));
            return;
        }
        // Each line is short, however large the buffer is.
        let mut elements = show::elements(player, id, u64::MAX).peekable();
        let mut first = 0usize;
        loop {
            let chunk: Vec<_> = elements
                .by_ref()
                .take(IN_LINE)
                .map(|e| json!({"offset": e.offset, "value": e.text, "known": e.known.name(), "why": e.why}))
                .collect();
            let next = first + chunk.len();
            say!(
                "{}",
                json!({"schema": 1, "kind": "buffer", "name": buffer.name, "type": buffer.data_type.name(), "bytes": buffer.size(),
                    "first": first, "elements": chunk})
            );
            if elements.peek().is_none() {
                return;
            }
            first = next;
        }
    }
}

fn decision_code(decision: Decision) -> u8 {
    match decision {
        Decision::Holds => exit::DONE,
        Decision::Fails => exit::DISAGREE,
        Decision::Undecided => exit::UNCHECKED,
        Decision::Undefined => exit::UNDEFINED,
    }
}

fn end_code(end: &End) -> u8 {
    match end {
        End::Undefined { .. } => exit::UNDEFINED,
        End::Unsupported(_) => exit::UNSUPPORTED,
        End::Limit(_) => exit::LIMIT,
        End::Invalid(_) => exit::INVALID,
        End::Unchecked(_) => exit::UNCHECKED,
        End::Refused(_) => exit::DISAGREE,
        End::Failed(_) => exit::FAILED,
    }
}

/// The result of `check` for a script.
pub(crate) enum Checked {
    /// The script could not be played: the exit code and the reason.
    Refused(u8, String),
    /// The script was played. The interpreter's leg is the first.
    Legs(Vec<Leg>),
}

impl Checked {
    /// The word for it in reports, which is that of the worst leg.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Checked::Refused(exit::UNSUPPORTED, _) => "unsupported",
            Checked::Refused(exit::LIMIT, _) => "unchecked",
            Checked::Refused(..) => "invalid",
            Checked::Legs(legs) => legs.iter().map(|l| l.verdict.clone()).reduce(Verdict::worse).map_or("agree", |v| v.name()),
        }
    }

    /// The exit code. Shortcomings of a device count only if a device was requested.
    pub(crate) fn code(&self, asked_for: bool) -> u8 {
        match self {
            Checked::Refused(code, _) => *code,
            Checked::Legs(legs) => {
                let counts = |leg: &&Leg| !leg.device || asked_for || matches!(leg.verdict, Verdict::Disagree(_) | Verdict::Failed(_));
                legs.iter().filter(counts).map(|leg| leg.verdict.code()).fold(exit::DONE, exit::worse)
            }
        }
    }

    pub(crate) fn print(&self, name: &str) {
        let word = self.word();
        match self {
            Checked::Refused(_, text) => say!("{word:<10} {name}\n{text}"),
            Checked::Legs(legs) => {
                let texts: Vec<String> = legs.iter().map(leg_text).collect();
                say!("{word:<10} {name}: {}", texts.join("; "));
                for note in legs.iter().flat_map(|leg| &leg.notes) {
                    say!("  note: {note}");
                }
                for leg in legs.iter().filter(|l| l.verdict != Verdict::Agree) {
                    say!("  {}: {}", leg.name, leg.verdict.why().replace('\n', "\n  "));
                }
            }
        }
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        let mut object = json!({"schema": 1, "kind": "script", "file": name, "verdict": self.word()});
        match self {
            Checked::Refused(_, text) => object["error"] = json!({"message": text}),
            Checked::Legs(legs) => object["legs"] = legs.iter().map(leg_json).collect(),
        }
        object
    }
}

fn leg_text(leg: &Leg) -> String {
    let compared = leg.compared;
    match (&leg.verdict, leg.device) {
        (Verdict::Agree | Verdict::Undecided(_), false) => {
            format!("{} {} expectations, {} open", leg.name, compared.expectations, compared.open)
        }
        (Verdict::Agree | Verdict::Undecided(_), true) => {
            let by_sets = compared.one_of + compared.within;
            let one_of = if by_sets > 0 { format!(" ({by_sets} by sets of values)") } else { String::new() };
            let Compared { expectations, bytes, left, .. } = compared;
            format!("{} {expectations} expectations, {bytes} bytes{one_of}, {left} undecided", leg.name)
        }
        (other, _) => format!("{} {}", leg.name, other.name()),
    }
}

fn leg_json(leg: &Leg) -> serde_json::Value {
    let compared = leg.compared;
    let difference = match &leg.verdict {
        Verdict::Disagree(d) => Some(json!({"between": [d.between.0.to_string(), d.between.1.to_string()], "line": d.line.0,
            "buffer": d.place.as_ref().map(|p| &p.buffer), "offset": d.place.as_ref().and_then(|p| p.offset),
            "element": d.place.as_ref().map(|p| &p.element), "expected": d.expected, "found": d.found})),
        _ => None,
    };
    json!({"name": leg.name, "verdict": leg.verdict.name(), "why": leg.verdict.why(), "difference": difference, "notes": leg.notes,
        "expectations": {"judged": compared.expectations, "open": compared.open},
        "bytes": {"checked": compared.bytes, "one_of": compared.one_of, "within": compared.within, "undecided": compared.left}})
}

/// Checks a script on the interpreter and on the devices.
pub(crate) fn check(
    args: &ScriptArgs,
    target: Option<&Environment>,
    (budget, subgroup_size): (Budget, Option<u32>),
    name: &str,
    text: &str,
    devices: Vec<&mut Device>,
) -> Checked {
    match args.prepare(name, text, false, target) {
        Err((code, text)) => Checked::Refused(code, text),
        Ok((script, modules)) => {
            let (limits, follows) = (budget.limits(), args.follows_undefined());
            let interpreter = Interpreter { limits, follows, subgroup_size, ..Interpreter::default() };
            Checked::Legs(playing::check(&script, &modules, &interpreter, devices))
        }
    }
}
