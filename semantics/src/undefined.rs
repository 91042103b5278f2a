//! The cases that a specification leaves open. One table says for every construct which of four
//! kinds it is, and by which clause.
//!
//! - [`Ub`]: undefined behaviour, which ends the run.
//! - [`Unspecified`]: an undefined value, which flows on, component by component, and is any value
//!   wherever it is observed.
//! - [`Refusal`]: what is refused before anything runs.
//! - [`Setting`]: a value that the environment decides; the default is stated.
//!
//! [`page`] prints the table as `UNDEFINED.md`.

use std::fmt::Write;

/// The kinds of constructs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Undefined behaviour: the run ends.
    Behaviour,
    /// An undefined value: it flows on.
    Value,
    /// Refused before anything runs.
    Refused,
    /// A value that the environment decides.
    Environment,
}

impl Kind {
    /// Every kind, in the order of the page.
    pub const ALL: [Kind; 4] = [Kind::Behaviour, Kind::Value, Kind::Refused, Kind::Environment];

    /// The heading on the page.
    pub fn heading(self) -> &'static str {
        match self {
            Kind::Behaviour => "Undefined behaviour: the run ends",
            Kind::Value => "Undefined values: they flow on",
            Kind::Refused => "Refused before anything runs",
            Kind::Environment => "Values by the environment",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub kind: Kind,
    /// The stable id, such as `spirv/unreachable`.
    pub id: &'static str,
    /// The construct.
    pub construct: &'static str,
    /// The clause that decides it.
    pub clause: &'static str,
    /// The decision, and its reason if the clause leaves a choice.
    pub decision: &'static str,
}

macro_rules! registry {
    ($(#[$doc:meta])* $name:ident $kind:ident { $($variant:ident $id:literal $construct:literal $clause:literal $decision:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $(#[doc = $construct] $variant,)*
        }

        impl $name {
            /// Every one, in the order of the page.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The row of the table.
            pub fn entry(self) -> Entry {
                let (id, construct, clause, decision) = match self {
                    $($name::$variant => ($id, $construct, $clause, $decision),)*
                };
                Entry { kind: Kind::$kind, id, construct, clause, decision }
            }

            /// The stable id, as `spirv/unreachable`.
            pub fn id(self) -> &'static str {
                self.entry().id
            }

            /// The clause that decides it.
            pub fn clause(self) -> &'static str {
                self.entry().clause
            }
        }
    };
}

