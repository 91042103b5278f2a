//! The random generation of expressions of a given type, from values in scope.

use super::draw::Draw;
use super::tree::*;

/// Constants that are corner cases of integer operations.
const CORNERS: &[u64] = &[0, 1, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 100, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fff_ffff];

impl Draw {
    /// An expression of the type, about `fuel` operations deep.
    pub fn expr(&mut self, ty: &Type, fuel: u32) -> Expr {
        if fuel == 0 || self.random.percent(12) {
            return self.leaf(ty);
        }
        let mut e = match ty.scalar() {
            None => self.aggregate(ty, fuel),
            Some((Scalar::Bool, lanes)) => self.boolean(lanes, fuel),
            Some((scalar, lanes)) => self.integer(scalar, lanes, fuel),
        };
        e.guard = self.random.percent(50);
        e
    }

    /// A constant of the type.
    pub fn constant(&mut self, ty: &Type) -> Expr {
        let mut scalars = Vec::new();
        self.fill(ty, &mut scalars);
        Expr::new(ty.clone(), Op::Const(scalars), Vec::new())
    }

    fn fill(&mut self, ty: &Type, scalars: &mut Vec<u64>) {
        match ty.scalar() {
            Some((scalar, lanes)) => (0..lanes).for_each(|_| scalars.push(self.number(scalar))),
            None => {
                for i in 0..ty.parts() {
                    if let Some(part) = ty.part(i) {
                        self.fill(&part, scalars);
                    }
                }
            }
        }
    }

    fn number(&mut self, scalar: Scalar) -> u64 {
        let bits = match self.random.below(8) {
            0..4 => self.random.pick(CORNERS),
            4 => !self.random.pick(CORNERS),
            5 | 6 => u64::from(self.random.below(64)),
            _ => self.random.bits(),
        };
        bits & scalar.mask()
    }

    /// The scalars of a constant of the type.
    pub fn scalars(&mut self, ty: &Type) -> Vec<u64> {
        let mut scalars = Vec::new();
        self.fill(ty, &mut scalars);
        scalars
    }

    /// An expression that reads an existing value.
    pub fn leaf(&mut self, ty: &Type) -> Expr {
        for _ in 0..3 {
            let found = match self.random.below(10) {
                0..5 => self.known(ty),
                5..8 => self.load(ty),
                8 => self.table(ty),
                _ => None,
            };
            if let Some(e) = found {
                return e;
            }
        }
        let words = *ty == Type::UINT;
        match ty.scalar() {
            Some(_) if words && self.random.percent(70) => self.word(),
            Some((Scalar::Int { .. }, _)) if !words && self.random.percent(50) => self.converted_leaf(ty),
            None if self.random.percent(50) => {
                let args = (0..ty.parts()).filter_map(|i| ty.part(i)).map(|part| self.leaf(&part)).collect();
                Expr::new(ty.clone(), Op::Construct, args)
            }
            _ => self.constant(ty),
        }
    }

    /// A word that usually differs between invocations.
    fn word(&mut self) -> Expr {
        let [x, y, z] = self.module.groups;
        let builtin = |builtin: Builtin| Expr::new(Type::UINT, Op::Builtin(builtin), Vec::new());
        match self.random.below(8) {
            0 | 1 => builtin(Builtin::LocalIndex),
            2 => {
                let i = self.random.below(3) as u8;
                let choice = self.random.below(4);
                builtin(match choice {
                    0 => Builtin::Global(i),
                    1 => Builtin::Local(i),
                    2 if x * y * z > 1 => Builtin::Group(i),
                    2 => Builtin::Global(i),
                    _ => Builtin::Groups(i),
                })
            }
            3 => builtin(Builtin::Global(0)),
            _ => {
                let index = match self.random.below(3) {
                    0 => builtin(Builtin::LocalIndex),
                    1 => builtin(Builtin::Global(0)),
                    _ => self.known(&Type::UINT).unwrap_or_else(|| Expr::uint(3)),
                };
                let mut e = Expr::new(Type::UINT, Op::Input, vec![index]);
                e.guard = self.random.percent(50);
                e
            }
        }
    }

