//! Entry points: their arguments and results, and what they reach (seed 004 "Entry Points",
//! "Built-in Variables").

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::entry::{Direction, EntryPoint, Item, Stage};
use crate::wsl::environment::access::Callee;
use crate::wsl::environment::{Field, FunctionId, Semantic};
use crate::wsl::library::{Name, Stages};
use crate::wsl::syntax::{AddressSpace, FunctionKind, Qualifier};
use crate::wsl::types::{Scalar, Type, TypeId, ValueType};
use crate::wsl::typing::program::{ExprId, Form};
use rustc_hash::{FxHashMap, FxHashSet};

/// The built-in variables: keyword, stage, whether it is a result, and type.
const BUILT_IN: [(&str, Stages, bool, TypeId); 13] = [
    ("SV_InstanceID", Stages::VERTEX, false, TypeId::UINT),
    ("SV_VertexID", Stages::VERTEX, false, TypeId::UINT),
    ("PSIZE", Stages::VERTEX, true, TypeId::FLOAT),
    ("SV_Position", Stages::VERTEX, true, TypeId::vector(Scalar::Float, 4)),
    ("SV_IsFrontFace", Stages::FRAGMENT, false, TypeId::BOOL),
    ("SV_SampleIndex", Stages::FRAGMENT, false, TypeId::UINT),
    ("SV_InnerCoverage", Stages::FRAGMENT, false, TypeId::UINT),
    ("SV_Depth", Stages::FRAGMENT, true, TypeId::FLOAT),
    ("SV_Coverage", Stages::FRAGMENT, true, TypeId::UINT),
    ("SV_DispatchThreadID", Stages::COMPUTE, false, TypeId::vector(Scalar::Uint, 3)),
    ("SV_GroupID", Stages::COMPUTE, false, TypeId::vector(Scalar::Uint, 3)),
    ("SV_GroupIndex", Stages::COMPUTE, false, TypeId::UINT),
    ("SV_GroupThreadID", Stages::COMPUTE, false, TypeId::vector(Scalar::Uint, 3)),
];

fn stages(stage: Stage) -> Stages {
    match stage {
        Stage::Vertex => Stages::VERTEX,
        Stage::Fragment => Stages::FRAGMENT,
        Stage::Compute(_) => Stages::COMPUTE,
    }
}

