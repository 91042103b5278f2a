//! Guarantees of the generators, over thousands of seeds.

use smallstep::generate::{Limits, Mode, VERSION, near_miss, well_typed};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::machine::{self, Bounds};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::{Program, is_predefined};
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Tree};
use smallstep_semantics::lambda_v::terms::Node;
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use smallstep_semantics::lambda_v::typing::{self, Derivation, check, infer};
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};

const COUNT: u64 = 10_000;

fn nodes(tree: &Tree) -> usize {
    tree.roots.iter().map(|&root| tree.size(root)).sum()
}

fn resolved(seed: u64, tree: &Tree) -> Program {
    Program::resolve(tree).unwrap_or_else(|e| panic!("seed {seed}: {}: {}\n{}", e.code, e.message, tree.print()))
}

fn typed(seed: u64, tree: &Tree, program: &Program) -> Derivation {
    infer(program, typing::Limits::default()).unwrap_or_else(|e| panic!("seed {seed}: {}: {}\n{}", e.code(), e.message(), tree.print()))
}

#[test]
fn programs_are_well_typed_and_print_back() {
    let mut sizes: Vec<usize> = Vec::new();
    for seed in 0..COUNT {
        let tree = well_typed(seed, &Limits::default());
        let text = tree.print();
        let derivation = typed(seed, &tree, &resolved(seed, &tree));
        check(&derivation).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.message));
        let again = parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.message));
        assert!(again.same(&tree), "seed {seed}\n{text}");
        // The nodes are the same, in the same order. So the spans are the same.
        assert_eq!((&again.nodes.len(), &again.spans, &again.roots), (&tree.nodes.len(), &tree.spans, &tree.roots), "seed {seed}\n{text}");
        sizes.push(nodes(&tree));
    }
    sizes.sort_unstable();
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
    let at = |percent: usize| sizes[(sizes.len() - 1) * percent / 100];
    println!("nodes: mean {mean:.1}; {} least, {} median, {} at 95 %, {} most", at(0), at(50), at(95), at(100));
    assert!((36.0..44.0).contains(&mean), "{mean}");
    assert!(at(5) <= 10 && at(98) >= 90 && at(100) <= 400);
}

#[test]
fn runs_end_soon_and_nearly_all_lanes_are_decided() {
    let setting = Setting::at_pixel(1, 2);
    let (mut strict, mut wgsl, mut lanes) = (0u32, 0u32, 0u32);
    let (mut steps, mut most) = (0u64, 0u64);
    let mut endings: BTreeMap<&str, u32> = BTreeMap::new();
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..COUNT {
        let tree = well_typed(seed, &Limits::default());
        let mut vacuous = false;
        for output in &resolved(seed, &tree).outputs {
            let (outcome, taken) = machine::run(&resolved(seed, &tree), output.term, &setting, Bounds::default());
            (steps, most) = (steps + taken, most.max(taken));
            *endings.entry(outcome.name()).or_default() += 1;
            match outcome {
                Outcome::Observed(value) => {
                    for lane in &value.lanes {
                        lanes += 1;
                        match lane.judge(Profile::Strict) {
                            Expected::Undecided(why) => *reasons.entry(format!("{why:?}")).or_default() += 1,
                            _ => strict += 1,
                        }
                        wgsl += u32::from(!matches!(lane.judge(Profile::Wgsl), Expected::Undecided(_)));
                    }
                }
                Outcome::Diverges(_) => vacuous = true,
                other => panic!("seed {seed}: {other:?}\n{}", tree.print()),
            }
        }
        *endings.entry("vacuous programs").or_default() += u32::from(vacuous);
    }
    let share = |n: u32| f64::from(n) / f64::from(lanes);
    println!("{endings:?}; undecided {reasons:?}");
    println!("decided: {:.4} strict, {:.4} wgsl; steps: {:.1} mean, {most} most", share(strict), share(wgsl), steps as f64 / COUNT as f64);
    assert!(share(strict) >= 0.85 && share(wgsl) >= 0.8);
    let vacuous = endings["vacuous programs"];
    assert!((1..=COUNT as u32 / 50).contains(&vacuous), "{vacuous}");
    assert!(most < 20_000, "{most}");
}

/// The instances of every overload: the builtin and its operands' types.
fn instances() -> BTreeSet<(Builtin, Vec<Ground>)> {
    let mut all = BTreeSet::new();
    for builtin in Builtin::all() {
        for overload in builtin.row().overloads {
            for n in overload.least..=overload.greatest {
                for elem in [Elem::F, Elem::B] {
                    let params: Option<Vec<Ground>> = overload.params.iter().map(|&p| overload.shape(p, n, elem)).collect();
                    all.extend(params.filter(|p| overload.fits(p).is_some()).map(|p| (builtin, p)));
                }
            }
        }
    }
    all
}

