//! Changes to the tree of a program, which shrinking uses. A change may make the program ill-typed.
//! The caller checks that.

use rustc_hash::FxHashSet;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Symbol, Symbols, Tree, print_number};
use smallstep_semantics::lambda_v::terms::deep;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// Names, with the expressions that they stand for if these are known.
pub(super) type Binders = SmallVec<[(Symbol, Option<ExprId>); 4]>;

/// The names of a vector's components, in order.
pub(super) const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The form of an expression, by its text alone. If the name of a form is hidden, an application of
/// that name is taken for the form. Then some change has no use, but does no harm.
pub(super) enum Form {
    /// A number, Boolean or name, or a malformed form.
    Other,
    /// `(let ((id e) …) e)`: the names with their expressions, and the body.
    Let(SmallVec<[(Symbol, ExprId); 4]>, ExprId),
    /// `(func (id …) e)` or `(rec-func (id …) e)`.
    Function { rec: bool, params: SmallVec<[Symbol; 4]>, body: ExprId },
    /// A list of expressions.
    Call(SmallVec<[ExprId; 8]>),
}

/// A part of an expression, with the names that are bound between the expression and the part.
pub(super) struct Part {
    pub(super) id: ExprId,
    pub(super) binders: Binders,
}

fn name(tree: &Tree, id: ExprId) -> Option<Symbol> {
    match *tree.expr(id) {
        Expr::Ident(symbol) => Some(symbol),
        _ => None,
    }
}

/// The items of a list. Empty for other nodes.
pub(super) fn items(tree: &Tree, id: ExprId) -> &[ExprId] {
    match tree.expr(id) {
        Expr::List(items) => items,
        _ => &[],
    }
}

/// The name at the head of a list.
pub(super) fn head(tree: &Tree, id: ExprId) -> Option<&str> {
    items(tree, id).first().and_then(|&first| name(tree, first)).map(|symbol| tree.symbols.name(symbol))
}

/// The form of an expression.
pub(super) fn form(tree: &Tree, id: ExprId) -> Form {
    let all = items(tree, id);
    if let (Some(head), &[_, list, body]) = (head(tree, id), all) {
        let listed = items(tree, list);
        if head == "let" {
            let pair = |&pair: &ExprId| match *items(tree, pair) {
                [bound, value] => name(tree, bound).map(|symbol| (symbol, value)),
                _ => None,
            };
            return listed.iter().map(pair).collect::<Option<_>>().map_or(Form::Other, |pairs| Form::Let(pairs, body));
        }
        if head == "func" || head == "rec-func" {
            let params: Option<SmallVec<[Symbol; 4]>> = listed.iter().map(|&param| name(tree, param)).collect();
            return params.map_or(Form::Other, |params| Form::Function { rec: head == "rec-func", params, body });
        }
    }
    match tree.expr(id) {
        Expr::List(all) => Form::Call(SmallVec::from_slice(all)),
        _ => Form::Other,
    }
}

/// The expressions directly inside of an expression. If a function is applied where it stands, its
/// body counts as a part of the application.
pub(super) fn parts(tree: &Tree, id: ExprId) -> Vec<Part> {
    let plain = |id: ExprId| Part { id, binders: Binders::new() };
    match form(tree, id) {
        Form::Other => Vec::new(),
        Form::Let(pairs, body) => {
            let binders = pairs.iter().map(|&(symbol, value)| (symbol, Some(value))).collect();
            let mut parts = vec![Part { id: body, binders }];
            parts.extend(pairs.iter().map(|&(_, value)| plain(value)));
            parts
        }
        Form::Function { params, body, .. } => {
            vec![Part { id: body, binders: params.iter().map(|&param| (param, None)).collect() }]
        }
        Form::Call(all) => {
            let mut parts: Vec<Part> = Vec::with_capacity(all.len() + 1);
            if let Some(&first) = all.first()
                && let Form::Function { params, body, .. } = form(tree, first)
                && params.len() + 1 == all.len()
            {
                let binders = params.iter().copied().zip(all[1..].iter().map(|&argument| Some(argument))).collect();
                parts.push(Part { id: body, binders });
            }
            parts.extend(all.iter().map(|&item| plain(item)));
            parts
        }
    }
}

