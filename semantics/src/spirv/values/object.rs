//! Memory objects with an explicit layout. Each byte is defined, or undefined with an origin. Also
//! bounds, alignment and access checks, and the effects of robust buffer access.
//!
//! Scalars are little-endian and 1, 2, 4 or 8 bytes wide. An undefined byte keeps its origin until
//! it is overwritten, so a part of a scalar may be undefined. A copy byte by byte loses nothing.
//! Copies of an object share their common parts.

use std::rc::Rc;

use crate::outcome::Limit;
use crate::spirv::persistent::Persistent;

/// The most bytes of an object.
pub const MAX_BYTES: u64 = 1 << 30;

/// The effect of accesses out of a buffer's bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Robustness {
    /// Undefined behaviour.
    #[default]
    None,
    /// Vulkan, feature robustBufferAccess. A load returns zero or values from anywhere within the
    /// buffer, and the last component of a vector may be 1 or the greatest integer. A store may
    /// change any byte of the buffer and nothing else. An atomic does both. An access near one out
    /// of bounds may also count as out of bounds; this is not modeled, since the caller would have
    /// to ask for it.
    Rba1,
    /// Vulkan, feature robustBufferAccess2. A load returns zero. A store and an atomic change
    /// nothing. The result of an atomic is undefined. The length counts as a multiple of the
    /// device's size alignment.
    Rba2,
}

/// The kind of an access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A load, which is not atomic.
    Load,
    /// A store, which is not atomic.
    Store,
    /// An atomic access.
    Atomic,
}

/// A violation of a clause by an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The access has bytes outside of the object.
    OutOfBounds {
        /// The kind of access.
        operation: Operation,
        /// The first byte.
        offset: u64,
        /// The number of bytes accessed.
        bytes: u64,
        /// The number of bytes of the object.
        length: u64,
    },
    /// The offset is not a multiple of the alignment.
    Misaligned {
        /// The first byte.
        offset: u64,
        /// The required alignment.
        alignment: u64,
    },
    /// The pointer points to one past the end of an array.
    PastTheEnd,
    /// A write to read-only memory.
    ReadOnly {
        /// The first byte.
        offset: u64,
    },
}

impl Fault {
    /// The stable id of the undefined behaviour.
    pub fn id(&self) -> &'static str {
        match self {
            Fault::OutOfBounds { operation: Operation::Load, .. } => "spirv/load-out-of-bounds",
            Fault::OutOfBounds { operation: Operation::Store, .. } => "spirv/store-out-of-bounds",
            Fault::OutOfBounds { operation: Operation::Atomic, .. } => "spirv/atomic-out-of-bounds",
            Fault::Misaligned { .. } => "spirv/misaligned",
            Fault::PastTheEnd => "spirv/pointer-to-nothing",
            Fault::ReadOnly { .. } => "spirv/store-read-only",
        }
    }

    /// The clause that makes the access undefined behaviour.
    pub fn clause(&self) -> &'static str {
        match self {
            Fault::OutOfBounds { .. } => "Vulkan, robustBufferAccess: where it is not enabled, accesses must be within the bound range",
            Fault::Misaligned { .. } => {
                "SPIR-V §3.2.26, Aligned: the pointer is a multiple of the alignment; scalars are aligned by themselves"
            }
            Fault::PastTheEnd => "SPIR-V §3.3.8, OpPtrAccessChain: one past the end of an array is an address only",
            Fault::ReadOnly { .. } => "SPIR-V §3.2.20, NonWritable, and §3.2.7: memory that is read-only must not be written",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::OutOfBounds { offset, bytes, length, .. } => {
                write!(f, "bytes {offset} to {} of an object of {length} bytes", offset.saturating_add(*bytes))
            }
            Fault::Misaligned { offset, alignment } => write!(f, "byte {offset}, which is no multiple of {alignment}"),
            Fault::PastTheEnd => write!(f, "one past the end of an array"),
            Fault::ReadOnly { offset } => write!(f, "byte {offset} of read-only memory"),
        }
    }
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The bits, zero-extended. Undefined bytes are 0.
    pub bits: u64,
    /// One bit for each undefined byte. The lowest bit is that of the lowest byte.
    pub undefined: u8,
    /// The origin of the first undefined byte, or 0 if all are defined.
    pub origin: u32,
}

