//! SPIR-V §3.3.16, Derivative Instructions, from the view of one invocation. It waits, and goes on
//! with the derivatives. A rule of the grid ([`crate::spirv::grid`]) lets all invocations of a quad
//! go on together.
//!
//! Vulkan, Derivative Operations: let the lanes 0 1 / 2 3 of a quad have the values P. The fine
//! derivatives are the differences P1 - P0 and P3 - P2 of rows, and P2 - P0 and P3 - P1 of columns.
//! A coarse derivative is that of one row or one column for all four lanes. OpDPdx, OpDPdy and
//! OpFwidth are fine or coarse. So unless an instruction is fine, its result is that of the first
//! row or column, in doubt if the other differs.

use rspirv::spirv::GlslStd450Op as Glsl;

use super::{Awaited, Config, Env, Next, Row, row};
use crate::number::{Instruction, Lanes, Trust, Why};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::operation::{self, Occurrence, Operand, Operation, Shape};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

const DERIVATIVES: &[Op] =
    &[Op::DPdx, Op::DPdy, Op::Fwidth, Op::DPdxFine, Op::DPdyFine, Op::FwidthFine, Op::DPdxCoarse, Op::DPdyCoarse, Op::FwidthCoarse];

pub(super) const RULES: &[Row] = &[row(Rule::SpirvDerivative, DERIVATIVES, derivative)];

/// The derivatives of a value in x and in y, component by component, from the view of one lane of
/// a quad.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivatives {
    /// In x, for each row.
    pub rows: [Scalars; 2],
    /// In y, for each column.
    pub columns: [Scalars; 2],
    /// The row and the column of the lane itself.
    own: [usize; 2],
}

/// Computes an operation on 32-bit floats of one shape. No such operation has undefined behaviour.
fn computed(env: &Env<'_>, operation: Option<Operation>, shape: Shape, args: &[&Scalars], instruction: u32) -> Scalars {
    let operands: Vec<Operand<'_>> = args.iter().map(|scalars| Operand { shape, scalars }).collect();
    let occurrence = Occurrence { instruction, invocation: env.invocation, ..Occurrence::default() };
    operation.and_then(|operation| env.calculator.compute(operation, &operands, &[shape], occurrence).ok()).unwrap_or_default()
}

/// The first scalar, in doubt if the second differs. In a run over sets, either of them.
fn either(env: &Env<'_>, first: Scalar, second: Scalar) -> Scalar {
    if first.undefined.or(second.undefined).is_some() {
        return Scalar { undefined: first.undefined.or(second.undefined), ..first };
    }
    let unknown = Trust::CERTAIN.in_doubt(Why::Derivative);
    let trust = Trust::selected(unknown, true, first.trust, second.trust, first.bits == second.bits);
    let doubt = trust.doubt.and(first.trust.doubt.or(Some(Why::Derivative)));
    let trust = Trust { doubt, cell: None, ..trust };
    let cell = env.over.and_then(|sets| {
        let sets = &mut *sets.borrow_mut();
        if trust.is_decided(sets.profile()) {
            return None;
        }
        let [a, b] = [first, second].map(|scalar| sets.operand(scalar.lane()).set);
        let either = a.union(b);
        sets.any_of(first.lane().float(), either, Why::Derivative).ok().filter(|_| either.is_bounded())?.trust.cell
    });
    Scalar { trust: Trust { cell, ..trust }, ..first }
}

/// Gives cells to the open components of a result, by the rule of a derivative instruction for
/// such operands.
fn widen(env: &Env<'_>, op: Op, args: [&Scalars; 2], results: &mut Scalars) {
    let Some(sets) = env.over else { return };
    let lanes = |scalars: &Scalars| -> Lanes { scalars.iter().map(|scalar| scalar.lane()).collect() };
    if args.iter().any(|scalars| scalars.iter().any(|scalar| scalar.undefined.is_some())) {
        return;
    }
    let ([x, y], mut open) = (args.map(lanes), lanes(results));
    if sets.borrow_mut().widen(Instruction::Core(op as u16), &[(&x, 1), (&y, 1)], &mut open).is_ok() {
        results.iter_mut().zip(open).for_each(|(result, lane)| result.trust = lane.trust);
    }
}

/// Drops the guarantees that do not hold for derivatives: SignedZeroInfNanPreserve does not list
/// these instructions.
fn without_guarantees(scalars: Scalars) -> Scalars {
    let unlisted = |scalar: Scalar| {
        let value = scalar.lane().float();
        let trust = if value.is_finite() { scalar.trust } else { scalar.trust.in_doubt(Why::Derivative) };
        Scalar { trust: Trust { zero_sign: trust.zero_sign && value != 0.0, ..trust }, ..scalar }
    };
    scalars.into_iter().map(unlisted).collect()
}

