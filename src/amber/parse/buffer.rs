//! The commands BUFFER, IMAGE and SAMPLER.

use super::{Named, Parser, Step, Stop};
use crate::amber::contents::check_series;
use crate::amber::error::{Kind, quoted};
use crate::amber::file::{self, FileContents, FileKind};
use crate::amber::format::Format;
use crate::amber::layout::{DataType, Layout, Standard};
use crate::amber::lex::Word;
use crate::amber::limits::{MAX_BUFFER_BYTES, MAX_EXTENT, MAX_FILE_BYTES, MAX_LEVELS};
use crate::amber::scalar::{Number, Scalar};
use crate::amber::script::{AddressMode, BorderColour, Buffer, Compare, Extent, Filter, Initial, Line, Sampler};

impl<'t> Parser<'t> {
    pub(super) fn buffer(&mut self, word: Word<'t>, image: bool) -> Step {
        let name = self.need("the name of a buffer")?;
        let result = self.buffer_of(word, name, image);
        if result.is_err() {
            self.failed(Named::Buffer, name);
        }
        result
    }

    fn buffer_of(&mut self, word: Word<'t>, name: Word<'t>, image: bool) -> Step {
        let kind = self.need("DATA_TYPE or FORMAT")?;
        let (data_type, as_array, formatted) = match kind.text {
            "DATA_TYPE" => self.data_type().map(|(t, a)| (t, a, false)),
            "FORMAT" => self.format().map(|f| (DataType::Texel(f), false, true)),
            other => Err(self.invalid(kind, format!("found {}, where DATA_TYPE or FORMAT should stand", quoted(other)))),
        }
        .map_err(|stop| self.past_data(stop))?;
        let mut standard = Standard::default();
        if !formatted {
            for one in [Standard::Std140, Standard::Std430] {
                if self.accept(one.name()).is_some() {
                    standard = one;
                }
            }
        }
        let levels = match self.accept("MIP_LEVELS") {
            Some(_) => self.extent("a number of levels", MAX_LEVELS).map_err(|stop| self.past_data(stop))?,
            None => 1,
        };
        let samples = self.samples().map_err(|stop| self.past_data(stop))?;
        let shape = if image { self.image_shape() } else { self.buffer_shape() }.map_err(|stop| self.past_data(stop))?;
        let layout = match data_type.layout(standard) {
            Ok(layout) => layout,
            Err(e) => {
                let stop = self.error(kind, Kind::Limit, e);
                return Err(self.past_data(stop));
            }
        };
        let stride = if as_array && standard == Standard::Std140 { layout.item_stride().div_ceil(16) * 16 } else { layout.item_stride() };
        let (mut items, extent) = match shape {
            Shape::Unstated => (None, Extent::Linear),
            Shape::Items(items) => (Some(items), Extent::Linear),
            Shape::Image(width, height) => (None, Extent::Image { width, height, declared: image }),
            Shape::Row(width) => (None, Extent::Row { width }),
            Shape::Box([width, height, depth]) => (None, Extent::Box { width, height, depth }),
        };
        // The items of the first level, and of all levels.
        let first_level_items = items.or_else(|| extent.texels(1));
        items = items.or_else(|| extent.texels(levels));
        if first_level_items.is_some() && levels > extent.most_levels() {
            let what = format!("found {levels} levels, where at most {} should stand for an image of that size", extent.most_levels());
            let stop = self.invalid(name, what);
            return Err(self.past_data(stop));
        }
        if items.is_some_and(|items| items.saturating_mul(stride) > MAX_BUFFER_BYTES) {
            let stop = self.limit(name, "the bytes of one buffer", MAX_BUFFER_BYTES);
            return Err(self.past_data(stop));
        }
        let mut extent = extent;
        let initial = match self.lexer.word() {
            None if formatted && items.is_none() => {
                (items, extent) = (Some(0), Extent::Framebuffer { width: 0, height: 0 });
                Initial::Zero
            }
            // Only an IMAGE may omit its contents.
            None if image => Initial::Zero,
            None => {
                return Err(self.invalid(word, format!("the buffer {} has no DATA, or SIZE with FILL or SERIES_FROM", quoted(name.text))));
            }
            Some(initializer) => match initializer.text {
                "DATA" => {
                    let values = self.data(initializer, &layout)?;
                    let item_count = values.len() as u64 / layout.scalars;
                    if items.is_some_and(|items| ![Some(items), first_level_items].contains(&Some(item_count))) {
                        return Err(self.invalid(name, format!("DATA has {item_count} items, where {} should stand", items.unwrap_or(0))));
                    }
                    items = items.or(Some(item_count));
                    Initial::Data(values.into())
                }
                "FILL" => {
                    let (number, at) = self.number("a number")?;
                    for scalar in layout.kinds() {
                        scalar.bits(&number).map_err(|e| self.invalid(at, e))?;
                    }
                    Initial::Fill(number)
                }
                "SERIES_FROM" => {
                    let (from, at) = self.number("a number")?;
                    self.keyword("INC_BY")?;
                    let (by, _) = self.number("a number")?;
                    let scalar = match data_type {
                        DataType::Scalar(scalar) => scalar,
                        DataType::Texel(format) if format.scalars() == 1 => format.scalar(),
                        _ => return Err(self.unsupported(initializer, "SERIES_FROM of what is no scalar")),
                    };
                    check_series(scalar, &from, &by, items.unwrap_or(0)).map_err(|e| self.invalid(at, e))?;
                    Initial::Series { from, by }
                }
                "FILE" => {
                    let texel = match &data_type {
                        DataType::Texel(format) => Some(*format),
                        &DataType::Vector(scalar, count) => Format::of(scalar, count),
                        _ => None,
                    };
                    let contents = self.file(initializer, &layout, stride, texel)?;
                    let item_count = contents.values.len() as u64 / layout.scalars;
                    match (contents.size, extent) {
                        (Some((width, height)), Extent::Image { width: w, height: h, .. }) if (w, h) != (width, height) => {
                            let what = format!("the picture has {width} by {height} pixels, where {w} by {h} should stand");
                            return Err(self.invalid(initializer, what));
                        }
                        (Some((width, height)), Extent::Linear) if items.is_none() => {
                            extent = Extent::Image { width, height, declared: false };
                        }
                        _ => {}
                    }
                    if items.is_some_and(|items| ![Some(items), first_level_items].contains(&Some(item_count))) {
                        let what = format!("the file has {item_count} items, where {} should stand", items.unwrap_or(0));
                        return Err(self.invalid(initializer, what));
                    }
                    if item_count.saturating_mul(stride) > MAX_BUFFER_BYTES {
                        return Err(self.limit(name, "the bytes of one buffer", MAX_BUFFER_BYTES));
                    }
                    items = items.or(Some(item_count));
                    Initial::Data(contents.values)
                }
                other => {
                    let what = format!("found {}, where DATA, FILL, SERIES_FROM or FILE should stand", quoted(other));
                    return Err(self.invalid(initializer, what));
                }
            },
        };
        let Some(mut items) = items else {
            return Err(self.invalid(word, format!("the buffer {} has no SIZE", quoted(name.text))));
        };
        self.end()?;
        if samples > 1 {
            if levels > 1 || !matches!(extent, Extent::Framebuffer { .. } | Extent::Image { .. }) {
                return Err(self.invalid(name, "SAMPLES of what is no image of two dimensions and one level"));
            }
            if initial != Initial::Zero {
                return Err(self.unsupported(name, "what an image of several samples holds at first"));
            }
            items = items.saturating_mul(samples.into());
        }
        if levels > 1 {
            let is_sized = extent != Extent::Framebuffer { width: 0, height: 0 };
            if is_sized && levels > extent.most_levels() {
                return Err(self.invalid(name, "MIP_LEVELS of what is no image, or has no such levels"));
            }
            items = extent.texels(levels).unwrap_or(items);
        }
        let line = Line(word.line);
        let buffer =
            Buffer { name: name.text.into(), data_type, as_array, standard, layout, stride, items, extent, levels, samples, initial, line };
        self.take_bytes(name, &buffer)?;
        self.declare(Named::Buffer, name, |script| {
            script.buffers.push(buffer);
            script.buffers.len() - 1
        })
    }

