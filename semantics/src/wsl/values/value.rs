//! Values as text: in WSL syntax, with the possible values of unspecified ones.

use crate::number::sets::Span;
use crate::text::deep;
use crate::wsl::layout::Layouts;
use crate::wsl::open::Possible;
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::Program;
use std::fmt::Write;

/// The most possible values of a scalar that are listed.
const LISTED: usize = 16;

/// A value of that type, from the possible values of its words: `42`, `0.5`, `true`, `E.A`,
/// `float2(1.0, 2.0)`, `{ 1, 2, 3 }`, `S { a: 1, b: { true, false } }`. A scalar with several
/// possible values is `one of 1, 2, 3`. A float of a set is `within [0.25, 0.5]`. A scalar of which
/// nothing is known is `unspecified`.
pub fn show(program: &Program, ty: TypeId, words: &[Possible]) -> String {
    let mut printer = Printer { program, layouts: Layouts::default(), out: String::new() };
    printer.value(ty, words);
    printer.out
}

/// The scalars of a value of that type, each with its word index and its type. Fields are in the
/// order of their declaration, elements of arrays in the order of their indices, and matrices
/// column by column. A value of an enum has the enum's base type. `None` if there are more than
/// `most` scalars, or if the type contains something that is no number: a pointer, an array
/// reference, a texture or a sampler.
pub fn scalars(program: &Program, ty: TypeId, most: usize) -> Option<Vec<(usize, Scalar)>> {
    let mut all = Vec::new();
    collect(program, &mut Layouts::default(), ty, 0, most, &mut all).then_some(all)
}

fn collect(program: &Program, layouts: &mut Layouts, ty: TypeId, at: usize, most: usize, all: &mut Vec<(usize, Scalar)>) -> bool {
    let env = &program.env;
    let (of, count, stride) = match env.types.get(ty) {
        Type::Void => return true,
        Type::Scalar(of) | Type::Atomic(of) => {
            all.push((at, of));
            return all.len() <= most;
        }
        Type::Enum(id) => {
            all.push((at, if env.enumeration(id).base == TypeId::UINT { Scalar::Uint } else { Scalar::Int }));
            return all.len() <= most;
        }
        Type::Vector(of, n) => (TypeId::scalar(of), usize::from(n), 1),
        Type::Matrix(of, columns, rows) => (TypeId::vector(of, rows), usize::from(columns), usize::from(rows).next_power_of_two()),
        Type::Array(of, n) => (of, n as usize, layouts.of(env, of).map_or(0, |l| l.size as usize / 4)),
        Type::Struct(id) => {
            let Some(offsets) = layouts.offsets(env, id).map(<[u64]>::to_vec) else { return false };
            let mut fields = env.structure(id).fields.iter().zip(offsets);
            return fields.all(|(field, o)| deep(|| collect(program, layouts, field.ty, at + o as usize / 4, most, all)));
        }
        Type::Pointer(..) | Type::ArrayReference(..) | Type::Sampler | Type::Texture(..) => return false,
    };
    // Elements that take no memory have no scalars, however many there are.
    stride == 0 || (0..count).all(|i| deep(|| collect(program, layouts, of, at + i * stride, most, all)))
}

struct Printer<'a> {
    program: &'a Program,
    layouts: Layouts,
    out: String,
}

/// A `float` in a form that reads back to the same bits. NaN and infinities have names.
pub fn float(bits: u32) -> String {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        "nan".into()
    } else if x.is_infinite() {
        if x > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        // WSL's literals have no exponents.
        let text = x.to_string();
        if text.contains('.') { text } else { format!("{text}.0") }
    }
}

/// A scalar's bits as text.
pub fn scalar(of: Scalar, bits: u32) -> String {
    match of {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::Uint => bits.to_string(),
        Scalar::Int => (bits as i32).to_string(),
        Scalar::Float => float(bits),
    }
}

