//! Prints a buffer by the type of its variable: one element after another, with the names of
//! members if there are any.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use smallstep_semantics::image::{Image, Numeric, Robustness, Rules, Shape};
use smallstep_semantics::number::integer;
use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::environment::{ObservedBuffer, ObservedImage, UndefinedBytes};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::module::Variable;
use smallstep_semantics::spirv::shared::runtime_length;
use smallstep_semantics::spirv::types::{Address, Type};
use smallstep_semantics::spirv::words::string_at;

use super::report::Invocations;

/// The greatest width of a row of elements, in characters.
const WIDTH: usize = 110;

/// A scalar, a vector or a matrix in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The path of members and indices, such as `particles[3].mass`, without its own index.
    pub path: String,
    /// The index. `None` if it is not an element of an array.
    pub index: Option<u64>,
    /// The value, such as `1`, `(1, 2)` or `((1, 0), (0, 1))`. An undefined component is `any`.
    pub text: String,
    /// The origin of its first undefined component, such as `%17 = OpUndef by invocation (0,0,0)`.
    /// `None` if all components are defined.
    pub made: Option<String>,
}

impl Element {
    /// The whole path, such as `particles[3].mass` or `values[7]`.
    pub fn place(&self) -> String {
        self.index.map_or_else(|| self.path.clone(), |i| format!("{}[{i}]", self.path))
    }
}

/// The texels of an image in order, such as `(1, 0.5)`. An undefined component is `any`.
pub fn texels(observed: &ObservedImage) -> Vec<String> {
    let Ok(mut image) = Image::of_shape(observed.format, Shape::D2Array, observed.size, 1) else { return Vec::new() };
    if image.fill(0, &observed.bytes).is_err() {
        return Vec::new();
    }
    let [width, height, slices] = observed.size.map(u64::from);
    let (numeric, channels) = (observed.format.numeric(), observed.format.channels().len());
    let number = |bits: u32| match numeric {
        Numeric::Sint => (bits as i32).to_string(),
        Numeric::Uint => bits.to_string(),
        _ => f32::from_bits(bits).to_string(),
    };
    let texel = |at: u64| {
        let at_place = [at % width, at / width % height, at / width / height].map(|x| x as i64);
        let texel = image.fetch_by(&Rules::default(), at_place, 0, Robustness::None);
        let undefined = |c: usize| observed.undefined.iter().any(|u| usize::from(u.component) == c && (u.start..u.end).contains(&at));
        let components = (0..channels).map(|c| if undefined(c) { "any".into() } else { number(texel.bits[c]) });
        format!("({})", components.collect::<Vec<_>>().join(", "))
    };
    (0..width * height * slices).map(texel).collect()
}

/// The callback of [`places`]. Its arguments are path, index and address.
pub type Visit<'v> = dyn FnMut(&str, Option<u64>, Address) -> ControlFlow<()> + 'v;

/// Visits every scalar, vector and matrix of a buffer of `bytes` bytes, in order, until the
/// callback breaks. The callback gets the path of members and indices, the index in an array if it
/// is an element of one, and the address.
pub fn places(spirv: &Module, variable: &Variable, bytes: u64, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let mut names = FxHashMap::default();
    for i in spirv.instructions().iter().filter(|i| i.is(Op::MemberName)) {
        let operands = i.operands(spirv.words());
        if let Ok((name, _)) = string_at(&operands[2..])
            && !name.is_empty()
        {
            names.insert((operands[0], operands[1]), name);
        }
    }
    Places { spirv, bytes, names }.visit(Address::whole(spirv.resource_type(variable)), "", None, visit)
}

struct Places<'a> {
    spirv: &'a Module,
    bytes: u64,
    names: FxHashMap<(u32, u32), String>,
}

impl Places<'_> {
    /// Types nest at most 255 levels deep, so recursion is safe.
    fn visit(&self, at: Address, path: &str, index: Option<u64>, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let types = self.spirv.types();
        let full = || index.map_or_else(|| path.to_string(), |i| format!("{path}[{i}]"));
        match types.get(at.type_) {
            Some(Type::Struct { count, .. }) => {
                let path = full();
                for member in 0..count {
                    let Some(next) = types.address(at, member.into()) else { continue };
                    let name = self.names.get(&(at.type_, member)).cloned().unwrap_or_else(|| format!("member {member}"));
                    self.visit(next, &if path.is_empty() { name } else { format!("{path}.{name}") }, None, visit)?;
                }
                ControlFlow::Continue(())
            }
            Some(Type::Array { .. } | Type::RuntimeArray { .. }) => {
                let path = full();
                let length = match types.get(at.type_) {
                    Some(Type::Array { length, .. }) => length,
                    _ => runtime_length(self.spirv, &at, self.bytes).unwrap_or(0),
                };
                for i in 0..length {
                    let Some(next) = types.address(at, i).filter(|next| next.offset < self.bytes) else { break };
                    self.visit(next, &path, Some(i), visit)?;
                }
                ControlFlow::Continue(())
            }
            _ => visit(path, index, at),
        }
    }
}

