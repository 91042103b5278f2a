//! Compiles an entry point: functions with callees first, blocks in structural order, values to
//! registers, pointers to addresses.
//!
//! A value is the slots of its scalars, so constructing, extracting and inserting cost nothing.
//! [`finish`] decides at the end which registers must keep the values of inactive lanes: only those
//! that are used outside of the loop that writes them.

mod access;
mod body;
mod calls;
mod compute;
mod finish;
mod group;
mod image;
mod instances;
mod pointers;
mod variables;

use std::rc::Rc;
use std::sync::Arc;

use rspirv::spirv::{BuiltIn, ExecutionModel, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::program::{BufferVariable, Code, Input, Mask, NONE, Op, Program, SharedVariable, Slot, Slots};
use crate::concurrency::{Scope, Semantics};
use crate::spirv::error::{LoadError, Place};
use crate::spirv::module::{Function, Module};
use crate::spirv::operation::Calculator;
use crate::spirv::order;
use crate::spirv::pointers::Roots;
use crate::spirv::types::{Address, Type};
use crate::spirv::words::Instruction;
pub(in crate::spirv) use body::compiles;
pub(super) use finish::registers_of;
use instances::Loops;

/// The most columns, and the most sets, of a program.
const MAX_REGISTERS: usize = 1 << 16;
/// The approximate limit on the codes of a program.
const MAX_CODES: usize = 1 << 22;
/// The most words of memory without layout.
const MAX_MEMORY: u64 = 1 << 20;

/// What an id stands for in the compiled program.
#[derive(Clone, Debug)]
pub(super) enum IdMeaning {
    Slots(Slots),
    Pointer(Pointer),
    /// An image, a sampler or both.
    Opaque {
        image: Opaque,
        sampler: Opaque,
    },
}

/// The variable that names an image or a sampler. It is the only one in `variables`, or the one
/// whose number the column holds. The variables are indices of `Program::opaque`.
#[derive(Clone, Debug)]
pub(super) struct Opaque {
    pub(super) variables: SmallVec<[u32; 1]>,
    /// The column, or `NONE`.
    pub(super) number: u32,
}

impl Opaque {
    /// The value of an id that has no image, or no sampler.
    pub(super) fn none() -> Opaque {
        Opaque { variables: SmallVec::new(), number: NONE }
    }
}

/// What each id stands for.
pub(super) struct IdMeanings {
    /// By id: the index in `meanings` plus 1, or 0 if it stands for nothing.
    index_by_id: Vec<u32>,
    meanings: Vec<IdMeaning>,
}

/// The greatest result id plus 1.
fn ids(module: &Module) -> usize {
    module.instructions().iter().map(|i| i.result as usize + 1).max().unwrap_or(0)
}

/// A set of result ids or registers, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(Vec<bool>);

impl Numbers {
    pub(super) fn insert(&mut self, number: u32) {
        let at = number as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, false);
        }
        self.0[at] = true;
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize) == Some(&true)
    }
}

impl IdMeanings {
    /// A table for the ids of a module, with no entries.
    fn new(module: &Module) -> IdMeanings {
        IdMeanings { index_by_id: vec![0; ids(module)], meanings: Vec::with_capacity(module.instructions().len()) }
    }

    pub(super) fn get(&self, id: &u32) -> Option<&IdMeaning> {
        let at = *self.index_by_id.get(*id as usize)?;
        self.meanings.get(at.checked_sub(1)? as usize)
    }

    /// Sets what a result id stands for.
    pub(super) fn insert(&mut self, id: u32, meaning: IdMeaning) {
        let at = &mut self.index_by_id[id as usize];
        if *at > 0 {
            self.meanings[*at as usize - 1] = meaning;
        } else {
            self.meanings.push(meaning);
            *at = self.meanings.len() as u32;
        }
    }
}

/// The place of the memory that a pointer points into.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    /// Registers: the slots of all scalars.
    Registers(Rc<[Slot]>),
    Local,
    Shared,
    /// Workgroup memory with a layout of 32-bit scalars. Fixed parts of addresses are in bytes,
    /// dynamic parts in words.
    LaidOut,
    Buffer(u8),
    /// One of these buffers. The column holds its number.
    Buffers(Rc<[u8]>, u32),
    /// A variable that names an image or a sampler, as an index of `Program::opaque`.
    Opaque(u32),
}

