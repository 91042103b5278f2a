//! Execution is a relation. Exactly one rule applies to each configuration until the thread ends or
//! waits. If a condition is unspecified, one rule applies for each of its outcomes.
//!
//! Every rule is tried on every term that a step depends on, whatever the form of the term. So a
//! rule that forgets a part of its premises is seen where it applies beside another rule.

use crate::generated::argument;
use smallstep_generate::wsl::typed;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Draw, Ending, Vertices};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::execution::Replacement::{Expr as E, Stmt as S};
use smallstep_semantics::wsl::execution::call::e_call_resolve;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt, Value};
use smallstep_semantics::wsl::execution::{Cx, Next, Planted, Replacement, Rules, Shared, Step, Stop, Thread, ask, call_of, source, step};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::memory::{Memory, Object, Words};
use smallstep_semantics::wsl::open::{OpenTerms, Ways, Word, explore};
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::syntax::{AddressSpace, FunctionKind};
use smallstep_semantics::wsl::typing::program::{Access, Program, StmtForm};
use smallstep_semantics::wsl::validate::validate;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Counts over many configurations.
#[derive(Default)]
struct Found {
    /// The rules that applied to some term.
    fired: BTreeSet<Rule>,
    /// The number of configurations.
    configurations: u64,
    /// The number of terms on which every rule was tried.
    terms: u64,
    /// The number of these terms to which several rules applied, for the outcomes of a condition.
    open: u64,
}

thread_local! {
    static FOUND: RefCell<Found> = RefCell::default();
}

/// Checks that one rule applies to each term that a thread's next step depends on, or one for each
/// outcome of a condition. Checks also that the forms of the terms lead to these rules. Returns
/// every rule that applied.
pub fn one_applies(shared: &Shared, memory: &Memory, opens: &OpenTerms, thread: &Thread) -> Result<Vec<Rule>, String> {
    let asked = ask(shared, memory, opens, thread);
    FOUND.with_borrow_mut(|found| {
        found.configurations += 1;
        found.terms += asked.len() as u64;
        found.open += asked.iter().filter(|a| a.alternatives && a.applied.len() > 1).count() as u64;
        found.fired.extend(asked.iter().flat_map(|a| a.applied.iter().flatten().copied()));
    });
    for a in &asked {
        if a.applied.len() > 1 && !a.alternatives {
            return Err(format!("several rules apply to one term: {:?}", a.applied));
        }
        if !a.indexed {
            return Err(format!("a rule applies that the form of the term does not lead to: {:?}", a.applied));
        }
    }
    match asked.last() {
        Some(whole) if whole.whole && !whole.applied.is_empty() => {
            let mut all: Vec<Rule> = asked.iter().flat_map(|a| a.applied.iter().flatten().copied()).collect();
            all.sort_unstable();
            Ok(all)
        }
        _ => Err("no rule applies".into()),
    }
}

/// Checks that these rules made a step. A thread continues at the place of its last step. The step
/// must be the same as a step found from the whole program.
pub fn made_by(taken: &Step, mut all: Vec<Rule>) -> Result<(), String> {
    let mut rules: Vec<Rule> = taken.within.iter().copied().chain([taken.rule]).collect();
    rules.sort_unstable();
    // One of the outcomes of a condition is chosen, so the rule of the other is left out.
    let others = all.len() - rules.len().min(all.len());
    all.retain(|rule| rules.contains(rule));
    match others <= 1 && all.len() == rules.len() && all == rules {
        true => Ok(()),
        false => Err(format!("a step is made by {rules:?}; asked of the whole program, {all:?} apply")),
    }
}

/// The most steps of one way.
const STEPS: usize = 300;

