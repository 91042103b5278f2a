//! The directory for the shader caches of drivers.

use std::ffi::OsString;
use std::io;

/// The drivers' caches of compiled shaders, in a directory for one device. Dropping it removes
/// the directory.
///
/// Without a cache, lavapipe compiles the vertex stage again for every pipeline, which is half of
/// its work. The user's own cache is not used: a campaign would fill it with programs, and its
/// contents may come from sources that this project does not control. NVIDIA's driver gains nothing
/// from a cache, so its cache is off.
pub struct ShaderCache(tempfile::TempDir);

impl ShaderCache {
    /// A new, empty directory among the system's temporary files.
    pub fn new() -> io::Result<ShaderCache> {
        tempfile::Builder::new().prefix("smallstep-shaders-").tempdir().map(ShaderCache)
    }

    /// The environment variables of a process that uses the cache. Drivers read them when they
    /// are loaded.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("MESA_SHADER_CACHE_DIR".into(), self.0.path().into()),
            ("MESA_SHADER_CACHE_MAX_SIZE".into(), "256M".into()),
            ("__GL_SHADER_DISK_CACHE".into(), "0".into()),
        ];
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            // Without this variable, a layer that Mesa installs writes a complaint to standard
            // error, before the text of a crash message.
            variables.push(("XDG_RUNTIME_DIR".into(), self.0.path().into()));
        }
        variables
    }
}
