//! The inputs of a dispatch on a command line: typed values for buffers and push constants, places,
//! and values for specialization constants.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::str::FromStr;

use rspirv::spirv::{Decoration, MAGIC_NUMBER};
use smallstep_semantics::image::{Image, Sampler};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::literal::{self, NumberType};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::words::HEADER_WORDS;
use smallstep_semantics::spirv::{LoadError, Specialization, decode, spec_constants};

use super::bound;
use super::show::scalar_text;
use crate::dispatch::MAX_BUFFER_BYTES;

/// A descriptor set and a binding in it, written `S.B`. Of an array of descriptors, with the index
/// of a descriptor: `S.B[I]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The descriptor set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The index in an array of descriptors. `None` if there is only one, or all are meant.
    pub element: Option<u32>,
}

impl Place {
    /// The place with that set and binding.
    pub fn new(set: u32, binding: u32) -> Place {
        Place { set, binding, element: None }
    }

    /// The set and the binding.
    pub fn whole(self) -> (u32, u32) {
        (self.set, self.binding)
    }

    /// The place of `items[index]`. If several have its set and binding, they are the elements of
    /// an array of descriptors, in order. `of` gives the set and binding of an item.
    pub fn of<T>(items: &[T], index: usize, of: impl Fn(&T) -> (u32, u32)) -> Place {
        let (set, binding) = of(&items[index]);
        let is_same = |item: &&T| of(item) == (set, binding);
        let is_array = items.iter().filter(is_same).nth(1).is_some();
        let element = is_array.then(|| items[..index].iter().filter(is_same).count() as u32);
        Place { set, binding, element }
    }

    /// The index of the item at this place, the inverse of [`Place::of`].
    pub fn position<T>(self, items: &[T], of: impl Fn(&T) -> (u32, u32)) -> Option<usize> {
        let mut at_place = (0..items.len()).filter(|&index| of(&items[index]) == self.whole());
        at_place.nth(self.element.unwrap_or(0) as usize)
    }

    /// The item at this place.
    pub fn find<T>(self, items: &[T], of: impl Fn(&T) -> (u32, u32)) -> Option<&T> {
        self.position(items, of).map(|index| &items[index])
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.set, self.binding)?;
        self.element.map_or(Ok(()), |element| write!(f, "[{element}]"))
    }
}

impl FromStr for Place {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Place, InvalidInput> {
        let parts = text.split_once('.').and_then(|(set, binding)| Some((set.parse().ok()?, binding.parse().ok()?)));
        let (set, binding) = parts.ok_or_else(|| {
            InvalidInput::new(InputFault::Text, format!("\"{text}\" is no place; write descriptor set and binding as 0.1"))
        })?;
        Ok(Place::new(set, binding))
    }
}

/// The source of bytes: `FILE`, or `type:v,v,…`. Each `v` may be `v*N`. Zero is a value of
/// every type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The bytes of a file.
    File(String),
    /// Bytes from values.
    Bytes(Vec<u8>),
}

/// The source of an image: `FILE.png`, or `FORMAT WxH TEXEL…` as in [`bound::image`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Texels {
    /// The picture of a file.
    File(String),
    /// An image from texels.
    Image(Image),
}

impl FromStr for Texels {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Texels, InvalidInput> {
        match text.ends_with(".png") {
            true => Ok(Texels::File(text.into())),
            false => bound::image(text).map(Texels::Image),
        }
    }
}

/// A sampler, in the form of [`bound::sampler`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled(pub Sampler);

impl FromStr for Sampled {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Sampled, InvalidInput> {
        bound::sampler(text).map(Sampled)
    }
}

/// The types of values, by name.
const TYPES: [(&str, NumberType); 11] = [
    ("u8", NumberType::Integer { width: 8, signed: false }),
    ("i8", NumberType::Integer { width: 8, signed: true }),
    ("u16", NumberType::Integer { width: 16, signed: false }),
    ("i16", NumberType::Integer { width: 16, signed: true }),
    ("f16", NumberType::Float { width: 16 }),
    ("u32", NumberType::Integer { width: 32, signed: false }),
    ("i32", NumberType::Integer { width: 32, signed: true }),
    ("f32", NumberType::Float { width: 32 }),
    ("u64", NumberType::Integer { width: 64, signed: false }),
    ("i64", NumberType::Integer { width: 64, signed: true }),
    ("f64", NumberType::Float { width: 64 }),
];

