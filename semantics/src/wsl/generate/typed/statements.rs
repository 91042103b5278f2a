//! Statements, with the behaviours that they have.

use super::places::Want;
use super::{Accessor, Expression, Fault, Flavour, Frame, Function, Generator, Kind, Level, Variable};
use crate::rule::Rule;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{EnumId, Scalar, Type, TypeId};

/// Behaviours but for discards, a bit each.
const RETURN: u8 = 1;
const BREAK: u8 = 2;
const CONTINUE: u8 = 4;
const FALLTHROUGH: u8 = 8;
const NOTHING: u8 = 16;

/// A statement.
pub(super) struct Statement {
    pub(super) text: String,
    behaviours: u8,
    /// It ends in an `if` without `else`.
    open: bool,
}

impl Statement {
    fn new(text: impl Into<String>, behaviours: u8) -> Statement {
        Statement { text: text.into(), behaviours, open: false }
    }
}

/// What stands around a statement.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// A loop.
    loops: bool,
    /// A loop or a switch.
    breaks: bool,
    /// Any statement but the function's block.
    inner: bool,
    depth: usize,
}

/// How a block is to end.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// As it comes.
    Open,
    /// By a return, if the function returns a value.
    Function,
    /// Not at its end; by falling through only if there is a case after it.
    Case { last: bool },
}

impl Generator {
    /// A function's body.
    pub(super) fn body(&mut self, size: usize) -> String {
        let around = Around { loops: false, breaks: false, inner: false, depth: 3 };
        self.block(around, size, End::Function).text
    }

    fn block(&mut self, around: Around, size: usize, end: End) -> Statement {
        self.frames.push(Frame { variables: Vec::new(), pending: Some(Vec::new()) });
        let mut texts: Vec<String> = Vec::new();
        let mut behaviours = NOTHING;
        for _ in 0..size {
            if behaviours & NOTHING == 0 || self.fuel < -400 {
                break;
            }
            let s = self.statement(around);
            self.take_pending(&mut texts);
            behaviours = behaviours & !NOTHING | s.behaviours;
            texts.push(s.text);
        }
        if behaviours & NOTHING != 0
            && let Some(s) = self.ending(around, end)
        {
            self.take_pending(&mut texts);
            behaviours = behaviours & !NOTHING | s.behaviours;
            texts.push(s.text);
        }
        if behaviours & NOTHING == 0 && self.breaks(Fault::Unreachable, Rule::WslTBlock) {
            texts.push(";".into());
        }
        self.frames.pop();
        Statement::new(format!("{{ {} }}", texts.join(" ")), behaviours)
    }

    fn take_pending(&mut self, texts: &mut Vec<String>) {
        if let Some(pending) = self.frames.last_mut().and_then(|f| f.pending.as_mut()) {
            texts.append(pending);
        }
    }

    fn ending(&mut self, around: Around, end: End) -> Option<Statement> {
        match end {
            End::Open => None,
            End::Function => {
                for (fault, text) in [(Fault::Break, "break;"), (Fault::Continue, "continue;"), (Fault::Fallthrough, "fallthrough;")] {
                    if self.breaks(fault, Rule::WslVFunctionBody) {
                        return Some(Statement::new(text, 0));
                    }
                }
                if self.result == TypeId::VOID {
                    return None;
                }
                if self.breaks(Fault::NoReturn, Rule::WslVFunctionNothing) {
                    return None;
                }
                Some(self.return_statement())
            }
            End::Case { last } => {
                if self.breaks(Fault::CaseEnds, Rule::WslTSwitchBlock) {
                    return None;
                }
                if last && self.breaks(Fault::LastFallthrough, Rule::WslTSwitchBlock) {
                    return Some(Statement::new("fallthrough;", FALLTHROUGH));
                }
                if self.breaks(Fault::FallthroughThenMore, Rule::WslTBlock) {
                    let c = self.value_or_basic(TypeId::BOOL);
                    return Some(Statement::new(format!("if ({}) fallthrough; break;", c.text), BREAK));
                }
                for (fault, rule, text) in [
                    (Fault::LoopFallthrough, Rule::WslTDoWhileNoBreak, "do fallthrough; while (false); break;"),
                    (Fault::ForFallthrough, Rule::WslTForBreak, "for (;;) { if (true) break; fallthrough; } break;"),
                ] {
                    if self.breaks(fault, rule) {
                        return Some(Statement::new(text, BREAK));
                    }
                }
                if !last && self.one_in(3) {
                    return Some(Statement::new("fallthrough;", FALLTHROUGH));
                }
                if !last && self.one_in(6) {
                    let c = self.value_or_basic(TypeId::BOOL);
                    return Some(Statement::new(format!("if ({}) {{ fallthrough; }} else break;", c.text), FALLTHROUGH | BREAK));
                }
                Some(self.terminator(around).unwrap_or(Statement::new("break;", BREAK)))
            }
        }
    }

