//! Preservation: every step leaves a well-typed term. The check refuses terms that are not
//! well typed.

use crate::generated::argument;
use smallstep_generate::wsl::typed;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::check::well_typed;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt, Value};
use smallstep_semantics::wsl::execution::{
    Cx, ExprRule, Next, Planted, Replacement, Shared, StmtRule, Stop, Thread, assign, builtin, call, call_of, expression, generated,
    iteration, left, source, statement, step, switch,
};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::memory::{Address, Memory, Object, ObjectId, Words};
use smallstep_semantics::wsl::open::{OpenTerms, Ways, Word, explore};
use smallstep_semantics::wsl::syntax::{AddressSpace, FunctionKind};
use smallstep_semantics::wsl::types::{TypeId, Types};
use smallstep_semantics::wsl::typing::program::{ExprId, Program, StoreId};
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The most steps of a run.
const STEPS: usize = 300;

/// A term that is not well typed. `rule` is the rule of the step that left it. It is `None` for the
/// first term, and if the rules that apply are wrong.
#[derive(Debug)]
pub struct Broken {
    rule: Option<Rule>,
    why: String,
}

/// Checks each step on one way of an expression's execution. Returns the number of steps and the
/// decisions of the way.
fn one_way(
    shared: &Shared,
    beside: &Memory,
    start: &Expr,
    strategy: Strategy,
    ways: Ways,
    rules: &mut BTreeSet<Rule>,
) -> (Result<usize, Broken>, Ways) {
    let mut opens = OpenTerms::new(strategy, ways);
    let mut memory = beside.clone();
    let words = vec![Word::Bits(0); shared.group_words];
    let group = memory.push(Object { space: AddressSpace::Threadgroup, name: "threadgroup variables".into(), words });
    let mut thread = Thread::new(shared, &mut memory, 0, group, start.clone());
    let mut checked = well_typed(shared, &memory, &thread).map_err(|wrong| Broken { rule: None, why: wrong.to_string() });
    let mut steps = 0;
    while checked.is_ok() && thread.value().is_none() && steps < STEPS {
        // With a wrong rule, only the terms are checked. They must show the mistake.
        let applied = match shared.planted.rule {
            None => match crate::relation::one_applies(shared, &memory, &opens, &thread) {
                Ok(applied) => Some(applied),
                Err(why) => {
                    checked = Err(Broken { rule: None, why });
                    break;
                }
            },
            Some(_) => None,
        };
        match step(shared, &mut memory, &mut opens, &mut thread) {
            Ok(taken) => {
                steps += 1;
                if let Some(Err(why)) = applied.map(|applied| crate::relation::made_by(&taken, applied)) {
                    checked = Err(Broken { rule: None, why });
                    break;
                }
                rules.extend(taken.within.iter().copied().chain([taken.rule]));
                checked = well_typed(shared, &memory, &thread).map_err(|wrong| Broken { rule: Some(taken.rule), why: wrong.to_string() });
            }
            Err((Stop::Barrier, _)) => thread.released = true,
            Err(_) => break,
        }
    }
    (checked.map(|()| steps), opens.ways)
}

/// Checks the steps of an expression's execution along a few ways, and along one with
/// random choices.
fn checked(program: &Program, root: FunctionId, start: &Expr, planted: Planted, rules: &mut BTreeSet<Rule>) -> Result<usize, Broken> {
    checked_beside(&Memory::default(), program, root, start, planted, rules)
}

/// The same, with memory that already has the objects of `beside`.
pub fn checked_beside(
    beside: &Memory,
    program: &Program,
    root: FunctionId,
    start: &Expr,
    planted: Planted,
    rules: &mut BTreeSet<Rule>,
) -> Result<usize, Broken> {
    let shared = Shared::new(program, root, planted).expect("the variables are few");
    let mut all = Ok(0);
    let mut add = |found: Result<usize, Broken>| {
        if let Ok(sum) = all {
            all = found.map(|steps| sum + steps);
        }
    };
    explore(4, |ways| {
        let (found, ways) = one_way(&shared, beside, start, Strategy::Carry, ways, rules);
        add(found);
        vec![ways]
    });
    add(one_way(&shared, beside, start, Strategy::Random(5), Ways::default(), rules).0);
    all
}