/// Checks the configurations in the execution of an expression, along at most four ways.
fn follow(program: &Program, root: FunctionId, start: &Expr, planted: Option<(Rule, Replacement)>) -> Result<(), String> {
    let shared = Shared::new(program, root, Planted { rule: planted, ..Planted::default() }).expect("the variables are few");
    let mut found = Ok(());
    explore(4, |ways| {
        let mut opens = OpenTerms::new(Strategy::Carry, ways);
        let mut memory = Memory::default();
        let words = vec![Word::Bits(0); shared.group_words];
        let group = memory.push(Object { space: AddressSpace::Threadgroup, name: "threadgroup variables".into(), words });
        let mut thread = Thread::new(&shared, &mut memory, 0, group, start.clone());
        for _ in 0..STEPS {
            if thread.value().is_some() || found.is_err() {
                break;
            }
            let applied = one_applies(&shared, &memory, &opens, &thread);
            match (step(&shared, &mut memory, &mut opens, &mut thread), applied) {
                (_, Err(why)) => found = Err(why),
                (Ok(taken), Ok(applied)) => found = made_by(&taken, applied),
                (Err((Stop::Barrier, _)), _) => thread.released = true,
                (Err(_), _) => break,
            }
        }
        vec![opens.ways]
    });
    found
}

fn follow_expression(text: &str, expression: &str, planted: Option<(Rule, Replacement)>) -> Result<(), String> {
    let prepared = prepare(text, expression).unwrap_or_else(|wrong| panic!("{expression}: {:?}", wrong.errors));
    let root = FunctionId(prepared.program.bodies.len() as u32 - 1);
    follow(&prepared.program, root, &source(&prepared.program, prepared.expr), planted)
}

/// Expressions whose executions apply every rule except those of textures and quads.
const TEXT: &str = "
    struct P { int x; int[3] a; }
    struct Q { P p; }
    P operator.all(Q q) { return q.p; }
    Q operator.all=(Q q, P p) { q.p = p; return q; }
    int operator[](P p, uint i) { return p.a[i]; }
    P operator[]=(P p, uint i, int v) { p.a[i] = v; return p; }
    thread int* operator&.alias(thread P* p) { return &(p->x); }
    int fields(int n) { Q q; q.all.x = n; q.all.x++; ++q.all.x; q.all.x += 2; q.p.alias = 4; return q.all.x + q.p.alias; }
    int elements(uint i) { Q q; q.all.a[i] = 4; q.all.a[1] += 2; P p; p[2] = 3; p[i]++; return q.all.a[0] + p[1]; }
    int loops(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) { if (i == 2) { continue; } if (i == 5) { break; } s += i; }
        do { s--; if (s == 3) { return s; } } while (s > 1);
        for (;;) { if (s > 0) { return 7; } s++; }
        return 0;
    }
    int cases(int k) {
        while (true) {
            switch (k) { case 1: k = 2; break; case 2: fallthrough; case 3: return k; default: k = 1; break; }
        }
        return 0;
    }
    bool conditions(int a, int b) { return a < b && b < 3 || (a == 1 ? b == 2 : !(b == 4)); }
    int pointers(uint n) { int[4] a; thread int* p = &a[n]; *p = 5; thread int[] r = @a; r[n] += 1; r[9] = 2; return *p + int(r.length + a.length); }
    int commas(int n) { int m = (n++, n * 2); nothing(); none(m); return m; }
    void nothing() { }
    void none(int n) { if (n > 100) { discard; } return; }
    int made() { return 2 * (first() + 1); }
    int first() { { return 1; } }
    int atomics(int n) {
        threadgroup atomic_int x; int z;
        InterlockedAdd(&x, n, &z); InterlockedExchange(&x, 7, &z); InterlockedCompareExchange(&x, 7, n, &z);
        InterlockedCompareExchange(&x, 1000, n, &z);
        return z;
    }
    int unspecified(int n) {
        int[4] a; uint at = uint(n); a[0] = 1; a[1] = 2; a[2] = 3; a[3] = 4;
        int k = a[at];
        thread int[] r = @a; k = r[9];
        if (k > 2) { n = 1; }
        bool b = k > 1 && n < 3 || k == 4;
        switch (k) { case 1: return 1; case 2: return k == 2 ? 5 : 6; default: break; }
        return b ? n : k;
    }";

