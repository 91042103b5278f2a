//! Smaller programs that still show something, by proptest's protocol: [`Shrinking`] is a `ValueTree` whose simplifications keep a program
//! well typed.
//!
//! A simplification replaces a subexpression by a constant of its type or by a part of itself, drops a definition, an output, a binding or a
//! parameter with its arguments, inlines a binding, or makes a number simpler. The largest cuts are tried first. Each candidate is printed, read and typed
//! before it is shown, so the property under test sees only programs; none is shown twice.

use super::{Limits, well_typed};
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Tree, print_number};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use smallstep_semantics::lambda_v::typing::{self, StackId};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::Hasher;

/// The deepest nesting that is shrunk; deeper programs stay as they are.
const MAX_DEPTH: usize = 400;

/// An expression as written, owned.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Atom(String),
    Num(f32),
    List(Vec<Part>),
}

impl Part {
    fn of(tree: &Tree, id: ExprId) -> Part {
        match tree.expr(id) {
            Expr::Num(x) => Part::Num(*x),
            Expr::Bool(b) => Part::Atom(b.to_string()),
            Expr::Ident(s) => Part::Atom(tree.symbols.name(*s).into()),
            Expr::List(items) => Part::List(items.iter().map(|&i| Part::of(tree, i)).collect()),
        }
    }

    fn size(&self) -> usize {
        match self {
            Part::List(items) => 1 + items.iter().map(Part::size).sum::<usize>(),
            _ => 1,
        }
    }

    fn print(&self, out: &mut String) {
        match self {
            Part::Atom(word) => out.push_str(word),
            Part::Num(x) => print_number(*x, out),
            Part::List(items) => {
                out.push('(');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    item.print(out);
                }
                out.push(')');
            }
        }
    }

    fn items(&self) -> &[Part] {
        match self {
            Part::List(items) => items,
            _ => &[],
        }
    }

    /// How odd the numbers are: what simplifying numbers brings down.
    fn oddness(&self) -> u64 {
        match self {
            Part::Atom(_) => 0,
            Part::Num(x) => {
                let mut text = String::new();
                print_number(*x, &mut text);
                let magnitude = if x.abs() <= 1.0 { 0 } else { 1 + x.abs().log2() as u64 };
                text.len() as u64 * 40 + magnitude + u64::from(*x == 0.0)
            }
            Part::List(items) => items.iter().map(Part::oddness).sum(),
        }
    }

    /// With every free-standing `name` replaced, whatever it means there: typing judges the result.
    fn inlined(&self, name: &str, value: &Part) -> Part {
        match self {
            Part::Atom(word) if word == name => value.clone(),
            Part::List(items) => Part::List(items.iter().map(|i| i.inlined(name, value)).collect()),
            other => other.clone(),
        }
    }

    /// Without argument `i` (from 1) of every list that begins with `rec`.
    fn without_rec_argument(&self, i: usize) -> Part {
        let Part::List(items) = self else { return self.clone() };
        let mut items: Vec<Part> = items.iter().map(|p| p.without_rec_argument(i)).collect();
        if items.first() == Some(&Part::Atom("rec".into())) && i < items.len() {
            items.remove(i);
        }
        Part::List(items)
    }

    fn at_mut(&mut self, path: &[usize]) -> &mut Part {
        path.iter().fold(self, |part, &i| match part {
            Part::List(items) => &mut items[i],
            _ => unreachable!("a path leads through lists"),
        })
    }
}

fn atom(word: &str) -> Part {
    Part::Atom(word.into())
}

fn list(items: impl IntoIterator<Item = Part>) -> Part {
    Part::List(items.into_iter().collect())
}

/// Small expressions of a type, smallest first.
fn constants(ty: Ground) -> Vec<Part> {
    let repeat = |name: String, part: Part, n: u8| list([atom(&name)].into_iter().chain((0..n).map(|_| part.clone())));
    match ty {
        Ground::Vec(1, Elem::F) => vec![Part::Num(0.0), Part::Num(1.0), list([atom("x"), list([atom("frag-coord")])])],
        Ground::Vec(1, Elem::B) => vec![atom("false"), atom("true")],
        Ground::Vec(n, Elem::F) => {
            let mut parts = vec![repeat(format!("vec{n}"), Part::Num(0.0), n), repeat(format!("vec{n}"), Part::Num(1.0), n)];
            if n == 4 {
                parts.insert(0, list([atom("frag-coord")]));
            }
            parts
        }
        Ground::Vec(n, Elem::B) => vec![repeat(format!("bvec{n}"), atom("false"), n), repeat(format!("bvec{n}"), atom("true"), n)],
        Ground::Mat(n) => {
            let column =
                |one: u8| list([atom(&format!("vec{n}"))].into_iter().chain((0..n).map(|i| Part::Num(f32::from(u8::from(i == one))))));
            vec![list([atom(&format!("mat{n}"))].into_iter().chain((0..n).map(column)))]
        }
    }
}

