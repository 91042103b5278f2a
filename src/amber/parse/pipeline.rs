//! The blocks PIPELINE and DERIVE_PIPELINE.

use super::{Keys, Named, Parser, Step};
use crate::amber::error::quoted;
use crate::amber::layout::DataType;
use crate::amber::lex::Word;
use crate::amber::limits::{MAX_BINDINGS, MAX_EXTENT, MAX_PIPELINES, MAX_SPECIALIZATIONS, MAX_SUBGROUP};
use crate::amber::scalar::{Class, Scalar};
use crate::amber::script::{
    Attachment, Binding, BlendFactor, BlendOp, BlendState, BufferId, BufferRange, Compare, CullMode, DepthState, Extent, FrontFace, Line,
    Pipeline, PipelineKind, Rate, Resource, SamplerId, Specialization, Stage, StencilFace, StencilOp, StencilState, VertexData, View,
    Viewport,
};

/// Blocks of a pipeline that are unsupported.
const UNSUPPORTED_BLOCKS: [&str; 2] = ["COMPILE_OPTIONS", "SHADER_BINDING_TABLE"];
/// Blend factors that are unsupported: constants, and second sources.
const UNSUPPORTED_BLEND_FACTORS: [&str; 8] = [
    "constant_color",
    "one_minus_constant_color",
    "constant_alpha",
    "one_minus_constant_alpha",
    "src1_color",
    "one_minus_src1_color",
    "src1_alpha",
    "one_minus_src1_alpha",
];
const UNSUPPORTED_LINES: [&str; 2] = ["SET", "FLAGS"];

/// A pipeline while its block is read. The block must not say the same thing twice, but it may
/// change what it inherits.
struct Draft {
    pipeline: Pipeline,
    bindings: Keys,
    stages: Vec<Stage>,
    colours: Vec<u32>,
    resolves: bool,
    locations: Vec<u32>,
}

impl<'t> Parser<'t> {
    pub(super) fn pipeline(&mut self, word: Word<'t>, derived: bool) -> Step {
        let mut name = None;
        let errors_before = self.error_count;
        let head = self.pipeline_head(word, derived, &mut name).and_then(|p| self.end().map(|()| p));
        // The block is read even if its head is wrong, as a graphics pipeline, which accepts the
        // most lines.
        let (pipeline, head_error) = match head {
            Ok(pipeline) => (pipeline, None),
            Err(stop) => (Pipeline::new(String::new(), PipelineKind::Graphics, Line(word.line)), Some(stop)),
        };
        if let Some(stop) = head_error {
            self.recover(Err(stop));
            if let Some(name) = name {
                self.failed(Named::Pipeline, name);
            }
            // The pipeline is unknown, so its lines cannot be checked.
            return self.skip_block(word);
        }
        let mut draft =
            Draft { pipeline, bindings: Keys::default(), stages: Vec::new(), colours: Vec::new(), resolves: false, locations: Vec::new() };
        let block = self.block(word, |parser, line| parser.pipeline_line(&mut draft, line));
        let Some(name) = name else { return block };
        if block.is_err() || self.error_count > errors_before {
            self.failed(Named::Pipeline, name);
            return block;
        }
        let result = self.complete(name, draft.pipeline);
        if result.is_err() {
            self.failed(Named::Pipeline, name);
        }
        result
    }

    fn skip_block(&mut self, opening: Word<'t>) -> Step {
        let mut depth = 1;
        while depth > 0 {
            let Some(word) = self.lexer.word_over_lines() else { return Err(self.missing_end(opening)) };
            depth += i32::from(
                matches!(word.text, "SHADER_OPTIMIZATION" | "SUBGROUP" | "DEPTH" | "STENCIL" | "BLEND")
                    || UNSUPPORTED_BLOCKS.contains(&word.text),
            ) - i32::from(word.text == "END");
            if word.text != "END" {
                while self.lexer.word().is_some() {}
            }
        }
        Ok(())
    }

    /// Reads a line of SUBGROUP. Full subgroups need no support, since all subgroups of a workgroup
    /// are full except the last.
    fn subgroup_line(&mut self, pipeline: &mut Pipeline, word: Word<'t>) -> Step {
        const SWITCH: [(bool, &str); 2] = [(true, "on"), (false, "off")];
        match word.text {
            "REQUIRED_SIZE" => {
                let at = self.lexer.peek().unwrap_or(word);
                let size = self.integer("a size of subgroups", u64::from(MAX_SUBGROUP))? as u32;
                if !size.is_power_of_two() {
                    return Err(self.invalid(at, format!("found {}, where a power of two should stand", quoted(at.text))));
                }
                pipeline.subgroup_size = Some(size);
            }
            "FULLY_POPULATED" => {
                self.one_of("on or off", &SWITCH)?;
            }
            "VARYING_SIZE" => {
                if self.one_of("on or off", &SWITCH)? {
                    return Err(self.unsupported(word, "VARYING_SIZE on"));
                }
            }
            _ => {
                let what = format!("found {}, where REQUIRED_SIZE, FULLY_POPULATED or VARYING_SIZE should stand", quoted(word.text));
                return Err(self.invalid(word, what));
            }
        }
        self.end()
    }

