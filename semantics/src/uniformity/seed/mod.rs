//! The analysis of seed 001 over typed WSL. Only its unsound parts are mended.
//!
//! A function's body becomes a graph of implications. Edges lead from `must` to the control flow of
//! each barrier and derivative, from each value to its operands, and from values that differ
//! between invocations to `cannot`. A path from `must` to `cannot` rejects the function. The other
//! nodes that `must` reaches are its metadata, which its callers use. Functions are analysed from
//! the leaves of the call graph up.
//!
//! A variable has one node for all its values (U-13). A loop leaves a behaviour that prevents
//! control flow from meeting again (U-3). Values behind a pointer are never uniform. Forms that
//! the seed leaves out (U-6) have rules in its style. A call that may discard changes the
//! control flow of all that follows. So control flow is threaded through expressions, in the
//! order of evaluation.
//!
//! [`LiteralRules`] chooses the seed's own rules where they are wrong. [`Planted`] weakens
//! one rule.

pub mod behaviour;
mod call;
mod explain;
mod expression;
mod left;
mod picture;
mod statement;

pub use picture::picture;

use super::graph::{Graph, Node, Reached};
use super::report::{Analysis, Exit, Metadata, Parameter, runs_alone};
use super::table::{self, Need};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::environment::FunctionId;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::{ExprId, Program, StoreId};
use behaviour::Behaviour;
use std::collections::HashMap;

/// The rules of the seed that are taken literally, by number of the erratum. By default the rules
/// that are unsound or cannot run are mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteralRules {
    /// The cases of `return` and expression statements fall through to the case of `break`.
    pub u1: bool,
    /// The test for a single behaviour looks at a set that is never filled.
    pub u2: bool,
    /// A loop adds InfiniteLoop, and nothing removes it. This is sound, so it is the default.
    pub u3: bool,
    /// There is no rule for `continue`.
    pub u4: bool,
    /// Return(C1) and Return(C2) are two behaviours.
    pub u5: bool,
    /// The forms that the seed leaves out have no rules.
    pub u6: bool,
    /// A declaration drops earlier variables from the environment.
    pub u7: bool,
    /// Arguments of entry points are treated like those of other functions.
    pub u8: bool,
    /// Array references are treated like other values, and threadgroup variables like
    /// other variables.
    pub u9: bool,
    /// The value of `&e` and `@e` does not depend on an index in e.
    pub u10: bool,
    /// A search does not remember the nodes that it has visited.
    pub u12: bool,
}

impl Default for LiteralRules {
    fn default() -> LiteralRules {
        LiteralRules {
            u1: false,
            u2: false,
            u3: true,
            u4: false,
            u5: false,
            u6: false,
            u7: false,
            u8: false,
            u9: false,
            u10: false,
            u12: false,
        }
    }
}

impl LiteralRules {
    /// The flag of an erratum by its number, if it has a flag.
    pub fn flag(&mut self, number: u32) -> Option<&mut bool> {
        Some(match number {
            1 => &mut self.u1,
            2 => &mut self.u2,
            3 => &mut self.u3,
            4 => &mut self.u4,
            5 => &mut self.u5,
            6 => &mut self.u6,
            7 => &mut self.u7,
            8 => &mut self.u8,
            9 => &mut self.u9,
            10 => &mut self.u10,
            12 => &mut self.u12,
            _ => return None,
        })
    }
}

/// A planted fault, to test that tests find it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// No fault.
    #[default]
    None,
    /// The rule omits one of the edges that it adds, by the edge's number in the rule.
    Without(Rule, u8),
    /// Control flow meets again after every statement.
    AlwaysMeets,
    /// A statement with this behaviour has Nothing instead.
    Forgets(Behaviour),
    /// A return has the behaviour Nothing.
    ForgetsReturns,
    /// No function has CF_mustBeUniform.
    NoControl,
    /// No function has mustBeUniform_i.
    NoMust,
    /// Every function has canBeUniform_return.
    FreeResult,
    /// No function has conditionallyUniform_i.
    NoConditions,
    /// No function can discard.
    NoExit,
    /// No function with a parameter is rejected.
    NotByFunction,
}

/// The settings of an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The rules that are taken literally.
    pub letter: LiteralRules,
    /// The planted fault.
    pub planted: Planted,
}

/// Analyses a program.
pub fn analyse(program: &Program) -> Analysis {
    analyse_with(program, &Settings::default())
}

