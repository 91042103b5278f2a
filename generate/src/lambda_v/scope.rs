//! The bindings that are in scope.

use super::draft::Name;
use super::range::Range;
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::Ground;
use smallvec::SmallVec;

/// The type of a parameter or result: a value type, or the number of a function's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Value(Ground),
    Function(u16),
}

/// The type of a function. λV has no function types. The generator uses its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) params: SmallVec<[Ty; 4]>,
    pub(super) result: Ty,
}

/// The cost by name of an application: the cost of the body, and how often it evaluates
/// each argument.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) body: u64,
    pub(super) uses: [u32; 4],
}

/// A function that works for any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    /// `(func (a) a)`
    Identity,
    /// `(func (a b) a)`
    First,
    /// `(func (f a) (f a))`
    Apply,
    /// `(func (f) (func (a b) (f b a)))`
    Flip,
    /// `(func (f g) (func (a) (f (g a))))`
    Compose,
    /// `(func (f a) (f (f a)))`
    Twice,
}

impl Combinator {
    pub(super) const ALL: [Combinator; 6] =
        [Combinator::Identity, Combinator::First, Combinator::Apply, Combinator::Flip, Combinator::Compose, Combinator::Twice];
}

/// The kind of value that a name is bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A value, by its type, its range, and the cost of each use.
    Value(Ground, Range, u64),
    /// A function, by the number of its signature.
    Function(u16, Cost),
    /// A function that works for any type.
    Combinator(Combinator),
    /// A builtin.
    Builtin(Builtin),
    /// `if`.
    If,
    /// `rec` of the loop with this number.
    Rec(u32),
    /// A binding that cannot be used.
    Unused,
}

/// One bound name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) kind: Kind,
    /// Whether no inner binding has the same name.
    pub(super) visible: bool,
    /// The number of uses so far.
    pub(super) uses: u32,
}

/// The bindings in scope. The innermost is last.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) bindings: Vec<Binding>,
    /// The number of bindings that hide each predefined name.
    hiding: Vec<u8>,
}

impl Scope {
    pub(super) fn new() -> Scope {
        Scope { bindings: Vec::with_capacity(16), hiding: vec![0; Name::predefined_count()] }
    }

    /// Binds a name.
    pub(super) fn push(&mut self, name: Name, kind: Kind) {
        if let Some(outer) = self.bindings.iter_mut().rev().find(|b| b.visible && b.name == name) {
            outer.visible = false;
        }
        if name.is_predefined() {
            self.hiding[name.0 as usize] += 1;
        }
        self.bindings.push(Binding { name, kind, visible: true, uses: 0 });
    }

    /// Removes all bindings except for the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.bindings.len() > len {
            let Some(removed) = self.bindings.pop() else { return };
            if removed.name.is_predefined() {
                self.hiding[removed.name.0 as usize] -= 1;
            }
            if let Some(outer) = self.bindings.iter_mut().rev().find(|b| b.name == removed.name) {
                outer.visible = true;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    /// Whether the predefined name is not hidden here.
    pub(super) fn means_itself(&self, name: Name) -> bool {
        self.hiding[name.0 as usize] == 0
    }

    /// Whether the builtin's name is not hidden here.
    pub(super) fn has(&self, builtin: Builtin) -> bool {
        self.means_itself(Name::builtin(builtin))
    }

    /// Whether the name is bound.
    pub(super) fn binds(&self, name: Name) -> bool {
        self.bindings.iter().any(|b| b.name == name)
    }

    /// The positions of the visible bindings that `accepts` accepts.
    pub(super) fn visible(&self, mut accepts: impl FnMut(&Kind) -> bool) -> SmallVec<[u16; 16]> {
        let bindings = self.bindings.iter().enumerate();
        bindings.filter(|(_, b)| b.visible && accepts(&b.kind)).map(|(i, _)| i as u16).collect()
    }
}
