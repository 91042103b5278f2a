//! Programs to which `smallstep compare` attributes results that no interleaving shows: those that
//! can observe relaxed atomics at several locations in another order, and no others. Each program
//! is compared with another that shows a value it never shows. If the first can observe such an
//! order and its executions are not enumerated, the comparison is undecided. Otherwise it finds
//! a difference.

use smallstep::compute::ComputeModule;
use smallstep::theorem::refine::{Settings, Side, Summary, refines};
use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::spirv::{Module, Options, assemble};

/// A module of one workgroup with SIZE invocations. Each executes BODY, which uses three words of a
/// buffer through `%x`, `%y` and `%z`, two words of Workgroup memory, and the results.
const FRAME: &str = r#"
OpCapability Shader
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %gid
OpExecutionMode %main LocalSize SIZE 1 1
NAMES
OpDecorate %gid BuiltIn GlobalInvocationId
OpMemberDecorate %three 0 Offset 0
OpMemberDecorate %three 1 Offset 4
OpMemberDecorate %three 2 Offset 8
OpDecorate %three Block
OpDecorate %results ArrayStride 4
OpMemberDecorate %out_block 0 Offset 0
OpDecorate %out_block Block
OpDecorate %memory DescriptorSet 0
OpDecorate %memory Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%u = OpTypeInt 32 0
%v3 = OpTypeVector %u 3
CONSTANTS
%three = OpTypeStruct %u %u %u
%results = OpTypeArray %u %n16
%out_block = OpTypeStruct %results
%p_three = OpTypePointer StorageBuffer %three
%p_out = OpTypePointer StorageBuffer %out_block
%pu = OpTypePointer StorageBuffer %u
%shared_three = OpTypeStruct %u %u %u
%p_shared = OpTypePointer Workgroup %shared_three
%ps = OpTypePointer Workgroup %u
%p_gid = OpTypePointer Input %v3
%memory = OpVariable %p_three StorageBuffer
%out = OpVariable %p_out StorageBuffer
%shared = OpVariable %p_shared Workgroup
%gid = OpVariable %p_gid Input
%main = OpFunction %void None %function
%entry = OpLabel
%id = OpLoad %v3 %gid
%i = OpCompositeExtract %u %id 0
%x = OpAccessChain %pu %memory %n0
%y = OpAccessChain %pu %memory %n1
%z = OpAccessChain %pu %memory %n2
%sx = OpAccessChain %ps %shared %n0
%sy = OpAccessChain %ps %shared %n1
%out0 = OpAccessChain %pu %out %n0 %n0
BODY
OpReturn
OpFunctionEnd
"#;

/// Memory semantics: the kinds of ordering, and the storage classes.
const ACQUIRE: u32 = 0x2;
const RELEASE: u32 = 0x4;
const BOTH: u32 = 0x8;
const UNIFORM: u32 = 0x40;
const WORKGROUP: u32 = 0x100;

/// A program for the invocations of a workgroup, with an instruction per word. A `|` separates the
/// instructions of one invocation from those of the next.
///
/// `x=1` stores, `x` loads, `x+1` adds and shows the old value. `IAdd!x` is an operation by 1 whose
/// result is unused. Accesses are relaxed, unless they end in `.acq` or `.rel`. `acq`, `rel` and
/// `fence` are memory barriers. A suffix like `.acq:workgroup` orders Workgroup memory only, and
/// `@2` gives a scope other than the device. All invocations meet at each `;`. The barrier of
/// `;rel` only releases. `sx` and `sy` are in Workgroup memory.
struct Program {
    size: usize,
    phases: Vec<(u32, Vec<String>)>,
}

impl Program {
    fn of(text: &str) -> Program {
        let mut phases = Vec::new();
        for (k, phase) in text.split(';').enumerate() {
            let (semantics, phase) = match phase.strip_prefix("rel ") {
                Some(rest) => (RELEASE | UNIFORM | WORKGROUP, rest),
                None => (BOTH | UNIFORM | WORKGROUP, phase),
            };
            phases.push((if k == 0 { 0 } else { semantics }, phase.split('|').map(str::to_string).collect()));
        }
        let size = phases.iter().map(|(_, threads): &(u32, Vec<String>)| threads.len()).max().unwrap_or(1);
        Program { size, phases }
    }