const CALLS: &[&str] = &[
    "fields(3)",
    "elements(0)",
    "elements(1)",
    "elements(9)",
    "loops(4)",
    "loops(9)",
    "cases(1)",
    "cases(3)",
    "cases(9)",
    "conditions(1, 2)",
    "conditions(2, 1)",
    "conditions(1, 4)",
    "pointers(2)",
    "commas(1)",
    "commas(60)",
    "made()",
    "atomics(3)",
    "unspecified(2)",
];

#[test]
fn exactly_one_rule_applies_to_every_configuration() {
    FOUND.take();
    let programs: u64 = std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(0).max(100);
    for seed in 0..programs {
        let text = typed::program(seed);
        let program = validate(&text).program.unwrap_or_else(|| panic!("program {seed} is not valid:\n{text}"));
        for (root, start) in starts(&program, seed) {
            if let Err(why) = follow(&program, root, &start, None) {
                panic!("program {seed}, {}: {why}\n{text}", program.env.signature(root));
            }
        }
    }
    let by_programs = FOUND.with_borrow(|found| found.fired.len());
    for expression in CALLS {
        follow_expression(TEXT, expression, None).unwrap_or_else(|why| panic!("{expression}: {why}"));
    }
    crate::textures::preserved(&mut BTreeSet::new());
    drawn();
    let found = FOUND.take();
    println!(
        "{} configurations, {} terms, {} conditions; generated programs apply {by_programs} rules",
        found.configurations, found.terms, found.open
    );
    assert!(found.configurations > 100 * programs && found.terms > 5 * found.configurations, "{} terms", found.terms);
    assert!(found.open > 20, "only {} conditions were unspecified", found.open);
    let missed: Vec<Rule> = of_execution().into_iter().filter(|rule| !found.fired.contains(rule)).collect();
    assert!(missed.is_empty(), "rules that applied nowhere: {missed:?}");
}

fn of_execution() -> Vec<Rule> {
    let is = |r: &&Rule| matches!(r.judgement(), Judgement::StatementExecution | Judgement::ExpressionExecution);
    Rule::ALL.iter().filter(is).copied().collect()
}

#[test]
fn the_table_has_every_rule() {
    let mut all = of_execution();
    all.sort_unstable();
    assert_eq!(Rules::default().rules(), all);
}

/// Calls of a program's functions, each with its function.
fn starts(program: &Program, seed: u64) -> Vec<(FunctionId, Expr)> {
    let mut layouts = Layouts::default();
    let functions = program.env.functions.iter().enumerate();
    let callable = functions.filter(|(_, function)| matches!(function.kind, FunctionKind::Normal | FunctionKind::Cast));
    let start = |(i, _)| {
        let root = FunctionId(i as u32);
        let parameters = &program.env.function(root).parameters;
        let arguments: Option<Vec<Value>> =
            parameters.iter().map(|p| argument(program, &mut layouts, p.ty, seed.wrapping_mul(0x9e37_79b9))).collect();
        Some((root, call_of(program, root, arguments?)))
    };
    callable.filter_map(start).collect()
}

/// Checks draws, which have the operations over quads. No value in them is unspecified.
fn drawn() {
    let text = "
        fragment float4 f(float2 p : attribute(0)) : SV_Target 0 {
            float y = ddx(p.x * p.y);
            if (p.x > 0.6) { discard; }
            return float4(p, y, ddy_fine(y));
        }";
    let program = validate(text).program.expect("it is valid");
    let fragment = entry_of(&program, Stage::Fragment, None).expect("there is one");
    let vertices = Vertices::Screen(vec![(0, smallstep_semantics::wsl::draw::StageInSource::Place)]);
    let specialization = Specialization::default();
    let draw = Draw { program: &program, text, vertices, fragment, size: [4, 4], depth: None, resources: Vec::new(), specialization };
    let watch = |shared: &Shared, memory: &Memory, thread: &Thread| {
        if thread.value().is_none() {
            let opens = OpenTerms::new(Strategy::First, Ways::default());
            one_applies(shared, memory, &opens, thread).unwrap_or_else(|why| panic!("a step of a draw: {why}"));
        }
    };
    let settings = Settings { strategy: Strategy::First, watch: Some(watch), ..Settings::default() };
    assert!(matches!(draw.run(&settings), Ending::Shown(_)));
}

