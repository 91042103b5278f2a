//! `UNDEFINED.md` agrees with the table, and `SPEC_BLESS=1` writes it. Each row of the table
//! is complete.

use pretty_assertions::assert_eq;
use smallstep_semantics::undefined::{self, Kind};
use std::collections::HashSet;
use std::path::Path;

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("UNDEFINED.md");
    if std::env::var_os("SPEC_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, undefined::page()).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, undefined::page(), "to bless: SPEC_BLESS=1 cargo test -p smallstep-semantics --test undefined");
}

#[test]
fn every_row_has_an_id_of_its_own_a_clause_and_a_decision() {
    let mut ids = HashSet::new();
    for row in undefined::table() {
        assert!(ids.insert(row.id), "{} stands twice", row.id);
        let name = row.id.strip_prefix("spirv/").unwrap_or_else(|| panic!("{} has no family", row.id));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", row.id);
        for text in [row.construct, row.clause, row.decision] {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}: {text:?}", row.id);
        }
    }
    for kind in Kind::ALL {
        assert!(undefined::table().any(|row| row.kind == kind), "{kind:?} has no row");
    }
}
