//! The pairs of `spec-tests/compare`: `NAME.before.spvasm` and `NAME.after.spvasm`, or `.wgsl`,
//! made by hand, with the verdict in the first lines of BEFORE:
//!
//! ```text
//! ;@ compare: disagree
//! ;@ arguments: --groups 1,1,1
//! ; Why, in a sentence.
//! ```
//!
//! The verdict is agree or disagree, never undecided; the arguments are those of `smallstep
//! compare`. In WGSL comments begin with `//`.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::command::output;

struct Pair {
    name: String,
    before: PathBuf,
    after: PathBuf,
    verdict: String,
    arguments: Vec<String>,
}

impl Pair {
    fn read(before: &Path) -> Pair {
        let file = before.file_name().and_then(|name| name.to_str()).expect("a name");
        let (name, ending) = file.split_once(".before.").unwrap_or_else(|| panic!("{file} is no NAME.before.ENDING"));
        let text = std::fs::read_to_string(before).expect("read");
        let mark = if ending == "wgsl" { "//" } else { ";" };
        let comment = |line: &'_ str| line.strip_prefix(mark).map(str::to_string);
        let head: Vec<String> = text.lines().map_while(comment).collect();
        let of = |what: &str| head.iter().find_map(|line| line.strip_prefix(&format!("@ {what}: ")).map(str::to_string));
        let verdict = of("compare").unwrap_or_else(|| panic!("{file}: the first line is {mark}@ compare: agree or disagree"));
        assert!(matches!(verdict.as_str(), "agree" | "disagree"), "{file}: a verdict is agree or disagree, and not {verdict}");
        assert!(head.iter().any(|line| line.starts_with(' ') && line.trim().ends_with('.')), "{file}: why, in a sentence");
        let arguments = shlex::split(&of("arguments").unwrap_or_default()).unwrap_or_else(|| panic!("{file}: its arguments are no words"));
        let after = before.with_file_name(format!("{name}.after.{ending}"));
        assert!(after.is_file(), "{} is not there", after.display());
        Pair { name: name.into(), before: before.into(), after, verdict, arguments }
    }

    fn all() -> Vec<Pair> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec-tests/compare");
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("it is there").map(|file| file.expect("an entry").path()).collect();
        files.sort();
        let is = |path: &PathBuf, what: &str| path.to_string_lossy().contains(what);
        let pairs: Vec<Pair> = files.iter().filter(|path| is(path, ".before.")).map(|path| Pair::read(path)).collect();
        assert_eq!(files.len(), 2 * pairs.len(), "a file has no BEFORE");
        pairs
    }

    /// What is wrong with the result of `smallstep compare`. `None` if it is right. With `itself`,
    /// BEFORE is compared with itself.
    fn wrong(&self, itself: bool) -> Option<String> {
        let after = if itself { &self.before } else { &self.after };
        let [before, after] = [&self.before, after].map(|path| path.to_str().expect("a name"));
        let few: &[&str] = if itself && !self.arguments.contains(&"--inputs".into()) { &["--inputs", "12"] } else { &[] };
        let own = self.arguments.iter().map(String::as_str);
        let arguments: Vec<&str> = ["compare", before, after].into_iter().chain(own).chain(few.iter().copied()).collect();
        let output = output(&arguments, &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let expected = if self.verdict == "agree" || itself { (0, "agree") } else { (1, "disagree") };
        let says = text.lines().any(|line| line.starts_with(&format!("{}:", expected.1)));
        (output.status.code() != Some(expected.0) || !says).then(|| format!("{}: {} is due:\n{text}\n", self.name, expected.1))
    }
}

/// Checks every pair on all cores. Returns what is wrong, sorted by pair.
fn over_all(pairs: &[Pair], check: impl Fn(&Pair) -> Option<String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().expect("no panic").extend(check(pair));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    wrong.sort();
    wrong
}

#[test]
fn every_pair_made_by_hand_has_its_verdict() {
    let pairs = Pair::all();
    let count = |verdict: &str| pairs.iter().filter(|pair| pair.verdict == verdict).count();
    println!("{} pairs, {} agree and {} disagree", pairs.len(), count("agree"), count("disagree"));
    assert!(count("agree") >= 50 && count("disagree") >= 50, "{} agree, {} disagree", count("agree"), count("disagree"));
    let wrong = over_all(&pairs, |pair| pair.wrong(false));
    assert!(wrong.is_empty(), "{} of {} pairs:\n{}", wrong.len(), pairs.len(), wrong.concat());
}

/// A comparison that finds a difference everywhere would pass half of the pairs.
#[test]
fn no_module_disagrees_with_itself() {
    let wrong = over_all(&Pair::all(), |pair| pair.wrong(true));
    assert!(wrong.is_empty(), "{}", wrong.concat());
}
