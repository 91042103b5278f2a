//! Values, conditions, and readable elements of shared arrays.

use super::{Array, Generator, Kind, Use};

impl Generator {
    /// A literal.
    pub(super) fn literal(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Uint => format!("{}u", self.below(10)),
            Kind::Int => match self.below(4) {
                0 => format!("(-{})", 1 + self.below(5)),
                _ => self.below(10).to_string(),
            },
            Kind::Float => format!("{}.{}", self.below(6), self.pick(&["0", "25", "5", "125"])),
        }
    }

    /// An expression of that kind.
    pub(super) fn value(&mut self, kind: Kind, depth: u32) -> String {
        if depth == 0 {
            return self.leaf_value(kind);
        }
        match self.below(8) {
            0 | 1 => self.leaf_value(kind),
            2 => {
                let (c, a, b) = (self.condition(depth - 1), self.value(kind, depth - 1), self.value(kind, depth - 1));
                format!("({c} ? {a} : {b})")
            }
            3 => self.read(kind, depth).unwrap_or_else(|| self.leaf_value(kind)),
            4 => self.call(kind, depth).unwrap_or_else(|| self.leaf_value(kind)),
            _ => self.operation(kind, depth - 1),
        }
    }

    /// A variable or a literal.
    fn leaf_value(&mut self, kind: Kind) -> String {
        let candidates: Vec<String> = self.locals.iter().filter(|l| l.kind == kind).map(|l| l.name.clone()).collect();
        if candidates.is_empty() || self.one_in(4) {
            return self.literal(kind);
        }
        let i = self.below(candidates.len() as u32);
        candidates[i as usize].clone()
    }

    fn operation(&mut self, kind: Kind, depth: u32) -> String {
        let a = self.value(kind, depth);
        match kind {
            Kind::Uint | Kind::Int => match self.below(9) {
                0..=2 => {
                    let (sign, b) = (self.pick(&["+", "-", "*", "&", "|", "^"]), self.value(kind, depth));
                    format!("({a} {sign} {b})")
                }
                3 => {
                    let (sign, amount) = (self.pick(&["<<", ">>"]), self.value(Kind::Uint, depth.min(1)));
                    format!("({a} {sign} {amount})")
                }
                4 => {
                    let (sign, divisor) = (self.pick(&["/", "%"]), 1 + self.below(7));
                    let divisor = match kind {
                        // A divisor that only this thread has. It may be 0.
                        _ if self.shape.open && self.one_in(2) => format!("({} & {})", self.value(kind, 0), self.literal_of(kind, 3)),
                        _ => self.literal_of(kind, divisor),
                    };
                    format!("({a} {sign} {divisor})")
                }
                5 => {
                    let (name, b) = (self.pick(&["min", "max"]), self.value(kind, depth));
                    format!("{name}({a}, {b})")
                }
                6 if kind == Kind::Uint => format!("{}({a})", self.pick(&["countbits", "reversebits", "firstbitlow", "firstbithigh"])),
                6 => format!("{}({a})", self.pick(&["abs", "sign", "-"])),
                7 => self.private_element(kind, depth),
                _ => {
                    let other = if kind == Kind::Uint { Kind::Int } else { Kind::Uint };
                    let b = self.value(other, depth);
                    format!("{}({b})", kind.name())
                }
            },
            Kind::Float => match self.below(8) {
                0..=2 => {
                    let (sign, b) = (self.pick(&["+", "-", "*"]), self.value(kind, depth));
                    format!("({a} {sign} {b})")
                }
                3 => format!("{}({a})", self.pick(&["floor", "abs", "trunc", "ceil", "-", "frac"])),
                4 => self.private_element(kind, depth),
                5 if self.shape.open => {
                    let b = self.value(kind, 0);
                    match self.below(3) {
                        0 => format!("({a} / {b})"),
                        1 => format!("min({a}, {b})"),
                        _ => format!("sqrt({a})"),
                    }
                }
                5 => format!("({a} / {})", self.pick(&["2.0", "0.75", "3.0"])),
                _ => {
                    let source_kind = self.pick(&[Kind::Uint, Kind::Int]);
                    let b = self.value(source_kind, depth);
                    format!("float({b})")
                }
            },
        }
    }

    fn literal_of(&self, kind: Kind, value: u32) -> String {
        if kind == Kind::Uint { format!("{value}u") } else { value.to_string() }
    }

    /// An element of one of the thread's own arrays.
    fn private_element(&mut self, kind: Kind, depth: u32) -> String {
        let candidates: Vec<String> = self.private_arrays.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name.clone()).collect();
        if candidates.is_empty() {
            return self.leaf_value(kind);
        }
        let (i, index) = (self.below(candidates.len() as u32), self.private_index(depth));
        format!("{}[{index}]", candidates[i as usize])
    }

    /// An index of one of the thread's own arrays of four elements. It may be too large if the
    /// shape allows unspecified operations.
    pub(super) fn private_index(&mut self, depth: u32) -> String {
        let index = self.value(Kind::Uint, depth.min(1));
        if self.shape.open && self.one_in(3) { index } else { format!("({index} % 4u)") }
    }

    fn call(&mut self, kind: Kind, depth: u32) -> Option<String> {
        let candidates: Vec<String> = self.functions.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name.clone()).collect();
        if candidates.is_empty() {
            return None;
        }
        let i = self.below(candidates.len() as u32);
        let [a, b, c] = Kind::ALL.map(|k| self.value(k, depth.min(2) - 1));
        Some(format!("{}({a}, {b}, {c})", candidates[i as usize]))
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        let kind = self.pick(&[Kind::Uint, Kind::Uint, Kind::Int, Kind::Float]);
        if depth > 0 && self.one_in(4) {
            let (a, sign, b) = (self.condition(depth - 1), self.pick(&["&&", "||"]), self.condition(depth - 1));
            return if self.one_in(3) { format!("(!({a} {sign} {b}))") } else { format!("({a} {sign} {b})") };
        }
        let (a, sign, b) = (self.value(kind, depth), self.pick(&["<", "<=", ">", ">=", "==", "!="]), self.value(kind, depth.min(1)));
        format!("({a} {sign} {b})")
    }

    /// Whether shared memory may be accessed once more. If so, counts the access.
    pub(super) fn use_access(&mut self) -> bool {
        if !self.may_share_memory || self.accesses <= 0 {
            return false;
        }
        self.accesses -= 1;
        true
    }

    /// A scalar of an element that this thread may read.
    fn read(&mut self, kind: Kind, depth: u32) -> Option<String> {
        let candidates: Vec<usize> =
            (0..self.arrays.len()).filter(|&i| self.arrays[i].element.leaves.iter().any(|l| l.1 == kind)).collect();
        if candidates.is_empty() || !self.use_access() {
            return None;
        }
        let i = self.pick(&candidates);
        let array = self.arrays[i].clone();
        let leaves: Vec<&str> = array.element.leaves.iter().filter(|l| l.1 == kind).map(|l| l.0).collect();
        let (leaf, index) = (self.pick(&leaves), self.read_index(&array, depth.min(2) - 1));
        Some(format!("{}[{index}]{leaf}", array.name))
    }

    /// The index of an element that this thread may read.
    pub(super) fn read_index(&mut self, array: &Array, depth: u32) -> String {
        let size = self.threads() * array.each;
        let first_element = match array.using {
            Use::All => 0,
            Use::Front(n) => n * array.each,
            Use::Shifted(_) | Use::Reversed => return self.own_index(array),
        };
        let index = match self.below(3) {
            0 => format!("{}u", first_element + self.below(size - first_element)),
            1 if first_element == 0 && array.each == 1 => "lane".into(),
            _ => {
                let value = self.value(Kind::Uint, depth);
                let index = format!("({value} % {}u)", size - first_element);
                if first_element == 0 { index } else { format!("({first_element}u + {index})") }
            }
        };
        self.in_part(array, index)
    }

    /// The index of an element that belongs to this thread.
    pub(super) fn own_index(&mut self, array: &Array) -> String {
        let (n, j) = (self.threads(), self.below(array.each));
        let thread_index = match array.using {
            Use::Shifted(0) | Use::Front(_) | Use::All => "lane".to_string(),
            Use::Shifted(k) => format!("((lane + {k}u) % {n}u)"),
            Use::Reversed => format!("({}u - lane)", n - 1),
        };
        let index = match (array.each, j) {
            (1, _) => thread_index,
            (each, 0) => format!("{thread_index} * {each}u"),
            (each, j) => format!("{thread_index} * {each}u + {j}u"),
        };
        self.in_part(array, index)
    }

    /// The index in a device buffer of an index in the group's part.
    pub(super) fn in_part(&self, array: &Array, index: String) -> String {
        let size = self.threads() * array.each;
        if array.device && self.group_count() > 1 { format!("number * {size}u + {index}") } else { index }
    }
}
