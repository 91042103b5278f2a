//! Memory that invocations share: buffers and push constants as bytes, Workgroup variables as flat
//! scalars, or as the same bytes where they are Blocks, images as texels (SPIR-V §2.8, Vulkan,
//! "Shader Resource Interface").
//!
//! Rules read it ([`Shared::load`]) and return what they write as [`Extent`]s. Only the grid writes
//! it ([`Shared::store`]). Bytes carry the origins of undefined values, and the doubt that a device
//! may hold other bits there.

mod images;

use std::collections::BTreeMap;

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::concurrency::Class;
use crate::number::sets::{Set, Sets, Unsettled};
use crate::number::{Lane, Profile, Trust, Why};
use crate::outcome::Limit;
use crate::spirv::alias::Aliases;
use crate::spirv::descriptors::bound_descriptors;
use crate::spirv::environment::{Dispatch, Robustness};
use crate::spirv::memory::{Pointer, exact};
use crate::spirv::module::{Module, Variable, WHOLE};
use crate::spirv::object::{self, Contents, Fault, Loaded, Object, Operation, Reach};
use crate::spirv::types::{Address, MatrixLayout, Type};
use crate::spirv::value::{Buffer, Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

pub use images::{Images, Last, scalar as texel_scalar};

/// A memory object that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectId {
    /// A buffer, by its index in [`Shared`].
    Buffer(u32),
    /// Level 0 of an image, by its index in [`Images`].
    Image(u32),
    /// A Workgroup variable of one workgroup, by its index in the module.
    Workgroup {
        /// The workgroup.
        workgroup: u32,
        /// The index of the variable.
        index: u32,
    },
}

/// The place of one scalar in an object: its bytes in a buffer, or the bytes of a texel. In
/// Workgroup memory without layout, the offset is eight times the scalar's index in the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u8,
}

/// The extent of an access: the place of each scalar, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The object.
    pub object: ObjectId,
    /// The id of its variable.
    pub variable: u32,
    /// Its storage class, as memory semantics distinguish them.
    pub class: Class,
    /// The places. None if the access is out of bounds and robustness makes it touch nothing.
    pub cells: SmallVec<[Cell; 2]>,
}

impl Extent {
    /// The ranges of bytes: first byte and number.
    pub fn stretches(&self) -> SmallVec<[(u64, u64); 2]> {
        let mut stretches: SmallVec<[(u64, u64); 2]> = SmallVec::new();
        for cell in &self.cells {
            match stretches.last_mut() {
                Some((first, bytes)) if *first + *bytes == cell.offset => *bytes += u64::from(cell.bytes),
                _ => stretches.push((cell.offset, cell.bytes.into())),
            }
        }
        stretches
    }

    /// Whether the two extents share a byte.
    pub fn overlaps(&self, other: &Extent) -> bool {
        let meets = |a: &Cell, b: &Cell| a.offset < b.offset + u64::from(b.bytes) && b.offset < a.offset + u64::from(a.bytes);
        self.object == other.object && self.cells.iter().any(|a| other.cells.iter().any(|b| meets(a, b)))
    }
}

/// A buffer with its notes.
#[derive(Clone, Debug)]
struct Backing {
    object: Object,
    /// Notes on scalars whose bits do not imply what devices hold, by their first bytes.
    notes: BTreeMap<u64, Note>,
    /// Why a device may hold other bits anywhere in the buffer, such as after a store out of
    /// bounds.
    anywhere: Option<Why>,
    /// Whether some variable of the buffer can be written.
    written: bool,
    /// If several variables name the buffer that are not all Aliased: what they accessed.
    aliases: Option<Aliases>,
}

/// A note on a scalar: a device may hold other bits, or may have computed it together with what is
/// made of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) struct Note {
    bytes: u8,
    trust: Trust,
    /// Why a device may hold other bits, if so.
    open: Option<Why>,
}

