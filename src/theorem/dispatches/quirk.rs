//! Quirks of compute dispatches: known mistakes of drivers, each with one small module. They are
//! the files of `spec-tests/quirks-spirv`.
//!
//! A quirk is an assembly text. It has its dispatch in its comments ([`DispatchInputs`]), and lines
//! `;@ quirk KEY: VALUE`. `adapter`, `driver`, `route`, `seen` and `says` are as in
//! [`Quirk`](crate::theorem::quirk::Quirk). `ends` is `shown` if the device shows something else
//! than both interpreters, and `failed` if it crashes, hangs or is lost. `remedy` is optional: the
//! construct without which modules do not have the fault ([`Remedy`]).
//!
//! A disagreement on another module is known if it ends like a quirk that the device still shows,
//! and one of two conditions holds. Either its minimal module has the same instructions in the
//! same order, or the disagreement is gone from the module without the quirk's construct. The
//! second shows that the fault needs the construct, but not that it is the same fault. So counts
//! name the remedy.

use crate::source::ReadError;
use crate::theorem::Unexpected;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::program::{Language, Program};
use crate::verdict::Verdict;
use smallstep_semantics::outcome::{InputFault, InvalidInput, Outcome};
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{Buffer, Module, decode};

use super::required::{Admitted, RequiredResult};
use super::{first_undefined, same};
use crate::compute::carried::DispatchInputs;
use crate::compute::given::{Assignment, Contents, Place};
use crate::compute::{ComputeModule, Interpreter, Prepared, load};
use crate::dispatch::ComputeResult;
use crate::generate::spirv::ComputeCase;
use crate::generate::spirv::remedy::Remedy;
use crate::gpu::{Device, DeviceOutcome};
use crate::theorem::quirk::{Keys, Seen, files_of, stem, text_of};
use crate::theorem::without_numbers;

/// A known disagreement on a compute dispatch.
pub struct DispatchQuirk {
    /// The file's name without its ending.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The devices on which it was seen, the day, and its sentence.
    pub seen: Seen,
    /// Whether the device crashes, hangs or is lost. Otherwise it shows something else.
    pub fails: bool,
    /// The construct that the fault needs.
    pub remedy: Option<Remedy>,
    /// The module with its dispatch.
    pub prepared: Prepared,
    /// The shape of the module.
    pub shape: Shape,
}

/// The shape of a module: the opcodes of its functions in order, without names, numbers and types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape(Vec<u16>);

impl Shape {
    /// The shape of a module. Empty if the words are no module.
    pub fn of(words: &[u32]) -> Shape {
        let Ok(decoded) = decode(words) else { return Shape(Vec::new()) };
        let functions = decoded.instructions.iter().skip_while(|i| !i.is(Op::Function));
        Shape(functions.map(|i| i.op as u16).collect())
    }
}

/// The verdict on a device's outcome of a dispatch, by the interpreters' observation. It disagrees
/// if something wrong is shown, and fails if nothing is shown.
pub fn on_device(required: &RequiredResult, outcome: &DeviceOutcome) -> Verdict<String> {
    match outcome {
        DeviceOutcome::Computed(result) => shown(required, result),
        DeviceOutcome::Refused(why) => Verdict::Disagree(format!("it refuses a valid module: {why}")),
        DeviceOutcome::Unchecked(why) => Verdict::Unchecked(why.clone()),
        DeviceOutcome::Outage(_) => Verdict::Unchecked(outcome.to_string()),
        other => Verdict::Failed(other.to_string()),
    }
}

fn shown(required: &RequiredResult, result: &ComputeResult) -> Verdict<String> {
    match required.admits(result) {
        Ok(Admitted { undecided: 0, .. }) => Verdict::Agree,
        Ok(Admitted { undecided, .. }) => Verdict::Unchecked(format!("{undecided} bytes are not decided")),
        Err(unexpected) => Verdict::Disagree(unexpected.what),
    }
}

/// The dispatch of a generated case, in the form that a text carries.
pub fn carried(case: &ComputeCase) -> DispatchInputs {
    let set = case.buffers.iter().map(|b| Assignment {
        place: Place::new(b.set, b.binding),
        given: Contents::Bytes(b.words.iter().flat_map(|word| word.to_le_bytes()).collect()),
    });
    DispatchInputs { groups: Some(case.groups), subgroup_size: case.subgroup_size, set: set.collect(), ..DispatchInputs::default() }
}

