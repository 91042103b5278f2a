//! A program in a file of any language, and the recognition of its language.
//!
//! The language of a file follows from its first words, the extension of its name, and the
//! beginning of its text. If extension and text disagree, the file is rejected, so that no text is
//! read by the rules of another language. `--language` overrides this.

use crate::compile::naga::{self, NotTranslated};
use crate::diagnostic::bounded;
use crate::source::{ReadError, Wrong};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::spirv;

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// λV text.
    LambdaV,
    /// WSL text.
    Wsl,
    /// SPIR-V words.
    Words,
    /// SPIR-V assembly.
    Assembly,
    /// WGSL, which naga translates to SPIR-V.
    Wgsl,
    /// An Amber script, or a VkRunner one.
    Amber,
}

/// A language: its name for `--language`, its name in a sentence, and its file extensions.
struct LanguageEntry {
    language: Language,
    name: &'static str,
    words: &'static str,
    endings: &'static [&'static str],
}

const LANGUAGES: [LanguageEntry; 6] = [
    LanguageEntry { language: Language::LambdaV, name: "lambda-v", words: "λV", endings: &["lv"] },
    LanguageEntry { language: Language::Wsl, name: "wsl", words: "WSL", endings: &["wsl", "whlsl"] },
    LanguageEntry { language: Language::Words, name: "spirv", words: "SPIR-V words", endings: &["spv", "spvs"] },
    LanguageEntry { language: Language::Assembly, name: "spirv-assembly", words: "SPIR-V assembly", endings: &["spvasm"] },
    LanguageEntry { language: Language::Wgsl, name: "wgsl", words: "WGSL", endings: &["wgsl"] },
    LanguageEntry { language: Language::Amber, name: "amber", words: "an Amber script", endings: &["amber", "vkscript"] },
];

impl Language {
    /// The names of all languages, for `--language`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(|entry| entry.name)
    }

    fn entry(self) -> &'static LanguageEntry {
        // A test checks that the table has every language.
        LANGUAGES.iter().find(|entry| entry.language == self).unwrap_or(&LANGUAGES[0])
    }

    /// Its name for `--language`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Its name in a sentence.
    pub fn words(self) -> &'static str {
        self.entry().words
    }

    /// The language with this name.
    ///
    /// # Errors
    /// A sentence, if there is none.
    pub fn from_name(name: &str) -> Result<Language, InvalidInput> {
        let found = LANGUAGES.iter().find(|entry| entry.name == name);
        found.map(|entry| entry.language).ok_or_else(|| {
            let names: Vec<_> = Language::names().collect();
            InvalidInput::new(InputFault::Text, format!("no language is called \"{name}\"; there are {}", names.join(", ")))
        })
    }

    /// The language of a file extension.
    pub fn of_name(name: &str) -> Option<Language> {
        let (_, ending) = name.rsplit_once('.')?;
        LANGUAGES.iter().find(|entry| entry.endings.contains(&ending)).map(|entry| entry.language)
    }

    /// The language that a file shows by its name and text. `None` if it shows none.
    ///
    /// # Errors
    /// If the extension and the text disagree, or the language is not supported.
    pub fn shown(name: &str, bytes: &[u8]) -> Result<Option<Language>, ReadError> {
        match (Language::of_name(name), begins_as(bytes)) {
            // Words may be damaged. The loader reports that.
            (_, Some(Language::Words)) => Ok(Some(Language::Words)),
            (Some(ending), Some(text)) if ending != text => {
                let (ending, text, option) = (ending.words(), text.words(), text.name());
                let what = "the ending of the name says";
                Err(invalid(name, &format!("{what} {ending}, and the text is {text}; rename the file, or say --language {option}")))
            }
            (None, None) if foreign(name, bytes) => {
                let what = "GLSL and HLSL are not read; translate the shader to SPIR-V first, with glslang or dxc for instance";
                Err(invalid(name, what))
            }
            // A single word may begin a text of any language. Without an extension, it is
            // an expression.
            (None, None) if is_atom(bytes) => Ok(Some(Language::LambdaV)),
            (ending, text) => Ok(ending.or(text)),
        }
    }
}

fn invalid(name: &str, what: &str) -> ReadError {
    ReadError { wrong: Wrong::Invalid, text: format!("error: {name}: {what}") }
}

