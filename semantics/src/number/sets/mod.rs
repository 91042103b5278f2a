//! Acceptance sets: the values that a conforming device may show, and the evaluation of whole
//! programs over such sets.
//!
//! The engines compute a definite value and its [`Trust`](super::Trust). If that value is in doubt,
//! a run over sets follows. [`Sets`] gives each component that is not decided a *cell*, which holds
//! the set of its values. A cell is a dynamic result id. An instruction that moves bits moves the
//! cell, so two components with the same cell have the same value on every device. Two evaluations
//! of one expression have two cells.
//!
//! | module | contents |
//! |---|---|
//! | `set` | sets of floats |
//! | `format` | the formats of floats that have rules |
//! | `cells` | a run: its cells, and the decisions at its branches |
//! | `cause` | the reason why a component has no bound |
//! | `observation` | the possible results of a whole program, over all of its ways |
//! | `rules` | the possible results of each instruction, for operands that are sets |
//! | `moving` | comparisons of values that are no polynomials, where terms may be moved |
//! | `passing` | the results of choices and quotients of polynomials |
//! | `rewriting` | bounds of polynomials, for every way to rewrite them |

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
pub use cells::{Allowed, Budget, CellId, Exploration, Explored, Rules, Sets, SkippedBranch, Unsettled, explore};
pub(crate) use cells::{Open, follow};
pub use format::Format;
pub use moving::{MovableTerms, Side, compared_moved};
pub use observation::{Observation, observe};
pub use passing::{ComponentBound, passed};
pub use rewriting::{Polynomial, Polynomials, polynomials};
pub use rules::{Certain, Certainty, Operand, Truth, allowed, allowed_alone, allowed_in, compared, narrowed};
pub use set::{Set, Span};
