//! The limits of a script, each with a name. A hostile script causes an error and does not exhaust
//! memory or time.

/// The longest script, in bytes: 64 MiB.
pub const MAX_TEXT: usize = 64 << 20;
/// The most bytes of a file that fills a buffer, and of its pixels: 64 MiB.
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
/// The greatest width and height of an image or framebuffer, in pixels.
pub const MAX_EXTENT: u32 = 16_384;
/// The most levels of an image: those of the largest image.
pub const MAX_LEVELS: u32 = 15;
/// The most commands that a script executes, with repetitions counted: 2^20.
pub const MAX_COMMANDS: u64 = 1 << 20;
/// The most invocations of a subgroup.
pub const MAX_SUBGROUP: u32 = 128;
/// The most pipelines.
pub const MAX_PIPELINES: usize = 1_024;
/// The most buffers and samplers that one pipeline binds, and the most vertex attributes.
pub const MAX_BINDINGS: usize = 256;
/// The most specialization constants of one attached shader.
pub const MAX_SPECIALIZATIONS: usize = 256;
/// The most cells of one grid in a draw: 2^20.
pub const MAX_CELLS: u64 = 1 << 20;
/// The most failing values of one EXPECT that a judgement lists.
pub const MAX_FAILURES: usize = 16;
