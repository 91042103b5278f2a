//! Formats of floats, as rules need them.

use crate::number::reference::{Direction, Enclosure};

/// A format whose instructions have rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// 16 bits, with 11 bits of significand.
    Half,
    /// 32 bits, with 24 bits of significand.
    Single,
}

impl Format {
    /// The least normal float: 2^-14, 2^-126.
    pub const fn min(self) -> f64 {
        match self {
            Format::Half => 1.0 / 16384.0,
            Format::Single => f32::MIN_POSITIVE as f64,
        }
    }

    /// The greatest finite float.
    pub const fn max(self) -> f64 {
        match self {
            Format::Half => 65504.0,
            Format::Single => f32::MAX as f64,
        }
    }

    /// The distance of subnormal floats: 2^-24, 2^-149.
    pub const fn spacing(self) -> f64 {
        match self {
            Format::Half => 1.0 / 16_777_216.0,
            Format::Single => f32::from_bits(1) as f64,
        }
    }

    /// The greatest subnormal float.
    pub const fn max_subnormal(self) -> f64 {
        self.min() - self.spacing()
    }

    /// The distance from 1 to the next float: 2^-10, 2^-23.
    pub const fn epsilon(self) -> f64 {
        match self {
            Format::Half => 1.0 / 1024.0,
            Format::Single => f32::EPSILON as f64,
        }
    }

    /// A unit in the last place at a real number: the least distance between two finite floats that
    /// have the number between them or at one end. At a power of two that is the distance below it.
    /// Beyond the greatest float it is the distance at that float.
    pub fn ulp(self, x: f64) -> f64 {
        let magnitude = x.abs();
        if magnitude <= 2.0 * self.min() {
            return self.spacing();
        }
        let bits = magnitude.min(self.max()).to_bits();
        let power = f64::from_bits(bits & !((1 << 52) - 1));
        let unit = power * self.epsilon();
        if magnitude == power { unit / 2.0 } else { unit }
    }

    /// The float to which a number is rounded. An infinity stays itself, and a result of zero keeps
    /// the sign.
    pub fn round(self, direction: Direction, x: f64) -> f64 {
        match self {
            Format::Single => f64::from(direction.round(x)),
            Format::Half if x == 0.0 || !x.is_finite() => x,
            Format::Half => {
                let power = f64::from_bits(x.abs().max(self.min()).to_bits() & !((1 << 52) - 1));
                let unit = power * self.epsilon();
                // A division by a power of two is exact, unless the number is far below all floats:
                // then it is not zero.
                let units = x / unit;
                let whole = match direction {
                    Direction::NearestEven => units.round_ties_even(),
                    Direction::TowardZero => units.trunc(),
                    Direction::Down => units.floor(),
                    Direction::Up => units.ceil(),
                };
                let rounded = (whole * unit).copysign(x);
                if rounded.abs() <= self.max() {
                    return rounded;
                }
                let stays = match direction {
                    Direction::NearestEven => false,
                    Direction::TowardZero => true,
                    Direction::Down => x > 0.0,
                    Direction::Up => x < 0.0,
                };
                (if stays { self.max() } else { f64::INFINITY }).copysign(x)
            }
        }
    }

    /// The float to which every number of an enclosure rounds. `None` if they differ.
    pub fn rounded(self, direction: Direction, exact: Enclosure) -> Option<f64> {
        exact.rounded_by(|x| self.round(direction, x))
    }

    /// The next float toward -∞. The least float of 16 bits gives itself.
    pub fn below(self, x: f64) -> f64 {
        match self {
            Format::Single => f64::from((x as f32).next_down()),
            Format::Half => self.round(Direction::Down, if x == 0.0 { -self.spacing() } else { x.next_down() }).max(-self.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;
    use crate::number::reference::Direction;
    use crate::number::{Half, Real};

    /// Every finite half that is not negative, ascending.
    fn halves() -> Vec<f64> {
        (0..0x7c00).map(|bits| Half::of_bits(bits).wide()).collect()
    }

    #[test]
    fn halves_are_rounded_to_the_floats_around() {
        let (halves, format) = (halves(), Format::Half);
        assert_eq!((halves[1], halves[0x3ff], halves[0x400]), (format.spacing(), format.max_subnormal(), format.min()));
        assert_eq!(halves.last(), Some(&format.max()));
        for pair in halves.windows(2) {
            let [below, above] = [pair[0], pair[1]];
            for part in [0.01, 0.25, 0.5, 0.75, 0.99] {
                let x = below + (above - below) * part;
                let nearest = Half::of(x).wide();
                let rounded = [Direction::Down, Direction::Up, Direction::TowardZero, Direction::NearestEven].map(|d| format.round(d, x));
                assert_eq!(rounded, [below, above, below, nearest], "{x:?}");
                let rounded = [Direction::Down, Direction::Up, Direction::TowardZero, Direction::NearestEven].map(|d| format.round(d, -x));
                assert_eq!(rounded, [-above, -below, -below, -nearest], "{x:?}");
                assert_eq!(format.ulp(x), above - below);
            }
            assert_eq!(format.below(above), below);
            assert!(Direction::ALL.iter().all(|&d| format.round(d, above) == above));
            assert_eq!(format.ulp(above), above - below, "at {above:?}");
        }
        assert_eq!(Direction::ALL.map(|d| format.round(d, 65520.0)), [f64::INFINITY, 65504.0, 65504.0, f64::INFINITY]);
        assert_eq!(Direction::ALL.map(|d| format.round(d, 1e-300)), [0.0, 0.0, 0.0, format.spacing()]);
        assert_eq!((format.below(0.0), format.ulp(1e9)), (-format.spacing(), 32.0));
    }
}
