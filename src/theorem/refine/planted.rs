//! Mistakes planted in the comparison itself. Each changes the result for a pair of
//! modules with a known verdict (`tests/compare_planted.rs`). A mistake is a value
//! in [`Settings`](super::Settings).

/// The planted mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planted {
    /// BEFORE and AFTER are swapped.
    Swapped,
    /// The interfaces are not compared.
    Interface,
    /// Inputs with odd numbers count as compared, but are not.
    OddInputs,
    /// A vacuous input is not replaced by a tamer draft.
    OneDraft,
    /// Vacuous inputs agree.
    VacuousAgrees,
    /// Undecided inputs agree.
    UndecidedAgrees,
    /// Inputs that could not run agree.
    UncheckedAgrees,
    /// All inputs are tame.
    Tame,
    /// Inputs contain none of the numbers in the modules.
    Unnamed,
    /// Dispatches have one workgroup.
    OneWorkgroup,
    /// The last byte of a buffer is not compared.
    LastByte,
    /// Only the first buffer is compared.
    FirstBuffer,
    /// A buffer that AFTER does not use is not compared.
    Untouched,
    /// An undefined byte in AFTER agrees with any byte of BEFORE.
    AnyOfAfter,
    /// An undefined byte in BEFORE requires an undefined byte in AFTER.
    AnyOfBefore,
    /// Storage images are not compared.
    Images,
    /// The last component of a texel is not compared.
    LastComponent,
    /// AFTER may have undefined behaviour of its own.
    UndefinedAfter,
    /// AFTER may end without an observation.
    EndsAfter,
    /// AFTER may execute no more instructions than BEFORE.
    Fuel,
    /// A value that devices may differ in must be equal.
    Doubt,
    /// No float is wrong.
    Floats,
    /// The bits of a NaN must be equal.
    Nans,
    /// The sign of a zero must be equal, whether or not it is kept.
    ZeroSigns,
    /// A set of floats allows every float.
    Sets,
    /// A set of floats allows only the value of BEFORE.
    Points,
    /// Every float in a set is right, even if the set is wider than the specification allows.
    Inside,
    /// AFTER may add terms that cancel.
    Cancelling,
    /// NoContraction is ignored in the comparison of formulas.
    Contraction,
    /// Only one order of AFTER's invocations is tried.
    OneOrder,
    /// Only one order of BEFORE's invocations is tried.
    OneOrderBefore,
    /// BEFORE is assumed to show the same under an order of AFTER's invocations.
    SameOrder,
    /// Some orders count as all orders.
    SomeOrders,
    /// AFTER is assumed to show only what interleavings show.
    Executions,
    /// BEFORE is assumed to allow only what interleavings show.
    ExecutionsBefore,
    /// Only the first colour attachment is compared.
    Targets,
    /// Depths are not compared.
    Depths,
    /// A set of a component allows everything.
    TargetSets,
    /// Only the first of several entry points is compared.
    FirstEntry,
    /// The verdict of the last entry point counts for all.
    LastEntry,
}

impl Planted {
    /// All of them.
    pub const ALL: [Planted; 40] = [
        Planted::Swapped,
        Planted::Interface,
        Planted::OddInputs,
        Planted::OneDraft,
        Planted::VacuousAgrees,
        Planted::UndecidedAgrees,
        Planted::UncheckedAgrees,
        Planted::Tame,
        Planted::Unnamed,
        Planted::OneWorkgroup,
        Planted::LastByte,
        Planted::FirstBuffer,
        Planted::Untouched,
        Planted::AnyOfAfter,
        Planted::AnyOfBefore,
        Planted::Images,
        Planted::LastComponent,
        Planted::UndefinedAfter,
        Planted::EndsAfter,
        Planted::Fuel,
        Planted::Doubt,
        Planted::Floats,
        Planted::Nans,
        Planted::ZeroSigns,
        Planted::Sets,
        Planted::Points,
        Planted::Inside,
        Planted::Cancelling,
        Planted::Contraction,
        Planted::OneOrder,
        Planted::OneOrderBefore,
        Planted::SameOrder,
        Planted::SomeOrders,
        Planted::Executions,
        Planted::ExecutionsBefore,
        Planted::Targets,
        Planted::Depths,
        Planted::TargetSets,
        Planted::FirstEntry,
        Planted::LastEntry,
    ];
}