/// The shared memory of a dispatch.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The profile, which decides 32-bit floats.
    profile: Profile,
    backings: Vec<Backing>,
    /// The sets of floats that the dispatch starts with, by buffer and first byte.
    bounded: BTreeMap<(usize, u64), Set>,
    /// By variable and index of the descriptor: the buffer.
    backing_of: FxHashMap<(u32, u32), u32>,
    /// The Workgroup variables: id, number of scalars, and initial contents.
    variables: Vec<(u32, usize, Option<Scalars>)>,
    /// Their contents, in each running workgroup.
    workgroups: FxHashMap<u32, Vec<Vec<Option<Scalar>>>>,
    variable_of: FxHashMap<u32, u32>,
    /// The Workgroup variables that are Blocks, the bytes that they have together, and these bytes
    /// in each running workgroup.
    blocks: FxHashSet<u32>,
    block_bytes: u64,
    laid_out: FxHashMap<u32, Backing>,
    origins: Vec<Origin>,
    numbers: FxHashMap<Origin, u32>,
    robustness: Robustness,
    images: Images,
    /// The invocations that have synchronised with one whose control flow is in doubt. What they
    /// read of writable memory is in doubt too.
    doubtful_readers: FxHashSet<u32>,
}

/// Why there is no memory for a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoMemory {
    /// A resource is missing or too small. A sentence.
    Resource(String),
    /// A limit is exceeded.
    Limit(Limit),
}

impl Shared {
    /// The memory for the variables that an entry point uses.
    pub fn new(module: &Module, used: &[&Variable], dispatch: &Dispatch<'_>) -> Result<Shared, NoMemory> {
        let mut shared = Shared {
            profile: dispatch.resources.profile(module, dispatch.entry),
            backings: Vec::new(),
            bounded: BTreeMap::new(),
            backing_of: FxHashMap::default(),
            variables: Vec::new(),
            workgroups: FxHashMap::default(),
            variable_of: FxHashMap::default(),
            blocks: FxHashSet::default(),
            block_bytes: 0,
            laid_out: FxHashMap::default(),
            // Origin 0 is that of bytes that nothing has written, in Workgroup memory with a
            // layout.
            origins: vec![Origin { kind: Unspecified::Uninitialised, instruction: 0, invocation: 0 }],
            numbers: FxHashMap::default(),
            robustness: dispatch.resources.robustness,
            images: Images::new(module, used, &dispatch.resources)?,
            doubtful_readers: FxHashSet::default(),
        };
        let robustness = match dispatch.resources.robustness {
            Robustness::None => object::Robustness::None,
            Robustness::Access1 => object::Robustness::Rba1,
            Robustness::Access2 => object::Robustness::Rba2,
        };
        let backing = |bytes: &[u8]| {
            let object = Object::of(bytes).map_err(NoMemory::Limit)?.robust(robustness);
            Ok(Backing { object, notes: BTreeMap::new(), anywhere: None, written: false, aliases: None })
        };
        for buffer in dispatch.resources.buffers {
            shared.backings.push(backing(&buffer.bytes)?);
        }
        for float in dispatch.resources.bounded {
            let Some(buffer) = dispatch.resources.buffers.get(float.buffer) else { continue };
            if float.offset.is_multiple_of(4) && float.offset < buffer.bytes.len() as u64 / 4 * 4 {
                shared.bounded.insert((float.buffer, float.offset), float.allowed);
                shared.backings[float.buffer].notes.insert(float.offset, Note::given(Trust::CERTAIN.in_doubt(Why::Approximate)));
            }
        }
        shared.backings.push(backing(dispatch.resources.push_constants)?);
        let push_constants = dispatch.resources.buffers.len() as u32;
        for &variable in used {
            let needed = module.buffer_size(variable.id);
            match variable.class {
                StorageClass::PushConstant => {
                    if (dispatch.resources.push_constants.len() as u64) < needed {
                        let length = dispatch.resources.push_constants.len();
                        return Err(NoMemory::Resource(format!("the push constants have {length} bytes; %{} needs {needed}", variable.id)));
                    }
                    shared.backing_of.insert((variable.id, 0), push_constants);
                }
                StorageClass::Uniform | StorageClass::StorageBuffer => {
                    for (descriptor, index) in (0..).zip(buffers_of(module, variable, needed, dispatch.resources.buffers)?) {
                        shared.backing_of.insert((variable.id, descriptor), index);
                        shared.backings[index as usize].written |= Pointer::to(module, variable).writable;
                    }
                }
                StorageClass::Workgroup if module.has_layout(variable) => {
                    shared.blocks.insert(variable.id);
                    shared.block_bytes = shared.block_bytes.max(module.types().size(variable.type_, MatrixLayout::default()));
                }
                StorageClass::Workgroup => {
                    let count = module.types().scalars(variable.type_) as usize;
                    let initial = variable.initializer.map(|id| initial(module, variable.type_, id));
                    shared.variable_of.insert(variable.id, shared.variables.len() as u32);
                    shared.variables.push((variable.id, count, initial));
                }
                _ => {}
            }
        }
        if !shared.blocks.is_empty() {
            // They all are one object.
            shared.variables.push((0, 0, None));
        }
        let mut named = vec![Vec::new(); shared.backings.len()];
        for variable in used {
            let aliased = module.decoration(variable.id, WHOLE, Decoration::Aliased).is_some();
            let backings = (0..).map_while(|descriptor| shared.backing_of.get(&(variable.id, descriptor)));
            backings.for_each(|&index| named[index as usize].push((variable.id, aliased)));
        }
        for (backing, named) in shared.backings.iter_mut().zip(named) {
            backing.aliases = Aliases::of(&named);
        }
        Ok(shared)
    }

