//! The library's functions: the rows of its table, with every type variable replaced by each type
//! that it can be.

use super::{Expression, Flavour, Generator, Kind, Level};
use rustc_hash::FxHashMap;
use smallstep_semantics::wsl::library::pattern::{Family, Pattern, Spaces};
use smallstep_semantics::wsl::library::{Name, Signature, Stages, TABLE};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Type, TypeId, Types};
use std::sync::LazyLock;

/// A parameter of an instance.
#[derive(Clone, Copy)]
pub(super) enum Parameter {
    Is(TypeId),
    Pointer(Spaces, TypeId),
}

/// A function without type variables. A cast has no name, only its result.
pub(super) struct Instance {
    pub(super) name: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: TypeId,
    pub(super) stages: Stages,
}

/// The type of an argument, or the value of an integer literal.
#[derive(Clone, Copy)]
pub(super) enum ArgumentKind {
    Typed(TypeId),
    Integer(i64),
}

impl ArgumentKind {
    pub(super) fn fits(self, ty: TypeId) -> bool {
        match self {
            ArgumentKind::Typed(actual) => actual == ty,
            ArgumentKind::Integer(v) => match ty {
                TypeId::INT => i32::try_from(v).is_ok(),
                TypeId::UINT => u32::try_from(v).is_ok(),
                _ => ty == TypeId::FLOAT,
            },
        }
    }
}