    fn pipeline_head(&mut self, word: Word<'t>, derived: bool, name: &mut Option<Word<'t>>) -> Step<Pipeline> {
        if self.script.pipelines.len() >= MAX_PIPELINES {
            return Err(self.limit(word, "pipelines", MAX_PIPELINES));
        }
        if derived {
            let name_word = self.need("the name of a pipeline")?;
            *name = Some(name_word);
            self.keyword("FROM")?;
            let (parent, _) = self.pipeline_name()?;
            return Ok(Pipeline { name: name_word.text.into(), line: Line(word.line), ..self.script[parent].clone() });
        }
        let kind = self.need("a kind of pipeline")?;
        *name = self.lexer.peek();
        self.reject_unsupported_stage(kind)?;
        let Some(kind) = PipelineKind::named(kind.text) else {
            return Err(self.invalid(kind, format!("found {}, where compute or graphics should stand", quoted(kind.text))));
        };
        let name_word = self.need("the name of a pipeline")?;
        Ok(Pipeline::new(name_word.text.into(), kind, Line(word.line)))
    }

    fn pipeline_line(&mut self, draft: &mut Draft, word: Word<'t>) -> Step {
        let graphics = draft.pipeline.kind == PipelineKind::Graphics;
        match word.text {
            "ATTACH" => return self.attach(draft, word),
            "BIND" => return self.bind(draft, word),
            "SHADER_OPTIMIZATION" => {
                self.shader_name()?;
                self.end()?;
                let mut passes = None;
                self.block(word, |_, pass| {
                    passes = passes.or(Some(pass));
                    Ok(())
                })?;
                // A requested optimization is part of what the script tests.
                return passes.map_or(Ok(()), |pass| Err(self.unsupported(pass, "an optimization pass")));
            }
            other if UNSUPPORTED_BLOCKS.contains(&other) => {
                let stop = self.reject_unsupported_stage(word).err().unwrap_or_else(|| self.unsupported(word, other));
                self.recover(Err(stop));
                return self.block(word, |parser, _| {
                    while parser.lexer.word().is_some() {}
                    Ok(())
                });
            }
            other if UNSUPPORTED_LINES.contains(&other) => return Err(self.unsupported(word, other)),
            // FRAMEBUFFER_SIZE gives a size to images without one, in a compute pipeline too.
            "VERTEX_DATA" | "INDEX_DATA" | "VIEWPORT" | "CULL_MODE" | "FRONT_FACE" | "POLYGON_MODE" | "DEPTH" | "STENCIL" | "BLEND"
                if !graphics =>
            {
                return Err(self.invalid(word, format!("{} stands in a compute pipeline", word.text)));
            }
            "VERTEX_DATA" => return self.vertex_data(draft, word),
            "DEPTH" => {
                self.end()?;
                return self.block(word, |parser, line| parser.depth_line(&mut draft.pipeline.depth, line));
            }
            "STENCIL" => {
                const FACES: [([bool; 2], &str); 3] = [([true, false], "front"), ([false, true], "back"), ([true; 2], "front_and_back")];
                let faces = self.one_of("front, back or front_and_back", &FACES)?;
                self.end()?;
                return self.block(word, |parser, line| parser.stencil_line(&mut draft.pipeline.stencil, faces, line));
            }
            "SUBGROUP" if graphics => return Err(self.unsupported(word, "SUBGROUP in a graphics pipeline")),
            "SUBGROUP" => {
                self.need("the name of a shader")?;
                self.end()?;
                return self.block(word, |parser, line| parser.subgroup_line(&mut draft.pipeline, line));
            }
            "BLEND" => {
                self.end()?;
                let mut blend = BlendState::default();
                let block = self.block(word, |parser, line| parser.blend_line(&mut blend, line));
                draft.pipeline.blend = Some(blend);
                return block;
            }
            "INDEX_DATA" => {
                let (buffer, at) = self.buffer_name()?;
                let integer = match self.script[buffer].layout.slot(0).map(|s| s.scalar) {
                    Some(s) if self.script[buffer].layout.scalars == 1 => s.class() != Class::Float && matches!(s.size(), 1 | 2 | 4),
                    _ => false,
                };
                if !integer {
                    return Err(self.invalid(at, format!("the indices {} are no integers of 8, 16 or 32 bits", quoted(at.text))));
                }
                draft.pipeline.index_data = Some(buffer);
            }
            "FRAMEBUFFER_SIZE" => {
                draft.pipeline.framebuffer = (self.extent("a width", MAX_EXTENT)?, self.extent("a height", MAX_EXTENT)?);
            }
            "VIEWPORT" => {
                let (left, top) = (self.float("a coordinate")?, self.float("a coordinate")?);
                self.keyword("SIZE")?;
                let mut bits = [left, top, self.float("a width")?, self.float("a height")?, 0f32.to_bits(), 1f32.to_bits()];
                if self.accept("MIN_DEPTH").is_some() {
                    bits[4] = self.float("a depth")?;
                }
                if self.accept("MAX_DEPTH").is_some() {
                    bits[5] = self.float("a depth")?;
                }
                draft.pipeline.viewport = Some(Viewport { bits });
            }
            "CULL_MODE" => draft.pipeline.cull_mode = self.one_of("a cull mode", CullMode::ALL)?,
            "FRONT_FACE" => draft.pipeline.front_face = self.one_of("an order", FrontFace::ALL)?,
            "POLYGON_MODE" => {
                let mode = self.need("a polygon mode")?;
                match mode.text {
                    "fill" => {}
                    "line" | "point" => return Err(self.unsupported(mode, &format!("the polygon mode {}", mode.text))),
                    other => return Err(self.invalid(mode, format!("found {}, where fill, line or point should stand", quoted(other)))),
                }
            }
            other => {
                self.reject_unsupported_stage(word)?;
                return Err(self.invalid(word, format!("found {}, where a command of a pipeline or END should stand", quoted(other))));
            }
        }
        self.end()
    }