/// A program in a file: its name, language and contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of its file, for messages.
    pub name: String,
    /// The language.
    pub language: Language,
    contents: Contents,
    /// The SPIR-V version that is requested.
    version: Option<(u8, u8)>,
    /// The values of overrides, by name or id. Only for WGSL.
    overrides: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Contents {
    Text(String),
    Words(Vec<u32>),
}

impl Program {
    /// Reads the bytes of a file, in the given language or else in the language that it shows.
    ///
    /// # Errors
    /// As [`Language::shown`]. Also if the file shows no language, if the bytes are no UTF-8 text,
    /// or if their number is no multiple of 4.
    pub fn read(name: &str, bytes: &[u8], language: Option<Language>) -> Result<Program, ReadError> {
        let language = match language {
            Some(language) => language,
            None => match Language::shown(name, bytes)? {
                Some(language) => language,
                None => {
                    text(name, bytes)?;
                    let names: Vec<_> = Language::names().collect();
                    let what = "it does not show in which language this is written; say --language with";
                    return Err(invalid(name, &format!("{what} {}", names.join(", "))));
                }
            },
        };
        let contents = match language {
            Language::Words => Contents::Words(spirv::words_of_bytes(bytes).map_err(|e| ReadError::of_module(name, &e.into()))?),
            _ => Contents::Text(text(name, bytes)?.to_string()),
        };
        Ok(Program { name: name.into(), language, contents, version: None, overrides: Vec::new() })
    }

    /// The program for an environment that accepts SPIR-V up to this version, major and minor.
    /// Assembly becomes a module of that version, whatever its comments say. Words of a later
    /// version are rejected.
    pub fn targeting(self, version: (u8, u8)) -> Program {
        Program { version: Some(version), ..self }
    }

    /// The WGSL program with these values for its overrides, by name or id.
    pub fn overriding(self, overrides: Vec<(String, String)>) -> Program {
        Program { overrides, ..self }
    }

    /// Reads the bytes of a file, in a place that accepts only one language.
    ///
    /// # Errors
    /// As [`Program::read`]. Also if the file shows another language.
    pub fn only(name: &str, bytes: &[u8], language: Language) -> Result<Program, ReadError> {
        let shown = begins_as(bytes).or_else(|| Language::of_name(name));
        match shown.filter(|shown| *shown != language) {
            None => Program::read(name, bytes, Some(language)),
            Some(other) => Err(invalid(name, &format!("this is {}, and {} is needed here", other.words(), language.words()))),
        }
    }

    /// The text. Empty for words.
    pub fn text(&self) -> &str {
        match &self.contents {
            Contents::Text(text) => text,
            Contents::Words(_) => "",
        }
    }

    /// Whether it is a SPIR-V module, or becomes one.
    pub fn is_module(&self) -> bool {
        matches!(self.language, Language::Words | Language::Assembly | Language::Wgsl)
    }

    /// The words of a module. naga translates WGSL, within [`naga::LIMIT`].
    ///
    /// # Errors
    /// If the text is not valid, if naga rejects it, or if the program is no module.
    pub fn words(&self) -> Result<Vec<u32>, ReadError> {
        self.words_in(naga::Space::OfEach)
    }

    /// The program as words, if it is WGSL that was made from SPIR-V. The y of its positions has
    /// the direction of the original module. Other programs are unchanged.
    ///
    /// # Errors
    /// As [`Program::words`].
    pub fn made_of_module(self) -> Result<Program, ReadError> {
        match self.language {
            Language::Wgsl => Ok(Program::of_words(&self.name, self.words_in(naga::Space::Kept)?)),
            _ => Ok(self),
        }
    }

    /// A program of words.
    pub fn of_words(name: &str, words: Vec<u32>) -> Program {
        Program { name: name.into(), language: Language::Words, contents: Contents::Words(words), version: None, overrides: Vec::new() }
    }