    /// Records the variable of an access. Returns the first byte and another variable, if SPIR-V
    /// §2.18.2 forbids that both access it.
    pub fn alias(&mut self, extent: &Extent, writes: bool) -> Option<(u64, u32)> {
        let ObjectId::Buffer(index) = extent.object else { return None };
        let aliases = self.backings[index as usize].aliases.as_mut()?;
        extent.cells.iter().find_map(|cell| aliases.access(extent.variable, cell.offset, cell.bytes.into(), writes))
    }

    /// Creates the Workgroup variables of a workgroup.
    pub fn begin(&mut self, workgroup: u32) {
        let initial_contents = |(_, count, initial): &(u32, usize, Option<Scalars>)| match initial {
            None => vec![None; *count],
            Some(scalars) => scalars.iter().map(|&scalar| Some(scalar)).collect(),
        };
        let contents = self.variables.iter().map(initial_contents).collect();
        self.workgroups.insert(workgroup, contents);
        // The size was checked when the module was loaded.
        if let (false, Ok(object)) = (self.blocks.is_empty(), Object::undefined(self.block_bytes, 0)) {
            let backing = Backing { object, notes: BTreeMap::new(), anywhere: None, written: true, aliases: None };
            self.laid_out.insert(workgroup, backing);
        }
    }

    /// Removes the Workgroup variables of a workgroup.
    pub fn end(&mut self, workgroup: u32) {
        self.workgroups.remove(&workgroup);
        self.laid_out.remove(&workgroup);
    }

    /// The number of Workgroup variables.
    pub fn workgroup_variables(&self) -> u32 {
        self.variables.len() as u32
    }

    /// The number of scalars in the Workgroup variables of one workgroup.
    pub fn workgroup_scalars(&self) -> u64 {
        self.variables.iter().map(|(_, count, _)| *count as u64).sum::<u64>() + self.block_bytes.div_ceil(4)
    }

