//! Features of generated modules that a compiler may lack, by name. Also small modules that have
//! one feature and little else, and modules without given features.
//!
//! A feature is an instruction with the kind of its values, such as `SNegate of unsigned`, since a
//! compiler may accept it for some kinds only. The guards of operands are no features, because
//! hardly any module lacks them.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::repair::repair;
use super::tree::*;

/// The names of the kinds of values.
const KINDS: [&str; 7] = ["bool", "signed", "unsigned", "bool vector", "signed vector", "unsigned vector", "composite"];
/// Features of statements and declarations.
const OTHERS: [&str; 5] = ["CopyMemory", "ControlBarrier", "Switch that falls through", "SPIR-V 1.5", "SPIR-V 1.6"];

/// A feature: something that a compiler may lack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(String);

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Feature {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Feature, InvalidInput> {
        let is_name = |name: &str| name.len() > 2 && name.bytes().all(|b| b.is_ascii_alphanumeric());
        let has_kind = text.split_once(" of ").is_some_and(|(name, kind)| is_name(name) && KINDS.contains(&kind));
        match has_kind || OTHERS.contains(&text) || (text.starts_with("Atomic") && is_name(text)) {
            true => Ok(Feature(text.into())),
            false => {
                let (kinds, others) = (KINDS.join(", "), OTHERS.join(", "));
                Err(InvalidInput::new(
                    InputFault::Text,
                    format!(
                        "\"{text}\" is no feature of generated modules; there are INSTRUCTION of KIND, with the kinds {kinds}; and {others}, and atomic instructions"
                    ),
                ))
            }
        }
    }
}

/// A set of features, in the order of their names.
pub type Features = BTreeSet<Feature>;

fn kind(ty: &Type) -> &'static str {
    match ty.scalar() {
        None => "composite",
        Some((Scalar::Bool, 1)) => "bool",
        Some((Scalar::Bool, _)) => "bool vector",
        Some((scalar, 1)) => {
            if scalar.signed() {
                "signed"
            } else {
                "unsigned"
            }
        }
        Some((scalar, _)) => {
            if scalar.signed() {
                "signed vector"
            } else {
                "unsigned vector"
            }
        }
    }
}

fn expr_feature(e: &Expr) -> Option<Feature> {
    let named = |name: &str, ty: &Type| Some(Feature(format!("{name} of {}", kind(ty))));
    match &e.op {
        Op::Unary(unary) => named(&format!("{unary:?}"), &e.ty),
        Op::Binary(binary) => named(&format!("{binary:?}"), &e.ty),
        Op::Compare(compare) => named(&format!("{compare:?}"), &e.args[0].ty),
        Op::Wide(wide, _) => named(&format!("{wide:?}"), &e.ty),
        Op::Clamp => named("Clamp", &e.ty),
        Op::BitFieldInsert => named("BitFieldInsert", &e.ty),
        Op::BitFieldExtract => named("BitFieldExtract", &e.ty),
        Op::Any => named("Any", &e.args[0].ty),
        Op::All => named("All", &e.args[0].ty),
        Op::Select => named("Select", &e.ty),
        Op::Insert(_) => named("CompositeInsert", &e.ty),
        Op::Shuffle(_) => named("VectorShuffle", &e.ty),
        Op::DynamicExtract => named("VectorExtractDynamic", &e.args[0].ty),
        Op::DynamicInsert => named("VectorInsertDynamic", &e.ty),
        Op::ConstructByInsertion => named("Undef", &e.ty),
        Op::Table(_) if e.ty.scalar().is_none() => named("CopyLogical", &e.ty),
        _ => None,
    }
}

fn stmt_feature(stmt: &Stmt, counters: &[Counter]) -> Option<Feature> {
    match stmt {
        Stmt::Copy(..) => Some(Feature("CopyMemory".into())),
        Stmt::Exchange { .. } | Stmt::ReadCounter { .. } => Some(Feature("ControlBarrier".into())),
        Stmt::Count { counter, .. } => Some(Feature(format!("Atomic{:?}", counters.get(*counter as usize)?.atomic))),
        Stmt::Own { atomic: OwnAtomic::Rmw(atomic), .. } => Some(Feature(format!("Atomic{atomic:?}"))),
        Stmt::Own { atomic, .. } => Some(Feature(format!("Atomic{atomic:?}"))),
        Stmt::Switch(_, cases, ..) if falls_through(cases) => Some(Feature("Switch that falls through".into())),
        _ => None,
    }
}

/// Whether a case with statements falls through to the next case. A case without statements is only
/// another literal of the next case.
fn falls_through(cases: &[Case]) -> bool {
    let falls = |case: &Case| case.falls && !matches!(case.arm.body.last(), None | Some(Stmt::Exit(..) | Stmt::Return(_)));
    cases.split_last().is_some_and(|(_, cases)| cases.iter().any(falls))
}

