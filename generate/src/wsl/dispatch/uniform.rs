//! The parts that all threads of a group execute together: the frame of the program, barriers, and
//! the planted race.

use super::{Array, Generator, Kind, Local, RESULTS_PER_THREAD, UNIFORM_WORDS, Use};

/// The barriers, with whether they fence threadgroup memory and device memory.
const BARRIERS: [(&str, bool, bool); 4] = [
    ("GroupMemoryBarrierWithGroupSync", true, false),
    ("DeviceMemoryBarrierWithGroupSync", false, true),
    ("AllMemoryBarrierWithGroupSync", true, true),
    ("sync", true, true),
];

impl Generator {
    pub(super) fn program(&mut self) {
        self.line("struct Cell { uint count; float2 at; }");
        if !(self.shape.small || self.shape.short) {
            for _ in 0..self.below(3) {
                self.function();
            }
        }
        self.line("void sync() { AllMemoryBarrierWithGroupSync(); }");
        if !self.shape.short {
            self.line("// Each thread gives a value, and gets the sum of all.");
            self.block("uint all(threadgroup uint[] part, uint lane, uint value)", |g| {
                g.line("part[lane] = value;");
                g.line("GroupMemoryBarrierWithGroupSync();");
                g.line("uint sum = 0u;");
                g.line("for (uint i = 0u; i < part.length; i++) sum += part[i];");
                g.line("GroupMemoryBarrierWithGroupSync();");
                g.line("return sum;");
            });
        }
        let [x, y, z] = self.size;
        self.line(&format!("[numthreads({x}, {y}, {z})]"));
        let mut parameters = vec![
            "uint3 id : SV_DispatchThreadID".to_string(),
            "uint3 inside : SV_GroupThreadID".into(),
            "uint lane : SV_GroupIndex".into(),
            "uint3 group : SV_GroupID".into(),
            "constant uint[] given : register(b0)".into(),
        ];
        let mut devices: Vec<(String, String)> =
            self.arrays.iter().filter(|a| a.device).map(|a| (a.element.ty.to_string(), a.name.clone())).collect();
        devices.extend(self.atomics.iter().filter(|a| a.device).map(|a| (format!("atomic_{}", a.kind.name()), a.name.clone())));
        devices.push(("uint".into(), "whole".into()));
        if !self.shape.small {
            devices.push(("float".into(), "real".into()));
        }
        parameters.extend(devices.into_iter().enumerate().map(|(i, (ty, name))| format!("device {ty}[] {name} : register(u{i})")));
        self.block(&format!("compute void main({})", parameters.join(", ")), Generator::body);
    }

    /// Writes a function of a `uint`, an `int` and a `float` that accesses no shared memory.
    fn function(&mut self) {
        let kind = self.pick(&Kind::ALL);
        let name = self.fresh("f");
        self.block(&format!("{} {name}(uint a, int b, float c)", kind.name()), |g| {
            for (name, kind) in ["a", "b", "c"].into_iter().zip(Kind::ALL) {
                g.locals.push(Local { name: name.into(), kind, writable: true });
            }
            let left = g.statements_left;
            g.statements_left = 3;
            g.statements(2, 1);
            g.statements_left = left;
            let value = g.value(kind, 2);
            if g.one_in(3) {
                let (condition, early) = (g.condition(1), g.value(kind, 1));
                g.line(&format!("if {condition} return {early};"));
            }
            g.line(&format!("return {value};"));
        });
        self.functions.push((name, kind));
    }

