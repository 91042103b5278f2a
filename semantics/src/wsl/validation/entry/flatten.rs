//! Arguments and results, flattened through structures: seed 004 "Arguments and Return Types".

use super::bucket::semantic_text;
use super::{Item, MAX_ITEMS};
use crate::rule::Rule;
use crate::text::Symbol;
use crate::wsl::environment::{Builder, Function, Semantic};
use crate::wsl::error::Error;
use crate::wsl::types::{Type, TypeId};
use rustc_hash::FxHashMap;

/// The flattened form of arguments or results.
#[derive(Default)]
pub struct Flat {
    /// The items.
    pub items: Vec<Item>,
    /// Structures with a semantic, and a `void` result with one. They are no items.
    pub marked: Vec<Item>,
}

/// Flattens the arguments of a function.
pub fn arguments(b: &mut Builder, f: &Function) -> Flat {
    let mut out = Flat::default();
    for (i, p) in f.parameters.iter().enumerate() {
        let item = Item {
            parameter: Some(i as u32),
            path: Default::default(),
            name: Some(p.name),
            ty: p.ty,
            qualifiers: p.qualifiers.clone(),
            semantic: p.semantic,
            span: p.span,
        };
        flatten(b, item, &mut out);
    }
    out
}

/// Flattens the results of a function.
pub fn results(b: &mut Builder, f: &Function) -> Flat {
    let mut out = Flat::default();
    let item = Item {
        parameter: None,
        path: Default::default(),
        name: None,
        ty: f.result,
        qualifiers: Default::default(),
        semantic: f.semantic,
        span: f.result_span,
    };
    if f.result != TypeId::VOID {
        flatten(b, item, &mut out);
    } else if item.semantic.is_some() {
        out.marked.push(item);
    }
    out
}

fn flatten(b: &mut Builder, item: Item, out: &mut Flat) {
    let mut todo = vec![item];
    while let Some(item) = todo.pop() {
        let Type::Struct(s) = b.env.types.get(item.ty) else {
            out.items.push(item);
            continue;
        };
        if item.semantic.is_some() && out.marked.len() < MAX_ITEMS {
            out.marked.push(item.clone());
        }
        if out.items.len() + todo.len() + b.env.structure(s).fields.len() > MAX_ITEMS {
            let message = format!("this flattens to more than {MAX_ITEMS} items, which is the most that is read");
            b.errors.push(Error::new(Rule::WslEpBucket, item.span, message));
            return;
        }
        for (i, field) in b.env.structure(s).fields.iter().enumerate().rev() {
            let mut path = item.path.clone();
            path.push(i as u32);
            todo.push(Item {
                parameter: item.parameter,
                path,
                name: Some(field.name),
                ty: field.ty,
                qualifiers: field.qualifiers.clone(),
                semantic: field.semantic,
                span: field.span,
            });
        }
    }
}

/// each flattened argument and result is a built-in, a resource, a stage-in or stage-out variable
/// or a specialization constant, by its semantic    [wsl/ep-bucket, 004 Arguments and Return Types]
pub fn ep_bucket(b: &mut Builder, item: &Item) -> Option<Semantic> {
    let semantic = match item.semantic {
        Some((Semantic::OutOfRange, span)) => {
            let message = "the number of this semantic does not fit in 32 bits; the rule needs a nonnegative integer that does";
            b.errors.push(Error::new(Rule::WslEpBucket, span, message));
            return None;
        }
        semantic => semantic.map(|(s, _)| s),
    };
    b.require(Rule::WslEpBucket, semantic.is_some(), |env| {
        let what = item.name.map_or("what this entry point returns".to_string(), |n| format!("`{}`", env.names.name(n)));
        let message =
            format!("{what} has no semantic; an entry point's arguments and results are built-ins, resources, attributes or specialized");
        Error::new(Rule::WslEpBucket, item.span, message)
    });
    semantic
}

/// flattened members of the same name are identical
///                                               [wsl/ep-same-name, 004 Arguments and Return Types]
pub fn ep_same_name(b: &mut Builder, items: &[Item]) {
    let mut seen: FxHashMap<Symbol, &Item> = FxHashMap::default();
    for item in items {
        let Some(name) = item.name else { continue };
        let Some(first) = seen.insert(name, item) else { continue };
        let semantic = |i: &Item| i.semantic.map(|(s, _)| s);
        let same = first.ty == item.ty && first.qualifiers == item.qualifiers && semantic(first) == semantic(item);
        b.require(Rule::WslEpSameName, same, |env| {
            let text = env.names.name(name);
            let message =
                format!("there is another `{text}` among this entry point's flattened members, with another type, semantic or qualifiers");
            Error::new(Rule::WslEpSameName, item.span, message).note(Some(first.span), "the other one is declared here")
        });
    }
}

/// no two results of an entry point have the same semantic; arguments with one attribute have one
/// type                   [wsl/ep-single, 004 Arguments and Return Types; WSL-C29]
///
/// Arguments with one name are left to [`ep_same_name`].
pub fn ep_single(b: &mut Builder, arguments: &[Item], results: &[Item]) {
    let mut seen: FxHashMap<Semantic, &Item> = FxHashMap::default();
    for item in results {
        let Some((semantic, span)) = item.semantic.filter(|(s, _)| *s != Semantic::OutOfRange) else { continue };
        let first = *seen.entry(semantic).or_insert(item);
        b.require(Rule::WslEpSingle, std::ptr::eq(first, item), |_| {
            let message =
                format!("another result is {}; the rule needs one of each, for nothing says which counts", semantic_text(semantic));
            Error::new(Rule::WslEpSingle, span, message).note(first.semantic.map(|(_, span)| span), "the other one is here")
        });
    }
    seen.clear();
    for item in arguments {
        let Some((semantic @ Semantic::Attribute(_), span)) = item.semantic else { continue };
        let first = *seen.entry(semantic).or_insert(item);
        b.require(Rule::WslEpSingle, first.ty == item.ty || first.name == item.name, |env| {
            let [one, other] = [first, item].map(|i| (i.name.map_or("", |n| env.names.name(n)), env.type_name(i.ty)));
            let message = format!(
                "`{}` is {} of type {}, and `{}` is the same variable of type {}; the rule needs one type",
                other.0,
                semantic_text(semantic),
                other.1,
                one.0,
                one.1
            );
            Error::new(Rule::WslEpSingle, span, message).note(first.semantic.map(|(_, span)| span), "the other one is here")
        });
    }
}
