//! A compute entry point of a WSL program over a grid: what is bound to its resources, by their names, registers or places.

use crate::compute::given::{Contents, Place};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage};
use smallstep_semantics::wsl::group::Buffer;
use smallstep_semantics::wsl::typing::program::Program;
use std::str::FromStr;

/// What is given for a resource: `NAME=…` by its name or register in the program, as `data=u32:1,2`, `u0=…` or `u0,space1=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its name or register.
    pub name: String,
    /// What it holds.
    pub given: Contents,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let (name, given) = text.split_once('=').ok_or_else(|| format!("\"{text}\" has no =; write it as u0=u32:1,2"))?;
        Ok(Bound { name: name.trim().into(), given: given.parse()? })
    }
}

/// The compute entry point of that name, or the only one.
///
/// # Errors
/// If there is none, or several and no name.
pub fn compute_entry<'p>(program: &'p Program, name: Option<&str>) -> Result<&'p EntryPoint, String> {
    let named = |e: &EntryPoint| program.env.names.name(program.env.function(e.function).name.name).to_string();
    let all: Vec<&EntryPoint> = program.entry_points.iter().filter(|e| matches!(e.stage, Stage::Compute(_))).collect();
    let names = || all.iter().map(|e| named(e)).collect::<Vec<_>>().join(", ");
    match (name, &all[..]) {
        (Some(name), _) => match all.iter().find(|e| named(e) == name) {
            Some(entry) => Ok(entry),
            None if all.is_empty() => Err("the program has no compute entry point".into()),
            None => Err(format!("no compute entry point is called {name}; there are: {}", names())),
        },
        (None, [only]) => Ok(only),
        (None, []) => Err("the program has no compute entry point".into()),
        (None, _) => Err(format!("there are several compute entry points: {}; say which with --entry", names())),
    }
}

/// The number that a register or its space ends with.
fn number(text: &str) -> Option<u32> {
    text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Where a SPIR-V module would have the register: `u1, space2` is 2.1.
fn place(buffer: &Buffer) -> Option<Place> {
    let (register, space) = buffer.register.split_once(", ").map_or((buffer.register.as_str(), None), |(r, s)| (r, Some(s)));
    Some(Place { set: space.map_or(Some(0), number)?, binding: number(register)? })
}

/// Binds what is given to the resources of an entry point.
///
/// # Errors
/// If a resource is not given, or given twice; if something is given that is no resource; if bytes do not end with an element.
pub fn bind(
    program: &Program,
    entry: &EntryPoint,
    bound: &[(String, Vec<u8>)],
    placed: &[(Place, Vec<u8>)],
) -> Result<Vec<Buffer>, String> {
    bind_to(program, Buffer::of(program, entry).map_err(|e| e.0)?, bound, placed)
}

/// Binds what is given to resources.
///
/// # Errors
/// As [`bind`].
pub fn bind_to(
    program: &Program,
    mut buffers: Vec<Buffer>,
    bound: &[(String, Vec<u8>)],
    placed: &[(Place, Vec<u8>)],
) -> Result<Vec<Buffer>, String> {
    let mut given = vec![false; buffers.len()];
    let named = |buffers: &[Buffer], name: &str| {
        let plain = |text: &str| text.replace(' ', "");
        buffers.iter().position(|b| b.name == name || plain(&b.register) == plain(name))
    };
    let list = |buffers: &[Buffer]| match buffers {
        [] => "it takes none".to_string(),
        _ => buffers.iter().map(|b| format!("{} ({})", b.name, b.register)).collect::<Vec<_>>().join(", "),
    };
    let mut all: Vec<(usize, &[u8], String)> = Vec::new();
    for (name, bytes) in bound {
        match named(&buffers, name) {
            Some(k) => all.push((k, bytes, name.clone())),
            None => return Err(format!("the entry point takes no resource {name}: {}", list(&buffers))),
        }
    }
    for (at, bytes) in placed {
        let found: Vec<usize> = (0..buffers.len()).filter(|&k| place(&buffers[k]) == Some(*at)).collect();
        match found[..] {
            [k] => all.push((k, bytes, at.to_string())),
            [] => return Err(format!("the entry point takes no resource at {at}: {}", list(&buffers))),
            _ => return Err(format!("several resources are at {at}; say which with --bind: {}", list(&buffers))),
        }
    }
    for (k, bytes, name) in all {
        if std::mem::replace(&mut given[k], true) {
            return Err(format!("the resource {} is given twice, the second time as {name}", buffers[k].name));
        }
        let stride = buffers[k].stride as usize * 4;
        if bytes.is_empty() || bytes.len() % stride != 0 {
            return Err(format!(
                "{} bytes are given for {}; elements of {} take {stride} bytes each, and at least one is needed",
                bytes.len(),
                buffers[k].name,
                program.env.type_name(buffers[k].element)
            ));
        }
        buffers[k].words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    }
    match given.iter().position(|g| !g) {
        Some(k) => Err(format!("nothing is given for {}: write --bind {}=u32:zero*64", list(&buffers[k..=k]), buffers[k].name)),
        None => Ok(buffers),
    }
}
