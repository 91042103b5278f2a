//! Programs under construction. Nodes are plain data and names are numbers, so nodes are cheap. A
//! finished draft becomes a [`Tree`] whose spans are those of its printed text.

use smallstep_semantics::lambda_v::builtin::{Builtin, TABLE};
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Symbol, Tree, print_number};

/// An identifier: a form, a builtin, or one of [`PLAIN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) u16);

/// The forms. They have the first numbers.
const FORMS: [&str; 7] = ["if", "rec", "let", "func", "rec-func", "define", "output"];
/// Names without a predefined meaning. They come after the builtins.
const PLAIN: [&str; 23] =
    ["a", "b", "c", "d", "p", "q", "r", "s", "t", "u", "v", "k", "f", "g", "h", "acc", "sum", "n", "i", "j", "again", "loop", "nowhere"];

impl Name {
    pub(super) const IF: Name = Name(0);
    pub(super) const REC: Name = Name(1);
    pub(super) const LET: Name = Name(2);
    pub(super) const FUNC: Name = Name(3);
    pub(super) const REC_FUNC: Name = Name(4);
    pub(super) const DEFINE: Name = Name(5);
    pub(super) const OUTPUT: Name = Name(6);

    pub(super) fn builtin(builtin: Builtin) -> Name {
        Name(FORMS.len() as u16 + u16::from(builtin.0))
    }

    fn plain(i: usize) -> Name {
        Name((FORMS.len() + TABLE.len() + i) as u16)
    }

    /// A name for values.
    pub(super) fn of_value(i: u32) -> Name {
        Name::plain(i as usize % 12)
    }

    /// A name for functions.
    pub(super) fn of_function(i: u32) -> Name {
        Name::plain(12 + i as usize % 3)
    }

    /// A name for accumulators of loops.
    pub(super) fn of_accumulator(i: u32) -> Name {
        Name::plain(15 + i as usize % 2)
    }

    /// A name for counters of loops.
    pub(super) fn of_counter(i: u32) -> Name {
        Name::plain(17 + i as usize % 3)
    }

    /// A name for `rec`.
    pub(super) fn of_rec(i: u32) -> Name {
        Name::plain(20 + i as usize % 2)
    }

    /// A name that nothing binds.
    pub(super) fn unbound() -> Name {
        Name::plain(22)
    }

    /// The form or builtin with this number, modulo their count.
    pub(super) fn predefined(i: u32) -> Name {
        Name((i as usize % (FORMS.len() + TABLE.len())) as u16)
    }

    /// The number of forms and builtins.
    pub(super) fn predefined_count() -> usize {
        FORMS.len() + TABLE.len()
    }

    /// The number of names.
    pub(super) fn count() -> usize {
        FORMS.len() + TABLE.len() + PLAIN.len()
    }

    pub(super) fn is_predefined(self) -> bool {
        (self.0 as usize) < Name::predefined_count()
    }

    pub(super) fn text(self) -> &'static str {
        let i = self.0 as usize;
        if i < FORMS.len() {
            FORMS[i]
        } else if i < Name::predefined_count() {
            TABLE[i - FORMS.len()].name
        } else {
            PLAIN[i - Name::predefined_count()]
        }
    }
}

/// The index of a node of a [`Draft`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(u32);

#[derive(Clone, Copy, Debug)]
enum Node {
    Num(f32),
    Bool(bool),
    Name(Name),
    /// A list, by the index of its first item and the number of items.
    List(u32, u32),
}

/// The nodes of a program under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    nodes: Vec<Node>,
    items: Vec<Id>,
}

impl Draft {
    /// An empty draft with room for about this number of nodes.
    pub(super) fn with_room(nodes: u32) -> Draft {
        Draft { nodes: Vec::with_capacity(nodes as usize * 2), items: Vec::with_capacity(nodes as usize * 2) }
    }