#[test]
fn every_overload_and_every_typing_rule_is_used() {
    let mut missing = instances();
    let total = missing.len();
    let mut rules: BTreeMap<Rule, u32> = BTreeMap::new();
    let mut outputs: BTreeSet<Type> = BTreeSet::new();
    for seed in 0..COUNT {
        let tree = well_typed(seed, &Limits::default());
        let d = typed(seed, &tree, &resolved(seed, &tree));
        outputs.extend(d.types());
        for rule in d.rules() {
            *rules.entry(rule).or_default() += 1;
        }
        for step in d.nodes.iter().filter(|step| step.rule == Rule::LvTBuiltin) {
            let Node::Builtin(builtin) = d.terms.node(step.goal.e) else { panic!("lv/t-builtin is about builtins") };
            let operand = |&p: &u32| match d.nodes[p as usize].ty {
                Type::Ground(ty) => ty,
                other => panic!("an operand of type {other}"),
            };
            missing.remove(&(builtin, step.premises.iter().map(operand).collect()));
        }
    }
    println!("{total} instances; rules: {rules:?}");
    assert!(missing.is_empty(), "never typed: {missing:?}");
    let unused: Vec<_> = Rule::ALL.iter().filter(|r| is_typing(**r) && !rules.contains_key(r)).collect();
    assert!(unused.is_empty(), "never used: {unused:?}");
    assert_eq!(outputs.len(), 4);
}

fn is_typing(rule: Rule) -> bool {
    rule.name().starts_with("lv/t-") || rule.name().starts_with("lv/rec-match")
}

/// The name, if the expression is a name.
fn name(tree: &Tree, id: ExprId) -> Option<&str> {
    match tree.expr(id) {
        Expr::Ident(symbol) => Some(tree.symbols.name(*symbol)),
        _ => None,
    }
}

fn items(tree: &Tree, id: ExprId) -> &[ExprId] {
    match tree.expr(id) {
        Expr::List(items) => items,
        _ => &[],
    }
}

/// The head of the list, if it is a name.
fn head(tree: &Tree, id: ExprId) -> Option<&str> {
    items(tree, id).first().and_then(|&first| name(tree, first))
}

/// The subexpressions of an expression, without lists of names and bindings.
fn parts(tree: &Tree, id: ExprId) -> Vec<ExprId> {
    match binder(tree, id) {
        Some((_, values, body)) => values.into_iter().chain([body]).collect(),
        None => items(tree, id).to_vec(),
    }
}

/// Whether the root or an expression below it satisfies the predicate.
fn any(tree: &Tree, root: ExprId, found: &dyn Fn(&Tree, ExprId) -> bool) -> bool {
    found(tree, root) || parts(tree, root).iter().any(|&part| any(tree, part, found))
}

fn count(tree: &Tree, root: ExprId, found: &dyn Fn(&Tree, ExprId) -> bool) -> usize {
    usize::from(found(tree, root)) + parts(tree, root).iter().map(|&part| count(tree, part, found)).sum::<usize>()
}

fn calls(tree: &Tree, id: ExprId, form: &str) -> bool {
    head(tree, id) == Some(form)
}

/// The parts of `(let …)`, `(func …)` and `(rec-func …)`: bound names, bound
/// expressions, body.
fn binder(tree: &Tree, id: ExprId) -> Option<(Vec<&str>, Vec<ExprId>, ExprId)> {
    let &[first, list, body] = items(tree, id) else { return None };
    let list = items(tree, list);
    match name(tree, first)? {
        "let" => Some((
            list.iter().filter_map(|&pair| head(tree, pair)).collect(),
            list.iter().filter_map(|&pair| items(tree, pair).get(1).copied()).collect(),
            body,
        )),
        "func" | "rec-func" => Some((list.iter().filter_map(|&param| name(tree, param)).collect(), Vec::new(), body)),
        _ => None,
    }
}

