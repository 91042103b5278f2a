//! Clipping: Vulkan, Primitive Clipping. A triangle becomes a convex polygon in clip space with w >
//! 0 everywhere.
//!
//! The near and far planes clip the triangle unless depths are clamped. In x and y, the view volume
//! is enforced per pixel. Planes far outside, the guard band, keep coordinates small. The two
//! planes |x| ≤ g·w together remove everything behind the eye. The crossing of an edge and a
//! plane is computed from the edge's ends in a fixed order, whichever way the triangle turns. So
//! triangles with a common edge get the same vertex there.

use smallvec::SmallVec;

use super::Rules;

/// A vertex of a clipped triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vertex {
    /// The position in clip space.
    pub position: [f64; 4],
    /// The greatest magnitude of each coordinate along the edge that was cut here, which bounds the
    /// rounding. Zeros for an original vertex.
    pub scale: [f64; 4],
}

/// The vertices of a clipped triangle, in order. Fewer than 3 if nothing is left.
pub(super) type Polygon = SmallVec<[Vertex; 9]>;

/// Clips a triangle. `guard` is the greatest |x|/w and |y|/w that is kept. `None` if a vertex of
/// the result has w = 0: it is in the view volume and has no place on the screen.
pub(super) fn clip(rules: &Rules, positions: [[f64; 4]; 3], guard: f64, depth_clamp: bool) -> Option<Polygon> {
    let mut polygon: Polygon = positions.iter().map(|&position| Vertex { position, scale: [0.0; 4] }).collect();
    if !depth_clamp {
        for plane in rules.depth_planes {
            polygon = against(rules, &polygon, plane);
        }
    }
    for axis in 0..2 {
        for sign in [1.0, -1.0] {
            polygon = against(rules, &polygon, |p| guard * p[3] + sign * p[axis]);
        }
    }
    // A remaining vertex has w = 0 only if its x and y are 0 too.
    polygon.iter().all(|v| v.position[3] > 0.0).then_some(polygon)
}

/// The part of a polygon where the distance is not negative.
fn against(rules: &Rules, polygon: &Polygon, distance: impl Fn([f64; 4]) -> f64) -> Polygon {
    let mut kept = Polygon::new();
    for (i, &a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        let (da, db) = (distance(a.position), distance(b.position));
        if da >= 0.0 {
            kept.push(a);
        }
        if (da >= 0.0) != (db >= 0.0) && da != 0.0 && db != 0.0 {
            kept.push(if a.position.partial_cmp(&b.position).is_some_and(std::cmp::Ordering::is_lt) {
                crossing(rules, a, b, da, db)
            } else {
                crossing(rules, b, a, db, da)
            });
        }
    }
    kept
}

/// The part of a polygon within the sides of the view volume. `None` unless all operations are
/// exact in 32-bit floats. If they are, all devices that cut there get the same result.
pub(super) fn cut_exactly(polygon: &Polygon) -> Option<Polygon> {
    let mut polygon = polygon.clone();
    for (axis, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
        let distance = |v: &Vertex| v.position[3] + sign * v.position[axis];
        let mut kept = Polygon::new();
        for (i, a) in polygon.iter().enumerate() {
            let b = &polygon[(i + 1) % polygon.len()];
            let (da, db) = (distance(a), distance(b));
            if da >= 0.0 {
                kept.push(*a);
            }
            if da < 0.0 && db > 0.0 || da > 0.0 && db < 0.0 {
                kept.push(exact_crossing(a, b, da, db)?);
            }
        }
        polygon = kept;
    }
    Some(polygon)
}

fn exact_crossing(a: &Vertex, b: &Vertex, da: f64, db: f64) -> Option<Vertex> {
    let exact = |x: f64| (f64::from(x as f32) == x).then_some(x);
    let whole = exact(exact(da)? - exact(db)?)?;
    let t = exact(da / whole).filter(|t| t * whole == da)?;
    let mut position = a.position;
    for (c, at) in position.iter_mut().enumerate() {
        *at = exact(*at + exact(t * exact(b.position[c] - *at)?)?)?;
    }
    Some(Vertex { position, scale: [0.0; 4] })
}

fn crossing(rules: &Rules, a: Vertex, b: Vertex, da: f64, db: f64) -> Vertex {
    let t = (rules.crossing)(da, db);
    let position = [0, 1, 2, 3].map(|c: usize| a.position[c] + t * (b.position[c] - a.position[c]));
    let scale =
        [0, 1, 2, 3].map(|c: usize| [a.position[c].abs(), b.position[c].abs(), a.scale[c], b.scale[c]].into_iter().fold(0.0, f64::max));
    Vertex { position, scale }
}
