//! WSL parsing: seed 004 "Parsing", by recursive descent. Each production has a function.
//!
//! The function of a production is in `decl`, `stmt`, `ty` or `expr`, under the production's name.
//! Its comment draws the production as it is read here, with the erratum where that differs from
//! the letter of the seed. Parsing takes linear time: the first tokens of a statement decide
//! whether it is a declaration, and nothing is read twice. After an error, reading goes on after
//! the next `;` or `}`, or before the next top-level declaration.

mod decl;
mod expr;
mod literal;
mod recover;
mod stmt;
mod ty;

use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::wsl::error::{Error, MAX_ERRORS, limited};
use crate::wsl::lex;
use crate::wsl::syntax::{BinaryOp, Expr, ExprId, Ident, MAX_HEIGHT, MAX_NESTING, Stmt, StmtId, Tree, TypeArgument, TypeExpr, TypeExprId};
use crate::wsl::token::{Token, TokenKind};

/// Reads a program. Without errors, the text is a program of the language. Otherwise the tree lacks
/// the parts that could not be read.
pub fn parse(text: &str) -> (Tree, Vec<Error>) {
    let parser = Parser::read(text);
    (parser.tree, limited(parser.errors))
}

/// Reads a program. Also returns the rules of "Lexical analysis" and "Parsing" that it used.
pub fn parse_with_rules(text: &str) -> (Tree, Vec<Error>, Vec<Rule>) {
    let parser = Parser::read(text);
    let mut rules = lex::rules(text, &parser.tokens);
    rules.extend(Rule::ALL.iter().copied().filter(|&rule| parser.fired[rule as usize]));
    (parser.tree, limited(parser.errors), rules)
}

/// Something could not be read. The error is in the list.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Result<T> = std::result::Result<T, Failed>;

/// The height of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Height {
    /// The levels of nesting. A chain of operators, such as `a + b + c`, is one level.
    levels: u32,
    /// The number of nodes on the longest path from the top down.
    nodes: u32,
}

impl Height {
    const ONE: Height = Height { levels: 1, nodes: 1 };

    fn max(self, other: Height) -> Height {
        Height { levels: self.levels.max(other.levels), nodes: self.nodes.max(other.nodes) }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The tokens, of which the last is [`TokenKind::End`].
    tokens: Vec<Token>,
    /// The index of the next token.
    at: usize,
    /// Where the last token that was taken ends.
    end: u32,
    tree: Tree,
    /// The height of each expression, statement and type.
    expr_heights: Vec<Height>,
    stmt_heights: Vec<Height>,
    type_heights: Vec<Height>,
    /// The number of nodes around the current place that have begun and not ended.
    depth: u32,
    errors: Vec<Error>,
    /// The index of the token of the last error. Each token has at most one error.
    last_error: usize,
    /// The number of `}` that were reported as missing. They may still come.
    missing_braces: usize,
    /// Whether reading has stopped. Nothing more is read or reported.
    stopped: bool,
    /// By rule: whether it was used.
    fired: [bool; Rule::ALL.len()],
}

impl<'a> Parser<'a> {
    fn read(text: &'a str) -> Parser<'a> {
        let mut lexer = lex::Lexer::new(text);
        lexer.tokens();
        let (tokens, errors) = (lexer.tokens, lexer.errors);
        let mut tree = Tree::default();
        tree.exprs.reserve(tokens.len() / 2);
        tree.stmts.reserve(tokens.len() / 8);
        let mut parser = Parser {
            text,
            tokens,
            at: 0,
            end: 0,
            tree,
            expr_heights: Vec::new(),
            stmt_heights: Vec::new(),
            type_heights: Vec::new(),
            depth: 0,
            errors,
            last_error: usize::MAX,
            missing_braces: 0,
            stopped: false,
            fired: [false; Rule::ALL.len()],
        };
        parser.program();
        if !parser.stopped {
            parser.fire(Rule::WslGNesting);
        }
        parser
    }

    /// The kind of the next token.
    #[inline]
    fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token that is `n` tokens after the next one.
    #[inline]
    fn nth(&self, n: usize) -> TokenKind {
        self.tokens.get(self.at + n).map_or(TokenKind::End, |t| t.kind)
    }

    /// Where the next token stands.
    #[inline]
    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Where the next token begins.
    #[inline]
    fn start(&self) -> u32 {
        self.span().start
    }

    /// Takes the next token. The end of the text stays.
    #[inline]
    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
            self.end = span.end;
        }
        span
    }

