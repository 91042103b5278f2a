//! Types and literals as text, in all notations that the grammar has.

use super::{Expression, Generator, Kind, Level};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, TextureKind, Type, TypeId};

impl Generator {
    /// The identifier of a type. `None` for a type without one.
    pub(super) fn identifier(&self, ty: TypeId) -> Option<String> {
        Some(match self.ty(ty) {
            Type::Void => "void".into(),
            Type::Scalar(s) => s.name().into(),
            Type::Atomic(s) => format!("atomic_{}", s.name()),
            Type::Sampler => "sampler".into(),
            Type::Vector(s, n) => format!("{}{n}", s.name()),
            Type::Matrix(s, c, r) => format!("{}{c}x{r}", s.name()),
            Type::Struct(s) => self.structs[s.0 as usize].name.clone(),
            Type::Enum(e) => self.enums[e.0 as usize].name.clone(),
            _ => return None,
        })
    }

    /// A name for calls: that of the type or of a typedef.
    pub(super) fn call_name(&mut self, ty: TypeId) -> Option<String> {
        let aliases: Vec<String> = self.typedefs.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone()).collect();
        if !aliases.is_empty() && self.one_in(3) {
            return Some(self.pick(&aliases));
        }
        self.identifier(ty)
    }

    /// The type as text.
    pub(super) fn type_text(&mut self, ty: TypeId) -> String {
        self.type_text_with(ty, true)
    }

    /// The type as text. If `prefix` is false, no address space stands before it.
    pub(super) fn type_text_with(&mut self, ty: TypeId, prefix: bool) -> String {
        let aliases: Vec<String> = self.typedefs.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone()).collect();
        if !aliases.is_empty() && self.one_in(3) {
            return self.pick(&aliases);
        }
        let mut base = ty;
        let mut suffixes = Vec::new();
        while let Type::Array(inner, _) | Type::Pointer(_, inner) | Type::ArrayReference(_, inner) = self.ty(base) {
            suffixes.push(self.ty(base));
            base = inner;
            let alias: Vec<String> = self.typedefs.iter().filter(|(_, t)| *t == base).map(|(n, _)| n.clone()).collect();
            if !alias.is_empty() && self.one_in(3) {
                let name = self.pick(&alias);
                return self.suffixed(&name, &suffixes, prefix);
            }
        }
        let name = self.base_text(base);
        self.suffixed(&name, &suffixes, prefix)
    }

    /// The text of suffixes, which apply from left to right. The list starts with the last suffix.
    fn suffixed(&mut self, name: &str, suffixes: &[Type], prefix: bool) -> String {
        let spaces: Vec<AddressSpace> = suffixes
            .iter()
            .filter_map(|s| if let Type::Pointer(a, _) | Type::ArrayReference(a, _) = s { Some(*a) } else { None })
            .collect();
        let common_space = spaces.first().filter(|first| prefix && spaces.iter().all(|s| s == *first)).copied();
        let prefix_space = common_space.filter(|_| self.one_in(2));
        let mut out = prefix_space.map_or(String::new(), |s| format!("{} ", s.keyword()));
        out.push_str(name);
        for suffix in suffixes.iter().rev() {
            let space = |a: AddressSpace| if prefix_space.is_some() { String::new() } else { format!(" {}", a.keyword()) };
            out.push_str(&match suffix {
                Type::Pointer(a, _) => format!("*{}", space(*a)),
                Type::ArrayReference(a, _) => format!("[]{}", space(*a)),
                Type::Array(_, n) => match self.below(4) {
                    0 => format!("[{n}u]"),
                    1 => format!("[0x{n:X}]"),
                    _ => format!("[{n}]"),
                },
                _ => String::new(),
            });
        }
        out
    }

    fn base_text(&mut self, ty: TypeId) -> String {
        match self.ty(ty) {
            Type::Vector(s, n) if self.one_in(6) => format!("vector<{}, {n}>", s.name()),
            Type::Matrix(s, c, r) if self.one_in(6) => format!("matrix<{}, {c}, {r}>", s.name()),
            Type::Texture(kind, texel) => self.texture(kind, texel),
            _ => self.identifier(ty).unwrap_or_default(),
        }
    }

    fn texture(&mut self, kind: TextureKind, texel: TypeId) -> String {
        let default_texel = if kind.depth() { TypeId::FLOAT } else { TypeId::vector(Scalar::Float, 4) };
        if texel == default_texel && !kind.depth() && self.one_in(2) {
            let empty = if self.one_in(3) { "<>" } else { "" };
            return format!("{}{empty}", kind.name());
        }
        let texel = self.type_text(texel);
        format!("{}<{texel}>", kind.name())
    }

    /// An integer literal from `low` to `high`, and its value.
    pub(super) fn integer(&mut self, low: i64, high: i64) -> (String, i64) {
        let corners = [low, high, 0, 1, -1, 2, 7, 31];
        let picked = if self.one_in(3) { self.pick(&corners) } else { low.saturating_add((self.bits() % 100) as i64) };
        let small = if self.one_in(2) { self.below(10) as i64 } else { picked };
        let value = small.clamp(low, high);
        let sign = if value < 0 { "-" } else { "" };
        let magnitude = value.unsigned_abs();
        let text = if self.one_in(5) { format!("{sign}0x{magnitude:x}") } else { format!("{sign}{magnitude}") };
        (text, value)
    }

    pub(super) fn float_text(&mut self) -> String {
        let (whole, part) = (self.below(1000), self.below(1000));
        let sign = if self.one_in(4) { "-" } else { "" };
        let suffix = if self.one_in(4) { "f" } else { "" };
        match self.below(4) {
            0 => format!("{sign}.{part}{suffix}"),
            1 => format!("{sign}{whole}.{suffix}"),
            _ => format!("{sign}{whole}.{part}{suffix}"),
        }
    }

    pub(super) fn literal_expression(&mut self, text: String, ty: TypeId) -> Expression {
        let level = if text.starts_with('-') { Level::Prefix } else { Level::Suffix };
        let e = Expression::new(text, level, Kind::Right, ty);
        if self.one_in(8) { self.in_parens(e) } else { e }
    }

    pub(super) fn in_parens(&mut self, e: Expression) -> Expression {
        Expression { text: format!("({})", e.text), level: Level::Suffix, is_statement: true, ..e }
    }
}
