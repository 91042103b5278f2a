//! What the target shows, held against what the source allows.

use super::subject::Bytes;
use crate::compile::wsl::Binding;
use smallstep_semantics::number::Real;
use smallstep_semantics::wsl::group::Resource;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::texture::{Texture, is_writable};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use std::rc::Rc;

/// The scalars of a result; none of `void`.
pub(super) fn result_leaves(program: &Program, layouts: &mut Layouts, ty: TypeId) -> Option<Vec<(usize, Scalar)>> {
    if ty == TypeId::VOID { Some(Vec::new()) } else { leaves(program, layouts, ty) }
}

/// The scalars of a type: in which word each is. None if it is too large.
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
        Type::Array(of, n) => {
            let stride = layouts.stride(&program.env, of)? as usize / 4;
            for k in 0..n as usize {
                add_leaves(program, layouts, of, at + k * stride, out)?;
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

/// Whether a scalar is among what the source allows.
pub fn is_allowed(possible: &Possible, of: Scalar, shown: u32) -> bool {
    let float = f32::from_bits(shown);
    match possible {
        Possible::Any => true,
        Possible::Values(values) => values.iter().any(|&value| match of {
            Scalar::Bool => (value != 0) == (shown != 0),
            Scalar::Float if f32::from_bits(value).is_nan() => float.is_nan(),
            _ => value == shown,
        }),
        Possible::Floats(set) if float.is_nan() => set.has_nan(),
        Possible::Floats(set) => set.contains(f64::from(float.canonical())),
    }
}

/// Every component of every texel of a texture that is written; the first that is not allowed. One
/// that the module does not name keeps what it holds.
fn compare_texels<'b>(
    name: &str,
    texture: &Texture,
    mut bindings: impl Iterator<Item = &'b Binding>,
    allowed: &[Possible],
    shown: Bytes,
) -> Result<(), String> {
    let (true, Some(binding)) = (is_writable(texture.kind), bindings.next()) else { return Ok(()) };
    let Some(bytes) = shown(binding.set, binding.binding) else { return Err(format!("{name} is not shown")) };
    let mut image = (*texture.image).clone();
    image.fill(0, bytes).map_err(|error| error.to_string())?;
    let after = Texture { kind: texture.kind, image: Rc::new(image) };
    let [width, height, slices] = after.sides(0).map(i64::from);
    let texels = (0..slices).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
    let mut expected = allowed.iter();
    for at in texels {
        for c in 0..after.channels() {
            let (Some(possible), Some(Some(bits))) = (expected.next(), after.texel_bits(0, at, c)) else {
                return Err(format!("{name} has another size"));
            };
            if !is_allowed(possible, after.scalar(), bits) {
                return Err(format!("component {c} of texel {at:?} of {name} is {bits:#x} and the source allows {possible:?}"));
            }
        }
    }
    Ok(())
}

/// Every scalar of every buffer and texture; the first that is not allowed.
pub(super) fn compare(
    program: &Program,
    resources: &[Resource],
    bindings: &[Binding],
    words: &[Vec<Possible>],
    shown: Bytes,
) -> Result<(), String> {
    let mut layouts = Layouts::default();
    for (resource, allowed) in resources.iter().zip(words) {
        if let Some((texture, _)) = resource.texture() {
            compare_texels(&resource.name, texture, bindings.iter().filter(|b| b.register == resource.register), allowed, shown)?;
        }
        let Some(buffer) = resource.buffer() else { continue };
        let Some(binding) = bindings.iter().find(|b| b.register == resource.register) else { continue };
        let observed = shown(binding.set, binding.binding);
        let stride = buffer.stride.max(1) as usize;
        let leaves = leaves(program, &mut layouts, buffer.element).ok_or("the elements of a buffer are too large")?;
        for element in 0..buffer.words.len() / stride {
            for &(leaf, of) in &leaves {
                let at = element * stride + leaf;
                // A buffer that the module does not name keeps what it holds.
                let word = match observed {
                    Some(bytes) => bytes.get(4 * at..4 * at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    None => buffer.words.get(at).copied(),
                };
                let (Some(word), Some(possible)) = (word, allowed.get(at)) else { return Err("a buffer has another size".into()) };
                if !is_allowed(possible, of, word) {
                    let name = &resource.name;
                    return Err(format!("word {leaf} of {name}[{element}] is {word:#x} and the source allows {possible:?}"));
                }
            }
        }
    }
    Ok(())
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
