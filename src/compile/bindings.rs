//! The pass `bindings`: SPIR-V → SPIR-V with descriptor sets and bindings without gaps.
//!
//! wgpu numbers the entries of a bind group 0, 1, 2 … for a Vulkan driver, in ascending order of
//! their bindings. A module that passes through wgpu unchanged must use the same numbers. wgpu also
//! allows only a few sets. The adapted module has other literals in its `DescriptorSet` and
//! `Binding` decorations. Otherwise it is the original, word for word: no id and no computation
//! changes. Bound places come first, in ascending order. Places that the module declares and the
//! dispatch does not bind come after them.
//!
//! Invariant: the adapted module shows at each adapted place what the original shows at the
//! original place. To compare a device with an interpreter, run the adapted words in the
//! interpreter too, and compare by their hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rspirv::spirv::Decoration;
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::spirv::decode;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::{Decoded, HEADER_WORDS};

use crate::dispatch::resources::{self, Descriptor};
use crate::dispatch::{Bound, BufferBinding, ComputeDispatch, DrawDispatch, ImageBinding, SamplerBinding, Stage};

/// A descriptor set and a binding in it.
pub type Place = (u32, u32);

/// The reason why a module's bindings cannot be renumbered. It is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotRenumber(pub String);

impl fmt::Display for CannotRenumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotRenumber {}

/// The map from original to adapted places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(BTreeMap<Place, Place>);

impl Places {
    /// Numbers the bound places from 0, in ascending order, and then the places that are
    /// only declared.
    pub fn dense(bound: impl IntoIterator<Item = Place>, declared: impl IntoIterator<Item = Place>) -> Places {
        let bound: BTreeSet<Place> = bound.into_iter().collect();
        let declared: BTreeSet<Place> = declared.into_iter().filter(|place| !bound.contains(place)).collect();
        let mut sets: BTreeMap<u32, u32> = BTreeMap::new();
        let mut next_bindings: BTreeMap<u32, u32> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for &(set, binding) in bound.iter().chain(&declared) {
            let count = sets.len() as u32;
            let to = *sets.entry(set).or_insert(count);
            let next = next_bindings.entry(set).or_insert(0);
            places.insert((set, binding), (to, *next));
            *next += 1;
        }
        Places(places)
    }

    /// The adapted place. None if the place is neither bound nor declared.
    pub fn adapted(&self, place: Place) -> Option<Place> {
        self.0.get(&place).copied()
    }

    /// The original place of an adapted one.
    pub fn original(&self, place: Place) -> Option<Place> {
        self.0.iter().find(|(_, to)| **to == place).map(|(from, _)| *from)
    }

    /// Whether every place stays the same.
    pub fn is_identity(&self) -> bool {
        self.0.iter().all(|(from, to)| from == to)
    }
}

/// The dispatch with dense sets and bindings: adapted words, and the same bindings at their new
/// places, in the same order. The words are unchanged if they are dense already.
///
/// Errors: the words are not a module of the grammar, or a variable has a set without a binding or
/// a binding without a set.
pub fn adapt(dispatch: &ComputeDispatch) -> Result<(ComputeDispatch, Places), CannotRenumber> {
    let decoded = decode(&dispatch.words).map_err(|error| CannotRenumber(error.to_string()))?;
    let declared = declared(&decoded)?;
    let places = Places::dense(dispatch.bound().places(), declared.values().copied());
    if places.is_identity() {
        return Ok((dispatch.clone(), places));
    }
    let (buffers, images, samplers) = rebind(dispatch.bound(), &places);
    let words = renumber(&decoded, &declared, &places);
    Ok((ComputeDispatch { words, buffers, images, samplers, ..dispatch.clone() }, places))
}

/// The draw with dense sets and bindings, with the same places for both stages. See [`adapt`].
pub fn adapt_draw(dispatch: &DrawDispatch) -> Result<(DrawDispatch, Places), CannotRenumber> {
    let stage_error = |stage: &str, error: String| CannotRenumber(format!("{stage} stage: {error}"));
    let vertex = decode(&dispatch.vertex.words).map_err(|error| stage_error("vertex", error.to_string()))?;
    let fragment = decode(&dispatch.fragment.words).map_err(|error| stage_error("fragment", error.to_string()))?;
    let vertex_places = declared(&vertex).map_err(|error| stage_error("vertex", error.0))?;
    let fragment_places = declared(&fragment).map_err(|error| stage_error("fragment", error.0))?;
    let places = Places::dense(dispatch.bound().places(), vertex_places.values().chain(fragment_places.values()).copied());
    if places.is_identity() {
        return Ok((dispatch.clone(), places));
    }
    let (buffers, images, samplers) = rebind(dispatch.bound(), &places);
    let vertex = Stage { words: renumber(&vertex, &vertex_places, &places), ..dispatch.vertex.clone() };
    let fragment = Stage { words: renumber(&fragment, &fragment_places, &places), ..dispatch.fragment.clone() };
    Ok((DrawDispatch { vertex, fragment, buffers, images, samplers, ..dispatch.clone() }, places))
}

