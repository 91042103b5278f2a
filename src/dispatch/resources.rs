//! The resources that an entry point needs: local size, descriptors, push constants and workgroup
//! memory. They are read from decoded words.
//!
//! This is less than loading. Nothing is checked beyond decoding, and any module of the
//! grammar can be read, even if the interpreters do not model it. Static use is defined as in
//! Vulkan: a variable is used if an instruction names it in a function that the entry point's
//! calls can reach.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::convert::Infallible;
use std::fmt;

use rspirv::spirv::{BuiltIn, Decoration, Dim, ExecutionMode, ExecutionModel, ImageFormat, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::image::{Format, Numeric, Shape};
use smallstep_semantics::spirv::grammar::{self, Op, OperandKind, Operands, SetInstruction};
use smallstep_semantics::spirv::words::{Decoded, string_at};
use smallstep_semantics::spirv::{Instruction, WordsError, decode};

/// The resource at a descriptor, as the module declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer, in either style.
    Storage,
    /// A single-sample image for sampling and fetches.
    SampledImage(Shape, Texels),
    /// A single-sample image for reads and writes, with its format. The format is None if the
    /// module leaves it open or names one that is not modeled.
    StorageImage(Shape, Option<Format>, Texels),
    /// A texel buffer for fetches, or with `written` for reads and writes.
    TexelBuffer {
        /// Whether it is a storage texel buffer.
        written: bool,
        /// The format that the module names. None if it names none, or one that is not modeled.
        format: Option<Format>,
        /// The component type of its texels.
        texels: Texels,
    },
    /// A sampler.
    Sampler,
    /// A sampled image together with a sampler.
    CombinedImageSampler(Shape, Texels),
    /// Another kind of image, or another object of storage class UniformConstant.
    Opaque,
}

/// The component type of an image's texels in the module: Vulkan, Image Type and
/// Format compatibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Texels {
    /// Floats.
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
}

impl Texels {
    /// Whether the texels of a format have this component type.
    pub fn are_of(self, format: Format) -> bool {
        match format.numeric() {
            Numeric::Uint => self == Texels::Uint,
            Numeric::Sint => self == Texels::Sint,
            Numeric::Unorm | Numeric::Snorm | Numeric::Float => self == Texels::Float,
        }
    }

    /// "floats", "unsigned integers" or "signed integers".
    pub fn name(self) -> &'static str {
        match self {
            Texels::Float => "floats",
            Texels::Uint => "unsigned integers",
            Texels::Sint => "signed integers",
        }
    }
}

/// A variable at a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// The id of the variable.
    pub id: u32,
    /// The `DescriptorSet`. None if it is not decorated.
    pub set: Option<u32>,
    /// The `Binding`. None if it is not decorated.
    pub binding: Option<u32>,
    /// The number of descriptors: 1, or the length of an array of descriptors. None if the array
    /// has as many as are bound.
    pub count: Option<u64>,
    /// The resource at each descriptor.
    pub kind: ResourceKind,
}

/// The needs of an entry point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The size of a workgroup. None if the module does not state it, as in stages other
    /// than compute.
    pub local_size: Option<[u32; 3]>,
    /// The bytes of workgroup memory that it uses, in std430 layout with Booleans of 32 bits.
    pub workgroup_bytes: u64,
    /// The end of the push constants that it uses, in bytes, by their explicit layout.
    pub push_constant_bytes: u64,
    /// The descriptors that it uses statically, in the order of declaration.
    pub descriptors: Vec<Descriptor>,
}

/// The reason why the needs of an entry point are not known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NeedsError {
    /// The words are not a module of the grammar.
    Words(WordsError),
    /// There is no such entry point. The text lists the existing ones.
    NoEntryPoint(String),
}

