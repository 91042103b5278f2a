//! Quirks of WSL: programs on which a device is known to be wrong. A finding may be one of them.
//!
//! A quirk is a program in a file, with `//@ quirk KEY: VALUE` lines. `adapter`, `driver`, `route`,
//! `seen` and `says` are as in every quirk. `from` is the kind and seed of the generated program
//! whose resources or arguments it uses, such as `dispatches 7163`. `without` is optional: a word
//! that the fault needs.
//!
//! A finding is known if its minimal program is wrong in the same way as a quirk that the device
//! still shows, and has the same shape. The shape consists of the tokens, with generated names and
//! numbers ignored. A program in a file runs with other resources. For such a program the quirk's
//! program is also made minimal with these resources, and its shape then counts too.
//!
//! A finding is also known if the device agrees on the same program without the word of `without`.
//! This shows that the fault needs the word, but not that it is the same fault. Reports say so.

use super::campaign::Plan;
use super::programs::{Generated, Programs, generated};
use super::reduce::{Minimal, fault, faults_of};
use crate::gpu::Device;
use crate::theorem::Unexpected;
use crate::theorem::Verdict;
use crate::theorem::campaign::Extent;
use crate::theorem::device::profile_of;
use crate::theorem::quirk::{Keys, Seen, files_of, stem, text_of};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::lex::lex;
use std::path::{Path, PathBuf};

/// The beginning of a quirk's lines.
const SIGN: &str = "//@";

/// A known disagreement of a device.
#[derive(Clone, Debug)]
pub struct Quirk {
    /// The file's name without its ending.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The text of the program.
    pub text: String,
    /// The devices on which it was seen, the day, and its sentence.
    pub seen: Seen,
    origin: (Programs, u64),
    /// A word of the program without which the device agrees.
    pub without: Option<String>,
}

impl Quirk {
    /// Reads a quirk.
    ///
    /// # Errors
    /// The file cannot be read, or a key is unknown, missing, repeated or has an invalid value.
    pub fn read(path: &Path) -> Result<Quirk, InvalidInput> {
        let wrong = |what: String| InvalidInput::new(InputFault::Text, format!("{}: {what}", path.display()));
        let text = text_of(path)?;
        Quirk::parse(&stem(path), path, text).map_err(wrong)
    }

    /// All quirks of a folder (its `.wsl` files).
    ///
    /// # Errors
    /// As for [`Quirk::read`], and if the folder has no such file.
    pub fn read_folder(folder: &Path) -> Result<Vec<Quirk>, InvalidInput> {
        files_of(folder, "wsl")?.iter().map(|path| Quirk::read(path)).collect()
    }

    fn parse(name: &str, path: &Path, text: String) -> Result<Quirk, String> {
        let mut keys = Keys::read_after(SIGN, &text, &[])?;
        let seen = Seen::read(&mut keys)?;
        let origin = keys.required("from")?;
        let wrong = || format!("from is \"{origin}\" and must be a kind of programs and a seed, as \"dispatches 7163\"");
        let (kind, seed) = origin.split_once(' ').ok_or_else(wrong)?;
        let programs = Programs::ALL.iter().find(|programs| programs.name() == kind).ok_or_else(wrong)?;
        let origin = (*programs, seed.trim().parse().map_err(|_| wrong())?);
        let without = keys.optional("without");
        keys.all_read()?;
        if let Some(word) = without.as_ref().filter(|word| text_without(&text, word).is_none()) {
            return Err(format!("without is \"{word}\", which is no word of the program"));
        }
        Ok(Quirk { name: name.into(), path: path.into(), text, seen, origin, without })
    }

    /// Whether it was seen on this device, by its route.
    pub fn is_of(&self, device: &Device) -> bool {
        self.seen.is_of(&device.adapter().name, &device.adapter().driver, device.route())
    }

    /// The present verdict on its program, on a device or between the interpreters.
    pub fn judged(&self, device: Option<&mut Device>) -> Verdict {
        self.judged_as(&self.text, device)
    }

    /// The verdict on its program without the word that the fault needs. `None` if the quirk has no
    /// such word.
    pub fn judged_without(&self, device: Option<&mut Device>) -> Option<Verdict> {
        let text = text_without(&self.text, self.without.as_ref()?)?;
        Some(self.judged_as(&text, device))
    }

    fn judged_as(&self, text: &str, device: Option<&mut Device>) -> Verdict {
        let plan = alone(profile_of(self.seen.route));
        let (programs, seed) = self.origin;
        let generated_dispatch = generated(programs, seed).generated_dispatch;
        plan.verdict(programs, seed, text, generated_dispatch.as_ref(), device)
    }