impl FromStr for Contents {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Contents, InvalidInput> {
        let Some((name, values)) = text.split_once(':') else {
            let types = [NumberType::Float { width: 64 }, NumberType::Integer { width: 64, signed: false }];
            let is_number = |item: &str| {
                let value = item.split('*').next().unwrap_or(item).trim();
                types.into_iter().any(|type_| number(value, type_).is_some())
            };
            return match text {
                "" => Err(InvalidInput::new(InputFault::Text, "there is neither a file nor type:v,v,…")),
                values if values.split(',').all(is_number) => Err(InvalidInput::new(
                    InputFault::Text,
                    format!("\"{values}\" has no type; write it as u32:{values}, or as ./{values} if it is a file"),
                )),
                file => Ok(Contents::File(file.into())),
            };
        };
        if let Some((_, type_)) = TYPES.iter().find(|(known, _)| *known == name) {
            return bytes_of(values, *type_).map(Contents::Bytes);
        }
        let like_a_type =
            name.strip_prefix(['u', 'i', 'f']).is_some_and(|width| width.bytes().all(|b| b.is_ascii_digit()) && !width.is_empty());
        if like_a_type {
            let known: Vec<&str> = TYPES.iter().map(|(known, _)| *known).collect();
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("no type of values is called \"{name}\"; there are {}", known.join(", ")),
            ));
        }
        Ok(Contents::File(text.into()))
    }
}

fn bytes_of(values: &str, type_: NumberType) -> Result<Vec<u8>, InvalidInput> {
    let mut bytes = Vec::new();
    for item in values.split(',').map(str::trim) {
        let (value, times) = match item.split_once('*') {
            None => (item, 1),
            Some((value, times)) => (
                value,
                times.parse::<u64>().map_err(|_| {
                    InvalidInput::new(InputFault::Text, format!("\"{times}\" in \"{item}\" is no count; write it as {value}*16"))
                })?,
            ),
        };
        let bits = number(value, type_).ok_or_else(|| InvalidInput::new(InputFault::Text, format!("\"{value}\" is no {type_}")))?;
        let one = &bits.to_le_bytes()[..type_.width() as usize / 8];
        let after = times.checked_mul(one.len() as u64).and_then(|more| more.checked_add(bytes.len() as u64));
        if after.is_none_or(|after| after > MAX_BUFFER_BYTES) {
            return Err(InvalidInput::new(InputFault::Text, format!("\"{item}\" makes more than {MAX_BUFFER_BYTES} bytes")));
        }
        bytes.extend(one.iter().copied().cycle().take(one.len() * times as usize));
    }
    Ok(bytes)
}

/// The bits of a number: decimal or hexadecimal, and for floats also `inf`, `-inf` and `nan`.
/// `zero` is a value of any type.
fn number(text: &str, type_: NumberType) -> Option<u64> {
    if text == "zero" {
        return Some(0);
    }
    let NumberType::Float { width } = type_ else {
        // In a list of numbers a leading 0 does not mean octal.
        let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
        let is_decimal = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty();
        let significant = digits.trim_start_matches('0');
        return match is_decimal {
            true => literal::parse(&format!("{sign}{}", if significant.is_empty() { "0" } else { significant }), type_),
            false => literal::parse(text, type_),
        };
    };
    let (infinity, quiet, sign) = match width {
        16 => (0x7c00, 0x7e00, 1 << 15),
        32 => (0x7f80_0000, 0x7fc0_0000, 1 << 31),
        _ => (0x7ff0 << 48, 0x7ff8 << 48, 1 << 63),
    };
    match text {
        "inf" => Some(infinity),
        "-inf" => Some(infinity | sign),
        "nan" => Some(quiet),
        _ => literal::parse(text, type_),
    }
}

/// Bytes in the form of a command line. They are values of type `type_` if they have such values,
/// otherwise words or bytes.
pub fn written(bytes: &[u8], type_: Option<Type>) -> String {
    let typed = type_.and_then(|type_| {
        let (prefix, width) = match type_ {
            Type::Int { width, signed: true } => ("i", width),
            Type::Int { width, .. } => ("u", width),
            Type::Float { width } => ("f", width),
            _ => return None,
        };
        Some((format!("{prefix}{width}"), listed(bytes, usize::from(width / 8), &|bits| scalar_text(type_, bits).to_lowercase())?))
    });
    if let Some((name, values)) = typed {
        let text = format!("{name}:{values}");
        // A number that does not read back as itself, such as a NaN with a payload, is written by
        // its bits.
        if matches!(text.parse(), Ok(Contents::Bytes(read)) if read == bytes) {
            return text;
        }
    }
    let bits = |bits: u64| if bits < 10 { bits.to_string() } else { format!("{bits:#x}") };
    match listed(bytes, 4, &bits) {
        Some(values) => format!("u32:{values}"),
        None => format!("u8:{}", listed(bytes, 1, &bits).unwrap_or_default()),
    }
}

