//! A vector whose copies share what they have in common: the memory of one configuration and of its reduct differ in a few places.

use std::ops::Range;
use std::rc::Rc;

const BITS: u32 = 4;
const FAN: usize = 1 << BITS;

/// A tree of a fixed height; what was never written takes no room.
#[derive(Clone, Debug)]
enum Node<T> {
    Empty,
    Branch(Rc<[Node<T>; FAN]>),
    Leaf(Rc<[Option<T>; FAN]>),
}

/// A persistent vector of elements that may be absent; cloning is constant time, writing copies one path.
#[derive(Clone, Debug)]
pub struct Persistent<T> {
    root: Node<T>,
    length: usize,
    /// Of the root: a leaf has height 0.
    height: u32,
}

impl<T: Clone> Persistent<T> {
    /// A vector of that many absent elements.
    pub fn new(length: usize) -> Persistent<T> {
        let mut height = 0;
        while length.saturating_sub(1) >> (BITS * (height + 1)) != 0 {
            height += 1;
        }
        Persistent { root: Node::Empty, length, height }
    }

    /// The element at a position, if there is one.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.length {
            return None;
        }
        let (mut node, mut height) = (&self.root, self.height);
        loop {
            match node {
                Node::Empty => return None,
                Node::Leaf(leaf) => return leaf[index % FAN].as_ref(),
                Node::Branch(branch) => node = &branch[(index >> (BITS * height)) % FAN],
            }
            height -= 1;
        }
    }

    /// Writes the element at a position; beyond the end, nothing.
    pub fn set(&mut self, index: usize, value: T) {
        if index >= self.length {
            return;
        }
        let (mut node, mut height) = (&mut self.root, self.height);
        loop {
            if let Node::Empty = node {
                *node = match height {
                    0 => Node::Leaf(Rc::new([const { None }; FAN])),
                    _ => Node::Branch(Rc::new([const { Node::Empty }; FAN])),
                };
            }
            match node {
                Node::Empty => return,
                Node::Leaf(leaf) => {
                    Rc::make_mut(leaf)[index % FAN] = Some(value);
                    return;
                }
                Node::Branch(branch) => node = &mut Rc::make_mut(branch)[(index >> (BITS * height)) % FAN],
            }
            height -= 1;
        }
    }

    /// Takes out the elements of a range.
    pub fn clear(&mut self, range: Range<usize>) {
        fn clear<T: Clone>(node: &mut Node<T>, height: u32, first: usize, range: &Range<usize>) {
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
                    (range.start.max(first)..range.end.min(end)).for_each(|index| leaf[index - first] = None);
                }
                Node::Branch(branch) => {
                    let parts = Rc::make_mut(branch).iter_mut().enumerate();
                    parts.for_each(|(i, node)| clear(node, height - 1, first + i * part, range));
                }
            }
        }
        clear(&mut self.root, self.height, 0, &(range.start..range.end.min(self.length)));
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
        assert_eq!((old.get(33), old.get(0)), (Some(&7), None));
        assert_eq!((new.get(33), new.get(0)), (Some(&8), Some(&1)));
        new.set(40, 9);
        assert_eq!((old.get(39), new.get(40), new.get(1 << 40)), (None, None, None));
    }

    #[test]
    fn it_is_a_vector() {
        for length in [0usize, 1, 16, 17, 256, 257, 5000] {
            let (mut vector, mut plain) = (Persistent::new(length), vec![None; length]);
            let all = |v: &Persistent<usize>| (0..length).map(|i| v.get(i).copied()).collect::<Vec<_>>();
            for step in 0..200usize {
                if length > 0 {
                    vector.set(step * 37 % length, step);
                    plain[step * 37 % length] = Some(step);
                }
                if step % 20 == 19 {
                    let (a, b) = (step * 13 % (length + 1), step * 101 % (length + 1));
                    vector.clear(a.min(b)..a.max(b));
                    plain[a.min(b)..a.max(b)].fill(None);
                }
            }
            assert_eq!(all(&vector), plain, "{length}");
            vector.clear(0..usize::MAX);
            assert_eq!(all(&vector), vec![None; length]);
        }
    }
}
