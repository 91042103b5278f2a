//! The grammar of SPIR-V instructions: rspirv's tables, indexed by opcode and by name, and a walker
//! over the operands of an instruction.
//!
//! The walker is generic over [`Operands`]. The word decoder and the disassembler read operands
//! from words, and the assembler reads them from text. The walker says which operand comes next. An
//! enumerant may have operands of its own: `Decoration Location` takes a number. The set bits of a
//! mask have theirs in ascending bit order. OpExtInst takes the operands of the extended
//! instruction, and OpSpecConstantOp those of its opcode.

use std::sync::LazyLock;

use rspirv::binary::Disassemble as _;
use rspirv::dr::Operand;
pub use rspirv::grammar::OperandKind;
use rspirv::grammar::{ExtendedInstruction, INSTRUCTION_TABLE, Instruction, InstructionTable, LogicalOperand, OperandQuantifier};
pub use rspirv::spirv::Op;
use rspirv::spirv::{self as s};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The grammar of one instruction.
pub type CoreInstruction = Instruction<'static>;
/// The grammar of one instruction of an extended set.
pub type SetInstruction = ExtendedInstruction<'static>;

/// An enumerant: a named value of an operand, and the operands that follow it.
#[derive(Debug)]
pub struct Enumerant {
    /// The name, such as `Fragment`.
    pub name: String,
    /// The value; for a mask, one bit or 0.
    pub value: u32,
    /// The operands that follow this enumerant.
    pub parameters: Vec<LogicalOperand>,
}

/// All enumerants of one operand kind.
#[derive(Debug)]
pub struct Enumeration {
    /// The name of the operand kind in messages, such as `StorageClass`.
    pub name: &'static str,
    /// Whether values are bit masks. In text, `|` joins the enumerants of a mask.
    pub mask: bool,
    enumerants: Vec<Enumerant>,
    by_name: FxHashMap<String, usize>,
    alias: fn(&str) -> Option<u32>,
}

impl Enumeration {
    /// The enumerant with that value. In a mask the value is a single bit, or 0.
    pub fn by_value(&self, value: u32) -> Option<&Enumerant> {
        // The small values of most enumerations have no gaps.
        if let Some(enumerant) = self.enumerants.get(value as usize)
            && enumerant.value == value
        {
            return Some(enumerant);
        }
        self.enumerants.binary_search_by_key(&value, |e| e.value).ok().map(|i| &self.enumerants[i])
    }

    /// The value of an enumerant, by its name or an older name.
    pub fn by_name(&self, name: &str) -> Option<u32> {
        match self.by_name.get(name) {
            Some(&i) => Some(self.enumerants[i].value),
            None if self.mask && name == "None" => Some(0),
            None => (self.alias)(name),
        }
    }

    /// Whether every bit of a mask, or the value itself, has a name.
    pub fn knows(&self, value: u32) -> bool {
        if self.mask { bits(value).all(|b| self.by_value(b).is_some()) } else { self.by_value(value).is_some() }
    }

    /// The text of a value, such as `Fragment`, `Volatile|Aligned` or `None`. Returns `None` if a
    /// part of the value has no name.
    pub fn text(&self, value: u32) -> Option<String> {
        if !self.mask {
            return self.by_value(value).map(|e| e.name.clone());
        }
        if value == 0 {
            return Some("None".to_string());
        }
        let names: Option<Vec<&str>> = bits(value).map(|b| self.by_value(b).map(|e| e.name.as_str())).collect();
        names.map(|n| n.join("|"))
    }
}

