//! The analysis of seed 001 over typed WSL, with only its unsound parts mended.
//!
//! A function's body becomes a graph of implications: from `must` to the control flow of each
//! barrier and derivative, from each value to what it is computed from, from what differs between
//! invocations to `cannot`. A way from `must` to `cannot` rejects the function; what else `must`
//! leads to is its metadata, by which calls of it are judged. Functions are taken from the leaves
//! of the call graph up.
//!
//! Variables have one node for all their values (U-13), loops leave a behaviour that keeps control
//! flow from meeting again (U-3), and what stands behind a pointer is never uniform. What the seed
//! leaves out (U-6) has rules in its manner. A call that may discard changes the control flow of
//! what follows, so control flow is threaded through expressions, in the order of evaluation.
//!
//! [`Letter`] chooses the seed's own rules where they are wrong; [`Planted`] weakens one.

pub mod behaviour;
mod call;
mod explain;
mod expression;
mod left;
mod picture;
mod statement;

pub use picture::picture;

use super::graph::{Graph, Node, Reached};
use super::report::{Analysis, Exit, Metadata, Parameter, alone};
use super::table::{self, Need};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::environment::FunctionId;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::{ExprId, Program, StoreId};
use behaviour::Behaviour;
use std::collections::HashMap;

/// Which of the seed's rules are taken by the letter. By default those are mended that are unsound
/// or do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// `return` and expression statements go on into the case of `break`.
    pub u1: bool,
    /// The test for a single behaviour looks at a set that nothing fills.
    pub u2: bool,
    /// A loop adds InfiniteLoop, and nothing removes it. Sound, so it is kept.
    pub u3: bool,
    /// There is no rule for `continue`.
    pub u4: bool,
    /// Return(C1) and Return(C2) are two behaviours.
    pub u5: bool,
    /// There are no rules for the forms that the seed leaves out.
    pub u6: bool,
    /// A declaration forgets those before it.
    pub u7: bool,
    /// Arguments of entry points are like those of other functions.
    pub u8: bool,
    /// Array references and threadgroup variables are as any value and any variable.
    pub u9: bool,
    /// The value of `&e` and `@e` does not depend on an index in e.
    pub u10: bool,
    /// A search forgets where it was.
    pub u12: bool,
}

impl Default for Letter {
    fn default() -> Letter {
        Letter { u1: false, u2: false, u3: true, u4: false, u5: false, u6: false, u7: false, u8: false, u9: false, u10: false, u12: false }
    }
}

impl Letter {
    /// The flag of that number, if the erratum can be chosen.
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

/// A bug beside the rules, to see it caught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    #[default]
    None,
    /// The rule leaves out one of the edges that it adds, by its number there.
    Without(Rule, u8),
    /// Control flow meets again behind every statement.
    AlwaysMeets,
    /// This behaviour is forgotten where a statement has it.
    Forgets(Behaviour),
    /// Returns are forgotten.
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
    /// No function is rejected that has a parameter.
    NotByFunction,
}

/// What an analysis goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is by the letter.
    pub letter: Letter,
    /// The bug.
    pub planted: Planted,
}

/// Analyses a program.
pub fn analyse(program: &Program) -> Analysis {
    analyse_with(program, &Settings::default())
}

/// Analyses a program by these rules.
pub fn analyse_with(program: &Program, settings: &Settings) -> Analysis {
    analyse_watched(program, settings, &mut |_| {})
}

fn analyse_watched(program: &Program, settings: &Settings, on: &mut dyn FnMut(&Cx)) -> Analysis {
    let alone = alone(program);
    let mut out = Analysis { functions: vec![Metadata::default(); program.bodies.len()], ..Analysis::default() };
    let mut known: Vec<Known> = vec![Known::default(); program.bodies.len()];
    let mut fired = vec![false; Rule::ALL.len()];
    let entries: HashMap<FunctionId, usize> = program.entry_points.iter().enumerate().map(|(i, e)| (e.function, i)).collect();
    for &f in &program.order {
        let mut cx = Cx::new(program, settings, &known, &mut fired, f);
        if let Some(&entry) = entries.get(&f) {
            entry_point(&mut cx, entry);
        }
        let body = program.body(f).block;
        cx.body(body);
        on(&cx);
        let (this, rejections) = function(&mut cx, alone[f.0 as usize]);
        out.nodes += cx.graph.nodes();
        out.edges += cx.graph.edges();
        out.stuck = out.stuck.or(cx.stuck);
        out.functions[f.0 as usize] = this.metadata.clone();
        out.rejections.extend(rejections);
        known[f.0 as usize] = this;
    }
    out.fired = Rule::ALL.iter().copied().filter(|r| fired[*r as usize]).collect();
    out
}

