//! For every undefined behaviour of the registry, a program that shows it. The relation and the
//! lockstep machine give the same report.

use pretty_assertions::assert_eq;
use smallstep_semantics::undefined::Ub;

use super::*;

/// A program that shows an undefined behaviour.
struct Exhibit {
    ub: Ub,
    /// Invocations of the one workgroup.
    size: u32,
    body: &'static str,
    /// A part of the report.
    says: &'static str,
}

const fn exhibit(ub: Ub, size: u32, body: &'static str, says: &'static str) -> Exhibit {
    Exhibit { ub, size, body, says }
}

/// The undefined behaviours that no program shows, each with its reason.
const WITHOUT: &[(Ub, &str)] = &[
    (Ub::VertexOutOfBounds, "of draws: tests/spirv_draw"),
    (Ub::PointerToNothing, "the module has another capability: tests/spirv_grid/pointers.rs"),
    (Ub::PointersApart, "the module has another capability: tests/spirv_grid/pointers.rs"),
    (Ub::StoreReadOnly, "the lockstep machine leaves it to the relation: tests/spirv_grid/pointers.rs"),
    (Ub::NonUniformOperand, "the lockstep machine has no subgroups: tests/spirv_subgroups"),
    (Ub::DescriptorNotUniform, "the lockstep machine leaves arrays of descriptors to the relation: tests/spirv_grid/descriptors.rs"),
    (Ub::ClusterSize, "the lockstep machine has no subgroups: tests/spirv_subgroups"),
];

const DECORATIONS: &str = "OpDecorate %wide ArrayStride 4 OpDecorate %lowb Block OpDecorate %highb Block OpMemberDecorate %lowb 0 Offset 0
    OpMemberDecorate %highb 0 Offset 4 OpDecorate %low DescriptorSet 0 OpDecorate %low Binding 1 OpDecorate %low Aliased
    OpDecorate %high DescriptorSet 0 OpDecorate %high Binding 1 OpDecorate %high Aliased
    OpDecorate %plain DescriptorSet 0 OpDecorate %plain Binding 1 ";

const DECLARATIONS: &str =
    "%z = OpConstant %uint 0 %most = OpConstant %int 0x7fffffff %three = OpTypeArray %uint %c3 %wide = OpTypeArray %uint %c2
    %i64 = OpTypeInt 64 1 %u64 = OpTypeInt 64 0 %u16 = OpTypeInt 16 0 %far = OpConstant %u64 0x100000000 %before = OpConstant %i64 -1
    %farray = OpTypePointer Function %three %lowb = OpTypeStruct %wide %highb = OpTypeStruct %wide
    %plow = OpTypePointer StorageBuffer %lowb %phigh = OpTypePointer StorageBuffer %highb %pwide = OpTypePointer StorageBuffer %wide
    %low = OpVariable %plow StorageBuffer %high = OpVariable %phigh StorageBuffer %plain = OpVariable %plow StorageBuffer
    %shared = OpVariable %wv Workgroup %sarray = OpTypePointer Workgroup %three %many = OpVariable %sarray Workgroup";

/// Two paths: `first` runs in invocation 0, `other` in the others. Then all run `after`.
macro_rules! part {
    ($first:literal, $other:literal, $after:literal) => {
        concat!(
            "%i = OpLoad %uint %lix %is = OpIEqual %bool %i %c0 OpSelectionMerge %m None OpBranchConditional %is %y %n %y = OpLabel ",
            $first,
            " OpBranch %m %n = OpLabel ",
            $other,
            " OpBranch %m %m = OpLabel ",
            $after
        )
    };
}

/// A loop of three iterations, with %k from 0 to 2. The body must end in a branch to %next.
macro_rules! three_times {
    ($body:literal) => {
        concat!(
            "%i = OpLoad %uint %lix OpBranch %h %h = OpLabel %k = OpPhi %uint %c0 %entry %k1 %next OpLoopMerge %out %next None OpBranch %b
            %b = OpLabel ",
            $body,
            " %next = OpLabel %k1 = OpIAdd %uint %k %c1 %more = OpULessThan %bool %k1 %c3 OpBranchConditional %more %h %out %out = OpLabel"
        )
    };
}

