//! The endings of engines, in the form of expectations and blessed blocks.

use crate::expect::Found;
use smallstep_semantics::lambda_v::print::{Printer, print_typed};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::types::{Elem, Ground, Value};
use smallstep_semantics::lambda_v::typing::{Derivation, StackId};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Observation, ObservedBuffer, ObservedImage};
use smallstep_semantics::spirv::{self, LoadError};

/// The code of an error of loading.
pub(crate) fn load_code(e: &LoadError) -> String {
    match e {
        LoadError::Words(words) => words.kind().map_or("limit", |kind| kind.id()).into(),
        LoadError::Invalid { check, .. } => check.id().into(),
        LoadError::Unsupported { .. } => "unsupported".into(),
        _ => "limit".into(),
    }
}

/// The line and column of the instruction to which a word belongs. Cases have one instruction on
/// a line.
pub(crate) fn instruction_place(text: &str, words: &[u32], word: usize) -> (usize, usize) {
    let mut instruction = 0;
    let mut at = spirv::words::HEADER_WORDS;
    while at < words.len() && at + (words[at] >> 16).max(1) as usize <= word {
        at += (words[at] >> 16).max(1) as usize;
        instruction += 1;
    }
    let code = text.lines().enumerate().filter(|(_, l)| !l.split(';').next().unwrap_or_default().trim().is_empty());
    match code.clone().nth(instruction) {
        Some((i, line)) => (i + 1, line.len() - line.trim_start().len() + 1),
        None => (code.last().map_or(1, |(i, _)| i + 1), 1),
    }
}

/// The result of a run of λV. `location` is the location of the output.
pub(crate) fn lambda_v_ending(outcome: &Outcome<Value>, location: u32) -> Found {
    match outcome {
        Outcome::Observed(value) => Found { values: vec![(location, value.ty, value.bits().collect())], ..Found::default() },
        Outcome::Stuck(stuck) => Found::ending("stuck", stuck.why.clone()),
        Outcome::Diverges(why) => Found::ending("diverges", why.clone()),
        Outcome::Limit(limit) => Found::ending("limit", limit.to_string()),
        other => Found::ending(other.name(), ""),
    }
}

/// The result of a run of SPIR-V.
pub(crate) fn spirv_ending(outcome: &Outcome<spirv::Outputs>) -> Found {
    match outcome {
        Outcome::Observed(outputs) => {
            let values = outputs.written.iter().map(|(location, lanes)| {
                let ty = Ground::Vec(lanes.len() as u8, Elem::F);
                (*location, ty, lanes.iter().map(|l| l.bits).collect())
            });
            let unwritten = outputs.unwritten.iter().map(|l| format!("output {l} unwritten"));
            let notes = [format!("{} steps", outputs.steps)].into_iter().chain(unwritten).collect();
            Found { values: values.collect(), notes, ..Found::default() }
        }
        Outcome::Undefined(undefined) => Found::ending(format!("undefined[{}]", undefined.ub.id()), undefined.what.clone()),
        Outcome::Stuck(stuck) => Found::ending("stuck", stuck.why.clone()),
        Outcome::Unsupported(what) => Found::ending("unsupported", what.clone()),
        other => Found::ending(other.name(), ""),
    }
}

/// The result of a dispatch. There is a line for each storage buffer, with its words as
/// unsigned numbers or `any(kind)`. There is a line for each storage image, with its texels in
/// the same form.
pub(crate) fn dispatch_ending(outcome: &Outcome<Observation>) -> Found {
    let text = |buffer: &ObservedBuffer| {
        let words = buffer.bytes.chunks(4).enumerate().map(|(i, bytes)| {
            let at = 4 * i as u64;
            match buffer.undefined.iter().find(|u| u.start < at + 4 && at < u.end) {
                Some(undefined) => format!("any({})", undefined.kind),
                None => bytes.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte)).to_string(),
            }
        });
        format!("buffer {}.{}: {}", buffer.set, buffer.binding, words.collect::<Vec<_>>().join(" "))
    };
    let texels = |image: &ObservedImage| {
        let texels = (0u64..).zip(image.bytes.chunks(image.format.bytes().max(1))).map(|(at, bytes)| {
            match image.undefined.iter().find(|u| (u.start..u.end).contains(&at)) {
                Some(undefined) => format!("any({})", undefined.kind),
                None => bytes.iter().rev().fold(0u128, |texel, &byte| texel << 8 | u128::from(byte)).to_string(),
            }
        });
        format!("image {}.{}: {}", image.set, image.binding, texels.collect::<Vec<_>>().join(" "))
    };
    match outcome {
        Outcome::Observed(observation) => {
            let mut notes: Vec<String> = observation.buffers.iter().map(text).collect();
            notes.extend(observation.images.iter().map(texels));
            notes.push(format!("{} instructions", observation.instructions));
            Found { notes, ..Found::default() }
        }
        Outcome::Undefined(undefined) => Found::ending(format!("undefined[{}]", undefined.ub.id()), undefined.what.clone()),
        Outcome::Stuck(stuck) => Found::ending("stuck", stuck.why.clone()),
        Outcome::Unsupported(what) => Found::ending("unsupported", what.clone()),
        other => Found::ending(other.name(), ""),
    }
}

/// A line for each node of a derivation: its number, the conclusion, and in brackets the rule and
/// the numbers of its premises.
pub(crate) fn derivation_lines(program: &Program, d: &Derivation) -> Vec<String> {
    let term = |e| Printer { terms: &d.terms, symbols: &program.symbols, ext: &print_typed, limit: 200 }.print(e);
    let stack = |mut a: StackId| {
        let mut lists = Vec::new();
        while let Some(stack) = d.stack(a) {
            let args: Vec<String> = d.arguments(stack).iter().map(|&e| term(e)).collect();
            lists.insert(0, format!("({})", args.join(" ")));
            a = stack.below;
        }
        if lists.is_empty() { "∅".to_string() } else { format!("({})", lists.join(" ")) }
    };
    let mut lines = Vec::new();
    for (i, step) in d.nodes.iter().enumerate() {
        let r = d.frame(step.goal.r).map_or("∅".to_string(), |frame| {
            let types: Vec<String> = frame.types.iter().map(Ground::to_string).collect();
            format!("({})", types.join(" "))
        });
        let premises: Vec<String> = step.premises.iter().map(|p| format!(" {p}")).collect();
        let case = step.rec_match.map_or(String::new(), |rule| format!(", {rule}"));
        let conclusion = format!("{r}, {} ⊢ {} : {}", stack(step.goal.a), term(step.goal.e), step.ty);
        lines.push(format!("{i}: {conclusion}   [{}{case}{}]", step.rule, premises.concat()));
    }
    lines
}
