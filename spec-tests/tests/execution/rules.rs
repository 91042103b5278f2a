//! Wrong rules of WSL's execution. Each is the right one's function with something changed before or after it, or something else in its place.

use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::execution::Replacement::{self, Expr as E, Left as L, Stmt as S};
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{Cx, Done, assign, builtin, call, expression, generated, iteration, left, statement, switch};
use smallstep_semantics::wsl::memory::{Address, Words};
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::{Constant, StmtForm};
use std::rc::Rc;

/// A wrong rule.
pub struct Bug {
    /// The rule.
    pub rule: Rule,
    /// What is wrong.
    pub what: &'static str,
    /// What stands in its place.
    pub by: Replacement,
}

fn bug(rule: Rule, what: &'static str, by: Replacement) -> Bug {
    Bug { rule, what, by }
}

/// Every wrong rule.
pub fn bugs() -> Vec<Bug> {
    [blocks(), switches(), loops(), control(), values(), accesses(), lefts(), assignments(), calls(), built_in()]
        .into_iter()
        .flatten()
        .collect()
}

/// A scalar of those bits.
fn scalar(bits: u32) -> Form {
    Form::Value(Words::from_slice(&[Word::Bits(bits)]))
}

/// The expression is a value of zeros.
fn zeros(cx: &Cx, e: &mut Expr) -> Done {
    let words = cx.shared.words(e.ty)?;
    e.form = Form::Value(Words::from_elem(Word::Bits(0), words as usize));
    Ok(())
}

/// The value keeps its length, and is zeros.
fn zeroed(e: &mut Expr) -> Done {
    if let Form::Value(words) = &mut e.form {
        words.iter_mut().for_each(|w| *w = Word::Bits(0));
    }
    Ok(())
}

fn null(e: &mut Expr) -> Done {
    e.form = Form::Value(Words::from_elem(Word::Bits(0), 2));
    Ok(())
}

/// 4 bytes further.
fn shifted(e: &mut Expr) -> Done {
    match &mut e.form {
        Form::Left(address) => *address = address.plus(4),
        Form::Value(words) => {
            if let Some(Word::Address(address)) = words.first_mut() {
                *address = address.plus(4);
            }
        }
        _ => {}
    }
    Ok(())
}

fn ended(s: &mut Stmt) -> Done {
    *s = Stmt::empty();
    Ok(())
}

/// What the rule stores is lost.
fn unstored(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let before = cx.memory.clone();
    rule(cx, e)?;
    // A generated function's parameters may have come to it.
    for (object, old) in cx.memory.objects.iter_mut().zip(before.objects) {
        object.words = old.words;
    }
    Ok(())
}

/// The operand of a form.
fn part(e: &mut Expr, at: usize) -> Option<&mut Expr> {
    match &mut e.form {
        Form::Comma(p)
        | Form::Or(p)
        | Form::And(p)
        | Form::Assign(p)
        | Form::Index(p, _)
        | Form::Element(p)
        | Form::CompoundAssign(_, p) => p.get_mut(at),
        Form::Ternary(p) => p.get_mut(at),
        Form::Call(_, p) => p.get_mut(at),
        Form::Parens(p) | Form::Dereference(p) | Form::AddressOf(p) | Form::MakeReference(p, _) | Form::Coerce(_, p) | Form::Dot(p, _) => {
            (at == 0).then_some(&mut **p)
        }
        _ => None,
    }
}

/// The expression is its operand.
fn becomes(e: &mut Expr, at: usize) -> Done {
    if let Some(part) = part(e, at) {
        *e = part.take();
    }
    Ok(())
}

/// The operand is that value, without being evaluated.
fn assumed(e: &mut Expr, at: usize, bits: u32) -> Done {
    if let Some(part) = part(e, at) {
        part.form = scalar(bits);
    }
    Ok(())
}

