//! The fast machine for λV's fragment programs. It compiles a module's entry point once, to dense
//! registers and resolved blocks, and then runs it for each invocation.
//!
//! It shares no rule with [`crate::spirv::step`]. Tests compare the two: same outcome, same outputs
//! with the same bits and doubts, same number of steps. Registers are lanes in one flat array.
//! Constants are in their registers before the run. Every pointer is resolved at compile time,
//! since indices in the subset are constants. OpPhi become copies on the edges of the graph.
//!
//! The same code runs definite values ([`Program::run`]) and sets ([`Program::explore`]). They
//! differ only in their `Evaluation`.

mod compile;
mod evaluation;

use smallvec::SmallVec;

use crate::number::sets::{Exploration, Observation, Unsettled, observe};
use crate::number::{self, Arithmetic, Lane, Lanes, Tuple};
use crate::outcome::{Outcome, TimeLimit};
use crate::spirv::environment::Limits;
use crate::spirv::error::{LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::module::{Interface, Module};
use crate::spirv::value::{self, Control, Inputs, Outputs};
use crate::undefined::{Ub, Undefined};
use evaluation::Evaluation;

/// A range of lanes among the registers.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    start: u32,
    lanes: u8,
    columns: u8,
}

impl Slot {
    #[inline]
    fn of(self, registers: &[Lane]) -> &[Lane] {
        &registers[self.start as usize..self.start as usize + self.lanes as usize]
    }

    #[inline]
    fn of_mut(self, registers: &mut [Lane]) -> &mut [Lane] {
        &mut registers[self.start as usize..self.start as usize + self.lanes as usize]
    }

    /// Registers[self] := registers[source], which has as many lanes.
    #[inline]
    fn copy(self, source: Slot, registers: &mut [Lane]) {
        let from = source.start as usize;
        registers.copy_within(from..from + self.lanes as usize, self.start as usize);
    }
}

/// The action of a compiled instruction.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// to := op(args…)
    Apply { op: number::Op, to: Slot, args: [Slot; 3], count: u8 },
    /// to := from
    Copy { to: Slot, from: Slot },
    /// to := the concatenation of parts
    Gather { to: Slot, first: u32, end: u32 },
    /// to := FragCoord from component `first` on
    Coordinate { to: Slot, first: u32 },
    /// to := floats of a buffer
    Fetch { to: Slot, variable: u32, offset: u64, stride: u32 },
    /// Undefined behaviour if the index violates the fault's bounds.
    Check { fault: u32 },
    /// The output variable := from
    Store { variable: u32, from: Slot },
}

/// The bounds of an access chain's index.
#[derive(Clone, Copy, Debug)]
struct Fault {
    at: Place,
    result: u32,
    op: Op,
    index: i64,
    /// The id of the index.
    id: u32,
    bounds: Bounds,
}

#[derive(Clone, Copy, Debug)]
enum Bounds {
    /// The number of elements, which the index is not less than.
    Count(u64),
    /// A runtime array. It has as many elements as fit in the buffer after the offset.
    Runtime { variable: u32, offset: u64, stride: u32 },
}

/// The end of a block. Targets are edges.
#[derive(Clone, Copy, Debug)]
enum End {
    Branch(u32),
    /// By a Boolean: its id, and its register.
    Conditional {
        id: u32,
        condition: u32,
        taken: u32,
        otherwise: u32,
    },
    Return,
    Unreachable(Place),
}

#[derive(Clone, Copy, Debug)]
struct Code {
    action: Action,
    /// The number of rules that the reference applies in the block before this instruction.
    step: u32,
}

/// The copies of one edge, and the block that it leads to.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    target: u32,
    first_move: u32,
    end_move: u32,
    /// Whether a copy writes the source of a later one. Then all sources must be read before any
    /// target is written.
    through_scratch: bool,
}

#[derive(Clone, Copy, Debug)]
struct CompiledBlock {
    first: u32,
    end: u32,
    /// The number of rules that the reference applies in the block.
    steps: u32,
    ends: End,
}

/// A variable of the program. `slot` holds the contents of an output or of a private variable.
#[derive(Clone, Copy, Debug)]
struct Variable {
    id: u32,
    interface: Interface,
    needed: u64,
    slot: Slot,
}

/// A compiled entry point.
#[derive(Clone, Debug)]
pub struct Program {
    blocks: Vec<CompiledBlock>,
    code: Vec<Code>,
    /// By instruction in `code`: the id of its result, or 0.
    results: Vec<u32>,
    /// Two for each block. A block with one successor uses the first.
    edges: Vec<Edge>,
    moves: Vec<(Slot, Slot)>,
    parts: Vec<Slot>,
    faults: Vec<Fault>,
    variables: Vec<Variable>,
    /// The registers before a run: constants in their place.
    initial: Vec<Lane>,
}

/// The registers of one machine. They are kept between runs, so that a run need not allocate them.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    lanes: Vec<Lane>,
    scratch: Vec<Lane>,
    stored: Vec<bool>,
}

