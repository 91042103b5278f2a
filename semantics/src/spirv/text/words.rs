//! Decodes words to instructions: the physical layout of a SPIR-V module (SPIR-V §2.3), checked
//! word by word.
//!
//! Decoding checks every operand against the grammar. Later code may then index operands without a
//! check. The meaning of a module is not decoded here, but in [`crate::spirv::module`]. Memory is
//! proportional to the number of words, whatever they contain, plus four bytes for each id below
//! the bound. The operating system provides the latter only where they are touched.

use rspirv::spirv::MAGIC_NUMBER;
use smallvec::SmallVec;

use crate::outcome::Limit;
use crate::spirv::grammar::{self, Op, OperandKind, Operands, Plain, Set, SetInstruction, Tail};

/// The number of words of a module's header.
pub const HEADER_WORDS: usize = 5;
/// The greatest bound on ids. SPIR-V §2.17 requires every implementation to support it, and it
/// is our limit.
pub const MAX_ID_BOUND: u32 = 4_194_303;
/// The longest module, in words.
pub const MAX_WORDS: usize = 1 << 22;

/// The header of a module, SPIR-V §2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The major version, which is 1.
    pub major: u8,
    /// The minor version, 0 to 6.
    pub minor: u8,
    /// The generator's magic number.
    pub generator: u32,
    /// The bound: every id is less.
    pub bound: u32,
    /// The reserved word, which is 0.
    pub schema: u32,
}

/// An instruction: the place of its words in the module, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The opcode.
    pub op: Op,
    /// The number of words, the first included.
    pub word_count: u16,
    /// The index of the first word in the module.
    pub offset: u32,
    /// The id of the result type, or 0.
    pub result_type: u32,
    /// The result id, or 0.
    pub result: u32,
}

impl Instruction {
    /// All words of the instruction.
    #[inline]
    pub fn words<'w>(&self, module: &'w [u32]) -> &'w [u32] {
        &module[self.offset as usize..self.offset as usize + self.word_count as usize]
    }

    /// The operands after result type and result.
    #[inline]
    pub fn operands<'w>(&self, module: &'w [u32]) -> &'w [u32] {
        let results = (self.result_type != 0) as usize + (self.result != 0) as usize;
        &self.words(module)[1 + results..]
    }

    /// The part of the operands that may be pointers. It contains no literal.
    pub(in crate::spirv) fn pointers<'w>(&self, operands: &'w [u32]) -> &'w [u32] {
        match self.op {
            Op::Load
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::ArrayLength
            | Op::CopyObject
            | Op::ReturnValue => &operands[..1],
            Op::CopyMemory | Op::Store | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => &operands[..2],
            Op::Select => &operands[1..],
            Op::FunctionCall => &operands[1..],
            Op::ExtInst => &operands[2..],
            Op::Phi => operands,
            op if Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32 => &operands[..1],
            _ => &[],
        }
    }

    /// Whether the opcode is `op`.
    #[inline]
    pub fn is(&self, op: Op) -> bool {
        self.op == op
    }

    /// The name of the opcode, such as `OpFAdd`.
    pub fn name(&self) -> String {
        format!("Op{:?}", self.op)
    }
}

/// A decoded module.
#[derive(Clone, Debug)]
pub struct Decoded<'w> {
    /// The words, header included.
    pub words: &'w [u32],
    /// The header.
    pub header: Header,
    /// The instructions, in order.
    pub instructions: Vec<Instruction>,
    /// By id: the index of the defining instruction plus 1, or 0.
    pub definitions: Vec<u32>,
    sets: Imports,
}

/// The imported extended instruction sets that the grammar has. The key is the index of the import
/// plus 1. Keys are ascending.
type Imports = SmallVec<[(u32, &'static Set); 2]>;

fn imported(sets: &Imports, definitions: &[u32], id: u32) -> Option<&'static Set> {
    let definition = *definitions.get(id as usize)?;
    sets.binary_search_by_key(&definition, |&(import, _)| import).ok().map(|i| sets[i].1)
}

impl Decoded<'_> {
    /// The extended instruction set that an id imports, if the grammar has it.
    pub fn set(&self, id: u32) -> Option<&'static Set> {
        imported(&self.sets, &self.definitions, id)
    }
}

