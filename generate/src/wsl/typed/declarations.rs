//! Declarations: types, functions, operators, casts and accessors.

use super::{Accessor, Enumeration, Flavour, Frame, Function, Generator, Purpose, Structure, Variable};
use smallstep_semantics::wsl::syntax::{AddressSpace, Qualifier};
use smallstep_semantics::wsl::types::{EnumId, Scalar, StructId, TextureKind, Type, TypeId};
use std::rc::Rc;

/// The number of choices for a function's body.
const FUEL: isize = 90;
/// The number of choices for a function's body in a program of about 30 statements.
const SHORT_FUEL: isize = 32;

impl Generator {
    pub(super) fn declarations(&mut self) {
        for _ in 0..self.below(3) {
            self.enumeration();
        }
        for _ in 0..self.below(4) {
            self.struct_declaration();
        }
        for _ in 0..self.below(4) {
            self.typedef();
        }
        // The meaning of a call depends on every function with its name, so all signatures exist
        // before the first body.
        let first = self.functions.len();
        for _ in 0..self.signatures() {
            self.signature();
        }
        let last = self.functions.len();
        for _ in 0..self.below(3) {
            self.operator_or_accessors();
        }
        for i in first..last {
            self.function(i);
            self.operator_or_accessors();
        }
        if self.purpose == Purpose::Functions {
            (first..last).for_each(|i| self.pointer_caller(i));
        }
        for k in 0..self.entry_points() {
            self.entry_point(k == 0);
        }
        if self.one_in(6) {
            self.decls.push(";".into());
        }
        self.faulty_calls();
        for i in (1..self.decls.len()).rev() {
            let j = self.below(i + 1);
            self.decls.swap(i, j);
        }
        self.broken_declaration();
    }

    /// The number of callable functions.
    fn signatures(&mut self) -> usize {
        match self.purpose {
            Purpose::Compute | Purpose::Draws if self.short => self.below(2),
            Purpose::Functions if self.short => 1 + self.below(2),
            _ => 1 + self.below(5),
        }
    }

    /// Perhaps adds an operator or accessors.
    fn operator_or_accessors(&mut self) {
        match self.below(4) {
            0 => self.operator(),
            1 => self.accessors(),
            _ => {}
        }
    }

    fn enumeration(&mut self) {
        let name = self.fresh("E");
        let unsigned = self.one_in(3);
        let n = 1 + self.below(5);
        let mut used_values = rustc_hash::FxHashSet::default();
        let mut elements: Vec<(String, i64)> = Vec::new();
        let mut texts = Vec::new();
        let zero = self.below(n);
        let mut next = 0;
        for i in 0..n {
            let (low, high) = if unsigned { (0, i64::from(u32::MAX)) } else { (i64::from(i32::MIN), i64::from(i32::MAX)) };
            let element = format!("A{i}");
            let (text, value) = if i == zero && !used_values.contains(&0) {
                if i == 0 && self.one_in(2) { (None, 0) } else { (Some("0".to_string()), 0) }
            } else if (self.one_in(2) || next == 0 && zero > i) || used_values.contains(&next) || next > high {
                loop {
                    let (text, value) = self.integer(low, high);
                    // 0 is reserved for the enum's zero element.
                    if value != 0 && !used_values.contains(&value) {
                        break (Some(text), value);
                    }
                }
            } else {
                (None, next)
            };
            if used_values.contains(&value) || (i == 0 && text.is_none() && value != 0) {
                continue;
            }
            used_values.insert(value);
            next = value + 1;
            texts.push(text.map_or(element.clone(), |t| format!("{element} = {t}")));
            elements.push((element, value));
        }
        let base = if unsigned { " : uint" } else { self.pick(&["", " : int"]) };
        let id = EnumId(self.enums.len() as u32);
        self.decls.push(format!("enum {name}{base} {{ {} }}", texts.join(", ")));
        self.enums.push(Enumeration { name, elements });
        self.types.enum_bases.push(if unsigned { TypeId::UINT } else { TypeId::INT });
        self.types.intern(Type::Enum(id));
    }

