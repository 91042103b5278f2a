//! What is uniform of itself: inputs, loads and library functions (seed 001; seed 004 "Built-in
//! Variables", "Arguments and Return Types", "Standard library"; ERRATA U-8, U-9).
//!
//! Seed 001 leaves open what the non-uniform values are. This table is the one place that says it,
//! for both modes. The scope follows from the stage: only compute stages call barriers, and only
//! fragment stages compute derivatives.
//!
//! Two assumptions stand behind it. Resources that can be written do not overlap those that cannot.
//! Where a library function leaves a value unspecified, the same operands give the same value.

use crate::wsl::entry::{Item, Stage};
use crate::wsl::environment::Semantic;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic};
use crate::wsl::types::{Type, TypeId, Types};

/// What needs uniform control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// A barrier: in the workgroup.
    Barrier,
    /// A derivative, or a sample whose level derivatives choose: in the draw.
    Derivative,
}

impl Need {
    /// Both.
    pub const ALL: [Need; 2] = [Need::Barrier, Need::Derivative];

    /// What it is called in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Need::Barrier => "barrier",
            Need::Derivative => "derivative",
        }
    }

    /// The invocations that must be in step.
    pub fn scope(self) -> &'static str {
        match self {
            Need::Barrier => "workgroup",
            Need::Derivative => "draw",
        }
    }
}

/// What a load through an address gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// At a uniform address, a uniform value: nothing writes there.
    Uniform,
    /// A value that may differ, at any address: other invocations write there.
    Varies,
    /// What the invocation has stored there.
    AsStored,
}

/// What a library function gives, or stores through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Given {
    /// A uniform value if all arguments are uniform.
    AsArguments,
    /// A value that may differ between invocations.
    Varies,
}

/// Whether the scope of the stage's barriers and derivatives is a single invocation: everything is
/// uniform in it.
pub fn single(stage: Stage) -> bool {
    stage == Stage::Compute([1, 1, 1])
}

/// Whether an argument of an entry point is uniform: in the workgroup of a compute stage, in the
/// draw of another stage.
///
/// A buffer, a texture or a sampler is uniform as a handle. [`load`] and [`result`] say what of its
/// contents is.
pub fn input(stage: Stage, item: &Item) -> bool {
    let Some((semantic, _)) = item.semantic else { return false };
    match semantic {
        Semantic::Register(..) | Semantic::Specialized => true,
        _ if single(stage) => true,
        // `nointerpolation` makes it constant in a primitive, and a draw has many.
        Semantic::Attribute(_) => false,
        Semantic::Builtin(s) => builtin(s) == Builtin::Group,
        // No argument has them.
        Semantic::Target(_) | Semantic::OutOfRange => false,
    }
}

/// A built-in input, whatever the language calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// The number of the workgroup, and how many there are.
    Group,
    /// The place of the invocation in its workgroup.
    Local,
    /// The place of the invocation in the dispatch.
    Global,
    /// The number of the invocation in its workgroup.
    LocalIndex,
    /// A truth value of a fragment: whether it is in front, or a helper.
    Truth,
    /// Any other input of a vertex or fragment.
    Other,
}

/// What is known of a component of an input, in the scope of its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// It is this number.
    Constant(u32),
    /// It is uniform.
    Uniform,
    /// It may differ, and is at most the number.
    Varying(u32),
}

/// What is known of a component of a built-in. `size` is the workgroup's, if it is known.
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

/// What a load from an address space gives.
pub fn load(space: AddressSpace) -> Load {
    match space {
        AddressSpace::Constant => Load::Uniform,
        AddressSpace::Device | AddressSpace::Threadgroup => Load::Varies,
        AddressSpace::Thread => Load::AsStored,
    }
}

/// Whether what a texture holds may change during a dispatch or draw.
pub fn texture_varies(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Texture(kind, _) if kind.writable())
}

/// What a library function needs.
pub fn need(meaning: Meaning) -> Option<Need> {
    match class(meaning) {
        Class::Barrier => Some(Need::Barrier),
        Class::Derivative => Some(Need::Derivative),
        Class::Pure | Class::Scalarwise | Class::Stores | Class::Texel | Class::Atomic => None,
    }
}

/// What a library function gives as its result.
pub fn result(types: &Types, function: LibraryFunction) -> Given {
    match class(function.meaning()) {
        // A derivative of a uniform value is zero, and its sample is at one place.
        Class::Pure | Class::Scalarwise | Class::Stores | Class::Derivative | Class::Barrier => Given::AsArguments,
        Class::Texel if function.variable().is_none_or(|ty| texture_varies(types, ty)) => Given::Varies,
        Class::Texel => Given::AsArguments,
        Class::Atomic => Given::Varies,
    }
}

/// What a library function stores through each pointer among its arguments but the first; none if
/// it stores nothing there. An atomic function also stores to what its first argument points to.
pub fn stored(meaning: Meaning) -> Option<Given> {
    match class(meaning) {
        Class::Stores => Some(Given::AsArguments),
        Class::Atomic => Some(Given::Varies),
        Class::Pure | Class::Scalarwise | Class::Texel | Class::Derivative | Class::Barrier => None,
    }
}

/// Whether each scalar of a library function's result depends only on the scalars of the arguments
/// at the same place. An argument that is one scalar belongs to each place.
pub fn is_scalarwise(meaning: Meaning) -> bool {
    class(meaning) == Class::Scalarwise
}

/// What matters of a library function here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Its result is a function of its arguments, and it does nothing else.
    Pure,
    /// Likewise; and each scalar of the result is a function of the scalars at the same place.
    Scalarwise,
    /// A function of its arguments, and so is what it stores through pointers.
    Stores,
    /// It reads a texture.
    Texel,
    /// It changes memory that invocations share, and gives what was there.
    Atomic,
    /// It waits for the workgroup.
    Barrier,
    /// It reads values of neighbours.
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
        // The texture that it stores to gives values that vary anyway.
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
