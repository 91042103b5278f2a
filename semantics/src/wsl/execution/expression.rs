//! Expressions: seed 004 "Operations affecting control-flow", "Variables", "Pointers and
//! references", "Arrays", "Dot operator", "Other".

use super::term::{Env, Expr, Form};
use super::{Cx, Done, Stop};
use crate::rule::Rule;
use crate::text::deep;
use crate::wsl::memory::{Address, Words};
use crate::wsl::open::Word;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form as Typed};

impl Form {
    /// The words of a value, to be changed.
    pub(super) fn words_mut(&mut self) -> Option<&mut Words> {
        match self {
            Form::Value(words) => Some(words),
            _ => None,
        }
    }
}

impl Cx<'_, '_> {
    /// In the context of a rule.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn within(&mut self, rule: Rule, f: impl FnOnce(&mut Self) -> Done) -> Done {
        self.within.push(rule);
        f(self)
    }

    /// In another environment.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn in_env(&mut self, env: Env, f: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = std::mem::replace(&mut self.env, env);
        let done = f(self);
        self.env = outer;
        done
    }

    /// An expression of the source that is not reached yet; a literal is a value.
    pub(super) fn source(&self, id: ExprId) -> Expr {
        super::source(self.program(), id)
    }

    /// One level of an expression of the source.
    pub(super) fn open(&self, e: &mut Expr) {
        let Form::Source(id) = e.form else { return };
        let program = self.program();
        let one = |e: ExprId| Box::new(self.source(e));
        let two = |a: ExprId, b: ExprId| Box::new([self.source(a), self.source(b)]);
        e.form = match &program.expr(id).form {
            Typed::Constant(c) => Form::Value(Words::from_slice(&[Word::Bits(super::constant(program, *c, e.ty))])),
            Typed::Variable(store) => Form::Variable(*store),
            Typed::Coerce(coercion, e) => Form::Coerce(*coercion, one(*e)),
            Typed::Parens(e) => Form::Parens(one(*e)),
            Typed::Comma(a, b) => Form::Comma(two(*a, *b)),
            Typed::Or(a, b) => Form::Or(two(*a, *b)),
            Typed::And(a, b) => Form::And(two(*a, *b)),
            Typed::Ternary(a, b, c) => Form::Ternary(Box::new([self.source(*a), self.source(*b), self.source(*c)])),
            Typed::Assign(a, b) => Form::Assign(two(*a, *b)),
            Typed::AddressOf(e) => Form::AddressOf(one(*e)),
            Typed::Dereference(e) => Form::Dereference(one(*e)),
            Typed::MakeReference(e, n) => Form::MakeReference(one(*e), n.unwrap_or(1)),
            Typed::Dot(e, _, access) => Form::Dot(one(*e), *access),
            Typed::Index(a, b, access) => Form::Index(two(*a, *b), *access),
            Typed::Element(a, b) => Form::Element(two(*a, *b)),
            Typed::ArrayLength(e, n) => Form::ArrayLength(one(*e), *n),
            Typed::ReferenceLength(e) => Form::ReferenceLength(one(*e)),
            Typed::Step(_, _, e, callee, store) => Form::Step(one(*e), *callee, *store),
            // The second operand of the operator is the expression; its first is the target,
            // loaded.
            Typed::CompoundAssign(callee, a, b) => Form::CompoundAssign(*callee, two(*a, *b)),
            Typed::Call(callee, range) => Form::Call(*callee, program.arguments(range).iter().map(|&e| self.source(e)).collect()),
        };
    }

    /// ρ ⊢ e → e', where e is used as a right-value.
    ///
    /// # Errors
    /// Why there is no such step.
    pub fn expr(&mut self, e: &mut Expr) -> Done {
        deep(|| self.expr_of(e))
    }

    fn expr_of(&mut self, e: &mut Expr) -> Done {
        self.open(e);
        self.at = e.at;
        match &e.form {
            Form::Value(_) => self.stuck("a value makes no step"),
            Form::Source(_) => self.stuck("an expression was not reached"),
            Form::Left(_) => self.stuck("a left-value is used where a right-value is needed"),
            Form::Variable(_) => self.apply(Rule::WslEVariable, e_variable, e),
            Form::Coerce(coercion, _) => match coercion {
                Coercion::LeftToRight | Coercion::LeftToAbstract => self.load_of(e),
                Coercion::AbstractToRight => self.get(e),
            },
            Form::Parens(_) => self.apply(Rule::WslEParensExec, e_parens_exec, e),
            Form::Comma(parts) => match parts[0].words() {
                Some(_) => self.apply(Rule::WslECommaNext, e_comma_next, e),
                None => self.apply(Rule::WslECommaReduce, e_comma_reduce, e),
            },
            Form::And(parts) => match parts[0].words().cloned() {
                None => self.apply(Rule::WslEAndReduce, e_and_reduce, e),
                Some(words) => match self.truth(&words)? {
                    false => self.apply(Rule::WslEAndFalse, e_and_false, e),
                    true => self.apply(Rule::WslEAndTrue, e_and_true, e),
                },
            },
            Form::Or(parts) => match parts[0].words().cloned() {
                None => self.apply(Rule::WslEOrReduce, e_or_reduce, e),
                Some(words) => match self.truth(&words)? {
                    true => self.apply(Rule::WslEOrTrue, e_or_true, e),
                    false => self.apply(Rule::WslEOrFalse, e_or_false, e),
                },
            },
            Form::Ternary(parts) => match parts[0].words().cloned() {
                None => self.apply(Rule::WslETernaryReduce, e_ternary_reduce, e),
                Some(words) => match self.truth(&words)? {
                    true => self.apply(Rule::WslETernaryTrue, e_ternary_true, e),
                    false => self.apply(Rule::WslETernaryFalse, e_ternary_false, e),
                },
            },
            Form::Assign(_) => self.assign(e),
            Form::AddressOf(inner) => match inner.left() {
                Some(_) => self.apply(Rule::WslETakePtrLval, e_take_ptr_lval, e),
                None => self.apply(Rule::WslETakePtrReduce, e_take_ptr_reduce, e),
            },
            Form::Dereference(inner) => match inner.words() {
                Some(_) => self.apply(Rule::WslEDerefPtr, e_deref_ptr, e),
                None => self.apply(Rule::WslEDerefReduce, e_deref_reduce, e),
            },
            Form::MakeReference(inner, _) => match inner.left() {
                Some(_) => self.apply(Rule::WslEMakeRefLval, e_make_ref_lval, e),
                None => self.apply(Rule::WslEMakeRefReduce, e_make_ref_reduce, e),
            },
            Form::Dot(..) => match e_dot_reduce(self, e)? {
                true => Ok(()),
                false => self.apply(Rule::WslEDotGetter, e_dot_getter, e),
            },
            Form::Index(..) | Form::Element(_) => match e_array_deref_reduce(self, e)? {
                true => Ok(()),
                false => self.apply(Rule::WslEArrayDerefGetter, e_array_deref_getter, e),
            },
            Form::ArrayLength(..) => self.apply(Rule::WslEArrayLength, e_array_length, e),
            Form::ReferenceLength(_) => self.apply(Rule::WslEReferenceLength, e_reference_length, e),
            Form::Step(_, _, store) => match store {
                None => self.prefix(e),
                Some(_) => self.postfix(e),
            },
            Form::CompoundAssign(..) => self.compound(e),
            Form::Call(..) => self.call(e),
            Form::Construct(_) => self.construct(e),
        }
    }

    /// A left-value as what it holds: its expression is reduced to one first.
    fn load_of(&mut self, e: &mut Expr) -> Done {
        let Form::Coerce(_, inner) = &mut e.form else { return self.stuck("no load") };
        self.open(inner);
        let reduced = match inner.form {
            Form::Left(_) => return self.apply(Rule::WslELoad, e_load, e),
            Form::Dot(..) => e_dot_reduce(self, inner)?,
            Form::Index(..) | Form::Element(_) => e_array_deref_reduce(self, inner)?,
            _ => return self.expr(inner),
        };
        if reduced { Ok(()) } else { self.stuck("what is loaded does not reduce to a left-value") }
    }

    /// An abstract left-value as a right-value: reduced to one, and got.
    fn get(&mut self, e: &mut Expr) -> Done {
        let Form::Coerce(_, inner) = &mut e.form else { return self.stuck("no getter") };
        self.open(inner);
        if let Form::Parens(_) = inner.form {
            return self.apply(Rule::WslEParensExec, e_parens_exec, inner);
        }
        let index = matches!(inner.form, Form::Index(..));
        if if index { e_array_deref_reduce(self, inner)? } else { e_dot_reduce(self, inner)? } {
            return Ok(());
        }
        *e = inner.take();
        match index {
            true => self.apply(Rule::WslEArrayDerefGetter, e_array_deref_getter, e),
            false => self.apply(Rule::WslEDotGetter, e_dot_getter, e),
        }
    }
}