    fn may_return(&self, around: Around) -> bool {
        !(around.inner && self.is_reference(self.result)) && !self.is_opaque(self.result)
    }

    fn return_statement(&mut self) -> Statement {
        if self.result == TypeId::VOID {
            if self.breaks(Fault::ReturnType, Rule::WslVFunctionReturn) {
                return Statement::new("return true;", RETURN);
            }
            return Statement::new("return;", RETURN);
        }
        let result = self.result;
        let e = self.expected(result, 2).unwrap_or_else(|| self.basic(result));
        if self.breaks(Fault::ReturnVoid, Rule::WslVFunctionReturn) {
            return Statement::new("return;", RETURN);
        }
        if self.breaks(Fault::ReturnType, Rule::WslVFunctionReturn) {
            let e = self.other(result);
            return Statement::new(format!("return {};", e.text), RETURN);
        }
        Statement::new(format!("return {};", e.text), RETURN)
    }

    fn terminator(&mut self, around: Around) -> Option<Statement> {
        match self.below(5) {
            0 if self.may_return(around) => Some(self.return_statement()),
            1 | 2 if around.breaks => Some(Statement::new("break;", BREAK)),
            3 if around.loops => Some(Statement::new("continue;", CONTINUE)),
            4 if self.flavour == Flavour::Fragment => Some(Statement::new("discard;", 0)),
            _ => None,
        }
    }

    fn statement(&mut self, around: Around) -> Statement {
        if around.depth == 0 || self.fuel < 0 {
            return if self.one_in(2) { self.declaration() } else { self.expression_statement() };
        }
        match self.below(24) {
            0..=4 => self.declaration(),
            5..=11 => self.expression_statement(),
            12 => self.if_statement(around, false),
            13 | 14 => self.if_statement(around, true),
            15 => self.while_statement(around),
            16 => self.do_statement(around),
            17 => self.for_statement(around),
            18 | 19 => self.switch_statement(around),
            20 => {
                let size = self.below(4);
                self.block(Around { depth: around.depth - 1, ..around }, size, End::Open)
            }
            21 => Statement::new(";", NOTHING),
            22 if around.inner => self.terminator(around).unwrap_or(Statement::new("{ }", NOTHING)),
            _ => self.declaration(),
        }
    }

    /// The statement that another one has: mostly a block.
    fn inner(&mut self, around: Around) -> Statement {
        let around = Around { depth: around.depth - 1, inner: true, ..around };
        if !self.one_in(3) {
            let size = self.below(4);
            return self.block(around, size, End::Open);
        }
        if self.one_in(3)
            && let Some(s) = self.terminator(around)
        {
            return s;
        }
        self.frames.push(Frame::default());
        let s = self.statement(around);
        self.frames.pop();
        s
    }

    fn wrong_condition(&mut self, fault: Fault, rule: Rule) -> Option<Expression> {
        if !self.breaks(fault, rule) {
            return None;
        }
        let ty = self.of(&[TypeId::INT, TypeId::UINT, TypeId::FLOAT, TypeId::vector(Scalar::Bool, 2)]);
        Some(self.basic(ty))
    }

