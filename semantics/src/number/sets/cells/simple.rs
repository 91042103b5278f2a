//! Fast paths of [`Sets::widen`] for operations on one component and for dot products, in
//! environments where results may be rewritten.
//!
//! The sign of a difference is *plain* if the difference exceeds a bound on its error that needs
//! neither a division nor a set ([`Polynomial::is_plainly_negative`]). A plain sign decides a
//! comparison, and which operand Abs, Min or Max returns. Everything else takes the general path.

use smallvec::SmallVec;

use super::super::moving::Side;
use super::super::passing::{self, ComponentBound};
use super::super::rewriting::{self, LOST, Polynomial};
use super::super::rules::{self, Truth};
use super::{CellId, Content, Origin, Rules, Sets, Unsettled};
use crate::number::rules::doubt_of_rounded;
use crate::number::{Lane, Op, Trust, Why, apply, composite, scalar, trust};

/// The most quotients in the table.
const QUOTIENTS: usize = 1 << 11;

/// A bounded quotient of two floats without cells: its operands and the index of its float.
#[derive(Clone, Debug)]
pub(super) struct Quotient {
    operands: [Lane; 2],
    float: u32,
}

/// An open float with its own cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The definite value, neither zero nor a NaN.
    pub(crate) value: f32,
    doubt: Option<Why>,
    cell: CellId,
}

impl Open {
    #[inline(always)]
    pub(crate) fn trust(self) -> Trust {
        Trust { doubt: self.doubt, zero_sign: true, grid: None, cell: Some(self.cell) }
    }
}

/// The result of a comparison of two different numbers, given whether the first is less.
#[inline(always)]
fn holds(op: Op, is_below: bool) -> bool {
    match op {
        Op::LessThan | Op::LessThanEqual => is_below,
        Op::GreaterThan | Op::GreaterThanEqual => !is_below,
        _ => op == Op::NotEqual,
    }
}

impl Rules {
    /// Whether these fast paths apply: no test has planted another rule for them.
    pub(super) fn are_usual(&self) -> bool {
        let usual = Rules::default();
        std::ptr::fn_addr_eq(self.polynomials, usual.polynomials)
            && std::ptr::fn_addr_eq(self.bound, usual.bound)
            && std::ptr::fn_addr_eq(self.passed, usual.passed)
            && std::ptr::fn_addr_eq(self.compared_moved, usual.compared_moved)
    }
}

impl Sets {
    /// An operand's polynomial, why it is in doubt, and whether it is open. `trust` is its trust,
    /// if that differs from [`Trust::of_exact`].
    #[inline(always)]
    fn operand_parts(&self, value: f32, trust: Option<&Trust>) -> Option<(Polynomial, Option<Why>, bool)> {
        let Some(trust) = trust else { return Some((Polynomial::leaf(value), None, false)) };
        if let Some(grid) = trust.grid {
            return Some((Polynomial::certified(value, grid), trust.doubt, false));
        }
        let polynomial = match self.content(trust.cell?) {
            Content::Polynomial(polynomial) => *polynomial,
            Content::Float(at) => self.float(at).polynomial?,
            Content::Boolean(..) => return None,
        };
        Some((polynomial, trust.doubt, true))
    }

