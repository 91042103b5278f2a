//! A run over sets: cells for components that are not decided, and the decisions at its branches.

mod simple;

pub(crate) use simple::Open;

use super::moving::{self, MovableTerms, Side};
use super::passing::{self, ComponentBound};
use super::rewriting::{self, Bound, Polynomial, Polynomials};
use super::rules::{self, Operand, Truth};
use super::{Cause, Set, Span};
use crate::number::{Arithmetic, Expected, Instruction, Lane, Lanes, Op, Profile, Trust, Tuple, Why};
use crate::outcome::Outcome;
use rspirv::spirv;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

/// A cell: one component of the result of one execution of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(NonZeroU32);

/// The set of each component of a float result: [`rules::allowed`], or what a test plants for it.
pub type Allowed = fn(Profile, Instruction, &[(&[Operand], usize)]) -> Option<SmallVec<[Set; 4]>>;

/// The results, by component, of instructions that compute no polynomial of their operands:
/// [`passing::passed`].
type Passing = fn(Profile, Instruction, &[ComponentBound], Bound) -> Option<ComponentBound>;

/// The polynomials of a result's components, from those of the operands.
type Computed = fn(Instruction, &[(&[Polynomial], usize)]) -> Option<Polynomials>;

/// What a comparison may move of one component of a function's result.
type OfFunction = fn(Instruction, &[&[Polynomial]], usize, &Set) -> Option<MovableTerms>;

/// The rules for instructions, as functions. Tests plant others.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The set of a float result.
    pub allowed: Allowed,
    /// The possible results of a comparison.
    pub compared: fn(Profile, Instruction, &Operand, &Operand) -> Truth,
    /// The operands' sets once the result of a comparison is known.
    pub narrowed: fn(Profile, Instruction, &Operand, &Operand, bool) -> [Set; 2],
    /// The polynomials of a result that may be rewritten.
    pub polynomials: Computed,
    /// The set of such a polynomial.
    pub bound: Bound,
    /// The results of instructions that compute no polynomials.
    pub passed: Passing,
    /// What a comparison may move of a function's result: [`MovableTerms::of_function`].
    pub moved: OfFunction,
    /// The possible results of a comparison of such values.
    pub compared_moved: fn(Instruction, &Side, &Side) -> Truth,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            allowed: rules::allowed,
            compared: rules::compared,
            narrowed: rules::narrowed,
            polynomials: rewriting::polynomials,
            bound: Polynomial::set,
            passed: passing::passed,
            moved: MovableTerms::of_function,
            compared_moved: moving::compared_moved,
        }
    }
}

/// The environment of a run over sets, and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    /// The environment.
    pub profile: Profile,
    /// The bounds of the run.
    pub budget: Budget,
    /// The rules for instructions.
    pub rules: Rules,
}

impl Exploration {
    /// Under that profile, with the usual bounds and rules.
    pub fn under(profile: Profile) -> Exploration {
        Exploration { profile, budget: Budget::default(), rules: Rules::default() }
    }
}

/// The bounds of a run over sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most ways through the branches.
    pub paths: u32,
    /// The most cells of one way.
    pub cells: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { paths: 64, cells: 1 << 20 }
    }
}

/// Why a run over sets has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// The decisions at branches contradict each other, so no device takes this way.
    Infeasible,
    /// There are more ways than the budget allows.
    Paths(SkippedBranch),
    /// There are more cells than the budget allows.
    Cells,
    /// An open value decides something that no set stands for, such as an address or an integer.
    /// The text says what.
    Reached(String),
}

impl Unsettled {
    /// For a way that ends without anything to compare.
    pub fn ended<T>(outcome: &Outcome<T>) -> Unsettled {
        Unsettled::Reached(format!("a way through its branches ends as {}", outcome.name()))
    }
}

/// A branch with a way that the budget did not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedBranch {
    /// The number of ways that were followed.
    pub ways: u32,
    /// The comparison that made the condition, or else the branch itself.
    pub condition: Box<Cause>,
}

/// The contents of a cell.
#[derive(Clone, Copy, Debug)]
enum Content<'c> {
    /// A float that is a polynomial of leaves. It may be rewritten together with what is made of
    /// it, and lies in the set of the polynomial.
    Polynomial(&'c Polynomial),
    /// Another float, by its index.
    Float(u32),
    Boolean(Truth, &'c Origin),
}

/// Where the contents of a cell are stored.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// In `polynomials`, at the same index.
    Polynomial,
    /// In `floats`.
    Float(u32),
    /// In `booleans`.
    Boolean(u32),
}

/// The cells of a run. Most hold polynomials. These are written into existing elements field by
/// field, since a push would first build each on the stack.
#[derive(Clone, Debug, Default)]
struct Cells {
    count: usize,
    /// `kinds` and `polynomials` have at least `count` elements.
    kinds: Vec<Kind>,
    polynomials: Vec<Polynomial>,
    floats: Vec<Float>,
    booleans: Vec<(Truth, Origin)>,
}

impl Cells {
    fn clear(&mut self) {
        self.count = 0;
        self.floats.clear();
        self.booleans.clear();
    }

