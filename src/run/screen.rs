//! A fragment module of any kind over a whole screen. One triangle covers the screen. Its vertex
//! stage is generated for the fragment stage's inputs. An interpreter or a device draws it.
//!
//! The vertex stage sets each input variable to a constant, or to the position on the screen. The
//! position goes from 0 to 1, starting at the top left, and is perspective-correct with w = 1.
//! Outputs are floats. They go to 32-bit float attachments that are cleared to zeros.

use std::sync::Arc;

use rspirv::spirv::{Decoration, ExecutionModel, StorageClass};
use smallstep_semantics::image::{Format, Image, Robustness as ImageRobustness};
use smallstep_semantics::outcome::{InputFault, InvalidInput, Outcome};
use smallstep_semantics::raster::{self, Area, Interpolation, State, Topology};
use smallstep_semantics::spirv::draw::{self, DefiniteTarget, MadeBy};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Limits, ObservedBuffer, ObservedImage, Rate, Robustness};
use smallstep_semantics::spirv::lockstep::FragmentProgram;
use smallstep_semantics::spirv::module::{EntryPoint, WHOLE};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{self, Event, LoadError, Module, Relation, assemble};

use super::Picture;
use crate::compute::given::{Contents, Place};
use crate::compute::passing::{self, Port, PortSource};
use crate::compute::{BoundInputs, Uses, drawn_by, report, shown_buffers, shown_images};
use crate::dispatch::resources::{self, Needs};
use crate::dispatch::{DrawDispatch, Geometry, Stage, Target};
use crate::gpu::{Device, DeviceOutcome};

/// The value of an input variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The same bytes at every pixel.
    Constant(Vec<u8>),
    /// x and y of the pixel's centre, 0 to 1 from the top left.
    Screen,
}

/// The value of the input at a location, written `LOC=type:v,…` or `LOC=screen`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The location.
    pub location: u32,
    /// The value at each pixel.
    pub value: Value,
    /// The type in the argument, such as `f32`. Empty for the position on the screen.
    pub written: String,
}

impl std::str::FromStr for Input {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Input, InvalidInput> {
        let parts = text.split_once('=').and_then(|(location, value)| Some((location.parse().ok()?, value)));
        let (location, value) = parts
            .ok_or_else(|| InvalidInput::new(InputFault::Text, format!("\"{text}\" is no input; write it as 0=f32:1,0.5 or 0=screen")))?;
        let value = match value {
            "screen" => Value::Screen,
            other => match other.parse()? {
                Contents::Bytes(bytes) => Value::Constant(bytes),
                Contents::File(file) => {
                    return Err(InvalidInput::new(InputFault::Text, format!("\"{file}\" is neither type:v,v,… nor screen")));
                }
            },
        };
        let written = text.split_once('=').and_then(|(_, value)| Some(value.split_once(':')?.0.to_string()));
        Ok(Input { location, value, written: written.unwrap_or_default() })
    }
}

/// A fragment module, with everything that its draw needs.
pub struct Screen {
    vertex: Module,
    fragment: Module,
    /// The resources that the fragment stage uses.
    needs: Needs,
    dispatch: DrawDispatch,
    outputs: Vec<Target>,
    robustness: Robustness,
}

/// The result of a draw.
pub struct Shown {
    /// The picture of the outputs.
    pub picture: Picture,
    /// The storage buffers that the fragment stage uses. On a device, only those that it may write.
    pub buffers: Vec<ObservedBuffer>,
    /// The storage images that the fragment stage uses.
    pub images: Vec<ObservedImage>,
}

/// An input variable of the fragment stage.
struct Variable {
    location: u32,
    type_: Type,
    rows: u8,
    flat: bool,
    no_perspective: bool,
}