    fn words_in(&self, space: naga::Space) -> Result<Vec<u32>, ReadError> {
        let name = &self.name;
        match (&self.contents, self.language) {
            (Contents::Words(words), _) => {
                // The loader rejects an invalid version word.
                let found = words.get(1).map(|word| ((word >> 16) as u8, (word >> 8) as u8));
                match (found, self.version) {
                    (Some(found), Some(target)) if found > target => {
                        let ([major, minor], [target_major, target_minor]) = ([found.0, found.1], [target.0, target.1]);
                        Err(invalid(
                            name,
                            &format!(
                                "the module is SPIR-V {major}.{minor}, and the target environment takes {target_major}.{target_minor}"
                            ),
                        ))
                    }
                    _ => Ok(words.clone()),
                }
            }
            (Contents::Text(text), Language::Assembly) => {
                let assembled = spirv::assemble(text, spirv::Options { version: self.version });
                assembled.map_err(|e| {
                    let text = format!("error[assemble]: {}\n  at {name}:{}:{}", bounded(&e.what), e.line, e.column);
                    ReadError { wrong: Wrong::Invalid, text }
                })
            }
            (Contents::Text(text), Language::Wgsl) => {
                naga::words_with(name, text, space, naga::LIMIT, &self.overrides).map_err(|e| match e {
                    NotTranslated::Invalid(text) => ReadError { wrong: Wrong::Invalid, text },
                    NotTranslated::Limit(what) => ReadError { wrong: Wrong::Limit, text: format!("{name}: {what}") },
                    NotTranslated::Unsupported(what) => {
                        ReadError { wrong: Wrong::Unsupported, text: format!("{name}: unsupported: {what}") }
                    }
                })
            }
            (Contents::Text(_), other) => Err(invalid(name, &format!("this is {}, and no SPIR-V module", other.words()))),
        }
    }
}

/// The bytes as text.
fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, ReadError> {
    std::str::from_utf8(bytes).map_err(|e| invalid(name, &format!("the file is no UTF-8 text (at byte {})", e.valid_up_to())))
}

/// The language that the beginning of a file shows. `None` if programs of several languages may
/// begin in this way.
fn begins_as(bytes: &[u8]) -> Option<Language> {
    let magic = rspirv::spirv::MAGIC_NUMBER;
    if bytes.starts_with(&magic.to_le_bytes()) || bytes.starts_with(&magic.to_be_bytes()) {
        return Some(Language::Words);
    }
    if bytes.starts_with(b"#!amber") {
        return Some(Language::Amber);
    }
    // `;` begins a comment in λV and in assembly. `//` and `/*` begin a comment in WGSL and
    // in WSL.
    let rest = skip_comments(bytes, &[b";"]);
    let first = word(rest);
    if is_opcode(first) || first.starts_with(b"%") && word(rest[first.len()..].trim_ascii_start()) == b"=" {
        return Some(Language::Assembly);
    }
    if rest.starts_with(b"(") {
        return Some(Language::LambdaV);
    }
    let rest = skip_comments(bytes, &[b"//", b"/*"]);
    if foreign("", rest) { None } else { begins_as_shader(rest) }
}

/// WSL or WGSL, by the first tokens of a text without its leading comments.
fn begins_as_shader(rest: &[u8]) -> Option<Language> {
    if rest.starts_with(b"@") {
        return Some(Language::Wgsl);
    }
    if rest.starts_with(b"[") {
        return Some(Language::Wsl);
    }
    let first = identifier(rest);
    let after_first = skip_comments(&rest[first.len()..], &[b"//", b"/*"]);
    let second = identifier(after_first);
    let after_second = skip_comments(&after_first[second.len()..], &[b"//", b"/*"]);
    match first {
        b"fn" | b"let" | b"const" | b"override" | b"alias" | b"enable" | b"requires" | b"diagnostic" | b"const_assert" => {
            Some(Language::Wgsl)
        }
        b"var" if after_first.starts_with(b"<") || after_second.starts_with(b":") => Some(Language::Wgsl),
        b"vertex" | b"fragment" | b"compute" | b"typedef" | b"enum" | b"operator" if !second.is_empty() => Some(Language::Wsl),
        // A field is `name: type,` in WGSL and `type name;` in WSL.
        b"struct" => {
            let body = after_second.strip_prefix(b"{")?;
            let body = skip_comments(body, &[b"//", b"/*"]);
            let field = skip_comments(&body[identifier(body).len()..], &[b"//", b"/*"]);
            Some(if body.starts_with(b"@") || field.starts_with(b":") { Language::Wgsl } else { Language::Wsl })
        }
        // A type and a name, followed by the rest of a declaration.
        _ if !first.is_empty() => {
            let end = rest.iter().position(|b| matches!(b, b'(' | b'=' | b';' | b'{'))?;
            let words = rest[..end].split(|b| !in_identifier(*b));
            (words.filter(|word| !word.is_empty()).count() > 1).then_some(Language::Wsl)
        }
        _ => None,
    }
}

