//! Pointers that are values (seed 002, Hoisting and phis: "this scheme does not work for
//! pointers"): phis and selections of pointers, elements counted from a pointer, and pointers to
//! parts of variables at module scope as arguments.
//!
//! WGSL stores no pointers. The memory that such a pointer may point to is known at compile time: a
//! list of [`Target`]s, each a variable and the members on the path into it. The rest is known only
//! at run time and is saved instead of the pointer: the number of the target, and the indices of
//! the elements on the path. Each use rebuilds the reference from these, in a `switch` if there are
//! several targets.

use std::rc::Rc;

use rspirv::spirv::Op;
use rustc_hash::FxHashSet;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{Instruction, Module};
use smallstep_semantics::text::deep;

use super::convert::Convert;
use super::function::Body;
use super::place::Place;
use super::text::{Expr, Text};
use super::usage::Placement;
use super::{Refused, Why};

/// The most targets of one pointer.
const MAX_TARGETS: usize = 256;

/// The most values that are searched for the targets of one pointer.
const MAX_TRACED: usize = 1 << 12;

/// A step from a place in memory to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// To the member of a structure with this number.
    Member(u32),
    /// To an element, a column or a component, by an index.
    Index,
}

/// A place that a pointer may point to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    /// The id of a variable, or of a parameter that points into the Function class.
    pub(super) variable: u32,
    pub(super) steps: Vec<Step>,
}

impl Target {
    fn indices(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Index).count()
    }
}

/// A pointer by its saved parts.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) targets: Rc<[Target]>,
    /// The number of the target in `targets`.
    pub(super) target_index: Expr,
    /// The indices, in reverse order. A target with fewer indices uses the first of these.
    pub(super) indices: Vec<Expr>,
}

impl Pointer {
    /// The variable, if the pointer is to all of one variable.
    pub(super) fn variable(&self) -> Option<u32> {
        match &self.targets[..] {
            [only] if only.steps.is_empty() => Some(only.variable),
            _ => None,
        }
    }

    /// The saved parts, in the order in which [`Body::saved_names`] names them.
    pub(super) fn saved(&self) -> impl Iterator<Item = &Expr> {
        (self.targets.len() > 1).then_some(&self.target_index).into_iter().chain(&self.indices)
    }
}

/// Whether an instruction makes a pointer whose parts are saved.
pub(super) fn is_saved(module: &Module, i: &Instruction) -> bool {
    matches!(i.op, Op::Phi | Op::Select | Op::PtrAccessChain | Op::InBoundsPtrAccessChain) && module.pointer_type(i.result_type).is_some()
}

/// The steps of an access chain with these indices, from a pointer.
pub(super) fn steps(module: &Module, pointer: u32, indices: &[u32]) -> Vec<Step> {
    let types = module.types();
    let mut type_ = module.type_of(pointer).and_then(|t| module.pointer_type(t)).map_or(0, |(_, pointee)| pointee);
    let step = |&index: &u32| {
        let member = matches!(types.get(type_), Some(Type::Struct { .. })).then(|| module.integer(index).unwrap_or(0).max(0) as u32);
        type_ = types.part(type_, member.map_or(0, u64::from)).map_or(0, |(part, _)| part);
        member.map_or(Step::Index, Step::Member)
    };
    indices.iter().map(step).collect()
}

/// The variable that a pointer points into, if only access chains lead there. Otherwise the pointer
/// where the chains end.
pub(super) fn base(module: &Module, mut pointer: u32) -> u32 {
    while let Some(i) = module.instruction(pointer) {
        let from = match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => i.operands(module.words())[0],
            _ => break,
        };
        // The operand is defined before the pointer, so the loop ends.
        if module.definition(from) >= module.definition(pointer) {
            break;
        }
        pointer = from;
    }
    pointer
}

/// The value of a constant index.
pub(super) fn number(index: &Expr) -> Option<i64> {
    let digits = index.text.strip_suffix('u').filter(|_| index.constant)?;
    digits.parse().ok()
}