/// A pointer: the storage, a fixed part of the address, and a dynamic part that is known at run
/// time. Addresses count words, and bytes in buffers.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) storage: Storage,
    pub(super) fixed: u64,
    /// The column of the dynamic part, or `NONE`.
    pub(super) dynamic: u32,
    pub(super) type_: u32,
    /// In buffers: the layout of matrices at the address.
    pub(super) address: Address,
    /// Whether the module forbids writes through the pointer.
    pub(super) read_only: bool,
    /// Whether the pointer goes through a runtime array. Then an access may be out of bounds if
    /// buffers are robust.
    pub(super) may_leave: bool,
    /// The array element that it points to, if the module has pointers that are chosen at run time.
    pub(super) element: Option<Element>,
}

/// An element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// The address of element 0: its fixed part, and the column of its dynamic part or `NONE`.
    pub(super) first: (u64, u32),
    /// The column of the element's index.
    pub(super) index: u32,
    pub(super) count: Length,
}

/// The number of elements of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Fixed(u64),
    /// The length of the run's array with that number.
    Array(u32),
    Column(u32),
}

/// A part of a block and how it ends, before labels have numbers. Targets are labels. The next part
/// follows a call or a barrier.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) label: u32,
    pub(super) function: u32,
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) count: u32,
    pub(super) rules: u32,
    /// The index of the instruction that ends it.
    pub(super) at: u32,
    pub(super) ends: PartEnd,
}

#[derive(Clone, Debug)]
pub(super) enum PartEnd {
    Terminator,
    Call { function: u32, args: SmallVec<[(Slot, Slot); 4]> },
    Barrier { orders_shared: bool, orders_buffers: bool, orders_images: bool, scope: Scope, semantics: Semantics },
    SubgroupBarrier { scope: Scope, semantics: Semantics },
}

/// The registers of a reached function: its result, and the column of the block that it returns to.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) result: Slots,
    pub(super) link: u32,
}

pub(super) struct Compiler<'m> {
    pub(super) module: &'m Module,
    pub(super) program: Program,
    pub(super) meanings: IdMeanings,
    pub(super) frames: FxHashMap<u32, Frame>,
    pub(super) parts: Vec<Part>,
    /// The columns and the sets of variables in registers, and the ids that are bound to such
    /// registers in the current block.
    pub(super) variable_columns: Numbers,
    pub(super) variable_sets: Numbers,
    pub(super) aliases: Vec<u32>,
    /// By id: the index of its last use in the block that defines it. `u32::MAX` if another block
    /// uses it, 0 if none does.
    pub(super) last_use: Vec<u32>,
    pub(super) constants: FxHashMap<(u8, u64), Slot>,
    pub(super) loops: Loops,
    /// The loops that contain a barrier, by header: the column that counts their iterations.
    pub(super) counters: FxHashMap<u32, u32>,
    /// By type: its size in words, in memory without layout.
    words: FxHashMap<u32, u64>,
    /// The variables that each pointer may point into, and the pointers that an OpPhi or a
    /// return names.
    pub(super) roots: Roots,
    pub(super) passed_pointers: FxHashSet<u32>,
    /// By id of a pointer that is chosen at run time: its columns.
    pub(super) pointer_columns: FxHashMap<u32, Slots>,
    pub(super) at: usize,
    pub(super) function: u32,
    /// Whether this is a stage of a draw, which provides the inputs, and whether it is a
    /// fragment stage.
    pub(super) is_stage: bool,
    pub(super) is_fragment: bool,
}

pub(super) type Compiled<T = ()> = Result<T, LoadError>;

