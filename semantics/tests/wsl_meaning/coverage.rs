//! Every row of the table is executed, or is in the list of rows that are not. Functions that work
//! element by element do so.

use crate::common::{Checks, Definite, NAN, overload, types};
use crate::listing::listing;
use crate::random::Random;
use smallstep_semantics::wsl::library::{Meaning, Name, Overload, TABLE};
use smallstep_semantics::wsl::meaning::{Evaluator, Op, OpResult, Planted, scalar};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId, Types};
use std::collections::{BTreeMap, BTreeSet};

/// The meanings that are no functions of values alone, or that need to know the elements of a type.
const OTHERS: [Meaning; 37] = [
    Meaning::Ddx,
    Meaning::Ddy,
    Meaning::DdxCoarse,
    Meaning::DdyCoarse,
    Meaning::DdxFine,
    Meaning::DdyFine,
    Meaning::Fwidth,
    Meaning::FwidthCoarse,
    Meaning::FwidthFine,
    Meaning::InterlockedAdd,
    Meaning::InterlockedAnd,
    Meaning::InterlockedOr,
    Meaning::InterlockedXor,
    Meaning::InterlockedMin,
    Meaning::InterlockedMax,
    Meaning::InterlockedExchange,
    Meaning::InterlockedCompareExchange,
    Meaning::DeviceMemoryBarrierWithGroupSync,
    Meaning::GroupMemoryBarrierWithGroupSync,
    Meaning::AllMemoryBarrierWithGroupSync,
    Meaning::EnumFrom,
    Meaning::ElementPointer,
    Meaning::Sample,
    Meaning::SampleBias,
    Meaning::SampleGrad,
    Meaning::SampleLevel,
    Meaning::SampleCmp,
    Meaning::SampleCmpLevelZero,
    Meaning::GatherRed,
    Meaning::GatherGreen,
    Meaning::GatherBlue,
    Meaning::GatherAlpha,
    Meaning::GatherCmp,
    Meaning::Load,
    Meaning::Store,
    Meaning::GetDimensions,
    // Only for structures, which the test below tells by the function's name.
    Meaning::Default,
];

/// The number of words of a value, by the rule of layouts. The struct of the listing has 5 words.
fn words(types: &Types, id: TypeId) -> usize {
    let vector = |n: u8| if n == 3 { 4 } else { n as usize };
    match types.get(id) {
        Type::Void => 0,
        Type::Scalar(_) | Type::Atomic(_) | Type::Enum(_) => 1,
        Type::Vector(_, n) => vector(n),
        Type::Matrix(_, n, m) => n as usize * vector(m),
        Type::Struct(_) => 5,
        Type::Array(of, n) => n as usize * words(types, of),
        Type::Pointer(..) | Type::Sampler | Type::Texture(..) => 2,
        Type::ArrayReference(..) => 4,
    }
}

/// The scalar type, and the indices of the words of the elements, column by column. `None` for
/// other types.
fn elements(types: &Types, id: TypeId) -> Option<(Scalar, Vec<usize>)> {
    Some(match types.get(id) {
        Type::Scalar(s) => (s, vec![0]),
        Type::Vector(s, n) => (s, (0..n.into()).collect()),
        Type::Matrix(s, n, m) => {
            let column = words(types, TypeId::vector(s, m));
            (s, (0..n as usize).flat_map(|c| (0..m as usize).map(move |r| c * column + r)).collect())
        }
        _ => return None,
    })
}

/// Every function of the listing, as the overload in the table.
fn functions() -> (Types, Vec<(String, Overload)>) {
    let listing = listing();
    let mut types = listing.types.clone();
    let found = listing.functions.keys().map(|(name, parameters)| (name.clone(), overload(&mut types, name, parameters))).collect();
    (types, found)
}

#[test]
fn every_row_is_executed_or_named_as_one_that_is_not() {
    let (types, functions) = functions();
    let mut seen: BTreeMap<usize, BTreeSet<bool>> = BTreeMap::new();
    let mut source = Random(5);
    for (name, Overload { function, parameters, result }) in &functions {
        let arguments: Vec<Vec<u32>> =
            parameters.iter().map(|&id| (0..words(&types, id)).map(|_| source.next() as u32).collect()).collect();
        let arguments: Vec<&[u32]> = arguments.iter().map(Vec::as_slice).collect();
        let mut lanes = Definite::default();
        let results = Planted::NONE.apply(&mut lanes, &types, *function, parameters, *result, &arguments);
        let other = OTHERS.contains(&function.meaning()) && (function.meaning() != Meaning::Default || name == "cast S");
        assert_eq!(results.is_none(), other, "{name} of {parameters:?}");
        seen.entry(std::ptr::from_ref(function.signature()) as usize).or_default().insert(other);
        let Some(results) = results else { continue };
        // Every result has the words of its type. Stored values have the words of the types that
        // the pointers point to.
        assert_eq!(results.result.len(), words(&types, *result), "{name} of {parameters:?}");
        let pointers = parameters.iter().filter_map(|&id| match types.get(id) {
            Type::Pointer(_, to) => Some(words(&types, to)),
            _ => None,
        });
        assert_eq!(results.stored.iter().map(|words| words.len()).collect::<Vec<_>>(), pointers.collect::<Vec<_>>(), "{name}");
    }
    for row in TABLE.iter().flat_map(|section| section.rows) {
        for signature in row.signatures {
            assert!(seen.contains_key(&(std::ptr::from_ref(signature) as usize)), "{:?} is forgotten: {}", row.meaning, row.says);
        }
    }
}