impl Contents {
    /// A defined scalar.
    pub fn defined(bits: u64) -> Contents {
        Contents { bits, undefined: 0, origin: 0 }
    }

    /// A scalar with all bytes undefined.
    pub fn undefined(origin: u32) -> Contents {
        Contents { bits: 0, undefined: u8::MAX, origin }
    }
}

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// A scalar of the object, or zero out of bounds.
    Contents(Contents),
    /// Out of bounds under [`Robustness::Rba1`]: zero, some value in the buffer, or the vector
    /// (0, 0, 0, x).
    SomeOfBuffer,
    /// An atomic out of bounds: any value.
    Any,
}

/// The effect of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The bytes were written.
    Written,
    /// Nothing was written.
    Dropped,
    /// Any byte of the buffer may have changed, so all are undefined now.
    Anywhere,
}

/// Whether an access is within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All bytes are within bounds.
    Inside,
    /// A byte is out of bounds, which the object's robustness allows.
    Outside,
}

const LINE: u64 = 64;

#[derive(Clone, Debug)]
enum Origins {
    /// The origin of all undefined bytes of the line.
    One(u32),
    /// The origin of each byte, meaningful if the byte is undefined.
    Each(Rc<[u32; LINE as usize]>),
}

#[derive(Clone, Debug)]
struct Line {
    bytes: [u8; LINE as usize],
    undefined: u64,
    origins: Origins,
}

/// A memory object. Cloning is cheap, and a write does not change older copies.
#[derive(Clone, Debug)]
pub struct Object {
    lines: Persistent<Line>,
    length: u64,
    writable: bool,
    robustness: Robustness,
}

impl Object {
    fn filled(length: u64, undefined: u64, origin: u32) -> Result<Object, Limit> {
        if length > MAX_BYTES {
            return Err(Limit { what: "bytes in one memory object", bound: MAX_BYTES });
        }
        let line = Line { bytes: [0; LINE as usize], undefined, origins: Origins::One(origin) };
        let lines = Persistent::filled(length.div_ceil(LINE) as usize, line);
        Ok(Object { lines, length, writable: true, robustness: Robustness::None })
    }

    /// An object of `length` undefined bytes with that origin.
    pub fn undefined(length: u64, origin: u32) -> Result<Object, Limit> {
        Object::filled(length, u64::MAX, origin)
    }

    /// An object of `length` zeros.
    pub fn zeroed(length: u64) -> Result<Object, Limit> {
        Object::filled(length, 0, 0)
    }

    /// An object with these contents.
    pub fn of(bytes: &[u8]) -> Result<Object, Limit> {
        let mut object = Object::zeroed(bytes.len() as u64)?;
        for (index, part) in bytes.chunks(LINE as usize).enumerate() {
            if let Some(line) = object.lines.get_mut(index) {
                line.bytes[..part.len()].copy_from_slice(part);
            }
        }
        Ok(object)
    }

    /// Makes the object read-only.
    pub fn read_only(mut self) -> Object {
        self.writable = false;
        self
    }

