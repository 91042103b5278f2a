//! Coverage, depth and targets of fragments: seed 004 "Output Merger", "Barriers and discard",
//! "Built-in Variables" (ERRATA WSL-D27, WSL-D29).

use super::Rules;
use crate::image::{Compare, Format};
use crate::number::{Inexact, Interval};
use crate::raster::{Depth, DepthBuffer, DepthStencil, Presence, TestResult, TestedFragment};
use crate::wsl::open::{OpenTerms, Possible, Word};

/// a thread that discard has ended leaves no fragment [wsl/d-discarded, 004 Barriers and discard]
pub fn d_discarded(discarded: bool) -> bool {
    !discarded
}

/// a fragment whose SV_Coverage has no bit 0 is left out [wsl/d-coverage, 004 Built-in Variables;
/// WSL-D29]
pub fn d_coverage(mask: u32) -> bool {
    mask & 1 == 1
}

/// the depth of a fragment is its SV_Depth, if it has one, and else the interpolated one
/// [wsl/d-depth, 004 Vertex Shader, Built-in Variables; WSL-D27]
///
/// A written depth that may be outside 0 to 1 may become any depth in that range.
pub fn d_depth(written: Option<Inexact>, interpolated: Inexact) -> Inexact {
    let Some(written) = written else { return interpolated };
    let within = written.allowed.low >= 0.0 && written.allowed.high <= 1.0 && !written.allowed.nan;
    let value = if written.value.is_nan() { 0.0 } else { written.value.clamp(0.0, 1.0) };
    Inexact { value, allowed: if within { written.allowed } else { Interval::between(0.0, 1.0) } }
}

/// The number and the contents of a target.
#[derive(Clone, Debug)]
pub struct Texels {
    /// n of SV_Target n.
    pub number: u32,
    /// By pixel, row after row from the top.
    pub(super) texels: Vec<[Word; 4]>,
    /// By pixel, whether a device may show something else.
    pub(super) in_doubt: Vec<bool>,
}

impl Texels {
    /// The texel at a pixel. Pixels are counted row by row from the top.
    pub fn texel(&self, pixel: usize) -> [Word; 4] {
        self.texels[pixel]
    }
}

/// a fragment that passes writes its SV_Target n to target n at its pixel, in the order of
/// triangles [wsl/d-target, 004 Output Merger, Built-in Variables]
pub fn d_target(target: &mut Texels, pixel: usize, value: [Word; 4], presence: Presence) {
    let same = target.texels[pixel] == value;
    match presence {
        Presence::Sure => (target.texels[pixel], target.in_doubt[pixel]) = (value, false),
        Presence::Here => {
            target.texels[pixel] = value;
            target.in_doubt[pixel] |= !same;
        }
        Presence::Elsewhere => target.in_doubt[pixel] |= !same,
    }
}

/// The attachments that fragments are written to.
pub(super) struct Attachments {
    size: [u32; 2],
    pub(super) targets: Vec<Texels>,
    pub(super) depth: Option<DepthStencil>,
}

/// The output of a thread for the attachments.
pub(super) struct ThreadOutput {
    pub(super) presence: Presence,
    /// The word of SV_Coverage, if there is one.
    pub(super) coverage: Option<Word>,
    /// The word of SV_Depth, if there is one.
    pub(super) depth: Option<Word>,
    /// What the depth test compares if there is no SV_Depth.
    pub(super) interpolated: TestedFragment,
    /// By target, the components of its value.
    pub(super) values: Vec<[Word; 4]>,
}

impl Attachments {
    /// Targets of zeros. With a comparison, also a depth attachment of 32-bit floats cleared to 1.
    /// `None` if there are too many pixels.
    pub(super) fn new(size: [u32; 2], targets: &[(u32, usize)], compare: Option<Compare>) -> Option<Attachments> {
        let pixels = size[0] as usize * size[1] as usize;
        let depth = match compare {
            None => None,
            Some(compare) => Some(DepthStencil::new(DepthBuffer::new(Format::D32Sfloat, size[0], size[1], 1.0)?, compare, true)),
        };
        let empty =
            |&(number, _): &(u32, usize)| Texels { number, texels: vec![[Word::Bits(0); 4]; pixels], in_doubt: vec![false; pixels] };
        Some(Attachments { size, targets: targets.iter().map(empty).collect(), depth })
    }

    /// Merges a fragment into the attachments. Returns whether its coverage kept it, and whether it
    /// was written.
    pub(super) fn merge(&mut self, rules: &Rules, opens: &OpenTerms, [x, y]: [u32; 2], output: ThreadOutput) -> (bool, bool) {
        if x >= self.size[0] || y >= self.size[1] {
            return (true, false);
        }
        let mut presence = output.presence;
        if let Some(mask) = output.coverage {
            let passed = match opens.possible(mask) {
                Possible::Values(values) => {
                    let covered: Vec<bool> = values.iter().map(|&mask| (rules.coverage)(mask)).collect();
                    TestResult { passed: covered.contains(&true), certain: covered.iter().all(|&c| c == covered[0]) }
                }
                Possible::Floats(_) | Possible::Any => TestResult { passed: true, certain: false },
            };
            match presence.after(passed) {
                Some(after) => presence = after,
                None => return (false, false),
            }
        }
        if let Some(depth_stencil) = &mut self.depth {
            let written = output.depth.map(|word| depth_of(&opens.possible(word)));
            let plane = output.interpolated.plane.filter(|_| written.is_none());
            let depth = (rules.depth)(written, output.interpolated.depth);
            match depth_stencil.test(&rules.raster, [x, y], presence, &TestedFragment { depth, plane, ..output.interpolated }) {
                Some(after) => presence = after,
                None => return (true, false),
            }
        }
        let pixel = y as usize * self.size[0] as usize + x as usize;
        for (target, value) in self.targets.iter_mut().zip(output.values) {
            (rules.target)(target, pixel, value, presence);
        }
        (true, presence.is_definite())
    }

    /// Marks every pixel as in doubt, because a device may have any fragment of a triangle of which
    /// nothing is known.
    pub(super) fn doubt_all(&mut self) {
        for target in &mut self.targets {
            target.in_doubt.iter_mut().for_each(|d| *d = true);
        }
        if let Some(depth_stencil) = &mut self.depth {
            (0..self.size[1]).flat_map(|y| (0..self.size[0]).map(move |x| [x, y])).for_each(|pixel| depth_stencil.doubt(pixel));
        }
    }

    /// The depths, row by row from the top. `None` without a depth attachment.
    pub(super) fn depths(&self) -> Option<Vec<Depth>> {
        let buffer = self.depth.as_ref()?.depth();
        (0..self.size[1]).flat_map(|y| (0..self.size[0]).map(move |x| (x, y))).map(|(x, y)| buffer.depth(x, y)).collect()
    }
}

/// The depth for a word's possible values.
fn depth_of(possible: &Possible) -> Inexact {
    if let Some(bits) = possible.only() {
        return Inexact::exact(f64::from(f32::from_bits(bits)));
    }
    let set = possible.floats();
    match set.hull().filter(|_| set.is_bounded() && !set.has_nan()) {
        Some(hull) => Inexact { value: hull.low, allowed: Interval::between(hull.low, hull.high) },
        None => Inexact { value: 0.0, allowed: Interval::ANY },
    }
}