/// Analyses a program with these settings.
pub fn analyse_with(program: &Program, settings: &Settings) -> Analysis {
    analyse_watched(program, settings, &mut |_| {})
}

fn analyse_watched(program: &Program, settings: &Settings, observe: &mut dyn FnMut(&Cx)) -> Analysis {
    let is_alone = runs_alone(program);
    let mut analysis = Analysis { functions: vec![Metadata::default(); program.bodies.len()], ..Analysis::default() };
    let mut known: Vec<FunctionFacts> = vec![FunctionFacts::default(); program.bodies.len()];
    let mut fired = vec![false; Rule::ALL.len()];
    let entries: HashMap<FunctionId, usize> = program.entry_points.iter().enumerate().map(|(i, e)| (e.function, i)).collect();
    for &f in &program.order {
        let mut cx = Cx::new(program, settings, &known, &mut fired, f);
        if let Some(&entry) = entries.get(&f) {
            entry_point(&mut cx, entry);
        }
        let body = program.body(f).block;
        cx.body(body);
        observe(&cx);
        let (facts, rejections) = function(&mut cx, is_alone[f.0 as usize]);
        analysis.nodes += cx.graph.nodes();
        analysis.edges += cx.graph.edges();
        analysis.stuck = analysis.stuck.or(cx.stuck);
        analysis.functions[f.0 as usize] = facts.metadata.clone();
        analysis.rejections.extend(rejections);
        known[f.0 as usize] = facts;
    }
    analysis.fired = Rule::ALL.iter().copied().filter(|r| fired[*r as usize]).collect();
    analysis
}

/// The origin of a requirement of a function: a barrier or derivative, or a call.
#[derive(Clone, Copy, Debug)]
struct Origin {
    span: Span,
    /// For a call, the callee and its requirement.
    of: Option<(FunctionId, Requirement)>,
}

/// An item that must be uniform: the control flow, or an argument by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requirement {
    Control,
    Argument(u32),
}

/// A function's metadata, and the origins of its requirements.
#[derive(Clone, Debug, Default)]
struct FunctionFacts {
    metadata: Metadata,
    control: Option<Origin>,
    parameters: Vec<Option<Origin>>,
}

/// The meaning of a node, for explanations.
#[derive(Clone, Copy, Debug)]
enum NodeMeaning {
    Must(Need),
    Cannot,
    /// A barrier or derivative, or a call of a function with one.
    Site(Need, Option<(FunctionId, Requirement)>),
    /// Control flow at the start of the function.
    Start,
    Parameter(u32),
    Variable(Option<Symbol>),
    /// Control flow after a branch on a condition.
    Branch,
    /// Control flow after a statement.
    AfterStatement,
    /// Control flow in a loop.
    Loop,
    /// Control flow in a case.
    Case,
    /// Control flow after a call that may discard.
    AfterCall(FunctionId),
    Value,
    /// The result of a function.
    Result(FunctionId),
    Returned,
    /// A value that differs between invocations.
    Loaded(Differs),
}

/// Why a value may differ between invocations.
#[derive(Clone, Copy, Debug)]
enum Differs {
    Space(AddressSpace),
    Pointer,
    AddressTaken,
    Library,
    Callee(FunctionId),
    Input(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Label {
    meaning: NodeMeaning,
    span: Span,
}

/// The analysis of one function.
struct Cx<'a> {
    program: &'a Program,
    settings: &'a Settings,
    known: &'a [FunctionFacts],
    fired: &'a mut [bool],
    function: FunctionId,
    graph: Graph<Label>,
    must: [Node; 2],
    cannot: Node,
    start: Node,
    parameters: Vec<Node>,
    /// The node of each store of the function.
    stores: Vec<Option<Node>>,
    /// The nodes of returned values.
    returned: Vec<Node>,
    /// Whether the body has a Return.
    returns: bool,
    /// The nodes that decide whether an invocation discards.
    discarded: Vec<Node>,
    stuck: Option<(Span, String)>,
    /// The variables that a declaration has dropped, by the letter of U-7.
    dropped: Vec<StoreId>,
}

impl<'a> Cx<'a> {
    fn new(
        program: &'a Program,
        settings: &'a Settings,
        known: &'a [FunctionFacts],
        fired: &'a mut [bool],
        function: FunctionId,
    ) -> Cx<'a> {
        let (body, declared) = (program.body(function), program.env.function(function));
        let span = declared.name.span;
        let mut graph = Graph::default();
        let mut node = |meaning| graph.node(Label { meaning, span });
        let (must, cannot, start) =
            (Need::ALL.map(|need| node(NodeMeaning::Must(need))), node(NodeMeaning::Cannot), node(NodeMeaning::Start));
        let mut stores = vec![None; body.stores.len()];
        let mut parameters = Vec::with_capacity(body.parameters.len());
        for (i, store) in body.parameters.iter().enumerate() {
            let node = graph.node(Label { meaning: NodeMeaning::Parameter(i as u32), span: declared.parameters[i].span });
            stores[(store.0 - body.stores.start) as usize] = Some(node);
            parameters.push(node);
        }
        Cx {
            program,
            settings,
            known,
            fired,
            function,
            graph,
            must,
            cannot,
            start,
            parameters,
            stores,
            returned: Vec::new(),
            returns: false,
            discarded: Vec::new(),
            stuck: None,
            dropped: Vec::new(),
        }
    }

