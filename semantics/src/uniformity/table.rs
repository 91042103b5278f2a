//! The table of sources of uniformity: inputs, loads and library functions (seed 001; seed 004
//! "Built-in Variables", "Arguments and Return Types", "Standard library"; ERRATA U-8, U-9).
//!
//! Seed 001 leaves open which values are not uniform. This table is the one place that defines it,
//! for both modes. The scope follows from the stage: only compute stages call barriers, and only
//! fragment stages compute derivatives.
//!
//! The table makes two assumptions. Writable resources do not overlap read-only resources. If a
//! library function leaves a value unspecified, equal operands give equal values.

use crate::wsl::entry::{Item, Stage};
use crate::wsl::environment::Semantic;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic};
use crate::wsl::types::{Type, TypeId, Types};

/// The kinds of operations that need uniform control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// A barrier. Its scope is the workgroup.
    Barrier,
    /// A derivative, or a sample whose level of detail comes from derivatives. The scope is
    /// the draw.
    Derivative,
}

impl Need {
    /// The two kinds of operations that need uniform control flow.
    pub const ALL: [Need; 2] = [Need::Barrier, Need::Derivative];

    /// The name in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Need::Barrier => "barrier",
            Need::Derivative => "derivative",
        }
    }

    /// The scope: the invocations that must execute the operation together.
    pub fn scope(self) -> &'static str {
        match self {
            Need::Barrier => "workgroup",
            Need::Derivative => "draw",
        }
    }
}

/// The uniformity of a load through an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// A uniform value, if the address is uniform. Nothing writes there.
    Uniform,
    /// A value that may differ, at any address. Other invocations write there.
    Varies,
    /// The value that the invocation itself has stored there.
    AsStored,
}

/// The uniformity of a library function's result, or of a value that it stores through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultUniformity {
    /// A uniform value if all arguments are uniform.
    AsArguments,
    /// A value that may differ between invocations.
    Varies,
}

/// Whether the scope of the stage's barriers and derivatives is a single invocation. Then
/// everything is uniform.
pub fn single(stage: Stage) -> bool {
    stage == Stage::Compute([1, 1, 1])
}

/// Whether an argument of an entry point is uniform: in the workgroup for a compute stage, in the
/// draw for another stage.
///
/// A buffer, a texture or a sampler is uniform as a handle. [`load`] and [`result`] define which of
/// its contents are uniform.
pub fn input(stage: Stage, item: &Item) -> bool {
    let Some((semantic, _)) = item.semantic else { return false };
    match semantic {
        Semantic::Register(..) | Semantic::Specialized => true,
        _ if single(stage) => true,
        // `nointerpolation` makes it constant in a primitive, but a draw has many primitives.
        Semantic::Attribute(_) => false,
        Semantic::Builtin(s) => builtin(s) == Builtin::Group,
        // Arguments cannot have these semantics.
        Semantic::Target(_) | Semantic::OutOfRange => false,
    }
}

/// A built-in input, independent of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// The index of the workgroup, or the number of workgroups.
    Group,
    /// The position of the invocation in its workgroup.
    Local,
    /// The position of the invocation in the dispatch.
    Global,
    /// The index of the invocation in its workgroup.
    LocalIndex,
    /// A Boolean of a fragment: whether it is front-facing, or a helper.
    Truth,
    /// Any other input of a vertex or fragment.
    Other,
}

/// The range of a component of an input, in the scope of its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// It is this number in every invocation.
    Constant(u32),
    /// It is uniform.
    Uniform,
    /// It may differ, and is at most this number.
    Varying(u32),
}

/// The range of component `k` of a built-in. `size` is the workgroup's size, if it is known.
pub fn component(builtin: Builtin, size: Option<[u32; 3]>, k: usize) -> Component {
    let side = size.and_then(|size| size.get(k).copied());
    match (builtin, side) {
        (Builtin::Group, _) | (Builtin::Global, Some(1)) => Component::Uniform,
        (Builtin::Local, Some(1)) => Component::Constant(0),
        (Builtin::Local, Some(side)) => Component::Varying(side.saturating_sub(1)),
        (Builtin::LocalIndex, _) => match size {
            Some(size) => Component::Varying(size.iter().fold(1u32, |a, b| a.saturating_mul(*b)).saturating_sub(1)),
            None => Component::Varying(u32::MAX),
        },
        (Builtin::Truth, _) => Component::Varying(1),
        (Builtin::Local | Builtin::Global | Builtin::Other, _) => Component::Varying(u32::MAX),
    }
}

/// The built-in that a semantic of WSL names.
pub fn builtin(semantic: BuiltinSemantic) -> Builtin {
    use BuiltinSemantic as S;
    match semantic {
        S::GroupId => Builtin::Group,
        S::GroupThreadId => Builtin::Local,
        S::DispatchThreadId => Builtin::Global,
        S::GroupIndex => Builtin::LocalIndex,
        S::IsFrontFace => Builtin::Truth,
        S::InstanceId | S::VertexId | S::PointSize | S::Position | S::SampleIndex | S::InnerCoverage | S::Depth | S::Coverage => {
            Builtin::Other
        }
    }
}

/// The uniformity of a load from an address space.
pub fn load(space: AddressSpace) -> Load {
    match space {
        AddressSpace::Constant => Load::Uniform,
        AddressSpace::Device | AddressSpace::Threadgroup => Load::Varies,
        AddressSpace::Thread => Load::AsStored,
    }
}

/// Whether the contents of a texture may change during a dispatch or draw.
pub fn texture_varies(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Texture(kind, _) if kind.writable())
}

