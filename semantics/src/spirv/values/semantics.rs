//! Decodes scopes and memory semantics from words: SPIR-V §3.2.25 (Memory Semantics) and §3.2.27
//! (Scope). Also checks the requirements of Vulkan.

use rspirv::spirv::MemorySemantics as Bits;

use crate::concurrency::{Class, Classes, Ordering, Scope, Semantics};

/// The instruction that semantics belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// OpAtomicLoad, and OpAtomicCompareExchange's semantics for the unequal case.
    Load,
    /// OpAtomicStore.
    Store,
    /// Atomic instructions that read and write.
    ReadModifyWrite,
    /// OpMemoryBarrier.
    MemoryBarrier,
    /// OpControlBarrier.
    ControlBarrier,
}

/// A fault in the word of a scope or of memory semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SemanticsError {
    /// The word is not the number of a scope that is modeled.
    UnknownScope(u32),
    /// An execution scope that Vulkan does not allow.
    ExecutionScope(Scope),
    /// A memory scope that Vulkan does not allow.
    MemoryScope(Scope),
    /// Unknown bits.
    UnknownBits(u32),
    /// More than one of Acquire, Release, AcquireRelease and SequentiallyConsistent.
    SeveralOrderings(u32),
    /// MakeAvailable without Release, or MakeVisible without Acquire.
    FlagWithoutOrdering(u32),
    /// SequentiallyConsistent, in Vulkan.
    SequentiallyConsistent,
    /// An ordering that the instruction cannot have.
    OrderingOfUse(Ordering, Use),
    /// There is an ordering, but no storage class.
    NoClass,
    /// There is a storage class, but no ordering.
    ClassWithoutOrdering,
    /// OutputMemory, MakeAvailable, MakeVisible or Volatile without the Vulkan memory model.
    NeedsVulkanMemoryModel(u32),
}

impl std::fmt::Display for SemanticsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SemanticsError::UnknownScope(word) => write!(f, "scope {word} is none of 0 to 5 (SPIR-V §3.2.27)"),
            SemanticsError::ExecutionScope(scope) => {
                write!(f, "the execution scope is {}; Vulkan allows Workgroup and Subgroup", scope.name())
            }
            SemanticsError::MemoryScope(scope) => write!(f, "the memory scope is {}, which Vulkan does not allow", scope.name()),
            SemanticsError::UnknownBits(bits) => write!(f, "memory semantics have the unknown bits {bits:#x} (SPIR-V §3.2.25)"),
            SemanticsError::SeveralOrderings(bits) => {
                write!(f, "memory semantics {bits:#x} have more than one ordering; SPIR-V §3.2.25 allows one at most")
            }
            SemanticsError::FlagWithoutOrdering(bits) => {
                write!(f, "memory semantics {bits:#x} have MakeAvailable without a release or MakeVisible without an acquire")
            }
            SemanticsError::SequentiallyConsistent => write!(f, "memory semantics are SequentiallyConsistent, which Vulkan does not allow"),
            SemanticsError::OrderingOfUse(ordering, of) => write!(f, "{} cannot have the memory semantics {}", of.name(), ordering.name()),
            SemanticsError::NoClass => write!(f, "memory semantics order accesses to no storage class"),
            SemanticsError::ClassWithoutOrdering => write!(f, "memory semantics name a storage class and no ordering"),
            SemanticsError::NeedsVulkanMemoryModel(bits) => {
                write!(f, "memory semantics {bits:#x} need the capability VulkanMemoryModel")
            }
        }
    }
}

impl std::error::Error for SemanticsError {}

impl Ordering {
    fn name(self) -> &'static str {
        match self {
            Ordering::Relaxed => "Relaxed",
            Ordering::Acquire => "Acquire",
            Ordering::Release => "Release",
            Ordering::AcquireRelease => "AcquireRelease",
        }
    }
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Use::Load => "an atomic load",
            Use::Store => "an atomic store",
            Use::ReadModifyWrite => "an atomic read-modify-write",
            Use::MemoryBarrier => "OpMemoryBarrier",
            Use::ControlBarrier => "OpControlBarrier",
        }
    }
}

