//! The disassembler. It prints any module that decodes, as text that [`crate::spirv::assemble()`]
//! assembles to the same words.
//!
//! Ids are printed as numbers. Some words have no literal: bits beyond a narrow type's width,
//! or a float of another encoding. Such a word is printed as `!word`, and so is the rest of
//! its instruction.

use std::fmt::Write as _;

use crate::spirv::grammar::{self, Op, OperandKind, Operands, SetInstruction};
use crate::spirv::literal::{self, NumberType};
use crate::spirv::words::{self, Decoded, Instruction, WordsError};

/// The text of a module.
pub fn disassemble(words: &[u32]) -> Result<String, WordsError> {
    let decoded = words::decode(words)?;
    let header = decoded.header;
    let mut out = String::with_capacity(words.len() * 8);
    out.push_str("; SPIR-V\n");
    let _ = writeln!(out, "; Version: {}.{}", header.major, header.minor);
    let _ = writeln!(out, "; Generator: {:#010x}", header.generator);
    let _ = writeln!(out, "; Bound: {}", header.bound);
    let _ = writeln!(out, "; Schema: {}", header.schema);
    for &instruction in &decoded.instructions {
        print(&decoded, instruction, &mut out);
        out.push('\n');
    }
    Ok(out)
}

/// The text of one instruction of a decoded module.
pub fn disassemble_instruction(decoded: &Decoded<'_>, instruction: Instruction) -> String {
    let mut out = String::new();
    print(decoded, instruction, &mut out);
    out.trim_start().to_string()
}

fn print(decoded: &Decoded<'_>, instruction: Instruction, out: &mut String) {
    match instruction.result {
        0 => out.push_str("          "),
        id => {
            let _ = write!(out, "{:>7} = ", format!("%{id}"));
        }
    }
    let name = instruction.name();
    out.push_str(&name);
    let at = instruction.offset as usize + 1;
    let end = instruction.offset as usize + instruction.word_count as usize;
    let mut printer = Printer { decoded, instruction, at, end, last_id: 0, raw: false, out };
    if let Some(grammar) = grammar::instruction(instruction.op as u16) {
        let Ok(()) = grammar::walk(grammar, &mut printer);
    }
    printer.print_rest();
}

struct Printer<'d> {
    decoded: &'d Decoded<'d>,
    instruction: Instruction,
    at: usize,
    end: usize,
    last_id: u32,
    raw: bool,
    out: &'d mut String,
}

impl Printer<'_> {
    /// Prints the remaining words as `!word`.
    fn print_rest(&mut self) {
        while self.at < self.end {
            let _ = write!(self.out, " !{:#x}", self.decoded.words[self.at]);
            self.at += 1;
        }
    }

    fn definition(&self, id: u32) -> Option<&Instruction> {
        let index = *self.decoded.definitions.get(id as usize)? as usize;
        self.decoded.instructions.get(index.wrapping_sub(1))
    }

    fn literal_type(&self) -> Option<NumberType> {
        let type_id = match self.instruction.result_type {
            0 => self.definition(self.decoded.words[self.instruction.offset as usize + 1])?.result_type,
            id => id,
        };
        let type_ = self.definition(type_id)?;
        let width = words::numeric_width(type_, self.decoded.words)?;
        let operands = type_.operands(self.decoded.words);
        Some(match type_.op {
            Op::TypeInt => NumberType::Integer { width, signed: operands[1] == 1 },
            _ if operands.len() == 1 && [16, 32, 64].contains(&width) => NumberType::Float { width },
            _ => NumberType::Opaque { width },
        })
    }

    fn number(&mut self, type_: Option<NumberType>) {
        let words = &self.decoded.words[self.at..self.end];
        let text = type_.filter(|t| t.words() <= words.len()).and_then(|type_| {
            let high = if type_.words() == 2 { u64::from(words[1]) << 32 } else { 0 };
            literal::print(u64::from(words[0]) | high, type_).map(|text| (text, type_.words()))
        });
        match text {
            Some((text, length)) => {
                self.out.push(' ');
                self.out.push_str(&text);
                self.at += length;
            }
            None => {
                self.raw = true;
                self.print_rest();
            }
        }
    }

    fn string(&mut self) {
        match words::string_at(&self.decoded.words[self.at..self.end]) {
            Ok((text, length)) => {
                self.out.push_str(" \"");
                for c in text.chars() {
                    if c == '"' || c == '\\' {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                }
                self.out.push('"');
                self.at += length;
            }
            Err(_) => {
                self.raw = true;
                self.print_rest();
            }
        }
    }
}

impl Operands for Printer<'_> {
    /// There is no error, since decoding has found them all.
    type Error = std::convert::Infallible;

    fn at_end(&mut self) -> bool {
        self.at >= self.end
    }

    fn given_up(&self) -> bool {
        self.raw
    }

    fn read(&mut self, kind: OperandKind) -> Result<u32, Self::Error> {
        let Some(&word) = self.decoded.words[..self.end].get(self.at) else { return Ok(0) };
        match kind {
            OperandKind::IdResult => {}
            kind if grammar::is_id(kind) => {
                self.last_id = word;
                let _ = write!(self.out, " %{word}");
            }
            OperandKind::LiteralString => {
                self.string();
                return Ok(0);
            }
            OperandKind::LiteralFloat => {
                self.number(Some(NumberType::Float { width: 32 }));
                return Ok(word);
            }
            OperandKind::LiteralContextDependentNumber => {
                let type_ = self.literal_type();
                self.number(type_);
                return Ok(word);
            }
            OperandKind::LiteralExtInstInteger => match self.decoded.set(self.last_id).and_then(|s| s.by_number(word)) {
                Some(instruction) => {
                    let _ = write!(self.out, " {}", instruction.opname);
                }
                None => {
                    let _ = write!(self.out, " {word}");
                }
            },
            OperandKind::LiteralSpecConstantOpInteger => {
                let name = u16::try_from(word).ok().and_then(grammar::instruction).map_or("", |i| i.opname);
                let _ = write!(self.out, " {name}");
            }
            kind => match grammar::enumeration_of(kind).and_then(|e| e.text(word)) {
                Some(text) => {
                    let _ = write!(self.out, " {text}");
                }
                None => {
                    let _ = write!(self.out, " {word}");
                }
            },
        }
        self.at += 1;
        Ok(word)
    }

    fn set_instruction(&mut self, number: u32) -> Result<Option<&'static SetInstruction>, Self::Error> {
        Ok(self.decoded.set(self.last_id).and_then(|set| set.by_number(number)))
    }
}