/// A tree that is being changed. Changes may share nodes between several parents.
/// [`Sketch::finish`] makes a proper tree again.
pub(super) struct Sketch {
    pub(super) tree: Tree,
}

const NOWHERE: Span = Span { start: 0, end: 0 };

impl Sketch {
    pub(super) fn of(tree: &Tree) -> Sketch {
        Sketch { tree: tree.clone() }
    }

    pub(super) fn push(&mut self, expr: Expr) -> ExprId {
        self.tree.push(expr, NOWHERE)
    }

    /// Replaces the expression at `at` by a copy of that at `from`.
    pub(super) fn put(&mut self, at: ExprId, from: ExprId) {
        self.tree.nodes[at.0 as usize] = self.tree.expr(from).clone();
    }

    pub(super) fn call(&mut self, function: &str, arguments: impl IntoIterator<Item = ExprId>) -> Expr {
        let symbol = self.tree.symbols.intern(function);
        let head = self.push(Expr::Ident(symbol));
        Expr::List([head].into_iter().chain(arguments).collect())
    }

    /// The simplest expression of the type. All components are 0 or false, or with `one` 1 or true.
    /// A matrix is then the identity. The pixel's coordinate is used if it is shorter.
    pub(super) fn constant(&mut self, ty: Ground, one: bool) -> Expr {
        match ty {
            Ground::NUM => Expr::Num(f32::from(u8::from(one))),
            Ground::BOOL => Expr::Bool(one),
            Ground::Vec(4, Elem::F) if !one => self.call("frag-coord", []),
            Ground::Vec(n, elem) => {
                let component = self.constant(Ground::Vec(1, elem), one);
                let components: Vec<ExprId> = (0..n).map(|_| self.push(component.clone())).collect();
                let kind = if elem == Elem::B { "bvec" } else { "vec" };
                self.call(&format!("{kind}{n}"), components)
            }
            Ground::Mat(n) => {
                let columns: Vec<ExprId> = (0..n)
                    .map(|column| {
                        let components: Vec<ExprId> =
                            (0..n).map(|row| self.push(Expr::Num(f32::from(u8::from(one && row == column))))).collect();
                        let column = self.call(&format!("vec{n}"), components);
                        self.push(column)
                    })
                    .collect();
                self.call(&format!("mat{n}"), columns)
            }
        }
    }

    /// A component of the pixel's coordinate. `z` is always 0. The others are positive.
    pub(super) fn varying(&mut self, component: &str) -> Expr {
        let frag_coord = self.call("frag-coord", []);
        let frag_coord = self.push(frag_coord);
        self.call(component, [frag_coord])
    }

    /// The simplest comparison of numbers with this result.
    pub(super) fn comparison(&mut self, truth: bool) -> Expr {
        let (a, b) = (self.push(Expr::Num(0.0)), self.push(Expr::Num(f32::from(u8::from(truth)))));
        self.call("less-than", [a, b])
    }