impl DispatchQuirk {
    /// Reads a quirk.
    ///
    /// # Errors
    /// The file cannot be read, a line is not `;@ quirk KEY: VALUE` or `;@ dispatch KEY: VALUE`, or
    /// the module or its dispatch is not valid.
    pub fn read(path: &Path) -> Result<DispatchQuirk, InvalidInput> {
        let wrong = |what: String| InvalidInput::new(InputFault::Text, format!("{}: {what}", path.display()));
        let text = text_of(path)?;
        let mut keys = Keys::read(&text, &["dispatch"]).map_err(wrong)?;
        let seen = Seen::read(&mut keys).map_err(wrong)?;
        let fails = keys.one_of("ends", [("shown", false), ("failed", true)]).map_err(wrong)?;
        let remedy = keys.optional("remedy").map(|name| {
            let named = Remedy::ALL.iter().find(|(known, _)| *known == name);
            named.map(|(_, remedy)| *remedy).ok_or_else(|| wrong(format!("no remedy is called \"{name}\"")))
        });
        let remedy = remedy.transpose()?;
        keys.all_read().map_err(wrong)?;
        let prepared = prepare(path, &text)?;
        let shape = Shape::of(prepared.module.module.words());
        Ok(DispatchQuirk { name: stem(path), path: path.into(), seen, fails, remedy, prepared, shape })
    }

    /// All quirks of a folder (its `.spvasm` files), in the order of their names.
    ///
    /// # Errors
    /// As for [`DispatchQuirk::read`], and if the folder cannot be read or has no such file.
    pub fn read_folder(folder: &Path) -> Result<Vec<DispatchQuirk>, InvalidInput> {
        files_of(folder, "spvasm")?.iter().map(|path| DispatchQuirk::read(path)).collect()
    }

    /// The observation of both interpreters.
    ///
    /// # Errors
    /// The interpreters do not agree, or one of them has no observation, or has undefined bytes
    /// in it.
    pub fn expected(&self) -> Result<Observation, Unexpected> {
        let observed = |interpreter: &Interpreter| -> Result<Observation, Unexpected> {
            let ran = self.prepared.run(interpreter).map_err(|e| Unexpected::from(e.to_string()))?;
            match ran.report.outcome {
                Outcome::Observed(observation) => match first_undefined(&observation) {
                    None => Ok(observation),
                    Some((binding, at, kind)) => Err(format!("byte {at} of the buffer at binding {binding} is undefined ({kind})").into()),
                },
                Outcome::Undefined(undefined) => Err(undefined.to_string().into()),
                other => Err(format!("it ends with {}", other.name()).into()),
            }
        };
        let reference = Interpreter::Reference { schedule: Default::default(), keep_going: false };
        let (of_relation, of_machine) = (observed(&reference)?, observed(&Interpreter::Machine)?);
        same(&of_relation, &of_machine).map(|()| of_relation)
    }

    /// Whether it was seen on this adapter, driver and route.
    pub fn is_of(&self, device: &Device) -> bool {
        let record = device.adapter();
        self.seen.is_of(&record.name, &record.driver, device.route())
    }

    /// The verdict on the quirk's dispatch on a device.
    ///
    /// # Errors
    /// As for [`DispatchQuirk::expected`].
    pub fn on(&self, device: &mut Device) -> Result<Verdict<String>, Unexpected> {
        let expected = RequiredResult::exactly(self.expected()?);
        Ok(match self.prepared.run_on(device) {
            Ok(found) => {
                let buffers = found.buffers.into_iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes });
                shown(&expected, &ComputeResult { words_hash: 0, buffers: buffers.collect(), images: Vec::new() })
            }
            Err(outcome) => on_device(&expected, &outcome),
        })
    }

    /// Checks that a verdict is the recorded one, except for numbers.
    ///
    /// # Errors
    /// The difference from the recorded verdict.
    pub fn is_recorded(&self, found: &Verdict<String>) -> Result<(), Unexpected> {
        match found {
            Verdict::Agree => Err("this driver no longer shows it: remove the quirk".into()),
            Verdict::Disagree(what) | Verdict::Failed(what) => {
                let fails = matches!(found, Verdict::Failed(_));
                let is_same = fails == self.fails && without_numbers(what).contains(&without_numbers(&self.seen.says));
                if is_same { Ok(()) } else { Err(format!("another disagreement than recorded: {what}").into()) }
            }
            other => Err(format!("it is {}: {}", other.name(), other.why()).into()),
        }
    }
}

/// The dispatch that a text carries, with its module.
pub(super) fn prepare(path: &Path, text: &str) -> Result<Prepared, InvalidInput> {
    let name = path.display().to_string();
    let wrong = |invalid: InvalidInput| invalid.about(&name);
    let refused = |error: ReadError| InvalidInput::new(InputFault::Program, error.text);
    let carried = DispatchInputs::read(text).map_err(wrong)?;
    let words = Program::read(&name, text.as_bytes(), Some(Language::Assembly)).and_then(|program| program.words()).map_err(refused)?;
    let module: Module = load(&name, &words, false, &carried.spec).map_err(refused)?;
    let module = ComputeModule::new(module, None).map_err(wrong)?;
    let no_file = |file: &str| Err(InvalidInput::new(InputFault::File, format!("\"{file}\" is not read")));
    let inputs = carried.given(no_file).map_err(wrong)?;
    let mut prepared = Prepared::new(module, carried.groups.unwrap_or([1; 3]), inputs).map_err(wrong)?;
    prepared.subgroup_size = carried.subgroup_size;
    Ok(prepared)
}

