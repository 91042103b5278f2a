//! The tests of SPIR-V modules.

use super::{FUEL, FileReport, Ran, Run, instructions};
use crate::expect::Found;
use crate::reject::FoundError;
use crate::show::{dispatch_ending, instruction_place, load_code, spirv_ending};
use rspirv::spirv::ExecutionModel;
use smallstep::compile::lambda_v as translation;
use smallstep::theorem::case::target_fuel;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::{Arithmetic, Lane};
use smallstep_semantics::spirv;
use smallstep_semantics::spirv::environment::{Dispatch, Limits as RunLimits, Resources, Robustness};
use smallstep_semantics::spirv::{LoadError, Module, WordsError, grid, lockstep};
use std::collections::BTreeSet;

impl Run<'_> {
    pub(super) fn words(&self) -> Ran<Vec<u32>> {
        spirv::assemble(&self.file.text, spirv::Options::default()).map_err(|e| format!("{}: {e}", self.file.name))
    }

    pub(super) fn reject_module(&self) -> Option<FoundError> {
        let words = match spirv::assemble(&self.file.text, spirv::Options::default()) {
            Ok(words) => words,
            Err(e) => {
                return Some(FoundError { code: "assemble".into(), message: e.what, line: e.line as usize, column: e.column as usize });
            }
        };
        let error = Module::load(&words).err()?;
        let (message, word) = match &error {
            LoadError::Words(WordsError::Malformed { what, offset, .. }) => (what.clone(), *offset),
            LoadError::Invalid { what, at, .. } | LoadError::Unsupported { what, at } => (what.clone(), at.word as usize),
            other => (other.to_string(), 0),
        };
        let (line, column) = instruction_place(&self.file.text, &words, word);
        Some(FoundError { code: load_code(&error), message, line, column })
    }

    /// Runs a module by the relation. Unless a rule is planted, the machine runs it too and must
    /// end alike.
    pub(super) fn run_module(&mut self, translated: Option<(&translation::Module, &Module)>) -> Ran<Found> {
        let loaded;
        let (module, entry, constants) = match translated {
            Some((translated, module)) => (module, translated.entry, translated.constants.clone()),
            None => {
                loaded = Module::load(&self.words()?).map_err(|e| format!("the module is refused: {e}"))?;
                if loaded.entry_points().iter().all(|entry| entry.model == ExecutionModel::GLCompute) {
                    return self.run_dispatch(&loaded);
                }
                let floats = self.test.option("buffer").map_or(Ok(Vec::new()), |text| {
                    text.split(',')
                        .map(|x| x.parse::<f32>().map(f32::to_bits).map_err(|_| format!("buffer={text} is no list of numbers")))
                        .collect()
                })?;
                (&loaded, "main", floats)
            }
        };
        let buffers: Vec<spirv::Buffer> = match self.test.option("buffer").is_some() || !constants.is_empty() {
            true => vec![spirv::Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&constants) }],
            false => Vec::new(),
        };
        let (x, y) = self.pixel()?;
        let frag_coord = smallstep_semantics::lambda_v::step::frag_coord(x, y).map(Lane::float);
        let inputs = spirv::Inputs { frag_coord, buffers: &buffers };
        let fuel = self.number("fuel", target_fuel(1000, module.instructions().len()))?;
        let arithmetic: Arithmetic = self.planted.target_arithmetic;
        let rules = self.planted.relation.clone();
        let by_machine = rules.is_none().then(|| {
            spirv::Program::compile(module, entry).map(|program| program.run(&inputs, fuel, &arithmetic)).map_err(|e| e.to_string())
        });
        let relation = spirv::Relation::new(rules.unwrap_or_default(), arithmetic);
        let FileReport { fired, executed, .. } = &mut *self.report;
        let mut sink = |event: &spirv::Event<'_, '_>| {
            fired.insert(event.rule);
            executed.extend(instructions(module, event.instruction));
        };
        let outcome = spirv::step::run(module, entry, &inputs, fuel, &relation, &mut sink).map_err(|e| e.to_string())?;
        let found = spirv_ending(&outcome);
        if let Some(by_machine) = by_machine {
            let by_machine = spirv_ending(&by_machine?);
            if by_machine.lines() != found.lines() {
                return Err(format!("by the relation {:?}, by the machine {:?}", found.lines(), by_machine.lines()));
            }
        }
        Ok(found)
    }

    /// Runs a compute module. Its inputs are `groups` workgroups in x, the words of the buffer at
    /// set 0, binding 0, and the file's images and samplers.
    pub(super) fn run_dispatch(&mut self, module: &Module) -> Ran<Found> {
        let buffers = [spirv::Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&self.buffer_words()?) }];
        let robustness = match self.test.option("robustness") {
            None | Some("none") => Robustness::None,
            Some("rba1") => Robustness::Access1,
            Some("rba2") => Robustness::Access2,
            Some(other) => return Err(format!("robustness={other} is none of none, rba1 and rba2")),
        };
        let schedule: Schedule = match self.test.option("schedule") {
            None => Schedule::default(),
            Some(text) => text.replace(',', " ").parse().map_err(|e| format!("schedule={text}: {e}"))?,
        };
        let groups = [u32::try_from(self.number("groups", 1)?).map_err(|_| "groups is beyond 32 bits".to_string())?, 1, 1];
        let limits = RunLimits { instructions: self.number("fuel", FUEL)?, ..RunLimits::default() };
        let (images, samplers) = (self.file.images.as_slice(), self.file.samplers.as_slice());
        let subgroup_size = match self.test.option("subgroup") {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| format!("subgroup={text} is no number"))?),
        };
        let resources = Resources { robustness, images, samplers, subgroup_size, ..Resources::of_buffers(&buffers) };
        let dispatch = Dispatch { entry: "main", groups, resources, limits };
        let rules = self.planted.relation.clone().unwrap_or_default();
        let relation = spirv::Relation::new(rules, self.planted.target_arithmetic);
        let mut executed = BTreeSet::new();
        let fired = &mut self.report.fired;
        let mut sink = |event: &spirv::Event<'_, '_>| {
            fired.insert(event.rule);
            executed.extend(instructions(module, event.instruction));
        };
        let outcome = grid::run(module, &dispatch, &schedule, &relation, &mut sink).map_err(|e| e.to_string())?;
        let found = dispatch_ending(&outcome);
        if self.planted.relation.is_none() && schedule == Schedule::default() {
            match lockstep::Program::compile(module, "main") {
                Ok(program) => {
                    let by_machine = dispatch_ending(&program.run(&dispatch, 1));
                    if by_machine.lines() != found.lines() {
                        return Err(format!("by the relation {:?}, by the lockstep machine {:?}", found.lines(), by_machine.lines()));
                    }
                    self.report.in_lockstep.extend(&executed);
                }
                Err(LoadError::Unsupported { .. }) => {}
                Err(error) => return Err(format!("the lockstep machine: {error}")),
            }
        }
        self.report.executed.extend(executed);
        Ok(found)
    }

    /// The words of the buffer, from `words=1,2,0*5`. `0*5` stands for five zeros.
    pub(super) fn buffer_words(&self) -> Ran<Vec<u32>> {
        const MOST: usize = 1 << 20;
        let mut words = Vec::new();
        for part in self.test.option("words").into_iter().flat_map(|text| text.split(',')) {
            let (value, count) = part.split_once('*').unwrap_or((part, "1"));
            match (value.parse::<u32>(), count.parse::<usize>()) {
                (Ok(value), Ok(count)) if count <= MOST - words.len() => words.extend(std::iter::repeat_n(value, count)),
                _ => return Err(format!("words={part} is no word, or too many")),
            }
        }
        Ok(words)
    }
}