    /// Reads a line of a DEPTH block.
    fn depth_line(&mut self, depth: &mut DepthState, word: Word<'t>) -> Step {
        const SWITCH: [(bool, &str); 2] = [(true, "on"), (false, "off")];
        match word.text {
            "TEST" => depth.test = self.one_of("on or off", &SWITCH)?,
            "WRITE" => depth.write = self.one_of("on or off", &SWITCH)?,
            "CLAMP" => depth.clamp = self.one_of("on or off", &SWITCH)?,
            "COMPARE_OP" => depth.compare = self.one_of("a comparison", Compare::ALL)?,
            "BOUNDS" => {
                depth.bounds = match self.accept("off") {
                    Some(_) => None,
                    None => Some(self.depth_values(["min", "max"])?),
                }
            }
            "BIAS" => {
                depth.bias = match self.accept("off") {
                    Some(_) => None,
                    None => Some(self.depth_values(["constant", "clamp", "slope"])?),
                }
            }
            other => return Err(self.invalid(word, format!("found {}, where a command of DEPTH or END should stand", quoted(other)))),
        }
        self.end()
    }

    /// Reads a line of a STENCIL block. `faces` says whether it applies to front faces and to
    /// back faces.
    fn stencil_line(&mut self, stencil: &mut StencilState, faces: [bool; 2], word: Word<'t>) -> Step {
        const SWITCH: [(bool, &str); 2] = [(true, "on"), (false, "off")];
        let mut face = if faces[0] { stencil.front } else { stencil.back };
        match word.text {
            "TEST" => {
                stencil.test = self.one_of("on or off", &SWITCH)?;
                return self.end();
            }
            "FAIL_OP" => face.fail = self.one_of("a stencil operation", StencilOp::ALL)?,
            "PASS_OP" => face.pass = self.one_of("a stencil operation", StencilOp::ALL)?,
            "DEPTH_FAIL_OP" => face.depth_fail = self.one_of("a stencil operation", StencilOp::ALL)?,
            "COMPARE_OP" => face.compare = self.one_of("a comparison", Compare::ALL)?,
            "COMPARE_MASK" => face.compare_mask = self.integer("a mask", u32::MAX.into())? as u32,
            "WRITE_MASK" => face.write_mask = self.integer("a mask", u32::MAX.into())? as u32,
            "REFERENCE" => face.reference = self.integer("a reference", u32::MAX.into())? as u32,
            other => return Err(self.invalid(word, format!("found {}, where a command of STENCIL or END should stand", quoted(other)))),
        }
        self.end()?;
        // Only the field of this line changes, for each face that the block applies to.
        let change = |of: &mut StencilFace| match word.text {
            "FAIL_OP" => of.fail = face.fail,
            "PASS_OP" => of.pass = face.pass,
            "DEPTH_FAIL_OP" => of.depth_fail = face.depth_fail,
            "COMPARE_OP" => of.compare = face.compare,
            "COMPARE_MASK" => of.compare_mask = face.compare_mask,
            "WRITE_MASK" => of.write_mask = face.write_mask,
            _ => of.reference = face.reference,
        };
        [&mut stencil.front, &mut stencil.back].into_iter().zip(faces).filter(|(_, is)| *is).for_each(|(of, _)| change(of));
        Ok(())
    }

