//! Expressions of a given type.

use super::library::ArgumentKind;
use super::places::Want;
use super::{Expression, Fault, Function, Generator, Kind, Level};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{EnumId, Type, TypeId};

impl Generator {
    /// An expression that has the type without its context. `None` if the type needs a variable and
    /// the function has none.
    pub(super) fn value(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        self.fuel -= 1;
        if self.is_opaque(ty) {
            return self.place(ty, Want::Value);
        }
        if self.is_reference(ty) {
            return self.reference(ty, depth);
        }
        if let Some(e) = self.attempt(|g| g.broken_value(ty)) {
            return Some(e);
        }
        if depth == 0 || self.fuel < 0 {
            return Some(self.basic(ty));
        }
        for _ in 0..4 {
            if let Some(e) = self.attempt(|g| g.composed(ty, depth - 1)) {
                return Some(e);
            }
        }
        Some(self.basic(ty))
    }

    /// An expression of a type that always has values.
    pub(super) fn value_or_basic(&mut self, ty: TypeId) -> Expression {
        let depth = if self.fuel > 0 { 2 } else { 0 };
        self.value(ty, depth).unwrap_or_else(|| self.basic(ty))
    }

    /// An expression in a place that expects the type, so that integer literals take it.
    pub(super) fn expected(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        if self.one_in(3) {
            let literal = match ty {
                TypeId::INT => Some(self.integer(i64::from(i32::MIN), i64::from(i32::MAX))),
                TypeId::UINT => Some(self.integer(0, i64::from(u32::MAX))),
                TypeId::FLOAT => Some(self.integer(-(1 << 40), 1 << 40)),
                _ => None,
            };
            if let Some((text, _)) = literal {
                let text = if ty == TypeId::FLOAT && self.one_in(10) { "99999999999999999999999".into() } else { text };
                return Some(self.literal_expression(text, ty));
            }
        }
        self.value(ty, depth)
    }

    /// The smallest expression of a value type.
    pub(super) fn basic(&mut self, ty: TypeId) -> Expression {
        if self.one_in(2)
            && let Some(e) = self.place(ty, Want::Value)
        {
            return e;
        }
        if let Some(e) = self.vector_of_elements(ty) {
            return e;
        }
        let suffix = |text: String| Expression::new(text, Level::Suffix, Kind::Right, ty);
        match self.ty(ty) {
            Type::Scalar(smallstep_semantics::wsl::types::Scalar::Bool) => suffix(self.pick(&["true", "false"]).into()),
            Type::Scalar(smallstep_semantics::wsl::types::Scalar::Uint) => {
                let (text, _) = self.integer(0, i64::from(u32::MAX));
                suffix(format!("{text}u"))
            }
            Type::Scalar(smallstep_semantics::wsl::types::Scalar::Float) => {
                let text = self.float_text();
                self.literal_expression(text, ty)
            }
            Type::Scalar(smallstep_semantics::wsl::types::Scalar::Int) => {
                let (text, _) = self.integer(i64::from(i32::MIN), i64::from(i32::MAX));
                let name = self.call_name(ty).unwrap_or_default();
                Expression::new(format!("{name}({text})"), Level::Call, Kind::Right, ty)
            }
            Type::Enum(e) => self.element(e, ty),
            Type::Array(..) => match self.place_or_new(ty, Want::Value) {
                Some(e) => e,
                None => suffix("?".into()),
            },
            _ => {
                let name = self.call_name(ty).unwrap_or_default();
                Expression::new(format!("{name}()"), Level::Call, Kind::Right, ty)
            }
        }
    }

    fn element(&mut self, e: EnumId, ty: TypeId) -> Expression {
        let i = self.below(self.enums[e.0 as usize].elements.len());
        let name = self.call_name(ty).unwrap_or_default();
        let mut element = self.enums[e.0 as usize].elements[i].0.clone();
        if self.makes_fault(Fault::UnknownElement, Rule::WslTDotEnum) {
            element = "Nowhere".into();
        }
        let text = format!("{name}.{element}");
        Expression::new(text, Level::Suffix, Kind::Right, ty)
    }

    fn condition(&mut self, depth: usize) -> Option<Expression> {
        self.value(TypeId::BOOL, depth)
    }