impl Convert<'_> {
    /// The variables at module scope that these pointers may point into.
    pub(super) fn pointed_variables(&self, pointers: Vec<u32>) -> FxHashSet<u32> {
        let module = self.module;
        let (mut variables, mut work) = (FxHashSet::default(), pointers);
        let arguments = self.arguments();
        // By instruction.
        let mut seen = vec![false; module.instructions().len()];
        while let Some(id) = work.pop() {
            let Some(at) = module.definition(id).filter(|&at| !std::mem::replace(&mut seen[at], true)) else { continue };
            let i = &module.instructions()[at];
            let operands = i.operands(module.words());
            match i.op {
                Op::Phi => work.extend(operands.iter().step_by(2)),
                Op::Select => work.extend(&operands[1..]),
                Op::FunctionParameter => work.extend(arguments.get(&id).into_iter().flatten()),
                Op::Variable if module.variable(id).is_some_and(|v| v.function.is_none()) => _ = variables.insert(id),
                Op::Variable => {}
                // All other instructions derive the pointer from their pointer operands.
                _ => work.extend(operands.iter().filter(|id| module.type_of(**id).is_some_and(|t| module.pointer_type(t).is_some()))),
            }
        }
        variables
    }
}

impl Body<'_, '_> {
    /// The targets of a pointer.
    fn targets(&self, id: u32) -> Result<Rc<[Target]>, Refused> {
        let module = self.convert.module;
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut work = vec![(id, Vec::new())];
        while let Some((id, later_steps)) = work.pop() {
            if !seen.insert((id, later_steps.clone())) {
                continue;
            }
            if seen.len() > MAX_TRACED || found.len() > MAX_TARGETS {
                return Err(self.convert.refused(Why::Limit, format!("a pointer may point to more than {MAX_TARGETS} things")));
            }
            let Some(i) = module.instruction(id) else { continue };
            let operands = i.operands(module.words());
            match i.op {
                Op::Phi => work.extend(operands.iter().step_by(2).map(|&id| (id, later_steps.clone()))),
                Op::Select => work.extend(operands[1..].iter().map(|&id| (id, later_steps.clone()))),
                Op::CopyObject => work.push((operands[0], later_steps)),
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let mut path = steps(module, operands[0], &operands[1..]);
                    path.extend(later_steps);
                    work.push((operands[0], path));
                }
                Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                    let mut path = steps(module, operands[0], &operands[2..]);
                    path.extend(later_steps);
                    work.push((operands[0], path));
                }
                Op::Undef | Op::ConstantNull => {}
                _ => {
                    let saved = self.saved_pointer(id)?;
                    for target in saved.targets.iter() {
                        let steps = [&target.steps[..], &later_steps].concat();
                        let target = Target { variable: target.variable, steps };
                        if !found.contains(&target) {
                            found.push(target);
                        }
                    }
                }
            }
        }
        if found.is_empty() {
            return Err(self.convert.refused(Why::Pointer, format!("the pointer %{id} points to nothing")));
        }
        Ok(found.into())
    }

    /// A pointer that is a variable or a parameter, or that has been saved.
    fn saved_pointer(&self, id: u32) -> Result<Pointer, Refused> {
        if let Some(pointer) = self.pointers.get(&id) {
            return Ok(pointer.clone());
        }
        let module = self.convert.module;
        let variable = self.bindings.get(&id).map_or(id, |bound| bound.variable);
        if module.variable(variable).is_none() && self.places.get(variable).is_none() {
            let what = module.instruction(id).map_or("nothing".into(), |i| i.name());
            return Err(self.convert.refused(Why::Pointer, format!("the pointer %{id} is made by {what}, and WGSL stores no pointers")));
        }
        let targets = [Target { variable, steps: Vec::new() }];
        Ok(Pointer { targets: targets.into(), target_index: Expr::literal("0u"), indices: Vec::new() })
    }

    /// The parts of a pointer that are saved.
    pub(super) fn pointer(&mut self, id: u32) -> Result<Pointer, Refused> {
        let module = self.convert.module;
        let unsaved = module.instruction(id).filter(|_| !self.pointers.contains_key(&id));
        let Some(i) = unsaved else { return self.saved_pointer(id) };
        let operands = i.operands(module.words());
        match i.op {
            Op::CopyObject => deep(|| self.pointer(operands[0])),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let from = deep(|| self.pointer(operands[0]))?;
                self.advance(from, operands[0], &operands[1..])
            }
            Op::Undef | Op::ConstantNull => Ok(Pointer { targets: [].into(), target_index: Expr::literal("0u"), indices: Vec::new() }),
            _ => self.saved_pointer(id),
        }
    }

    /// The pointer to a part of the memory that a pointer points to.
    fn advance(&mut self, mut from: Pointer, pointer: u32, indices: &[u32]) -> Result<Pointer, Refused> {
        let path = steps(self.convert.module, pointer, indices);
        for (step, &index) in path.iter().zip(indices) {
            if *step == Step::Index {
                let index = self.integer(index, false)?;
                from.indices.insert(0, index);
            }
        }
        let target = |t: &Target| Target { variable: t.variable, steps: [&t.steps[..], &path].concat() };
        Ok(Pointer { targets: from.targets.iter().map(target).collect(), ..from })
    }

    /// The pointer of an instruction whose result is saved.
    fn computed_pointer(&mut self, i: &Instruction, operands: &[u32]) -> Result<Pointer, Refused> {
        if i.is(Op::Select) {
            let condition = self.value(operands[0])?;
            let [mut one, mut other] = [self.pointer(operands[1])?, self.pointer(operands[2])?];
            let targets = self.targets(i.result)?;
            [one.target_index, other.target_index] = [self.number_among(&one, &targets)?, self.number_among(&other, &targets)?];
            let count = targets.iter().map(Target::indices).max().unwrap_or(0);
            for pointer in [&mut one, &mut other] {
                pointer.indices.resize(count, Expr::literal("0u"));
            }
            let selected = |one: &Expr, other: &Expr| match one == other {
                true => one.clone(),
                false => Expr::call("select", &[other.clone(), one.clone(), condition.clone()]),
            };
            let indices = one.indices.iter().zip(&other.indices).map(|(one, other)| selected(one, other)).collect();
            return Ok(Pointer { targets, target_index: selected(&one.target_index, &other.target_index), indices });
        }
        // OpPtrAccessChain goes some elements further, and then into that element.
        let mut from = self.pointer(operands[0])?;
        let (Some(last), true) = (from.indices.first().cloned(), from.targets.iter().all(|t| t.steps.last() == Some(&Step::Index))) else {
            return Err(self.convert.refused_at(i, Why::Pointer, "it counts elements from a pointer that points to no element"));
        };
        let elements = self.integer(operands[1], false)?;
        let mut sum = [last, elements];
        self.operating(&mut sum)?;
        from.indices[0] = match self.convert.plan.counts_no_elements() {
            true => sum[0].clone(),
            false => Expr::binary("+", &sum[0], &sum[1]),
        };
        self.advance(from, operands[0], &operands[2..])
    }

    /// The number of a pointer's target in another list that contains all its targets.
    fn number_among(&self, pointer: &Pointer, targets: &[Target]) -> Result<Expr, Refused> {
        let place = |target: &Target| targets.iter().position(|t| t == target);
        let literal = |number: usize| Expr::literal(format!("{number}u"));
        let Some(numbers) = pointer.targets.iter().map(place).collect::<Option<Vec<usize>>>() else {
            return Err(self.convert.refused(Why::Pointer, "a pointer points to what its type does not lead to".into()));
        };
        if numbers.len() > 1 && numbers.iter().enumerate().all(|(at, number)| at == *number) {
            return Ok(pointer.target_index.clone());
        }
        let (first, rest) = numbers.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        let selected = rest.iter().enumerate().fold(literal(first), |number, (at, &next)| {
            let is_target = Expr::binary("==", &pointer.target_index, &literal(at + 1));
            Expr::call("select", &[number, literal(next), is_target])
        });
        Ok(selected)
    }

    /// Rebuilds a reference from the saved parts of a pointer.
    fn rebuild_reference(&mut self, pointer: &Pointer, i: &Instruction) -> Result<Place, Refused> {
        let mut places = Vec::new();
        for target in pointer.targets.iter() {
            let mut indices = pointer.indices[..target.indices().min(pointer.indices.len())].iter().rev().cloned();
            let mut steps = target.steps.iter();
            let mut place = match self.convert.descriptor_levels(target.variable) {
                0 => self.place(target.variable)?,
                levels => {
                    let first: Vec<Expr> = steps.by_ref().take(levels).filter_map(|_| indices.next()).collect();
                    let type_ = self.convert.module.variable(target.variable).map_or(0, |v| v.type_);
                    let (descriptor_index, _) = self.descriptor_index_of(type_, &first);
                    self.descriptor(target.variable, descriptor_index)?
                }
            };
            for step in steps {
                let index = if *step == Step::Index { indices.next() } else { None };
                place = match (step, index) {
                    (Step::Member(member), _) => self.part(place, i64::from(*member), None, i)?,
                    (_, Some(index)) => match number(&index) {
                        Some(number) => self.part(place, number, None, i)?,
                        None => self.part(place, -1, Some(index), i)?,
                    },
                    (_, None) => return Err(self.convert.refused_at(i, Why::Pointer, "a pointer has fewer indices than its target")),
                };
            }
            places.push(place);
        }
        match places.len() {
            1 => Ok(places.remove(0)),
            _ => Ok(Place::chosen(pointer.target_index.clone(), places)),
        }
    }

    /// Names for the saved parts of a pointer to these targets, and the pointer with these names.
    pub(super) fn saved_names(&mut self, id: u32, targets: Rc<[Target]>) -> (Vec<Text>, Pointer) {
        let wanted_name = self.wanted_name(id);
        let mut names = Vec::new();
        let mut name = |this: &mut Self, wanted_name: String| {
            let name = this.convert.names.local(&wanted_name);
            names.push(name.clone());
            Expr::name(name)
        };
        let target_index = match targets.len() {
            1 => Expr::literal("0u"),
            _ => name(self, format!("{wanted_name}_target")),
        };
        let count = targets.iter().map(Target::indices).max().unwrap_or(0);
        let indices = (0..count).map(|at| name(self, format!("{wanted_name}_index{}", count - 1 - at))).collect();
        (names, Pointer { targets, target_index, indices })
    }

    /// Records a pointer, and the reference that its uses spell.
    pub(super) fn keep_pointer(&mut self, id: u32, pointer: Pointer) -> Result<(), Refused> {
        let Some(i) = self.convert.module.instruction(id) else { return Ok(()) };
        let place = self.rebuild_reference(&pointer, i)?;
        self.spell(&place)?;
        self.pointers.insert(id, pointer);
        self.places.insert(id, place);
        Ok(())
    }

    /// Declares variables for the saved parts of a pointer. The pointer is a phi, or is used
    /// outside of the list where it is made.
    pub(super) fn declare_pointer(&mut self, id: u32) -> Result<(), Refused> {
        let targets = self.targets(id)?;
        let (names, pointer) = self.saved_names(id, targets);
        for name in names {
            self.line(format!("var {name}: u32;"));
        }
        self.keep_pointer(id, pointer)
    }

    /// Writes an instruction whose result is a saved pointer.
    pub(super) fn save_pointer(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let computed = self.computed_pointer(i, operands)?;
        match self.placement(index) {
            Placement::Unused => Ok(()),
            Placement::Var(_) => self.assign_pointer(i.result, &computed).map(|assigned| {
                assigned.into_iter().for_each(|(name, value)| self.line(format!("{name} = {};", value.text)));
            }),
            _ => {
                let (names, pointer) = self.saved_names(i.result, computed.targets.clone());
                for (name, value) in names.iter().zip(computed.saved()) {
                    let declares = if value.constant { "var" } else { "let" };
                    self.line(format!("{declares} {name} = {};", value.text));
                }
                self.keep_pointer(i.result, pointer)
            }
        }
    }

    /// The assignments that change a saved pointer: names and their new values.
    pub(super) fn assign_pointer(&self, id: u32, other: &Pointer) -> Result<Vec<(Text, Expr)>, Refused> {
        let Some(own) = self.pointers.get(&id).filter(|_| !other.targets.is_empty()) else { return Ok(Vec::new()) };
        let mut assigned = Vec::new();
        if own.targets.len() > 1 && !self.convert.plan.forgets_targets() {
            assigned.push((own.target_index.text.clone(), self.number_among(other, &own.targets)?));
        }
        let indices = own.indices.iter().zip(&other.indices).map(|(name, index)| (name.text.clone(), index.clone()));
        assigned.extend(indices.filter(|_| !self.convert.plan.forgets_indices()));
        Ok(assigned)
    }
}
