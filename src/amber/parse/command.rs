//! The commands RUN, CLEAR, COPY, EXPECT, and REPEAT.

use super::{Parser, Step};
use crate::amber::error::quoted;
use crate::amber::format::Numeric;
use crate::amber::lex::Word;
use crate::amber::limits::{MAX_CELLS, MAX_COMMANDS, MAX_EXTENT};
use crate::amber::scalar::{Number, Scalar};
use crate::amber::script::{
    Action, BufferId, Check, Command, Comparator, Expect, Extent, Lane, Line, PipelineId, PipelineKind, Run, RunKind, Tolerance, Topology,
};

/// Topologies with adjacency, which are unsupported.
const UNSUPPORTED_TOPOLOGIES: [&str; 4] =
    ["LINE_LIST_WITH_ADJACENCY", "LINE_STRIP_WITH_ADJACENCY", "TRIANGLE_LIST_WITH_ADJACENCY", "TRIANGLE_STRIP_WITH_ADJACENCY"];

impl<'t> Parser<'t> {
    /// Reads a command that REPEAT may contain, if the word begins one.
    pub(super) fn command(&mut self, word: Word<'t>) -> Step<Option<Command>> {
        let action = match word.text {
            "RUN" => self.run()?,
            "CLEAR" => Action::Clear(self.graphics("CLEAR")?),
            "CLEAR_COLOR" => {
                let pipeline = self.graphics("CLEAR_COLOR")?;
                let mut colour = [0; 4];
                for component in &mut colour {
                    *component = ((self.integer("a colour component", 255)? as f32) / 255.0).to_bits();
                }
                Action::ClearColour(pipeline, colour)
            }
            "CLEAR_DEPTH" => Action::ClearDepth(self.graphics("CLEAR_DEPTH")?, self.float("a depth")?),
            "CLEAR_STENCIL" => Action::ClearStencil(self.graphics("CLEAR_STENCIL")?, self.integer("a stencil value", 255)? as u8),
            "COPY" => self.copy()?,
            "EXPECT" => Action::Expect(self.expect(word)?),
            _ => return Ok(None),
        };
        self.end()?;
        Ok(Some(Command { action, line: Line(word.line) }))
    }

    pub(in crate::amber) fn count_commands(&mut self, at: Word<'t>, more: u64) -> Step {
        self.commands = self.commands.saturating_add(more);
        if self.commands > MAX_COMMANDS { Err(self.limit(at, "commands, repeated ones counted each time", MAX_COMMANDS)) } else { Ok(()) }
    }

    pub(super) fn repeat(&mut self, word: Word<'t>) -> Step {
        let count = self.extent("a number of repetitions", u32::MAX).and_then(|count| self.end().map(|()| count));
        let count = match count {
            Ok(count) => count,
            Err(stop) => {
                self.recover(Err(stop));
                1
            }
        };
        let mut body = Vec::new();
        self.block(word, |parser, first| match parser.command(first)? {
            Some(command) => {
                parser.count_commands(first, count.into())?;
                body.push(command);
                Ok(())
            }
            None => {
                let what = format!("found {}, where RUN, CLEAR, COPY, EXPECT or END should stand in REPEAT", quoted(first.text));
                Err(parser.invalid(first, what))
            }
        })?;
        if body.is_empty() {
            return Err(self.invalid(word, "REPEAT holds no command"));
        }
        self.script.commands.push(Command { action: Action::Repeat { count, body }, line: Line(word.line) });
        Ok(())
    }

    fn graphics(&mut self, command: &str) -> Step<PipelineId> {
        let (pipeline, name) = self.pipeline_name()?;
        if self.script[pipeline].kind != PipelineKind::Graphics {
            return Err(self.invalid(name, format!("{command} needs a graphics pipeline; {} is a compute pipeline", quoted(name.text))));
        }
        Ok(pipeline)
    }

