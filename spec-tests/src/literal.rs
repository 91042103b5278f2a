//! The rules of the reports by the letter, where the letter is wrong. There is a variant for each
//! erratum that can be run.
//!
//! A variant replaces a corrected rule through the hook for planted bugs, or it rewrites the
//! program as the substitution of the letter would. `;@ test … literal=LV-2` runs a test with a
//! variant. A variant follows the letter as far as its exhibits need. A comment names its shortcut,
//! if it takes one.

use crate::wsl;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep::compile::lambda_v::Site;
use smallstep::compile::wsl::planted::{Change, Planted as Bug};
use smallstep::theorem::case::Planted;
use smallstep_semantics::lambda_v::step::{Reduct, Reduction};
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Symbol, Tree};
use smallstep_semantics::lambda_v::terms::{Node, Replacement, TermId, Terms};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use smallstep_semantics::lambda_v::typing::{TypeError, Typed};
use smallstep_semantics::outcome::Limit;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::step::{Config, Env};
use smallstep_semantics::spirv::{Next, Rules};
use smallstep_semantics::wsl::execution::{self, Replacement as By};
use smallstep_semantics::wsl::meaning;
use smallstep_semantics::wsl::typing::premises::Premises;

/// A report's rule by the letter.
pub struct Literal {
    /// The erratum, with a letter appended if it has several variants.
    pub name: &'static str,
    /// A description of the rule by the letter.
    pub what: &'static str,
    /// The rewriting of the program, if the variant has one.
    pub source: Option<fn(&Tree) -> Tree>,
    /// Plants the rule in the engines of λV and SPIR-V.
    pub plant: fn(&mut Planted),
    /// Replaces a judgement on which the rules of WSL rest.
    pub premises: Option<fn(&mut Premises)>,
    /// The bugs that the variant plants in WSL's execution.
    pub execution: execution::Planted,
    /// The number of the erratum whose rule of seed 001 is applied by the letter.
    pub uniformity: Option<u32>,
    /// The rule of seed 003 that the translation of WSL applies by the letter.
    pub codegen: Option<Bug>,
}

impl Literal {
    /// The variant of that name.
    pub fn named(name: &str) -> Option<&'static Literal> {
        LITERALS.iter().find(|l| l.name == name)
    }
}

const NOTHING: execution::Planted = execution::Planted { rule: None, group: None, scalar: None, bound: None, draw: None };

const fn planted(name: &'static str, what: &'static str, plant: fn(&mut Planted)) -> Literal {
    Literal { name, what, source: None, plant, premises: None, execution: NOTHING, uniformity: None, codegen: None }
}

const fn rewritten(name: &'static str, what: &'static str, source: fn(&Tree) -> Tree) -> Literal {
    Literal { name, what, source: Some(source), plant: |_| {}, premises: None, execution: NOTHING, uniformity: None, codegen: None }
}

const fn premised(name: &'static str, what: &'static str, premises: fn(&mut Premises)) -> Literal {
    Literal { name, what, source: None, plant: |_| {}, premises: Some(premises), execution: NOTHING, uniformity: None, codegen: None }
}

const fn executed(name: &'static str, what: &'static str, rule: Rule, by: By) -> Literal {
    Literal {
        name,
        what,
        source: None,
        plant: |_| {},
        premises: None,
        execution: execution::Planted { rule: Some((rule, by)), ..NOTHING },
        uniformity: None,
        codegen: None,
    }
}

const fn computed(name: &'static str, what: &'static str, scalar: meaning::Replacement) -> Literal {
    Literal {
        name,
        what,
        source: None,
        plant: |_| {},
        premises: None,
        execution: execution::Planted { scalar: Some(scalar), ..NOTHING },
        uniformity: None,
        codegen: None,
    }
}

const fn analysed(name: &'static str, what: &'static str, erratum: u32) -> Literal {
    Literal { name, what, source: None, plant: |_| {}, premises: None, execution: NOTHING, uniformity: Some(erratum), codegen: None }
}

const fn emitted(name: &'static str, what: &'static str, rule: Rule, change: Change) -> Literal {
    let codegen = Some(Bug { name: what, rule, change });
    Literal { name, what, source: None, plant: |_| {}, premises: None, execution: NOTHING, uniformity: None, codegen }
}