    /// One component of an expression in `vectors`, whose members all have the same size. Takes the
    /// component of the operands if that is simple. Unless `varying` is set, the pixel's coordinate
    /// becomes that of the first pixel.
    pub(super) fn project(&mut self, id: ExprId, component: &str, vectors: &FxHashSet<ExprId>, varying: bool) -> ExprId {
        deep(|| {
            let all = match form(&self.tree, id) {
                Form::Let(_, body) => {
                    let body = self.project(body, component, vectors, varying);
                    let all = items(&self.tree, id).to_vec();
                    return self.push(Expr::List(vec![all[0], all[1], body]));
                }
                Form::Call(all) => all,
                Form::Other | Form::Function { .. } => SmallVec::new(),
            };
            let place = COMPONENTS.iter().position(|name| *name == component).unwrap_or(0);
            let head = head(&self.tree, id).unwrap_or_default();
            let is_constructor = head.starts_with("vec") || head.starts_with("bvec");
            if is_constructor && let Some(&at) = all.get(place + 1) {
                return at;
            }
            if head == "frag-coord" && !varying {
                return self.push(Expr::Num([0.5, 0.5, 0.0, 1.0][place]));
            }
            // Operations on whole vectors. The other operations are component by component.
            let keeps_whole = ["", "cross", "normalize", "reflect", "frag-coord", "column", "rec"].contains(&head);
            if keeps_whole || all.iter().skip(1).all(|item| !vectors.contains(item)) {
                // A copy, since the result may replace the node `id`.
                let copy = self.push(self.tree.expr(id).clone());
                let projected = self.call(component, [copy]);
                return self.push(projected);
            }
            let part = |(i, &item): (usize, &ExprId)| match i > 0 && vectors.contains(&item) {
                true => self.project(item, component, vectors, varying),
                false => item,
            };
            let new_items: Vec<ExprId> = all.iter().enumerate().map(part).collect();
            self.push(Expr::List(new_items))
        })
    }

    /// An expression that a fragment shader can write, made of an expression of a type that it
    /// cannot write.
    pub(super) fn show(&mut self, id: ExprId, ty: Ground) -> Expr {
        match ty {
            Ground::Mat(_) => {
                let first = self.push(Expr::Num(0.0));
                self.call("column", [first, id])
            }
            Ground::Vec(n, _) => {
                let condition = match n {
                    1 => id,
                    _ => {
                        let any = self.call("any-of", [id]);
                        self.push(any)
                    }
                };
                let (one, zero) = (self.push(Expr::Num(1.0)), self.push(Expr::Num(0.0)));
                self.call("if", [condition, one, zero])
            }
        }
    }

    /// Turns vectors of `from` components, and matrices of `from` columns, into those of size `to`.
    /// Constructed values keep their first components.
    pub(super) fn narrow(&mut self, from: u8, to: u8) {
        for i in 0..self.tree.nodes.len() {
            let Some(head) = head(&self.tree, ExprId(i as u32)) else { continue };
            let kind = head.strip_suffix(char::from(b'0' + from)).filter(|kind| ["vec", "bvec", "mat"].contains(kind));
            let new_expr = match kind {
                Some(kind) => {
                    let kind = kind.to_string();
                    let components: Vec<ExprId> =
                        items(&self.tree, ExprId(i as u32)).iter().skip(1).take(usize::from(to)).copied().collect();
                    match (to, components.as_slice()) {
                        (1, &[only]) => self.tree.expr(only).clone(),
                        (1, _) => continue,
                        _ => self.call(&format!("{kind}{to}"), components),
                    }
                }
                None if head == "frag-coord" && from == 4 => self.constant(Ground::Vec(to, Elem::F), false),
                None => continue,
            };
            self.tree.nodes[i] = new_expr;
        }
    }

