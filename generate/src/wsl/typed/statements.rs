//! Statements, with their behaviours.

use super::{Expression, Fault, Flavour, Frame, Generator};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::types::{EnumId, Scalar, Type, TypeId};

/// The behaviours as bits. Discards are not tracked.
const RETURN: u8 = 1;
const BREAK: u8 = 2;
const CONTINUE: u8 = 4;
const FALLTHROUGH: u8 = 8;
pub(super) const NOTHING: u8 = 16;

/// A statement.
pub(super) struct Statement {
    pub(super) text: String,
    behaviours: u8,
    /// Whether it ends in an `if` without `else`.
    open: bool,
    /// Whether it is a declaration of variables, which must stand in a block.
    declares: bool,
}

impl Statement {
    pub(super) fn new(text: impl Into<String>, behaviours: u8) -> Statement {
        Statement { text: text.into(), behaviours, open: false, declares: false }
    }

    /// A declaration of variables.
    pub(super) fn declaration(text: String) -> Statement {
        Statement { declares: true, ..Statement::new(text, NOTHING) }
    }

    /// The statement, with `open` set.
    fn open(self, open: bool) -> Statement {
        Statement { open, ..self }
    }
}

/// The constructs that enclose a statement.
#[derive(Clone, Copy)]
pub(super) struct Enclosing {
    /// Whether a loop does.
    in_loop: bool,
    /// Whether a loop or a switch does.
    may_break: bool,
    /// Whether any statement does, except for the function's block.
    is_nested: bool,
    depth: usize,
}

/// The requirement for the end of a block.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// There is none.
    Open,
    /// The block ends in a return if the function returns a value.
    Function,
    /// Control leaves the block before its end. It falls through only if another case follows.
    Case { last: bool },
}

impl Generator {
    /// A function's body.
    pub(super) fn body(&mut self, size: usize) -> String {
        let enclosing = Enclosing { in_loop: false, may_break: false, is_nested: false, depth: 3 };
        self.block(enclosing, size, End::Function).text
    }

