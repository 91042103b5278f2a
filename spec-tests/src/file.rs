//! A case file: a program with directives in its comments.
//!
//! A directive begins with `;@`, in WSL with `//@`, and stands alone on its line. Only `;@
//! error[…]` may also follow program text on a line. Lines that begin with `;|`, in WSL with
//! `//|`, are the blessed text of the directive before them. Directives are checked when a file is
//! read. So a misspelt directive is an error, and never a test that does not run.

use smallstep::compute::bound;
use smallstep::compute::given::{Contents, Place};
use smallstep::run::screen::Input;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler};
use std::path::{Path, PathBuf};

/// The language of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// λV: `.lv`.
    LambdaV,
    /// SPIR-V assembly: `.spvasm`.
    Assembly,
    /// WSL: `.wsl`.
    Wsl,
}

impl Language {
    /// The language of a file, by the extension of its name. `None` if a case cannot have
    /// that name.
    pub fn of(name: &str) -> Option<Language> {
        match Path::new(name).extension()?.to_str()? {
            "lv" => Some(Language::LambdaV),
            "spvasm" => Some(Language::Assembly),
            "wsl" => Some(Language::Wsl),
            _ => None,
        }
    }

    /// The text that begins a comment.
    pub fn comment(self) -> &'static str {
        match self {
            Language::LambdaV | Language::Assembly => ";",
            Language::Wsl => "//",
        }
    }

    /// The commands that tests in this language may use.
    fn commands(self) -> &'static [Command] {
        use Command as C;
        match self {
            Language::LambdaV => &[C::Parse, C::Typing, C::Reject, C::Step, C::Translate, C::Run, C::Agree],
            Language::Assembly => &[C::Parse, C::Reject, C::Run, C::Undefined],
            Language::Wsl => &[C::Parse, C::Desugar, C::Typing, C::Reject, C::Translate, C::Call, C::Run, C::Agree, C::Uniform],
        }
    }
}

/// A case file.
#[derive(Debug)]
pub struct CaseFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The name below the folder of cases, as `lv/t-if.lv`.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// The language of the program.
    pub language: Language,
    /// `rules`: the rules that must fire in some test, each with its line.
    pub rules: Vec<(usize, Rule)>,
    /// `not-rules`: the rules that must not fire, although they nearly do, each with its line.
    pub not_rules: Vec<(usize, Rule)>,
    /// `source`: the places in the reports, as the file writes them.
    pub sources: Vec<String>,
    /// The errors that a `reject` test must find.
    pub errors: Vec<ErrorDirective>,
    /// The images that are bound for a dispatch of SPIR-V.
    pub images: Vec<BoundImage>,
    /// The samplers that are bound for a dispatch of SPIR-V.
    pub samplers: Vec<BoundSampler>,
    /// The resources of a dispatch or draw of WSL. The first text is the name or register of the
    /// resource. The second is the elements of a buffer, an image or a sampler.
    pub resources: Vec<(String, String)>,
    /// `//@ attribute N: type:v,v,…`: the vertex attributes of a draw. Without a vertex entry
    /// point, every fragment has these inputs.
    pub attributes: Vec<Input>,
    /// The tests, in the order of the file.
    pub tests: Vec<Test>,
}

/// `;@ error[code]:column text`.
#[derive(Debug)]
pub struct ErrorDirective {
    /// The line, from 1.
    pub line: usize,
    /// Whether the directive follows program text. If so, the error must be on this line.
    pub on_line: bool,
    /// The code of the error: a rule or a clause.
    pub code: String,
    /// The column in characters, from 1. `None` if the directive has none.
    pub column: Option<usize>,
    /// A part of the error's message.
    pub text: String,
}

/// `;@ test command key=value…`, with the expectations up to the next test. After the keys of
/// `call` stands an expression. After the keys of `agree` in WSL stand arguments.
#[derive(Debug)]
pub struct Test {
    /// The line, from 1.
    pub line: usize,
    /// The command.
    pub command: Command,
    /// The options key=value, in order.
    pub options: Vec<(String, String)>,
    /// The expression of `call`, or the arguments of `agree` for a function of WSL.
    /// Otherwise empty.
    pub expression: String,
    /// `;@ expect: …`: the line and the text of each expectation.
    pub expects: Vec<(usize, String)>,
    /// The blessed blocks.
    pub blocks: Vec<Block>,
}

