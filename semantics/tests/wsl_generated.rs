//! Generated WSL programs. Well-typed programs are accepted, their derivations pass the recheck,
//! and their trees print and read back. Near misses are rejected by the rule that they break.
//! `SMALLSTEP_WSL_PROGRAMS` is the number of each. The default is 200.

use smallstep_generate::wsl::bound::{bind, restrictions};
use smallstep_generate::wsl::typed::{Fault, Purpose, Restriction, VERSION, executed, near_miss, program, textured};
use smallstep_semantics::image::{AddressMode, Filter, Sampler};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::group::{Resource, ResourceContents};
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::texture::is_writable;
use smallstep_semantics::wsl::types::{Scalar, Type};
use smallstep_semantics::wsl::validate::validate;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[test]
fn well_typed_programs_are_accepted_and_re_checked() {
    let mut failed = 0;
    let mut fired: Vec<Rule> = Vec::new();
    for seed in 0..programs() {
        let text = program(seed);
        let found = validate(&text);
        fired.extend(found.fired.rules());
        fired.sort_unstable();
        fired.dedup();
        let errors: Vec<String> = found
            .errors
            .iter()
            .map(|e| format!("[{}] {} `{}`", e.rule, e.message, &text[e.span.start as usize..(e.span.end as usize)]))
            .collect();
        let wrong = match &found.program {
            None => Some(errors.join("\n")),
            Some(p) => recheck(p).err().map(|r| format!("refuted: {r} `{}`", &text[r.span.start as usize..r.span.end as usize])),
        };
        let wrong = wrong.or_else(|| {
            let (tree, _) = parse(&text);
            let printed = print(&tree);
            let (again, errors) = parse(&printed);
            (!errors.is_empty() || !tree.same(&again)).then(|| format!("it does not read back:\n{printed}\n{errors:?}"))
        });
        if let Some(wrong) = wrong {
            eprintln!("seed {seed}: {wrong}");
            failed += 1;
            if failed == 1 {
                eprintln!("{text}");
            }
        }
    }
    assert_eq!(failed, 0);
    // Together they fire every rule of validation except `ep-not-called`, which can only fail.
    let validation = |name: &str| ["wsl/env-", "wsl/v-", "wsl/t-", "wsl/ep-"].iter().any(|p| name.starts_with(p));
    let silent: Vec<&str> = Rule::ALL.iter().filter(|r| !fired.contains(r)).map(|r| r.name()).filter(|n| validation(n)).collect();
    assert!(programs() < 200 || silent == ["wsl/ep-not-called"], "{silent:?}");
}

