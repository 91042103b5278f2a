//! The journal of a campaign. The first line identifies the campaign. Each other line has the
//! results of finished programs.
//!
//! A line names its programs by ranges of indices: `{"ranges": [[0, 480], [1000, 1420]], "tally":
//! …}`. The end of a range is exclusive. A line is written as a whole, every few seconds, so an
//! interruption costs no more than that. Journals of older versions have `{"chunk": 3, "tally":
//! …}` instead, for the programs of a whole chunk. If an interruption left a part of a last line,
//! opening the journal cuts it off. The campaign then resumes with the programs that no line names.
//!
//! Only one process at a time can open a journal: the file is locked while it is open. A file that
//! is no journal is never written to.

use super::campaign::{CHUNK, Extent, SourceLanguage, Tally, Totals};
use serde_json::{Value, json};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time between two lines. A line is written with the first finished program after this time.
pub const FLUSH: Duration = Duration::from_secs(5);
/// The number of findings at which a line is written earlier.
const MAX_FINDINGS: usize = 1000;
/// The most bytes of a line.
const MAX_LINE: u64 = 64 << 20;

/// A set of program indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indices {
    /// The ranges: start to exclusive end. Ranges neither overlap nor touch.
    ranges: BTreeMap<u64, u64>,
}

impl Indices {
    /// Adds a range. False if it is empty or overlaps the set. Then nothing is added.
    pub fn add(&mut self, range: Range<u64>) -> bool {
        let Range { mut start, mut end } = range;
        let before = self.ranges.range(..end).next_back().map(|(&first, &past)| (first, past));
        if start >= end || before.is_some_and(|(_, past)| past > start) {
            return false;
        }
        if let Some((first, past)) = before
            && past == start
        {
            start = first;
        }
        if let Some(past) = self.ranges.remove(&end) {
            end = past;
        }
        self.ranges.insert(start, end);
        true
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().map(|(&first, &past)| first..past)
    }

    /// The parts of a range that are not in the set.
    pub fn missing(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        if range.is_empty() {
            return missing;
        }
        let mut from = range.start;
        let first = self.ranges.range(..=range.start).next_back().map_or(range.start, |(&first, _)| first);
        for (&first, &past) in self.ranges.range(first..range.end) {
            if first > from {
                missing.push(from..first);
            }
            from = from.max(past);
        }
        if from < range.end {
            missing.push(from..range.end);
        }
        missing
    }

    /// The number of indices.
    pub fn count(&self) -> u64 {
        self.ranges().map(|range| range.end - range.start).sum()
    }

    fn contains(&self, index: u64) -> bool {
        self.ranges.range(..=index).next_back().is_some_and(|(_, &past)| index < past)
    }

    fn to_json(&self) -> Value {
        self.ranges().map(|range| json!([range.start, range.end])).collect()
    }
}

/// Finished programs with their results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part<T = Tally> {
    /// The indices of the programs.
    pub indices: Indices,
    /// The results of the programs.
    pub tally: T,
}

impl<T: Totals> Part<T> {
    /// Adds a program, which must not be in it yet.
    pub fn add(&mut self, index: u64, tally: T) {
        let is_new = self.indices.add(index..index + 1);
        debug_assert!(is_new, "each program of a campaign is judged once, and {index} was done already");
        self.tally.add(tally);
    }
}

/// The journal of a campaign.
pub struct Journal<T = Tally> {
    file: Option<File>,
    /// All finished programs.
    done: Part<T>,
    /// The finished programs that are not in the file yet.
    unwritten: Part<T>,
    /// The time of the last line.
    written: Instant,
}

impl<T: Totals> Journal<T> {
    /// A journal in memory only.
    pub fn none() -> Journal<T> {
        Journal { file: None, done: Part::default(), unwritten: Part::default(), written: Instant::now() }
    }