registry! {
    /// A kind of undefined behaviour.
    Ub Behaviour {
        Unreachable "spirv/unreachable" "OpUnreachable is reached" "SPIR-V §3.3.17, OpUnreachable: behavior is undefined if this instruction is executed" "as the clause says";
        AccessOutOfBounds "spirv/access-out-of-bounds" "an access chain's index is out of bounds, or the element that OpPtrAccessChain goes to" "SPIR-V §3.3.8, OpAccessChain: each index must be in bounds" "at the chain, even if the pointer is never used, so that no load, store or atomic is outside of its object; indices count as signed; a runtime array has as many elements as its buffer holds whole, where buffers are robust only a negative index is out of bounds; OpPtrAccessChain may go to one past the end";
        DivisionByZero "spirv/division-by-zero" "OpUDiv, OpSDiv, OpUMod, OpSRem or OpSMod with divisor 0" "SPIR-V §3.3.13, OpUDiv and the others: behavior is undefined if Operand 2 is 0" "as the clause says";
        DivisionOverflow "spirv/division-overflow" "OpSDiv, OpSRem or OpSMod of the least integer by -1" "SPIR-V §3.3.13, OpSDiv and the others: behavior is undefined if Operand 2 is -1 and Operand 1 is the minimum representable value" "as the clause says, for the remainders too";
        ConversionRange "spirv/conversion-range" "OpConvertFToS or OpConvertFToU of a float whose integer part the result type does not hold" "SPIR-V §3.3.11, OpConvertFToU: behavior is undefined if Result Type is not wide enough to hold the converted value" "the value after rounding toward 0 counts, so -0.5 converts to 0 unsigned; NaN and infinity are never held";
        Wrap "spirv/wrap" "an instruction decorated NoSignedWrap or NoUnsignedWrap overflows" "SPIR-V §3.2.20, Decoration NoSignedWrap: if an instruction so decorated does overflow or underflow, behavior is undefined" "as the clause says";
        UndefinedOperand "spirv/undefined-operand" "an undefined value is an operand where some value of it is undefined behaviour: a divisor, a dividend of -1, a float converted to an integer, an operand of what must not wrap" "SPIR-V §3.3.13, OpUDiv; §3.3.11, OpConvertFToU; §3.3.1, OpUndef: each consumption may yield any value" "an execution with that value exists, so behaviour is undefined";
        BranchOnUndefined "spirv/branch-on-undefined" "OpBranchConditional or OpSwitch on an undefined value" "SPIR-V 1.6 revision 7, Poison: control flow must not depend on poison" "for values of OpUndef too: each use may take either way";
        AddressOnUndefined "spirv/address-on-undefined" "an access chain's index, or a coordinate, an offset or a level of detail of an image instruction, is an undefined value" "SPIR-V 1.6 revision 7, Poison: memory must not be accessed by an address that depends on poison" "at the instruction that computes the address";
        PointerToNothing "spirv/pointer-to-nothing" "what a pointer points to is accessed, or a part of it is pointed at, and the pointer is null, undefined or one past the end of an array" "SPIR-V §3.3.8, OpPtrAccessChain, OpLoad: the address of one past the end may be computed, and memory is not there" "at the instruction that needs what is pointed at; comparing such a pointer is defined, unless it is undefined";
        PointersApart "spirv/pointers-apart" "OpPtrDiff of pointers that are not to elements of one array" "SPIR-V §3.3.8, OpPtrDiff: behavior is undefined if Operand 1 and Operand 2 are not pointers to elements in the same array" "arrays within arrays are arrays of their own; what is no element of an array is the only one of its own";
        StoreReadOnly "spirv/store-read-only" "a store or an atomic through a pointer that was chosen at run time, to what is NonWritable" "SPIR-V §3.2.20, Decoration NonWritable: the memory object must not be written" "where the instruction's pointer is not chosen at run time, the module is refused";
        VertexOutOfBounds "spirv/vertex-out-of-bounds" "an item of a vertex attribute is beyond the end of its buffer" "Vulkan, Vertex Input Extraction; Robust buffer access: without it, accesses out of bounds are undefined" "unless `--robustness` says otherwise";
        Misaligned "spirv/misaligned-access" "an access at an address that its type's alignment or its Aligned operand does not divide" "SPIR-V §3.2.27, Memory Operands, Aligned; Vulkan, Offset and Stride Assignment" "buffers begin at aligned addresses, so the byte offset counts";
        DivergentBarrier "spirv/divergent-barrier" "OpControlBarrier is not reached by all invocations of its scope, or by different instances" "SPIR-V §3.3.20, OpControlBarrier: behavior is undefined if executed in control flow that is not uniform for the invocations within Execution scope" "reported where no invocation can go on; instances differ by iterations of loops around the barrier and by the chain of calls";
        NonUniformOperand "spirv/non-uniform-operand" "the invocation that OpGroupNonUniformBroadcast or OpGroupNonUniformQuadBroadcast names, or the ballot of OpGroupNonUniformInverseBallot, is not the same for all invocations that execute it together" "SPIR-V §3.3.24, OpGroupNonUniformBroadcast: behavior is undefined when Id is not dynamically uniform; OpGroupNonUniformInverseBallot: behavior is undefined unless Value is the same for all invocations" "for an undefined value too, which may be another in each invocation";
        ClusterSize "spirv/cluster-size" "ClusteredReduce with clusters larger than the subgroup" "SPIR-V §3.3.24, OpGroupNonUniformIAdd: if ClusterSize is greater than the size of the group, executing this instruction results in undefined behavior" "as the clause says";
        DataRace "spirv/data-race" "two conflicting accesses, not both atomic in one scope, that nothing orders" "Vulkan, Memory Model, Data-Race: if there is a data race, behavior is undefined" "order comes only from matching release and acquire, or a barrier with semantics; relaxed atomics order nothing";
        OverlappingCopy "spirv/overlapping-copy" "OpCopyMemory whose source and target overlap but are not the same" "SPIR-V §3.3.8, OpCopyMemory" "as two accesses that no order makes right";
        UndeclaredAlias "spirv/undeclared-alias" "memory is written through one variable and accessed through another without Aliased" "SPIR-V §2.18.2, Aliasing; §3.2.20, Decoration Aliased" "where one buffer is bound to several variables, by the bytes that invocations access, at the later access; pointer parameters are declarations too, and are not followed";
        DescriptorNotUniform "spirv/descriptor-not-uniform" "invocations of an invocation group access a resource by one dynamic instance of an instruction with different descriptors of an array, and the operand is not decorated NonUniform" "SPIR-V §3.2.20, Decoration NonUniform; Vulkan, Validation Rules within a Module, RuntimeSpirv-NonUniform: if the descriptor is not dynamically uniform, the operand that corresponds to the resource must be decorated" "an invocation group is a workgroup, or all invocations of a stage of a draw, since a device may take a whole draw for one; at the later access; of an image instruction, the sampled image or image must be decorated, and not only the index or what OpSampledImage combines";
    }
}