/// The texts of the tokens, and the characters between them.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    for c in text.chars() {
        match out.last_mut() {
            Some(last) if word(c) && last.ends_with(word) => last.push(c),
            Some(last) if "=<>&|+-".contains(c) && last.ends_with(|l: char| "=<>&|+-!*/%^".contains(l)) => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

#[test]
fn what_is_accepted_of_changed_programs_re_checks() {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut accepted = 0;
    for seed in 0..programs() {
        let good = tokens(&program(seed));
        for _ in 0..8 {
            let mut changed = good.clone();
            let (i, j) = (below(changed.len()), below(changed.len()));
            match below(4) {
                0 => drop(changed.remove(i)),
                1 => changed.swap(i, j),
                _ => {
                    // A token of the same kind in its place.
                    let kind = |t: &String| {
                        t.chars().next().map(|c| {
                            if c.is_ascii_alphabetic() {
                                0
                            } else if c.is_ascii_digit() {
                                1
                            } else {
                                2
                            }
                        })
                    };
                    let all: Vec<&String> = good.iter().filter(|t| kind(t) == kind(&good[i])).collect();
                    changed[i] = all[below(all.len())].clone();
                }
            }
            let text = changed.concat();
            if let Some(p) = validate(&text).program {
                accepted += 1;
                recheck(&p).unwrap_or_else(|r| panic!("seed {seed}: refuted: {r}\n{text}"));
            }
        }
    }
    println!("{accepted} changed programs are accepted");
}

#[test]
fn near_misses_break_the_rule() {
    let per = programs() / Fault::ALL.len() as u64 + 1;
    let (mut made, mut failed, mut only) = (0, 0, 0);
    let mut broken: Vec<Rule> = Vec::new();
    for fault in Fault::ALL {
        let mut here = 0;
        for seed in 0..per * 200 {
            let Some((text, rule)) = near_miss(seed, *fault) else { continue };
            here += 1;
            broken.push(rule);
            let found = validate(&text);
            if !found.errors.iter().any(|e| e.rule == rule) {
                let errors: Vec<String> = found
                    .errors
                    .iter()
                    .map(|e| format!("[{}] {} `{}`", e.rule, e.message, &text[e.span.start as usize..(e.span.end as usize)]))
                    .collect();
                eprintln!("{fault:?} seed {seed}: {rule} was to be broken: {}", errors.join("\n"));
                failed += 1;
                if failed < 3 {
                    eprintln!("{text}");
                }
            } else if found.errors.iter().all(|e| e.rule == rule) {
                only += 1;
            }
            if here == per {
                break;
            }
        }
        made += here;
        if here < per {
            eprintln!("{fault:?}: {here} of {per}");
            failed += 1;
        }
    }
    broken.sort_unstable();
    broken.dedup();
    println!("{made} near misses, {only} of which break no other rule, of {} rules", broken.len());
    assert_eq!(failed, 0);
}

/// Programs for execution are well typed, and have the restrictions that they claim.
#[test]
fn programs_to_be_executed_are_restricted_as_they_say() {
    let (mut failed, mut seen) = (0, std::collections::BTreeSet::new());
    for (seed, purpose) in (0..programs()).flat_map(|seed| [Purpose::Functions, Purpose::Compute, Purpose::Draws].map(|p| (seed, p))) {
        let made = executed(seed, purpose);
        seen.extend(made.restricted.iter().copied());
        let Some(program) = validate(&made.text).program else {
            eprintln!("{purpose:?}, seed {seed} is not valid:\n{}", made.text);
            failed += 1;
            continue;
        };
        let loops = made.text.matches("while (").count() + made.text.matches("for (").count();
        let counters = made.text.split("uint c").skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(counters.count(), loops, "a loop has no counter of its own:\n{}", made.text);
        assert_eq!(made.restricted.contains(&Restriction::Loops), loops > 0);
        let runs = |stage: &Stage| match purpose {
            Purpose::Compute => matches!(stage, Stage::Compute(size) if size.iter().product::<u32>() <= 64),
            Purpose::Draws => !matches!(stage, Stage::Compute(_)),
            Purpose::Functions | Purpose::Validation => false,
        };
        assert!(program.entry_points.iter().all(|entry| runs(&entry.stage)), "{}", made.text);
        assert_eq!(program.entry_points.is_empty(), purpose == Purpose::Functions);
        let shares = made.restricted.contains(&Restriction::Shared);
        assert!(!shares || !made.text.contains("Barrier") && !made.text.contains("Store("), "{}", made.text);
    }
    assert_eq!(failed, 0);
    // Types are rarely too large.
    seen.insert(Restriction::Sizes);
    assert!(programs() < 200 || seen.len() == 8, "{seen:?}");
}

/// If an entry point samples a texture of integers, no sampler clamps to its border. If it samples
/// a texture of floats too, no sampler filters linearly. One seed in eight is not restricted, and
/// neither are other entry points.
#[test]
fn samplers_beside_textures_of_integers_do_what_devices_do() {
    // For borders and for filters, the number of entry points that are restricted, of those with
    // such textures that clamp or filter nevertheless, and of others that clamp or filter.
    let mut counts = [[0u32; 3]; 2];
    for seed in 0..programs().max(400) {
        let text = textured(seed, Purpose::Compute).text;
        let program = validate(&text).program.unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        for entry in &program.entry_points {
            let Ok(mut resources) = Resource::of(&program, entry) else { continue };
            if !bind(&program, &mut resources, 4, 512, seed) {
                continue;
            }
            let samples = |floats: bool| {
                resources.iter().any(|resource| match &resource.contents {
                    ResourceContents::Texture(textured) if !is_writable(textured.kind) => {
                        let texel = program.env.types.get(textured.texel);
                        matches!(texel, Type::Scalar(Scalar::Float) | Type::Vector(Scalar::Float, _)) == floats
                    }
                    _ => false,
                })
            };
            let does = |what: fn(&Sampler) -> bool| {
                resources.iter().any(|resource| matches!(&resource.contents, ResourceContents::Sampler(Some(sampler)) if what(sampler)))
            };
            let clamps = does(|sampler| sampler.address.contains(&AddressMode::ClampToBorder));
            let filters = does(|sampler| [sampler.mag, sampler.min, sampler.mip].contains(&Filter::Linear));
            let restricted = restrictions(&program, &resources, seed);
            let cases = [(Restriction::Borders, samples(false), clamps), (Restriction::Filters, samples(false) && samples(true), filters)];
            for ((restriction, is_beside, does), counts) in cases.into_iter().zip(&mut counts) {
                let is_restricted = restricted.contains(&restriction);
                assert!(!is_restricted || is_beside && !does, "{restriction:?}, seed {seed}:\n{text}");
                counts[0] += u32::from(is_restricted);
                counts[1] += u32::from(is_beside && does);
                counts[2] += u32::from(!is_beside && does);
            }
        }
    }
    println!("restricted, left, elsewhere: {counts:?} of borders and filters");
    for [restricted, left, elsewhere] in counts {
        assert!(left > 0 && restricted > 4 * left && elsewhere > restricted / 4, "{restricted}, {left}, {elsewhere}");
    }
}

/// If a program calls only functions that compare, its samplers compare. If it calls only others,
/// no sampler compares. If it calls both, some samplers compare.
#[test]
fn samplers_compare_if_functions_do() {
    // The samplers that do not compare, and those that do, by what the program calls.
    let mut counts = std::collections::BTreeMap::<(bool, bool), [u32; 2]>::new();
    for seed in 0..programs().max(400) {
        let text = textured(seed, Purpose::Compute).text;
        let program = validate(&text).program.unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let calls = |names: &[&str]| names.iter().any(|name| text.contains(&format!("{name}(")));
        let compares = calls(&["SampleCmp", "SampleCmpLevelZero", "GatherCmp"]);
        let others =
            ["Sample", "SampleBias", "SampleGrad", "SampleLevel", "Gather", "GatherRed", "GatherGreen", "GatherBlue", "GatherAlpha"];
        let counted = counts.entry((compares, calls(&others))).or_default();
        for entry in &program.entry_points {
            let Ok(mut resources) = Resource::of(&program, entry) else { continue };
            bind(&program, &mut resources, 4, 512, seed);
            for resource in &resources {
                if let ResourceContents::Sampler(Some(sampler)) = &resource.contents {
                    counted[usize::from(sampler.compare.is_some())] += 1;
                }
            }
        }
    }
    println!("[do not compare, compare] by (calls functions that compare, calls others): {counts:?}");
    assert!(counts[&(true, false)][0] == 0 && counts[&(true, false)][1] > 0, "{counts:?}");
    assert!(counts[&(false, true)][0] > 0 && counts[&(false, true)][1] == 0, "{counts:?}");
    assert!(counts[&(true, true)].iter().all(|count| *count > 0), "{counts:?}");
}

/// Textured programs are well typed. Each of their entry points has a texture, and most programs
/// call a function on one.
#[test]
fn textured_programs_use_their_textures() {
    let (mut made, mut calls) = (0, 0);
    for (seed, purpose) in (0..programs()).flat_map(|seed| [Purpose::Compute, Purpose::Draws].map(|p| (seed, p))) {
        let text = textured(seed, purpose).text;
        let program = validate(&text).program.unwrap_or_else(|| panic!("{purpose:?}, seed {seed} is not valid:\n{text}"));
        let entries = text.lines().filter(|line| line.contains("compute ") || line.starts_with("fragment ") || line.starts_with("vertex "));
        let with_textures = entries.filter(|line| line.contains("Texture") && line.contains(": register(r7)"));
        assert_eq!(with_textures.count(), program.entry_points.len(), "{text}");
        made += 1;
        let names = ["Sample", "Load(", "Store(", "Gather", "GetDimensions("];
        calls += u64::from(names.iter().any(|name| text.contains(name)));
    }
    assert!(calls * 4 > made * 3, "{calls} of {made}");
}

/// Reports and journals name a program by its seed. So if a seed makes another program, VERSION
/// must change.
#[test]
fn a_seed_makes_the_program_of_its_version() {
    let text = |purpose| executed(3, purpose).text;
    let all = [Purpose::Functions, Purpose::Compute, Purpose::Draws].map(text).concat();
    let hash = all.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!((VERSION, hash), (4, 0x94b1_8326_8d37_972a), "{hash:#018x}");
}
