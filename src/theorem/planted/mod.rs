//! Planted mistakes: mutations of every rule, and subtle ones written by hand. Some comparison must
//! catch each of them.
//!
//! A mistake is planted beside the rules, through the hooks in [`super::case::Planted`]. A campaign
//! runs until a program shows it. What is tested here is the *oracle*. A mistake that no translated
//! program can show is caught by another [`Check`]. A mutation without an effect on the theorem has
//! a reason in the table, and must then survive.
//!
//! | module | contents |
//! |---|---|
//! | `typing`, `reduction` | mistakes in typing with rec-match, in λV's relation |
//! | `relation` | mistakes in SPIR-V's relation |
//! | `translation`, `creation` | mistakes in the translation's rules, in the parts of the module |
//! | `numbers` | mistakes in the arithmetic of one side, or of both |
//! | `capture` | wrong substitutions |
//! | `emitted` | search and changes in emitted words |
//! | `checks` | the checks beside the campaign |
//! | `reduced` | minimal near-misses |

mod capture;
mod checks;
mod creation;
mod emitted;
mod numbers;
mod reduced;
mod reduction;
pub(super) mod relation;
mod translation;
mod typing;

pub use checks::{ILL_TYPED, known_modules};

use super::campaign::{Tally, judge, judge_near_miss};
use super::case::{Planted, Settings};
use super::{Difference, Verdict};
use crate::compile::lambda_v::Constants;
use crate::generate::{self, shrink};
use crate::theorem::Unexpected;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::rule::Rule;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The part of the system in which a mistake is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// R, A ⊢ e : τ.
    Typing,
    /// rec-match.
    RecMatch,
    /// The λV relation.
    Reduction,
    /// The SPIR-V relation.
    Spirv,
    /// translate(I) = O.
    Translation,
    /// The module around the code.
    ModuleCreation,
    /// The table of operations that both sides share.
    Numbers,
    /// The validation of WSL.
    Validation,
}

impl Family {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Family::Typing => "typing",
            Family::RecMatch => "rec-match",
            Family::Reduction => "reduction",
            Family::Spirv => "SPIR-V",
            Family::Translation => "translation",
            Family::ModuleCreation => "module creation",
            Family::Numbers => "numbers",
            Family::Validation => "WSL validation",
        }
    }
}

/// The check that must catch a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// A campaign over well-typed programs: the comparisons of `theorem::case`.
    Campaign,
    /// Generated near-misses, each of which the broken rule must reject, and near-misses written by
    /// hand ([`ILL_TYPED`]).
    NearMisses,
    /// The builtins against their second implementation, [`super::second`]. It catches mistakes in
    /// code that both sides share.
    SecondImplementation,
    /// Modules written by hand with a known outcome. They reach what no translated program reaches.
    KnownModules,
    /// `spirv-val` on the modules of a campaign. It catches what no interpreter sees.
    SpirvVal,
    /// None: the mutation is no mistake, for this reason.
    Equivalent(&'static str),
}

impl Check {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Check::Campaign => "campaign",
            Check::NearMisses => "near-misses",
            Check::SecondImplementation => "second implementation of the builtins",
            Check::KnownModules => "known modules",
            Check::SpirvVal => "spirv-val",
            Check::Equivalent(_) => "none: equivalent",
        }
    }
}

/// A planted mistake.
pub struct Bug {
    /// Its unique name.
    pub name: &'static str,
    /// The part in which it is planted.
    pub family: Family,
    /// The rule that it mutates. `None` if it is not in a rule.
    pub rule: Option<Rule>,
    /// The mistake, as one sentence.
    pub what: &'static str,
    /// The check that must catch it.
    pub check: Check,
    /// The hooks that plant it.
    pub planted: Planted,
}

