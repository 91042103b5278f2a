//! Modules without one construct, which show whether a driver's fault needs that construct.
//!
//! Assume that a device is wrong about a module, and right about the same module without a
//! construct. Then the fault needs the construct. That does not explain the fault, and the
//! experiment says nothing about other modules.

use super::repair::repair;
use super::shrink::drop_phi;
use super::tree::*;

/// A construct that can be removed from a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// Every loop has a constant number of iterations, and nothing jumps out of it.
    FixedLoops,
    /// No OpPhi has Boolean type. Each is replaced by false.
    NoBooleanPhi,
    /// No OpPhi has a vector type, or a type that contains a vector. Each is replaced by zeros.
    NoVectorPhi,
    /// Integer constants and iteration counts are not known before the run. Each is combined with a
    /// zero that only the dispatch determines.
    HiddenConstants,
}

impl Remedy {
    /// Every remedy with its name.
    pub const ALL: [(&'static str, Remedy); 4] = [
        ("fixed-loops", Remedy::FixedLoops),
        ("no-boolean-phi", Remedy::NoBooleanPhi),
        ("no-vector-phi", Remedy::NoVectorPhi),
        ("hidden-constants", Remedy::HiddenConstants),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Remedy::ALL.iter().find(|(_, remedy)| *remedy == self).map_or("", |(name, _)| name)
    }

    /// The module without the construct. `None` if the module does not have it.
    pub fn applied(self, module: &Module) -> Option<Module> {
        let mut remedied = module.clone();
        let locals = module.locals.clone();
        let is_removed = |ty: &Type| match self {
            Remedy::FixedLoops | Remedy::HiddenConstants => false,
            Remedy::NoBooleanPhi => *ty == Type::BOOL,
            Remedy::NoVectorPhi => has_vector(ty),
        };
        remedied.each_block(&mut |block| match self {
            Remedy::FixedLoops => {
                block.iter_mut().for_each(|stmt| {
                    if let Stmt::Loop(l) = stmt {
                        if let Trip::Masked(_, mask) = l.trip {
                            l.trip = Trip::Fixed(mask.clamp(1, 2));
                        }
                        drop_returns(&mut l.body);
                    }
                });
                block.retain(|stmt| !matches!(stmt, Stmt::Exit(Exit::Break | Exit::Continue, _)));
            }
            Remedy::NoBooleanPhi | Remedy::NoVectorPhi => block.iter_mut().for_each(|stmt| {
                let types: Vec<Option<&Type>> = match &*stmt {
                    Stmt::If(_, _, phis) | Stmt::Switch(_, _, _, phis) => phis.iter().map(|(_, ty)| Some(ty)).collect(),
                    Stmt::Loop(l) => l.carried.iter().map(|c| locals.get(c.inside as usize)).collect(),
                    _ => Vec::new(),
                };
                let removed: Vec<usize> = (0..types.len()).rev().filter(|&i| types[i].is_some_and(is_removed)).collect();
                removed.into_iter().for_each(|i| drop_phi(stmt, i));
            }),
            Remedy::HiddenConstants => block.iter_mut().for_each(|stmt| {
                if let Stmt::Loop(l) = stmt
                    && let Trip::Fixed(turns) = l.trip
                {
                    l.trip = Trip::Masked(Expr::uint(turns), turns.checked_add(1).map_or(u32::MAX, |n| n.next_power_of_two() - 1));
                }
                stmt.each_expr(&mut hide);
            }),
        });
        if self == Remedy::HiddenConstants {
            remedied.functions.iter_mut().filter_map(|f| f.result.as_mut()).for_each(hide);
        }
        if remedied == *module {
            return None;
        }
        repair(&mut remedied);
        Some(remedied)
    }
}

fn drop_returns(block: &mut Vec<Stmt>) {
    block.retain(|stmt| !matches!(stmt, Stmt::Return(_)));
    block.iter_mut().for_each(|stmt| stmt.each_block(&mut drop_returns));
}

/// A zero that a compiler does not know: NumWorkgroups, which is far below 2^20, shifted right by
/// 20 bits.
fn unknown_zero(ty: &Type) -> Option<Expr> {
    let (scalar, lanes) = ty.scalar()?;
    let groups = Expr::new(Type::UINT, Op::Builtin(Builtin::Groups(0)), Vec::new());
    let zero = Expr::new(Type::UINT, Op::Binary(Binary::ShiftRightLogical), vec![groups, Expr::uint(20)]);
    let zero = match scalar {
        UINT => zero,
        INT => Expr::new(Type::Scalar(INT), Op::Convert, vec![zero]),
        _ => return None,
    };
    Some(if lanes == 1 { zero } else { Expr::new(ty.clone(), Op::Construct, vec![zero; lanes.into()]) })
}

/// Hides the constants of an expression. Constants that are hidden already stay as they are.
fn hide(e: &mut Expr) {
    let Some(zero) = unknown_zero(&e.ty).filter(|_| matches!(e.op, Op::Const(_))) else {
        let is_hidden = e.op == Op::Binary(Binary::BitwiseXor) && e.args.get(1) == unknown_zero(&e.ty).as_ref();
        if !is_hidden {
            e.args.iter_mut().for_each(hide);
        }
        return;
    };
    let constant = e.clone();
    *e = Expr::new(e.ty.clone(), Op::Binary(Binary::BitwiseXor), vec![constant, zero]);
}

fn has_vector(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => false,
        Type::Vector(..) => true,
        Type::Array(element, _) => has_vector(element),
        Type::Struct(members) => members.iter().any(has_vector),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, instructions, module};
    use super::*;
    use rspirv::spirv::Op as Opcode;

    #[test]
    fn what_is_remedied_is_gone_and_the_module_still_clean() {
        let mut changed = 0;
        for seed in 0..60 {
            let clean = module(seed, &Limits::default());
            for (name, remedy) in Remedy::ALL {
                let Some(remedied) = remedy.applied(&clean) else { continue };
                changed += 1;
                assert_eq!(remedy.name(), name);
                assert_eq!(remedy.applied(&remedied), None, "{name} {seed}: once is enough");
                let words = remedied.case().words;
                let module = smallstep_semantics::spirv::Module::load(&words).unwrap_or_else(|e| panic!("{name} {seed}: {e}"));
                if remedy == Remedy::NoBooleanPhi {
                    let phis = module.instructions().iter().filter(|i| i.op as u32 == Opcode::Phi as u32);
                    assert!(phis.into_iter().all(|i| module.types().text(i.result_type) != "bool"), "{seed}");
                }
                assert!(instructions(&words).count() > 0);
            }
        }
        assert!(changed > 40, "{changed}");
    }
}
