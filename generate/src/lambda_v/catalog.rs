//! All instances of the builtins' overloads, computed from their table. Each has its operand types,
//! and whether a specification fixes its result.

use smallstep_semantics::lambda_v::builtin::{Builtin, Emit, Shape, TABLE};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Value};
use smallstep_semantics::number::{Arithmetic, Lane, Op, Profile};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// One overload, at one I and one T.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) builtin: Builtin,
    pub(super) emit: Emit,
    pub(super) params: SmallVec<[Ground; 4]>,
    /// Whether the first operand is a literal index.
    pub(super) index: bool,
    pub(super) result: Ground,
    /// Whether no specification fixes the result, even on small numbers.
    pub(super) rough: bool,
}

impl Instance {
    /// The operation, if the overload compiles to one instruction.
    pub(super) fn op(&self) -> Option<Op> {
        match self.emit {
            Emit::Compute(op) | Emit::Swapped(op) => Some(op),
            _ => None,
        }
    }

    /// The weight of the instance among all instances with the same result type.
    fn weight(&self) -> usize {
        match self.emit {
            Emit::Compute(Op::Add | Op::Sub) => 5,
            Emit::Compute(Op::Mul) => 4,
            Emit::Compute(Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual) => 2,
            Emit::Construct => 5,
            Emit::Compute(Op::Select | Op::Any | Op::All) => 2,
            Emit::FragCoord => 3,
            _ => 1,
        }
    }
}

/// Builtins that the generator uses by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) frag_coord: Builtin,
    pub(super) plus: Builtin,
    pub(super) minus: Builtin,
    pub(super) times: Builtin,
    pub(super) sign: Builtin,
    pub(super) fract: Builtin,
    pub(super) floor: Builtin,
    pub(super) clamp: Builtin,
    pub(super) min: Builtin,
    pub(super) max: Builtin,
    pub(super) abs: Builtin,
    pub(super) less_than: Builtin,
    pub(super) less_equal: Builtin,
    pub(super) greater_than: Builtin,
    pub(super) greater_equal: Builtin,
    pub(super) eq: Builtin,
    pub(super) neq: Builtin,
    pub(super) not: Builtin,
    pub(super) and: Builtin,
    pub(super) or: Builtin,
    pub(super) select: Builtin,
    /// The component builtins x, y, z, w.
    pub(super) components: [Builtin; 4],
    /// The constructors of vectors and matrices, by [`slot`]. `None` for Num and Bool.
    pub(super) constructors: [Option<Builtin>; 11],
}

/// All instances, with indices.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) all: Vec<Instance>,
    /// The number of builtins.
    pub(super) builtins: u32,
    /// The indices of instances with a fixed result, by [`slot`] of the result. Each occurs as
    /// often as its weight.
    pub(super) fixed: [Vec<u16>; 11],
    /// The indices of the other instances, with the same structure.
    pub(super) rough: [Vec<u16>; 11],
    /// The indices of instances with a fixed result, by [`slot`] of the result and of one operand.
    pub(super) taking: [[Vec<u16>; 11]; 11],
    pub(super) known: Known,
}

/// The position of a type in `Ground::ALL`.
pub(super) fn slot(ty: Ground) -> usize {
    match ty {
        Ground::Vec(n, Elem::F) => n as usize - 1,
        Ground::Vec(n, Elem::B) => n as usize + 3,
        Ground::Mat(n) => n as usize + 6,
    }
}

/// The number of nodes of a value of this type that is written with literals.
pub(super) fn literal_size(ty: Ground) -> u32 {
    match ty {
        Ground::Vec(1, _) => 1,
        Ground::Vec(n, _) => u32::from(n) + 2,
        Ground::Mat(n) => u32::from(n) * (u32::from(n) + 2) + 2,
    }
}

/// The catalog. It is computed once.
pub(super) fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(Catalog::new)
}