    /// Makes the object a buffer with that robustness. Memory that is not a buffer has none.
    pub fn robust(mut self, robustness: Robustness) -> Object {
        self.robustness = robustness;
        self
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Checks an access and returns whether it is within bounds. Callers check everything that
    /// an instruction accesses at once: an access that is partly out of bounds is out of
    /// bounds as a whole.
    pub fn reach(&self, operation: Operation, offset: u64, bytes: u64, alignment: u64) -> Result<Reach, Fault> {
        if operation != Operation::Load && !self.writable {
            return Err(Fault::ReadOnly { offset });
        }
        if alignment > 1 && !offset.is_multiple_of(alignment) {
            return Err(Fault::Misaligned { offset, alignment });
        }
        if offset.checked_add(bytes).is_some_and(|end| end <= self.length) {
            return Ok(Reach::Inside);
        }
        match self.robustness {
            Robustness::None => Err(Fault::OutOfBounds { operation, offset, bytes, length: self.length }),
            Robustness::Rba1 | Robustness::Rba2 => Ok(Reach::Outside),
        }
    }

    /// The result of a load out of bounds.
    pub fn load_outside(&self) -> Loaded {
        match self.robustness {
            Robustness::Rba2 => Loaded::Contents(Contents::defined(0)),
            Robustness::Rba1 | Robustness::None => Loaded::SomeOfBuffer,
        }
    }

    /// Executes a store or an atomic out of bounds. The bytes that it may have changed
    /// get that origin.
    pub fn store_outside(&mut self, origin: u32) -> Stored {
        match self.robustness {
            Robustness::Rba2 => Stored::Dropped,
            Robustness::Rba1 | Robustness::None => {
                let line = Line { bytes: [0; LINE as usize], undefined: u64::MAX, origins: Origins::One(origin) };
                self.lines = Persistent::filled(self.length.div_ceil(LINE) as usize, line);
                Stored::Anywhere
            }
        }
    }

    /// Loads a scalar of 1, 2, 4 or 8 bytes.
    pub fn load(&self, offset: u64, width: u8) -> Result<Loaded, Fault> {
        match self.reach(Operation::Load, offset, u64::from(width), u64::from(width))? {
            Reach::Inside => Ok(Loaded::Contents(self.contents(offset, width))),
            Reach::Outside => Ok(self.load_outside()),
        }
    }

    /// Stores a scalar of 1, 2, 4 or 8 bytes. If the store is out of bounds, the bytes that it may
    /// have changed get `origin`.
    pub fn store(&mut self, offset: u64, width: u8, contents: Contents, origin: u32) -> Result<Stored, Fault> {
        match self.reach(Operation::Store, offset, u64::from(width), u64::from(width))? {
            Reach::Inside => {
                self.put(offset, width, contents);
                Ok(Stored::Written)
            }
            Reach::Outside => Ok(self.store_outside(origin)),
        }
    }

    /// Executes an atomic access to a scalar and returns the old value. `f` maps the old contents
    /// to the new ones, or to `None` if nothing is written. It gets undefined contents too.
    pub fn atomic(&mut self, offset: u64, width: u8, origin: u32, f: impl FnOnce(Contents) -> Option<Contents>) -> Result<Loaded, Fault> {
        match self.reach(Operation::Atomic, offset, u64::from(width), u64::from(width))? {
            Reach::Inside => {
                let old = self.contents(offset, width);
                if let Some(new) = f(old) {
                    self.put(offset, width, new);
                }
                Ok(Loaded::Contents(old))
            }
            Reach::Outside => {
                self.store_outside(origin);
                Ok(Loaded::Any)
            }
        }
    }

    /// All bytes of the object at the end of a run. An undefined byte is its origin.
    pub fn bytes(&self) -> impl Iterator<Item = Result<u8, u32>> {
        (0..self.length).map(|at| {
            let contents = self.contents(at, 1);
            if contents.undefined == 0 { Ok(contents.bits as u8) } else { Err(contents.origin) }
        })
    }

    /// The scalar at an offset within bounds.
    fn contents(&self, offset: u64, width: u8) -> Contents {
        let mut contents = Contents::defined(0);
        for i in (0..u64::from(width.min(8))).rev() {
            let Some(line) = self.lines.get(((offset + i) / LINE) as usize) else { continue };
            let at = ((offset + i) % LINE) as usize;
            contents.bits <<= 8;
            if line.undefined >> at & 1 != 0 {
                contents.undefined |= 1 << i;
                contents.origin = match &line.origins {
                    Origins::One(origin) => *origin,
                    Origins::Each(origins) => origins[at],
                };
            } else {
                contents.bits |= u64::from(line.bytes[at]);
            }
        }
        contents
    }

    fn put(&mut self, offset: u64, width: u8, contents: Contents) {
        for i in 0..u64::from(width.min(8)) {
            let Some(line) = self.lines.get_mut(((offset + i) / LINE) as usize) else { continue };
            let at = ((offset + i) % LINE) as usize;
            if contents.undefined >> i & 1 != 0 {
                line.set_origin(at, contents.origin);
                line.undefined |= 1 << at;
                line.bytes[at] = 0;
            } else {
                line.undefined &= !(1 << at);
                line.bytes[at] = (contents.bits >> (8 * i)) as u8;
            }
        }
    }
}

impl Line {
    fn set_origin(&mut self, at: usize, origin: u32) {
        match &mut self.origins {
            Origins::One(one) if *one == origin => {}
            Origins::One(one) if self.undefined & !(1 << at) == 0 => *one = origin,
            Origins::One(one) => {
                let mut each = [*one; LINE as usize];
                each[at] = origin;
                self.origins = Origins::Each(Rc::new(each));
            }
            Origins::Each(each) => Rc::make_mut(each)[at] = origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents_at(object: &Object, offset: u64, width: u8) -> Contents {
        match object.load(offset, width) {
            Ok(Loaded::Contents(contents)) => contents,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn scalars_are_little_endian() {
        let mut object = Object::of(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
        assert_eq!(contents_at(&object, 0, 4), Contents::defined(0x0403_0201));
        assert_eq!(contents_at(&object, 0, 8), Contents::defined(0x0807_0605_0403_0201));
        assert_eq!(contents_at(&object, 6, 2), Contents::defined(0x0807));
        assert_eq!(contents_at(&object, 8, 1), Contents::defined(9));
        object.store(2, 2, Contents::defined(0xbeef), 0).unwrap();
        assert_eq!(contents_at(&object, 0, 4), Contents::defined(0xbeef_0201));
    }

    #[test]
    fn undefined_bytes_have_origins_until_they_are_overwritten() {
        let mut object = Object::undefined(100, 7).unwrap();
        assert_eq!(contents_at(&object, 64, 4), Contents { bits: 0, undefined: 0xf, origin: 7 });
        object.store(65, 1, Contents::defined(0xab), 0).unwrap();
        assert_eq!(contents_at(&object, 64, 4), Contents { bits: 0xab00, undefined: 0b1101, origin: 7 });
        object.store(64, 1, Contents::undefined(9), 0).unwrap();
        assert_eq!(contents_at(&object, 64, 4), Contents { bits: 0xab00, undefined: 0b1101, origin: 9 });
        assert_eq!(contents_at(&object, 66, 1), Contents { bits: 0, undefined: 1, origin: 7 });
        // A copy of a partly undefined scalar keeps the defined part.
        let part = contents_at(&object, 64, 4);
        object.store(0, 4, part, 0).unwrap();
        assert_eq!(contents_at(&object, 1, 1), Contents::defined(0xab));
        assert_eq!(contents_at(&object, 0, 1).origin, 9);
        object.store(64, 8, Contents::defined(u64::MAX), 0).unwrap();
        assert_eq!(contents_at(&object, 64, 8), Contents::defined(u64::MAX));
    }

    #[test]
    fn each_clause_that_fails_is_named() {
        let mut object = Object::zeroed(16).unwrap();
        let id = |result: Result<Loaded, Fault>| result.unwrap_err().id();
        assert_eq!(id(object.load(16, 1)), "spirv/load-out-of-bounds");
        assert_eq!(id(object.load(u64::MAX - 7, 8)), "spirv/load-out-of-bounds");
        assert_eq!(id(object.load(2, 4)), "spirv/misaligned");
        assert_eq!(id(object.atomic(16, 4, 0, Some)), "spirv/atomic-out-of-bounds");
        assert_eq!(object.store(14, 4, Contents::defined(0), 0).unwrap_err().id(), "spirv/misaligned");
        assert_eq!(object.store(16, 4, Contents::defined(0), 0).unwrap_err().id(), "spirv/store-out-of-bounds");
        let mut fixed = object.clone().read_only();
        assert_eq!(fixed.store(0, 4, Contents::defined(0), 0).unwrap_err().id(), "spirv/store-read-only");
        assert!(fixed.load(0, 4).is_ok());
        // A whole vector is checked, with the alignment that its instruction states.
        assert_eq!(object.reach(Operation::Load, 8, 16, 8).unwrap_err().id(), "spirv/load-out-of-bounds");
        assert_eq!(object.reach(Operation::Load, 8, 8, 16).unwrap_err().id(), "spirv/misaligned");
        assert_eq!(object.reach(Operation::Load, u64::MAX, 2, 1).unwrap_err().id(), "spirv/load-out-of-bounds");
        assert!(Object::zeroed(MAX_BYTES + 1).is_err());
    }

    #[test]
    fn robustness_is_a_set_of_outcomes() {
        let five = Object::of(&[5; 8]).unwrap();
        let mut two = five.clone().robust(Robustness::Rba2);
        assert_eq!(two.load(8, 4), Ok(Loaded::Contents(Contents::defined(0))));
        assert_eq!(two.store(8, 4, Contents::defined(1), 3), Ok(Stored::Dropped));
        assert_eq!(two.atomic(8, 4, 3, |_| Some(Contents::defined(1))), Ok(Loaded::Any));
        assert_eq!(contents_at(&two, 4, 4), Contents::defined(0x0505_0505));
        let mut one = five.clone().robust(Robustness::Rba1);
        assert_eq!(one.load(8, 4), Ok(Loaded::SomeOfBuffer));
        assert_eq!(contents_at(&one, 0, 1), Contents::defined(5));
        assert_eq!(one.store(8, 4, Contents::defined(1), 3), Ok(Stored::Anywhere));
        assert_eq!(one.bytes().collect::<Vec<_>>(), vec![Err(3); 8]);
        assert_eq!(five.bytes().collect::<Vec<_>>(), vec![Ok(5); 8]);
        // Robustness does not concern alignment.
        assert_eq!(one.load(9, 4), Err(Fault::Misaligned { offset: 9, alignment: 4 }));
    }

    proptest! {
        #[test]
        fn it_is_bytes(writes in prop::collection::vec((0u64..200, 0u32..4, any::<u64>(), any::<u8>(), 1u32..5), 0..60), fork in 0usize..60) {
            let mut object = Object::undefined(200, 1).unwrap();
            let mut plain: Vec<Result<u8, u32>> = vec![Err(1); 200];
            let mut old = None;
            for (i, (offset, log, bits, undefined, origin)) in writes.into_iter().enumerate() {
                let width = 1u8 << log;
                let offset = offset / u64::from(width) * u64::from(width);
                object.store(offset, width, Contents { bits, undefined, origin }, 0).unwrap();
                for byte in 0..width {
                    let value = if undefined >> byte & 1 != 0 { Err(origin) } else { Ok((bits >> (8 * byte)) as u8) };
                    plain[offset as usize + usize::from(byte)] = value;
                }
                if i == fork {
                    old = Some((object.clone(), plain.clone()));
                }
            }
            prop_assert_eq!(object.bytes().collect::<Vec<_>>(), plain);
            if let Some((object, plain)) = old {
                prop_assert_eq!(object.bytes().collect::<Vec<_>>(), plain);
            }
        }
    }
}