    fn letter(&self) -> LiteralRules {
        self.settings.letter
    }

    fn fire(&mut self, rule: Rule) {
        self.fired[rule as usize] = true;
    }

    fn node(&mut self, meaning: NodeMeaning, span: Span) -> Node {
        self.graph.node(Label { meaning, span })
    }

    /// Adds an edge of a rule. `number` counts the edges of the rule.
    fn imply(&mut self, rule: Rule, number: u8, a: Node, b: Node) {
        if self.settings.planted != Planted::Without(rule, number) && a != b {
            self.graph.imply(a, b, rule);
        }
    }

    /// Adds a node that may differ between invocations.
    fn differs(&mut self, rule: Rule, number: u8, reason: Differs, span: Span) -> Node {
        let node = self.node(NodeMeaning::Loaded(reason), span);
        self.imply(rule, number, node, self.cannot);
        node
    }

    /// Adds a node that must be uniform, since a barrier, a derivative or a call needs it.
    fn require(&mut self, rule: Rule, number: u8, need: Need, of: Option<(FunctionId, Requirement)>, on: Node, span: Span) {
        let site = self.node(NodeMeaning::Site(need, of), span);
        self.graph.imply(self.must[need as usize], site, rule);
        self.imply(rule, number, site, on);
    }

    /// Records that the analysis is stuck, by a rule taken literally.
    fn stuck(&mut self, span: Span, reason: &str) {
        self.stuck.get_or_insert_with(|| (span, reason.into()));
    }

    /// The node of a variable. Its declaration passes the name.
    fn variable(&mut self, store: StoreId, name: Option<Symbol>, span: Span) -> Node {
        if self.letter().u7 && self.dropped.contains(&store) {
            self.stuck(span, "a later declaration of the block has dropped this variable from the environment");
        }
        let at = (store.0 - self.program.body(self.function).stores.start) as usize;
        if let Some(node) = self.stores[at] {
            return node;
        }
        let declared = self.program.store(store).span;
        let node = self.node(NodeMeaning::Variable(name), declared);
        self.stores[at] = Some(node);
        node
    }

    fn may_discard(&self, e: ExprId) -> bool {
        self.program.expr(e).discards
    }

    /// The nodes that a search from these nodes reaches. By the letter of U-12, a search does not
    /// remember where it was. It goes through the graph again for every path, and does not end in
    /// a cycle.
    fn reach(&mut self, from: &[Node]) -> Reached {
        if self.letter().u12 && !self.ends_without_memory(from) {
            let span = self.program.env.function(self.function).name.span;
            self.stuck(span, "the search goes round a cycle and does not end");
        }
        self.graph.reach(from, None)
    }

    /// Whether a search without memory ends. It stops at `cannot`, and never leaves a cycle
    /// otherwise. It follows edges in the order in which they were added.
    fn ends_without_memory(&self, from: &[Node]) -> bool {
        let next = |node: Node| {
            let mut next: Vec<Node> = self.graph.implied(node).map(|(to, _)| to).collect();
            next.reverse();
            next
        };
        // If the search from a node has ended without reaching `cannot`, it does so every time.
        let (mut done, mut on_path) = (vec![false; self.graph.nodes()], vec![false; self.graph.nodes()]);
        for &start in from {
            let mut path: Vec<(Node, Vec<Node>, usize)> = vec![(start, next(start), 0)];
            on_path[start.0 as usize] = true;
            while let Some((node, to, at)) = path.last_mut() {
                let Some(&to) = to.get(*at) else {
                    done[node.0 as usize] = true;
                    on_path[node.0 as usize] = false;
                    path.pop();
                    continue;
                };
                *at += 1;
                if to == self.cannot {
                    return true;
                }
                if on_path[to.0 as usize] {
                    return false;
                }
                if !done[to.0 as usize] {
                    on_path[to.0 as usize] = true;
                    path.push((to, next(to), 0));
                }
            }
        }
        true
    }
}

