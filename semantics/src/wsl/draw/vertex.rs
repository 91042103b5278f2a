//! Vertices: seed 004 "Vertex Shader".

use super::fragment::over_screen;
use super::interface::{From, Interface};
use super::threads::{Engine, Start, Starts, limit};
use super::{Draw, Ending, MAX_THREADS, StageInSource, Vertices};
use crate::rule::Rule;
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::Semantic;
use crate::wsl::execution::term::Value;
use crate::wsl::execution::{InDraw, Shared};
use crate::wsl::group::{Schedule, bound, offset};
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::syntax::BuiltinSemantic;
use crate::wsl::typing::program::Program;

/// The output of a vertex: its position, and the stage-out variables that a fragment's
/// variable matches.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) position: [Word; 4],
    pub(super) outputs: Vec<Words>,
}

/// a vertex is a thread, with its number for SV_VertexID and that of its instance for SV_InstanceID
/// [wsl/d-vertex, 004 Vertex Shader, Built-in Variables]
pub fn d_vertex(vertex: u32, instance: u32, built_in: BuiltinSemantic) -> Option<u32> {
    match built_in {
        BuiltinSemantic::VertexId => Some(vertex),
        BuiltinSemantic::InstanceId => Some(instance),
        _ => None,
    }
}

/// The arguments of an entry point. `holds` gives the words of an input item. All other words
/// are zeros.
pub(super) fn arguments(
    program: &Program,
    shared: &Shared,
    entry: &EntryPoint,
    mut holds: impl FnMut(usize, &Item) -> Option<Words>,
) -> Vec<Value> {
    let parameters = &program.env.function(entry.function).parameters;
    let zeros = |words: u32| Words::from_elem(Word::Bits(0), words as usize);
    let mut values: Vec<Value> = parameters.iter().map(|p| Value { ty: p.ty, words: zeros(shared.words(p.ty).unwrap_or(0)) }).collect();
    for (i, item) in entry.inputs.iter().enumerate() {
        let (Some(words), Some(parameter)) = (holds(i, item), item.parameter) else { continue };
        let value = &mut values[parameter as usize];
        let at = offset(program, shared, item, value.ty) as usize / 4;
        if let Some(place) = value.words.get_mut(at..at + words.len()) {
            place.copy_from_slice(&words);
        }
    }
    values
}

/// The rows of all vertices, instance by instance. With [`Vertices::Screen`], the corners of a
/// triangle over the screen.
pub(super) fn rows<'a>(
    engine: &mut impl Engine<'a>,
    draw: &Draw,
    shared: Option<&Shared>,
    interface: &Interface,
) -> Result<Vec<Row>, Ending> {
    let (Vertices::Shaded { entry, count, instances, attributes }, Some(shared)) = (&draw.vertices, shared) else {
        return Ok(screen(draw, interface));
    };
    let all = u64::from(*count) * u64::from(*instances);
    if all > MAX_THREADS {
        return Err(limit("vertices", MAX_THREADS));
    }
    let settings = engine.common().settings;
    let rules = engine.common().rules;
    let mut rows = Vec::new();
    let batch = if settings.schedule == Some(Schedule::InOrder) { 1 } else { all as u32 };
    let mut next = 0;
    while u64::from(next) < all {
        let mut groups = Vec::new();
        for number in next..next + batch {
            let (instance, vertex) = (number / count, number % count);
            let values = arguments(draw.program, shared, entry, |k, item| match item.semantic {
                Some((Semantic::Specialized, _)) => Some(Words::from_slice(&[Word::Bits(draw.specialization.word(entry, k)?)])),
                Some((Semantic::Builtin(built_in), _)) => {
                    (rules.vertex)(vertex, instance, built_in).map(|bits| Words::from_slice(&[Word::Bits(bits)]))
                }
                Some((Semantic::Attribute(_), _)) => {
                    let (_, elements, k) = interface.attributes.iter().find(|(of, ..)| std::ptr::eq(*of, item))?;
                    let data = (rules.attribute)(&attributes[*k], elements.scalar, elements.at.len(), *count, vertex)?;
                    let mut words = Words::from_elem(Word::Bits(0), elements.words);
                    elements.at.iter().zip(data).for_each(|(&at, &bits)| words[at] = Word::Bits(bits));
                    Some(words)
                }
                _ => bound(draw.program, &draw.resources, item),
            });
            let stage = InDraw { lane: None, helper: false, doubtful: false, exchange: None };
            groups.push(Starts { number, threads: vec![Start { number, values, stage }] });
        }
        let left = engine.run(shared, entry, groups)?;
        engine.common().fired.insert(Rule::WslDVertex);
        for words in left {
            // Vertices are never discarded.
            let words = words.into_iter().next().flatten().unwrap_or_default();
            let word = |at: usize| words.get(at).copied().unwrap_or(Word::Bits(0));
            rows.push(Row {
                position: [0, 1, 2, 3].map(|c| word(interface.position + c)),
                outputs: interface.outputs.iter().map(|&(at, n)| (at..at + n).map(word).collect()).collect(),
            });
        }
        next += batch;
    }
    Ok(rows)
}

fn screen(draw: &Draw, interface: &Interface) -> Vec<Row> {
    let Vertices::Screen(given) = &draw.vertices else { return Vec::new() };
    let floats = |values: &[f32]| values.iter().map(|x| Word::Bits(x.to_bits())).collect::<Words>();
    over_screen()
        .into_iter()
        .map(|(position, place)| {
            let output = |input: &super::interface::Input| {
                let From::Vertices(_) = input.from else { return None };
                let super::interface::Elements { at, words, .. } = &input.elements;
                match given.iter().find(|(n, _)| *n == input.number).map(|(_, given)| given)? {
                    StageInSource::Place => Some(floats(&place)),
                    StageInSource::Constant(data) => {
                        let mut all = Words::from_elem(Word::Bits(0), *words);
                        at.iter().zip(&data.words).for_each(|(&at, &bits)| all[at] = Word::Bits(bits));
                        Some(all)
                    }
                }
            };
            Row { position: position.map(|x| Word::Bits(x.to_bits())), outputs: interface.inputs.iter().filter_map(output).collect() }
        })
        .collect()
}
