//! `smallstep planted`: planted bugs, and the comparison that catches each.

use super::exit;
use super::exit::Ended;
use clap::Args;
use serde_json::json;
use smallstep::theorem::dispatches::planted as dispatches;
use smallstep::theorem::planted::{self, Bug, Check, Fate, Hunt};
use smallstep_semantics::rule::Rule;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Test the oracle: hunt each planted bug until a comparison catches it, and make the program that
/// shows it minimal.
#[derive(Args)]
pub(crate) struct Planted {
    /// Only bugs whose name, family or rule contains this.
    only: Option<String>,
    /// The most programs for one bug.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The seed of the programs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; 0: as many as the machine has cores.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// The bugs in what runs compute dispatches, rather than λV's; each is hunted in 400 modules at
    /// most, or so many twins.
    #[arg(long, conflicts_with_all = ["count", "programs"])]
    spirv: bool,
    /// Print each minimal program below its bug.
    #[arg(long)]
    programs: bool,
    /// Only list the bugs.
    #[arg(long)]
    list: bool,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Planted {
    pub(crate) fn run(self) -> Ended {
        if self.spirv {
            return self.run_dispatches();
        }
        let mut bugs = planted::table();
        if let Some(filter) = &self.only {
            bugs.retain(|bug| [bug.name, bug.family.name(), rule(bug)].iter().any(|text| text.contains(filter.as_str())));
            if bugs.is_empty() {
                return super::input::fail(exit::INVALID, &format!("no planted bug has \"{filter}\" in its name, family or rule"));
            }
        }
        if self.list {
            for bug in &bugs {
                match self.json {
                    true => say!("{}", self.object(bug, None)),
                    false => say!("{:<34} {:<16} {:<34} {}", bug.name, bug.family.name(), rule(bug), bug.what),
                }
            }
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "summary", "bugs": bugs.len(), "exit": exit::DONE}));
            }
            return Ok(exit::DONE);
        }
        let mut hunt = Hunt { seed: self.seed, programs: self.count, ..Hunt::default() };
        if self.threads > 0 {
            hunt.threads = self.threads;
        }
        let done = AtomicUsize::new(0);
        let bar = indicatif::ProgressBar::new(bugs.len() as u64);
        let fates = hunt.all(&bugs, &|_, _| bar.set_position(done.fetch_add(1, Ordering::SeqCst) as u64 + 1));
        bar.finish_and_clear();
        self.report(&bugs, &fates)
    }

    fn run_dispatches(&self) -> Ended {
        let mut bugs = dispatches::table();
        if let Some(filter) = &self.only {
            let rule = |bug: &dispatches::Bug| bug.plant.rule().map_or("-", Rule::name);
            bugs.retain(|bug| [bug.name, bug.plant.place(), rule(bug)].iter().any(|text| text.contains(filter.as_str())));
            if bugs.is_empty() {
                return super::input::fail(exit::INVALID, &format!("no planted bug has \"{filter}\" in its name, place or rule"));
            }
        }
        if self.list {
            for bug in &bugs {
                match self.json {
                    true => say!("{}", dispatch_object(bug, None)),
                    false => say!("{:<58} {:<16} {}", bug.name, bug.plant.place(), bug.check),
                }
            }
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "summary", "bugs": bugs.len(), "exit": exit::DONE}));
            }
            return Ok(exit::DONE);
        }
        let mut hunt = dispatches::Hunt { seed: self.seed, ..dispatches::Hunt::default() };
        if self.threads > 0 {
            hunt.threads = self.threads;
        }
        let done = AtomicUsize::new(0);
        let bar = indicatif::ProgressBar::new(bugs.len() as u64);
        let fates = hunt.all(&bugs, &|_, _| bar.set_position(done.fetch_add(1, Ordering::SeqCst) as u64 + 1));
        bar.finish_and_clear();
        for (bug, fate) in bugs.iter().zip(&fates) {
            match self.json {
                true => say!("{}", dispatch_object(bug, Some(fate))),
                false => say!("{}", dispatches::line(bug, fate)),
            }
        }
        let caught = fates.iter().filter(|fate| matches!(fate, Fate::Caught(_))).count();
        let equivalent = fates.iter().filter(|fate| matches!(fate, Fate::Equivalent)).count();
        let missed = fates.len() - caught - equivalent;
        let code = if missed > 0 { exit::DISAGREE } else { exit::DONE };
        if self.json {
            let summary = json!({
                "schema": 1, "kind": "summary", "bugs": bugs.len(), "caught": caught, "equivalent": equivalent, "missed": missed, "seed": self.seed,
                "exit": code,
            });
            say!("{summary}");
        } else {
            say!("{} bugs: {caught} caught, {equivalent} equivalent, {missed} missed", bugs.len());
        }
        Ok(code)
    }

    fn report(&self, bugs: &[Bug], fates: &[Fate]) -> Ended {
        for (bug, fate) in bugs.iter().zip(fates) {
            if self.json {
                say!("{}", self.object(bug, Some(fate)));
                continue;
            }
            say!("{}", planted::line(bug, fate));
            if let (true, Fate::Caught(caught)) = (self.programs, fate)
                && let Some(tree) = &caught.minimal
            {
                tree.print().lines().for_each(|line| say!("    {line}"));
                say!("    ; {}", caught.what);
            }
        }
        let count = |has_fate: &dyn Fn(&Fate) -> bool| fates.iter().filter(|f| has_fate(f)).count();
        let caught = count(&|f| matches!(f, Fate::Caught(_)));
        let equivalent = count(&|f| matches!(f, Fate::Equivalent));
        let unchecked = count(&|f| matches!(f, Fate::Unchecked(_)));
        let missed = fates.len() - caught - equivalent - unchecked;
        let median = planted::median_nodes(fates);
        let code = match (missed, unchecked) {
            (1.., _) => exit::DISAGREE,
            (0, 1..) => exit::UNCHECKED,
            (0, 0) => exit::DONE,
        };
        if self.json {
            let summary = json!({
                "schema": 1, "kind": "summary", "bugs": bugs.len(), "caught": caught, "equivalent": equivalent, "unchecked": unchecked,
                "missed": missed, "median_nodes": median, "seed": self.seed, "count": self.count,
                "exit": code,
            });
            say!("{summary}");
        } else {
            let median = median.map_or(String::new(), |n| format!("; the median of the minimal programs has {n} nodes"));
            say!("{} bugs: {caught} caught, {equivalent} equivalent, {unchecked} unchecked, {missed} missed{median}", bugs.len());
        }
        Ok(code)
    }

    fn object(&self, bug: &Bug, fate: Option<&Fate>) -> serde_json::Value {
        let mut object = json!({
            "schema": 1, "kind": "bug", "name": bug.name, "family": bug.family.name(), "rule": bug.rule.map(Rule::name), "what": bug.what,
            "check": bug.check.name(),
        });
        if let Check::Equivalent(why) = bug.check {
            object["equivalent"] = json!(why);
        }
        let Some(fate) = fate else { return object };
        object["fate"] = json!(fate.name());
        match fate {
            Fate::Caught(caught) | Fate::NotEquivalent(caught) => {
                object["by"] = json!(caught.by);
                object["difference"] = json!(caught.what);
                object["after"] = json!(caught.after);
                object["nodes"] = json!(caught.nodes());
                object["minimal"] = json!(caught.minimal.as_ref().map(|tree| tree.print()));
            }
            Fate::Unchecked(why) => object["difference"] = json!(why),
            Fate::Equivalent | Fate::Survived => {}
        }
        object
    }
}

fn rule(bug: &Bug) -> &'static str {
    bug.rule.map_or("-", Rule::name)
}

fn dispatch_object(bug: &dispatches::Bug, fate: Option<&Fate>) -> serde_json::Value {
    let mut object = json!({
        "schema": 1, "kind": "bug", "name": bug.name, "place": bug.plant.place(), "rule": bug.plant.rule().map(Rule::name),
        "check": bug.check.to_string(),
    });
    if let dispatches::Check::Equivalent(why) = bug.check {
        object["equivalent"] = json!(why);
    }
    let Some(fate) = fate else { return object };
    object["fate"] = json!(fate.name());
    if let Fate::Caught(caught) | Fate::NotEquivalent(caught) = fate {
        (object["by"], object["difference"], object["after"]) = (json!(caught.by), json!(caught.what), json!(caught.after));
    }
    object
}
