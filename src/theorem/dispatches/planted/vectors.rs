//! Vectors: dispatches of one invocation with a result computed by hand.

use crate::theorem::Unexpected;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, grid, lockstep};

use super::super::Engines;

/// A dispatch with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its unique name: what it tests.
    pub name: &'static str,
    /// The values of %a, %b, %c and %d.
    pub operands: [u32; 4],
    /// Instructions that compute the word %r from the operands.
    pub code: &'static str,
    /// Functions that the instructions call.
    pub functions: &'static str,
    /// The value of %r, or the id of the undefined behaviour or value.
    pub shows: Result<u32, &'static str>,
}

const fn value(name: &'static str, operands: [u32; 4], code: &'static str, shows: u32) -> Vector {
    Vector { name, operands, code, functions: "", shows: Ok(shows) }
}

/// A function that stores to its variable only if its parameter is not 0, and then loads
/// the variable.
const SOMETIMES: &str = "
    %f = OpFunction %uint None %unary %x = OpFunctionParameter %uint %first = OpLabel %v = OpVariable %local Function
    %is = OpINotEqual %bool %x %c0 OpSelectionMerge %after None OpBranchConditional %is %then %after
    %then = OpLabel OpStore %v %x OpBranch %after
    %after = OpLabel %y = OpLoad %uint %v OpReturnValue %y OpFunctionEnd";

/// The same function with an array element, chosen by an index, in place of the variable.
const SOMETIMES_IN_ARRAY: &str = "
    %f = OpFunction %uint None %unary %x = OpFunctionParameter %uint %first = OpLabel %v = OpVariable %locals Function
    %at = OpBitwiseAnd %uint %x %c0 %is = OpINotEqual %bool %x %c0
    OpSelectionMerge %after None OpBranchConditional %is %then %after
    %then = OpLabel %p = OpAccessChain %local %v %at OpStore %p %x OpBranch %after
    %after = OpLabel %q = OpAccessChain %local %v %at %y = OpLoad %uint %q OpReturnValue %y OpFunctionEnd";

const TWICE: &str = "%before = OpFunctionCall %uint %f %a %r = OpFunctionCall %uint %f %b";

