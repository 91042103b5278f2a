//! The computations of the reference engine: values with trust, which may be undefined.
//!
//! If an [`Op`] stands for an instruction on 32-bit floats and Booleans, [`Arithmetic`] computes
//! it. Then trust is that of λV's theorem. Otherwise values come from [`pure`], and trust from the
//! coarser rules of [`trust`](super::trust). In both cases, a component that depends on an
//! undefined operand is undefined: see `UNDEFINED.md`.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;

use super::pure::{Bits, pure, reals};
use super::trust;
use super::{Operation, Shape, Signature};
use crate::image;
use crate::number::{self, Arithmetic, Computed, Environment, Instruction, Lanes, Op, PlantedComponent, Trust, Tuple, float, integer};
use crate::spirv::value::{self, Origin, Scalars};
use crate::undefined::{Ub, Unspecified};

/// An operand: its shape and its components, column by column.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The shape. [`Shape::OTHER`] if it has no components of its own.
    pub shape: Shape,
    /// The components.
    pub scalars: &'a [value::Scalar],
}

/// The place of a computing instruction, and its decorations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Occurrence {
    /// The index of the instruction in the module.
    pub instruction: u32,
    /// The number of the executing invocation in the grid.
    pub invocation: u32,
    /// Whether it is decorated NoSignedWrap.
    pub no_signed_wrap: bool,
    /// Whether it is decorated NoUnsignedWrap.
    pub no_unsigned_wrap: bool,
}

/// The rules that an engine computes with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calculator {
    /// The arithmetic of 32-bit floats and Booleans.
    pub arithmetic: Arithmetic,
    /// The environment's choices about values.
    pub environment: Environment,
    /// The rules for definite values of image instructions.
    pub images: image::Rules,
    /// Replaces components of results; `None` outside tests of the oracle.
    pub planted: Option<PlantedComponent>,
}

/// A component of a result: computed here, or undefined because of an operand.
#[derive(Clone, Copy, Debug)]
enum ComponentResult {
    Computed(Computed),
    UndefinedBy(Origin),
}

