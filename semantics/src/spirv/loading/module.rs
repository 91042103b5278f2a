//! A loaded module: sections, types, constants, decorations, entry points, functions, and blocks as
//! instruction vectors (report §3).
//!
//! Everything stays in the decoded words; the module indexes them. [`Module::load`] accepts only
//! SPIR-V that is valid and that the project intends to model. After it, no engine meets an
//! undefined id, an operand of the wrong type, or a block without an end. An engine that models
//! less rejects a module by name before it runs it ([`crate::spirv::subset`]).

use crate::number::{Lane, Lanes};
use crate::spirv::cfg::ControlFlow;
use crate::spirv::error::{Check, LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::specialize::{self, Specialization};
use crate::spirv::types::{MAX_SCALARS, Type, Types};
use crate::spirv::words::{self, Header, Instruction};
use crate::spirv::{check, declare, lenient};
use rspirv::spirv::{BuiltIn, Capability, Decoration as Decorate, ExecutionMode, ExecutionModel, StorageClass};

/// The block of an instruction that is in no block.
pub const NO_BLOCK: u32 = u32::MAX;
/// The `member` of a decoration of the whole target.
pub const WHOLE: u32 = u32::MAX;

/// Numbers of instructions of NonSemantic.Shader.DebugInfo.100.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_SOURCE_CONTINUED: u32 = 102;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The id of its OpLabel.
    pub label: u32,
    /// The index of the instruction after its OpLabel.
    pub start: u32,
    /// One past the index of its termination instruction.
    pub end: u32,
    /// The index of its function.
    pub function: u32,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its id.
    pub id: u32,
    /// The id of its result type.
    pub result_type: u32,
    /// The index of its first parameter in the module's list of parameters.
    pub first_parameter: u32,
    /// One past the index of its last parameter.
    pub end_parameter: u32,
    /// The index of its entry block in the module's list of blocks.
    pub first_block: u32,
    /// One past the index of its last block.
    pub end_block: u32,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its id.
    pub id: u32,
    /// The id of its type.
    pub type_: u32,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// Vertex, Fragment or GLCompute.
    pub model: ExecutionModel,
    /// The id of its function.
    pub function: u32,
    /// The index of its OpEntryPoint.
    pub instruction: u32,
    /// The offset of its interface, in words from the start of the module.
    pub(in crate::spirv) interface: u32,
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its id.
    pub id: u32,
    /// The index of its OpVariable.
    pub instruction: u32,
    /// Its storage class.
    pub class: StorageClass,
    /// The type of its contents, not the pointer type.
    pub type_: u32,
    /// The id of the constant that it holds initially.
    pub initializer: Option<u32>,
    /// The index of the function that declares it; `None` at module scope.
    pub function: Option<u32>,
}

/// One scalar of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantScalar {
    /// Its bits, zero-extended; a Boolean is 0 or 1.
    pub bits: u64,
    /// The index of the OpUndef that defines it, if it is undefined. Then its bits are 0 and
    /// mean nothing.
    pub undefined: Option<u32>,
}

/// The execution modes of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Modes {
    /// The number of invocations of a workgroup in x, y and z. It comes from the WorkgroupSize
    /// built-in, else LocalSizeId, else LocalSize.
    pub workgroup_size: Option<[u32; 3]>,
    /// OriginUpperLeft.
    pub origin_upper_left: bool,
    /// EarlyFragmentTests.
    pub early_fragment_tests: bool,
    /// DepthReplacing.
    pub depth_replacing: bool,
    /// DepthGreater, DepthLess or DepthUnchanged.
    pub depth: Option<ExecutionMode>,
    /// The float controls: DenormPreserve, DenormFlushToZero, SignedZeroInfNanPreserve,
    /// RoundingModeRTE and RoundingModeRTZ, by width.
    pub float_controls: Vec<(ExecutionMode, u32)>,
}