/// All variants, in the order of their errata.
pub static LITERALS: &[Literal] = &[
    planted("LV-1", "OpPhi continues with I_f, which nothing binds: the rule never applies", |p| {
        p.relation = Some(Rules::standard().replace(Rule::SpirvPhi, phi_without_rest));
    }),
    planted("LV-2", "each OpPhi reads what the one before it wrote", |p| {
        p.relation = Some(Rules::standard().replace(Rule::SpirvPhi, phi_alone));
    }),
    planted("LV-3", "no rule for false, for conditions, for arguments of builtins", |p| p.reduction.reducts = Some(as_section_4_prints)),
    rewritten("LV-4a", "the translation's let substitutes one identifier after the other, by name", |tree| rebuild(tree, &mut expand_let)),
    planted("LV-4b", "a rec that a substitution carries inward is the inner rec-func's", |p| {
        p.typing.substitute = Some(capturing_rec);
    }),
    planted("LV-6", "the rule for false is printed for true", |p| p.typing.decide = Some(no_rule_for_false)),
    rewritten("LV-7", "let replaces its expressions by its identifiers", |tree| rebuild(tree, &mut reversed_let)),
    planted("LV-11", "two numberings of an if's labels", |p| p.translation.rule = Some(if_labels)),
    rewritten("LV-12", "the condition is translated under the if's arguments", |tree| rebuild(tree, &mut condition_under_arguments)),
    planted("LV-13", "the constants of the false branch are left out", |p| p.translation.rule = Some(if_constants)),
    planted("LV-14", "no merge block where both branches call rec", |p| p.translation.rule = Some(if_without_merge)),
    planted("LV-15a", "a builtin's result takes the first id of its arguments", |p| p.translation.rule = Some(builtin_id)),
    planted("LV-15b", "the code of a builtin's arguments is left out", |p| p.translation.rule = Some(builtin_code)),
    planted("LV-15c", "a builtin ends in the block that it began in", |p| p.translation.rule = Some(builtin_label)),
    planted("LV-16a", "the branch to the loop stands before the arguments' code", |p| p.translation.rule = Some(loop_branch)),
    planted("LV-16b", "the header's phis name the block before the arguments", |p| p.translation.rule = Some(loop_parent)),
    planted("LV-17", "the continue block has the edge of one rec only", |p| p.translation.rule = Some(loop_edges)),
    rewritten("LV-18", "the arguments of rec are translated without definitions", |tree| rebuild(tree, &mut undefined_in_rec)),
    planted("LV-22", "the body of a rec-func is not typed, so τ is any type", |p| p.typing.decide = Some(any_result)),
    planted("LV-23", "an if has the type of the branch that does not call rec", |p| p.translation.rule = Some(if_type)),
    planted("LV-24", "the body's ids begin with the last continue phi's", |p| p.translation.rule = Some(body_ids)),
    planted("LV-25", "rec's edge begins in the block before its arguments", |p| p.translation.rule = Some(rec_label)),
    planted("LV-29", "a number has no O.ido", |p| p.translation.rule = Some(number_without_id)),
    planted("LV-31", "every continue phi has the last argument's type", |p| p.translation.rule = Some(continue_types)),
    premised("WSL-C1", "only break adds Nothing to the behaviours of a loop", wsl::loops_without_end),
    premised("WSL-C2", "a parameter is a value", wsl::parameters_are_values),
    premised("WSL-C3", "a reference to an array refers to arrays", wsl::references_to_arrays),
    premised("WSL-C4", "an initialiser sees its own variable", wsl::initialisers_see_themselves),
    premised("WSL-C6", "accessors and steps are no calls", wsl::calls_as_written),
    executed("WSL-D1", "a return is hoisted out of its block before it is reduced", Rule::WslEBlockReduce, By::Stmt(wsl::hoisted_return)),
    executed(
        "WSL-D3",
        "what is assigned to is got where only a setter assigns to it",
        Rule::WslEAssignLeftReduce,
        By::Expr(wsl::got_target),
    ),
    executed("WSL-D17", "the value of an assignment by a setter is the whole's", Rule::WslEAssignSetter, By::Expr(wsl::value_of_whole)),
    executed(
        "WSL-D19",
        "every thread stores the default value to a threadgroup variable",
        Rule::WslEBlockVdecl,
        By::Stmt(wsl::stored_by_each),
    ),
    analysed("U-1", "return and expression statements go on into the case of break", 1),
    analysed("U-2", "the test for a single behaviour looks at a set that nothing fills", 2),
    analysed("U-4", "there is no rule for continue", 4),
    analysed("U-5", "Return(C1) and Return(C2) are two behaviours", 5),
    analysed("U-6", "there are no rules for the forms that the seed leaves out", 6),
    analysed("U-7", "a declaration drops those before it", 7),
    analysed("U-8", "the arguments of an entry point are like any other's", 8),
    analysed("U-9", "array references and threadgroup variables are as any value and any variable", 9),
    analysed("U-10", "the value of &e and @e does not depend on an index in e", 10),
    analysed("U-12", "the search forgets where it was", 12),
    computed("WSL-E2", "atan2(y, x) has the tangent x/y", wsl::tangent_of_x_by_y),
    emitted("C-3a", "a divisor is what it is", Rule::CodegenDivideGuard, Change::Forward(Op::Select, 2)),
    emitted("C-4", "% of ints is OpSRem", Rule::CodegenRemainderInt, Change::Letter),
    emitted("C-5", "the amount of a shift is what it is", Rule::CodegenShiftAmount, Change::Forward(Op::BitwiseAnd, 0)),
    emitted("C-6", "!= of floats is OpFOrdNotEqual", Rule::CodegenNotEqualFloat, Change::Opcode(Op::FUnordNotEqual, Op::FOrdNotEqual)),
    emitted("C-7a", "&& is OpLogicalAnd of both sides", Rule::CodegenLogicalAnd, Change::Letter),
    emitted("C-7b", "|| is OpLogicalOr of both sides", Rule::CodegenLogicalOr, Change::Letter),
    emitted("C-7c", "?: is OpSelect of both sides", Rule::CodegenConditional, Change::Letter),
    emitted(
        "C-8",
        "a float is compared with 0 by OpFOrdNotEqual",
        Rule::CodegenCastFloatToBool,
        Change::Opcode(Op::FUnordNotEqual, Op::FOrdNotEqual),
    ),
    emitted("C-9", "a float is converted, whatever it is", Rule::CodegenCastGuard, Change::Forward(Op::Select, 1)),
    emitted("C-10a", "an index of an array is what it is", Rule::CodegenIndexClamp, Change::ForwardGlsl(Glsl::UMin, 0)),
    emitted("C-10b", "an index of a vector is what it is", Rule::CodegenVectorIndex, Change::ForwardGlsl(Glsl::UMin, 0)),
    emitted("C-12", "dot of floats is OpDot", Rule::CodegenProduct, Change::Letter),
    emitted("C-15", "the divisor of fmod is what it is", Rule::CodegenFloatGuard, Change::Forward(Op::Select, 2)),
];