/// The set bits of a mask, lowest first, each as a value.
pub fn bits(mask: u32) -> impl Iterator<Item = u32> {
    let mut remaining = mask;
    std::iter::from_fn(move || {
        let lowest = remaining & remaining.wrapping_neg();
        remaining ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

macro_rules! enumerations {
    (values: $($value:ident)*; masks: $($mask:ident)*) => {
        /// The index of an operand kind among the enumerations.
        fn enumeration_index(kind: OperandKind) -> Option<usize> {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Index { $($value,)* $($mask,)* }
            match kind {
                $(OperandKind::$value => Some(Index::$value as usize),)*
                $(OperandKind::$mask => Some(Index::$mask as usize),)*
                _ => None,
            }
        }

        fn enumerations() -> Vec<Enumeration> {
            vec![
                $(values(
                    stringify!($value),
                    |v| s::$value::from_u32(v).map(|e| (format!("{e:?}"), Operand::$value(e).additional_operands())),
                    |name| name.parse::<s::$value>().ok().map(|e| e as u32),
                ),)*
                $(mask(
                    stringify!($mask),
                    |b| s::$mask::from_bits(b).map(|e| (e.disassemble(), Operand::$mask(e).additional_operands())),
                ),)*
            ]
        }
    };
}

enumerations! {
    values: SourceLanguage ExecutionModel AddressingModel MemoryModel ExecutionMode StorageClass Dim SamplerAddressingMode
        SamplerFilterMode ImageFormat ImageChannelOrder ImageChannelDataType FPRoundingMode FPDenormMode QuantizationModes
        FPOperationMode OverflowModes LinkageType AccessQualifier HostAccessQualifier FunctionParameterAttribute Decoration
        BuiltIn Scope GroupOperation KernelEnqueueFlags Capability RayQueryIntersection RayQueryCommittedIntersectionType
        RayQueryCandidateIntersectionType PackedVectorFormat CooperativeMatrixLayout CooperativeMatrixUse TensorClampMode
        InitializationModeQualifier LoadCacheControl StoreCacheControl NamedMaximumNumberOfRegisters FPEncoding
        CooperativeVectorMatrixLayout ComponentType;
    masks: ImageOperands FPFastMathMode SelectionControl LoopControl FunctionControl MemorySemantics MemoryAccess
        KernelProfilingInfo RayFlags FragmentShadingRate RawAccessChainOperands CooperativeMatrixOperands
        CooperativeMatrixReduce TensorAddressingOperands MatrixMultiplyAccumulateOperands TensorOperands
}

type Description = Option<(String, Vec<LogicalOperand>)>;

fn values(name: &'static str, describe: fn(u32) -> Description, alias: fn(&str) -> Option<u32>) -> Enumeration {
    // Every registered value is below 8192, except the component types of one vendor.
    let all = (0..8192u32).chain(1_000_491_000..1_000_491_100);
    let enumerants = all.filter_map(|value| {
        let (debug, parameters) = describe(value)?;
        // rspirv adds a prefix if the name is no Rust identifier: Dim1D is the enumerant 1D.
        let name = debug.strip_prefix("Dim").filter(|_| name == "Dim").unwrap_or(&debug).to_string();
        Some(Enumerant { name, value, parameters })
    });
    enumeration(name, false, enumerants.collect(), alias)
}

fn mask(name: &'static str, describe: fn(u32) -> Description) -> Enumeration {
    let enumerants = (0..32).map(|b| 1u32 << b).filter_map(|value| {
        let (name, parameters) = describe(value)?;
        Some(Enumerant { name, value, parameters })
    });
    let alias: fn(&str) -> Option<u32> = match name {
        "MemorySemantics" => |n| (n == "Relaxed").then_some(0),
        "RayFlags" => |n| (n == "NoneKHR").then_some(0),
        "MemoryAccess" => |n| match n {
            "MakePointerAvailableKHR" => Some(8),
            "MakePointerVisibleKHR" => Some(16),
            "NonPrivatePointerKHR" => Some(32),
            _ => None,
        },
        _ => |_| None,
    };
    enumeration(name, true, enumerants.collect(), alias)
}

fn enumeration(name: &'static str, mask: bool, enumerants: Vec<Enumerant>, alias: fn(&str) -> Option<u32>) -> Enumeration {
    let by_name = enumerants.iter().enumerate().map(|(i, e)| (e.name.clone(), i)).collect();
    Enumeration { name, mask, enumerants, by_name, alias }
}

/// The instructions of one extended instruction set.
#[derive(Debug)]
pub struct Set {
    /// The name in OpExtInstImport.
    pub name: &'static str,
    by_number: FxHashMap<u32, &'static SetInstruction>,
    by_name: FxHashMap<&'static str, &'static SetInstruction>,
}

impl Set {
    /// The instruction with that number.
    pub fn by_number(&self, number: u32) -> Option<&'static SetInstruction> {
        self.by_number.get(&number).copied()
    }

    /// The instruction with that name.
    pub fn by_name(&self, name: &str) -> Option<&'static SetInstruction> {
        self.by_name.get(name).copied()
    }

    /// All instructions with their numbers, in ascending order.
    pub fn instructions(&self) -> impl Iterator<Item = (u32, &'static SetInstruction)> {
        let mut all: Vec<_> = self.by_number.iter().map(|(&number, &i)| (number, i)).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter()
    }
}

/// The form of a *plain* instruction. Its operands are ids, numbers without restriction, and at
/// most one enumerant. The opcode alone determines their order.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) struct Plain {
    /// Whether the instruction has a result type, and whether it has a result.
    pub(in crate::spirv) results: [bool; 2],
    /// The number of required operands, result type and result included.
    pub(in crate::spirv) required: usize,
    /// The required operands that are ids: one bit for each.
    pub(in crate::spirv) ids: u32,
    /// The required operand that is an enumerant, by index, and its kind.
    pub(in crate::spirv) enumerant: Option<(usize, OperandKind)>,
    /// The operands that may follow the required ones.
    pub(in crate::spirv) tail: Tail,
}

