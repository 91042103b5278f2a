//! Formulas of floats, which show whether AFTER computes the same as BEFORE in another order.
//!
//! Without NoContraction a compiler may add and multiply in another order, multiply out, contract a
//! product and a sum, and omit terms that cancel. So each float of a run is kept as a sum of
//! products. The factors are *atoms*. One kind of atom is a number that every device agrees on,
//! given by its bits. The other kind is the result of another operation, given by the operation and
//! the formulas of its operands. BEFORE allows AFTER's float if AFTER's terms are among BEFORE's,
//! and the remaining terms cancel. AFTER may add no terms: `x` does not become `x + y - y`. Also,
//! AFTER's value must be within BEFORE's set, if that is known. For modules that keep infinities
//! and NaNs (SignedZeroInfNanPreserve) no formulas are kept.
//!
//! | instruction | in a formula |
//! |---|---|
//! | FAdd, FSub, FNegate, FMul, VectorTimesScalar, Dot, Fma | sums and products |
//! | the same with NoContraction | an operation of its own |
//! | FDiv | a product with a reciprocal |
//! | loads, stores, compositions, selections | the formula of the value |
//! | images, groups | not known |
//! | calls, atomics, copies of memory, Modf and Frexp | not known; the whole run has no formulas |

use std::rc::Rc;

use rspirv::spirv::{Decoration, GlslStd450Op as Glsl};
use rustc_hash::FxHashMap;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv::Event;
use smallstep_semantics::spirv::environment::InvocationId;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::module::{Module, WHOLE};
use smallstep_semantics::spirv::shared::{Extent, ObjectId};
use smallstep_semantics::spirv::step::Action;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::value::Scalar;

use super::{Input, Planted, Settings, Side};
use crate::compute::given::Place;

/// The most terms of one formula. A larger formula is not kept.
const TERMS: usize = 64;

/// A product, possibly without factors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Term {
    /// The numbers of its atoms, ascending.
    factors: Vec<u32>,
    negative: bool,
}

/// A sum of terms, ascending.
type Formula = Rc<Vec<Term>>;

/// A factor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Atom {
    /// Bits that all devices agree on, or bits of the input.
    Bits(u64),
    /// A component of the result of an operation: opcode, function of GLSL.std.450, the widths of
    /// the result and of the first operand, the index of the component, and the operands.
    Applied([u32; 5], Vec<Formula>),
    /// One over a formula.
    Reciprocal(Formula),
}

/// The numbers of the atoms of both modules.
#[derive(Default)]
pub(super) struct Atoms(FxHashMap<Atom, u32>);

impl Atoms {
    fn of(&mut self, atom: Atom) -> Formula {
        let next = self.0.len() as u32;
        let number = *self.0.entry(atom).or_insert(next);
        Rc::new(vec![Term { factors: vec![number], negative: false }])
    }
}

fn negated(a: &Formula) -> Formula {
    let mut terms: Vec<Term> = a.iter().map(|term| Term { factors: term.factors.clone(), negative: !term.negative }).collect();
    terms.sort();
    Rc::new(terms)
}

fn sum(a: &Formula, b: &Formula) -> Option<Formula> {
    let mut terms = [&a[..], b].concat();
    terms.sort();
    (terms.len() <= TERMS).then(|| Rc::new(terms))
}

fn product(a: &Formula, b: &Formula) -> Option<Formula> {
    if a.len().saturating_mul(b.len()) > TERMS {
        return None;
    }
    let both = |x: &Term, y: &Term| {
        let mut factors = [&x.factors[..], &y.factors].concat();
        factors.sort_unstable();
        (factors.len() <= TERMS).then_some(Term { factors, negative: x.negative != y.negative })
    };
    let mut terms = a.iter().flat_map(|x| b.iter().map(move |y| both(x, y))).collect::<Option<Vec<Term>>>()?;
    terms.sort();
    Some(Rc::new(terms))
}

