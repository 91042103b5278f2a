//! The tests of the translation from WSL to SPIR-V.

use crate::expect::Found;
use smallstep::compile::wsl::planted::Planted;
use smallstep::compile::wsl::{self, Options};
use smallstep::theorem::wsl::{call_both, check, check_draw, leaves};
use smallstep_semantics::image::Format;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::opcodes;
use smallstep_semantics::spirv::{self, Buffer, Module};
use smallstep_semantics::wsl::draw::Draw;
use smallstep_semantics::wsl::entry::{EntryPoint, Stage, entry_of};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{Dispatch, Resource};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::types::{Scalar, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;

/// The request for a translation.
#[derive(Clone, Copy, Debug)]
pub struct TranslationRequest<'a> {
    /// The function to translate. The module calls it once for each row of a table.
    pub function: Option<&'a str>,
    /// The entry point. Not needed if there is only one.
    pub entry: Option<&'a str>,
    /// The vertex entry point of a draw. `entry` is then its fragment entry point.
    pub vertex: Option<&'a str>,
    /// The profile of float controls.
    pub profile: Profile,
    /// A rule by the letter, or a planted bug.
    pub planted: Option<&'a Planted>,
}

impl<'a> TranslationRequest<'a> {
    fn options(&self) -> Options<'a> {
        Options { profile: self.profile, planted: self.planted, ..Options::default() }
    }

    fn function(&self, program: &Program) -> Result<Option<FunctionId>, String> {
        let Some(name) = self.function else { return Ok(None) };
        let functions = program.env.functions.iter().zip(0..);
        let mut named = functions.filter(|(f, _)| program.env.key_name(f.key) == name).map(|(_, k)| FunctionId(k));
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(Some(only)),
            (None, _) => Err(format!("there is no function called {name}")),
            (Some(_), Some(_)) => Err(format!("several functions are called {name}")),
        }
    }

    /// The entry point of that name, of any stage. Without a name, the only compute entry point.
    fn entry_point<'p>(&self, program: &'p Program) -> Result<&'p EntryPoint, String> {
        let Some(name) = self.entry else { return Ok(entry_of(program, Stage::Compute([1; 3]), None)?) };
        entry_called(program, name)
    }

    fn module(&self, program: &Program, options: &Options) -> Result<Result<wsl::Module, Found>, String> {
        let module = match self.function(program)? {
            Some(f) => wsl::translate_function(program, f, options),
            None => match self.vertex {
                None => wsl::translate(program, self.entry_point(program)?, options),
                Some(vertex) => {
                    let (vertex, fragment) = (entry_called(program, vertex)?, self.entry_point(program)?);
                    wsl::translate_draw(program, Some(vertex), fragment, options).map(|modules| modules.fragment)
                }
            },
        };
        Ok(module.map_err(|refusal| Found::ending("refused", refusal.to_string())))
    }
}

fn entry_called<'p>(program: &'p Program, name: &str) -> Result<&'p EntryPoint, String> {
    let named = |e: &&EntryPoint| program.env.names.name(program.env.function(e.function).name.name) == name;
    program.entry_points.iter().find(named).ok_or_else(|| format!("there is no entry point called {name}"))
}

/// Translates a program. Returns the expectations that its instructions meet, the rules that
/// emitted them, and the lines of assembly.
///
/// Errors: a request that names no function or entry point of the program, or a
/// malformed expectation.
pub fn translate(program: &Program, asked: &TranslationRequest, expected: &[&str]) -> Result<(Found, Vec<Rule>, Vec<String>), String> {
    let module = match asked.module(program, &asked.options())? {
        Ok(module) => module,
        Err(found) => return Ok((found, Vec::new(), Vec::new())),
    };
    let rules = module.rules.iter().map(|(rule, _)| *rule).collect();
    let text = spirv::disassemble(&module.words).map_err(|e| e.to_string())?;
    let lines: Vec<String> = text.lines().filter(|l| !l.starts_with(';')).map(str::to_string).collect();
    if let Err(error) = Module::load(&module.words) {
        return Ok((Found::ending("invalid", error.to_string()), rules, lines));
    }
    let without_ids: Vec<Vec<&str>> = lines.iter().map(|line| words_of(line)).collect();
    let mut notes = Vec::new();
    for expect in expected {
        if has(&without_ids, expect)? {
            notes.push(expect.to_string());
        }
    }
    let why = without_ids.iter().map(|line| line.join(" ")).collect::<Vec<_>>().join("\n");
    Ok((Found { notes, ..Found::ending("module", why) }, rules, lines))
}