impl Recheck<'_> {
    pub(super) fn entry_points(&self) -> Check {
        let mut listed = self.program.entry_points.iter();
        for (i, f) in self.program.env.functions.iter().enumerate() {
            if !f.kind.is_entry_point() {
                continue;
            }
            let Some(entry) = listed.next().filter(|e| e.function.0 as usize == i) else {
                return refuse(None, f.span, "an entry point is missing, or there is one too many before it");
            };
            let stage_agrees = match f.kind {
                FunctionKind::Vertex => entry.stage == Stage::Vertex,
                FunctionKind::Fragment => entry.stage == Stage::Fragment,
                FunctionKind::Compute(threads, _) => {
                    matches!(entry.stage, Stage::Compute(n) if n.iter().zip(&threads).all(|(n, t)| *n > 0 && t.value() == Some(i128::from(*n))))
                }
                _ => false,
            };
            if !stage_agrees {
                return refuse(Some(Rule::WslEpNumthreads), f.span, "the stage, or the size of its groups, is not what is written");
            }
            self.entry_point(entry)?;
            self.reaches(entry)?;
        }
        if listed.next().is_some() {
            return refuse(None, super::NOWHERE, "a function that is none is among the entry points");
        }
        Ok(())
    }

    fn entry_point(&self, entry: &EntryPoint) -> Check {
        let f = self.program.env.function(entry.function);
        if f.result == TypeId::VOID && f.semantic.is_some() {
            return refuse(Some(Rule::WslEpBuiltin), f.result_span, "a result has a semantic, and there is none");
        }
        let mut inputs = Vec::new();
        for (i, p) in f.parameters.iter().enumerate() {
            self.flatten(p, Some(i as u32), Vec::new(), &mut inputs)?;
        }
        let mut outputs = Vec::new();
        if f.result != TypeId::VOID {
            let result =
                Field { name: f.name.name, span: f.result_span, ty: f.result, qualifiers: Default::default(), semantic: f.semantic };
            self.flatten(&result, None, Vec::new(), &mut outputs)?;
        }
        let same = |found: &[Item], flat: &[(Option<u32>, Vec<u32>, Field)]| {
            found.len() == flat.len()
                && found.iter().zip(flat).all(|(item, (parameter, path, field))| {
                    let name = if parameter.is_none() && path.is_empty() { None } else { Some(field.name) };
                    item.parameter == *parameter
                        && item.path[..] == path[..]
                        && item.name == name
                        && item.ty == field.ty
                        && item.qualifiers == field.qualifiers
                        && item.semantic == field.semantic
                })
        };
        if !same(&entry.inputs, &inputs) || !same(&entry.outputs, &outputs) {
            return refuse(
                Some(Rule::WslEpBucket),
                f.span,
                "the arguments or results are not those that the parameters and the result flatten to",
            );
        }
        for items in [&entry.inputs, &entry.outputs] {
            let mut seen: FxHashMap<Symbol, &Item> = FxHashMap::default();
            for a in items {
                let Some(b) = a.name.and_then(|name| seen.insert(name, a)) else { continue };
                if a.ty != b.ty || a.qualifiers != b.qualifiers || a.semantic.map(|s| s.0) != b.semantic.map(|s| s.0) {
                    return refuse(Some(Rule::WslEpSameName), a.span, "members of the same name differ");
                }
            }
        }
        let mut semantics = FxHashSet::default();
        if let Some(duplicate) = entry.outputs.iter().find(|item| item.semantic.is_some_and(|(s, _)| !semantics.insert(s))) {
            return refuse(Some(Rule::WslEpSingle), duplicate.span, "two results have one semantic");
        }
        let mut attributes: FxHashMap<u32, TypeId> = FxHashMap::default();
        for item in &entry.inputs {
            let Some((Semantic::Attribute(number), _)) = item.semantic else { continue };
            if *attributes.entry(number).or_insert(item.ty) != item.ty {
                return refuse(Some(Rule::WslEpSingle), item.span, "two arguments have one attribute and not one type");
            }
        }
        entry.inputs.iter().try_for_each(|item| self.item(entry.stage, Direction::In, item))?;
        entry.outputs.iter().try_for_each(|item| self.item(entry.stage, Direction::Out, item))
    }

    fn flatten(&self, field: &Field, parameter: Option<u32>, path: Vec<u32>, out: &mut Vec<(Option<u32>, Vec<u32>, Field)>) -> Check {
        match self.ty(field.ty) {
            Type::Struct(_) if field.semantic.is_some() => {
                return refuse(Some(Rule::WslEpBuiltin), field.span, "a structure has a semantic, and none has the type of one");
            }
            Type::Struct(s) => crate::text::deep(|| {
                for (i, f) in self.program.env.structure(s).fields.iter().enumerate() {
                    let mut path = path.clone();
                    path.push(i as u32);
                    self.flatten(f, parameter, path, out)?;
                }
                Ok(())
            })?,
            _ => out.push((parameter, path, field.clone())),
        }
        Ok(())
    }

    fn item(&self, stage: Stage, direction: Direction, item: &Item) -> Check {
        let refuse = |rule: Rule, message: &str| refuse(Some(rule), item.span, message);
        let Some((semantic, _)) = item.semantic else { return refuse(Rule::WslEpBucket, "it has no semantic") };
        if semantic == Semantic::OutOfRange {
            return refuse(Rule::WslEpBucket, "the number of its semantic does not fit in 32 bits");
        }
        let (stages, out) = (stages(stage), direction == Direction::Out);
        let is_allowed = match semantic {
            Semantic::Builtin(_) | Semantic::Target(_) => stages != Stages::COMPUTE || !out,
            Semantic::Register(..) => !out,
            Semantic::Attribute(_) => stages == Stages::VERTEX || stages == Stages::FRAGMENT && !out,
            Semantic::Specialized => stages != Stages::COMPUTE && !out,
            Semantic::OutOfRange => false,
        };
        if !is_allowed {
            return refuse(Rule::WslEpStageBuckets, "its bucket is none of its stage");
        }
        let is_value = matches!(self.ty(item.ty), Type::Scalar(_) | Type::Vector(..) | Type::Matrix(..));
        match semantic {
            Semantic::Target(_) => {
                if stages != Stages::FRAGMENT || !out || item.ty != TypeId::vector(Scalar::Float, 4) {
                    return refuse(Rule::WslEpBuiltin, "a target is a float4 that a fragment stage gives");
                }
            }
            Semantic::Builtin(b) => {
                let row = BUILT_IN.iter().find(|row| row.0 == b.keyword());
                if !row.is_some_and(|(_, s, o, ty)| (*s, *o, *ty) == (stages, out, item.ty)) {
                    return refuse(Rule::WslEpBuiltin, "a built-in variable is of another type, stage or direction");
                }
            }
            Semantic::Register(..) => match self.ty(item.ty) {
                Type::Texture(..) | Type::Sampler => {}
                Type::ArrayReference(AddressSpace::Device | AddressSpace::Constant, of) => {
                    if !self.is_slice_element(of, &mut FxHashSet::default()) {
                        return refuse(Rule::WslEpSliceElement, "its elements are no scalars, vectors, matrices or structures of them");
                    }
                }
                Type::ArrayReference(..) => return refuse(Rule::WslEpResourceSpace, "it is neither in device nor in constant"),
                _ => return refuse(Rule::WslEpResourceType, "it is no texture, sampler or array reference"),
            },
            Semantic::Attribute(_) => {
                if !is_value {
                    return refuse(Rule::WslEpStageVariable, "it is no scalar, vector or matrix");
                }
                let both = |a: Qualifier, b: Qualifier| item.qualifiers.contains(&a) && item.qualifiers.contains(&b);
                if out == (stages == Stages::VERTEX) {
                    if both(Qualifier::Nointerpolation, Qualifier::Noperspective) {
                        return refuse(Rule::WslEpInterpolation, "it is both nointerpolation and noperspective");
                    }
                    if both(Qualifier::Centroid, Qualifier::Sample) {
                        return refuse(Rule::WslEpSampling, "it is both centroid and sample");
                    }
                }
            }
            Semantic::Specialized => {
                if !matches!(self.ty(item.ty), Type::Scalar(_)) {
                    return refuse(Rule::WslEpSpecialized, "it is no scalar");
                }
            }
            Semantic::OutOfRange => {}
        }
        Ok(())
    }

    fn is_slice_element(&self, ty: TypeId, seen: &mut FxHashSet<TypeId>) -> bool {
        match self.ty(ty) {
            Type::Scalar(_) | Type::Atomic(_) | Type::Vector(..) | Type::Matrix(..) => true,
            Type::Struct(s) => {
                !seen.insert(ty)
                    || crate::text::deep(|| self.program.env.structure(s).fields.iter().all(|f| self.is_slice_element(f.ty, seen)))
            }
            _ => false,
        }
    }

    /// Checks that an entry point reaches only what its stage allows.
    fn reaches(&self, entry: &EntryPoint) -> Check {
        let stage = stages(entry.stage);
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        let mut todo = vec![entry.function];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            let body = self.program.body(id);
            let f = self.program.env.function(id);
            let refuse_threadgroup =
                |rule: Rule, span: Span| refuse(Some(rule), span, "a vertex or fragment entry point reaches threadgroup memory");
            if stage != Stages::COMPUTE {
                if self.mentions_threadgroup(f.result) {
                    return refuse_threadgroup(Rule::WslEpThreadgroup, f.result_span);
                }
                for s in body.stores.clone() {
                    let store = self.program.stores[s as usize];
                    if store.space == AddressSpace::Threadgroup || self.mentions_threadgroup(store.ty) {
                        return refuse_threadgroup(Rule::WslEpThreadgroup, store.span);
                    }
                }
            }
            for e in body.exprs.clone() {
                let node = &self.program.exprs[e as usize];
                let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = node.ty;
                let is_threadgroup = matches!(node.ty, ValueType::Left(_, AddressSpace::Threadgroup));
                if stage != Stages::COMPUTE && (is_threadgroup || self.mentions_threadgroup(ty)) {
                    return refuse_threadgroup(Rule::WslEpThreadgroup, node.span);
                }
                for callee in self.calls(ExprId(e)) {
                    if let Callee::Library(f) = callee
                        && !f.row().stages.contains(stage)
                    {
                        return refuse(
                            Some(Rule::WslEpStageFunctions),
                            node.span,
                            "a library function is not for the stage that reaches it",
                        );
                    }
                    todo.extend(Recheck::function_run_by(callee));
                }
            }
        }
        Ok(())
    }

    fn mentions_threadgroup(&self, mut ty: TypeId) -> bool {
        loop {
            ty = match self.ty(ty) {
                Type::Pointer(AddressSpace::Threadgroup, _) | Type::ArrayReference(AddressSpace::Threadgroup, _) => return true,
                Type::Pointer(_, of) | Type::ArrayReference(_, of) | Type::Array(of, _) => of,
                _ => return false,
            };
        }
    }

    /// Checks that the program's list of barriers contains their calls, in order.
    pub(super) fn barriers(&self) -> Check {
        let is_barrier = |e: &u32| match &self.program.exprs[*e as usize].form {
            Form::Call(Callee::Library(f), _) => matches!(f.row().name, Name::Function(n) if n.ends_with("MemoryBarrierWithGroupSync")),
            _ => false,
        };
        let found: Vec<u32> = (0..self.program.exprs.len() as u32).filter(is_barrier).collect();
        if found.iter().copied().eq(self.program.barriers.iter().map(|b| b.0)) {
            return Ok(());
        }
        refuse(None, super::NOWHERE, "the barriers' identifiers are not those of their calls")
    }
}
