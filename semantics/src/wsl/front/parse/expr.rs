//! Expressions: seed 004 "Expressions". Chains of binary operators are read by loops, so they use
//! no stack.

use super::{Height, Parser, Result, literal};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::syntax::{BinaryOp, Expr, ExprId, Fix, Literal, Step, UnaryOp};
use crate::wsl::token::TokenKind as T;

/// ```text
/// expr ::= (expr ",")? ternaryConditional        [wsl/g-expr]
/// ```
pub(super) fn expr(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = ternary_conditional(p)?;
    while p.eat(T::Comma) {
        p.fire(Rule::WslGExpr);
        let right = ternary_conditional(p)?;
        left = comma(p, left, right)?;
    }
    Ok(left)
}

/// `left, right`
fn comma(p: &mut Parser<'_>, left: ExprId, right: ExprId) -> Result<ExprId> {
    p.push_chained(Expr::Comma(left, right), left, right)
}

/// ```text
/// ternaryConditional ::= exprLogicalOr "?" expr ":" ternaryConditional
///                      | exprPrefix assignOperator ternaryConditional
///                      | exprLogicalOr        [wsl/g-ternary-conditional]
/// ```
pub(super) fn ternary_conditional(p: &mut Parser<'_>) -> Result<ExprId> {
    let left = expr_logical_or(p)?;
    if p.eat(T::Question) {
        p.fire(Rule::WslGTernaryConditional);
        let then = p.nested(expr)?;
        p.expect(Rule::WslGTernaryConditional, T::Colon, "`?`")?;
        let other = p.nested(ternary_conditional)?;
        let below = p.height(left).max(p.height(then)).max(p.height(other));
        let span = p.since(p.tree.expr_span(left).start);
        return p.push_expr(Expr::Ternary(left, then, other), span, below);
    }
    let Some(op) = assign_operator(p.peek()) else { return Ok(left) };
    // exprLogicalOr reads these forms, and exprPrefix does not.
    if matches!(p.tree.expr(left), Expr::Or(..) | Expr::And(..) | Expr::Binary(..)) {
        return Err(p.error(Rule::WslGTernaryConditional, "the left side of an assignment has no binary operator outside of parentheses"));
    }
    p.fire(Rule::WslGTernaryConditional);
    assignment(p, left, op)
}

/// `left assignOperator ternaryConditional`, from the operator on.
fn assignment(p: &mut Parser<'_>, left: ExprId, op: Option<BinaryOp>) -> Result<ExprId> {
    p.fire(Rule::WslGAssignOperator);
    p.bump();
    let right = p.nested(ternary_conditional)?;
    let span = p.since(p.tree.expr_span(left).start);
    p.push_expr(Expr::Assign(op, left, right), span, p.height(left).max(p.height(right)))
}

/// ```text
/// assignOperator ::= "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | ">>=" | "<<="
///                                                                          [wsl/g-assign-operator]
/// ```
fn assign_operator(kind: T) -> Option<Option<BinaryOp>> {
    Some(match kind {
        T::Equal => None,
        T::PlusEqual => Some(BinaryOp::Add),
        T::MinusEqual => Some(BinaryOp::Subtract),
        T::StarEqual => Some(BinaryOp::Multiply),
        T::SlashEqual => Some(BinaryOp::Divide),
        T::PercentEqual => Some(BinaryOp::Remainder),
        T::AmpersandEqual => Some(BinaryOp::And),
        T::PipeEqual => Some(BinaryOp::Or),
        T::CaretEqual => Some(BinaryOp::Xor),
        T::ShiftRightEqual => Some(BinaryOp::ShiftRight),
        T::ShiftLeftEqual => Some(BinaryOp::ShiftLeft),
        _ => return None,
    })
}

/// ```text
/// exprLogicalOr ::= (exprLogicalOr "||")? exprLogicalAnd        [wsl/g-expr-logical-or]
/// ```
fn expr_logical_or(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_logical_and(p)?;
    while p.eat(T::PipePipe) {
        p.fire(Rule::WslGExprLogicalOr);
        let right = expr_logical_and(p)?;
        left = p.push_chained(Expr::Or(left, right), left, right)?;
    }
    Ok(left)
}

