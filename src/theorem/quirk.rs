//! Quirks: known mistakes of a driver or of naga, each with one small program. They are the files
//! of `spec-tests/quirks`.
//!
//! A quirk is a λV program with lines `;@ quirk KEY: VALUE` in its comments. `adapter` and `driver`
//! name where it was seen. `A or B` names several. `any` matches everything, and a remark may
//! follow it. `route` and `constants` say how the program reached the device. `seen` is the day.
//! `says` is a part of the disagreement's sentence. Optional keys are `fuel`, the most steps of the
//! source on one pixel, and `blames`, a part of the instruction to blame.

use super::case::{Case, NoCase, Settings};
use super::check;
use super::device::{UnderTest, profile_of};
use super::{Difference, Verdict};
use crate::compile::lambda_v::Constants;
use crate::gpu::Route;
use crate::source;
use crate::theorem::Unexpected;
use smallstep_semantics::lambda_v::parse::{SyntaxError, parse};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A known disagreement of a device.
#[derive(Clone, Debug)]
pub struct Quirk {
    /// The file's name without its ending.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The syntax tree of the program.
    pub tree: Tree,
    /// The resolved program.
    pub program: Program,
    /// The devices on which it was seen, the day, and its sentence.
    pub seen: Seen,
    /// The placement of constants.
    pub constants: Constants,
    /// A part of the instruction to blame. `None` if the search names no instruction, or names one
    /// only with some of the drivers.
    pub blames: Option<String>,
    /// The most steps of the source on one pixel. `None`: the default of [`Settings`].
    pub fuel: Option<u64>,
}

/// The devices on which a disagreement was seen, the day, and its sentence. Every quirk has them,
/// in any language.
#[derive(Clone, Debug)]
pub struct Seen {
    adapters: Vec<String>,
    drivers: Vec<String>,
    /// The route by which the program reaches the device.
    pub route: Route,
    /// The day, such as 2026-11-21.
    pub day: String,
    /// A part of the disagreement's sentence.
    pub says: String,
}

impl Seen {
    pub(super) fn read(keys: &mut Keys) -> Result<Seen, String> {
        Ok(Seen {
            route: keys.one_of("route", Route::ALL.map(|route| (route.name(), route)))?,
            day: keys.required("seen")?,
            says: keys.required("says")?,
            adapters: keys.alternatives("adapter")?,
            drivers: keys.alternatives("driver")?,
        })
    }

    /// Whether it was seen on this adapter and driver, by this route.
    pub fn is_of(&self, adapter: &str, driver: &str, route: Route) -> bool {
        let fits =
            |named: &[String], found: &str| named.iter().any(|name| name == "any" || name.starts_with("any ") || has_words(found, name));
        self.route == route && fits(&self.adapters, adapter) && fits(&self.drivers, driver)
    }
}

/// The most bytes of a file of quirks.
const MAX_FILE: u64 = 1 << 20;