/// Checks the steps of an expression beside a program.
pub fn of_expression(text: &str, expression: &str, planted: Planted) -> Result<usize, Broken> {
    let prepared = prepare(text, expression).unwrap_or_else(|wrong| panic!("{expression}: {:?}\n{text}", wrong.errors));
    let root = FunctionId(prepared.program.bodies.len() as u32 - 1);
    let mut beside = Memory::default();
    beside.push(Object { space: AddressSpace::Device, name: "device".into(), words: vec![Word::Bits(0); 8] });
    checked_beside(&beside, &prepared.program, root, &source(&prepared.program, prepared.expr), planted, &mut BTreeSet::new())
}

/// Assignments by generated setters: to fields, to elements, and to what address-takers point to.
const SETTERS: &str = "
    struct P { int x; int[3] a; }
    struct Q { P p; }
    P operator.all(Q q) { return q.p; }
    Q operator.all=(Q q, P p) { q.p = p; return q; }
    thread int* operator&.alias(thread P* p) { return &(p->x); }
    thread int* operator&[](thread P* p, uint i) { return &(p->a[i]); }
    int fields(int n) { Q q; q.all.x = n; q.all.x++; return q.all.x; }
    int elements(uint i) { Q q; q.all.a[i] = 4; q.all.a[1] += 2; return q.all.a[0] + q.all.a[i]; }
    int taken(int n) { Q q; q.all.alias = n; q.all[2] = n; ++q.all[0]; return q.all.alias + q.all[2]; }";

#[test]
fn every_step_of_generated_programs_preserves_types() {
    let programs: u64 = std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(0).max(200);
    let (mut calls, mut steps, mut rules) = (0u64, 0, BTreeSet::new());
    for seed in 0..programs {
        let text = typed::program(seed);
        let program = validate(&text).program.unwrap_or_else(|| panic!("program {seed} is not valid:\n{text}"));
        let mut layouts = Layouts::default();
        for (i, function) in program.env.functions.iter().enumerate() {
            if !matches!(function.kind, FunctionKind::Normal | FunctionKind::Cast) {
                continue;
            }
            let arguments: Option<Vec<Value>> =
                function.parameters.iter().map(|p| argument(&program, &mut layouts, p.ty, seed.wrapping_mul(0x9e37_79b9))).collect();
            let Some(arguments) = arguments else { continue };
            let root = FunctionId(i as u32);
            match checked(&program, root, &call_of(&program, root, arguments), Planted::default(), &mut rules) {
                Ok(found) => steps += found,
                Err(broken) => panic!("program {seed}, {}: {broken:?}\n{text}", program.env.signature(root)),
            }
            calls += 1;
        }
    }
    println!("{steps} steps of {calls} calls");
    assert!(calls > programs && steps as u64 > 20 * programs, "only {steps} steps of {calls} calls");
    for expression in ["fields(1)", "elements(1)", "elements(9)", "taken(3)"] {
        let prepared = prepare(SETTERS, expression).unwrap_or_else(|wrong| panic!("{expression}: {:?}", wrong.errors));
        let (root, start) = (FunctionId(prepared.program.bodies.len() as u32 - 1), source(&prepared.program, prepared.expr));
        let found = checked(&prepared.program, root, &start, Planted::default(), &mut rules);
        assert!(found.as_ref().is_ok_and(|&steps| steps > 30), "{expression}: {found:?}");
    }
    assert!(crate::textures::preserved(&mut rules) > 1000);
    // A discarded thread leaves no term. Derivatives belong to draws, whose steps are checked
    // in `draws`.
    let elsewhere = [Rule::WslEDiscard, Rule::WslEDerivative];
    let missed = |r: &&Rule| r.name().starts_with("wsl/e-") && !elsewhere.contains(r) && !rules.contains(r);
    let missed: Vec<&str> = Rule::ALL.iter().filter(missed).map(|r| r.name()).collect();
    assert!(missed.is_empty(), "rules that took no part: {missed:?}");
}