    /// The module. Its first invocation also stores the number `stored`.
    fn text(&self, size: usize, stored: u32) -> String {
        let mut constants: Vec<u32> = (0..17).collect();
        let mut names = String::new();
        let mut results = 1;
        let mut body = String::new();
        for (p, (semantics, threads)) in self.phases.iter().enumerate() {
            if *semantics != 0 {
                constants.push(*semantics);
                body += &format!("OpControlBarrier %n2 %n2 %n{semantics}\n");
            }
            for (t, thread) in threads.iter().enumerate() {
                body += &format!("%is{p}_{t} = OpIEqual %bool %i %n{t}\nOpSelectionMerge %end{p}_{t} None\n");
                body += &format!("OpBranchConditional %is{p}_{t} %do{p}_{t} %end{p}_{t}\n%do{p}_{t} = OpLabel\n");
                if (p, t) == (0, 0) {
                    body += &format!("OpStore %out0 %n{stored}\n");
                }
                for word in thread.split_whitespace() {
                    body += &instruction(word, &mut results, &mut constants, &mut names);
                }
                body += &format!("OpBranch %end{p}_{t}\n%end{p}_{t} = OpLabel\n");
            }
        }
        constants.sort_unstable();
        constants.dedup();
        let constants: Vec<String> = constants.iter().map(|n| format!("%n{n} = OpConstant %u {n}")).collect();
        FRAME
            .trim_start()
            .replace("SIZE", &size.to_string())
            .replace("NAMES\n", &names)
            .replace("CONSTANTS", &constants.join("\n"))
            .replace("BODY\n", &body)
    }
}

/// The SPIR-V instructions of one word of a program.
fn instruction(word: &str, results: &mut u32, constants: &mut Vec<u32>, names: &mut String) -> String {
    let (word, scope) = word.split_once('@').unwrap_or((word, "1"));
    let (word, classes) = match word.split_once(':') {
        Some((word, "uniform")) => (word, UNIFORM),
        Some((word, "workgroup")) => (word, WORKGROUP),
        _ => (word, UNIFORM | WORKGROUP),
    };
    let (word, ordering) = match (word, word.rsplit_once('.')) {
        ("acq", _) => ("", ACQUIRE),
        ("rel", _) => ("", RELEASE),
        ("fence", _) => ("", BOTH),
        (_, Some((word, "acq"))) => (word, ACQUIRE),
        (_, Some((word, "rel"))) => (word, RELEASE),
        _ => (word, 0),
    };
    let semantics = if ordering == 0 { 0 } else { ordering | classes };
    constants.push(semantics);
    let how = format!("%n{scope} %n{semantics}");
    if word.is_empty() {
        return format!("OpMemoryBarrier {how}\n");
    }
    *results += 1;
    let r = *results;
    let show = format!("%p{r} = OpAccessChain %pu %out %n0 %n{r}\nOpStore %p{r} %r{r}\n");
    if let Some((at, value)) = word.split_once('=') {
        format!("OpAtomicStore %{at} {how} %n{value}\n")
    } else if let Some((at, value)) = word.split_once('+').filter(|(at, _)| !at.is_empty()) {
        format!("%r{r} = OpAtomicIAdd %u %{at} {how} %n{value}\n{show}")
    } else if let Some((op, at)) = word.split_once('!') {
        // OpName is not a use of a result.
        *names += &format!("OpName %r{r} \"unseen\"\n");
        format!("%r{r} = OpAtomic{op} %u %{at} {how} %n1\n")
    } else {
        format!("%r{r} = OpAtomicLoad %u %{word} {how}\n{show}")
    }
}

fn side(name: &str, text: &str) -> Side {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{name}: {}:{}: {}\n{text}", e.line, e.column, e.what));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    Side::new(name, ComputeModule::new(module, None).expect("one entry point"), None)
}

/// Compares a program with one that stores another number, over so many workgroups.
fn compared(text: &str, groups: u32) -> Summary {
    let program = Program::of(text);
    let size = program.size / groups as usize;
    let executions = Budget { executions: 0, steps: 0 };
    let settings = Settings { inputs: 1, groups: Some([groups, 1, 1]), fuel: 1 << 12, executions, ..Settings::default() };
    let [before, after] = [("BEFORE", 1), ("AFTER", 2)].map(|(name, stored)| side(name, &program.text(size, stored)));
    refines(&before, &after, &settings, |_| {}).expect("the interfaces match")
}

/// The programs for which the comparison does not find `expected`, a line each.
fn not(expected: &str, groups: u32, programs: &[(&str, &str)]) -> String {
    let mut wrong = String::new();
    for (name, text) in programs {
        let summary = compared(text, groups);
        let found = summary.disagreement.as_ref().map_or(summary.verdict().name(), |found| found.2.difference.kind.category());
        let why = format!("{:?}", summary.undecided);
        if found != expected || found == "undecided" && !why.contains("take effect in another order") {
            wrong += &format!("{name}: {found} {why}, where {expected} is due\n");
        }
    }
    wrong
}