registry! {
    /// A kind of undefined value.
    Unspecified Value {
        Undef "spirv/undef" "OpUndef" "SPIR-V §3.3.1, OpUndef: each consumption of Result <id> yields an arbitrary, possibly different bit pattern" "per use and component";
        Uninitialised "spirv/uninitialised" "a load from memory that nothing has written: variables without an initializer" "SPIR-V §3.3.8, OpVariable: without an initializer the contents are undefined" "per byte, or per component where memory has no layout";
        ShiftWidth "spirv/shift-width" "a shift by as many bits as the base has, or more" "SPIR-V §3.3.14, OpShiftLeftLogical: the resulting value is undefined if Shift is greater than or equal to the bit width of the components of Base" "as the clause says";
        BitFieldRange "spirv/bit-field-range" "a bit field whose offset, count or their sum is more than the bits of the base" "SPIR-V §3.3.14, OpBitFieldInsert: the resulting value is undefined if Count or Offset or their sum is greater than the number of bits in the result" "offset and count are unsigned, their sum is not truncated; offset = width with count 0 is defined";
        DotOverflow "spirv/dot-overflow" "an OpSDotAccSat, OpUDotAccSat or OpSUDotAccSat whose products, or sums of these in some order, the result type does not hold" "SPIR-V §3.3.13, OpSDotAccSat: if any of the multiplications or additions, with the exception of the final accumulation, overflow or underflow, the result of the instruction is undefined" "the order of the additions is open, so any subset of the products counts; a device may saturate early or wrap";
        NegativeRemainder "spirv/negative-remainder" "OpSRem or OpSMod with a negative operand" "Vulkan, Precision and Operation of SPIR-V Instructions: the result is poison if either operand is negative, unless maintenance8 is enabled" "a setting of the environment, by default without maintenance8";
        FloatRemainderByZero "spirv/float-remainder-by-zero" "OpFRem or OpFMod by 0" "SPIR-V §3.3.13, OpFMod: the resulting value is undefined if Operand 2 is 0" "OpFDiv by 0 has no such clause: it is an infinity or NaN";
        VectorIndex "spirv/vector-index" "OpVectorExtractDynamic or OpVectorInsertDynamic with an index that is out of bounds" "SPIR-V §3.3.12, OpVectorExtractDynamic: the value read is undefined if Index is less than zero or not less than the number of components" "the component read; of an insertion all components, since any may have been written";
        ShuffleUndefined "spirv/shuffle-undefined" "OpVectorShuffle with component 0xFFFFFFFF" "SPIR-V §3.3.12, OpVectorShuffle: a Component literal may be FFFFFFFF, which means the corresponding result component has no source and is undefined" "that component";
        Domain "spirv/function-domain" "Asin or Acos of what is beyond ±1, Acosh below 1, Atanh of ±1 and beyond, Log, Log2, Sqrt or InverseSqrt of a negative number" "GLSL.std.450, each function: the resulting value is undefined (NaN, by the latest revision) there; Vulkan, Precision: undefined mathematically is poison" "undefined; Log and Log2 of 0 and InverseSqrt of 0 are the infinities that the latest revision states";
        Atan2Zeros "spirv/atan2-zeros" "Atan2 of two zeros" "GLSL.std.450, Atan2: the resulting value is poison if x and y are both 0" "zeros of any sign";
        PowDomain "spirv/pow-domain" "Pow of a negative base, or of a zero base without a positive exponent" "GLSL.std.450, Pow: the resulting value is poison if x < 0, and if x = 0 and y ≤ 0" "as the clause says";
        ClampBounds "spirv/clamp-bounds" "FClamp, NClamp, UClamp or SClamp with minVal > maxVal" "GLSL.std.450, FClamp: the resulting value is poison if minVal > maxVal" "bounds that are NaN are not greater";
        SmoothStepEdges "spirv/smoothstep-edges" "SmoothStep with edge0 ≥ edge1" "GLSL.std.450, SmoothStep: the resulting value is poison if edge0 ≥ edge1" "as the clause says";
        SingularInverse "spirv/singular-inverse" "MatrixInverse of a singular matrix" "GLSL.std.450, MatrixInverse: the resulting values are poison if x is singular or poorly conditioned" "where the determinant, computed in the matrix's format, is 0 or no number; how poor is too poor is not stated";
        FrexpSpecial "spirv/frexp-special" "Frexp or FrexpStruct of an infinity or NaN" "GLSL.std.450, Frexp: for an infinity or a NaN significand and exponent are poison" "both results";
        LdexpRange "spirv/ldexp-range" "Ldexp with an exponent above 128 (16 and 1024 for 16 and 64 bits), or a product too large" "GLSL.std.450, Ldexp: the resulting value is poison if exp is greater than that, or if the product is too large to be finitely represented" "of zero too, since the exponent decides";
        NormalizeZero "spirv/normalize-zero" "Normalize of a vector of zeros" "Vulkan, Precision: Normalize is inherited from x * inversesqrt(dot(x, x)); undefined mathematically is poison" "only where all components are zeros; what underflows is a value in doubt";
        DivergentDerivative "spirv/divergent-derivative" "a derivative, or a sample with implicit level, in control flow that is not uniform in its quad" "SPIR-V §3.3.16, OpDPdx: an invocation's derivatives are undefined if control flow is not uniform within the derivative group" "where an invocation of the quad does not take part";
        ImageLevel "spirv/image-level" "a fetch, read or query of a level, layer or sample that the image does not have" "Vulkan, Texel Input Validation: values are undefined without robustImageAccess" "as the clause says";
        ImageCoordinate "spirv/image-coordinate" "a fetch or read of a texel that the level does not have" "Vulkan, Texel Input Validation and Texel Replacement: an invalid texel's value is undefined without robustImageAccess" "a write there is discarded, with or without robustness; samples have border texels instead";
        ImageConversion "spirv/image-conversion" "an integer written to an image whose format does not hold it, a NaN to a normalized format, or a texel of fewer components than the format has" "Vulkan, Texel Output Format Conversion: the converted value of any integer that cannot be represented in the target format is undefined; Fixed-Point Data Conversion says nothing of NaN" "that component of the texel";
        ImageSampler "spirv/image-sampler" "a sample or gather by a sampler that is not for the image or the instruction: comparison with Dref only and of depths only, unnormalized coordinates without offset, projection and gathering, integers without linear filters" "Vulkan, Texel Input Validation, Instruction, Sampler and Image View Validation: the value of the texel returned is undefined" "all components";
        LodBounds "spirv/lod-bounds" "a sample with a sampler whose least level of detail is above its greatest" "Vulkan, LOD Operation: the level of detail is undefined where lodmin > lodmax" "all components";
        UnwrittenOutput "spirv/unwritten-output" "an Output variable that no store has written when the invocation ends" "Vulkan, Fragment Output Interface: components that are not written are undefined; Built-In Variables, SampleMask and FragDepth: undefined where no value is assigned" "at the observation; of SampleMask, each component that the fragment would change";
        PointCoord "spirv/point-coord" "PointCoord where the primitive is no point" "Vulkan, Built-In Variables, PointCoord: if the primitive that the fragment belongs to is not a point, the variable contains an undefined value" "both components, of every fragment of a triangle or a line";
        InactiveInvocation "spirv/inactive-invocation" "a value of an invocation that does not execute the group instruction, or that the subgroup does not have" "SPIR-V §3.3.24, OpGroupNonUniformShuffle: the resulting value is undefined if Id is an inactive invocation, or is greater than or equal to the size of the group" "all components";
        BallotBit "spirv/ballot-bit" "a bit of a ballot that the subgroup does not have, or the first or last of none" "SPIR-V §3.3.24, OpGroupNonUniformBallotBitExtract: if Index is greater than or equal to the size of the group, the resulting value is undefined; OpGroupNonUniformBallotFindLSB: if none of the considered bits is set to 1, the resulting value is undefined" "as the clause says";
        HelperResult "spirv/helper-result" "the result of an atomic of a helper invocation" "Vulkan, Helper Invocations: values returned by atomics of helper invocations are undefined" "helper invocations write nothing";
    }
}