/// A blessed block: `;@ trace:` or another kind, with the `;|` lines after it.
#[derive(Debug)]
pub struct Block {
    /// The line of the directive, from 1.
    pub line: usize,
    /// The kind of text that the block holds.
    pub kind: BlockKind,
    /// The lines of the block, without `;|`.
    pub lines: Vec<String>,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal $what:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $(#[doc = $what] $variant,)* }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word that stands for it in directives.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            fn from_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|c| c.word() == word)
            }
        }
    };
}

words! {
    /// The command of a test.
    Command {
        Parse "parse" "Reads the program, prints it, and reads the print back.";
        Desugar "desugar" "Prints the program without sugar.";
        Typing "typing" "Types the program and re-validates the derivation.";
        Reject "reject" "Finds the one error that the file names.";
        Step "step" "Runs the λV relation.";
        Translate "translate" "Translates the program and loads the module.";
        Run "run" "Runs the fast machine of λV, both engines of SPIR-V, or a dispatch of WSL.";
        Agree "agree" "Checks the theorem.";
        Undefined "undefined" "Finds undefined behaviour.";
        Call "call" "Evaluates an expression beside the program.";
        Uniform "uniform" "Analyses the uniformity of a WSL program.";
    }
}

words! {
    /// The kind of a blessed block.
    BlockKind {
        Trace "trace" "The terms of a reduction, each with the rule that made it.";
        Core "core" "A program without sugar.";
        Derivation "derivation" "The nodes of a typing derivation.";
        Spirv "spirv" "The entry point of a translation.";
        Module "module" "A whole translated module.";
        Explanation "explanation" "Why control flow may differ at a barrier or derivative, step by step.";
    }
}

/// The keys that a command takes in a language.
fn keys(command: Command, language: Language) -> &'static [&'static str] {
    match command {
        Command::Run if language == Language::Wsl => {
            &["entry", "groups", "schedule", "strategy", "fuel", "ways", "precision", "size", "vertex", "vertices", "instances", "depth"]
        }
        Command::Translate if language == Language::Wsl => &["literal", "function", "entry", "vertex", "profile"],
        Command::Agree if language == Language::Wsl => {
            &["literal", "function", "entry", "profile", "groups", "schedule", "size", "vertex", "vertices", "instances", "depth"]
        }
        Command::Parse | Command::Desugar => &[],
        Command::Typing => &["literal"],
        Command::Reject => &["literal"],
        Command::Step => &["literal", "pixel", "output", "strategy", "seed", "fuel", "theorem"],
        Command::Translate => &["literal", "constants", "profile"],
        Command::Run => &[
            "literal",
            "pixel",
            "output",
            "fuel",
            "engine",
            "constants",
            "profile",
            "buffer",
            "groups",
            "words",
            "robustness",
            "schedule",
            "subgroup",
        ],
        Command::Agree => &["literal", "pixel", "output", "engines", "fuel", "theorem", "size", "constants", "profile"],
        Command::Call => &["literal", "strategy", "fuel", "ways"],
        Command::Uniform => &["mode", "literal", "mended"],
        Command::Undefined => &["pixel", "fuel", "buffer", "groups", "words", "robustness", "schedule", "subgroup"],
    }
}

/// The kinds of blocks that a command fills.
fn blocks(command: Command) -> &'static [BlockKind] {
    match command {
        Command::Desugar => &[BlockKind::Core],
        Command::Typing => &[BlockKind::Derivation],
        Command::Step => &[BlockKind::Trace],
        Command::Translate => &[BlockKind::Spirv, BlockKind::Module],
        Command::Uniform => &[BlockKind::Explanation],
        _ => &[],
    }
}

impl Test {
    /// The value of a key, if the test has the key.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
}

impl CaseFile {
    /// Reads a file below `root`.
    ///
    /// Errors: a file that cannot be read, or a directive that is unknown, misplaced or malformed.
    /// The message begins with file and line.
    pub fn read(root: &Path, path: &Path) -> Result<CaseFile, String> {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string().replace('\\', "/");
        let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
        CaseFile::parse(path.into(), name, text)
    }