// SPIR-V, report §3.

fn phi_without_rest<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

/// p = parent_i, M(var_i) = V, M' = M[r ↦ V], for one OpPhi; LV-1 corrected.
fn phi_alone<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (phi, rest) = config.code.split_first()?;
    if phi.op != Op::Phi {
        return None;
    }
    let pair = phi.operands(config.module.words()).chunks_exact(2).find(|pair| pair[1] == config.p)?;
    let value = config.memory.value(config.module, pair[0])?;
    let mut next = Config { code: rest, ..config.clone() };
    next.memory.define(config.module, phi.result, value.as_ref().clone());
    Some(Next::Config(next))
}

// Reduction, report §4.

fn as_section_4_prints(_: &mut Reduction, rule: Rule, _: TermId, reducts: Vec<Reduct>) -> Result<Vec<Reduct>, Limit> {
    match rule {
        Rule::LvEIfFalse | Rule::LvEIfCond | Rule::LvEArg => Ok(Vec::new()),
        _ => Ok(reducts),
    }
}

// Typing, report §5.

fn capturing_rec(terms: &mut Terms<Typed>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    fn capture(terms: &mut Terms<Typed>, e: TermId, rec: TermId) -> Result<TermId, Limit> {
        let span = terms.span(e);
        match terms.node(e) {
            Node::Ext(Typed::Rec(_)) => Ok(rec),
            node => terms.rebuild(node, span, &mut |terms, child, _| capture(terms, child, rec)),
        }
    }
    let e = terms.substitute(body, with)?;
    match with.rec {
        Some(rec) => capture(terms, e, rec),
        None => Ok(e),
    }
}

fn no_rule_for_false(rule: Rule, _: &[Type], decision: Result<Type, TypeError>) -> Result<Type, TypeError> {
    match rule {
        Rule::LvTFalse => {
            let message = "no rule in print types false".into();
            Err(TypeError::IllTyped { rule, message, span: Span { start: 0, end: 0 } })
        }
        _ => decision,
    }
}