/// The need of a library function for uniform control flow.
pub fn need(meaning: Meaning) -> Option<Need> {
    match class(meaning) {
        Class::Barrier => Some(Need::Barrier),
        Class::Derivative => Some(Need::Derivative),
        Class::Pure | Class::Scalarwise | Class::Stores | Class::Texel | Class::Atomic => None,
    }
}

/// The uniformity of a library function's result.
pub fn result(types: &Types, function: LibraryFunction) -> ResultUniformity {
    match class(function.meaning()) {
        // The derivative of a uniform value is zero, and a sample at a uniform coordinate reads
        // one place.
        Class::Pure | Class::Scalarwise | Class::Stores | Class::Derivative | Class::Barrier => ResultUniformity::AsArguments,
        Class::Texel if function.variable().is_none_or(|ty| texture_varies(types, ty)) => ResultUniformity::Varies,
        Class::Texel => ResultUniformity::AsArguments,
        Class::Atomic => ResultUniformity::Varies,
    }
}

/// The uniformity of the value that a library function stores through each pointer argument but the
/// first. `None` if it stores nothing there. An atomic function also stores to the target of its
/// first argument.
pub fn stored(meaning: Meaning) -> Option<ResultUniformity> {
    match class(meaning) {
        Class::Stores => Some(ResultUniformity::AsArguments),
        Class::Atomic => Some(ResultUniformity::Varies),
        Class::Pure | Class::Scalarwise | Class::Texel | Class::Derivative | Class::Barrier => None,
    }
}

/// Whether each scalar of a library function's result depends only on the arguments' scalars at the
/// same position. A scalar argument belongs to every position.
pub fn is_scalarwise(meaning: Meaning) -> bool {
    class(meaning) == Class::Scalarwise
}

/// The classes of library functions, for this table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Its result is a function of its arguments, and it does nothing else.
    Pure,
    /// As `Pure`, and each scalar of the result depends only on the scalars at the same position.
    Scalarwise,
    /// Its result, and what it stores through pointers, are functions of its arguments.
    Stores,
    /// It reads a texture.
    Texel,
    /// It changes memory that invocations share, and returns the previous value.
    Atomic,
    /// It waits for the workgroup.
    Barrier,
    /// It reads values of neighbouring invocations.
    Derivative,
}

fn class(meaning: Meaning) -> Class {
    use Meaning as M;
    match meaning {
        M::DeviceMemoryBarrierWithGroupSync | M::GroupMemoryBarrierWithGroupSync | M::AllMemoryBarrierWithGroupSync => Class::Barrier,
        M::Ddx
        | M::Ddy
        | M::DdxCoarse
        | M::DdyCoarse
        | M::DdxFine
        | M::DdyFine
        | M::Fwidth
        | M::FwidthCoarse
        | M::FwidthFine
        | M::Sample
        | M::SampleBias
        | M::SampleCmp => Class::Derivative,
        M::InterlockedAdd
        | M::InterlockedAnd
        | M::InterlockedOr
        | M::InterlockedXor
        | M::InterlockedMin
        | M::InterlockedMax
        | M::InterlockedExchange
        | M::InterlockedCompareExchange => Class::Atomic,
        M::SampleGrad
        | M::SampleLevel
        | M::SampleCmpLevelZero
        | M::GatherRed
        | M::GatherGreen
        | M::GatherBlue
        | M::GatherAlpha
        | M::GatherCmp
        | M::Load => Class::Texel,
        M::Modf | M::Sincos | M::GetDimensions => Class::Stores,
        // Values of a texture that it stores to vary anyway.
        M::Store => Class::Pure,
        M::All
        | M::Any
        | M::Default
        | M::Vector
        | M::MatrixColumns
        | M::MatrixElements
        | M::Dot
        | M::MatrixMultiply
        | M::Length
        | M::Normalize
        | M::Distance
        | M::Cross
        | M::Reflect
        | M::Refract
        | M::Faceforward
        | M::Dst
        | M::Lit
        | M::Transpose
        | M::Determinant
        | M::Swizzle
        | M::SetSwizzle
        | M::Index
        | M::SetIndex
        | M::ElementCount
        | M::ElementPointer => Class::Pure,
        M::Add
        | M::Subtract
        | M::Multiply
        | M::Negate
        | M::Increment
        | M::Decrement
        | M::Divide
        | M::Remainder
        | M::Abs
        | M::Sign
        | M::Min
        | M::Max
        | M::Clamp
        | M::And
        | M::Or
        | M::Xor
        | M::Complement
        | M::Not
        | M::ShiftLeft
        | M::ShiftRight
        | M::CountBits
        | M::ReverseBits
        | M::FirstBitHigh
        | M::FirstBitLow
        | M::Cos
        | M::Sin
        | M::Tan
        | M::Acos
        | M::Asin
        | M::Atan
        | M::Cosh
        | M::Sinh
        | M::Tanh
        | M::Ceil
        | M::Floor
        | M::Round
        | M::Trunc
        | M::Frac
        | M::Exp
        | M::Exp2
        | M::Log
        | M::Log2
        | M::Log10
        | M::Sqrt
        | M::Rsqrt
        | M::Rcp
        | M::Degrees
        | M::Radians
        | M::Saturate
        | M::Pow
        | M::Step
        | M::Ldexp
        | M::Fmod
        | M::Atan2
        | M::Smoothstep
        | M::Lerp
        | M::Mad
        | M::IsFinite
        | M::IsInf
        | M::IsNan
        | M::Identity
        | M::Convert
        | M::EnumFrom
        | M::EnumValue
        | M::Reinterpret
        | M::Equal
        | M::NotEqual
        | M::Less
        | M::LessEqual
        | M::Greater
        | M::GreaterEqual
        | M::Plus => Class::Scalarwise,
    }
}
