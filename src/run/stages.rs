//! A draw of a WSL program, and its picture. A fragment entry point covers the whole screen, or it
//! follows a vertex entry point.

use super::Picture;
use super::grid::{Read, ResourceInput, ResourceRef, bind_to};
use super::screen::{Input, Value};
use crate::dispatch::Target;
use smallstep_semantics::image::Compare;
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::draw::{Attribute, Draw, Shown, StageInSource, Vertices, resources};
use smallstep_semantics::wsl::entry::{Stage, entry_of};
use smallstep_semantics::wsl::specialization::Specialization;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::Program;

/// The request for a draw.
#[derive(Clone, Copy, Debug)]
pub struct DrawRequest<'a> {
    /// The name of the fragment entry point. Not needed if there is only one.
    pub fragment: Option<&'a str>,
    /// The name of the vertex entry point. Without it, the fragment entry point covers the
    /// whole screen.
    pub vertex: Option<&'a str>,
    /// The number of vertices. The default is 3.
    pub vertices: Option<u32>,
    /// The number of instances. The default is 1.
    pub instances: Option<u32>,
    /// The vertex attributes, by number.
    pub attributes: &'a [Input],
    /// The inputs of the fragments, if there is no vertex entry point.
    pub inputs: &'a [Input],
    /// The width and height in pixels.
    pub size: (u32, u32),
    /// The depth test, if there is one.
    pub depth: Option<Compare>,
    /// The specialization constants of both stages, by name.
    pub specialized: &'a [(String, String)],
}

/// The vertex attribute of an input, by the scalar type in its text.
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

/// Checks that each attribute is given once.
fn once(inputs: &[Input]) -> Result<(), InvalidInput> {
    let twice = inputs.iter().enumerate().find(|(i, a)| inputs[..*i].iter().any(|b| a.location == b.location));
    twice.map_or(Ok(()), |(_, a)| Err(InvalidInput::new(InputFault::Unused, format!("attribute {} is given twice", a.location))))
}

/// The requested draw, with contents bound to the resources of both stages.
///
/// If an entry point does not exist or is ambiguous. If an input is not used, is given twice, or
/// has the wrong type. If resources are wrong (see [`super::grid::bind`]), or specialization
/// constants. The interface between the two stages is checked when the draw runs.
pub fn draw<'p>(
    program: &'p Program,
    text: &'p str,
    request: &DrawRequest,
    contents: &[(ResourceRef, ResourceInput)],
    read: Read<'_>,
) -> Result<Draw<'p>, InvalidInput> {
    let fragment = entry_of(program, Stage::Fragment, request.fragment)?;
    once(request.attributes)?;
    once(request.inputs)?;
    let vertices = match request.vertex {
        Some(name) => {
            if let Some(input) = request.inputs.first() {
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("an input is given for attribute {}, which the vertex entry point gives", input.location),
                ));
            }
            let entry = entry_of(program, Stage::Vertex, Some(name))?;
            let data = request.attributes.iter().map(|input| match &input.value {
                Value::Constant(bytes) => attribute(input, bytes),
                Value::Screen => Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("attribute {} of vertices is no place on the screen", input.location),
                )),
            });
            Vertices::Shaded {
                entry,
                count: request.vertices.unwrap_or(3),
                instances: request.instances.unwrap_or(1),
                attributes: data.collect::<Result<_, _>>()?,
            }
        }
        None => {
            let of_vertices = [
                (!request.attributes.is_empty(), "attributes"),
                (request.vertices.is_some(), "a number of vertices"),
                (request.instances.is_some(), "instances"),
            ];
            if let Some((_, what)) = of_vertices.into_iter().find(|(is_given, _)| *is_given) {
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("{what} are given, and no vertex entry point: say which with --vertex"),
                ));
            }
            let screen_inputs = request.inputs.iter().map(|input| match &input.value {
                Value::Constant(bytes) => Ok((input.location, StageInSource::Constant(attribute(input, bytes)?))),
                Value::Screen => Ok((input.location, StageInSource::Place)),
            });
            Vertices::Screen(screen_inputs.collect::<Result<_, InvalidInput>>()?)
        }
    };
    let entry = match &vertices {
        Vertices::Shaded { entry, .. } => Some(*entry),
        Vertices::Screen(_) => None,
    };
    let empty = resources(program, entry, fragment)?;
    let resources = bind_to(program, empty, contents, read)?;
    let entries: Vec<_> = entry.into_iter().chain([fragment]).collect();
    let specialization = Specialization::new(program, &entries, request.specialized)?;
    let (width, height) = request.size;
    Ok(Draw { program, text, vertices, fragment, size: [width, height], depth: request.depth, resources, specialization })
}

/// The targets as a picture. A pixel has a value if its texel has exactly one possible value.
pub fn picture(shown: &Shown, (width, height): (u32, u32)) -> Picture {
    let outputs = shown.targets.iter().map(|target| Target { location: target.number, components: 4 }).collect();
    let texel = |texel: &[_; 4]| {
        let [r, g, b, a]: &[smallstep_semantics::wsl::open::Possible; 4] = texel;
        Some([r.only()?, g.only()?, b.only()?, a.only()?])
    };
    let images = shown.targets.iter().map(|target| target.texels.iter().map(texel).collect()).collect();
    Picture { origin: (0, 0), width, height, outputs, images, endings: Vec::new(), steps: shown.steps }
}

/// The comparison of depths with this name: `less`, `less-equal`, and so on.
///
/// # Errors
/// If there is no such comparison.
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
