//! Buffers as words (seed 002, Mapping buffer types). If WGSL's layout rules cannot express a
//! buffer, or if several types share one binding, the buffer is an array of words. Each access
//! computes the index of its word.
//!
//! A uniform buffer is an array of `vec4<u32>`, because array strides in the uniform address space
//! are multiples of 16. A storage buffer is an array of `u32` or of `atomic<u32>`.

use smallstep_semantics::spirv::Instruction;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::types::{Address, Type};
use smallstep_semantics::text::deep;

use super::function::Body;
use super::layout::{Rep, Stored};
use super::place::{Kind, MAX_PARTS, Place};
use super::text::{COMPONENTS, Expr, Text};
use super::{Refused, Why};

/// The declaration of the words of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// As `array<vec4<u32>, n>`.
    Quads,
    /// As `array<u32>`.
    Plain,
    /// As `array<atomic<u32>>`.
    Atomic,
}

/// A place in a buffer of words.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The type and layout of the memory there, at the constant part of the offset.
    address: Address,
    /// The indices that are not constant, each with its stride in bytes.
    terms: Vec<(Expr, u64)>,
    words: Words,
}

impl Spot {
    /// The whole of a buffer of that type.
    pub(super) fn whole(type_: u32, words: Words) -> Spot {
        Spot { address: Address::whole(type_), terms: Vec::new(), words }
    }

    /// The type of the memory there.
    pub(super) fn type_(&self) -> u32 {
        self.address.type_
    }
}

impl Stored {
    /// A buffer of that type as words. `bytes` is its size, or 0 if unknown.
    pub(super) fn words(type_: u32, words: Words, bytes: u64) -> Stored {
        let text = match words {
            Words::Quads => format!("array<vec4<u32>, {}>", bytes.div_ceil(16).max(1)),
            Words::Plain => "array<u32>".into(),
            Words::Atomic => "array<atomic<u32>>".into(),
        };
        Stored { rep: Rep::Words(type_, words), text: text.into(), align: 16, size: bytes, uniform: true }
    }
}

impl Body<'_, '_> {
    /// A part of a spot. It is selected by `index`, or by `number` if there is no index.
    pub(super) fn part_of_words(
        &mut self,
        place: &Place,
        spot: &Spot,
        number: i64,
        index: Option<Expr>,
        i: &Instruction,
    ) -> Result<Place, Refused> {
        let types = self.convert.module.types();
        let none = |this: &Self| this.convert.refused_at(i, Why::Layout, format!("%{} has no part {number} with a layout", spot.type_()));
        let constant = u64::try_from(number).ok().and_then(|at| types.address(spot.address, at)).filter(|_| index.is_none());
        let mut next = spot.clone();
        match constant {
            Some(address) => next.address = address,
            None => {
                // The index is not constant, or out of range.
                let first = types.address(spot.address, 0).ok_or_else(|| none(self))?;
                let stride = types.address(spot.address, 1).map_or(0, |second| second.offset - first.offset);
                let index = match index {
                    Some(index) => index,
                    None => self.bind(&Expr::literal(format!("{}u", number as u32)))?,
                };
                next.address = first;
                next.terms.push((index, stride));
            }
        }
        Ok(Place { kind: Kind::Words(next), is_whole: false, ..place.clone() })
    }

    /// The index of the word at a spot, without the constant offset. `None` if no index varies.
    fn base(&mut self, spot: &Spot) -> Result<Option<Expr>, Refused> {
        let mut sum: Option<Expr> = None;
        for (index, stride) in &spot.terms {
            let term = match stride / 4 {
                _ if self.convert.plan.forgets_strides() => index.clone(),
                1 => index.clone(),
                words => Expr::binary("*", index, &Expr::literal(format!("{words}u"))),
            };
            sum = Some(match sum {
                Some(sum) => Expr::binary("+", &sum, &term),
                None => term,
            });
        }
        sum.map(|sum| self.bind(&sum)).transpose()
    }

    /// The reference to one word.
    fn word(&self, name: &str, base: Option<&Expr>, offset: u64, words: Words) -> Text {
        let index = if self.convert.plan.misplaces_words() { (offset / 4).saturating_sub(1) } else { offset / 4 };
        let text = match (words, base) {
            (Words::Quads, None) => format!("{name}[{}].{}", index / 4, COMPONENTS[index as usize & 3]),
            (Words::Quads, Some(base)) => {
                let index = match index {
                    0 => base.text.to_string(),
                    index => format!("({} + {index}u)", base.text),
                };
                format!("{name}[{index} >> 2u][{index} & 3u]")
            }
            (_, None) => format!("{name}[{index}]"),
            (_, Some(base)) if index == 0 => format!("{name}[{}]", base.text),
            (_, Some(base)) => format!("{name}[{} + {index}u]", base.text),
        };
        text.into()
    }

    /// The reference to the single word of a spot. Its type may be of either sign.
    pub(super) fn word_at(&mut self, place: &Place, spot: &Spot) -> Result<Text, Refused> {
        let base = self.base(spot)?;
        Ok(self.word(&place.text, base.as_ref(), spot.address.offset, spot.words))
    }

