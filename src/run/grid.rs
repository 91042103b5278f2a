//! The run of a WSL compute entry point over a grid, and the binding of resources by name, register
//! or place.

use crate::compute::bound;
use crate::compute::given::{Contents, Place, Texels};
use smallstep_semantics::image::{Image, Sampler, Shape};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage, entry_of};
use smallstep_semantics::wsl::group::{Buffer, Resource, ResourceContents, Textured};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::texture::{self, Texture};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;
use std::path::Path;
use std::str::FromStr;

/// A resource argument `NAME=…`, by the resource's name or register in the program, such as
/// `data=u32:1,2`, `u0=…` or `u0,space1=…`. The kind of the resource (array reference, texture
/// or sampler) determines how the text after `=` is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The name or register.
    pub name: String,
    /// The text for the contents.
    pub given: String,
}

impl FromStr for Bound {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Bound, InvalidInput> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| InvalidInput::new(InputFault::Text, format!("\"{text}\" has no =; write it as u0=u32:1,2")))?;
        Ok(Bound { name: name.trim().into(), given: value.into() })
    }
}

/// The resource that contents are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceRef {
    /// The resource with this name or register.
    Name(String),
    /// The resource with this descriptor set and binding, and with the kind of the contents.
    Place(Place),
}

/// The contents for a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceInput {
    /// A text. The kind of the resource determines how it is read.
    Text(String),
    /// The elements of an array reference.
    Bytes(Vec<u8>),
    /// The texels of a texture.
    Image(Image),
    /// A sampler.
    Sampler(Sampler),
}

impl From<Bound> for (ResourceRef, ResourceInput) {
    fn from(bound: Bound) -> (ResourceRef, ResourceInput) {
        (ResourceRef::Name(bound.name), ResourceInput::Text(bound.given))
    }
}

/// The compute entry point with this name, or else the only one.
///
/// # Errors
/// If there is none, or if there are several and no name.
pub fn compute_entry<'p>(program: &'p Program, name: Option<&str>) -> Result<&'p EntryPoint, InvalidInput> {
    entry_of(program, Stage::Compute([1; 3]), name)
}

