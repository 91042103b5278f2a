//! SPIR-V → WGSL, tested by execution: the module that naga reads back must show what the
//! original module shows.

mod breadth;
mod cases;
mod drawn;
mod errata;
mod generated;
mod planted;
mod sections;
mod shaders;
mod stages;

use std::time::Duration;

use rspirv::spirv::ExecutionModel;
use smallstep::compile::wgsl::{NotConverted, Options, Refused, convert};
use smallstep::compile::{naga, split_samplers, wgsl};
use smallstep::compute::ComputeModule;
use smallstep::dispatch::ComputeDispatch;
use smallstep::theorem::refine::{Settings, Side, StageModule, Summary, refines, refines_draws};
use smallstep_semantics::spirv::{self, LoadOptions, Module};

/// The WGSL of a module, and the words that naga makes of it. Panics if naga refuses the text.
pub fn there_and_back(words: &[u32], options: &Options) -> (String, Vec<u32>) {
    let converted = convert(words, options).unwrap_or_else(|e| panic!("not converted: {e}"));
    let back = naga::words("converted.wgsl", &converted.text, naga::Space::Kept, Duration::from_secs(60));
    let back = back.unwrap_or_else(|e| panic!("naga refuses it: {e:?}\n{}", converted.text));
    (converted.text, back)
}

/// Assembles a text.
pub fn assembled(text: &str) -> Vec<u32> {
    spirv::assemble(text, spirv::Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what))
}

/// Compares a module with its conversion over generated inputs: its compute entry point, or a draw
/// of its stages. WGSL has no combined image samplers, so these are split in the original
/// module first.
pub fn compared(words: &[u32], back: &[u32], inputs: u64) -> Summary {
    let apart = split_samplers::adapt(&ComputeDispatch { words: words.into(), ..ComputeDispatch::default() });
    let apart = apart.unwrap_or_else(|e| panic!("{e}")).words;
    let module = |name: &str, words: &[u32]| {
        Module::load_with(words, &LoadOptions { lenient: true, ..LoadOptions::default() }).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let settings = Settings { inputs, groups: Some([1, 1, 1]), ..Settings::default() };
    let (before, after) = (module("the module", &apart), module("the converted module", back));
    let summary = if before.entry_points().iter().any(|e| e.model == ExecutionModel::GLCompute) {
        let side =
            |name: &str, module: Module| Side::new(name, ComputeModule::new(module, None).unwrap_or_else(|e| panic!("{name}: {e}")), None);
        refines(&side("the module", before), &side("the converted module", after), &settings, |_| {})
    } else {
        let stages = |name: &str, module: Module| StageModule::new(name, module, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        refines_draws(&stages("the module", before), &stages("the converted module", after), &settings, |_| {})
    };
    summary.unwrap_or_else(|e| panic!("{e}"))
}

/// Why a module is refused.
pub fn refusal(words: &[u32]) -> Refused {
    match convert(words, &wgsl::Options::default()) {
        Err(NotConverted::Refused(refused)) => refused,
        Err(other) => panic!("{other}"),
        Ok(converted) => panic!("converted:\n{}", converted.text),
    }
}
