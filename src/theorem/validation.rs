//! Campaigns of generated WSL programs against the validation. Well-typed programs must be
//! accepted, re-checked and read back. Near-misses must be rejected by the rule that they break.

use crate::generate::wsl::typed::{Fault, near_miss, program};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::validate::{Validated, validate};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A validation: [`validate`], or one with a planted mistake that must be caught.
pub type Validate<'a> = &'a (dyn Fn(&str) -> Validated + Sync);

/// The results of a campaign.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of well-typed programs that were accepted, re-checked and read back.
    pub accepted: u64,
    /// The number of near-misses that were rejected by the rule that they break.
    pub rejected: u64,
    /// The rules that fired.
    pub fired: BTreeSet<Rule>,
    /// The rules that near-misses broke.
    pub broken: BTreeSet<Rule>,
    /// The failures by seed, at most [`MAX_WRONG`].
    pub wrong: Vec<Wrong>,
    /// The number of all failures.
    pub failures: u64,
}

/// The most failures that are kept.
pub const MAX_WRONG: usize = 20;

/// A program with a wrong result.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// Its seed.
    pub seed: u64,
    /// Its text.
    pub text: String,
    /// The found and the required result.
    pub what: String,
}

/// Judges the programs `seed` to `seed + count - 1`, each with one near-miss, on `threads` threads.
pub fn campaign(seed: u64, count: u64, threads: usize, validate: Validate) -> Found {
    let next = AtomicU64::new(0);
    let all = Mutex::new(Found::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut found = Found::default();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    let seed = seed.wrapping_add(i);
                    found.well_typed(seed, validate);
                    found.near_miss(seed, Fault::ALL[(i % Fault::ALL.len() as u64) as usize], validate);
                }
                let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
                all.accepted += found.accepted;
                all.rejected += found.rejected;
                all.failures += found.failures;
                all.fired.extend(found.fired);
                all.broken.extend(found.broken);
                all.wrong.extend(found.wrong);
            });
        }
    });
    let mut found = all.into_inner().unwrap_or_else(|e| e.into_inner());
    found.wrong.sort_by_key(|w| w.seed);
    found.wrong.truncate(MAX_WRONG);
    found
}

impl Found {
    fn fail(&mut self, seed: u64, text: String, what: String) {
        self.failures += 1;
        if self.wrong.len() < MAX_WRONG {
            self.wrong.push(Wrong { seed, text, what });
        }
    }

    fn well_typed(&mut self, seed: u64, validate: Validate) {
        let text = program(seed);
        let found = validate(&text);
        self.fired.extend(found.fired.rules());
        let what = match &found.program {
            None => {
                let errors: Vec<String> = found.errors.iter().map(|e| format!("[{}] {}", e.rule, e.message)).collect();
                Some(format!("a well-typed program is rejected: {}", errors.join("; ")))
            }
            Some(typed) => recheck(typed).err().map(|r| format!("the derivations do not check: {r}")),
        };
        match what.or_else(|| reprint_difference(&text)) {
            None => self.accepted += 1,
            Some(what) => self.fail(seed, text, what),
        }
    }

    fn near_miss(&mut self, seed: u64, fault: Fault, validate: Validate) {
        let Some((text, rule)) = near_miss(seed, fault) else { return };
        self.broken.insert(rule);
        let found = validate(&text);
        if found.errors.iter().any(|e| e.rule == rule) {
            self.rejected += 1;
        } else {
            let others: Vec<&str> = found.errors.iter().map(|e| e.rule.name()).collect();
            let what = if others.is_empty() { "it is accepted".into() } else { format!("it is rejected by {}", others.join(", ")) };
            self.fail(seed, text, format!("a program that breaks {rule}: {what}"));
        }
    }
}

/// The difference if the text, printed and read back, does not give the same tree.
fn reprint_difference(text: &str) -> Option<String> {
    let (tree, _) = parse(text);
    let printed = print(&tree);
    let (again, errors) = parse(&printed);
    (!errors.is_empty() || !tree.same(&again)).then(|| format!("it does not read back to the same tree as it is printed:\n{printed}"))
}

/// A [`campaign`] with [`validate`].
pub fn run(seed: u64, count: u64, threads: usize) -> Found {
    campaign(seed, count, threads, &validate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::wsl::desugar::desugar;
    use smallstep_semantics::wsl::environment::Planted;
    use smallstep_semantics::wsl::typing::premises::Premises;
    use smallstep_semantics::wsl::validate::check_with;

    #[test]
    fn campaigns_do_not_depend_on_threads() {
        let (one, two) = (run(7, 60, 1), run(7, 60, 2));
        assert_eq!((one.accepted, one.failures), (60, 0), "{:?}", one.wrong);
        assert_eq!((one.accepted, one.rejected, &one.fired, &one.broken), (two.accepted, two.rejected, &two.fired, &two.broken));
        assert!(one.rejected > 40, "{}", one.rejected);
    }

    fn planted(planted: Planted, premises: Premises) -> Found {
        campaign(1, 300, 2, &|text: &str| {
            let (program, errors, fired) = check_with(&desugar(parse(text).0).0, planted, premises);
            Validated { errors, program, fired }
        })
    }

    #[test]
    fn bugs_of_validation_are_found() {
        let unchecked = [Rule::WslTIf, Rule::WslTAssignment, Rule::WslVFunctionNothing, Rule::WslEpBuiltin, Rule::WslEnvEnumZero];
        for rule in unchecked {
            let found = planted(Planted::Unchecked(rule), Premises::default());
            assert!(found.failures > 0, "{rule} is not checked, and nothing is found");
        }
        for rule in [Rule::WslTCall, Rule::WslTDotSetter, Rule::WslTSwitchBreak] {
            assert!(planted(Planted::Refused(rule), Premises::default()).failures > 0, "{rule} never holds, and nothing is found");
        }
        let by_the_letter = Premises { loop_behaviours: |b| b, ..Premises::default() };
        assert!(planted(Planted::None, by_the_letter).failures > 0, "loops keep Break, and nothing is found");
    }
}
