//! Data races of programs that synchronise only by barriers. A shadow records the last accesses to
//! each word, with their phase.
//!
//! A phase ends with a control barrier that orders this memory. Within a workgroup, accesses of an
//! earlier phase happen before accesses of a later phase. Between workgroups nothing is ordered. So
//! four records are enough for each word: the last plain write, the last plain read (or that there
//! were several readers), the last atomic that writes, and the last atomic that only reads. If an
//! older access races with a new one, then the recorded access races with it too, or the race was
//! reported before.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::program::Program;
use super::memory::Buffers;

const R: Ordering = Ordering::Relaxed;

/// The number of barriers that have ordered each memory in this workgroup.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Phases {
    pub(super) shared: u32,
    pub(super) buffers: u32,
    pub(super) images: u32,
}

/// The object number of a workgroup's first shared variable in the full detector. Further variables
/// count downwards, and buffers count upwards from 0.
pub(super) const SHARED_MEMORY: u32 = u32::MAX;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum AccessKind {
    Read,
    Write,
    /// An atomic that writes.
    Atomic,
    /// An atomic that only reads.
    AtomicRead,
}

/// The agent of an access: the numbers of its invocation and workgroup, and its phase.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Accessor {
    pub(super) invocation: u32,
    pub(super) workgroup: u32,
    pub(super) invocations_each: u32,
    pub(super) phase: u32,
}

/// The record of no access.
const NOBODY: u64 = 0;
/// Stands in the place of an invocation for several workgroups.
const SEVERAL: u32 = u32::MAX;

/// The record of one access: the invocation plus 1, above the phase. For several invocations of
/// one workgroup, the place of the invocation holds the workgroup with the top bit set. A record
/// of no access is 0.
#[inline]
fn record(accessor: Accessor) -> u64 {
    u64::from(accessor.invocation + 1) << 32 | u64::from(accessor.phase)
}

const WORKGROUP_BIT: u64 = 1 << 63;
const SEVERAL_WORKGROUPS: u64 = (SEVERAL as u64) << 32;

/// Whether the recorded access is ordered before this one, or is of the same invocation.
#[inline]
fn ordered(recorded: u64, accessor: Accessor) -> bool {
    if recorded == NOBODY {
        return true;
    }
    if recorded & SEVERAL_WORKGROUPS == SEVERAL_WORKGROUPS {
        return false;
    }
    let phase = recorded as u32;
    if recorded & WORKGROUP_BIT != 0 {
        return (recorded >> 32) as u32 & !(1 << 31) == accessor.workgroup && phase < accessor.phase;
    }
    let invocation = (recorded >> 32) as u32 - 1;
    invocation == accessor.invocation || invocation / accessor.invocations_each == accessor.workgroup && phase < accessor.phase
}

/// The record after an access that does not conflict with the recorded ones.
#[inline]
fn merged(recorded: u64, accessor: Accessor) -> u64 {
    let new = record(accessor);
    if recorded == NOBODY || recorded >> 32 == new >> 32 {
        return new;
    }
    if recorded & SEVERAL_WORKGROUPS == SEVERAL_WORKGROUPS {
        return SEVERAL_WORKGROUPS;
    }
    let phase = recorded as u32;
    let workgroup = if recorded & WORKGROUP_BIT != 0 {
        (recorded >> 32) as u32 & !(1 << 31)
    } else {
        ((recorded >> 32) as u32 - 1) / accessor.invocations_each
    };
    if workgroup != accessor.workgroup {
        return SEVERAL_WORKGROUPS;
    }
    if phase < accessor.phase { new } else { WORKGROUP_BIT | u64::from(accessor.workgroup) << 32 | u64::from(accessor.phase) }
}

/// The shadow of words of memory: [`RECORDS_PER_WORD`] records for each.
pub(in super::super) trait Records {
    fn get(&self, kind: usize, at: usize) -> u64;
    fn set(&mut self, kind: usize, at: usize, record: u64);
}

const WRITE: usize = 0;
const READ: usize = 1;
const ATOMIC: usize = 2;
const ATOMIC_READ: usize = 3;
/// The number of records of a word.
pub(super) const RECORDS_PER_WORD: usize = 4;