/// ```text
/// exprLogicalAnd ::= (exprLogicalAnd "&&")? exprBitwiseOr        [wsl/g-expr-logical-and]
/// ```
fn expr_logical_and(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_bitwise_or(p)?;
    while p.eat(T::AmpersandAmpersand) {
        p.fire(Rule::WslGExprLogicalAnd);
        let right = expr_bitwise_or(p)?;
        left = p.push_chained(Expr::And(left, right), left, right)?;
    }
    Ok(left)
}

/// ```text
/// exprBitwiseOr ::= (exprBitwiseOr "|")? exprBitwiseXor        [wsl/g-expr-bitwise-or]
/// ```
fn expr_bitwise_or(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_bitwise_xor(p)?;
    while p.peek() == T::Pipe {
        p.fire(Rule::WslGExprBitwiseOr);
        let sign = p.bump();
        let right = expr_bitwise_xor(p)?;
        left = p.push_binary(BinaryOp::Or, sign, left, right)?;
    }
    Ok(left)
}

/// ```text
/// exprBitwiseXor ::= (exprBitwiseXor "^")? exprBitwiseAnd        [wsl/g-expr-bitwise-xor]
/// ```
fn expr_bitwise_xor(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_bitwise_and(p)?;
    while p.peek() == T::Caret {
        p.fire(Rule::WslGExprBitwiseXor);
        let sign = p.bump();
        let right = expr_bitwise_and(p)?;
        left = p.push_binary(BinaryOp::Xor, sign, left, right)?;
    }
    Ok(left)
}

/// ```text
/// exprBitwiseAnd ::= (exprBitwiseAnd "&")? exprRelational        [wsl/g-expr-bitwise-and]
/// ```
fn expr_bitwise_and(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_relational(p)?;
    while p.peek() == T::Ampersand {
        p.fire(Rule::WslGExprBitwiseAnd);
        let sign = p.bump();
        let right = expr_relational(p)?;
        left = p.push_binary(BinaryOp::And, sign, left, right)?;
    }
    Ok(left)
}

/// ```text
/// exprRelational ::= exprShift (relationalBinop exprShift)?        [wsl/g-expr-relational]
/// ```
fn expr_relational(p: &mut Parser<'_>) -> Result<ExprId> {
    let left = expr_shift(p)?;
    let Some(op) = relational_binop(p.peek()) else { return Ok(left) };
    p.fire(Rule::WslGExprRelational);
    p.fire(Rule::WslGRelationalBinop);
    let sign = p.bump();
    let right = expr_shift(p)?;
    if relational_binop(p.peek()).is_some() {
        return Err(p.error(Rule::WslGExprRelational, "relational operators are not chained; one of the relations needs parentheses"));
    }
    p.push_binary(op, sign, left, right)
}

/// ```text
/// relationalBinop ::= "<" | ">" | "<=" | ">=" | "==" | "!="        [wsl/g-relational-binop]
/// ```
fn relational_binop(kind: T) -> Option<BinaryOp> {
    Some(match kind {
        T::Less => BinaryOp::Less,
        T::Greater => BinaryOp::Greater,
        T::LessEqual => BinaryOp::LessEqual,
        T::GreaterEqual => BinaryOp::GreaterEqual,
        T::EqualEqual => BinaryOp::Equal,
        T::NotEqual => BinaryOp::NotEqual,
        _ => return None,
    })
}

/// ```text
/// exprShift ::= (exprShift ("<<" | ">>"))? exprAdd        [wsl/g-expr-shift]
/// ```
fn expr_shift(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_add(p)?;
    loop {
        let op = match p.peek() {
            T::ShiftLeft => BinaryOp::ShiftLeft,
            T::ShiftRight => BinaryOp::ShiftRight,
            _ => return Ok(left),
        };
        p.fire(Rule::WslGExprShift);
        let sign = p.bump();
        let right = expr_add(p)?;
        left = p.push_binary(op, sign, left, right)?;
    }
}

