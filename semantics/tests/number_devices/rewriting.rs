//! Rewrites polynomials by associativity, commutativity and distributivity, and evaluates them with
//! any of their sums fused and with any rounding that is allowed.

use super::super::program::Kind;
use super::{Arbitrary, CONSTANT, Device, Evaluated, Expr};
use smallstep_semantics::number::Op;

/// The least node number of intermediate values that a device evaluates only once.
const FROZEN: usize = usize::MAX >> 2;

impl Device<'_> {
    pub(super) fn rewritten_and_evaluated(&mut self, mut expr: Expr) -> Evaluated {
        // A formula that is not rewritten is evaluated as written, with its sums in any order.
        let rewritings = if self.rewrites || !self.extended_alone { self.random.below(4) } else { 0 };
        for _ in 0..rewritings {
            expr = self.rewrite(expr);
            if size(&expr) > 150 {
                break;
            }
        }
        self.evaluate(&expr)
    }

    /// A side of a comparison, as a polynomial of its terms.
    pub(super) fn side(&mut self, node: usize, lane: usize) -> Expr {
        let it = &self.program.nodes[node];
        match it.kind {
            // x - y·floor(x/y).
            Kind::Apply(Op::Mod) if self.random.percent(70) => {
                let (x, y) = ((it.args[0], lane), (it.args[1], lane));
                let (dividend, divisor) = (f64::from(self.float(x.0, x.1)), f64::from(self.float(y.0, y.1)));
                let multiple = ((dividend - f64::from(self.float(node, lane))) / divisor).round() as f32;
                let whole = Expr::Leaf((CONSTANT - 1 - node, lane), multiple);
                let [x, y] = [x, y].map(|(node, lane)| Expr::Leaf((node, lane), self.float(node, lane)));
                Expr::Sum(vec![x, Expr::Negated(Box::new(Expr::Product(vec![y, whole])))])
            }
            _ => self.operand(Op::Add, node, lane, 5),
        }
    }

    pub(super) fn is_inverted(&self, node: usize) -> bool {
        matches!(self.program.nodes[node].kind, Kind::Apply(Op::Div | Op::Sqrt | Op::Length | Op::Distance))
    }

    /// The sides of a comparison of a quotient, a root or a length with y, after both sides are
    /// multiplied by the divisor, or squared.
    pub(super) fn inverted(&mut self, x: (usize, usize), y: (usize, usize)) -> Option<Result<(f32, f32), Arbitrary>> {
        if self.is_inverted(x.0) {
            return self.inverse(x, y);
        }
        Some(self.inverse(y, x)?.map(|(y, x)| (x, y)))
    }

    fn inverse(&mut self, x: (usize, usize), y: (usize, usize)) -> Option<Result<(f32, f32), Arbitrary>> {
        let it = &self.program.nodes[x.0];
        let Kind::Apply(op) = it.kind else { return None };
        let args = it.args.clone();
        let width = self.values[args[0]].len();
        let other = self.operand(Op::Mul, y.0, y.1, 5);
        let (left, right, negative) = match op {
            Op::Div => {
                let divisor = self.operand(Op::Div, args[1], x.1, 5);
                let negative = self.float(args[1], x.1) < 0.0;
                (self.operand(Op::Div, args[0], x.1, 5), Expr::Product(vec![other, divisor]), negative)
            }
            Op::Sqrt | Op::Length | Op::Distance if self.float(y.0, y.1) > 0.0 => {
                let square = |x: &Expr| Expr::Product(vec![x.clone(), x.clone()]);
                let left = match op {
                    Op::Sqrt => self.operand(Op::Mul, args[0], x.1, 5),
                    Op::Length => {
                        let components: Vec<Expr> = (0..width).map(|i| self.operand(Op::Mul, args[0], i, 5)).collect();
                        Expr::Sum(components.iter().map(square).collect())
                    }
                    _ => {
                        // The differences are not multiplied out.
                        let mut components = Vec::new();
                        for i in 0..width {
                            let difference = f64::from(self.float(args[0], i)) - f64::from(self.float(args[1], i));
                            let Ok(difference) = self.round(difference, 0.0) else { return Some(Err(Arbitrary)) };
                            components.push(Expr::Leaf((CONSTANT - 1 - x.0, i), difference));
                        }
                        Expr::Sum(components.iter().map(square).collect())
                    }
                };
                (left, square(&other), false)
            }
            _ => return None,
        };
        let (mut left, mut right) = (left, right);
        for _ in 0..self.random.below(3) {
            (left, right) = (self.rewrite(left), self.rewrite(right));
        }
        // Terms may move from side to side here too.
        let mut sides = [Vec::new(), Vec::new()];
        for (k, side) in [left, right].into_iter().enumerate() {
            let terms = match side {
                Expr::Sum(terms) => terms,
                other => vec![other],
            };
            for term in terms {
                let moves = self.random.percent(20);
                sides[k ^ usize::from(moves)].push(if moves { Expr::Negated(Box::new(term)) } else { term });
            }
        }
        let [left, right] = sides.map(|terms| match terms.len() {
            0 => Expr::Leaf((CONSTANT, 0), 0.0),
            _ => Expr::Sum(terms),
        });
        let evaluated = self.evaluate(&left).and_then(|left| Ok((left, self.evaluate(&right)?)));
        Some(evaluated.map(|(left, right)| if negative { (-left, -right) } else { (left, right) }))
    }

    /// A quotient. Perhaps each term of the dividend is divided alone, or multiplied by
    /// a reciprocal.
    pub(super) fn divided(&mut self, x: (usize, usize), y: (usize, usize)) -> Evaluated {
        let mut dividend = self.operand(Op::Div, x.0, x.1, 5);
        for _ in 0..self.random.below(3) {
            dividend = self.rewrite(dividend);
        }
        let terms = match dividend {
            Expr::Sum(terms) if self.random.percent(70) => terms,
            other => vec![other],
        };
        let mut sum = None;
        for term in terms {
            let divisor = self.operand(Op::Div, y.0, y.1, 5);
            // A quotient of two leaves is accurate, however it is computed.
            let alone = is_leaf(&term) && is_leaf(&divisor);
            let (a, b) = (self.rewritten_and_evaluated(term)?, self.rewritten_and_evaluated(divisor)?);
            let quotient = self.quotient(a, b, alone)?;
            sum = Some(match sum {
                None => quotient,
                Some(sum) => self.round(f64::from(sum), f64::from(quotient))?,
            });
        }
        Ok(sum.unwrap_or(0.0))
    }

    /// A quotient. If it is not `alone`, perhaps a product with the reciprocal.
    fn quotient(&mut self, a: f32, b: f32, alone: bool) -> Evaluated {
        if !(f32::MIN_POSITIVE..=1.0 / f32::MIN_POSITIVE).contains(&b.abs()) {
            return Err(Arbitrary);
        }
        match alone || self.random.percent(50) {
            true => self.near(f64::from(a) / f64::from(b)),
            false => {
                let reciprocal = self.near(1.0 / f64::from(b))?;
                self.round(f64::from(a) * f64::from(reciprocal), 0.0)
            }
        }
    }

    /// The float nearest to the exact quotient or one of its neighbours. For a subnormal quotient,
    /// perhaps a zero.
    fn near(&mut self, exact: f64) -> Evaluated {
        let nearest = exact as f32;
        if !nearest.is_finite() {
            return Err(Arbitrary);
        }
        if exact.abs() < f64::from(f32::MIN_POSITIVE) && self.random.percent(50) {
            let zero = self.zero();
            return Ok(self.signed(zero));
        }
        let bits = nearest.to_bits();
        let moved = (bits & 0x7fff_ffff).saturating_add_signed(self.random.below(3) as i32 - 1);
        Ok(f32::from_bits(moved.min(0x7f7f_ffff) | bits & 0x8000_0000))
    }

    /// Applies associativity, commutativity and distributivity at random places.
    pub(super) fn rewrite(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Leaf(..) => expr,
            Expr::Negated(inner) => match self.rewrite(*inner) {
                Expr::Negated(inner) => *inner,
                Expr::Sum(terms) if self.random.percent(70) => {
                    Expr::Sum(terms.into_iter().map(|term| Expr::Negated(Box::new(term))).collect())
                }
                Expr::Product(mut factors) if self.random.percent(70) => {
                    let i = self.random.below(factors.len());
                    let factor = factors.remove(i);
                    factors.push(Expr::Negated(Box::new(factor)));
                    Expr::Product(factors)
                }
                inner => Expr::Negated(Box::new(inner)),
            },
            Expr::Sum(terms) => {
                let mut flat = Vec::new();
                for term in terms {
                    match self.rewrite(term) {
                        Expr::Sum(inner) if self.random.percent(75) => flat.extend(inner),
                        term => flat.push(term),
                    }
                }
                self.factored(flat)
            }
            Expr::Product(factors) => {
                let mut flat = Vec::new();
                for factor in factors {
                    match self.rewrite(factor) {
                        Expr::Product(inner) if self.random.percent(75) => flat.extend(inner),
                        factor => flat.push(factor),
                    }
                }
                let quotient = flat.iter().position(|factor| matches!(factor, Expr::Quotient(..)));
                match quotient.filter(|_| self.random.percent(30)) {
                    // (x/y)·z is (x·z)/y.
                    Some(at) => {
                        let Expr::Quotient(x, y) = flat.remove(at) else { unreachable!() };
                        flat.push(*x);
                        Expr::Quotient(Box::new(Expr::Product(flat)), y)
                    }
                    None => self.distributed(flat),
                }
            }
            Expr::Quotient(x, y) => {
                let (x, y) = (self.rewrite(*x), self.rewrite(*y));
                self.taken_apart(x, y)
            }
        }
    }

    /// A quotient, perhaps in another form. It may divide each term of a sum, or one of
    /// several factors. It may divide by one factor of the divisor after the other, or by a
    /// product of divisors.
    fn taken_apart(&mut self, x: Expr, y: Expr) -> Expr {
        let over = |x: Expr, y: Expr| Expr::Quotient(Box::new(x), Box::new(y));
        match (x, y) {
            (Expr::Sum(terms), y) if self.random.percent(50) => Expr::Sum(terms.into_iter().map(|term| over(term, y.clone())).collect()),
            (Expr::Product(mut factors), y) if factors.len() > 1 && self.random.percent(50) => {
                let factor = factors.remove(self.random.below(factors.len()));
                factors.push(over(factor, y));
                Expr::Product(factors)
            }
            (Expr::Negated(x), y) if self.random.percent(50) => Expr::Negated(Box::new(over(*x, y))),
            (Expr::Quotient(x, y), z) if self.random.percent(50) => over(*x, Expr::Product(vec![*y, z])),
            (x, Expr::Product(mut factors)) if factors.len() > 1 && self.random.percent(50) => {
                let factor = factors.remove(self.random.below(factors.len()));
                over(over(x, factor), Expr::Product(factors))
            }
            (x, y) => over(x, y),
        }
    }

    /// The sum, perhaps with x·a + x·b, x·a + x or x - x turned into x·(a + b), x·(a + 1)
    /// or 0.
    fn factored(&mut self, mut terms: Vec<Expr>) -> Expr {
        if terms.len() < 2 || self.random.percent(50) {
            return Expr::Sum(terms);
        }
        let (i, j) = (self.random.below(terms.len()), self.random.below(terms.len()));
        if i == j {
            return Expr::Sum(terms);
        }
        let (a, b) = (signed_factors(&terms[i]), signed_factors(&terms[j]));
        if let ([x], [y]) = (&a.1[..], &b.1[..])
            && leaf_id(x).is_some()
            && leaf_id(x) == leaf_id(y)
            && a.0 != b.0
        {
            for k in [i.max(j), i.min(j)] {
                terms.remove(k);
            }
            terms.push(Expr::Leaf((CONSTANT, 0), 0.0));
            return Expr::Sum(terms);
        }
        // x/z + y/z is (x + y)/z.
        if let ([Expr::Quotient(x, z)], [Expr::Quotient(y, w)]) = (&a.1[..], &b.1[..])
            && leaf_id(z).is_some()
            && leaf_id(z) == leaf_id(w)
        {
            let signed = |sign: bool, x: &Expr| if sign { Expr::Negated(Box::new(x.clone())) } else { x.clone() };
            let sum = Expr::Quotient(Box::new(Expr::Sum(vec![signed(a.0, x), signed(b.0, y)])), z.clone());
            for k in [i.max(j), i.min(j)] {
                terms.remove(k);
            }
            terms.push(sum);
            return Expr::Sum(terms);
        }
        let shared = a.1.iter().find_map(|x| {
            let id = leaf_id(x)?;
            b.1.iter().any(|y| leaf_id(y) == Some(id)).then(|| x.clone())
        });
        let Some(shared) = shared else {
            return Expr::Sum(terms);
        };
        let rest = |(sign, mut factors): (bool, Vec<Expr>)| {
            let at = factors.iter().position(|x| leaf_id(x) == leaf_id(&shared)).expect("the shared factor is there");
            factors.remove(at);
            let product = if factors.is_empty() { Expr::Leaf((CONSTANT, 1), 1.0) } else { Expr::Product(factors) };
            if sign { Expr::Negated(Box::new(product)) } else { product }
        };
        let inner = Expr::Sum(vec![rest(a), rest(b)]);
        for k in [i.max(j), i.min(j)] {
            terms.remove(k);
        }
        terms.push(Expr::Product(vec![shared, inner]));
        Expr::Sum(terms)
    }

    /// The product, perhaps multiplied out over one of its sums, or 2·x turned into x + x.
    fn distributed(&mut self, mut factors: Vec<Expr>) -> Expr {
        if self.random.percent(40) {
            return Expr::Product(factors);
        }
        if factors.len() > 1
            && self.random.percent(50)
            && let Some(i) = factors.iter().position(|x| matches!(x, Expr::Leaf(_, value) if *value == 2.0))
        {
            factors.remove(i);
            let rest = Expr::Product(factors);
            return Expr::Sum(vec![rest.clone(), rest]);
        }
        let sums: Vec<usize> = (0..factors.len()).filter(|&i| matches!(factors[i], Expr::Sum(_))).collect();
        if sums.is_empty() {
            return Expr::Product(factors);
        }
        let at = sums[self.random.below(sums.len())];
        // A sum among the other factors becomes a single value.
        for i in (0..factors.len()).filter(|&i| i != at) {
            if has_sum(&factors[i]) {
                let Ok(value) = self.evaluate(&factors[i]) else { return Expr::Product(factors) };
                factors[i] = Expr::Leaf((FROZEN + self.random.below(FROZEN), 0), value);
            }
        }
        let Expr::Sum(terms) = factors.remove(at) else { unreachable!() };
        let multiplied = |term: Expr| {
            let mut factors = factors.clone();
            factors.push(term);
            Expr::Product(factors)
        };
        Expr::Sum(terms.into_iter().map(multiplied).collect())
    }

    /// Evaluates in any order, fusing some additions into multiplications.
    fn evaluate(&mut self, expr: &Expr) -> Evaluated {
        match expr {
            Expr::Leaf(_, value) => {
                if !value.is_finite() {
                    return Err(Arbitrary);
                }
                let value = self.flushed(*value);
                Ok(self.signed(value))
            }
            Expr::Negated(inner) => Ok(-self.evaluate(inner)?),
            Expr::Product(factors) => self.product(factors),
            Expr::Quotient(x, y) => {
                // A quotient of two leaves is accurate, however it is computed.
                let alone = is_leaf(x) && is_leaf(y);
                let (x, y) = (self.evaluate(x)?, self.evaluate(y)?);
                self.quotient(x, y, alone)
            }
            Expr::Sum(terms) => {
                let mut waiting: Vec<&Expr> = terms.iter().collect();
                let first = waiting.swap_remove(self.random.below(waiting.len()));
                let mut sums = vec![self.evaluate(first)?];
                while !waiting.is_empty() || sums.len() > 1 {
                    if sums.len() > 1 && (waiting.is_empty() || self.random.percent(40)) {
                        let (a, b) = (sums.pop().expect("two"), sums.pop().expect("two"));
                        sums.push(self.round(f64::from(a), f64::from(b))?);
                        continue;
                    }
                    let term = waiting.swap_remove(self.random.below(waiting.len()));
                    match term {
                        Expr::Product(factors) if factors.len() > 1 && self.random.percent(50) => {
                            let split = 1 + self.random.below(factors.len() - 1);
                            let (a, b) = (self.product(&factors[..split])?, self.product(&factors[split..])?);
                            let c = sums.pop().expect("one sum");
                            sums.push(self.round(f64::from(a) * f64::from(b), f64::from(c))?);
                        }
                        term if self.random.percent(40) => sums.push(self.evaluate(term)?),
                        term => {
                            let value = self.evaluate(term)?;
                            let sum = sums.pop().expect("one sum");
                            sums.push(self.round(f64::from(sum), f64::from(value))?);
                        }
                    }
                }
                Ok(sums[0])
            }
        }
    }

    fn product(&mut self, factors: &[Expr]) -> Evaluated {
        let mut values = Vec::new();
        for factor in factors {
            values.push(self.evaluate(factor)?);
        }
        while values.len() > 1 {
            let a = values.swap_remove(self.random.below(values.len()));
            let b = values.swap_remove(self.random.below(values.len()));
            values.push(self.round(f64::from(a) * f64::from(b), 0.0)?);
        }
        Ok(values[0])
    }

    /// a + b as a float: the nearest under `Strict`, otherwise either neighbour.
    fn round(&mut self, a: f64, b: f64) -> Evaluated {
        let sum = a + b;
        let b_part = sum - a;
        let error = (a - (sum - b_part)) + (b - b_part);
        let mut result = sum as f32;
        if result.is_infinite() || sum.abs() > f64::from(f32::MAX) {
            return Err(Arbitrary);
        }
        let off = if sum == f64::from(result) { error } else { sum - f64::from(result) };
        if off != 0.0 && self.rewrites && self.random.percent(50) {
            result = if off > 0.0 { result.next_up() } else { result.next_down() };
            if result.is_infinite() {
                return Err(Arbitrary);
            }
        }
        if sum != 0.0 && sum.abs() < f64::from(f32::MIN_POSITIVE) && self.random.percent(50) {
            result = self.zero();
        }
        Ok(self.signed(result))
    }
}

