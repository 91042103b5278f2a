//! The first pass of loading: sections, and the declarations in each.

mod annotate;
mod constants;
mod entry;
mod types;
mod variables;
mod version;

pub(in crate::spirv) use variables::{is_in_every_stage, model_of};

use std::sync::LazyLock;

use rspirv::spirv::{AddressingModel, MemoryModel};
use rustc_hash::{FxBuildHasher, FxHashSet};
use smallvec::SmallVec;

use crate::spirv::check::{is_atomic, is_image, is_implicit};
use crate::spirv::error::{Check, LoadError, Place};
use crate::spirv::grammar::{self, Op, OperandKind};
use crate::spirv::module::{Block, Decoration, Function, Module, NO_BLOCK, Parameter};
use crate::spirv::types::{self as table, MAX_SCALARS, MatrixLayout, Type};
use crate::spirv::words::{self, Instruction};

/// Sections in the order of SPIR-V §2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spirv) enum Section {
    Capability,
    Extension,
    Import,
    MemoryModel,
    EntryPoint,
    ExecutionMode,
    Source,
    Name,
    Processed,
    Annotation,
    Declaration,
    Function,
}

impl Section {
    /// The section in words.
    fn text(self) -> &'static str {
        match self {
            Section::Capability => "capabilities",
            Section::Extension => "extensions",
            Section::Import => "extended instruction sets",
            Section::MemoryModel => "the memory model",
            Section::EntryPoint => "entry points",
            Section::ExecutionMode => "execution modes",
            Section::Source => "sources",
            Section::Name => "names",
            Section::Processed => "OpModuleProcessed",
            Section::Annotation => "decorations",
            Section::Declaration => "types, constants and variables",
            Section::Function => "a function's beginning",
        }
    }
}

/// The section of an instruction outside of functions. `None` if it may not stand there.
pub(in crate::spirv) fn section(op: Op) -> Option<Section> {
    Some(match op {
        Op::Capability => Section::Capability,
        Op::Extension => Section::Extension,
        Op::ExtInstImport => Section::Import,
        Op::MemoryModel => Section::MemoryModel,
        Op::EntryPoint => Section::EntryPoint,
        Op::ExecutionMode | Op::ExecutionModeId => Section::ExecutionMode,
        Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => Section::Source,
        Op::Name | Op::MemberName => Section::Name,
        Op::ModuleProcessed => Section::Processed,
        Op::Decorate
        | Op::MemberDecorate
        | Op::DecorateId
        | Op::DecorateString
        | Op::MemberDecorateString
        | Op::DecorationGroup
        | Op::GroupDecorate
        | Op::GroupMemberDecorate => Section::Annotation,
        Op::ConstantTrue | Op::ConstantFalse | Op::Constant | Op::ConstantComposite | Op::ConstantNull => Section::Declaration,
        op if is_type(op) => Section::Declaration,
        _ => return None,
    })
}

/// Whether the instruction delimits functions and blocks.
pub(in crate::spirv) fn is_structure(op: Op) -> bool {
    matches!(op, Op::Function | Op::FunctionParameter | Op::FunctionEnd | Op::Label)
}

/// The properties of an opcode, from the lists of opcodes.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// [`section`].
    section: Option<Section>,
    /// [`is_type`].
    type_: bool,
    /// [`is_terminator`].
    terminates: bool,
    /// [`is_modeled_in_body`].
    modeled: bool,
    /// Whether it needs a capability.
    needs_capability: bool,
    /// Whether it is not in version 1.0.
    is_later: bool,
    /// Whether it stands in blocks, and needs no check beyond those of all instructions in blocks.
    is_ordinary: bool,
}

/// By opcode, for the opcodes of the grammar.
static TRAITS: LazyLock<Vec<Traits>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (op, capabilities) in grammar::instructions().map(|i| (i.opcode, i.capabilities)) {
        let anywhere = matches!(op, Op::Nop | Op::Line | Op::NoLine | Op::Undef | Op::ExtInst | Op::Variable);
        all.resize(all.len().max(op as usize + 1), Traits::default());
        all[op as usize] = Traits {
            section: section(op),
            type_: is_type(op),
            terminates: is_terminator(op),
            modeled: is_modeled_in_body(op),
            needs_capability: !capabilities.is_empty(),
            is_later: version::is_later(op),
            is_ordinary: section(op).is_none() && !anywhere && !is_structure(op),
        };
    }
    all
});