    fn struct_declaration(&mut self) {
        let name = self.fresh("S");
        let mut fields = Vec::new();
        let mut text = format!("struct {name} {{ ");
        for i in 0..self.below(5) {
            let ty = self.value_type(2);
            let field = if self.one_in(9) { "length".to_string() } else { format!("m{i}") };
            if fields.iter().any(|(f, _): &(Rc<str>, TypeId)| **f == field) {
                continue;
            }
            let written = self.type_text(ty);
            let (before, after) = (self.ignored_qualifiers(), self.ignored_semantic());
            text.push_str(&format!("{before}{written} {field}{after}; "));
            fields.push((field.into(), ty));
        }
        self.decls.push(format!("{text}}}"));
        self.add_structure(name, fields);
    }

    pub(super) fn add_structure(&mut self, name: String, fields: Vec<(Rc<str>, TypeId)>) -> TypeId {
        let id = StructId(self.structs.len() as u32);
        self.structs.push(Structure { name, fields });
        self.types.intern(Type::Struct(id))
    }

    fn typedef(&mut self) {
        let ty = if self.one_in(4) {
            let (space, to) = (self.pick(&AddressSpace::ALL), self.value_type(1));
            // Threadgroup memory may be named only in functions that may use it.
            let space = if space == AddressSpace::Threadgroup { AddressSpace::Device } else { space };
            if self.one_in(2) { self.pointer(space, to) } else { self.reference_to(space, to) }
        } else {
            self.value_type(2)
        };
        let name = self.fresh("T");
        let written = self.type_text(ty);
        self.decls.push(format!("typedef {name} = {written};"));
        self.typedefs.push((name, ty));
    }

    /// Qualifiers in a place where they have no effect.
    pub(super) fn ignored_qualifiers(&mut self) -> String {
        if !self.one_in(20) {
            return String::new();
        }
        let n = 1 + self.below(2);
        (0..n).map(|_| format!("{} ", self.pick(&Qualifier::ALL).keyword())).collect()
    }

    /// A semantic in a place where it has no effect.
    fn ignored_semantic(&mut self) -> String {
        if !self.one_in(20) {
            return String::new();
        }
        let all =
            ["SV_Position", "attribute(3)", "SV_Target 1", "register(b0)", "register(u1, space2)", "specialized", "PSIZE", "SV_GroupID"];
        format!(" : {}", self.pick(&all))
    }

    /// The type of a parameter.
    fn parameter_type(&mut self, flavour: Flavour) -> TypeId {
        match self.below(12) {
            0..=5 => self.value_type(2),
            6..=8 => {
                let spaces: Vec<AddressSpace> =
                    AddressSpace::ALL.into_iter().filter(|s| *s != AddressSpace::Threadgroup || flavour == Flavour::Compute).collect();
                let space = self.pick(&spaces);
                let to = self.value_type(2);
                if self.one_in(2) { self.pointer(space, to) } else { self.reference_to(space, to) }
            }
            9 => {
                let shared = if flavour == Flavour::Compute && self.one_in(2) { AddressSpace::Threadgroup } else { AddressSpace::Device };
                let atomic = self.pick(&[TypeId::ATOMIC_INT, TypeId::ATOMIC_UINT]);
                self.pointer(shared, atomic)
            }
            10 => self.opaque_type(),
            _ => {
                let to = self.value_type(1);
                let inner = self.pointer(AddressSpace::Thread, to);
                if self.one_in(2) { self.pointer(AddressSpace::Thread, inner) } else { inner }
            }
        }
    }

    pub(super) fn opaque_type(&mut self) -> TypeId {
        if self.one_in(3) {
            return TypeId::SAMPLER;
        }
        self.texture_type()
    }

    pub(super) fn texture_type(&mut self) -> TypeId {
        let kind = self.pick(&TextureKind::ALL);
        let texel = if kind.depth() {
            TypeId::FLOAT
        } else {
            let s = self.pick(&[Scalar::Uint, Scalar::Int, Scalar::Float]);
            let n = 1 + self.below(4) as u8;
            if n == 1 { TypeId::scalar(s) } else { TypeId::vector(s, n) }
        };
        self.types.intern(Type::Texture(kind, texel))
    }

    fn result_type(&mut self, parameters: &[TypeId]) -> TypeId {
        match self.below(10) {
            0 | 1 => TypeId::VOID,
            2 if !parameters.is_empty() => self.pick(parameters),
            3 => {
                let to = self.value_type(1);
                if self.one_in(2) { self.pointer(AddressSpace::Thread, to) } else { self.reference_to(AddressSpace::Thread, to) }
            }
            _ => self.value_type(2),
        }
    }

