//! Pointers that are chosen at run time: SPIR-V §3.3.8.

use super::super::column::{self, LANES, Lanes};
use super::super::program::{Code, DynamicPointer, Pair};
use super::Shared;
use super::codes::Done;
use super::warp::{RegisterOrLocal, Warp};
use crate::spirv::report::{self, Nothing};
use crate::spirv::value::Origin;
use crate::undefined::Ub;

/// Whether two pointers point into the same memory.
fn is_of_one_object(pair: &Pair, shared: &Shared<'_>, a: [u32; 4], b: [u32; 4]) -> bool {
    let memory = |pointer: [u32; 4]| shared.buffers.memory_of(pointer[3] as u8);
    pair.is_shared || a[3] == b[3] || memory(a) == memory(b)
}

impl Warp {
    /// The lanes in which the pointer is undefined.
    fn undefined_of(&self, pointer: &DynamicPointer) -> Lanes {
        pointer.iter().fold(0, |lanes, &column| lanes | self.undefined[column as usize])
    }

    /// The origin of a lane's undefined pointer.
    fn origin_of(&self, pointer: &DynamicPointer, lane: usize, at: u32) -> Origin {
        let column = pointer.iter().find(|&&column| self.undefined[column as usize] >> lane & 1 == 1).unwrap_or(&pointer[0]);
        self.origin(RegisterOrLocal::Column(*column), lane, at)
    }

    fn pointer_in_lane(&self, pointer: &DynamicPointer, lane: usize) -> [u32; 4] {
        pointer.map(|column| self.columns[column as usize][lane])
    }

    /// Checks that the pointer of every active lane points to something.
    pub(super) fn follow(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let follow = &shared.program.follows[code.c as usize];
        let doubt = self.undefined_of(&follow.pointer);
        for lane in column::lanes(self.active) {
            let [_, index, count, _] = self.pointer_in_lane(&follow.pointer, lane);
            let why = if doubt >> lane & 1 == 1 {
                Nothing::Undefined(self.origin_of(&follow.pointer, lane, code.at))
            } else if count == 0 {
                Nothing::Null
            } else if follow.past_too && index >= count {
                Nothing::PastTheEnd(count.into())
            } else {
                continue;
            };
            let what = report::pointer_to_nothing(&shared.program.module, code.at, follow.id, why);
            return Err(self.failure(shared, Ub::PointerToNothing, what, code.at, 1 << lane));
        }
        Ok(())
    }

    /// d := a + b, the index of an element of the array or one past its end.
    pub(super) fn advance(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let advance = &shared.program.advances[code.c as usize];
        let module = &shared.program.module;
        let (a, b, count) = (code.a as usize, code.b as usize, advance.count as usize);
        let mut result = [0; LANES];
        for lane in column::lanes(self.active) {
            if self.undefined[b] >> lane & 1 == 1 {
                let origin = self.origin(RegisterOrLocal::Column(code.b), lane, code.at);
                let what = report::index_undefined(module, code.at, advance.id, origin);
                return Err(self.failure(shared, Ub::AddressOnUndefined, what, code.at, 1 << lane));
            }
            let to = i64::from(self.columns[a][lane]) + i64::from(self.columns[b][lane] as i32);
            let count = self.columns[count][lane];
            if to < 0 || to > i64::from(count) || to == i64::from(count) && !advance.past {
                let what = report::element_out_of_bounds(module, code.at, advance.id, to, count.into());
                return Err(self.failure(shared, Ub::AccessOutOfBounds, what, code.at, 1 << lane));
            }
            result[lane] = to as u32;
        }
        self.write(code.d, code.masked, |_, target| *target = result);
        Ok(())
    }

    /// Whether a lane's two pointers are equal. In memory without layout, one past the end of an
    /// array equals no element of another array.
    fn is_same(&self, pair: &Pair, lane: usize, shared: &Shared<'_>) -> bool {
        let [a, b] = pair.pointers.map(|pointer| self.pointer_in_lane(&pointer, lane));
        let address = |[first, index, ..]: [u32; 4]| first.wrapping_add(index.wrapping_mul(pair.stride));
        let (null, past) = ([a, b].map(|p| p[2] == 0), [a, b].map(|p| p[1] >= p[2]));
        let elsewhere = pair.is_shared && past[0] != past[1] && a[0] != b[0];
        let same = || address(a) == address(b) && is_of_one_object(pair, shared, a, b);
        null[0] && null[1] || !null[0] && !null[1] && same() && !elsewhere
    }

    /// Set d := the lanes in which the pointers are equal, or differ for OpPtrNotEqual.
    pub(super) fn same_pointers(&mut self, code: &Code, shared: &Shared<'_>) {
        let pair = &shared.program.pairs[code.c as usize];
        let undefined = pair.pointers.map(|pointer| self.undefined_of(&pointer));
        let doubt = (undefined[0] | undefined[1]) & self.active;
        let undefined_operand = |lane: usize| usize::from(undefined[0] >> lane & 1 == 0);
        let origins =
            column::lanes(doubt).map(|lane| (lane, self.origin_of(&pair.pointers[undefined_operand(lane)], lane, code.at))).collect();
        let set = column::lanes(self.active)
            .filter(|&lane| self.is_same(pair, lane, shared) != pair.negates)
            .fold(0u64, |set, lane| set | 1 << lane);
        self.write_set(code, set);
        self.keep_origins(RegisterOrLocal::Set(code.d), doubt, origins);
    }

    /// d := the number of elements from the second pointer to the first. Both must point
    /// into one array.
    pub(super) fn pointers_apart(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let pair = &shared.program.pairs[code.c as usize];
        let doubt = self.undefined_of(&pair.pointers[0]) | self.undefined_of(&pair.pointers[1]);
        let mut difference = [0; LANES];
        for lane in column::lanes(self.active) {
            let [a, b] = pair.pointers.map(|pointer| self.pointer_in_lane(&pointer, lane));
            if doubt >> lane & 1 == 1 || a[2] == 0 || b[2] == 0 || a[0] != b[0] || a[2] != b[2] || !is_of_one_object(pair, shared, a, b) {
                let what = report::pointers_apart(&shared.program.module, code.at);
                return Err(self.failure(shared, Ub::PointersApart, what, code.at, 1 << lane));
            }
            difference[lane] = a[1].wrapping_sub(b[1]) & (u32::MAX >> (32 - pair.width));
        }
        self.write(code.d, code.masked, |_, target| *target = difference);
        Ok(())
    }
}
