//! Aliasing of buffers that several variables name: SPIR-V §2.18.2, Aliasing. Unless two memory
//! object declarations are both decorated Aliased, an implementation may assume that memory written
//! through one is not accessed through the other.
//!
//! Only variables count as declarations here. Pointer parameters of functions are declarations too,
//! but are not tracked.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The variables that have accessed each byte of a buffer with several variables.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Aliases {
    /// The variables that are decorated Aliased.
    declared: FxHashSet<u32>,
    /// By byte: the variables that have accessed it, and whether they wrote it.
    bytes: FxHashMap<u64, SmallVec<[(u32, bool); 2]>>,
}

impl Aliases {
    /// For a buffer with these variables. Each Boolean says whether the variable is decorated
    /// Aliased. `None` if no access can break the rule.
    pub(in crate::spirv) fn of(variables: &[(u32, bool)]) -> Option<Aliases> {
        let declared: FxHashSet<u32> = variables.iter().filter(|(_, aliased)| *aliased).map(|(id, _)| *id).collect();
        let may_break_rule = variables.len() > 1 && declared.len() < variables.len();
        may_break_rule.then(|| Aliases { declared, bytes: FxHashMap::default() })
    }

    /// Records an access. If it breaks the rule, returns the first such byte and the
    /// other variable.
    pub(in crate::spirv) fn access(&mut self, variable: u32, offset: u64, bytes: u64, writes: bool) -> Option<(u64, u32)> {
        let aliased = self.declared.contains(&variable);
        for byte in offset..offset.saturating_add(bytes) {
            let accesses = self.bytes.entry(byte).or_default();
            let breaks_rule =
                |&&(other, wrote): &&(u32, bool)| other != variable && (wrote || writes) && !(aliased && self.declared.contains(&other));
            if let Some(&(other, _)) = accesses.iter().find(breaks_rule) {
                return Some((byte, other));
            }
            match accesses.iter_mut().find(|(of, _)| *of == variable) {
                Some((_, wrote)) => *wrote |= writes,
                None => accesses.push((variable, writes)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_variable_writes_no_other_may_access() {
        assert!(Aliases::of(&[(1, false)]).is_none());
        assert!(Aliases::of(&[(1, true), (2, true)]).is_none());
        let mut aliases = Aliases::of(&[(1, true), (2, false), (3, true)]).unwrap();
        assert_eq!(aliases.access(1, 0, 4, false), None);
        assert_eq!(aliases.access(2, 0, 4, false), None, "two readers");
        assert_eq!(aliases.access(3, 4, 4, true), None);
        assert_eq!(aliases.access(1, 4, 4, true), None, "both Aliased");
        assert_eq!(aliases.access(2, 2, 4, false), Some((4, 3)));
        assert_eq!(aliases.access(1, 3, 1, true), Some((3, 2)));
    }
}