/// The fragment entry point with this name. Without a name, the only entry point.
///
/// # Errors
/// A sentence, if there is none, or if there are several to choose from.
pub fn entry_of<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m EntryPoint, InvalidInput> {
    let named: Vec<&EntryPoint> = module.entry_points().iter().filter(|e| e.model == ExecutionModel::Fragment).collect();
    match (name, named.as_slice()) {
        (Some(name), all) => all
            .iter()
            .find(|e| e.name == name)
            .copied()
            .ok_or_else(|| InvalidInput::new(InputFault::EntryPoint, format!("no fragment entry point is called \"{name}\""))),
        (None, [only]) => Ok(only),
        (None, all) => Err(InvalidInput::new(
            InputFault::EntryPoint,
            format!("the module has {} fragment entry points; name one by --entry", all.len()),
        )),
    }
}

impl Screen {
    /// Checks that all inputs and resources of the entry point are given.
    ///
    /// # Errors
    /// A sentence about something that is missing, or that cannot be drawn in this way.
    pub fn new(
        fragment: Module,
        entry: Option<&str>,
        (width, height): (u32, u32),
        inputs: &[Input],
        bound_inputs: BoundInputs,
        robustness: Robustness,
    ) -> Result<Screen, InvalidInput> {
        let point = entry_of(&fragment, entry)?;
        let name = point.name.clone();
        let needs = resources::needs(fragment.words(), ExecutionModel::Fragment, &name)?;
        let uses = Uses::new(&fragment, &needs);
        bound_inputs.belongs(&[&fragment])?;
        bound_inputs.suffices(uses, &name)?;
        let outputs = crate::source::outputs(&fragment, &name)?;
        let variables = input_variables(&fragment, point)?;
        for input in inputs {
            if !variables.iter().any(|v| v.location == input.location) {
                return Err(InvalidInput::new(
                    InputFault::Unused,
                    format!("an input is given for location {}, and no input variable has it", input.location),
                ));
            }
        }
        let text = vertex_text(&variables, inputs)?;
        let words = assemble(&text, spirv::Options::default())
            .map_err(|e| InvalidInput::new(InputFault::Type, format!("the vertex stage for these inputs: {e}")))?;
        let vertex =
            Module::load(&words).map_err(|e| InvalidInput::new(InputFault::Type, format!("the vertex stage for these inputs: {e}")))?;
        let image = |location: u32| {
            let mut image =
                Image::new(Format::Rgba32Sfloat, width, height, 1).map_err(|e| InvalidInput::new(InputFault::Limit, e.to_string()))?;
            image
                .fill(0, &vec![0; width as usize * height as usize * 16])
                .map_err(|e| InvalidInput::new(InputFault::Limit, e.to_string()))?;
            Ok::<ColourTarget, InvalidInput>(ColourTarget { location, image })
        };
        let dispatch = DrawDispatch {
            vertex: Stage { words: Arc::from(words), entry: "main".into() },
            fragment: Stage { words: Arc::from(fragment.words()), entry: name },
            geometry: Geometry { attributes: vec![corners()], ..Geometry::of_count(Topology::List, 3) },
            buffers: bound_inputs.buffer_bindings(&[uses]),
            images: bound_inputs.image_bindings(&[uses]),
            samplers: bound_inputs.samplers.clone(),
            push_constants: bound_inputs.push_constants.clone(),
            state: State::of_size(width, height),
            targets: outputs.iter().map(|output| image(output.location)).collect::<Result<_, _>>()?,
            depth: None,
        };
        dispatch.check()?;
        Ok(Screen { vertex, fragment, needs, dispatch, outputs, robustness })
    }

