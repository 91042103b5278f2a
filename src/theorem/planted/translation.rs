//! Mistakes in the translation's rules.

use super::{Bug, Check, Family, capture, emitted};
use crate::compile::lambda_v::emit::fixed;
use crate::compile::lambda_v::{self as compile, Site};
use crate::theorem::case::Planted;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep_semantics::rule::Rule;

fn translating(rule: fn(Site<'_>)) -> Planted {
    Planted { translation: compile::Planted { rule: Some(rule), ..Default::default() }, ..Planted::default() }
}

/// A change to the result of one rule.
macro_rules! at {
    ($rule:ident, |$site:ident| $change:expr) => {
        translating(|$site| {
            if $site.rule == Rule::$rule {
                $change;
            }
        })
    };
}

/// The instruction that computes a builtin, if it is `op`.
fn computed<'a>(site: &'a mut Site<'_>, op: Op) -> Option<&'a mut [u32]> {
    let result = site.input.idc;
    emitted::last(&mut site.code.words, site.from).filter(|i| i[0] & 0xffff == op as u32 && i.get(2) == Some(&result))
}

/// The instruction that computes a builtin, if it is this function of GLSL.std.450.
fn extended<'a>(site: &'a mut Site<'_>, function: Glsl) -> Option<&'a mut [u32]> {
    computed(site, Op::ExtInst).filter(|i| i[4] == function as u32)
}

fn swap_operands(mut site: Site<'_>, op: Op, i: usize, j: usize) {
    if let Some(words) = computed(&mut site, op) {
        words.swap(3 + i, 3 + j);
    }
}

fn swap_extended(mut site: Site<'_>, function: Glsl, i: usize, j: usize) {
    if let Some(words) = extended(&mut site, function) {
        words.swap(5 + i, 5 + j);
    }
}

fn other_opcode(mut site: Site<'_>, op: Op, other: Op) {
    if let Some(words) = computed(&mut site, op) {
        words[0] = words[0] & 0xffff_0000 | other as u32;
    }
}

fn other_function(mut site: Site<'_>, function: Glsl, other: Glsl) {
    if let Some(words) = extended(&mut site, function) {
        words[4] = other as u32;
    }
}

/// Replaces OpMatrixTimesVector of m and v by OpVectorTimesMatrix of v and m: the product with the
/// transposed matrix.
fn transposed_product(mut site: Site<'_>) {
    if let Some(words) = computed(&mut site, Op::MatrixTimesVector) {
        words.swap(3, 4);
        words[0] = words[0] & 0xffff_0000 | Op::VectorTimesMatrix as u32;
    }
}

fn and_is_or_on_vectors(mut site: Site<'_>) {
    if let Some(words) = computed(&mut site, Op::LogicalAnd)
        && words[1] != fixed::BOOL
    {
        words[0] = words[0] & 0xffff_0000 | Op::LogicalOr as u32;
    }
}

/// Flips the lowest bit of the index of OpCompositeExtract.
fn other_part(mut site: Site<'_>) {
    if let Some(words) = computed(&mut site, Op::CompositeExtract) {
        words[4] ^= 1;
    }
}

fn construct_reversed(mut site: Site<'_>) {
    if let Some(words) = computed(&mut site, Op::CompositeConstruct) {
        words[3..].reverse();
    }
}

/// Changes the words of the selection's phi.
fn selection_phi(site: Site<'_>, change: impl Fn(&mut [u32])) {
    let phi = site.input.idc + 3;
    if let Some(words) = emitted::naming(&mut site.code.words, site.from, Op::Phi, 2, phi) {
        change(words);
    }
}

/// Swaps the labels of the selection's branch.
fn swap_labels(site: Site<'_>) {
    let yes = site.input.idc;
    if let Some(words) = emitted::naming(&mut site.code.words, site.from, Op::BranchConditional, 2, yes) {
        words.swap(2, 3);
    }
}

/// Changes the words of each header phi of a loop.
fn header_phis(site: Site<'_>, change: impl Fn(&mut [u32])) {
    for at in emitted::phis(&site.code.words, site.from, site.input.idc) {
        change(emitted::words_of(&mut site.code.words, at));
    }
}

/// The continue block's phis take the values of the header's phis.
fn continue_takes_header(site: Site<'_>) {
    let parameters = emitted::phis(&site.code.words, site.from, site.input.idc).len() as u32;
    for at in emitted::phis(&site.code.words, site.from, site.input.idc + 1) {
        let words = emitted::words_of(&mut site.code.words, at);
        let header = words[2] - parameters;
        words[3..].iter_mut().step_by(2).for_each(|value| *value = header);
    }
}

/// Each phi of the continue block loses its last edge, if it has several.
fn continue_loses_edge(site: Site<'_>) {
    for at in emitted::phis(&site.code.words, site.from, site.input.idc + 1).into_iter().rev() {
        if site.code.words[at] >> 16 > 5 {
            emitted::shorten(site.code, at, 2);
        }
    }
}

/// All edges to the continue block carry the values of the first edge.
fn continue_takes_first(site: Site<'_>) {
    for at in emitted::phis(&site.code.words, site.from, site.input.idc + 1) {
        let words = emitted::words_of(&mut site.code.words, at);
        let first = words[3];
        words[3..].iter_mut().step_by(2).for_each(|value| *value = first);
    }
}

/// Swaps the next values of two parameters of one type.
fn continue_swaps_equal_types(site: Site<'_>) {
    let phis = emitted::phis(&site.code.words, site.from, site.input.idc + 1);
    let pairs = phis.iter().enumerate().flat_map(|(i, &a)| phis[i + 1..].iter().map(move |&b| (a, b)));
    if let Some((a, b)) = pairs.into_iter().find(|&(a, b)| site.code.words[a + 1] == site.code.words[b + 1]) {
        let length = (site.code.words[a] >> 16) as usize;
        (3..length).step_by(2).for_each(|k| site.code.words.swap(a + k, b + k));
    }
}

/// Swaps the first two parents in each phi of the continue block, so that each of the two edges
/// carries the other's value.
fn continue_swaps_parents(site: Site<'_>) {
    for at in emitted::phis(&site.code.words, site.from, site.input.idc + 1) {
        let words = emitted::words_of(&mut site.code.words, at);
        if words.len() >= 7 {
            words.swap(4, 6);
        }
    }
}

fn swap_merge_and_continue(site: Site<'_>) {
    let merge = site.input.idc + 3;
    if let Some(words) = emitted::naming(&mut site.code.words, site.from, Op::LoopMerge, 1, merge) {
        words.swap(1, 2);
    }
}

pub(super) fn bugs() -> Vec<Bug> {
    let mut bugs = structure();
    bugs.extend(selections());
    bugs.extend(loops());
    bugs.extend(builtins());
    bugs.extend(substitutions());
    bugs
}

fn structure() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvTrFunc,
            "tr-func-label",
            "the block that a func's body ends in is not handed on",
            at!(LvTrFunc, |site| site.output.idl = site.input.idl),
        ),
        Bug::of(
            Rule::LvTrNum,
            "tr-num-bits",
            "the bits of a number are off by one",
            at!(LvTrNum, |site| {
                if let Some(constant) = site.consts.last_mut() {
                    constant.1 ^= 1;
                }
            }),
        ),
        Bug::of(
            Rule::LvTrNum,
            "tr-num-sign",
            "a number loses its sign",
            at!(LvTrNum, |site| {
                if let Some(constant) = site.consts.last_mut() {
                    constant.1 &= 0x7fff_ffff;
                }
            }),
        ),
        Bug::of(
            Rule::LvTrBool,
            "tr-bool-swapped",
            "true is the constant false, and false true",
            at!(LvTrBool, |site| {
                site.output.ido = site.output.ido.map(|id| fixed::TRUE + fixed::FALSE - id);
            }),
        ),
        Bug::of(
            Rule::LvTrLet,
            "tr-let-ids",
            "the ids that a let's body uses are used again",
            at!(LvTrLet, |site| site.output.idc = site.input.idc),
        ),
        Bug::of(
            Rule::LvTrLet,
            "tr-let-label",
            "the block that a let's body ends in is not handed on",
            at!(LvTrLet, |site| site.output.idl = site.input.idl),
        ),
        Bug::of(
            Rule::LvTrList,
            "tr-list-edges",
            "an application forgets the calls of rec in its head",
            at!(LvTrList, |site| site.output.rec.clear()),
        ),
        Bug::of(
            Rule::LvTrParam,
            "tr-param-next",
            "a parameter is the next parameter's phi",
            at!(LvTrParam, |site| {
                site.output.ido = site.output.ido.map(|id| id + 1);
            }),
        ),
        Bug::of(
            Rule::LvTrRec,
            "tr-rec-reversed",
            "rec passes its arguments in reverse order",
            at!(LvTrRec, |site| {
                for edge in &mut site.output.rec {
                    edge.1.reverse();
                }
            }),
        ),
        Bug::of(
            Rule::LvTrRec,
            "tr-rec-label",
            "the edge of rec starts where its arguments' code does (LV-25)",
            at!(LvTrRec, |site| {
                for edge in &mut site.output.rec {
                    edge.0 = site.input.idl;
                }
            }),
        ),
        Bug::of(
            Rule::LvTrRec,
            "tr-rec-first",
            "rec passes its first argument for all",
            at!(LvTrRec, |site| {
                for edge in &mut site.output.rec {
                    let first = edge.1[0];
                    edge.1.iter_mut().for_each(|id| *id = first);
                }
            }),
        ),
    ]
}

