//! Declarations of variables.

use super::statements::Statement;
use super::{Expression, Fault, Flavour, Generator, Kind, Level, Variable};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::TypeId;
use std::rc::Rc;

impl Generator {
    /// A name that no other variable of the block has. It may hide a variable of an outer block. It
    /// never hides a reference, sampler or texture, since a `return` may need it: such values may
    /// come from parameters only.
    fn new_name(&mut self) -> String {
        if self.one_in(6) {
            let values = self.visible().into_iter().filter(|v| !self.is_reference(v.ty) && !self.is_opaque(v.ty));
            let outside: Vec<Rc<str>> = values.map(|v| v.name).collect();
            let here = |n: &Rc<str>| self.frames.last().is_some_and(|f| f.variables.iter().any(|v| v.name == *n));
            let free: Vec<Rc<str>> = outside.into_iter().filter(|n| !here(n)).collect();
            if !free.is_empty() {
                return self.of(&free).to_string();
            }
        }
        self.fresh("v")
    }

    pub(super) fn declaration(&mut self) -> Statement {
        if self.flavour == Flavour::Compute && self.one_in(4) {
            return self.threadgroup_declaration();
        }
        let text = self.declarations_text();
        Statement::declaration(format!("{text};"))
    }

    fn threadgroup_declaration(&mut self) -> Statement {
        let ty = if self.one_in(4) { self.of(&[TypeId::ATOMIC_INT, TypeId::ATOMIC_UINT]) } else { self.value_type(1) };
        let name = self.fresh("g");
        let written = self.written_with(ty, false);
        self.bind(name.clone(), ty, AddressSpace::Threadgroup);
        Statement::declaration(format!("threadgroup {written} {name};"))
    }

    fn bind(&mut self, name: String, ty: TypeId, space: AddressSpace) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.push(Variable { name: name.into(), ty, space });
        }
    }

    /// The type of a variable. Only compute functions have references to threadgroup memory.
    fn variable_type(&mut self) -> TypeId {
        if !self.one_in(4) {
            return self.value_type(2);
        }
        let spaces: Vec<AddressSpace> =
            AddressSpace::ALL.into_iter().filter(|s| *s != AddressSpace::Threadgroup || self.flavour == Flavour::Compute).collect();
        let (space, to) = (self.of(&spaces), self.value_type(1));
        if self.one_in(2) { self.pointer(space, to) } else { self.reference_to(space, to) }
    }

    /// `T a = e, b` without the semicolon.
    pub(super) fn declarations_text(&mut self) -> String {
        let (plain, with) = (Rule::WslTVariableDecl, Rule::WslTVariableDeclInit);
        let mut ty = self.variable_type();
        let reference = self.is_reference(ty);
        let first = if reference { self.attempt(|g| g.value(ty, 1)) } else { None };
        if reference && first.is_none() {
            ty = self.scalar();
        }
        let reference = self.is_reference(ty);
        if reference && self.breaks(Fault::NoInitialiser, plain) {
            let (written, name) = (self.written(ty), self.fresh("v"));
            return format!("{written} {name}");
        }
        if self.breaks(Fault::VariableSpace, plain) {
            let name = self.fresh("v");
            return format!("{} int {name}", self.of(&["device", "constant"]));
        }
        if self.breaks(Fault::VoidVariable, Rule::WslVVoid) {
            return format!("void {}", self.fresh("v"));
        }
        if self.breaks(Fault::UnknownType, Rule::WslVTypeDefined) {
            return format!("Nowhere {}", self.fresh("v"));
        }
        if self.breaks(Fault::OpaqueVariable, Rule::WslEpOpaque) {
            return format!("{} {}", self.of(&["sampler", "Texture2D<float>", "RWTexture1D<int4>"]), self.fresh("v"));
        }
        if self.breaks(Fault::ArraySize, Rule::WslVArraySize) {
            return format!("int[{}] {}", self.of(&["0", "0x0", "4294967296", "0u"]), self.fresh("v"));
        }
        let thread = !reference && self.one_in(10);
        let written = self.written_with(ty, !thread);
        let n = if reference { 1 } else { 1 + usize::from(self.one_in(4)) + usize::from(self.one_in(8)) };
        let mut parts = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut first = first;
        for _ in 0..n {
            // If a declaration has several variables, later initialising expressions may refer to
            // earlier ones.
            let name = if n > 1 { self.fresh("v") } else { self.new_name() };
            let value = if reference {
                first.take()
            } else if self.one_in(3) {
                None
            } else if let Some(before) = names.last().cloned()
                && self.one_in(3)
            {
                Some(Expression::new(before, Level::Suffix, Kind::Left(AddressSpace::Thread), ty))
            } else {
                self.expected(ty, 2)
            };
            let mut value = value;
            if value.is_some() && self.breaks(Fault::InitialiserType, with) {
                value = Some(self.other(ty));
            }
            if self.breaks(Fault::VariableDuplicate, if value.is_some() { with } else { plain }) {
                // Both variables are in the same block.
                let (again, scalar) = (self.fresh("v"), self.of(&["int", "float"]));
                let second = value.as_ref().map_or(String::new(), |_| " = 1".into());
                return format!("{scalar} {again}, {again}{second}");
            }
            parts.push(value.map_or(name.clone(), |e| format!("{name} = {}", e.at(Level::Ternary))));
            names.push(name);
        }
        for name in names {
            self.bind(name, ty, AddressSpace::Thread);
        }
        format!("{}{written} {}", if thread { "thread " } else { "" }, parts.join(", "))
    }
}
