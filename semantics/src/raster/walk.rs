//! The quads of a triangle, row after row. Most lie inside of it, away from its edges; that is told
//! row by row, so that only those near an edge are looked at pixel by pixel.

use std::ops::Range;

use smallvec::SmallVec;

use super::triangle::{Lane, Quad, Triangle};

/// Of corners farther away, in sub-pixels, the products of differences do not fit 64 bits.
const FAR: i64 = 1 << 29;

/// What the distances of points to a line are computed with.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// x · pixel's column + y · pixel's row + constant is twice the area of the triangle of the
    /// edge and the pixel's centre, in sub-pixels; positive inside.
    x: i64,
    y: i64,
    constant: i64,
    /// From this area on no device has the centre on the other side.
    least: i64,
}

/// The quads that a triangle may have pixels of.
#[derive(Clone, Debug)]
pub struct Walk {
    columns: Range<i64>,
    rows: Range<i64>,
    next: [i64; 2],
    /// Nothing, if no pixel is known to be inside before it is looked at.
    sides: SmallVec<[Side; 9]>,
    /// The pixels that lie within the viewport and the area for certain.
    within: [Range<i64>; 2],
    /// The columns of the row's quads that are inside.
    inside: Range<i64>,
}

impl Triangle {
    /// Its quads, row after row.
    pub fn walk(&self) -> Walk {
        let [columns, rows] = self.bounds();
        let within = self.seen_for_certain([&columns, &rows]);
        let sides = within.as_ref().and_then(|_| self.sides([&columns, &rows])).unwrap_or_default();
        let mut walk =
            Walk { next: [columns.start, rows.start], columns, rows, sides, within: within.unwrap_or([0..0, 0..0]), inside: 0..0 };
        walk.begin_row();
        walk
    }

    /// The sides of its boundary; `None` if it does not go round its inside once, or if what covers
    /// pixels is not told by sides alone.
    fn sides(&self, [columns, rows]: [&Range<i64>; 2]) -> Option<SmallVec<[Side; 9]>> {
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let [first, second] = [0, 1].map(|pixel| (self.rules.centre)(pixel, one));
        let step = second - first;
        // The rule may be any; with a constant step, centres are linear.
        let is_linear = |pixel: i64| (self.rules.centre)(pixel, one) == first + step * pixel;
        // A quad goes one pixel beyond an odd end.
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
            // As far as a device may have either end of the edge, as `Triangle::lane` has it, with
            // room for its rounding.
            let reach = (dx.abs() + dy.abs()) as f64 * from.error.max(to.error) * one as f64;
            let constant = dx * (first - from.at[1]) - dy * (first - from.at[0]);
            Side { x: -dy * step, y: dx * step, constant, least: (reach * (1.0 + 1e-8)).ceil() as i64 + 1 }
        });
        Some(sides.collect())
    }
}

impl Walk {
    /// The next place; of the triangle that the walk is through, its quad there, if that has a
    /// pixel which is covered or may be.
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

    /// The next place, if every device covers its four pixels; if not, the walk does not go on.
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

    /// Which columns of a row of quads are inside.
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

    /// The columns of the pixels in a row that are inside of every side.
    fn inside_of(&self, row: i64) -> Range<i64> {
        let [columns, rows] = &self.within;
        if !rows.contains(&row) {
            return 0..0;
        }
        let mut inside = columns.clone();
        for side in &self.sides {
            // x · column >= missing
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
