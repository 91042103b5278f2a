//! The tests of a WSL program.

use super::{FUEL, Ran, Run};
use crate::expect::Found;
use crate::file::BlockKind;
use crate::wsl;
use crate::wsl::Until;
use smallstep_semantics::wsl::choice::Strategy as Unspecified;
use smallstep_semantics::wsl::{call, group};

impl Run<'_> {
    pub(super) fn wsl_rules(&self) -> wsl::Rules {
        let mut rules = self.engines.wsl;
        let Some(literal) = self.literal else { return rules };
        rules.execution.rule = literal.execution.rule.or(rules.execution.rule);
        rules.execution.scalar = literal.execution.scalar.or(rules.execution.scalar);
        match literal.premises {
            Some(plant) => rules.by_the_letter(plant),
            None => rules,
        }
    }

    /// The program, in which nothing is wrong that far.
    pub(super) fn wsl(&mut self, until: Until) -> Ran<wsl::Read> {
        let read = wsl::read(&self.file.text, until, &self.wsl_rules());
        if !read.wrong.is_empty() {
            let each = read.wrong.iter().map(|w| format!("\n{}:{}:{}: error[{}] {}", self.file.name, w.line, w.column, w.code, w.message));
            return Err(format!("the program is rejected{}", each.collect::<String>()));
        }
        self.report.fired.extend(&read.fired);
        Ok(read)
    }

    pub(super) fn desugar(&mut self) -> Ran<Found> {
        let read = self.wsl(Until::Core)?;
        self.blocks.push((BlockKind::Core, read.core));
        Ok(Found::ending("desugars", ""))
    }

    pub(super) fn validate(&mut self) -> Ran<Found> {
        match self.wsl(Until::Validity)?.valid {
            Some(Ok(())) => Ok(Found::ending("valid", "")),
            Some(Err(what)) => Err(format!("the typed program does not follow by the rules: {what}")),
            None => Err("nothing is wrong with the program, and it has no meaning".into()),
        }
    }

    pub(super) fn strategy(&self) -> Ran<Unspecified> {
        let text = self.test.option("strategy").unwrap_or("carry");
        match (text, text.strip_prefix("random:").and_then(|seed| seed.parse().ok())) {
            ("carry", _) => Ok(Unspecified::Carry),
            ("first", _) => Ok(Unspecified::First),
            (_, Some(seed)) => Ok(Unspecified::Random(seed)),
            _ => Err(format!("strategy={text} is none of carry, first and random:SEED")),
        }
    }

    pub(super) fn call(&mut self) -> Ran<Found> {
        let planted = self.wsl_rules().execution;
        let (fuel, ways) = (self.number("fuel", FUEL)?, self.number("ways", 256)? as usize);
        let settings = call::Settings { strategy: self.strategy()?, fuel, ways, planted, precision: None };
        let called = wsl::call(&self.file.text, &self.test.expression, &settings)?;
        self.report.fired.extend(called.fired);
        if planted.rule.is_none() && planted.scalar.is_none() {
            let compared = wsl::compare(&self.file.text, &self.test.expression, &called.ty, fuel)?;
            self.report.by_fast_engine += usize::from(compared);
        }
        Ok(called.found)
    }

    /// A compute entry point over a grid.
    pub(super) fn run_grid(&mut self) -> Ran<Found> {
        let text = self.test.option("schedule").unwrap_or("in-order");
        let schedule = match (text, text.strip_prefix("random:").and_then(|seed| seed.parse().ok())) {
            ("in-order", _) => group::Schedule::InOrder,
            ("round-robin", _) => group::Schedule::RoundRobin,
            ("all", _) => group::Schedule::All,
            (_, Some(seed)) => group::Schedule::Random(seed),
            _ => return Err(format!("schedule={text} is none of in-order, round-robin, all and random:SEED")),
        };
        let (fuel, ways) = (self.number("fuel", FUEL)?, self.number("ways", 4096)? as usize);
        let planted = self.wsl_rules().execution;
        let settings = group::Settings { strategy: self.strategy()?, schedule, fuel, ways, races: true, planted, precision: None };
        let text = self.test.option("groups").unwrap_or("1");
        let groups: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        let groups = match groups.as_deref() {
            Ok(&[x]) => [x, 1, 1],
            Ok(&[x, y, z]) => [x, y, z],
            _ => return Err(format!("groups={text} is neither one number nor three")),
        };
        let (found, fired) = wsl::dispatch(&self.file.text, self.test.option("entry"), &self.file.resources, groups, &settings)?;
        self.report.fired.extend(fired);
        Ok(found)
    }
}
