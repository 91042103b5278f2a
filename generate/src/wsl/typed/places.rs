//! Variables and places inside of them: fields, elements, pointees, swizzles, and the program's
//! own accessors.

use super::{Accessor, Expression, Generator, Kind, Level, Variable};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Type, TypeId};
use smallvec::SmallVec;
use std::rc::Rc;

/// The required use of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Its value is read.
    Value,
    /// It is assigned to.
    Assignable,
    /// Its address is taken, in this space.
    Address(AddressSpace),
}

impl Generator {
    /// Whether a place of this kind permits the use.
    pub(super) fn is_wanted(&self, want: Want, kind: Kind) -> bool {
        match want {
            Want::Value => true,
            Want::Assignable => match kind {
                Kind::Left(space) => self.stores_in(space),
                Kind::Abstract => true,
                Kind::Right => false,
            },
            Want::Address(space) => kind == Kind::Left(space),
        }
    }
}

/// The name after a dot.
enum Name {
    Of(Rc<str>),
    /// Components of a vector: their indices, and the number of letters.
    Letters([usize; 4], usize),
}

impl Name {
    fn append_to(&self, text: &mut String) {
        match self {
            Name::Of(name) => text.push_str(name),
            Name::Letters(all, count) => text.extend(all[..*count].iter().map(|&letter| ['x', 'y', 'z', 'w'][letter])),
        }
    }
}

/// A step from a place to another.
enum Step {
    /// `.f`, with its type, the spaces of its address-takers as bits, and whether it has a setter.
    Field(Name, TypeId, u8, bool),
    /// `[i]`, with the same data.
    Index(TypeId, u8, bool),
    /// `*e`
    Dereference(AddressSpace, TypeId),
    /// `e->f`
    Arrow(AddressSpace, TypeId),
    /// `e[i]` of an array reference.
    Element(AddressSpace, TypeId),
    /// `.length`
    Length,
}

type Steps = SmallVec<[Step; 8]>;

const EVERYWHERE: u8 = 0b1111;

impl Generator {
    /// The variables that no other variable of the same name hides.
    pub(super) fn visible(&self) -> Vec<Variable> {
        let frames = &self.frames[..self.limit.min(self.frames.len())];
        let count = frames.iter().map(|frame| frame.variables.len()).sum();
        let mut seen = rustc_hash::FxHashSet::with_capacity_and_hasher(count, rustc_hash::FxBuildHasher);
        let mut out = Vec::with_capacity(count);
        for frame in frames.iter().rev() {
            for v in frame.variables.iter().rev() {
                if seen.insert(&*v.name) {
                    out.push(v.clone());
                }
            }
        }
        out
    }

    fn accessor(&self, a: &Accessor) -> Option<Step> {
        if !self.flavour.calls(a.flavour) {
            return None;
        }
        // An address-taker for thread memory gives a getter and a setter.
        let setter = a.setter || a.takers & (1 << AddressSpace::Thread as u8) != 0;
        Some(match &a.field {
            Some(f) => Step::Field(Name::Of(f.clone()), a.ty, a.takers, setter),
            None => Step::Index(a.ty, a.takers, setter),
        })
    }

    /// Whether the accessor works on a value of this kind, by an address-taker or by a getter.
    fn accessor_works(&self, a: &Accessor, kind: Kind) -> bool {
        let taker = matches!(kind, Kind::Left(space) if a.takers & (1 << space as u8) != 0);
        taker || a.getter || a.takers & (1 << AddressSpace::Thread as u8) != 0
    }