    /// Draws with the lockstep machine. If that does not compile the module, or if `reference` is
    /// set, draws with the relation. Returns the engine's name, the reason why the machine was not
    /// used, and the result.
    ///
    /// # Errors
    /// An unknown entry point. [`Screen::new`] has excluded it.
    pub fn interpret(&self, reference: bool, limits: Limits) -> Result<(&'static str, Option<String>, Outcome<Shown>), LoadError> {
        let contents = self.dispatch.contents();
        let mut draw = contents.lend(&self.dispatch, limits);
        draw.resources.robustness = self.robustness;
        let mut note = None;
        if !reference {
            match FragmentProgram::compile(&self.fragment, &self.dispatch.fragment.entry) {
                Ok(program) => match draw::picture(&self.vertex, &program, &draw, &raster::Rules::default())? {
                    Outcome::Unsupported(what) => note = Some(what),
                    outcome => {
                        let shown = outcome.map(|draw| {
                            let picture = self.picture(draw.targets, draw.instructions);
                            Shown { picture, buffers: draw.buffers, images: draw.images }
                        });
                        return Ok(("machine", None, shown));
                    }
                },
                Err(LoadError::Unsupported { what, .. }) => note = Some(what),
                Err(error) => return Err(error),
            }
        }
        let outcome = draw::run(&self.vertex, &self.fragment, &draw, &Relation::default(), &mut ())?;
        let shown = outcome.map(|draw| {
            let targets = draw.targets.into_iter().map(DefiniteTarget::from).collect();
            Shown { picture: self.picture(targets, draw.instructions), buffers: draw.buffers, images: draw.images }
        });
        Ok(("reference", note, shown))
    }

    /// Runs one pixel by the relation. The other three pixels of its quad are helpers. The sink
    /// gets the steps of that pixel's fragment invocation.
    ///
    /// # Errors
    /// An unknown entry point. [`Screen::new`] has excluded it.
    pub fn trace(&self, (x, y): (u32, u32), fuel: u64, sink: &mut dyn FnMut(&Event<'_, '_>)) -> Result<Outcome<()>, LoadError> {
        let contents = self.dispatch.contents();
        let mut draw = contents.lend(&self.dispatch, Limits::of_fuel(fuel));
        draw.resources.robustness = self.robustness;
        draw.state.area = Area { x, y, end_x: x + 1, end_y: y + 1 };
        let fragment_range = self.fragment.instructions().as_ptr_range();
        let lane = x % 2 + y % 2 * 2;
        let mut filtered_sink = |event: &Event<'_, '_>| {
            let of_fragments = fragment_range.contains(&std::ptr::from_ref(event.instruction));
            if of_fragments && event.invocation.local == lane {
                sink(event);
            }
        };
        let outcome = draw::run(&self.vertex, &self.fragment, &draw, &Relation::default(), &mut filtered_sink)?;
        Ok(outcome.map(|_| ()))
    }

    /// Draws on a device.
    ///
    /// # Errors
    /// The outcome of the device, if it drew nothing.
    pub fn draw(&self, device: &mut Device) -> Result<Shown, DeviceOutcome> {
        let shown = drawn_by(&self.dispatch, device)?;
        let bits = |bytes: Vec<u8>| {
            let word = |w: &[u8]| u32::from_le_bytes([w[0], w[1], w[2], w[3]]);
            bytes.chunks_exact(16).map(|t| Some([word(&t[..4]), word(&t[4..8]), word(&t[8..12]), word(&t[12..])])).collect()
        };
        let picture = Picture { images: shown.targets.into_iter().map(bits).collect(), ..self.empty(0) };
        Ok(Shown { picture, buffers: shown_buffers(shown.buffers), images: shown_images(shown.images, &self.dispatch.images) })
    }

    fn empty(&self, steps: u64) -> Picture {
        let [width, height] = self.dispatch.size().unwrap_or_default();
        Picture { origin: (0, 0), width, height, outputs: self.outputs.clone(), images: Vec::new(), endings: Vec::new(), steps }
    }

    /// The definite texels as a picture. A pixel has no value if one of its meaningful components
    /// is undefined.
    fn picture(&self, targets: Vec<DefiniteTarget>, steps: u64) -> Picture {
        let mut picture = self.empty(steps);
        for (output, target) in self.outputs.iter().zip(targets) {
            let mut image = Vec::new();
            for y in 0..picture.height {
                for x in 0..picture.width {
                    let undefined = (0..output.components as usize).find_map(|c| target.undefined(x, y, c));
                    image.push(match undefined {
                        None => Some(target.image.fetch(x.into(), y.into(), 0, ImageRobustness::None).bits),
                        Some(made_by) => {
                            super::note(&mut picture.endings, (x, y), Outcome::Stuck(self.any_value(output.location, made_by)));
                            None
                        }
                    });
                }
            }
            picture.images.push(image);
        }
        picture
    }