/// One decoration with one literal operand or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decoration {
    /// The id of the decorated item.
    pub target: u32,
    /// The index of the decorated member, or [`WHOLE`].
    pub member: u32,
    /// The decoration's enumerant.
    pub decoration: u32,
    /// Its literal operand, or 0 if it has none.
    pub value: u32,
}

/// Options of loading a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether to accept the output of older tools: sections out of order, which are reordered, and
    /// a header whose reserved word is not 0.
    pub lenient: bool,
    /// Whether to accept modules that no engine runs: more kinds of images, instructions without a
    /// rule. It is for tools that only read the module, such as a converter.
    pub unmodeled: bool,
    /// Values of specialization constants. All others are frozen at their defaults.
    pub specialization: Vec<Specialization>,
}

/// A module that can be run.
#[derive(Clone, Debug)]
pub struct Module {
    pub(in crate::spirv) words: Vec<u32>,
    pub(in crate::spirv) header: Header,
    pub(in crate::spirv) instructions: Vec<Instruction>,
    pub(in crate::spirv) definitions: Vec<u32>,
    pub(in crate::spirv) types: Types,
    /// By instruction: for a type, the shape of its values; for a value, its shape.
    pub(in crate::spirv) shapes: Vec<Shape>,
    /// By instruction: the index of its block.
    pub(in crate::spirv) block_of: Vec<u32>,
    pub(in crate::spirv) decorations: Vec<Decoration>,
    pub(in crate::spirv) capabilities: Vec<Capability>,
    pub(in crate::spirv) entry_points: Vec<EntryPoint>,
    /// The indices of OpExecutionMode and OpExecutionModeId.
    pub(in crate::spirv) modes: Vec<u32>,
    pub(in crate::spirv) functions: Vec<Function>,
    /// The control flow of each function.
    flows: Vec<ControlFlow>,
    pub(in crate::spirv) parameters: Vec<Parameter>,
    pub(in crate::spirv) blocks: Vec<Block>,
    /// The variables at module scope come first, in the order of their instructions.
    pub(in crate::spirv) variables: Vec<Variable>,
    /// The number of variables at module scope.
    pub(in crate::spirv) globals: usize,
    /// Whether it was loaded with [`LoadOptions::unmodeled`].
    pub(in crate::spirv) unmodeled: bool,
}

/// The role of a variable in its environment, in modules of the λV subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The fragment's coordinate.
    FragCoord,
    /// The output of this location.
    Output(u32),
    /// The buffer of this descriptor set and binding.
    Buffer(u32, u32),
    /// A variable of each invocation, with an initializer.
    Private,
}

impl Module {
    /// Loads a module with the default options of [`Module::load_with`].
    pub fn load(words: &[u32]) -> Result<Module, LoadError> {
        Module::load_with(words, &LoadOptions::default())
    }

    /// Loads a module: decodes, indexes and checks it.
    pub fn load_with(words: &[u32], options: &LoadOptions) -> Result<Module, LoadError> {
        let ordered = if options.lenient { Some(lenient::canonical(words, options.unmodeled)?) } else { None };
        let words = ordered.as_deref().unwrap_or(words);
        let decoded = words::decode(words)?;
        if specialize::needed(&decoded) || !options.specialization.is_empty() {
            let frozen = specialize::freeze(&decoded, &options.specialization)?;
            return Module::of_decoded(&frozen, words::decode(&frozen)?, options.unmodeled);
        }
        Module::of_decoded(words, decoded, options.unmodeled)
    }

    /// Indexes and checks words without specialization constants.
    fn of_decoded(words: &[u32], decoded: words::Decoded<'_>, unmodeled: bool) -> Result<Module, LoadError> {
        let count = decoded.instructions.len();
        let mut module = Module {
            words: words.to_vec(),
            header: decoded.header,
            types: Types::new(decoded.header.bound),
            instructions: decoded.instructions,
            definitions: decoded.definitions,
            shapes: vec![Shape::OTHER; count],
            block_of: vec![NO_BLOCK; count],
            decorations: Vec::new(),
            capabilities: Vec::new(),
            entry_points: Vec::new(),
            modes: Vec::new(),
            functions: Vec::new(),
            flows: Vec::new(),
            parameters: Vec::new(),
            blocks: Vec::new(),
            variables: Vec::new(),
            globals: 0,
            unmodeled,
        };
        declare::declare(&mut module)?;
        module.flows = check::check(&module)?;
        Ok(module)
    }