/// Compiles an entry point of a loaded module. Its execution model must be `model`: compute,
/// vertex or fragment.
pub(super) fn compile(shared: &Arc<Module>, entry: &str, model: ExecutionModel) -> Compiled<Program> {
    let module: &Module = shared;
    let entry = module.entry_point(entry)?;
    let at = Place { function: entry.function, block: 0, word: 0 };
    if entry.model != model {
        let what = match model {
            ExecutionModel::GLCompute => format!("OpEntryPoint {:?} in the lockstep machine", entry.model),
            _ => format!("OpEntryPoint {:?} as the {model:?} stage of the lockstep machine", entry.model),
        };
        return Err(LoadError::Unsupported { what, at });
    }
    let is_stage = model != ExecutionModel::GLCompute;
    let size = if is_stage { Some([4, 1, 1]) } else { module.modes(entry).workgroup_size };
    let Some(size) = size else {
        return Err(LoadError::Unsupported { what: "a compute entry point without a workgroup size".into(), at });
    };
    let functions = order::reached(module, entry.function);
    let instructions = module.instructions().len();
    let mut compiler = Compiler {
        module,
        program: Program {
            module: Arc::clone(shared),
            size,
            entry: 0,
            blocks: Vec::new(),
            codes: Vec::with_capacity(2 * instructions),
            moves: Vec::new(),
            sites: Vec::new(),
            faults: Vec::new(),
            atomics: Vec::new(),
            images: Vec::new(),
            groups: Vec::new(),
            opaque: Vec::new(),
            columns: 0,
            sets: 0,
            local: 0,
            shared: 0,
            constants: Vec::new(),
            undefined: Vec::new(),
            inputs: Vec::new(),
            interface: Vec::new(),
            initial_local: Vec::new(),
            initial_shared: Vec::new(),
            buffers: Vec::new(),
            arrays: Vec::new(),
            fences: Vec::new(),
            copies: Vec::new(),
            follows: Vec::new(),
            advances: Vec::new(),
            pairs: Vec::new(),
            shared_variables: Vec::new(),
            laid_out: false,
            instances: FxHashMap::default(),
            granule: 4,
            in_order: false,
            synchronises: false,
            subgroups: false,
            calculator: Calculator::default(),
        },
        meanings: IdMeanings::new(module),
        frames: FxHashMap::default(),
        parts: Vec::new(),
        variable_columns: Numbers::default(),
        variable_sets: Numbers::default(),
        aliases: Vec::new(),
        last_use: vec![0; ids(module)],
        constants: FxHashMap::default(),
        loops: Loops::new(module, &functions),
        counters: FxHashMap::default(),
        words: FxHashMap::default(),
        roots: Roots::of(module),
        passed_pointers: pointers::passed_pointers(module, &functions),
        pointer_columns: FxHashMap::default(),
        at: 0,
        function: 0,
        is_stage,
        is_fragment: model == ExecutionModel::Fragment,
    };
    compiler.constants_of_module()?;
    compiler.globals(entry, &functions)?;
    compiler.count_iterations(&functions)?;
    for &id in &functions {
        let function = *module.function(id).expect("load has checked the call graph");
        compiler.begin(&function)?;
        compiler.bodies(&function)?;
    }
    if is_stage && compiler.program.synchronises {
        let stage = if model == ExecutionModel::Vertex { "vertex" } else { "fragment" };
        let what = format!("an atomic or fence that orders memory in a {stage} stage of the lockstep machine");
        return Err(LoadError::Unsupported { what, at });
    }
    compiler.finish(&functions)
}

impl<'m> Compiler<'m> {
    #[cold]
    pub(super) fn unsupported<T>(&self, what: impl Into<String>) -> Compiled<T> {
        Err(LoadError::Unsupported { what: what.into(), at: self.module.place(self.at) })
    }

    /// The error if a program needs more than the machine has. The relation has no such limit.
    #[cold]
    pub(super) fn too_many<T>(&self, what: &str, bound: u64) -> Compiled<T> {
        self.unsupported(format!("more than {bound} {what} of the lockstep machine"))
    }