/// A program: its top-level expressions.
type Roots = Vec<Part>;

/// Where an expression stands: the root's number, then the way down.
type Path = Vec<usize>;

fn print(roots: &Roots) -> String {
    let mut text = String::new();
    for root in roots {
        root.print(&mut text);
        text.push('\n');
    }
    text
}

fn measure(roots: &Roots) -> (usize, u64) {
    (roots.iter().map(Part::size).sum(), roots.iter().map(Part::oddness).sum())
}

fn replaced(roots: &Roots, path: &Path, part: Part) -> Roots {
    let mut roots = roots.clone();
    *roots[path[0]].at_mut(&path[1..]) = part;
    roots
}

/// A program that is being made smaller: a proptest `ValueTree`.
#[derive(Debug)]
pub struct Shrinking {
    tree: Tree,
    roots: Roots,
    /// What came before the candidate that is shown now; none if what is shown is known to show the fault.
    before: Option<(Tree, Roots)>,
    /// Candidates of `before` (or of what is shown) that were not tried.
    candidates: VecDeque<Roots>,
    /// Whether `candidates` are those of what is shown now.
    listed: bool,
    tried: FxHashSet<u64>,
}

impl Shrinking {
    /// Begins with a program.
    pub fn new(tree: Tree) -> Shrinking {
        let roots: Roots = if depth(&tree) > MAX_DEPTH { Vec::new() } else { tree.roots.iter().map(|&r| Part::of(&tree, r)).collect() };
        Shrinking { tree, roots, before: None, candidates: VecDeque::new(), listed: false, tried: FxHashSet::default() }
    }

    /// Shows the next candidate that is a well-typed, smaller program.
    fn next(&mut self) -> bool {
        let base = measure(self.before.as_ref().map_or(&self.roots, |b| &b.1));
        while let Some(roots) = self.candidates.pop_front() {
            if measure(&roots) >= base {
                continue;
            }
            let text = print(&roots);
            let mut hasher = FxHasher::default();
            hasher.write(text.as_bytes());
            if !self.tried.insert(hasher.finish()) {
                continue;
            }
            let Ok(tree) = parse(&text) else { continue };
            let Ok(program) = Program::resolve(&tree) else { continue };
            if typing::infer(&program, typing::Limits::default()).is_err() {
                continue;
            }
            let shown = std::mem::replace(&mut self.tree, tree);
            let shown_roots = std::mem::replace(&mut self.roots, roots);
            self.before.get_or_insert((shown, shown_roots));
            return true;
        }
        false
    }

    fn restore(&mut self) {
        if let Some((tree, roots)) = self.before.take() {
            (self.tree, self.roots) = (tree, roots);
        }
    }
}

impl ValueTree for Shrinking {
    type Value = Tree;

    fn current(&self) -> Tree {
        self.tree.clone()
    }

    /// What is shown shows the fault: go on from it.
    fn simplify(&mut self) -> bool {
        if self.before.take().is_some() || !self.listed {
            self.candidates = candidates(&self.tree, &self.roots);
            self.listed = true;
        }
        self.next()
    }

    /// What is shown does not show the fault: back, and on to the next candidate.
    fn complicate(&mut self) -> bool {
        if self.before.is_none() {
            return false;
        }
        self.restore();
        // If there is no other candidate, what is shown now was seen to show the fault; the runner sees it again, and asks to simplify once
        // more, in vain.
        self.next();
        true
    }
}

