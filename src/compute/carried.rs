//! The dispatch in the comments of an assembly text: `;@ dispatch KEY: VALUE`. So a module and its
//! inputs are one file.
//!
//! The keys are `groups`, `subgroup-size`, `set`, `texture`, `sampler`, `push` and `spec`. The
//! values are those of the command line's options with these names. They apply if the command line
//! does not set them. The comments may have values only, no files.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler};
use smallstep_semantics::spirv::grid::MAX_SIZE;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::given::{Assignment, Contents, Sampled, SpecValue, Texels};
use super::{BoundInputs, bound};

/// The inputs of a dispatch from a text or a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DispatchInputs {
    /// The number of workgroups in x, y and z.
    pub groups: Option<[u32; 3]>,
    /// The number of invocations in a subgroup.
    pub subgroup_size: Option<u32>,
    /// The buffers.
    pub set: Vec<Assignment<Contents>>,
    /// The images with their texels, by descriptor set and binding.
    pub texture: Vec<Assignment<Texels>>,
    /// The samplers, by descriptor set and binding.
    pub sampler: Vec<Assignment<Sampled>>,
    /// The push constants, one part after another.
    pub push: Vec<Contents>,
    /// The values of specialization constants.
    pub spec: Vec<SpecValue>,
}

/// Reads a number of workgroups, written `4` or `4,2,1`.
///
/// # Errors
/// The text is a sentence.
pub fn groups(text: &str) -> Result<[u32; 3], InvalidInput> {
    let wrong = || InvalidInput::new(InputFault::Text, format!("\"{text}\" is no number of workgroups; write it as 4 or 4,2,1"));
    let mut groups = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (group, part) in groups.iter_mut().zip(parts) {
        *group = part.trim().parse().map_err(|_| wrong())?;
    }
    Ok(groups)
}

/// Reads a subgroup size.
///
/// # Errors
/// The text is a sentence.
pub fn subgroup_size(text: &str) -> Result<u32, InvalidInput> {
    let size = text.parse::<u32>().ok().filter(|size| size.is_power_of_two() && *size <= MAX_SIZE);
    let wrong = || format!("\"{text}\" is no size of subgroups; sizes are powers of two up to {MAX_SIZE}");
    size.ok_or_else(|| InvalidInput::new(InputFault::Text, wrong()))
}

impl DispatchInputs {
    /// Reads the comments of a text.
    ///
    /// # Errors
    /// The text is a sentence with the line: an unknown key, an invalid value, a file instead of
    /// values, or a second `groups` or `subgroup-size`.
    pub fn read(text: &str) -> Result<DispatchInputs, InvalidInput> {
        let mut inputs = DispatchInputs::default();
        for (i, line) in text.lines().enumerate() {
            let Some(pair) = line.strip_prefix(";@").and_then(|rest| rest.trim_start().strip_prefix("dispatch ")) else { continue };
            let wrong = |invalid: InvalidInput| invalid.about(format_args!("line {}", i + 1));
            let (key, value) =
                pair.split_once(": ").ok_or_else(|| wrong(InvalidInput::new(InputFault::Text, "it must be \";@ dispatch KEY: VALUE\"")))?;
            inputs.take(key.trim(), value.trim()).map_err(wrong)?;
        }
        Ok(inputs)
    }

    /// These inputs, completed by `other`: it applies to places and keys that are not set here.
    #[must_use]
    pub fn over(mut self, other: &DispatchInputs) -> DispatchInputs {
        fn add<T: Clone>(to: &mut Vec<Assignment<T>>, from: &[Assignment<T>]) {
            let new = from.iter().filter(|a| to.iter().all(|b| a.place != b.place)).cloned().collect::<Vec<_>>();
            to.extend(new);
        }
        self.groups = self.groups.or(other.groups);
        self.subgroup_size = self.subgroup_size.or(other.subgroup_size);
        add(&mut self.set, &other.set);
        add(&mut self.texture, &other.texture);
        add(&mut self.sampler, &other.sampler);
        if self.push.is_empty() {
            self.push.clone_from(&other.push);
        }
        if self.spec.is_empty() {
            self.spec.clone_from(&other.spec);
        }
        self
    }

    /// The contents of descriptors and push constants. `read` reads the files of buffers.
    ///
    /// # Errors
    /// A file cannot be read, or is not a picture.
    pub fn given(&self, read: impl Fn(&str) -> Result<Vec<u8>, InvalidInput>) -> Result<BoundInputs, InvalidInput> {
        let bytes = |contents: &Contents| match contents {
            Contents::Bytes(bytes) => Ok(bytes.clone()),
            Contents::File(file) => read(file),
        };
        let buffer = |Assignment { place, given }: &Assignment<Contents>| {
            Ok::<_, InvalidInput>(Buffer { set: place.set, binding: place.binding, bytes: bytes(given)? })
        };
        let image = |Assignment { place, given }: &Assignment<Texels>| {
            let image = match given {
                Texels::Image(image) => image.clone(),
                Texels::File(file) => bound::png(Path::new(file))?,
            };
            Ok::<_, InvalidInput>(BoundImage { set: place.set, binding: place.binding, image })
        };
        let sampler = |a: &Assignment<Sampled>| BoundSampler { set: a.place.set, binding: a.place.binding, sampler: a.given.0 };
        Ok(BoundInputs {
            buffers: self.set.iter().map(buffer).collect::<Result<_, _>>()?,
            images: self.texture.iter().map(image).collect::<Result<_, _>>()?,
            samplers: self.sampler.iter().map(sampler).collect(),
            push_constants: self.push.iter().map(bytes).collect::<Result<Vec<_>, _>>()?.concat(),
        })
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), InvalidInput> {
        let no_file = |file: &str, expected: &str| {
            InvalidInput::new(InputFault::Text, format!("\"{file}\" is no {expected}, and a dispatch in comments names no file"))
        };
        let values = |contents: Contents| match contents {
            Contents::File(file) => Err(no_file(&file, "type:v,v,…")),
            bytes => Ok(bytes),
        };
        match key {
            "groups" if self.groups.is_some() => return Err(InvalidInput::new(InputFault::Text, "a second \"groups\"")),
            "groups" => self.groups = Some(groups(value)?),
            "subgroup-size" if self.subgroup_size.is_some() => {
                return Err(InvalidInput::new(InputFault::Text, "a second \"subgroup-size\""));
            }
            "subgroup-size" => self.subgroup_size = Some(subgroup_size(value)?),
            "set" => {
                let Assignment { place, given } = Assignment::from_str(value)?;
                self.set.push(Assignment { place, given: values(given)? });
            }
            "texture" => {
                let texture = Assignment::<Texels>::from_str(value)?;
                if let Texels::File(file) = &texture.given {
                    return Err(no_file(file, "FORMAT WxH TEXEL…"));
                }
                self.texture.push(texture);
            }
            "sampler" => self.sampler.push(value.parse()?),
            "push" => self.push.push(values(value.parse()?)?),
            "spec" => self.spec.push(value.parse()?),
            _ => {
                let what = format!("a dispatch has no \"{key}\"; it has groups, subgroup-size, set, texture, sampler, push and spec");
                return Err(InvalidInput::new(InputFault::Text, what));
            }
        }
        Ok(())
    }
}