fn blocks() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEBlockAnnotate,
            "an inner block sees no variables",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.env = Some(Rc::default());
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockNextStmt,
            "the statement after an empty block is lost",
            S(|cx, s| {
                statement::e_block_next_stmt(cx, s)?;
                if let Stmt::Block(block) = s {
                    block.rest.next();
                }
                Ok(())
            }),
        ),
        bug(R::WslEBlockTerminator, "a terminator ends its block only", S(|_, s| ended(s))),
        bug(
            R::WslEBlockTerminator,
            "what follows a terminator is executed",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.first = None;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockVdeclReduce,
            "an initialiser sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => match &mut block.first {
                    Some(Stmt::Declaration(_, _, Some(e))) => {
                        cx.within(R::WslEBlockVdeclReduce, |cx| cx.in_env(Rc::default(), |cx| cx.expr(e)))
                    }
                    _ => Ok(()),
                },
                _ => Ok(()),
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "the default value is stored",
            S(|cx, s| {
                if let Stmt::Block(block) = s {
                    if let Some(Stmt::Declaration(_, _, Some(e))) = &mut block.first {
                        zeroed(e)?;
                    }
                }
                statement::e_block_vdecl_complete(cx, s)
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "an initialised variable is not bound",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.first = None;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockVdecl,
            "no default value is stored",
            S(|cx, s| {
                let before = cx.memory.clone();
                statement::e_block_vdecl(cx, s)?;
                *cx.memory = before;
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockReduce,
            "a statement sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => match &mut block.first {
                    Some(first) => cx.within(R::WslEBlockReduce, |cx| cx.in_env(Rc::default(), |cx| cx.stmt(first))),
                    None => Ok(()),
                },
                _ => Ok(()),
            }),
        ),
        bug(R::WslEIfTrue, "the second branch is taken", S(statement::e_if_false)),
        bug(R::WslEIfFalse, "the first branch is taken", S(statement::e_if_true)),
        bug(R::WslEIfFalse, "nothing is executed", S(|_, s| ended(s))),
        bug(
            R::WslEIfReduce,
            "the condition holds",
            S(|_, s| {
                if let Stmt::If(parts) = s {
                    parts.0.form = scalar(1);
                }
                Ok(())
            }),
        ),
        bug(R::WslEEffectfulExprReduce, "an expression is not evaluated for what it does", S(|_, s| ended(s))),
        bug(
            R::WslEEffectfulExprElim,
            "a value ends the function",
            S(|_, s| {
                *s = Stmt::Return(None);
                Ok(())
            }),
        ),
        bug(
            R::WslEReturnReduce,
            "what is returned is not evaluated",
            S(|cx, s| match s {
                Stmt::Return(Some(e)) => zeros(cx, e),
                _ => Ok(()),
            }),
        ),
    ]
}

/// The first case is entered.
fn first_case(cx: &mut Cx, s: &mut Stmt) -> Done {
    if let Stmt::Switch(e, id) = s {
        if let StmtForm::Switch(_, cases) = &cx.shared.program.stmt(*id).form {
            if let Some(Constant::Int(first)) = cases.iter().find_map(|c| c.value) {
                e.form = scalar(first as u32);
            }
        }
    }
    switch::e_switch_case_found(cx, s)
}

fn switches() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslESwitchReduce,
            "the operand is 0",
            S(|cx, s| match s {
                Stmt::Switch(e, _) => zeros(cx, e),
                _ => Ok(()),
            }),
        ),
        bug(R::WslESwitchCaseFound, "the first case is entered", S(first_case)),
        bug(R::WslESwitchCaseFound, "default is entered", S(switch::e_switch_default)),
        bug(R::WslESwitchDefault, "the first case is entered", S(first_case)),
        bug(R::WslESwitchDefault, "a switch without the value's case does nothing", S(|_, s| ended(s))),
        bug(R::WslECasesFallthrough, "fallthrough ends the switch", S(|_, s| ended(s))),
        bug(
            R::WslECasesFallthrough,
            "fallthrough leaves a case out",
            S(|cx, s| {
                if let Stmt::Cases(_, _, next) = s {
                    *next += 1;
                }
                switch::e_cases_fallthrough(cx, s)
            }),
        ),
        bug(R::WslECasesBreak, "break falls through", S(switch::e_cases_fallthrough)),
        bug(R::WslECasesBreak, "break leaves what is around the switch too", S(switch::e_cases_other_terminator)),
        bug(R::WslECasesOtherTerminator, "return ends the switch only", S(|_, s| ended(s))),
        bug(
            R::WslECasesReduce,
            "the statements of a case are not executed",
            S(|_, s| {
                if let Stmt::Cases(first, ..) = s {
                    **first = Stmt::Break;
                }
                Ok(())
            }),
        ),
    ]
}