impl fmt::Display for NeedsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NeedsError::Words(error) => error.fmt(f),
            NeedsError::NoEntryPoint(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for NeedsError {}

impl From<NeedsError> for InvalidInput {
    fn from(error: NeedsError) -> InvalidInput {
        InvalidInput::new(InputFault::EntryPoint, error.to_string())
    }
}

/// The needs of the entry point with that stage and name.
pub fn needs(words: &[u32], model: ExecutionModel, entry: &str) -> Result<Needs, NeedsError> {
    let decoded = decode(words).map_err(NeedsError::Words)?;
    let declared = Declared::of(&decoded);
    let Some(&(_, function, _)) = declared.entry_points.iter().find(|(m, _, name)| *m == model as u32 && name == entry) else {
        let describe = |m: &u32, name: &str| match ExecutionModel::from_u32(*m) {
            Some(model) => format!("{model:?} \"{name}\""),
            None => format!("\"{name}\""),
        };
        let names: Vec<String> = declared.entry_points.iter().take(16).map(|(m, _, name)| describe(m, name)).collect();
        let names = if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(NeedsError::NoEntryPoint(format!("the module has no {model:?} entry point \"{entry}\"; it has {names}")));
    };
    let used = declared.used_from(&decoded, function);
    let mut needs = Needs { local_size: declared.local_size(&decoded, function), ..Needs::default() };
    let mut end = 0u64;
    for variable in declared.variables.iter().filter(|variable| used.contains(&variable.id)) {
        match variable.class {
            StorageClass::Workgroup => {
                let (size, align) = declared.sizes.get(&variable.pointee).map_or((0, 1), |size| size.std430);
                end = end.checked_next_multiple_of(align).unwrap_or(u64::MAX).saturating_add(size);
            }
            StorageClass::PushConstant => {
                let size = declared.sizes.get(&variable.pointee).map_or(0, |size| size.explicit);
                needs.push_constant_bytes = needs.push_constant_bytes.max(size);
            }
            _ => needs.descriptors.extend(declared.descriptor(&decoded, variable)),
        }
    }
    needs.workgroup_bytes = end;
    Ok(needs)
}

/// All variables of a module at descriptors, used or not, in the order of declaration.
pub fn descriptors(decoded: &Decoded<'_>) -> Vec<Descriptor> {
    let declared = Declared::of(decoded);
    declared.variables.iter().filter_map(|variable| declared.descriptor(decoded, variable)).collect()
}

struct Variable {
    id: u32,
    class: StorageClass,
    pointee: u32,
}

/// The sizes of a type in bytes. They saturate.
#[derive(Clone, Copy)]
struct Size {
    /// The size and alignment by the rules of std430.
    std430: (u64, u64),
    /// The size by Offset, ArrayStride and MatrixStride, up to the last byte. 0 for a
    /// runtime array.
    explicit: u64,
}

/// The declarations in the sections before the functions.
#[derive(Default)]
struct Declared {
    /// The execution model, function and name of each.
    entry_points: Vec<(u32, u32, String)>,
    local_sizes: FxHashMap<u32, [u32; 3]>,
    /// `LocalSizeId`, by function.
    local_size_ids: FxHashMap<u32, [u32; 3]>,
    workgroup_size: Option<u32>,
    sets: FxHashMap<u32, u32>,
    bindings: FxHashMap<u32, u32>,
    buffer_blocks: FxHashSet<u32>,
    array_strides: FxHashMap<u32, u32>,
    /// By structure and member: Offset, MatrixStride, and whether it is row-major.
    members: FxHashMap<(u32, u32), Member>,
    sizes: FxHashMap<u32, Size>,
    constants: FxHashMap<u32, u32>,
    variables: Vec<Variable>,
}

#[derive(Clone, Copy, Default)]
struct Member {
    offset: u32,
    matrix_stride: u32,
    row_major: bool,
}

impl Declared {
    fn of(decoded: &Decoded<'_>) -> Declared {
        let mut declared = Declared::default();
        let mut groups: FxHashMap<u32, Vec<&[u32]>> = FxHashMap::default();
        for instruction in &decoded.instructions {
            let operands = instruction.operands(decoded.words);
            match instruction.op {
                Op::Function => break,
                Op::EntryPoint => {
                    let name = string_at(&operands[2..]).map(|(name, _)| name).unwrap_or_default();
                    declared.entry_points.push((operands[0], operands[1], name));
                }
                Op::ExecutionMode | Op::ExecutionModeId => declared.execution_mode(operands),
                Op::Decorate => {
                    declared.decorate(operands[0], &operands[1..]);
                    groups.entry(operands[0]).or_default().push(&operands[1..]);
                }
                Op::GroupDecorate => {
                    for decoration in groups.get(&operands[0]).into_iter().flatten() {
                        operands[1..].iter().for_each(|target| declared.decorate(*target, decoration));
                    }
                }
                Op::MemberDecorate => declared.decorate_member(operands),
                Op::Variable => declared.variable(decoded, instruction, operands),
                Op::Constant | Op::SpecConstant => {
                    declared.constants.insert(instruction.result, operands[0]);
                }
                _ => {
                    if let Some(size) = declared.size(decoded, instruction, operands) {
                        declared.sizes.insert(instruction.result, size);
                    }
                }
            }
        }
        declared
    }

    fn execution_mode(&mut self, operands: &[u32]) {
        let &[function, mode, x, y, z] = operands else { return };
        if mode == ExecutionMode::LocalSize as u32 {
            self.local_sizes.insert(function, [x, y, z]);
        } else if mode == ExecutionMode::LocalSizeId as u32 {
            self.local_size_ids.insert(function, [x, y, z]);
        }
    }

    fn decorate(&mut self, target: u32, decoration: &[u32]) {
        let literal = decoration.get(1).copied().unwrap_or(0);
        match Decoration::from_u32(decoration[0]) {
            Some(Decoration::DescriptorSet) => _ = self.sets.insert(target, literal),
            Some(Decoration::Binding) => _ = self.bindings.insert(target, literal),
            Some(Decoration::BufferBlock) => _ = self.buffer_blocks.insert(target),
            Some(Decoration::ArrayStride) => _ = self.array_strides.insert(target, literal),
            Some(Decoration::BuiltIn) if literal == BuiltIn::WorkgroupSize as u32 => self.workgroup_size = Some(target),
            _ => {}
        }
    }

    fn decorate_member(&mut self, operands: &[u32]) {
        let literal = operands.get(3).copied().unwrap_or(0);
        let member = self.members.entry((operands[0], operands[1])).or_default();
        match Decoration::from_u32(operands[2]) {
            Some(Decoration::Offset) => member.offset = literal,
            Some(Decoration::MatrixStride) => member.matrix_stride = literal,
            Some(Decoration::RowMajor) => member.row_major = true,
            _ => {}
        }
    }

    fn variable(&mut self, decoded: &Decoded<'_>, variable: &Instruction, operands: &[u32]) {
        let pointee = defined(decoded, variable.result_type, Op::TypePointer).map(|operands| operands[1]);
        if let (Some(class), Some(pointee)) = (StorageClass::from_u32(operands[0]), pointee) {
            self.variables.push(Variable { id: variable.result, class, pointee });
        }
    }

    /// The size of a type. Types are declared before they are used, so the sizes of their parts are
    /// known. A missing part has no size.
    fn size(&self, decoded: &Decoded<'_>, ty: &Instruction, operands: &[u32]) -> Option<Size> {
        let of = |id: u32| self.sizes.get(&id).copied();
        let plain = |size: u64, align: u64| Some(Size { std430: (size, align), explicit: size });
        match ty.op {
            Op::TypeBool => plain(4, 4),
            Op::TypeInt | Op::TypeFloat => {
                let bytes = u64::from(operands[0].div_ceil(8)).clamp(1, 8);
                plain(bytes, bytes)
            }
            Op::TypeVector => {
                // The component must be a scalar. Any other type is invalid, and is clamped instead
                // of failing.
                let (part, count) = (of(operands[0])?.std430.0.clamp(1, 8), u64::from(operands[1]));
                plain(part * count, part * if count == 2 { 2 } else { 4 })
            }
            Op::TypeMatrix => {
                let ((column, align), count) = (of(operands[0])?.std430, u64::from(operands[1]));
                let size = column.checked_next_multiple_of(align)?.saturating_mul(count);
                Some(Size { std430: (size, align), explicit: size })
            }
            Op::TypeArray => {
                let (element, count) = (of(operands[0])?, u64::from(*self.constants.get(&operands[1])?));
                let (size, align) = element.std430;
                let stride = u64::from(self.array_strides.get(&ty.result).copied().unwrap_or(0));
                let explicit = stride.saturating_mul(count.saturating_sub(1)).saturating_add(element.explicit);
                Some(Size { std430: (size.checked_next_multiple_of(align)?.saturating_mul(count), align), explicit })
            }
            Op::TypeRuntimeArray => Some(Size { std430: (0, of(operands[0])?.std430.1), explicit: 0 }),
            Op::TypeStruct => {
                let (mut end, mut align, mut explicit) = (0u64, 1u64, 0u64);
                for (i, &id) in operands.iter().enumerate() {
                    let part = of(id)?;
                    let member = self.members.get(&(ty.result, i as u32)).copied().unwrap_or_default();
                    end = end.checked_next_multiple_of(part.std430.1)?.saturating_add(part.std430.0);
                    align = align.max(part.std430.1);
                    let size = self.matrix(decoded, id, member).unwrap_or(part.explicit);
                    explicit = explicit.max(u64::from(member.offset).saturating_add(size));
                }
                Some(Size { std430: (end.checked_next_multiple_of(align)?, align), explicit })
            }
            _ => None,
        }
    }

    /// The explicit size of a matrix that is a member. Its columns or rows are a stride apart.
    fn matrix(&self, decoded: &Decoded<'_>, id: u32, member: Member) -> Option<u64> {
        let &[column, columns] = defined(decoded, id, Op::TypeMatrix)? else { return None };
        let &[part, rows] = defined(decoded, column, Op::TypeVector)? else { return None };
        let (vectors, lanes) = if member.row_major { (rows, columns) } else { (columns, rows) };
        let lane = self.sizes.get(&part)?.std430.0.clamp(1, 8);
        Some(u64::from(member.matrix_stride) * u64::from(vectors.saturating_sub(1)) + lane * u64::from(lanes))
    }

    fn local_size(&self, decoded: &Decoded<'_>, function: u32) -> Option<[u32; 3]> {
        let values = |ids: [u32; 3]| Some([*self.constants.get(&ids[0])?, *self.constants.get(&ids[1])?, *self.constants.get(&ids[2])?]);
        // In Vulkan, an object that is decorated WorkgroupSize takes precedence.
        let composite = self.workgroup_size.and_then(|id| {
            let operands = defined(decoded, id, Op::ConstantComposite).or_else(|| defined(decoded, id, Op::SpecConstantComposite))?;
            values(operands.try_into().ok()?)
        });
        let by_ids = || self.local_size_ids.get(&function).and_then(|ids| values(*ids));
        composite.or_else(|| self.local_sizes.get(&function).copied()).or_else(by_ids)
    }

    fn descriptor(&self, decoded: &Decoded<'_>, variable: &Variable) -> Option<Descriptor> {
        let (mut pointee, mut count) = (variable.pointee, Some(1u64));
        loop {
            if let Some(&[element, length]) = defined(decoded, pointee, Op::TypeArray) {
                let length = self.constants.get(&length).copied().map(u64::from);
                (pointee, count) = (element, count.zip(length).map(|(count, length)| count.saturating_mul(length)));
            } else if let Some(&[element]) = defined(decoded, pointee, Op::TypeRuntimeArray) {
                (pointee, count) = (element, None);
            } else {
                break;
            }
        }
        let kind = match variable.class {
            StorageClass::Uniform if !self.buffer_blocks.contains(&pointee) => ResourceKind::Uniform,
            StorageClass::Uniform | StorageClass::StorageBuffer => ResourceKind::Storage,
            StorageClass::UniformConstant => opaque(decoded, pointee),
            _ => return None,
        };
        let (set, binding) = (self.sets.get(&variable.id).copied(), self.bindings.get(&variable.id).copied());
        Some(Descriptor { id: variable.id, set, binding, count, kind })
    }

    /// The variables that are named in the function `entry` or in functions reachable from it.
    fn used_from(&self, decoded: &Decoded<'_>, entry: u32) -> FxHashSet<u32> {
        let mut bodies: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
        let mut open = None;
        for (i, instruction) in decoded.instructions.iter().enumerate() {
            match instruction.op {
                Op::Function => open = Some((instruction.result, i)),
                Op::FunctionEnd => {
                    if let Some((id, first)) = open.take() {
                        bodies.insert(id, (first, i));
                    }
                }
                _ => {}
            }
        }
        let variables: FxHashSet<u32> = self.variables.iter().map(|variable| variable.id).collect();
        let mut used = FxHashSet::default();
        let (mut waiting, mut reached) = (vec![entry], FxHashSet::from_iter([entry]));
        while let Some((first, end)) = waiting.pop().and_then(|function| bodies.get(&function).copied()) {
            for instruction in &decoded.instructions[first..end] {
                for_each_id(decoded, instruction, &mut |id| {
                    if variables.contains(&id) {
                        used.insert(id);
                    }
                });
                if let (Op::FunctionCall, [callee, ..]) = (instruction.op, instruction.operands(decoded.words))
                    && bodies.contains_key(callee)
                    && reached.insert(*callee)
                {
                    waiting.push(*callee);
                }
            }
        }
        used
    }
}

/// The resource of a variable of class UniformConstant with that type.
fn opaque(decoded: &Decoded<'_>, ty: u32) -> ResourceKind {
    if defined(decoded, ty, Op::TypeSampler).is_some() {
        return ResourceKind::Sampler;
    }
    let combined = defined(decoded, ty, Op::TypeSampledImage).map(|operands| operands[0]);
    let Some(&[component, dim, _depth, arrayed, multisampled, sampled, format, ..]) =
        defined(decoded, combined.unwrap_or(ty), Op::TypeImage)
    else {
        return ResourceKind::Opaque;
    };
    let texels = match (defined(decoded, component, Op::TypeFloat), defined(decoded, component, Op::TypeInt)) {
        (Some(&[32, ..]), _) => Texels::Float,
        (_, Some(&[32, signed])) => [Texels::Uint, Texels::Sint][usize::from(signed == 1)],
        _ => return ResourceKind::Opaque,
    };
    let format_of = || ImageFormat::from_u32(format).and_then(Format::of_spirv);
    if Dim::from_u32(dim) == Some(Dim::DimBuffer) {
        return match (combined, arrayed, multisampled, sampled) {
            // A texel buffer that is declared as a sampled image has no sampler either.
            (None, 0, 0, 1 | 2) | (Some(_), 0, 0, 1) => ResourceKind::TexelBuffer { written: sampled == 2, format: format_of(), texels },
            _ => ResourceKind::Opaque,
        };
    }
    let shape = match (Dim::from_u32(dim), arrayed) {
        (Some(Dim::Dim1D), 0) => Shape::D1,
        (Some(Dim::Dim1D), _) => Shape::D1Array,
        (Some(Dim::Dim2D), 0) => Shape::D2,
        (Some(Dim::Dim2D), _) => Shape::D2Array,
        (Some(Dim::Dim3D), 0) => Shape::D3,
        (Some(Dim::DimCube), 0) => Shape::Cube,
        (Some(Dim::DimCube), _) => Shape::CubeArray,
        _ => return ResourceKind::Opaque,
    };
    match (combined.is_some(), sampled) {
        _ if multisampled != 0 => ResourceKind::Opaque,
        (true, 1) => ResourceKind::CombinedImageSampler(shape, texels),
        (false, 1) => ResourceKind::SampledImage(shape, texels),
        (false, 2) => ResourceKind::StorageImage(shape, format_of(), texels),
        _ => ResourceKind::Opaque,
    }
}

/// The operands of the instruction that defines the id, if it is an `op`.
pub(crate) fn defined<'w>(decoded: &Decoded<'w>, id: u32, op: Op) -> Option<&'w [u32]> {
    let index = decoded.definitions.get(id as usize)?.checked_sub(1)?;
    let instruction = decoded.instructions.get(index as usize)?;
    instruction.is(op).then(|| instruction.operands(decoded.words))
}