    fn converted_leaf(&mut self, ty: &Type) -> Expr {
        let Some((scalar, lanes)) = ty.scalar() else { return self.constant(ty) };
        if lanes > 1 {
            let part = Type::Scalar(scalar);
            let args = (0..lanes).map(|_| self.leaf(&part)).collect();
            return Expr::new(ty.clone(), Op::Construct, args);
        }
        let word = if scalar == UINT { Type::Scalar(INT) } else { Type::UINT };
        let arg = self.known(&word).unwrap_or_else(|| if word == Type::UINT { self.word() } else { Expr::zero(word) });
        Expr::new(ty.clone(), Op::Convert, vec![arg])
    }

    /// A local in scope, or a part of it.
    fn known(&mut self, ty: &Type) -> Option<Expr> {
        let same_type: Vec<Local> = self.scope.iter().copied().filter(|&local| self.module.locals[local as usize] == *ty).collect();
        if !same_type.is_empty() {
            // The latest locals depend on most of the program.
            let recent = same_type.len().saturating_sub(6);
            let local = same_type[recent + self.random.below((same_type.len() - recent) as u32) as usize];
            return Some(Expr::local(local, ty.clone()));
        }
        let composites: Vec<(Local, u32)> = self
            .scope
            .iter()
            .flat_map(|&local| {
                let whole = &self.module.locals[local as usize];
                (0..whole.parts()).filter(|&i| whole.part(i).as_ref() == Some(ty)).map(move |i| (local, i)).collect::<Vec<_>>()
            })
            .collect();
        if composites.is_empty() {
            return None;
        }
        let (local, i) = composites[self.random.below(composites.len() as u32) as usize];
        let whole = Expr::local(local, self.module.locals[local as usize].clone());
        Some(Expr::new(ty.clone(), Op::Extract(vec![i]), vec![whole]))
    }

    /// A path from a type to a part of another type, if one is found in a few tries.
    fn path(&mut self, from: &Type, to: &Type) -> Option<Vec<Step>> {
        for _ in 0..4 {
            let (mut at, mut path) = (from.clone(), Vec::new());
            loop {
                if at == *to && (at.parts() == 0 || self.random.percent(80)) {
                    return Some(path);
                }
                if at.parts() == 0 {
                    break;
                }
                let i = self.random.below(at.parts());
                let dynamic = !matches!(at, Type::Struct(_)) && self.random.percent(65);
                path.push(if dynamic { Step::Index } else { Step::Member(i) });
                let Some(part) = at.part(i) else { break };
                at = part;
            }
        }
        None
    }

    fn path_indices(&mut self, path: &[Step]) -> Vec<Expr> {
        let dynamic = path.iter().filter(|step| **step == Step::Index).count();
        (0..dynamic)
            .map(|_| match self.known(&Type::UINT) {
                Some(e) => e,
                None => self.word(),
            })
            .collect()
    }

    /// A place of that type in a variable.
    pub fn place(&mut self, ty: &Type) -> Option<Place> {
        let mut roots = self.roots();
        while !roots.is_empty() {
            let (root, pointee, _) = roots.swap_remove(self.random.below(roots.len() as u32) as usize);
            if let Some(path) = self.path(&pointee, ty) {
                let indices = self.path_indices(&path);
                return Some(Place { root, path, indices });
            }
        }
        None
    }

    fn load(&mut self, ty: &Type) -> Option<Expr> {
        let Place { root, path, indices } = self.place(ty)?;
        let mut e = Expr::new(ty.clone(), Op::Load(root, path), indices);
        e.guard = self.random.percent(50);
        Some(e)
    }

