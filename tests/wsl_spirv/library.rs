//! Every function of the library is translated, and gives what WSL allows for corner values of its
//! arguments. `OTHERS` lists the exceptions and why.

use crate::cases::fine;
use smallstep::compile::wsl::Options;
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::{call_both, leaves};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::{Environment, FunctionId};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::library::{Argument, Key, Meaning, Name, Overload, TABLE, overloads};
use smallstep_semantics::wsl::texture::is_function;
use smallstep_semantics::wsl::types::{BUILT_IN, Scalar, Type, TypeId};
use smallstep_semantics::wsl::validate::validate;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Functions that are not called with values, or only by fragment shaders.
const OTHERS: &[Meaning] = &[
    // Derivatives have cases of their own (`stages`), since only fragment shaders have them.
    Meaning::Ddx,
    Meaning::Ddy,
    Meaning::DdxCoarse,
    Meaning::DdyCoarse,
    Meaning::DdxFine,
    Meaning::DdyFine,
    Meaning::Fwidth,
    Meaning::FwidthCoarse,
    Meaning::FwidthFine,
    // Atomics, barriers and enums have cases of their own (`cases`).
    Meaning::InterlockedAdd,
    Meaning::InterlockedAnd,
    Meaning::InterlockedOr,
    Meaning::InterlockedXor,
    Meaning::InterlockedMin,
    Meaning::InterlockedMax,
    Meaning::InterlockedExchange,
    Meaning::InterlockedCompareExchange,
    Meaning::DeviceMemoryBarrierWithGroupSync,
    Meaning::GroupMemoryBarrierWithGroupSync,
    Meaning::AllMemoryBarrierWithGroupSync,
    Meaning::EnumFrom,
    Meaning::EnumValue,
    // Elements of arrays are places in memory.
    Meaning::ElementPointer,
    Meaning::ElementCount,
    // The assigning forms of swizzles and indices have a test of their own
    // (`accessors_give_what_wsl_allows`).
    Meaning::SetSwizzle,
    Meaning::SetIndex,
    Meaning::Increment,
    Meaning::Decrement,
];

/// An expression that calls the function with the arguments `a`, `b`, …
fn called(name: &str, arguments: &[&str]) -> Option<String> {
    let operator = name.strip_prefix("operator");
    Some(match (operator, arguments) {
        (Some("[]"), [a, b]) => format!("{a}[{b}]"),
        (Some(sign), [a, b]) if !sign.starts_with(['.', '&', '[']) || sign == "&" => format!("({a} {sign} {b})"),
        (Some(sign), [a]) if !sign.starts_with('.') => format!("({sign}{a})"),
        (Some(_), _) => return None,
        (None, _) => format!("{name}({})", arguments.join(", ")),
    })
}

/// A program with a function `f` that calls a function of the library, and the meaning of
/// the latter.
struct Call {
    text: String,
    meaning: Meaning,
}

fn call_text(env: &Environment, overload: &Overload, write: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];
    let (mut parameters, mut arguments, mut before, mut after) = (Vec::new(), Vec::new(), String::new(), String::new());
    for (&ty, name) in overload.parameters.iter().zip(names) {
        match env.types.get(ty) {
            Type::Pointer(_, to) => {
                before += &format!("{} {name}; ", env.type_name(to));
                arguments.push(format!("&{name}"));
                after = name.to_string();
            }
            _ => {
                parameters.push(format!("{} {name}", env.type_name(ty)));
                arguments.push(name.to_string());
            }
        }
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (expression, parameters) = (write(&arguments)?, parameters.join(", "));
    let result = env.type_name(overload.result);
    Some(match (overload.result, after.is_empty()) {
        (_, true) => format!("{result} f({parameters}) {{ return {expression}; }}"),
        // The result holds the stored values, or the stored and the returned value.
        (TypeId::VOID, false) => {
            let of = env.type_name(overload.parameters[0]);
            format!("{of}[2] f({parameters}) {{ {before}{expression}; {of}[2] r; r[0] = b; r[1] = c; return r; }}")
        }
        (_, false) => format!("{result}[2] f({parameters}) {{ {before}{result}[2] r; r[1] = {expression}; r[0] = {after}; return r; }}"),
    })
}

