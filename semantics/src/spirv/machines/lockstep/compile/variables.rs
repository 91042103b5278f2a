//! The places of variables. A variable is in registers if all accesses are whole or have constant
//! indices. Otherwise it is in each lane's memory.

use std::rc::Rc;

use rspirv::spirv::{Decoration, StorageClass};

use super::super::program::{BufferVariable, Cell, InterfaceVariable, NONE, SharedVariable, Slot};
use super::{Compiled, Compiler, IdMeaning, Numbers, Pointer, Storage};
use crate::outcome::Limit;
use crate::spirv::error::LoadError;
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::{EntryPoint, Function, Module, Variable, WHOLE};
use crate::spirv::operation::Scalar as Component;
use crate::spirv::types::{Address, MatrixLayout, Type};

/// The most scalars of a variable that is in registers.
const MAX_IN_REGISTERS: u64 = 64;

/// The Function and Private variables that need an address, by their uses in these functions.
fn addressed(module: &Module, functions: &[u32]) -> Numbers {
    let mut addressed = Numbers::default();
    // By id: the variable of an access chain with constant indices.
    let mut roots = vec![0; super::ids(module)];
    for function in functions.iter().filter_map(|&id| module.function(id)) {
        for i in module.function_blocks(function).iter().flat_map(|block| module.code(block)) {
            let operands = i.operands(module.words());
            let root = |roots: &[u32], id: u32| match roots.get(id as usize) {
                Some(&root @ 1..) => Some(root),
                _ => module.variable(id).map(|v| v.id),
            };
            match i.op {
                Core::Variable | Core::Line | Core::NoLine | Core::Load => {}
                // The other operands of these are numbers and not ids.
                Core::Switch | Core::BranchConditional | Core::SelectionMerge | Core::LoopMerge => {}
                Core::CompositeExtract | Core::CompositeInsert | Core::VectorShuffle => {}
                Core::Store => root(&roots, operands[1]).into_iter().for_each(|root| addressed.insert(root)),
                Core::AccessChain | Core::InBoundsAccessChain | Core::PtrAccessChain => {
                    if let Some(root) = root(&roots, operands[0]) {
                        let is_constant = constant_path(module, operands);
                        if is_constant {
                            roots[i.result as usize] = root;
                        } else {
                            addressed.insert(root);
                        }
                    }
                }
                _ => {
                    // The number of an extended instruction is not an id either.
                    let ids = if i.is(Core::ExtInst) { &operands[2..] } else { operands };
                    ids.iter().filter_map(|&id| root(&roots, id)).for_each(|root| addressed.insert(root));
                }
            }
        }
    }
    addressed
}

/// Whether an access chain's indices are constants in bounds.
fn constant_path(module: &Module, operands: &[u32]) -> bool {
    let pointer = module.type_of(operands[0]).and_then(|t| module.pointer_type(t));
    let Some((_, mut type_id)) = pointer else { return false };
    operands[1..].iter().all(|&index| {
        let Some(index) = module.constant_value(index) else { return false };
        match module.types().part(type_id, index) {
            Some((part, _)) if module.types().parts(type_id).is_some() => {
                type_id = part;
                true
            }
            _ => false,
        }
    })
}

