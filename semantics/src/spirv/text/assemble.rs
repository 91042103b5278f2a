//! The text assembler: it reads SPIR-V assembly as `spirv-as --preserve-numeric-ids` does.
//!
//! Ids are `%name` or `%number`. A number is kept. A name gets the lowest id that is neither used
//! as a number nor given to a name. An instruction ends where the next one begins, so line ends
//! have no meaning. `!word` is a literal word. The rest of its instruction is then read word by
//! word. Two comments of the header that `spirv-dis` prints have a meaning. `; Version: 1.3` sets
//! the version, unless the options do. `; Bound: n` sets a bound, which ids need not reach.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::spirv::grammar::{self, Op, OperandKind, Operands, Set, SetInstruction};
use crate::spirv::literal::{self, NumberType};
use crate::spirv::words::{self, MAX_ID_BOUND, MAX_WORDS};

/// How to assemble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Major and minor version. If `None`: the version in the leading comments, or 1.3.
    pub version: Option<(u8, u8)>,
}

/// Why text is not a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssembleError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The expected and the found, as one sentence.
    pub what: String,
}

impl std::fmt::Display for AssembleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error[assemble]: {}:{}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for AssembleError {}

/// Assembles a module.
pub fn assemble(text: &str, options: Options) -> Result<Vec<u32>, AssembleError> {
    let tokens = tokenize(text)?;
    let comments = leading_comments(text);
    let (major, minor) = options.version.or(comments.version).unwrap_or((1, 3));
    let mut assembler = Assembler {
        text,
        tokens: &tokens,
        at: 0,
        words: vec![rspirv::spirv::MAGIC_NUMBER, u32::from(major) << 16 | u32::from(minor) << 8, 0, 0, 0],
        numbered: numbered_ids(text, &tokens)?,
        named: FxHashMap::default(),
        next_id: 1,
        bound: comments.bound.unwrap_or(1).max(1),
        number_types: FxHashMap::default(),
        value_types: FxHashMap::default(),
        sets: FxHashMap::default(),
        opcode: Op::Nop,
        result: None,
        result_type: 0,
        result_id: 0,
        first_id: 0,
        last_id: 0,
        raw: false,
    };
    while assembler.at < tokens.len() {
        assembler.instruction()?;
    }
    assembler.words[3] = assembler.bound;
    Ok(assembler.words)
}

/// A word of the text without white space, or a string with its quotes, as byte offsets.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: u32,
    end: u32,
}

impl Token {
    fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

#[cold]
fn error_at(text: &str, offset: usize, what: impl Into<String>) -> AssembleError {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
    AssembleError { line, column: before[line_start..].chars().count() as u32 + 1, what: what.into() }
}

/// Text of the input, quoted and shortened for a message.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

fn tokenize(text: &str) -> Result<Vec<Token>, AssembleError> {
    if text.len() > u32::MAX as usize {
        return Err(AssembleError { line: 1, column: 1, what: "the text is longer than 4 GiB".to_string() });
    }
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 6);
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b';' => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'"' => {
                at += 1;
                loop {
                    match bytes.get(at) {
                        None => return Err(error_at(text, start, "the string has no closing quote")),
                        Some(b'\\') => at += 2,
                        Some(b'"') => break,
                        Some(_) => at += 1,
                    }
                }
                at += 1;
                if bytes.get(at).is_some_and(|b| !b" \t\r\n;".contains(b)) {
                    return Err(error_at(text, at, "expected white space after a string"));
                }
            }
            _ => {
                at += bytes[at..].iter().position(|b| b" \t\r\n;\"".contains(b)).unwrap_or(bytes.len() - at);
                if bytes.get(at) == Some(&b'"') {
                    return Err(error_at(text, at, "expected white space before a string"));
                }
            }
        }
        tokens.push(Token { start: start as u32, end: at as u32 });
    }
    Ok(tokens)
}

#[derive(Default)]
struct Comments {
    version: Option<(u8, u8)>,
    bound: Option<u32>,
}

fn leading_comments(text: &str) -> Comments {
    let mut comments = Comments::default();
    for line in text.lines().map(str::trim).take_while(|l| l.is_empty() || l.starts_with(';')) {
        let Some((key, value)) = line.trim_start_matches(';').trim().split_once(':') else { continue };
        match key {
            "Version" => {
                let numbers = value.trim().split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                comments.version = numbers.filter(|&(major, minor)| major == 1 && minor <= 6);
            }
            "Bound" => comments.bound = value.trim().parse().ok().filter(|&bound| bound <= MAX_ID_BOUND),
            _ => {}
        }
    }
    comments
}

