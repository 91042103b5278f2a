//! Mistakes in module creation.

use super::{Bug, Check, emitted};
use crate::compile::lambda_v::emit::fixed;
use crate::compile::lambda_v::{self as compile};
use crate::theorem::case::Planted;
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, Op, StorageClass};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::write::Code;

fn creating(section: fn(Rule, &mut Code)) -> Planted {
    Planted { translation: compile::Planted { section: Some(section), ..Default::default() }, ..Planted::default() }
}

/// A change to one part of the module.
macro_rules! part {
    ($rule:ident, |$code:ident| $change:expr) => {
        creating(|rule, $code| {
            if rule == Rule::$rule {
                $change;
            }
        })
    };
}

/// Removes the first instruction `op` whose operands begin with these.
fn drop_first(code: &mut Code, op: Op, operands: &[u32]) {
    let found = emitted::all(&code.words, 0, op).into_iter().find(|&at| code.words[at + 1..].starts_with(operands));
    if let Some(at) = found {
        emitted::remove(code, at);
    }
}

/// Removes the last instruction `op`.
fn drop_last(code: &mut Code, op: Op) {
    if let Some(&at) = emitted::all(&code.words, 0, op).last() {
        emitted::remove(code, at);
    }
}

/// Removes the last decoration of this kind.
fn drop_decoration(code: &mut Code, decoration: Decoration) {
    let found = emitted::all(&code.words, 0, Op::Decorate).into_iter().rfind(|&at| code.words[at + 2] == decoration as u32);
    if let Some(at) = found {
        emitted::remove(code, at);
    }
}

/// Changes each instruction `op`.
fn each(code: &mut Code, op: Op, change: impl Fn(&mut [u32])) {
    for at in emitted::all(&code.words, 0, op) {
        change(emitted::words_of(&mut code.words, at));
    }
}

/// Swaps word `i` between the first and the last chosen instruction `op`.
fn swap_operand(code: &mut Code, op: Op, i: usize, chosen: impl Fn(&[u32]) -> bool) {
    let found: Vec<usize> = emitted::all(&code.words, 0, op).into_iter().filter(|&at| chosen(&code.words[at..])).collect();
    if let [first, .., last] = found.as_slice() {
        code.words.swap(first + i, last + i);
    }
}

/// Stores the first output twice.
fn store_twice(code: &mut Code) {
    if let Some(&first) = emitted::all(&code.words, 0, Op::Store).first() {
        let store = code.words[first..first + 3].to_vec();
        code.words.splice(first..first, store);
        code.instructions += 1;
    }
}

/// Puts the padding of an output before its value.
fn pad_first(code: &mut Code) {
    each(code, Op::CompositeConstruct, |words| {
        if words[words.len() - 1] == fixed::ZERO {
            words[3..].reverse();
        }
    });
}

/// Reads all opaque constants through the first one's pointer.
fn load_first(code: &mut Code) {
    let first = emitted::all(&code.words, 0, Op::AccessChain).first().map(|&at| code.words[at + 2]);
    let pointers: Vec<u32> = emitted::all(&code.words, 0, Op::AccessChain).into_iter().map(|at| code.words[at + 2]).collect();
    if let Some(first) = first {
        each(code, Op::Load, |words| {
            if pointers.contains(&words[3]) {
                words[3] = first;
            }
        });
    }
}

pub(super) fn bugs() -> Vec<Bug> {
    let mut bugs = header();
    bugs.extend(declarations());
    bugs.extend(body());
    bugs
}

fn header() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvMcHeader,
            "mc-header-import",
            "the extended instruction set is not imported",
            part!(LvMcHeader, |code| drop_last(code, Op::ExtInstImport)),
        ),
        Bug::of(
            Rule::LvMcHeader,
            "mc-header-shader",
            "the capability of shaders is not declared",
            part!(LvMcHeader, |code| drop_first(code, Op::Capability, &[Capability::Shader as u32])),
        )
        .caught_by(Check::SpirvVal),
        Bug::of(
            Rule::LvMcHeader,
            "mc-header-capability",
            "the capability of round-to-even is not declared",
            part!(LvMcHeader, |code| drop_first(code, Op::Capability, &[Capability::RoundingModeRTE as u32])),
        ),
        Bug::of(
            Rule::LvMcHeader,
            "mc-header-extension",
            "SPV_KHR_float_controls is not declared",
            part!(LvMcHeader, |code| drop_last(code, Op::Extension)),
        ),
        Bug::of(
            Rule::LvMcEntry,
            "mc-entry-interface",
            "the interface of the entry point lacks its last variable",
            part!(LvMcEntry, |code| emitted::shorten(code, 0, 1)),
        ),
        Bug::of(
            Rule::LvMcEntry,
            "mc-entry-origin",
            "coordinates begin at the lower left",
            part!(LvMcEntry, |code| each(code, Op::ExecutionMode, |words| words[2] = ExecutionMode::OriginLowerLeft as u32)),
        ),
        Bug::of(
            Rule::LvMcControls,
            "mc-controls-rte",
            "RoundingModeRTE is not declared",
            part!(LvMcControls, |code| drop_first(code, Op::ExecutionMode, &[fixed::MAIN, ExecutionMode::RoundingModeRTE as u32])),
        ),
        Bug::of(
            Rule::LvMcControls,
            "mc-controls-zeros",
            "SignedZeroInfNanPreserve is not declared",
            part!(LvMcControls, |code| drop_first(code, Op::ExecutionMode, &[fixed::MAIN, ExecutionMode::SignedZeroInfNanPreserve as u32])),
        ),
        Bug::of(
            Rule::LvMcControls,
            "mc-controls-width",
            "the float controls are for 16 bits",
            part!(LvMcControls, |code| each(code, Op::ExecutionMode, |words| words[3] = 16)),
        ),
    ]
}