/// Whether a text is in a language that is not supported.
fn foreign(name: &str, text: &[u8]) -> bool {
    let endings = [".vert", ".frag", ".comp", ".geom", ".tesc", ".tese", ".glsl", ".hlsl"];
    endings.iter().any(|ending| name.ends_with(ending)) || skip_comments(text, &[b"//", b"/*"]).starts_with(b"#version")
}

/// The text after leading white space, and after leading comments that begin with one of these.
fn skip_comments<'t>(text: &'t [u8], comments: &[&[u8]]) -> &'t [u8] {
    let mut rest = text.trim_ascii_start();
    while let Some(comment) = comments.iter().find(|comment| rest.starts_with(comment)) {
        let end: &[u8] = if *comment == b"/*" { b"*/" } else { b"\n" };
        let at = rest.windows(end.len()).position(|window| window == end);
        rest = at.map_or(&rest[rest.len()..], |at| &rest[at + end.len()..]).trim_ascii_start();
    }
    rest
}

/// The text before the next white space, parenthesis or semicolon.
fn word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b')' | b';'));
    &text[..end.unwrap_or(text.len())]
}

/// The identifier at the beginning of a text. Empty if there is none.
fn identifier(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| !in_identifier(*b));
    let word = &text[..end.unwrap_or(text.len())];
    if word.first().is_some_and(u8::is_ascii_digit) { &[] } else { word }
}

/// Whether a byte may occur in an identifier of WSL. Its letters may be of any script.
fn in_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether a text is only a number, a Boolean or an identifier of λV.
fn is_atom(text: &[u8]) -> bool {
    let rest = skip_comments(text, &[b";"]);
    let word = word(rest);
    let in_atom = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+' | b'_');
    !word.is_empty() && word.iter().all(in_atom) && skip_comments(&rest[word.len()..], &[b";"]).is_empty()
}

