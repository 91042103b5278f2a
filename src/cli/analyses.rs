//! Campaigns that judge analyses of uniformity, for `fuzz-wsl` and `fuzz-spirv`.

use super::exit;
use serde_json::json;
use smallstep::theorem::uniformity::{Case, Language, Named, Plan, campaign};

/// The analysis with this name.
pub(super) fn analysis_named<P>(all: &[Named<P>], name: &str) -> Result<Named<P>, String> {
    let names = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    all.iter().find(|(of, _)| *of == name).copied().ok_or_else(|| format!("no analysis is called \"{name}\"; there are {}", names()))
}

/// Judges an analysis, and prints the findings. Returns the exit code.
pub(super) fn judge<L: Language>(plan: &Plan, (name, analysis): Named<L::Program>, json: bool) -> u8 {
    let bar = super::progress(Some(plan.count), "{bar:30} {human_pos} programs, {per_sec}, {eta} left");
    let start = std::time::Instant::now();
    let found = campaign::<L>(plan, analysis, &|| bar.inc(1));
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let code = if found.unsound + found.failures == 0 { exit::DONE } else { exit::DISAGREE };
    let case = |kind: &str, case: &Case| match json {
        true => say!("{}", json!({"schema": 1, "kind": kind, "seed": case.seed, "what": case.what, "text": case.text})),
        false => say!("{kind}, seed {}: {}\n{}", case.seed, case.what, case.text),
    };
    found.unsound_cases.iter().for_each(|unsound| case("unsound", unsound));
    found.failure_cases.iter().for_each(|failure| case("failure", failure));
    for cause in &found.causes {
        let example = cause.example.as_ref().map(|example| &example.text);
        if json {
            say!(
                "{}",
                json!({"schema": 1, "kind": "cause", "cause": cause.cause, "count": cause.count, "seed": cause.seed, "text": example})
            );
            continue;
        }
        say!("{} rejected, and no run shows threads apart: {} (seed {})", cause.count, cause.cause, cause.seed);
        if let Some(text) = example {
            say!("{text}");
        }
    }
    if json {
        let summary = json!({"schema": 1, "kind": "summary", "analysis": name, "programs": found.programs, "apart": found.apart,
            "met": found.met, "cut": found.cut, "accepted": found.accepted, "accepted_together": found.accepted_together,
            "together": found.together(), "precision": found.precision(), "unsound": found.unsound, "references": found.references,
            "failures": found.failures, "seconds": seconds, "exit": code});
        say!("{summary}");
        return code;
    }
    say!("{} programs in {seconds:.1} s: {} with threads apart in some run ({:.1} %)", found.programs, found.apart, found.apart_percent());
    say!("{} of the others are live: threads meet in some run; in {} some thread does not end", found.met, found.cut);
    say!("analysis {name}: {} accepted, {} of them unsound", found.accepted, found.unsound);
    let (accepted, together) = (found.accepted_together, found.together());
    say!("precision: {accepted} of {together} that no run shows apart are accepted ({:.1} %)", found.precision());
    say!("{} asked of the reference interpreter; failures: {}", found.references, found.failures);
    code
}