    /// Computes what [`Sets::simple`] does if an operand is open and the result is plain, and
    /// `None` otherwise. Operands are values with the trust that differs from [`Trust::of_exact`].
    #[inline(always)]
    pub(crate) fn plainly(&mut self, op: Op, x: (f32, Option<&Trust>), y: (f32, Option<&Trust>)) -> Option<Open> {
        let ((p, p_doubt, p_open), (q, q_doubt, q_open)) = (self.operand_parts(x.0, x.1)?, self.operand_parts(y.0, y.1)?);
        if !(p_open || q_open) || !self.is_usual {
            return None;
        }
        let (a, b) = (x.0, y.0);
        match op {
            Op::Add | Op::Sub | Op::Mul => {
                let value = match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    _ => a * b,
                };
                let polynomial = rewriting::simple(op, p, q);
                // The general path has the rules for the sign of a zero.
                if value == 0.0 || value.is_nan() || !polynomial.is_bounded() {
                    return None;
                }
                let doubt = doubt_of_rounded(op, (a, p_doubt), (b, q_doubt), value);
                let cell = self.new_polynomial(polynomial).ok()?;
                Some(Open { value, doubt, cell })
            }
            Op::Abs | Op::Min | Op::Max => {
                let is_unary = op == Op::Abs;
                let is_below = if is_unary { p } else { p.compared_with(q) }.is_plainly_negative()?;
                let is_x = is_unary || is_below == (op == Op::Min);
                let (value, chosen) = if is_x { (a, x.1) } else { (b, y.1) };
                let value = if is_unary { value.abs() } else { value };
                let id = chosen.filter(|trust| trust.grid.is_none())?.cell?;
                let Content::Polynomial(&polynomial) = self.content(id) else { return None };
                let cell = if is_unary && is_below { self.new_polynomial(-polynomial).ok()? } else { id };
                if value == 0.0 || value.is_nan() {
                    return None;
                }
                let doubt = p_doubt.or_else(|| trust::special(a)).or(q_doubt).or_else(|| trust::special(b));
                Some(Open { value, doubt, cell })
            }
            _ => None,
        }
    }

    /// Compares two floats if an operand is open and the result is plain, and returns `None`
    /// otherwise. Operands are those of [`Sets::plainly`]. The result has a trust if it is open.
    #[inline(always)]
    pub(crate) fn compared_plainly(&mut self, op: Op, x: (f32, Option<&Trust>), y: (f32, Option<&Trust>)) -> Option<(bool, Option<Trust>)> {
        let ((p, p_doubt, p_open), (q, q_doubt, q_open)) = (self.operand_parts(x.0, x.1)?, self.operand_parts(y.0, y.1)?);
        if !(p_open || q_open) || !self.is_usual {
            return None;
        }
        let difference = p.compared_with(q);
        if let Some(is_below) = difference.is_plainly_negative() {
            return Some((holds(op, is_below), None));
        }
        let is_polynomial = |trust: Option<&Trust>| match trust.and_then(|trust| trust.cell.filter(|_| trust.grid.is_none())) {
            Some(id) => matches!(self.content(id), Content::Polynomial(_)),
            None => true,
        };
        if !is_polynomial(x.1) || !is_polynomial(y.1) {
            return None;
        }
        if !difference.is_bounded() {
            // Like `compared_moved`: the errors of both sides and of moving terms, without the
            // divisors that leave the difference unbounded.
            let error = p.plain_error()? + q.plain_error()? + (p + q).plain_error()? + 4.0 * LOST;
            return ((p.value - q.value).abs() > error).then(|| (holds(op, p.value < q.value), None));
        }
        // Moving terms of polynomials gives no more than their difference does.
        if !difference.is_plainly_open() {
            return None;
        }
        let doubt = p_doubt.or_else(|| trust::special(x.0)).or(q_doubt).or_else(|| trust::special(y.0));
        let cell = self.new_boolean(Truth::BOTH, Origin::Otherwise).ok()?;
        Some((scalar::comparison(op, x.0, y.0), Some(Trust { doubt, zero_sign: true, grid: None, cell: Some(cell) })))
    }

    /// Computes a dot product if an operand is open and the result is plain, and returns `None`
    /// otherwise. Operands are those of [`Sets::plainly`].
    #[inline]
    pub(crate) fn dot_plainly<'a>(&mut self, pairs: impl Iterator<Item = [(f32, Option<&'a Trust>); 2]>) -> Option<Open> {
        let (mut sum, mut doubt, mut any_open): (Option<(f32, Polynomial)>, _, _) = (None, None, false);
        for [x, y] in pairs {
            let ((p, p_doubt, p_open), (q, q_doubt, q_open)) = (self.operand_parts(x.0, x.1)?, self.operand_parts(y.0, y.1)?);
            any_open |= p_open || q_open;
            doubt = doubt.or(p_doubt).or_else(|| trust::special(x.0)).or(q_doubt).or_else(|| trust::special(y.0));
            let term = (x.0 * y.0, p * q);
            sum = Some(sum.map_or(term, |(value, polynomial)| (value + term.0, polynomial + term.1)));
        }
        let (value, polynomial) = sum?;
        // Without a doubt the result may have a certificate, which the general path finds.
        let is_plain = any_open && self.is_usual && doubt.is_some() && value != 0.0 && !value.is_nan() && polynomial.is_bounded();
        if !is_plain {
            return None;
        }
        let cell = self.new_polynomial(polynomial).ok()?;
        Some(Open { value, doubt, cell })
    }

    /// Whether [`Sets::simple`] computes this operation.
    pub(crate) fn is_simple(&self, op: Op) -> bool {
        use Op::{Abs, Add, Div, Equal, GreaterThan, GreaterThanEqual, LessThan, LessThanEqual, Max, Min, Mul, Negate, NotEqual, Sub};
        let arithmetic = matches!(op, Add | Sub | Mul | Div | Negate | Abs | Min | Max);
        let compares = matches!(op, LessThan | LessThanEqual | GreaterThan | GreaterThanEqual | Equal | NotEqual);
        self.rewrites() && (arithmetic || compares)
    }

    /// Does what [`Sets::apply`] does for a simple operation on one component. An operation with
    /// one operand gets it twice. A comparison with one possible result is decided.
    #[inline(always)]
    pub(crate) fn simple(&mut self, op: Op, x: Lane, y: Lane) -> Result<Lane, Unsettled> {
        let result = apply::simple(op, x, y);
        if result.trust.is_decided(self.profile) {
            return Ok(result);
        }
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Negate => self.polynomial_of(op, x, y, result),
            Op::Abs | Op::Min | Op::Max => self.chosen(op, x, y, result),
            Op::Div => self.divided(x, y, result),
            _ => self.compared(op, x, y, result),
        }
    }

    #[inline(always)]
    fn is_leaf(lane: Lane) -> bool {
        lane.trust.grid.is_some_and(|grid| grid.leaf)
    }

    /// Takes the general path, [`Sets::widen`].
    #[cold]
    #[inline(never)]
    fn by_general_path(&mut self, op: Op, x: Lane, y: Lane, mut result: Lane) -> Result<Lane, Unsettled> {
        let args: [(&[Lane], usize); 2] = [(&[x], 1), (&[y], 1)];
        self.widen(op.instruction(), &args[..op.arity()], std::slice::from_mut(&mut result))?;
        Ok(result)
    }

    #[inline(always)]
    fn polynomial_of(&mut self, op: Op, x: Lane, y: Lane, mut result: Lane) -> Result<Lane, Unsettled> {
        let polynomials = (self.polynomial(x), self.polynomial(y));
        let (Some(p), Some(q), true, false) = (polynomials.0, polynomials.1, self.is_usual, Sets::is_leaf(x) && Sets::is_leaf(y)) else {
            return self.by_general_path(op, x, y, result);
        };
        let args: [(&[Lane], usize); 2] = [(&[x], 1), (&[y], 1)];
        self.set_polynomial(&mut result, rewriting::simple(op, p, q), op.instruction(), &args[..op.arity()])?;
        Ok(result)
    }

    /// Whether x < y, if the sign of the difference is plain.
    #[inline(always)]
    fn is_plainly_below(&self, x: Lane, y: Lane) -> Option<bool> {
        self.is_usual.then_some(())?;
        self.polynomial(x)?.compared_with(self.polynomial(y)?).is_plainly_negative()
    }

    /// Computes Abs, Min or Max. If the sign is plain, the result is one of the operands or its
    /// negation, with all that is known of it.
    #[inline(always)]
    fn chosen(&mut self, op: Op, x: Lane, y: Lane, mut result: Lane) -> Result<Lane, Unsettled> {
        let (chosen, negated) = match (op, self.is_plainly_below(x, if op == Op::Abs { Lane::exact(0.0) } else { y })) {
            (_, None) => return self.by_general_path(op, x, y, result),
            (Op::Abs, Some(is_below)) => (x, is_below),
            (_, Some(is_below)) => (if is_below == (op == Op::Min) { x } else { y }, false),
        };
        if let (None, Some(id)) = (chosen.trust.grid, chosen.trust.cell)
            && let Content::Polynomial(&polynomial) = self.content(id)
        {
            result.trust.cell = Some(if negated { self.new_polynomial(-polynomial)? } else { id });
            return Ok(result);
        }
        let args: [(&[Lane], usize); 2] = [(&[x], 1), (&[y], 1)];
        let component = self.component_bound(chosen);
        self.set_cell(&mut result, if negated { component.negated() } else { component }, op.instruction(), &args[..op.arity()])?;
        Ok(result)
    }

    fn divided(&mut self, x: Lane, y: Lane, mut result: Lane) -> Result<Lane, Unsettled> {
        let (Some(p), Some(q), true) = (self.polynomial(x), self.polynomial(y), self.is_usual) else {
            return self.by_general_path(Op::Div, x, y, result);
        };
        // Quotients of floats without cells repeat, such as pixel centres over the picture's size.
        // A table holds them.
        let (key, operands, is_cacheable) = ((x.bits, y.bits), [x, y], x.trust.cell.is_none() && y.trust.cell.is_none());
        if is_cacheable && let Some(quotient) = self.quotients.get(&key).filter(|quotient| quotient.operands == operands) {
            let float = quotient.float;
            result.trust.cell = Some(self.same_float(float)?);
            return Ok(result);
        }
        let component = self.quotient(operands, [p, q]).unwrap_or(ComponentBound::ANYTHING);
        self.set_cell(&mut result, component, Op::Div.instruction(), &[(&[x], 1), (&[y], 1)])?;
        if is_cacheable
            && component.set.is_bounded()
            && let Some(id) = result.trust.cell
            && let Content::Float(float) = self.content(id)
        {
            if self.quotients.len() >= QUOTIENTS {
                self.quotients.clear();
            }
            self.quotients.insert(key, Quotient { operands, float });
        }
        Ok(result)
    }

    /// What a quotient may be.
    fn quotient(&self, operands: [Lane; 2], [p, q]: [Polynomial; 2]) -> Option<ComponentBound> {
        let [x, y] = operands;
        if !(Sets::is_leaf(x) && Sets::is_leaf(y)) {
            return passing::quotient(&p, &q, self.rules.bound);
        }
        let (instruction, [x, y]) = (Op::Div.instruction(), operands.map(|lane| [self.operand(lane)]));
        let set = rules::allowed_alone(self.profile, instruction, &[(&x, 1), (&y, 1)])?[0];
        let moved = if set.is_bounded() { (self.rules.moved)(instruction, &[&[p], &[q]], 0, &set) } else { None };
        Some(ComponentBound { set, polynomial: moved.and_then(|moved| Side { set, moved }.polynomial()), moved })
    }

    #[inline(always)]
    fn compared(&mut self, op: Op, x: Lane, y: Lane, mut result: Lane) -> Result<Lane, Unsettled> {
        let truth = match self.is_plainly_below(x, y) {
            Some(is_below) => Truth::from(holds(op, is_below)),
            // No branch narrows the operands here.
            None => self.compared_rewritten(op.instruction(), x, y),
        };
        if truth != Truth::BOTH {
            return Ok(Lane::truth(truth.may_hold));
        }
        result.trust.cell = Some(self.new_boolean(truth, Origin::Otherwise)?);
        Ok(result)
    }

    /// Does what [`Sets::apply`] does for a dot product.
    pub(crate) fn dot(&mut self, x: &[Lane], y: &[Lane]) -> Result<Lane, Unsettled> {
        let mut result = composite::dot(x, y);
        let args = [(x, 1), (y, 1)];
        if !result.trust.is_decided(self.profile) {
            let of = |lane: &Lane| self.polynomial(*lane);
            let pairs: Option<SmallVec<[(Polynomial, Polynomial); 4]>> = x.iter().zip(y).map(|(x, y)| of(x).zip(of(y))).collect();
            match pairs.filter(|_| self.is_usual) {
                Some(pairs) => {
                    let sum = composite::sum_of_products(pairs.into_iter());
                    self.set_polynomial(&mut result, sum, Op::Dot.instruction(), &args)?;
                }
                None => self.widen(Op::Dot.instruction(), &args, std::slice::from_mut(&mut result))?,
            }
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::sets::{Exploration, Set, Span};
    use crate::number::{Arithmetic, Profile, Tuple};
    use crate::random::Random;

    type Simple = fn(&mut Sets, Op, Lane, Lane) -> Result<Lane, Unsettled>;

    const OPS: [Op; 14] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Negate,
        Op::Abs,
        Op::Min,
        Op::Max,
        Op::LessThan,
        Op::LessThanEqual,
        Op::GreaterThan,
        Op::GreaterThanEqual,
        Op::Equal,
        Op::NotEqual,
    ];

    /// A constant, or an input with several possible values.
    fn input(random: &mut Random, sets: &mut Sets) -> Lane {
        const STRANGE: [f32; 8] = [0.0, -0.0, 1e-40, f32::INFINITY, f32::NAN, f32::MAX, 2.0, 1e-20];
        let bits = random.bits();
        let value = match bits % 8 {
            0 => STRANGE[(bits >> 8) as usize % STRANGE.len()],
            1 => (bits >> 8 & 7) as f32 - 4.0,
            _ => ((bits >> 8 & 0xffff) as f32 / 8192.0 - 4.0) * if bits >> 40 & 3 == 0 { 1000.0 } else { 1.0 },
        };
        if bits >> 60 < 6 || !value.is_finite() {
            return Lane::exact(value);
        }
        let distance = value.abs() * if bits >> 50 & 1 == 0 { f32::EPSILON } else { 0.125 };
        let set = Set::of(Span::between((value - distance).into(), (value + distance).into()));
        sets.any_of(value, set, Why::Interpolated).expect("room for a cell")
    }

    /// All that is known of a lane, as text. The values of the polynomials in [`MovableTerms`] mean
    /// nothing and are left out.
    fn known(sets: &Sets, lane: Lane) -> String {
        let ComponentBound { set, polynomial, moved } = sets.component_bound(lane);
        let moved = format!("{moved:?}")
            .split("value: ")
            .map(|part| part.split_once(',').map_or(part, |(_, rest)| rest).to_string())
            .collect::<String>();
        let Trust { doubt, zero_sign, grid, .. } = lane.trust;
        format!("{:x} {doubt:?} {zero_sign} {grid:?} {set} {} {polynomial:?} {moved}", lane.bits, sets.operand(lane).set)
    }

    /// A lane's value, and its trust if the value does not imply it.
    fn value_and_trust(lane: &Lane) -> (f32, Option<&Trust>) {
        (lane.float(), Some(&lane.trust).filter(|trust| **trust != Trust::of_exact(lane.float())))
    }

    fn plainly_or_else(sets: &mut Sets, op: Op, x: Lane, y: Lane) -> Result<Lane, Unsettled> {
        if let Some(open) = sets.plainly(op, value_and_trust(&x), value_and_trust(&y)) {
            return Ok(Lane { bits: open.value.to_bits(), trust: open.trust() });
        }
        let compares = !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Negate | Op::Abs | Op::Min | Op::Max);
        match if compares { sets.compared_plainly(op, value_and_trust(&x), value_and_trust(&y)) } else { None } {
            Some((holds, trust)) => Ok(Lane { trust: trust.unwrap_or(Trust::CERTAIN), ..Lane::truth(holds) }),
            None => sets.simple(op, x, y),
        }
    }

    /// Compares random chains of operations with [`Sets::apply`]. Returns how many operands were
    /// open.
    fn as_in_general(simple: Simple, cases: u64) -> Result<u64, String> {
        let mut open = 0;
        for case in 0..cases {
            let mut random = Random::new(case);
            let mut sets = Sets::before(Exploration::under(Profile::VulkanDefault));
            let mut lanes: Vec<Lane> = (0..6).map(|_| input(&mut random, &mut sets)).collect();
            for _ in 0..24 {
                let bits = random.bits() as usize;
                let op = OPS[bits % OPS.len()];
                let [x, y] = [bits >> 8, bits >> 24].map(|bits| lanes[bits % lanes.len()]);
                let y = if op.arity() == 1 { x } else { y };
                open += u64::from(!x.trust.is_decided(sets.profile));
                let mut general = sets.clone();
                let args = [[x], [y]];
                let args = [0, 1].map(|k: usize| Tuple { lanes: &args[k], columns: 1 });
                let expected = general.apply(&Arithmetic::default(), op, &args[..op.arity()]);
                let found = simple(&mut sets, op, x, y);
                let (expected, found) = match (expected, found) {
                    (Ok(expected), Ok(found)) => (expected[0], found),
                    (Err(_), Err(_)) => break,
                    (expected, found) => return Err(format!("{op:?} of {x:?}, {y:?}: {found:?}, not {expected:?}")),
                };
                let is_boolean = !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Negate | Op::Abs | Op::Min | Op::Max);
                if is_boolean {
                    if (general.truth(expected), expected.bits) != (sets.truth(found), found.bits) && general.truth(expected) == Truth::BOTH
                        || general.truth(expected) != sets.truth(found)
                    {
                        let [x, y] = [x, y].map(|lane| known(&sets, lane));
                        return Err(format!("{op:?} of {x} and {y}: {:?}, not {:?}", sets.truth(found), general.truth(expected)));
                    }
                    continue;
                }
                let [a, b] = [known(&general, expected), known(&sets, found)];
                if a != b {
                    let [x, y] = [x, y].map(|lane| known(&sets, lane));
                    return Err(format!("case {case}, {op:?} of {x} and {y}:\n{b}, not\n{a}"));
                }
                lanes.push(found);
            }
        }
        Ok(open)
    }

    #[test]
    fn what_is_told_by_itself_is_what_is_told_in_general() {
        for simple in [Sets::simple as Simple, plainly_or_else] {
            let open = as_in_general(simple, 4_000).unwrap_or_else(|difference| panic!("{difference}"));
            assert!(open > 40_000, "{open}");
        }
    }

    /// Plants the operation `to` in the place of `from`.
    fn instead(sets: &mut Sets, op: Op, [from, to]: [Op; 2], [x, y]: [Lane; 2]) -> Result<Lane, Unsettled> {
        let result = sets.simple(op, x, y)?;
        let planted = if op == from { sets.simple(to, x, y)?.trust.cell } else { result.trust.cell };
        Ok(Lane { trust: Trust { cell: result.trust.cell.and(planted), ..result.trust }, ..result })
    }

    #[test]
    fn what_is_told_wrong_is_caught() {
        let bugs: [(&str, Simple); 4] = [
            ("the polynomial of a sum for a difference", |sets, op, x, y| instead(sets, op, [Op::Sub, Op::Add], [x, y])),
            ("the lesser for the greater", |sets, op, x, y| instead(sets, op, [Op::Max, Op::Min], [x, y])),
            ("a magnitude that is the operand", |sets, op, x, y| match op {
                Op::Abs => sets.simple(op, x, y).map(|result| Lane { trust: Trust { cell: x.trust.cell, ..result.trust }, ..result }),
                _ => sets.simple(op, x, y),
            }),
            ("a comparison decided by definite values", |sets, op, x, y| match op {
                Op::LessThan => Ok(Lane::truth(x.float() < y.float())),
                _ => sets.simple(op, x, y),
            }),
        ];
        for (what, bug) in bugs {
            assert!(as_in_general(bug, 4_000).is_err(), "{what}");
        }
    }

    /// Quotients of the same bits differ if more is known of one operand.
    #[test]
    fn quotients_are_looked_up_by_all_that_they_depend_on() {
        let mut sets = Sets::before(Exploration::under(Profile::VulkanDefault));
        let mut of = |op: Op, args: &[f32]| {
            let args: Vec<[Lane; 1]> = args.iter().map(|&x| [Lane::exact(x)]).collect();
            let tuples: Vec<Tuple<'_>> = args.iter().map(|lanes| Tuple { lanes, columns: 1 }).collect();
            sets.apply(&Arithmetic::default(), op, &tuples).expect("room for a cell")[0]
        };
        let twos = [Lane::exact(2.0), of(Op::Mul, &[1.0, 2.0]), of(Op::Add, &[1.0, 1.0]), of(Op::Round, &[2.5])];
        let zeros = [Lane::exact(0.0), of(Op::Floor, &[0.5])];
        let divisors = [Lane::exact(3.0), of(Op::Add, &[1.0, 2.0])];
        let mut different = std::collections::BTreeSet::new();
        for [x, y] in twos.iter().chain(&zeros).flat_map(|&x| divisors.map(|y| [[x, y]; 2])).flatten() {
            let mut without_table = sets.clone();
            without_table.quotients.clear();
            let [without_table, found] = [&mut without_table, &mut sets].map(|sets| {
                let result = sets.simple(Op::Div, x, y).expect("room for a cell");
                known(sets, result)
            });
            assert_eq!(found, without_table, "{x:?} / {y:?}");
            different.insert(found);
        }
        assert!(different.len() >= 7, "{different:?}");
        // The table is empty after cells were dropped.
        let [two, three, five] = [2.0, 3.0, 5.0].map(Lane::exact);
        let divided = |sets: &mut Sets, y| {
            let quotient = sets.simple(Op::Div, two, y).expect("room for a cell");
            known(sets, quotient)
        };
        let thirds = divided(&mut sets, three);
        sets.keep_only(|_| ());
        let fifths = divided(&mut sets, five);
        assert_eq!(divided(&mut sets, three), thirds);
        assert_ne!(fifths, thirds);
    }

    #[test]
    fn dot_products_are_what_they_are_in_general() {
        let mut plain = 0;
        for case in 0..4_000 {
            let mut random = Random::new(case);
            let mut sets = Sets::before(Exploration::under(Profile::VulkanDefault));
            let count = 2 + case as usize % 3;
            let [x, y] = [0; 2].map(|_| (0..count).map(|_| input(&mut random, &mut sets)).collect::<Vec<Lane>>());
            let mut general = sets.clone();
            let args = [&x, &y].map(|lanes| Tuple { lanes, columns: 1 });
            let expected = general.apply(&Arithmetic::default(), Op::Dot, &args).expect("room for a cell")[0];
            let mut plainly = sets.clone();
            if let Some(open) = plainly.dot_plainly(x.iter().zip(&y).map(|(x, y)| [value_and_trust(x), value_and_trust(y)])) {
                plain += 1;
                assert_eq!(
                    known(&plainly, Lane { bits: open.value.to_bits(), trust: open.trust() }),
                    known(&general, expected),
                    "case {case}"
                );
            }
            let found = sets.dot(&x, &y).expect("room for a cell");
            assert_eq!(known(&sets, found), known(&general, expected), "case {case}");
        }
        assert!(plain > 1_000, "{plain}");
    }
}