/// The digits of a numeric id such as `%12`. `None` for a name.
fn numeric_id(token: &str) -> Option<&str> {
    token.strip_prefix('%').filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))
}

fn numbered_ids(text: &str, tokens: &[Token]) -> Result<FxHashSet<u32>, AssembleError> {
    let mut ids = FxHashSet::default();
    for token in tokens {
        let Some(digits) = numeric_id(token.of(text)) else { continue };
        match digits.parse::<u32>() {
            Ok(id) if (1..MAX_ID_BOUND).contains(&id) => ids.insert(id),
            _ => {
                let what = format!("id {} is not from 1 to {}", quoted(token.of(text)), MAX_ID_BOUND - 1);
                return Err(error_at(text, token.start as usize, what));
            }
        };
    }
    Ok(ids)
}

/// The state of assembling, with the operands of the current instruction.
struct Assembler<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    words: Vec<u32>,
    numbered: FxHashSet<u32>,
    named: FxHashMap<&'t str, u32>,
    next_id: u32,
    bound: u32,
    number_types: FxHashMap<u32, NumberType>,
    value_types: FxHashMap<u32, u32>,
    sets: FxHashMap<u32, Option<&'static Set>>,
    opcode: Op,
    /// The token of the result id before the `=`, if there is one.
    result: Option<Token>,
    result_type: u32,
    result_id: u32,
    first_id: u32,
    last_id: u32,
    /// Whether the instruction has a `!` word. Then its other operands are read word by word.
    raw: bool,
}

