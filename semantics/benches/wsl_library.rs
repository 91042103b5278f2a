//! The cost of finding the built-in functions to which a call can resolve, by its name and
//! arguments. Also the first look-up of a run, which makes the index of the names.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use smallstep_semantics::wsl::library::{Argument, Key, TypeArgumentValue, declares, overloads, type_named};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId, Types};

const LITERAL: Argument = Argument::Integer { int: true, uint: true };

fn library(c: &mut Criterion) {
    let mut types = Types::default();
    let float = Argument::Typed(TypeId::FLOAT);
    let vector = |n: u8| Argument::Typed(TypeId::vector(Scalar::Float, n));
    let mut texture = |name: &str| {
        let element = TypeArgumentValue::Type(TypeId::vector(Scalar::Float, 4));
        Argument::Typed(type_named(&mut types, name, Some(&[element])).expect("a texture"))
    };
    let (plane, layers) = (texture("Texture2D"), texture("Texture2DArray"));
    let out = Argument::Typed(types.intern(Type::Pointer(AddressSpace::Thread, TypeId::UINT)));
    let calls: Vec<(&str, Key, Vec<Argument>)> = vec![
        ("operator+ of floats", Key::Name("operator+"), vec![float, float]),
        ("operator+ of literals", Key::Name("operator+"), vec![LITERAL, LITERAL]),
        (
            "operator+ of a matrix and a literal",
            Key::Name("operator+"),
            vec![Argument::Typed(TypeId::matrix(Scalar::Float, 4, 4)), LITERAL],
        ),
        ("operator+ of a vector and a texture", Key::Name("operator+"), vec![vector(4), plane]),
        ("mul of matrices", Key::Name("mul"), vec![Argument::Typed(TypeId::matrix(Scalar::Float, 4, 4)); 2]),
        ("float4 of literals", Key::Cast(TypeId::vector(Scalar::Float, 4)), vec![LITERAL; 4]),
        ("float4x4 of literals", Key::Cast(TypeId::matrix(Scalar::Float, 4, 4)), vec![LITERAL; 16]),
        ("int of a literal", Key::Cast(TypeId::INT), vec![LITERAL]),
        ("sin", Key::Name("sin"), vec![vector(3)]),
        ("swizzle", Key::Name("operator.zyx"), vec![vector(4)]),
        ("Sample", Key::Name("Sample"), vec![plane, Argument::Typed(TypeId::SAMPLER), vector(2)]),
        ("GetDimensions", Key::Name("GetDimensions"), vec![layers, LITERAL, out, out, out, out]),
        ("a name of no function", Key::Name("shade"), vec![float]),
    ];

    let start = Instant::now();
    black_box(declares(&types, Key::Name("operator+"), &[TypeId::FLOAT, TypeId::FLOAT]));
    println!("the first look-up: {:?}", start.elapsed());

    let mut group = c.benchmark_group("wsl library");
    let mut found = Vec::new();
    for (name, key, arguments) in &calls {
        group.bench_function(*name, |b| {
            b.iter(|| {
                found.clear();
                overloads(&mut types, black_box(*key), black_box(arguments), &mut found);
                found.len()
            });
        });
    }
    group.bench_function("float4 by name", |b| b.iter(|| type_named(&mut types, black_box("float4"), None)));
    group.finish();
}

criterion_group!(benches, library);
criterion_main!(benches);