    fn run(&mut self) -> Step<Action> {
        if let Some(word) = self.accept("TIMED_EXECUTION") {
            return Err(self.unsupported(word, "TIMED_EXECUTION"));
        }
        let (pipeline, name) = self.pipeline_name()?;
        let kind = self.script[pipeline].kind;
        let Some(next) = self.lexer.peek() else {
            return self.need("numbers of workgroups or a kind of draw").map(|_| Action::Clear(pipeline));
        };
        let draws = next.text.starts_with("DRAW_");
        if draws != (kind == PipelineKind::Graphics) {
            let what = format!("found {}, and {} is a {} pipeline", quoted(next.text), quoted(name.text), kind.name());
            return Err(self.invalid(next, what));
        }
        if !draws {
            let mut groups = [0; 3];
            for count in &mut groups {
                *count = self.integer("a number of workgroups", u32::MAX.into())? as u32;
            }
            return Ok(Action::Run(Run { pipeline, what: RunKind::Compute(groups) }));
        }
        self.lexer.word();
        let what = match next.text {
            "DRAW_RECT" => RunKind::DrawRect(self.rectangle()?),
            "DRAW_GRID" => {
                let rect = self.rectangle()?;
                let at = self.keyword("CELLS")?;
                let (columns, rows) = (self.extent("a number of columns", u32::MAX)?, self.extent("a number of rows", u32::MAX)?);
                if u64::from(columns) * u64::from(rows) > MAX_CELLS {
                    return Err(self.limit(at, "the cells of a grid", MAX_CELLS));
                }
                RunKind::DrawGrid { rect, columns, rows }
            }
            "DRAW_ARRAY" => self.draw_array(pipeline, name)?,
            other => {
                return Err(self.invalid(next, format!("found {}, where DRAW_RECT, DRAW_GRID or DRAW_ARRAY should stand", quoted(other))));
            }
        };
        Ok(Action::Run(Run { pipeline, what }))
    }

    fn rectangle(&mut self) -> Step<[u32; 4]> {
        self.keyword("POS")?;
        let (left, top) =
            (self.integer("a coordinate", MAX_EXTENT.into())? as u32, self.integer("a coordinate", MAX_EXTENT.into())? as u32);
        self.keyword("SIZE")?;
        Ok([left, top, self.extent("a width", MAX_EXTENT)?, self.extent("a height", MAX_EXTENT)?])
    }

    fn draw_array(&mut self, pipeline: PipelineId, name: Word<'t>) -> Step<RunKind> {
        // Older versions of Amber's documentation had INDEXED before AS.
        let mut indexed = self.accept("INDEXED").is_some();
        self.keyword("AS")?;
        let word = self.need("a topology")?;
        let Some(topology) = Topology::named(&word.text.to_ascii_uppercase()) else {
            self.reject_unsupported_stage(word)?;
            return Err(if UNSUPPORTED_TOPOLOGIES.contains(&word.text.to_ascii_uppercase().as_str()) {
                self.unsupported(word, &format!("the topology {}", word.text))
            } else {
                self.invalid(word, format!("found {}, where a topology should stand", quoted(word.text)))
            });
        };
        indexed |= self.accept("INDEXED").is_some();
        let (mut first, mut count, mut first_instance, mut instances) = (0, None, 0, 1);
        while let Some(option) = self.lexer.word() {
            let greatest = u64::from(u32::MAX);
            match option.text {
                "START_IDX" => first = self.integer("an index", greatest)? as u32,
                "COUNT" => count = Some(self.integer("a number of vertices", greatest)? as u32),
                "START_INSTANCE" => first_instance = self.integer("an instance", greatest)? as u32,
                "INSTANCE_COUNT" => instances = self.integer("a number of instances", greatest)? as u32,
                other => return Err(self.invalid(option, format!("found {}, where an option of DRAW_ARRAY should stand", quoted(other)))),
            }
        }
        let drawn = &self.script[pipeline];
        if drawn.vertex_data.is_empty() {
            return Err(self.invalid(name, format!("DRAW_ARRAY needs vertex data; the pipeline {} has none", quoted(name.text))));
        }
        let data = if indexed { drawn.index_data } else { drawn.vertex_data.iter().map(|v| v.buffer).next() };
        let Some(data) = data else {
            return Err(self.invalid(name, format!("INDEXED needs index data; the pipeline {} has none", quoted(name.text))));
        };
        let items = self.script[data].items;
        // The number of vertices in a buffer is its number of items, unless an attribute has
        // another stride. The draw checks that.
        if indexed && u64::from(first) + u64::from(count.unwrap_or(0)) > items {
            let what = format!("the draw takes indices up to {}, and there are {items}", u64::from(first) + u64::from(count.unwrap_or(0)));
            return Err(self.invalid(name, what));
        }
        Ok(RunKind::DrawArray { topology, indexed, first, count, first_instance, instances })
    }