impl fmt::Display for DispatchInputs {
    /// Writes the comment lines, each with a line end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([x, y, z]) = self.groups {
            writeln!(f, ";@ dispatch groups: {x},{y},{z}")?;
        }
        if let Some(size) = self.subgroup_size {
            writeln!(f, ";@ dispatch subgroup-size: {size}")?;
        }
        for Assignment { place, given } in &self.set {
            writeln!(f, ";@ dispatch set: {place}={}", text(given))?;
        }
        for Assignment { place, given } in &self.texture {
            let text = match given {
                Texels::File(file) => file.clone(),
                Texels::Image(image) => bound::image_text(image),
            };
            writeln!(f, ";@ dispatch texture: {place}={text}")?;
        }
        for Assignment { place, given } in &self.sampler {
            writeln!(f, ";@ dispatch sampler: {place}={}", bound::sampler_text(&given.0))?;
        }
        for contents in &self.push {
            writeln!(f, ";@ dispatch push: {}", text(contents))?;
        }
        for SpecValue { id, value } in &self.spec {
            writeln!(f, ";@ dispatch spec: {id}={value}")?;
        }
        Ok(())
    }
}

/// Contents as `type:v,v*N,…`, in words if they are whole words, otherwise in bytes.
fn text(contents: &Contents) -> String {
    let bytes = match contents {
        Contents::File(file) => return file.clone(),
        Contents::Bytes(bytes) => bytes,
    };
    let (type_, width) = if bytes.len().is_multiple_of(4) { ("u32", 4) } else { ("u8", 1) };
    let values: Vec<u32> = bytes.chunks(width).map(|value| value.iter().rev().fold(0, |v, &byte| v << 8 | u32::from(byte))).collect();
    let runs = values.chunk_by(|a, b| a == b).map(|run| match run {
        [one] => format!("{one:#x}"),
        all => format!("{:#x}*{}", all[0], all.len()),
    });
    format!("{type_}:{}", runs.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_carries_is_read() {
        let text = "; words\n;@ dispatch groups: 2\n;@ dispatch subgroup-size: 8\n;@ quirk seen: x\n;@ dispatch set: 0.1=u32:1,0x2*2\nOpNop\n;@ dispatch texture: 0.2=R32_SFLOAT 2x1 1 2\n;@ dispatch sampler: 0.3=linear edge\n;@ dispatch push: u8:7\n;@ dispatch spec: 3=64\n";
        let carried = DispatchInputs::read(text).expect("reads");
        assert_eq!((carried.groups, carried.subgroup_size), (Some([2, 1, 1]), Some(8)));
        assert_eq!(carried.set, [Assignment::from_str("0.1=u32:1,2,2").expect("a buffer")]);
        assert_eq!(carried.push, [Contents::Bytes(vec![7])]);
        assert_eq!(carried.spec, [SpecValue { id: 3, value: "64".into() }]);
        assert_eq!(carried.texture, [Assignment::from_str("0.2=R32_SFLOAT 2x1 1 2").expect("an image")]);
        assert_eq!(carried.sampler, [Assignment::from_str("0.3=linear edge").expect("a sampler")]);
        assert_eq!(DispatchInputs::read(&carried.to_string()), Ok(carried.clone()));
        assert!(carried.to_string().contains("set: 0.1=u32:0x1,0x2*2\n"), "{carried}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (line, message) in [
            ("groups: x", "line 2: \"x\" is no number of workgroups"),
            ("groups 1", "line 2: it must be"),
            ("subgroup-size: 6", "line 2: \"6\" is no size of subgroups"),
            ("subgroup-size: 4\n;@ dispatch subgroup-size: 4", "line 3: a second \"subgroup-size\""),
            ("set: 0.1=file.bin", "names no file"),
            ("texture: 0.1=file.png", "names no file"),
            ("set: 0=u32:1", "line 2: \"0\" is no place"),
            ("sets: 1", "a dispatch has no \"sets\""),
            ("groups: 1\n;@ dispatch groups: 1", "line 3: a second \"groups\""),
        ] {
            let error = DispatchInputs::read(&format!("; words\n;@ dispatch {line}\n")).expect_err(line);
            assert!(error.what.contains(message), "{line}: {error}");
        }
    }
}
