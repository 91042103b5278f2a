//! The statements of a thread between barriers.

use super::{AtomicUse, Generator, Kind, Local, Use};

impl Generator {
    /// Writes at most `limit` statements.
    pub(super) fn statements(&mut self, limit: u32, depth: u32) {
        for _ in 0..1 + self.below(limit) {
            self.statement(depth);
        }
    }

    /// Writes a statement without barriers. It may stand in any control flow.
    pub(super) fn statement(&mut self, depth: u32) {
        self.statements_left -= 1;
        let simple = depth == 0 || self.statements_left <= 0;
        match self.below(if simple { 7 } else { 11 }) {
            0 => self.declare(),
            1 => self.assign(),
            2 | 3 => self.store(),
            4 => self.atomic(),
            5 if !self.private_arrays.is_empty() => {
                let i = self.below(self.private_arrays.len() as u32) as usize;
                let (name, kind) = self.private_arrays[i].clone();
                let (index, value) = (self.private_index(1), self.value(kind, 2));
                self.line(&format!("{name}[{index}] = {value};"));
            }
            5 | 6 => self.assign(),
            7 => {
                let condition = self.condition(2);
                self.block(&format!("if {condition}"), |g| g.statements(2, depth - 1));
                if self.one_in(2) {
                    self.block("else", |g| g.statements(2, depth - 1));
                }
            }
            8 => self.for_loop(depth),
            9 => self.while_loop(depth),
            _ => self.switch(depth),
        }
    }

    fn declare(&mut self) {
        let kind = self.pick(&Kind::ALL);
        let name = self.fresh("v");
        match self.below(5) {
            0 if self.private_arrays.len() < 3 => {
                self.line(&format!("{}[4] {name};", kind.name()));
                let first = self.value(kind, 1);
                self.line(&format!("{name}[1] = {first};"));
                self.private_arrays.push((name, kind));
            }
            _ => {
                let value = self.value(kind, 3);
                self.line(&format!("{} {name} = {value};", kind.name()));
                self.locals.push(Local { name, kind, writable: true });
            }
        }
    }

    fn assign(&mut self) {
        let candidates: Vec<(String, Kind)> = self.locals.iter().filter(|l| l.writable).map(|l| (l.name.clone(), l.kind)).collect();
        if candidates.is_empty() {
            return self.declare();
        }
        let i = self.below(candidates.len() as u32) as usize;
        let (name, kind) = candidates[i].clone();
        let (sign, value) = (self.assigning(kind), self.value(kind, 3));
        self.line(&format!("{name} {sign} {value};"));
    }