/// x → LVal(ρ(x)) [wsl/e-variable, 004 Variables]
pub fn e_variable(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Variable(store) = e.form else { return cx.stuck("no variable") };
    if !cx.env.iter().any(|(_, bound)| *bound == store) {
        return cx.stuck("a variable is not bound");
    }
    e.form = Form::Left(cx.address(store));
    Ok(())
}

/// LVal(a) → v, loading v from a; no valid element of an enum becomes an unspecified one
/// [wsl/e-load, 004 Variables; WSL-D11]
pub fn e_load(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Coerce(_, inner) = &e.form else { return cx.stuck("no load") };
    let Some(address) = inner.left() else { return cx.stuck("a load of no left-value") };
    let words = cx.load(address, e.ty)?;
    e.form = Form::Value(cx.valid(e.ty, words));
    Ok(())
}

impl Cx<'_, '_> {
    /// A value of that type: of an enum, one of its elements.
    pub(super) fn valid(&mut self, ty: TypeId, mut words: Words) -> Words {
        if let (Type::Enum(id), Some(&word)) = (self.program().env.types.get(ty), words.first()) {
            let elements: Vec<u32> = self.program().env.enumeration(id).elements.iter().map(|e| e.1).collect();
            if !self.opens.values(word).is_some_and(|values| values.iter().all(|v| elements.contains(v))) {
                words[0] = self.opens.leaf(Some(&elements), crate::wsl::types::Scalar::Int, elements[0]);
            }
        }
        words
    }
}