impl Bug {
    /// A mistake in one rule, which a campaign must catch. Its family is the rule's judgement.
    fn of(rule: Rule, name: &'static str, what: &'static str, planted: Planted) -> Bug {
        use smallstep_semantics::rule::Judgement;
        let family = match rule.judgement() {
            Judgement::Typing => Family::Typing,
            Judgement::RecMatch => Family::RecMatch,
            Judgement::Reduction => Family::Reduction,
            Judgement::Spirv | Judgement::Invocation | Judgement::Grid => Family::Spirv,
            Judgement::Translation => Family::Translation,
            Judgement::ModuleCreation => Family::ModuleCreation,
            Judgement::Lexing
            | Judgement::Grammar
            | Judgement::Desugaring
            | Judgement::Environment
            | Judgement::StatementTyping
            | Judgement::ExpressionTyping
            | Judgement::EntryPoint
            | Judgement::Library
            | Judgement::StatementExecution
            | Judgement::ExpressionExecution
            | Judgement::GroupExecution
            | Judgement::Draw
            | Judgement::Uniformity
            | Judgement::Codegen => Family::Validation,
        };
        Bug { name, family, rule: Some(rule), what, check: Check::Campaign, planted }
    }

    /// A mistake outside of rules.
    fn outside_rules(family: Family, name: &'static str, what: &'static str, check: Check, planted: Planted) -> Bug {
        Bug { name, family, rule: None, what, check, planted }
    }

    /// The same mistake with another check that must catch it.
    fn caught_by(self, check: Check) -> Bug {
        Bug { check, ..self }
    }
}

/// All planted mistakes.
pub fn table() -> Vec<Bug> {
    let mut table = typing::bugs();
    table.extend(reduction::bugs());
    table.extend(relation::bugs());
    table.extend(translation::bugs());
    table.extend(creation::bugs());
    table.extend(numbers::bugs());
    table
}

/// The settings of a hunt for mistakes.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// The seed of the programs.
    pub seed: u64,
    /// The most programs for one mistake.
    pub programs: u64,
    /// The number of programs that an equivalent mutation must survive.
    pub equivalent_programs: u64,
    /// The most programs that are tried while one is made minimal.
    pub tries: u32,
    /// The width and height in pixels.
    pub size: (u32, u32),
    /// The number of threads.
    pub threads: usize,
}

impl Default for Hunt {
    fn default() -> Hunt {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Hunt { seed: 1, programs: 20_000, equivalent_programs: 1_000, tries: 2_000, size: (3, 2), threads }
    }
}

/// How a mistake was caught.
#[derive(Clone, Debug)]
pub struct Caught {
    /// The comparison that caught it: the two engines, or the check.
    pub by: String,
    /// The difference, as one sentence.
    pub what: String,
    /// The number of programs (or rows of the check) up to the one that caught it.
    pub after: u64,
    /// The smallest program found that shows the mistake, if a program showed it that can be
    /// made smaller.
    pub minimal: Option<Tree>,
}

impl Caught {
    /// The number of nodes of the minimal program.
    pub fn nodes(&self) -> Option<usize> {
        self.minimal.as_ref().map(|tree| tree.roots.iter().map(|&root| tree.size(root)).sum())
    }
}

/// The result of a hunt for one mistake.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It was caught.
    Caught(Caught),
    /// It is an equivalent mutation, and nothing caught it.
    Equivalent,
    /// The table says that it is equivalent, but something caught it.
    NotEquivalent(Caught),
    /// Nothing caught it: a hole in the oracle.
    Survived,
    /// The check that must catch it could not run.
    Unchecked(String),
}

impl Fate {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Fate::Caught(_) => "caught",
            Fate::Equivalent => "equivalent",
            Fate::NotEquivalent(_) => "not equivalent",
            Fate::Survived => "survived",
            Fate::Unchecked(_) => "unchecked",
        }
    }
}

/// The median of the sizes of minimal programs, in nodes, over the mistakes that a program showed.
pub fn median_nodes(fates: &[Fate]) -> Option<usize> {
    let mut nodes: Vec<usize> = fates.iter().filter_map(|f| if let Fate::Caught(c) = f { c.nodes() } else { None }).collect();
    nodes.sort_unstable();
    nodes.get(nodes.len() / 2).copied()
}