    fn push(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() as u32 - 1)
    }

    pub(super) fn num(&mut self, x: f32) -> Id {
        self.push(Node::Num(x))
    }

    pub(super) fn bool(&mut self, b: bool) -> Id {
        self.push(Node::Bool(b))
    }

    pub(super) fn name(&mut self, name: Name) -> Id {
        self.push(Node::Name(name))
    }

    pub(super) fn list(&mut self, items: &[Id]) -> Id {
        let start = self.items.len() as u32;
        self.items.extend_from_slice(items);
        self.push(Node::List(start, items.len() as u32))
    }

    /// `(name items…)`
    pub(super) fn call(&mut self, name: Name, items: &[Id]) -> Id {
        let head = self.name(name);
        let start = self.items.len() as u32;
        self.items.push(head);
        self.items.extend_from_slice(items);
        self.push(Node::List(start, items.len() as u32 + 1))
    }

    /// `(head items…)`
    pub(super) fn apply(&mut self, head: Id, items: &[Id]) -> Id {
        let start = self.items.len() as u32;
        self.items.push(head);
        self.items.extend_from_slice(items);
        self.push(Node::List(start, items.len() as u32 + 1))
    }

    /// Whether a node is part of the program with these top-level expressions.
    pub(super) fn contains(&self, roots: &[Id], id: Id) -> bool {
        let mut todo = roots.to_vec();
        while let Some(next) = todo.pop() {
            if next == id {
                return true;
            }
            todo.extend(self.items(next).unwrap_or_default());
        }
        false
    }

    /// The number of nodes, used or not.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The items of a list. `None` for other nodes.
    pub(super) fn items(&self, id: Id) -> Option<&[Id]> {
        match self.nodes[id.0 as usize] {
            Node::List(start, len) => Some(&self.items[start as usize..(start + len) as usize]),
            _ => None,
        }
    }

    /// The tree of the program with these top-level expressions. It has the spans of its
    /// printed text.
    pub(super) fn finish(&self, roots: &[Id]) -> Tree {
        let mut tree = Tree::default();
        tree.nodes.reserve(self.nodes.len());
        tree.spans.reserve(self.nodes.len());
        let mut layout = Layout { draft: self, tree, at: 0, symbols: vec![None; Name::count()], number: String::new() };
        for &root in roots {
            let root = layout.write(root);
            layout.tree.roots.push(root);
            layout.at += 1;
            layout.tree.lines.push(layout.at);
        }
        layout.tree
    }
}

struct Layout<'a> {
    draft: &'a Draft,
    tree: Tree,
    /// The length of the text that was printed so far.
    at: u32,
    symbols: Vec<Option<Symbol>>,
    number: String,
}

impl Layout<'_> {
    /// Drafts are at most a few hundred nodes deep, so recursion is safe.
    fn write(&mut self, id: Id) -> ExprId {
        let start = self.at;
        let expr = match self.draft.nodes[id.0 as usize] {
            Node::Num(x) => {
                self.number.clear();
                print_number(x, &mut self.number);
                self.at += self.number.len() as u32;
                Expr::Num(x)
            }
            Node::Bool(b) => {
                self.at += if b { 4 } else { 5 };
                Expr::Bool(b)
            }
            Node::Name(name) => {
                self.at += name.text().len() as u32;
                let symbol = &mut self.symbols[name.0 as usize];
                Expr::Ident(*symbol.get_or_insert_with(|| self.tree.symbols.intern(name.text())))
            }
            Node::List(first, len) => {
                let draft = self.draft;
                let items = &draft.items[first as usize..(first + len) as usize];
                self.at += 1;
                let mut written = Vec::with_capacity(items.len());
                for (i, &item) in items.iter().enumerate() {
                    self.at += u32::from(i > 0);
                    written.push(self.write(item));
                }
                self.at += 1;
                Expr::List(written)
            }
        };
        self.tree.push(expr, Span { start, end: self.at })
    }
}
