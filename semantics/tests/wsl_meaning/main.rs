//! WSL's built-in functions on values: by hand, by a second implementation, element by element, and
//! under profiles of precision. Each of these catches planted wrong meanings.

#[path = "../wsl_library/listing.rs"]
mod listing;
#[path = "../common/nearest.rs"]
mod nearest;
#[path = "../common/random.rs"]
mod random;

mod access;
mod common;
mod conversions;
mod coverage;
mod float_functions;
mod floats;
mod functions;
mod integers;
mod planted;
mod profiles;
