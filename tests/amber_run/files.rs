//! Buffers filled from files in the script's folder: numbers, bytes and pictures.

use std::path::Path;

use pretty_assertions::assert_eq;
use smallstep::run::amber::Interpreter;

use crate::common::command::smallstep;

/// A PNG of two columns and one row with these pixels.
fn png(path: &Path, colour: png::ColorType, pixels: &[u8]) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).expect("made"), 2, 1);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().expect("written").write_image_data(pixels).expect("written");
}

/// A folder with data files, in which scripts run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.0.path().join(name), bytes).expect("written");
        write("numbers.txt", b"1 2 # a comment\n-3\n0x4 5 6\n");
        write("words.txt", b"1 2\nthree 4");
        write("bytes.bin", &[1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        write("padded.bin", &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0]);
        write("latin.txt", b"1 \xff");
        write("empty.txt", b"# nothing\n");
        std::fs::create_dir(folder.0.path().join("data")).expect("made");
        write("data/more.txt", b"7");
        png(&folder.0.path().join("two.png"), png::ColorType::Rgba, &[1, 2, 3, 4, 5, 6, 7, 8]);
        png(&folder.0.path().join("plain.png"), png::ColorType::Rgb, &[1, 2, 3, 5, 6, 7]);
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Runs a script. Returns the exit code, standard output and standard error.
    fn run(&self, script: &str) -> (i32, String, String) {
        let path = self.path("script.amber");
        std::fs::write(&path, format!("#!amber\n{script}\n")).expect("written");
        let shown = smallstep(&["run", &path], "");
        (shown.code, shown.out, shown.err)
    }
}

#[test]
fn buffers_hold_what_files_hold() {
    let folder = Folder::new();
    for (script, expected) in [
        ("BUFFER b DATA_TYPE int32 FILE TEXT numbers.txt\nEXPECT b IDX 0 EQ 1 2 -3 4 5 6", 0),
        ("BUFFER b DATA_TYPE int32 FILE TEXT numbers.txt\nEXPECT b IDX 0 EQ 1 2 3 4 5 6", 1),
        ("BUFFER b DATA_TYPE vec3<float> STD430 SIZE 2 FILE TEXT numbers.txt\nEXPECT b IDX 16 EQ 4 5 6", 0),
        ("BUFFER b DATA_TYPE int32 FILE TEXT ./data/more.txt\nEXPECT b IDX 0 EQ 7", 0),
        ("BUFFER b DATA_TYPE int32 FILE BINARY bytes.bin\nEXPECT b IDX 0 EQ 1 2 -1", 0),
        ("BUFFER b DATA_TYPE uint8 SIZE 12 FILE BINARY bytes.bin\nEXPECT b IDX 4 EQ 2 0 0 0 255", 0),
        ("BUFFER b DATA_TYPE uint32 FILE BINARY bytes.bin\nEXPECT b IDX 8 EQ 4294967295", 0),
        ("BUFFER b DATA_TYPE vec4<uint8> FILE PNG two.png\nEXPECT b IDX 4 EQ 5 6 7 8", 0),
        ("BUFFER b FORMAT R8G8B8A8_UNORM FILE two.png\nEXPECT b IDX 1 0 SIZE 1 1 EQ_RGBA 5 6 7 8", 0),
        ("BUFFER b FORMAT R8G8B8A8_UNORM FILE PNG plain.png\nEXPECT b IDX 1 0 SIZE 1 1 EQ_RGBA 5 6 7 255", 0),
        ("BUFFER b FORMAT R8G8B8A8_UNORM FILE PNG plain.png\nEXPECT b IDX 1 0 SIZE 1 1 EQ_RGBA 5 6 70 255", 1),
        ("IMAGE b FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 1 FILE PNG two.png\nEXPECT b IDX 0 0 SIZE 1 1 EQ_RGB 1 2 3", 0),
    ] {
        let (code, out, err) = folder.run(script);
        assert_eq!(code, expected, "{script}: {out}{err}");
    }
    // The path may be absolute.
    let (code, _, err) = folder.run(&format!("BUFFER b DATA_TYPE int32 FILE TEXT {}\nEXPECT b IDX 0 EQ 7", folder.path("data/more.txt")));
    assert_eq!(code, 0, "{err}");
    // `check` looks in the script's folder too.
    let shown = smallstep(&["check", "--device", "none", &folder.path("script.amber")], "");
    assert_eq!(shown.code, 0, "{}", shown.out);
}

/// Planted bugs in the reader of files: numbers lose their signs, the bytes of words are reversed,
/// and pictures have red and blue exchanged.
#[test]
fn planted_bugs_in_what_reads_files_fail_the_scripts() {
    type Wrong = fn(Vec<u8>) -> Vec<u8>;
    let folder = Folder::new();
    let exchanged = |_| {
        let other = tempfile::NamedTempFile::new().expect("made");
        png(other.path(), png::ColorType::Rgba, &[3, 2, 1, 4, 7, 6, 5, 8]);
        std::fs::read(other.path()).expect("there")
    };
    let turned: Wrong = |bytes| bytes.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    let unsigned: Wrong = |bytes| bytes.into_iter().filter(|byte| *byte != b'-').collect();
    for (script, wrong) in [
        ("BUFFER b DATA_TYPE int32 FILE TEXT numbers.txt\nEXPECT b IDX 4 EQ 2 -3 4", unsigned),
        ("BUFFER b DATA_TYPE int32 FILE BINARY bytes.bin\nEXPECT b IDX 0 EQ 1 2 -1", turned),
        ("BUFFER b FORMAT R8G8B8A8_UNORM FILE PNG two.png\nEXPECT b IDX 1 0 SIZE 1 1 EQ_RGBA 5 6 7 8", exchanged),
    ] {
        let holds = |reads: Wrong| {
            let files = |path: &str, _: u64| std::fs::read(folder.path(path)).map(reads);
            let script = smallstep::amber::read_with(&format!("#!amber\n{script}\n"), &files);
            crate::holds(&script.expect("a script, whatever the files hold"), &Interpreter::default())
        };
        assert!(holds(|bytes| bytes), "{script}");
        assert!(!holds(wrong), "{script}");
    }
}

