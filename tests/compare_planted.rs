//! Planted bugs in compilers and in the comparison itself: all are caught.
//!
//! A planted compiler is a script that rewrites the output of `smallstep dis` for a module. The
//! comparison must catch it with a module that it breaks. The same module must agree behind a
//! compiler that changes nothing. A bug planted in the comparison must change the result for a pair
//! of modules.
#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use common::frame::{ENDLESS, EXCHANGE, GUARDED, HOISTED, LOOP, TICKET};
use common::frame::{flat_fragment, float_frame, float_text, fragment, sampled, shown, storage, text, two};
use smallstep::compute::ComputeModule;
use smallstep::theorem::compilers::{Compiler, judge};
use smallstep::theorem::refine::{Planted, Settings, Side, StageModule, Summary, refines, refines_draws};
use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::spirv::{Module, Options, assemble};

fn words(text: &str) -> Vec<u32> {
    assemble(text, Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}\n{text}", e.line, e.column, e.what))
}

/// The settings of a comparison unless a test has its own: inputs of every level.
fn settings() -> Settings {
    Settings { inputs: 24, groups: Some([1; 3]), fuel: 1 << 12, ..Settings::default() }
}

/// A compiler with a planted bug.
struct Wrong {
    /// The bug in words.
    name: &'static str,
    /// The compiler: an expression for `sed -E` that edits the text of a module, or shell commands
    /// after `$`. In the latter, `$in` and `$out` are the files, `edit` applies a `sed -E`
    /// expression, and `id` finds the last id whose instruction matches.
    does: &'static str,
    /// A module that it breaks.
    module: String,
    /// The expected verdict, and a part of the cause.
    said: (&'static str, &'static str),
}

/// The definitions that every script starts with.
const SHELL: &str = r#"
in="$1"
out="$2"
text() { "$own" dis "$in"; }
edit() { text | sed -E "$1" > "$out.spvasm" && "$own" asm "$out.spvasm" -o "$out" > /dev/null; }
id() { text | sed -nE "s/^ *(%[0-9]+) = $1\$/\1/p" | tail -n 1; }
"#;

/// Runs a compiler on a module and compares. Returns the verdict and its cause.
fn judged(folder: &Path, does: &str, module: &str, limit: Duration) -> (&'static str, String) {
    let own = env!("CARGO_BIN_EXE_smallstep");
    let does = does.strip_prefix('$').map_or_else(|| format!("edit '{does}'"), str::to_string);
    let script = format!("own='{own}'\n{SHELL}{does}\n");
    let path = folder.join("compiler.sh");
    std::fs::write(&path, script).expect("written");
    let compiler = Compiler::named(&format!("cmd:sh '{}' {{in}} {{out}}", path.display()), Path::new(own), limit).expect("sh is there");
    let judgement = judge("the module", &words(module), None, &compiler, &settings());
    (judgement.status.name(), judgement.cause)
}

/// A dispatch that stores `%x`.
fn stored(body: &str) -> String {
    text(&format!("{body}\nOpStore %po %x"), false)
}

/// A dispatch that stores a float `%r`. The body computes it from `%m` and `%n`, two integers
/// converted to floats. Each operation is rounded as IEEE 754 says.
fn floats(body: &str, uncontracted: &str) -> String {
    let decorated: String = uncontracted.split_whitespace().map(|id| format!("\n@OpDecorate {id} NoContraction")).collect();
    let made = "%m = OpConvertUToF %f %a\n%n = OpConvertUToF %f %b\n";
    text(&format!("{made}{body}\n%x = OpBitcast %u %r\nOpStore %po %x{decorated}"), true)
}

/// Message passing: invocation 0 stores data and a flag, invocation 1 reads both.
fn passed(release: &str, acquire: &str) -> String {
    let zeroth = format!("OpAtomicStore %px %u2 %u0 %u1\nOpAtomicStore %py %u2 %{release} %u1");
    let first = format!("%ry = OpAtomicLoad %u %py %u2 %{acquire}\n%rx = OpAtomicLoad %u %px %u2 %u0\n{}", shown("ry", "rx"));
    text(&two(&zeroth, &first), false)
}

