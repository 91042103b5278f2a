//! Programs of either language on the interpreters, and the commands around them.

mod common;

use common::command::output;
use pretty_assertions::assert_eq;
use smallstep::dispatch::Target;
use smallstep::program::Program;
use smallstep::run::{Grid, Interpreter, Picture, interpret};
use smallstep::source::{Loaded, ReadError, Source, Wrong};

fn lambda_v(text: &str) -> Source {
    Source::read_lambda_v("test.lv", text).unwrap_or_else(|e| panic!("{}", e.text))
}

fn run(source: &Source, on: Interpreter, grid: &Grid) -> Picture {
    interpret(source, on, grid, &|_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs the command. Returns its exit code, standard output and standard error.
fn smallstep(args: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let output = output(args, input);
    (output.status.code().unwrap_or(-1), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn threads_and_engines_show_the_same_picture() {
    let source = lambda_v("(let ((p (frag-coord))) (vec3 (x p) (* (y p) (y p)) (sin (x p))))");
    let grid = Grid::new((33, 17));
    let expected = run(&source, Interpreter::Machine, &Grid { threads: 1, ..grid });
    assert_eq!((expected.images[0].len(), expected.outputs.clone()), (33 * 17, vec![Target { location: 0, components: 3 }]));
    for threads in [0, 2, 40] {
        for on in Interpreter::ALL {
            let picture = run(&source, on, &Grid { threads, ..grid });
            assert_eq!(picture.images, expected.images, "{} on {threads} threads", on.name());
        }
    }
    let pixel = run(&source, Interpreter::Spirv, &Grid { pixel: Some((5, 16)), ..grid });
    assert_eq!((pixel.width, pixel.height, pixel.origin), (1, 1, (5, 16)));
    assert_eq!(pixel.images[0], [expected.images[0][16 * 33 + 5]]);
}

#[test]
fn outputs_stand_by_location_with_their_components() {
    let source = lambda_v("(output 3 (vec2 1 2)) (output 1 7)");
    for on in Interpreter::ALL {
        let picture = run(&source, on, &Grid::new((1, 1)));
        assert_eq!(picture.outputs, [Target { location: 1, components: 1 }, Target { location: 3, components: 2 }]);
        assert_eq!(picture.images[0][0].map(|p| p[0]), Some(7f32.to_bits()));
        assert_eq!(picture.images[1][0].map(|p| [p[0], p[1]]), Some([1f32.to_bits(), 2f32.to_bits()]));
    }
}

#[test]
fn pixels_without_a_value_are_counted_and_the_others_shown() {
    let text = "((rec-func (n) (if (less-than (x (frag-coord)) 1) (rec n) 0.5)) 1)";
    let picture = run(&lambda_v(text), Interpreter::Machine, &Grid::new((2, 3)));
    let shown: Vec<bool> = picture.images[0].iter().map(Option::is_some).collect();
    assert_eq!(shown, [false, true, false, true, false, true]);
    let [ending] = picture.endings.as_slice() else { panic!("one kind of ending") };
    assert_eq!((ending.pixel, ending.pixels, ending.outcome.name()), ((0, 0), 3, "diverges"));
    // Neither the relation nor SPIR-V looks for cycles.
    let grid = Grid { fuel: 1000, ..Grid::new((2, 1)) };
    assert_eq!(run(&lambda_v(text), Interpreter::Spirv, &grid).endings[0].outcome.name(), "out of fuel");
}

#[test]
fn programs_that_cannot_run_say_why() {
    for (name, bytes, wrong, said) in [
        ("a.lv", &b"(+ 1 true)"[..], Wrong::Invalid, "lv/t-builtin"),
        ("a.lv", b"(+ 1", Wrong::Invalid, "lv/syntax-unclosed"),
        ("a.lv", b"\xff", Wrong::Invalid, "no UTF-8"),
        ("a.spv", b"abc", Wrong::Invalid, "words/byte-length"),
        ("a.spv", b"\x03\x02\x23\x07", Wrong::Invalid, "words/header"),
        ("a.spvasm", b"OpCapability Nothing", Wrong::Invalid, "a.spvasm:1:14"),
        ("a.spvasm", b"OpCapability Kernel\nOpMemoryModel Logical OpenCL", Wrong::Unsupported, "unsupported"),
    ] {
        let read = Program::read(name, bytes, None).and_then(|program| match program.is_module() {
            false => Source::read_lambda_v(name, program.text()),
            true => Loaded::new(&program.words()?, None, Vec::new())
                .map(|loaded| Source::Spirv(Box::new(loaded)))
                .map_err(|e| ReadError::of_module(name, &e)),
        });
        let Err(error) = read else { panic!("{bytes:?} runs") };
        assert_eq!(error.wrong, wrong, "{}", error.text);
        assert!(error.text.contains(said), "{:?} lacks {said:?}", error.text);
    }
}

const YELLOW: &[u8] = b"(vec4 1.0 1.0 0.0 1.0)";

#[test]
fn translate_asm_dis_and_run_fit_together() {
    let (code, text, _) = smallstep(&["translate", "-"], YELLOW);
    assert_eq!(code, 0);
    let (code, words, _) = smallstep(&["asm", "-", "-o", "-"], &text);
    assert_eq!(code, 0);
    assert_eq!(smallstep(&["translate", "-", "-o", "-"], YELLOW).1, words);
    assert_eq!(smallstep(&["dis", "-"], &words).1, text);
    assert_eq!(smallstep(&["translate", "-", "--asm", "-o", "-"], YELLOW).1, text);
    let expected = "(0,0)  1 (0x3f800000)  1 (0x3f800000)  0 (0x00000000)  1 (0x3f800000)\n";
    for (input, engine) in [(YELLOW, "machine"), (YELLOW, "spirv"), (&text, "machine"), (&words, "reference")] {
        let (code, shown, _) = smallstep(&["run", "-", "--pixel", "0,0", "--engine", engine], input);
        assert_eq!((code, String::from_utf8_lossy(&shown).as_ref()), (0, expected));
    }
}

#[test]
fn opaque_constants_go_through_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (module, buffer) = (path("m.spv"), path("m.bin"));
    let translate = ["translate", "-", "--constants", "opaque", "-o", &module, "--buffer", &buffer];
    assert_eq!(smallstep(&translate, b"(+ 1.5 2)").0, 0);
    let (code, shown, _) = smallstep(&["run", &module, "--buffer", &buffer, "--pixel", "0,0"], b"");
    assert_eq!((code, String::from_utf8_lossy(&shown).starts_with("(0,0)  3.5 ")), (0, true));
    let (code, _, said) = smallstep(&["run", &module, "--pixel", "0,0"], b"");
    assert_eq!((code, said.contains("no buffer at set 0, binding 0")), (6, true), "{said}");
}

#[test]
fn the_witness_names_place_type_id_and_rule() {
    let (code, listed, _) = smallstep(&["translate", "-", "--witness", "--json"], b"(+ 1\n   (x (frag-coord)))");
    assert_eq!(code, 0);
    let lines: Vec<serde_json::Value> =
        String::from_utf8_lossy(&listed).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let witness = lines.iter().find(|l| l["expression"] == "(x (frag-coord))").expect("it is listed");
    assert_eq!((&witness["line"], &witness["column"], &witness["type"]), (&2.into(), &4.into(), &"Num".into()));
    assert_eq!((&witness["rule"], witness["id"].is_u64()), (&"lv/tr-builtin".into(), true));
    assert_eq!(lines.last().expect("a summary")["kind"], "summary");
}

#[test]
fn exit_codes_say_how_a_run_ended() {
    let loops = b"((rec-func (n) (if false n (rec n))) 1)";
    let counts = b"((rec-func (n) (if (less-than n 0) n (rec (+ n 1)))) 1)";
    for (args, input, expected) in [
        (&["run", "-"][..], YELLOW, 0),
        (&["run", "-"], b"(+ 1 true)", 2),
        (&["run", "-", "--output", "1"], YELLOW, 2),
        (&["run", "-", "--size", "4x4", "--pixel", "4,0"], YELLOW, 2),
        (&["run", "-", "--size", "0x4"], YELLOW, 2),
        (&["run", "/nowhere/at/all.lv"], b"", 2),
        (&["run", "-", "--engine", "no such adapter"], YELLOW, 3),
        (&["run", "-", "--pixel", "0,0"], loops, 3),
        (&["run", "-", "--pixel", "0,0", "--fuel", "1000"], counts, 7),
        (&["run", "-"], b"OpCapability Kernel\nOpMemoryModel Logical OpenCL", 6),
        (&["translate", "-"], b"(+ 1 true)", 2),
        (&["asm", "-", "-o", "-"], b"OpNothing", 2),
        (&["dis", "-"], b"abc", 2),
        (&["replay", "-", "--engine", "spirv"], b"", 2),
        (&["vectors", "--count", "0", "-o", "-"], b"", 2),
    ] {
        let (code, _, said) = smallstep(args, input);
        assert_eq!(code, expected, "{args:?}: {said}");
        assert!(expected == 0 || !said.is_empty(), "{args:?} says nothing");
    }
}

#[test]
fn a_picture_is_written_and_a_replay_of_vectors_ends_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let picture = path("yellow.png");
    let (code, shown, _) = smallstep(&["run", "-", "--size", "20x10", "--image", &picture], YELLOW);
    assert_eq!((code, String::from_utf8_lossy(&shown).contains("200 pixels, 4 components")), (0, true));
    let file = std::io::BufReader::new(std::fs::File::open(&picture).expect("it is written"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut pixels).expect("whole");
    assert_eq!((info.width, info.height), (20, 10));
    assert!(pixels.chunks(3).all(|p| p == [255, 255, 0]));

    let vectors = path("v.jsonl");
    assert_eq!(smallstep(&["vectors", "--count", "5", "--decided", "-o", &vectors], b"").0, 0);
    for engine in ["machine", "reference", "spirv", "spirv-reference"] {
        assert_eq!(smallstep(&["replay", &vectors, "--engine", engine], b"").0, 0);
    }
    let text = std::fs::read_to_string(&vectors).expect("it is written");
    let cut = &text[..text.len() * 2 / 3];
    let (code, said, _) = smallstep(&["replay", "-", "--engine", "spirv"], cut.as_bytes());
    assert_eq!((code, String::from_utf8_lossy(&said).contains("the file ends after")), (2, true));
}