/// ```text
/// exprAdd ::= (exprAdd ("+" | "-"))? exprMult
///                                       [wsl/g-expr-add; WSL-B1: the letter has no binary + and -]
/// ```
fn expr_add(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_mult(p)?;
    loop {
        let op = match p.peek() {
            T::Plus => BinaryOp::Add,
            T::Minus => BinaryOp::Subtract,
            _ => return Ok(left),
        };
        p.fire(Rule::WslGExprAdd);
        let sign = p.bump();
        let right = expr_mult(p)?;
        left = p.push_binary(op, sign, left, right)?;
    }
}

/// ```text
/// exprMult ::= (exprMult ("*" | "/" | "%"))? exprPrefix
///                                     [wsl/g-expr-mult; WSL-B1: the letter has no such production]
/// ```
fn expr_mult(p: &mut Parser<'_>) -> Result<ExprId> {
    let mut left = expr_prefix(p)?;
    loop {
        let op = match p.peek() {
            T::Star => BinaryOp::Multiply,
            T::Slash => BinaryOp::Divide,
            T::Percent => BinaryOp::Remainder,
            _ => return Ok(left),
        };
        p.fire(Rule::WslGExprMult);
        let sign = p.bump();
        let right = expr_prefix(p)?;
        left = p.push_binary(op, sign, left, right)?;
    }
}

/// ```text
/// exprPrefix ::= prefixOp exprPrefix | exprSuffix
///                             [wsl/g-expr-prefix; WSL-A2: a `-` before a literal is the literal's]
/// ```
fn expr_prefix(p: &mut Parser<'_>) -> Result<ExprId> {
    if at_signed_literal(p) {
        return expr_suffix(p);
    }
    let Some(op) = prefix_op(p.peek()) else { return expr_suffix(p) };
    p.fire(Rule::WslGExprPrefix);
    p.fire(Rule::WslGPrefixOp);
    let start = p.bump().start;
    let operand = p.nested(expr_prefix)?;
    p.push_expr(op(operand), p.since(start), p.height(operand))
}

/// ```text
/// prefixOp ::= "++" | "--" | "+" | "-" | "~" | "!" | "*" | "&" | "@"        [wsl/g-prefix-op]
/// ```
fn prefix_op(kind: T) -> Option<fn(ExprId) -> Expr> {
    Some(match kind {
        T::PlusPlus => |e| Expr::Step(Step::Increment, Fix::Prefix, e),
        T::MinusMinus => |e| Expr::Step(Step::Decrement, Fix::Prefix, e),
        T::Plus => |e| Expr::Unary(UnaryOp::Plus, e),
        T::Minus => |e| Expr::Unary(UnaryOp::Minus, e),
        T::Tilde => |e| Expr::Unary(UnaryOp::Complement, e),
        T::Bang => |e| Expr::Unary(UnaryOp::Not, e),
        T::Star => Expr::Dereference,
        T::Ampersand => Expr::AddressOf,
        T::At => Expr::MakeReference,
        _ => return None,
    })
}

/// ```text
/// exprSuffix ::= callExpression limitedSuffixOp*
///              | term (limitedSuffixOp | "++" | "--")*        [wsl/g-expr-suffix; WSL-B15]
/// ```
fn expr_suffix(p: &mut Parser<'_>) -> Result<ExprId> {
    let start = p.start();
    if p.peek() == T::Identifier && p.nth(1) == T::LeftParen {
        let mut base = call_expression(p)?;
        while let Some(suffixed) = limited_suffix_op(p, base)? {
            p.fire(Rule::WslGExprSuffix);
            base = suffixed;
        }
        return Ok(base);
    }
    let mut base = term(p)?;
    loop {
        if let Some(suffixed) = limited_suffix_op(p, base)? {
            base = suffixed;
        } else if let Some(step) = step(p.peek()) {
            p.bump();
            base = p.push_expr(Expr::Step(step, Fix::Postfix, base), p.since(start), p.height(base))?;
        } else {
            return Ok(base);
        }
        p.fire(Rule::WslGExprSuffix);
    }
}