    fn any_value(&self, location: u32, made_by: MadeBy) -> smallstep_semantics::outcome::Stuck {
        let origin =
            made_by.instruction.map_or_else(String::new, |(at, _)| format!(" made by {}", report::instruction(&self.fragment, at)));
        smallstep_semantics::outcome::Stuck {
            why: format!("the output at location {location} is any value: {}{origin}", made_by.kind.id()),
            at: "the end of the entry point".into(),
        }
    }

    /// The fragment stage's module.
    pub fn module(&self) -> &Module {
        &self.fragment
    }

    /// The fragment stage's entry point.
    pub fn entry(&self) -> &str {
        &self.dispatch.fragment.entry
    }

    /// The resources that the fragment stage uses.
    pub fn uses(&self) -> Uses<'_> {
        Uses::new(&self.fragment, &self.needs)
    }

    /// The bytes of the buffer at a place.
    pub fn given(&self, place: Place) -> Option<&[u8]> {
        self.dispatch.buffers.iter().find(|b| (b.set, b.binding) == (place.set, place.binding)).map(|b| b.bytes.as_slice())
    }
}

/// The corners of a triangle that covers the screen: x and y of the position, and the position on
/// the screen.
fn corners() -> Attribute {
    let corners = [[-1.0f32, -1.0, 0.0, 0.0], [3.0, -1.0, 2.0, 0.0], [-1.0, 3.0, 0.0, 2.0]];
    let bytes = corners.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    Attribute { location: 0, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes }
}

/// The input variables of an entry point that have locations. They must be scalars and vectors of
/// 32 bits.
fn input_variables(module: &Module, entry: &EntryPoint) -> Result<Vec<Variable>, InvalidInput> {
    let mut variables = Vec::new();
    for &id in module.interface_of(entry) {
        let Some(variable) = module.variable(id).filter(|v| v.class == StorageClass::Input) else { continue };
        let Some(location) = module.decoration(id, WHOLE, Decoration::Location) else { continue };
        let shape = shape_of(module, variable.type_);
        let type_ = match shape.map(|(type_, _)| type_) {
            Some(type_ @ (Type::Float { width: 32 } | Type::Int { width: 32, .. })) => type_,
            _ => {
                return Err(InvalidInput::new(
                    InputFault::Unsupported,
                    format!("the input at location {location} (%{id}) is no scalar or vector of 32 bits; an Amber script can draw it"),
                ));
            }
        };
        if module.decoration(id, WHOLE, Decoration::Component).is_some_and(|c| c != 0) {
            return Err(InvalidInput::new(
                InputFault::Unsupported,
                format!("the input at location {location} (%{id}) begins at another component than 0; an Amber script can draw it"),
            ));
        }
        let decorated = |decoration| module.decoration(id, WHOLE, decoration).is_some();
        let (flat, no_perspective) = (decorated(Decoration::Flat), decorated(Decoration::NoPerspective));
        variables.push(Variable { location, type_, rows: shape.map_or(1, |(_, rows)| rows), flat, no_perspective });
    }
    Ok(variables)
}

fn shape_of(module: &Module, type_: u32) -> Option<(Type, u8)> {
    match module.types().get(type_)? {
        Type::Vector { component, count } => Some((module.types().get(component)?, count)),
        other => Some((other, 1)),
    }
}

