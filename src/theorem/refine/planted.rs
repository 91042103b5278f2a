//! Mistakes of the comparison itself, planted to see them caught: each changes what is said of a
//! pair of modules whose verdict is known (`tests/compare_planted.rs`). A mistake is data, which
//! [`Settings`](super::Settings) carry.

/// What the comparison does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planted {
    /// BEFORE and AFTER change places.
    Swapped,
    /// The interfaces are not compared.
    Interface,
    /// Inputs of odd numbers count as compared, and are not.
    OddInputs,
    /// A vacuous input does not give way to a tamer draft.
    OneDraft,
    /// Vacuous inputs agree.
    VacuousAgrees,
    /// Undecided inputs agree.
    UndecidedAgrees,
    /// Inputs that could not be run agree.
    UncheckedAgrees,
    /// All inputs are tame.
    Tame,
    /// Inputs hold none of the numbers that the modules name.
    Unnamed,
    /// Dispatches have one workgroup.
    OneWorkgroup,
    /// The last byte of a buffer is not compared.
    LastByte,
    /// Only the first buffer is compared.
    FirstBuffer,
    /// A buffer that AFTER does not use is not compared.
    Untouched,
    /// A byte of any value in AFTER is the one of BEFORE.
    AnyOfAfter,
    /// A byte of any value in BEFORE must be any value in AFTER.
    AnyOfBefore,
    /// Storage images are not compared.
    Images,
    /// The last component of a texel is not compared.
    LastComponent,
    /// AFTER may have undefined behaviour of its own.
    UndefinedAfter,
    /// AFTER may end without an observation.
    EndsAfter,
    /// AFTER may take no more instructions than BEFORE.
    Fuel,
    /// What devices may differ in must be the same.
    Doubt,
    /// No float is wrong.
    Floats,
    /// Which NaN it is matters.
    Nans,
    /// The sign of a zero matters, kept or not.
    ZeroSigns,
    /// A set of floats is every float.
    Sets,
    /// A set of floats is what BEFORE shows.
    Points,
    /// A float in a set is right, however wide the set is.
    Inside,
    /// AFTER may bring in terms that cancel.
    Cancelling,
    /// NoContraction is not heeded where formulas are compared.
    Contraction,
    /// Of the orders of AFTER's invocations only one is tried.
    OneOrder,
    /// Of the orders of BEFORE's invocations only one is tried.
    OneOrderBefore,
    /// Under an order of AFTER's invocations BEFORE shows the same.
    SameOrder,
    /// Some orders count as all.
    SomeOrders,
    /// AFTER shows only what interleavings show.
    Executions,
    /// BEFORE allows only what interleavings show.
    ExecutionsBefore,
    /// Only the first colour attachment is compared.
    Targets,
    /// Depths are not compared.
    Depths,
    /// A component in a set may be anything.
    TargetSets,
    /// Of several entry points only the first is compared.
    FirstEntry,
    /// Of several entry points the verdict is that of the last.
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
