//! WSL to SPIR-V: a translated module is valid, its results are allowed by the program, and planted
//! bugs in the mapping are caught.

mod campaign;
mod cases;
mod generated;
mod library;
mod planted;
mod refused;
mod stages;
mod texture_cases;
mod textures;
mod valid;