/// The kinds of malformed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    /// The number of bytes is not a multiple of 4.
    ByteLength,
    /// There are fewer words than a header has.
    Header,
    /// The first word is not the magic number.
    Magic,
    /// The first word is the magic number in the other byte order.
    ByteSwapped,
    /// The version is not one of 1.0 to 1.6.
    Version,
    /// The bound is 0.
    Bound,
    /// The reserved word of the header is not 0.
    Schema,
    /// The word count of an instruction is 0.
    ZeroWordCount,
    /// The words end within an instruction.
    Truncated,
    /// The grammar has no such opcode.
    UnknownOpcode,
    /// An operand that the grammar requires is missing.
    MissingOperand,
    /// Words are left after the last operand.
    ExtraOperands,
    /// A string has no terminating zero in its instruction.
    UnterminatedString,
    /// A string is not UTF-8.
    StringEncoding,
    /// The bytes after a string's terminating zero are not 0.
    StringPadding,
    /// An id is 0.
    ZeroId,
    /// An id is not below the bound.
    IdOutOfBound,
    /// An earlier instruction has the same result id.
    IdDefinedTwice,
    /// The grammar does not have an enumerant or a mask bit.
    UnknownEnumerant,
    /// An extended instruction set has no instruction with the number.
    UnknownSetInstruction,
    /// The type of a literal is not known to be an integer or a float of at most 64 bits.
    LiteralType,
}

impl Malformed {
    /// Every way in which words are malformed.
    pub const ALL: &'static [Malformed] = &[
        Malformed::ByteLength,
        Malformed::Header,
        Malformed::Magic,
        Malformed::ByteSwapped,
        Malformed::Version,
        Malformed::Bound,
        Malformed::Schema,
        Malformed::ZeroWordCount,
        Malformed::Truncated,
        Malformed::UnknownOpcode,
        Malformed::MissingOperand,
        Malformed::ExtraOperands,
        Malformed::UnterminatedString,
        Malformed::StringEncoding,
        Malformed::StringPadding,
        Malformed::ZeroId,
        Malformed::IdOutOfBound,
        Malformed::IdDefinedTwice,
        Malformed::UnknownEnumerant,
        Malformed::UnknownSetInstruction,
        Malformed::LiteralType,
    ];

    /// The stable id, such as `words/truncated`.
    pub fn id(self) -> &'static str {
        match self {
            Malformed::ByteLength => "words/byte-length",
            Malformed::Header => "words/header",
            Malformed::Magic => "words/magic",
            Malformed::ByteSwapped => "words/byte-swapped",
            Malformed::Version => "words/version",
            Malformed::Bound => "words/bound",
            Malformed::Schema => "words/schema",
            Malformed::ZeroWordCount => "words/zero-word-count",
            Malformed::Truncated => "words/truncated",
            Malformed::UnknownOpcode => "words/unknown-opcode",
            Malformed::MissingOperand => "words/missing-operand",
            Malformed::ExtraOperands => "words/extra-operands",
            Malformed::UnterminatedString => "words/unterminated-string",
            Malformed::StringEncoding => "words/string-encoding",
            Malformed::StringPadding => "words/string-padding",
            Malformed::ZeroId => "words/zero-id",
            Malformed::IdOutOfBound => "words/id-out-of-bound",
            Malformed::IdDefinedTwice => "words/id-defined-twice",
            Malformed::UnknownEnumerant => "words/unknown-enumerant",
            Malformed::UnknownSetInstruction => "words/unknown-set-instruction",
            Malformed::LiteralType => "words/literal-type",
        }
    }
}

/// Why words are not a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordsError {
    /// The words are malformed.
    Malformed {
        /// The kind of fault.
        kind: Malformed,
        /// The index of the word at fault.
        offset: usize,
        /// The found and the required, as one sentence.
        what: String,
    },
    /// The words exceed one of our limits.
    Limit(Limit),
}

impl WordsError {
    #[cold]
    fn new(kind: Malformed, offset: usize, what: impl Into<String>) -> WordsError {
        WordsError::Malformed { kind, offset, what: what.into() }
    }

    /// The kind of fault, if the words are malformed.
    pub fn kind(&self) -> Option<Malformed> {
        match self {
            WordsError::Malformed { kind, .. } => Some(*kind),
            WordsError::Limit(_) => None,
        }
    }
}

impl std::fmt::Display for WordsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WordsError::Malformed { kind, offset, what } => write!(f, "error[{}]: word {offset}: {what}", kind.id()),
            WordsError::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for WordsError {}

