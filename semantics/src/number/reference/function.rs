//! The functions of scalars that the reference knows, by their instruction.

use super::super::Instruction;
use rspirv::spirv;

macro_rules! functions {
    ($($set:ident $name:ident $arity:literal;)*) => {
        /// A function of one to three floats, named as its instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function {
            $($name,)*
        }

        /// Every function of scalars with a reference: its instruction, its name in SPIR-V without
        /// `Op`, and how many operands it takes.
        pub const FUNCTIONS: &[(Instruction, &str, usize)] = &[
            $((functions!(@number $set $name), stringify!($name), $arity),)*
        ];

        impl Function {
            /// The function that the instruction stands for, if it is one of these.
            #[inline]
            pub(super) fn of(instruction: Instruction) -> Option<Function> {
                $(if instruction == functions!(@number $set $name) {
                    return Some(Function::$name);
                })*
                None
            }

            /// The number of operands.
            #[inline]
            pub(super) fn arity(self) -> usize {
                match self {
                    $(Function::$name => $arity,)*
                }
            }
        }
    };
    (@number Core $name:ident) => { Instruction::Core(spirv::Op::$name as u16) };
    (@number Glsl $name:ident) => { Instruction::Glsl(spirv::GlslStd450Op::$name as u32) };
}

functions! {
    Core FNegate 1;
    Core FAdd 2;
    Core FSub 2;
    Core FMul 2;
    Core FDiv 2;
    Core FRem 2;
    Core FMod 2;
    Glsl Round 1;
    Glsl RoundEven 1;
    Glsl Trunc 1;
    Glsl FAbs 1;
    Glsl FSign 1;
    Glsl Floor 1;
    Glsl Ceil 1;
    Glsl Fract 1;
    Glsl Radians 1;
    Glsl Degrees 1;
    Glsl Sin 1;
    Glsl Cos 1;
    Glsl Tan 1;
    Glsl Asin 1;
    Glsl Acos 1;
    Glsl Atan 1;
    Glsl Sinh 1;
    Glsl Cosh 1;
    Glsl Tanh 1;
    Glsl Asinh 1;
    Glsl Acosh 1;
    Glsl Atanh 1;
    Glsl Atan2 2;
    Glsl Pow 2;
    Glsl Exp 1;
    Glsl Log 1;
    Glsl Exp2 1;
    Glsl Log2 1;
    Glsl Sqrt 1;
    Glsl InverseSqrt 1;
    Glsl FMin 2;
    Glsl FMax 2;
    Glsl FClamp 3;
    Glsl NMin 2;
    Glsl NMax 2;
    Glsl NClamp 3;
    Glsl FMix 3;
    Glsl Step 2;
    Glsl SmoothStep 3;
    Glsl Fma 3;
    Glsl Ldexp 2;
}