const EXHIBITS: &[Exhibit] = &[
    exhibit(Ub::Unreachable, 1, "OpUnreachable %dead = OpLabel", "OpUnreachable was reached"),
    exhibit(
        Ub::Unreachable,
        1,
        "%v = OpVariable %farray Function %p = OpAccessChain %fword %v %c0 OpUnreachable %dead = OpLabel",
        "OpUnreachable was reached",
    ),
    exhibit(Ub::Unreachable, 70, part!("OpUnreachable %dead = OpLabel", "", ""), "OpUnreachable was reached"),
    exhibit(Ub::AccessOutOfBounds, 1, "%p = OpAccessChain %pword %buf %c0 %c4", "OpAccessChain has index 4"),
    exhibit(Ub::AccessOutOfBounds, 1, "%p = OpAccessChain %pword %buf %c0 %m1", "has index -1"),
    exhibit(Ub::AccessOutOfBounds, 1, "%p = OpAccessChain %pword %buf %c0 %far", "has index 4294967296"),
    exhibit(Ub::AccessOutOfBounds, 1, "%p = OpAccessChain %pword %buf %c0 %before", "has index -1"),
    exhibit(Ub::AccessOutOfBounds, 1, "%v = OpVariable %farray Function %q = OpIAdd %uint %c1 %c2 %p = OpAccessChain %fword %v %q", "of 3"),
    exhibit(Ub::AccessOutOfBounds, 1, "%q = OpNot %uint %c0 %p = OpAccessChain %wv %many %q", "has index -1"),
    exhibit(Ub::AccessOutOfBounds, 1, "%q = OpIMul %uint %c2 %c2 %p = OpInBoundsAccessChain %wv %many %q", "has index 4"),
    exhibit(Ub::DivisionByZero, 1, "%r = OpUDiv %uint %c1 %z", "OpUDiv divides by zero"),
    exhibit(Ub::DivisionByZero, 1, "%r = OpUMod %uint %c1 %z", "OpUMod divides by zero"),
    exhibit(Ub::DivisionByZero, 1, "%zi = OpBitcast %int %z %r = OpSRem %int %i1 %zi", "OpSRem divides by zero"),
    exhibit(Ub::DivisionByZero, 1, "%zz = OpCompositeConstruct %u2 %c1 %z %r = OpUMod %u2 %u12 %zz", "OpUMod divides by zero"),
    exhibit(Ub::DivisionByZero, 4, "%i = OpLoad %uint %lix %r = OpUDiv %uint %c1 %i", "OpUDiv divides by zero"),
    exhibit(
        Ub::DivisionByZero,
        1,
        three_times!("%left = OpISub %uint %c2 %k %r = OpUDiv %uint %c1 %left OpBranch %next"),
        "divides by zero",
    ),
    exhibit(Ub::DivisionOverflow, 1, "%r = OpSDiv %int %least %m1", "divides the least integer"),
    exhibit(Ub::DivisionOverflow, 1, "%r = OpSMod %int %least %m1", "OpSMod"),
    exhibit(Ub::ConversionRange, 1, "%r = OpConvertFToS %int %big", "whose value int does not hold"),
    exhibit(Ub::ConversionRange, 1, "%r = OpConvertFToU %uint %fm", "whose value uint does not hold"),
    exhibit(Ub::Wrap, 1, "%sum = OpIAdd %int %most %i1 %usum = OpIAdd %uint %c1 %c1", "OpIAdd overflows"),
    exhibit(Ub::Wrap, 1, "%sum = OpIAdd %int %i1 %i1 %usum = OpISub %uint %c1 %c2", "OpISub overflows"),
    exhibit(Ub::UndefinedOperand, 1, "%u = OpUndef %uint %r = OpUDiv %uint %c1 %u", "is undefined: spirv/undef made by"),
    exhibit(
        Ub::UndefinedOperand,
        1,
        "%u = OpUndef %uint %uu = OpCompositeConstruct %u2 %c1 %u %r = OpUMod %u2 %u12 %uu",
        "has an operand, ",
    ),
    exhibit(
        Ub::BranchOnUndefined,
        1,
        "%u = OpUndef %bool OpSelectionMerge %m None OpBranchConditional %u %y %m %y = OpLabel OpBranch %m %m = OpLabel",
        "OpBranchConditional depends on",
    ),
    exhibit(
        Ub::BranchOnUndefined,
        1,
        "%u = OpUndef %uint OpSelectionMerge %m None OpSwitch %u %m 1 %y %y = OpLabel OpBranch %m %m = OpLabel",
        "OpSwitch depends on",
    ),
    exhibit(
        Ub::BranchOnUndefined,
        1,
        "%v = OpVariable %fword Function %u = OpLoad %uint %v OpSelectionMerge %m None OpSwitch %u %m 1 %y %y = OpLabel OpBranch %m %m = OpLabel",
        "spirv/uninitialised made by",
    ),
    exhibit(Ub::AddressOnUndefined, 1, "%u = OpUndef %uint %p = OpAccessChain %pword %buf %c0 %u", "OpAccessChain has an index"),
    exhibit(
        Ub::Misaligned,
        1,
        "%p = OpAccessChain %pword %buf %c0 %c1 %x = OpLoad %uint %p Aligned 8",
        "byte 4, which is no multiple of 8",
    ),
    exhibit(Ub::Misaligned, 1, "%p = OpAccessChain %pword %buf %c0 %c1 OpStore %p %c1 Aligned 16", "OpStore accesses, through"),
    exhibit(
        Ub::Misaligned,
        1,
        "%p = OpAccessChain %pword %buf %c0 %c1 %q = OpAccessChain %pword %buf %c0 %c0 OpCopyMemory %q %p Aligned 8",
        "OpCopyMemory accesses, through",
    ),
    exhibit(
        Ub::DivergentBarrier,
        70,
        part!("OpControlBarrier %c2 %c2 %wgsem", "", ""),
        "reached by invocation (0,0,0) and not by all of its workgroup: invocation (1,0,0) has ended",
    ),
    exhibit(
        Ub::DivergentBarrier,
        4,
        part!("OpControlBarrier %c2 %c2 %wgsem", "OpControlBarrier %c2 %c2 %wgsem", ""),
        "invocation (1,0,0) waits at another, OpControlBarrier",
    ),
    // Invocation 0 waits in its first iteration, the others in their second.
    exhibit(
        Ub::DivergentBarrier,
        3,
        three_times!(
            "%nth = OpExtInst %uint %glsl UMin %i %c1 %now = OpIEqual %bool %k %nth OpSelectionMerge %s None OpBranchConditional %now %w %s
            %w = OpLabel OpControlBarrier %c2 %c2 %wgsem OpBranch %s %s = OpLabel OpBranch %next"
        ),
        "invocation (1,0,0) waits at it in another iteration of a loop or another call",
    ),
    // The first warp waits in its first iteration, and the second one in its second.
    exhibit(
        Ub::DivergentBarrier,
        128,
        three_times!(
            "%c64 = OpIMul %uint %c32 %c2 %nth = OpUDiv %uint %i %c64 %now = OpIEqual %bool %k %nth OpSelectionMerge %s None
            OpBranchConditional %now %w %s %w = OpLabel OpControlBarrier %c2 %c2 %wgsem OpBranch %s %s = OpLabel OpBranch %next"
        ),
        "invocation (64,0,0) waits at it in another iteration",
    ),
    exhibit(
        Ub::DivergentBarrier,
        2,
        part!("%f0c = OpFunctionCall %void %waits", "%f1c = OpFunctionCall %void %waits", ""),
        "invocation (1,0,0) waits at it in another iteration of a loop or another call",
    ),
    exhibit(Ub::DataRace, 2, "OpStore %shared %c1", "OpStore races with the earlier OpStore"),
    exhibit(Ub::DataRace, 2, "%p = OpAccessChain %pword %buf %c0 %c1 OpStore %p %c1", "both access byte 4"),
    exhibit(
        Ub::DataRace,
        2,
        part!("%p = OpAccessChain %wv %many %c2 OpStore %p %c1", "%q = OpAccessChain %wv %many %c2 %r = OpLoad %uint %q", ""),
        "both access byte 16",
    ),
    exhibit(
        Ub::OverlappingCopy,
        1,
        "%from = OpAccessChain %pwide %low %c0 %to = OpAccessChain %pwide %high %c0 OpCopyMemory %to %from",
        "overlap in part",
    ),
    exhibit(
        Ub::UndeclaredAlias,
        1,
        "%p = OpAccessChain %pword %low %c0 %c1 OpStore %p %c1 %q = OpAccessChain %pword %plain %c0 %c1 %r = OpLoad %uint %q",
        "accesses byte 4 of a buffer through",
    ),
];