impl<'t> Assembler<'t> {
    fn token(&self, at: usize) -> Option<&'t str> {
        self.tokens.get(at).map(|t| t.of(self.text))
    }

    #[cold]
    fn fail<T>(&self, at: usize, what: impl Into<String>) -> Result<T, AssembleError> {
        let offset = self.tokens.get(at).map_or(self.text.len(), |t| t.start as usize);
        Err(error_at(self.text, offset, what))
    }

    #[cold]
    fn expected<T>(&self, what: &str) -> Result<T, AssembleError> {
        let found = match self.token(self.at) {
            None => "the end of the text".to_string(),
            Some(_) if self.starts_instruction(self.at) => "the next instruction".to_string(),
            Some(token) => quoted(token),
        };
        self.fail(self.at, format!("expected {what} for Op{:?}, found {found}", self.opcode))
    }

    fn starts_instruction(&self, at: usize) -> bool {
        match self.token(at) {
            None => true,
            Some(token) if token.starts_with('%') => self.token(at + 1) == Some("="),
            Some(token) => is_opcode(token),
        }
    }

    fn instruction(&mut self) -> Result<(), AssembleError> {
        let start = self.words.len();
        self.result = None;
        (self.result_type, self.result_id, self.first_id, self.last_id) = (0, 0, 0, 0);
        let first = self.token(self.at).unwrap_or_default();
        if first.starts_with('!') {
            self.raw_operands(false)?;
            return self.limit(start);
        }
        if first.starts_with('%') {
            if self.token(self.at + 1) != Some("=") {
                return self.fail(self.at + 1, format!("expected \"=\" after {}", quoted(first)));
            }
            self.result = Some(self.tokens[self.at]);
            self.at += 2;
        }
        let name = self.token(self.at).unwrap_or_default();
        let Some(instruction) = name.strip_prefix("Op").and_then(grammar::instruction_named) else {
            let what = if name.is_empty() { "the end of the text".to_string() } else { quoted(name) };
            let alternative = if self.result.is_none() { " or a result id" } else { "" };
            return self.fail(self.at, format!("expected an opcode{alternative}, found {what}"));
        };
        let has_result = instruction.operands.iter().take(2).any(|o| o.kind == OperandKind::IdResult);
        match self.result {
            Some(result) if !has_result => {
                return self
                    .fail(self.at, format!("Op{} has no result, so there is no {} to set", instruction.opname, result.of(self.text)));
            }
            None if has_result => {
                return self.fail(self.at, format!("expected a result id and \"=\" before Op{}", instruction.opname));
            }
            _ => {}
        }
        self.opcode = instruction.opcode;
        self.at += 1;
        self.raw = false;
        self.words.push(0);
        grammar::walk(instruction, self)?;
        // After the last operand, a `!` word begins a new instruction.
        if !self.starts_instruction(self.at) && !self.token(self.at).is_some_and(|t| t.starts_with('!')) {
            return self.expected("no more operands");
        }
        let length = self.words.len() - start;
        if length > u16::MAX as usize {
            return self.fail(self.at - 1, format!("Op{} has {length} words; at most {} can be", instruction.opname, u16::MAX));
        }
        self.words[start] = (length as u32) << 16 | instruction.opcode as u32;
        self.record_result(start);
        self.limit(start)
    }

    fn limit(&self, start: usize) -> Result<(), AssembleError> {
        if start > MAX_WORDS {
            return self.fail(self.at, format!("the module has more than {MAX_WORDS} words"));
        }
        Ok(())
    }

    /// Records what later instructions need of the instruction at `start`: number types, sets and
    /// the types of values.
    fn record_result(&mut self, start: usize) {
        let operands = self.words.get(start + 2..).unwrap_or_default();
        match self.opcode {
            Op::TypeInt if operands.len() == 2 && (1..=64).contains(&operands[0]) => {
                let type_ = NumberType::Integer { width: operands[0], signed: operands[1] == 1 };
                self.number_types.insert(self.result_id, type_);
            }
            Op::TypeFloat if !operands.is_empty() && (1..=64).contains(&operands[0]) => {
                let width = operands[0];
                let ieee = operands.len() == 1 && [16, 32, 64].contains(&width);
                let type_ = if ieee { NumberType::Float { width } } else { NumberType::Opaque { width } };
                self.number_types.insert(self.result_id, type_);
            }
            Op::ExtInstImport if !self.raw => {
                let set = words::string_at(operands).ok().and_then(|(name, _)| grammar::set(&name));
                self.sets.insert(self.result_id, set);
            }
            _ => {}
        }
        if self.result_type != 0 {
            self.value_types.insert(self.result_id, self.result_type);
        }
    }

    fn id(&mut self, token: &'t str) -> Option<u32> {
        let name = token.strip_prefix('%').filter(|name| !name.is_empty())?;
        let id = match numeric_id(token) {
            Some(digits) => digits.parse().ok()?,
            None => match self.named.get(name) {
                Some(&id) => id,
                None => {
                    while self.numbered.contains(&self.next_id) {
                        self.next_id += 1;
                    }
                    let id = self.next_id;
                    self.next_id += 1;
                    self.named.insert(name, id);
                    id
                }
            },
        };
        self.bound = self.bound.max(id + 1);
        Some(id)
    }

    fn string(&mut self, token: &str) -> Result<(), AssembleError> {
        let inner = &token[1..token.len() - 1];
        let mut value = String::with_capacity(inner.len());
        let mut characters = inner.chars();
        while let Some(c) = characters.next() {
            value.extend(if c == '\\' { characters.next() } else { Some(c) });
        }
        if value.contains('\0') {
            return self.fail(self.at, "a string cannot contain the character 0");
        }
        words::push_string(&mut self.words, &value);
        Ok(())
    }

    /// Reads the tokens up to the next instruction as words. If the first is the result type, the
    /// result follows it.
    fn raw_operands(&mut self, is_result_type: bool) -> Result<(), AssembleError> {
        self.raw = true;
        let mut pending = self.result.filter(|_| is_result_type);
        loop {
            let token = self.token(self.at).unwrap_or_default();
            if token.starts_with('"') {
                self.string(token)?;
            } else if token.starts_with('%') {
                match self.id(token) {
                    Some(id) => self.words.push(id),
                    None => return self.fail(self.at, format!("expected a name after \"%\", found {}", quoted(token))),
                }
            } else {
                let digits = token.strip_prefix('!').unwrap_or(token);
                let signed = NumberType::Integer { width: 32, signed: true };
                match literal::parse(digits, NumberType::WORD).or_else(|| literal::parse(digits, signed)) {
                    Some(word) => self.words.push(word as u32),
                    None => {
                        let what = format!("expected a word, an id or a string in an instruction with \"!\", found {}", quoted(token));
                        return self.fail(self.at, what);
                    }
                }
            }
            self.at += 1;
            if let Some(result) = pending.take() {
                self.result_operand(result)?;
            }
            if self.starts_instruction(self.at) {
                return Ok(());
            }
        }
    }

    fn result_operand(&mut self, result: Token) -> Result<u32, AssembleError> {
        let token = result.of(self.text);
        match self.id(token) {
            Some(id) => {
                self.result_id = id;
                self.words.push(id);
                Ok(id)
            }
            None => Err(error_at(self.text, result.start as usize, format!("expected a name after \"%\", found {}", quoted(token)))),
        }
    }

    fn number(&mut self, token: &str, type_: NumberType) -> Result<u32, AssembleError> {
        let Some(bits) = literal::parse(token, type_) else {
            return self.expected(&format!("a literal that is a {type_}"));
        };
        self.words.push(bits as u32);
        if type_.words() == 2 {
            self.words.push((bits >> 32) as u32);
        }
        Ok(bits as u32)
    }

    /// The type of a literal that depends on its instruction: the result type, or the type of
    /// OpSwitch's selector.
    fn literal_type(&self) -> Result<NumberType, AssembleError> {
        let type_id = match self.result_type {
            0 => self.value_types.get(&self.first_id).copied().unwrap_or(0),
            result_type => result_type,
        };
        match self.number_types.get(&type_id) {
            Some(&type_) => Ok(type_),
            None => self
                .fail(self.at, format!("the literal of Op{:?} has no type: no earlier OpTypeInt or OpTypeFloat gives it one", self.opcode)),
        }
    }
}