/// The text of the vertex stage that sets these variables.
fn vertex_text(variables: &[Variable], inputs: &[Input]) -> Result<String, InvalidInput> {
    let mut ports = Vec::new();
    for v in variables {
        let location = v.location;
        let of_location: Vec<&Input> = inputs.iter().filter(|input| input.location == location).collect();
        let value = match of_location.as_slice() {
            [] => {
                return Err(InvalidInput::new(
                    InputFault::Missing,
                    format!("nothing is given for the input at location {location}; give --input {location}=f32:… or {location}=screen"),
                ));
            }
            [one] => &one.value,
            _ => return Err(InvalidInput::new(InputFault::Unused, format!("two values are given for the input at location {location}"))),
        };
        let is_float = matches!(v.type_, Type::Float { .. });
        let source = match value {
            Value::Screen if is_float && v.rows == 2 => PortSource::Place,
            Value::Screen => {
                return Err(InvalidInput::new(
                    InputFault::Type,
                    format!("the input at location {location} is no vector of two floats, as the place on the screen is"),
                ));
            }
            Value::Constant(bytes) if bytes.len() == 4 * usize::from(v.rows) => {
                PortSource::Words(bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect())
            }
            Value::Constant(bytes) => {
                let needed = 4 * u32::from(v.rows);
                return Err(InvalidInput::new(
                    InputFault::Type,
                    format!("the input at location {location} has {needed} bytes; {} are given", bytes.len()),
                ));
            }
        };
        let how = match (v.flat, v.no_perspective) {
            (true, _) => Interpolation::Flat,
            (_, true) => Interpolation::Linear,
            _ => Interpolation::Perspective,
        };
        ports.push((Port { location, component: 0, type_: v.type_, rows: v.rows.into(), how }, source));
    }
    Ok(passing::vertex(&ports, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOW: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %uv %tint %out\n\
        OpExecutionMode %main OriginUpperLeft\nOpDecorate %uv Location 0\nOpDecorate %tint Location 3\nOpDecorate %tint Flat\nOpDecorate %out Location 0\n\
        %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n%v2 = OpTypeVector %float 2\n\
        %v4 = OpTypeVector %float 4\n%pv2 = OpTypePointer Input %v2\n%pu = OpTypePointer Input %uint\n%po = OpTypePointer Output %v4\n\
        %uv = OpVariable %pv2 Input\n%tint = OpVariable %pu Input\n%out = OpVariable %po Output\n%one = OpConstant %float 1\n\
        %main = OpFunction %void None %fn\n%l = OpLabel\n%at = OpLoad %v2 %uv\n%t = OpLoad %uint %tint\n%f = OpConvertUToF %float %t\n\
        %c = OpCompositeConstruct %v4 %at %f %one\nOpStore %out %c\nOpReturn\nOpFunctionEnd\n";

    fn screen(inputs: &[&str]) -> Result<Screen, InvalidInput> {
        let module = Module::load(&assemble(SHOW, spirv::Options::default()).expect("assembles")).expect("loads");
        let inputs: Vec<Input> = inputs.iter().map(|input| input.parse()).collect::<Result<_, _>>()?;
        Screen::new(module, None, (4, 2), &inputs, BoundInputs::default(), Robustness::None)
    }

    #[test]
    fn inputs_are_what_is_given() {
        let screen = screen(&["0=screen", "3=u32:7"]).expect("a draw");
        for reference in [false, true] {
            let (engine, note, outcome) = screen.interpret(reference, Limits::of_fuel(1 << 20)).expect("the entry point is there");
            assert_eq!((engine, note), (if reference { "reference" } else { "machine" }, None));
            let Outcome::Observed(Shown { picture, .. }) = outcome else { panic!("{engine}: {}", outcome.name()) };
            let at = |x: usize, y: usize| picture.images[0][y * 4 + x].expect("a value").map(f32::from_bits);
            assert_eq!((at(0, 0), at(3, 1)), ([0.125, 0.25, 7.0, 1.0], [0.875, 0.75, 7.0, 1.0]), "{engine}");
            assert!(picture.endings.is_empty());
        }
    }

    #[test]
    fn what_is_wrong_with_inputs_is_said() {
        for (inputs, message) in [
            (&["0=screen"][..], "nothing is given for the input at location 3"),
            (&["0=screen", "3=u32:7", "3=u32:8"], "two values"),
            (&["0=screen", "3=screen"], "no vector of two floats"),
            (&["0=screen", "3=u32:7,8"], "has 4 bytes; 8 are given"),
            (&["0=screen", "3=u32:7", "1=u32:7"], "no input variable has it"),
            (&["0=nowhere"], "neither type:v,v,… nor screen"),
            (&["screen"], "is no input"),
        ] {
            let error = screen(inputs).err().map_or_else(String::new, String::from);
            assert!(error.contains(message), "{inputs:?}: {error}");
        }
    }
}