    fn composed(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        match self.below(20) {
            0..=4 => self.place(ty, Want::Value),
            5 => self.ternary(ty, depth),
            6 => {
                let first = self.statement_type();
                let (a, b) = (self.value(first, depth)?, self.value(ty, depth)?);
                let e = Expression::new(format!("{}, {}", a.at(Level::Comma), b.at(Level::Ternary)), Level::Comma, Kind::Right, ty);
                Some(self.in_parens(e))
            }
            7 => self.assignment(ty, depth),
            8 | 9 => self.user_call(ty, depth),
            10..=13 => self.built_in_call(ty, depth),
            14 => self.compound(ty, depth),
            15 => self.step(ty),
            16 if ty == TypeId::BOOL => {
                let (or, sign) = if self.one_in(2) { (true, "||") } else { (false, "&&") };
                let (level, right) = if or { (Level::Or, Level::And) } else { (Level::And, Level::BitOr) };
                let (mut a, b) = (self.condition(depth)?, self.condition(depth)?);
                if self.makes_fault(if or { Fault::OrOperand } else { Fault::AndOperand }, if or { Rule::WslTOr } else { Rule::WslTAnd }) {
                    a = self.basic(TypeId::FLOAT);
                }
                Some(Expression::new(format!("{} {sign} {}", a.at(level), b.at(right)), level, Kind::Right, ty))
            }
            17 => {
                let e = self.value(ty, depth)?;
                Some(self.in_parens(e))
            }
            18 if ty == TypeId::INT => self.ternary_of_literals(depth),
            _ => Some(self.basic(ty)),
        }
    }

    fn ternary(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let (mut c, a) = (self.condition(depth)?, self.value(ty, depth)?);
        // A literal takes the type of the other branch.
        let mut b = if self.one_in(3) { self.expected(ty, depth)? } else { self.value(ty, depth)? };
        let rule = Rule::WslTTernaryNoIntLiterals;
        if self.makes_fault(Fault::TernaryCondition, rule) {
            c = self.basic(TypeId::UINT);
        }
        if self.makes_fault(Fault::TernaryTypes, rule) {
            b = self.value_of_other_type(ty);
        }
        let text = format!("{} ? {} : {}", c.at(Level::Or), a.at(Level::Comma), b.at(Level::Ternary));
        Some(Expression::new(text, Level::Ternary, Kind::Right, ty))
    }

    fn ternary_of_literals(&mut self, depth: usize) -> Option<Expression> {
        let mut c = self.condition(depth)?;
        let (a, mut b) = (self.integer(-99, i64::from(i32::MAX)).0, self.integer(i64::from(i32::MIN), 99).0);
        if self.makes_fault(Fault::TernaryLiterals, Rule::WslTTernaryIntLiterals) {
            b = "4294967295".into();
        }
        if self.makes_fault(Fault::TernaryLiteralsCondition, Rule::WslTTernaryIntLiterals) {
            c = self.basic(TypeId::FLOAT);
        }
        let (a, b) = (self.literal_expression(a, TypeId::INT), self.literal_expression(b, TypeId::INT));
        let text = format!("{} ? {} : {}", c.at(Level::Or), a.at(Level::Comma), b.at(Level::Ternary));
        Some(Expression::new(text, Level::Ternary, Kind::Right, TypeId::INT))
    }

    pub(super) fn assignment(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let rule = Rule::WslTAssignment;
        if self.makes_fault(Fault::AssignReference, rule) {
            let pointer = self.pointer(AddressSpace::Thread, TypeId::INT);
            let (a, b) = (self.place_or_new(pointer, Want::Assignable)?, self.value(pointer, 0)?);
            return Some(Expression::effect(format!("{} = {}", a.at(Level::Prefix), b.at(Level::Ternary)), Level::Ternary, ty));
        }
        let mut to = self.place_or_new(ty, Want::Assignable)?;
        let mut e = self.expected(ty, depth)?;
        if self.makes_fault(Fault::AssignType, rule) {
            e = self.value_of_other_type(ty);
        }
        if self.makes_fault(Fault::AssignValue, rule) {
            to = self.right_value(ty);
        }
        if self.fault == Some(Fault::AssignConstant)
            && let Some(constant) = self.place(ty, Want::Address(AddressSpace::Constant))
            && self.makes_fault(Fault::AssignConstant, rule)
        {
            to = constant;
        }
        Some(Expression::effect(format!("{} = {}", to.at(Level::Prefix), e.at(Level::Ternary)), Level::Ternary, ty))
    }