/// The operands that may follow the required operands of a plain instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spirv) enum Tail {
    /// Only the numbers that belong to the enumerant, if it is the last required operand. If the
    /// grammar has other optional operands, the form covers only instructions without them.
    Nothing,
    /// Ids, in groups of that size.
    Ids(usize),
    /// Any number of literal numbers.
    Numbers,
    /// A required string.
    String,
    /// A required number of the result type.
    OfResultType,
}

impl Plain {
    /// The form of an instruction. `None` if it is not plain.
    fn of(grammar: &CoreInstruction) -> Option<Plain> {
        let mut plain = Plain { results: [false; 2], required: 0, ids: 0, enumerant: None, tail: Tail::Nothing };
        for (operand, left) in grammar.operands.iter().zip((0..grammar.operands.len()).rev()) {
            match (operand.quantifier, operand.kind) {
                (OperandQuantifier::One, kind) if is_id(kind) && plain.required < u32::BITS as usize => {
                    plain.results[0] |= kind == OperandKind::IdResultType;
                    plain.results[1] |= kind == OperandKind::IdResult;
                    plain.ids |= 1 << plain.required;
                    plain.required += 1;
                }
                (OperandQuantifier::One, OperandKind::LiteralInteger) => plain.required += 1,
                (OperandQuantifier::One, OperandKind::LiteralString) if left == 0 => plain.tail = Tail::String,
                (OperandQuantifier::One, OperandKind::LiteralContextDependentNumber) if left == 0 && plain.results[0] => {
                    plain.tail = Tail::OfResultType;
                }
                (OperandQuantifier::One, kind) if enumeration_index(kind).is_some() && plain.enumerant.is_none() => {
                    plain.enumerant = Some((plain.required, kind));
                    plain.required += 1;
                }
                (OperandQuantifier::One, _) => return None,
                (OperandQuantifier::ZeroOrMore, kind) if is_id(kind) => plain.tail = Tail::Ids(1),
                (OperandQuantifier::ZeroOrMore, OperandKind::PairIdRefIdRef) => plain.tail = Tail::Ids(2),
                (OperandQuantifier::ZeroOrMore, OperandKind::LiteralInteger) => plain.tail = Tail::Numbers,
                _ => break,
            }
            if plain.tail != Tail::Nothing {
                break;
            }
        }
        Some(plain)
    }

