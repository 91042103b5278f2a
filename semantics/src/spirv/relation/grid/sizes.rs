//! A dispatch that does not set the size of subgroups. It runs with several sizes. Bytes that
//! differ between them depend on the size. If every run determines a word, the word is one of
//! these values.

use super::observe::{Doubtful, DoubtfulTexels, OneOf, Report};
use super::subgroup::sizes_of;
use crate::number::Why;
use crate::outcome::Outcome;
use crate::spirv::environment::{Dispatch, Observation, ObservedBuffer, Resources};
use crate::spirv::error::LoadError;
use crate::spirv::module::Module;

/// Runs a dispatch with several sizes of subgroups. The observation is that of the first size.
/// Bytes that differ with another size are doubtful. A word is one of the values of all sizes, if
/// every size determines it.
///
/// Errors as `run`.
pub(super) fn over_sizes(
    module: &Module,
    dispatch: &Dispatch<'_>,
    mut run: impl FnMut(&Dispatch<'_>) -> Result<Report, LoadError>,
) -> Result<Report, LoadError> {
    let mut shown: Option<(u32, Report)> = None;
    for size in sizes_of(module) {
        let resources = Resources { subgroup_size: Some(size), ..dispatch.resources };
        let report = run(&Dispatch { resources, ..dispatch.clone() })?;
        let Some((first_size, first)) = &mut shown else {
            shown = Some((size, report));
            continue;
        };
        if !is_same_kind(&first.outcome, &report.outcome) {
            let what = format!(
                "a dispatch whose outcome depends on the size of subgroups, which is not given: {} with {first_size}, {} with {size}; --subgroup-size N gives it",
                text(&first.outcome),
                text(&report.outcome)
            );
            return Ok(Report::ended(Outcome::Unsupported(what), Vec::new()));
        }
        merge(first, &report);
    }
    Ok(shown.map_or_else(|| Report::ended(Outcome::Deadlock, Vec::new()), |(_, report)| report))
}

fn text(outcome: &Outcome<Observation>) -> String {
    match outcome {
        Outcome::Undefined(undefined) => format!("undefined[{}]", undefined.ub.id()),
        Outcome::Unsupported(what) => format!("unsupported ({what})"),
        other => other.name().into(),
    }
}

fn is_same_kind(a: &Outcome<Observation>, b: &Outcome<Observation>) -> bool {
    match (a, b) {
        (Outcome::Undefined(a), Outcome::Undefined(b)) => a.ub == b.ub,
        (a, b) => a.name() == b.name(),
    }
}

/// Adds the report of another size to the report of the first.
fn merge(first: &mut Report, other: &Report) {
    let (Outcome::Observed(shown), Outcome::Observed(others)) = (&first.outcome, &other.outcome) else { return };
    for (buffer, (a, b)) in shown.buffers.iter().zip(&others.buffers).enumerate() {
        let words = (0..a.bytes.len().max(b.bytes.len()) as u64).step_by(4);
        for start in words {
            let end = (start + 4).min(a.bytes.len() as u64);
            let is_open = |report: &Report| report.doubtful.iter().any(|d| d.buffer == buffer && d.start < end && start < d.end);
            let is_zero = |report: &Report| report.zeros.contains(&(buffer, start));
            let undefined = |of: &ObservedBuffer| of.undefined.iter().any(|u| u.start < end && start < u.end);
            let differs = a.bytes[start as usize..end as usize] != b.bytes[start as usize..end as usize] || undefined(a) != undefined(b);
            let index = first.one_of.iter().position(|one| (one.buffer, one.offset) == (buffer, start));
            let is_determined = end == start + 4 && !undefined(a) && !undefined(b) && !is_open(other) && !is_zero(other);
            match index {
                Some(at) if !is_determined => drop(first.one_of.remove(at)),
                Some(at) => {
                    let (values, value) = (&mut first.one_of[at].values, word(b, start));
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                None if (differs || is_open(other)) && !is_open(first) => {
                    if is_determined && !is_zero(first) {
                        first.one_of.push(OneOf { buffer, offset: start, values: vec![word(a, start), word(b, start)] });
                    }
                    let why = if differs { Why::SubgroupSize } else { why_of(other, buffer, start) };
                    first.doubtful.push(Doubtful { buffer, start, end, why });
                    first.zeros.retain(|&at| at != (buffer, start));
                }
                None => {}
            }
        }
        let zeros: Vec<_> = other.zeros.iter().filter(|at| at.0 == buffer && !first.zeros.contains(at)).copied().collect();
        let open = |start: u64| first.doubtful.iter().any(|d| d.buffer == buffer && d.start <= start && start < d.end);
        let zeros: Vec<_> = zeros.into_iter().filter(|&(_, start)| !open(start)).collect();
        first.zeros.extend(zeros);
    }
    for (image, (a, b)) in shown.images.iter().zip(&others.images).enumerate() {
        let texel_bytes = a.format.bytes();
        for (texel, (x, y)) in a.bytes.chunks(texel_bytes).zip(b.bytes.chunks(texel_bytes)).enumerate() {
            let texel = texel as u64;
            for component in 0..a.format.channels().len() as u8 {
                let is_open = |report: &Report| {
                    let has = |d: &DoubtfulTexels| d.image == image && d.component == component && d.start <= texel && texel < d.end;
                    report.doubtful_texels.iter().any(has)
                };
                let undefined = |of: &crate::spirv::environment::ObservedImage| {
                    of.undefined.iter().any(|u| u.component == component && u.start <= texel && texel < u.end)
                };
                let differs = x != y || undefined(a) != undefined(b);
                if (differs || is_open(other)) && !is_open(first) {
                    let (start, end, why) = (texel, texel + 1, Why::SubgroupSize);
                    first.doubtful_texels.push(DoubtfulTexels { image, component, start, end, why });
                }
            }
        }
    }
    first.zeros.sort_unstable();
    first.doubtful.sort_by_key(|d| (d.buffer, d.start));
    first.one_of.sort_by_key(|one| (one.buffer, one.offset));
    first.doubtful_texels.sort_by_key(|d| (d.image, d.component, d.start));
    first.control_in_doubt |= other.control_in_doubt;
}

fn word(buffer: &ObservedBuffer, start: u64) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&buffer.bytes[start as usize..start as usize + 4]);
    u32::from_le_bytes(word)
}

fn why_of(report: &Report, buffer: usize, start: u64) -> Why {
    let at = report.doubtful.iter().find(|d| d.buffer == buffer && d.start < start + 4 && start < d.end);
    at.map_or(Why::SubgroupSize, |d| d.why)
}
