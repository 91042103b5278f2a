//! Fragment shaders as people write them, at 256 by 256 pixels: sorts, trees, ray marching,
//! matrices, discards, textures of an earlier RUN, integers, loops with early exits.
//!
//! The expected values were computed outside of this project's interpreters. The tests draw small
//! tiles around the expected pixels, in the whole framebuffer. With `SMALLSTEP_SHADERS=full` they
//! draw everything, and each script has 10 seconds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use smallstep::amber::Decision;
use smallstep::run::amber::{End, Interpreter};
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::environment::Limits;

use crate::played_on;

const DRAW: &str = "RUN draw DRAW_RECT POS 0 0 SIZE 256 256";
/// The number of expectations that the small form of a script keeps.
const FEW: usize = 6;
/// The least number of scripts that are decided in their small form.
const DECIDED: usize = 139;

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amber_run/shaders");
    let files = std::fs::read_dir(folder).expect("the folder").map(|f| f.expect("a file").path());
    let mut paths: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "amber")).collect();
    paths.sort();
    paths
}

/// Parses an expectation of the picture: place, size and colour.
fn expectation(line: &str) -> Option<([u32; 4], &str)> {
    let rest = line.strip_prefix("EXPECT picture IDX ")?;
    let (place, what) = rest.split_once(" EQ_RGBA ")?;
    let numbers: Vec<u32> = place.split(' ').filter(|w| *w != "SIZE").map(|w| w.parse().expect("a number")).collect();
    Some((numbers.try_into().expect("four numbers"), what))
}

/// The small form of a script: it draws only tiles of two by two pixels, in the middle of
/// an expectation.
fn small(text: &str) -> String {
    let all = text.lines().filter(|l| expectation(l).is_some()).count();
    let every = all.div_ceil(FEW).max(1);
    let (mut draws, mut number) = (Vec::new(), 0);
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some(([x, y, width, height], what)) = expectation(line) else {
            lines.push(line.to_string());
            continue;
        };
        number += 1;
        if (number - 1) % every != 0 {
            continue;
        }
        let (w, h) = (width.min(2), height.min(2));
        let (x, y) = (x + (width - w) / 2, y + (height - h) / 2);
        draws.push(format!("RUN draw DRAW_RECT POS {x} {y} SIZE {w} {h}"));
        lines.push(format!("EXPECT picture IDX {x} {y} SIZE {w} {h} EQ_RGBA {what}"));
    }
    (lines.join("\n") + "\n").replace(DRAW, &draws.join("\n"))
}

/// The script, with another colour in every expectation.
fn wrong(text: &str) -> String {
    let line = |line: &str| match expectation(line) {
        Some((_, what)) => {
            let mut words: Vec<String> = what.split(' ').map(str::to_string).collect();
            let red: u32 = words[0].parse().expect("a number");
            words[0] = ((red + 128) % 256).to_string();
            line.replace(what, &words.join(" "))
        }
        None => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn interpreter(full: bool) -> Interpreter {
    let time = if full { TimeLimit::from_now(Duration::from_secs(10)) } else { None };
    Interpreter { limits: Limits { time, ..Interpreter::default().limits }, ..Interpreter::default() }
}

#[test]
fn every_shader_is_drawn_as_computed_by_hand() {
    let full = std::env::var("SMALLSTEP_SHADERS").is_ok_and(|v| v == "full");
    let paths = paths();
    assert_eq!(paths.len(), 150);
    let mut open = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a script");
        assert!(text.contains(DRAW), "{}", path.display());
        let text = if full { text } else { small(&text) };
        let (judged, end) = played_on(&text, &interpreter(full));
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(matches!(end, None | Some(End::Limit(_))), "{name}: {end:?}");
        let differs = judged.iter().find(|(decision, _)| matches!(decision, Decision::Fails | Decision::Undefined));
        assert_eq!(differs, None, "{name}");
        match (end, judged.iter().find(|(decision, _)| *decision != Decision::Holds)) {
            (Some(end), _) => open.push(format!("{name}: {}", end.why())),
            (None, Some((_, why))) => open.push(format!("{name}: {why}")),
            (None, None) => assert!(!judged.is_empty(), "{name}"),
        }
    }
    let decided = paths.len() - open.len();
    println!("{decided} of {} decided\n{}", paths.len(), open.join("\n"));
    if full {
        assert!(decided * 100 >= paths.len() * 97, "{decided} of {} are decided:\n{}", paths.len(), open.join("\n"));
    } else {
        assert!(decided >= DECIDED, "{decided} of {} are decided:\n{}", paths.len(), open.join("\n"));
    }
}

#[test]
fn another_colour_is_never_found() {
    let some = paths().into_iter().step_by(5);
    for path in some {
        let text = wrong(&small(&std::fs::read_to_string(&path).expect("a script")));
        let (judged, end) = played_on(&text, &interpreter(false));
        let held = judged.iter().filter(|(decision, _)| *decision == Decision::Holds).count();
        assert_eq!((held, end.is_none()), (0, true), "{}", path.display());
        assert!(!judged.is_empty(), "{}", path.display());
    }
}