/// The words of an instruction, without its ids.
fn words_of(line: &str) -> Vec<&str> {
    line.split_whitespace().filter(|word| !word.starts_with('%') && *word != "=").collect()
}

/// Whether a module meets an expectation. `OpA B ; OpC`: it has instructions that begin with these
/// words, ids left out, in that order. `no OpA` or `no OpExtInst F`: it has no such instruction.
fn has(lines: &[Vec<&str>], expect: &str) -> Result<bool, String> {
    if let Some(absent) = expect.strip_prefix("no ") {
        let words: Vec<&str> = absent.split_whitespace().collect();
        let known = |name: &str| opcodes::all().iter().any(|opcode| opcode.name == name);
        let is_known = match words[..] {
            [op] => known(op),
            ["OpExtInst", function] => !function.starts_with("Op") && known(function),
            _ => false,
        };
        if !is_known {
            return Err(format!("`{absent}` is no instruction that could be there"));
        }
        return Ok(!lines.iter().any(|line| line.starts_with(&words)));
    }
    let mut rest = lines.iter();
    Ok(expect.split(" ; ").all(|one| {
        let words: Vec<&str> = one.split_whitespace().collect();
        !words.is_empty() && rest.any(|line| line.starts_with(&words))
    }))
}

/// Checks the theorem for one row of arguments of a function. If the source allows the result of
/// the target, a note has this result.
///
/// Errors: arguments that the function does not take.
pub fn call(program: &Program, text: &str, asked: &TranslationRequest, arguments: &str) -> Result<(Found, Vec<Rule>), String> {
    let f = asked.function(program)?.ok_or("`function=NAME` says what is called")?;
    let function = program.env.function(f);
    let mut layouts = Layouts::default();
    let mut words = arguments.split_whitespace();
    let (mut values, mut table) = (Vec::new(), Vec::new());
    for parameter in &function.parameters {
        let leaves = leaves(program, &mut layouts, parameter.ty).ok_or("a pointer is no argument of a table")?;
        let size = layouts.of(&program.env, parameter.ty).map_or(0, |l| l.size / 4);
        let mut value = vec![0; size as usize];
        for (at, of) in leaves {
            let word = words.next().ok_or("there are too few arguments")?;
            value[at] = scalar(word, of).ok_or_else(|| format!("`{word}` is no {}", of.name()))?;
            table.push(value[at]);
        }
        values.push(value);
    }
    if let Some(word) = words.next() {
        return Err(format!("`{word}` is one argument too many"));
    }
    let module = match asked.module(program, &asked.options())? {
        Ok(module) => module,
        Err(found) => return Ok((found, Vec::new())),
    };
    let rules: Vec<Rule> = module.rules.iter().map(|(rule, _)| *rule).collect();
    let verdict = call_both((program, text), f, &values, &asked.options());
    // Even where the source allows any result, the target must not be undefined. So the target also
    // runs if the verdict is undecided.
    if !["agree", "undecided"].contains(&verdict.name()) {
        return Ok((Found::ending(verdict.name(), verdict.why()), rules));
    }
    let shown = match run(&module, table, program, function.result) {
        Ok(words) => format!("{} {}", program.env.type_name(function.result), value::show(program, function.result, &words)),
        Err(found) => return Ok((found, rules)),
    };
    Ok((Found { notes: vec![shown], ..Found::ending(verdict.name(), "") }, rules))
}