    /// Reads a line of a BLEND block.
    fn blend_line(&mut self, blend: &mut BlendState, word: Word<'t>) -> Step {
        match word.text {
            "SRC_COLOR_FACTOR" => blend.colour.source = self.blend_factor()?,
            "DST_COLOR_FACTOR" => blend.colour.destination = self.blend_factor()?,
            "COLOR_OP" => blend.colour.op = self.blend_op()?,
            "SRC_ALPHA_FACTOR" => blend.alpha.source = self.blend_factor()?,
            "DST_ALPHA_FACTOR" => blend.alpha.destination = self.blend_factor()?,
            "ALPHA_OP" => blend.alpha.op = self.blend_op()?,
            other => return Err(self.invalid(word, format!("found {}, where a command of BLEND or END should stand", quoted(other)))),
        }
        self.end()
    }

    fn blend_factor(&mut self) -> Step<BlendFactor> {
        match self.lexer.peek() {
            Some(word) if UNSUPPORTED_BLEND_FACTORS.contains(&word.text) => {
                Err(self.unsupported(word, &format!("the blend factor {}", word.text)))
            }
            _ => self.one_of("a blend factor", BlendFactor::ALL),
        }
    }

    fn blend_op(&mut self) -> Step<BlendOp> {
        const OTHER_SPELLING: [(BlendOp, &str); 2] = [(BlendOp::Subtract, "subtract"), (BlendOp::ReverseSubtract, "reverse_subtract")];
        match OTHER_SPELLING.into_iter().find(|(_, name)| self.accept(name).is_some()) {
            Some((op, _)) => Ok(op),
            None => self.one_of("a blend operation", BlendOp::ALL),
        }
    }

    /// Reads numbers, each after its name.
    fn depth_values<const N: usize>(&mut self, names: [&str; N]) -> Step<[u32; N]> {
        let mut bits = [0; N];
        for (bits, name) in bits.iter_mut().zip(names) {
            self.keyword(name)?;
            *bits = self.float("a number")?;
        }
        Ok(bits)
    }

    fn attach(&mut self, draft: &mut Draft, word: Word<'t>) -> Step {
        let (shader, name) = self.shader_name()?;
        let declared = self.script[shader].stage;
        let stage = match self.accept("TYPE") {
            Some(_) => {
                let stage = self.one_of("a stage", &Stage::ALL)?;
                if declared.is_some_and(|d| d != stage) {
                    return Err(self.invalid(name, format!("the shader {} is no {} shader", quoted(name.text), stage.name())));
                }
                stage
            }
            None => {
                declared.ok_or_else(|| self.invalid(name, format!("the multi shader {} is attached without TYPE", quoted(name.text))))?
            }
        };
        let compute = draft.pipeline.kind == PipelineKind::Compute;
        if (stage == Stage::Compute) != compute {
            return Err(self.invalid(name, format!("a {} shader stands in a {} pipeline", stage.name(), draft.pipeline.kind.name())));
        }
        let entry = match self.accept("ENTRY_POINT") {
            Some(_) => self.need("the name of an entry point")?.text.into(),
            None => "main".into(),
        };
        let mut specializations: Vec<Specialization> = Vec::new();
        while self.accept("SPECIALIZE").is_some() {
            let id = self.integer("the number of a specialization constant", u32::MAX.into())? as u32;
            self.keyword("AS")?;
            let type_word = self.need("a type of 32 bits")?;
            let Some(scalar) = Scalar::named(type_word.text).filter(|s| s.size() == 4) else {
                return Err(self.invalid(
                    type_word,
                    format!("found {}, where a type of 32 bits should stand: int32, uint32, float", quoted(type_word.text)),
                ));
            };
            let (number, at) = self.number("a value")?;
            let bits = scalar.bits(&number).map_err(|e| self.invalid(at, e))? as u32;
            if specializations.iter().any(|s| s.id == id) {
                return Err(self.invalid(at, format!("specialization constant {id} is set twice")));
            }
            if specializations.len() >= MAX_SPECIALIZATIONS {
                return Err(self.limit(at, "specialization constants of a shader", MAX_SPECIALIZATIONS));
            }
            specializations.push(Specialization { id, scalar, bits });
        }
        self.end()?;
        if draft.stages.contains(&stage) {
            return Err(self.invalid(word, format!("the pipeline has two {} shaders", stage.name())));
        }
        draft.stages.push(stage);
        draft.pipeline.shaders.retain(|a| a.stage != stage);
        draft.pipeline.shaders.push(Attachment { shader, stage, entry, specializations, line: Line(word.line) });
        draft.pipeline.shaders.sort_by_key(|a| a.stage);
        Ok(())
    }