    fn body(&mut self) {
        let threads = self.threads();
        for array in self.arrays.clone() {
            if !array.device {
                self.line(&format!("threadgroup {}[{}] {};", array.element.ty, threads * array.each, array.name));
            }
        }
        for atomics in self.atomics.clone() {
            if !atomics.device {
                self.line(&format!("threadgroup atomic_{}[{}] {};", atomics.kind.name(), atomics.operations.len(), atomics.name));
            }
        }
        let [gx, gy, _] = self.groups;
        self.line(&format!("uint number = group.x + group.y * {gx}u + group.z * {}u;", gx * gy));
        for name in ["lane", "id.x", "inside.y", "number"] {
            self.locals.push(Local { name: name.into(), kind: Kind::Uint, writable: false });
        }
        for (name, kind, first) in [("u", Kind::Uint, "lane * 3u + given[0]"), ("k", Kind::Int, "int(lane) - 1"), ("x", Kind::Float, "0.5")]
        {
            self.line(&format!("{} {name} = {first};", kind.name()));
            self.locals.push(Local { name: name.into(), kind, writable: true });
        }
        self.may_share_memory = true;
        let rounds = if self.shape.small || self.shape.short { 2 } else { 3 + self.below(3) };
        let race_round = if self.shape.race { self.below(rounds) } else { rounds };
        for round in 0..rounds {
            self.statements_to_barrier();
            if round == race_round {
                self.plant();
            }
            if round + 1 < rounds {
                self.barrier_section(2);
            }
        }
        self.store_results();
    }

    /// Writes the statements of a thread up to the next barrier.
    fn statements_to_barrier(&mut self) {
        let limit = if self.shape.small || self.shape.short { 2 } else { 4 };
        self.statements(limit, 2);
    }

    /// A value that is the same in all threads of a group.
    fn uniform(&mut self) -> String {
        match self.below(3) {
            0 => "number".into(),
            _ => format!("given[{}]", self.below(UNIFORM_WORDS)),
        }
    }

    /// Writes a barrier, perhaps inside of uniform control flow.
    fn barrier_section(&mut self, depth: u32) {
        match if self.shape.small || depth == 0 { 0 } else { self.below(7) } {
            4 => {
                // After the condition, the uses must fit both branches.
                let (a, b) = (self.uniform(), self.below(4));
                self.block(&format!("if ({a} > {b}u)"), |g| g.rounds(depth - 1));
                if self.one_in(2) {
                    self.barrier("sync", true, true);
                    self.block(&format!("if ({a} == {b}u)"), |g| g.rounds(depth - 1));
                }
                self.barrier("AllMemoryBarrierWithGroupSync", true, true);
            }
            5 => {
                let (i, bound) = (self.fresh("i"), self.uniform());
                self.block(&format!("for (uint {i} = 0u; {i} < {bound} % 3u; {i}++)"), |g| {
                    g.locals.push(Local { name: i, kind: Kind::Uint, writable: false });
                    g.barrier("AllMemoryBarrierWithGroupSync", true, true);
                    g.statements_to_barrier();
                    g.rounds(depth - 1);
                });
                self.barrier("sync", true, true);
            }
            6 => self.group_sum(),
            _ => {
                let (name, group, device) = self.pick(&BARRIERS);
                self.barrier(name, group, device);
            }
        }
    }

    fn rounds(&mut self, depth: u32) {
        self.barrier_section(depth);
        self.statements_to_barrier();
    }

    /// Writes a barrier. Each array that it fences gets a new use.
    fn barrier(&mut self, name: &str, group: bool, device: bool) {
        self.line(&format!("{name}();"));
        for i in 0..self.arrays.len() {
            if if self.arrays[i].device { device } else { group } {
                self.arrays[i].using = self.use_of_array();
            }
        }
        for i in 0..self.atomics.len() {
            let of_device = self.atomics[i].device;
            if if of_device { device } else { group } {
                self.atomics[i].using = self.use_of_atomics(of_device);
            }
        }
    }

