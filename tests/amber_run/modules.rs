//! Scripts that are refused before or at a RUN, with the reason. Also shaders in GLSL.

use std::time::Duration;

use pretty_assertions::assert_eq;
use smallstep::run::amber::compiler::CompilerCommand;
use smallstep::run::amber::{End, Modules, Options};
use smallstep::source::Wrong;

use crate::{REPEAT, SUM, WORDS, played, script, script_of};

#[track_caller]
fn refused(text: &str, wrong: Wrong, said: &str) {
    let error = Modules::load("test.amber", &script(text), &Options::default()).err().expect(text);
    assert!(error.wrong == wrong && error.text.contains(said), "{:?}: {}", error.wrong, error.text);
}

#[test]
fn modules_are_refused_by_name_before_anything_runs() {
    refused(&SUM.replace("ATTACH tree", "ATTACH tree ENTRY_POINT other"), Wrong::Invalid, "no compute entry point is called \"other\"");
    refused(&SUM.replace("OpULessThan %bool", "OpULessThan %uint"), Wrong::Invalid, "shader tree");
    refused(&SUM.replace("%adds = OpULessThan", "%adds = OpNoSuchThing"), Wrong::Invalid, "shader tree");
    refused(&SUM.replace("OpCapability Shader", "OpCapability Shader\nOpCapability Geometry"), Wrong::Unsupported, "Geometry");
    let glsl = "#!amber\nSHADER compute s GLSL\nvoid main() {}\nEND\nPIPELINE compute p\n  ATTACH s\nEND\nRUN p 1 1 1\n";
    refused(glsl, Wrong::Unsupported, "shader s is GLSL, and no compiler is given");
    // A module that no command runs is not loaded.
    let unused = SUM.replace("RUN sum 1 1 1\n", "").replace("EQ 36", "EQ 0").replace("%adds = OpULessThan", "%adds = OpNoSuchThing");
    assert_eq!(played(&unused).1, None);
}

#[test]
fn resources_that_do_not_fit_are_named_at_the_run() {
    let bound = "  BIND BUFFER result AS storage DESCRIPTOR_SET 0 BINDING 1\n";
    let invalid = |text: &str, said: &str| {
        let (_, end) = played(text);
        assert!(matches!(&end, Some(End::Invalid(why)) if why.contains(said)), "{said}: {end:?}");
    };
    invalid(&SUM.replace(bound, ""), "nothing is bound at descriptor set 0, binding 1");
    invalid(&SUM.replace(bound, &bound.replace("storage", "uniform")), "is a storage buffer, and what line");
    let (at, range) = ("DESCRIPTOR_OFFSET 16 DESCRIPTOR_RANGE 16", "DESCRIPTOR_OFFSET 16 DESCRIPTOR_RANGE 0");
    assert!(matches!(played(&REPEAT.replace(at, range)).1, Some(End::Undefined { .. })), "an array of no elements");
    invalid(&REPEAT.replace("  BIND BUFFER factor AS push_constant\n", ""), "needs 4 bytes of push constants, and is given 0");
    let unsupported = |text: &str, said: &str| {
        let (_, end) = played(text);
        assert!(matches!(&end, Some(End::Unsupported(why)) if why.contains(said)), "{said}: {end:?}");
    };
    unsupported(&SUM.replace("BUFFER result AS", "BUFFER numbers AS"), "the buffer numbers, bound at 0.0 and at 0.1 and written");
    let draws = "#!amber\nSHADER vertex v PASSTHROUGH\nSHADER fragment f SPIRV-ASM\n".to_string()
        + "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %1 \"main\"\nOpExecutionMode %1 OriginUpperLeft\n"
        + "%2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%1 = OpFunction %2 None %3\n%4 = OpLabel\nOpReturn\nOpFunctionEnd\nEND\n"
        + "PIPELINE graphics g\n  ATTACH v\n  ATTACH f\nEND\nRUN g DRAW_RECT POS 0 0 SIZE 250 250\n";
    // The draw has only an attachment that the script cannot see.
    assert_eq!(played(&draws).1, None);
}