impl Calculator {
    /// Computes an operation. The caller ensures that the shapes of the operands fit
    /// ([`Signature::fits`]). `results` is the shape of the result. For a result that is a
    /// structure, it holds the shapes of the two members. Modf and Frexp write through a pointer.
    /// For these, `args` is only x, and `results` holds the shapes of the result and of the written
    /// value. The components come in this order.
    ///
    /// OpSelect takes objects of any type as their components. The result has as many components as
    /// all of `results` together, or as an object of OpSelect. No values make this panic.
    pub fn compute(&self, operation: Operation, args: &[Operand<'_>], results: &[Shape], occurrence: Occurrence) -> Result<Scalars, Ub> {
        let bits: SmallVec<[SmallVec<[u64; 4]>; 4]> = args.iter().map(|a| a.scalars.iter().map(|s| s.bits).collect()).collect();
        let (components, trusts) = self.values(operation, args, &bits, results);
        let any_undefined = args.iter().any(|a| a.scalars.iter().any(|s| s.undefined.is_some()));
        let mut scalars = Scalars::with_capacity(components.len());
        for (i, (&component, trust)) in components.iter().zip(trusts).enumerate() {
            let (mut component_result, mut trust) = (ComponentResult::Computed(component), trust);
            if any_undefined {
                component_result = with_undefined_operand(operation, args, results, i, component);
            }
            if any_undefined && operation.signature == Signature::Select {
                // If one object is undefined, the objects differ, even if their bits are equal.
                trust = trust::of(operation, args, results, i, component);
            }
            if let ComponentResult::Computed(component) = &mut component_result {
                if matches!(component, Computed::Value(_)) && wraps(operation, args, &operand_bits(args, i), occurrence) {
                    *component = Computed::Behaviour(Ub::Wrap);
                }
                if let Some(planted) = self.planted {
                    let operands: SmallVec<[&[u64]; 4]> = bits.iter().map(|bits| bits.as_slice()).collect();
                    *component = planted(operation.instruction, &operands, i, *component);
                }
            }
            scalars.push(match component_result {
                ComponentResult::Computed(Computed::Value(bits)) => value::Scalar { bits, trust, undefined: None },
                ComponentResult::Computed(Computed::Undefined(kind)) => {
                    value::Scalar::undefined(Origin { kind, instruction: occurrence.instruction, invocation: occurrence.invocation })
                }
                ComponentResult::Computed(Computed::Behaviour(ub)) => return Err(ub),
                ComponentResult::UndefinedBy(_) if may_wrap(operation, args, i, occurrence) => return Err(Ub::UndefinedOperand),
                ComponentResult::UndefinedBy(origin) => value::Scalar::undefined(origin),
            });
        }
        Ok(scalars)
    }

    /// The value and the trust of every component, as if all operands were defined.
    fn values(
        &self,
        operation: Operation,
        args: &[Operand<'_>],
        bits: &[SmallVec<[u64; 4]>],
        results: &[Shape],
    ) -> (SmallVec<[Computed; 4]>, SmallVec<[Trust; 4]>) {
        let is_lanes = args.iter().all(|a| a.shape.is_lanes());
        if let (Some(op), true) = (operation.op, is_lanes) {
            return self.lanes(op, args);
        }
        if operation.instruction == Instruction::Core(Core::OuterProduct as u16) && is_lanes {
            return self.outer_product(args);
        }
        let operands: SmallVec<[Bits<'_>; 4]> = args.iter().zip(bits).map(|(a, bits)| Bits { shape: a.shape, bits }).collect();
        let components = pure(operation, &operands, results, self.environment).unwrap_or_default();
        let trusts = (0..components.len()).map(|i| trust::of(operation, args, results, i, components[i])).collect();
        (components, trusts)
    }

    fn lanes(&self, op: Op, args: &[Operand<'_>]) -> (SmallVec<[Computed; 4]>, SmallVec<[Trust; 4]>) {
        let lanes: SmallVec<[Lanes; 3]> = args.iter().map(|a| a.scalars.iter().map(|s| s.lane()).collect()).collect();
        let tuples: SmallVec<[Tuple<'_>; 3]> =
            lanes.iter().zip(args).map(|(lanes, a)| Tuple { lanes, columns: a.shape.columns as usize }).collect();
        let result = self.arithmetic.apply(op, &tuples);
        let first = &args[0];
        let on_floats = first.shape.scalar.is_float();
        let whole_reason = if on_floats && matches!(op, Op::Normalize | Op::MatrixInverse) {
            let bits: SmallVec<[u64; 16]> = first.scalars.iter().map(|s| s.bits).collect();
            float::unspecified_whole(op, &reals::<f32>(&bits), first.shape.columns as usize)
        } else {
            None
        };
        let reason_at = |i: usize| -> Option<Unspecified> {
            if !on_floats || whole_reason.is_some() {
                return whole_reason;
            }
            let operands: Option<SmallVec<[f32; 3]>> = lanes.iter().map(|lanes| lanes.get(i).map(|lane| lane.float())).collect();
            operands.and_then(|operands| float::unspecified(op, &operands))
        };
        let component = |(i, lane): (usize, &number::Lane)| match reason_at(i) {
            Some(why) => Computed::Undefined(why),
            None => Computed::Value(lane.bits.into()),
        };
        (result.iter().enumerate().map(component).collect(), result.iter().map(|lane| lane.trust).collect())
    }

    /// OpOuterProduct of 32-bit floats: the first vector times each component of the second.
    fn outer_product(&self, args: &[Operand<'_>]) -> (SmallVec<[Computed; 4]>, SmallVec<[Trust; 4]>) {
        let [x, y]: [Lanes; 2] = [0, 1].map(|a| args[a].scalars.iter().map(|s| s.lane()).collect());
        let columns = y.chunks(1).map(|y| self.arithmetic.apply(Op::VectorTimesScalar, &[Tuple::vector(&x), Tuple::vector(y)]));
        let lanes: SmallVec<[number::Lane; 16]> = columns.flatten().collect();
        (lanes.iter().map(|lane| Computed::Value(lane.bits.into())).collect(), lanes.iter().map(|lane| lane.trust).collect())
    }
}

/// The bits of component i of each operand.
fn operand_bits(args: &[Operand<'_>], i: usize) -> SmallVec<[u64; 4]> {
    args.iter().map(|a| a.scalars.get(i).map_or(0, |s| s.bits)).collect()
}

/// Whether undefined operands of component i have values with which it overflows, although the
/// instruction's decorations exclude that.
fn may_wrap(operation: Operation, args: &[Operand<'_>], i: usize, occurrence: Occurrence) -> bool {
    if !occurrence.no_signed_wrap && !occurrence.no_unsigned_wrap {
        return false;
    }
    let width = args.first().map_or(0, |a| a.shape.scalar.width());
    if width == 0 {
        return false;
    }
    // The extremes of both orders, and the greatest shift. If any value overflows, one
    // of these does.
    let extremes = [0, integer::mask(width), 1 << (width - 1), integer::mask(width) >> 1, u64::from(width) - 1];
    let is_undefined = |a: usize| args.get(a).and_then(|a| a.scalars.get(i)).is_some_and(|s| s.undefined.is_some());
    let choices = |a: usize| if is_undefined(a) { &extremes[..] } else { &extremes[..1] };
    choices(0).iter().any(|&x| {
        choices(1).iter().any(|&y| {
            let mut bits = operand_bits(args, i);
            for (a, bits) in bits.iter_mut().enumerate().filter(|(a, _)| is_undefined(*a)) {
                *bits = if a == 0 { x } else { y };
            }
            wraps(operation, args, &bits, occurrence)
        })
    })
}

/// Whether a component with these operand bits overflows, although the instruction's decorations
/// exclude that.
fn wraps(operation: Operation, args: &[Operand<'_>], bits: &[u64], occurrence: Occurrence) -> bool {
    if !occurrence.no_signed_wrap && !occurrence.no_unsigned_wrap {
        return false;
    }
    let operand = |a: usize| bits.get(a).copied().unwrap_or(0);
    let width = args.first().map_or(0, |a| a.shape.scalar.width());
    if !args.first().is_some_and(|a| a.shape.scalar.is_int()) {
        return false;
    }
    match operation.instruction {
        Instruction::Core(opcode) => Core::from_u32(opcode.into()).is_some_and(|op| {
            [(occurrence.no_signed_wrap, true), (occurrence.no_unsigned_wrap, false)]
                .iter()
                .any(|&(decorated, is_signed)| decorated && integer::wraps(op, width, is_signed, operand(0), operand(1)))
        }),
        // The magnitude of the least integer overflows.
        Instruction::Glsl(number) => number == Glsl::SAbs as u32 && occurrence.no_signed_wrap && operand(0) == 1 << (width - 1),
    }
}

/// Calls `f` on each operand component that component i of the result depends on. Its arguments are
/// the index of the operand and of the component.
pub(super) fn visit_dependencies(operation: Operation, args: &[Operand<'_>], results: &[Shape], i: usize, f: &mut dyn FnMut(usize, usize)) {
    let count = |a: usize| args[a].scalars.len();
    let rows = |a: usize| args[a].shape.rows as usize;
    let lanes = results.first().map_or(0, |r| r.lanes());
    let same_component = |f: &mut dyn FnMut(usize, usize)| (0..args.len()).for_each(|a| f(a, if count(a) == 1 { 0 } else { i }));
    match operation.signature {
        Signature::Select => {
            f(0, if count(0) == 1 { 0 } else { i });
            f(1, i);
            f(2, i);
        }
        Signature::VectorTimesScalar | Signature::MatrixTimesScalar => same_component(f),
        _ if operation.is_componentwise() => same_component(f),
        Signature::Pair(..) | Signature::Modf | Signature::Frexp | Signature::FrexpStruct => {
            (0..args.len()).for_each(|a| f(a, i % lanes.max(1)));
        }
        Signature::Bitcast => {
            let (from, to) = (usize::from(args[0].shape.scalar.width()), usize::from(results[0].scalar.width()));
            (i * to / from..((i + 1) * to).div_ceil(from)).for_each(|c| f(0, c));
        }
        Signature::VectorTimesMatrix => (0..rows(1)).for_each(|r| {
            f(0, r);
            f(1, i * rows(1) + r);
        }),
        Signature::MatrixTimesVector => (0..count(1)).for_each(|c| {
            f(0, c * rows(0) + i);
            f(1, c);
        }),
        Signature::MatrixTimesMatrix => (0..rows(1)).for_each(|k| {
            f(0, k * rows(0) + i % rows(0));
            f(1, i / rows(0) * rows(1) + k);
        }),
        Signature::OuterProduct => {
            f(0, i % count(0));
            f(1, i / count(0));
        }
        // The columns of the result are the rows of the operand.
        Signature::Transpose => f(0, i % args[0].shape.columns as usize * rows(0) + i / args[0].shape.columns as usize),
        Signature::Cross => [(i + 1) % 3, (i + 2) % 3].into_iter().for_each(|c| {
            f(0, c);
            f(1, c);
        }),
        _ => all(args, f),
    }
}

fn all(args: &[Operand<'_>], f: &mut dyn FnMut(usize, usize)) {
    for (a, arg) in args.iter().enumerate() {
        (0..arg.scalars.len()).for_each(|c| f(a, c));
    }
}

/// Component i of the result if some operand has undefined components. `component` is its value if
/// all were defined.
fn with_undefined_operand(operation: Operation, args: &[Operand<'_>], results: &[Shape], i: usize, component: Computed) -> ComponentResult {
    let scalar = |a: usize| args[a].scalars[if args[a].scalars.len() == 1 { 0 } else { i }];
    if operation.signature == Signature::Select {
        let condition = scalar(0);
        let chosen = args[if condition.is_true() { 1 } else { 2 }].scalars[i];
        return condition.undefined.or(chosen.undefined).map_or(ComponentResult::Computed(component), ComponentResult::UndefinedBy);
    }
    let mut first = None;
    visit_dependencies(operation, args, results, i, &mut |a, c| first = first.or(args[a].scalars[c].undefined));
    let Some(origin) = first else { return ComponentResult::Computed(component) };
    let Instruction::Core(opcode) = operation.instruction else { return ComponentResult::UndefinedBy(origin) };
    let Some(op) = Core::from_u32(opcode.into()) else { return ComponentResult::UndefinedBy(origin) };
    // The undefined operand has no effect if a defined one decides the result.
    let has_defined_bits = |bits: u64| (0..args.len()).any(|a| scalar(a).undefined.is_none() && scalar(a).bits == bits);
    let has_defined_truth = |truth: bool| args[0].scalars.iter().any(|s| s.undefined.is_none() && s.is_true() == truth);
    let width = args[0].shape.scalar.width();
    let decided = match op {
        Core::BitwiseAnd | Core::IMul | Core::LogicalAnd if has_defined_bits(0) => Some(0),
        Core::BitwiseOr if has_defined_bits(integer::mask(width)) => Some(integer::mask(width)),
        Core::LogicalOr if has_defined_bits(1) => Some(1),
        Core::Any if has_defined_truth(true) => Some(1),
        Core::All if has_defined_truth(false) => Some(0),
        _ => None,
    };
    if let Some(bits) = decided {
        return ComponentResult::Computed(Computed::Value(bits));
    }
    let behaviour = match op {
        Core::ConvertFToS | Core::ConvertFToU => Some(Ub::UndefinedOperand),
        Core::UDiv | Core::UMod | Core::SDiv | Core::SRem | Core::SMod => {
            let divisor = scalar(1);
            let is_signed = matches!(op, Core::SDiv | Core::SRem | Core::SMod);
            match divisor.undefined {
                Some(_) => Some(Ub::UndefinedOperand),
                None if divisor.bits == 0 => Some(Ub::DivisionByZero),
                None if is_signed && divisor.bits == integer::mask(width) => Some(Ub::UndefinedOperand),
                None => None,
            }
        }
        _ => None,
    };
    behaviour.map_or(ComponentResult::UndefinedBy(origin), |ub| ComponentResult::Computed(Computed::Behaviour(ub)))
}