    /// Whether Workgroup memory has an explicit layout.
    pub fn workgroup_is_laid_out(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The number of buffers, including that of the push constants.
    pub fn buffers(&self) -> u32 {
        self.backings.len() as u32
    }

    /// Whether accesses to the object can race.
    pub fn is_written(&self, object: ObjectId) -> bool {
        match object {
            ObjectId::Buffer(index) => self.backings[index as usize].written,
            ObjectId::Image(index) => self.images.is_written(index),
            ObjectId::Workgroup { .. } => true,
        }
    }

    /// The images and samplers.
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// The number of buffers and images, which the whole dispatch shares.
    pub fn objects(&self) -> u32 {
        self.buffers() + self.images.count()
    }

    /// Marks all writable buffers and images: a device may hold other bits anywhere, for this
    /// reason.
    pub fn doubt_written(&mut self, why: Why) {
        self.backings.iter_mut().filter(|backing| backing.written).for_each(|backing| backing.anywhere = backing.anywhere.or(Some(why)));
        self.images.doubt_written(why);
    }

    /// The size in bytes of the buffer that a pointer points into.
    pub fn length(&self, pointer: &Pointer) -> Option<u64> {
        self.backing_of(pointer).map(|index| self.backings[index as usize].object.length())
    }

    /// The buffer that a pointer points into.
    fn backing_of(&self, pointer: &Pointer) -> Option<u32> {
        self.backing_of.get(&(pointer.variable, pointer.descriptor)).copied()
    }

    /// The number of descriptors of a variable that names buffers or images, with the bound ones
    /// counted if its array has no length.
    pub fn descriptors(&self, module: &Module, variable: u32) -> u64 {
        let buffers = || self.backing_of.keys().filter(|(id, _)| *id == variable).count();
        let bound = || buffers().max(self.images.descriptors(variable)) as u64;
        module.variable(variable).and_then(|variable| module.descriptor_count(variable)).unwrap_or_else(bound)
    }

    /// Marks an invocation: from now on what it reads of writable memory is in doubt. It has
    /// synchronised with an invocation that may have taken another way on a device, and may have
    /// written anything there.
    pub fn put_in_doubt(&mut self, invocation: u32) {
        self.doubtful_readers.insert(invocation);
    }

    /// Whether an invocation is marked so.
    pub fn is_doubtful_reader(&self, invocation: u32) -> bool {
        self.doubtful_readers.contains(&invocation)
    }

    /// The buffer that a pointer points into, or the object of its variable in that workgroup.
    pub fn object_of(&self, workgroup: u32, pointer: &Pointer) -> Option<ObjectId> {
        match self.variable_of.get(&pointer.variable) {
            Some(&index) => Some(ObjectId::Workgroup { workgroup, index }),
            None => self.backing_of(pointer).map(ObjectId::Buffer),
        }
    }

    /// What accesses out of bounds do.
    pub fn robustness(&self) -> Robustness {
        self.robustness
    }

    /// The extent of an access to all that a pointer points to, checked as a whole.
    ///
    /// `aligned` is the Aligned operand, or 1. `None` if the pointer does not point to shared
    /// memory.
    pub fn extent(
        &self,
        module: &Module,
        workgroup: u32,
        pointer: &Pointer,
        operation: Operation,
        aligned: u32,
    ) -> Option<Result<Extent, Fault>> {
        if let Some(&index) = self.variable_of.get(&pointer.variable) {
            let count = module.types().scalars(pointer.address.type_);
            let cells = (0..count).map(|i| Cell { offset: 8 * (pointer.address.offset + i), bytes: 8 }).collect();
            return Some(Ok(Extent {
                object: ObjectId::Workgroup { workgroup, index },
                variable: pointer.variable,
                class: Class::Workgroup,
                cells,
            }));
        }
        let (object, id, class) = match self.backing_of(pointer) {
            Some(index) => (&self.backings[index as usize].object, ObjectId::Buffer(index), Class::Uniform),
            None if self.blocks.contains(&pointer.variable) => {
                (&self.laid_out.get(&workgroup)?.object, ObjectId::Workgroup { workgroup, index: 0 }, Class::Workgroup)
            }
            None => return None,
        };
        let cells = SmallVec::new();
        let extent = Extent { object: id, variable: pointer.variable, class, cells };
        Some(extent_with_layout(module, object, extent, pointer, operation, aligned))
    }

    /// The scalars of a value at an extent. If the extent is empty they are zeros, in doubt unless
    /// robustness is `Access2`. Unwritten ones are undefined, made by instruction `at` of the
    /// invocation.
    pub fn load(&self, module: &Module, extent: &Extent, type_: u32, at: u32, invocation: u32) -> Scalars {
        let mut scalars = Scalars::new();
        let mut cells = extent.cells.iter();
        let in_doubt_here = self.is_written(extent.object) && self.is_doubtful_reader(invocation);
        module.types().visit_scalars(type_, &mut |type_| {
            scalars.push(match cells.next() {
                Some(cell) => {
                    self.scalar(extent.object, *cell, type_, Origin { kind: Unspecified::Uninitialised, instruction: at, invocation })
                }
                None if self.robustness == Robustness::Access2 => exact(type_, 0),
                None => in_doubt(exact(type_, 0), Why::Domain),
            });
        });
        if in_doubt_here {
            scalars.iter_mut().for_each(|scalar| *scalar = in_doubt(*scalar, Why::Control));
        }
        scalars
    }

    /// The integer at a place. If nothing was written there, it is undefined, made by that
    /// instruction and invocation.
    pub fn held(&self, object: ObjectId, cell: Cell, (instruction, invocation): (u32, u32)) -> Scalar {
        let unwritten = Origin { kind: Unspecified::Uninitialised, instruction, invocation };
        self.scalar(object, cell, Type::Int { width: 8 * cell.bytes, signed: false }, unwritten)
    }

    fn scalar(&self, object: ObjectId, cell: Cell, type_: Type, unwritten: Origin) -> Scalar {
        match object {
            ObjectId::Workgroup { workgroup, .. } if self.laid_out.contains_key(&workgroup) => {
                self.scalar_with_layout(&self.laid_out[&workgroup], cell, type_, unwritten)
            }
            ObjectId::Workgroup { workgroup, index } => {
                let found = self.workgroups.get(&workgroup).and_then(|all| all[index as usize].get((cell.offset / 8) as usize));
                found.copied().flatten().unwrap_or_else(|| Scalar::undefined(unwritten))
            }
            // [`Images::read`] reads texels, since no pointer points into an image.
            ObjectId::Image(_) => Scalar::undefined(unwritten),
            ObjectId::Buffer(index) => self.scalar_with_layout(&self.backings[index as usize], cell, type_, unwritten),
        }
    }

    fn scalar_with_layout(&self, backing: &Backing, cell: Cell, type_: Type, unwritten: Origin) -> Scalar {
        let Ok(Loaded::Contents(contents)) = backing.object.load(cell.offset, cell.bytes) else { return exact(type_, 0) };
        match contents.undefined {
            0 => {}
            _ if contents.origin == 0 => return Scalar::undefined(unwritten),
            _ => return Scalar::undefined(self.origins[contents.origin as usize]),
        }
        let scalar = exact(type_, contents.bits);
        match (backing.anywhere, backing.notes.get(&cell.offset)) {
            (Some(why), _) => in_doubt(scalar, why),
            (None, Some(note)) if note.bytes == cell.bytes => note.loaded_as(type_, scalar),
            _ => backing.open(cell).map_or(scalar, |why| in_doubt(scalar, why)),
        }
    }

    /// Writes scalars to an extent. An empty extent writes nothing, but a robust buffer may change
    /// anywhere.
    pub fn store(&mut self, extent: &Extent, scalars: &[Scalar]) {
        match extent.object {
            ObjectId::Workgroup { workgroup, .. } if self.laid_out.contains_key(&workgroup) => {
                let contents: SmallVec<[Contents; 2]> = scalars.iter().map(|scalar| self.contents(scalar)).collect();
                let profile = self.profile;
                let Some(backing) = self.laid_out.get_mut(&workgroup) else { return };
                for ((&cell, scalar), contents) in extent.cells.iter().zip(scalars).zip(contents) {
                    backing.put(cell, scalar, contents, profile);
                }
            }
            ObjectId::Workgroup { workgroup, index } => {
                let Some(all) = self.workgroups.get_mut(&workgroup) else { return };
                for (cell, &scalar) in extent.cells.iter().zip(scalars) {
                    if let Some(slot) = all[index as usize].get_mut((cell.offset / 8) as usize) {
                        *slot = Some(scalar);
                    }
                }
            }
            ObjectId::Image(index) => self.images.write(index, extent, scalars),
            ObjectId::Buffer(index) => {
                if extent.cells.is_empty() && !scalars.is_empty() {
                    let backing = &mut self.backings[index as usize];
                    backing.anywhere = backing.anywhere.or((self.robustness == Robustness::Access1).then_some(Why::Domain));
                }
                for (&cell, scalar) in extent.cells.iter().zip(scalars) {
                    let contents = self.contents(scalar);
                    self.backings[index as usize].put(cell, scalar, contents, self.profile);
                }
            }
        }
    }

    /// The bits of a scalar in memory with a layout.
    fn contents(&mut self, scalar: &Scalar) -> Contents {
        match scalar.undefined {
            None => Contents::defined(scalar.bits),
            Some(origin) => Contents::undefined(self.number(origin)),
        }
    }

    fn number(&mut self, origin: Origin) -> u32 {
        *self.numbers.entry(origin).or_insert_with(|| {
            self.origins.push(origin);
            self.origins.len() as u32 - 1
        })
    }

    /// The final bytes of a buffer, each defined or undefined with its origin.
    pub fn bytes(&self, buffer: usize) -> impl Iterator<Item = Result<u8, Origin>> {
        self.backings[buffer].object.bytes().map(|byte| byte.map_err(|number| self.origins[number as usize]))
    }

    /// The ranges of a buffer in which a device may hold other bits: first byte, number of bytes,
    /// and why.
    pub fn doubts(&self, buffer: usize) -> Vec<(u64, u64, Why)> {
        let backing = &self.backings[buffer];
        if let Some(why) = backing.anywhere {
            return vec![(0, backing.object.length(), why)];
        }
        backing.notes.iter().filter_map(|(&first, note)| Some((first, note.bytes.into(), note.open?))).collect()
    }

    /// The words of a buffer in which all devices have a zero of either sign, by first byte.
    pub fn zeros(&self, buffer: usize) -> impl Iterator<Item = u64> + '_ {
        self.backings[buffer].notes.keys().copied().filter(move |&at| self.is_zero(buffer, at))
    }