/// The calls of all functions of values, with each type that they take. Of functions with many
/// arguments, some calls are left out.
fn all_calls() -> Vec<Call> {
    let mut env = Environment::default();
    let fixed: Vec<TypeId> = (1..BUILT_IN).map(TypeId).filter(|&t| !matches!(env.types.get(t), Type::Atomic(_) | Type::Sampler)).collect();
    let pointers: Vec<TypeId> =
        fixed.iter().map(|&t| env.types.intern(Type::Pointer(smallstep_semantics::wsl::syntax::AddressSpace::Thread, t))).collect();
    let mut calls = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |env: &Environment, overload: &Overload, write: &dyn Fn(&[&str]) -> Option<String>| {
        if OTHERS.contains(&overload.function.meaning()) {
            return;
        }
        if let Some(text) = call_text(env, overload, write)
            && seen.insert(text.clone())
        {
            calls.push(Call { text, meaning: overload.function.meaning() });
        }
    };
    for row in TABLE.iter().flat_map(|section| section.rows) {
        let Name::Function(name) = row.name else { continue };
        let counts: BTreeSet<usize> = row.signatures.iter().map(|s| s.parameters.len()).collect();
        for count in counts {
            let mut lists: Vec<Vec<TypeId>> = vec![Vec::new()];
            for _ in 0..count {
                let choices = |first: Option<TypeId>| -> Vec<TypeId> {
                    match first {
                        None => fixed.clone(),
                        Some(_) if count == 2 => fixed.iter().chain(&pointers).copied().collect(),
                        // With three or more arguments, the later ones have the type of the first,
                        // a scalar type, or a pointer type to the first.
                        Some(first) => {
                            let pointer = fixed.iter().position(|&t| t == first).map(|k| pointers[k]);
                            Scalar::ALL.iter().map(|&s| TypeId::scalar(s)).filter(|&t| t != first).chain([first]).chain(pointer).collect()
                        }
                    }
                };
                lists = lists
                    .into_iter()
                    .flat_map(|list| choices(list.first().copied()).into_iter().map(move |t| [&list[..], &[t]].concat()))
                    .collect();
            }
            for list in lists {
                let arguments: Vec<Argument> = list.iter().map(|&t| Argument::Typed(t)).collect();
                let mut found = Vec::new();
                overloads(&mut env.types, Key::Name(name), &arguments, &mut found);
                for overload in found {
                    add(&env, &overload, &|arguments| called(name, arguments));
                }
            }
        }
    }
    for &to in &fixed {
        let name = env.type_name(to);
        let scalar = match env.types.get(to) {
            Type::Scalar(s) | Type::Vector(s, _) | Type::Matrix(s, ..) => s,
            _ => continue,
        };
        let parts: Vec<TypeId> = match env.types.get(to) {
            Type::Scalar(_) => Scalar::ALL.iter().map(|&s| TypeId::scalar(s)).collect(),
            Type::Matrix(_, _, m) => vec![to, TypeId::scalar(scalar), TypeId::vector(scalar, m)],
            _ => vec![to, TypeId::scalar(scalar), TypeId::vector(scalar, 2), TypeId::vector(scalar, 3)],
        };
        let mut lists: Vec<Vec<TypeId>> = vec![Vec::new()];
        let mut all = lists.clone();
        for _ in 0..4 {
            lists = lists.into_iter().flat_map(|list| parts.iter().map(move |&t| [&list[..], &[t]].concat())).collect();
            all.extend(lists.clone());
        }
        all.extend((6..=16).map(|n| vec![TypeId::scalar(scalar); n]));
        for list in all {
            let arguments: Vec<Argument> = list.iter().map(|&t| Argument::Typed(t)).collect();
            let mut found = Vec::new();
            overloads(&mut env.types, Key::Cast(to), &arguments, &mut found);
            for overload in found {
                add(&env, &overload, &|arguments| Some(format!("{name}({})", arguments.join(", "))));
            }
        }
    }
    calls
}

const CORNERS: [u32; 14] = [
    0,
    1,
    2,
    0x3f80_0000,
    0xbf80_0000,
    0x4020_0000,
    0xc0a0_0000,
    0x7f80_0000,
    0x7fc0_0000,
    0x8000_0000,
    0x7fff_ffff,
    0x4f80_0000,
    0x3e4c_cccd,
    u32::MAX,
];

