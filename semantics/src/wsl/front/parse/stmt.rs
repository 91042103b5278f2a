//! Statements: seed 004 "Statements".

use super::{Failed, Height, Parser, Result, expr, ty};
use crate::rule::Rule;
use crate::wsl::syntax::{Case, Declarations, Expr, ExprId, ForInit, Literal, Stmt, StmtId, Variable};
use crate::wsl::token::TokenKind as T;

impl Parser<'_> {
    /// Whether the statement that begins here is a declaration of variables. Its first tokens
    /// decide. Only the tokens of a type are examined, and those are read next.
    fn at_declaration(&self) -> bool {
        match self.peek() {
            T::AddressSpace(_) => return true,
            T::Identifier => {}
            _ => return false,
        }
        let (mut n, mut sizes) = (1, true);
        loop {
            // An expression statement has an effect. So no operator without effects follows a name
            // and its indices, and the name is a type if one of these tokens follows.
            match (self.nth(n), self.nth(n + 1), self.nth(n + 2)) {
                (T::Identifier | T::Reserved, ..) | (T::LeftBracket, T::RightBracket, _) | (T::Star, T::AddressSpace(_), _) => return true,
                (word, T::Equal | T::Comma | T::Semicolon, _) if word.is_keyword() => return true,
                (T::LeftBracket, size, end) => {
                    sizes &= matches!((size, end), (T::IntLiteral | T::UintLiteral, T::RightBracket));
                    let Some(after) = self.after_brackets(n) else { return false };
                    n = after;
                }
                // Products and comparisons have no effect either. But these tokens after `<` cannot
                // belong to type arguments, so the statement is a comparison, which is rejected.
                (T::Star, T::Identifier | T::Star | T::LeftBracket, _) => return sizes,
                (T::Less, _, next) => return sizes && !matches!(next, T::Semicolon | T::LeftParen | T::Plus | T::Minus | T::Slash),
                _ => return false,
            }
        }
    }

    /// The number of tokens before the one after the `]` that closes a `[`. The `[` is the token
    /// after `n` others. `None` if the statement has no such `]`.
    fn after_brackets(&self, mut n: usize) -> Option<usize> {
        let mut open = 0;
        loop {
            match self.nth(n) {
                T::LeftBracket => open += 1,
                T::RightBracket => open -= 1,
                T::Semicolon | T::LeftBrace | T::RightBrace | T::End => return None,
                _ => {}
            }
            n += 1;
            if open == 0 {
                return Some(n);
            }
        }
    }

    /// Reads a statement within another. If it cannot be read, an empty statement takes its place,
    /// and reading goes on after it.
    fn statement(&mut self) -> Result<StmtId> {
        let from = self.at;
        match self.nested(stmt) {
            Ok(stmt) => Ok(stmt),
            Err(Failed) if self.stopped => Err(Failed),
            Err(Failed) => {
                self.recover_statement(from);
                self.push_stmt(Stmt::Empty, self.span(), Height::default())
            }
        }
    }

    /// Reads the body of another statement. A declaration cannot be one (ERRATA WSL-B2).
    fn body(&mut self) -> Result<StmtId> {
        if self.at_declaration() {
            let needs = "declarations of variables stand in blocks; as the body of a statement one needs `{` and `}` around it";
            self.error(Rule::WslGStmt, needs);
        }
        self.statement()
    }

    /// Reads statements and declarations of variables up to a `}`. If `cases`, a `case` or
    /// `default` ends them too.
    fn statements(&mut self, cases: bool) -> Result<(Vec<StmtId>, Height)> {
        let (mut stmts, mut below) = (Vec::new(), Height::default());
        loop {
            match self.peek() {
                T::RightBrace | T::End => break,
                T::Case | T::Default if cases => break,
                _ if self.at_top_level() => break,
                _ => {}
            }
            let stmt = self.statement()?;
            below = below.max(self.stmt_height(stmt));
            stmts.push(stmt);
        }
        Ok((stmts, below))
    }

    /// Takes the `}` that closes `owner`, opened at `open`.
    fn close_brace(&mut self, rule: Rule, open: crate::text::Span, owner: &str) -> Result<()> {
        if self.eat(T::RightBrace) {
            return Ok(());
        }
        self.missing_braces += 1;
        let count = self.errors.len();
        let failed = self.error(rule, &format!("{owner} needs `}}` here"));
        if self.errors.len() > count
            && let Some(error) = self.errors.last_mut()
        {
            error.notes.push((Some(open), "it is opened here".into()));
        }
        Err(failed)
    }

    /// Reads `"(" expr ")"` of a statement. If it cannot be read but has its `)`, the condition is
    /// `true`, and reading goes on with the statement.
    fn condition(&mut self, rule: Rule, owner: &str) -> Result<ExprId> {
        let from = self.at;
        let read = self.parenthesised(rule, owner);
        if read.is_err() {
            self.recover_parenthesis(from, true)?;
            return self.push_expr(Expr::Literal(Literal::Bool(true)), self.span(), Height::default());
        }
        read
    }

    fn parenthesised(&mut self, rule: Rule, owner: &str) -> Result<ExprId> {
        self.expect(rule, T::LeftParen, owner)?;
        let condition = self.nested(expr::expr)?;
        self.expect(rule, T::RightParen, owner)?;
        Ok(condition)
    }
}