    /// Writes a sum over the group, by halves or computed by every thread, if there is an array
    /// for it.
    fn group_sum(&mut self) {
        let threads = self.threads();
        let candidates: Vec<String> =
            self.arrays.iter().filter(|a| !a.device && a.each == 1 && a.element.ty == "uint").map(|a| a.name.clone()).collect();
        let Some(name) = candidates.first() else { return self.barrier("sync", true, true) };
        self.barrier("GroupMemoryBarrierWithGroupSync", true, false);
        let value = match self.arrays.iter().position(|a| a.name == *name) {
            Some(i) => {
                self.arrays[i].using = Use::Shifted(0);
                self.value(Kind::Uint, 2)
            }
            None => "1u".into(),
        };
        if threads.is_power_of_two() && (self.shape.short || self.one_in(2)) {
            let s = self.fresh("s");
            self.line(&format!("{name}[lane] = {value};"));
            self.block(&format!("for (uint {s} = {}u; {s} > 0u; {s} /= 2u)", threads / 2), |g| {
                g.line("GroupMemoryBarrierWithGroupSync();");
                g.line(&format!("if (lane < {s}) {name}[lane] += {name}[lane + {s}];"));
            });
            self.barrier("GroupMemoryBarrierWithGroupSync", true, false);
            return;
        }
        if self.shape.short {
            return self.barrier("GroupMemoryBarrierWithGroupSync", true, false);
        }
        let sum = self.fresh("v");
        self.line(&format!("uint {sum} = all(@{name}, lane, {value});"));
        self.locals.push(Local { name: sum, kind: Kind::Uint, writable: true });
        // The last barrier of the sum fences threadgroup memory.
        for i in 0..self.arrays.len() {
            if !self.arrays[i].device {
                self.arrays[i].using = self.use_of_array();
            }
        }
    }

    /// Writes the stores of results at the end of each thread. Some threads may have returned
    /// before others.
    fn store_results(&mut self) {
        let names_of =
            |g: &Self, kind: Kind| -> Vec<String> { g.locals.iter().filter(|l| l.kind == kind).map(|l| l.name.clone()).collect() };
        let at = format!("(number * {}u + lane) * {RESULTS_PER_THREAD}u", self.threads());
        let whole = [names_of(self, Kind::Uint), names_of(self, Kind::Int)].concat();
        let pick_name = |g: &mut Self, all: &[String]| -> String { all[g.below(all.len() as u32) as usize].clone() };
        let first = pick_name(self, &whole);
        self.line(&format!("whole[{at}] = uint({first});"));
        if self.shape.small {
            return;
        }
        if self.one_in(3) {
            let condition = self.condition(1);
            self.line(&format!("if {condition} return;"));
        }
        let real = names_of(self, Kind::Float);
        let (second, third) = (pick_name(self, &whole), pick_name(self, &real));
        self.line(&format!("whole[{at} + 1u] = uint({second});"));
        self.line(&format!("real[{at}] = {third};"));
        self.line(&format!("real[{at} + 1u] = x;"));
    }

    /// Plants racing accesses. Every thread reaches them, and they race whatever happened before.
    fn plant(&mut self) {
        let (threads, single_thread) = (self.threads(), self.threads() == 1);
        // The only thread of a group can race only with other groups.
        let candidates: Vec<Array> = self.arrays.iter().filter(|a| !single_thread || a.device).cloned().collect();
        if candidates.is_empty() {
            return;
        }
        let array = candidates[self.below(candidates.len() as u32) as usize].clone();
        let (leaf, kind, _) = self.pick(array.element.leaves);
        let name = &array.name;
        let (value, read) = (self.value(kind, 1), self.fresh("raced"));
        let own = Array { using: Use::Shifted(0), ..array.clone() };
        let own_place = format!("{name}[{}]{leaf}", self.in_part(&own, format!("lane * {}u", array.each)));
        let next_place = format!("{name}[{}]{leaf}", self.in_part(&own, format!("((lane + 1u) % {threads}u) * {}u", array.each)));
        let start = self.text.len();
        match if single_thread { 0 } else { self.below(4) } {
            // No barrier orders groups.
            0 if array.device && self.group_count() > 1 => {
                self.line("AllMemoryBarrierWithGroupSync();");
                self.line(&format!("if (lane == 0u) {name}[0u]{leaf} = {value};"));
            }
            1 => {
                self.line(&format!("{own_place} = {value};"));
                self.line(&format!("{} {read} = {next_place};", kind.name()));
            }
            // The barrier fences the other memory, so it does not order these accesses.
            2 => {
                self.line(&format!("{own_place} = {value};"));
                self.line(if array.device { "GroupMemoryBarrierWithGroupSync();" } else { "DeviceMemoryBarrierWithGroupSync();" });
                self.line(&format!("{} {read} = {next_place};", kind.name()));
            }
            _ => self.line(&format!("{name}[{}]{leaf} = {value};", self.in_part(&own, "0u".into()))),
        }
        self.race = Some(start..self.text.len());
    }
}