/// Reads the bytes of a file as words: big-endian if the magic number says so, otherwise
/// little-endian (SPIR-V §3.1).
pub fn words_of_bytes(bytes: &[u8]) -> Result<Vec<u32>, WordsError> {
    if !bytes.len().is_multiple_of(4) {
        let what = format!("{} bytes are no whole number of 4-byte words", bytes.len());
        return Err(WordsError::new(Malformed::ByteLength, bytes.len() / 4, what));
    }
    let quads = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
    let big = bytes.len() >= 4 && bytes[..4] == MAGIC_NUMBER.to_be_bytes();
    Ok(if big { quads.map(u32::from_be_bytes).collect() } else { quads.map(u32::from_le_bytes).collect() })
}

/// The bytes of a file with these words, little-endian.
pub fn bytes_of_words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Decodes only the header.
pub fn header(words: &[u32]) -> Result<Header, WordsError> {
    if words.len() > MAX_WORDS {
        return Err(WordsError::Limit(Limit { what: "words in a module", bound: MAX_WORDS as u64 }));
    }
    let &[magic, version, generator, bound, schema, ..] = words else {
        let what = format!("{} words, but the header alone has {HEADER_WORDS}", words.len());
        return Err(WordsError::new(Malformed::Header, words.len(), what));
    };
    if magic == MAGIC_NUMBER.swap_bytes() {
        return Err(WordsError::new(Malformed::ByteSwapped, 0, "the magic number is byte-swapped: swap the bytes of every word"));
    }
    if magic != MAGIC_NUMBER {
        let what = format!("the magic number is {magic:#010x}; SPIR-V begins with {MAGIC_NUMBER:#010x}");
        return Err(WordsError::new(Malformed::Magic, 0, what));
    }
    let [pad, major, minor, low] = version.to_be_bytes();
    if pad != 0 || low != 0 || major != 1 || minor > 6 {
        let what = format!("version word {version:#010x} is none of 1.0 to 1.6");
        return Err(WordsError::new(Malformed::Version, 1, what));
    }
    if bound == 0 {
        return Err(WordsError::new(Malformed::Bound, 3, "the id bound is 0; it must be above every id"));
    }
    if bound > MAX_ID_BOUND {
        return Err(WordsError::Limit(Limit { what: "ids (the bound in the header)", bound: MAX_ID_BOUND as u64 }));
    }
    if schema != 0 {
        return Err(WordsError::new(Malformed::Schema, 4, format!("the reserved word is {schema}; it must be 0")));
    }
    Ok(Header { major, minor, generator, bound, schema })
}

/// Decodes a module.
pub fn decode(words: &[u32]) -> Result<Decoded<'_>, WordsError> {
    let header = header(words)?;
    let mut reader = Reader {
        words,
        instructions: Vec::with_capacity((words.len() - HEADER_WORDS) / 4 + 1),
        definitions: vec![0; header.bound as usize],
        sets: SmallVec::new(),
        at: HEADER_WORDS,
        end: HEADER_WORDS,
        current: Instruction { op: Op::Nop, word_count: 0, offset: 0, result_type: 0, result: 0 },
        last_id: 0,
    };
    while reader.end < words.len() {
        reader.instruction()?;
    }
    Ok(Decoded { words, header, instructions: reader.instructions, definitions: reader.definitions, sets: reader.sets })
}

/// The state of decoding. The words from `at` to `end` are the unread operands of the
/// instruction `current`.
struct Reader<'w> {
    words: &'w [u32],
    instructions: Vec<Instruction>,
    definitions: Vec<u32>,
    sets: Imports,
    at: usize,
    end: usize,
    current: Instruction,
    last_id: u32,
}

