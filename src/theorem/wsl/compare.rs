//! Compares what the target shows with what the source allows.

use super::subject::Bytes;
use crate::compile::wsl::Binding;
use crate::theorem::{Lanes, expected_bits, expected_text, float_text};
use smallstep_semantics::number::{Expected, Real};
use smallstep_semantics::wsl::group::Resource;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::texture::{Texture, is_writable};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use std::rc::Rc;

/// The numbers of compared scalars, and how the source was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The numbers of scalars that were compared, and of scalars for which the source allows
    /// any value.
    pub lanes: Lanes,
    /// The number of compared scalars for which the source allows several values.
    pub sets: u64,
    /// Whether the source reached an unspecified value.
    pub open: bool,
    /// Whether the relation ran.
    pub by_relation: bool,
}

impl Compared {
    /// Counts a scalar by the values that the source allows.
    pub(super) fn count(&mut self, possible: &Possible) {
        match possible {
            Possible::Any => self.lanes.undecided += 1,
            Possible::Values(values) => {
                self.lanes.checked += 1;
                self.sets += u64::from(values.len() > 1);
            }
            Possible::Floats(_) => {
                self.lanes.checked += 1;
                self.sets += 1;
            }
        }
    }
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.lanes += other.lanes;
        self.sets = self.sets.saturating_add(other.sets);
        self.open |= other.open;
        self.by_relation |= other.by_relation;
    }
}

/// A value of the target that the source does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The difference, as one sentence.
    pub(super) what: String,
    /// For a float: allowed bits and shown bits.
    pub(super) bits: Option<(u32, u32)>,
}

impl From<&str> for Wrong {
    fn from(what: &str) -> Wrong {
        Wrong { what: what.into(), bits: None }
    }
}

impl Wrong {
    /// A wrong scalar at a place.
    pub(super) fn at(place: &str, possible: &Possible, scalar: Scalar, word: u32) -> Wrong {
        let bits = match (scalar, possible) {
            (Scalar::Float, Possible::Values(values)) => values.first().map(|&value| (value, word)),
            (Scalar::Float, Possible::Floats(set)) => Some((expected_bits(Expected::Within(*set), word), word)),
            _ => None,
        };
        Wrong { what: format!("{place} is {} and the source allows {}", text(scalar, word), allowed_text(possible, scalar)), bits }
    }
}

/// The text of a scalar by its WSL type. A float has its bits too.
fn text(scalar: Scalar, word: u32) -> String {
    match scalar {
        Scalar::Bool => (word != 0).to_string(),
        Scalar::Int => (word as i32).to_string(),
        Scalar::Uint => word.to_string(),
        Scalar::Float => float_text(word),
    }
}

/// The most allowed values in a message.
const MAX_NAMED: usize = 8;

fn allowed_text(possible: &Possible, scalar: Scalar) -> String {
    match possible {
        Possible::Any => "any value".into(),
        Possible::Values(values) => {
            let named: Vec<String> = values.iter().take(MAX_NAMED).map(|&value| text(scalar, value)).collect();
            let more = if values.len() > MAX_NAMED { format!(" or {} others", values.len() - MAX_NAMED) } else { String::new() };
            named.join(" or ") + &more
        }
        Possible::Floats(set) => expected_text(Expected::Within(*set)),
    }
}

/// The scalars of a result. Empty for `void`.
pub(super) fn result_leaves(program: &Program, layouts: &mut Layouts, ty: TypeId) -> Option<Vec<(usize, Scalar)>> {
    if ty == TypeId::VOID { Some(Vec::new()) } else { leaves(program, layouts, ty) }
}

/// The scalars of a type, each with the index of its word. `None` if the type is too large.
pub fn leaves(program: &Program, layouts: &mut Layouts, ty: TypeId) -> Option<Vec<(usize, Scalar)>> {
    let mut out = Vec::new();
    add_leaves(program, layouts, ty, 0, &mut out)?;
    Some(out)
}