/// The places of a module's variables, by id.
fn declared(decoded: &Decoded<'_>) -> Result<FxHashMap<u32, Place>, CannotRenumber> {
    let mut declared = FxHashMap::default();
    for Descriptor { id, set, binding, .. } in resources::descriptors(decoded) {
        match (set, binding) {
            (Some(set), Some(binding)) => _ = declared.insert(id, (set, binding)),
            (None, None) => {}
            (Some(set), None) => return Err(CannotRenumber(format!("%{id} has descriptor set {set} and no binding"))),
            (None, Some(binding)) => return Err(CannotRenumber(format!("%{id} has binding {binding} and no descriptor set"))),
        }
    }
    Ok(declared)
}

fn rebind(bound: Bound<'_>, places: &Places) -> (Vec<BufferBinding>, Vec<ImageBinding>, Vec<SamplerBinding>) {
    let to = |set: u32, binding: u32| places.adapted((set, binding)).expect("every bound place is numbered");
    let buffers = bound.buffers.iter().map(|buffer| {
        let (set, binding) = to(buffer.set, buffer.binding);
        BufferBinding { set, binding, ..buffer.clone() }
    });
    let images = bound.images.iter().map(|image| {
        let (set, binding) = to(image.set, image.binding);
        ImageBinding { set, binding, ..image.clone() }
    });
    let samplers = bound.samplers.iter().map(|sampler| {
        let (set, binding) = to(sampler.set, sampler.binding);
        SamplerBinding { set, binding, ..sampler.clone() }
    });
    (buffers.collect(), images.collect(), samplers.collect())
}

