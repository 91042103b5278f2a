//! Variables, and the explicit layout of variables in buffers.

use rspirv::spirv::{BuiltIn, Capability, Decoration as Decorate, ExecutionModel, StorageClass};

use super::{Checked, Declare, Section};
use crate::spirv::error::Check;
use crate::spirv::grammar::{Op, OperandKind};
use crate::spirv::module::{Variable, WHOLE};
use crate::spirv::types::{MAX_BYTES, MAX_SCALARS, MatrixLayout, Type};
use crate::spirv::words::Instruction;

/// The greatest number of variables of a module.
const MAX_VARIABLES: usize = 1 << 16;

impl Declare<'_> {
    pub(super) fn variable(&mut self, i: &Instruction) -> Checked {
        self.earlier_type(i.result_type)?;
        let operands = i.operands(&self.module.words);
        let declared = operands[0];
        let Some((class, type_)) = self.module.pointer_type(i.result_type).filter(|&(c, _)| c as u32 == declared) else {
            let text = self.text(OperandKind::StorageClass, declared);
            return self.fail(Check::Variable, format!("%{} is a variable in {text}, but its type is no pointer into {text}", i.result));
        };
        let initializer = operands.get(1).copied();
        match (self.function, class) {
            (None, StorageClass::Function) => {
                return self.fail(Check::Variable, format!("%{} is a variable in Function outside of a function", i.result));
            }
            (None, _) => self.enter(Section::Declaration, i)?,
            (Some(_), StorageClass::Function) => self.in_first_block(i)?,
            (Some(_), _) => {
                let text = self.text(OperandKind::StorageClass, declared);
                let what = format!("%{} is a variable in {text} within a function; it must be in Function", i.result);
                return self.fail(Check::Variable, what);
            }
        }
        self.check_contents(i.result, class, type_)?;
        self.read_only(i.result, class)?;
        if let Some(initializer) = initializer {
            self.initializer(i.result, class, type_, initializer)?;
        }
        if self.module.variables.len() >= MAX_VARIABLES {
            return self.limit("variables", MAX_VARIABLES as u64);
        }
        if !has_layout(class) {
            self.variable_scalars = self.variable_scalars.saturating_add(self.module.types.scalars(type_));
            if self.variable_scalars > MAX_SCALARS {
                return self.limit("scalars in variables", MAX_SCALARS);
            }
        }
        let instruction = self.index as u32;
        self.module.variables.push(Variable { id: i.result, instruction, class, type_, initializer, function: self.function });
        if self.function.is_none() {
            self.module.globals = self.module.variables.len();
        }
        self.module.shapes[self.index] = crate::spirv::types::shape(&self.module.types, i.result_type);
        Ok(())
    }

    /// Checks that an OpVariable of a function is among the first instructions of its first block
    /// (SPIR-V §2.4).
    fn in_first_block(&mut self, i: &Instruction) -> Checked {
        let Some(block) = self.block else {
            return self.fail(Check::OutsideBlock, format!("{} stands outside of a block", i.name()));
        };
        let first = self.function.map(|f| self.module.functions[f as usize].first_block) == Some(block);
        let start = self.module.blocks[block as usize].start as usize;
        let before = &self.module.instructions[start..self.index];
        // Only the instruction before matters. Earlier ones were checked with their own OpVariable.
        let follows = before.iter().rev().find(|b| !matches!(b.op, Op::Line | Op::NoLine)).is_none_or(|b| matches!(b.op, Op::Variable));
        if !first || !follows {
            let what =
                format!("%{} = OpVariable stands after other instructions; it is among the first of the function's first block", i.result);
            return self.fail(Check::Variable, what);
        }
        self.module.block_of[self.index] = block;
        Ok(())
    }

    /// Checks that a variable's storage class may be NonWritable. An invocation's own variables may
    /// be from 1.4 on, interfaces and Workgroup never (SPIR-V §3.20).
    fn read_only(&self, variable: u32, class: StorageClass) -> Checked {
        use StorageClass::{Function, Input, Output, Private, Workgroup};
        let is_own = matches!(class, Function | Private);
        let is_never_read_only = matches!(class, Input | Output | Workgroup);
        if self.module.decoration(variable, WHOLE, Decorate::NonWritable).is_none() || self.module.unmodeled {
            return Ok(());
        }
        let minor = self.module.header.minor;
        if is_own && minor < 4 {
            let what = format!("%{variable} is in {class:?} and NonWritable, which needs SPIR-V 1.4, and this is SPIR-V 1.{minor}");
            return self.fail(Check::Version, what);
        }
        if is_never_read_only {
            return self.fail(
                Check::Decoration,
                format!("%{variable} is in {class:?} and NonWritable, which only memory of buffers, images and an invocation's own can be"),
            );
        }
        Ok(())
    }

    fn initializer(&self, variable: u32, class: StorageClass, type_: u32, initializer: u32) -> Checked {
        use StorageClass::{Function, Output, Private, Workgroup};
        let index = self.earlier_definition(initializer)?;
        if self.module.instructions[index].is(Op::Variable) {
            return self.unsupported(format!("OpVariable {class:?} with a variable as its initializer"));
        }
        if !self.module.is_constant(initializer) || self.module.instructions[index].result_type != type_ {
            let what = format!("the initializer of %{variable}, %{initializer}, is no constant of type %{type_}");
            return self.fail(Check::Variable, what);
        }
        if !matches!(class, Function | Output | Private | Workgroup) {
            let what = format!("%{variable} is in {class:?} and has an initializer; only Function, Output, Private and Workgroup may");
            return self.fail(Check::Variable, what);
        }
        if class == Workgroup && self.module.decoration(type_, WHOLE, Decorate::Block).is_some() && !self.module.unmodeled {
            return self.unsupported(format!("OpVariable Workgroup of a Block with an initializer (%{variable})"));
        }
        if class == Workgroup && !self.module.instructions[index].is(Op::ConstantNull) {
            return self.fail(Check::Variable, format!("the initializer of %{variable}, in Workgroup, is no OpConstantNull"));
        }
        Ok(())
    }

    /// Checks the contents of a variable of this storage class.
    fn check_contents(&mut self, variable: u32, class: StorageClass, type_: u32) -> Checked {
        use StorageClass::*;
        let contents = self.module.types.contents(type_);
        let text = || self.module.types.text(type_);
        if matches!(self.module.types.get(type_), None | Some(Type::Void | Type::Function { .. })) {
            return self.fail(Check::Variable, format!("%{variable} holds {}, which has no values", text()));
        }
        let may_hold = self.module.has_variable_pointers() && !self.module.unmodeled;
        if contents.pointer && matches!(class, Function | Private) && may_hold {
            // Stores and loads check what it points to.
            return match self.module.pointer_type(type_) {
                Some((StorageBuffer | Workgroup, _)) => Ok(()),
                _ => self.unsupported(format!("OpVariable {class:?} that holds {} (%{variable})", text())),
            };
        }
        if contents.pointer {
            return self.unsupported(format!("OpVariable {class:?} that holds a pointer (%{variable})"));
        }
        if class == UniformConstant {
            return self.descriptor(variable, type_);
        }
        if contents.opaque {
            return self.fail(Check::Variable, format!("%{variable} is in {class:?} and holds {}; it must be in UniformConstant", text()));
        }
        if matches!(class, Function | Private | Workgroup | Input | Output) && contents.runtime_array {
            let what = format!("%{variable} is in {class:?} and holds {}, which it may not hold", text());
            return self.fail(Check::Variable, what);
        }
        match class {
            Input | Output => self.interface(variable, class, type_),
            Uniform | StorageBuffer | PushConstant => self.buffer(variable, class, type_),
            Workgroup if !self.module.unmodeled => self.workgroup(variable, type_),
            _ => Ok(()),
        }
    }

    /// Checks a variable in Workgroup. If it is a Block, its layout is explicit.
    fn workgroup(&mut self, variable: u32, type_: u32) -> Checked {
        if self.module.decoration(type_, WHOLE, Decorate::Block).is_none() {
            return Ok(());
        }
        if !self.module.has_capability(Capability::WorkgroupMemoryExplicitLayoutKHR) {
            let what = format!("%{variable} is in Workgroup and a Block, which needs the capability WorkgroupMemoryExplicitLayoutKHR");
            return self.fail(Check::Capability, what);
        }
        let contents = self.module.types.contents(type_);
        if contents.boolean {
            let what = format!("%{variable} is in Workgroup and a Block, and holds a Boolean, which has no place in a layout");
            return self.fail(Check::Layout, what);
        }
        self.layout(type_)?;
        if self.module.types.size(type_, MatrixLayout::default()) > MAX_BYTES {
            return self.limit("bytes in a Workgroup variable", MAX_BYTES);
        }
        Ok(())
    }

    /// Checks a variable in UniformConstant: an image, a sampler or both.
    fn descriptor(&self, variable: u32, type_: u32) -> Checked {
        match self.module.types.get(type_) {
            Some(type_) if type_.is_opaque() => self.check_descriptor(variable),
            Some(_) if self.module.is_descriptor_array(type_) => self.check_descriptor(variable),
            _ => {
                let what = format!(
                    "%{variable} is in UniformConstant and holds {}; it holds an image or a sampler",
                    self.module.types.text(type_)
                );
                self.fail(Check::Variable, what)
            }
        }
    }

    /// Checks that a variable has a descriptor set and a binding.
    fn check_descriptor(&self, variable: u32) -> Checked {
        for decoration in [Decorate::DescriptorSet, Decorate::Binding] {
            if self.module.decoration(variable, WHOLE, decoration).is_none() {
                return self.fail(Check::Decoration, format!("variable %{variable} has no {decoration:?}"));
            }
        }
        Ok(())
    }

    fn buffer(&mut self, variable: u32, class: StorageClass, type_: u32) -> Checked {
        let is_array = self.module.is_descriptor_array(type_) && class != StorageClass::PushConstant;
        let type_ = if is_array || self.module.unmodeled { self.module.types.leaf(type_) } else { type_ };
        let decorated = |d| self.module.decoration(type_, WHOLE, d).is_some();
        let (block, buffer_block) = (decorated(Decorate::Block), decorated(Decorate::BufferBlock));
        match self.module.types.get(type_) {
            Some(Type::Struct { .. }) => {}
            _ => return self.unsupported(format!("a buffer that is no structure (%{variable})")),
        }
        if !(block || buffer_block && class == StorageClass::Uniform) {
            return self.fail(Check::Decoration, format!("the structure of buffer %{variable}, %{type_}, is no Block"));
        }
        if class != StorageClass::PushConstant {
            self.check_descriptor(variable)?;
        }
        let contents = self.module.types.contents(type_);
        if contents.runtime_array && class != StorageClass::StorageBuffer && !buffer_block {
            let what = format!("%{variable} is in {class:?} and holds a runtime array; only storage buffers may");
            return self.fail(Check::Layout, what);
        }
        self.layout(type_)?;
        if self.module.types.size(type_, MatrixLayout::default()) > MAX_BYTES {
            return self.limit("bytes in a buffer's type", MAX_BYTES);
        }
        Ok(())
    }

    /// Checks the explicit layout of a structure and of its parts (SPIR-V §2.16.2,
    /// shader validation).
    fn layout(&mut self, type_: u32) -> Checked {
        let mut pending = vec![type_];
        while let Some(structure) = pending.pop() {
            if !self.laid_out.insert((structure, MatrixLayout::default())) {
                continue;
            }
            let mut places: Vec<(u64, u64)> = Vec::new();
            for number in 0..self.module.types.members(structure).len() {
                let member = self.module.types.members(structure)[number];
                let Some(offset) = member.offset else {
                    return self.fail(Check::Layout, format!("%{structure} has no Offset and is in a buffer (member {number})"));
                };
                let leaf = self.array_layout(member.type_, member.matrix)?;
                match self.module.types.get(leaf) {
                    Some(Type::Struct { .. }) if self.module.is_resource(leaf) => {
                        return self
                            .fail(Check::Layout, format!("the Block %{leaf} is within the Block %{structure}; Blocks are not nested"));
                    }
                    Some(Type::Struct { .. }) => pending.push(leaf),
                    Some(Type::Matrix { column, count }) => {
                        let least = self.module.types.extent(if member.matrix.row_major { 0 } else { column }, MatrixLayout::default());
                        let bytes = self.alignment(leaf);
                        let least = if member.matrix.row_major { bytes * u64::from(count) } else { least };
                        self.stride_fits(structure, "MatrixStride", member.matrix.stride, least, bytes)?;
                    }
                    _ => {}
                }
                let alignment = self.alignment(leaf);
                if !u64::from(offset).is_multiple_of(alignment) {
                    let what = format!("Offset {offset} of member {number} of %{structure} is no multiple of {alignment}");
                    return self.fail(Check::Layout, what);
                }
                let end = match self.module.types.contents(member.type_).runtime_array {
                    true => u64::MAX,
                    false => u64::from(offset).saturating_add(self.module.types.extent(member.type_, member.matrix)),
                };
                places.push((u64::from(offset), end));
            }
            places.sort_unstable();
            if let Some(pair) = places.windows(2).find(|pair| pair[0].1 > pair[1].0) {
                let what = format!("the members of %{structure} at offsets {} and {} overlap", pair[0].0, pair[1].0);
                return self.fail(Check::Layout, what);
            }
        }
        Ok(())
    }

    /// Checks the strides of an array of arrays. Returns the type of the innermost elements.
    fn array_layout(&mut self, type_: u32, matrix: MatrixLayout) -> Result<u32, super::LoadError> {
        let leaf = self.module.types.leaf(type_);
        if self.laid_out.contains(&(type_, matrix)) && leaf != type_ {
            return Ok(leaf);
        }
        let mut at = type_;
        loop {
            let (element, stride) = match self.module.types.get(at) {
                Some(Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride }) => (element, stride),
                Some(Type::Bool) => {
                    return self.fail(Check::Layout, "a buffer holds a Boolean, which has no layout");
                }
                _ => {
                    if self.module.types.contents(at).boolean && !matches!(self.module.types.get(at), Some(Type::Struct { .. })) {
                        return self.fail(Check::Layout, "a buffer holds a Boolean, which has no layout");
                    }
                    return Ok(at);
                }
            };
            if self.laid_out.insert((at, matrix)) {
                let least = self.module.types.extent(element, matrix);
                self.stride_fits(at, "ArrayStride", stride, least, self.alignment(element))?;
            }
            at = element;
        }
    }

    fn stride_fits(&self, type_: u32, name: &str, stride: u32, least: u64, alignment: u64) -> Checked {
        let decorated = match name {
            "ArrayStride" => self.module.decoration(type_, WHOLE, Decorate::ArrayStride).is_some(),
            _ => stride != 0,
        };
        if !decorated {
            return self.fail(Check::Layout, format!("%{type_} has no {name} and is in a buffer"));
        }
        if !u64::from(stride).is_multiple_of(alignment) {
            return self.fail(Check::Layout, format!("{name} {stride} of %{type_} is no multiple of {alignment}"));
        }
        if u64::from(stride) < least || stride == 0 {
            return self.fail(Check::Layout, format!("{name} {stride} of %{type_} is below the {least} bytes that it strides over"));
        }
        Ok(())
    }

    /// The alignment in bytes of the scalars of a type. 1 for structures, whose members are
    /// checked separately.
    fn alignment(&self, type_: u32) -> u64 {
        self.module.types.component(type_).and_then(Type::width).map_or(1, |w| u64::from(w / 8))
    }

    /// Checks a variable in Input or Output: it is a built-in, or has a location.
    fn interface(&self, variable: u32, class: StorageClass, type_: u32) -> Checked {
        if let Some(built_in) = self.module.decoration(variable, WHOLE, Decorate::BuiltIn) {
            return self.built_in(variable, class, type_, built_in);
        }
        let block = self.module.decoration(type_, WHOLE, Decorate::Block).is_some();
        let located = self.module.decoration(variable, WHOLE, Decorate::Location).is_some();
        let members = self.module.types.members(type_).len() as u32;
        let is_built_in = |m| self.module.decoration(type_, m, Decorate::BuiltIn).is_some();
        if block && (0..members).any(is_built_in) {
            for (number, member) in self.module.types.members(type_).iter().enumerate() {
                let Some(built_in) = self.module.decoration(type_, number as u32, Decorate::BuiltIn) else {
                    let what = format!("member {number} of %{type_} is no BuiltIn, but others are; all members or none");
                    return self.fail(Check::BuiltIn, what);
                };
                self.built_in(variable, class, member.type_, built_in)?;
            }
            return Ok(());
        }
        let member_located = |m| self.module.decoration(type_, m, Decorate::Location).is_some();
        if !(located || block && members > 0 && (0..members).all(member_located)) {
            let kind = if class == StorageClass::Input { "input" } else { "output" };
            return self.fail(Check::Decoration, format!("{kind} %{variable} has no Location"));
        }
        if self.module.types.contents(type_).boolean {
            let what = format!("%{variable} is in {class:?} and holds a Boolean; only built-ins may");
            return self.fail(Check::Variable, what);
        }
        Ok(())
    }

    /// Checks the type of a built-in (Vulkan, built-in variables). Refuses it if it is not modeled.
    fn built_in(&self, variable: u32, class: StorageClass, type_: u32, built_in: u32) -> Checked {
        let text = self.text(OperandKind::BuiltIn, built_in);
        let row = BuiltIn::from_u32(built_in).and_then(|b| BUILT_INS.iter().find(|row| row.1 == b && row.2 == class));
        let Some(&(_, _, _, form)) = row else {
            if self.module.unmodeled {
                return Ok(());
            }
            let other = BUILT_INS.iter().any(|row| row.1 as u32 == built_in);
            return match (other, class) {
                (true, StorageClass::Output) => {
                    self.fail(Check::BuiltIn, format!("BuiltIn {text} is an input, but %{variable} is in Output"))
                }
                (true, _) => self.fail(Check::BuiltIn, format!("BuiltIn {text} is an output, but %{variable} is in Input")),
                (false, StorageClass::Output) => self.unsupported(format!("BuiltIn {text} as an output")),
                (false, _) => self.unsupported(format!("BuiltIn {text}")),
            };
        };
        self.capability_of(variable, &text, built_in)?;
        let types = &self.module.types;
        let int = |t: Option<Type>| matches!(t, Some(Type::Int { width: 32, .. }));
        let float = |t: Option<Type>| t == Some(Type::Float { width: 32 });
        let component = types.component(type_);
        let found = types.get(type_);
        let (fits, requirement) = match form {
            Form::Vec4 => (float(component) && matches!(found, Some(Type::Vector { count: 4, .. })), "a vec4 of float"),
            Form::Vec2 => (float(component) && matches!(found, Some(Type::Vector { count: 2, .. })), "a vec2 of float"),
            Form::Float => (float(found), "a float"),
            Form::Int => (int(found), "a 32-bit integer"),
            Form::Int4 => (int(component) && matches!(found, Some(Type::Vector { count: 4, .. })), "four 32-bit integers"),
            Form::Int3 => (int(component) && matches!(found, Some(Type::Vector { count: 3, .. })), "three 32-bit integers"),
            Form::Bool => (found == Some(Type::Bool), "a Boolean"),
            Form::Floats => (matches!(found, Some(Type::Array { element, .. }) if float(types.get(element))), "an array of floats"),
            Form::Ints => (matches!(found, Some(Type::Array { element, .. }) if int(types.get(element))), "an array of 32-bit integers"),
        };
        if !fits {
            return self.fail(Check::BuiltIn, format!("{text} is {requirement}, but %{variable} holds {}", types.text(type_)));
        }
        Ok(())
    }
}