    /// Reads the directives of a text.
    pub fn parse(path: PathBuf, name: String, text: String) -> Result<CaseFile, String> {
        let language = Language::of(&name).ok_or_else(|| format!("{name}: a case is a .lv, a .spvasm or a .wsl file"))?;
        let (directive_mark, blessed_mark) = (format!("{}@", language.comment()), format!("{}|", language.comment()));
        let mut file = CaseFile {
            path,
            name,
            text: String::new(),
            language,
            rules: Vec::new(),
            not_rules: Vec::new(),
            sources: Vec::new(),
            errors: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            resources: Vec::new(),
            attributes: Vec::new(),
            tests: Vec::new(),
        };
        // Whether a blessed line may stand here: the line before is the directive of a block or one
        // of its lines.
        let mut in_block = false;
        for (i, line) in text.lines().enumerate() {
            let number = i + 1;
            let name = file.name.clone();
            let at = |what: String| format!("{name}:{number}: {what}");
            let trimmed = line.trim_start();
            if let Some(blessed) = trimmed.strip_prefix(&blessed_mark) {
                match file.tests.last_mut().and_then(|t| t.blocks.last_mut()) {
                    Some(block) if in_block => block.lines.push(blessed.strip_prefix(' ').unwrap_or(blessed).to_string()),
                    _ => return Err(at(format!("a `{blessed_mark}` line belongs to no directive"))),
                }
                continue;
            }
            in_block = false;
            let Some(start) = line.find(&directive_mark) else { continue };
            let on_line = !line[..start].trim().is_empty();
            let directive = line[start + directive_mark.len()..].trim();
            if let Some(rest) = directive.strip_prefix("error[") {
                let error = error_directive(number, on_line, rest).map_err(at)?;
                file.errors.push(error);
                continue;
            }
            if on_line {
                return Err(at(format!("`{directive}` stands after program text; only `error[…]` may")));
            }
            in_block = file.directive(number, directive).map_err(at)?;
        }
        if file.tests.is_empty() {
            return Err(format!("{}:1: the file has no `{directive_mark} test` directive", file.name));
        }
        if let Some(test) = file.tests.iter().find(|t| !language.commands().contains(&t.command)) {
            return Err(format!("{}:{}: `{}` is not for this kind of program", file.name, test.line, test.command.word()));
        }
        let rejects = file.tests.iter().any(|t| t.command == Command::Reject);
        if rejects == file.errors.is_empty() {
            return Err(format!(
                "{}:1: `{directive_mark} test reject` and `{directive_mark} error[…]` go together, and here one is without the other",
                file.name
            ));
        }
        // `typing` of WSL needs no expectation: it fails if the program is not valid.
        let by_itself = |t: &Test| t.command == Command::Reject || language == Language::Wsl && t.command == Command::Typing;
        if let Some(test) = file.tests.iter().find(|t| t.expects.is_empty() && t.blocks.is_empty() && !by_itself(t)) {
            return Err(format!("{}:{}: the test expects nothing, so it could not fail", file.name, test.line));
        }
        file.text = text;
        Ok(file)
    }

    /// Adds a directive. Returns whether `;|` lines may follow it.
    fn directive(&mut self, line: usize, directive: &str) -> Result<bool, String> {
        if let Some(rest) = directive.strip_prefix("test ") {
            let test = test_directive(line, rest, self.language)?;
            self.tests.push(test);
            return Ok(false);
        }
        let Some((key, value)) = directive.split_once(':') else {
            return Err(format!("unknown directive `{directive}`"));
        };
        let value = value.trim();
        if let Some(at) = key.strip_prefix("image ") {
            let (set, binding) = at.parse::<Place>()?.whole();
            self.images.push(BoundImage { set, binding, image: bound::image(value)? });
            return Ok(false);
        }
        if let Some(at) = key.strip_prefix("sampler ") {
            let (set, binding) = at.parse::<Place>()?.whole();
            self.samplers.push(BoundSampler { set, binding, sampler: bound::sampler(value)? });
            return Ok(false);
        }
        if let Some(number) = key.strip_prefix("attribute ") {
            self.attributes.push(format!("{}={value}", number.trim()).parse()?);
            return Ok(false);
        }
        if let Some(name) = key.strip_prefix("resource ") {
            let is_bytes = matches!(value.parse(), Ok(Contents::Bytes(_)));
            if !is_bytes && bound::image(value).is_err() && bound::sampler(value).is_err() {
                return Err(format!("`{value}` is neither type:v,v,… nor an image nor a sampler"));
            }
            self.resources.push((name.trim().into(), value.into()));
            return Ok(false);
        }
        match key {
            "rules" | "not-rules" => {
                for name in value.split_whitespace() {
                    let rule = Rule::from_name(name).ok_or_else(|| format!("no rule is called `{name}`"))?;
                    if key == "rules" { &mut self.rules } else { &mut self.not_rules }.push((line, rule));
                }
                return Ok(false);
            }
            "source" => {
                self.sources.push(value.into());
                return Ok(false);
            }
            _ => {}
        }
        let kind = BlockKind::from_word(key);
        if key != "expect" && kind.is_none() {
            return Err(format!("unknown directive `{key}`"));
        }
        let Some(test) = self.tests.last_mut() else {
            return Err(format!("`{key}` stands before every `;@ test`"));
        };
        let Some(kind) = kind else {
            if value.is_empty() || test.command == Command::Reject {
                return Err("an expectation says what is expected; a `reject` test has its own in `error[…]`".into());
            }
            test.expects.push((line, value.into()));
            return Ok(false);
        };
        if !blocks(test.command).contains(&kind) || test.blocks.iter().any(|b| b.kind == kind) {
            return Err(format!("`{}` fills no `{key}` here", test.command.word()));
        }
        test.blocks.push(Block { line, kind, lines: Vec::new() });
        Ok(true)
    }