    /// Reads the contents of a file for a buffer whose items have this layout. `word` is FILE.
    fn file(&mut self, word: Word<'t>, layout: &Layout, stride: u64, texel: Option<Format>) -> Step<FileContents> {
        let Some(files) = self.files else {
            return Err(self.unsupported(word, "FILE, which needs a file outside the script,"));
        };
        // As in Amber, a file without a kind is a PNG.
        let kind = FileKind::ALL.iter().find(|kind| self.accept(kind.1).is_some()).map_or(FileKind::Png, |kind| kind.0);
        let path = self.need("the path of a file")?;
        let invalid_file = |what: String| self.invalid(path, format!("the file {}: {what}", quoted(path.text)));
        let bytes = files(path.text, MAX_FILE_BYTES).map_err(|e| invalid_file(e.to_string()))?;
        let contents = file::file_contents(kind, &bytes, layout, stride, texel).map_err(invalid_file)?;
        if contents.values.is_empty() {
            return Err(invalid_file("it has no values".into()));
        }
        Ok(contents)
    }

    /// After an error in a line that ends with DATA: skips to its END, so that its numbers are not
    /// read as commands.
    fn past_data(&mut self, stop: Stop) -> Stop {
        while let Some(word) = self.lexer.word() {
            if word.text == "DATA" {
                while self.lexer.word_over_lines().is_some_and(|w| w.text != "END") {}
            }
        }
        stop
    }