/// A dispatch with a function of two parameters, a private variable and a specialization constant.
fn with_functions(body: &str) -> String {
    let declared = "%p_private = OpTypePointer Private %u\n%kept = OpVariable %p_private Private %u7\n%given = OpSpecConstant %u 5\n\
        %of_two = OpTypeFunction %u %u %u\n%less = OpFunction %u None %of_two\n%l0 = OpFunctionParameter %u\n%l1 = OpFunctionParameter %u\n\
        %le = OpLabel\n%ld = OpISub %u %l0 %l1\nOpReturnValue %ld\nOpFunctionEnd\n%main = OpFunction";
    stored(body).replace("OpDecorate %gid", "OpDecorate %given SpecId 1\nOpDecorate %gid").replace("%main = OpFunction", declared)
}

/// A dispatch that reads two members of a uniform buffer, and push constants.
fn with_members() -> String {
    let decorations = "OpMemberDecorate %pair 0 Offset 0\nOpMemberDecorate %pair 1 Offset 4\nOpDecorate %pair Block\n\
        OpMemberDecorate %three 0 Offset 0\nOpMemberDecorate %three 1 Offset 8\nOpMemberDecorate %three 2 Offset 4\n\
        OpDecorate %three Block\n        OpDecorate %uniform DescriptorSet 0\nOpDecorate %uniform Binding 2\nOpDecorate %gid";
    let declared = "%pair = OpTypeStruct %u %u\n%three = OpTypeStruct %u %u %u\n%p_uniform = OpTypePointer Uniform %three\n\
        %pu_u = OpTypePointer Uniform %u\n%p_push = OpTypePointer PushConstant %pair\n\
        %pp_u = OpTypePointer PushConstant %u\n%uniform = OpVariable %p_uniform Uniform\n\
        %push = OpVariable %p_push PushConstant\n%main = OpFunction";
    stored(
        "%p1 = OpAccessChain %pu_u %uniform %u1\n%m1 = OpLoad %u %p1\n%p2 = OpAccessChain %pp_u %push %u1\n%m2 = OpLoad %u %p2\n\
         %t = OpIMul %u %m2 %u7\n%x = OpIAdd %u %m1 %t",
    )
    .replacen("OpDecorate %gid", decorations, 1)
    .replace("%main = OpFunction", declared)
}

/// A switch with two cases.
const SWITCHED: &str = "OpSelectionMerge %end None
    OpSwitch %a %other 1 %one 2 %two
    %one = OpLabel
    OpBranch %end
    %two = OpLabel
    OpBranch %end
    %other = OpLabel
    OpBranch %end
    %end = OpLabel
    %x = OpPhi %u %u7 %one %u31 %two %b %other";

