//! The runner of the tests of a case file.

mod module;
mod wsl_program;

use crate::expect::Found;
use crate::file::{BlockKind, CaseFile, Command, Language, Test};
use crate::literal::Literal;
use crate::reject::FoundError;
use crate::show::{derivation_lines, lambda_v_ending, load_code};
use crate::wsl::Until;
use crate::{reject, wsl};
use similar::TextDiff;
use smallstep::compile::lambda_v as translation;
use smallstep::compile::lambda_v::Constants;
use smallstep::compile::wsl::planted::Planted as Bug;
use smallstep::diagnostic::Diagnostic;
use smallstep::gpu::Device;
use smallstep::theorem::case::{Case, NoCase, Planted, Settings, decided};
use smallstep::theorem::check::on_device;
use smallstep::theorem::device::{UnderTest, profile_of};
use smallstep::theorem::{Lanes, Verdict};
use smallstep_semantics::lambda_v::machine::{Bounds, Sharing};
use smallstep_semantics::lambda_v::parse::{SyntaxError, parse};
use smallstep_semantics::lambda_v::print::Printer;
use smallstep_semantics::lambda_v::resolve::{Output, Program};
use smallstep_semantics::lambda_v::step::{Reduction, Setting, Strategy, Theorem, ValueId};
use smallstep_semantics::lambda_v::syntax::line_column;
use smallstep_semantics::lambda_v::terms::TermId;
use smallstep_semantics::lambda_v::types::Type;
use smallstep_semantics::lambda_v::typing::Limits;
use smallstep_semantics::lambda_v::{machine, typing};
use smallstep_semantics::number::{Instruction, Profile};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv;
use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::uniformity::seed;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The default fuel of a test, in steps.
const FUEL: u64 = 100_000;

/// The engines, rules and planted bugs with which tests run.
#[derive(Default)]
pub struct Engines {
    /// The device of `engines=…,gpu`. Without one, these parts of tests are reported as not run.
    pub device: Option<Device>,
    /// Bugs planted in the engines, for tests of the cases themselves.
    pub planted: Planted,
    /// The rules of WSL, which may have a planted bug.
    pub wsl: wsl::Rules,
    /// The rules of the uniformity analysis, which may have a planted bug.
    pub uniformity: seed::Settings,
    /// A bug planted in the translation of WSL.
    pub codegen: Option<Bug>,
}

/// The result of a case file.
#[derive(Debug, Default)]
pub struct FileReport {
    /// The name of the file.
    pub name: String,
    /// The commands of the tests that passed, in order.
    pub passed: Vec<Command>,
    /// The expectations that do not hold.
    pub failures: Vec<Failure>,
    /// The parts that were not run for want of a device, each as `FILE:LINE: ENGINE`.
    pub not_run: Vec<String>,
    /// The tests that a device could not decide, each with the reason.
    pub undecided: Vec<String>,
    /// The lanes that were compared with a device's lanes, and the lanes that were skipped.
    pub lanes: Lanes,
    /// The rules that fired in any test.
    pub fired: BTreeSet<Rule>,
    /// The instructions that the relation of SPIR-V executed in any test.
    pub executed: BTreeSet<Instruction>,
    /// Those of `executed` from tests that the lockstep machine also ran, with the same ending.
    pub in_lockstep: BTreeSet<Instruction>,
    /// The number of calls of WSL that the fast engine also ran. For each strategy it ended as the
    /// relation did.
    pub by_fast_engine: usize,
    /// The same number for dispatches of WSL.
    pub dispatched_by_fast_engine: usize,
    /// The same number for draws of WSL.
    pub drawn_by_fast_engine: usize,
    /// The lines that the blessed blocks should have. The number of a block is the line of its
    /// directive, from 1.
    pub blocks: Vec<(usize, Vec<String>)>,
}