impl Declare<'_> {
    /// Checks that the capability of a built-in of subgroups is declared.
    fn capability_of(&self, variable: u32, text: &str, built_in: u32) -> Checked {
        use BuiltIn::{NumSubgroups, SubgroupEqMask, SubgroupId, SubgroupLocalInvocationId, SubgroupLtMask, SubgroupSize};
        let needed = match BuiltIn::from_u32(built_in) {
            Some(NumSubgroups | SubgroupId | SubgroupSize | SubgroupLocalInvocationId) => Capability::GroupNonUniform,
            Some(mask) if (SubgroupEqMask as u32..=SubgroupLtMask as u32).contains(&(mask as u32)) => Capability::GroupNonUniformBallot,
            _ => return Ok(()),
        };
        if self.module.unmodeled || self.module.has_capability(needed) {
            return Ok(());
        }
        self.fail(Check::Capability, format!("BuiltIn {text} (%{variable}) needs the capability {needed:?}, which is not declared"))
    }
}

/// The type of a built-in.
#[derive(Clone, Copy)]
enum Form {
    Vec4,
    Vec2,
    Float,
    Int,
    Int3,
    Int4,
    Bool,
    Floats,
    Ints,
}

/// The execution model of a built-in variable of this storage class. `None` if it is not modeled.
pub(in crate::spirv) fn model_of(built_in: BuiltIn, class: StorageClass) -> Option<ExecutionModel> {
    BUILT_INS.iter().find(|row| row.1 == built_in && row.2 == class).map(|row| row.0)
}

