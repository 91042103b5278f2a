//! The properties that must hold for arbitrary bytes. The fuzz targets and the mutation tests
//! share them.
//!
//! Each function takes bytes, and panics if a property fails. An input may be rejected with
//! an error.

mod dispatch;
mod draw;
mod edit;
mod wsl;

pub use dispatch::{dispatch, engines};
pub use draw::{draw, modules, stages};
pub use edit::{EDIT, edited};
pub use wsl::{wsl_execute, wsl_lex, wsl_parse, wsl_validate};

use crate::amber;
use crate::run::amber::{self as playing, Engine, Interpreter, Modules, Player, Step};
use crate::theorem::Verdict;
use crate::theorem::case::Settings;
use crate::theorem::check::{Checked, Checker, Options};
use smallstep_semantics::lambda_v::parse as lv;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::typing::Limits;
use smallstep_semantics::number::Arithmetic;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv;

/// λV text. The result is an error inside of the text, or a tree whose printed text parses to the
/// same tree.
pub fn parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match lv::parse(text) {
        Err(e) => assert!(e.span.start as usize <= text.len(), "{e:?} lies outside the text"),
        Ok(tree) => {
            let printed = tree.print();
            let reparsed = lv::parse(&printed).unwrap_or_else(|e| panic!("{printed} does not read back: {e:?}"));
            assert!(tree.same(&reparsed), "{printed} reads back to another tree");
            if let Err(e) = Program::resolve(&tree) {
                assert!(e.span.start as usize <= text.len(), "{e:?} lies outside the text");
            }
        }
    }
}

/// SPIR-V assembly. The result is an error with a place, or words whose disassembly assembles to
/// the same words.
pub fn assemble(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(words) = spirv::assemble(text, spirv::Options::default()) else { return };
    // `!` words can make anything, so the result need not be a module.
    let Ok(disassembled) = spirv::disassemble(&words) else { return };
    let reassembled =
        spirv::assemble(&disassembled, spirv::Options::default()).unwrap_or_else(|e| panic!("{disassembled}\ndoes not assemble: {e}"));
    // The text does not contain a version, generator or schema other than the assembler's own.
    assert_eq!(words.get(5..), reassembled.get(5..), "{disassembled}\nassembles to other words");
}

/// SPIR-V words. The result is an error, or a module on which the relation and the machine agree.
pub fn words(bytes: &[u8]) {
    let Ok(words) = spirv::words_of_bytes(bytes) else { return };
    let Ok(module) = spirv::Module::load(&words) else { return };
    // The uniformity analysis terminates for every module.
    let _ = smallstep_semantics::uniformity::spirv::analyse(&module);
    let Ok(program) = spirv::Program::compile(&module, "main") else { return };
    let buffers = [spirv::Buffer { set: 0, binding: 0, bytes: vec![0x3f; 64] }];
    let inputs = spirv::Inputs { frag_coord: [1.5, 2.5, 0.0, 1.0], buffers: &buffers };
    let by_machine = program.run(&inputs, 2_000, &Arithmetic::default());
    let by_relation = spirv::step::run(&module, "main", &inputs, 2_000, &spirv::Relation::default(), &mut ())
        .unwrap_or_else(|e| panic!("the relation refuses what the machine compiled: {e}"));
    match (&by_machine, &by_relation) {
        (Outcome::Observed(a), Outcome::Observed(b)) => assert_eq!(a, b),
        (a, b) => assert_eq!(a.name(), b.name(), "{a:?} and {b:?}"),
    }
    assert!(!matches!(by_machine, Outcome::Stuck(_)), "a module that was loaded is stuck: {by_machine:?}");
}

/// λV text on everything but a device. It never refutes the theorem.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let settings =
        Settings { size: (1, 1), fuel: 2_000, limits: Limits { nodes: 20_000, terms: 200_000, path: 5_000 }, ..Settings::default() };
    let options = Options { settings, ..Options::default() };
    let Ok(mut checker) = Checker::open(options) else { return };
    if let checked @ Checked::Judged { .. } = checker.check("input", text) {
        let verdict = checked.verdict();
        assert!(!matches!(verdict, Some(Verdict::Disagree(_))), "{text}\n{verdict:?}");
    }
}

/// A script of either dialect. The result is errors with places inside of the text, or a script
/// whose printed text reads back to the same script. Its expectations are judged. If it is small,
/// its commands run on the interpreter with little fuel, and its draws are computed.
pub fn amber(bytes: &[u8]) {
    const MOST_BYTES: u64 = 1 << 20;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let script = match amber::read(text) {
        Ok(script) => script,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= amber::limits::MAX_ERRORS + 1, "{} errors", errors.len());
            let lines = text.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
            for e in &errors {
                assert!(e.line >= 1 && e.line <= lines && e.column >= 1 && !e.what.is_empty(), "{e} lies outside the text");
            }
            return;
        }
    };
    // A script with a name that AmberScript does not permit, such as a single backslash, is
    // not printed.
    if let Ok(printed) = script.print() {
        let mut reparsed = amber::read(&printed).unwrap_or_else(|e| panic!("{printed}\ndoes not read back: {}", e[0]));
        reparsed.dialect = script.dialect;
        assert!(reparsed == script, "{printed}\nreads back to another script");
    }
    if script.buffers.iter().map(amber::Buffer::size).sum::<u64>() <= MOST_BYTES {
        let contents = script.contents();
        for command in &script.commands {
            if let amber::Action::Expect(expect) = &command.action {
                amber::judge(&script, expect, &contents);
            }
        }
        play(&script, &contents);
    }
}

/// Plays the first commands of a script on the interpreter.
fn play(script: &amber::Script, contents: &amber::Buffers) {
    const COMMANDS: usize = 64;
    const FUEL: u64 = 10_000;
    const SIDE: u32 = 256;
    if script.pipelines.iter().any(|p| p.kind == amber::PipelineKind::Graphics && p.framebuffer.0.max(p.framebuffer.1) > SIDE) {
        return;
    }
    for command in playing::commands(script).take(COMMANDS) {
        if let amber::Action::Run(run) = &command.action
            && script[run.pipeline].kind == amber::PipelineKind::Graphics
            && let Err(what) = playing::draw::drawing(script, contents, run.pipeline, &run.what, ["main", "main"])
        {
            assert!(!what.what.is_empty(), "it says why nothing is drawn");
        }
    }
    let Ok(modules) = Modules::load("a script", script, &playing::Options::default()) else { return };
    let mut player = Player::new(script, &modules);
    let mut engine =
        Engine::Interpreter(Box::new(Interpreter { limits: spirv::environment::Limits::of_fuel(FUEL), ..Interpreter::default() }));
    for command in playing::commands(script).take(COMMANDS) {
        if let Step::Ended(_, end) = player.step(command, &mut engine) {
            assert!(!end.why().is_empty(), "it says why the script ends");
            return;
        }
    }
}

/// Any words are converted to WGSL or rejected, and equal words have equal results.
///
/// Returns whether they were converted.
pub fn wgsl(bytes: &[u8]) -> bool {
    use crate::compile::wgsl::{Options, convert};
    let Ok(words) = smallstep_semantics::spirv::words_of_bytes(bytes) else { return false };
    let (first, second) = (convert(&words, &Options::default()), convert(&words, &Options::default()));
    assert_eq!(first, second, "a conversion depends on more than its words");
    first.is_ok()
}
