//! Requirements on every source file of the project.

use std::path::{Path, PathBuf};

/// The maximum length of a comment line, in columns.
const COLUMNS: usize = 100;

/// Collects the source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The numbers of comment lines that are too long.
fn too_long(text: &str) -> Vec<usize> {
    let is_long = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COLUMNS;
    text.lines().zip(1..).filter(|(line, _)| is_long(line)).map(|(_, number)| number).collect()
}

#[test]
fn no_comment_line_is_over_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "generate", "semantics", "spec-tests", "tests", "benches", "fuzz/fuzz_targets"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "only {} files were found", files.len());
    let mut long = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("text");
        long.extend(too_long(&text).into_iter().map(|line| format!("{}:{line}", file.display())));
    }
    assert!(long.is_empty(), "{} comment lines are over {COLUMNS} columns:\n{}", long.len(), long.join("\n"));
}

#[test]
fn a_long_comment_line_is_seen() {
    let text = format!("let x = 1; {0}\n    // {0}\n//! μ{1}\n/// {1}a\n", "a".repeat(COLUMNS), "a".repeat(COLUMNS - 5));
    assert_eq!(too_long(&text), [2]);
}
