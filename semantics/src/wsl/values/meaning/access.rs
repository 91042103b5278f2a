//! Elements by letters and indices, constructors, default values: seed 004 "Vector and matrix
//! operations", "Generated functions", "Cast operators", "Annotations for execution".

use super::apply::{Call, Shape, Words};
use super::{Evaluator, Op};
use crate::wsl::environment::Environment;
use crate::wsl::layout::Layouts;
use crate::wsl::library::Meaning;
use crate::wsl::types::{Scalar, Type, TypeId};
use smallvec::SmallVec;

const EQUAL: Op = Op::new(Meaning::Equal, Scalar::Uint, Scalar::Bool);

/// `T(…)` of a vector or matrix, and `+x`: the arguments' elements in order. Matrices are taken
/// column by column.
pub(super) fn constructed<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let mut elements: SmallVec<[L::Word; 16]> = SmallVec::new();
    for parameter in 0..call.parameters.len() {
        elements.extend(call.elements(parameter)?);
    }
    Some(Shape::of(call.types, call.result)?.filled(evaluator, elements))
}

/// `v.zx`: the elements that the letters select.
pub(super) fn swizzle<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let vector = *call.arguments.first()?;
    let selected: Words<L::Word> = call.function.word().iter().map(|&i| vector[usize::from(i)]).collect();
    Some(Shape::of(call.types, call.result)?.filled(evaluator, selected))
}

/// `v.zx = e`: the vector with `e`'s elements in the places that the letters select.
pub(super) fn set_swizzle<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let mut vector = call.elements(0)?;
    for (&i, &element) in call.function.word().iter().zip(*call.arguments.get(1)?) {
        vector[usize::from(i)] = element;
    }
    Some(call.shape(0)?.filled(evaluator, vector))
}

/// The elements that an index selects from.
struct Indexed {
    /// The number of elements, at least one.
    count: u32,
    /// The distance from one element to the next, in words.
    stride: usize,
    /// The number of words of an element. The rest up to the stride is padding.
    filled: usize,
    /// Whether an index out of bounds may also select no element. This holds for vectors and
    /// matrices, where the seed is silent, and implementations read a default value and write
    /// nothing. For arrays, the seed replaces the index "by an unspecified in-bounds value".
    perhaps_none: bool,
}

impl Indexed {
    fn of<W: Copy>(call: &Call<W>) -> Option<Indexed> {
        let words = call.arguments.first()?.len();
        Some(match call.types.get(*call.parameters.first()?) {
            Type::Vector(_, n) => Indexed { count: n.into(), stride: 1, filled: 1, perhaps_none: true },
            Type::Matrix(_, n, m) => {
                let stride = words / usize::from(n);
                Indexed { count: n.into(), stride, filled: m.into(), perhaps_none: true }
            }
            Type::Array(_, n) if n > 0 => {
                let stride = words / n as usize;
                Indexed { count: n, stride, filled: stride, perhaps_none: false }
            }
            _ => return None,
        })
    }

    /// The number of the selected element, or `count` for none.
    fn number<L: Evaluator>(&self, evaluator: &mut L, index: L::Word) -> L::Word {
        evaluator.below(index, self.count, self.count + u32::from(self.perhaps_none))
    }
}

/// `a[i]`: the element of that index. Out of bounds it is any element, and for a vector or matrix
/// it may be zeros.
pub(super) fn index<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let indexed = Indexed::of(call)?;
    let (from, &index) = (*call.arguments.first()?, call.arguments.get(1)?.first()?);
    let number = indexed.number(evaluator, index);
    let zero = evaluator.bits(0);
    let mut words = SmallVec::from_elem(zero, indexed.stride);
    let mut choices: SmallVec<[L::Word; 8]> = SmallVec::new();
    for (at, word) in words.iter_mut().enumerate().take(indexed.filled) {
        choices.clear();
        choices.extend(from.iter().copied().skip(at).step_by(indexed.stride).take(indexed.count as usize));
        if indexed.perhaps_none {
            choices.push(zero);
        }
        *word = evaluator.pick(number, &choices);
    }
    Some(words)
}