fn add_leaves(program: &Program, layouts: &mut Layouts, ty: TypeId, at: usize, out: &mut Vec<(usize, Scalar)>) -> Option<()> {
    match program.env.types.get(ty) {
        Type::Scalar(s) | Type::Atomic(s) => out.push((at, s)),
        Type::Vector(s, n) => out.extend((0..n.into()).map(|k: usize| (at + k, s))),
        Type::Matrix(s, columns, rows) => {
            let stride = usize::from(rows).next_power_of_two();
            out.extend((0..columns.into()).flat_map(|c: usize| (0..rows.into()).map(move |r: usize| (at + c * stride + r, s))));
        }
        Type::Enum(id) => add_leaves(program, layouts, program.env.enumeration(id).base, at, out)?,
        Type::Array(element, n) => {
            let stride = layouts.stride(&program.env, element)? as usize / 4;
            for k in 0..n as usize {
                add_leaves(program, layouts, element, at + k * stride, out)?;
            }
        }
        Type::Struct(s) => {
            let offsets = layouts.offsets(&program.env, s)?.to_vec();
            for (field, offset) in program.env.structure(s).fields.iter().zip(offsets) {
                add_leaves(program, layouts, field.ty, at + offset as usize / 4, out)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Whether the source allows a scalar.
pub fn is_allowed(possible: &Possible, scalar: Scalar, shown: u32) -> bool {
    let float = f32::from_bits(shown);
    match possible {
        Possible::Any => true,
        Possible::Values(values) => values.iter().any(|&value| match scalar {
            Scalar::Bool => (value != 0) == (shown != 0),
            Scalar::Float if f32::from_bits(value).is_nan() => float.is_nan(),
            _ => value == shown,
        }),
        Possible::Floats(set) if float.is_nan() => set.has_nan(),
        Possible::Floats(set) => set.contains(f64::from(float.canonical())),
    }
}

/// Compares every component of every texel of a writable texture. A texture that the module does
/// not use keeps its contents.
fn compare_texels<'b>(
    name: &str,
    texture: &Texture,
    mut bindings: impl Iterator<Item = &'b Binding>,
    allowed: &[Possible],
    shown: Bytes,
    compared: &mut Compared,
) -> Result<(), Wrong> {
    let (true, Some(binding)) = (is_writable(texture.kind), bindings.next()) else { return Ok(()) };
    let mut image = (*texture.image).clone();
    let bytes = shown(binding.set, binding.binding);
    if let Some(bytes) = bytes {
        image.fill(0, bytes).map_err(|error| Wrong::from(error.to_string().as_str()))?;
    }
    let after = Texture { kind: texture.kind, image: Rc::new(image) };
    let [width, height, slices] = after.sides(0).map(i64::from);
    let texels = (0..slices).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
    let mut expected = allowed.iter();
    for at in texels {
        for c in 0..after.channels() {
            let (Some(possible), Some(bits)) = (expected.next(), after.texel_bits(0, at, c)) else {
                return Err(format!("{name} has another size").as_str().into());
            };
            let Some(bits) = bits else {
                // Such a texel has no stored value to compare.
                compared.count(&Possible::Any);
                continue;
            };
            if !is_allowed(possible, after.scalar(), bits) {
                let [x, y, z] = at;
                let place = format!("component {c} of the texel at ({x}, {y}, {z}) of {name}");
                return Err(Wrong::at(&place, possible, after.scalar(), bits));
            }
            compared.count(possible);
        }
    }
    Ok(())
}

/// Compares every scalar of every buffer and texture. Returns the counts, or the first value that
/// is not allowed.
pub(super) fn compare(
    program: &Program,
    resources: &[Resource],
    bindings: &[Binding],
    words: &[Vec<Possible>],
    shown: Bytes,
) -> Result<Compared, Wrong> {
    let mut compared = Compared::default();
    let mut layouts = Layouts::default();
    for (resource, allowed) in resources.iter().zip(words) {
        if let Some((texture, _)) = resource.texture() {
            let own_bindings = bindings.iter().filter(|b| b.register == resource.register);
            compare_texels(&resource.name, texture, own_bindings, allowed, shown, &mut compared)?;
        }
        let Some(buffer) = resource.buffer() else { continue };
        let Some(binding) = bindings.iter().find(|b| b.register == resource.register) else { continue };
        let observed = shown(binding.set, binding.binding);
        let stride = buffer.stride.max(1) as usize;
        let leaves = leaves(program, &mut layouts, buffer.element).ok_or("the elements of a buffer are too large")?;
        for element in 0..buffer.words.len() / stride {
            for &(leaf, scalar) in &leaves {
                let at = element * stride + leaf;
                // A buffer that the module does not use keeps its contents.
                let word = match observed {
                    Some(bytes) => bytes.get(4 * at..4 * at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    None => buffer.words.get(at).copied(),
                };
                let (Some(word), Some(possible)) = (word, allowed.get(at)) else { return Err("a buffer has another size".into()) };
                if !is_allowed(possible, scalar, word) {
                    return Err(Wrong::at(&format!("word {leaf} of {}[{element}]", resource.name), possible, scalar, word));
                }
                compared.count(possible);
            }
        }
    }
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_their_types() {
        let (nan, other_nan) = (0x7fc0_0000, 0xffc0_0001);
        let one = |bits| Possible::Values(vec![bits]);
        assert!(is_allowed(&one(nan), Scalar::Float, other_nan) && !is_allowed(&one(nan), Scalar::Uint, other_nan));
        assert!(is_allowed(&one(4), Scalar::Bool, 1) && !is_allowed(&one(4), Scalar::Bool, 0) && !is_allowed(&one(4), Scalar::Int, 1));
        assert!(!is_allowed(&one(0), Scalar::Float, 0x8000_0000) && is_allowed(&Possible::Any, Scalar::Float, 5));
    }
}
