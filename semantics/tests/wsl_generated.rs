//! Generated WSL: well-typed programs are accepted, their derivations re-check and their trees print and read back; near misses are rejected by the rule that
//! they break. `SMALLSTEP_WSL_PROGRAMS` is how many of each are made; 300 if it is not set.

use smallstep_semantics::wsl::generate::typed::{Fault, near_miss, program};
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::validate::validate;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

#[test]
fn well_typed_programs_are_accepted_and_re_checked() {
    let mut failed = 0;
    for seed in 0..programs() {
        let text = program(seed);
        let found = validate(&text);
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
}

#[test]
fn near_misses_break_the_rule() {
    let per = programs() / Fault::ALL.len() as u64 + 1;
    let (mut made, mut failed, mut only) = (0, 0, 0);
    for fault in Fault::ALL {
        let mut here = 0;
        for seed in 0..per * 200 {
            let Some((text, rule)) = near_miss(seed, *fault) else { continue };
            here += 1;
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
    println!("{made} near misses, {only} of which break no other rule");
    assert_eq!(failed, 0);
}
