//! What is known to be wrong with a driver or with naga: `spec-tests/quirks/*.lv`, one program each.
//!
//! A quirk names the adapter and the driver that it was seen on (several: `A or B`), the route, where constants stand, the day, what the disagreement says and which
//! instruction is blamed. Where adapter and driver are those, exactly that disagreement is required: a different one fails, and so does agreement,
//! for then the driver is fixed and the quirk is to be removed. On every other driver the program must agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use smallstep::compile::lambda_v::Constants;
use smallstep::gpu::{Device, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::Settings;
use smallstep::theorem::check::{Checked, Checker, Devices, Options};

use super::{open, options, selection};

const KEYS: [&str; 8] = ["adapter", "driver", "route", "constants", "fuel", "seen", "says", "blames"];

struct Quirk {
    name: String,
    text: String,
    keys: BTreeMap<String, String>,
}

impl Quirk {
    fn read(path: &Path) -> Quirk {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let mut keys = BTreeMap::new();
        for line in text.lines().filter_map(|l| l.strip_prefix(";@ ")) {
            let (key, value) = line.strip_prefix("quirk ").and_then(|l| l.split_once(": ")).unwrap_or_else(|| panic!("{name}: {line}"));
            assert!(KEYS.contains(&key), "{name}: a quirk has no \"{key}\"");
            assert!(keys.insert(key.to_string(), value.to_string()).is_none(), "{name}: two \"{key}\"");
        }
        let quirk = Quirk { name, text, keys };
        for needed in ["adapter", "driver", "route", "constants", "seen", "says"] {
            assert!(quirk.get(needed).is_some(), "{}: a quirk needs \"{needed}\"", quirk.name);
        }
        quirk
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str)
    }

    fn route(&self) -> Route {
        match self.get("route") {
            Some("passthrough") => Route::Passthrough,
            Some("naga") => Route::Naga,
            other => panic!("{}: route {other:?}", self.name),
        }
    }

    fn settings(&self) -> Settings {
        let constants = match self.get("constants") {
            Some("module") => Constants::InModule,
            Some("opaque") => Constants::Opaque,
            other => panic!("{}: constants {other:?}", self.name),
        };
        let mut settings = Settings { constants, size: (2, 2), references: false, ..Settings::default() };
        if let Some(fuel) = self.get("fuel") {
            settings.fuel = fuel.parse().unwrap_or_else(|e| panic!("{}: fuel: {e}", self.name));
        }
        settings
    }

    /// Whether it is about this device.
    fn is_of(&self, device: &Device) -> bool {
        let fits = |key, found: &str| self.get(key).is_some_and(|q| q.split(" or ").any(|q| q.starts_with("any") || found.contains(q)));
        fits("adapter", &device.adapter().name) && fits("driver", &device.adapter().driver)
    }
}

fn quirks() -> Vec<Quirk> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec-tests/quirks");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|p| Quirk::read(p)).collect()
}

#[test]
fn every_quirk_is_there_as_recorded_and_nowhere_else() {
    for quirk in quirks() {
        let Some(device) = open(Some(quirk.route()), options()) else { return };
        let (name, expected) = (&quirk.name, quirk.is_of(&device));
        drop(device);
        let options = Options {
            settings: quirk.settings(),
            devices: Devices::Named(vec![selection()]),
            route: Some(quirk.route()),
            workers: options(),
        };
        let mut checker = Checker::open(options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let Checked::Judged { legs, .. } = checker.check(name, &quirk.text) else { panic!("{name} is no well-typed program") };
        assert_eq!(legs[0].verdict, Verdict::Agree, "{name}: the semantics among themselves");
        let verdict = &legs[1].verdict;
        if !expected {
            assert_eq!(*verdict, Verdict::Agree, "{name}: seen elsewhere, and on this device too");
            continue;
        }
        let Verdict::Disagree(difference) = verdict else {
            panic!("{name}: this driver no longer shows it ({}): remove the quirk", verdict.name());
        };
        let says = quirk.get("says").unwrap_or_default();
        assert!(difference.what.contains(says), "{name}: another disagreement than recorded: {}", difference.what);
        if let Some(blames) = quirk.get("blames") {
            let blame = difference.blame.as_ref().unwrap_or_else(|| panic!("{name}: no blame: {:?}", difference.unblamed));
            assert!(blame.instruction.contains(blames), "{name}: another blame than recorded: {blame}");
        }
    }
}