type Construct = (&'static str, fn(&Tree, ExprId) -> bool);

/// Constructs that programs contain, recognised in their text.
const CONSTRUCTS: &[Construct] = &[
    ("frag-coord", |t, e| calls(t, e, "frag-coord")),
    ("let of several", |t, e| calls(t, e, "let") && binder(t, e).is_some_and(|b| b.0.len() > 1)),
    ("let in the body of a let", |t, e| calls(t, e, "let") && binder(t, e).is_some_and(|b| any(t, b.2, &|t, e| calls(t, e, "let")))),
    ("let in what a let binds", |t, e| {
        calls(t, e, "let") && binder(t, e).is_some_and(|b| b.1.iter().any(|&v| any(t, v, &|t, e| calls(t, e, "let"))))
    }),
    ("binder that an inner one hides", |t, e| {
        binder(t, e).is_some_and(|(names, _, body)| {
            any(t, body, &|t, e| binder(t, e).is_some_and(|(inner, ..)| inner.iter().any(|n| names.contains(n))))
        })
    }),
    ("predefined identifier hidden", |t, e| binder(t, e).is_some_and(|b| b.0.iter().any(|n| is_predefined(n)))),
    ("form hidden", |t, e| {
        binder(t, e).is_some_and(|b| b.0.iter().any(|n| ["if", "let", "func", "rec-func", "rec", "define", "output"].contains(n)))
    }),
    ("builtin bound by let", |t, e| {
        calls(t, e, "let") && binder(t, e).is_some_and(|b| b.1.iter().any(|&v| name(t, v).is_some_and(|n| Builtin::from_name(n).is_some())))
    }),
    ("if bound by let", |t, e| calls(t, e, "let") && binder(t, e).is_some_and(|b| b.1.iter().any(|&v| name(t, v) == Some("if")))),
    ("rec bound by let", |t, e| calls(t, e, "let") && binder(t, e).is_some_and(|b| b.1.iter().any(|&v| name(t, v) == Some("rec")))),
    ("rec passed", |t, e| items(t, e).len() > 1 && items(t, e)[1..].iter().any(|&a| name(t, a) == Some("rec")) && !calls(t, e, "let")),
    ("builtin passed", |t, e| {
        items(t, e).len() > 1 && items(t, e)[1..].iter().any(|&a| name(t, a).is_some_and(|n| Builtin::from_name(n).is_some()))
    }),
    ("if passed", |t, e| items(t, e).len() > 1 && items(t, e)[1..].iter().any(|&a| name(t, a) == Some("if"))),
    ("func passed", |t, e| items(t, e).len() > 1 && items(t, e)[1..].iter().any(|&a| calls(t, a, "func")) && binder(t, e).is_none()),
    ("func returned", |t, e| calls(t, e, "func") && binder(t, e).is_some_and(|b| calls(t, b.2, "func"))),
    ("func bound by let", |t, e| calls(t, e, "let") && binder(t, e).is_some_and(|b| b.1.iter().any(|&v| calls(t, v, "func")))),
    ("func without parameters", |t, e| calls(t, e, "func") && binder(t, e).is_some_and(|b| b.0.is_empty())),
    ("func of several parameters", |t, e| calls(t, e, "func") && binder(t, e).is_some_and(|b| b.0.len() > 1)),
    ("curried application", |t, e| {
        items(t, e).first().is_some_and(|&h| !items(t, h).is_empty() && binder(t, h).is_none() && !calls(t, h, "if"))
    }),
    ("if in the place of a function", |t, e| items(t, e).first().is_some_and(|&h| calls(t, h, "if"))),
    ("let in the place of a function", |t, e| items(t, e).first().is_some_and(|&h| calls(t, h, "let"))),
    ("if in an operand", |t, e| {
        head(t, e).is_some_and(|h| Builtin::from_name(h).is_some()) && items(t, e)[1..].iter().any(|&a| calls(t, a, "if"))
    }),
    ("if in a condition", |t, e| calls(t, e, "if") && items(t, e).get(1).is_some_and(|&c| any(t, c, &|t, e| calls(t, e, "if")))),
    ("rec-func", |t, e| calls(t, e, "rec-func")),
    ("two calls of rec in one body", |t, e| {
        calls(t, e, "rec-func") && binder(t, e).is_some_and(|b| count(t, b.2, &|t, e| calls(t, e, "rec")) > 1)
    }),
    ("rec-func in the body of one", |t, e| {
        calls(t, e, "rec-func") && binder(t, e).is_some_and(|b| any(t, b.2, &|t, e| calls(t, e, "rec-func")))
    }),
    ("rec-func in the argument of one", |t, e| {
        items(t, e).first().is_some_and(|&h| calls(t, h, "rec-func"))
            && items(t, e)[1..].iter().any(|&a| any(t, a, &|t, e| calls(t, e, "rec-func")))
    }),
    ("rec-func in a condition", |t, e| {
        calls(t, e, "if") && items(t, e).get(1).is_some_and(|&c| any(t, c, &|t, e| calls(t, e, "rec-func")))
    }),
    ("rec-func in a func", |t, e| calls(t, e, "func") && binder(t, e).is_some_and(|b| any(t, b.2, &|t, e| calls(t, e, "rec-func")))),
    ("self-application, unused", |t, e| {
        let is_half =
            |&h: &ExprId| binder(t, h).is_some_and(|b| b.0.len() == 1 && items(t, b.2).len() == 2 && head(t, b.2) == Some(b.0[0]));
        items(t, e).len() == 2 && items(t, e).iter().all(is_half)
    }),
    ("define", |t, e| calls(t, e, "define")),
    ("output", |t, e| calls(t, e, "output")),
    ("Mat", |t, e| head(t, e).is_some_and(|h| h.starts_with("mat"))),
    ("negative zero", |t, e| matches!(t.expr(e), Expr::Num(x) if x.to_bits() == 0x8000_0000)),
    ("subnormal", |t, e| matches!(t.expr(e), Expr::Num(x) if x.is_subnormal())),
    ("tie", |t, e| matches!(t.expr(e), Expr::Num(x) if x.abs().fract() == 0.5)),
];

#[test]
fn every_construct_is_used() {
    let mut found = vec![0u32; CONSTRUCTS.len()];
    let mut several_outputs = 0u32;
    for seed in 0..COUNT {
        let tree = well_typed(seed, &Limits::default());
        several_outputs += u32::from(resolved(seed, &tree).outputs.len() > 1);
        for (count, (_, construct)) in found.iter_mut().zip(CONSTRUCTS) {
            *count += u32::from(tree.roots.iter().any(|&root| any(&tree, root, construct)));
        }
    }
    for (count, (what, _)) in found.iter().zip(CONSTRUCTS) {
        println!("{:6.2} % {what}", f64::from(*count) * 100.0 / COUNT as f64);
    }
    println!("{several_outputs} with several outputs");
    let rare: Vec<_> = found.iter().zip(CONSTRUCTS).filter(|(count, _)| **count < 15).map(|(_, (what, _))| what).collect();
    assert!(rare.is_empty(), "in fewer than 15 of {COUNT} programs: {rare:?}");
    assert!(found[0] > COUNT as u32 * 8 / 10, "the pixel's coordinate in {} programs only", found[0]);
    assert!(several_outputs > 300);
}

#[test]
fn a_program_is_a_function_of_its_seed() {
    let of_mode = |mode: Mode| -> Vec<String> { (0..200).map(|seed| well_typed(seed, &mode.limits()).print()).collect() };
    let texts = of_mode(Mode::default());
    let different: BTreeSet<&String> = texts.iter().collect();
    assert!(different.len() > 195);
    // FNV-1a, so that the hash is the same everywhere. If it changes, the seeds in journals and
    // reports mean other programs: raise VERSION.
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = |texts: &[String]| texts.iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, fold);
    let hashes = [hash(&texts), hash(&of_mode(Mode::Decided)), hash(&of_mode(Mode::Rough))];
    assert_eq!((VERSION, hashes), (2, [0xe316_ccc8_1c46_124f, 0x0943_cb28_1e49_d1e2, 0x14fe_8385_d7f9_d3a3]), "{hashes:#018x?}");
}

