//! The random generation of selections, switches, loops and jumps.

use super::super::compose::cost;
use super::super::tree::*;
use super::Draw;

/// A construct that encloses a statement.
#[derive(Clone, Debug)]
pub(super) enum Nest {
    /// A loop with the locals that it carries, and whether jumps out of it are allowed.
    Loop(Vec<Phi>, bool),
    /// A switch, with the types of its merge block's phis.
    Switch(Vec<Type>),
}

impl Draw {
    fn phis(&mut self) -> Vec<Type> {
        (0..self.random.pick(&[0, 0, 1, 1, 2])).map(|_| self.mix.value(&mut self.random)).collect()
    }

    /// One branch of a selection with its values, and its cost.
    fn arm(&mut self, budget: f64, depth: u32, types: &[Type], empty: bool) -> (Arm, f64) {
        let outer = self.scope.len();
        let (mut body, mut spent) = if empty { (Vec::new(), 0.0) } else { self.block(budget, depth + 1, true) };
        let jumps = !empty && self.jump(&mut body);
        let values = types.iter().map(|ty| if jumps { Expr::zero(ty.clone()) } else { self.expr(ty, 1) }).collect::<Vec<_>>();
        spent += values.iter().map(cost).sum::<f64>() + 1.0;
        self.scope.truncate(outer);
        (Arm { body, values }, spent)
    }

    /// Ends a list of statements with a jump, if a jump is allowed there and the random choice asks
    /// for it. Returns whether it did.
    pub(super) fn jump(&mut self, body: &mut Vec<Stmt>) -> bool {
        if let Some(result) = self.returns.clone()
            && self.random.percent(self.mix.returns)
        {
            let [a, b] = [(); 2].map(|()| Stmt::Return(result.as_ref().map(|ty| self.expr(ty, 1))));
            self.leave(body, a, b);
            return true;
        }
        if !self.random.percent(self.mix.exits) {
            return false;
        }
        let enclosing_loop = self.nest.iter().rev().find_map(|nest| match nest {
            Nest::Loop(carried, exits) => Some((carried.clone(), *exits)),
            Nest::Switch(_) => None,
        });
        let switch_types = match self.nest.last() {
            Some(Nest::Switch(types)) => Some(types.clone()),
            _ => None,
        };
        let (exit, types) = match (enclosing_loop, switch_types) {
            (Some((carried, true)), switch_types) if switch_types.is_none() || self.random.percent(40) => {
                let exit = if switch_types.is_none() && self.random.percent(50) { Exit::Break } else { Exit::Continue };
                (exit, carried.into_iter().map(|(_, ty)| ty).collect())
            }
            (_, Some(types)) => (Exit::Leave, types),
            _ => return false,
        };
        let other = if exit == Exit::Break { Exit::Continue } else { exit };
        let [a, b] = [exit, other].map(|exit| Stmt::Exit(exit, types.iter().map(|ty: &Type| self.expr(ty, 1)).collect()));
        self.leave(body, a, b);
        true
    }

    /// Adds the first jump. Or, now and then, a selection between both jumps, so that control never
    /// reaches a merge block.
    fn leave(&mut self, body: &mut Vec<Stmt>, first: Stmt, second: Stmt) {
        if !self.random.percent(15) {
            return body.push(first);
        }
        let condition = self.expr(&Type::BOOL, 1);
        let arms = [first, second].map(|jump| Arm { body: vec![jump], values: Vec::new() });
        body.push(Stmt::If(condition, Box::new(arms), Vec::new()));
    }

    fn merge(&mut self, types: Vec<Type>) -> Vec<Phi> {
        types
            .into_iter()
            .map(|ty| {
                let local = self.bind(ty.clone());
                self.scope.push(local);
                (local, ty)
            })
            .collect()
    }

    pub(super) fn selection(&mut self, body: &mut Vec<Stmt>, budget: f64, depth: u32) -> f64 {
        let condition = self.expr(&Type::BOOL, self.mix.fuel.max(1));
        let types = self.phis();
        let part = budget * f64::from(self.random.between(20, 60)) / 100.0;
        let uniform = std::mem::replace(&mut self.uniform, false);
        let (first, a) = self.arm(part, depth, &types, false);
        let empty = self.random.percent(45);
        // At most one branch ends in a jump, so that control can reach the code after
        // the selection.
        let returns = if ends_in_jump(&first.body) { self.returns.take() } else { None };
        let nest = if ends_in_jump(&first.body) { std::mem::take(&mut self.nest) } else { Vec::new() };
        let (second, b) = self.arm(part, depth, &types, empty);
        if ends_in_jump(&first.body) {
            (self.returns, self.nest) = (returns, nest);
        }
        self.uniform = uniform;
        let spent = cost(&condition) + 2.0 + (a + b) / 2.0 + types.len() as f64;
        let phis = self.merge(types);
        body.push(Stmt::If(condition, Box::new([first, second]), phis));
        spent
    }

