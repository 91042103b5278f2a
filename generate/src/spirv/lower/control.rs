//! The lowering of selections, switches and loops: merge blocks with their phis, and the jumps
//! to them.

use super::super::emit::literal;
use super::super::tree::{Arm, Case, Exit, Expr, Local, Loop, Phi, Style, Trip, Type, UINT};
use super::Lower;
use rspirv::spirv::{self, LoopControl, SelectionControl};
use smallstep_semantics::spirv::write::Id;

/// The target of jumps: an enclosing switch or loop.
pub(super) struct Frame {
    merge: Id,
    /// The continue target. `None` for a switch.
    next: Option<Id>,
    /// The values for the phis from a jump that names none.
    values: Vec<Id>,
    breaks: Vec<(Vec<Id>, Id)>,
    continues: Vec<(Vec<Id>, Id)>,
}

impl Lower<'_> {
    pub(super) fn exit(&mut self, exit: Exit, values: &[Expr]) {
        let mut values = self.values(values);
        let target_frame = if exit == Exit::Leave { self.frames.last() } else { self.frames.iter().rfind(|f| f.next.is_some()) };
        let Some(defaults) = target_frame.map(|frame| frame.values.clone()) else { unreachable!("a jump stands in what it leaves") };
        values.extend(defaults.into_iter().skip(values.len()));
        let label = self.label;
        let frame = match exit {
            Exit::Leave => self.frames.last_mut(),
            _ => self.frames.iter_mut().rfind(|f| f.next.is_some()),
        };
        let Some(frame) = frame else { unreachable!("a jump stands in what it leaves") };
        let target = match (exit, frame.next) {
            (Exit::Continue, Some(next)) => {
                frame.continues.push((values, label));
                next
            }
            _ => {
                frame.breaks.push((values, label));
                frame.merge
            }
        };
        self.emit.act(spirv::Op::Branch, &[target]);
    }

    /// Begins a merge block and its phis. Returns whether any branch reaches it.
    fn merge(&mut self, label: Id, incoming: &[(Vec<Id>, Id)], phis: &[(Local, Type)]) -> bool {
        self.begin(label);
        if incoming.is_empty() {
            self.emit.act(spirv::Op::Unreachable, &[]);
            return false;
        }
        for (i, (local, ty)) in phis.iter().enumerate() {
            let ty = self.emit.ty(ty);
            let operands: Vec<u32> = incoming.iter().flat_map(|(values, from)| [values[i], *from]).collect();
            self.locals[*local as usize] = self.emit.op(spirv::Op::Phi, ty, &operands);
        }
        true
    }

    pub(super) fn selection(&mut self, condition: &Expr, arms: &[Arm; 2], phis: &[Phi]) -> bool {
        let condition = self.value(condition);
        let mut incoming = Vec::new();
        let direct = arms[1].body.is_empty();
        if direct {
            let values = self.values(&arms[1].values);
            incoming.push((values, self.label));
        }
        let (then, merge) = (self.emit.id(), self.emit.id());
        let else_label = if direct { merge } else { self.emit.id() };
        self.emit.act(spirv::Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.emit.act(spirv::Op::BranchConditional, &[condition, then, else_label]);
        for (label, arm) in [(then, &arms[0]), (else_label, &arms[1])] {
            if label == merge {
                continue;
            }
            self.begin(label);
            self.weighted(0.5, |lower| lower.arm(arm, merge, &mut incoming));
        }
        self.merge(merge, &incoming, phis)
    }

    fn arm(&mut self, arm: &Arm, merge: Id, incoming: &mut Vec<(Vec<Id>, Id)>) {
        if self.block(&arm.body) {
            let values = self.values(&arm.values);
            incoming.push((values, self.label));
            self.emit.act(spirv::Op::Branch, &[merge]);
        }
    }

    pub(super) fn switch(&mut self, selector: &Expr, cases: &[Case], default: &Arm, phis: &[Phi]) -> bool {
        let scalar = selector.ty.scalar().map_or(UINT, |(scalar, _)| scalar);
        let selector = self.value(selector);
        let merge = self.emit.id();
        let mut incoming = Vec::new();
        let direct = default.body.is_empty();
        if direct {
            let values = self.values(&default.values);
            incoming.push((values, self.label));
        }
        let labels: Vec<Id> = cases.iter().map(|_| self.emit.id()).collect();
        let else_label = if direct { merge } else { self.emit.id() };
        self.emit.act(spirv::Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        let mut operands = vec![selector, else_label];
        for (case, &label) in cases.iter().zip(&labels) {
            for &bits in &case.literals {
                operands.extend(literal(scalar, bits & scalar.mask()));
                operands.push(label);
            }
        }
        self.emit.act(spirv::Op::Switch, &operands);
        // A jump to the merge block that names no values takes zeros. Constants are declared
        // outside of functions, so they may be used in every block.
        let zeros = phis.iter().map(|(_, ty)| self.emit.constant(ty, &vec![0; ty.scalars()])).collect();
        self.frames.push(Frame { merge, next: None, values: zeros, breaks: Vec::new(), continues: Vec::new() });
        let weight = 1.0 / (cases.len() + 1) as f64;
        for (i, case) in cases.iter().enumerate() {
            self.begin(labels[i]);
            self.weighted(weight, |lower| match labels.get(i + 1) {
                Some(&next) if case.falls => {
                    if lower.block(&case.arm.body) {
                        lower.emit.act(spirv::Op::Branch, &[next]);
                    }
                }
                _ => lower.arm(&case.arm, merge, &mut incoming),
            });
        }
        if !direct {
            self.begin(else_label);
            self.weighted(weight, |lower| lower.arm(default, merge, &mut incoming));
        }
        if let Some(frame) = self.frames.pop() {
            incoming.extend(frame.breaks);
        }
        self.merge(merge, &incoming, phis)
    }

    pub(super) fn repeat(&mut self, l: &Loop) -> bool {
        let (uint, boolean) = (self.emit.ty(&Type::UINT), self.emit.ty(&Type::BOOL));
        let (limit, turns) = match &l.trip {
            Trip::Fixed(n) => (self.emit.uint(*n), f64::from(*n)),
            Trip::Masked(e, mask) => {
                let value = self.value(e);
                let bits = self.emit.uint(*mask);
                (self.emit.op(spirv::Op::BitwiseAnd, uint, &[value, bits]), f64::from(*mask) / 2.0)
            }
        };
        let turns = if l.style == Style::Bottom { turns.max(1.0) } else { turns };
        let firsts: Vec<Id> = l.carried.iter().map(|carried| self.value(&carried.first)).collect();
        let zero = self.emit.uint(0);
        let before = self.label;
        let [header, body, next, merge] = [(); 4].map(|()| self.emit.id());
        self.emit.act(spirv::Op::Branch, &[header]);
        self.begin(header);

        // The values from the continue target are not known yet. They are filled in after the body.
        let mut patches = Vec::new();
        let mut phi = |lower: &mut Self, ty: Id, first: Id| {
            let id = lower.emit.op(spirv::Op::Phi, ty, &[first, before, 0, next]);
            patches.push(lower.emit.code.words.len() - 2);
            id
        };
        let outer = self.emit.weight;
        self.emit.weight = outer * turns.max(1.0);
        let counter = phi(self, uint, zero);
        self.locals[l.counter as usize] = counter;
        let mut inside = Vec::new();
        for (carried, &first) in l.carried.iter().zip(&firsts) {
            let ty = self.emit.ty(&carried.first.ty);
            let id = phi(self, ty, first);
            self.locals[carried.inside as usize] = id;
            inside.push(id);
        }
        let mut incoming = Vec::new();
        let control = LoopControl::NONE.bits();
        match l.style {
            Style::Bottom => {
                self.emit.act(spirv::Op::LoopMerge, &[merge, next, control]);
                self.emit.act(spirv::Op::Branch, &[body]);
            }
            Style::Header => {
                let goes_on = self.emit.op(spirv::Op::ULessThan, boolean, &[counter, limit]);
                self.emit.act(spirv::Op::LoopMerge, &[merge, next, control]);
                self.emit.act(spirv::Op::BranchConditional, &[goes_on, body, merge]);
                incoming.push((inside.clone(), header));
            }
            Style::Block => {
                let check = self.emit.id();
                self.emit.act(spirv::Op::LoopMerge, &[merge, next, control]);
                self.emit.act(spirv::Op::Branch, &[check]);
                self.begin(check);
                let goes_on = self.emit.op(spirv::Op::ULessThan, boolean, &[counter, limit]);
                self.emit.act(spirv::Op::BranchConditional, &[goes_on, body, merge]);
                incoming.push((inside.clone(), check));
            }
        }
        self.emit.weight = outer * turns;
        self.frames.push(Frame { merge, next: Some(next), values: inside.clone(), breaks: Vec::new(), continues: Vec::new() });
        self.begin(body);
        if self.block(&l.body) {
            let values: Vec<Id> = l.carried.iter().map(|carried| self.value(&carried.next)).collect();
            let label = self.label;
            self.emit.act(spirv::Op::Branch, &[next]);
            if let Some(frame) = self.frames.last_mut() {
                frame.continues.push((values, label));
            }
        }
        let Some(frame) = self.frames.pop() else { unreachable!("the loop's own frame") };
        self.begin(next);
        let nexts: Vec<Id> = match frame.continues.as_slice() {
            // No path reaches the continue target, but the header has an edge from it.
            [] => inside.clone(),
            [(values, _)] => values.clone(),
            edges => (0..inside.len())
                .map(|i| {
                    let ty = self.emit.ty(&l.carried[i].first.ty);
                    let operands: Vec<u32> = edges.iter().flat_map(|(values, from)| [values[i], *from]).collect();
                    self.emit.op(spirv::Op::Phi, ty, &operands)
                })
                .collect(),
        };
        let one = self.emit.uint(1);
        let advanced = self.emit.op(spirv::Op::IAdd, uint, &[counter, one]);
        for (patch, &value) in patches.iter().zip([advanced].iter().chain(&nexts)) {
            self.emit.code.words[*patch] = value;
        }
        let mut reached = true;
        if l.style == Style::Bottom {
            let goes_on = self.emit.op(spirv::Op::ULessThan, boolean, &[advanced, limit]);
            self.emit.act(spirv::Op::BranchConditional, &[goes_on, header, merge]);
            incoming.push((nexts, next));
            reached = !frame.continues.is_empty() || !frame.breaks.is_empty();
        } else {
            self.emit.act(spirv::Op::Branch, &[header]);
        }
        self.emit.weight = outer;
        if !reached {
            self.begin(merge);
            self.emit.act(spirv::Op::Unreachable, &[]);
            return false;
        }
        incoming.extend(frame.breaks);
        let phis: Vec<Phi> = l.carried.iter().map(|carried| (carried.after, carried.first.ty.clone())).collect();
        self.merge(merge, &incoming, &phis)
    }
}
