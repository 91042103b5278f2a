//! Generated compute modules written as scripts, played again, and tampered with.

use pretty_assertions::assert_eq;
use smallstep::amber::Decision;
use smallstep::generate::spirv::Limits;
use smallstep::run::amber::{Interpreter, Verdict};
use smallstep::vectors::amber::{Plan, record};

use crate::{device, legs, played};

#[test]
fn recorded_scripts_hold_everywhere_and_tampered_ones_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { executed: 60, int8: true, int16: true, int64: true, ..Limits::default() };
    let plan = Plan { count: 8, seed: 500, limits };
    let recorded = record(&plan, folder.path(), &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((recorded.files.len(), recorded.tried), (8, 8 + recorded.left_out.values().sum::<u64>()));
    assert!(recorded.bytes > 0);
    let mut device = device();
    for path in &recorded.files {
        let text = std::fs::read_to_string(path).expect("readable");
        let (expected, end) = played(&text);
        assert!(
            end.is_none() && !expected.is_empty() && expected.iter().all(|e| e.0 == Decision::Holds),
            "{}: {expected:?}",
            path.display()
        );
        if let Some(device) = &mut device {
            let legs = legs(&text, &Interpreter::default(), Some(device));
            assert_eq!(legs[1].verdict, Verdict::Agree, "{}", path.display());
        }
        // If one expected value is wrong, every engine disagrees.
        let line = text.lines().rfind(|line| line.starts_with("EXPECT")).expect("it expects");
        let (before, last) = line.rsplit_once(' ').expect("values");
        let wrong = format!("{before} {}", last.parse::<u32>().expect("a number") ^ 1);
        let tampered = text.replace(&format!("{line}\n"), &format!("{wrong}\n"));
        assert_ne!(text, tampered);
        for leg in legs(&tampered, &Interpreter::default(), device.as_mut()) {
            assert!(matches!(leg.verdict, Verdict::Disagree(_)), "{}: {:?}", path.display(), leg.verdict);
        }
    }
    // The same plan writes the same files.
    let again = tempfile::tempdir().expect("a folder");
    record(&plan, again.path(), &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    for path in &recorded.files {
        let other = again.path().join(path.file_name().expect("a name"));
        assert_eq!(std::fs::read(path).expect("readable"), std::fs::read(other).expect("readable"));
    }
}