fn step(kind: T) -> Option<Step> {
    match kind {
        T::PlusPlus => Some(Step::Increment),
        T::MinusMinus => Some(Step::Decrement),
        _ => None,
    }
}

/// ```text
/// limitedSuffixOp ::= "." Identifier | "->" Identifier | "[" expr "]"    [wsl/g-limited-suffix-op]
/// ```
fn limited_suffix_op(p: &mut Parser<'_>, base: ExprId) -> Result<Option<ExprId>> {
    let rule = Rule::WslGLimitedSuffixOp;
    let (suffixed, below) = match p.peek() {
        T::Dot => {
            p.bump();
            (Expr::Dot(base, p.identifier(rule, "`.`", "the name of a field")?), Height::default())
        }
        T::Arrow => {
            p.bump();
            (Expr::Arrow(base, p.identifier(rule, "`->`", "the name of a field")?), Height::default())
        }
        T::LeftBracket => {
            p.bump();
            let index = p.nested(expr)?;
            p.expect(rule, T::RightBracket, "an index")?;
            (Expr::Index(base, index), p.height(index))
        }
        _ => return Ok(None),
    };
    p.fire(rule);
    let span = p.since(p.tree.expr_span(base).start);
    p.push_expr(suffixed, span, below.max(p.height(base))).map(Some)
}

/// ```text
/// callExpression ::= Identifier "(" (ternaryConditional ("," ternaryConditional)*)? ")"
///                                                                 [wsl/g-call-expression; WSL-B12]
/// ```
fn call_expression(p: &mut Parser<'_>) -> Result<ExprId> {
    let rule = Rule::WslGCallExpression;
    p.fire(rule);
    let callee = p.ident();
    p.expect(rule, T::LeftParen, "a call")?;
    let (mut arguments, mut below) = (Vec::new(), Height::default());
    if !p.eat(T::RightParen) {
        loop {
            let argument = p.nested(ternary_conditional)?;
            below = below.max(p.height(argument));
            arguments.push(argument);
            if p.eat(T::RightParen) {
                break;
            }
            if !p.eat(T::Comma) {
                return Err(p.error(rule, "a call needs `,` or `)` behind an argument"));
            }
        }
    }
    p.push_expr(Expr::Call(callee, arguments), p.since(callee.span.start), below)
}

/// ```text
/// term ::= Literal | Identifier | "(" expr ")"        [wsl/g-term; WSL-A2]
/// ```
fn term(p: &mut Parser<'_>) -> Result<ExprId> {
    p.fire(Rule::WslGTerm);
    if let Some(literal) = literal(p)? {
        return Ok(literal);
    }
    match p.peek() {
        T::Identifier => {
            let name = p.ident();
            p.push_expr(Expr::Name(name.name), name.span, Height::default())
        }
        T::LeftParen => {
            let open = p.bump();
            let inner = p.nested(expr)?;
            p.expect(Rule::WslGTerm, T::RightParen, "a parenthesis")?;
            p.push_expr(Expr::Parens(inner), p.since(open.start), p.height(inner))
        }
        _ => Err(p.error(Rule::WslGTerm, "an expression needs a literal, a name or `(` here")),
    }
}

/// Whether a literal with a sign comes next. Unsigned literals have no sign (ERRATA WSL-A2).
fn at_signed_literal(p: &Parser<'_>) -> bool {
    p.peek() == T::Minus && matches!(p.nth(1), T::IntLiteral | T::FloatLiteral)
}

/// A literal, if one comes next: `true`, `false`, or a number with the `-` before it.
fn literal(p: &mut Parser<'_>) -> Result<Option<ExprId>> {
    let start = p.start();
    let negative = at_signed_literal(p);
    if negative {
        p.bump();
    }
    let Span { start: from, end } = p.span();
    let text = &p.text[from as usize..end as usize];
    let literal = match p.peek() {
        T::True => Literal::Bool(true),
        T::False => Literal::Bool(false),
        T::IntLiteral | T::UintLiteral => Literal::Int(literal::integer(text, negative)),
        T::FloatLiteral => Literal::Float(literal::float(text, negative)),
        _ => return Ok(None),
    };
    p.bump();
    p.push_expr(Expr::Literal(literal), Span { start, end }, Height::default()).map(Some)
}