/// `a[i] = e`: the vector, matrix or array with `e` as its element of that index. Out of bounds `e`
/// replaces any element, and a vector or matrix may stay unchanged.
pub(super) fn set_index<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let indexed = Indexed::of(call)?;
    let (&index, value) = (call.arguments.get(1)?.first()?, *call.arguments.get(2)?);
    let mut words: Words<L::Word> = SmallVec::from_slice(call.arguments.first()?);
    let number = indexed.number(evaluator, index);
    for (k, element) in words.chunks_mut(indexed.stride).take(indexed.count as usize).enumerate() {
        let own_number = evaluator.bits(k as u32);
        let chosen = evaluator.scalar(EQUAL, &[number, own_number]);
        for (word, &value) in element.iter_mut().zip(value).take(indexed.filled) {
            *word = evaluator.pick(chosen, &[*word, value]);
        }
    }
    match Shape::of(call.types, call.result) {
        Some(shape) => {
            Some(shape.filled(evaluator, shape.elements().map(|(c, r)| words[shape.at(c, r)]).collect::<SmallVec<[L::Word; 16]>>()))
        }
        None => Some(words),
    }
}

/// `v.length`, `a.length`: the number of elements. For an array reference this is its second word.
pub(super) fn element_count<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let count = match call.types.get(*call.parameters.first()?) {
        Type::Vector(_, n) => evaluator.bits(n.into()),
        Type::Array(_, n) => evaluator.bits(n),
        Type::ArrayReference(..) => *call.arguments.first()?.get(1)?,
        _ => return None,
    };
    Some(SmallVec::from_elem(count, 1))
}

/// The number of words of a type's default value, all of which are zero: `false`, 0, +0, an enum's
/// element of value 0, in every element and field (seed 004 "Annotations for execution", ERRATA
/// WSL-C19). `None` if the type has no default value (`void`, samplers, textures, pointers, array
/// references), or is too large.
pub fn default_words(layouts: &mut Layouts, env: &Environment, ty: TypeId) -> Option<u64> {
    let mut of = ty;
    while let Type::Array(element, _) = env.types.get(of) {
        of = element;
    }
    match env.types.get(of) {
        Type::Scalar(_) | Type::Atomic(_) | Type::Vector(..) | Type::Matrix(..) | Type::Enum(_) | Type::Struct(_) => {
            Some(layouts.of(env, ty)?.size / 4)
        }
        Type::Void | Type::Sampler | Type::Texture(..) | Type::Pointer(..) | Type::ArrayReference(..) | Type::Array(..) => None,
    }
}

/// The cast of a number to an enum. `values` are the values of the enum's elements, each once
/// and at least one. The result is the element of that value. If there is none, it is an
/// unspecified element (seed 004 "Cast operators", and the rule for a load of a value that is
/// none of the enum's).
pub fn enum_from<L: Evaluator>(evaluator: &mut L, values: &[u32], number: L::Word) -> L::Word {
    let op = |meaning| Op::new(meaning, Scalar::Uint, Scalar::Uint);
    // `found` is the number of the last element with that value, counted from 1, or 0 for none.
    // Minus 1, none is out of bounds.
    let mut found = evaluator.bits(0);
    for (k, &value) in values.iter().enumerate() {
        let (value, own_number) = (evaluator.bits(value), evaluator.bits(k as u32 + 1));
        let equal = evaluator.scalar(EQUAL, &[number, value]);
        found = evaluator.pick(equal, &[found, own_number]);
    }
    let count = values.len() as u32;
    let index = evaluator.scalar(op(Meaning::Decrement), &[found]);
    let index = evaluator.below(index, count, count);
    let choices: SmallVec<[L::Word; 8]> = values.iter().map(|&value| evaluator.bits(value)).collect();
    evaluator.pick(index, &choices)
}