impl Program {
    /// Compiles an entry point.
    pub fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
        compile::compile(module, entry)
    }

    /// Runs one invocation. The limit on instructions is the most rules that the reference may
    /// apply. The limit on time applies too.
    pub fn run(&self, inputs: &Inputs<'_>, limits: impl Into<Limits>, arithmetic: &Arithmetic) -> Outcome<Outputs> {
        self.run_in(&mut Registers::default(), inputs, &limits.into(), arithmetic)
    }

    /// Runs one invocation in the given registers. Once these are large enough, a run allocates
    /// only its outputs.
    // Not generic: a generic function would be compiled at its callers, and its loop would
    // not be inlined.
    pub fn run_in(&self, registers: &mut Registers, inputs: &Inputs<'_>, limits: &Limits, arithmetic: &Arithmetic) -> Outcome<Outputs> {
        let Ok(outcome) = self.evaluate(registers, inputs, limits, arithmetic, Control::default());
        outcome
    }

    /// What a device must show for an invocation that shows `shown`: the written components of its
    /// outputs, by ascending location. The result covers every way that the invocation may take
    /// where components are not decided.
    pub fn explore(
        &self,
        shown: &Outputs,
        inputs: &Inputs<'_>,
        fuel: u64,
        arithmetic: &Arithmetic,
        exploration: Exploration,
    ) -> Observation {
        let mut registers = Registers::default();
        observe(exploration, &shown.lanes(), |sets| match self.evaluate(&mut registers, inputs, &fuel.into(), arithmetic, sets)? {
            Outcome::Observed(outputs) => Ok(shown.components_of(&outputs)),
            other => Err(Unsettled::ended(&other)),
        })
    }

    /// Runs one invocation with one kind of evaluation.
    fn evaluate<E: Evaluation>(
        &self,
        registers: &mut Registers,
        inputs: &Inputs<'_>,
        limits: &Limits,
        arithmetic: &Arithmetic,
        evaluation: E,
    ) -> Result<Outcome<Outputs>, E::Error> {
        let mut buffers: SmallVec<[&[u8]; 4]> = SmallVec::new();
        for variable in &self.variables {
            if let Some(what) = value::missing_buffer(variable.id, variable.interface, variable.needed, inputs) {
                return Ok(Outcome::Unsupported(what));
            }
            buffers.push(match variable.interface {
                Interface::Buffer(set, binding) => inputs.buffer(set, binding).unwrap_or(&[]),
                _ => &[],
            });
        }
        let Registers { lanes, scratch, stored } = registers;
        lanes.clone_from(&self.initial);
        stored.clear();
        stored.resize(self.variables.len(), false);
        let mut run = Run { program: self, inputs, buffers, arithmetic, evaluation, lanes, stored };
        let (mut steps, mut block) = (0u64, 0u32);
        loop {
            let body = &self.blocks[block as usize];
            let instructions_left = limits.instructions - steps;
            let is_enough = instructions_left >= u64::from(body.steps);
            let mut code = &self.code[body.first as usize..body.end as usize];
            if !is_enough {
                code = &code[..code.partition_point(|c| u64::from(c.step) < instructions_left)];
            }
            for (index, code) in (body.first..).zip(code) {
                match run.execute(index, &code.action) {
                    Ok(()) => {}
                    Err(Stop::Fault(fault)) => return Ok(run.undefined(fault, steps + u64::from(code.step))),
                    Err(Stop::Evaluation(error)) => return Err(error),
                }
            }
            if !is_enough {
                return Ok(Outcome::OutOfFuel);
            }
            if let Some(limit) = TimeLimit::passed_between(limits.time, steps, steps + u64::from(body.steps)) {
                return Ok(Outcome::Limit(limit));
            }
            steps += u64::from(body.steps);
            let edge = match body.ends {
                End::Branch(edge) => edge,
                End::Conditional { id, condition, taken, otherwise } => {
                    let condition = run.lanes[condition as usize];
                    if run.evaluation.decide(id, condition)? { taken } else { otherwise }
                }
                End::Return => return Ok(Outcome::Observed(run.outputs(steps))),
                End::Unreachable(place) => {
                    let what = "OpUnreachable was reached".to_string();
                    let at = format!("{place}, step {}", steps - 1);
                    return Ok(Outcome::Undefined(Undefined { ub: Ub::Unreachable, what, at, site: None }));
                }
            };
            let edge = &self.edges[edge as usize];
            run.cross(edge, scratch);
            block = edge.target;
        }
    }
}

/// Why an instruction was not executed.
enum Stop<E> {
    /// The fault with that index makes it undefined behaviour.
    Fault(u32),
    /// The evaluation cannot go on.
    Evaluation(E),
}