    /// Reads the number of samples of a texel.
    fn samples(&mut self) -> Step<u32> {
        if self.accept("SAMPLES").is_none() {
            return Ok(1);
        }
        let (number, at) = self.number("a number of samples")?;
        match number.at_most(64) {
            Some(count @ (1 | 2 | 4 | 8 | 16)) => Ok(count as u32),
            Some(32 | 64) => Err(self.unsupported(at, &format!("an image of {} samples", at.text))),
            _ => Err(self.invalid(at, format!("found {}, where a number of samples should stand: 1, 2, 4, 8, 16", quoted(at.text)))),
        }
    }

    fn buffer_shape(&mut self) -> Step<Shape> {
        if self.accept("SIZE").is_some() {
            return self.integer("a number of items", u64::MAX).map(Shape::Items);
        }
        if self.accept("WIDTH").is_some() {
            let width = self.extent("a width", MAX_EXTENT)?;
            self.keyword("HEIGHT")?;
            return Ok(Shape::Image(width, self.extent("a height", MAX_EXTENT)?));
        }
        Ok(Shape::Unstated)
    }

    fn image_shape(&mut self) -> Step<Shape> {
        let dimensions = self.need("DIM_1D, DIM_2D or DIM_3D")?;
        let sides = match dimensions.text {
            "DIM_1D" => 1,
            "DIM_2D" => 2,
            "DIM_3D" => 3,
            other => return Err(self.invalid(dimensions, format!("found {}, where DIM_1D, DIM_2D or DIM_3D should stand", quoted(other)))),
        };
        let mut sizes = [1; 3];
        for (side, (name, what)) in sizes.iter_mut().zip([("WIDTH", "a width"), ("HEIGHT", "a height"), ("DEPTH", "a depth")]).take(sides) {
            self.keyword(name)?;
            *side = self.extent(what, MAX_EXTENT)?;
        }
        Ok(match sides {
            1 => Shape::Row(sizes[0]),
            2 => Shape::Image(sizes[0], sizes[1]),
            _ => Shape::Box(sizes),
        })
    }