    fn steps(&mut self, from: &Expression) -> Steps {
        let mut out = Steps::new();
        match self.ty(from.ty) {
            Type::Struct(s) => {
                out.extend(self.structs[s.0 as usize].fields.iter().map(|(f, ty)| Step::Field(Name::Of(f.clone()), *ty, EVERYWHERE, true)));
            }
            Type::Array(element, _) => {
                out.push(Step::Index(element, EVERYWHERE, true));
                out.push(Step::Length);
            }
            Type::Pointer(space, to) => {
                out.push(Step::Dereference(space, to));
                if matches!(self.ty(to), Type::Struct(_) | Type::Vector(..)) {
                    out.push(Step::Arrow(space, to));
                }
            }
            Type::ArrayReference(space, element) => {
                out.push(Step::Element(space, element));
                out.push(Step::Length);
            }
            Type::Vector(s, n) => {
                let letters = 1 + self.below(4);
                let mut components = [0; 4];
                components[..letters].fill_with(|| self.below(n.into()));
                let distinct = (0..letters).all(|i| !components[..i].contains(&components[i]));
                let swizzle_type = if letters == 1 { TypeId::scalar(s) } else { TypeId::vector(s, letters as u8) };
                out.push(Step::Field(Name::Letters(components, letters), swizzle_type, 0, distinct));
                let letter = self.below(n.into());
                out.push(Step::Field(Name::Letters([letter; 4], 1), TypeId::scalar(s), 0, true));
                out.push(Step::Index(TypeId::scalar(s), 0, true));
                out.push(Step::Length);
            }
            Type::Matrix(s, _, rows) => out.push(Step::Index(TypeId::vector(s, rows), 0, true)),
            _ => {}
        }
        let accessors = self.accessors.iter().filter(|a| a.owner == from.ty && self.accessor_works(a, from.kind));
        out.extend(accessors.filter_map(|a| self.accessor(a)));
        out
    }

    /// The access of an expression by one of the program's accessors, if it works on
    /// that expression.
    pub(super) fn access_by(&mut self, from: &Expression, a: &Accessor) -> Option<Expression> {
        if !self.accessor_works(a, from.kind) {
            return None;
        }
        let step = self.accessor(a)?;
        Some(self.apply_step(from.clone(), step))
    }

    fn apply_step(&mut self, from: Expression, step: Step) -> Expression {
        let level = if from.level == Level::Call { Level::Call } else { Level::Suffix };
        let base_kind = from.kind;
        let stores = match base_kind {
            Kind::Left(space) => self.stores_in(space),
            Kind::Abstract => true,
            Kind::Right => false,
        };
        let part_of = |ty: TypeId, takers: u8, setter: bool, text: String| {
            let kind = match base_kind {
                Kind::Left(space) if takers & (1 << space as u8) != 0 => Kind::Left(space),
                _ if !stores => Kind::Right,
                _ => {
                    if setter {
                        Kind::Abstract
                    } else {
                        Kind::Right
                    }
                }
            };
            Expression::new(text, level, kind, ty)
        };
        let dereferenced = |from: Expression, space: AddressSpace, to: TypeId| {
            Expression::new(format!("*{}", from.into_text(Level::Prefix)), Level::Prefix, Kind::Left(space), to)
        };
        match step {
            Step::Field(f, ty, takers, setter) => {
                let mut text = from.into_text(Level::Call);
                text.push('.');
                f.append_to(&mut text);
                part_of(ty, takers, setter, text)
            }
            Step::Index(ty, takers, setter) => part_of(ty, takers, setter, self.index_text(from)),
            Step::Dereference(space, to) => dereferenced(from, space, to),
            Step::Arrow(space, to) => {
                let whole = Expression::new(String::new(), level, Kind::Left(space), to);
                let steps: Steps = self.steps(&whole).into_iter().filter(|s| matches!(s, Step::Field(..))).collect();
                let n = steps.len();
                if n == 0 {
                    return dereferenced(from, space, to);
                }
                let at = self.below(n);
                let Some(Step::Field(f, ty, takers, setter)) = steps.into_iter().nth(at) else { unreachable!("only fields are left") };
                let kind = if takers & (1 << space as u8) != 0 {
                    Kind::Left(space)
                } else if setter && self.stores_in(space) {
                    Kind::Abstract
                } else {
                    Kind::Right
                };
                let mut text = from.into_text(Level::Call);
                text.push_str("->");
                f.append_to(&mut text);
                Expression::new(text, level, kind, ty)
            }
            Step::Element(space, element) => Expression::new(self.index_text(from), level, Kind::Left(space), element),
            Step::Length => {
                let mut text = from.into_text(Level::Call);
                text.push_str(".length");
                Expression::new(text, level, Kind::Right, TypeId::UINT)
            }
        }
    }

    /// `e[i]`
    fn index_text(&mut self, e: Expression) -> String {
        let mut text = e.into_text(Level::Call);
        text.push('[');
        text.push_str(&self.index());
        text.push(']');
        text
    }

    /// An index: a `uint`, or a literal that takes that type.
    pub(super) fn index(&mut self) -> String {
        if self.makes_fault(super::Fault::IndexType, smallstep_semantics::rule::Rule::WslTArrayRefIndex) {
            let e = self.value_or_basic(TypeId::INT);
            return format!("int({})", e.at(Level::Ternary));
        }
        self.fuel -= 1;
        if self.fuel > 0 && self.one_in(4) {
            return self.value_or_basic(TypeId::UINT).text;
        }
        self.integer(0, 9).0
    }