fn selections() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvTrIf,
            "tr-if-values",
            "the phi of if has its values swapped",
            at!(LvTrIf, |site| selection_phi(site, |phi| {
                if phi.len() == 7 {
                    phi.swap(3, 5);
                }
            })),
        ),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-parent",
            "a parent of if's phi is off by one",
            at!(LvTrIf, |site| selection_phi(site, |phi| phi[4] += 1)),
        ),
        Bug::of(Rule::LvTrIf, "tr-if-labels", "the labels of if's branch are swapped", at!(LvTrIf, |site| swap_labels(site))),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-labels-under-rec",
            "the labels of if's branch are swapped, within a rec-func only",
            at!(LvTrIf, |site| {
                if site.input.rec.is_some() {
                    swap_labels(site);
                }
            }),
        ),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-merge",
            "OpSelectionMerge names the id after the merge block, as printed (LV-11)",
            at!(LvTrIf, |site| {
                let merge = site.input.idc + 2;
                if let Some(words) = emitted::naming(&mut site.code.words, site.from, Op::SelectionMerge, 1, merge) {
                    words[1] += 1;
                }
            }),
        ),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-false-label",
            "the false label of if's branch is off by one",
            at!(LvTrIf, |site| {
                let yes = site.input.idc;
                if let Some(words) = emitted::naming(&mut site.code.words, site.from, Op::BranchConditional, 2, yes) {
                    words[3] += 1;
                }
            }),
        ),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-edge",
            "of several calls of rec in an if, the last one's edge is lost",
            at!(LvTrIf, |site| {
                if site.output.rec.len() > 1 {
                    site.output.rec.pop();
                }
            }),
        ),
        Bug::of(
            Rule::LvTrIf,
            "tr-if-idl",
            "the code after an if is said to be in the block before it",
            at!(LvTrIf, |site| site.output.idl = site.input.idl),
        ),
    ]
}

