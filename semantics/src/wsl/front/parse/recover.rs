//! Recovery after an error. Reading goes on after the next `;` or `}`, or before the start of a
//! top-level declaration. It never goes backwards.

use super::{Failed, Parser, Result};
use crate::wsl::token::TokenKind as T;

impl Parser<'_> {
    /// Whether the next tokens begin a top-level declaration and can begin nothing else.
    pub(super) fn at_top_level(&self) -> bool {
        match self.peek() {
            T::Struct | T::Typedef | T::Enum => self.nth(1) == T::Identifier,
            T::Vertex | T::Fragment | T::Operator => matches!(self.nth(1), T::Identifier | T::AddressSpace(_)),
            T::LeftBracket => self.nth(1) == T::Numthreads,
            _ => false,
        }
    }

    /// Goes to the end of a statement that could not be read and that begins at the token `from`.
    /// An `else` after an `if` belongs to it.
    pub(super) fn recover_statement(&mut self, from: usize) {
        if self.at == from && !self.at_top_level() && !matches!(self.peek(), T::RightBrace | T::LeftBrace) {
            self.bump();
        }
        let mut braces = 0;
        loop {
            match self.peek() {
                T::End => return,
                _ if self.at_top_level() => return,
                T::Case | T::Default if braces == 0 => return,
                T::RightBrace if braces == 0 => return,
                T::LeftBrace => braces += 1,
                T::RightBrace => braces -= 1,
                _ => {}
            }
            let ended = matches!(self.peek(), T::Semicolon | T::RightBrace) && braces == 0;
            self.bump();
            if ended && !(self.tokens[from].kind == T::If && self.eat(T::Else)) {
                return;
            }
        }
    }

    /// Goes behind the `)` that closes the first `(` since the token `from`. Fails if the statement
    /// ends before it. A `;` ends it only if `semicolons`.
    pub(super) fn recover_parenthesis(&mut self, from: usize, semicolons: bool) -> Result<()> {
        let mut open = 0usize;
        for token in &self.tokens[from..self.at] {
            match token.kind {
                T::LeftParen | T::LeftBracket => open += 1,
                T::RightParen | T::RightBracket => open = open.saturating_sub(1),
                _ => {}
            }
        }
        // Without a `(`, the parts of a `for` still end in a `)`.
        if open == 0 && !semicolons {
            open = 1;
        }
        while open > 0 {
            match self.peek() {
                T::LeftParen | T::LeftBracket => open += 1,
                T::RightParen | T::RightBracket => open -= 1,
                T::Semicolon if semicolons => return Err(Failed),
                T::LeftBrace | T::RightBrace | T::End => return Err(Failed),
                _ if self.at_top_level() => return Err(Failed),
                _ => {}
            }
            self.bump();
        }
        if self.at == from || self.stopped { Err(Failed) } else { Ok(()) }
    }

    /// Goes behind the `}` of an enum whose elements could not be read.
    pub(super) fn recover_elements(&mut self) {
        while self.peek() != T::End && !self.at_top_level() && !self.bump_is(T::RightBrace) {}
    }

    /// Goes behind the `;` of a field that could not be read, or before the `}` of its struct.
    pub(super) fn recover_field(&mut self) {
        self.skip_item(false);
    }

    /// Goes before the body of a function whose head could not be read and begins at the token
    /// `from`. Fails if it has no body before its `;`.
    pub(super) fn recover_head(&mut self, from: usize) -> Result<()> {
        let opened = |kind| matches!(kind, T::LeftParen | T::LeftBracket);
        let closed = |kind| matches!(kind, T::RightParen | T::RightBracket);
        let count = |accepts: &dyn Fn(T) -> bool| self.tokens[from..self.at].iter().filter(|t| accepts(t.kind)).count();
        let mut open = count(&opened).saturating_sub(count(&closed));
        loop {
            match self.peek() {
                T::LeftBrace => return Ok(()),
                T::RightBrace | T::End => return Err(Failed),
                T::Semicolon if open == 0 => return Err(Failed),
                _ if self.at_top_level() && self.at > from => return Err(Failed),
                kind if opened(kind) => open += 1,
                kind if closed(kind) => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes to the end of a top-level declaration that could not be read and that begins at the
    /// token `from`.
    pub(super) fn recover_declaration(&mut self, from: usize) {
        if self.at == from {
            self.bump();
        }
        self.skip_item(true);
    }

    /// Goes behind the `;` of an item, or before the next declaration. An item that may end with
    /// braces also ends behind them. Any other item ends before a `}` that is not its own.
    fn skip_item(&mut self, ends_with_braces: bool) {
        let mut braces = 0_usize;
        while self.peek() != T::End && !self.at_top_level() {
            let kind = self.peek();
            match kind {
                T::LeftBrace => braces += 1,
                T::RightBrace if braces == 0 && !ends_with_braces => return,
                T::RightBrace => braces = braces.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if braces == 0 && (kind == T::Semicolon || kind == T::RightBrace && ends_with_braces) {
                return;
            }
        }
    }

    /// Takes the next token. Returns whether it was of that kind.
    fn bump_is(&mut self, kind: T) -> bool {
        let matches = self.peek() == kind;
        self.bump();
        matches
    }
}