/// The text of a quirk's file.
pub(super) fn text_of(path: &Path) -> Result<String, InvalidInput> {
    let wrong = |what: String| InvalidInput::new(InputFault::File, format!("{}: {what}", path.display()));
    let bytes = source::contents(path, MAX_FILE).map_err(|e| wrong(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| wrong(format!("the file is no UTF-8 text (at byte {})", e.utf8_error().valid_up_to())))
}

/// The files of a folder with this ending, in the order of their names.
///
/// # Errors
/// The folder cannot be read, or holds none.
pub(super) fn files_of(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, InvalidInput> {
    let failed = |what: String| InvalidInput::new(InputFault::File, format!("{}: {what}", folder.display()));
    let wrong = |e: std::io::Error| failed(e.to_string());
    let entries = std::fs::read_dir(folder).map_err(wrong)?;
    let mut paths: Vec<PathBuf> = entries.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>().map_err(wrong)?;
    paths.retain(|path| path.extension().is_some_and(|e| e == ending));
    paths.sort();
    if paths.is_empty() { Err(failed(format!("the folder holds no .{ending} file"))) } else { Ok(paths) }
}

/// A file's name without its ending.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

impl Quirk {
    /// Reads a quirk.
    ///
    /// # Errors
    /// The file cannot be read, a line is not `;@ quirk KEY: VALUE`, a key is unknown, missing,
    /// repeated or has an invalid value, or the program does not resolve.
    pub fn read(path: &Path) -> Result<Quirk, InvalidInput> {
        let wrong = |what: String| InvalidInput::new(InputFault::Text, format!("{}: {what}", path.display()));
        let text = text_of(path)?;
        Quirk::parse(&stem(path), path, &text).map_err(wrong)
    }

    fn parse(name: &str, path: &Path, text: &str) -> Result<Quirk, String> {
        let mut keys = Keys::read(text, &[])?;
        let invalid = |e: SyntaxError| format!("{} ({})", e.message, e.code);
        let tree = parse(text).map_err(invalid)?;
        let quirk = Quirk {
            name: name.into(),
            path: path.into(),
            program: Program::resolve(&tree).map_err(invalid)?,
            tree,
            seen: Seen::read(&mut keys)?,
            constants: keys.one_of("constants", [("module", Constants::InModule), ("opaque", Constants::Opaque)])?,
            blames: keys.0.remove("blames"),
            fuel: match keys.0.remove("fuel") {
                Some(fuel) => Some(fuel.parse().map_err(|_| format!("fuel is \"{fuel}\" and must be a number of steps"))?),
                None => None,
            },
        };
        keys.all_read()?;
        Ok(quirk)
    }

    /// All quirks of a folder (its `.lv` files), in the order of their names.
    ///
    /// # Errors
    /// As for [`Quirk::read`], and if the folder cannot be read or has no such file.
    pub fn read_folder(folder: &Path) -> Result<Vec<Quirk>, InvalidInput> {
        files_of(folder, "lv")?.iter().map(|path| Quirk::read(path)).collect()
    }

    /// Whether it was seen on this adapter, driver and route.
    pub fn is_of(&self, device: &UnderTest<'_>) -> bool {
        self.seen.is_of(&device.adapter, &device.driver, device.route)
    }

    /// The settings by which its program is judged.
    pub fn settings(&self) -> Settings {
        let settings = Settings::default();
        Settings {
            profile: profile_of(self.seen.route),
            constants: self.constants,
            size: (2, 2),
            references: false,
            fuel: self.fuel.unwrap_or(settings.fuel),
            ..settings
        }
    }

    /// The verdict on its program: between the semantics, and if they agree, on the device,
    /// with blame.
    pub fn judge(&self, device: Option<&mut UnderTest<'_>>) -> Verdict {
        let settings = self.settings();
        let case = match Case::new(self.program.clone(), &settings) {
            Ok(case) => case,
            Err(NoCase::Decided(verdict)) => return verdict,
            Err(NoCase::IllTyped(e)) => return Verdict::Failed(format!("{} ({})", e.message(), e.code())),
        };
        let ran = case.run(&settings);
        match (device, &ran.verdict) {
            (Some(device), Verdict::Agree) => check::on_device(device, &self.program, &settings).verdict,
            _ => ran.verdict,
        }
    }

    /// Checks that a verdict on its program is the recorded disagreement.
    ///
    /// # Errors
    /// The difference from the recorded disagreement.
    pub fn is_recorded<'v>(&self, verdict: &'v Verdict) -> Result<&'v Difference, Unexpected> {
        let Verdict::Disagree(difference) = verdict else {
            return Err(format!("this driver no longer shows it ({}): remove the quirk", verdict.name()).into());
        };
        if !difference.what.contains(&self.seen.says) {
            return Err(format!("another disagreement than recorded: {}", difference.what).into());
        }
        match (&self.blames, &difference.blame) {
            (Some(blames), Some(blame)) if !blame.instruction.contains(blames) => {
                Err(format!("another blame than recorded: {blame}").into())
            }
            (Some(_), None) => Err(match &difference.unblamed {
                Some(unblamed) => format!("no blame, where one is recorded: {unblamed}").into(),
                None => "no blame, where one is recorded".into(),
            }),
            _ => Ok(difference),
        }
    }
}

