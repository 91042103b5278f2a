//! Modules whose stages are drawn: a vertex and a fragment stage, or one of them together with a
//! stage that is made for it ([`passing`]).

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::sync::Arc;

use rspirv::spirv::{ExecutionModel, StorageClass};
use smallstep_semantics::image::{Compare, Format, Image};
use smallstep_semantics::raster::{State, Topology};
use smallstep_semantics::spirv::draw::{Located, located};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{Module, Options, assemble};

use super::Input;
use super::interface::Mismatch;
use super::numbers::Numbers;
use crate::compute::passing::{self, Port, PortSource};
use crate::compute::{BoundInputs, Uses};
use crate::dispatch::resources::{self, Needs};
use crate::dispatch::{DepthAttachment, DrawDispatch, Geometry, Malformed, Stage};
use crate::generate::Random;

/// The width and height of draws, in pixels.
const SIZE: [u32; 2] = [5, 4];
/// The number of vertices: two triangles, of which the first covers everything.
pub(super) const VERTICES: u32 = 6;

/// An entry point and the resources that it uses.
struct Entry {
    name: String,
    needs: Needs,
}

impl Entry {
    fn of(module: &Module, model: ExecutionModel, name: &str) -> Result<Entry, InvalidInput> {
        let needs = resources::needs(module.words(), model, name)?;
        Ok(Entry { name: name.to_string(), needs })
    }
}

/// A module with its stages for draws.
pub struct StageModule {
    /// The name in messages: a file.
    pub name: String,
    /// The module.
    pub module: Module,
    vertex: Option<Entry>,
    fragment: Option<Entry>,
}

impl StageModule {
    /// Its vertex and its fragment entry point. Each may be missing, but not both. If a name is
    /// given, only the entry point with that name is taken.
    ///
    /// # Errors
    /// There is no such entry point, or there are several for one stage. The message is a sentence.
    pub fn new(name: impl Into<String>, module: Module, entry: Option<&str>) -> Result<StageModule, InvalidInput> {
        let find_entry = |model: ExecutionModel| {
            let all: Vec<&str> = (module.entry_points().iter())
                .filter(|e| e.model == model && entry.is_none_or(|name| name == e.name))
                .map(|e| e.name.as_str())
                .collect();
            match all.as_slice() {
                [] => Ok(None),
                [one] => Entry::of(&module, model, one).map(Some),
                several => {
                    let shown = &several[..several.len().min(8)];
                    let names = shown.join(", ");
                    Err(InvalidInput::new(
                        InputFault::EntryPoint,
                        format!("the module has {} {model:?} entry points ({names}); name one by --entry", several.len()),
                    ))
                }
            }
        };
        let (vertex, fragment) = (find_entry(ExecutionModel::Vertex)?, find_entry(ExecutionModel::Fragment)?);
        if vertex.is_none() && fragment.is_none() {
            let what = match entry {
                Some(name) => format!("no vertex or fragment entry point is called \"{name}\""),
                None => "the module has no vertex and no fragment entry point".into(),
            };
            return Err(InvalidInput::new(InputFault::EntryPoint, what));
        }
        Ok(StageModule { name: name.into(), module, vertex, fragment })
    }

    /// Its vertex and its fragment entry point with these names. Without a name, the stage is
    /// left out.
    ///
    /// # Errors
    /// There is no such entry point. The message is a sentence.
    pub fn with_entries(name: impl Into<String>, module: Module, entries: [Option<&str>; 2]) -> Result<StageModule, InvalidInput> {
        let find_entry = |model: ExecutionModel, entry: Option<&str>| {
            let Some(entry) = entry else { return Ok(None) };
            match module.entry_points().iter().any(|e| e.model == model && e.name == entry) {
                true => Entry::of(&module, model, entry).map(Some),
                false => Err(InvalidInput::new(
                    InputFault::EntryPoint,
                    format!("no {} entry point is called \"{entry}\"", format!("{model:?}").to_lowercase()),
                )),
            }
        };
        let (vertex, fragment) = (find_entry(ExecutionModel::Vertex, entries[0])?, find_entry(ExecutionModel::Fragment, entries[1])?);
        Ok(StageModule { name: name.into(), module, vertex, fragment })
    }

