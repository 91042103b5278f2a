//! Acceptance sets: what a conforming device may show, and evaluation of whole programs over them.
//!
//! The engines compute a definite value and its [`Trust`](super::Trust). Where that is in doubt, a run over sets goes on: [`Sets`] gives every
//! component that is not decided a *cell*, which holds the set of its values. A cell is a dynamic result id: what moves bits moves the
//! cell, so two components with the same cell have the same value on every device, and two evaluations of one expression have two cells.
//!
//! | module | what it holds |
//! |---|---|
//! | `set` | sets of floats |
//! | `cells` | a run: its cells, and the ways that its branches went |
//! | `observation` | what a whole program may show, by all of its ways |
//! | `rules` | what each instruction may give for operands that are sets |
//! | `rewriting` | what polynomials may come out as, however they are rewritten |

mod cells;
mod observation;
mod rewriting;
mod rules;
mod set;

pub(crate) use cells::follow;
pub use cells::{Allowed, Budget, CellId, Exploration, Explored, Left, Rules, Sets, Unsettled, explore};
pub use observation::{Observation, observe};
pub use rewriting::{Polynomial, Polynomials, polynomials};
pub use rules::{Operand, Truth, allowed, allowed_alone, compared, narrowed};
pub use set::{Set, Span};