/// an argument of an entry point that the table does not call uniform gives i ⇒ cannot for its
/// parameter i [uniformity/entry-point, 001 Top-level validation; U-8]
fn entry_point(cx: &mut Cx, entry: usize) {
    let rule = Rule::UniformityEntryPoint;
    if cx.letter().u8 {
        return;
    }
    let program = cx.program;
    let entry_point = &program.entry_points[entry];
    for (i, item) in entry_point.inputs.iter().enumerate() {
        let Some(parameter) = item.parameter else { continue };
        if !table::input(entry_point.stage, item) {
            cx.fire(rule);
            let differs = cx.differs(rule, 0, Differs::Input(entry as u32, i as u32), item.span);
            cx.graph.imply(cx.parameters[parameter as usize], differs, rule);
        }
    }
}

/// must ⇒* cannot does not hold gives f : CF_mustBeUniform if must ⇒* CF, mustBeUniform_i if must
/// ⇒* i, canBeUniform_return unless a Return C has C ⇒* cannot, conditionallyUniform_i if one has C
/// ⇒* i, and of its discards likewise [uniformity/function, 001 Function validation; U-6, U-12]
fn function(cx: &mut Cx, is_alone: bool) -> (FunctionFacts, Vec<super::report::Rejection>) {
    let rule = Rule::UniformityFunction;
    let planted = cx.settings.planted;
    let mut facts = FunctionFacts { parameters: vec![None; cx.parameters.len()], ..FunctionFacts::default() };
    facts.metadata.parameters = vec![Parameter::Free; cx.parameters.len()];
    let mut rejections = Vec::new();
    for need in Need::ALL {
        let must = cx.must[need as usize];
        if cx.graph.implied(must).next().is_none() {
            continue;
        }
        let reached = cx.reach(&[must]);
        if reached.has(cx.cannot) {
            if !is_alone && (planted != Planted::NotByFunction || cx.parameters.is_empty()) {
                rejections.extend(cx.rejections(need));
            }
        } else {
            cx.fire(rule);
        }
        let heads = reached.heads();
        let origin = |node: Node| {
            let head = heads[node.0 as usize]?;
            match *cx.graph.label(head) {
                Label { meaning: NodeMeaning::Site(_, of), span } => Some(Origin { span, of }),
                _ => None,
            }
        };
        if reached.has(cx.start) && planted != Planted::NoControl && facts.metadata.control.is_none() {
            facts.metadata.control = Some(need);
            facts.control = origin(cx.start);
        }
        for (i, &parameter) in cx.parameters.iter().enumerate() {
            if reached.has(parameter) && planted != Planted::NoMust && facts.parameters[i].is_none() {
                facts.metadata.parameters[i] = Parameter::MustBeUniform(need);
                facts.parameters[i] = origin(parameter);
            }
        }
    }
    let returned = std::mem::take(&mut cx.returned);
    if cx.returns && cx.program.env.function(cx.function).result != TypeId::VOID {
        let reached = cx.reach(&returned);
        facts.metadata.result = !reached.has(cx.cannot) || planted == Planted::FreeResult;
        for (i, &parameter) in cx.parameters.iter().enumerate() {
            let kind = &mut facts.metadata.parameters[i];
            if reached.has(parameter) && *kind == Parameter::Free && planted != Planted::NoConditions {
                *kind = Parameter::Conditionally;
            }
        }
    }
    if !cx.discarded.is_empty() && planted != Planted::NoExit {
        let discarded = std::mem::take(&mut cx.discarded);
        let reached = cx.reach(&discarded);
        let parameters = (0..).zip(&cx.parameters).filter(|(_, p)| reached.has(**p)).map(|(i, _)| i);
        facts.metadata.exit = if reached.has(cx.cannot) { Exit::Varies } else { Exit::IfUniform(parameters.collect()) };
    }
    (facts, rejections)
}