/// Calls `visit` with every id that the instruction names. OpSwitch is left out: its literals are
/// as wide as its selector, and it names no variable.
pub(crate) fn for_each_id(decoded: &Decoded<'_>, instruction: &Instruction, visit: &mut dyn FnMut(u32)) {
    if instruction.is(Op::Switch) {
        return;
    }
    let words = instruction.words(decoded.words);
    if let Some(grammar) = grammar::instruction(words[0] as u16) {
        let Ok(()) = grammar::walk(grammar, &mut Ids { decoded, words, at: 1, last: 0, visit });
    }
}

struct Ids<'a, 'w> {
    decoded: &'a Decoded<'w>,
    words: &'a [u32],
    at: usize,
    last: u32,
    visit: &'a mut dyn FnMut(u32),
}

impl Operands for Ids<'_, '_> {
    type Error = Infallible;

    fn at_end(&mut self) -> bool {
        self.at >= self.words.len()
    }

    fn read(&mut self, kind: OperandKind) -> Result<u32, Infallible> {
        let rest = self.words.get(self.at..).unwrap_or_default();
        let word = rest.first().copied().unwrap_or(0);
        self.at += match kind {
            OperandKind::LiteralString => string_at(rest).map_or(1, |(_, length)| length),
            _ => 1,
        };
        if grammar::is_id(kind) {
            self.last = word;
            (self.visit)(word);
        }
        Ok(word)
    }