fn version_feature(minor: u8) -> Option<Feature> {
    (minor > 3).then(|| Feature(format!("SPIR-V 1.{minor}")))
}

/// The features of a module. Each has a module with this feature and little else.
pub fn probes(module: &Module) -> BTreeMap<Feature, Module> {
    let mut found = BTreeMap::new();
    let (mut walked, source) = (module.clone(), module);
    // Cases that fall through do not use their values.
    walked.each_block(&mut |block| {
        for stmt in block {
            if let Stmt::Switch(_, cases, ..) = stmt {
                cases.iter_mut().filter(|case| case.falls).for_each(|case| case.arm.values.clear());
            }
        }
    });
    if let Some(feature) = version_feature(module.minor) {
        found.insert(feature, base(source));
    }
    walked.each_expr(&mut |e| {
        if let Some(feature) = expr_feature(e) {
            found.entry(feature).or_insert_with(|| probe_of(source, e));
        }
    });
    walked.each_block(&mut |block| {
        for stmt in block {
            if let Some(feature) = stmt_feature(stmt, &source.counters) {
                found.entry(feature).or_insert_with(|| probe_of_stmt(source, stmt));
            }
        }
    });
    found
}

/// The feature for the same operation on vectors instead of scalars, or the other way round, and a
/// module that has it. `None` if the operands have other types than the result.
pub fn other_shape(probe: &Module, feature: &Feature) -> Option<(Feature, Module)> {
    let mut found = None;
    probe.clone().each_expr(&mut |e| {
        if let (Some((scalar, lanes)), None) = (e.ty.scalar(), &found)
            && expr_feature(e).as_ref() == Some(feature)
            && e.args.iter().all(|arg| arg.ty == e.ty)
        {
            let ty = Type::lanes(scalar, if lanes == 1 { 3 } else { 1 });
            let args = e.args.iter().map(|_| Expr::zero(ty.clone())).collect();
            found = Some(Expr { ty, args, ..e.clone() });
        }
    });
    let other = found?;
    Some((expr_feature(&other)?, probe_of(probe, &other)))
}

/// The features of a module.
pub fn features(module: &Module) -> Features {
    probes(module).into_keys().collect()
}

/// A module that writes one word. It has the version and the table of `source`.
pub fn base(source: &Module) -> Module {
    let mut module = Module {
        minor: source.minor,
        local_size: [1; 3],
        groups: [1; 3],
        functions: Vec::new(),
        main: Function::default(),
        variables: Vec::new(),
        shared: source.shared.clone(),
        counters: source.counters.clone(),
        table: source.table.clone(),
        table_words: source.table_words.clone(),
        input: vec![1],
        output_words: 1,
        locals: Vec::new(),
    };
    module.main.body.push(Stmt::Output(Expr::uint(0), Expr::new(Type::UINT, Op::Input, vec![Expr::uint(0)])));
    module
}

/// A load from a variable of that type, whose value a compiler does not know.
fn loaded(module: &mut Module, ty: &Type) -> Expr {
    let root = variable(module, ty);
    Expr::new(ty.clone(), Op::Load(root, Vec::new()), Vec::new())
}

fn variable(module: &mut Module, ty: &Type) -> Root {
    let first = vec![1; ty.scalars()];
    module.variables.push(Variable { ty: ty.clone(), class: Class::Private, first, stored: false });
    Root::Variable(module.variables.len() as u32 - 1)
}

/// One scalar of a value, converted to a word.
fn word(e: Expr) -> Expr {
    match e.ty.scalar() {
        Some((UINT, 1)) => e,
        Some((_, 1)) => Expr::new(Type::UINT, Op::Convert, vec![e]),
        _ => {
            let part = e.ty.part(0).unwrap_or(Type::UINT);
            word(Expr::new(part, Op::Extract(vec![0]), vec![e]))
        }
    }
}

fn probe_of(source: &Module, e: &Expr) -> Module {
    let (mut module, mut e) = (base(source), e.clone());
    for arg in &mut e.args {
        *arg = loaded(&mut module, &arg.ty);
    }
    module.main.body = vec![Stmt::Output(Expr::uint(0), word(e))];
    repair(&mut module);
    module
}

