//! Bugs planted in the rules. The comparison with the oracle must catch each of them.

use smallstep_semantics::concurrency::{AtomicOp, Classes, Rules};

use super::random::compare;

#[test]
fn every_planted_bug_is_caught() {
    let model = Rules::MODEL;
    let bugs: &[(&str, Rules)] = &[
        ("either scope is enough", Rules { common: |a, b| a.max(b), ..model }),
        ("only the first scope counts", Rules { common: |a, _| a, ..model }),
        ("only writes conflict", Rules { conflict: |a, b| a && b, ..model }),
        ("loads conflict with loads", Rules { conflict: |_, _| true, ..model }),
        ("atomics of all sizes exclude each other", Rules { same_locations: |_, _| true, ..model }),
        ("atomics never exclude each other", Rules { same_locations: |_, _| false, ..model }),
        ("nothing continues a release sequence", Rules { continues: |_| false, ..model }),
        ("stores continue a release sequence", Rules { continues: |op| op != AtomicOp::Load, ..model }),
        ("all reads acquire", Rules { acquires: |_, reads| reads, ordered: |_| Classes::ALL, ..model }),
        ("releases acquire", Rules { acquires: |s, reads| reads && (s.acquires() || s.releases()), ..model }),
        ("nothing acquires", Rules { acquires: |_, _| false, ..model }),
        ("all writes release", Rules { releases: |_, writes| writes, ordered: |_| Classes::ALL, ..model }),
        ("acquires release", Rules { releases: |s, writes| writes && (s.acquires() || s.releases()), ..model }),
        ("nothing releases", Rules { releases: |_, _| false, ..model }),
        (
            "all classes are ordered",
            Rules { ordered: |s| if s.ordered_classes().is_empty() { Classes::NONE } else { Classes::ALL }, ..model },
        ),
        ("the releasing side's classes are enough", Rules { shared: |a, _| a, ..model }),
        ("fences pair with atomics of any class", Rules { fence_covers: |_, _| true, ..model }),
        ("fences pair with nothing", Rules { fence_covers: |_, _| false, ..model }),
        ("a replaced value still synchronizes", Rules { survives: || true, ..model }),
        ("a release covers what follows it", Rules { next_epoch: |epoch| epoch, ..model }),
        ("order in other classes does not count between atomics", Rules { between_atomics: |_, _| Classes::NONE, ..model }),
        ("any class orders atomics", Rules { between_atomics: |_, _| Classes::ALL, ..model }),
    ];
    let missed: Vec<&str> = bugs.iter().filter(|(_, rules)| compare(*rules, 20_000, 2).is_ok()).map(|(name, _)| *name).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