#[test]
fn near_misses_are_rejected_by_the_rule_they_break() {
    let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
    let mut changes: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..COUNT / 2 {
        let (tree, expected) = near_miss(seed, &Limits::default());
        let text = tree.print();
        let code = match Program::resolve(&tree) {
            Err(e) => e.code,
            Ok(program) => match infer(&program, typing::Limits::default()) {
                Err(e) => e.code(),
                Ok(_) => panic!("seed {seed}: accepted, though it has {}\n{text}", expected.change),
            },
        };
        assert_eq!(code, expected.code, "seed {seed}: it has {}\n{text}", expected.change);
        assert!(parse(&text).is_ok_and(|again| again.same(&tree)), "seed {seed}\n{text}");
        *codes.entry(code).or_default() += 1;
        *changes.entry(expected.change).or_default() += 1;
    }
    println!("{codes:#?}");
    assert!(changes.values().all(|&n| n > 40), "{changes:#?}");
    let expected = [
        // Typing: every rule.
        "lv/t-num",
        "lv/t-true",
        "lv/t-false",
        "lv/t-param",
        "lv/t-let",
        "lv/t-app",
        "lv/t-func",
        "lv/t-builtin",
        "lv/t-if",
        "lv/t-rec-func",
        "lv/t-rec",
        "lv/no-finite-derivation",
        // Names and forms.
        "lv/unknown-identifier",
        "lv/binder-duplicate",
        "lv/binder",
        "lv/let",
        "lv/func",
        "lv/rec-func",
        "lv/rec-outside",
        "lv/form-place",
        "lv/define",
        "lv/output",
        "lv/output-location",
        "lv/output-duplicate",
        "lv/program-form",
        "lv/program-output",
    ];
    assert_eq!(codes.keys().copied().collect::<BTreeSet<_>>(), expected.into_iter().collect());
}