#[test]
fn what_is_wrong_with_a_file_names_line_and_file() {
    let folder = Folder::new();
    for (line, said) in [
        ("DATA_TYPE int32 FILE TEXT none.txt", "2:36: the file `none.txt`: No such file"),
        ("DATA_TYPE int32 FILE TEXT words.txt", "2:36: the file `words.txt`: in its line 2: found `three`, where a number should stand"),
        ("DATA_TYPE uint8 FILE TEXT numbers.txt", "2:36: the file `numbers.txt`: in its line 2: -3 is outside the range of uint8"),
        ("DATA_TYPE vec4<int32> FILE TEXT numbers.txt", "6 values, which are no whole number of items of 4"),
        ("DATA_TYPE int32 FILE TEXT latin.txt", "it is no UTF-8 text (at byte 2)"),
        ("DATA_TYPE int32 FILE TEXT empty.txt", "it has no values"),
        ("DATA_TYPE int32 SIZE 5 FILE TEXT numbers.txt", "2:33: the file has 6 items, where 5 should stand"),
        ("DATA_TYPE int64 FILE BINARY bytes.bin", "12 bytes, which are no whole number of items of 8"),
        ("DATA_TYPE vec3<float> STD430 FILE BINARY padded.bin", "its byte 12 is not 0, and lies between the scalars of an item"),
        ("DATA_TYPE int32 FILE PNG two.png", "a PNG is for a buffer of R8G8B8A8 texels"),
        ("FORMAT R8G8B8A8_UNORM FILE PNG numbers.txt", "the file `numbers.txt`: "),
        ("FORMAT R8G8B8A8_UNORM WIDTH 1 HEIGHT 2 FILE PNG two.png", "the picture has 2 by 1 pixels, where 1 by 2 should stand"),
        ("DATA_TYPE int32 FILE TEXT data", "this is a folder, and a file is needed"),
        ("DATA_TYPE int32 FILE TEXT", "the line ends where the path of a file should stand"),
        ("DATA_TYPE int32 FILE TEXT numbers.txt more", "found `more` after a complete statement"),
    ] {
        let (code, _, err) = folder.run(&format!("BUFFER b {line}"));
        assert!(code == 2 && err.contains("script.amber: error[amber]: 2:") && err.contains(said), "{line}: {err}");
    }
}

#[test]
fn paths_stay_in_the_folder_of_the_script() {
    let folder = Folder::new();
    let inner = folder.path("data/script.amber");
    std::fs::write(&inner, "#!amber\nBUFFER b DATA_TYPE int32 FILE TEXT ../numbers.txt\n").expect("written");
    for path in [inner.as_str(), "-"] {
        let shown = smallstep(&["run", path], "#!amber\nBUFFER b DATA_TYPE int32 FILE TEXT ../numbers.txt\n");
        assert!(
            shown.code == 2 && shown.err.contains("2:36: the file `../numbers.txt`: it is outside of the script's folder"),
            "{}",
            shown.err
        );
    }
    std::fs::write(&inner, "#!amber\nBUFFER b DATA_TYPE int32 FILE TEXT more.txt\nEXPECT b IDX 0 EQ 7\n").expect("written");
    assert_eq!(smallstep(&["run", &inner], "").code, 0);
}

#[test]
fn a_file_is_read_up_to_its_limit() {
    use smallstep::amber::limits::MAX_FILE_BYTES;
    let folder = Folder::new();
    let file = std::fs::File::create(folder.path("large.bin")).expect("made");
    file.set_len(MAX_FILE_BYTES + 1).expect("grown");
    let (code, _, err) = folder.run("BUFFER b DATA_TYPE int32 FILE BINARY large.bin");
    assert!(code == 2 && err.contains("there are more than 67108864 bytes"), "{err}");
    // Without a reader of files, any FILE is left out.
    let errors = smallstep::amber::read("#!amber\nBUFFER b DATA_TYPE int32 FILE BINARY large.bin\n").expect_err("left out");
    assert_eq!(errors[0].to_string(), "unsupported: 2:26: FILE, which needs a file outside the script, is not supported");
}

#[test]
fn a_script_with_files_prints_with_their_contents() {
    let files = |path: &str, _: u64| match path {
        "a" => Ok(b"1 2 3".to_vec()),
        _ => Err(std::io::Error::other("no such file")),
    };
    let script = smallstep::amber::read_with("#!amber\nBUFFER b DATA_TYPE int32 FILE TEXT a\n", &files).expect("reads");
    let printed = script.print().expect("prints");
    assert_eq!(smallstep::amber::read(&printed).as_ref(), Ok(&script), "{printed}");
}
