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
            let visible_names: Vec<Rc<str>> = values.map(|v| v.name).collect();
            let is_in_block = |n: &Rc<str>| self.frames.last().is_some_and(|f| f.variables.iter().any(|v| v.name == *n));
            let hideable: Vec<Rc<str>> = visible_names.into_iter().filter(|n| !is_in_block(n)).collect();
            if !hideable.is_empty() {
                return self.pick(&hideable).to_string();
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
        let ty = if self.one_in(4) { self.pick(&[TypeId::ATOMIC_INT, TypeId::ATOMIC_UINT]) } else { self.value_type(1) };
        let name = self.fresh("g");
        let type_text = self.type_text_with(ty, false);
        self.bind(name.clone(), ty, AddressSpace::Threadgroup);
        Statement::declaration(format!("threadgroup {type_text} {name};"))
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
        let (space, to) = (self.pick(&spaces), self.value_type(1));
        if self.one_in(2) { self.pointer(space, to) } else { self.reference_to(space, to) }
    }

    /// `T a = e, b` without the semicolon.
    pub(super) fn declarations_text(&mut self) -> String {
        let (rule, rule_with_value) = (Rule::WslTVariableDecl, Rule::WslTVariableDeclInit);
        let mut ty = self.variable_type();
        let is_reference = self.is_reference(ty);
        let first = if is_reference { self.attempt(|g| g.value(ty, 1)) } else { None };
        if is_reference && first.is_none() {
            ty = self.scalar();
        }
        let is_reference = self.is_reference(ty);
        if is_reference && self.makes_fault(Fault::NoInitialiser, rule) {
            let (type_text, name) = (self.type_text(ty), self.fresh("v"));
            return format!("{type_text} {name}");
        }
        if self.makes_fault(Fault::VariableSpace, rule) {
            let name = self.fresh("v");
            return format!("{} int {name}", self.pick(&["device", "constant"]));
        }
        if self.makes_fault(Fault::VoidVariable, Rule::WslVVoid) {
            return format!("void {}", self.fresh("v"));
        }
        if self.makes_fault(Fault::UnknownType, Rule::WslVTypeDefined) {
            return format!("Nowhere {}", self.fresh("v"));
        }
        if self.makes_fault(Fault::OpaqueVariable, Rule::WslEpOpaque) {
            return format!("{} {}", self.pick(&["sampler", "Texture2D<float>", "RWTexture1D<int4>"]), self.fresh("v"));
        }
        if self.makes_fault(Fault::ArraySize, Rule::WslVArraySize) {
            return format!("int[{}] {}", self.pick(&["0", "0x0", "4294967296", "0u"]), self.fresh("v"));
        }
        let has_thread_prefix = !is_reference && self.one_in(10);
        let type_text = self.type_text_with(ty, !has_thread_prefix);
        let n = if is_reference { 1 } else { 1 + usize::from(self.one_in(4)) + usize::from(self.one_in(8)) };
        let mut parts = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut first = first;
        for _ in 0..n {
            // If a declaration has several variables, later initialising expressions may refer to
            // earlier ones.
            let name = if n > 1 { self.fresh("v") } else { self.new_name() };
            let value = if is_reference {
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
            if value.is_some() && self.makes_fault(Fault::InitialiserType, rule_with_value) {
                value = Some(self.value_of_other_type(ty));
            }
            if self.makes_fault(Fault::VariableDuplicate, if value.is_some() { rule_with_value } else { rule }) {
                // Both variables are in the same block.
                let (duplicate, scalar) = (self.fresh("v"), self.pick(&["int", "float"]));
                let second = value.as_ref().map_or(String::new(), |_| " = 1".into());
                return format!("{scalar} {duplicate}, {duplicate}{second}");
            }
            parts.push(value.map_or(name.clone(), |e| format!("{name} = {}", e.at(Level::Ternary))));
            names.push(name);
        }
        for name in names {
            self.bind(name, ty, AddressSpace::Thread);
        }
        format!("{}{type_text} {}", if has_thread_prefix { "thread " } else { "" }, parts.join(", "))
    }
}