    #[inline(always)]
    fn content(&self, id: CellId) -> Content<'_> {
        let at = id.0.get() as usize - 1;
        match self.kinds[at] {
            Kind::Polynomial => Content::Polynomial(&self.polynomials[at]),
            Kind::Float(float) => Content::Float(float),
            Kind::Boolean(boolean) => {
                let (truth, origin) = &self.booleans[boolean as usize];
                Content::Boolean(*truth, origin)
            }
        }
    }

    /// Makes room for one cell. Returns its index.
    #[inline(always)]
    fn reserve(&mut self) -> usize {
        if self.count == self.kinds.len() {
            self.grow();
        }
        self.count
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let places = (2 * self.kinds.len()).max(1 << 10);
        self.kinds.resize(places, Kind::Polynomial);
        self.polynomials.resize(places, Polynomial::monomial(0.0, 1));
    }

    /// Counts the cell that was just written. `None` if its number does not fit.
    #[inline(always)]
    fn count_cell(&mut self) -> Option<CellId> {
        self.count += 1;
        NonZeroU32::new(self.count as u32).map(CellId)
    }

    #[inline(always)]
    fn polynomial(&mut self, polynomial: Polynomial) -> Option<CellId> {
        let at = self.reserve();
        self.kinds[at] = Kind::Polynomial;
        self.polynomials[at] = polynomial;
        self.count_cell()
    }

    /// A cell for an existing element of `floats`.
    fn float(&mut self, float: u32) -> Option<CellId> {
        let at = self.reserve();
        self.kinds[at] = Kind::Float(float);
        self.count_cell()
    }

    fn boolean(&mut self, truth: Truth, origin: Origin) -> Option<CellId> {
        let at = self.reserve();
        self.kinds[at] = Kind::Boolean(self.booleans.len() as u32);
        self.booleans.push((truth, origin));
        self.count_cell()
    }
}

/// A float that is no polynomial, or whose set is narrower than that of its polynomial.
#[derive(Clone, Debug)]
struct Float {
    set: Set,
    /// The polynomial, if this float may be rewritten together with what is made of it.
    polynomial: Option<Polynomial>,
    /// What a comparison may move of it, if it is no polynomial and this is known.
    moved: Option<MovableTerms>,
    /// The index of the cause, if an instruction leaves it unbounded.
    cause: Option<u32>,
}

/// The origin of a Boolean. A known Boolean narrows it.
#[derive(Clone, Debug)]
enum Origin {
    /// A comparison of two floats, and its place.
    Compared(Box<(Instruction, Lane, Lane, u32)>),
    /// The negation of a Boolean.
    Not(Lane),
    /// Whether all of these hold or, if `absorbing`, any of them.
    Joined { operands: Box<[Lane]>, absorbing: bool },
    /// Anything else.
    Otherwise,
}

/// A run over sets.
#[derive(Clone, Debug)]
pub struct Sets {
    profile: Profile,
    budget: Budget,
    rules: Rules,
    /// Whether no test has planted a rule: [`Rules::are_usual`].
    is_usual: bool,
    cells: Cells,
    /// The vectors that [`Sets::keep_only`] fills next.
    spare: Cells,
    /// The instructions that made unbounded floats of bounded operands.
    causes: Vec<Cause>,
    /// Earlier quotients, by the bits of their operands.
    quotients: FxHashMap<(u32, u32), simple::Quotient>,
    /// The decisions at the open branches of this run, in order. The run adds to them.
    choices: Vec<Choice>,
    /// The number of open branches so far.
    branch_count: usize,
    /// The current place.
    place: u32,
}

/// The decision at an open branch.
#[derive(Clone, Debug)]
struct Choice {
    holds: bool,
    /// The comparison that made the condition, with the sets of its operands before the branch. Or
    /// else the branch itself.
    condition: Cause,
}

/// The results of all ways through a program.
#[derive(Clone, Debug)]
pub struct Explored<T> {
    /// The result of each way.
    pub ways: Vec<T>,
    /// Why there may be more ways. Then nothing is decided.
    pub unsettled: Option<Unsettled>,
}

/// Runs a program over sets, once for each way through its open branches.
pub fn explore<T>(profile: Profile, budget: Budget, mut run: impl FnMut(&mut Sets) -> Result<T, Unsettled>) -> Explored<T> {
    let mut ways = Vec::new();
    let (_, unsettled) = follow(Exploration { profile, budget, rules: Rules::default() }, |sets| {
        ways.push(run(sets)?);
        Ok(ControlFlow::Continue(()))
    });
    Explored { ways, unsettled }
}

/// [`explore`] for a run that keeps its results itself and may stop early. Returns the number of
/// followed ways, and why there may be others.
pub(crate) fn follow(
    exploration: Exploration,
    mut run: impl FnMut(&mut Sets) -> Result<ControlFlow<()>, Unsettled>,
) -> (u32, Option<Unsettled>) {
    let budget = exploration.budget;
    let mut sets = Sets::before(exploration);
    let mut ways = 0;
    loop {
        sets.cells.clear();
        sets.quotients.clear();
        sets.causes.clear();
        sets.branch_count = 0;
        ways += 1;
        match run(&mut sets) {
            Ok(ControlFlow::Continue(())) | Err(Unsettled::Infeasible) => {}
            Ok(ControlFlow::Break(())) => return (ways, None),
            Err(unsettled) => return (ways, Some(unsettled)),
        }
        // The last decision that can still be turned. True comes before false.
        while sets.choices.last().is_some_and(|choice| !choice.holds) {
            sets.choices.pop();
        }
        match sets.choices.last_mut() {
            None => return (ways, None),
            Some(last) if ways < budget.paths => last.holds = false,
            Some(last) => {
                return (ways, Some(Unsettled::Paths(SkippedBranch { ways, condition: Box::new(last.condition.clone()) })));
            }
        }
    }
}