impl Compiler<'_> {
    /// Allocates the module-scope variables that the functions of an entry point use, and the
    /// outputs that count without a store.
    pub(super) fn globals(&mut self, entry: &EntryPoint, functions: &[u32]) -> Compiled {
        let module = self.module;
        let addressed = addressed(module, functions);
        let mut used = Numbers::default();
        module.standing_outputs(entry).for_each(|v| used.insert(v.id));
        for function in functions.iter().filter_map(|&id| module.function(id)) {
            for i in module.function_blocks(function).iter().flat_map(|block| module.code(block)) {
                i.pointers(i.operands(module.words())).iter().for_each(|&id| used.insert(id));
            }
            for variable in module.locals(function) {
                self.at = variable.instruction as usize;
                self.variable(variable, addressed.contains(variable.id))?;
            }
        }
        for variable in module.globals().iter().filter(|v| used.contains(v.id)) {
            self.at = variable.instruction as usize;
            self.variable(variable, addressed.contains(variable.id))?;
        }
        Ok(())
    }

    fn variable(&mut self, variable: &Variable, is_addressed: bool) -> Compiled {
        let module = self.module;
        let (mut fixed, mut read_only) = (0, false);
        let storage = match variable.class {
            StorageClass::Input | StorageClass::Output if self.is_stage => {
                read_only = variable.class == StorageClass::Input;
                let storage = self.per_lane_storage(variable, is_addressed, !read_only, &mut fixed)?;
                self.interface(variable, &storage, fixed)?;
                storage
            }
            StorageClass::Input => {
                let Some(built_in) = module.built_in(variable.id, WHOLE) else {
                    return self.unsupported("an Input variable that is no built-in in a compute stage");
                };
                read_only = true;
                Storage::Registers(Rc::from(self.input(variable.id, built_in)?.as_slice()))
            }
            StorageClass::Function => self.per_lane_storage(variable, is_addressed, false, &mut fixed)?,
            StorageClass::Private => self.per_lane_storage(variable, is_addressed, true, &mut fixed)?,
            StorageClass::Workgroup if module.has_layout(variable) => {
                self.laid_out(variable.type_)?;
                Storage::LaidOut
            }
            StorageClass::Workgroup => {
                fixed = self.memory(variable.type_, true)?;
                self.initial(variable, fixed, true)?;
                Storage::Shared
            }
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant => {
                if !matches!(self.type_(variable.type_), Type::Struct { .. }) {
                    return self.unsupported("an array of descriptors in the lockstep machine");
                }
                let is_storage = variable.class == StorageClass::StorageBuffer
                    || module.decoration(variable.type_, WHOLE, Decoration::BufferBlock).is_some();
                let members = 0..module.types().members(variable.type_).len() as u32;
                let all_read_only =
                    !members.is_empty() && members.clone().all(|m| module.decoration(variable.type_, m, Decoration::NonWritable).is_some());
                read_only = !is_storage || all_read_only || module.decoration(variable.id, WHOLE, Decoration::NonWritable).is_some();
                let descriptor = module.descriptor(variable.id);
                if descriptor.is_none() && variable.class != StorageClass::PushConstant {
                    return self.unsupported("a buffer without DescriptorSet and Binding");
                }
                let needed = module.buffer_size(variable.id);
                let aliased = module.decoration(variable.id, WHOLE, Decoration::Aliased).is_some();
                Storage::Buffer(self.buffer(BufferVariable {
                    id: variable.id,
                    descriptor,
                    needed,
                    writable: !read_only,
                    aliased,
                    is_storage,
                })?)
            }
            StorageClass::UniformConstant => {
                if !matches!(self.type_(variable.type_), Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) {
                    return self.unsupported("an array of descriptors in the lockstep machine");
                }
                read_only = true;
                self.program.opaque.push(variable.id);
                Storage::Opaque(self.program.opaque.len() as u32 - 1)
            }
            class => return self.unsupported(format!("OpVariable in {class:?} in the lockstep machine")),
        };
        let address = Address::whole(variable.type_);
        let pointer = Pointer { storage, fixed, dynamic: NONE, type_: variable.type_, address, read_only, may_leave: false, element: None };
        self.meanings.insert(variable.id, IdMeaning::Pointer(pointer));
        Ok(())
    }

    /// Allocates words for Workgroup memory with a layout, which all Blocks share.
    fn laid_out(&mut self, type_id: u32) -> Compiled {
        let mut narrow = false;
        self.module.types().visit_scalars(type_id, &mut |scalar| narrow |= scalar.width() != Some(32));
        if narrow {
            return self.unsupported("a Block in Workgroup of numbers that have not 32 bits in the lockstep machine");
        }
        let words = self.module.types().size(type_id, MatrixLayout::default()).div_ceil(4);
        if words > super::MAX_MEMORY {
            return Err(LoadError::Limit(Limit { what: "words of memory in the lockstep machine", bound: super::MAX_MEMORY }));
        }
        self.program.shared = self.program.shared.max(words as u32);
        if !std::mem::replace(&mut self.program.laid_out, true) {
            self.program.shared_variables.push(SharedVariable { first: 0, scalars: None });
        }
        Ok(())
    }

    /// Allocates a variable that each lane has for itself: in registers, or in local memory from
    /// `fixed` on. With `initial`, it holds its initializer or an undefined value before the run.
    fn per_lane_storage(&mut self, variable: &Variable, is_addressed: bool, initial: bool, fixed: &mut u64) -> Compiled<Storage> {
        let holds_pointer = matches!(self.type_(variable.type_), Type::Pointer { .. });
        if holds_pointer && is_addressed {
            return self.unsupported("a variable that holds a pointer and is passed on, in the lockstep machine");
        }
        if is_addressed || self.module.types().scalars(variable.type_) > MAX_IN_REGISTERS {
            *fixed = self.memory(variable.type_, false)?;
            if initial {
                self.initial(variable, *fixed, false)?;
            }
            return Ok(Storage::Local);
        }
        let slots = self.slots(variable.type_)?;
        if variable.class != StorageClass::Input {
            for &slot in &slots {
                match slot {
                    Slot::Word(column) | Slot::Wide(column, _) => self.variable_columns.insert(column),
                    Slot::Truth(set) => self.variable_sets.insert(set),
                }
            }
        }
        if initial {
            self.initial_registers(variable, &slots);
        }
        Ok(Storage::Registers(Rc::from(slots.as_slice())))
    }

    /// Records the places of the scalars of a stage's input or output.
    fn interface(&mut self, variable: &Variable, storage: &Storage, fixed: u64) -> Compiled {
        let mut cells = Vec::new();
        if let Storage::Registers(slots) = storage {
            for &slot in slots.iter() {
                cells.push(match slot {
                    Slot::Word(column) => Cell::Word(column),
                    Slot::Truth(set) => Cell::Truth(set),
                    Slot::Wide(..) => return self.unsupported("an interface variable of 64-bit numbers in the lockstep machine"),
                });
            }
        } else {
            let words = self.words(variable.type_);
            if words != self.module.types().scalars(variable.type_) {
                return self.unsupported("an interface variable of 64-bit numbers in the lockstep machine");
            }
            cells.extend((fixed..fixed + words).map(|word| Cell::Local(word as u32)));
        }
        let mut types = Vec::new();
        self.module.types().visit_scalars(variable.type_, &mut |scalar| {
            types.push(match scalar {
                Type::Bool => Component::Bool,
                Type::Int { width, signed } => Component::Int { width, signed },
                Type::Float { width } => Component::Float { width },
                _ => Component::Other,
            });
        });
        self.program.interface.push(InterfaceVariable {
            id: variable.id,
            read: vec![variable.class == StorageClass::Output; cells.len()],
            cells,
            types,
        });
        Ok(())
    }

    /// Records the initial contents of memory.
    fn initial(&mut self, variable: &Variable, start: u64, shared: bool) -> Compiled {
        let Some(initializer) = variable.initializer else { return Ok(()) };
        let mut scalars = Vec::new();
        self.module.constant_scalars(initializer, &mut scalars);
        let list = if shared { &mut self.program.initial_shared } else { &mut self.program.initial_local };
        let (mut at, mut scalars) = (start as u32, scalars.into_iter());
        self.module.types().visit_scalars(variable.type_, &mut |type_| {
            let is_wide = type_.width() == Some(64);
            if let Some(scalar) = scalars.next().filter(|scalar| scalar.undefined.is_none()) {
                list.push((at, scalar.bits as u32));
                list.extend(is_wide.then_some((at + 1, (scalar.bits >> 32) as u32)));
            }
            at += if is_wide { 2 } else { 1 };
        });
        Ok(())
    }

    fn initial_registers(&mut self, variable: &Variable, slots: &[Slot]) {
        let mut scalars = Vec::new();
        if let Some(initializer) = variable.initializer {
            self.module.constant_scalars(initializer, &mut scalars);
            if let (Some(&null), Type::Pointer { .. }) = (scalars.first(), self.type_(variable.type_)) {
                scalars = vec![null; slots.len()];
            }
        }
        for (k, &slot) in slots.iter().enumerate() {
            match scalars.get(k) {
                Some(scalar) if scalar.undefined.is_none() => self.program.constants.push((slot, scalar.bits)),
                _ => self.program.undefined.push((slot, u32::MAX)),
            }
        }
    }

    /// Does nothing: OpVariable initialises Function variables at each call.
    pub(super) fn locals(&mut self, _: &Function) -> Compiled {
        Ok(())
    }
}
