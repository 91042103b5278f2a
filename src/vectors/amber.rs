//! Generated compute modules as Amber scripts. They contain the result that every conforming device
//! must show, for any reader of Amber.
//!
//! Invariant: a script is written only if three conditions hold. The relation and the lockstep
//! machine agree. Every byte is defined. The script reads back to the module word for word, except
//! for the generator's number in the header.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rspirv::spirv::Capability;
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::{decode, disassemble, grammar::Op};

use crate::amber;
use crate::generate::spirv::{self as generator, ComputeCase, Limits};
use crate::theorem::dispatches::{self, Engines, Judged, Runner};

/// The number of modules that are tried for each script before giving up. At least 1000 are tried.
const TRIES: u64 = 100;
/// The number of values in one line.
const VALUES_IN_LINE: usize = 16;
/// The index of the generator's number in a header.
const GENERATOR: usize = 2;

/// The settings of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of scripts.
    pub count: u64,
    /// The seed of the first module. The seeds of the others follow it.
    pub seed: u64,
    /// The limits of the modules.
    pub limits: Limits,
}

/// The result of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The paths of the scripts.
    pub files: Vec<PathBuf>,
    /// The number of bytes that the scripts expect.
    pub bytes: u64,
    /// The number of modules that were tried.
    pub tried: u64,
    /// The number of modules that were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// The reason why recording ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be written.
    Io(PathBuf, io::Error),
    /// The interpreters disagree on the module of a seed, or its script does not read back. So
    /// there is no expected result.
    Wrong(u64, String),
    /// Too few modules are suitable.
    TooFew(Recorded),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Io(path, e) => write!(f, "{}: {e}", path.display()),
            RecordError::Wrong(seed, what) => write!(f, "nothing can be recorded: the module of seed {seed}: {what}"),
            RecordError::TooFew(so_far) => write!(f, "only {} of {} modules are fit", so_far.files.len(), so_far.tried),
        }
    }
}

impl std::error::Error for RecordError {}

/// Writes scripts into a folder, which is created if necessary. Each is named after its seed.
/// `progress` gets the number of scripts so far.
pub fn record(plan: &Plan, folder: &Path, progress: &dyn Fn(u64)) -> Result<Recorded, RecordError> {
    fs::create_dir_all(folder).map_err(|e| RecordError::Io(folder.into(), e))?;
    let mut recorded = Recorded::default();
    let mut seed = plan.seed;
    while (recorded.files.len() as u64) < plan.count {
        if recorded.tried >= 1000.max(TRIES * plan.count) {
            return Err(RecordError::TooFew(recorded));
        }
        recorded.tried += 1;
        let case = generator::case(seed, &plan.limits);
        let observed = match dispatches::judge(&case, &Engines::default()) {
            Judged::Observed(observed) => observed,
            Judged::Uncompiled(..) => {
                *recorded.left_out.entry("the machine does not compile it").or_default() += 1;
                seed = seed.wrapping_add(1);
                continue;
            }
            Judged::Wrong(runner, what) => return Err(RecordError::Wrong(seed, format!("{runner}: {what}"))),
            Judged::Reported => return Err(RecordError::Wrong(seed, format!("{}: a defect in a clean module", Runner::Loader))),
        };
        let text = script(&case, &observed, seed).map_err(|what| RecordError::Wrong(seed, what))?;
        let path = folder.join(format!("compute-{seed:010}.amber"));
        fs::write(&path, text).map_err(|e| RecordError::Io(path.clone(), e))?;
        recorded.files.push(path);
        recorded.bytes += written(&case, &observed).map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        progress(recorded.files.len() as u64);
        seed = seed.wrapping_add(1);
    }
    Ok(recorded)
}