    /// Whether no function with this name and these types is declared yet. If so, records it
    /// as declared.
    fn declare_signature(&mut self, name: &str, parameters: &[TypeId]) -> bool {
        self.declared.insert((name.to_string(), parameters.to_vec()))
    }

    fn signature(&mut self) {
        let flavour = self.pick(&[Flavour::Any, Flavour::Any, Flavour::Any, Flavour::Fragment, Flavour::Compute]);
        let flavour = self.flavour_of_purpose(flavour);
        // If functions are called, the first one takes values and returns a value.
        let is_called = self.purpose == Purpose::Functions && self.functions.is_empty();
        let n = self.below(4);
        let parameter = |g: &mut Self| if is_called { g.value_type(2) } else { g.parameter_type(flavour) };
        let mut parameters: Vec<TypeId> = (0..n).map(|_| parameter(self)).collect();
        let names: Vec<String> = self.functions.iter().filter(|f| f.name.starts_with('f')).map(|f| f.name.clone()).collect();
        let name = if !names.is_empty() && self.one_in(3) {
            // An overload with the same number of parameters. Some of them become scalars, so that
            // literals can select an overload.
            let name = self.pick(&names);
            let other = self.functions.iter().find(|f| f.name == name).map(|f| f.parameters.clone()).unwrap_or_default();
            parameters = other.iter().map(|p| if p.0 <= TypeId::FLOAT.0 { self.scalar() } else { *p }).collect();
            name
        } else if !is_called && !self.structs.is_empty() && self.one_in(8) {
            let i = self.below(self.structs.len());
            parameters.insert(0, self.structure(i));
            self.pick(&["abs", "min", "dot", "length", "Sample"]).to_string()
        } else {
            self.fresh("f")
        };
        if parameters.contains(&TypeId::VOID) || !self.declare_signature(&name, &parameters) {
            return;
        }
        let result = match is_called {
            true => self.nonempty_type(),
            false => self.result_type(&parameters),
        };
        self.functions.push(Function { name, cast: false, parameters, result, flavour, has_body: false });
    }

    fn function(&mut self, i: usize) {
        let f = self.functions[i].clone();
        let text = self.function_text(&f.name, &f.parameters, f.result, f.flavour);
        self.decls.push(text);
        self.functions[i].has_body = true;
    }

    /// The text of a function with a body. A cast has no name.
    pub(super) fn function_text(&mut self, name: &str, parameters: &[TypeId], result: TypeId, flavour: Flavour) -> String {
        let mut variables = Vec::new();
        let mut texts = Vec::new();
        for (i, ty) in parameters.iter().enumerate() {
            let written = self.type_text(*ty);
            let (before, after) = (self.ignored_qualifiers(), self.ignored_semantic());
            texts.push(format!("{before}{written} p{i}{after}"));
            variables.push(Variable { name: format!("p{i}").into(), ty: *ty, space: AddressSpace::Thread });
        }
        let head =
            if name.is_empty() { format!("operator {}", self.type_text(result)) } else { format!("{} {name}", self.type_text(result)) };
        let after = self.ignored_semantic();
        let body = self.function_body(variables, result, flavour);
        format!("{head}({}){after} {body}", texts.join(", "))
    }

    pub(super) fn function_body(&mut self, variables: Vec<Variable>, result: TypeId, flavour: Flavour) -> String {
        self.fuel = if self.short { SHORT_FUEL } else { FUEL };
        self.flavour = flavour;
        self.result = result;
        self.limit = usize::MAX;
        self.frames = vec![Frame { variables, pending: None }];
        let size = 1 + self.below(if self.short { 5 } else { 6 });
        let text = self.body(size);
        self.frames.clear();
        text
    }

    fn any_struct(&mut self) -> Option<TypeId> {
        let candidates: Vec<usize> =
            (0..self.structs.len()).filter(|i| !self.structs[*i].fields.iter().any(|f| self.is_opaque(f.1))).collect();
        if candidates.is_empty() {
            return None;
        }
        let i = self.pick(&candidates);
        Some(self.structure(i))
    }

