//! Spec-tests: one small program for each rule, and the runner of these programs.
//!
//! A case is a program with directives in its comments, which the `README.md` of this crate lists.
//! [`mod@file`] reads the directives. [`run`] runs the tests, with [`wsl`] for the tests of WSL and
//! [`translated`] for the tests of its translation. [`expect`] and [`reject`] compare results with
//! expectations. [`literal`] has the rules of the reports by the letter. [`pages`] prints
//! `RULES.md` and `OPCODES.md`. [`tools`] reports the tests that do not run because a device or
//! tool is missing.

pub mod expect;
pub mod file;
pub mod literal;
pub mod pages;
pub mod reject;
pub mod run;
mod show;
pub mod tools;
pub mod translated;
pub mod wsl;

use file::{CaseFile, Command};
use run::{Engines, FileReport};
use smallstep::theorem::Lanes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of the cases. The names of cases are paths below it.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// The folders of cases, below [`root`].
pub const FOLDERS: [&str; 7] = ["lv", "wsl", "spirv", "theorem", "reject", "uniformity", "codegen"];

/// The results of several cases.
#[derive(Debug, Default)]
pub struct Report {
    /// The results of the files, in the order of their paths.
    pub files: Vec<FileReport>,
    /// The names of the files that were rewritten.
    pub blessed: Vec<String>,
    /// The errors of files that are no cases, each with file and line.
    pub malformed: Vec<String>,
}

/// Runs all cases whose names contain `filter`. With `bless`, rewrites the blessed blocks
/// that differ.
///
/// Errors: a folder or file that cannot be read or written, or a filter that no case's
/// name contains.
pub fn run_all(filter: &str, bless: bool, engines: &mut Engines) -> Result<Report, String> {
    let root = root();
    let mut report = Report::default();
    let paths = run::collect(&root, filter)?;
    if paths.is_empty() {
        return Err(format!("no case below {} has a name with `{filter}` in it", root.display()));
    }
    for path in paths {
        let file = match CaseFile::read(&root, &path) {
            Ok(file) => file,
            Err(e) => {
                report.malformed.push(e);
                continue;
            }
        };
        let mut one = run::run(&file, engines);
        if bless {
            let text = file.with_blocks(&one.blocks);
            if text != file.text {
                std::fs::write(&path, text).map_err(|e| format!("{}: {e}", file.name))?;
                report.blessed.push(file.name.clone());
            }
            one.failures.retain(|f| f.bless.is_none());
        }
        report.files.push(one);
    }
    Ok(report)
}

impl Report {
    /// The number of passed tests by command.
    pub fn counts(&self) -> BTreeMap<Command, usize> {
        let mut counts = BTreeMap::new();
        for command in self.files.iter().flat_map(|f| &f.passed) {
            *counts.entry(*command).or_insert(0) += 1;
        }
        counts
    }

    /// Whether no file is malformed and no test failed.
    pub fn passed(&self) -> bool {
        self.malformed.is_empty() && self.files.iter().all(|f| f.failures.is_empty())
    }

    /// The failures, the parts that were not run, and the counts, as text.
    pub fn text(&self) -> String {
        let mut out: String = self.malformed.iter().map(|m| format!("{m}\n")).collect();
        out.extend(self.files.iter().flat_map(|f| &f.failures).map(|f| format!("{f}\n\n")));
        out.extend(self.blessed.iter().map(|name| format!("blessed {name}\n")));
        let not_run: Vec<&String> = self.files.iter().flat_map(|f| &f.not_run).collect();
        out.extend(not_run.iter().take(3).map(|what| format!("not run: {what} (no device)\n")));
        let counts: Vec<String> = self.counts().iter().map(|(command, n)| format!("{n} {}", command.word())).collect();
        let failed: usize = self.files.iter().map(|f| f.failures.len()).sum::<usize>() + self.malformed.len();
        let undecided: Vec<&String> = self.files.iter().flat_map(|f| &f.undecided).collect();
        out.extend(undecided.iter().map(|what| format!("undecided: {what}\n")));
        let mut lanes = Lanes::default();
        self.files.iter().for_each(|f| lanes += f.lanes);
        if lanes != Lanes::default() {
            let Lanes { checked, undecided } = lanes;
            out += &format!("lanes of the device: {checked} checked, {undecided} undecided\n");
        }
        out + &format!("{} files: passed {}; {failed} failed; {} not run\n", self.files.len(), counts.join(", "), not_run.len())
    }
}