    fn table(&mut self, ty: &Type) -> Option<Expr> {
        // Whole arrays and structures must be copied between layouts, which needs SPIR-V 1.4.
        if !self.mix.table || (ty.scalar().is_none() && self.mix.minor < 4) {
            return None;
        }
        let table = self.module.table.clone();
        let path = self.path(&table, ty).filter(|path| !path.is_empty())?;
        let indices = self.path_indices(&path);
        Some(Expr::new(ty.clone(), Op::Table(path), indices))
    }

    fn aggregate(&mut self, ty: &Type, fuel: u32) -> Expr {
        let i = self.random.below(ty.parts());
        let part = ty.part(i).unwrap_or(Type::UINT);
        match self.random.below(6) {
            0 | 1 => {
                let object = self.expr(&part, fuel - 1);
                let whole = self.leaf(ty);
                Expr::new(ty.clone(), Op::Insert(vec![i]), vec![object, whole])
            }
            2 if self.mix.minor >= 4 => {
                let args = vec![self.expr(&Type::BOOL, fuel - 1), self.leaf(ty), self.leaf(ty)];
                Expr::new(ty.clone(), Op::Select, args)
            }
            3 => self.leaf(ty),
            4 => {
                let args = (0..ty.parts()).filter_map(|i| ty.part(i)).map(|part| self.leaf(&part)).collect();
                Expr::new(ty.clone(), Op::ConstructByInsertion, args)
            }
            _ => {
                let args = (0..ty.parts()).filter_map(|i| ty.part(i)).map(|part| self.expr(&part, fuel / 2)).collect();
                Expr::new(ty.clone(), Op::Construct, args)
            }
        }
    }

    fn boolean(&mut self, lanes: u8, fuel: u32) -> Expr {
        let ty = Type::lanes(Scalar::Bool, lanes);
        match self.random.below(12) {
            0..5 => {
                let scalar = self.mix.integer(&mut self.random);
                let operand_type = Type::lanes(scalar, lanes);
                let compare = self.random.pick(&[
                    Compare::IEqual,
                    Compare::INotEqual,
                    Compare::UGreaterThan,
                    Compare::SGreaterThan,
                    Compare::UGreaterThanEqual,
                    Compare::SGreaterThanEqual,
                    Compare::ULessThan,
                    Compare::SLessThan,
                    Compare::ULessThanEqual,
                    Compare::SLessThanEqual,
                ]);
                let args = vec![self.expr(&operand_type, fuel - 1), self.expr(&operand_type, fuel - 1)];
                Expr::new(ty, Op::Compare(compare), args)
            }
            // One of the low bits of a word is about as often true as false.
            5 | 6 if lanes == 1 => {
                let word = self.expr(&Type::UINT, fuel - 1);
                let bit = Expr::uint(1 << self.random.below(4));
                let masked = Expr::new(Type::UINT, Op::Binary(Binary::BitwiseAnd), vec![word, bit]);
                Expr::new(ty, Op::Convert, vec![masked])
            }
            7 | 8 => {
                let op = self.random.pick(&[Binary::LogicalAnd, Binary::LogicalOr, Binary::LogicalEqual, Binary::LogicalNotEqual]);
                let args = vec![self.expr(&ty, fuel - 1), self.expr(&ty, fuel - 1)];
                Expr::new(ty, Op::Binary(op), args)
            }
            9 => {
                let arg = self.expr(&ty, fuel - 1);
                Expr::new(ty, Op::Unary(Unary::LogicalNot), vec![arg])
            }
            10 if lanes == 1 => {
                let vector_type = Type::Vector(Scalar::Bool, self.random.between(2, 4) as u8);
                let arg = self.expr(&vector_type, fuel - 1);
                Expr::new(ty, if self.random.percent(50) { Op::Any } else { Op::All }, vec![arg])
            }
            _ => self.either(&ty, fuel),
        }
    }

