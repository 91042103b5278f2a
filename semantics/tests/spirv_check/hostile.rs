//! Hostile modules. Loading ends in time proportional to the words. If it gives a module, every
//! question about its interface has an answer.

use std::fmt::Write as _;

use proptest::prelude::*;
use smallstep_semantics::spirv::types::Address;
use smallstep_semantics::spirv::{Config, Inputs, LoadError, Module, Options, Program, assemble};

use super::cases::{Says, cases};

/// Asks all questions about a loaded module. None of them may panic.
fn ask(module: &Module) {
    for (id, _) in module.types().iter() {
        let types = module.types();
        let _ = (types.text(id), types.members(id).len(), types.parameters(id).len(), types.contents(id), types.component(id));
        let _ = (types.part(id, 0), types.part(id, u64::MAX), types.address(Address::whole(id), u64::MAX), types.scalar_at(id, 0));
        if types.scalars(id) <= 1 << 12 {
            let mut count = 0;
            types.visit_scalars(id, &mut |_| count += 1);
            assert_eq!(count, types.scalars(id), "type %{id}");
            let _ = types.visit_addresses(Address::whole(id), &mut |_, _| {});
        }
    }
    for (index, i) in module.instructions().iter().enumerate() {
        let _ = (module.source_line(index), module.place(index), module.switch_cases(i).count(), module.integer(i.result));
        let type_ = module.type_of(i.result);
        if module.is_constant(i.result) && type_.is_some_and(|t| module.types().scalars(t) <= 1 << 12) {
            let mut scalars = Vec::new();
            module.constant_scalars(i.result, &mut scalars);
            assert_eq!(Some(scalars.len() as u64), type_.map(|t| module.types().scalars(t)), "constant %{}", i.result);
        }
    }
    for entry in module.entry_points() {
        let _ = (module.modes(entry), module.interface_of(entry), module.profile(entry));
        let machine = Program::compile(module, &entry.name).err();
        let relation = Config::start(module, &entry.name, Inputs::default()).err();
        assert_eq!(machine.is_some(), relation.is_some(), "{machine:?} and {relation:?}");
    }
    for function in module.functions() {
        let _ = (module.locals(function), module.parameters(function), module.callees(function).count());
        assert_eq!(module.function(function.id), Some(function));
    }
    for variable in module.variables() {
        let _ = (module.descriptor(variable.id), module.buffer_size(variable.id), module.interface(variable.id));
        assert_eq!(module.variable(variable.id), Some(variable));
    }
}

#[test]
fn every_module_that_loads_can_be_asked() {
    for (_, _, case) in cases().iter().filter(|c| c.0 == Says::Loads) {
        ask(&Module::load(&super::words(case)).unwrap_or_else(|e| panic!("{case}: {e}")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn a_mutated_module_loads_or_is_refused(case in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), 0u32..6, any::<u32>()), 1..4)) {
        let all = cases();
        let mut words = super::words(all[case.index(all.len())].2);
        for (at, how, by) in changes {
            let at = at.index(words.len());
            words[at] = match how {
                0 => by,
                1 => by % 128,
                2 => words[at].wrapping_add(1),
                3 => words[at].wrapping_sub(1),
                4 => words[(by as usize) % words.len()],
                _ => words[at] ^ (1 << (by % 32)),
            };
        }
        if let Ok(module) = Module::load(&words) {
            ask(&module);
        }
    }
}

fn load(text: &str) -> Result<Module, LoadError> {
    Module::load(&assemble(text, Options { version: Some((1, 3)) }).unwrap_or_else(|e| panic!("{e}")))
}

fn shell(decls: &str, body: &str) -> String {
    format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint GLCompute %main \"main\" OpExecutionMode %main LocalSize 1 1 1
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %uint = OpTypeInt 32 0 %true = OpConstantTrue %bool
        %u1 = OpConstant %uint 1 %u2 = OpConstant %uint 2 %big = OpConstant %uint 0x00ffffff {decls}
        %main = OpFunction %void None %fn %entry = OpLabel {body} OpReturn OpFunctionEnd "
    )
}

