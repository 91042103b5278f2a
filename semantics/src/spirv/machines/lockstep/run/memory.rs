//! Buffers: words that several threads may access, and which bytes are undefined.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::super::program::Program;
use crate::spirv::alias::Aliases;
use crate::spirv::environment::Dispatch;
use crate::spirv::value::Origin;

const R: Ordering = Ordering::Relaxed;

/// The bytes behind one descriptor.
struct Memory {
    words: Vec<AtomicU32>,
    length: u64,
    /// The number of undefined bytes. While it is 0, the table is not read.
    undefined_count: AtomicU64,
    undefined: Mutex<FxHashMap<u32, Origin>>,
    /// The accesses by variable, if several variables name the memory and not all are Aliased.
    aliases: Option<Mutex<Aliases>>,
}

/// The memories, and the memory of each buffer variable.
pub(in super::super) struct Buffers {
    memories: Vec<Memory>,
    memory_by_variable: Vec<usize>,
}

impl Buffers {
    pub(super) fn new(program: &Program, dispatch: &Dispatch<'_>) -> Buffers {
        let memory = |bytes: &[u8]| Memory {
            words: {
                let (whole, rest) = bytes.as_chunks::<4>();
                let mut last = [0; 4];
                last[..rest.len()].copy_from_slice(rest);
                let last = (!rest.is_empty()).then_some(&last);
                whole.iter().chain(last).map(|four| AtomicU32::new(u32::from_le_bytes(*four))).collect()
            },
            length: bytes.len() as u64,
            undefined_count: AtomicU64::new(0),
            undefined: Mutex::default(),
            aliases: None,
        };
        let mut memories: Vec<Memory> = dispatch.resources.buffers.iter().map(|b| memory(&b.bytes)).collect();
        memories.push(memory(dispatch.resources.push_constants));
        let memory_number = |descriptor: Option<(u32, u32)>| match descriptor {
            None => dispatch.resources.buffers.len(),
            Some((set, binding)) => dispatch.resources.buffers.iter().position(|b| b.set == set && b.binding == binding).unwrap_or(0),
        };
        let memory_by_variable: Vec<usize> = program.buffers.iter().map(|b| memory_number(b.descriptor)).collect();
        for (at, memory) in memories.iter_mut().enumerate() {
            let named = program.buffers.iter().zip(&memory_by_variable).filter(|(_, memory_number)| **memory_number == at);
            memory.aliases = Aliases::of(&named.map(|(b, _)| (b.id, b.aliased)).collect::<Vec<_>>()).map(Mutex::new);
        }
        Buffers { memories, memory_by_variable }
    }

    /// Whether several variables that are not all Aliased name the memory.
    #[inline]
    pub(super) fn is_doubly_named(&self, memory: usize) -> bool {
        self.memories[memory].aliases.is_some()
    }

    /// Whether this is so for any memory.
    pub(super) fn any_doubly_named(&self) -> bool {
        self.memories.iter().any(|memory| memory.aliases.is_some())
    }

    /// Records the variable of an access. If it must not alias an earlier one, returns the first
    /// byte and the other variable.
    #[cold]
    pub(super) fn alias(&self, memory: usize, variable: u32, (byte, bytes): (u32, u32), writes: bool) -> Option<(u64, u32)> {
        let aliases = self.memories[memory].aliases.as_ref()?;
        let mut aliases = aliases.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        aliases.access(variable, byte.into(), bytes.into(), writes)
    }

    /// The number of a variable's memory.
    #[inline]
    pub(super) fn memory_of(&self, variable: u8) -> usize {
        self.memory_by_variable[variable as usize]
    }

    pub(super) fn length(&self, variable: u8) -> u64 {
        self.memories[self.memory_of(variable)].length
    }

    /// The number of memories.
    pub(super) fn count(&self) -> usize {
        self.memories.len()
    }

    /// The number of words of each memory.
    pub(super) fn word_counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.memories.iter().map(|m| m.words.len())
    }

    #[inline]
    pub(super) fn words(&self, memory: usize) -> &[AtomicU32] {
        &self.memories[memory].words
    }

    /// Whether a byte of the memory is undefined.
    #[inline]
    pub(super) fn has_undefined(&self, memory: usize) -> bool {
        self.memories[memory].undefined_count.load(R) != 0
    }

    /// The origin of the first undefined byte among these, if there is one.
    #[cold]
    pub(super) fn origin(&self, memory: usize, byte: u32, count: u32) -> Option<Origin> {
        let table = self.memories[memory].undefined.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (byte..byte + count).find_map(|byte| table.get(&byte).copied())
    }

    /// Makes these bytes undefined with an origin, or defined if it is `None`.
    #[cold]
    pub(super) fn set_undefined(&self, memory: usize, byte: u32, count: u32, origin: Option<Origin>) {
        let memory = &self.memories[memory];
        let mut table = memory.undefined.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for byte in byte..byte + count {
            match origin {
                Some(origin) => drop(table.insert(byte, origin)),
                None => drop(table.remove(&byte)),
            }
        }
        memory.undefined_count.store(table.len() as u64, R);
    }

    pub(super) fn bytes(&self, at: usize) -> Vec<u8> {
        let memory = &self.memories[at];
        let mut bytes = vec![0; 4 * memory.words.len()];
        for (four, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(&memory.words) {
            *four = word.load(R).to_le_bytes();
        }
        bytes.truncate(memory.length as usize);
        let table = memory.undefined.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        table.keys().for_each(|&byte| bytes[byte as usize] = 0);
        bytes
    }

    /// The undefined bytes with their origins, ascending.
    pub(super) fn undefined(&self, at: usize) -> Vec<(u64, Origin)> {
        let table = self.memories[at].undefined.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut bytes: Vec<(u64, Origin)> = table.iter().map(|(&byte, &origin)| (u64::from(byte), origin)).collect();
        bytes.sort_by_key(|&(byte, _)| byte);
        bytes
    }
}