impl Scope {
    /// Decodes a scope word, SPIR-V §3.2.27.
    pub fn decode(word: u32) -> Result<Scope, SemanticsError> {
        match word {
            0 => Ok(Scope::CrossDevice),
            1 => Ok(Scope::Device),
            2 => Ok(Scope::Workgroup),
            3 => Ok(Scope::Subgroup),
            4 => Ok(Scope::Invocation),
            5 => Ok(Scope::QueueFamily),
            _ => Err(SemanticsError::UnknownScope(word)),
        }
    }

    /// Vulkan, "Validation Rules Within a Module": the execution scope of a barrier
    /// is Workgroup or Subgroup.
    pub fn check_execution(self) -> Result<(), SemanticsError> {
        if matches!(self, Scope::Workgroup | Scope::Subgroup) { Ok(()) } else { Err(SemanticsError::ExecutionScope(self)) }
    }

    /// Vulkan, "Validation Rules Within a Module": a memory scope is not CrossDevice.
    pub fn check_memory(self) -> Result<(), SemanticsError> {
        if self == Scope::CrossDevice { Err(SemanticsError::MemoryScope(self)) } else { Ok(()) }
    }
}

impl Semantics {
    /// Decodes a memory semantics word, SPIR-V §3.2.25. SubgroupMemory,
    /// CrossWorkgroupMemory and AtomicCounterMemory are ignored, as Vulkan says.
    /// SequentiallyConsistent counts as AcquireRelease.
    pub fn decode(word: u32) -> Result<Semantics, SemanticsError> {
        let Some(bits) = Bits::from_bits(word) else {
            return Err(SemanticsError::UnknownBits(word & !Bits::all().bits()));
        };
        let orderings = Bits::ACQUIRE | Bits::RELEASE | Bits::ACQUIRE_RELEASE | Bits::SEQUENTIALLY_CONSISTENT;
        let ordering = match bits & orderings {
            b if b.is_empty() => Ordering::Relaxed,
            Bits::ACQUIRE => Ordering::Acquire,
            Bits::RELEASE => Ordering::Release,
            Bits::ACQUIRE_RELEASE | Bits::SEQUENTIALLY_CONSISTENT => Ordering::AcquireRelease,
            _ => return Err(SemanticsError::SeveralOrderings(word)),
        };
        let by_class = [Bits::UNIFORM_MEMORY, Bits::WORKGROUP_MEMORY, Bits::IMAGE_MEMORY, Bits::OUTPUT_MEMORY];
        let classes = Class::ALL.into_iter().filter(|class| bits.contains(by_class[*class as usize])).collect::<Vec<_>>();
        let semantics = Semantics {
            ordering,
            classes: Classes::of(&classes),
            make_available: bits.contains(Bits::MAKE_AVAILABLE),
            make_visible: bits.contains(Bits::MAKE_VISIBLE),
            volatile: bits.contains(Bits::VOLATILE),
            sequentially_consistent: bits.contains(Bits::SEQUENTIALLY_CONSISTENT),
        };
        if semantics.make_available && !semantics.releases() || semantics.make_visible && !semantics.acquires() {
            return Err(SemanticsError::FlagWithoutOrdering(word));
        }
        Ok(semantics)
    }

