//! Wrong rules for textures and samplers.

use super::{Bug, after, before, bug, effects, unstored};
use smallstep_semantics::image::Image;
use smallstep_semantics::rule::Rule as R;
use smallstep_semantics::wsl::execution::Replacement::Expr as E;
use smallstep_semantics::wsl::execution::next::Becomes;
use smallstep_semantics::wsl::execution::term::{Expr, Form};
use smallstep_semantics::wsl::execution::texture::{
    e_texture_compare, e_texture_dimensions, e_texture_gather, e_texture_load, e_texture_sample, e_texture_store,
};
use smallstep_semantics::wsl::execution::{Cx, Effect};
use smallstep_semantics::wsl::memory::{ObjectId, Words};
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

/// Sets every open word of the value to 0.
fn settled(e: &mut Expr) {
    words(e).iter_mut().filter(|word| matches!(word, Word::Open(_))).for_each(|word| *word = Word::Bits(0));
}

/// Removes the arguments after the first `most`.
fn few(e: &mut Expr, most: usize) {
    arguments(e).truncate(most);
}

fn sides(image: &Image) -> [u32; 3] {
    image.sides(0).expect("level 0")
}

/// Splits a store into an atomic operation for each of its words.
fn one_by_one(effect: Effect) -> Vec<Effect> {
    match effect {
        Effect::Store(at, words) => {
            let atomic = |(k, &word): (usize, &Word)| Effect::ReadModifyWrite(at.plus(4 * k as u32), word, word);
            words.iter().enumerate().map(atomic).collect()
        }
        other => vec![other],
    }
}

pub fn samples() -> Vec<Bug> {
    vec![
        bug(
            R::WslETextureSample,
            "the level is 0",
            E(|cx, e| {
                before(cx, e, e_texture_sample, |_, e| {
                    argument(e, 3)[0] = Word::Bits(0);
                })
            }),
        ),
        bug(
            R::WslETextureSample,
            "texels are around corners",
            E(|cx, e| {
                before(cx, e, e_texture_sample, |cx, e| {
                    let width = sides(&texture(cx, e).1.image)[0] as f32;
                    float(&mut argument(e, 2)[0], |x| x + 0.5 / width);
                })
            }),
        ),
        bug(
            R::WslETextureSample,
            "layers are rounded down",
            E(|cx, e| {
                before(cx, e, e_texture_sample, |cx, e| {
                    if texture(cx, e).1.image.shape().is_layered() {
                        let last = argument(e, 2).len() - 1;
                        float(&mut argument(e, 2)[last], f32::floor);
                    }
                })
            }),
        ),
        bug(
            R::WslETextureSample,
            "nothing is moved",
            E(|cx, e| {
                before(cx, e, e_texture_sample, |_, e| {
                    if arguments(e).last().is_some_and(|last| last.ty == TypeId::vector(smallstep_semantics::wsl::types::Scalar::Int, 2)) {
                        arguments(e).pop();
                    }
                })
            }),
        ),
        bug(R::WslETextureSample, "what is unspecified is 0", E(|cx, e| after(cx, e, e_texture_sample, |_, e| settled(e)))),
        bug(
            R::WslETextureSample,
            "the first derivative alone counts",
            E(|cx, e| {
                before(cx, e, e_texture_sample, |_, e| {
                    let types: Vec<TypeId> = arguments(e).iter().map(|a| a.ty).collect();
                    if types.len() > 4 && types[3] == types[4] {
                        argument(e, 4).iter_mut().for_each(|word| *word = Word::Bits(0));
                    }
                })
            }),
        ),
        bug(
            R::WslETextureCompare,
            "the comparison is turned round",
            E(|cx, e| {
                after(cx, e, e_texture_compare, |_, e| {
                    float(&mut words(e)[0], |x| 1.0 - x);
                })
            }),
        ),
        bug(
            R::WslETextureCompare,
            "all texels or none",
            E(|cx, e| {
                after(cx, e, e_texture_compare, |_, e| {
                    float(&mut words(e)[0], f32::round);
                })
            }),
        ),
        bug(
            R::WslETextureCompare,
            "a sampler that does not compare gives 0",
            E(|cx, e| after(cx, e, e_texture_compare, |_, e| settled(e))),
        ),
        bug(
            R::WslETextureGather,
            "in reading order",
            E(|cx, e| {
                after(cx, e, e_texture_gather, |_, e| {
                    let found = words(e).clone();
                    *words(e) = [3, 2, 0, 1].map(|n: usize| found[n]).into_iter().collect();
                })
            }),
        ),
        bug(R::WslETextureGather, "what is missing is 0", E(|cx, e| after(cx, e, e_texture_gather, |_, e| settled(e)))),
        bug(
            R::WslETextureGather,
            "of the first layer",
            E(|cx, e| {
                before(cx, e, e_texture_gather, |cx, e| {
                    if texture(cx, e).1.image.shape().is_layered() {
                        argument(e, 2)[2] = Word::Bits(0);
                    }
                })
            }),
        ),
    ]
}

