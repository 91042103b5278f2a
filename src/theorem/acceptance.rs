//! How tightly the components of programs are bounded: counts for campaigns.

use serde_json::{Value, json};
use smallstep_semantics::number::Expected;
use smallstep_semantics::number::sets::Cause;
use std::collections::BTreeMap;

/// The numbers of components, by what a device must show in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// Components with one allowed value, or a zero of either sign.
    pub points: u64,
    /// Components with a bounded set of several allowed values.
    pub bounded: u64,
    /// Components that allow anything: no bound is stated, or a NaN or an infinity is allowed.
    pub any: u64,
    /// Components that are not known: the runs over sets ended before every way was followed.
    pub undecided: u64,
    /// The number of components that allow anything, by the instruction that was the first without
    /// a bound. Components that are NaN or infinite on every device are not counted.
    pub causes: BTreeMap<String, u64>,
    /// The number of bounded sets, by the class of their width ([`class`]).
    widths: BTreeMap<u32, u64>,
}

/// The class of a width. Below 16, each width is a class. Above, each power of two has
/// four classes.
fn class(width: u32) -> u32 {
    match width {
        0..16 => width,
        _ => 4 * width.ilog2() + (width >> (width.ilog2() - 2) & 3),
    }
}

/// The least width of a class.
fn least_width(class: u32) -> u32 {
    match class {
        0..16 => class,
        _ => (4 + class % 4) << (class / 4 - 2),
    }
}

impl Acceptance {
    /// Adds components of one pixel. `unsettled`: not every way was followed. `cause` says why the
    /// component with an index has no bound.
    pub fn count<'a>(&mut self, components: &[Expected], unsettled: bool, cause: impl Fn(usize) -> Option<&'a Cause>) {
        for (i, expected) in components.iter().enumerate() {
            match expected {
                Expected::Bits(_) | Expected::Zero => self.points += 1,
                Expected::Within(set) => {
                    self.bounded += 1;
                    *self.widths.entry(class(set.width_in_floats())).or_default() += 1;
                }
                Expected::Undecided(_) if unsettled => self.undecided += 1,
                Expected::Undecided(_) => {
                    self.any += 1;
                    if let Some(instruction) = cause(i).and_then(|cause| cause.instruction) {
                        *self.causes.entry(instruction.to_string()).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Acceptance) {
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n);
        add(&mut self.points, other.points);
        add(&mut self.bounded, other.bounded);
        add(&mut self.any, other.any);
        add(&mut self.undecided, other.undecided);
        for (cause, &n) in &other.causes {
            add(self.causes.entry(cause.clone()).or_default(), n);
        }
        for (&class, &n) in &other.widths {
            add(self.widths.entry(class).or_default(), n);
        }
    }

    /// The number of all components.
    pub fn all(&self) -> u64 {
        [self.bounded, self.any, self.undecided].into_iter().fold(self.points, u64::saturating_add)
    }

    /// The median width of the bounded sets, in units in the last place. It is exact below 16.
    /// Above, it is rounded down by less than a fifth.
    pub fn median_width(&self) -> Option<u32> {
        let mut cumulative = 0u64;
        for (&class, &n) in &self.widths {
            cumulative = cumulative.saturating_add(n);
            if cumulative >= self.bounded.div_ceil(2) {
                return Some(least_width(class));
            }
        }
        None
    }

    /// The instructions that leave most components without a bound, at most `most` of them, with
    /// their numbers of components: `GLSL.std.450 Asin 50, OpFDiv 12`.
    pub fn causes_text(&self, most: usize) -> Option<String> {
        let mut causes: Vec<(&String, &u64)> = self.causes.iter().collect();
        causes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let texts: Vec<String> = causes.iter().take(most).map(|(cause, n)| format!("{cause} {n}")).collect();
        let rest = causes.iter().skip(most).fold(0u64, |rest, (_, n)| rest.saturating_add(**n));
        let rest = if rest > 0 { format!(", others {rest}") } else { String::new() };
        (!texts.is_empty()).then(|| texts.join(", ") + &rest)
    }

    /// As JSON. Widths are pairs of a class's least width and the number of sets.
    pub fn to_json(&self) -> Value {
        let widths: Vec<[u64; 2]> = self.widths.iter().map(|(&class, &n)| [least_width(class).into(), n]).collect();
        json!({"points": self.points, "bounded": self.bounded, "any": self.any, "undecided": self.undecided, "widths": widths,
            "causes": self.causes})
    }

    /// The inverse.
    pub fn from_json(value: &Value) -> Option<Acceptance> {
        let number = |key: &str| value.get(key)?.as_u64();
        let width = |pair: &Value| Some((class(u32::try_from(pair.get(0)?.as_u64()?).ok()?), pair.get(1)?.as_u64()?));
        let cause = |(cause, n): (&String, &Value)| Some((cause.clone(), n.as_u64()?));
        Some(Acceptance {
            points: number("points")?,
            bounded: number("bounded")?,
            any: number("any")?,
            undecided: number("undecided")?,
            causes: value.get("causes")?.as_object()?.iter().map(cause).collect::<Option<_>>()?,
            widths: value.get("widths")?.as_array()?.iter().map(width).collect::<Option<_>>()?,
        })
    }
}

/// `61000 points, 2000 bounded (median width 5 ULP), 400 any, 12 undecided`.
impl std::fmt::Display for Acceptance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} points, {} bounded", self.points, self.bounded)?;
        if let Some(width) = self.median_width() {
            write!(f, " (median width {width} ULP)")?;
        }
        write!(f, ", {} any, {} undecided", self.any, self.undecided)
    }
}

