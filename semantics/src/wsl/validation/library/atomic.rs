//! Fences and atomic operations: seed 004 "Fences and atomic operations".

use super::meaning::Meaning;
use super::pattern::Pattern::{Atomic, Fixed, Pointer, T};
use super::pattern::{Pattern, Range, Spaces, TypeSet};
use super::table::{Row, Signature, Stages, over, plain, row};
use crate::wsl::types::{Scalar, TypeId};

const BASES: Range = Range::of(TypeSet::scalars(&[Scalar::Int, Scalar::Uint]));
const VOID: Pattern = Fixed(TypeId::VOID);
const PLACE: Pattern = Pointer(Spaces::SHARED, &Atomic);
const OUT: Pattern = Pointer(Spaces::WRITABLE, &T);

/// InterlockedAdd, And, Or, Xor, Min, Max and Exchange : (atomic_T* device or threadgroup, T, T*
/// not constant) → void for T int or uint
///                                          [wsl/lib-interlocked, 004 Fences and atomic operations]
///
/// One atomic read and write.
pub(super) const fn interlocked() -> &'static [Row] {
    const MODIFY: &[Signature] = &[over(BASES, &[PLACE, T, OUT], VOID)];
    const ROWS: &[Row] = &[
        row(
            "InterlockedAdd",
            MODIFY,
            Meaning::InterlockedAdd,
            "Adds the value to what the first pointer points to, modulo 2³², then stores what was there through the last.",
        ),
        row(
            "InterlockedAnd",
            MODIFY,
            Meaning::InterlockedAnd,
            "Stores the bitwise and of the value and what the first pointer points to there, then what was there through the last.",
        ),
        row(
            "InterlockedOr",
            MODIFY,
            Meaning::InterlockedOr,
            "Stores the bitwise or of the value and what the first pointer points to there, then what was there through the last.",
        ),
        row(
            "InterlockedXor",
            MODIFY,
            Meaning::InterlockedXor,
            "Stores the bitwise exclusive or of the value and what the first pointer points to there, then what was there through the last.",
        ),
        row(
            "InterlockedMin",
            MODIFY,
            Meaning::InterlockedMin,
            "Stores the lesser of the value and what the first pointer points to there, then what was there through the last.",
        ),
        row(
            "InterlockedMax",
            MODIFY,
            Meaning::InterlockedMax,
            "Stores the greater of the value and what the first pointer points to there, then what was there through the last.",
        ),
        row(
            "InterlockedExchange",
            MODIFY,
            Meaning::InterlockedExchange,
            "Stores the value where the first pointer points, then what was there through the last.",
        ),
    ];
    ROWS
}

/// InterlockedCompareExchange : (atomic_T* device or threadgroup, T, T, T* not constant) → void for
/// T int or uint                       [wsl/lib-compare-exchange, 004 Fences and atomic operations]
///
/// One atomic read, and a write if the value read is the expected one.
pub(super) const fn compare_exchange() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "InterlockedCompareExchange",
        &[over(BASES, &[PLACE, T, T, OUT], VOID)],
        Meaning::InterlockedCompareExchange,
        "If the first pointer points to the second argument, stores the third there, one read and write; never fails without cause. Then stores what was \
         there through the last.",
    )];
    ROWS
}

/// Device-, Group- and AllMemoryBarrierWithGroupSync : () → void, in compute shaders
///                                              [wsl/lib-barrier, 004 Fences and atomic operations]
///
/// Waits for the other threads of the threadgroup.
pub(super) const fn barrier() -> &'static [Row] {
    const WAIT: &[Signature] = &[plain(&[], VOID)];
    const ROWS: &[Row] = &[
        row(
            "DeviceMemoryBarrierWithGroupSync",
            WAIT,
            Meaning::DeviceMemoryBarrierWithGroupSync,
            "Waits for the threadgroup's other threads at the same call, then a fence of device memory.",
        )
        .stages(Stages::COMPUTE),
        row(
            "GroupMemoryBarrierWithGroupSync",
            WAIT,
            Meaning::GroupMemoryBarrierWithGroupSync,
            "Waits for the threadgroup's other threads at the same call, then a fence of threadgroup memory.",
        )
        .stages(Stages::COMPUTE),
        row(
            "AllMemoryBarrierWithGroupSync",
            WAIT,
            Meaning::AllMemoryBarrierWithGroupSync,
            "Waits for the threadgroup's other threads at the same call, then a fence of device and threadgroup memory.",
        )
        .stages(Stages::COMPUTE),
    ];
    ROWS
}
