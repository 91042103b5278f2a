//! Modules for the analysis of uniformity: generated modules, with barriers put anywhere, and with
//! fewer sources of what differs between invocations.
//!
//! In so many of a hundred places, drawn for each module, a built-in input that differs within a
//! workgroup gives way to one that does not. So whole chains of values, through variables, phis and
//! calls, mostly do not differ, but for a few. Memory is used as before, so nothing races: a
//! barrier more orders more.

use super::mix::{Limits, Mix};
use super::tree::{Builtin, Compare, Expr, Function, Module, Op, Stmt, Trip, Type};
use super::{BufferContents, ComputeCase, Random, drawn};

/// The version of these modules: another one may make another module of a seed.
pub const VERSION: u32 = 1;

/// What the input buffer holds: this binding.
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
    let (alike, decided) = (random.pick(&[0, 50, 80, 95, 100]), random.pick(&[0, 30, 60, 90]));
    let apart = random.pick(&[0, 10, 20, 40]);
    let rest = Random::new(random.bits());
    let mut module = drawn(&mix, rest);
    make_alike(&mut module, &mut random, alike);
    decide(&mut module, &mut random, decided, apart);
    for _ in 0..barriers {
        put_barrier(&mut module, &mut random);
    }
    module
}

/// Built-in inputs that differ within a workgroup give way to the workgroup's number.
fn make_alike(module: &mut Module, random: &mut Random, percent: u32) {
    module.each_expr(&mut |e| {
        if let Op::Builtin(builtin @ (Builtin::LocalIndex | Builtin::Global(_) | Builtin::Local(_))) = &mut e.op
            && random.percent(percent)
        {
            *builtin = Builtin::Group(random.pick(&[0, 0, 1]));
        }
    });
}

/// What decides selections and the numbers of turns gives way to a word of the input, in so many of
/// a hundred places, or to the number of the invocation, in so many.
fn decide(module: &mut Module, random: &mut Random, alike: u32, apart: u32) {
    let words = module.input.len().max(1) as u32;
    let other = |random: &mut Random| {
        let index = Expr::uint(random.below(words));
        let word = |op, args| Some(Expr::new(Type::UINT, op, args));
        match random.below(100) {
            n if n < alike => word(Op::Input, vec![index]),
            n if n < alike + apart => word(Op::Builtin(Builtin::LocalIndex), Vec::new()),
            _ => None,
        }
    };
    module.each_block(&mut |block| {
        for stmt in block {
            match stmt {
                Stmt::If(condition, ..) => {
                    let compare = random.pick(&[Compare::ULessThan, Compare::ULessThan, Compare::INotEqual]);
                    let limit = Expr::uint(random.between(1, 3));
                    if let Some(word) = other(random) {
                        *condition = Expr::new(Type::BOOL, Op::Compare(compare), vec![word, limit]);
                    }
                }
                Stmt::Switch(selector, ..) if selector.ty == Type::UINT => {
                    if let Some(word) = other(random) {
                        *selector = word;
                    }
                }
                Stmt::Loop(l) => {
                    if let (Trip::Masked(e, _), Some(word)) = (&mut l.trip, other(random)) {
                        *e = word;
                    }
                }
                _ => {}
            }
        }
    });
}

/// Puts a barrier into one of the lists of statements, before what leaves it: mostly not into the
/// entry point's own, where it is late.
fn put_barrier(module: &mut Module, random: &mut Random) {
    let mut blocks = 0u32;
    module.each_block(&mut |_| blocks += 1);
    let mut own = 0;
    let mut functions = Module { main: Function::default(), ..module.clone() };
    functions.each_block(&mut |_| own += 1);
    // The empty entry point was counted last.
    let own = own - 1;
    let late = random.percent(25);
    let (chosen, mut number) = (random.below(blocks), 0);
    let chosen = if chosen == own && !late { (chosen + 1) % blocks } else { chosen };
    module.each_block(&mut |block| {
        if number == chosen {
            let leaves = block.last().is_some_and(|last| matches!(last, Stmt::Exit(..) | Stmt::Return(_)));
            let at = random.below((block.len() + 1 - usize::from(leaves)) as u32) as usize;
            block.insert(at, Stmt::Barrier);
        }
        number += 1;
    });
}

/// The buffers of a case in a run, by its number: what the input holds changes. In run 0 it is as
/// the case says.
pub fn contents(case: &ComputeCase, seed: u64, run: u32) -> Vec<BufferContents> {
    let mut random = Random::new(seed ^ 0x696e_7075_7473 ^ u64::from(run) << 40);
    let mut buffers = case.buffers.clone();
    for buffer in buffers.iter_mut().filter(|buffer| run > 0 && buffer.binding == INPUT) {
        buffer.words.fill_with(|| if random.percent(70) { random.below(6) } else { random.bits() as u32 });
    }
    buffers
}
