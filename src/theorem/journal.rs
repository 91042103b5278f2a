//! A campaign's journal: a first line that says which campaign it is, then one line for each chunk that is done.
//!
//! A line is written whole and flushed. What an interruption left of a last line is cut off when the journal is opened again; then the campaign
//! goes on with the chunks that have no line.

use super::campaign::{Plan, Tally};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Where a campaign notes what it has done.
pub struct Journal {
    file: Option<File>,
    done: HashSet<u64>,
    tally: Tally,
}

impl Journal {
    /// A journal in memory only.
    pub fn none() -> Journal {
        Journal { file: None, done: HashSet::new(), tally: Tally::default() }
    }

    /// Opens or begins the journal of a campaign.
    ///
    /// Errors: the file cannot be read or written, is no journal, or is another campaign's.
    pub fn open(path: &Path, plan: &Plan, device: Option<&str>) -> Result<Journal, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let header = json!({"schema": 2, "kind": "campaign", "plan": plan.identity(device)});
        let mut journal = Journal { file: None, done: HashSet::new(), tally: Tally::default() };
        let mut kept = 0;
        for (i, line) in text.split_inclusive('\n').enumerate() {
            if !line.ends_with('\n') {
                break;
            }
            let wrong = |what: &str| format!("{}, line {}: {what}", path.display(), i + 1);
            let value: Value = serde_json::from_str(line).map_err(|e| wrong(&format!("no JSON: {e}")))?;
            if i == 0 {
                if value != header {
                    return Err(wrong(
                        "this is the journal of another campaign; give another file, or the same seed, count, size and device",
                    ));
                }
            } else {
                let chunk = value.get("chunk").and_then(Value::as_u64).ok_or_else(|| wrong("the line names no chunk"))?;
                let tally = value.get("tally").and_then(Tally::from_json).ok_or_else(|| wrong("the line holds no tally"))?;
                if !journal.done.insert(chunk) {
                    return Err(wrong("the chunk stands there twice"));
                }
                journal.tally.add(tally);
            }
            kept += line.len() as u64;
        }
        file.set_len(kept).map_err(failed)?;
        file.seek(SeekFrom::Start(kept)).map_err(failed)?;
        if kept == 0 {
            writeln!(file, "{header}").and_then(|()| file.flush()).map_err(failed)?;
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// Whether the chunk is done.
    pub fn holds(&self, chunk: u64) -> bool {
        self.done.contains(&chunk)
    }

    /// What the chunks that are done came to.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Notes that a chunk is done.
    pub fn write(&mut self, chunk: u64, tally: &Tally) -> std::io::Result<()> {
        self.done.insert(chunk);
        match &mut self.file {
            None => Ok(()),
            Some(file) => {
                let line = format!("{}\n", json!({"chunk": chunk, "tally": tally.to_json()}));
                file.write_all(line.as_bytes())?;
                file.sync_data()
            }
        }
    }
}