    fn block(&mut self, enclosing: Enclosing, size: usize, end: End) -> Statement {
        self.frames.push(Frame { variables: Vec::new(), pending: Some(Vec::new()) });
        let mut texts: Vec<String> = Vec::new();
        let mut behaviours = NOTHING;
        for _ in 0..size {
            if behaviours & NOTHING == 0 || self.fuel < -400 {
                break;
            }
            let s = self.statement(enclosing);
            self.take_pending(&mut texts);
            behaviours = behaviours & !NOTHING | s.behaviours;
            texts.push(s.text);
        }
        if behaviours & NOTHING != 0
            && let Some(s) = self.closing_statement(enclosing, end)
        {
            self.take_pending(&mut texts);
            behaviours = behaviours & !NOTHING | s.behaviours;
            texts.push(s.text);
        }
        if behaviours & NOTHING == 0 && self.makes_fault(Fault::Unreachable, Rule::WslTBlock) {
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

    fn closing_statement(&mut self, enclosing: Enclosing, end: End) -> Option<Statement> {
        match end {
            End::Open => None,
            End::Function => {
                for (fault, text) in [(Fault::Break, "break;"), (Fault::Continue, "continue;"), (Fault::Fallthrough, "fallthrough;")] {
                    if self.makes_fault(fault, Rule::WslVFunctionBody) {
                        return Some(Statement::new(text, 0));
                    }
                }
                if self.result == TypeId::VOID {
                    return self.last_store();
                }
                if self.makes_fault(Fault::NoReturn, Rule::WslVFunctionNothing) {
                    return None;
                }
                Some(self.return_statement())
            }
            End::Case { last } => {
                if self.makes_fault(Fault::CaseEnds, Rule::WslTSwitchBlock) {
                    return None;
                }
                if last && self.makes_fault(Fault::LastFallthrough, Rule::WslTSwitchBlock) {
                    return Some(Statement::new("fallthrough;", FALLTHROUGH));
                }
                if self.makes_fault(Fault::FallthroughThenMore, Rule::WslTBlock) {
                    let c = self.value_or_basic(TypeId::BOOL);
                    return Some(Statement::new(format!("if ({}) fallthrough; break;", c.text), BREAK));
                }
                for (fault, rule, text) in [
                    (Fault::LoopFallthrough, Rule::WslTDoWhileNoBreak, "do fallthrough; while (false); break;"),
                    (Fault::ForFallthrough, Rule::WslTForBreak, "for (;;) { if (true) break; fallthrough; } break;"),
                ] {
                    if self.makes_fault(fault, rule) {
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
                Some(self.terminator(enclosing).unwrap_or(Statement::new("break;", BREAK)))
            }
        }
    }

    fn may_return(&self, enclosing: Enclosing) -> bool {
        let is_late_reference = enclosing.is_nested && self.is_reference(self.result);
        !is_late_reference && !self.is_opaque(self.result)
    }

    fn return_statement(&mut self) -> Statement {
        if self.result == TypeId::VOID {
            if self.makes_fault(Fault::ReturnType, Rule::WslVFunctionReturn) {
                return Statement::new("return true;", RETURN);
            }
            return Statement::new("return;", RETURN);
        }
        let result = self.result;
        let e = self.expected(result, 2).unwrap_or_else(|| self.basic(result));
        if self.makes_fault(Fault::ReturnVoid, Rule::WslVFunctionReturn) {
            return Statement::new("return;", RETURN);
        }
        if self.makes_fault(Fault::ReturnType, Rule::WslVFunctionReturn) {
            let e = self.value_of_other_type(result);
            return Statement::new(format!("return {};", e.text), RETURN);
        }
        Statement::new(format!("return {};", e.text), RETURN)
    }

    fn terminator(&mut self, enclosing: Enclosing) -> Option<Statement> {
        match self.below(5) {
            0 if self.may_return(enclosing) => Some(self.return_statement()),
            1 | 2 if enclosing.may_break => Some(Statement::new("break;", BREAK)),
            3 if enclosing.in_loop => Some(Statement::new("continue;", CONTINUE)),
            4 if self.flavour == Flavour::Fragment => Some(Statement::new("discard;", 0)),
            _ => None,
        }
    }

    fn statement(&mut self, enclosing: Enclosing) -> Statement {
        if enclosing.depth == 0 || self.fuel < 0 {
            return if self.one_in(2) { self.declaration() } else { self.expression_statement() };
        }
        match self.below(24) {
            0..=4 => self.declaration(),
            5..=11 => self.expression_statement(),
            12 => self.if_statement(enclosing, false),
            13 | 14 => self.if_statement(enclosing, true),
            15 => self.while_statement(enclosing),
            16 => self.do_statement(enclosing),
            17 => self.for_statement(enclosing),
            18 | 19 => self.switch_statement(enclosing),
            20 => {
                let size = self.below(4);
                self.block(Enclosing { depth: enclosing.depth - 1, ..enclosing }, size, End::Open)
            }
            21 => Statement::new(";", NOTHING),
            22 if enclosing.is_nested => self.terminator(enclosing).unwrap_or(Statement::new("{ }", NOTHING)),
            _ => self.declaration(),
        }
    }

    /// The body of another statement. Usually it is a block.
    fn nested_statement(&mut self, enclosing: Enclosing) -> Statement {
        let enclosing = Enclosing { depth: enclosing.depth - 1, is_nested: true, ..enclosing };
        if !self.one_in(3) {
            let size = self.below(4);
            return self.block(enclosing, size, End::Open);
        }
        if self.one_in(3)
            && let Some(s) = self.terminator(enclosing)
        {
            return s;
        }
        self.frames.push(Frame::default());
        let s = self.statement(enclosing);
        self.frames.pop();
        // A declaration is a body only inside of a block (ERRATA WSL-B2).
        if s.declares { Statement::new(format!("{{ {} }}", s.text), s.behaviours) } else { s }
    }

    fn wrong_condition(&mut self, fault: Fault, rule: Rule) -> Option<Expression> {
        if !self.makes_fault(fault, rule) {
            return None;
        }
        let ty = self.pick(&[TypeId::INT, TypeId::UINT, TypeId::FLOAT, TypeId::vector(Scalar::Bool, 2)]);
        Some(self.basic(ty))
    }

    fn if_statement(&mut self, enclosing: Enclosing, has_else: bool) -> Statement {
        let mut c = self.value_or_basic(TypeId::BOOL);
        if let Some(e) = self.wrong_condition(Fault::IfCondition, Rule::WslTIf) {
            c = e;
        }
        let mut then = self.nested_statement(enclosing);
        if self.is_reference(self.result) && self.makes_fault(Fault::InnerReturn, Rule::WslTIf) {
            let result = self.result;
            if let Some(e) = self.value(result, 0) {
                then = Statement::new(format!("return {};", e.text), RETURN);
            }
        }
        if !has_else {
            return Statement::new(format!("if ({}) {}", c.text, then.text), then.behaviours | NOTHING).open(true);
        }
        if then.open {
            then.text = format!("{{ {} }}", then.text);
        }
        let else_branch = self.nested_statement(enclosing);
        Statement::new(format!("if ({}) {} else {}", c.text, then.text, else_branch.text), then.behaviours | else_branch.behaviours)
            .open(else_branch.open)
    }

    fn loop_behaviours(b: u8) -> u8 {
        b & !(BREAK | CONTINUE) | NOTHING
    }

    fn while_statement(&mut self, enclosing: Enclosing) -> Statement {
        let c = self.value_or_basic(TypeId::BOOL);
        let c = self.with_counter(c);
        let s = self.nested_statement(Enclosing { in_loop: true, may_break: true, ..enclosing });
        Statement::new(format!("while ({}) {}", c.text, s.text), Generator::loop_behaviours(s.behaviours)).open(s.open)
    }

    fn do_statement(&mut self, enclosing: Enclosing) -> Statement {
        let s = self.nested_statement(Enclosing { in_loop: true, may_break: true, ..enclosing });
        let mut c = self.value_or_basic(TypeId::BOOL);
        let rule = if s.behaviours & BREAK != 0 { Rule::WslTDoWhileBreak } else { Rule::WslTDoWhileNoBreak };
        if let Some(e) = self.wrong_condition(Fault::DoCondition, rule) {
            c = e;
        }
        let c = self.with_counter(c);
        Statement::new(format!("do {} while ({});", s.text, c.text), Generator::loop_behaviours(s.behaviours))
    }

    fn for_statement(&mut self, enclosing: Enclosing) -> Statement {
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
        let mut condition = if self.one_in(4) {
            self.counter_only()
        } else {
            let c = self.value_or_basic(TypeId::BOOL);
            self.with_counter(c).text
        };
        let wrong_condition = self.wrong_condition(Fault::ForCondition, Rule::WslTForNoBreak);
        let step = if self.one_in(4) {
            String::new()
        } else {
            let ty = self.statement_type();
            self.value_or_basic(ty).text
        };
        let s = self.nested_statement(Enclosing { in_loop: true, may_break: true, ..enclosing });
        if let Some(e) = wrong_condition {
            condition = e.text;
            if s.behaviours & BREAK != 0 {
                self.broken_rule = Some(Rule::WslTForBreak);
            }
        }
        self.frames.pop();
        Statement::new(format!("for ({init}; {condition}; {step}) {}", s.text), Generator::loop_behaviours(s.behaviours)).open(s.open)
    }

    fn switch_statement(&mut self, enclosing: Enclosing) -> Statement {
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
        if self.makes_fault(Fault::SwitchType, Rule::WslTSwitchBlock) {
            e = self.basic(TypeId::FLOAT);
        }
        let mut values: Vec<String> = Vec::new();
        let mut covered = false;
        match self.ty(ty) {
            Type::Enum(id) => {
                let names: Vec<String> = self.enums[id.0 as usize].elements.iter().map(|e| e.0.clone()).collect();
                let covered_count = if self.one_in(2) { names.len() } else { self.below(names.len() + 1) };
                covered = covered_count == names.len();
                for name in names.into_iter().take(covered_count) {
                    values.push(format!("{}.{name}", self.call_name(ty).unwrap_or_default()));
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
            && self.makes_fault(Fault::CaseDuplicate, Rule::WslTCase)
        {
            cases.push(Some(first));
        }
        if self.makes_fault(Fault::CaseType, Rule::WslTCase) {
            cases.push(Some("1.5".into()));
        }
        let defaults = if covered {
            usize::from(self.makes_fault(Fault::CoveredDefault, Rule::WslTDefault))
        } else if self.makes_fault(Fault::NoDefault, Rule::WslTDefault) {
            0
        } else {
            1 + usize::from(self.makes_fault(Fault::TwoDefaults, Rule::WslTDefault))
        };
        for _ in 0..defaults {
            let at = self.below(cases.len() + 1);
            cases.insert(at, None);
        }
        let enclosing = Enclosing { may_break: true, is_nested: true, depth: enclosing.depth - 1, ..enclosing };
        let mut text = format!("switch ({}) {{ ", e.text);
        let mut behaviours = 0;
        let n = cases.len();
        for (i, case) in cases.into_iter().enumerate() {
            let size = self.below(3);
            let body = self.block(enclosing, size, End::Case { last: i + 1 == n });
            behaviours |= body.behaviours;
            // The statements of a case have no braces.
            let statements = body.text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(&body.text);
            text.push_str(&case.map_or("default:".into(), |v| format!("case {v}:")));
            text.push_str(statements);
        }
        text.push('}');
        let behaviours = behaviours & !(FALLTHROUGH | NOTHING);
        Statement::new(text, if behaviours & BREAK != 0 { behaviours & !BREAK | NOTHING } else { behaviours })
    }
}