/// The buffers that a case writes, with their observed bytes.
fn written<'c>(case: &'c ComputeCase, observed: &'c Observation) -> impl Iterator<Item = (u32, &'c [u8])> {
    let of = |set, binding| observed.buffers.iter().find(|b| (b.set, b.binding) == (set, binding));
    case.buffers.iter().filter(|b| b.written).filter_map(move |b| Some((b.binding, of(b.set, b.binding)?.bytes.as_slice())))
}

/// A case with its observation, as a script. The error is a sentence: the script does not
/// read back.
fn script(case: &ComputeCase, observed: &Observation, seed: u64) -> Result<String, String> {
    let text = text(case, observed, seed)?;
    let read = amber::read(&text).map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string))?;
    let mut words = read.shaders.first().ok_or("the script has no shader")?.words(None).map_err(|e| e.to_string())?;
    if let (Some(to), Some(from)) = (words.get_mut(GENERATOR), case.words.get(GENERATOR)) {
        *to = *from;
    }
    if words != case.words {
        let at = words.iter().zip(&case.words).position(|(a, b)| a != b).unwrap_or(words.len().min(case.words.len()));
        return Err(format!("the script's assembly has other words, first word {at} of {}", case.words.len()));
    }
    Ok(text)
}

fn text(case: &ComputeCase, observed: &Observation, seed: u64) -> Result<String, String> {
    let mut out = String::from("#!amber\n");
    let assembly = disassemble(&case.words).map_err(|e| e.to_string())?;
    let minor = case.words.get(1).map_or(0, |version| version >> 8 & 0xff);
    let decoded = decode(&case.words).map_err(|e| e.to_string())?;
    let has = |capability: Capability| {
        decoded.instructions.iter().any(|i| i.is(Op::Capability) && i.operands(&case.words) == [capability as u32])
    };
    // Writing to a String does not fail.
    let _ = writeln!(out, "# Generated by smallstep {}, generator version {}, seed {seed}.", env!("CARGO_PKG_VERSION"), generator::VERSION);
    let _ = writeln!(out, "# The program has no undefined behaviour: every conforming device shows what is expected here, bit for bit.\n");
    let features =
        [(Capability::Int8, "Float16Int8Features.shaderInt8"), (Capability::Int16, "shaderInt16"), (Capability::Int64, "shaderInt64")];
    for (_, feature) in features.iter().filter(|(capability, _)| has(*capability)) {
        let _ = writeln!(out, "DEVICE_FEATURE {feature}");
    }
    let _ = writeln!(out, "SHADER compute generated SPIRV-ASM TARGET_ENV spv1.{minor}\n{}\nEND\n", assembly.trim_end());
    for buffer in &case.buffers {
        let _ = writeln!(out, "BUFFER buffer{} DATA_TYPE uint32 DATA", buffer.binding);
        values(&mut out, &buffer.words);
        let _ = writeln!(out, "END\n");
    }
    let _ = writeln!(out, "PIPELINE compute run\n  ATTACH generated ENTRY_POINT {}", case.entry);
    for buffer in &case.buffers {
        let (set, binding) = (buffer.set, buffer.binding);
        let _ = writeln!(out, "  BIND BUFFER buffer{binding} AS storage DESCRIPTOR_SET {set} BINDING {binding}");
    }
    let [x, y, z] = case.groups;
    let _ = writeln!(out, "END\n\nRUN run {x} {y} {z}");
    for (binding, bytes) in written(case, observed) {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        for (line, some) in words.chunks(VALUES_IN_LINE).enumerate() {
            let _ = write!(out, "EXPECT buffer{binding} IDX {} EQ", line * 4 * VALUES_IN_LINE);
            for word in some {
                let _ = write!(out, " {word}");
            }
            out.push('\n');
        }
    }
    Ok(out)
}

fn values(out: &mut String, words: &[u32]) {
    for some in words.chunks(VALUES_IN_LINE) {
        let texts: Vec<String> = some.iter().map(u32::to_string).collect();
        let _ = writeln!(out, "{}", texts.join(" "));
    }
}