/// An expectation that does not hold.
#[derive(Debug)]
pub struct Failure {
    /// The case and the line of the directive, as `FILE:LINE`.
    pub at: String,
    /// A unified diff from the expected to the found text, or a sentence.
    pub what: String,
    /// The shell command that blesses the found text. `None` if it cannot be blessed.
    pub bless: Option<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.at, self.what.trim_end())?;
        match &self.bless {
            Some(command) => write!(f, "\n  to bless: {command}"),
            None => Ok(()),
        }
    }
}

/// The case files whose names contain `filter`, in the order of their paths.
///
/// Errors: a folder that cannot be read, or a file that is no case.
pub fn collect(root: &Path, filter: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = crate::FOLDERS.iter().map(|f| root.join(f)).filter(|f| f.is_dir()).collect();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if Language::of(&name).is_none() {
                return Err(format!("{name}: a case is a .lv, a .spvasm or a .wsl file"));
            } else if name.contains(filter) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Runs every test of a file.
pub fn run(file: &CaseFile, engines: &mut Engines) -> FileReport {
    let mut report = FileReport { name: file.name.clone(), ..FileReport::default() };
    for test in &file.tests {
        let mut one = Run { file, test, engines, report: &mut report, blocks: Vec::new(), planted: Planted::default(), literal: None };
        if let Err(what) = one.test() {
            let at = format!("{}:{}", file.name, test.line);
            report.failures.push(Failure { at, what, bless: None });
        }
    }
    for (line, rule) in &file.rules {
        if !report.fired.contains(rule) {
            report.failures.push(plain(file, *line, format!("{rule} does not fire")));
        }
    }
    for (line, rule) in &file.not_rules {
        if report.fired.contains(rule) {
            report.failures.push(plain(file, *line, format!("{rule} fires")));
        }
    }
    report
}

fn plain(file: &CaseFile, line: usize, what: String) -> Failure {
    Failure { at: format!("{}:{line}", file.name), what, bless: None }
}

fn diff(expected: &str, found: &str) -> String {
    let (expected, found) = (format!("{expected}\n"), format!("{found}\n"));
    format!("\n{}", TextDiff::from_lines(&expected, &found).unified_diff().header("expected", "found"))
}

/// The instruction, by its opcode. For OpExtInst also the GLSL.std.450 instruction, by its number.
fn instructions(module: &Module, i: &spirv::Instruction) -> impl Iterator<Item = Instruction> {
    let number = i.is(Op::ExtInst) && !module.is_non_semantic(i);
    let extended = number.then(|| Instruction::Glsl(i.operands(module.words())[1]));
    [Instruction::Core(i.op as u16)].into_iter().chain(extended)
}

/// A test that runs.
struct Run<'a> {
    file: &'a CaseFile,
    test: &'a Test,
    engines: &'a mut Engines,
    report: &'a mut FileReport,
    /// The lines found for each kind of block.
    blocks: Vec<(BlockKind, Vec<String>)>,
    /// The bugs planted in the engines and the literal variant.
    planted: Planted,
    literal: Option<&'static Literal>,
}

/// The result of a part of a test. The error is a sentence that says why the test cannot run.
type Ran<T> = Result<T, String>;