fn module_of(exhibit: &Exhibit) -> String {
    let body = format!("OpLine %file 12 3 {}", exhibit.body);
    let waits = "%waits = OpFunction %void None %fn %in = OpLabel OpControlBarrier %c2 %c2 %wgsem OpReturn OpFunctionEnd";
    let int64 = "OpCapability Shader OpCapability Int64 OpCapability Int16";
    let wraps = if exhibit.ub == Ub::Wrap { "OpDecorate %sum NoSignedWrap OpDecorate %usum NoUnsignedWrap" } else { "" };
    format!("{} {waits}", text(exhibit.size, &format!("{DECORATIONS}{wraps}"), DECLARATIONS, &body)).replacen(
        "OpCapability Shader",
        int64,
        1,
    )
}

#[test]
fn every_undefined_behaviour_has_an_exhibit_that_both_engines_report_alike() {
    for &ub in Ub::ALL {
        let shown = EXHIBITS.iter().any(|exhibit| exhibit.ub == ub);
        let excused = WITHOUT.iter().any(|(of, _)| *of == ub);
        assert!(shown != excused, "{} has no exhibit, or is excused though it has one", ub.id());
    }
    let buffers = [buffer(0, &[0; 4]), buffer(1, &[0; 4])];
    for exhibit in EXHIBITS {
        let text = module_of(exhibit);
        let module = load(&text);
        let dispatch = dispatch(1, &buffers);
        let relation = by_relation(&module, &dispatch).expect("main is there");
        let Outcome::Undefined(undefined) = &relation else { panic!("{}: {relation:?}", exhibit.body) };
        assert_eq!(undefined.ub, exhibit.ub, "{}: {}", exhibit.body, undefined.what);
        assert!(undefined.what.contains(exhibit.says), "{}: {}", exhibit.body, undefined.what);
        let site = undefined.site.as_ref().expect("a dispatch has a site");
        if !exhibit.body.contains("OpLabel") {
            assert_eq!(site.line, Some(("a.comp".to_string(), 12, 3)), "{}", exhibit.body);
        }
        if exhibit.size == 1 {
            assert!(undefined.at.contains("invocation (0,0,0), step "), "{}", undefined.at);
        }
        let program = lockstep::Program::compile(&module, "main").unwrap_or_else(|e| panic!("{}: {e}", exhibit.body));
        for threads in [1, 2] {
            assert_eq!(program.run(&dispatch, threads), relation, "{}", exhibit.body);
        }
    }
}