/// Whether a word is the name of an instruction.
fn is_opcode(word: &[u8]) -> bool {
    word.starts_with(b"Op") && word.get(2).is_some_and(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(Language, &str); 36] = [
        (Language::LambdaV, "; OpCapability\n(+ 1 2)"),
        (Language::LambdaV, "frag-coord"),
        (Language::LambdaV, "(struct S)"),
        (Language::LambdaV, "; x\n true ; y"),
        (Language::Wsl, "int[] device f() { }"),
        (Language::Wsl, "größe f() { }"),
        (Language::Wsl, "void\nf() {}"),
        (Language::Wsl, "/* x */ int x;"),
        (Language::Wsl, "// a.wsl\nstruct S { }"),
        (Language::Wsl, "struct S\n{\n  float4[2] colours;\n}"),
        (Language::LambdaV, "(vec4 1 1 0 1)"),
        (Language::LambdaV, "; a comment\n\n  (define f 1)"),
        (Language::LambdaV, "true"),
        (Language::LambdaV, "-1.5 ; a number\n"),
        (Language::Wsl, "int f(int x) { return x; }"),
        (Language::Wsl, "// a comment\n/* another\n */ vertex float4 f() : SV_Position { return float4(0, 0, 0, 1); }"),
        (Language::Wsl, "[numthreads(1, 1, 1)]\ncompute void f() { }"),
        (Language::Wsl, "struct S { int x; }"),
        (Language::Wsl, "struct S { // a field\n  float4 p : SV_Position; }"),
        (Language::Wsl, "vector<float, 4> f() { return 0; }"),
        (Language::Wsl, "thread int* f(thread int* p) { return p; }"),
        (Language::Wsl, "typedef T = int;"),
        (Language::Wsl, "enum E { A, B }"),
        (Language::Wsl, "float4[3] table = 1;"),
        (Language::Assembly, "OpCapability Shader"),
        (Language::Assembly, "; SPIR-V\n; Version: 1.0\n               OpCapability Shader\n"),
        (Language::Assembly, "%1 = OpExtInstImport \"GLSL.std.450\""),
        (Language::Wgsl, "fn f(x: i32) -> i32 { return x; }"),
        (Language::Wgsl, "// a comment\n@compute @workgroup_size(1) fn main() { }"),
        (Language::Wgsl, "struct S { x: i32, }"),
        (Language::Wgsl, "struct S { @builtin(position) p: vec4f }"),
        (Language::Wgsl, "var<private> x: i32;"),
        (Language::Wgsl, "const n = 3;"),
        (Language::Wgsl, "alias T = i32;"),
        (Language::Amber, "#!amber\n"),
        (Language::Words, "\u{3}\u{2}#\u{7}"),
    ];

    #[test]
    fn every_language_is_known_by_name_and_ending() {
        let all = [Language::LambdaV, Language::Wsl, Language::Words, Language::Assembly, Language::Wgsl, Language::Amber];
        assert_eq!(all.map(|language| LANGUAGES.iter().filter(|entry| entry.language == language).count()), [1; 6]);
        for entry in &LANGUAGES {
            assert_eq!(Language::from_name(entry.name), Ok(entry.language));
            for ending in entry.endings {
                assert_eq!(Language::of_name(&format!("a.b/c.{ending}")), Some(entry.language));
            }
        }
        assert!(Language::from_name("glsl").expect_err("not read").what.contains("lambda-v, wsl, spirv, spirv-assembly, wgsl, amber"));
        assert_eq!((Language::of_name("-"), Language::of_name("lv"), Language::of_name("a.lv.txt")), (None, None, None));
    }

    /// The text alone shows the language. Another extension is an error.
    #[test]
    fn a_text_shows_its_language() {
        for (language, text) in TEXTS {
            let shown = |name: &str| Language::shown(name, text.as_bytes());
            assert_eq!(shown("-"), Ok(Some(language)), "{text}");
            for entry in &LANGUAGES {
                let name = format!("a.{}", entry.endings[0]);
                // A single word may begin any text.
                if is_atom(text.as_bytes()) {
                    assert_eq!(shown(&name), Ok(Some(entry.language)), "{name}: {text}");
                    continue;
                }
                match shown(&name) {
                    Ok(shown) => {
                        assert!(shown == Some(language) && (entry.language == language || language == Language::Words), "{name}: {text}")
                    }
                    Err(e) => {
                        assert!(
                            entry.language != language && e.text.contains(language.words()) && e.text.contains(entry.words),
                            "{}",
                            e.text
                        );
                        assert!(e.text.ends_with(&format!("--language {}", language.name())), "{}", e.text);
                    }
                }
                // If only one language is accepted, the message names it.
                let only = Program::only(&name, text.as_bytes(), entry.language).map(|program| program.language);
                match language == entry.language {
                    true => assert_eq!(only, Ok(language)),
                    false => assert!(only.expect_err(text).text.ends_with(" is needed here"), "{name}: {text}"),
                }
            }
        }
    }

    /// A text that shows no language is read by its extension or by the option, or else rejected.
    #[test]
    fn what_shows_no_language_needs_to_be_told() {
        for text in ["", " ", "1 2", "x y", "; only a comment", "// only a comment", "f(1)", "{}", "\u{0}", "if"] {
            let shown = Language::shown("-", text.as_bytes());
            let is_word = text == "if";
            assert_eq!(shown, Ok(is_word.then_some(Language::LambdaV)), "{text:?}");
            if !is_word {
                let refused = Program::read("-", text.as_bytes(), None).expect_err(text);
                assert!(refused.text.contains("say --language with lambda-v, wsl"), "{}", refused.text);
            }
            for language in [Language::LambdaV, Language::Wsl, Language::Assembly, Language::Wgsl, Language::Amber] {
                let read = Program::read("-", text.as_bytes(), Some(language)).expect("a text");
                assert_eq!((read.language, read.text()), (language, text));
            }
        }
        for (name, text) in [("a.frag", ""), ("-", "#version 450\n"), ("-", "// a shader\n#version 450\n")] {
            assert!(Language::shown(name, text.as_bytes()).expect_err(text).text.contains("glslang"), "{name}");
        }
        assert!(Program::read("a.lv", b"\xff", None).expect_err("no text").text.ends_with("no UTF-8 text (at byte 0)"));
        assert!(Program::read("a.lv", b"\xff", Some(Language::Words)).expect_err("no words").text.contains("a.lv"));
    }

    /// Only modules have words.
    #[test]
    fn only_modules_have_words() {
        let words = |text: &str, language| Program::read("a", text.as_bytes(), Some(language)).expect("a text").words();
        assert_eq!(words("OpCapability Shader", Language::Assembly).expect("assembles").last(), Some(&1));
        assert!(words("fn f() {}", Language::Wgsl).is_ok());
        assert!(words("(+ 1 2)", Language::LambdaV).expect_err("no module").text.contains("this is λV, and no SPIR-V module"));
        assert_eq!(words("fn f() { x = 1; }", Language::Wgsl).expect_err("no variable").wrong, Wrong::Invalid);
        assert_eq!(words("Op", Language::Assembly).expect_err("no instruction").wrong, Wrong::Invalid);
    }
}