/// Whether a compiler may turn one formula into another: it may omit terms that cancel.
fn allows(before: &[Term], after: &[Term], settings: &Settings) -> bool {
    let mut remaining = before.to_vec();
    for term in after {
        match remaining.iter().position(|other| other == term) {
            Some(at) => _ = remaining.swap_remove(at),
            None if settings.does(Planted::Cancelling) => remaining.push(Term { negative: !term.negative, ..term.clone() }),
            None => return false,
        }
    }
    while let Some(term) = remaining.pop() {
        let Some(at) = remaining.iter().position(|other| other.factors == term.factors && other.negative != term.negative) else {
            return false;
        };
        remaining.swap_remove(at);
    }
    true
}

/// A scalar: its formula, if known, and its bits, if all devices agree on them.
#[derive(Clone, Debug, Default)]
struct Known {
    formula: Option<Formula>,
    bits: Option<u64>,
}

/// The last stored scalar and its number of bytes, by object and first byte.
type Stored = FxHashMap<(ObjectId, u64), (Known, u8)>;

/// The formulas of the words in buffers at the end of a run.
pub(super) struct Formulas {
    stored: Stored,
}

struct Watch<'a> {
    module: &'a Module,
    settings: &'a Settings,
    profile: Profile,
    atoms: &'a mut Atoms,
    values: FxHashMap<(InvocationId, u32), Rc<Vec<Known>>>,
    /// By invocation and pointer id: the variable, and the index of the scalar in it.
    pointers: FxHashMap<(InvocationId, u32), (u32, u64)>,
    variables: FxHashMap<(InvocationId, u32, u64), Known>,
    stored: Stored,
    /// The block of an invocation's last instruction that is no OpPhi.
    blocks: FxHashMap<InvocationId, u32>,
    /// The results of a block's OpPhi so far. They are committed together.
    phis: Vec<(u32, Rc<Vec<Known>>)>,
    is_incomplete: bool,
}

impl Formulas {
    /// Runs a module. `None` if some of its memory effects are not followed, or it has
    /// no observation.
    pub(super) fn of(side: &Side, input: &Input, settings: &Settings, fuel: u64, atoms: &mut Atoms) -> Option<Formulas> {
        let module = &side.module.module;
        let profile = module.entry_point(&side.module.entry).map_or(Profile::VulkanDefault, |entry| module.profile(entry));
        // With these controls another order may produce an infinity or a NaN, or lose one.
        if profile.controls().keeps_special {
            return None;
        }
        let (values, pointers, variables) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let (stored, blocks, phis) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
        let mut watch = Watch { module, settings, profile, atoms, values, pointers, variables, stored, blocks, phis, is_incomplete: false };
        let report = side.report(input, settings, fuel, &Schedule::default(), &mut |event: &Event<'_, '_>| watch.event(event));
        (!watch.is_incomplete && report.outcome.observed().is_some()).then_some(Formulas { stored: watch.stored })
    }

    /// Whether BEFORE's word at this place and byte may become AFTER's.
    pub(super) fn allow(&self, after: &Formulas, input: &Input, (place, offset): (Place, u64), settings: &Settings) -> bool {
        let Some(buffer) = place.position(&input.buffers, |b| (b.set, b.binding)) else { return false };
        let word = (ObjectId::Buffer(buffer as u32), offset);
        let formula_at = |formulas: &Formulas| {
            let (known, bytes) = formulas.stored.get(&word)?;
            known.formula.clone().filter(|_| *bytes == 4)
        };
        matches!((formula_at(self), formula_at(after)), (Some(before), Some(after)) if allows(&before, &after, settings))
    }
}

/// Whether the result of an instruction depends only on its operands, all of which are ids.
fn is_function(name: &str) -> bool {
    !["OpImage", "OpSampled", "OpGroup", "OpAtomic", "OpDPd", "OpFwidth", "OpFunction", "OpArrayLength"]
        .iter()
        .any(|other| name.starts_with(other))
}