#[cfg(test)]
mod tests {
    use super::{Acceptance, class, least_width};
    use smallstep_semantics::number::sets::{Cause, Set, Span};
    use smallstep_semantics::number::{Expected, Op, Why};

    #[test]
    fn a_class_holds_its_least_width_and_the_median_is_one() {
        for width in (0..10_000).chain([u32::MAX / 2, u32::MAX - 1, u32::MAX]) {
            let least = least_width(class(width));
            assert!(
                least <= width && class(least) == class(width) && f64::from(width) < 1.26 * f64::from(least).max(1.0),
                "{width} {least}"
            );
        }
        let mut acceptance = Acceptance::default();
        let sets = [2, 3, 40].map(|n| Set::of(Span { low: 1.0, high: 1.0 + f64::from(n) * f64::from(f32::EPSILON) }));
        let lanes = [Expected::Bits(1), Expected::Zero, Expected::Undecided(Why::Domain)];
        let cause = Cause { place: 7, instruction: Some(Op::Sin.instruction()), operands: Default::default() };
        acceptance.count(&sets.map(Expected::Within), false, |_| None);
        acceptance.count(&lanes, false, |i| (i == 2).then_some(&cause));
        acceptance.count(&lanes[2..], true, |_| Some(&cause));
        assert_eq!(acceptance.causes.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(), [("GLSL.std.450 Sin", 1)]);
        assert_eq!(acceptance.to_string(), "2 points, 3 bounded (median width 3 ULP), 1 any, 1 undecided");
        assert_eq!(acceptance.causes_text(1).as_deref(), Some("GLSL.std.450 Sin 1"));
        let two = Acceptance { causes: [("a".to_string(), 1), ("b".to_string(), 2)].into(), ..Acceptance::default() };
        assert_eq!((two.causes_text(1).as_deref(), two.causes_text(2).as_deref()), (Some("b 2, others 1"), Some("b 2, a 1")));
        assert_eq!(Acceptance::from_json(&acceptance.to_json()).as_ref(), Some(&acceptance));
        let mut twice = acceptance.clone();
        twice.add(&acceptance);
        assert_eq!((twice.all(), twice.median_width()), (14, Some(3)));
    }
}
