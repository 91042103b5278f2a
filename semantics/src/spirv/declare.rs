//! The first pass of loading: sections, and what each declares.

mod types;

use rspirv::spirv::{AddressingModel, Capability, Decoration as Decorate, ExecutionMode, ExecutionModel, MemoryModel};

use super::error::{Check, LoadError, Place};
use super::grammar::{self, Op, OperandKind};
use super::module::{Block, Decoration, EntryPoint, Function, Module, NO_BLOCK, WHOLE};
use super::words::{self, Instruction};

/// Sections in the order of SPIR-V §2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
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

struct Declare<'m> {
    module: &'m mut Module,
    index: usize,
    section: Section,
    memory_models: u32,
    function: Option<u32>,
    block: Option<u32>,
}

/// Indexes the module's declarations, functions and blocks, checking what can be checked in order.
pub(super) fn declare(module: &mut Module) -> Result<(), LoadError> {
    let mut pass = Declare { module, index: 0, section: Section::Capability, memory_models: 0, function: None, block: None };
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
    pass.module.decorations.sort_unstable();
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
            self.module.decorations.sort_unstable();
        }
        self.section = section;
        Ok(())
    }

    /// The enumerant's text, for messages.
    fn text(&self, kind: OperandKind, value: u32) -> String {
        grammar::enumeration_of(kind).and_then(|e| e.text(value)).unwrap_or_else(|| value.to_string())
    }

    fn instruction(&mut self, i: Instruction) -> Checked {
        match i.op {
            Op::Nop => {
                self.module.block_of[self.index] = self.block.unwrap_or(NO_BLOCK);
                Ok(())
            }
            Op::Line | Op::NoLine => self.line(&i),
            Op::Capability => {
                self.enter(Section::Capability, &i)?;
                self.capability(&i)
            }
            Op::Extension => {
                self.enter(Section::Extension, &i)?;
                let name = self.string(i.operands(&self.module.words));
                match name.as_str() {
                    "SPV_KHR_storage_buffer_storage_class" | "SPV_KHR_float_controls" => Ok(()),
                    _ => self.unsupported(format!("OpExtension {name:?}")),
                }
            }
            Op::ExtInstImport => {
                self.enter(Section::Import, &i)?;
                let name = self.string(i.operands(&self.module.words));
                match name.as_str() {
                    "GLSL.std.450" => Ok(()),
                    _ => self.unsupported(format!("OpExtInstImport {name:?}")),
                }
            }
            Op::MemoryModel => {
                self.enter(Section::MemoryModel, &i)?;
                self.memory_models += 1;
                let &[addressing, memory] = i.operands(&self.module.words) else { return Ok(()) };
                if addressing != AddressingModel::Logical as u32 {
                    let what = format!("OpMemoryModel {}", self.text(OperandKind::AddressingModel, addressing));
                    return self.unsupported(what);
                }
                if ![MemoryModel::GLSL450 as u32, MemoryModel::Simple as u32].contains(&memory) {
                    return self.unsupported(format!("OpMemoryModel {}", self.text(OperandKind::MemoryModel, memory)));
                }
                Ok(())
            }
            Op::EntryPoint => {
                self.enter(Section::EntryPoint, &i)?;
                self.entry_point(&i)
            }
            Op::ExecutionMode => {
                self.enter(Section::ExecutionMode, &i)?;
                self.execution_mode(&i)
            }
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => self.enter(Section::Source, &i),
            Op::Name | Op::MemberName => {
                self.enter(Section::Name, &i)?;
                self.defined(i.operands(&self.module.words)[0])
            }
            Op::ModuleProcessed => self.enter(Section::Processed, &i),
            Op::Decorate | Op::MemberDecorate => {
                self.enter(Section::Annotation, &i)?;
                self.decorate(&i)
            }
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
            | Op::TypeFunction => {
                self.enter(Section::Declaration, &i)?;
                self.type_(&i)
            }
            Op::ConstantTrue | Op::ConstantFalse | Op::Constant | Op::ConstantComposite | Op::ConstantNull => {
                self.enter(Section::Declaration, &i)?;
                self.constant(&i)
            }
            Op::Variable if self.function.is_none() => {
                self.enter(Section::Declaration, &i)?;
                self.variable(&i)
            }
            Op::Function => self.begin_function(&i),
            Op::FunctionEnd => self.end_function(),
            Op::Label => self.label(&i),
            _ => self.body(&i),
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

    fn capability(&self, i: &Instruction) -> Checked {
        let value = i.operands(&self.module.words)[0];
        let modeled = [
            Capability::Matrix,
            Capability::Shader,
            Capability::DenormPreserve,
            Capability::DenormFlushToZero,
            Capability::SignedZeroInfNanPreserve,
            Capability::RoundingModeRTE,
        ];
        if modeled.iter().any(|&c| c as u32 == value) {
            return Ok(());
        }
        self.unsupported(format!("OpCapability {}", self.text(OperandKind::Capability, value)))
    }

    fn entry_point(&mut self, i: &Instruction) -> Checked {
        let operands = i.operands(&self.module.words);
        let (model, function) = (operands[0], operands[1]);
        if model != ExecutionModel::Fragment as u32 {
            return self.unsupported(format!("OpEntryPoint {}", self.text(OperandKind::ExecutionModel, model)));
        }
        let (name, length) = words::string_at(&operands[2..]).expect("decoding has checked the string");
        for &id in &operands[2 + length..] {
            self.defined(id)?;
            if !self.module.instruction(id).is_some_and(|v| v.is(Op::Variable)) {
                return self.fail(Check::EntryPoint, format!("the interface of {name:?} names %{id}, which is no OpVariable"));
            }
        }
        self.defined(function)?;
        if !self.module.instruction(function).is_some_and(|f| f.is(Op::Function)) {
            return self.fail(Check::EntryPoint, format!("entry point {name:?} names %{function}, which is no OpFunction"));
        }
        if self.module.entry_points.len() >= 256 {
            return Err(LoadError::Limit(crate::outcome::Limit { what: "entry points", bound: 256 }));
        }
        if self.module.entry_points.iter().any(|e| e.name == name) {
            return self.fail(Check::EntryPoint, format!("two entry points are named {name:?}"));
        }
        self.module.entry_points.push(EntryPoint { name, function, instruction: self.index as u32 });
        Ok(())
    }

    fn execution_mode(&self, i: &Instruction) -> Checked {
        let operands = i.operands(&self.module.words);
        let (function, mode) = (operands[0], operands[1]);
        if !self.module.entry_points.iter().any(|e| e.function == function) {
            return self.fail(Check::EntryPoint, format!("OpExecutionMode is for %{function}, which is no entry point's function"));
        }
        if mode == ExecutionMode::OriginUpperLeft as u32 {
            return Ok(());
        }
        let controls = [
            ExecutionMode::DenormPreserve,
            ExecutionMode::DenormFlushToZero,
            ExecutionMode::SignedZeroInfNanPreserve,
            ExecutionMode::RoundingModeRTE,
        ];
        let width = operands.get(2).copied().unwrap_or(0);
        if controls.iter().any(|&c| c as u32 == mode) && width == 32 {
            return Ok(());
        }
        let text = self.text(OperandKind::ExecutionMode, mode);
        self.unsupported(if operands.len() > 2 { format!("OpExecutionMode {text} {width}") } else { format!("OpExecutionMode {text}") })
    }

    /// That the id is the result of some instruction.
    fn defined(&self, id: u32) -> Checked {
        match self.module.definition(id) {
            Some(_) => Ok(()),
            None => self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it")),
        }
    }

    /// The index of an id that must be defined before here.
    fn earlier(&self, id: u32) -> Result<usize, LoadError> {
        match self.module.definition(id) {
            Some(index) if index < self.index => Ok(index),
            Some(_) => self.fail(Check::DefinedBeforeUse, format!("%{id} is used before the instruction that defines it")),
            None => self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it")),
        }
    }

    /// The index of a type that must be declared before here.
    fn earlier_type(&self, id: u32) -> Result<usize, LoadError> {
        let index = self.earlier(id)?;
        if is_type(self.module.instructions[index].op) {
            return Ok(index);
        }
        self.fail(Check::KindOfId, format!("%{id} must be a type, but it is the result of {}", self.module.instructions[index].name()))
    }

    /// The index of a type that the type declared here is made of.
    fn inner_type(&mut self, id: u32) -> Result<usize, LoadError> {
        let index = self.earlier_type(id)?;
        let Some(nesting) = self.module.nesting[index].checked_add(1) else {
            return Err(LoadError::Limit(crate::outcome::Limit { what: "levels of nested types", bound: 255 }));
        };
        self.module.nesting[self.index] = self.module.nesting[self.index].max(nesting);
        Ok(index)
    }

    fn decorate(&mut self, i: &Instruction) -> Checked {
        let operands = i.operands(&self.module.words);
        let target = operands[0];
        self.defined(target)?;
        let (member, rest) = if i.is(Op::MemberDecorate) { (operands[1], &operands[2..]) } else { (WHOLE, &operands[1..]) };
        let (decoration, value) = (rest[0], rest.get(1).copied().unwrap_or(0));
        let modeled = [
            Decorate::Block,
            Decorate::BufferBlock,
            Decorate::ArrayStride,
            Decorate::MatrixStride,
            Decorate::ColMajor,
            Decorate::BuiltIn,
            Decorate::Restrict,
            Decorate::Aliased,
            Decorate::NonWritable,
            Decorate::NonReadable,
            Decorate::Location,
            Decorate::Binding,
            Decorate::DescriptorSet,
            Decorate::Offset,
            Decorate::NoContraction,
        ];
        if !modeled.iter().any(|&d| d as u32 == decoration) {
            return self.unsupported(format!("{} {}", i.name(), self.text(OperandKind::Decoration, decoration)));
        }
        self.module.decorations.push(Decoration { target, member, decoration, value });
        Ok(())
    }

    fn begin_function(&mut self, i: &Instruction) -> Checked {
        if self.function.is_some() {
            return self.fail(Check::Function, "OpFunction stands within a function; OpFunctionEnd is missing");
        }
        self.enter(Section::Function, i)?;
        let type_id = i.operands(&self.module.words)[1];
        let type_index = self.earlier_type(type_id)?;
        let type_ = self.module.instructions[type_index];
        if !type_.is(Op::TypeFunction) || type_.operands(&self.module.words)[0] != i.result_type {
            let what = format!("the type of function %{}, %{type_id}, is no OpTypeFunction with result %{}", i.result, i.result_type);
            return self.fail(Check::Function, what);
        }
        let first_block = self.module.blocks.len() as u32;
        self.function = Some(self.module.functions.len() as u32);
        self.module.functions.push(Function { id: i.result, first_block, end_block: first_block });
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
        let block = self.module.blocks.len() as u32;
        let start = self.index as u32 + 1;
        self.module.blocks.push(Block { label: i.result, start, end: start, function });
        self.module.block_of[self.index] = block;
        self.block = Some(block);
        Ok(())
    }

    fn body(&mut self, i: &Instruction) -> Checked {
        let terminator = matches!(i.op, Op::Branch | Op::BranchConditional | Op::Return | Op::Unreachable);
        if !terminator && !is_modeled_in_body(i.op) {
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
        }
        if terminator {
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
            | Op::Load
            | Op::Store
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::ExtInst
    );
    structural || super::operation::core(op).is_some_and(|o| o.op.is_some())
}
