//! The printing of a script as AmberScript. The printed text reads back to the same script.

use super::layout::{DataType, Standard, StructType};
use super::limits::MAX_TEXT;
use super::scalar::Scalar;
use super::script::{
    Action, Binding, Buffer, BufferId, Check, Command, CullMode, DEFAULT_FRAMEBUFFER, DepthState, Expect, Extent, FrontFace, Initial, Lane,
    Pipeline, RequirementKind, Resource, RunKind, Script, Shader, Source, Stage, StencilState, Tolerance, View,
};
use std::fmt::Write as _;

/// The reason why a script cannot be printed: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unprintable(pub String);

impl std::fmt::Display for Unprintable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error[amber]: {}", self.0)
    }
}

impl std::error::Error for Unprintable {}

type Printed<T = ()> = Result<T, Unprintable>;

impl Script {
    /// The script as AmberScript. Some scripts cannot be printed: those with infinities and NaNs
    /// (except in buffers of integers, by their bits), with names that contain white space, with
    /// sources that have a line starting with END, and with features that only VkScript has.
    pub fn print(&self) -> Printed<String> {
        let mut printer = Printer { script: self, out: String::from("#!amber\n") };
        printer.all()?;
        if printer.out.len() > MAX_TEXT {
            return Err(Unprintable(format!("the text has more than {MAX_TEXT} bytes")));
        }
        Ok(printer.out)
    }
}

struct Printer<'s> {
    script: &'s Script,
    out: String,
}

macro_rules! put {
    ($printer:expr, $($text:tt)*) => {
        // Writing to a String does not fail.
        let _ = write!($printer.out, $($text)*);
    };
}

/// A name, if it reads back as one word.
fn name(text: &str) -> Printed<&str> {
    let is_separator = |c| matches!(c, ' ' | '\t' | '\r' | '\n' | '#');
    if text.is_empty() || text.contains(is_separator) || text == "\\" {
        Err(Unprintable(format!("{text:?} is no name in AmberScript")))
    } else {
        Ok(text)
    }
}

/// The first level of an image binding, if it is not 0.
fn base_level(view: View) -> String {
    if view.level == 0 { String::new() } else { format!(" BASE_MIP_LEVEL {}", view.level) }
}

/// A 32-bit float, given by its bits.
fn float(bits: u32) -> Printed<String> {
    Scalar::Float32.text(bits.into()).ok_or_else(|| Unprintable("a number is not finite".into()))
}

impl<'s> Printer<'s> {
    fn all(&mut self) -> Printed {
        let script = self.script;
        for requirement in &script.requirements {
            let command = RequirementKind::ALL.iter().find(|k| k.0 == requirement.kind).map_or("", |k| k.1);
            put!(self, "{command} {}\n", name(&requirement.name)?);
        }
        if let Some(milliseconds) = script.fence_timeout_ms {
            put!(self, "SET ENGINE_DATA fence_timeout_ms {milliseconds}\n");
        }
        for file in &script.files {
            put!(self, "\nVIRTUAL_FILE {}\n", name(&file.path)?);
            self.raw(&file.text, &file.path)?;
        }
        for declared in &script.structs {
            self.structure(declared)?;
        }
        for shader in &script.shaders {
            self.shader(shader)?;
        }
        for buffer in &script.buffers {
            self.buffer(buffer)?;
        }
        self.samplers()?;
        for pipeline in &script.pipelines {
            self.pipeline(pipeline)?;
        }
        self.out.push('\n');
        for command in &script.commands {
            self.command(command, "")?;
        }
        Ok(())
    }

    /// Raw lines, before END.
    fn raw(&mut self, text: &str, what: &str) -> Printed {
        let ended = text.split('\n').any(|line| line.split([' ', '\t', '\r', '#']).find(|w| !w.is_empty()) == Some("END"));
        if ended || !(text.is_empty() || text.ends_with('\n')) {
            return Err(Unprintable(format!("the text of {what} has a line that begins with END, or its last line does not end")));
        }
        put!(self, "{text}END\n");
        Ok(())
    }

    fn structure(&mut self, declared: &StructType) -> Printed {
        put!(self, "\nSTRUCT {}", name(&declared.name)?);
        if let Some(stride) = declared.stride {
            put!(self, " STRIDE {stride}");
        }
        self.out.push('\n');
        for member in &declared.members {
            put!(self, "  {} {}", member.data_type.name(), name(&member.name)?);
            for (option, value) in
                [("OFFSET", member.offset), ("ARRAY_STRIDE", member.array_stride), ("MATRIX_STRIDE", member.matrix_stride)]
            {
                if let Some(value) = value {
                    put!(self, " {option} {value}");
                }
            }
            self.out.push('\n');
        }
        self.out.push_str("END\n");
        Ok(())
    }

