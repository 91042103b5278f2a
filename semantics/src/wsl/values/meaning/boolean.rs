//! Operations on `bool`: seed 004 "Bit manipulation", "Comparison operators".

use super::OpResult;
use crate::wsl::library::Meaning;

/// "Treating booleans as if they were integers of size 1". `None` if there is no such operation.
pub(super) fn of(meaning: Meaning, operands: &[u32]) -> Option<OpResult> {
    let result = match (meaning, operands) {
        (Meaning::Complement | Meaning::Not, &[x]) => x == 0,
        (Meaning::And, &[x, y]) => x != 0 && y != 0,
        (Meaning::Or, &[x, y]) => x != 0 || y != 0,
        (Meaning::Xor | Meaning::NotEqual, &[x, y]) => (x != 0) != (y != 0),
        (Meaning::Equal, &[x, y]) => (x != 0) == (y != 0),
        _ => return None,
    };
    Some(result.into())
}