fn traits(op: Op) -> Traits {
    TRAITS.get(op as usize).copied().unwrap_or_default()
}

/// Whether an instruction needs a capability that must be declared.
pub(in crate::spirv) fn needs_capability(op: Op) -> bool {
    traits(op).needs_capability
}

struct Declare<'m> {
    module: &'m mut Module,
    index: usize,
    section: Section,
    memory_models: u32,
    function: Option<u32>,
    block: Option<u32>,
    /// The type of the current function.
    function_type: u32,
    /// Types that may be declared only once, by opcode and operands.
    declared_once: FxHashSet<(Op, SmallVec<[u32; 4]>)>,
    /// The indices of OpGroupDecorate and OpGroupMemberDecorate, and the decorations that
    /// they applied.
    groups: Vec<u32>,
    from_groups: Vec<Decoration>,
    /// The number of scalars of all constants, and of all variables without explicit layout.
    constant_scalars: u64,
    variable_scalars: u64,
    /// Types whose explicit layout has been checked.
    laid_out: FxHashSet<(u32, MatrixLayout)>,
}

/// Indexes the module's declarations, functions and blocks. Checks all that can be checked
/// in order.
pub(in crate::spirv) fn declare(module: &mut Module) -> Result<(), LoadError> {
    let mut pass = Declare {
        module,
        index: 0,
        section: Section::Capability,
        memory_models: 0,
        function: None,
        block: None,
        function_type: 0,
        declared_once: FxHashSet::with_capacity_and_hasher(32, FxBuildHasher),
        groups: Vec::new(),
        from_groups: Vec::new(),
        constant_scalars: 0,
        variable_scalars: 0,
        laid_out: FxHashSet::default(),
    };
    for index in 0..pass.module.instructions.len() {
        pass.index = index;
        pass.instruction(pass.module.instructions[index])?;
    }
    pass.index = pass.module.instructions.len();
    if pass.function.is_some() {
        return pass.fail(Check::Function, "the module ends within a function; OpFunctionEnd is missing");
    }
    if pass.memory_models != 1 {
        let what = format!("the module has {} OpMemoryModel; it must have one", pass.memory_models);
        return pass.fail(Check::MemoryModel, what);
    }
    if pass.section <= Section::Annotation {
        pass.finish_annotations()?;
    }
    Ok(())
}

type Checked = Result<(), LoadError>;

