//! Arenas for the trees of a language, one for each kind of node. A node is found by its
//! identifier, together with its place.

/// The accessors of a tree. Its fields `exprs`, `stmts` and `types` hold nodes and their places.
macro_rules! nodes {
    ($tree:ident: $expr:ident $expr_id:ident, $stmt:ident $stmt_id:ident, $ty:ident $ty_id:ident) => {
        impl $tree {
            /// The expression.
            pub fn expr(&self, id: $expr_id) -> &$expr {
                &self.exprs[id.0 as usize].0
            }

            /// Where the expression stands.
            pub fn expr_span(&self, id: $expr_id) -> Span {
                self.exprs[id.0 as usize].1
            }

            /// The statement.
            pub fn stmt(&self, id: $stmt_id) -> &$stmt {
                &self.stmts[id.0 as usize].0
            }

            /// Where the statement stands.
            pub fn stmt_span(&self, id: $stmt_id) -> Span {
                self.stmts[id.0 as usize].1
            }

            /// The type.
            pub fn ty(&self, id: $ty_id) -> &$ty {
                &self.types[id.0 as usize].0
            }

            /// Where the type stands.
            pub fn ty_span(&self, id: $ty_id) -> Span {
                self.types[id.0 as usize].1
            }
        }
    };
}

pub(in crate::wsl) use nodes;
