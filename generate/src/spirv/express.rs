//! The lowering of expressions, with all guards. No instruction here is undefined, whatever its
//! operands are.

use super::emit::Buffer;
use super::lower::Lower;
use super::tree::*;
use rspirv::spirv::{self, GlslStd450Op as Glsl, StorageClass};
use smallstep_semantics::spirv::write::Id;

impl Lower<'_> {
    /// Computes the value of an expression in the current block. Returns its id.
    pub fn value(&mut self, e: &Expr) -> Id {
        match &e.op {
            Op::Const(scalars) => return self.emit.constant(&e.ty, scalars),
            Op::Local(local) => return self.local(*local),
            Op::Builtin(builtin) => return self.emit.builtin(*builtin),
            Op::Load(root, path) => {
                let (pointer, _) = self.place(*root, path, &e.args, e.guard);
                let ty = self.emit.ty(&e.ty);
                return self.emit.op(spirv::Op::Load, ty, &[pointer]);
            }
            Op::Table(path) => {
                let table = self.module.table.clone();
                let indices = self.indices(&table, path, &e.args, e.guard);
                return self.emit.table(&e.ty, &indices);
            }
            _ => {}
        }
        let args: Vec<Id> = e.args.iter().map(|arg| self.value(arg)).collect();
        let ty = self.emit.ty(&e.ty);
        match &e.op {
            Op::Input => {
                let index = self.bounded(args[0], self.module.input.len().max(1) as u32, e.guard);
                let word = self.emit.word(Buffer::Input, index);
                self.emit.op(spirv::Op::Load, ty, &[word])
            }
            Op::Unary(unary) => self.unary(*unary, ty, &e.ty, args[0]),
            Op::Binary(binary) => self.binary(*binary, ty, e, args[0], args[1]),
            Op::Compare(compare) => self.emit.op(comparison(*compare), ty, &args),
            Op::Wide(wide, member) => {
                let pair = self.emit.pair(&e.ty);
                let op = match wide {
                    Wide::IAddCarry => spirv::Op::IAddCarry,
                    Wide::ISubBorrow => spirv::Op::ISubBorrow,
                    Wide::UMulExtended => spirv::Op::UMulExtended,
                    Wide::SMulExtended => spirv::Op::SMulExtended,
                };
                let result_pair = self.emit.op(op, pair, &args);
                self.emit.op(spirv::Op::CompositeExtract, ty, &[result_pair, *member])
            }
            Op::Clamp => {
                let (min, max, clamp) = match signed(&e.ty) {
                    true => (Glsl::SMin, Glsl::SMax, Glsl::SClamp),
                    false => (Glsl::UMin, Glsl::UMax, Glsl::UClamp),
                };
                let low = self.emit.ext(ty, min, &[args[1], args[2]]);
                let high = self.emit.ext(ty, max, &[args[1], args[2]]);
                self.emit.ext(ty, clamp, &[args[0], low, high])
            }
            Op::BitFieldInsert => {
                let (offset, count) = self.field(args[2], args[3], e.guard);
                self.emit.op(spirv::Op::BitFieldInsert, ty, &[args[0], args[1], offset, count])
            }
            Op::BitFieldExtract => {
                let (offset, count) = self.field(args[1], args[2], e.guard);
                let op = if signed(&e.ty) { spirv::Op::BitFieldSExtract } else { spirv::Op::BitFieldUExtract };
                self.emit.op(op, ty, &[args[0], offset, count])
            }
            Op::Any => self.emit.op(spirv::Op::Any, ty, &args),
            Op::All => self.emit.op(spirv::Op::All, ty, &args),
            Op::Select => self.emit.op(spirv::Op::Select, ty, &args),
            Op::Convert => self.convert(&e.ty, &e.args[0].ty, args[0], e.guard),
            Op::Construct => self.emit.op(spirv::Op::CompositeConstruct, ty, &args),
            Op::ConstructByInsertion => {
                let mut whole = self.emit.op(spirv::Op::Undef, ty, &[]);
                for (i, &part) in args.iter().enumerate() {
                    whole = self.emit.op(spirv::Op::CompositeInsert, ty, &[part, whole, i as u32]);
                }
                whole
            }
            Op::Extract(path) => {
                let operands: Vec<u32> = args.iter().chain(path).copied().collect();
                self.emit.op(spirv::Op::CompositeExtract, ty, &operands)
            }
            Op::Insert(path) => {
                let operands: Vec<u32> = args.iter().chain(path).copied().collect();
                self.emit.op(spirv::Op::CompositeInsert, ty, &operands)
            }
            Op::Shuffle(components) => {
                let operands: Vec<u32> = args.iter().chain(components).copied().collect();
                self.emit.op(spirv::Op::VectorShuffle, ty, &operands)
            }
            Op::DynamicExtract => {
                let index = self.bounded(args[1], e.args[0].ty.parts(), e.guard);
                self.emit.op(spirv::Op::VectorExtractDynamic, ty, &[args[0], index])
            }
            Op::DynamicInsert => {
                let index = self.bounded(args[2], e.ty.parts(), e.guard);
                self.emit.op(spirv::Op::VectorInsertDynamic, ty, &[args[0], args[1], index])
            }
            Op::Call(function, pointers) => self.call(ty, *function, pointers, &args),
            Op::Const(_) | Op::Local(_) | Op::Builtin(_) | Op::Load(..) | Op::Table(_) => unreachable!("done above"),
        }
    }

    fn call(&mut self, ty: Id, function: u32, pointers: &[Root], values: &[Id]) -> Id {
        let (id, executed) = self.called(function);
        let module = self.module;
        let (mut pointers, mut values) = (pointers.iter(), values.iter());
        let mut operands = vec![id];
        for parameter in &module.functions[function as usize].parameters {
            let operand = match parameter {
                Parameter::Value(..) => values.next().copied(),
                Parameter::Pointer(..) => pointers.next().map(|&root| self.root(root).0),
            };
            operands.extend(operand);
        }
        let result = self.emit.op(spirv::Op::FunctionCall, ty, &operands);
        self.emit.executed += self.emit.weight * executed;
        result
    }

    /// An index below `n`, computed from any index.
    pub fn bounded(&mut self, index: Id, n: u32, guard: bool) -> Id {
        let uint = self.emit.ty(&Type::UINT);
        let last = self.emit.uint(n - 1);
        if n.is_power_of_two() {
            self.emit.op(spirv::Op::BitwiseAnd, uint, &[index, last])
        } else if guard {
            self.emit.ext(uint, Glsl::UMin, &[index, last])
        } else {
            let n = self.emit.uint(n);
            self.emit.op(spirv::Op::UMod, uint, &[index, n])
        }
    }

    fn indices(&mut self, ty: &Type, path: &[Step], indices: &[Expr], guard: bool) -> Vec<Id> {
        let (mut ty, mut indices) = (ty.clone(), indices.iter());
        let mut words = Vec::new();
        for step in path {
            let word = match (step, indices.as_slice().first()) {
                (Step::Index, Some(index)) => {
                    indices.next();
                    let at = self.value(index);
                    self.bounded(at, ty.parts().max(1), guard)
                }
                (Step::Member(i), _) => self.emit.uint(*i),
                (Step::Index, None) => self.emit.uint(0),
            };
            words.push(word);
            let member = if let Step::Member(i) = step { *i } else { 0 };
            ty = ty.part(member).unwrap_or(Type::UINT);
        }
        words
    }

    /// A pointer to a part of a variable.
    pub fn place(&mut self, root: Root, path: &[Step], indices: &[Expr], guard: bool) -> (Id, StorageClass) {
        let ty = self.module.root_type(self.function, root).cloned().unwrap_or(Type::UINT);
        let (variable, class) = self.root(root);
        if path.is_empty() {
            return (variable, class);
        }
        let words = self.indices(&ty, path, indices, guard);
        let part = self.emit.ty(&ty.at(path).unwrap_or(Type::UINT));
        let pointer = self.emit.pointer(class, part);
        let operands: Vec<u32> = [variable].into_iter().chain(words).collect();
        let op = if guard { spirv::Op::InBoundsAccessChain } else { spirv::Op::AccessChain };
        (self.emit.op(op, pointer, &operands), class)
    }

    /// An offset and a count of a bit field, changed so that the field stays within 32 bits.
    fn field(&mut self, offset: Id, count: Id, guard: bool) -> (Id, Id) {
        let uint = self.emit.ty(&Type::UINT);
        if guard {
            let (last, width) = (self.emit.uint(31), self.emit.uint(32));
            let offset = self.emit.op(spirv::Op::BitwiseAnd, uint, &[offset, last]);
            let bits_left = self.emit.op(spirv::Op::ISub, uint, &[width, offset]);
            return (offset, self.emit.ext(uint, Glsl::UMin, &[count, bits_left]));
        }
        let half = self.emit.uint(15);
        let offset = self.emit.op(spirv::Op::BitwiseAnd, uint, &[offset, half]);
        (offset, self.emit.op(spirv::Op::BitwiseAnd, uint, &[count, half]))
    }

    fn unary(&mut self, unary: Unary, ty: Id, operand_type: &Type, x: Id) -> Id {
        match unary {
            Unary::Not => self.emit.op(spirv::Op::Not, ty, &[x]),
            Unary::SNegate => self.emit.op(spirv::Op::SNegate, ty, &[x]),
            Unary::BitReverse => self.emit.op(spirv::Op::BitReverse, ty, &[x]),
            Unary::BitCount => self.emit.op(spirv::Op::BitCount, ty, &[x]),
            Unary::LogicalNot => self.emit.op(spirv::Op::LogicalNot, ty, &[x]),
            Unary::CopyObject => self.emit.op(spirv::Op::CopyObject, ty, &[x]),
            Unary::SAbs => {
                // The least integer has no absolute value. It is even, so an odd number is never
                // the least.
                let one = self.emit.splat(operand_type, 1);
                let odd = self.emit.op(spirv::Op::BitwiseOr, ty, &[x, one]);
                self.emit.ext(ty, Glsl::SAbs, &[odd])
            }
            Unary::SSign => self.emit.ext(ty, Glsl::SSign, &[x]),
            Unary::FindILsb => self.emit.ext(ty, Glsl::FindILsb, &[x]),
            Unary::FindUMsb => self.emit.ext(ty, Glsl::FindUMsb, &[x]),
            Unary::FindSMsb => self.emit.ext(ty, Glsl::FindSMsb, &[x]),
        }
    }

    fn binary(&mut self, binary: Binary, ty: Id, e: &Expr, a: Id, b: Id) -> Id {
        let (scalar, lanes) = e.ty.scalar().unwrap_or((UINT, 1));
        let operand_type = &e.ty;
        let op = match binary {
            Binary::IAdd => spirv::Op::IAdd,
            Binary::ISub => spirv::Op::ISub,
            Binary::IMul => spirv::Op::IMul,
            Binary::BitwiseAnd => spirv::Op::BitwiseAnd,
            Binary::BitwiseOr => spirv::Op::BitwiseOr,
            Binary::BitwiseXor => spirv::Op::BitwiseXor,
            Binary::LogicalAnd => spirv::Op::LogicalAnd,
            Binary::LogicalOr => spirv::Op::LogicalOr,
            Binary::LogicalEqual => spirv::Op::LogicalEqual,
            Binary::LogicalNotEqual => spirv::Op::LogicalNotEqual,
            Binary::SMin => return self.emit.ext(ty, Glsl::SMin, &[a, b]),
            Binary::UMin => return self.emit.ext(ty, Glsl::UMin, &[a, b]),
            Binary::SMax => return self.emit.ext(ty, Glsl::SMax, &[a, b]),
            Binary::UMax => return self.emit.ext(ty, Glsl::UMax, &[a, b]),
            Binary::UDiv | Binary::UMod => {
                let one = self.emit.splat(operand_type, 1);
                let divisor = self.emit.op(spirv::Op::BitwiseOr, ty, &[b, one]);
                let op = if binary == Binary::UDiv { spirv::Op::UDiv } else { spirv::Op::UMod };
                return self.emit.op(op, ty, &[a, divisor]);
            }
            Binary::SDiv if e.guard => {
                // Divisors 0 and -1 are replaced by 3.
                let boolean = self.emit.ty(&Type::lanes(Scalar::Bool, lanes));
                let (one, two, three) =
                    (self.emit.splat(operand_type, 1), self.emit.splat(operand_type, 2), self.emit.splat(operand_type, 3));
                let incremented = self.emit.op(spirv::Op::IAdd, ty, &[b, one]);
                let is_zero_or_minus_one = self.emit.op(spirv::Op::ULessThan, boolean, &[incremented, two]);
                let divisor = self.emit.op(spirv::Op::Select, ty, &[is_zero_or_minus_one, three, b]);
                return self.emit.op(spirv::Op::SDiv, ty, &[a, divisor]);
            }
            Binary::SDiv | Binary::SRem | Binary::SMod => {
                let (positive, one) = (self.emit.splat(operand_type, scalar.mask() >> 1), self.emit.splat(operand_type, 1));
                let divisor = self.emit.op(spirv::Op::BitwiseAnd, ty, &[b, positive]);
                let divisor = self.emit.op(spirv::Op::BitwiseOr, ty, &[divisor, one]);
                if binary == Binary::SDiv {
                    return self.emit.op(spirv::Op::SDiv, ty, &[a, divisor]);
                }
                let a = self.emit.op(spirv::Op::BitwiseAnd, ty, &[a, positive]);
                let op = if binary == Binary::SRem { spirv::Op::SRem } else { spirv::Op::SMod };
                return self.emit.op(op, ty, &[a, divisor]);
            }
            Binary::ShiftLeftLogical | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => {
                let last_bit = self.emit.splat(operand_type, u64::from(scalar.width() - 1));
                let count = self.emit.op(spirv::Op::BitwiseAnd, ty, &[b, last_bit]);
                let op = match binary {
                    Binary::ShiftLeftLogical => spirv::Op::ShiftLeftLogical,
                    Binary::ShiftRightLogical => spirv::Op::ShiftRightLogical,
                    _ => spirv::Op::ShiftRightArithmetic,
                };
                return self.emit.op(op, ty, &[a, count]);
            }
        };
        self.emit.op(op, ty, &[a, b])
    }

    /// Converts from one scalar type to another, component by component. Widening follows the
    /// operand's signedness with one guard, and the opposite with the other.
    fn convert(&mut self, to: &Type, from: &Type, x: Id, guard: bool) -> Id {
        let (Some((target, lanes)), Some((source, _))) = (to.scalar(), from.scalar()) else {
            unreachable!("scalars and vectors are converted")
        };
        let ty = self.emit.ty(to);
        match (target, source) {
            (Scalar::Bool, Scalar::Bool) => self.emit.op(spirv::Op::CopyObject, ty, &[x]),
            (Scalar::Bool, _) => {
                let zero = self.emit.splat(from, 0);
                self.emit.op(spirv::Op::INotEqual, ty, &[x, zero])
            }
            (_, Scalar::Bool) => {
                let (one, zero) = (self.emit.splat(to, 1), self.emit.splat(to, 0));
                self.emit.op(spirv::Op::Select, ty, &[x, one, zero])
            }
            _ if target.width() == source.width() => self.emit.op(spirv::Op::Bitcast, ty, &[x]),
            _ if source.signed() != guard => {
                // The result of OpSConvert may have either signedness, that of OpUConvert is
                // unsigned (SPIR-V §3.3.11).
                self.emit.op(spirv::Op::SConvert, ty, &[x])
            }
            _ => {
                let unsigned = Type::lanes(Scalar::Int { width: target.width() as u8, signed: false }, lanes);
                let middle = self.emit.ty(&unsigned);
                let converted = self.emit.op(spirv::Op::UConvert, middle, &[x]);
                if target.signed() { self.emit.op(spirv::Op::Bitcast, ty, &[converted]) } else { converted }
            }
        }
    }
}

fn signed(ty: &Type) -> bool {
    ty.scalar().is_some_and(|(scalar, _)| scalar.signed())
}

fn comparison(compare: Compare) -> spirv::Op {
    match compare {
        Compare::IEqual => spirv::Op::IEqual,
        Compare::INotEqual => spirv::Op::INotEqual,
        Compare::UGreaterThan => spirv::Op::UGreaterThan,
        Compare::SGreaterThan => spirv::Op::SGreaterThan,
        Compare::UGreaterThanEqual => spirv::Op::UGreaterThanEqual,
        Compare::SGreaterThanEqual => spirv::Op::SGreaterThanEqual,
        Compare::ULessThan => spirv::Op::ULessThan,
        Compare::SLessThan => spirv::Op::SLessThan,
        Compare::ULessThanEqual => spirv::Op::ULessThanEqual,
        Compare::SLessThanEqual => spirv::Op::SLessThanEqual,
    }
}