    fn assigning(&mut self, kind: Kind) -> &'static str {
        match kind {
            Kind::Float => self.pick(&["=", "+=", "-=", "*="]),
            Kind::Uint | Kind::Int => self.pick(&["=", "=", "+=", "^=", "*=", "-=", "|="]),
        }
    }

    /// Stores to an element that belongs to this thread, if some array has one. Otherwise assigns
    /// to a variable.
    fn store(&mut self) {
        let candidates: Vec<usize> = (0..self.arrays.len()).filter(|&i| self.arrays[i].using != Use::All).collect();
        if candidates.is_empty() || !self.use_access() {
            return self.assign();
        }
        let i = self.pick(&candidates);
        let array = self.arrays[i].clone();
        let place = format!("{}[{}]", array.name, self.own_index(&array));
        let stored = match self.below(8) {
            // Stores a whole element, copied from an element that this thread may read.
            0 if self.use_access() => {
                let from = self.read_index(&array, 1);
                format!("{place} = {}[{from}];", array.name)
            }
            1 if array.element.leaves[0].1 != Kind::Float => {
                format!("{place}{}{};", array.element.leaves[0].0, self.pick(&["++", "--"]))
            }
            _ => {
                let (leaf, kind, _) = self.pick(array.element.leaves);
                let sign = self.assigning(kind);
                if sign != "=" {
                    self.accesses -= 1;
                }
                let value = self.value(kind, 3);
                format!("{place}{leaf} {sign} {value};")
            }
        };
        match array.using {
            Use::Front(n) => self.line(&format!("if (lane < {n}u) {stored}")),
            _ => self.line(&stored),
        }
    }

    /// An atomic operation that fits the current use of the atomics.
    fn atomic(&mut self) {
        if self.atomics.is_empty() || !self.use_access() {
            return self.assign();
        }
        let i = self.below(self.atomics.len() as u32) as usize;
        let atomics = self.atomics[i].clone();
        let (name, kind, count) = (&atomics.name, atomics.kind, atomics.operations.len() as u32);
        let old = self.fresh("old");
        self.line(&format!("{} {old};", kind.name()));
        let mut readable = true;
        match atomics.using {
            AtomicUse::Commuting => {
                let at = self.below(count);
                let value = self.value(kind, 2);
                self.line(&format!("Interlocked{}(&{name}[{at}u], {value}, &{old});", atomics.operations[at as usize]));
                readable = false;
            }
            AtomicUse::Read => {
                let (operation, index) = (self.pick(&["Add", "Or", "Xor"]), self.value(Kind::Uint, 1));
                let zero = if kind == Kind::Uint { "0u" } else { "0" };
                self.line(&format!("Interlocked{operation}(&{name}[{index} % {count}u], {zero}, &{old});"));
            }
            AtomicUse::Own => {
                let value = self.value(kind, 2);
                match self.below(3) {
                    0 => self.line(&format!("InterlockedExchange(&{name}[lane], {value}, &{old});")),
                    1 => {
                        let expected = self.value(kind, 0);
                        self.line(&format!("InterlockedCompareExchange(&{name}[lane], {expected}, {value}, &{old});"));
                    }
                    _ => {
                        let operation = self.pick(&["Add", "And", "Min", "Max"]);
                        self.line(&format!("Interlocked{operation}(&{name}[lane], {value}, &{old});"));
                    }
                }
            }
        }
        // The old value of a commuting operation depends on the schedule.
        if readable {
            self.locals.push(Local { name: old, kind, writable: true });
        }
    }

    /// Writes the inside of a loop. Small shapes have no shared accesses there, since each would
    /// run several times.
    pub(super) fn loop_body(&mut self, inside: impl FnOnce(&mut Self)) {
        let sharing = self.may_share_memory;
        self.may_share_memory &= !self.shape.small;
        inside(self);
        self.may_share_memory = sharing;
    }

    fn for_loop(&mut self, depth: u32) {
        let i = self.fresh("i");
        let least = self.below(2);
        let limit = self.value(Kind::Uint, 1);
        self.loop_body(|g| {
            g.block(&format!("for (uint {i} = {least}u; {i} < ({limit} % 4u); {i}++)"), |g| {
                g.locals.push(Local { name: i, kind: Kind::Uint, writable: false });
                g.statements(2, depth - 1);
                g.perhaps_jump();
            });
        });
    }

    fn while_loop(&mut self, depth: u32) {
        let n = self.fresh("n");
        let limit = 1 + self.below(3);
        self.line(&format!("uint {n} = 0u;"));
        self.locals.push(Local { name: n.clone(), kind: Kind::Uint, writable: false });
        let first = self.one_in(2);
        let head = if first { "do".to_string() } else { format!("while ({n} < {limit}u)") };
        self.loop_body(|g| {
            g.block(&head, |g| {
                g.line(&format!("{n}++;"));
                g.statements(2, depth - 1);
                g.perhaps_jump();
            });
            if first {
                g.line(&format!("while ({n} < {limit}u);"));
            }
        });
    }

    /// Leaves an iteration of a loop, or the loop.
    fn perhaps_jump(&mut self) {
        if self.one_in(3) {
            let (condition, way) = (self.condition(1), self.pick(&["break", "continue"]));
            self.line(&format!("if {condition} {way};"));
            self.statement(0);
        }
    }

    fn switch(&mut self, depth: u32) {
        let on = self.value(Kind::Uint, 2);
        let cases = 1 + self.below(3);
        self.block(&format!("switch ({on} % 4u)"), |g| {
            for case in 0..cases {
                g.line(&format!("case {case}u: {{"));
                let (locals, own) = (g.locals.len(), g.private_arrays.len());
                g.indent += 1;
                g.statements(2, depth - 1);
                let end = g.pick(&["break;", "break;", "fallthrough;"]);
                g.line(end);
                g.indent -= 1;
                g.line("}");
                g.locals.truncate(locals);
                g.private_arrays.truncate(own);
            }
            g.block("default:", |g| {
                g.statements(1, depth - 1);
                g.line("break;");
            });
        });
    }
}