/// The numbers of `size` bytes, with equal neighbours as `v*N`. `None` if there are no bytes, or
/// not a whole number of numbers.
fn listed(bytes: &[u8], size: usize, text: &dyn Fn(u64) -> String) -> Option<String> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
        return None;
    }
    let mut runs: Vec<(u64, usize)> = Vec::new();
    for chunk in bytes.chunks(size) {
        let bits = chunk.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        match runs.last_mut() {
            Some((last, times)) if *last == bits => *times += 1,
            _ => runs.push((bits, 1)),
        }
    }
    let texts = runs.into_iter().map(|(bits, times)| if times == 1 { text(bits) } else { format!("{}*{times}", text(bits)) });
    Some(texts.collect::<Vec<_>>().join(","))
}

/// A value for a place, written `S.B=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<T> {
    /// The place.
    pub place: Place,
    /// The value.
    pub given: T,
}

impl<T: FromStr<Err: std::fmt::Display>> FromStr for Assignment<T> {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Assignment<T>, InvalidInput> {
        let (place, value) =
            text.split_once('=').ok_or_else(|| InvalidInput::new(InputFault::Text, format!("\"{text}\" has no =; write it as 0.1=…")))?;
        Ok(Assignment {
            place: place.parse()?,
            given: value.parse().map_err(|e: T::Err| InvalidInput::new(InputFault::Text, e.to_string()))?,
        })
    }
}

/// A value for a specialization constant that is not looked up yet. It is written `SPECID=v`, or
/// `NAME=v` for WSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specialized {
    /// The SpecId or the name.
    pub constant: String,
    /// The value.
    pub value: String,
}

impl FromStr for Specialized {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Specialized, InvalidInput> {
        match text.split_once('=').map(|(constant, value)| (constant.trim(), value.trim())) {
            Some((constant, value)) if !constant.is_empty() => Ok(Specialized { constant: constant.into(), value: value.into() }),
            _ => Err(InvalidInput::new(
                InputFault::Text,
                format!("\"{text}\" gives no specialization constant a value; write SpecId, or of WSL the name, and value as 3=64"),
            )),
        }
    }
}

/// A value for a specialization constant, written `SPECID=v`. The type of the constant decides the
/// meaning of `v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecValue {
    /// The SpecId.
    pub id: u32,
    /// The value.
    pub value: String,
}

impl FromStr for SpecValue {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<SpecValue, InvalidInput> {
        text.parse::<Specialized>()?.by_id()
    }
}

impl Specialized {
    /// The value with its SpecId, for a SPIR-V module.
    ///
    /// # Errors
    /// The constant is not named by its SpecId.
    pub fn by_id(&self) -> Result<SpecValue, InvalidInput> {
        let Specialized { constant, value } = self;
        let id = constant
            .parse()
            .map_err(|_| InvalidInput::new(InputFault::Text, format!("\"{constant}\" is no SpecId; write SpecId and value as 3=64")))?;
        Ok(SpecValue { id, value: value.clone() })
    }
}

/// The reason why there is no specialization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSpecialized {
    /// The words are not a module.
    Words(LoadError),
    /// A value has no constant, or the wrong type. The text is a sentence.
    Value(String),
}