    /// The number of literals that follow the required operands because of the enumerant. `None` if
    /// the value is unknown or a mask other than 0, if it takes operands other than numbers, or if
    /// other operands come after it.
    #[inline]
    pub(in crate::spirv) fn parameter_words(&self, operands: &[u32]) -> Option<usize> {
        let Some((at, kind)) = self.enumerant else { return Some(0) };
        let (enumeration, value) = (enumeration_of(kind)?, operands[at]);
        if enumeration.mask {
            return (value == 0).then_some(0);
        }
        let parameters = &enumeration.by_value(value)?.parameters;
        let is_number = |o: &LogicalOperand| o.quantifier == OperandQuantifier::One && o.kind == OperandKind::LiteralInteger;
        let last = at + 1 == self.required && self.tail == Tail::Nothing;
        (parameters.is_empty() || last && parameters.iter().all(is_number)).then_some(parameters.len())
    }
}

/// The entry of an opcode.
struct Entry {
    instruction: &'static CoreInstruction,
    form: Option<Plain>,
}

struct Grammar {
    by_opcode: Vec<Option<Entry>>,
    by_name: FxHashMap<&'static str, &'static CoreInstruction>,
    enumerations: Vec<Enumeration>,
    sets: Vec<Set>,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut by_opcode = Vec::new();
    let mut by_name = FxHashMap::default();
    for instruction in INSTRUCTION_TABLE.iter() {
        let opcode = instruction.opcode as usize;
        if by_opcode.len() <= opcode {
            by_opcode.resize_with(opcode + 1, || None);
        }
        by_opcode[opcode] = Some(Entry { instruction, form: Plain::of(instruction) });
        by_name.insert(instruction.opname, instruction);
    }
    let sets = SETS.iter().map(|&name| {
        let table: &InstructionTable<_> = rspirv::grammar::ext_inst_table(name).expect("rspirv has a table for each set named here");
        Set {
            name,
            by_number: table.iter().map(|i| (u32::from(i.opcode), i)).collect(),
            by_name: table.iter().map(|i| (i.opname, i)).collect(),
        }
    });
    Grammar { by_opcode, by_name, enumerations: enumerations(), sets: sets.collect() }
});

const SETS: [&str; 15] = [
    "GLSL.std.450",
    "OpenCL.std",
    "DebugInfo",
    "OpenCL.DebugInfo.100",
    "NonSemantic.Shader.DebugInfo.100",
    "NonSemantic.DebugPrintf",
    "NonSemantic.DebugBreak",
    "NonSemantic.ClspvReflection",
    "NonSemantic.VkspReflection",
    "Arm.MotionEngine.100",
    "SPV_AMD_gcn_shader",
    "SPV_AMD_shader_ballot",
    "SPV_AMD_shader_explicit_vertex_parameter",
    "SPV_AMD_shader_trinary_minmax",
    "TOSA.001000.1",
];

/// The instruction with that opcode, if the grammar has one.
#[inline]
pub fn instruction(opcode: u16) -> Option<&'static CoreInstruction> {
    GRAMMAR.by_opcode.get(opcode as usize)?.as_ref().map(|entry| entry.instruction)
}

/// The instruction with that opcode, if the grammar has one, and its form if it is plain.
#[inline]
pub(in crate::spirv) fn with_form(opcode: u16) -> Option<(&'static CoreInstruction, Option<&'static Plain>)> {
    GRAMMAR.by_opcode.get(opcode as usize)?.as_ref().map(|entry| (entry.instruction, entry.form.as_ref()))
}

/// Every core instruction, by opcode.
pub fn instructions() -> impl Iterator<Item = &'static CoreInstruction> {
    GRAMMAR.by_opcode.iter().flatten().map(|entry| entry.instruction)
}

