//! A draw on the fast engine. Its threads run there, on definite values. Assembly, rasterisation
//! and merging are the same as in a draw by the relation.

use super::fragment::Fragments;
use super::quad::{UnmetOperation, note};
use super::target::Texels;
use super::threads::{Common, Engine, Starts, ThreadResults, limit};
use super::{Draw, Ending, Shown, Target, vertex};
use crate::outcome::{Outcome, Stuck};
use crate::wsl::entry::{EntryPoint, Stage};
use crate::wsl::execution::Shared;
use crate::wsl::group::{Outside, Resource, flat_words, possible};
use crate::wsl::machine::{self, Compiled, Ended, InDraw, Memory};
use crate::wsl::open::{OpenTerms, Possible, Ways, Word};
use crate::wsl::{At, Settings};

/// The threads of a draw on the fast engine.
struct Machine<'a, 'm> {
    common: Common<'a>,
    resources: &'a [Resource],
    /// The vertex entry point, if vertices are shaded, and the fragment entry point.
    compiled: (Option<&'a Compiled>, &'a Compiled),
    memory: Memory<'m>,
    unspecified: bool,
}

impl Machine<'_, '_> {
    fn ending(&self, thread: u32, ending: machine::Ending) -> Ending {
        use machine::Ending as E;
        match ending {
            E::OutOfFuel { place } => Ending::OutOfFuel(At { thread, at: place }),
            E::Limit { limit, .. } => Ending::Other(Outcome::Limit(limit)),
            E::Open { place } => Ending::Open(At { thread, at: place }),
            E::Stuck { why, place: at } => Ending::Other(Outcome::Stuck(Stuck { why: why.into(), at: self.common.place(at) })),
            E::NoQuad { place: at } => Ending::Other(Outcome::Unsupported(format!(
                "an operation over a quad of a thread that is in none (at {})",
                self.common.place(at)
            ))),
            E::Returned(_) | E::Discarded | E::NoGroup { .. } => Ending::Other(Outcome::Deadlock),
        }
    }
}

impl<'a> Engine<'a> for Machine<'a, '_> {
    fn common(&mut self) -> &mut Common<'a> {
        &mut self.common
    }

    fn run(&mut self, shared: &Shared, entry: &EntryPoint, groups: Vec<Starts>) -> Result<ThreadResults, Ending> {
        let compiled = match (entry.stage, self.compiled) {
            (Stage::Vertex, (Some(vertex), _)) => vertex,
            (_, (_, fragment)) => fragment,
        };
        let &Settings { strategy, time, .. } = self.common.settings;
        let settings = machine::Settings { strategy, time, ..machine::Settings::default() };
        let mut left = Vec::with_capacity(groups.len());
        for group in groups {
            let mut starts = Vec::with_capacity(group.threads.len());
            for start in group.threads {
                let mut arguments = Vec::new();
                if flat_words(self.resources, &start.values, &mut arguments).is_none() {
                    let at = shared.program.env.function(entry.function).name.span;
                    return Err(Ending::Open(At { thread: start.number, at }));
                }
                let stage = InDraw { lane: start.stage.lane, helper: start.stage.helper, doubtful: start.stage.doubtful };
                starts.push(machine::Start { number: start.number, choices: self.common.opens.chosen_by(start.number), stage, arguments });
            }
            // Each thread needs new memory.
            let cost = 1 + u64::from(compiled.words() >> 10);
            self.common.spend(starts.len() as u64 * cost, starts.first().map_or(0, |start| start.number))?;
            match compiled.together(starts, &mut self.memory, &mut self.common.fuel, &settings) {
                Err(invalid) => return Err(Ending::Other(Outcome::Unsupported(invalid.what))),
                Ok(Ended::Stopped { thread, ending }) => return Err(self.ending(thread, ending)),
                Ok(Ended::All { endings, unspecified, lonely }) => {
                    self.unspecified |= unspecified;
                    for machine::UnmetThread { thread, place, other } in lonely {
                        note(&mut self.common.apart, UnmetOperation { thread, place, other });
                    }
                    let words = |ending| match ending {
                        machine::Ending::Returned(words) => Some(words.into_iter().map(Word::Bits).collect()),
                        _ => None,
                    };
                    left.push(endings.into_iter().map(words).collect());
                }
            }
        }
        Ok(left)
    }
}

impl Draw<'_> {
    /// Runs the draw on the fast engine: on definite values, which the settings' strategy chooses,
    /// with threads in order, and without races. `compiled` is the vertex entry point, if vertices
    /// are shaded, and the fragment entry point. Fuel counts iterations, calls, threads and places
    /// that rasterisation visits.
    pub fn run_fast(&self, compiled: (Option<&Compiled>, &Compiled), settings: &Settings) -> Ending {
        self.try_fast(compiled, settings).unwrap_or_else(|ending| ending)
    }

    fn try_fast(&self, compiled: (Option<&Compiled>, &Compiled), settings: &Settings) -> Result<Ending, Ending> {
        if settings.precision.is_some() {
            return Err(Ending::Other(Outcome::Unsupported("sets of floats on the fast engine".into())));
        }
        let stages = self.stages(settings, Shared::laid_out)?;
        let words = |compiled: &Compiled| u64::from(compiled.words());
        if 4 * words(compiled.1) > u64::from(machine::MAX_WORDS) || compiled.0.is_some_and(|c| words(c) > u64::from(machine::MAX_WORDS)) {
            return Err(limit("words of memory of the threads of a quad", machine::MAX_WORDS.into()));
        }
        let Outside { mut buffers, opaques, undefined, chosen } = Outside::of(&self.resources, settings.strategy);
        let mut engine = Machine {
            common: Common::new(self.text, settings, OpenTerms::new(settings.strategy, Ways::default()), settings.fuel),
            resources: &self.resources,
            compiled,
            memory: Memory { buffers: &mut buffers, opaques: &opaques, undefined, in_doubt: false },
            unspecified: chosen,
        };
        let rows = vertex::rows(&mut engine, self, stages.vertex.as_ref(), &stages.interface)?;
        let mut fragments =
            Fragments { engine: &mut engine, draw: self, shared: &stages.fragment, interface: &stages.interface, rows: &rows };
        let attachments = fragments.all()?;
        let definite = |word: Word| Possible::Values(word.definite().into_iter().collect());
        let target = |t: &Texels| Target {
            number: t.number,
            texels: t.texels.iter().map(|texel| texel.map(definite)).collect(),
            in_doubt: t.in_doubt.clone(),
        };
        let Machine { memory, common: Common { opens, apart, moved, fuel, .. }, unspecified, .. } = engine;
        Ok(Ending::Shown(Box::new(Shown {
            targets: attachments.targets.iter().map(target).collect(),
            depth: attachments.depths().map(|depths| depths.into_iter().map(|d| d.0).collect()),
            buffers: possible(memory.buffers, &memory.undefined),
            races: Vec::new(),
            apart,
            in_doubt: memory.in_doubt,
            moved,
            unspecified: unspecified || opens.met_unspecified(),
            complete: true,
            ways: 1,
            steps: settings.fuel - fuel,
            fired: Vec::new(),
        })))
    }
}