#[test]
fn pointer_types_that_the_program_never_mentions() {
    let text = "
        struct P { int[2] a; float b; }
        struct Q { P[2] p; uint n; }
        int deep(uint i) { Q q; q.p[i].a[1] = 3; q.p[i].b += 1.0; Q r = q; return made(r).p[i].a[1] + q.p[1].a[i]; }
        Q made(Q q) { q.n++; return q; }
        float column() { float4x4 m; m[1][2] = 2.0; m[3].zw = float2(1.0, 5.0); return m[1][2] + m[3].w; }";
    let program = validate(text).program.expect("it is valid");
    let mentioned = |types: &Types| (0..types.len() as u32).any(|id| types.is_reference(TypeId(id)));
    assert!(!mentioned(&program.env.types));
    for expression in ["deep(0)", "deep(1)", "deep(7)", "column()"] {
        assert!(of_expression(text, expression, Planted::default()).is_ok_and(|steps| steps > 50), "{expression}");
    }
}

#[test]
fn the_check_looks_at_every_part_once() {
    let text = format!(
        "int nested(int x) {{ return {}x; }} int groups(int x) {{ return {}x{}; }}",
        "*&".repeat(100),
        "(".repeat(100),
        ")".repeat(100)
    );
    for expression in ["nested(1)", "groups(1)"] {
        assert!(of_expression(&text, expression, Planted::default()).is_ok_and(|steps| steps > 200), "{expression}");
    }
}

#[test]
fn functions_without_expressions() {
    let program = validate("void nothing() { }").program.expect("it is valid");
    assert_eq!(
        checked(&program, FunctionId(0), &call_of(&program, FunctionId(0), Vec::new()), Planted::default(), &mut BTreeSet::new()).ok(),
        Some(4)
    );
}

const TEXT: &str = "
    enum E { A, B = 5 }
    struct S { int a; float4 v; }
    int other(int q) { return q; }
    int first(int x) { { return x; } }
    float4 vector() { float4 v; return v; }
    E element() { E e = E.B; return e; }
    int pointed() { int x = 4; thread int* p = &x; return *p; }
    int referred(uint i) { int[3] a; thread int[] r = @a; return r[i]; }
    int field() { S s; s.a = 2; return s.a; }
    S made() { S s; return s; }
    int got() { return made().a; }
    int branches(int x) { if (x == 1 && x < 3) return 1; return x > 5 ? 1 : 2; }
    float comma(int x) { return (x, 2.0); }
    int loops(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; do s--; while (s > 1); return s; }
    int cases(int k) { switch (k) { case 1: return 1; default: break; } return 2; }
    float4 scaled(float4 v) { return v *= 2.0; }
    float dots(float4 v) { return dot(v, v); }
    int effect(int x) { other(x); return x; }";

/// The objects of device memory and of the thread's own memory. The group's object is between them.
const DEVICE: ObjectId = ObjectId(0);
const OWN: ObjectId = ObjectId(2);

fn value(e: &mut Expr, words: &[Word]) {
    e.form = Form::Value(Words::from_slice(words));
}

/// Where the rule applies, the expression becomes the result of `f`.
fn instead(cx: &mut Cx, e: &Expr, rule: ExprRule, f: impl FnOnce(&mut Cx, &mut Expr)) -> Option<Next> {
    rule(cx, e)?;
    let mut changed = e.clone();
    f(cx, &mut changed);
    Some(Next::expr(changed))
}

/// The same for a statement.
fn instead_of(cx: &mut Cx, s: &Stmt, rule: StmtRule, f: impl FnOnce(&mut Cx, &mut Stmt)) -> Option<Next> {
    rule(cx, s)?;
    let mut changed = s.clone();
    f(cx, &mut changed);
    Some(Next::stmt(changed))
}

type Bug = (&'static str, &'static str, Rule, Replacement);