    /// What each of its stages uses.
    pub fn uses(&self) -> Vec<Uses<'_>> {
        [&self.vertex, &self.fragment].into_iter().flatten().map(|entry| Uses::new(&self.module, &entry.needs)).collect()
    }

    /// The names of its vertex and of its fragment entry point.
    pub fn entries(&self) -> [Option<&str>; 2] {
        [&self.vertex, &self.fragment].map(|entry| entry.as_ref().map(|entry| entry.name.as_str()))
    }

    /// The inputs of its first stage by location: attributes, or for a fragment stage alone the
    /// outputs of a vertex stage.
    pub(super) fn inputs(&self) -> Result<Vec<Port>, Mismatch> {
        self.vertex.as_ref().or(self.fragment.as_ref()).map_or(Ok(Vec::new()), |entry| self.ports(entry, StorageClass::Input))
    }

    fn ports(&self, entry: &Entry, class: StorageClass) -> Result<Vec<Port>, Mismatch> {
        let mismatch = |what: String| Mismatch(format!("{}: {what}", self.name));
        let point = self.module.entry_point(&entry.name).map_err(|e| mismatch(e.to_string()))?;
        let scalars: Vec<Located> = located(&self.module, point, class).map_err(|e| mismatch(e.what))?;
        Ok(passing::ports(&scalars))
    }
}

/// The parts that all draws of a module share.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The stages that are made: the vertex stage for a lone fragment stage, and the fragment stage
    /// for a lone vertex stage.
    generated: [Option<Arc<[u32]>>; 2],
    /// The ports of the vertex attributes.
    attributes: Vec<Port>,
    /// The colour attachments: location and format.
    targets: Vec<(u32, Format)>,
}

impl Scene {
    /// The scene for BEFORE.
    ///
    /// # Errors
    /// No draw has this interface. The message is a sentence.
    pub(super) fn of(before: &StageModule) -> Result<Scene, Mismatch> {
        let words = |text: &str| {
            let words = assemble(text, Options::default());
            words.map(Arc::from).map_err(|e| Mismatch(format!("{}: the stage beside it is no module: {}", before.name, e.what)))
        };
        let mut scene = Scene { generated: [None, None], attributes: Vec::new(), targets: Vec::new() };
        let corner = Port {
            location: 0,
            component: 0,
            type_: Type::Float { width: 32 },
            rows: 4,
            how: smallstep_semantics::raster::Interpolation::Flat,
        };
        match (&before.vertex, &before.fragment) {
            (Some(vertex), _) => {
                for port in before.ports(vertex, StorageClass::Input)? {
                    let rows = port.component + port.rows;
                    match scene.attributes.iter_mut().find(|a| a.location == port.location) {
                        Some(attribute) => attribute.rows = attribute.rows.max(rows),
                        None => scene.attributes.push(Port { component: 0, rows, ..port }),
                    }
                }
            }
            (None, Some(fragment)) => {
                let inputs = before.ports(fragment, StorageClass::Input)?;
                let sources: Vec<(Port, PortSource)> =
                    (1..).zip(&inputs).map(|(location, port)| (*port, PortSource::Attribute(location))).collect();
                scene.generated[0] = Some(words(&passing::vertex(&sources, true))?);
                let located_port = |(location, port): (u32, &Port)| Port { location, component: 0, ..*port };
                scene.attributes = std::iter::once(corner).chain((1..).zip(&inputs).map(located_port)).collect();
            }
            (None, None) => {}
        }
        let outputs = match (&before.vertex, &before.fragment) {
            (_, Some(fragment)) => before.ports(fragment, StorageClass::Output)?,
            (Some(vertex), None) => {
                let outputs = before.ports(vertex, StorageClass::Output)?;
                scene.generated[1] = Some(words(&passing::fragment(&outputs))?);
                let next_location = outputs.iter().map(|port| port.location + 1).max().unwrap_or(0);
                outputs.into_iter().chain([Port { location: next_location, ..corner }]).collect()
            }
            (None, None) => Vec::new(),
        };
        for port in outputs {
            let format = match port.type_ {
                Type::Int { signed: true, .. } => Format::Rgba32Sint,
                Type::Int { .. } => Format::Rgba32Uint,
                _ => Format::Rgba32Sfloat,
            };
            if !scene.targets.iter().any(|(location, _)| *location == port.location) {
                scene.targets.push((port.location, format));
            }
        }
        Ok(scene)
    }