    /// The words that run. They are the loaded words, reordered if the load was lenient, with
    /// specialization constants frozen.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The types.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The type id of a value; `None` if the id is not a value.
    #[inline]
    pub fn type_of(&self, id: u32) -> Option<u32> {
        self.instruction(id).map(|i| i.result_type).filter(|&t| t != 0)
    }

    /// The declared capabilities and those that they imply, ascending.
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// Whether the module declares a capability, or one that implies it.
    pub fn has_capability(&self, capability: Capability) -> bool {
        self.capabilities.binary_search(&capability).is_ok()
    }

    /// All instructions, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The entry points, in order.
    pub fn entry_points(&self) -> &[EntryPoint] {
        &self.entry_points
    }

    /// The functions, in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function with this id.
    pub fn function(&self, id: u32) -> Option<&Function> {
        let index = self.definition(id)? as u32;
        // Functions stand in the order of their OpFunction.
        let at = self.functions.partition_point(|f| self.definition(f.id).is_some_and(|i| (i as u32) < index));
        self.functions.get(at).filter(|f| f.id == id)
    }

    /// The parameters of a function, in order.
    pub fn parameters(&self, function: &Function) -> &[Parameter] {
        &self.parameters[function.first_parameter as usize..function.end_parameter as usize]
    }

    /// The blocks of a function, in order.
    pub fn function_blocks(&self, function: &Function) -> &[Block] {
        &self.blocks[function.first_block as usize..function.end_block as usize]
    }

    /// The control flow of a function of the module, its blocks in order.
    pub fn control_flow(&self, function: &Function) -> &ControlFlow {
        let at = self.functions.partition_point(|f| f.first_block < function.first_block);
        &self.flows[at]
    }