impl Printer<'_> {
    fn size(&mut self, ty: TypeId) -> usize {
        self.layouts.of(&self.program.env, ty).map_or(0, |l| l.size as usize / 4)
    }

    fn list(&mut self, open: &str, close: &str, parts: impl Iterator<Item = (TypeId, usize)>, words: &[Possible]) {
        self.out.push_str(open);
        for (i, (ty, at)) in parts.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            let size = self.size(ty);
            self.value(ty, words.get(at..at + size).unwrap_or_default());
        }
        self.out.push_str(close);
    }

    fn print_scalar(&mut self, word: Option<&Possible>, text: impl Fn(u32) -> String, key: impl Fn(u32) -> i64) {
        match word {
            Some(Possible::Values(values)) => match values[..] {
                [only] => self.out.push_str(&text(only)),
                _ => {
                    let mut values = values.clone();
                    values.sort_by_key(|&v| key(v));
                    let listed: Vec<String> = values.iter().take(LISTED).map(|&v| text(v)).collect();
                    let _ = write!(self.out, "one of {}", listed.join(", "));
                    if let (Some(&last), true) = (values.last(), values.len() > LISTED) {
                        let _ = write!(self.out, ", … {} ({} values)", text(last), values.len());
                    }
                }
            },
            Some(Possible::Floats(set)) => {
                let span = |s: &Span| format!("[{}, {}]", float((s.low as f32).to_bits()), float((s.high as f32).to_bits()));
                let spans: Vec<String> = set.spans().iter().map(span).collect();
                let nan = if set.has_nan() { " or nan" } else { "" };
                let _ = write!(self.out, "within {}{nan}", spans.join(" or "));
            }
            Some(Possible::Any) | None => self.out.push_str("unspecified"),
        }
    }

    fn value(&mut self, ty: TypeId, words: &[Possible]) {
        deep(|| self.value_of(ty, words));
    }

    fn value_of(&mut self, ty: TypeId, words: &[Possible]) {
        let env = &self.program.env;
        match env.types.get(ty) {
            Type::Void => self.out.push_str("void"),
            Type::Scalar(of) | Type::Atomic(of) => self.print_scalar(
                // The bits of a float within bounds, read as an integer, are too many to list.
                words.first().filter(|word| of == Scalar::Float || !matches!(word, Possible::Floats(_))),
                |bits| scalar(of, bits),
                |bits| match of {
                    Scalar::Int => i64::from(bits as i32),
                    // Negative floats come first, the least of them at the front.
                    Scalar::Float if bits >> 31 == 1 => -i64::from(bits & 0x7fff_ffff) - 1,
                    _ => i64::from(bits),
                },
            ),
            Type::Enum(id) => {
                let of = env.enumeration(id);
                let name = env.names.name(of.name).to_string();
                let elements: Vec<(String, u32)> = of.elements.iter().map(|e| (env.names.name(e.0).to_string(), e.1)).collect();
                let text = move |bits: u32| match elements.iter().find(|e| e.1 == bits) {
                    Some((element, _)) => format!("{name}.{element}"),
                    None => bits.to_string(),
                };
                self.print_scalar(words.first(), text, i64::from);
            }
            Type::Vector(of, n) => {
                let open = format!("{}(", env.type_name(ty));
                self.list(&open, ")", (0..usize::from(n)).map(|i| (TypeId::scalar(of), i)), words);
            }
            Type::Matrix(of, columns, rows) => {
                let open = format!("{}(", env.type_name(ty));
                let column = usize::from(rows).next_power_of_two();
                self.list(&open, ")", (0..usize::from(columns)).map(|i| (TypeId::vector(of, rows), i * column)), words);
            }
            Type::Array(of, n) => {
                let stride = self.size(of);
                self.list("{ ", " }", (0..n as usize).map(|i| (of, i * stride)), words);
            }
            Type::Struct(id) => {
                let (name, fields) = (env.names.name(env.structure(id).name), &env.structure(id).fields);
                let names: Vec<(String, TypeId)> = fields.iter().map(|f| (env.names.name(f.name).to_string(), f.ty)).collect();
                let _ = write!(self.out, "{name} {{ ");
                let offsets: Vec<u64> = self.layouts.offsets(env, id).map(<[u64]>::to_vec).unwrap_or_default();
                for (i, ((field, ty), offset)) in names.into_iter().zip(offsets).enumerate() {
                    let _ = write!(self.out, "{}{field}: ", if i > 0 { ", " } else { "" });
                    let (at, size) = (offset as usize / 4, self.size(ty));
                    self.value(ty, words.get(at..at + size).unwrap_or_default());
                }
                self.out.push_str(" }");
            }
            Type::Pointer(..) => self.out.push_str("a pointer"),
            Type::ArrayReference(..) => {
                self.out.push_str("a reference to elements: ");
                self.print_scalar(words.get(1), |n| n.to_string(), i64::from);
            }
            Type::Sampler => self.out.push_str("a sampler"),
            Type::Texture(..) => self.out.push_str("a texture"),
        }
    }
}