/// The words with the new place of each declared variable in its decorations. Decorations of a
/// group lose their places, and each of its variables gets decorations of its own.
fn renumber(decoded: &Decoded<'_>, declared: &FxHashMap<u32, Place>, places: &Places) -> Arc<[u32]> {
    let new_place = |variable: &u32| declared.get(variable).and_then(|place| places.adapted(*place));
    let groups: FxHashSet<u32> = decoded.instructions.iter().filter(|i| i.is(Op::DecorationGroup)).map(|i| i.result).collect();
    let mut words = decoded.words[..HEADER_WORDS].to_vec();
    // The place decorations that were removed from each group.
    let mut of_group: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for instruction in &decoded.instructions {
        let start = words.len();
        let instruction_words = instruction.words(decoded.words);
        words.extend(instruction_words);
        match (instruction.op, instruction.operands(decoded.words)) {
            (Op::Decorate, &[target, decoration, _]) if is_place(decoration) => {
                if let Some(place) = new_place(&target) {
                    words[start + 3] = part(decoration, place);
                } else if groups.contains(&target) {
                    words.truncate(start);
                    of_group.entry(target).or_default().push(decoration);
                }
            }
            (Op::GroupDecorate, [group, targets @ ..]) => {
                for target in targets {
                    for &decoration in of_group.get(group).into_iter().flatten() {
                        if let Some(place) = new_place(target) {
                            words.extend([4 << 16 | Op::Decorate as u32, *target, decoration, part(decoration, place)]);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Arc::from(words)
}

fn is_place(decoration: u32) -> bool {
    decoration == Decoration::DescriptorSet as u32 || decoration == Decoration::Binding as u32
}

fn part(decoration: u32, (set, binding): Place) -> u32 {
    if decoration == Decoration::DescriptorSet as u32 { set } else { binding }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::spirv::{Options, assemble};

    use super::*;
    use crate::dispatch::BufferKind;

    /// Four variables: two at sparse places, and two at one place, through a group or directly.
    fn module(places: [Place; 3], grouped: bool) -> Arc<[u32]> {
        let direct =
            |name: &str, (set, binding): Place| format!("OpDecorate %{name} DescriptorSet {set}\n OpDecorate %{name} Binding {binding}\n");
        let group = if grouped {
            format!("{} %group = OpDecorationGroup\n OpGroupDecorate %group %c %d\n", direct("group", places[2]))
        } else {
            format!("%group = OpDecorationGroup\n OpGroupDecorate %group %c %d\n {} {}", direct("c", places[2]), direct("d", places[2]))
        };
        let text = format!(
            "OpCapability Shader\n OpMemoryModel Logical GLSL450\n {} {} {group}
             %uint = OpTypeInt 32 0\n %block = OpTypeStruct %uint\n %pointer = OpTypePointer StorageBuffer %block
             %a = OpVariable %pointer StorageBuffer\n %b = OpVariable %pointer StorageBuffer
             %c = OpVariable %pointer StorageBuffer\n %d = OpVariable %pointer StorageBuffer",
            direct("a", places[0]),
            direct("b", places[1])
        );
        Arc::from(assemble(&text, Options::default()).expect("it assembles"))
    }

    fn dispatch(words: Arc<[u32]>, bound: &[Place]) -> ComputeDispatch {
        let buffers = bound.iter().map(|&(set, binding)| {
            let bytes = vec![set as u8, binding as u8, 0, 0];
            BufferBinding { set, binding, kind: BufferKind::ReadWrite, bytes }
        });
        ComputeDispatch { words, entry: "main".into(), groups: [1; 3], buffers: buffers.collect(), ..ComputeDispatch::default() }
    }

    fn places_of(words: &[u32]) -> Vec<Place> {
        let decoded = decode(words).expect("it decodes");
        let place = |d: &Descriptor| (d.set.expect("it has a set"), d.binding.expect("it has a binding"));
        resources::descriptors(&decoded).iter().map(place).collect()
    }

    #[test]
    fn gaps_are_closed_in_ascending_order() {
        let sparse = dispatch(module([(3, 9), (3, 4), (7, 1)], true), &[(7, 1), (3, 9), (3, 4)]);
        let (adapted, places) = adapt(&sparse).expect("it can be renumbered");
        assert_eq!(places_of(&adapted.words), [(0, 1), (0, 0), (1, 0), (1, 0)]);
        let buffers: Vec<_> = adapted.buffers.iter().map(|b| (b.set, b.binding, b.bytes[..2].to_vec())).collect();
        assert_eq!(buffers, [(1, 0, vec![7, 1]), (0, 1, vec![3, 9]), (0, 0, vec![3, 4])], "the order and the contents stay");
        assert_eq!(places.original((0, 1)), Some((3, 9)));
        assert_eq!(places.adapted((7, 1)), Some((1, 0)));
        assert_ne!(adapted.words_hash(), sparse.words_hash());
    }

    #[test]
    fn only_the_literals_differ() {
        let sparse = dispatch(module([(0, 3), (0, 1), (2, 0)], false), &[(0, 3), (0, 1), (2, 0)]);
        let (adapted, _) = adapt(&sparse).expect("it can be renumbered");
        assert_eq!(adapted.words, module([(0, 1), (0, 0), (1, 0)], false));
    }

    #[test]
    fn what_is_not_bound_comes_after_what_is() {
        let sparse = dispatch(module([(0, 0), (0, 5), (1, 1)], true), &[(0, 5)]);
        let (adapted, _) = adapt(&sparse).expect("it can be renumbered");
        assert_eq!(places_of(&adapted.words), [(0, 1), (0, 0), (1, 0), (1, 0)]);
    }

    #[test]
    fn dense_words_stay_as_they_are() {
        let dense = dispatch(module([(0, 0), (0, 1), (1, 0)], true), &[(0, 1), (0, 0), (1, 0)]);
        let (adapted, places) = adapt(&dense).expect("it can be renumbered");
        assert!(places.is_identity());
        assert_eq!(adapted, dense);
    }

    #[test]
    fn both_stages_of_a_draw_have_the_same_places() {
        use smallstep_semantics::image::{Format, Image, Sampler};
        use smallstep_semantics::raster::{self, Topology};

        use crate::dispatch::{Geometry, ImageKind};

        let image = Image::new(Format::R8Unorm, 1, 1, 1).expect("it has a texel");
        let stage = |words| Stage { words, entry: "main".into() };
        let draw = DrawDispatch {
            vertex: stage(module([(4, 9), (4, 2), (7, 7)], false)),
            fragment: stage(module([(4, 9), (5, 0), (4, 3)], true)),
            geometry: Geometry::of_count(Topology::List, 3),
            buffers: vec![BufferBinding { set: 4, binding: 9, kind: BufferKind::ReadWrite, bytes: vec![0; 4] }],
            images: vec![ImageBinding { set: 5, binding: 0, kind: ImageKind::Storage, image }],
            samplers: vec![SamplerBinding { set: 4, binding: 3, sampler: Sampler::default() }],
            push_constants: vec![],
            state: raster::State::of_size(1, 1),
            targets: vec![],
            depth: None,
        };
        let (adapted, places) = adapt_draw(&draw).expect("it can be renumbered");
        // Set 4 has the sampler at 3 and the buffer at 9, then the variables that only the vertex
        // stage declares.
        assert_eq!(places_of(&adapted.vertex.words), [(0, 1), (0, 2), (2, 0), (2, 0)]);
        assert_eq!(places_of(&adapted.fragment.words), [(0, 1), (1, 0), (0, 0), (0, 0)]);
        let bound = (adapted.bound().places()).map(|place| places.original(place)).collect::<Option<Vec<_>>>();
        assert_eq!(bound, Some(vec![(4, 9), (5, 0), (4, 3)]));
        assert_eq!(adapted.bound().places().collect::<Vec<_>>(), [(0, 1), (1, 0), (0, 0)]);
    }

    #[test]
    fn what_cannot_be_renumbered_is_named() {
        let error = adapt(&dispatch(Arc::from([1, 2, 3]), &[(0, 0)])).expect_err("these are no words").0;
        assert!(!error.is_empty());
        let mut words = module([(0, 3), (0, 1), (2, 0)], false).to_vec();
        let binding = (5..words.len()).find(|&at| words[at] == 4 << 16 | 71 && words[at + 2] == 33).expect("there is a binding");
        words.drain(binding..binding + 4);
        let error = adapt(&dispatch(words.into(), &[(0, 3)])).expect_err("a binding is missing").0;
        assert!(error.contains("no binding"), "{error}");
    }
}
