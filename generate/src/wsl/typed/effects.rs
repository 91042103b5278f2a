//! Expressions that are used as statements.

use super::places::Want;
use super::statements::{NOTHING, Statement};
use super::{Accessor, Expression, Fault, Flavour, Function, Generator, Kind, Level};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::TypeId;

impl Generator {
    pub(super) fn expression_statement(&mut self) -> Statement {
        if self.makes_fault(Fault::Recursion, Rule::WslVRecursion) {
            // A recursion through two functions, whatever their names.
            self.decls.push("int around(int a) { return about(a); }\nint about(int a) { return around(a); }".into());
        }
        if self.flavour == Flavour::Any
            && self.fault == Some(Fault::ThreadgroupVertex)
            && self.makes_fault(Fault::ThreadgroupVertex, Rule::WslEpThreadgroup)
        {
            self.decls.push("void shares() { threadgroup int a; }\nvertex void sharing() { shares(); }".into());
        }
        let text = match self.own_store() {
            Some(text) => text,
            None => self.effect(),
        };
        Statement::new(format!("{text};"), NOTHING)
    }

    /// An expression in a place where a declaration could stand.
    pub(super) fn effect(&mut self) -> String {
        for _ in 0..4 {
            let Some(e) = self.attempt(Generator::effect_expression) else { continue };
            return if e.is_statement { e.text } else { format!("({})", e.text) };
        }
        let e = self.place_or_new(TypeId::INT, Want::Assignable);
        e.map_or(String::new(), |e| format!("{} = 1", e.at(Level::Prefix)))
    }

    /// A use of an accessor that the program declares.
    fn own_accessor(&mut self) -> Option<Expression> {
        let candidates: Vec<Accessor> = self.accessors.iter().filter(|a| self.flavour.calls(a.flavour)).cloned().collect();
        if candidates.is_empty() {
            return None;
        }
        let a = self.pick(&candidates);
        let spaces: Vec<AddressSpace> = AddressSpace::ALL.into_iter().filter(|s| a.takers & (1 << *s as u8) != 0).collect();
        let want = match self.below(4) {
            0 => Want::Value,
            1 if !spaces.is_empty() => Want::Address(self.pick(&spaces)),
            // Without a matching address-taker, an address-taker for thread memory still gives a
            // getter and a setter.
            2 if !spaces.is_empty() => Want::Address(self.pick(&AddressSpace::ALL)),
            _ => Want::Assignable,
        };
        let from = match self.below(4) {
            0 => self.value(a.owner, 1)?,
            _ => self.place_or_new(a.owner, want)?,
        };
        let e = self.access_by(&from, &a)?;
        if self.is_wanted(Want::Assignable, e.kind) && !self.one_in(4) {
            let value = self.expected(a.ty, 1)?;
            return Some(Expression::effect(format!("{} = {}", e.at(Level::Prefix), value.at(Level::Ternary)), Level::Ternary, a.ty));
        }
        if let Kind::Left(_) = e.kind
            && self.one_in(2)
        {
            return Some(Expression::new(format!("&{}", e.at(Level::Prefix)), Level::Prefix, Kind::Right, a.ty));
        }
        Some(self.in_parens(e))
    }

    /// A use of an operator or cast that the program declares.
    fn own_operator(&mut self) -> Option<Expression> {
        let is_own_operator = |f: &&Function| f.has_body && (f.cast || f.name.starts_with("operator")) && self.flavour.calls(f.flavour);
        let candidates: Vec<Function> = self.functions.iter().filter(is_own_operator).cloned().collect();
        if candidates.is_empty() {
            return None;
        }
        let f = self.pick(&candidates);
        match f.name.as_str() {
            "operator++" | "operator--" => self.step(f.result),
            _ if f.parameters.len() == 2 && f.result == f.parameters[0] && self.one_in(2) => self.compound(f.result, 1),
            _ => self.call_of(&f, 1).map(|e| self.in_parens(e)),
        }
    }

    fn effect_expression(&mut self) -> Option<Expression> {
        let choice = if self.textured && self.one_in(3) { 8 } else { self.below(14) };
        match choice {
            0..=2 => {
                let ty = self.value_type(2);
                self.assignment(ty, 2)
            }
            3 => {
                let ty = self.value_type(0);
                self.compound(ty, 2)
            }
            4 => {
                let ty = self.pick(&[TypeId::INT, TypeId::UINT]);
                self.step(ty)
            }
            5 => self.built_in_call(TypeId::VOID, 1),
            6 | 7 => {
                let candidates: Vec<Function> = self
                    .functions
                    .iter()
                    .filter(|f| f.has_body && !f.name.starts_with("operator") && self.flavour.calls(f.flavour))
                    .cloned()
                    .collect();
                if candidates.is_empty() {
                    return None;
                }
                let f = self.pick(&candidates);
                self.user_call(f.result, 2)
            }
            8 => {
                let textures = self.visible_textures();
                if textures.is_empty() {
                    return None;
                }
                let t = self.pick(&textures);
                self.texture_call(t, None, 1).map(|e| if e.is_statement { e } else { self.in_parens(e) })
            }
            9 | 10 => self.own_accessor(),
            11 | 12 => self.own_operator(),
            _ => {
                let ty = self.statement_type();
                self.value(ty, 2).map(|e| self.in_parens(e))
            }
        }
    }
}