/// Whether a built-in exists in every stage, although it is modeled in compute stages only (Vulkan,
/// Built-In Variables).
pub(in crate::spirv) fn is_in_every_stage(built_in: BuiltIn) -> bool {
    use BuiltIn::{
        SubgroupEqMask, SubgroupGeMask, SubgroupGtMask, SubgroupLeMask, SubgroupLocalInvocationId, SubgroupLtMask, SubgroupSize,
    };
    let of_subgroups =
        [SubgroupSize, SubgroupLocalInvocationId, SubgroupEqMask, SubgroupGeMask, SubgroupGtMask, SubgroupLeMask, SubgroupLtMask];
    of_subgroups.contains(&built_in)
}

/// The modeled built-ins, with execution model, storage class and type.
const BUILT_INS: &[(ExecutionModel, BuiltIn, StorageClass, Form)] = &[
    (ExecutionModel::Vertex, BuiltIn::Position, StorageClass::Output, Form::Vec4),
    (ExecutionModel::Vertex, BuiltIn::PointSize, StorageClass::Output, Form::Float),
    (ExecutionModel::Vertex, BuiltIn::ClipDistance, StorageClass::Output, Form::Floats),
    (ExecutionModel::Vertex, BuiltIn::CullDistance, StorageClass::Output, Form::Floats),
    (ExecutionModel::Vertex, BuiltIn::VertexIndex, StorageClass::Input, Form::Int),
    (ExecutionModel::Vertex, BuiltIn::InstanceIndex, StorageClass::Input, Form::Int),
    (ExecutionModel::Fragment, BuiltIn::FragCoord, StorageClass::Input, Form::Vec4),
    (ExecutionModel::Fragment, BuiltIn::PointCoord, StorageClass::Input, Form::Vec2),
    (ExecutionModel::Fragment, BuiltIn::FrontFacing, StorageClass::Input, Form::Bool),
    (ExecutionModel::Fragment, BuiltIn::HelperInvocation, StorageClass::Input, Form::Bool),
    (ExecutionModel::Fragment, BuiltIn::ClipDistance, StorageClass::Input, Form::Floats),
    (ExecutionModel::Fragment, BuiltIn::CullDistance, StorageClass::Input, Form::Floats),
    (ExecutionModel::Fragment, BuiltIn::SampleId, StorageClass::Input, Form::Int),
    (ExecutionModel::Fragment, BuiltIn::SamplePosition, StorageClass::Input, Form::Vec2),
    (ExecutionModel::Fragment, BuiltIn::SampleMask, StorageClass::Input, Form::Ints),
    (ExecutionModel::Fragment, BuiltIn::SampleMask, StorageClass::Output, Form::Ints),
    (ExecutionModel::Fragment, BuiltIn::FragDepth, StorageClass::Output, Form::Float),
    (ExecutionModel::GLCompute, BuiltIn::NumWorkgroups, StorageClass::Input, Form::Int3),
    (ExecutionModel::GLCompute, BuiltIn::WorkgroupId, StorageClass::Input, Form::Int3),
    (ExecutionModel::GLCompute, BuiltIn::LocalInvocationId, StorageClass::Input, Form::Int3),
    (ExecutionModel::GLCompute, BuiltIn::GlobalInvocationId, StorageClass::Input, Form::Int3),
    (ExecutionModel::GLCompute, BuiltIn::LocalInvocationIndex, StorageClass::Input, Form::Int),
    (ExecutionModel::GLCompute, BuiltIn::NumSubgroups, StorageClass::Input, Form::Int),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupId, StorageClass::Input, Form::Int),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupSize, StorageClass::Input, Form::Int),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupLocalInvocationId, StorageClass::Input, Form::Int),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupEqMask, StorageClass::Input, Form::Int4),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupGeMask, StorageClass::Input, Form::Int4),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupGtMask, StorageClass::Input, Form::Int4),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupLeMask, StorageClass::Input, Form::Int4),
    (ExecutionModel::GLCompute, BuiltIn::SubgroupLtMask, StorageClass::Input, Form::Int4),
];

/// Whether memory of this storage class has an explicit layout.
pub(in crate::spirv) fn has_layout(class: StorageClass) -> bool {
    use StorageClass::{PushConstant, StorageBuffer, Uniform};
    matches!(class, Uniform | StorageBuffer | PushConstant)
}
