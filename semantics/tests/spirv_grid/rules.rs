//! Traces, planted rules, and invocations of fragment stages.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_trace_has_a_line_for_every_rule() {
    let module = load(&text(2, "", "", &format!("%i = OpLoad %uint %lix %r = OpIAdd %uint %i %c5 {}", store("i", "r"))));
    let mut lines = Vec::new();
    let mut sink = |event: &Event<'_, '_>| lines.push(event.line(&module));
    let buffers = [buffer(0, &[0; 2])];
    let outcome = grid::run(&module, &dispatch(1, &buffers), &Schedule::default(), &Relation::default(), &mut sink).expect("main is there");
    let Outcome::Observed(observation) = outcome else { panic!("{outcome:?}") };
    assert_eq!(lines.len() as u64, observation.instructions);
    let one = lines.iter().find(|line| line.starts_with("0.1 1 [spirv/compute]")).unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(one.contains("= OpIAdd in %") && one.ends_with(": 6"), "{one}");
    assert!(lines.iter().any(|line| line.contains("[spirv/store]") && line.ends_with("store of 0x6 to buffer 0 bytes 4+4")), "{lines:#?}");
}

fn chain_without_bounds<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

fn case_is_default<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    // It takes the first case for any selector.
    let next = step::control::switch_case(env, config)?;
    match next {
        Next::Config(mut next) => {
            let head = config.head()?;
            let target = head.operands(config.module.words())[1];
            (next.c, next.code) = (target, config.memory.block(config.module, target)?);
            Some(Next::Config(next))
        }
        other => Some(other),
    }
}

fn store_forgets<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::store(env, config)? {
        Next::Acts(next, _) => Some(Next::Config(next)),
        other => Some(other),
    }
}

fn call_keeps_block<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::composite::vector_shuffle(env, config)? {
        Next::Config(mut next) => {
            let r = config.head()?.result;
            let mut scalars = next.scalars(r)?;
            scalars.reverse();
            next.memory.define(config.module, r, Value::Scalars(scalars));
            Some(Next::Config(next))
        }
        other => Some(other),
    }
}

/// If a wrong rule is put in the place of a right one, the observation shows it.
#[test]
fn planted_rules_are_caught() {
    let body = format!(
        "%x = OpVectorShuffle %u2 %u12 %u34 0 3 %e = OpCompositeExtract %uint %x 0 OpSelectionMerge %m None OpSwitch %e %d 1 %a
        %a = OpLabel OpBranch %m %d = OpLabel OpBranch %m %m = OpLabel %r = OpPhi %uint %c3 %a %c4 %d {}",
        store("c0", "r")
    );
    let module = load(&text(1, "", "", &body));
    let buffers = [buffer(0, &[0])];
    let with = |rules: Rules| {
        let relation = Relation { rules, ..Relation::default() };
        shown(&grid::run(&module, &dispatch(1, &buffers), &Schedule::default(), &relation, &mut ()).expect("main is there"))[0].clone()
    };
    assert_eq!(with(Rules::standard()), "3");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvSwitchCase, case_is_default)), "4");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvStore, store_forgets)), "0");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvVectorShuffle, call_keeps_block)), "4");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvAccessChain, chain_without_bounds)), "stuck");
}

/// Fragment modules beyond λV's have no grid yet. The test runs one invocation by its rules.
#[test]
fn fragments_are_discarded_and_demoted() {
    let fired = |body: &str| {
        let text = format!(
            "OpCapability Shader OpCapability DemoteToHelperInvocation OpExtension \"SPV_EXT_demote_to_helper_invocation\"
            OpExtension \"SPV_KHR_terminate_invocation\" OpMemoryModel Logical GLSL450
            OpEntryPoint Fragment %main \"main\" OpExecutionMode %main OriginUpperLeft
            %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
            %main = OpFunction %void None %fn %entry = OpLabel {body} OpFunctionEnd"
        );
        let module = load(&text);
        let entry = module.entry_point("main").expect("main is there");
        let shared = Shared::new(&module, &[], &dispatch(1, &[])).expect("nothing is used");
        let relation = Relation::default();
        let env = Env { calculator: &relation.calculator, shared: &shared, invocation: 0, workgroup: 0, judged: false, over: None };
        let mut config = Config::enter(&module, module.entry_block(entry).label, Memory::load(&module, 0));
        let mut rules = Vec::new();
        loop {
            let mut reducts = relation.step(&env, &config);
            let reduct = reducts.pop().unwrap_or_else(|| panic!("stuck after {rules:?}"));
            assert!(reducts.is_empty());
            rules.push(reduct.rule.name());
            match reduct.next {
                Next::Config(next) => config = next,
                Next::Ends(_) => return (rules, "ends", config.helper),
                Next::Discards(_) => return (rules, "discards", config.helper),
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(fired("OpKill"), (vec!["spirv/kill"], "discards", false));
    assert_eq!(fired("OpTerminateInvocation"), (vec!["spirv/terminate-invocation"], "discards", false));
    let demoted = "OpDemoteToHelperInvocation %h = OpIsHelperInvocationEXT %bool OpSelectionMerge %m None
        OpBranchConditional %h %y %m %y = OpLabel OpBranch %m %m = OpLabel OpReturn";
    let rules = ["demote", "is-helper", "nop", "branch-conditional-true", "branch", "return"].map(|rule| format!("spirv/{rule}"));
    let (found, ending, helper) = fired(demoted);
    assert_eq!((found.iter().map(|r| r.to_string()).collect::<Vec<_>>(), ending, helper), (rules.to_vec(), "ends", true));
}
