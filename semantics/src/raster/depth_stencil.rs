//! The tests of fragments against the depth and stencil attachments, in their order: depth bounds,
//! stencil, depth (Vulkan, Fragment Operations).

use rustc_hash::FxHashMap;

use super::{DepthBuffer, Presence, Rules, StencilBuffer, StencilFace, TestResult};
use crate::image::Compare;
use crate::number::Inexact;

/// The number of a triangle's plane. Triangles of one draw with the same positions share a number.
pub type Plane = u32;

/// The planes of a draw's triangles, numbered as they come.
#[derive(Clone, Debug, Default)]
pub struct Planes(FxHashMap<[[u64; 4]; 3], Plane>);

impl Planes {
    /// The plane of a triangle with these clip-space positions, which all devices have.
    pub fn of(&mut self, positions: [[f64; 4]; 3]) -> Plane {
        let next = self.0.len() as Plane;
        *self.0.entry(positions.map(|position| position.map(f64::to_bits))).or_insert(next)
    }
}

/// What the tests compare of a fragment.
#[derive(Clone, Copy, Debug)]
pub struct TestedFragment {
    /// Its depth.
    pub depth: Inexact,
    /// The plane of its depth. `None` if the depth is no interpolated one, or if devices may have
    /// the triangle elsewhere.
    pub plane: Option<Plane>,
    /// Whether its primitive is front-facing, by the definite answer.
    pub front: bool,
    /// Whether all devices agree about that.
    pub front_certain: bool,
}

/// The depth attachment of a draw, the stencil attachment if there is one, and their tests.
#[derive(Clone, Debug)]
pub struct DepthStencil {
    depth: DepthBuffer,
    compare: Compare,
    /// Whether a depth that passes is stored.
    writes: bool,
    /// The stencil attachment, and the tests of front-facing and of other fragments.
    stencil: Option<(StencilBuffer, [StencilFace; 2])>,
    /// The ends of the depth bounds test, if it is enabled.
    bounds: Option<[f32; 2]>,
    /// By pixel: the plane of the stored depth, if all devices have stored a depth of it.
    planes: Vec<Option<Plane>>,
}

impl DepthStencil {
    /// A depth attachment with its comparison. `writes` says whether a depth that passes is stored.
    pub fn new(depth: DepthBuffer, compare: Compare, writes: bool) -> DepthStencil {
        let [width, height] = depth.size();
        let planes = vec![None; width as usize * height as usize];
        DepthStencil { depth, compare, writes, stencil: None, bounds: None, planes }
    }

    /// Adds a stencil attachment of the same size, with the tests of front-facing and of other
    /// fragments.
    #[must_use]
    pub fn with_stencil(self, stencil: StencilBuffer, faces: [StencilFace; 2]) -> DepthStencil {
        DepthStencil { stencil: Some((stencil, faces)), ..self }
    }

    /// Adds the depth bounds test between these depths.
    #[must_use]
    pub fn with_bounds(self, bounds: [f32; 2]) -> DepthStencil {
        DepthStencil { bounds: Some(bounds), ..self }
    }

    /// The depth attachment.
    pub fn depth(&self) -> &DepthBuffer {
        &self.depth
    }

    /// The depth attachment, and the stencil attachment if there is one.
    pub fn attachments(self) -> (DepthBuffer, Option<StencilBuffer>) {
        (self.depth, self.stencil.map(|(stencil, _)| stencil))
    }

    /// Tests a fragment at a pixel and updates the attachments. Returns the devices that have the
    /// fragment after the tests.
    pub fn test<O: Copy>(&mut self, rules: &Rules, pixel: [u32; 2], presence: Presence<O>, tested: &TestedFragment) -> Option<Presence<O>> {
        let presence = match self.bounds {
            Some(bounds) => presence.after(self.depth.within(pixel, bounds))?,
            None => presence,
        };
        let Some((stencil, [front, back])) = &self.stencil else {
            let passed = self.test_depth(pixel, presence, tested);
            return presence.after(passed);
        };
        let both = if tested.front { [*front, *back] } else { [*back, *front] };
        let faces = if tested.front_certain { &both[..1] } else { &both[..] };
        let after = presence.after(stencil.test(rules, pixel, faces));
        let passed = match after {
            Some(presence) => self.test_depth(pixel, presence, tested),
            None => TestResult { passed: false, certain: true },
        };
        if let Some((stencil, _)) = &mut self.stencil {
            stencil.update(rules, pixel, faces, passed, (presence.is_definite(), matches!(presence, Presence::Sure)));
        }
        after?.after(passed)
    }

    /// The place of a pixel in `planes`.
    fn place(&self, [x, y]: [u32; 2]) -> Option<usize> {
        let [width, height] = self.depth.size();
        (x < width && y < height).then_some(y as usize * width as usize + x as usize)
    }

    /// The depth test. A triangle that is drawn again has the same depths as before, whatever they
    /// are: the contents of the framebuffer affect nothing else (Vulkan, Invariance, Multi-Pass
    /// Algorithms). The chapter speaks of commands that are repeated. It is an assumption that two
    /// triangles of one command have the same depths, too.
    fn test_depth<O: Copy>(&mut self, pixel: [u32; 2], presence: Presence<O>, tested: &TestedFragment) -> TestResult {
        let place = self.place(pixel);
        if let (Some(plane), Some(place)) = (tested.plane, place)
            && self.planes[place] == Some(plane)
        {
            return TestResult { passed: self.compare.holds(0.0, 0.0), certain: true };
        }
        let is_sure = matches!(presence, Presence::Sure);
        let result = match presence.is_definite() {
            true => self.depth.test(pixel, tested.depth, self.compare, self.writes, is_sure),
            false => self.depth.test_absent(pixel, tested.depth, self.compare, self.writes),
        };
        if let Some(place) = place.filter(|_| self.writes && (result.passed || !result.certain)) {
            self.planes[place] = tested.plane.filter(|_| is_sure && result.certain);
        }
        result
    }

    /// Records that a device may have stored anything that the tests can store at a pixel.
    pub fn doubt(&mut self, pixel: [u32; 2]) {
        if self.writes {
            self.depth.doubt(pixel);
            if let Some(place) = self.place(pixel) {
                self.planes[place] = None;
            }
        }
        if let Some((stencil, _)) = &mut self.stencil {
            stencil.doubt(pixel);
        }
    }
}
