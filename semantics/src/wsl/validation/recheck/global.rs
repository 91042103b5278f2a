//! The global environment that typing left: seed 004 "Building the global typing environment",
//! "Other validation steps".

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::text::Symbol;
use crate::wsl::environment::{Function, Key};
use crate::wsl::syntax::FunctionKind;
use crate::wsl::types::{StructId, Type, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The state of a structure in the search for cycles.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Open,
    Done,
}

impl Recheck<'_> {
    pub(super) fn environment(&self) -> Check {
        self.types()?;
        self.structures()?;
        self.enums()?;
        self.program.env.functions.iter().try_for_each(|f| self.signature(f))?;
        self.distinct()
    }

    fn types(&self) -> Check {
        for i in 0..self.program.env.types.len() as u32 {
            let id = TypeId(i);
            let broken = match self.ty(id) {
                Type::Array(_, 0) => Some(Rule::WslVArraySize),
                Type::Array(of, _) if self.is_reference(of) => Some(Rule::WslVElementReference),
                Type::Array(of, _) if self.is_opaque(of) => Some(Rule::WslVElementOpaque),
                Type::Array(of, _) | Type::Pointer(_, of) | Type::ArrayReference(_, of) if of == TypeId::VOID => {
                    Some(Rule::WslVVoidComposite)
                }
                _ => None,
            };
            if broken.is_some() {
                return refuse(broken, super::NOWHERE, format!("{} is no type", self.show(id)));
            }
        }
        Ok(())
    }

    fn structures(&self) -> Check {
        let mut names: FxHashSet<Symbol> = FxHashSet::default();
        for (i, s) in (0..).zip(&self.program.env.structs) {
            if s.fields.iter().any(|f| self.is_opaque(f.ty)) != self.program.env.types.opaque_structs.contains(&StructId(i)) {
                return refuse(
                    Some(Rule::WslLibDefault),
                    s.span,
                    "whether a structure has a default value does not follow from its fields",
                );
            }
            if !names.insert(s.name) {
                return refuse(Some(Rule::WslEnvStructDuplicate), s.span, "two types have the same name");
            }
            let mut fields: FxHashSet<Symbol> = FxHashSet::default();
            for f in &s.fields {
                if !fields.insert(f.name) {
                    return refuse(Some(Rule::WslEnvStructFields), f.span, "two fields have the same name");
                }
                if self.is_reference(f.ty) {
                    return refuse(Some(Rule::WslVFieldReference), f.span, "a field is a pointer or an array reference");
                }
                if f.ty == TypeId::VOID {
                    return refuse(Some(Rule::WslVVoid), f.span, "a field is void");
                }
            }
        }
        for e in &self.program.env.enums {
            if !names.insert(e.name) {
                return refuse(Some(Rule::WslEnvEnumDuplicate), e.span, "two types have the same name");
            }
        }
        self.no_cycle()
    }

    /// Checks that no structure contains itself.
    fn no_cycle(&self) -> Check {
        let contained = |i: usize| -> Vec<usize> {
            let fields = self.program.env.structs[i].fields.iter();
            fields
                .filter_map(|f| {
                    let mut ty = f.ty;
                    loop {
                        match self.ty(ty) {
                            Type::Array(of, _) => ty = of,
                            Type::Struct(s) => return Some(s.0 as usize),
                            _ => return None,
                        }
                    }
                })
                .collect()
        };
        let mut seen: FxHashMap<usize, Seen> = FxHashMap::default();
        for root in 0..self.program.env.structs.len() {
            let mut path = vec![(root, false)];
            while let Some((at, leave)) = path.pop() {
                if leave {
                    seen.insert(at, Seen::Done);
                    continue;
                }
                match seen.get(&at) {
                    Some(Seen::Done) => continue,
                    Some(Seen::Open) => {
                        return refuse(Some(Rule::WslVDependsCycle), self.program.env.structs[at].span, "a structure has itself in it");
                    }
                    None => {}
                }
                seen.insert(at, Seen::Open);
                path.push((at, true));
                path.extend(contained(at).into_iter().map(|s| (s, false)));
            }
        }
        Ok(())
    }

    fn enums(&self) -> Check {
        for (i, e) in self.program.env.enums.iter().enumerate() {
            if !matches!(e.base, TypeId::INT | TypeId::UINT) || self.program.env.types.enum_bases.get(i) != Some(&e.base) {
                return refuse(Some(Rule::WslEnvEnumBase), e.span, "the base type of an enum is neither int nor uint");
            }
            let values: FxHashSet<u32> = e.elements.iter().map(|(_, v)| *v).collect();
            let names: FxHashSet<Symbol> = e.elements.iter().map(|(n, _)| *n).collect();
            if values.len() != e.elements.len() {
                return refuse(Some(Rule::WslEnvEnumDistinct), e.span, "two elements have the same value");
            }
            if names.len() != e.elements.len() {
                return refuse(Some(Rule::WslEnvEnumElements), e.span, "two elements have the same name");
            }
            if !values.contains(&0) {
                return refuse(Some(Rule::WslEnvEnumZero), e.span, "no element has the value 0");
            }
        }
        Ok(())
    }

    /// Checks that a function's types are those that its name requires.
    fn signature(&self, f: &Function) -> Check {
        if f.parameters.iter().any(|p| p.ty == TypeId::VOID) {
            return refuse(Some(Rule::WslVVoid), f.span, "a parameter is void");
        }
        if let (Key::Cast(ty), FunctionKind::Cast) = (f.key, f.kind)
            && ty != f.result
        {
            return refuse(Some(Rule::WslEnvFunction), f.span, "a cast returns another type than the one it is named by");
        }
        let name = self.program.env.names.name(f.name.name);
        let Some(operator) = name.strip_prefix("operator").filter(|_| matches!(f.key, Key::Name(_))) else { return Ok(()) };
        let p: Vec<TypeId> = f.parameters.iter().map(|p| p.ty).collect();
        let plain = |i: usize| !matches!(self.ty(p[i]), Type::Array(..) | Type::Pointer(..) | Type::ArrayReference(..));
        let integer = |i: usize| matches!(p[i], TypeId::INT | TypeId::UINT);
        let pointers = || match (self.ty(p[0]), self.ty(f.result)) {
            (Type::Pointer(a, of), Type::Pointer(b, _)) if a == b => Some(of),
            _ => None,
        };
        let composite = |ty: TypeId| matches!(self.ty(ty), Type::Array(..) | Type::Pointer(..) | Type::ArrayReference(..));
        let (rule, right) = match operator {
            "[]" => (Rule::WslEnvIndexGetter, p.len() == 2 && plain(0) && integer(1)),
            "[]=" => (Rule::WslEnvIndexSetter, p.len() == 3 && plain(0) && integer(1) && f.result == p[0]),
            "&[]" => (Rule::WslEnvIndexAddressTaker, p.len() == 2 && integer(1) && pointers().is_some_and(|of| !composite(of))),
            "++" | "--" => (Rule::WslEnvStep, p.len() == 1 && f.result == p[0]),
            "+" | "-" => (Rule::WslEnvPlusMinus, p.len() == 1 || p.len() == 2),
            "~" | "!" => (Rule::WslEnvComplement, p.len() == 1),
            "==" | "!=" | "<" | ">" | "<=" | ">=" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" => (Rule::WslEnvBinary, p.len() == 2),
            _ if operator.starts_with("&.") => (Rule::WslEnvAddressTaker, p.len() == 1 && pointers().is_some()),
            _ if operator.starts_with('.') && operator.ends_with('=') => (Rule::WslEnvSetter, p.len() == 2 && plain(0) && f.result == p[0]),
            _ if operator.starts_with('.') => (Rule::WslEnvGetter, p.len() == 1 && plain(0)),
            _ => (Rule::WslEnvFunction, true),
        };
        if right { Ok(()) } else { refuse(Some(rule), f.span, format!("`{name}` does not have the types that its name asks for")) }
    }

    /// Checks that no two functions have the same name and the same parameter types.
    fn distinct(&self) -> Check {
        let mut seen: FxHashSet<(Key, Vec<TypeId>)> = FxHashSet::default();
        for f in &self.program.env.functions {
            if !seen.insert((f.key, f.parameters.iter().map(|p| p.ty).collect())) {
                return refuse(
                    Some(Rule::WslVFunctionDuplicate),
                    f.span,
                    "two functions have the same name and the same types of parameters",
                );
            }
        }
        Ok(())
    }
}
