//! Learns before a campaign what a compiler refuses, so that the campaign's modules avoid it.
//!
//! Some generated modules go through the compiler. A feature ([`feature`]) is a suspect if it
//! occurs in refused modules and in no accepted one. It is the reason of the refusal if a module
//! with the feature and little else is refused too, and the same module without the feature is not.
//! The result is a function of the compiler, the seed and the limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::generate::spirv::feature::{self, Feature, Features};
use crate::generate::spirv::{self, Limits, tree};
use crate::theorem::compilers::{Compiler, NotCompiled};
use crate::theorem::without_numbers;

/// The default number of modules that are tried.
pub const MODULES: u64 = 64;
/// The most rounds. Each tries the same number of modules.
const ROUNDS: u64 = 4;
/// Changes the seed, so that the campaign itself has other modules.
const SEED_CHANGE: u64 = 0x6c65_6172_6e74;

/// The oldest minor version of SPIR-V among generated modules.
const OLDEST: u8 = 3;

/// The result of learning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// The number of modules that were tried.
    pub modules: u64,
    /// The features that are avoided, each with the compiler's message.
    pub left_out: BTreeMap<Feature, String>,
    /// The number of refused modules, by the compiler's message without numbers.
    pub refusals: BTreeMap<String, u64>,
}

impl Learnt {
    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        let left_out: serde_json::Map<_, _> = self.left_out.iter().map(|(feature, why)| (feature.to_string(), json!(why))).collect();
        json!({"modules": self.modules, "left_out": left_out, "refusals": self.refusals})
    }
}

/// The first line of a compiler's refusal without numbers. `None` if it accepts the module.
fn refusal(compiler: &Compiler, module: &tree::Module) -> Option<String> {
    match compiler.run(&module.case().words) {
        Err(NotCompiled::Refused(what) | NotCompiled::NotRun(what)) => Some(without_numbers(what.lines().next().unwrap_or_default())),
        _ => None,
    }
}

/// Learns what a compiler refuses in modules within the limits. Later rounds avoid what was learnt,
/// until nothing more is learnt.
pub fn learn(compiler: &Compiler, seed: u64, modules: u64, limits: &Limits) -> Learnt {
    let (mut all, mut limits) = (Learnt::default(), limits.clone());
    for round in 0..ROUNDS {
        let learnt = one_round(compiler, seed.wrapping_add(round * modules) ^ SEED_CHANGE, modules, &limits);
        all.modules += modules;
        for (why, count) in learnt.refusals {
            *all.refusals.entry(why).or_default() += count;
        }
        if learnt.left_out.is_empty() {
            break;
        }
        limits.left_out.extend(learnt.left_out.keys().cloned());
        all.left_out.extend(learnt.left_out);
    }
    all
}

fn one_round(compiler: &Compiler, seed: u64, modules: u64, limits: &Limits) -> Learnt {
    let mut learnt = Learnt { modules, ..Learnt::default() };
    let mut accepted = Features::new();
    let mut bases: BTreeMap<u8, bool> = BTreeMap::new();
    let mut suspects: BTreeMap<Feature, tree::Module> = BTreeMap::new();
    for index in 0..modules {
        let module = spirv::module(seed.wrapping_add(index), limits);
        match refusal(compiler, &module) {
            None => accepted.extend(feature::features(&module)),
            Some(why) => {
                *learnt.refusals.entry(why).or_default() += 1;
                for (feature, probe) in feature::probes(&module) {
                    suspects.entry(feature).or_insert(probe);
                }
            }
        }
    }
    // If a module without features is refused, the reason is its version, or no feature at all.
    let mut accepts_base = |minor: u8, module: &tree::Module| {
        let base = tree::Module { minor, ..feature::base(module) };
        *bases.entry(minor).or_insert_with(|| refusal(compiler, &base).is_none())
    };
    for (feature, probe) in suspects.into_iter().filter(|(feature, _)| !accepted.contains(feature)) {
        let Some(why) = refusal(compiler, &probe) else { continue };
        let is_version = feature.to_string() == format!("SPIR-V 1.{}", probe.minor);
        if !accepts_base(if is_version { OLDEST } else { probe.minor }, &probe) {
            continue;
        }
        // Few modules have an operation in both shapes, so the other shape is tried too.
        if let Some((other, probe)) = feature::other_shape(&probe, &feature).filter(|(other, _)| !accepted.contains(other))
            && let Some(why) = refusal(compiler, &probe)
        {
            learnt.left_out.insert(other, why);
        }
        learnt.left_out.insert(feature, why);
    }
    learnt
}
