//! Indices out of bounds, casts to enums, and default values.

use crate::common::{Definite, Value, call, float, matrix, of, truths, uint};
use crate::random::Random;
use smallstep_semantics::wsl::environment::Environment;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::meaning::{Planted, default_words, enum_from};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;

/// All results of a call, for any choice of indices out of bounds. Also the bounds of its indices.
fn all(name: &str, arguments: &[Value]) -> (BTreeSet<Vec<u32>>, Vec<(u32, u32)>) {
    let mut found = BTreeSet::new();
    let mut asked = Vec::new();
    for outside in 0..12 {
        let answer = call(Planted::NONE, outside, name, arguments).expect("a function of values");
        found.insert(answer.result);
        asked = answer.lanes.asked;
    }
    (found, asked)
}

fn set(of: &[Value]) -> BTreeSet<Vec<u32>> {
    of.iter().map(|value| value.words(0)).collect()
}

#[test]
fn an_index_out_of_a_vector_gives_an_element_or_zero() {
    for index in [3, 4, u32::MAX] {
        let (found, asked) = all("operator[]", &[uint(&[5, 6, 7]), uint(&[index])]);
        assert_eq!(found, set(&[uint(&[5]), uint(&[6]), uint(&[7]), uint(&[0])]));
        assert_eq!(asked, [(3, 4)]);
    }
    let (found, _) = all("operator[]=", &[float(&[1.0, 2.0, 3.0]), uint(&[3]), float(&[9.0])]);
    assert_eq!(found, set(&[float(&[9.0, 2.0, 3.0]), float(&[1.0, 9.0, 3.0]), float(&[1.0, 2.0, 9.0]), float(&[1.0, 2.0, 3.0])]));
    // In bounds there is one result.
    assert_eq!(all("operator[]", &[uint(&[5, 6, 7]), uint(&[2])]).0, set(&[uint(&[7])]));
}

#[test]
fn an_index_out_of_a_matrix_gives_a_whole_column_or_zeros() {
    let m = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    let (found, asked) = all("operator[]", &[m(), uint(&[2])]);
    assert_eq!(found, set(&[float(&[1.0, 2.0, 3.0]), float(&[4.0, 5.0, 6.0]), float(&[0.0; 3])]));
    assert_eq!(asked, [(2, 3)], "one index, and so one column");
    let (found, _) = all("operator[]=", &[m(), uint(&[9]), float(&[7.0, 8.0, 9.0])]);
    let changed = [matrix(&[&[7.0, 8.0, 9.0], &[4.0, 5.0, 6.0]]), matrix(&[&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0]]), m()];
    assert_eq!(found, set(&changed));
    let (found, _) = all("operator[]", &[truths(&[&[1, 0], &[1, 1]]), uint(&[2])]);
    assert_eq!(found, BTreeSet::from([vec![1, 0], vec![1, 1], vec![0, 0]]));
}

#[test]
fn an_index_out_of_an_array_is_some_index_in_it() {
    let array = || of("int[3]", &[5, 6, 7]);
    let (found, asked) = all("operator[]", &[array(), uint(&[3])]);
    assert_eq!(found, BTreeSet::from([vec![5], vec![6], vec![7]]));
    assert_eq!(asked, [(3, 3)]);
    let (found, _) = all("operator[]=", &[array(), uint(&[3]), of("int", &[9])]);
    assert_eq!(found, BTreeSet::from([vec![9, 6, 7], vec![5, 9, 7], vec![5, 6, 9]]));
}

#[test]
fn a_number_that_is_no_element_becomes_some_element() {
    let mut source = Random(3);
    for _ in 0..200 {
        let values: BTreeSet<u32> = (0..1 + source.below(5)).map(|_| source.below(6) as u32).collect();
        let values: Vec<u32> = values.into_iter().rev().collect();
        for number in 0..7 {
            let found: BTreeSet<u32> =
                (0..6).map(|outside| enum_from(&mut Definite { outside, ..Definite::default() }, &values, number)).collect();
            let expected: BTreeSet<u32> = if values.contains(&number) { [number].into() } else { values.iter().copied().collect() };
            assert_eq!(found, expected, "{values:?} from {number}");
        }
    }
}

#[test]
fn default_values_are_zeros_of_every_type_that_has_one() {
    let text = "struct P { float3 a; int b; float2x3[2] c; bool d; } enum E { A = 0, B } struct Q { P[3] p; E e; }";
    let validated = validate(text);
    let program = validated.program.unwrap_or_else(|| panic!("{:?}", validated.errors));
    let mut env: Environment = program.env.clone();
    let mut layouts = Layouts::default();
    let mut words = |ty: Type| {
        let id = env.types.intern(ty);
        default_words(&mut layouts, &env, id)
    };
    let structure = |name: &str| {
        let at = program.env.structs.iter().position(|s| program.env.names.name(s.name) == name).expect("declared");
        Type::Struct(smallstep_semantics::wsl::types::StructId(at as u32))
    };
    // a: 0 to 16 bytes, b at 16, c at 32 with 2 · 32, d at 96: 112 bytes.
    assert_eq!(words(structure("P")), Some(28));
    // Three of them, and e at 336: 352 bytes.
    assert_eq!(words(structure("Q")), Some(88));
    assert_eq!(words(Type::Array(TypeId::vector(Scalar::Float, 3), 5)), Some(20));
    assert_eq!(words(Type::Matrix(Scalar::Bool, 3, 2)), Some(6));
    assert_eq!(words(Type::Scalar(Scalar::Bool)), Some(1));
    assert_eq!(words(Type::Atomic(Scalar::Int)), Some(1));
    for ty in [
        Type::Void,
        Type::Sampler,
        Type::Pointer(AddressSpace::Thread, TypeId::INT),
        Type::ArrayReference(AddressSpace::Device, TypeId::INT),
    ] {
        assert_eq!(words(ty), None);
    }
    assert_eq!(words(Type::Array(TypeId::SAMPLER, 2)), None);
}
