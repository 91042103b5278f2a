//! Simulated devices on concrete floats. They draw every choice that the precision rules leave
//! open. A result of `None` means that the device may have anything.
//!
//! Nothing here is taken from the rules under test. Rounding is by the host's 32-bit arithmetic and
//! 64-bit remainders, and functions are the host's 64-bit ones. Errors are therefore kept a
//! millionth inside of their bounds.

use super::inputs::Random;
use smallstep_semantics::number::{Controls, Denormals, Rounding};

/// A device under some controls, which executes one instruction. Controls and instruction decide
/// whether it keeps special values.
pub struct Device<'r> {
    pub random: &'r mut Random,
    pub controls: Controls,
    /// Whether the instruction is OpFNegate, OpFAdd, OpFSub, OpFMul or OpTranspose.
    pub listed: bool,
}

/// A term of a sum: a value, or a product that may be fused.
#[derive(Clone, Copy, Debug)]
pub enum Term {
    Value(f32),
    Product(f32, f32),
}

/// The exact sum of two numbers, as the rounded sum and the remainder.
fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// The least b - a of finite floats a ≤ x ≤ b, with a < b.
pub fn ulp(x: f64) -> f64 {
    let nearest = (x as f32).clamp(-f32::MAX, f32::MAX);
    let gap = |a: f32, b: f32| f64::from(b) - f64::from(a);
    let wide = f64::from(nearest);
    let (down, up) = (gap(nearest.next_down().max(-f32::MAX), nearest), gap(nearest, nearest.next_up().min(f32::MAX)));
    let least = [down, up].into_iter().filter(|&gap| gap > 0.0).fold(f64::INFINITY, f64::min);
    if x == wide || x.abs() > f64::from(f32::MAX) {
        least
    } else if x > wide {
        up
    } else {
        down
    }
}

