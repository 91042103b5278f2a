//! Wrong rules for textures and samplers.

use super::{Bug, bug, unstored};
use smallstep_semantics::image::Image;
use smallstep_semantics::rule::Rule as R;
use smallstep_semantics::wsl::execution::Replacement::Expr as E;
use smallstep_semantics::wsl::execution::term::{Expr, Form};
use smallstep_semantics::wsl::execution::texture::{
    e_texture_compare, e_texture_dimensions, e_texture_gather, e_texture_load, e_texture_sample, e_texture_store,
};
use smallstep_semantics::wsl::execution::{Cx, Done};
use smallstep_semantics::wsl::memory::{Address, ObjectId, Words};
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::texture::{Texture, is_writable};
use smallstep_semantics::wsl::types::TypeId;

fn arguments(e: &mut Expr) -> &mut Vec<Expr> {
    match &mut e.form {
        Form::Call(_, arguments) => arguments,
        _ => panic!("a call of the library is a call"),
    }
}

/// The words of an argument, or of the value that a call became.
fn words(e: &mut Expr) -> &mut Words {
    match &mut e.form {
        Form::Value(words) => words,
        _ => panic!("arguments and results are values"),
    }
}

fn argument(e: &mut Expr, at: usize) -> &mut Words {
    words(&mut arguments(e)[at])
}

fn texture(cx: &Cx, e: &mut Expr) -> (ObjectId, Texture) {
    match argument(e, 0)[0] {
        Word::Address(at) => (at.object, cx.memory.opaques.texture(at.object).expect("a texture").clone()),
        _ => panic!("a texture is an address"),
    }
}

fn float(word: &mut Word, f: impl Fn(f32) -> f32) {
    if let Word::Bits(bits) = word {
        *bits = f(f32::from_bits(*bits)).to_bits();
    }
}

/// Every open word of the value is 0.
fn settled(e: &mut Expr) -> Done {
    words(e).iter_mut().filter(|word| matches!(word, Word::Open(_))).for_each(|word| *word = Word::Bits(0));
    Ok(())
}

/// Arguments beyond so many are not there.
fn few(e: &mut Expr, most: usize) {
    arguments(e).truncate(most);
}

fn sides(image: &Image) -> [u32; 3] {
    image.sides(0).expect("level 0")
}

pub fn samples() -> Vec<Bug> {
    vec![
        bug(
            R::WslETextureSample,
            "the level is 0",
            E(|cx, e| {
                argument(e, 3)[0] = Word::Bits(0);
                e_texture_sample(cx, e)
            }),
        ),
        bug(
            R::WslETextureSample,
            "texels are around corners",
            E(|cx, e| {
                let width = sides(&texture(cx, e).1.image)[0] as f32;
                float(&mut argument(e, 2)[0], |x| x + 0.5 / width);
                e_texture_sample(cx, e)
            }),
        ),
        bug(
            R::WslETextureSample,
            "layers are rounded down",
            E(|cx, e| {
                if texture(cx, e).1.image.shape().is_layered() {
                    let last = argument(e, 2).len() - 1;
                    float(&mut argument(e, 2)[last], f32::floor);
                }
                e_texture_sample(cx, e)
            }),
        ),
        bug(
            R::WslETextureSample,
            "nothing is moved",
            E(|cx, e| {
                if arguments(e).last().is_some_and(|last| last.ty == TypeId::vector(smallstep_semantics::wsl::types::Scalar::Int, 2)) {
                    arguments(e).pop();
                }
                e_texture_sample(cx, e)
            }),
        ),
        bug(
            R::WslETextureSample,
            "what is unspecified is 0",
            E(|cx, e| {
                e_texture_sample(cx, e)?;
                settled(e)
            }),
        ),
        bug(
            R::WslETextureSample,
            "the first derivative alone counts",
            E(|cx, e| {
                let types: Vec<TypeId> = arguments(e).iter().map(|a| a.ty).collect();
                if types.len() > 4 && types[3] == types[4] {
                    argument(e, 4).iter_mut().for_each(|word| *word = Word::Bits(0));
                }
                e_texture_sample(cx, e)
            }),
        ),
        bug(
            R::WslETextureCompare,
            "the comparison is turned round",
            E(|cx, e| {
                e_texture_compare(cx, e)?;
                float(&mut words(e)[0], |x| 1.0 - x);
                Ok(())
            }),
        ),
        bug(
            R::WslETextureCompare,
            "all texels or none",
            E(|cx, e| {
                e_texture_compare(cx, e)?;
                float(&mut words(e)[0], f32::round);
                Ok(())
            }),
        ),
        bug(
            R::WslETextureCompare,
            "a sampler that does not compare gives 0",
            E(|cx, e| {
                e_texture_compare(cx, e)?;
                settled(e)
            }),
        ),
        bug(
            R::WslETextureGather,
            "in reading order",
            E(|cx, e| {
                e_texture_gather(cx, e)?;
                let found = words(e).clone();
                *words(e) = [3, 2, 0, 1].map(|n: usize| found[n]).into_iter().collect();
                Ok(())
            }),
        ),
        bug(
            R::WslETextureGather,
            "what is missing is 0",
            E(|cx, e| {
                e_texture_gather(cx, e)?;
                settled(e)
            }),
        ),
        bug(
            R::WslETextureGather,
            "of the first layer",
            E(|cx, e| {
                if texture(cx, e).1.image.shape().is_layered() {
                    argument(e, 2)[2] = Word::Bits(0);
                }
                e_texture_gather(cx, e)
            }),
        ),
    ]
}