/// Programs that would be undefined behaviour, but are refused before they run. The registry lists
/// them as refusals.
#[test]
fn what_no_run_can_meet_is_refused() {
    let loads = |decorations: &str, declarations: &str, body: &str| {
        let words = assemble(&text(1, decorations, declarations, body), Options::default()).unwrap_or_else(|e| panic!("{e}"));
        Module::load(&words).map(|_| ()).map_err(|e| e.to_string())
    };
    // A store to memory whose variable or member is declared NonWritable.
    let store = "%p = OpAccessChain %pword %buf %c0 %c0 OpStore %p %c1";
    assert!(loads("", "", store).is_ok());
    for decoration in ["OpDecorate %buf NonWritable", "OpMemberDecorate %block 0 NonWritable"] {
        let error = loads(decoration, "", store).expect_err("it stores to what is NonWritable");
        assert!(error.contains("declared NonWritable"), "{error}");
    }
    // A descriptor that binds nothing, and one that binds too little.
    let two = "%two = OpTypeArray %uint %c4 %fixed = OpTypeStruct %two %pfixed = OpTypePointer StorageBuffer %fixed
        %more = OpVariable %pfixed StorageBuffer";
    let decorations = "OpDecorate %two ArrayStride 4 OpDecorate %fixed Block OpMemberDecorate %fixed 0 Offset 0
        OpDecorate %more DescriptorSet 0 OpDecorate %more Binding 1";
    let module = load(&text(1, decorations, two, "%p = OpAccessChain %pword %more %c0 %c3 OpStore %p %c1"));
    for (buffers, says) in [(vec![buffer(0, &[0])], "no buffer at"), (vec![buffer(0, &[0]), buffer(1, &[0; 3])], "has 12 bytes")] {
        let found = both(&module, &dispatch(1, &buffers));
        assert!(matches!(&found, Outcome::Unsupported(what) if what.contains(says)), "{found:?}");
    }
}