struct Instances {
    list: Vec<Instance>,
    by_result: FxHashMap<TypeId, Vec<usize>>,
    by_name: FxHashMap<(&'static str, TypeId, usize), Vec<usize>>,
}

fn overload_key(i: &Instance) -> (&'static str, TypeId, usize) {
    (i.name, if i.name.is_empty() { i.result } else { TypeId::VOID }, i.parameters.len())
}

static INSTANCES: LazyLock<Instances> = LazyLock::new(|| {
    let types = Types::default();
    let mut out = Instances { list: Vec::new(), by_result: FxHashMap::default(), by_name: FxHashMap::default() };
    for row in TABLE.iter().flat_map(|s| s.rows) {
        let name = match row.name {
            Name::Function(name) if name.starts_with("operator") && (name.contains('[') || name.contains('.')) => continue,
            Name::Function(name) => name,
            Name::Cast => "",
            Name::Getter | Name::Setter => continue,
        };
        for signature in row.signatures {
            let ts: Vec<TypeId> = signature.variable_range.map_or(vec![TypeId::VOID], |range| range.fixed.iter().collect());
            for t in ts {
                let Some((parameters, result)) = instance(&types, signature, t) else { continue };
                let i = Instance { name, parameters, result, stages: row.stages };
                out.by_result.entry(result).or_default().push(out.list.len());
                out.by_name.entry(overload_key(&i)).or_default().push(out.list.len());
                out.list.push(i);
            }
        }
    }
    out
});

fn instance(types: &Types, signature: &Signature, t: TypeId) -> Option<(Vec<Parameter>, TypeId)> {
    let parameter = |p: &Pattern| match p {
        Pattern::Pointer(spaces, to) => to.of(types, t, 0).map(|to| Parameter::Pointer(*spaces, to)),
        _ => p.of(types, t, 0).map(Parameter::Is),
    };
    let parameters: Option<Vec<Parameter>> = signature.parameters.iter().map(parameter).collect();
    Some((parameters?, signature.result.of(types, t, 0)?))
}

/// Whether overload resolution selects instance `number`. It is the only instance that fits, or the
/// only one if literals have type int.
fn resolves_to(name: (&'static str, TypeId, usize), argument_kinds: &[ArgumentKind], number: usize) -> bool {
    let overloads = &INSTANCES.by_name[&name];
    let fits = |i: &&usize, literal: bool| {
        INSTANCES.list[**i].parameters.iter().zip(argument_kinds).all(|(p, g)| match (p, g) {
            (Parameter::Is(ty), ArgumentKind::Integer(_)) if literal => *ty == TypeId::INT && g.fits(*ty),
            (Parameter::Is(ty), _) => g.fits(*ty),
            (Parameter::Pointer(..), _) => true,
        })
    };
    let fitting: Vec<&usize> = overloads.iter().filter(|i| fits(i, false)).collect();
    if fitting.len() == 1 {
        return *fitting[0] == number;
    }
    let fitting_as_int: Vec<&usize> = overloads.iter().filter(|i| fits(i, true)).collect();
    fitting_as_int.len() == 1 && *fitting_as_int[0] == number
}

impl Generator {
    fn may_call(&self, stages: Stages) -> bool {
        match self.flavour {
            Flavour::Any => stages == Stages::ALL,
            Flavour::Fragment => stages.contains(Stages::FRAGMENT),
            Flavour::Compute => stages.contains(Stages::COMPUTE),
        }
    }

    /// A call of a library function that returns the type.
    pub(super) fn built_in_call(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let families = if self.textured { 2 } else { 4 };
        if self.one_in(families)
            && let Some(e) = self.attempt(|g| g.family_call(ty, depth))
        {
            return Some(e);
        }
        let instances = INSTANCES.by_result.get(&ty)?;
        // Most instances belong to a few names, so a name is chosen first.
        let mut names: Vec<&'static str> = instances.iter().map(|i| INSTANCES.list[*i].name).collect();
        names.dedup();
        let name = self.pick(&names);
        let instances_of_name: Vec<usize> = instances.iter().copied().filter(|i| INSTANCES.list[*i].name == name).collect();
        let number = self.pick(&instances_of_name);
        let called = &INSTANCES.list[number];
        if !self.may_call(called.stages)
            || matches!(called.name, "operator++" | "operator--")
            || self.has_several_threads && !self.is_for_one_thread(called.name)
        {
            return None;
        }
        let mut argument_kinds = Vec::new();
        let mut texts: Vec<Option<String>> = Vec::new();
        for p in &called.parameters {
            let literal = match p {
                Parameter::Is(TypeId::INT | TypeId::UINT | TypeId::FLOAT) if self.one_in(4) => {
                    let (text, value) = if matches!(p, Parameter::Is(TypeId::UINT)) { self.integer(0, 40) } else { self.integer(-9, 40) };
                    argument_kinds.push(ArgumentKind::Integer(value));
                    Some(text)
                }
                Parameter::Is(ty) => {
                    argument_kinds.push(ArgumentKind::Typed(*ty));
                    None
                }
                Parameter::Pointer(_, to) => {
                    argument_kinds.push(ArgumentKind::Typed(*to));
                    None
                }
            };
            texts.push(literal);
        }
        let literals = resolves_to(overload_key(called), &argument_kinds, number);
        let mut arguments = Vec::new();
        for (p, text) in called.parameters.iter().zip(texts) {
            arguments.push(match (p, text) {
                (Parameter::Is(ty), Some(text)) if literals => self.literal_expression(text, *ty),
                (Parameter::Is(ty), _) => self.value(*ty, depth)?,
                (Parameter::Pointer(spaces, to), _) => self.pointer_in(*spaces, *to, depth)?,
            });
        }
        self.render(called.name, called.result, arguments)
    }

    /// A pointer to the type in one of these spaces.
    pub(super) fn pointer_in(&mut self, spaces: Spaces, to: TypeId, depth: usize) -> Option<Expression> {
        let mut candidates: Vec<AddressSpace> =
            AddressSpace::ALL.into_iter().filter(|s| spaces.has(*s) && self.library_takes(*s)).collect();
        while !candidates.is_empty() {
            let space = candidates.swap_remove(self.below(candidates.len()));
            let ty = self.pointer(space, to);
            if let Some(e) = self.attempt(|g| g.value(ty, depth)) {
                return Some(e);
            }
        }
        None
    }

    /// The text of an operator or call with these arguments.
    pub(super) fn render(&mut self, name: &str, result: TypeId, arguments: Vec<Expression>) -> Option<Expression> {
        if name.is_empty() {
            let name = self.call_name(result)?;
            return Some(self.call_text(&name, result, &arguments));
        }
        let Some(sign) = name.strip_prefix("operator") else { return Some(self.call_text(name, result, &arguments)) };
        if let [e] = &arguments[..] {
            // A sign before a literal would become part of it.
            let literal = e.text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+');
            let operand = if literal { format!("({})", e.text) } else { e.at(Level::Prefix) };
            return Some(Expression::new(format!("{sign}{operand}"), Level::Prefix, Kind::Right, result));
        }
        let [a, b] = &arguments[..] else { return None };
        let (level, left, right) = match sign {
            "|" => (Level::BitOr, Level::BitOr, Level::BitXor),
            "^" => (Level::BitXor, Level::BitXor, Level::BitAnd),
            "&" => (Level::BitAnd, Level::BitAnd, Level::Relational),
            "<<" | ">>" => (Level::Shift, Level::Shift, Level::Add),
            "+" | "-" => (Level::Add, Level::Add, Level::Mult),
            "*" | "/" | "%" => (Level::Mult, Level::Mult, Level::Prefix),
            _ => (Level::Relational, Level::Shift, Level::Shift),
        };
        Some(Expression::new(format!("{} {sign} {}", a.at(left), b.at(right)), level, Kind::Right, result))
    }

    pub(super) fn call_text(&mut self, name: &str, result: TypeId, arguments: &[Expression]) -> Expression {
        let texts: Vec<String> = arguments.iter().map(|e| e.at(Level::Ternary)).collect();
        Expression::effect(format!("{name}({})", texts.join(", ")), Level::Call, result)
    }

    /// A call of a library function on enums or textures.
    fn family_call(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let textures = self.visible_textures();
        if !textures.is_empty() && (self.textured || self.one_in(2)) {
            let t = self.pick(&textures);
            return self.texture_call(t, Some(ty), depth);
        }
        if ty == TypeId::BOOL && !self.enums.is_empty() {
            let i = self.below(self.enums.len());
            let e = self.types.intern(Type::Enum(smallstep_semantics::wsl::types::EnumId(i as u32)));
            let (a, b) = (self.value(e, depth)?, self.value(e, depth)?);
            let name = self.pick(&["operator==", "operator!="]);
            return self.render(name, ty, vec![a, b]);
        }
        if matches!(self.ty(ty), Type::Enum(_)) {
            let base = *self.types.enum_bases.get(if let Type::Enum(e) = self.ty(ty) { e.0 as usize } else { 0 })?;
            let from = if self.one_in(2) { base } else { ty };
            let e = self.value(from, depth)?;
            return self.render("", ty, vec![e]);
        }
        if ty == TypeId::INT || ty == TypeId::UINT {
            let candidates: Vec<usize> = (0..self.enums.len()).filter(|i| self.types.enum_bases[*i] == ty).collect();
            if candidates.is_empty() {
                return None;
            }
            let i = self.pick(&candidates);
            let e = self.types.intern(Type::Enum(smallstep_semantics::wsl::types::EnumId(i as u32)));
            let e = self.value(e, depth)?;
            return if self.one_in(2) {
                self.render("", ty, vec![e])
            } else {
                Some(Expression::new(format!("{}.value", e.at(Level::Call)), e.level.max(Level::Call), Kind::Right, ty))
            };
        }
        None
    }

    /// The types of all visible texture variables.
    pub(super) fn visible_textures(&mut self) -> Vec<TypeId> {
        self.visible().iter().map(|v| v.ty).filter(|t| matches!(self.ty(*t), Type::Texture(..))).collect()
    }

    /// A call of a texture's function. If possible it returns the type.
    pub(super) fn texture_call(&mut self, texture: TypeId, ty: Option<TypeId>, depth: usize) -> Option<Expression> {
        let mut candidates: Vec<(&'static str, &'static Signature)> = Vec::new();
        for row in TABLE.iter().flat_map(|s| s.rows) {
            let Name::Function(name) = row.name else { continue };
            for signature in row.signatures {
                if self.has_several_threads && !self.is_for_one_thread(name) {
                    continue;
                }
                let of_textures =
                    signature.variable_range.is_some_and(|r| matches!(r.family, Family::Textures(_)) && r.family.has(&self.types, texture));
                if of_textures && self.may_call(row.stages) && ty.is_none_or(|ty| signature.result.of(&self.types, texture, 0) == Some(ty))
                {
                    candidates.push((name, signature));
                }
            }
        }
        if candidates.is_empty() {
            return None;
        }
        let (name, signature) = self.pick(&candidates);
        let (parameters, result) = instance(&self.types, signature, texture)?;
        let mut arguments = Vec::new();
        for p in parameters {
            arguments.push(match p {
                Parameter::Is(ty) => self.value(ty, depth)?,
                Parameter::Pointer(spaces, to) => self.pointer_in(spaces, to, depth)?,
            });
        }
        self.render(name, result, arguments)
    }

    /// The operators that can stand before `=` with a left side of the type, each with the type of
    /// its right side.
    pub(super) fn compounds(&self, ty: TypeId) -> Vec<(String, TypeId)> {
        const SIGNS: [&str; 10] = ["+", "-", "*", "/", "%", "^", "&", "|", ">>", "<<"];
        let mut out = Vec::new();
        for i in INSTANCES.by_result.get(&ty).into_iter().flatten() {
            let called = &INSTANCES.list[*i];
            if let (Some(sign), [Parameter::Is(a), Parameter::Is(b)]) = (called.name.strip_prefix("operator"), &called.parameters[..])
                && *a == ty
                && SIGNS.contains(&sign)
            {
                out.push((sign.to_string(), *b));
            }
        }
        for f in &self.functions {
            let sign = f.name.strip_prefix("operator").unwrap_or("");
            if f.has_body
                && !f.cast
                && SIGNS.contains(&sign)
                && f.parameters.len() == 2
                && f.parameters[0] == ty
                && f.result == ty
                && self.flavour.calls(f.flavour)
            {
                out.push((sign.to_string(), f.parameters[1]));
            }
        }
        out
    }
}