    fn bind(&mut self, draft: &mut Draft, word: Word<'t>) -> Step {
        let what = self.need("BUFFER or SAMPLER")?;
        let is_array = what.text.ends_with("_ARRAY");
        let mut buffers = Vec::new();
        match what.text {
            "BUFFER" => buffers.push(self.buffer_name()?),
            "BUFFER_ARRAY" => {
                buffers.push(self.buffer_name()?);
                while self.lexer.peek().is_some_and(|word| word.text != "AS") {
                    self.enough_room(what, buffers.len())?;
                    buffers.push(self.buffer_name()?);
                }
            }
            "SAMPLER" | "SAMPLER_ARRAY" => {
                let samplers = self.sampler_names(is_array, "DESCRIPTOR_SET")?;
                return self.descriptors(draft, word, samplers.into_iter().map(Resource::Sampler).collect(), false);
            }
            other => {
                self.reject_unsupported_stage(what)?;
                return Err(self.invalid(what, format!("found {}, where BUFFER or SAMPLER should stand", quoted(other))));
            }
        }
        let (buffer, name) = buffers[0];
        if let Some(kernel) = self.accept("KERNEL") {
            return Err(self.unsupported(kernel, "KERNEL"));
        }
        self.keyword("AS")?;
        let role = self.need("what the buffer is bound as")?;
        let graphics = draft.pipeline.kind == PipelineKind::Graphics;
        let resources = |of: &dyn Fn(BufferId) -> Resource| buffers.iter().map(|&(buffer, _)| of(buffer)).collect::<Vec<_>>();
        match role.text {
            "uniform" | "storage" | "uniform_dynamic" | "storage_dynamic" => {
                if let Some((_, name)) = buffers.iter().find(|(buffer, _)| self.script[*buffer].items == 0) {
                    return Err(self.invalid(*name, format!("the buffer {} has no size", quoted(name.text))));
                }
                let range = |buffer| BufferRange { buffer, offset: 0, range: None };
                let resources = match role.text.starts_with("uniform") {
                    true => resources(&|buffer| Resource::Uniform(range(buffer))),
                    false => resources(&|buffer| Resource::Storage(range(buffer))),
                };
                self.descriptors(draft, word, resources, role.text.ends_with("_dynamic"))
            }
            "combined_image_sampler" => {
                buffers.iter().try_for_each(|&(buffer, name)| self.image_of(buffer, name))?;
                let at = self.keyword(if is_array { "SAMPLER_ARRAY" } else { "SAMPLER" })?;
                let samplers = self.sampler_names(is_array, "DESCRIPTOR_SET")?;
                if samplers.len() != buffers.len() {
                    let (found, needed) = (samplers.len(), buffers.len());
                    return Err(self.invalid(at, format!("{found} samplers are bound with {needed} buffers; give one for each")));
                }
                let pairs = buffers.iter().zip(samplers);
                let resources = pairs.map(|(&(buffer, _), sampler)| Resource::CombinedImageSampler(View { buffer, level: 0 }, sampler));
                self.descriptors(draft, word, resources.collect(), false)
            }
            "sampled_image" | "storage_image" => {
                buffers.iter().try_for_each(|&(buffer, name)| self.image_of(buffer, name))?;
                let resources = match role.text {
                    "sampled_image" => resources(&|buffer| Resource::SampledImage(View { buffer, level: 0 })),
                    _ => resources(&|buffer| Resource::StorageImage(View { buffer, level: 0 })),
                };
                self.descriptors(draft, word, resources, false)
            }
            "uniform_texel_buffer" | "storage_texel_buffer" => {
                buffers.iter().try_for_each(|&(buffer, name)| self.texels_of(buffer, name))?;
                let resources = match role.text {
                    "uniform_texel_buffer" => resources(&Resource::UniformTexelBuffer),
                    _ => resources(&Resource::StorageTexelBuffer),
                };
                self.descriptors(draft, word, resources, false)
            }
            _ if is_array => Err(self.invalid(role, format!("found {}, which is no kind of descriptor", quoted(role.text)))),
            "push_constant" => {
                draft.pipeline.push_constants = Some(buffer);
                self.end()
            }
            "color" | "depth_stencil" | "resolve" if !graphics => {
                Err(self.invalid(role, format!("{} stands in a compute pipeline", role.text)))
            }
            "color" => {
                self.keyword("LOCATION")?;
                let location = self.integer("a location", MAX_BINDINGS as u64 - 1)? as u32;
                let level = self.base_level(buffer)?;
                self.end()?;
                self.attachment_of(buffer, name, false)?;
                if draft.colours.contains(&location) {
                    return Err(self.invalid(name, format!("two buffers are the colour attachment at location {location}")));
                }
                draft.colours.push(location);
                draft.pipeline.colours.retain(|c| c.0 != location);
                draft.pipeline.colours.push((location, View { buffer, level }));
                draft.pipeline.colours.sort_unstable();
                Ok(())
            }
            "depth_stencil" => {
                self.end()?;
                self.attachment_of(buffer, name, true)?;
                draft.pipeline.depth_stencil = Some(buffer);
                Ok(())
            }
            "resolve" => {
                self.end()?;
                self.attachment_of(buffer, name, false)?;
                if !std::mem::replace(&mut draft.resolves, true) {
                    draft.pipeline.resolves.clear();
                }
                if draft.pipeline.resolves.len() >= MAX_BINDINGS {
                    return Err(self.limit(name, "the bindings of a pipeline", MAX_BINDINGS));
                }
                draft.pipeline.resolves.push(buffer);
                Ok(())
            }
            other => Err(self.invalid(role, format!("found {}, where what a buffer is bound as should stand", quoted(other)))),
        }
    }

