//! λV programs for campaigns. They are well typed by construction, or near-misses that one named
//! rule must reject. Also the shrinking of both.
//!
//! A program is a function of its seed alone, on every platform. It is generated from the root
//! down. Each expression is generated for the type that its place needs, from everything that can
//! yield that type there: every overload in the table of builtins, `if`, let, functions (applied
//! where they stand, named, passed, returned, chosen by a condition, curried), and loops. [`Mix`]
//! determines the proportions.
//!
//! The generator keeps two estimates. The range of each expression's values (`range`) keeps most
//! programs where arithmetic is exact. So nearly every lane has one answer that all devices must
//! give. The cost by name keeps the runs of the reference relation short, since it evaluates an
//! argument at each use.
//!
//! | module | what it holds |
//! |---|---|
//! | `mix` | size and features of one program |
//! | `expr` | expressions of a type of values |
//! | `leaf` | variables, literals and numbers |
//! | `binding` | names, let and define |
//! | `function` | functions |
//! | `recursion` | rec-func and rec |
//! | `near_miss` | programs with one change too many |
//! | `shrink` | smaller programs that still show something |
//! | `edit` | changes to a tree |
//! | `tame` | operands drawn into the domains of functions |
//! | `catalog` | the instances of the builtins' overloads |
//! | `range`, `scope`, `draft` | what the others stand on |

mod binding;
mod catalog;
mod draft;
mod edit;
mod expr;
mod function;
mod leaf;
mod mix;
mod near_miss;
mod range;
mod recursion;
mod scope;
pub mod shrink;
mod tame;

pub use mix::{Limits, Mix, Mode, Numbers};
pub use near_miss::{Expectation, near_miss};

use crate::random::Random;
use draft::{Id, Name};
use expr::Generator;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// The version of the generator. It is raised whenever the program of some seed changes. Journals
/// and vectors of another version belong to other programs.
pub const VERSION: u32 = 2;

/// The program of a seed. Its mix is drawn within the limits.
pub fn well_typed(seed: u64, limits: &Limits) -> Tree {
    let mut random = Random::new(seed);
    let mix = Mix::draw(&mut random, limits);
    program(&mix, random)
}

/// A program with this mix.
pub fn program(mix: &Mix, random: Random) -> Tree {
    let mut generator = Generator::new(random, *mix);
    let roots = generator.roots();
    generator.draft.finish(&roots)
}

impl Generator {
    /// Generates the top-level expressions.
    fn roots(&mut self) -> SmallVec<[Id; 4]> {
        let Mix { size, outputs, defines, .. } = self.mix;
        let mut roots = SmallVec::new();
        if outputs == 1 && defines == 0 {
            roots.push(self.output_value(size));
            return roots;
        }
        let share = size.saturating_sub(3 * (outputs + defines)) / (outputs + defines);
        for _ in 0..defines {
            let (value, kind, name) = self.unreached(|g| g.binding(Ground::Vec(4, Elem::F), share.max(2), &[Name::DEFINE, Name::OUTPUT]));
            let id = self.draft.name(name);
            roots.push(self.draft.call(Name::DEFINE, &[id, value]));
            self.scope.push(name, kind);
        }
        let first = self.random.below(3);
        for location in first..first + outputs {
            let at = self.draft.num(location as f32);
            let value = self.output_value(share.max(2));
            roots.push(self.draft.call(Name::OUTPUT, &[at, value]));
        }
        let first = defines as usize;
        if self.random.percent(50) {
            roots[first..].reverse();
        }
        roots
    }

    /// An expression that a fragment shader can write. Most programs start with a name for the
    /// pixel's coordinate.
    fn output_value(&mut self, size: u32) -> Id {
        let n = self.random.pick(&[1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
        let ty = Ground::Vec(n, Elem::F);
        if size < 12 || !self.scope.means_itself(Name::LET) || !self.scope.has(self.known().frag_coord) || self.random.percent(30) {
            return self.output_expr(ty, size.max(2));
        }
        let head = self.open_coordinate();
        let let_size = if head.1 { 17 } else { 7 };
        let body = self.output_expr(ty, size.saturating_sub(let_size).max(4));
        self.close_let(head.0, body)
    }

    /// An expression of the type. Often it contains the instance that the program prefers.
    fn output_expr(&mut self, ty: Ground, size: u32) -> Id {
        if size >= 16 && self.breach.is_none() && self.random.percent(35) {
            if !self.focus.rough || self.mix.rough {
                return self.showcase(ty, size).id;
            }
            if self.scope.means_itself(Name::IF)
                && let Some(expr) = self.one_way(ty, size)
            {
                return expr.id;
            }
        }
        self.expr(ty, size).id
    }
}
