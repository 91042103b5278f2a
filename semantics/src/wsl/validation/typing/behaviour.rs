//! Behaviours of statements (seed 004 "Typing of functions"): how control may leave them.

/// A behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behaviour {
    /// The function returns a value of its own return type, or nothing if that is `void`. Any other
    /// return is an error, which is reported where it stands.
    Return,
    /// The innermost loop or switch ends.
    Break,
    /// The innermost loop goes on with its next iteration.
    Continue,
    /// Control goes on in the next case.
    Fallthrough,
    /// The thread ends.
    Discard,
    /// Control reaches the end.
    Nothing,
}

impl Behaviour {
    /// Every behaviour.
    pub const ALL: [Behaviour; 6] =
        [Behaviour::Return, Behaviour::Break, Behaviour::Continue, Behaviour::Fallthrough, Behaviour::Discard, Behaviour::Nothing];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::Return => "Return",
            Behaviour::Break => "Break",
            Behaviour::Continue => "Continue",
            Behaviour::Fallthrough => "Fallthrough",
            Behaviour::Discard => "Discard",
            Behaviour::Nothing => "Nothing",
        }
    }
}

/// A set of behaviours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Behaviours(u8);

impl Behaviours {
    /// The set of one behaviour.
    pub fn of(b: Behaviour) -> Behaviours {
        Behaviours(1 << b as u8)
    }

    /// Whether the set contains the behaviour.
    pub fn has(self, b: Behaviour) -> bool {
        self.0 & (1 << b as u8) != 0
    }

    /// The union of both sets.
    #[must_use]
    pub fn union(self, other: Behaviours) -> Behaviours {
        Behaviours(self.0 | other.0)
    }

    /// The set with one more behaviour.
    #[must_use]
    pub fn with(self, b: Behaviour) -> Behaviours {
        Behaviours(self.0 | (1 << b as u8))
    }

    /// The set with one more behaviour if `so`, else the set itself.
    #[must_use]
    pub fn with_if(self, b: Behaviour, condition: bool) -> Behaviours {
        if condition { self.with(b) } else { self }
    }

    /// The set without one behaviour.
    #[must_use]
    pub fn without(self, b: Behaviour) -> Behaviours {
        Behaviours(self.0 & !(1 << b as u8))
    }

    /// The behaviours of the set, in the order of [`Behaviour::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Behaviour> {
        Behaviour::ALL.into_iter().filter(move |b| self.has(*b))
    }
}

impl std::fmt::Display for Behaviours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.iter().map(Behaviour::name).collect();
        write!(f, "{{{}}}", names.join(", "))
    }
}
