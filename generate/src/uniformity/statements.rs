//! Statements, and how they change the estimate of what may differ between threads.

use super::tree::{Expr, Kind, Part, Stmt, parts};
use super::{Generator, Level, Returning, Shape};

/// A statement that is only text.
fn line(text: impl Into<String>) -> Stmt {
    Stmt(vec![Part::Text(text.into())])
}

/// A statement with a head and a body, such as `if ($) {…}`.
fn headed<const N: usize>(head: &str, exprs: [Expr; N], body: Vec<Stmt>) -> Stmt {
    let mut all = parts(head, exprs);
    all.push(Part::Body(body));
    Stmt(all)
}

impl Generator {
    /// A block that starts with the statements that `first` adds. Its variables stay in scope.
    pub(super) fn block_of(&mut self, first: impl FnOnce(&mut Self, &mut Vec<Stmt>)) -> Vec<Stmt> {
        self.depth += 1;
        let mut body = Vec::new();
        first(self, &mut body);
        // A function's block takes all statements that are left. An inner block takes a few.
        let limit = if self.depth == 2 { i32::MAX } else { 1 + self.random.below(4) as i32 };
        let mut count = 0;
        while count < limit && self.remaining > 0 {
            self.remaining -= 1;
            count += 1;
            self.statement(&mut body);
        }
        if body.is_empty() {
            self.assign(&mut body);
        }
        self.depth -= 1;
        body
    }

    /// A block whose variables go out of scope at its end.
    fn block(&mut self) -> Vec<Stmt> {
        let vars = self.vars.len();
        let body = self.block_of(|_, _| {});
        self.close(vars);
        body
    }

    fn close(&mut self, vars: usize) {
        self.vars.truncate(vars);
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) {
        let nested = self.depth < 6;
        let weights: [u32; 14] = match nested {
            true => [14, 16, 8, 20, 5, 9, 5, 24, 8, 4, 3, 6, 3, 3],
            false => [14, 16, 8, 0, 0, 0, 0, 24, 8, 0, 3, 6, 3, 3],
        };
        match self.random.weighted(&weights) {
            0 => self.declaration(out),
            1 | 2 => self.assign(out),
            3 => self.branches(out),
            4 => self.while_loop(out),
            5 => self.for_loop(out),
            6 => self.do_loop(out),
            7 => self.barrier_statement(out),
            8 => {
                if self.functions.is_empty() {
                    return self.barrier_statement(out);
                }
                let f = self.functions[self.random.below(self.functions.len() as u32) as usize].clone();
                if let Some((e, _)) = self.call(&f, 1) {
                    out.push(Stmt(parts("$;", [e])));
                }
            }
            9 => self.switch(out),
            10 => self.pairs(out),
            11 => self.pointer(out),
            12 => self.atomic(out),
            _ => {
                let body = if nested { self.block() } else { return };
                out.push(headed("", [], body));
            }
        }
    }

    fn assign(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.percent(60);
        if let Some((e, _)) = self.assignment(2, uniform) {
            out.push(Stmt(parts("$;", [e])));
        }
    }