    fn if_statement(&mut self, around: Around, other: bool) -> Statement {
        let mut c = self.value_or_basic(TypeId::BOOL);
        if let Some(e) = self.wrong_condition(Fault::IfCondition, Rule::WslTIf) {
            c = e;
        }
        let mut then = self.inner(around);
        if self.is_reference(self.result) && self.breaks(Fault::InnerReturn, Rule::WslTIf) {
            let result = self.result;
            if let Some(e) = self.value(result, 0) {
                then = Statement::new(format!("return {};", e.text), RETURN);
            }
        }
        if !other {
            let open = Statement { text: format!("if ({}) {}", c.text, then.text), behaviours: then.behaviours | NOTHING, open: true };
            return open;
        }
        if then.open {
            then.text = format!("{{ {} }}", then.text);
        }
        let or = self.inner(around);
        Statement {
            text: format!("if ({}) {} else {}", c.text, then.text, or.text),
            behaviours: then.behaviours | or.behaviours,
            open: or.open,
        }
    }

    fn looped(b: u8) -> u8 {
        b & !(BREAK | CONTINUE) | NOTHING
    }

    fn while_statement(&mut self, around: Around) -> Statement {
        let c = self.value_or_basic(TypeId::BOOL);
        let s = self.inner(Around { loops: true, breaks: true, ..around });
        Statement { text: format!("while ({}) {}", c.text, s.text), behaviours: Generator::looped(s.behaviours), open: s.open }
    }

    fn do_statement(&mut self, around: Around) -> Statement {
        let s = self.inner(Around { loops: true, breaks: true, ..around });
        let mut c = self.value_or_basic(TypeId::BOOL);
        let rule = if s.behaviours & BREAK != 0 { Rule::WslTDoWhileBreak } else { Rule::WslTDoWhileNoBreak };
        if let Some(e) = self.wrong_condition(Fault::DoCondition, rule) {
            c = e;
        }
        Statement::new(format!("do {} while ({});", s.text, c.text), Generator::looped(s.behaviours))
    }

    fn for_statement(&mut self, around: Around) -> Statement {
        self.frames.push(Frame::default());
        let init = match self.below(4) {
            0 => String::new(),
            1 => {
                let n = 1 + self.below(2);
                let all: Vec<String> = (0..n).map(|_| self.effect()).collect();
                all.join(", ")
            }
            _ => self.declarations_text(),
        };
        let mut condition = if self.one_in(4) { String::new() } else { self.value_or_basic(TypeId::BOOL).text };
        let wrong = self.wrong_condition(Fault::ForCondition, Rule::WslTForNoBreak);
        let each = if self.one_in(4) {
            String::new()
        } else {
            let ty = self.statement_type();
            self.value_or_basic(ty).text
        };
        let s = self.inner(Around { loops: true, breaks: true, ..around });
        if let Some(e) = wrong {
            condition = e.text;
            if s.behaviours & BREAK != 0 {
                self.broken = Some(Rule::WslTForBreak);
            }
        }
        self.frames.pop();
        Statement {
            text: format!("for ({init}; {condition}; {each}) {}", s.text),
            behaviours: Generator::looped(s.behaviours),
            open: s.open,
        }
    }