    /// The name of a sampler, or of the samplers of an array: as many as stand before that word.
    fn sampler_names(&mut self, is_array: bool, end: &str) -> Step<Vec<SamplerId>> {
        let mut samplers = vec![self.sampler_name()?];
        while let Some(word) = self.lexer.peek().filter(|word| is_array && word.text != end) {
            self.enough_room(word, samplers.len())?;
            samplers.push(self.sampler_name()?);
        }
        Ok(samplers)
    }

    /// Fails if so many descriptors are all that a pipeline may have.
    fn enough_room(&self, at: Word<'t>, count: usize) -> Step {
        match count < MAX_BINDINGS {
            true => Ok(()),
            false => Err(self.limit(at, "the bindings of a pipeline", MAX_BINDINGS)),
        }
    }

    /// Reads the first level of a buffer binding.
    fn base_level(&mut self, buffer: BufferId) -> Step<u32> {
        match self.accept("BASE_MIP_LEVEL") {
            Some(_) => self.level_of(buffer),
            None => Ok(0),
        }
    }

    fn level_of(&mut self, buffer: BufferId) -> Step<u32> {
        Ok(self.integer("a level of the image", u64::from(self.script[buffer].levels) - 1)? as u32)
    }

    fn attachment_of(&self, buffer: BufferId, name: Word<'t>, depth: bool) -> Step {
        match self.script[buffer].format() {
            Some(format) if format.is_depth_stencil() == depth => Ok(()),
            Some(format) => Err(self.invalid(name, format!("the format {} is not for such an attachment", format.name()))),
            None => {
                let type_name = self.script[buffer].data_type.name();
                Err(self.invalid(name, format!("the attachment {} is of {type_name}, which is no image format", quoted(name.text))))
            }
        }
    }

    fn image_of(&self, buffer: BufferId, name: Word<'t>) -> Step {
        let declared = &self.script[buffer];
        if declared.extent == Extent::Linear {
            return Err(self.invalid(name, format!("the buffer {} is bound as an image and has no WIDTH and HEIGHT", quoted(name.text))));
        }
        self.texels_of(buffer, name)
    }

    /// Checks that the items of a buffer are texels of one sample each.
    fn texels_of(&self, buffer: BufferId, name: Word<'t>) -> Step {
        let declared = &self.script[buffer];
        if declared.samples > 1 {
            return Err(self.unsupported(name, "a descriptor of an image of several samples"));
        }
        if declared.format().is_none() {
            return Err(self.invalid(name, format!("{} is no type of an image's texels", declared.data_type.name())));
        }
        Ok(())
    }