/// (e) → e [wsl/e-parens-exec, 004 Other]
pub fn e_parens_exec(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Parens(inner) = &mut e.form else { return cx.stuck("no parentheses") };
    *e = inner.take();
    Ok(())
}

/// The first operand of a form, reduced in the context of a rule.
fn first(cx: &mut Cx, rule: Rule, e: &mut Expr) -> Done {
    cx.within(rule, |cx| cx.expr(e))
}

/// e1 → e1' gives e1, e2 → e1', e2 [wsl/e-comma-reduce, 004 Other]
pub fn e_comma_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Comma(parts) = &mut e.form else { return cx.stuck("no comma") };
    first(cx, Rule::WslECommaReduce, &mut parts[0])
}

/// v, e2 → e2 [wsl/e-comma-next, 004 Other]
pub fn e_comma_next(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Comma(parts) = &mut e.form else { return cx.stuck("no comma") };
    *e = parts[1].take();
    Ok(())
}

fn parts_of<'a>(cx: &Cx, e: &'a mut Expr) -> Result<&'a mut [Expr], Stop> {
    match &mut e.form {
        Form::And(parts) | Form::Or(parts) => Ok(&mut parts[..]),
        Form::Ternary(parts) => Ok(&mut parts[..]),
        _ => cx.stuck("no condition"),
    }
}

fn becomes(cx: &Cx, e: &mut Expr, part: usize) -> Done {
    *e = parts_of(cx, e)?[part].take();
    Ok(())
}

fn truth_value(e: &mut Expr, value: bool) -> Done {
    e.form = Form::Value(Words::from_slice(&[Word::Bits(u32::from(value))]));
    Ok(())
}