fn compilers() -> Vec<Wrong> {
    let all = |name, does, module, verdict, cause| Wrong { name, does, module, said: (verdict, cause) };
    let shows = |name, does, module| all(name, does, module, "miscompiles", "BEFORE shows");
    let meets = |name, does, module, what| all(name, does, module, "miscompiles", what);
    let invalid = |name, does, module, what| all(name, does, module, "invalid", what);
    let plain = || stored("%x = OpISub %u %a %b");
    let less = || stored("%c = OpSLessThan %bool %a %b\n%x = OpSelect %u %c %u1 %u0");
    // The guarded operation is no division.
    let adds = GUARDED.replace("OpUDiv %u %a %b", "OpIAdd %u %a %b");
    // The loop reads nothing.
    let counts = || {
        let sums = LOOP.replace("%x = OpLoad %u %pk", "%x = OpIAdd %u %k %u1");
        text(&sums.replace("%pk = OpAccessChain %pu %in %u0 %k\n", ""), false)
    };
    let discards = "OpStore %out %white\n%left = OpFOrdLessThan %bool %x %f1\nOpSelectionMerge %m None\n\
        OpBranchConditional %left %k %m\n%k = OpLabel\nOpKill\n%m = OpLabel";
    let colour = "%v = OpCompositeConstruct %v4 %f0 %half %f1 %f1\n%w = OpVectorShuffle %v4 %v %v 0 1 2 3\nOpStore %out %w";
    let flat = "OpDecorate %in Location 0\nOpDecorate %in Flat";
    let texel = "%q = OpCompositeConstruct %v4 %f0 %half %f1 %f3\nOpImageWrite %o %at %q";
    vec![
        // Integers.
        shows("differences are sums", "s/OpISub/OpIAdd/", plain()),
        shows("the operands of a difference change places", "s/(OpISub [^ ]+) ([^ ]+) ([^ ]+)/\\1 \\3 \\2/", plain()),
        shows("signed division is unsigned", "s/OpSDiv/OpUDiv/", stored("%d = OpBitwiseOr %u %b %u1\n%x = OpSDiv %u %a %d")),
        shows(
            "an arithmetic shift is logical",
            "s/OpShiftRightArithmetic/OpShiftRightLogical/",
            stored("%x = OpShiftRightArithmetic %u %a %u4"),
        ),
        shows("a product of two is a shift by two", "s/OpIMul/OpShiftLeftLogical/", stored("%x = OpIMul %u %a %u2")),
        shows("a signed comparison is unsigned", "s/OpSLessThan/OpULessThan/", less()),
        shows("less is less or equal", "s/OpSLessThan /OpSLessThanEqual /", less()),
        shows("a selection takes the other", "s/(OpSelect [^ ]+ [^ ]+) ([^ ]+) ([^ ]+)/\\1 \\3 \\2/", less()),
        shows("the least of signed integers is that of unsigned ones", "s/SMin/UMin/", stored("%x = OpExtInst %u %glsl SMin %a %b")),
        shows("a mask is left out", "s/OpBitwiseAnd ([^ ]+) ([^ ]+) .*/OpCopyObject \\1 \\2/", stored("%x = OpBitwiseAnd %u %a %u7")),
        shows("a field of bits is taken with its sign", "s/FieldU/FieldS/", stored("%x = OpBitFieldUExtract %u %a %u0 %u7")),
        all(
            "a shift may go too far",
            "s/OpBitwiseAnd ([^ ]+) ([^ ]+) .*/OpCopyObject \\1 \\2/",
            stored("%n = OpBitwiseAnd %u %b %u31\n%x = OpShiftLeftLogical %u %a %n"),
            "miscompiles",
            "AFTER shows any value",
        ),
        meets(
            "sums must not wrap",
            "$edit \"0,/OpDecorate/s/OpDecorate/OpDecorate $(id \"OpIAdd .*\") NoUnsignedWrap\\n&/\"",
            stored("%x = OpIAdd %u %a %b"),
            "spirv/wrap",
        ),
        // Memory.
        shows("a store is lost", "/OpStore/d", plain()),
        shows("two stores change places", "/OpStore/{N; s/^(.*)\\n(.*)$/\\2\\n\\1/}", text("OpStore %po %b\nOpStore %po %a", false)),
        meets(
            "every element is the first",
            "s/(OpAccessChain [^ ]+ [^ ]+ )([^ ]+) [^ ]+$/\\1\\2 \\2/",
            text("OpStore %po %a", false),
            "spirv/data-race",
        ),
        all(
            "an initializer is dropped",
            "s/(Variable [^ ]+ Private) .*/\\1/",
            with_functions("%x = OpLoad %u %kept"),
            "miscompiles",
            "any value",
        ),
        all("a constant is undefined", "s/OpConstant ([^ ]+) 7$/OpUndef \\1/", stored("%x = OpIAdd %u %a %u7"), "miscompiles", "any value"),
        shows(
            "another component",
            "s/(OpCompositeExtract [^ ]+ [^ ]+) 1$/\\1 0/",
            stored("%v = OpCompositeConstruct %v2 %a %b\n%x = OpCompositeExtract %u %v 1"),
        ),
        shows(
            "a shuffle goes the other way round",
            "s/(OpVectorShuffle .*) 0 1$/\\1 1 0/",
            stored("%v = OpCompositeConstruct %v2 %a %b\n%w = OpVectorShuffle %v2 %v %v 0 1\n%x = OpCompositeExtract %u %w 0"),
        ),
        shows(
            "a member of a uniform buffer is elsewhere",
            "s/(OpMemberDecorate .* 1 Offset) 8/\\1 4/; s/(OpMemberDecorate .* 2 Offset) 4/\\1 8/",
            with_members(),
        ),
        shows(
            "a push constant is another",
            "$edit \"s/(OpAccessChain [^ ]+ $(id \"OpVariable .* PushConstant\")) [^ ]+$/\\1 $(id \"OpConstant [^ ]+ 0\")/\"",
            with_members(),
        ),
        // Control flow.
        shows("a branch goes the other way", "s/(OpBranchConditional [^ ]+) ([^ ]+) ([^ ]+)/\\1 \\3 \\2/", text(&adds, false)),
        all("a division is guarded the wrong way", "s/OpINotEqual/OpIEqual/", text(GUARDED, false), "miscompiles", "BEFORE shows"),
        shows(
            "the parents of a phi change places",
            "s/(OpPhi [^ ]+) ([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)/\\1 \\4 \\3 \\2 \\5/",
            text(&GUARDED.replace("OpPhi %u %q", "OpPhi %u %u7"), false),
        ),
        shows("a loop takes a turn more", "s/OpULessThan /OpULessThanEqual /", text(LOOP, false)),
        shows("a loop takes no turn", "s/OpULessThan /OpUGreaterThan /", text(LOOP, false)),
        all(
            "a loop never ends",
            "s/OpBranchConditional ([^ ]+) ([^ ]+) ([^ ]+)/OpBranchConditional \\1 \\2 \\2/",
            counts(),
            "miscompiles",
            "out of fuel",
        ),
        shows("a label of a switch is the next number", "s/(OpSwitch .*) 2 (%[0-9]+)$/\\1 3 \\2/", stored(SWITCHED)),
        shows("a case of a switch is the other", "s/(OpSwitch [^ ]+ [^ ]+) 1 ([^ ]+) 2 ([^ ]+)/\\1 1 \\3 2 \\2/", stored(SWITCHED)),
        shows(
            "arguments change places",
            "s/(OpFunctionCall [^ ]+ [^ ]+) ([^ ]+) ([^ ]+)/\\1 \\3 \\2/",
            with_functions("%x = OpFunctionCall %u %less %a %b"),
        ),
        shows(
            "a specialization constant has another default",
            "s/OpSpecConstant ([^ ]+) 5/OpSpecConstant \\1 6/",
            with_functions("%x = OpIMul %u %a %given"),
        ),
        // Floats.
        shows("a sum of floats is a difference", "s/OpFAdd/OpFSub/", floats("%r = OpFAdd %f %m %n", "%r")),
        shows("cosine for sine", "s/ Sin / Cos /", float_text("%r = OpExtInst %f %glsl Sin %a")),
        shows("a half for a third", "s/ 0.3+[0-9]*$/ 0.5/", float_text("%r = OpFMul %f %a %third")),
        shows(
            "a quotient of floats the other way round",
            "s/(OpFDiv [^ ]+) ([^ ]+) ([^ ]+)/\\1 \\3 \\2/",
            float_text("%r = OpFDiv %f %a %b"),
        ),
        shows("a negation is left out", "s/OpFNegate/OpCopyObject/", float_text("%r = OpFNegate %f %a")),
        shows(
            "what a sum adds is taken away again in spite of NoContraction",
            "$first=$(text | sed -nE \"s/^ *(%[0-9]+) = OpConvertUToF .*/\\1/p\" | head -n 1)\n\
             edit \"s/OpFSub ([^ ]+) .*/OpCopyObject \\1 $first/\"",
            floats("%t = OpFAdd %f %m %n\n%r = OpFSub %f %t %n", "%t %r"),
        ),
        shows("a float becomes an integer without its sign", "s/OpConvertSToF/OpConvertUToF/", floats("%r = OpConvertSToF %f %a", "")),
        // Order and atomics.
        meets("a barrier is removed", "/OpControlBarrier/d", text(EXCHANGE, false), "spirv/data-race"),
        meets("a barrier orders nothing", "s/(OpConstant [^ ]+) 264$/\\1 0/", text(EXCHANGE, false), "spirv/data-race"),
        meets(
            "a barrier moves below a load",
            "/OpControlBarrier/{h; N; N; N; s/^[^\\n]*\\n//; G}",
            text(EXCHANGE, false),
            "spirv/data-race",
        ),
        shows("an update is an exchange", "s/OpAtomicIAdd/OpAtomicExchange/", text(TICKET, false)),
        shows("the greatest is the least", "s/OpAtomicUMax/OpAtomicUMin/", text("%t = OpAtomicUMax %u %po %u1 %u0 %a", false)),
        shows("a release is relaxed", "s/(OpConstant [^ ]+) 260$/\\1 0/", passed("u260", "u258")),
        shows("an acquire is relaxed", "s/(OpConstant [^ ]+) 258$/\\1 0/", passed("u260", "u258")),
        all(
            "atomics are of the scope of one invocation",
            "$to=$(id \"OpConstant [^ ]+ 4\")\n\
             edit \"s/(OpAtomicStore [^ ]+) [^ ]+/\\1 $to/; s/(OpAtomicLoad [^ ]+ [^ ]+) [^ ]+/\\1 $to/\"",
            passed("u0", "u0"),
            "miscompiles",
            "spirv/data-race",
        ),
        // Interfaces.
        meets("a workgroup is larger", "s/LocalSize 4/LocalSize 8/", plain(), "another interface: a workgroup has"),
        meets("a binding is another", "s/Binding 1/Binding 5/", plain(), "another interface"),
        meets("an entry point is called otherwise", "s/\"main\"/\"other\"/", plain(), "another interface"),
        meets("another built-in", "s/BuiltIn GlobalInvocationId/BuiltIn NumWorkgroups/", plain(), "spirv/data-race"),
        // Stages and images.
        shows("another colour", "s/(OpVectorShuffle .*) 0 1 2 3$/\\1 2 1 0 3/", fragment(colour)),
        shows(
            "an offset into an image is left out",
            "s/Lod.ConstOffset ([^ ]+) .*/Lod \\1/",
            sampled().replace("Lod %f0", "Lod|ConstOffset %f0 %by").replace(
                "%image = OpTypeImage",
                "%int = OpTypeInt 32 1\n%i1 = OpConstant %int 1\n%i2 = OpTypeVector %int 2\n\
                 %by = OpConstantComposite %i2 %i1 %i1\n%image = OpTypeImage",
            ),
        ),
        shows("an image is read at other coordinates", "s/(OpVectorShuffle .*) 0 1$/\\1 1 0/", sampled()),
        shows("a discard is left out", "s/OpKill/OpReturn/", fragment(discards)),
        shows("a depth is half", "s/OpConstant ([^ ]+) 0.5$/OpConstant \\1 0.25/", fragment("OpStore %out %white")),
        shows("Flat is dropped", "/ Flat/d", fragment("OpStore %out %c").replace("OpDecorate %in Location 0", flat)),
        shows(
            "a texel is stored by other components",
            "s/OpCompositeConstruct ([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)/OpCompositeConstruct \\1 \\3 \\2 \\4 \\5/",
            storage(texel),
        ),
        shows("a texel is not stored", "/OpImageWrite/d", storage(texel)),
        // Output that is no module, and compilers that fail.
        invalid("the return is left out", "/OpReturn$/d", plain(), "module/unterminated"),
        invalid("an id is defined twice", "s/^( *)(%[0-9]+) = OpISub .*/&\\n&/", plain(), "words/id-defined-twice"),
        invalid("a type is missing", "/OpTypeBool/d", less(), "module/undefined-id"),
        invalid("a result has another type", "s/OpISub %[0-9]+/OpISub %9/", plain(), "module/type"),
        invalid("a file of text", "$echo hello world > \"$out\"", plain(), "words/header"),
        invalid("half of the words", "$head -c 200 \"$in\" > \"$out\"", plain(), "words/truncated"),
        invalid("no file", "$exit 0", plain(), "writes no file"),
        all("it refuses everything", "$echo no such capability >&2; exit 1", plain(), "refuses", "no such capability"),
        all("it crashes", "$kill -SEGV $$", plain(), "crashes", "SIGSEGV"),
        all("it panics", "$echo panicked at a line >&2; exit 101", plain(), "crashes", "panicked at a line"),
        all("it hangs", "$exec sleep 600", plain(), "times out", "not ended after"),
    ]
}