registry! {
    /// A reason to refuse a module or its inputs.
    Refusal Refused {
        Recursion "spirv/recursion" "the call graph below an entry point has a cycle" "SPIR-V §2.16.1, Universal Validation Rules: the static function-call graph for an entry point must not contain cycles" "refused even where the call is never reached";
        MemberIndex "spirv/member-index" "a constant index of a structure, vector or matrix that it does not have, or an index of a structure that is no constant" "SPIR-V §3.3.8, OpAccessChain; §3.3.12, OpCompositeExtract: all indexes must be in bounds" "of arrays with constant length by OpCompositeExtract and OpCompositeInsert too";
        StaticReadOnlyStore "spirv/store-non-writable" "a store to a variable whose storage class or decoration makes it read-only" "SPIR-V §3.2.20, Decoration NonWritable; §3.2.7, Storage Class" "every store names its variable, or is refused: pointers to it are not passed to functions, chosen or loaded";
        MissingResource "spirv/missing-resource" "a resource of the entry point's interface that the run does not give" "Vulkan, Descriptor Sets: a descriptor that is accessed must be valid" "named by set and binding, even if no invocation would access it";
        ImageMismatch "spirv/image-mismatch" "an image or a sampler that is not what its variable declares: the format, the type of its numbers, levels of detail that are no numbers" "Vulkan, Compatibility Between SPIR-V Image Formats and Vulkan Formats; VkSamplerCreateInfo" "named by set and binding";
        ShortResource "spirv/short-resource" "a buffer too short for the fixed part of its structure" "Vulkan, Shader Resource Interface" "so that the fixed part is in bounds of every chain; a runtime array may have no elements";
        InvalidModule "spirv/invalid-module" "a module that breaks a rule without which running it means nothing" "SPIR-V §2.16, Validation Rules" "the rule is named";
        Unsupported "spirv/unsupported" "an instruction, capability, decoration or storage class that is not modeled" "none" "named, before anything runs";
        Limit "spirv/limit" "a module or run beyond a limit of the engine" "none" "the limit is named";
    }
}

