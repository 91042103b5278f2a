//! The rows of the mapping: each cites a section of seed 003, or a todo there that it fills.
//!
//! Every instruction that is emitted belongs to a row, so that a mistake can be planted by naming
//! one ([`super::planted`]).

/// Declares the rows: name, section of seed 003, statement.
macro_rules! rows {
    ($($name:ident $section:literal $statement:literal;)*) => {
        /// A row of the mapping.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the statement says it")]
        pub enum Row { $($name,)* }

        impl Row {
            /// Every row.
            pub const ALL: &[Row] = &[$(Row::$name,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Row::$name => stringify!($name),)* }
            }

            /// The section of seed 003 that the row belongs to.
            pub fn section(self) -> &'static str {
                match self { $(Row::$name => $section,)* }
            }

            /// What the row says.
            pub fn statement(self) -> &'static str {
                match self { $(Row::$name => $statement,)* }
            }
        }
    };
}

rows! {
    Header "General approach" "capabilities, extensions, the memory model, entry points and their modes";
    ScalarType "Normal scalar types" "bool, int, uint and float are OpTypeBool, OpTypeInt and OpTypeFloat of 32 bits";
    VectorType "Vectors and matrices" "a vector is OpTypeVector";
    MatrixType "Vectors and matrices" "a float matrix of N columns is OpTypeMatrix of N columns; nothing is transposed";
    BoolMatrixType "Vectors and matrices" "a bool matrix is an array of bool vectors";
    StructType "Structs" "a structure is OpTypeStruct; in a buffer it is another one, with offsets";
    ArrayType "Variables and resources: Definition" "an array is OpTypeArray";
    BufferType "Buffers" "an array reference is a block of one runtime array, in storage class StorageBuffer";
    BufferLayout "Buffers" "offsets and strides are those of WSL's memory";
    BufferReadOnly "Storage class" "an array reference in constant is NonWritable";
    BufferBinding "Variables and resources: Definition" "a register space is a descriptor set, and bindings of a set are dense";
    BufferLoad "Buffers" "what is loaded of a buffer gets the type without layout, member by member";
    BufferStore "Buffers" "what is stored in a buffer gets the type with layout, member by member";
    BufferBool "Buffers" "a bool in a buffer is a uint: not 0 is true, and true is stored as 1";
    Threadgroup "Storage class" "a threadgroup variable is a variable of storage class Workgroup";
    ThreadgroupZero "Storage class" "one invocation stores default values, then the group waits";
    Local "Storage class" "a local variable is in Function; one whose address leaves its function is Private";
    LocalDefault "Variables and resources: Definition" "a declaration without initialiser stores the default value";
    LocalInitial "Variables and resources: Definition" "a declaration stores its initialiser";
    BuiltIn "Interface variables" "a semantic is a variable of storage class Input, decorated BuiltIn";
    Load "Function parameter" "a left-value is loaded";
    Store "Function parameter" "an assignment is a store";
    Constant "Expressions" "a literal is a constant";
    Arithmetic "Arithmetic operators" "the operators of the table on integers and floats";
    DivideGuard "Arithmetic operators" "a divisor of 0, or -1 under the least int, is replaced by 1";
    Remainder "Arithmetic operators" "a % b of ints is a - (a / b) * b";
    Bitwise "Bitwise operators" "the operators of the table";
    ShiftAmount "Bitwise operators" "the amount of a shift is taken modulo 32";
    Comparison "Comparison operators" "the operators of the table; != of floats is OpFUnordNotEqual";
    Logic "Boolean math operators" "&& and || evaluate their right side only where it decides";
    Conditional "Boolean math operators" "?: evaluates one of its sides";
    Unary "Unary operators" "!, ~ and -; + is nothing";
    Broadcast "Arithmetic operators" "a scalar beside a vector or matrix stands for each element";
    Cast "Casts" "the cells of the table";
    CastGuard "Casts" "a float that no integer of the type holds is replaced by 0";
    Reinterpret "Casts" "asint, asuint and asfloat are OpBitcast";
    EnumValid "User-defined types" "an enum is its base type; a number that no element has becomes the first element";
    Construct "Casts" "constructors are OpCompositeConstruct";
    IndexClamp "Indexing operator" "an index out of bounds becomes the last one";
    VectorIndex "Indexing operator" "an element of a vector is read and written by its clamped index";
    MatrixIndex "Indexing operator" "a column of a matrix is selected by comparing the index";
    ValueIndex "Indexing operator" "an element of an array that has no address is taken of a copy";
    ReferenceLength "Buffers" "the length of an array reference is OpArrayLength or a constant";
    Access "Indexing operator" "fields and elements of what has an address are OpAccessChain";
    Swizzle "Indexing operator" "letters are OpCompositeExtract or OpVectorShuffle";
    SwizzleSet "Indexing operator" "assigning to letters inserts into the whole vector";
    Field "Structs" "a field of a value is OpCompositeExtract or OpCompositeInsert";
    If "Control flows" "if is a selection with its merge block";
    Loop "Control flows" "a loop has a header, a continue target and a merge block";
    Switch "Control flows" "switch is OpSwitch with its merge block";
    Fallthrough "Control flows" "fallthrough branches to the next case; from inside an if it stores its number";
    Jump "Control flows" "break and continue branch to the merge block and the continue target";
    Return "Control flows" "return is OpReturn or OpReturnValue";
    Function "Functions" "each function that the entry point reaches is emitted, for each object that it is given by address";
    Call "Function parameter" "arguments are stored in variables, whose pointers are passed";
    Extreme "Intrinsic functions" "min, max and clamp";
    Magnitude "Intrinsic functions" "abs and sign";
    Bits "Intrinsic functions" "countbits, reversebits, firstbithigh, firstbitlow";
    AllAny "Intrinsic functions" "all and any";
    FloatFunction "Intrinsic functions" "float functions are those of GLSL.std.450";
    FloatGuard "Intrinsic functions" "an argument for which a float function is undefined is replaced";
    FloatFormula "Intrinsic functions" "step, lerp, smoothstep, mad, ldexp and rcp are their formulas";
    Approximate "Intrinsic functions" "log10 is log2 times the logarithm of 2, within the bounds of the profile";
    FloatTest "Intrinsic functions" "isnan, isinf, isfinite";
    Product "Intrinsic functions" "dot and mul are products and sums from the left";
    Geometry "Intrinsic functions" "length, normalize, distance, cross, reflect, refract, faceforward, dst, lit";
    Transpose "Intrinsic functions" "transpose and determinant";
    StoredResult "Intrinsic functions" "modf and sincos store through their pointers";
    TextureType "Textures" "a texture is OpTypeImage; of one dimension it has a height of 1";
    StorageFormat "Textures" "the format of a texture that is written is that of the image that is bound; of depths it is R32 or R16";
    SamplerBinding "Samplers" "a sampler has a binding for each kind of use: to filter, to choose integers, to compare depths";
    Sample "Intrinsic functions" "Sample, SampleBias, SampleGrad and SampleLevel are OpImageSample";
    SampleCompare "Intrinsic functions" "SampleCmp and SampleCmpLevelZero are OpImageSampleDref";
    TexelOffset "Intrinsic functions" "an offset is ConstOffset; one that is no constant chooses among those from -8 to 7";
    Gather "Intrinsic functions" "Gather functions are OpImageGather; a component that the elements have not is the first one";
    GatherCompare "Intrinsic functions" "GatherCmp is OpImageDrefGather";
    TexelComponents "Intrinsic functions" "of the four components those that the elements have are taken";
    TexelClamp "Intrinsic functions" "coordinates, layer and level of a load are brought within the texture";
    TexelLoad "Intrinsic functions" "Load is OpImageFetch or OpImageRead";
    TexelStore "Intrinsic functions" "Store is OpImageWrite where there is a texel";
    TexelConvert "Intrinsic functions" "what is stored is brought within what the format holds";
    Dimensions "Intrinsic functions" "GetDimensions stores what OpImageQuery tells, zeros of a level that is not there";
    Atomic "Intrinsic functions" "Interlocked functions are OpAtomic, relaxed; the old value is stored";
    Barrier "Intrinsic functions" "barriers are OpControlBarrier of the group";
    Location "Interface variables" "each column of attribute(n) is a variable at a location of its own";
    InterfaceBool "Interface variables" "a bool between stages is a uint: not 0 is true, and true is 1";
    Interpolation "Structs" "nointerpolation is Flat, and so is what holds no floats; noperspective is NoPerspective, centroid Centroid, sample Sample";
    LeftOver "Interface variables" "what a fragment stage takes and no vertex stage gives is zeros";
    Position "Interface variables" "SV_Position is Position, with y downwards and z from 0 to w";
    Depth "Interface variables" "SV_Depth is FragDepth, within 0 and 1, and replaces the depth";
    Coverage "Interface variables" "SV_Coverage is the first word of SampleMask; SV_InnerCoverage is 0";
    Target "Interface variables" "SV_Target n is the output variable at location n";
    Discard "Control flows" "discard is OpKill";
    Derivative "Intrinsic functions" "ddx, ddy and fwidth are OpDPdx, OpDPdy and OpFwidth, coarse and fine ones too";
}