/// What a requirement of a function comes from: a barrier or derivative, or a call.
#[derive(Clone, Copy, Debug)]
struct Origin {
    span: Span,
    /// The requirement of the function that is called there.
    of: Option<(FunctionId, Asked)>,
}

/// What must be uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Control,
    Argument(u32),
}

/// A function's metadata, and where its requirements come from.
#[derive(Clone, Debug, Default)]
struct Known {
    metadata: Metadata,
    control: Option<Origin>,
    parameters: Vec<Option<Origin>>,
}

/// What a node is, for explanations.
#[derive(Clone, Copy, Debug)]
enum What {
    Must(Need),
    Cannot,
    /// A barrier or derivative, or a call of what has one.
    Site(Need, Option<(FunctionId, Asked)>),
    /// Control flow where the function begins.
    Start,
    Parameter(u32),
    Variable(Option<Symbol>),
    /// Control flow where a condition has chosen.
    Branch,
    /// Control flow behind a statement.
    Behind,
    /// Control flow in a loop.
    Loop,
    /// Control flow in a case.
    Case,
    /// Control flow behind a call that may discard.
    Came(FunctionId),
    Value,
    /// What a function returns.
    Result(FunctionId),
    Returned,
    /// A value that differs.
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
    what: What,
    span: Span,
}

/// The analysis of one function.
struct Cx<'a> {
    program: &'a Program,
    settings: &'a Settings,
    known: &'a [Known],
    fired: &'a mut [bool],
    function: FunctionId,
    graph: Graph<Label>,
    must: [Node; 2],
    cannot: Node,
    start: Node,
    parameters: Vec<Node>,
    /// The node of each store of the function.
    stores: Vec<Option<Node>>,
    /// The nodes of what is returned.
    returned: Vec<Node>,
    /// Whether the body has a Return.
    returns: bool,
    /// The nodes of what decides whether an invocation discards.
    discarded: Vec<Node>,
    stuck: Option<(Span, String)>,
    /// The variables that U-7 forgets.
    forgotten: Vec<StoreId>,
}

