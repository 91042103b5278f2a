//! Arguments for the functions of a program, drawn by a seed. They are words, or the text of
//! a call.

use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::syntax::FunctionKind;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;

/// The most words of an argument.
const MAX_WORDS: u64 = 4096;

/// Number `k` of an argument, below 8, by the seed. `place` is the argument's position.
pub(super) fn drawn(seed: u64, place: u64, k: u64) -> u32 {
    Strategy::Random(seed).choose(place as u32, k, 8).unwrap_or(0) as u32
}

fn bits(scalar_type: Scalar, drawn: u32) -> u32 {
    match scalar_type {
        Scalar::Bool => drawn & 1,
        Scalar::Uint => drawn,
        Scalar::Int => drawn.wrapping_sub(3),
        Scalar::Float => (drawn as f32 * 0.75 - 2.0).to_bits(),
    }
}

/// The words of an argument at that position. Scalars and vectors hold small numbers and floats,
/// everything else zeros. `None` for types of memory objects and for large types.
pub fn words(program: &Program, layouts: &mut Layouts, ty: TypeId, seed: u64, place: u64) -> Option<Vec<u32>> {
    let type_ = program.env.types.get(ty);
    if matches!(type_, Type::Pointer(..) | Type::ArrayReference(..) | Type::Sampler | Type::Texture(..) | Type::Atomic(_) | Type::Void) {
        return None;
    }
    let size = layouts.of(&program.env, ty)?.size / 4;
    let word = |k: u64| match type_ {
        Type::Scalar(scalar) => bits(scalar, drawn(seed, place, k)),
        Type::Vector(scalar, n) if k < u64::from(n) => bits(scalar, drawn(seed, place, k)),
        _ => 0,
    };
    (size <= MAX_WORDS).then(|| (0..size).map(word).collect())
}

/// A call of the function as WSL text. It has drawn numbers, elements of enums, and structures of
/// zeros. `None` if the function has no name to call it by, or if it has other parameters.
pub fn call(program: &Program, function: FunctionId, seed: u64) -> Option<String> {
    let f = program.env.function(function);
    let name = program.env.names.name(f.name.name);
    if f.kind != FunctionKind::Normal || name.starts_with("operator") {
        return None;
    }
    let arguments = f.parameters.iter().zip(0..).map(|(p, place)| argument(program, p.ty, &mut |k| drawn(seed, place, k), &mut 0));
    Some(format!("{name}({})", arguments.collect::<Option<Vec<_>>>()?.join(", ")))
}

fn argument(program: &Program, ty: TypeId, draw: &mut dyn FnMut(u64) -> u32, k: &mut u64) -> Option<String> {
    let mut next = || {
        *k += 1;
        draw(*k - 1)
    };
    let env = &program.env;
    match env.types.get(ty) {
        Type::Scalar(scalar_type) => Some(scalar(scalar_type, bits(scalar_type, next()))),
        Type::Vector(scalar_type, n) => {
            let parts: Vec<String> = (0..n).map(|_| scalar(scalar_type, bits(scalar_type, next()))).collect();
            Some(format!("{}({})", env.type_name(ty), parts.join(", ")))
        }
        Type::Matrix(scalar_type, columns, rows) => {
            let columns = (0..columns).map(|_| argument(program, TypeId::vector(scalar_type, rows), draw, k));
            Some(format!("{}({})", env.type_name(ty), columns.collect::<Option<Vec<_>>>()?.join(", ")))
        }
        Type::Enum(id) => {
            let elements = &env.enumeration(id).elements;
            let (element, _) = elements.get(next() as usize % elements.len().max(1))?;
            Some(format!("{}.{}", env.type_name(ty), env.names.name(*element)))
        }
        Type::Struct(_) => Some(format!("{}()", env.type_name(ty))),
        _ => None,
    }
}

/// A scalar of a type that no parameter determines.
fn scalar(scalar_type: Scalar, bits: u32) -> String {
    match scalar_type {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::Uint => format!("{bits}u"),
        Scalar::Int => format!("int({})", bits as i32),
        Scalar::Float => smallstep_semantics::wsl::value::float(bits),
    }
}