fn is_opcode(token: &str) -> bool {
    matches!(token.as_bytes(), [b'O', b'p', b'A'..=b'Z', ..])
}

impl Operands for Assembler<'_> {
    type Error = AssembleError;

    fn at_end(&mut self) -> bool {
        self.starts_instruction(self.at)
    }

    fn given_up(&self) -> bool {
        self.raw
    }

    fn read(&mut self, kind: OperandKind) -> Result<u32, AssembleError> {
        if let (OperandKind::IdResult, Some(result)) = (kind, self.result) {
            return self.result_operand(result);
        }
        if self.starts_instruction(self.at) {
            return self.expected(grammar::kind_name(kind));
        }
        let token = self.token(self.at).unwrap_or_default();
        if token.starts_with('!') {
            self.raw_operands(kind == OperandKind::IdResultType)?;
            return Ok(0);
        }
        let word = match kind {
            kind if grammar::is_id(kind) => match self.id(token) {
                Some(id) => {
                    if kind == OperandKind::IdResultType {
                        self.result_type = id;
                    } else {
                        self.first_id = if self.first_id == 0 { id } else { self.first_id };
                        self.last_id = id;
                    }
                    self.words.push(id);
                    id
                }
                None => return self.expected(grammar::kind_name(kind)),
            },
            OperandKind::LiteralString => {
                if !token.starts_with('"') {
                    return self.expected("a string");
                }
                self.string(token)?;
                0
            }
            OperandKind::LiteralInteger => self.number(token, NumberType::WORD)?,
            OperandKind::LiteralFloat => self.number(token, NumberType::Float { width: 32 })?,
            OperandKind::LiteralContextDependentNumber => {
                let type_ = self.literal_type()?;
                self.number(token, type_)?
            }
            OperandKind::LiteralExtInstInteger => {
                let number = match self.sets.get(&self.last_id).copied().flatten() {
                    Some(set) => match set.by_name(token) {
                        Some(instruction) => u32::from(instruction.opcode),
                        None => return self.expected(&format!("an instruction of {}", set.name)),
                    },
                    None => match literal::parse(token, NumberType::WORD) {
                        Some(number) => number as u32,
                        None => return self.expected("the number of an instruction (its set is not known here)"),
                    },
                };
                self.words.push(number);
                number
            }
            OperandKind::LiteralSpecConstantOpInteger => {
                match grammar::instruction_named(token).filter(|i| i.opcode != Op::SpecConstantOp) {
                    Some(instruction) => {
                        self.words.push(instruction.opcode as u32);
                        instruction.opcode as u32
                    }
                    None => return self.expected(grammar::kind_name(kind)),
                }
            }
            kind => match grammar::enumeration_of(kind) {
                Some(enumeration) => {
                    let mut value = 0;
                    for name in token.split('|') {
                        match enumeration.by_name(name) {
                            Some(v) if enumeration.mask || name == token => value |= v,
                            _ => return self.expected(enumeration.name),
                        }
                    }
                    self.words.push(value);
                    value
                }
                // Enumerants of debug information sets are read as numbers.
                None => self.number(token, NumberType::WORD)?,
            },
        };
        self.at += 1;
        Ok(word)
    }

    fn set_instruction(&mut self, number: u32) -> Result<Option<&'static SetInstruction>, AssembleError> {
        Ok(self.sets.get(&self.last_id).copied().flatten().and_then(|set| set.by_number(number)))
    }
}