impl Catalog {
    fn new() -> Catalog {
        let mut all: Vec<Instance> = Vec::new();
        for builtin in Builtin::all() {
            for overload in builtin.row().overloads {
                for n in overload.least..=overload.greatest {
                    for elem in [Elem::F, Elem::B] {
                        let generic = overload.params.iter().any(|p| matches!(p, Shape::T | Shape::T1));
                        if elem == Elem::B && !generic {
                            continue;
                        }
                        let params: Option<SmallVec<[Ground; 4]>> = overload.params.iter().map(|&p| overload.shape(p, n, elem)).collect();
                        let (Some(params), Some(result)) = (params, overload.shape(overload.result, n, elem)) else { continue };
                        // An overload that does not depend on I gives only one instance.
                        if all.iter().any(|i| i.builtin == builtin && i.emit == overload.emit && i.params == params) {
                            continue;
                        }
                        let index = overload.params.first() == Some(&Shape::Index);
                        let rough = is_rough(builtin, &params);
                        all.push(Instance { builtin, emit: overload.emit, params, index, result, rough });
                    }
                }
            }
        }
        let mut fixed: [Vec<u16>; 11] = Default::default();
        let mut rough: [Vec<u16>; 11] = Default::default();
        for (i, instance) in all.iter().enumerate() {
            let into = if instance.rough { &mut rough } else { &mut fixed };
            into[slot(instance.result)].extend(std::iter::repeat_n(i as u16, instance.weight()));
        }
        let mut taking: [[Vec<u16>; 11]; 11] = Default::default();
        for (i, instance) in all.iter().enumerate().filter(|(_, instance)| !instance.rough) {
            for (k, &param) in instance.params.iter().enumerate().skip(usize::from(instance.index)) {
                if !instance.params[..k].contains(&param) || instance.index {
                    taking[slot(instance.result)][slot(param)].push(i as u16);
                }
            }
        }
        let mut constructors = [None; 11];
        for instance in all.iter().filter(|i| i.emit == Emit::Construct) {
            constructors[slot(instance.result)] = Some(instance.builtin);
        }
        let known = Known {
            frag_coord: named("frag-coord"),
            plus: named("+"),
            minus: named("-"),
            times: named("*"),
            sign: named("sign"),
            fract: named("fract"),
            floor: named("floor"),
            clamp: named("clamp"),
            min: named("min"),
            max: named("max"),
            abs: named("abs"),
            less_than: named("less-than"),
            less_equal: named("less-equal"),
            greater_than: named("greater-than"),
            greater_equal: named("greater-equal"),
            eq: named("eq"),
            neq: named("neq"),
            not: named("not"),
            and: named("and"),
            or: named("or"),
            select: named("select"),
            components: ["x", "y", "z", "w"].map(named),
            constructors,
        };
        Catalog { all, builtins: TABLE.len() as u32, fixed, rough, taking, known }
    }
}

fn named(name: &str) -> Builtin {
    Builtin::from_name(name).expect("the table of builtins has every name that the generator uses")
}

/// Whether the builtin's result is undecided on small, distinct multiples of 1/4. Then it is taken
/// as fixed nowhere.
fn is_rough(builtin: Builtin, params: &[Ground]) -> bool {
    let operand = |(k, &ty): (usize, &Ground)| {
        let lane = |i: usize| match ty {
            Ground::Vec(_, Elem::B) => Lane::truth(i.is_multiple_of(2)),
            // The index is 0.
            _ => Lane::exact((k + 4 * i) as f32 * 0.25),
        };
        Value { ty, lanes: (0..ty.components()).map(lane).collect() }
    };
    let operands: Vec<Value> = params.iter().enumerate().map(operand).collect();
    let operands: Vec<&Value> = operands.iter().collect();
    let at = [1.5, 2.5, 0.0, 1.0].map(Lane::fragment_input);
    match builtin.apply(&operands, &at, &Arithmetic::default()) {
        Some(value) => value.lanes.iter().any(|lane| !lane.trust.is_decided(Profile::Strict)),
        None => true,
    }
}
