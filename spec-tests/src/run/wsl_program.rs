//! The tests of WSL programs.

use super::{FUEL, Ran, Run};
use crate::expect::Found;
use crate::file::BlockKind;
use crate::translated::{self, TranslationRequest};
use crate::wsl;
use crate::wsl::Until;
use smallstep::run::stages;
use smallstep_semantics::number::Profile;
use smallstep_semantics::uniformity::{Mode, seed};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy as Unspecified;
use smallstep_semantics::wsl::group;
use smallstep_semantics::wsl::typing::program::Program;

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

    /// Reads the program up to a stage. The error has the errors of the program.
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
        let settings = Settings { strategy: self.strategy()?, fuel, ways, planted, ..Settings::default() };
        let called = wsl::call(&self.file.text, &self.test.expression, &settings)?;
        self.report.fired.extend(called.fired);
        if planted.is_none() {
            let compared = wsl::compare(&self.file.text, &self.test.expression, &called.ty, fuel)?;
            self.report.by_fast_engine += usize::from(compared);
        }
        Ok(called.found)
    }

    /// Runs a compute entry point over a grid of workgroups, or a draw if the test has a `size`.
    pub(super) fn run_grid(&mut self) -> Ran<Found> {
        if self.test.option("size").is_some() {
            return self.run_draw();
        }
        let schedule = self.schedule()?;
        let (fuel, ways) = (self.number("fuel", FUEL)?, self.number("ways", 4096)? as usize);
        let planted = self.wsl_rules().execution;
        let settings = Settings { strategy: self.strategy()?, schedule, fuel, ways, planted, ..Settings::default() };
        let groups = self.groups()?;
        let (found, fired) = wsl::dispatch(&self.file.text, self.test.option("entry"), &self.file.resources, groups, &settings)?;
        self.report.fired.extend(fired);
        if planted.is_none() {
            let compared = wsl::compare_dispatch(&self.file.text, self.test.option("entry"), &self.file.resources, groups, fuel)?;
            self.report.dispatched_by_fast_engine += usize::from(compared);
        }
        Ok(found)
    }

    fn asked(&self) -> Ran<TranslationRequest<'_>> {
        Ok(TranslationRequest {
            function: self.test.option("function"),
            entry: self.test.option("entry"),
            vertex: self.test.option("vertex"),
            profile: self.profile()?,
            planted: self.literal.and_then(|l| l.codegen.as_ref()).or(self.engines.codegen.as_ref()),
        })
    }

    fn valid(&self) -> Ran<Program> {
        wsl::valid(&self.file.text)
    }

    /// Translates the program and looks for the instructions that the test expects.
    pub(super) fn translate_wsl(&mut self) -> Ran<Found> {
        let expected: Vec<&str> = self.test.expects.iter().map(|(_, expect)| expect.as_str()).collect();
        let (found, fired, lines) = translated::translate(&self.valid()?, &self.asked()?, &expected)?;
        self.report.fired.extend(fired);
        self.blocks.push((BlockKind::Module, lines));
        Ok(found)
    }

    /// Checks the theorem for the translation of a function with these arguments, of a draw, or of
    /// a dispatch.
    pub(super) fn agree_wsl(&mut self) -> Ran<Found> {
        let (program, asked) = (self.valid()?, self.asked()?);
        let (found, fired) = if asked.function.is_some() {
            translated::call(&program, &self.file.text, &asked, &self.test.expression)?
        } else if self.test.option("size").is_some() {
            let draw = wsl::prepared_draw(&program, &self.file.text, &self.asked_draw()?, &self.file.resources)?;
            let (mut found, fired) = translated::draw(&draw, &asked)?;
            let (shown, _) = wsl::run_draw(&program, &self.file.text, &draw, &Settings::default());
            found.notes.extend(shown.notes);
            (found, fired)
        } else {
            let settings = Settings { schedule: self.schedule()?, races: true, ..Settings::default() };
            let dispatch = wsl::prepared(&program, &self.file.text, asked.entry, &self.file.resources, self.groups()?)?;
            let (mut found, fired) = translated::dispatch(&dispatch, &asked)?;
            // The results of the source. Where they are definite, the target has the same.
            let (shown, _) = wsl::run_dispatch(&program, &dispatch, &settings);
            found.notes.extend(shown.notes);
            (found, fired)
        };
        self.report.fired.extend(fired);
        Ok(found)
    }

    fn groups(&self) -> Ran<[u32; 3]> {
        let text = self.test.option("groups").unwrap_or("1");
        let groups: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        match groups.as_deref() {
            Ok(&[x]) => Ok([x, 1, 1]),
            Ok(&[x, y, z]) => Ok([x, y, z]),
            _ => Err(format!("groups={text} is neither one number nor three")),
        }
    }

    /// The schedule, or `None` for every schedule.
    fn schedule(&self) -> Ran<Option<group::Schedule>> {
        match self.test.option("schedule").unwrap_or("in-order") {
            "all" => Ok(None),
            one => Ok(Some(one.replacen(':', " ", 1).parse()?)),
        }
    }

    /// Analyses uniformity, with the metadata of each function.
    pub(super) fn uniform(&mut self) -> Ran<Found> {
        let mode = self.choice("mode", &[("seed", Mode::Seed), ("precise", Mode::Precise)])?;
        let mut letter = seed::LiteralRules::default();
        if let Some(number) = self.literal.and_then(|l| l.uniformity) {
            *letter.flag(number).ok_or("this erratum has no variant")? = true;
        }
        if let Some(name) = self.test.option("mended") {
            let flag = name.strip_prefix("U-").and_then(|n| n.parse().ok()).and_then(|n| letter.flag(n));
            match flag {
                Some(flag) if *flag => *flag = false,
                _ => return Err(format!("mended={name}: nothing of that erratum is by the letter")),
            }
        }
        if mode == Mode::Precise && letter != seed::LiteralRules::default() {
            return Err("only the seed's rules are run by the letter".into());
        }
        let settings = seed::Settings { letter, ..self.engines.uniformity };
        let analysed = wsl::uniform(&self.file.text, (mode == Mode::Seed).then_some(&settings))?;
        self.report.fired.extend(analysed.fired);
        self.blocks.push((BlockKind::Explanation, analysed.explanation));
        Ok(analysed.found)
    }

    /// Runs a draw with its fragment entry point, and with a vertex entry point if the test names
    /// one. Without a vertex entry point, the fragments cover the whole screen.
    fn run_draw(&mut self) -> Ran<Found> {
        let asked = self.asked_draw()?;
        let precision = match self.test.option("precision") {
            None => None,
            Some("strict") => Some(Profile::Strict),
            Some(other) => return Err(format!("precision={other} is not strict")),
        };
        let rules = self.wsl_rules();
        let settings = Settings {
            strategy: self.strategy()?,
            precision,
            schedule: self.schedule()?,
            fuel: self.number("fuel", FUEL)?,
            ways: self.number("ways", 256)? as usize,
            planted: rules.execution,
            ..Settings::default()
        };
        let (found, fired) = wsl::draw(&self.file.text, &asked, &self.file.resources, &settings)?;
        if rules.execution.is_none() {
            let compared = wsl::compare_draw(&self.file.text, &asked, &self.file.resources, settings.fuel)?;
            self.report.drawn_by_fast_engine += usize::from(compared);
        }
        self.report.fired.extend(fired);
        Ok(found)
    }

    /// The draw that the options and the file's attributes describe.
    fn asked_draw(&self) -> Ran<stages::DrawRequest<'_>> {
        let count = |key: &str| match self.test.option(key) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| format!("{key}={text} is no number")),
        };
        let vertex = self.test.option("vertex");
        let attributes = &self.file.attributes;
        let (of_vertices, of_fragments) = if vertex.is_some() { (&attributes[..], &[][..]) } else { (&[][..], &attributes[..]) };
        Ok(stages::DrawRequest {
            fragment: self.test.option("entry"),
            vertex,
            vertices: count("vertices")?,
            instances: count("instances")?,
            attributes: of_vertices,
            inputs: of_fragments,
            size: self.pair("size", 'x', (1, 1))?,
            depth: self.test.option("depth").map(stages::comparison).transpose()?,
            specialized: &[],
        })
    }
}
