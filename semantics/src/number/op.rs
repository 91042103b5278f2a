//! The operations, each one SPIR-V instruction or one function of GLSL.std.450.

use rspirv::spirv;

/// The instruction of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Instruction {
    /// A core instruction, by its opcode.
    Core(u16),
    /// A function of the extended instruction set GLSL.std.450, by its number there.
    Glsl(u32),
}

macro_rules! operations {
    ($($set:ident $instruction:ident $op:ident $doc:literal;)*) => {
        /// An operation on floats and Booleans, as one SPIR-V instruction or GLSL.std.450 function
        /// names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = $doc] $op,)*
        }

        impl Op {
            /// Every operation, in the order of declaration.
            pub const ALL: &'static [Op] = &[$(Op::$op),*];

            /// The instruction's name as SPIR-V prints it: `OpFAdd`, `FMin`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Op::$op => operations!(@name $set $instruction),)*
                }
            }

            /// The opcode, or the number within GLSL.std.450.
            pub const fn instruction(self) -> Instruction {
                match self {
                    $(Op::$op => operations!(@number $set $instruction),)*
                }
            }
        }
    };
    (@name Core $instruction:ident) => { concat!("Op", stringify!($instruction)) };
    (@name Glsl $instruction:ident) => { stringify!($instruction) };
    (@number Core $instruction:ident) => { Instruction::Core(spirv::Op::$instruction as u16) };
    (@number Glsl $instruction:ident) => { Instruction::Glsl(spirv::GlslStd450Op::$instruction as u32) };
}

operations! {
    Core FNegate Negate "OpFNegate.";
    Core FAdd Add "OpFAdd.";
    Core FSub Sub "OpFSub.";
    Core FMul Mul "OpFMul.";
    Core FDiv Div "OpFDiv.";
    Core FMod Mod "OpFMod: x - y·floor(x/y).";
    Core VectorTimesScalar VectorTimesScalar "OpVectorTimesScalar.";
    Core MatrixTimesScalar MatrixTimesScalar "OpMatrixTimesScalar.";
    Core VectorTimesMatrix VectorTimesMatrix "OpVectorTimesMatrix.";
    Core MatrixTimesVector MatrixTimesVector "OpMatrixTimesVector.";
    Core MatrixTimesMatrix MatrixTimesMatrix "OpMatrixTimesMatrix.";
    Core Transpose Transpose "OpTranspose.";
    Core Dot Dot "OpDot.";
    Core FOrdLessThan LessThan "OpFOrdLessThan.";
    Core FOrdLessThanEqual LessThanEqual "OpFOrdLessThanEqual.";
    Core FOrdGreaterThan GreaterThan "OpFOrdGreaterThan.";
    Core FOrdGreaterThanEqual GreaterThanEqual "OpFOrdGreaterThanEqual.";
    Core FOrdEqual Equal "OpFOrdEqual.";
    Core FUnordNotEqual NotEqual "OpFUnordNotEqual.";
    Core LogicalEqual LogicalEqual "OpLogicalEqual.";
    Core LogicalNotEqual LogicalNotEqual "OpLogicalNotEqual.";
    Core LogicalAnd And "OpLogicalAnd.";
    Core LogicalOr Or "OpLogicalOr.";
    Core LogicalNot Not "OpLogicalNot.";
    Core Any Any "OpAny.";
    Core All All "OpAll.";
    Core Select Select "OpSelect.";
    Glsl Round Round "GLSL.std.450 Round.";
    Glsl RoundEven RoundEven "GLSL.std.450 RoundEven.";
    Glsl Trunc Trunc "GLSL.std.450 Trunc.";
    Glsl FAbs Abs "GLSL.std.450 FAbs.";
    Glsl FSign Sign "GLSL.std.450 FSign.";
    Glsl Floor Floor "GLSL.std.450 Floor.";
    Glsl Ceil Ceil "GLSL.std.450 Ceil.";
    Glsl Fract Fract "GLSL.std.450 Fract.";
    Glsl Radians Radians "GLSL.std.450 Radians.";
    Glsl Degrees Degrees "GLSL.std.450 Degrees.";
    Glsl Sin Sin "GLSL.std.450 Sin.";
    Glsl Cos Cos "GLSL.std.450 Cos.";
    Glsl Tan Tan "GLSL.std.450 Tan.";
    Glsl Asin Asin "GLSL.std.450 Asin.";
    Glsl Acos Acos "GLSL.std.450 Acos.";
    Glsl Atan Atan "GLSL.std.450 Atan.";
    Glsl Sinh Sinh "GLSL.std.450 Sinh.";
    Glsl Cosh Cosh "GLSL.std.450 Cosh.";
    Glsl Tanh Tanh "GLSL.std.450 Tanh.";
    Glsl Asinh Asinh "GLSL.std.450 Asinh.";
    Glsl Acosh Acosh "GLSL.std.450 Acosh.";
    Glsl Atanh Atanh "GLSL.std.450 Atanh.";
    Glsl Atan2 Atan2 "GLSL.std.450 Atan2 (y, x).";
    Glsl Pow Pow "GLSL.std.450 Pow.";
    Glsl Exp Exp "GLSL.std.450 Exp.";
    Glsl Log Log "GLSL.std.450 Log.";
    Glsl Exp2 Exp2 "GLSL.std.450 Exp2.";
    Glsl Log2 Log2 "GLSL.std.450 Log2.";
    Glsl Sqrt Sqrt "GLSL.std.450 Sqrt.";
    Glsl InverseSqrt InverseSqrt "GLSL.std.450 InverseSqrt.";
    Glsl Determinant Determinant "GLSL.std.450 Determinant.";
    Glsl MatrixInverse MatrixInverse "GLSL.std.450 MatrixInverse.";
    Glsl FMin Min "GLSL.std.450 FMin.";
    Glsl FMax Max "GLSL.std.450 FMax.";
    Glsl FClamp Clamp "GLSL.std.450 FClamp (x, min, max).";
    Glsl FMix Mix "GLSL.std.450 FMix (x, y, a).";
    Glsl Step Step "GLSL.std.450 Step (edge, x).";
    Glsl SmoothStep SmoothStep "GLSL.std.450 SmoothStep (edge0, edge1, x).";
    Glsl Length Length "GLSL.std.450 Length.";
    Glsl Distance Distance "GLSL.std.450 Distance.";
    Glsl Cross Cross "GLSL.std.450 Cross.";
    Glsl Normalize Normalize "GLSL.std.450 Normalize.";
    Glsl Reflect Reflect "GLSL.std.450 Reflect (I, N).";
}

