//! Typing and translation of a program of 10,000 nodes. Lets and functions are nested a thousand
//! deep, and each is used further inside.

use criterion::{Criterion, criterion_group, criterion_main};
use smallstep::compile::lambda_v::{Options, translate};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::typing::{self, Limits};
use std::fmt::Write;
use std::hint::black_box;

/// A program of about 10,000 nodes.
fn large() -> Program {
    let mut text = String::from("(let ((x0 (x (frag-coord)))) ");
    let depth = 560;
    for i in 1..=depth {
        // A function of this level, which the sum at the bottom applies, and a value that is
        // used once.
        write!(text, "(let ((f{i} (func (a) (+ a {i}))) (x{i} (max {i} x0))) ").expect("fits");
    }
    text += "(+ 0";
    for i in 1..=depth {
        write!(text, " (+ (f{i} x{i})").expect("fits");
    }
    text += " 0";
    text += &")".repeat(depth);
    text += ")";
    text += &")".repeat(depth + 1);
    Program::read(&text).expect("reads")
}

fn large_program(c: &mut Criterion) {
    let program = large();
    println!("{} nodes", program.size);
    let mut group = c.benchmark_group("10,000 nodes");
    group.sample_size(10);
    group.bench_function("typing", |b| b.iter(|| black_box(typing::infer(&program, Limits::default()).expect("types"))));
    group.bench_function("translation", |b| b.iter(|| black_box(translate(&program, &Options::default()).expect("translates"))));
    group.finish();
}

criterion_group!(benches, large_program);
criterion_main!(benches);
