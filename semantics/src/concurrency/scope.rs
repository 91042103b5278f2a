//! Agents, scopes and memory semantics: the Vulkan memory model's "Agent", "Scope" and "Memory
//! Semantics".

use crate::outcome::Limit;

/// An invocation by its place in the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Agent {
    /// The linear index of the workgroup.
    pub workgroup: u32,
    /// LocalInvocationIndex.
    pub local: u32,
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invocation {} of workgroup {}", self.local, self.workgroup)
    }
}

/// How the invocations of a dispatch form workgroups and subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    groups: u32,
    size: u32,
    subgroup: u32,
}

impl Topology {
    /// A dispatch of `groups` workgroups of `size` invocations, in subgroups of `subgroup`
    /// invocations. Subgroup k of a workgroup holds the local indices from k times its size on. A
    /// size of 0 counts as 1. More than 2^32 - 2 invocations are a limit.
    pub fn new(groups: u32, size: u32, subgroup: u32) -> Result<Topology, Limit> {
        let limit = Limit { what: "invocations in one dispatch", bound: u64::from(u32::MAX - 1) };
        let (groups, size) = (groups.max(1), size.max(1));
        match groups.checked_mul(size) {
            Some(total) if total < u32::MAX => Ok(Topology { groups, size, subgroup: subgroup.max(1) }),
            _ => Err(limit),
        }
    }

    /// The number of all invocations.
    pub fn invocations(&self) -> u32 {
        self.groups * self.size
    }

    /// The number of invocations of a workgroup.
    pub fn workgroup_size(&self) -> u32 {
        self.size
    }

    /// The number of invocations of a subgroup. The last subgroup of a workgroup may have fewer.
    pub fn subgroup_size(&self) -> u32 {
        self.subgroup
    }

    /// The number of an agent. Agents are numbered workgroup by workgroup.
    pub fn number(&self, agent: Agent) -> u32 {
        agent.workgroup.wrapping_mul(self.size).wrapping_add(agent.local)
    }

    /// The agent with that number.
    pub fn agent(&self, number: u32) -> Agent {
        Agent { workgroup: number / self.size, local: number % self.size }
    }

    /// The numbers of the agents that share an instance of the scope with this one.
    pub fn instance(&self, agent: u32, scope: Scope) -> std::ops::Range<u32> {
        let first = agent - agent % self.size;
        match scope {
            Scope::Invocation => agent..agent + 1,
            Scope::Subgroup => {
                let local = agent - first;
                let begin = local - local % self.subgroup;
                first + begin..first + begin.saturating_add(self.subgroup).min(self.size)
            }
            Scope::Workgroup => first..first + self.size,
            Scope::QueueFamily | Scope::Device | Scope::CrossDevice => 0..self.invocations(),
        }
    }

    /// The narrowest scope of which both agents share an instance. A dispatch runs on one queue.
    pub fn between(&self, a: u32, b: u32) -> Scope {
        if a == b {
            Scope::Invocation
        } else if a / self.size != b / self.size {
            Scope::QueueFamily
        } else if (a % self.size) / self.subgroup == (b % self.size) / self.subgroup {
            Scope::Subgroup
        } else {
            Scope::Workgroup
        }
    }
}

/// A scope. Narrower scopes compare less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The invocation alone.
    Invocation,
    /// All invocations of the subgroup.
    Subgroup,
    /// All invocations of the workgroup.
    Workgroup,
    /// All invocations of the queue family.
    QueueFamily,
    /// All invocations of the device.
    Device,
    /// Also host threads and other devices.
    CrossDevice,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 6] =
        [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device, Scope::CrossDevice];

    /// The name in the SPIR-V grammar.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Invocation => "Invocation",
            Scope::Subgroup => "Subgroup",
            Scope::Workgroup => "Workgroup",
            Scope::QueueFamily => "QueueFamily",
            Scope::Device => "Device",
            Scope::CrossDevice => "CrossDevice",
        }
    }
}

