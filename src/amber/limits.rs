//! How much a script may ask for: every bound by name, so that a hostile one ends in an error and
//! not in memory or time.

/// The longest script, in bytes: 64 MiB.
pub const MAX_TEXT: usize = 64 << 20;
/// The most bytes of a file that a buffer is filled from, and of the pixels of one: 64 MiB.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// The most errors that one reading lists.
pub const MAX_ERRORS: usize = 32;
/// The most bytes of one buffer: 2^30.
pub const MAX_BUFFER_BYTES: u64 = 1 << 30;
/// The most bytes of all buffers of a script together: 2^31.
pub const MAX_TOTAL_BYTES: u64 = 1 << 31;
/// The most scalars of one data type: 2^24.
pub const MAX_SCALARS: u64 = 1 << 24;
/// The deepest nesting of structures and arrays in a data type.
pub const MAX_TYPE_DEPTH: u32 = 32;
/// The most pixels in a row, and rows, of an image or framebuffer.
pub const MAX_EXTENT: u32 = 16_384;
/// The most levels of an image: those of the largest.
pub const MAX_LEVELS: u32 = 15;
/// The most commands that a script runs, its repeated ones counted each time: 2^20.
pub const MAX_COMMANDS: u64 = 1 << 20;
/// The most invocations of a subgroup.
pub const MAX_SUBGROUP: u32 = 128;
/// The most pipelines.
pub const MAX_PIPELINES: usize = 1_024;
/// The most buffers and samplers that one pipeline binds, and vertex attributes.
pub const MAX_BINDINGS: usize = 256;
/// The most specialization constants of one attached shader.
pub const MAX_SPECIALIZATIONS: usize = 256;
/// The most cells of one grid that is drawn: 2^20.
pub const MAX_CELLS: u64 = 1 << 20;
/// The most values that must agree with one EXPECT and do not which a judgement lists one by one.
pub const MAX_FAILURES: usize = 16;