    /// An expression of the type that cannot be assigned to.
    fn right_value(&mut self, ty: TypeId) -> Expression {
        match self.ty(ty) {
            Type::Array(..) => {
                let e = self.basic(ty);
                let a = e.at(Level::Comma);
                Expression::new(format!("(true, {a})"), Level::Suffix, Kind::Right, ty)
            }
            _ => {
                let name = self.identifier(ty).unwrap_or_default();
                Expression::new(format!("{name}()"), Level::Call, Kind::Right, ty)
            }
        }
    }

    /// An expression of another type, which no literal takes instead.
    pub(super) fn value_of_other_type(&mut self, ty: TypeId) -> Expression {
        let other_type = if ty == TypeId::BOOL { TypeId::FLOAT } else { TypeId::BOOL };
        self.basic(other_type)
    }

    pub(super) fn compound(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let operators = self.compounds(ty);
        if operators.is_empty() {
            return None;
        }
        let (sign, second) = self.pick(&operators);
        let to = self.place_or_new(ty, Want::Assignable)?;
        let mut e = self.value(second, depth)?;
        let rule = Rule::WslTOperatorPlusEqual;
        if self.makes_fault(Fault::CompoundType, rule) {
            // No operator takes a sampler or an array on its right side.
            let array = self.array(TypeId::BOOL, 3);
            e = self.basic(array);
        }
        if self.fault == Some(Fault::CompoundTarget) && self.makes_fault(Fault::CompoundTarget, rule) {
            let to = self.right_value(ty);
            return Some(Expression::effect(format!("{} {sign}= {}", to.at(Level::Prefix), e.at(Level::Ternary)), Level::Ternary, ty));
        }
        Some(Expression::effect(format!("{} {sign}= {}", to.at(Level::Prefix), e.at(Level::Ternary)), Level::Ternary, ty))
    }