#[test]
fn two_disjoint_parts_of_a_buffer_may_be_bound() {
    let text = SUM
        .replace("BUFFER numbers DATA_TYPE uint32 DATA\n1 2 3 4 5 6 7 8\nEND", "BUFFER numbers DATA_TYPE uint32 DATA 1 2 3 4 5 6 7 8 0 END")
        .replace("BINDING 0\n", "BINDING 0 DESCRIPTOR_RANGE 32\n")
        .replace(
            "BUFFER result AS storage DESCRIPTOR_SET 0 BINDING 1",
            "BUFFER numbers AS storage DESCRIPTOR_SET 0 BINDING 1 DESCRIPTOR_OFFSET 32",
        )
        .replace("EXPECT result IDX 0 EQ 36", "EXPECT numbers IDX 32 EQ 36");
    assert_eq!(crate::decisions(&text), [smallstep::amber::Decision::Holds; 2]);
}

#[test]
fn a_value_for_a_constant_that_is_not_there_changes_nothing() {
    let text = REPEAT.replace("SPECIALIZE 3 AS uint32 5", "SPECIALIZE 3 AS uint32 5 SPECIALIZE 99 AS uint32 7");
    assert_eq!(crate::decisions(&text), [smallstep::amber::Decision::Holds; 4]);
}

/// A shell command with this body. Its arguments are the input file, `-o` and the output file.
fn command(folder: &std::path::Path, name: &str, body: &str) -> CompilerCommand {
    let path = folder.join(name);
    std::fs::write(&path, format!("{body}\n")).expect("written");
    format!("sh {}", path.display()).parse().expect("a command")
}

#[test]
#[cfg(unix)]
fn a_command_compiles_glsl() {
    let words = {
        let text = script_of(WORDS, "%a = OpLoad %item %p0\nOpStore %p1 %a", "DATA_TYPE int32 SIZE 4 FILL 0", "RUN p 1 1 1");
        script(&text).shaders[0].words(None).expect("words")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("made.spv");
    std::fs::write(&module, smallstep_semantics::spirv::bytes_of_words(&words)).expect("written");
    let text = "#!amber\nSHADER compute s GLSL\nvoid main() { /* the text */ }\nEND\nBUFFER b DATA_TYPE int32 DATA 9 0 0 0 END\n\
                PIPELINE compute p\n  ATTACH s\n  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\nRUN p 1 1 1\nEXPECT b IDX 4 EQ 9\n";
    let script = script(text);
    let load = |command: &CompilerCommand| {
        let compile = |shader: &smallstep::amber::Shader| command.compile(shader);
        Modules::load("test.amber", &script, &Options { glsl: Some(&compile), lenient: false }).map(|_| ()).map_err(|e| e.text)
    };
    // The compiler gets the text in a file whose extension is the stage, and the output path.
    let copies = format!("case $1 in *.comp) ;; *) exit 3 ;; esac\ngrep -q 'the text' $1 && [ $2 = -o ] && cp {} $3", module.display());
    assert_eq!(load(&command(folder.path(), "copies", &copies)), Ok(()));
    for (name, body, said) in [
        ("fails", "echo 'line 1: no' >&2; exit 2", "exit status: 2: line 1: no"),
        ("silent", "exit 0", "wrote no module"),
        ("wrong", "echo nonsense > $3", "wrote no module"),
        ("much", "yes | head -c 100000; exit 1", "y\ny"),
    ] {
        let error = load(&command(folder.path(), name, body)).expect_err(name);
        assert!(error.contains(said) && error.contains("shader s") && error.len() < 4_000, "{error}");
    }
    let mut hangs = command(folder.path(), "hangs", "exec sleep 1000");
    hangs.limit = Duration::from_millis(50);
    assert!(load(&hangs).expect_err("it hangs").contains("was not done in 0.05 s"));
    assert!(load(&"/no/such/program".parse().expect("a command")).expect_err("it is not there").contains("/no/such/program: "));
    assert!(" ".parse::<CompilerCommand>().is_err());
}