registry! {
    /// A choice that the environment makes.
    Setting Environment {
        Robustness "spirv/robustness" "accesses of buffers out of bounds" "Vulkan, robustBufferAccess and robustBufferAccess2" "`--robustness none|rba1|rba2`, by default none: undefined behaviour";
        ImageRobustness "spirv/image-robustness" "image accesses with coordinates out of bounds" "Vulkan, Texel Input Validation and robustImageAccess" "zeros with robustness, undefined values without; stores are dropped";
        Maintenance8 "spirv/maintenance8" "OpSRem and OpSMod with negative operands" "Vulkan, VK_KHR_maintenance8" "off by default";
        Rounding "spirv/rounding" "the rounding of what is correctly rounded" "SPIR-V §3.2.6, Execution Mode RoundingModeRTE; Vulkan, Precision" "to nearest even; without the mode the other neighbour is allowed, so that lane is in doubt";
        Subnormals "spirv/subnormals" "subnormal operands and results" "SPIR-V §3.2.6, Execution Modes DenormPreserve and DenormFlushToZero; Vulkan, Precision" "kept; flushed is allowed too, so that lane is in doubt";
        Specials "spirv/infinities-and-nans" "infinities, NaNs and signs of zeros in computations" "SPIR-V §3.2.6, Execution Mode SignedZeroInfNanPreserve" "as IEEE 754 has them, the quiet NaN without payload; lanes that depend on them are in doubt";
        Precision "spirv/precision" "results that are not required to be correctly rounded" "Vulkan, Precision and Operation of SPIR-V Instructions" "one definite value near the exact one; the lane is in doubt";
        RoundTies "spirv/round-ties" "GLSL.std.450 Round of a half" "GLSL.std.450, Round: a fraction of 0.5 rounds in a direction chosen by the implementation" "to even; the lane is in doubt";
        MinMaxNaN "spirv/min-max-nan" "FMin, FMax, FClamp or FSign of a NaN" "GLSL.std.450, FMin: which operand is the result if one of the operands is a NaN is implementation-dependent" "the first operand, NaN for FSign; the lane is in doubt";
        Contraction "spirv/contraction" "Fma, and products and sums without NoContraction" "SPIR-V §3.2.20, Decoration NoContraction; Vulkan, Precision: Fma may be fused or not" "Fma is fused, all else is not; where the two differ the lane is in doubt";
        LdexpUnderflow "spirv/ldexp-underflow" "Ldexp with an exponent below -126 (-14, -1022)" "GLSL.std.450, Ldexp: the result may be flushed to zero" "kept; the lane is in doubt";
        Scheduling "spirv/scheduling" "the order in which invocations make their steps" "Vulkan, Shader Execution: the relative order is undefined" "round-robin by default; random with a seed, or every order of a small program";
        SubgroupSize "spirv/subgroup-size" "the size of subgroups, and which invocations are one" "Vulkan, VkPhysicalDeviceSubgroupProperties; Built-In Variables, SubgroupSize" "`--subgroup-size N`; local invocation indices in order; without a size a run with each of several, and what they show differently is in doubt; in draws all that depends on more than a quad is in doubt";
        Reconvergence "spirv/reconvergence" "which invocations execute a group instruction together" "SPIR-V §2.2.5, Dynamic Instance and Uniform Control Flow; SPV_KHR_subgroup_uniform_control_flow" "those that followed one path, and after a merge block those of a subgroup that entered its construct together; elsewhere what depends on it is in doubt";
        ReductionOrder "spirv/reduction-order" "the order in which OpGroupNonUniformFAdd and OpGroupNonUniformFMul combine values" "SPIR-V §3.3.24, OpGroupNonUniformFAdd: the method used to perform the group operation on the contributed values is implementation defined" "by ascending invocations; where another order gives another float, the lane is in doubt";
        Filtering "spirv/filtering" "weights of linear filters, levels, fine or coarse derivatives" "Vulkan, Texel Filtering; SPIR-V §3.3.16, OpDPdx" "one definite value; compared as sets";
    }
}

