//! A vector whose copies share what they have in common: the memory of one configuration and of its reduct differ in one place.

use std::rc::Rc;

const CHUNK: usize = 16;

/// A persistent vector; cloning is constant time, writing copies one chunk at most.
#[derive(Clone, Debug)]
pub struct Persistent<T> {
    chunks: Rc<Vec<Rc<[T; CHUNK]>>>,
}

impl<T: Clone + Default> Persistent<T> {
    /// A vector of at least that many defaults.
    pub fn new(length: usize) -> Persistent<T> {
        Persistent::filled(length, T::default())
    }
}

impl<T: Clone> Persistent<T> {
    /// A vector of at least that many equal elements, which share one chunk.
    pub fn filled(length: usize, element: T) -> Persistent<T> {
        let chunk: Rc<[T; CHUNK]> = Rc::new(std::array::from_fn(|_| element.clone()));
        Persistent { chunks: Rc::new(vec![chunk; length.div_ceil(CHUNK)]) }
    }

    /// The element at a position within, to change.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let chunk = Rc::make_mut(&mut self.chunks).get_mut(index / CHUNK)?;
        Some(&mut Rc::make_mut(chunk)[index % CHUNK])
    }

    /// The element at a position within.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK).map(|chunk| &chunk[index % CHUNK])
    }

    /// Writes the element at a position within.
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(element) = self.get_mut(index) {
            *element = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_does_not_show_in_older_copies() {
        let mut new = Persistent::new(40);
        new.set(33, 7);
        let old = new.clone();
        new.set(33, 8);
        new.set(0, 1);
        assert_eq!((old.get(33), old.get(0)), (Some(&7), Some(&0)));
        assert_eq!((new.get(33), new.get(0)), (Some(&8), Some(&1)));
        assert_eq!(old.get(48), None);
    }
}