    /// The signs of operators that step a value of the type.
    fn steps_of(&self, ty: TypeId) -> Vec<&'static str> {
        let has_operator = |sign: &str| {
            let name = format!("operator{sign}");
            self.functions.iter().any(|f| f.has_body && f.name == name && f.parameters[0] == ty && self.flavour.calls(f.flavour))
        };
        ["++", "--"].into_iter().filter(|sign| matches!(ty, TypeId::INT | TypeId::UINT) || has_operator(sign)).collect()
    }

    pub(super) fn step(&mut self, ty: TypeId) -> Option<Expression> {
        let postfix = self.one_in(2);
        let rule = if postfix { Rule::WslTPostfixIncr } else { Rule::WslTPrefixIncr };
        let signs = self.steps_of(ty);
        if signs.is_empty() {
            return None;
        }
        let sign = self.pick(&signs);
        let mut e = self.place_or_new(ty, Want::Assignable)?;
        if self.makes_fault(if postfix { Fault::PostfixType } else { Fault::PrefixType }, rule) {
            e = self.place_or_new(TypeId::BOOL, Want::Assignable)?;
        }
        if self.makes_fault(if postfix { Fault::PostfixTarget } else { Fault::PrefixTarget }, rule) {
            e = self.right_value(ty);
        }
        Some(if postfix {
            Expression::effect(format!("{}{sign}", e.at(Level::Suffix)), Level::Suffix, ty)
        } else {
            Expression::effect(format!("{sign}{}", e.at(Level::Prefix)), Level::Prefix, ty)
        })
    }

    /// A call of a function that the program declares and that returns the type.
    pub(super) fn user_call(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        let candidates: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| {
                f.has_body && f.result == ty && self.flavour.calls(f.flavour) && !matches!(f.name.as_str(), "operator++" | "operator--")
            })
            .cloned()
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let f = self.pick(&candidates);
        self.call_of(&f, depth)
    }

    /// A call of the function, with generated arguments.
    pub(super) fn call_of(&mut self, f: &Function, depth: usize) -> Option<Expression> {
        let is_operator = f.name.starts_with("operator") || f.cast;
        let mut argument_kinds = Vec::new();
        let mut texts = Vec::new();
        for p in &f.parameters {
            let literal = match *p {
                TypeId::INT | TypeId::UINT | TypeId::FLOAT if !is_operator && self.one_in(3) => {
                    let low = if *p == TypeId::UINT { 0 } else { -9 };
                    Some(self.integer(low, 50))
                }
                _ => None,
            };
            argument_kinds.push(literal.as_ref().map_or(ArgumentKind::Typed(*p), |(_, v)| ArgumentKind::Integer(*v)));
            texts.push(literal.map(|(text, _)| text));
        }
        let literals = self.resolves_to(f, &argument_kinds);
        let mut arguments = Vec::new();
        for (p, text) in f.parameters.iter().zip(texts) {
            arguments.push(match text {
                Some(text) if literals => self.literal_expression(text, *p),
                _ => self.value(*p, depth)?,
            });
        }
        if !is_operator && self.makes_fault(Fault::ArgumentCount, Rule::WslTCall) {
            let array = self.array(TypeId::BOOL, 2);
            for _ in 0..9 {
                arguments.push(self.basic(array));
            }
        }
        if let Some(i) = f.parameters.iter().position(|_| !is_operator)
            && self.makes_fault(Fault::ArgumentType, Rule::WslTCall)
        {
            let array = self.array(TypeId::BOOL, 7);
            arguments[i] = self.basic(array);
        }
        self.render(if f.cast { "" } else { &f.name }, f.result, arguments)
    }

    /// Whether overload resolution selects the function. It is the only function that fits, or the
    /// only one if literals have type int.
    fn resolves_to(&self, f: &Function, argument_kinds: &[ArgumentKind]) -> bool {
        let overloads: Vec<&Function> =
            self.functions.iter().filter(|g| g.name == f.name && g.cast == f.cast && g.parameters.len() == argument_kinds.len()).collect();
        let fits = |g: &&&Function| g.parameters.iter().zip(argument_kinds).all(|(p, a)| a.fits(*p));
        let takes_int =
            |g: &&&Function| g.parameters.iter().zip(argument_kinds).all(|(p, a)| matches!(a, ArgumentKind::Typed(_)) || *p == TypeId::INT);
        let fitting: Vec<&&Function> = overloads.iter().filter(fits).collect();
        if fitting.len() == 1 {
            return fitting[0].parameters == f.parameters;
        }
        let fitting_as_int: Vec<&&Function> = fitting.into_iter().filter(|g| takes_int(g)).collect();
        fitting_as_int.len() == 1 && fitting_as_int[0].parameters == f.parameters
    }

    /// An expression of a pointer or array reference type.
    pub(super) fn reference(&mut self, ty: TypeId, depth: usize) -> Option<Expression> {
        if !self.one_in(3)
            && let Some(e) = self.place(ty, Want::Value)
        {
            return Some(e);
        }
        if depth > 0
            && self.one_in(4)
            && let Some(e) = self.attempt(|g| g.user_call(ty, depth - 1))
        {
            return Some(e);
        }
        let Some(e) = self.attempt(|g| g.new_reference(ty)) else { return self.place(ty, Want::Value) };
        Some(if self.one_in(10) { self.in_parens(e) } else { e })
    }

    /// An expression `&e` or `@e`.
    fn new_reference(&mut self, ty: TypeId) -> Option<Expression> {
        Some(match self.ty(ty) {
            Type::Pointer(space, to) => {
                if self.makes_fault(Fault::AddressOfValue, Rule::WslTAddressTaking) {
                    let e = self.right_value(TypeId::INT);
                    return Some(Expression::new(format!("&{}", e.at(Level::Prefix)), Level::Prefix, Kind::Right, ty));
                }
                let e = self.place_or_new(to, Want::Address(space))?;
                Expression::new(format!("&{}", e.at(Level::Prefix)), Level::Prefix, Kind::Right, ty)
            }
            Type::ArrayReference(space, element) => {
                if self.makes_fault(Fault::ReferenceOfValue, Rule::WslTTakeRefLval) {
                    let e = self.right_value(TypeId::INT);
                    return Some(Expression::new(format!("@{}", e.at(Level::Prefix)), Level::Prefix, Kind::Right, ty));
                }
                // An array reference to the elements of an array, or to one value that is no array.
                let n = 1 + self.below(4) as u32;
                let array = self.array(element, n);
                let is_single_value = !matches!(self.ty(element), Type::Array(..)) && self.one_in(3);
                let e = self.place_or_new(if is_single_value { element } else { array }, Want::Address(space))?;
                Expression::new(format!("@{}", e.at(Level::Prefix)), Level::Prefix, Kind::Right, ty)
            }
            _ => return None,
        })
    }

    /// An expression with a fault that can stand wherever a value is needed.
    fn broken_value(&mut self, ty: TypeId) -> Option<Expression> {
        let fault = self.fault.filter(|_| self.broken_rule.is_none())?;
        let suffix = |text: String| Some(Expression::new(text, Level::Suffix, Kind::Right, ty));
        match fault {
            Fault::UnknownVariable if self.makes_fault(fault, Rule::WslTVariableName) => suffix("nowhere".into()),
            Fault::UnknownFunction if self.makes_fault(fault, Rule::WslTCall) => suffix("nowhere(1)".into()),
            Fault::AmbiguousLiteral if self.makes_fault(fault, Rule::WslTCall) => suffix("twoways(3)".into()),
            Fault::UnknownField => {
                let e = self.place(ty, Want::Value)?;
                let fits = !matches!(self.ty(ty), Type::Pointer(..)) && self.makes_fault(fault, Rule::WslTDotGetter);
                if fits { suffix(format!("{}.nowhere", e.at(Level::Call))) } else { None }
            }
            Fault::UnknownElements => {
                let e = self.place(TypeId::BOOL, Want::Value)?;
                if self.makes_fault(fault, Rule::WslTIndexGetter) { suffix(format!("{}[0]", e.at(Level::Call))) } else { None }
            }
            Fault::Dereference => {
                let e = self.value_of_scalar()?;
                if self.makes_fault(fault, Rule::WslTPtrDeref) { suffix(format!("(*{})", e.at(Level::Prefix))) } else { None }
            }
            Fault::UnsignedLiteral if self.makes_fault(fault, Rule::WslTLiteralUint) => suffix("4294967296u".into()),
            Fault::TernaryReference => {
                let pointer = self.pointer(AddressSpace::Thread, TypeId::FLOAT);
                let (a, b) = (self.reference(pointer, 0)?, self.reference(pointer, 0)?);
                if self.makes_fault(fault, Rule::WslTTernaryNoIntLiterals) {
                    suffix(format!("(*(true ? {} : {}))", a.at(Level::Comma), b.at(Level::Ternary)))
                } else {
                    None
                }
            }
            Fault::EntryPointCall if self.makes_fault(fault, Rule::WslEpNotCalled) => suffix("(begins(1u), true)".into()),
            _ => None,
        }
    }

    /// Adds the declarations that a fault refers to.
    pub(super) fn faulty_calls(&mut self) {
        self.decls.push(match self.fault.filter(|_| self.broken_rule.is_some()) {
            // Both overloads accept the literal, and none accepts an int.
            Some(Fault::AmbiguousLiteral) => "void twoways(uint a) { }\nvoid twoways(float a) { }".into(),
            Some(Fault::EntryPointCall) => "vertex void begins(uint i : SV_VertexID) { }".into(),
            _ => return,
        });
    }

    fn value_of_scalar(&mut self) -> Option<Expression> {
        let ty = self.scalar();
        Some(self.basic(ty))
    }

    /// A type for the value of an expression statement.
    pub(super) fn statement_type(&mut self) -> TypeId {
        match self.below(4) {
            0 => self.value_type(1),
            1 if !self.functions.is_empty() => {
                let f = self.pick(&self.functions.clone());
                if self.flavour.calls(f.flavour) && !self.is_opaque(f.result) && f.result != TypeId::VOID && !self.is_reference(f.result) {
                    f.result
                } else {
                    TypeId::INT
                }
            }
            _ => self.scalar(),
        }
    }
}