    /// Checks that a verdict is the recorded disagreement.
    ///
    /// # Errors
    /// The difference from the recorded disagreement.
    pub fn is_recorded(&self, verdict: &Verdict) -> Result<(), Unexpected> {
        match verdict {
            Verdict::Disagree(difference) if difference.to_string().contains(&self.seen.says) => Ok(()),
            other => Err(format!("\"{}\" is recorded, and the verdict is {}: {}", self.seen.says, other.name(), other.why()).into()),
        }
    }
}

/// The settings by which a single program is judged.
fn alone(profile: Profile) -> Plan<'static> {
    let extent = Extent { seed: 0, count: None, time: None, shard: (0, 1), threads: 1 };
    Plan { extent, mix: &[], references: 1, profile, planted: None, via: None }
}

/// A quirk that a device shows.
#[derive(Debug)]
struct ShownQuirk {
    name: String,
    text: String,
    fault: String,
    shape: Vec<String>,
    without: Option<String>,
    /// The faults and shapes of the minimal programs, if its program runs as a program in a file.
    /// Computed on first use.
    minimal: Option<Vec<(String, Vec<String>)>>,
}

/// The faults and shapes of minimal programs.
fn shapes_of(all: &[Minimal]) -> Vec<(String, Vec<String>)> {
    all.iter().filter_map(|minimal| Some((fault(&minimal.verdict)?, shape(&minimal.text)))).collect()
}

/// The quirks that a device shows.
#[derive(Debug, Default)]
pub struct Known {
    shown: Vec<ShownQuirk>,
    /// Quirks that are recorded for this device and that it no longer shows: the name and a
    /// sentence. They explain nothing.
    pub gone: Vec<(String, String)>,
}

impl Known {
    /// Runs the quirks that are recorded for this device.
    pub fn on(device: &mut Device, quirks: &[Quirk]) -> Known {
        let mut known = Known::default();
        for quirk in quirks.iter().filter(|quirk| quirk.is_of(device)).collect::<Vec<_>>() {
            let verdict = quirk.judged(Some(device));
            match (quirk.is_recorded(&verdict), fault(&verdict)) {
                (Ok(()), Some(fault)) => {
                    let Quirk { name, text, without, .. } = quirk.clone();
                    known.shown.push(ShownQuirk { name, fault, shape: shape(&text), text, without, minimal: None });
                }
                (Ok(()), None) => {}
                (Err(why), _) => known.gone.push((quirk.name.clone(), why.what)),
            }
        }
        known
    }

    /// The ways in which a device is wrong about a program. The program runs as in
    /// [`check_program`](super::check_program), with this number as seed. Each way has a minimal
    /// program, and the name of the quirk that explains it, if any. Modules declare the float
    /// controls of the profile. For the comparison, the program of a quirk is made minimal in the
    /// same way too.
    pub fn explain(&mut self, text: &str, seed: u64, profile: Profile, device: &mut Device) -> Vec<(Minimal, Option<String>)> {
        let plan = alone(profile);
        let kinds = [Programs::EntryPoints, Programs::Stages, Programs::Functions];
        let mut faults = |text: &str| -> Vec<Minimal> {
            kinds.into_iter().flat_map(|programs| faults_of(&plan, (programs, seed), text, device)).collect()
        };
        let mut explained = Vec::new();
        for minimal in faults(text) {
            let mut name = self.name_of(&minimal).map(String::from);
            if let (None, Some(fault)) = (&name, fault(&minimal.verdict)) {
                for quirk in self.shown.iter_mut().filter(|quirk| quirk.fault == fault) {
                    let shapes = quirk.minimal.get_or_insert_with(|| shapes_of(&faults(&quirk.text)));
                    if shapes.contains(&(fault.clone(), shape(&minimal.text))) {
                        name = Some(quirk.name.clone());
                        break;
                    }
                }
            }
            let name = name.filter(|_| matches!(minimal.verdict, Verdict::Disagree(_)));
            explained.push((minimal, name));
        }
        explained
    }

    /// A quirk with a word that the program of a seed contains, if the device agrees on the
    /// program without the word. `text` replaces the generated program. The result also says how
    /// it is known.
    pub fn remedied(&self, plan: &Plan, (programs, seed): (Programs, u64), text: Option<&str>, device: &mut Device) -> Option<String> {
        let Generated { text: whole, generated_dispatch, .. } = generated(programs, seed);
        self.shown.iter().find_map(|quirk| {
            let word = quirk.without.as_ref()?;
            let without_word = text_without(text.unwrap_or(&whole), word)?;
            let verdict = plan.verdict(programs, seed, &without_word, generated_dispatch.as_ref(), Some(&mut *device));
            (verdict == Verdict::Agree).then(|| format!("{} by the program without {word}", quirk.name))
        })
    }

