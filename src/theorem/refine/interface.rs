//! The parts of an interface that two modules must share, so that one dispatch has the same meaning
//! for both (Vulkan, "Shader Interfaces").

use std::fmt;

use super::Side;
use super::stages::StageModule;
use crate::compute::Uses;
use crate::compute::given::Place;
use crate::dispatch::resources::ResourceKind;

/// Why two modules cannot be compared, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch(pub String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

fn mismatch<T>(what: String) -> Result<T, Mismatch> {
    Err(Mismatch(what))
}

/// The kind of resource behind a descriptor, in words.
fn kind(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Uniform => "a uniform buffer",
        ResourceKind::Storage => "a storage buffer",
        _ => "an image or a sampler",
    }
}

/// Checks that AFTER has the stages of BEFORE, and needs no inputs and descriptors beyond BEFORE's.
/// It may use fewer.
pub fn check_stages(before: &StageModule, after: &StageModule) -> Result<(), Mismatch> {
    let names = |module: &StageModule| {
        let names: Vec<String> = module.entries().into_iter().flatten().map(|name| format!("\"{name}\"")).collect();
        names.join(" and ")
    };
    if before.entries() != after.entries() {
        let (b, a) = (names(before), names(after));
        return mismatch(format!("the entry points have the names {b} before and {a} after; they must be the same"));
    }
    for a in after.uses() {
        check_uses(&before.uses(), a)?;
    }
    let inputs_before = before.inputs()?;
    match after.inputs()?.iter().find(|port| !inputs_before.iter().any(|other| other.location == port.location)) {
        Some(port) => mismatch(format!("AFTER has an input at location {}, and BEFORE has none there", port.location)),
        None => Ok(()),
    }
}

/// Checks that AFTER has the entry point and the workgroup size of BEFORE, and needs no descriptors
/// beyond BEFORE's. It may use fewer.
pub fn check(before: &Side, after: &Side) -> Result<(), Mismatch> {
    let (b, a) = (&before.module, &after.module);
    if b.entry != a.entry {
        return mismatch(format!("the entry points have the names \"{}\" before and \"{}\" after; they must be one", b.entry, a.entry));
    }
    let size = |size: Option<[u32; 3]>| size.map_or("no size".into(), |[x, y, z]| format!("{x},{y},{z}"));
    if b.needs().local_size != a.needs().local_size {
        let (b, a) = (size(b.needs().local_size), size(a.needs().local_size));
        return mismatch(format!("a workgroup has {b} invocations before and {a} after; they must be as many"));
    }
    check_uses(&[b.uses()], a.uses())
}

fn check_uses(before: &[Uses<'_>], a: Uses<'_>) -> Result<(), Mismatch> {
    let available = before.iter().map(|b| b.push_constant_bytes()).max().unwrap_or(0);
    let needed = a.push_constant_bytes();
    if needed > available {
        return mismatch(format!("AFTER uses {needed} bytes of push constants, BEFORE {available}; AFTER may use no more"));
    }
    let moved = moved_push_constants(before, &a);
    for (place, resource, variable) in a.bound().filter(|(place, ..)| Some(*place) != moved) {
        let of_before: Vec<_> = before.iter().flat_map(|b| b.bound()).filter(|(at, ..)| *at == place).collect();
        let name = a.name_of(variable);
        match of_before.iter().map(|(_, b, _)| *b).find(|b| *b == resource) {
            None if of_before.is_empty() => {
                return mismatch(format!("AFTER uses {} at {place} ({name}), and BEFORE uses nothing there", kind(resource)));
            }
            None => {
                return mismatch(format!("at {place} is {} before and {} after ({name})", kind(of_before[0].1), kind(resource)));
            }
            Some(_) => {}
        }
        let count = |uses: &Uses<'_>, variable| uses.module().descriptor_count(variable).unwrap_or(u64::MAX);
        let counts = before.iter().flat_map(|b| b.bound().filter(|(at, ..)| *at == place).map(|(.., v)| count(b, v)));
        let (needed, available) = (count(&a, variable), counts.max().unwrap_or(1));
        if needed > available {
            let needed = if needed == u64::MAX { "as many descriptors as are bound".into() } else { format!("{needed} descriptors") };
            return mismatch(format!("AFTER uses {needed} at {place} ({name}), BEFORE {available}; AFTER may use no more"));
        }
        let (needed, mut available) = (a.module().buffer_size(variable.id), least_size(before, place));
        if resource == ResourceKind::Uniform {
            available = available.next_multiple_of(QUAD);
        }
        if needed > available {
            return mismatch(format!("AFTER needs {needed} bytes at {place} ({name}), BEFORE {available}; AFTER may need no more"));
        }
    }
    Ok(())
}

/// The length of a uniform buffer in bytes is a multiple of this, since WGSL may read the buffer
/// as vectors.
pub(super) const QUAD: u64 = 16;

/// The place of the uniform buffer that replaces the push constants of BEFORE in AFTER. WGSL has no
/// push constants. It is the only place of AFTER where BEFORE has nothing. `None` if there is no
/// such buffer.
pub fn moved_push_constants(before: &[Uses<'_>], after: &Uses<'_>) -> Option<Place> {
    let available = before.iter().map(|b| b.push_constant_bytes()).max().unwrap_or(0);
    if available == 0 || after.push_constant_bytes() > 0 {
        return None;
    }
    let is_new = |place: Place| !before.iter().flat_map(|b| b.bound()).any(|(at, ..)| at == place);
    let mut new = after.bound().filter(|(place, ..)| is_new(*place));
    match (new.next(), new.next()) {
        (Some((place, ResourceKind::Uniform, variable)), None) => {
            (after.module().buffer_size(variable.id) <= available.next_multiple_of(QUAD)).then_some(place)
        }
        _ => None,
    }
}

/// The least number of bytes of a buffer at a place, over all variables bound there.
pub(super) fn least_size(uses: &[Uses<'_>], place: Place) -> u64 {
    let sizes = |uses: &Uses<'_>| {
        let of_place = uses.bound().filter(|(at, ..)| *at == place);
        of_place.map(|(.., v)| uses.module().buffer_size(v.id)).max().unwrap_or(0)
    };
    uses.iter().map(sizes).max().unwrap_or(0)
}