impl<'a> Cx<'a> {
    fn new(program: &'a Program, settings: &'a Settings, known: &'a [Known], fired: &'a mut [bool], function: FunctionId) -> Cx<'a> {
        let (body, declared) = (program.body(function), program.env.function(function));
        let span = declared.name.span;
        let mut graph = Graph::default();
        let mut node = |what| graph.node(Label { what, span });
        let (must, cannot, start) = (Need::ALL.map(|need| node(What::Must(need))), node(What::Cannot), node(What::Start));
        let mut stores = vec![None; body.stores.len()];
        let mut parameters = Vec::with_capacity(body.parameters.len());
        for (i, store) in body.parameters.iter().enumerate() {
            let node = graph.node(Label { what: What::Parameter(i as u32), span: declared.parameters[i].span });
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
            forgotten: Vec::new(),
        }
    }

    fn letter(&self) -> Letter {
        self.settings.letter
    }

    fn fire(&mut self, rule: Rule) {
        self.fired[rule as usize] = true;
    }

    fn node(&mut self, what: What, span: Span) -> Node {
        self.graph.node(Label { what, span })
    }

    /// Adds the edge of that number of a rule.
    fn imply(&mut self, rule: Rule, number: u8, a: Node, b: Node) {
        if self.settings.planted != Planted::Without(rule, number) && a != b {
            self.graph.imply(a, b, rule);
        }
    }

    /// A node that may differ.
    fn differs(&mut self, rule: Rule, number: u8, why: Differs, span: Span) -> Node {
        let node = self.node(What::Loaded(why), span);
        self.imply(rule, number, node, self.cannot);
        node
    }

    /// A node that must be uniform.
    fn require(&mut self, rule: Rule, number: u8, need: Need, of: Option<(FunctionId, Asked)>, on: Node, span: Span) {
        let site = self.node(What::Site(need, of), span);
        self.graph.imply(self.must[need as usize], site, rule);
        self.imply(rule, number, site, on);
    }

    /// By the letter there is no rule here.
    fn stuck(&mut self, span: Span, why: &str) {
        self.stuck.get_or_insert_with(|| (span, why.into()));
    }

    /// The node of a variable, which is named where it is declared.
    fn variable(&mut self, store: StoreId, name: Option<Symbol>, span: Span) -> Node {
        if self.letter().u7 && self.forgotten.contains(&store) {
            self.stuck(span, "a later declaration of the block has dropped this variable from the environment");
        }
        let at = (store.0 - self.program.body(self.function).stores.start) as usize;
        if let Some(node) = self.stores[at] {
            return node;
        }
        let declared = self.program.store(store).span;
        let node = self.node(What::Variable(name), declared);
        self.stores[at] = Some(node);
        node
    }

    fn may_discard(&self, e: ExprId) -> bool {
        self.program.expr(e).discards
    }

    /// What a search from these nodes reaches. By the letter of U-12 it forgets where it was, and
    /// goes through the graph again for every way; if it goes round a cycle it does not end.
    fn reach(&mut self, from: &[Node]) -> Reached {
        if self.letter().u12 && !self.ends_without_memory(from) {
            let span = self.program.env.function(self.function).name.span;
            self.stuck(span, "the search goes round a cycle and does not end");
        }
        self.graph.reach(from, None)
    }

    /// Whether a search that remembers nothing ends: it stops at `cannot`, and otherwise never
    /// leaves a cycle. Edges are followed in the order in which they were added.
    fn ends_without_memory(&self, from: &[Node]) -> bool {
        let next = |node: Node| {
            let mut next: Vec<Node> = self.graph.implied(node).map(|(to, _)| to).collect();
            next.reverse();
            next
        };
        // A node whose search has ended without reaching `cannot` ends so each time.
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
fn function(cx: &mut Cx, alone: bool) -> (Known, Vec<super::report::Rejection>) {
    let rule = Rule::UniformityFunction;
    let planted = cx.settings.planted;
    let mut known = Known { parameters: vec![None; cx.parameters.len()], ..Known::default() };
    known.metadata.parameters = vec![Parameter::Free; cx.parameters.len()];
    let mut rejections = Vec::new();
    for need in Need::ALL {
        let must = cx.must[need as usize];
        if cx.graph.implied(must).next().is_none() {
            continue;
        }
        let reached = cx.reach(&[must]);
        if reached.has(cx.cannot) {
            if !alone && (planted != Planted::NotByFunction || cx.parameters.is_empty()) {
                rejections.extend(cx.rejections(need));
            }
        } else {
            cx.fire(rule);
        }
        let heads = reached.heads();
        let origin = |node: Node| {
            let head = heads[node.0 as usize]?;
            match *cx.graph.label(head) {
                Label { what: What::Site(_, of), span } => Some(Origin { span, of }),
                _ => None,
            }
        };
        if reached.has(cx.start) && planted != Planted::NoControl && known.metadata.control.is_none() {
            known.metadata.control = Some(need);
            known.control = origin(cx.start);
        }
        for (i, &parameter) in cx.parameters.iter().enumerate() {
            if reached.has(parameter) && planted != Planted::NoMust && known.parameters[i].is_none() {
                known.metadata.parameters[i] = Parameter::MustBeUniform(need);
                known.parameters[i] = origin(parameter);
            }
        }
    }
    let returned = std::mem::take(&mut cx.returned);
    if cx.returns && cx.program.env.function(cx.function).result != TypeId::VOID {
        let reached = cx.reach(&returned);
        known.metadata.result = !reached.has(cx.cannot) || planted == Planted::FreeResult;
        for (i, &parameter) in cx.parameters.iter().enumerate() {
            let kind = &mut known.metadata.parameters[i];
            if reached.has(parameter) && *kind == Parameter::Free && planted != Planted::NoConditions {
                *kind = Parameter::Conditionally;
            }
        }
    }
    if !cx.discarded.is_empty() && planted != Planted::NoExit {
        let discarded = std::mem::take(&mut cx.discarded);
        let reached = cx.reach(&discarded);
        let parameters = (0..).zip(&cx.parameters).filter(|(_, p)| reached.has(**p)).map(|(i, _)| i);
        known.metadata.exit = if reached.has(cx.cannot) { Exit::Varies } else { Exit::IfUniform(parameters.collect()) };
    }
    (known, rejections)
}
