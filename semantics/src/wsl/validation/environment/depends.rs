//! Dependencies between types: seed 004 "Resolving typedefs".
//!
//! A typedef depends on the types that its definition names. A structure depends on the types that
//! the types of its fields name. Names under pointers, arrays and typedefs count too (WSL-C14). The
//! walk keeps its own stack, so a long chain costs only memory. Typedefs are resolved in the order
//! in which the walk leaves them.

use super::resolve::Place;
use super::{Builder, TypeDefinition};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Decl, Ident};
use crate::wsl::error::Error;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq)]
enum Color {
    White,
    Grey,
    Black,
}

struct Node {
    name: Ident,
    /// The type names in its definition, and where they are written.
    names: Vec<(Symbol, Span)>,
    color: Color,
}

impl Builder<'_> {
    /// Reports cycles and resolves typedefs.
    pub(super) fn follow_dependencies(&mut self) {
        let mut nodes: Vec<Node> = Vec::new();
        let mut index: FxHashMap<Symbol, usize> = FxHashMap::default();
        for decl in &self.core.decls {
            let (name, types): (Ident, Vec<core::TypeExprId>) = match decl {
                Decl::Typedef(name, ty) => (*name, vec![*ty]),
                Decl::Struct(name, fields) => (*name, fields.iter().map(|f| f.ty).collect()),
                Decl::Enum(_) | Decl::Function(_) => continue,
            };
            let mut names = Vec::new();
            types.into_iter().for_each(|ty| mentioned(self.core, ty, &mut names));
            if let std::collections::hash_map::Entry::Vacant(vacant) = index.entry(name.name) {
                vacant.insert(nodes.len());
                nodes.push(Node { name, names, color: Color::White });
            }
        }
        for root in 0..nodes.len() {
            if nodes[root].color != Color::White {
                continue;
            }
            // Each frame is a node and the number of its names that have been followed.
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            nodes[root].color = Color::Grey;
            while let Some(&mut (at, ref mut next)) = path.last_mut() {
                let Some(&(name, span)) = nodes[at].names.get(*next) else {
                    nodes[at].color = Color::Black;
                    path.pop();
                    self.leave(nodes[at].name);
                    continue;
                };
                *next += 1;
                let Some(&to) = index.get(&name) else { continue };
                match nodes[to].color {
                    Color::White => {
                        nodes[to].color = Color::Grey;
                        path.push((to, 0));
                    }
                    Color::Black => {}
                    Color::Grey => {
                        let start = path.iter().position(|(n, _)| *n == to).unwrap_or(0);
                        let cycle: Vec<Ident> = path[start..].iter().map(|(n, _)| nodes[*n].name).collect();
                        v_depends_cycle(self, &cycle, span);
                    }
                }
            }
        }
        self.fired.note(Rule::WslVDependsCycle);
    }

    /// Resolves `name` if it is a typedef. All types that it depends on are known.
    fn leave(&mut self, name: Ident) {
        if let Some(TypeDefinition::Typedef(i)) = self.env.type_names.get(&name.name).copied() {
            let written = self.env.typedefs[i as usize].written;
            let ty = self.resolve(written, Place::Typedef);
            self.env.typedefs[i as usize].ty = ty;
        }
    }
}

fn mentioned(core: &core::Program, ty: core::TypeExprId, out: &mut Vec<(Symbol, Span)>) {
    let mut todo = vec![ty];
    while let Some(ty) = todo.pop() {
        let written = core.ty(ty);
        out.push((written.name.name, written.name.span));
        for argument in written.arguments.iter().flatten() {
            if let core::TypeArgument::Type(ty) = argument {
                todo.push(*ty);
            }
        }
    }
}

/// no typedef or structure depends on itself
///                                           [wsl/v-depends-cycle, 004 Resolving typedefs; WSL-C14]
///
/// The definitions of the types in a cycle are marked as wrong, so that nothing else is reported
/// of them.
pub fn v_depends_cycle(b: &mut Builder, cycle: &[Ident], span: Span) {
    let names: Vec<&str> = cycle.iter().chain(cycle.first()).map(|n| b.env.names.name(n.name)).collect();
    let shown =
        if names.len() > 8 { format!("{} → … → {}", names[..6].join(" → "), names[names.len() - 1]) } else { names.join(" → ") };
    let message = format!("these types depend on each other: {shown}; the rule needs that no type depends on itself");
    b.errors.push(Error::new(Rule::WslVDependsCycle, span, message));
    for name in cycle {
        b.env.type_names.insert(name.name, TypeDefinition::Wrong);
    }
}