    fn set_instruction(&mut self, number: u32) -> Result<Option<&'static SetInstruction>, Infallible> {
        Ok(self.decoded.set(self.last).and_then(|set| set.by_number(number)))
    }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::spirv::{Options, assemble};

    use super::*;

    const MODULE: &str = r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %id
        OpEntryPoint GLCompute %other "other"
        OpExecutionMode %main LocalSize 8 4 2
        OpExecutionMode %other LocalSize 1 1 1
        OpDecorate %id BuiltIn LocalInvocationIndex
        OpDecorate %block Block
        OpDecorate %old BufferBlock
        OpDecorate %words ArrayStride 4
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %old 0 Offset 0
        OpDecorate %pushed Block
        OpMemberDecorate %pushed 0 Offset 0
        OpMemberDecorate %pushed 1 Offset 16
        OpMemberDecorate %pushed 1 ColMajor
        OpMemberDecorate %pushed 1 MatrixStride 16
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 7
        OpDecorate %grouped DescriptorSet 3
        OpDecorate %grouped Binding 2
        %grouped = OpDecorationGroup
        OpGroupDecorate %grouped %in %unused
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %float = OpTypeFloat 32
        %vec3 = OpTypeVector %float 3
        %mat = OpTypeMatrix %vec3 3
        %bool = OpTypeBool
        %5 = OpConstant %uint 5
        %zero = OpConstant %uint 0
        %words = OpTypeRuntimeArray %uint
        %block = OpTypeStruct %words
        %old = OpTypeStruct %uint
        %pushed = OpTypeStruct %uint %mat
        %element = OpTypeStruct %bool %vec3
        %array = OpTypeArray %element %5
        %p_input = OpTypePointer Input %uint
        %p_block = OpTypePointer StorageBuffer %block
        %p_old = OpTypePointer Uniform %old
        %p_pushed = OpTypePointer PushConstant %pushed
        %p_array = OpTypePointer Workgroup %array
        %p_flag = OpTypePointer Workgroup %bool
        %p_word = OpTypePointer StorageBuffer %uint
        %p_old_word = OpTypePointer Uniform %uint
        %p_pushed_word = OpTypePointer PushConstant %uint
        %p_member = OpTypePointer Workgroup %bool
        %id = OpVariable %p_input Input
        %out = OpVariable %p_block StorageBuffer
        %in = OpVariable %p_old Uniform
        %unused = OpVariable %p_old Uniform
        %push = OpVariable %p_pushed PushConstant
        %flag = OpVariable %p_flag Workgroup
        %shared = OpVariable %p_array Workgroup
        %other = OpFunction %void None %function
        %o1 = OpLabel
        OpReturn
        OpFunctionEnd
        %callee = OpFunction %void None %function
        %c1 = OpLabel
        %c2 = OpAccessChain %p_old_word %in %zero
        %c3 = OpAccessChain %p_pushed_word %push %zero
        %c4 = OpAccessChain %p_member %shared %zero %zero
        OpReturn
        OpFunctionEnd
        %main = OpFunction %void None %function
        %m1 = OpLabel
        %m2 = OpAccessChain %p_word %out %zero %zero
        %m3 = OpLoad %bool %flag
        %m4 = OpFunctionCall %void %callee
        %m5 = OpFunctionCall %void %main
        OpReturn
        OpFunctionEnd
    "#;

    fn module() -> Vec<u32> {
        assemble(MODULE, Options::default()).expect("it assembles")
    }

    #[test]
    fn what_calls_can_reach_is_needed_and_nothing_else() {
        let needs = needs(&module(), ExecutionModel::GLCompute, "main").expect("it is there");
        assert_eq!(needs.local_size, Some([8, 4, 2]));
        let places: Vec<_> = needs.descriptors.iter().map(|d| (d.set, d.binding, d.kind)).collect();
        assert_eq!(places, [(Some(0), Some(7), ResourceKind::Storage), (Some(3), Some(2), ResourceKind::Storage)]);
        // The matrix is at 16. Two columns are 16 apart, and the third has 12 bytes.
        assert_eq!(needs.push_constant_bytes, 16 + 32 + 12);
        // The flag has 4 bytes, and the array begins at 16. It has five elements, each with a
        // Boolean, 12 bytes of padding, a vector of 12, and 4 bytes of padding.
        assert_eq!(needs.workgroup_bytes, 16 + 5 * 32);
    }

    #[test]
    fn images_are_told_apart_by_what_the_module_takes_them_for() {
        let text = |component: &str, image: &str, of: &str| {
            format!(
                "OpCapability Shader\n OpMemoryModel Logical GLSL450\n %c = OpType{component}\n %image = OpTypeImage %c {image}
                 %both = OpTypeSampledImage %image\n %sampler = OpTypeSampler\n %p = OpTypePointer UniformConstant %{of}
                 %v = OpVariable %p UniformConstant"
            )
        };
        let cases = [
            ("Float 32", "2D 0 0 0 1 Unknown", "image", ResourceKind::SampledImage(Shape::D2, Texels::Float)),
            ("Int 32 1", "2D 0 0 0 1 Unknown", "both", ResourceKind::CombinedImageSampler(Shape::D2, Texels::Sint)),
            ("Int 32 0", "2D 0 0 0 2 R32ui", "image", ResourceKind::StorageImage(Shape::D2, Some(Format::R32Uint), Texels::Uint)),
            ("Float 32", "2D 0 0 0 2 Unknown", "image", ResourceKind::StorageImage(Shape::D2, None, Texels::Float)),
            ("Float 32", "2D 0 0 0 1 Unknown", "sampler", ResourceKind::Sampler),
            ("Float 32", "3D 0 0 0 1 Unknown", "image", ResourceKind::SampledImage(Shape::D3, Texels::Float)),
            ("Float 32", "2D 0 1 0 1 Unknown", "both", ResourceKind::CombinedImageSampler(Shape::D2Array, Texels::Float)),
            ("Float 32", "Cube 0 1 0 1 Unknown", "image", ResourceKind::SampledImage(Shape::CubeArray, Texels::Float)),
            ("Float 32", "2D 0 0 1 1 Unknown", "image", ResourceKind::Opaque),
        ];
        for (component, image, of, kind) in cases {
            let words = assemble(&text(component, image, of), Options::default()).expect("it assembles");
            let found = descriptors(&decode(&words).expect("it decodes"));
            assert_eq!(found.iter().map(|d| d.kind).collect::<Vec<_>>(), [kind], "{component}, {image}, {of}");
        }
    }

    #[test]
    fn another_entry_point_needs_nothing_of_the_first_one_s() {
        let needs = needs(&module(), ExecutionModel::GLCompute, "other").expect("it is there");
        assert_eq!(needs, Needs { local_size: Some([1, 1, 1]), ..Needs::default() });
        assert_eq!(descriptors(&decode(&module()).expect("it decodes")).len(), 3);
    }

    #[test]
    fn an_entry_point_that_is_not_there_is_said_with_those_that_are() {
        for (model, name) in [(ExecutionModel::GLCompute, "absent"), (ExecutionModel::Fragment, "main")] {
            let error = needs(&module(), model, name).expect_err("it is not there").to_string();
            assert!(error.contains(name) && error.contains("GLCompute \"main\", GLCompute \"other\""), "{error}");
        }
        assert!(matches!(needs(&[1, 2], ExecutionModel::Fragment, "main"), Err(NeedsError::Words(_))));
    }
}
