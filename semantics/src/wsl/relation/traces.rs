//! Traces of the threads of an entry point, on the fast engine. They show whether all threads of a
//! group reach the same barriers, and all threads of a quad the same derivatives and samples
//! ([`crate::wsl::machine::Traced`]).
//!
//! A compute entry point runs over a grid. A fragment entry point runs for the four pixels of a
//! screen of 2 × 2, which one triangle covers. A float attribute holds the place of the pixel's
//! centre on the screen, from 0 to 1. All other inputs are 0.

use crate::outcome::{InputFault, InvalidInput};
use crate::wsl::choice::Strategy;
use crate::wsl::entry::{EntryPoint, Stage};
use crate::wsl::environment::Semantic;
use crate::wsl::execution::term::Value;
use crate::wsl::execution::{Planted, Shared};
use crate::wsl::group::{Dispatch, Outside, Resource, bound, flat_words, offset};
use crate::wsl::machine::{Compiled, Grid, InDraw, Memory, Settings, Start, Traced};
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::types::{Scalar, Type};
use crate::wsl::typing::program::Program;

/// How to run the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// The treatment of unspecified values.
    pub strategy: Strategy,
    /// The most iterations and calls of each thread.
    pub fuel: u64,
    /// Whether the last thread of a group runs first.
    pub reversed: bool,
}

impl Default for TraceSettings {
    fn default() -> TraceSettings {
        TraceSettings { strategy: Strategy::First, fuel: 100_000, reversed: false }
    }
}

/// An entry point whose threads can be compared.
#[derive(Debug)]
pub struct Traces<'p> {
    program: &'p Program,
    entry: &'p EntryPoint,
    compiled: Compiled,
    shared: Shared<'p>,
}

impl<'p> Traces<'p> {
    /// Compiles the entry point.
    ///
    /// # Errors
    /// If the machine does not support the entry point. Also for vertex entry points, whose threads
    /// never meet.
    pub fn new(program: &'p Program, entry: &'p EntryPoint) -> Result<Traces<'p>, InvalidInput> {
        if entry.stage == Stage::Vertex {
            return Err(InvalidInput::new(InputFault::Unsupported, "threads of a vertex entry point never meet"));
        }
        let compiled = Compiled::new(program, entry.function)?;
        let shared = Shared::laid_out(program, entry.function, Planted::default())?;
        Ok(Traces { program, entry, compiled, shared })
    }

    /// Runs the entry point on these resources, without changing them for the caller. `groups` is
    /// the number of groups of a compute entry point in each direction.
    ///
    /// # Errors
    /// If there are too many threads, or the resources do not fit the entry point.
    pub fn run(&self, groups: [u32; 3], resources: Vec<Resource>, trace_settings: &TraceSettings) -> Result<Traced, InvalidInput> {
        let Outside { mut buffers, opaques, undefined, .. } = Outside::of(&resources, trace_settings.strategy);
        let mut memory = Memory { buffers: &mut buffers, opaques: &opaques, undefined, in_doubt: false };
        let settings = Settings { strategy: trace_settings.strategy, fuel: trace_settings.fuel, ..Settings::default() };
        if self.entry.stage == Stage::Fragment {
            let start = |lane: usize| {
                let mut arguments = Vec::new();
                flat_words(&resources, &self.pixel_arguments(&resources, lane), &mut arguments)
                    .ok_or_else(|| InvalidInput::new(InputFault::Missing, "an argument has no value"))?;
                let stage = InDraw { lane: Some(lane), helper: false, doubtful: false };
                Ok::<Start, InvalidInput>(Start { number: lane as u32, choices: 0, stage, arguments })
            };
            let starts = [start(0)?, start(1)?, start(2)?, start(3)?];
            return self.compiled.traces_of_quad(starts, &mut memory, &settings, trace_settings.reversed);
        }
        let dispatch = Dispatch { program: self.program, text: "", entry: self.entry, groups, resources };
        let size = dispatch.size();
        let count = |n: [u32; 3]| n.iter().try_fold(1u32, |all, &n| all.checked_mul(n));
        let (Some(groups), Some(threads)) = (count(groups), count(size)) else {
            return Err(InvalidInput::new(InputFault::Limit, "there are more than 2^32 threads or groups"));
        };
        let at = |n: u32, sizes: [u32; 3]| [n % sizes[0], n / sizes[0] % sizes[1], n / sizes[0] / sizes[1]];
        let mut arguments = |group: u32, thread: u32, words: &mut Vec<u32>| {
            let values = dispatch.arguments(&self.shared, at(group, dispatch.groups), at(thread, size), thread);
            // The arguments of a thread of a compute entry point are definite.
            let _ = flat_words(&dispatch.resources, &values, words);
        };
        self.compiled.traces_of_grid(Grid { groups, threads }, &mut arguments, &mut memory, &settings, trace_settings.reversed)
    }

    /// The arguments of the thread of a pixel.
    fn pixel_arguments(&self, resources: &[Resource], lane: usize) -> Vec<Value> {
        let pixel = [lane % 2, lane / 2].map(|x| (x as f32 + 0.5) / 2.0);
        let function = self.program.env.function(self.entry.function);
        let words = |ty| self.shared.words(ty).unwrap_or(0) as usize;
        let zeros = |ty| Words::from_elem(Word::Bits(0), words(ty));
        let mut values: Vec<Value> = function.parameters.iter().map(|p| Value { ty: p.ty, words: zeros(p.ty) }).collect();
        for item in &self.entry.inputs {
            let argument: Words = match item.semantic {
                Some((Semantic::Attribute(_), _)) if self.is_of_floats(item.ty) => {
                    let place = [pixel[0], pixel[1], 0.0, 0.0];
                    place.iter().take(words(item.ty)).map(|x| Word::Bits(x.to_bits())).collect()
                }
                _ => match bound(self.program, resources, item) {
                    Some(words) => words,
                    None => continue,
                },
            };
            let Some(value) = item.parameter.and_then(|p| values.get_mut(p as usize)) else { continue };
            let at = offset(self.program, &self.shared, item, value.ty) as usize / 4;
            if let Some(place) = value.words.get_mut(at..at + argument.len()) {
                place.copy_from_slice(&argument);
            }
        }
        values
    }

    fn is_of_floats(&self, ty: crate::wsl::types::TypeId) -> bool {
        matches!(self.program.env.types.get(ty), Type::Scalar(Scalar::Float) | Type::Vector(Scalar::Float, _))
    }
}