    pub(super) fn declaration(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.percent(60);
        let shape = self.random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5]);
        if shape == 4 {
            let (e, varies) = self.condition(1, uniform);
            let name = self.fresh("b");
            out.push(Stmt(parts(&format!("bool {name} = $;"), [e])));
            let varies = varies || self.may_diverge();
            return self.var(name, Shape::Bool, varies, true);
        }
        if shape == 5 {
            // The language initializes it with 0.
            let name = self.fresh("v");
            out.push(line(format!("uint {name};")));
            let varies = self.may_diverge();
            return self.var(name, Shape::Scalar, varies, true);
        }
        let (e, varies) = self.uint(2, uniform);
        let varies = varies || self.may_diverge();
        let name = if shape == 0 { self.name() } else { self.fresh("v") };
        match shape {
            0 => {
                out.push(Stmt(parts(&format!("uint {name} = $;"), [e])));
                self.var(name, Shape::Scalar, varies, true);
            }
            1 => {
                out.push(line(format!("Pair {name};")));
                out.push(Stmt(parts(&format!("{name}.a = $;"), [e])));
                self.var(name, Shape::Pair, varies, true);
            }
            2 => {
                out.push(Stmt(parts(&format!("uint4 {name} = uint4(0u, 1u, 2u, $);"), [e])));
                self.var(name, Shape::Vector, varies, true);
            }
            _ => {
                out.push(line(format!("uint[4] {name};")));
                out.push(Stmt(parts(&format!("{name}[1u] = $;"), [e])));
                self.var(name, Shape::Array, varies, true);
            }
        }
    }

    /// Declares a pointer or reference to a variable, or into constant, device or
    /// threadgroup memory.
    fn pointer(&mut self, out: &mut Vec<Stmt>) {
        let fit = self.fitting(|v| {
            v.writable && matches!(v.shape, Shape::Scalar | Shape::Pair | Shape::Array)
                || matches!(v.shape, Shape::Constant | Shape::Group { .. } | Shape::Device)
        });
        let Some(target) = self.pick(&fit) else { return };
        let (name, target_name, varies) = (self.fresh("p"), self.vars[target].name.clone(), self.may_diverge());
        let into = |g: &mut Self, ty: &str, out: &mut Vec<Stmt>| {
            let uniform = g.percent(if ty == "constant" { 60 } else { 20 });
            let (e, differs) = g.uint(0, uniform);
            out.push(Stmt(parts(&format!("{ty} uint* {name} = &{target_name}[$ & 7u];"), [e])));
            differs
        };
        let (shape, varies) = match self.vars[target].shape {
            Shape::Scalar => {
                out.push(line(format!("thread uint* {name} = &{target_name};")));
                (Shape::Pointer(target), false)
            }
            Shape::Pair => {
                out.push(line(format!("thread Pair* {name} = &{target_name};")));
                (Shape::PairPointer(target), false)
            }
            Shape::Array => {
                out.push(line(format!("thread uint[] {name} = @{target_name};")));
                (Shape::Reference(target), false)
            }
            Shape::Constant => (Shape::ConstantPointer, into(self, "constant", out) || varies),
            Shape::Device => (Shape::SharedPointer, into(self, "device", out)),
            _ => (Shape::SharedPointer, into(self, "threadgroup", out)),
        };
        self.var(name, shape, varies, !matches!(shape, Shape::ConstantPointer | Shape::SharedPointer));
    }

    /// Stores the result of an atomic operation in a variable, or assigns a new value to a `bool`.
    fn atomic(&mut self, out: &mut Vec<Stmt>) {
        let bools = self.fitting(|v| v.shape == Shape::Bool);
        if let Some(i) = self.pick(&bools)
            && self.percent(60)
        {
            let uniform = self.percent(60);
            let (e, varies) = self.condition(1, uniform);
            self.store(i, varies, true);
            return out.push(Stmt(parts(&format!("{} = $;", self.vars[i].name), [e])));
        }
        let atomics = self.fitting(|v| v.shape == Shape::Atomic);
        let scalars = self.fitting(|v| v.shape == Shape::Scalar && v.writable);
        let (Some(_), Some(i)) = (self.pick(&atomics), self.pick(&scalars)) else { return };
        let (e, _) = self.uint(1, true);
        out.push(Stmt(parts(&format!("InterlockedAdd(&number, $, &{});", self.vars[i].name), [e])));
        self.store(i, true, true);
    }

    /// Assigns a `Pair` that is computed from other pairs.
    fn pairs(&mut self, out: &mut Vec<Stmt>) {
        let pairs = self.fitting(|v| v.shape == Shape::Pair && v.writable);
        let (Some(i), Some(j)) = (self.pick(&pairs), self.pick(&pairs)) else { return };
        let sum = self.percent(50);
        let varies = sum && self.vars[i].varies || self.vars[j].varies;
        self.store(i, varies, true);
        let (x, y) = (&self.vars[i].name, &self.vars[j].name);
        out.push(line(if sum { format!("{x} = {x} + {y};") } else { format!("{x} = {y};") }));
    }

    /// Adds a barrier or derivative as a statement.
    fn barrier_statement(&mut self, out: &mut Vec<Stmt>) {
        if self.may_diverge() && !self.slip() {
            return;
        }
        self.needs_uniformity = true;
        if !self.fragment {
            let barrier = self.barrier();
            return out.push(line(format!("{barrier};")));
        }
        let uniform = self.percent(30);
        let (e, _) = self.uint(1, uniform);
        let (name, f) = (self.fresh("d"), self.random.pick(&["ddx", "ddy", "fwidth", "ddx_fine", "ddy_coarse", "fwidth_coarse"]));
        out.push(Stmt(parts(&format!("float {name} = {f}(float($));"), [e])));
    }

    /// Whether the next condition is to be uniform.
    fn next_is_uniform(&mut self) -> bool {
        let uniform = self.percent(if self.may_diverge() { 30 } else { 62 });
        uniform != self.slip()
    }

    fn branches(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.next_is_uniform();
        let (c, varies) = self.condition(2, uniform);
        let (jumps, has_else) = (self.percent(30), self.percent(45));
        // At most one branch ends in a jump, so that control can reach the statements after it.
        let jumps_in_then = jumps && (!has_else || self.percent(50));
        let before: Vec<bool> = self.vars.iter().map(|v| v.varies).collect();
        let then_body = self.under_condition(varies, |g| {
            let mut body = g.block();
            if jumps_in_then {
                g.jump(&mut body);
            }
            body
        });
        let mut stmt = headed("if ($) ", [c], then_body);
        if has_else {
            let after: Vec<bool> = self.vars.iter().map(|v| v.varies).collect();
            for (v, before) in self.vars.iter_mut().zip(before) {
                v.varies = before;
            }
            let else_body = self.under_condition(varies, |g| {
                let mut body = g.block();
                if jumps && !jumps_in_then {
                    g.jump(&mut body);
                }
                body
            });
            for (v, after) in self.vars.iter_mut().zip(after) {
                v.varies |= after;
            }
            stmt.0.push(Part::Text(" else ".into()));
            stmt.0.push(Part::Body(else_body));
        }
        out.push(stmt);
    }

    /// Perhaps ends a branch with `break`, `continue`, `return` or `discard`.
    fn jump(&mut self, out: &mut Vec<Stmt>) {
        let varies = self.may_diverge();
        let in_loop = self.levels.iter().rposition(|level| level.is_loop);
        // Threads should not leave a level alone that was made for uniform control flow.
        let must_stay = |g: &mut Self, level: usize| varies && g.levels[level].uniform && !g.slip();
        match self.random.weighted(&[12, 12, 5, 2]) {
            0 if !self.levels.is_empty() => {
                let last = self.levels.len() - 1;
                if must_stay(self, last) {
                    return;
                }
                self.levels[last].broke |= varies;
                out.push(line("break;"));
            }
            1 => {
                let Some(at) = in_loop else { return };
                self.levels[at].continued |= varies;
                out.push(line("continue;"));
            }
            2 => {
                if varies && !self.percent(12) {
                    return;
                }
                self.some_threads_ended |= varies;
                out.push(match self.returning {
                    Returning::Nothing => line("return;"),
                    Returning::Color => line("return float4(1.0, 0.0, 0.0, 1.0);"),
                    Returning::Uint => {
                        let uniform = self.percent(70);
                        let (e, differs) = self.uint(1, uniform);
                        self.result_varies |= differs || varies;
                        Stmt(parts("return $;", [e]))
                    }
                });
            }
            3 if self.fragment => {
                if varies && !self.percent(25) {
                    return;
                }
                self.some_threads_ended |= varies;
                self.discards |= varies;
                out.push(line("discard;"));
            }
            _ => {}
        }
    }

    /// The body of a loop. If threads may leave it at different times, the variables that it stores
    /// to may differ.
    fn body(&mut self, varies: bool) -> Vec<Stmt> {
        let writes = self.writes.len();
        let uniform = !varies && !self.may_diverge();
        self.levels.push(Level { is_loop: true, broke: false, continued: false, uniform });
        let body = self.under_condition(varies, |g| {
            let vars = g.vars.len();
            let body = g.block_of(|_, _| {});
            g.close(vars);
            body
        });
        let level = self.levels.pop();
        if varies || level.is_some_and(|level| level.broke) {
            for &i in &self.writes[writes..] {
                if let Some(v) = self.vars.get_mut(i) {
                    v.varies = true;
                }
            }
        }
        body
    }

    /// A loop whose number of iterations depends on a value, up to 3.
    fn for_loop(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.next_is_uniform();
        let i = self.fresh("i");
        let (bound, varies) = match self.percent(35) {
            true => (Expr::text(Kind::Uint, "2u"), false),
            false => {
                let (e, varies) = self.uint(1, uniform);
                (Expr::new(Kind::Uint, "($ & 3u)", [e]), varies)
            }
        };
        let vars = self.vars.len();
        self.var(&i, Shape::Scalar, varies, false);
        let step = self.random.pick(&["++", " += 1u", "++"]);
        let body = self.body(varies);
        self.close(vars);
        let endless = self.slips > 0 && self.random.permille(6);
        let head = if endless { format!("for (uint {i} = 0u; {i} < $; ) ") } else { format!("for (uint {i} = 0u; {i} < $; {i}{step}) ") };
        out.push(headed(&head, [bound], body));
    }

    fn while_loop(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.next_is_uniform();
        let w = self.fresh("w");
        out.push(line(format!("uint {w} = 0u;")));
        let (c, varies) = self.condition(1, uniform);
        let mut body = self.body(varies);
        body.insert(0, line(format!("{w}++;")));
        out.push(headed(&format!("while (({w} < 3u) && $) "), [c], body));
        self.var(w, Shape::Scalar, varies || self.may_diverge(), false);
    }

    fn do_loop(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.next_is_uniform();
        let w = self.fresh("w");
        out.push(line(format!("uint {w} = 0u;")));
        let mut body = self.body(!uniform);
        let (c, varies) = self.condition(1, uniform);
        body.insert(0, line(format!("{w}++;")));
        let mut stmt = headed("do ", [], body);
        stmt.0.push(Part::Text(format!(" while (({w} < 3u) && ")));
        stmt.0.push(Part::Expr(c));
        stmt.0.push(Part::Text(");".into()));
        out.push(stmt);
        self.var(w, Shape::Scalar, varies || !uniform || self.may_diverge(), false);
    }

    fn switch(&mut self, out: &mut Vec<Stmt>) {
        let uniform = self.next_is_uniform();
        let (e, varies) = self.uint(1, uniform);
        let mut all = parts("switch ($ & 3u) {", [e]);
        let cases = 2 + self.random.below(2);
        let is_uniform = !varies && !self.may_diverge();
        self.levels.push(Level { is_loop: false, broke: false, continued: false, uniform: is_uniform });
        for case in 0..=cases {
            let label = if case == cases { " default: ".to_string() } else { format!(" case {case}u: ") };
            all.push(Part::Text(label));
            let body = self.under_condition(varies, |g| {
                let vars = g.vars.len();
                let mut body = g.block_of(|_, _| {});
                body.push(line(if case < cases && g.percent(35) { "fallthrough;" } else { "break;" }));
                g.close(vars);
                body
            });
            all.push(Part::Body(body));
        }
        self.levels.pop();
        all.push(Part::Text(" }".into()));
        out.push(Stmt(all));
    }
}
