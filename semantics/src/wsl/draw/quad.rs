//! Operations that the four threads of a quad perform together (ERRATA WSL-D25, WSL-D26).
//!
//! Threads meet at an operation over the quad as threads of a group meet at a barrier: at the same
//! instance of it. At a barrier all threads must arrive. Here a thread that the others do not meet
//! goes on, with unspecified values for their operands.

use super::threads::{Group, State, World};
use crate::text::Span;
use crate::wsl::environment::access::Callee;
use crate::wsl::execution::{Around, Exchange, Instance};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Derivative;
use crate::wsl::memory::Words;
use crate::wsl::open::{OpenTerms, Word};
use crate::wsl::types::Scalar;
use crate::wsl::typing::program::{ExprId, Form, Program};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// An operation over a quad that not all of its threads reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnmetOperation {
    /// A thread that stood at it.
    pub thread: u32,
    /// The place of the operation in the program.
    pub place: Span,
    /// A thread of the quad that did not stand at it.
    pub other: u32,
}

/// The most operations of this kind that are reported.
const MAX_APART: usize = 1000;

/// The four threads of a quad, at the same instance of an operation over it, go on with the
/// operands of all [wsl/g-quad, 004 Floating point arithmetic; WSL-D26]
pub fn g_quad(world: &mut World, program: &Program, group: &mut Group) {
    let Some((meaning, operands)) = together(program, group) else { return };
    // The quad's first thread makes the choices, so that they are the same in every schedule.
    world.common.opens.thread = group.threads[0].0.number;
    let chosen = chosen(&mut world.common.opens, meaning, &operands);
    for (thread, state) in &mut group.threads {
        if let Some(stage) = &mut thread.stage {
            stage.exchange = Some(Exchange { operands: operands.clone(), chosen: chosen.clone() });
        }
        *state = State::Running;
    }
}

/// Threads of a quad at an operation over it that not all come to go on, each with unspecified
/// operands for the others [wsl/g-quad-apart, 004 Floating point arithmetic, Barriers and discard;
/// WSL-D25, WSL-D26]
///
/// Of the instances at which threads stand, the first in program order goes on. Other threads may
/// still reach the later ones.
pub fn g_quad_apart(world: &mut World, program: &Program, group: &mut Group) {
    let standing = group.threads.iter().filter_map(|(_, state)| match state {
        State::AtQuad(instance, _) => Some(instance),
        _ => None,
    });
    let Some(first) = standing.min_by(|a, b| before(program, a, b)).cloned() else { return };
    let other = group.threads.iter().find(|(_, state)| !matches!(state, State::AtQuad(instance, _) if *instance == first));
    let other = other.map(|(thread, _)| thread.number);
    for (thread, state) in &mut group.threads {
        let State::AtQuad(instance, operand) = state else { continue };
        if *instance != first {
            continue;
        }
        let Some(stage) = &mut thread.stage else { continue };
        world.common.opens.thread = thread.number;
        let operands = [0, 1, 2, 3].map(|lane| match stage.lane == Some(lane) {
            true => operand.clone(),
            false => operand.iter().map(|_| world.common.opens.leaf(None, Scalar::Float, 0)).collect(),
        });
        let chosen = chosen(&mut world.common.opens, meaning(program, &first), &operands);
        stage.exchange = Some(Exchange { operands, chosen });
        let place = first.barrier.and_then(|e| program.exprs.get(e.0 as usize)).map_or(Span::default(), |e| e.span);
        if let Some(other) = other {
            note(&mut world.common.apart, UnmetOperation { thread: thread.number, place, other });
        }
        *state = State::Running;
    }
}

/// Records an operation that not all threads reached, once for each place.
pub(super) fn note(all: &mut Vec<UnmetOperation>, apart: UnmetOperation) {
    if all.len() < MAX_APART && !all.iter().any(|a| a.place == apart.place) {
        all.push(apart);
    }
}

/// The choices that the operation leaves open if it is a derivative, made once for the quad.
pub fn chosen(opens: &mut OpenTerms, meaning: Option<Meaning>, operands: &[Words; 4]) -> SmallVec<[Word; 2]> {
    let derivative = meaning.and_then(Derivative::of);
    derivative.map(|derivative| derivative.chosen(opens, operands.each_ref().map(|o| &o[..]))).unwrap_or_default()
}

/// The called function and the operands of all four threads, if they stand at the same instance.
pub fn together(program: &Program, group: &Group) -> Option<(Option<Meaning>, [Words; 4])> {
    let [a, b, c, d] = &group.threads[..] else { return None };
    let State::AtQuad(instance, _) = &a.1 else { return None };
    let operand = |state: &State| match state {
        State::AtQuad(other, operand) if other == instance => Some(operand.clone()),
        _ => None,
    };
    Some((meaning(program, instance), [operand(&a.1)?, operand(&b.1)?, operand(&c.1)?, operand(&d.1)?]))
}

fn meaning(program: &Program, instance: &Instance) -> Option<Meaning> {
    match &program.exprs.get(instance.barrier?.0 as usize)?.form {
        Form::Call(Callee::Library(f), _) => Some(f.meaning()),
        _ => None,
    }
}

/// The order of two instances in the program, as far as loops and places in the text decide it.
fn before(program: &Program, a: &Instance, b: &Instance) -> Ordering {
    let place = |instance: &Instance, k: usize| {
        let expr = |e: ExprId| program.exprs.get(e.0 as usize).map(|e| e.span.end);
        match instance.around.get(k) {
            Some(Around::Call(e)) => expr(*e),
            Some(Around::Iteration(s, _)) => Some(program.stmt(*s).span.end),
            None => instance.barrier.and_then(expr),
        }
    };
    let same = a.around.iter().zip(&b.around).take_while(|(x, y)| x == y).count();
    match (a.around.get(same), b.around.get(same)) {
        (Some(Around::Iteration(s, m)), Some(Around::Iteration(t, n))) if s == t => m.cmp(n),
        _ => place(a, same).cmp(&place(b, same)),
    }
}