/// ```text
/// stmt ::= "{" (stmt | variableDecls ";")* "}" | compoundStmt | terminatorStmt ";" |
///     maybeEffectfulExpr ";"
///                                                                                     [wsl/g-stmt]
/// ```
fn stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    p.fire(Rule::WslGStmt);
    let start = p.start();
    match p.peek() {
        T::LeftBrace => block(p),
        T::If | T::While | T::Do | T::For | T::Switch => compound_stmt(p),
        T::Break | T::Continue | T::Discard | T::Fallthrough | T::Return => {
            let (stmt, below) = terminator_stmt(p)?;
            p.expect(Rule::WslGStmt, T::Semicolon, "a statement")?;
            p.push_stmt(stmt, p.since(start), below)
        }
        T::Else => Err(p.error(Rule::WslGStmt, "no `if` is open before this `else`")),
        T::Case | T::Default => Err(p.error(Rule::WslGStmt, "a case stands directly in the `{` and `}` of a `switch`")),
        _ if p.at_declaration() => {
            let (declarations, below) = variable_decls(p)?;
            p.expect(Rule::WslGStmt, T::Semicolon, "a declaration")?;
            p.push_stmt(Stmt::Declarations(declarations), p.since(start), below)
        }
        _ => {
            let effect = expr::maybe_effectful_expr(p, T::Semicolon)?;
            p.expect(Rule::WslGStmt, T::Semicolon, "a statement")?;
            match effect {
                Some(e) => p.push_stmt(Stmt::Expr(e), p.since(start), p.height(e)),
                None => p.push_stmt(Stmt::Empty, p.since(start), Height::default()),
            }
        }
    }
}

/// The first alternative of [`stmt`], and the body of a function.
pub(super) fn block(p: &mut Parser<'_>) -> Result<StmtId> {
    let open = p.expect(Rule::WslGStmt, T::LeftBrace, "a block")?;
    let (stmts, below) = p.statements(false)?;
    p.close_brace(Rule::WslGStmt, open, "a block")?;
    p.push_stmt(Stmt::Block(stmts), p.since(open.start), below)
}

/// ```text
/// compoundStmt ::= ifStmt | ifElseStmt | whileStmt | doWhileStmt | forStmt | switchStmt
///                                                                            [wsl/g-compound-stmt]
/// ```
fn compound_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    p.fire(Rule::WslGCompoundStmt);
    match p.peek() {
        T::If => if_stmt(p),
        T::While => while_stmt(p),
        T::Do => do_while_stmt(p),
        T::For => for_stmt(p),
        _ => switch_stmt(p),
    }
}

/// ```text
/// terminatorStmt ::= "break" | "continue" | "discard" | "fallthrough" | "return" expr?
///                                                                          [wsl/g-terminator-stmt]
/// ```
fn terminator_stmt(p: &mut Parser<'_>) -> Result<(Stmt, Height)> {
    p.fire(Rule::WslGTerminatorStmt);
    let kind = p.peek();
    p.bump();
    Ok(match kind {
        T::Break => (Stmt::Break, Height::default()),
        T::Continue => (Stmt::Continue, Height::default()),
        T::Discard => (Stmt::Discard, Height::default()),
        T::Fallthrough => (Stmt::Fallthrough, Height::default()),
        _ if p.peek() == T::Semicolon => (Stmt::Return(None), Height::default()),
        _ => {
            let value = p.nested(expr::expr)?;
            (Stmt::Return(Some(value)), p.height(value))
        }
    })
}