    fn copy(&mut self) -> Step<Action> {
        let (from, _) = self.buffer_name()?;
        self.keyword("TO")?;
        let (to, at) = self.buffer_name()?;
        if from == to {
            return Err(self.invalid(at, "COPY to the same buffer"));
        }
        let (a, b) = (&self.script[from], &self.script[to]);
        if a.samples > 1 || b.samples > 1 {
            return Err(self.unsupported(at, "COPY of an image of several samples"));
        }
        if a.data_type != b.data_type || a.stride != b.stride {
            return Err(self.invalid(at, format!("COPY of {} to {}", a.data_type.name(), b.data_type.name())));
        }
        if let (Extent::Framebuffer { width: 0, .. }, Some((width, height))) = (b.extent, a.extent.image()) {
            if a.levels != b.levels {
                return Err(self.unsupported(at, &format!("COPY of {} levels to {}", a.levels, b.levels)));
            }
            self.give_size(at, to, width, height)?;
        } else if a.items != b.items {
            return Err(self.unsupported(at, &format!("COPY of {} items to {}", a.items, b.items)));
        }
        Ok(Action::Copy { from, to })
    }

    fn expect(&mut self, word: Word<'t>) -> Step<Expect> {
        let (buffer, name) = self.buffer_name()?;
        if self.script[buffer].items == 0 {
            return Err(self.invalid(name, format!("the buffer {} has no size: nothing is drawn to it", quoted(name.text))));
        }
        if self.script[buffer].samples > 1 {
            return Err(self.unsupported(name, "EXPECT of an image of several samples, which is read after BIND … AS resolve,"));
        }
        let kind = self.need("IDX or a comparison of buffers")?;
        let check = match kind.text {
            "IDX" => self.expect_at(buffer)?,
            "EQ_BUFFER" => Check::EqBuffer(self.compared_buffer(buffer)?),
            "RMSE_BUFFER" => Check::RmseBuffer(self.compared_buffer(buffer)?, self.buffer_tolerance()?),
            "EQ_HISTOGRAM_EMD_BUFFER" => {
                let layout = &self.script[buffer].layout;
                if layout.scalars != 4 || !layout.kinds().eq([Scalar::Uint8]) || self.script[buffer].stride != 4 {
                    return Err(self.unsupported(kind, "EQ_HISTOGRAM_EMD_BUFFER of what has not four channels of unsigned 8 bits"));
                }
                Check::HistogramEmdBuffer(self.compared_buffer(buffer)?, self.buffer_tolerance()?)
            }
            other => {
                let what = format!("found {}, where IDX, EQ_BUFFER, RMSE_BUFFER or EQ_HISTOGRAM_EMD_BUFFER should stand", quoted(other));
                return Err(self.invalid(kind, what));
            }
        };
        Ok(Expect { buffer, check, line: Line(word.line) })
    }

    fn compared_buffer(&mut self, buffer: BufferId) -> Step<BufferId> {
        let (other, at) = self.buffer_name()?;
        let (a, b) = (&self.script[buffer], &self.script[other]);
        if b.samples > 1 {
            return Err(self.unsupported(at, "EXPECT of an image of several samples"));
        }
        if a.data_type != b.data_type || a.stride != b.stride {
            return Err(self.invalid(at, format!("a buffer of {} is compared with one of {}", a.data_type.name(), b.data_type.name())));
        }
        if a.items != b.items || a.extent.image() != b.extent.image() {
            return Err(self.invalid(at, format!("buffers of different sizes are compared: {} and {} items", a.items, b.items)));
        }
        Ok(other)
    }

    fn buffer_tolerance(&mut self) -> Step<crate::amber::script::Bits64> {
        self.keyword("TOLERANCE")?;
        let (number, at) = self.number("a tolerance")?;
        let value = number.as_f64();
        if value.is_finite() && value >= 0.0 { Ok(value.into()) } else { Err(self.invalid(at, format!("{number} is no tolerance"))) }
    }

    /// Reads one to four tolerances.
    pub(in crate::amber) fn tolerances(&mut self) -> Step<Vec<Tolerance>> {
        let mut all = Vec::new();
        while let Some(word) = self.lexer.peek() {
            let (text, percent) = word.text.strip_suffix('%').map_or((word.text, false), |text| (text, true));
            let Some(number) = Number::read(text) else { break };
            self.lexer.word();
            // There may be white space before the sign.
            let percent = percent || self.accept("%").is_some();
            let amount = number.as_f64();
            if !(amount.is_finite() && amount >= 0.0) {
                return Err(self.invalid(word, format!("{number} is no tolerance")));
            }
            all.push(Tolerance { amount: amount.into(), percent });
            if all.len() > 4 {
                return Err(self.invalid(word, "TOLERANCE has more than four values"));
            }
        }
        if all.is_empty() {
            let here = self.lexer.peek().unwrap_or_else(|| self.lexer.here());
            return Err(self.invalid(here, "TOLERANCE has no values"));
        }
        Ok(all)
    }