    /// Checks what Vulkan requires beyond decoding ("Validation Rules Within a Module",
    /// VUID-StandaloneSpirv-MemorySemantics-10865 and following). SequentiallyConsistent is not
    /// allowed. The ordering must fit the instruction. There is a storage class exactly if there is
    /// an ordering. The flags of the Vulkan memory model need that model. Compilers violate some of
    /// these rules, so a lenient loader does not check them.
    pub fn check(&self, of: Use, vulkan_memory_model: bool) -> Result<(), SemanticsError> {
        if self.sequentially_consistent {
            return Err(SemanticsError::SequentiallyConsistent);
        }
        let fits = match of {
            Use::Load => !self.releases(),
            Use::Store => !self.acquires(),
            Use::MemoryBarrier => self.ordering != Ordering::Relaxed,
            Use::ReadModifyWrite | Use::ControlBarrier => true,
        };
        if !fits {
            return Err(SemanticsError::OrderingOfUse(self.ordering, of));
        }
        if self.ordering == Ordering::Relaxed && !self.classes.is_empty() {
            return Err(SemanticsError::ClassWithoutOrdering);
        }
        if self.ordering != Ordering::Relaxed && self.classes.is_empty() {
            return Err(SemanticsError::NoClass);
        }
        if !vulkan_memory_model {
            let mut bits = Bits::empty();
            bits.set(Bits::OUTPUT_MEMORY, self.classes.contains(Class::Output));
            bits.set(Bits::MAKE_AVAILABLE, self.make_available);
            bits.set(Bits::MAKE_VISIBLE, self.make_visible);
            bits.set(Bits::VOLATILE, self.volatile);
            if !bits.is_empty() {
                return Err(SemanticsError::NeedsVulkanMemoryModel(bits.bits()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_decode() {
        let decoded = Semantics::decode(0x8 | 0x40 | 0x100).unwrap();
        assert_eq!(decoded, Semantics::of(Ordering::AcquireRelease, &[Class::Uniform, Class::Workgroup]));
        assert_eq!(Semantics::decode(0).unwrap(), Semantics::RELAXED);
        // SubgroupMemory, CrossWorkgroupMemory and AtomicCounterMemory are ignored.
        assert_eq!(Semantics::decode(0x2 | 0x80 | 0x200 | 0x400 | 0x800).unwrap(), Semantics::of(Ordering::Acquire, &[Class::Image]));
        let all = Semantics::decode(0x4 | 0x1000 | 0x2000 | 0x8000).unwrap();
        assert!(all.make_available && all.volatile && !all.make_visible && all.classes.contains(Class::Output));
        let strongest = Semantics::decode(0x10 | 0x40).unwrap();
        assert!(strongest.sequentially_consistent && strongest.acquires() && strongest.releases());
    }

    #[test]
    fn wrong_words_are_named() {
        assert_eq!(Semantics::decode(0x2 | 0x4 | 0x40), Err(SemanticsError::SeveralOrderings(0x46)));
        assert_eq!(Semantics::decode(0x8 | 0x10), Err(SemanticsError::SeveralOrderings(0x18)));
        assert_eq!(Semantics::decode(0x1), Err(SemanticsError::UnknownBits(1)));
        assert_eq!(Semantics::decode(0x2 | 0x2000), Err(SemanticsError::FlagWithoutOrdering(0x2002)));
        assert_eq!(Semantics::decode(0x4 | 0x4000), Err(SemanticsError::FlagWithoutOrdering(0x4004)));
        assert_eq!(Scope::decode(6), Err(SemanticsError::UnknownScope(6)));
        assert_eq!(Scope::decode(u32::MAX), Err(SemanticsError::UnknownScope(u32::MAX)));
    }

    #[test]
    fn vulkan_asks_for_more() {
        let check = |word: u32, of: Use| Semantics::decode(word).unwrap().check(of, false);
        assert_eq!(check(0x10 | 0x40, Use::ControlBarrier), Err(SemanticsError::SequentiallyConsistent));
        assert_eq!(check(0x4 | 0x40, Use::Load), Err(SemanticsError::OrderingOfUse(Ordering::Release, Use::Load)));
        assert_eq!(check(0x8 | 0x40, Use::Store), Err(SemanticsError::OrderingOfUse(Ordering::AcquireRelease, Use::Store)));
        assert_eq!(check(0, Use::MemoryBarrier), Err(SemanticsError::OrderingOfUse(Ordering::Relaxed, Use::MemoryBarrier)));
        assert_eq!(check(0, Use::ControlBarrier), Ok(()));
        assert_eq!(check(0x8, Use::ControlBarrier), Err(SemanticsError::NoClass));
        assert_eq!(check(0x40, Use::ReadModifyWrite), Err(SemanticsError::ClassWithoutOrdering));
        assert_eq!(check(0x8 | 0x1000, Use::ControlBarrier), Err(SemanticsError::NeedsVulkanMemoryModel(0x1000)));
        assert_eq!(Semantics::decode(0x8 | 0x1000).unwrap().check(Use::ControlBarrier, true), Ok(()));
        assert_eq!(check(0x8 | 0x140, Use::ReadModifyWrite), Ok(()));
        assert!(Scope::CrossDevice.check_memory().is_err() && Scope::Device.check_memory().is_ok());
        assert!(Scope::Device.check_execution().is_err() && Scope::Subgroup.check_execution().is_ok());
    }
}