/// Every row, in the order of the page.
pub fn table() -> impl Iterator<Item = Entry> {
    let behaviours = Ub::ALL.iter().map(|x| x.entry());
    let values = Unspecified::ALL.iter().map(|x| x.entry());
    let refusals = Refusal::ALL.iter().map(|x| x.entry());
    behaviours.chain(values).chain(refusals).chain(Setting::ALL.iter().map(|x| x.entry()))
}

/// How an undefined value propagates, for the page: construct and rule.
const PROPAGATION: &[(&str, &str)] = &[
    (
        "any computing instruction",
        "a result component is undefined if an operand component that it is computed from is, by the first such operand",
    ),
    (
        "OpBitwiseAnd with an operand 0, OpBitwiseOr with all bits set, OpIMul with an operand 0",
        "absorbed: the result does not depend on the other operand",
    ),
    ("OpLogicalAnd with false, OpLogicalOr with true, OpAny with a true, OpAll with a false component", "absorbed"),
    ("OpSelect", "only the chosen component matters; an undefined condition gives an undefined component"),
    ("OpPhi, OpCopyObject, OpComposite…, OpVectorShuffle, OpTranspose, loads and stores", "moved along, component by component"),
    ("OpBitcast, Pack…, Unpack…", "moved along: a result component is undefined if any of its bits is"),
    ("a divisor, a dividend of -1, OpConvertFToS and OpConvertFToU", "undefined behaviour (`spirv/undefined-operand`)"),
    ("a branch, a switch, an address", "undefined behaviour (`spirv/branch-on-undefined`, `spirv/address-on-undefined`)"),
    (
        "a texel that is written to an image, the reference of a comparison (Dref), the level of a size query",
        "moved along: they choose no texel",
    ),
    ("a sample", "a component is undefined if that of a texel with a weight is"),
    ("an output, buffer or image at the end", "any value, made there by that construct"),
];

