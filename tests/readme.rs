//! The README's reference of builtins is the table's. `SPEC_BLESS=1 cargo test --test readme` writes it.

use smallstep_semantics::lambda_v::builtin::reference_table;

const BEGIN: &str = "<!-- builtins: printed from the table by the test that checks it -->\n";
const END: &str = "<!-- /builtins -->";

#[test]
fn the_reference_of_builtins_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("the README is there");
    let (before, rest) = readme.split_once(BEGIN).expect("the README marks where the builtins begin");
    let (found, after) = rest.split_once(END).expect("and where they end");
    let expected = reference_table();
    if std::env::var_os("SPEC_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("the README is written");
        return;
    }
    pretty_assertions::assert_str_eq!(found, expected, "bless it: SPEC_BLESS=1 cargo test --test readme");
}