pub fn texels() -> Vec<Bug> {
    vec![
        bug(
            R::WslETextureLoad,
            "a texel that is not there is 0",
            E(|cx, e| {
                e_texture_load(cx, e)?;
                settled(e)
            }),
        ),
        bug(
            R::WslETextureLoad,
            "of level 0",
            E(|cx, e| {
                let (_, texture) = texture(cx, e);
                let level = texture.image.shape().axes() + usize::from(texture.image.shape().is_layered());
                if !is_writable(texture.kind) {
                    argument(e, 1)[level] = Word::Bits(0);
                }
                e_texture_load(cx, e)
            }),
        ),
        bug(
            R::WslETextureLoad,
            "nothing is moved",
            E(|cx, e| {
                few(e, 2);
                e_texture_load(cx, e)
            }),
        ),
        bug(
            R::WslETextureLoad,
            "an undefined texel is another value at each load",
            E(|cx, e| {
                cx.memory.opaques.undefined.clear();
                e_texture_load(cx, e)
            }),
        ),
        bug(
            R::WslETextureLoad,
            "what was there at the beginning",
            E(|cx, e| {
                let (object, texture) = texture(cx, e);
                let now = cx.memory.objects[object.0 as usize].words.clone();
                cx.memory.objects[object.0 as usize].words = if is_writable(texture.kind) { texture.words(cx.opens) } else { Vec::new() };
                let done = e_texture_load(cx, e);
                cx.memory.objects[object.0 as usize].words = now;
                done
            }),
        ),
        bug(R::WslETextureStore, "nothing is stored", E(|cx, e| unstored(cx, e, e_texture_store))),
        bug(
            R::WslETextureStore,
            "outside, to the nearest texel",
            E(|cx, e| {
                let sides = sides(&texture(cx, e).1.image);
                for (axis, side) in sides.into_iter().enumerate() {
                    if let Some(Word::Bits(bits)) = argument(e, 2).get_mut(axis) {
                        *bits = (*bits as i32).clamp(0, side as i32 - 1) as u32;
                    }
                }
                e_texture_store(cx, e)
            }),
        ),
        bug(
            R::WslETextureStore,
            "the value is not converted",
            E(|cx, e| {
                let ((object, texture), value) = (texture(cx, e), argument(e, 1).clone());
                let at: Vec<i64> = argument(e, 2).iter().map(|word| i64::from(word.definite().unwrap_or(0) as i32)).collect();
                let place = match at[..] {
                    [x, y] if texture.image.shape().axes() == 2 => texture.offset(0, [x, y, 0]),
                    _ => None,
                };
                e_texture_store(cx, e)?;
                if let Some(bytes) = place {
                    cx.memory.write(cx.opens, Address::of(object, bytes), &value[..texture.channels().min(value.len())]);
                }
                Ok(())
            }),
        ),
        bug(
            R::WslETextureStore,
            "unspecified coordinates are the first",
            E(|cx, e| {
                for at in 0..argument(e, 2).len() {
                    let word = argument(e, 2)[at];
                    argument(e, 2)[at] = cx.opens.values(word).map_or(Word::Bits(0), |values| Word::Bits(values[0]));
                }
                e_texture_store(cx, e)
            }),
        ),
        bug(
            R::WslETextureStore,
            "stores of texels do not race",
            E(|cx, e| {
                let races = cx.memory.races.take();
                let done = e_texture_store(cx, e);
                cx.memory.races = races;
                done
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "of level 0",
            E(|cx, e| {
                if arguments(e)[1].ty == TypeId::UINT {
                    argument(e, 1)[0] = Word::Bits(0);
                }
                e_texture_dimensions(cx, e)
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "a level that is not there is the last one",
            E(|cx, e| {
                let last = texture(cx, e).1.image.levels() - 1;
                if let (TypeId::UINT, Word::Bits(level)) = (arguments(e)[1].ty, &mut argument(e, 1)[0]) {
                    *level = (*level).min(last);
                }
                e_texture_dimensions(cx, e)
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "the height comes first",
            E(|cx, e| {
                if arguments(e)[1].ty != TypeId::UINT && arguments(e).len() > 2 {
                    arguments(e).swap(1, 2);
                }
                e_texture_dimensions(cx, e)
            }),
        ),
    ]
}
