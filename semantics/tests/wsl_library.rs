//! WSL's standard library against a second listing, written by hand from the texts; its page.

use smallstep_semantics::wsl::library;

/// Holds `LIBRARY.md` to the table, or writes it.
#[test]
fn the_page_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("LIBRARY.md");
    if std::env::var_os("SPEC_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, library::page()).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    pretty_assertions::assert_str_eq!(
        found,
        library::page(),
        "to bless: SPEC_BLESS=1 cargo test -p smallstep-semantics --test wsl_library"
    );
}