impl SkippedBranch {
    pub(super) fn explored(&self) -> String {
        format!("{} path{} explored", self.ways, if self.ways == 1 { "" } else { "s" })
    }
}

impl Sets {
    /// A run that has not started.
    pub(crate) fn before(Exploration { profile, budget, rules }: Exploration) -> Sets {
        Sets {
            profile,
            budget,
            rules,
            is_usual: rules.are_usual(),
            cells: Cells::default(),
            spare: Cells::default(),
            causes: Vec::new(),
            quotients: FxHashMap::default(),
            choices: Vec::new(),
            branch_count: 0,
            place: 0,
        }
    }

    /// The number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.cells.count
    }

    /// Drops all cells but those that `visit` passes to its argument, and renumbers these. Forgets
    /// the origins of Booleans and the causes of unbounded floats.
    pub(crate) fn keep_only(&mut self, visit: impl FnOnce(&mut dyn FnMut(&mut CellId))) {
        let Sets { cells: new_cells, spare: old_cells, causes, quotients, .. } = self;
        std::mem::swap(new_cells, old_cells);
        new_cells.clear();
        let mut numbers: Vec<Option<CellId>> = vec![None; old_cells.count];
        visit(&mut |id| {
            let at = id.0.get() as usize - 1;
            if numbers[at].is_none() {
                numbers[at] = match old_cells.content(*id) {
                    Content::Polynomial(polynomial) => new_cells.polynomial(*polynomial),
                    Content::Float(float) => {
                        let float = &old_cells.floats[float as usize];
                        new_cells.floats.push(Float { cause: float.cause.map(|_| 0), ..float.clone() });
                        new_cells.float(new_cells.floats.len() as u32 - 1)
                    }
                    Content::Boolean(truth, _) => new_cells.boolean(truth, Origin::Otherwise),
                };
            }
            *id = numbers[at].unwrap_or(*id);
        });
        causes.truncate(1);
        quotients.clear();
    }

    /// The environment.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Sets the current place, as a number that means something to the engine. Explanations name
    /// it.
    pub fn stand_at(&mut self, place: u32) {
        self.place = place;
    }

    /// The set of a float.
    pub fn operand(&self, lane: Lane) -> Operand {
        match lane.trust.cell {
            _ if lane.trust.is_decided(self.profile) => Operand { set: decided(lane, self.profile), id: None },
            None => Operand { set: Set::ANY, id: None },
            Some(id) => match self.content(id) {
                Content::Polynomial(polynomial) => Operand { set: (self.rules.bound)(polynomial), id: Some(id) },
                Content::Float(at) => match self.float(at) {
                    // An unbounded float may be undefined, so two uses may differ.
                    Float { set, cause: Some(_), .. } if set.is_any() => Operand { set: Set::ANY, id: None },
                    Float { set, .. } => Operand { set: *set, id: Some(id) },
                },
                Content::Boolean(..) => Operand { set: Set::ANY, id: None },
            },
        }
    }

    /// The set of an open float, if it is one bounded span.
    pub fn span(&self, lane: Lane) -> Option<Span> {
        let single_span = |set: &Set| set.only_span().filter(|span| span.low.is_finite() && span.high.is_finite()).copied();
        match self.content(lane.trust.cell?) {
            Content::Polynomial(polynomial) => single_span(&(self.rules.bound)(polynomial)),
            Content::Float(at) => single_span(&self.float(at).set),
            Content::Boolean(..) => None,
        }
    }

    /// The possible values of a Boolean.
    pub fn truth(&self, lane: Lane) -> Truth {
        match lane.trust.cell.map(|id| self.content(id)) {
            _ if lane.trust.is_decided(self.profile) => Truth::from(lane.is_true()),
            Some(Content::Boolean(truth, _)) => truth,
            _ => Truth::BOTH,
        }
    }

    /// What a device must show of a float that is observed.
    pub fn expected(&self, lane: Lane) -> Expected {
        if lane.trust.is_decided(self.profile) {
            return lane.judge(self.profile);
        }
        let why = lane.trust.doubt.unwrap_or(Why::Approximate);
        Expected::of(self.operand(lane).set, why)
    }

    /// An input that may be any float of a set. `value` is the definite one.
    pub fn any_of(&mut self, value: f32, set: Set, why: Why) -> Result<Lane, Unsettled> {
        let mut lane = Lane::exact(value);
        lane.trust = lane.trust.in_doubt(why);
        // A comparison may move terms of the lanes that a derivative subtracts.
        let moved = (why != Why::Derivative).then_some(MovableTerms::NOTHING);
        let polynomial = moved.and_then(|_| Polynomial::within(&set));
        lane.trust.cell = Some(self.new_float(Float { set, polynomial, moved, cause: None })?);
        Ok(lane)
    }

    /// Computes an operation. Definite values come from `arithmetic`, and each undecided component
    /// gets a cell.
    pub fn apply(&mut self, arithmetic: &Arithmetic, op: Op, args: &[Tuple<'_>]) -> Result<Lanes, Unsettled> {
        if op == Op::Select && args[0].lanes.iter().any(|c| !c.trust.is_decided(self.profile)) {
            return self.select(args);
        }
        let mut results = arithmetic.apply(op, args);
        // A selected component keeps its cell.
        if op != Op::Select && results.iter().any(|lane| !lane.trust.is_decided(self.profile)) {
            let args: SmallVec<[(&[Lane], usize); 3]> = args.iter().map(|a| (a.lanes, a.columns)).collect();
            self.widen(op.instruction(), &args, &mut results)?;
        }
        Ok(results)
    }

    /// OpSelect with open conditions: a branch for each.
    fn select(&mut self, args: &[Tuple<'_>]) -> Result<Lanes, Unsettled> {
        let [conditions, on_true, on_false] = [0, 1, 2].map(|i| args[i].lanes);
        let ways = self.choose(conditions, on_true.len())?;
        Ok(ways.into_iter().enumerate().map(|(i, holds)| if holds { on_true[i] } else { on_false[i] }).collect())
    }

    /// Chooses each component of an OpSelect: true for the first object. There is one condition, or
    /// one for each component.
    pub fn choose(&mut self, conditions: &[Lane], components: usize) -> Result<SmallVec<[bool; 4]>, Unsettled> {
        let mut ways = SmallVec::with_capacity(components);
        let mut first = None;
        for i in 0..components {
            let holds = match (conditions.len(), first) {
                // If results may be rewritten, each component decides by itself.
                (1, Some(known)) if !self.rewrites() => known,
                (n, _) => self.decide(conditions[if n == 1 { 0 } else { i }])?,
            };
            first = Some(holds);
            ways.push(holds);
        }
        Ok(ways)
    }

    /// Gives cells to the undecided components of a result. All lanes are 32-bit floats or
    /// Booleans.
    pub fn widen<'a>(&mut self, instruction: Instruction, args: &[(&'a [Lane], usize)], results: &mut [Lane]) -> Result<(), Unsettled> {
        if let Some(form) = Form::of(instruction) {
            for (i, result) in results.iter_mut().enumerate() {
                if !result.trust.is_decided(self.profile) {
                    let (truth, origin) = self.boolean(form, instruction, args, i);
                    result.trust.cell = Some(self.new_boolean(truth, origin)?);
                }
            }
            return Ok(());
        }
        if self.rewrites() {
            // A scalar operand applies to every component.
            let is_fit = |lanes: &[Lane]| lanes.len() == results.len() || lanes.len() == 1;
            let by_component = rewriting::by_component(instruction).filter(|_| args.iter().all(|(lanes, _)| is_fit(lanes)));
            let Some(of_one) = by_component.filter(|_| results.len() > 1) else { return self.rewritten(instruction, args, results) };
            // An open component says nothing of another.
            for i in 0..results.len() {
                let component = |lanes: &'a [Lane]| if lanes.len() == 1 { lanes } else { &lanes[i..=i] };
                let of_component: SmallVec<[(&[Lane], usize); 3]> = args.iter().map(|&(lanes, _)| (component(lanes), 1)).collect();
                self.rewritten(of_one, &of_component, &mut results[i..=i])?;
            }
            return Ok(());
        }
        let sets = self.by_rule(self.rules.allowed, instruction, args);
        let profile = self.profile;
        for (i, result) in results.iter_mut().enumerate().filter(|(_, result)| !result.trust.is_decided(profile)) {
            let set = sets.as_ref().map_or(Set::ANY, |sets| sets[i]);
            self.set_cell(result, ComponentBound { set, polynomial: None, moved: None }, instruction, args)?;
        }
        Ok(())
    }

    /// One of two floats, where the run does not know which. `None` if it is unbounded.
    pub(crate) fn either(&mut self, x: Lane, y: Lane) -> Option<Lane> {
        if let (Some(a), Some(b)) = (x.trust.grid, y.trust.grid)
            && x.bits == y.bits
            && let Some(grid) = a.either(b)
        {
            let zero_sign = x.trust.zero_sign && y.trust.zero_sign;
            return Some(Lane { trust: Trust { grid: Some(grid), zero_sign, ..x.trust }, ..x });
        }
        let ComponentBound { set, polynomial, moved } = passing::chosen(self.component_bound(x), self.component_bound(y), None);
        if !set.is_bounded() {
            return None;
        }
        let cell = self.new_float(Float { set, polynomial, moved, cause: None }).ok()?;
        Some(Lane { trust: Trust { cell: Some(cell), ..x.trust.in_doubt(Why::Control) }, ..x })
    }

    /// Gives a cell to a component that is a polynomial.
    #[inline(always)]
    fn set_polynomial(
        &mut self,
        result: &mut Lane,
        polynomial: Polynomial,
        instruction: Instruction,
        args: &[(&[Lane], usize)],
    ) -> Result<(), Unsettled> {
        if !polynomial.is_bounded() {
            let set = (self.rules.bound)(&polynomial);
            return self.set_cell(result, ComponentBound { set, polynomial: Some(polynomial), moved: None }, instruction, args);
        }
        result.trust.cell = Some(self.new_polynomial(polynomial)?);
        Ok(())
    }

    /// Gives a cell to a component. One that was only moved, as by OpSelect, keeps its own.
    fn set_cell(
        &mut self,
        result: &mut Lane,
        ComponentBound { set, polynomial, moved }: ComponentBound,
        instruction: Instruction,
        args: &[(&[Lane], usize)],
    ) -> Result<(), Unsettled> {
        if set.is_none() {
            return Err(Unsettled::Infeasible);
        }
        if !set.is_any() || result.trust.cell.is_none() {
            let cause = if set.is_bounded() { None } else { Some(self.cause_of(instruction, args)) };
            result.trust.cell = Some(self.new_float(Float { set, polynomial, moved, cause })?);
        }
        Ok(())
    }

    /// The index of why a result is unbounded. It is the cause of an unbounded operand, or else a
    /// new one for this instruction.
    fn cause_of(&mut self, instruction: Instruction, args: &[(&[Lane], usize)]) -> u32 {
        let lanes = || args.iter().flat_map(|(lanes, _)| lanes.iter().copied());
        if let Some(cause) = lanes().find_map(|lane| self.cause_index(lane)) {
            return cause;
        }
        let operands = lanes().map(|lane| self.operand(lane).set).collect();
        self.causes.push(Cause { place: self.place, instruction: Some(instruction), operands });
        self.causes.len() as u32 - 1
    }

    fn cause_index(&self, lane: Lane) -> Option<u32> {
        match lane.trust.cell.filter(|_| !lane.trust.is_decided(self.profile)).map(|id| self.content(id)) {
            Some(Content::Float(at)) => self.float(at).cause,
            _ => None,
        }
    }

    /// The instruction that left a float unbounded, if there is one.
    pub fn cause(&self, lane: Lane) -> Option<&Cause> {
        self.causes.get(self.cause_index(lane)? as usize)
    }

    /// Applies a rule to the operands' sets.
    fn by_rule(&self, rule: Allowed, instruction: Instruction, args: &[(&[Lane], usize)]) -> Option<SmallVec<[Set; 4]>> {
        let operands: SmallVec<[SmallVec<[Operand; 4]>; 3]> =
            args.iter().map(|(lanes, _)| lanes.iter().map(|&lane| self.operand(lane)).collect()).collect();
        let tuples: SmallVec<[(&[Operand], usize); 3]> =
            operands.iter().zip(args).map(|(operands, (_, columns))| (operands.as_slice(), *columns)).collect();
        rule(self.profile, instruction, &tuples)
    }

    /// Whether a device may rewrite an expression across instructions. Then no rule of a single
    /// instruction bounds a result. Nor does a branch narrow it, since another place may evaluate
    /// the same expression otherwise.
    pub(crate) fn rewrites(&self) -> bool {
        !self.profile.controls().no_contraction
    }

    /// The polynomial of a float, which bounds all its rewritings. `None` if it has none.
    #[inline(always)]
    fn polynomial(&self, lane: Lane) -> Option<Polynomial> {
        match (lane.trust.grid, lane.trust.cell) {
            (Some(grid), _) => Some(Polynomial::certified(lane.float(), grid)),
            (None, Some(id)) => match self.content(id) {
                Content::Polynomial(polynomial) => Some(*polynomial),
                Content::Float(at) => self.float(at).polynomial,
                Content::Boolean(..) => None,
            },
            (None, None) => None,
        }
    }

    /// [`Sets::widen`] where results may be rewritten: polynomials, and instructions on leaves.
    fn rewritten(&mut self, instruction: Instruction, args: &[(&[Lane], usize)], results: &mut [Lane]) -> Result<(), Unsettled> {
        let polynomials = self.computed(instruction, args);
        let leaves = args.iter().flat_map(|(lanes, _)| lanes.iter()).all(|lane| lane.trust.grid.is_some_and(|grid| grid.leaf));
        let by_rule = match &polynomials {
            Some(_) if !rewriting::is_one_operation(instruction) => None,
            _ if leaves => self.by_rule(rules::allowed_alone, instruction, args),
            _ => None,
        };
        // It is the same for all components.
        let mut by_polynomials = None;
        for (i, result) in results.iter_mut().enumerate().filter(|(_, result)| result.trust.grid.is_none()) {
            let polynomial = polynomials.as_ref().map(|polynomials| polynomials[i]);
            let anything = ComponentBound::ANYTHING;
            let component = match (&by_rule, polynomial) {
                (Some(sets), Some(_)) => ComponentBound { set: sets[i], polynomial, moved: None },
                (Some(sets), None) => self.function(instruction, args, i, sets[i]),
                (None, Some(polynomial)) => {
                    self.set_polynomial(result, polynomial, instruction, args)?;
                    continue;
                }
                (None, None) if passing::passes(instruction) => self.passed(instruction, args, i).unwrap_or(anything),
                (None, None) => match by_polynomials.get_or_insert_with(|| self.by_polynomials(instruction, args)) {
                    Some(sets) => self.function(instruction, args, i, sets[i]),
                    None => anything,
                },
            };
            self.set_cell(result, component, instruction, args)?;
        }
        Ok(())
    }

    /// The polynomials of a result's components.
    fn computed(&self, instruction: Instruction, args: &[(&[Lane], usize)]) -> Option<Polynomials> {
        let mut operands: SmallVec<[Polynomials; 3]> = SmallVec::new();
        for (lanes, _) in args {
            let mut operand = Polynomials::new();
            for &lane in *lanes {
                operand.push(self.polynomial(lane)?);
            }
            operands.push(operand);
        }
        let tuples: SmallVec<[(&[Polynomial], usize); 3]> = operands.iter().zip(args).map(|(of, arg)| (of.as_slice(), arg.1)).collect();
        (self.rules.polynomials)(instruction, &tuples)
    }

    /// Component i of a function's result, which lies in that set.
    fn function(&self, instruction: Instruction, args: &[(&[Lane], usize)], i: usize, set: Set) -> ComponentBound {
        let operand = |lanes: &[Lane]| lanes.iter().map(|&lane| self.polynomial(lane)).collect();
        let operands: Option<SmallVec<[Polynomials; 3]>> = args.iter().map(|(lanes, _)| operand(lanes)).collect();
        let moved = operands.filter(|_| set.is_bounded()).and_then(|operands| {
            let operands: SmallVec<[&[Polynomial]; 3]> = operands.iter().map(|operand| operand.as_slice()).collect();
            (self.rules.moved)(instruction, &operands, i, &set)
        });
        let polynomial = moved.and_then(|moved| Side { set, moved }.polynomial());
        ComponentBound { set, polynomial, moved }
    }

    /// Applies the rule of a function to the sets of its operands' polynomials. `None` if one is
    /// unbounded.
    fn by_polynomials(&self, instruction: Instruction, args: &[(&[Lane], usize)]) -> Option<SmallVec<[Set; 4]>> {
        let operand = |&lane: &Lane| {
            let set = (self.rules.bound)(&self.polynomial(lane)?.loosened());
            set.is_bounded().then_some(Operand { set, id: None })
        };
        let operands: Option<SmallVec<[SmallVec<[Operand; 4]>; 3]>> =
            args.iter().map(|(lanes, _)| lanes.iter().map(operand).collect()).collect();
        let operands = operands?;
        let tuples: SmallVec<[(&[Operand], usize); 3]> =
            operands.iter().zip(args).map(|(operands, (_, columns))| (operands.as_slice(), *columns)).collect();
        rules::allowed_alone(self.profile, instruction, &tuples)
    }

    /// A component that is chosen from polynomials or made of them, but is none itself.
    fn passed(&self, instruction: Instruction, args: &[(&[Lane], usize)], i: usize) -> Option<ComponentBound> {
        let is_usual = std::ptr::fn_addr_eq(self.rules.passed, passing::passed as Passing);
        if let (true, Some(Op::Div), [(x, _), (y, _)]) = (is_usual, Op::of(instruction), args) {
            // Quotients are frequent, and only the polynomials count for them.
            return passing::quotient(&self.polynomial(*x.get(i)?)?, &self.polynomial(*y.get(i)?)?, self.rules.bound);
        }
        let mut operands: SmallVec<[ComponentBound; 3]> = SmallVec::new();
        for (lanes, _) in args {
            operands.push(self.component_bound(*lanes.get(i)?));
        }
        (self.rules.passed)(self.profile, instruction, &operands, self.rules.bound)
    }

    fn component_bound(&self, lane: Lane) -> ComponentBound {
        let polynomial = self.polynomial(lane);
        let moved = self.moved(lane);
        let set = match (&polynomial, moved) {
            // A value by itself lies in its own set only.
            (Some(polynomial), None | Some(MovableTerms::Terms { .. })) => (self.rules.bound)(polynomial),
            _ => self.operand(lane).set,
        };
        ComponentBound { set, polynomial, moved: moved.or(polynomial.map(MovableTerms::polynomial)) }
    }

    /// What a comparison may move of a float that is by itself, or is no polynomial.
    fn moved(&self, lane: Lane) -> Option<MovableTerms> {
        match lane.trust.cell.map(|id| self.content(id)) {
            _ if lane.trust.grid.is_some_and(|grid| grid.leaf) => Some(MovableTerms::NOTHING),
            Some(Content::Float(at)) if lane.trust.grid.is_none() => self.float(at).moved,
            _ => None,
        }
    }

    /// Decides a branch on this run.
    pub fn decide(&mut self, condition: Lane) -> Result<bool, Unsettled> {
        let truth = self.truth(condition);
        if truth != Truth::BOTH {
            return Ok(truth.may_hold);
        }
        let holds = match self.choices.get(self.branch_count) {
            Some(choice) => choice.holds,
            None => {
                let condition =
                    self.comparison(condition).unwrap_or(Cause { place: self.place, instruction: None, operands: SmallVec::new() });
                self.choices.push(Choice { holds: true, condition });
                true
            }
        };
        self.branch_count += 1;
        self.assume(condition, holds)?;
        Ok(holds)
    }

    /// The first open comparison that a Boolean comes from, with the sets of its operands.
    fn comparison(&self, mut condition: Lane) -> Option<Cause> {
        loop {
            match self.content(condition.trust.cell?) {
                Content::Boolean(_, Origin::Compared(compared)) => {
                    let (instruction, x, y, place) = **compared;
                    let operands = [x, y].into_iter().take(operands_of(instruction)).map(|lane| self.operand(lane).set).collect();
                    return Some(Cause { place, instruction: Some(instruction), operands });
                }
                Content::Boolean(_, Origin::Not(operand)) => condition = *operand,
                Content::Boolean(_, Origin::Joined { operands, .. }) => {
                    condition = *operands.iter().find(|&&lane| self.truth(lane) == Truth::BOTH)?
                }
                _ => return None,
            }
        }
    }

    /// Records a Boolean as known, and narrows its origin. Does nothing if results may be
    /// rewritten, since the next branch may be on another evaluation.
    fn assume(&mut self, condition: Lane, holds: bool) -> Result<(), Unsettled> {
        if self.rewrites() {
            return Ok(());
        }
        let mut known: SmallVec<[(Lane, bool); 8]> = SmallVec::from_slice(&[(condition, holds)]);
        while let Some((lane, holds)) = known.pop() {
            let truth = self.truth(lane);
            if !(if holds { truth.may_hold } else { truth.may_fail }) {
                return Err(Unsettled::Infeasible);
            }
            let Some(id) = lane.trust.cell else { continue };
            let Kind::Boolean(at) = self.cells.kinds[id.0.get() as usize - 1] else { continue };
            let (truth, origin) = &mut self.cells.booleans[at as usize];
            *truth = Truth::from(holds);
            match origin.clone() {
                Origin::Compared(compared) => {
                    let (instruction, x, y, _) = *compared;
                    self.narrow(instruction, x, y, holds)?;
                }
                Origin::Not(operand) => known.push((operand, !holds)),
                Origin::Joined { operands, absorbing } if holds != absorbing => {
                    known.extend(operands.into_iter().map(|lane| (lane, holds)))
                }
                Origin::Joined { .. } | Origin::Otherwise => {}
            }
        }
        Ok(())
    }

    fn narrow(&mut self, instruction: Instruction, x: Lane, y: Lane, holds: bool) -> Result<(), Unsettled> {
        let [a, b] = [x, y].map(|lane| self.operand(lane));
        let narrower = (self.rules.narrowed)(self.profile, instruction, &a, &b, holds);
        for (operand, set) in [a, b].into_iter().zip(narrower) {
            if set.is_none() {
                return Err(Unsettled::Infeasible);
            }
            // A cell on both sides is narrowed twice.
            if let Some(id) = operand.id
                && let Content::Float(at) = self.content(id)
            {
                let float = &mut self.cells.floats[at as usize];
                float.set = float.set.meet(set);
                if float.set.is_none() {
                    return Err(Unsettled::Infeasible);
                }
            }
        }
        Ok(())
    }

    /// The possible results of a comparison that may move terms between its sides: first from the
    /// polynomial of the difference, then from the two sides.
    fn compared_rewritten(&self, instruction: Instruction, x: Lane, y: Lane) -> Truth {
        if operands_of(instruction) == 1 {
            // A bounded float is no infinity and no NaN, however it is evaluated.
            return if self.component_bound(x).set.is_bounded() { Truth::from(false) } else { Truth::BOTH };
        }
        if let (Some(p), Some(q)) = (self.polynomial(x), self.polynomial(y))
            && (self.moved(x), self.moved(y)) != (Some(MovableTerms::NOTHING), Some(MovableTerms::NOTHING))
        {
            let by_terms = rules::compared_by_difference(instruction, &(self.rules.bound)(&p.compared_with(q)));
            if by_terms != Truth::BOTH {
                return by_terms;
            }
        }
        match (self.component_bound(x).side(), self.component_bound(y).side()) {
            (Some(x), Some(y)) => (self.rules.compared_moved)(instruction, &x, &y),
            _ => Truth::BOTH,
        }
    }

    /// Component i of an instruction with Boolean results.
    fn boolean(&self, form: Form, instruction: Instruction, args: &[(&[Lane], usize)], i: usize) -> (Truth, Origin) {
        let lane = |a: usize| args[a].0[i];
        match form {
            Form::Comparison => {
                let (x, y) = (lane(0), args.get(1).map_or(lane(0), |y| y.0[i]));
                let truth = match self.rewrites() {
                    true => self.compared_rewritten(instruction, x, y),
                    false => (self.rules.compared)(self.profile, instruction, &self.operand(x), &self.operand(y)),
                };
                (truth, Origin::Compared(Box::new((instruction, x, y, self.place))))
            }
            Form::Not => (self.truth(lane(0)).not(), Origin::Not(lane(0))),
            Form::Equal { negated } => {
                let (x, y) = (self.truth(lane(0)), self.truth(lane(1)));
                let equal = Truth {
                    may_hold: x.may_hold && y.may_hold || x.may_fail && y.may_fail,
                    may_fail: x.may_hold && y.may_fail || x.may_fail && y.may_hold,
                };
                (if negated { equal.not() } else { equal }, Origin::Otherwise)
            }
            Form::Joined { absorbing, componentwise } => {
                let operands: Box<[Lane]> = if componentwise { [lane(0), lane(1)].into() } else { args[0].0.into() };
                let mut truths = operands.iter().map(|&lane| self.truth(lane));
                let truth = match absorbing {
                    true => Truth { may_hold: truths.clone().any(|t| t.may_hold), may_fail: truths.all(|t| t.may_fail) },
                    false => Truth { may_hold: truths.clone().all(|t| t.may_hold), may_fail: truths.any(|t| t.may_fail) },
                };
                (truth, Origin::Joined { operands, absorbing })
            }
        }
    }

    #[inline(always)]
    fn content(&self, id: CellId) -> Content<'_> {
        self.cells.content(id)
    }

    fn float(&self, at: u32) -> &Float {
        &self.cells.floats[at as usize]
    }

    /// An error if the budget has no room for another cell.
    #[inline(always)]
    fn may_grow(&self) -> Result<(), Unsettled> {
        if self.cells.count < self.budget.cells as usize { Ok(()) } else { Err(Unsettled::Cells) }
    }

    #[inline(always)]
    fn new_polynomial(&mut self, polynomial: Polynomial) -> Result<CellId, Unsettled> {
        self.may_grow()?;
        self.cells.polynomial(polynomial).ok_or(Unsettled::Cells)
    }

    fn new_boolean(&mut self, truth: Truth, origin: Origin) -> Result<CellId, Unsettled> {
        self.may_grow()?;
        self.cells.boolean(truth, origin).ok_or(Unsettled::Cells)
    }

    fn new_float(&mut self, float: Float) -> Result<CellId, Unsettled> {
        // There are no more floats than cells, so the number fits.
        let id = self.same_float(self.cells.floats.len() as u32)?;
        self.cells.floats.push(float);
        Ok(id)
    }

    /// A cell for a float that another cell has.
    fn same_float(&mut self, float: u32) -> Result<CellId, Unsettled> {
        self.may_grow()?;
        self.cells.float(float).ok_or(Unsettled::Cells)
    }
}