/// e1 → e1' gives e1 && e2 → e1' && e2 [wsl/e-and-reduce, 004 Operations affecting control-flow]
pub fn e_and_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let e = &mut parts_of(cx, e)?[0];
    first(cx, Rule::WslEAndReduce, e)
}

/// false && e2 → false [wsl/e-and-false, 004 Operations affecting control-flow]
pub fn e_and_false(_: &mut Cx, e: &mut Expr) -> Done {
    truth_value(e, false)
}

/// true && e2 → e2 [wsl/e-and-true, 004 Operations affecting control-flow]
pub fn e_and_true(cx: &mut Cx, e: &mut Expr) -> Done {
    becomes(cx, e, 1)
}

/// e1 → e1' gives e1 || e2 → e1' || e2 [wsl/e-or-reduce, 004 Operations affecting control-flow]
pub fn e_or_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let e = &mut parts_of(cx, e)?[0];
    first(cx, Rule::WslEOrReduce, e)
}

/// true || e2 → true [wsl/e-or-true, 004 Operations affecting control-flow]
pub fn e_or_true(_: &mut Cx, e: &mut Expr) -> Done {
    truth_value(e, true)
}

/// false || e2 → e2 [wsl/e-or-false, 004 Operations affecting control-flow]
pub fn e_or_false(cx: &mut Cx, e: &mut Expr) -> Done {
    becomes(cx, e, 1)
}

/// e1 → e1' gives e1 ? e2 : e3 → e1' ? e2 : e3 [wsl/e-ternary-reduce, 004 Operations affecting
/// control-flow]
pub fn e_ternary_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let e = &mut parts_of(cx, e)?[0];
    first(cx, Rule::WslETernaryReduce, e)
}

/// true ? e2 : e3 → e2 [wsl/e-ternary-true, 004 Operations affecting control-flow]
pub fn e_ternary_true(cx: &mut Cx, e: &mut Expr) -> Done {
    becomes(cx, e, 1)
}

/// false ? e2 : e3 → e3 [wsl/e-ternary-false, 004 Operations affecting control-flow]
pub fn e_ternary_false(cx: &mut Cx, e: &mut Expr) -> Done {
    becomes(cx, e, 2)
}

/// The words of a pointer.
fn pointer(address: Address) -> Words {
    Words::from_slice(&[Word::Address(address), Word::Bits(0)])
}

/// e reduced to an abstract left-value, e', gives &e → &e' [wsl/e-take-ptr-reduce, 004 Pointers and
/// references]
pub fn e_take_ptr_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::AddressOf(inner) = &mut e.form else { return cx.stuck("no address is taken") };
    match cx.left_within(Rule::WslETakePtrReduce, inner)? {
        true => Ok(()),
        // The typed program marks what is only used as a left-value; that is no step.
        false if inner.left().is_some() => cx.apply(Rule::WslETakePtrLval, e_take_ptr_lval, e),
        false => cx.stuck("the address of no left-value is taken"),
    }
}

/// &LVal(a) → Ptr(a) [wsl/e-take-ptr-lval, 004 Pointers and references]
pub fn e_take_ptr_lval(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::AddressOf(inner) = &e.form else { return cx.stuck("no address is taken") };
    let Some(address) = inner.left() else { return cx.stuck("the address of no left-value is taken") };
    e.form = Form::Value(pointer(address));
    Ok(())
}

/// *Ptr(a) → LVal(a) [wsl/e-deref-ptr, 004 Pointers and references]
pub fn e_deref_ptr(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Dereference(inner) = &e.form else { return cx.stuck("no dereference") };
    let Some(Word::Address(address)) = inner.words().and_then(|w| w.first()).copied() else {
        return cx.stuck("a dereference of no pointer");
    };
    e.form = Form::Left(address);
    Ok(())
}

/// e → e' gives *e → *e' [wsl/e-deref-reduce, 004 Pointers and references]
pub fn e_deref_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Dereference(inner) = &mut e.form else { return cx.stuck("no dereference") };
    first(cx, Rule::WslEDerefReduce, inner)
}

