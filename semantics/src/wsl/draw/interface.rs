//! The interface between stages: seed 004 "Arguments and Return Types" (ERRATA WSL-D28). It is
//! checked completely before any thread runs.

use super::{Attribute, Draw, Rules, StageInSource, Vertices};
use crate::raster::Interpolation;
use crate::rule::Rule;
use crate::wsl::entry::{EntryPoint, Item};
use crate::wsl::environment::Semantic;
use crate::wsl::error::Error;
use crate::wsl::execution::Shared;
use crate::wsl::group::offset;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::syntax::{BuiltinSemantic, Qualifier};
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::Program;

/// The layout of a stage-in or stage-out variable's scalars in its words.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub(super) scalar: Scalar,
    /// The word index of each scalar, in the order of attribute data: a matrix is stored column
    /// by column.
    pub(super) at: Vec<usize>,
    /// The size of the variable in words.
    pub(super) words: usize,
}

impl Elements {
    /// The layout of a scalar, vector or matrix. `None` for other types.
    pub(super) fn of(program: &Program, ty: TypeId) -> Option<Elements> {
        let (scalar, columns, rows) = match program.env.types.get(ty) {
            Type::Scalar(s) => (s, 1, 1),
            Type::Vector(s, n) => (s, 1, usize::from(n)),
            Type::Matrix(s, n, m) => (s, usize::from(n), usize::from(m)),
            _ => return None,
        };
        let stride = rows.next_power_of_two();
        let at = (0..columns).flat_map(|c| (0..rows).map(move |r| c * stride + r)).collect();
        Some(Elements { scalar, at, words: columns * stride })
    }
}

/// The source of a fragment's stage-in variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A stage-out variable, by its index in [`Interface::outputs`].
    Vertices(usize),
    /// No source. The variable is zeros.
    Nowhere,
}

/// A stage-in variable of the fragment shader.
#[derive(Debug)]
pub(super) struct Input<'p> {
    pub(super) item: &'p Item,
    /// The number of its attribute.
    pub(super) number: u32,
    pub(super) elements: Elements,
    pub(super) from: From,
    pub(super) how: Interpolation,
}

/// The offset of a result in the value that the entry point returns, in words.
pub(super) type Place = usize;

/// The inputs and outputs of both stages.
#[derive(Debug)]
pub(super) struct Interface<'p> {
    /// The stage-in variables of the vertex shader, each with the index of its attribute in
    /// the draw.
    pub(super) attributes: Vec<(&'p Item, Elements, usize)>,
    /// The stage-out variables that a fragment's variable matches: place, and size in words. With
    /// [`Vertices::Screen`], the given attributes instead.
    pub(super) outputs: Vec<(Place, usize)>,
    pub(super) position: Place,
    pub(super) inputs: Vec<Input<'p>>,
    /// The targets, ordered by number.
    pub(super) targets: Vec<(u32, Place)>,
    pub(super) depth: Option<Place>,
    pub(super) coverage: Option<Place>,
    pub(super) fired: Vec<Rule>,
}

fn name(program: &Program, item: &Item) -> String {
    item.name.map_or_else(|| "what it returns".into(), |n| format!("`{}`", program.env.names.name(n)))
}

fn attribute_of(item: &Item) -> Option<u32> {
    match item.semantic {
        Some((Semantic::Attribute(n), _)) => Some(n),
        _ => None,
    }
}

fn qualified(program: &Program, item: &Item) -> String {
    let mut words: Vec<&str> = item.qualifiers.iter().map(|q| q.keyword()).collect();
    let ty = program.env.type_name(item.ty);
    words.push(&ty);
    words.join(" ")
}

/// a stage-out variable and the stage-in variable with its attribute have the same type and
/// qualifiers [wsl/d-match, 004 Arguments and Return Types]
///
/// The order of qualifiers does not matter.
pub fn d_match(out: &Item, into: &Item) -> bool {
    let has = |item: &Item, q: &Qualifier| item.qualifiers.contains(q);
    out.ty == into.ty && Qualifier::ALL.iter().all(|q| has(out, q) == has(into, q))
}

/// a stage-in variable of a fragment shader that no stage-out variable matches is zeros
/// [wsl/d-left-over, 004 Arguments and Return Types; WSL-D28]
pub fn d_left_over(words: usize) -> Words {
    Words::from_elem(Word::Bits(0), words)
}