fn depth(tree: &Tree) -> usize {
    // Children stand before their list, so one pass over the nodes is enough.
    let mut depths = vec![1usize; tree.nodes.len()];
    for (i, node) in tree.nodes.iter().enumerate() {
        if let Expr::List(items) = node {
            depths[i] = 1 + items.iter().map(|c| depths[c.0 as usize]).max().unwrap_or(0);
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

/// The types of the places that were typed as values, by span.
fn types(tree: &Tree) -> FxHashMap<Span, Ground> {
    let mut types = FxHashMap::default();
    let Ok(program) = Program::resolve(tree) else { return types };
    let Ok(derivation) = typing::infer(&program, typing::Limits::default()) else { return types };
    for (i, step) in derivation.nodes.iter().enumerate() {
        if let (StackId::EMPTY, Type::Ground(ty) | Type::Rec(ty)) = (step.goal.a, step.ty) {
            types.insert(derivation.span(i as u32), ty);
        }
    }
    types
}

/// Every simplification of a program, the largest cuts first.
fn candidates(tree: &Tree, roots: &Roots) -> VecDeque<Roots> {
    let types = types(tree);
    let mut found: Vec<(usize, Roots)> = Vec::new();
    let size = measure(roots).0;
    let mut add = |candidate: Roots| {
        let after = measure(&candidate).0;
        found.push((size.saturating_sub(after), candidate));
    };
    for i in 0..roots.len() {
        if roots.len() > 1 {
            let mut fewer = roots.clone();
            fewer.remove(i);
            add(fewer);
        }
        if let [head, _, value] = roots[i].items() {
            if *head == atom("output") {
                add(vec![value.clone()]);
            } else if *head == atom("define") {
                let name = &roots[i].items()[1];
                if let Part::Atom(name) = name {
                    let rest = roots.iter().enumerate().filter(|(j, _)| *j != i);
                    add(rest.map(|(_, r)| r.inlined(name, value)).collect());
                }
            }
        }
    }
    let mut todo: Vec<(Path, ExprId)> = tree.roots.iter().enumerate().map(|(i, &r)| (vec![i], r)).collect();
    while let Some((path, id)) = todo.pop() {
        let mut copy = roots.clone();
        let part = copy[path[0]].at_mut(&path[1..]).clone();
        if let Expr::List(items) = tree.expr(id) {
            todo.extend(items.iter().enumerate().map(|(i, &item)| ([path.as_slice(), &[i]].concat(), item)));
        }
        simpler(&part, types.get(&tree.span(id)).copied(), &mut |simple| add(replaced(roots, &path, simple)));
    }
    found.sort_by_key(|(saved, _)| std::cmp::Reverse(*saved));
    found.into_iter().map(|(_, roots)| roots).collect()
}

/// Simpler expressions for one place.
fn simpler(part: &Part, ty: Option<Ground>, add: &mut dyn FnMut(Part)) {
    if let Some(ty) = ty {
        constants(ty).into_iter().for_each(&mut *add);
    }
    let items = match part {
        Part::Num(x) => {
            for simple in [0.0, 1.0, x.trunc(), (x * 0.5).trunc(), (x * 4.0).round() * 0.25, x.abs(), x - x.signum()] {
                if simple.is_finite() {
                    add(Part::Num(simple));
                }
            }
            return;
        }
        Part::Atom(_) => return,
        Part::List(items) => items,
    };
    // Never typed: nobody uses it.
    add(Part::Num(0.0));
    for item in items {
        add(item.clone());
        for inner in item.items() {
            add(inner.clone());
            for third in inner.items() {
                add(third.clone());
            }
        }
    }
    // An operand fewer: (+ a b c) has no such overload, but lists of bindings, parameters and arguments do.
    for i in 0..items.len() {
        let mut fewer = items.clone();
        fewer.remove(i);
        add(Part::List(fewer));
    }
    match items.as_slice() {
        [head, Part::List(bindings), body] if *head == atom("let") => {
            for (i, binding) in bindings.iter().enumerate() {
                let [Part::Atom(name), value] = binding.items() else { continue };
                let mut fewer = bindings.clone();
                fewer.remove(i);
                let inlined = body.inlined(name, value);
                add(if fewer.is_empty() { inlined } else { list([head.clone(), Part::List(fewer), inlined]) });
            }
        }
        [function, args @ ..] => {
            let [head, Part::List(params), body] = function.items() else { return };
            let rec = *head == atom("rec-func");
            if params.len() != args.len() || !(rec || *head == atom("func")) {
                return;
            }
            for (i, param) in params.iter().enumerate() {
                let Part::Atom(name) = param else { continue };
                let mut fewer = params.clone();
                fewer.remove(i);
                let mut rest = args.to_vec();
                let arg = rest.remove(i);
                let apply = |body: Part| list([list([head.clone(), Part::List(fewer.clone()), body])].into_iter().chain(rest.clone()));
                if rec {
                    let body = body.without_rec_argument(i + 1);
                    add(apply(body.clone()));
                    add(apply(body.inlined(name, &arg)));
                } else {
                    add(apply(body.clone()));
                    let inlined = body.inlined(name, &arg);
                    add(if fewer.is_empty() { inlined } else { apply(inlined) });
                }
            }
        }
        [] => {}
    }
}

/// The smallest program found that `fails`, as `tree` does, looking at no more than about `tries` candidates.
///
/// Driven by proptest's runner. If `tree` does not fail, it is given back as it is.
pub fn minimal(tree: &Tree, fails: &mut dyn FnMut(&Tree) -> bool, tries: u32) -> Tree {
    let config = Config { failure_persistence: None, max_shrink_iters: tries, verbose: 0, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha));
    let fails = RefCell::new(fails);
    let test = |tree: Tree| match (*fails.borrow_mut())(&tree) {
        true => Err(TestCaseError::fail("the program still shows it")),
        false => Ok(()),
    };
    match runner.run_one(Shrinking::new(tree.clone()), test) {
        Err(TestError::Fail(_, smallest)) => smallest,
        _ => tree.clone(),
    }
}

/// Programs for proptest: those of [`well_typed`], shrinking as [`Shrinking`] does.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    limits: Limits,
}

/// Programs within these limits.
pub fn programs(limits: Limits) -> Programs {
    Programs { limits }
}

impl Strategy for Programs {
    type Tree = Shrinking;
    type Value = Tree;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        use proptest::prelude::Rng;
        Ok(Shrinking::new(well_typed(runner.rng().next_u64(), &self.limits)))
    }
}
