//! The rows of the table. It has a section for each rule of the registry, a row for each function,
//! and a signature for each way to call it.

use super::meaning::Meaning;
use super::pattern::{Pattern, Range};
use super::{access, atomic, bits, cast, comparison, composite, float, integer, texture};
use crate::rule::Rule;

/// A set of stages: those whose functions may call a built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stages(u8);

impl Stages {
    /// `vertex`
    pub const VERTEX: Stages = Stages(1);
    /// `fragment`
    pub const FRAGMENT: Stages = Stages(2);
    /// `compute`
    pub const COMPUTE: Stages = Stages(4);
    /// Every stage.
    pub const ALL: Stages = Stages(7);

    /// The stages that are in both.
    pub const fn and(self, other: Stages) -> Stages {
        Stages(self.0 & other.0)
    }

    /// Whether this set contains all stages of the other.
    pub const fn contains(self, other: Stages) -> bool {
        self.0 & other.0 == other.0
    }

    /// The stages as `LIBRARY.md` prints them.
    pub fn text(self) -> String {
        let names = [(Stages::VERTEX, "vertex"), (Stages::FRAGMENT, "fragment"), (Stages::COMPUTE, "compute")];
        if self == Stages::ALL {
            return "all".into();
        }
        names.iter().filter(|(s, _)| self.contains(*s)).map(|(_, n)| *n).collect::<Vec<_>>().join(", ")
    }
}

/// The name of a row's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A fixed name.
    Function(&'static str),
    /// The type of the signature's result: a cast or constructor.
    Cast,
    /// `operator.` and a word of one to four of the letters `x`, `y`, `z` and `w`: a getter of
    /// vector elements. `T` must have all of them.
    Getter,
    /// `operator.`, such a word of distinct letters, and `=`: a setter of vector elements.
    Setter,
}

/// One way to call a function. Its types may depend on the variable `T`.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The types that `T` can be. `None` if `T` does not occur.
    pub variable_range: Option<Range>,
    /// The types of the parameters.
    pub parameters: &'static [Pattern],
    /// The type of the result.
    pub result: Pattern,
}

/// A built-in function.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name.
    pub name: Name,
    /// Its signatures. No two have an instance with the same parameter types.
    pub signatures: &'static [Signature],
    /// What it does.
    pub meaning: Meaning,
    /// The stages in which it may be called.
    pub stages: Stages,
    /// What it does, in words, as `LIBRARY.md` prints them.
    pub says: &'static str,
}

/// The functions that one rule declares.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The rule.
    pub rule: Rule,
    /// Its functions.
    pub rows: &'static [Row],
}

/// A signature over a variable.
pub(super) const fn over(range: Range, parameters: &'static [Pattern], result: Pattern) -> Signature {
    Signature { variable_range: Some(range), parameters, result }
}

/// A signature without variable.
pub(super) const fn plain(parameters: &'static [Pattern], result: Pattern) -> Signature {
    Signature { variable_range: None, parameters, result }
}

/// A function that every stage may call.
pub(super) const fn row(name: &'static str, signatures: &'static [Signature], meaning: Meaning, says: &'static str) -> Row {
    Row { name: Name::Function(name), signatures, meaning, stages: Stages::ALL, says }
}

impl Row {
    /// The same row, restricted to these stages.
    pub(super) const fn stages(self, stages: Stages) -> Row {
        Row { stages, ..self }
    }

    /// The same row with another kind of name.
    pub(super) const fn named(self, name: Name) -> Row {
        Row { name, ..self }
    }
}

const fn section(rule: Rule, rows: &'static [Row]) -> Section {
    Section { rule, rows }
}