    /// An operation that makes any scalar or vector type.
    fn either(&mut self, ty: &Type, fuel: u32) -> Expr {
        let Some((scalar, lanes)) = ty.scalar() else { return self.leaf(ty) };
        let part = Type::Scalar(scalar);
        match self.random.below(8) {
            0 | 1 => {
                // A vector is selected component by component.
                let condition = Type::lanes(Scalar::Bool, lanes);
                let args = vec![self.expr(&condition, fuel - 1), self.expr(ty, fuel - 1), self.expr(ty, fuel - 1)];
                Expr::new(ty.clone(), Op::Select, args)
            }
            2 => {
                let arg = self.expr(ty, fuel - 1);
                Expr::new(ty.clone(), Op::Unary(Unary::CopyObject), vec![arg])
            }
            3 | 4 if lanes == 1 => {
                let n = self.random.between(2, 4) as u8;
                let vector = self.expr(&Type::Vector(scalar, n), fuel - 1);
                if self.random.percent(50) {
                    let index = self.expr(&Type::UINT, fuel - 1);
                    return Expr::new(part, Op::DynamicExtract, vec![vector, index]);
                }
                let i = self.random.below(u32::from(n));
                Expr::new(part, Op::Extract(vec![i]), vec![vector])
            }
            3 if lanes > 1 => {
                let args = vec![self.expr(ty, fuel - 1), self.expr(&part, fuel - 1), self.expr(&Type::UINT, fuel / 2)];
                Expr::new(ty.clone(), Op::DynamicInsert, args)
            }
            4 | 5 if lanes > 1 => {
                let (n, m) = (self.random.between(2, 4) as u8, self.random.between(2, 4) as u8);
                let args = vec![self.expr(&Type::Vector(scalar, n), fuel - 1), self.expr(&Type::Vector(scalar, m), fuel / 2)];
                let components = (0..lanes).map(|_| self.random.below(u32::from(n + m))).collect();
                Expr::new(ty.clone(), Op::Shuffle(components), args)
            }
            6 if lanes > 1 => {
                let i = self.random.below(u32::from(lanes));
                let args = vec![self.expr(&part, fuel - 1), self.expr(ty, fuel - 1)];
                Expr::new(ty.clone(), Op::Insert(vec![i]), args)
            }
            _ if lanes > 1 => {
                let args = (0..lanes).map(|_| self.expr(&part, fuel / 2)).collect();
                Expr::new(ty.clone(), if self.random.percent(25) { Op::ConstructByInsertion } else { Op::Construct }, args)
            }
            _ => self.leaf(ty),
        }
    }

    fn integer(&mut self, scalar: Scalar, lanes: u8, fuel: u32) -> Expr {
        let ty = Type::lanes(scalar, lanes);
        let word = scalar.width() == 32;
        match self.random.below(20) {
            0..9 => {
                let binary = self.integer_binary(scalar);
                let args = vec![self.expr(&ty, fuel - 1), self.expr(&ty, fuel - 1)];
                Expr::new(ty, Op::Binary(binary), args)
            }
            9 | 10 => {
                let unary = match word {
                    true => self.random.pick(&[
                        Unary::Not,
                        Unary::SNegate,
                        Unary::BitReverse,
                        Unary::BitCount,
                        Unary::SAbs,
                        Unary::SSign,
                        Unary::FindILsb,
                        Unary::FindUMsb,
                        Unary::FindSMsb,
                    ]),
                    false => self.random.pick(&[Unary::Not, Unary::SNegate]),
                };
                let arg = self.expr(&ty, fuel - 1);
                Expr::new(ty, Op::Unary(unary), vec![arg])
            }
            11 | 12 => {
                let others: Vec<Scalar> = self.mix.integers.iter().copied().filter(|other| *other != scalar).collect();
                let other = if others.is_empty() || self.random.percent(25) { Scalar::Bool } else { self.random.pick(&others) };
                let arg = self.expr(&Type::lanes(other, lanes), fuel - 1);
                Expr::new(ty, Op::Convert, vec![arg])
            }
            13 if word => {
                let members = self.random.below(2);
                let wide = match scalar.signed() {
                    true => Wide::SMulExtended,
                    false => self.random.pick(&[Wide::IAddCarry, Wide::ISubBorrow, Wide::UMulExtended]),
                };
                let args = vec![self.expr(&ty, fuel - 1), self.expr(&ty, fuel - 1)];
                Expr::new(ty, Op::Wide(wide, members), args)
            }
            14 if word => {
                let mut args = vec![self.expr(&ty, fuel - 1)];
                let insert = self.random.percent(50);
                if insert {
                    args.push(self.expr(&ty, fuel - 1));
                }
                args.extend([self.expr(&Type::UINT, fuel / 2), self.expr(&Type::UINT, fuel / 2)]);
                Expr::new(ty, if insert { Op::BitFieldInsert } else { Op::BitFieldExtract }, args)
            }
            15 if word => {
                let args = vec![self.expr(&ty, fuel - 1), self.expr(&ty, fuel / 2), self.expr(&ty, fuel / 2)];
                Expr::new(ty, Op::Clamp, args)
            }
            _ => self.either(&ty, fuel),
        }
    }