impl Hunt {
    /// Hunts all mistakes. `seen` is called with each as it is finished.
    pub fn all(&self, bugs: &[Bug], seen: &(dyn Fn(&Bug, &Fate) + Sync)) -> Vec<Fate> {
        let next = AtomicUsize::new(0);
        let fates: Mutex<Vec<Option<Fate>>> = Mutex::new(vec![None; bugs.len()]);
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    while let Some((i, bug)) = Some(next.fetch_add(1, Ordering::SeqCst)).and_then(|i| bugs.get(i).map(|bug| (i, bug))) {
                        let fate = self.one(bug);
                        seen(bug, &fate);
                        super::campaign::locked(&fates)[i] = Some(fate);
                    }
                });
            }
        });
        let fates = fates.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        fates.into_iter().map(|fate| fate.unwrap_or(Fate::Survived)).collect()
    }

    /// Hunts one mistake.
    pub fn one(&self, bug: &Bug) -> Fate {
        let caught = match bug.check {
            Check::Campaign => self.campaign(bug, self.programs),
            Check::NearMisses => self.near_misses(bug),
            Check::SecondImplementation => checks::second_implementation(&bug.planted),
            Check::KnownModules => checks::known_module_differs(&bug.planted),
            Check::SpirvVal => match checks::spirv_val(self, bug) {
                Ok(caught) => caught,
                Err(why) => return Fate::Unchecked(why),
            },
            Check::Equivalent(_) => {
                return match self.campaign(bug, self.equivalent_programs) {
                    Some(caught) => Fate::NotEquivalent(caught),
                    None => Fate::Equivalent,
                };
            }
        };
        caught.map_or(Fate::Survived, Fate::Caught)
    }

    /// Half of the programs read their constants from a buffer.
    fn settings(&self, index: u64, planted: Planted) -> Settings {
        let constants = if index.is_multiple_of(2) { Constants::InModule } else { Constants::Opaque };
        Settings { constants, size: self.size, fuel: 20_000, planted, ..Settings::default() }
    }

    fn program_seed(&self, index: u64) -> u64 {
        // Neighbouring seeds share no programs.
        self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index)
    }

    fn program(&self, index: u64) -> Tree {
        generate::well_typed(self.program_seed(index), &generate::Limits::default())
    }

    fn campaign(&self, bug: &Bug, programs: u64) -> Option<Caught> {
        for index in 0..programs {
            let tree = self.program(index);
            let settings = self.settings(index, bug.planted.clone());
            let Some(found) = disagreement(&tree, &settings) else { continue };
            let sound = self.settings(index, Planted::default());
            // A smaller program must show a difference between the same two engines, and none
            // without the mistake.
            let mut same = |tree: &Tree| {
                disagreement(tree, &settings).is_some_and(|d| d.between == found.between) && disagreement(tree, &sound).is_none()
            };
            let minimal = shrink::minimal(&tree, &mut same, self.tries);
            let by = format!("{} vs {}", found.between.0, found.between.1);
            return Some(Caught { by, what: found.what, after: index + 1, minimal: Some(minimal) });
        }
        None
    }

    fn near_misses(&self, bug: &Bug) -> Option<Caught> {
        let limits = generate::Limits::default();
        for index in 0..self.programs {
            let seed = self.program_seed(index);
            let settings = self.settings(index, bug.planted.clone());
            let Err(Unexpected { what }) = judge_near_miss(seed, &settings, &limits) else { continue };
            let (tree, expected) = generate::near_miss(seed, &limits);
            let minimal = checks::minimal_near_miss(&tree, expected.code, &settings, self.tries);
            return Some(Caught { by: "generated near-misses".into(), what, after: index + 1, minimal: Some(minimal) });
        }
        checks::ill_typed_accepted(&self.settings(0, bug.planted.clone()), self.tries)
    }
}

/// The difference between two engines on a program, if there is one.
fn disagreement(tree: &Tree, settings: &Settings) -> Option<Difference> {
    match judge(tree, settings, &mut Tally::default()).verdict {
        Verdict::Disagree(difference) => Some(*difference),
        _ => None,
    }
}

/// One line of a report: the result for a mistake.
pub fn line(bug: &Bug, fate: &Fate) -> String {
    let rule = bug.rule.map_or("-", Rule::name);
    let fate = match fate {
        Fate::Caught(c) => {
            let nodes = c.nodes().map_or(String::new(), |n| format!(", {n} nodes"));
            format!("caught by {} after {}{nodes}", c.by, c.after)
        }
        Fate::Equivalent => "equivalent, and nothing caught it".into(),
        Fate::NotEquivalent(c) => format!("said to be equivalent, and caught by {}: {}", c.by, c.what),
        Fate::Survived => "SURVIVED".into(),
        Fate::Unchecked(why) => format!("unchecked: {why}"),
    };
    format!("{:<34} {:<15} {rule:<32} {fate}", bug.name, bug.family.name())
}