/// Two accesses in program order, at different locations, may be seen in another order if nothing
/// orders them.
#[test]
fn what_nothing_orders_may_be_seen_in_another_order() {
    let wrong = not(
        "undecided",
        1,
        &[
            ("nothing is ordered", "x=1 y=1 | y x"),
            ("only the reader orders", "x=1 y=1 | y.acq x"),
            ("only the writer orders", "x=1 y=1.rel | y x"),
            ("the writer's fence only acquires", "x=1 acq y=1 | y.acq x"),
            ("the reader's fence only releases", "x=1 y=1.rel | y rel x"),
            ("the release is of other memory", "x=1 y=1.rel:workgroup | y.acq x"),
            ("the acquire is of other memory", "x=1 y=1.rel | y.acq:workgroup x"),
            ("the release is of the memory of one of the two", "sx=1 y=1.rel:uniform | y.acq sx"),
            ("the acquire is of the memory of one of the two", "sx=1 y=1.rel | y.acq:uniform sx"),
            ("the fence is before both stores", "rel x=1 y=1 | y.acq x"),
            ("the fence is after both stores", "x=1 y=1 rel | y.acq x"),
            ("the fence is before both loads", "x=1 y=1.rel | acq y x"),
            ("the fence is after both loads", "x=1 y=1.rel | y x acq"),
            ("the fence is of a single invocation", "x=1 rel@4 y=1 | y.acq x"),
            ("the other fence is of a single invocation", "x=1 y=1.rel | y acq@4 x"),
            ("a third invocation's store ends what is released", "x=1 y=1.rel | y.acq x | y=2"),
            ("a later store ends what is released", "x=1 y=1.rel y=2 | y.acq x"),
            ("stores and fences, then loads", "x=1 fence y | y=1 fence x"),
            ("additions and fences, then loads", "x+1 fence y | y+1 fence x"),
            ("stores of both, then a load", "x=1 fence y=1 | y=2 fence x"),
            ("loads, then stores", "x y=1 | y x=1"),
            ("two readers see two stores in opposite orders", "x=1 | y=1 | x y | y x"),
            ("two readers with fences see two stores in opposite orders", "x=1 | y=1 | x fence y | y fence x"),
            ("three invocations in a ring", "x=1 y=1 | y z=1 | z x"),
            ("three in a ring, of which one orders nothing", "x=1 y=1.rel | y z=1 | z.acq x"),
            ("an invocation leaves a meeting that only releases", "x=1 | y=1 ;rel y | x"),
            ("additions whose results are shown", "x+1 y+1 | y+1 x+1"),
            ("additions and minima", "IAdd!x IAdd!y | SMin!y SMin!x"),
        ],
    );
    assert!(wrong.is_empty(), "{wrong}");
}

/// Interleavings cover all behaviours if accesses are ordered by one location, by release and
/// acquire, or by a barrier. They also do if no invocation can observe the order.
#[test]
fn what_is_ordered_or_unseen_is_seen_in_no_other_order() {
    let wrong = not(
        "another value",
        1,
        &[
            ("release and acquire", "x=1 y=1.rel | y.acq x"),
            ("fences", "x=1 rel y=1 | y acq x"),
            ("one location", "x=1 x=2 | x x"),
            ("one location of which each has a copy", "x=1 y=1 | x x"),
            ("a third invocation's addition goes on with what is released", "x=1 y=1.rel | y.acq x | y+1"),
            ("what is released is overwritten by its reader", "x=1 y=1.rel | y.acq x y=2"),
            ("fences around what is released with both", "x=1 y=1.rel rel y=2 | y.acq x"),
            ("what is released is overwritten with a release", "x=1 y=1.rel y=2.rel | y.acq x"),
            ("a third invocation has stored before all meet", "| | y=2 ; x=1 y=1.rel | y.acq x |"),
            ("a third invocation stores after all meet", "x=1 y=1.rel | y.acq x | ; | | y=2"),
            ("three in a ring, all ordered", "x=1 y=1.rel | y.acq z=1.rel | z.acq x"),
            ("a chain that is no ring", "x=1 y=1 | y z | z=1 | x"),
            ("reads of what was stored before all meet", "| | x=1 y=1 ; x y | y x | x y"),
            ("reads of what is stored after all meet", "x y | y x | ; | | x=1 y=1"),
            ("reads of what the readers stored before all meet", "x=1 | y=1 ; x y | y x"),
            ("reads before one's own stores", "x.acq y.acq x=1.rel | y.acq x.acq y=1.rel"),
            ("stores before all meet and loads after", "x=1 | y=1 ; y | x"),
            ("additions that nobody sees", "IAdd!x IAdd!y | ISub!y IAdd!x"),
            ("bits that nobody sees", "And!x Or!y | Or!y And!x"),
            ("other bits that nobody sees", "Xor!x Xor!y | Xor!y Xor!x"),
            ("extremes that nobody sees", "SMin!x UMax!y | UMax!y SMin!x"),
            ("other extremes that nobody sees", "UMin!x SMax!y | SMax!y UMin!x"),
        ],
    );
    assert!(wrong.is_empty(), "{wrong}");
}