fn loops() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEDoWhileLoop,
            "a do loop asks its condition first",
            S(|cx, s| {
                iteration::e_do_while_loop(cx, s)?;
                let condition = match s {
                    Stmt::Loop(parts, _) => match &parts[2] {
                        Stmt::If(parts) => Some(parts.0.clone()),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(condition) = condition {
                    let body = s.take();
                    *s = Stmt::If(Box::new((condition, body, Stmt::empty())));
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEForLoop,
            "a for loop does not ask its condition",
            S(|cx, s| {
                iteration::e_for_loop(cx, s)?;
                if let Stmt::If(parts) = s {
                    *s = parts.1.take();
                }
                Ok(())
            }),
        ),
        bug(
            R::WslELoopBreak,
            "break continues",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[0] = Stmt::Continue;
                }
                Ok(())
            }),
        ),
        bug(R::WslELoopBreak, "break ends all loops", S(iteration::e_loop_other_terminator)),
        bug(R::WslELoopNextIteration, "a loop ends after an iteration", S(|_, s| ended(s))),
        bug(
            R::WslELoopIncrement,
            "the third expression is not evaluated",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[1] = Stmt::empty();
                }
                Ok(())
            }),
        ),
        bug(R::WslELoopOtherTerminator, "return ends the loop only", S(|_, s| ended(s))),
        bug(
            R::WslELoopReduce,
            "the body is not executed",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[0] = Stmt::empty();
                }
                Ok(())
            }),
        ),
    ]
}

fn control() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEParensExec, "what is in parentheses is 0", E(|cx, e| zeros(cx, e))),
        bug(R::WslECommaReduce, "the first operand is not evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslECommaNext, "the value is the first operand's", E(|_, e| becomes(e, 0))),
        bug(R::WslEAndReduce, "the first operand holds", E(|_, e| assumed(e, 0, 1))),
        bug(R::WslEAndFalse, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslEAndTrue, "the second operand is not evaluated", E(|_, e| becomes(e, 0))),
        bug(R::WslEOrReduce, "the first operand does not hold", E(|_, e| assumed(e, 0, 0))),
        bug(R::WslEOrTrue, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslEOrFalse, "the second operand is not evaluated", E(|_, e| becomes(e, 0))),
        bug(R::WslETernaryReduce, "the condition holds", E(|_, e| assumed(e, 0, 1))),
        bug(R::WslETernaryTrue, "the third operand is evaluated", E(|_, e| becomes(e, 2))),
        bug(R::WslETernaryFalse, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
    ]
}

fn values() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEVariable,
            "a name is bound to what stands behind",
            E(|cx, e| {
                expression::e_variable(cx, e)?;
                shifted(e)
            }),
        ),
        bug(
            R::WslELoad,
            "what is loaded is 0",
            E(|cx, e| {
                expression::e_load(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(
            R::WslELoad,
            "an unspecified value is another at each use",
            E(|cx, e| {
                expression::e_load(cx, e)?;
                if let Form::Value(words) = &mut e.form {
                    for word in words.iter_mut().filter(|w| matches!(w, Word::Open(_))) {
                        *word = cx.opens.leaf(None, Scalar::Int, 0);
                    }
                }
                Ok(())
            }),
        ),
        bug(R::WslETakePtrReduce, "a null pointer is made", E(|_, e| null(e))),
        bug(
            R::WslETakePtrLval,
            "the pointer points behind",
            E(|cx, e| {
                expression::e_take_ptr_lval(cx, e)?;
                shifted(e)
            }),
        ),
        bug(
            R::WslEDerefPtr,
            "the left-value is behind",
            E(|cx, e| {
                expression::e_deref_ptr(cx, e)?;
                shifted(e)
            }),
        ),
        bug(R::WslEDerefReduce, "the pointer is not evaluated", E(|_, e| part(e, 0).map_or(Ok(()), null))),
        bug(
            R::WslEMakeRefLval,
            "the bound is 1",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_make_ref_lval(cx, e)
            }),
        ),
        bug(
            R::WslEMakeRefLval,
            "the bound is one more",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n += 1;
                }
                expression::e_make_ref_lval(cx, e)
            }),
        ),
        bug(
            R::WslEMakeRefReduce,
            "the bound is lost",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_make_ref_reduce(cx, e)
            }),
        ),
        bug(
            R::WslEArrayLength,
            "an array has one element",
            E(|cx, e| {
                if let Form::ArrayLength(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_array_length(cx, e)
            }),
        ),
        bug(
            R::WslEReferenceLength,
            "a reference has one element",
            E(|_, e| {
                e.form = scalar(1);
                Ok(())
            }),
        ),
    ]
}