    /// Whether all devices have a zero of either sign in a word of a buffer.
    pub fn is_zero(&self, buffer: usize, offset: u64) -> bool {
        let bits = self.float(buffer, offset).map_or(1, |lane| lane.bits.into());
        self.backings[buffer].notes.get(&offset).is_some_and(|note| note.is_zero(bits))
    }

    /// Four bytes of a buffer as a float, with its trust. Bits without a note are the same on all
    /// devices. `None` if some are undefined or beyond the end.
    pub fn float(&self, buffer: usize, offset: u64) -> Option<Lane> {
        let backing = &self.backings[buffer];
        let cell = Cell { offset, bytes: 4 };
        if backing.object.length() < offset + 4 {
            return None;
        }
        let unwritten = Origin { kind: Unspecified::Uninitialised, instruction: 0, invocation: 0 };
        let type_ = match backing.notes.contains_key(&offset) {
            true => Type::Float { width: 32 },
            false => Type::Int { width: 32, signed: false },
        };
        let scalar = self.scalar_with_layout(backing, cell, type_, unwritten);
        scalar.undefined.is_none().then(|| scalar.lane())
    }

    /// The set of a float, if the dispatch starts with one there.
    pub fn bounded(&self, buffer: usize, offset: u64) -> Option<Set> {
        self.bounded.get(&(buffer, offset)).copied()
    }