    fn expect_at(&mut self, buffer: BufferId) -> Step<Check> {
        let (number, at) = self.number("a byte or a coordinate")?;
        let Some(first) = number.at_most(u64::MAX) else {
            return Err(self.invalid(at, format!("found {number}, where an index from 0 should stand")));
        };
        if self.lexer.peek().is_some_and(|w| Number::read(w.text).is_some()) {
            let Some(left) = number.at_most(MAX_EXTENT.into()) else {
                return Err(self.invalid(at, format!("{number} is past every image")));
            };
            return self.expect_colour(buffer, left as u32, at);
        }
        let tolerance = match self.accept("TOLERANCE") {
            Some(_) => self.tolerances()?,
            None => Vec::new(),
        };
        let word = self.need("a comparison")?;
        let Some(comparator) = Comparator::named(word.text) else {
            return Err(self.invalid(word, format!("found {}, where EQ, NE, LT, LE, GT or GE should stand", quoted(word.text))));
        };
        if comparator != Comparator::Eq && !tolerance.is_empty() {
            return Err(self.invalid(word, format!("TOLERANCE stands with {}; it goes with EQ only", comparator.name())));
        }
        let subject = &self.script[buffer];
        let Some(start) = subject.index_at(first) else {
            let what = if first >= subject.size() {
                format!("past the buffer's {} bytes", subject.size())
            } else {
                "not where a value begins".into()
            };
            return Err(self.invalid(at, format!("byte {first} is {what}")));
        };
        let mut lanes = Vec::new();
        while let Some(word) = self.lexer.word() {
            let Some(number) = Number::read(word.text) else {
                return Err(self.invalid(word, format!("found {}, where a value should stand", quoted(word.text))));
            };
            let subject = &self.script[buffer];
            let Some(slot) = subject.slot(start + lanes.len() as u64) else {
                return Err(self.invalid(word, format!("the buffer ends before this value: it has {} bytes", subject.size())));
            };
            let bits = slot.scalar.bits(&number).map_err(|e| self.invalid(word, e))?;
            lanes.push(Lane { offset: slot.offset, scalar: slot.scalar, component: slot.component, bits });
        }
        if lanes.is_empty() {
            let here = self.lexer.here();
            return Err(self.invalid(here, format!("{} has no values", comparator.name())));
        }
        Ok(Check::Values { comparator, tolerance, lanes })
    }

    fn expect_colour(&mut self, buffer: BufferId, left: u32, at: Word<'t>) -> Step<Check> {
        let top = self.integer("a coordinate", MAX_EXTENT.into())? as u32;
        self.keyword("SIZE")?;
        let (width, height) = (self.extent("a width", MAX_EXTENT)?, self.extent("a height", MAX_EXTENT)?);
        let word = self.need("EQ_RGB or EQ_RGBA")?;
        let alpha = match word.text {
            "EQ_RGB" => false,
            "EQ_RGBA" => true,
            other => return Err(self.invalid(word, format!("found {}, where EQ_RGB or EQ_RGBA should stand", quoted(other)))),
        };
        let subject = &self.script[buffer];
        let (Some((columns, rows)), Some(format)) = (subject.extent.image(), subject.format()) else {
            return Err(self.invalid(at, format!("the buffer {} is no image", quoted(&subject.name))));
        };
        if left + width > columns || top + height > rows {
            let what = format!("the rectangle reaches ({}, {}), and the image is {columns} by {rows}", left + width, top + height);
            return Err(self.invalid(at, what));
        }
        if matches!(format.numeric(), Numeric::Uint | Numeric::Sint) {
            return Err(self.unsupported(word, &format!("{} of the integer format {}", word.text, format.name())));
        }
        if format.is_depth_stencil() {
            return Err(self.invalid(word, format!("the format {} has no colours", format.name())));
        }
        let (mut colour, count) = ([0; 4], if alpha { 4 } else { 3 });
        for component in &mut colour[..count] {
            *component = self.integer("a colour component", 255)? as u8;
        }
        let mut tolerance = Vec::new();
        if let Some(word) = self.accept("TOLERANCE") {
            tolerance = self.tolerances()?;
            if tolerance.len() != 1 && tolerance.len() != count {
                return Err(self.invalid(word, format!("TOLERANCE has {} values, where 1 or {count} should stand", tolerance.len())));
            }
        }
        Ok(Check::Colour { rect: [left, top, width, height], colour, alpha, tolerance })
    }
}
