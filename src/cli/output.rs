//! Writing what a command makes: a file, or `-` for standard output.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// A file that is being made. What stood there before stays until the new one is kept; what is never kept leaves nothing behind.
pub(crate) struct Making {
    path: PathBuf,
    /// Where it is made; none if it is written to as it is: a pipe, or a device.
    part: Option<PathBuf>,
}

impl Making {
    /// Begins a file: what it is written to.
    pub(crate) fn begin(path: &Path) -> std::io::Result<(Making, File)> {
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            return Ok((Making { path: path.into(), part: None }, File::options().write(true).open(path)?));
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let file = File::create(&part)?;
        Ok((Making { path: path.into(), part: Some(part) }, file))
    }

    /// The file is complete.
    pub(crate) fn keep(mut self) -> std::io::Result<()> {
        match self.part.take() {
            Some(part) => std::fs::rename(part, &self.path),
            None => Ok(()),
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = std::fs::remove_file(part);
        }
    }
}