/// Whether `part` occurs in `text` as whole words: "Mesa 22.3.6" does not occur in "Mesa 22.3.61".
pub(super) fn has_words(text: &str, part: &str) -> bool {
    let continues_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let edges = |at: usize| (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
    !part.is_empty()
        && text.match_indices(part).map(|(at, _)| edges(at)).any(|(before, after)| !continues_word(before) && !continues_word(after))
}

/// The keys of a quirk that were not read yet.
pub(super) struct Keys(BTreeMap<String, String>);

impl Keys {
    /// Reads the lines `;@ quirk KEY: VALUE`. Lines that begin with a word of `others` are skipped.
    pub(super) fn read(text: &str, others: &[&str]) -> Result<Keys, String> {
        Keys::read_after(";@", text, others)
    }

    /// As [`Keys::read`], for lines that begin with another sign.
    pub(super) fn read_after(sign: &str, text: &str, others: &[&str]) -> Result<Keys, String> {
        let mut keys = BTreeMap::new();
        for (i, line) in text.lines().enumerate() {
            let Some(directive) = line.strip_prefix(sign).map(str::trim_start) else { continue };
            if others.iter().any(|other| directive.strip_prefix(other).is_some_and(|rest| rest.starts_with(' '))) {
                continue;
            }
            let pair = directive.strip_prefix("quirk ").and_then(|rest| rest.split_once(": "));
            let (key, value) = pair.ok_or_else(|| format!("line {} is \"{line}\" and must be \"{sign} quirk KEY: VALUE\"", i + 1))?;
            if keys.insert(key.to_string(), value.trim().to_string()).is_some() {
                return Err(format!("line {}: a second \"{key}\"", i + 1));
            }
        }
        Ok(Keys(keys))
    }

    /// Fails if a key was not read, since it is then unknown.
    pub(super) fn all_read(self) -> Result<(), String> {
        match self.0.into_keys().next() {
            Some(unknown) => Err(format!("a quirk has no \"{unknown}\"")),
            None => Ok(()),
        }
    }

    pub(super) fn required(&mut self, key: &str) -> Result<String, String> {
        self.0.remove(key).filter(|value| !value.is_empty()).ok_or_else(|| format!("a quirk needs \"{key}\""))
    }

    pub(super) fn optional(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    fn alternatives(&mut self, key: &str) -> Result<Vec<String>, String> {
        Ok(self.required(key)?.split(" or ").map(|name| name.trim().to_string()).collect())
    }

    pub(super) fn one_of<T: Copy, const N: usize>(&mut self, key: &str, values: [(&str, T); N]) -> Result<T, String> {
        let found = self.required(key)?;
        let value = values.iter().find(|(name, _)| *name == found);
        value
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("{key} is \"{found}\" and must be {}", values.map(|(name, _)| name).join(" or ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "; Words.\n;@ quirk adapter: A or B\n;@ quirk driver: any (of them)\n;@ quirk route: naga\n;@ quirk constants: opaque\n\
        ;@ quirk fuel: 70\n;@ quirk seen: 2026-11-21\n;@ quirk says: a: b\n(- 0 1)\n";

    fn read(text: &str) -> Result<Quirk, String> {
        Quirk::parse("name", Path::new("name.lv"), text)
    }

    #[test]
    fn a_quirk_is_what_its_lines_say() {
        let quirk = read(GOOD).expect("reads");
        assert_eq!((quirk.seen.route, quirk.constants, quirk.fuel), (Route::Naga, Constants::Opaque, Some(70)));
        assert_eq!((quirk.seen.day.as_str(), quirk.seen.says.as_str(), quirk.blames), ("2026-11-21", "a: b", None));
        assert_eq!((quirk.seen.adapters, quirk.seen.drivers), (vec!["A".to_string(), "B".into()], vec!["any (of them)".to_string()]));
    }

    #[test]
    fn what_is_wrong_with_a_quirk_is_said() {
        let wrong = [
            ("route: naga", "route: nagaa", "route is \"nagaa\" and must be passthrough or naga"),
            ("constants: opaque", "constants: ", "a quirk needs \"constants\""),
            (";@ quirk says: a: b\n", "", "a quirk needs \"says\""),
            ("fuel: 70", "fuel: -1", "fuel is \"-1\" and must be a number of steps"),
            ("seen: 2026", "adapter: 2026", "line 7: a second \"adapter\""),
            ("fuel: 70", "feul: 70", "a quirk has no \"feul\""),
            (";@ quirk fuel: 70", ";@quirk fuel 70", "line 6 is \";@quirk fuel 70\" and must be \";@ quirk KEY: VALUE\""),
            ("(- 0 1)", "(- 0 1", "lv/syntax-unclosed"),
            ("(- 0 1)", "(- 0 nobody)", "lv/unknown-identifier"),
            ("(- 0 1)", "", "lv/program-empty"),
        ];
        for (from, to, expected) in wrong {
            assert!(GOOD.contains(from), "{from}");
            let error = read(&GOOD.replace(from, to)).expect_err(expected);
            assert!(error.contains(expected), "{error:?} lacks {expected:?}");
        }
    }

    #[test]
    fn names_are_whole_words() {
        assert!(has_words("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe") && has_words("Mesa 22.3.6 (LLVM 15.0.6)", "Mesa 22.3.6"));
        assert!(!has_words("Mesa 22.3.61", "Mesa 22.3.6") && !has_words("122.3.6", "22.3.6") && !has_words("anything", ""));
    }
}
