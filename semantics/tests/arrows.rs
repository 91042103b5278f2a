//! The dependencies between the modules of this crate. A language does not name another language.
//! Modules that languages share name no language. Engines that are compared do not name each other.
//! What two of them need stands in a module of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

/// The modules of the crate. After each, the modules that it may name.
const MODULES: &[(&str, &str)] = &[
    ("concurrency", "interleavings outcome random"),
    ("image", "number undefined"),
    ("interleavings", ""),
    ("lambda_v", "number outcome random rule text undefined"),
    ("number", "outcome random undefined"),
    ("outcome", "undefined"),
    ("random", ""),
    ("raster", "image number"),
    ("rule", ""),
    ("spirv", "concurrency image interleavings number outcome random raster rule text undefined"),
    ("text", ""),
    ("undefined", ""),
    ("uniformity", "rule spirv text wsl"),
    ("wsl", "concurrency image interleavings number outcome random raster rule text undefined"),
];

/// The engines. After each, the engines that it may name. Other modules of a language may name no
/// engine, except for [`BESIDE`].
const ENGINES: &[(&str, &str)] = &[
    ("lambda_v::machine", ""),
    ("lambda_v::step", ""),
    ("spirv::draw", "spirv::grid spirv::step"),
    ("spirv::grid", "spirv::step"),
    ("spirv::lockstep", ""),
    ("spirv::machine", ""),
    ("spirv::step", ""),
    ("wsl::execution", "wsl::group"),
    ("wsl::group", "wsl::execution wsl::run"),
    ("wsl::machine", ""),
    ("wsl::run", "wsl::execution wsl::group"),
];

/// The modules that compare engines, or that run one of several.
const BESIDE: &[&str] = &[
    "spirv::draw::fragment::inner",
    "spirv::draw::fragment::judged",
    "spirv::draw::judged",
    "spirv::draw::picture",
    "spirv::grid::explore",
    "spirv::grid::judged",
    "spirv::opcodes",
    "wsl::call",
    "wsl::draw",
    "wsl::group::fast",
    "wsl::traces",
];

/// Settings, which belong to no engine although they stand in the module of one.
const DATA: &[&str] = &["lambda_v::step::Setting"];

/// The folders of the languages. They are not part of names: `spirv::grid` stands
/// in `spirv/relation`.
const FOLDERS: &[(&str, &[&str])] =
    &[("spirv", &["loading", "machines", "relation", "text", "values"]), ("wsl", &["front", "relation", "validation", "values"])];

/// The name of a module below the crate, without the folder of a language.
type Name = Vec<String>;

fn without_folder(mut name: Name) -> Name {
    let folders = FOLDERS.iter().find(|(language, _)| name.first().is_some_and(|first| first == language));
    if folders.is_some_and(|(_, folders)| name.get(1).is_some_and(|second| folders.contains(&second.as_str()))) {
        name.remove(1);
    }
    name
}

/// A module names another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    from: String,
    to: String,
}

/// The words and signs of a text, without comments, strings and characters.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut tokens, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => i += chars[i..].iter().position(|&c| c == '\n').unwrap_or(chars.len() - i),
            'r' if at(i + 1) == '"' || at(i + 1) == '#' && at(i + 2) == '"' => {
                let end: &[char] = if at(i + 1) == '"' { &['"'] } else { &['"', '#'] };
                i += 2 + end.len() - 1;
                i += chars[i..].windows(end.len()).position(|w| w == end).unwrap_or(chars.len()) + end.len();
            }
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            '\'' if at(i + 1) == '\\' => i += 4 + chars[i + 3..].iter().position(|&c| c == '\'').unwrap_or(0),
            '\'' if at(i + 2) == '\'' => i += 3,
            c if c.is_alphanumeric() || c == '_' => {
                let end = chars[i..].iter().position(|&c| !c.is_alphanumeric() && c != '_').map_or(chars.len(), |n| i + n);
                tokens.push(chars[i..end].iter().collect());
                i = end;
            }
            ':' if at(i + 1) == ':' => {
                tokens.push("::".into());
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.into());
                }
                i += 1;
            }
        }
    }
    tokens
}