    fn shader(&mut self, shader: &Shader) -> Printed {
        put!(self, "\nSHADER {} {}", shader.stage.map_or("multi", Stage::name), name(&shader.name)?);
        let form = match &shader.source {
            Source::Passthrough => {
                self.out.push_str(" PASSTHROUGH\n");
                return Ok(());
            }
            Source::Assembly(_) => "SPIRV-ASM",
            Source::Words(_) => "SPIRV-HEX",
            Source::Foreign { language, .. } => language.name(),
        };
        put!(self, " {form}");
        if let Some(target) = &shader.target_env {
            put!(self, " TARGET_ENV {}", name(target)?);
        }
        self.out.push('\n');
        match &shader.source {
            Source::Assembly(text) | Source::Foreign { text, .. } => self.raw(text, &shader.name)?,
            Source::Words(words) => {
                for row in words.chunks(8) {
                    let row: Vec<String> = row.iter().map(|w| format!("{w:#010x}")).collect();
                    put!(self, "{}\n", row.join(" "));
                }
                self.out.push_str("END\n");
            }
            Source::Passthrough => {}
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: &Buffer) -> Printed {
        let image = matches!(buffer.extent, Extent::Image { declared: true, .. } | Extent::Row { .. } | Extent::Box { .. });
        put!(self, "\n{} {}", if image { "IMAGE" } else { "BUFFER" }, name(&buffer.name)?);
        if let (Extent::Framebuffer { .. }, Some(format)) = (buffer.extent, buffer.format()) {
            put!(self, " FORMAT {}", format.name());
            self.levels(buffer);
            self.out.push('\n');
            return Ok(());
        }
        let texel = matches!(buffer.data_type, DataType::Texel(_));
        let formatted = image && texel && !buffer.as_array && buffer.standard == Standard::default();
        let kind = if formatted { "FORMAT" } else { "DATA_TYPE" };
        put!(self, " {kind} {}{}", buffer.data_type.name(), if buffer.as_array { "[]" } else { "" });
        if buffer.standard != Standard::default() {
            put!(self, " {}", buffer.standard.name());
        }
        self.levels(buffer);
        match buffer.extent {
            Extent::Image { width, height, declared } => {
                put!(self, "{} WIDTH {width} HEIGHT {height}", if declared { " DIM_2D" } else { "" });
            }
            Extent::Row { width } => {
                put!(self, " DIM_1D WIDTH {width}");
            }
            Extent::Box { width, height, depth } => {
                put!(self, " DIM_3D WIDTH {width} HEIGHT {height} DEPTH {depth}");
            }
            _ if matches!(buffer.initial, Initial::Data(_)) => {}
            _ => {
                put!(self, " SIZE {}", buffer.items);
            }
        }
        match &buffer.initial {
            Initial::Zero if image || buffer.samples > 1 => {}
            Initial::Zero => self.out.push_str(" FILL 0"),
            Initial::Fill(number) => {
                put!(self, " FILL {number}");
            }
            Initial::Series { from, by } => {
                put!(self, " SERIES_FROM {from} INC_BY {by}");
            }
            Initial::Data(values) => {
                self.out.push_str(" DATA\n");
                let scalars = buffer.layout.scalars;
                for (i, &bits) in values.iter().enumerate() {
                    let at = i as u64 % scalars;
                    let scalar = buffer.layout.slot(at).map_or(Scalar::Uint32, |s| s.scalar);
                    let text =
                        scalar.text(bits).ok_or_else(|| Unprintable(format!("value {i} of the buffer {} is not finite", buffer.name)))?;
                    let last = at + 1 == scalars || (at + 1).is_multiple_of(16);
                    put!(self, "{text}{}", if last { '\n' } else { ' ' });
                }
                self.out.push_str("END");
            }
        }
        self.out.push('\n');
        Ok(())
    }

    fn levels(&mut self, buffer: &Buffer) {
        if buffer.levels > 1 {
            put!(self, " MIP_LEVELS {}", buffer.levels);
        }
        if buffer.samples > 1 {
            put!(self, " SAMPLES {}", buffer.samples);
        }
    }

    fn samplers(&mut self) -> Printed {
        for sampler in &self.script.samplers {
            put!(self, "\nSAMPLER {} MAG_FILTER {} MIN_FILTER {}", name(&sampler.name)?, sampler.mag.name(), sampler.min.name());
            put!(self, " MIPMAP_MODE {}", sampler.mip.name());
            for (axis, mode) in ['U', 'V', 'W'].iter().zip(sampler.address) {
                put!(self, " ADDRESS_MODE_{axis} {}", mode.name());
            }
            put!(self, " BORDER_COLOR {}", sampler.border.name());
            put!(self, " MIN_LOD {} MAX_LOD {}", float(sampler.lod[0])?, float(sampler.lod[1])?);
            if let Some(compare) = sampler.compare {
                put!(self, " COMPARE on COMPARE_OP {}", compare.name());
            }
            put!(self, " {}\n", if sampler.normalized { "NORMALIZED_COORDS" } else { "UNNORMALIZED_COORDS" });
        }
        Ok(())
    }

    fn buffer_name(&self, buffer: BufferId) -> Printed<&'s str> {
        let script: &'s Script = self.script;
        name(&script[buffer].name)
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Printed {
        let script = self.script;
        put!(self, "\nPIPELINE {} {}\n", pipeline.kind.name(), name(&pipeline.name)?);
        for attached in &pipeline.shaders {
            let shader = &script[attached.shader];
            put!(self, "  ATTACH {}", name(&shader.name)?);
            if shader.stage.is_none() {
                put!(self, " TYPE {}", attached.stage.name());
            }
            put!(self, " ENTRY_POINT {}", name(&attached.entry)?);
            for constant in &attached.specializations {
                let value =
                    constant.scalar.text(constant.bits.into()).ok_or_else(|| Unprintable("a specialization is not finite".into()))?;
                put!(self, " SPECIALIZE {} AS {} {value}", constant.id, constant.scalar.name());
            }
            self.out.push('\n');
        }
        if let (Some(size), Some(shader)) = (pipeline.subgroup_size, pipeline.shaders.first()) {
            put!(self, "  SUBGROUP {}\n    REQUIRED_SIZE {size}\n  END\n", self.script[shader.shader].name);
        }
        if pipeline.framebuffer != DEFAULT_FRAMEBUFFER {
            put!(self, "  FRAMEBUFFER_SIZE {} {}\n", pipeline.framebuffer.0, pipeline.framebuffer.1);
        }
        if let Some(viewport) = &pipeline.viewport {
            let [x, y, w, h, near, far] = viewport.bits;
            put!(self, "  VIEWPORT {} {} SIZE {} {}", float(x)?, float(y)?, float(w)?, float(h)?);
            put!(self, " MIN_DEPTH {} MAX_DEPTH {}\n", float(near)?, float(far)?);
        }
        if pipeline.cull_mode != CullMode::None {
            put!(self, "  CULL_MODE {}\n", pipeline.cull_mode.name());
        }
        if pipeline.front_face != FrontFace::CounterClockwise {
            put!(self, "  FRONT_FACE {}\n", pipeline.front_face.name());
        }
        let depth = pipeline.depth;
        if depth != DepthState::default() {
            let switch = |on| if on { "on" } else { "off" };
            put!(self, "  DEPTH\n    TEST {}\n    WRITE {}\n", switch(depth.test), switch(depth.write));
            put!(self, "    COMPARE_OP {}\n    CLAMP {}\n", depth.compare.name(), switch(depth.clamp));
            if let Some([min, max]) = depth.bounds {
                put!(self, "    BOUNDS min {} max {}\n", float(min)?, float(max)?);
            }
            if let Some([constant, clamp, slope]) = depth.bias {
                put!(self, "    BIAS constant {} clamp {} slope {}\n", float(constant)?, float(clamp)?, float(slope)?);
            }
            self.out.push_str("  END\n");
        }
        let stencil = pipeline.stencil;
        if stencil != StencilState::default() {
            for (side, face) in [("front", stencil.front), ("back", stencil.back)] {
                put!(self, "  STENCIL {side}\n    TEST {}\n", if stencil.test { "on" } else { "off" });
                put!(self, "    FAIL_OP {}\n    PASS_OP {}\n", face.fail.name(), face.pass.name());
                put!(self, "    DEPTH_FAIL_OP {}\n    COMPARE_OP {}\n", face.depth_fail.name(), face.compare.name());
                put!(self, "    COMPARE_MASK {}\n    WRITE_MASK {}\n", face.compare_mask, face.write_mask);
                put!(self, "    REFERENCE {}\n  END\n", face.reference);
            }
        }
        if let Some(blend) = pipeline.blend {
            self.out.push_str("  BLEND\n");
            for (channel, equation) in [("COLOR", blend.colour), ("ALPHA", blend.alpha)] {
                put!(
                    self,
                    "    SRC_{channel}_FACTOR {}\n    DST_{channel}_FACTOR {}\n",
                    equation.source.name(),
                    equation.destination.name()
                );
                put!(self, "    {channel}_OP {}\n", equation.op.name());
            }
            self.out.push_str("  END\n");
        }
        for elements in pipeline.bindings.chunk_by(|a, b| (a.set, a.binding) == (b.set, b.binding)) {
            put!(self, "  BIND {}\n", self.descriptors(elements)?);
        }
        if let Some(buffer) = pipeline.push_constants {
            put!(self, "  BIND BUFFER {} AS push_constant\n", name(&script[buffer].name)?);
        }
        for &(location, view) in &pipeline.colours {
            put!(self, "  BIND BUFFER {} AS color LOCATION {location}{}\n", name(&script[view.buffer].name)?, base_level(view));
        }
        for &buffer in &pipeline.resolves {
            put!(self, "  BIND BUFFER {} AS resolve\n", name(&script[buffer].name)?);
        }
        if let Some(buffer) = pipeline.depth_stencil {
            put!(self, "  BIND BUFFER {} AS depth_stencil\n", name(&script[buffer].name)?);
        }
        for data in &pipeline.vertex_data {
            put!(self, "  VERTEX_DATA {} LOCATION {} RATE {}", name(&script[data.buffer].name)?, data.location, data.rate.name());
            if let Some(format) = data.format {
                put!(self, " FORMAT {}", format.name());
            }
            if data.offset != 0 {
                put!(self, " OFFSET {}", data.offset);
            }
            if let Some(stride) = data.stride {
                put!(self, " STRIDE {stride}");
            }
            self.out.push('\n');
        }
        if let Some(buffer) = pipeline.index_data {
            put!(self, "  INDEX_DATA {}\n", name(&script[buffer].name)?);
        }
        self.out.push_str("END\n");
        Ok(())
    }

    /// The descriptors of one BIND: a single one, or the elements of an array.
    fn descriptors(&self, elements: &[Binding]) -> Printed<String> {
        let array = if elements.len() > 1 { "_ARRAY" } else { "" };
        let resources = || elements.iter().map(|element| element.resource);
        let mut text = String::new();
        if let Some(role) = elements[0].resource.role() {
            let _ = write!(text, "BUFFER{array}");
            resources().filter_map(Resource::buffer).try_for_each(|id| self.buffer_name(id).map(|name| _ = write!(text, " {name}")))?;
            let _ = write!(text, " AS {role} ");
        }
        if elements[0].resource.sampler().is_some() {
            let _ = write!(text, "SAMPLER{array} ");
            resources()
                .filter_map(Resource::sampler)
                .try_for_each(|id| name(&self.script[id].name).map(|name| _ = write!(text, "{name} ")))?;
        }
        let _ = write!(text, "DESCRIPTOR_SET {} BINDING {}", elements[0].set, elements[0].binding);
        let mut numbers = |word: &str, is_default: bool, numbers: Vec<u64>| {
            if !is_default {
                let _ = write!(text, " {word}");
                numbers.iter().for_each(|number| _ = write!(text, " {number}"));
            }
        };
        let offsets: Vec<u64> = resources().filter_map(Resource::range).map(|range| range.offset).collect();
        numbers("DESCRIPTOR_OFFSET", offsets.iter().all(|&offset| offset == 0), offsets);
        let ranges: Vec<u64> = resources().filter_map(|resource| resource.range()?.range).collect();
        numbers("DESCRIPTOR_RANGE", ranges.is_empty(), ranges);
        let levels: Vec<u64> = resources().filter_map(Resource::view).map(|view| view.level.into()).collect();
        numbers("BASE_MIP_LEVEL", levels.iter().all(|&level| level == 0), levels);
        Ok(text)
    }

    fn command(&mut self, command: &Command, indent: &str) -> Printed {
        let script = self.script;
        self.out.push_str(indent);
        match &command.action {
            Action::Run(run) => {
                put!(self, "RUN {} ", name(&script[run.pipeline].name)?);
                match run.what {
                    RunKind::Compute([x, y, z]) => {
                        put!(self, "{x} {y} {z}");
                    }
                    RunKind::DrawRect([x, y, w, h]) => {
                        put!(self, "DRAW_RECT POS {x} {y} SIZE {w} {h}");
                    }
                    RunKind::DrawGrid { rect: [x, y, w, h], columns, rows } => {
                        put!(self, "DRAW_GRID POS {x} {y} SIZE {w} {h} CELLS {columns} {rows}");
                    }
                    RunKind::DrawArray { topology, indexed, first, count, first_instance, instances } => {
                        put!(self, "DRAW_ARRAY AS {}{} START_IDX {first}", topology.name(), if indexed { " INDEXED" } else { "" });
                        if let Some(count) = count {
                            put!(self, " COUNT {count}");
                        }
                        put!(self, " START_INSTANCE {first_instance} INSTANCE_COUNT {instances}");
                    }
                }
            }
            Action::Clear(pipeline) => {
                put!(self, "CLEAR {}", name(&script[*pipeline].name)?);
            }
            Action::ClearColour(pipeline, bits) => {
                put!(self, "CLEAR_COLOR {}", name(&script[*pipeline].name)?);
                for &component in bits {
                    let value = (0..=255u8).find(|&c| (f32::from(c) / 255.0).to_bits() == component);
                    let value = value.ok_or_else(|| Unprintable("a clear colour is not a whole number of 255ths".into()))?;
                    put!(self, " {value}");
                }
            }
            Action::ClearDepth(pipeline, depth) => {
                put!(self, "CLEAR_DEPTH {} {}", name(&script[*pipeline].name)?, float(*depth)?);
            }
            Action::ClearStencil(pipeline, value) => {
                put!(self, "CLEAR_STENCIL {} {value}", name(&script[*pipeline].name)?);
            }
            Action::Copy { from, to } => {
                put!(self, "COPY {} TO {}", name(&script[*from].name)?, name(&script[*to].name)?);
            }
            Action::Expect(expect) => self.expect(expect)?,
            Action::Repeat { count, body } => {
                put!(self, "REPEAT {count}\n");
                for command in body {
                    self.command(command, "  ")?;
                }
                self.out.push_str("END");
            }
            Action::Write { .. } => return Err(Unprintable("a buffer is written between two runs, as only VkScript can".into())),
        }
        self.out.push('\n');
        Ok(())
    }

    fn expect(&mut self, expect: &Expect) -> Printed {
        let script = self.script;
        put!(self, "EXPECT {}", self.buffer_name(expect.buffer)?);
        match &expect.check {
            Check::Values { comparator, tolerance, lanes } => {
                let Some(first) = lanes.first() else { return Err(Unprintable("an expectation has no values".into())) };
                put!(self, " IDX {}", first.offset);
                self.tolerances(tolerance);
                put!(self, " {}", comparator.name());
                let start = script[expect.buffer].index_at(first.offset);
                for (i, lane) in lanes.iter().enumerate() {
                    let slot = start.and_then(|start| script[expect.buffer].slot(start + i as u64));
                    if !slot.is_some_and(|s| (s.offset, s.scalar, s.component) == (lane.offset, lane.scalar, lane.component)) {
                        return Err(Unprintable(format!("an expectation takes {} for another type", script[expect.buffer].name)));
                    }
                    put!(self, " {}", self.value(lane)?);
                }
            }
            Check::Colour { rect: [x, y, w, h], colour, alpha, tolerance } => {
                put!(self, " IDX {x} {y} SIZE {w} {h} {}", if *alpha { "EQ_RGBA" } else { "EQ_RGB" });
                for component in &colour[..if *alpha { 4 } else { 3 }] {
                    put!(self, " {component}");
                }
                self.tolerances(tolerance);
            }
            Check::EqBuffer(other) => {
                put!(self, " EQ_BUFFER {}", self.buffer_name(*other)?);
            }
            Check::RmseBuffer(other, most) => {
                put!(self, " RMSE_BUFFER {} TOLERANCE {:?}", self.buffer_name(*other)?, most.value());
            }
            Check::HistogramEmdBuffer(other, most) => {
                put!(self, " EQ_HISTOGRAM_EMD_BUFFER {} TOLERANCE {:?}", self.buffer_name(*other)?, most.value());
            }
        }
        Ok(())
    }

    fn value(&self, lane: &Lane) -> Printed<String> {
        lane.scalar.text(lane.bits).ok_or_else(|| Unprintable("an expected value is not finite".into()))
    }

    fn tolerances(&mut self, all: &[Tolerance]) {
        if !all.is_empty() {
            self.out.push_str(" TOLERANCE");
        }
        for tolerance in all {
            put!(self, " {:?}{}", tolerance.amount.value(), if tolerance.percent { "%" } else { "" });
        }
    }
}