    /// Gives a cell to each float that the dispatch starts with as a set.
    pub fn over(&mut self, sets: &mut Sets) -> Result<(), Unsettled> {
        let bounded: Vec<((usize, u64), Set)> = self.bounded.iter().map(|(&at, &set)| (at, set)).collect();
        for ((buffer, offset), set) in bounded {
            let value = self.float(buffer, offset).map_or(0.0, |lane| lane.float());
            let trust = sets.any_of(value, set, Why::Approximate)?.trust;
            self.backings[buffer].notes.insert(offset, Note::given(trust));
        }
        Ok(())
    }

    /// The profile that judges floats.
    pub fn profile(&self) -> Profile {
        self.profile
    }
}

impl Note {
    /// A note on a float that is given as a set.
    pub(in crate::spirv) fn given(trust: Trust) -> Note {
        Note { bytes: 4, trust, open: Some(Why::Approximate) }
    }

    /// The note as the trust of a float.
    pub(in crate::spirv) fn trust(&self) -> Trust {
        self.trust
    }

    /// The note with its cell renumbered.
    pub(in crate::spirv) fn trust_mut(&mut self) -> &mut Trust {
        &mut self.trust
    }

    /// The scalar of a load of that type. `exact` is the one that the bits alone imply.
    pub(in crate::spirv) fn loaded_as(self, type_: Type, exact: Scalar) -> Scalar {
        match (type_, self.open) {
            (Type::Float { width: 32 }, _) => Scalar { trust: self.trust, ..exact },
            (_, None) => exact,
            // The bits are the same as any type.
            (_, Some(why)) => Scalar { trust: Trust { cell: self.trust.cell, ..exact.trust.in_doubt(why) }, ..exact },
        }
    }

