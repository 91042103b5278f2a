//! Writing what a command makes: a file, or `-` for standard output.

use std::io::Write;
use std::path::Path;

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
