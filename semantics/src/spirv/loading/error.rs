//! The reasons why a module is not run: malformed, invalid such that running it would be
//! meaningless, outside of the modeled subset, or too large.

use crate::outcome::{InputFault, InvalidInput, Limit};
use crate::spirv::words::WordsError;

/// A place in a module: the function and block if there are any, and always the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// The function's id, or 0.
    pub function: u32,
    /// The block's label, or 0.
    pub block: u32,
    /// The offset of the instruction, in words.
    pub word: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.function != 0 {
            write!(f, "in %{}, ", self.function)?;
        }
        if self.block != 0 {
            write!(f, "block %{}, ", self.block)?;
        }
        write!(f, "word {}", self.word)
    }
}

macro_rules! checks {
    ($($variant:ident $id:literal $statement:literal;)*) => {
        /// The checks that this project makes itself. If one fails, running the module would
        /// be meaningless.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Check {
            $(#[doc = $statement] $variant,)*
        }

        impl Check {
            /// Every check.
            pub const ALL: &'static [Check] = &[$(Check::$variant,)*];

            /// The stable id, such as `module/undefined-id`.
            pub fn id(self) -> &'static str {
                match self { $(Check::$variant => $id,)* }
            }

            /// The condition that must hold.
            pub fn statement(self) -> &'static str {
                match self { $(Check::$variant => $statement,)* }
            }
        }
    };
}

checks! {
    SectionOrder "module/section-order" "Instructions stand in the order of SPIR-V §2.4.";
    MemoryModel "module/memory-model" "There is exactly one OpMemoryModel.";
    UndefinedId "module/undefined-id" "Every id that is used is the result of an instruction.";
    DefinedBeforeUse "module/defined-before-use" "An id is defined before it is used, but for OpPhi, branches, names and decorations.";
    Dominance "module/dominance" "A definition dominates its uses; for OpPhi, the parent of each value.";
    KindOfId "module/kind-of-id" "An id stands for what its place requires: a type, a constant, a value, a label, a function.";
    Type "module/type" "Operands and result have the types that the instruction requires.";
    TypeDeclaration "module/type-declaration" "Types are made of types that they may be made of.";
    Constant "module/constant" "Constants have a type that they can have, and constituents that fit.";
    Variable "module/variable" "A variable's type is a pointer of its storage class.";
    Function "module/function" "Functions begin with OpFunction and a block, and end with OpFunctionEnd.";
    OutsideBlock "module/outside-block" "Instructions of a function body stand in blocks.";
    Unterminated "module/unterminated" "Every block ends with a termination instruction.";
    BranchTarget "module/branch-target" "Branches go to blocks of the same function.";
    EntryBlock "module/entry-block" "No branch goes to a function's first block.";
    BlockOrder "module/block-order" "A block stands after the block that dominates it immediately.";
    PhiPlace "module/phi-place" "OpPhi stands before all else in its block.";
    PhiParents "module/phi-parents" "The parents of an OpPhi are the block's predecessors, each once.";
    MergePlace "module/merge-place" "A merge instruction stands right before the branch that it is for.";
    MergeTarget "module/merge-target" "Merge blocks and continue targets are other blocks of the function, and merge for one header.";
    BackEdge "module/back-edge" "A branch back to a block that dominates it goes to a block with an OpLoopMerge, from its continue construct.";
    EntryPoint "module/entry-point" "An entry point names a function, and its interface the variables that it uses.";
    Decoration "module/decoration" "Variables and types have the decorations that give them their place.";
    Layout "module/layout" "Blocks in buffers have explicit offsets and strides, multiples of 4 bytes.";
    AccessIndex "module/access-index" "An access chain's indices fit the type that they index; those into structures are constants within it.";
    Capability "module/capability" "What an instruction or a type needs is declared by a capability.";
    Pointer "module/pointer" "Pointers, images and samplers are not chosen, joined or returned.";
    MergeDominance "module/merge-dominance" "A header dominates its merge block and its continue target.";
    SelectionMerge "module/selection-merge" "A branch that selects between blocks has a merge instruction, unless it leaves a construct.";
    ConstructExit "module/construct-exit" "A branch leaves a construct only by its exits: merge blocks, continue targets, the next case.";
    ConstructEntry "module/construct-entry" "A branch enters a construct only by its header.";
    Switch "module/switch" "Each literal of an OpSwitch stands once, and cases fall through to the next case only.";
    CompositeIndex "module/composite-index" "Literal indices are within the composite that they index.";
    MemoryOperands "module/memory-operands" "Memory operands are for the instruction, and alignments are powers of two.";
    Atomic "module/atomic" "Atomic instructions go to integers in storage buffers and Workgroup.";
    Scope "module/scope" "Scopes are constants that the environment has.";
    MemorySemantics "module/memory-semantics" "Memory semantics are constants of at most one order, which orders a storage class.";
    Group "module/group" "Group instructions name operations, sizes and directions that there are, as constants.";
    Image "module/image" "Image instructions take images, coordinates and operands that are for them.";
    Recursion "module/recursion" "No function calls itself, directly or through others.";
    ExecutionModel "module/execution-model" "Entry points reach only instructions and storage classes that their execution model has.";
    Location "module/location" "No two inputs, and no two outputs, of an entry point take the same component of a location.";
    ExecutionMode "module/execution-mode" "Execution modes are for entry points of the execution model that has them.";
    BuiltIn "module/built-in" "Built-ins have the type and the storage class that they must have.";
    Specialization "module/specialization" "Specialization constants can be frozen: values and operations fit, and their behaviour is defined.";
    Version "module/version" "What a version of SPIR-V brought or took away is used in no other version, unless an extension brings it.";
    Storage "module/storage" "Loads and stores go through pointers to what can be loaded or stored.";
}

/// The reason why a module is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The words are not a module.
    Words(WordsError),
    /// A check failed.
    Invalid {
        /// The check that failed.
        check: Check,
        /// One sentence: what was found against what is required.
        what: String,
        /// The place of the instruction.
        at: Place,
    },
    /// The module needs a feature that is not modeled.
    Unsupported {
        /// The name of the feature, such as `OpImageFetch`.
        what: String,
        /// The place of the instruction.
        at: Place,
    },
    /// A limit of this project is exceeded.
    Limit(Limit),
}

impl LoadError {
    /// The check that failed, if one did.
    pub fn check(&self) -> Option<Check> {
        match self {
            LoadError::Invalid { check, .. } => Some(*check),
            _ => None,
        }
    }
}

impl From<WordsError> for LoadError {
    fn from(error: WordsError) -> LoadError {
        match error {
            WordsError::Limit(limit) => LoadError::Limit(limit),
            error => LoadError::Words(error),
        }
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Words(error) => error.fmt(f),
            LoadError::Invalid { check, what, at } => write!(f, "error[{}]: {what} ({at})", check.id()),
            LoadError::Unsupported { what, at } => write!(f, "unsupported: {what} ({at})"),
            LoadError::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<LoadError> for InvalidInput {
    fn from(error: LoadError) -> InvalidInput {
        let fault = match error {
            LoadError::Words(_) | LoadError::Invalid { .. } => InputFault::Program,
            LoadError::Unsupported { .. } => InputFault::Unsupported,
            LoadError::Limit(_) => InputFault::Limit,
        };
        InvalidInput::new(fault, error.to_string())
    }
}
