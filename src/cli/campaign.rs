//! The common options of campaign commands, and how they are read.

use super::{exit, input};
use clap::Args;
use smallstep::theorem::campaign::{Extent, Finding, SourceLanguage};
use smallstep::theorem::journal::Journal;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Which programs of a campaign are judged, and where that is noted.
#[derive(Args)]
pub(crate) struct CampaignArgs {
    /// How long, as 90s, 10m or 2h; without --count, programs are generated until then.
    #[arg(long, value_parser = super::budget::time)]
    pub(crate) time: Option<Duration>,
    /// I/N: only the chunks of shard I (from 0) of N.
    #[arg(long, value_parser = shard, default_value = "0/1")]
    pub(crate) shard: (u64, u64),
    /// Where the campaign notes what it has done, every few seconds, and takes up what it finds.
    /// One process at a time has a journal.
    #[arg(long)]
    pub(crate) journal: Option<PathBuf>,
    /// Judge only the program of this index, and print it.
    #[arg(long)]
    pub(crate) only: Option<u64>,
    /// At most so many disagreements are made minimal; 20, or 500 with --known, if not given.
    #[arg(long)]
    pub(crate) shrink: Option<usize>,
    /// A folder for the minimal programs.
    #[arg(long)]
    pub(crate) save: Option<PathBuf>,
}

pub(super) fn shard(text: &str) -> Result<(u64, u64), String> {
    let invalid = || format!("\"{text}\" is no shard; write it as 0/4, the first below the second");
    let (i, n) = text.split_once('/').ok_or_else(invalid)?;
    match (i.parse(), n.parse()) {
        (Ok(i), Ok(n)) if i < n => Ok((i, n)),
        _ => Err(invalid()),
    }
}

impl CampaignArgs {
    /// The first of these options that was given.
    pub(crate) fn first_option(&self) -> Option<&'static str> {
        let options = [
            (self.time.is_some(), "--time"),
            (self.shard != (0, 1), "--shard"),
            (self.journal.is_some(), "--journal"),
            (self.only.is_some(), "--only"),
            (self.shrink.is_some(), "--shrink"),
            (self.save.is_some(), "--save"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// The programs of the campaign: 10,000 if neither a number nor a time is given.
    pub(crate) fn extent(&self, seed: u64, count: Option<u64>, threads: usize) -> Extent {
        let count = if count.is_none() && self.time.is_none() { Some(10_000) } else { count };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Extent { seed, count, time: self.time, shard: self.shard, threads: if threads == 0 { cores } else { threads } }
    }

    /// The journal that the options name.
    pub(crate) fn journal<L: SourceLanguage>(&self, plan: &L, device: Option<&str>) -> Result<Journal<L::Tally>, exit::Failure> {
        match &self.journal {
            None => Ok(Journal::none()),
            Some(path) => Journal::open(path, plan, device).map_err(|e| input::failure(exit::INVALID, &e.what)),
        }
    }

    /// Saves a minimal program under this name, if --save was given.
    pub(crate) fn save(&self, name: &str, text: &str) {
        let Some(folder) = &self.save else { return };
        let file = folder.join(name);
        match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text)) {
            Ok(()) => tell!("saved: {}", file.display()),
            Err(e) => tell!("{}: {e}", file.display()),
        }
    }

    /// Reports that the device is gone, and what to do about the unanswered programs.
    pub(crate) fn tell_outage(&self, why: &str) {
        let hint = if self.journal.is_some() { "; the same command goes on with them" } else { "" };
        tell!("the device is gone, and the programs that it has not answered are not done{hint}: {why}");
    }
}

/// Findings by group.
pub(crate) fn groups(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut groups: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry(&finding.group).or_default().push(finding);
    }
    for (group, findings) in &groups {
        tell!("{} of {group}", findings.len());
    }
    groups
}

/// The exit code of a campaign: for disagreements, for failed engines, and for floors that
/// are missed.
pub(crate) fn code(disagree: bool, failed: bool, missed: &[String]) -> u8 {
    match (disagree, failed, missed.is_empty()) {
        (true, ..) => exit::DISAGREE,
        (_, true, _) => exit::FAILED,
        (_, _, false) => exit::UNCHECKED,
        _ => exit::DONE,
    }
}
