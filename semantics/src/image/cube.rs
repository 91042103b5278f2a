//! Cubes: Vulkan, Cube Map Face Selection and Transformations, Cube Map Derivative Transformation,
//! Cube Map Edge Handling.
//!
//! A location on a cube is a direction (rx, ry, rz) from its middle. The major axis selects the
//! face, and the three axes of the face give (sc, tc, rc).

use super::{FaceTexel, Rules};
use crate::number::{Inexact, Interval};
use smallvec::SmallVec;

/// The index of an axis of a direction, and its sign: -1 if the axis is reversed.
type Axis = (usize, f64);

/// For each face, the axes of the direction that give sc, tc and |rc|.
const FACES: [[Axis; 3]; 6] = [
    [(2, -1.0), (1, -1.0), (0, 1.0)],
    [(2, 1.0), (1, -1.0), (0, -1.0)],
    [(0, 1.0), (2, 1.0), (1, 1.0)],
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, 1.0), (1, -1.0), (2, 1.0)],
    [(0, -1.0), (1, -1.0), (2, -1.0)],
];

/// The face of a direction. Among components of equal magnitude rz wins over ry, and ry over rx.
pub fn face([x, y, z]: [f64; 3]) -> usize {
    let major = if z.abs() >= x.abs().max(y.abs()) {
        (4, z)
    } else if y.abs() >= x.abs() {
        (2, y)
    } else {
        (0, x)
    };
    major.0 + usize::from(major.1 < 0.0)
}

/// sc, tc and |rc| of a direction on that face.
pub fn on_face(face: usize, direction: [f64; 3]) -> [f64; 3] {
    FACES[face % 6].map(|(axis, sign)| sign * direction[axis])
}

/// The texel at (i, j), where one of the two is -1 or the size: its face and its place there.
///
/// Places are counted in half texels from the middle of a cube whose sides are twice the size. A
/// place half a texel beyond an edge of a face lies half a texel below the edge on the neighbour.
pub fn beside(face: usize, [i, j]: [i64; 2], size: i64) -> FaceTexel {
    let n = size as f64;
    let [s, t, _] = FACES[face % 6];
    let r = FACES[face % 6][2];
    let mut place = [0.0; 3];
    let centre = |at: i64| (2 * at + 1 - size) as f64;
    place[r.0] = r.1 * (n - 1.0);
    for (axis, at) in [(s, i), (t, j)] {
        let is_outside = at < 0 || at >= size;
        place[axis.0] = axis.1 * if is_outside { n.copysign(centre(at)) } else { centre(at) };
    }
    // The component of magnitude n is the greatest, by one.
    let target_face = self::face(place);
    let [s, t, _] = on_face(target_face, place);
    (target_face, [s, t].map(|c| (c as i64 + size - 1) / 2))
}

/// A face that a device may choose, with s and t on it.
pub(super) struct OnFace {
    pub face: usize,
    pub at: [Inexact; 2],
}

/// s or t, from sc or tc and |rc|.
fn coordinate(component: f64, major: f64) -> f64 {
    0.5 * component / major + 0.5
}

/// The face of a direction by these rules, and all faces that a device may choose. `None` if it may
/// choose any.
pub(super) fn faces(rules: &Rules, direction: [Inexact; 3]) -> (OnFace, Option<SmallVec<[OnFace; 2]>>) {
    let value = direction.map(|x| x.value);
    let face = (rules.face)(value);
    let [s, t, r] = (rules.on_face)(face, value);
    let definite = OnFace { face, at: [Inexact::exact(coordinate(s, r)), Inexact::exact(coordinate(t, r))] };
    if direction.iter().any(|x| !x.allowed.is_finite()) {
        return (definite, None);
    }
    let least_major = direction.iter().map(|x| x.allowed.abs().low).fold(0.0, f64::max);
    if least_major < f64::from(f32::MIN_POSITIVE) {
        // The direction has no length, or may have none.
        return (definite, None);
    }
    let mut all = SmallVec::new();
    for (face, [s, t, major]) in FACES.into_iter().enumerate() {
        let oriented = |(axis, sign): Axis| {
            let x = direction[axis].allowed;
            if sign < 0.0 { Interval::between(-x.high, -x.low) } else { x }
        };
        // This face is possible if its component may have this sign and the greatest magnitude.
        let r = oriented(major);
        if r.high < least_major {
            continue;
        }
        let (low, high) = (r.low.max(least_major), r.high);
        let on = |axis: Axis| {
            let c = oriented(axis);
            let ratios = [c.low / low, c.low / high, c.high / low, c.high / high];
            let ratio = ratios.into_iter().map(Interval::point).reduce(Interval::hull).unwrap_or(Interval::ANY);
            let at = ratio.clamped(-1.0, 1.0);
            let at = Interval::between(coordinate(at.low, 1.0), coordinate(at.high, 1.0));
            // A quotient and a sum of 32-bit floats.
            let exact = at.low == at.high && (at.low * 256.0).fract() == 0.0;
            let allowed = if exact { at } else { at.widened(1.0 / f64::from(1 << 21)).clamped(0.0, 1.0) };
            Inexact { value: at.low, allowed }
        };
        all.push(OnFace { face, at: [on(s), on(t)] });
    }
    (definite, Some(all))
}

/// ∂s and ∂t on the face, from the derivatives of the direction.
pub(super) fn derivatives(rules: &Rules, direction: [Inexact; 3], direction_change: [Inexact; 3]) -> [Inexact; 2] {
    let (definite, all) = faces(rules, direction);
    let (value, change) = (direction.map(|x| x.value), direction_change.map(|x| x.value));
    let on_face_with_error = |face: usize| {
        let ([s, t, r], [ds, dt, dr]) = ((rules.on_face)(face, value), (rules.on_face)(face, change));
        // ½·(|rc|·∂sc - sc·∂|rc|)/rc². Its error is that of the products, which
        // cancellation keeps.
        [(s, ds), (t, dt)].map(|(c, dc)| {
            let error = 0.5 * ((r * dc).abs() + (c * dr).abs()) / (r * r) / f64::from(1 << 20);
            (0.5 * (r * dc - c * dr) / (r * r), error)
        })
    };
    let are_points = direction.iter().chain(&direction_change).all(|x| x.allowed.low == x.allowed.high);
    let values = on_face_with_error(definite.face);
    [0, 1].map(|axis| {
        let (value, _) = values[axis];
        let allowed = match &all {
            Some(all) if are_points => {
                let allowed_on_face = |face: &OnFace| {
                    let (value, error) = on_face_with_error(face.face)[axis];
                    Interval::point(value).widened(error)
                };
                all.iter().map(allowed_on_face).reduce(Interval::hull).unwrap_or(Interval::ANY)
            }
            _ => Interval::ANY,
        };
        Inexact { value, allowed }
    })
}
