//! The dispatch that an assembly text carries with it: comments `;@ dispatch KEY: VALUE`, so that a
//! module and what it runs on are one file.
//!
//! The keys are `groups`, `set`, `push` and `spec`, the values those of the command line's options
//! of these names, which they stand in for where the command line says nothing. Only values are
//! carried, no files.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::fmt;
use std::str::FromStr;

use super::given::{Assignment, Contents, SpecValue};

/// What a text says of its dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Workgroups in x, y and z.
    pub groups: Option<[u32; 3]>,
    /// Buffers.
    pub set: Vec<Assignment<Contents>>,
    /// Push constants, one part after another.
    pub push: Vec<Contents>,
    /// Values of specialization constants.
    pub spec: Vec<SpecValue>,
}

/// Workgroups, written `4` or `4,2,1`.
///
/// # Errors
/// A sentence.
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

impl Carried {
    /// Reads the comments of a text.
    ///
    /// # Errors
    /// A sentence with the line: no such key, a value that is none, a file instead of values, a
    /// second `groups`.
    pub fn read(text: &str) -> Result<Carried, InvalidInput> {
        let mut carried = Carried::default();
        for (i, line) in text.lines().enumerate() {
            let Some(pair) = line.strip_prefix(";@").and_then(|rest| rest.trim_start().strip_prefix("dispatch ")) else { continue };
            let wrong = |invalid: InvalidInput| invalid.about(format_args!("line {}", i + 1));
            let (key, value) =
                pair.split_once(": ").ok_or_else(|| wrong(InvalidInput::new(InputFault::Text, "it must be \";@ dispatch KEY: VALUE\"")))?;
            carried.take(key.trim(), value.trim()).map_err(wrong)?;
        }
        Ok(carried)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), InvalidInput> {
        fn values(contents: Contents) -> Result<Contents, InvalidInput> {
            match contents {
                Contents::File(file) => Err(InvalidInput::new(
                    InputFault::Text,
                    format!("\"{file}\" is no type:v,v,…, and a dispatch in comments names no file"),
                )),
                bytes => Ok(bytes),
            }
        }
        match key {
            "groups" if self.groups.is_some() => return Err(InvalidInput::new(InputFault::Text, "a second \"groups\"")),
            "groups" => self.groups = Some(groups(value)?),
            "set" => {
                let Assignment { place, given } = Assignment::from_str(value)?;
                self.set.push(Assignment { place, given: values(given)? });
            }
            "push" => self.push.push(values(value.parse()?)?),
            "spec" => self.spec.push(value.parse()?),
            _ => {
                return Err(InvalidInput::new(InputFault::Text, format!("a dispatch has no \"{key}\"; it has groups, set, push and spec")));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Carried {
    /// The lines that say it, each with its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([x, y, z]) = self.groups {
            writeln!(f, ";@ dispatch groups: {x},{y},{z}")?;
        }
        for Assignment { place, given } in &self.set {
            writeln!(f, ";@ dispatch set: {place}={}", text(given))?;
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

/// Contents as `type:v,v*N,…`, of words where they are whole words.
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
        let text = "; words\n;@ dispatch groups: 2\n;@ quirk seen: x\n;@ dispatch set: 0.1=u32:1,0x2*2\nOpNop\n;@ dispatch push: u8:7\n;@ dispatch spec: 3=64\n";
        let carried = Carried::read(text).expect("reads");
        assert_eq!(carried.groups, Some([2, 1, 1]));
        assert_eq!(carried.set, [Assignment::from_str("0.1=u32:1,2,2").expect("a buffer")]);
        assert_eq!(carried.push, [Contents::Bytes(vec![7])]);
        assert_eq!(carried.spec, [SpecValue { id: 3, value: "64".into() }]);
        assert_eq!(Carried::read(&carried.to_string()), Ok(carried.clone()));
        assert!(carried.to_string().contains("set: 0.1=u32:0x1,0x2*2\n"), "{carried}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (line, said) in [
            ("groups: x", "line 2: \"x\" is no number of workgroups"),
            ("groups 1", "line 2: it must be"),
            ("set: 0.1=file.bin", "names no file"),
            ("set: 0=u32:1", "line 2: \"0\" is no place"),
            ("sets: 1", "a dispatch has no \"sets\""),
            ("groups: 1\n;@ dispatch groups: 1", "line 3: a second \"groups\""),
        ] {
            let error = Carried::read(&format!("; words\n;@ dispatch {line}\n")).expect_err(line);
            assert!(error.what.contains(said), "{line}: {error}");
        }
    }
}