/// Reads an expression that ends before the token `end`, in a place where a declaration could
/// stand too.
///
/// ```text
/// maybeEffectfulExpr ::= (effAssignment ("," effAssignment)*)?        [wsl/g-maybe-effectful-expr]
/// ```
pub(super) fn maybe_effectful_expr(p: &mut Parser<'_>, end: T) -> Result<Option<ExprId>> {
    p.fire(Rule::WslGMaybeEffectfulExpr);
    if p.peek() == end {
        return Ok(None);
    }
    let mut left = eff_assignment(p)?;
    while p.eat(T::Comma) {
        let right = eff_assignment(p)?;
        left = comma(p, left, right)?;
    }
    Ok(Some(left))
}

/// ```text
/// effAssignment ::= exprPrefix assignOperator ternaryConditional | effPrefix
///                        [wsl/g-eff-assignment; WSL-B3: by the letter the right side is an expr]
/// ```
fn eff_assignment(p: &mut Parser<'_>) -> Result<ExprId> {
    let left = expr_prefix(p)?;
    match assign_operator(p.peek()) {
        Some(op) => {
            p.fire(Rule::WslGEffAssignment);
            assignment(p, left, op)
        }
        None => eff_prefix(p, left),
    }
}

/// `read` is an exprPrefix that has been read. Checks that it is an effPrefix.
///
/// ```text
/// effPrefix ::= ("++" | "--") exprPrefix | effSuffix        [wsl/g-eff-prefix]
/// ```
fn eff_prefix(p: &mut Parser<'_>, read: ExprId) -> Result<ExprId> {
    match p.tree.expr(read) {
        Expr::Step(_, Fix::Prefix, _) => {
            p.fire(Rule::WslGEffPrefix);
            Ok(read)
        }
        _ => eff_suffix(p, read),
    }
}

/// `read` is an exprPrefix that has been read. If it is an exprSuffix that ends in `++` or `--`,
/// these have been read with it, but not after a call and its suffixes.
///
/// ```text
/// effSuffix ::= exprSuffix ("++" | "--") | callExpression | "(" expr ")"
///                                                                      [wsl/g-eff-suffix; WSL-B15]
/// ```
fn eff_suffix(p: &mut Parser<'_>, read: ExprId) -> Result<ExprId> {
    let whole = match (p.tree.expr(read), step(p.peek())) {
        (Expr::Step(_, Fix::Postfix, _), _) => read,
        (Expr::Call(..) | Expr::Dot(..) | Expr::Arrow(..) | Expr::Index(..), Some(step)) => {
            p.bump();
            let span = p.since(p.tree.expr_span(read).start);
            p.push_expr(Expr::Step(step, Fix::Postfix, read), span, p.height(read))?
        }
        (Expr::Call(..) | Expr::Parens(_), _) => read,
        _ => {
            let needs = "a statement that is an expression is an assignment, a call, a step by `++` or `--`, or in parentheses";
            return Err(p.error(Rule::WslGEffSuffix, needs));
        }
    };
    p.fire(Rule::WslGEffSuffix);
    Ok(whole)
}

/// ```text
/// constexpr ::= Literal | Identifier "." Identifier        [wsl/g-constexpr]
/// ```
pub(super) fn constexpr(p: &mut Parser<'_>) -> Result<ExprId> {
    let rule = Rule::WslGConstexpr;
    p.fire(rule);
    if let Some(literal) = literal(p)? {
        return Ok(literal);
    }
    if p.peek() != T::Identifier {
        return Err(p.error(rule, "a constant is a literal, or an element of an enum as `E.A`"));
    }
    let base = p.ident();
    p.expect(rule, T::Dot, "an element of an enum")?;
    let element = p.identifier(rule, "an enum", "the name of an element")?;
    let name = p.push_expr(Expr::Name(base.name), base.span, Height::default())?;
    p.push_expr(Expr::Dot(name, element), p.since(base.span.start), Height::ONE)
}
