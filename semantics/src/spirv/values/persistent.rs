//! A vector whose copies share their common parts. The memories of a configuration and of its
//! reduct differ in a few places only.

use std::ops::Range;
use std::rc::Rc;

const BITS: u32 = 4;
const FAN: usize = 1 << BITS;

/// A node of a tree of fixed height. Parts that were never written take no space.
#[derive(Clone, Debug)]
enum Node<T> {
    /// All elements below have their initial value.
    Empty,
    Branch(Rc<[Node<T>; FAN]>),
    Leaf(Rc<[T; FAN]>),
}

/// A persistent vector. Cloning takes constant time, and a write copies one path.
#[derive(Clone, Debug)]
pub struct Persistent<T> {
    root: Node<T>,
    /// The initial value of every element.
    initial: Rc<T>,
    length: usize,
    /// The height of the root. A leaf has height 0.
    height: u32,
}

impl<T: Clone + Default> Persistent<T> {
    /// A vector of `length` default elements.
    pub fn new(length: usize) -> Persistent<T> {
        Persistent::filled(length, T::default())
    }
}

impl<T: Clone> Persistent<T> {
    /// A vector of `length` equal elements, which share one value.
    pub fn filled(length: usize, element: T) -> Persistent<T> {
        let mut height = 0;
        while length.saturating_sub(1) >> (BITS * (height + 1)) != 0 {
            height += 1;
        }
        Persistent { root: Node::Empty, initial: Rc::new(element), length, height }
    }

    /// The element at an index. `None` if it is out of range.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.length {
            return None;
        }
        let (mut node, mut height) = (&self.root, self.height);
        loop {
            match node {
                Node::Empty => return Some(&self.initial),
                Node::Leaf(leaf) => return Some(&leaf[index % FAN]),
                Node::Branch(branch) => node = &branch[(index >> (BITS * height)) % FAN],
            }
            height -= 1;
        }
    }

    /// A mutable reference to the element at an index. `None` if it is out of range.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.length {
            return None;
        }
        let (mut node, mut height) = (&mut self.root, self.height);
        loop {
            if let Node::Empty = node {
                *node = match height {
                    0 => Node::Leaf(Rc::new(std::array::from_fn(|_| self.initial.as_ref().clone()))),
                    _ => Node::Branch(Rc::new([const { Node::Empty }; FAN])),
                };
            }
            match node {
                Node::Empty => return None,
                Node::Leaf(leaf) => return Some(&mut Rc::make_mut(leaf)[index % FAN]),
                Node::Branch(branch) => node = &mut Rc::make_mut(branch)[(index >> (BITS * height)) % FAN],
            }
            height -= 1;
        }
    }

    /// Sets the element at an index. Does nothing if it is out of range.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(element) = self.get_mut(index) {
            *element = value;
        }
    }

    /// Sets the elements of a range to their initial value.
    pub fn reset(&mut self, range: Range<usize>) {
        let range = range.start..range.end.min(self.length);
        reset(&mut self.root, self.height, 0, &range, &self.initial);
    }
}

fn reset<T: Clone>(node: &mut Node<T>, height: u32, first: usize, range: &Range<usize>, initial: &T) {
    let part = 1usize << (BITS * height);
    let end = first + FAN * part;
    if range.end <= first || range.start >= end {
        return;
    }
    if range.start <= first && end <= range.end {
        *node = Node::Empty;
        return;
    }
    match node {
        Node::Empty => {}
        Node::Leaf(leaf) => {
            let leaf = Rc::make_mut(leaf);
            (range.start.max(first)..range.end.min(end)).for_each(|index| leaf[index - first] = initial.clone());
        }
        Node::Branch(branch) => {
            let parts = Rc::make_mut(branch).iter_mut().enumerate();
            parts.for_each(|(i, node)| reset(node, height - 1, first + i * part, range, initial));
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
        new.set(40, 9);
        assert_eq!((old.get(39), new.get(40), new.get(1 << 40)), (Some(&0), None, None));
    }

    #[test]
    fn it_is_a_vector() {
        for length in [0usize, 1, 16, 17, 256, 257, 5000] {
            let (mut vector, mut plain) = (Persistent::filled(length, 7), vec![7; length]);
            let all = |v: &Persistent<usize>| (0..length).filter_map(|i| v.get(i).copied()).collect::<Vec<_>>();
            for step in 0..200usize {
                if length > 0 {
                    vector.set(step * 37 % length, step);
                    plain[step * 37 % length] = step;
                }
                if step % 20 == 19 {
                    let (a, b) = (step * 13 % (length + 1), step * 101 % (length + 1));
                    vector.reset(a.min(b)..a.max(b));
                    plain[a.min(b)..a.max(b)].fill(7);
                }
            }
            assert_eq!(all(&vector), plain, "{length}");
            vector.reset(0..usize::MAX);
            assert_eq!(all(&vector), vec![7; length]);
        }
    }
}
