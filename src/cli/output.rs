//! The writing of outputs: a file, or `-` for standard output.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A report with colours, if it goes to a terminal and NO_COLOR is not set. Colours are for its
/// title, the marks under source lines, and help.
pub(crate) fn painted(report: &str, terminal: bool) -> Cow<'_, str> {
    let none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if terminal && !none { Cow::Owned(colours(report)) } else { Cow::Borrowed(report) }
}

const RED: &str = "\u{1b}[1;31m";
const CYAN: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";

fn colours(report: &str) -> String {
    let line = |line: &str| {
        let help = line.trim_start().starts_with("help: ").then(|| line.len() - line.trim_start().len());
        let marks = line.find("│ ").filter(|at| line[at + "│ ".len()..].trim_start().starts_with('^')).and_then(|_| line.find('^'));
        let title = line.starts_with("undefined[").then(|| line.find(": ")).flatten();
        match (title, marks, help) {
            (Some(end), ..) => format!("{RED}{}{PLAIN}{}", &line[..end], &line[end..]),
            (_, Some(at), _) => format!("{}{RED}{}{PLAIN}", &line[..at], &line[at..]),
            (.., Some(at)) => format!("{}{CYAN}help:{PLAIN}{}", &line[..at], &line[at + "help:".len()..]),
            _ => line.to_string(),
        }
    };
    report.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Writes bytes. The error names the file and the cause.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = if path.as_os_str() == "-" {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    } else {
        std::fs::write(path, bytes)
    };
    written.map_err(|e| format!("{}: {e}", path.display()))
}

/// A file under construction. An earlier file at the path stays until the new one is kept. A file
/// that is never kept leaves nothing behind, even if a signal ends the process, provided that the
/// file system supports files without a name.
pub(crate) struct Making {
    path: PathBuf,
    part: Part,
}

/// The place of a file under construction.
enum Part {
    /// At its final path, which is a pipe or a device.
    There,
    /// Without a name, until it is kept.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// At a temporary path in the same folder.
    Beside(PathBuf),
    /// The file was kept.
    Kept,
}

impl Making {
    /// Begins a file. Returns the handle to write to.
    pub(crate) fn begin(path: &Path) -> std::io::Result<(Making, File)> {
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            return Ok((Making { path: path.into(), part: Part::There }, File::options().write(true).open(path)?));
        }
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(path) {
            return Ok((Making { path: path.into(), part: Part::Unnamed(file.try_clone()?) }, file));
        }
        let part = temporary_path(path);
        let file = File::create(&part)?;
        Ok((Making { path: path.into(), part: Part::Beside(part) }, file))
    }

    /// Moves the complete file to its path.
    pub(crate) fn keep(mut self) -> std::io::Result<()> {
        let part = match std::mem::replace(&mut self.part, Part::Kept) {
            Part::There | Part::Kept => return Ok(()),
            #[cfg(target_os = "linux")]
            Part::Unnamed(file) => {
                // A file can get a name only if that name is free, so moving takes two steps.
                let part = temporary_path(&self.path);
                rustix::fs::linkat(rustix::fs::CWD, opened(&file), rustix::fs::CWD, &part, rustix::fs::AtFlags::SYMLINK_FOLLOW)?;
                part
            }
            Part::Beside(part) => part,
        };
        // The temporary file is removed if the move fails.
        self.part = Part::Beside(part.clone());
        std::fs::rename(part, &self.path)?;
        self.part = Part::Kept;
        Ok(())
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Part::Beside(part) = &self.part {
            let _ = std::fs::remove_file(part);
        }
    }
}

/// The temporary path of a file.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

/// A file without a name on the file system of this path. `None` if it could not get a name later.
#[cfg(target_os = "linux")]
fn unnamed(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file: File = rustix::fs::open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o666)).ok()?.into();
    opened(&file).exists().then_some(file)
}

/// The path of an open file among the file descriptors of this process.
#[cfg(target_os = "linux")]
fn opened(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_no_text() {
        let report = "undefined[spirv/division-by-zero]: %q = OpUDiv divides by zero\n  in %main\n    4 │ a = b / c;\n      │ ^^^^^^^^^\n  help: do not";
        let painted = colours(report);
        assert_eq!(painted.matches(RED).count(), 2);
        assert_eq!(painted.matches(CYAN).count(), 1);
        assert_eq!(painted.replace(RED, "").replace(CYAN, "").replace(PLAIN, ""), report);
        assert_eq!(super::painted(report, false), report, "what is no terminal has no colours");
    }
}