    /// The references to the words of a value, one for each scalar, in order.
    fn scalars_at(&mut self, place: &Place, spot: &Spot, i: &Instruction) -> Result<Vec<Text>, Refused> {
        let types = self.convert.module.types();
        if types.scalars(spot.type_()) > MAX_PARTS {
            return Err(self.convert.refused_at(i, Why::Layout, "so large a value is not read or written word by word"));
        }
        let mut offsets = Vec::new();
        let narrow = types.visit_addresses(spot.address, &mut |offset, width| offsets.push((offset, width))).is_none()
            || offsets.iter().any(|&(offset, width)| width != 32 || offset % 4 != 0)
            || spot.terms.iter().any(|(_, stride)| stride % 4 != 0);
        if narrow {
            return Err(self.convert.refused_at(i, Why::Layout, "only 32-bit numbers at whole words are read and written word by word"));
        }
        let base = self.base(spot)?;
        Ok(offsets.iter().map(|&(offset, _)| self.word(&place.text, base.as_ref(), offset, spot.words)).collect())
    }

    /// Loads the value at a spot.
    pub(super) fn load_words(&mut self, place: &Place, spot: &Spot, i: &Instruction) -> Result<Expr, Refused> {
        let scalars = self.scalars_at(place, spot, i)?;
        let read = |word: &Text| match spot.words {
            Words::Atomic => Expr::call("atomicLoad", &[Expr::name(format!("&{word}"))]),
            _ => Expr::name(word.clone()),
        };
        let mut scalars = scalars.iter().map(read);
        self.gathered(spot.type_(), &mut scalars)
    }

    /// Builds a value from the words of its scalars, in order.
    fn gathered(&mut self, type_: u32, scalars: &mut dyn Iterator<Item = Expr>) -> Result<Expr, Refused> {
        let types = self.convert.module.types();
        let text = self.convert.value_type(type_)?;
        if types.get(type_).is_some_and(Type::is_scalar) {
            let word = scalars.next().unwrap_or_else(|| Expr::literal("0u"));
            return Ok(if &*text == "u32" { word } else { Expr::call(&format!("bitcast<{text}>"), &[word]) });
        }
        if types.is_nothing(type_) {
            return self.convert.zero(type_, None);
        }
        let mut parts = Vec::new();
        for at in 0..types.parts(type_).unwrap_or(0) {
            let Some((part, _)) = types.part(type_, at) else { continue };
            parts.push(deep(|| self.gathered(part, scalars))?);
        }
        Ok(Expr { constant: false, ..Expr::call(&text, &parts) })
    }

    /// Stores a value at a spot.
    pub(super) fn store_words(&mut self, place: &Place, spot: &Spot, value: &Expr, i: &Instruction) -> Result<(), Refused> {
        let words = self.scalars_at(place, spot, i)?;
        let value = if value.constant { self.bind(value)? } else { self.repeatable(value)? };
        let value = Place { text: value.primary(), kind: Kind::Value(spot.type_()), ..Place::default() };
        let mut scalars = Vec::new();
        self.scattered(&value, spot.type_(), &mut scalars, i)?;
        for (word, scalar) in words.iter().zip(scalars) {
            self.line(match spot.words {
                Words::Atomic => format!("atomicStore(&{word}, {});", scalar.argument()),
                _ => format!("{word} = {};", scalar.text),
            });
        }
        Ok(())
    }

    /// The words of the scalars of a value, in order.
    fn scattered(&mut self, value: &Place, type_: u32, scalars: &mut Vec<Expr>, i: &Instruction) -> Result<(), Refused> {
        let types = self.convert.module.types();
        if types.get(type_).is_some_and(Type::is_scalar) {
            let word = Expr::name(value.text.clone());
            let is_word = matches!(self.convert.module.shape(type_).scalar, Scalar::Int { signed: false, .. });
            scalars.push(if is_word { word } else { Expr::call("bitcast<u32>", &[word]) });
            return Ok(());
        }
        if types.is_nothing(type_) {
            return Ok(());
        }
        for at in 0..types.parts(type_).unwrap_or(0) {
            let Some((part, _)) = types.part(type_, at) else { continue };
            let place = self.part(value.clone(), at as i64, None, i)?;
            deep(|| self.scattered(&place, part, scalars, i))?;
        }
        Ok(())
    }

    /// The number of elements of the runtime array at a spot.
    pub(super) fn length_of_words(&mut self, place: &Place, spot: &Spot, i: &Instruction) -> Result<Expr, Refused> {
        let types = self.convert.module.types();
        let stride = match types.get(spot.type_()) {
            Some(Type::RuntimeArray { stride, .. }) => u64::from(stride),
            _ => return Err(self.convert.refused_at(i, Why::Layout, "what is there is no runtime array")),
        };
        let words = Expr::call("arrayLength", &[Expr::name(format!("&{}", place.text))]);
        let bytes =
            Expr::binary("-", &Expr::binary("*", &words, &Expr::literal("4u")), &Expr::literal(format!("{}u", spot.address.offset)));
        Ok(Expr::binary("/", &bytes, &Expr::literal(format!("{stride}u"))))
    }
}