fn accesses() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEDotGetter, "no getter is called", E(|cx, e| zeros(cx, e))),
        bug(
            R::WslEArrayDerefGetter,
            "the index is 0",
            E(|cx, e| {
                assumed(e, 1, 0)?;
                expression::e_array_deref_getter(cx, e)
            }),
        ),
        bug(R::WslEDotReduce, "a field does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEArrayDerefReduce, "an element does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEFieldAddress, "every field is the first", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEFieldAddress,
            "fields stand side by side",
            E(|_, e| {
                let field = match e.form {
                    Form::Call(Callee::Generated(Generated::FieldAddress(_, field, _)), _) => field,
                    _ => 0,
                };
                becomes(e, 0)?;
                if let Form::Value(words) = &mut e.form {
                    if let Some(Word::Address(address)) = words.first_mut() {
                        *address = address.plus(4 * field);
                    }
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEElementAddress,
            "the array has one element",
            E(|cx, e| {
                generated::e_element_address(cx, e)?;
                if let Some(Form::MakeReference(_, n)) = part(e, 0).and_then(|e| part(e, 0)).map(|e| &mut e.form) {
                    *n = 1;
                }
                Ok(())
            }),
        ),
        bug(R::WslEGeneratedGetter, "the part is 0", E(|cx, e| zeros(cx, e))),
        bug(
            R::WslEGeneratedGetter,
            "the whole is not stored",
            E(|cx, e| {
                if let Some(whole) = part(e, 0) {
                    zeroed(whole)?;
                }
                generated::e_generated_getter(cx, e)
            }),
        ),
        bug(R::WslEGeneratedSetter, "the whole is as before", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEGeneratedSetter,
            "only the part is assigned",
            E(|cx, e| {
                if let Some(whole) = part(e, 0) {
                    zeroed(whole)?;
                }
                generated::e_generated_setter(cx, e)
            }),
        ),
    ]
}

/// `LVal(a + 4 i)`, or `LVal(a)`.
fn element(e: &mut Expr, stride: u32) -> Done {
    let address = match &e.form {
        Form::Element(parts) => match (parts[0].words().and_then(|w| w.first()), parts[1].words().and_then(|w| w.first())) {
            (Some(Word::Address(address)), Some(Word::Bits(index))) => Some(address.plus(index * stride)),
            (Some(Word::Address(address)), _) => Some(*address),
            _ => None,
        },
        _ => None,
    };
    if let Some(address) = address {
        e.form = Form::Left(address);
    }
    Ok(())
}

/// Out of bounds, that index.
fn clamped(e: &mut Expr, index: fn(u32) -> u32) -> Done {
    let Form::Element(parts) = &mut e.form else { return Ok(()) };
    if let Some(Word::Bits(length)) = parts[0].words().and_then(|w| w.get(1)).copied() {
        parts[1].form = scalar(index(length));
    }
    Ok(())
}

fn lefts() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAlvalDotAnder, "a field is the whole", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEAlvalArrayAnder,
            "the index is 0",
            E(|cx, e| {
                assumed(e, 1, 0)?;
                left::e_alval_array_ander(cx, e)
            }),
        ),
        bug(
            R::WslEAlvalArrayRefReduce,
            "the index is evaluated before the array reference",
            E(|cx, e| match &mut e.form {
                Form::Element(parts) if parts[1].words().is_none() => cx.within(R::WslEAlvalArrayRefReduce, |cx| cx.expr(&mut parts[1])),
                _ => left::e_alval_array_ref_reduce(cx, e),
            }),
        ),
        bug(R::WslEAlvalArrayReduceRight, "the index is not evaluated", E(|_, e| assumed(e, 1, 0))),
        bug(R::WslEArrayRefClamped, "out of bounds is the first element", E(|_, e| clamped(e, |_| 0))),
        bug(R::WslEArrayRefClamped, "out of bounds is the last element", E(|_, e| clamped(e, |n| n - 1))),
        bug(
            R::WslEArrayRefClamped,
            "the bound may be met",
            E(|cx, e| {
                let Form::Element(parts) = &mut e.form else { return Ok(()) };
                let Some(Word::Bits(length)) = parts[0].words().and_then(|w| w.get(1)).copied() else { return Ok(()) };
                let values: Vec<u32> = (0..length.max(2) - 1).collect();
                let index = cx.opens.leaf(Some(&values), Scalar::Uint, 0);
                parts[1].form = Form::Value(Words::from_slice(&[index]));
                Ok(())
            }),
        ),
        bug(R::WslEArrayRefValid, "every element is the first", E(|_, e| element(e, 0))),
        bug(R::WslEArrayRefValid, "elements are 4 bytes apart", E(|_, e| element(e, 4))),
        bug(R::WslEAlvalGenericReduce, "what is to be a left-value is not evaluated", E(|_, e| null(e))),
        bug(R::WslEAlvalDotReduce, "the whole does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEAlvalArrayReduceLeft, "the array does not reduce to a left-value", L(|_, _| Ok(false))),
    ]
}