/// No premise of the printed rule mentions τ, so Vec(4,f) is a possible result type.
fn any_result(rule: Rule, _: &[Type], decision: Result<Type, TypeError>) -> Result<Type, TypeError> {
    match rule {
        Rule::LvTRecFunc => Ok(Type::Ground(Ground::Vec(4, Elem::F))),
        _ => decision,
    }
}

// Translation, report §6. `edit` splits the code that a rule emitted into instructions, changes
// these, and joins them again.

fn edit(site: &mut Site<'_>, change: impl FnOnce(&mut Vec<Vec<u32>>)) {
    let words = site.code.words.split_off(site.from);
    let mut instructions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        instructions.push(words[at..at + length].to_vec());
        at += length;
    }
    let before = instructions.len();
    change(&mut instructions);
    site.code.instructions = site.code.instructions + instructions.len() - before;
    for mut instruction in instructions {
        instruction[0] = (instruction.len() as u32) << 16 | instruction[0] & 0xffff;
        site.code.words.extend(instruction);
    }
}

fn is(instruction: &[u32], op: Op) -> bool {
    instruction[0] & 0xffff == op as u32
}

/// The index of the first instruction after `OpLabel label`.
fn after_label(instructions: &[Vec<u32>], label: u32) -> usize {
    let label = instructions.iter().position(|i| is(i, Op::Label) && i[1] == label);
    label.map_or(instructions.len(), |at| at + 1)
}

/// The OpPhi at the start of the block with that label.
fn phis(instructions: &mut [Vec<u32>], label: u32) -> impl Iterator<Item = &mut Vec<u32>> {
    let start = after_label(instructions, label);
    instructions[start..].iter_mut().take_while(|i| is(i, Op::Phi))
}

fn if_labels(mut site: Site<'_>) {
    if site.rule != Rule::LvTrIf {
        return;
    }
    let idc = site.input.idc;
    edit(&mut site, |code| {
        let merge = code.iter().rposition(|i| is(i, Op::SelectionMerge) && i[1] == idc + 2);
        if let Some(at) = merge {
            code[at][1] = idc + 4;
            code[at + 1][2..4].copy_from_slice(&[idc + 1, idc + 2]);
        }
    });
    site.output.ido = site.output.ido.map(|_| idc + 4);
}

/// Drops the constant of the false branch. This works if the false branch is a number, since that
/// constant is then the last value operand of the phi.
fn if_constants(mut site: Site<'_>) {
    if site.rule != Rule::LvTrIf {
        return;
    }
    let mut value = 0;
    edit(&mut site, |code| {
        if let Some(phi) = code.last().filter(|i| is(i, Op::Phi)) {
            value = phi[phi.len() - 2];
        }
    });
    site.consts.retain(|&(id, _)| id != value);
}

fn if_without_merge(mut site: Site<'_>) {
    if site.rule == Rule::LvTrIf && site.output.ty == Type::PureRec {
        edit(&mut site, |code| code.truncate(code.len() - 2));
    }
}

fn if_type(site: Site<'_>) {
    if let (Rule::LvTrIf, Type::Rec(ty)) = (site.rule, site.output.ty) {
        site.output.ty = Type::Ground(ty);
    }
}

fn builtin_id(mut site: Site<'_>) {
    if site.rule != Rule::LvTrBuiltin || site.output.ido != Some(site.input.idc) {
        return;
    }
    let id = site.input.idc + 1;
    edit(&mut site, |code| {
        if let Some(last) = code.last_mut() {
            last[2] = id;
        }
    });
    site.output.ido = Some(id);
}

fn builtin_code(mut site: Site<'_>) {
    if site.rule == Rule::LvTrBuiltin && site.output.ido == Some(site.input.idc) {
        edit(&mut site, |code| {
            code.drain(..code.len() - 1);
        });
    }
}

fn builtin_label(site: Site<'_>) {
    if site.rule == Rule::LvTrBuiltin {
        site.output.idl = site.input.idl;
    }
}

fn loop_branch(mut site: Site<'_>) {
    if site.rule != Rule::LvTrRecFunc {
        return;
    }
    let hb = site.input.idc;
    edit(&mut site, |code| {
        if let Some(at) = code.iter().position(|i| is(i, Op::Branch) && i[1] == hb) {
            let branch = code.remove(at);
            code.insert(0, branch);
        }
    });
}