fn probe_of_stmt(source: &Module, stmt: &Stmt) -> Module {
    let (mut module, mut stmt) = (base(source), stmt.clone());
    if let Stmt::Copy(to, from) = &mut stmt {
        (*to, *from) = (variable(&mut module, &Type::UINT), variable(&mut module, &Type::UINT));
    }
    module.locals.clone_from(&source.locals);
    stmt.each_block(&mut Vec::clear);
    if let Stmt::Switch(_, cases, default, phis) = &mut stmt {
        for case in cases.iter_mut() {
            case.arm.values.clear();
            if case.falls {
                case.arm.body.push(Stmt::Output(Expr::uint(0), Expr::uint(2)));
            }
        }
        (default.values, *phis) = (Vec::new(), Vec::new());
    }
    stmt.each_expr(&mut |e| *e = loaded(&mut module, &e.ty));
    let shown_value = match &stmt {
        Stmt::Copy(to, _) => Expr::new(Type::UINT, Op::Load(*to, Vec::new()), Vec::new()),
        Stmt::Exchange { result, .. } | Stmt::ReadCounter { result, .. } | Stmt::Own { result, .. } => {
            let local = Expr::local(*result, module.locals[*result as usize].clone());
            word(local)
        }
        _ => Expr::uint(1),
    };
    // The output comes first, in case the statement counts in the output.
    module.main.body = vec![stmt, Stmt::Output(Expr::uint(0), shown_value)];
    repair(&mut module);
    module
}

/// Changes a module so that it has none of these features. An operation becomes one of its
/// operands, another operation or zero. A statement is removed.
pub(super) fn leave_out(module: &mut Module, features: &Features) {
    if features.is_empty() {
        return;
    }
    let is_left_out = |feature: Option<Feature>| feature.is_some_and(|feature| features.contains(&feature));
    while is_left_out(version_feature(module.minor)) {
        module.minor = if module.minor == 6 { 5 } else { 3 };
    }
    // Before SPIR-V 1.4, no instruction copies between layouts or selects composites.
    let before_1_4 = module.minor < 4;
    let needs_newer = |e: &Expr| e.ty.scalar().is_none() && matches!(e.op, Op::Select | Op::Table(_));
    let counters = module.counters.clone();
    module.each_block(&mut |block| {
        block.iter_mut().for_each(|stmt| {
            if is_left_out(stmt_feature(stmt, &counters))
                && let Stmt::Switch(_, cases, ..) = stmt
            {
                cases.iter_mut().for_each(|case| case.falls = false);
            }
        });
        block.retain(|stmt| !is_left_out(stmt_feature(stmt, &counters)));
    });
    module.each_expr(&mut |e| {
        while is_left_out(expr_feature(e)) || before_1_4 && needs_newer(e) {
            *e = replacement(e, &is_left_out);
        }
    });
    repair(module);
}

fn replacement(e: &Expr, is_left_out: &dyn Fn(Option<Feature>) -> bool) -> Expr {
    if e.op == Op::ConstructByInsertion {
        return Expr { op: Op::Construct, ..e.clone() };
    }
    let integers = e.ty.scalar().is_some_and(|(scalar, _)| scalar != Scalar::Bool);
    if integers && e.args.len() == 2 && e.args.iter().all(|arg| arg.ty == e.ty) {
        let xor = Expr { op: Op::Binary(Binary::BitwiseXor), ..e.clone() };
        if !is_left_out(expr_feature(&xor)) {
            return xor;
        }
    }
    e.args.iter().rfind(|arg| arg.ty == e.ty).cloned().unwrap_or_else(|| Expr::zero(e.ty.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, module};
    use super::*;

    #[test]
    fn features_are_read_by_their_names() {
        let mut all = Features::new();
        for seed in 0..80 {
            all.extend(features(&module(seed, &Limits::default())));
        }
        assert!(all.len() > 60, "{}", all.len());
        for feature in &all {
            assert_eq!(feature.to_string().parse().as_ref(), Ok(feature));
        }
        for wrong in ["", "IAdd", "IAdd of floats", "SPIR-V 1.9", "of signed"] {
            assert!(wrong.parse::<Feature>().is_err(), "{wrong}");
        }
    }

    /// Modules have none of the features that are left out. Every module stays clean. Every probe
    /// is clean and has its feature.
    #[test]
    fn what_is_left_out_is_gone_and_modules_stay_clean() {
        let loads = |module: &Module, what: &dyn fmt::Display| {
            let words = module.case().words;
            smallstep_semantics::spirv::Module::load(&words).unwrap_or_else(|e| panic!("{what}: {e}"));
        };
        for seed in 0..60 {
            let clean = module(seed, &Limits::default());
            let probes = probes(&clean);
            for (feature, probe) in &probes {
                assert!(features(probe).contains(feature), "{seed}: the probe of {feature}");
                loads(probe, feature);
                let left_out = Features::from([feature.clone()]);
                let mut without = clean.clone();
                leave_out(&mut without, &left_out);
                assert!(!features(&without).contains(feature), "{seed}: {feature}");
                loads(&without, feature);
            }
            let left_out: Features = probes.into_keys().step_by(2).collect();
            let limits = Limits { left_out: left_out.clone(), ..Limits::default() };
            let without = module(seed, &limits);
            assert!(features(&without).is_disjoint(&left_out), "{seed}");
            loads(&without, &seed);
        }
    }
}