/// The verdicts of `times` calls with arguments drawn from the corner values.
fn judged(text: &str, times: u64) -> Vec<Verdict> {
    let found = validate(text);
    let Some(program) = found.program else { return vec![Verdict::Failed(format!("{text} is not valid: {:?}", found.errors))] };
    let f = FunctionId(program.env.functions.len() as u32 - 1);
    let mut layouts = Layouts::default();
    (0..times)
        .map(|time| {
            let mut drawn = 0;
            let arguments: Vec<Vec<u32>> = program
                .env
                .function(f)
                .parameters
                .iter()
                .map(|p| {
                    let size = layouts.of(&program.env, p.ty).map_or(0, |l| l.size / 4);
                    let mut words = vec![0; size as usize];
                    for (at, of) in leaves(&program, &mut layouts, p.ty).unwrap_or_default() {
                        drawn += 1;
                        let k = Strategy::Random(time * 77 + text.len() as u64).choose(drawn, time, CORNERS.len() as u64).unwrap_or(0);
                        let small = Strategy::Random(time).choose(drawn, 7, 8).unwrap_or(0) as u32;
                        words[at] = match of {
                            Scalar::Bool => CORNERS[k as usize] & 1,
                            Scalar::Float if time % 2 == 0 => (small as f32 * 0.75 - 2.0).to_bits(),
                            _ => CORNERS[k as usize],
                        };
                    }
                    words
                })
                .collect();
            call_both((&program, text), f, &arguments, &Options::default())
        })
        .collect()
}

#[test]
fn every_function_of_values_gives_what_wsl_allows() {
    let calls = all_calls();
    println!("{} calls", calls.len());
    let next = AtomicUsize::new(0);
    let all = Mutex::new((BTreeMap::<&str, u64>::new(), BTreeMap::<Meaning, u64>::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(call) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let judged = judged(&call.text, 3);
                    let mut all = all.lock().expect("no panic");
                    for judged in judged {
                        *all.0.entry(judged.name()).or_default() += 1;
                        match judged {
                            judged if fine(&judged) => *all.1.entry(call.meaning).or_default() += 1,
                            other => all.2.push(format!("{}: {other:?}", call.text)),
                        }
                    }
                }
            });
        }
    });
    let (counts, meanings, wrong) = all.into_inner().expect("no panic");
    println!("{} calls: {counts:?}", calls.len());
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    for row in TABLE.iter().flat_map(|section| section.rows).filter(|row| matches!(row.name, Name::Function(_) | Name::Cast)) {
        // Textures have a test of their own (`textures`).
        let of_textures = is_function(row.meaning);
        assert!(of_textures || OTHERS.contains(&row.meaning) || meanings.contains_key(&row.meaning), "{:?} is not called", row.meaning);
    }
}

/// Swizzles and indices of every type of vector and matrix, read and assigned.
#[test]
fn accessors_give_what_wsl_allows() {
    let env = Environment::default();
    let mut texts = Vec::new();
    for t in (1..BUILT_IN).map(TypeId) {
        let name = env.type_name(t);
        match env.types.get(t) {
            Type::Vector(s, n) => {
                let letters = &"xyzw"[..usize::from(n)];
                let (first, last) = (&letters[..1], &letters[letters.len() - 1..]);
                for word in [
                    first.to_string(),
                    last.into(),
                    format!("{last}{first}"),
                    format!("{first}{last}{first}"),
                    letters.chars().rev().collect(),
                ] {
                    let of = if word.len() == 1 { s.name().to_string() } else { format!("{}{}", s.name(), word.len()) };
                    texts.push(format!("{of} f({name} a) {{ return a.{word}; }}"));
                    if word.len() != 3 || n == 3 && word == "zyx" {
                        texts.push(format!("{name} f({name} a, {of} b) {{ a.{word} = b; return a; }}"));
                    }
                }
                texts.push(format!("{} f({name} a, uint i) {{ return a[i]; }}", s.name()));
                texts.push(format!("{name} f({name} a, uint i, {} b) {{ a[i] = b; return a; }}", s.name()));
                texts.push(format!("uint f({name} a) {{ return a.length; }}"));
            }
            Type::Matrix(s, _, m) => {
                texts.push(format!("{}{m} f({name} a, uint i) {{ return a[i]; }}", s.name()));
                texts.push(format!("{name} f({name} a, uint i, {}{m} b) {{ a[i] = b; return a; }}", s.name()));
                texts.push(format!("{name} f({name} a, uint i, uint j, {} b) {{ a[i][j] = b; return a; }}", s.name()));
            }
            _ => {}
        }
    }
    let mut wrong = Vec::new();
    for text in &texts {
        wrong.extend(judged(text, 6).into_iter().filter(|j| !fine(j)).map(|j| format!("{text}: {j:?}")));
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), texts.len(), wrong[..wrong.len().min(40)].join("\n"));
}
