//! The assembler against `spirv-as`, the disassembler against the assembler, and the errors of both
//! for bad text.

#[path = "../../spec-tests/src/tools.rs"]
mod tools;

use std::path::PathBuf;
use std::process::Command;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use smallstep_semantics::spirv::{Options, assemble, bytes_of_words, disassemble, words_of_bytes};

fn modules() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/modules");
    let mut modules: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of sample modules")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "spvasm"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a module's text");
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
        })
        .collect();
    modules.sort();
    assert!(modules.len() >= 7, "the sample modules are gone");
    modules
}

fn with_header(text: &str) -> String {
    format!("OpCapability Shader\nOpMemoryModel Logical GLSL450\n{text}")
}

/// The words that spirv-as makes, or its error.
fn spirv_as(text: &str, version: (u8, u8)) -> Result<Vec<u32>, String> {
    let folder = std::env::temp_dir().join(format!("smallstep-as-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let (input, output) = (folder.join("in.spvasm"), folder.join("out.spv"));
    std::fs::write(&input, text).expect("writing the text");
    let environment = format!("spv{}.{}", version.0, version.1);
    let mut command = Command::new("spirv-as");
    command.args(["--preserve-numeric-ids", "--target-env", &environment, "-o"]).arg(&output).arg(&input);
    let result = match command.output() {
        Err(e) => panic!("spirv-as: {e}"),
        Ok(run) if run.status.success() => {
            Ok(words_of_bytes(&std::fs::read(&output).expect("spirv-as wrote its output")).expect("whole words"))
        }
        Ok(run) => Err(String::from_utf8_lossy(&run.stderr).into_owned()),
    };
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn without_generator(mut words: Vec<u32>) -> Vec<u32> {
    words[2] = 0;
    words
}

#[test]
fn sample_modules_have_the_words_that_spirv_as_gives_them() {
    if !tools::is_there("spirv-as") {
        return;
    }
    for (name, text) in modules() {
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let version = ((words[1] >> 16) as u8, (words[1] >> 8) as u8);
        let theirs = spirv_as(&text, version).unwrap_or_else(|e| panic!("{name}: spirv-as: {e}"));
        assert_eq!(without_generator(words), without_generator(theirs), "{name}");
    }
}

/// Literals in one module each. The assembler reads them as spirv-as does.
#[test]
fn literals_have_the_words_that_spirv_as_gives_them() {
    if !tools::is_there("spirv-as") {
        return;
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let types = [("OpTypeFloat 16", true), ("OpTypeFloat 32", true), ("OpTypeFloat 64", true), ("OpTypeInt 8 0", false)]
        .into_iter()
        .chain([("OpTypeInt 16 1", false), ("OpTypeInt 32 0", false), ("OpTypeInt 64 1", false)]);
    for (type_, float) in types {
        let mut text = format!("%t = {type_}\n");
        let mut accepted = 0;
        for i in 0..1500 {
            let literal = match (float, next(3)) {
                (true, 0) => format!("{}.{}e{}", next(1000), next(1_000_000), next(40) as i64 - 20),
                (true, 1) => format!("-0x{:x}.{:x}p{}", next(1 << 20), next(1 << 31), next(200) as i64 - 100),
                (true, _) => format!("{}", next(1 << 31)),
                (false, 0) => format!("-{}", next(1 << 18) >> next(18)),
                (false, 1) => format!("0x{:x}", next(1 << 31) >> next(31)),
                (false, _) => format!("{}", next(70000) >> next(16)),
            };
            let line = format!("%c{i} = OpConstant %t {literal}\n");
            if assemble(&format!("%t = {type_}\n{line}"), Options::default()).is_ok() {
                text.push_str(&line);
                accepted += 1;
            }
        }
        assert!(accepted > 100, "{type_}: only {accepted} of 1500 literals were read");
        let ours = assemble(&text, Options { version: Some((1, 3)) }).expect("each line was read");
        let theirs = spirv_as(&text, (1, 3)).unwrap_or_else(|e| panic!("{type_}: spirv-as: {e}"));
        let lines: Vec<&str> = text.lines().collect();
        for (i, (a, b)) in ours[8..].iter().zip(&theirs[8..]).enumerate() {
            let per_line = (ours.len() - 8) / (lines.len() - 1);
            assert_eq!(a, b, "{type_}: {:?}", lines.get(1 + i.saturating_sub(1) / per_line));
        }
    }
}

#[test]
fn text_to_words_to_text_to_words_is_stable() {
    let compared = tools::is_there("spirv-as");
    for (name, text) in modules() {
        // bang.spvasm holds no module that decodes.
        if name == "bang.spvasm" {
            continue;
        }
        let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let printed = disassemble(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
        let again = assemble(&printed, Options::default()).unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
        assert_eq!(words, again, "{name}\n{printed}");
        assert_eq!(printed, disassemble(&again).expect("it decoded before"), "{name}");
        // spirv-as reads the printed text as the assembler does.
        if compared {
            let theirs = spirv_as(&printed, ((words[1] >> 16) as u8, (words[1] >> 8) as u8));
            let theirs = theirs.unwrap_or_else(|e| panic!("{name}: spirv-as on our text: {e}\n{printed}"));
            assert_eq!(without_generator(words), without_generator(theirs), "{name}");
        }
    }
}

#[test]
fn words_that_no_literal_stands_for_are_printed_as_words() {
    let text = with_header("%s = OpTypeInt 16 1\n%c = OpConstant %s !0x12345678\n%h = OpTypeFloat 16\n%d = OpConstant %h !0x10000\n");
    let words = assemble(&text, Options::default()).expect("it assembles");
    let printed = disassemble(&words).expect("it decodes");
    assert!(printed.contains("OpConstant %1 !0x12345678") && printed.contains("OpConstant %3 !0x10000"), "{printed}");
    assert_eq!(assemble(&printed, Options::default()).as_ref(), Ok(&words));
}

#[test]
fn the_version_comes_from_options_or_comments() {
    let version = |text: &str, version| assemble(text, Options { version }).expect("an empty module")[1];
    assert_eq!(version("", None), 0x0001_0300);
    assert_eq!(version("; SPIR-V\n; Version: 1.5\n; Bound: 9\n", None), 0x0001_0500);
    assert_eq!(version("; Version: 1.5\n", Some((1, 0))), 0x0001_0000);
    assert_eq!(version("; Version: 9.5\n", None), 0x0001_0300);
    assert_eq!(version("OpNop\n; Version: 1.5\n", None), 0x0001_0300);
    assert_eq!(assemble("; Bound: 9\nOpNop", Options::default()).expect("it assembles")[3], 9);
}

#[test]
fn names_get_the_lowest_free_numbers_and_numbers_are_kept() {
    let words =
        assemble("%b = OpTypeVoid\n%2 = OpTypeBool\n%1 = OpTypeSampler\n%a = OpTypeFunction %b", Options::default()).expect("it assembles");
    assert_eq!(words[3], 5);
    assert_eq!(&words[5..], &[0x0002_0013, 3, 0x0002_0014, 2, 0x0002_001a, 1, 0x0003_0021, 4, 3]);
}

#[test]
fn bad_text_is_refused_with_its_place() {
    let cases = [
        ("OpCapability Shadr", "1:14: expected Capability for OpCapability, found \"Shadr\""),
        ("OpCapability", "1:13: expected Capability for OpCapability, found the end of the text"),
        ("OpCapability OpNop", "1:14: expected Capability for OpCapability, found the next instruction"),
        ("\n  OpFoo", "2:3: expected an opcode or a result id, found \"OpFoo\""),
        ("foo", "1:1: expected an opcode or a result id, found \"foo\""),
        ("%1 OpTypeVoid", "1:4: expected \"=\" after \"%1\""),
        ("%1=OpTypeVoid", "1:14: expected \"=\" after \"%1=OpTypeVoid\""),
        ("%1 = foo", "1:6: expected an opcode, found \"foo\""),
        ("%1 = ", "1:6: expected an opcode, found the end of the text"),
        ("OpTypeVoid", "1:1: expected a result id and \"=\" before OpTypeVoid"),
        ("%1 = OpNop", "1:6: OpNop has no result, so there is no %1 to set"),
        ("%0 = OpTypeVoid", "1:1: id \"%0\" is not from 1 to 4194302"),
        ("%4194303 = OpTypeVoid", "1:1: id \"%4194303\" is not from 1 to 4194302"),
        ("%99999999999 = OpTypeVoid", "1:1: id \"%99999999999\" is not from 1 to 4194302"),
        ("% = OpTypeVoid", "1:1: expected a name after \"%\", found \"%\""),
        ("%1 = OpTypeVoid 5", "1:17: expected no more operands for OpTypeVoid, found \"5\""),
        ("%1 = OpTypeInt 32", "1:18: expected an integer for OpTypeInt, found the end of the text"),
        ("%1 = OpTypeInt 32 x", "1:19: expected a literal that is a 32-bit unsigned integer for OpTypeInt, found \"x\""),
        ("%1 = OpTypeInt 32 -1", "1:19: expected a literal that is a 32-bit unsigned integer for OpTypeInt, found \"-1\""),
        ("%1 = OpTypeFloat 32 %2 = OpConstant %1 1f", "1:40: expected a literal that is a 32-bit float for OpConstant, found \"1f\""),
        ("%2 = OpConstant %1 1", "1:20: the literal of OpConstant has no type: no earlier OpTypeInt or OpTypeFloat gives it one"),
        ("OpSwitch %1 %2 1 %3", "1:16: the literal of OpSwitch has no type: no earlier OpTypeInt or OpTypeFloat gives it one"),
        ("OpName %1 name", "1:11: expected a string for OpName, found \"name\""),
        ("OpName %1 \"name", "1:11: the string has no closing quote"),
        ("OpName %1 \"name\\", "1:11: the string has no closing quote"),
        ("OpName %1 \"a\"b", "1:14: expected white space after a string"),
        ("OpName %1 a\"b\"", "1:12: expected white space before a string"),
        ("OpName 1 \"a\"", "1:8: expected an id for OpName, found \"1\""),
        (
            "%1 = OpExtInstImport \"GLSL.std.450\" %3 = OpExtInst %2 %1 Foo",
            "1:58: expected an instruction of GLSL.std.450 for OpExtInst, found \"Foo\"",
        ),
        (
            "%3 = OpExtInst %2 %1 Sin %4",
            "1:22: expected the number of an instruction (its set is not known here) for OpExtInst, found \"Sin\"",
        ),
        ("%3 = OpSpecConstantOp %2 OpIAdd", "1:26: expected an opcode without its \"Op\" for OpSpecConstantOp, found the next instruction"),
        (
            "%3 = OpSpecConstantOp %2 SpecConstantOp",
            "1:26: expected an opcode without its \"Op\" for OpSpecConstantOp, found \"SpecConstantOp\"",
        ),
        ("OpStore %1 %2 Volatile|Foo", "1:15: expected MemoryAccess for OpStore, found \"Volatile|Foo\""),
        ("OpMemoryModel Logical|Logical GLSL450", "1:15: expected AddressingModel for OpMemoryModel, found \"Logical|Logical\""),
        ("OpStore %1 %2 Aligned", "1:22: expected an integer for OpStore, found the end of the text"),
        ("OpNop !1 None", "1:10: expected a word, an id or a string in an instruction with \"!\", found \"None\""),
        ("!", "1:1: expected a word, an id or a string in an instruction with \"!\", found \"!\""),
        ("!0x123456789", "1:1: expected a word, an id or a string in an instruction with \"!\", found \"!0x123456789\""),
        ("é; ü\n\tOpName %1 é", "1:1: expected an opcode or a result id, found \"é\""),
        ("OpName %é\u{20ac} é", "1:12: expected a string for OpName, found \"é\""),
    ];
    for (text, expected) in cases {
        match assemble(text, Options::default()) {
            Ok(words) => panic!("{text:?} assembles to {words:x?}"),
            Err(error) => assert_eq!(error.to_string(), format!("error[assemble]: {expected}"), "{text:?}"),
        }
    }
}

#[test]
fn an_instruction_is_at_most_65535_words() {
    let structure = |members: usize| format!("%1 = OpTypeVoid\n%2 = OpTypeStruct{}", " %1".repeat(members));
    assert!(assemble(&structure(65533), Options::default()).is_ok());
    let error = assemble(&structure(65534), Options::default()).expect_err("one word too many");
    assert!(error.what.contains("65536 words; at most 65535"), "{error}");
}

#[test]
fn long_text_takes_time_in_proportion() {
    let mut text = String::from("%float = OpTypeFloat 32\n");
    for i in 0..100_000 {
        text.push_str(&format!("%name{i} = OpConstant %float {i}\n"));
    }
    text.push_str(&";".repeat(100_000));
    text.push_str(&format!("\nOpName %float \"{}\"\n", "\\\"".repeat(100_000)));
    let words = assemble(&text, Options::default()).expect("it assembles");
    assert_eq!(words[3], 100_002);
    let parenthesised = "(".repeat(100_000);
    assert!(assemble(&parenthesised, Options::default()).is_err());
    assert!(assemble(&"OpNop ".repeat(200_000), Options::default()).is_ok());
    assert!(assemble(&"!1 ".repeat(200_000), Options::default()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Tokens in any order never cause a panic. If they assemble and decode, the printed text
    /// assembles to the same words.
    #[test]
    fn any_tokens_are_refused_or_round_trip(tokens in prop::collection::vec(prop::sample::select(vec![
        "OpNop", "OpCapability", "Shader", "%1", "%a", "%b", "=", "OpTypeInt", "OpTypeFloat", "32", "64", "16", "0", "1", "OpConstant", "%2",
        "1.5", "-1", "\"str\"", "OpName", "OpDecorate", "Location", "None", "Volatile|Aligned", "OpStore", "OpExtInst", "OpExtInstImport",
        "\"GLSL.std.450\"", "Sin", "OpSwitch", "OpSpecConstantOp", "IAdd", "!7", "!131089", "OpLabel", "OpPhi", "OpLoad", "Aligned", "4", ";x\n",
    ]), 0..24)) {
        if let Ok(words) = assemble(&tokens.join(" "), Options::default()) && let Ok(text) = disassemble(&words) {
            let again = assemble(&text, Options::default());
            prop_assert_eq!(again.map(without_generator), Ok(without_generator(words)), "{}", text);
        }
    }

    #[test]
    fn any_text_is_refused_or_assembled(text in "[ -~\n\u{20ac}]{0,60}") {
        let _ = assemble(&text, Options::default());
    }
}

#[test]
fn big_endian_files_are_read() {
    let words = assemble("OpNop", Options::default()).expect("it assembles");
    let big: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    assert_eq!(words_of_bytes(&big).as_ref(), Ok(&words));
    assert_eq!(words_of_bytes(&bytes_of_words(&words)).as_ref(), Ok(&words));
}
