//! From WSL text to core: lexing, parsing, printing and desugaring.

#[path = "wsl_syntax/cases.rs"]
mod cases;
#[path = "wsl_syntax/desugaring.rs"]
mod desugaring;
#[path = "wsl_syntax/hostile.rs"]
mod hostile;
#[path = "common/random.rs"]
mod random;
#[path = "wsl_syntax/recovery.rs"]
mod recovery;
#[path = "wsl_syntax/registry.rs"]
mod registry;
#[path = "wsl_syntax/round_trip.rs"]
mod round_trip;
#[path = "wsl_syntax/tokens.rs"]
mod tokens;