/// Records an access. Returns whether it races with an earlier one.
#[inline]
fn touch(records: &mut impl Records, at: usize, accessor: Accessor, touch: AccessKind) -> bool {
    let write = records.get(WRITE, at);
    match touch {
        AccessKind::Read => {
            let races = !ordered(write, accessor) || !ordered(records.get(ATOMIC, at), accessor);
            let read = records.get(READ, at);
            let next = merged(read, accessor);
            if next != read {
                records.set(READ, at, next);
            }
            races
        }
        AccessKind::Write => {
            let races =
                !ordered(write, accessor) || [READ, ATOMIC, ATOMIC_READ].iter().any(|&kind| !ordered(records.get(kind, at), accessor));
            records.set(WRITE, at, record(accessor));
            races
        }
        // An atomic that only reads conflicts neither with plain reads nor with other atomics.
        AccessKind::Atomic | AccessKind::AtomicRead => {
            let races = !ordered(write, accessor) || touch == AccessKind::Atomic && !ordered(records.get(READ, at), accessor);
            let kind = if touch == AccessKind::Atomic { ATOMIC } else { ATOMIC_READ };
            let recorded = records.get(kind, at);
            records.set(kind, at, merged(recorded, accessor));
            races
        }
    }
}

/// The shadow of the buffers. Only memories that the module may write have records.
pub(in super::super) struct Shadow {
    /// By memory: [`RECORDS_PER_WORD`] records for each granule. Empty if nothing writes the
    /// memory.
    memories: Vec<Vec<AtomicU64>>,
    /// The size of a granule, as a power of two: 4 bytes, or less if buffers are accessed in
    /// smaller parts.
    shift: u32,
}

struct Words<'s>(&'s [AtomicU64]);

impl Records for Words<'_> {
    #[inline]
    fn get(&self, kind: usize, at: usize) -> u64 {
        self.0[RECORDS_PER_WORD * at + kind].load(R)
    }

    #[inline]
    fn set(&mut self, kind: usize, at: usize, record: u64) {
        self.0[RECORDS_PER_WORD * at + kind].store(record, R);
    }
}

impl Shadow {
    pub(super) fn new(program: &Program, buffers: &Buffers) -> Shadow {
        let mut written = vec![false; buffers.word_counts().count()];
        for (variable, buffer) in program.buffers.iter().enumerate() {
            written[buffers.memory_of(variable as u8)] |= buffer.writable;
        }
        let shift = program.granule.trailing_zeros();
        let shadow = |(words, is_written): (usize, bool)| match is_written {
            true => zeros(RECORDS_PER_WORD * (words << (2 - shift))),
            false => Vec::new(),
        };
        Shadow { memories: buffers.word_counts().zip(written).map(shadow).collect(), shift }
    }

    /// Whether the shadow records accesses to the memory: something may write it.
    #[inline]
    pub(super) fn watches(&self, memory: usize) -> bool {
        !self.memories[memory].is_empty()
    }

    /// Records an access to bytes of a memory. Returns whether it races. `is_only_thread` says that
    /// no other thread records accesses at the same time.
    #[inline]
    pub(super) fn touch(&self, memory: usize, byte: u32, bytes: u32, accessor: Accessor, kind: AccessKind, is_only_thread: bool) -> bool {
        let records = &self.memories[memory];
        if records.is_empty() {
            return false;
        }
        let (first, end) = (byte >> self.shift, (byte + bytes) >> self.shift);
        (first..end).fold(false, |races, granule| races | touch_granule(records, granule as usize, accessor, kind, is_only_thread))
    }
}