    /// Reads values up to END, as bits.
    fn data(&mut self, opening: Word<'t>, layout: &crate::amber::layout::Layout) -> Step<Vec<u64>> {
        let kinds: Vec<Scalar> = layout.kinds().collect();
        let (mut values, mut at, mut first_error) = (Vec::new(), 0, None);
        loop {
            let Some(word) = self.lexer.word_over_lines() else { return Err(self.missing_end(opening)) };
            if word.text == "END" {
                break;
            }
            if first_error.is_some() {
                continue;
            }
            let scalar = match kinds[..] {
                [one] => one,
                _ => layout.slot(at).map_or(kinds[0], |slot| slot.scalar),
            };
            at = if at + 1 == layout.scalars { 0 } else { at + 1 };
            let bits = Number::read(word.text)
                .ok_or_else(|| format!("found {}, where a number or END should stand", quoted(word.text)))
                .and_then(|number| scalar.bits(&number));
            match bits {
                Ok(bits) => values.push(bits),
                Err(e) => first_error = Some(self.invalid(word, e)),
            }
        }
        if let Some(stop) = first_error {
            return Err(stop);
        }
        if values.is_empty() {
            return Err(self.invalid(opening, "DATA has no values"));
        }
        if at != 0 {
            let what = format!("DATA has {} values, which are no whole number of items of {}", values.len(), layout.scalars);
            return Err(self.invalid(opening, what));
        }
        Ok(values)
    }

    pub(super) fn sampler(&mut self, word: Word<'t>) -> Step {
        let name = self.need("the name of a sampler")?;
        let mut sampler = Sampler {
            name: name.text.into(),
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: Filter::Nearest,
            address: [AddressMode::Repeat; 3],
            border: BorderColour::FloatTransparentBlack,
            lod: [0f32.to_bits(), 1f32.to_bits()],
            normalized: true,
            compare: None,
            line: Line(word.line),
        };
        let result = self.sampler_options(&mut sampler);
        if result.is_err() {
            self.failed(Named::Sampler, name);
        }
        result?;
        if !sampler.normalized {
            sampler.lod = [0; 2];
        }
        if f32::from_bits(sampler.lod[0]) > f32::from_bits(sampler.lod[1]) {
            self.failed(Named::Sampler, name);
            return Err(self.invalid(name, "MIN_LOD is greater than MAX_LOD"));
        }
        self.declare(Named::Sampler, name, |script| {
            script.samplers.push(sampler);
            script.samplers.len() - 1
        })
    }

    fn sampler_options(&mut self, sampler: &mut Sampler) -> Step {
        let (mut compares, mut comparison) = (false, Compare::Never);
        while let Some(option) = self.lexer.word() {
            match option.text {
                "MAG_FILTER" => sampler.mag = self.one_of("a filter", Filter::ALL)?,
                "MIN_FILTER" => sampler.min = self.one_of("a filter", Filter::ALL)?,
                "MIPMAP_MODE" => sampler.mip = self.one_of("a filter", Filter::ALL)?,
                "ADDRESS_MODE_U" => sampler.address[0] = self.one_of("an address mode", AddressMode::ALL)?,
                "ADDRESS_MODE_V" => sampler.address[1] = self.one_of("an address mode", AddressMode::ALL)?,
                "ADDRESS_MODE_W" => sampler.address[2] = self.one_of("an address mode", AddressMode::ALL)?,
                "BORDER_COLOR" => sampler.border = self.one_of("a border colour", BorderColour::ALL)?,
                "MIN_LOD" => sampler.lod[0] = self.float("a level of detail")?,
                "MAX_LOD" => sampler.lod[1] = self.float("a level of detail")?,
                "NORMALIZED_COORDS" => sampler.normalized = true,
                "UNNORMALIZED_COORDS" => sampler.normalized = false,
                "COMPARE" => compares = self.one_of("on or off", &[(true, "on"), (false, "off")])?,
                // COMPARE_OP has no effect without COMPARE on.
                "COMPARE_OP" => comparison = self.one_of("a comparison", Compare::ALL)?,
                other => return Err(self.invalid(option, format!("found {}, where an option of a sampler should stand", quoted(other)))),
            }
        }
        sampler.compare = compares.then_some(comparison);
        Ok(())
    }
}

enum Shape {
    Unstated,
    Items(u64),
    Image(u32, u32),
    Row(u32),
    Box([u32; 3]),
}
