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
    /// Those from that one on, after these indices.
    Cells(Cell, SmallVec<[Pick; 1]>),
    /// Any of so many from that one on: which ones depends on these values.
    Lump(Cell, u32, SmallVec<[Value; 2]>),
}

impl Region {
    /// The cells from that one on.
    pub fn from(first: Cell) -> Region {
        Region::Cells(first, SmallVec::new())
    }

    /// That cell, which holds all parts of something.
    pub fn lump(cell: Cell) -> Region {
        Region::Lump(cell, 1, SmallVec::new())
    }

    /// The first of the cells that it may be.
    pub fn first(&self) -> Cell {
        match self {
            Region::Cells(cell, _) | Region::Lump(cell, ..) => *cell,
        }
    }

    /// On what it depends which cells it is.
    pub fn depends(&self) -> Scalars {
        match self {
            Region::Cells(_, picks) => picks.iter().map(|p| p.index).collect(),
            Region::Lump(_, _, values) => values.iter().copied().collect(),
        }
    }

    /// So many cells later.
    #[must_use]
    pub fn after(self, cells: u32) -> Region {
        match self {
            Region::Cells(base, picks) => Region::Cells(Cell(base.0 + cells), picks),
            lump => lump,
        }
    }

    /// An element, by an index whose value is perhaps known, of so many with so many cells each.
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

    /// A part of something that has one cell wherever the indices lead, at a place that depends on
    /// a value more.
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

/// The offsets that indices may lead to.
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

    /// What so many cells hold.
    pub fn read_all(&mut self, first: Cell, n: u32) -> Scalars {
        (first.0..first.0 + n).map(|cell| self.read(Cell(cell))).collect()
    }

    /// Changes cells, one for each value.
    pub fn write_all(&mut self, first: Cell, values: &[Value]) {
        for (cell, &value) in (first.0..).zip(values) {
            self.write(Cell(cell), value);
        }
    }

    /// So many values that depend on all of the operands.
    pub fn mixed(&mut self, operands: &[Value], n: u32) -> Scalars {
        (0..n).map(|k| self.pure(Pure::Other(k), operands)).collect()
    }

    /// What a region holds: so many scalars.
    pub fn load(&mut self, region: &Region, n: u32) -> Scalars {
        match region {
            Region::Cells(base, picks) if picks.is_empty() => self.read_all(*base, n),
            Region::Cells(base, picks) => {
                let offsets = offsets(picks);
                let one = |flow: &mut Flow, k: u32| {
                    let mut operands = if flow.is(Planted::DynamicIndexIsIgnored) { Scalars::new() } else { region.depends() };
                    for offset in &offsets {
                        operands.push(flow.read(Cell(base.0 + offset + k)));
                    }
                    flow.pure(Pure::Other(k), &operands)
                };
                (0..n).map(|k| one(self, k)).collect()
            }
            Region::Lump(cell, cells, _) => {
                let mut operands = region.depends();
                operands.extend(self.read_all(*cell, *cells));
                self.mixed(&operands, n)
            }
        }
    }

    /// Stores a value in a region. Where it is not known which cells that is, each of them may keep
    /// what it holds.
    pub fn store(&mut self, region: &Region, values: &[Value]) {
        match region {
            Region::Cells(base, picks) if picks.is_empty() => self.write_all(*base, values),
            Region::Cells(base, picks) => {
                let most = if self.is(Planted::StoresHitFirstElement) { 1 } else { usize::MAX };
                for offset in offsets(picks).into_iter().take(most) {
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

    /// The cell holds what it held, or some of these values.
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
