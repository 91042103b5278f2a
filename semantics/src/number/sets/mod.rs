//! Acceptance sets: what a conforming device may show, and evaluation of whole programs over them.
//!
//! The engines compute a definite value and its [`Trust`](super::Trust). Where that is in doubt, a
//! run over sets goes on: [`Sets`] gives every component that is not decided a *cell*, which holds
//! the set of its values. A cell is a dynamic result id: what moves bits moves the cell, so two
//! components with the same cell have the same value on every device, and two evaluations of one
//! expression have two cells.
//!
//! | module | what it holds |
//! |---|---|
//! | `set` | sets of floats |
//! | `format` | the formats of floats that have rules |
//! | `cells` | a run: its cells, and the ways that its branches went |
//! | `cause` | why a component has no bound |
//! | `observation` | what a whole program may show, by all of its ways |
//! | `rules` | what each instruction may give for operands that are sets |
//! | `moving` | comparisons of what is no polynomial, where terms may be moved |
//! | `passing` | what comes out of choices and quotients of such polynomials |
//! | `rewriting` | what polynomials may come out as, however they are rewritten |

mod cause;
mod cells;
mod format;
mod moving;
mod observation;
mod passing;
mod rewriting;
mod rules;
mod set;

pub use cause::{Cause, Site};
pub use cells::{Allowed, Budget, CellId, Exploration, Explored, Left, Rules, Sets, Unsettled, explore};
pub(crate) use cells::{Open, follow};
pub use format::Format;
pub use moving::{Moved, Side, compared_moved};
pub use observation::{Observation, observe};
pub use passing::{Passed, passed};
pub use rewriting::{Polynomial, Polynomials, polynomials};
pub use rules::{Certain, Certainty, Operand, Truth, allowed, allowed_alone, allowed_in, compared, narrowed};
pub use set::{Set, Span};