fn is_leaf(expr: &Expr) -> bool {
    match expr {
        Expr::Leaf(..) => true,
        Expr::Negated(inner) => is_leaf(inner),
        Expr::Sum(_) | Expr::Product(_) | Expr::Quotient(..) => false,
    }
}

fn has_sum(expr: &Expr) -> bool {
    match expr {
        Expr::Leaf(..) => false,
        Expr::Negated(inner) => has_sum(inner),
        Expr::Quotient(x, y) => has_sum(x) || has_sum(y),
        Expr::Sum(_) => true,
        Expr::Product(parts) => parts.iter().any(has_sum),
    }
}

fn size(expr: &Expr) -> usize {
    match expr {
        Expr::Leaf(..) => 1,
        Expr::Negated(inner) => size(inner),
        Expr::Quotient(x, y) => size(x) + size(y),
        Expr::Sum(parts) | Expr::Product(parts) => parts.iter().map(size).sum(),
    }
}

/// The factors of a term, and whether it is subtracted.
fn signed_factors(term: &Expr) -> (bool, Vec<Expr>) {
    match term {
        Expr::Negated(inner) => {
            let (sign, factors) = signed_factors(inner);
            (!sign, factors)
        }
        Expr::Product(factors) => (false, factors.clone()),
        other => (false, vec![other.clone()]),
    }
}

fn leaf_id(expr: &Expr) -> Option<(usize, usize)> {
    match expr {
        Expr::Leaf(id, _) => Some(*id),
        _ => None,
    }
}
