//! The values that a machine computes: values with what is known about them, or bits alone.

use super::{End, Firing, Sharing};
use crate::lambda_v::builtin::{Builtin, Emit, Resolved, index_below};
use crate::lambda_v::step::Setting;
use crate::lambda_v::syntax::Span;
use crate::lambda_v::terms::{Never, TermId, Terms};
use crate::lambda_v::types::{Elem, Ground, Value};
use crate::number::sets::Sets;
use crate::number::{Four, Op, Trust, bits_of_any, bits_of_vectors};
use crate::rule::Rule;
use smallvec::SmallVec;

/// The values of a run, and the observer of the rules that fire.
pub(super) trait Domain {
    /// A value.
    type Value: Clone;
    /// What is known of the conditions that control depended on.
    type Control: Copy;
    /// No condition yet.
    const NO_CONDITION: Self::Control;

    /// A number by its bits.
    fn number(bits: u32) -> Self::Value;
    /// A Boolean.
    fn boolean(b: bool) -> Self::Value;
    /// The value's type.
    fn ground(value: &Self::Value) -> Ground;
    /// Whether a rec-func continues in the same way with either value as an argument.
    fn is_same_argument(&self, a: &Self::Value, b: &Self::Value) -> bool;
    /// Whether the value of a bound expression is kept.
    fn sharing(&self) -> Sharing;
    /// Reports a rule that fires: the place of its redex, and the value if the rule is δ.
    fn fire(&mut self, rule: Rule, span: impl FnOnce() -> Span, value: Option<&Self::Value>);
    /// δ: applies the builtin of the list to values. `None` if it is not defined on them.
    fn delta(&mut self, builtin: Builtin, values: &[&Self::Value], list: TermId, terms: &Terms<Never>) -> Result<Option<Self::Value>, End>;
    /// Whether an `if` on this Boolean takes the first branch.
    fn decide(&mut self, condition: &Self::Value, list: TermId, terms: &Terms<Never>, control: &mut Self::Control) -> Result<bool, End>;
    /// Limits what is known of a value to what is known of the conditions that it depends on.
    fn controlled(&self, value: &mut Self::Value, control: Self::Control);
}

/// Values with what is known about them, for runs with a sink or over sets.
pub(super) struct Judged<'s, 'w> {
    pub(super) setting: &'s Setting,
    pub(super) sharing: Sharing,
    pub(super) sink: Option<&'w mut dyn FnMut(Firing<'_>)>,
    /// The sets, in a run over sets.
    pub(super) sets: Option<&'w mut Sets>,
}

impl Domain for Judged<'_, '_> {
    type Value = Value;
    type Control = Trust;
    const NO_CONDITION: Trust = Trust::CERTAIN;

    fn number(bits: u32) -> Value {
        Value::num(f32::from_bits(bits))
    }

    fn boolean(b: bool) -> Value {
        Value::bool(b)
    }

    fn ground(value: &Value) -> Ground {
        value.ty
    }

    fn is_same_argument(&self, a: &Value, b: &Value) -> bool {
        let same_cells = || a.lanes.iter().zip(&b.lanes).all(|(a, b)| a.trust.cell == b.trust.cell);
        a.same_bits(b) && (self.sets.is_none() || same_cells())
    }

    fn sharing(&self) -> Sharing {
        self.sharing
    }

    fn fire(&mut self, rule: Rule, span: impl FnOnce() -> Span, value: Option<&Value>) {
        if let Some(sink) = &mut self.sink {
            sink((rule, span(), value));
        }
    }

    fn delta(&mut self, builtin: Builtin, values: &[&Value], list: TermId, terms: &Terms<Never>) -> Result<Option<Value>, End> {
        let Setting { frag_coord, arithmetic, .. } = self.setting;
        match &mut self.sets {
            None => Ok(builtin.apply(values, frag_coord, arithmetic)),
            Some(sets) => {
                sets.stand_at(terms.span(list).start);
                Ok(builtin.apply_over(sets, values, frag_coord, arithmetic)?)
            }
        }
    }

    /// A definite value is known no better than the conditions that it depends on. In a run over
    /// sets the way is known.
    fn decide(&mut self, condition: &Value, list: TermId, terms: &Terms<Never>, control: &mut Trust) -> Result<bool, End> {
        let condition = condition.lanes[0];
        match &mut self.sets {
            None => {
                *control = control.controlled_by(condition.trust);
                Ok(condition.is_true())
            }
            Some(sets) => {
                sets.stand_at(terms.span(list).start);
                Ok(sets.decide(condition)?)
            }
        }
    }

    fn controlled(&self, value: &mut Value, control: Trust) {
        if self.sets.is_none() {
            for lane in &mut value.lanes {
                lane.trust = lane.trust.controlled_by(control);
            }
        }
    }
}

/// A value of at most four components by its bits alone.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    ty: Ground,
    four: Four,
}

impl Bits {
    #[inline]
    fn one(ty: Ground, bits: u32) -> Bits {
        Bits { ty, four: [bits, 0, 0, 0] }
    }

    pub(super) fn components(&self) -> &[u32] {
        &self.four[..self.ty.components()]
    }
}

/// The last overload that a builtin's list used, and the types of its operands.
#[derive(Clone, Copy)]
struct Site {
    /// [`Plain::key`] of the operands.
    key: u32,
    resolved: Resolved,
}