/// Records an access to one granule, as [`Shadow::touch`] does.
#[inline]
pub(super) fn touch_granule(records: &[AtomicU64], at: usize, accessor: Accessor, kind: AccessKind, is_only_thread: bool) -> bool {
    if is_only_thread {
        return touch(&mut Words(records), at, accessor, kind);
    }
    // Each access is recorded before it is checked. So if two race, at least one sees the other.
    const S: Ordering = Ordering::SeqCst;
    match kind {
        AccessKind::Write => {
            let before = records[RECORDS_PER_WORD * at + WRITE].swap(record(accessor), S);
            !ordered(before, accessor) || !ordered(records[RECORDS_PER_WORD * at + READ].load(S), accessor)
        }
        _ => {
            let read = &records[RECORDS_PER_WORD * at + READ];
            let mut recorded = read.load(S);
            loop {
                let next = merged(recorded, accessor);
                if next == recorded {
                    break;
                }
                match read.compare_exchange(recorded, next, S, S) {
                    Ok(_) => break,
                    Err(current) => recorded = current,
                }
            }
            !ordered(records[RECORDS_PER_WORD * at + WRITE].load(S), accessor)
        }
    }
}

/// `count` records of no access.
pub(super) fn zeros(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(NOBODY)).collect()
}

/// The shadow of one workgroup's shared memory.
pub(in super::super) struct GroupShadow(Vec<[u64; RECORDS_PER_WORD]>);

impl Records for GroupShadow {
    #[inline]
    fn get(&self, kind: usize, at: usize) -> u64 {
        self.0[at][kind]
    }

    #[inline]
    fn set(&mut self, kind: usize, at: usize, record: u64) {
        self.0[at][kind] = record;
    }
}

impl GroupShadow {
    pub(super) fn new(scalars: usize) -> GroupShadow {
        GroupShadow(vec![[NOBODY; RECORDS_PER_WORD]; scalars])
    }

    /// Records an access to a scalar. Returns whether it races.
    #[inline]
    pub(super) fn touch(&mut self, scalar: usize, accessor: Accessor, kind: AccessKind) -> bool {
        touch(self, scalar, accessor, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accessor(invocation: u32, phase: u32) -> Accessor {
        Accessor { invocation, workgroup: invocation / 4, invocations_each: 4, phase }
    }

    /// Whether the last of these accesses races.
    fn last_races(accesses: &[(u32, u32, AccessKind)]) -> bool {
        let mut shadow = GroupShadow::new(1);
        let mut races = false;
        for &(invocation, phase, kind) in accesses {
            races = shadow.touch(0, accessor(invocation, phase), kind);
        }
        races
    }

    #[test]
    fn conflicts_race_unless_a_barrier_of_the_workgroup_lies_between() {
        use AccessKind::{Atomic, AtomicRead, Read, Write};
        assert!(last_races(&[(0, 0, Write), (1, 0, Read)]));
        assert!(last_races(&[(0, 0, Read), (1, 0, Write)]));
        assert!(last_races(&[(0, 0, Write), (1, 0, Write)]));
        assert!(!last_races(&[(0, 0, Write), (1, 1, Read)]));
        assert!(!last_races(&[(0, 0, Write), (0, 0, Read)]));
        assert!(!last_races(&[(0, 0, Read), (1, 0, Read)]));
        assert!(last_races(&[(0, 0, Read), (1, 0, Read), (0, 0, Write)]), "the other reader");
        assert!(!last_races(&[(0, 0, Read), (1, 0, Read), (0, 1, Write)]));
        assert!(last_races(&[(0, 0, Write), (4, 9, Read)]), "another workgroup");
        assert!(last_races(&[(0, 0, Read), (4, 0, Read), (0, 5, Write)]), "a reader of another workgroup");
        assert!(!last_races(&[(0, 0, Atomic), (1, 0, Atomic), (5, 0, Atomic)]));
        assert!(last_races(&[(0, 0, Atomic), (1, 0, Read)]));
        assert!(last_races(&[(0, 0, Read), (1, 0, Atomic)]));
        assert!(!last_races(&[(0, 0, Read), (1, 0, AtomicRead)]));
        assert!(last_races(&[(0, 0, AtomicRead), (1, 0, Write)]));
        assert!(!last_races(&[(0, 0, AtomicRead), (1, 0, Atomic), (2, 0, AtomicRead)]));
        assert!(last_races(&[(0, 0, AtomicRead), (1, 0, Atomic), (2, 0, Read)]));
        assert!(!last_races(&[(0, 0, Atomic), (1, 1, Write)]));
    }
}
