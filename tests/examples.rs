//! Every program of `examples/`: typed, translated, and run by every engine on pixels all over
//! its picture.

use pretty_assertions::assert_eq;
use smallstep::compile::lambda_v::{Constants, Options, translate};
use smallstep::run::{Grid, Interpreter, Picture, interpret};
use smallstep::source::{self, Loaded, Source};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::{Case, Settings};
use smallstep_semantics::lambda_v::typing;
use std::path::PathBuf;

/// Pixels of a picture of 256 by 256: corners, the middle, and between.
const PIXELS: [(u32, u32); 6] = [(0, 0), (128, 128), (200, 60), (37, 190), (101, 140), (255, 255)];

fn examples() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).expect("examples are there").map(|e| e.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "lv"));
    files.sort();
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("readable"))).collect()
}

fn seen(source: &Source, on: Interpreter, pixel: (u32, u32)) -> Picture {
    let grid = Grid { pixel: Some(pixel), fuel: 200_000, ..Grid::new((256, 256)) };
    let picture = interpret(source, on, &grid, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(picture.endings, []);
    Picture { steps: 0, ..picture }
}

#[test]
fn there_are_a_dozen_and_each_says_what_it_shows() {
    let examples = examples();
    assert!(examples.len() >= 12);
    for (name, text) in examples {
        let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with(';')).collect();
        assert!(comment.len() >= 3, "{name} begins with a comment");
        let command = format!("smallstep run examples/{name} --size 256x256 ");
        assert!(comment.iter().any(|line| line.contains(&command) && line.contains("--image ")), "{name}: {command}… makes its picture");
    }
}

#[test]
fn every_engine_shows_the_same_everywhere() {
    for (name, text) in examples() {
        let (program, derivation) = source::lambda_v(&name, &text).unwrap_or_else(|e| panic!("{}", e.text));
        typing::check(&derivation).unwrap_or_else(|e| panic!("{name}: {}", e.message));
        let source = Source::read_lambda_v(&name, &text).unwrap_or_else(|e| panic!("{}", e.text));
        let targets: Vec<(Source, Constants)> = [Constants::InModule, Constants::Opaque]
            .map(|constants| {
                let module = translate(&program, &Options { constants, ..Options::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
                let loaded = Loaded::new(&module.words, None, module.constants).unwrap_or_else(|e| panic!("{name}: {e}"));
                (Source::Spirv(Box::new(Loaded { outputs: module.outputs, ..loaded })), constants)
            })
            .into();
        for pixel in PIXELS {
            let expected = seen(&source, Interpreter::Machine, pixel);
            for on in [Interpreter::Reference, Interpreter::Spirv] {
                assert_eq!(seen(&source, on, pixel), expected, "{name} at {pixel:?}, {}", on.name());
            }
            for (target, constants) in &targets {
                for on in [Interpreter::Machine, Interpreter::Reference] {
                    assert_eq!(seen(target, on, pixel), expected, "{name} at {pixel:?}, {constants:?}, {}", on.name());
                }
            }
        }
    }
}

#[test]
fn the_theorem_holds_of_each() {
    for (name, text) in examples() {
        let (program, _) = source::lambda_v(&name, &text).unwrap_or_else(|e| panic!("{}", e.text));
        let settings = Settings { size: (2, 1), ..Settings::default() };
        let Ok(case) = Case::new(program, &settings) else { panic!("{name} is no case") };
        let ran = case.run(&settings);
        assert_eq!(ran.verdict, Verdict::Agree, "{name}: {}", ran.verdict.why());
        assert_eq!(ran.referenced, 2, "{name} runs on the relations too");
    }
}