/// The table as a page.
pub fn page() -> String {
    let mut out = String::from(
        "# What SPIR-V leaves open\n\n\
         Printed from `semantics/src/undefined.rs`; `SPEC_BLESS=1 cargo test -p smallstep-semantics --test undefined` writes it again.\n\
         Clauses are quoted in our words. Vulkan is the environment; GLSL.std.450 is the extended instruction set.\n",
    );
    for kind in Kind::ALL {
        let _ = write!(out, "\n## {}\n\n| id | construct | clause | decision |\n|---|---|---|---|\n", kind.heading());
        for row in table().filter(|row| row.kind == kind) {
            let _ = writeln!(out, "| `{}` | {} | {} | {} |", row.id, row.construct, row.clause, row.decision.replace('|', "\\|"));
        }
        if kind == Kind::Value {
            out.push_str("\n### What an undefined value does\n\n| where | what |\n|---|---|\n");
            for (construct, rule) in PROPAGATION {
                let _ = writeln!(out, "| {construct} | {rule} |");
            }
        }
    }
    out
}

/// An instance of undefined behaviour in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The kind.
    pub ub: Ub,
    /// One sentence that says what happened and names the instruction.
    pub what: String,
    /// The place in words: function, block, step.
    pub at: String,
    /// The place as data, for a run of a dispatch.
    pub site: Option<Box<Site>>,
}

/// The place and time of undefined behaviour in a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The index of the instruction in the module.
    pub instruction: u32,
    /// The id of the function.
    pub function: u32,
    /// The label of the block.
    pub block: u32,
    /// The source line by OpLine: file, line and column.
    pub line: Option<(String, u32, u32)>,
    /// The invocation, by its number in the grid.
    pub invocation: u32,
    /// The invocation as GlobalInvocationId.
    pub global: [u32; 3],
    /// The number of rules that the invocation had applied before. `None` for the earlier access of
    /// a race, and if the run does not count rules.
    pub step: Option<u64>,
    /// For a data race, the earlier of the two accesses in this run.
    pub earlier: Option<Box<Site>>,
    /// The calls that the invocation is in, the innermost first. Empty for the earlier access of
    /// a race.
    pub calls: Vec<Call>,
}

/// A call that an invocation is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The index of the OpFunctionCall in the module.
    pub instruction: u32,
    /// The id of the calling function.
    pub function: u32,
    /// The label of the calling block.
    pub block: u32,
    /// The source line by OpLine: file, line and column.
    pub line: Option<(String, u32, u32)>,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((file, line, column)) = &self.line {
            write!(f, "{file}:{line}:{column}, ")?;
        }
        let [x, y, z] = self.global;
        write!(f, "in %{}, block %{}, invocation ({x},{y},{z})", self.function, self.block)?;
        self.step.map_or(Ok(()), |step| write!(f, ", step {step}"))
    }
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "undefined[{}]: {} ({}); {}", self.ub.id(), self.what, self.at, self.ub.clause())
    }
}