/// The instruction with that name, without its `Op`: for example `FAdd`.
pub fn instruction_named(name: &str) -> Option<&'static CoreInstruction> {
    GRAMMAR.by_name.get(name).copied().or_else(|| {
        let renamed = match name {
            "DecorateStringGOOGLE" => "DecorateString",
            "MemberDecorateStringGOOGLE" => "MemberDecorateString",
            _ => return None,
        };
        GRAMMAR.by_name.get(renamed).copied()
    })
}

/// The name of an opcode with its `Op`. If it has none, its number.
pub fn op_name(opcode: u16) -> String {
    match instruction(opcode) {
        Some(i) => format!("Op{}", i.opname),
        None => format!("opcode {opcode}"),
    }
}

/// The enumeration of an operand kind. `None` for ids, numbers and strings.
#[inline]
pub fn enumeration_of(kind: OperandKind) -> Option<&'static Enumeration> {
    enumeration_index(kind).map(|i| &GRAMMAR.enumerations[i])
}

/// The extended instruction set of that name. Newer revisions of NonSemantic sets have no table.
pub fn set(name: &str) -> Option<&'static Set> {
    GRAMMAR.sets.iter().find(|s| s.name == name)
}

/// A source of operands for [`walk`]: words or text.
pub trait Operands {
    /// Why an operand could not be read.
    type Error;

    /// Whether the instruction has no more operands.
    fn at_end(&mut self) -> bool;

    /// Reads one operand of that kind, which is never a pair. The walker uses the value if it
    /// decides what follows: an enumerant, a mask, the opcode of OpSpecConstantOp, or the number of
    /// an extended instruction.
    fn read(&mut self, kind: OperandKind) -> Result<u32, Self::Error>;

    /// The grammar of extended instruction `number` of the set whose id was read last. `None` if it
    /// is not known. Then ids follow.
    fn set_instruction(&mut self, number: u32) -> Result<Option<&'static SetInstruction>, Self::Error>;

    /// Whether the rest of the instruction does not follow the grammar, after a `!` word in text.
    /// Then the walk ends.
    fn given_up(&self) -> bool {
        false
    }
}

/// Walks over the operands of an instruction as its grammar defines them, result type and
/// result included.
pub fn walk<O: Operands>(grammar: &'static CoreInstruction, operands: &mut O) -> Result<(), O::Error> {
    walk_list(grammar.operands, operands)
}

fn walk_list<O: Operands>(list: &'static [LogicalOperand], operands: &mut O) -> Result<(), O::Error> {
    for operand in list {
        match operand.quantifier {
            OperandQuantifier::One => {
                if walk_one(operand.kind, operands)? == Flow::Tail {
                    return Ok(());
                }
            }
            OperandQuantifier::ZeroOrOne => {
                if !operands.at_end() {
                    walk_one(operand.kind, operands)?;
                }
            }
            OperandQuantifier::ZeroOrMore => {
                while !operands.given_up() && !operands.at_end() {
                    walk_one(operand.kind, operands)?;
                }
            }
        }
        if operands.given_up() {
            return Ok(());
        }
    }
    Ok(())
}

#[derive(PartialEq)]
enum Flow {
    /// The next operand of the list follows.
    Next,
    /// The operand was the last, together with its own operands.
    Tail,
}