fn assignments() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAssignLeftReduce, "the left side does not reduce", L(|_, _| Ok(false))),
        bug(R::WslEAssignRightReduce, "the right side is not evaluated", E(|cx, e| part(e, 1).map_or(Ok(()), |e| zeros(cx, e)))),
        bug(R::WslEAssignExecute, "nothing is stored", E(|_, e| becomes(e, 1))),
        bug(
            R::WslEAssignExecute,
            "the value is 0",
            E(|cx, e| {
                assign::e_assign_execute(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(
            R::WslEAssignExecute,
            "the word behind is written",
            E(|cx, e| {
                if let Some(left) = part(e, 0) {
                    shifted(left)?;
                }
                assign::e_assign_execute(cx, e)
            }),
        ),
        bug(R::WslEAssignSetter, "no setter is called", E(|_, e| becomes(e, 1))),
        bug(
            R::WslEAssignSetter,
            "what the setter gives is not assigned",
            E(|cx, e| {
                assign::e_assign_setter(cx, e)?;
                let call = part(e, 0).and_then(|e| part(e, 1)).map(Expr::take);
                if let (Some(call), Some(first)) = (call, part(e, 0)) {
                    *first = call;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEAssignIndexedSetter,
            "the index is 0",
            E(|cx, e| {
                if let Some(target) = part(e, 0) {
                    assumed(target, 1, 0)?;
                }
                assign::e_assign_indexed_setter(cx, e)
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the value is the new one",
            E(|cx, e| {
                if let Form::Step(_, _, store) = &mut e.form {
                    *store = None;
                }
                assign::e_prefix_incr_elim(cx, e)
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "nothing is increased",
            E(|cx, e| {
                assign::e_postfix_incr_elim(cx, e)?;
                part(e, 1).map_or(Ok(()), |rest| becomes(rest, 1))
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the getter is called once (WSL-D8)",
            E(|cx, e| {
                assign::e_postfix_incr_elim(cx, e)?;
                let kept = part(e, 1).and_then(|e| part(e, 1)).map(|e| e.clone());
                let operand = part(e, 1).and_then(|e| part(e, 0)).and_then(|e| part(e, 1)).and_then(|e| part(e, 0));
                if let (Some(kept), Some(operand)) = (kept, operand) {
                    *operand = kept;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEPrefixIncrElim,
            "the new value is not assigned",
            E(|cx, e| {
                assign::e_prefix_incr_elim(cx, e)?;
                becomes(e, 1)
            }),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the operands change places",
            E(|cx, e| {
                assign::e_plus_equal_elim(cx, e)?;
                if let Some(Form::Call(_, operands)) = part(e, 1).map(|e| &mut e.form) {
                    operands.reverse();
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the right side is evaluated before the left is loaded (WSL-D9)",
            E(|cx, e| match part(e, 1) {
                Some(right) if right.words().is_none() => cx.within(R::WslEPlusEqualElim, |cx| cx.expr(right)),
                _ => assign::e_plus_equal_elim(cx, e),
            }),
        ),
        bug(R::WslEPostfixIncrReduce, "the operand of e++ is evaluated at each use", L(|_, _| Ok(false))),
        bug(R::WslEPrefixIncrReduce, "the operand of ++e is evaluated at each use", L(|_, _| Ok(false))),
        bug(R::WslEPlusEqualReduce, "the left side of += is evaluated at each use", L(|_, _| Ok(false))),
    ]
}

fn calls() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallReduce,
            "arguments are evaluated from right to left (WSL-D10)",
            E(|cx, e| {
                let Form::Call(_, arguments) = &mut e.form else { return Ok(()) };
                match arguments.iter_mut().rev().find(|a| a.words().is_none()) {
                    Some(argument) => cx.within(R::WslECallReduce, |cx| cx.expr(argument)),
                    None => Ok(()),
                }
            }),
        ),
        bug(
            R::WslECallResolve,
            "parameters take the arguments in reverse",
            E(|cx, e| {
                if let Form::Call(_, arguments) = &mut e.form {
                    arguments.reverse();
                }
                call::e_call_resolve(cx, e)
            }),
        ),
        bug(R::WslECallResolve, "no argument is stored", E(|cx, e| unstored(cx, e, call::e_call_resolve))),
        bug(
            R::WslECallConstructReduce,
            "the body is not executed",
            E(|_, e| {
                e.form = Form::Construct(Box::new(Stmt::empty()));
                Ok(())
            }),
        ),
        bug(R::WslECallReturnVoid, "return ends the thread", E(call::e_discard)),
        bug(R::WslECallEndFunction, "the end of a body ends the thread", E(call::e_discard)),
        bug(
            R::WslECallReturn,
            "the value is 0",
            E(|cx, e| {
                call::e_call_return(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(R::WslEDiscard, "discard ends the function only", E(call::e_call_return_void)),
    ]
}

/// Where the first argument of an atomic operation points, and where the last.
fn atomic(e: &Expr) -> Option<(Address, Address)> {
    let Form::Call(_, arguments) = &e.form else { return None };
    let address = |e: &Expr| match e.words()?.first()? {
        Word::Address(address) => Some(*address),
        _ => None,
    };
    Some((address(arguments.first()?)?, address(arguments.last()?)?))
}

/// The atomic keeps what it holds.
fn unwritten(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let Some((at, _)) = atomic(e) else { return Ok(()) };
    let old = cx.memory.load(cx.opens, at, 1);
    rule(cx, e)?;
    if let Some(old) = old {
        cx.memory.store(cx.opens, at, &old);
    }
    Ok(())
}

/// What was written is stored through the last argument.
fn new_value(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let Some((at, to)) = atomic(e) else { return Ok(()) };
    rule(cx, e)?;
    if let Some(new) = cx.memory.load(cx.opens, at, 1) {
        cx.memory.store(cx.opens, to, &new);
    }
    Ok(())
}

fn built_in() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallLibrary,
            "a function gives its first argument",
            E(|cx, e| match &e.form {
                Form::Call(_, arguments) if arguments.first().is_some_and(|a| a.ty == e.ty) => becomes(e, 0),
                _ => builtin::e_call_library(cx, e),
            }),
        ),
        bug(R::WslEInterlocked, "the atomic is not written", E(|cx, e| unwritten(cx, e, builtin::e_interlocked))),
        bug(R::WslEInterlocked, "the new value is stored", E(|cx, e| new_value(cx, e, builtin::e_interlocked))),
        bug(R::WslECompareExchange, "nothing is exchanged", E(|cx, e| unwritten(cx, e, builtin::e_compare_exchange))),
        bug(R::WslECompareExchange, "the new value is stored", E(|cx, e| new_value(cx, e, builtin::e_compare_exchange))),
        bug(
            R::WslECompareExchange,
            "nothing is compared",
            E(|cx, e| {
                let read = atomic(e).and_then(|(at, _)| cx.memory.load(cx.opens, at, 1));
                if let (Some(read), Some(old)) = (read, part(e, 1)) {
                    old.form = Form::Value(read);
                }
                builtin::e_compare_exchange(cx, e)
            }),
        ),
        bug(R::WslEBarrier, "a barrier ends the thread", E(call::e_discard)),
    ]
}