/// The bugs: a name, an expression that runs into the bug, the rule, and its replacement.
fn bugs() -> Vec<Bug> {
    use Replacement::{Expr as E, Stmt as S};
    vec![
        (
            "a load of one word",
            "vector()",
            Rule::WslELoad,
            E(|cx, e| {
                instead(cx, e, expression::e_load, |_, e| {
                    value(e, &[Word::Bits(0)]);
                })
            }),
        ),
        (
            "a load of no element of an enum",
            "element()",
            Rule::WslELoad,
            E(|cx, e| {
                instead(cx, e, expression::e_load, |_, e| {
                    value(e, &[Word::Bits(77)]);
                })
            }),
        ),
        (
            "a load of an address as an int",
            "first(1)",
            Rule::WslELoad,
            E(|cx, e| {
                instead(cx, e, expression::e_load, |_, e| {
                    value(e, &[Word::Address(Address::of(OWN, 0))]);
                })
            }),
        ),
        (
            "a variable off the end of its object",
            "first(1)",
            Rule::WslEVariable,
            E(|cx, e| {
                instead(cx, e, expression::e_variable, |_, e| {
                    e.form = Form::Left(Address::of(OWN, 1 << 20));
                })
            }),
        ),
        (
            "a variable between words",
            "first(1)",
            Rule::WslEVariable,
            E(|cx, e| {
                instead(cx, e, expression::e_variable, |_, e| {
                    e.form = Form::Left(Address::of(OWN, 2));
                })
            }),
        ),
        (
            "a variable in no object",
            "first(1)",
            Rule::WslEVariable,
            E(|cx, e| {
                instead(cx, e, expression::e_variable, |_, e| {
                    e.form = Form::Left(Address::of(ObjectId(99), 0));
                })
            }),
        ),
        (
            "the address of a variable in another address space",
            "pointed()",
            Rule::WslEVariable,
            E(|cx, e| {
                instead(cx, e, expression::e_variable, |_, e| {
                    e.form = Form::Left(Address::of(DEVICE, 0));
                })
            }),
        ),
        (
            "a name of another function",
            "first(1)",
            Rule::WslEVariable,
            E(|cx, e| {
                instead(cx, e, expression::e_variable, |_, e| {
                    e.form = Form::Variable(StoreId(0));
                })
            }),
        ),
        (
            "a pointer to behind its object",
            "pointed()",
            Rule::WslETakePtrLval,
            E(|cx, e| {
                instead(cx, e, expression::e_take_ptr_lval, |cx, e| {
                    let end = cx.memory.object(OWN).words.len() as u32 * 4;
                    value(e, &[Word::Address(Address::of(OWN, end)), Word::Bits(0)]);
                })
            }),
        ),
        (
            "a null pointer",
            "pointed()",
            Rule::WslETakePtrLval,
            E(|cx, e| {
                instead(cx, e, expression::e_take_ptr_lval, |_, e| {
                    value(e, &[Word::Bits(0), Word::Bits(0)]);
                })
            }),
        ),
        (
            "a pointer that is not dereferenced",
            "pointed()",
            Rule::WslEDerefPtr,
            E(|cx, e| {
                instead(cx, e, expression::e_deref_ptr, |_, e| {
                    value(e, &[Word::Address(Address::of(OWN, 0)), Word::Bits(0)]);
                })
            }),
        ),
        (
            "a reference to more elements than there are",
            "referred(1)",
            Rule::WslEMakeRefLval,
            E(|cx, e| {
                instead(cx, e, expression::e_make_ref_lval, |_, e| {
                    value(e, &[Word::Address(Address::of(OWN, 0)), Word::Bits(1000), Word::Bits(0), Word::Bits(0)]);
                })
            }),
        ),
        (
            "an element behind the object",
            "referred(2)",
            Rule::WslEArrayRefValid,
            E(|cx, e| {
                instead(cx, e, left::e_array_ref_valid, |cx, e| {
                    e.form = Form::Left(Address::of(OWN, cx.memory.object(OWN).words.len() as u32 * 4));
                })
            }),
        ),
        (
            "a field's address that carries the field's type, though pointers to it have one",
            "field()",
            Rule::WslEFieldAddress,
            E(|cx, e| {
                instead(cx, e, generated::e_field_address, |_, e| {
                    e.ty = TypeId::INT;
                    value(e, &[Word::Address(Address::of(OWN, 0)), Word::Bits(0)]);
                })
            }),
        ),
        (
            "a field's address as an offset",
            "field()",
            Rule::WslEFieldAddress,
            E(|cx, e| {
                instead(cx, e, generated::e_field_address, |_, e| {
                    value(e, &[Word::Bits(16), Word::Bits(0)]);
                })
            }),
        ),
        (
            "a conjunction that is an int",
            "branches(0)",
            Rule::WslEAndFalse,
            E(|cx, e| {
                instead(cx, e, expression::e_and_false, |_, e| {
                    e.ty = TypeId::INT;
                    value(e, &[Word::Bits(0)]);
                })
            }),
        ),
        (
            "the condition in place of the branch",
            "branches(7)",
            Rule::WslETernaryTrue,
            E(|cx, e| {
                instead(cx, e, expression::e_ternary_true, |_, e| {
                    let Form::Ternary(parts) = &mut e.form else { panic!("no ternary") };
                    *e = parts[0].take();
                })
            }),
        ),
        (
            "the first operand of a comma",
            "comma(1)",
            Rule::WslECommaNext,
            E(|cx, e| {
                instead(cx, e, expression::e_comma_next, |_, e| {
                    let Form::Comma(parts) = &mut e.form else { panic!("no comma") };
                    *e = parts[0].take();
                })
            }),
        ),
        (
            "the operand in place of the assignment",
            "scaled(float4(1.0, 1.0, 1.0, 1.0))",
            Rule::WslEPlusEqualElim,
            E(|cx, e| {
                instead(cx, e, assign::e_plus_equal_elim, |_, e| {
                    let Form::CompoundAssign(_, parts) = &mut e.form else { panic!("no compound assignment") };
                    *e = parts[1].take();
                })
            }),
        ),
        (
            "a call of an operator without its operand",
            "scaled(float4(1.0, 1.0, 1.0, 1.0))",
            Rule::WslEPlusEqualElim,
            E(|cx, e| {
                instead(cx, e, assign::e_plus_equal_elim, |_, e| {
                    let Form::CompoundAssign(callee, _) = e.form else { panic!("no compound assignment") };
                    e.form = Form::Call(callee, Vec::new());
                })
            }),
        ),
        (
            "a vector in place of its product",
            "dots(float4(1.0, 1.0, 1.0, 1.0))",
            Rule::WslECallLibrary,
            E(|cx, e| {
                instead(cx, e, builtin::e_call_library, |_, e| {
                    let Form::Call(_, arguments) = &mut e.form else { panic!("no call") };
                    *e = arguments[0].take();
                })
            }),
        ),
        (
            "a call that binds no parameters",
            "first(1)",
            Rule::WslECallResolve,
            E(|cx, e| {
                instead(cx, e, call::e_call_resolve, |cx, e| {
                    body(cx.shared.program, e, |env| *env = Some(Rc::default()));
                })
            }),
        ),
        (
            "a call without an environment",
            "first(1)",
            Rule::WslECallResolve,
            E(|cx, e| {
                instead(cx, e, call::e_call_resolve, |cx, e| {
                    body(cx.shared.program, e, |env| *env = None);
                })
            }),
        ),
        (
            "a call of another function",
            "vector()",
            Rule::WslECallResolve,
            E(|cx, e| {
                instead(cx, e, call::e_call_resolve, |cx, e| {
                    e.form = Form::Call(smallstep_semantics::wsl::environment::access::Callee::Declared(FunctionId(0)), Vec::new());
                    body(cx.shared.program, e, |_| {});
                })
            }),
        ),
        (
            "a call that forgets what is returned",
            "first(1)",
            Rule::WslECallReturn,
            E(|cx, e| {
                instead(cx, e, call::e_call_return, |_, e| {
                    value(e, &[]);
                })
            }),
        ),
        (
            "a structure in place of its field",
            "got()",
            Rule::WslEGeneratedGetter,
            E(|cx, e| {
                instead(cx, e, generated::e_generated_getter, |_, e| {
                    let Form::Call(_, arguments) = &mut e.form else { panic!("no call") };
                    e.form = Form::Construct(Box::new(Stmt::Return(Some(arguments[0].take()))));
                })
            }),
        ),
        (
            "a break in place of the branch",
            "branches(1)",
            Rule::WslEIfTrue,
            S(|cx, s| {
                instead_of(cx, s, statement::e_if_true, |_, s| {
                    *s = Stmt::Break;
                })
            }),
        ),
        (
            "a continue after a statement",
            "effect(1)",
            Rule::WslEEffectfulExprElim,
            S(|cx, s| {
                instead_of(cx, s, statement::e_effectful_expr_elim, |_, s| {
                    *s = Stmt::Continue;
                })
            }),
        ),
        (
            "a return of nothing after a statement",
            "effect(1)",
            Rule::WslEEffectfulExprElim,
            S(|cx, s| {
                instead_of(cx, s, statement::e_effectful_expr_elim, |_, s| {
                    *s = Stmt::Return(None);
                })
            }),
        ),
        (
            "a block that forgets the names around it",
            "first(1)",
            Rule::WslEBlockAnnotate,
            S(|cx, s| {
                instead_of(cx, s, statement::e_block_annotate, |_, s| {
                    let Stmt::Block(block) = s else { panic!("no block") };
                    block.env = Some(Rc::default());
                })
            }),
        ),
        (
            "a declaration that binds a name of another function",
            "pointed()",
            Rule::WslEBlockVdeclComplete,
            S(|cx, s| {
                instead_of(cx, s, statement::e_block_vdecl_complete, |_, s| {
                    let Stmt::Block(block) = s else { panic!("no block") };
                    let Some(Stmt::Declaration(name, ..)) = block.first.take() else { panic!("no declaration") };
                    block.env = Some(Rc::new(vec![(name, StoreId(0))]));
                })
            }),
        ),
        (
            "an iteration of another number",
            "loops(2)",
            Rule::WslEDoWhileLoop,
            S(|cx, s| {
                instead_of(cx, s, iteration::e_do_while_loop, |_, s| {
                    let Stmt::Iterate(id, n) = *s else { panic!("no loop") };
                    *s = Stmt::Loop(Box::new([Stmt::empty(), Stmt::empty(), Stmt::Iterate(id, n)]), n);
                })
            }),
        ),
        (
            "a loop that skips its condition",
            "loops(2)",
            Rule::WslEForLoop,
            S(|cx, s| {
                instead_of(cx, s, iteration::e_for_loop, |_, s| {
                    let Stmt::Iterate(id, n) = *s else { panic!("no loop") };
                    let condition = Expr { at: ExprId(0), ty: TypeId::INT, form: Form::Value(Words::from_slice(&[Word::Bits(1)])) };
                    *s = Stmt::If(Box::new((condition, Stmt::Iterate(id, n + 1), Stmt::empty())));
                })
            }),
        ),
        (
            "cases of no switch",
            "cases(1)",
            Rule::WslESwitchCaseFound,
            S(|cx, s| {
                instead_of(cx, s, switch::e_switch_case_found, |_, s| {
                    let Stmt::Switch(_, id) = *s else { panic!("no switch") };
                    *s = Stmt::Cases(Box::new(Stmt::empty()), id, 7);
                })
            }),
        ),
        (
            "cases that are the whole switch",
            "cases(3)",
            Rule::WslESwitchDefault,
            S(|cx, s| {
                instead_of(cx, s, switch::e_switch_default, |_, s| {
                    let Stmt::Switch(_, id) = *s else { panic!("no switch") };
                    *s = Stmt::Cases(Box::new(s.take()), id, 1);
                })
            }),
        ),
    ]
}