#[inline]
fn walk_one<O: Operands>(kind: OperandKind, operands: &mut O) -> Result<Flow, O::Error> {
    let pair = match kind {
        OperandKind::IdRef | OperandKind::IdResultType | OperandKind::IdResult | OperandKind::LiteralInteger => {
            operands.read(kind)?;
            return Ok(Flow::Next);
        }
        OperandKind::PairIdRefIdRef => Some((OperandKind::IdRef, OperandKind::IdRef)),
        OperandKind::PairIdRefLiteralInteger => Some((OperandKind::IdRef, OperandKind::LiteralInteger)),
        // The literal of OpSwitch has the width of the selector.
        OperandKind::PairLiteralIntegerIdRef => Some((OperandKind::LiteralContextDependentNumber, OperandKind::IdRef)),
        _ => None,
    };
    if let Some((first, second)) = pair {
        operands.read(first)?;
        if !operands.given_up() {
            operands.read(second)?;
        }
        return Ok(Flow::Next);
    }
    let value = operands.read(kind)?;
    if operands.given_up() {
        return Ok(Flow::Tail);
    }
    match kind {
        OperandKind::LiteralExtInstInteger => match operands.set_instruction(value)? {
            Some(extended) => walk_list(extended.operands, operands).map(|()| Flow::Tail),
            None => Ok(Flow::Next),
        },
        OperandKind::LiteralSpecConstantOpInteger => {
            // OpSpecConstantOp cannot contain itself, which bounds the recursion.
            let inner = u16::try_from(value).ok().and_then(instruction).filter(|i| i.opcode != Op::SpecConstantOp);
            if let Some(inner) = inner {
                let skip = inner.operands.iter().take_while(|o| is_result(o.kind)).count();
                walk_list(&inner.operands[skip..], operands)?;
            }
            Ok(Flow::Tail)
        }
        _ => {
            if let Some(enumeration) = enumeration_of(kind) {
                if enumeration.mask {
                    for bit in bits(value) {
                        walk_parameters(enumeration, bit, operands)?;
                    }
                } else {
                    walk_parameters(enumeration, value, operands)?;
                }
            }
            Ok(Flow::Next)
        }
    }
}

fn walk_parameters<O: Operands>(enumeration: &'static Enumeration, value: u32, operands: &mut O) -> Result<(), O::Error> {
    match enumeration.by_value(value) {
        Some(enumerant) => walk_list(&enumerant.parameters, operands),
        None => Ok(()),
    }
}

/// Whether the operand is the result type or the result.
pub fn is_result(kind: OperandKind) -> bool {
    matches!(kind, OperandKind::IdResultType | OperandKind::IdResult)
}

/// Whether an operand of this kind is an id.
pub fn is_id(kind: OperandKind) -> bool {
    matches!(
        kind,
        OperandKind::IdRef | OperandKind::IdResult | OperandKind::IdResultType | OperandKind::IdScope | OperandKind::IdMemorySemantics
    )
}

/// The name of an operand kind in messages.
pub fn kind_name(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::IdRef => "an id",
        OperandKind::IdResult => "a result id",
        OperandKind::IdResultType => "a result type",
        OperandKind::IdScope => "the id of a scope",
        OperandKind::IdMemorySemantics => "the id of memory semantics",
        OperandKind::LiteralInteger => "an integer",
        OperandKind::LiteralFloat => "a float",
        OperandKind::LiteralString => "a string",
        OperandKind::LiteralContextDependentNumber => "a number",
        OperandKind::LiteralExtInstInteger => "an extended instruction",
        OperandKind::LiteralSpecConstantOpInteger => "an opcode without its \"Op\"",
        kind => enumeration_of(kind).map_or("an operand", |e| e.name),
    }
}

/// The Aligned operands of memory operands (SPIR-V §3.2.27), 1 if absent. For a copy: first that
/// of the target, then that of the source, which are the same if there is one mask.
pub(in crate::spirv) fn alignments(operands: &[u32]) -> [u32; 2] {
    let mut masks: SmallVec<[u32; 2]> = SmallVec::new();
    let mut rest = operands;
    while let [mask, after @ ..] = rest {
        let bits = s::MemoryAccess::from_bits_truncate(*mask);
        let aligned = bits.contains(s::MemoryAccess::ALIGNED);
        masks.push(if aligned { after.first().copied().unwrap_or(1) } else { 1 });
        let scopes = [s::MemoryAccess::MAKE_POINTER_AVAILABLE, s::MemoryAccess::MAKE_POINTER_VISIBLE];
        let extra = usize::from(aligned) + scopes.iter().filter(|&&scope| bits.contains(scope)).count();
        rest = after.get(extra..).unwrap_or(&[]);
    }
    let first = masks.first().copied().unwrap_or(1);
    [first, masks.get(1).copied().unwrap_or(first)]
}