/// The number of floats that a comparison takes.
fn operands_of(instruction: Instruction) -> usize {
    let one = [spirv::Op::IsNan, spirv::Op::IsInf].map(|op| Instruction::Core(op as u16));
    if one.contains(&instruction) { 1 } else { 2 }
}

/// The set of a decided float.
fn decided(lane: Lane, profile: Profile) -> Set {
    match lane.judge(profile) {
        Expected::Bits(bits) => Set::point(f32::from_bits(bits).into()),
        Expected::Zero => Set::ZERO,
        Expected::Within(set) => set,
        // A NaN, or a value that only arithmetic doubts.
        Expected::Undecided(_) if lane.trust.is_decided(profile) => Set::point(lane.float().into()),
        Expected::Undecided(_) => Set::ANY,
    }
}

/// The kinds of instructions with Boolean results.
#[derive(Clone, Copy, Debug)]
enum Form {
    Comparison,
    Not,
    Equal { negated: bool },
    Joined { absorbing: bool, componentwise: bool },
}

impl Form {
    fn of(instruction: Instruction) -> Option<Form> {
        use spirv::Op as Core;
        let Instruction::Core(opcode) = instruction else { return None };
        Some(match Core::from_u32(opcode.into())? {
            Core::FOrdLessThan
            | Core::FOrdLessThanEqual
            | Core::FOrdGreaterThan
            | Core::FOrdGreaterThanEqual
            | Core::FOrdEqual
            | Core::FOrdNotEqual
            | Core::FUnordLessThan
            | Core::FUnordLessThanEqual
            | Core::FUnordGreaterThan
            | Core::FUnordGreaterThanEqual
            | Core::FUnordEqual
            | Core::FUnordNotEqual
            | Core::IsNan
            | Core::IsInf => Form::Comparison,
            Core::LogicalNot => Form::Not,
            Core::LogicalEqual => Form::Equal { negated: false },
            Core::LogicalNotEqual => Form::Equal { negated: true },
            Core::LogicalAnd => Form::Joined { absorbing: false, componentwise: true },
            Core::LogicalOr => Form::Joined { absorbing: true, componentwise: true },
            Core::All => Form::Joined { absorbing: false, componentwise: false },
            Core::Any => Form::Joined { absorbing: true, componentwise: false },
            _ => return None,
        })
    }
}

impl Truth {
    fn not(self) -> Truth {
        Truth { may_hold: self.may_fail, may_fail: self.may_hold }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        Truth { may_hold: holds, may_fail: !holds }
    }
}

impl Expected {
    /// What a device must show of a component with that set: bits if it is one float, anything if
    /// it is unbounded or holds NaN.
    pub(crate) fn of(set: Set, why: Why) -> Expected {
        match set.only() {
            Some(x) => Expected::Bits((x as f32).to_bits()),
            None if set == Set::ZERO => Expected::Zero,
            None if set.is_bounded() => Expected::Within(set),
            None => Expected::Undecided(why),
        }
    }
}