fn declarations() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-location",
            "the location of an output is off by one",
            part!(LvMcDecorations, |code| each(code, Op::Decorate, |words| {
                if words[2] == Decoration::Location as u32 {
                    words[3] += 1;
                }
            })),
        ),
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-locations-swapped",
            "of several outputs, the first and the last have each other's location",
            part!(LvMcDecorations, |code| swap_operand(code, Op::Decorate, 3, |words| words[2] == Decoration::Location as u32)),
        ),
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-contraction",
            "the last arithmetic instruction is not decorated NoContraction",
            part!(LvMcDecorations, |code| drop_decoration(code, Decoration::NoContraction)),
        ),
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-built-in",
            "the fragment's coordinate is decorated as the point's",
            part!(LvMcDecorations, |code| each(code, Op::Decorate, |words| {
                if words[2] == Decoration::BuiltIn as u32 {
                    words[3] = BuiltIn::PointCoord as u32;
                }
            })),
        ),
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-stride",
            "the opaque constants stand 8 bytes apart",
            part!(LvMcDecorations, |code| each(code, Op::Decorate, |words| {
                if words[2] == Decoration::ArrayStride as u32 {
                    words[3] = 8;
                }
            })),
        ),
        Bug::of(
            Rule::LvMcDecorations,
            "mc-decorations-block",
            "the structure of the constants is no Block",
            part!(LvMcDecorations, |code| drop_decoration(code, Decoration::Block)),
        ),
        Bug::of(
            Rule::LvMcTypes,
            "mc-types-columns",
            "a matrix type has a column too few",
            part!(LvMcTypes, |code| each(code, Op::TypeMatrix, |words| words[3] -= 1)),
        ),
        Bug::of(
            Rule::LvMcTypes,
            "mc-types-vector",
            "vectors of two components have three",
            part!(LvMcTypes, |code| each(code, Op::TypeVector, |words| words[3] = words[3].max(3))),
        ),
        Bug::of(
            Rule::LvMcConstants,
            "mc-constants-bits",
            "the bits of the last constant are off by one: a number, or the index of an opaque one",
            part!(LvMcConstants, |code| {
                if let Some(words) = emitted::last(&mut code.words, 0).filter(|words| words.len() == 4) {
                    words[3] ^= 1;
                }
            }),
        ),
        Bug::of(
            Rule::LvMcConstants,
            "mc-constants-index",
            "the index of every opaque constant is off by one, round the first two",
            part!(LvMcConstants, |code| each(code, Op::Constant, |words| {
                if words[1] == fixed::UINT && words[2] != fixed::MEMBER {
                    words[3] ^= 1;
                }
            })),
        ),
        Bug::of(
            Rule::LvMcConstants,
            "mc-constants-truth",
            "the constant true is false",
            part!(LvMcConstants, |code| each(code, Op::ConstantTrue, |words| words[0] = words[0] & 0xffff_0000 | Op::ConstantFalse as u32)),
        ),
        Bug::of(
            Rule::LvMcConstants,
            "mc-constants-padding",
            "outputs are padded with 1",
            part!(LvMcConstants, |code| each(code, Op::Constant, |words| {
                if words[2] == fixed::ZERO {
                    words[3] = 1f32.to_bits();
                }
            })),
        ),
        Bug::of(
            Rule::LvMcVariables,
            "mc-variables-class",
            "the fragment's coordinate is no input but private",
            part!(LvMcVariables, |code| each(code, Op::Variable, |words| {
                if words[2] == fixed::FRAG_COORD {
                    words[3] = StorageClass::Private as u32;
                }
            })),
        ),
        Bug::of(
            Rule::LvMcVariables,
            "mc-variables-missing",
            "the first variable is not declared",
            part!(LvMcVariables, |code| emitted::remove(code, 0)),
        ),
    ]
}

fn body() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvMcBody,
            "mc-body-wrong-variable",
            "of several outputs, the first and the last are stored to each other's variable",
            part!(LvMcBody, |code| swap_operand(code, Op::Store, 1, |_| true)),
        ),
        Bug::of(
            Rule::LvMcBody,
            "mc-body-wrong-value",
            "of several outputs, the last is stored for all",
            part!(LvMcBody, |code| {
                let stores = emitted::all(&code.words, 0, Op::Store);
                if let Some(value) = stores.last().map(|&at| code.words[at + 2]) {
                    each(code, Op::Store, |words| words[2] = value);
                }
            }),
        ),
        Bug::of(Rule::LvMcBody, "mc-body-no-store", "the last output is not stored", part!(LvMcBody, |code| drop_last(code, Op::Store))),
        Bug::of(Rule::LvMcBody, "mc-body-padding-first", "an output's padding stands before its components", part!(LvMcBody, |code| pad_first(code))),
        Bug::of(
            Rule::LvMcBody,
            "mc-body-first-constant",
            "every opaque constant is the first one",
            part!(LvMcBody, |code| load_first(code)),
        ),
        Bug::of(Rule::LvMcBody, "mc-body-stored-twice", "the first output is stored twice", part!(LvMcBody, |code| store_twice(code))).caught_by(
            Check::Equivalent(
                "the second store writes the value that is there already, and nothing reads an output in between; only the count of steps differs, \
which the two SPIR-V engines agree on",
            ),
        ),
    ]
}