/// The quirks that a device still shows as they were recorded.
pub struct Known<'q> {
    shown: Vec<&'q DispatchQuirk>,
    /// Quirks that are recorded for this device and that it no longer shows: the name and a
    /// sentence. They explain nothing.
    pub gone: Vec<(String, String)>,
}

impl<'q> Known<'q> {
    /// Runs the quirks that are recorded for this device.
    pub fn on(device: &mut Device, quirks: &'q [DispatchQuirk]) -> Known<'q> {
        let mut known = Known { shown: Vec::new(), gone: Vec::new() };
        for quirk in quirks {
            if !quirk.is_of(device) {
                continue;
            }
            match quirk.on(device).and_then(|found| quirk.is_recorded(&found)) {
                Ok(()) => known.shown.push(quirk),
                Err(why) => known.gone.push((quirk.name.clone(), why.what)),
            }
        }
        known
    }

    /// The remedies of the quirks that end in this way, each with the names of its quirks.
    pub fn remedies(&self, failed: bool) -> BTreeMap<Remedy, String> {
        let mut remedies: BTreeMap<Remedy, Vec<&str>> = BTreeMap::new();
        for quirk in self.shown.iter().filter(|quirk| quirk.fails == failed) {
            if let Some(remedy) = quirk.remedy {
                remedies.entry(remedy).or_default().push(&quirk.name);
            }
        }
        remedies.into_iter().map(|(remedy, names)| (remedy, format!("{} by {}", names.join(" or "), remedy.name()))).collect()
    }

    /// The quirk with the same instructions in the same order as a minimal module, and the
    /// same ending.
    pub fn name_of(&self, words: &[u32], found: &Verdict<String>) -> Option<&'q str> {
        let shape = Shape::of(words);
        self.shown.iter().find(|quirk| quirk.shape == shape && quirk.is_recorded(found).is_ok()).map(|quirk| quirk.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::spirv::{Limits, case};
    use crate::gpu::Route;

    #[test]
    fn a_generated_case_comes_back_from_its_text() {
        let case = case(7, &Limits::default());
        let text = format!("{}{}", carried(&case), smallstep_semantics::spirv::disassemble(&case.words).expect("disassembles"));
        let prepared = prepare(Path::new("case.spvasm"), &text).expect("prepares");
        assert_eq!(prepared.module.module.words()[5..], case.words[5..]);
        assert_eq!(prepared.groups, case.groups);
        for buffer in &case.buffers {
            let bytes: Vec<u8> = buffer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(prepared.given(Place::new(buffer.set, buffer.binding)), Some(bytes.as_slice()));
        }
    }

    #[test]
    fn routes_and_ends_are_checked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.spvasm");
        let keys =
            ";@ quirk adapter: any\n;@ quirk driver: any\n;@ quirk route: passthrough\n;@ quirk seen: 2026-11-21\n;@ quirk says: word 0\n";
        let case = case(7, &Limits::default());
        let module = format!("{}{}", carried(&case), smallstep_semantics::spirv::disassemble(&case.words).expect("disassembles"));
        let read = |header: &str| {
            std::fs::write(&path, format!("{header}{module}")).expect("written");
            DispatchQuirk::read(&path)
        };
        let quirk = read(&format!("{keys};@ quirk ends: shown\n")).expect("reads");
        assert!(quirk.seen.is_of("x", "y", Route::Passthrough) && !quirk.seen.is_of("x", "y", Route::Naga));
        let wrong = |what: &str, failed| if failed { Verdict::Failed(what.into()) } else { Verdict::Disagree(what.to_string()) };
        assert!(quirk.expected().is_ok());
        assert!(quirk.is_recorded(&wrong("word 17 of the buffer", false)).is_ok(), "numbers do not count");
        assert!(quirk.is_recorded(&wrong("word 0 of the buffer", true)).is_err());
        assert!(quirk.is_recorded(&wrong("refused", false)).is_err());
        assert!(quirk.is_recorded(&Verdict::Agree).is_err() && quirk.is_recorded(&Verdict::Unchecked("x".into())).is_err());
        for (header, message) in [
            (keys.to_string(), "a quirk needs \"ends\""),
            (format!("{keys};@ quirk ends: badly\n"), "ends is \"badly\""),
            (format!("{keys};@ quirk ends: shown\n;@ quirk remedy: sleep\n"), "no remedy is called \"sleep\""),
            (format!("{keys};@ quirk ends: shown\n;@ quirk more: 1\n"), "a quirk has no \"more\""),
        ] {
            let error = read(&header).err().map_or_else(String::new, String::from);
            assert!(error.contains(message), "{error}");
        }
    }
}