    pub(super) fn operands(&self, i: &Instruction) -> &'m [u32] {
        i.operands(self.module.words())
    }

    pub(super) fn type_(&self, id: u32) -> Type {
        self.module.types().get(id).expect("load has checked that every type is declared")
    }

    pub(super) fn column(&mut self) -> Compiled<u32> {
        self.program.columns += 1;
        self.within_registers(self.program.columns)
    }

    pub(super) fn set(&mut self) -> Compiled<u32> {
        self.program.sets += 1;
        self.within_registers(self.program.sets)
    }

    fn within_registers(&self, count: u32) -> Compiled<u32> {
        if count as usize > MAX_REGISTERS {
            return self.too_many("registers", MAX_REGISTERS as u64);
        }
        Ok(count - 1)
    }

    /// An error if the program has more codes than allowed.
    pub(super) fn within_codes(&self) -> Compiled {
        match self.program.codes.len() > MAX_CODES {
            true => self.too_many("codes", MAX_CODES as u64),
            false => Ok(()),
        }
    }

    /// A new slot for a scalar of that type.
    pub(super) fn slot(&mut self, type_: Type) -> Compiled<Slot> {
        Ok(match type_ {
            Type::Bool => Slot::Truth(self.set()?),
            Type::Int { width: 64, .. } | Type::Float { width: 64 } => {
                let low = self.column()?;
                Slot::Wide(low, self.column()?)
            }
            Type::Int { .. } | Type::Float { .. } => Slot::Word(self.column()?),
            other => return self.unsupported(format!("a value of {} in the lockstep machine", other.name())),
        })
    }

    /// New slots for a value of that type.
    pub(super) fn slots(&mut self, type_id: u32) -> Compiled<Slots> {
        let types = self.module.types();
        let count = types.scalars(type_id);
        if count > MAX_REGISTERS as u64 {
            return self.too_many("registers", MAX_REGISTERS as u64);
        }
        if let Type::Pointer { .. } = self.type_(type_id) {
            return (0..4).map(|_| Ok(Slot::Word(self.column()?))).collect();
        }
        let mut scalars = SmallVec::<[Type; 4]>::with_capacity(count as usize);
        types.visit_scalars(type_id, &mut |scalar| scalars.push(scalar));
        let mut slots = Slots::with_capacity(scalars.len());
        for scalar in scalars {
            slots.push(self.slot(scalar)?);
        }
        Ok(slots)
    }

    /// The slots of a value.
    pub(super) fn value(&self, id: u32) -> Compiled<Slots> {
        match self.meanings.get(&id) {
            Some(IdMeaning::Slots(slots)) => Ok(slots.clone()),
            Some(IdMeaning::Pointer(_)) => self.unsupported("a pointer as a value in the lockstep machine"),
            Some(IdMeaning::Opaque { .. }) => self.unsupported("an image or sampler as a value in the lockstep machine"),
            None => self.unsupported(format!("%{id}, which the lockstep machine has no value for")),
        }
    }

    pub(super) fn pointer(&mut self, id: u32) -> Compiled<Pointer> {
        match self.meanings.get(&id).cloned() {
            Some(IdMeaning::Slots(slots)) if self.is_pointer(id) => self.checked_pointer(id, &slots),
            Some(IdMeaning::Pointer(pointer)) => Ok(pointer),
            _ => self.unsupported(format!("%{id}, which is no pointer that the lockstep machine follows")),
        }
    }

    pub(super) fn emit(&mut self, op: Op, d: u32, a: u32, b: u32, c: u32) {
        let at = self.at as u32;
        self.program.codes.push(Code { op, masked: false, buffer: 0, d, a, b, c, at });
    }

    /// Binds an id to the slots of its value. If these belong to a variable and another block uses
    /// the id, it gets copies, since the variable may change before.
    pub(super) fn bind(&mut self, id: u32, slots: Slots) -> Compiled {
        let mut slots = slots;
        if slots.iter().any(|&slot| self.is_variable(slot)) {
            if self.last_use[id as usize] == u32::MAX {
                for slot in &mut slots {
                    if self.is_variable(*slot) {
                        *slot = self.copies_of(&[*slot])?[0];
                    }
                }
            } else {
                self.aliases.push(id);
            }
        }
        self.meanings.insert(id, IdMeaning::Slots(slots));
        Ok(())
    }

    pub(super) fn is_variable(&self, slot: Slot) -> bool {
        match slot {
            Slot::Word(column) | Slot::Wide(column, _) => self.variable_columns.contains(column),
            Slot::Truth(set) => self.variable_sets.contains(set),
        }
    }

    /// Emits the copy of one scalar, with its undefined lanes.
    pub(super) fn copy(&mut self, to: Slot, from: Slot, masked: bool) {
        let first = self.program.codes.len();
        match (to, from) {
            (Slot::Word(d), Slot::Word(a)) => self.emit(Op::Copy, d, a, NONE, 0),
            (Slot::Wide(d, e), Slot::Wide(a, b)) => {
                self.emit(Op::Copy, d, a, NONE, 0);
                self.emit(Op::Copy, e, b, NONE, 0);
            }
            (Slot::Truth(d), Slot::Truth(a)) => self.emit(Op::CopySet, d, a, NONE, 0),
            _ => unreachable!("load has checked that both are of one type"),
        }
        self.program.codes[first..].iter_mut().for_each(|code| code.masked = masked);
    }

    /// The slot that holds a constant of that type.
    pub(super) fn constant(&mut self, type_: Type, bits: u64) -> Compiled<Slot> {
        let kind = match type_ {
            Type::Bool => 0,
            Type::Int { width: 64, .. } | Type::Float { width: 64 } => 2,
            _ => 1,
        };
        if let Some(&slot) = self.constants.get(&(kind, bits)) {
            return Ok(slot);
        }
        let slot = self.slot(type_)?;
        self.constants.insert((kind, bits), slot);
        self.program.constants.push((slot, bits));
        Ok(slot)
    }

    /// Allocates registers for all constants of the module, before the code that uses them.
    fn constants_of_module(&mut self) -> Compiled {
        let module = self.module;
        for (index, i) in module.instructions().iter().enumerate() {
            if i.result == 0 || !module.is_constant(i.result) || module.types().scalars(i.result_type) > 4096 {
                continue;
            }
            self.at = index;
            if module.pointer_type(i.result_type).is_some() {
                let zero = self.constant(Type::Int { width: 32, signed: false }, 0)?;
                self.meanings.insert(i.result, IdMeaning::Slots(Slots::from_slice(&[zero; 4])));
                continue;
            }
            let (mut scalars, mut types) = (Vec::new(), Vec::new());
            module.constant_scalars(i.result, &mut scalars);
            module.types().visit_scalars(i.result_type, &mut |type_| types.push(type_));
            let mut slots = Slots::new();
            for (scalar, type_) in scalars.into_iter().zip(types) {
                slots.push(match scalar.undefined {
                    None => self.constant(type_, scalar.bits)?,
                    Some(at) => {
                        let slot = self.slot(type_)?;
                        self.program.undefined.push((slot, at));
                        slot
                    }
                });
            }
            self.meanings.insert(i.result, IdMeaning::Slots(slots));
        }
        Ok(())
    }

    /// Allocates a function's parameters, result, link and variables.
    fn begin(&mut self, function: &Function) -> Compiled {
        self.at = self.module.definition(function.id).unwrap_or(0);
        self.function = function.id;
        for parameter in self.module.parameters(function) {
            let meaning = match self.type_(parameter.type_) {
                Type::Pointer { class: StorageClass::UniformConstant, pointee } if self.type_(pointee).is_opaque() => {
                    self.opaque_parameter(pointee, true)?
                }
                type_ if type_.is_opaque() => self.opaque_parameter(parameter.type_, false)?,
                Type::Pointer { class: StorageClass::StorageBuffer | StorageClass::Workgroup, .. }
                    if self.module.has_variable_pointers() =>
                {
                    IdMeaning::Slots(self.slots(parameter.type_)?)
                }
                Type::Pointer { pointee, .. } if self.module.pointer_type(pointee).is_some() => {
                    return self.unsupported("a parameter that points to a pointer in the lockstep machine");
                }
                Type::Pointer { class, pointee } => {
                    let storage = match class {
                        StorageClass::Function | StorageClass::Private => Storage::Local,
                        StorageClass::Workgroup => Storage::Shared,
                        _ => return self.unsupported(format!("a parameter that points to {class:?} in the lockstep machine")),
                    };
                    let (dynamic, address) = (self.column()?, Address::whole(pointee));
                    IdMeaning::Pointer(Pointer {
                        storage,
                        fixed: 0,
                        dynamic,
                        type_: pointee,
                        address,
                        read_only: false,
                        may_leave: false,
                        element: None,
                    })
                }
                _ => IdMeaning::Slots(self.slots(parameter.type_)?),
            };
            self.meanings.insert(parameter.id, meaning);
        }
        let result = self.slots(function.result_type)?;
        let link = self.column()?;
        self.frames.insert(function.id, Frame { result, link });
        self.locals(function)
    }

    /// The input registers of a built-in variable.
    pub(super) fn input(&mut self, variable: u32, built_in: BuiltIn) -> Compiled<Slots> {
        let input_of: &dyn Fn(u8) -> Input = match built_in {
            BuiltIn::WorkgroupId => &Input::Workgroup,
            BuiltIn::LocalInvocationId => &Input::Local,
            BuiltIn::GlobalInvocationId => &Input::Global,
            BuiltIn::NumWorkgroups => &Input::Groups,
            BuiltIn::WorkgroupSize => &Input::Size,
            BuiltIn::LocalInvocationIndex => &|_| Input::LocalIndex,
            BuiltIn::SubgroupSize => &|_| Input::SubgroupSize,
            BuiltIn::NumSubgroups => &|_| Input::Subgroups,
            BuiltIn::SubgroupId => &|_| Input::Subgroup,
            BuiltIn::SubgroupLocalInvocationId => &|_| Input::Lane,
            BuiltIn::SubgroupEqMask => &|k| Input::Lanes(Mask::Eq, k),
            BuiltIn::SubgroupGeMask => &|k| Input::Lanes(Mask::Ge, k),
            BuiltIn::SubgroupGtMask => &|k| Input::Lanes(Mask::Gt, k),
            BuiltIn::SubgroupLeMask => &|k| Input::Lanes(Mask::Le, k),
            BuiltIn::SubgroupLtMask => &|k| Input::Lanes(Mask::Lt, k),
            other => return self.unsupported(format!("BuiltIn {other:?} in the lockstep machine")),
        };
        let type_ = self.module.variable(variable).map_or(0, |v| v.type_);
        let slots = self.slots(type_)?;
        for (component, slot) in slots.iter().enumerate() {
            let &Slot::Word(column) = slot else { return self.unsupported("a built-in that is no 32-bit integer") };
            let input = input_of(component as u8);
            self.program.subgroups |= input.is_of_subgroups();
            self.program.inputs.push((column, input));
        }
        Ok(slots)
    }

    pub(super) fn buffer(&mut self, variable: BufferVariable) -> Compiled<u8> {
        let Ok(number) = u8::try_from(self.program.buffers.len()) else {
            return self.too_many("buffers", 256);
        };
        self.program.buffers.push(variable);
        Ok(number)
    }

    /// The size of a value of that type in memory without layout: one word for each scalar, two for
    /// a scalar of 64 bits.
    pub(super) fn words(&mut self, type_id: u32) -> u64 {
        if let Some(&words) = self.words.get(&type_id) {
            return words;
        }
        let mut words = 0u64;
        self.module.types().visit_scalars(type_id, &mut |scalar| words += if scalar.width() == Some(64) { 2 } else { 1 });
        self.words.insert(type_id, words);
        words
    }

    /// Allocates words of local or shared memory.
    pub(super) fn memory(&mut self, type_id: u32, shared: bool) -> Compiled<u64> {
        let scalars = self.module.types().scalars(type_id);
        let words = if scalars > MAX_MEMORY { scalars } else { self.words(type_id) };
        let allocated = if shared { &mut self.program.shared } else { &mut self.program.local };
        let start = u64::from(*allocated);
        let end = start.saturating_add(words);
        if end > MAX_MEMORY {
            return self.too_many("words of memory", MAX_MEMORY);
        }
        *allocated = end as u32;
        if shared {
            let mut numbers = Vec::new();
            if words != scalars {
                let mut number = 0;
                self.module.types().visit_scalars(type_id, &mut |scalar| {
                    numbers.push(number);
                    numbers.extend((scalar.width() == Some(64)).then_some(number));
                    number += 1;
                });
            }
            let scalars = (words != scalars).then_some(numbers);
            self.program.shared_variables.push(SharedVariable { first: start as u32, scalars });
        }
        Ok(start)
    }
}