#[rustfmt::skip]
const VECTORS: &[Vector] = &[
    Vector { name: "a variable at its second call", operands: [7, 0, 0, 0], code: TWICE, functions: SOMETIMES, shows: Err("spirv/uninitialised") },
    Vector { name: "an array at its second call", operands: [7, 0, 0, 0], code: TWICE, functions: SOMETIMES_IN_ARRAY, shows: Err("spirv/uninitialised") },
    // 3e9 is below 2^32 and above 2^31.
    Vector {
        name: "ConvertFToS of 3e9", operands: [0x4f32_d05e, 0, 0, 0], functions: "", shows: Err("spirv/conversion-range"),
        code: "%x = OpBitcast %float %a %s = OpConvertFToS %int %x %r = OpBitcast %uint %s",
    },
    // 1.5 + 2.25 = 3.75, 1.5 · 2.25 = 3.375.
    value("FAdd", [0x3fc0_0000, 0x4010_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %z = OpFAdd %float %x %y %r = OpBitcast %uint %z", 0x4070_0000),
    value("FMul", [0x3fc0_0000, 0x4010_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %z = OpFMul %float %x %y %r = OpBitcast %uint %z", 0x4058_0000),
    value("FNegate", [0x4000_0000, 0, 0, 0], "%x = OpBitcast %float %a %z = OpFNegate %float %x %r = OpBitcast %uint %z", 0xc000_0000),
    // 2^32 - 2^16: fifteen ones after the leading one.
    value("ConvertUToF", [0xffff_0000, 0, 0, 0], "%x = OpConvertUToF %float %a %r = OpBitcast %uint %x", 0x4f7f_ff00),
    value("FUnordLessThan of NaN", [0x7fc0_0000, 0x3f80_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %t = OpFUnordLessThan %bool %x %y %r = OpSelect %uint %t %c1 %c0", 1),
    value("FUnordNotEqual of NaN", [0x7fc0_0000, 0x7fc0_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %t = OpFUnordNotEqual %bool %x %y %r = OpSelect %uint %t %c1 %c0", 1),
    value("FOrdEqual of zeros", [0x8000_0000, 0, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %t = OpFOrdEqual %bool %x %y %r = OpSelect %uint %t %c1 %c0", 1),
    value("FOrdLessThanEqual of equals", [0x3f80_0000, 0x3f80_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %t = OpFOrdLessThanEqual %bool %x %y %r = OpSelect %uint %t %c1 %c0", 1),
    value("FUnordLessThanEqual of NaN", [0x7fc0_0000, 0x3f80_0000, 0, 0], "%x = OpBitcast %float %a %y = OpBitcast %float %b %t = OpFUnordLessThanEqual %bool %x %y %r = OpSelect %uint %t %c1 %c0", 1),
    value("BitReverse", [1, 0, 0, 0], "%r = OpBitReverse %uint %a", 0x8000_0000),
    value("BitCount", [0xf0f0_0001, 0, 0, 0], "%r = OpBitCount %uint %a", 9),
    value("FindUMsb", [0x0001_0000, 0, 0, 0], "%r = OpExtInst %uint %glsl FindUMsb %a", 16),
    // All bits of -2 but bit 0 equal its sign bit, so bit 0 is the highest that differs from it.
    value("FindSMsb of -2", [0xffff_fffe, 0, 0, 0], "%x = OpBitcast %int %a %r = OpExtInst %uint %glsl FindSMsb %x", 0),
    value("FindILsb of 0", [0, 0, 0, 0], "%r = OpExtInst %uint %glsl FindILsb %a", 0xffff_ffff),
    value("BitFieldSExtract", [0xf0, 4, 4, 0], "%x = OpBitcast %int %a %y = OpBitFieldSExtract %int %x %b %c %r = OpBitcast %uint %y", 0xffff_ffff),
    value("BitFieldUExtract", [0xabcd, 4, 8, 0], "%r = OpBitFieldUExtract %uint %a %b %c", 0xbc),
    value("BitFieldInsert", [0xffff_ffff, 0, 8, 8], "%r = OpBitFieldInsert %uint %a %b %c %d", 0xffff_00ff),
    // 2^31 · 4 = 2 · 2^32.
    value("UMulExtended, high", [0x8000_0000, 4, 0, 0], "%p = OpUMulExtended %pair %a %b %r = OpCompositeExtract %uint %p 1", 2),
    // -1 · -1 = 1.
    value("SMulExtended, high", [0xffff_ffff, 0xffff_ffff, 0, 0], "%p = OpSMulExtended %pair %a %b %r = OpCompositeExtract %uint %p 1", 0),
    value("IAddCarry, carry", [0xffff_ffff, 1, 0, 0], "%p = OpIAddCarry %pair %a %b %r = OpCompositeExtract %uint %p 1", 1),
    value("ISubBorrow, borrow", [0, 1, 0, 0], "%p = OpISubBorrow %pair %a %b %r = OpCompositeExtract %uint %p 1", 1),
    value("SClamp of -5 to -3…3", [0xffff_fffb, 0xffff_fffd, 3, 0], "%x = OpBitcast %int %a %l = OpBitcast %int %b %h = OpBitcast %int %c %y = OpExtInst %int %glsl SClamp %x %l %h %r = OpBitcast %uint %y", 0xffff_fffd),
    value("SSign of -7", [0xffff_fff9, 0, 0, 0], "%x = OpBitcast %int %a %y = OpExtInst %int %glsl SSign %x %r = OpBitcast %uint %y", 0xffff_ffff),
    value("SAbs of the least", [0x8000_0000, 0, 0, 0], "%x = OpBitcast %int %a %y = OpExtInst %int %glsl SAbs %x %r = OpBitcast %uint %y", 0x8000_0000),
    value("SRem", [7, 4, 0, 0], "%x = OpBitcast %int %a %y = OpBitcast %int %b %z = OpSRem %int %x %y %r = OpBitcast %uint %z", 3),
    value("SMod", [9, 5, 0, 0], "%x = OpBitcast %int %a %y = OpBitcast %int %b %z = OpSMod %int %x %y %r = OpBitcast %uint %z", 4),
];

/// All vectors.
pub fn all() -> impl Iterator<Item = &'static Vector> {
    VECTORS.iter()
}

impl Vector {
    fn text(&self) -> String {
        format!(
            "OpCapability Shader OpExtension \"SPV_KHR_storage_buffer_storage_class\"
            %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main \"main\" OpExecutionMode %main LocalSize 1 1 1
            OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
            OpDecorate %in DescriptorSet 0 OpDecorate %in Binding 0 OpDecorate %out DescriptorSet 0 OpDecorate %out Binding 1
            %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
            %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32
            %pair = OpTypeStruct %uint %uint %unary = OpTypeFunction %uint %uint
            %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3
            %two = OpTypeArray %uint %c2 %locals = OpTypePointer Function %two %local = OpTypePointer Function %uint
            %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
            %pword = OpTypePointer StorageBuffer %uint
            %in = OpVariable %pblock StorageBuffer %out = OpVariable %pblock StorageBuffer
            {}
            %main = OpFunction %void None %fn %entry = OpLabel
            %pa = OpAccessChain %pword %in %c0 %c0 %a = OpLoad %uint %pa
            %pb = OpAccessChain %pword %in %c0 %c1 %b = OpLoad %uint %pb
            %pc = OpAccessChain %pword %in %c0 %c2 %c = OpLoad %uint %pc
            %pd = OpAccessChain %pword %in %c0 %c3 %d = OpLoad %uint %pd
            {}
            %pr = OpAccessChain %pword %out %c0 %c0 OpStore %pr %r
            OpReturn OpFunctionEnd",
            self.functions, self.code
        )
    }

    /// The results of the relation and of the machine.
    ///
    /// The error says why the module does not load or compile.
    pub fn shown(&self, engines: &Engines) -> Result<[String; 2], Unexpected> {
        let error = |e: &dyn std::fmt::Display| Unexpected::from(format!("{}: {e}", self.name));
        let words = assemble(&self.text(), Options::default()).map_err(|e| error(&e))?;
        let module = Module::load(&words).map_err(|e| error(&e))?;
        let operands: Vec<u8> = self.operands.iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffers = [Buffer { set: 0, binding: 0, bytes: operands }, Buffer { set: 0, binding: 1, bytes: vec![0; 4] }];
        let limits = Limits { instructions: 10_000, ..Limits::default() };
        let dispatch = Dispatch { entry: "main", groups: [1, 1, 1], resources: Resources::of_buffers(&buffers), limits };
        let relation = grid::run(&module, &dispatch, &engines.schedule, &engines.relation, &mut ()).map_err(|e| error(&e))?;
        let mut program = lockstep::Program::compile(&module, "main").map_err(|e| error(&e))?;
        if let Some(bug) = &engines.planted {
            program = program.planted(|parts| bug(parts));
        }
        Ok([relation, program.run(&dispatch, 1)].map(|outcome| word_of(&outcome)))
    }

    /// The required result.
    pub fn expected(&self) -> String {
        self.shows.map_or_else(str::to_string, |word| format!("{word:#010x}"))
    }

    /// Checks that both engines show the required result. The error has their results.
    pub fn judge(&self, engines: &Engines) -> Result<(), Unexpected> {
        let ([relation, machine], expected) = (self.shown(engines)?, self.expected());
        let difference = match (relation == expected, machine == expected) {
            (true, true) => return Ok(()),
            (false, false) if relation == machine => format!("both show {relation}"),
            (false, false) => format!("the relation shows {relation} and the machine {machine}"),
            (false, true) => format!("the relation shows {relation}"),
            (true, false) => format!("the machine shows {machine}"),
        };
        Err(format!("{}: {difference}, where {expected} is due", self.name).into())
    }
}

/// The word in the output buffer, or the id of the undefined behaviour or value.
fn word_of(outcome: &Outcome<Observation>) -> String {
    match outcome {
        Outcome::Observed(observation) => {
            let out = observation.buffers.iter().find(|b| b.binding == 1);
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
            match out {
                Some(out) if !out.undefined.is_empty() => out.undefined[0].kind.to_string(),
                Some(out) => format!("{:#010x}", word(&out.bytes)),
                None => "no output".to_string(),
            }
        }
        Outcome::Undefined(undefined) => undefined.ub.id().to_string(),
        other => other.name().to_string(),
    }
}