/// Values by their bits alone. Each bound expression is evaluated once, and no sink sees the rules.
/// Matrices of more than two columns end a run as [`End::Wide`].
pub(super) struct Plain {
    /// The fragment's coordinate, by its bits.
    pub(super) frag_coord: Four,
    sites: Vec<Site>,
}

impl Plain {
    /// For runs of a program with this number of terms.
    pub(super) fn new(terms: usize) -> Plain {
        // No operands have this key.
        let unused = Site { key: u32::MAX, resolved: Resolved { emit: Emit::Identity, result: Ground::NUM } };
        Plain { frag_coord: [0; 4], sites: vec![unused; terms] }
    }

    /// The types of at most four operands as a number. For more operands, the types of the
    /// last four.
    #[inline]
    fn key(values: &[&Bits]) -> u32 {
        values.iter().fold(0, |key, value| {
            key << 8
                | match value.ty {
                    Ground::Vec(n, Elem::F) => u32::from(n),
                    Ground::Vec(n, Elem::B) => u32::from(n) | 8,
                    Ground::Mat(n) => u32::from(n) | 16,
                }
        })
    }

    /// Finds the overload for operand types other than the last of this list, and records it.
    #[cold]
    fn resolve(&mut self, builtin: Builtin, values: &[&Bits], list: TermId) -> Result<Option<Resolved>, End> {
        let types: SmallVec<[Ground; 4]> = values.iter().map(|value| value.ty).collect();
        let Some(resolved) = builtin.resolve(&types) else { return Ok(None) };
        if resolved.result.components() > 4 {
            return Err(End::Wide);
        }
        self.sites[list.0 as usize] = Site { key: Plain::key(values), resolved };
        Ok(Some(resolved))
    }

    /// Applies an operation to vectors, or to matrices of two columns.
    #[inline]
    fn compute(op: Op, result: Ground, values: [&Bits; 3], operand_count: usize) -> Bits {
        let [x, y, z] = values;
        let four = match bits_of_vectors(op, x.ty.components(), [&x.four, &y.four, &z.four]) {
            Some(four) => four,
            None => Plain::compute_any(op, &values[..operand_count]),
        };
        Bits { ty: result, four }
    }

    #[cold]
    fn compute_any(op: Op, values: &[&Bits]) -> Four {
        let args: SmallVec<[_; 3]> = values.iter().map(|value| (value.components(), value.ty.columns())).collect();
        let mut four = [0; 4];
        four.iter_mut().zip(bits_of_any(op, &args)).for_each(|(lane, bits)| *lane = bits);
        four
    }
}

impl Domain for Plain {
    type Value = Bits;
    type Control = ();
    const NO_CONDITION: () = ();

    #[inline]
    fn number(bits: u32) -> Bits {
        Bits::one(Ground::NUM, bits)
    }

    #[inline]
    fn boolean(b: bool) -> Bits {
        Bits::one(Ground::BOOL, b.into())
    }

    #[inline]
    fn ground(value: &Bits) -> Ground {
        value.ty
    }

    fn is_same_argument(&self, a: &Bits, b: &Bits) -> bool {
        a.ty == b.ty && a.components() == b.components()
    }

    #[inline]
    fn sharing(&self) -> Sharing {
        Sharing::ByNeed
    }

    #[inline]
    fn fire(&mut self, _: Rule, _: impl FnOnce() -> Span, _: Option<&Bits>) {}

    #[inline(always)]
    fn delta(&mut self, builtin: Builtin, values: &[&Bits], list: TermId, _: &Terms<Never>) -> Result<Option<Bits>, End> {
        let site = self.sites[list.0 as usize];
        // A list always has the same number of operands, and most have the same types each time.
        let Resolved { emit, result } = if site.key == Plain::key(values) {
            site.resolved
        } else {
            match self.resolve(builtin, values, list)? {
                Some(resolved) => resolved,
                None => return Ok(None),
            }
        };
        Ok(Some(match emit {
            Emit::Compute(op) => match *values {
                [x] => Plain::compute(op, result, [x; 3], 1),
                [x, y] => Plain::compute(op, result, [x, y, y], 2),
                [x, y, z] => Plain::compute(op, result, [x, y, z], 3),
                _ => unreachable!("no operation takes as many operands as {}", values.len()),
            },
            Emit::Swapped(op) => Plain::compute(op, result, [values[1], values[0], values[0]], 2),
            Emit::Construct => {
                let mut four = [0; 4];
                let components = values.iter().flat_map(|value| value.components());
                four.iter_mut().zip(components).for_each(|(lane, &bits)| *lane = bits);
                Bits { ty: result, four }
            }
            Emit::Extract(i) => Bits::one(result, values[0].four[i as usize]),
            Emit::Column => {
                let n = values[1].ty.columns();
                let Some(i) = index_below(f32::from_bits(values[0].four[0]), n) else { return Ok(None) };
                let mut four = [0; 4];
                four[..n].copy_from_slice(&values[1].components()[i * n..(i + 1) * n]);
                Bits { ty: result, four }
            }
            Emit::Identity => *values[0],
            Emit::FragCoord => Bits { ty: result, four: self.frag_coord },
        }))
    }

    #[inline]
    fn decide(&mut self, condition: &Bits, _: TermId, _: &Terms<Never>, (): &mut ()) -> Result<bool, End> {
        Ok(condition.four[0] != 0)
    }

    #[inline]
    fn controlled(&self, _: &mut Bits, (): ()) {}
}
