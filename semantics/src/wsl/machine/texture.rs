//! Functions of textures on definite words.

use super::Memory;
use super::code::{BUFFERS, Code, TextureCall, Words};
use super::lanes::Chooser;
use super::run::{InDraw, Shared, Stop};
use crate::image::Sampler;
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Unspecified;
use crate::wsl::texture::sampling::{filtered, gathered, is_filter, is_gather, of_components};
use crate::wsl::texture::{Arguments, Opaque, Texture, elements_of, is_writable, padded, texel};
use smallvec::SmallVec;

/// Stops a call without a texture or sampler, or of a function that is not one of textures.
const NONE: Stop = Stop::Stuck("a texture's function without its texture or arguments");

/// Executes a call.
pub(super) fn call(
    code: &Code,
    call: &TextureCall,
    words: &mut [u32],
    shared: &mut Shared,
    chooser: &mut Chooser,
    stage: InDraw,
) -> Result<(), Stop> {
    let opaques = shared.memory.opaques;
    let opaque = |slot: u32| opaques.get(words.get(slot as usize)?.checked_sub(BUFFERS)? as usize)?.as_ref();
    let Some(Opaque::Texture(texture)) = opaque(call.texture) else { return Err(NONE) };
    let sampler = match call.sampler.map(opaque) {
        Some(Some(Opaque::Sampler(sampler))) => Some(*sampler),
        _ => None,
    };
    let object = words[call.texture as usize] - BUFFERS;
    let range = |w: &Words| w.at as usize..(w.at + w.n) as usize;
    let typed_arguments = call.arguments.iter().map(|(ty, at)| (*ty, &words[range(at)]));
    let mut arguments = Arguments::new(&code.types, typed_arguments);
    let result: SmallVec<[u32; 4]> = match call.meaning {
        meaning if is_filter(meaning) || is_gather(meaning) => {
            let sampler = sampler.ok_or(NONE)?;
            filter(code, call, (texture, sampler), words, arguments, chooser).ok_or(NONE)?
        }
        Meaning::Load => {
            let coordinates = arguments.typed().ok_or(NONE)?;
            let position = texel::named_texel(chooser, texture, coordinates, arguments.elements().unwrap_or(&[]));
            load(code, call, (texture, object), position, shared, chooser)
        }
        Meaning::Store => {
            let (value, coordinates) = (arguments.elements().ok_or(NONE)?, arguments.typed().ok_or(NONE)?);
            let position = texel::named_texel(chooser, texture, coordinates, &[]);
            if let Some(bytes) = position.and_then(|(_, at)| texture.offset(0, at)) {
                let texel_bits: SmallVec<[u32; 4]> = (0..texture.channels())
                    .map(|c| match value.get(c) {
                        Some(&bits) => texture.stored_bits(chooser, c, bits),
                        None => texture.any_code(chooser, c),
                    })
                    .collect();
                shared.memory.in_doubt |= stage.doubtful;
                if !chooser.open && !stage.helper {
                    let at = bytes as usize / 4;
                    let memory = &mut *shared.memory;
                    let place = memory.buffers.get_mut(object as usize).and_then(|b| b.get_mut(at..at + texel_bits.len()));
                    place.ok_or(NONE)?.copy_from_slice(&texel_bits);
                    if let Some(undefined) = memory.undefined.get_mut(object as usize).and_then(|u| u.get_mut(at..at + texel_bits.len())) {
                        undefined.fill(false);
                    }
                }
            }
            SmallVec::new()
        }
        Meaning::GetDimensions => {
            let level = arguments.element();
            let sides = texture.sides(level.unwrap_or(0));
            let numbers = texture.axes().iter().map(|&axis| sides[axis]).chain(level.map(|_| texture.image.levels()));
            for (number, (to, at)) in numbers.zip(&call.stored) {
                words[at.at as usize] = texel::number_bits(Some(*to), number);
            }
            SmallVec::new()
        }
        _ => return Err(NONE),
    };
    if chooser.open {
        return Err(Stop::Open);
    }
    let to = &mut words[range(&call.result)];
    let n = result.len().min(to.len());
    to[..n].copy_from_slice(&result[..n]);
    Ok(())
}

/// The result of a call that filters. `None` if an argument is missing.
fn filter(
    code: &Code,
    call: &TextureCall,
    (texture, sampler): (&Texture, Sampler),
    words: &[u32],
    arguments: Arguments<u32>,
    chooser: &mut Chooser,
) -> Option<SmallVec<[u32; 4]>> {
    if is_gather(call.meaning) {
        let found = gathered(chooser, (texture, call.components, sampler), arguments, call.meaning)?;
        return Some(SmallVec::from_slice(&found));
    }
    let quad = call.meeting.map(|meeting| code.meetings[meeting as usize].operands(words));
    let found = filtered(chooser, (texture, sampler), arguments, call.meaning, quad)?;
    Some(of_components(chooser, elements_of(&code.types, call.ty), texture, found))
}

/// A word of a writable texture. `None` if it has no value.
fn word(memory: &Memory, object: u32, at: usize) -> Option<u32> {
    let undefined = memory.undefined.get(object as usize).and_then(|u| u.get(at)).copied().unwrap_or(false);
    memory.buffers.get(object as usize).and_then(|b| b.get(at)).copied().filter(|_| !undefined)
}

/// The named texel, or unspecified values if there is none.
fn load(
    code: &Code,
    call: &TextureCall,
    (texture, object): (&Texture, u32),
    position: Option<(i64, [i64; 3])>,
    shared: &Shared,
    chooser: &mut Chooser,
) -> SmallVec<[u32; 4]> {
    let (scalar, count) = elements_of(&code.types, call.ty);
    let place = position.and_then(|(level, at)| {
        let level = u32::try_from(level).ok()?;
        Some((level, at, texture.offset(level, at)?))
    });
    let mut elements = SmallVec::new();
    if let Some((level, at, bytes)) = place {
        for c in 0..count.min(texture.channels()) {
            let place = bytes + 4 * c as u32;
            let bits = match is_writable(texture.kind) {
                true => word(shared.memory, object, place as usize / 4),
                false => texture.texel_bits(level, at, c).flatten(),
            };
            elements.push(bits.unwrap_or_else(|| texture.undefined_code(chooser, object, place, c)));
        }
    }
    while elements.len() < count {
        elements.push(chooser.unspecified(None, scalar, 0));
    }
    padded(chooser, elements)
}