    /// The ids of the functions that a function calls, in the order of the calls.
    pub fn callees(&self, function: &Function) -> impl Iterator<Item = u32> + '_ {
        let code = self.function_blocks(function).iter().flat_map(|b| self.code(b));
        code.filter(|i| i.is(Op::FunctionCall)).map(|i| i.operands(&self.words)[0])
    }

    /// The cases of an OpSwitch, in order: the literal, zero-extended, and the label. Other
    /// instructions have none.
    pub fn switch_cases(&self, i: &Instruction) -> impl Iterator<Item = (u64, u32)> + '_ {
        let operands = if i.is(Op::Switch) { i.operands(&self.words) } else { &[] };
        let width = operands.first().and_then(|&selector| self.types.get(self.type_of(selector)?)?.width()).unwrap_or(32);
        let words = usize::from(width).div_ceil(32);
        operands.get(2..).unwrap_or(&[]).chunks_exact(words + 1).map(move |case| {
            let bits = u64::from(case[0]) | if words == 2 { u64::from(case[1]) << 32 } else { 0 };
            (bits & (u64::MAX >> (64 - u32::from(width))), case[words])
        })
    }

    /// The variables: those at module scope, then those of functions, in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variables at module scope, in order.
    pub fn globals(&self) -> &[Variable] {
        &self.variables[..self.globals]
    }

    /// The variables of a function, in order.
    pub fn locals(&self, function: &Function) -> &[Variable] {
        let range = self.function_blocks(function);
        let (start, end) = (range.first().map_or(0, |b| b.start), range.last().map_or(0, |b| b.end));
        let [start, end] = [start, end].map(|at| self.globals + self.variables[self.globals..].partition_point(|v| v.instruction < at));
        &self.variables[start..end]
    }

    /// The variable with this id.
    pub fn variable(&self, id: u32) -> Option<&Variable> {
        let index = self.definition(id)? as u32;
        self.variables.binary_search_by_key(&index, |v| v.instruction).ok().map(|at| &self.variables[at])
    }

    /// The ids in the interface of an entry point, in order.
    pub fn interface_of(&self, entry: &EntryPoint) -> &[u32] {
        let i = &self.instructions[entry.instruction as usize];
        &self.words[entry.interface as usize..i.offset as usize + i.word_count as usize]
    }

    /// The execution modes of an entry point.
    pub fn modes(&self, entry: &EntryPoint) -> Modes {
        let mut modes = Modes::default();
        let (mut size_by_id, mut size) = (None, None);
        for &at in &self.modes {
            let operands = self.instructions[at as usize].operands(&self.words);
            if operands[0] != entry.function {
                continue;
            }
            match (ExecutionMode::from_u32(operands[1]), &operands[2..]) {
                (Some(ExecutionMode::LocalSize), &[x, y, z]) => size = Some([x, y, z]),
                (Some(ExecutionMode::LocalSizeId), &[x, y, z]) => {
                    size_by_id = Some([x, y, z].map(|id| self.constant_value(id).unwrap_or(0) as u32));
                }
                (Some(ExecutionMode::OriginUpperLeft), _) => modes.origin_upper_left = true,
                (Some(ExecutionMode::EarlyFragmentTests), _) => modes.early_fragment_tests = true,
                (Some(ExecutionMode::DepthReplacing), _) => modes.depth_replacing = true,
                (Some(mode @ (ExecutionMode::DepthGreater | ExecutionMode::DepthLess | ExecutionMode::DepthUnchanged)), _) => {
                    modes.depth = Some(mode);
                }
                (Some(mode), &[width]) => modes.float_controls.push((mode, width)),
                _ => {}
            }
        }
        modes.workgroup_size = self.workgroup_size_built_in().or(size_by_id).or(size);
        modes
    }

    /// The size of the constant decorated BuiltIn WorkgroupSize. It takes precedence over every
    /// other size (SPIR-V §3.21).
    fn workgroup_size_built_in(&self) -> Option<[u32; 3]> {
        let wanted = |d: &&Decoration| d.decoration == Decorate::BuiltIn as u32 && d.value == BuiltIn::WorkgroupSize as u32;
        let constants =
            self.decorations.iter().filter(wanted).filter(|d| d.member == WHOLE && self.is_constant(d.target) && self.is_size(d.target));
        let mut scalars = Vec::new();
        self.constant_scalars(constants.map(|d| d.target).next()?, &mut scalars);
        <[ConstantScalar; 3]>::try_from(scalars).ok().map(|size| size.map(|s| s.bits as u32))
    }

    /// Whether the id is a vector of three 32-bit integers.
    pub(in crate::spirv) fn is_size(&self, id: u32) -> bool {
        let type_ = self.type_of(id).and_then(|t| self.types.get(t));
        matches!(type_, Some(Type::Vector { component, count: 3 }) if matches!(self.types.get(component), Some(Type::Int { width: 32, .. })))
    }

    /// The blocks of all functions, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The instruction vector of a block, from after its OpLabel up to and including its
    /// termination instruction.
    pub fn code(&self, block: &Block) -> &[Instruction] {
        &self.instructions[block.start as usize..block.end as usize]
    }

    /// The index of the instruction that defines an id.
    #[inline]
    pub fn definition(&self, id: u32) -> Option<usize> {
        (*self.definitions.get(id as usize)? as usize).checked_sub(1)
    }

    /// The instruction that defines an id.
    #[inline]
    pub fn instruction(&self, id: u32) -> Option<&Instruction> {
        self.definition(id).map(|i| &self.instructions[i])
    }

    /// The block with this label.
    pub fn block(&self, label: u32) -> Option<&Block> {
        let index = self.definition(label).filter(|&i| self.instructions[i].is(Op::Label))?;
        self.blocks.get(self.block_of[index] as usize)
    }

    /// The shape of a value, or of the values of a type.
    #[inline]
    pub fn shape(&self, id: u32) -> Shape {
        self.definition(id).map_or(Shape::OTHER, |i| self.shapes[i])
    }

    /// The entry point with this name.
    pub fn entry_point(&self, name: &str) -> Result<&EntryPoint, LoadError> {
        self.entry_points.iter().find(|e| e.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entry_points.iter().map(|e| e.name.as_str()).take(8).collect();
            let what = format!("no entry point is named {name:?}; there are: {}", names.join(", "));
            LoadError::Invalid { check: Check::EntryPoint, what, at: Place::default() }
        })
    }

    /// The first block of an entry point's function.
    pub fn entry_block(&self, entry: &EntryPoint) -> &Block {
        let function = self.functions.iter().find(|f| f.id == entry.function).expect("load has checked that the function is there");
        &self.blocks[function.first_block as usize]
    }

    /// The place of the instruction with this index.
    pub fn place(&self, index: usize) -> Place {
        let word = self.instructions.get(index).map_or(self.words.len() as u32, |i| i.offset);
        match self.blocks.get(self.block_of.get(index).map_or(NO_BLOCK, |&b| b) as usize) {
            None => Place { function: 0, block: 0, word },
            Some(block) => Place { function: self.functions[block.function as usize].id, block: block.label, word },
        }
    }

    /// The literal of a decoration of a target or of one of its members, or 0 if the decoration has
    /// none. `None` if the target does not have the decoration.
    pub fn decoration(&self, target: u32, member: u32, decoration: Decorate) -> Option<u32> {
        let key = (target, member, decoration as u32);
        let at = self.decorations.partition_point(|d| (d.target, d.member, d.decoration) < key);
        let found = self.decorations.get(at).filter(|d| (d.target, d.member, d.decoration) == key)?;
        Some(found.value)
    }

    /// The storage class and the pointee type of a pointer type.
    #[inline]
    pub fn pointer_type(&self, type_id: u32) -> Option<(StorageClass, u32)> {
        match self.types.get(type_id)? {
            Type::Pointer { class, pointee } => Some((class, pointee)),
            _ => None,
        }
    }

    /// Whether a pointer may be chosen at run time (SPIR-V §3.31, VariablePointersStorageBuffer).
    pub fn has_variable_pointers(&self) -> bool {
        self.has_capability(Capability::VariablePointersStorageBuffer)
    }

    /// Whether the memory of a variable has an explicit layout: a buffer, or a Block in Workgroup
    /// (WorkgroupMemoryExplicitLayoutKHR).
    pub fn has_layout(&self, variable: &Variable) -> bool {
        use StorageClass::{PushConstant, StorageBuffer, Uniform, Workgroup};
        let is_block = || self.decoration(variable.type_, WHOLE, Decorate::Block).is_some();
        matches!(variable.class, Uniform | StorageBuffer | PushConstant) || variable.class == Workgroup && is_block()
    }

    /// Whether a descriptor may name a resource of that type: an image, a sampler, or a Block.
    pub(in crate::spirv) fn is_resource(&self, type_id: u32) -> bool {
        let decorated = |decoration| self.decoration(type_id, WHOLE, decoration).is_some();
        match self.types.get(type_id) {
            Some(Type::Struct { .. }) => decorated(Decorate::Block) || decorated(Decorate::BufferBlock),
            type_ => type_.is_some_and(Type::is_opaque),
        }
    }

    /// Whether a type is an array of descriptors: an array of resources, or of such arrays.
    pub fn is_descriptor_array(&self, type_id: u32) -> bool {
        matches!(self.types.get(type_id), Some(Type::Array { .. } | Type::RuntimeArray { .. }))
            && self.is_resource(self.types.leaf(type_id))
    }

    /// The type of the resource at a descriptor of a variable: its own type, or that of the
    /// innermost elements if it is an array of descriptors.
    pub fn resource_type(&self, variable: &Variable) -> u32 {
        if self.is_descriptor_array(variable.type_) { self.types.leaf(variable.type_) } else { variable.type_ }
    }

    /// The number of descriptors of a variable: 1, or the length of its array of descriptors.
    /// `None` if the array has as many as are bound.
    pub fn descriptor_count(&self, variable: &Variable) -> Option<u64> {
        let (mut type_, mut count) = (variable.type_, 1u64);
        while self.is_descriptor_array(type_) {
            let Some(Type::Array { element, length, .. }) = self.types.get(type_) else { return None };
            (type_, count) = (element, count.saturating_mul(length));
        }
        Some(count)
    }

    /// Whether a type is a pointer to pointers.
    pub fn holds_pointer(&self, type_id: u32) -> bool {
        self.pointer_type(type_id).is_some_and(|(_, pointee)| self.pointer_type(pointee).is_some())
    }

    /// The ArrayStride of a pointer type, if it has this decoration.
    pub fn pointer_stride(&self, type_id: u32) -> Option<u32> {
        self.decoration(type_id, WHOLE, Decorate::ArrayStride)
    }

    /// The role of a variable in its environment, if it has one in the λV subset.
    pub fn interface(&self, variable: u32) -> Option<Interface> {
        match self.variable(variable)?.class {
            StorageClass::Input => {
                let built_in = self.decoration(variable, WHOLE, Decorate::BuiltIn)?;
                (built_in == BuiltIn::FragCoord as u32).then_some(Interface::FragCoord)
            }
            StorageClass::Output => self.decoration(variable, WHOLE, Decorate::Location).map(Interface::Output),
            StorageClass::Private => Some(Interface::Private),
            _ => self.descriptor(variable).map(|(set, binding)| Interface::Buffer(set, binding)),
        }
    }

    /// The descriptor set and the binding of a variable.
    pub fn descriptor(&self, variable: u32) -> Option<(u32, u32)> {
        let set = self.decoration(variable, WHOLE, Decorate::DescriptorSet)?;
        Some((set, self.decoration(variable, WHOLE, Decorate::Binding)?))
    }

    /// The built-in of a variable, or of a member of a structure.
    pub fn built_in(&self, target: u32, member: u32) -> Option<BuiltIn> {
        self.decoration(target, member, Decorate::BuiltIn).and_then(BuiltIn::from_u32)
    }

    /// The built-ins of a variable: its own, or those of its block's members.
    pub(in crate::spirv) fn built_ins(&self, variable: &Variable) -> impl Iterator<Item = BuiltIn> {
        let (type_, members) = (variable.type_, self.types.members(variable.type_).len() as u32);
        self.built_in(variable.id, WHOLE).into_iter().chain((0..members).filter_map(move |m| self.built_in(type_, m)))
    }

    /// The outputs of an entry point that matter even if no instruction names them. These are
    /// outputs with an initializer, and SampleMask and FragDepth. If SampleMask or FragDepth is in
    /// the interface and nothing is assigned to it, it is undefined (Vulkan, Built-In Variables).
    pub(in crate::spirv) fn standing_outputs(&self, entry: &EntryPoint) -> impl Iterator<Item = &Variable> {
        let outputs = self.interface_of(entry).iter().filter_map(|&id| self.variable(id)).filter(|v| v.class == StorageClass::Output);
        outputs.filter(|v| v.initializer.is_some() || self.built_ins(v).any(|b| matches!(b, BuiltIn::SampleMask | BuiltIn::FragDepth)))
    }

    /// The initial components of a variable, if it has an initializer.
    pub(in crate::spirv) fn initial_lanes(&self, variable: u32) -> Option<Lanes> {
        let mut lanes = Lanes::new();
        self.constant_lanes(self.instruction(self.variable(variable)?.initializer?)?, &mut lanes);
        Some(lanes)
    }

    /// The least size in bytes of the buffer of a variable.
    pub fn buffer_size(&self, variable: u32) -> u64 {
        self.variable(variable).map_or(0, |v| self.types.size(self.resource_type(v), Default::default()))
    }

    /// Whether the id is a constant, or an OpUndef at module scope.
    pub fn is_constant(&self, id: u32) -> bool {
        use Op::{Constant, ConstantComposite, ConstantFalse, ConstantNull, ConstantTrue};
        self.definition(id).is_some_and(|index| match self.instructions[index].op {
            ConstantTrue | ConstantFalse | Constant | ConstantComposite | ConstantNull => true,
            Op::Undef => self.block_of[index] == NO_BLOCK,
            _ => false,
        })
    }

    /// The bits of a defined scalar constant, zero-extended. A Boolean is 0 or 1.
    pub fn constant_value(&self, id: u32) -> Option<u64> {
        let constant = self.instruction(id)?;
        let type_ = self.types.get(constant.result_type).filter(|t| t.is_scalar())?;
        match constant.op {
            Op::ConstantTrue => Some(1),
            Op::ConstantFalse | Op::ConstantNull => Some(0),
            Op::Constant => {
                let literal = constant.operands(&self.words);
                let bits = u64::from(literal[0]) | literal.get(1).map_or(0, |&high| u64::from(high) << 32);
                Some(bits & (u64::MAX >> (64 - u32::from(type_.width()?))))
            }
            _ => None,
        }
    }

    /// The value of an integer constant, signed as its type is. An unsigned 64-bit value above the
    /// greatest signed value becomes negative.
    pub fn integer(&self, id: u32) -> Option<i64> {
        let bits = self.constant_value(id)?;
        match self.types.get(self.type_of(id)?)? {
            Type::Int { width, signed: true } => {
                let unused = 64 - u32::from(width);
                Some(((bits << unused) as i64) >> unused)
            }
            Type::Int { .. } => Some(bits as i64),
            _ => None,
        }
    }

    /// Appends the flat scalars of a constant. Appends nothing for other ids.
    pub fn constant_scalars(&self, id: u32, scalars: &mut Vec<ConstantScalar>) {
        let Some(constant) = self.instruction(id).filter(|_| self.is_constant(id)) else { return };
        let count = self.types.scalars(constant.result_type).min(MAX_SCALARS) as usize;
        if count == 0 {
            return;
        }
        match constant.op {
            // The types of the constituents are parts of the composite's type, so the nesting of
            // types bounds the recursion.
            Op::ConstantComposite => constant.operands(&self.words).iter().for_each(|&part| self.constant_scalars(part, scalars)),
            Op::ConstantNull => scalars.resize(scalars.len() + count, ConstantScalar { bits: 0, undefined: None }),
            Op::Undef => {
                let undefined = self.definition(id).map(|index| index as u32);
                scalars.resize(scalars.len() + count, ConstantScalar { bits: 0, undefined });
            }
            _ => scalars.extend(self.constant_value(id).map(|bits| ConstantScalar { bits, undefined: None })),
        }
    }

    /// Appends the components of a constant of float or Boolean components.
    pub(in crate::spirv) fn constant_lanes(&self, constant: &Instruction, lanes: &mut Lanes) {
        match constant.op {
            Op::ConstantTrue => lanes.push(Lane::truth(true)),
            Op::ConstantFalse => lanes.push(Lane::truth(false)),
            Op::Constant => lanes.push(Lane::exact(f32::from_bits(constant.operands(&self.words)[0]))),
            Op::ConstantNull => {
                let shape = self.shape(constant.result);
                let zero = if shape.scalar == Scalar::Bool { Lane::truth(false) } else { Lane::exact(0.0) };
                lanes.extend(std::iter::repeat_n(zero, shape.lanes()));
            }
            // A matrix of vectors of scalars at most: the checked types bound the recursion.
            Op::ConstantComposite => {
                for &id in constant.operands(&self.words) {
                    if let Some(part) = self.instruction(id) {
                        self.constant_lanes(part, lanes);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the instruction is a constant of float or Boolean components.
    pub(in crate::spirv) fn is_lane_constant(&self, index: usize) -> bool {
        let op = self.instructions[index].op;
        let constant = matches!(op, Op::ConstantTrue | Op::ConstantFalse | Op::Constant | Op::ConstantNull | Op::ConstantComposite);
        constant && self.shapes[index].is_lanes()
    }

    /// The source line of the instruction with this index: file, line and column. It comes from
    /// OpLine (SPIR-V §3.3.3) or from DebugLine of NonSemantic.Shader.DebugInfo.100.
    pub fn source_line(&self, index: usize) -> Option<(String, u32, u32)> {
        let block = self.block_of.get(index).and_then(|&b| self.blocks.get(b as usize));
        let start = block.map_or(0, |b| b.start as usize);
        let is_line = |i: &&Instruction| {
            matches!(i.op, Op::Line | Op::NoLine) || matches!(self.debug_information(i), Some((DEBUG_LINE | DEBUG_NO_LINE, _)))
        };
        let line = self.instructions.get(start..=index)?.iter().rev().find(is_line)?;
        if let Some((number, operands)) = self.debug_information(line) {
            let &[source, line, _, column, ..] = operands else { return None };
            let (_, source) = self.debug_information(self.instruction(source)?)?;
            let number_of = |id: u32| u32::try_from(self.constant_value(id)?).ok();
            return (number == DEBUG_LINE).then_some((self.string(*source.first()?)?, number_of(line)?, number_of(column)?));
        }
        let &[file, line, column] = line.operands(&self.words) else { return None };
        Some((self.string(file)?, line, column))
    }

    /// The text of a source file, if the module contains it. It comes from OpSource (SPIR-V
    /// §3.3.3) or from DebugSource of NonSemantic.Shader.DebugInfo.100.
    pub fn source_text(&self, file: &str) -> Option<String> {
        let mut text: Option<String> = None;
        for i in &self.instructions {
            let operands = i.operands(&self.words);
            let (named, more) = match (i.op, self.debug_information(i)) {
                (Op::Source, _) => {
                    (operands.get(2), operands.get(3..).and_then(|words| words::string_at(words).ok()).map(|(text, _)| text))
                }
                (Op::SourceContinued, _) => (None, words::string_at(operands).ok().map(|(text, _)| text)),
                (_, Some((DEBUG_SOURCE, operands))) => (operands.first(), operands.get(1).and_then(|&id| self.string(id))),
                (_, Some((DEBUG_SOURCE_CONTINUED, operands))) => (None, operands.first().and_then(|&id| self.string(id))),
                _ if text.is_some() => break,
                _ => continue,
            };
            match (named, &mut text) {
                (Some(_), Some(_)) => break,
                (Some(&id), None) => text = more.filter(|_| self.string(id).as_deref() == Some(file)),
                (None, Some(text)) => text.push_str(&more.unwrap_or_default()),
                (None, None) => {}
            }
        }
        text
    }

    /// The number and the operands of an instruction of NonSemantic.Shader.DebugInfo.100. `None`
    /// for others.
    fn debug_information(&self, i: &Instruction) -> Option<(u32, &[u32])> {
        let &[set, number, ref operands @ ..] = i.operands(&self.words) else { return None };
        let import = if i.is(Op::ExtInst) { self.instruction(set)? } else { return None };
        let (name, _) = words::string_at(import.operands(&self.words)).ok()?;
        (name == "NonSemantic.Shader.DebugInfo.100").then_some((number, operands))
    }

    /// The text of an OpString.
    fn string(&self, id: u32) -> Option<String> {
        let string = self.instruction(id).filter(|i| i.is(Op::String))?;
        words::string_at(string.operands(&self.words)).ok().map(|(text, _)| text)
    }

    /// The name that OpName gives an id, if it is not empty.
    pub fn name(&self, id: u32) -> Option<String> {
        let mut names = self.instructions.iter().filter(|i| i.is(Op::Name)).map(|i| i.operands(&self.words));
        let operands = names.find(|operands| operands[0] == id)?;
        words::string_at(&operands[1..]).ok().map(|(name, _)| name).filter(|name| !name.is_empty())
    }
}