/// Whether the meaning is the same operation on each element.
fn is_elementwise(meaning: Meaning) -> bool {
    !matches!(meaning, Meaning::All | Meaning::Any | Meaning::Modf)
        && Scalar::ALL.iter().any(|&of| Scalar::ALL.iter().any(|&to| Op { meaning, of, to }.arity().is_some()))
}

/// Every operation on scalars takes any operands, and its Boolean results are 0 or 1.
#[test]
fn operations_take_any_operands() {
    let meanings: BTreeSet<Meaning> = TABLE.iter().flat_map(|section| section.rows).map(|row| row.meaning).collect();
    let mut source = Random(31);
    let mut count = 0;
    for op in meanings.iter().flat_map(|&meaning| Scalar::ALL.into_iter().flat_map(move |of| Scalar::ALL.map(|to| Op { meaning, of, to })))
    {
        let Some(arity) = op.arity() else { continue };
        count += 1;
        for _ in 0..300 {
            let corners = [
                0,
                1,
                0x3f80_0000,
                0x7f80_0000,
                0x7fc0_0000,
                0x8000_0000,
                0xff80_0001,
                u32::MAX,
                source.next() as u32,
                source.next() as u32,
            ];
            let operands: Vec<u32> = (0..arity).map(|_| corners[source.below(corners.len())]).collect();
            let given = scalar(op, &operands);
            let all = match &given {
                OpResult::Exactly(bits) => vec![*bits],
                OpResult::OneOf(all) => all.to_vec(),
                OpResult::Any(bits) => vec![*bits],
            };
            assert_eq!(given.first(), all[0]);
            assert!(
                !matches!(given, OpResult::OneOf(_)) || all.len() >= 2 && all.iter().collect::<BTreeSet<_>>().len() == all.len(),
                "{op:?}{operands:x?}"
            );
            assert!(op.to != Scalar::Bool || all.iter().all(|&bits| bits < 2), "{op:?}{operands:x?}: {given:x?}");
            let nan = |&bits: &u32| op.to == Scalar::Float && f32::from_bits(bits).is_nan() && bits != NAN;
            assert!(op.meaning == Meaning::Reinterpret || !all.iter().any(nan), "{op:?}{operands:x?}: {given:x?}");
        }
    }
    assert_eq!(count, 142);
}

/// Checks that functions that work element by element apply the operation to each element.
pub fn element_by_element(checks: &mut Checks) {
    let (types, functions) = functions();
    let mut source = Random(19);
    for (name, Overload { function, parameters, result }) in &functions {
        let shapes: Option<Vec<(Scalar, Vec<usize>)>> = parameters.iter().map(|&id| elements(&types, id)).collect();
        let (Some(shapes), Some((to, places))) = (shapes, elements(&types, *result)) else { continue };
        if !is_elementwise(function.meaning()) || places.len() == 1 {
            continue;
        }
        checks.count += 1;
        let value = |scalar: Scalar, source: &mut Random| match scalar {
            Scalar::Bool => source.below(2) as u32,
            Scalar::Float => (source.below(400) as f32 / 16.0 - 5.0).to_bits(),
            Scalar::Int | Scalar::Uint => source.next() as u32,
        };
        let arguments: Vec<Vec<u32>> = shapes
            .iter()
            .zip(parameters)
            .map(|((scalar, _), &id)| (0..words(&types, id)).map(|_| value(*scalar, &mut source)).collect())
            .collect();
        let mut lanes = Definite { planted: checks.planted, ..Definite::default() };
        let slices: Vec<&[u32]> = arguments.iter().map(Vec::as_slice).collect();
        let results = checks.planted.apply(&mut lanes, &types, *function, parameters, *result, &slices).expect("a function of values");
        let op = Op { meaning: function.meaning(), of: shapes[0].0, to };
        for (k, &place) in places.iter().enumerate().rev() {
            let operands: Vec<u32> =
                arguments.iter().zip(&shapes).map(|(words, (_, at))| words[if at.len() == 1 { at[0] } else { at[k] }]).collect();
            let expected = Definite::default().scalar(op, &operands);
            if results.result[place] != expected {
                checks.faults.push(format!("element {k} of {name}({arguments:x?}): expected {expected:x}, found {:x?}", results.result));
            }
        }
        let padding = (0..results.result.len()).filter(|i| !places.contains(i));
        if padding.map(|i| results.result[i]).any(|word| word != 0) {
            checks.faults.push(format!("{name}: padding is not zero: {:x?}", results.result));
        }
    }
}

#[test]
fn vectors_and_matrices_are_taken_element_by_element() {
    let mut checks = Checks::of(Planted::NONE);
    element_by_element(&mut checks);
    checks.assert();
    assert!(checks.count > 800, "{}", checks.count);
}

#[test]
fn the_listing_and_its_types_agree_with_these() {
    // What stands for itself in the rows: names of casts are types.
    assert!(TABLE.iter().flat_map(|section| section.rows).any(|row| row.name == Name::Cast));
    assert_eq!(types().enum_bases, listing().types.enum_bases);
}

/// The operations and their order do not depend on the words. So an evaluation of symbols sees the
/// operations of a definite run.
#[test]
fn the_order_of_operations_does_not_depend_on_the_words() {
    let (types, functions) = functions();
    let mut source = Random(23);
    for (name, Overload { function, parameters, result }) in &functions {
        let mut run = || {
            let arguments: Vec<Vec<u32>> =
                parameters.iter().map(|&id| (0..words(&types, id)).map(|_| source.next() as u32).collect()).collect();
            let slices: Vec<&[u32]> = arguments.iter().map(Vec::as_slice).collect();
            let mut lanes = Definite::default();
            Planted::NONE.apply(&mut lanes, &types, *function, parameters, *result, &slices).map(|_| lanes.operations)
        };
        let (first, second) = (run(), run());
        assert_eq!(first, second, "{name}");
    }
}