/// Replaces a call with the body of its function, after a change of the body's environment.
fn body(program: &Program, e: &mut Expr, change: impl Fn(&mut Option<smallstep_semantics::wsl::execution::term::Env>)) {
    use smallstep_semantics::wsl::environment::access::Callee;
    use smallstep_semantics::wsl::execution::term::Block;
    use smallstep_semantics::wsl::typing::program::StmtForm;
    let Form::Call(Callee::Declared(function), _) = e.form else { panic!("no call") };
    let StmtForm::Block(rest) = &program.stmt(program.body(function).block).form else { panic!("no block") };
    let parameters = &program.env.function(function).parameters;
    let env = parameters.iter().zip(&program.body(function).parameters).map(|(p, store)| (p.name, *store)).collect();
    let mut block = Block { env: Some(Rc::new(env)), rest: rest.clone(), ..Block::default() };
    change(&mut block.env);
    e.form = Form::Construct(Box::new(Stmt::Block(Box::new(block))));
}

#[test]
fn terms_that_are_not_well_typed_are_refused_at_the_step_that_makes_them() {
    for (name, expression, rule, replacement) in bugs() {
        let found = of_expression(TEXT, expression, Planted::default());
        assert!(found.is_ok(), "{expression}: {found:?}");
        match of_expression(TEXT, expression, Planted { rule: Some((rule, replacement)), ..Planted::default() }) {
            Err(broken) => {
                println!("{name}: {}", broken.why);
                assert_eq!(broken.rule, Some(rule), "{name}: {}", broken.why);
            }
            Ok(steps) => panic!("{name}: all of {steps} steps pass"),
        }
    }
}