/// Visits every element of a buffer, in order, until the callback breaks. It ends at an element
/// that the buffer does not contain completely.
pub fn elements(
    invocations: Invocations<'_>,
    variable: &Variable,
    buffer: &ObservedBuffer,
    visit: &mut dyn FnMut(Element) -> ControlFlow<()>,
) {
    let reading = Reading { invocations, buffer };
    let _ = places(invocations.module(), variable, buffer.bytes.len() as u64, &mut |path, index, at| {
        let mut made = None;
        match reading.text(at, &mut made) {
            Some(text) => visit(Element { path: path.into(), index, text, made }),
            None => ControlFlow::Break(()),
        }
    });
}

struct Reading<'a> {
    invocations: Invocations<'a>,
    buffer: &'a ObservedBuffer,
}

impl Reading<'_> {
    fn text(&self, at: Address, origin: &mut Option<String>) -> Option<String> {
        let types = self.invocations.module().types();
        if let Some(parts @ 1..) = types.parts(at.type_) {
            let texts: Option<Vec<String>> = (0..parts).map(|i| self.text(types.address(at, i)?, origin)).collect();
            return Some(format!("({})", texts?.join(", ")));
        }
        let type_ = types.get(at.type_)?;
        let bytes = u64::from(type_.width()? / 8);
        let end = at.offset.checked_add(bytes)?;
        let stored = self.buffer.bytes.get(usize::try_from(at.offset).ok()?..usize::try_from(end).ok()?)?;
        if let Some(bytes) = self.undefined_within(at.offset, end) {
            origin.get_or_insert_with(|| self.invocations.origin(bytes));
            return Some("any".into());
        }
        let bits = stored.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        Some(scalar_text(type_, bits))
    }

    fn undefined_within(&self, start: u64, end: u64) -> Option<&UndefinedBytes> {
        let first = self.buffer.undefined.partition_point(|u| u.end <= start);
        self.buffer.undefined.get(first).filter(|u| u.start < end)
    }
}

/// The text of a scalar as a number.
pub fn scalar_text(type_: Type, bits: u64) -> String {
    match type_ {
        Type::Float { width: 32 } => f32::from_bits(bits as u32).to_string(),
        Type::Float { width: 64 } => f64::from_bits(bits).to_string(),
        Type::Float { width: 16 } => half_text(bits as u16),
        Type::Int { width, signed: true } => integer::signed(width, bits).to_string(),
        _ => bits.to_string(),
    }
}

/// The text of a 16-bit float. The shortest decimal is that of the same value as a 32-bit float.
/// NaN and the infinities have names.
fn half_text(bits: u16) -> String {
    let (exponent, fraction) = (bits >> 10 & 31, bits & 0x3ff);
    let sign = if bits >> 15 == 1 { "-" } else { "" };
    match (exponent, fraction) {
        (31, 0) => format!("{sign}inf"),
        (31, _) => "NaN".into(),
        (0, _) => format!("{sign}{}", f32::from(fraction) * 2f32.powi(-24)),
        _ => format!("{sign}{}", f32::from(fraction | 0x400) * 2f32.powi(i32::from(exponent) - 25)),
    }
}

/// A buffer as rows of elements, with at most `most` elements. The last line states the number of
/// bytes that are not shown.
pub fn rows(invocations: Invocations<'_>, variable: &Variable, buffer: &ObservedBuffer, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // The current row: path, first index, end index, text.
    let mut row: Option<(String, u64, u64, String)> = None;
    let flush = |row: &mut Option<(String, u64, u64, String)>, lines: &mut Vec<String>| {
        if let Some((path, first, end, text)) = row.take() {
            let indices = if end - first == 1 { format!("[{first}]") } else { format!("[{first}..{end}]") };
            lines.push(format!("{path}{indices} = {text}"));
        }
    };
    let (mut shown, mut more) = (0usize, false);
    elements(invocations, variable, buffer, &mut |element| {
        if shown == most {
            more = true;
            return ControlFlow::Break(());
        }
        shown += 1;
        match (&element.made, element.index) {
            (None, Some(index)) => {
                if let Some((path, _, end, text)) = &mut row
                    && *path == element.path
                    && *end == index
                    && text.len() + element.text.len() < WIDTH
                {
                    *end += 1;
                    *text += &format!(" {}", element.text);
                } else {
                    flush(&mut row, &mut lines);
                    row = Some((element.path, index, index + 1, element.text));
                }
            }
            (made, _) => {
                flush(&mut row, &mut lines);
                lines.push(match made {
                    None => format!("{} = {}", element.place(), element.text),
                    Some(made) if element.text == "any" => format!("{} = any value, made at {made}", element.place()),
                    Some(made) => format!("{} = {}: any value, made at {made}", element.place(), element.text),
                });
            }
        }
        ControlFlow::Continue(())
    });
    flush(&mut row, &mut lines);
    if more {
        lines.push(format!("… and more than these {shown} elements"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::half_text;

    #[test]
    fn halves_are_their_values() {
        for (bits, text) in
            [(0x3c00, "1"), (0xc000, "-2"), (0x3555, "0.33325195"), (0x0001, "0.000000059604645"), (0x7c00, "inf"), (0xfe00, "NaN")]
        {
            assert_eq!(half_text(bits), text);
        }
    }
}