/// One run.
struct Run<'r, E> {
    program: &'r Program,
    inputs: &'r Inputs<'r>,
    buffers: SmallVec<[&'r [u8]; 4]>,
    arithmetic: &'r Arithmetic,
    evaluation: E,
    lanes: &'r mut [Lane],
    stored: &'r mut [bool],
}

impl<E: Evaluation> Run<'_, E> {
    /// Executes one instruction, `code[index]`.
    #[inline]
    fn execute(&mut self, index: u32, action: &Action) -> Result<(), Stop<E::Error>> {
        let to = match *action {
            Action::Apply { op, to, args, count } => {
                let args = args.map(|a| Tuple { lanes: a.of(self.lanes), columns: a.columns as usize });
                let place = || self.program.results[index as usize];
                // A match and not a map, so that the lanes are not moved.
                let result = match self.evaluation.apply(place, self.arithmetic, op, &args[..count as usize]) {
                    Ok(result) => result,
                    Err(error) => return Err(Stop::Evaluation(error)),
                };
                // The loop is by reference for the same reason.
                for (lane, value) in to.of_mut(self.lanes).iter_mut().zip(&result) {
                    *lane = *value;
                }
                to
            }
            Action::Copy { to, from } => {
                to.copy(from, self.lanes);
                to
            }
            Action::Gather { to, first, end } => {
                let mut at = to.start as usize;
                for part in &self.program.parts[first as usize..end as usize] {
                    let from = part.start as usize;
                    self.lanes.copy_within(from..from + part.lanes as usize, at);
                    at += part.lanes as usize;
                }
                to
            }
            Action::Coordinate { to, first } => {
                for (lane, &x) in to.of_mut(self.lanes).iter_mut().zip(&self.inputs.frag_coord[first as usize..]) {
                    *lane = Lane::fragment_input(x);
                }
                to
            }
            Action::Fetch { to, variable, offset, stride } => {
                let bytes = self.buffers[variable as usize];
                let rows = to.lanes / to.columns;
                let lanes = to.of_mut(self.lanes);
                for column in 0..to.columns {
                    for row in 0..rows {
                        let at = offset + u64::from(stride) * u64::from(column) + 4 * u64::from(row);
                        lanes[(column * rows + row) as usize] = value::float_at(bytes, at as usize);
                    }
                }
                to
            }
            Action::Check { fault } => {
                let Fault { index, bounds, .. } = self.program.faults[fault as usize];
                return if index < 0 || index as u64 >= self.count(bounds) { Err(Stop::Fault(fault)) } else { Ok(()) };
            }
            Action::Store { variable, from } => {
                let to = self.program.variables[variable as usize].slot;
                to.copy(from, self.lanes);
                self.stored[variable as usize] = true;
                to
            }
        };
        self.evaluation.mark(to.of_mut(self.lanes));
        Ok(())
    }

    fn count(&self, bounds: Bounds) -> u64 {
        match bounds {
            Bounds::Count(count) => count,
            Bounds::Runtime { variable, offset, stride } => {
                (self.buffers[variable as usize].len() as u64).saturating_sub(offset) / u64::from(stride.max(1))
            }
        }
    }

    /// Executes the copies of the OpPhi in the edge's target.
    #[inline]
    fn cross(&mut self, edge: &Edge, scratch: &mut Vec<Lane>) {
        let moves = &self.program.moves[edge.first_move as usize..edge.end_move as usize];
        if edge.through_scratch {
            scratch.clear();
            for (_, from) in moves {
                scratch.extend_from_slice(from.of(self.lanes));
            }
            let mut at = 0;
            for (to, _) in moves {
                to.of_mut(self.lanes).copy_from_slice(&scratch[at..at + to.lanes as usize]);
                at += to.lanes as usize;
            }
        } else {
            for (to, from) in moves {
                to.copy(*from, self.lanes);
            }
        }
        for (to, _) in moves {
            self.evaluation.mark(to.of_mut(self.lanes));
        }
    }

    fn outputs(&mut self, steps: u64) -> Outputs {
        let mut outputs = Outputs { steps, ..Outputs::default() };
        for (variable, &stored) in self.program.variables.iter().zip(self.stored.iter()) {
            let Interface::Output(location) = variable.interface else { continue };
            if stored {
                let mut lanes = Lanes::from_slice(variable.slot.of(self.lanes));
                self.evaluation.mark(&mut lanes);
                outputs.written.push((location, lanes));
            } else {
                outputs.unwritten.push(location);
            }
        }
        outputs.written.sort_by_key(|(location, _)| *location);
        outputs.unwritten.sort_unstable();
        outputs
    }

    #[cold]
    fn undefined(&self, fault: u32, step: u64) -> Outcome<Outputs> {
        let Fault { at, result, op, index, id, bounds } = self.program.faults[fault as usize];
        let what = format!("%{result} = Op{op:?} has index {index} (%{id}) of {}", self.count(bounds));
        Outcome::Undefined(Undefined { ub: Ub::AccessOutOfBounds, what, at: format!("{at}, step {step}"), site: None })
    }
}