/// A rule without a part of its premises: the missing part, the rule, and its replacement.
type Guardless = (&'static str, Rule, Replacement);

fn zeros(cx: &Cx, e: &Expr) -> Next {
    let words = cx.shared.words(e.ty).unwrap_or(0);
    Next::value(e, Words::from_elem(Word::Bits(0), words as usize))
}

fn first(s: &Stmt) -> Option<&Stmt> {
    match s {
        Stmt::Block(block) => block.first.as_ref(),
        _ => None,
    }
}

/// Enters the first case of a switch for which `case` holds. `case` sees only whether the case has
/// a value.
fn entered(cx: &Cx, s: &Stmt, case: impl Fn(&Option<u32>) -> bool) -> Option<Next> {
    let Stmt::Switch(_, id) = s else { return None };
    let StmtForm::Switch(_, cases) = &cx.shared.program.stmt(*id).form else { return None };
    let found = cases.iter().position(|c| case(&c.value.map(|_| 0)))?;
    Some(Next::stmt(Stmt::Cases(Box::new(Stmt::Break), *id, found as u32 + 1)))
}

fn called(e: &Expr) -> Option<(Callee, &[Expr])> {
    match &e.form {
        Form::Call(callee, arguments) => Some((*callee, arguments)),
        _ => None,
    }
}

fn body(e: &Expr) -> Option<&Stmt> {
    match &e.form {
        Form::Construct(s) => Some(s),
        _ => None,
    }
}

fn library(e: &Expr) -> Option<Meaning> {
    match called(e)?.0 {
        Callee::Library(function) => Some(function.meaning()),
        _ => None,
    }
}

fn of_statements() -> Vec<Guardless> {
    use Rule as R;
    vec![
        ("the value", R::WslEIfTrue, S(|_, s| matches!(s, Stmt::If(_)).then(|| Next::part(1)))),
        ("the value", R::WslEIfFalse, S(|_, s| matches!(s, Stmt::If(_)).then(|| Next::part(2)))),
        (
            "that the block is not annotated",
            R::WslEBlockAnnotate,
            S(|_, s| matches!(s, Stmt::Block(block) if block.first.is_some()).then(|| Next::stmt(s.clone()))),
        ),
        ("that the first statement is empty", R::WslEBlockNextStmt, S(|_, s| first(s).map(|_| Next::stmt(Stmt::empty())))),
        ("that the first statement is a terminator", R::WslEBlockTerminator, S(|_, s| first(s).map(|_| Next::part(0)))),
        (
            "that the initialiser is a value",
            R::WslEBlockVdeclComplete,
            S(|_, s| matches!(first(s)?, Stmt::Declaration(_, _, Some(_))).then(|| Next::stmt(Stmt::empty()))),
        ),
        (
            "that there is no initialiser",
            R::WslEBlockVdecl,
            S(|_, s| matches!(first(s)?, Stmt::Declaration(..)).then(|| Next::stmt(Stmt::empty()))),
        ),
        (
            "that the expression is a value",
            R::WslEEffectfulExprElim,
            S(|_, s| matches!(s, Stmt::Effect(_)).then(|| Next::stmt(Stmt::empty()))),
        ),
        ("which case the value is of", R::WslESwitchCaseFound, S(|cx, s| entered(cx, s, Option::is_some))),
        ("that no case is the value's", R::WslESwitchDefault, S(|cx, s| entered(cx, s, Option::is_none))),
        (
            "that the terminator is fallthrough",
            R::WslECasesFallthrough,
            S(|_, s| matches!(s, Stmt::Cases(..)).then(|| Next::stmt(s.clone()))),
        ),
        ("that the terminator is break", R::WslECasesBreak, S(|_, s| matches!(s, Stmt::Cases(..)).then(|| Next::stmt(Stmt::empty())))),
        (
            "that the terminator is another one",
            R::WslECasesOtherTerminator,
            S(|_, s| matches!(s, Stmt::Cases(first, ..) if first.is_terminator()).then(|| Next::part(0))),
        ),
        ("that the loop is a do", R::WslEDoWhileLoop, S(|_, s| matches!(s, Stmt::Iterate(..)).then(|| Next::stmt(Stmt::empty())))),
        ("that the loop is a for", R::WslEForLoop, S(|_, s| matches!(s, Stmt::Iterate(..)).then(|| Next::stmt(Stmt::empty())))),
        ("that the body is break", R::WslELoopBreak, S(|_, s| matches!(s, Stmt::Loop(..)).then(|| Next::stmt(Stmt::empty())))),
        (
            "that the third part is done",
            R::WslELoopNextIteration,
            S(|_, s| matches!(s, Stmt::Loop(parts, _) if parts[0].is_empty()).then(|| Next::part(2))),
        ),
        (
            "that the body is done",
            R::WslELoopNextIteration,
            S(|_, s| matches!(s, Stmt::Loop(parts, _) if parts[1].is_empty()).then(|| Next::part(2))),
        ),
        (
            "that the body is done",
            R::WslELoopIncrement,
            S(|cx, s| match s {
                Stmt::Loop(parts, _) => cx.stmt(&parts[1])?.inside(Rule::WslELoopIncrement, 1),
                _ => None,
            }),
        ),
        (
            "that the terminator is another one",
            R::WslELoopOtherTerminator,
            S(|_, s| matches!(s, Stmt::Loop(parts, _) if parts[0].is_terminator()).then(|| Next::part(0))),
        ),
    ]
}

fn of_expressions() -> Vec<Guardless> {
    use Rule as R;
    vec![
        ("that the first operand is a value", R::WslECommaNext, E(|_, e| matches!(e.form, Form::Comma(_)).then(|| Next::part(1)))),
        ("the value", R::WslEAndTrue, E(|_, e| matches!(e.form, Form::And(_)).then(|| Next::part(1)))),
        ("the value", R::WslEAndFalse, E(|cx, e| matches!(e.form, Form::And(_)).then(|| zeros(cx, e)))),
        ("the value", R::WslEOrTrue, E(|cx, e| matches!(e.form, Form::Or(_)).then(|| zeros(cx, e)))),
        ("the value", R::WslEOrFalse, E(|_, e| matches!(e.form, Form::Or(_)).then(|| Next::part(1)))),
        ("the value", R::WslETernaryTrue, E(|_, e| matches!(e.form, Form::Ternary(_)).then(|| Next::part(1)))),
        ("the value", R::WslETernaryFalse, E(|_, e| matches!(e.form, Form::Ternary(_)).then(|| Next::part(2)))),
        ("that there is a left-value", R::WslELoad, E(|cx, e| matches!(e.form, Form::Coerce(..)).then(|| zeros(cx, e)))),
        ("that there is a left-value", R::WslETakePtrLval, E(|cx, e| matches!(e.form, Form::AddressOf(_)).then(|| zeros(cx, e)))),
        ("that there is a pointer", R::WslEDerefPtr, E(|cx, e| matches!(e.form, Form::Dereference(_)).then(|| zeros(cx, e)))),
        ("that there is a left-value", R::WslEMakeRefLval, E(|cx, e| matches!(e.form, Form::MakeReference(..)).then(|| zeros(cx, e)))),
        ("that the whole is reduced", R::WslEDotGetter, E(|cx, e| matches!(e.form, Form::Dot(_, Access::Getter(_))).then(|| zeros(cx, e)))),
        ("that there is no address-taker", R::WslEDotGetter, E(|cx, e| matches!(e.form, Form::Dot(..)).then(|| zeros(cx, e)))),
        (
            "that the whole and the index are reduced",
            R::WslEArrayDerefGetter,
            E(|cx, e| matches!(e.form, Form::Index(..)).then(|| zeros(cx, e))),
        ),
        ("that the whole is a left-value", R::WslEAlvalDotAnder, E(|cx, e| matches!(e.form, Form::Dot(..)).then(|| zeros(cx, e)))),
        ("that the index is a value", R::WslEAlvalArrayAnder, E(|cx, e| matches!(e.form, Form::Index(..)).then(|| zeros(cx, e)))),
        (
            "that the whole is reduced",
            R::WslEAlvalArrayReduceRight,
            E(|cx, e| match &e.form {
                Form::Element(parts) | Form::Index(parts, _) => cx.expr(&parts[1])?.inside(Rule::WslEAlvalArrayReduceRight, 1),
                _ => None,
            }),
        ),
        ("that the index is in bounds", R::WslEArrayRefValid, E(|cx, e| is_element(e).then(|| zeros(cx, e)))),
        ("that the index is out of bounds", R::WslEArrayRefClamped, E(|cx, e| is_element(e).then(|| zeros(cx, e)))),
        (
            "that there are no parentheses",
            R::WslEAlvalGenericReduce,
            E(|cx, e| match e.form {
                Form::Parens(_) | Form::Variable(_) | Form::Dereference(_) => cx.expr(e)?.within(Rule::WslEAlvalGenericReduce),
                _ => None,
            }),
        ),
    ]
}

fn is_element(e: &Expr) -> bool {
    matches!(&e.form, Form::Element(parts) if parts.iter().all(|p| p.words().is_some()))
}

fn of_calls() -> Vec<Guardless> {
    use Rule as R;
    vec![
        (
            "that the left side is reduced",
            R::WslEAssignRightReduce,
            E(|cx, e| match &e.form {
                Form::Assign(parts) => cx.expr(&parts[1])?.inside(Rule::WslEAssignRightReduce, 1),
                _ => None,
            }),
        ),
        (
            "that the right side is a value",
            R::WslEAssignExecute,
            E(|_, e| matches!(&e.form, Form::Assign(parts) if parts[0].left().is_some()).then(|| Next::part(1))),
        ),
        (
            "that the left side is a left-value",
            R::WslEAssignExecute,
            E(|_, e| matches!(&e.form, Form::Assign(parts) if parts[1].words().is_some()).then(|| Next::part(1))),
        ),
        (
            "that the right side is a value",
            R::WslEAssignSetter,
            E(|_, e| matches!(&e.form, Form::Assign(parts) if matches!(parts[0].form, Form::Dot(..))).then(|| Next::part(1))),
        ),
        (
            "that the right side is a value",
            R::WslEAssignIndexedSetter,
            E(|_, e| matches!(&e.form, Form::Assign(parts) if matches!(parts[0].form, Form::Index(..))).then(|| Next::part(1))),
        ),
        ("that the operand is reduced", R::WslEPrefixIncrElim, E(|cx, e| matches!(e.form, Form::Step(_, _, None)).then(|| zeros(cx, e)))),
        (
            "that the operand is reduced",
            R::WslEPostfixIncrElim,
            E(|cx, e| matches!(e.form, Form::Step(_, _, Some(_))).then(|| zeros(cx, e))),
        ),
        (
            "that it stands before",
            R::WslEPrefixIncrElim,
            E(|cx, e| matches!(&e.form, Form::Step(p, ..) if p.left().is_some()).then(|| zeros(cx, e))),
        ),
        (
            "that it stands behind",
            R::WslEPostfixIncrElim,
            E(|cx, e| matches!(&e.form, Form::Step(p, ..) if p.left().is_some()).then(|| zeros(cx, e))),
        ),
        (
            "that the left side is reduced",
            R::WslEPlusEqualElim,
            E(|cx, e| matches!(e.form, Form::CompoundAssign(..)).then(|| zeros(cx, e))),
        ),
        (
            "that the arguments are values",
            R::WslECallResolve,
            E(|cx, e| e_call_resolve(cx, e).or_else(|| matches!(called(e)?.0, Callee::Declared(_)).then(|| zeros(cx, e)))),
        ),
        (
            "whose function it is",
            R::WslECallResolve,
            E(|cx, e| e_call_resolve(cx, e).or_else(|| called(e)?.1.iter().all(|a| a.words().is_some()).then(|| zeros(cx, e)))),
        ),
        ("that nothing is returned", R::WslECallReturnVoid, E(|cx, e| matches!(body(e)?, Stmt::Return(_)).then(|| zeros(cx, e)))),
        ("that the body is at its end", R::WslECallEndFunction, E(|cx, e| body(e).map(|_| zeros(cx, e)))),
        ("that what is returned is a value", R::WslECallReturn, E(|cx, e| matches!(body(e)?, Stmt::Return(_)).then(|| zeros(cx, e)))),
        ("that it is discard", R::WslEDiscard, E(|_, e| body(e)?.is_terminator().then(Next::discards))),
        ("which address it is", R::WslEFieldAddress, E(|cx, e| matches!(called(e)?.0, Callee::Generated(_)).then(|| zeros(cx, e)))),
        (
            "that the arguments are values",
            R::WslEElementAddress,
            E(|cx, e| matches!(called(e)?.0, Callee::Generated(Generated::ElementAddress(..))).then(|| zeros(cx, e))),
        ),
        ("that it gets", R::WslEGeneratedGetter, E(|cx, e| matches!(called(e)?.0, Callee::Generated(_)).then(|| zeros(cx, e)))),
        ("that it sets", R::WslEGeneratedSetter, E(|cx, e| matches!(called(e)?.0, Callee::Generated(_)).then(|| zeros(cx, e)))),
        ("that the arguments are values", R::WslECallLibrary, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
        ("which function it is", R::WslEInterlocked, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
        ("which function it is", R::WslECompareExchange, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
        ("which function it is", R::WslEBarrier, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
        ("which function it is", R::WslEDerivative, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
        ("which function it is", R::WslETextureLoad, E(|cx, e| library(e).map(|_| zeros(cx, e)))),
    ]
}

#[test]
fn a_rule_without_its_premises_is_seen() {
    let all: Vec<Guardless> = [of_statements(), of_expressions(), of_calls()].concat();
    assert!(all.len() >= 60, "{}", all.len());
    let mut unseen = Vec::new();
    for (what, rule, by) in &all {
        let seen = CALLS.iter().any(|expression| follow_expression(TEXT, expression, Some((*rule, *by))).is_err());
        if !seen {
            unseen.push(format!("{rule} forgets {what}"));
        }
    }
    assert!(unseen.is_empty(), "{} of {} are not seen:\n{}", unseen.len(), all.len(), unseen.join("\n"));
    FOUND.take();
}

#[test]
fn a_rule_that_never_applies_is_missed() {
    let without = |rule, by| CALLS.iter().any(|expression| follow_expression(TEXT, expression, Some((rule, by))).is_err());
    for rule in [Rule::WslEIfTrue, Rule::WslELoopIncrement, Rule::WslEBlockNextStmt] {
        assert!(without(rule, S(|_, _| None)), "{rule}");
    }
    for rule in [Rule::WslEVariable, Rule::WslEAssignLeftReduce, Rule::WslECallReduce, Rule::WslEAlvalGenericReduce] {
        assert!(without(rule, E(|_, _| None)), "{rule}");
    }
}