/// The table of every built-in function, in the order of the seed's sections.
pub static TABLE: &[Section] = &[
    section(Rule::WslLibIntegerArithmetic, integer::integer_arithmetic()),
    section(Rule::WslLibIntegerNegation, integer::integer_negation()),
    section(Rule::WslLibIntegerStep, integer::integer_step()),
    section(Rule::WslLibIntegerDivision, integer::integer_division()),
    section(Rule::WslLibIntegerAbs, integer::integer_abs()),
    section(Rule::WslLibIntegerSign, integer::integer_sign()),
    section(Rule::WslLibIntegerMinMax, integer::integer_min_max()),
    section(Rule::WslLibIntegerClamp, integer::integer_clamp()),
    section(Rule::WslLibBitwise, bits::bitwise()),
    section(Rule::WslLibComplement, bits::complement()),
    section(Rule::WslLibNot, bits::not()),
    section(Rule::WslLibShift, bits::shift()),
    section(Rule::WslLibAllAny, bits::all_any()),
    section(Rule::WslLibBitCount, bits::bit_count()),
    section(Rule::WslLibFloatArithmetic, float::float_arithmetic()),
    section(Rule::WslLibFloatNegation, float::float_negation()),
    section(Rule::WslLibFloatUnary, float::float_unary()),
    section(Rule::WslLibFloatBinary, float::float_binary()),
    section(Rule::WslLibFloatTernary, float::float_ternary()),
    section(Rule::WslLibFloatClass, float::float_class()),
    section(Rule::WslLibModf, float::modf()),
    section(Rule::WslLibSincos, float::sincos()),
    section(Rule::WslLibDerivative, float::derivative()),
    section(Rule::WslLibInterlocked, atomic::interlocked()),
    section(Rule::WslLibCompareExchange, atomic::compare_exchange()),
    section(Rule::WslLibBarrier, atomic::barrier()),
    section(Rule::WslLibDefault, cast::default()),
    section(Rule::WslLibIdentity, cast::identity()),
    section(Rule::WslLibConversion, cast::conversion()),
    section(Rule::WslLibEnumCast, cast::enum_cast()),
    section(Rule::WslLibEnumValue, access::enum_value()),
    section(Rule::WslLibVectorConstructor, cast::vector_constructor()),
    section(Rule::WslLibMatrixColumns, cast::matrix_columns()),
    section(Rule::WslLibMatrixElements, cast::matrix_elements()),
    section(Rule::WslLibReinterpret, cast::reinterpret()),
    section(Rule::WslLibEquality, comparison::equality()),
    section(Rule::WslLibOrder, comparison::order()),
    section(Rule::WslLibEnumEquality, comparison::enum_equality()),
    section(Rule::WslLibElementwiseComparison, comparison::elementwise_comparison()),
    section(Rule::WslLibElementwiseArithmetic, composite::elementwise_arithmetic()),
    section(Rule::WslLibElementwiseSign, composite::elementwise_sign()),
    section(Rule::WslLibDot, composite::dot()),
    section(Rule::WslLibMul, composite::mul()),
    section(Rule::WslLibGeometry, composite::geometry()),
    section(Rule::WslLibLighting, composite::lighting()),
    section(Rule::WslLibTranspose, composite::transpose()),
    section(Rule::WslLibDeterminant, composite::determinant()),
    section(Rule::WslLibSwizzle, access::swizzle()),
    section(Rule::WslLibSwizzleSetter, access::swizzle_setter()),
    section(Rule::WslLibVectorIndex, access::vector_index()),
    section(Rule::WslLibMatrixIndex, access::matrix_index()),
    section(Rule::WslLibVectorLength, access::vector_length()),
    section(Rule::WslLibArrayIndex, access::array_index()),
    section(Rule::WslLibArrayLength, access::array_length()),
    section(Rule::WslLibSample, texture::sample()),
    section(Rule::WslLibSampleExplicit, texture::sample_explicit()),
    section(Rule::WslLibSampleCompare, texture::sample_compare()),
    section(Rule::WslLibGather, texture::gather()),
    section(Rule::WslLibGatherCompare, texture::gather_compare()),
    section(Rule::WslLibLoad, texture::load()),
    section(Rule::WslLibStore, texture::store()),
    section(Rule::WslLibDimensions, texture::dimensions()),
];