fn loop_parent(mut site: Site<'_>) {
    if site.rule != Rule::LvTrRecFunc {
        return;
    }
    let (hb, idl) = (site.input.idc, site.input.idl);
    edit(&mut site, |code| phis(code, hb).for_each(|phi| phi[4] = idl));
}

fn loop_edges(mut site: Site<'_>) {
    if site.rule == Rule::LvTrRecFunc {
        let cb = site.input.idc + 1;
        edit(&mut site, |code| phis(code, cb).for_each(|phi| phi.truncate(5)));
    }
}

/// The report counts the phis from 1, so the last continue phi has the id O_n.idc + 2n, with which
/// the ids of the body begin. The variant changes only this id.
fn body_ids(mut site: Site<'_>) {
    if site.rule != Rule::LvTrRecFunc {
        return;
    }
    let (hb, cb) = (site.input.idc, site.input.idc + 1);
    edit(&mut site, |code| {
        if let Some(last) = phis(code, cb).last() {
            last[2] += 1;
        }
        if let Some(last) = phis(code, hb).last() {
            last[5] += 1;
        }
    });
}

fn continue_types(mut site: Site<'_>) {
    if site.rule != Rule::LvTrRecFunc {
        return;
    }
    let cb = site.input.idc + 1;
    edit(&mut site, |code| {
        let last = phis(code, cb).last().map(|phi| phi[1]);
        phis(code, cb).for_each(|phi| phi[1] = last.unwrap_or(phi[1]));
    });
}

fn rec_label(site: Site<'_>) {
    if site.rule == Rule::LvTrRec {
        for edge in &mut site.output.rec {
            edge.0 = site.input.idl;
        }
    }
}

fn number_without_id(site: Site<'_>) {
    if site.rule == Rule::LvTrNum {
        site.output.ido = None;
    }
}

// Rewritten programs. Names are compared as written, since the exhibits bind no
// predefined identifier.

/// The rewriting of a list whose items are already rewritten. `None` leaves the list as it is.
type Rewrite<'a> = &'a mut dyn FnMut(&mut Tree, &[ExprId], Span) -> Option<ExprId>;

fn rebuild(tree: &Tree, rewrite: Rewrite<'_>) -> Tree {
    let mut out = Tree { symbols: tree.symbols.clone(), ..Tree::default() };
    for &root in &tree.roots {
        let root = copy(tree, root, &mut out, rewrite);
        out.roots.push(root);
    }
    out
}

fn copy(tree: &Tree, e: ExprId, out: &mut Tree, rewrite: Rewrite<'_>) -> ExprId {
    let span = tree.span(e);
    match tree.expr(e) {
        Expr::List(items) => {
            let items: Vec<ExprId> = items.iter().map(|&item| copy(tree, item, out, rewrite)).collect();
            rewrite(out, &items, span).unwrap_or_else(|| out.push(Expr::List(items), span))
        }
        leaf => out.push(leaf.clone(), span),
    }
}

fn symbol(tree: &Tree, e: ExprId) -> Option<Symbol> {
    match tree.expr(e) {
        Expr::Ident(symbol) => Some(*symbol),
        _ => None,
    }
}

fn is_form(tree: &Tree, items: &[ExprId], name: &str) -> bool {
    items.first().and_then(|&head| symbol(tree, head)).is_some_and(|s| tree.symbols.name(s) == name)
}

fn items(tree: &Tree, e: ExprId) -> Vec<ExprId> {
    match tree.expr(e) {
        Expr::List(items) => items.clone(),
        _ => Vec::new(),
    }
}

/// The identifiers and expressions of `(let ((id e) …) body)`, and the body.
fn let_parts(tree: &Tree, list: &[ExprId]) -> Option<(Vec<(Symbol, ExprId)>, ExprId)> {
    let &[_, bindings, body] = list else { return None };
    if !is_form(tree, list, "let") {
        return None;
    }
    let pair = |&binding: &ExprId| match items(tree, binding)[..] {
        [name, value] => Some((symbol(tree, name)?, value)),
        _ => None,
    };
    Some((items(tree, bindings).iter().map(pair).collect::<Option<_>>()?, body))
}

