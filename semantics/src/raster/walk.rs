//! The quads of a triangle, row by row. Most quads lie inside, away from the edges. The walk finds
//! these row by row, and examines the pixels of the other quads one by one.

use std::ops::Range;

use smallvec::SmallVec;

use super::triangle::{Lane, Quad, Triangle};

/// The greatest coordinate of a corner, in sub-pixels. Beyond it, products of differences may
/// overflow 64 bits.
const FAR: i64 = 1 << 29;

/// An edge of the triangle, as a linear function of the pixel.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// x · column + y · row + constant is twice the area of the triangle that the edge and the
    /// pixel's centre form, in square sub-pixels. It is positive inside.
    x: i64,
    y: i64,
    constant: i64,
    /// From this area on, every device has the centre inside of the edge.
    least: i64,
}

/// A walk over the quads that may have pixels of a triangle.
#[derive(Clone, Debug)]
pub struct Walk {
    columns: Range<i64>,
    rows: Range<i64>,
    next: [i64; 2],
    /// The edges. Empty if every pixel must be examined by itself.
    sides: SmallVec<[Side; 9]>,
    /// The columns and rows of pixels that are certainly within the viewport and the area.
    within: [Range<i64>; 2],
    /// The columns of the current row of quads whose pixels are covered for certain.
    inside: Range<i64>,
}

impl Triangle {
    /// A walk over the quads of the triangle, row by row.
    pub fn walk(&self) -> Walk {
        let [columns, rows] = self.bounds();
        let within = self.seen_for_certain([&columns, &rows]);
        let sides = within.as_ref().and_then(|_| self.sides([&columns, &rows])).unwrap_or_default();
        let mut walk =
            Walk { next: [columns.start, rows.start], columns, rows, sides, within: within.unwrap_or([0..0, 0..0]), inside: 0..0 };
        walk.begin_row();
        walk
    }

    /// The edges of the boundary. `None` if the triangle has no area, the rule for centres is not
    /// linear, or coordinates are too large.
    fn sides(&self, [columns, rows]: [&Range<i64>; 2]) -> Option<SmallVec<[Side; 9]>> {
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let [first, second] = [0, 1].map(|pixel| (self.rules.centre)(pixel, one));
        let step = second - first;
        // A test may plant any rule for centres. Centres are linear if the step is constant.
        let is_linear = |pixel: i64| (self.rules.centre)(pixel, one) == first + step * pixel;
        // If the range ends at an odd number, the last quad reaches one pixel beyond it.
        let mut pixels = (columns.start..columns.end + 1).chain(rows.start..rows.end + 1);
        if self.area == 0 || step <= 0 || !pixels.all(is_linear) {
            return None;
        }
        if self.corners.iter().flat_map(|corner| corner.at).any(|c| c.abs() > FAR) {
            return None;
        }
        let turn = if self.area < 0 { -1 } else { 1 };
        let sides = self.corners.iter().enumerate().map(|(i, from)| {
            let to = &self.corners[(i + 1) % self.corners.len()];
            let [dx, dy] = [0, 1].map(|axis| (to.at[axis] - from.at[axis]) * turn);
            // The reach of a device's edge, as `Triangle::lane` computes it, with room
            // for rounding.
            let reach = (dx.abs() + dy.abs()) as f64 * from.error.max(to.error) * one as f64;
            let constant = dx * (first - from.at[1]) - dy * (first - from.at[0]);
            Side { x: -dy * step, y: dx * step, constant, least: (reach * (1.0 + 1e-8)).ceil() as i64 + 1 }
        });
        Some(sides.collect())
    }
}

impl Walk {
    /// Visits the next place. Returns `None` at the end, and `Some(None)` if no pixel of the quad
    /// there is or may be covered. `triangle` must be the triangle that made the walk.
    pub fn next(&mut self, triangle: &Triangle) -> Option<Option<Quad>> {
        let [x, y] = self.next;
        if y >= self.rows.end || self.columns.is_empty() {
            return None;
        }
        let inside = self.next_inside();
        if inside.is_none() {
            self.go_on();
        }
        Some(inside.map_or_else(|| triangle.quad([x, y]), |[x, y]| Some(Quad { x, y, lanes: [Lane::SURE; 4] })))
    }

    /// The next place, if every device covers its four pixels. Otherwise the walk does not advance.
    #[inline]
    pub fn next_inside(&mut self) -> Option<[u32; 2]> {
        let [x, y] = self.next;
        (self.inside.start <= x && x + 1 < self.inside.end).then(|| {
            self.go_on();
            [x as u32, y as u32]
        })
    }

    #[inline]
    fn go_on(&mut self) {
        self.next[0] += 2;
        if self.next[0] >= self.columns.end {
            self.next = [self.columns.start, self.next[1] + 2];
            self.begin_row();
        }
    }

    /// Finds the columns of a row of quads that are inside.
    fn begin_row(&mut self) {
        let y = self.next[1];
        self.inside = match self.sides.is_empty() || y >= self.rows.end {
            true => 0..0,
            false => {
                let [upper, lower] = [y, y + 1].map(|row| self.inside_of(row));
                upper.start.max(lower.start)..upper.end.min(lower.end)
            }
        };
    }

    /// The columns of the pixels in a row that are inside of every edge.
    fn inside_of(&self, row: i64) -> Range<i64> {
        let [columns, rows] = &self.within;
        if !rows.contains(&row) {
            return 0..0;
        }
        let mut inside = columns.clone();
        for side in &self.sides {
            // The pixel is inside if x · column >= missing.
            let missing = side.least - (side.y * row + side.constant);
            match side.x {
                0 if missing > 0 => return 0..0,
                0 => {}
                x if x > 0 => inside.start = inside.start.max(-(-missing).div_euclid(x)),
                x => inside.end = inside.end.min((-missing).div_euclid(-x) + 1),
            }
        }
        inside
    }
}
