//! WSL text to core: lexing, parsing, printing, desugaring.

#[path = "common/random.rs"]
mod random;
#[path = "wsl_syntax/round_trip.rs"]
mod round_trip;