/// a stage-in variable of a vertex shader holds its vertex's part of the attribute's data, which
/// are of its type [wsl/d-attribute, 004 Vertex Shader]
///
/// Returns the scalars of that vertex. `None` if the data have another type or another number
/// of vertices.
pub fn d_attribute(data: &Attribute, scalar: Scalar, each: usize, vertices: u32, vertex: u32) -> Option<&[u32]> {
    let fits = data.scalar == scalar && data.words.len() as u64 == each as u64 * u64::from(vertices);
    let first = vertex as usize * each;
    if fits { data.words.get(first..first + each) } else { None }
}

/// a stage-in variable of a fragment shader that holds no floats is nointerpolation [wsl/d-integer,
/// 004 Rasterizer; WSL-D28]
pub fn d_integer(scalar: Scalar, qualifiers: &[Qualifier]) -> bool {
    scalar == Scalar::Float || qualifiers.contains(&Qualifier::Nointerpolation)
}

/// a vertex shader has a result SV_Position [wsl/d-position, 004 Vertex Shader; WSL-D28]
pub fn d_position(results: &[Item]) -> Option<&Item> {
    results.iter().find(|item| matches!(item.semantic, Some((Semantic::Builtin(BuiltinSemantic::Position), _))))
}

/// Checks that each specialization constant has a value.
fn specialized(draw: &Draw, entry: &EntryPoint) -> Result<(), Error> {
    let is_bare = |&(k, item): &(usize, &Item)| {
        matches!(item.semantic, Some((Semantic::Specialized, _))) && draw.specialization.word(entry, k).is_none()
    };
    entry.inputs.iter().enumerate().find(is_bare).map_or(Ok(()), |(_, item)| {
        let what = format!("{} is a specialization constant, and nothing is given for it", name(draw.program, item));
        Err(Error::new(Rule::WslEpSpecialized, item.span, what))
    })
}