pub fn texels() -> Vec<Bug> {
    vec![
        bug(R::WslETextureLoad, "a texel that is not there is 0", E(|cx, e| after(cx, e, e_texture_load, |_, e| settled(e)))),
        bug(
            R::WslETextureLoad,
            "of level 0",
            E(|cx, e| {
                before(cx, e, e_texture_load, |cx, e| {
                    let (_, texture) = texture(cx, e);
                    let level = texture.image.shape().axes() + usize::from(texture.image.shape().is_layered());
                    if !is_writable(texture.kind) {
                        argument(e, 1)[level] = Word::Bits(0);
                    }
                })
            }),
        ),
        bug(
            R::WslETextureLoad,
            "nothing is moved",
            E(|cx, e| {
                before(cx, e, e_texture_load, |_, e| {
                    few(e, 2);
                })
            }),
        ),
        bug(
            R::WslETextureLoad,
            "an undefined texel is another value at each load",
            E(|cx, e| {
                cx.memory.opaques.undefined.borrow_mut().clear();
                e_texture_load(cx, e)
            }),
        ),
        bug(
            R::WslETextureLoad,
            "what was there at the beginning",
            E(|cx, e| {
                let (_, texture) = texture(cx, &mut e.clone());
                let mut next = e_texture_load(cx, e)?;
                for change in next.changes() {
                    if let ([Effect::Load(at, loaded)], Becomes::Expr(value)) = (&change.effects[..], &mut change.becomes)
                        && is_writable(texture.kind)
                    {
                        let began = texture.words(cx.opens);
                        for (c, word) in words(value).iter_mut().enumerate().take(loaded.len()) {
                            *word = texture.loaded(cx.opens, c, began[at.bytes as usize / 4 + c]);
                        }
                    }
                }
                Some(next)
            }),
        ),
        bug(R::WslETextureStore, "nothing is stored", E(|cx, e| unstored(e_texture_store(cx, e)))),
        bug(
            R::WslETextureStore,
            "outside, to the nearest texel",
            E(|cx, e| {
                before(cx, e, e_texture_store, |cx, e| {
                    let sides = sides(&texture(cx, e).1.image);
                    for (axis, side) in sides.into_iter().enumerate() {
                        if let Some(Word::Bits(bits)) = argument(e, 2).get_mut(axis) {
                            *bits = (*bits as i32).clamp(0, side as i32 - 1) as u32;
                        }
                    }
                })
            }),
        ),
        bug(
            R::WslETextureStore,
            "the value is not converted",
            E(|cx, e| {
                let value = argument(&mut e.clone(), 1).clone();
                effects(e_texture_store(cx, e), |effect| {
                    if let Effect::Store(_, held) = effect {
                        let most = held.len().min(value.len());
                        held[..most].copy_from_slice(&value[..most]);
                    }
                })
            }),
        ),
        bug(
            R::WslETextureStore,
            "unspecified coordinates are the first",
            E(|cx, e| {
                before(cx, e, e_texture_store, |cx, e| {
                    for at in 0..argument(e, 2).len() {
                        let word = argument(e, 2)[at];
                        argument(e, 2)[at] = cx.opens.values(word).map_or(Word::Bits(0), |values| Word::Bits(values[0]));
                    }
                })
            }),
        ),
        bug(
            R::WslETextureStore,
            "stores of texels do not race",
            E(|cx, e| {
                let mut next = e_texture_store(cx, e)?;
                for change in next.changes() {
                    // Atomic operations do not race with one another.
                    let stores = std::mem::take(&mut change.effects).into_iter();
                    change.effects = stores.flat_map(one_by_one).collect();
                }
                Some(next)
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "of level 0",
            E(|cx, e| {
                before(cx, e, e_texture_dimensions, |_, e| {
                    if arguments(e)[1].ty == TypeId::UINT {
                        argument(e, 1)[0] = Word::Bits(0);
                    }
                })
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "a level that is not there is the last one",
            E(|cx, e| {
                before(cx, e, e_texture_dimensions, |cx, e| {
                    let last = texture(cx, e).1.image.levels() - 1;
                    if let (TypeId::UINT, Word::Bits(level)) = (arguments(e)[1].ty, &mut argument(e, 1)[0]) {
                        *level = (*level).min(last);
                    }
                })
            }),
        ),
        bug(
            R::WslETextureDimensions,
            "the height comes first",
            E(|cx, e| {
                before(cx, e, e_texture_dimensions, |_, e| {
                    if arguments(e)[1].ty != TypeId::UINT && arguments(e).len() > 2 {
                        arguments(e).swap(1, 2);
                    }
                })
            }),
        ),
    ]
}