#[test]
fn every_planted_compiler_is_caught() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut wrong, mut names) = (Vec::new(), BTreeSet::new());
    for Wrong { name, does, module, said: (verdict, cause) } in compilers() {
        assert!(names.insert(name), "{name} is there twice");
        let limit = Duration::from_secs(if verdict == "times out" { 1 } else { 60 });
        let (found, why) = judged(folder.path(), does, &module, limit);
        if found != verdict || !why.contains(cause) {
            wrong.push(format!("{name}: {found}: {why}, where {verdict}: {cause} is due"));
        }
    }
    println!("{} planted compilers", names.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), names.len(), wrong.join("\n"));
    assert!(names.len() >= 30, "{} compilers", names.len());
}

/// A comparison that blames every compiler would pass the test above, but not this one.
#[test]
fn a_compiler_that_changes_nothing_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let modules: BTreeSet<String> = compilers().into_iter().map(|wrong| wrong.module).collect();
    for module in &modules {
        let (found, why) = judged(folder.path(), "", module, Duration::from_secs(60));
        assert_eq!((found, why.as_str()), ("agrees", ""), "{module}");
    }
    assert!(modules.len() >= 20, "{} modules", modules.len());
}

/// A bug planted in the comparison, and the result for two modules without it.
struct Mistake {
    planted: Planted,
    before: String,
    after: String,
    settings: Settings,
    /// The expected result: the verdict with the number of inputs that agree, or the kind
    /// of difference.
    said: &'static str,
}