impl<'p> Interface<'p> {
    /// The interface of a draw.
    ///
    /// # Errors
    /// The mismatch: the rule, and the place.
    pub(super) fn new(draw: &Draw<'p>, stages: (Option<&Shared>, &Shared), rules: &Rules) -> Result<Interface<'p>, Error> {
        let program = draw.program;
        let mut interface = Interface {
            attributes: Vec::new(),
            outputs: Vec::new(),
            position: 0,
            inputs: Vec::new(),
            targets: Vec::new(),
            depth: None,
            coverage: None,
            fired: Vec::new(),
        };
        let result = |shared: &Shared, entry: &EntryPoint, item: &Item| {
            offset(program, shared, item, program.env.function(entry.function).result) as usize / 4
        };
        if let (Vertices::Shaded { entry, .. }, Some(shared)) = (&draw.vertices, stages.0) {
            specialized(draw, entry)?;
            let Some(position) = (rules.position)(&entry.outputs) else {
                let span = program.env.function(entry.function).name.span;
                let what = "the vertex entry point has no result SV_Position; the rule needs one, for nothing else says where a vertex is";
                return Err(Error::new(Rule::WslDPosition, span, what));
            };
            interface.fired.push(Rule::WslDPosition);
            interface.position = result(shared, entry, position);
            interface.attributes(draw, entry, rules)?;
        }
        specialized(draw, draw.fragment)?;
        for item in &draw.fragment.inputs {
            let (Some(number), Some(elements)) = (attribute_of(item), Elements::of(program, item.ty)) else { continue };
            let from = interface.matched(draw, item, number, &elements, (stages.0, &result), rules)?;
            if from != From::Nowhere {
                if !(rules.integer)(elements.scalar, &item.qualifiers) {
                    let (name, ty) = (name(program, item), program.env.type_name(item.ty));
                    let what = format!(
                        "{name} is {ty} and would be interpolated; the rule needs nointerpolation, for averages of floats alone are defined"
                    );
                    return Err(Error::new(Rule::WslDInteger, item.span, what));
                }
                interface.fired.push(Rule::WslDInteger);
            }
            let how = (rules.interpolate)(&item.qualifiers);
            interface.inputs.push(Input { item, number, elements, from, how });
        }
        for item in &draw.fragment.outputs {
            let at = result(stages.1, draw.fragment, item);
            match item.semantic {
                Some((Semantic::Target(n), _)) => interface.targets.push((n, at)),
                Some((Semantic::Builtin(BuiltinSemantic::Depth), _)) => interface.depth = Some(at),
                Some((Semantic::Builtin(BuiltinSemantic::Coverage), _)) => interface.coverage = Some(at),
                _ => {}
            }
        }
        interface.targets.sort_unstable();
        if let Vertices::Screen(given) = &draw.vertices
            && let Some((number, _)) = given.iter().find(|(n, _)| interface.inputs.iter().all(|input| input.number != *n))
        {
            let span = program.env.function(draw.fragment.function).name.span;
            let what = format!("attribute({number}) is given, and no argument of the fragment entry point is it");
            return Err(Error::new(Rule::WslDAttribute, span, what));
        }
        Ok(interface)
    }

    fn attributes(&mut self, draw: &Draw<'p>, entry: &'p EntryPoint, rules: &Rules) -> Result<(), Error> {
        let Vertices::Shaded { attributes, count, .. } = &draw.vertices else { return Ok(()) };
        let program = draw.program;
        for item in &entry.inputs {
            let (Some(number), Some(elements)) = (attribute_of(item), Elements::of(program, item.ty)) else { continue };
            let ty = program.env.type_name(item.ty);
            let wrong = |what: String| Error::new(Rule::WslDAttribute, item.span, what);
            let Some(k) = attributes.iter().position(|a| a.number == number) else {
                return Err(wrong(format!("nothing is given for attribute({number}), which is {} of type {ty}", name(program, item))));
            };
            let (data, each) = (&attributes[k], elements.at.len());
            let none = *count == 0 && data.words.is_empty();
            if !none && (rules.attribute)(data, elements.scalar, each, *count, 0).is_none() {
                let needed = each as u64 * u64::from(*count);
                return Err(wrong(format!(
                    "{} {}s are given for attribute({number}); {} of type {ty} needs {needed} {}s for {count} vertices",
                    data.words.len(),
                    data.scalar.name(),
                    name(program, item),
                    elements.scalar.name()
                )));
            }
            self.fired.push(Rule::WslDAttribute);
            self.attributes.push((item, elements, k));
        }
        let taken = |a: &&Attribute| self.attributes.iter().any(|(_, _, k)| attributes[*k].number == a.number);
        if let Some(left) = attributes.iter().find(|a| !taken(a)) {
            let span = program.env.function(entry.function).name.span;
            let what = format!("attribute({}) is given, and no argument of the vertex entry point is it", left.number);
            return Err(Error::new(Rule::WslDAttribute, span, what));
        }
        Ok(())
    }

    /// The source of a fragment's stage-in variable.
    fn matched(
        &mut self,
        draw: &Draw<'p>,
        item: &Item,
        number: u32,
        elements: &Elements,
        (shared, result): (Option<&Shared>, &impl Fn(&Shared, &EntryPoint, &Item) -> usize),
        rules: &Rules,
    ) -> Result<From, Error> {
        let program = draw.program;
        match (&draw.vertices, shared) {
            (Vertices::Shaded { entry, .. }, Some(shared)) => {
                let Some(out) = entry.outputs.iter().find(|out| attribute_of(out) == Some(number)) else {
                    self.fired.push(Rule::WslDLeftOver);
                    return Ok(From::Nowhere);
                };
                if !(rules.matches)(out, item) {
                    let what = format!(
                        "attribute({number}) is {} here, and {} as a result of the vertex stage; the rule needs the same type and qualifiers",
                        qualified(program, item),
                        qualified(program, out)
                    );
                    return Err(Error::new(Rule::WslDMatch, item.span, what).note(Some(out.span), "the result is declared here"));
                }
                self.fired.push(Rule::WslDMatch);
                self.outputs.push((result(shared, entry, out), elements.words));
            }
            (Vertices::Screen(given), _) => {
                let flat = item.qualifiers.contains(&Qualifier::Nointerpolation);
                let fits = match given.iter().find(|(n, _)| *n == number).map(|(_, given)| given) {
                    None => Err(format!("nothing is given for attribute({number}), which is {}", name(program, item))),
                    Some(StageInSource::Constant(data)) if data.scalar == elements.scalar && data.words.len() == elements.at.len() => {
                        Ok(())
                    }
                    Some(StageInSource::Constant(data)) => Err(format!(
                        "{} {}s are given for attribute({number}); {} of type {} needs {} {}s",
                        data.words.len(),
                        data.scalar.name(),
                        name(program, item),
                        program.env.type_name(item.ty),
                        elements.at.len(),
                        elements.scalar.name()
                    )),
                    Some(StageInSource::Place) if flat || item.ty != TypeId::vector(Scalar::Float, 2) => Err(format!(
                        "attribute({number}) is {}; the place on the screen is float2, and interpolated",
                        qualified(program, item)
                    )),
                    Some(StageInSource::Place) => Ok(()),
                };
                fits.map_err(|what| Error::new(Rule::WslDAttribute, item.span, what))?;
                self.outputs.push((0, elements.words));
            }
            (Vertices::Shaded { .. }, None) => return Ok(From::Nowhere),
        }
        Ok(From::Vertices(self.outputs.len() - 1))
    }
}