    /// The place and the parts of resources that a binding names. Several are the elements of an
    /// array of descriptors. Each has its own number after a word for parts. A dynamic offset is
    /// added to the descriptor's own offset, as Vulkan does.
    fn descriptors(&mut self, draft: &mut Draft, word: Word<'t>, mut resources: Vec<Resource>, dynamic: bool) -> Step {
        let at = self.keyword("DESCRIPTOR_SET")?;
        let set = self.integer("a descriptor set", u32::MAX.into())? as u32;
        self.keyword("BINDING")?;
        let binding = self.integer("a binding", u32::MAX.into())? as u32;
        let ranges = resources.iter_mut().filter_map(|resource| match resource {
            Resource::Uniform(range) | Resource::Storage(range) => Some(range),
            _ => None,
        });
        let mut ranges: Vec<&mut BufferRange> = ranges.collect();
        if dynamic {
            self.keyword("OFFSET")?;
            for range in &mut ranges {
                range.offset = self.integer("an offset", self.script[range.buffer].size() - 1)?;
            }
        }
        if !ranges.is_empty() && self.accept("DESCRIPTOR_OFFSET").is_some() {
            for range in &mut ranges {
                range.offset += self.integer("an offset", self.script[range.buffer].size() - 1 - range.offset)?;
            }
        }
        if !ranges.is_empty() && self.accept("DESCRIPTOR_RANGE").is_some() {
            for range in &mut ranges {
                range.range = Some(self.integer("a number of bytes", self.script[range.buffer].size() - range.offset)?);
            }
        }
        let views = resources.iter_mut().filter_map(|resource| match resource {
            Resource::CombinedImageSampler(view, _) | Resource::SampledImage(view) | Resource::StorageImage(view) => Some(view),
            _ => None,
        });
        let views: Vec<&mut View> = views.collect();
        if !views.is_empty() && self.accept("BASE_MIP_LEVEL").is_some() {
            for view in views {
                view.level = self.level_of(view.buffer)?;
            }
        }
        self.end()?;
        if !draft.bindings.insert((set, binding)) {
            return Err(self.invalid(at, format!("descriptor set {set}, binding {binding} is bound twice")));
        }
        let bindings = &mut draft.pipeline.bindings;
        bindings.retain(|b| (b.set, b.binding) != (set, binding));
        for resource in resources {
            self.enough_room(at, bindings.len())?;
            bindings.push(Binding { set, binding, resource, line: Line(word.line) });
        }
        bindings.sort_by_key(|b| (b.set, b.binding));
        Ok(())
    }

    fn vertex_data(&mut self, draft: &mut Draft, word: Word<'t>) -> Step {
        let (buffer, name) = self.buffer_name()?;
        self.keyword("LOCATION")?;
        let location = self.integer("a location", u32::MAX.into())? as u32;
        let mut data = VertexData { buffer, location, rate: Rate::Vertex, format: None, offset: 0, stride: None, line: Line(word.line) };
        while let Some(option) = self.lexer.word() {
            match option.text {
                "RATE" => data.rate = self.one_of("vertex or instance", Rate::ALL)?,
                "FORMAT" => data.format = Some(self.format()?),
                "OFFSET" => data.offset = self.integer("a number of bytes", u32::MAX.into())? as u32,
                "STRIDE" => data.stride = Some(self.integer("a number of bytes", u32::MAX.into())? as u32),
                other => {
                    return Err(self.invalid(option, format!("found {}, where RATE, FORMAT, OFFSET or STRIDE should stand", quoted(other))));
                }
            }
        }
        let data_type = &self.script[buffer].data_type;
        if data.format.is_none() && !matches!(data_type, DataType::Scalar(_) | DataType::Vector(..) | DataType::Texel(_)) {
            return Err(self.invalid(name, format!("{} is no type of vertex data; FORMAT is missing", data_type.name())));
        }
        if draft.locations.contains(&location) {
            return Err(self.invalid(name, format!("two buffers are the vertex data of location {location}")));
        }
        let all = &mut draft.pipeline.vertex_data;
        all.retain(|v| v.location != location);
        if all.len() >= MAX_BINDINGS {
            return Err(self.limit(name, "vertex data of a pipeline", MAX_BINDINGS));
        }
        draft.locations.push(location);
        all.push(data);
        all.sort_by_key(|v| v.location);
        Ok(())
    }