/// By opcode.
static OF_CORE: [Option<Op>; 256] = {
    let mut table = [None; 256];
    let mut at = 0;
    while at < Op::ALL.len() {
        if let Instruction::Core(opcode) = Op::ALL[at].instruction() {
            table[opcode as usize] = Some(Op::ALL[at]);
        }
        at += 1;
    }
    table
};

/// By number within GLSL.std.450.
static OF_GLSL: [Option<Op>; 128] = {
    let mut table = [None; 128];
    let mut at = 0;
    while at < Op::ALL.len() {
        if let Instruction::Glsl(number) = Op::ALL[at].instruction() {
            table[number as usize] = Some(Op::ALL[at]);
        }
        at += 1;
    }
    table
};

impl Op {
    /// The operation of an instruction, if it is one of these.
    pub fn of(instruction: Instruction) -> Option<Op> {
        match instruction {
            Instruction::Core(opcode) => Op::of_core(opcode),
            Instruction::Glsl(number) => Op::of_glsl(number),
        }
    }

    /// [`Op::of`], with NMin, NMax and NClamp as Min, Max and Clamp. They differ from FMin, FMax
    /// and FClamp for NaN only.
    pub fn of_numbers(instruction: Instruction) -> Option<Op> {
        use spirv::GlslStd450Op::{NClamp, NMax, NMin};
        let alike = [(NMin, Op::Min), (NMax, Op::Max), (NClamp, Op::Clamp)];
        let found = alike.into_iter().find(|&(of, _)| instruction == Instruction::Glsl(of as u32));
        found.map(|(_, op)| op).or_else(|| Op::of(instruction))
    }

    /// The operation of a core opcode, if it is one of these.
    pub fn of_core(opcode: u16) -> Option<Op> {
        OF_CORE.get(usize::from(opcode)).copied().flatten()
    }

    /// The operation of a number within GLSL.std.450, if it is one of these.
    pub fn of_glsl(number: u32) -> Option<Op> {
        OF_GLSL.get(number as usize).copied().flatten()
    }

    /// The operation whose instruction has this name, if there is one.
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The number of operands.
    pub fn arity(self) -> usize {
        use Op::*;
        match self {
            Add | Sub | Mul | Div | Mod | VectorTimesScalar | MatrixTimesScalar | VectorTimesMatrix | MatrixTimesVector
            | MatrixTimesMatrix | Dot | LessThan | LessThanEqual | GreaterThan | GreaterThanEqual | Equal | NotEqual | LogicalEqual
            | LogicalNotEqual | And | Or | Atan2 | Pow | Min | Max | Step | Distance | Cross | Reflect => 2,
            Select | Clamp | Mix | SmoothStep => 3,
            _ => 1,
        }
    }
}
