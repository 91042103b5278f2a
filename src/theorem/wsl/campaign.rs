//! Many programs, judged.

use super::Judged;
use super::programs::{Programs, entry_points, functions, subjects};
use super::subject::Subject;
use crate::compile::wsl::Options;
use crate::gpu::Device;
use smallstep_semantics::wsl::typing::program::Program;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Found {
    /// How many of each verdict, by its name.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Of those that agree, how many met something unspecified.
    pub open: u64,
    /// What was refused, by construct.
    pub refused: BTreeMap<String, u64>,
    /// Why something was not compared.
    pub unchecked: BTreeMap<String, u64>,
    /// Disagreements: seed, text, and what differs; at most [`MAX_WRONG`].
    pub wrong: Vec<(u64, String, String)>,
}

/// The most disagreements that are kept.
pub const MAX_WRONG: usize = 10;

impl Found {
    /// How many have the verdict.
    pub fn count(&self, verdict: &str) -> u64 {
        self.verdicts.get(verdict).copied().unwrap_or(0)
    }

    /// Adds a verdict.
    pub fn note(&mut self, seed: u64, text: &str, judged: Judged) {
        *self.verdicts.entry(judged.name()).or_default() += 1;
        match judged {
            Judged::Agree { open } => self.open += u64::from(open),
            Judged::Refused(refusal) => {
                // By construct, whatever its elements are.
                let what = match (refusal.what.find('<'), refusal.what.rfind('>')) {
                    (Some(from), Some(to)) if from < to => format!("{}{}", &refusal.what[..from], &refusal.what[to + 1..]),
                    _ => refusal.what,
                };
                *self.refused.entry(what).or_default() += 1;
            }
            Judged::Unchecked(why) => {
                let kind = why.split(", and ").next().unwrap_or_default().chars().take(80).collect();
                *self.unchecked.entry(kind).or_default() += 1;
            }
            Judged::Undefined(_) => {}
            Judged::Disagree(why) if self.wrong.len() < MAX_WRONG => self.wrong.push((seed, text.into(), why)),
            Judged::Disagree(_) => {}
        }
    }

    fn merge(&mut self, other: Found) {
        for (verdict, n) in other.verdicts {
            *self.verdicts.entry(verdict).or_default() += n;
        }
        for (what, n) in other.refused {
            *self.refused.entry(what).or_default() += n;
        }
        for (what, n) in other.unchecked {
            *self.unchecked.entry(what).or_default() += n;
        }
        self.open += other.open;
        self.wrong.extend(other.wrong);
        self.wrong.sort_by_key(|w| w.0);
        self.wrong.truncate(MAX_WRONG);
    }
}

/// The compute entry points of a program, judged.
pub fn check_entry_points(program: &Program, text: &str, seed: u64, options: &Options, found: &mut Found) {
    entry_points(program, text, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

/// The functions of a program that are no entry points, judged.
pub fn check_functions(program: &Program, text: &str, seed: u64, options: &Options, found: &mut Found) {
    functions(program, text, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

fn judged(subject: Result<Subject, Judged>, options: &Options) -> Judged {
    match subject {
        Ok(subject) => subject.judged(options).0,
        Err(judged) => judged,
    }
}

/// The program of a seed, judged.
pub fn judge(programs: Programs, seed: u64, options: &Options, found: &mut Found) {
    subjects(programs, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

/// source allows. Of the others the interpreters' verdict is counted.
pub fn device_campaign(programs: Programs, seed: u64, count: u64, device: &Device, options: &Options) -> Found {
    const WINDOW: u64 = 128;
    let mut found = Found::default();
    for first in (0..count).step_by(WINDOW as usize) {
        for seed in (first..count.min(first + WINDOW)).map(|i| seed.wrapping_add(i)) {
            subjects(programs, seed, &mut |number, text, subject| {
                let (judged, given) = match &subject {
                    Ok(subject) => subject.judged(options),
                    Err(judged) => (judged.clone(), None),
                };
                match given {
                    Some(given) if matches!(judged, Judged::Agree { .. }) && number < 1 << 16 => {
                        device.submit(seed << 16 | u64::from(number), given.dispatch());
                    }
                    _ => found.note(seed, text, judged),
                }
            });
        }
        while let Some(finished) = device.receive() {
            let seed = finished.id >> 16;
            subjects(programs, seed, &mut |number, text, subject| {
                if let (true, Ok(subject)) = (u64::from(number) == finished.id & 0xffff, subject) {
                    found.note(seed, text, subject.on_device(&finished.outcome, options));
                }
            });
        }
    }
    found
}

/// Programs `seed` to `seed + count - 1`, on so many threads.
pub fn campaign(programs: Programs, seed: u64, count: u64, threads: usize, options: &Options) -> Found {
    let (next, all) = (AtomicU64::new(0), Mutex::new(Found::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut found = Found::default();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    judge(programs, seed.wrapping_add(i), options, &mut found);
                }
                all.lock().unwrap_or_else(|e| e.into_inner()).merge(found);
            });
        }
    });
    all.into_inner().unwrap_or_else(|e| e.into_inner())
}