impl Device<'_> {
    pub fn coin(&mut self) -> bool {
        self.random.below(2) == 0
    }

    fn zero(&mut self) -> f32 {
        if self.coin() { 0.0 } else { -0.0 }
    }

    fn keeps(&self) -> bool {
        self.listed && self.controls.keeps_special
    }

    fn may_flush(&self) -> bool {
        !(self.listed && self.controls.denormals == Denormals::Preserve)
    }

    /// An operand as the device takes it: perhaps flushed, and a zero of any sign if signs are not
    /// kept. `None` for an infinity or NaN that is not kept.
    pub fn operand(&mut self, x: f32) -> Option<f32> {
        if !x.is_finite() && !self.keeps() {
            return None;
        }
        let flushes = x.is_subnormal() && self.may_flush() && self.coin();
        Some(if flushes || x == 0.0 && !self.keeps() { self.zero() } else { x })
    }

    /// A result that needs no rounding. `None` for an infinity or NaN that is not kept.
    pub fn result(&mut self, x: f32) -> Option<f32> {
        if !x.is_finite() && !self.keeps() {
            return None;
        }
        let must = self.listed && self.controls.denormals == Denormals::Flush;
        let flushes = x.is_subnormal() && self.may_flush() && (must || self.coin());
        Some(if flushes || x == 0.0 && !self.keeps() { self.zero() } else { x })
    }

    /// Rounds the exact number high + low. `nearest` is its rounding to nearest even.
    fn round(&mut self, (high, low): (f64, f64), nearest: f32) -> Option<f32> {
        let wide = f64::from(nearest);
        let is_exact = high == wide && low == 0.0;
        if is_exact && (nearest == 0.0 || !nearest.is_subnormal()) {
            return self.result(nearest);
        }
        if high.abs() > f64::from(f32::MAX) || high.abs() == f64::from(f32::MAX) && low * high > 0.0 {
            let most = if self.coin() { f32::MAX } else { f32::INFINITY };
            return self.result(most.copysign(high as f32));
        }
        let tiny = f64::from(f32::MIN_POSITIVE);
        let is_tiny = high.abs() < tiny || high.abs() == tiny && low * high < 0.0;
        if is_tiny && self.may_flush() && (self.coin() || self.listed && self.controls.denormals == Denormals::Flush) {
            return Some(self.zero());
        }
        if is_exact {
            return self.result(nearest);
        }
        let above = high > wide || high == wide && low > 0.0;
        let (down, up) = if above { (nearest, nearest.next_up()) } else { (nearest.next_down(), nearest) };
        let rounded = self.choose(down, nearest, up, high > 0.0);
        self.result(rounded)
    }

    /// Chooses between the floats `down` and `up` around a number, by the rounding mode. `nearest`
    /// is the float that is nearest to the number.
    pub fn choose(&mut self, down: f32, nearest: f32, up: f32, is_positive: bool) -> f32 {
        let goes_up = match self.controls.rounding {
            Rounding::NearestEven => return nearest,
            Rounding::Either => self.coin(),
            Rounding::TowardZero => !is_positive,
        };
        if goes_up { up } else { down }
    }

    pub fn add(&mut self, x: f32, y: f32) -> Option<f32> {
        let (x, y) = (self.operand(x)?, self.operand(y)?);
        if !x.is_finite() || !y.is_finite() {
            return self.result(x + y);
        }
        let (high, low) = two_sum(x.into(), y.into());
        if high == 0.0 && x != 0.0 && self.controls.rounding == Rounding::Either {
            return Some(self.zero());
        }
        self.round((high, low), x + y)
    }

    pub fn sub(&mut self, x: f32, y: f32) -> Option<f32> {
        self.add(x, -y)
    }

    /// x - y for finite operands. They are not flushed again.
    pub fn exact_difference(&mut self, x: f32, y: f32) -> Option<f32> {
        self.round(two_sum(x.into(), -f64::from(y)), x - y)
    }

    /// Rounds an exact number. `nearest` is its rounding to nearest even.
    pub fn exact(&mut self, exact: f64, nearest: f32) -> Option<f32> {
        self.round((exact, 0.0), nearest)
    }

    pub fn mul(&mut self, x: f32, y: f32) -> Option<f32> {
        let (x, y) = (self.operand(x)?, self.operand(y)?);
        if !x.is_finite() || !y.is_finite() {
            return self.result(x * y);
        }
        self.round((f64::from(x) * f64::from(y), 0.0), x * y)
    }

    pub fn fma(&mut self, x: f32, y: f32, z: f32) -> Option<f32> {
        let (x, y, z) = (self.operand(x)?, self.operand(y)?, self.operand(z)?);
        let exact = two_sum(f64::from(x) * f64::from(y), z.into());
        self.round(exact, x.mul_add(y, z))
    }

    /// A float in [x - error, x + error], often at an end. `None` if the interval exceeds the
    /// finite floats.
    pub fn near(&mut self, x: f64, error: f64) -> Option<f32> {
        let error = error * (1.0 - 1e-6);
        let (low, high) = (x - error, x + error);
        if !(low.abs() <= f64::from(f32::MAX) && high.abs() <= f64::from(f32::MAX)) {
            return None;
        }
        let mut least = low as f32;
        if f64::from(least) < low {
            least = least.next_up();
        }
        let mut greatest = high as f32;
        if f64::from(greatest) > high {
            greatest = greatest.next_down();
        }
        let tiny = f64::from(f32::MIN_POSITIVE);
        if low < tiny && high > -tiny && x != 0.0 && self.random.below(4) == 0 {
            return Some(self.zero());
        }
        let part = self.random.below(1001) as f64 / 1000.0;
        let chosen = match self.random.below(4) {
            0 => least,
            1 => greatest,
            _ => ((low + (high - low) * part) as f32).clamp(least.min(greatest), greatest.max(least)),
        };
        self.result(chosen)
    }

    pub fn within_ulps(&mut self, x: f64, n: f64) -> Option<f32> {
        self.near(x, n * ulp(x))
    }

    pub fn div(&mut self, x: f32, y: f32) -> Option<f32> {
        let (x, y) = (self.operand(x)?, self.operand(y)?);
        if !(f32::MIN_POSITIVE..=2f32.powi(126)).contains(&y.abs()) {
            return None;
        }
        self.within_ulps(f64::from(x) / f64::from(y), 2.5)
    }

    /// A function with an error that is stated in ULP or absolutely, or Sqrt, which inherits
    /// its error.
    pub fn function(&mut self, name: &str, x: f32) -> Option<f32> {
        let x = self.operand(x)?;
        let wide = f64::from(x);
        match name {
            "Exp" => self.within_ulps(wide.exp(), 3.0 + 2.0 * wide.abs()),
            "Exp2" => self.within_ulps(wide.exp2(), 3.0 + 2.0 * wide.abs()),
            "Log" | "Log2" if x <= 0.0 => None,
            "Log" | "Log2" => {
                let exact = if name == "Log" { wide.ln() } else { wide.log2() };
                if (0.5..=2.0).contains(&x) { self.near(exact, 2f64.powi(-21)) } else { self.within_ulps(exact, 3.0) }
            }
            "InverseSqrt" if x > 0.0 => self.within_ulps(1.0 / wide.sqrt(), 2.0),
            "Sin" if wide.abs() <= std::f64::consts::PI => self.near(wide.sin(), 2f64.powi(-11)),
            "Cos" if wide.abs() <= std::f64::consts::PI => self.near(wide.cos(), 2f64.powi(-11)),
            "Atan" => self.within_ulps(wide.atan(), 4096.0),
            "Sqrt" => {
                let root = self.function("InverseSqrt", x)?;
                let root = self.div(1.0, root)?;
                self.inherited(wide.sqrt(), root)
            }
            _ => None,
        }
    }

    pub fn atan2(&mut self, y: f32, x: f32) -> Option<f32> {
        let (y, x) = (self.operand(y)?, self.operand(x)?);
        let normal = (f32::MIN_POSITIVE..=2f32.powi(126)).contains(&x.abs()) && y.abs() >= f32::MIN_POSITIVE;
        if y == 0.0 && x == 0.0 || self.controls.wgsl && !normal {
            return None;
        }
        self.within_ulps(f64::from(y).atan2(x.into()), 4096.0)
    }

    /// The result of an instruction whose formula gives `value`: that value, or a float that is
    /// about as near to the exact result on its other side.
    pub fn inherited(&mut self, exact: f64, value: f32) -> Option<f32> {
        let error = (exact - f64::from(value)).abs();
        let mirrored = (exact + (exact - f64::from(value))) as f32;
        let is_within = (f64::from(mirrored) - exact).abs() <= error * (1.0 - 1e-3);
        if mirrored.is_finite() && is_within && self.coin() { self.result(mirrored) } else { Some(value) }
    }

    /// Sums the terms in any order, as any tree, fused or not.
    pub fn sum(&mut self, mut terms: Vec<Term>) -> Option<f32> {
        while terms.len() > 1 {
            let left = self.random.below(terms.len());
            let left = terms.swap_remove(left);
            let right = self.random.below(terms.len());
            let right = terms.swap_remove(right);
            let sum = match left {
                Term::Product(x, y) if self.coin() => {
                    let right = self.term(right)?;
                    self.fma(x, y, right)?
                }
                _ => {
                    let (left, right) = (self.term(left)?, self.term(right)?);
                    self.add(left, right)?
                }
            };
            terms.push(Term::Value(sum));
        }
        self.term(terms[0])
    }

    fn term(&mut self, term: Term) -> Option<f32> {
        match term {
            Term::Value(x) => Some(x),
            Term::Product(x, y) => self.mul(x, y),
        }
    }

    /// x·y + z, fused or not.
    pub fn product_sum(&mut self, x: f32, y: f32, z: f32) -> Option<f32> {
        self.sum(vec![Term::Product(x, y), Term::Value(z)])
    }

    pub fn dot(&mut self, pairs: &[(f32, f32)]) -> Option<f32> {
        let value = self.sum(pairs.iter().map(|&(x, y)| Term::Product(x, y)).collect())?;
        let exact = pairs.iter().map(|&(x, y)| f64::from(x) * f64::from(y)).sum();
        self.inherited(exact, value)
    }
}