    /// The text of the file with new blessed lines. The number of a block is the line of its
    /// directive, from 1.
    pub fn with_blocks(&self, found: &[(usize, Vec<String>)]) -> String {
        let comment = self.language.comment();
        let blessed = format!("{comment}|");
        let mut out = String::with_capacity(self.text.len());
        let mut replaced = false;
        for (i, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with(&blessed) && replaced {
                continue;
            }
            out.push_str(line);
            out.push('\n');
            let block = found.iter().find(|(at, _)| *at == i + 1);
            replaced = block.is_some();
            for line in block.iter().flat_map(|(_, lines)| lines) {
                out.push_str(format!("{blessed} {line}").trim_end());
                out.push('\n');
            }
        }
        out
    }
}

fn error_directive(line: usize, on_line: bool, rest: &str) -> Result<ErrorDirective, String> {
    let (code, rest) = rest.split_once(']').ok_or("`error[` has no `]`")?;
    let (column, text) = match rest.strip_prefix(':') {
        None => (None, rest),
        Some(rest) => {
            let (column, text) = rest.split_once(' ').unwrap_or((rest, ""));
            (Some(column.parse().map_err(|_| format!("`{column}` is no column"))?), text)
        }
    };
    if column.is_some() && !on_line {
        return Err("an error with a column stands on the line that it is about".into());
    }
    Ok(ErrorDirective { line, on_line, code: code.into(), column, text: text.trim().into() })
}

fn test_directive(line: usize, rest: &str, language: Language) -> Result<Test, String> {
    let (word, mut rest) = first_word(rest);
    let command = Command::from_word(word).ok_or_else(|| format!("unknown command `{word}`"))?;
    let mut options: Vec<(String, String)> = Vec::new();
    while !rest.is_empty() {
        let (word, after) = first_word(rest);
        let option = word.split_once('=');
        // No expression begins with a name and `=`, since there are no variables beside a program.
        let is_last = command == Command::Call || command == Command::Agree && language == Language::Wsl;
        if is_last && !option.is_some_and(|(key, value)| is_name(key) && !value.starts_with('=')) {
            break;
        }
        let (key, value) = option.ok_or_else(|| format!("`{word}` is not key=value"))?;
        if !keys(command, language).contains(&key) {
            return Err(format!("`{}` takes no `{key}`", command.word()));
        }
        if options.iter().any(|(k, _)| k == key) {
            return Err(format!("`{key}` stands twice"));
        }
        options.push((key.into(), value.into()));
        rest = after;
    }
    if command == Command::Call && rest.is_empty() {
        return Err("`call` needs an expression".into());
    }
    Ok(Test { line, command, options, expression: rest.into(), expects: Vec::new(), blocks: Vec::new() })
}