impl Reader<'_> {
    fn instruction(&mut self) -> Result<(), WordsError> {
        let offset = self.end;
        let first = self.words[offset];
        let (opcode, word_count) = (first as u16, (first >> 16) as u16);
        if word_count == 0 {
            return Err(WordsError::new(Malformed::ZeroWordCount, offset, format!("{} has word count 0", grammar::op_name(opcode))));
        }
        let words_left = self.words.len() - offset;
        if word_count as usize > words_left {
            let what = format!("{} has {word_count} words, but the module ends after {words_left}", grammar::op_name(opcode));
            return Err(WordsError::new(Malformed::Truncated, offset, what));
        }
        let Some((grammar, form)) = grammar::with_form(opcode) else {
            return Err(WordsError::new(Malformed::UnknownOpcode, offset, format!("no instruction has opcode {opcode}")));
        };
        self.at = offset + 1;
        self.end = offset + word_count as usize;
        self.current = Instruction { op: grammar.opcode, word_count, offset: offset as u32, result_type: 0, result: 0 };
        if !form.is_some_and(|form| self.read_plain(form)) {
            grammar::walk(grammar, self)?;
        }
        if self.at < self.end {
            let what = format!("Op{} has {} words after its last operand", grammar.opname, self.end - self.at);
            return Err(WordsError::new(Malformed::ExtraOperands, self.at, what));
        }
        if self.current.result != 0 {
            let definition = &mut self.definitions[self.current.result as usize];
            if *definition != 0 {
                let what = format!("%{} is already the result of an earlier instruction", self.current.result);
                return Err(WordsError::new(Malformed::IdDefinedTwice, offset, what));
            }
            *definition = self.instructions.len() as u32 + 1;
        }
        if self.current.is(Op::ExtInstImport) {
            let (set, _) = with_string_at(&self.words[offset + 2..self.end], grammar::set).expect("the walk has checked the string");
            self.sets.extend(set.map(|set| (self.instructions.len() as u32 + 1, set)));
        }
        self.instructions.push(self.current);
        Ok(())
    }

    /// Reads all operands of a plain instruction at once. Returns false if they violate the grammar
    /// or the form does not cover them. Then the walk reads them and reports the fault.
    #[inline]
    fn read_plain(&mut self, form: &Plain) -> bool {
        let operands = &self.words[self.at..self.end];
        let Some(extra_words) = operands.len().checked_sub(form.required) else { return false };
        // The bound is at least 1.
        let last = self.definitions.len() as u32 - 1;
        let is_id = |id: u32| id.wrapping_sub(1) < last;
        let (mut at, mut ids) = (0, form.ids);
        while ids != 0 {
            at += ids.trailing_zeros() as usize;
            if !is_id(operands[at]) {
                return false;
            }
            (at, ids) = (at + 1, ids >> ids.trailing_zeros() >> 1);
        }
        let Some(parameter_count) = form.parameter_words(operands) else { return false };
        match form.results {
            [true, true] => (self.current.result_type, self.current.result) = (operands[0], operands[1]),
            [false, true] => self.current.result = operands[0],
            [true, false] => self.current.result_type = operands[0],
            [false, false] => {}
        }
        let rest = &operands[form.required..];
        let fits = match form.tail {
            Tail::Nothing => extra_words == parameter_count,
            Tail::Ids(group) => extra_words.is_multiple_of(group) && rest.iter().all(|&id| is_id(id)),
            Tail::Numbers => true,
            Tail::String => string_length(rest) == Ok(extra_words),
            Tail::OfResultType => self.literal_words() == Ok(extra_words),
        };
        if fits {
            self.at = self.end;
        }
        fits
    }

    /// The number of words of a literal whose type depends on its instruction: the result type, or
    /// the type of OpSwitch's selector.
    fn literal_words(&self) -> Result<usize, WordsError> {
        let type_id = match self.current.result_type {
            0 => self.definition(self.last_selector()).map_or(0, |selector| selector.result_type),
            result_type => result_type,
        };
        let width = self.definition(type_id).and_then(|t| numeric_width(t, self.words));
        match width {
            Some(width) => Ok(width.div_ceil(32) as usize),
            None => {
                let what = format!(
                    "the literal of {} has type %{type_id}, which is no earlier integer or float type of at most 64 bits",
                    self.current.name()
                );
                Err(WordsError::new(Malformed::LiteralType, self.at, what))
            }
        }
    }

    /// Reads an operand that is not an id.
    fn literal(&mut self, kind: OperandKind, word: u32) -> Result<u32, WordsError> {
        match kind {
            OperandKind::LiteralInteger | OperandKind::LiteralFloat | OperandKind::LiteralExtInstInteger => self.at += 1,
            OperandKind::LiteralString => match string_length(&self.words[self.at..self.end]) {
                Ok(length) => self.at += length,
                Err((kind, what)) => return Err(WordsError::new(kind, self.at, what)),
            },
            OperandKind::LiteralContextDependentNumber => {
                let length = self.literal_words()?;
                if self.end - self.at < length {
                    return Err(self.missing(kind));
                }
                self.at += length;
            }
            OperandKind::LiteralSpecConstantOpInteger => {
                if u16::try_from(word).ok().and_then(grammar::instruction).is_none_or(|i| i.opcode == Op::SpecConstantOp) {
                    let what = format!("OpSpecConstantOp has opcode {word}, which it does not admit");
                    return Err(WordsError::new(Malformed::UnknownOpcode, self.at, what));
                }
                self.at += 1;
            }
            _ => {
                if let Some(enumeration) = grammar::enumeration_of(kind)
                    && !enumeration.knows(word)
                {
                    let what = format!("{} of {} has no enumerant {word:#x}", enumeration.name, self.current.name());
                    return Err(WordsError::new(Malformed::UnknownEnumerant, self.at, what));
                }
                self.at += 1;
            }
        }
        Ok(word)
    }

    fn last_selector(&self) -> u32 {
        self.words[self.current.offset as usize + 1]
    }

    fn definition(&self, id: u32) -> Option<&Instruction> {
        let index = *self.definitions.get(id as usize)?;
        self.instructions.get((index as usize).wrapping_sub(1))
    }

    #[cold]
    fn bad_id(&self, id: u32) -> WordsError {
        if id == 0 {
            return WordsError::new(Malformed::ZeroId, self.at, format!("an id of {} is 0", self.current.name()));
        }
        let what = format!("%{id} of {} is not below the bound {}", self.current.name(), self.definitions.len());
        WordsError::new(Malformed::IdOutOfBound, self.at, what)
    }

    #[cold]
    fn missing(&self, kind: OperandKind) -> WordsError {
        let what = format!("{} ends where its grammar has {}", self.current.name(), grammar::kind_name(kind));
        WordsError::new(Malformed::MissingOperand, self.at, what)
    }
}

