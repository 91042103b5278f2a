//! What WSL's built-in functions do with values: by hand, by a second implementation, element by
//! element, under profiles of precision; and that planted wrong meanings are caught
//! by each of these.

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