/// The result words that the relation of SPIR-V gives for a table of one row.
fn run(module: &wsl::Module, mut table: Vec<u32>, program: &Program, result: TypeId) -> Result<Vec<Possible>, Found> {
    table.push(0);
    let mut layouts = Layouts::default();
    let leaves = if result == TypeId::VOID { Vec::new() } else { leaves(program, &mut layouts, result).unwrap_or_default() };
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let buffers =
        [Buffer { set: 0, binding: 0, bytes: bytes(&table) }, Buffer { set: 0, binding: 1, bytes: bytes(&vec![0; leaves.len() + 1]) }];
    let shown = match spirv::run(&module.words, &module.entry, [1; 3], &buffers) {
        Ok(Outcome::Observed(shown)) => shown,
        Ok(other) => return Err(Found::ending(other.name(), format!("{other:?}"))),
        Err(error) => return Err(Found::ending("invalid", error.to_string())),
    };
    let size = layouts.of(&program.env, result).map_or(0, |l| l.size / 4) as usize;
    let mut words = vec![Possible::Values(vec![0]); size];
    let given = shown.buffers.iter().find(|b| b.binding == 1).map(|b| b.bytes.as_slice()).unwrap_or_default();
    for ((at, _), bytes) in leaves.iter().zip(given.chunks_exact(4)) {
        words[*at] = Possible::Values(vec![u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])]);
    }
    Ok(words)
}

/// The bits of an argument: `true`, `-3`, `0x80000000`, `1.5`, `nan`, `inf`.
fn scalar(word: &str, of: Scalar) -> Option<u32> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    match of {
        Scalar::Bool => word.parse::<bool>().ok().map(u32::from),
        Scalar::Int => word.parse::<i32>().ok().map(|i| i as u32),
        Scalar::Uint => word.parse::<u32>().ok(),
        Scalar::Float => word.parse::<f32>().ok().map(f32::to_bits),
    }
}

/// Checks the theorem for a dispatch.
///
/// Errors: a request that names no function or entry point of the program.
pub fn dispatch(dispatch: &Dispatch, asked: &TranslationRequest) -> Result<(Found, Vec<Rule>), String> {
    let formats = formats(&dispatch.resources);
    let options = Options { formats: &formats, ..asked.options() };
    let rules = match asked.module(dispatch.program, &options)? {
        Ok(module) => module.rules.iter().map(|(rule, _)| *rule).collect(),
        Err(found) => return Ok((found, Vec::new())),
    };
    let verdict = check(dispatch, &asked.options());
    Ok((Found::ending(verdict.name(), verdict.why()), rules))
}

/// Checks the theorem for a draw.
///
/// Errors: none, since a refused translation is a result.
pub fn draw(draw: &Draw, asked: &TranslationRequest) -> Result<(Found, Vec<Rule>), String> {
    let formats = formats(&draw.resources);
    let options = Options { formats: &formats, ..asked.options() };
    let modules = match wsl::translate_draw(draw.program, draw.vertex(), draw.fragment, &options) {
        Ok(modules) => [modules.vertex, modules.fragment],
        Err(refusal) => return Ok((Found::ending("refused", refusal.to_string()), Vec::new())),
    };
    let rules = modules.iter().flat_map(|module| &module.rules).map(|(rule, _)| *rule).collect();
    let verdict = check_draw(draw, &options);
    Ok((Found::ending(verdict.name(), verdict.why()), rules))
}

/// The formats of the bound textures, by register. The translation declares the storage images of
/// textures that are written with these formats.
fn formats(resources: &[Resource]) -> Vec<(String, Format)> {
    resources.iter().filter_map(|r| Some((r.register.clone(), r.texture()?.0.image.format()))).collect()
}
