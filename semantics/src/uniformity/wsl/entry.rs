//! The arguments of an entry point, or of a function that nothing calls.

use super::place::Place;
use super::{Lower, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, Region, Value};
use crate::uniformity::table;
use crate::wsl::entry::{EntryPoint, Item, Stage};
use crate::wsl::environment::{FunctionId, Semantic};
use crate::wsl::types::{Type, TypeId};
use smallvec::smallvec;

impl Lower<'_> {
    /// Initialises the parameters. An entry point's parameters have values by their semantics,
    /// those of other functions have uniform values.
    pub(super) fn bind_parameters(&mut self, function: FunctionId, entry: Option<&EntryPoint>) {
        let program = self.program;
        for (at, &store) in program.body(function).parameters.iter().enumerate() {
            self.flow.span = program.store(store).span;
            let ty = program.store(store).ty;
            let handle = self.flow.uniform(u32::MAX);
            let val = match self.ty(ty) {
                Type::Pointer(space, to) => Val::Pointer(match space {
                    crate::wsl::syntax::AddressSpace::Thread => {
                        let (cell, place) = self.temporary(to);
                        let n = self.size(to);
                        self.flow.write_all(cell, &vec![handle; n as usize]);
                        place
                    }
                    _ => Place::Memory(space, smallvec![handle]),
                }),
                Type::ArrayReference(space, to) => Val::Reference(
                    match space {
                        crate::wsl::syntax::AddressSpace::Thread => {
                            let cell = self.flow.new_cells(u32::MAX, 1);
                            self.flow.write(cell, handle);
                            self.unknown_stores.objects.push((cell, 1, to));
                            Place::Own(Region::lump(cell))
                        }
                        _ => Place::Memory(space, smallvec![handle]),
                    },
                    handle,
                ),
                _ => {
                    let n = self.size(ty);
                    Val::Cells(smallvec::SmallVec::from_elem(handle, n as usize))
                }
            };
            self.bind(store, val);
            if self.program.env.types.is_reference(ty) && self.has_scalar(store) {
                let cell = self.store(store);
                self.flow.write(cell, handle);
            }
            if let Some(entry) = entry {
                for item in entry.inputs.iter().filter(|i| i.parameter == Some(at as u32)) {
                    self.bind_item(entry.stage, item, ty, store);
                }
            }
        }
    }

    /// Initialises a part of a parameter.
    fn bind_item(&mut self, stage: Stage, item: &Item, ty: TypeId, store: crate::wsl::typing::program::StoreId) {
        if self.program.env.types.is_reference(item.ty) {
            return;
        }
        let first = self.store(store);
        let place = Place::Own(self.region(first, ty));
        let place = deep(|| self.at_path(place, ty, &item.path));
        let n = self.size(item.ty);
        let name = match &item.semantic {
            Some((Semantic::Builtin(s), _)) => s.keyword().to_owned(),
            _ => item.name.map_or_else(|| "the argument".to_owned(), |name| self.program.env.names.name(name).to_string()),
        };
        let group = match stage {
            Stage::Compute(_) => "the workgroup",
            Stage::Vertex | Stage::Fragment => "the draw",
        };
        self.flow.span = item.span;
        let text = self.flow.texts.len() as u32;
        self.flow.texts.push(format!("`{name}`, which differs between the invocations of {group}"));
        let values: Vec<Value> = (0..n).map(|k| self.component(stage, item, k as usize, text)).collect();
        self.store_to(&place, item.ty, &values);
    }

    /// A component of an input.
    fn component(&mut self, stage: Stage, item: &Item, k: usize, text: u32) -> Value {
        if table::input(stage, item) {
            return self.flow.uniform(u32::MAX);
        }
        let builtin = match &item.semantic {
            Some((Semantic::Builtin(s), _)) => table::builtin(*s),
            _ => table::Builtin::Other,
        };
        let size = match stage {
            Stage::Compute(size) => Some(size),
            Stage::Vertex | Stage::Fragment => None,
        };
        match table::component(builtin, size, k) {
            table::Component::Constant(bits) => self.flow.constant(bits),
            table::Component::Uniform => self.flow.uniform(u32::MAX),
            table::Component::Varying(bound) => self.flow.varying(text, bound),
        }
    }

    fn at_path(&mut self, mut place: Place, mut ty: TypeId, path: &[u32]) -> Place {
        for &field in path {
            let Type::Struct(s) = self.ty(ty) else { break };
            place = self.field_of(place, ty, s, field);
            ty = self.program.env.structure(s).fields[field as usize].ty;
        }
        place
    }

    /// Makes the parameters inputs: their scalars, and the targets of pointers into the thread's
    /// memory. The final values of these targets are outputs, after the result.
    pub(super) fn bind_inputs(&mut self, function: FunctionId) -> Vec<std::ops::Range<u32>> {
        let program = self.program;
        let result = self.result(function);
        let n = self.size(program.env.function(function).result);
        self.flow.outputs.extend((0..n).map(|k| Cell(result.0 + k)));
        let mut ranges = Vec::new();
        for &store in &program.body(function).parameters {
            self.flow.span = program.store(store).span;
            let ty = program.store(store).ty;
            let start = self.flow.inputs;
            let mut scalar = None;
            let val = match self.ty(ty) {
                Type::Pointer(space, _) | Type::ArrayReference(space, _) => {
                    let handle = self.flow.input();
                    scalar = Some(handle).filter(|_| self.has_scalar(store));
                    let place = match self.pointee(ty) {
                        Some((to, n)) => {
                            let (cell, place) = match self.ty(ty) {
                                Type::ArrayReference(..) => {
                                    let cell = self.flow.new_cells(store.0, 1);
                                    self.unknown_stores.objects.push((cell, 1, to));
                                    (cell, Place::Own(Region::lump(cell)))
                                }
                                _ => self.temporary(to),
                            };
                            for k in 0..n {
                                let value = self.flow.input();
                                self.flow.write(Cell(cell.0 + k), value);
                                self.flow.outputs.push(Cell(cell.0 + k));
                            }
                            place
                        }
                        None => Place::Memory(space, smallvec![handle]),
                    };
                    match self.ty(ty) {
                        Type::Pointer(..) => Val::Pointer(place),
                        _ => Val::Reference(place, handle),
                    }
                }
                _ => {
                    let n = self.size(ty);
                    Val::Cells((0..n).map(|_| self.flow.input()).collect())
                }
            };
            self.bind(store, val);
            if let Some(handle) = scalar {
                let cell = self.store(store);
                self.flow.write(cell, handle);
            }
            ranges.push(start..self.flow.inputs);
        }
        ranges
    }
}