    pub(super) fn switch(&mut self, body: &mut Vec<Stmt>, budget: f64, depth: u32) -> f64 {
        let scalar = self.mix.integer(&mut self.random);
        let ty = Type::Scalar(scalar);
        let selected_value = self.expr(&ty, self.mix.fuel.max(1));
        // The selector has few values, so that invocations select the cases.
        let mask = Expr::new(ty.clone(), Op::Const(vec![self.random.pick(&[3, 3, 7])]), Vec::new());
        let selector = Expr::new(ty, Op::Binary(Binary::BitwiseAnd), vec![selected_value, mask]);
        let types = self.phis();
        let count = self.random.between(1, 4);
        let part = budget * f64::from(self.random.between(20, 60)) / 100.0;
        let uniform = std::mem::replace(&mut self.uniform, false);
        self.nest.push(Nest::Switch(types.clone()));
        let mut literals: Vec<u64> = (0..8).collect();
        let (mut cases, mut spent) = (Vec::new(), 0.0);
        for _ in 0..count {
            let literal_count = self.random.pick(&[1, 1, 1, 2]);
            let drawn = (0..literal_count).map(|_| literals.remove(self.random.below(literals.len().min(5) as u32) as usize)).collect();
            let empty = self.random.percent(10);
            let (arm, each) = self.arm(part, depth, &types, empty);
            spent += each;
            let falls = self.random.percent(30);
            cases.push(Case { literals: drawn, arm, falls });
        }
        let empty = self.random.percent(40);
        let (returns, nest) = (self.returns.take(), std::mem::take(&mut self.nest));
        let (default, each) = self.arm(part, depth, &types, empty);
        (self.returns, self.nest) = (returns, nest);
        spent += each;
        self.nest.pop();
        self.uniform = uniform;
        spent = cost(&selector) + 2.0 + spent / f64::from(count + 1) + types.len() as f64;
        let phis = self.merge(types);
        body.push(Stmt::Switch(selector, cases, default, phis));
        spent
    }

    pub(super) fn repeat(&mut self, body: &mut Vec<Stmt>, budget: f64, depth: u32) -> f64 {
        let share = budget * f64::from(self.random.between(35, 90)) / 100.0;
        let barriers = self.mix.exchange || self.mix.group_counters;
        let stays_uniform = self.uniform && barriers && self.random.percent(60);
        let limit = ((share / 9.0) as u32).clamp(1, 12);
        let (trip, turns) = if stays_uniform || self.random.percent(65) {
            let n = self.random.between(1, limit);
            (Trip::Fixed(n), f64::from(n))
        } else {
            let mask = if limit >= 8 { self.random.pick(&[3, 7, 15]) } else { 3 };
            let e = self.expr(&Type::UINT, 1);
            (Trip::Masked(e, mask), f64::from(mask) / 2.0)
        };
        let style = self.random.pick(&[Style::Header, Style::Header, Style::Block, Style::Bottom]);
        let count = self.random.pick(&[0, 1, 1, 2, 3]);
        let firsts: Vec<Expr> = (0..count)
            .map(|_| {
                let ty = self.mix.value(&mut self.random);
                self.expr(&ty, 1)
            })
            .collect();
        let outer = self.scope.len();
        let counter = self.bind(Type::UINT);
        self.scope.push(counter);
        let inside: Vec<Phi> = firsts.iter().map(|first| (self.bind(first.ty.clone()), first.ty.clone())).collect();
        self.scope.extend(inside.iter().map(|(local, _)| *local));
        let uniform = std::mem::replace(&mut self.uniform, stays_uniform);
        self.nest.push(Nest::Loop(inside.clone(), !stays_uniform));
        // A loop that contains barriers must not be left early, so nothing returns from there
        // either: see `entry`.
        let each = (share / turns - 5.0 - firsts.len() as f64).max(3.0);
        let (inner, mut spent) = self.block(each, depth + 1, true);
        let nexts: Vec<Expr> = firsts.iter().map(|first| self.expr(&first.ty, self.mix.fuel.max(1))).collect();
        spent += nexts.iter().map(cost).sum::<f64>() + 5.0 + nexts.len() as f64;
        self.nest.pop();
        self.uniform = uniform;
        self.scope.truncate(outer);
        let mut carried = Vec::new();
        for ((first, next), (inside, ty)) in firsts.into_iter().zip(nexts).zip(inside) {
            let after = self.bind(ty);
            self.scope.push(after);
            carried.push(LoopValue { inside, after, first, next });
        }
        let first_cost: f64 = carried.iter().map(|carried| cost(&carried.first)).sum();
        body.push(Stmt::Loop(Box::new(Loop { style, trip, counter, carried, body: inner })));
        spent * turns + first_cost + 3.0
    }
}

/// Whether the statements end in a jump on all paths.
fn ends_in_jump(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Exit(..) | Stmt::Return(_)) => true,
        Some(Stmt::If(_, arms, _)) => arms.iter().all(|arm| ends_in_jump(&arm.body)),
        _ => false,
    }
}