    /// Checks a complete pipeline, gives sizes to its images, and adds it to the script.
    fn complete(&mut self, name: Word<'t>, pipeline: Pipeline) -> Step {
        let needed: &[Stage] = match pipeline.kind {
            PipelineKind::Compute => &[Stage::Compute],
            PipelineKind::Graphics => &[Stage::Vertex, Stage::Fragment],
        };
        if let Some(missing) = needed.iter().find(|&&s| pipeline.shader(s).is_none()) {
            return Err(self.invalid(name, format!("the pipeline {} has no {} shader", quoted(name.text), missing.name())));
        }
        let depth = pipeline.depth_stencil.map(|buffer| View { buffer, level: 0 });
        let resolves = pipeline.resolves.iter().map(|&buffer| View { buffer, level: 0 });
        let attachments: Vec<View> = pipeline.colours.iter().map(|c| c.1).chain(resolves).chain(depth).collect();
        self.samples_agree(name, &pipeline)?;
        let images = pipeline.bindings.iter().filter_map(|b| b.resource.view());
        let (width, height) = pipeline.framebuffer;
        for (image, attached) in attachments.iter().map(|&a| (a, true)).chain(images.map(|i| (i, false)).collect::<Vec<_>>()) {
            let View { buffer: image, level } = image;
            let buffer = &self.script[image];
            // For an attachment, the framebuffer has the size of the level.
            let shift = if attached { level } else { 0 };
            let [w, h, _] = buffer.extent.level(shift).unwrap_or([0; 3]);
            match buffer.extent {
                Extent::Framebuffer { width: 0, .. } => {
                    let sides = [width, height].map(|side| side.checked_mul(1 << shift).filter(|side| *side <= MAX_EXTENT));
                    let [Some(width), Some(height)] = sides else { return Err(self.limit(name, "a side of an image", MAX_EXTENT)) };
                    self.give_size(name, image, width, height)?;
                }
                Extent::Framebuffer { .. } | Extent::Image { .. } if attached && (w, h) != (width, height) => {
                    let what = format!("the attachment {} is {w} by {h}, the framebuffer {width} by {height}", quoted(&buffer.name));
                    return Err(self.invalid(name, what));
                }
                // The items of a linear buffer are the texels, row by row.
                Extent::Linear if attached && buffer.samples == 1 && buffer.items == u64::from(width) * u64::from(height) => {
                    self.script.buffers[image.0].extent = Extent::Image { width, height, declared: false };
                }
                Extent::Row { .. } | Extent::Box { .. } if attached => {
                    return Err(self.invalid(name, format!("the attachment {} has not two dimensions", quoted(&buffer.name))));
                }
                Extent::Linear if attached => {
                    let what =
                        format!("the attachment {} has {} items, the framebuffer {width} by {height}", quoted(&buffer.name), buffer.items);
                    return Err(self.invalid(name, what));
                }
                _ => {}
            }
        }
        self.declare(Named::Pipeline, name, |script| {
            script.pipelines.push(pipeline);
            script.pipelines.len() - 1
        })
    }

    /// Checks that all attachments have the same number of samples. A colour attachment must be
    /// resolved to a buffer with one sample and the same type.
    fn samples_agree(&self, name: Word<'t>, pipeline: &Pipeline) -> Step {
        let colours: Vec<_> = pipeline.colours.iter().map(|(_, view)| &self.script[view.buffer]).collect();
        let depth = pipeline.depth_stencil.map(|buffer| &self.script[buffer]);
        if let Some(other) = colours.iter().copied().chain(depth).find(|other| colours.first().is_some_and(|c| c.samples != other.samples))
        {
            let (samples, first) = (other.samples, &colours[0]);
            let what =
                format!("the attachment {} has {samples} samples, and {} {}", quoted(&other.name), quoted(&first.name), first.samples);
            return Err(self.invalid(name, what));
        }
        if pipeline.resolves.len() > colours.len() {
            let (found, colours) = (pipeline.resolves.len(), colours.len());
            return Err(self.invalid(name, format!("the pipeline resolves {found} attachments and has {colours}")));
        }
        for (from, &to) in colours.iter().zip(&pipeline.resolves) {
            let to = &self.script[to];
            if from.samples == 1 || to.samples > 1 || to.data_type != from.data_type || to.levels > 1 {
                let what = "of several samples, and to one of its type with one sample and level";
                return Err(
                    self.invalid(name, format!("{} is resolved to {}; it is resolved {what}", quoted(&from.name), quoted(&to.name)))
                );
            }
        }
        Ok(())
    }

    /// Gives a size to an image that has none yet.
    pub(super) fn give_size(&mut self, at: Word<'t>, image: BufferId, width: u32, height: u32) -> Step {
        let buffer = &mut self.script.buffers[image.0];
        buffer.extent = Extent::Framebuffer { width, height };
        buffer.items = buffer.extent.texels(buffer.levels).unwrap_or(0).saturating_mul(buffer.samples.into());
        let buffer = buffer.clone();
        if buffer.levels > buffer.extent.most_levels() {
            let (levels, greatest) = (buffer.levels, buffer.extent.most_levels());
            return Err(
                self.invalid(at, format!("the image {} has {levels} levels; of its size it has at most {greatest}", quoted(&buffer.name)))
            );
        }
        self.take_bytes(at, &buffer)
    }
}
