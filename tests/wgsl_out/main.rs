//! SPIR-V → WGSL, by execution: what naga reads back must show what the module shows.

mod breadth;
mod cases;
mod errata;
mod generated;
mod planted;
mod sections;
mod shaders;
mod stages;

use std::time::Duration;

use smallstep::compile::wgsl::{NotConverted, Options, Refused, convert};
use smallstep::compile::{naga, wgsl};
use smallstep::compute::ComputeModule;
use smallstep::theorem::refine::{Settings, Side, Summary, refines};
use smallstep_semantics::spirv::{self, LoadOptions, Module};

/// The WGSL of a module, which naga accepts, and the words that naga makes of it.
pub fn there_and_back(words: &[u32], options: &Options) -> (String, Vec<u32>) {
    let converted = convert(words, options).unwrap_or_else(|e| panic!("not converted: {e}"));
    let back = naga::words("converted.wgsl", &converted.text, Duration::from_secs(60));
    let back = back.unwrap_or_else(|e| panic!("naga refuses it: {e:?}\n{}", converted.text));
    (converted.text, back)
}

/// The words of a text of assembly.
pub fn assembled(text: &str) -> Vec<u32> {
    spirv::assemble(text, spirv::Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what))
}

/// Compares a module with what becomes of it, over generated inputs.
pub fn compared(words: &[u32], back: &[u32], inputs: u64) -> Summary {
    let side = |name: &str, words: &[u32]| {
        let module =
            Module::load_with(words, &LoadOptions { lenient: true, ..LoadOptions::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
        Side::new(name, ComputeModule::new(module, None).unwrap_or_else(|e| panic!("{name}: {e}")), None)
    };
    let settings = Settings { inputs, groups: Some([1, 1, 1]), ..Settings::default() };
    refines(&side("the module", words), &side("the converted module", back), &settings, |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// Why a module is refused.
pub fn refusal(words: &[u32]) -> Refused {
    match convert(words, &wgsl::Options::default()) {
        Err(NotConverted::Refused(refused)) => refused,
        Err(other) => panic!("{other}"),
        Ok(converted) => panic!("converted:\n{}", converted.text),
    }
}