impl Run<'_> {
    fn test(&mut self) -> Ran<()> {
        self.planted = self.engines.planted.clone();
        if let Some(name) = self.test.option("literal") {
            let literal = Literal::named(name).ok_or_else(|| format!("no literal variant is called `{name}`"))?;
            (literal.plant)(&mut self.planted);
            self.literal = Some(literal);
        }
        let before = self.report.failures.len();
        // `CaseFile::parse` has checked that the language has this command.
        let found = match self.test.command {
            Command::Parse => self.parse()?,
            Command::Desugar => self.desugar()?,
            Command::Typing if self.file.language == Language::Wsl => self.validate()?,
            Command::Typing => self.typing()?,
            Command::Reject => {
                self.reject()?;
                Found::default()
            }
            Command::Step => self.step()?,
            Command::Translate if self.file.language == Language::Wsl => self.translate_wsl()?,
            Command::Translate => self.translate()?,
            Command::Run if self.file.language == Language::Assembly => self.run_module(None)?,
            Command::Run if self.file.language == Language::Wsl => self.run_grid()?,
            Command::Run => self.run_program()?,
            Command::Agree if self.file.language == Language::Wsl => self.agree_wsl()?,
            Command::Agree => self.agree()?,
            Command::Undefined => self.run_module(None)?,
            Command::Call => self.call()?,
            Command::Uniform => self.uniform()?,
        };
        self.compare(&found)?;
        if self.report.failures.len() == before {
            self.report.passed.push(self.test.command);
        }
        Ok(())
    }

    /// Compares the result with the expectations and the blessed blocks.
    fn compare(&mut self, found: &Found) -> Ran<()> {
        let (file, test) = (self.file, self.test);
        for (line, expect) in &test.expects {
            let met = found.meets(expect).map_err(|e| format!("the expectation on line {line} cannot be met: {e}"))?;
            if !met {
                self.report.failures.push(plain(file, *line, diff(expect, &found.lines().join("\n"))));
            }
        }
        for block in &test.blocks {
            let Some((_, lines)) = self.blocks.iter().find(|(kind, _)| *kind == block.kind) else {
                return Err(format!("there is no {} to compare: {}", block.kind.word(), found.lines().join("; ")));
            };
            // White space at the end of a line is lost when a block is written.
            let lines: Vec<String> = lines.iter().map(|l| l.trim_end().to_string()).collect();
            if lines != block.lines {
                let bless = format!("SPEC_BLESS=1 SPEC_FILTER={} cargo test -p smallstep-spec-tests --test cases", file.name);
                let failure = Failure { bless: Some(bless), ..plain(file, block.line, diff(&block.lines.join("\n"), &lines.join("\n"))) };
                self.report.failures.push(failure);
            }
            self.report.blocks.push((block.line, lines));
        }
        Ok(())
    }

    // Options.

    fn number(&self, key: &str, default: u64) -> Ran<u64> {
        match self.test.option(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{key}={text} is no number")),
        }
    }

    fn pair(&self, key: &str, separator: char, default: (u32, u32)) -> Ran<(u32, u32)> {
        let Some(text) = self.test.option(key) else { return Ok(default) };
        let pair = text.split_once(separator).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        pair.filter(|&(a, b): &(u32, u32)| a < 4096 && b < 4096).ok_or_else(|| format!("{key}={text} is not two numbers below 4096"))
    }

    fn pixel(&self) -> Ran<(u32, u32)> {
        self.pair("pixel", ',', (0, 0))
    }

    fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Ran<T> {
        let text = self.test.option(key).unwrap_or(choices[0].0);
        choices.iter().find(|(name, _)| *name == text).map(|(_, c)| *c).ok_or_else(|| format!("{key}={text} is none of its values"))
    }

    fn theorem(&self) -> Ran<Theorem> {
        self.choice("theorem", &[("corrected", Theorem::Corrected), ("printed", Theorem::Printed)])
    }

    fn constants(&self) -> Ran<Constants> {
        self.choice("constants", &[("module", Constants::InModule), ("opaque", Constants::Opaque)])
    }

    fn profile(&self) -> Ran<Profile> {
        self.choice("profile", &[("strict", Profile::Strict), ("wgsl", Profile::Wgsl)])
    }

    fn setting(&self) -> Ran<Setting> {
        let (x, y) = self.pixel()?;
        let planted = self.planted.reduction;
        Ok(Setting { theorem: self.theorem()?, planted, arithmetic: self.planted.source_arithmetic, ..Setting::at_pixel(x, y) })
    }

    // λV.

    /// The program. A literal variant may rewrite it.
    fn read(&self) -> Result<Program, SyntaxError> {
        let tree = parse(&self.file.text)?;
        Program::resolve(&match self.literal.and_then(|l| l.source) {
            Some(rewrite) => rewrite(&tree),
            None => tree,
        })
    }

    fn program(&self) -> Ran<Program> {
        self.read().map_err(|e| self.unexpected(e.into()))
    }

    fn unexpected(&self, d: Diagnostic) -> String {
        format!("the program is rejected\n{}", d.render(&self.file.name, &self.file.text))
    }

    fn output(&self, program: &Program) -> Ran<Output> {
        match self.test.option("output") {
            None => Ok(program.outputs[0]),
            Some(text) => {
                let found = program.outputs.iter().find(|o| Some(o.location) == text.parse().ok());
                found.copied().ok_or_else(|| format!("the program has no output {text}"))
            }
        }
    }

    fn parse(&mut self) -> Ran<Found> {
        if self.file.language == Language::Wsl {
            let read = self.wsl(Until::Tree)?;
            return Ok(Found::ending(if read.prints_back { "parses" } else { "does not print back" }, ""));
        }
        if self.file.language == Language::Assembly {
            let words = self.words()?;
            let text = spirv::disassemble(&words).map_err(|e| e.to_string())?;
            let again = spirv::assemble(&text, spirv::Options::default()).map_err(|e| e.to_string())?;
            let word = if again == words { "parses" } else { "does not print back" };
            return Ok(Found::ending(word, format!("{} words", words.len())));
        }
        let tree = parse(&self.file.text).map_err(|e| self.unexpected(e.into()))?;
        let print = tree.print();
        let word = match parse(&print) {
            Ok(again) if again.same(&tree) => "parses",
            _ => "does not print back",
        };
        Ok(Found { notes: vec![print.trim_end().replace('\n', " ")], ..Found::ending(word, "") })
    }

    fn typing(&mut self) -> Ran<Found> {
        let program = self.program()?;
        let derivation = match typing::infer_planted(&program, Limits::default(), self.planted.typing) {
            Ok(derivation) => derivation,
            Err(e) => return Err(self.unexpected(e.into())),
        };
        // A literal rule makes derivations that the checker rejects.
        if self.literal.is_none() {
            typing::check(&derivation).map_err(|e| format!("{}, node {}: {}", e.rule, e.node, e.message))?;
        }
        self.report.fired.extend(derivation.rules());
        self.blocks.push((BlockKind::Derivation, derivation_lines(&program, &derivation)));
        let types = program.outputs.iter().zip(derivation.types()).map(|(o, ty)| (o.location, ty.to_string())).collect();
        Ok(Found { types, ..Found::default() })
    }

    fn reject(&mut self) -> Ran<()> {
        let found = match self.file.language {
            Language::LambdaV => self.reject_program().into_iter().collect(),
            Language::Assembly => self.reject_module().into_iter().collect(),
            Language::Wsl => {
                let read = wsl::read(&self.file.text, Until::Validity, &self.wsl_rules());
                self.report.fired.extend(read.fired);
                read.wrong
            }
        };
        if let Some((line, expected, found)) = reject::difference(&self.file.errors, &found) {
            let found = if found.is_empty() { "nothing is wrong" } else { &found };
            self.report.failures.push(plain(self.file, line, diff(&expected, found)));
        }
        Ok(())
    }

    /// The first error of the program.
    fn reject_program(&self) -> Option<FoundError> {
        let error: Diagnostic = match self.read() {
            Err(e) => e.into(),
            Ok(program) => typing::infer_planted(&program, Limits::default(), self.planted.typing).err()?.into(),
        };
        let (line, column) = line_column(&self.file.text, error.span.start);
        Some(FoundError { code: error.code, message: error.message, line, column })
    }

    fn step(&mut self) -> Ran<Found> {
        let program = self.program()?;
        let e = self.output(&program)?.term;
        let fuel = self.number("fuel", FUEL)?;
        let mut reduction = Reduction::new(&program, self.setting()?);
        let strategy = match self.test.option("strategy").unwrap_or("first") {
            "first" => Strategy::First,
            "random" => Strategy::Random(self.number("seed", 1)?),
            "all" => {
                let endings = reduction.explore(e, fuel as usize).ok_or("more terms are reachable than fuel allows")?;
                return match endings.as_slice() {
                    [one] => Ok(lambda_v_ending(one, 0)),
                    several => Ok(Found::ending(
                        "several",
                        several.iter().map(|o| lambda_v_ending(o, 0).lines().join(" ")).collect::<Vec<_>>().join("; "),
                    )),
                };
            }
            other => return Err(format!("strategy={other} is none of first, random and all")),
        };
        let show = |r: &Reduction, e: TermId| {
            let ext = |id: ValueId| r.value_of(id).to_string();
            Printer { terms: &r.terms, symbols: &program.symbols, ext: &ext, limit: 400 }.print(e)
        };
        let mut lines = vec![show(&reduction, e)];
        let fired = &mut self.report.fired;
        let outcome = reduction.run(e, strategy, fuel, &mut |r, _, reduct| {
            fired.insert(reduct.rule);
            fired.extend(reduct.within.iter().copied());
            let within: String = reduct.within.iter().rev().map(|rule| format!(" in {rule}")).collect();
            lines.push(format!("→ {}   [{}{within}]", show(r, reduct.next), reduct.rule));
        });
        self.blocks.push((BlockKind::Trace, lines));
        Ok(lambda_v_ending(&outcome, self.output(&program)?.location))
    }

    fn translated(&mut self) -> Ran<Result<(translation::Module, Module), Found>> {
        let program = self.program()?;
        let options = translation::Options {
            profile: self.profile()?,
            constants: self.constants()?,
            planted: self.planted.translation,
            ..translation::Options::default()
        };
        let translated = match translation::translate(&program, &options) {
            Ok(translated) => translated,
            Err(e) => return Ok(Err(Found::ending("refused", e.to_string()))),
        };
        self.report.fired.extend(&translated.rules);
        let text = spirv::disassemble(&translated.words).map_err(|e| e.to_string());
        if let Ok(text) = &text {
            let lines: Vec<String> = text.lines().filter(|l| !l.starts_with(';')).map(str::to_string).collect();
            let function = lines.iter().position(|l| l.contains("= OpFunction ")).unwrap_or(0);
            self.blocks.push((BlockKind::Spirv, lines[function..].to_vec()));
            self.blocks.push((BlockKind::Module, lines));
        }
        match Module::load(&translated.words) {
            Ok(module) => Ok(Ok((translated, module))),
            Err(e) => Ok(Err(Found::ending(format!("invalid[{}]", load_code(&e)), e.to_string()))),
        }
    }

    fn translate(&mut self) -> Ran<Found> {
        Ok(match self.translated()? {
            Ok((translated, _)) => Found::ending("module", format!("{} words", translated.words.len())),
            Err(refused) => refused,
        })
    }

    fn run_program(&mut self) -> Ran<Found> {
        match self.test.option("engine").unwrap_or("machine") {
            "machine" => {}
            "spirv" => {
                return match self.translated()? {
                    Ok((translated, module)) => self.run_module(Some((&translated, &module))),
                    Err(refused) => Ok(refused),
                };
            }
            other => return Err(format!("engine={other} is none of machine and spirv")),
        }
        let program = self.program()?;
        let output = self.output(&program)?;
        let setting = self.setting()?;
        let bounds = Bounds { fuel: self.number("fuel", FUEL)?, ..Bounds::default() };
        let (by_need, steps) = machine::run(&program, output.term, &setting, bounds);
        let fired = &mut self.report.fired;
        let mut sink = |firing: machine::Firing<'_>| {
            fired.insert(firing.0);
        };
        let (by_name, by_name_steps) = machine::run_watched(&program, output.term, &setting, bounds, Sharing::ByName, Some(&mut sink));
        let (found, other) = (lambda_v_ending(&by_need, output.location), lambda_v_ending(&by_name, output.location));
        if found.lines() != other.lines() || by_need.observed().is_some() && steps != by_name_steps {
            return Err(format!("by need in {steps} steps: {:?}; by name in {by_name_steps}: {:?}", found.lines(), other.lines()));
        }
        Ok(Found { notes: vec![format!("{steps} steps")], ..found })
    }

    fn agree(&mut self) -> Ran<Found> {
        let engines: Vec<&str> = self.test.option("engines").unwrap_or("reference,machine,spirv,gpu").split(',').collect();
        if let Some(other) = engines.iter().find(|e| !["reference", "machine", "spirv", "gpu"].contains(e)) {
            return Err(format!("there is no engine `{other}`"));
        }
        if !engines.contains(&"machine") || !engines.contains(&"spirv") {
            return Err("`agree` compares at least machine and spirv".into());
        }
        let program = self.program()?;
        let settings = Settings {
            profile: self.profile()?,
            constants: self.constants()?,
            theorem: self.theorem()?,
            size: self.pair("size", 'x', (2, 2))?,
            fuel: self.number("fuel", FUEL)?,
            references: engines.contains(&"reference"),
            planted: self.planted.clone(),
            ..Settings::default()
        };
        let case = match Case::new(program.clone(), &settings) {
            Ok(case) => case,
            Err(NoCase::IllTyped(e)) => return Err(self.unexpected(e.into())),
            Err(NoCase::Decided(verdict)) => return Ok(Found::ending(verdict.name(), verdict.why())),
        };
        self.report.fired.extend(case.derivation.rules());
        self.report.fired.extend(&case.translated.rules);
        let ran = case.run(&settings);
        self.report.fired.extend(&ran.rules);
        let mut verdict = ran.verdict.clone();
        let components: Vec<u32> = case.translated.outputs.iter().map(|t| t.components).collect();
        let lanes = decided(&ran.expected, &components);
        if engines.contains(&"gpu") && verdict == Verdict::Agree {
            match &mut self.engines.device {
                None => self.report.not_run.push(format!("{}:{}: gpu", self.file.name, self.test.line)),
                Some(device) => {
                    // The device runs a module of the profile of its own route.
                    let mut device = UnderTest::from(device);
                    let settings = Settings { profile: profile_of(device.route), ..settings.clone() };
                    let leg = on_device(&mut device, &program, &settings);
                    self.report.lanes += leg.lanes;
                    match leg.verdict {
                        // No device can fail where the semantics allows several values. Such a test
                        // counts as undecided, not as agreement.
                        Verdict::Undecided(why) => self.report.undecided.push(format!("{}:{}: {why}", self.file.name, self.test.line)),
                        other => verdict = verdict.worse(other),
                    }
                }
            }
        }
        let mut found = Found::ending(verdict.name(), verdict.why());
        if let Verdict::Disagree(difference) = &verdict
            && let Some(blame) = &difference.blame
        {
            let (line, column) = line_column(&self.file.text, blame.span.start);
            found.notes.push(format!("blame {line}:{column} {} {}", blame.rule, blame.expression));
        }
        if !ran.shown.is_empty() {
            found.notes.push(format!("lanes {} decided, {} undecided", lanes.checked, lanes.undecided));
            let (x, y) = self.pixel()?;
            let pixel = (y * settings.size.0 + x) as usize;
            for ((output, shown), ty) in program.outputs.iter().zip(&ran.shown).zip(case.derivation.types()) {
                if let (Type::Ground(ty), Some(lanes)) = (ty, shown.get(pixel)) {
                    found.values.push((output.location, ty, lanes.iter().take(ty.components()).copied().collect()));
                }
            }
        }
        Ok(found)
    }

    // SPIR-V.
}