/// Whether an instruction changes memory in a way that is not followed here.
fn has_unfollowed_effect(op: Op, operands: &[u32]) -> bool {
    let is_atomic = Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32;
    let stores = matches!(operands.get(1), Some(&function) if [Glsl::Modf as u32, Glsl::Frexp as u32].contains(&function));
    matches!(op, Op::FunctionCall | Op::CopyMemory) || is_atomic || op == Op::ExtInst && stores
}

impl Watch<'_> {
    fn event(&mut self, event: &Event<'_, '_>) {
        let (i, invocation) = (event.instruction, event.invocation);
        let operands = i.operands(self.module.words());
        if !i.is(Op::Phi) {
            for (id, known) in std::mem::take(&mut self.phis) {
                self.values.insert((invocation, id), known);
            }
        }
        let tracked = match i.op {
            _ if has_unfollowed_effect(i.op, operands) => {
                self.is_incomplete = true;
                return;
            }
            Op::Store => {
                self.store(event, operands);
                None
            }
            Op::Load => self.load(event, operands),
            Op::Phi => {
                let predecessor = self.blocks.get(&invocation).copied().unwrap_or(0);
                let pair = operands.chunks_exact(2).find(|pair| pair[1] == predecessor);
                pair.and_then(|pair| self.scalars(invocation, pair[0])).map(|scalars| scalars.to_vec())
            }
            _ => self.computed(event, operands),
        };
        match event.value {
            Some(Value::Pointer(pointer)) => _ = self.pointers.insert((invocation, i.result), (pointer.variable, pointer.address.offset)),
            Some(Value::Scalars(scalars)) if i.result != 0 => {
                let mut all = tracked.unwrap_or_default();
                all.resize(scalars.len(), Known::default());
                for (known, scalar) in all.iter_mut().zip(scalars) {
                    if scalar.undefined.is_some() {
                        *known = Known::default();
                    }
                    known.bits = self.decided(scalar);
                    if let (Some(bits), None) = (known.bits, &known.formula) {
                        known.formula = Some(self.atoms.of(Atom::Bits(bits)));
                    }
                }
                let all = Rc::new(all);
                match i.is(Op::Phi) {
                    true => self.phis.push((i.result, all)),
                    false => _ = self.values.insert((invocation, i.result), all),
                }
            }
            _ => {}
        }
        if !i.is(Op::Phi) {
            self.blocks.insert(invocation, event.at.block);
        }
    }

    /// The bits of a scalar, if all devices agree on them.
    fn decided(&self, scalar: &Scalar) -> Option<u64> {
        (scalar.undefined.is_none() && scalar.trust.is_decided(self.profile)).then_some(scalar.bits)
    }

    /// The scalars of an id. `None` if nothing is known of it.
    fn scalars(&mut self, invocation: InvocationId, id: u32) -> Option<Rc<Vec<Known>>> {
        if let Some(known) = self.values.get(&(invocation, id)) {
            return Some(known.clone());
        }
        if !self.module.is_constant(id) {
            return None;
        }
        let mut scalars = Vec::new();
        self.module.constant_scalars(id, &mut scalars);
        let known = scalars.iter().map(|scalar| match scalar.undefined {
            Some(_) => Known::default(),
            None => Known { formula: Some(self.atoms.of(Atom::Bits(scalar.bits))), bits: Some(scalar.bits) },
        });
        let known = Rc::new(known.collect::<Vec<_>>());
        self.values.insert((invocation, id), known.clone());
        Some(known)
    }

    fn pointer(&self, invocation: InvocationId, id: u32) -> (u32, u64) {
        self.pointers.get(&(invocation, id)).copied().unwrap_or((id, 0))
    }

    /// The first bytes of the stored scalars that overlap these bytes.
    fn covering(&self, object: ObjectId, first: u64, bytes: u8) -> Vec<u64> {
        let reaches = |&byte: &u64| self.stored.get(&(object, byte)).is_some_and(|(_, bytes)| byte + u64::from(*bytes) > first);
        (first.saturating_sub(7)..first + u64::from(bytes)).filter(reaches).collect()
    }

    fn store(&mut self, event: &Event<'_, '_>, operands: &[u32]) {
        let invocation = event.invocation;
        let known = self.scalars(invocation, operands[1]);
        let at = |k: usize| known.as_ref().and_then(|known| known.get(k)).cloned().unwrap_or_default();
        let mut is_shared = false;
        for action in event.actions {
            if let Action::Store(extent, scalars) = action {
                is_shared = true;
                for (k, cell) in extent.cells.iter().enumerate().take(scalars.len()) {
                    // A scalar that this store overwrites in part is no longer known.
                    for byte in self.covering(extent.object, cell.offset, cell.bytes) {
                        self.stored.remove(&(extent.object, byte));
                    }
                    self.stored.insert((extent.object, cell.offset), (at(k), cell.bytes));
                }
            }
        }
        if !is_shared {
            let (variable, first) = self.pointer(invocation, operands[0]);
            let count = self.module.type_of(operands[1]).map_or(0, |type_| self.module.types().scalars(type_));
            for k in 0..count {
                self.variables.insert((invocation, variable, first + k), at(k as usize));
            }
        }
    }

    fn load(&mut self, event: &Event<'_, '_>, operands: &[u32]) -> Option<Vec<Known>> {
        let Some(Value::Scalars(scalars)) = event.value else { return None };
        let extent = event.actions.iter().find_map(|action| if let Action::Load(extent) = action { Some(extent) } else { None });
        if let Some(Extent { object, cells, .. }) = extent {
            // A cell without a store holds the input. A store of another width may overlap it.
            let mut known = Vec::new();
            for (cell, scalar) in cells.iter().zip(scalars) {
                let stored = self.stored.get(&(*object, cell.offset)).filter(|(_, bytes)| *bytes == cell.bytes);
                let is_input = matches!(object, ObjectId::Buffer(_))
                    && scalar.undefined.is_none()
                    && self.covering(*object, cell.offset, cell.bytes).is_empty();
                known.push(match stored {
                    Some((known, _)) => known.clone(),
                    None if is_input => Known { formula: Some(self.atoms.of(Atom::Bits(scalar.bits))), bits: None },
                    None => Known::default(),
                });
            }
            return Some(known);
        }
        let (variable, first) = self.pointer(event.invocation, operands[0]);
        let variable_at = |k: u64| self.variables.get(&(event.invocation, variable, first + k)).cloned().unwrap_or_default();
        Some((0..scalars.len() as u64).map(variable_at).collect())
    }

    /// The results of other instructions.
    fn computed(&mut self, event: &Event<'_, '_>, operands: &[u32]) -> Option<Vec<Known>> {
        let (i, invocation) = (event.instruction, event.invocation);
        let Some(Value::Scalars(results)) = event.value else { return None };
        let types = self.module.types();
        let mut operand = |at: usize| operands.get(at).and_then(|&id| self.scalars(invocation, id));
        match i.op {
            Op::CopyObject | Op::CopyLogical => return operand(0).map(|all| all.to_vec()),
            Op::Bitcast => return operand(0).filter(|all| all.len() == results.len()).map(|all| all.to_vec()),
            Op::CompositeConstruct => {
                let all: Option<Vec<_>> = (0..operands.len()).map(operand).collect();
                return all.map(|all| all.iter().flat_map(|one| one.iter().cloned()).collect());
            }
            Op::CompositeExtract | Op::CompositeInsert => {
                let inserts = i.is(Op::CompositeInsert);
                let (composite, indices) = if inserts { (1, &operands[2..]) } else { (0, &operands[1..]) };
                let whole = operand(composite)?;
                let (mut first, mut type_) = (0, self.module.type_of(operands[composite])?);
                for &index in indices {
                    let (part, scalar) = types.part(type_, index.into())?;
                    (first, type_) = (first + scalar as usize, part);
                }
                let range = first..first + types.scalars(type_) as usize;
                if !inserts {
                    return whole.get(range).map(<[Known]>::to_vec);
                }
                let (object, mut whole) = (self.scalars(invocation, operands[0])?, whole.to_vec());
                whole.get_mut(range)?.clone_from_slice(&object);
                return Some(whole);
            }
            Op::VectorShuffle => {
                let both = [operand(0)?.to_vec(), operand(1)?.to_vec()].concat();
                return Some(operands[2..].iter().map(|&at| both.get(at as usize).cloned().unwrap_or_default()).collect());
            }
            Op::Select => {
                let [condition, on_true, on_false] = [operand(0)?, operand(1)?, operand(2)?];
                let chosen = |k: usize| match condition.get(if condition.len() == 1 { 0 } else { k })?.bits? {
                    0 => on_false.get(k).cloned(),
                    _ => on_true.get(k).cloned(),
                };
                return Some((0..results.len()).map(|k| chosen(k).unwrap_or_default()).collect());
            }
            _ => {}
        }
        let glsl = if i.is(Op::ExtInst) { *operands.get(1)? } else { 0 };
        let ids = if i.is(Op::ExtInst) { operands.get(2..)? } else { operands };
        let all = ids.iter().map(|&id| self.scalars(invocation, id)).collect::<Option<Vec<_>>>();
        // If an operand is of another kind, the result is not known.
        let all = all.filter(|_| is_function(&i.name()) && event.actions.is_empty())?;
        let is_float = matches!(types.component(i.result_type), Some(Type::Float { .. }));
        let is_contractible =
            self.settings.does(Planted::Contraction) || self.module.decoration(i.result, WHOLE, Decoration::NoContraction).is_none();
        let formulas = (0..results.len()).map(|part| {
            let one = |at: usize| {
                let all = all.get(at)?;
                all.get(if all.len() == 1 { 0 } else { part })?.formula.clone()
            };
            let combined = match i.op {
                _ if !is_float || !is_contractible => None,
                Op::FNegate => one(0).map(|a| negated(&a)),
                Op::FAdd => one(0).zip(one(1)).and_then(|(a, b)| sum(&a, &b)),
                Op::FSub => one(0).zip(one(1)).and_then(|(a, b)| sum(&a, &negated(&b))),
                Op::FMul | Op::VectorTimesScalar => one(0).zip(one(1)).and_then(|(a, b)| product(&a, &b)),
                Op::FDiv => one(0).zip(one(1)).and_then(|(a, b)| product(&a, &self.atoms.of(Atom::Reciprocal(b)))),
                Op::ExtInst if glsl == Glsl::Fma as u32 => {
                    one(0).zip(one(1)).zip(one(2)).and_then(|((a, b), c)| sum(&product(&a, &b)?, &c))
                }
                Op::Dot => all.first().zip(all.get(1)).and_then(|(a, b)| {
                    a.iter()
                        .zip(b.iter())
                        .try_fold(Rc::new(Vec::new()), |dot, (a, b)| sum(&dot, &product(a.formula.as_ref()?, b.formula.as_ref()?)?))
                }),
                _ => None,
            };
            let applied = || {
                let operands: Option<Vec<Formula>> = all.iter().flat_map(|all| all.iter().map(|known| known.formula.clone())).collect();
                let width = |type_: u32| types.component(type_).and_then(Type::width).map_or(1, u32::from);
                let first = ids.first().and_then(|&id| self.module.type_of(id)).map_or(0, width);
                let operation = [i.op as u32, glsl, width(i.result_type), first, part as u32];
                operands.map(|operands| Atom::Applied(operation, operands))
            };
            let opaque = |bits: Option<u64>| bits.map(Atom::Bits).or_else(applied);
            let formula = combined.or_else(|| opaque(self.decided(&results[part])).map(|atom| self.atoms.of(atom)));
            Known { formula, bits: None }
        });
        Some(formulas.collect())
    }
}