impl Declare<'_> {
    fn place(&self) -> Place {
        let word = self.module.instructions.get(self.index).map_or(self.module.words.len() as u32, |i| i.offset);
        let function = self.function.map_or(0, |f| self.module.functions[f as usize].id);
        let block = self.block.map_or(0, |b| self.module.blocks[b as usize].label);
        Place { function, block, word }
    }

    #[cold]
    fn fail<T>(&self, check: Check, what: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::Invalid { check, what: what.into(), at: self.place() })
    }

    #[cold]
    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::Unsupported { what: what.into(), at: self.place() })
    }

    fn enter(&mut self, section: Section, instruction: &Instruction) -> Checked {
        if section < self.section || self.function.is_some() {
            let what = format!("{} stands after {}", instruction.name(), self.section.text());
            return self.fail(Check::SectionOrder, what);
        }
        if section > Section::Annotation && self.section <= Section::Annotation {
            self.finish_annotations()?;
        }
        self.section = section;
        Ok(())
    }

    /// The text of the enumerant, for messages.
    fn text(&self, kind: OperandKind, value: u32) -> String {
        grammar::enumeration_of(kind).and_then(|e| e.text(value)).unwrap_or_else(|| value.to_string())
    }

    fn instruction(&mut self, i: Instruction) -> Checked {
        let traits = traits(i.op);
        if traits.is_later {
            self.version_of(&i)?;
        }
        if let Some(section) = traits.section {
            self.enter(section, &i)?;
            return self.declaration(&i);
        }
        match i.op {
            _ if traits.is_ordinary => self.body(&i, traits),
            Op::Nop => {
                self.module.block_of[self.index] = self.block.unwrap_or(NO_BLOCK);
                Ok(())
            }
            Op::Line | Op::NoLine => self.line(&i),
            Op::Undef if self.function.is_none() => {
                self.enter(Section::Declaration, &i)?;
                self.undefined(&i)
            }
            Op::ExtInst if self.function.is_none() => {
                self.enter(Section::Declaration, &i)?;
                if self.module.is_non_semantic(&i) {
                    return Ok(());
                }
                self.fail(Check::SectionOrder, "OpExtInst stands outside of a function")
            }
            Op::Variable => self.variable(&i),
            Op::Function => self.begin_function(&i),
            Op::FunctionParameter => self.parameter(&i),
            Op::FunctionEnd => self.end_function(),
            Op::Label => self.label(&i),
            _ => self.body(&i, traits),
        }
    }

    fn declaration(&mut self, i: &Instruction) -> Checked {
        match i.op {
            Op::Capability => self.capability(i),
            Op::Extension => self.extension(i),
            Op::ExtInstImport => {
                let name = self.string(i.operands(&self.module.words));
                if name == "GLSL.std.450" || name.starts_with("NonSemantic.") {
                    return Ok(());
                }
                self.unsupported(format!("OpExtInstImport {name:?}"))
            }
            Op::MemoryModel => self.memory_model(i),
            Op::EntryPoint => self.entry_point(i),
            Op::ExecutionMode | Op::ExecutionModeId => self.execution_mode(i),
            Op::Name | Op::MemberName => self.check_defined(i.operands(&self.module.words)[0]),
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed => Ok(()),
            Op::ConstantTrue | Op::ConstantFalse | Op::Constant | Op::ConstantComposite | Op::ConstantNull => self.constant(i),
            op if is_type(op) => self.type_(i),
            _ => self.annotation(i),
        }
    }

    fn string(&self, words: &[u32]) -> String {
        words::string_at(words).expect("decoding has checked the string").0
    }

    fn line(&mut self, i: &Instruction) -> Checked {
        if self.function.is_none() && self.section < Section::Annotation {
            return self.fail(Check::SectionOrder, format!("{} stands before the declarations", i.name()));
        }
        if i.is(Op::Line) {
            let file = i.operands(&self.module.words)[0];
            if !self.module.instruction(file).is_some_and(|f| f.is(Op::String)) {
                return self.fail(Check::KindOfId, format!("OpLine names %{file} as its file, which is no OpString"));
            }
        }
        self.module.block_of[self.index] = self.block.unwrap_or(NO_BLOCK);
        Ok(())
    }

    fn memory_model(&mut self, i: &Instruction) -> Checked {
        self.memory_models += 1;
        let &[addressing, memory] = i.operands(&self.module.words) else { return Ok(()) };
        if addressing != AddressingModel::Logical as u32 {
            let what = format!("OpMemoryModel {}", self.text(OperandKind::AddressingModel, addressing));
            return self.unsupported(what);
        }
        let modeled = [MemoryModel::GLSL450, MemoryModel::Simple, MemoryModel::Vulkan];
        if !modeled.iter().any(|&m| m as u32 == memory) {
            return self.unsupported(format!("OpMemoryModel {}", self.text(OperandKind::MemoryModel, memory)));
        }
        let declared = self.module.has_capability(rspirv::spirv::Capability::VulkanMemoryModel);
        if declared != (memory == MemoryModel::Vulkan as u32) {
            let what = format!(
                "OpMemoryModel is {}, but the capability VulkanMemoryModel is {}declared; both or neither",
                self.text(OperandKind::MemoryModel, memory),
                if declared { "" } else { "not " }
            );
            return self.fail(Check::MemoryModel, what);
        }
        Ok(())
    }

    /// Checks that the id is the result of some instruction.
    fn check_defined(&self, id: u32) -> Checked {
        match self.module.definition(id) {
            Some(_) => Ok(()),
            None => self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it")),
        }
    }

    /// The index of the definition of an id, which must come before this instruction.
    fn earlier_definition(&self, id: u32) -> Result<usize, LoadError> {
        match self.module.definition(id) {
            Some(index) if index < self.index => Ok(index),
            Some(_) => self.fail(Check::DefinedBeforeUse, format!("%{id} is used before the instruction that defines it")),
            None => self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it")),
        }
    }

    /// The index of the declaration of a type, which must come before this instruction.
    fn earlier_type(&self, id: u32) -> Result<usize, LoadError> {
        let index = self.earlier_definition(id)?;
        if traits(self.module.instructions[index].op).type_ {
            return Ok(index);
        }
        self.fail(Check::KindOfId, format!("%{id} must be a type, but it is the result of {}", self.module.instructions[index].name()))
    }

    fn begin_function(&mut self, i: &Instruction) -> Checked {
        if self.function.is_some() {
            return self.fail(Check::Function, "OpFunction stands within a function; OpFunctionEnd is missing");
        }
        self.enter(Section::Function, i)?;
        let type_id = i.operands(&self.module.words)[1];
        self.earlier_type(type_id)?;
        let Some(Type::Function { result, .. }) =
            self.module.types.get(type_id).filter(|t| matches!(t, Type::Function { result, .. } if *result == i.result_type))
        else {
            let what = format!("the type of function %{}, %{type_id}, is no OpTypeFunction with result %{}", i.result, i.result_type);
            return self.fail(Check::Function, what);
        };
        let first_block = self.module.blocks.len() as u32;
        let first_parameter = self.module.parameters.len() as u32;
        self.function = Some(self.module.functions.len() as u32);
        self.module.functions.push(Function {
            id: i.result,
            result_type: result,
            first_parameter,
            end_parameter: first_parameter,
            first_block,
            end_block: first_block,
        });
        self.function_type = type_id;
        Ok(())
    }

    fn parameter(&mut self, i: &Instruction) -> Checked {
        let function = match self.function {
            Some(function) if self.module.functions[function as usize].first_block == self.module.blocks.len() as u32 => function as usize,
            _ => return self.fail(Check::Function, format!("OpFunctionParameter %{} does not follow an OpFunction", i.result)),
        };
        let Function { id, first_parameter, .. } = self.module.functions[function];
        let number = self.module.parameters.len() - first_parameter as usize;
        let expected = self.module.types.parameters(self.function_type).get(number).copied();
        if expected != Some(i.result_type) {
            let found = format!("parameter {number} of function %{id}, %{}, has type %{}", i.result, i.result_type);
            return match expected {
                Some(type_) => self.fail(Check::Function, format!("{found}; its function type says %{type_}")),
                None => self.fail(Check::Function, format!("{found}; its function type has {number} parameters")),
            };
        }
        self.module.parameters.push(Parameter { id: i.result, type_: i.result_type });
        self.module.functions[function].end_parameter += 1;
        self.module.shapes[self.index] = table::shape(&self.module.types, i.result_type);
        Ok(())
    }

    fn end_function(&mut self) -> Checked {
        let Some(function) = self.function else {
            return self.fail(Check::Function, "OpFunctionEnd stands outside of a function");
        };
        if let Some(block) = self.block {
            let what = format!("block %{} has no termination instruction before OpFunctionEnd", self.module.blocks[block as usize].label);
            return self.fail(Check::Unterminated, what);
        }
        let end = self.module.blocks.len() as u32;
        let function = &mut self.module.functions[function as usize];
        function.end_block = end;
        if function.first_block == end {
            let what = format!("function %{} has no block", function.id);
            return self.fail(Check::Function, what);
        }
        self.function = None;
        Ok(())
    }

    fn label(&mut self, i: &Instruction) -> Checked {
        let Some(function) = self.function else {
            return self.fail(Check::Function, format!("OpLabel %{} stands outside of a function", i.result));
        };
        if let Some(block) = self.block {
            let open = self.module.blocks[block as usize].label;
            return self.fail(Check::Unterminated, format!("block %{open} has no termination instruction before OpLabel %{}", i.result));
        }
        let Function { id, first_parameter, end_parameter, .. } = self.module.functions[function as usize];
        let (found, expected) = ((end_parameter - first_parameter) as usize, self.module.types.parameters(self.function_type).len());
        if found != expected {
            let what = format!("function %{id} has {found} parameters; its function type has {expected}");
            return self.fail(Check::Function, what);
        }
        let block = self.module.blocks.len() as u32;
        let start = self.index as u32 + 1;
        self.module.blocks.push(Block { label: i.result, start, end: start, function });
        self.module.block_of[self.index] = block;
        self.block = Some(block);
        Ok(())
    }

    fn body(&mut self, i: &Instruction, Traits { terminates, modeled, .. }: Traits) -> Checked {
        if !terminates && !modeled && (!self.module.unmodeled || is_structure(i.op)) {
            return self.unsupported(i.name());
        }
        if self.function.is_none() {
            return self.fail(Check::SectionOrder, format!("{} stands outside of a function", i.name()));
        }
        let Some(block) = self.block else {
            return self.fail(Check::OutsideBlock, format!("{} stands outside of a block", i.name()));
        };
        self.module.block_of[self.index] = block;
        if i.result_type != 0 {
            let type_index = self.earlier_type(i.result_type)?;
            self.module.shapes[self.index] = self.module.shapes[type_index];
            if self.module.types.scalars(i.result_type) > MAX_SCALARS {
                return self.limit("scalars in a value", MAX_SCALARS);
            }
        }
        if terminates {
            self.module.blocks[block as usize].end = self.index as u32 + 1;
            self.block = None;
        }
        Ok(())
    }
}

