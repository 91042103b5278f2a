//! The composition of a module: its size, its grid, and how often it uses each feature. It is drawn
//! anew for each module.

use super::feature::Features;
use super::tree::{INT, Scalar, Type, UINT};
use crate::random::Random;

/// The bounds for the modules of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of instructions that an invocation runs in the median module, by the
    /// generator's estimate.
    pub executed: u32,
    /// The percentage of modules with atomics, or with shared memory and barriers.
    pub shared_percent: u32,
    /// Whether modules may use 8-bit integers (capability Int8).
    pub int8: bool,
    /// Whether modules may use 16-bit integers (capability Int16).
    pub int16: bool,
    /// Whether modules may use 64-bit integers (capability Int64).
    pub int64: bool,
    /// The newest minor version of SPIR-V, 3 to 6.
    pub newest: u8,
    /// The features that modules do not use.
    pub left_out: Features,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { executed: 200, shared_percent: 30, int8: false, int16: false, int64: false, newest: 6, left_out: Features::new() }
    }
}

/// The size and the features of one module. Numbers of features are relative weights unless their
/// comment says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The number of instructions that an invocation runs, by the generator's estimate.
    pub executed: u32,
    /// The LocalSize execution mode.
    pub local_size: [u32; 3],
    /// The number of workgroups.
    pub groups: [u32; 3],
    /// The minor version of SPIR-V 1.x.
    pub minor: u8,
    /// Whether invocations exchange values through Workgroup memory.
    pub exchange: bool,
    /// Whether invocations change counters in Workgroup memory.
    pub group_counters: bool,
    /// Whether invocations change counters in a buffer.
    pub buffer_counters: bool,
    /// Whether invocations use atomics on words of their own.
    pub own_atomics: bool,
    /// The number of functions beside the entry point.
    pub functions: u32,
    /// The percentage of functions that take a pointer.
    pub pointers: u32,
    /// Values with a name.
    pub lets: u32,
    /// Stores to variables.
    pub stores: u32,
    /// `if`.
    pub ifs: u32,
    /// Loops.
    pub loops: u32,
    /// Switches.
    pub switches: u32,
    /// Calls.
    pub calls: u32,
    /// The percentage of arms inside of a loop or switch that end in a jump.
    pub exits: u32,
    /// The percentage of arms that end in a return.
    pub returns: u32,
    /// The percentage of values that are vectors.
    pub vectors: u32,
    /// The percentage of values that are arrays or structures.
    pub aggregates: u32,
    /// The depth of expressions.
    pub fuel: u32,
    /// The number of output words of each invocation.
    pub output_words: u32,
    /// The scalar types that integers may have.
    pub integers: Vec<Scalar>,
    /// The types that arrays and structures may have.
    pub shapes: Vec<Type>,
    /// Whether functions read structures from a table buffer and return results that depend
    /// on them.
    pub table: bool,
}

/// The possible grids: LocalSize and workgroups. The median dispatch has 64 invocations.
const GRIDS: &[([u32; 3], [u32; 3])] = &[
    ([1, 1, 1], [1, 1, 1]),
    ([4, 1, 1], [1, 1, 1]),
    ([5, 1, 1], [3, 1, 1]),
    ([8, 4, 1], [1, 1, 1]),
    ([16, 1, 1], [2, 1, 1]),
    ([3, 3, 3], [1, 1, 1]),
    ([64, 1, 1], [1, 1, 1]),
    ([64, 1, 1], [1, 1, 1]),
    ([8, 8, 1], [1, 1, 1]),
    ([8, 8, 1], [1, 1, 1]),
    ([4, 4, 4], [1, 1, 1]),
    ([32, 1, 1], [2, 1, 1]),
    ([4, 4, 1], [2, 2, 1]),
    ([2, 4, 1], [2, 2, 2]),
    ([64, 1, 1], [2, 1, 1]),
    ([32, 1, 1], [3, 1, 1]),
    ([33, 1, 1], [2, 1, 1]),
    ([128, 1, 1], [1, 1, 1]),
    ([16, 4, 1], [1, 3, 1]),
    ([8, 1, 2], [4, 2, 1]),
];