    pub(super) fn variable(v: &Variable) -> Expression {
        Expression::new(&*v.name, Level::Suffix, Kind::Left(v.space), v.ty)
    }

    /// A place of the type, by a random path from a visible variable.
    pub(super) fn place(&mut self, ty: TypeId, want: Want) -> Option<Expression> {
        let variables = self.visible();
        if variables.is_empty() {
            return None;
        }
        for _ in 0..8 {
            if let Some(e) = self.attempt(|g| g.walk(&variables, ty, want)) {
                return Some(e);
            }
        }
        let candidates: Vec<Variable> = variables.into_iter().filter(|v| v.ty == ty && self.is_wanted(want, Kind::Left(v.space))).collect();
        if candidates.is_empty() { None } else { Some(Generator::variable(&self.pick(&candidates))) }
    }

    /// A value that is no variable, of a type with parts.
    fn start_value(&mut self) -> Option<Expression> {
        self.fuel -= 5;
        let mut ty = self.value_type(1);
        if self.one_in(4) {
            ty = self.pointer(AddressSpace::Thread, ty);
        }
        let e = self.value(ty, 1)?;
        Some(if self.one_in(3) { self.in_parens(e) } else { e })
    }

    fn walk(&mut self, variables: &[Variable], ty: TypeId, want: Want) -> Option<Expression> {
        let mut at = if self.fuel > 0 && self.one_in(8) { self.start_value()? } else { Generator::variable(&self.pick(variables)) };
        for _ in 0..4 {
            if at.ty == ty && self.is_wanted(want, at.kind) && !self.one_in(4) {
                return Some(at);
            }
            let steps = self.steps(&at);
            if steps.is_empty() {
                break;
            }
            let i = self.below(steps.len());
            let step = steps.into_iter().nth(i)?;
            at = self.apply_step(at, step);
            if self.one_in(12) {
                at = self.in_parens(at);
            }
        }
        (at.ty == ty && self.is_wanted(want, at.kind)).then_some(at)
    }

    /// A place of the type. If there is none, a variable is declared before the statement.
    pub(super) fn place_or_new(&mut self, ty: TypeId, want: Want) -> Option<Expression> {
        if let Some(e) = self.place(ty, want) {
            return Some(e);
        }
        match want {
            Want::Value | Want::Assignable | Want::Address(AddressSpace::Thread) => self.declare(ty, AddressSpace::Thread),
            Want::Address(AddressSpace::Threadgroup) if self.flavour == super::Flavour::Compute => {
                self.declare(ty, AddressSpace::Threadgroup)
            }
            Want::Address(_) => None,
        }
    }

    /// A new variable. It is declared in the innermost block, before the current statement.
    fn declare(&mut self, ty: TypeId, space: AddressSpace) -> Option<Expression> {
        if self.is_opaque(ty) || ty == TypeId::VOID || space == AddressSpace::Threadgroup && self.is_reference(ty) {
            return None;
        }
        let at = self.frames.iter().rposition(|f| f.pending.is_some())?;
        // The initialising expression stands in the block, so variables of the current statement
        // are not visible in it. It may need variables that are declared before it. It stays if the
        // statement is left out, so it gets no faults.
        let (limit, fault) = (std::mem::replace(&mut self.limit, at + 1), self.fault.take());
        let value = if self.is_reference(ty) { self.reference(ty, 0) } else { None };
        (self.limit, self.fault) = (limit, fault);
        if self.is_reference(ty) && value.is_none() {
            return None;
        }
        let name = self.fresh("n");
        let is_threadgroup = space == AddressSpace::Threadgroup;
        let written = self.type_text_with(ty, !is_threadgroup);
        let mut text = if is_threadgroup { format!("threadgroup {written} {name}") } else { format!("{written} {name}") };
        if let Some(value) = value {
            text.push_str(&format!(" = {}", value.at(Level::Ternary)));
        }
        let v = Variable { name: name.into(), ty, space };
        let e = Generator::variable(&v);
        let frame = &mut self.frames[at];
        frame.pending.as_mut()?.push(format!("{text};"));
        frame.variables.push(v);
        Some(e)
    }
}