impl std::fmt::Display for NotSpecialized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotSpecialized::Words(error) => error.fmt(f),
            NotSpecialized::Value(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for NotSpecialized {}

/// The values in the form of the loader, each read by the type of its constant.
pub fn specialization(words: &[u32], values: &[SpecValue]) -> Result<Vec<Specialization>, NotSpecialized> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    // A nonzero schema, which a lenient load accepts, does not matter here.
    let mut words = words.to_vec();
    if let [MAGIC_NUMBER, ..] = words.as_slice()
        && let Some(schema) = words.get_mut(HEADER_WORDS - 1)
    {
        *schema = 0;
    }
    let wrong = |what: String| Err(NotSpecialized::Value(what));
    let constants = spec_constants(&words).map_err(NotSpecialized::Words)?;
    let decoded = decode(&words).map_err(|e| NotSpecialized::Words(e.into()))?;
    let mut specialization: Vec<Specialization> = Vec::new();
    for SpecValue { id, value } in values {
        let Some(constant) = constants.iter().find(|c| c.id == *id) else {
            let ids: Vec<String> = constants.iter().map(|c| c.id.to_string()).take(16).collect();
            let ids = if ids.is_empty() { "none".into() } else { ids.join(", ") };
            return wrong(format!("no constant has the {:?} {id}; the module has {ids}", Decoration::SpecId));
        };
        if specialization.iter().any(|s| s.id == *id) {
            return wrong(format!("{:?} {id} has two values", Decoration::SpecId));
        }
        let declared = decoded.instructions.iter().find(|i| i.result == constant.type_);
        let type_ = match declared.map(|i| (i.op, i.operands(&words))) {
            Some((Op::TypeInt, &[width, signed, ..])) => Some(NumberType::Integer { width, signed: signed != 0 }),
            Some((Op::TypeFloat, &[width, ..])) => Some(NumberType::Float { width }),
            _ => None,
        };
        let bits = match (type_, value.as_str()) {
            (None, "true" | "1") => Some(1),
            (None, "false" | "0" | "zero") => Some(0),
            (None, _) => None,
            (Some(type_), value) => number(value, type_),
        };
        let Some(bits) = bits else {
            let type_ = type_.map_or("Boolean".into(), |t| t.to_string());
            return wrong(format!("\"{value}\" for {:?} {id} is no {type_}", Decoration::SpecId));
        };
        specialization.push(Specialization { id: *id, bits });
    }
    Ok(specialization)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        match text.parse() {
            Ok(Contents::Bytes(bytes)) => bytes,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values_are_little_endian_of_their_width() {
        assert_eq!(bytes("u32:1,0xff,zero"), [1, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes("i16:-2,010"), [0xfe, 0xff, 10, 0]);
        assert_eq!(bytes("u8:7*3,1"), [7, 7, 7, 1]);
        assert_eq!(bytes("f32:1.5,-inf,nan"), [0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xff, 0, 0, 0xc0, 0x7f]);
        assert_eq!(bytes("f16:1"), [0, 0x3c]);
        assert_eq!(bytes("u64:zero*2"), [0; 16]);
        assert_eq!(bytes("i64:-1"), [255; 8]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let float = Some(Type::Float { width: 32 });
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        for (bytes_given, type_, text) in [
            (words(&[1, 7, 7, 0xffff_ffff]), Some(Type::Int { width: 32, signed: true }), "i32:1,7*2,-1"),
            (words(&[0x3fc0_0000, 0xff80_0000, 0x7fc0_0000]), float, "f32:1.5,-inf,nan"),
            (words(&[0x7fc0_0001, 0]), float, "u32:0x7fc00001,0"),
            (words(&[0x8000_0000, 1]), float, "f32:-0,0.000000000000000000000000000000000000000000001"),
            (vec![1, 2, 16], None, "u8:1,2,0x10"),
            (words(&[9, 10]), None, "u32:9,0xa"),
        ] {
            assert_eq!(written(&bytes_given, type_), text);
            assert_eq!(bytes(text), bytes_given);
        }
    }

    #[test]
    fn what_is_no_value_is_named() {
        for (text, message) in [
            ("u8:256", "\"256\" is no 8-bit unsigned integer"),
            ("u32:-1", "\"-1\" is no"),
            ("u32:1,,2", "\"\" is no"),
            ("f32:x", "\"x\" is no 32-bit float"),
            ("u33:1", "no type of values is called \"u33\""),
            ("u32:1*x", "\"x\" in \"1*x\" is no count"),
            ("u64:0*99999999999999999999", "is no count"),
            ("u64:0*9999999999999999999", "makes more than"),
            ("", "neither a file"),
        ] {
            let error = text.parse::<Contents>().expect_err(text);
            assert!(error.what.contains(message), "{text}: {error}");
        }
        for text in ["1,2,3", "0.5", "-1", "7*4", "0x10", "zero"] {
            let error = text.parse::<Contents>().expect_err("no type");
            assert!(error.what.contains(&format!("write it as u32:{text}")), "{text}: {error}");
        }
        assert_eq!("./1".parse(), Ok(Contents::File("./1".into())), "a file may have a number for a name");
        assert_eq!("1,x".parse(), Ok(Contents::File("1,x".into())));
        assert_eq!("a:b".parse(), Ok(Contents::File("a:b".into())), "other names with a colon are files");
        assert!("0=u32:1".parse::<Assignment<Contents>>().is_err());
        assert_eq!("3 = 64".parse(), Ok(SpecValue { id: 3, value: "64".into() }));
        assert_eq!("scale=-0.5".parse(), Ok(Specialized { constant: "scale".into(), value: "-0.5".into() }));
        assert_eq!("scale=1".parse::<SpecValue>().expect_err("a name").what, "\"scale\" is no SpecId; write SpecId and value as 3=64");
        assert!("scale".parse::<Specialized>().is_err() && "=1".parse::<Specialized>().is_err());
        assert!("0.1".parse::<Assignment<Contents>>().is_err());
    }
}