/// Collects the paths of a tree of uses that begins at token i. Returns the token after the tree.
fn tree(tokens: &[String], mut i: usize, prefix: &[String], paths: &mut Vec<Name>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(i) {
        match token.as_str() {
            "::" => i += 1,
            "{" => {
                i += 1;
                while tokens.get(i).is_some_and(|token| !["}", ";"].contains(&token.as_str())) {
                    i = tree(tokens, i, &path, paths);
                    i += usize::from(tokens.get(i).is_some_and(|token| token == ","));
                }
                return i + 1;
            }
            "as" => i += 2,
            "," | "}" | ";" => break,
            _ => {
                path.push(token.clone());
                i += 1;
            }
        }
    }
    paths.push(path);
    i
}

/// The names in a file that begin with the crate or with the surrounding module, as names below the
/// crate. Also those of them that the file re-exports.
fn names(text: &str, module: &[String]) -> (Vec<Name>, Vec<Name>) {
    let tokens = tokens(text);
    let (mut used, mut passed_on) = (Vec::new(), Vec::new());
    // Modules within the file, each with the depth of braces at which it ends.
    let (mut inner, mut depth): (Vec<(String, usize)>, usize) = (Vec::new(), 0);
    let mut i = 0;
    while i < tokens.len() {
        let before = |n: usize| i.checked_sub(n).map_or("", |at| tokens[at].as_str());
        let mut paths = Vec::new();
        match tokens[i].as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.retain(|(_, end)| *end != depth);
            }
            "mod" if tokens.get(i + 2).is_some_and(|token| token == "{") => inner.push((tokens[i + 1].clone(), depth)),
            "use" if matches!(before(1), "" | ";" | "{" | "}" | "]" | ")" | "pub") => {
                let is_public = matches!(before(1), "pub" | ")");
                let end = tree(&tokens, i + 1, &[], &mut paths);
                if is_public {
                    passed_on.extend(paths.iter().map(|path| without_folder([module, path].concat())));
                }
                i = end - 1;
            }
            "crate" | "super" if before(1) != "::" && !(before(1) == "in" && before(2) == "(") => {
                let first = i;
                while tokens.get(i + 1).is_some_and(|token| token == "::") && tokens.get(i + 2).is_some_and(|t| t != "{") {
                    i += 2;
                }
                paths.push(tokens[first..=i].iter().filter(|token| *token != "::").cloned().collect());
            }
            _ => {}
        }
        for path in paths {
            let mut base: Name = module.iter().cloned().chain(inner.iter().map(|(name, _)| name.clone())).collect();
            let mut rest = path.as_slice();
            match rest.first().map(String::as_str) {
                Some("crate") => (base, rest) = (Vec::new(), &rest[1..]),
                Some("self") => rest = &rest[1..],
                Some("super") => {
                    while let Some(("super", after)) = rest.split_first().map(|(first, after)| (first.as_str(), after)) {
                        base.pop();
                        rest = after;
                    }
                }
                _ => continue,
            }
            used.push([base, rest.to_vec()].concat());
        }
        i += 1;
    }
    (used, passed_on)
}

/// Collects every module with its text.
fn modules(path: &Path, module: &[String], found: &mut Vec<(Name, String)>) {
    for entry in fs::read_dir(path).expect("it is read") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut of = module.to_vec();
        if !["mod", "lib"].contains(&name.as_str()) {
            of.push(name);
        }
        if path.is_dir() {
            modules(&path, &of, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((without_folder(of), fs::read_to_string(&path).expect("it is text")));
        }
    }
}

/// The uses in the crate. If a language re-exports a name, the use is of the module that has it.
fn uses() -> BTreeSet<Use> {
    let mut found = Vec::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut found);
    let all: Vec<_> = found.iter().map(|(module, text)| (module, names(text, module))).collect();
    let of_languages = all.iter().filter(|(module, _)| module.len() == 1);
    let passed_on: Vec<&Name> = of_languages.flat_map(|(_, (_, passed_on))| passed_on).collect();
    let stands = |name: Name| {
        let same = |path: &&&Name| path.len() > 2 && name.len() >= 2 && path[0] == name[0] && path.last() == Some(&name[1]);
        passed_on.iter().find(same).map_or(name.clone(), |path| path.to_vec())
    };
    let each = |(module, (used, _)): (&Name, (Vec<Name>, _))| {
        let from = module.join("::");
        used.into_iter().map(|name| Use { from: from.clone(), to: stands(name).join("::") }).collect::<Vec<_>>()
    };
    let uses: Vec<Use> = all.iter().map(|(module, names)| (*module, names.clone())).flat_map(each).collect();
    uses.into_iter().collect()
}

