//! Where drivers put what they compiled.

use std::ffi::OsString;
use std::io;

/// The drivers' caches of compiled shaders, in a directory of one device's own. Dropping it removes
/// the directory.
///
/// lavapipe compiles the vertex stage anew for every pipeline, and that is half of its work, unless
/// it finds it here. The user's own cache is no place for the many programs of a campaign, and what
/// is there was perhaps put there by something that this project did not see. NVIDIA's driver gains
/// nothing, and its cache is off.
pub struct ShaderCache(tempfile::TempDir);

impl ShaderCache {
    /// A new, empty directory among the system's temporary files.
    pub fn new() -> io::Result<ShaderCache> {
        tempfile::Builder::new().prefix("smallstep-shaders-").tempdir().map(ShaderCache)
    }

    /// The variables for the environment of a process that uses it. Drivers read them
    /// when they are loaded.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("MESA_SHADER_CACHE_DIR".into(), self.0.path().into()),
            ("MESA_SHADER_CACHE_MAX_SIZE".into(), "256M".into()),
            ("__GL_SHADER_DISK_CACHE".into(), "0".into()),
        ];
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            // Without one, a layer that Mesa installs complains to standard error in front of
            // everything that a crash message should say.
            variables.push(("XDG_RUNTIME_DIR".into(), self.0.path().into()));
        }
        variables
    }
}
