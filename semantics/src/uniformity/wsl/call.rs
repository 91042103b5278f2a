//! Calls of the program's functions: seed 004 "Calls".

use super::place::Place;
use super::{Done, INLINED, Lower, Scalars, TooLarge, Val, VaryingSource};
use crate::uniformity::flow::{Cell, End, Planted, Pure, Value};
use crate::wsl::environment::FunctionId;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use smallvec::SmallVec;

impl Lower<'_> {
    /// The first cell of the result.
    pub(super) fn result(&mut self, function: FunctionId) -> Cell {
        if let Some(&cell) = self.results.get(&function) {
            return cell;
        }
        let ty = self.program.env.function(function).result;
        let n = self.size(ty);
        let cell = self.flow.new_cells(u32::MAX, n);
        self.results.insert(function, cell);
        cell
    }

    /// Calls a function: inlines its body, or applies its summary.
    pub(super) fn call(&mut self, function: FunctionId, arguments: SmallVec<[Val; 4]>) -> Done<Val> {
        let program = self.program;
        let declared = program.env.function(function);
        let weight = self.facts.weights[function.0 as usize];
        let is_inlined = weight <= INLINED || self.may_alias(function, &arguments);
        if !is_inlined || weight > self.budget {
            if program.env.types.is_reference(declared.result) {
                return Err(TooLarge::Reference(function));
            }
            return self.call_by_summary(function, &arguments);
        }
        self.budget -= weight;
        let span = self.flow.span;
        for (&store, value) in program.body(function).parameters.iter().zip(arguments) {
            self.bind(store, value);
        }
        let saved = self.frame.clone();
        self.body(function)?;
        let frame = std::mem::replace(&mut self.frame, saved);
        self.flow.span = span;
        match frame.reference {
            Some(reference) => Ok(reference),
            None => {
                let n = self.size(declared.result);
                Ok(Val::Cells(self.flow.read_all(frame.result, n)))
            }
        }
    }

    /// The target type of a pointer or array reference into the thread's memory, and the number of
    /// a summary's inputs and outputs for the target.
    pub(super) fn pointee(&mut self, ty: TypeId) -> Option<(TypeId, u32)> {
        match self.ty(ty) {
            Type::Pointer(AddressSpace::Thread, to) => Some((to, self.size(to))),
            Type::ArrayReference(AddressSpace::Thread, to) => Some((to, 1)),
            _ => None,
        }
    }

    /// Whether two of the arguments may lead to the same variable of the thread. The summary of a
    /// function does not describe such a call.
    fn may_alias(&mut self, function: FunctionId, arguments: &[Val]) -> bool {
        if self.planted == Some(Planted::SharedPointees) {
            return false;
        }
        let program = self.program;
        let mut roots: SmallVec<[Option<Cell>; 4]> = SmallVec::new();
        for (argument, parameter) in arguments.iter().zip(&program.env.function(function).parameters) {
            if self.pointee(parameter.ty).is_some() {
                match self.with_place(argument, parameter.ty) {
                    Val::Pointer(place) | Val::Reference(place, _) => roots.push(place.root()),
                    Val::Cells(_) => roots.push(None),
                }
            }
        }
        // An unknown place may be in any variable.
        let same = |a: Option<Cell>, b: Option<Cell>| a.zip(b).is_none_or(|(a, b)| self.flow.same_variable(a, b));
        roots.iter().enumerate().any(|(i, a)| roots[i + 1..].iter().any(|b| same(*a, *b)))
    }

    /// Calls a function by its summary. If two arguments may lead to the same variable, all that
    /// the function gives varies.
    fn call_by_summary(&mut self, function: FunctionId, arguments: &[Val]) -> Done<Val> {
        let program = self.program;
        let summary = self.summary(function)?;
        let span = self.flow.span;
        let aliases = self.may_alias(function, arguments);
        if aliases {
            let facts = self.facts;
            for need in &facts.needs[function.0 as usize] {
                let varying = self.varying(VaryingSource::Result);
                self.flow.must(varying, *need, span);
            }
        }
        let types: SmallVec<[_; 4]> = program.env.function(function).parameters.iter().map(|p| p.ty).collect();
        // The values of the inputs, in the order of the summary.
        let mut inputs: Vec<Value> = Vec::new();
        let mut pointees: SmallVec<[(Place, TypeId, u32); 2]> = SmallVec::new();
        for (argument, &ty) in arguments.iter().zip(&types) {
            let argument = &self.with_place(argument, ty);
            match argument {
                Val::Cells(cells) => inputs.extend(cells),
                Val::Pointer(place) | Val::Reference(place, _) => {
                    let depends = self.cells_of(argument);
                    inputs.push(self.flow.pure(Pure::Other(0), &depends));
                    if let Some((to, n)) = self.pointee(ty) {
                        let place = match self.ty(ty) {
                            Type::ArrayReference(..) => self.whole_variable(place.clone()),
                            _ => place.clone(),
                        };
                        let cells = self.load(&place, to);
                        match n == cells.len() as u32 {
                            true => inputs.extend(&cells),
                            false => inputs.push(self.flow.pure(Pure::Other(0), &cells)),
                        }
                        pointees.push((place, to, n));
                    }
                }
            }
        }
        for (need, _) in &summary.solution.control {
            self.flow.need(*need, span);
        }
        for (input, must) in summary.solution.must.iter().enumerate() {
            if let (Some((need, _)), Some(&value)) = (must, inputs.get(input)) {
                self.flow.must(value, *need, span);
            }
        }
        for finding in &summary.solution.findings {
            self.findings.push(finding.clone());
        }
        let value_from = |lower: &mut Self, depends: &Option<Vec<u32>>, k: u32| match depends {
            Some(list) if !aliases => {
                let operands: Scalars = list.iter().filter_map(|i| inputs.get(*i as usize).copied()).collect();
                lower.flow.pure(Pure::Other(k), &operands)
            }
            _ => lower.varying(VaryingSource::Result),
        };
        if summary.discards {
            // Some invocations may not return.
            let condition = value_from(self, &summary.solution.returns, 0);
            let (ending, returning) = (self.flow.block(), self.flow.block());
            self.flow.end(End::Branch(condition, returning, ending));
            self.flow.begin(ending);
            self.flow.end(End::Exit);
            self.flow.begin(returning);
        }
        let n = self.size(program.env.function(function).result);
        let mut outputs = summary.solution.outputs.iter();
        let result: Scalars = (0..n).map(|k| value_from(self, outputs.next().unwrap_or(&None), k)).collect();
        let mut stored: Vec<(Place, TypeId, Scalars)> = Vec::new();
        for (place, to, n) in pointees {
            let size = self.size(to);
            let cells: Scalars = (0..n).map(|k| value_from(self, outputs.next().unwrap_or(&None), k)).collect();
            let cells = if n == size { cells } else { self.flow.values_from_all(&cells, size) };
            stored.push((place, to, cells));
        }
        for (place, to, cells) in stored {
            self.store_to(&place, to, &cells);
        }
        if !summary.outside.is_empty() {
            let value = value_from(self, outputs.next().unwrap_or(&None), 0);
            for &to in &summary.outside {
                self.store_anywhere(to, &[], &[value]);
            }
        }
        Ok(Val::Cells(result))
    }
}