impl Mix {
    /// Draws the mix of one module.
    pub fn draw(random: &mut Random, limits: &Limits) -> Mix {
        let shared = random.percent(limits.shared_percent);
        let chosen_bits = random.between(1, 15);
        let on = |bit: u32| shared && chosen_bits & bit != 0;
        let (local_size, groups) = random.pick(GRIDS);
        let mut integers = vec![UINT, UINT, INT, INT];
        for (width, allowed) in [(8, limits.int8), (16, limits.int16), (64, limits.int64)] {
            if allowed && random.percent(40) {
                integers.extend([false, true].map(|signed| Scalar::Int { width, signed }));
            }
        }
        let factor = random.pick(&[25, 40, 60, 80, 100, 100, 125, 160, 250, 400]);
        let mut mix = Mix {
            executed: (limits.executed * factor / 100).max(10),
            local_size,
            groups,
            minor: random.pick(&[3, 3, 5, 6]).min(limits.newest),
            exchange: on(1),
            group_counters: on(2),
            buffer_counters: on(4),
            own_atomics: on(8),
            functions: random.pick(&[0, 1, 1, 2, 2, 3]),
            pointers: random.pick(&[0, 40, 70]),
            lets: random.pick(&[15, 30, 30]),
            stores: random.pick(&[5, 14, 14, 30]),
            ifs: random.pick(&[4, 12, 12, 20]),
            loops: random.pick(&[6, 12, 12, 24]),
            switches: random.pick(&[0, 6, 6, 14]),
            calls: random.pick(&[8, 14]),
            exits: random.pick(&[15, 30, 50]),
            returns: random.pick(&[0, 8, 15]),
            vectors: random.pick(&[5, 20, 45]),
            aggregates: random.pick(&[0, 8, 16]),
            fuel: random.pick(&[1, 2, 2, 3]),
            output_words: random.between(1, 6),
            integers,
            shapes: Vec::new(),
            table: random.percent(35),
        };
        for _ in 0..random.between(1, 3) {
            let shape = mix.shape(random, 2);
            mix.shapes.push(shape);
        }
        mix
    }

    /// A random integer type.
    pub fn integer(&self, random: &mut Random) -> Scalar {
        self.integers[random.below(self.integers.len() as u32) as usize]
    }

    /// A random scalar or vector type.
    pub fn flat(&self, random: &mut Random) -> Type {
        let scalar = if random.percent(10) { Scalar::Bool } else { self.integer(random) };
        let lanes = if random.percent(self.vectors) { random.between(2, 4) as u8 } else { 1 };
        Type::lanes(scalar, lanes)
    }

    /// A random type of values.
    pub fn value(&self, random: &mut Random) -> Type {
        if random.percent(self.aggregates) {
            return self.shapes[random.below(self.shapes.len() as u32) as usize].clone();
        }
        self.flat(random)
    }

    /// A random array or structure type.
    fn shape(&self, random: &mut Random, depth: u32) -> Type {
        let part = |random: &mut Random| match depth > 1 && random.percent(30) {
            true => self.shape(random, depth - 1),
            false => self.flat(random),
        };
        if random.percent(60) {
            let length = random.pick(&[1, 2, 3, 4, 4, 5, 7, 8]);
            return Type::Array(Box::new(part(random)), length);
        }
        let members = random.between(1, 4);
        Type::Struct((0..members).map(|_| part(random)).collect())
    }

    /// A random table type: a structure of 32-bit integers.
    pub fn table_type(&self, random: &mut Random) -> Type {
        let members = random.between(2, 4);
        Type::Struct((0..members).map(|_| table_part(random, 2)).collect())
    }
}

fn table_part(random: &mut Random, depth: u32) -> Type {
    let flat = |random: &mut Random| Type::lanes(random.pick(&[UINT, INT]), random.pick(&[1, 1, 2, 3, 4]));
    match random.below(if depth > 0 { 5 } else { 3 }) {
        3 => {
            let element = table_part(random, depth - 1);
            Type::Array(Box::new(element), random.between(2, 5))
        }
        4 => {
            let members = random.between(1, 3);
            Type::Struct((0..members).map(|_| table_part(random, depth - 1)).collect())
        }
        _ => flat(random),
    }
}
