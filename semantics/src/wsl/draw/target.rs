//! Coverage, depth and targets of fragments: seed 004 "Output Merger", "Barriers and discard",
//! "Built-in Variables" (ERRATA WSL-D27, WSL-D29).

use super::Rules;
use crate::image::{Compare, Format};
use crate::number::{Inexact, Interval};
use crate::raster::{Depth, DepthBuffer, Doubt, Lane, TestResult};
use crate::wsl::open::{OpenTerms, Possible, Word};

/// The devices that have a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Every device has it.
    Sure,
    /// It exists here. Another device may not have it.
    Here,
    /// It does not exist here. Another device may have it.
    Elsewhere,
}

impl Presence {
    /// The presence by rasterisation. `None` if no device has the fragment.
    pub fn of(lane: Lane) -> Option<Presence> {
        match (lane.covered, lane.doubt) {
            (false, Doubt::None) => None,
            (true, Doubt::None) => Some(Presence::Sure),
            (true, _) => Some(Presence::Here),
            (false, _) => Some(Presence::Elsewhere),
        }
    }

    /// The presence after a test whose result may depend on the device. `None` if the fragment
    /// fails on every device.
    fn after(self, TestResult { passed, certain }: TestResult) -> Option<Presence> {
        match (self, passed, certain) {
            (_, false, true) => None,
            (_, true, true) => Some(self),
            (Presence::Elsewhere, ..) | (_, false, false) => Some(Presence::Elsewhere),
            (_, true, false) => Some(Presence::Here),
        }
    }
}

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
    pub(super) doubted: Vec<bool>,
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
        Presence::Sure => (target.texels[pixel], target.doubted[pixel]) = (value, false),
        Presence::Here => {
            target.texels[pixel] = value;
            target.doubted[pixel] |= !same;
        }
        Presence::Elsewhere => target.doubted[pixel] |= !same,
    }
}

/// The attachments that fragments are written to.
pub(super) struct Attachments {
    size: [u32; 2],
    pub(super) targets: Vec<Texels>,
    pub(super) depth: Option<(DepthBuffer, Compare)>,
    /// By pixel, the plane of its depth, if that is certain.
    planes: Vec<Option<Plane>>,
}

/// The number of a triangle's plane. Triangles of one draw with the same vertex positions share it.
pub(super) type Plane = u32;

/// The output of a thread for the attachments.
pub(super) struct ThreadOutput {
    pub(super) presence: Presence,
    /// The word of SV_Coverage, if there is one.
    pub(super) coverage: Option<Word>,
    /// The word of SV_Depth, if there is one, and the interpolated depth.
    pub(super) depth: (Option<Word>, Inexact),
    /// The plane of the interpolated depth, if the triangle is known to the bit.
    pub(super) plane: Option<Plane>,
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
            Some(compare) => Some((DepthBuffer::new(Format::D32Sfloat, size[0], size[1], 1.0)?, compare)),
        };
        let empty = |&(number, _): &(u32, usize)| Texels { number, texels: vec![[Word::Bits(0); 4]; pixels], doubted: vec![false; pixels] };
        let planes = if depth.is_some() { vec![None; pixels] } else { Vec::new() };
        Some(Attachments { size, targets: targets.iter().map(empty).collect(), depth, planes })
    }

    /// Merges a fragment into the attachments. Returns whether its coverage kept it, and whether it
    /// was written.
    ///
    /// A triangle that is drawn again has the same depths as before, whatever they are. The
    /// contents of the framebuffer affect nothing else (Vulkan, Invariance, Multi-Pass Algorithms).
    pub(super) fn merge(&mut self, rules: &Rules, opens: &OpenTerms, [x, y]: [u32; 2], left: ThreadOutput) -> (bool, bool) {
        let mut presence = left.presence;
        if x >= self.size[0] || y >= self.size[1] {
            return (true, false);
        }
        if let Some(mask) = left.coverage {
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
        let pixel = y as usize * self.size[0] as usize + x as usize;
        if let Some((buffer, compare)) = &mut self.depth {
            let written = left.depth.0.map(|word| depth_of(&opens.possible(word)));
            let plane = left.plane.filter(|_| written.is_none());
            let depth = (rules.depth)(written, left.depth.1);
            let held = &mut self.planes[pixel];
            let passed = if plane.is_some() && *held == plane {
                TestResult { passed: compare.holds(0.0, 0.0), certain: true }
            } else {
                let passed = match presence {
                    Presence::Elsewhere => buffer.test_absent([x, y], depth, *compare, true),
                    _ => buffer.test([x, y], depth, *compare, true, presence == Presence::Sure),
                };
                match (passed, presence) {
                    (TestResult { passed: false, certain: true }, _) => {}
                    (TestResult { certain: true, .. }, Presence::Sure) => *held = plane,
                    _ => *held = None,
                }
                passed
            };
            match presence.after(passed) {
                Some(after) => presence = after,
                None => return (true, false),
            }
        }
        for (target, value) in self.targets.iter_mut().zip(left.values) {
            (rules.target)(target, pixel, value, presence);
        }
        (true, presence != Presence::Elsewhere)
    }

    /// Marks every pixel as in doubt, because a device may have any fragment of a triangle of which
    /// nothing is known.
    pub(super) fn doubt_all(&mut self) {
        self.planes.fill(None);
        for target in &mut self.targets {
            target.doubted.iter_mut().for_each(|d| *d = true);
        }
        if let Some((buffer, _)) = &mut self.depth {
            (0..self.size[1]).flat_map(|y| (0..self.size[0]).map(move |x| [x, y])).for_each(|pixel| buffer.doubt(pixel));
        }
    }

    /// The depths, row by row from the top. `None` without a depth attachment.
    pub(super) fn depths(&self) -> Option<Vec<Depth>> {
        let (buffer, _) = self.depth.as_ref()?;
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