/// Reads both statements that begin with `if`. The token after the first branch decides which one
/// it is.
///
/// ```text
/// ifStmt ::= "if" "(" expr ")" stmt        [wsl/g-if-stmt]
/// ```
fn if_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    let start = p.bump().start;
    let condition = p.condition(Rule::WslGIfStmt, "`if`")?;
    let then = p.body()?;
    let below = p.height(condition).max(p.stmt_height(then));
    if p.peek() == T::Else {
        return if_else_stmt(p, start, condition, then, below);
    }
    p.fire(Rule::WslGIfStmt);
    p.push_stmt(Stmt::If(condition, then, None), p.since(start), below)
}

/// ```text
/// ifElseStmt ::= "if" "(" expr ")" stmt "else" stmt
///                                 [wsl/g-if-else-stmt; WSL-B14: an else belongs to the nearest if]
/// ```
fn if_else_stmt(p: &mut Parser<'_>, start: u32, condition: ExprId, then: StmtId, below: Height) -> Result<StmtId> {
    p.fire(Rule::WslGIfElseStmt);
    p.bump();
    let other = p.body()?;
    let below = below.max(p.stmt_height(other));
    p.push_stmt(Stmt::If(condition, then, Some(other)), p.since(start), below)
}

/// ```text
/// whileStmt ::= "while" "(" expr ")" stmt        [wsl/g-while-stmt]
/// ```
fn while_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    p.fire(Rule::WslGWhileStmt);
    let start = p.bump().start;
    let condition = p.condition(Rule::WslGWhileStmt, "`while`")?;
    let body = p.body()?;
    p.push_stmt(Stmt::While(condition, body), p.since(start), p.height(condition).max(p.stmt_height(body)))
}

/// ```text
/// doWhileStmt ::= "do" stmt "while" "(" expr ")" ";"        [wsl/g-do-while-stmt]
/// ```
fn do_while_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    p.fire(Rule::WslGDoWhileStmt);
    let start = p.bump().start;
    let body = p.body()?;
    p.expect(Rule::WslGDoWhileStmt, T::While, "`do`")?;
    let condition = p.condition(Rule::WslGDoWhileStmt, "`while`")?;
    p.expect(Rule::WslGDoWhileStmt, T::Semicolon, "`do`")?;
    p.push_stmt(Stmt::DoWhile(body, condition), p.since(start), p.height(condition).max(p.stmt_height(body)))
}

/// ```text
/// forStmt ::= "for" "(" (maybeEffectfulExpr | variableDecls) ";" expr? ";" expr? ")" stmt
///                                                                                 [wsl/g-for-stmt]
/// ```
fn for_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    p.fire(Rule::WslGForStmt);
    let start = p.bump().start;
    let from = p.at;
    let (init, condition, iteration, below) = match for_head(p) {
        Ok(head) => head,
        Err(Failed) => {
            p.recover_parenthesis(from, false)?;
            (ForInit::Empty, None, None, Height::default())
        }
    };
    let body = p.body()?;
    p.push_stmt(Stmt::For(init, condition, iteration, body), p.since(start), below.max(p.stmt_height(body)))
}

/// The parentheses of a `for` and the parts between them.
fn for_head(p: &mut Parser<'_>) -> Result<(ForInit, Option<ExprId>, Option<ExprId>, Height)> {
    let rule = Rule::WslGForStmt;
    p.expect(rule, T::LeftParen, "`for`")?;
    let (init, mut below) = if p.at_declaration() {
        let (declarations, below) = p.nested(variable_decls)?;
        (ForInit::Declarations(declarations), below)
    } else {
        match p.nested(|p| expr::maybe_effectful_expr(p, T::Semicolon))? {
            Some(e) => (ForInit::Expr(e), p.height(e)),
            None => (ForInit::Empty, Height::default()),
        }
    };
    p.expect(rule, T::Semicolon, "`for`")?;
    let mut part = |p: &mut Parser<'_>, end| -> Result<Option<ExprId>> {
        let part = if p.peek() == end { None } else { Some(p.nested(expr::expr)?) };
        below = below.max(part.map_or(Height::default(), |e| p.height(e)));
        p.expect(rule, end, "`for`")?;
        Ok(part)
    };
    let condition = part(p, T::Semicolon)?;
    let iteration = part(p, T::RightParen)?;
    Ok((init, condition, iteration, below))
}