    fn switch_statement(&mut self, around: Around) -> Statement {
        let ty = match self.below(3) {
            0 => TypeId::INT,
            1 => TypeId::UINT,
            _ if !self.enums.is_empty() => {
                let i = self.below(self.enums.len());
                self.types.intern(Type::Enum(EnumId(i as u32)))
            }
            _ => TypeId::INT,
        };
        let mut e = self.value_or_basic(ty);
        if self.breaks(Fault::SwitchType, Rule::WslTSwitchBlock) {
            e = self.basic(TypeId::FLOAT);
        }
        let mut values: Vec<String> = Vec::new();
        let mut covered = false;
        match self.ty(ty) {
            Type::Enum(id) => {
                let names: Vec<String> = self.enums[id.0 as usize].elements.iter().map(|e| e.0.clone()).collect();
                let some = if self.one_in(2) { names.len() } else { self.below(names.len() + 1) };
                covered = some == names.len();
                for name in names.into_iter().take(some) {
                    values.push(format!("{}.{name}", self.called(ty).unwrap_or_default()));
                }
            }
            _ => {
                let mut seen = rustc_hash::FxHashSet::default();
                for _ in 0..self.below(4) {
                    let (low, high) = if ty == TypeId::INT { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
                    let (text, value) = self.integer(low, high);
                    if seen.insert(value) {
                        values.push(if ty == TypeId::UINT && self.one_in(2) { format!("{text}u") } else { text });
                    }
                }
            }
        }
        let mut cases: Vec<Option<String>> = values.into_iter().map(Some).collect();
        if let Some(Some(first)) = cases.first().cloned()
            && self.breaks(Fault::CaseDuplicate, Rule::WslTCase)
        {
            cases.push(Some(first));
        }
        if self.breaks(Fault::CaseType, Rule::WslTCase) {
            cases.push(Some("1.5".into()));
        }
        let defaults = if covered {
            usize::from(self.breaks(Fault::CoveredDefault, Rule::WslTDefault))
        } else if self.breaks(Fault::NoDefault, Rule::WslTDefault) {
            0
        } else {
            1 + usize::from(self.breaks(Fault::TwoDefaults, Rule::WslTDefault))
        };
        for _ in 0..defaults {
            let at = self.below(cases.len() + 1);
            cases.insert(at, None);
        }
        let around = Around { breaks: true, inner: true, depth: around.depth - 1, ..around };
        let mut text = format!("switch ({}) {{ ", e.text);
        let mut behaviours = 0;
        let n = cases.len();
        for (i, case) in cases.into_iter().enumerate() {
            let size = self.below(3);
            let body = self.block(around, size, End::Case { last: i + 1 == n });
            behaviours |= body.behaviours;
            // A case's statements stand without braces.
            let inside = body.text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(&body.text);
            text.push_str(&case.map_or("default:".into(), |v| format!("case {v}:")));
            text.push_str(inside);
        }
        text.push('}');
        let behaviours = behaviours & !(FALLTHROUGH | NOTHING);
        Statement::new(text, if behaviours & BREAK != 0 { behaviours & !BREAK | NOTHING } else { behaviours })
    }

    /// A name that no other variable of the block has; it may hide one from outside. What can be returned of parameters only stays in sight.
    fn new_name(&mut self) -> String {
        if self.one_in(6) {
            let values = self.visible().into_iter().filter(|v| !self.is_reference(v.ty) && !self.is_opaque(v.ty));
            let outside: Vec<String> = values.map(|v| v.name).collect();
            let here = |n: &String| self.frames.last().is_some_and(|f| f.variables.iter().any(|v| v.name == *n));
            let free: Vec<String> = outside.into_iter().filter(|n| !here(n)).collect();
            if !free.is_empty() {
                return self.of(&free);
            }
        }
        self.fresh("v")
    }

    fn declaration(&mut self) -> Statement {
        if self.flavour == Flavour::Compute && self.one_in(4) {
            return self.threadgroup_declaration();
        }
        let text = self.declarations_text();
        Statement::new(format!("{text};"), NOTHING)
    }

    fn threadgroup_declaration(&mut self) -> Statement {
        let ty = if self.one_in(4) { self.of(&[TypeId::ATOMIC_INT, TypeId::ATOMIC_UINT]) } else { self.value_type(1) };
        let name = self.fresh("g");
        let written = self.written_with(ty, false);
        self.bind(name.clone(), ty, AddressSpace::Threadgroup);
        Statement::new(format!("threadgroup {written} {name};"), NOTHING)
    }

    fn bind(&mut self, name: String, ty: TypeId, space: AddressSpace) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.push(Variable { name, ty, space });
        }
    }

    /// The type of a variable, and whether a value for it can be made.
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
    fn declarations_text(&mut self) -> String {
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
            // Of several variables, the later ones' initialising expressions see the earlier ones.
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
                // Both are in this block.
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

    fn expression_statement(&mut self) -> Statement {
        if self.breaks(Fault::Recursion, Rule::WslVRecursion) {
            // The function comes to its own, whatever it is called.
            self.decls.push("int around(int a) { return about(a); }\nint about(int a) { return around(a); }".into());
        }
        if self.flavour == Flavour::Any
            && self.fault == Some(Fault::ThreadgroupVertex)
            && self.breaks(Fault::ThreadgroupVertex, Rule::WslEpThreadgroup)
        {
            self.decls.push("void shares() { threadgroup int a; }\nvertex void sharing() { shares(); }".into());
        }
        let text = self.effect();
        Statement::new(format!("{text};"), NOTHING)
    }

    /// An expression that stands where a declaration could.
    pub(super) fn effect(&mut self) -> String {
        for _ in 0..4 {
            let Some(e) = self.attempt(Generator::effective) else { continue };
            return if e.stands { e.text } else { format!("({})", e.text) };
        }
        let e = self.place_or_new(TypeId::INT, Want::Assignable);
        e.map_or(String::new(), |e| format!("{} = 1", e.at(Level::Prefix)))
    }

    /// A use of one of the program's accessors.
    fn own_accessor(&mut self) -> Option<Expression> {
        let all: Vec<Accessor> = self.accessors.iter().filter(|a| self.flavour.calls(a.flavour)).cloned().collect();
        if all.is_empty() {
            return None;
        }
        let a = self.of(&all);
        let spaces: Vec<AddressSpace> = AddressSpace::ALL.into_iter().filter(|s| a.takers & (1 << *s as u8) != 0).collect();
        let want = match self.below(4) {
            0 => Want::Value,
            1 if !spaces.is_empty() => Want::Address(self.of(&spaces)),
            // Where there is no address-taker, one in thread still gives a getter and a setter.
            2 if !spaces.is_empty() => Want::Address(self.of(&AddressSpace::ALL)),
            _ => Want::Assignable,
        };
        let from = match self.below(4) {
            0 => self.value(a.of, 1)?,
            _ => self.place_or_new(a.of, want)?,
        };
        let e = self.accessed(&from, &a)?;
        if Want::Assignable.is(e.kind) && !self.one_in(4) {
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

    /// A use of one of the program's operators.
    fn own_operator(&mut self) -> Option<Expression> {
        let own = |f: &&Function| f.ready && (f.cast || f.name.starts_with("operator")) && self.flavour.calls(f.flavour);
        let all: Vec<Function> = self.functions.iter().filter(own).cloned().collect();
        if all.is_empty() {
            return None;
        }
        let f = self.of(&all);
        match f.name.as_str() {
            "operator++" | "operator--" => self.step(f.result),
            _ if f.parameters.len() == 2 && f.result == f.parameters[0] && self.one_in(2) => self.compound(f.result, 1),
            _ => self.call_of(&f, 1).map(|e| self.in_parens(e)),
        }
    }

    fn effective(&mut self) -> Option<Expression> {
        match self.below(14) {
            0..=2 => {
                let ty = self.value_type(2);
                self.assignment(ty, 2)
            }
            3 => {
                let ty = self.value_type(0);
                self.compound(ty, 2)
            }
            4 => {
                let ty = self.of(&[TypeId::INT, TypeId::UINT]);
                self.step(ty)
            }
            5 => self.library_call(TypeId::VOID, 1),
            6 | 7 => {
                let all: Vec<Function> = self
                    .functions
                    .iter()
                    .filter(|f| f.ready && !f.name.starts_with("operator") && self.flavour.calls(f.flavour))
                    .cloned()
                    .collect();
                if all.is_empty() {
                    return None;
                }
                let f = self.of(&all);
                self.user_call(f.result, 2)
            }
            8 => {
                let textures: Vec<TypeId> =
                    self.visible().iter().map(|v| v.ty).filter(|t| matches!(self.ty(*t), Type::Texture(..))).collect();
                if textures.is_empty() {
                    return None;
                }
                let t = self.of(&textures);
                self.texture_call(t, None, 1).map(|e| if e.stands { e } else { self.in_parens(e) })
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