/// @LVal(a) → Ref(a, n), n the length of its array, and 1 if it is none [wsl/e-make-ref-lval, 004
/// Arrays, references 1, 2; WSL-C3]
pub fn e_make_ref_lval(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::MakeReference(inner, n) = &e.form else { return cx.stuck("no reference is made") };
    let Some(address) = inner.left() else { return cx.stuck("a reference to no left-value is made") };
    e.form = Form::Value(Words::from_slice(&[Word::Address(address), Word::Bits(*n), Word::Bits(0), Word::Bits(0)]));
    Ok(())
}

/// e reduced to an abstract left-value, e', gives @e → @e' [wsl/e-make-ref-reduce, 004 Arrays,
/// references 3]
pub fn e_make_ref_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::MakeReference(inner, _) = &mut e.form else { return cx.stuck("no reference is made") };
    match cx.left_within(Rule::WslEMakeRefReduce, inner)? {
        true => Ok(()),
        false if inner.left().is_some() => cx.apply(Rule::WslEMakeRefLval, e_make_ref_lval, e),
        false => cx.stuck("a reference to no left-value is made"),
    }
}

/// e.f → operator.f(e), e not reducible to an abstract left-value [wsl/e-dot-getter, 004 Dot
/// operator 2]
pub fn e_dot_getter(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Dot(whole, Access::Getter(getter) | Access::Setter(_, getter)) = &mut e.form else { return cx.stuck("no getter") };
    let getter = *getter;
    let whole = whole.take();
    e.form = Form::Call(getter, vec![cx.right(whole)]);
    Ok(())
}

/// e1\[e2\] → operator\[\](e1, e2), e1\[e2\] not reducible to an abstract left-value
/// [wsl/e-array-deref-getter, 004 Arrays, \[\] 2]
pub fn e_array_deref_getter(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Index(parts, Access::Getter(getter) | Access::Setter(_, getter)) = &mut e.form else { return cx.stuck("no getter") };
    let getter = *getter;
    let [whole, index] = &mut **parts;
    let (whole, index) = (whole.take(), index.take());
    e.form = Form::Call(getter, vec![cx.right(whole), index]);
    Ok(())
}

/// LVal(a).length → n and v.length → n, of an array of n elements: a left-value is not loaded
/// [wsl/e-array-length, 004 Typing expressions, call 3.1; WSL-C8]
pub fn e_array_length(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::ArrayLength(inner, n) = &mut e.form else { return cx.stuck("no length") };
    let n = *n;
    if inner.words().is_none() {
        if cx.left_within(Rule::WslEArrayLength, inner)? {
            return Ok(());
        }
        // What can only be assigned to is got: its getter may do more than that.
        if inner.left().is_none() {
            let whole = inner.take();
            **inner = cx.right(whole);
            return first(cx, Rule::WslEArrayLength, inner);
        }
    }
    cx.rule = Some(Rule::WslEArrayLength);
    e.form = Form::Value(Words::from_slice(&[Word::Bits(n)]));
    Ok(())
}

/// Ref(a, n).length → n [wsl/e-reference-length, 004 Typing expressions, call 3.2; WSL-C8]
pub fn e_reference_length(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::ReferenceLength(inner) = &mut e.form else { return cx.stuck("no length") };
    let Some(words) = inner.words() else { return first(cx, Rule::WslEReferenceLength, inner) };
    let Some(&length) = words.get(1) else { return cx.stuck("the length of no array reference") };
    e.form = Form::Value(Words::from_slice(&[length]));
    Ok(())
}

/// e.f reduced to an abstract left-value, e', gives e.f → e' [wsl/e-dot-reduce, 004 Dot operator 1]
pub fn e_dot_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEDotReduce, e)
}

/// e1\[e2\] reduced to an abstract left-value, e', gives e1\[e2\] → e' [wsl/e-array-deref-reduce,
/// 004 Arrays, \[\] 1]
pub fn e_array_deref_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEArrayDerefReduce, e)
}