/// The width in bits of an integer or float type. `None` for other types and for more than 64 bits.
pub(in crate::spirv) fn numeric_width(type_: &Instruction, module: &[u32]) -> Option<u32> {
    let width = match type_.is(Op::TypeInt) || type_.is(Op::TypeFloat) {
        true => type_.operands(module)[0],
        false => return None,
    };
    (1..=64).contains(&width).then_some(width)
}

impl Operands for Reader<'_> {
    type Error = WordsError;

    #[inline]
    fn at_end(&mut self) -> bool {
        self.at >= self.end
    }

    #[inline(always)]
    fn read(&mut self, kind: OperandKind) -> Result<u32, WordsError> {
        if self.at >= self.end {
            return Err(self.missing(kind));
        }
        let word = self.words[self.at];
        let place = match kind {
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => &mut self.last_id,
            OperandKind::IdResultType => &mut self.current.result_type,
            OperandKind::IdResult => &mut self.current.result,
            _ => return self.literal(kind, word),
        };
        if word == 0 || word as usize >= self.definitions.len() {
            return Err(self.bad_id(word));
        }
        *place = word;
        self.at += 1;
        Ok(word)
    }

    fn set_instruction(&mut self, number: u32) -> Result<Option<&'static SetInstruction>, WordsError> {
        let set = imported(&self.sets, &self.definitions, self.last_id);
        match set {
            None => Ok(None),
            Some(set) => match set.by_number(number) {
                Some(instruction) => Ok(Some(instruction)),
                None => {
                    let what = format!("{} has no instruction {number}", set.name);
                    Err(WordsError::new(Malformed::UnknownSetInstruction, self.at - 1, what))
                }
            },
        }
    }
}

/// The string that begins at the first word, and the number of its words.
pub fn string_at(words: &[u32]) -> Result<(String, usize), (Malformed, &'static str)> {
    with_string_at(words, str::to_string)
}

/// Applies a function to the string that begins at the first word. Returns its result and the
/// number of words of the string.
pub fn with_string_at<T>(words: &[u32], make: impl FnOnce(&str) -> T) -> Result<(T, usize), (Malformed, &'static str)> {
    let Some(last) = words.iter().position(|&word| has_zero_byte(word)) else {
        return Err((Malformed::UnterminatedString, "the string does not end within its instruction"));
    };
    let mut bytes: SmallVec<[u8; 64]> = SmallVec::from_elem(0, 4 * (last + 1));
    bytes.chunks_exact_mut(4).zip(words).for_each(|(quad, word)| quad.copy_from_slice(&word.to_le_bytes()));
    let end = 4 * last + bytes[4 * last..].iter().position(|&byte| byte == 0).unwrap_or_default();
    if bytes[end..].iter().any(|&byte| byte != 0) {
        return Err((Malformed::StringPadding, "the bytes after a string's terminating zero are not all 0"));
    }
    match str::from_utf8(&bytes[..end]) {
        Ok(text) => Ok((make(text), last + 1)),
        Err(_) => Err((Malformed::StringEncoding, "the string is not UTF-8")),
    }
}