    /// The note of a written scalar, if it needs one.
    pub(in crate::spirv) fn of(scalar: &Scalar, bytes: u8, profile: Profile) -> Option<Note> {
        let trust = scalar.trust;
        let open = match trust.doubt {
            None if bytes == 4 && !trust.is_decided(profile) => Some(Why::Approximate),
            doubt => doubt,
        };
        let note = Note { bytes, trust, open };
        let is_computed = bytes == 4 && !profile.is_strict() && trust.grid.is_some_and(|grid| !grid.leaf);
        (scalar.undefined.is_none() && (open.is_some() || is_computed || note.is_zero(scalar.bits))).then_some(note)
    }

    /// Whether it is a zero of either sign.
    pub(in crate::spirv) fn is_zero(self, bits: u64) -> bool {
        self.bytes == 4 && self.open.is_none() && !self.trust.zero_sign && bits << 33 == 0
    }

    /// Some of its bytes.
    fn part(self, bytes: u64) -> Option<Note> {
        let why = self.open?;
        Some(Note { bytes: bytes as u8, trust: self.trust.in_doubt(why), ..self })
    }
}

impl Backing {
    /// The scalars that share a byte with a place. No scalar has more than 8 bytes.
    fn notes_near(&self, cell: Cell) -> impl Iterator<Item = (u64, Note)> + '_ {
        let near = self.notes.range(cell.offset.saturating_sub(7)..cell.offset + u64::from(cell.bytes));
        near.filter(move |(first, note)| **first + u64::from(note.bytes) > cell.offset).map(|(&first, &note)| (first, note))
    }

    /// Why a device may hold other bits at a place, if so.
    fn open(&self, cell: Cell) -> Option<Why> {
        self.anywhere.or_else(|| self.notes_near(cell).find_map(|(_, note)| note.open))
    }

    /// Writes to a place, which was checked with its extent.
    fn put(&mut self, cell: Cell, scalar: &Scalar, contents: Contents, profile: Profile) {
        self.replace_notes(cell, scalar, profile);
        let _ = self.object.store(cell.offset, cell.bytes, contents, contents.origin);
    }

    /// Replaces the notes on the bytes of a place that is written.
    fn replace_notes(&mut self, cell: Cell, scalar: &Scalar, profile: Profile) {
        let end = cell.offset + u64::from(cell.bytes);
        if !self.notes.is_empty() {
            let overlapping: SmallVec<[(u64, Note); 8]> = self.notes_near(cell).collect();
            for (first, note) in overlapping {
                self.notes.remove(&first);
                let last = first + u64::from(note.bytes);
                if let Some(part) = cell.offset.checked_sub(first).filter(|&bytes| bytes > 0).and_then(|bytes| note.part(bytes)) {
                    self.notes.insert(first, part);
                }
                if let Some(part) = last.checked_sub(end).filter(|&bytes| bytes > 0).and_then(|bytes| note.part(bytes)) {
                    self.notes.insert(end, part);
                }
            }
        }
        if let Some(note) = Note::of(scalar, cell.bytes, profile) {
            self.notes.insert(cell.offset, note);
        }
    }
}