/// A bug in a compiled program.
type Bug = fn(lockstep::Parts<'_>);

/// The comparison must find each bug.
#[test]
fn planted_differences_between_reports_are_seen() {
    let buffers = [buffer(0, &[0; 4]), buffer(1, &[0; 4])];
    let dispatch = dispatch(1, &buffers);
    let reports = |says: &str, bug: Bug| {
        let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.says.contains(says)).expect("an exhibit says so");
        let module = load(&module_of(exhibit));
        let program = lockstep::Program::compile(&module, "main").expect("it compiles");
        let relation = by_relation(&module, &dispatch).expect("main is there");
        (relation, program.planted(bug).run(&dispatch, 1))
    };
    let (relation, machine) = reports("of 3", |_| ());
    assert_eq!(relation, machine);
    let bugs: [(&str, Bug); 5] = [
        ("of 3", |parts| parts.blocks.iter_mut().for_each(|block| block.rules += 1)),
        ("of 3", |parts| parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Bound).for_each(lockstep::Code::drop_it)),
        ("overlap in part", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Overlap).for_each(lockstep::Code::drop_it)
        }),
        ("byte 4, which is", |parts| parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Align).for_each(|code| code.b = 4)),
        ("(64,0,0) waits at it", |parts| parts.codes.iter_mut().filter(|code| code.a == code.d).for_each(lockstep::Code::drop_it)),
    ];
    for (says, bug) in bugs {
        let (relation, machine) = reports(says, bug);
        assert_ne!(relation, machine, "{says}");
    }
}

/// The programs of `spec-tests/spirv` that are undefined behaviour.
#[test]
fn the_cases_are_reported_alike() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-tests/spirv");
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).expect("the cases are beside the crate") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a case");
        // The machine has no subgroups.
        let given = text.lines().find_map(|line| line.strip_prefix(";@ test undefined words="));
        let Some(given) = given.filter(|given| !given.contains("subgroup=")) else { continue };
        let words = given.split(',').flat_map(|word| {
            let (value, times) = word.split_once('*').unwrap_or((word, "1"));
            let number = |text: &str| text.trim().parse::<u32>().unwrap_or_else(|_| panic!("{}: {given}", path.display()));
            vec![number(value); number(times) as usize]
        });
        let buffers = [buffer(0, &words.collect::<Vec<_>>())];
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // The machine leaves arrays of descriptors to the relation, and stores through pointers if
        // their target may be read-only.
        if path.ends_with("store-read-only.spvasm") || path.ends_with("descriptor-not-uniform.spvasm") {
            continue;
        }
        assert!(lockstep::Program::compile(&module, "main").is_ok(), "{}", path.display());
        let outcome = both(&module, &dispatch(1, &buffers));
        assert!(matches!(outcome, Outcome::Undefined(_)), "{}: {outcome:?}", path.display());
        compared += 1;
    }
    assert!(compared >= 14, "{compared}");
}