#[test]
fn constructs_nested_by_thousands_load() {
    let n = 20_000;
    let (mut body, mut ends) = (String::new(), Vec::new());
    for i in 0..n {
        if i % 2 == 0 {
            let _ = writeln!(body, "OpSelectionMerge %m{i} None OpBranchConditional %true %t{i} %m{i} %t{i} = OpLabel");
            ends.push(format!("OpBranch %m{i} %m{i} = OpLabel\n"));
        } else {
            let _ = writeln!(
                body,
                "OpBranch %h{i} %h{i} = OpLabel OpLoopMerge %m{i} %c{i} None OpBranchConditional %true %t{i} %m{i} %t{i} = OpLabel"
            );
            ends.push(format!("OpBranch %c{i} %c{i} = OpLabel OpBranch %h{i} %m{i} = OpLabel\n"));
        }
    }
    ends.iter().rev().for_each(|end| body.push_str(end));
    load(&shell("", &body)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn switches_of_thousands_of_cases_load() {
    let n = 30_000;
    let mut body = String::from("OpSelectionMerge %m None OpSwitch %u1 %m");
    (0..n).for_each(|i| write!(body, " {i} %c{i}").expect("a string grows"));
    for i in 0..n {
        // Every other case falls through.
        let next = if i % 2 == 0 { format!("%c{}", i + 1) } else { "%m".to_string() };
        let _ = write!(body, " %c{i} = OpLabel OpBranch {next}");
    }
    load(&shell("", &(body + " %m = OpLabel"))).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn chains_of_calls_and_of_pointers_load() {
    let n = 50_000;
    let mut text = shell(
        "%p = OpTypePointer Private %uint %v = OpVariable %p Private",
        "%q0 = OpCopyObject %p %v OpStore %q0 %u1 %call = OpFunctionCall %void %f0",
    );
    for i in 0..n {
        let next = if i + 1 < n { format!("%r{i} = OpFunctionCall %void %f{}", i + 1) } else { "OpNop".to_string() };
        let _ = write!(text, "%f{i} = OpFunction %void None %fn %l{i} = OpLabel {next} OpReturn OpFunctionEnd ");
    }
    load(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut body = String::from("%q0 = OpCopyObject %p %v ");
    (0..n).for_each(|i| write!(body, "%q{} = OpCopyObject %p %q{i} OpStore %q{i} %u1 ", i + 1).expect("a string grows"));
    load(&shell("%p = OpTypePointer Private %uint %v = OpVariable %p Private", &body)).unwrap_or_else(|e| panic!("{e}"));
    // The last function calls the first one.
    let cycle = text.replacen("OpNop", "%r = OpFunctionCall %void %f0", 1);
    assert!(load(&cycle).expect_err("recursion").to_string().starts_with("error[module/recursion]"));
}

#[test]
fn types_that_double_are_counted_and_not_walked() {
    let mut decls = String::from("%t0 = OpTypeStruct %uint %uint\n");
    (1..100).for_each(|i| writeln!(decls, "%t{i} = OpTypeStruct %t{} %t{}", i - 1, i - 1).expect("a string grows"));
    load(&shell(&decls, "")).unwrap_or_else(|e| panic!("{e}"));
    let limit = |decls: &str, body: &str| match load(&shell(decls, body)) {
        Err(LoadError::Limit(limit)) => limit.what,
        other => panic!("no limit: {:?}", other.map(|_| ())),
    };
    assert_eq!(limit(&format!("{decls} %p = OpTypePointer Private %t99 %v = OpVariable %p Private"), ""), "scalars in variables");
    assert_eq!(limit(&format!("{decls} %c = OpConstantNull %t99"), ""), "scalars in constants");
    let arrays = "%a = OpTypeArray %uint %big %b = OpTypeArray %a %big %c = OpTypeArray %b %big %p = OpTypePointer Workgroup %c %v = OpVariable %p Workgroup";
    assert_eq!(limit(arrays, ""), "scalars in variables");
    assert_eq!(limit(&decls, "%u = OpUndef %t99"), "scalars in a value");
}

/// Values without scalars. The module makes, moves and chooses as many of them as types can
/// express, in no time.
#[test]
fn structures_without_members_are_not_walked() {
    let mut decls = String::from("%t0 = OpTypeStruct\n");
    (1..100).for_each(|i| writeln!(decls, "%t{i} = OpTypeStruct %t{} %t{}", i - 1, i - 1).expect("a string grows"));
    (0..100).for_each(|i| writeln!(decls, "%t{} = OpTypeArray %t{} %big", i + 100, i + 99).expect("a string grows"));
    decls += "%null = OpConstantNull %t199 %pf = OpTypePointer Function %t199 %pp = OpTypePointer Private %t199
        %pp1 = OpTypePointer Private %t198 %v = OpVariable %pp Private %null %w = OpTypePointer Workgroup %t199
        %shared = OpVariable %w Workgroup";
    let body = "%own = OpVariable %pf Function %null %undef = OpUndef %t199 OpStore %own %undef %x = OpLoad %t199 %own OpStore %v %x
        OpStore %shared %x OpCopyMemory %v %own %p = OpAccessChain %pp1 %v %u1 %part = OpLoad %t198 %p
        %whole = OpCompositeInsert %t199 %part %x 3 OpStore %v %whole";
    load(&shell(&decls, body)).unwrap_or_else(|e| panic!("{e}"));
    // Structures without a size of their own are another case. Here they are unsupported.
    for (what, decls) in [
        ("a structure without fixed members", "%r = OpTypeRuntimeArray %uint %s = OpTypeStruct %r %t = OpTypeStruct %s %uint"),
        ("a structure without fixed members", "%r = OpTypeRuntimeArray %uint %s = OpTypeStruct %r %t = OpTypeArray %s %u1"),
        ("OpUndef of struct", "%r = OpTypeRuntimeArray %uint %s = OpTypeStruct %r %t = OpUndef %s"),
        ("OpUndef of struct", "%r = OpTypeRuntimeArray %uint %s = OpTypeStruct %uint %r %t = OpUndef %s"),
    ] {
        let error = load(&shell(decls, "")).expect_err("unsupported").to_string();
        assert!(error.starts_with(&format!("unsupported: {what}")), "{error}");
    }
}

#[test]
fn types_that_double_match_in_pairs() {
    let mut decls = String::from("%a0 = OpTypeStruct %uint %uint %b0 = OpTypeStruct %uint %uint\n");
    for i in 1..20 {
        let _ = writeln!(decls, "%a{i} = OpTypeStruct %a{} %a{} %b{i} = OpTypeStruct %b{} %b{}", i - 1, i - 1, i - 1, i - 1);
    }
    let text = shell(&decls, "%x = OpUndef %a19 %y = OpCopyLogical %b19 %x");
    let words = assemble(&text, Options { version: Some((1, 4)) }).unwrap_or_else(|e| panic!("{e}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn groups_of_decorations_that_multiply_are_a_limit() {
    let mut text = String::from("OpCapability Shader OpMemoryModel Logical GLSL450 ");
    (0..5000).for_each(|i| write!(text, "OpDecorate %g Location {} ", i % 3).expect("a string grows"));
    text.push_str("%g = OpDecorationGroup ");
    (0..1000).for_each(|_| text.push_str("OpGroupDecorate %g %t %t %t %t %t %t %t %t "));
    text.push_str("%t = OpTypeVoid");
    assert!(matches!(load(&text), Err(LoadError::Limit(limit)) if limit.what == "decorations"));
}

#[test]
fn entry_points_times_functions_end() {
    let n = 4000;
    let mut text = String::from("OpCapability Shader OpMemoryModel Logical GLSL450 ");
    (0..200).for_each(|i| write!(text, "OpEntryPoint GLCompute %f0 \"e{i}\" ").expect("a string grows"));
    text.push_str("OpExecutionMode %f0 LocalSize 1 1 1 %void = OpTypeVoid %fn = OpTypeFunction %void ");
    for i in 0..n {
        let _ = write!(text, "%f{i} = OpFunction %void None %fn %l{i} = OpLabel ");
        (i + 1..(i + 4).min(n)).for_each(|j| write!(text, "%c{i}_{j} = OpFunctionCall %void %f{j} ").expect("a string grows"));
        text.push_str("OpReturn OpFunctionEnd ");
    }
    load(&text).unwrap_or_else(|e| panic!("{e}"));
}