    /// Takes the next token if it is of that kind.
    #[inline]
    fn eat(&mut self, kind: TokenKind) -> bool {
        let matches = self.peek() == kind;
        if matches {
            self.bump();
        }
        matches
    }

    /// The place from `start` to the end of the last token that was taken.
    #[inline]
    fn since(&self, start: u32) -> Span {
        Span { start, end: self.end.max(start) }
    }

    /// Records that an alternative of a production was taken.
    #[inline]
    fn fire(&mut self, rule: Rule) {
        self.fired[rule as usize] = true;
    }

    /// The next token, as messages name it.
    fn found(&self) -> String {
        let Token { kind, span } = self.tokens[self.at];
        let mut word = self.text[span.start as usize..span.end as usize].chars();
        let mut shown: String = word.by_ref().take(40).collect();
        if word.next().is_some() {
            shown.push('…');
        }
        match kind {
            TokenKind::End => "the end of the text".into(),
            TokenKind::Reserved => format!("`{shown}`, which is reserved"),
            kind if kind.is_keyword() => format!("the keyword `{shown}`"),
            _ => format!("`{shown}`"),
        }
    }

    /// A hint for a message if the next token stands directly after a number.
    fn hint(&self) -> &'static str {
        let number = |t: &Token| matches!(t.kind, TokenKind::IntLiteral | TokenKind::UintLiteral | TokenKind::FloatLiteral);
        let before = self.at.checked_sub(1).map(|at| self.tokens[at]).filter(|t| number(t) && t.span.end == self.span().start);
        match before {
            Some(_) if self.peek() == TokenKind::Identifier => {
                "; a number has no exponent, and its only suffixes are u behind an integer and f behind digits with a point"
            }
            Some(_) if number(&self.tokens[self.at]) => "; a number of several digits does not begin with 0",
            _ => "",
        }
    }

    /// Reports an error at the next token: what was found, then what is needed.
    #[cold]
    fn error(&mut self, rule: Rule, needs: &str) -> Failed {
        // Characters that begin no token have been reported. So has a comment that runs to the end
        // of the text.
        let reported = match self.peek() {
            TokenKind::Unknown => true,
            TokenKind::End => self.errors.iter().any(|e| e.rule == Rule::WslLexBlockComment),
            _ => false,
        };
        if !reported {
            let message = format!("found {}; {needs}{}", self.found(), self.hint());
            return self.error_at(rule, self.span(), message);
        }
        Failed
    }

    /// Reports an error, unless one has been reported at the same token.
    #[cold]
    fn error_at(&mut self, rule: Rule, span: Span, message: String) -> Failed {
        if self.stopped || self.last_error == self.at {
            return Failed;
        }
        self.last_error = self.at;
        self.errors.push(Error::new(rule, span, message));
        // Keeps one error more than is reported, so that `limited` notices that there are more.
        if self.errors.len() > MAX_ERRORS {
            self.stop();
        }
        Failed
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    /// Takes a token of that kind, or reports that `owner` needs it here.
    #[inline]
    fn expect(&mut self, rule: Rule, kind: TokenKind, owner: &str) -> Result<Span> {
        if self.peek() == kind { Ok(self.bump()) } else { Err(self.missing(rule, kind, owner)) }
    }

    #[cold]
    fn missing(&mut self, rule: Rule, kind: TokenKind, owner: &str) -> Failed {
        let is_step = matches!(self.peek(), TokenKind::PlusPlus | TokenKind::MinusMinus);
        let hint = if is_step { "; a call that is stepped stands in parentheses" } else { "" };
        self.error(rule, &format!("{owner} needs `{}` here{hint}", kind.text().unwrap_or("a token")))
    }

    /// Takes an identifier, or reports that `owner` needs `what`.
    #[inline]
    fn identifier(&mut self, rule: Rule, owner: &str, what: &str) -> Result<Ident> {
        if self.peek() == TokenKind::Identifier { Ok(self.ident()) } else { Err(self.error(rule, &format!("{owner} needs {what} here"))) }
    }

    /// Takes the next token as a name.
    #[inline]
    fn ident(&mut self) -> Ident {
        let span = self.bump();
        let name = self.tree.names.intern(&self.text[span.start as usize..span.end as usize]);
        Ident { name, span }
    }

    /// Reads a part of a node that has begun and not ended.
    #[inline]
    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        nesting(self, Height { levels: self.depth, nodes: 0 })?;
        self.depth += 1;
        let read = deep(|| read(self));
        self.depth -= 1;
        read
    }

    fn height(&self, e: ExprId) -> Height {
        self.expr_heights[e.0 as usize]
    }

    fn stmt_height(&self, s: StmtId) -> Height {
        self.stmt_heights[s.0 as usize]
    }

    fn type_height(&self, t: TypeExprId) -> Height {
        self.type_heights[t.0 as usize]
    }

    /// Adds an expression whose highest child has the height `below`.
    #[inline]
    fn push_expr(&mut self, expr: Expr, span: Span, below: Height) -> Result<ExprId> {
        let height = nesting(self, below)?;
        self.expr_heights.push(height);
        Ok(self.tree.push_expr(expr, span))
    }

    /// Adds `left operator right`. If `left` is a chain of operators too, the result has no more
    /// levels than `left`.
    fn push_chained(&mut self, expr: Expr, left: ExprId, right: ExprId) -> Result<ExprId> {
        let span = self.since(self.tree.expr_span(left).start);
        let mut below = self.height(left);
        if matches!(self.tree.expr(left), Expr::Binary(..) | Expr::Or(..) | Expr::And(..) | Expr::Comma(..)) {
            below.levels -= 1;
        }
        self.push_expr(expr, span, below.max(self.height(right)))
    }

    /// Adds `left sign right`, with the place of the sign.
    fn push_binary(&mut self, op: BinaryOp, sign: Span, left: ExprId, right: ExprId) -> Result<ExprId> {
        let id = self.push_chained(Expr::Binary(op, left, right), left, right)?;
        self.tree.signs.push((id, sign));
        Ok(id)
    }

    /// Adds a statement whose highest child has the height `below`.
    fn push_stmt(&mut self, stmt: Stmt, span: Span, below: Height) -> Result<StmtId> {
        let height = nesting(self, below)?;
        self.stmt_heights.push(height);
        Ok(self.tree.push_stmt(stmt, span))
    }

    /// Adds a type.
    fn push_type(&mut self, ty: TypeExpr, span: Span) -> Result<TypeExprId> {
        let arguments = ty.arguments.as_deref().unwrap_or_default().iter();
        let below = arguments.map(|a| match *a {
            TypeArgument::Constant(e) => self.height(e),
            TypeArgument::Type(t) => self.type_height(t),
        });
        let height = nesting(self, below.fold(Height::default(), Height::max))?;
        self.type_heights.push(height);
        Ok(self.tree.push_type(ty, span))
    }
}

/// The height of a node whose highest child has the height `below`. If it is too high,
/// reading stops.
///
/// ```text
/// no tree has more than 10000 levels of expressions, statements and types, where a chain of
///     operators is one, or more than 262144 nodes
/// from the top to the bottom        [wsl/g-nesting]
/// ```
#[inline]
fn nesting(parser: &mut Parser<'_>, below: Height) -> Result<Height> {
    if below.levels < MAX_NESTING && below.nodes < MAX_HEIGHT {
        return Ok(Height { levels: below.levels + 1, nodes: below.nodes + 1 });
    }
    let message = match below.levels < MAX_NESTING {
        true => format!(
            "more than {MAX_HEIGHT} operators stand in one another before this, as in a + b + c, which is (a + b) + c; variables for the parts make it shorter"
        ),
        false => format!(
            "the program is nested more than {MAX_NESTING} deep here; at most that many expressions, statements and types stand in one another"
        ),
    };
    parser.error_at(Rule::WslGNesting, parser.span(), message);
    parser.stop();
    Err(Failed)
}
