//! Memory: seed 004 "Memory locations". It consists of objects. Each object is in one address space
//! and has words of 4 bytes. Addresses are in bytes.
//!
//! Every size and alignment is a multiple of 4 bytes (see [`crate::wsl::layout`]), so no access
//! touches part of a word.

use crate::concurrency::Kind;
use crate::wsl::meaning::{Evaluator, Op};
use crate::wsl::open::{OpenTerms, Possible, Word};
use crate::wsl::race::Races;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The index of an object in [`Memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// An address: an offset into an object. The offset is `bytes`, plus the value of `open` if the
/// address depends on an unspecified index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The object.
    pub object: ObjectId,
    /// The definite part of the offset, in bytes.
    pub bytes: u32,
    /// The unspecified part of the offset, in bytes.
    pub open: Option<crate::wsl::open::OpenId>,
}

/// A piece of memory that can be stored to.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its address space.
    pub space: AddressSpace,
    /// Its description in messages.
    pub name: String,
    /// Its contents.
    pub words: Vec<Word>,
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The objects, by number.
    pub objects: Vec<Object>,
    /// The record of races, if they are looked for.
    pub races: Option<Box<Races>>,
    /// Whether device memory is in doubt. A thread of a draw that a device may not have has stored
    /// to it, or a thread that a device may have has not.
    pub in_doubt: bool,
    /// The textures and samplers, by object.
    pub opaques: crate::wsl::texture::Opaques,
}

/// The words of a value.
pub type Words = SmallVec<[Word; 4]>;

impl Memory {
    /// A new object.
    pub fn push(&mut self, object: Object) -> ObjectId {
        self.objects.push(object);
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// The object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// The offsets that an address may have, in bytes. `None` if there are too many.
    pub fn offsets(&self, opens: &OpenTerms, at: Address) -> Option<Vec<u32>> {
        match at.open {
            None => Some(vec![at.bytes]),
            Some(open) => {
                let values = opens.values(Word::Open(open))?;
                Some(values.iter().map(|v| at.bytes.wrapping_add(*v)).collect())
            }
        }
    }

    /// A load of words at an address that is not atomic. `None` if it goes out of the object. Words
    /// that race are unspecified.
    pub fn loaded(&self, opens: &mut OpenTerms, at: Address, words: u32) -> Option<Words> {
        let mut loaded = self.read(opens, at, words)?;
        for k in self.races_with(opens, at, words, Kind::Load) {
            loaded[k as usize] = opens.leaf(None, Scalar::Uint, loaded[k as usize].definite().unwrap_or(0));
        }
        Some(loaded)
    }

    /// Stores words at an address, not atomically. `None` if the store goes out of the object. For
    /// a word that races with other stores, it is unspecified which value it keeps.
    pub fn store(&mut self, opens: &mut OpenTerms, at: Address, value: &[Word]) -> Option<()> {
        let racing = self.racing(opens, at, value.len() as u32, Kind::Store);
        if racing.is_empty() {
            return self.write(opens, at, value);
        }
        let old = self.read(opens, at, value.len() as u32)?;
        let mut value = Words::from_slice(value);
        for k in racing {
            let possible = opens.possible(old[k as usize]).or(opens.possible(value[k as usize]));
            let first = value[k as usize].definite().unwrap_or(0);
            value[k as usize] = match possible {
                Possible::Values(values) => opens.leaf(Some(&values), Scalar::Uint, first),
                Possible::Floats(_) | Possible::Any => opens.leaf(None, Scalar::Uint, first),
            };
        }
        self.write(opens, at, &value)
    }

    /// Records an access.
    pub fn note(&mut self, opens: &OpenTerms, at: Address, words: u32, kind: Kind) {
        if self.races.is_some() {
            self.racing(opens, at, words, kind);
        }
    }

    /// The words of an access that would race with a store, if the access were made now.
    pub fn races_with(&self, opens: &OpenTerms, at: Address, words: u32, kind: Kind) -> Vec<u32> {
        let space = self.object(at.object).space;
        let shared = matches!(space, AddressSpace::Device | AddressSpace::Threadgroup);
        let Some(races) = self.races.as_ref().filter(|_| shared) else { return Vec::new() };
        let offsets = self.offsets(opens, at).unwrap_or_default();
        (0..words).filter(|k| offsets.iter().any(|o| races.races_with((at.object, o / 4 + k), space, kind))).collect()
    }

    /// Records an access. Returns the words of it that race with a store.
    fn racing(&mut self, opens: &OpenTerms, at: Address, words: u32, kind: Kind) -> Vec<u32> {
        let space = self.object(at.object).space;
        if self.races.is_none() || !matches!(space, AddressSpace::Device | AddressSpace::Threadgroup) {
            return Vec::new();
        }
        let offsets = self.offsets(opens, at).unwrap_or_default();
        let Some(races) = &mut self.races else { return Vec::new() };
        (0..words).filter(|k| offsets.iter().fold(false, |racy, o| races.word((at.object, o / 4 + k), space, kind) | racy)).collect()
    }

    /// The words at an address, without a record. `None` if they go out of the object.
    pub fn read(&self, opens: &mut OpenTerms, at: Address, words: u32) -> Option<Words> {
        let object = self.object(at.object);
        let words_at = |offset: u32| {
            let first = offset as usize / 4;
            object.words.get(first..first.checked_add(words as usize)?)
        };
        let Some(open) = at.open else {
            let mut words = Words::from_slice(words_at(at.bytes)?);
            words.iter_mut().for_each(|word| *word = opens.read(*word));
            return Some(words);
        };
        let index = opens.read(Word::Open(open));
        let values = opens.values(index)?;
        let parts: Vec<(u32, &[Word])> =
            values.iter().map(|&v| Some((v, words_at(at.bytes.wrapping_add(v))?))).collect::<Option<Vec<_>>>()?;
        let word = |k: usize| -> Vec<(u32, Word)> { parts.iter().map(|&(v, words)| (v, words[k])).collect() };
        (0..words as usize).map(|k| Some(opens.select(index, &word(k)))).collect()
    }

    /// Writes words at an address, without a record. `None` if they go out of the object. If the
    /// offset is unspecified, each word that the store may reach becomes a term. The offset decides
    /// between the old and the new value.
    pub fn write(&mut self, opens: &mut OpenTerms, at: Address, value: &[Word]) -> Option<()> {
        let object = self.objects.get_mut(at.object.0 as usize)?;
        let index = at.open.map(|open| opens.read(Word::Open(open)));
        let definite = match index {
            None => Some(at.bytes),
            Some(Word::Bits(bits)) => Some(at.bytes.wrapping_add(bits)),
            Some(_) => None,
        };
        if let Some(offset) = definite {
            let first = offset as usize / 4;
            object.words.get_mut(first..first.checked_add(value.len())?)?.copy_from_slice(value);
            return Some(());
        }
        let index = index?;
        let values = opens.values(index)?;
        for &v in &values {
            let first = at.bytes.wrapping_add(v) as usize / 4;
            for (k, &new) in value.iter().enumerate() {
                let old = *object.words.get(first + k)?;
                let cases: Vec<(u32, Word)> = values.iter().map(|&other| (other, if other == v { new } else { old })).collect();
                object.words[first + k] = opens.select(index, &cases);
            }
        }
        Some(())
    }
}

impl Address {
    /// The address `bytes` bytes after the start of an object.
    pub fn of(object: ObjectId, bytes: u32) -> Address {
        Address { object, bytes, open: None }
    }

    /// The address `bytes` bytes further.
    pub fn plus(self, bytes: u32) -> Address {
        Address { bytes: self.bytes.wrapping_add(bytes), ..self }
    }

    /// The address of an element of `stride` bytes. The index is in bounds.
    pub fn element(self, opens: &mut OpenTerms, index: Word, stride: u32) -> Address {
        use crate::wsl::library::Meaning;
        match opens.read(index) {
            Word::Bits(bits) => self.plus(bits.wrapping_mul(stride)),
            index => {
                let uint = |meaning| Op { meaning, of: Scalar::Uint, to: Scalar::Uint };
                let mut offset = opens.scalar(uint(Meaning::Multiply), &[index, Word::Bits(stride)]);
                if let Some(open) = self.open {
                    offset = opens.scalar(uint(Meaning::Add), &[Word::Open(open), offset]);
                }
                match offset {
                    Word::Open(open) => Address { open: Some(open), ..self },
                    Word::Bits(bits) => Address { open: None, ..self.plus(bits) },
                    Word::Address(_) => self,
                }
            }
        }
    }
}