/// The first word of a text, and the rest after the white space behind that word.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        CaseFile::parse("x.lv".into(), "lv/x.lv".into(), text.into()).expect_err(text)
    }

    #[test]
    fn directives_of_wsl_stand_behind_its_comments() {
        let read = |text: &str| CaseFile::parse("x.wsl".into(), "wsl/x.wsl".into(), text.into());
        let file = read("//@ rules: wsl/t-if\n//@ test typing\n//@ test desugar\n//@ core:\n//| a\nvoid f() { }").expect("it is a case");
        assert_eq!((file.tests.len(), file.rules.len()), (2, 1));
        assert_eq!(file.tests[1].blocks[0].lines, ["a"]);
        assert_eq!(
            file.with_blocks(&[(4, vec!["b".into()])]),
            "//@ rules: wsl/t-if\n//@ test typing\n//@ test desugar\n//@ core:\n//| b\nvoid f() { }\n"
        );
        assert_eq!(read(";@ test typing").expect_err("no directive"), "wsl/x.wsl:1: the file has no `//@ test` directive");
        assert_eq!(read("//@ test step\n//@ expect: 1").expect_err("no step yet"), "wsl/x.wsl:1: `step` is not for this kind of program");
        assert_eq!(read("//@ test parse").expect_err("nothing"), "wsl/x.wsl:1: the test expects nothing, so it could not fail");
    }

    #[test]
    fn a_call_is_an_expression_behind_its_keys() {
        let read = |text: &str| CaseFile::parse("x.wsl".into(), "wsl/x.wsl".into(), format!("//@ test {text}\n//@ expect: int 1\n"));
        let test = read("call strategy=first fuel=9  f(1,  2) == 3").expect("it is a case").tests.remove(0);
        assert_eq!((test.option("strategy"), test.option("fuel"), test.expression.as_str()), (Some("first"), Some("9"), "f(1,  2) == 3"));
        let test = read("call 1==2").expect("it is a case").tests.remove(0);
        assert_eq!((test.options.len(), test.expression.as_str()), (0, "1==2"));
        assert_eq!(read("call").expect_err("nothing"), "wsl/x.wsl:1: `call` needs an expression");
        assert_eq!(read("call speed=1 f()").expect_err("no key"), "wsl/x.wsl:1: `call` takes no `speed`");
    }

    #[test]
    fn what_is_unknown_or_misplaced_is_an_error_by_file_and_line() {
        let cases = [
            (";@ tset run\n1", "lv/x.lv:1: unknown directive `tset run`"),
            (";@ expects: 1\n1", "lv/x.lv:1: unknown directive `expects`"),
            ("\n;@ test unify\n1", "lv/x.lv:2: unknown command `unify`"),
            (";@ test run speed=3\n1", "lv/x.lv:1: `run` takes no `speed`"),
            (";@ test run fuel=3 fuel=4\n1", "lv/x.lv:1: `fuel` stands twice"),
            (";@ image 0.1: R8_UNORM 2\n1", "lv/x.lv:1: `2` is no size"),
            (";@ sampler 0.1: bilinear\n1", "lv/x.lv:1: `bilinear` says nothing of a sampler"),
            (";@ resource u0: data.bin\n1", "lv/x.lv:1: `data.bin` is neither type:v,v,… nor an image"),
            (";@ test run fuel\n1", "lv/x.lv:1: `fuel` is not key=value"),
            (";@ rules: lv/t-iff\n1", "lv/x.lv:1: no rule is called `lv/t-iff`"),
            (";@ expect: 1\n1", "lv/x.lv:1: `expect` stands before every `;@ test`"),
            (";@ test run\n;@ trace:\n1", "lv/x.lv:2: `run` fills no `trace` here"),
            (";@ test step\n;@ trace:\n1\n;| 1", "lv/x.lv:4: a `;|` line belongs to no directive"),
            ("1 ;@ test run", "lv/x.lv:1: `test run` stands after program text"),
            ("1", "lv/x.lv:1: the file has no `;@ test`"),
            (";@ test run\n1", "lv/x.lv:1: the test expects nothing"),
            (";@ test reject\n1", "lv/x.lv:1: `;@ test reject` and `;@ error[…]` go together"),
            ("1 ;@ error[lv/t-if\n;@ test reject", "lv/x.lv:1: `error[` has no `]`"),
            (";@ test reject\n;@ error[lv/t-if]:3 x\n1", "lv/x.lv:2: an error with a column stands on the line"),
        ];
        for (text, expected) in cases {
            let found = error(text);
            assert!(found.starts_with(expected), "{text:?}: {found:?} does not begin with {expected:?}");
        }
    }

    #[test]
    fn blessing_touches_only_the_blessed_parts() {
        let text = ";@ test step\n;@ expect: 1\n;@ trace:\n;| old\n;| older\n1 ; kept\n";
        let file = CaseFile::parse("x.lv".into(), "lv/x.lv".into(), text.into()).expect("parses");
        assert_eq!(file.with_blocks(&[(3, vec!["new".into()])]), ";@ test step\n;@ expect: 1\n;@ trace:\n;| new\n1 ; kept\n");
        assert_eq!(file.with_blocks(&[(3, vec!["old".into(), "older".into()])]), text);
        assert_eq!(file.with_blocks(&[]), text);
    }
}