/// A storage class as memory semantics distinguish them. Uniform stands for the classes Uniform,
/// StorageBuffer and PushConstant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// UniformMemory.
    Uniform,
    /// WorkgroupMemory.
    Workgroup,
    /// ImageMemory.
    Image,
    /// OutputMemory.
    Output,
}

/// A set of [`Class`]es.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Classes(u8);

impl Class {
    /// All classes, by index.
    pub const ALL: [Class; 4] = [Class::Uniform, Class::Workgroup, Class::Image, Class::Output];
}

impl Classes {
    /// No class.
    pub const NONE: Classes = Classes(0);
    /// All classes.
    pub const ALL: Classes = Classes(15);

    /// The set of the given classes.
    pub fn of(classes: &[Class]) -> Classes {
        Classes(classes.iter().fold(0, |set, class| set | 1 << *class as u8))
    }

    /// Whether the set contains a class.
    pub fn contains(self, class: Class) -> bool {
        self.0 & 1 << class as u8 != 0
    }

    /// Whether the set is a subset of another.
    pub fn within(self, other: Classes) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set with that number among the 15 sets that are not empty.
    pub fn nth(number: usize) -> Classes {
        Classes((number % 15) as u8 + 1)
    }

    /// The intersection.
    pub fn and(self, other: Classes) -> Classes {
        Classes(self.0 & other.0)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The classes in the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.into_iter().filter(move |class| self.contains(*class))
    }
}

/// The ordering of memory semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// No ordering.
    #[default]
    Relaxed,
    /// Later accesses stay after the operation.
    Acquire,
    /// Earlier accesses stay before the operation.
    Release,
    /// Both of these.
    AcquireRelease,
}

/// Decoded memory semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// The ordering.
    pub ordering: Ordering,
    /// The storage classes in the semantics word. They have no effect if nothing is ordered.
    pub classes: Classes,
    /// The bit MakeAvailable.
    pub make_available: bool,
    /// The bit MakeVisible.
    pub make_visible: bool,
    /// The bit Volatile.
    pub volatile: bool,
    /// Whether the word has SequentiallyConsistent, which counts as AcquireRelease.
    pub sequentially_consistent: bool,
}

impl Semantics {
    /// Semantics that order nothing.
    pub const RELAXED: Semantics = Semantics {
        ordering: Ordering::Relaxed,
        classes: Classes::NONE,
        make_available: false,
        make_visible: false,
        volatile: false,
        sequentially_consistent: false,
    };

    /// Semantics with that ordering of these classes.
    pub fn of(ordering: Ordering, classes: &[Class]) -> Semantics {
        Semantics { ordering, classes: Classes::of(classes), ..Semantics::RELAXED }
    }

    /// Whether the semantics include Acquire.
    pub fn acquires(&self) -> bool {
        matches!(self.ordering, Ordering::Acquire | Ordering::AcquireRelease)
    }

    /// Whether the semantics include Release.
    pub fn releases(&self) -> bool {
        matches!(self.ordering, Ordering::Release | Ordering::AcquireRelease)
    }

    /// The storage classes that are ordered. Empty if nothing is ordered.
    pub fn ordered_classes(&self) -> Classes {
        if self.ordering == Ordering::Relaxed { Classes::NONE } else { self.classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_have_instances() {
        let t = Topology::new(3, 10, 4).unwrap();
        assert_eq!(t.instance(15, Scope::Subgroup), 14..18);
        assert_eq!(t.instance(19, Scope::Subgroup), 18..20);
        assert_eq!(t.instance(15, Scope::Workgroup), 10..20);
        assert_eq!(t.instance(15, Scope::Device), 0..30);
        assert_eq!(
            [(15, 15), (15, 17), (15, 18), (9, 10)].map(|(a, b)| t.between(a, b)),
            [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily]
        );
        assert_eq!(t.number(t.agent(27)), 27);
        assert!(Topology::new(1 << 16, 1 << 16, 32).is_err());
    }
}