/// The number at the end of a register or of its space.
fn number(text: &str) -> Option<u32> {
    text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// The place of the register in a SPIR-V module: `u1, space2` is 2.1.
fn place(resource: &Resource) -> Option<Place> {
    let (register, space) = resource.register.split_once(", ").map_or((resource.register.as_str(), None), |(r, s)| (r, Some(s)));
    Some(Place::new(space.map_or(Some(0), number)?, number(register)?))
}

/// Whether the kind of the contents fits a resource. Text fits every kind.
fn fits_kind(resource: &Resource, contents: &ResourceInput) -> bool {
    matches!(
        (&resource.contents, contents),
        (_, ResourceInput::Text(_))
            | (ResourceContents::Buffer(_), ResourceInput::Bytes(_))
            | (ResourceContents::Texture(_), ResourceInput::Image(_))
            | (ResourceContents::Sampler(_), ResourceInput::Sampler(_))
    )
}

/// Reads a file that a binding names. The error names the file.
pub type Read<'r> = &'r dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

/// Binds contents to the resources of an entry point. `read` reads their files.
///
/// # Errors
/// If a resource has no contents, or contents twice. If contents fit no resource, or not its kind.
/// If bytes do not end with an element, or an image does not fit the texture's type.
pub fn bind(
    program: &Program,
    entry: &EntryPoint,
    contents: &[(ResourceRef, ResourceInput)],
    read: Read<'_>,
) -> Result<Vec<Resource>, InvalidInput> {
    bind_to(program, Resource::of(program, entry)?, contents, read)
}

/// Binds contents to resources.
///
/// # Errors
/// As [`bind`].
pub fn bind_to(
    program: &Program,
    mut resources: Vec<Resource>,
    contents: &[(ResourceRef, ResourceInput)],
    read: Read<'_>,
) -> Result<Vec<Resource>, InvalidInput> {
    let mut bound = vec![false; resources.len()];
    let list = |resources: &[Resource]| match resources {
        [] => "it takes none".to_string(),
        _ => resources.iter().map(|b| format!("{} ({})", b.name, b.register)).collect::<Vec<_>>().join(", "),
    };
    for (to, contents) in contents {
        let (k, name) = match to {
            ResourceRef::Name(name) => {
                let plain = |text: &str| text.replace(' ', "");
                let here = resources.iter().position(|b| b.name == *name || plain(&b.register) == plain(name));
                match here.or_else(|| resources.iter().position(|b| b.is_called(name))) {
                    Some(k) => (k, name.clone()),
                    None => {
                        return Err(InvalidInput::new(
                            InputFault::Unused,
                            format!("the entry point takes no resource {name}: {}", list(&resources)),
                        ));
                    }
                }
            }
            ResourceRef::Place(at) => {
                let here = |k: &usize| place(&resources[*k]) == Some(*at) && fits_kind(&resources[*k], contents);
                let found: Vec<usize> = (0..resources.len()).filter(here).collect();
                match found[..] {
                    [k] => (k, at.to_string()),
                    [] => {
                        return Err(InvalidInput::new(
                            InputFault::Unused,
                            format!("the entry point takes no such resource at {at}: {}", list(&resources)),
                        ));
                    }
                    _ => {
                        let found: Vec<Resource> = found.into_iter().map(|k| resources[k].clone()).collect();
                        return Err(InvalidInput::new(
                            InputFault::Unused,
                            format!("several resources are at {at}; say which with --bind: {}", list(&found)),
                        ));
                    }
                }
            }
        };
        if std::mem::replace(&mut bound[k], true) {
            return Err(InvalidInput::new(
                InputFault::Unused,
                format!("the resource {} is given twice, the second time as {name}", resources[k].name),
            ));
        }
        let Resource { name, contents: held, .. } = &mut resources[k];
        match held {
            ResourceContents::Buffer(buffer) => fill(program, name, buffer, contents, read)?,
            ResourceContents::Texture(textured) => texel(program, name, textured, contents)?,
            ResourceContents::Sampler(sampler) => {
                *sampler = Some(match contents {
                    ResourceInput::Sampler(contents) => *contents,
                    ResourceInput::Text(text) => bound::sampler(text).map_err(|e| e.about(format_args!("for the sampler {name}")))?,
                    ResourceInput::Bytes(_) | ResourceInput::Image(_) => {
                        return Err(InvalidInput::new(InputFault::Type, format!("{name} is a sampler")));
                    }
                });
            }
        }
    }
    match bound.iter().position(|g| !g) {
        Some(k) => Err(InvalidInput::new(
            InputFault::Missing,
            format!("nothing is given for {}: write --bind {}", list(&resources[k..=k]), example(program, &resources[k])),
        )),
        None => Ok(resources),
    }
}

/// Fills an array reference with its elements.
fn fill(program: &Program, name: &str, buffer: &mut Buffer, contents: &ResourceInput, read: Read<'_>) -> Result<(), InvalidInput> {
    let bytes = match contents {
        ResourceInput::Bytes(bytes) => bytes.clone(),
        ResourceInput::Text(text) => match text.parse().map_err(|e: InvalidInput| e.about(format_args!("for {name}")))? {
            Contents::Bytes(bytes) => bytes,
            Contents::File(path) => read(Path::new(&path)).map_err(|e| InvalidInput::new(InputFault::File, e.to_string()))?,
        },
        ResourceInput::Image(_) | ResourceInput::Sampler(_) => {
            return Err(InvalidInput::new(InputFault::Type, format!("{name} is an array reference")));
        }
    };
    let stride = buffer.stride as usize * 4;
    let wrong = |ty, stride: usize| {
        let (byte_count, ty) = (bytes.len(), program.env.type_name(ty));
        let what =
            format!("{byte_count} bytes are given for {name}; elements of {ty} take {stride} bytes each, and at least one is needed");
        InvalidInput::new(InputFault::Type, what)
    };
    if bytes.is_empty() || bytes.len() % stride != 0 {
        return Err(wrong(buffer.element, stride));
    }
    if let Some(&(ty, words)) = buffer.others.iter().find(|(_, words)| bytes.len() < *words as usize * 4) {
        return Err(wrong(ty, words as usize * 4));
    }
    buffer.words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Ok(())
}

/// The scalar type of a texture's texels.
fn scalar_of(program: &Program, textured: &Textured) -> Scalar {
    match program.env.types.get(textured.texel) {
        Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar,
        _ => Scalar::Float,
    }
}

/// Fills a texture with its texels.
fn texel(program: &Program, name: &str, textured: &mut Textured, contents: &ResourceInput) -> Result<(), InvalidInput> {
    let image = match contents {
        ResourceInput::Image(image) => image.clone(),
        ResourceInput::Text(text) => match text.parse().map_err(|e: InvalidInput| e.about(format_args!("for the texture {name}")))? {
            Texels::Image(image) => image,
            Texels::File(path) => bound::png(Path::new(&path))?,
        },
        ResourceInput::Bytes(_) | ResourceInput::Sampler(_) => {
            return Err(InvalidInput::new(InputFault::Type, format!("{name} is a texture")));
        }
    };
    hold(program, name, textured, image)
}

/// Binds an image to a texture of that name.
///
/// # Errors
/// If the image does not fit the texture's type.
pub fn hold(program: &Program, name: &str, textured: &mut Textured, image: Image) -> Result<(), InvalidInput> {
    let texture = Texture::new(textured.kind, scalar_of(program, textured), image);
    textured.texture = Some(texture.map_err(|e| e.about(format_args!("for the texture {name}")))?);
    Ok(())
}

/// An example of the argument for a resource.
fn example(program: &Program, resource: &Resource) -> String {
    let name = &resource.name;
    match &resource.contents {
        ResourceContents::Buffer(_) => format!("{name}=u32:zero*64"),
        ResourceContents::Sampler(_) => format!("'{name}=linear edge', or {name}= for nearest texels, repeated"),
        ResourceContents::Texture(textured) => {
            let format = match scalar_of(program, textured) {
                _ if texture::is_depth(textured.kind) => "D32_SFLOAT",
                Scalar::Int => "R32G32B32A32_SINT",
                Scalar::Uint => "R32G32B32A32_UINT",
                Scalar::Float | Scalar::Bool => "R8G8B8A8_UNORM",
            };
            let size = match texture::shape(textured.kind) {
                Shape::D1 => "1d 4",
                Shape::D1Array => "1d 4 layers=2",
                Shape::D2 => "4x4",
                Shape::D2Array => "4x4 layers=2",
                Shape::D3 => "3d 4x4x4",
                Shape::Cube => "cube 4x4",
                Shape::CubeArray => "cube 4x4 layers=2",
            };
            format!("'{name}={format} {size}', with a number for each texel, or undefined without")
        }
    }
}

/// The texels of a written texture in order, each as a value of its type. `words` has the possible
/// values. A component that the format does not have is unspecified.
pub fn texels(program: &Program, texture: &Texture, texel: TypeId, words: &[Possible]) -> Vec<String> {
    let (channels, count) = (
        texture.channels(),
        match program.env.types.get(texel) {
            Type::Vector(_, n) => usize::from(n),
            _ => 1,
        },
    );
    let value = |component_values: &[Possible]| {
        let component = |c: usize| component_values.get(c).cloned().unwrap_or(Possible::Any);
        let words: Vec<Possible> = (0..count).map(component).chain([Possible::Values(vec![0])]).collect();
        value::show(program, texel, &words)
    };
    words.chunks(channels).map(value).collect()
}