/// The number of words of the string that begins at the first word.
fn string_length(words: &[u32]) -> Result<usize, (Malformed, &'static str)> {
    if let Some(last) = words.iter().position(|&word| has_zero_byte(word)) {
        // ASCII is valid UTF-8, so no copy is needed.
        let is_ascii = words[..=last].iter().all(|word| word & 0x8080_8080 == 0);
        let is_padded = words[last].to_le_bytes().iter().skip_while(|&&byte| byte != 0).all(|&byte| byte == 0);
        if is_ascii && is_padded {
            return Ok(last + 1);
        }
    }
    with_string_at(words, |_| ()).map(|((), length)| length)
}

/// Whether a byte of a word is zero: subtracting 1 from each byte borrows at a high bit
/// that was not set.
fn has_zero_byte(word: u32) -> bool {
    word.wrapping_sub(0x0101_0101) & !word & 0x8080_8080 != 0
}

/// Appends the words of a string: its bytes, a zero, and zeros up to the end of the word.
pub fn push_string(words: &mut Vec<u32>, text: &str) {
    let bytes = text.as_bytes();
    for quad in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..quad.len()].copy_from_slice(quad);
        words.push(u32::from_le_bytes(word));
    }
    if bytes.len().is_multiple_of(4) {
        words.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// For every opcode that has a form, with random operands: `Reader::read_plain` reads the same
    /// as the walk over the grammar. Of most forms it reads some operands.
    #[test]
    fn what_is_read_at_once_is_what_the_walk_reads() {
        let mut random = Random::new(1);
        // %1 is a 32-bit integer type and %2 a 64-bit one.
        let types = [(Op::TypeInt, 1, 32), (Op::TypeInt, 2, 64)];
        let start = [MAGIC_NUMBER, 0x0001_0600, 0, 12, 0];
        let mut words: Vec<u32> = start.to_vec();
        let (mut instructions, mut definitions) = (Vec::new(), vec![0; 12]);
        for (op, result, width) in types {
            let offset = words.len() as u32;
            instructions.push(Instruction { op, word_count: 4, offset, result_type: 0, result });
            definitions[result as usize] = instructions.len() as u32;
            words.extend([4 << 16 | op as u32, result, width, 0]);
        }
        let offset = words.len();
        let (mut forms, mut covered) = (0, 0);
        for grammar in grammar::instructions() {
            let Some((_, Some(form))) = grammar::with_form(grammar.opcode as u16) else { continue };
            forms += 1;
            let mut taken = 0;
            for _ in 0..400 {
                let count = form.required + random.bits() as usize % 4;
                words.truncate(offset);
                words.push((count as u32 + 1) << 16 | grammar.opcode as u32);
                words.extend((0..count).map(|_| match random.bits() % 8 {
                    0 => 0,
                    1 => 0x0061_6262,
                    2 => 0x6261_6261,
                    small => (random.bits() % (2 * small)) as u32,
                }));
                let current =
                    Instruction { op: grammar.opcode, word_count: count as u16 + 1, offset: offset as u32, result_type: 0, result: 0 };
                let reader = || Reader {
                    words: &words,
                    instructions: instructions.clone(),
                    definitions: definitions.clone(),
                    sets: SmallVec::new(),
                    at: offset + 1,
                    end: words.len(),
                    current,
                    last_id: 0,
                };
                let (mut at_once, mut walked) = (reader(), reader());
                if at_once.read_plain(form) {
                    taken += 1;
                    let walk = grammar::walk(grammar, &mut walked);
                    assert_eq!(walk, Ok(()), "{:?} of {:x?}", grammar.opcode, &words[offset..]);
                    assert_eq!((at_once.at, at_once.current), (walked.at, walked.current), "{:?}", grammar.opcode);
                }
            }
            covered += usize::from(taken > 0);
        }
        assert!(forms > 300 && covered * 10 > forms * 9, "{covered} of {forms} forms read an instruction");
    }
}
