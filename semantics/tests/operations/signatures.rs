//! Operands that signatures accept, and operands with one change that they do not accept.

use super::vectors::{named, vectors};
use smallstep_semantics::spirv::operation::{Scalar as Type, Shape, Signature};

fn one(of: Type) -> Shape {
    Shape::vector(of, 1)
}

fn int(width: u8) -> Shape {
    one(Type::int(width, true))
}

fn uint(width: u8) -> Shape {
    one(Type::int(width, false))
}

fn float(width: u8) -> Shape {
    one(Type::Float { width })
}

const BOOL: Shape = Shape::vector(Type::Bool, 1);
const VEC2: Shape = Shape::vector(Type::F32, 2);
const VEC3: Shape = Shape::vector(Type::F32, 3);

/// Whether the signature accepts these shapes. For a structure, `result` has the shapes of
/// both members.
fn fits(name: &str, args: &[Shape], result: &[Shape]) -> bool {
    let signature = named(name).signature;
    match result {
        [result] => signature.fits(args, *result, false),
        members => signature.fits_members(args, members),
    }
}

#[test]
fn what_the_specification_says_of_types_is_kept() {
    let i2 = Shape::vector(Type::I32, 2);
    let mixed: &[(&str, &[Shape], &[Shape], bool)] = &[
        ("IAdd", &[int(32), uint(32)], &[int(32)], true),
        ("IAdd", &[int(32), int(16)], &[int(32)], false),
        ("IAdd", &[i2, int(32)], &[i2], false),
        ("IAdd", &[float(32), float(32)], &[float(32)], false),
        ("IAdd", &[int(32)], &[int(32)], false),
        ("UDiv", &[uint(32), uint(32)], &[uint(32)], true),
        ("UDiv", &[int(32), uint(32)], &[uint(32)], false),
        ("UDiv", &[int(32), int(32)], &[int(32)], false),
        ("SDiv", &[int(32), uint(32)], &[uint(32)], true),
        ("FAdd", &[float(16), float(16)], &[float(16)], true),
        ("FAdd", &[float(16), float(32)], &[float(32)], false),
        ("ConvertFToU", &[float(32)], &[uint(8)], true),
        ("ConvertFToU", &[float(32)], &[int(8)], false),
        ("ConvertFToS", &[float(32)], &[uint(8)], true),
        ("ConvertUToF", &[int(32)], &[float(64)], true),
        ("ConvertUToF", &[i2], &[float(64)], false),
        ("UConvert", &[int(32)], &[uint(64)], true),
        ("UConvert", &[int(32)], &[int(64)], false),
        ("UConvert", &[int(32)], &[uint(32)], false),
        ("SConvert", &[int(32)], &[uint(64)], true),
        ("SConvert", &[int(32)], &[uint(32)], false),
        ("FConvert", &[float(32)], &[float(32)], false),
        ("QuantizeToF16", &[float(16)], &[float(16)], false),
        ("Bitcast", &[VEC2], &[uint(64)], true),
        ("Bitcast", &[VEC2], &[uint(32)], false),
        ("Bitcast", &[VEC3], &[VEC3.of(Type::I32)], true),
        ("Bitcast", &[BOOL], &[uint(8)], false),
        ("ShiftLeftLogical", &[int(32), uint(8)], &[uint(32)], true),
        ("ShiftLeftLogical", &[i2, uint(32)], &[i2], false),
        ("BitFieldInsert", &[int(32), int(32), uint(8), int(64)], &[int(32)], true),
        ("BitFieldInsert", &[int(32), uint(32), uint(8), int(64)], &[int(32)], false),
        ("BitFieldUExtract", &[i2, i2, int(32)], &[i2], false),
        ("BitCount", &[int(64)], &[uint(8)], true),
        ("IEqual", &[int(32), uint(32)], &[BOOL], true),
        ("IEqual", &[int(32), int(64)], &[BOOL], false),
        ("FOrdEqual", &[float(32), float(32)], &[int(32)], false),
        ("IAddCarry", &[uint(32), uint(32)], &[uint(32), uint(32)], true),
        ("IAddCarry", &[uint(32), uint(32)], &[uint(32)], false),
        ("IAddCarry", &[int(32), int(32)], &[int(32), int(32)], false),
        ("SMulExtended", &[int(32), int(32)], &[int(32), int(32)], true),
        ("SMulExtended", &[int(32), uint(32)], &[int(32), int(32)], false),
        ("SDot", &[i2, i2], &[int(32)], true),
        ("SDot", &[i2, i2], &[uint(64)], true),
        ("SDot", &[i2, i2], &[int(16)], false),
        ("SDot", &[i2, i2], &[i2], false),
        ("SDot", &[i2, Shape::vector(Type::I32, 3)], &[int(32)], false),
        ("SDot", &[i2, Shape::vector(Type::U32, 2)], &[int(32)], false),
        ("SDot", &[VEC2, VEC2], &[float(32)], false),
        ("SDot", &[int(32), int(32)], &[int(8)], true),
        ("SDot", &[int(64), int(64)], &[int(64)], false),
        ("SDot", &[i2, i2, int(32)], &[int(32)], false),
        ("UDot", &[i2, i2], &[uint(32)], false),
        ("UDot", &[Shape::vector(Type::U32, 2), Shape::vector(Type::U32, 2)], &[uint(32)], true),
        ("UDot", &[Shape::vector(Type::U32, 2), Shape::vector(Type::U32, 2)], &[int(32)], false),
        ("UDot", &[int(32), int(32)], &[uint(32)], true),
        ("SUDot", &[i2, Shape::vector(Type::U32, 2)], &[int(32)], true),
        ("SUDot", &[i2, i2], &[int(32)], false),
        ("SUDot", &[Shape::vector(Type::U32, 2), Shape::vector(Type::U32, 2)], &[int(32)], true),
        ("SDotAccSat", &[i2, i2, int(32)], &[int(32)], true),
        ("SDotAccSat", &[i2, i2, uint(32)], &[int(32)], false),
        ("SDotAccSat", &[i2, i2], &[int(32)], false),
        ("Select", &[BOOL, int(8), int(8)], &[int(8)], true),
        ("Select", &[BOOL, i2, i2], &[i2], false),
        ("Any", &[BOOL], &[BOOL], false),
        ("VectorTimesScalar", &[VEC2, float(64)], &[VEC2], false),
        ("MatrixTimesVector", &[Shape::matrix(Type::F64, 2, 3), Shape::vector(Type::F64, 3)], &[Shape::vector(Type::F64, 2)], true),
        ("MatrixTimesVector", &[Shape::matrix(Type::F64, 2, 3), Shape::vector(Type::F32, 3)], &[Shape::vector(Type::F64, 2)], false),
        ("OuterProduct", &[VEC2, VEC3], &[Shape::matrix(Type::F32, 2, 3)], true),
        ("OuterProduct", &[VEC2, VEC3], &[Shape::matrix(Type::F32, 3, 2)], false),
        ("Sin", &[float(16)], &[float(16)], true),
        ("Sin", &[float(64)], &[float(64)], false),
        ("FMix", &[float(64); 3], &[float(64)], true),
        ("UMin", &[int(16), uint(16)], &[int(16)], true),
        ("FindSMsb", &[int(64)], &[int(64)], false),
        ("Ldexp", &[VEC2, i2], &[VEC2], true),
        ("Ldexp", &[VEC2, int(32)], &[VEC2], false),
        ("Frexp", &[float(64), int(32)], &[float(64)], true),
        ("Frexp", &[float(64), int(64)], &[float(64)], false),
        ("FrexpStruct", &[float(64)], &[float(64), uint(32)], true),
        ("FrexpStruct", &[float(64)], &[float(64), uint(16)], false),
        ("ModfStruct", &[float(64)], &[float(64), float(32)], false),
        ("PackHalf2x16", &[VEC2], &[int(32)], true),
        ("PackHalf2x16", &[Shape::vector(Type::F16, 2)], &[int(32)], false),
        ("Refract", &[VEC2, VEC2, float(32)], &[VEC2], true),
        ("Refract", &[VEC2, VEC2, float(16)], &[VEC2], false),
        ("Determinant", &[Shape::matrix(Type::F32, 2, 3)], &[float(32)], false),
    ];
    for (name, args, result, takes) in mixed {
        assert_eq!(fits(name, args, result), *takes, "{name} of {args:?} to {result:?}");
    }
    let select = named("Select").signature;
    let matrix = Shape::matrix(Type::F32, 2, 2);
    assert!(select.fits(&[BOOL, matrix, matrix], matrix, true) && !select.fits(&[BOOL, matrix, matrix], matrix, false));
}

#[test]
fn nothing_fits_what_is_no_number() {
    for vector in vectors() {
        let signature = vector.operation.signature;
        let pointer = one(Type::Pointer);
        for wrong in [Shape::OTHER, pointer] {
            let args = vec![wrong; signature.arity()];
            assert!(!signature.fits(&args, wrong, true), "{}", vector.operation.name());
            assert!(!signature.fits_members(&args, &[wrong, wrong]), "{}", vector.operation.name());
        }
        assert!(!signature.fits(&[], vector.results[0], true));
        assert!(!signature.requirement().is_empty() && signature != Signature::Reduction || signature.arity() == 1);
    }
}