/// The identifiers that a list binds in its last item.
fn binders(tree: &Tree, list: &[ExprId]) -> Vec<Symbol> {
    let names = |e: ExprId| items(tree, e).into_iter().filter_map(|n| symbol(tree, n)).collect();
    match let_parts(tree, list) {
        Some((bindings, _)) => bindings.into_iter().map(|(name, _)| name).collect(),
        None if is_form(tree, list, "func") || is_form(tree, list, "rec-func") => names(list[1]),
        None => Vec::new(),
    }
}

/// e[e1/id1]…[en/idn], one substitution after the other. So the substitution of id2 also changes
/// e1, and binders in e capture identifiers of e1.
fn expand_let(tree: &mut Tree, list: &[ExprId], _: Span) -> Option<ExprId> {
    let (bindings, mut body) = let_parts(tree, list)?;
    for (name, value) in bindings {
        body = replace(tree, body, name, value);
    }
    Some(body)
}

fn replace(tree: &mut Tree, e: ExprId, name: Symbol, by: ExprId) -> ExprId {
    match tree.expr(e).clone() {
        Expr::Ident(s) if s == name => by,
        Expr::List(list) => {
            let hidden = binders(tree, &list).contains(&name);
            let last = list.len().saturating_sub(1);
            let list = list.iter().enumerate().map(|(i, &item)| if hidden && i == last { item } else { replace(tree, item, name, by) });
            let list = list.collect();
            let span = tree.span(e);
            tree.push(Expr::List(list), span)
        }
        _ => e,
    }
}

/// e[id1/e1]…[idn/en].
fn reversed_let(tree: &mut Tree, list: &[ExprId], _: Span) -> Option<ExprId> {
    fn reversed(tree: &mut Tree, e: ExprId, name: Symbol, value: &str) -> ExprId {
        let span = tree.span(e);
        if tree.print_expr(e) == value {
            return tree.push(Expr::Ident(name), span);
        }
        let items = items(tree, e);
        if items.is_empty() {
            return e;
        }
        let items = items.into_iter().map(|item| reversed(tree, item, name, value)).collect();
        tree.push(Expr::List(items), span)
    }
    let (bindings, mut body) = let_parts(tree, list)?;
    for (name, value) in bindings {
        let value = tree.print_expr(value);
        body = reversed(tree, body, name, &value);
    }
    Some(body)
}

/// Translating c under the arguments (e1 … en) is the same as translating (c e1 … en) under ∅
/// (report §6.5).
fn condition_under_arguments(tree: &mut Tree, list: &[ExprId], span: Span) -> Option<ExprId> {
    let (&head, args) = list.split_first()?;
    let mut parts = items(tree, head);
    if parts.len() != 4 || args.is_empty() || !is_form(tree, &parts, "if") {
        return None;
    }
    let at = tree.span(parts[1]);
    parts[1] = tree.push(Expr::List([&[parts[1]], args].concat()), at);
    let at = tree.span(head);
    let head = tree.push(Expr::List(parts), at);
    Some(tree.push(Expr::List([&[head], args].concat()), span))
}

/// The arguments of (rec e1 … en) have no definitions for the parameters of the rec-func. So each
/// parameter in them becomes an identifier that nothing binds.
fn undefined_in_rec(tree: &mut Tree, list: &[ExprId], span: Span) -> Option<ExprId> {
    fn calls(tree: &mut Tree, e: ExprId, params: &[Symbol]) -> ExprId {
        let list = items(tree, e);
        if list.is_empty() {
            return e;
        }
        let span = tree.span(e);
        let rec = is_form(tree, &list, "rec");
        let list = list.into_iter().map(|item| if rec { undefined(tree, item, params) } else { calls(tree, item, params) }).collect();
        tree.push(Expr::List(list), span)
    }
    fn undefined(tree: &mut Tree, e: ExprId, params: &[Symbol]) -> ExprId {
        let span = tree.span(e);
        match tree.expr(e).clone() {
            Expr::Ident(s) if params.contains(&s) => {
                let name = format!("undefined:{}", tree.symbols.name(s));
                let name = tree.symbols.intern(&name);
                tree.push(Expr::Ident(name), span)
            }
            Expr::List(list) => {
                let list = list.into_iter().map(|item| undefined(tree, item, params)).collect();
                tree.push(Expr::List(list), span)
            }
            _ => e,
        }
    }
    if list.len() != 3 || !is_form(tree, list, "rec-func") {
        return None;
    }
    let params = binders(tree, list);
    let body = calls(tree, list[2], &params);
    Some(tree.push(Expr::List(vec![list[0], list[1], body]), span))
}
