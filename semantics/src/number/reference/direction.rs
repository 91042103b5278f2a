//! Rounding from 64-bit floats to 32-bit ones in a direction.

/// A rounding direction (IEEE 754 §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the nearest float; of two equally near, to the one with the even
    /// significand: RoundingModeRTE.
    NearestEven,
    /// To the nearest float that is not further from zero: RoundingModeRTZ.
    TowardZero,
    /// To the greatest float not above.
    Down,
    /// To the least float not below.
    Up,
}

impl Direction {
    /// All four.
    pub const ALL: [Direction; 4] = [Direction::NearestEven, Direction::TowardZero, Direction::Down, Direction::Up];

    /// The 64-bit float, rounded. A NaN stays a NaN, an infinity stays itself, and a result of zero
    /// keeps the sign of `x`.
    #[inline]
    pub fn round(self, x: f64) -> f32 {
        let nearest = x as f32;
        let wide = f64::from(nearest);
        match self {
            Direction::NearestEven => nearest,
            Direction::Down if wide > x => nearest.next_down(),
            Direction::Up if wide < x => nearest.next_up(),
            Direction::TowardZero if wide.abs() > x.abs() => {
                if x < 0.0 {
                    nearest.next_up()
                } else {
                    nearest.next_down()
                }
            }
            _ => nearest,
        }
    }
}