    /// Adds an operator or a cast.
    fn operator(&mut self) {
        let Some(structure) = self.any_struct() else { return };
        let (mut parameters, mut result) = (vec![structure], self.value_type(2));
        let name = match self.below(5) {
            0 => {
                result = structure;
                self.pick(&["operator++", "operator--"])
            }
            1 => self.pick(&["operator-", "operator+", "operator~", "operator!"]),
            2 => "",
            _ => {
                let other = if self.one_in(2) { structure } else { self.value_type(1) };
                parameters.insert(self.below(2), other);
                if self.one_in(2) {
                    result = parameters[0];
                }
                let all = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">="];
                let sign = self.pick(&all);
                self.add_operator(format!("operator{sign}"), parameters, result);
                return;
            }
        };
        if name.is_empty() {
            if self.one_in(2) {
                let other = self.value_type(1);
                parameters.push(other);
            }
            // Only a type with a name can be called as a cast. The library has the cast of a type
            // to itself.
            if self.identifier(result).is_none() || parameters == [result] {
                return;
            }
        }
        self.add_operator(name.to_string(), parameters, result);
    }

    fn add_operator(&mut self, name: String, parameters: Vec<TypeId>, result: TypeId) {
        let key = if name.is_empty() { format!("operator {}", result.0) } else { name.clone() };
        if !self.declare_signature(&key, &parameters) {
            return;
        }
        let text = self.function_text(&name, &parameters, result, Flavour::Any);
        self.decls.push(text);
        self.functions.push(Function { cast: name.is_empty(), name, parameters, result, flavour: Flavour::Any, has_body: true });
    }

    /// Adds accessors for a type: a getter, a getter and a setter, or address-takers.
    fn accessors(&mut self) {
        let owner = match self.any_struct() {
            Some(s) if !self.one_in(4) => s,
            _ => self.pick(&[TypeId::INT, TypeId::vector(Scalar::Float, 3), TypeId::matrix(Scalar::Float, 2, 2)]),
        };
        let fields: Vec<(Rc<str>, TypeId)> = match self.ty(owner) {
            Type::Struct(s) => self.structs[s.0 as usize].fields.clone(),
            _ => Vec::new(),
        };
        let indexed = matches!(self.ty(owner), Type::Struct(_))
            && self.one_in(3)
            && !self.accessors.iter().any(|a| a.owner == owner && a.field.is_none());
        let name = self.fresh("q");
        let suffix = if indexed { "[]".to_string() } else { format!(".{name}") };
        let mut a = Accessor {
            owner,
            field: (!indexed).then_some(name.into()),
            ty: self.value_type(2),
            getter: false,
            setter: false,
            takers: 0,
            flavour: Flavour::Any,
        };
        let parameter_types = |first: TypeId, more: &[TypeId]| {
            let mut types = vec![first];
            types.extend(indexed.then_some(TypeId::UINT));
            types.extend(more);
            types
        };
        match self.below(3) {
            0 if !fields.is_empty() => {
                let (field, ty) = self.pick(&fields);
                a.ty = ty;
                let thread = self.one_in(2);
                for space in AddressSpace::ALL {
                    // Threadgroup memory may be named only in functions that vertex and fragment
                    // stages do not reach.
                    let has_taker = thread && space == AddressSpace::Thread || self.one_in(2);
                    if space == AddressSpace::Threadgroup || !has_taker {
                        continue;
                    }
                    let (from, to) = (self.pointer(space, owner), self.pointer(space, ty));
                    a.takers |= 1 << space as u8;
                    let (from, to) = (self.type_text(from), self.type_text(to));
                    let index = if indexed { ", uint i" } else { "" };
                    self.decls.push(format!("{to} operator&{suffix}({from} s{index}) {{ return &s->{field}; }}"));
                }
                if a.takers == 0 {
                    return;
                }
            }
            n => {
                let text = self.function_text(&format!("operator{suffix}"), &parameter_types(owner, &[]), a.ty, Flavour::Any);
                self.decls.push(text);
                a.getter = true;
                if n != 1 {
                    let text = self.function_text(&format!("operator{suffix}="), &parameter_types(owner, &[a.ty]), owner, Flavour::Any);
                    self.decls.push(text);
                    a.setter = true;
                }
            }
        }
        self.accessors.push(a);
    }
}
