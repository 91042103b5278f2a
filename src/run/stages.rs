//! A draw of a WSL program: a fragment entry point over the whole screen, or behind a vertex entry
//! point; and its picture.

use super::Picture;
use super::grid::{Given as GivenFor, Read, To, bind_to};
use super::screen::{Input, Value};
use crate::dispatch::Target;
use smallstep_semantics::image::Compare;
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::draw::{Attribute, Draw, Given, Shown, Vertices, resources};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::Program;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The fragment entry point's name; it may be left out if there is one only.
    pub fragment: Option<&'a str>,
    /// The vertex entry point's name; without it the fragment entry point is drawn
    /// over the whole screen.
    pub vertex: Option<&'a str>,
    /// How many vertices and instances there are: 3 and 1 if nothing else is said.
    pub vertices: Option<u32>,
    /// How many instances.
    pub instances: Option<u32>,
    /// What the vertices hold, by the numbers of attributes.
    pub attributes: &'a [Input],
    /// What the fragments hold where there is no vertex entry point.
    pub inputs: &'a [Input],
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// How depths are compared, if they are.
    pub depth: Option<Compare>,
    /// The specialization constants of both stages, by name.
    pub specialized: &'a [(String, String)],
}

/// The scalars of that written type.
fn attribute(input: &Input, bytes: &[u8]) -> Result<Attribute, InvalidInput> {
    let scalar = match input.written.as_str() {
        "f32" => Scalar::Float,
        "u32" => Scalar::Uint,
        "i32" => Scalar::Int,
        other => {
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("attribute {} is written as {other}; attributes are f32, u32 or i32", input.location),
            ));
        }
    };
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Ok(Attribute { number: input.location, scalar, words })
}

/// Each attribute once.
fn once(inputs: &[Input]) -> Result<(), InvalidInput> {
    let twice = inputs.iter().enumerate().find(|(i, a)| inputs[..*i].iter().any(|b| a.location == b.location));
    twice.map_or(Ok(()), |(_, a)| Err(InvalidInput::new(InputFault::Unused, format!("attribute {} is given twice", a.location))))
}

/// The draw that is asked for, with what is bound to the resources of both stages.
///
/// # Errors
/// An entry point that is not there, or that cannot be told from others; what is given to no
/// purpose, twice, or as another type than there is; resources as [`super::grid::bind`] has them,
/// specialization constants likewise. What the two stages hand on is checked when the draw runs.
pub fn draw<'p>(
    program: &'p Program,
    text: &'p str,
    asked: &Asked,
    given: &[(To, GivenFor)],
    read: Read<'_>,
) -> Result<Draw<'p>, InvalidInput> {
    let fragment = entry_of(program, Stage::Fragment, asked.fragment)?;
    once(asked.attributes)?;
    once(asked.inputs)?;
    let vertices = match asked.vertex {
        Some(name) => {
            if let Some(input) = asked.inputs.first() {
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("an input is given for attribute {}, which the vertex entry point gives", input.location),
                ));
            }
            let entry = entry_of(program, Stage::Vertex, Some(name))?;
            let data = asked.attributes.iter().map(|input| match &input.value {
                Value::Constant(bytes) => attribute(input, bytes),
                Value::Screen => Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("attribute {} of vertices is no place on the screen", input.location),
                )),
            });
            Vertices::Shaded {
                entry,
                count: asked.vertices.unwrap_or(3),
                instances: asked.instances.unwrap_or(1),
                attributes: data.collect::<Result<_, _>>()?,
            }
        }
        None => {
            let of_vertices = [
                (!asked.attributes.is_empty(), "attributes"),
                (asked.vertices.is_some(), "a number of vertices"),
                (asked.instances.is_some(), "instances"),
            ];
            if let Some((_, what)) = of_vertices.into_iter().find(|(given, _)| *given) {
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("{what} are given, and no vertex entry point: say which with --vertex"),
                ));
            }
            let given = asked.inputs.iter().map(|input| match &input.value {
                Value::Constant(bytes) => Ok((input.location, Given::Constant(attribute(input, bytes)?))),
                Value::Screen => Ok((input.location, Given::Place)),
            });
            Vertices::Screen(given.collect::<Result<_, InvalidInput>>()?)
        }
    };
    let entry = match &vertices {
        Vertices::Shaded { entry, .. } => Some(*entry),
        Vertices::Screen(_) => None,
    };
    let empty = resources(program, entry, fragment)?;
    let resources = bind_to(program, empty, given, read)?;
    let entries: Vec<_> = entry.into_iter().chain([fragment]).collect();
    let specialization = Specialization::new(program, &entries, asked.specialized)?;
    let (width, height) = asked.size;
    Ok(Draw { program, text, vertices, fragment, size: [width, height], depth: asked.depth, resources, specialization })
}

/// The targets as a picture: a pixel has a value where it has exactly one.
pub fn picture(shown: &Shown, (width, height): (u32, u32)) -> Picture {
    let outputs = shown.targets.iter().map(|target| Target { location: target.number, components: 4 }).collect();
    let texel = |texel: &[_; 4]| {
        let [r, g, b, a]: &[smallstep_semantics::wsl::open::Possible; 4] = texel;
        Some([r.only()?, g.only()?, b.only()?, a.only()?])
    };
    let images = shown.targets.iter().map(|target| target.texels.iter().map(texel).collect()).collect();
    Picture { origin: (0, 0), width, height, outputs, images, endings: Vec::new(), steps: shown.steps }
}

/// A comparison of depths by its name: `less`, `less-equal`, and so on.
///
/// # Errors
/// There is none of that name.
pub fn comparison(text: &str) -> Result<Compare, InvalidInput> {
    Ok(match text {
        "never" => Compare::Never,
        "less" => Compare::Less,
        "equal" => Compare::Equal,
        "less-equal" => Compare::LessOrEqual,
        "greater" => Compare::Greater,
        "not-equal" => Compare::NotEqual,
        "greater-equal" => Compare::GreaterOrEqual,
        "always" => Compare::Always,
        _ => {
            return Err(InvalidInput::new(
                InputFault::Text,
                format!("\"{text}\" is none of never, less, equal, less-equal, greater, not-equal, greater-equal and always"),
            ));
        }
    })
}