impl Derivatives {
    /// The derivatives of a lane, by the values of all four lanes: two rows of two.
    pub(in crate::spirv) fn of(env: &Env<'_>, values: &[Scalars; 4], shape: Shape, lane: usize, instruction: u32) -> Derivatives {
        let minus = operation::core(Op::FSub);
        let difference = |from: usize, to: usize| {
            let mut difference = without_guarantees(computed(env, minus, shape, &[&values[to], &values[from]], instruction));
            widen(env, Op::DPdx, [&values[to], &values[from]], &mut difference);
            difference
        };
        let (rows, columns) = ([difference(0, 1), difference(2, 3)], [difference(0, 2), difference(1, 3)]);
        Derivatives { rows, columns, own: [lane / 2, lane % 2] }
    }

    /// In x and in y, for the lane's own row and column.
    pub fn fine(&self) -> [Scalars; 2] {
        [self.rows[self.own[0]].clone(), self.columns[self.own[1]].clone()]
    }

    /// In x and in y, for one row and one column: the first, in doubt if the other differs.
    pub fn coarse(&self, env: &Env<'_>) -> [Scalars; 2] {
        [&self.rows, &self.columns].map(|[first, second]| first.iter().zip(second).map(|(&a, &b)| either(env, a, b)).collect())
    }

    /// The derivatives of a value with this many components, if the quad's control flow is
    /// not uniform.
    pub(in crate::spirv) fn divergent(components: usize, instruction: u32, invocation: u32) -> Derivatives {
        let origin = Origin { kind: Unspecified::DivergentDerivative, instruction, invocation };
        let undefined: Scalars = std::iter::repeat_n(Scalar::undefined(origin), components).collect();
        let both = [undefined.clone(), undefined];
        Derivatives { rows: both.clone(), columns: both, own: [0, 0] }
    }
}

/// The magnitudes of derivatives.
fn magnitude(env: &Env<'_>, derivatives: &Scalars, shape: Shape, instruction: u32) -> Scalars {
    let mut magnitudes = computed(env, operation::glsl(Glsl::FAbs as u32), shape, &[derivatives], instruction);
    if let Some(sets) = env.over
        && derivatives.iter().all(|scalar| scalar.undefined.is_none())
    {
        let [args, mut open] = [derivatives, &magnitudes].map(|scalars| -> Lanes { scalars.iter().map(|scalar| scalar.lane()).collect() });
        let instruction = Instruction::Glsl(Glsl::FAbs as u32);
        if sets.borrow_mut().widen(instruction, &[(&args, 1)], &mut open).is_ok() {
            magnitudes.iter_mut().zip(open).for_each(|(magnitude, lane)| magnitude.trust = lane.trust);
        }
    }
    magnitudes
}

/// M, (r = OpDPdx τ a, I), c, p → M[r ↦ the derivative of M(a) in the quad], I, c, p once its
/// invocations have arrived, and the others of the section       [spirv/derivative, SPIR-V §3.3.16]
pub fn derivative<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_of(DERIVATIVES)?;
    Some(Next::Awaits(Awaited { instruction: config.index(), value: operands[0], resume: resume_derivative }))
}

/// The configuration after a derivative instruction.
fn resume_derivative<'m>(env: &Env<'_>, config: &Config<'m>, derivatives: &Derivatives) -> Option<Next<'m>> {
    let (head, _) = config.next_of(DERIVATIVES)?;
    let fine = matches!(head.op, Op::DPdxFine | Op::DPdyFine | Op::FwidthFine);
    let [x, y] = if fine { derivatives.fine() } else { derivatives.coarse(env) };
    let scalars = match head.op {
        Op::DPdx | Op::DPdxFine | Op::DPdxCoarse => x,
        Op::DPdy | Op::DPdyFine | Op::DPdyCoarse => y,
        _ => {
            let shape = config.module.shape(head.result);
            let [x, y] = [x, y].map(|d| magnitude(env, &d, shape, config.index()));
            // A device may draw other sums into the sum of OpFwidth.
            let mut sum = without_guarantees(computed(env, operation::core(Op::FAdd), shape, &[&x, &y], config.index()));
            widen(env, Op::FAdd, [&x, &y], &mut sum);
            sum
        }
    };
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}