fn is_type(op: Op) -> bool {
    matches!(
        op,
        Op::TypeVoid
            | Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeMatrix
            | Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeStruct
            | Op::TypePointer
            | Op::TypeFunction
            | Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
    )
}

/// Whether the instruction ends a block (SPIR-V §2.2.5, termination instruction).
pub(in crate::spirv) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
    )
}

fn is_modeled_in_body(op: Op) -> bool {
    let structural = matches!(
        op,
        Op::Phi
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::PtrEqual
            | Op::PtrNotEqual
            | Op::PtrDiff
            | Op::Load
            | Op::Store
            | Op::CopyMemory
            | Op::ArrayLength
            | Op::Undef
            | Op::FunctionCall
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::CopyObject
            | Op::CopyLogical
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::Select
            | Op::ExtInst
    );
    let barriers = [Op::ControlBarrier, Op::MemoryBarrier, Op::DemoteToHelperInvocation, Op::IsHelperInvocationEXT];
    let shared = is_atomic(op) || barriers.contains(&op);
    structural || shared || is_group(op) || is_image(op) || is_derivative(op) || crate::spirv::operation::core(op).is_some()
}

/// Whether the instruction is one of SPIR-V §3.3.24 in Vulkan 1.1. Invocations of a subgroup
/// execute it together.
pub fn is_group(op: Op) -> bool {
    (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformQuadSwap as u32).contains(&(op as u32))
}

/// Whether the instruction needs values of the other invocations of the quad (SPIR-V
/// §3.3.10, §3.3.16).
pub(in crate::spirv) fn waits_for_quad(op: Op) -> bool {
    is_derivative(op) || is_implicit(op)
}

/// Whether the instruction is a derivative of its operand (SPIR-V §3.3.16).
pub fn is_derivative(op: Op) -> bool {
    matches!(
        op,
        Op::DPdx
            | Op::DPdy
            | Op::Fwidth
            | Op::DPdxFine
            | Op::DPdyFine
            | Op::FwidthFine
            | Op::DPdxCoarse
            | Op::DPdyCoarse
            | Op::FwidthCoarse
    )
}