fn is_in(name: &str, module: &str) -> bool {
    name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The uses that the tables do not allow, as `from → to`.
fn against(uses: &BTreeSet<Use>) -> Vec<String> {
    let room = |table: &[(&'static str, &'static str)], name: &str| table.iter().copied().find(|(room, _)| is_in(name, room));
    let mut wrong = Vec::new();
    for Use { from, to } in uses {
        let modules = room(MODULES, from).zip(room(MODULES, to));
        let engines = room(ENGINES, to).filter(|_| !DATA.contains(&to.as_str()) && !BESIDE.iter().any(|beside| is_in(from, beside)));
        let is_free = |from: Option<(&str, &str)>, to: &str| {
            from.is_some_and(|(name, others)| name == to || others.split(' ').any(|other| other == to))
        };
        let unknown = !from.is_empty() && room(MODULES, from).is_none();
        let crossed = modules.is_some_and(|(from, (to, _))| !is_free(Some(from), to));
        // The module of a language re-exports its engines.
        let mixed = from.contains("::") && engines.is_some_and(|(to, _)| !is_free(room(ENGINES, from), to));
        if unknown || crossed || mixed {
            wrong.push(format!("{from} → {to}"));
        }
    }
    wrong
}

#[test]
fn no_module_names_what_its_row_does_not() {
    assert_eq!(against(&uses()), Vec::<String>::new());
}

#[test]
fn a_name_against_the_tables_is_seen() {
    let module = |path: &str| path.split("::").map(str::to_string).collect::<Name>();
    let seen = |from: &str, text: &str| {
        let (used, _) = names(text, &module(from));
        against(&used.into_iter().map(|name| Use { from: from.into(), to: name.join("::") }).collect())
    };
    for (from, text, to) in [
        ("spirv::grid::quad", "use crate::spirv::lockstep::order;", "spirv::lockstep::order"),
        ("spirv::grid::quad", "use super::super::{module::Module, lockstep::{order as o}};", "spirv::lockstep::order"),
        ("spirv::lockstep::run", "fn f() { let x = crate::spirv::step::Config::new(); }", "spirv::step::Config::new"),
        ("spirv::memory", "mod tests { use super::super::step::Config; }", "spirv::step::Config"),
        ("number::op", "use crate::spirv::grammar::Op;", "spirv::grammar::Op"),
        ("wsl::typing", "use crate::lambda_v::syntax;", "lambda_v::syntax"),
        ("lambda_v::machine", "use super::step::{Setting, Rules};", "lambda_v::step::Rules"),
        ("newcomer", "use crate::number::Op;", "number::Op"),
    ] {
        assert_eq!(seen(from, text).first(), Some(&format!("{from} → {to}")), "{text}");
    }
    for (from, text) in [
        ("spirv::grid::quad", "use crate::spirv::order; // use crate::spirv::lockstep::order;"),
        ("spirv::grid::quad", "use crate::spirv::step::Config; const X: &str = \"use crate::spirv::lockstep::order;\";"),
        ("spirv::draw::picture", "use crate::spirv::lockstep::Quads;"),
        ("lambda_v::machine", "use super::step::Setting; pub(in crate::lambda_v) fn f() {}"),
        ("spirv::lockstep::run", "mod tests { use super::step; }"),
    ] {
        assert_eq!(seen(from, text), Vec::<String>::new(), "{text}");
    }
    // The uses of the crate's modules are found.
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(FOLDERS.iter().all(|(language, folders)| folders.iter().all(|folder| src.join(language).join(folder).is_dir())));
    let uses = uses();
    let is_there = |from: &str, to: &str| uses.iter().any(|one| is_in(&one.from, from) && is_in(&one.to, to));
    assert!(is_there("spirv::grid", "spirv::step") && is_there("spirv::draw::picture", "spirv::lockstep"));
    assert!(is_there("wsl::group::fast", "wsl::machine") && is_there("lambda_v::machine", "lambda_v::step::Setting"));
    assert!(MODULES.iter().all(|(room, _)| ["interleavings", "random", "rule", "text", "undefined"].contains(room)
        || uses.iter().any(|one| is_in(&one.from, room))));
}