fn loops() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-parent",
            "the header's phis name I.idl, not the block that the arguments' code ends in (LV-16)",
            at!(LvTrRecFunc, |site| {
                let idl = site.input.idl;
                header_phis(site, |phi| phi[4] = idl);
            }),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-header-swapped",
            "the header's phis have their values swapped",
            at!(LvTrRecFunc, |site| {
                header_phis(site, |phi| phi.swap(3, 5));
            }),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-continue-label",
            "the header's phis name the loop's first block as continue block",
            at!(LvTrRecFunc, |site| {
                header_phis(site, |phi| phi[6] += 1);
            }),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-header-value",
            "the continue block's phis take the header's values",
            at!(LvTrRecFunc, |site| continue_takes_header(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-edge",
            "of several calls of rec, the last one has no operand in the continue block's phis (LV-17)",
            at!(LvTrRecFunc, |site| continue_loses_edge(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-first-edge",
            "every call of rec passes what the first one passes",
            at!(LvTrRecFunc, |site| continue_takes_first(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-order",
            "rec passes two arguments of one type in reverse order",
            at!(LvTrRecFunc, |site| continue_swaps_equal_types(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-parents",
            "the continue block's phis have their first two parents swapped",
            at!(LvTrRecFunc, |site| continue_swaps_parents(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-merge",
            "OpLoopMerge has merge block and continue block swapped",
            at!(LvTrRecFunc, |site| swap_merge_and_continue(site)),
        ),
        Bug::of(
            Rule::LvTrRecFunc,
            "tr-rec-func-idl",
            "the code after a loop is said to be in the block before it",
            at!(LvTrRecFunc, |site| site.output.idl = site.input.idl),
        ),
    ]
}

fn builtins() -> Vec<Bug> {
    let builtin = |name, what, plant| Bug::of(Rule::LvTrBuiltin, name, what, plant);
    vec![
        builtin(
            "tr-builtin-label",
            "the block that an operand's code ends in is not handed on (LV-15)",
            at!(LvTrBuiltin, |site| site.output.idl = site.input.idl),
        ),
        builtin(
            "tr-builtin-difference",
            "the operands of OpFSub are swapped",
            at!(LvTrBuiltin, |site| swap_operands(site, Op::FSub, 0, 1)),
        ),
        builtin("tr-builtin-quotient", "the operands of OpFDiv are swapped", at!(LvTrBuiltin, |site| swap_operands(site, Op::FDiv, 0, 1))),
        builtin("tr-builtin-mod", "the operands of OpFMod are swapped", at!(LvTrBuiltin, |site| swap_operands(site, Op::FMod, 0, 1))),
        builtin("tr-builtin-step", "the operands of step are swapped", at!(LvTrBuiltin, |site| swap_extended(site, Glsl::Step, 0, 1))),
        builtin("tr-builtin-atan2", "the operands of atan2 are swapped", at!(LvTrBuiltin, |site| swap_extended(site, Glsl::Atan2, 0, 1))),
        builtin("tr-builtin-mix", "the ends of mix are swapped", at!(LvTrBuiltin, |site| swap_extended(site, Glsl::FMix, 0, 1))),
        builtin("tr-builtin-clamp", "the bounds of clamp are swapped", at!(LvTrBuiltin, |site| swap_extended(site, Glsl::FClamp, 1, 2))),
        builtin("tr-builtin-min", "min is max", at!(LvTrBuiltin, |site| other_function(site, Glsl::FMin, Glsl::FMax))),
        builtin("tr-builtin-floor", "floor is trunc", at!(LvTrBuiltin, |site| other_function(site, Glsl::Floor, Glsl::Trunc))),
        builtin(
            "tr-builtin-less",
            "less-than is less-equal",
            at!(LvTrBuiltin, |site| other_opcode(site, Op::FOrdLessThan, Op::FOrdLessThanEqual)),
        ),
        builtin("tr-builtin-any", "any-of is all-of", at!(LvTrBuiltin, |site| other_opcode(site, Op::Any, Op::All))),
        builtin("tr-builtin-and", "and is or, on vectors only", at!(LvTrBuiltin, |site| and_is_or_on_vectors(site))),
        builtin("tr-builtin-select", "the arms of select are swapped", at!(LvTrBuiltin, |site| swap_operands(site, Op::Select, 1, 2))),
        builtin(
            "tr-builtin-construct",
            "the components of a vector, or columns of a matrix, are in reverse order",
            at!(LvTrBuiltin, |site| construct_reversed(site)),
        ),
        builtin(
            "tr-builtin-extract",
            "the index of a component or column has its lowest bit flipped",
            at!(LvTrBuiltin, |site| other_part(site)),
        ),
        builtin("tr-builtin-transposed", "matrix times vector is vector times matrix", at!(LvTrBuiltin, |site| transposed_product(site))),
        builtin(
            "tr-builtin-matrices",
            "the operands of a product of matrices are swapped",
            at!(LvTrBuiltin, |site| swap_operands(site, Op::MatrixTimesMatrix, 0, 1)),
        ),
        builtin("tr-builtin-cross", "the operands of cross are swapped", at!(LvTrBuiltin, |site| swap_extended(site, Glsl::Cross, 0, 1))),
        builtin(
            "tr-builtin-reflect",
            "the operands of reflect are swapped",
            at!(LvTrBuiltin, |site| swap_extended(site, Glsl::Reflect, 0, 1)),
        ),
    ]
}

fn substitutions() -> Vec<Bug> {
    macro_rules! substitute {
        ($with:ident) => {
            Planted { translation: compile::Planted { substitute: Some(capture::$with), ..Default::default() }, ..Planted::default() }
        };
    }
    vec![
        Bug::outside_rules(
            Family::Translation,
            "translation-shadows",
            "an inner binder does not hide the outer one at its place",
            Check::Campaign,
            substitute!(through_shadows),
        ),
        Bug::outside_rules(
            Family::Translation,
            "translation-last-for-first",
            "the first identifier of a list stands for the last expression",
            Check::Campaign,
            substitute!(last_for_first),
        ),
        Bug::outside_rules(
            Family::Translation,
            "translation-sequential",
            "identifiers are substituted one after the other, as printed (LV-4)",
            Check::Equivalent(capture::CLOSED),
            substitute!(one_after_the_other),
        ),
        Bug::outside_rules(
            Family::Translation,
            "translation-rec-captured",
            "an outer rec carried into an inner rec-func becomes the inner one's (LV-4)",
            Check::Equivalent(
                "a call of an outer rec from within an inner rec-func is ill-typed (lv/t-rec), so in a well-typed program such a rec is never translated; \
the same capture in typing is caught",
            ),
            substitute!(rec_in_translation),
        ),
    ]
}