    /// A copy of the expression with names replaced, except where it binds them again. Names
    /// without a known expression stay.
    pub(super) fn substitute(&mut self, id: ExprId, binders: &[(Symbol, Option<ExprId>)]) -> ExprId {
        if binders.is_empty() {
            return id;
        }
        deep(|| match form(&self.tree, id) {
            Form::Other => {
                let found = name(&self.tree, id).and_then(|symbol| binders.iter().find(|b| b.0 == symbol));
                found.and_then(|b| b.1).unwrap_or(id)
            }
            Form::Let(pairs, body) => {
                let values: Vec<ExprId> = pairs.iter().map(|&(_, value)| self.substitute(value, binders)).collect();
                let inner: Binders = binders.iter().copied().filter(|b| pairs.iter().all(|p| p.0 != b.0)).collect();
                let new_body = self.substitute(body, &inner);
                if new_body == body && values.iter().zip(&pairs).all(|(value, pair)| *value == pair.1) {
                    return id;
                }
                let all = items(&self.tree, id).to_vec();
                let old_pairs = items(&self.tree, all[1]).to_vec();
                let new_pairs: Vec<ExprId> = old_pairs
                    .iter()
                    .zip(values)
                    .map(|(&pair, value)| {
                        let bound = items(&self.tree, pair)[0];
                        self.push(Expr::List(vec![bound, value]))
                    })
                    .collect();
                let list = self.push(Expr::List(new_pairs));
                self.push(Expr::List(vec![all[0], list, new_body]))
            }
            Form::Function { rec, params, body } => {
                let rec = rec.then(|| self.tree.symbols.intern("rec"));
                let inner: Binders = binders.iter().copied().filter(|b| !params.contains(&b.0) && Some(b.0) != rec).collect();
                let new_body = self.substitute(body, &inner);
                if new_body == body {
                    return id;
                }
                let all = items(&self.tree, id).to_vec();
                self.push(Expr::List(vec![all[0], all[1], new_body]))
            }
            Form::Call(all) => {
                let new_items: Vec<ExprId> = all.iter().map(|&item| self.substitute(item, binders)).collect();
                if new_items.as_slice() == all.as_slice() { id } else { self.push(Expr::List(new_items)) }
            }
        })
    }

    /// A copy of the expression in which each list that begins with `function` and has `count`
    /// arguments loses argument `i`.
    pub(super) fn drop_argument(&mut self, id: ExprId, function: Symbol, count: usize, i: usize) -> ExprId {
        let all = items(&self.tree, id).to_vec();
        if all.is_empty() {
            return id;
        }
        deep(|| {
            let mut new_items: Vec<ExprId> = all.iter().map(|&item| self.drop_argument(item, function, count, i)).collect();
            if name(&self.tree, all[0]) == Some(function) && all.len() == count + 1 {
                new_items.remove(i + 1);
            }
            if new_items == all { id } else { self.push(Expr::List(new_items)) }
        })
    }

    /// A copy of the list without item `i`.
    pub(super) fn without(&mut self, list: ExprId, i: usize) -> ExprId {
        let mut all = items(&self.tree, list).to_vec();
        all.remove(i);
        self.push(Expr::List(all))
    }

    /// The changed program as a tree. Each node occurs once, in the order of the printed text and
    /// with the spans of that text.
    pub(super) fn finish(&self) -> Tree {
        lay_out(&self.tree)
    }
}

/// A tree of the same program, with the spans of its printed text, and without unused nodes
/// and names.
pub fn lay_out(tree: &Tree) -> Tree {
    let mut out = Tree { symbols: Symbols::default(), ..Tree::default() };
    let mut symbols: Vec<Option<Symbol>> = vec![None; tree.symbols.len()];
    let mut at = 0;
    let mut number = String::new();
    for &root in &tree.roots {
        let root = write(tree, root, &mut out, &mut symbols, &mut at, &mut number);
        out.roots.push(root);
        at += 1;
        out.lines.push(at);
    }
    out
}

fn write(tree: &Tree, id: ExprId, out: &mut Tree, symbols: &mut [Option<Symbol>], at: &mut u32, number: &mut String) -> ExprId {
    let start = *at;
    let expr = match tree.expr(id) {
        Expr::Num(x) => {
            number.clear();
            print_number(*x, number);
            *at += number.len() as u32;
            Expr::Num(*x)
        }
        Expr::Bool(b) => {
            *at += if *b { 4 } else { 5 };
            Expr::Bool(*b)
        }
        Expr::Ident(symbol) => {
            let text = tree.symbols.name(*symbol);
            *at += text.len() as u32;
            Expr::Ident(*symbols[symbol.0 as usize].get_or_insert_with(|| out.symbols.intern(text)))
        }
        Expr::List(items) => {
            *at += 1;
            let mut written = Vec::with_capacity(items.len());
            for (i, &item) in items.iter().enumerate() {
                *at += u32::from(i > 0);
                written.push(deep(|| write(tree, item, out, symbols, at, number)));
            }
            *at += 1;
            Expr::List(written)
        }
    };
    out.push(expr, Span { start, end: *at })
}
