//! Modules without one construct: what shows whether a driver's fault needs it.
//!
//! If a device is wrong about a module and right about the same module without a construct, then the fault needs the construct. That is less than
//! knowing the fault, and it is an experiment on this very module.

use super::repair::repair;
use super::shrink::unphi;
use super::tree::*;

/// A construct, and how a module goes without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// Every loop turns so often as a constant says, and nothing jumps out of it.
    FixedLoops,
    /// No OpPhi is of Booleans: each gives way to false.
    NoBooleanPhi,
    /// No OpPhi is of a vector, or of what holds one: each gives way to zeros.
    NoVectorPhi,
}

impl Remedy {
    /// Every remedy with its name.
    pub const ALL: [(&'static str, Remedy); 3] =
        [("fixed-loops", Remedy::FixedLoops), ("no-boolean-phi", Remedy::NoBooleanPhi), ("no-vector-phi", Remedy::NoVectorPhi)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Remedy::ALL.iter().find(|(_, remedy)| *remedy == self).map_or("", |(name, _)| name)
    }

    /// The module without the construct; `None` if it has none of it.
    pub fn applied(self, module: &Module) -> Option<Module> {
        let mut remedied = module.clone();
        let locals = module.locals.clone();
        let goes = |ty: &Type| match self {
            Remedy::FixedLoops => false,
            Remedy::NoBooleanPhi => *ty == Type::BOOL,
            Remedy::NoVectorPhi => has_vector(ty),
        };
        remedied.each_block(&mut |block| match self {
            Remedy::FixedLoops => {
                block.iter_mut().for_each(|stmt| {
                    if let Stmt::Loop(l) = stmt
                        && let Trip::Masked(_, mask) = l.trip
                    {
                        l.trip = Trip::Fixed(mask.clamp(1, 2));
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
                let going: Vec<usize> = (0..types.len()).rev().filter(|&i| types[i].is_some_and(goes)).collect();
                going.into_iter().for_each(|i| unphi(stmt, i));
            }),
        });
        if remedied == *module {
            return None;
        }
        repair(&mut remedied);
        Some(remedied)
    }
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
