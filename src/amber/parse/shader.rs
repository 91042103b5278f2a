//! The command SHADER.

use super::{Named, Parser, Step};
use crate::amber::error::quoted;
use crate::amber::lex::{Lexer, Word};
use crate::amber::script::{Language, Line, Shader, Source, Stage, version_of};
use smallstep_semantics::spirv::words::MAX_WORDS;
use std::sync::Arc;

#[derive(Clone, Copy)]
enum Form {
    Assembly,
    Hex,
    Foreign(Language),
}

struct Header<'t> {
    stage: Option<Stage>,
    /// `None` for a passthrough shader.
    form: Option<Form>,
    target_env: Option<String>,
    /// The virtual file with the source.
    file: Option<Word<'t>>,
}

impl<'t> Parser<'t> {
    pub(super) fn shader(&mut self, word: Word<'t>) -> Step {
        // The whole line tells whether a body follows, even if it has an error. The format stands
        // after the stage and the name.
        let mut ahead = self.lexer.clone();
        let rest = std::iter::from_fn(|| ahead.word()).map(|w| w.text).skip(2);
        let has_body = !rest.enumerate().any(|(i, w)| if i == 0 { w == "PASSTHROUGH" } else { matches!(w, "VIRTUAL_FILE" | "FILE") });
        let mut name = None;
        let header = self.shader_header(&mut name).and_then(|h| self.end().map(|()| h));
        let body = if has_body {
            match self.lexer.raw() {
                Some((text, line)) => Some((Arc::from(text), line)),
                None => return Err(self.missing_end(word)),
            }
        } else {
            None
        };
        let result = header.and_then(|header| {
            let Some(name) = name else { return Ok(()) };
            self.shader_of(word, name, header, body)
        });
        if let (Err(_), Some(name)) = (&result, name) {
            self.failed(Named::Shader, name);
        }
        result
    }

    fn shader_of(&mut self, word: Word<'t>, name: Word<'t>, header: Header<'t>, body: Option<(Arc<str>, u32)>) -> Step {
        let (text, source_line) = match (header.file, body) {
            (Some(path), _) => {
                let file = &self.script.files[self.place_of(Named::File, path)?];
                (file.text.clone(), file.line.0 + 1)
            }
            (None, Some((text, line))) => (text, line),
            (None, None) => (Arc::from(""), word.line),
        };
        let source = match header.form {
            None => Source::Passthrough,
            Some(Form::Assembly) => Source::Assembly(text),
            Some(Form::Foreign(language)) => Source::Foreign { language, text },
            Some(Form::Hex) => Source::Words(self.hexadecimal(word, source_line, &text)?),
        };
        let shader = Shader {
            name: name.text.into(),
            stage: header.stage,
            source,
            target_env: header.target_env,
            line: Line(word.line),
            source_line: Line(source_line),
        };
        self.declare(Named::Shader, name, |script| {
            script.shaders.push(shader);
            script.shaders.len() - 1
        })
    }

    fn shader_header(&mut self, name: &mut Option<Word<'t>>) -> Step<Header<'t>> {
        let stage_word = self.need("a shader's stage")?;
        *name = self.lexer.peek();
        let multi = stage_word.text == "multi";
        let stage = Stage::ALL.iter().find(|s| s.1 == stage_word.text).map(|s| s.0);
        if stage.is_none() && !multi {
            self.reject_unsupported_stage(stage_word)?;
            if stage_word.text == "geometry" {
                return Err(self.unsupported(stage_word, "the stage geometry"));
            }
            let what =
                format!("found {}, where a shader's stage should stand: vertex, fragment, compute or multi", quoted(stage_word.text));
            return Err(self.invalid(stage_word, what));
        }
        self.need("a shader's name")?;
        let form_word = self.need("a shader's format")?;
        let form = match form_word.text {
            "PASSTHROUGH" if stage == Some(Stage::Vertex) => return Ok(Header { stage, form: None, target_env: None, file: None }),
            "PASSTHROUGH" => return Err(self.invalid(form_word, "only a vertex shader can be PASSTHROUGH")),
            "SPIRV-ASM" => Form::Assembly,
            "SPIRV-HEX" => Form::Hex,
            "SPIRV-BIN" => return Err(self.unsupported(form_word, "SPIRV-BIN, which needs a file outside the script,")),
            other => match Language::ALL.iter().find(|l| l.1 == other) {
                Some(_) if multi => return Err(self.invalid(form_word, "a multi shader is SPIRV-ASM or SPIRV-HEX")),
                Some(language) => Form::Foreign(language.0),
                None => return Err(self.invalid(form_word, format!("found {}, where a shader's format should stand", quoted(other)))),
            },
        };
        let mut target_env = None;
        if self.accept("TARGET_ENV").is_some() {
            let word = self.need("a target environment")?;
            if version_of(word.text).is_none() {
                return Err(self.invalid(
                    word,
                    format!("found {}, where a target environment should stand, as spv1.3 or vulkan1.1", quoted(word.text)),
                ));
            }
            target_env = Some(word.text.to_string());
        }
        if let Some(file) = self.accept("FILE") {
            return Err(self.unsupported(file, "FILE, which needs a file outside the script,"));
        }
        let file = match self.accept("VIRTUAL_FILE") {
            Some(_) => Some(self.need("the path of a virtual file")?),
            None => None,
        };
        Ok(Header { stage, form: Some(form), target_env, file })
    }

    /// Reads words of at most eight hexadecimal digits each, with or without 0x.
    pub(in crate::amber) fn hexadecimal(&self, at: Word<'t>, first_line: u32, text: &str) -> Step<Arc<[u32]>> {
        let mut lexer = Lexer::new(text);
        let mut words = Vec::new();
        while let Some(word) = lexer.word_over_lines() {
            let digits = word.text.strip_prefix("0x").or_else(|| word.text.strip_prefix("0X")).unwrap_or(word.text);
            let valid = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
            match u32::from_str_radix(digits, 16) {
                Ok(value) if valid => words.push(value),
                _ => {
                    let mut error = lexer.error(
                        word,
                        crate::amber::error::Kind::Invalid,
                        format!("found {}, where a word of SPIR-V should stand", quoted(word.text)),
                    );
                    error.line += first_line - 1;
                    return Err(super::Stop::Error(error));
                }
            }
            if words.len() > MAX_WORDS {
                return Err(self.limit(at, "the words of one module", MAX_WORDS));
            }
        }
        Ok(words.into())
    }
}