    fn integer_binary(&mut self, scalar: Scalar) -> Binary {
        let operations = [
            Binary::IAdd,
            Binary::IAdd,
            Binary::ISub,
            Binary::IMul,
            Binary::BitwiseAnd,
            Binary::BitwiseOr,
            Binary::BitwiseXor,
            Binary::BitwiseXor,
            Binary::ShiftLeftLogical,
            Binary::ShiftRightLogical,
        ];
        // Some instructions accept operands of either signedness. Now and then they get the
        // other signedness.
        let signed = scalar.signed() != self.random.percent(10);
        let word = scalar.width() == 32;
        match self.random.below(14) {
            0..10 => self.random.pick(&operations),
            10 | 11 if signed => self.random.pick(&[Binary::SDiv, Binary::SRem, Binary::SMod]),
            10 | 11 if !scalar.signed() => self.random.pick(&[Binary::UDiv, Binary::UMod]),
            12 => Binary::ShiftRightArithmetic,
            _ if word && signed => self.random.pick(&[Binary::SMin, Binary::SMax]),
            _ if word => self.random.pick(&[Binary::UMin, Binary::UMax]),
            _ => self.random.pick(&operations),
        }
    }

    /// A value as a word: its first scalar, or a word computed from it.
    pub fn as_word(&mut self, e: Expr) -> Expr {
        let ty = e.ty.clone();
        match ty.scalar() {
            Some((scalar, 1)) if scalar == UINT => e,
            Some((_, 1)) => Expr::new(Type::UINT, Op::Convert, vec![e]),
            _ => {
                let i = self.random.below(ty.parts());
                let part = ty.part(i).unwrap_or(Type::UINT);
                let e = Expr::new(part, Op::Extract(vec![i]), vec![e]);
                self.as_word(e)
            }
        }
    }
}

/// An estimate of the number of instructions of an expression.
pub(super) fn cost(e: &Expr) -> f64 {
    let own_cost = match &e.op {
        Op::Const(_) | Op::Local(_) => 0.0,
        Op::Load(_, path) | Op::Table(path) => 1.0 + if path.is_empty() { 0.0 } else { 1.0 } + e.args.len() as f64,
        Op::Input => 3.0,
        Op::Builtin(Builtin::LocalIndex) => 1.0,
        Op::Builtin(_) | Op::Wide(..) => 2.0,
        Op::Binary(binary) => match binary {
            Binary::UDiv | Binary::UMod | Binary::ShiftLeftLogical | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => 2.0,
            Binary::SDiv | Binary::SRem | Binary::SMod => 4.0,
            _ => 1.0,
        },
        Op::Unary(Unary::SAbs) | Op::DynamicExtract | Op::DynamicInsert => 2.0,
        Op::Clamp | Op::BitFieldExtract | Op::BitFieldInsert => 3.5,
        Op::ConstructByInsertion => 1.0 + e.args.len() as f64,
        _ => 1.0,
    };
    own_cost + e.args.iter().map(cost).sum::<f64>()
}
