//! Rules of WSL's standard library: seed 004 "Standard library".

macro_rules! wsl_library_rules {
    ($then:ident $($rows:tt)*) => {
        $then! { $($rows)*
            // Built-in types.
            WslLibScalar "wsl/lib-scalar" Library "004 Built-in Scalars" "wsl::validation::library::types::scalar" "void, bool, uint, int and float are types";
            WslLibAtomic "wsl/lib-atomic" Library "004 Built-in Atomic Types" "wsl::validation::library::types::atomic" "atomic_int and atomic_uint are types";
            WslLibVector "wsl/lib-vector" Library "004 Built-in aggregate types" "wsl::validation::library::types::vector" "vector<S, N>, written SN too, is a type for each scalar S and N from 2 to 4";
            WslLibMatrix "wsl/lib-matrix" Library "004 Built-in aggregate types" "wsl::validation::library::types::matrix" "matrix<S, N, M>, written SNxM too, is a type of N columns and M rows for S bool or float, N and M from 2 to 4";
            WslLibSampler "wsl/lib-sampler" Library "004 Samplers" "wsl::validation::library::types::sampler" "sampler is a type";
            WslLibTexture "wsl/lib-texture" Library "004 Textures" "wsl::validation::library::types::texture" "each name of a texture, followed by <T>, is a type for T uint, int, float or a vector of them; of depth textures for float alone";
            WslLibTextureDefault "wsl/lib-texture-default" Library "004 Textures" "wsl::validation::library::types::texture_default" "the name of a texture without <T> is the type for float4, of depth textures for float";

            // Built-in functions, by the seed's sections.
            WslLibIntegerArithmetic "wsl/lib-integer-arithmetic" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_arithmetic" "operator+, operator-, operator* and mul : (T, T) → T for T int or uint";
            WslLibIntegerNegation "wsl/lib-integer-negation" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_negation" "operator- : (int) → int";
            WslLibIntegerStep "wsl/lib-integer-step" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_step" "operator++ and operator-- : (T) → T for T int or uint";
            WslLibIntegerDivision "wsl/lib-integer-division" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_division" "operator/ and operator% : (T, T) → T for T int or uint";
            WslLibIntegerAbs "wsl/lib-integer-abs" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_abs" "abs : (T) → T for T int, uint or a vector of them";
            WslLibIntegerSign "wsl/lib-integer-sign" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_sign" "sign : (T) → int for T int or uint, and of vectors of them a vector of int";
            WslLibIntegerMinMax "wsl/lib-integer-min-max" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_min_max" "min and max : (T, T) → T for T int, uint or a vector of them";
            WslLibIntegerClamp "wsl/lib-integer-clamp" Library "004 Integer arithmetic" "wsl::validation::library::integer::integer_clamp" "clamp : (T, T, T) → T for T int, uint or a vector of them";
            WslLibBitwise "wsl/lib-bitwise" Library "004 Bit manipulation" "wsl::validation::library::bits::bitwise" "operator&, operator| and operator^ : (T, T) → T for T bool, int or uint";
            WslLibComplement "wsl/lib-complement" Library "004 Bit manipulation" "wsl::validation::library::bits::complement" "operator~ : (T) → T for T bool, int or uint";
            WslLibNot "wsl/lib-not" Library "004 Bit manipulation; WSL-A9" "wsl::validation::library::bits::not" "operator! : (bool) → bool";
            WslLibShift "wsl/lib-shift" Library "004 Bit manipulation" "wsl::validation::library::bits::shift" "operator<< and operator>> : (T, uint) → T for T int or uint";
            WslLibAllAny "wsl/lib-all-any" Library "004 Bit manipulation; WSL-E7" "wsl::validation::library::bits::all_any" "all and any : (T) → bool for each scalar, vector and matrix T";
            WslLibBitCount "wsl/lib-bit-count" Library "004 Bit manipulation; WSL-E1" "wsl::validation::library::bits::bit_count" "countbits, reversebits, firstbithigh and firstbitlow : (T) → T for T uint or a vector of it";
            WslLibFloatArithmetic "wsl/lib-float-arithmetic" Library "004 Floating point arithmetic" "wsl::validation::library::float::float_arithmetic" "operator+, operator-, operator* and operator/ : (float, float) → float";
            WslLibFloatNegation "wsl/lib-float-negation" Library "004 Floating point arithmetic" "wsl::validation::library::float::float_negation" "operator- : (float) → float";
            WslLibFloatUnary "wsl/lib-float-unary" Library "004 Floating point arithmetic; WSL-E7" "wsl::validation::library::float::float_unary" "cos and the other functions of one number : (T) → T for T float, a vector or a matrix of it";
            WslLibFloatBinary "wsl/lib-float-binary" Library "004 Floating point arithmetic; WSL-E2, WSL-E3" "wsl::validation::library::float::float_binary" "min, max, pow, step, ldexp, fmod and atan2 : (T, T) → T for T float, a vector or a matrix of it";
            WslLibFloatTernary "wsl/lib-float-ternary" Library "004 Floating point arithmetic" "wsl::validation::library::float::float_ternary" "clamp, smoothstep, lerp and mad : (T, T, T) → T for T float, a vector or a matrix of it";
            WslLibFloatClass "wsl/lib-float-class" Library "004 Floating point arithmetic" "wsl::validation::library::float::float_class" "isfinite, isinf and isnan : (float) → bool, and of vectors and matrices of float those of bool";
            WslLibModf "wsl/lib-modf" Library "004 Floating point arithmetic; WSL-E5" "wsl::validation::library::float::modf" "modf : (T, T* space) → T for T float, a vector or a matrix of it, and each space but constant";
            WslLibSincos "wsl/lib-sincos" Library "004 Floating point arithmetic; WSL-E7" "wsl::validation::library::float::sincos" "sincos : (T, T* space, T* space) → void for T float, a vector or a matrix of it, and each space but constant";
            WslLibDerivative "wsl/lib-derivative" Library "004 Floating point arithmetic" "wsl::validation::library::float::derivative" "ddx, ddy and fwidth, each also _coarse and _fine : (T) → T for T float, a vector or a matrix of it, in fragment shaders";
            WslLibInterlocked "wsl/lib-interlocked" Library "004 Fences and atomic operations" "wsl::validation::library::atomic::interlocked" "InterlockedAdd, And, Or, Xor, Min, Max and Exchange : (atomic_T* device or threadgroup, T, T* not constant) → void for T int or uint";
            WslLibCompareExchange "wsl/lib-compare-exchange" Library "004 Fences and atomic operations" "wsl::validation::library::atomic::compare_exchange" "InterlockedCompareExchange : (atomic_T* device or threadgroup, T, T, T* not constant) → void for T int or uint";
            WslLibBarrier "wsl/lib-barrier" Library "004 Fences and atomic operations" "wsl::validation::library::atomic::barrier" "Device-, Group- and AllMemoryBarrierWithGroupSync : () → void, in compute shaders";
            WslLibDefault "wsl/lib-default" Library "004 Cast operators; WSL-C19" "wsl::validation::library::cast::default" "T : () → T for each scalar, vector, matrix, atomic, enum, and struct T that contains no sampler and no texture";
            WslLibIdentity "wsl/lib-identity" Library "004 Cast operators" "wsl::validation::library::cast::identity" "T : (T) → T for each scalar, vector, matrix, atomic, enum and struct T";
            WslLibConversion "wsl/lib-conversion" Library "004 Cast operators" "wsl::validation::library::cast::conversion" "S : (R) → S for each two scalars";
            WslLibEnumCast "wsl/lib-enum-cast" Library "004 Cast operators" "wsl::validation::library::cast::enum_cast" "E : (B) → E and B : (E) → B for each enum E and its base type B";
            WslLibVectorConstructor "wsl/lib-vector-constructor" Library "004 Cast operators" "wsl::validation::library::cast::vector_constructor" "SN : scalars S and shorter vectors of S with N elements together → SN";
            WslLibMatrixColumns "wsl/lib-matrix-columns" Library "004 Cast operators; WSL-C21" "wsl::validation::library::cast::matrix_columns" "SNxM : N times SM → SNxM";
            WslLibMatrixElements "wsl/lib-matrix-elements" Library "004 Cast operators; WSL-C21" "wsl::validation::library::cast::matrix_elements" "SNxM : N · M times S → SNxM";
            WslLibReinterpret "wsl/lib-reinterpret" Library "004 Cast operators" "wsl::validation::library::cast::reinterpret" "asint, asuint and asfloat : (T) → int, uint or float for each of these T, and of vectors of them vectors";
            WslLibEquality "wsl/lib-equality" Library "004 Comparison operators" "wsl::validation::library::comparison::equality" "operator== and operator!= : (T, T) → bool for each scalar T";
            WslLibOrder "wsl/lib-order" Library "004 Comparison operators" "wsl::validation::library::comparison::order" "operator<, <=, > and >= : (T, T) → bool for T uint, int or float";
            WslLibEnumEquality "wsl/lib-enum-equality" Library "004 Comparison operators" "wsl::validation::library::comparison::enum_equality" "operator== and operator!= : (E, E) → bool for each enum E";
            WslLibElementwiseComparison "wsl/lib-elementwise-comparison" Library "004 Comparison operators; WSL-E6" "wsl::validation::library::comparison::elementwise_comparison" "the comparisons of vectors and matrices, a scalar on one side standing for each element, → the vector or matrix of bool";
            WslLibElementwiseArithmetic "wsl/lib-elementwise-arithmetic" Library "004 Vector and matrix operations" "wsl::validation::library::composite::elementwise_arithmetic" "operator+, -, * and / of vectors of numbers and float matrices, a scalar on one side standing for each element";
            WslLibElementwiseSign "wsl/lib-elementwise-sign" Library "004 Vector and matrix operations; WSL-A9" "wsl::validation::library::composite::elementwise_sign" "operator+ : (T) → T for vectors of numbers and float matrices, operator- for those of int and float";
            WslLibDot "wsl/lib-dot" Library "004 Vector and matrix operations; WSL-E7" "wsl::validation::library::composite::dot" "dot : (T, T) → the scalar of T, for T uint, int, float or a vector of them";
            WslLibMul "wsl/lib-mul" Library "004 Vector and matrix operations; WSL-C21" "wsl::validation::library::composite::mul" "mul : as dot; float with a matrix; floatM with floatNxM → floatN; floatNxM with floatN → floatM; floatNxM with floatOxN → floatOxM";
            WslLibGeometry "wsl/lib-geometry" Library "004 Vector and matrix operations; WSL-E7" "wsl::validation::library::composite::geometry" "length, normalize, distance, reflect, refract and faceforward of float vectors, cross of float3";
            WslLibLighting "wsl/lib-lighting" Library "004 Vector and matrix operations; WSL-E7" "wsl::validation::library::composite::lighting" "dst : (float4, float4) → float4, lit : (float, float, float) → float4";
            WslLibTranspose "wsl/lib-transpose" Library "004 Vector and matrix operations; WSL-E7" "wsl::validation::library::composite::transpose" "transpose : (SNxM) → SMxN";
            WslLibDeterminant "wsl/lib-determinant" Library "004 Vector and matrix operations; WSL-E7" "wsl::validation::library::composite::determinant" "determinant : (floatNxN) → float";
            WslLibSwizzle "wsl/lib-swizzle" Library "004 Vector and matrix operations" "wsl::validation::library::access::swizzle" "operator. and one to four letters that the vector has : (SN) → S for one letter, else the vector of as many S";
            WslLibSwizzleSetter "wsl/lib-swizzle-setter" Library "004 Vector and matrix operations" "wsl::validation::library::access::swizzle_setter" "operator., distinct letters that the vector has, = : (SN, what the getter gives) → SN";
            WslLibVectorIndex "wsl/lib-vector-index" Library "004 Vector and matrix operations" "wsl::validation::library::access::vector_index" "operator[] : (SN, uint) → S and operator[]= : (SN, uint, S) → SN";
            WslLibMatrixIndex "wsl/lib-matrix-index" Library "004 Vector and matrix operations; WSL-C21" "wsl::validation::library::access::matrix_index" "operator[] : (SNxM, uint) → SM and operator[]= : (SNxM, uint, SM) → SNxM";
            WslLibVectorLength "wsl/lib-vector-length" Library "004 Vector and matrix operations" "wsl::validation::library::access::vector_length" "operator.length : (SN) → uint";
            WslLibEnumValue "wsl/lib-enum-value" Library "004 Cast operators" "wsl::validation::library::access::enum_value" "operator.value : (E) → the base type of the enum E";
            WslLibArrayIndex "wsl/lib-array-index" Library "004 Generated functions" "wsl::validation::library::access::array_index" "operator&[] : (T[n]* space, uint) → T* space, operator[] : (T[n], uint) → T and operator[]= : (T[n], uint, T) → T[n]";
            WslLibArrayLength "wsl/lib-array-length" Library "004 Typing expressions, function call 3; WSL-C8" "wsl::validation::library::access::array_length" "operator.length : (T) → uint for each array and array reference T";
            WslLibSample "wsl/lib-sample" Library "004 Sampler and texture operations" "wsl::validation::library::texture::sample" "Sample : (texture, sampler, location) and SampleBias : (texture, sampler, location, float), with an offset last unless it is a cube, → the texture's element, in fragment shaders";
            WslLibSampleExplicit "wsl/lib-sample-explicit" Library "004 Sampler and texture operations" "wsl::validation::library::texture::sample_explicit" "SampleGrad : (texture, sampler, location, gradient, gradient) and SampleLevel : (texture, sampler, location, float), with an offset last unless it is a cube, → the texture's element";
            WslLibSampleCompare "wsl/lib-sample-compare" Library "004 Sampler and texture operations" "wsl::validation::library::texture::sample_compare" "SampleCmp, in fragment shaders, and SampleCmpLevelZero : (depth texture, sampler, location, float), with an offset last unless it is a cube, → float";
            WslLibGather "wsl/lib-gather" Library "004 Sampler and texture operations" "wsl::validation::library::texture::gather" "Gather and Gather- Red, Green, Blue and Alpha : (texture of two dimensions or cube, sampler, location), with an offset last unless it is a cube, → 4 scalars";
            WslLibGatherCompare "wsl/lib-gather-compare" Library "004 Sampler and texture operations" "wsl::validation::library::texture::gather_compare" "GatherCmp : (depth texture, sampler, location, float), with an offset last unless it is a cube, → float4";
            WslLibLoad "wsl/lib-load" Library "004 Sampler and texture operations" "wsl::validation::library::texture::load" "Load : (texture, texel and level), with an offset last, and (RW texture, texel), not of cubes, → the texture's element";
            WslLibStore "wsl/lib-store" Library "004 Sampler and texture operations" "wsl::validation::library::texture::store" "Store : (RW texture, element, texel) → void";
            WslLibDimensions "wsl/lib-dimensions" Library "004 Sampler and texture operations" "wsl::validation::library::texture::dimensions" "GetDimensions : (texture, pointers for the sizes) and (sampled texture, level, pointers for the sizes and the number of levels) → void, the pointers all to uint or all to float, not constant";
        }
    };
}
