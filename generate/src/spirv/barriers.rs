//! Modules for the analysis of uniformity. They are generated modules with barriers at arbitrary
//! places, and with fewer values that differ between invocations.
//!
//! In a percentage of places, drawn for each module, a built-in input that differs within a
//! workgroup is replaced by one that does not. So most chains of values, through variables, phis
//! and calls, do not differ within a workgroup. Memory is used as before. An additional barrier
//! only orders more accesses, so nothing races.

use super::mix::{Limits, Mix};
use super::tree::{Builtin, Compare, Expr, Function, Module, Op, Stmt, Trip, Type};
use super::{BufferContents, ComputeCase, Random, drawn};

/// The version of this generator. Another version may make another module of the same seed.
pub const VERSION: u32 = 1;

/// The binding of the input buffer.
const INPUT: u32 = 0;

/// The module of a seed.
pub fn module(seed: u64) -> Module {
    let mut random = Random::new(seed ^ 0x6261_7272_6965_7273);
    let limits = Limits { executed: 160, shared_percent: 35, ..Limits::default() };
    let mut mix = Mix::draw(&mut random, &limits);
    (mix.local_size, mix.groups) = random.pick(&[
        ([4, 1, 1], [2, 1, 1]),
        ([4, 1, 1], [2, 1, 1]),
        ([2, 2, 1], [1, 2, 1]),
        ([3, 1, 1], [3, 1, 1]),
        ([8, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [2, 1, 1]),
    ]);
    mix.ifs = mix.ifs.max(12);
    mix.exits = mix.exits.max(30);
    mix.returns = mix.returns.max(8);
    let barriers = random.pick(&[1, 2, 2, 3, 4]);
    let (uniform_percent, condition_percent) = (random.pick(&[0, 50, 80, 95, 100]), random.pick(&[0, 30, 60, 90]));
    let divergent_percent = random.pick(&[0, 10, 20, 40]);
    let module_random = Random::new(random.bits());
    let mut module = drawn(&mix, module_random);
    make_uniform(&mut module, &mut random, uniform_percent);
    decide(&mut module, &mut random, condition_percent, divergent_percent);
    for _ in 0..barriers {
        put_barrier(&mut module, &mut random);
    }
    module
}

/// Replaces built-in inputs that differ within a workgroup by a component of WorkgroupId.
fn make_uniform(module: &mut Module, random: &mut Random, percent: u32) {
    module.each_expr(&mut |e| {
        if let Op::Builtin(builtin @ (Builtin::LocalIndex | Builtin::Global(_) | Builtin::Local(_))) = &mut e.op
            && random.percent(percent)
        {
            *builtin = Builtin::Group(random.pick(&[0, 0, 1]));
        }
    });
}

/// Replaces the conditions of selections and the iteration counts of loops. In `uniform_percent` of
/// a hundred places it takes a word of the input, in `divergent_percent` of a hundred the index of
/// the invocation.
fn decide(module: &mut Module, random: &mut Random, uniform_percent: u32, divergent_percent: u32) {
    let words = module.input.len().max(1) as u32;
    let replacement = |random: &mut Random| {
        let index = Expr::uint(random.below(words));
        let word = |op, args| Some(Expr::new(Type::UINT, op, args));
        match random.below(100) {
            n if n < uniform_percent => word(Op::Input, vec![index]),
            n if n < uniform_percent + divergent_percent => word(Op::Builtin(Builtin::LocalIndex), Vec::new()),
            _ => None,
        }
    };
    module.each_block(&mut |block| {
        for stmt in block {
            match stmt {
                Stmt::If(condition, ..) => {
                    let compare = random.pick(&[Compare::ULessThan, Compare::ULessThan, Compare::INotEqual]);
                    let limit = Expr::uint(random.between(1, 3));
                    if let Some(word) = replacement(random) {
                        *condition = Expr::new(Type::BOOL, Op::Compare(compare), vec![word, limit]);
                    }
                }
                Stmt::Switch(selector, ..) if selector.ty == Type::UINT => {
                    if let Some(word) = replacement(random) {
                        *selector = word;
                    }
                }
                Stmt::Loop(l) => {
                    if let (Trip::Masked(e, _), Some(word)) = (&mut l.trip, replacement(random)) {
                        *e = word;
                    }
                }
                _ => {}
            }
        }
    });
}

/// Inserts a barrier at a random place of a random list of statements, before the jump that may end
/// the list. Three times out of four it avoids the outermost list of the entry point.
fn put_barrier(module: &mut Module, random: &mut Random) {
    let mut blocks = 0u32;
    module.each_block(&mut |_| blocks += 1);
    let mut function_blocks = 0;
    let mut functions = Module { main: Function::default(), ..module.clone() };
    functions.each_block(&mut |_| function_blocks += 1);
    // The last list is that of the empty entry point.
    let function_blocks = function_blocks - 1;
    let late = random.percent(25);
    let (chosen, mut number) = (random.below(blocks), 0);
    let chosen = if chosen == function_blocks && !late { (chosen + 1) % blocks } else { chosen };
    module.each_block(&mut |block| {
        if number == chosen {
            let ends_in_jump = block.last().is_some_and(|last| matches!(last, Stmt::Exit(..) | Stmt::Return(_)));
            let at = random.below((block.len() + 1 - usize::from(ends_in_jump)) as u32) as usize;
            block.insert(at, Stmt::Barrier);
        }
        number += 1;
    });
}

/// The buffers of a case in run number `run`. The contents of the input differ from run to run. In
/// run 0 they are as in the case.
pub fn contents(case: &ComputeCase, seed: u64, run: u32) -> Vec<BufferContents> {
    let mut random = Random::new(seed ^ 0x696e_7075_7473 ^ u64::from(run) << 40);
    let mut buffers = case.buffers.clone();
    for buffer in buffers.iter_mut().filter(|buffer| run > 0 && buffer.binding == INPUT) {
        buffer.words.fill_with(|| if random.percent(70) { random.below(6) } else { random.bits() as u32 });
    }
    buffers
}