    /// The attributes of six vertices: a triangle that covers everything, and one at a
    /// random place.
    pub(super) fn attributes(&self, level: u32, numbers: &Numbers, random: &mut Random) -> Vec<Attribute> {
        let mut all = Vec::new();
        for port in &self.attributes {
            let is_float = matches!(port.type_, Type::Float { .. });
            let formats = match port.type_ {
                Type::Int { signed: true, .. } => [Format::R32Sint, Format::Rg32Sint, Format::Rgb32Sint, Format::Rgba32Sint],
                Type::Int { .. } => [Format::R32Uint, Format::Rg32Uint, Format::Rgb32Uint, Format::Rgba32Uint],
                _ => [Format::R32Sfloat, Format::Rg32Sfloat, Format::Rgb32Sfloat, Format::Rgba32Sfloat],
            };
            // A float vector at location 0, or often at another location, is taken for a position.
            let placed = is_float && port.rows >= 2 && (port.location == 0 || random.percent(if level == 0 { 80 } else { 40 }));
            // A value that is the same at all vertices is exact in every fragment.
            let constant = level <= 1 && port.location > 0 && random.percent(60);
            // With various w, what is interpolated needs the correction for perspective.
            let has_various_w = placed && port.rows == 4 && level > 0 && random.percent(25);
            let mut bytes: Vec<u8> = Vec::new();
            for vertex in 0..VERTICES as usize {
                if constant && vertex > 0 {
                    bytes.extend_from_within(..4 * port.rows as usize);
                    continue;
                }
                let w = if has_various_w { random.pick(&[0.5f32, 1.0, 2.0, 4.0]) } else { 1.0 };
                let corners = [[-1.0f32, -1.0], [3.0, -1.0], [-1.0, 3.0]];
                let anywhere = |random: &mut Random| random.below(17) as f32 / 8.0 - 1.0;
                for row in 0..port.rows {
                    let corner = corners.get(vertex).and_then(|corner| corner.get(row as usize));
                    let bits = match (placed, row, corner) {
                        (true, _, Some(corner)) => (corner * w).to_bits(),
                        (true, 0 | 1, None) => (anywhere(random) * w).to_bits(),
                        (true, 2, _) => (random.below(5) as f32 / 4.0 * w).to_bits(),
                        (true, ..) => w.to_bits(),
                        _ if is_float => numbers.float(32, level, random) as u32,
                        _ => numbers.integer(32, level, random) as u32,
                    };
                    bytes.extend(bits.to_le_bytes());
                }
            }
            let format = formats[port.rows.clamp(1, 4) as usize - 1];
            let stride = 4 * u64::from(port.rows);
            all.push(Attribute { location: port.location, format, rate: Rate::Vertex, offset: 0, stride, bytes });
        }
        all
    }

    /// The draw of an input with the stages of a module.
    ///
    /// # Errors
    /// The input describes no valid draw.
    pub fn dispatch(&self, side: &StageModule, input: &Input) -> Result<DrawDispatch, Malformed> {
        let uses = side.uses();
        let bound = BoundInputs {
            buffers: input.buffers.clone(),
            images: input.images.clone(),
            samplers: input.samplers.clone(),
            push_constants: input.push_constants.clone(),
        };
        let stage = |entry_point: &Option<Entry>, generated: &Option<Arc<[u32]>>| match (entry_point, generated) {
            (Some(entry), _) => Ok(Stage { words: side.module.words().into(), entry: entry.name.clone() }),
            (None, Some(words)) => Ok(Stage { words: words.clone(), entry: "main".into() }),
            (None, None) => Err(Malformed(format!("{} has not the stages that BEFORE has", side.name))),
        };
        let [width, height] = SIZE;
        let image = |format: Format, texel: &[u8]| {
            let mut image = Image::new(format, width, height, 1).map_err(|e| Malformed(e.to_string()))?;
            image.fill(0, &texel.repeat((width * height) as usize)).map_err(|e| Malformed(e.to_string()))?;
            Ok::<Image, Malformed>(image)
        };
        let targets = self.targets.iter().map(|&(location, format)| Ok(ColourTarget { location, image: image(format, &[0; 16])? }));
        let dispatch = DrawDispatch {
            vertex: stage(&side.vertex, &self.generated[0])?,
            fragment: stage(&side.fragment, &self.generated[1])?,
            geometry: Geometry { attributes: input.attributes.clone(), ..Geometry::of_count(Topology::List, VERTICES) },
            buffers: bound.buffer_bindings(&uses),
            images: bound.image_bindings(&uses),
            samplers: bound.samplers.clone(),
            push_constants: bound.push_constants.clone(),
            state: State::of_size(width, height),
            targets: targets.collect::<Result<_, Malformed>>()?,
            depth: Some(DepthAttachment {
                image: image(Format::D32Sfloat, &1f32.to_le_bytes())?,
                compare: Compare::LessOrEqual,
                writes: true,
            }),
        };
        dispatch.check()?;
        Ok(dispatch)
    }
}

/// Whether a module has a vertex or a fragment entry point with this name, and no compute entry
/// point with it.
pub fn has_stages(module: &Module, entry: Option<&str>) -> bool {
    let named = |name: &str| entry.is_none_or(|entry| entry == name);
    let has_entry = |model: ExecutionModel| module.entry_points().iter().any(|e| e.model == model && named(&e.name));
    !has_entry(ExecutionModel::GLCompute) && (has_entry(ExecutionModel::Vertex) || has_entry(ExecutionModel::Fragment))
}