/// Between workgroups, a workgroup's barriers and fences of workgroup scope order nothing.
#[test]
fn the_scope_must_span_both_workgroups() {
    let reordered = [
        ("the fences are of a workgroup", "x=1 rel@2 y=1 | y acq@2 x"),
        ("one fence is of a workgroup", "x=1 rel@2 y=1 | y acq x"),
        ("the other fence is of a workgroup", "x=1 rel y=1 | y acq@2 x"),
        ("a barrier is in between", "x=1 | y=1 ; y | x"),
    ];
    let ordered = [("the fences are of the device", "x=1 rel y=1 | y acq x"), ("release and acquire", "x=1 y=1.rel | y.acq x")];
    let wrong = not("undecided", 2, &reordered) + &not("another value", 2, &ordered);
    assert!(wrong.is_empty(), "{wrong}");
}

/// The reason for undecided names the two accesses.
#[test]
fn the_accesses_are_named() {
    let summary = compared("x=1 y+1 | y x", 1);
    let why = format!("{:?}", summary.undecided);
    assert!(why.contains("OpAtomicStore") && why.contains("OpAtomicIAdd"), "{why}");
}

/// The search has a limit of 4096 accesses. Only accesses that another invocation may see count.
#[test]
fn only_accesses_that_others_may_see_count_toward_the_limit() {
    let met = |stores: usize| format!("sx=1 ; | {}", "sx=1 ".repeat(stores));
    for (name, text, expected) in [
        ("5000 that nobody else may see", "sx=1 ".repeat(5000), "agree"),
        ("4096 that another may see", met(4095), "agree"),
        ("4097 that another may see", met(4096), "undecided"),
    ] {
        let program = Program::of(&text);
        // Nothing shows the final contents of Workgroup memory.
        let idle = Program::of(if program.size == 1 { "" } else { " | " });
        let settings = Settings { inputs: 1, groups: Some([1; 3]), fuel: 1 << 14, ..Settings::default() };
        let [before, after] = [("BEFORE", idle), ("AFTER", program)].map(|(name, program)| side(name, &program.text(program.size, 1)));
        let summary = refines(&before, &after, &settings, |_| {}).expect("the interfaces match");
        assert_eq!(summary.verdict().name(), expected, "{name}: {:?}", summary.undecided);
    }
}

/// Two atomics race like plain accesses if the scope of one excludes the other.
#[test]
fn atomics_without_each_other_in_scope_race() {
    let racing =
        [("the store's is one invocation", "x=1 rel y=1@4 | y acq x"), ("the load's is one invocation", "x=1 rel y=1 | y@4 acq x")];
    let wrong = not("vacuous", 1, &racing);
    assert!(wrong.is_empty(), "{wrong}");
}

/// If the result depends on the order of two accesses, both orders are tried. Both programs show
/// the same in the order of the invocations. In the other order they differ.
#[test]
fn what_depends_on_the_order_is_tried_in_every_order() {
    for (before, after) in [
        ("x+1 | ; | IAdd!x", "x+1 | IAdd!x"),
        ("x | ; | x=1", "x | x=1"),
        ("Exchange!x | ; | IAdd!x", "Exchange!x | IAdd!x"),
        ("UMin!x | ; | IAdd!x", "UMin!x | IAdd!x"),
    ] {
        let [one, other] = [("BEFORE", before), ("AFTER", after)].map(|(name, text)| side(name, &Program::of(text).text(2, 1)));
        let settings = Settings { inputs: 4, groups: Some([1; 3]), ..Settings::default() };
        let summary = refines(&one, &other, &settings, |_| {}).expect("the interfaces match");
        assert_eq!(summary.verdict().name(), "disagree", "{after}: {summary:?}");
    }
}

/// If the order of atomics is not visible, it need not be tried, however many orders there are.
#[test]
fn an_order_that_nobody_can_tell_need_not_be_tried() {
    let program = Program::of(&format!("{} ; x", ["IAdd!x UMax!y"; 6].join(" | ")));
    let [before, after] = ["BEFORE", "AFTER"].map(|name| side(name, &program.text(program.size, 1)));
    let settings = Settings { inputs: 1, groups: Some([1; 3]), ..Settings::default() };
    let summary = refines(&before, &after, &settings, |_| {}).expect("the interfaces match");
    assert_eq!((summary.verdict().name(), summary.sampled), ("agree", 0), "{summary:?}");
}