    /// Opens or creates the journal of a campaign.
    ///
    /// # Errors
    /// The file cannot be read or written, is no journal, belongs to another campaign, or is open
    /// in another process, or a line does not belong to this campaign. The file is then unchanged.
    pub fn open(path: &Path, plan: &impl SourceLanguage<Tally = T>, device: Option<&str>) -> Result<Journal<T>, InvalidInput> {
        let extent = plan.extent();
        let unusable = |what: &dyn std::fmt::Display| InvalidInput::new(InputFault::File, format!("{}: {what}", path.display()));
        let failed = |e: std::io::Error| unusable(&e);
        // Reading a device or a pipe might never end.
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            return Err(unusable(&"this is no file that could be a journal"));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(unusable(&"another process has this journal open")),
            Err(TryLockError::Error(e)) => return Err(unusable(&format_args!("the journal cannot be locked: {e}"))),
        }
        let header = format!("{}\n", json!({"schema": 2, "kind": "campaign", "plan": plan.identity(device)}));
        let mut journal = Journal::none();
        let mut lines = BufReader::new(file);
        let mut valid_length = 0;
        for number in 1.. {
            let wrong = |what: &str| InvalidInput::new(InputFault::Text, format!("{}, line {number}: {what}", path.display()));
            let mut line = Vec::new();
            lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line).map_err(failed)?;
            if line.len() as u64 > MAX_LINE {
                return Err(wrong(&format!("the line is longer than {MAX_LINE} bytes, as none of a journal is")));
            }
            let is_complete = line.ends_with(b"\n");
            if number == 1 {
                // An interruption may also have left a part of the first line.
                if is_complete && line != header.as_bytes() || !is_complete && !header.as_bytes().starts_with(&line) {
                    return Err(wrong(why_foreign(&line)));
                }
            } else if is_complete {
                journal.read_line(&line, &extent).map_err(|what| wrong(&what))?;
            }
            if !is_complete {
                break;
            }
            valid_length += line.len() as u64;
        }
        let mut file = lines.into_inner();
        file.set_len(valid_length).map_err(failed)?;
        file.seek(SeekFrom::Start(valid_length)).map_err(failed)?;
        if valid_length == 0 {
            file.write_all(header.as_bytes()).and_then(|()| file.sync_data()).map_err(failed)?;
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// Adds the programs of a line. The error says what is wrong with the line.
    fn read_line(&mut self, line: &[u8], extent: &Extent) -> Result<(), String> {
        let value: Value = serde_json::from_slice(line).map_err(|e| format!("no JSON: {e}"))?;
        let mut indices = Indices::default();
        for range in ranges(&value, extent)? {
            let Range { start, end } = range;
            if !extent.has(&range) {
                return Err(format!("the programs from {start} to before {end} are not of this campaign, or not of this shard"));
            }
            if !indices.add(range.clone()) || !self.done.indices.add(range) {
                return Err(format!("some of the programs from {start} to before {end} stand there twice"));
            }
        }
        let tally = value.get("tally").and_then(T::from_json).ok_or("the line holds no tally")?;
        let (named, counted) = (indices.count(), tally.programs());
        if named != counted {
            return Err(format!("the line names {named} programs, and its tally counts {counted}"));
        }
        if let Some(finding) = tally.findings().iter().find(|finding| !indices.contains(finding.index)) {
            return Err(format!("the line has a finding about program {}, which it does not name", finding.index));
        }
        self.done.tally.add(tally);
        Ok(())
    }

    /// The parts of a range that are not finished.
    pub fn missing(&self, range: Range<u64>) -> Vec<Range<u64>> {
        self.done.indices.missing(range)
    }

    /// The results of all finished programs.
    pub fn tally(&self) -> &T {
        &self.done.tally
    }

    /// Adds finished programs. They are in the file after its next line.
    ///
    /// # Errors
    /// The next line is due, and the file cannot be written.
    pub fn add(&mut self, part: Part<T>) -> std::io::Result<()> {
        for range in part.indices.ranges() {
            let is_new = self.done.indices.add(range.clone());
            debug_assert!(is_new, "each program of a campaign is judged once, and {range:?} was done already");
            if self.file.is_some() {
                self.unwritten.indices.add(range);
            }
        }
        if self.file.is_some() {
            self.unwritten.tally.add(part.tally.clone());
        }
        self.done.tally.add(part.tally);
        let due = self.written.elapsed() >= FLUSH || self.unwritten.tally.findings().len() >= MAX_FINDINGS;
        if due { self.flush() } else { Ok(()) }
    }

    /// Writes the programs that are not in the file yet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.written = Instant::now();
        let Some(file) = &mut self.file else { return Ok(()) };
        let Part { indices, mut tally } = std::mem::take(&mut self.unwritten);
        if indices == Indices::default() {
            return Ok(());
        }
        tally.sort_findings();
        let line = format!("{}\n", json!({"ranges": indices.to_json(), "tally": tally.to_json()}));
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }
}

/// The ranges of a line.
fn ranges(line: &Value, extent: &Extent) -> Result<Vec<Range<u64>>, String> {
    let error = "the line names no programs";
    if let Some(chunk) = line.get("chunk") {
        let chunk = chunk.as_u64().ok_or(error)?;
        let first = chunk.saturating_mul(CHUNK);
        let past = first.saturating_add(CHUNK).min(extent.count.unwrap_or(u64::MAX));
        return Ok(std::iter::once(first..past).collect());
    }
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [first, past] => Some(first.as_u64()?..past.as_u64()?),
        _ => None,
    };
    let ranges = line.get("ranges").and_then(Value::as_array).ok_or(error)?;
    ranges.iter().map(pair).collect::<Option<_>>().ok_or_else(|| error.into())
}

/// Why a first line does not belong to the campaign's journal.
fn why_foreign(line: &[u8]) -> &'static str {
    let kind = serde_json::from_slice::<Value>(line).ok().and_then(|value| Some(value.get("kind")?.as_str()? == "campaign"));
    match kind {
        Some(true) => "this is the journal of another campaign; give another file, or the same seed, count, size and device",
        _ => "this file is no journal, and is left as it is; give another file",
    }
}