/// Compares two modules: dispatches, draws, or several entry points as if a compiler wrote AFTER.
fn said(before: &str, after: &str, settings: &Settings) -> String {
    let module = |text: &str| Module::load(&words(text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let of = |summary: Summary| match &summary.disagreement {
        Some(found) => found.2.difference.kind.category().to_string(),
        None => format!("{} {}", summary.verdict().name(), summary.agree),
    };
    if before.matches("OpEntryPoint").count() > 1 {
        let folder = tempfile::tempdir().expect("a folder");
        let [file, script] = ["after.spv", "compiler.sh"].map(|name| folder.path().join(name));
        std::fs::write(&file, words(after).iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).expect("written");
        std::fs::write(&script, format!("cp '{}' \"$2\"", file.display())).expect("written");
        let name = format!("cmd:sh '{}' {{in}} {{out}}", script.display());
        let compiler = Compiler::named(&name, Path::new("none"), Duration::from_secs(60)).expect("sh is there");
        return judge("the module", &words(before), None, &compiler, settings).status.name().into();
    }
    let summary = match before.contains("GLCompute") {
        true => {
            let side = |name: &str, text: &str| Side::new(name, ComputeModule::new(module(text), None).expect("one entry point"), None);
            refines(&side("BEFORE", before), &side("AFTER", after), settings, |_| {})
        }
        false => {
            let stages = |name: &str, text: &str| StageModule::new(name, module(text), None).unwrap_or_else(|e| panic!("{e}"));
            refines_draws(&stages("BEFORE", before), &stages("AFTER", after), settings, |_| {})
        }
    };
    summary.map_or_else(|_| "another interface".into(), of)
}

fn mistakes() -> Vec<Mistake> {
    let with = |planted, before: String, after: String, settings, said| Mistake { planted, before, after, settings, said };
    let of = |planted, before: String, after: String, said| with(planted, before, after, settings(), said);
    let bodies = |planted, before: &str, after: &str, said| of(planted, text(before, false), text(after, false), said);
    let few = |inputs| Settings { inputs, ..settings() };
    let pinned = |place: &str, bytes: Vec<u8>| vec![(place.parse().expect("a place"), bytes)];
    let chosen = |condition: &str| format!("%c = {condition}\n%x = OpSelect %u %c %b %a\nOpStore %po %x");
    let copies = "OpStore %po %a";
    let undefined = "%x = OpUndef %u\nOpStore %po %x";
    // `numbers` rounds once more than `number`.
    let numbers = "%m = OpConvertUToF %f %a\n%n = OpConvertUToF %f %b\n%t = OpFAdd %f %m %n\n\
        %r = OpFSub %f %t %n\n%y = OpBitcast %u %r\nOpStore %po %y";
    let number = "%m = OpConvertUToF %f %a\n%y = OpBitcast %u %m\nOpStore %po %y";
    // Stores the float with these bits.
    let kept = |bits: u32, strict| float_frame(32, strict, "%x = OpBitcast %f %given\nOpStore %po %x").replace("NUMBER", &bits.to_string());
    let sine = |body: &str| format!("%s = OpExtInst %f %glsl Sin %a\n%q = OpFAdd %f %s %third\n{body}");
    let cancels = "%t = OpFAdd %f %q %three\n%w = OpFSub %f %t %three\n%r = OpFAdd %f %w %two";
    let uncontracted = float_text(&sine("%r = OpFAdd %f %q %two"))
        .replace("OpDecorate %gid", "OpDecorate %q NoContraction\nOpDecorate %r NoContraction\nOpDecorate %gid");
    // In the default order, the store comes after the load.
    let waits: String = (0..4).map(|k| format!("%w{k} = OpAtomicLoad %u %pw %u2 %u0\n")).collect();
    let late = format!("%pw = OpAccessChain %p_shared %shared %u3\n{waits}OpAtomicStore %px %u2 %u0 %u1\n");
    let divides = "%rx = OpAtomicLoad %u %px %u2 %u0\n%seen = OpIEqual %bool %rx %u1\nOpSelectionMerge %unseen None\n\
        OpBranchConditional %seen %then %unseen\n%then = OpLabel\n%q = OpUDiv %u %a %u0\nOpBranch %unseen\n%unseen = OpLabel";
    let reverse = TICKET.replace("OpStore %po %t", "%r = OpISub %u %u3 %i\nOpStore %po %r");
    let budget = Budget { executions: 1, steps: 1_000 };
    let swapped = passed("u0", "u0").replace(
        "OpAtomicStore %px %u2 %u0 %u1\nOpAtomicStore %py %u2 %u0 %u1",
        "OpAtomicStore %py %u2 %u0 %u1\nOpAtomicStore %px %u2 %u0 %u1",
    );
    let both = |body: &str| {
        fragment(body)
            .replace(" %out %depth", " %out %out2 %depth")
            .replace("OpDecorate %out Location 0\n", "OpDecorate %out Location 0\nOpDecorate %out2 Location 1\n")
            .replace("%out = OpVariable %out4 Output\n", "%out = OpVariable %out4 Output\n%out2 = OpVariable %out4 Output\n")
    };
    let halves = "%r = OpExtInst %float %glsl Sqrt %half\n%o = OpCompositeConstruct %v4 %r %r %r %f1\nOpStore %out %o";
    let thirds = "%o = OpCompositeConstruct %v4 %third %third %third %f1\nOpStore %out %o";
    let copied = "OpImageWrite %o %at %r";
    // Two entry points that each store their own number.
    let entries = |first: &str, second: &str| {
        let other = format!(
            "OpFunctionEnd\n%other = OpFunction %void None %function\n%le = OpLabel\n\
             %lp = OpAccessChain %pu %out %u0 %u0\nOpStore %lp {second}\nOpReturn\nOpFunctionEnd\n"
        );
        text(&format!("%p0 = OpAccessChain %pu %out %u0 %i\nOpStore %p0 {first}"), false)
            .replace(
                "OpEntryPoint GLCompute %main",
                "OpEntryPoint GLCompute %other \"other\"\nOpExecutionMode %other LocalSize 1 1 1\nOpEntryPoint GLCompute %main",
            )
            .replace(
                "OpExecutionMode %other LocalSize 1 1 1\nOpEntryPoint GLCompute %main \"main\" %gid\n",
                "OpEntryPoint GLCompute %main \"main\" %gid\nOpExecutionMode %other LocalSize 1 1 1\n",
            )
            .replace("OpFunctionEnd\n", &other)
    };
    let guarded_twice = "%c = OpULessThan %bool %a %u31\n%d = OpSelect %u %c %u1 %u0\n%x = OpUDiv %u %b %d\nOpStore %po %x";
    vec![
        bodies(Planted::Swapped, undefined, copies, "agree 24"),
        of(Planted::Interface, text(copies, false), text(copies, false).replace("LocalSize 4", "LocalSize 2"), "another interface"),
        with(Planted::OddInputs, text(copies, false), text(&chosen("OpUGreaterThan %bool %a %u264"), false), few(2), "another value"),
        bodies(Planted::OneDraft, guarded_twice, guarded_twice, "agree 24"),
        bodies(Planted::VacuousAgrees, ENDLESS, copies, "vacuous 0"),
        bodies(
            Planted::UndecidedAgrees,
            "%q = OpUDiv %u %a %u7\nOpStore %po %a",
            "%y = OpUndef %u\n%d = OpBitwiseOr %u %y %u1\n%q = OpUDiv %u %a %d\nOpStore %po %a",
            "undecided 0",
        ),
        with(
            Planted::UncheckedAgrees,
            text(copies, false),
            text(copies, false),
            Settings { groups: Some([1 << 20, 1, 1]), pinned: pinned("0.0", vec![0; 64]), ..settings() },
            "unchecked 0",
        ),
        bodies(Planted::Tame, copies, "%c = OpSLessThan %bool %a %u0\n%x = OpSelect %u %c %b %a\nOpStore %po %x", "another value"),
        bodies(Planted::Unnamed, copies, &chosen("OpIEqual %bool %a %u260"), "another value"),
        with(
            Planted::OneWorkgroup,
            text(copies, false),
            text(&chosen("OpUGreaterThan %bool %i %u3"), false),
            Settings { groups: None, ..settings() },
            "another value",
        ),
        with(
            Planted::LastByte,
            text(copies, false),
            text(
                "%c = OpIEqual %bool %i %u3\n%n = OpISub %u %u31 %u7\n%h = OpShiftLeftLogical %u %u1 %n\n%y = OpSelect %u %c %h %u0\n\
                 %x = OpBitwiseXor %u %a %y\nOpStore %po %x",
                false,
            ),
            Settings { pinned: pinned("0.1", vec![0; 16]), ..settings() },
            "another value",
        ),
        bodies(Planted::FirstBuffer, copies, "OpStore %po %b", "another value"),
        of(
            Planted::Untouched,
            text("OpStore %po %u7", false),
            text("", false).replace("%po = OpAccessChain %pu %out %u0 %i\n", ""),
            "another value",
        ),
        bodies(Planted::AnyOfAfter, copies, undefined, "any value"),
        bodies(Planted::AnyOfBefore, undefined, copies, "agree 24"),
        of(Planted::Images, storage(copied), storage(""), "another value"),
        of(
            Planted::LastComponent,
            storage(copied),
            storage("%q = OpVectorShuffle %v4 %r %r 0 1 2 2\nOpImageWrite %o %at %q"),
            "another value",
        ),
        bodies(Planted::UndefinedAfter, GUARDED, HOISTED, "spirv/division-by-zero"),
        bodies(Planted::EndsAfter, copies, ENDLESS, "no observation"),
        bodies(Planted::Fuel, copies, "%y = OpIAdd %u %a %b\n%z = OpISub %u %y %b\nOpStore %po %z", "agree 24"),
        bodies(Planted::Doubt, numbers, number, "agree 24"),
        with(Planted::Floats, kept(0x3f80_0000, true), kept(0x4000_0000, true), few(1), "another value"),
        with(Planted::Nans, kept(0x7fc0_0000, true), kept(0x7fc0_0001, true), few(1), "agree 1"),
        with(Planted::ZeroSigns, kept(0, false), kept(1 << 31, false), few(1), "agree 1"),
        of(Planted::Sets, float_text("%r = OpExtInst %f %glsl Sin %a"), float_text("%r = OpExtInst %f %glsl Cos %a"), "another value"),
        of(Planted::Points, float_text("%r = OpFDiv %f %a %three"), float_text("%r = OpFMul %f %a %third"), "undecided 6"),
        of(Planted::Inside, float_text("%r = OpFDiv %f %a %three"), float_text("%r = OpFMul %f %a %third"), "undecided 6"),
        of(Planted::Cancelling, float_text(&sine("%r = OpFAdd %f %q %two")), float_text(&sine(cancels)), "undecided 9"),
        of(Planted::Contraction, uncontracted, float_text(&sine("%t = OpFAdd %f %third %two\n%r = OpFAdd %f %s %t")), "undecided 1"),
        bodies(Planted::OneOrder, &two("", &late), &two(divides, &late), "spirv/division-by-zero"),
        with(Planted::OneOrderBefore, text(TICKET, false), text(&reverse, false), few(3), "agree 3"),
        bodies(Planted::SameOrder, &two("", &late), &two(divides, &late), "spirv/division-by-zero"),
        with(Planted::SomeOrders, text(TICKET, false), text(&reverse, false), Settings { budget, schedules: 1, ..few(3) }, "undecided 0"),
        with(Planted::Executions, passed("u260", "u258"), passed("u0", "u0"), few(3), "another value"),
        with(Planted::ExecutionsBefore, passed("u0", "u0"), swapped, few(3), "agree 3"),
        of(
            Planted::Targets,
            both("OpStore %out %white\nOpStore %out2 %white"),
            both("OpStore %out %white\nOpStore %out2 %grey"),
            "another value",
        ),
        of(Planted::Depths, fragment("OpStore %out %white"), fragment("OpStore %depth %f0\nOpStore %out %white"), "another value"),
        of(Planted::TargetSets, flat_fragment(halves), flat_fragment(thirds), "another value"),
        of(Planted::FirstEntry, entries("%a", "%u7"), entries("%b", "%u7"), "miscompiles"),
        of(Planted::LastEntry, entries("%a", "%u7"), entries("%a", "%u4"), "miscompiles"),
    ]
}

#[test]
fn every_mistake_in_the_comparison_is_caught() {
    let mistakes = mistakes();
    let mut wrong = Vec::new();
    for Mistake { planted, before, after, settings, said: due } in &mistakes {
        let right = said(before, after, settings);
        if right != *due {
            wrong.push(format!("{planted:?}: without it {right} is said, where {due} is due"));
        }
        let with = said(before, after, &Settings { planted: Some(*planted), ..settings.clone() });
        if with == *due {
            wrong.push(format!("{planted:?} is not caught: {with}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), mistakes.len(), wrong.join("\n"));
    for planted in Planted::ALL {
        assert_eq!(mistakes.iter().filter(|mistake| mistake.planted == planted).count(), 1, "{planted:?}");
    }
}