    /// The quirk with the same fault and shape as a minimal program.
    pub fn name_of(&self, minimal: &Minimal) -> Option<&str> {
        let (fault, shape) = (fault(&minimal.verdict)?, shape(&minimal.text));
        let fits = |quirk: &&ShownQuirk| quirk.fault == fault && quirk.shape == shape;
        self.shown.iter().find(fits).map(|quirk| quirk.name.as_str())
    }
}

/// A program without all occurrences of a word. `None` if there is none.
fn text_without(text: &str, word: &str) -> Option<String> {
    let (tokens, _) = lex(text);
    let (mut rest, mut from) = (String::new(), 0);
    for token in &tokens {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        if text.get(start..end) == Some(word) {
            rest += text.get(from..start)?;
            from = end;
        }
    }
    rest += text.get(from..)?;
    (from > 0).then_some(rest)
}

/// The tokens of a program. A number becomes `#`. A generated name, which contains digits and is no
/// type, becomes its index.
fn shape(text: &str) -> Vec<String> {
    let (tokens, _) = lex(text);
    let mut names: Vec<&str> = Vec::new();
    let is_type = |word: &str| {
        ["float", "int", "uint", "bool"].iter().any(|scalar| {
            let rest = word.strip_prefix(scalar);
            rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'x'))
        })
    };
    let mut shape = Vec::new();
    for token in &tokens {
        let word = text.get(token.span.start as usize..token.span.end as usize).unwrap_or_default();
        let first = word.chars().next();
        shape.push(match first {
            None => continue,
            Some(c) if c.is_ascii_digit() || c == '.' && word.len() > 1 => "#".into(),
            Some(c) if (c.is_alphabetic() || c == '_') && word.contains(|c: char| c.is_ascii_digit()) && !is_type(word) => {
                let at = names.iter().position(|name| *name == word).unwrap_or_else(|| {
                    names.push(word);
                    names.len() - 1
                });
                format!("name {at}")
            }
            Some(_) => word.into(),
        });
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_one_shape_differ_in_numbers_and_names() {
        let of = |text| shape(text);
        assert_eq!(of("float f1(float p0) { return 0.0 - p0; } // so"), of("float f8(float p3) { return 1.5 - p3; }"));
        assert_ne!(of("float f1(float p0) { return 0.0 - p0; }"), of("float f1(float p0) { return 0.0 + p0; }"));
        assert_ne!(of("float f1(float p0, float p1) { return p0 - p1; }"), of("float f1(float p0, float p1) { return p1 - p0; }"));
        assert_ne!(of("float2 f1() { return float2(); }"), of("float3 f1() { return float3(); }"));
    }

    #[test]
    fn a_word_is_taken_out_of_a_program() {
        let text = "struct B { noperspective float2 noperspective1; } // noperspective\nnoperspective float2 b;";
        let without = "struct B {  float2 noperspective1; } // noperspective\n float2 b;";
        assert_eq!(text_without(text, "noperspective").as_deref(), Some(without));
        assert_eq!(text_without(without, "noperspective"), None);
    }

    #[test]
    fn what_is_wrong_with_a_quirk_is_said() {
        const GOOD: &str = "//@ quirk adapter: A\n//@ quirk driver: any\n//@ quirk route: naga\n//@ quirk seen: 2026-11-23\n\
            //@ quirk says: -0\n//@ quirk from: dispatches 7\nint f() { return 1; }\n";
        let read = |text: &str| Quirk::parse("name", Path::new("name.wsl"), text.into());
        assert_eq!(read(GOOD).expect("reads").origin, (Programs::Dispatches, 7));
        for (change, says) in [
            (("dispatches 7", "dispatches"), "must be a kind"),
            (("dispatches 7", "modules 7"), "must be a kind"),
            (("quirk says: -0", "quirk size: 1"), "needs \"says\""),
            (("route: naga", "route: road"), "route is \"road\""),
            (("//@ quirk says: -0", "//@ quirk says: -0\n//@ quirk without: flat"), "no word of the program"),
            (("//@ quirk seen", "//@ quirky seen"), "must be"),
        ] {
            let why = read(&GOOD.replace(change.0, change.1)).expect_err(says);
            assert!(why.contains(says), "{why} lacks {says}");
        }
    }
}
