//! Data types by name, and STRUCT.

use super::{Named, Parser, Step};
use crate::amber::error::quoted;
use crate::amber::format::{Format, FormatError};
use crate::amber::layout::{DataType, Member, StructType};
use crate::amber::lex::Word;
use crate::amber::limits::MAX_TYPE_DEPTH;
use crate::amber::scalar::Scalar;
use std::sync::Arc;

impl<'t> Parser<'t> {
    /// Reads a type. The flag says whether `[]` follows it.
    pub fn data_type(&mut self) -> Step<(DataType, bool)> {
        let word = self.need("a data type")?;
        let (name, as_array) = word.text.strip_suffix("[]").map_or((word.text, false), |name| (name, true));
        Ok((self.type_named(word, name)?, as_array))
    }

    fn type_named(&self, word: Word<'t>, name: &'t str) -> Step<DataType> {
        // Dimensions stand in the order from outer to inner, as in `float[2][3]`.
        let (mut base, mut dimensions) = (name, Vec::new());
        while let Some((before, count)) = base.strip_suffix(']').and_then(|b| b.rsplit_once('[')) {
            match count.parse::<u32>() {
                Ok(n) if n > 0 && dimensions.len() < MAX_TYPE_DEPTH as usize => dimensions.push(n),
                _ => return Err(self.invalid(word, format!("found {}, where a data type should stand", quoted(word.text)))),
            }
            base = before;
        }
        let mut data_type = self.element_named(word, base)?;
        for count in dimensions {
            data_type = DataType::Array(Arc::new(data_type), count);
        }
        Ok(data_type)
    }

    fn element_named(&self, word: Word<'t>, name: &'t str) -> Step<DataType> {
        if let Some(scalar) = Scalar::named(name) {
            return Ok(DataType::Scalar(scalar));
        }
        if let Some((shape, scalar)) = name.strip_suffix('>').and_then(|n| n.split_once('<')) {
            let size = |c: u8| (b'2'..=b'4').contains(&c).then(|| u32::from(c - b'0'));
            let data_type = Scalar::named(scalar).and_then(|scalar| match shape.as_bytes() {
                [b'v', b'e', b'c', n] => Some(DataType::Vector(scalar, size(*n)?)),
                [b'm', b'a', b't', c, b'x', r] => Some(DataType::Matrix { scalar, columns: size(*c)?, rows: size(*r)? }),
                _ => None,
            });
            return data_type.ok_or_else(|| self.invalid(word, format!("found {}, where a data type should stand", quoted(name))));
        }
        match Format::named(name) {
            Ok(format) => return Ok(DataType::Texel(format)),
            Err(FormatError::Unsupported) => return Err(self.unsupported(word, &format!("the format {name}"))),
            Err(FormatError::Unknown) => {}
        }
        let place = self.place_of(Named::Struct, Word { text: name, ..word }).map_err(|stop| match stop {
            super::Stop::Error(_) => self.invalid(word, format!("found {}, where a data type should stand", quoted(name))),
            named => named,
        })?;
        Ok(DataType::Struct(self.script.structs[place].clone()))
    }

    /// Reads an image format.
    pub fn format(&mut self) -> Step<Format> {
        let word = self.need("an image format")?;
        Format::named(word.text).map_err(|e| match e {
            FormatError::Unknown => self.invalid(word, format!("found {}, where an image format should stand", quoted(word.text))),
            FormatError::Unsupported => self.unsupported(word, &format!("the format {}", word.text)),
        })
    }

    pub(super) fn structure(&mut self, word: Word<'t>) -> Step {
        let name = self.need("the name of a structure")?;
        let errors_before = self.error_count;
        let mut stride = None;
        if self.accept("STRIDE").is_some() {
            let step = self.integer("a number of bytes", u32::MAX.into()).map(|bytes| stride = Some(bytes as u32));
            self.recover(step);
        }
        let end = self.end();
        self.recover(end);
        let mut members: Vec<Member> = Vec::new();
        let mut names = rustc_hash::FxHashSet::default();
        let block = self.block(word, |parser, first| {
            let data_type = parser.type_named(first, first.text)?;
            let member = parser.need("the name of a member")?;
            if !names.insert(member.text) {
                return Err(parser.invalid(member, format!("the member {} is declared twice", quoted(member.text))));
            }
            let mut member = Member { name: member.text.into(), data_type, offset: None, array_stride: None, matrix_stride: None };
            while let Some(option) = parser.lexer.word() {
                let value = match option.text {
                    "OFFSET" => &mut member.offset,
                    "ARRAY_STRIDE" => &mut member.array_stride,
                    "MATRIX_STRIDE" => &mut member.matrix_stride,
                    other => {
                        return Err(parser.invalid(
                            option,
                            format!("found {}, where OFFSET, ARRAY_STRIDE or MATRIX_STRIDE should stand", quoted(other)),
                        ));
                    }
                };
                *value = Some(parser.integer("a number of bytes", u32::MAX.into())? as u32);
            }
            members.push(member);
            Ok(())
        });
        if block.is_err() || self.error_count > errors_before {
            self.failed(Named::Struct, name);
            return block;
        }
        match StructType::new(name.text.into(), stride, members) {
            Err(e) => {
                self.failed(Named::Struct, name);
                Err(self.invalid(name, format!("the structure {}: {e}", quoted(name.text))))
            }
            Ok(declared) => self.declare(Named::Struct, name, |script| {
                script.structs.push(Arc::new(declared));
                script.structs.len() - 1
            }),
        }
    }
}
