//! Parts of an invocation's own memory: which cells a pointer or left-value leads to.

use super::{Cell, Flow, Planted, Pure, Value};
use smallvec::{SmallVec, smallvec};

/// The scalars of a value.
pub type Scalars = SmallVec<[Value; 4]>;

/// An index into something whose elements have cells of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    index: Value,
    /// The number of elements.
    count: u32,
    /// The number of cells of each.
    stride: u32,
}

/// Some cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Cells that start at this one, offset by these indices.
    Cells(Cell, SmallVec<[Pick; 1]>),
    /// Any cells among this many from this one on. Which ones depends on these values.
    Lump(Cell, u32, SmallVec<[Value; 2]>),
}

impl Region {
    /// The region that starts at this cell.
    pub fn from(first: Cell) -> Region {
        Region::Cells(first, SmallVec::new())
    }

    /// The one cell of an object whose parts have no cells of their own.
    pub fn lump(cell: Cell) -> Region {
        Region::Lump(cell, 1, SmallVec::new())
    }

    /// The first cell that the region may contain.
    pub fn first(&self) -> Cell {
        match self {
            Region::Cells(cell, _) | Region::Lump(cell, ..) => *cell,
        }
    }

    /// The values that decide which cells the region contains.
    pub fn depends(&self) -> Scalars {
        match self {
            Region::Cells(_, picks) => picks.iter().map(|p| p.index).collect(),
            Region::Lump(_, _, values) => values.iter().copied().collect(),
        }
    }

    /// The region, moved by this many cells.
    #[must_use]
    pub fn offset_by(self, cells: u32) -> Region {
        match self {
            Region::Cells(base, picks) => Region::Cells(Cell(base.0 + cells), picks),
            lump => lump,
        }
    }

    /// Element `index` of `count` elements with `stride` cells each. `known` is the value of the
    /// index, if it is a constant.
    #[must_use]
    pub fn element(self, index: Value, known: Option<u32>, count: u32, stride: u32) -> Region {
        match (self, known.filter(|known| *known < count)) {
            (Region::Cells(base, picks), Some(known)) => Region::Cells(Cell(base.0 + known * stride), picks),
            (Region::Cells(base, mut picks), None) => {
                if count > 0 && stride > 0 {
                    picks.push(Pick { index, count, stride });
                }
                Region::Cells(base, picks)
            }
            (lump, Some(_)) => lump,
            (lump, None) => lump.lumped(Some(index)),
        }
    }

    /// All cells that the region may contain, as one lump. Which of them is meant also depends on
    /// `further`.
    #[must_use]
    pub fn lumped(self, further: Option<Value>) -> Region {
        let (cell, n, mut values) = match self {
            Region::Cells(cell, picks) => {
                let n = 1 + picks.iter().map(|p| p.count.saturating_sub(1) * p.stride).sum::<u32>();
                (cell, n, picks.iter().map(|p| p.index).collect())
            }
            Region::Lump(cell, n, values) => (cell, n, values),
        };
        values.extend(further);
        Region::Lump(cell, n, values)
    }
}

/// The offsets that the indices may give.
fn offsets(picks: &[Pick]) -> SmallVec<[u32; 8]> {
    let mut offsets: SmallVec<[u32; 8]> = smallvec![0];
    for pick in picks {
        offsets = (0..pick.count).flat_map(|i| offsets.iter().map(move |o| o + i * pick.stride)).collect();
    }
    offsets
}

impl Flow {
    fn is(&self, planted: Planted) -> bool {
        self.planted == Some(planted)
    }

    /// The values of this many cells.
    pub fn read_all(&mut self, first: Cell, n: u32) -> Scalars {
        (first.0..first.0 + n).map(|cell| self.read(Cell(cell))).collect()
    }

    /// Stores one value in each cell.
    pub fn write_all(&mut self, first: Cell, values: &[Value]) {
        for (cell, &value) in (first.0..).zip(values) {
            self.write(Cell(cell), value);
        }
    }

    /// This many values, each depending on all operands.
    pub fn values_from_all(&mut self, operands: &[Value], n: u32) -> Scalars {
        (0..n).map(|k| self.pure(Pure::Other(k), operands)).collect()
    }

    /// Loads this many scalars from a region.
    pub fn load(&mut self, region: &Region, n: u32) -> Scalars {
        match region {
            Region::Cells(base, picks) if picks.is_empty() => self.read_all(*base, n),
            Region::Cells(base, picks) => {
                let offsets = offsets(picks);
                let load_one = |flow: &mut Flow, k: u32| {
                    let mut operands = if flow.is(Planted::DynamicIndexIsIgnored) { Scalars::new() } else { region.depends() };
                    for offset in &offsets {
                        operands.push(flow.read(Cell(base.0 + offset + k)));
                    }
                    flow.pure(Pure::Other(k), &operands)
                };
                (0..n).map(|k| load_one(self, k)).collect()
            }
            Region::Lump(cell, cells, _) => {
                let mut operands = region.depends();
                operands.extend(self.read_all(*cell, *cells));
                self.values_from_all(&operands, n)
            }
        }
    }

    /// Stores a value in a region. If the indices are not constants, each cell that they may reach
    /// keeps its value or gets the new one.
    pub fn store(&mut self, region: &Region, values: &[Value]) {
        match region {
            Region::Cells(base, picks) if picks.is_empty() => self.write_all(*base, values),
            Region::Cells(base, picks) => {
                let limit = if self.is(Planted::StoresHitFirstElement) { 1 } else { usize::MAX };
                for offset in offsets(picks).into_iter().take(limit) {
                    for (k, &value) in (0..).zip(values) {
                        self.blend(Cell(base.0 + offset + k), region, &[value]);
                    }
                }
            }
            Region::Lump(cell, cells, _) => {
                for at in cell.0..cell.0 + cells {
                    self.blend(Cell(at), region, values);
                }
            }
        }
    }

    /// The cell keeps its value, or gets one of these values.
    fn blend(&mut self, cell: Cell, region: &Region, values: &[Value]) {
        let mut operands = region.depends();
        if !self.is(Planted::BlendsForget) {
            operands.push(self.read(cell));
        }
        operands.extend_from_slice(values);
        let blended = self.pure(Pure::Other(cell.0), &operands);
        self.write(cell, blended);
    }
}
