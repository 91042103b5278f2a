//! Agents, scopes and memory semantics: the Vulkan memory model's "Agent", "Scope" and "Memory
//! Semantics".

use crate::outcome::Limit;

/// An invocation by its place in the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Agent {
    /// The workgroup's linear index.
    pub workgroup: u32,
    /// LocalInvocationIndex.
    pub local: u32,
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invocation {} of workgroup {}", self.local, self.workgroup)
    }
}

/// How the invocations of one dispatch are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    groups: u32,
    size: u32,
    subgroup: u32,
}

impl Topology {
    /// That many workgroups of that many invocations, in subgroups of that many: subgroup k of a
    /// workgroup holds the local indices from k times its size. Sizes of 0 count as 1; more than
    /// 2^32 - 2 invocations in all are a limit.
    pub fn new(groups: u32, size: u32, subgroup: u32) -> Result<Topology, Limit> {
        let limit = Limit { what: "invocations in one dispatch", bound: u64::from(u32::MAX - 1) };
        let (groups, size) = (groups.max(1), size.max(1));
        match groups.checked_mul(size) {
            Some(total) if total < u32::MAX => Ok(Topology { groups, size, subgroup: subgroup.max(1) }),
            _ => Err(limit),
        }
    }

    /// All invocations.
    pub fn invocations(&self) -> u32 {
        self.groups * self.size
    }

    /// The invocations of one workgroup.
    pub fn workgroup_size(&self) -> u32 {
        self.size
    }

    /// The invocations of one subgroup, those included that a workgroup does not have.
    pub fn subgroup_size(&self) -> u32 {
        self.subgroup
    }

    /// The number of an agent: workgroup after workgroup.
    pub fn number(&self, agent: Agent) -> u32 {
        agent.workgroup.wrapping_mul(self.size).wrapping_add(agent.local)
    }

    /// The agent of a number.
    pub fn agent(&self, number: u32) -> Agent {
        Agent { workgroup: number / self.size, local: number % self.size }
    }

    /// The numbers of the agents that are in one instance of the scope with this one.
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

    /// The narrowest scope of which both agents are in one instance. A dispatch runs on one queue.
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

/// A scope, the narrower before the wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The invocation alone.
    Invocation,
    /// Its subgroup.
    Subgroup,
    /// Its workgroup.
    Workgroup,
    /// All invocations of its queue family.
    QueueFamily,
    /// All invocations of the device.
    Device,
    /// Host threads and other devices too.
    CrossDevice,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 6] =
        [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device, Scope::CrossDevice];

    /// The name in the grammar.
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

/// A storage class as memory semantics divide them: Uniform covers the classes Uniform,
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
    /// Every class, by its index.
    pub const ALL: [Class; 4] = [Class::Uniform, Class::Workgroup, Class::Image, Class::Output];
}

impl Classes {
    /// No class.
    pub const NONE: Classes = Classes(0);
    /// All classes.
    pub const ALL: Classes = Classes(15);

    /// The set of these.
    pub fn of(classes: &[Class]) -> Classes {
        Classes(classes.iter().fold(0, |set, class| set | 1 << *class as u8))
    }

    /// Whether the class is in the set.
    pub fn contains(self, class: Class) -> bool {
        self.0 & 1 << class as u8 != 0
    }

    /// Whether all of the set is in another.
    pub fn within(self, other: Classes) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set of that number, of the 15 that are not empty.
    pub fn nth(number: usize) -> Classes {
        Classes((number % 15) as u8 + 1)
    }

    /// What both have.
    pub fn and(self, other: Classes) -> Classes {
        Classes(self.0 & other.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The classes, in order.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.into_iter().filter(move |class| self.contains(*class))
    }
}

/// What memory semantics order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// Nothing.
    #[default]
    Relaxed,
    /// Later accesses after it.
    Acquire,
    /// Earlier accesses before it.
    Release,
    /// Both.
    AcquireRelease,
}

/// Decoded memory semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// What is ordered.
    pub ordering: Ordering,
    /// The storage classes that it is about, as the words say; where nothing is
    /// ordered they mean nothing.
    pub classes: Classes,
    /// MakeAvailable.
    pub make_available: bool,
    /// MakeVisible.
    pub make_visible: bool,
    /// Volatile.
    pub volatile: bool,
    /// The words say SequentiallyConsistent, which counts as AcquireRelease.
    pub sequentially_consistent: bool,
}

impl Semantics {
    /// No ordering.
    pub const RELAXED: Semantics = Semantics {
        ordering: Ordering::Relaxed,
        classes: Classes::NONE,
        make_available: false,
        make_visible: false,
        volatile: false,
        sequentially_consistent: false,
    };

    /// That ordering of these classes.
    pub fn of(ordering: Ordering, classes: &[Class]) -> Semantics {
        Semantics { ordering, classes: Classes::of(classes), ..Semantics::RELAXED }
    }

    /// Whether they have Acquire.
    pub fn acquires(&self) -> bool {
        matches!(self.ordering, Ordering::Acquire | Ordering::AcquireRelease)
    }

    /// Whether they have Release.
    pub fn releases(&self) -> bool {
        matches!(self.ordering, Ordering::Release | Ordering::AcquireRelease)
    }

    /// The storage classes that are ordered: none where nothing is.
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