/// ```text
/// switchStmt ::= "switch" "(" expr ")" "{" switchCase* "}"        [wsl/g-switch-stmt]
/// ```
fn switch_stmt(p: &mut Parser<'_>) -> Result<StmtId> {
    let rule = Rule::WslGSwitchStmt;
    p.fire(rule);
    let start = p.bump().start;
    let condition = p.condition(rule, "`switch`")?;
    let open = p.expect(rule, T::LeftBrace, "`switch`")?;
    let (mut cases, mut below) = (Vec::new(), p.height(condition));
    while !matches!(p.peek(), T::RightBrace | T::End) && !p.at_top_level() {
        if !matches!(p.peek(), T::Case | T::Default) {
            let from = p.at;
            p.error(rule, "in a `switch` every statement stands behind a `case` or `default`");
            p.recover_statement(from);
            continue;
        }
        let (case, height) = switch_case(p)?;
        below = below.max(height);
        cases.push(case);
    }
    p.close_brace(rule, open, "a `switch`")?;
    p.push_stmt(Stmt::Switch(condition, cases), p.since(start), below)
}

/// ```text
/// switchCase ::= ("case" constexpr | "default") ":" (stmt | variableDecls ";")*
///                                                                      [wsl/g-switch-case; WSL-B2]
/// ```
fn switch_case(p: &mut Parser<'_>) -> Result<(Case, Height)> {
    p.fire(Rule::WslGSwitchCase);
    let start = p.start();
    let label = case_label(p);
    if label.is_err() && !p.stopped {
        // The statements after a label are read even if the label could not be.
        while !matches!(p.peek(), T::Colon | T::Semicolon | T::LeftBrace | T::RightBrace | T::Case | T::Default | T::End)
            && !p.at_top_level()
        {
            p.bump();
        }
        p.eat(T::Colon);
    }
    let (value, height) = label.unwrap_or((None, Height::default()));
    let (body, below) = p.statements(true)?;
    Ok((Case { value, span: p.since(start), body }, below.max(height)))
}

/// A case up to its `:`.
fn case_label(p: &mut Parser<'_>) -> Result<(Option<ExprId>, Height)> {
    let value = if p.eat(T::Case) {
        Some(expr::constexpr(p)?)
    } else {
        p.bump();
        None
    };
    p.expect(Rule::WslGSwitchCase, T::Colon, "a case")?;
    Ok((value, value.map_or(Height::default(), |e| p.height(e))))
}

/// ```text
/// variableDecls ::= (type | addressSpace Identifier typeArguments ("[" IntLiteral "]")*)
///     variableDecl ("," variableDecl)*
///                     [wsl/g-variable-decls; WSL-B8: the letter has no address space of variables]
/// ```
fn variable_decls(p: &mut Parser<'_>) -> Result<(Declarations, Height)> {
    p.fire(Rule::WslGVariableDecls);
    let (space, ty) = ty::variables_type(p)?;
    let (mut variables, mut below) = (Vec::new(), p.type_height(ty));
    loop {
        let variable = variable_decl(p)?;
        below = below.max(variable.initializer.map_or(Height::default(), |e| p.height(e)));
        variables.push(variable);
        if !p.eat(T::Comma) {
            return Ok((Declarations { space, ty, variables }, below));
        }
    }
}

/// ```text
/// variableDecl ::= Identifier ("=" ternaryConditional)?        [wsl/g-variable-decl]
/// ```
fn variable_decl(p: &mut Parser<'_>) -> Result<Variable> {
    p.fire(Rule::WslGVariableDecl);
    let name = p.identifier(Rule::WslGVariableDecl, "a declaration", "the name of a variable")?;
    let initializer = if p.eat(T::Equal) { Some(p.nested(expr::ternary_conditional)?) } else { None };
    Ok(Variable { name, initializer })
}