/// The extent of an access to memory with a layout, checked.
fn extent_with_layout(
    module: &Module,
    object: &Object,
    mut extent: Extent,
    pointer: &Pointer,
    operation: Operation,
    aligned: u32,
) -> Result<Extent, Fault> {
    if operation != Operation::Load && !pointer.writable {
        return Err(Fault::ReadOnly { offset: pointer.address.offset });
    }
    if aligned > 1 && !pointer.address.offset.is_multiple_of(u64::from(aligned)) {
        return Err(Fault::Misaligned { offset: pointer.address.offset, alignment: aligned.into() });
    }
    let mut reach = Ok(Reach::Inside);
    let visited = module.types().visit_addresses(pointer.address, &mut |offset, width| {
        let bytes = width / 8;
        match object.reach(operation, offset, bytes.into(), bytes.into()) {
            Ok(Reach::Inside) => extent.cells.push(Cell { offset, bytes }),
            Ok(Reach::Outside) => reach = reach.and(Ok(Reach::Outside)),
            Err(fault) => reach = reach.and(Err(fault)),
        }
    });
    // A vector without extent has no bytes. Loading refused whatever has no place in the layout.
    if visited.is_none() || matches!(reach, Ok(Reach::Outside)) {
        extent.cells.clear();
    }
    reach.map(|_| extent)
}

fn in_doubt(scalar: Scalar, why: Why) -> Scalar {
    Scalar { trust: scalar.trust.in_doubt(why), ..scalar }
}

/// The initial scalars of a variable of that type.
fn initial(module: &Module, type_: u32, constant: u32) -> Scalars {
    let mut flat = Vec::new();
    module.constant_scalars(constant, &mut flat);
    let (mut flat, mut scalars) = (flat.into_iter(), Scalars::new());
    module.types().visit_scalars(type_, &mut |type_| {
        scalars.extend(flat.next().map(|constant| exact(type_, constant.bits)));
    });
    scalars
}

/// The indices of a variable's buffers in the dispatch, one for each descriptor.
fn buffers_of(module: &Module, variable: &Variable, needed: u64, buffers: &[Buffer]) -> Result<Vec<u32>, NoMemory> {
    let id = variable.id;
    let Some((set, binding)) = module.descriptor(id) else {
        return Err(NoMemory::Resource(format!("%{id} has no descriptor set and binding")));
    };
    let at_place = (0..).zip(buffers).filter(|(_, b)| b.set == set && b.binding == binding).map(|(index, _)| index);
    let indices = bound_descriptors(module, variable, "buffer", at_place).map_err(NoMemory::Resource)?;
    match indices.iter().map(|&index| buffers[index as usize].bytes.len() as u64).find(|&length| length < needed) {
        Some(length) => {
            Err(NoMemory::Resource(format!("the buffer at set {set}, binding {binding} has {length} bytes; %{id} needs {needed}")))
        }
        None => Ok(indices),
    }
}

/// The number of elements of a runtime array at an address, in an object of that size in bytes
/// (Vulkan, OpArrayLength).
pub fn runtime_length(module: &Module, address: &Address, bytes: u64) -> Option<u64> {
    let Some(Type::RuntimeArray { stride, .. }) = module.types().get(address.type_) else { return None };
    Some(bytes.saturating_sub(address.offset).checked_div(u64::from(stride)).unwrap_or(0))
}
